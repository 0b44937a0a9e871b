"""Function text: the syntax tree of a Python function, and errors that show a place in it.

In: a function.  Out: its :class:`FunctionText`.

    def f(x): return foo(x)      ->  FunctionDef f, from line 3 of example.py

The whole file is parsed, so that lines and columns are the file's own. The tree is compared with the function's code: a
file may have changed since it was imported.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import warnings
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

from ...core.errors import TraceError
from ...core.frozen import dataclass
from ...core.python_text import parse_module

__all__ = ["FunctionText", "text_of"]

Definition = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class FunctionText:
    """A function and its syntax tree.

    Attributes
    ----------
    function : the function.
    name : its name, in messages.
    file : where its source is.
    lines : the lines of that file.
    tree : its definition.
    """

    function: Callable[..., Any]
    name: str
    file: str
    lines: tuple[str, ...]
    tree: Definition

    @property
    def body(self) -> list[ast.stmt]:
        """The statements; those of a lambda are one return."""
        if isinstance(self.tree, ast.FunctionDef):
            return self.tree.body
        returned = ast.Return(self.tree.body)
        return [ast.copy_location(returned, self.tree.body)]

    def error(self, tree: ast.AST, message: str, kind: type[Exception] = TraceError) -> Exception:
        """Return an error that shows a place of the function, with a caret below it."""
        return kind(f"{self.name}(): {message}\n{self.place(tree)}")

    def place(self, tree: ast.AST) -> str:
        """Return the file, the line and the text of a place, with carets below it."""
        line: int = getattr(tree, "lineno", self.tree.lineno)
        text = self.lines[line - 1].rstrip("\n") if line <= len(self.lines) else ""
        start = _characters(text, getattr(tree, "col_offset", 0))
        on_one_line = getattr(tree, "end_lineno", line) == line
        end = _characters(text, getattr(tree, "end_col_offset", 0)) if on_one_line else len(text)
        shown = text.strip()
        margin = start - (len(text) - len(text.lstrip()))
        return f'  File "{self.file}", line {line}\n    {shown}\n    {" " * margin}{"^" * max(end - start, 1)}'

    @property
    def closure(self) -> dict[str, Any]:
        """What the function's free names stand for, as far as they are bound."""
        found: dict[str, Any] = {}
        cells = getattr(self.function, "__closure__", None) or ()
        for name, cell in zip(self.function.__code__.co_freevars, cells, strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue
        return found


def text_of(function: Callable[..., Any]) -> FunctionText:
    """Return a function's text.

    Raises
    ------
    TraceError
        If it is no Python function, or its source is not to be found; says why, and what to do.
    """
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise TraceError(f"{name} is no function written in Python, so that there is no source to read; wrap it in one")
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise TraceError(f"{name}() is a generator or a coroutine; write a function that returns its results")
    # A module that was edited and imported again has other lines.
    linecache.checkcache(code.co_filename)
    lines = tuple(linecache.getlines(code.co_filename, function.__globals__))
    if not lines:
        raise TraceError(
            f"the source of {name}() is not to be found ({code.co_filename!r}): it was typed at Python's prompt "
            "or made by exec; put it into a file, type it in IPython or a notebook, which keep what is typed, or use "
            "bcastgen.jit with numpy.where"
        )
    try:
        known = _definitions("".join(lines))
    except SyntaxError:
        raise _changed(name, code) from None
    found = [node for node in known.get((code.co_name, code.co_firstlineno), ()) if _agrees(node, code)]
    if not found:
        raise _changed(name, code)
    if len({ast.dump(node) for node in found}) > 1:
        raise TraceError(
            f"line {code.co_firstlineno} of {code.co_filename} has several functions that are alike, and which one is "
            "meant cannot be told; put each on a line of its own, or write it as a def"
        )
    return FunctionText(function, name, code.co_filename, lines, found[0])


def _changed(name: str, code: CodeType) -> TraceError:
    return TraceError(
        f"line {code.co_firstlineno} of {code.co_filename} is not {name}(), as far as its code tells; the file has "
        "changed since it was imported: import it again"
    )


@lru_cache(8)
def _definitions(text: str) -> dict[tuple[str, int], list[Definition]]:
    """Return the functions of a file by their names and first lines, as their code has them."""
    found: dict[tuple[str, int], list[Definition]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parse_module(text)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
                found.setdefault((name, first), []).append(node)
            case ast.Lambda():
                found.setdefault(("<lambda>", node.lineno), []).append(node)
    return found


def _characters(text: str, column: int) -> int:
    """Return how many characters the first bytes of a line are; the tree counts bytes of UTF-8."""
    return len(text.encode("utf-8")[:column].decode("utf-8", "ignore"))


def _agrees(tree: Definition, code: CodeType) -> bool:
    """Whether a definition has the names and the numbers of a code object."""
    made = _code_of(tree)
    return made is not None and _traits(made) == _traits(code)


def _code_of(tree: Definition) -> CodeType | None:
    """Return the code of a definition that is compiled by itself, without decorators, defaults and annotations."""
    bare = ast.arguments(
        posonlyargs=[ast.arg(arg.arg) for arg in tree.args.posonlyargs],
        args=[ast.arg(arg.arg) for arg in tree.args.args],
        vararg=tree.args.vararg and ast.arg(tree.args.vararg.arg),
        kwonlyargs=[ast.arg(arg.arg) for arg in tree.args.kwonlyargs],
        kw_defaults=[None] * len(tree.args.kwonlyargs),
        kwarg=tree.args.kwarg and ast.arg(tree.args.kwarg.arg),
        defaults=[],
    )
    statement: ast.stmt
    if isinstance(tree, ast.Lambda):
        statement = ast.Expr(ast.Lambda(bare, tree.body))
    else:
        statement = ast.FunctionDef(tree.name, bare, tree.body, [], None, None)
        if hasattr(tree, "type_params"):
            statement.type_params = []  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(statement, tree)], []))
    try:
        # Python has warned of this text when it was imported.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outer = compile(module, "<function>", "exec")
    except (SyntaxError, ValueError):
        return None
    return next((const for const in outer.co_consts if isinstance(const, CodeType)), None)


def _traits(code: CodeType) -> tuple[Any, ...]:
    names = {*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars}
    numbers = {repr(const) for const in code.co_consts if isinstance(const, (int, float))}
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], names, numbers
