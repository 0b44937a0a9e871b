/* bcg_vmath_hyperbolic.h: hyperbolic functions, and the sigmoid, which is one, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * All are made of e^r and 2^n as bcg_vmath_exp.h has them. Forms with `common` in the name are right where the op's row
 * says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_HYPERBOLIC_H
#define BCG_VMATH_HYPERBOLIC_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_exp.h"

/* (tanh(x) - x) / (x s) for |x| <= log(2) / 4, s = x^2. Minimax fit tanh_f32: error 2^-32.5 */
static inline float bcg_tanh_tail_f32(float s)
{
    return bcg_fma_f32(s, bcg_fma_f32(s, -0x1.afd7ecp-5f, 0x1.110594p-3f), -0x1.55554ep-2f);
}

/* (tanh(x) - x) / (x s) for |x| <= log(2) / 4, s = x^2. Minimax fit tanh_f64: error 2^-57.7 */
static inline double bcg_tanh_tail_f64(double s)
{
    const double s2 = s * s, a = bcg_fma_f64(s, 0x1.11111110e05ccp-3, -0x1.55555555554bbp-2);
    const double b = bcg_fma_f64(s, 0x1.664ec96f3d5f9p-6, -0x1.ba1ba11618b6p-5);
    const double c = bcg_fma_f64(s, 0x1.c37e4c6520b3fp-9, -0x1.223c57ee9593cp-7);
    return bcg_fma_f64(s2, bcg_fma_f64(s2, c, b), a);
}

/* With |x| = n log(2) / 2 + r, t = tanh(r) and q = 2^-n / 2, tanh(|x|) is the quotient of 1/2 - q + (1/2 + q) t and
 * 1/2 + q + (1/2 - q) t; less and more are computed so that it is right even where q is lost beside 1/2. The quotient's
 * last four bits are cleared, so that its rest, the first sum less the quotient times the second, is exact except for
 * terms as small as low. |x| is limited, a NaN is kept and 2 q is made by operations on bits, since the units for
 * products are the busy ones. */
static inline float bcg_tanh_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(x) & 0x7fffffffu, kept = bits < 0x41180000u ? bits : 0x41180000u;
    const uint32_t none = 0 - ((0x7f800000u - bits) >> 31);
    const float y = bcg_from_bits_f32(kept);
    const float shifted = bcg_fma_f32(y, -2 * BCG_LOG2_E_F32, BCG_SHIFT_F32 + 126), n = shifted - (BCG_SHIFT_F32 + 126);
    const float r = bcg_fma_f32(n, 0x1.62e43p-2f, y), s = r * r, low = r * s * bcg_tanh_tail_f32(s), t = r + low;
    const uint32_t power = bcg_bits_f32(shifted) << 23;
    const float more = 0.5f + bcg_from_bits_f32(power), less = more - bcg_from_bits_f32(power + 0x00800000u);
    const float inverse = 1 / bcg_fma_f32(less, t, more), quotient = bcg_fma_f32(more, t, less) * inverse;
    const float close = bcg_from_bits_f32(bcg_bits_f32(quotient) & 0xfffffff0u);
    const float slope = bcg_fma_f32(close, less, -more);
    const float rest = bcg_rest_f32(bcg_rest_f32(less, close, more), slope, r);
    const float tangent = bcg_fma_f32(bcg_fma_f32(-slope, low, rest), inverse, close);
    return bcg_from_bits_f32(bcg_bits_f32(tangent) | (bcg_bits_f32(x) & 0x80000000u) | none);
}

/* With |x| = n log(2) / 2 + r, t = tanh(r) and q = 2^-n / 2, tanh(|x|) is the quotient of 1/2 - q + (1/2 + q) t and
 * 1/2 + q + (1/2 - q) t; less and more are computed so that it is right even where q is lost beside 1/2. The
 * quotient's last four bits are cleared, so that its rest, the first sum less the quotient times the second, is
 * exact except for terms as small as low. |x| is limited, a NaN is kept and 2 q is made by operations on bits, since
 * the units for products are the busy ones. */
static inline double bcg_tanh_f64(double x)
{
    const double y = fabs(x);
    const double shifted = bcg_fma_f64(y, -2 * BCG_LOG2_E_F64, BCG_SHIFT_F64 + 1022);
    const double n = shifted - (BCG_SHIFT_F64 + 1022);
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const double r = fma(n, 0x1.62e42fefa39efp-2, y);
#else
    const double r = (y + n * 0x1.62e42fefa38p-2) + n * 0x1.efp-46;
#endif
    const double s = r * r, low = bcg_fma_f64(r * s, bcg_tanh_tail_f64(s), n * 0x1.abc9e3b39803fp-57), t = r + low;
    const double q = bcg_from_bits_f64(bcg_bits_f64(shifted) << 52), more = 0.5 + q, less = bcg_fma_f64(q, -2, more);
    const double inverse = 1 / bcg_fma_f64(less, t, more), quotient = bcg_fma_f64(more, t, less) * inverse;
    const double close = bcg_from_bits_f64(bcg_bits_f64(quotient) & 0xfffffffffffffff0u);
    const double slope = bcg_fma_f64(close, less, -more);
    const double rest = bcg_rest_f64(bcg_rest_f64(less, close, more), slope, r);
    return copysign(y > 19.5 ? 1 : bcg_fma_f64(bcg_fma_f64(-slope, low, rest), inverse, close), x);
}

static inline float bcg_tanh_fast_f32(float x)
{
    const float y = fabsf(x);
    const float shifted = bcg_fma_f32(y, -2 * BCG_LOG2_E_F32, BCG_SHIFT_F32 + 126), n = shifted - (BCG_SHIFT_F32 + 126);
    const float r = bcg_fma_f32(n, 0x1.62e43p-2f, y), s = r * r, t = bcg_fma_f32(r * s, bcg_tanh_tail_f32(s), r);
    const float q = bcg_from_bits_f32(bcg_bits_f32(shifted) << 23), more = 0.5f + q, less = bcg_fma_f32(q, -2, more);
    return copysignf(y > 9.4f ? 1 : bcg_fma_f32(more, t, less) / bcg_fma_f32(less, t, more), x);
}

static inline double bcg_tanh_fast_f64(double x)
{
    const double y = fabs(x);
    const double shifted = bcg_fma_f64(y, -2 * BCG_LOG2_E_F64, BCG_SHIFT_F64 + 1022);
    const double n = shifted - (BCG_SHIFT_F64 + 1022);
    const double r = bcg_fma_f64(n, BCG_LN2_LOW_F64 / 2, bcg_fma_f64(n, BCG_LN2_HIGH_F64 / 2, y));
    const double s = r * r, t = bcg_fma_f64(r * s, bcg_tanh_tail_f64(s), r);
    const double q = bcg_from_bits_f64(bcg_bits_f64(shifted) << 52), more = 0.5 + q, less = bcg_fma_f64(q, -2, more);
    return copysign(y > 19.5 ? 1 : bcg_fma_f64(more, t, less) / bcg_fma_f64(less, t, more), x);
}

/* u / (u + u e^-x), the sum to twice the digits, with u = 2^(-n / 2): e^-x = 2^n (1 + t) need not be finite. */
static inline float bcg_sigmoid_f32(float x)
{
    const float positive = fabsf(x), kept = copysignf(104.0f < positive ? 104.0f : positive, x);
    const float shifted = bcg_fma_f32(kept, -BCG_LOG2_E_F32, BCG_SHIFT_F32 + 254), n = shifted - (BCG_SHIFT_F32 + 254);
    const float upper = bcg_fma_f32(n, -BCG_LN2_HIGH_F32, -kept), r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, upper);
    const float s = r * r;
    const float rounded = bcg_fma_f32(n, -BCG_LN2_LOW_F32, upper - r);
    const float t = r + bcg_fma_f32(s, bcg_fma_f32(bcg_exp_tail_f32(r, s), r, 0.5f), rounded);
    const float v = 1 + t, v_low = bcg_sum_low_f32(1, t, v);
    const uint32_t whole = bcg_bits_f32(shifted), half = whole >> 1;
    const float power = bcg_from_bits_f32((whole - half) << 23), e = power * v;
    const float u = bcg_from_bits_f32((254 - half) << 23);
    const float below = e + u, below_low = bcg_fma_f32(power, v_low, bcg_any_sum_low_f32(e, u, below));
    const float inverse = 1 / below, close = u * inverse;
    return bcg_fma_f32(bcg_fma_f32(-close, below_low, bcg_rest_f32(u, close, below)), inverse, close);
}

/* 1 / (1 + e^-x), where |x| is at most 80, so that no power of two has to be split. */
static inline float bcg_sigmoid_common_f32(float x)
{
    const float shifted = bcg_fma_f32(x, -BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127), n = shifted - (BCG_SHIFT_F32 + 127);
    const float upper = bcg_fma_f32(n, -BCG_LN2_HIGH_F32, -x), r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, upper);
    const float s = r * r;
    const float rounded = bcg_fma_f32(n, -BCG_LN2_LOW_F32, upper - r);
    const float t = r + bcg_fma_f32(s, bcg_fma_f32(bcg_exp_tail_f32(r, s), r, 0.5f), rounded);
    const float v = 1 + t, v_low = bcg_sum_low_f32(1, t, v);
    const float power = bcg_from_bits_f32(bcg_bits_f32(shifted) << 23), e = power * v;
    const float below = e + 1, below_low = bcg_fma_f32(power, v_low, bcg_any_sum_low_f32(e, 1, below));
    const float inverse = 1 / below, left = bcg_fma_f32(-inverse, below_low, bcg_rest_f32(1, inverse, below));
    return bcg_fma_f32(left, inverse, inverse);
}

/* u / (u + u e^-x), the sum to twice the digits, with u = 2^(-n / 2): e^-x = 2^n (1 + t) need not be finite. */
static inline double bcg_sigmoid_f64(double x)
{
    const double positive = fabs(x), kept = copysign(746.0 < positive ? 746.0 : positive, x);
    const double shifted = bcg_fma_f64(kept, -BCG_LOG2_E_F64, BCG_SHIFT_F64 + 2046);
    const double n = shifted - (BCG_SHIFT_F64 + 2046);
    const double upper = bcg_fma_f64(n, -BCG_LN2_HIGH_F64, -kept), r = bcg_fma_f64(n, -BCG_LN2_LOW_F64, upper);
    const double s = r * r;
    const double rounded = bcg_fma_f64(n, -BCG_LN2_LOW_F64, upper - r);
    const double t = r + bcg_fma_f64(s, bcg_fma_f64(bcg_exp_tail_f64(r, s), r, 0.5), rounded);
    const double v = 1 + t, v_low = bcg_sum_low_f64(1, t, v);
    const uint64_t whole = bcg_bits_f64(shifted), half = whole >> 1;
    const double power = bcg_from_bits_f64((whole - half) << 52), e = power * v;
    const double u = bcg_from_bits_f64((2046 - half) << 52);
    const double below = e + u, below_low = bcg_fma_f64(power, v_low, bcg_any_sum_low_f64(e, u, below));
    const double inverse = 1 / below, close = u * inverse;
    return bcg_fma_f64(bcg_fma_f64(-close, below_low, bcg_rest_f64(u, close, below)), inverse, close);
}

static inline float bcg_sigmoid_fast_f32(float x)
{
    const float e = bcg_exp_f32(-fabsf(x));
    return (x < 0 ? e : 1) / (1 + e);
}

static inline double bcg_sigmoid_fast_f64(double x)
{
    const double e = bcg_exp_f64(-fabs(x));
    return (x < 0 ? e : 1) / (1 + e);
}

/* Half of cosh(x) = P e^r + Q e^-r with P = 2^(n - 1), Q = 2^(-n - 1) and |x| = n log(2) + r. */
static inline float bcg_cosh_f32(float x)
{
    const float positive = fabsf(x), kept = 89.5f < positive ? 89.5f : positive;
    const float shifted = bcg_fma_f32(kept, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127), n = shifted - (BCG_SHIFT_F32 + 127);
    const float r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, bcg_fma_f32(n, -BCG_LN2_HIGH_F32, kept)), s = r * r;
    const float even = bcg_exp_even_f32(s), odd = bcg_exp_odd_f32(s);
    const float p = bcg_from_bits_f32((bcg_bits_f32(shifted) - 2) << 23);
    const float q = 0.0625f * bcg_from_bits_f32((256 - bcg_bits_f32(shifted)) << 23);
    const float v = 1 + r;
    const float up = bcg_fma_f32(s, bcg_fma_f32(bcg_fma_f32(even, r, odd), r, 0.5f), bcg_sum_low_f32(1, r, v));
    const float down = bcg_fma_f32(s, bcg_fma_f32(bcg_fma_f32(even, r, -odd), r, 0.5f), -r);
    const float half = p * v + bcg_fma_f32(p, up, bcg_fma_f32(q, down, q));
    return half + half;
}

/* cosh(x) = P e^r + Q e^-r with P = 2^(n - 1), Q = 2^(-n - 1) and |x| = n log(2) + r, where |x| is at most 80. */
static inline float bcg_cosh_common_f32(float x)
{
    const float y = fabsf(x);
    const float shifted = bcg_fma_f32(y, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127), n = shifted - (BCG_SHIFT_F32 + 127);
    const float r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, bcg_fma_f32(n, -BCG_LN2_HIGH_F32, y)), s = r * r;
    const float even = bcg_exp_even_f32(s), odd = bcg_exp_odd_f32(s);
    const float p = bcg_from_bits_f32((bcg_bits_f32(shifted) - 1) << 23);
    const float q = bcg_from_bits_f32((253 - bcg_bits_f32(shifted)) << 23);
    const float v = 1 + r;
    const float up = bcg_fma_f32(s, bcg_fma_f32(bcg_fma_f32(even, r, odd), r, 0.5f), bcg_sum_low_f32(1, r, v));
    const float down = bcg_fma_f32(s, bcg_fma_f32(bcg_fma_f32(even, r, -odd), r, 0.5f), -r);
    return p * v + bcg_fma_f32(p, up, bcg_fma_f32(q, down, q));
}

/* Half of cosh(x) = P e^r + Q e^-r with P = 2^(n - 1), Q = 2^(-n - 1) and |x| = n log(2) + r. */
static inline double bcg_cosh_f64(double x)
{
    const double positive = fabs(x), kept = 710.6 < positive ? 710.6 : positive;
    const double shifted = bcg_fma_f64(kept, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 1023);
    const double n = shifted - (BCG_SHIFT_F64 + 1023);
    const double r = bcg_fma_f64(n, -BCG_LN2_LOW_F64, bcg_fma_f64(n, -BCG_LN2_HIGH_F64, kept)), s = r * r;
    const double even = bcg_exp_even_f64(s), odd = bcg_exp_odd_f64(s);
    const double p = bcg_from_bits_f64((bcg_bits_f64(shifted) - 2) << 52);
    const double q = 0.0625 * bcg_from_bits_f64((2048 - bcg_bits_f64(shifted)) << 52);
    const double v = 1 + r;
    const double up = bcg_fma_f64(s, bcg_fma_f64(bcg_fma_f64(even, r, odd), r, 0.5), bcg_sum_low_f64(1, r, v));
    const double down = bcg_fma_f64(s, bcg_fma_f64(bcg_fma_f64(even, r, -odd), r, 0.5), -r);
    const double half = p * v + bcg_fma_f64(p, up, bcg_fma_f64(q, down, q));
    return half + half;
}

/* (P - Q) cosh(r) + (P + Q) sinh(r) as in cosh, y = |x|; the sum's main terms cancel where n = 1. The rounding
 * error of P - Q does not count: Q is small then. */
static inline float bcg_sinh_of_f32(float y, float n, float p, float q)
{
    const float upper = bcg_fma_f32(n, -BCG_LN2_HIGH_F32, y), r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, upper), s = r * r;
    const float rounded = bcg_fma_f32(n, -BCG_LN2_LOW_F32, upper - r), sum = p + q, difference = p - q;
    const float cosh_low = s * bcg_fma_f32(s, bcg_exp_even_f32(s), 0.5f);
    const float sinh_low = bcg_fma_f32(s * r, bcg_exp_odd_f32(s), rounded);
    const float close = bcg_fma_f32(sum, r, difference), lower = bcg_fma_low_f32(sum, r, difference, close);
    return close + bcg_fma_f32(difference, cosh_low, bcg_fma_f32(sum, sinh_low, lower));
}

/* Where |x| is at most 80. */
static inline float bcg_sinh_common_f32(float x)
{
    const float y = fabsf(x), shifted = bcg_fma_f32(y, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127);
    const float p = bcg_from_bits_f32((bcg_bits_f32(shifted) - 1) << 23);
    const float q = bcg_from_bits_f32((253 - bcg_bits_f32(shifted)) << 23);
    return copysignf(bcg_sinh_of_f32(y, shifted - (BCG_SHIFT_F32 + 127), p, q), x);
}

/* For any x, as twice the half. */
static inline float bcg_sinh_f32(float x)
{
    const float y = fabsf(x), shifted = bcg_fma_f32(y, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127);
    const float p = bcg_from_bits_f32((bcg_bits_f32(shifted) - 2) << 23);
    const float q = 0.0625f * bcg_from_bits_f32((256 - bcg_bits_f32(shifted)) << 23);
    const float half = bcg_sinh_of_f32(y, shifted - (BCG_SHIFT_F32 + 127), p, q);
    const float small = y < 0x1p-25f ? y : half + half;
    return copysignf(y > 89.5f ? INFINITY : small, x);
}

/* Half of sinh(x) = (P - Q) cosh(r) + (P + Q) sinh(r), as in cosh; the sum's main terms cancel where n = 1. */
static inline double bcg_sinh_f64(double x)
{
    const double y = fabs(x);
    const double shifted = bcg_fma_f64(y, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 1023);
    const double n = shifted - (BCG_SHIFT_F64 + 1023);
    const double upper = bcg_fma_f64(n, -BCG_LN2_HIGH_F64, y), r = bcg_fma_f64(n, -BCG_LN2_LOW_F64, upper);
    const double s = r * r;
    const double rounded = bcg_fma_f64(n, -BCG_LN2_LOW_F64, upper - r);
    const double p = bcg_from_bits_f64((bcg_bits_f64(shifted) - 2) << 52);
    const double q = 0.0625 * bcg_from_bits_f64((2048 - bcg_bits_f64(shifted)) << 52);
    const double sum = p + q, difference = p - q;
    const double cosh_low = s * bcg_fma_f64(s, bcg_exp_even_f64(s), 0.5);
    const double sinh_low = bcg_fma_f64(s * r, bcg_exp_odd_f64(s), rounded);
    const double main = sum * r, close = difference + main;
    const double lost = bcg_fma_f64(bcg_sum_low_f64(p, q, sum), r, bcg_sum_low_f64(p, -q, difference));
    const double lower = bcg_sum_low_f64(difference, main, close) + (bcg_prod_low_f64(sum, r, main) + lost);
    const double half = close + bcg_fma_f64(difference, cosh_low, bcg_fma_f64(sum, sinh_low, lower));
    const double small = y < 0x1p-54 ? y : half + half;
    return copysign(y > 710.6 ? (double)INFINITY : small, x);
}

static inline float bcg_sinh_fast_f32(float x)
{
    const float y = fabsf(x);
    const float shifted = bcg_fma_f32(y, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127), n = shifted - (BCG_SHIFT_F32 + 127);
    const float r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, bcg_fma_f32(n, -BCG_LN2_HIGH_F32, y)), s = r * r;
    const float p = bcg_from_bits_f32((bcg_bits_f32(shifted) - 2) << 23);
    const float q = 0.0625f * bcg_from_bits_f32((256 - bcg_bits_f32(shifted)) << 23);
    const float sum = p + q, difference = p - q, odd = bcg_fma_f32(r * s, bcg_exp_odd_f32(s), r);
    const float even = s * bcg_fma_f32(s, bcg_exp_even_f32(s), 0.5f);
    const float half = bcg_fma_f32(difference, even, bcg_fma_f32(sum, odd, difference));
    const float small = y < 0x1p-25f ? y : half + half;
    return copysignf(y > 89.5f ? INFINITY : small, x);
}

static inline double bcg_sinh_fast_f64(double x)
{
    const double y = fabs(x);
    const double shifted = bcg_fma_f64(y, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 1023), n = shifted - (BCG_SHIFT_F64 + 1023);
    const double r = bcg_fma_f64(n, -BCG_LN2_LOW_F64, bcg_fma_f64(n, -BCG_LN2_HIGH_F64, y)), s = r * r;
    const double p = bcg_from_bits_f64((bcg_bits_f64(shifted) - 2) << 52);
    const double q = 0.0625 * bcg_from_bits_f64((2048 - bcg_bits_f64(shifted)) << 52);
    const double sum = p + q, difference = p - q, odd = bcg_fma_f64(r * s, bcg_exp_odd_f64(s), r);
    const double even = s * bcg_fma_f64(s, bcg_exp_even_f64(s), 0.5);
    const double half = bcg_fma_f64(difference, even, bcg_fma_f64(sum, odd, difference));
    const double small = y < 0x1p-54 ? y : half + half;
    return copysign(y > 710.6 ? (double)INFINITY : small, x);
}

#endif
