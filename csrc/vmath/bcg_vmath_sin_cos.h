/* bcg_vmath_sin_cos.h: sines and cosines, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise, but for far arguments, which are taken apart slowly. Forms with `common` in
 * the name are right up to the bounds BCG_..._NEAR, give NaN for NaN, and give the same bits there as the full ones.
 * Each definition is between blank lines and uses only what is above it, in the headers that are included or in the
 * standard ones: emit copies the ones a kernel needs.
 */
#ifndef BCG_VMATH_SIN_COS_H
#define BCG_VMATH_SIN_COS_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_angle.h"

/* sin, by the polynomial of the sine or that of the cosine. Minimax fit sin_f64: error 2^-56.3; cos_f64:
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

static inline double bcg_sin_common_f64(double x)
{
    return bcg_signed_f64(x, bcg_sin_angle_f64(bcg_near_angle_f64(fabs(x))));
}

static inline double bcg_sin_f64(double x) { return bcg_signed_f64(x, bcg_sin_angle_f64(bcg_any_angle_f64(fabs(x)))); }

static inline double bcg_cos_common_f64(double x)
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

/* The rest of x after k * pi. */
static inline double bcg_less_pi_f64(double x, double k)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const double first = fma(-k, 0x1.921fb54442d18p+1, x);
#else
    const double first = (x - k * 0x1.921fb544p+1) - k * 0x1.0b46p-33;
#endif
    return bcg_fma_f64(-k, 0x1.1701b839a252p-87, bcg_fma_f64(-k, 0x1.1a626331p-53, first));
}

/* The rest of x after k * pi, close enough for f32: pi in two numbers. */
static inline double bcg_less_pi_wide(double x, double k)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const double first = fma(-k, 0x1.921fb54442d18p+1, x);
#else
    const double first = (x - k * 0x1.921fb544p+1) - k * 0x1.0b46p-33;
#endif
    return bcg_fma_f64(-k, 0x1.1a62633145c07p-53, first);
}

/* sin of half a turn's angles. Minimax fit sin_half_turn_wide: error 2^-27.3 */
static inline double bcg_sin_wide_f32(double r)
{
    const double s = r * r;
    double tail = bcg_fma_f64(s, 0x1.5dbe00e504325p-19, -0x1.9f6fffeb7e443p-13);
    tail = bcg_fma_f64(s, tail, 0x1.110ed3848a49cp-7);
    tail = bcg_fma_f64(s, tail, -0x1.55554bc843aa6p-3);
    return bcg_fma_f64(r * s, tail, r);
}

/* In f64, from the remainder of a division by pi. */
static inline float bcg_sin_common_f32(float x)
{
    const double wide = (double)fabsf(x), whole = bcg_fma_f64(wide, 0x1.45f306dc9c883p-2, 0x1.8p52);
    const double sine = bcg_sin_wide_f32(bcg_less_pi_wide(wide, whole - 0x1.8p52));
    return bcg_signed_f32(x, (float)bcg_from_bits_f64(bcg_bits_f64(sine) ^ bcg_bits_f64(whole) << 63));
}

static inline float bcg_sin_f32(float x)
{
    return fabsf(x) <= BCG_SIN_COMMON_F32 ? bcg_sin_common_f32(x) : (float)bcg_sin_f64((double)x);
}

/* In f64, from the remainder after an odd number of times pi / 2. */
static inline float bcg_cos_common_f32(float x)
{
    const double wide = (double)fabsf(x), whole = bcg_fma_f64(wide, 0x1.45f306dc9c883p-2, -0.5) + 0x1.8p52;
    const double sine = bcg_sin_wide_f32(bcg_less_pi_wide(wide, (whole - 0x1.8p52) + 0.5));
    return (float)bcg_from_bits_f64(bcg_bits_f64(sine) ^ (bcg_bits_f64(whole) + 1) << 63);
}

static inline float bcg_cos_f32(float x)
{
    return fabsf(x) <= BCG_COS_COMMON_F32 ? bcg_cos_common_f32(x) : (float)bcg_cos_f64((double)x);
}

/* Minimax fit sin_half_turn_f64: error 2^-52.3 */
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

static inline double bcg_sin_fast_common_f64(double x)
{
    const double whole = bcg_fma_f64(fabs(x), 0x1.45f306dc9c883p-2, 0x1.8p52);
    const double sine = bcg_sin_half_turn_f64(bcg_less_pi_f64(fabs(x), whole - 0x1.8p52));
    return bcg_signed_f64(x, bcg_from_bits_f64(bcg_bits_f64(sine) ^ bcg_bits_f64(whole) << 63));
}

static inline double bcg_sin_fast_f64(double x)
{
    return fabs(x) <= BCG_SIN_COMMON_F64 ? bcg_sin_fast_common_f64(x) : bcg_sin_f64(x);
}

static inline double bcg_cos_fast_common_f64(double x)
{
    const double whole = bcg_fma_f64(fabs(x), 0x1.45f306dc9c883p-2, -0.5) + 0x1.8p52;
    const double sine = bcg_sin_half_turn_f64(bcg_less_pi_f64(fabs(x), (whole - 0x1.8p52) + 0.5));
    return bcg_from_bits_f64(bcg_bits_f64(sine) ^ (bcg_bits_f64(whole) + 1) << 63);
}

static inline double bcg_cos_fast_f64(double x)
{
    return fabs(x) <= BCG_COS_COMMON_F64 ? bcg_cos_fast_common_f64(x) : bcg_cos_f64(x);
}

/* x - k * pi, with pi in parts of 8, 8, 8, 8 and 24 bits. */
static inline float bcg_less_pi_f32(float x, float k)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const float first = fmaf(-k, 0x1.921fcp+1f, x);
#else
    const float first = (x - k * 0x1.92p+1f) - k * 0x1.fcp-11f;
#endif
    return bcg_fma_f32(-k, 0x1.68c234p-38f, bcg_fma_f32(-k, 0x1.1p-29f, bcg_fma_f32(k, 0x1.58p-20f, first)));
}

/* Minimax fit sin_half_turn_f32: error 2^-26.6 */
static inline float bcg_sin_half_turn_f32(float r)
{
    const float s = r * r;
    float tail = bcg_fma_f32(s, 0x1.5dbep-19f, -0x1.9f7p-13f);
    tail = bcg_fma_f32(s, tail, 0x1.110ed4p-7f);
    tail = bcg_fma_f32(s, tail, -0x1.55554cp-3f);
    return bcg_fma_f32(r * s, tail, r);
}

static inline float bcg_sin_fast_common_f32(float x)
{
    const float whole = bcg_fma_f32(fabsf(x), 0x1.45f306p-2f, 0x1.8p23f);
    const float sine = bcg_sin_half_turn_f32(bcg_less_pi_f32(fabsf(x), whole - 0x1.8p23f));
    return bcg_signed_f32(x, bcg_from_bits_f32(bcg_bits_f32(sine) ^ bcg_bits_f32(whole) << 31));
}

static inline float bcg_sin_fast_f32(float x)
{
    return fabsf(x) <= BCG_SIN_COMMON_F32 ? bcg_sin_fast_common_f32(x) : (float)bcg_sin_f64((double)x);
}

static inline float bcg_cos_fast_common_f32(float x)
{
    const float whole = bcg_fma_f32(fabsf(x), 0x1.45f306p-2f, -0.5f) + 0x1.8p23f;
    const float sine = bcg_sin_half_turn_f32(bcg_less_pi_f32(fabsf(x), (whole - 0x1.8p23f) + 0.5f));
    return bcg_from_bits_f32(bcg_bits_f32(sine) ^ (bcg_bits_f32(whole) + 1) << 31);
}

static inline float bcg_cos_fast_f32(float x)
{
    return fabsf(x) <= BCG_COS_COMMON_F32 ? bcg_cos_fast_common_f32(x) : (float)bcg_cos_f64((double)x);
}

#endif
