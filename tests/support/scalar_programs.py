"""Random functions of scalars: nested branches, early returns, loops, breaks; and what Python makes of each element.

In: a random generator, and a family of dtypes.  Out: the text of a function, which has to be in a file to be read.

    text = make_text(random.Random(0), "f", FLOATS)        expected = by_python(function, operands)
"""

from __future__ import annotations

import importlib.util
import itertools
from dataclasses import dataclass

import numpy as np

NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Family:
    """Dtypes whose arithmetic Python and NumPy do exactly alike, so that a difference is a wrong branch or type."""

    name: str
    dtype: str
    literals: tuple[str, ...]
    binary: tuple[str, ...]
    unary: tuple[str, ...]
    values: tuple[object, ...]


FLOATS = Family(
    "floats",
    "float64",
    ("0.0", "0.5", "-1.5", "2.0", "3", "-2", "1"),
    ("{} + {}", "{} - {}", "{} * {}", "min({}, {})", "max({}, {})", "math.copysign({}, {})"),
    ("-{}", "abs({})", "math.floor({})", "math.sqrt(abs({}))", "int({})", "round({})", "float({})", "math.fabs({})"),
    (0.0, -0.0, 0.5, -1.5, 2.0, 7.25, -3.0, 1.0, 100.5),
)
SHORT_FLOATS = Family(
    "short floats",
    "float32",
    ("0.0", "0.5", "-1.5", "2.0", "1.0"),
    ("{} + {}", "{} - {}", "min({}, {})", "max({}, {})"),
    ("-{}", "abs({})", "float({})", "np.floor({})"),
    (0.0, 0.5, -1.5, 2.0, 7.25, -3.0, 1.0, float("nan"), float("inf")),
)
INTEGERS = Family(
    "integers",
    "int64",
    ("0", "1", "-1", "2", "3", "5"),
    ("{} + {}", "{} - {}", "{} * {}", "a // ({})", "b % ({})", "a & ({})", "min({}, {})", "max({}, {})", "a | ({})"),
    ("-{}", "abs({})", "int({})", "+{}", "bool({})"),
    (0, 1, -1, 2, 3, -7, 10, 5, 64),
)
BYTES = Family(
    "bytes",
    "int8",
    ("0", "1", "2", "3"),
    ("{} + {}", "{} - {}", "a * ({})", "b ^ ({})", "min({}, {})", "max({}, {})"),
    ("abs({})", "+{}", "np.int8({})"),
    (0, 1, -1, 2, 3, -7, 10, 5, 64, -128, 127),
)
FAMILIES = (FLOATS, SHORT_FLOATS, INTEGERS, BYTES)


class _Writer:
    def __init__(self, random, family):
        self.random, self.family = random, family
        self.lines, self.loops = [], 0

    def pick(self, *rows):
        return self.random.choice(rows)

    def number(self, names, depth=2):
        family = self.family
        match self.pick("name", "name", "literal", "binary", "binary", "unary", "choice", "or") if depth else "name":
            case "literal":
                return f"({self.random.choice(family.literals)})"
            case "binary":
                form = self.random.choice(family.binary)
                return "(" + form.format(*(self.number(names, depth - 1) for _ in range(form.count("{}")))) + ")"
            case "unary":
                return "(" + self.random.choice(family.unary).format(self.number(names, depth - 1)) + ")"
            case "choice":
                yes, no = self.number(names, depth - 1), self.number(names, depth - 1)
                return f"({yes} if {self.condition(names, depth - 1)} else {no})"
            case "or":
                return f"({self.number(names, depth - 1)} {self.pick('and', 'or')} {self.number(names, depth - 1)})"
        return self.random.choice(names)

    def condition(self, names, depth=2):
        order = self.pick("<", "<=", ">", ">=", "==", "!=")
        match self.pick("compare", "compare", "chain", "logic", "not", "plain", "in") if depth else "compare":
            case "chain":
                return f"({self.number(names, 1)} < {self.number(names, 0)} <= {self.number(names, 1)})"
            case "logic":
                join = self.pick("and", "or")
                return f"({self.condition(names, depth - 1)} {join} {self.condition(names, depth - 1)})"
            case "not":
                return f"(not {self.condition(names, depth - 1)})"
            case "plain":
                return self.number(names, depth - 1)
            case "in":
                return f"({self.number(names, 1)} {self.pick('in', 'not in')} ({self.family.literals[0]}, 2))"
        return f"({self.number(names, 1)} {order} {self.number(names, 1)})"

    def block(self, names, indent, depth, in_loop):
        """Write statements; return the names that are set behind them on every way."""
        names = list(names)
        for _ in range(self.random.randint(1, 3)):
            names = self.statement(names, indent, depth, in_loop)
        return names

    def statement(self, names, indent, depth, in_loop):
        pad = "    " * indent
        kinds = ["set", "set", "add"]
        kinds += ["if", "if", "for", "while"] * (depth > 0) + ["leave"] * in_loop + ["tuple"]
        match self.random.choice(kinds):
            case "set":
                name = self.pick("x", "y", "z")
                self.lines.append(f"{pad}{name} = {self.number(names)}")
                return [*dict.fromkeys((*names, name))]
            case "add":
                name = self.random.choice(names)
                self.lines.append(f"{pad}{name} {self.pick('+=', '-=')} {self.number(names, 1)}")
            case "tuple":
                self.lines.append(f"{pad}x, y = {self.number(names)}, {self.number(names, 1)}")
                return [*dict.fromkeys((*names, "x", "y"))]
            case "leave":
                self.lines.append(f"{pad}if {self.condition(names, 1)}:")
                self.lines.append(f"{pad}    {self.pick('break', 'continue', f'return {self.number(names)}')}")
            case "if":
                self.lines.append(f"{pad}if {self.condition(names)}:")
                yes = self.branch(names, indent + 1, depth - 1, in_loop)
                no = names
                if self.random.random() < 0.3:
                    self.lines.append(f"{pad}elif {self.condition(names)}:")
                    yes = [name for name in yes if name in self.branch(names, indent + 1, depth - 1, in_loop)]
                if self.random.random() < 0.6:
                    self.lines.append(f"{pad}else:")
                    no = self.branch(names, indent + 1, depth - 1, in_loop)
                return [name for name in yes if name in no]
            case "for":
                self.loops += 1
                count = self.random.randint(1, 4)
                self.lines.append(f"{pad}for i{self.loops} in range({count}):")
                self.block([*names, f"i{self.loops}"], indent + 1, depth - 1, True)
                self.otherwise(names, indent, depth)
            case "while":
                self.loops += 1
                count = f"n{self.loops}"
                self.lines.append(f"{pad}{count} = 0")
                self.lines.append(f"{pad}while {count} < 3 and {self.condition(names, 1)}:")
                self.lines.append(f"{pad}    {count} += 1")
                self.block(names, indent + 1, depth - 1, True)
                self.otherwise(names, indent, depth)
                return [*names, count]
        return names

    def otherwise(self, names, indent, depth):
        if self.random.random() < 0.3:
            self.lines.append("    " * indent + "else:")
            self.block(names, indent + 1, depth - 1, False)

    def branch(self, names, indent, depth, in_loop):
        found = self.block(names, indent, depth, in_loop)
        if self.random.random() < 0.25:
            self.lines.append("    " * indent + f"return {self.number(names)}")
            return [*names, "x", "y", "z"]
        return found


def make_text(random, name, family):
    """Return the text of a function of three scalars."""
    writer = _Writer(random, family)
    writer.lines.append(f"def {name}({', '.join(NAMES)}):")
    names = writer.block(list(NAMES), 1, 2, False)
    writer.lines.append(f"    return {writer.number(names)}")
    return "\n".join(writer.lines) + "\n"


def in_file(path, texts):
    """Return the functions of these texts, by name, from a file that has them."""
    path.write_text("import math\n\nimport numpy as np\n\n\n" + "\n\n".join(texts), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def operands_of(random, family, count=24):
    """Return arrays of the family's values, in random combinations."""
    rows = [[random.choice(family.values) for _ in NAMES] for _ in range(count)]
    return tuple(np.array(column, family.dtype) for column in zip(*rows, strict=True))


def by_python(function, operands):
    """Return what Python's own evaluation gives for each element: a number, or the error that it raises."""
    found = []
    with np.errstate(all="ignore"):
        for row in zip(*operands, strict=True):
            try:
                found.append(function(*row))
            except (ArithmeticError, ValueError, UnboundLocalError) as error:
                found.append(error)
    return found


def differences(expected, actual):
    """Return the elements that differ, of those that Python has a number for, cast to the dtype of the result."""
    wrong = []
    with np.errstate(all="ignore"):
        for at, (ours, theirs) in enumerate(zip(actual.tolist(), expected, strict=True)):
            if isinstance(theirs, Exception):
                continue
            cast = np.asarray(theirs).astype(actual.dtype).item()
            if not (ours == cast or (ours != ours and cast != cast)):
                wrong.append((at, ours, theirs))
    return wrong


def chunks(items, size):
    """Return the items in lists of a size."""
    items = iter(items)
    while chunk := list(itertools.islice(items, size)):
        yield chunk
