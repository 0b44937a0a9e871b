/* bcg_vmath_exp.h: exponentials, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * All start from e^x = 2^n e^r with r = x - n log(2), |r| <= log(2) / 2: n is rounded by adding a number whose last
 * digit counts ones, so that the low bits of the sum hold n and the bias, which a shift brings to the exponent. Where
 * 2^n is not finite, or too small, it is applied in two steps; forms with `common` in the name leave that out, and give
 * the same bits where it is not needed.
 */
#ifndef BCG_VMATH_EXP_H
#define BCG_VMATH_EXP_H

#include "bcg_vmath_core.h"

/* The parts of (e^r - 1 - r - r^2 / 2) / r^3 = odd(s) + r even(s), s = r^2: what goes into sinh(r) and cosh(r), for
 * |r| <= log(2) / 2. Minimax fit exp_f32: error 2^-30.9 */
static inline float bcg_exp_odd_f32(float s)
{
    return bcg_fma_f32(bcg_fma_f32(0x1.6c316ap-13f, s, 0x1.1136aap-7f), s, 0x1.55553cp-3f);
}

static inline float bcg_exp_even_f32(float s) { return bcg_fma_f32(0x1.6d408ap-10f, s, 0x1.5554f2p-5f); }

/* The parts of (e^r - 1 - r - r^2 / 2) / r^3 = odd(s) + r even(s), s = r^2: what goes into sinh(r) and cosh(r), for
 * |r| <= log(2) / 2. Minimax fit exp_f64: error 2^-60.3 */
static inline double bcg_exp_odd_f64(double s)
{
    double odd = bcg_fma_f64(0x1.af7a3237af75ep-26, s, 0x1.71dde7b4c9c9p-19);
    odd = bcg_fma_f64(odd, s, 0x1.a01a01b6f3711p-13);
    odd = bcg_fma_f64(odd, s, 0x1.111111110e339p-7);
    return bcg_fma_f64(odd, s, 0x1.555555555555dp-3);
}

static inline double bcg_exp_even_f64(double s)
{
    double even = bcg_fma_f64(0x1.20d132fcc2216p-29, s, 0x1.27e40c11635efp-22);
    even = bcg_fma_f64(even, s, 0x1.a01a01fc74f26p-16);
    even = bcg_fma_f64(even, s, 0x1.6c16c16c07ed2p-10);
    return bcg_fma_f64(even, s, 0x1.555555555556fp-5);
}

static inline float bcg_exp_tail_f32(float r, float s)
{
    return bcg_fma_f32(bcg_exp_even_f32(s), r, bcg_exp_odd_f32(s));
}

static inline double bcg_exp_tail_f64(double r, double s)
{
    return bcg_fma_f64(bcg_exp_even_f64(s), r, bcg_exp_odd_f64(s));
}

/* Up to these bounds e^x and 2^x are normal numbers, and so are the 2^n that they are made of. */
#define BCG_EXP_COMMON_F32 87.0f

#define BCG_EXP_COMMON_F64 708.0

#define BCG_EXP2_COMMON_F32 125.0f

#define BCG_EXP2_COMMON_F64 1021.0

/* (1 + p) 2^n, where n and the bias are in the low bits of shifted. */
typedef struct {
    float p, shifted;
} bcg_exp_parts_f32;

/* The number added to round to whole ones, and to find the exponent of 2^n in the low bits of the sum. */
#define BCG_EXP_SHIFT_F32 (BCG_SHIFT_F32 + 127)

/* (1 + p) 2^n, where n is the exponent of a normal number, and so is the result. */
static inline float bcg_exp_of_common_f32(bcg_exp_parts_f32 e)
{
    const float power = bcg_from_bits_f32(bcg_bits_f32(e.shifted) << 23);
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fmaf(e.p, power, power);
#else
    return (1 + e.p) * power;
#endif
}

/* (1 + p) 2^n for any n; tiny: 2^n, or the result, may not be normal. */
static inline float bcg_exp_of_f32(bcg_exp_parts_f32 e, int tiny)
{
    const float n = e.shifted + (tiny ? 64 - 127.0f : -127.0f);
    const float moved = bcg_from_bits_f32(bcg_bits_f32(1 + e.p) + (bcg_bits_f32(n) << 23));
    return moved * (tiny ? 0x1p-64f : 1);
}

/* (1 + p) 2^n, where n and the bias are in the low bits of shifted. */
typedef struct {
    double p, shifted;
} bcg_exp_parts_f64;

/* The number added to round to whole ones, and to find the exponent of 2^n in the low bits of the sum. */
#define BCG_EXP_SHIFT_F64 (BCG_SHIFT_F64 + 1023)

/* (1 + p) 2^n, where n is the exponent of a normal number, and so is the result. */
static inline double bcg_exp_of_common_f64(bcg_exp_parts_f64 e)
{
    const double power = bcg_from_bits_f64(bcg_bits_f64(e.shifted) << 52);
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fma(e.p, power, power);
#else
    return (1 + e.p) * power;
#endif
}

/* (1 + p) 2^n for any n; tiny: 2^n, or the result, may not be normal. */
static inline double bcg_exp_of_f64(bcg_exp_parts_f64 e, int tiny)
{
    const double n = e.shifted + (tiny ? 64 - 1023.0 : -1023.0);
    const double moved = bcg_from_bits_f64(bcg_bits_f64(1 + e.p) + (bcg_bits_f64(n) << 52));
    return moved * (tiny ? 0x1p-64 : 1);
}

static inline bcg_exp_parts_f32 bcg_exp_scaled_f32(float x)
{
    const float shifted = bcg_fma_f32(x, BCG_LOG2_E_F32, BCG_EXP_SHIFT_F32);
    const float n = shifted - BCG_EXP_SHIFT_F32;
    const float r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, bcg_fma_f32(n, -BCG_LN2_HIGH_F32, x));
    const float s = r * r;
    const float p = bcg_fma_f32(s, bcg_fma_f32(bcg_exp_tail_f32(r, s), r, 0.5f), r);
    const bcg_exp_parts_f32 parts = {p, shifted};
    return parts;
}

static inline float bcg_exp_common_f32(float x) { return bcg_exp_of_common_f32(bcg_exp_scaled_f32(x)); }

static inline float bcg_exp_f32(float x)
{
    const float power = bcg_exp_of_f32(bcg_exp_scaled_f32(x), x < -87.0f);
    const float number = x < -104.0f ? 0 : power;
    return x <= 0x1.62e42ep6f ? number : x + INFINITY;
}

static inline bcg_exp_parts_f64 bcg_exp_scaled_f64(double x)
{
    const double shifted = bcg_fma_f64(x, BCG_LOG2_E_F64, BCG_EXP_SHIFT_F64);
    const double n = shifted - BCG_EXP_SHIFT_F64;
    const double r = bcg_fma_f64(n, -BCG_LN2_LOW_F64, bcg_fma_f64(n, -BCG_LN2_HIGH_F64, x));
    const double s = r * r;
    const double p = bcg_fma_f64(s, bcg_fma_f64(bcg_exp_tail_f64(r, s), r, 0.5), r);
    const bcg_exp_parts_f64 parts = {p, shifted};
    return parts;
}

static inline double bcg_exp_common_f64(double x) { return bcg_exp_of_common_f64(bcg_exp_scaled_f64(x)); }

static inline double bcg_exp_f64(double x)
{
    const double power = bcg_exp_of_f64(bcg_exp_scaled_f64(x), x < -708.0);
    const double number = x < -746.0 ? 0 : power;
    return x <= 0x1.62e42fefa39efp9 ? number : x + (double)INFINITY;
}

/* one * (e^x - 1) for x = n log(2) + r and power = one * 2^n: power - one + power (r + low), e^r = 1 + r + low. */
static inline float bcg_expm1_times_f32(float x, float n, float power, float one)
{
    const float reduced = bcg_fma_f32(n, -BCG_LN2_HIGH_F32, x), r = bcg_fma_f32(n, -BCG_LN2_LOW_F32, reduced);
    const float s = r * r, rounded = bcg_fma_f32(n, -BCG_LN2_LOW_F32, reduced - r);
    const float low = bcg_close_fma_f32(s, bcg_fma_f32(r, bcg_exp_tail_f32(r, s), 0.5f), rounded);
    const float less = power - one, lost = (power - less) - one;
    const float upper = bcg_fma_f32(power, r, less), lower = bcg_fma_f32(power, r, less - upper);
    return upper + (lower + bcg_fma_f32(power, low, lost));
}

/* Where |x| is at most 80. */
static inline float bcg_expm1_common_f32(float x)
{
    const float shifted = bcg_fma_f32(x, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127);
    const float power = bcg_from_bits_f32(bcg_bits_f32(shifted) << 23);
    const float number = bcg_expm1_times_f32(x, shifted - (BCG_SHIFT_F32 + 127), power, 1);
    return bcg_from_bits_f32(bcg_bits_f32(number) | (bcg_bits_f32(x) & 0x80000000u));
}

/* For any x, as twice the half: if 2^n is not finite, its half is. */
static inline float bcg_expm1_f32(float x)
{
    const float shifted = bcg_fma_f32(x, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 127);
    const float power = bcg_from_bits_f32((bcg_bits_f32(shifted) - 1) << 23);
    const float half = bcg_expm1_times_f32(x, shifted - (BCG_SHIFT_F32 + 127), power, 0.5f);
    const float number = x < -20 ? -1 : half + half;
    const float finite = fabsf(x) < 0x1p-25f ? x : number;
    return x <= 0x1.62e42ep6f ? finite : x + INFINITY;
}

/* Half of 2^n - 1 + 2^n (r + low) with e^r = 1 + r + low to twice the digits; if 2^n is not finite, its half is. */
static inline double bcg_expm1_f64(double x)
{
    const double shifted = bcg_fma_f64(x, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 1022), n = shifted - (BCG_SHIFT_F64 + 1022);
    const double reduced = bcg_fma_f64(n, -BCG_LN2_HIGH_F64, x), r = bcg_fma_f64(n, -BCG_LN2_LOW_F64, reduced);
    const double s = r * r, s_low = bcg_prod_low_f64(r, r, s);
    const double rounded = bcg_fma_f64(n, -BCG_LN2_LOW_F64, reduced - r);
    const double rest = bcg_fma_f64(s * r, bcg_exp_tail_f64(r, s), bcg_fma_f64(s_low, 0.5, rounded));
    const double power = bcg_from_bits_f64(bcg_bits_f64(shifted) << 52);
    const double less = power - 0.5, lost = (power - less) - 0.5;
    const double upper = bcg_fma_f64(power, r, less), lower = bcg_fma_f64(power, r, less - upper);
    const double half = upper + (lower + bcg_fma_f64(power, bcg_fma_f64(s, 0.5, rest), lost));
    const double number = x < -40 ? -1 : half + half;
    const double finite = fabs(x) < 0x1p-54 ? x : number;
    return x <= 0x1.62e42fefa39efp9 ? finite : x + (double)INFINITY;
}

/* (2^x - 1 - x log(2)) / x^2 for |x| <= 1/2, s = x^2. Minimax fit exp2_f32: error 2^-29.7 */
static inline float bcg_exp2_tail_f32(float x, float s)
{
    const float even = bcg_fma_f32(bcg_fma_f32(0x1.445512p-13f, s, 0x1.3b29fep-7f), s, 0x1.ebfbep-3f);
    const float odd = bcg_fma_f32(bcg_fma_f32(0x1.fe7bfap-17f, s, 0x1.5d89cp-10f), s, 0x1.c6b08cp-5f);
    return bcg_fma_f32(odd, x, even);
}

/* (2^x - 1 - x log(2)) / x^2 for |x| <= 1/2, s = x^2. Minimax fit exp2_f64: error 2^-58.7 */
static inline double bcg_exp2_tail_f64(double x, double s)
{
    double even = bcg_fma_f64(0x1.c2a7e46d267fbp-36, s, 0x1.e4d07fed2e73bp-28);
    even = bcg_fma_f64(even, s, 0x1.62c021e075c43p-20);
    even = bcg_fma_f64(even, s, 0x1.430912f88319p-13);
    even = bcg_fma_f64(even, s, 0x1.3b2ab6fba4e2bp-7);
    even = bcg_fma_f64(even, s, 0x1.ebfbdff82c58fp-3);
    double odd = bcg_fma_f64(0x1.e9f60caaf7986p-32, s, 0x1.b524e58e5cfe5p-24);
    odd = bcg_fma_f64(odd, s, 0x1.ffcbfc706145ap-17);
    odd = bcg_fma_f64(odd, s, 0x1.5d87fe78a384p-10);
    odd = bcg_fma_f64(odd, s, 0x1.c6b08d704a0c8p-5);
    return bcg_fma_f64(odd, x, even);
}

static inline bcg_exp_parts_f32 bcg_exp2_scaled_f32(float x)
{
    const float shifted = x + BCG_EXP_SHIFT_F32, r = x - (shifted - BCG_EXP_SHIFT_F32), s = r * r;
    const float low = bcg_fma_f32(s, bcg_exp2_tail_f32(r, s), r * -0x1.05c61p-29f);
    const float p = bcg_close_fma_f32(r, 0x1.62e43p-1f, low);
    const bcg_exp_parts_f32 parts = {p, shifted};
    return parts;
}

static inline float bcg_exp2_common_f32(float x) { return bcg_exp_of_common_f32(bcg_exp2_scaled_f32(x)); }

static inline float bcg_exp2_f32(float x)
{
    const float power = bcg_exp_of_f32(bcg_exp2_scaled_f32(x), x < -125);
    const float number = x < -150 ? 0 : power;
    return x < 128 ? number : x + INFINITY;
}

static inline bcg_exp_parts_f64 bcg_exp2_scaled_f64(double x)
{
    const double shifted = x + BCG_EXP_SHIFT_F64, r = x - (shifted - BCG_EXP_SHIFT_F64), s = r * r;
    const double low = bcg_fma_f64(s, bcg_exp2_tail_f64(r, s), r * 0x1.abc9e3b39803fp-56);
    const double p = bcg_close_fma_f64(r, 0x1.62e42fefa39efp-1, low);
    const bcg_exp_parts_f64 parts = {p, shifted};
    return parts;
}

static inline double bcg_exp2_common_f64(double x) { return bcg_exp_of_common_f64(bcg_exp2_scaled_f64(x)); }

static inline double bcg_exp2_f64(double x)
{
    const double power = bcg_exp_of_f64(bcg_exp2_scaled_f64(x), x < -1021);
    const double number = x < -1075 ? 0 : power;
    return x < 1024 ? number : x + (double)INFINITY;
}

#endif
