"""Common cases: blocks of points in which every function's operands lie in a range where a shorter form is right.

In: a nest, statements of its body.  Out: their :class:`CommonCase`, or None where no test is worth its time.

    exp(x)   ->   a block whose largest |x| is below 87 takes the form that does not handle the ends of the range

A test is a loop over the block before the loop that computes it: it finds the maximum of a number and compares it once.
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ..nest import Nest, Statement, Value, made_of

__all__ = ["BlockTest", "CommonCase", "common_case"]

# A second form of more functions than this, counted in each variant, takes too long to compile.
_MAX_FUNCTIONS = 8


@dataclass(frozen=True, slots=True)
class BlockTest:
    """One test of a block: whether the maximum of `number`, of C type `c`, is at most `limit`.

    All three are C texts of the statement's row; `number` has the statement's operands in it. `says` is for readers.
    """

    statement: int
    c: str
    number: str
    limit: str
    says: str

    @property
    def places(self) -> tuple[int, ...]:
        """Which operands of the statement the number is computed from."""
        return tuple(place for place in range(3) if f"{{{place}}}" in self.number)


@dataclass(frozen=True, slots=True)
class CommonCase:
    """Which statements have short forms, and the tests for blocks that may take them.

    Attributes
    ----------
    short : the statements that take their short form in blocks that pass every test, and in the tests themselves, whose
        outcome is right for these blocks.
    tests : the tests of a block; equal tests occur once.
    statements, reads : the statements that the tests need, and all values that they and the tests read.
    """

    short: frozenset[int]
    tests: tuple[BlockTest, ...]
    statements: frozenset[int]
    reads: frozenset[Value]


def common_case(nest: Nest, statements: frozenset[int], fast: bool, variants: int) -> CommonCase | None:
    """Return the common case of some statements, or None if no statement gets a short form.

    Parameters
    ----------
    nest, statements : the statements of its body that a loop computes.
    fast : whether functions take their fast forms.
    variants : the number of variants in which the loop is compiled.
    """
    short: set[int] = set()
    needed: set[Value] = set()
    tests: dict[tuple[object, ...], BlockTest] = {}
    many = variants * sum(statement.op.ulp > 0 for statement in nest.body) > _MAX_FUNCTIONS
    for at in sorted(statements):
        statement = nest.body[at]
        scalar = statement.op.is_scalar(statement.operand_dtypes)
        found = statement.op.range_tests_for(statement.operand_dtypes, statement.dtype, fast, statement.constant)
        if not found or (many and not scalar):
            continue
        own = [BlockTest(at, row.c, row.number, row.most, row.says) for row in found]
        read = {statement.operands[place] for test in own for place in test.places}
        # A test that computes a function itself pays only where compilers do not vectorise the full form.
        if any(nest.body[of].op.ulp for of in made_of(nest, read, statements)[0]) and not scalar:
            continue
        short.add(at)
        needed |= read
        for test in own:
            tests.setdefault(_identity(statement, test), test)
    if not short:
        return None
    of, reads = made_of(nest, needed, statements)
    return CommonCase(frozenset(short), tuple(tests.values()), of, frozenset(reads))


def _identity(statement: Statement, test: BlockTest) -> tuple[object, ...]:
    """Return a test's key, equal for equal tests: its templates, and the operands they are filled with."""
    given = ((statement.operands[place], statement.operand_dtypes[place]) for place in test.places)
    return (test.c, test.number, test.limit, *given)
