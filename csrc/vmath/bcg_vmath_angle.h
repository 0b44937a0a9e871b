/* bcg_vmath_angle.h: code that trigonometric functions share: angles less multiples of pi / 2, and selections by bits.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise, but for far arguments, which are taken apart slowly. Forms with `common` in
 * the name are right up to the bounds BCG_..._NEAR, give NaN for NaN, and give the same bits there as the full ones.
 * Each definition is between blank lines and uses only what is above it, in the headers that are included or in the
 * standard ones: emit copies the ones a kernel needs.
 *
 * An angle |x| less k pi / 2 is the sum of a number and a small one: the parts of pi are so short that their products
 * with k are exact, and so are the differences, except in the last digits. k is rounded by adding a number whose last
 * digit counts ones, so that the low bits of the sum are the quadrant.
 */
#ifndef BCG_VMATH_ANGLE_H
#define BCG_VMATH_ANGLE_H

#include "bcg_vmath_core.h"

/* Up to here the products with the parts of pi are exact. */
#define BCG_SIN_COMMON_F32 100000.0f

#define BCG_SIN_COMMON_F64 0x1p20

#define BCG_COS_COMMON_F32 BCG_SIN_COMMON_F32

#define BCG_COS_COMMON_F64 BCG_SIN_COMMON_F64

#define BCG_TAN_COMMON_F32 BCG_SIN_COMMON_F32

#define BCG_TAN_COMMON_F64 BCG_SIN_COMMON_F64

/* All ones where x < 0 (or a NaN or -0 has the sign). Selecting by this mask is no condition; gcc makes separate paths
 * for a condition that occurs again. The sign of a NaN is not defined, so for a NaN both alternatives must be NaN. */
static inline uint32_t bcg_mask_f32(float x) { return 0 - (bcg_bits_f32(x) >> 31); }

/* x where mask is all ones, y where it is 0. */
static inline float bcg_masked_f32(uint32_t mask, float x, float y)
{
    return bcg_from_bits_f32((bcg_bits_f32(x) & mask) | (bcg_bits_f32(y) & ~mask));
}

/* All ones where x < 0 (or a NaN or -0 has the sign). Selecting by this mask is no condition; gcc makes separate paths
 * for a condition that occurs again. The sign of a NaN is not defined, so for a NaN both alternatives must be NaN. */
static inline uint64_t bcg_mask_f64(double x) { return 0 - (bcg_bits_f64(x) >> 63); }

/* x where mask is all ones, y where it is 0. */
static inline double bcg_masked_f64(uint64_t mask, double x, double y)
{
    return bcg_from_bits_f64((bcg_bits_f64(x) & mask) | (bcg_bits_f64(y) & ~mask));
}

/* x if odd is 1, y if it is 0. */
static inline double bcg_pick_f64(uint64_t odd, double x, double y)
{
#if defined __AVX512F__
    return odd ? x : y;
#else
    return bcg_from_bits_f64(bcg_bits_f64(y) ^ ((bcg_bits_f64(x) ^ bcg_bits_f64(y)) & (0 - odd)));
#endif
}

/* |x|, also without the sign of a NaN: compilers drop fabs if x cannot be negative, and on x86 0 / 0 has the sign. */
static inline float bcg_size_f32(float x) { return bcg_from_bits_f32(bcg_bits_f32(x) & 0x7fffffffu); }

/* |x|, also without the sign of a NaN: compilers drop fabs if x cannot be negative, and on x86 0 / 0 has the sign. */
static inline double bcg_size_f64(double x) { return bcg_from_bits_f64(bcg_bits_f64(x) & 0x7fffffffffffffffu); }

/* An odd function's value at x, from its value at |x|. */
static inline float bcg_signed_f32(float x, float value)
{
    return bcg_from_bits_f32(bcg_bits_f32(value) ^ (bcg_bits_f32(x) & 0x80000000u));
}

/* An odd function's value at x, from its value at |x|. */
static inline double bcg_signed_f64(double x, double value)
{
    return bcg_from_bits_f64(bcg_bits_f64(value) ^ (bcg_bits_f64(x) & 0x8000000000000000u));
}

/* The angle quarter * pi / 2 + (high + low), where |high| is hardly more than pi / 4; quarter counts modulo 4. */
typedef struct
{
    float high, low;
    uint32_t quarter;
} bcg_angle_f32;

/* The angle quarter * pi / 2 + (high + low), where |high| is hardly more than pi / 4; quarter counts modulo 4. */
typedef struct
{
    double high, low;
    uint64_t quarter;
} bcg_angle_f64;

/* x >= 0, pi / 2 in parts of 24 bits, the first without FMA in parts of 8; k times the second takes two numbers. */
static inline bcg_angle_f32 bcg_near_angle_f32(float x)
{
    const float whole = bcg_fma_f32(x, 0x1.45f306p-1f, 0x1.8p23f), k = whole - 0x1.8p23f;
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const float first = fmaf(-k, 0x1.921fb6p+0f, x);
#else
    const float first = ((x - k * 0x1.92p+0f) - k * 0x1.fap-12f) - k * 0x1.6p-20f;
#endif
    const float second = k * 0x1.777a5cp-25f, high = first + second;
    const float rest = bcg_fma_f32(k, 0x1.ee59dap-50f, bcg_prod_low_f32(k, 0x1.777a5cp-25f, second));
    const bcg_angle_f32 angle = {high, bcg_sum_low_f32(first, second, high) + rest, bcg_bits_f32(whole)};
    return angle;
}

/* x >= 0, pi / 2 in parts of 33, 20, 33 and 53 bits. */
static inline bcg_angle_f64 bcg_near_angle_f64(double x)
{
    const double whole = bcg_fma_f64(x, 0x1.45f306dc9c883p-1, 0x1.8p52), k = whole - 0x1.8p52;
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const double first = fma(-k, 0x1.921fb54442d18p+0, x);
#else
    const double first = (x - k * 0x1.921fb544p+0) - k * 0x1.0b46p-34;
#endif
    const double high = bcg_fma_f64(-k, 0x1.1a626331p-54, first);
    const double low = bcg_fma_f64(-k, 0x1.1a626331p-54, first - high);
    const bcg_angle_f64 angle = {high, bcg_fma_f64(-k, 0x1.1701b839a252p-88, low), bcg_bits_f64(whole)};
    return angle;
}

/* Any x >= 1, by Payne and Hanek's method: the only digits of 2 / pi that count are those whose products with x are no
 * multiples of 4 and not too small: 192 bits. The lowest 192 bits of their product with the digits of x count. */
static inline bcg_angle_f64 bcg_far_angle_f64(double x)
{
    static const uint32_t digits[] = {
        0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
        0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
        0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
        0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
        0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
    };
    const uint64_t bits = bcg_bits_f64(x), mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
    const uint32_t exponent = (uint32_t)(bits >> 52) & 0x7ff;
    if (exponent == 0x7ff) {
        const bcg_angle_f64 none = {x - x, x - x, 0};
        return none;
    }
    /* The exponent is never less here, but compilers cannot see that. */
    const uint32_t place = exponent > 1013 ? exponent - 1013 : 0;
    uint32_t product[6] = {0};
    for (int half = 0; half < 2; half++) {
        const uint64_t factor = half ? mantissa >> 32 : mantissa & 0xffffffff;
        uint64_t carry = 0;
        for (int i = half; i < 6; i++) {
            const uint32_t *const at = digits + place / 32 + (5 - i + half);
            const uint32_t word = (uint32_t)((((uint64_t)at[0] << 32 | at[1]) << place % 32) >> 32);
            carry += factor * word + product[i];
            product[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    /* Two bits are before the point. Beyond a half, the angle is the distance to the next quarter. */
    const uint32_t beyond = product[5] >> 29 & 1, flip = 0 - beyond;
    const double d0 = (double)((product[5] ^ flip) & 0x3fffffff) * 0x1p-30, d1 = (double)(product[4] ^ flip) * 0x1p-62;
    const double d2 = (double)(product[3] ^ flip) * 0x1p-94, d3 = (double)(product[2] ^ flip) * 0x1p-126;
    const double sum1 = d0 + d1, sum2 = sum1 + d2, sum3 = sum2 + d3;
    const double low12 = bcg_sum_low_f64(d0, d1, sum1) + bcg_sum_low_f64(sum1, d2, sum2);
    const double rest = bcg_sum_low_f64(sum2, d3, sum3) + low12;
    const double turned = sum3 * 0x1.921fb54442d18p+0;
    const double left = sum3 * 0x1.1a62633145c07p-54 + rest * 0x1.921fb54442d18p+0;
    const double low = bcg_prod_low_f64(sum3, 0x1.921fb54442d18p+0, turned) + left;
    const double high = turned + low, after = bcg_sum_low_f64(turned, low, high);
    const bcg_angle_f64 angle = {beyond ? -high : high, beyond ? -after : after, (product[5] >> 30) + beyond};
    return angle;
}

/* x >= 0 */
static inline bcg_angle_f64 bcg_any_angle_f64(double x)
{
    return x <= BCG_SIN_COMMON_F64 ? bcg_near_angle_f64(x) : bcg_far_angle_f64(x);
}

#endif
