"""The heads of modules, functions and calls in their custom forms, as steps like those of :mod:`.steps`.

In: the operation being read, the lexer behind ``module`` or ``func.func``.  Out: nothing; the operation is complete.

    func.func private @f(%a: i1 {x.y = 1}) -> i1 attributes {x.z} { ... }
        -> attributes sym_name, sym_visibility, function_type, arg_attrs, x.z; a region with an argument
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import Attribute, Block, FunctionType, Symbol, Type

if TYPE_CHECKING:
    from .draft import Draft
    from .operations import Operations

__all__ = ["call_head", "function_body", "library_body", "module_body"]


def _symbol_name(reader: Operations, draft: Draft) -> None:
    """Read a symbol's name."""
    draft.attributes["sym_name"] = reader.attributes.symbol_name()


def _keyword_attributes(reader: Operations, draft: Draft) -> None:
    """Read ``attributes {...}``, if it is there."""
    if reader.lexer.take_word("attributes"):
        if reader.lexer.kind != "{":
            raise reader.lexer.unexpected("'{' behind 'attributes'")
        reader.dictionary(draft)


def module_body(reader: Operations, draft: Draft) -> None:
    """Read a module from its name on."""
    if reader.lexer.kind == "symbol":
        _symbol_name(reader, draft)
    _keyword_attributes(reader, draft)
    draft.regions.append(reader.region(isolated=True))


def library_body(reader: Operations, draft: Draft) -> None:
    """Read a library of shape functions from its visibility on; in its body names need no dialect."""
    _visibility(reader, draft)
    _symbol_name(reader, draft)
    _keyword_attributes(reader, draft)
    around, reader.dialect = reader.dialect, "shape"
    draft.regions.append(reader.region(isolated=True))
    reader.dialect = around
    if not reader.lexer.take_word("mapping"):
        raise reader.lexer.unexpected("'mapping' behind the functions of a library")
    draft.attributes["mapping"] = reader.attributes.dictionary()


def _visibility(reader: Operations, draft: Draft) -> None:
    lexer = reader.lexer
    if lexer.kind == "word" and lexer.text in ("private", "public", "nested"):
        draft.attributes["sym_visibility"] = lexer.text
        lexer.advance()


def function_body(reader: Operations, draft: Draft) -> None:
    """Read a function from its visibility on."""
    lexer = reader.lexer
    _visibility(reader, draft)
    _symbol_name(reader, draft)
    said: dict[str, list[dict[str, Attribute]]] = {"arg_attrs": [], "res_attrs": []}
    arguments, types = _signature(reader, said["arg_attrs"])
    results = _signature_results(reader, said["res_attrs"]) if lexer.take("->") else []
    draft.attributes["function_type"] = FunctionType(tuple(types), tuple(results))
    # As in the generic form, an attribute is left out if all its dictionaries are empty.
    draft.attributes.update({name: tuple(found) for name, found in said.items() if any(found)})
    _keyword_attributes(reader, draft)
    if lexer.kind != "{":
        draft.regions.append(Block((), ()))
        return
    if len(arguments) != len(types):
        raise lexer.fail("a function with a body has a name for each operand: (%a: i32)")
    draft.regions.append(reader.region(True, arguments))
    if not draft.regions[0].operations:
        raise reader.lexer.fail("the body of a function is not empty; it ends in a return", draft.start)


def call_head(reader: Operations, draft: Draft) -> None:
    """Read ``@f(%a, %b)``."""
    lexer = reader.lexer
    draft.attributes["callee"] = Symbol(reader.attributes.symbol_name())
    lexer.expect("(")
    reader.uses(draft)
    lexer.expect(")")


def _signature(reader: Operations, said: list[dict[str, Attribute]]) -> tuple[list[tuple[str, int, Type]], list[Type]]:
    """Read ``(%a: T {...}, %b: T)``, or only types; the attributes of each are added to what is `said`."""
    lexer = reader.lexer
    arguments: list[tuple[str, int, Type]] = []
    types: list[Type] = []
    lexer.expect("(")
    named = lexer.kind == "value"
    while lexer.kind != ")" or types:
        if named:
            arguments.append(reader.argument())
            types.append(arguments[-1][2])
        else:
            types.append(reader.types.parse())
        said.append(_said(reader))
        if not lexer.take(","):
            break
    lexer.expect(")")
    return arguments, types


def _signature_results(reader: Operations, said: list[dict[str, Attribute]]) -> list[Type]:
    lexer = reader.lexer
    if not lexer.take("("):
        return [reader.types.parse()]
    types: list[Type] = []
    while lexer.kind != ")" or types:
        types.append(reader.types.parse())
        said.append(_said(reader))
        if not lexer.take(","):
            break
    lexer.expect(")")
    return types


def _said(reader: Operations) -> dict[str, Attribute]:
    """Return the attributes of an argument or a result, empty if it has no braces; step over its location."""
    found = reader.attributes.dictionary() if reader.lexer.kind == "{" else {}
    reader.skip_location()
    return found
