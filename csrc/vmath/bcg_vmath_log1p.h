/* bcg_vmath_log1p.h: log(1 + x), and logarithms of other sums, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Forms with `common` in the name are right where the op's row says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_LOG1P_H
#define BCG_VMATH_LOG1P_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_log.h"

/* log(u + lost) - zero * log(2), for any number lost that is small beside the positive u: where the sum is about 1, its
 * difference from 1 keeps its digits. */
static inline double bcg_log_sum_f64(double u, double lost, double zero)
{
    const uint64_t bits = bcg_bits_f64(u) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0 + zero);
    const double f = bcg_from_bits_f64((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1;
    const double scaled = lost * (0.5 * bcg_from_bits_f64((2047u - (bits >> 52)) << 52));
    const double g = f + scaled, g_low = bcg_sum_low_f64(f, scaled, g);
    const double whole = k * BCG_LN2_HIGH_F64, upper = whole + g, lower = bcg_sum_low_f64(whole, g, upper);
    return upper + (bcg_fma_f64(k, BCG_LN2_LOW_F64, lower + bcg_fma_f64(-g, g_low, g_low)) + bcg_log_second_f64(g));
}

/* As log, where 1 + x is 2^k (1 + f) except for rounding, and scale = 2^-k: f is computed from x itself, and low is its
 * rounding error, which occurs where k is 1 and x is below a half. */
static inline float bcg_log1p_of_f32(float x, uint32_t bits, float scale)
{
    const float k = (float)((int32_t)bits >> 23), c = scale - 1, f = bcg_fma_f32(x, scale, c);
    const float low = bcg_fma_f32(x, scale, c - f);
    const float rest = bcg_fma_f32(k, BCG_LN2_LOW_F32, bcg_log_second_f32(f) + low);
    return copysignf(bcg_fma_f32(k, BCG_LN2_HIGH_F32, f + rest), x);
}

/* As log, where 1 + x is 2^k (1 + f) except for rounding, and scale = 2^-k: f is computed from x itself, and low is
 * its rounding error, which occurs where k is 1 and x is below a half. */
static inline double bcg_log1p_of_f64(double x, uint64_t bits, double scale)
{
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const double c = scale - 1, f = bcg_fma_f64(x, scale, c), low = bcg_fma_f64(x, scale, c - f);
    const double rest = bcg_fma_f64(k, BCG_LN2_LOW_F64, bcg_log_second_f64(f) + low);
    return copysign(bcg_fma_f64(k, BCG_LN2_HIGH_F64, f + rest), x);
}

static inline float bcg_log1p_common_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(1 + x) - 0x3f3504f3u;
    return bcg_log1p_of_f32(x, bits, bcg_from_bits_f32(0x3f800000u - (bits & 0xff800000u)));
}

static inline double bcg_log1p_common_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(1 + x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    return bcg_log1p_of_f64(x, bits, bcg_from_bits_f64((2046u - (bits >> 52)) << 52));
}

/* 2^-k may be subnormal; four times 2^-k is not. */
static inline float bcg_log1p_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(1 + x) - 0x3f3504f3u;
    const float scale = 0.25f * bcg_from_bits_f32(0x40800000u - (bits & 0xff800000u));
    const float number = x < INFINITY ? bcg_log1p_of_f32(x, bits, scale) : x, other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? number : other;
}

/* 2^-k may be subnormal; four times 2^-k is not. */
static inline double bcg_log1p_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(1 + x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double scale = 0.25 * bcg_from_bits_f64((2048u - (bits >> 52)) << 52);
    const double number = x < (double)INFINITY ? bcg_log1p_of_f64(x, bits, scale) : x, other = x == -1 ? -(double)INFINITY : (double)NAN;
    return x > -1 ? number : other;
}

/* log(u + lost) + more * log(2) / 2^23, for any number lost that is small beside u, and u from sqrt(1/2) to 2^126. */
static inline float bcg_log_with_f32(float u, float lost, uint32_t more)
{
    const uint32_t bits = bcg_bits_f32(u) - 0x3f3504f3u;
    const float k = (float)((int32_t)(bits + more) >> 23);
    const float scale = bcg_from_bits_f32(0x3f800000u - (bits & 0xff800000u)), f = bcg_fma_f32(u, scale, -1);
    const float g = bcg_fma_f32(lost, scale, f), low = bcg_fma_low_f32(lost, scale, f, g);
    const float s = g * g, third = bcg_fma_f32(s * g, bcg_log_tail_f32(g, s), bcg_fma_f32(-g, low, low));
    const float rest = bcg_fma_f32(k, BCG_LN2_LOW_F32, bcg_fma_f32(s, -0.5f, third));
    return bcg_fma_f32(k, BCG_LN2_HIGH_F32, g + rest);
}

#endif
