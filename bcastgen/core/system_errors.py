"""Errors of the system, told from those that a signal handler raises: the TimeoutError of an alarm is an OSError, too.

In: an OSError that was caught.  Out: the same one raised again, if no system call made it.

    with system_errors_ignored(): os.utime(path)
    except OSError as error: pass_on(error); return False

A handler runs between any two steps of Python, so it may raise where a system call is expected to fail. What the system
reports has a number (``errno``), and what cffi reports is an OSError of no subclass; what a program raises by hand has
neither. Errors of ours that are OSErrors are passed on as well.
"""

from __future__ import annotations

from types import TracebackType

__all__ = ["pass_on", "system_errors_ignored"]


def pass_on(error: BaseException) -> None:
    """Raise an error again unless it is one of the system.

    Examples
    --------
    >>> pass_on(FileNotFoundError(2, "No such file or directory"))
    >>> pass_on(TimeoutError("an alarm went off"))
    Traceback (most recent call last):
      ...
    TimeoutError: an alarm went off
    """
    if isinstance(error, OSError) and error.errno is None and type(error) is not OSError:
        raise error


class system_errors_ignored:
    """A context whose errors of the system are ignored."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _at: TracebackType | None
    ) -> bool:
        if not isinstance(error, OSError):
            return False
        return error.errno is not None or type(error) is OSError
