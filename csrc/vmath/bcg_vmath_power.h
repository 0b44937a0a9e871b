/* bcg_vmath_power.h: powers, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Forms with `common` in the name are right where the op's row says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_POWER_H
#define BCG_VMATH_POWER_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_log.h"

/* x^y, from |x|^y in number: with the sign of x if y is odd, and NaN for a negative x if y is not whole. */
static inline double bcg_power_signed_f64(double x, double y, double number)
{
    // This is not the half of 0 or of a subnormal number, where it does not matter.
    const double half = bcg_from_bits_f64(bcg_bits_f64(y) - 0x0010000000000000u);
    const int whole = bcg_whole_f64(y) == y, odd = whole & (bcg_whole_f64(half) != half);
    const uint64_t bits = bcg_bits_f64(x), sign = (0 - (uint64_t)odd) & bits & 0x8000000000000000u;
    const int negative = bits - 0x8000000000000001u < 0x7fefffffffffffffu;
    return (negative & !whole) ? (double)NAN : bcg_from_bits_f64(bcg_bits_f64(number) ^ sign);
}

/* x^y, from |x|^y in number: with the sign of x if y is odd, and NaN for a negative x if y is not whole. */
static inline float bcg_power_signed_f32(float x, float y, float number)
{
    // This is not the half of 0 or of a subnormal number, where it does not matter.
    const float half = bcg_from_bits_f32(bcg_bits_f32(y) - 0x00800000u);
    const int whole = bcg_whole_f32(y) == y, odd = whole & (bcg_whole_f32(half) != half);
    const uint32_t bits = bcg_bits_f32(x), sign = (0 - (uint32_t)odd) & bits & 0x80000000u;
    const int negative = bits - 0x80000001u < 0x7f7fffffu;
    return (negative & !whole) ? NAN : bcg_from_bits_f32(bcg_bits_f32(number) ^ sign);
}

/* (log2(1 + f) - c0 s - c1 s^3) / s^5 with s = f / (2 + f), z = s^2. Minimax fit power_f64: error 2^-65.8 */
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

/* (2^r - 1 - r log(2)) / r^2, s = r^2. Minimax fit power_exp2_f64: error 2^-57.7 */
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

/* 2^product = p 2^n, where n is in the low bits of shifted. */
typedef struct {
    double product, shifted, p;
} bcg_power_parts_f64;

/* x^y = 2^(y log2(x)), with the logarithm to some 64 digits: each number of the chain has a low part beside it. If
 * close is 0, some of these are left out. */
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
    const double number = z.product < 1024.25 ? above : z.product + (double)INFINITY;
    return bcg_power_signed_f64(x, y, ((a == 1) | (y == 0)) ? 1 : number);
}

/* About |y log2(x)| 2^20 for a normal x, at most a third less. */
static inline double bcg_power_size_f64(double x, double y)
{
    const double upper = bcg_from_bits_f64((bcg_bits_f64(x) >> 32) | 0x4330000000000000u);
    return fabs(y * (upper - (0x1p52 + 0x1.ff8p29)));
}

/* The bits of the largest such size for bcg_power_common, whose powers are far from the ends of the range. */
#define BCG_MOST_POWER_F64 0x41c6000000000000u

#define BCG_MOST_POWER_F32 0x4e2e0000u

/* For a normal x, and a y for which the power is far from the ends of the range. */
static inline double bcg_power_common_of_f64(double x, double y, int close)
{
    const bcg_power_parts_f64 z = bcg_power_parts_of_f64(bcg_log_common_split_f64(x), y, close);
    return bcg_from_bits_f64(bcg_bits_f64(z.p) + (bcg_bits_f64(z.shifted) << 52));
}

static inline double bcg_power_common_f64(double x, double y) { return bcg_power_common_of_f64(x, y, 1); }

static inline double bcg_power_fast_common_f64(double x, double y) { return bcg_power_common_of_f64(x, y, 0); }

static inline double bcg_power_f64(double x, double y) { return bcg_power_of_f64(x, y, 1); }

static inline double bcg_power_fast_f64(double x, double y) { return bcg_power_of_f64(x, y, 0); }

/* (log2(1 + f) - c0 s - c1 s^3) / s^5 with s = f / (2 + f), z = s^2. Minimax fit power_f32: error 2^-36.1 */
static inline float bcg_power_tail_f32(float z)
{
    return bcg_fma_f32(bcg_fma_f32(0x1.59f604p-2f, z, 0x1.a5bb94p-2f), z, 0x1.27770ep-1f);
}

/* (2^r - 1 - r log(2)) / r^2, s = r^2. Minimax fit power_exp2_f32: error 2^-27.9 */
static inline float bcg_power_exp2_f32(float r, float s)
{
    float even = bcg_fma_f32(0x1.414ec4p-13f, s, 0x1.3b2e0cp-7f);
    even = bcg_fma_f32(even, s, 0x1.ebfbdcp-3f);
    return bcg_fma_f32(bcg_fma_f32(0x1.5f03d8p-10f, s, 0x1.c6af88p-5f), r, even);
}

/* 2^product = p 2^n, where n is in the low bits of shifted. */
typedef struct {
    float product, shifted, p;
} bcg_power_parts_f32;

/* The parts of x^y = 2^product, from a logarithm of some 33 binary digits. */
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

/* About |y log2(x)| 2^23 for a normal x, at most a third less. */
static inline float bcg_power_size_f32(float x, float y)
{
    return fabsf(y * (float)(int32_t)(bcg_bits_f32(x) - 0x3f800000u));
}

/* For a normal x, and a y for which the power is far from the ends of the range. */
static inline float bcg_power_common_of_f32(float x, float y, int close)
{
    const bcg_power_parts_f32 z = bcg_power_parts_of_f32(bcg_log_common_split_f32(x), y, close);
    return bcg_from_bits_f32(bcg_bits_f32(z.p) + (bcg_bits_f32(z.shifted) << 23));
}

static inline float bcg_power_common_f32(float x, float y) { return bcg_power_common_of_f32(x, y, 1); }

static inline float bcg_power_fast_common_f32(float x, float y) { return bcg_power_common_of_f32(x, y, 0); }

static inline float bcg_power_f32(float x, float y) { return bcg_power_of_f32(x, y, 1); }

static inline float bcg_power_fast_f32(float x, float y) { return bcg_power_of_f32(x, y, 0); }

#endif
