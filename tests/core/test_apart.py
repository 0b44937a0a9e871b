"""Work apart: what it returns and raises, in which thread, and its context."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from bcastgen.core.apart import apart
from bcastgen.core.forks import undivided

CONTEXT = ContextVar("CONTEXT", default="none")


def test_the_main_thread_waits_for_another_one():
    assert apart(threading.get_ident) != threading.get_ident()


def test_other_threads_and_those_that_others_wait_for_do_it_themselves():
    found = []
    thread = threading.Thread(target=lambda: found.append(apart(threading.get_ident) == threading.get_ident()))
    thread.start()
    thread.join()
    with undivided:
        found.append(apart(threading.get_ident) == threading.get_ident())
    assert found == [True, True]


def test_what_is_raised_comes_out_with_its_lines():
    def wrong():
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost") as told:
        apart(wrong)
    assert "wrong" in [entry.name for entry in told.traceback]


def test_it_has_the_callers_context():
    token = CONTEXT.set("the caller's")
    assert apart(CONTEXT.get) == "the caller's"
    CONTEXT.reset(token)
