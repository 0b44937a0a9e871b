"""Lowering of shape programs: operations become lines of C that call csrc/helpers/bcg_shape.h.

In: a program, and names for what it takes and returns.  Out: the lines of a function's body.

    %0 = shape.concat %a, %b : ...  ->  bcg_shape_concat(a, b, &t0);

A scalar is a constant, a shape a variable that one call fills. What only passes a value on (`shape_of`, conversions)
becomes a second name for it. An `assuming` becomes the guard in front of its region, a `reduce` a loop. Results are
written last, so that a call that fails leaves them alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...shape.dialect.ir import Block, Operation, PlainProgram, Value
from ...shape.dialect.ops import find_row
from ..c_text.names import Namer
from .calls import PASSED, c_type, constant, function, literal, messages, refuses, takes_sizes

__all__ = ["BodyPrinter"]

# Ops that C has operators for, which compute with indices and predicates alike.
_OPERATORS = {
    "arith.select": "{} != 0 ? {} : {}",
    "arith.andi": "{} & {}",
    "arith.ori": "{} | {}",
    "arith.xori": "{} ^ {}",
}


class BodyPrinter:
    """Lines of C for a program.

    Parameters
    ----------
    program : verified.
    operands, results : names of the parameters.
    namer : names what is in between.
    compared : the messages of requirements that compare two extents: if one fails, the diagnostic has both extents.
    """

    def __init__(
        self,
        program: PlainProgram,
        operands: Sequence[str],
        results: Sequence[str],
        namer: Namer,
        compared: Collection[str] = (),
    ) -> None:
        self._compared = compared
        self._made = {value: operation for operation in program.body.walk() for value in operation.results}
        self.lines: list[str] = []
        self._indent = "    "
        self._namer = namer
        self._taken: set[str] = set()
        self._variables: list[str] = []
        self._messages = {message: at for at, message in enumerate(messages(program))}
        self._numbers = {id(operation): at for at, operation in enumerate(program.body.walk())}
        self._wanted = _want(program.body, set(program.results))
        # The C of each value; a shape is a pointer.
        self._c: dict[Value, str] = dict(zip(program.operands, operands, strict=True))
        self._checks(program)
        self._operations(program.body)
        for value, name in zip(program.results, results, strict=True):
            if c_type(value.type) == "bcg_shape":
                self._line(f"bcg_shape_copy({self._c[value]}, {name});")
            else:
                self._line(f"*{name} = {self._c[value]};")
        self._line("return BCG_OK;")
        if self._variables:
            self.lines.insert(0, f"    bcg_shape {', '.join(self._variables)};")

    # ---- text

    def _line(self, text: str) -> None:
        self.lines.append(f"{self._indent}{text}")

    def _name(self, value: Value) -> str:
        """Return a new name for a value: `t3` for %3, or the name that its author gave it."""
        if not value.name.isdigit():
            return self._namer.take(value.name)
        name, count = f"t{value.name}", 2
        while name in self._taken:
            name, count = f"t{value.name}_{count}", count + 1
        self._taken.add(name)
        return name

    def _variable(self, name: str) -> str:
        """Declare a shape and return a pointer to it."""
        self._variables.append(name)
        return f"&{name}"

    def _define(self, value: Value, text: str) -> None:
        """Define a scalar."""
        self._c[value] = self._name(value)
        self._constant_line(value, text)

    def _constant_line(self, value: Value, text: str) -> None:
        self._line(f"const {c_type(value.type)} {self._c[value]} = {text};")
        if value not in self._wanted:
            self._line(f"(void){self._c[value]};")

    # ---- operands

    def _checks(self, program: PlainProgram) -> None:
        """Check the parameters, and take the shapes of tensors."""
        checks = [check for index, value in enumerate(program.operands) for check in self._check(value, index)]
        for number, check in enumerate(checks):
            self._line(f"{'if (status == BCG_OK) status' if number else 'bcg_status status'} = {check};")
        if checks:
            self._line("if (status != BCG_OK) return status;")

    def _check(self, value: Value, number: int) -> list[str]:
        """Return the calls that check an operand of any bits; a tensor's shape becomes a variable."""
        name, count = self._c[value], len(self._messages)
        match value.type.kind:
            case "shape" | "value_shape":
                return [f"bcg_check_shape({name}, {number}, {count}, why)"]
            case "size" | "witness":
                return [f"bcg_check_{value.type.kind}({name}, {number}, {count}, why)"]
            case "i1":
                return [f"bcg_check_predicate({name}, {number}, why)"]
            case "extents":
                length = -1 if value.type.length is None else value.type.length
                return [f"bcg_check_extents({name}, {number}, {length}, why)"]
            case "tensor" if value.type.tensor is not None:
                self._c[value] = shape = self._variable(self._namer.take(f"{name}_shape"))
                rank = -1 if value.type.tensor.unranked else len(value.type.tensor.dims)
                extents = [(dim, d.extent) for dim, d in enumerate(value.type.tensor.dims) if d.extent is not None]
                return [
                    f"bcg_check_tensor({name}, {number}, {rank}, {shape}, why)",
                    *(f"bcg_check_extent({shape}, {number}, {dim}, {extent}, why)" for dim, extent in extents),
                ]
        return []

    def _operand(self, value: Value, as_size: bool = True) -> str:
        """Return a value as ops take it: an index becomes a size where the op expects one."""
        text = self._c[value]
        return f"bcg_size_from_index({text})" if value.type.kind == "index" and as_size else text

    # ---- operations

    def _operations(self, block: Block) -> None:
        """Write the operations of a block whose results are wanted, or that may refuse."""
        for operation in block.operations:
            row = find_row(operation.name)
            if row.terminator or not (refuses(operation) or self._wanted.intersection(operation.results)):
                continue
            if operation.name == "shape.assuming":
                self._assuming(operation)
            elif operation.name == "shape.reduce":
                self._reduce(operation)
            elif operation.name == "scf.if":
                self._if(operation)
            elif not operation.operands and row.evaluate is not None:
                self._constant(operation)
            elif operation.name in PASSED:
                self._pass(operation)
            else:
                self._call(operation)

    def _number(self, operation: Operation) -> int:
        return self._numbers[id(operation)]

    def _constant(self, operation: Operation) -> None:
        result = operation.results[0]
        text = constant(operation)
        if c_type(result.type) != "bcg_shape":
            self._define(result, text)
            return
        name = self._name(result)
        self._c[result] = f"&{name}"
        self._line(f"static const bcg_shape {name} = {text};")

    def _pass(self, operation: Operation) -> None:
        operand, result = operation.operands[0], operation.results[0]
        text = self._operand(operand, as_size=operation.name == "shape.index_to_size")
        if operation.name == "shape.debug_print":
            self._line(f"{function(operation)}({text});")
        if operation.name == "shape.index_to_size":
            self._define(result, text)
            return
        self._c[result] = text
        if refuses(operation) and operand.type.kind != "index":
            self._demand(operation, result)

    def _demand(self, operation: Operation, result: Value) -> None:
        """Refuse values that the type of a result cannot express."""
        text, number = self._c[result], self._number(operation)
        if result.type.kind in ("index", "i1"):
            self._line(f"if ({text} < 0) return bcg_size_refuse(why, {number}, {text});")
        if result.type.kind == "extents":
            length = -1 if result.type.length is None else result.type.length
            refusal = f"bcg_shape_refuse(why, {number}, {text}, {length})"
            self._line(f"if (!bcg_shape_is_tensor({text}, {length})) return {refusal};")

    def _call(self, operation: Operation) -> None:
        """Write an operation as a call or an operator; a shape goes to a variable, any other result to a constant."""
        shapes = [result for result in operation.results if c_type(result.type) == "bcg_shape"]
        for result in operation.results:
            self._c[result] = self._variable(self._name(result)) if result in shapes else self._name(result)
        name, arguments = function(operation), self._arguments(operation)
        if shapes and operation.name in _OPERATORS:
            self._line(f"bcg_shape_copy({_OPERATORS[operation.name].format(*arguments)}, {self._c[shapes[0]]});")
        elif shapes:
            self._line(f"{name}({', '.join([*arguments, *(self._c[result] for result in shapes)])});")
        elif operation.name in _OPERATORS:
            self._constant_line(operation.results[0], _OPERATORS[operation.name].format(*arguments))
        elif refuses(operation) and not takes_sizes(operation):
            self._partial(operation, name, arguments)
            return
        else:
            self._constant_line(operation.results[0], f"{name}({', '.join(arguments)})")
        for result in operation.results:
            if refuses(operation):
                self._demand(operation, result)
        if operation.name == "shape.cstr_require" and operation.attribute("msg", "") in self._compared:
            self._require(operation)

    def _require(self, operation: Operation) -> None:
        """Write the refusal of a requirement that compares two extents; its diagnostic has both."""
        asked = self._made[operation.operands[0]]
        while asked.name == "arith.select":  # 1, or what the last operand compares
            asked = self._made[asked.operands[-1]]
        actual, expected = (self._c[value] for value in asked.operands)
        number, witness = self._messages[operation.attribute("msg", "")], self._c[operation.results[0]]
        self._line(f"if ({witness} != 1) return bcg_fail(why, BCG_MAPPED, -1, -1, {number}, {expected}, {actual});")

    def _partial(self, operation: Operation, name: str, arguments: list[str]) -> None:
        """Call a function of indices that may have no result for some operands."""
        result = self._c[operation.results[0]]
        self._line(f"int64_t {result};")
        refusal = f"bcg_size_refuse(why, {self._number(operation)}, BCG_INVALID(0))"
        self._line(f"if (!{name}({', '.join([*arguments, f'&{result}'])})) return {refusal};")

    def _arguments(self, operation: Operation) -> list[str]:
        """Return the arguments of a call before its results: operands, variadic ones in an array, and the message."""
        sizes = takes_sizes(operation)
        operands = [self._operand(value, sizes) for value in operation.operands]
        parameters = find_row(operation.name).parameters
        if parameters and parameters[0].variadic:
            operands = [str(len(operands)), self._array(operation, operands)]
        settings = {setting.name for setting in find_row(operation.name).settings}
        given = (operation.attribute(name, "") for name in ("error", "msg") if name in settings)
        return [*operands, *(str(self._messages[message]) for message in given)]

    def _array(self, operation: Operation, operands: list[str]) -> str:
        if not operands:
            return "NULL"
        c = c_type(operation.operands[0].type)
        element = "const bcg_shape *const" if c == "bcg_shape" else f"const {c}"
        name = self._namer.take(f"{self._c[operation.results[0]].lstrip('&')}_of")
        self._line(f"{element} {name}[] = {{{', '.join(operands)}}};")
        return name

    # ---- regions

    def _assuming(self, operation: Operation) -> None:
        witness, region = self._c[operation.operands[0]], operation.regions[0]
        self._line(f"if ({witness} != 1) return bcg_witness_refuse(why, {self._number(operation)}, {witness});")
        self._operations(region)
        for at in _live(operation, self._wanted):
            self._c[operation.results[at]] = self._c[region.yielded[at]]

    def _if(self, operation: Operation) -> None:
        live = _live(operation, self._wanted)
        for result in (operation.results[at] for at in live):
            name = self._name(result)
            self._c[result] = self._variable(name) if c_type(result.type) == "bcg_shape" else name
            if c_type(result.type) != "bcg_shape":
                self._line(f"{c_type(result.type)} {name};")
        head = f"if ({self._c[operation.operands[0]]} != 0) {{"
        for region in operation.regions:
            self._line(head)
            self._indent += "    "
            self._operations(region)
            for at in live:
                result, new = operation.results[at], self._c[region.yielded[at]]
                to = self._c[result]
                self._line(f"bcg_shape_copy({new}, {to});" if c_type(result.type) == "bcg_shape" else f"{to} = {new};")
            self._indent = self._indent[4:]
            head = "} else {"
        self._line("}")

    def _reduce(self, operation: Operation) -> None:
        """Write a loop over a shape's extents, with a variable for each result that is wanted."""
        shape = self._operand(operation.operands[0])
        member = f"{shape[1:]}." if shape.startswith("&") else f"{shape}->"
        kinds = {result.type.kind for result in operation.results}
        fallible = all(result.type.can_fail for result in operation.results)
        refused = "< 0" if kinds & {"index", "extents", "i1"} else "< BCG_UNKNOWN"
        ranked = operation.operands[0].type.kind == "extents"
        if not fallible and not ranked:
            refusal = f"bcg_size_refuse(why, {self._number(operation)}, {member}rank)"
            self._line(f"if ({member}rank {refused}) return {refusal};")
        live = _live(operation, self._wanted)
        for at in live:
            self._state(operation.results[at], operation.operands[1 + at])
        self._loop(operation, member, live)
        for at in live if not ranked else ():
            self._unranked(operation.results[at], member)

    def _state(self, result: Value, start: Value) -> None:
        """Declare the result of a loop, with its start value."""
        name = self._name(result)
        if c_type(result.type) == "bcg_shape":
            self._c[result] = self._variable(name)
            self._line(f"bcg_shape_copy({self._c[start]}, &{name});")
            return
        self._c[result] = name
        self._line(f"{c_type(result.type)} {name} = {self._c[start]};")

    def _unranked(self, result: Value, member: str) -> None:
        """Write the results for a shape without dims to loop over: unknown, or invalid for the same reason."""
        name = self._c[result].lstrip("&")
        match result.type.kind:
            case "shape" | "value_shape":
                done = f"{name}.rank = {member}rank; /* as unknown or invalid as the shape */"
            case "size":
                done = f"{name} = {member}rank; /* as unknown or invalid as the shape */"
            case "witness":
                done = f"{name} = 0; /* undecided */"
            case "tensor":
                unknown = self._namer.take(f"{name}_type")
                self._line(f"static const bcg_shape {unknown} = {literal(result.type.unknown())};")
                done = f"bcg_shape_copy(&{unknown}, &{name}); /* all that its type says */"
            case _:
                return
        self._line(f"if ({member}rank < 0) {done}")

    def _loop(self, operation: Operation, member: str, live: list[int]) -> None:
        region = operation.regions[0]
        index, extent, *state = region.arguments
        at = self._c[index] = self._name(index)
        self._line(f"for (int64_t {at} = 0; {at} < {member}rank; {at}++) {{")
        self._indent += "    "
        if extent in self._wanted:
            self._define(extent, f"{member}extents[{at}]")
        for place in live:
            self._c[state[place]] = self._c[operation.results[place]]
        self._operations(region)
        self._advance([(operation.results[place], self._c[region.yielded[place]]) for place in live])
        self._indent = self._indent[4:]
        self._line("}")

    def _advance(self, yielded: list[tuple[Value, str]]) -> None:
        """Pass the values that an iteration yields to the next one, all at once."""
        state = {self._c[result] for result, _ in yielded}
        moves = [(result, new) for result, new in yielded if self._c[result] != new]
        if len(moves) > 1 and any(new in state for _, new in moves):
            moves = [(result, self._kept(result, new)) for result, new in moves]
        for result, new in moves:
            to = self._c[result]
            self._line(f"bcg_shape_copy({new}, {to});" if c_type(result.type) == "bcg_shape" else f"{to} = {new};")

    def _kept(self, value: Value, text: str) -> str:
        name = self._namer.take(f"{self._c[value].lstrip('&')}_next")
        if c_type(value.type) == "bcg_shape":
            self._line(f"bcg_shape_copy({text}, {self._variable(name)});")
            return f"&{name}"
        self._line(f"const {c_type(value.type)} {name} = {text};")
        return name


def _live(operation: Operation, wanted: set[Value]) -> list[int]:
    """Return the indices of a region's results that are used: outside, or by a loop's next iteration."""
    # Only a loop's region takes what it yielded in the iteration before: its arguments after the index and the extent.
    state = operation.regions[0].arguments[2:] or operation.results
    pairs = zip(operation.results, state, strict=True)
    return [at for at, (result, next_) in enumerate(pairs) if result in wanted or next_ in wanted]


def _want(block: Block, wanted: set[Value]) -> set[Value]:
    """Add the values from which the wanted ones, and the operations that may fail, are computed."""
    for operation in reversed(block.operations):
        if find_row(operation.name).terminator or not (refuses(operation) or wanted.intersection(operation.results)):
            continue
        known = -1
        while operation.regions and known != len(wanted):
            known = len(wanted)
            for region in operation.regions:
                wanted.update(region.yielded[at] for at in _live(operation, wanted))
                _want(region, wanted)
        if operation.name == "shape.reduce":
            wanted.add(operation.operands[0])
            wanted.update(operation.operands[1 + at] for at in _live(operation, wanted))
        else:
            wanted.update(operation.operands)
    return wanted
