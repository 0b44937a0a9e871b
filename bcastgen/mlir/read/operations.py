"""Reads operations and regions: in generic form, and in custom forms by a table that is handed in (:mod:`.forms`).

In: a text, and a function that finds the form of an op.  Out: an :class:`~..ir.Operation`, whose operands are the
values in sight of those names.

    %0 = "tosa.add"(%a, %b) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>   and
    %0 = tosa.add %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>      are the same operation

A name is in sight from its definition to the end of its region, and in regions within, but not inside a function or
module within. It has one definition there, and every use has the definition's type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...core.errors import ParseError
from ..ir import Block, Operation, Source, Type, Value
from .attributes import Attributes
from .draft import Draft
from .lexer import Lexer, shown
from .types import Types

__all__ = ["GENERIC", "Form", "Operations", "Step"]

# The ops whose regions see no value from outside.
_ISOLATED = ("func.func", "builtin.module", "shape.func", "shape.function_library")


GENERIC = "print the module in generic form (mlir-opt --mlir-print-op-generic)"

# Reads one part of a custom form into the draft.
Step: TypeAlias = "Callable[[Operations, Draft], None]"


@dataclass(frozen=True, slots=True)
class Form:
    """A custom form: its steps, and the op's full name where the text may have a short one."""

    steps: tuple[Step, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class _Binding:
    """``%0:2`` in front of an operation: a name, and the number of results that it names."""

    name: str
    count: int | None
    start: int


class Operations:
    """The operations of one text, and the values in sight.

    Attributes
    ----------
    lexer, types, attributes : of the text.
    find_form : an op's name -> its custom form, or None if that is not read.
    unread : the name of an op whose custom form is not read -> what to do instead, for messages.
    dialect : the dialect of op names that have none, "" if every name has its own.
    """

    __slots__ = ("_defined", "_values", "attributes", "dialect", "find_form", "lexer", "types", "unread")

    def __init__(
        self,
        source: Source,
        find_form: Callable[[str], Form | None],
        unread: Callable[[str], str] = lambda name: GENERIC,
    ) -> None:
        self.find_form = find_form
        self.unread = unread
        self.dialect = ""
        self.lexer = Lexer(source)
        self.types = Types(self.lexer)
        self.attributes = Attributes(self.lexer, self.types)
        self._values: dict[str, Value] = {}
        # Names in the order of their definitions; those of a region are dropped where it ends.
        self._defined: list[str] = []

    def parse(self) -> Operation:
        r"""Return the operation at hand.

        Examples
        --------
        >>> source = Source("m.mlir", "%0:2 = \"x.y\"() {n = 1 : i8} : () -> (i1, index)")
        >>> operation = Operations(source, lambda name: None).parse()
        >>> operation.name, [str(value) for value in operation.results], operation.attributes["n"].value
        ('x.y', ['%0#0', '%0#1'], 1)
        """
        lexer = self.lexer
        bindings = self._bindings() if lexer.kind == "value" else ()
        draft = Draft(lexer.text, lexer.start)
        if lexer.kind == "word":
            form = self._form(draft)
            lexer.advance()
            for step in form.steps:
                step(self, draft)
        elif lexer.kind == "string":
            draft.name = self.attributes.string()
            self._generic(draft)
        else:
            raise lexer.unexpected("an operation")
        if lexer.kind == "word" and lexer.text == "loc":
            self.skip_location()
        return self._finished(draft, bindings)

    def _form(self, draft: Draft) -> Form:
        """Return the custom form of the op at hand, and give the draft the op's full name."""
        if self.dialect and "." not in draft.name:
            draft.name = f"{self.dialect}.{draft.name}"
        form = self.find_form(draft.name)
        if form is None:
            text = f"'{draft.name}' has a custom form that is not read here; {self.unread(draft.name)}"
            raise self.lexer.fail(text)
        draft.name = form.name or draft.name
        return form

    def fail(self, message: str, operation: Operation) -> ParseError:
        """Return an error at an operation's name."""
        return ParseError(self.lexer.source.message(operation.location, message))

    def skip_location(self) -> None:
        """Step over ``loc(...)`` if it is there."""
        lexer = self.lexer
        if lexer.take_word("loc"):
            if lexer.kind != "(":
                raise lexer.unexpected("'(' behind 'loc'")
            lexer.balanced()

    def uses(self, draft: Draft, most: int = -1) -> None:
        """Read operands, if any, with commas between; stop after `most` of them, before the next comma."""
        lexer = self.lexer
        operands = draft.operands
        while lexer.kind == "value":
            operands.append((lexer.text, lexer.end))
            lexer.advance()
            if lexer.kind != "," or len(operands) == most:
                return
            lexer.advance()
            if lexer.kind != "value":
                raise lexer.unexpected("an operand such as %0")

    def region(self, isolated: bool = False, arguments: Sequence[tuple[str, int, Type]] | None = None) -> Block:
        """Return the region at hand; its block's arguments are given, or else follow a label.

        Parameters
        ----------
        isolated : whether it sees no value from outside.
        arguments : the name, offset and type of each argument of a function.
        """
        lexer = self.lexer
        lexer.enter()
        outside, mark = self._values, len(self._defined)
        if isolated:
            self._values = {}
        lexer.expect("{")
        if lexer.kind == "label":
            given = self._label()
            if given and arguments:
                raise lexer.fail("the block has its arguments from the function already")
            arguments = given or arguments
        values = tuple(self._define(name, type_, start) for name, start, type_ in arguments or ())
        operations = []
        while lexer.kind != "}":
            if lexer.kind == "label":
                raise lexer.fail("a region of several blocks is not read here; one block has no label to jump to")
            operations.append(self.parse())
        lexer.advance()
        for name in self._defined[mark:]:
            self._values.pop(name, None)
        del self._defined[mark:]
        self._values = outside
        lexer.leave()
        return Block(values, tuple(operations))

    def argument(self) -> tuple[str, int, Type]:
        """Return the block argument at hand: name, offset, type."""
        lexer = self.lexer
        start, name = lexer.start, lexer.expect("value")
        if "#" in name:
            raise lexer.fail(f"an argument's name has no '#', found {shown(name)}", start)
        lexer.expect(":")
        return name, start, self.types.parse()

    def _label(self) -> list[tuple[str, int, Type]]:
        lexer = self.lexer
        lexer.advance()
        found: list[tuple[str, int, Type]] = []
        if lexer.take("("):
            while lexer.kind != ")" or found:
                found.append(self.argument())
                self.skip_location()
                if not lexer.take(","):
                    break
            lexer.expect(")")
        lexer.expect(":")
        return found

    def _bindings(self) -> list[_Binding]:
        lexer = self.lexer
        found = []
        while True:
            start, name = lexer.start, lexer.expect("value")
            if "#" in name:
                raise lexer.fail(f"a result's name has no '#', found {shown(name)}", start)
            count = self._count() if lexer.take(":") else None
            found.append(_Binding(name, count, start))
            if lexer.kind == "=":
                lexer.advance()
                return found
            lexer.expect(",")

    def _count(self) -> int:
        start, text = self.lexer.start, self.lexer.expect("integer")
        if text.startswith("0") or len(text) > len("1000000"):
            raise self.lexer.fail(f"expected a number of results of 1 or more, found {shown(text)}", start)
        return int(text)

    def _generic(self, draft: Draft) -> None:
        lexer = self.lexer
        lexer.expect("(")
        self.uses(draft)
        lexer.expect(")")
        if lexer.kind == "[":
            raise lexer.fail(f"'{draft.name}' has successors, which are not read here; a region has one block")
        if lexer.take("<"):
            draft.attributes = self.attributes.dictionary()
            lexer.expect(">")
        if lexer.take("("):
            draft.regions.append(self.region(draft.name in _ISOLATED))
            while lexer.take(","):
                draft.regions.append(self.region(draft.name in _ISOLATED))
            lexer.expect(")")
        if lexer.kind == "{":
            self.dictionary(draft)
        lexer.expect(":")
        signature = self.types.function()
        draft.operand_types, draft.result_types = list(signature.operands), list(signature.results)

    def dictionary(self, draft: Draft, words: bool = False) -> None:
        """Add the attributes in braces to those that the draft has already."""
        start = self.lexer.start
        found = self.attributes.dictionary(words)
        twice = next((name for name in found if name in draft.attributes), None)
        if twice is not None:
            raise self.lexer.fail(f"'{draft.name}' has the attribute {shown(twice)} twice", start)
        draft.attributes.update(found)

    def _finished(self, draft: Draft, bindings: Sequence[_Binding]) -> Operation:
        uses, types = draft.operands, draft.operand_types
        if len(uses) != len(types):
            raise self.lexer.fail(
                f"'{draft.name}' has {_counted(len(uses), 'operand')}, and {_counted(len(types), 'type')} for them",
                draft.start,
            )
        operands = tuple([self._value(name, end, type_) for (name, end), type_ in zip(uses, types, strict=True)])
        results = self._results(draft, bindings)
        return Operation(
            draft.name, operands, results, draft.attributes, tuple(draft.regions), self.lexer.location(draft.start)
        )

    def _value(self, name: str, end: int, type_: Type) -> Value:
        found = self._values.get(name)
        if found is None:
            found = self._rare(name, end - len(name))
        if found.type is not type_ and found.type != type_:
            raise self.lexer.fail(f"{found} is of type {found.type}, but is used here as {type_}", end - len(name))
        return found

    def _rare(self, name: str, start: int) -> Value:
        # %0#0 is another name of %0 if that is a single result.
        base, _, number = name.partition("#")
        found = self._values.get(base)
        if found is not None and number == "0":
            return found
        if found is not None:
            raise self.lexer.fail(f"{base} has no result number {number[:9]}", start)
        raise self.lexer.fail(f"use of {shown(name)}, which is not defined before", start)

    def _results(self, draft: Draft, bindings: Sequence[_Binding]) -> tuple[Value, ...]:
        """Define the results of an operation under the names before its `=`, and return them."""
        types = draft.result_types
        if len(bindings) == len(types) == 1 and bindings[0].count is None:
            return (self._define(bindings[0].name, types[0], bindings[0].start),)
        named = sum(1 if binding.count is None else binding.count for binding in bindings)
        if bindings and named != len(types):
            raise self.lexer.fail(
                f"'{draft.name}' has {_counted(len(types), 'result')}, and {_counted(named, 'name')} for them",
                bindings[0].start,
            )
        if not bindings:
            return tuple(Value("", type_) for type_ in types)
        results: list[Value] = []
        for binding in bindings:
            if binding.count is None:
                results.append(self._define(binding.name, types[len(results)], binding.start))
                continue
            for number in range(binding.count):
                results.append(self._define(f"{binding.name}#{number}", types[len(results)], binding.start))
            # %0 alone is the first of several results.
            self._define(binding.name, results[-binding.count].type, binding.start)
            self._values[binding.name] = results[-binding.count]
        return tuple(results)

    def _define(self, name: str, type_: Type, start: int) -> Value:
        values = self._values
        if name in values:
            raise self.lexer.fail(f"redefinition of {shown(name)}", start)
        value = values[name] = Value(name[1:], type_)
        self._defined.append(name)
        return value


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
