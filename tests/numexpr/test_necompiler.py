"""NumExpr's functions: where names are looked up, what is kept, which errors there are."""

import gc
import threading
import weakref

import numpy as np
import pytest

import bcastgen.numexpr as ne
from bcastgen.numexpr import necompiler

everywhere = np.array([10.0])


def test_names_are_the_callers_variables_then_globals():
    a = np.array([1.0])
    assert ne.evaluate("a + everywhere").tolist() == [11]
    assert ne.evaluate("a + everywhere", {"a": 2}).tolist() == [12]
    assert ne.evaluate("a + everywhere", global_dict={"everywhere": 5}).tolist() == [6]
    with pytest.raises(KeyError, match="missing"):
        ne.evaluate("a + missing")
    assert a is not None


def test_a_wrapper_says_how_deep_it_is():
    def outer():
        a = np.array([3.0])  # noqa: F841 - the text names it
        return wrapped("a * 2")

    def wrapped(text):
        return ne.evaluate(text, _frame_depth=4)

    assert outer().tolist() == [6]


def test_a_class_body_keeps_its_names():
    class Body:
        a = np.array([1.0])
        b = ne.evaluate("a + 1")

    assert Body.b.tolist() == [2] and Body.a.tolist() == [1]


def test_a_text_is_compiled_once_for_kinds():
    text = "u1 * 3 + u2"
    for dtype in ("i1", "i4", "u2"):
        ne.evaluate(text, {"u1": np.ones(2, dtype), "u2": 1})
    kept = necompiler._texts[text, "aggressive"]
    assert len({id(one) for one in kept.compiled.values()}) == 1


def test_texts_that_are_kept_are_bounded(monkeypatch):
    monkeypatch.setattr(necompiler, "_texts", {})
    for number in range(300):
        ne.evaluate(f"{number} + 1")
    assert len(necompiler._texts) == necompiler._MOST_TEXTS
    ne.evaluate("12345 + 1", disable_cache=True)
    assert ("12345 + 1", "aggressive") not in necompiler._texts


def test_re_evaluate_takes_the_values_of_now():
    a = np.array([1.0, 2.0])
    ne.evaluate("a * 2")
    a = np.array([5])
    assert ne.re_evaluate().tolist() == [10]
    assert ne.re_evaluate({"a": 1.5}) == 3
    assert a is not None


def test_re_evaluate_writes_to_an_out_that_lives_and_keeps_none_alive():
    out = np.zeros(2)
    assert ne.evaluate("a + 1", {"a": np.zeros(2)}, out=out) is out
    assert ne.re_evaluate({"a": np.ones(2)}) is out
    known = weakref.ref(out)
    del out
    gc.collect()
    assert known() is None and ne.re_evaluate({"a": np.ones(2)}).tolist() == [2, 2]


def test_every_thread_has_its_last_text():
    ne.validate("a + 1", {"a": 1})
    found = []

    def other():
        try:
            ne.re_evaluate({"a": 1})
        except RuntimeError as error:
            found.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert "previous evaluate" in found[0] and ne.re_evaluate({"a": 1}) == 2


def test_validate_returns_the_error():
    assert ne.validate("a + 1", {"a": 1}) is None
    assert isinstance(ne.validate("missing + 1", {}, {}), KeyError)
    assert isinstance(ne.validate("2 +"), SyntaxError)
    assert isinstance(ne.validate(2), ValueError)


def test_options_are_checked():
    with pytest.raises(ValueError, match="'optimization' must be one of"):
        ne.evaluate("1", optimization="fast")
    with pytest.raises(ValueError, match="Unknown keyword argument 'foo'"):
        ne.evaluate("1", foo=1)
    x = np.arange(3, dtype="i4")
    for truediv in (True, False, "auto"):
        assert ne.evaluate("x/2", {"x": x}, truediv=truediv).tolist() == [0, 0.5, 1]


def test_text_is_sanitized_unless_told(monkeypatch):
    with pytest.raises(ValueError, match="forbidden control characters"):
        ne.evaluate("import os;")
    with pytest.raises(SyntaxError):
        ne.evaluate("import os;", sanitize=False)
    monkeypatch.setenv("NUMEXPR_SANITIZE", "0")
    with pytest.raises(SyntaxError):
        ne.evaluate("import os;")
    # Python runs no text, whatever is said.
    with pytest.raises(ValueError, match="not allowed"):
        ne.evaluate("(3).bit_length", sanitize=False)


def test_names_of_the_module_that_others_use():
    assert necompiler.getExprNames("b + sin(a)", {}) == (["a", "b"], False)
    assert necompiler.getType(np.ones(1, "f4")) is float and necompiler.getType(np.ones(1, "u4")) is np.int64
    assert necompiler.getContext({}) == {"optimization": "aggressive", "truediv": False}
    tree = necompiler.expressionToAST(necompiler.stringToExpression("a > 2", {"a": np.int32}, {}))
    assert necompiler.typeCompileAst(tree).opcode == "gt_bii" and tree.value == "gt"
    a = np.ones(2)
    assert necompiler.getArguments(["a"], _frame_depth=1)[0] is a


def test_messages_name_what_does_not_fit():
    with pytest.raises(ValueError, match="operand 'b' dim 0 has extent 3"):
        ne.evaluate("a + b", {"a": np.ones(2), "b": np.ones(3)})
    with pytest.raises(ValueError, match="Unicode"):
        ne.evaluate("s == 'x'", {"s": np.array(["x"])})


def test_names_are_looked_up_in_a_dict():
    a = np.arange(3.0)
    assert ne.evaluate("a + 1", local_dict={}, global_dict={"a": a}).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match=r"local_dict is \[1\]; pass a dict"):
        ne.evaluate("a + 1", local_dict=[1])
