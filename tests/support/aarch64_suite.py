"""The tests on the wheel of another machine: `wheel_suite` in a Debian for aarch64, which qemu-user runs.

In: a directory.  Out: a line for some files each, and exit status 1 if a test fails.

    sudo python tests/support/aarch64_suite.py --keep emulated                   # goes on where it ended
    sudo python tests/support/aarch64_suite.py --keep emulated --room csrc --room runtime
    sudo python tests/support/aarch64_suite.py --keep emulated --cpu neoverse-v1     # kernels of SVE
    sudo python tests/support/aarch64_suite.py --keep emulated --again           # with the sources as they are now

Needs root, x86-64, Debian's packages debootstrap and qemu-user-static, and 3 GB. Mounts are seen by the command alone
and end with it. gcc's passes, the assembler and the linker are those of Debian's cross compiler, which the processor
runs itself: they make the same code as the emulated ones of the same version, in a twelfth of the time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from wheel_suite import must_run

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
PACKAGES = (
    "ca-certificates,python3,python3-venv,python3-dev,gcc,g++,clang,libclang-rt-14-dev,libc6-dev,libffi-dev,git,make"
)
BINFMT = Path("/proc/sys/fs/binfmt_misc")
RULE = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")

# What x86-64 runs in the root: programs, where they are there and in the cross compiler's packages; and libraries.
_PASSES, _CROSS = "usr/lib/gcc/aarch64-linux-gnu/12", "usr/lib/gcc-cross/aarch64-linux-gnu/12"
PROGRAMS = {
    **{f"{_PASSES}/{name}": f"{_CROSS}/{name}" for name in ("cc1", "cc1plus", "collect2", "lto1", "lto-wrapper")},
    f"{_PASSES}/liblto_plugin.so": f"{_CROSS}/liblto_plugin.so",
    **{f"usr/bin/aarch64-linux-gnu-{name}": f"usr/bin/aarch64-linux-gnu-{name}" for name in ("as", "ld.bfd")},
}
COMPILERS = "cpp-12-aarch64-linux-gnu gcc-12-aarch64-linux-gnu g++-12-aarch64-linux-gnu binutils-aarch64-linux-gnu"
LIBRARIES = "libc6 libgmp10 libmpfr6 libmpc3 libisl23 zlib1g libzstd1 libstdc++6 libgcc-s1 libjansson4 libbinutils"

# Where the cross compiler looks for C++'s headers.
HEADERS = {
    "usr/aarch64-linux-gnu/include/c++": "../../include/c++",
    "usr/include/c++/12/aarch64-linux-gnu": "../../aarch64-linux-gnu/c++/12",
}

# Processors as /proc/cpuinfo has them, for -mcpu=native and the tests: qemu-user 7 shows that of the machine that it
# runs on. The first is a plain ARMv8.
_PLAIN = "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
_ARM = f"{_PLAIN} atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp ssbs"
_SVE = "jscvt fcma sha3 sm3 sm4 sha512 sve asimdfhm dit uscat ilrcpc flagm paca pacg dcpodp svei8mm svebf16 i8mm bf16"
PROCESSORS = {
    "cortex-a53": ("0xd03", _PLAIN),
    "neoverse-n1": ("0xd0c", _ARM),
    "neoverse-v1": ("0xd40", f"{_ARM} {_SVE}"),
}
_CPUINFO = """\
processor\t: 0
Features\t: {features}
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: {part}
CPU revision\t: 1

"""

# Tests that tell nothing here, and why.
NOT_HERE = {
    "tests/behaviour/test_interruptions.py::test_a_long_call_ends_where_a_handler_raises": "calls have 5 s to end",
}

# In the command's own mounts: what a program expects to find.
_SCRIPT = """\
set -e
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/tmp"
mount --bind "$2" "$1/proc/cpuinfo"
shift 2
exec "$@"
"""


class Root:
    """A Debian for aarch64 in a folder, and what runs in it."""

    def __init__(self, keep: Path, cpu: str) -> None:
        self.place = keep.resolve() / "root"
        self._cpuinfo = keep.resolve() / f"{cpu}.txt"
        self._made = keep.resolve() / "root-made"
        part, features = PROCESSORS[cpu]
        self._cpuinfo.write_text(_CPUINFO.format(features=features, part=part))

    def make(self) -> None:
        """Install what is missing."""
        if not any(BINFMT.glob("qemu-aarch64*")):
            # The flag F: the kernel keeps the emulator, which is not in the root.
            (BINFMT / "register").write_text(RULE.read_text())
        if self._made.exists():
            return
        shutil.rmtree(self.place, ignore_errors=True)
        wanted = ["--arch=arm64", "--variant=minbase", f"--include={PACKAGES}"]
        must_run(["debootstrap", *wanted, SUITE, str(self.place), MIRROR])
        for name in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):  # a network's own
            shutil.copyfile(name, f"{self.place}{name}")
        self._compile_natively()
        self._made.touch()

    def _compile_natively(self) -> None:
        wanted = [f"{name}:amd64" for name in (*COMPILERS.split(), *LIBRARIES.split())]
        fetch = f"dpkg --add-architecture amd64; apt-get -qq update; cd /opt; apt-get -qq download {' '.join(wanted)}"
        must_run(self.command(["sh", "-ec", fetch]))
        cross = self.place / "opt" / "cross"
        for package in sorted((self.place / "opt").glob("*.deb")):
            must_run(["dpkg", "-x", str(package), str(cross)])
            package.unlink()
        for folder in ("lib64", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"):
            shutil.copytree(cross / folder, self.place / folder, symlinks=True, dirs_exist_ok=True)
        for target, source in PROGRAMS.items():
            shutil.copy(cross / source, self.place / target)
        # The passes have their own headers at the place that the cross compiler is built for.
        (self.place / _CROSS).parent.parent.mkdir(exist_ok=True)
        (self.place / _CROSS).parent.symlink_to("../gcc/aarch64-linux-gnu")
        for name, target in HEADERS.items():
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
            (self.place / name).symlink_to(target)
        shutil.rmtree(cross)

    def command(self, arguments: list[str]) -> list[str]:
        """Return the command that runs one in the root; it and all that it started end together."""
        place = str(self.place)
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL"]
        return [*alone, "sh", "-c", _SCRIPT, "sh", place, str(self._cpuinfo), "chroot", place, *arguments]

    def copy_sources(self) -> str:
        """Copy what git knows of this checkout, as it is now; return where it is in the root."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        shutil.rmtree(self.place / "src", ignore_errors=True)
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.place / "src" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.place / "src" / name)
        return "/src"


def main() -> int:
    """Make the root, and run the suite in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="a directory for all that is made")
    parser.add_argument("--room", action="append", default=[], help="a folder of tests; all by default")
    parser.add_argument("--cpu", choices=PROCESSORS, default=next(iter(PROCESSORS)), help="what -mcpu=native finds")
    parser.add_argument("--fresh", action="store_true", help="build all again, and forget what has passed")
    parser.add_argument("--again", action="store_true", help="build sdist and wheel again, and run what has not passed")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    root = Root(given.keep, given.cpu)
    root.make()
    suite = ["python3", f"{root.copy_sources()}/tests/support/wheel_suite.py", "--keep", f"/kept/{given.cpu}"]
    suite += [f"--room={room}" for room in given.room] + ["--fresh"] * given.fresh + ["--again"] * given.again
    suite += ["--", *given.pytest, *(f"--deselect={test}" for test in NOT_HERE)]
    passed_on = {name: os.environ[name] for name in os.environ if name.startswith("PIP_") or name.endswith("_proxy")}
    place = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    place["ASAN_OPTIONS"] = "detect_leaks=0"  # which needs what the emulator has not
    place["PIP_ONLY_BINARY"] = ":all:"  # the newest of z3 is for a newer C library, and would be compiled
    return subprocess.run(root.command(suite), env={**passed_on, **place}).returncode


if __name__ == "__main__":
    sys.exit(main())
