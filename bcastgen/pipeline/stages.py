"""The texts of a kernel's stages, by name; a name that there is not is told with those that there are.

In: texts by name.  Out: a dict.

    Stages({"nest": "..."})["nset"]  ->  KeyError: no stage 'nset'; did you mean nest? the stages are nest
"""

from __future__ import annotations

from typing import NoReturn

from ..core.near_names import did_you_mean

__all__ = ["STAGES", "Stages"]

# Those that every kernel has; rewrites that changed something are stages, too.
STAGES = ("expression", "typed", "nest", "constraints", "shape", "schedule", "c")


class Stages(dict[str, str]):
    """A dict whose KeyError says which keys there are."""

    def __missing__(self, name: object) -> NoReturn:
        meant = did_you_mean(str(name), self) or ";"
        raise KeyError(f"no stage {name!r}{meant} the stages are {', '.join(self)}")
