/* bcg_freestanding.h: what C without a library leaves out: copies of bytes, NaN and infinity.
 *
 * Contract. Stands in for memcpy, NAN and INFINITY where the C library is not there; constants are constant expressions.
 * No definition calls a function, whatever the optimisation. Each definition is between blank lines: emit copies the
 * ones a kernel needs, and spells the library's names as these.
 */
#ifndef BCG_FREESTANDING_H
#define BCG_FREESTANDING_H

/* Copies the bytes of one number to another of the same size; compilers make it one move. */
#if defined __GNUC__
#define BCG_COPY(to, from, bytes) __builtin_memcpy(to, from, bytes)
#else
#define BCG_COPY(to, from, bytes) \
    for (unsigned at_byte = 0; at_byte < (bytes); at_byte++) \
        ((unsigned char *)(to))[at_byte] = ((const unsigned char *)(from))[at_byte]
#endif

/* A constant expression, as the library's is. */
#if defined __GNUC__
#define BCG_INFINITY __builtin_inff()
#else
#define BCG_INFINITY ((float)(1e300 * 1e300))
#endif

/* A constant expression, as the library's is. */
#if defined __GNUC__
#define BCG_NAN __builtin_nanf("")
#else
#define BCG_NAN ((float)(1e300 * 1e300) * 0.0f)
#endif

#endif
