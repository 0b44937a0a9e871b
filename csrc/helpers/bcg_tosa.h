/* bcg_tosa.h: scalar operations that TOSA has and NumPy has not, bcg_<operation>_<dtype>.
 *
 * Contract. Pure and defined for every argument, as in bcg_scalar.h. Each definition is between blank lines and uses
 * only what is above it or in the standard headers: emit copies the ones a kernel needs. Integers narrower than 32
 * bits use the 32-bit functions.
 */
#ifndef BCG_TOSA_H
#define BCG_TOSA_H

#include <math.h>
#include <stdint.h>

static inline int32_t bcg_saturate_i32(int32_t x, int32_t least, int32_t most)
{
    return x < least ? least : x > most ? most : x;
}

/* Rounds towards 0; x / 0 is 0, and x / -1 wraps. */
static inline int32_t bcg_truncate_divide_i32(int32_t x, int32_t y)
{
    if (y == 0) return 0;
    return y == -1 ? (int32_t)((uint32_t)0 - (uint32_t)x) : x / y;
}

/* Rounds towards 0; x / 0 is 0, and x / -1 wraps. */
static inline int64_t bcg_truncate_divide_i64(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    return y == -1 ? (int64_t)((uint64_t)0 - (uint64_t)x) : x / y;
}

/* Zeros above the highest one: ones are spread downwards, and what stays zero is counted. No branch, so it vectorises. */
static inline int32_t bcg_clz_u32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    x = ~x;
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return (int32_t)((x * 0x01010101u) >> 24);
}

static inline int64_t bcg_clz_u64(uint64_t x)
{
    const uint32_t high = (uint32_t)(x >> 32);
    return high != 0 ? bcg_clz_u32(high) : 32 + bcg_clz_u32((uint32_t)x);
}

/* x * y / 2^shift, halves towards plus infinity; shift <= 0 multiplies only, shift > 63 leaves the sign. Wraps. */
static inline int32_t bcg_multiply_shift_i32(int32_t x, int32_t y, int8_t shift)
{
    const int64_t product = (int64_t)x * y;
    if (shift <= 0) return (int32_t)product;
    if (shift > 63) return product < 0 ? -1 : 0;
    /* The bit below the result's lowest one is the half: adding it cannot overflow, as adding before shifting could. */
    return (int32_t)((product >> shift) + ((product >> (shift - 1)) & 1));
}

#endif
