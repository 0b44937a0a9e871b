"""What the modules of calls use of a kernel: its names.

In: nothing.  Out: a protocol; a call of arrays imports none.

    def missing_arguments(kernel: Named) -> ArgumentError: ...
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["Named"]


class Named(Protocol):
    """The names of a kernel."""

    @property
    def operands(self) -> tuple[str, ...]:
        """Return the names of the operands."""

    @property
    def _constants(self) -> tuple[str, ...]: ...
    @property
    def results(self) -> tuple[str, ...]:
        """Return the names of the results."""

    @property
    def _name(self) -> str: ...
