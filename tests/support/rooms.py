"""The rooms of the package: what each is for, and which others it imports from, read from the files themselves.

In: nothing.  Out: rows from the top floor to the bottom, as text; `docs/architecture.md` shows them.

    python tests/support/rooms.py
"""

from __future__ import annotations

import ast
import importlib.util
import textwrap
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "bcastgen"
# Rooms with rooms of their own; elsewhere folders are one room with what is above them.
DIVIDED = ("shape", "loops", "emit")


def modules() -> dict[str, Path]:
    """Every module of the package by its name, but those that the build writes."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if path.name not in ("_ffi.py", "_templates.py"):
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room_of(name: str, known: dict[str, Path]) -> str:
    """The package that a module is in, no deeper than rooms are told apart."""
    parts = (name if known[name].name == "__init__.py" else name.rpartition(".")[0]).split(".")
    return ".".join(parts[: 3 if parts[1:2] and parts[1] in DIVIDED else 2])


def imports(name: str, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a module imports, for types and in functions, too."""
    path = known[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        said = "." * node.level + (node.module or "")
        base = importlib.util.resolve_name(said, package) if node.level else said
        for alias in node.names:
            target = f"{base}.{alias.name}"
            found.update({target if target in known else base} & known.keys())
    return found - {name}


def arrows() -> dict[str, set[str]]:
    """For each room those that it imports from."""
    known = modules()
    found: dict[str, set[str]] = defaultdict(set)
    for name in known:
        room = room_of(name, known)
        found[room] |= {room_of(other, known) for other in imports(name, known)} - {room}
    return dict(found)


def floors(above: dict[str, set[str]]) -> list[list[str]]:
    """The rooms, floor by floor from the bottom: each imports from lower floors only."""
    left, made = dict(above), []
    while left:
        floor = sorted(room for room, others in left.items() if not others & left.keys())
        if not floor:
            raise ValueError(f"rooms import each other in a circle: {sorted(left)}")
        made.append(floor)
        left = {room: others for room, others in left.items() if room not in floor}
    return made


def table() -> str:
    """The rooms from the top floor to the bottom: what each is for, then what it imports from."""
    found = arrows()
    lines = []
    for number, floor in reversed(list(enumerate(floors(found)))):
        for room in floor:
            doc = ast.get_docstring(ast.parse((PACKAGE.parent / room.replace(".", "/") / "__init__.py").read_text()))
            short = room.removeprefix("bcastgen").lstrip(".") or "bcastgen"
            purpose = (doc or "").split("\n")[0]
            needs = " ".join(sorted(other.removeprefix("bcastgen.") for other in found[room])) or "-"
            head, tail = f"{number:2}  {short.replace('.', '/'):<22}{purpose}", f"{'':<26}<- {needs.replace('.', '/')}"
            lines += [head, *textwrap.wrap(tail, 120, subsequent_indent=" " * 29)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
