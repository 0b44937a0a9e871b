"""The layout of C text: blank lines, and long lines broken where a reader expects it.

In: text as templates and csrc give it, names already final.  Out: the same text in at most 120 columns.

    long_name(const int32_t *first, <- 120 columns
        const int32_t *second)      ->   aligned with `first`

Lines that a source broke inside parentheses are joined first, so that they are broken, and aligned, for the names they
have now.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

__all__ = ["NO_BREAK", "lay_out", "lay_out_comment"]

# Between two words that stay on one line of a comment.
NO_BREAK = "\N{NO-BREAK SPACE}"

_COLUMNS = 120
_BREAK = re.compile(r", | && | \|\| | \| | \+ | << | \? | (?=: )| = ")
_ONE_LINER = re.compile(r"(static .*\)) \{ (.*;) \}")
_TRAILING_COMMENT = re.compile(r"(\s*)(\S.*[;{])\s*(/\*.*\*/)")
_COMMENT = re.compile(r"/\*.*?\*/")


def lay_out(text: str) -> str:
    r"""Return C text with its long lines broken, and no two blank lines in a row or in front of a closing brace.

    Examples
    --------
    >>> print(lay_out("static int f(int x,\n   int y)\n{\n    return x;\n\n}\n"), end="")
    static int f(int x, int y)
    {
        return x;
    }
    """
    lines = _comments_broken(broken for line in _joined(text) for broken in _broken(line))
    return re.sub(r"\n{2,}(?= *})", "\n", re.sub(r"\n{3,}", "\n\n", "\n".join(lines))).lstrip("\n")


def lay_out_comment(text: str, start: str = " * ", hang: str = "    ") -> str:
    """Return the lines of a block comment; long ones go on below, indented further by `hang`.

    No line is broken at a `NO_BREAK`, which becomes a space.

    Examples
    --------
    >>> print(lay_out_comment("An array: " + "float" + NO_BREAK + "a[3]", start=" * "))
     * An array: float a[3]
    """
    lines: list[str] = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        width = _COLUMNS - len(start)
        lines += textwrap.wrap(line, width, subsequent_indent=indent + hang, break_on_hyphens=False) or [""]
    return "\n".join(f"{start}{line}".rstrip() for line in lines).replace(NO_BREAK, " ")


def _comments_broken(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; what is too long in a block comment goes on in the comment's next line."""
    rest, start, in_comment = "", "", False
    for given in lines:
        line, body = given, given.lstrip()
        if rest and body.startswith("* ") and not body.startswith("*  "):
            line, rest = f"{start}{rest} {body[2:]}", ""
        elif rest:
            yield from _split(f"{start}{rest}", start)
            rest = ""
        begins = body.startswith("/*")
        # A comment that code follows, such as the name of an op in front of its C, is no line of a comment.
        is_comment = (in_comment or begins) and "*/" not in body.rstrip()[:-2]
        in_comment = (in_comment or begins) and "*/" not in body
        if not is_comment or len(line) <= _COLUMNS:
            yield line
            continue
        start = f"{given[: len(given) - len(body)]}{' ' * begins}* "
        *made, rest = _split(line, start)
        if not made:  # a single word, which is not broken
            yield line
            rest = ""
            continue
        yield from made
        rest = rest.removeprefix(start)
        if not in_comment:
            yield f"{start}{rest}"
            rest = ""


def _split(line: str, start: str) -> Iterator[str]:
    """Yield the lines that a long line of a comment becomes; those behind the first one begin with `start`."""
    ends = line.endswith(" */")
    while len(line) > _COLUMNS:
        # The mark of the end stays behind a word.
        at = line.rfind(" ", len(start) + 1, min(_COLUMNS + 1, len(line) - 3 * ends))
        if at < 0:
            break
        yield line[:at].rstrip()
        line = start + line[at + 1 :]
    yield line


def _joined(text: str) -> list[str]:
    """Undo line breaks inside parentheses, outside comments and directives."""
    lines: list[str] = []
    depth, in_comment = 0, False
    for line in text.split("\n"):
        if depth > 0:
            lines[-1] = f"{lines[-1]} {line.strip()}"
        else:
            lines.append(line.rstrip())
        code = _COMMENT.sub("", line)
        if not (in_comment or "/*" in code or line.startswith("#")):
            depth += code.count("(") - code.count(")")
        in_comment = "*/" not in line if in_comment else "/*" in code
    return lines


def _broken(line: str, hang: int = 4) -> list[str]:
    """Break a line; where no parenthesis is open, it goes on `hang` columns further in."""
    found: list[str] = []
    # A loop over the pieces: a line of all extents of many operands has a thousand.
    while len(line) > _COLUMNS and not (line.startswith("#") or line.lstrip().startswith(("*", "/*"))):
        commented = _TRAILING_COMMENT.fullmatch(line)
        if commented:
            indent, code, comment = commented.groups()
            found.append(f"{indent}{comment}")
            line, hang = f"{indent}{code}", 4
            continue
        indent = line[: len(line) - len(line.lstrip())]
        function = _ONE_LINER.fullmatch(line)
        if function:
            return [*found, *_broken(function[1]), "{", *_broken(f"    {function[2]}"), "}"]
        guarded = _guarded(line)
        if guarded:
            condition, statement = guarded
            return [*found, *_broken(f"{condition} {{"), *_broken(f"{indent}    {statement}"), f"{indent}}}"]
        at, column = _break_at(line, hang)
        if at == 0:
            break
        found.append(line[:at].rstrip())
        line, hang = " " * column + line[at:].lstrip(), 0
    return [*found, line]


def _guarded(line: str) -> tuple[str, str] | None:
    """Split `if (condition) statement;` into the two."""
    if not line.lstrip().startswith("if (") or not line.endswith(";"):
        return None
    depth = 0
    for at, character in enumerate(line):
        depth += (character == "(") - (character == ")")
        if character == ")" and depth == 0:
            return line[: at + 1], line[at + 1 :].strip()
    return None


def _break_at(line: str, hang: int) -> tuple[int, int]:
    """Return where to break, and the column to go on at: inside as few parentheses as possible, then as late."""
    start = len(line) - len(line.lstrip())
    hidden = [match.span() for match in _COMMENT.finditer(line)]
    opened: list[int] = []
    best: tuple[float, int, int] = (0, 0, 0)
    at = start
    for match in _BREAK.finditer(line):
        for place in range(at, match.start()):
            if line[place] == "(":
                opened.append(place)
            elif line[place] == ")" and opened:
                opened.pop()
        at = match.start()
        if match.end() - 1 > _COLUMNS:
            break
        if match.end() <= start + 16 or any(low < at < high for low, high in hidden):
            continue
        # A lower depth is better, but not so much that the line is broken in its first half.
        score = (-len(opened) if match.end() > _COLUMNS // 2 else -len(opened) - 1.5, match.end())
        if best == (0, 0, 0) or score >= best[:2]:
            best = (*score, min(opened[-1] + 1 if opened else start + hang, _COLUMNS // 2))
    return best[1], best[2]
