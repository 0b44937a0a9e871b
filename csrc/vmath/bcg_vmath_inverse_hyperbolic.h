/* bcg_vmath_inverse_hyperbolic.h: inverse hyperbolic functions, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Forms with `common` in the name are right where the op's row says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_INVERSE_HYPERBOLIC_H
#define BCG_VMATH_INVERSE_HYPERBOLIC_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_log.h"
#include "bcg_vmath_log1p.h"

/* The error of w, the rounded root of s: their sum is the root of s + left. Half of 1 / w may be rough unless w is
 * about 1. */
static inline float bcg_root_low_f32(float s, float left, float w)
{
    const int32_t near = (int32_t)bcg_bits_f32(bcg_fma_f32(w, -0.5f, 1));
    const int32_t rough = (int32_t)(0x7e6f0000u - bcg_bits_f32(w));
    return (bcg_rest_f32(s, w, w) + left) * bcg_from_bits_f32((uint32_t)(near < rough ? rough : near));
}

/* log(|x| + w) with w = sqrt(x^2 + 1), for |x| below 2^63. */
static inline float bcg_arcsinh_common_f32(float x)
{
    const float a = fabsf(x), s = bcg_fma_f32(a, a, 1), w = sqrtf(s), u = a + w;
    const float lost = bcg_sum_low_f32(w, a, u) + bcg_root_low_f32(s, bcg_fma_low_f32(a, a, 1, s), w);
    return copysignf(bcg_log_with_f32(u, lost, 0), x);
}

/* log(|x| + sqrt(x^2 + 1)) of any x; from 2^63 on it is log(2^-63 |x|) + 64 log(2). */
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
    const double number = a < (double)INFINITY ? copysign(sum, x) : x;
    return a < 0x1p-28 ? x : number;
}

/* log(x + w) with w = sqrt(x^2 - 1) = sqrt(t^2 + 2 t), t = x - 1, for x from 1 on and below 2^63. */
static inline float bcg_arccosh_common_f32(float x)
{
    const float t = x - 1, s = bcg_fma_f32(t, t, t + t), w = sqrtf(s), u = x + w;
    const float left = bcg_rest_f32(s, w, w) + bcg_fma_low_f32(t, t, t + t, s);
    const float w_low = left * bcg_from_bits_f32(0x7e6f0000u - bcg_bits_f32(w));
    return bcg_log_with_f32(u, bcg_sum_low_f32(x, w, u) + w_low, 0);
}

/* log(x + sqrt(x^2 - 1)) of any x; from 2^63 on it is log(2^-63 x) + 64 log(2). */
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
    const double number = x < (double)INFINITY ? sum : x;
    return x >= 1 ? number : (double)NAN;
}

/* arctanh(s) = s + s z q(z), z = s^2, for s up to 1/2. Minimax fit arctanh_f32: error 2^-29.4 */
static inline float bcg_arctanh_tail_f32(float z)
{
    float tail = bcg_fma_f32(z, 0x1.693a34p-3f, 0x1.a6bb9ep-5f);
    tail = bcg_fma_f32(z, tail, 0x1.e4000ap-4f);
    tail = bcg_fma_f32(z, tail, 0x1.234d98p-3f);
    tail = bcg_fma_f32(z, tail, 0x1.99a676p-3f);
    return bcg_fma_f32(z, tail, 0x1.55554p-2f);
}

/* arctanh(s) = s + s z q(z), z = s^2, for s up to 1/2. Minimax fit arctanh_f64: error 2^-58.0 */
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
 * s = (u - p v) / (u + p v). From 1/2 on v and u - p v are exact, and s is small; below 1/2 the series is enough. Where
 * the result is not finite, the bits of v tell whether it is an infinity or a NaN. */
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
 * s = (u - p v) / (u + p v). From 1/2 on v and u - p v are exact, and s is small; below 1/2 the series is enough. Where
 * the result is not finite, the bits of v tell whether it is an infinity or a NaN. */
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

#endif
