"""What a run measured: timings in cells in a report, and its JSON.

In: timings.  Out: ratios; text that reads back as the same report.

    Cell(..., timings=(numpy 2 us, bcastgen 1 us)).speedup -> 2.0
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bcastgen.core.errors import BcastgenError

from .peers import AGAIN, FAST, FAST_PEERS, NUMPY, OURS, OWN

__all__ = ["SCHEMA", "Cell", "Report", "Timing"]

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """One contestant in one cell.

    Attributes
    ----------
    name : the contestant.
    status : ``"ok"``, ``"wrong"`` (another result than NumPy's), ``"failed"`` (it raised) or ``"none"`` (it has no such
        form); only the first is timed.
    reason : what is wrong, or what was raised.
    min, median : seconds per call over the rounds.
    rounds, inner : how many samples, and calls in each.
    """

    name: str
    status: str
    reason: str = ""
    min: float | None = None
    median: float | None = None
    rounds: int = 0
    inner: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One workload at one size, with a fresh result or into ``out=``.

    Attributes
    ----------
    size, elements : the number asked for, and the result's true number.
    variant : ``"fresh"`` or ``"out"``.
    read, written : bytes that must move.
    memory : seconds that moving them took among the contestants, or None where there is no such limit.
    maths : seconds that its functions take at the best rates measured, or None.
    skipped : why nothing was measured, or empty.
    """

    workload: str
    kind: str
    size: int
    elements: int
    variant: str
    read: int
    written: int
    timings: tuple[Timing, ...] = ()
    memory: float | None = None
    maths: float | None = None
    skipped: str = ""

    def seconds(self, name: str) -> float | None:
        """Return a contestant's fastest round, or None."""
        return next((timing.min for timing in self.timings if timing.name == name), None)

    @property
    def speedup(self) -> float | None:
        """NumPy's time over ours."""
        numpy, ours = self.seconds(NUMPY), self.seconds(OURS)
        return numpy / ours if numpy and ours else None

    @property
    def spread(self) -> float | None:
        """Our slower column over our faster one: 1 if the machine was quiet."""
        first, second = self.seconds(OURS), self.seconds(AGAIN)
        return max(first, second) / min(first, second) if first and second else None

    @property
    def best_peer(self) -> tuple[str, float] | None:
        """Name and time of the contestant that is not ours and fastest beside ours in the same arithmetic."""
        peers = [(t.name, t.min) for t in self.timings if t.min and t.name not in OWN]
        return min(peers, key=lambda peer: peer[1] / (self._ours_beside(peer[0]) or 1), default=None)

    @property
    def lead(self) -> float | None:
        """The best peer's time over ours in the same arithmetic."""
        best = self.best_peer
        ours = None if best is None else self._ours_beside(best[0])
        return best[1] / ours if best and ours else None

    def _ours_beside(self, name: str) -> float | None:
        """Our time in a contestant's arithmetic: a peer that contracts meets ours that does, if it is timed."""
        return (self.seconds(FAST) if name in FAST_PEERS else None) or self.seconds(OURS)

    @property
    def limit(self) -> float | None:
        """Seconds below which nobody can be: of memory and maths the longer one."""
        return max((each for each in (self.memory, self.maths) if each), default=None)

    @property
    def is_maths_bound(self) -> bool:
        """Whether the limit is that of its functions."""
        return (self.maths or 0.0) > (self.memory or 0.0)

    @property
    def share(self) -> float | None:
        """The limit over our time: 1 is all that can be had."""
        ours, limit = self.seconds(OURS), self.limit
        return limit / ours if ours and limit else None


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run: where, how, and its cells."""

    machine: Mapping[str, str]
    options: Mapping[str, str]
    cells: tuple[Cell, ...]

    @property
    def threads(self) -> int:
        """How many threads each contestant had."""
        return int(self.machine.get("threads", "1"))

    @property
    def faults(self) -> list[tuple[Cell, Timing]]:
        """Contestants that gave a wrong result or raised."""
        return [(cell, t) for cell in self.cells for t in cell.timings if t.status in ("wrong", "failed")]

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read a report back.

        Raises
        ------
        BcastgenError
            If the text is not a report of this schema.
        """
        try:
            value: dict[str, Any] = json.loads(text)
            if value["schema"] != SCHEMA:
                raise BcastgenError(f"bench report has schema {value['schema']}, expected {SCHEMA}; measure again")
            return cls(value["machine"], value["options"], tuple(_cell(cell) for cell in value["cells"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BcastgenError(f"not a bench report ({error}); write one with bcastgen bench --json FILE") from error


def _cell(value: dict[str, Any]) -> Cell:
    return Cell(**{**value, "timings": tuple(Timing(**timing) for timing in value["timings"])})
