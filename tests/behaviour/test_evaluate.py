# Variables are read by the texts that name them.
# ruff: noqa: B007, F841
"""bcastgen.evaluate: names from the caller's frame, whether dispatch_evaluate.inc or Python looks them up."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import threading
from collections import ChainMap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BroadcastError, DTypeError, ParseError
from bcastgen.ops.table import DEFINED
from bcastgen.runtime.base import remembering

Evaluate = Callable[..., Any]

shared = np.arange(3.0)
shadowed = np.full(3, -1.0)

WAYS = {"Python": inspect.unwrap(bg.evaluate)}
if bg.evaluate is not WAYS["Python"]:
    WAYS["extension"] = bg.evaluate


@pytest.fixture(params=WAYS)
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return WAYS[request.param]


def same(found: Any, wanted: Any) -> None:
    assert type(found) is np.ndarray or (np.ndim(wanted) == 0 and isinstance(found, np.generic))
    np.testing.assert_array_equal(found, wanted)


# Every test evaluates twice or more: the first time the text is not yet known.


def test_locals(evaluate: Evaluate) -> None:
    a, b = np.arange(3.0), np.ones((2, 1))
    for _ in range(3):
        same(evaluate("a*2 + b"), a * 2 + b)
        a = a + 1


def test_globals(evaluate: Evaluate) -> None:
    for _ in range(3):
        same(evaluate("shared + 1"), shared + 1)


def test_locals_before_globals(evaluate: Evaluate) -> None:
    shadowed = np.ones(3)
    for _ in range(3):
        same(evaluate("shadowed * shared"), shadowed * shared)


def test_a_local_that_has_no_value_yet(evaluate: Evaluate) -> None:
    for k in range(4):
        same(evaluate("shadowed + 0"), np.full(3, -1.0) if k < 2 else np.full(3, float(k)))
        if k >= 1:
            shadowed = np.full(3, k + 1.0)
    del shadowed
    same(evaluate("shadowed + 0"), np.full(3, -1.0))


def test_builtins_are_no_variables(evaluate: Evaluate) -> None:
    for _ in range(2):
        with pytest.raises(ParseError, match="name 'copyright' has no value"):
            evaluate("copyright + 1")


def test_a_variable_that_captures(evaluate: Evaluate) -> None:
    captured = np.arange(4.0)

    def inner(own: Any) -> Any:
        return evaluate("captured + own"), captured

    for k in range(3):
        same(inner(float(k))[0], captured + k)
        same(evaluate("captured * 2"), captured * 2)
        captured = captured + 1


def test_a_variable_that_is_a_cell_itself(evaluate: Evaluate) -> None:
    def holder() -> Any:
        return number

    number = 3
    cell = holder.__closure__[0]  # type: ignore[index]
    for _ in range(2):
        with pytest.raises(DTypeError):
            evaluate("cell + 1")
    assert cell.cell_contents == number


def test_one_text_in_many_functions(evaluate: Evaluate) -> None:
    def first() -> Any:
        x, y = 1.0, shared
        return evaluate("x + y + shared")

    def second() -> Any:
        unrelated, y, more, x = 0.0, 2.0, 0.0, shared
        return unrelated, more, evaluate("x + y + shared")

    def third(y: Any, x: Any = 5.0) -> Any:
        shared = 1.0
        return evaluate("x + y + shared"), shared

    for _ in range(3):
        same(first(), 1.0 + shared + shared)
        same(second()[2], shared + 2.0 + shared)
        same(third(2.0)[0], np.array(8.0))


def test_recursion(evaluate: Evaluate) -> None:
    def fall(depth: int) -> Any:
        x = np.full(2, float(depth))
        below = fall(depth - 1) if depth else 0.0
        return evaluate("x + below"), below

    def total(depth: int) -> Any:
        x = np.full(2, float(depth))
        below = total(depth - 1) if depth else 0.0
        return evaluate("x + below")

    same(total(5), np.full(2, 15.0))
    assert fall(0)[1] == 0.0


def test_generators_and_comprehensions(evaluate: Evaluate) -> None:
    def counted(a: Any) -> Any:
        for k in range(3):
            yield evaluate("a + k")

    for k, found in enumerate(counted(shared)):
        same(found, shared + k)
    for k, found in enumerate([evaluate("k * shared") for k in range(3)]):
        same(found, k * shared)
    same((lambda q: evaluate("q - shared"))(2.0), 2.0 - shared)


async def in_a_coroutine(evaluate: Evaluate, z: Any) -> Any:
    return evaluate("z + shared")


def test_coroutines(evaluate: Evaluate) -> None:
    coroutine = in_a_coroutine(evaluate, 2.0)
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    same(stopped.value.value, 2.0 + shared)


def test_class_bodies_and_executed_text(evaluate: Evaluate) -> None:
    for _ in range(2):

        class Body:
            inside = 5.0
            found = evaluate("inside + shared")

        same(Body.found, 5.0 + shared)
        names: dict[str, Any] = {"evaluate": evaluate, "u": 1.0}
        exec("v = 2.0\nfound = evaluate('u + v')", names)
        same(names["found"], np.array(3.0))
        local: dict[str, Any] = {"w": 4.0}
        exec("found = evaluate('u + w')", names, local)
        same(local["found"], np.array(5.0))
        exec("found = evaluate('u * w')", names, ChainMap({}, {"w": 8.0, "found": None}))


def test_dicts(evaluate: Evaluate) -> None:
    a, b = 1.0, 2.0
    for _ in range(2):
        same(evaluate("a + b", {"a": 10.0, "b": 20.0}), np.array(30.0))
        same(evaluate("a + b", local_dict={"a": 10.0}, global_dict={"b": 5.0, "a": 0.0}), np.array(15.0))
        same(evaluate("a + b", {"a": 10.0}, {"b": 7.0}), np.array(17.0))
        same(evaluate("a + shared", global_dict={"shared": 100.0}), np.array(101.0))
        same(evaluate("a + b", None, None), np.array(3.0))
        same(evaluate("a + b", ChainMap({"a": 3.0}, {"b": 4.0})), np.array(7.0))
        with pytest.raises(ParseError, match="name 'b' has no value"):
            evaluate("a + b", {"a": 1.0})
        with pytest.raises(ParseError, match="name 'shared' has no value"):
            evaluate("a + shared", global_dict={})
    assert (a, b) == (1.0, 2.0)


def test_out(evaluate: Evaluate) -> None:
    a, target = np.arange(3.0), np.zeros(3)
    for k in range(3):
        assert evaluate("a + 1", out=target) is target
        same(target, a + 1)
        same(evaluate("a + 1", out=None), a + 1)
        assert evaluate("a + q", {"a": a, "q": float(k)}, out=target) is target
        same(target, a + k)
    with pytest.raises(BroadcastError):
        evaluate("a + 1", out=np.zeros(4))


def test_several_results(evaluate: Evaluate) -> None:
    a = np.arange(3.0)
    for _ in range(2):
        found = evaluate("a + 1, a - 1")
        assert type(found) is tuple
        same(found[0], a + 1)
        same(found[1], a - 1)


def test_many_names(evaluate: Evaluate) -> None:
    values = {f"n{k}": float(k) for k in range(40)}
    for count in (1, 13, 14, 15, 40):
        text = " + ".join(list(values)[:count])
        for _ in range(2):
            same(evaluate(text, values), np.array(float(sum(range(count)))))


def test_many_texts(evaluate: Evaluate) -> None:
    a = 1.0
    for k in range(1100):
        if k % 100 == 0:
            same(evaluate(f"a + {k}"), np.array(a + k))
    for k in range(0, 1100, 100):
        same(evaluate(f"a + {k}"), np.array(a + k))


def test_texts_that_are_equal_but_not_identical(evaluate: Evaluate) -> None:
    class Text(str):
        """A str, but not exactly."""

    a = np.arange(3.0)
    text = "a*3"
    for other in (text, "".join(["a", "*3"]), Text(text)):
        same(evaluate(other), a * 3)


def test_errors_are_the_same_in_both(evaluate: Evaluate) -> None:
    a = np.arange(3.0)
    texts = ["a +", "", "missing + a", "a.b", "__import__('os')", "1 + 2", "a + 'x'"]
    for text in texts:
        for _ in range(2):
            with pytest.raises(ParseError) as caught:
                evaluate(text)
            with pytest.raises(ParseError) as usual:
                WAYS["Python"](text, {"a": a}, {})
            assert str(caught.value) == str(usual.value)
    for arguments in ((), (1,), ("a", {}, {}, {})):
        with pytest.raises((TypeError, ParseError, AttributeError)):
            evaluate(*arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument 'truediv'"):
        evaluate("a", truediv="auto")
    same(evaluate("a", casting="safe"), a)
    with pytest.raises(TypeError, match="multiple values for argument 'local_dict'"):
        evaluate("a", {"a": 1}, local_dict={})


def test_an_op_that_is_replaced_gives_texts_another_meaning(evaluate: Evaluate) -> None:
    a = np.arange(3.0)
    bg.define_op("evaluated_op", "x", c="x + 1", replace=True)
    for _ in range(2):
        same(evaluate("evaluated_op(a)"), a + 1)
    bg.define_op("evaluated_op", "x", c="x + 2", replace=True)
    for _ in range(2):
        same(evaluate("evaluated_op(a)"), a + 2)


def test_callers_in_threads(evaluate: Evaluate) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = np.full(3, float(seed))
        for k in range(200):
            if not (evaluate("x + k") == seed + k).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_no_references_are_kept(evaluate: Evaluate) -> None:
    target, names = np.zeros(3), {"a": np.arange(3.0)}
    held = [np.arange(3.0), target, names, names["a"], "a*7"]

    def attempt(a: Any) -> None:
        evaluate("a*7")
        evaluate("a*7", out=target)
        evaluate("a*7", names)
        with pytest.raises(ParseError):
            evaluate("a*7 + nothing")
        with pytest.raises(BroadcastError):
            evaluate("a*7", out=names["a"][:1])

    attempt(held[0])
    gc.collect()
    before = [sys.getrefcount(value) for value in held]
    for _ in range(50):
        attempt(held[0])
    gc.collect()
    assert max(abs(sys.getrefcount(value) - count) for value, count in zip(held, before, strict=True)) < 5


def test_what_is_raised_while_a_text_is_read_comes_out() -> None:
    """A signal's handler may raise anything, anywhere in Python code."""
    raised: list[BaseException] = []
    read = list[str]()

    def find(text: str, _generation: int) -> Any:
        read.append(text)
        if raised:
            raise raised.pop()
        return bg.from_text(text)

    def slow(text: str, local_dict: Any = None, global_dict: Any = None, *, out: Any = None) -> Any:
        return find(text, 0)(*(local_dict[name] for name in "ab"), out=out)

    evaluate = remembering(find, DEFINED)(slow)
    values = {"a": shared, "b": shadowed}
    for error in (KeyboardInterrupt(), TimeoutError(), MemoryError(), SystemExit(), LookupError(), OSError()):
        raised.append(error)
        read.clear()
        with pytest.raises(type(error)) as caught:
            evaluate("a + b", values)
        assert caught.value is error and read == ["a + b"]
    same(evaluate("a + b", values), shared + shadowed)
    with pytest.raises(ParseError, match="column"):
        evaluate("a + + * b", values)


def test_keys_that_raise_when_they_are_compared(evaluate: Evaluate) -> None:
    class Odd:
        asked = 0

        def __hash__(self) -> int:
            return hash("a")

        def __eq__(self, _other: object) -> bool:
            Odd.asked += 1
            raise TimeoutError

    for _ in range(2):
        Odd.asked = 0
        with pytest.raises(TimeoutError):
            evaluate("a + 1", {Odd(): 1, "a": shared})
        assert Odd.asked == 1


def test_it_looks_like_a_function() -> None:
    names = ["expression", "local_dict", "global_dict", "out", "errors", "keywords"]
    assert list(inspect.signature(bg.evaluate).parameters) == names
    assert bg.evaluate.__name__ == "evaluate" and "NumExpr" in str(bg.evaluate.__doc__)
    assert pickle.loads(pickle.dumps(bg.evaluate)) is bg.evaluate
    assert copy.deepcopy(bg.evaluate) is bg.evaluate
    assert "evaluate" in repr(bg.evaluate)
