"""The compiler: found and identified without running it, and given its flags; the CPU's features."""

from __future__ import annotations

import itertools
import os
import platform
import re
import sys
from pathlib import Path

import pytest

from bcastgen.core.c_flags import JIT_FLAGS as FLAGS
from bcastgen.core.errors import CompileError
from bcastgen.runtime import toolchain as module
from bcastgen.runtime.toolchain import cpu_features, toolchain
from shell_scripts import plain_environment, script  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("plain_environment")


# --- finding it


def test_first_of_cc_gcc_clang_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("clang", "gcc", "cc"):
        script(tmp_path / name, "exit 1")
        assert toolchain().command == (str(tmp_path / name),)


def test_the_path_is_searched_in_order_and_what_cannot_be_run_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "cc").write_text("not executable")
    (tmp_path / "b" / "cc").mkdir(parents=True)
    found = script(tmp_path / "c" / "cc", "exit 1")
    script(tmp_path / "d" / "cc", "exit 1")
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / name) for name in "abcd"))
    assert toolchain().command == (str(found),)


def test_bcastgen_cc_is_split_as_a_shell_would_and_becomes_a_full_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = script(tmp_path / "my compiler" / "cc", "exit 1")
    monkeypatch.setenv("BCASTGEN_CC", f"'{program}' -m64 '-DX=a b'")
    assert toolchain().command == (str(program), "-m64", "-DX=a b")
    monkeypatch.chdir(program.parent)
    monkeypatch.setenv("BCASTGEN_CC", "./cc")
    assert toolchain().command == (str(program),)


def packaged_zig(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package ziglang, and no compiler on the PATH."""
    (folder / "empty").mkdir()
    monkeypatch.setenv("PATH", str(folder / "empty"))
    monkeypatch.delitem(sys.modules, "ziglang", raising=False)
    monkeypatch.syspath_prepend(folder)
    program = script(folder / "ziglang" / "zig", "exit 1")
    (folder / "ziglang" / "__init__.py").write_text("")
    return program


def test_where_no_compiler_is_on_the_path_the_package_ziglang_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = packaged_zig(tmp_path, monkeypatch)
    tools = toolchain()
    assert (tools.command, tools.kind) == ((str(program), "cc"), "clang")
    assert str(program) in tools.identity and "-O3" in tools.flags
    script(tmp_path / "empty" / "gcc", "exit 1")
    assert toolchain().command == (str(tmp_path / "empty" / "gcc"),)


def test_the_kind_of_zig_is_clang_s_whatever_cc_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = packaged_zig(tmp_path, monkeypatch)
    gcc = script(tmp_path / "empty" / "gcc", "exit 1")
    (tmp_path / "empty" / "cc").symlink_to(gcc)
    monkeypatch.setenv("BCASTGEN_CC", f"{program} cc")
    assert (toolchain().kind, str(gcc) in toolchain().identity) == ("clang", False)


def test_cc_of_other_projects_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = toolchain()
    monkeypatch.setenv("CC", "/nonexistent/cross-gcc -m32")
    assert toolchain() == before


def test_no_compiler_names_what_was_looked_for_and_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match=r"none of cc, gcc, clang .*apt install gcc.*BCASTGEN_CC"):
        toolchain()
    monkeypatch.setenv("CC", "/opt/bin/icx")
    with pytest.raises(CompileError, match=r"CC='/opt/bin/icx' is not read"):
        toolchain()


@pytest.mark.parametrize("value", ["no-such-compiler", "/no/such/compiler -O1"])
def test_bcastgen_cc_that_is_missing_is_an_error_not_another_compiler(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BCASTGEN_CC", value)
    with pytest.raises(CompileError, match=rf"BCASTGEN_CC names '{value.split()[0]}'.*apt install gcc"):
        toolchain()


@pytest.mark.parametrize("variable", ["BCASTGEN_CC", "BCASTGEN_CFLAGS"])
def test_unbalanced_quotes_are_a_named_error(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "cc 'oops")
    with pytest.raises(CompileError, match=rf"{variable}=.*No closing quotation"):
        toolchain()


# --- identifying it


@pytest.mark.parametrize(
    ("chain", "kind"),
    [
        (("cc", "gcc", "x86_64-linux-gnu-gcc-12"), "gcc"),
        (("cc", "gcc-13"), "gcc"),
        (("aarch64-linux-gnu-gcc",), "gcc"),
        (("cc", "clang-19"), "clang"),
        (("gcc", "clang"), "clang"),
        (("gcc", "ccache"), "gcc"),
        (("cc", "tcc"), "unknown"),
        (("cc",), "unknown"),
    ],
)
def test_kind_is_told_by_the_names_of_the_symlinks(
    chain: tuple[str, ...], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    ran = tmp_path / "ran"
    script(tmp_path / chain[-1], f"touch '{ran}'")
    for link, target in itertools.pairwise(chain):
        (tmp_path / link).symlink_to(target)
    monkeypatch.setenv("BCASTGEN_CC", str(tmp_path / chain[0]))
    assert toolchain().kind == kind
    assert not ran.exists(), "the compiler was run to find out"


def test_a_launcher_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = script(tmp_path / "ccache", 'exec "$@"')
    compiler = script(tmp_path / "clang-19", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BCASTGEN_CC", "ccache clang-19")
    tools = toolchain()
    assert tools.command == (str(launcher), "clang-19")
    assert tools.kind == "clang"
    assert str(launcher) in tools.identity
    assert str(compiler) in tools.identity


def test_identity_follows_symlinks_and_changes_with_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = script(tmp_path / "gcc-12", "exit 1")
    (tmp_path / "cc").symlink_to("gcc-12")
    monkeypatch.setenv("BCASTGEN_CC", str(tmp_path / "cc"))
    first = toolchain().identity
    assert str(real) in first
    assert toolchain().identity == first
    status = real.stat()
    os.utime(real, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    second = toolchain().identity
    assert second != first
    with real.open("a") as file:
        file.write("#\n")
    os.utime(real, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert toolchain().identity not in (first, second)


# --- its flags


def test_every_flag_has_its_reason_and_stands_once() -> None:
    assert all(row.reason for row in FLAGS)
    texts = [row.text for row in FLAGS]
    assert len(texts) == len(set(texts))


def test_contraction_is_off_last_whatever_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CFLAGS", "-ffp-contract=fast -O1 '-DNAME=a b'")
    flags = toolchain().flags
    assert flags[-4:] == ("-ffp-contract=fast", "-O1", "-DNAME=a b", "-ffp-contract=off")


@pytest.mark.parametrize(
    ("kind", "present", "absent"),
    [
        ("gcc", {"-O1", "-fgcse", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-pipe", "-nostdlib"}, {"-O3"}),
        ("clang", {"-O3"}, {"-O1", "-fvect-cost-model=dynamic", "-nostdlib"}),
        ("unknown", {"-O3"}, {"-O1", "-fvect-cost-model=dynamic", "-nostdlib"}),
    ],
)
def test_flags_fit_the_compiler(
    kind: str, present: set[str], absent: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BCASTGEN_CC", str(script(tmp_path / kind, "exit 1")))
    flags = set(toolchain().flags)
    assert present <= flags
    assert not absent & flags
    assert {"-std=c11", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"} <= flags


@pytest.mark.parametrize(
    ("machine", "features", "present", "absent"),
    [
        (
            "x86_64",
            "avx2 avx512f fma",
            {"-march=native", "-mprefer-vector-width=512"},
            {"-mcpu=native", "-mtune=skylake-avx512"},
        ),
        ("x86_64", "avx512_fp16 avx512f", {"-march=native", "-mtune=skylake-avx512"}, set()),
        ("x86_64", "avx2 fma", {"-march=native"}, {"-mprefer-vector-width=512"}),
        ("aarch64", "asimd fp", {"-mcpu=native"}, {"-march=native", "-mprefer-vector-width=512"}),
        # Under qemu-user (docker run --platform linux/arm64) /proc/cpuinfo is that of the machine outside.
        ("aarch64", "avx2 avx512f fma", {"-mcpu=native"}, {"-march=native", "-mprefer-vector-width=512"}),
        ("riscv64", "rv64gc", set(), {"-march=native", "-mcpu=native"}),
    ],
)
def test_flags_fit_the_machine(
    machine: str, features: str, present: set[str], absent: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(module, "cpu_features", lambda: features)
    flags = set(toolchain().flags)
    assert present <= flags
    assert not absent & flags


REFUSED = [
    "-ffast-math",
    "-Ofast",
    "-funsafe-math-optimizations",
    "-fassociative-math",
    "-freciprocal-math",
    "-ffinite-math-only",
    "-fno-signed-zeros",
    "-frounding-math",
    "-fapprox-func",
    "-fno-honor-nans",
    "-ffp-model=fast",
    "-mdaz-ftz",
    "-mrecip=all",
    "-fdenormal-fp-math=preserve-sign",
    "-fsingle-precision-constant",
    "-mfpmath=387",
    "-mfpmath=sse+387",
    # With AVX-512 FP16 no macro tells of its registers.
    "-mfpmath=both",
    "-Dfloat=double",
    "-Dsqrt=fabs",
    "-D",
    "@options.txt",
    "--fast-math",
    "-Wp,-ffast-math",
    "-Xpreprocessor",
    "-Xclang",
]


@pytest.mark.parametrize("flag", REFUSED)
def test_flags_that_change_results_are_refused(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CFLAGS", f"-O2 {flag}")
    with pytest.raises(
        CompileError, match=rf"^BCASTGEN_CFLAGS contains {re.escape(flag)}, which is refused: .{{20,}}; remove it$"
    ):
        toolchain()
    monkeypatch.delenv("BCASTGEN_CFLAGS")
    monkeypatch.setenv("BCASTGEN_CC", f"cc {flag}")
    with pytest.raises(CompileError, match=rf"^BCASTGEN_CC contains {re.escape(flag)}, which is refused"):
        toolchain()


@pytest.mark.parametrize(
    "flag", ["-fno-fast-math", "-fsigned-zeros", "-O1", "-g", "-march=x86-64-v2", "-mfpmath=sse", "-DNDEBUG"]
)
def test_flags_that_change_no_result_are_taken(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CFLAGS", flag)
    assert flag in toolchain().flags


@pytest.mark.parametrize("name", ["CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH"])
def test_where_the_compiler_looks_for_its_parts_is_of_its_identity(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name, raising=False)
    usual = toolchain()
    monkeypatch.setenv(name, "/opt/parts")
    assert toolchain().identity == f"{usual.identity} {name}=/opt/parts"


# --- the CPU


def features_of(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "cpuinfo"
    path.write_text(text)
    monkeypatch.setattr(module, "_CPUINFO", str(path))
    return cpu_features.__wrapped__()


def test_cpu_features_are_the_instruction_sets_alone_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu MHz\t\t: 2400.1\n"
        "flags\t\t: fpu tsc sse2 avx2 hypervisor pni fma avx512f constant_tsc ibrs lm arat\nbugs\t: avx_bug\n\n"
        "processor\t: 1\nflags\t\t: sse2 sse4a\n\n"
    )
    assert features_of(text, tmp_path, monkeypatch) == "avx2 avx512f fma lm pni sse2"


@pytest.mark.parametrize(
    ("line", "features"),
    [
        ("Features\t: fp sve asimd", "asimd fp sve"),
        ("isa\t\t: rv64imafdc_zba", "rv64imafdc_zba"),
        ("cpu\t\t: POWER9", "POWER9"),
    ],
)
def test_cpu_features_of_other_machines(
    line: str, features: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert features_of(f"processor\t: 0\n{line}\n\n", tmp_path, monkeypatch) == features


def test_cpu_features_fall_back_on_the_machines_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert features_of("nothing of use\n", tmp_path, monkeypatch) == platform.machine()
    monkeypatch.setattr(module, "_CPUINFO", str(tmp_path / "missing"))
    assert cpu_features.__wrapped__() == platform.machine()


def test_only_the_first_processor_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = "processor\t: {}\nflags\t\t: sse2 avx\n" + "filler\t: x\n" * 100 + "\n"
    path = tmp_path / "cpuinfo"
    path.write_text("".join(block.format(at) for at in range(500)))
    monkeypatch.setattr(module, "_CPUINFO", str(path))
    assert len(module._first_processor()) < 2 * 4096
