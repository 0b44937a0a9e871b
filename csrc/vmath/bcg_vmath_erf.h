/* bcg_vmath_erf.h: the error function and its complement, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; error at most the bound of the op's row, special values those of C99's
 * Annex F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is
 * above it, in bcg_vmath_core.h or in the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_VMATH_ERF_H
#define BCG_VMATH_ERF_H

#include "bcg_vmath_core.h"

/* (erf(x) - x) / x for |x| < 15/16, of u = x^2 - 3/8. Minimax fit erf_f32: error 2^-26.7 */
static inline float bcg_erf_tail_f32(float u)
{
    const float v = u * u;
    const float odd = bcg_fma_f32(v, bcg_fma_f32(v, -0x1.48125ep-11f, -0x1.498f08p-6f), -0x1.350d96p-2f);
    float even = bcg_fma_f32(v, 0x1.59ddfcp-14f, 0x1.f8c6a8p-9f);
    even = bcg_fma_f32(v, even, 0x1.62bac8p-4f);
    return bcg_fma_f32(u, odd, bcg_fma_f32(v, even, 0x1.ecdcbcp-10f));
}

/* (erf(x) - x) / x for |x| < 15/16, of u = x^2 - 3/8. Minimax fit erf_f64: error 2^-57.2 */
static inline double bcg_erf_tail_f64(double u)
{
    const double u2 = u * u, u4 = u2 * u2;
    const double b1 = bcg_fma_f64(u, -0x1.68043dae1e875p-17, 0x1.6db169ee43fcbp-14);
    const double b = bcg_fma_f64(u2, b1, bcg_fma_f64(u, -0x1.46ba7f8b986bep-11, 0x1.f8a20cbf0edaep-9));
    const double c1 = bcg_fma_f64(u, -0x1.c2a412e1287a4p-31, 0x1.6a100c0ca599ep-27);
    const double c = bcg_fma_f64(u2, c1, bcg_fma_f64(u, -0x1.f50654c2c492cp-24, 0x1.3c252a1c18b37p-20));
    const double a = bcg_fma_f64(u, -0x1.498fcbc3d0ee7p-6, 0x1.62bad8f5b1393p-4);
    const double end = bcg_fma_f64(u2, bcg_fma_f64(u4, c, b), a);
    return bcg_fma_f64(u, bcg_fma_f64(u, end, -0x1.350d94d118e27p-2), 0x1.ecdcb3fadb1c8p-10);
}

/* log2(erfc(1 + t) / erfc(1)) / t for t up to 5. Minimax fit erf_log_f64: error 2^-57.7 */
static inline double bcg_erf_log_f64(double t)
{
    const double t2 = t * t;
    double even = bcg_fma_f64(t2, -0x1.afaf667355699p-35, -0x1.3f163acbe347bp-28);
    double odd = bcg_fma_f64(t2, 0x1.ff3de68f4ec08p-40, 0x1.501f5bfed6f2p-31);
    even = bcg_fma_f64(t2, even, -0x1.5e8a1475700a8p-24);
    odd = bcg_fma_f64(t2, odd, 0x1.96fec5637591p-26);
    even = bcg_fma_f64(t2, even, 0x1.890f62cd525bbp-23);
    odd = bcg_fma_f64(t2, odd, 0x1.4cea3cada496cp-23);
    even = bcg_fma_f64(t2, even, 0x1.d052e27975d12p-17);
    odd = bcg_fma_f64(t2, odd, -0x1.8b1e790b9bb51p-19);
    even = bcg_fma_f64(t2, even, 0x1.3df47f28669c5p-15);
    odd = bcg_fma_f64(t2, odd, -0x1.488c6163e0cbep-15);
    even = bcg_fma_f64(t2, even, -0x1.7603ef4b1d7d3p-9);
    odd = bcg_fma_f64(t2, odd, 0x1.6704b2362b875p-12);
    even = bcg_fma_f64(t2, even, -0x1.eb31368a1c7e9p-5);
    odd = bcg_fma_f64(t2, odd, 0x1.da5764d5ea899p-7);
    even = bcg_fma_f64(t2, even, -0x1.e75328fe78c5cp+1);
    odd = bcg_fma_f64(t2, odd, -0x1.37627e9b5c17fp+0);
    return bcg_fma_f64(t, odd, even);
}

/* (2^r - 1) / r for |r| <= 1/2. Minimax fit erf_power_f64: error 2^-54.4 */
static inline double bcg_erf_power_tail_f64(double r)
{
    const double r2 = r * r;
    double even = bcg_fma_f64(r2, 0x1.c062f7fab7838p-32, 0x1.b54167f284f6ep-24);
    double odd = bcg_fma_f64(r2, 0x1.e605f94df649ep-28, 0x1.62bfd49ee3502p-20);
    even = bcg_fma_f64(r2, even, 0x1.ffcbee3ae9034p-17);
    odd = bcg_fma_f64(r2, odd, 0x1.43091309610fdp-13);
    even = bcg_fma_f64(r2, even, 0x1.5d87fe7bbbe67p-10);
    odd = bcg_fma_f64(r2, odd, 0x1.3b2ab6fba1e1cp-7);
    even = bcg_fma_f64(r2, even, 0x1.c6b08d7048f31p-5);
    odd = bcg_fma_f64(r2, odd, 0x1.ebfbdff82c598p-3);
    even = bcg_fma_f64(r2, even, 0x1.62e42fefa39f3p-1);
    return bcg_fma_f64(r, odd, even);
}

/* (e^r - 1 - r) / r^2 for |r| <= log(2) / 2. Minimax fit erf_exp_f32: error 2^-28.0 */
static inline float bcg_erf_exp_tail_f32(float r)
{
    const float r2 = r * r, odd = bcg_fma_f32(r2, 0x1.1239dcp-7f, 0x1.555492p-3f);
    const float even = bcg_fma_f32(r2, bcg_fma_f32(r2, 0x1.6a2428p-10f, 0x1.5558f2p-5f), 0x1.fffffcp-2f);
    return bcg_fma_f32(r, odd, even);
}

/* (e^r - 1 - r) / r^2 for |r| <= log(2) / 2. Minimax fit erf_exp_f64: error 2^-56.4 */
static inline double bcg_erf_exp_tail_f64(double r)
{
    const double r2 = r * r, r4 = r2 * r2;
    const double a1 = bcg_fma_f64(r, 0x1.1111111127bddp-7, 0x1.5555555550881p-5);
    const double a = bcg_fma_f64(r2, a1, bcg_fma_f64(r, 0x1.55555555554fap-3, 0x1.000000000000ap-1));
    const double b1 = bcg_fma_f64(r, 0x1.71df2551538cfp-19, 0x1.a0199a0f8f8cbp-16);
    const double b = bcg_fma_f64(r2, b1, bcg_fma_f64(r, 0x1.a01a012a59669p-13, 0x1.6c16c18428f18p-10));
    const double c = bcg_fma_f64(r, 0x1.ad7f6b338caf9p-26, 0x1.28ad6fc8272e5p-22);
    return bcg_fma_f64(r4, bcg_fma_f64(r4, c, b), a);
}

/* 1 - (27/64 + p slope)^2. */
static inline float bcg_erf_less_f32(float p, float slope)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
    const float root = fmaf(p, slope, 0x1.bp-2f);
    return fmaf(-root, root, 1);
#else
    const float part = p * slope, root = 0x1.bp-2f + part, low = bcg_sum_low_f32(0x1.bp-2f, part, root);
    return 1 - (root * root + (root + root) * low);
#endif
}

/* For |x| < 1: x + x p with a polynomial p of x^2 - 1/2; beyond: 1 - (3/4 + p)^6 with one of |x| - 17/16. One chain,
 * whose coefficients are selected. The cube as (27/16 + p (9/4 + p)) p + 27/64 keeps the digits of p. NaN takes the near form,
 * and stays NaN. Minimax fit erf_near_f32: error 2^-27.6; erf_far_f32: 2^-26.1 */
static inline float bcg_erf_f32(float x)
{
    const float size = fabsf(x);
    const uint32_t bits = bcg_bits_f32(size), most = bcg_bits_f32(4.0f), kept = bits < most ? bits : most;
    const int far = size >= 1;
    const float u = far ? bcg_from_bits_f32(kept) - 1.0625f : bcg_fma_f32(x, x, -0.5f);
    float p = far ? 0x1.8f3acep-12f : 0x1.496a5ep-14f;
    p = bcg_fma_f32(u, p, far ? -0x1.5ce6ecp-9f : -0x1.286f2ap-11f);
    p = bcg_fma_f32(u, p, far ? 0x1.58cae8p-10f : 0x1.c82b74p-9f);
    p = bcg_fma_f32(u, p, far ? 0x1.ef54bcp-6f : -0x1.2b8df6p-6f);
    p = bcg_fma_f32(u, p, far ? -0x1.b2a2f4p-6f : 0x1.454366p-4f);
    p = bcg_fma_f32(u, p, far ? -0x1.4ea9cap-2f : -0x1.1fd164p-2f);
    p = bcg_fma_f32(u, p, far ? -0x1.239b5ap-5f : -0x1.1ae14ep-5f);
    const float beyond = bcg_erf_less_f32(p, bcg_fma_f32(p, p + 2.25f, 1.6875f));
    return copysignf(far ? beyond : bcg_fma_f32(p, size, size), x);
}

/* Up to 15/16 the series; beyond that 1 - erfc(|x|), whose second term is small. */
static inline double bcg_erf_f64(double x)
{
    const double size = fabs(x), y = 6.0 < size ? 6.0 : size, t = y - 1;
    const double near = bcg_fma_f64(bcg_erf_tail_f64(bcg_fma_f64(y, y, -0.375)), y, y);
    const double log = t * bcg_erf_log_f64(t), whole = log + BCG_SHIFT_F64, r = log - (whole - BCG_SHIFT_F64);
    const double power = bcg_fma_f64(r, bcg_erf_power_tail_f64(r), 1);
    const double scale = bcg_from_bits_f64(bcg_bits_f64(-0x1.4226162fbddd5p-3) + (bcg_bits_f64(whole) << 52));
    return copysign(y < 0.9375 ? near : bcg_fma_f64(power, scale, 1), x);
}

/* (erf(x) - x) / x for |x| < 15/16, of u = x^2 - 3/8. Minimax fit erf_fast_f32: error 2^-25.5 */
static inline float bcg_erf_fast_tail_f32(float u)
{
    const float u2 = u * u;
    float even = bcg_fma_f32(u2, 0x1.fb1f88p-9f, 0x1.62b9bp-4f);
    float odd = bcg_fma_f32(u2, -0x1.3591bp-11f, -0x1.49a9dep-6f);
    even = bcg_fma_f32(u2, even, 0x1.ecdd6cp-10f);
    odd = bcg_fma_f32(u2, odd, -0x1.350d86p-2f);
    return bcg_fma_f32(u, odd, even);
}

/* (erf(x) - x) / x for |x| < 15/16, of u = x^2 - 3/8. Minimax fit erf_fast_f64: error 2^-53.0 */
static inline double bcg_erf_fast_tail_f64(double u)
{
    const double u2 = u * u;
    double even = bcg_fma_f64(u2, 0x1.5470111f4af51p-27, 0x1.3c351eb279525p-20);
    double odd = bcg_fma_f64(u2, -0x1.f5f9efa0610a7p-24, -0x1.68041d19d617ep-17);
    even = bcg_fma_f64(u2, even, 0x1.6db16191a26afp-14);
    odd = bcg_fma_f64(u2, odd, -0x1.46ba7f8903effp-11);
    even = bcg_fma_f64(u2, even, 0x1.f8a20cc2b226dp-9);
    odd = bcg_fma_f64(u2, odd, -0x1.498fcbc3d3e8fp-6);
    even = bcg_fma_f64(u2, even, 0x1.62bad8f5b0a8fp-4);
    odd = bcg_fma_f64(u2, odd, -0x1.350d94d118e1dp-2);
    even = bcg_fma_f64(u2, even, 0x1.ecdcb3fadb398p-10);
    return bcg_fma_f64(u, odd, even);
}

/* log2(erfc(1 + t) / erfc(1)) / t for t up to 5. Minimax fit erf_log_fast_f64: error 2^-53.2 */
static inline double bcg_erf_log_fast_f64(double t)
{
    const double t2 = t * t;
    double even = bcg_fma_f64(t2, -0x1.882059346b0adp-31, -0x1.e70a84b5dc9e1p-26);
    double odd = bcg_fma_f64(t2, 0x1.32be81b81cc59p-35, 0x1.ae50e26654baep-28);
    even = bcg_fma_f64(t2, even, 0x1.8746f93da43e9p-22);
    odd = bcg_fma_f64(t2, odd, 0x1.519f7d6d02da5p-25);
    even = bcg_fma_f64(t2, even, 0x1.d5f2b00ef078cp-17);
    odd = bcg_fma_f64(t2, odd, -0x1.a6bb1b858435bp-19);
    even = bcg_fma_f64(t2, even, 0x1.3e45124627864p-15);
    odd = bcg_fma_f64(t2, odd, -0x1.495afeafba2ccp-15);
    even = bcg_fma_f64(t2, even, -0x1.7603e46faa0bap-9);
    odd = bcg_fma_f64(t2, odd, 0x1.6702336c67dd2p-12);
    even = bcg_fma_f64(t2, even, -0x1.eb31368adbd74p-5);
    odd = bcg_fma_f64(t2, odd, 0x1.da5764b8e321cp-7);
    even = bcg_fma_f64(t2, even, -0x1.e75328fe78c4cp+1);
    odd = bcg_fma_f64(t2, odd, -0x1.37627e9b5baf4p+0);
    return bcg_fma_f64(t, odd, even);
}

/* (2^r - 1) / r for |r| <= 1/2. Minimax fit erf_power_fast_f64: error 2^-51.6 */
static inline double bcg_erf_power_fast_tail_f64(double r)
{
    const double r2 = r * r;
    double even = bcg_fma_f64(r2, 0x1.b689b2b887759p-24, 0x1.ffcb3f1d94593p-17);
    double odd = bcg_fma_f64(r2, 0x1.e8b7449b05dc3p-28, 0x1.62be68742cd56p-20);
    even = bcg_fma_f64(r2, even, 0x1.5d87fea4a6488p-10);
    odd = bcg_fma_f64(r2, odd, 0x1.43091387c1c82p-13);
    even = bcg_fma_f64(r2, even, 0x1.c6b08d7039564p-5);
    odd = bcg_fma_f64(r2, odd, 0x1.3b2ab6fb82098p-7);
    even = bcg_fma_f64(r2, even, 0x1.62e42fefa3a28p-1);
    odd = bcg_fma_f64(r2, odd, 0x1.ebfbdff82c61fp-3);
    return bcg_fma_f64(r, odd, even);
}

/* erf(x): up to 11/8 a polynomial of x^2 - 3/4, and beyond it 1 - p^4 with one of |x| - 11/8.
 * Minimax fit erf_near_fast_f32: error 2^-23.5; erf_far_fast_f32: 2^-23.2 */
static inline float bcg_erf_fast_f32(float x)
{
    const float size = fabsf(x);
    const uint32_t bits = bcg_bits_f32(size), most = bcg_bits_f32(4.0625f), kept = bits < most ? bits : most;
    const int far = size >= 1.375f;
    const float u = far ? bcg_from_bits_f32(kept) - 1.375f : bcg_fma_f32(x, x, -0.75f);
    float p = far ? 0x1.889aecp-12f : 0x1.c63822p-15f;
    p = bcg_fma_f32(u, p, far ? -0x1.5f7c62p-14f : -0x1.e369p-12f);
    p = bcg_fma_f32(u, p, far ? -0x1.c6f802p-7f : 0x1.765562p-9f);
    p = bcg_fma_f32(u, p, far ? 0x1.499c48p-5f : -0x1.efca52p-7f);
    p = bcg_fma_f32(u, p, far ? 0x1.c71294p-5f : 0x1.121762p-4f);
    p = bcg_fma_f32(u, p, far ? -0x1.91773ap-2f : -0x1.f4eac6p-3f);
    p = bcg_fma_f32(u, p, far ? 0x1.e89722p-2f : -0x1.9a0b9cp-4f);
    const float square = p * p;
    return copysignf(far ? bcg_fma_f32(-square, square, 1) : bcg_fma_f32(p, size, size), x);
}

static inline double bcg_erf_fast_f64(double x)
{
    const double size = fabs(x), y = 6.0 < size ? 6.0 : size, t = y - 1;
    const double near = bcg_fma_f64(bcg_erf_fast_tail_f64(bcg_fma_f64(y, y, -0.375)), y, y);
    const double log = t * bcg_erf_log_fast_f64(t), whole = log + BCG_SHIFT_F64;
    const double r = log - (whole - BCG_SHIFT_F64), power = bcg_fma_f64(r, bcg_erf_power_fast_tail_f64(r), 1);
    const double scale = bcg_from_bits_f64(bcg_bits_f64(-0x1.4226162fbddd5p-3) + (bcg_bits_f64(whole) << 52));
    return copysign(y < 0.9375 ? near : bcg_fma_f64(power, scale, 1), x);
}

/* log(erfc(x) / u) + x^2 less its first term, over v, with u = 1 / (1 + x / 2) and v = u - 1/2, for x from 1/2 to 10.
 * Minimax fit erfc_f32: error 2^-26.2 */
static inline float bcg_erfc_log_f32(float v)
{
    const float v2 = v * v;
    float odd = bcg_fma_f32(v2, 0x1.031108p-2f, -0x1.29c93ap-2f);
    float even = bcg_fma_f32(v2, -0x1.a8335p-5f, 0x1.d12c36p-4f);
    odd = bcg_fma_f32(v2, odd, 0x1.20ba6p-2f);
    even = bcg_fma_f32(v2, even, -0x1.43923cp-3f);
    odd = bcg_fma_f32(v2, odd, -0x1.80290ap-2f);
    even = bcg_fma_f32(v2, even, 0x1.83d64ap-3f);
    return bcg_fma_f32(v, bcg_fma_f32(v, odd, even), 0x1.5864bp+0f);
}

/* log(erfc(x) / u) + x^2 less its first term, over v, with u = 1 / (1 + x / 2) and v = u - 7/16, for x from 1/2 to 28.
 * Minimax fit erfc_f64: error 2^-55.5 */
static inline double bcg_erfc_log_f64(double v)
{
    const double v2 = v * v;
    double odd = bcg_fma_f64(v2, 0x1.8e7aca94cd617p-1, -0x1.bc5d9febd13a2p-1);
    double even = bcg_fma_f64(v2, -0x1.0e67fad605c5bp-1, 0x1.0b789851ea744p+0);
    odd = bcg_fma_f64(v2, odd, 0x1.a6e238e8093c6p-3);
    even = bcg_fma_f64(v2, even, -0x1.053c1fadffaa6p+0);
    odd = bcg_fma_f64(v2, odd, 0x1.aa566780997e8p-2);
    even = bcg_fma_f64(v2, even, 0x1.3cb6e4810b305p-1);
    odd = bcg_fma_f64(v2, odd, -0x1.5018baeb717dcp-1);
    even = bcg_fma_f64(v2, even, -0x1.8ec9fb166ceecp-3);
    odd = bcg_fma_f64(v2, odd, 0x1.372a2c17696e7p-1);
    even = bcg_fma_f64(v2, even, -0x1.3e93c93922155p-4);
    odd = bcg_fma_f64(v2, odd, -0x1.d289e6e47d57dp-2);
    even = bcg_fma_f64(v2, even, 0x1.985e81b1e9a22p-3);
    odd = bcg_fma_f64(v2, odd, 0x1.43dc276a5cf22p-2);
    even = bcg_fma_f64(v2, even, -0x1.db7070285f27cp-3);
    odd = bcg_fma_f64(v2, odd, -0x1.db92830f685fdp-3);
    even = bcg_fma_f64(v2, even, 0x1.dc6e70d622d92p-3);
    odd = bcg_fma_f64(v2, odd, 0x1.bbe2392fd5217p-3);
    even = bcg_fma_f64(v2, even, -0x1.e5a5e871d284fp-3);
    odd = bcg_fma_f64(v2, odd, -0x1.4d2858a7624ecp-2);
    even = bcg_fma_f64(v2, even, 0x1.057c33b5b0926p-2);
    return bcg_fma_f64(v, bcg_fma_f64(v, odd, even), 0x1.5140b11e1e9p+0);
}

/* x where near < 0, else y. This is no condition: gcc would trace that back to another one and evaluate both sides. */
static inline float bcg_erf_side_f32(float near, float x, float y)
{
    const uint32_t mask = 0 - (bcg_bits_f32(near) >> 31);
    return bcg_from_bits_f32((bcg_bits_f32(x) & mask) | (bcg_bits_f32(y) & ~mask));
}

/* x where near < 0, else y. This is no condition: gcc would trace that back to another one and evaluate both sides. */
static inline double bcg_erf_side_f64(double near, double x, double y)
{
    const uint64_t mask = 0 - (bcg_bits_f64(near) >> 63);
    return bcg_from_bits_f64((bcg_bits_f64(x) & mask) | (bcg_bits_f64(y) & ~mask));
}

/* value, or 2 - value for x < 0. */
static inline float bcg_erf_left_f32(float x, float value)
{
    const uint32_t sign = bcg_bits_f32(x) & 0x80000000u, two = 0x40000000u & (0 - (sign >> 31));
    return bcg_from_bits_f32(two) + bcg_from_bits_f32(bcg_bits_f32(value) ^ sign);
}

/* value, or 2 - value for x < 0. */
static inline double bcg_erf_left_f64(double x, double value)
{
    const uint64_t sign = bcg_bits_f64(x) & 0x8000000000000000u, two = 0x4000000000000000u & (0 - (sign >> 63));
    return bcg_from_bits_f64(two) + bcg_from_bits_f64(bcg_bits_f64(value) ^ sign);
}

/* Up to 1/2 it is 1 - erf(x); beyond that u e^(q(v) - x^2), or for negative x 2 minus this. The rounding errors of u
 * and of the exponent are gathered and added at the end. */
static inline float bcg_erfc_f32(float x)
{
    const float size = fabsf(x), y = 10.5f < size ? 10.5f : size, square = y * y;
    const float start = 1 - x, part = x * bcg_erf_tail_f32(square - 0.375f);
    const float near = start + (bcg_sum_low_f32(1, -x, start) - part);
    const float under = 1 + y * 0.5f, u = 1 / under, v = u - 0.5f;
    const float under_low = bcg_any_sum_low_f32(1, y * 0.5f, under);
    const float u_low = u * bcg_fma_f32(-u, under_low, bcg_rest_f32(1, u, under));
    const float slope = bcg_erfc_log_f32(v), rise = v * slope, power = -0x1.57f564p-1f + rise;
    const float rise_low = bcg_prod_low_f32(v, slope, rise) + -0x1.dd214ep-26f;
    const float power_low = bcg_sum_low_f32(-0x1.57f564p-1f, rise, power) + rise_low;
    const float v_low = u_low + bcg_sum_low_f32(-0.5f, u, v);
    const float turned = bcg_fma_f32(v_low, bcg_fma_f32(v, 0.379f, 1.345f), power_low) - bcg_prod_low_f32(y, y, square);
    const float whole = bcg_fma_f32(power - square, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 254);
    const float k = whole - (BCG_SHIFT_F32 + 254), taken = -k * 0x1.62e4p-1f;
    const float first = taken - square, r1 = first + power;
    const float first_low = bcg_any_sum_low_f32(taken, -square, first);
    const float lows = bcg_any_sum_low_f32(first, power, r1) + first_low;
    const float low = lows + bcg_fma_f32(-k, 0x1.7f7d1cp-20f, turned);
    const float r = r1 + low, e = 1 + r, e_low = bcg_sum_low_f32(1, r, e) + bcg_sum_low_f32(r1, low, r);
    const float rest = bcg_fma_f32(r * r, bcg_erf_exp_tail_f32(r), e_low);
    const float scaled = bcg_fma_f32(e, u, bcg_fma_f32(rest, u, e * u_low));
    const uint32_t both = bcg_bits_f32(whole), one = both >> 1;
    const float far = scaled * bcg_from_bits_f32(one << 23) * bcg_from_bits_f32((both - one) << 23);
    return bcg_erf_side_f32(y - 0.5f, near, bcg_erf_left_f32(x, far));
}

/* Up to 1/2 it is 1 - erf(x); beyond that u e^(q(v) - x^2), or for negative x 2 minus this. The rounding errors of u
 * and of the exponent are gathered and added at the end. */
static inline double bcg_erfc_f64(double x)
{
    const double size = fabs(x), y = 28.0 < size ? 28.0 : size, square = y * y;
    const double start = 1 - x, part = x * bcg_erf_tail_f64(square - 0.375);
    const double near = start + (bcg_sum_low_f64(1, -x, start) - part);
    const double under = 1 + y * 0.5, u = 1 / under, v = u - 0.4375;
    const double under_low = bcg_any_sum_low_f64(1, y * 0.5, under);
    const double u_low = u * bcg_fma_f64(-u, under_low, bcg_rest_f64(1, u, under));
    const double slope = bcg_erfc_log_f64(v), rise = v * slope, power = -0x1.82955dd9800fcp-1 + rise;
    const double rise_low = bcg_prod_low_f64(v, slope, rise) + 0x1.5395dc8711cddp-56;
    const double power_low = bcg_sum_low_f64(-0x1.82955dd9800fcp-1, rise, power) + rise_low;
    const double v_low = u_low + bcg_sum_low_f64(-0.4375, u, v);
    const double turned = bcg_fma_f64(v_low, bcg_fma_f64(v, 0.511, 1.317), power_low) - bcg_prod_low_f64(y, y, square);
    const double whole = bcg_fma_f64(power - square, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 2046);
    const double k = whole - (BCG_SHIFT_F64 + 2046), taken = -k * 0x1.62e42fefa38p-1;
    const double first = taken - square, r1 = first + power;
    const double first_low = bcg_any_sum_low_f64(taken, -square, first);
    const double lows = bcg_any_sum_low_f64(first, power, r1) + first_low;
    const double low = lows + bcg_fma_f64(-k, 0x1.ef35793c7673p-45, turned);
    const double r = r1 + low, e = 1 + r, e_low = bcg_sum_low_f64(1, r, e) + bcg_sum_low_f64(r1, low, r);
    const double rest = bcg_fma_f64(r * r, bcg_erf_exp_tail_f64(r), e_low);
    const double scaled = bcg_fma_f64(e, u, bcg_fma_f64(rest, u, e * u_low));
    const uint64_t both = bcg_bits_f64(whole), one = both >> 1;
    const double far = scaled * bcg_from_bits_f64(one << 52) * bcg_from_bits_f64((both - one) << 52);
    return bcg_erf_side_f64(y - 0.5, near, bcg_erf_left_f64(x, far));
}

/* erfc(x) = u e^(p(u) - x^2), with the rounding errors of x^2 and, to a few digits, of u alone. */
static inline float bcg_erfc_fast_f32(float x)
{
    const float size = fabsf(x), y = 10.5f < size ? 10.5f : size, square = y * y;
    const float near = bcg_fma_f32(-x, bcg_erf_fast_tail_f32(square - 0.375f), 1 - x);
    const float u = 1 / bcg_fma_f32(y, 0.5f, 1), v = u - 0.5f;
    const float power = bcg_fma_f32(v, bcg_erfc_log_f32(v), -0x1.57f564p-1f);
    const float whole = bcg_fma_f32(power - square, BCG_LOG2_E_F32, BCG_SHIFT_F32 + 254);
    const float k = whole - (BCG_SHIFT_F32 + 254);
    const float u_low = bcg_fma_f32(u * -0.5f, y, 1 - u) * bcg_fma_f32(u, 1.345f, 1);
    const float low = bcg_fma_f32(-k, BCG_LN2_LOW_F32, u_low - bcg_prod_low_f32(y, y, square));
    const float r = (bcg_fma_f32(-k, BCG_LN2_HIGH_F32, -square) + power) + low;
    const float scaled = bcg_fma_f32(bcg_fma_f32(r * r, bcg_erf_exp_tail_f32(r), r), u, u);
    const uint32_t both = bcg_bits_f32(whole), one = both >> 1;
    const float far = scaled * bcg_from_bits_f32(one << 23) * bcg_from_bits_f32((both - one) << 23);
    return bcg_erf_side_f32(y - 0.5f, near, bcg_erf_left_f32(x, far));
}

/* erfc(x) = u e^(p(u) - x^2), with the rounding errors of x^2 and, to a few digits, of u alone. */
static inline double bcg_erfc_fast_f64(double x)
{
    const double size = fabs(x), y = 28.0 < size ? 28.0 : size, square = y * y;
    const double near = bcg_fma_f64(-x, bcg_erf_fast_tail_f64(square - 0.375), 1 - x);
    const double u = 1 / bcg_fma_f64(y, 0.5, 1), v = u - 0.4375;
    const double power = bcg_fma_f64(v, bcg_erfc_log_f64(v), -0x1.82955dd9800fcp-1);
    const double whole = bcg_fma_f64(power - square, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 2046);
    const double k = whole - (BCG_SHIFT_F64 + 2046);
    const double u_low = bcg_fma_f64(u * -0.5, y, 1 - u) * bcg_fma_f64(u, 1.317, 1);
    const double low = bcg_fma_f64(-k, BCG_LN2_LOW_F64, u_low - bcg_prod_low_f64(y, y, square));
    const double r = (bcg_fma_f64(-k, BCG_LN2_HIGH_F64, -square) + power) + low;
    const double scaled = bcg_fma_f64(bcg_fma_f64(r * r, bcg_erf_exp_tail_f64(r), r), u, u);
    const uint64_t both = bcg_bits_f64(whole), one = both >> 1;
    const double far = scaled * bcg_from_bits_f64(one << 52) * bcg_from_bits_f64((both - one) << 52);
    return bcg_erf_side_f64(y - 0.5, near, bcg_erf_left_f64(x, far));
}

#endif
