"""Random shape programs and operands for them, drawn from the table of ops: a new row is drawn as soon as it is there.

`programs()` draws a program; `operands(program)` draws for each of its operands what a run gets and what compile time
knows of it. Both are composite strategies of hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from bcastgen.dtypes import F32, I64
from bcastgen.errors import BroadcastError
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import ElementType, Shape, Size, ValueShape, Witness

TYPES = [
    *["!shape.shape"] * 4,
    *["!shape.size"] * 2,
    *("index", "i1", "!shape.witness", "!shape.value_shape", "!shape.element_type"),
    *("tensor<?xindex>", "tensor<2xindex>", "tensor<0xindex>"),
    *("tensor<?x3xf32>", "tensor<2x1xf32>", "tensor<*xf32>", "tensor<f32>"),
]
PLAIN = [row for row in ROWS.values() if not (row.region or row.terminator)]
REGIONS = [row for row in ROWS.values() if row.region]

EXTENT = st.one_of(st.sampled_from([1, 2, 3]), st.integers(0, 5), st.sampled_from([2**31, 2**62]))
NUMBER = st.one_of(st.integers(-3, 4), st.sampled_from([2**62, 2**63 - 1, -(2**63)]))
EXTENTS = st.lists(EXTENT, max_size=4).map(tuple)
TEXT = st.sampled_from(["batch sizes differ", 'a "quoted"\nreason \\', "ü"])


def _setting(draw, setting):
    if setting.choices:
        return draw(st.sampled_from(setting.choices))
    if setting.type is tuple:
        return draw(EXTENTS)
    if setting.type is bool:
        return draw(st.booleans())
    return draw(TEXT if setting.type is str else EXTENT)


@dataclass(frozen=True)
class Choice:
    """What programs are drawn from: rows, and whether only types that cannot be invalid are."""

    plain: tuple = tuple(PLAIN)
    regions: tuple = tuple(REGIONS)
    exact: bool = False

    @property
    def constants(self):
        return ("extents", "index", "i1", "witness") + (() if self.exact else ("shape", "size"))


ANYTHING = Choice()


def _operand(draw, choice, parameter, pool, like):
    """A value that a parameter takes; None if there is none and no constant is."""
    fitting = [value for value in pool if not parameter.kinds or value.type.kind in parameter.kinds]
    alike = [value for value in fitting if like is not None and value.type == like]
    fitting += 2 * alike
    constants = [kind for kind in choice.constants if kind in parameter.kinds]
    if fitting and (not constants or draw(st.integers(0, 4))):
        # Half of the time a late one: programs that compute with what they have just computed.
        reach = min(len(fitting), 3) if draw(st.booleans()) else len(fitting)
        return fitting[-1 - draw(st.integers(0, reach - 1))]
    if not constants:
        return None
    return _constant(draw, draw(st.sampled_from(constants)))


def _constant(draw, kind):
    match kind:
        case "shape":
            return op("const_shape")(draw(EXTENTS))
        case "extents":
            extents = draw(EXTENTS)
            length = draw(st.sampled_from([len(extents), "?"]))
            return op("const_shape")(extents, type=f"tensor<{length}xindex>")
        case "size":
            return op("const_size")(draw(EXTENT))
        case "index":
            return op("constant")(draw(NUMBER))
        case "i1":
            return op("constant")(draw(st.booleans()))
        case "witness":
            return op("const_witness")(draw(st.booleans()))
    raise AssertionError(kind)


def _operands(draw, choice, row, pool):
    drawn = []
    for parameter in row.parameters:
        count = draw(st.integers(parameter.least, 3)) if parameter.variadic else 1
        for _ in range(count):
            value = _operand(draw, choice, parameter, pool, drawn[-1].type if drawn else None)
            if value is None:
                return None
            drawn.append(value)
    return drawn


def _plain(draw, choice, row, pool):
    """Add an operation to the program, unless what is drawn for it does not fit together."""
    given = _operands(draw, choice, row, pool)
    if given is None:
        return
    settings = {
        setting.name: _setting(draw, setting) for setting in row.settings if setting.required or draw(st.booleans())
    }
    kinds = [kind for kind in row.results[0] if kind in ("shape", "size") and not choice.exact]
    wanted = f"!shape.{kinds[0]}" if kinds and len(row.results[0]) == 2 and not draw(st.integers(0, 3)) else None
    try:
        results = op(row.name)(*given, type=wanted, **settings)
    except BroadcastError:
        return
    pool.extend(results if isinstance(results, tuple) else (results,))


def _region(draw, choice, row, pool, depth):
    given = _operands(draw, choice, row, pool)
    if given is None:
        return
    reduces = row.name == "shape.reduce"

    def body(*arguments):
        inner = [*pool, *arguments]
        _grow(draw, choice, inner, draw(st.integers(1, 4)), depth + 1)
        if not reduces:
            return tuple(draw(st.lists(st.sampled_from(inner), max_size=2)))
        return tuple(
            draw(st.sampled_from([value for value in [*inner[-6:], state] if value.type == state.type]))
            for state in arguments[2:]
        )

    results = op(row.name)(*given, body)
    pool.extend(results if isinstance(results, tuple) else (results,))


def _grow(draw, choice, pool, count, depth=0):
    for _ in range(count):
        if choice.regions and depth < 2 and not draw(st.integers(0, 5)):
            _region(draw, choice, draw(st.sampled_from(choice.regions)), pool, depth)
        else:
            _plain(draw, choice, draw(st.sampled_from(choice.plain)), pool)


@st.composite
def programs(draw, types=tuple(TYPES), most=8, choice=ANYTHING):
    """A program over operands of these types, with about so many operations at the outermost level."""
    drawn = draw(st.lists(st.sampled_from(types), min_size=1, max_size=4))
    operands = {f"v{index}": type_ for index, type_ in enumerate(drawn)}

    def function(**values):
        pool = list(values.values())
        _grow(draw, choice, pool, draw(st.integers(1, most)))
        return [pool[-1], *draw(st.lists(st.sampled_from(pool), max_size=2))]

    return program("random", function, **operands)


def _extents_of(draw, type_):
    """Extents that a tensor's or extent tensor's type admits."""
    known = type_.unknown()
    if known is None or (isinstance(known, Shape) and known.unranked):
        return draw(EXTENTS)
    extents = known if isinstance(known, tuple) else known.extents
    return tuple(draw(EXTENT) if extent is None else extent for extent in extents)


def _concrete(draw, type_):
    invalid = not draw(st.integers(0, 15))
    match type_.kind:
        case "shape":
            return Shape(error=draw(TEXT)) if invalid else Shape(draw(EXTENTS))
        case "size":
            return Size(error=draw(TEXT)) if invalid else Size(draw(EXTENT))
        case "value_shape":
            return ValueShape(None, Shape(error="lost") if invalid else Shape(draw(EXTENTS)))
        case "witness":
            return Witness(False, draw(TEXT)) if draw(st.booleans()) else Witness(True)
        case "element_type":
            return ElementType(error="lost") if invalid else ElementType(draw(st.sampled_from([F32, I64])))
        case "index":
            return draw(NUMBER)
        case "i1":
            return draw(st.booleans())
        case "extents":
            return _extents_of(draw, type_)
        case "tensor":
            return Shape(_extents_of(draw, type_))
    raise AssertionError(type_)


def _promise(draw, value, type_):
    """What compile time may know of a value."""
    if getattr(value, "is_invalid", False) or not draw(st.integers(0, 3)):
        return value
    if isinstance(value, ValueShape):
        return ValueShape(None, _promise(draw, value.shape, parse_type("!shape.shape")))
    if isinstance(value, (Shape, tuple)) and draw(st.integers(0, 3)):
        extents = value.extents if isinstance(value, Shape) else value
        kept = tuple(extent if draw(st.booleans()) else None for extent in extents)
        return Shape(kept) if isinstance(value, Shape) else kept
    return type_.unknown()


@st.composite
def operands(draw, program):
    """What a run of the program gets, and what compile time knows of it: two tuples."""
    types = [value.type for value in program.operands]
    concrete = tuple(_concrete(draw, type_) for type_ in types)
    return concrete, tuple(_promise(draw, value, type_) for value, type_ in zip(concrete, types, strict=True))
