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


def test_what_others_wait_for_and_what_no_thread_can_be_started_for_is_done_here(monkeypatch):
    with undivided:
        assert apart(threading.get_ident) == threading.get_ident()

    def none_left(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("bcastgen.core.apart.start_new_thread", none_left)
    assert apart(threading.get_ident) == threading.get_ident()


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
