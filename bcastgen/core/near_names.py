"""The names that a misspelt one was meant to be.

In: names that there are not, and those that there are.  Out: the nearest of them, or a question that names them.

    did_you_mean("lgo", ["exp", "log"])  ->  "; did you mean log?"
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "near_names"]


def near_names(unknown: Iterable[str], known: Iterable[str], most: int = 1) -> list[str]:
    """Return for each unknown name at most so many known ones that are like it, each once.

    Examples
    --------
    >>> near_names(["epx", "lgo", "epx"], ["exp", "log"])
    ['exp', 'log']
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only errors need it

    names = list(known)
    return list(dict.fromkeys(near for name in unknown for near in get_close_matches(name, names, most)))


def did_you_mean(
    unknown: str | Iterable[str], known: Iterable[str], most: int = 1, between: str = " or ", before: str = "; "
) -> str:
    """Return the question that names what was meant, to stand behind what is refused; no text if nothing is near.

    Examples
    --------
    >>> did_you_mean("lgo", ["exp", "log"])
    '; did you mean log?'
    >>> did_you_mean("matmul", ["exp", "log"])
    ''
    """
    near = near_names([unknown] if isinstance(unknown, str) else unknown, known, most)
    return f"{before}did you mean {between.join(near)}?" if near else ""
