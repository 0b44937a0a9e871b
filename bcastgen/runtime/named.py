"""What the modules of calls use of a kernel: its names.

In: nothing.  Out: a protocol, which only checkers and the slow path of calls import.

    def missing_arguments(kernel: Named) -> ArgumentError: ...
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["Named"]


class Named(Protocol):
    """The names of a kernel."""

    @property
    def operands(self) -> tuple[str, ...]:
        """Of operands."""

    @property
    def _constants(self) -> tuple[str, ...]: ...
    @property
    def results(self) -> tuple[str, ...]:
        """Of results."""

    @property
    def _name(self) -> str: ...
