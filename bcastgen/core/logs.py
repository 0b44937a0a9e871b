"""Log messages, for programs that have set up `logging`.

In: a message and what it is about.  Out: a record of the logger "bcastgen".

    tell("compiled %s in %.0f ms", "axpb (a: f64)", 61.0)

Nothing is imported for it: a program in which nobody has imported `logging` cannot listen.
"""

from __future__ import annotations

import sys

__all__ = ["tell"]


def tell(message: str, *values: object) -> None:
    """Log a message at the level INFO, with its values as `logging` formats them; functions are asked for theirs."""
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("bcastgen")
    if logger.isEnabledFor(logging.INFO):
        logger.info(message, *(value() if callable(value) else value for value in values))
