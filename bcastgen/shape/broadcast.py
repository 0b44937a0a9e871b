"""Shape inference: which iteration domain the operands' types span.

In: operand types.  Out: the domain's dims, who set them, and the constraints that types leave undecided.

    a: f32[?, 4], b: f32[5, 1] -> [5, 4] with a.0 in {1, 5}
    a: f32[n, 3], b: f32[2]    -> BroadcastError("operand 'b' dim 0 has extent 2, expected 1 or 3 (from 'a')")

Source: the Broadcastable trait (seed 000), with NumPy's rules for extents of 0 and the sound reading of unranked
operands (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..errors import BcastgenError, BroadcastError, broadcast_mismatch
from .constraints import Constraint, Extents
from .dim import DYNAMIC, Dim
from .tensor_type import TensorType, parse_type
from .undecided import Operand, Symbols, entry_ranks, stretching, undecided

__all__ = ["BroadcastInfo", "Mode", "broadcast", "infer_broadcast", "infer_dim", "operand_names"]

Mode: TypeAlias = Literal["sound", "document"]

_ONE = Dim(1)


@dataclass(frozen=True, slots=True)
class BroadcastInfo:
    """What types alone tell of a broadcast.

    Attributes
    ----------
    dims : the iteration domain, outermost first.
    unranked : True if the domain may have further dims before `dims`.
    setters : for each of `dims`, the operand that set its extent, or None where it is not known.
    constraints : what must hold at run time: ranks first, the rest in operand, then dim order.
    stretching : the dims (operand, own dim) of unknown extent that stretch if it proves to be 1 at run time. An operand
        of unknown rank may stretch its further dims, too, where there is a `StretchesAll` for it.
    operands : names of the operands that were considered.
    symbols : where each symbol occurs first: its name, the operand, the operand's dim.
    mode : the mode it was inferred in.
    """

    dims: tuple[Dim, ...]
    unranked: bool
    setters: tuple[str | None, ...]
    constraints: tuple[Constraint, ...]
    stretching: frozenset[tuple[str, int]]
    operands: tuple[str, ...]
    symbols: tuple[tuple[str, str, int], ...]
    mode: Mode

    def at(self, position: int) -> Dim:
        """Return the domain's dim at a position counted from the end, from 1; past the known ones it is ``?``."""
        return self.dims[-position] if position <= len(self.dims) else DYNAMIC

    def domain_dim(self, position: int) -> int:
        """Return the number of the domain's dim at a position; negative where the domain's rank is not known."""
        return -position if self.unranked else len(self.dims) - position

    def domain(self, extents: Mapping[str, Extents]) -> Extents:
        """Return the domain that actual extents span, legal or not: whether they are is for `constraints` to say.

        Examples
        --------
        >>> info = broadcast([("a", "f32[?, 4]"), ("b", "f32[?]")])
        >>> info.domain({"a": (3, 4), "b": (1,)})
        (3, 4)
        """
        shapes = [extents[name] for name in self.operands]
        rank = max(len(self.dims), *map(len, shapes)) if self.unranked else len(self.dims)
        return tuple(self._extent(shapes, position) for position in range(rank, 0, -1))

    def _extent(self, shapes: list[Extents], position: int) -> int:
        known = self.at(position).extent
        if known is not None:
            return known
        # Never the maximum: (0, 1) spans 0.
        return next((shape[-position] for shape in shapes if position <= len(shape) and shape[-position] != 1), 1)

    def __str__(self) -> str:
        checks = ", ".join(map(str, self.constraints))
        return f"{TensorType(None, self.dims, self.unranked)}{' with ' if checks else ''}{checks}"


def infer_dim(a: Dim, b: Dim) -> Dim:
    """Return the dim that two operands' dims span together (seed 000's InferDim).

    Parameters
    ----------
    a, b : the dims, in either order.

    Raises
    ------
    BroadcastError
        If both extents are known, differ, and neither is 1.

    Examples
    --------
    >>> str(infer_dim(Dim(), Dim(4))), str(infer_dim(Dim("n"), Dim(1))), str(infer_dim(Dim("n"), Dim("m")))
    ('4', 'n', '?')
    >>> str(infer_dim(Dim(0), Dim(1))), str(infer_dim(Dim(0), Dim()))
    ('0', '0')
    """
    if a.is_one or a == b:
        return b
    if b.is_one:
        return a
    clash = _clash(a, b)
    if clash is not None:
        raise broadcast_mismatch("dim1", 0, clash[1], clash[0], "dim0")
    if a.is_static:
        return a
    # Of two unknown extents either may be the 1 that stretches, so neither name is the result's.
    return b if b.is_static else DYNAMIC


def broadcast(
    operands: Sequence[tuple[str, TensorType | str]], mode: Mode = "sound", entry: bool = False
) -> BroadcastInfo:
    """Infer the iteration domain of operands.

    Parameters
    ----------
    operands : name and type of each; errors and constraints use the names.
    mode : ``"sound"``: an operand of unknown rank may stretch every dim and add some. ``"document"``: operands of
        unknown rank are ignored if there are others, as in seed 000; nothing about them is inferred or checked.
    entry : include what a caller could break although types decide it: ranks and known extents.

    Raises
    ------
    BroadcastError
        If no extents at run time could broadcast, or there is no operand.

    Examples
    --------
    >>> str(broadcast([("a", "f32[?, 4]"), ("b", "f32[5, 1]")]))
    '[5, 4] with a.0 in {1, 5}'
    """
    if mode not in get_args(Mode):
        raise BcastgenError(f"mode {mode!r} is unknown; use one of {', '.join(get_args(Mode))}")
    if not operands:
        raise BroadcastError("a broadcast has 0 operands, expected 1 or more; pass the type of at least one")
    considered = _considered([(name, parse_type(type_)) for name, type_ in operands], mode)
    dims, setters = _infer_dims(considered)
    symbols = _first_occurrences(considered)
    return BroadcastInfo(
        dims=dims,
        unranked=any(type_.unranked for _, type_ in considered),
        setters=setters,
        constraints=(*(entry_ranks(considered) if entry else ()), *undecided(considered, dims, symbols, entry)),
        stretching=stretching(considered, dims),
        operands=tuple(name for name, _ in considered),
        symbols=tuple((symbol, name, dim) for symbol, (name, dim) in symbols.items()),
        mode=mode,
    )


def infer_broadcast(*types: TensorType | str, mode: Mode = "sound") -> TensorType:
    """Return the type that operands of these types broadcast to.

    Parameters
    ----------
    types : the operands' types, as :class:`TensorType` or text; errors call them a, b, c, ...
    mode : see :func:`broadcast`.

    Returns
    -------
    TensorType
        Its dtype is the operands' if they share one, else None.

    Raises
    ------
    BroadcastError
        If no extents at run time could broadcast, or there is no operand.
    ParseError
        If a text is no type.

    Examples
    --------
    >>> str(infer_broadcast("f32[?, 1]", "f32[3]")), str(infer_broadcast("f32[4]", "f32[*]"))
    ('f32[?, 3]', 'f32[*, 4]')
    """
    parsed = [parse_type(type_) for type_ in types]
    info = broadcast(list(zip(operand_names(len(parsed)), parsed, strict=True)), mode)
    element = parsed[0].dtype if len({type_.dtype for type_ in parsed}) == 1 else None
    vectors = element is not None and all(type_.container == "vector" for type_ in parsed)
    return TensorType(element, info.dims, info.unranked, "vector" if vectors else "tensor")


def operand_names(count: int) -> tuple[str, ...]:
    """Return names for operands that have none: a, b, ..., z, operand26, ..."""
    return tuple(chr(ord("a") + index) if index < 26 else f"operand{index}" for index in range(count))


def _considered(operands: list[Operand], mode: Mode) -> list[Operand]:
    if mode == "sound":
        return operands
    ranked = [(name, type_) for name, type_ in operands if not type_.unranked]
    return ranked or [(name, TensorType(type_.dtype, (), unranked=True)) for name, type_ in operands]


def _clash(a: Dim, b: Dim) -> tuple[int, int] | None:
    """Return both extents if they can never broadcast, else None."""
    if a.extent is None or b.extent is None or a == b or a.is_one or b.is_one:
        return None
    return a.extent, b.extent


def _infer_dims(operands: Sequence[Operand]) -> tuple[tuple[Dim, ...], tuple[str | None, ...]]:
    """Return the domain's dims, and the operand that set each known one."""
    rank = max(len(type_.dims) for _, type_ in operands)
    dims = [_ONE] * rank
    setters = [""] * rank
    for name, type_ in operands:
        for position, own, dim in type_.aligned:
            seen = dims[-position]
            clash = _clash(seen, dim)
            if clash is not None:
                raise broadcast_mismatch(name, own, clash[1], clash[0], setters[-position])
            dims[-position] = infer_dim(seen, dim)
            if dims[-position] != seen or not setters[-position]:
                setters[-position] = name
    # Past its last known dim, an operand of unknown rank may have any extent.
    known = min((len(type_.dims) for _, type_ in operands if type_.unranked), default=rank)
    inferred = tuple(dim if rank - index <= known else infer_dim(dim, DYNAMIC) for index, dim in enumerate(dims))
    return inferred, tuple(name if dim.is_static else None for name, dim in zip(setters, inferred, strict=True))


def _first_occurrences(operands: Sequence[Operand]) -> Symbols:
    symbols: dict[str, tuple[str, int]] = {}
    for name, type_ in operands:
        for _, own, dim in type_.aligned:
            if dim.symbol is not None:
                symbols.setdefault(dim.symbol, (name, own))
    return symbols
