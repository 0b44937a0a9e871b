"""A model of the pool on machines with more cores than ours: when threads run, which lines they wait for.

In: a number of cores in nodes, and jobs of equal parts.  Out: how long a job takes, until its caller goes on, as a
multiple of what its parts alone would take if threads shared them evenly.

Each thread is a generator that says what it does next; simulated time passes by what that costs. A line of memory that
another thread had last is fetched from it, one thread at a time, which is what grows with the number of cores. (Looks
at the words of others are fetches here, too, though they may overlap.) Costs
are those of common servers: a fetch within a socket 60 ns and between sockets 130, 2.5 us for the system call that
wakes a thread, 10 us until that runs, half as much time again for what another node's memory holds. ``word`` is a pool
as it was before: one word of which all take the next index, one condition that all wait for. ``shares`` is
csrc/runtime/pool.c.

    $ python tests/support/many_cores.py
"""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bcastgen.core.resources import folder


def constant(file: str, name: str) -> int:
    """Return a constant of a C file of the run time."""
    found = re.search(rf"\b{name} = (\d+)", (folder("csrc") / "runtime" / file).read_text())
    assert found is not None, name
    return int(found[1])


OWN_NS, NEAR_NS, FAR_NS = 2, 60, 130  # a line of one's own, from a core of the same node, from another node
WAKE_NS, RUN_NS = 2500, 10000  # what waking costs the waker, and how long it takes
REMOTE = 1.5  # of the time with memory of one's own node
PARTS_A_THREAD, WAKES = constant("run.c", "PARTS_A_THREAD"), constant("pool.c", "POOL_WAKES")
# The least parts that are handed to threads that are awake, and to sleeping ones.
LEAST_NS, ASLEEP_NS = constant("run.c", "PART_NS"), constant("run.c", "PART_NS_ASLEEP")
CORES_A_NODE = 32

Step = tuple[str, object]


@dataclass
class Line:
    """A line of memory: who had it last, and from when on another thread may fetch it."""

    owner: int = -1
    free: float = 0.0


@dataclass
class Machine:
    """Cores in nodes, the parts of an array and the node that each part's memory is on."""

    threads: int
    kind: str
    homes: dict[int, int] = field(default_factory=dict)
    words: list[Line] = field(default_factory=lambda: [Line() for _ in range(1024)])
    count: Line = field(default_factory=Line)
    sleeping: set[int] = field(default_factory=set)
    lock: Line = field(default_factory=Line)
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def node(self, thread: int) -> int:
        """Return the node of a thread: nodes are filled in turn."""
        return thread // CORES_A_NODE

    def fetch(self, line: Line, thread: int, now: float) -> float:
        """Return when a thread has a line that it asks for now."""
        near = line.owner < 0 or self.node(line.owner) == self.node(thread)
        line.free = max(now, line.free) + (OWN_NS if line.owner == thread else NEAR_NS if near else FAR_NS)
        line.owner = thread
        return line.free

    def part_ns(self, part: int, thread: int, part_ns: float) -> float:
        """Return how long a thread takes for a part. Who has it first brings its memory to the own node."""
        home = self.homes.setdefault(part, self.node(thread))
        return part_ns * self.chance.uniform(0.95, 1.05) * (REMOTE if home != self.node(thread) else 1.0)


def take_of_word(machine: Machine, thread: int, left: list[list[int]]) -> Iterator[Step]:
    """Take parts as all threads do that have one word."""
    while left[0]:
        yield "fetch", machine.words[0]
        if left[0]:
            yield "part", left[0].pop(0)
            yield "fetch", machine.count


def take_of_shares(machine: Machine, thread: int, left: list[list[int]]) -> Iterator[Step]:
    """Take parts of one's own share, then of others, of the own node first."""
    order = [(thread + step) % machine.threads for step in range(machine.threads)]
    order.sort(key=lambda other: machine.node(other) != machine.node(thread))
    for other in order:
        done = 0
        yield "fetch", machine.words[other]
        while left[other]:
            yield "part", left[other].pop(0)
            if thread == 0:
                for late in sorted(machine.sleeping - set(range(WAKES + 1)))[:WAKES]:
                    yield "wake", late
            yield "fetch", machine.words[other]
            done += 1
        if done:
            yield "fetch", machine.count


def work(machine: Machine, thread: int, asleep: bool, left: list[list[int]]) -> Iterator[Step]:
    """Yield what a thread does in a job."""
    if machine.kind == "word":
        if asleep and thread == 0:
            for other in range(1, machine.threads):
                yield "wake", other
        elif asleep:
            yield "fetch", machine.lock
        yield from take_of_word(machine, thread, left)
    else:
        for other in range(WAKES * thread + 1, min(WAKES * (thread + 1) + 1, machine.threads)):
            if asleep:
                yield "wake", other
        yield from take_of_shares(machine, thread, left)


def job_ns(machine: Machine, part_ns: float, asleep: bool) -> float:
    """Return how long a job takes whose threads sleep or spin at its beginning."""
    parts = machine.threads * PARTS_A_THREAD
    cut = [parts] if machine.kind == "word" else [PARTS_A_THREAD] * machine.threads
    left, part = [], 0
    for size in cut:
        left.append(list(range(part, part + size)))
        part += size
    for line in (*machine.words, machine.count, machine.lock):
        line.free = 0.0
    running = {thread: work(machine, thread, asleep, left) for thread in range(machine.threads)}
    ready = [(0.0 if thread == 0 else FAR_NS, thread) for thread in range(machine.threads) if thread == 0 or not asleep]
    heapq.heapify(ready)
    machine.sleeping = set(range(1, machine.threads)) if asleep else set()
    called: set[int] = set()
    end = 0.0
    while ready:
        now, thread = heapq.heappop(ready)
        machine.sleeping.discard(thread)
        does, what = next(running[thread], ("ends", None))
        if does == "fetch":
            assert isinstance(what, Line)
            now = machine.fetch(what, thread, now)
            if what is machine.count:
                end = max(end, now + FAR_NS)  # when the caller sees it
        elif does == "part":
            assert isinstance(what, int)
            now += machine.part_ns(what, thread, part_ns)
        elif does == "wake":
            assert isinstance(what, int)
            if what in machine.sleeping:
                now += WAKE_NS
                if what not in called:
                    heapq.heappush(ready, (now + RUN_NS, what))
                called.add(what)
        if does != "ends":
            heapq.heappush(ready, (now, thread))
    return end


def slowdown(kind: str, threads: int, part_ns: float, asleep: bool) -> float:
    """Return the time of a job, after nine like it over the same arrays, as a multiple of its parts' shared evenly."""
    machine = Machine(threads, kind)
    times = [job_ns(machine, part_ns, asleep) for _ in range(10)]
    return times[-1] / (PARTS_A_THREAD * part_ns)


def table() -> str:
    """Return the table of docs/performance-notes.md."""
    rows = [
        f"| threads | parts of {LEAST_NS // 1000} us, awake: before, now "
        f"| {ASLEEP_NS // 1000} us, awake | {ASLEEP_NS // 1000} us, asleep |",
        "|---|---|---|---|",
    ]
    for threads in (2, 8, 32, 64, 128):
        cells = [
            ", ".join(f"{slowdown(kind, threads, part_ns, asleep):.2f}" for kind in ("word", "shares"))
            for part_ns, asleep in ((LEAST_NS, False), (ASLEEP_NS, False), (ASLEEP_NS, True))
        ]
        rows.append(f"| {threads} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
