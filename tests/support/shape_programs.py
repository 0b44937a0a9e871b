"""Random shape programs and operands for them, drawn from the table of ops: a new row is drawn as soon as it is there.

`make_program(chance)` draws a program; `make_operands(chance, program)` draws for each of its operands what a run gets
and what compile time knows of it. `chance` is a `random.Random`: one of hypothesis, which shrinks what fails, or a
plain one, which draws twenty times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass

from bcastgen.core.dtypes import F32, I64
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import ElementType, Shape, Size, ValueShape, Witness
from bcastgen.shape.types.dim import MAX_EXTENT
from bcastgen.shape.types.extent_expr import ExtentExpr, add, evaluate, multiply, named, names_of
from bcastgen.shape.types.facts import ANY_EXTENT, Range

TYPES = [
    *["!shape.shape"] * 4,
    *["!shape.size"] * 2,
    *("index", "i1", "!shape.witness", "!shape.value_shape", "!shape.element_type"),
    *("tensor<?xindex>", "tensor<2xindex>", "tensor<0xindex>"),
    *("tensor<?x3xf32>", "tensor<2x1xf32>", "tensor<*xf32>", "tensor<f32>"),
]
PLAIN = [row for row in ROWS.values() if not (row.region or row.terminator)]
REGIONS = [row for row in ROWS.values() if row.region]

TEXTS = ("batch sizes differ", 'a "quoted"\nreason \\', "ü")


def _extent(chance):
    return chance.choice(chance.choice(((1, 2, 3), range(6), (2**31, 2**62))))


def _extents(chance):
    return tuple(_extent(chance) for _ in range(chance.randint(0, 4)))


def _number(chance):
    return chance.choice(chance.choice((range(-3, 5), (2**62, 2**63 - 1, -(2**63)))))


def _flag(chance):
    return chance.choice((False, True))


def _few(chance, pool):
    return tuple(chance.choice(pool) for _ in range(chance.randint(0, 2)))


def _one_in(chance, count):
    return chance.randrange(count) == 0


def _setting(chance, setting):
    if setting.choices:
        return chance.choice(setting.choices)
    if setting.type is tuple:
        return _extents(chance)
    if setting.type is bool:
        return _flag(chance)
    return chance.choice(TEXTS) if setting.type is str else _extent(chance)


@dataclass(frozen=True)
class Choice:
    """The choices that programs are drawn from: rows, and whether only types that cannot be invalid."""

    plain: tuple = tuple(PLAIN)
    regions: tuple = tuple(REGIONS)
    exact: bool = False

    @property
    def constants(self):
        return ("extents", "index", "i1", "witness") + (() if self.exact else ("shape", "size"))


ANYTHING = Choice()


def _operand(chance, choice, parameter, pool, like):
    """A value that a parameter takes; None if there is none and no constant is."""
    fitting = [value for value in pool if not parameter.kinds or value.type.kind in parameter.kinds]
    alike = [value for value in fitting if like is not None and value.type == like]
    fitting += 2 * alike
    constants = [kind for kind in choice.constants if kind in parameter.kinds]
    if fitting and not (constants and _one_in(chance, 5)):
        # Half of the time a late one: programs that compute with what they have just computed.
        reach = min(len(fitting), 3) if _flag(chance) else len(fitting)
        return fitting[-1 - chance.randrange(reach)]
    if not constants:
        return None
    return _constant(chance, chance.choice(constants))


def _constant(chance, kind):
    match kind:
        case "shape":
            return op("const_shape")(_extents(chance))
        case "extents":
            extents = _extents(chance)
            length = chance.choice([len(extents), "?"])
            return op("const_shape")(extents, type=f"tensor<{length}xindex>")
        case "size":
            return op("const_size")(_extent(chance))
        case "index":
            return op("constant")(_number(chance))
        case "i1":
            return op("constant")(_flag(chance))
        case "witness":
            return op("const_witness")(_flag(chance))
    raise AssertionError(kind)


def _operands(chance, choice, row, pool):
    drawn = []
    for parameter in row.parameters:
        count = chance.randint(parameter.least, 3) if parameter.variadic else 1
        for _ in range(count):
            value = _operand(chance, choice, parameter, pool, drawn[-1].type if drawn else None)
            if value is None:
                return None
            drawn.append(value)
    return drawn


def _plain(chance, choice, row, pool):
    """Add an operation to the program, unless what is drawn for it does not fit together."""
    given = _operands(chance, choice, row, pool)
    if given is None:
        return
    settings = {
        setting.name: _setting(chance, setting) for setting in row.settings if setting.required or _flag(chance)
    }
    kinds = [kind for kind in row.results[0] if kind in ("shape", "size") and not choice.exact]
    wanted = f"!shape.{kinds[0]}" if kinds and len(row.results[0]) == 2 and _one_in(chance, 4) else None
    try:
        results = op(row.name)(*given, type=wanted, **settings)
    except BroadcastError:
        return
    pool.extend(results if isinstance(results, tuple) else (results,))


def _region(chance, choice, row, pool, depth):
    given = _operands(chance, choice, row, pool)
    if given is None:
        return
    if row.regions == 2:
        pool.extend(_branches(chance, choice, row, pool, depth, given))
        return
    reduces = row.name == "shape.reduce"

    def body(*arguments):
        inner = [*pool, *arguments]
        _grow(chance, choice, inner, chance.randint(1, 4), depth + 1)
        if not reduces:
            return _few(chance, inner)
        return tuple(
            chance.choice([value for value in [*inner[-6:], state] if value.type == state.type])
            for state in arguments[2:]
        )

    results = op(row.name)(*given, body)
    pool.extend(results if isinstance(results, tuple) else (results,))


def _branches(chance, choice, row, pool, depth, given):
    """Add an op of two regions that yield values of the same types, of which there is one outside at least."""
    types = []

    def first():
        inner = list(pool)
        _grow(chance, choice, inner, chance.randint(0, 3), depth + 1)
        yielded = _few(chance, [value for value in inner if value.type in {outer.type for outer in pool}])
        types.extend(value.type for value in yielded)
        return list(yielded)

    def second():
        inner = list(pool)
        _grow(chance, choice, inner, chance.randint(0, 3), depth + 1)
        return [chance.choice([value for value in inner if value.type == type_][-4:]) for type_ in types]

    results = op(row.name)(*given, first, second)
    return results if isinstance(results, tuple) else (results,)


def _grow(chance, choice, pool, count, depth=0):
    for _ in range(count):
        if choice.regions and depth < 2 and _one_in(chance, 6):
            _region(chance, choice, chance.choice(choice.regions), pool, depth)
        else:
            _plain(chance, choice, chance.choice(choice.plain), pool)


def make_program(chance, types=tuple(TYPES), most=8, choice=ANYTHING):
    """A program over operands of these types, with about so many operations at the outermost level."""
    operands = {f"v{index}": chance.choice(types) for index in range(chance.randint(1, 4))}

    def function(**values):
        pool = list(values.values())
        _grow(chance, choice, pool, chance.randint(1, most))
        return [pool[-1], *_few(chance, pool)]

    return program("random", function, **operands)


def _extents_of(chance, type_):
    """Extents that a tensor's or extent tensor's type admits."""
    known = type_.unknown()
    if known is None or (isinstance(known, Shape) and known.unranked):
        return _extents(chance)
    extents = known if isinstance(known, tuple) else known.extents
    return tuple(_extent(chance) if extent is None else extent for extent in extents)


def _concrete(chance, type_):
    invalid = _one_in(chance, 16)
    match type_.kind:
        case "shape":
            return Shape(error=chance.choice(TEXTS)) if invalid else Shape(_extents(chance))
        case "size":
            return Size(error=chance.choice(TEXTS)) if invalid else Size(_extent(chance))
        case "value_shape":
            return ValueShape(None, Shape(error="lost") if invalid else Shape(_extents(chance)))
        case "witness":
            return Witness(False, chance.choice(TEXTS)) if _flag(chance) else Witness(True)
        case "element_type":
            return ElementType(error="lost") if invalid else ElementType(chance.choice([F32, I64]))
        case "index":
            return _number(chance)
        case "i1":
            return _flag(chance)
        case "extents":
            return _extents_of(chance, type_)
        case "tensor":
            return Shape(_extents_of(chance, type_))
    raise AssertionError(type_)


# Names say what they stand for, so that the same extent may have the same name: x5, y5 and z5 are 5 in every run.
_RANGES = {
    "x": lambda extent: Range(extent // 2, 2 * extent + 1),
    "y": lambda extent: Range(0, MAX_EXTENT // extent * extent, extent) if extent > 1 else Range(extent - extent % 2),
    "z": lambda extent: ANY_EXTENT,
}


def _named(chance, extent):
    """Return an extent in terms of names."""
    letter = chance.choice(tuple(_RANGES))
    range_ = _RANGES[letter](extent)
    if _one_in(chance, 6):
        return named(f"?{letter}{extent}", range_, is_shown=False)
    part = chance.randrange(extent + 1) if extent < 10 else 0
    if part and _flag(chance):
        return add(_named(chance, part), _named(chance, extent - part))
    even = extent % 2 == 0 and extent < 10 and _one_in(chance, 3)
    return multiply(_named(chance, extent // 2), 2) if even else named(f"{letter}{extent}", range_)


def _kept(chance, extent):
    return (extent, None, _named(chance, extent), _named(chance, extent))[chance.randrange(4)]


def _stood_for(extent):
    names = names_of(extent) if isinstance(extent, ExtentExpr) else ()
    return evaluate(extent, {text: int(text.lstrip("?xyz")) for text in names}) if names else extent


def unnamed(value):
    """Return a value in which what is computed from names is not known."""
    return bound(value, lambda extent: None if isinstance(extent, ExtentExpr) else extent)


def bound(value, number=_stood_for):
    """Return a value with the extents that names stand for."""
    match value:
        case Size(value=ExtentExpr()):
            computed = number(value.value)
            # One that no run can have is none: then the run's is invalid.
            return Size(computed) if computed is None or 0 <= computed <= MAX_EXTENT else Size(error="")
        case Shape():
            extents = tuple(map(number, value.extents))
            fit = all(extent is None or 0 <= extent <= MAX_EXTENT for extent in extents)
            return Shape(extents, value.unranked, value.error) if fit else Shape(error="")
        case ValueShape(value=None):
            return ValueShape(None, bound(value.shape, number))
        case tuple():
            return tuple(map(number, value))
        case ExtentExpr():
            return number(value)
    return value


def has_names(value):
    """Whether an extent in a value is computed from names."""
    return bound(value) != value


def _promise(chance, value, type_):
    """Return facts that compile time may know of a value."""
    if getattr(value, "is_invalid", False) or _one_in(chance, 4):
        return value
    if isinstance(value, Size) and _flag(chance):
        return Size(_named(chance, value.value))
    if isinstance(value, ValueShape):
        return ValueShape(None, _promise(chance, value.shape, parse_type("!shape.shape")))
    if isinstance(value, (Shape, tuple)) and not _one_in(chance, 4):
        extents = value.extents if isinstance(value, Shape) else value
        kept = tuple(_kept(chance, extent) for extent in extents)
        return Shape(kept) if isinstance(value, Shape) else kept
    return type_.unknown()


def make_operands(chance, program):
    """Return the arguments of a run of the program, and the facts that compile time knows: two tuples."""
    types = [value.type for value in program.operands]
    concrete = tuple(_concrete(chance, type_) for type_ in types)
    return concrete, tuple(_promise(chance, value, type_) for value, type_ in zip(concrete, types, strict=True))
