"""A C project that uses emitted C, built by CMake, meson and make without Python on the PATH, has NumPy's numbers.

The project is this folder; the test emits the module it uses, with what builds it, into its `subprojects`.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg

pytestmark = pytest.mark.slow

KERNELS = {
    "normalise": "(u8[?,?,3] image, f32[3] mean, f32[3] scale) -> (image - mean) * scale",
    "raised": "(f32[?,?] x, f32[?,1] top) -> exp(x - top)",
    "shared": "(f32[?,?] x, f32[?,1] total) -> x / total",
}
# What builds call; a build that wanted Python would not find it.
TOOLS = "cmake ctest meson ninja make cc gcc ld as ar ranlib nm strip objdump objcopy sh rm cp mkdir uname".split()
BUILDS = {
    "cmake": (["cmake", "-G", "Ninja", "-S", ".", "-B", "out"], ["cmake", "--build", "out"], "out/pictures"),
    "meson": (["meson", "setup", "out"], ["meson", "compile", "-C", "out"], "out/pictures"),
    "makefile": (["make", "-n"], ["make"], "pictures"),
}


@pytest.fixture(scope="module")
def bare_environment(tmp_path_factory):
    """An environment whose PATH holds tools for C, and no Python."""
    place = tmp_path_factory.mktemp("bin")
    for tool in TOOLS:
        found = shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin") or shutil.which(tool)
        if found is not None:
            (place / tool).symlink_to(found)
    missing = [tool for tool in ("cmake", "meson", "ninja", "make", "cc") if not (place / tool).exists()]
    if missing:
        pytest.skip(f"no {', '.join(missing)} on the PATH")
    environment = {"PATH": str(place), "HOME": str(place), "LC_ALL": "C"}
    assert shutil.which("python3", path=environment["PATH"]) is None
    return environment


@pytest.fixture(scope="module")
def kernels():
    outer = bg.jit(lambda a, b: a[:, None] + b, signature="(f64[?] a, f64[?] b)")
    return {name: bg.from_text(text, name) for name, text in KERNELS.items()} | {"outer": outer}


@pytest.fixture(scope="module")
def operands():
    rng = np.random.default_rng(7)
    return {
        "image": rng.integers(0, 256, (19, 23, 3), np.uint8),
        "mean": np.float32([123.675, 116.28, 103.53]),
        "scale": np.float32([0.017124754, 0.017507003, 0.017429194]),
        "scores": rng.normal(0, 4, (17, 41)).astype(np.float32),
        "a": rng.normal(size=29),
        "b": rng.normal(size=31),
    }


def write(folder, operands):
    folder.mkdir()
    for name, array in operands.items():
        head = np.array([array.ndim, *array.shape], np.int64)
        (folder / f"{name}.bin").write_bytes(head.tobytes() + array.tobytes())


def run(command, directory, environment):
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def ulps(found, wanted):
    return np.max(np.abs(found.astype(np.float64) - wanted) / np.spacing(np.abs(wanted).astype(found.dtype)))


@pytest.mark.parametrize("build", BUILDS)
def test_program_has_numpys_numbers(build, bare_environment, kernels, operands, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(Path(__file__).parent, project, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    bg.emit_c(kernels, project / "subprojects" / "kernels", "kernels", build=(build,))
    write(tmp_path / "data", operands)
    configure, compile_, program = BUILDS[build]
    run(configure, project, bare_environment)
    run(compile_, project, bare_environment)
    said = run([str(project / program), str(tmp_path / "data")], tmp_path, {"PATH": ""})

    found = {name: (tmp_path / "data" / f"{name}.bin").read_bytes() for name in ("planes", "shares", "sums")}
    image, mean, scale = (operands[name] for name in ("image", "mean", "scale"))
    assert np.array_equal(
        np.frombuffer(found["planes"], np.float32).reshape(3, 19, 23), ((image - mean) * scale).transpose(2, 0, 1)
    )
    assert np.array_equal(np.frombuffer(found["sums"]).reshape(29, 31), operands["a"][:, None] + operands["b"])
    scores = operands["scores"]
    raised = np.exp((scores - scores.max(1, keepdims=True)).astype(np.float64))
    wanted = raised / raised.sum(1, keepdims=True)
    # exp within its bound, once for the element and once for the sum, and two roundings.
    assert ulps(np.frombuffer(found["shares"], np.float32).reshape(17, 41), wanted) < 4
    with pytest.raises(bg.BroadcastError) as refusal:
        kernels["normalise"](image, mean, np.ones(4, np.float32))
    assert said == f"{refusal.value.sentence}\n"


def test_installed_library_is_found(bare_environment, kernels, operands, tmp_path):
    source, project, prefix = tmp_path / "kernels", tmp_path / "project", tmp_path / "prefix"
    bg.emit_c(kernels, source, "kernels", build=("cmake",), main=True)
    for command in (
        ["cmake", "-G", "Ninja", "-S", ".", "-B", "out"],
        ["cmake", "--build", "out"],
        ["ctest", "--test-dir", "out", "--output-on-failure"],
        ["cmake", "--install", "out", "--prefix", str(prefix)],
    ):
        run(command, source, bare_environment)
    shutil.copytree(Path(__file__).parent, project, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    listed = project / "CMakeLists.txt"
    listed.write_text(
        listed.read_text().replace("add_subdirectory(subprojects/kernels)", "find_package(kernels REQUIRED)")
    )
    run(["cmake", "-G", "Ninja", "-S", ".", "-B", "out", f"-DCMAKE_PREFIX_PATH={prefix}"], project, bare_environment)
    run(["cmake", "--build", "out"], project, bare_environment)
    write(tmp_path / "data", operands)
    run([str(project / "out" / "pictures"), str(tmp_path / "data")], tmp_path, {"PATH": ""})
    sums = np.fromfile(tmp_path / "data" / "sums.bin").reshape(29, 31)
    assert np.array_equal(sums, operands["a"][:, None] + operands["b"])
