"""The options of a kernel: one table, and the record of those that its binary depends on.

In: what callers of `jit`, `from_text` and the command line say.  Out: :class:`Options`, or an error.

    options_for(dynamic="strict", math="fast") -> Options("kernel", None, "strict", True, True, False, "fast")

`signature`, `threads`, `background`, `static`, `scalars` and `errors` are no part of :class:`Options`: a binary's key
has the types of the signature, and the others concern calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.forks import undivided
from ..core.frozen import dataclass
from ..core.options import DYNAMIC, VARIANTS, Option
from ..core.sizes import is_on

if TYPE_CHECKING:
    from ..shape.inference.stretch_rules import Dynamic, Rules

__all__ = ["OPTIONS", "Options", "options_for"]

OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option(
            "signature",
            None,
            'declared types, as in ``"(f32[?, 4] x, f32[4] b) -> f32[?, 4]"``, or the operands\' as a list; checked at '
            "each call. Dims may carry facts (:class:`bcastgen.Dim`): ``f32[n>=2, m%8]``.",
            flag=None,
        ),
        Option("name", None, "of the kernel; the function's by default.", flag=None),
        VARIANTS,
        DYNAMIC,
        Option(
            "rank_expansion",
            True,
            "whether operands may have fewer dims than the result; scalars always may.",
            flag="operands must have as many dims as the result",
        ),
        Option(
            "stretch",
            True,
            "whether an extent of 1 meets any other. Dims declared as ``bcast`` always do.",
            flag="extents of 1 do not broadcast",
        ),
        Option(
            "math",
            "accurate",
            "``\"accurate\"``: functions keep the bound of the op's row, and ``+ - * / sqrt`` give NumPy's bits; "
            '``"fast"``: functions may be off by 4 ULP, and a product that is added to may be rounded once with the '
            "sum.",
            ("accurate", "fast"),
            None,
        ),
        Option(
            "threads",
            None,
            "how many threads a call may take; None: as :func:`bcastgen.get_num_threads` says. ``kernel.threads`` is "
            "the same and may be set. Small calls take one; results do not depend on it.",
            flag=None,
        ),
        Option(
            "background",
            None,
            "whether NumPy answers calls while their binary is compiled in a thread; None: if the environment sets "
            "BCASTGEN_BACKGROUND. Arithmetic has the same bits; functions of f64 are NumPy's own then. Calls that a "
            "kernel refuses, and those of ops defined at run time, wait for the compiler, as ``kernel.wait()`` does.",
            flag=None,
        ),
        Option(
            "static",
            (),
            "names of parameters that are Python values and no operands: they may decide branches and loops. Each "
            "combination of values is a kernel of its own; they need a hash. A parameter whose default is None is "
            "static where a call leaves it out.",
            flag=None,
        ),
        Option(
            "scalars",
            True,
            "whether results without dims are NumPy scalars, as those of ufuncs are; they are arrays otherwise. "
            "``kernel.scalars`` is the same and may be set, and ``out=...`` gives arrays in one call.",
            flag=None,
        ),
        Option(
            "errors",
            "ignore",
            '``"ignore"``: floating-point errors are not looked at; ``"numpy"``: a call reports them as '
            "``numpy.errstate`` says. ``kernel.errors`` is the same and may be set. docs/ufuncs.md: which ops are "
            "exact.",
            ("ignore", "numpy"),
            flag=None,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a kernel is compiled with; all of them are part of the binary's key.

    Attributes
    ----------
    name : the kernel's name, in C too.
    variants, dynamic, rank_expansion, stretch, math : see :data:`OPTIONS`.
    debug : whether trusted shapes are checked all the same.
    explicit : whether explicit broadcasts stretch; only the maps of :func:`bcastgen.define_op` forbid it.
    """

    name: str = "kernel"
    variants: int | None = OPTIONS["variants"].default
    dynamic: Dynamic = OPTIONS["dynamic"].default
    rank_expansion: bool = OPTIONS["rank_expansion"].default
    stretch: bool = OPTIONS["stretch"].default
    debug: bool = False
    math: str = OPTIONS["math"].default
    explicit: bool = True

    @property
    def rules(self) -> Rules:
        """The part that says how dims meet."""
        with undivided:
            from ..shape.inference.stretch_rules import Rules  # noqa: PLC0415 - a kernel on disk has no use for them

        return Rules(self.rank_expansion, self.stretch, self.dynamic, self.debug, self.explicit)


def options_for(**given: Any) -> Options:
    """Return the record of options that callers give by name, each checked by its row.

    Raises
    ------
    BcastgenError
        If an option may not have the given value.
    """
    for name, value in given.items():
        OPTIONS[name].check(value)
    switches = {name: bool(value) for name, value in given.items() if OPTIONS[name].default is True}
    return Options(**{**given, **switches}, debug=is_on("BCASTGEN_DEBUG"))
