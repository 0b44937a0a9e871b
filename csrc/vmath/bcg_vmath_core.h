/* bcg_vmath_core.h: what the vector functions are made of: bits, one-rounding sums of products, rounding errors.
 *
 * Contract. Pure, for every argument, and without branches or calls, so that a loop over them vectorises at full width.
 * bcg_fma rounds once on machines that multiply and add with one rounding, else twice; functions that need the exact
 * error of a product use bcg_prod_low or bcg_rest, which find it either way. Results need -ffp-contract=off.
 * Each definition is between blank lines and uses only what is above it or in the standard headers: emit copies
 * the ones a kernel needs.
 */
#ifndef BCG_VMATH_CORE_H
#define BCG_VMATH_CORE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A sum with it is rounded to a whole number, which is in the low bits. */
#define BCG_SHIFT_F32 0x1.8p23f

/* A sum with it is rounded to a whole number, which is in the low bits. */
#define BCG_SHIFT_F64 0x1.8p52

/* log(2) in two parts, the upper one short enough that products with exponents are exact. */
#define BCG_LN2_HIGH_F32 0x1.62e4p-1f

#define BCG_LN2_LOW_F32 0x1.7f7d1cp-20f

/* log(2) in two parts, the upper one short enough that products with exponents are exact. */
#define BCG_LN2_HIGH_F64 0x1.62e42fefa38p-1

#define BCG_LN2_LOW_F64 0x1.ef35793c7673p-45

/* 1 / log(2) */
#define BCG_LOG2_E_F32 0x1.715476p0f

/* 1 / log(2) */
#define BCG_LOG2_E_F64 0x1.71547652b82fep0

/* 1 / log(10) */
#define BCG_LOG10_E_F32 0x1.bcb7b2p-2f

/* 1 / log(10) */
#define BCG_LOG10_E_F64 0x1.bcb7b1526e50ep-2

static inline uint32_t bcg_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bcg_from_bits_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bcg_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double bcg_from_bits_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* How far the bits of a positive normal number are above those of the smallest one; of any other number it is more than
 * BCG_MOST_NORMAL_F32. */
static inline uint32_t bcg_above_normal_f32(float x) { return bcg_bits_f32(x) - 0x00800000u; }

#define BCG_MOST_NORMAL_F32 0x7effffffu

/* How far the bits of a positive normal number are above those of the smallest one; of any other number it is more than
 * BCG_MOST_NORMAL_F64. */
static inline uint64_t bcg_above_normal_f64(double x) { return bcg_bits_f64(x) - 0x0010000000000000u; }

#define BCG_MOST_NORMAL_F64 0x7fdfffffffffffffu

/* x * y + z: rounded once where that is one instruction, else twice. */
static inline float bcg_fma_f32(float x, float y, float z)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fmaf(x, y, z);
#else
    return x * y + z;
#endif
}

/* x * y + z: rounded once where that is one instruction, else twice. */
static inline double bcg_fma_f64(double x, double y, double z)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fma(x, y, z);
#else
    return x * y + z;
#endif
}

/* The upper half of a number's digits: products of two such are exact. */
static inline float bcg_upper_f32(float x) { return bcg_from_bits_f32(bcg_bits_f32(x) & 0xfffff000u); }

/* The upper half of a number's digits: products of two such are exact. */
static inline double bcg_upper_f64(double x) { return bcg_from_bits_f64(bcg_bits_f64(x) & 0xfffffffff8000000u); }

/* The whole number closest to x. */
static inline double bcg_whole_f64(double x)
{
#if defined __SSE4_1__ || defined __aarch64__
    return rint(x);
#else
    const double a = fabs(x), near = (a + 0x1p52) - 0x1p52;
    return a < 0x1p52 ? copysign(near, x) : x;
#endif
}

/* The whole number closest to x. */
static inline float bcg_whole_f32(float x)
{
#if defined __SSE4_1__ || defined __aarch64__
    return rintf(x);
#else
    const float a = fabsf(x), near = (a + 0x1p23f) - 0x1p23f;
    return a < 0x1p23f ? copysignf(near, x) : x;
#endif
}

/* The part that rounding took from product = x * y: exact unless parts underflow (or, without FMA, its last digits). */
static inline float bcg_prod_low_f32(float x, float y, float product)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fmaf(x, y, -product);
#else
    const float xh = bcg_upper_f32(x), xl = x - xh, yh = bcg_upper_f32(y), yl = y - yh;
    return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl;
#endif
}

/* The part that rounding took from product = x * y: exact unless parts underflow (or, without FMA, its last digits). */
static inline double bcg_prod_low_f64(double x, double y, double product)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fma(x, y, -product);
#else
    const double xh = bcg_upper_f64(x), xl = x - xh, yh = bcg_upper_f64(y), yl = y - yh;
    return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl;
#endif
}

/* z - x * y where the product is close to z: what a division z / y = x, or a square root, has left over. */
static inline float bcg_rest_f32(float z, float x, float y)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fmaf(-x, y, z);
#else
    const float product = x * y;
    return (z - product) - bcg_prod_low_f32(x, y, product);
#endif
}

/* z - x * y where the product is close to z: what a division z / y = x, or a square root, has left over. */
static inline double bcg_rest_f64(double z, double x, double y)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fma(-x, y, z);
#else
    const double product = x * y;
    return (z - product) - bcg_prod_low_f64(x, y, product);
#endif
}

/* x * y + z where |z| is at most |x * y|: as if rounded once, or almost. */
static inline float bcg_close_fma_f32(float x, float y, float z)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fmaf(x, y, z);
#else
    const float product = x * y, sum = product + z;
    return sum + (((product - sum) + z) + bcg_prod_low_f32(x, y, product));
#endif
}

/* x * y + z where |z| is at most |x * y|: as if rounded once, or almost. */
static inline double bcg_close_fma_f64(double x, double y, double z)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fma(x, y, z);
#else
    const double product = x * y, sum = product + z;
    return sum + (((product - sum) + z) + bcg_prod_low_f64(x, y, product));
#endif
}

/* The part that rounding took from sum = bcg_fma(x, y, z), to about as many digits again, where |z| >= 2 |x * y|. */
static inline float bcg_fma_low_f32(float x, float y, float z, float sum)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fmaf(x, y, z - sum);
#else
    const float product = x * y;
    return ((z - sum) + product) + bcg_prod_low_f32(x, y, product);
#endif
}

/* The part that rounding took from sum = bcg_fma(x, y, z), to about as many digits again, where |z| >= 2 |x * y|. */
static inline double bcg_fma_low_f64(double x, double y, double z, double sum)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    return fma(x, y, z - sum);
#else
    const double product = x * y;
    return ((z - sum) + product) + bcg_prod_low_f64(x, y, product);
#endif
}

/* The part that rounding took from sum = x + y, exactly, if |x| >= |y| or x is 0. */
static inline float bcg_sum_low_f32(float x, float y, float sum) { return y - (sum - x); }

/* The part that rounding took from sum = x + y, exactly, if |x| >= |y| or x is 0. */
static inline double bcg_sum_low_f64(double x, double y, double sum) { return y - (sum - x); }

/* The part that rounding took from sum = x + y, exactly, whichever is larger. */
static inline float bcg_any_sum_low_f32(float x, float y, float sum)
{
    const float added = sum - x;
    return (x - (sum - added)) + (y - added);
}

/* The part that rounding took from sum = x + y, exactly, whichever is larger. */
static inline double bcg_any_sum_low_f64(double x, double y, double sum)
{
    const double added = sum - x;
    return (x - (sum - added)) + (y - added);
}

#endif
