/* bcg_vmath_gamma.h: the logarithm of the gamma function's absolute value, bcg_gammaln_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, at every zero, too; special values
 * those of C99's Annex F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only
 * what is above it, in the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Between -18.5 and 18.5 a number is whole + t, and gamma(2 + t) times or over whole numbers plus t; beyond, Stirling's
 * series. Near a zero z below -2 it is the difference from its value there, a product with x - z, which is known to
 * twice as many digits.
 */
#ifndef BCG_VMATH_GAMMA_H
#define BCG_VMATH_GAMMA_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_log.h"
#include "bcg_vmath_sin_cos.h"

/* gammaln(2 + t) = t q(t) for |t| <= 1/2, what it lacks, and its slope between z and t, a quotient of differences.
 * Minimax fit gammaln_f64: error 2^-55.8 */
typedef struct {
    double value, low, slope;
} bcg_gammaln_terms;

/* gammaln(2 + t) for |t| <= 1/2, what it lacks, and its slope between z and t. */
static inline bcg_gammaln_terms bcg_gammaln_near(double t, double z)
{
    double over = 0x1.3fa9cb3cd31eap-22, other = over, slope = over;
    over = bcg_fma_f64(over, t, -0x1.37b6bce288a57p-21);
    other = bcg_fma_f64(other, z, -0x1.37b6bce288a57p-21);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.e320fe2144a37p-21);
    other = bcg_fma_f64(other, z, 0x1.e320fe2144a37p-21);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.090e842fcf3b9p-19);
    other = bcg_fma_f64(other, z, -0x1.090e842fcf3b9p-19);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.26d8250328b15p-18);
    other = bcg_fma_f64(other, z, 0x1.26d8250328b15p-18);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.3d4b19950b938p-17);
    other = bcg_fma_f64(other, z, -0x1.3d4b19950b938p-17);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.57fe0c8d213e9p-16);
    other = bcg_fma_f64(other, z, 0x1.57fe0c8d213e9p-16);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.78d910c8fff3cp-15);
    other = bcg_fma_f64(other, z, -0x1.78d910c8fff3cp-15);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.a128278a7bafcp-14);
    other = bcg_fma_f64(other, z, 0x1.a128278a7bafcp-14);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.d3fd69d9a65abp-13);
    other = bcg_fma_f64(other, z, -0x1.d3fd69d9a65abp-13);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.0b36ae818feffp-11);
    other = bcg_fma_f64(other, z, 0x1.0b36ae818feffp-11);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.38ac5bfe58bfcp-10);
    other = bcg_fma_f64(other, z, -0x1.38ac5bfe58bfcp-10);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.7add6eb0222bap-9);
    other = bcg_fma_f64(other, z, 0x1.7add6eb0222bap-9);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.e404fc21d614ep-8);
    other = bcg_fma_f64(other, z, -0x1.e404fc21d614ep-8);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.51322ac7d6f95p-6);
    other = bcg_fma_f64(other, z, 0x1.51322ac7d6f95p-6);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, -0x1.13e001a55755ep-4);
    other = bcg_fma_f64(other, z, -0x1.13e001a55755ep-4);
    slope = bcg_fma_f64(slope, t, other);
    over = bcg_fma_f64(over, t, 0x1.4a34cc4a60fa8p-2);
    other = bcg_fma_f64(other, z, 0x1.4a34cc4a60fa8p-2);
    slope = bcg_fma_f64(slope, t, other);
    const double q = bcg_fma_f64(over, t, 0x1.b0ee6072093cep-2), value = t * q;
    const double q_low = bcg_fma_low_f64(over, t, 0x1.b0ee6072093cep-2, q) + 0x1.9af54cc968f85p-60;
    const double last = bcg_fma_f64(slope, t, bcg_fma_f64(other, z, 0x1.b0ee6072093cep-2));
    const bcg_gammaln_terms terms = {value, bcg_fma_f64(t, q_low, bcg_prod_low_f64(t, q, value)), last};
    return terms;
}

/* The zeros of gammaln below -2 down to -11.5, less the closest whole number -n: at 2 n those below -n, at 2 n + 1 those above;
 * 0 where there is none. */
static inline double bcg_gammaln_zero(int at)
{
    static const double numbers[] = {
        0, 0, 0, 0, -0x1.d3fe4b007c361p-2, 0, -0x1.260dbc9e59af8p-3, 0x1.025f7af2137fap-2, -0x1.4273c2ccac062p-5,
        0x1.6e3aae0f406bdp-5, -0x1.0d4afe16db219p-7, 0x1.1510b222a0657p-7, -0x1.6b25897c8ced8p-10,
        0x1.6d0a6e0bf2a09p-10, -0x1.9fef6ff0f5be9p-13, 0x1.a044a3c880185p-13, -0x1.a01459fc9f60dp-16,
        0x1.a01fa98c3c356p-16, -0x1.71dda3ec36b6cp-19, 0x1.71ded0bf801bdp-19, -0x1.27e4eee649ed1p-22,
        0x1.27e50808cbe75p-22, -0x1.ae6454c576597p-26, 0x1.ae64583932495p-26};
    return numbers[at];
}

/* What rounding took from them. */
static inline double bcg_gammaln_zero_low(int at)
{
    static const double numbers[] = {
        0, 0, 0, 0, 0x1.541360cea0e6p-56, 0, 0x1.1d065994b0991p-58, -0x1.7995a4b4641ebp-56, 0x1.e307a790f3f77p-59,
        0x1.e5753daddb926p-61, -0x1.498adcb2a729cp-61, 0x1.e5eab7f12cef6p-61, -0x1.f0b65b458e173p-66,
        -0x1.4ed62cbd31eep-64, 0x1.be919233c3eaap-67, 0x1.d949a3dc02de1p-68, 0x1.30c4f8c4dea26p-70,
        0x1.7d4add4f3562dp-72, -0x1.0ffb70d477adfp-74, -0x1.3a55d249679f9p-74, -0x1.d95e15441e031p-76,
        0x1.1885afab83963p-76, 0x1.90015bf1b415cp-80, -0x1.a55b7a31a0b4ap-81};
    return numbers[at];
}

/* z (1 + z) (1 - z) .. (n - z) for each. */
static inline double bcg_gammaln_zero_product(int at)
{
    static const double numbers[] = {
        1, 1, 1, 1, -0x1.c6d90e2a46005p-1, 1, -0x1.e528c742602a7p-1, 0x1.226f2f66fd04fp+0, -0x1.f7cdc347d4afdp-1,
        0x1.050d20be80c8p+0, -0x1.fe3c3a80fb6cdp-1, 0x1.00ec35e698b19p+0, -0x1.ffb35653612b9p-1,
        0x1.0026a2bf1c27fp+0, -0x1.fff502edbe6dbp-1, 0x1.0005803493952p+0, -0x1.fffea02f49413p-1,
        0x1.0000afef50a69p+0, -0x1.ffffd8e820205p-1, 0x1.0000138c06b66p+0, -0x1.fffffc17345ebp-1,
        0x1.000001f4660ccp+0, -0x1.ffffffa504bddp-1, 0x1.0000002d7da19p+0};
    return numbers[at];
}

/* What rounding took from them. */
static inline double bcg_gammaln_zero_product_low(int at)
{
    static const double numbers[] = {
        0, 0, 0, 0, -0x1.71e90a7835e01p-56, 0, -0x1.4542f3be5ce3dp-58, -0x1.9e97044463907p-55, 0x1.7c3eba35ccfd2p-55,
        -0x1.c2307a4e7ea27p-54, -0x1.b1bbfd9c3620ep-55, 0x1.751724b5af238p-54, 0x1.8737b88d31a1ap-55,
        0x1.dc9c75c82d7f7p-54, -0x1.282d0f9c7ce68p-56, -0x1.2affd2877c8b2p-54, -0x1.431d4a0b6cecfp-56,
        -0x1.1a512d4fc72e9p-55, -0x1.023e909cff72p-56, 0x1.1eb0b7b2884afp-55, -0x1.416022f3b59cep-56,
        0x1.d1f82bba30da2p-55, -0x1.8506dff45deeap-55, 0x1.e78e027b67d4bp-54};
    return numbers[at];
}

/* Two numbers whose sum is meant. */
typedef struct {
    double high, low;
} bcg_gammaln_pair;

/* log(x) of a positive finite x, as a number and what that lacks. */
static inline bcg_gammaln_pair bcg_gammaln_log(double x)
{
    const bcg_log_parts_f64 a = bcg_log_split_f64(x);
    const double first = a.k * BCG_LN2_HIGH_F64, sum = first + a.f, low = bcg_sum_low_f64(first, a.f, sum);
    const double square = a.f * a.f, half = -0.5 * square, half_low = -0.5 * bcg_prod_low_f64(a.f, a.f, square);
    const double high = sum + half, rest = bcg_any_sum_low_f64(sum, half, high) + low;
    const double third = bcg_log_third_f64(a.f, square);
    const bcg_gammaln_pair pair = {high, rest + bcg_fma_f64(a.k, BCG_LN2_LOW_F64, third + half_low)};
    return pair;
}

/* The product with a factor, and with what it lacks, if there is to be one more. */
static inline bcg_gammaln_pair bcg_gammaln_times(bcg_gammaln_pair a, double factor, int more)
{
    const double product = a.high * factor, low = bcg_prod_low_f64(a.high, factor, product);
    const bcg_gammaln_pair pair = {more ? product : a.high, more ? bcg_fma_f64(a.low, factor, low) : a.low};
    return pair;
}

/* The product with up to three factors, each larger by 1. */
static inline bcg_gammaln_pair bcg_gammaln_times_3(bcg_gammaln_pair a, double factor, int more)
{
    const bcg_gammaln_pair one = bcg_gammaln_times(a, factor, more > 0), two = bcg_gammaln_times(one, factor + 1, more > 1);
    return bcg_gammaln_times(two, factor + 2, more > 2);
}

/* Close to a zero: what gammaln(2 + t) gains over a step from it, less the logarithm of what the product does. */
static inline double bcg_gammaln_beside(double step, double slope, bcg_gammaln_pair product, int at)
{
    const double at_zero = bcg_gammaln_zero_product(at), gained = product.high - at_zero;
    const double less = product.low - bcg_gammaln_zero_product_low(at), whole = gained + less;
    const double f = whole / at_zero, square = f * f, first = step * slope, sum = first - f;
    const double f_low = (bcg_rest_f64(whole, f, at_zero) + bcg_any_sum_low_f64(gained, less, whole)) / at_zero;
    const double second = bcg_log_third_f64(f, square) - 0.5 * square;
    return sum + ((bcg_any_sum_low_f64(first, -f, sum) + bcg_prod_low_f64(step, slope, first)) - (f_low + second));
}

/* Up to 18.5. */
static inline double bcg_gammaln_small(double x)
{
    const double whole = bcg_whole_f64(x), t = x - whole, count = whole < 2 ? -whole : whole - 2;
    const int above = whole > 1, n = (int)count, at = ((whole < 0) & (n < 12)) ? 2 * n + (t > 0) : 0;
    const double start = above ? 1 : whole > 0 ? x : t * (1 + t), factor = above ? 2 + t : 1 - t;
    const double lost = bcg_fma_f64(t, bcg_sum_low_f64(1, t, 1 + t), bcg_prod_low_f64(t, 1 + t, start));
    const bcg_gammaln_pair a = {start, whole > 0 ? 0 : lost};
    const bcg_gammaln_pair b = bcg_gammaln_times_3(a, factor, n), c = bcg_gammaln_times_3(b, factor + 3, n - 3);
    const bcg_gammaln_pair d = bcg_gammaln_times_3(c, factor + 6, n - 6), e = bcg_gammaln_times_3(d, factor + 9, n - 9);
    const bcg_gammaln_pair f = bcg_gammaln_times_3(e, factor + 12, n - 12);
    const bcg_gammaln_pair product = bcg_gammaln_times_3(f, factor + 15, n - 15);
    const double z = bcg_gammaln_zero(at), step = (t - z) - bcg_gammaln_zero_low(at);
    const bcg_gammaln_terms near = bcg_gammaln_near(t, z);
    const bcg_gammaln_pair log = bcg_gammaln_log(fabs(product.high));
    const double high = above ? log.high : -log.high, low = log.low + product.low / product.high, sum = near.value + high;
    const double rest = bcg_any_sum_low_f64(near.value, high, sum) + near.low, far = sum + (rest + (above ? low : -low));
    const double beside = bcg_gammaln_beside(step, near.slope, product, at);
    return product.high == 0 ? (double)INFINITY : fabs(step) < 0.0625 * fabs(z) ? beside : far;
}

/* From 18.5 on, and below -18.5: by Stirling's series of |x|, for a negative x by the product of both gammas. */
static inline double bcg_gammaln_large(double x)
{
    const double size = fabs(x), u = 1 / size, s = u * u, half = size - 0.5;
    double series = bcg_fma_f64(s, 0x1.b951e2b18ff23p-11, -0x1.38138138138138p-11);
    series = bcg_fma_f64(s, series, 0x1.a01a01a01a01ap-11);
    series = bcg_fma_f64(s, series, -0x1.6c16c16c16c17p-9);
    series = u * bcg_fma_f64(s, series, 0x1.5555555555555p-4);
    const bcg_gammaln_pair log = bcg_gammaln_log(size);
    const double less = log.high - 1, product = half * less;
    const double lost = product < (double)INFINITY ? bcg_fma_f64(half, log.low, bcg_prod_low_f64(half, less, product)) : 0;
    /* log(2 pi) / 2 - 1 / 2 */
    const double rest = lost + (series + 0x1.acfe390c97d69p-2);
    const double t = x - bcg_whole_f64(x), sine = fabs(bcg_sin_half_turn_f64(t * 0x1.921fb54442d18p+1));
    const bcg_gammaln_pair turned = bcg_gammaln_log(t != 0 ? sine * 0x1.45f306dc9c883p-2 * size : 1);
    const double sum = product + turned.high;
    const double left = sum + ((rest + turned.low) + bcg_any_sum_low_f64(product, turned.high, sum));
    return x > 0 ? product + rest : t != 0 ? -left : (double)INFINITY;
}

static inline double bcg_gammaln_f64(double x)
{
    const double size = fabs(x), small = bcg_gammaln_small(size < 18.5 ? x : 0.25);
    const double large = bcg_gammaln_large(size >= 18.5 ? x : 20);
    return size < 18.5 ? small : size < (double)INFINITY ? large : size;
}

static inline float bcg_gammaln_f32(float x) { return (float)bcg_gammaln_f64((double)x); }

#endif
