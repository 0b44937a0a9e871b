"""``bcastgen cache``: shows, verifies, clears, exports or imports the kernels kept on disk.

In: an action, and a file for the last two.  Out: lines on stdout; exit status 1 where `verify` finds something.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ..core.errors import BcastgenError
from ..runtime.cache.upkeep import clear, info, kernels, verify
from ..runtime.library import open_shared

__all__ = ["add_arguments", "run"]


def _info(_: argparse.Namespace) -> int:
    print(info())
    return 0


def _list(_: argparse.Namespace) -> int:
    for kernel in kernels():
        print(kernel)
    return 0


def _verify(_: argparse.Namespace) -> int:
    findings = list(verify(open_shared))
    for finding in findings:
        print(finding)
    whole = info().entries
    print(f"{whole} kernels, {len(findings)} findings{'; bcastgen cache clear removes them' if findings else ''}")
    return 1 if findings else 0


def _clear(_: argparse.Namespace) -> int:
    print(f"removed {clear()} kernels")
    return 0


def _export(options: argparse.Namespace) -> int:
    from ..runtime.cache.transfer import export_to  # noqa: PLC0415 - the other actions need no archives

    print(f"{options.file} has {export_to(Path(options.file))} kernels")
    return 0


def _import(options: argparse.Namespace) -> int:
    from ..runtime.cache.transfer import import_from  # noqa: PLC0415 - the other actions need no archives

    print(f"took {import_from(Path(options.file))} kernels from {options.file}")
    return 0


_Action = Callable[[argparse.Namespace], int]
_ACTIONS: dict[str, tuple[_Action, str]] = {
    "info": (_info, "its place and size"),
    "list": (_list, "a line for each kernel, the last used first"),
    "verify": (_verify, "find what is damaged, cannot be loaded, or was left by a build"),
    "clear": (_clear, "remove all kernels"),
    "export": (_export, "write all kernels into FILE, a .tar.gz for machines of the same kind"),
    "import": (_import, "take kernels from FILE; they are programs: import only what you trust"),
}
_WITH_FILE = ("export", "import")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    said = "; ".join(f"{name}: {what}" for name, (_, what) in _ACTIONS.items())
    parser.add_argument("action", choices=tuple(_ACTIONS), help=said)
    parser.add_argument("file", nargs="?", metavar="FILE", help="the archive of export and import")
    parser.set_defaults(refuse=parser.error)


def run(options: argparse.Namespace) -> int:
    """Do the action.

    Raises
    ------
    SystemExit
        If a file is missing, or one too many.
    BcastgenError
        If it cannot be read or written.
    """
    if (options.file is not None) != (options.action in _WITH_FILE):
        needs = "needs a FILE" if options.file is None else "takes no FILE"
        options.refuse(f"{options.action} {needs}")
    if options.file == "-":
        raise BcastgenError(f"bcastgen cache {options.action} takes no stream; give a file (./- is one named -)")
    return _ACTIONS[options.action][0](options)
