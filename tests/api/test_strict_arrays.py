"""bcastgen/api/strict_arrays.py: dims that may not stretch, held to a model of NumPy's rule."""

from __future__ import annotations

import random

import numpy as np
import pytest

import bcastgen as bg

# A kernel; for each operand the dim of the domain, from the end, that each own dim is, None where all align; results.
KERNELS = {
    "aligned": (bg.jit(lambda a, b, c: a + b * c), (None, None, None)),
    "transposed": (bg.jit(lambda a, b: a.T + b, signature="(f64[?, ?] a, f64[?, ?] b)"), ((1, 2), None)),
    "placed": (
        bg.jit(lambda a, b: bg.broadcast_in_dim(a, b, dims=(0, 2)) + b, signature="(f64[?, ?] a, f64[?, ?, ?] b)"),
        ((3, 1), None),
    ),
}
RANKS = {"aligned": None, "transposed": (2, 2), "placed": (2, 3)}


def draw(rng, name):
    """Shapes that NumPy can broadcast as the kernel does, and some dims of each that are strict."""
    _, places = KERNELS[name]
    ranks = RANKS[name] or tuple(rng.randrange(4) for _ in places)
    domain = [rng.choice((0, 1, 2, 3)) for _ in range(3)]
    shapes, strict = [], []
    for rank, own in zip(ranks, places, strict=True):
        at = own or tuple(range(rank, 0, -1))
        target = name == "placed" and own is None
        shapes.append(tuple(domain[-p] if target or rng.random() < 0.6 else 1 for p in at))
        strict.append(tuple(dim for dim in range(rank) if rng.random() < 0.3))
    return shapes, strict


def stretched(name, shapes, strict):
    """What the model says: the first strict dim, by operand and then dim, that would stretch; None if none would."""
    _, places = KERNELS[name]
    located = [own or tuple(range(len(shape), 0, -1)) for shape, own in zip(shapes, places, strict=True)]
    domain = {}
    for shape, at in zip(shapes, located, strict=True):
        for extent, place in zip(shape, at, strict=True):
            domain[place] = extent if extent != 1 else domain.get(place, 1)
    for number, (shape, at) in enumerate(zip(shapes, located, strict=True)):
        for dim in strict[number]:
            if shape[dim] == 1 != domain[at[dim]]:
                return number, dim, domain[at[dim]]
    return None


def told(function):
    try:
        return function()
    except bg.BroadcastError as error:
        assert "it does not stretch" in str(error)
        return error.operand, error.dim, error.expected


@pytest.mark.parametrize("name", KERNELS)
def test_a_call_is_refused_exactly_where_a_strict_dim_would_stretch(name):
    rng = random.Random(name)
    kernel, _ = KERNELS[name]
    refused = 0
    for _ in range(150):
        shapes, strict = draw(rng, name)
        arrays = [np.full(shape, 2.0 + at) for at, shape in enumerate(shapes)]
        given = [bg.strict(x, dims) if dims else x for x, dims in zip(arrays, strict, strict=True)]
        wanted = stretched(name, shapes, strict)
        refused += wanted is not None
        sized = told(lambda given=given: kernel.result_shape(*given))
        called = told(lambda given=given: kernel(*given))
        if wanted is None:
            assert np.array_equal(called, kernel(*arrays)) and sized == called.shape
        else:
            number, dim, expected = wanted
            assert called == sized == (kernel.operands[number], dim, expected)
    assert 15 < refused < 135


def test_a_result_of_its_own_domain_is_asked_by_itself():
    # b does not stretch in the first result; in the second one it would.
    kernel = bg.jit(lambda a, b, c: (a + 1, b + c))
    ones, four = np.ones(1), np.ones(4)
    assert [r.shape for r in kernel(four, bg.strict(ones), ones)] == [(4,), (1,)]
    with pytest.raises(bg.BroadcastError, match=r"'b' dim 0 has extent 1, expected 4 \(from 'c'\); it does"):
        kernel(ones, bg.strict(ones), four)


def test_what_a_kernel_refuses_anyway_it_refuses_in_its_own_words():
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 4, expected 1 or 3"):
        bg.add(bg.strict(np.ones(3)), np.ones(4))
    declared = bg.from_text("(f64[3] a, f64[?] b) -> a + b")
    with pytest.raises(bg.BroadcastError, match=r"operand 'a' dim 0 has extent 1, expected 3, in kernel\(a: \[1\]"):
        declared(bg.strict(np.ones(1)), np.ones(3))


def test_types_and_options_may_be_stricter():
    strict = bg.jit(lambda a, b: a + b, dynamic="strict")
    assert strict(bg.strict(np.ones(1)), np.ones(1)).shape == (1,)
    column = bg.from_text("(f64[n] a, f64[bcast] b) -> a * b")
    assert column(np.ones(3), np.ones(1)).shape == (3,)
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 1, expected 3"):
        column(np.ones(3), bg.strict(np.ones(1)))


def test_the_callers_extents_do_not_stretch_it_either():
    spread = bg.jit(lambda x: bg.broadcast_to(x, ("k",)))
    one = bg.strict(np.ones(1))
    assert spread(one.array, extents={"k": 3}).shape == (3,)
    assert spread(one, extents={"k": 1}).shape == (1,)
    for call in (lambda: spread(one, extents={"k": 3}), lambda: spread.result_shape(one, extents={"k": 3})):
        with pytest.raises(bg.BroadcastError, match=r"'x' dim 0 has extent 1, expected 3 .*it does not stretch"):
            call()


def test_by_name_by_text_with_out_and_with_numpy_answering():
    row, rows = np.ones((1, 3)), np.ones((4, 3))
    out = np.empty((4, 3))
    assert bg.add(a=bg.strict(row, 1), b=rows, out=out) is out
    late = bg.jit(lambda a, b: a - b * 0.125, background=True)
    calls = (
        lambda x: bg.add(a=x, b=rows, out=out),
        lambda x: bg.evaluate("x - y", {"x": x, "y": rows}),
        lambda x: late(x, rows),
    )
    for call in calls:
        assert call(bg.strict(row, -1)).shape == (4, 3)
        with pytest.raises(bg.BroadcastError, match=r"dim 0 has extent 1, expected 4 .*it does not stretch"):
            call(bg.strict(row, 0))
    late.wait()


def test_a_strict_array_is_the_array_itself_with_dims():
    x = np.ones((1, 2, 3))
    made = bg.strict(x, (-1, 0))
    assert made.array is x and made.dims == (0, 2) and made.shape == x.shape
    assert bg.strict(x).dims == (0, 1, 2) and bg.strict(x, ()).dims == () and bg.strict(np.ones(())).dims == ()
    assert repr(bg.strict(np.zeros(1))) == "strict(array([0.]), dims=(0,))"


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        (2, "dim 2 is out of range for rank 2; use -2 to 1"),
        ((0, -3), "dim -3 is out of range for rank 2"),
        ((1, -1), r"dim 1 is named twice in \(1, -1\); name each once"),
        (1.5, "1.5 is no dim; give integers"),
        ("ab", "'a' is no dim"),
    ],
)
def test_wrong_dims_are_refused(dims, message):
    with pytest.raises(bg.BroadcastError, match=message):
        bg.strict(np.ones((1, 2)), dims)


def test_what_is_no_array_is_refused():
    with pytest.raises(bg.DTypeError, match=r"takes an array, not list; pass numpy.asarray\(x\)"):
        bg.strict([1.0])
    with pytest.raises(bg.DTypeError, match="takes an array, not Strict"):
        bg.strict(bg.strict(np.ones(1)))
    with pytest.raises(bg.TraceError, match="by !"):
        bg.jit(lambda a: bg.strict(a) + 1)
    with pytest.raises(TypeError, match="takes out as an ndarray, not Strict"):
        bg.add(np.ones(1), np.ones(1), out=bg.strict(np.ones(1)))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + np.ones(3),
        lambda x: np.ones(3) * x,
        lambda x: 1 - x,
        lambda x: x == x,
        np.exp,
        np.sum,
        np.asarray,
        lambda x: np.broadcast_to(x, (3,)),
    ],
)
def test_numpy_does_not_take_it(use):
    with pytest.raises(bg.DTypeError, match=r"is an argument of kernels, and .* knows nothing of its dims"):
        use(bg.strict(np.ones(1)))
