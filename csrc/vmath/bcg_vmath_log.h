/* bcg_vmath_log.h: logarithms and what is made of them, powers and roots, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition stands between blank lines and uses only what stands above
 * it, in bcg_vmath_core.h, bcg_vmath_exp.h or the standard headers: emit copies the ones a kernel needs.
 *
 * Forms with `usual` in the name are right where the op's row says, and give the same bits there as the full ones.
 *
 * The file is long because powers, roots and inverse hyperbolic functions share the logarithms' parts.
 */
#ifndef BCG_VMATH_LOG_H
#define BCG_VMATH_LOG_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_exp.h"

/* (log(1 + f) - f + s / 2) / (f s) for 1 + f in sqrt(1/2) to sqrt(2), s = f^2. python csrc/vmath/fit.py log_f32: error
 * 2^-27.0 */
static inline float bcg_log_tail_f32(float f, float s)
{
    float even = bcg_fma_f32(0x1.0556eep-3f, s, 0x1.22dadcp-3f);
    even = bcg_fma_f32(even, s, 0x1.99ap-3f);
    even = bcg_fma_f32(even, s, 0x1.555554p-2f);
    float odd = bcg_fma_f32(-0x1.389c6ap-4f, s, -0x1.0d879ap-3f);
    odd = bcg_fma_f32(odd, s, -0x1.54722p-3f);
    odd = bcg_fma_f32(odd, s, -0x1.000228p-2f);
    return bcg_fma_f32(odd, f, even);
}

/* log(1 + f) - f. */
static inline float bcg_log_second_f32(float f)
{
    const float s = f * f;
    return bcg_fma_f32(s, -0.5f, s * f * bcg_log_tail_f32(f, s));
}

/* log2(1 + f) / f less the f32 number closest to 1 / log(2). python csrc/vmath/fit.py log2_f32: error 2^-26.8 */
static inline float bcg_log2_rest_f32(float f)
{
    float rest = bcg_fma_f32(-0x1.c23952p-4f, f, 0x1.7d4404p-3f);
    rest = bcg_fma_f32(rest, f, -0x1.874fb4p-3f);
    rest = bcg_fma_f32(rest, f, 0x1.a306a8p-3f);
    rest = bcg_fma_f32(rest, f, -0x1.eabc38p-3f);
    rest = bcg_fma_f32(rest, f, 0x1.277e3p-2f);
    rest = bcg_fma_f32(rest, f, -0x1.715a78p-2f);
    rest = bcg_fma_f32(rest, f, 0x1.ec7096p-2f);
    return bcg_close_fma_f32(f, -0x1.71547p-1f, bcg_fma_f32(f * f, rest, 0x1.49c55p-26f));
}

/* log10(1 + f) / f less the f32 number closest to 1 / log(10): a quotient, which is short, or where it would be rounded
 * too often a polynomial. python csrc/vmath/fit.py log10_over_f32: error 2^-28.9; log10_f32: 2^-26.8 */
static inline float bcg_log10_rest_f32(float f)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const float over = fmaf(fmaf(-0x1.a1309ep-2f, f, -0x1.fe41ccp+0f), f, -0x1.e63142p+0f);
    const float under = fmaf(fmaf(f + 0x1.e09e2ep+2f, f, 0x1.e04f8ep+3f), f, 0x1.17dff4p+3f);
    return fmaf(over, f, -0x1.7eef4ep-24f) / under;
#else
    float rest = bcg_fma_f32(-0x1.0f0fd2p-5f, f, 0x1.cb16f2p-5f);
    rest = bcg_fma_f32(rest, f, -0x1.d72f9p-5f);
    rest = bcg_fma_f32(rest, f, 0x1.f88ebep-5f);
    rest = bcg_fma_f32(rest, f, -0x1.2773bap-4f);
    rest = bcg_fma_f32(rest, f, 0x1.63cf16p-4f);
    rest = bcg_fma_f32(rest, f, -0x1.bcbeecp-4f);
    rest = bcg_fma_f32(rest, f, 0x1.287a72p-3f);
    return bcg_fma_f32(bcg_fma_f32(rest, f, -0x1.bcb7aap-3f), f, -0x1.5bce04p-27f);
#endif
}

/* log(1 + f) - f, and with square / 2 added, for 1 + f in sqrt(1/2) to sqrt(2): the first is faster, the second closer.
 * python csrc/vmath/fit.py log_f64: error 2^-59.2 */
static inline double bcg_log_ratio_f64(double z)
{
    double ratio = bcg_fma_f64(0x1.2f03972a8c7e8p-3, z, 0x1.39a1eae699af1p-3);
    ratio = bcg_fma_f64(ratio, z, 0x1.74663cefe831fp-3);
    ratio = bcg_fma_f64(ratio, z, 0x1.c71c521382218p-3);
    ratio = bcg_fma_f64(ratio, z, 0x1.24924941e3f45p-2);
    ratio = bcg_fma_f64(ratio, z, 0x1.999999997feb3p-2);
    return bcg_fma_f64(ratio, z, 0x1.5555555555592p-1);
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

/* log2(1 + f) / f, to some ULPs. python csrc/vmath/fit.py log2_fast_f32: error 2^-24.4 */
static inline float bcg_log2_short_f32(float f)
{
    float value = bcg_fma_f32(0x1.01a86ap-3f, f, -0x1.a87966p-3f);
    value = bcg_fma_f32(value, f, 0x1.b9cc18p-3f);
    value = bcg_fma_f32(value, f, -0x1.e95c78p-3f);
    value = bcg_fma_f32(value, f, 0x1.26d36ap-2f);
    value = bcg_fma_f32(value, f, -0x1.715c4cp-2f);
    value = bcg_fma_f32(value, f, 0x1.ec73d8p-2f);
    value = bcg_fma_f32(value, f, -0x1.71547p-1f);
    return bcg_fma_f32(value, f, 0x1.715476p0f);
}

/* log10(1 + f) / f, to some ULPs. python csrc/vmath/fit.py log10_fast_f32: error 2^-24.4 */
static inline float bcg_log10_short_f32(float f)
{
    float value = bcg_fma_f32(0x1.364042p-5f, f, -0x1.ff1e2cp-5f);
    value = bcg_fma_f32(value, f, 0x1.09fd0cp-4f);
    value = bcg_fma_f32(value, f, -0x1.269ff4p-4f);
    value = bcg_fma_f32(value, f, 0x1.630174p-4f);
    value = bcg_fma_f32(value, f, -0x1.bcc12p-4f);
    value = bcg_fma_f32(value, f, 0x1.287c68p-3f);
    value = bcg_fma_f32(value, f, -0x1.bcb7aap-3f);
    return bcg_fma_f32(value, f, 0x1.bcb7bp-2f);
}

/* log(1 + f), to some ULPs. python csrc/vmath/fit.py log_fast_f64: error 2^-52.2 */
static inline double bcg_log_short_f64(double f)
{
    const double s = f / (2 + f), z = s * s, zz = z * z;
    double even = bcg_fma_f64(0x1.732c442e599afp-3, zz, 0x1.24924179e99fdp-2);
    even = bcg_fma_f64(even, zz, 0x1.5555555553976p-1);
    double odd = bcg_fma_f64(0x1.5876417f020ccp-3, zz, 0x1.c72277007a10dp-3);
    odd = bcg_fma_f64(odd, zz, 0x1.999999a28f949p-2);
    return bcg_fma_f64(s, bcg_fma_f64(z, bcg_fma_f64(odd, z, even), -f), f);
}

/* x = 2^k (1 + f) with 1 + f in sqrt(1/2) to sqrt(2), for a positive finite x. */
typedef struct {
    float k, f;
} bcg_log_parts_f32;

/* x = 2^k (1 + f) with 1 + f in sqrt(1/2) to sqrt(2), for a positive finite x. */
typedef struct {
    double k, f;
} bcg_log_parts_f64;

/* Of a normal x: its exponent and fraction where they stand. */
static inline bcg_log_parts_f32 bcg_log_usual_split_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(x) - 0x3f3504f3u;
    const float m = bcg_from_bits_f32(bcg_bits_f32(x) - (bits & 0xff800000u));
    const bcg_log_parts_f32 parts = {(float)((int32_t)bits >> 23), m - 1};
    return parts;
}

/* Of a normal x: its exponent and fraction where they stand. */
static inline bcg_log_parts_f64 bcg_log_usual_split_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double m = bcg_from_bits_f64((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const bcg_log_parts_f64 parts = {k, m - 1};
    return parts;
}

/* A subnormal x is scaled up; the exponent of the scale is subtracted in the bits, so that one selection does. */
static inline bcg_log_parts_f32 bcg_log_split_f32(float x)
{
    const float scale = x < 0x1p-126f ? 0x1p24f : 1;
    const uint32_t bits = bcg_bits_f32(x * scale) - bcg_bits_f32(scale) + (0x3f800000u - 0x3f3504f3u);
    const float m = bcg_from_bits_f32((bits & 0x007fffffu) + 0x3f3504f3u);
    const bcg_log_parts_f32 parts = {(float)((int32_t)bits >> 23), m - 1};
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
    const uint32_t bits = bcg_bits_f32(x);
    const float positive = x < INFINITY ? number : x, other = bcg_from_bits_f32(bits | (bits >> 8) | 0xff800000u);
    return x > 0 ? positive : other;
}

/* What a logarithm of x is: number where x is positive and finite, and x itself where it is an infinity or NaN. */
static inline double bcg_log_special_f64(double x, double number)
{
    const uint64_t bits = bcg_bits_f64(x);
    const double positive = x < INFINITY ? number : x;
    const double other = bcg_from_bits_f64(bits | (bits >> 11) | 0xfff0000000000000u);
    return x > 0 ? positive : other;
}

static inline float bcg_log_of_f32(bcg_log_parts_f32 a)
{
    const float rest = bcg_fma_f32(a.k, BCG_LN2_LOW_F32, bcg_log_second_f32(a.f));
    return bcg_fma_f32(a.k, BCG_LN2_HIGH_F32, a.f + rest);
}

static inline float bcg_log_usual_f32(float x) { return bcg_log_of_f32(bcg_log_usual_split_f32(x)); }

static inline float bcg_log_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log_of_f64(bcg_log_parts_f64 a)
{
    const double rest = bcg_fma_f64(a.k, BCG_LN2_LOW_F64, bcg_log_second_f64(a.f));
    return bcg_fma_f64(a.k, BCG_LN2_HIGH_F64, a.f + rest);
}

static inline double bcg_log_usual_f64(double x) { return bcg_log_of_f64(bcg_log_usual_split_f64(x)); }

static inline double bcg_log_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log2_of_f32(bcg_log_parts_f32 a)
{
    const float rest = a.f * bcg_log2_rest_f32(a.f);
    return a.k + bcg_close_fma_f32(a.f, BCG_LOG2_E_F32, rest);
}

static inline float bcg_log2_usual_f32(float x) { return bcg_log2_of_f32(bcg_log_usual_split_f32(x)); }

static inline float bcg_log2_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log2_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log2_of_f64(bcg_log_parts_f64 a)
{
    const double square = a.f * a.f, third = bcg_log_third_f64(a.f, square);
    const double part = bcg_fma_f64(third, BCG_LOG2_E_F64, a.f * 0x1.777d0ffda0d24p-56);
    const double rest = bcg_fma_f64(square, -0x1.71547652b82fep-1, part);
    return a.k + bcg_close_fma_f64(a.f, BCG_LOG2_E_F64, rest);
}

static inline double bcg_log2_usual_f64(double x) { return bcg_log2_of_f64(bcg_log_usual_split_f64(x)); }

static inline double bcg_log2_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log2_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log10_of_f32(bcg_log_parts_f32 a)
{
    const float rest = bcg_fma_f32(a.f, bcg_log10_rest_f32(a.f), a.k * 0x1.3509f8p-18f);
    return bcg_fma_f32(a.k, 0x1.344p-2f, bcg_close_fma_f32(a.f, BCG_LOG10_E_F32, rest));
}

static inline float bcg_log10_usual_f32(float x) { return bcg_log10_of_f32(bcg_log_usual_split_f32(x)); }

static inline float bcg_log10_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log10_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log10_of_f64(bcg_log_parts_f64 a)
{
    const double square = a.f * a.f, third = bcg_log_third_f64(a.f, square);
    const double part = bcg_fma_f64(third, BCG_LOG10_E_F64, a.f * 0x1.95355baaafad3p-57);
    const double rest = bcg_fma_f64(a.k, 0x1.fef311f12b358p-46, bcg_fma_f64(square, -0x1.bcb7b1526e50ep-3, part));
    return bcg_fma_f64(a.k, 0x1.34413509f78p-2, bcg_close_fma_f64(a.f, BCG_LOG10_E_F64, rest));
}

static inline double bcg_log10_usual_f64(double x) { return bcg_log10_of_f64(bcg_log_usual_split_f64(x)); }

static inline double bcg_log10_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log10_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log_fast_of_f32(bcg_log_parts_f32 a)
{
    const float s = a.f * a.f, part = bcg_fma_f32(s, bcg_fma_f32(bcg_log_tail_f32(a.f, s), a.f, -0.5f), a.f);
    return bcg_fma_f32(a.k, 0x1.62e43p-1f, part);
}

static inline float bcg_log_fast_usual_f32(float x) { return bcg_log_fast_of_f32(bcg_log_usual_split_f32(x)); }

static inline float bcg_log_fast_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log_fast_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log_fast_of_f64(bcg_log_parts_f64 a)
{
    return bcg_fma_f64(a.k, 0x1.62e42fefa39efp-1, bcg_log_short_f64(a.f));
}

static inline double bcg_log_fast_usual_f64(double x) { return bcg_log_fast_of_f64(bcg_log_usual_split_f64(x)); }

static inline double bcg_log_fast_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log_fast_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log2_fast_of_f32(bcg_log_parts_f32 a)
{
    return bcg_fma_f32(a.f, bcg_log2_short_f32(a.f), a.k);
}

static inline float bcg_log2_fast_usual_f32(float x) { return bcg_log2_fast_of_f32(bcg_log_usual_split_f32(x)); }

static inline float bcg_log2_fast_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log2_fast_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log2_fast_of_f64(bcg_log_parts_f64 a)
{
    return bcg_fma_f64(bcg_log_short_f64(a.f), BCG_LOG2_E_F64, a.k);
}

static inline double bcg_log2_fast_usual_f64(double x) { return bcg_log2_fast_of_f64(bcg_log_usual_split_f64(x)); }

static inline double bcg_log2_fast_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log2_fast_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log10_fast_of_f32(bcg_log_parts_f32 a)
{
    return bcg_fma_f32(a.k, 0x1.344136p-2f, a.f * bcg_log10_short_f32(a.f));
}

static inline float bcg_log10_fast_usual_f32(float x) { return bcg_log10_fast_of_f32(bcg_log_usual_split_f32(x)); }

static inline float bcg_log10_fast_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log10_fast_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log10_fast_of_f64(bcg_log_parts_f64 a)
{
    const double part = bcg_log_short_f64(a.f) * BCG_LOG10_E_F64;
    return bcg_fma_f64(a.k, 0x1.34413509f79ffp-2, part);
}

static inline double bcg_log10_fast_usual_f64(double x) { return bcg_log10_fast_of_f64(bcg_log_usual_split_f64(x)); }

static inline double bcg_log10_fast_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log10_fast_of_f64(bcg_log_split_f64(x)));
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

/* The largest bcg_above_normal of 1 + x for which 2^-k is a normal number. */
#define BCG_MOST_LOG1P_F32 0x7dffffffu

#define BCG_MOST_LOG1P_F64 0x7fbfffffffffffffu

/* As log, where 1 + x is 2^k (1 + f) but for rounding, scale = 2^-k: f is made of x itself, and low is what rounding
 * takes from it, where k is 1 and x below a half. */
static inline float bcg_log1p_of_f32(float x, uint32_t bits, float scale)
{
    const float k = (float)((int32_t)bits >> 23), c = scale - 1, f = bcg_fma_f32(x, scale, c);
    const float low = bcg_fma_f32(x, scale, c - f);
    const float rest = bcg_fma_f32(k, BCG_LN2_LOW_F32, bcg_log_second_f32(f) + low);
    return copysignf(bcg_fma_f32(k, BCG_LN2_HIGH_F32, f + rest), x);
}

/* The same. */
static inline double bcg_log1p_of_f64(double x, uint64_t bits, double scale)
{
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const double c = scale - 1, f = bcg_fma_f64(x, scale, c), low = bcg_fma_f64(x, scale, c - f);
    const double rest = bcg_fma_f64(k, BCG_LN2_LOW_F64, bcg_log_second_f64(f) + low);
    return copysign(bcg_fma_f64(k, BCG_LN2_HIGH_F64, f + rest), x);
}

static inline float bcg_log1p_usual_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(1 + x) - 0x3f3504f3u;
    return bcg_log1p_of_f32(x, bits, bcg_from_bits_f32(0x3f800000u - (bits & 0xff800000u)));
}

static inline double bcg_log1p_usual_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(1 + x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    return bcg_log1p_of_f64(x, bits, bcg_from_bits_f64((2046u - (bits >> 52)) << 52));
}

/* 2^-k may be less than a normal number; four times that is none. */
static inline float bcg_log1p_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(1 + x) - 0x3f3504f3u;
    const float scale = 0.25f * bcg_from_bits_f32(0x40800000u - (bits & 0xff800000u));
    const float number = x < INFINITY ? bcg_log1p_of_f32(x, bits, scale) : x, other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? number : other;
}

/* 2^-k may be less than a normal number; four times that is none. */
static inline double bcg_log1p_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(1 + x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double scale = 0.25 * bcg_from_bits_f64((2048u - (bits >> 52)) << 52);
    const double number = x < INFINITY ? bcg_log1p_of_f64(x, bits, scale) : x, other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? number : other;
}

/* log(u + lost) + more log(2) / 2^23, whatever small number lost is beside a u from sqrt(1/2) to 2^126. */
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

/* What rounding, and left, took from w, the root of 1 + x^2: half of 1 / w need not be close unless w is about 1. */
static inline float bcg_root_low_f32(float s, float left, float w)
{
    const int32_t near = (int32_t)bcg_bits_f32(bcg_fma_f32(w, -0.5f, 1));
    const int32_t rough = (int32_t)(0x7e6f0000u - bcg_bits_f32(w));
    return (bcg_rest_f32(s, w, w) + left) * bcg_from_bits_f32((uint32_t)(near < rough ? rough : near));
}

/* log(|x| + w) with w = sqrt(x^2 + 1), for |x| below 2^63. */
static inline float bcg_arcsinh_usual_f32(float x)
{
    const float a = fabsf(x), s = bcg_fma_f32(a, a, 1), w = sqrtf(s), u = a + w;
    const float lost = bcg_sum_low_f32(w, a, u) + bcg_root_low_f32(s, bcg_fma_low_f32(a, a, 1, s), w);
    return copysignf(bcg_log_with_f32(u, lost, 0), x);
}

/* The same of any x; from 2^63 on as log(2^-63 |x|) + 64 log(2). */
static inline float bcg_arcsinh_f32(float x)
{
    const float a = fabsf(x), s = bcg_fma_f32(a, a, 1), w = sqrtf(s), sum = a + w;
    const float lost = bcg_sum_low_f32(w, a, sum) + bcg_root_low_f32(s, bcg_fma_low_f32(a, a, 1, s), w);
    const uint32_t large = 0 - ((0x5effffffu - bcg_bits_f32(a)) >> 31), small = ~large;
    const float u = bcg_from_bits_f32((bcg_bits_f32(a * 0x1p-63f) & large) | (bcg_bits_f32(sum) & small));
    const float number = bcg_log_with_f32(u, bcg_from_bits_f32(bcg_bits_f32(lost) & small), large & (64u << 23));
    return a < INFINITY ? copysignf(number, x) : x;
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

/* log(x + w) with w = sqrt(x^2 - 1) = sqrt(t^2 + 2 t), t = x - 1, for x from 1 on and below 2^63. */
static inline float bcg_arccosh_usual_f32(float x)
{
    const float t = x - 1, s = bcg_fma_f32(t, t, t + t), w = sqrtf(s), u = x + w;
    const float left = bcg_rest_f32(s, w, w) + bcg_fma_low_f32(t, t, t + t, s);
    const float w_low = left * bcg_from_bits_f32(0x7e6f0000u - bcg_bits_f32(w));
    return bcg_log_with_f32(u, bcg_sum_low_f32(x, w, u) + w_low, 0);
}

/* The same of any x; from 2^63 on as log(2^-63 x) + 64 log(2). */
static inline float bcg_arccosh_f32(float x)
{
    const float t = x - 1, s = bcg_fma_f32(t, t, t + t), w = sqrtf(s), sum = x + w;
    const float left = bcg_rest_f32(s, w, w) + bcg_fma_low_f32(t, t, t + t, s);
    const float w_low = left * bcg_from_bits_f32(0x7e6f0000u - bcg_bits_f32(w));
    const float lost = bcg_sum_low_f32(x, w, sum) + w_low;
    const uint32_t large = 0 - ((0x5effffffu - bcg_bits_f32(x)) >> 31), small = ~large;
    const float u = bcg_from_bits_f32((bcg_bits_f32(x * 0x1p-63f) & large) | (bcg_bits_f32(sum) & small));
    const float number = bcg_log_with_f32(u, bcg_from_bits_f32(bcg_bits_f32(lost) & small), large & (64u << 23));
    const float positive = x < INFINITY ? number : x;
    return x >= 1 ? positive : NAN;
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

/* arctanh(s) = s + s z q(z), z = s^2, for s up to 1/2. python csrc/vmath/fit.py arctanh_f32: error 2^-29.4 */
static inline float bcg_arctanh_tail_f32(float z)
{
    float tail = bcg_fma_f32(z, 0x1.693a34p-3f, 0x1.a6bb9ep-5f);
    tail = bcg_fma_f32(z, tail, 0x1.e4000ap-4f);
    tail = bcg_fma_f32(z, tail, 0x1.234d98p-3f);
    tail = bcg_fma_f32(z, tail, 0x1.99a676p-3f);
    return bcg_fma_f32(z, tail, 0x1.55554p-2f);
}

/* The same. python csrc/vmath/fit.py arctanh_f64: error 2^-58.0 */
static inline double bcg_arctanh_tail_f64(double z)
{
    const double zz = z * z;
    double odd = bcg_fma_f64(zz, 0x1.ec636ab0fd19fp-3, 0x1.6479ec975712ap-3);
    double even = bcg_fma_f64(zz, -0x1.8f3c87bad0642p-3, -0x1.44650a93f7998p-8);
    odd = bcg_fma_f64(zz, odd, 0x1.e70de33fec0a6p-5);
    even = bcg_fma_f64(zz, even, 0x1.9e87866e2d36p-5);
    odd = bcg_fma_f64(zz, odd, 0x1.e3e988c75c85bp-5);
    even = bcg_fma_f64(zz, even, 0x1.10fa83df35d04p-4);
    odd = bcg_fma_f64(zz, odd, 0x1.3b151044f5fe8p-4);
    even = bcg_fma_f64(zz, even, 0x1.745d08c3dd1cep-4);
    odd = bcg_fma_f64(zz, odd, 0x1.c71c722a2fc16p-4);
    even = bcg_fma_f64(zz, even, 0x1.24924923ca1c7p-3);
    odd = bcg_fma_f64(zz, odd, 0x1.999999999b31dp-3);
    return bcg_fma_f64(z, odd, bcg_fma_f64(zz, even, 0x1.555555555554cp-2));
}

/* Half of log(u / v), u = 1 + |x| and v = 1 - |x|: with a power p = 2^k close to u / v it is k log(2) / 2 + arctanh(s),
 * s = (u - p v) / (u + p v). From 1/2 on v and u - p v are exact, and s is small; below it the series is enough. Of
 * what is no number the bits of v tell whether it is an infinity. */
static inline float bcg_arctanh_f32(float x)
{
    const float a = fabsf(x), u = 1 + a, v = 1 - a;
    const uint32_t small = 0 - (bcg_bits_f32(a - 0.5f) >> 31), below = 0 - ((bcg_bits_f32(a) - 0x3f800000u) >> 31);
    const uint32_t e = (bcg_bits_f32(u) - bcg_bits_f32(v) + 0x00400000u) & 0x7f800000u;
    const float p = bcg_from_bits_f32(e + 0x3f800000u), ratio = (bcg_fma_f32(-p, v, 1) + a) / bcg_fma_f32(p, v, u);
    const float s = bcg_from_bits_f32((bcg_bits_f32(a) & small) | (bcg_bits_f32(ratio) & ~small)), z = s * s;
    // 2^23 k
    const float k = (float)(int32_t)(e & ~small), base = k * 0x1.62e4p-25f, sum = base + s;
    const float low = bcg_fma_f32(k, 0x1.7f7d1cp-44f, bcg_sum_low_f32(base, s, sum));
    const float number = sum + bcg_fma_f32(s * z, bcg_arctanh_tail_f32(z), low);
    const uint32_t other = 0x7f800000u | bcg_bits_f32(v) >> 8;
    return copysignf(bcg_from_bits_f32((bcg_bits_f32(number) & below) | (other & ~below)), x);
}

/* Half of log(u / v), u = 1 + |x| and v = 1 - |x|: with a power p = 2^k close to u / v it is k log(2) / 2 + arctanh(s),
 * s = (u - p v) / (u + p v). From 1/2 on v and u - p v are exact, and s is small; below it the series is enough. Of
 * what is no number the bits of v tell whether it is an infinity. */
static inline double bcg_arctanh_f64(double x)
{
    const double a = fabs(x), u = 1 + a, v = 1 - a;
    const uint64_t small = 0 - (bcg_bits_f64(a - 0.5) >> 63);
    const uint64_t below = 0 - ((bcg_bits_f64(a) - 0x3ff0000000000000u) >> 63);
    const uint64_t e = (bcg_bits_f64(u) - bcg_bits_f64(v) + 0x0008000000000000u) & 0x7ff0000000000000u;
    const double p = bcg_from_bits_f64(e + 0x3ff0000000000000u);
    const double ratio = (bcg_fma_f64(-p, v, 1) + a) / bcg_fma_f64(p, v, u);
    const double s = bcg_from_bits_f64((bcg_bits_f64(a) & small) | (bcg_bits_f64(ratio) & ~small)), z = s * s;
    const double k = bcg_from_bits_f64(((e & ~small) >> 52) | 0x4330000000000000u) - 0x1p52;
    const double base = k * (0.5 * BCG_LN2_HIGH_F64), sum = base + s;
    const double low = bcg_fma_f64(k, 0.5 * BCG_LN2_LOW_F64, bcg_sum_low_f64(base, s, sum));
    const double number = sum + bcg_fma_f64(s * z, bcg_arctanh_tail_f64(z), low);
    const uint64_t other = 0x7ff0000000000000u | bcg_bits_f64(v) >> 11;
    return copysign(bcg_from_bits_f64((bcg_bits_f64(number) & below) | (other & ~below)), x);
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

/* ((1 - e)^(-1/3) - 1) / e for what bcg_cbrt_start_f32 leaves. python csrc/vmath/fit.py cbrt_f32: error 2^-18.4 */
static inline float bcg_cbrt_step_f32(float e)
{
    return bcg_fma_f32(bcg_fma_f32(0x1.6542e6p-3f, e, 0x1.c9bf72p-3f), e, 0x1.55545ep-2f);
}

/* ((1 - e)^(-1/3) - 1) / e for what bcg_cbrt_start_f64 leaves. python csrc/vmath/fit.py cbrt_f64: error 2^-18.4 */
static inline double bcg_cbrt_step_f64(double e)
{
    return bcg_fma_f64(bcg_fma_f64(0x1.6542e57cc8427p-3, e, 0x1.c9bf72a671152p-3), e, 0x1.55545d005359ap-2);
}

/* About a^(-1/3), at most 3.5% off, for a normal number: bits are a logarithm, roughly, of which this is -1/3. */
static inline float bcg_cbrt_start_f32(float a)
{
    const float bits = (float)(int32_t)bcg_bits_f32(a);
    return bcg_from_bits_f32((uint32_t)(int32_t)bcg_fma_f32(bits, -0x1.555556p-2f, 0x1.5288p30f));
}

/* The same, of the upper 32 bits. */
static inline double bcg_cbrt_start_f64(double a)
{
    const double upper = bcg_from_bits_f64((bcg_bits_f64(a) >> 32) | 0x4330000000000000u) - 0x1p52;
    return bcg_from_bits_f64(bcg_bits_f64(bcg_fma_f64(upper, -0x1.5555555555555p-2, 0x1.8p52 + 0x1.54fbaaacp30)) << 32);
}

/* m^(1/3) is m times the square of m^(-1/3), which starts from bits and is improved; the last one of Newton's steps has
 * the exact rest m - z^3. */
static inline float bcg_cbrt_of_f32(float m)
{
    const float start = bcg_cbrt_start_f32(m), e = bcg_fma_f32(-(m * start), start * start, 1);
    const float better = bcg_fma_f32(start * e, bcg_cbrt_step_f32(e), start);
    const float near = better * better, z = m * near, zz = z * z;
    const float rest = bcg_fma_f32(-bcg_prod_low_f32(z, z, zz), z, bcg_rest_f32(m, zz, z));
    return bcg_fma_f32(rest, near * 0x1.555556p-2f, z);
}

/* The same. */
static inline double bcg_cbrt_of_f64(double m)
{
    const double start = bcg_cbrt_start_f64(m), e = bcg_fma_f64(-(m * start), start * start, 1);
    const double first = bcg_fma_f64(start * e, bcg_cbrt_step_f64(e), start);
    const double better = bcg_fma_f64(first * bcg_fma_f64(-(m * first), first * first, 1), 0x1.5555555555555p-2, first);
    const double near = better * better, z = m * near, zz = z * z;
    const double rest = bcg_fma_f64(-bcg_prod_low_f64(z, z, zz), z, bcg_rest_f64(m, zz, z));
    return bcg_fma_f64(rest, near * 0x1.5555555555555p-2, z);
}

/* Where |x| is from 2^-64 to 2^64. */
static inline float bcg_cbrt_usual_f32(float x) { return copysignf(bcg_cbrt_of_f32(fabsf(x)), x); }

/* Where |x| is from 2^-512 to 2^512. */
static inline double bcg_cbrt_usual_f64(double x) { return copysign(bcg_cbrt_of_f64(fabs(x)), x); }

/* Of any x; what is not usual is scaled, and the root by a third of that exponent: 1/3 modulo 2^32. */
static inline float bcg_cbrt_f32(float x)
{
    const float a = fabsf(x), shrunk = a < 0x1p64f ? 1 : 0x1p-96f, scale = a < 0x1p-64f ? 0x1p96f : shrunk;
    const float back = bcg_from_bits_f32(0x3f800000u + (0x3f800000u - bcg_bits_f32(scale)) * 0xaaaaaaabu);
    return a < INFINITY ? copysignf(bcg_cbrt_of_f32(a * scale) * back, x) : x;
}

/* Of any x; what is not usual is scaled, and the root by a third of that exponent: 1/3 modulo 2^64. */
static inline double bcg_cbrt_f64(double x)
{
    const double a = fabs(x), shrunk = a < 0x1p512 ? 1 : 0x1p-384, scale = a < 0x1p-512 ? 0x1p384 : shrunk;
    const uint64_t third = (0x3ff0000000000000u - bcg_bits_f64(scale)) * 0xaaaaaaaaaaaaaaabu;
    const double back = bcg_from_bits_f64(0x3ff0000000000000u + third);
    return a < INFINITY ? copysign(bcg_cbrt_of_f64(a * scale) * back, x) : x;
}

/* Without the last step's exact rest. */
static inline float bcg_cbrt_fast_f32(float x)
{
    const float a = fabsf(x), scale = a < 1 ? 0x1p96f : 0x1p-96f, m = a * scale, start = bcg_cbrt_start_f32(m);
    const float e = bcg_fma_f32(-(m * start), start * start, 1);
    const float better = bcg_fma_f32(start * e, bcg_cbrt_step_f32(e), start), z = m * (better * better);
    const float root = bcg_fma_f32(bcg_fma_f32(-z, better, 1), z * 0x1.555556p-1f, z);
    const float back = bcg_from_bits_f32((159u << 23) - (bcg_bits_f32(scale) & (64u << 23)));
    return a < INFINITY ? copysignf(root * back, x) : x;
}

/* Without the last step's exact rest. */
static inline double bcg_cbrt_fast_f64(double x)
{
    const double a = fabs(x), scale = a < 1 ? 0x1p384 : 0x1p-384, m = a * scale, start = bcg_cbrt_start_f64(m);
    const double e = bcg_fma_f64(-(m * start), start * start, 1);
    const double better = bcg_fma_f64(start * e, bcg_cbrt_step_f64(e), start), z = m * (better * better);
    const double rest = bcg_fma_f64(-z, better, 1);
    // (1 - rest)^(-2/3)
    const double second = bcg_fma_f64(rest, 0x1.f9add3c0ca458p-2, 0x1.1c71c71c71c72p-1);
    const double root = bcg_fma_f64(bcg_fma_f64(rest, second, 0x1.5555555555555p-1) * rest, z, z);
    const double back = bcg_from_bits_f64((1151ull << 52) - (bcg_bits_f64(scale) & (256ull << 52)));
    return a < INFINITY ? copysign(root * back, x) : x;
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

/* The power of |x| in number, made that of x: with a sign if y is odd, and NaN for a negative x if y is not whole. */
static inline double bcg_power_signed_f64(double x, double y, double number)
{
    // Whatever the half of 0 or of a subnormal number is then.
    const double half = bcg_from_bits_f64(bcg_bits_f64(y) - 0x0010000000000000u);
    const int whole = bcg_whole_f64(y) == y, odd = whole & (bcg_whole_f64(half) != half);
    const uint64_t bits = bcg_bits_f64(x), sign = (0 - (uint64_t)odd) & bits & 0x8000000000000000u;
    const int negative = bits - 0x8000000000000001u < 0x7fefffffffffffffu;
    return (negative & !whole) ? NAN : bcg_from_bits_f64(bcg_bits_f64(number) ^ sign);
}

/* The power of |x| in number, made that of x: with a sign if y is odd, and NaN for a negative x if y is not whole. */
static inline float bcg_power_signed_f32(float x, float y, float number)
{
    // Whatever the half of 0 or of a subnormal number is then.
    const float half = bcg_from_bits_f32(bcg_bits_f32(y) - 0x00800000u);
    const int whole = bcg_whole_f32(y) == y, odd = whole & (bcg_whole_f32(half) != half);
    const uint32_t bits = bcg_bits_f32(x), sign = (0 - (uint32_t)odd) & bits & 0x80000000u;
    const int negative = bits - 0x80000001u < 0x7f7fffffu;
    return (negative & !whole) ? NAN : bcg_from_bits_f32(bcg_bits_f32(number) ^ sign);
}

/* (log2(1 + f) - c0 s - c1 s^3) / s^5 with s = f / (2 + f), z = s^2. python csrc/vmath/fit.py power_f64: error 2^-65.8 */
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

/* (2^r - 1 - r log(2)) / r^2, s = r^2. python csrc/vmath/fit.py power_exp2_f64: error 2^-57.7 */
static inline double bcg_power_exp2_f64(double r, double s)
{
    double even = bcg_fma_f64(0x1.e617b41f8863dp-28, s, 0x1.62bfc9f5b73ebp-20);
    even = bcg_fma_f64(even, s, 0x1.4309130dc55cdp-13);
    even = bcg_fma_f64(even, s, 0x1.3b2ab6fba0792p-7);
    even = bcg_fma_f64(even, s, 0x1.ebfbdff82c5a1p-3);
    double odd = bcg_fma_f64(0x1.e7c6d65b8e4fap-32, s, 0x1.b52652dd9c922p-24);
    odd = bcg_fma_f64(odd, s, 0x1.ffcbfbc7c6b9fp-17);
    odd = bcg_fma_f64(odd, s, 0x1.5d87fe78c374cp-10);
    odd = bcg_fma_f64(odd, s, 0x1.c6b08d704a046p-5);
    return bcg_fma_f64(odd, r, even);
}

/* 2^product = p 2^n, where n stands in the low bits of shifted. */
typedef struct {
    double product, shifted, p;
} bcg_power_parts_f64;

/* x^y = 2^(y log2(x)), with the logarithm to some 64 digits: each number of the chain has a low part beside it. What
 * is not close goes without some of them. */
static inline bcg_power_parts_f64 bcg_power_parts_of_f64(bcg_log_parts_f64 x, double y, int close)
{
    const double k = x.k, f = x.f;
    const double inverse = 1 / (2 + f), s = f * inverse;
    const double s_low = inverse * bcg_rest_f64(f - (s + s), s, f), z = s * s, z_low = bcg_prod_low_f64(s, s, z);
    const double tail = bcg_power_tail_f64(z), c = bcg_fma_f64(z, tail, 0x1.ec709dc3a03fdp-1);
    const double c_low = bcg_fma_low_f64(z, tail, 0x1.ec709dc3a03fdp-1, c) + 0x1.d27f05548af0cp-55;
    const double g = bcg_fma_f64(z, c, 0x1.71547652b82fep1), more = z_low + 0x1.777d0ffda0d24p-55;
    const double g_more = bcg_fma_f64(z, close ? c_low : 0x1.d27f05548af0cp-55, more);
    const double g_low = bcg_fma_low_f64(z, c, 0x1.71547652b82fep1, g) + g_more;
    // Of the logarithm, by s.
    const double slope = bcg_fma_f64(z, 0x1.f8p0, g);
    const double h = s * g, h_low = bcg_fma_f64(s, g_low, bcg_fma_f64(s_low, slope, bcg_prod_low_f64(s, g, h)));
    const double sum = k + h, sum_low = bcg_sum_low_f64(k, h, sum) + h_low;
    const double product = y * sum, low = bcg_fma_f64(y, sum_low, bcg_prod_low_f64(y, sum, product));
    const double shifted = product + BCG_SHIFT_F64, r = (product - (shifted - BCG_SHIFT_F64)) + low, square = r * r;
    const double rest = bcg_fma_f64(square, bcg_power_exp2_f64(r, square), r * 0x1.abc9e3b39803fp-56);
    const double v = bcg_fma_f64(r, 0x1.62e42fefa39efp-1, 1), v_low = bcg_fma_low_f64(r, 0x1.62e42fefa39efp-1, 1, v);
    const double p = close ? v + (rest + v_low) : 1 + bcg_fma_f64(r, 0x1.62e42fefa39efp-1, rest);
    const bcg_power_parts_f64 parts = {product, shifted, p};
    return parts;
}

/* |x|^y, and from that x^y. */
static inline double bcg_power_of_f64(double x, double y, int close)
{
    const double a = fabs(x);
    bcg_log_parts_f64 parts = bcg_log_split_f64(a);
    const uint64_t bits = bcg_bits_f64(a), before = bits - 1;
    // The logarithm of 0, an infinity or NaN.
    const double special = bcg_from_bits_f64(bits | (before & 0xfff0000000000000u));
    parts.k = before < 0x7fefffffffffffffu ? parts.k : special;
    const bcg_power_parts_f64 z = bcg_power_parts_of_f64(parts, y, close);
    const double scale = z.product < -1021 ? 0x1p-64 : 2;
    const uint64_t exponent = (bcg_bits_f64(z.shifted) << 52) - bcg_bits_f64(scale) + 0x3ff0000000000000u;
    const uint64_t moved = bcg_bits_f64(z.p) + exponent;
    const double power = bcg_from_bits_f64(moved) * scale, above = z.product < -1080 ? 0 : power;
    const double number = z.product < 1024.25 ? above : z.product + INFINITY;
    return bcg_power_signed_f64(x, y, ((a == 1) | (y == 0)) ? 1 : number);
}

/* About y log2(x) 2^20, at most a third less; of a normal x. */
static inline double bcg_power_size_f64(double x, double y)
{
    const double upper = bcg_from_bits_f64((bcg_bits_f64(x) >> 32) | 0x4330000000000000u);
    return fabs(y * (upper - (0x1p52 + 0x1.ff8p29)));
}

/* The bits of the largest such size for bcg_power_usual: of powers far from the ends of the range. */
#define BCG_MOST_POWER_F64 0x41c6000000000000u

#define BCG_MOST_POWER_F32 0x4e2e0000u

/* Of a normal x, and a y with which the power is far from the ends of the range. */
static inline double bcg_power_usual_of_f64(double x, double y, int close)
{
    const bcg_power_parts_f64 z = bcg_power_parts_of_f64(bcg_log_usual_split_f64(x), y, close);
    return bcg_from_bits_f64(bcg_bits_f64(z.p) + (bcg_bits_f64(z.shifted) << 52));
}

static inline double bcg_power_usual_f64(double x, double y) { return bcg_power_usual_of_f64(x, y, 1); }

static inline double bcg_power_fast_usual_f64(double x, double y) { return bcg_power_usual_of_f64(x, y, 0); }

static inline double bcg_power_f64(double x, double y) { return bcg_power_of_f64(x, y, 1); }

static inline double bcg_power_fast_f64(double x, double y) { return bcg_power_of_f64(x, y, 0); }

/* (log2(1 + f) - c0 s - c1 s^3) / s^5 with s = f / (2 + f), z = s^2. python csrc/vmath/fit.py power_f32: error 2^-36.1 */
static inline float bcg_power_tail_f32(float z)
{
    return bcg_fma_f32(bcg_fma_f32(0x1.59f604p-2f, z, 0x1.a5bb94p-2f), z, 0x1.27770ep-1f);
}

/* (2^r - 1 - r log(2)) / r^2, s = r^2. python csrc/vmath/fit.py power_exp2_f32: error 2^-27.9 */
static inline float bcg_power_exp2_f32(float r, float s)
{
    float even = bcg_fma_f32(0x1.414ec4p-13f, s, 0x1.3b2e0cp-7f);
    even = bcg_fma_f32(even, s, 0x1.ebfbdcp-3f);
    return bcg_fma_f32(bcg_fma_f32(0x1.5f03d8p-10f, s, 0x1.c6af88p-5f), r, even);
}

/* 2^product = p 2^n, where n stands in the low bits of shifted. */
typedef struct {
    float product, shifted, p;
} bcg_power_parts_f32;

/* The same: the logarithm to some 33 digits. */
static inline bcg_power_parts_f32 bcg_power_parts_of_f32(bcg_log_parts_f32 x, float y, int close)
{
    const float k = x.k, f = x.f;
    const float inverse = 1 / (2 + f), s = f * inverse;
    const float s_low = inverse * bcg_rest_f32(f - (s + s), s, f), z = s * s, z_low = bcg_prod_low_f32(s, s, z);
    // Of c the 1 is added apart, so that what is left of it and its product have digits enough.
    const float c = bcg_fma_f32(z, bcg_power_tail_f32(z), -0x1.38f624p-5f), first = 0x1.715476p1f + z;
    const float g = bcg_fma_f32(z, c, first), first_low = bcg_sum_low_f32(0x1.715476p1f, z, first) + 0x1.4ae0cp-25f;
    const float g_low = bcg_fma_f32(z, c, first - g) + (close ? first_low + z_low : first_low);
    // Of the logarithm, by s.
    const float slope = bcg_fma_f32(z, 0x1.f8p0f, g);
    const float h = s * g, h_low = bcg_fma_f32(s, g_low, bcg_fma_f32(s_low, slope, bcg_prod_low_f32(s, g, h)));
    const float sum = k + h, sum_low = bcg_sum_low_f32(k, h, sum) + h_low;
    const float product = y * sum, low = bcg_fma_f32(y, sum_low, bcg_prod_low_f32(y, sum, product));
    const float shifted = product + BCG_SHIFT_F32, r = (product - (shifted - BCG_SHIFT_F32)) + low, square = r * r;
    const float rest = square * bcg_power_exp2_f32(r, square);
    const float v = bcg_fma_f32(r, 0x1.62e43p-1f, 1), v_low = bcg_fma_low_f32(r, 0x1.62e43p-1f, 1, v);
    const float p = close ? v + (rest + v_low) : 1 + bcg_fma_f32(r, 0x1.62e43p-1f, rest);
    const bcg_power_parts_f32 parts = {product, shifted, p};
    return parts;
}

/* |x|^y, and from that x^y. */
static inline float bcg_power_of_f32(float x, float y, int close)
{
    const float a = fabsf(x);
    bcg_log_parts_f32 parts = bcg_log_split_f32(a);
    const uint32_t bits = bcg_bits_f32(a), before = bits - 1;
    // The logarithm of 0, an infinity or NaN.
    const float special = bcg_from_bits_f32(bits | (before & 0xff800000u));
    parts.k = before < 0x7f7fffffu ? parts.k : special;
    const bcg_power_parts_f32 z = bcg_power_parts_of_f32(parts, y, close);
    const float scale = z.product < -125 ? 0x1p-64f : 2;
    const uint32_t moved = bcg_bits_f32(z.p) + (bcg_bits_f32(z.shifted) << 23) - bcg_bits_f32(scale) + 0x3f800000u;
    const float power = bcg_from_bits_f32(moved) * scale, above = z.product < -152 ? 0 : power;
    const float number = z.product < 128.25f ? above : z.product + INFINITY;
    return bcg_power_signed_f32(x, y, ((a == 1) | (y == 0)) ? 1 : number);
}

/* About y log2(x) 2^23, at most a third less; of a normal x. */
static inline float bcg_power_size_f32(float x, float y)
{
    return fabsf(y * (float)(int32_t)(bcg_bits_f32(x) - 0x3f800000u));
}

/* Of a normal x, and a y with which the power is far from the ends of the range. */
static inline float bcg_power_usual_of_f32(float x, float y, int close)
{
    const bcg_power_parts_f32 z = bcg_power_parts_of_f32(bcg_log_usual_split_f32(x), y, close);
    return bcg_from_bits_f32(bcg_bits_f32(z.p) + (bcg_bits_f32(z.shifted) << 23));
}

static inline float bcg_power_usual_f32(float x, float y) { return bcg_power_usual_of_f32(x, y, 1); }

static inline float bcg_power_fast_usual_f32(float x, float y) { return bcg_power_usual_of_f32(x, y, 0); }

static inline float bcg_power_f32(float x, float y) { return bcg_power_of_f32(x, y, 1); }

static inline float bcg_power_fast_f32(float x, float y) { return bcg_power_of_f32(x, y, 0); }

#endif
