"""Proves again, by a solver, what a kernel calls proved of its extents (PyPI's z3-solver, which no test asks for).

In: the lines of `kernel.stages["constraints"]`, of a kernel of known ranks and one result.  Out: those that are
"proved" although what is "checked" does not imply them. Extents are integers >= 0. An extent of the domain is that of
the first dim that "sets" it; where none does, any extent in its column that is not 1, or 1 if there is none: so that a
proof which leans on a check that nobody makes fails.

    unproved(kernel.stages["constraints"])      # () of a sound one
    python tests/support/shape_solver.py --count 500
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from dataclasses import dataclass

import z3

from shape_kernels import make_kernel
from shape_sides import outcome, product

ATOM = r"(?:\d+|[A-Za-z_]\w*(?:\.-?\d+)?)"
LINE = re.compile(
    rf"(?P<left>{ATOM}) (?:in {{(?P<one>{ATOM}), (?P<other>{ATOM})}}|% (?P<step>\d+) = 0"
    rf"|(?P<op>=|>=|<=) (?P<right>{ATOM})(?: = (?P<domain>d\d+))?(?: \(\w+\))?): (?P<how>checked|proved), (?P<why>.*)"
)
COMPUTED = re.compile(rf"(?P<left>{ATOM}) = (?P<text>[^:]*[^:\w.][^:]*?): checked, it is a claim of the caller's")
RANKS = re.compile(r"\S+\.rank ")


def value(text, names):
    """What a computed extent is, over the solver's numbers; division rounds down there, too, by a number above 0."""
    functions = {
        "min": lambda x, y: z3.If(x < y, x, y),
        "max": lambda x, y: z3.If(x > y, x, y),
    }
    return eval(text.replace("//", "/"), functions, names)


@dataclass(frozen=True)
class _Lines:
    """Lines read, of which what is said of a result is said of the domain."""

    rank: int

    def term(self, text):
        if text.isdigit():
            return z3.IntVal(int(text))
        name, _, dim = text.partition(".")
        if re.fullmatch(r"r\d?", name):
            return z3.Int(f"d{int(dim) % self.rank}")
        return z3.Int(text)

    def formula(self, found):
        left = self.term(found["left"])
        if found["one"]:
            return z3.Or(left == self.term(found["one"]), left == self.term(found["other"]))
        if found["step"]:
            return left % int(found["step"]) == 0
        right = self.term(found["right"])
        made = {"=": left == right, ">=": left >= right, "<=": left <= right}[found["op"]]
        return z3.And(made, self.term(found["domain"]) == right) if found["domain"] else made


def unproved(text):
    """The lines that say "proved" and are not implied, each with extents that contradict it."""
    lines = [line for line in text.splitlines() if not RANKS.match(line) and line != "nothing is asked"]
    computed = [found for line in lines if (found := COMPUTED.fullmatch(line)) and not LINE.fullmatch(line)]
    lines = [line for line in lines if line not in {found[0] for found in computed}]
    read = [LINE.fullmatch(line) for line in lines]
    assert all(read), [line for line, found in zip(lines, read, strict=True) if not found]
    domain = [int(name) for line in lines for name in re.findall(r"\bd(\d+)\b", line)]
    domain += [int(dim) for line in lines for dim in re.findall(r"^r\d?\.(\d+)", line)]
    said = re.search(r"the domain has (?:rank )?(\d+)", text)
    parse = _Lines(int(said[1]) if said else max(domain, default=0) + 1)
    solver = z3.Solver()
    names = {name for line in lines for name in re.findall(r"\b[A-Za-z_]\w*\.\d+|\bd\d+", line)}
    solver.add(*(parse.term(name) >= 0 for name in names))
    solver.add(*(parse.formula(found) for found in read if found["how"] == "checked"))
    for found in computed:
        bound = {name: z3.Int(name) for name in re.findall(r"[a-z]\w*", found["text"])}
        solver.add(*(name >= 0 for name in bound.values()))
        solver.add(parse.term(found["left"]) == value(found["text"], bound))
    terms = {one for found in read for one in (found["other"], found["right"], found["domain"]) if one}
    terms |= {str(parse.term(found["left"])) for found in read}
    for extent in sorted(one for one in terms if re.fullmatch(r"d\d+", one)):
        solver.add(_defined(parse, extent, read))
    wrong = []
    for line, found in zip(lines, read, strict=True):
        if found["how"] == "proved":
            solver.push()
            solver.add(z3.Not(parse.formula(found)))
            if solver.check() != z3.unsat:
                wrong.append(f"{line}\n        not where {solver.model()}")
            solver.pop()
    return tuple(wrong)


def _defined(parse, extent, read):
    """Return an extent of the domain."""
    column = [f for f in read if extent in (f["other"], f["right"]) and not re.match(r"r\d?\.", f["left"])]
    setters = [found for found in column if re.search(rf"sets {extent}\b", found["why"])]
    here = parse.term(extent)
    if setters:
        return here == parse.term(setters[0]["left"])
    dims = [parse.term(found["left"]) for found in column]
    # Where an extent is known, dims are compared with the number: only a result's line says which dim it is.
    known = [f for f in read if str(parse.term(f["left"])) == extent and re.match(rf"{extent} is ", f["why"])]
    if not dims:
        return here == parse.term(known[0]["right"]) if known else z3.BoolVal(True)
    return z3.And(z3.Or(*(here == dim for dim in dims)), z3.Implies(here == 1, z3.And(*(dim == 1 for dim in dims))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    chance, asked, found = random.Random(options.seed), 0, []
    for _ in range(options.count):
        kernel = make_kernel(chance)
        if len(kernel.results) > 1 or any(operand.type.open for operand in kernel.operands):
            continue
        made = outcome(lambda kernel=kernel: product(kernel))
        text = made if isinstance(made, str) else outcome(lambda made=made: made.stages["constraints"])
        if text.startswith(("refused", "raised")):
            continue
        asked += sum(": proved" in line for line in text.splitlines())
        wrong = unproved(text)
        if wrong:
            found.append(f"{kernel}\n{text}\n" + "\n".join(f"    unproved: {line}" for line in wrong))
    print("\n\n".join(sorted(found, key=len)))
    print(f"{asked} lines that are proved; in {len(found)} kernels one is not implied", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
