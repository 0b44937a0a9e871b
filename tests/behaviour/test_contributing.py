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


def block(language: str, holding: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return next(code for code in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holding in code)


def test_the_example_adds_an_op(tmp_path):
    shutil.copytree(ROOT / "bcastgen", tmp_path / "bcastgen", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("templates", "csrc"):
        if not (tmp_path / "bcastgen" / name).exists():
            shutil.copytree(folder(name), tmp_path / name)
    table = tmp_path / "bcastgen" / "ops" / "table.py"
    before, rows, after = table.read_text().partition("_ROWS: tuple[Op, ...] = (\n")
    table.write_text(before + rows + block("python", "radians") + after)
    header = next(tmp_path.rglob("bcg_vmath_log.h"))
    above, end, below = header.read_text().rpartition("\n#endif")
    header.write_text(f"{above}\n{block('c', 'radians')}{end}{below}")
    environment = {"PATH": "/usr/bin:/bin", "BCASTGEN_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHECK] if sys.version_info >= (3, 11) else [sys.executable, "-c", CHECK],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(tmp_path))
