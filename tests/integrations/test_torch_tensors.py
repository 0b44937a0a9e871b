"""Tensors of PyTorch: the memory is shared, results are tensors, and what cannot be read is refused with the cure."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

torch = pytest.importorskip("torch", reason="torch is not installed (pip install torch==2.13.0)")

scaled = bg.jit(lambda x, y: x * y + 1, name="scaled")
both = bg.jit(lambda x: (x + 1, x * 2), name="both")
DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_numpys_as_tensors(dtype):
    x = torch.tensor([[1, 0, 1], [1, 1, 0]]).to(getattr(torch, dtype))
    got, wanted = scaled(x, x[0]), scaled(x.numpy(), x[0].numpy())
    assert type(got) is torch.Tensor and got.numpy().dtype == wanted.dtype
    np.testing.assert_array_equal(got.numpy(), wanted)


@pytest.mark.parametrize("view", ["whole", "turned", "strided", "flipped", "stretched", "without dims"])
def test_operands_are_read_in_place_and_outs_written_to(view):
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    x = {
        "whole": base,
        "turned": base.T,
        "strided": base[::2, 1::3],
        "flipped": base.flip(0),
        "stretched": base[:1].expand(4, 6),
        "without dims": base[1, 1],
    }[view]
    out = torch.empty_like(x, memory_format=torch.preserve_format).contiguous()
    assert scaled(x, 2, out=out) is out
    assert torch.equal(out, x * 2 + 1) and torch.equal(scaled(x, 2), out)
    if view not in ("stretched", "flipped"):
        wanted = x * 2 + 1
        version = base._version
        scaled(x, 2, out=x)
        assert torch.equal(x, wanted)
        # What gradients were to read has changed.
        assert x._version == version + 1


def test_no_copy_is_made():
    x, out = torch.ones(1000), torch.empty(1000)
    module = pytest.importorskip("bcastgen.integrations.torch_tensors")
    assert module.as_ndarray("x", x).ctypes.data == x.data_ptr()
    result = np.ones(3)
    assert module.as_own(result, x).data_ptr() == result.ctypes.data
    assert module.as_ndarray("x", out, True).flags.writeable


def test_dtypes_that_numpy_has_not_travel_as_their_bits():
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed (pip install -e .[test])")
    x = torch.tensor([1.0, 2.5, -3.0]).bfloat16()
    got, out = scaled(x, 2), torch.empty_like(x)
    assert got.dtype is torch.bfloat16 and torch.equal(got, x * 2 + 1)
    assert scaled(x[::2], 2, out=out[::2]) is not None and out[2] == -5
    wide = bg.jit(lambda x: x.astype(np.float32) * 2, name="wide")
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz):
        small = torch.tensor([1.0, -0.5, 3.0]).to(dtype)
        assert torch.equal(wide(small), small.float() * 2)
    back = bg.from_text("(f32[?] x) -> x.astype(f8e5m2)")
    assert torch.equal(back(torch.tensor([1.0, -0.5])).float(), torch.tensor([1.0, -0.5]))


def test_other_arguments():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert scaled(y=x, x=np.float32(2)).dtype is torch.float32
    assert scaled(x, np.ones(3)).dtype is torch.float64
    assert scaled(x, 2, where=x > 1).tolist() == [0, 5, 7]
    assert scaled(x, 2, dtype="f8").dtype is torch.float64
    plus, times = both(x, out=(None, out := torch.empty(3)))
    assert times is out and plus.tolist() == [2, 3, 4] and out.tolist() == [2, 4, 6]
    assert scaled(x, 2, out=(array := np.empty(3, np.float32))) is array
    assert bg.evaluate("x * x").tolist() == bg.multiply(x, x).tolist() == [1, 4, 9]
    assert bg.jit(lambda x: x.sum())(x) == 6
    assert isinstance(bg.add(x[0], 1), torch.Tensor)
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert torch.equal(scaled(z.conj(), 1), z.conj() + 1)
    assert torch.equal(scaled(z.conj().imag, 1), z.conj().imag + 1)


REFUSED = {
    "gradient": (lambda: torch.ones(3, requires_grad=True), r"requires grad.*x\.detach\(\).*no_grad.*torch\.library"),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(3)), r"requires grad"),
    "device": (lambda: torch.empty(3, device="meta"), r"on meta.*x\.cpu\(\)"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), r"nested tensor.*x\.unbind\(\)"),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        r"torch\.nested\.to_padded_tensor",
    ),
    "sparse": (lambda: torch.ones(3).to_sparse(), r"x\.to_dense\(\)"),
    "quantised": (lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), r"x\.dequantize\(\)"),
    "subclass": (lambda: torch.ones(3).as_subclass(type("Own", (torch.Tensor,), {})), r"Own, which.*plain tensor"),
    "float4": (lambda: torch.zeros(3, dtype=torch.uint8).view(torch.float4_e2m1fn_x2), "which NumPy has not"),
}


@pytest.mark.filterwarnings("ignore")  # torch is about to remove its quantised tensors
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_cure(case):
    make, cure = REFUSED[case]
    tensor = make()
    with pytest.raises(bg.DTypeError, match=rf"operand 'y' of scaled\(\) is an? .*{cure}"):
        scaled(1.0, tensor)
    with pytest.raises(bg.DTypeError, match=rf"out of result 'r' of scaled\(\) is an? .*{cure}"):
        scaled(1.0, np.ones(3), out=tensor)


def test_without_gradients_there_is_nothing_to_refuse():
    with torch.no_grad():
        assert scaled(torch.ones(3, requires_grad=True), 2).tolist() == [3, 3, 3]


def test_outs_are_checked():
    x = torch.ones(3)
    with pytest.raises(bg.BroadcastError, match="result 'r' dim 0"):
        scaled(x, 1, out=torch.ones(2))
    with pytest.raises(bg.DTypeError, match="cannot be cast to out's int64"):
        scaled(x, 1, out=torch.ones(3, dtype=torch.int64))
    with pytest.raises(ValueError, match="tuple of 3"):
        both(x, out=(x, x, x))
    with pytest.raises(bg.DTypeError, match="conjugated"):
        scaled(x, 1, out=torch.ones(3, dtype=torch.complex64).conj())
    with pytest.raises(bg.DTypeError, match=r"arrays of several libraries.*Tensor"):
        pandas = pytest.importorskip("pandas", reason="pandas is not installed (pip install -e .[arrays])")
        scaled(x, pandas.Series([1, 2, 3]))


@pytest.mark.parametrize("operand", ["new", "seen"])
def test_a_compiled_function_calls_a_kernel_between_its_parts(operand):
    kernel = bg.jit(lambda x: np.exp(x) * 2)
    if operand == "seen":
        kernel(torch.zeros(3))
    compiled = torch.compile(lambda x: kernel(x) + x * 1 + 1, backend="eager")
    assert compiled(torch.zeros(3)).tolist() == [3, 3, 3]
    with pytest.raises(bg.DTypeError, match="requires grad"):
        compiled(torch.zeros(3, requires_grad=True))


def test_a_compiled_function_has_a_registered_kernel_as_one_op():
    @torch.library.custom_op("bcastgen_tests::scaled", mutates_args=())
    def op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return scaled(x, y)

    op.register_fake(lambda x, y: torch.empty(torch.broadcast_shapes(x.shape, y.shape), dtype=x.dtype))
    compiled = torch.compile(lambda x, y: op(x * 1, y).sum(), backend="aot_eager", fullgraph=True)
    assert compiled(torch.ones(2, 1), torch.arange(3.0)) == 12


@pytest.mark.filterwarnings("ignore")  # torch is about to remove torch.jit
def test_tensors_that_stand_for_others_are_refused():
    x = torch.ones(2, 3)
    for call in (
        lambda: torch.vmap(lambda x: scaled(x, 2))(x),
        lambda: torch.func.jvp(lambda x: scaled(x, 2), (x,), (x,)),
    ):
        with pytest.raises(bg.TraceError, match=r"operand 'x' of scaled\(\) .*vmap.*whole tensor.*torch\.library"):
            call()
    with pytest.raises(bg.TraceError, match=r"traced by torch\.jit"):
        torch.jit.trace(lambda x: scaled(x, 2), x)
