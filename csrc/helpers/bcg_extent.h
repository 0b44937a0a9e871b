/* bcg_extent.h: extents that types compute from others, as n + m, 2*n or n - 1.
 *
 * Contract. Nothing overflows. An extent that 64 bits do not hold is BCG_UNCOUNTABLE_EXTENT, and so is one that is
 * computed from it or from a number below 0; only a difference, and the extremes, may be below 0. Each definition is
 * between blank lines and uses only what is above it: emit copies the ones that a kernel needs.
 */
#ifndef BCG_EXTENT_H
#define BCG_EXTENT_H

#include "bcg_abi.h"

/* The value of an extent that 64 bits do not hold. */
#define BCG_UNCOUNTABLE_EXTENT INT64_MIN

static inline int64_t bcg_extent_plus(int64_t x, int64_t y)
{
    return x < 0 || y < 0 || x > INT64_MAX - y ? BCG_UNCOUNTABLE_EXTENT : x + y;
}

static inline int64_t bcg_extent_times(int64_t x, int64_t y)
{
    return x < 0 || y < 0 || (y > 0 && x > INT64_MAX / y) ? BCG_UNCOUNTABLE_EXTENT : x * y;
}

static inline int64_t bcg_extent_minus(int64_t x, int64_t y)
{
    return x < 0 || y < 0 ? BCG_UNCOUNTABLE_EXTENT : x - y;
}

/* Rounds down. */
static inline int64_t bcg_extent_div(int64_t x, int64_t y)
{
    return x < 0 || y < 1 ? BCG_UNCOUNTABLE_EXTENT : x / y;
}

static inline int64_t bcg_extent_min(int64_t x, int64_t y) { return x < y ? x : y; }

static inline int64_t bcg_extent_max(int64_t x, int64_t y)
{
    if (x == BCG_UNCOUNTABLE_EXTENT || y == BCG_UNCOUNTABLE_EXTENT) return BCG_UNCOUNTABLE_EXTENT;
    return x > y ? x : y;
}

#endif
