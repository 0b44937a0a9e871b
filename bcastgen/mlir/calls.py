"""Calls within a module: which functions a caller sees, and the ops of called functions in place of their calls.

In: a module, and one of its functions.  Out: a function of the same name without ``func.call``.

    %1 = call @twice(%0) : (tensor<?xf32>) -> tensor<?xf32>
        ->  the ops of @twice with %0 for its argument; what the rest uses as %1 is the value that @twice returns

A value's type is the same on both sides of a call, so inlining changes neither what is verified nor what is checked.
Inlined operations keep their places, and know where they were called from. Calls that have no end, or too many
operations, are errors.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import ParseError
from ..core.frozen import replace
from .facts import FACTS
from .ir import Block, Function, FunctionType, Location, Module, Operation, Symbol, Value

__all__ = ["CALL", "MAX_DEPTH", "MAX_OPERATIONS", "choose", "entries", "inlined"]

CALL = "func.call"
# Operations that a function may have after inlining: a few short functions can call each other 2**n times.
MAX_OPERATIONS = 20_000
# Calls within calls.
MAX_DEPTH = 100
_RETURNS = ("func.return", "shape.return")


def entries(module: Module) -> tuple[Function, ...]:
    """Return the functions that users of a module see: all but the private ones that another function calls."""
    called = {
        _name(operation)
        for function in module.functions
        for operation in _walk(function.body)
        if operation.name == CALL and _name(operation) != function.name
    }
    return tuple(
        function
        for function in module.functions
        if function.attributes.get("sym_visibility") != "private" or function.name not in called
    )


def choose(module: Module, name: str | None = None) -> Function:
    """Return the function of this name; by default the only one that users see, or else ``main``.

    Raises
    ------
    ParseError
        If there is none, or several and none is meant.
    """
    if name is not None and not isinstance(name, str):
        raise ParseError(f"{module.source.name}: function={name!r} is no name; give text")
    seen = entries(module)
    names = [function.name for function in (module.functions if name is not None else seen)]
    wanted = name if name is not None or len(names) != 1 else names[0]
    for function in module.functions if name is not None else seen:
        if function.name == ("main" if wanted is None else wanted):
            return function
    there = f"there are {', '.join(f'@{each}' for each in names)}" if names else "the module has none"
    several = "several functions, and none is @main" if names else "no function"
    what = f"no function @{wanted}" if wanted is not None else several
    raise ParseError(f"{module.source.name}: {what}; {there}" + ("; name one" if len(names) > 1 else ""))


def inlined(function: Function, module: Module) -> Function:
    """Return a function with the operations of the functions that it calls in place of its calls.

    Raises
    ------
    ParseError
        If a call names no function of the module, or one without a body, if its types are not the function's, if
        functions call each other in a circle, or if there would be too many operations; the message has the call's
        place.

    Examples
    --------
    >>> from bcastgen.mlir.read.parser import parse_module
    >>> module = parse_module('''
    ...     func.func private @same(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
    ...     func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...       %0 = call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ...       return %0 : tensor<4xf32>
    ...     }''')
    >>> body = inlined(choose(module), module).body
    >>> [operation.name for operation in body.operations], str(body.operations[0].operands[0])
    (['func.return'], '%x')
    """
    if not any(operation.name == CALL for operation in _walk(function.body)):
        return function
    return _Inliner(module).function(function)


class _Inliner:
    """The inlining of one function.

    Attributes
    ----------
    module : that of the function.
    named : its functions by name; libraries may have functions of one name.
    done : bodies without calls of the functions met so far.
    counts : how many operations these bodies have.
    depths : how many calls within calls they had.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.named: dict[str, list[Function]] = {}
        for function in module.functions:
            self.named.setdefault(function.name, []).append(function)
        self.done: dict[Function, Block] = {}
        self.counts: dict[Function, int] = {}
        self.depths: dict[Function, int] = {}

    def function(self, root: Function) -> Function:
        # Called functions first; a list instead of recursion, since chains of calls may be long.
        path: list[tuple[Function, Iterator[Operation]]] = [(root, _calls(root))]
        while path:
            function, calls = path[-1]
            call = next(calls, None)
            if call is None:
                self.done[function] = self._without_calls(function)
                path.pop()
                continue
            callee = self._callee(call)
            circle = [one.name for one, _ in path]
            if any(one is callee for one, _ in path):
                turn = " calls ".join(f"@{name}" for name in (*circle[circle.index(callee.name) :], callee.name))
                raise self._error(call, f"has no end: {turn}; a kernel has no recursion")
            if callee not in self.done:
                path.append((callee, _calls(callee)))
        return replace(root, body=self.done[root])

    def _callee(self, call: Operation) -> Function:
        """Return the function that a call names, which its types fit."""
        name = _name(call)
        found = self.named.get(name, [])
        if len(found) != 1:
            there = ", ".join(f"@{name}" for name in self.named)
            raise self._error(
                call, f"names {'several functions' if found else 'no function'} @{name}; there are {there}"
            )
        (callee,) = found
        written = FunctionType(
            tuple(value.type for value in call.operands), tuple(value.type for value in call.results)
        )
        for what, ours, theirs in (
            ("operands", written.operands, callee.type.operands),
            ("results", written.results, callee.type.results),
        ):
            if len(ours) != len(theirs):
                raise self._error(call, f"has {len(ours)} {what}, expected {len(theirs)} as @{name} says")
            for number, (own, expected) in enumerate(zip(ours, theirs, strict=True)):
                if own != expected:
                    raise self._error(
                        call, f"{what[:-1]} {number} is of type {own}, expected {expected} as @{name} says"
                    )
        if callee.body is None:
            raise self._error(call, f"names @{name}, which has no body; a kernel needs its operations")
        if any(FACTS in said for said in (*callee.argument_attributes, *callee.result_attributes)):
            raise self._error(
                call, f"names @{name}, whose types have {FACTS}, which a call does not check; have them in the caller's"
            )
        end = callee.body.operations[-1] if callee.body.operations else None
        if end is None or end.name not in _RETURNS:
            error = ParseError("does not end in a return; add one")
            raise self.module.source.locate(error, callee.location, f"'func.func' op @{name}")
        if tuple(value.type for value in end.operands) != callee.type.results:
            error = ParseError(f"returns other types than @{name} says: {callee.type}")
            raise self.module.source.locate(error, end.location, f"'{end.name}' op")
        return callee

    def _error(self, call: Operation, text: str) -> ParseError:
        return self.module.source.locate(ParseError(text), call.location, f"'{call.name}' op")

    def _without_calls(self, function: Function) -> Block:
        """Return a function's body without calls; those that it calls have been done."""
        assert function.body is not None  # it is the root, which has calls, or `_callee` returned it
        callees = [self._callee(one) for one in _calls(function)]
        count = sum(one.name != CALL for one in _walk(function.body)) + sum(self.counts[one] for one in callees)
        depth = 1 + max((self.depths[one] for one in callees), default=-1)
        for what, found, most in (("operations", count, MAX_OPERATIONS), ("calls within calls", depth, MAX_DEPTH)):
            if found > most:
                error = ParseError(
                    f"has {found} {what} with those of the functions that it calls, expected at most {most}"
                )
                raise self.module.source.locate(error, function.location, f"'func.func' op @{function.name}")
        self.counts[function], self.depths[function] = count, depth
        return self._block(function.body, {}, None)

    def _block(self, block: Block, values: dict[Value, Value], call: Location | None) -> Block:
        """Return a copy of a block.

        Parameters
        ----------
        values : what stands for values of the text; the copy's own are added.
        call : the place of the call that the copy is made for; None if it keeps its own places and values.
        """
        arguments = block.arguments
        if call is not None:
            arguments = tuple(values.setdefault(value, Value(value.name, value.type)) for value in block.arguments)
        made: list[Operation] = []
        for operation in block.operations:
            operands = tuple(values.get(value, value) for value in operation.operands)
            if operation.name == CALL:
                body = self.done[self._callee(operation)]
                inner = dict(zip(body.arguments, operands, strict=True))
                copied = self._block(Block((), body.operations), inner, operation.location).operations
                made += copied[:-1]
                values.update(zip(operation.results, copied[-1].operands, strict=True))
                continue
            results, location = operation.results, operation.location
            if call is not None:
                results = tuple(values.setdefault(value, Value(value.name, value.type)) for value in results)
                location = _called_from(location, call)
            regions = tuple(self._block(region, values, call) for region in operation.regions)
            made.append(Operation(operation.name, operands, results, operation.attributes, regions, location))
        return Block(arguments, tuple(made))


def _called_from(location: Location, call: Location) -> Location:
    """Return a place in a called function, with the call behind the calls that it knows already."""
    inner = None if location.called_from is None else _called_from(location.called_from, call)
    return replace(location, called_from=inner or call)


def _name(call: Operation) -> str:
    callee = call.attributes.get("callee")
    return callee.name if isinstance(callee, Symbol) else ""


def _calls(function: Function) -> Iterator[Operation]:
    return (operation for operation in _walk(function.body) if operation.name == CALL)


def _walk(block: Block | None) -> Iterator[Operation]:
    for operation in () if block is None else block.operations:
        yield operation
        for region in operation.regions:
            yield from _walk(region)
