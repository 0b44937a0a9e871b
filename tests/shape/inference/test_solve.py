"""Facts, rules, permuted and explicit broadcasts: every small combination against the semantics in conftest.py.

For each combination of uses, all calls with small extents are enumerated, and what `broadcast` says is compared with
what each call is: what is checked holds for exactly the calls that are legal, each check is needed, what is proved is
true, what is refused has no legal call, and the inferred dims are true.

The file is long because its semantics, its combinations and its budgets are asked of one enumeration.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcastgen.core.errors import BroadcastError
from bcastgen.core.operand_names import operand_names
from bcastgen.shape.constraints import Constraint, RankAtLeast, RankIs, SameRank
from bcastgen.shape.inference import entailment
from bcastgen.shape.inference.broadcast import BroadcastInfo, broadcast
from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.inference.solve import solve
from bcastgen.shape.inference.stretch_rules import Rules
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import TensorType, parse_type
from long_runs import many

Extents = tuple[int, ...]
Call = Mapping[str, Extents]
NUMPY = Rules()
SMALL = (0, 1, 2, 3, 4)


def infer(uses: Sequence[Use], rules: Rules, entry: bool = True) -> BroadcastInfo | None:
    try:
        return broadcast(uses, entry=entry, rules=rules)
    except BroadcastError:
        return None


def domains(info: BroadcastInfo, call: Call) -> Iterable[Extents]:
    """Return each domain that the other operands of a call could be said to span, whichever comes first."""
    options = []
    for position in range(len(info.dims), 0, -1):
        if info.at(position).is_static or info.places[-position] is not None:
            options.append({info.domain(call)[-position]})
            continue
        reversed_ = [BroadcastInfo._extent_of(info, use, call, position) for use in info.uses]
        options.append({extent for extent in reversed_ if extent != 1} or {1})
    return itertools.product(*options)


def compare(
    semantics: Any, uses: Sequence[Use], rules: Rules = NUMPY, extents: Sequence[int] = SMALL
) -> BroadcastInfo | None:
    info = infer(uses, rules)
    every = semantics.calls(uses, extents)
    legal = {tuple(call.values()): semantics.accepts(uses, call, rules) for call in every}
    if info is None:
        assert not any(domain is not None for domain in legal.values()), (uses, rules)
        return None
    checked = [constraint for constraint in info.constraints if not isinstance(constraint, (RankIs, SameRank))]
    proved = [decision.constraint for decision in info.decisions if decision.fate == "proved"]
    needed: set[Constraint] = set()
    stretched = set()
    for call in every:
        domain, expected = info.domain(call), legal[tuple(call.values())]
        holds = all(constraint.holds(call, domain) for constraint in checked)
        assert holds == (expected is not None), (uses, rules, call, str(info))
        if expected is not None:
            assert domain == expected, (uses, rules, call, str(info))
            assert all(semantics.fits_facts(dim, extent) for dim, extent in zip(info.dims, expected, strict=True)), (
                uses,
                call,
            )
            assert all(constraint.holds(call, domain) for constraint in proved), (uses, rules, call, str(info))
            stretched |= {
                (use.name, own, position)
                for use in uses
                for position, own, dim in use.aligned
                if not use.is_target_shape and not dim.is_static and call[use.name][own] == 1 != expected[-position]
            }
            continue
        for some in domains(info, call):
            broken = [constraint for constraint in checked if not constraint.holds(call, some)]
            if len(broken) == 1:
                needed.add(broken[0])
    compare_of_types(semantics, uses, rules, [(call, legal[tuple(call.values())] is not None) for call in every])
    assert any(domain is not None for domain in legal.values()), (
        f"{uses} {rules} has no legal call, which was not noticed"
    )
    assert needed == set(checked), (uses, rules, [str(one) for one in set(checked) - needed])
    assert stretched == info.stretching_at, (uses, rules, info.stretching_at, stretched)
    assert tuple(d.constraint for d in info.decisions if d.fate == "checked") == info.constraints
    return info


def compare_of_types(semantics: Any, uses: Sequence[Use], rules: Rules, verdicts: Sequence[tuple[Call, bool]]) -> None:
    """Compare what is left to check of arrays that are certainly of their types."""
    info = broadcast(uses, rules=rules)
    real = [use for use in uses if not use.is_target_shape]
    ranges = {dim.symbol: [] for use in real for dim in use.type.dims if dim.symbol is not None}
    for dim in (dim for use in real for dim in use.type.dims if dim.symbol is not None):
        ranges[dim.symbol].append(dim)
    for call, legal in verdicts:
        if all(
            semantics.fits_facts(one, extent)
            for use in real
            for dim, extent in zip(use.type.dims, call[use.name], strict=True)
            for one in ranges.get(dim.symbol, [dim])
        ):
            holds = all(constraint.holds(call, info.domain(call)) for constraint in info.constraints)
            assert holds == legal, (uses, rules, call, str(info))


def uses_of(*rows: str | tuple[Dim, ...]) -> list[Use]:
    types = [parse_type(row) if isinstance(row, str) else TensorType(None, row) for row in rows]
    return [Use(name, type_) for name, type_ in zip(operand_names(len(rows)), types, strict=True)]


def dims(*texts: str) -> list[Dim]:
    return [parse_type(f"[{text}]").dims[0] for text in texts]


ALL = dims(
    "?", "1", "3", "n", "m", "?>=2", "?<=1", "?<=3", "?%2", "n>=2", "n<=2", "m%2", "?!", "n!", "1!", "bcast", "m>=2!"
)
FEW = dims("?", "1", "3", "n", "n>=2", "m%2", "?<=2", "n!", "?!", "bcast")


@pytest.mark.parametrize("rules", [Rules(), Rules(stretch=False), Rules(dynamic="strict")], ids=str)
def test_every_pair_of_dims(semantics: Any, rules: Rules) -> None:
    for a, b in itertools.product(ALL, repeat=2):
        compare(semantics, uses_of((a,), (b,)), rules)


def test_every_triple_of_dims(semantics: Any) -> None:
    for row in itertools.combinations_with_replacement(FEW, 3):
        compare(semantics, uses_of(*((dim,) for dim in row)))


def test_every_single_operand_of_two_dims(semantics: Any) -> None:
    for row in itertools.product(ALL, repeat=2):
        compare(semantics, uses_of(row))


def test_permuted_uses(semantics: Any) -> None:
    """`a[i][j]` meets `a[j][i]`, or `b[i][j]`, or both."""
    some = dims("?", "3", "n", "n>=2", "?%2", "n!", "m")
    for row in itertools.product(some, repeat=2):
        a = TensorType(None, row)
        compare(semantics, [Use("a", a), Use("a", a, (1, 2))])
        compare(semantics, [Use("a", a, (1, 2))])
        for other in (("?",), ("n",), ("n>=2",), ("?", "n"), ("m!", "?")):
            b = TensorType(None, tuple(dims(*other)))
            compare(semantics, [Use("a", a, (1, 2)), Use("b", b)], extents=(0, 1, 2, 3))


def test_positions_with_a_gap(semantics: Any) -> None:
    for a, b in itertools.product(dims("?", "n", "n>=2", "1", "3"), repeat=2):
        info = compare(semantics, [Use("a", TensorType(None, (a,)), (2,)), Use("b", TensorType(None, (b,)), (1,))])
        assert info is None or len(info.dims) == 2


@pytest.mark.parametrize("rules", [Rules(), Rules(stretch=False), Rules(dynamic="strict")], ids=str)
def test_explicit_broadcasts_to_another_operand(semantics: Any, rules: Rules) -> None:
    """`broadcast_in_dim(x, y)` meets `z`."""
    for x, y in itertools.product(dims("?", "1", "3", "n", "n>=2", "?!", "?%2"), repeat=2):
        uses = [Use("x", TensorType(None, (x,)), None, (("y", 0),)), Use("y", TensorType(None, (y,)), shape_only=True)]
        compare(semantics, uses, rules)
        for z in dims("?", "n", "3", "m>=2"):
            compare(semantics, [*uses, Use("z", TensorType(None, (z,)))], rules)


@pytest.mark.parametrize("rules", [Rules(), Rules(stretch=False), Rules(dynamic="strict")], ids=str)
def test_explicit_broadcasts_to_a_shape(semantics: Any, rules: Rules) -> None:
    """`broadcast_in_dim(x, (3,))` or `(n,)` meets `z`."""
    for x, z, target in itertools.product(
        dims("?", "1", "3", "n", "n>=2", "?!", "?%2"), dims("?", "n", "3", "m>=2", "bcast"), dims("3", "1", "2", "n")
    ):
        if target.symbol is not None and target.symbol not in (x.symbol, z.symbol):
            continue
        uses = [
            Use("x", TensorType(None, (x,)), None, (target,)),
            Use("t", TensorType(None, (target,)), is_target_shape=True),
            Use("z", TensorType(None, (z,))),
        ]
        compare(semantics, uses, rules)


def test_broadcasts_of_broadcasts(semantics: Any) -> None:
    """`broadcast_in_dim(broadcast_in_dim(x, (p,)), (q,))`, the same to operands, and both."""
    some = dims("?", "n", "3", "n>=2")
    for x, p, q in itertools.product(dims("?", "1", "3", "n"), dims("n", "1", "2", "3"), dims("n", "m", "1", "3")):
        if {p.symbol, q.symbol} - {None, x.symbol, "m"}:
            continue
        shapes = [
            Use("x", TensorType(None, (x,)), (1,), (p,)),
            Use("shape", TensorType(None, (p,)), (1,), (q,), is_target_shape=True),
            Use("shape", TensorType(None, (Dim(2), q)), (2, 1), (None, None), is_target_shape=True),
        ]
        compare(semantics, [*shapes, Use("z", TensorType(None, tuple(dims("m"))), (1,), shape_only=True)])
    for x, y, z in itertools.product(some, repeat=3):
        operands = [
            Use("x", TensorType(None, (x,)), (1,), (("y", 0),)),
            Use("y", TensorType(None, (y,)), (1,), (("z", 0),), shape_only=True),
            Use("z", TensorType(None, (z,)), (1,), shape_only=True),
        ]
        compare(semantics, operands)
        for p in dims("n", "3", "1"):
            if p.symbol is None or p.symbol in (x.symbol, y.symbol):
                shape = Use("shape", TensorType(None, (p,)), (1,), (("y", 0),), is_target_shape=True)
                compare(
                    semantics, [Use("x", TensorType(None, (x,)), (1,), (p,)), shape, Use("y", TensorType(None, (y,)))]
                )


def test_an_extent_that_others_are_broadcast_to_may_lie_in_another_dim(semantics: Any) -> None:
    some = dims("?", "n", "n>=2", "?%2")
    for x, y, z in itertools.product(some, repeat=3):
        target = Use("x", TensorType(None, (x,)), (1,), (("y", 0),))
        like = Use("y", TensorType(None, (y,)), (1,), shape_only=True)
        domain_dim = [like, Use("y", TensorType(None, (y,)), (2,)), Use("z", TensorType(None, (z,)), (2,))]
        compare(semantics, [target, *domain_dim])


def test_a_shape_that_nothing_else_meets(semantics: Any) -> None:
    for x, target in itertools.product(dims("?", "1", "3", "n", "n>=2"), dims("3", "1", "n")):
        if target.symbol in (None, x.symbol):
            shape = TensorType(None, (Dim(2), target))
            compare(
                semantics, [Use("x", TensorType(None, (x,)), (1,), (target,)), Use("t", shape, is_target_shape=True)]
            )


def test_trusted_is_strict_and_not_checked(semantics: Any) -> None:
    """What is vouched for is not checked; where it holds, the rest is checked as if it had been."""
    vouched = [Dim(trusted=True), Dim("n", trusted=True), Dim("n", min=2, trusted=True)]
    for row in itertools.product(vouched, dims("?", "n", "3", "1", "n>=2", "?!", "m"), [None, *dims("?", "n")]):
        uses = uses_of(*((dim,) for dim in row if dim is not None))
        info = infer(uses, Rules())
        strict = infer(uses, Rules(debug=True))
        assert (info is None) == (strict is None), row
        if info is None or strict is None:
            continue
        compare(semantics, uses, Rules(debug=True))
        checked = [constraint for constraint in info.constraints if not isinstance(constraint, RankIs)]
        trusted = [decision.constraint for decision in info.decisions if decision.fate == "trusted"]
        assert not any(getattr(constraint, "operand", "") == "a" for constraint in checked), (row, str(info))
        for call in semantics.calls(uses, SMALL):
            domain = info.domain(call)
            if all(constraint.holds(call, domain) for constraint in trusted):
                holds = all(constraint.holds(call, domain) for constraint in checked)
                assert holds == (semantics.accepts(uses, call) is not None), (row, call, str(info))


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Use], Rules]:
    """Return operands of up to three dims, some with their dims in another order, and one broadcast explicitly."""
    pick = st.sampled_from(ALL + dims("?", "n", "m", "k", "2", "4", "k<=3", "k!"))
    rules = Rules(True, draw(st.booleans()), draw(st.sampled_from(["numpy", "numpy", "strict"])))
    uses: list[Use] = []
    for name in operand_names(draw(st.integers(1, 3))):
        type_ = TensorType(None, tuple(draw(st.lists(pick, max_size=3))))
        uses.append(Use(name, type_))
        order = draw(st.permutations(range(1, len(type_.dims) + 1)))
        if draw(st.booleans()):
            uses.append(Use(name, type_, tuple(order)))
    like = draw(st.sampled_from(uses))
    if draw(st.booleans()) and like.type.dims:
        own = draw(st.integers(0, len(like.type.dims) - 1))
        position = next(position for position, at, _ in like.aligned if at == own)
        uses.append(Use("x", TensorType(None, (draw(pick),)), (position,), ((like.name, own),)))
    return uses, rules


def check_situation(semantics: Any, situation: tuple[list[Use], Rules], random: Any) -> None:
    uses, rules = situation
    info = infer(uses, rules)
    ranks = {use.name: len(use.type.dims) for use in uses}
    for _ in range(60):
        few = random.sample((0, 1, 2, 3, 4, 6), 2)
        call = {name: tuple(random.choice(few) for _ in range(rank)) for name, rank in ranks.items()}
        expected = semantics.accepts(uses, call, rules)
        if info is None:
            assert expected is None
            continue
        domain = info.domain(call)
        assert all(one.holds(call, domain) for one in info.constraints) == (expected is not None), (call, str(info))
        if expected is not None:
            assert domain == expected
            assert all(decision.constraint.holds(call, domain) for decision in info.decisions)
            assert all(map(semantics.fits_facts, info.dims, expected))


@settings(max_examples=60, deadline=None)
@given(situation=situations(), random=st.randoms(use_true_random=False))
def test_random_situations(semantics: Any, situation: tuple[list[Use], Rules], random: Any) -> None:
    check_situation(semantics, situation, random)


@pytest.mark.slow
@settings(max_examples=many(1_000, 3_000), deadline=None)
@given(situation=situations(), random=st.randoms(use_true_random=True))
def test_many_random_situations(semantics: Any, situation: tuple[list[Use], Rules], random: Any) -> None:
    check_situation(semantics, situation, random)


def erasures(dim: Dim) -> list[Dim]:
    return (
        [Dim(dim.symbol, broadcast=dim.broadcast), Dim(None, broadcast=dim.broadcast)] if not dim.is_static else [Dim()]
    )


def test_erasing_facts_never_makes_a_legal_call_illegal(semantics: Any) -> None:
    for row in itertools.product([dim for dim in ALL if dim.broadcast is None], repeat=2):
        uses = uses_of(*((dim,) for dim in row))
        legal = [call for call in semantics.calls(uses, SMALL) if semantics.accepts(uses, call) is not None]
        for index, dim in enumerate(row):
            for less in erasures(dim):
                erased = uses_of(*((less if at == index else other,) for at, other in enumerate(row)))
                info = infer(erased, Rules())
                assert info is not None or not legal, (row, less)
                for call in legal if info is not None else ():
                    assert all(one.holds(call, info.domain(call)) for one in info.constraints), (row, less, call)


def test_everything_that_is_asked_has_a_fate(semantics: Any) -> None:
    """What is asked without facts, counted: each rank, each declared fact, each repeated symbol, each meeting."""
    for row in itertools.product(ALL, repeat=2):
        uses = uses_of((row[0],), (row[1],))
        info = infer(uses, Rules())
        if info is None:
            continue
        facts = {
            (dim.symbol or index, name)
            for index, dim in enumerate(row)
            for name in ("min", "max", "multiple_of")
            if getattr(dim, name) is not None
        }
        # The range n>=2<=2 is one extent, and so one fact.
        facts -= {("n", "max")} if {("n", "min"), ("n", "max")} <= facts else set()
        asked = 2 + len(facts) + sum(dim.is_static for dim in row) + (row[0].symbol == row[1].symbol is not None) + 2
        assert len(info.decisions) == asked, (row, list(map(str, info.decisions)))
        assert len({decision.constraint for decision in info.decisions}) == asked


UNRANKED = ["[*]", "[*, ?]", "[*, 3]", "[*, n>=2]", "[*, n]", "[*, m!]", "[*, 1]"]


@pytest.mark.parametrize("rules", [Rules(), Rules(stretch=False), Rules(dynamic="strict")], ids=str)
def test_operands_of_unknown_rank(semantics: Any, rules: Rules) -> None:
    """Every array that an unranked type stands for, as if its rank had been declared."""
    others = ["[]", "[?]", "[3]", "[n]", "[n>=2]", "[1]", "[?, 3]", "[2, n]", "[?!, bcast]", "[1, 1]", *UNRANKED]
    for a, b in itertools.product(UNRANKED, others):
        types = (parse_type(a), parse_type(b))
        info = infer([Use("a", types[0]), Use("b", types[1])], rules)
        ranked = [ranked_forms(type_) for type_ in types]
        seen, all_legal = False, True
        for row in itertools.product(*ranked):
            uses = [Use(name, type_) for name, type_ in zip("ab", row, strict=True)]
            for call in semantics.calls(uses, (0, 1, 2, 3) if sum(len(t.dims) for t in row) < 4 else (1, 2, 3)):
                expected = semantics.accepts(uses, call, rules)
                seen |= expected is not None
                all_legal &= expected is not None
                if info is not None:
                    domain = info.domain(call)
                    holds = all(constraint.holds(call, domain) for constraint in info.constraints)
                    assert holds == (expected is not None), (a, b, call, str(info))
                    assert expected in (None, domain)
        assert seen == (info is not None), (a, b)
        ranks = (RankIs, RankAtLeast)
        checked = [one for one in info.constraints if not isinstance(one, ranks)] if info is not None else []
        # Ranks too low for the types are not among the calls.
        assert info is None or all_legal == (not checked), (a, b, str(info))


def ranked_forms(type_: TensorType) -> list[TensorType]:
    if not type_.unranked:
        return [type_]
    return [TensorType(None, (Dim(),) * front + type_.dims) for front in range(3)]


@pytest.mark.parametrize("statements", [0, 1, 5, 20, 60, 200])
def test_what_is_not_proved_for_want_of_work_is_checked(
    semantics: Any, monkeypatch: pytest.MonkeyPatch, statements: int
) -> None:
    """However early proofs end, what is checked holds for the legal calls alone, and what is proved is true."""
    monkeypatch.setattr(entailment, "_STATEMENTS", statements)
    solve.cache_clear()
    rows = [
        ["[n, n]", "[n, ?]"],
        ["[n, m]", "[m, n]"],
        ["[n, n]", "[m, m]", "[?, n]"],
        ["[n>=2, m]", "[m, n]", "[n, 1]"],
    ]
    rows += [["[n, m!]", "[m, ?]"], ["[n%2, n]", "[3, ?]"], ["[n, ?>=2]", "[?, n<=3]", "[n]"]]
    open_ = 0
    for uses in (uses_of(*row) for row in rows):
        info = infer(uses, NUMPY)
        every = semantics.calls(uses, (0, 1, 2, 3))
        legal = [(call, semantics.accepts(uses, call, NUMPY)) for call in every]
        if info is None:
            assert not any(domain is not None for _, domain in legal)
            continue
        proved = [decision.constraint for decision in info.decisions if decision.fate == "proved"]
        checked = [one for one in info.constraints if not isinstance(one, (RankIs, SameRank))]
        open_ += sum("takes too long" in decision.reason for decision in info.decisions)
        for call, expected in legal:
            domain = info.domain(call)
            assert all(one.holds(call, domain) for one in checked) == (expected is not None), (uses, call, str(info))
            if expected is None:
                continue
            assert domain == expected
            assert all(one.holds(call, domain) for one in proved), (uses, call, str(info))
            stretched = {
                (use.name, own, position)
                for use in uses
                for position, own, dim in use.aligned
                if not dim.is_static and call[use.name][own] == 1 != expected[-position]
            }
            assert stretched <= info.stretching_at
    solve.cache_clear()
    assert open_ > 0


@pytest.mark.parametrize(("symbols", "rank"), [(4, 12), (7, 12), (10, 15), (16, 64)])
def test_symbols_that_stand_in_many_dims_take_bounded_work(
    monkeypatch: pytest.MonkeyPatch, symbols: int, rank: int
) -> None:
    started: list[entailment.Work] = []

    class Counted(entailment.Work):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr("bcastgen.shape.inference.solve.Work", Counted)
    solve.cache_clear()
    chance = random.Random(symbols)
    rows = [", ".join(f"s{chance.randrange(symbols)}" for _ in range(rank)) for _ in range(3)]
    info = broadcast(uses_of(*(f"[{row}]" for row in rows)))
    assert len(started) == 1
    # One statement may copy all that is known.
    assert started[0].left > -1000
    late = [decision for decision in info.decisions if "takes too long" in decision.reason]
    assert late and all(decision.fate == "checked" for decision in late)
