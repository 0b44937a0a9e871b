"""Views: where the dims of a value lie, from Python and from text."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.core.errors import AxisError, BroadcastError, ParseError, TraceError
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.expr.views import Broadcast, Collapse, NewAxes, SwapAxes, Transpose, dims_of


@pytest.mark.parametrize("rank", range(5))
def test_a_transposition_is_numpys(rank):
    shape = tuple(range(2, 2 + rank))
    array = np.empty(shape)
    for axes in [None, *itertools.permutations(range(rank)), *itertools.permutations(range(-rank, 0))]:
        view = Transpose(axes).resolve(rank)
        seen = tuple(shape[view.dims.index(at)] for at in range(rank))
        assert seen == array.transpose(axes).shape


@pytest.mark.parametrize("rank", range(4))
def test_axes_are_swapped_as_numpys(rank):
    shape = tuple(range(2, 2 + rank))
    for axes in itertools.product(range(-4, 4), repeat=2):
        try:
            wanted = np.swapaxes(np.empty(shape), *axes).shape
        except np.exceptions.AxisError:
            with pytest.raises(AxisError, match=rf"swapaxes: dim -?\d is out of range for rank {rank}"):
                SwapAxes(axes).resolve(rank)
            continue
        view = SwapAxes(axes).resolve(rank)
        assert tuple(shape[view.dims.index(at)] for at in range(rank)) == wanted


@pytest.mark.parametrize(
    "key", [(None,), (slice(None), None), (..., None), (None, ..., None), (None, slice(None), ..., None)]
)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_new_axes_are_numpys(key, rank):
    shape = tuple(range(2, 2 + rank))
    names = {None: "new", ...: "rest"}
    view = NewAxes(tuple("dim" if part == slice(None) else names[part] for part in key)).resolve(rank)
    seen = tuple(shape[view.dims.index(at)] if at in view.dims else 1 for at in range(view.rank))
    assert seen == np.empty(shape)[key].shape
    assert [dim is not None for dim in view.shape] == [at not in view.dims for at in range(view.rank)]


@pytest.mark.parametrize("rank", range(5))
def test_a_collapse_drops_dims_as_numpys_squeeze(rank):
    for count in range(rank + 1):
        for dims in (*itertools.permutations(range(rank), count), *itertools.combinations(range(-rank, 0), count)):
            dropped = {dim % rank for dim in dims}
            shape = tuple(1 if at in dropped else 2 + at for at in range(rank))
            view = Collapse(dims).resolve(rank)
            seen = tuple(shape[view.dims.index(at)] for at in range(view.rank))
            assert seen == np.squeeze(np.empty(shape), dims).shape
            assert {at for at, dim in enumerate(view.dims) if dim is None} == dropped
    assert str(Collapse((0, 2))) == "collapse[dims=[0, 2]]"


@pytest.mark.parametrize(
    ("view", "rank", "message"),
    [
        (Collapse((0, -2)), 2, "name each dim once"),
        (Collapse((2,)), 2, "collapse: dim 2 is out of range for rank 2; use 0 to 1"),
        (Collapse((0,)), 0, "collapse: dim 0 is out of range for rank 0; name none"),
        (Transpose((0, 0)), 2, "name each dim once"),
        (Transpose((0,)), 2, "name each dim once"),
        (Transpose((0, 2)), 2, "dim 2 is out of range for rank 2"),
        (Broadcast((0, 0), dims_of((3, 4))), 2, "one dim of the result for each"),
        (Broadcast((0,), dims_of((3, 4))), 2, "one dim of the result for each"),
        (Broadcast((5,), dims_of((3, 4))), 1, "dim 5 is out of range for rank 2"),
        (Broadcast(None, dims_of((3,))), 2, "rank 2 cannot be broadcast to rank 1"),
        (NewAxes(("dim", "dim")), 1, "too many dims"),
    ],
)
def test_what_does_not_fit_says_what_does(view, rank, message):
    with pytest.raises(BroadcastError, match=message):
        view.resolve(rank)


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("transpose(a)", lambda a: np.transpose(a)),
        ("a.T", lambda a: a.T),
        ("np.transpose(a, (1, -2))", lambda a: np.transpose(a, (1, -2))),
        ("a[:, None]", lambda a: a[:, None]),
        ("a[None, ...]", lambda a: a[None, ...]),
        ("a[None]", lambda a: np.expand_dims(a, 0)),
        ("broadcast_to(a, (3, 4))", lambda a: np.broadcast_to(a, (3, 4))),
        ("broadcast_to(a, 3)", lambda a: np.broadcast_to(a, 3)),
    ],
)
def test_text_and_python_say_the_same(text, function):
    assert str(parse(text)) == str(trace(function, ("a",)))


def test_an_operand_may_give_the_shape():
    assert "broadcast[dims=[1]](a, like=b)" in str(parse("broadcast_in_dim(a, b, dims=(1,)) + b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a[0]", "not element-wise"),
        ("a[1:]", "not element-wise"),
        ("a[..., ...]", "not element-wise"),
        ("broadcast_to(a)", "takes x, shape"),
        ("broadcast_in_dim(a, (3,), (0,), dims=(0,))", "takes x, shape, dims"),
        ("broadcast_in_dim(a, (3,), axes=(0,))", "takes x, shape, dims"),
        ("transpose(a, b)", "a dim is an integer"),
        ("transpose(a, (1.5, 0))", "a dim is an integer"),
        ("transpose(a, (True, 0))", "a dim is an integer"),
        ("transpose()", "takes x, axes"),
        ("broadcast_to(a, (b + 1,))", "a dim is an integer"),
    ],
)
def test_text_that_is_no_view(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text)


def test_a_shape_comes_from_an_operand():
    from bcastgen.api.views import broadcast_in_dim

    with pytest.raises(TraceError, match="not of a computed value"):
        trace(lambda a, b: broadcast_in_dim(a, a + b, (0,)), ("a", "b"))


def test_equal_views_are_one_node():
    expression = trace(lambda a: a.T * np.transpose(a), ("a",))
    assert str(expression).count("transpose(a)") == 1
