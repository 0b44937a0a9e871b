"""What is asked of emitted C: a record of every option, checked in one place.

In: options as users write them.  Out: a :class:`CForm`.

    CForm(variants=0, openmp=True)   ->   plain nests, threads by OpenMP where the work pays
"""

from __future__ import annotations

from ...core.c_source import BUILDS
from ...core.errors import BcastgenError
from ...core.frozen import dataclass
from .target import find_target

__all__ = ["CForm"]


@dataclass(frozen=True, slots=True)
class CForm:
    """The form of a module of standalone C.

    Attributes
    ----------
    variants : number of specialised inner loops; 0 for the one plain nest, None for the usual number.
    static : all extents are known: plain nested loops over pointers, no descriptors.
    freestanding : no library: only <stdint.h>, <stddef.h> and <stdbool.h>, and maths of its own.
    openmp : threads by OpenMP, where the work pays.
    target : the machine that vectors are meant for, by name; None says nothing of it.
    single_file : the helpers stand in the .c; else in a header of their own, beside it.
    main : a program that checks the module against a reference goes with it.
    build : what goes with it beside that, of :data:`bcastgen.core.c_source.BUILDS`.
    """

    variants: int | None = None
    static: bool = False
    freestanding: bool = False
    openmp: bool = False
    target: str | None = None
    single_file: bool = True
    main: bool = False
    build: tuple[str, ...] = ()

    def checked(self) -> CForm:
        """Return the form, if there is such C.

        Raises
        ------
        BcastgenError
            For a number of variants, or a helper, that there is not; or options that exclude each other.

        Examples
        --------
        >>> CForm(variants=-1).checked()
        Traceback (most recent call last):
        bcastgen.BcastgenError: variants is -1, expected 0 or more (0 is the one plain nest)
        """
        if self.variants is not None and (type(self.variants) is not int or self.variants < 0):
            raise BcastgenError(f"variants is {self.variants!r}, expected 0 or more (0 is the one plain nest)")
        if self.target is not None:
            find_target(self.target)
        unknown = [name for name in self.build if name not in BUILDS]
        if unknown:
            raise BcastgenError(f"there is no build {unknown[0]!r}; there are {', '.join(BUILDS)}")
        return self
