/* bcg_vmath_tan.h: tangents, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise, but for far arguments, which are taken apart slowly. Forms with `common` in
 * the name are right up to the bounds BCG_..._NEAR, give NaN for NaN, and give the same bits there as the full ones.
 * Each definition is between blank lines and uses only what is above it, in the headers that are included or in the
 * standard ones: emit copies the ones a kernel needs.
 */
#ifndef BCG_VMATH_TAN_H
#define BCG_VMATH_TAN_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_angle.h"
#include "bcg_vmath_sin_cos.h"

/* tan(r) = r + r s q(s), s = r^2, for r up to pi / 4. Minimax fit tan_f32: error 2^-29.1 */
static inline float bcg_tan_tail_f32(float s)
{
    float tail = bcg_fma_f32(s, 0x1.2c2976p-8f, -0x1.4e350ep-12f);
    tail = bcg_fma_f32(s, tail, 0x1.6d77ap-7f);
    tail = bcg_fma_f32(s, tail, 0x1.5ab798p-6f);
    tail = bcg_fma_f32(s, tail, 0x1.bb0b9cp-5f);
    tail = bcg_fma_f32(s, tail, 0x1.110c88p-3f);
    return bcg_fma_f32(s, tail, 0x1.555564p-2f);
}

/* The polynomial, with the rounding errors of s and of the angle times a slope that is close to r's where they count;
 * or its inverse, negated, with its rounding error. */
static inline float bcg_tan_angle_f32(bcg_angle_f32 x)
{
    const float r = x.high, s = r * r, lows = bcg_fma_f32(r, x.low + x.low, bcg_prod_low_f32(r, r, s));
    const float rest = bcg_close_fma_f32(r * s, bcg_tan_tail_f32(s), bcg_fma_f32(0.7f * r, lows, x.low));
    const float tangent = r + rest, low = bcg_sum_low_f32(r, rest, tangent), quotient = -1 / tangent;
    const float left = bcg_fma_f32(quotient, low, bcg_rest_f32(1, -quotient, tangent));
    return bcg_masked_f32(0 - (x.quarter & 1), bcg_fma_f32(quotient, left, quotient), tangent);
}

/* tan as the quotient of n = r (1 + s q(s)) and d = 1 - s / 2 + .., s = r^2, or its inverse, negated; both with their
 * rounding errors. Minimax fit tan_f64: error 2^-61.7 */
static inline double bcg_tan_angle_f64(bcg_angle_f64 x)
{
    const double s = x.high * x.high, half = s * 0.5, most = 1 - half, s2 = s * s;
    const double d3 = bcg_fma_f64(s, -0x1.f28db670be53bp-27, 0x1.5e8ba44745d2dp-17);
    const double d1 = bcg_fma_f64(s, -0x1.2f22012f22013p-10, 0x1.5151515151515p-5);
    const double d = s2 * bcg_fma_f64(s2, d3, d1), below = most + d;
    const double n3 = bcg_fma_f64(s, 0x1.2804244f10976p-21, -0x1.0f20010f1c793p-13);
    const double n1 = bcg_fma_f64(s, 0x1.0101010100fdp-7, -0x1.5555555555555p-3);
    const double n = bcg_fma_f64(x.high * s, bcg_fma_f64(s2, n3, n1), (1 + half) * x.low), above = x.high + n;
    const double n_low = bcg_sum_low_f64(x.high, n, above);
    const double s_low = bcg_fma_f64(-0.375, bcg_prod_low_f64(x.high, x.high, s), (1 - most) - half);
    const double d_low = bcg_sum_low_f64(most, d, below) + s_low;
    const uint64_t odd = 0 - (x.quarter & 1);
    const double over = bcg_masked_f64(odd, below, above), under = bcg_masked_f64(odd, above, below);
    const double inverse = 1 / under, quotient = over * inverse;
    const double lows = bcg_fma_f64(-quotient, bcg_masked_f64(odd, n_low, d_low), bcg_masked_f64(odd, d_low, n_low));
    const double tangent = bcg_fma_f64(bcg_rest_f64(over, quotient, under) + lows, inverse, quotient);
    return bcg_from_bits_f64(bcg_bits_f64(tangent) ^ (odd & 0x8000000000000000u));
}

static inline float bcg_tan_common_f32(float x)
{
    return bcg_signed_f32(x, bcg_tan_angle_f32(bcg_near_angle_f32(fabsf(x))));
}

static inline double bcg_tan_common_f64(double x)
{
    return bcg_signed_f64(x, bcg_tan_angle_f64(bcg_near_angle_f64(fabs(x))));
}

static inline double bcg_tan_f64(double x) { return bcg_signed_f64(x, bcg_tan_angle_f64(bcg_any_angle_f64(fabs(x)))); }

static inline float bcg_tan_f32(float x)
{
    return fabsf(x) <= BCG_TAN_COMMON_F32 ? bcg_tan_common_f32(x) : (float)bcg_tan_f64((double)x);
}

/* The tangent as a quotient without low parts of its own. Minimax fit tan_fast_f32: error 2^-28.2 */
static inline float bcg_tan_fast_common_f32(float x)
{
    const bcg_angle_f32 angle = bcg_near_angle_f32(fabsf(x));
    const float r = angle.high, s = r * r;
    const float d = bcg_fma_f32(s, bcg_fma_f32(s, -0x1.acb5f2p-11f, 0x1.4afd6ap-5f), -0.5f);
    const float n = bcg_fma_f32(s, bcg_fma_f32(s, -0x1.93892ap-15f, 0x1.cf62d4p-8f), -0x1.555556p-3f);
    const float below = bcg_fma_f32(s, d, 1), above = r + bcg_fma_f32(r * s, n, angle.low);
    const uint32_t odd = 0 - (angle.quarter & 1);
    const float quotient = bcg_masked_f32(odd, below, above) / bcg_masked_f32(odd, above, below);
    return bcg_signed_f32(x, bcg_from_bits_f32(bcg_bits_f32(quotient) ^ (odd & 0x80000000u)));
}

/* The tangent as a quotient without low parts of its own. */
static inline double bcg_tan_fast_common_f64(double x)
{
    const double whole = bcg_fma_f64(fabs(x), 0x1.45f306dc9c883p-1, 0x1.8p52), k = whole - 0x1.8p52;
    const double r = bcg_less_pi_f64(fabs(x), k * 0.5), s = r * r, s2 = s * s;
    const double d3 = bcg_fma_f64(s, -0x1.f28db670be53bp-27, 0x1.5e8ba44745d2dp-17);
    const double d1 = bcg_fma_f64(s, -0x1.2f22012f22013p-10, 0x1.5151515151515p-5);
    const double n3 = bcg_fma_f64(s, 0x1.2804244f10976p-21, -0x1.0f20010f1c793p-13);
    const double n1 = bcg_fma_f64(s, 0x1.0101010100fdp-7, -0x1.5555555555555p-3);
    const double below = bcg_fma_f64(s2, bcg_fma_f64(s2, d3, d1), bcg_fma_f64(s, -0.5, 1));
    const double above = bcg_fma_f64(r * s, bcg_fma_f64(s2, n3, n1), r);
    const uint64_t odd = 0 - (bcg_bits_f64(whole) & 1);
    const double quotient = bcg_masked_f64(odd, below, above) / bcg_masked_f64(odd, above, below);
    return bcg_signed_f64(x, bcg_from_bits_f64(bcg_bits_f64(quotient) ^ (odd & 0x8000000000000000u)));
}

static inline float bcg_tan_fast_f32(float x)
{
    return fabsf(x) <= BCG_TAN_COMMON_F32 ? bcg_tan_fast_common_f32(x) : (float)bcg_tan_f64((double)x);
}

static inline double bcg_tan_fast_f64(double x)
{
    return fabs(x) <= BCG_TAN_COMMON_F64 ? bcg_tan_fast_common_f64(x) : bcg_tan_f64(x);
}

#endif
