"""csrc/runtime/pool_shares.inc: a model of its steps, walked in every order in which threads can take them.

In: jobs, each of so many indices and shares.  Out: nothing, or what some order of steps does wrong.

An atomic operation is one step; they are sequentially consistent. The model is written from the contract at the top of
the file; that it can fail is shown by leaving out a step which the contract calls for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest


@dataclass(frozen=True, slots=True)
class Memory:
    """What all threads see. ``words`` are pairs of a job's number and a next index."""

    open: int = 2
    tasks: int = 0
    shares: int = 0
    finished: int = 0
    words: tuple[tuple[int, int], ...] = ((0, 0),) * 3
    run: frozenset[int] = frozenset()  # indices of the job at hand: what the model checks


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread between two steps: what it does next, and what it knows. ``job`` counts the caller's jobs."""

    number: int
    does: str
    job: int = 0
    open: int = 0
    tasks: int = 0
    shares: int = 0
    other: int = 0
    looked: int = 0
    word: tuple[int, int] = (0, 0)
    done: int = 0
    seen: int = 0


class TakenTwice(Exception):
    """An index was taken that another thread has, or that is of a job that is over."""


def next_index(thread: Thread) -> int:
    begin = thread.tasks * thread.other // thread.shares
    return thread.word[1] if thread.word[0] == thread.open >> 1 else begin


def leave_share(thread: Thread) -> Thread:
    """Go on to the next share, or to what follows a job."""
    if thread.looked + 1 < thread.shares:
        other = (thread.other + 1) % thread.shares
        return replace(thread, does="read word", other=other, looked=thread.looked + 1, done=0)
    return replace(thread, does="wait" if thread.number == 0 else "look", seen=thread.open, done=0)


def step(
    memory: Memory, thread: Thread, jobs: tuple[tuple[int, int], ...], checks: bool
) -> tuple[Memory, Thread] | None:
    """Take a thread's next step. Returns None where it waits."""
    match thread.does:
        case "prepare":  # the caller, while no job is open
            if thread.job == len(jobs):
                return None
            return replace(memory, tasks=jobs[thread.job][0]), replace(thread, does="prepare shares")
        case "prepare shares":
            return replace(memory, shares=jobs[thread.job][1]), replace(thread, does="prepare count")
        case "prepare count":
            return replace(memory, finished=0, run=frozenset()), replace(thread, does="open")
        case "open":
            return replace(memory, open=memory.open + 1), replace(thread, does="look")
        case "wait":
            if memory.finished != memory.tasks:
                return None
            return memory, replace(thread, does="close")
        case "close":
            assert memory.run == frozenset(range(memory.tasks))
            return replace(memory, open=memory.open + 1), replace(thread, does="prepare", job=thread.job + 1)
        case "look":
            if memory.open % 2 == 0 or memory.open == thread.seen:
                return None
            return memory, replace(thread, does="read tasks", open=memory.open)
        case "read tasks":
            return memory, replace(thread, does="read shares", tasks=memory.tasks)
        case "read shares":
            here = thread.number < memory.shares
            return memory, replace(thread, does="look again" if here else "look", shares=memory.shares)
        case "look again":
            if memory.open != thread.open:
                return memory, replace(thread, does="look")
            return memory, replace(thread, does="read word", other=thread.number, looked=0, done=0)
        case "read word":
            return memory, replace(thread, does="choose", word=memory.words[thread.other])
        case "choose":
            if next_index(thread) >= thread.tasks * (thread.other + 1) // thread.shares:
                return memory, replace(thread, does="finish") if thread.done else leave_share(thread)
            return memory, replace(thread, does="check" if checks else "exchange")
        case "check":
            if memory.open != thread.open:
                return memory, replace(thread, does="finish") if thread.done else leave_share(thread)
            return memory, replace(thread, does="exchange")
        case "exchange":
            if memory.words[thread.other] != thread.word:
                return memory, replace(thread, does="choose", word=memory.words[thread.other])
            index = next_index(thread)
            if memory.open != thread.open or index in memory.run or not 0 <= index < memory.tasks:
                raise TakenTwice(f"{thread} took {index} of {memory}")
            words = list(memory.words)
            words[thread.other] = (thread.open >> 1, index + 1)
            memory = replace(memory, words=tuple(words), run=memory.run | {index})
            return memory, replace(thread, does="read word", done=thread.done + 1)
        case "finish":
            return replace(memory, finished=memory.finished + thread.done), leave_share(thread)
    raise AssertionError(thread.does)


def walk(
    jobs: tuple[tuple[int, int], ...], threads: int, checks: bool = True
) -> Iterator[tuple[Memory, tuple[Thread, ...]]]:
    """Yield every state in which no thread can take a step."""
    first = (Memory(), tuple(Thread(number, "look" if number else "prepare") for number in range(threads)))
    seen, left = {first}, [first]
    while left:
        memory, all_threads = left.pop()
        moved = False
        for at, thread in enumerate(all_threads):
            after = step(memory, thread, jobs, checks)
            if after is None:
                continue
            moved = True
            state = after[0], (*all_threads[:at], after[1], *all_threads[at + 1 :])
            if state not in seen:
                seen.add(state)
                left.append(state)
        if not moved:
            yield memory, all_threads


@pytest.mark.parametrize(
    ("jobs", "threads"),
    [
        (((2, 2), (2, 2), (3, 2)), 2),
        (((4, 2), (3, 1), (5, 2), (2, 2)), 2),
        (((2, 2), (2, 2)), 3),
        (((2, 2), (3, 3)), 3),
        (((3, 3), (2, 1)), 3),
    ],
)
def test_each_index_is_taken_once_in_every_order(jobs: tuple[tuple[int, int], ...], threads: int) -> None:
    ends = list(walk(jobs, threads))
    assert ends
    assert all(state[1][0].job == len(jobs) for state in ends)  # no order leaves the caller waiting


def test_without_a_look_at_the_job_an_index_is_taken_twice() -> None:
    with pytest.raises(TakenTwice):
        list(walk(((2, 2), (2, 2)), 2, checks=False))
