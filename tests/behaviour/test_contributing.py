"""CONTRIBUTING.md's example of adding an op is real: done to a copy of the package, it works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from bcastgen.core.resources import folder

ROOT = Path(__file__).resolve().parents[2]

CHECK = """
import numpy as np, bcastgen as bg
from bcastgen.ops.table import OPS
a = np.linspace(-9, 9, 7)
assert "radians" in OPS
for got in (bg.radians(a), bg.evaluate("radians(a)"), bg.jit(np.radians)(a), bg.jit(lambda x: np.radians(x))(a)):
    np.testing.assert_allclose(got, np.radians(a), rtol=4e-16)
assert bg.radians(a.astype("f4")).dtype == np.float32
print(bg.__file__)
"""


def block(language: str, holding: str, page: str = "CONTRIBUTING.md") -> str:
    text = (ROOT / page).read_text()
    return next(code for code in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holding in code)


def copied(target: Path) -> Path:
    """A copy of the package, with what it reads beside it."""
    shutil.copytree(ROOT / "bcastgen", target / "bcastgen", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("templates", "csrc"):
        if not (target / "bcastgen" / name).exists():
            shutil.copytree(folder(name), target / name)
    return target / "bcastgen"


def put(path: Path, after: str, text: str) -> None:
    """Put text behind a line that is there once."""
    before, line, rest = path.read_text().partition(after)
    assert line, f"{path.name} has no {after!r}"
    path.write_text(before + line + text + rest)


def run(target: Path, check: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "BCASTGEN_CACHE_DIR": str(target / "cache"), "PYTHONPATH": str(target)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", check] if sys.version_info >= (3, 11) else [sys.executable, "-c", check],
        capture_output=True,
        text=True,
        env=environment,
        cwd=target,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(target))


def test_the_example_adds_an_op(tmp_path):
    package = copied(tmp_path)
    put(package / "ops" / "rows" / "functions.py", "FUNCTIONS: tuple[Op, ...] = (\n", block("python", "radians"))
    header = next(tmp_path.rglob("bcg_vmath_log.h"))
    above, end, below = header.read_text().rpartition("\n#endif")
    header.write_text(f"{above}\n{block('c', 'radians')}{end}{below}")
    run(tmp_path, CHECK)


EXTENDED = """
import numpy as np, bcastgen as bg
from bcastgen.loops.analysis.integer_ranges import ranges_of
from bcastgen.loops.analysis.float_bounds import bounds_of
x = np.array([-128, -1, 0, 1, 127], np.int8)
kernel = bg.from_text("(i8[?] x) -> relu(x.astype(int32))")
np.testing.assert_array_equal(kernel(x), np.maximum(x, 0).astype(np.int32), strict=True)
assert ranges_of(kernel.compilation.program.nests[0])[-1] == (0, 127)
assert [(s.op.name, str(s.dtype)) for s in kernel.compilation.rewritten.program.nests[0].body][0] == ("relu", "i8")
assert "arith.maxsi" in kernel.to_mlir()
floats = bounds_of(bg.from_text("(i8[*] x) -> relu(x.astype(float32))").compilation.program.nests[0])[-1]
assert (floats.low, floats.high, floats.is_number) == (0, 127, True)

chosen = bg.from_text("(bool[*] m, f32[*] x) -> where(m, x, x) + 1")
assert [s.op.name for s in chosen.compilation.rewritten.program.nests[0].body] == ["cast", "add"]
assert "same_choice" in str(chosen.compilation.rewritten)
np.testing.assert_array_equal(chosen(np.array([True, False]), np.float32([1, 2])), np.float32([2, 3]), strict=True)

text = "func.func @k(%a: tensor<2xf32>) -> tensor<2xf32> {\\n" \
    "  %0 = tosa.cbrt %a : (tensor<2xf32>) -> tensor<2xf32>\\n  return %0 : tensor<2xf32>\\n}"
read = bg.from_mlir(text)
np.testing.assert_allclose(read(np.float32([8, 27])), [2, 3], rtol=1e-6)
assert "tosa.cbrt" in read.to_mlir("tosa")
print(bg.__file__)
"""


def test_the_pages_rows_are_real(tmp_path):
    """An op with facts, a rewrite and a TOSA op, as docs/extending.md adds them."""
    package, page = copied(tmp_path), "docs/extending.md"
    put(package / "ops" / "rows" / "arithmetic.py", "ARITHMETIC: tuple[Op, ...] = (\n", block("python", '"relu"', page))
    for name, holding in (("ranges.py", "x: Range"), ("bounds.py", "x: Bounds")):
        path = package / "ops" / name
        path.write_text(f"{path.read_text()}\n\n{block('python', holding, page)}")
    rewrites = package / "loops" / "rewrites"
    (rewrites / "same_choice.py").write_text(block("python", '"""Same choice', page))
    put(
        rewrites / "pipeline.py",
        "from .saturating_sums import saturating_sums\n",
        "from .same_choice import same_choice\n",
    )
    put(rewrites / "pipeline.py", "REWRITES = (\n", block("python", 'Rewrite("same_choice"', page))
    put(package / "mlir" / "tosa" / "table.py", "TOSA_OPS: tuple[TosaOp, ...] = (\n", block("python", "_unary", page))
    run(tmp_path, EXTENDED)
