"""The official TOSA conformance tests (PyPI `tosa-tools`): generated for an op and a seed, run, checked by its bounds.

In: an op's name, a seed.  Out: a :class:`Case` a test: MLIR text, operand arrays, what its check says of a result.

    tools = Tools.find()
    for case in tools.generate("add", seed=1, negative=False, directory=tmp_path):
        result = bcastgen.from_mlir(case.text())(*case.operands())
        assert case.complies(result), case.name

What is generated are the official suite's own argument lists for the op (types, ranks, extents, ranges of values); the
suite's choice among them names tests of one seed, so the choice here is by count, for any seed. The tools pin NumPy, so
they live in a virtual environment of their own: $BCASTGEN_TOSA_TOOLS (its bin), the PATH, or .tosa/bin of the checkout.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

MISSING = (
    "tosa-tools are missing; install them in a virtual environment of their own (python -m venv .tosa; "
    ".tosa/bin/pip install tosa-tools) or name its bin in BCASTGEN_TOSA_TOOLS"
)
__all__ = ["MISSING", "Case", "Tools", "flatbuffer_text", "unsupported_types"]

# Many argument lists are worked off by one process: to import the generator takes longer than to run it. For every file
# it checks its own schema anew, which takes longer than all the rest.
GENERATE = """
import json, sys
from generator.tosa_verif_build_tests import main
from jsonschema.validators import Draft202012Validator
Draft202012Validator.check_schema = lambda *_, **__: None
for arguments in json.load(sys.stdin):
    if main(arguments):
        sys.exit(1)
"""
PLACE = "import tosa_tools_cli as cli; print(cli.__file__)"
# Element types of TOSA that bcastgen refuses, but for those that are cast; a group named for one of them needs no data.
REFUSED = re.compile(r"!tosa\.\w+|(?<=[x<:])(?:f[468]E\w+|i48?\b)")
CAST = {"f8E4M3FN", "f8E5M2"}
LAZY = ("mx", "int4")
# Kinds of errors that tosa-opt repairs (it drops a surplus operand) or dies of (one is missing).
LISTS = ("WrongInputList", "WrongOutputList")
# MLIR's names of the flatbuffer's element types.
ELEMENTS = {
    **{"BOOL": "i1", "INT8": "i8", "INT16": "i16", "INT32": "i32", "INT64": "i64"},
    **{"FP16": "f16", "BF16": "bf16", "FP32": "f32", "INT4": "i4", "INT48": "i48"},
    **{"FP8E4M3": "f8E4M3FN", "FP8E5M2": "f8E5M2", "FP8UE8M0": "f8E8M0FNU", "MXINT8": "!tosa.mxint8"},
    **{"FP6E2M3": "f6E2M3FN", "FP6E3M2": "f6E3M2FN", "FP4E2M1": "f4E2M1FN"},
}


@dataclass(frozen=True)
class Tools:
    """The folder of the tools."""

    bin: Path

    @classmethod
    def find(cls):
        """Return the tools, or None."""
        named = os.environ.get("BCASTGEN_TOSA_TOOLS")
        on_path = shutil.which("tosa_verif_build_tests")
        places = [
            *([Path(named)] if named else []),
            *([Path(on_path).parent] if on_path else []),
            Path(__file__).parents[2] / ".tosa" / "bin",
        ]
        wanted = ("tosa_verif_build_tests", "python")
        return next((cls(place) for place in places if all((place / name).exists() for name in wanted)), None)

    def python(self, code, **options):
        """Run Python code with the tools' packages, and without the folder that this process is in."""
        command = [str(self.bin / "python"), "-I", "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    @cached_property
    def packages(self):
        return Path(self.python(PLACE).stdout.strip()).parents[1]

    @cached_property
    def suite(self):
        """The official suite: op -> its groups of argument lists, and how tests of what they generate are selected."""
        (config,) = (self.packages / "conformance").glob("cts-config_*[0-9].json")
        return json.loads(config.read_text())

    def run(self, program, *arguments):
        """Run a program of the tools to its end; its status is not checked.

        It is the program itself, since the one in the virtual environment's bin starts Python first.
        """
        command = [str(self.packages / "bin" / program), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def evaluate(self, text, operands, directory, precise=False):
        """Run a program of MLIR text on the reference model; return its results."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "program.mlir").write_text(text)
        written = f"--tosa-serialize=tosa-flatbuffer-filename={directory / 'program.tosa'}"
        done = self.run("tosa-opt", directory / "program.mlir", written, "-o", os.devnull)
        assert done.returncode == 0, done.stderr
        graph = self.graph(directory / "program.tosa")
        given = [f"operand-{at}.npy" for at in range(len(operands))]
        made = [f"result-{at}.npy" for at in range(len(graph["outputs"]))]
        for name, operand in zip(given, operands, strict=True):
            np.save(directory / name, operand)
        done = self.run(
            *("tosa_reference_model", "--tosa_file", "program.tosa", "--flatbuffer_dir", directory),
            *("--output_dir", directory, f"--precise_mode={int(precise)}"),
            *("--ifm_name", ",".join(graph["inputs"]), "--ifm_file", ",".join(given)),
            *("--ofm_name", ",".join(graph["outputs"]), "--ofm_file", ",".join(made)),
        )
        assert done.returncode == 0, f"the reference model says {done.stdout}{done.stderr}"
        return [read_array(directory / name) for name in made]

    def graph(self, flatbuffer):
        """Return the graph of a flatbuffer as it stands, whether or not it is a program."""
        done = self.run(
            *("flatc", "--json", "--strict-json", "--raw-binary", "--defaults-json", "-o", flatbuffer.parent),
            *(self.packages / "bin" / "tosa.fbs", "--", flatbuffer),
        )
        assert done.returncode == 0, done.stderr
        return json.loads(flatbuffer.with_suffix(".json").read_text())["regions"][0]["blocks"][0]

    def generate(self, op, seed, negative, directory, most=None):
        """Generate the tests of an op, at most so many of a kind of error or a permutation of rank and type."""
        directory.mkdir(parents=True, exist_ok=True)
        entry = self.suite[op]
        selection = directory / "selection.json"
        chosen = {name: _selected(choice, most) for name, choice in entry["selection"].items()}
        chosen["lazy"] = {"permutes": ["type"], "maximum": 1, "num_errorifs": 1}
        selection.write_text(json.dumps({op: {"selection": chosen}}))
        common = ["-o", str(directory), "--seed", str(seed), "--filter", f"^{op}$"]
        common += ["--test-selection-config", str(selection)]
        # With lazy data the generator does not look for its library, but wants it.
        (library,) = self.packages.glob("tosa_reference_model/libtosa_reference_generate*")
        common += ["--generate-lib-path", str(library)]
        lists = [
            [*common, *_criterion(name, group), *arguments]
            for name, group in entry["generation"].items()
            for arguments in (_negative(group) if negative else _positive(group))
        ]
        done = self.python(GENERATE, input=json.dumps(lists))
        assert done.returncode == 0, f"the generator failed for {op}: {done.stderr[-2000:]}"
        folders = sorted(path.parent for path in (directory / op).glob("*/desc.json"))
        return [Case(self, folder) for folder in folders]


def _selected(choice, most):
    """The suite's selection without the tests it names, which are of one seed."""
    limits = {"num_errorifs": most or 1000, **({"maximum": most} if most else {})}
    return {key: value for key, value in choice.items() if key not in ("errorifs", "specifics")} | limits


def _criterion(name, group):
    """How tests of a group are selected: few, and without data, of types that are refused."""
    if any(word in name for word in LAZY):
        return ["--test-selection-criteria", "lazy", "--lazy-data-generation"]
    return ["--test-selection-criteria", group.get("selector", "default"), "--random-const-inputs"]


def _positive(group):
    for arguments in group["generator_args"]:
        # A value that starts with a minus (-max,max) is one only after "=".
        joined = re.sub(r"(--fp-values-range) ", r"\1=", " ".join(arguments)).split()
        yield ["--test-type", "positive", *joined]


def _negative(group):
    types = []
    for arguments in group["generator_args"]:
        following = arguments[arguments.index("--target-dtype") + 1 :]
        until = next((at for at, word in enumerate(following) if word.startswith("--")), len(following))
        types += [name for name in following[:until] if name not in types]
    extents = group.get("negative_dim_range", "1,16")
    yield ["--test-type", "negative", "--tensor-dim-range", extents, "--target-dtype", *types]


@dataclass(frozen=True)
class Case:
    """One test: a folder with a description, a flatbuffer, and arrays."""

    tools: Tools
    folder: Path

    @property
    def name(self):
        return self.folder.name

    @cached_property
    def description(self):
        return json.loads((self.folder / "desc.json").read_text())

    @property
    def error(self):
        """The kind of error, ``"RankMismatch"``, or None of a positive test."""
        found = re.search(r"_ERRORIF_([A-Za-z0-9]+)_", self.name)
        return found and found[1]

    def text(self, generic=False):
        """Return the program as MLIR text, as tosa-opt prints it where it can."""
        printed = None if self.error in LISTS else self.printed(generic)
        return printed or flatbuffer_text(self.tools.graph(self.folder / "test.tosa"))

    def printed(self, generic=False):
        """Return what tosa-opt prints; None if it refuses the flatbuffer, as those with non-constant zero points."""
        source = f"--tosa-deserialize=tosa-flatbuffer-filename={self.folder / 'test.tosa'}"
        flags = ["--verify-each=0", "--mlir-very-unsafe-disable-verifier-on-parsing"]
        done = self.tools.run("tosa-opt", *flags, *["--mlir-print-op-generic"] * generic, source, os.devnull)
        return done.stdout if done.returncode == 0 else None

    def operands(self):
        kind = "e5m2" if re.search(r"_f8e5m2_", self.name) else ""
        return [read_array(self.folder / name, kind) for name in self.description["ifm_file"]]

    def reference(self, precise=True):
        """Run the reference model; return its result, which also stays in the folder.

        The check wants the precise result, in f64; an imprecise one has the type of the test.
        """
        description = self.folder / "desc.json"
        done = self.tools.run("tosa_reference_model", "--test_desc", description, f"--precise_mode={int(precise)}")
        assert done.returncode == 0, f"{self.name}: the reference model says {done.stdout}{done.stderr}"
        return read_array(self.folder / self.description["ofm_file"][0])

    def complies(self, result):
        """Whether a result is within the bounds of the test. The precise reference must be in the folder."""
        ours = self.folder / "result.npy"
        np.save(ours, result.view(np.uint8) if result.dtype.name == "float8_e5m2" else result)
        reference = self.folder / self.description["ofm_file"][0]
        bounds = reference.with_name(f"bounds_{reference.name}")
        needed = self.description["test_requirements"]["bounds_file_required"]
        done = self.tools.run(
            *("tosa_verify", "--test_desc", self.folder / "desc.json"),
            *("--imp_result_file", ours, "--ref_result_file", reference),
            *(["--bnd_result_file", bounds] if needed else []),
        )
        # 0: it complies, 2: it does not; 1: the tool could not tell.
        assert done.returncode in (0, 2), f"{self.name}: tosa_verify says {done.stdout}{done.stderr}"
        return done.returncode == 0

    def clear(self):
        """Delete the test's files."""
        shutil.rmtree(self.folder)


def read_array(path, kind=""):
    """Read an array; a file says V2 of bf16, V1 of f8E4M3FN and u1 of f8E5M2, which `kind` tells from others."""
    array = np.load(path)
    if array.dtype.kind == "V" or (kind == "e5m2" and array.dtype == np.uint8):
        import ml_dtypes

        names = {"V2": ml_dtypes.bfloat16, "V1": ml_dtypes.float8_e4m3fn, "u1": ml_dtypes.float8_e5m2}
        array = array.view(names[array.dtype.str[1:]])
    return array


def unsupported_types(text):
    """Names of the element types of a text that bcastgen is to refuse."""
    return set(REFUSED.findall(text)) - (CAST if "tosa.cast" in text else set())


def flatbuffer_text(graph):
    """Say a flatbuffer's graph in MLIR's generic form, as it stands: for those that tosa-opt refuses or repairs.

    A name that nothing defines (the generator's surplus operand) is the first operand once more; a result that
    nothing makes is not returned.
    """
    tensors = {tensor["name"]: tensor for tensor in graph["tensors"]}
    given = graph["inputs"]
    lines, made = [], set(given)
    for operator in graph["operators"]:
        operands = [name if name in tensors else operator["inputs"][0] for name in operator["inputs"]]
        results = operator["outputs"]
        types = [_type(tensors.get(name) or tensors[operator["inputs"][0]]) for name in results]
        head = f"{', '.join(f'%{_name(name)}' for name in results)} = " if results else ""
        attributes = _attributes(operator, tensors)
        signature = f"({', '.join(_type(tensors[name]) for name in operands)}) -> ({', '.join(types)})"
        listed = ", ".join(f"%{_name(name)}" for name in operands)
        lines.append(f'    {head}"tosa.{operator["op"].lower()}"({listed}){attributes} : {signature}')
        made.update(results)
    returned = [name for name in graph["outputs"] if name in made]
    kinds = ", ".join(_type(tensors[name]) for name in returned)
    header = ", ".join(f"%{_name(name)}: {_type(tensors[name])}" for name in given)
    listed = ", ".join(f"%{_name(name)}" for name in returned)
    last = f"    return {listed} : {kinds}" if returned else "    return"
    return "\n".join([f"func.func @main({header}) -> ({kinds}) {{", *lines, last, "}", ""])


def _name(name):
    return name.replace("-", "_")


def _type(tensor):
    return f"tensor<{''.join(f'{extent}x' for extent in tensor['shape'])}{ELEMENTS[tensor['type']]}>"


def _attributes(operator, tensors):
    """The attributes that the element-wise ops have."""
    held = operator["attribute"]
    if operator["op"] == "CONST":
        tensor = tensors[operator["outputs"][0]]
        values = _hex(tensor["data"])
        if tensor["type"] == "BOOL":
            flags = np.array([bool(byte) for byte in tensor["data"]]).reshape(tensor["shape"])
            values = str(flags.tolist()).lower()
        return f" <{{values = dense<{values}> : {_type(tensor)}}}>"
    words = []
    if "min_val" in held:
        element = ELEMENTS[tensors[operator["inputs"][0] if operator["inputs"] else operator["outputs"][0]]["type"]]
        words += [f"{key} = {_scalar(held[key], element)} : {element}" for key in ("min_val", "max_val")]
    if "nan_mode" in held:
        words.append(f"nan_mode = #tosa.nan_mode<{held['nan_mode']}>")
    if "round" in held:
        words.append(f"round = {str(held['round']).lower()}")
    return f" <{{{', '.join(words)}}}>" if words else ""


def _hex(data):
    return f'"0x{bytes(data).hex().upper()}"'


def _scalar(data, element):
    number = int.from_bytes(bytes(data), "little", signed=element.startswith("i"))
    return str(number) if element.startswith("i") else f"0x{number:0{2 * len(data)}X}"
