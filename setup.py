"""What pyproject.toml cannot say.

- Three top-level folders are installed under the package (templates/ as bcastgen/templates, and so on). pyproject.toml
  takes either a search for packages or a list of them; this is a search and a list.
- The extension needs NumPy's include path, known only when building. It is optional: without Python's headers the
  install succeeds, and calls go through cffi.
- cffi_modules is cffi's own keyword: it writes bcastgen/runtime/_ffi.py from csrc/abi, so that no call parses C.
- bcastgen/emit/templating/_templates.py is written beside it, so that no call compiles templates.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

FOLDERS = ("bench", "csrc", "templates")


class BuildExt(build_ext):
    """Writes the templates' code where the extension goes: into the checkout or into what becomes the wheel."""

    def run(self) -> None:
        super().run()
        text = runpy.run_path("bcastgen/emit/templating/build.py")["module_text"](Path("templates"))
        home = Path() if self.inplace else Path(self.build_lib)
        target = home / "bcastgen" / "emit" / "templating" / "_templates.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


setup(
    packages=[
        *find_packages(include=["bcastgen*"]),
        *(f"bcastgen.{name}" for name in (*FOLDERS, *find_packages(include=["bench.*"]))),
    ],
    package_dir={f"bcastgen.{name}": name for name in FOLDERS},
    include_package_data=False,
    package_data={
        "bcastgen": ["py.typed", "api/*.pyi"],
        "bcastgen.bench": ["data/*", "*.c"],
        "bcastgen.csrc": ["*/*.c", "*/*.h", "*/*.inc", "*/*.def"],
        "bcastgen.templates": ["*.j2", "**/*.j2"],
    },
    ext_modules=[
        Extension(
            "bcastgen._dispatch",
            sources=[
                "csrc/dispatch/dispatch.c",
                *(f"csrc/runtime/{name}.c" for name in ("run", "pack", "pool", "guards", "shape_code")),
            ],
            depends=[str(path) for suffix in ("h", "inc", "def") for path in sorted(Path("csrc").rglob(f"*.{suffix}"))],
            include_dirs=[numpy.get_include(), *(f"csrc/{room}" for room in ("abi", "helpers", "runtime", "dispatch"))],
            # A build imports nothing of the package, so these stand here; `core/c_flags.py` has all others.
            # -g1: Python's own flags have -g, with which gcc takes a sixth of its time to follow variables.
            # -ffp-contract=off: products of complex numbers have one value, also where there is FMA (each aarch64).
            extra_compile_args=["-O3", "-g1", "-fvisibility=hidden", "-ffp-contract=off"],
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildExt},
    cffi_modules=["bcastgen/runtime/ffi_build.py:ffibuilder"],
)
