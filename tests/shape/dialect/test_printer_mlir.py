"""Agreement with real MLIR: it reads what is printed, its folds and its compiled programs give what ours give.

Where they do not, LLVM 22 leaves undefined what is defined here, or its folder is wrong; each such case is a test that
says why, at the end. Needs mlir-opt-22 and mlir-runner-22 (Debian: mlir-22-tools).

The file is long because each exception stands beside the comparison that it is excepted from.
"""

from __future__ import annotations

import random
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import shape_programs
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.arithmetic import wrap
from bcastgen.shape.dialect.ops import ROWS, find_row
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.values import Shape, Size, Witness
from long_runs import many
from shape_upstream import breaks, conflicting, has_errors, mlir_opt, module, ran, surviving, tool

pytestmark = pytest.mark.slow

LOWERING = """--canonicalize --shape-to-shape-lowering --convert-shape-constraints --canonicalize --convert-shape-to-std
    --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops --convert-scf-to-cf
    --expand-strided-metadata --lower-affine --arith-expand --convert-vector-to-llvm --finalize-memref-to-llvm
    --convert-func-to-llvm --convert-cf-to-llvm --convert-arith-to-llvm --convert-index-to-llvm
    --reconcile-unrealized-casts""".split()
# The same programs each time: others may find one more fault of LLVM's, which is nothing to stop a change of ours.
BATCHES = range(many(20, 50))


# ---- what MLIR's text says -------------------------------------------------------------------------------------------

CONSTANT = re.compile(r"(%[\w-]+) = (?:shape\.const_\w+|arith\.constant) (dense<[^>]*>|\[[^\]]*\]|\S+)(?: : (\S+))?")
CAST = re.compile(r"(%[\w-]+) = tensor\.cast (%[\w#-]+) ")


def constants(text):
    """Function name -> what it returns, with None for what is no constant."""
    found = {}
    for function in re.split(r"^  func\.func @", text, flags=re.MULTILINE)[1:]:
        values, returned = {}, []
        for line in map(str.strip, function.splitlines()):
            constant, cast = CONSTANT.match(line), CAST.match(line)
            if constant:
                values[constant[1]] = literal(constant[2], constant[3] or "")
            elif cast:
                values[cast[1]] = values.get(cast[2])
            elif line.startswith("return"):
                names = line.removeprefix("return").partition(":")[0].split(",")
                returned = [values.get(name.strip()) for name in names]
        found[function.partition("(")[0]] = returned
    return found


def literal(text, type_):
    if text in ("true", "false"):
        return text == "true"
    if not text.startswith(("dense", "[")):
        return int(text)
    inner = text.removeprefix("dense<").strip("<>[]")
    extents = tuple(int(item) for item in inner.split(",") if item.strip())
    count = re.match(r"tensor<(\d+)x", type_)
    return extents * int(count[1]) if count and not text.startswith(("[", "dense<[", "dense<>")) else extents


def plain(value):
    """A value as MLIR's constants have it; None where it has none."""
    if isinstance(value, Shape):
        return None if value.is_invalid else value.extents
    if isinstance(value, Witness):
        return value.passing
    return value.value if isinstance(value, Size) else value


# ---- it reads what is printed ----------------------------------------------------------------------------------------

TYPES = tuple(type_ for type_ in shape_programs.TYPES if "element_type" not in type_)


def batch(chance, count, types, **options):
    return [shape_programs.make_program(chance, types, **options) for _ in range(count)]


def test_mlir_reads_every_program_and_its_fold():
    for seed in BATCHES:
        programs = batch(random.Random(seed), 20, TYPES)
        mlir_opt(module([*programs, *(built.fold() for built in programs)]))


def test_mlir_reads_text_in_attributes():
    built = program(
        "texts",
        lambda a, b: op("join")(a, b, error='a "quoted"\n\\ reason, ü'),
        a="!shape.shape",
        b="!shape.shape",
    )
    assert 'error = "a \\22quoted\\22\\0A\\5C reason, ü"' in str(built)
    assert "quoted" in mlir_opt(str(built))


# ---- folds -----------------------------------------------------------------------------------------------------------


def folds_agree(chance):
    """How many constants were compared."""
    compared = 0
    programs = surviving(batch(chance, 20, TYPES), "--canonicalize")
    returned = constants(mlir_opt(module(programs), "--canonicalize"))
    for number, built in enumerate(programs):
        operands, _ = shape_programs.make_operands(chance, built)
        machine, results = ran(built, operands)
        # Where a run fails LLVM leaves the program undefined.
        if results is None or conflicting(machine) or has_errors(machine):
            continue
        for constant, result in zip(returned[f"p{number}"], results, strict=True):
            if constant is not None:
                assert constant == plain(result), f"{built}\n{operands}"
                compared += 1
    return compared


def test_folds_agree():
    assert sum(folds_agree(random.Random(seed)) for seed in BATCHES) > 50


# ---- compiled programs -----------------------------------------------------------------------------------------------

# What LLVM lowers, on operands that it lowers. `any` of constants is folded to the last of them before: none there.
RUNS = """broadcast num_elements get_extent split_at shape_eq is_broadcastable any add mul shape_of cstr_eq
    cstr_broadcastable cstr_require assuming_all const_shape dim rank addi subi muli minsi maxsi minui maxui
    andi ori xori divsi floordivsi ceildivsi remsi divui ceildivui remui shli shrsi shrui cmpi select""".split()
EXACT = shape_programs.Choice(
    plain=tuple(find_row(name) for name in RUNS), regions=tuple(row for row in ROWS.values() if row.region), exact=True
)
EXACT_TYPES = ("tensor<?xindex>",) * 2 + ("tensor<2xindex>", "index", "i1", "tensor<?x3xf32>", "tensor<2x1xf32>")
KINDS = ("extents", "index", "i1")


def main(programs, operands):
    """A function that calls every program and prints its results, each list after its length."""
    lines, count = [], 0

    def fresh():
        nonlocal count
        count += 1
        return f"%m{count}"

    for number, (built, given_) in enumerate(zip(programs, operands, strict=True)):
        names = []
        for value, known in zip(built.operands, given_, strict=True):
            name = fresh()
            lines += constant_lines(name, value.type, known)
            names.append(name)
        types = ", ".join(str(value.type) for value in built.results)
        result, count_ = fresh(), len(built.results)
        arguments = ", ".join(str(value.type) for value in built.operands)
        lines.append(f"{result}:{count_} = call @p{number}({', '.join(names)}) : ({arguments}) -> ({types})")
        for index, value in enumerate(built.results):
            lines += print_lines(f"{result}#{index}", value.type, fresh)
    body = "\n".join(["%zero = arith.constant 0 : index", "%one = arith.constant 1 : index", *lines, "return"])
    return f"func.func @main() {{\n{body}\n}}"


def constant_lines(name, type_, known):
    if type_.kind == "i1":
        return [f"{name} = arith.constant {str(known).lower()}"]
    if type_.kind == "index":
        return [f"{name} = arith.constant {known} : index"]
    if type_.kind == "extents":
        static = f"tensor<{len(known)}xindex>"
        return [
            f"{name}s = arith.constant dense<{list(known)}> : {static}",
            f"{name} = tensor.cast {name}s : {static} to {type_}",
        ]
    extents = "".join(f"{extent}x" for extent in known.extents)
    return [
        f"{name}s = tensor.empty() : tensor<{extents}f32>",
        f"{name} = tensor.cast {name}s : tensor<{extents}f32> to {type_}",
    ]


def print_lines(name, type_, fresh):
    if type_.kind != "extents":
        return [f"vector.print {name} : {type_}"]
    length, at, extent = fresh(), fresh(), fresh()
    return [
        f"{length} = tensor.dim {name}, %zero : {type_}",
        f"vector.print {length} : index",
        f"scf.for {at} = %zero to {length} step %one {{",
        f"{extent} = tensor.extract {name}[{at}] : {type_}",
        f"vector.print {extent} : index",
        "}",
    ]


def printed(values):
    """What `main` prints for results."""
    for value in values:
        if isinstance(value, tuple):
            yield len(value)
            yield from value
        else:
            yield int(value)


def mlir_run(text):
    runner = Path(tool("mlir-runner-22")).resolve()
    library = next((runner.parents[1] / "lib").glob("libmlir_c_runner_utils.so*"))
    done = subprocess.run(
        [runner, "-", "-e", "main", "--entry-point-result=void", f"--shared-libs={library}"],
        input=mlir_opt(text, *LOWERING),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[:3000]}\n{text[:20000]}"
    # It prints an index as if it had no sign.
    return [wrap(int(line)) for line in done.stdout.split()]


def _lowers(built):
    """Whether LLVM lowers all of it: it has no form for a witness that a caller or a region passes on."""
    kinds = {value.type.kind for value in built.results}
    kinds |= {value.type.kind for operation in built.body.walk() if operation.regions for value in operation.results}
    return kinds <= set(KINDS) and not any(
        operation.name == "shape.any" and any(value not in built.operands for value in operation.operands)
        for operation in built.body.walk()
    )


def _asserts(machine):
    """Whether a constraint fails that nobody uses: LLVM's programs abort at any that fails, ours where it is used."""
    return any(find_row(step[0].name).constraint and not step[2][0].passing for step in machine.trace)


def _divides_out_of_range(machine):
    """Whether the lowest index is divided by -1: the lowest one again here, undefined in LLVM, which may stop at it."""
    signed = ("arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi")
    return any(step[0].name in signed and tuple(step[1]) == (-(2**63), -1) for step in machine.trace)


def runs_agree(chance):
    """How many programs ran."""
    drawn = batch(chance, 30, EXACT_TYPES, choice=EXACT)
    programs, operands, wanted = [], [], []
    for built in surviving([built for built in drawn if _lowers(built)], *LOWERING):
        given_, _ = shape_programs.make_operands(chance, built)
        small = all(not isinstance(value, Shape) or max(value.extents, default=0) < 100 for value in given_)
        machine, results = ran(built, given_)
        if small and results is not None and not (_asserts(machine) or _divides_out_of_range(machine)):
            programs.append(built)
            operands.append(given_)
            wanted.extend(printed(results))
    assert mlir_run(f"{module(programs)}\n{main(programs, operands)}") == wanted
    return len(programs)


def test_runs_agree():
    assert sum(runs_agree(random.Random(seed)) for seed in BATCHES) > 2 * len(BATCHES)


# ---- where upstream is wrong, or leaves open what is defined here ----------------------------------------------------


def one(function, **operands):
    return program("one", function, **operands)


def tensor(extents):
    return op("const_shape")(extents, type=f"tensor<{len(extents)}xindex>")


def canonical(built):
    return mlir_opt(str(built), "--canonicalize")


def test_upstream_folds_to_the_wrong_type():
    """Its folders give constants the type of what they hold, not the result's, and fail its own verifier."""
    length = one(lambda: op("concat")(tensor((2,)), tensor((1,)), type="tensor<?xindex>"))
    size = one(lambda: op("add")(op("constant")(1), op("constant")(0), type="!shape.size"))
    for built in (length, size):
        mlir_opt(str(built))
        assert breaks(str(built), ["--canonicalize"])
        assert not breaks(str(built.fold()), ["--canonicalize"])
    assert length.run() == (2, 1)
    assert size.fold().body.operations[0].attributes == (("value", 1),)


def test_upstream_crashes_on_the_shape_of_a_static_tensor():
    """Its folder makes an extent tensor where a shape is asked for."""
    built = one(lambda t: op("shape_of")(t, type="!shape.shape"), t="f32[2, 3]")
    assert breaks(str(built), ["--canonicalize"])
    assert str(built.fold().body.operations[0]).endswith("shape.const_shape [2, 3] : !shape.shape")


def test_upstream_inlines_a_region_whose_witness_fails():
    """It looks only for a constant witness, not for which; the region would run although its constraint fails."""
    built = one(lambda a: op("assuming")(op("const_witness")(False), lambda: op("rank")(a)), a="!shape.shape")
    assert "assuming" not in canonical(built)
    assert "assuming" in str(built.fold())
    with pytest.raises(BroadcastError, match=r"shape\.const_witness does not hold"):
        built.run((2,))


def test_upstream_forgets_the_message_of_a_requirement():
    """It folds a false cstr_require to const_witness false, which has no message; here the run still says why."""
    built = one(lambda a: op("assuming")(op("cstr_require")(False, msg="even rank"), lambda: a), a="!shape.shape")
    assert "even rank" not in canonical(built)
    with pytest.raises(BroadcastError, match="even rank"):
        built.fold().run((2,))


def test_upstream_takes_the_last_constant_of_any():
    """Where inputs contradict each other the result is undefined; here it is the first, folded or not."""
    built = one(lambda: op("any")((1, 2), (3,)))
    assert constants("\n" + indented(canonical(built)))["one"] == [(3,)]
    assert built.run() == built.fold().run() == Shape.of(1, 2)


def indented(text):
    """A module of one function prints as others do: inside of `module {`."""
    return text if re.search(r"^  func\.func", text, re.MULTILINE) else re.sub("^", "  ", text, flags=re.MULTILINE)


def test_upstream_leaves_a_clash_alone():
    """It has no invalid constant: the broadcast of [2] and [3] stays. Here its value and the verdict are known."""
    built = one(lambda: op("broadcast")((2,), (3,), error="batch"))
    assert "shape.broadcast" in canonical(built)
    assert built.evaluate() == Shape(error="batch")
    assert built.check() is False


def test_upstream_broadcasts_what_does_not_meet():
    """Its lowering takes the last extent that is not 1, whatever the others are; here the run ends."""
    built = one(lambda a, b: op("broadcast")(a, b), a="tensor<?xindex>", b="tensor<?xindex>")
    calls = main([replace(built, name="p0")], [((2,), (3,))])
    assert mlir_run(f"{replace(built, name='p0')}\n{calls}") == [1, 3]
    with pytest.raises(BroadcastError, match=r"shape.broadcast of %a = \[2\], %b = \[3\]"):
        built.run((2,), (3,))


def test_upstream_has_negative_sizes():
    """A size is a number of 0 or more, but its folders compute with 64-bit integers; here both are invalid."""
    product = one(lambda: op("mul")(2**62, 3))
    converted = one(lambda: op("index_to_size")(-1))
    assert constants("\n" + indented(canonical(product)))["one"] == [-(2**62)]
    assert constants("\n" + indented(canonical(converted)))["one"] == [-1]
    assert product.evaluate() == converted.evaluate() == Size(error="")


def test_upstream_wraps_a_product_of_indices():
    """The op is shape arithmetic, not arith.muli: here a run ends where 64 bits do not hold the product."""
    built = one(lambda: op("mul")(op("constant")(2**62), op("constant")(3)))
    assert constants("\n" + indented(canonical(built)))["one"] == [-(2**62)]
    with pytest.raises(BroadcastError, match=r"shape\.mul of %0 = 4611686018427387904, %1 = 3 .*overflow"):
        built.run()


def test_upstream_takes_negative_extents():
    """They mean nothing to it: the text is read, and no pass looks at them; here the program is refused."""
    assert "shape.const_shape [-1, 2]" in mlir_opt(
        "func.func @f() -> !shape.shape {\n%0 = shape.const_shape [-1, 2] : !shape.shape\nreturn %0 : !shape.shape\n}"
    )
    with pytest.raises(BroadcastError, match=r"shape.const_shape.* has the extents \[-1, 2\]"):
        one(lambda: op("const_shape")((-1, 2)))


def test_upstream_aborts_at_a_constraint_that_nobody_uses():
    """Its constraints become assertions where they stand; here a witness is a value, which `assuming` looks at."""
    built = one(lambda a, b: (op("cstr_eq")(a, b), op("rank")(a))[1], a="tensor<?xindex>", b="tensor<?xindex>")
    assert "cf.assert" in mlir_opt(str(built), "--convert-shape-constraints")
    assert built.run((2,), (3,)) == 1
    assert built.check((2,), (3,)) is False


def test_upstream_has_no_element_types():
    """LLVM removed the type; programs with it print all the same, for who reads seed 002's dialect."""
    built = one(lambda a, b: op("join")(a, b), a="!shape.element_type", b="!shape.element_type")
    assert breaks(str(built), [])


def test_upstream_rounds_a_quotient_above_minus_one_up():
    """Its folder takes 1 from a negative quotient with a remainder; 1 / -2 is cut to 0 before. Here it is -1."""
    built = one(lambda: op("div")(op("constant")(1), op("constant")(-2)))
    assert constants("\n" + indented(canonical(built)))["one"] == [0]
    assert built.run() == built.fold().run() == -1
