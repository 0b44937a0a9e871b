/* bcg_vmath_root.h: roots, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Forms with `common` in the name are right where the op's row says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_ROOT_H
#define BCG_VMATH_ROOT_H

#include "bcg_vmath_core.h"

/* One Newton step improves a rounded quotient; where it gives NaN, at 0 and an infinity, the quotient is right. */
static inline float bcg_rsqrt_f32(float x)
{
    const float y = 1 / sqrtf(x), p = x * y;
    const float rest = bcg_fma_f32(-bcg_prod_low_f32(x, y, p), y, bcg_rest_f32(1, p, y));
    const float better = bcg_fma_f32(0.5f * y, rest, y);
    return better == better ? better : y;
}

/* One Newton step improves a rounded quotient; where it gives NaN, at 0 and an infinity, the quotient is right. */
static inline double bcg_rsqrt_f64(double x)
{
    const double y = 1 / sqrt(x), p = x * y;
    const double rest = bcg_fma_f64(-bcg_prod_low_f64(x, y, p), y, bcg_rest_f64(1, p, y));
    const double better = bcg_fma_f64(0.5 * y, rest, y);
    return better == better ? better : y;
}

/* ((1 - e)^(-1/3) - 1) / e for what bcg_cbrt_start_f32 leaves. Minimax fit cbrt_f32: error 2^-18.4 */
static inline float bcg_cbrt_step_f32(float e)
{
    return bcg_fma_f32(bcg_fma_f32(0x1.6542e6p-3f, e, 0x1.c9bf72p-3f), e, 0x1.55545ep-2f);
}

/* ((1 - e)^(-1/3) - 1) / e for what bcg_cbrt_start_f64 leaves. Minimax fit cbrt_f64: error 2^-18.4 */
static inline double bcg_cbrt_step_f64(double e)
{
    return bcg_fma_f64(bcg_fma_f64(0x1.6542e57cc8427p-3, e, 0x1.c9bf72a671152p-3), e, 0x1.55545d005359ap-2);
}

/* About a^(-1/3), at most 3.5% off, for a normal number: bits are roughly a logarithm, which is multiplied by -1/3. */
static inline float bcg_cbrt_start_f32(float a)
{
    const float bits = (float)(int32_t)bcg_bits_f32(a);
    return bcg_from_bits_f32((uint32_t)(int32_t)bcg_fma_f32(bits, -0x1.555556p-2f, 0x1.5288p30f));
}

/* About a^(-1/3), for a normal number: its upper 32 bits are roughly a logarithm, which is multiplied by -1/3. */
static inline double bcg_cbrt_start_f64(double a)
{
    const double upper = bcg_from_bits_f64((bcg_bits_f64(a) >> 32) | 0x4330000000000000u) - 0x1p52;
    return bcg_from_bits_f64(bcg_bits_f64(bcg_fma_f64(upper, -0x1.5555555555555p-2, 0x1.8p52 + 0x1.54fbaaacp30)) << 32);
}

/* m^(1/3) is m times the square of m^(-1/3), which is guessed from bits and improved; the last Newton step uses the
 * exact rest m - z^3. */
static inline float bcg_cbrt_of_f32(float m)
{
    const float start = bcg_cbrt_start_f32(m), e = bcg_fma_f32(-(m * start), start * start, 1);
    const float better = bcg_fma_f32(start * e, bcg_cbrt_step_f32(e), start);
    const float near = better * better, z = m * near, zz = z * z;
    const float rest = bcg_fma_f32(-bcg_prod_low_f32(z, z, zz), z, bcg_rest_f32(m, zz, z));
    return bcg_fma_f32(rest, near * 0x1.555556p-2f, z);
}

/* m^(1/3) is m times the square of m^(-1/3), which is guessed from bits and improved; the last Newton step uses the
 * exact rest m - z^3. */
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
static inline float bcg_cbrt_common_f32(float x) { return copysignf(bcg_cbrt_of_f32(fabsf(x)), x); }

/* Where |x| is from 2^-512 to 2^512. */
static inline double bcg_cbrt_common_f64(double x) { return copysign(bcg_cbrt_of_f64(fabs(x)), x); }

/* For any x. Outside of the common case x is scaled, and the root is scaled back by a third of the exponent: 1/3 modulo
 * 2^32. */
static inline float bcg_cbrt_f32(float x)
{
    const float a = fabsf(x), shrunk = a < 0x1p64f ? 1 : 0x1p-96f, scale = a < 0x1p-64f ? 0x1p96f : shrunk;
    const float back = bcg_from_bits_f32(0x3f800000u + (0x3f800000u - bcg_bits_f32(scale)) * 0xaaaaaaabu);
    return a < INFINITY ? copysignf(bcg_cbrt_of_f32(a * scale) * back, x) : x;
}

/* For any x. Outside of the common case x is scaled, and the root is scaled back by a third of the exponent: 1/3 modulo
 * 2^64. */
static inline double bcg_cbrt_f64(double x)
{
    const double a = fabs(x), shrunk = a < 0x1p512 ? 1 : 0x1p-384, scale = a < 0x1p-512 ? 0x1p384 : shrunk;
    const uint64_t third = (0x3ff0000000000000u - bcg_bits_f64(scale)) * 0xaaaaaaaaaaaaaaabu;
    const double back = bcg_from_bits_f64(0x3ff0000000000000u + third);
    return a < (double)INFINITY ? copysign(bcg_cbrt_of_f64(a * scale) * back, x) : x;
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
    return a < (double)INFINITY ? copysign(root * back, x) : x;
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
    const double number = first == (double)INFINITY ? (double)INFINITY : root;
    return second == (double)INFINITY ? (double)INFINITY : number;
}

#endif
