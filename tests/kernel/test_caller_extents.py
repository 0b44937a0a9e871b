"""Results whose extents no operand determines: the caller gives them."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg


@pytest.fixture(scope="module")
def spread():
    """Seed 004: a broadcast whose result has a dim that its operand does not have."""
    return bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), (0,)) * 2, name="spread")


X = np.arange(3.0)


def test_the_caller_gives_the_extent_by_name(spread):
    assert (spread(X, extents={"k": 4}) == np.broadcast_to(2 * X[:, None], (3, 4))).all()
    assert spread.result_shape((3,), extents={"k": 4}) == (3, 4)


def test_the_caller_gives_the_extent_by_the_array_it_wants_filled(spread):
    out = np.empty((3, 5))
    assert spread(X, out=out) is out
    assert (out == np.broadcast_to(2 * X[:, None], (3, 5))).all()


@pytest.mark.parametrize("extent", [0, 1])
def test_extents_of_0_and_1(spread, extent):
    assert spread(X, extents={"k": extent}).shape == (3, extent)


def test_an_extent_that_nobody_gives(spread):
    with pytest.raises(bg.BroadcastError, match=r"result 'r' dim 1 has an extent that no operand determines.*'k'"):
        spread(X)
    with pytest.raises(bg.BroadcastError, match="no operand determines"):
        spread.result_shape((3,))


def test_a_name_that_is_none(spread):
    with pytest.raises(bg.BroadcastError, match="extents has no 'm'; its names are k"):
        spread(X, extents={"m": 3})


def test_a_given_extent_has_to_agree_with_an_operands():
    kernel = bg.jit(lambda x, y: bg.broadcast_in_dim(x, (None, "k"), (0,)) + y)
    assert kernel(X, np.ones((3, 4))).shape == (3, 4)
    assert kernel(X, np.ones((3, 4)), extents={"k": 4}).shape == (3, 4)
    with pytest.raises(bg.BroadcastError, match="extent 'k' is 5, expected 1 or 4"):
        kernel(X, np.ones((3, 4)), extents={"k": 5})


def test_a_name_that_an_operands_type_binds_is_no_slot():
    kernel = bg.from_text("(f64[n] x, f64[k] y) -> broadcast_in_dim(x, (n, k), (0,)) * y")
    assert kernel.operands == ("x", "y")
    assert kernel.result_shape((3,), (4,)) == (3, 4)


def test_a_constant_takes_the_shape_of_an_operand():
    kernel = bg.jit(lambda a: bg.broadcast_to(0.5, a))
    assert (kernel(np.ones((2, 3))) == np.full((2, 3), 0.5)).all()


def test_sized_kernels_are_part_of_others(spread):
    assert (bg.jit(lambda x, y: spread(x) + y)(X, np.ones((3, 2))) == 2 * X[:, None] + np.ones(2)).all()
    assert bg.jit(lambda x: spread(x) + 1)(X, extents={"k": 6}).shape == (3, 6)


def test_the_slot_is_a_number_in_c(spread, tmp_path):
    kernel = bg.from_text("(f64[?] x) -> broadcast_in_dim(x, (None, k), (0,)) * 2", "spread")
    header = kernel.emit_c(tmp_path)[1].read_text()
    assert "@param k  an extent" in header
    assert "const bcastgen_array *x, int64_t k, const bcastgen_result *r," in header
    assert "k->" not in (tmp_path / "spread.c").read_text()


# ---- the user's own shape functions ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outer():
    return bg.define_op(
        "sized_outer",
        "a, b",
        c="a - b",
        shape=lambda a, b: bg.shape.concat(a, b),
        maps=["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"],
        reference=lambda a, b: a - b,
        replace=True,
    )


def test_the_shape_function_sizes_the_result(outer):
    a, b = np.arange(3.0), np.arange(4.0)
    assert (outer(a, b) == np.subtract.outer(a, b)).all()
    assert outer.result_shape((3,), (4,)) == (3, 4)
    out = np.empty((3, 4))
    assert outer(a, b, out=out) is out
    assert "shape.concat" in str(outer.shape_function)


def test_the_authors_message_is_the_error():
    def equal_lengths(a, b):
        same = bg.shape.cstr_require(bg.shape.shape_eq(a, b), msg="dot_terms pairs vectors of one length")
        return bg.shape.assuming(same, lambda: a)

    maps = ["(d0) -> (d0)", "(d0) -> (d0)"]
    kernel = bg.define_op("dot_terms", "a, b", c="a * b", shape=equal_lengths, maps=maps, replace=True)
    assert (kernel(X, X) == X * X).all()
    with pytest.raises(bg.BroadcastError, match="dot_terms pairs vectors of one length"):
        kernel(X, np.arange(4.0))
    with pytest.raises(bg.BroadcastError, match="dot_terms pairs vectors of one length"):
        kernel.result_shape((3,), (4,))
    assert kernel.shape_function.check((3,), (4,)) is False
    assert kernel.shape_function.check((3,), (3,)) is True


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_an_invalid_shape_is_refused_at_every_rank_in_the_authors_words(rank):
    """[invalid] has no extents, as a scalar's shape has none."""
    dims = ", ".join(f"d{at}" for at in range(rank))
    for at, (message, said) in enumerate([("a has to have 7", "a has to have 7: shape.join"), (None, "shape.join of")]):
        kernel = bg.define_op(
            f"invalid_at_{rank}_{at}",
            "a",
            c="a + 1",
            maps=[f"({dims}) -> ({dims})"],
            shape=lambda a, message=message: bg.shape.join(a, (7,) * (rank + 1), error=message),
        )
        for asked in (lambda k=kernel: k(np.ones((2,) * rank)), lambda k=kernel: k.result_shape((2,) * rank)):
            with pytest.raises(bg.BroadcastError, match=f"^{said}"):
                asked()
    dynamic = bg.define_op(
        f"open_{rank}", "a", c="a + 1", maps=[f"({dims}) -> ({dims})"], shape=lambda a: a, replace=True
    )
    assert dynamic(np.ones((2,) * rank)).shape == dynamic.result_shape((2,) * rank) == (2,) * rank
    with pytest.raises(bg.BroadcastError, match="operand 'a' dim 0 has extent None, expected 0 to"):
        dynamic.result_shape(None)


def test_a_shape_function_is_a_program_or_writes_one():
    with pytest.raises(bg.TraceError, match=r"the shape function is 3, expected a program .*: lambda a: "):
        bg.define_op("no_program", "a", c="a", shape=3, maps=["(d0) -> (d0)"])
    with pytest.raises(bg.ParseError, match="3 is no indexing map"):
        bg.define_op("no_map", "a", c="a", shape=lambda a: a, maps=[3])


OUTER = """
func.func @any_name(%a: !shape.shape, %b: !shape.shape) -> !shape.shape {
  %w = shape.cstr_eq %a, %b {error = "outer: lengths differ"} : !shape.shape, !shape.shape
  %r = shape.assuming %w -> (!shape.shape) {
    %s = shape.concat %a, %b : !shape.shape, !shape.shape -> !shape.shape
    shape.assuming_yield %s : !shape.shape
  }
  return %r : !shape.shape
}"""


def text_outer(text):
    maps = ["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"]
    return bg.define_op("text_outer", "a, b", c="a * b", shape=text, maps=maps, replace=True)


def test_a_shape_function_is_text():
    kernel = text_outer(OUTER)
    assert kernel(X, X).tolist() == np.outer(X, X).tolist()
    assert kernel.result_shape((4,), (4,)) == (4, 4)
    assert text_outer(OUTER) is kernel
    with pytest.raises(bg.BroadcastError, match=r"^outer: lengths differ: .*\(at <shape of text_outer>:3:8\)"):
        kernel(X, np.ones(2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text", "<shape of text_outer>:1:1: error: 'text'"),
        (OUTER.replace("concat", "conkat"), r"<shape of text_outer>:5:10: error: .*; shape\.concat is read"),
        (OUTER.replace("%b: !shape.shape", "%b: index"), ":3:26: error: %b is of type index"),
        (OUTER.replace(", %b: !shape.shape", "").replace("%b", "%a"), "takes 2 shapes"),
        (OUTER + OUTER.replace("any_name", "other"), "several functions, and none is @main"),
        ("", "<shape of text_outer>: no function; the module has none"),
    ],
)
def test_what_is_wrong_with_a_text_has_its_place(text, message):
    with pytest.raises(bg.BcastgenError, match=message):
        text_outer(text)


def test_operands_have_the_extents_they_map_to():
    kernel = bg.define_op("first_of", "a, b", c="a", shape=lambda a, b: a, maps=["(d0) -> (d0)"] * 2, replace=True)
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' of first_of dim 0 has extent 1, expected 3.*not stretch"):
        kernel(X, np.ones(1))


def test_such_an_op_is_part_of_other_kernels(outer):
    assert np.array_equal(bg.jit(lambda a, b: outer(a, b) + 1)(X, X), outer(X, X) + 1)
    with pytest.raises(bg.BroadcastError, match=r"operand 'a' of sized_outer has rank 0, expected 1 by its map"):
        bg.evaluate("sized_outer(a, b)", {"a": 1.0, "b": 2.0})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"shape": lambda a, b: a}, bg.BcastgenError, "go together"),
        ({"maps": ["(d0) -> (d0)"] * 2}, bg.BcastgenError, "go together"),
        ({"shape": lambda a, b: a, "maps": ["(d0) -> (d0)"]}, bg.ParseError, "one indexing map for each of the 2"),
        ({"shape": lambda a, b: a, "maps": ["(d0) -> (d0)", "(d0, d1) -> (d0)"]}, bg.ParseError, "different dims"),
        ({"shape": lambda a, b: a, "maps": ["(d0) -> (d1)"] * 2}, bg.ParseError, "no projection"),
        ({"shape": lambda a, b: a, "maps": ["d0"] * 2}, bg.ParseError, "no indexing map"),
        (
            {"shape": lambda a, b: bg.shape.rank(a), "maps": ["(d0) -> (d0)"] * 2},
            bg.BroadcastError,
            "takes 2 shapes, one an operand, and returns one",
        ),
    ],
)
def test_what_cannot_be_a_shape_function(options, error, message):
    with pytest.raises(error, match=message):
        bg.define_op("no_such_op", "a, b", c="a + b", **options)


@pytest.mark.parametrize("extents", [{"k": -3}, {"k": 3.0}, {"k": "3"}, {"k": True}, {"k": None}, {"k": 2**63}, 3])
def test_extents_that_are_none(extents):
    spread = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
    for asked in (lambda: spread(np.ones(2), extents=extents), lambda: spread.result_shape((2,), extents=extents)):
        with pytest.raises(bg.BroadcastError, match=r"^kernel\(\): extents (gives 'k' as .*|is 3), expected"):
            asked()


def test_result_shape_of_shapes_that_are_none():
    spread = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
    with pytest.raises(bg.BroadcastError, match="operand 'x' dim 0 has extent -2"):
        spread.result_shape((-2,), extents={"k": 3})
    with pytest.raises(TypeError, match="has 1 operands, got 2 shapes"):
        spread.result_shape((2,), (3,), extents={"k": 3})


class Fickle:
    """An integer that says something else each time that it is asked."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __index__(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize("later", [-5, 2**70, 4])
def test_an_extent_is_asked_for_once(later):
    kernel = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
    assert kernel(np.ones(2), extents={"k": Fickle(3, later)}).shape == (2, 3)


@pytest.mark.parametrize("wrong", [np.array([3]), np.array([3, 4]), 3.0, True, None, "3", -1, 2**70])
def test_what_is_no_extent_is_refused_by_name(wrong):
    kernel = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
    for ask in (kernel, kernel.result_shape):
        with pytest.raises(bg.BroadcastError, match=r"extents gives 'k' as .*, expected an integer from 0 to"):
            ask(np.ones(2), extents={"k": wrong})
    with pytest.raises(bg.BroadcastError, match=r"operand 'a' dim 0 has extent .*, expected 0 to"):
        bg.add.result_shape((wrong,), (1,))


def test_an_extent_that_does_not_fit_is_named_as_one():
    kernel = bg.jit(lambda x, b: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)) + b)
    asked = np.ones(2), np.ones((2, 4))
    for ask in (lambda: kernel(*asked, extents={"k": 3}), lambda: kernel.result_shape(*asked, extents={"k": 3})):
        with pytest.raises(bg.BroadcastError) as raised:
            ask()
        assert raised.value.sentence == "extent 'k' is 3, expected 1 or 4 (from 'b')"
        assert (raised.value.operand, raised.value.dim) == ("k", None)


def test_a_type_computes_with_an_extent_of_the_caller():
    kernel = bg.jit(
        lambda x, y: (bg.broadcast_in_dim(x, (None, "k"), dims=(0,)), y + 1),
        signature="(f64[n] x, f64[k + 1] y) -> (f64[n, k], f64[?])",
    )
    assert [one.shape for one in kernel(np.ones(2), np.ones(4), extents={"k": 3})] == [(2, 3), (4,)]
    for ask in (kernel, kernel.result_shape):
        with pytest.raises(bg.BroadcastError, match=r"operand 'y' dim 0 has extent 5, expected 4 \(k \+ 1\)"):
            ask(np.ones(2), np.ones(5), extents={"k": 3})
    with pytest.raises(bg.BroadcastError, match=r"is m \+ n, which no operand's type says"):
        bg.jit(lambda x: bg.broadcast_to(x, ("n + m",)))


def test_extents_of_values_that_are_reduced():
    """The caller's names are numbered as in the expression, whatever order its parts are lowered in."""
    both = bg.jit(
        lambda x: (
            bg.broadcast_in_dim(x, (None, "k"), (0,)).sum(axis=0),
            bg.broadcast_in_dim(x, ("m", None), (1,)).sum(),
            bg.broadcast_in_dim(x, (None, "k"), (0,)) * 2,
        )
    )
    found = both(X, extents={"k": 2, "m": 4})
    assert [one.tolist() for one in found] == [[3.0, 3.0], 12.0, [[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]]
    assert both.result_shape((3,), extents={"k": 2, "m": 4}) == ((2,), (), (3, 2))
    outs = np.empty(5), np.empty(()), np.empty((3, 5))
    assert both(X, out=outs, extents={"m": 1})[2].shape == (3, 5)
    with pytest.raises(bg.BroadcastError, match=r"dim 0 of a value that is reduced has an extent .*\{'m': \.\.\.\}"):
        both(X, extents={"k": 2})


def test_a_name_beside_an_operand_that_is_reduced():
    kernel = bg.jit(lambda x, y: (bg.broadcast_in_dim(x, (None, "k"), (0,)) * y).sum(axis=0))
    assert kernel(X, np.ones((3, 2))).tolist() == [3.0, 3.0]
    assert kernel(X, np.ones((3, 1)), extents={"k": 3}).tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(bg.BroadcastError, match=r"extent 'k' is 3, expected 1 or 2 \(from 'y'\)"):
        kernel(X, np.ones((3, 2)), extents={"k": 3})
