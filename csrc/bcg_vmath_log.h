/* bcg_vmath_log.h: logarithms and what is made of them, powers and roots, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition stands between blank lines and uses only what stands above
 * it, in bcg_vmath_core.h, bcg_vmath_exp.h or the standard headers: emit copies the ones a kernel needs.
 *
 * The file is long because powers, roots and inverse hyperbolic functions share the logarithms' parts.
 */
#ifndef BCG_VMATH_LOG_H
#define BCG_VMATH_LOG_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_exp.h"

/* log(1 + f) - f + s / 2 for 1 + f in sqrt(1/2) to sqrt(2), s = f^2. python csrc/fit.py log_f32: error 2^-28.2 */
static inline float bcg_log_third_f32(float f, float s)
{
    float even = bcg_fma_f32(0x1.144196p-4f, s, 0x1.e6f4d6p-4f);
    even = bcg_fma_f32(even, s, 0x1.233742p-3f);
    even = bcg_fma_f32(even, s, 0x1.99a4b6p-3f);
    even = bcg_fma_f32(even, s, 0x1.555548p-2f);
    float odd = bcg_fma_f32(-0x1.de32b8p-4f, s, -0x1.fc23ep-4f);
    odd = bcg_fma_f32(odd, s, -0x1.555c3ep-3f);
    odd = bcg_fma_f32(odd, s, -0x1.000006p-2f);
    return s * f * bcg_fma_f32(odd, f, even);
}

/* log(1 + f) - f. */
static inline float bcg_log_second_f32(float f)
{
    const float square = f * f;
    return bcg_fma_f32(square, -0.5f, bcg_log_third_f32(f, square));
}

/* log(1 + f) - f, and with square / 2 added, for 1 + f in sqrt(1/2) to sqrt(2): the first is faster, the second closer.
 * python csrc/fit.py log_f64: error 2^-59.2 */
static inline double bcg_log_ratio_f64(double z)
{
    const double zz = z * z;
    double even = bcg_fma_f64(0x1.2f03972a8c7e8p-3, zz, 0x1.74663cefe831fp-3);
    even = bcg_fma_f64(even, zz, 0x1.24924941e3f45p-2);
    even = bcg_fma_f64(even, zz, 0x1.5555555555592p-1);
    double odd = bcg_fma_f64(0x1.39a1eae699af1p-3, zz, 0x1.c71c521382218p-3);
    odd = bcg_fma_f64(odd, zz, 0x1.999999997feb3p-2);
    return bcg_fma_f64(odd, z, even);
}

static inline double bcg_log_second_f64(double f)
{
    const double s = f / (2 + f), z = s * s;
    return s * bcg_fma_f64(z, bcg_log_ratio_f64(z), -f);
}

static inline double bcg_log_third_f64(double f, double square)
{
    const double s = f / (2 + f), z = s * s;
    return s * bcg_fma_f64(z, bcg_log_ratio_f64(z), 0.5 * square);
}

/* log(1 + f), to some ULPs. python csrc/fit.py log_fast_f32: error 2^-27.0 */
static inline float bcg_log_short_f32(float f)
{
    const float s = f * f;
    float even = bcg_fma_f32(0x1.0556eep-3f, s, 0x1.22dadcp-3f);
    even = bcg_fma_f32(even, s, 0x1.99ap-3f);
    even = bcg_fma_f32(even, s, 0x1.555554p-2f);
    float odd = bcg_fma_f32(-0x1.389c6ap-4f, s, -0x1.0d879ap-3f);
    odd = bcg_fma_f32(odd, s, -0x1.54722p-3f);
    odd = bcg_fma_f32(odd, s, -0x1.000228p-2f);
    return bcg_fma_f32(s, bcg_fma_f32(bcg_fma_f32(odd, f, even), f, -0.5f), f);
}

/* log(1 + f), to some ULPs. python csrc/fit.py log_fast_f64: error 2^-52.2 */
static inline double bcg_log_short_f64(double f)
{
    const double s = f / (2 + f), z = s * s, zz = z * z;
    double even = bcg_fma_f64(0x1.732c442e599afp-3, zz, 0x1.24924179e99fdp-2);
    even = bcg_fma_f64(even, zz, 0x1.5555555553976p-1);
    double odd = bcg_fma_f64(0x1.5876417f020ccp-3, zz, 0x1.c72277007a10dp-3);
    odd = bcg_fma_f64(odd, zz, 0x1.999999a28f949p-2);
    return bcg_fma_f64(s, bcg_fma_f64(z, bcg_fma_f64(odd, z, even), -f), f);
}

/* x^(-1/3) from 1 to 2. python csrc/fit.py cbrt_f32: error 2^-17.4 */
static inline float bcg_cbrt_start_f32(float x)
{
    float y = bcg_fma_f32(-0x1.16d616p-6f, x, 0x1.3fa192p-3f);
    y = bcg_fma_f32(y, x, -0x1.321bb8p-1f);
    y = bcg_fma_f32(y, x, 0x1.3e683ap0f);
    y = bcg_fma_f32(y, x, -0x1.90e6e2p0f);
    return bcg_fma_f32(y, x, 0x1.c7f34ap0f);
}

/* x^(-1/3) from 1 to 2. python csrc/fit.py cbrt_f64: error 2^-17.4 */
static inline double bcg_cbrt_start_f64(double x)
{
    double y = bcg_fma_f64(-0x1.16d61533da2ffp-6, x, 0x1.3fa1922ed658bp-3);
    y = bcg_fma_f64(y, x, -0x1.321bb7ffbfd75p-1);
    y = bcg_fma_f64(y, x, 0x1.3e683a76b3ec9p0);
    y = bcg_fma_f64(y, x, -0x1.90e6e225d90afp0);
    return bcg_fma_f64(y, x, 0x1.c7f34947a6111p0);
}

/* x = 2^k (1 + f) with 1 + f in sqrt(1/2) to sqrt(2), for a positive finite x. */
typedef struct {
    float k, f;
} bcg_log_parts_f32;

/* x = 2^k (1 + f) with 1 + f in sqrt(1/2) to sqrt(2), for a positive finite x. */
typedef struct {
    double k, f;
} bcg_log_parts_f64;

/* A subnormal x is scaled up; the exponent of the scale is subtracted in the bits, so that one selection does. */
static inline bcg_log_parts_f32 bcg_log_split_f32(float x)
{
    const float scale = x < 0x1p-126f ? 0x1p24f : 1;
    const uint32_t bits = bcg_bits_f32(x * scale) - bcg_bits_f32(scale) + (0xbf800000u - 0x3f3504f3u);
    const float m = bcg_from_bits_f32((bits & 0x007fffffu) + 0x3f3504f3u);
    const float k = bcg_from_bits_f32((bits >> 23) | 0x4b000000u) - (0x1p23f + 256.0f);
    const bcg_log_parts_f32 parts = {k, m - 1};
    return parts;
}

/* A subnormal x is scaled up; the exponent of the scale is subtracted in the bits, so that one selection does. */
static inline bcg_log_parts_f64 bcg_log_split_f64(double x)
{
    const double scale = x < 0x1p-1022 ? 0x1p54 : 1;
    const uint64_t bits = bcg_bits_f64(x * scale) - bcg_bits_f64(scale) + (0xbff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double m = bcg_from_bits_f64((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 2048.0);
    const bcg_log_parts_f64 parts = {k, m - 1};
    return parts;
}

/* What a logarithm of x is: number where x is positive and finite, and x itself where it is an infinity or NaN. */
static inline float bcg_log_special_f32(float x, float number)
{
    const float positive = x < INFINITY ? number : x, other = x == 0 ? -INFINITY : NAN;
    return x > 0 ? positive : other;
}

/* What a logarithm of x is: number where x is positive and finite, and x itself where it is an infinity or NaN. */
static inline double bcg_log_special_f64(double x, double number)
{
    const double positive = x < INFINITY ? number : x, other = x == 0 ? -INFINITY : NAN;
    return x > 0 ? positive : other;
}

static inline float bcg_log_f32(float x)
{
    const bcg_log_parts_f32 a = bcg_log_split_f32(x);
    const float whole = a.k * BCG_LN2_HIGH_F32, upper = whole + a.f, lower = bcg_sum_low_f32(whole, a.f, upper);
    return bcg_log_special_f32(x, upper + (bcg_fma_f32(a.k, BCG_LN2_LOW_F32, lower) + bcg_log_second_f32(a.f)));
}

static inline double bcg_log_f64(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    const double whole = a.k * BCG_LN2_HIGH_F64, upper = whole + a.f, lower = bcg_sum_low_f64(whole, a.f, upper);
    return bcg_log_special_f64(x, upper + (bcg_fma_f64(a.k, BCG_LN2_LOW_F64, lower) + bcg_log_second_f64(a.f)));
}

static inline float bcg_log2_f32(float x)
{
    const bcg_log_parts_f32 a = bcg_log_split_f32(x);
    const float p = a.f * BCG_LOG2_E_F32, p_low = bcg_prod_low_f32(a.f, BCG_LOG2_E_F32, p);
    const float upper = a.k + p, lower = bcg_sum_low_f32(a.k, p, upper) + p_low;
    const float square = a.f * a.f, third = bcg_log_third_f32(a.f, square), lost = bcg_prod_low_f32(a.f, a.f, square);
    const float rest = bcg_fma_f32(lost, -0x1.715476p-1f, bcg_fma_f32(a.f, 0x1.4ae0cp-26f, lower));
    const float low = bcg_fma_f32(square, -0x1.715476p-1f, bcg_fma_f32(third, BCG_LOG2_E_F32, rest));
    return bcg_log_special_f32(x, upper + low);
}

static inline double bcg_log2_f64(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    const double p = a.f * BCG_LOG2_E_F64, p_low = bcg_prod_low_f64(a.f, BCG_LOG2_E_F64, p);
    const double upper = a.k + p, lower = bcg_sum_low_f64(a.k, p, upper) + p_low;
    const double square = a.f * a.f, third = bcg_log_third_f64(a.f, square), lost = bcg_prod_low_f64(a.f, a.f, square);
    const double rest = bcg_fma_f64(lost, -0x1.71547652b82fep-1, bcg_fma_f64(a.f, 0x1.777d0ffda0d24p-56, lower));
    const double low = bcg_fma_f64(square, -0x1.71547652b82fep-1, bcg_fma_f64(third, BCG_LOG2_E_F64, rest));
    return bcg_log_special_f64(x, upper + low);
}

static inline float bcg_log10_f32(float x)
{
    const bcg_log_parts_f32 a = bcg_log_split_f32(x);
    const float p = a.f * BCG_LOG10_E_F32, p_low = bcg_prod_low_f32(a.f, BCG_LOG10_E_F32, p);
    const float whole = a.k * 0x1.344p-2f, upper = whole + p, lower = bcg_sum_low_f32(whole, p, upper) + p_low;
    const float rest = bcg_fma_f32(a.k, 0x1.3509f8p-18f, bcg_fma_f32(a.f, -0x1.5b235ep-27f, lower));
    const float square = a.f * a.f, third = bcg_log_third_f32(a.f, square);
    const float low = bcg_fma_f32(square, -0x1.bcb7b2p-3f, bcg_fma_f32(third, BCG_LOG10_E_F32, rest));
    return bcg_log_special_f32(x, upper + low);
}

static inline double bcg_log10_f64(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    const double p = a.f * BCG_LOG10_E_F64, p_low = bcg_prod_low_f64(a.f, BCG_LOG10_E_F64, p);
    const double whole = a.k * 0x1.34413509f78p-2, upper = whole + p, lower = bcg_sum_low_f64(whole, p, upper) + p_low;
    const double rest = bcg_fma_f64(a.k, 0x1.fef311f12b358p-46, bcg_fma_f64(a.f, 0x1.95355baaafad3p-57, lower));
    const double square = a.f * a.f, third = bcg_log_third_f64(a.f, square);
    const double low = bcg_fma_f64(square, -0x1.bcb7b1526e50ep-3, bcg_fma_f64(third, BCG_LOG10_E_F64, rest));
    return bcg_log_special_f64(x, upper + low);
}

static inline float bcg_log_fast_f32(float x)
{
    const bcg_log_parts_f32 a = bcg_log_split_f32(x);
    return bcg_log_special_f32(x, bcg_fma_f32(a.k, 0x1.62e43p-1f, bcg_log_short_f32(a.f)));
}

static inline double bcg_log_fast_f64(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    return bcg_log_special_f64(x, bcg_fma_f64(a.k, 0x1.62e42fefa39efp-1, bcg_log_short_f64(a.f)));
}

static inline float bcg_log2_fast_f32(float x)
{
    const bcg_log_parts_f32 a = bcg_log_split_f32(x);
    return bcg_log_special_f32(x, bcg_fma_f32(bcg_log_short_f32(a.f), BCG_LOG2_E_F32, a.k));
}

static inline double bcg_log2_fast_f64(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    return bcg_log_special_f64(x, bcg_fma_f64(bcg_log_short_f64(a.f), BCG_LOG2_E_F64, a.k));
}

static inline float bcg_log10_fast_f32(float x)
{
    const bcg_log_parts_f32 a = bcg_log_split_f32(x);
    const float part = bcg_log_short_f32(a.f) * BCG_LOG10_E_F32;
    return bcg_log_special_f32(x, bcg_fma_f32(a.k, 0x1.344136p-2f, part));
}

static inline double bcg_log10_fast_f64(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    const double part = bcg_log_short_f64(a.f) * BCG_LOG10_E_F64;
    return bcg_log_special_f64(x, bcg_fma_f64(a.k, 0x1.34413509f79ffp-2, part));
}

/* log(u + lost) - zero log(2), whatever small number lost is beside the positive u: where both are about 1 their
 * difference from 1 keeps its digits. */
static inline float bcg_log_sum_f32(float u, float lost, float zero)
{
    const uint32_t bits = bcg_bits_f32(u) + (0x3f800000u - 0x3f3504f3u);
    const float k = bcg_from_bits_f32((bits >> 23) | 0x4b000000u) - (0x1p23f + 127.0f + zero);
    const float f = bcg_from_bits_f32((bits & 0x007fffffu) + 0x3f3504f3u) - 1;
    const float scaled = lost * (0.5f * bcg_from_bits_f32((255u - (bits >> 23)) << 23));
    const float g = f + scaled, g_low = bcg_sum_low_f32(f, scaled, g);
    const float whole = k * BCG_LN2_HIGH_F32, upper = whole + g, lower = bcg_sum_low_f32(whole, g, upper);
    return upper + (bcg_fma_f32(k, BCG_LN2_LOW_F32, lower + bcg_fma_f32(-g, g_low, g_low)) + bcg_log_second_f32(g));
}

/* log(u + lost) - zero log(2), whatever small number lost is beside the positive u: where both are about 1 their
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

/* As log of 1 + x, with what rounding took from the sum. */
static inline float bcg_log1p_f32(float x)
{
    const float u = 1 + x, sum = bcg_log_sum_f32(u, bcg_any_sum_low_f32(1, x, u), 0);
    const float number = x < INFINITY ? copysignf(sum, x) : x, other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? number : other;
}

/* As log of 1 + x, with what rounding took from the sum. */
static inline double bcg_log1p_f64(double x)
{
    const double u = 1 + x, sum = bcg_log_sum_f64(u, bcg_any_sum_low_f64(1, x, u), 0);
    const double number = x < INFINITY ? copysign(sum, x) : x, other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? number : other;
}

/* log(|x| + w) with w = sqrt(x^2 + 1), as log of half of it; w is |x| where the 1 no longer counts. */
static inline float bcg_arcsinh_f32(float x)
{
    const float a = fabsf(x), square = a * a, s = square + 1;
    const float s_low = bcg_any_sum_low_f32(1, square, s) + bcg_prod_low_f32(a, a, square), root = sqrtf(s);
    const float root_low = (bcg_rest_f32(s, root, root) + s_low) * (0.5f / root);
    const float w = a < 0x1p15f ? root : a, w_low = a < 0x1p15f ? root_low : 0;
    const float half = 0.5f * a, half_w = 0.5f * w, u = half + half_w;
    const float sum = bcg_log_sum_f32(u, bcg_fma_f32(w_low, 0.5f, bcg_any_sum_low_f32(half, half_w, u)), -1);
    const float number = a < INFINITY ? copysignf(sum, x) : x;
    return a < 0x1p-13f ? x : number;
}

/* log(|x| + w) with w = sqrt(x^2 + 1), as log of half of it; w is |x| where the 1 no longer counts. */
static inline double bcg_arcsinh_f64(double x)
{
    const double a = fabs(x), square = a * a, s = square + 1;
    const double s_low = bcg_any_sum_low_f64(1, square, s) + bcg_prod_low_f64(a, a, square), root = sqrt(s);
    const double root_low = (bcg_rest_f64(s, root, root) + s_low) * (0.5 / root);
    const double w = a < 0x1p30 ? root : a, w_low = a < 0x1p30 ? root_low : 0;
    const double half = 0.5 * a, half_w = 0.5 * w, u = half + half_w;
    const double sum = bcg_log_sum_f64(u, bcg_fma_f64(w_low, 0.5, bcg_any_sum_low_f64(half, half_w, u)), -1);
    const double number = a < INFINITY ? copysign(sum, x) : x;
    return a < 0x1p-28 ? x : number;
}

/* log(x + w) with w = sqrt(x^2 - 1), as log of half of it; w is x where the 1 no longer counts. */
static inline float bcg_arccosh_f32(float x)
{
    const float square = x * x, s = square - 1;
    const float s_low = bcg_any_sum_low_f32(-1, square, s) + bcg_prod_low_f32(x, x, square), root = sqrtf(s);
    const float root_low = (bcg_rest_f32(s, root, root) + s_low) * (0.5f / root);
    const float w = x < 0x1p15f ? root : x, w_low = x < 0x1p15f ? (x > 1 ? root_low : 0) : 0;
    const float half = 0.5f * x, half_w = 0.5f * w, u = half + half_w;
    const float sum = bcg_log_sum_f32(u, bcg_fma_f32(w_low, 0.5f, bcg_sum_low_f32(half, half_w, u)), -1);
    const float number = x < INFINITY ? sum : x;
    return x >= 1 ? number : NAN;
}

/* log(x + w) with w = sqrt(x^2 - 1), as log of half of it; w is x where the 1 no longer counts. */
static inline double bcg_arccosh_f64(double x)
{
    const double square = x * x, s = square - 1;
    const double s_low = bcg_any_sum_low_f64(-1, square, s) + bcg_prod_low_f64(x, x, square), root = sqrt(s);
    const double root_low = (bcg_rest_f64(s, root, root) + s_low) * (0.5 / root);
    const double w = x < 0x1p30 ? root : x, w_low = x < 0x1p30 ? (x > 1 ? root_low : 0) : 0;
    const double half = 0.5 * x, half_w = 0.5 * w, u = half + half_w;
    const double sum = bcg_log_sum_f64(u, bcg_fma_f64(w_low, 0.5, bcg_sum_low_f64(half, half_w, u)), -1);
    const double number = x < INFINITY ? sum : x;
    return x >= 1 ? number : NAN;
}

/* Half of log(1 + q) with q = 2|x| / (1 - |x|), to twice the digits. */
static inline float bcg_arctanh_f32(float x)
{
    const float a = fabsf(x), d = 1 - a, inverse = 1 / d, q = (a + a) * inverse;
    const float rest = bcg_fma_f32(-q, bcg_sum_low_f32(1, -a, d), bcg_rest_f32(a + a, q, d));
    const float u = 1 + q, lost = bcg_fma_f32(rest, inverse, bcg_any_sum_low_f32(1, q, u));
    const float number = 0.5f * bcg_log_sum_f32(u, lost, 0), other = a == 1 ? INFINITY : NAN;
    return copysignf(a < 1 ? number : other, x);
}

/* Half of log(1 + q) with q = 2|x| / (1 - |x|), to twice the digits. */
static inline double bcg_arctanh_f64(double x)
{
    const double a = fabs(x), d = 1 - a, inverse = 1 / d, q = (a + a) * inverse;
    const double rest = bcg_fma_f64(-q, bcg_sum_low_f64(1, -a, d), bcg_rest_f64(a + a, q, d));
    const double u = 1 + q, lost = bcg_fma_f64(rest, inverse, bcg_any_sum_low_f64(1, q, u));
    const double number = 0.5 * bcg_log_sum_f64(u, lost, 0), other = a == 1 ? INFINITY : NAN;
    return copysign(a < 1 ? number : other, x);
}

/* Newton's step on top of a rounded quotient; where it is no number, at 0 and an infinity, the quotient is right. */
static inline float bcg_rsqrt_f32(float x)
{
    const float y = 1 / sqrtf(x), p = x * y;
    const float rest = bcg_fma_f32(-bcg_prod_low_f32(x, y, p), y, bcg_rest_f32(1, p, y));
    const float better = bcg_fma_f32(0.5f * y, rest, y);
    return better == better ? better : y;
}

/* Newton's step on top of a rounded quotient; where it is no number, at 0 and an infinity, the quotient is right. */
static inline double bcg_rsqrt_f64(double x)
{
    const double y = 1 / sqrt(x), p = x * y;
    const double rest = bcg_fma_f64(-bcg_prod_low_f64(x, y, p), y, bcg_rest_f64(1, p, y));
    const double better = bcg_fma_f64(0.5 * y, rest, y);
    return better == better ? better : y;
}

/* x^(1/3) = 2^k z, z^3 = m from 1 to 8: z is m times the square of m^(-1/3), from a polynomial times 2^(-j/3) with
 * j = 0, 1, 2; Newton's steps, the last one with the exact rest m - z^3. */
static inline float bcg_cbrt_f32(float x)
{
    const float a = fabsf(x), scale = a < 0x1p-126f ? 0x1p24f : 1;
    const uint32_t bits = bcg_bits_f32(a * scale);
    const float e = bcg_from_bits_f32((bits >> 23) | 0x4b000000u) - (0x1p23f - 2.0f);
    const float shifted = bcg_fma_f32(e - 1, 0x1.555556p-2f, BCG_SHIFT_F32);
    const float k = shifted - BCG_SHIFT_F32, j = bcg_fma_f32(k, -3, e);
    const uint32_t whole = bcg_bits_f32(shifted);
    const float m = bcg_from_bits_f32(bits - ((whole + whole + whole) << 23) + 0x40800000u);
    const float y = bcg_cbrt_start_f32(bcg_from_bits_f32((bits & 0x007fffffu) | 0x3f800000u)) *
                 bcg_fma_f32(bcg_fma_f32(0x1.5ca5bp-6f, j, -0x1.d2150cp-3f), j, 1);
    const float better = y;
    const float near = better * better, z = m * near, zz = z * z;
    const float rest = bcg_fma_f32(-bcg_prod_low_f32(z, z, zz), z, bcg_rest_f32(m, zz, z));
    const float root = bcg_fma_f32(rest, near * 0x1.555556p-2f, z);
    const float power = bcg_from_bits_f32((whole + (127 - 43)) << 23) * (a < 0x1p-126f ? 0x1p-8f : 1);
    const float number = a < INFINITY ? copysignf(root * power, x) : x;
    return x == 0 ? x : number;
}

/* x^(1/3) = 2^k z, z^3 = m from 1 to 8: z is m times the square of m^(-1/3), from a polynomial times 2^(-j/3) with
 * j = 0, 1, 2; Newton's steps, the last one with the exact rest m - z^3. */
static inline double bcg_cbrt_f64(double x)
{
    const double a = fabs(x), scale = a < 0x1p-1022 ? 0x1p54 : 1;
    const uint64_t bits = bcg_bits_f64(a * scale);
    const double e = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - 0x1p52;
    const double shifted = bcg_fma_f64(e - 1, 0x1.5555555555555p-2, BCG_SHIFT_F64);
    const double k = shifted - BCG_SHIFT_F64, j = bcg_fma_f64(k, -3, e);
    const uint64_t whole = bcg_bits_f64(shifted);
    const double m = bcg_from_bits_f64(bits - ((whole + whole + whole) << 52) + 0x3ff0000000000000u);
    const double y = bcg_cbrt_start_f64(bcg_from_bits_f64((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u)) *
                 bcg_fma_f64(bcg_fma_f64(0x1.5ca5af129611ep-6, j, -0x1.d2150c92f7332p-3), j, 1);
    const double better = bcg_fma_f64(y * bcg_fma_f64(-(m * y), y * y, 1), 0x1.5555555555555p-2, y);
    const double near = better * better, z = m * near, zz = z * z;
    const double rest = bcg_fma_f64(-bcg_prod_low_f64(z, z, zz), z, bcg_rest_f64(m, zz, z));
    const double root = bcg_fma_f64(rest, near * 0x1.5555555555555p-2, z);
    const double power = bcg_from_bits_f64((whole + (1023 - 341)) << 52) * (a < 0x1p-1022 ? 0x1p-18 : 1);
    const double number = a < INFINITY ? copysign(root * power, x) : x;
    return x == 0 ? x : number;
}

/* The larger one is scaled to where squares neither overflow nor lose digits; the sum of squares is rounded once. */
static inline float bcg_hypot_f32(float x, float y)
{
    const float first = fabsf(x), second = fabsf(y);
    const float large = first > second ? first : second, small = first > second ? second : first;
    const float shrunk = large > 0x1p60f ? 0x1p-90f : 1, scale = large < 0x1p-60f ? 0x1p90f : shrunk;
    const float a = large * scale, b = small * scale, aa = a * a, bb = b * b, sum = aa + bb;
    const float low = bcg_prod_low_f32(a, a, aa) + (bcg_sum_low_f32(aa, bb, sum) + bcg_prod_low_f32(b, b, bb));
    const float root = sqrtf(sum + low) * bcg_from_bits_f32((254u << 23) - bcg_bits_f32(scale));
    const float number = first == INFINITY ? INFINITY : root;
    return second == INFINITY ? INFINITY : number;
}

/* The larger one is scaled to where squares neither overflow nor lose digits; the sum of squares is rounded once. */
static inline double bcg_hypot_f64(double x, double y)
{
    const double first = fabs(x), second = fabs(y);
    const double large = first > second ? first : second, small = first > second ? second : first;
    const double shrunk = large > 0x1p500 ? 0x1p-600 : 1, scale = large < 0x1p-500 ? 0x1p600 : shrunk;
    const double a = large * scale, b = small * scale, aa = a * a, bb = b * b, sum = aa + bb;
    const double low = bcg_prod_low_f64(a, a, aa) + (bcg_sum_low_f64(aa, bb, sum) + bcg_prod_low_f64(b, b, bb));
    const double root = sqrt(sum + low) * bcg_from_bits_f64((2046ull << 52) - bcg_bits_f64(scale));
    const double number = first == INFINITY ? INFINITY : root;
    return second == INFINITY ? INFINITY : number;
}

/* The power of |x| in number, made that of x < 0: y is even, odd or not whole as it is 0,
    1 or something else beside the
 * nearest even number. From 2^53 on all numbers are even. */
static inline double bcg_power_signed_f64(double x, double y, double number)
{
    const double a = fabs(y), kept = 0x1p53 < a ? 0x1p53 : a, half = 0.5 * kept, near = (half + 0x1p52) - 0x1p52;
    const double beside = fabs(kept - (near + near)), negative = x < 0 ? NAN : number;
    const double odd = bcg_from_bits_f64(bcg_bits_f64(number) ^ (bcg_bits_f64(x) & 0x8000000000000000u));
    const double other = x == -INFINITY ? number : negative, not_even = beside == 1 ? odd : other;
    return beside == 0 ? number : not_even;
}

/* The same, and from 2^24 on. */
static inline float bcg_power_signed_f32(float x, float y, float number)
{
    const float a = fabsf(y), kept = 0x1p24f < a ? 0x1p24f : a, half = 0.5f * kept, near = (half + 0x1p23f) - 0x1p23f;
    const float beside = fabsf(kept - (near + near)), negative = x < 0 ? NAN : number;
    const float odd = bcg_from_bits_f32(bcg_bits_f32(number) ^ (bcg_bits_f32(x) & 0x80000000u));
    const float other = x == -INFINITY ? number : negative, not_even = beside == 1 ? odd : other;
    return beside == 0 ? number : not_even;
}

/* (log2(1 + f) - c0 s - c1 s^3) / s^5 with s = f / (2 + f), z = s^2. python csrc/fit.py power_f64: error 2^-65.8 */
static inline double bcg_power_tail_f64(double z)
{
    const double zz = z * z;
    double even = bcg_fma_f64(0x1.85e49b6f1c907p-3, zz, 0x1.c69f8693d998dp-3);
    even = bcg_fma_f64(even, zz, 0x1.484b14216ab02p-2);
    even = bcg_fma_f64(even, zz, 0x1.2776c50ef9d23p-1);
    double odd = bcg_fma_f64(0x1.87b13fff6e17ep-3, zz, 0x1.0c9a63e654e6dp-2);
    odd = bcg_fma_f64(odd, zz, 0x1.a61762a759c7bp-2);
    return bcg_fma_f64(odd, z, even);
}

/* |x|^y = 2^(y log2|x|), with the logarithm to some 66 digits: each number of the chain has a low part beside it. */
static inline double bcg_power_f64(double x, double y)
{
    const double a = fabs(x);
    const bcg_log_parts_f64 parts = bcg_log_split_f64(a);
    const double f = parts.f, inverse = 1 / (2 + f), s = f * inverse, s_low = inverse * bcg_rest_f64(f - 2 * s, s, f);
    const double z = s * s, z_low = bcg_fma_f64(s + s, s_low, bcg_prod_low_f64(s, s, z)), tail = bcg_power_tail_f64(z);
    const double c = bcg_fma_f64(z, tail, 0x1.ec709dc3a03fdp-1);
    const double c_low = bcg_fma_low_f64(z, tail, 0x1.ec709dc3a03fdp-1, c) + 0x1.d27f05548af0cp-55;
    const double g = bcg_fma_f64(z, c, 0x1.71547652b82fep1);
    const double g_more = bcg_fma_f64(z, c_low, bcg_fma_f64(z_low, c + z * tail, 0x1.777d0ffda0d24p-55));
    const double g_low = bcg_fma_low_f64(z, c, 0x1.71547652b82fep1, g) + g_more;
    const double h = s * g, h_low = bcg_prod_low_f64(s, g, h) + bcg_fma_f64(s, g_low, s_low * g);
    const double sum = parts.k + h, sum_low = bcg_sum_low_f64(parts.k, h, sum) + h_low;
    const double finite = a < INFINITY ? sum : a, logarithm = a == 0 ? -INFINITY : finite;
    const double product = y * logarithm, low = bcg_fma_f64(y, sum_low, bcg_prod_low_f64(y, logarithm, product));
    const uint64_t not_one = a == 1 ? 0 : ~(uint64_t)0, mask = y == 0 ? 0 : not_one;
    const double exponent = bcg_from_bits_f64(bcg_bits_f64(product) & mask);
    const double below = 1080 < exponent ? 1080 : exponent;
    const double kept = -1080 > below ? -1080 : below, kept_low = kept == product ? low : 0;
    const double shifted = kept + (BCG_SHIFT_F64 + 1023), t = kept - (shifted - (BCG_SHIFT_F64 + 1023));
    const double r = t + kept_low;
    const double v = bcg_fma_f64(r, 0x1.62e42fefa39efp-1, 1), square = r * r;
    const double v_low = bcg_fma_f64(r, 0x1.abc9e3b39803fp-56, bcg_fma_low_f64(r, 0x1.62e42fefa39efp-1, 1, v));
    const double p = v + bcg_fma_f64(square, bcg_exp2_tail_f64(r, square), v_low);
    const double high = kept > 1000 ? 0x1p64 : 1, unscale = kept < -1000 ? 0x1p-64 : high;
    const uint64_t power = (bcg_bits_f64(shifted) << 52) - bcg_bits_f64(unscale) + 0x3ff0000000000000u;
    return bcg_power_signed_f64(x, y, p * bcg_from_bits_f64(power) * unscale);
}

/* log2(1 + f) / f, for f32. python csrc/fit.py log2_of_f32: error 2^-33.2 */
static inline double bcg_log2_of_f32_f64(double f)
{
    const double s = f * f;
    double even = bcg_fma_f64(0x1.3d1f0ec4359fap-3, s, 0x1.45a43ae4c016ap-3);
    even = bcg_fma_f64(even, s, 0x1.a615a7bade5b4p-3);
    even = bcg_fma_f64(even, s, 0x1.27773369252dbp-2);
    even = bcg_fma_f64(even, s, 0x1.ec709bff268c7p-2);
    even = bcg_fma_f64(even, s, 0x1.71547652efc05p0);
    double odd = bcg_fma_f64(-0x1.618d4e326455ap-4, s, -0x1.4183b2ff596dp-3);
    odd = bcg_fma_f64(odd, s, -0x1.6eafd1113bf01p-3);
    odd = bcg_fma_f64(odd, s, -0x1.ec8d77d385634p-3);
    odd = bcg_fma_f64(odd, s, -0x1.715435e118fd2p-2);
    odd = bcg_fma_f64(odd, s, -0x1.7154767bb7f3fp-1);
    return bcg_fma_f64(odd, f, even);
}

/* 2^r for |r| <= 1/2, for f32. python csrc/fit.py exp2_of_f32: error 2^-29.0 */
static inline double bcg_exp2_of_f32_f64(double r)
{
    const double s = r * r;
    double even = bcg_fma_f64(0x1.41d376e4c03c2p-13, s, 0x1.3b2dbb528a655p-7);
    even = bcg_fma_f64(even, s, 0x1.ebfbdadd7313ap-3);
    even = bcg_fma_f64(even, s, 0x1.0000000260953p0);
    double odd = bcg_fma_f64(0x1.5f456a171507dp-10, s, 0x1.c6aed4bbad71dp-5);
    odd = bcg_fma_f64(odd, s, 0x1.62e430c7e1c96p-1);
    return bcg_fma_f64(odd, r, even);
}

/* In f64, whose exponents hold every power of f32, so that only the last conversion overflows or loses digits. */
static inline float bcg_power_f32(float x, float y)
{
    const float a = fabsf(x);
    const bcg_log_parts_f32 parts = bcg_log_split_f32(a);
    const float finite = a < INFINITY ? parts.k : a, whole = a == 0 ? -INFINITY : finite;
    const double f = parts.f, product = (double)y * bcg_fma_f64(f, bcg_log2_of_f32_f64(f), (double)whole);
    const double shifted = product + (BCG_SHIFT_F64 + 1023), r = product - (shifted - (BCG_SHIFT_F64 + 1023));
    const double power = bcg_exp2_of_f32_f64(r) * bcg_from_bits_f64(bcg_bits_f64(shifted) << 52);
    const float exponent = (float)product, above = exponent > 200 ? INFINITY : (float)power;
    const float number = exponent < -200 ? 0 : above;
    const float unless_one = a == 1 ? 1 : number;
    return bcg_power_signed_f32(x, y, y == 0 ? 1 : unless_one);
}

#endif
