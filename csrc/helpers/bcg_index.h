/* bcg_index.h: index arithmetic beside the operations of the shape dialect.
 *
 * Contract. Nothing overflows; a function that may have no result says so with 0, and leaves the result alone. Each
 * definition is between blank lines and uses only what is above it or in bcg_shape_value.h: emit copies the ones
 * a program needs.
 */
#ifndef BCG_INDEX_H
#define BCG_INDEX_H

#include "bcg_shape_value.h"

/* The sum of two indices, if 64 bits hold it. */
static inline int bcg_index_add(int64_t x, int64_t y, int64_t *sum)
{
    if (y < 0 ? x < INT64_MIN - y : x > INT64_MAX - y) return 0;
    *sum = x + y;
    return 1;
}

/* The product of two indices, if 64 bits hold it. */
static inline int bcg_index_mul(int64_t x, int64_t y, int64_t *product)
{
    if (x > 0 && (y > 0 ? x > INT64_MAX / y : y < INT64_MIN / x)) return 0;
    if (x < 0 && (y > 0 ? x < INT64_MIN / y : y < 0 && x < INT64_MAX / y)) return 0;
    *product = x * y;
    return 1;
}

/* The quotient of two indices, rounded down, if there is one and 64 bits hold it. */
static inline int bcg_index_div(int64_t x, int64_t y, int64_t *quotient)
{
    if (y == 0 || (x == INT64_MIN && y == -1)) return 0;
    *quotient = x / y - (x % y != 0 && (x < 0) != (y < 0));
    return 1;
}

static inline int64_t bcg_index_max(int64_t x, int64_t y) { return x > y ? x : y; }

static inline int64_t bcg_index_min(int64_t x, int64_t y) { return x < y ? x : y; }

/* The integer of these 64 bits. */
static inline int64_t bcg_index_of(uint64_t bits)
{
    return bits <= INT64_MAX ? (int64_t)bits : -1 - (int64_t)(UINT64_MAX - bits);
}

/* Index arithmetic wraps. */
static inline int64_t bcg_arith_addi(int64_t x, int64_t y) { return bcg_index_of((uint64_t)x + (uint64_t)y); }

static inline int64_t bcg_arith_subi(int64_t x, int64_t y) { return bcg_index_of((uint64_t)x - (uint64_t)y); }

static inline int64_t bcg_arith_muli(int64_t x, int64_t y) { return bcg_index_of((uint64_t)x * (uint64_t)y); }

/* Rounds to 0, if there is a quotient; the lowest by -1 is the lowest. */
static inline int bcg_arith_divsi(int64_t x, int64_t y, int64_t *quotient)
{
    if (y == 0) return 0;
    *quotient = y == -1 ? bcg_arith_subi(0, x) : x / y;
    return 1;
}

/* Rounds down, if there is a quotient; the lowest by -1 is the lowest. */
static inline int bcg_arith_floordivsi(int64_t x, int64_t y, int64_t *quotient)
{
    if (y == 0) return 0;
    *quotient = y == -1 ? bcg_arith_subi(0, x) : x / y - (x % y != 0 && (x < 0) != (y < 0));
    return 1;
}

/* Rounds up, if there is a quotient; the lowest by -1 is the lowest. */
static inline int bcg_arith_ceildivsi(int64_t x, int64_t y, int64_t *quotient)
{
    if (y == 0) return 0;
    *quotient = y == -1 ? bcg_arith_subi(0, x) : x / y + (x % y != 0 && (x < 0) == (y < 0));
    return 1;
}

/* What rounding to 0 leaves, if there is a quotient. */
static inline int bcg_arith_remsi(int64_t x, int64_t y, int64_t *rest)
{
    if (y == 0) return 0;
    *rest = y == -1 ? 0 : x % y;
    return 1;
}

/* The bits are numbers without a sign. */
static inline int bcg_arith_divui(int64_t x, int64_t y, int64_t *quotient)
{
    if (y == 0) return 0;
    *quotient = bcg_index_of((uint64_t)x / (uint64_t)y);
    return 1;
}

static inline int bcg_arith_ceildivui(int64_t x, int64_t y, int64_t *quotient)
{
    if (y == 0) return 0;
    *quotient = bcg_index_of((uint64_t)x / (uint64_t)y + ((uint64_t)x % (uint64_t)y != 0));
    return 1;
}

static inline int bcg_arith_remui(int64_t x, int64_t y, int64_t *rest)
{
    if (y == 0) return 0;
    *rest = bcg_index_of((uint64_t)x % (uint64_t)y);
    return 1;
}

/* Bits are shifted by a count that 64 bits have. */
static inline int bcg_arith_shli(int64_t x, int64_t count, int64_t *shifted)
{
    if (count < 0 || count > 63) return 0;
    *shifted = bcg_index_of((uint64_t)x << count);
    return 1;
}

static inline int bcg_arith_shrui(int64_t x, int64_t count, int64_t *shifted)
{
    if (count < 0 || count > 63) return 0;
    *shifted = bcg_index_of((uint64_t)x >> count);
    return 1;
}

/* C leaves open what comes in above a sign. */
static inline int bcg_arith_shrsi(int64_t x, int64_t count, int64_t *shifted)
{
    if (count < 0 || count > 63) return 0;
    *shifted = x < 0 ? -1 - (int64_t)((uint64_t)(-1 - x) >> count) : (int64_t)((uint64_t)x >> count);
    return 1;
}

static inline int64_t bcg_arith_minui(int64_t x, int64_t y) { return (uint64_t)x < (uint64_t)y ? x : y; }

static inline int64_t bcg_arith_maxui(int64_t x, int64_t y) { return (uint64_t)x > (uint64_t)y ? x : y; }

static inline int64_t bcg_arith_minsi(int64_t x, int64_t y) { return x < y ? x : y; }

static inline int64_t bcg_arith_maxsi(int64_t x, int64_t y) { return x > y ? x : y; }

static inline int32_t bcg_arith_cmpi_eq(int64_t x, int64_t y) { return x == y; }

static inline int32_t bcg_arith_cmpi_ne(int64_t x, int64_t y) { return x != y; }

static inline int32_t bcg_arith_cmpi_slt(int64_t x, int64_t y) { return x < y; }

static inline int32_t bcg_arith_cmpi_sle(int64_t x, int64_t y) { return x <= y; }

static inline int32_t bcg_arith_cmpi_sgt(int64_t x, int64_t y) { return x > y; }

static inline int32_t bcg_arith_cmpi_sge(int64_t x, int64_t y) { return x >= y; }

static inline int32_t bcg_arith_cmpi_ult(int64_t x, int64_t y) { return (uint64_t)x < (uint64_t)y; }

static inline int32_t bcg_arith_cmpi_ule(int64_t x, int64_t y) { return (uint64_t)x <= (uint64_t)y; }

static inline int32_t bcg_arith_cmpi_ugt(int64_t x, int64_t y) { return (uint64_t)x > (uint64_t)y; }

static inline int32_t bcg_arith_cmpi_uge(int64_t x, int64_t y) { return (uint64_t)x >= (uint64_t)y; }

#endif
