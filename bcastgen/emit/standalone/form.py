"""The options of standalone C: one record, checked in one place.

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
    variants : number of specialised inner loops; 0 for the one plain nest, None for the default number.
    static : all extents are known: plain nested loops over pointers, no descriptors.
    freestanding : use no library, only <stdint.h>, <stddef.h> and <stdbool.h>, with the module's own maths.
    openmp : threads by OpenMP, where the work pays.
    target : name of the machine that vectors are sized for; None for no machine in particular.
    single_file : put the helpers in the .c; else in a header of their own, beside it.
    main : add a program that checks the module against a reference.
    build : build files to add, from :data:`bcastgen.core.c_source.BUILDS`.
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
        """Return the form itself; refuse options that are wrong.

        Raises
        ------
        BcastgenError
            If the number of variants, the target or a build file is unknown.

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
