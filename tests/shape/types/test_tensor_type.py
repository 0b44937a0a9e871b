"""Types and signatures: every spelling, what each prints, and texts that are none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcastgen.core.dtypes import DTYPES, F32, DType, dtype
from bcastgen.core.errors import BcastgenError, BroadcastError, DTypeError, ParseError
from bcastgen.shape.types.dim import MAX_EXTENT, Dim
from bcastgen.shape.types.tensor_type import Signature, TensorType, parse_signature, parse_type

N = Dim("n")
ANY = Dim()


@pytest.mark.parametrize(
    ("text", "expected", "printed", "mlir"),
    [
        ("f32[?, 4]", TensorType(F32, (ANY, Dim(4))), "f32[?, 4]", "tensor<?x4xf32>"),
        ("f32[n, 4]", TensorType(F32, (N, Dim(4))), "f32[n, 4]", "tensor<?x4xf32>"),
        ("f32[*]", TensorType(F32, (), True), "f32[*]", "tensor<*xf32>"),
        ("f32", TensorType(F32, (), True), "f32[*]", "tensor<*xf32>"),
        ("f32[*, n, 4]", TensorType(F32, (N, Dim(4)), True), "f32[*, n, 4]", "tensor<*xf32>"),
        ("f32[]", TensorType(F32, ()), "f32[]", "tensor<f32>"),
        ("tensor<?x4xf32>", TensorType(F32, (ANY, Dim(4))), "f32[?, 4]", "tensor<?x4xf32>"),
        ("tensor<*xf32>", TensorType(F32, (), True), "f32[*]", "tensor<*xf32>"),
        ("tensor<f32>", TensorType(F32, ()), "f32[]", "tensor<f32>"),
        ("tensor<0x0x3xi1>", TensorType(dtype("bool"), (Dim(0), Dim(0), Dim(3))), "bool[0, 0, 3]", "tensor<0x0x3xi1>"),
        ("vector<4xf32>", TensorType(F32, (Dim(4),), False, "vector"), "vector<4xf32>", "vector<4xf32>"),
        ("i1[2]", TensorType(dtype("bool"), (Dim(2),)), "bool[2]", "tensor<2xi1>"),
        ("float32[2]", TensorType(F32, (Dim(2),)), "f32[2]", "tensor<2xf32>"),
        ("tensor<2xui8>", TensorType(dtype("u8"), (Dim(2),)), "u8[2]", "tensor<2xui8>"),
        (" f32 [ ? ,4 ]\n", TensorType(F32, (ANY, Dim(4))), "f32[?, 4]", "tensor<?x4xf32>"),
        ("tensor < ? x 4 x f32 >", TensorType(F32, (ANY, Dim(4))), "f32[?, 4]", "tensor<?x4xf32>"),
        ("f32[007]", TensorType(F32, (Dim(7),)), "f32[7]", "tensor<7xf32>"),
        (f"f32[{MAX_EXTENT}]", TensorType(F32, (Dim(MAX_EXTENT),)), f"f32[{MAX_EXTENT}]", f"tensor<{MAX_EXTENT}xf32>"),
        ("f32[x, f32]", TensorType(F32, (Dim("x"), Dim("f32"))), "f32[x, f32]", "tensor<?x?xf32>"),
    ],
)
def test_spellings(text: str, expected: TensorType, printed: str, mlir: str) -> None:
    parsed = parse_type(text)
    assert parsed == expected
    assert str(parsed) == printed
    assert parsed.mlir == mlir
    assert parse_type(printed) == parsed


@pytest.mark.parametrize(("text", "dims"), [("[?, 4]", (ANY, Dim(4))), ("[]", ()), ("[n]", (N,))])
def test_without_an_element_type(text: str, dims: tuple[Dim, ...]) -> None:
    assert parse_type(text) == TensorType(None, dims)
    assert str(parse_type(text)) == text
    with pytest.raises(DTypeError, match="has no element type, which MLIR requires"):
        _ = parse_type(text).mlir


def test_rank() -> None:
    assert [parse_type(text).rank for text in ("f32[]", "f32[?, 4]", "f32[*]", "f32[*, 4]")] == [0, 2, None, None]


def test_aligned() -> None:
    assert parse_type("f32[n, 4]").aligned == ((2, 0, N), (1, 1, Dim(4)))
    assert parse_type("f32[*, n, 4]").aligned == ((2, -2, N), (1, -1, Dim(4)))


def test_a_type_is_passed_through() -> None:
    type_ = parse_type("f32[n]")
    assert parse_type(type_) is type_


@pytest.mark.parametrize("row", DTYPES, ids=str)
def test_every_dtype_in_every_spelling(row: DType) -> None:
    for spelling in (row.name, row.mlir, row.numpy):
        assert parse_type(f"{spelling}[?]") == parse_type(f"tensor<?x{spelling}>") == TensorType(row, (ANY,))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected a type, found the end"),
        ("  ", 3, "expected a type, found the end"),
        ("4", 1, "expected a type, found '4'"),
        ("x", 1, "'x' is not an element type in the type 'x'; use one of bool, i8"),
        ("f33[4]", 1, "'f33' is not an element type"),
        # numpy.dtype would take this for a type of 8 bytes.
        ("tensor<4xi3>", 10, "'i3' is not an element type"),
        ("f8[4]", 1, "'f8' is not an element type"),
        ("f32[4", 6, "expected ',' or ']', found the end"),
        ("f32[4,]", 7, "expected a dim, found ']'"),
        ("f32[4 5]", 7, "expected ',' or ']', found '5]'"),
        ("f32[-1]", 5, "a dim is an extent of 0 or more, ? or a name"),
        ("f32[4, *]", 8, "a '*' stands before all dims"),
        ("f32[*, *]", 8, "expected a dim, found '*]'"),
        ("f32[* 4]", 7, "expected ','"),
        ("f32[4.5]", 6, "expected ',' or ']', found '.5]'"),
        ("f32[4n]", 6, "expected ',' or ']', found 'n]'"),
        ("f32[٤]", 5, "expected a dim"),
        ("f32[²]", 5, "'²' is not a name"),
        ("f32[9223372036854775808]", 5, "extents go up to 9223372036854775807"),
        ("f32[4]]", 7, "expected the end, found ']'"),
        ("f32 a", 5, "expected the end, found 'a'"),
        ("tensor", 7, "expected '<', found the end"),
        ("tensor<?x4xf32", 15, "expected '>', found the end"),
        ("tensor<4f32>", 9, "expected 'x', found 'f32>'"),
        ("tensor<nxf32>", 8, "'nxf32' is not an element type"),
        ("tensor<*x4xf32>", 10, "expected an element type, found '4xf32>'"),
        ("tensor<-1xf32>", 8, "expected an element type"),
        ("tensor<4xf32, #layout>", 13, "expected '>'"),
        ("tensor<99999999999999999999xf32>", 8, "extents go up to"),
        ("vector<?xf32>", 10, "a vector has extents that are known and 1 or more"),
        ("vector<0xf32>", 10, "a vector has extents that are known and 1 or more"),
        ("vector<*xf32>", 10, "a vector has a rank"),
        ("vector<f32>", 8, "a vector has at least one dim"),
        ("vector<[4]xf32>", 8, "expected an element type"),
        ("memref<4xf32>", 1, "'memref' is not an element type"),
    ],
)
def test_texts_that_are_no_type(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_type(text)
    assert str(caught.value).startswith(f"column {column}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [None, 4, b"f32[4]", F32, ("f32", 4)])
def test_values_that_are_no_text(value: Any) -> None:
    with pytest.raises(ParseError, match="a type is a text or a TensorType"):
        parse_type(value)
    with pytest.raises(ParseError, match="a signature is a text"):
        parse_signature(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((F32, [Dim(4)]), "not a tuple of Dim; write"),
        ((F32, (4,)), "not a tuple of Dim; write"),
        (("f32", (Dim(4),)), "dtype 'f32' is no DType; write bcastgen.dtype('f32'), or None"),
        ((F32, (), False, "memref"), "container 'memref' is unknown; use one of tensor, vector"),
        ((F32, (ANY,), False, "vector"), "a vector has extents that are known"),
        ((None, (Dim(4),), False, "vector"), "a vector has an element type"),
    ],
)
def test_types_that_cannot_be(arguments: Any, message: str) -> None:
    with pytest.raises((BroadcastError, DTypeError)) as caught:
        TensorType(*arguments)
    assert message in str(caught.value)


A, B = ("a", parse_type("f32[?, 4]")), ("b", parse_type("f32[n, 1]"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(f32[?, 4] a, f32[n, 1] b) -> f32[n, 4]", Signature((A, B), (parse_type("f32[n, 4]"),))),
        ("(f32[?, 4], f32[n, 1] b)", Signature(((None, A[1]), B))),
        ("(tensor<?x4xf32> a)->", Signature((A,))),
        ("(f32[?, 4] a) -> a + b*2", Signature((A,), None, "a + b*2")),
        ("(f32[?, 4] a) -> (a + 1) * 2", Signature((A,), None, "(a + 1) * 2")),
        ("(f32[?, 4] a) -> f32(a)", Signature((A,), None, "f32(a)")),
        ("(f32[?, 4] a) -> f32x * a", Signature((A,), None, "f32x * a")),
        ("(f32[?, 4] a) -> (f32(a) + a)", Signature((A,), None, "(f32(a) + a)")),
        ("(f32[?, 4] a) ->\n  exp(\n  a )  ", Signature((A,), None, "exp(\n  a )")),
        ("(f32[?, 4] a) -> f64", Signature((A,), (parse_type("f64[*]"),))),
        ("(f32[?, 4] a) -> (f64)", Signature((A,), (parse_type("f64[*]"),))),
        (
            "(f32[?, 4] a) -> (f32[n, 1], [2], i1)",
            Signature((A,), tuple(map(parse_type, ("f32[n, 1]", "[2]", "bool")))),
        ),
        ("(f32[?, 4] a) -> vector<4xf32>", Signature((A,), (parse_type("vector<4xf32>"),))),
        ("(f32 a, [2] b)", Signature((("a", parse_type("f32")), ("b", parse_type("[2]"))))),
        ("() -> f32[4]", Signature((), (parse_type("f32[4]"),))),
        ("(f32 ñ) -> ñ*2", Signature((("ñ", parse_type("f32")),), None, "ñ*2")),
    ],
)
def test_signatures(text: str, expected: Signature) -> None:
    signature = parse_signature(text)
    assert signature == expected
    assert parse_signature(str(signature)) == signature
    assert parse_signature(signature) is signature


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(f32[?,4] a,f32[n,1])->f32[n,4]", "(f32[?, 4] a, f32[n, 1]) -> f32[n, 4]"),
        ("( f32 a ) -> ( f32[2] , f32 )", "(f32[*] a) -> (f32[2], f32[*])"),
        ("(f32 a) -> a+1", "(f32[*] a) -> a+1"),
        ("(f32 a)", "(f32[*] a)"),
    ],
)
def test_signatures_print(text: str, printed: str) -> None:
    assert str(parse_signature(text)) == printed


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected '('"),
        ("f32[4] a", 1, "expected '('"),
        ("(f32[4] a", 10, "expected ',' or ')', found the end"),
        ("(f32[4] a,)", 11, "expected a type, found ')'"),
        ("(a, b) -> a + b", 2, "'a' is not an element type"),
        ("(f32[4] a b)", 11, "expected ',' or ')', found 'b)'"),
        ("(f32[4] %a)", 9, "expected a name, ',' or ')'"),
        ("(f32[4] f32[4] b)", 9, "put a ',' before the type"),
        ("(f32[4] tensor)", 9, "operand name 'tensor' is a type's"),
        ("(f32[4] lambda)", 9, "operand name 'lambda' cannot stand in an expression"),
        ("(f32[4] a, f32[4] a)", 19, "operand name 'a' is there twice"),
        ("(f32[4] a) a", 12, "expected '->', found 'a'"),
        ("(f32[4] a) -> f32[4", 20, "expected ',' or ']', found the end"),
        ("(f32[4] a) -> f32[4] + a", 22, "expected the end, found '+ a'"),
        ("(f32[4] a) -> f32[4], f32[4]", 21, "several results stand in parentheses"),
        ("(f32[4] a) -> (f32[4], 5)", 24, "expected a type, found '5)'"),
        ("(f32[4] a) -> (f32[4]", 22, "expected ')', found the end"),
        ("(f32[4] a) -> tensor<4", 23, "expected 'x', found the end"),
    ],
)
def test_texts_that_are_no_signature(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_signature(text)
    assert str(caught.value).startswith(f"column {column}: ")
    assert message in str(caught.value)


def test_long_texts() -> None:
    long = parse_type(f"f32[{'1, ' * 100_000}n]")
    assert len(long.dims) == 100_001
    assert parse_type(str(long)) == long
    for text in ("9" * 10**6, "f32[" + "9" * 10**6 + "]", "tensor<" + "9" * 10**6, "[" * 10**6, "f32[" + "n" * 10**6):
        with pytest.raises(ParseError) as caught:
            parse_type(text)
        assert len(str(caught.value)) < 400
    with pytest.raises(ParseError):
        parse_signature("(" * 10**6)
    assert parse_signature("(f32 a) -> " + "(" * 10**6).expression == "(" * 10**6


names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,5}", fullmatch=True)
dims = st.one_of(st.integers(0, MAX_EXTENT), st.integers(0, 4), names, st.none()).map(Dim)
rows = st.lists(dims, max_size=5).map(tuple)
tensors = st.builds(TensorType, st.one_of(st.none(), st.sampled_from(DTYPES)), rows, st.booleans())
vectors = st.builds(
    TensorType,
    st.sampled_from(DTYPES),
    st.lists(st.integers(1, MAX_EXTENT).map(Dim), min_size=1, max_size=4).map(tuple),
    st.just(False),
    st.just("vector"),
)
tensor_types = st.one_of(tensors, vectors)


@given(tensor_types)
@settings(deadline=None)
def test_a_type_parses_back(type_: TensorType) -> None:
    assert parse_type(str(type_)) == type_


@given(tensor_types)
@settings(deadline=None)
def test_mlir_keeps_what_mlir_can_say(type_: TensorType) -> None:
    if type_.dtype is None:
        return
    kept = tuple(dim if dim.is_static else Dim() for dim in type_.dims)
    expected = TensorType(type_.dtype, () if type_.unranked else kept, type_.unranked, type_.container)
    assert parse_type(type_.mlir) == expected


def is_free(name: str) -> bool:
    try:
        parse_signature(f"(f32 {name})")
    except ParseError:
        return False
    return True


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    given_names = draw(st.lists(names.filter(is_free), unique=True, max_size=4))
    operands = tuple((name if draw(st.booleans()) else None, draw(tensor_types)) for name in given_names)
    results = draw(st.one_of(st.none(), st.lists(tensor_types, min_size=1, max_size=3).map(tuple)))
    return Signature(operands, results)


@given(signatures())
@settings(deadline=None)
def test_a_signature_parses_back(signature: Signature) -> None:
    assert parse_signature(str(signature)) == signature


tokens = st.lists(
    st.one_of(
        st.sampled_from(
            ["f32", "i1", "tensor", "vector", "<", ">", "[", "]", "(", ")", ",", "?", "*", "->", "x", "4", " "]
        ),
        st.text(max_size=2),
    ),
    max_size=20,
).map("".join)


@given(tokens)
@settings(deadline=None, max_examples=500)
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        parsed = parse_type(text)
    except ParseError as error:
        assert "column " in str(error)
    else:
        assert parse_type(str(parsed)) == parsed
    try:
        signature = parse_signature(f"(f32 a, {text}) -> {text}")
    except ParseError as error:
        assert "column " in str(error)
    else:
        assert parse_signature(str(signature)) == signature


@given(tensor_types, st.data())
@settings(deadline=None, max_examples=300)
def test_a_changed_text_parses_or_is_refused(type_: TensorType, data: st.DataObject) -> None:
    text = str(type_)
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + data.draw(st.text(max_size=2)) + text[at + data.draw(st.integers(0, 2)) :]
    try:
        parsed = parse_type(changed)
    except BcastgenError as error:
        assert isinstance(error, ParseError)
    else:
        assert parse_type(str(parsed)) == parsed
