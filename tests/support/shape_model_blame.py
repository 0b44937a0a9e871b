"""Which operand or result, and which dim of it, an error has to name: the order of checks, written apart from the code.

In: a kernel of the shape model, and the extents of a call.  Out: the places that an error may name; mostly one.

The order (docs/architecture.md, semantics): results that share a domain are looked at together. First come the ranks of
the operands, in order; then their dims, in operand, then dim order: what the type declares of a dim (a name is bound
where it occurs first, and its bounds hold there), then how the dim meets the others; then what results declare. So an
error names

1. the first operand of another rank;
2. else the first dim of which a declaration does not hold, unless dims before it do not meet: then one of those that do
   not. Where a type knows an extent, dims before it that meet it are held to that;
3. else one of the dims that do not meet: the later one, or an earlier one where types tell what is expected there;
4. else the first dim of a result of which a declaration does not hold.

What the other constraints imply is not asked. So where a declaration does not hold, another fault of dims that names
and meetings tie to it may be named in its place. Of results that share no domain each may be looked at first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shape_model import Refusal, check_results, indexed, infer_names, order_of, run, stiffness
from shape_model_kernel import Apply, Const, Dim, NewAxes, Read, Spread, Transpose, children

# An operand's number and its dim.
OperandDim = tuple[int, int]


@dataclass(frozen=True)
class Seen:
    """A dim of a value: its extent, how it stretches, and the operands' dims that lie in it."""

    extent: int
    stiff: str
    places: frozenset[OperandDim]


def blame(kernel, arrays, extents=None):
    """Return the (array, dim) pairs that an error may name; a dim of None is a rank. None: there is nothing to say."""
    ranks = [
        (operand.name, None)
        for operand, array in zip(kernel.operands, arrays, strict=True)
        if not operand.type.admits_rank(array.ndim)
    ]
    is_one = len(kernel.results) == 1 and not _meets_inside(kernel)
    if ranks:
        # A name that the caller has to give, and does not, is told before anything is looked at.
        is_given = set(kernel.slots) <= set(extents or {})
        return {ranks[0]} if is_one and is_given else None
    faults = _Faults(kernel, arrays, extents)
    if faults.undecided:
        return None
    declared, unmet = faults.declared, faults.not_met
    if not declared and not unmet:
        return _of_results(kernel, arrays, extents, is_one)
    early = {place for place in unmet if declared and place < declared[0]}
    for fault in filter(faults.is_known, declared):
        early |= {place for place in faults.ties if place < fault and faults.ties[place] == faults.ties[fault]}
    if not is_one:
        return None if kernel.declared else faults.named({*declared, *unmet, *early})
    if not declared:
        return faults.named(unmet)
    found = set(early)
    for fault in declared:
        tied = {place for place in {*declared, *unmet} if faults.ties[place] == faults.ties[fault]}
        found |= tied
        if tied == {fault}:
            break  # Nothing that is wrong implies it, so that it is asked.
        # Asked in its place is one that comes later, behind dims that do not meet.
        found |= {place for place in unmet if place < max(tied)}
    return faults.named(found)


def _meets_inside(kernel):
    """Whether values that may be held to each other meet in one that is then broadcast explicitly."""

    def inside(node):
        return (isinstance(node, Spread) and not isinstance(node.value, (Read, Const))) or any(
            map(inside, children(node))
        )

    return (kernel.strict or not kernel.stretch) and any(map(inside, kernel.results))


def _of_results(kernel, arrays, extents, is_one):
    names = dict(extents or {})
    for operand, array in zip(kernel.operands, arrays, strict=True):
        for at, extent in enumerate(array.shape):
            dim = operand.type.dim(array.ndim, at)
            if dim.name:
                names.setdefault(dim.name, extent)
    try:
        infer_names(kernel, dict(zip((operand.name for operand in kernel.operands), arrays, strict=True)), names)
        results = run(replace(kernel, declared=None), arrays, names)
        check_results(kernel, results, names)
    except Refusal as refusal:
        return {(refusal.array, refusal.dim)} if is_one and refusal.array else None
    return None


class _Faults:
    """Everything that does not hold of a call whose ranks are right.

    Attributes
    ----------
    declared : the places of which a declaration does not hold, in order.
    unmet : the places that lie in dims which do not meet.
    bearers : (name, extent) -> the places that bear it and have this extent: what is said of one holds of all.
    columns : place -> what stands for all that it meets.
    ties : the same for all that names and meetings tie to it.
    undecided : whether something is wrong that is no dim's.
    """

    def __init__(self, kernel, arrays, extents):
        self.kernel, self.arrays = kernel, dict(zip((op.name for op in kernel.operands), arrays, strict=True))
        self.numbers = {operand.name: at for at, operand in enumerate(kernel.operands)}
        self.said = [dim for operand in kernel.operands for dim in operand.type.dims]
        self.names = dict(extents or {})
        self.homes: dict[str, OperandDim] = {}
        self.bearers: dict[tuple[str, int], set[OperandDim]] = {}
        self.declared: list[OperandDim] = []
        self.unmet: set[OperandDim] = set()
        self.is_placeless = False  # an extent of the caller's meets another one, or a number, that is not its own
        self.columns: dict[OperandDim, OperandDim] = {}
        self.ties: dict[OperandDim, OperandDim] = {}
        self._declarations()
        try:
            infer_names(kernel, self.arrays, self.names)
            for result in kernel.results:
                self.dims(result)
            self.undecided = bool(kernel.slots and (self.unmet or self.is_placeless))
        except Refusal:
            self.undecided = True  # Ranks that do not fit, names that nobody gives.

    def named(self, places):
        """What an error may name for any of some places: also one that bears the same name, with the same extent."""
        alike = [bearers for bearers in self.bearers.values() if bearers & set(places)]
        return {(self.kernel.operands[at].name, dim) for at, dim in set(places).union(*alike)}

    def dim(self, place):
        operand = self.kernel.operands[place[0]]
        return operand.type.dim(self.arrays[operand.name].ndim, place[1])

    def is_known(self, place):
        """Whether types tell one extent of a dim."""
        dim = self.dim(place)
        return not dim.computed and (dim.extent is not None or sum(map(dim.admits, range(64))) == 1)

    def _declarations(self):
        bound = dict(self.names)
        for at, operand in enumerate(self.kernel.operands):
            for own, extent in enumerate(self.arrays[operand.name].shape):
                if self.dim((at, own)).name:
                    bound.setdefault(self.dim((at, own)).name, extent)
        for at, operand in enumerate(self.kernel.operands):
            for own, extent in enumerate(self.arrays[operand.name].shape):
                dim, place = self.dim((at, own)), (at, own)
                self.columns[place] = self.ties[place] = place
                name = dim.computed or dim.name
                if name:
                    self.bearers.setdefault((name, extent), set()).add(place)
                if name and name in self.homes:
                    self.ties = _joined(self.ties, {place, self.homes[name]})
                    holds = extent == self.names[name]
                elif dim.computed:
                    holds = dim.computed_names <= set(bound) and extent == dim.value(bound)
                    self.homes[name], self.names[name] = place, extent
                else:
                    alike = [dim, *(other for other in self.said if dim.name and other.name == dim.name)]
                    holds = all(other.admits(extent) for other in alike)
                    if dim.name:
                        self.homes[dim.name], self.names[dim.name] = place, extent
                if not holds:
                    self.declared.append(place)

    def _meet(self, places):
        self.columns, self.ties = _joined(self.columns, places), _joined(self.ties, places)

    @property
    def not_met(self):
        """What lies in a dim where something does not meet: types may tell of any of it what is expected there."""
        roots = {self.columns[place] for place in self.unmet}
        return {place for place, root in self.columns.items() if root in roots}

    def dims(self, node):
        """The dims of a value; where they do not meet, the extent is the first one's that is not 1."""
        match node:
            case Const():
                return ()
            case Read(name):
                at = self.numbers[name]
                return tuple(self._read((at, own), extent) for own, extent in enumerate(self.arrays[name].shape))
            case Apply(_, values):
                return self._met([self.dims(value) for value in values])
            case Transpose(value, axes):
                dims = self.dims(value)
                return tuple(dims[at] for at in order_of(axes, len(dims)))
            case NewAxes(value, items):
                return tuple(indexed(self.dims(value), items, Seen(1, "", frozenset())))
        return self._spread(self.dims(node.value), node.target, node.dims)

    def _read(self, place, extent):
        # Types do not let what is declared not to be 1 stretch, whatever it is in this call.
        dim = self.dim(place)
        is_one = all(one.may_be_one for one in (dim, *self.said) if one is dim or (dim.name and one.name == dim.name))
        return Seen(extent, stiffness(self.kernel, dim) or ("" if is_one else "met"), frozenset({place}))

    def _met(self, values):
        rank = max(map(len, values), default=0)
        if not self.kernel.rank_expansion and len({len(dims) for dims in values} - {0}) > 1:
            raise Refusal("ranks differ")
        made = []
        for at in range(-rank, 0):
            here = [dims[at] for dims in values if len(dims) >= -at]
            extent = next((one.extent for one in here if one.extent != 1), 1)
            places = frozenset().union(*(one.places for one in here))
            self._meet(places)
            if any(one.extent != extent and (one.extent != 1 or one.stiff) for one in here):
                self.unmet |= places
                self.is_placeless |= not places
            made.append(Seen(extent, max((one.stiff for one in here), key=("", "met", "!").index), places))
        return tuple(made)

    def _spread(self, dims, target, where):
        is_read = isinstance(target, Read)
        wanted = list(self.dims(target)) if is_read else [self._wanted(item) for item in target]
        where = tuple(range(len(wanted) - len(dims), len(wanted))) if where is None else where
        if len(where) != len(dims) or any(not 0 <= at < len(wanted) for at in where):
            raise Refusal("ranks do not fit")
        for one, at in zip(dims, where, strict=True):
            aim = wanted[at]
            if aim is None:
                wanted[at] = one
                continue
            places = one.places | aim.places
            self._meet(places)
            if one.extent != aim.extent and (one.extent != 1 or one.stiff == "!"):
                self.unmet |= places
                self.is_placeless |= not places
            wanted[at] = Seen(aim.extent, "!" if one.stiff == "!" else aim.stiff, places)
        return tuple(wanted)

    def _wanted(self, item):
        if item is None:
            return None
        stiff = stiffness(self.kernel, Dim(item if isinstance(item, int) else None))
        home = self.homes.get(item)
        extent = self.names[item] if isinstance(item, str) else item
        return Seen(extent, stiff, frozenset({home} if home else ()))


def _joined(parts, places):
    """Parts, place -> what stands for it, of which those of some places are one."""
    roots = {parts[place] for place in places}
    return {place: min(roots) if root in roots else root for place, root in parts.items()}
