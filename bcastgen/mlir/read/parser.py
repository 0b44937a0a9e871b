"""MLIR's text read into a module.

In: a text in MLIR's generic form, or in the custom forms of :mod:`.forms`.  Out: a :class:`~..ir.Module`.

    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
        -> Module of Function("f", (tensor<4xf32>) -> tensor<4xf32>, Block of one operation, "func.return")

Only the text itself is verified: names, and the types of their uses. Locations, metadata and operations beside
functions are read and dropped.
"""

from __future__ import annotations

from ..ir import Attribute, Function, FunctionType, Module, Operation, Source
from .forms import find_form, unread
from .lexer import shown
from .operations import Operations

__all__ = ["parse_module"]

# The attributes for which a Function has fields.
_SIGNATURE = ("sym_name", "function_type", "arg_attrs", "res_attrs")
# The ops that hold functions, and those that are functions.
_HOLDERS = ("builtin.module", "shape.function_library")
_FUNCTIONS = ("func.func", "shape.func")


def parse_module(text: str, name: str = "<mlir>") -> Module:
    """Return the functions of a text, in order, whether or not modules surround them.

    Parameters
    ----------
    text : the text.
    name : the name of the text in messages.

    Raises
    ------
    ParseError
        If the text is no module, or has something that is not read here; the message has the place.

    Examples
    --------
    >>> module = parse_module("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }")
    >>> function = module.functions[0]
    >>> function.name, str(function.type), [operation.name for operation in function.body.operations]
    ('f', '(tensor<4xf32>) -> tensor<4xf32>', ['func.return'])
    """
    source = Source(name, text)
    reader = Operations(source, find_form, unread)
    functions: dict[tuple[str, str], Function] = {}
    while reader.lexer.kind != "end":
        match reader.lexer.kind:
            case "hash":
                _alias(reader)
            case "bang":
                reader.types.alias()
            case "{-#":
                _skip_metadata(reader)
            case _:
                _collect(reader, functions, reader.parse())
    return Module(source, tuple(functions.values()))


def _alias(reader: Operations) -> None:
    # Locations have names, too: #loc1 = loc("f.py":3:1).
    reader.attributes.alias()


def _skip_metadata(reader: Operations) -> None:
    lexer = reader.lexer
    end = lexer.source.text.find("#-}", lexer.end)
    if end < 0:
        raise lexer.fail("expected '#-}' for the '{-#' here")
    lexer.jump(end + len("#-}"))


def _collect(
    reader: Operations, functions: dict[tuple[str, str], Function], operation: Operation, library: str = ""
) -> None:
    """Add the function that an operation is, or those it holds, by library and name: a library has its own names."""
    if operation.name in _HOLDERS:
        own = operation.attributes.get("sym_name", "") if operation.name != "builtin.module" else library
        for region in operation.regions:
            for inner in region.operations:
                _collect(reader, functions, inner, str(own))
    elif operation.name in _FUNCTIONS:
        function = _function(reader, operation)
        if (library, function.name) in functions:
            raise reader.fail(f"redefinition of the function {shown('@' + function.name)}", operation)
        functions[library, function.name] = function


def _function(reader: Operations, operation: Operation) -> Function:
    found = operation.attributes
    name, type_ = found.get("sym_name"), found.get("function_type")
    if not isinstance(name, str):
        raise reader.fail(f"'{operation.name}' has no attribute sym_name, a string", operation)
    if not isinstance(type_, FunctionType):
        raise reader.fail(f"'{operation.name}' has no attribute function_type, a type such as (i1) -> i1", operation)
    if len(operation.regions) != 1:
        raise reader.fail(f"'{operation.name}' has {len(operation.regions)} regions, expected 1", operation)
    body = operation.regions[0]
    others = {key: value for key, value in found.items() if key not in _SIGNATURE}
    arguments, results = (
        _attributes_of(reader, operation, key, len(types))
        for key, types in (("arg_attrs", type_.operands), ("res_attrs", type_.results))
    )
    if not body.arguments and not body.operations:
        return Function(name, type_, None, others, operation.location, arguments, results)
    if tuple(argument.type for argument in body.arguments) != type_.operands:
        raise reader.fail(f"the body of '@{name}' has other arguments than its function_type", operation)
    return Function(name, type_, body, others, operation.location, arguments, results)


def _attributes_of(reader: Operations, operation: Operation, key: str, count: int) -> tuple[dict[str, Attribute], ...]:
    """Return the attributes of a function's arguments or results: one dictionary for each, or none at all."""
    found = operation.attributes.get(key, ())
    if not isinstance(found, tuple) or not all(isinstance(one, dict) for one in found):
        raise reader.fail(f"'func.func' has an attribute {key} that is no array of dictionaries", operation)
    if found and len(found) != count:
        raise reader.fail(f"'func.func' has {len(found)} dictionaries in {key}, expected {count}", operation)
    return found
