/* bcg_vmath_log.h: logarithms, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Forms with `common` in the name are right where the op's row says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_LOG_H
#define BCG_VMATH_LOG_H

#include "bcg_vmath_core.h"

/* (log(1 + f) - f + s / 2) / (f s) for 1 + f in sqrt(1/2) to sqrt(2), s = f^2. Minimax fit log_f32: error
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

/* log2(1 + f) / f less the f32 number closest to 1 / log(2). Minimax fit log2_f32: error 2^-26.8 */
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
 * too often a polynomial. Minimax fit log10_over_f32: error 2^-28.9; log10_f32: 2^-26.8 */
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
 * Minimax fit log_f64: error 2^-59.2 */
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

/* log2(1 + f) / f, to some ULPs. Minimax fit log2_fast_f32: error 2^-24.4 */
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

/* log10(1 + f) / f, to some ULPs. Minimax fit log10_fast_f32: error 2^-24.4 */
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

/* log(1 + f), to some ULPs. Minimax fit log_fast_f64: error 2^-52.2 */
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

/* The exponent and the fraction of a normal x, from their places in its bits. */
static inline bcg_log_parts_f32 bcg_log_common_split_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(x) - 0x3f3504f3u;
    const float m = bcg_from_bits_f32(bcg_bits_f32(x) - (bits & 0xff800000u));
    const bcg_log_parts_f32 parts = {(float)((int32_t)bits >> 23), m - 1};
    return parts;
}

/* The exponent and the fraction of a normal x, from their places in its bits. */
static inline bcg_log_parts_f64 bcg_log_common_split_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double m = bcg_from_bits_f64((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const bcg_log_parts_f64 parts = {k, m - 1};
    return parts;
}

/* A subnormal x is scaled up; the scale's exponent is subtracted from the bits, so that one selection is enough. */
static inline bcg_log_parts_f32 bcg_log_split_f32(float x)
{
    const float scale = x < 0x1p-126f ? 0x1p24f : 1;
    const uint32_t bits = bcg_bits_f32(x * scale) - bcg_bits_f32(scale) + (0x3f800000u - 0x3f3504f3u);
    const float m = bcg_from_bits_f32((bits & 0x007fffffu) + 0x3f3504f3u);
    const bcg_log_parts_f32 parts = {(float)((int32_t)bits >> 23), m - 1};
    return parts;
}

/* A subnormal x is scaled up; the scale's exponent is subtracted from the bits, so that one selection is enough. */
static inline bcg_log_parts_f64 bcg_log_split_f64(double x)
{
    const double scale = x < 0x1p-1022 ? 0x1p54 : 1;
    const uint64_t bits = bcg_bits_f64(x * scale) - bcg_bits_f64(scale) + (0xbff0000000000000u - 0x3fe6a09e667f3bcdu);
    const double m = bcg_from_bits_f64((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    const double k = bcg_from_bits_f64((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 2048.0);
    const bcg_log_parts_f64 parts = {k, m - 1};
    return parts;
}

/* The logarithm of any x: `number` where x is positive and finite, x itself where it is +infinity or NaN. */
static inline float bcg_log_special_f32(float x, float number)
{
    const uint32_t bits = bcg_bits_f32(x);
    const float positive = x < INFINITY ? number : x, other = bcg_from_bits_f32(bits | (bits >> 8) | 0xff800000u);
    return x > 0 ? positive : other;
}

/* The logarithm of any x: `number` where x is positive and finite, x itself where it is +infinity or NaN. */
static inline double bcg_log_special_f64(double x, double number)
{
    const uint64_t bits = bcg_bits_f64(x);
    const double positive = x < (double)INFINITY ? number : x;
    const double other = bcg_from_bits_f64(bits | (bits >> 11) | 0xfff0000000000000u);
    return x > 0 ? positive : other;
}

static inline float bcg_log_of_f32(bcg_log_parts_f32 a)
{
    const float rest = bcg_fma_f32(a.k, BCG_LN2_LOW_F32, bcg_log_second_f32(a.f));
    return bcg_fma_f32(a.k, BCG_LN2_HIGH_F32, a.f + rest);
}

static inline float bcg_log_common_f32(float x) { return bcg_log_of_f32(bcg_log_common_split_f32(x)); }

static inline float bcg_log_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log_of_f64(bcg_log_parts_f64 a)
{
    const double rest = bcg_fma_f64(a.k, BCG_LN2_LOW_F64, bcg_log_second_f64(a.f));
    return bcg_fma_f64(a.k, BCG_LN2_HIGH_F64, a.f + rest);
}

static inline double bcg_log_common_f64(double x) { return bcg_log_of_f64(bcg_log_common_split_f64(x)); }

static inline double bcg_log_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log2_of_f32(bcg_log_parts_f32 a)
{
    const float rest = a.f * bcg_log2_rest_f32(a.f);
    return a.k + bcg_close_fma_f32(a.f, BCG_LOG2_E_F32, rest);
}

static inline float bcg_log2_common_f32(float x) { return bcg_log2_of_f32(bcg_log_common_split_f32(x)); }

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

static inline double bcg_log2_common_f64(double x) { return bcg_log2_of_f64(bcg_log_common_split_f64(x)); }

static inline double bcg_log2_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log2_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log10_of_f32(bcg_log_parts_f32 a)
{
    const float rest = bcg_fma_f32(a.f, bcg_log10_rest_f32(a.f), a.k * 0x1.3509f8p-18f);
    return bcg_fma_f32(a.k, 0x1.344p-2f, bcg_close_fma_f32(a.f, BCG_LOG10_E_F32, rest));
}

static inline float bcg_log10_common_f32(float x) { return bcg_log10_of_f32(bcg_log_common_split_f32(x)); }

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

static inline double bcg_log10_common_f64(double x) { return bcg_log10_of_f64(bcg_log_common_split_f64(x)); }

static inline double bcg_log10_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log10_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log_fast_of_f32(bcg_log_parts_f32 a)
{
    const float s = a.f * a.f, part = bcg_fma_f32(s, bcg_fma_f32(bcg_log_tail_f32(a.f, s), a.f, -0.5f), a.f);
    return bcg_fma_f32(a.k, 0x1.62e43p-1f, part);
}

static inline float bcg_log_fast_common_f32(float x) { return bcg_log_fast_of_f32(bcg_log_common_split_f32(x)); }

static inline float bcg_log_fast_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log_fast_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log_fast_of_f64(bcg_log_parts_f64 a)
{
    return bcg_fma_f64(a.k, 0x1.62e42fefa39efp-1, bcg_log_short_f64(a.f));
}

static inline double bcg_log_fast_common_f64(double x) { return bcg_log_fast_of_f64(bcg_log_common_split_f64(x)); }

static inline double bcg_log_fast_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log_fast_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log2_fast_of_f32(bcg_log_parts_f32 a)
{
    return bcg_fma_f32(a.f, bcg_log2_short_f32(a.f), a.k);
}

static inline float bcg_log2_fast_common_f32(float x) { return bcg_log2_fast_of_f32(bcg_log_common_split_f32(x)); }

static inline float bcg_log2_fast_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log2_fast_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log2_fast_of_f64(bcg_log_parts_f64 a)
{
    return bcg_fma_f64(bcg_log_short_f64(a.f), BCG_LOG2_E_F64, a.k);
}

static inline double bcg_log2_fast_common_f64(double x) { return bcg_log2_fast_of_f64(bcg_log_common_split_f64(x)); }

static inline double bcg_log2_fast_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log2_fast_of_f64(bcg_log_split_f64(x)));
}

static inline float bcg_log10_fast_of_f32(bcg_log_parts_f32 a)
{
    return bcg_fma_f32(a.k, 0x1.344136p-2f, a.f * bcg_log10_short_f32(a.f));
}

static inline float bcg_log10_fast_common_f32(float x) { return bcg_log10_fast_of_f32(bcg_log_common_split_f32(x)); }

static inline float bcg_log10_fast_f32(float x)
{
    return bcg_log_special_f32(x, bcg_log10_fast_of_f32(bcg_log_split_f32(x)));
}

static inline double bcg_log10_fast_of_f64(bcg_log_parts_f64 a)
{
    const double part = bcg_log_short_f64(a.f) * BCG_LOG10_E_F64;
    return bcg_fma_f64(a.k, 0x1.34413509f79ffp-2, part);
}

static inline double bcg_log10_fast_common_f64(double x) { return bcg_log10_fast_of_f64(bcg_log_common_split_f64(x)); }

static inline double bcg_log10_fast_f64(double x)
{
    return bcg_log_special_f64(x, bcg_log10_fast_of_f64(bcg_log_split_f64(x)));
}

#endif
