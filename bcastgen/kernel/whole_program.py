"""The shape function of a kernel with ops that have their own: these give extents, which the guards then read.

In: the program of the ops' sizes, and that of the kernel's guards.  Out: one program, from a call's operands.

    %0 = shape.concat %a, %b (the op's); %1 = extent 0 of %0, %2 = extent 1  ->  the guards, with %1 and %2 as slots
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..shape.dialect.program import Program
from ..shape.dialect.splice import spliced
from ..shape.dialect.trace import op, program
from .op_sizes import shape_of_values

__all__ = ["whole_program"]


def whole_program(sizes: Program, loops: Program, operands: Sequence[str], slots: Sequence[Sequence[str]]) -> Program:
    """Return the program that a call runs: the ops' shape functions give extents, with which the kernel's guards go on.

    Parameters
    ----------
    sizes : what `size_program` returns.
    loops : the guards, from the extents of a kernel's operands, slots among them, to those of its results.
    operands : the names of the operands that a call gives.
    slots : for each result of `sizes`, the names of the slots that its dims give. Other slots stay operands.
    """
    kinds = {value.name: value.type for value in loops.operands}
    taken = dict(zip(operands, (value.type for value in sizes.operands), strict=True))
    shapes = {name for name, type_ in taken.items() if type_.kind == "shape"}
    computed = {name for names in slots for name in names}

    def body(**values: Any) -> Any:
        made = {name: op("from_extent_tensor")(value) if name in shapes else value for name, value in values.items()}
        found = spliced(sizes, [made[name] for name in operands])
        extents = {
            name: op("from_extents")(op("get_extent")(result, dim))
            for result, names in zip(found, slots, strict=True)
            for dim, name in enumerate(names)
        }
        for name in operands:
            if name not in shapes:
                extents[name] = shape_of_values(values[name])
        every = [
            op("to_extent_tensor")(extents[name], type=str(type_)) if name in extents else values[name]
            for name, type_ in kinds.items()
        ]
        return spliced(loops, every)

    types = {name: str(type_ if name in shapes else taken.get(name, type_)) for name, type_ in kinds.items()}
    return program(loops.name, body, **{name: type_ for name, type_ in types.items() if name not in computed})
