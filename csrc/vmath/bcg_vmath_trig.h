/* bcg_vmath_trig.h: trigonometric functions and their inverses, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; error at most the bound of the op's row, special values those of C99's
 * Annex F. Branch-free, so that loops vectorise, but for sin, cos and tan: they take far arguments apart, slowly.
 * Their forms with `near` in the name are right up to the bounds BCG_..._NEAR, and give NaN for NaN; the others give
 * the same bits there. Each definition stands between blank lines and uses only what stands above it, in
 * bcg_vmath_core.h or in the standard headers: emit copies the ones a kernel needs.
 *
 * What is left of |x| after multiples k of pi / 2 (or pi) is the sum of a number and a small one: the parts of pi are
 * so short that their products with k are exact, and so are the differences, until the last digits come. k is rounded
 * by adding a number whose last digit counts ones, so that the low bits of the sum tell the quadrant.
 *
 * The file is long because it has seven functions of two dtypes in up to three forms, and the angles they share.
 */
#ifndef BCG_VMATH_TRIG_H
#define BCG_VMATH_TRIG_H

#include "bcg_vmath_core.h"

/* Up to here the products with the parts of pi are exact. */
#define BCG_SIN_NEAR_F32 100000.0f

#define BCG_SIN_NEAR_F64 0x1p20

#define BCG_COS_NEAR_F32 BCG_SIN_NEAR_F32

#define BCG_COS_NEAR_F64 BCG_SIN_NEAR_F64

#define BCG_TAN_NEAR_F32 BCG_SIN_NEAR_F32

#define BCG_TAN_NEAR_F64 BCG_SIN_NEAR_F64

/* All ones where x < 0 (or a NaN or -0 has the sign), so that selecting by it is no condition: of those that it meets
 * again gcc makes paths of their own. Which sign a NaN has nobody knows: both of what it selects from are to be NaN. */
static inline uint32_t bcg_mask_f32(float x) { return 0 - (bcg_bits_f32(x) >> 31); }

/* x where mask is all ones, y where it is 0. */
static inline float bcg_masked_f32(uint32_t mask, float x, float y)
{
    return bcg_from_bits_f32((bcg_bits_f32(x) & mask) | (bcg_bits_f32(y) & ~mask));
}

/* All ones where x < 0 (or a NaN or -0 has the sign), so that selecting by it is no condition: of those that it meets
 * again gcc makes paths of their own. Which sign a NaN has nobody knows: both of what it selects from are to be NaN. */
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

/* |x|, without the sign of a NaN: compilers drop fabs where x cannot be negative, and on x86 0 / 0 has the sign. */
static inline float bcg_size_f32(float x) { return bcg_from_bits_f32(bcg_bits_f32(x) & 0x7fffffffu); }

/* |x|, without the sign of a NaN: compilers drop fabs where x cannot be negative, and on x86 0 / 0 has the sign. */
static inline double bcg_size_f64(double x) { return bcg_from_bits_f64(bcg_bits_f64(x) & 0x7fffffffffffffffu); }

/* An odd function's value at x, of its value at |x|. */
static inline float bcg_signed_f32(float x, float value)
{
    return bcg_from_bits_f32(bcg_bits_f32(value) ^ (bcg_bits_f32(x) & 0x80000000u));
}

/* An odd function's value at x, of its value at |x|. */
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

/* Any x >= 1, by Payne and Hanek's method: of the digits of 2 / pi only those count whose products with x are no
 * multiples of 4 and not too small: 192 bits; and of their product with the digits of x the lowest 192. */
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
    /* Never less for what comes here; that compilers cannot see. */
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
    /* Two bits before the point; beyond a half it is the distance to the next quarter that counts. */
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
    return x <= BCG_SIN_NEAR_F64 ? bcg_near_angle_f64(x) : bcg_far_angle_f64(x);
}

/* sin, by the polynomial of the sine or that of the cosine. python csrc/vmath/fit.py sin_f64: error 2^-56.3; cos_f64:
 * 2^-59.7 */
static inline double bcg_sin_angle_f64(bcg_angle_f64 x)
{
    const double s = x.high * x.high, half = s * 0.5, most = 1 - half, s2 = s * s;
    const uint64_t odd = x.quarter & 1;
    const double c0 = bcg_pick_f64(odd, 0x1.555555555554bp-5, -0x1.5555555555548p-3);
    const double c1 = bcg_pick_f64(odd, -0x1.6c16c16c14f91p-10, 0x1.111111110f7dp-7);
    const double c2 = bcg_pick_f64(odd, 0x1.a01a019c84485p-16, -0x1.a01a019bfde6fp-13);
    const double c3 = bcg_pick_f64(odd, -0x1.27e4f7eabf1b3p-22, 0x1.71de3567cdbfep-19);
    const double c4 = bcg_pick_f64(odd, 0x1.1ee9d7b0ce967p-29, -0x1.ae5e5a8dcb257p-26);
    const double c5 = bcg_pick_f64(odd, -0x1.8fa497d3a5bcbp-37, 0x1.5d8fd0ab9d6cdp-33);
    const double low = bcg_fma_f64(bcg_pick_f64(odd, -x.high, most), x.low, bcg_pick_f64(odd, (1 - most) - half, 0));
    const double even = bcg_fma_f64(s2, bcg_fma_f64(s2, c4, c2), c0);
    const double tail = bcg_fma_f64(s, bcg_fma_f64(s2, bcg_fma_f64(s2, c5, c3), c1), even);
    const double sine = bcg_pick_f64(odd, most, x.high) + bcg_fma_f64(bcg_pick_f64(odd, s, x.high) * s, tail, low);
    return bcg_from_bits_f64(bcg_bits_f64(sine) ^ (x.quarter & 2) << 62);
}

static inline double bcg_sin_near_f64(double x)
{
    return bcg_signed_f64(x, bcg_sin_angle_f64(bcg_near_angle_f64(fabs(x))));
}

static inline double bcg_sin_f64(double x) { return bcg_signed_f64(x, bcg_sin_angle_f64(bcg_any_angle_f64(fabs(x)))); }

static inline double bcg_cos_near_f64(double x)
{
    bcg_angle_f64 angle = bcg_near_angle_f64(fabs(x));
    angle.quarter += 1;
    return bcg_sin_angle_f64(angle);
}

static inline double bcg_cos_f64(double x)
{
    bcg_angle_f64 angle = bcg_any_angle_f64(fabs(x));
    angle.quarter += 1;
    return bcg_sin_angle_f64(angle);
}

/* What is left of x after k * pi. */
static inline double bcg_less_pi_f64(double x, double k)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const double first = fma(-k, 0x1.921fb54442d18p+1, x);
#else
    const double first = (x - k * 0x1.921fb544p+1) - k * 0x1.0b46p-33;
#endif
    return bcg_fma_f64(-k, 0x1.1701b839a252p-87, bcg_fma_f64(-k, 0x1.1a626331p-53, first));
}

/* The same, close enough for f32: pi in two numbers. */
static inline double bcg_less_pi_wide(double x, double k)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const double first = fma(-k, 0x1.921fb54442d18p+1, x);
#else
    const double first = (x - k * 0x1.921fb544p+1) - k * 0x1.0b46p-33;
#endif
    return bcg_fma_f64(-k, 0x1.1a62633145c07p-53, first);
}

/* sin of half a turn's angles. python csrc/vmath/fit.py sin_half_turn_wide: error 2^-27.3 */
static inline double bcg_sin_wide_f32(double r)
{
    const double s = r * r;
    double tail = bcg_fma_f64(s, 0x1.5dbe00e504325p-19, -0x1.9f6fffeb7e443p-13);
    tail = bcg_fma_f64(s, tail, 0x1.110ed3848a49cp-7);
    tail = bcg_fma_f64(s, tail, -0x1.55554bc843aa6p-3);
    return bcg_fma_f64(r * s, tail, r);
}

/* In f64, by the remainder of a division by pi. */
static inline float bcg_sin_near_f32(float x)
{
    const double wide = fabsf(x), whole = bcg_fma_f64(wide, 0x1.45f306dc9c883p-2, 0x1.8p52);
    const double sine = bcg_sin_wide_f32(bcg_less_pi_wide(wide, whole - 0x1.8p52));
    return bcg_signed_f32(x, (float)bcg_from_bits_f64(bcg_bits_f64(sine) ^ bcg_bits_f64(whole) << 63));
}

static inline float bcg_sin_f32(float x)
{
    return fabsf(x) <= BCG_SIN_NEAR_F32 ? bcg_sin_near_f32(x) : (float)bcg_sin_f64(x);
}

/* In f64, by the remainder of a division by pi, after an odd number of quarters. */
static inline float bcg_cos_near_f32(float x)
{
    const double wide = fabsf(x), whole = bcg_fma_f64(wide, 0x1.45f306dc9c883p-2, -0.5) + 0x1.8p52;
    const double sine = bcg_sin_wide_f32(bcg_less_pi_wide(wide, (whole - 0x1.8p52) + 0.5));
    return (float)bcg_from_bits_f64(bcg_bits_f64(sine) ^ (bcg_bits_f64(whole) + 1) << 63);
}

static inline float bcg_cos_f32(float x)
{
    return fabsf(x) <= BCG_COS_NEAR_F32 ? bcg_cos_near_f32(x) : (float)bcg_cos_f64(x);
}

/* python csrc/vmath/fit.py sin_half_turn_f64: error 2^-52.3 */
static inline double bcg_sin_half_turn_f64(double r)
{
    const double s = r * r, s2 = s * s;
    double even = bcg_fma_f64(s2, -0x1.9f151f195ad5cp-41, -0x1.ae6355acc582ep-26);
    double odd = bcg_fma_f64(s2, 0x1.60e6bf26b46aep-33, 0x1.71de3806b5f1cp-19);
    even = bcg_fma_f64(s2, even, -0x1.a01a019a65bd5p-13);
    odd = bcg_fma_f64(s2, odd, 0x1.111111110a576p-7);
    even = bcg_fma_f64(s2, even, -0x1.55555555554a8p-3);
    return bcg_fma_f64(r * s, bcg_fma_f64(s, odd, even), r);
}

static inline double bcg_sin_fast_near_f64(double x)
{
    const double whole = bcg_fma_f64(fabs(x), 0x1.45f306dc9c883p-2, 0x1.8p52);
    const double sine = bcg_sin_half_turn_f64(bcg_less_pi_f64(fabs(x), whole - 0x1.8p52));
    return bcg_signed_f64(x, bcg_from_bits_f64(bcg_bits_f64(sine) ^ bcg_bits_f64(whole) << 63));
}

static inline double bcg_sin_fast_f64(double x)
{
    return fabs(x) <= BCG_SIN_NEAR_F64 ? bcg_sin_fast_near_f64(x) : bcg_sin_f64(x);
}

static inline double bcg_cos_fast_near_f64(double x)
{
    const double whole = bcg_fma_f64(fabs(x), 0x1.45f306dc9c883p-2, -0.5) + 0x1.8p52;
    const double sine = bcg_sin_half_turn_f64(bcg_less_pi_f64(fabs(x), (whole - 0x1.8p52) + 0.5));
    return bcg_from_bits_f64(bcg_bits_f64(sine) ^ (bcg_bits_f64(whole) + 1) << 63);
}

static inline double bcg_cos_fast_f64(double x)
{
    return fabs(x) <= BCG_COS_NEAR_F64 ? bcg_cos_fast_near_f64(x) : bcg_cos_f64(x);
}

/* What is left of x after k * pi, in parts of 8, 8, 8, 8 and 24 bits. */
static inline float bcg_less_pi_f32(float x, float k)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const float first = fmaf(-k, 0x1.921fcp+1f, x);
#else
    const float first = (x - k * 0x1.92p+1f) - k * 0x1.fcp-11f;
#endif
    return bcg_fma_f32(-k, 0x1.68c234p-38f, bcg_fma_f32(-k, 0x1.1p-29f, bcg_fma_f32(k, 0x1.58p-20f, first)));
}

/* python csrc/vmath/fit.py sin_half_turn_f32: error 2^-26.6 */
static inline float bcg_sin_half_turn_f32(float r)
{
    const float s = r * r;
    float tail = bcg_fma_f32(s, 0x1.5dbep-19f, -0x1.9f7p-13f);
    tail = bcg_fma_f32(s, tail, 0x1.110ed4p-7f);
    tail = bcg_fma_f32(s, tail, -0x1.55554cp-3f);
    return bcg_fma_f32(r * s, tail, r);
}

static inline float bcg_sin_fast_near_f32(float x)
{
    const float whole = bcg_fma_f32(fabsf(x), 0x1.45f306p-2f, 0x1.8p23f);
    const float sine = bcg_sin_half_turn_f32(bcg_less_pi_f32(fabsf(x), whole - 0x1.8p23f));
    return bcg_signed_f32(x, bcg_from_bits_f32(bcg_bits_f32(sine) ^ bcg_bits_f32(whole) << 31));
}

static inline float bcg_sin_fast_f32(float x)
{
    return fabsf(x) <= BCG_SIN_NEAR_F32 ? bcg_sin_fast_near_f32(x) : (float)bcg_sin_f64(x);
}

static inline float bcg_cos_fast_near_f32(float x)
{
    const float whole = bcg_fma_f32(fabsf(x), 0x1.45f306p-2f, -0.5f) + 0x1.8p23f;
    const float sine = bcg_sin_half_turn_f32(bcg_less_pi_f32(fabsf(x), (whole - 0x1.8p23f) + 0.5f));
    return bcg_from_bits_f32(bcg_bits_f32(sine) ^ (bcg_bits_f32(whole) + 1) << 31);
}

static inline float bcg_cos_fast_f32(float x)
{
    return fabsf(x) <= BCG_COS_NEAR_F32 ? bcg_cos_fast_near_f32(x) : (float)bcg_cos_f64(x);
}

/* tan(r) = r + r s q(s), s = r^2, for r up to pi / 4. python csrc/vmath/fit.py tan_f32: error 2^-29.1 */
static inline float bcg_tan_tail_f32(float s)
{
    float tail = bcg_fma_f32(s, 0x1.2c2976p-8f, -0x1.4e350ep-12f);
    tail = bcg_fma_f32(s, tail, 0x1.6d77ap-7f);
    tail = bcg_fma_f32(s, tail, 0x1.5ab798p-6f);
    tail = bcg_fma_f32(s, tail, 0x1.bb0b9cp-5f);
    tail = bcg_fma_f32(s, tail, 0x1.110c88p-3f);
    return bcg_fma_f32(s, tail, 0x1.555564p-2f);
}

/* The polynomial, with what rounding took from s and from the angle by a slope that is close to r's where they count;
 * or its inverse, negated, with what rounding took from it. */
static inline float bcg_tan_angle_f32(bcg_angle_f32 x)
{
    const float r = x.high, s = r * r, lows = bcg_fma_f32(r, x.low + x.low, bcg_prod_low_f32(r, r, s));
    const float rest = bcg_close_fma_f32(r * s, bcg_tan_tail_f32(s), bcg_fma_f32(0.7f * r, lows, x.low));
    const float tangent = r + rest, low = bcg_sum_low_f32(r, rest, tangent), quotient = -1 / tangent;
    const float left = bcg_fma_f32(quotient, low, bcg_rest_f32(1, -quotient, tangent));
    return bcg_masked_f32(0 - (x.quarter & 1), bcg_fma_f32(quotient, left, quotient), tangent);
}

/* tan as the quotient of n = r (1 + s q(s)) and d = 1 - s / 2 + .., s = r^2, or its inverse, negated; both with what
 * rounding took from them. python csrc/vmath/fit.py tan_f64: error 2^-61.7 */
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

static inline float bcg_tan_near_f32(float x)
{
    return bcg_signed_f32(x, bcg_tan_angle_f32(bcg_near_angle_f32(fabsf(x))));
}

static inline double bcg_tan_near_f64(double x)
{
    return bcg_signed_f64(x, bcg_tan_angle_f64(bcg_near_angle_f64(fabs(x))));
}

static inline double bcg_tan_f64(double x) { return bcg_signed_f64(x, bcg_tan_angle_f64(bcg_any_angle_f64(fabs(x)))); }

static inline float bcg_tan_f32(float x)
{
    return fabsf(x) <= BCG_TAN_NEAR_F32 ? bcg_tan_near_f32(x) : (float)bcg_tan_f64(x);
}

/* Such a quotient without low parts of its own. python csrc/vmath/fit.py tan_fast_f32: error 2^-28.2 */
static inline float bcg_tan_fast_near_f32(float x)
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

/* The same quotient without low parts of its own. */
static inline double bcg_tan_fast_near_f64(double x)
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
    return fabsf(x) <= BCG_TAN_NEAR_F32 ? bcg_tan_fast_near_f32(x) : (float)bcg_tan_f64(x);
}

static inline double bcg_tan_fast_f64(double x)
{
    return fabs(x) <= BCG_TAN_NEAR_F64 ? bcg_tan_fast_near_f64(x) : bcg_tan_f64(x);
}

/* arctan(t) = t + t z q(z - 131/256), z = t^2, for t up to 1: about its middle the polynomial rounds least.
 * python csrc/vmath/fit.py arctan_f32: error 2^-28.3 */
static inline float bcg_arctan_tail_f32(float z)
{
    const float u = z - 0x1.06p-1f;
    float tail = bcg_fma_f32(u, -0x1.d62e8ep-10f, 0x1.d42eb8p-9f);
    tail = bcg_fma_f32(u, tail, -0x1.56e544p-8f);
    tail = bcg_fma_f32(u, tail, 0x1.2018fap-7f);
    tail = bcg_fma_f32(u, tail, -0x1.00086p-6f);
    tail = bcg_fma_f32(u, tail, 0x1.d1366cp-6f);
    tail = bcg_fma_f32(u, tail, -0x1.b8c3eep-5f);
    tail = bcg_fma_f32(u, tail, 0x1.c0af1p-4f);
    return bcg_fma_f32(u, tail, -0x1.080ee8p-2f);
}

/* arctan(t) - t = t z q(z) for t up to tan(pi / 8). python csrc/vmath/fit.py arctan_f64: error 2^-57.4 */
static inline double bcg_arctan_tail_f64(double z)
{
    const double z2 = z * z, z4 = z2 * z2;
    const double a1 = bcg_fma_f64(z, 0x1.c71c70e500661p-4, -0x1.24924922aa2ebp-3);
    const double a = bcg_fma_f64(z2, a1, bcg_fma_f64(z, 0x1.99999999957c9p-3, -0x1.555555555553dp-2));
    const double b1 = bcg_fma_f64(z, 0x1.df0e69b5eb989p-5, -0x1.10eba74caae51p-4);
    const double b = bcg_fma_f64(z2, b1, bcg_fma_f64(z, 0x1.3b111775465b3p-4, -0x1.745cf8c1c3d0dp-4));
    const double c = bcg_fma_f64(z2, -0x1.2558d54710267p-6, bcg_fma_f64(z, 0x1.37cd0d9f2b233p-5, -0x1.9ccf1635eedap-5));
    return bcg_fma_f64(z4, bcg_fma_f64(z4, c, b), a);
}

/* Beyond 1 what the arctan of 1 / |x| leaves of pi / 2; what rounding took from that quotient is added. The rest of a
 * division by an infinity would be none. */
static inline float bcg_arctan_f32(float x)
{
    const float size = fabsf(x);
    const uint32_t large = bcg_mask_f32(1 - size);
    const float over = bcg_masked_f32(large, -1, size), under = bcg_masked_f32(large, size, 1);
    const uint32_t bits = bcg_bits_f32(under), kept = bits < 0x71800000u ? bits : 0x71800000u;
    const float t = over / under, z = t * t, cube = t * z, slope = bcg_fma_f32(cube, 0.5f, -t);
    const float base = bcg_from_bits_f32(0x3fc90fdbu & large), sum = base + t;
    const float left = bcg_rest_f32(over, t, bcg_from_bits_f32(kept));
    const float after = bcg_fma_f32(left, slope, bcg_from_bits_f32(0xb33bbd2eu & large));
    const float lows = bcg_sum_low_f32(base, t, sum) + after;
    return bcg_signed_f32(x, sum + bcg_close_fma_f32(cube, bcg_arctan_tail_f32(z), lows));
}

/* Up to tan(pi / 8) by the series, up to tan(3 pi / 8) by that of t = (|x| - 1) / (|x| + 1), beyond by that of
 * -1 / |x|. What rounding took from the second quotient counts; 1 / (|x| + 1) = (1 - t) / 2 brings it in. */
static inline double bcg_arctan_f64(double x)
{
    const double kept = fabs(x);
    const uint64_t large = bcg_mask_f64(0x1.3504f333f9de6p+1 - kept);
    const uint64_t middle = bcg_mask_f64(0x1.a827999fcef32p-2 - kept) ^ large;
    const double one = bcg_masked_f64(middle, 1, 0), added = bcg_masked_f64(middle, kept, 0);
    const double above = kept - one, below = 1 + added;
    const double above_low = bcg_sum_low_f64(-one, kept, above), below_low = bcg_sum_low_f64(1, added, below);
    const double over = bcg_masked_f64(large, -1, above), under = bcg_masked_f64(large, kept, below);
    const double t = over / under, z = t * t;
    const double lost = bcg_rest_f64(over, t, under) + bcg_fma_f64(-t, below_low, above_low);
    const double rest = bcg_masked_f64(bcg_mask_f64(kept - 0x1.3504f333f9de6p+1), lost, 0);
    const double eighths = bcg_masked_f64(large, 2, one), base = eighths * 0x1.921fb54442d18p-1, sum = base + t;
    const double left = bcg_fma_f64(rest, bcg_fma_f64(t, -0.5, 0.5), eighths * 0x1.1a62633145c07p-55);
    const double lows = bcg_sum_low_f64(base, t, sum) + left;
    return bcg_signed_f64(x, sum + bcg_fma_f64(t * z, bcg_arctan_tail_f64(z), lows));
}

/* arctan(t) for t up to 1: large terms of both signs come last, one after the other.
 * python csrc/vmath/fit.py arctan_fast_f32: error 2^-27.2 */
static inline float bcg_arctan_octant_f32(float t)
{
    const float z = t * t, z2 = z * z;
    float even = bcg_fma_f32(z2, -0x1.d62e8ep-10f, -0x1.fed07cp-6f);
    float odd = bcg_fma_f32(z2, 0x1.65a58p-7f, 0x1.dac964p-5f);
    even = bcg_fma_f32(z2, even, -0x1.583466p-4f);
    odd = bcg_fma_f32(z2, odd, 0x1.c099eep-4f);
    const float end = bcg_fma_f32(z, bcg_fma_f32(z, even, odd), -0x1.2421b4p-3f);
    const float tail = bcg_fma_f32(z, bcg_fma_f32(z, end, 0x1.9991fcp-3f), -0x1.55553ep-2f);
    return bcg_fma_f32(t * z, tail, t);
}

/* Beyond 1 what the arctan of 1 / |x| leaves of pi / 2. */
static inline float bcg_arctan_fast_f32(float x)
{
    const float size = fabsf(x), over = 1.0f < size ? 1.0f : size, under = 1.0f < size ? size : 1.0f;
    const uint32_t large = bcg_mask_f32(1 - size);
    const float angle = bcg_from_bits_f32(bcg_bits_f32(bcg_arctan_octant_f32(over / under)) ^ (large & 0x80000000u));
    return bcg_signed_f32(x, bcg_masked_f32(large, 0x1.921fb6p+0f, 0) + angle);
}

/* As above, without what rounding took. */
static inline double bcg_arctan_fast_f64(double x)
{
    const double kept = fabs(x);
    const uint64_t large = bcg_mask_f64(0x1.3504f333f9de6p+1 - kept);
    const uint64_t middle = bcg_mask_f64(0x1.a827999fcef32p-2 - kept) ^ large;
    const double one = bcg_masked_f64(middle, 1, 0), added = bcg_masked_f64(middle, kept, 0);
    const double over = bcg_masked_f64(large, -1, kept - one), under = bcg_masked_f64(large, kept, 1 + added);
    const double t = over / under, z = t * t, eighths = bcg_masked_f64(large, 2, one);
    return bcg_signed_f64(x, bcg_fma_f64(eighths, 0x1.921fb54442d18p-1, bcg_fma_f64(t * z, bcg_arctan_tail_f64(z), t)));
}

/* All ones where a < b, neither of which has a sign: two infinities are equal, whatever sign their difference has. */
static inline uint32_t bcg_less_mask_f32(float a, float b)
{
    return 0 - ((bcg_bits_f32(a) - bcg_bits_f32(b)) >> 31);
}

/* All ones where x, which has no sign, is an infinity, and of no NaN. */
static inline uint32_t bcg_infinite_mask_f32(float x) { return 0 - (uint32_t)(bcg_bits_f32(x) == 0x7f800000u); }

/* All ones where a < b, neither of which has a sign: two infinities are equal, whatever sign their difference has. */
static inline uint64_t bcg_less_mask_f64(double a, double b)
{
    return 0 - ((bcg_bits_f64(a) - bcg_bits_f64(b)) >> 63);
}

/* All ones where x, which has no sign, is an infinity, and of no NaN. */
static inline uint64_t bcg_infinite_mask_f64(double x)
{
#if defined __SSE4_1__ || defined __aarch64__
    return 0 - (uint64_t)(bcg_bits_f64(x) == 0x7ff0000000000000u);
#else
    return 0 - (((bcg_bits_f64(x) ^ 0x7ff0000000000000u) - 1) >> 63);
#endif
}

/* Of the angle the arctan of small / large, the smaller one of |y| and |x| by the larger, with what rounding took from
 * the quotient and from its square. Where |y| > |x| the angle is what that leaves of pi / 2, where x < 0 what this
 * leaves of pi. */
static inline float bcg_arctan2_of_f32(float y, float x, uint32_t steeper, float small, float large)
{
    const float inverse = 1 / large, t = small * inverse, left = bcg_rest_f32(small, t, large) * inverse, z = t * t;
    const float fix = bcg_fma_f32(left, bcg_fma_f32(z, -0.5f, 1), -0.25f * bcg_prod_low_f32(t, t, z));
    const uint32_t sign = bcg_bits_f32(x) & 0x80000000u, flip = (steeper & 0x80000000u) ^ sign;
    const uint32_t half_turn = 0x40490fdbu & bcg_mask_f32(x), turn = (0x3fc90fdbu & steeper) | (half_turn & ~steeper);
    const float base = bcg_from_bits_f32(turn), part = bcg_from_bits_f32(bcg_bits_f32(t) ^ flip), sum = base + part;
    const float after = bcg_fma_f32(base, -0x1.de12cap-26f, bcg_from_bits_f32(bcg_bits_f32(fix) ^ flip));
    const float lows = bcg_sum_low_f32(base, part, sum) + after;
    return bcg_signed_f32(y, sum + bcg_close_fma_f32(part * z, bcg_arctan_tail_f32(z), lows));
}

/* Where |x| and |y| are from 2^-32 to 2^32. */
static inline float bcg_arctan2_usual_f32(float y, float x)
{
    const float ax = bcg_size_f32(x), ay = bcg_size_f32(y);
    return bcg_arctan2_of_f32(y, x, bcg_less_mask_f32(ax, ay), ax < ay ? ax : ay, ax < ay ? ay : ax);
}

/* The same where anything may come: both are scaled, and zeros and infinities replaced by what has the same angle. */
static inline float bcg_arctan2_f32(float y, float x)
{
    const float ax = bcg_size_f32(x), ay = bcg_size_f32(y);
    const uint32_t steeper = bcg_less_mask_f32(ax, ay);
    const float small = bcg_masked_f32(steeper, ax, ay), large = bcg_masked_f32(steeper, ay, ax);
    const uint32_t infinite = bcg_infinite_mask_f32(large), both = bcg_infinite_mask_f32(small);
    const float n = bcg_masked_f32(infinite, bcg_masked_f32(both, 1, small * 0), small);
    const float finite = bcg_masked_f32(infinite, 1, large), d = finite < 0x1p-149f ? 0x1p-149f : finite;
    const float scale = bcg_from_bits_f32(0x7f000000u - (bcg_bits_f32(d * 0.5f) & 0x7f800000u));
    return bcg_arctan2_of_f32(y, x, steeper, n * scale, d * scale);
}

/* Of |y| and |x| the smaller is divided by the larger, both scaled, or beyond tan(pi / 8) their difference by their
 * sum, and the quotient's arctan taken. Where |y| > |x| the angle is what that leaves of pi / 2, where x < 0 what this
 * leaves of pi. */
static inline double bcg_arctan2_f64(double y, double x)
{
    const double ax = bcg_size_f64(x), ay = bcg_size_f64(y);
    const uint64_t steeper = bcg_mask_f64(ax - ay);
    const double small = bcg_masked_f64(steeper, ax, ay), large = bcg_masked_f64(steeper, ay, ax);
    const uint64_t infinite = bcg_infinite_mask_f64(large), both = bcg_infinite_mask_f64(small);
    const double n = bcg_masked_f64(infinite, bcg_masked_f64(both, 1, small * 0), small);
    const double finite = bcg_masked_f64(infinite, 1, large), d = finite < 0x1p-1074 ? 0x1p-1074 : finite;
    const double scale = bcg_from_bits_f64(0x7fe0000000000000u - (bcg_bits_f64(d * 0.5) & 0x7ff0000000000000u));
    const double high = n * scale, wide = d * scale;
    const uint64_t middle = bcg_mask_f64(wide * 0x1.a827999fcef32p-2 - high);
    const double subtracted = bcg_masked_f64(middle, wide, 0), added = bcg_masked_f64(middle, high, 0);
    const double over = high - subtracted, under = wide + added, inverse = 1 / under, t = over * inverse, z = t * t;
    const double over_low = bcg_sum_low_f64(-subtracted, high, over), under_low = bcg_sum_low_f64(wide, added, under);
    const double left = (bcg_rest_f64(over, t, under) + bcg_fma_f64(-t, under_low, over_low)) * inverse;
    const uint64_t sign = bcg_bits_f64(x) & 0x8000000000000000u, steep = steeper & 0x8000000000000000u;
    const uint64_t flip = steep ^ sign;
    const double one = bcg_from_bits_f64(bcg_bits_f64(bcg_masked_f64(middle, 1, 0)) ^ steep);
    const double first = one + bcg_from_bits_f64((0 - (steep >> 63)) & 0x4000000000000000u);
    const double four = bcg_from_bits_f64((0 - (sign >> 63)) & 0x4010000000000000u);
    const double eighths = four + bcg_from_bits_f64(bcg_bits_f64(first) ^ sign), base = eighths * 0x1.921fb54442d18p-1;
    const double part = bcg_from_bits_f64(bcg_bits_f64(t) ^ flip), sum = base + part;
    const double after = bcg_fma_f64(eighths, 0x1.1a62633145c07p-55, bcg_from_bits_f64(bcg_bits_f64(left) ^ flip));
    const double lows = bcg_sum_low_f64(base, part, sum) + after;
    return bcg_signed_f64(y, sum + bcg_fma_f64(part * z, bcg_arctan_tail_f64(z), lows));
}

/* The same, by one quotient up to 1. */
static inline float bcg_arctan2_fast_f32(float y, float x)
{
    const float ax = bcg_size_f32(x), ay = bcg_size_f32(y);
    const uint32_t steeper = bcg_less_mask_f32(ax, ay);
    const float small = bcg_masked_f32(steeper, ax, ay), large = bcg_masked_f32(steeper, ay, ax);
    const uint32_t infinite = bcg_infinite_mask_f32(large), both = bcg_infinite_mask_f32(small);
    const float n = bcg_masked_f32(infinite, bcg_masked_f32(both, 1, small * 0), small);
    const float finite = bcg_masked_f32(infinite, 1, large), d = finite < 0x1p-149f ? 0x1p-149f : finite;
    const uint32_t sign = bcg_bits_f32(x) & 0x80000000u, flip = (steeper & 0x80000000u) ^ sign;
    const float two = bcg_from_bits_f32((0 - (sign >> 31)) & 0x40000000u);
    const float quarters = two + bcg_from_bits_f32((steeper & 0x3f800000u) ^ sign);
    const float angle = bcg_from_bits_f32(bcg_bits_f32(bcg_arctan_octant_f32(n / d)) ^ flip);
    return bcg_signed_f32(y, bcg_fma_f32(quarters, 0x1.921fb6p+0f, angle));
}

/* The same as above, without what rounding took. */
static inline double bcg_arctan2_fast_f64(double y, double x)
{
    const double ax = bcg_size_f64(x), ay = bcg_size_f64(y);
    const uint64_t steeper = bcg_less_mask_f64(ax, ay);
    const double small = bcg_masked_f64(steeper, ax, ay), large = bcg_masked_f64(steeper, ay, ax);
    const uint64_t infinite = bcg_infinite_mask_f64(large), both = bcg_infinite_mask_f64(small);
    const double n = bcg_masked_f64(infinite, bcg_masked_f64(both, 1, small * 0), small);
    const double finite = bcg_masked_f64(infinite, 1, large), d = finite < 0x1p-1074 ? 0x1p-1074 : finite;
    const double scale = bcg_from_bits_f64(0x7fe0000000000000u - (bcg_bits_f64(d * 0.5) & 0x7ff0000000000000u));
    const double high = n * scale, wide = d * scale;
    const uint64_t middle = bcg_mask_f64(wide * 0x1.a827999fcef32p-2 - high);
    const double subtracted = bcg_masked_f64(middle, wide, 0), added = bcg_masked_f64(middle, high, 0);
    const double t = (high - subtracted) / (wide + added), z = t * t;
    const uint64_t sign = bcg_bits_f64(x) & 0x8000000000000000u, steep = steeper & 0x8000000000000000u;
    const uint64_t flip = steep ^ sign;
    const double one = bcg_from_bits_f64(bcg_bits_f64(bcg_masked_f64(middle, 1, 0)) ^ steep);
    const double first = one + bcg_from_bits_f64((0 - (steep >> 63)) & 0x4000000000000000u);
    const double four = bcg_from_bits_f64((0 - (sign >> 63)) & 0x4010000000000000u);
    const double eighths = four + bcg_from_bits_f64(bcg_bits_f64(first) ^ sign);
    const double angle = bcg_from_bits_f64(bcg_bits_f64(bcg_fma_f64(t * z, bcg_arctan_tail_f64(z), t)) ^ flip);
    return bcg_signed_f64(y, bcg_fma_f64(eighths, 0x1.921fb54442d18p-1, angle));
}

/* arcsin(s) - s = s z q(z) with z = s^2. python csrc/vmath/fit.py arcsin_f32: error 2^-27.4 */
static inline float bcg_arcsin_tail_f32(float z)
{
    const float z2 = z * z, odd = bcg_fma_f32(z2, 0x1.8c28f2p-6f, 0x1.3301e6p-4f);
    const float even = bcg_fma_f32(z2, bcg_fma_f32(z2, 0x1.596c8cp-5f, 0x1.747e38p-5f), 0x1.5555c8p-3f);
    return bcg_fma_f32(z, odd, even);
}

/* The same. python csrc/vmath/fit.py arcsin_f64: error 2^-59.1 */
static inline double bcg_arcsin_tail_f64(double z)
{
    const double z2 = z * z, z4 = z2 * z2;
    const double a1 = bcg_fma_f64(z, 0x1.f1c71a945cd52p-6, 0x1.6db6db7214447p-5);
    const double a = bcg_fma_f64(z2, a1, bcg_fma_f64(z, 0x1.333333332e0ffp-4, 0x1.5555555555577p-3));
    const double b1 = bcg_fma_f64(z, 0x1.7584f78b2d717p-7, 0x1.ca1fa0e72d2d5p-7);
    const double b = bcg_fma_f64(z2, b1, bcg_fma_f64(z, 0x1.1c49ef7751fd6p-6, 0x1.6e8bdeee9bee9p-6));
    const double c1 = bcg_fma_f64(z, -0x1.580d8315bbf7dp-6, 0x1.63a86bfaf527fp-6);
    const double c = bcg_fma_f64(z2, c1, bcg_fma_f64(z, 0x1.e5cbab30de2fap-9, 0x1.613f83865afp-7));
    return bcg_fma_f64(z4, bcg_fma_f64(z4, bcg_fma_f64(z4, 0x1.0b4b804aa10b3p-5, c), b), a);
}

/* quarters * pi / 2 + factor * arcsin(s), where s^2 = z, or if rooted is 1, s = sqrt(z) rounded: half of 1 / s, by
 * which what rounding took from s is found, need only be close, and what halved bits give is. */
static inline float bcg_arcsin_sum_f32(float quarters, float factor, float s, float z, int rooted)
{
    const float near = bcg_from_bits_f32(0x5ec00000u - (bcg_bits_f32(z) >> 1));
    const float low = rooted ? bcg_rest_f32(z, s, s) * near : 0;
    const float tail = bcg_fma_f32(s * z, bcg_arcsin_tail_f32(z), low);
    const float base = quarters * 0x1.921fbp+0f, part = factor * s, sum = base + part;
    return sum + (bcg_sum_low_f32(base, part, sum) + bcg_fma_f32(factor, tail, quarters * 0x1.5110b4p-22f));
}

/* The same. */
static inline double bcg_arcsin_sum_f64(double quarters, double factor, double s, double z, int rooted)
{
    const double near = bcg_from_bits_f64(0x5fd8000000000000u - (bcg_bits_f64(z) >> 1));
    const double low = rooted ? bcg_rest_f64(z, s, s) * near : 0;
    const double tail = bcg_fma_f64(s * z, bcg_arcsin_tail_f64(z), low);
    const double base = quarters * 0x1.921fb54442d18p+0, part = factor * s, sum = base + part;
    return sum + (bcg_sum_low_f64(base, part, sum) + bcg_fma_f64(factor, tail, quarters * 0x1.1a62633145c07p-54));
}

/* Up to 1/2 the series, beyond pi / 2 - 2 arcsin(sqrt((1 - x) / 2)). */
static inline float bcg_arcsin_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    return bcg_signed_f32(x, bcg_arcsin_sum_f32(large ? 1 : 0, large ? -2 : 1, s, z, large));
}

/* The same. */
static inline double bcg_arcsin_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    return bcg_signed_f64(x, bcg_arcsin_sum_f64(large ? 1 : 0, large ? -2 : 1, s, z, large));
}

/* pi / 2 - arcsin(x), but beyond 1/2 2 arcsin(sqrt((1 - x) / 2)), and below -1/2 what that of -x leaves of pi. */
static inline float bcg_arccos_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    const float factor = bcg_signed_f32(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5f : 1;
    return bcg_arcsin_sum_f32(quarters, factor, s, z, large);
}

/* The same. */
static inline double bcg_arccos_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    const double factor = bcg_signed_f64(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5 : 1;
    return bcg_arcsin_sum_f64(quarters, factor, s, z, large);
}

/* As above, without what rounding took. */
static inline float bcg_arcsin_fast_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    const float angle = bcg_fma_f32(s * z, bcg_arcsin_tail_f32(z), s);
    return bcg_signed_f32(x, large ? bcg_fma_f32(angle, -2, 0x1.921fb6p+0f) : angle);
}

/* As above, without what rounding took. */
static inline float bcg_arccos_fast_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    const float factor = bcg_signed_f32(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5f : 1;
    return bcg_fma_f32(factor, bcg_fma_f32(s * z, bcg_arcsin_tail_f32(z), s), quarters * 0x1.921fb6p+0f);
}

/* As above, without what rounding took. */
static inline double bcg_arcsin_fast_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    const double angle = bcg_fma_f64(s * z, bcg_arcsin_tail_f64(z), s);
    return bcg_signed_f64(x, large ? bcg_fma_f64(angle, -2, 0x1.921fb54442d18p+0) : angle);
}

/* As above, without what rounding took. */
static inline double bcg_arccos_fast_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    const double factor = bcg_signed_f64(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5 : 1;
    return bcg_fma_f64(factor, bcg_fma_f64(s * z, bcg_arcsin_tail_f64(z), s), quarters * 0x1.921fb54442d18p+0);
}

#endif
