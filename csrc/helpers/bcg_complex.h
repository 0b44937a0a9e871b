/* bcg_complex.h: arithmetic and comparisons of complex numbers, bcg_<op>_<dtype>.
 *
 * Contract. A complex number is a struct of two reals, in memory as in C's `float _Complex` and C++'s std::complex<float>.
 * Pure, no errno, any argument. Every formula is NumPy's, in its order, and no product is fused with a sum: products are
 * the naive ones, and quotients Smith's, so that infinities give what NumPy gives, not what C99's Annex G recommends.
 * Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in the
 * headers that are included or in the standard ones: emit copies the ones a kernel needs.
 */
#ifndef BCG_COMPLEX_H
#define BCG_COMPLEX_H

#include "bcg_vmath_inverse_trig.h"
#include "bcg_vmath_root.h"

#include <stdbool.h>

typedef struct {
    float re, im;
} bcg_c64;

typedef struct {
    double re, im;
} bcg_c128;

static inline bcg_c64 bcg_make_c64(float re, float im)
{
    bcg_c64 z;
    z.re = re;
    z.im = im;
    return z;
}

static inline bcg_c128 bcg_make_c128(double re, double im)
{
    bcg_c128 z;
    z.re = re;
    z.im = im;
    return z;
}

static inline bool bcg_is_true_c64(bcg_c64 z) { return (z.re != 0) | (z.im != 0); }

static inline bool bcg_is_true_c128(bcg_c128 z) { return (z.re != 0) | (z.im != 0); }

static inline float bcg_real_c64(bcg_c64 z) { return z.re; }

static inline double bcg_real_c128(bcg_c128 z) { return z.re; }

static inline float bcg_imag_c64(bcg_c64 z) { return z.im; }

static inline double bcg_imag_c128(bcg_c128 z) { return z.im; }

/* By bits, since gcc 12 would fuse the product in x + conj(y * scale), with -ffp-contract=off, too. */
static inline bcg_c64 bcg_conjugate_c64(bcg_c64 z)
{
    return bcg_make_c64(z.re, bcg_from_bits_f32(bcg_bits_f32(z.im) ^ 0x80000000u));
}

/* By bits, since gcc 12 would fuse the product in x + conj(y * scale), with -ffp-contract=off, too. */
static inline bcg_c128 bcg_conjugate_c128(bcg_c128 z)
{
    return bcg_make_c128(z.re, bcg_from_bits_f64(bcg_bits_f64(z.im) ^ 0x8000000000000000u));
}

static inline bcg_c64 bcg_negative_c64(bcg_c64 z) { return bcg_make_c64(-z.re, -z.im); }

static inline bcg_c128 bcg_negative_c128(bcg_c128 z) { return bcg_make_c128(-z.re, -z.im); }

static inline bcg_c64 bcg_add_c64(bcg_c64 x, bcg_c64 y) { return bcg_make_c64(x.re + y.re, x.im + y.im); }

static inline bcg_c128 bcg_add_c128(bcg_c128 x, bcg_c128 y) { return bcg_make_c128(x.re + y.re, x.im + y.im); }

static inline bcg_c64 bcg_subtract_c64(bcg_c64 x, bcg_c64 y) { return bcg_make_c64(x.re - y.re, x.im - y.im); }

static inline bcg_c128 bcg_subtract_c128(bcg_c128 x, bcg_c128 y) { return bcg_make_c128(x.re - y.re, x.im - y.im); }

/* Not x.re * y.re - x.im * y.im, for beside the sum gcc 12 fuses it, with -ffp-contract=off, too. */
static inline bcg_c64 bcg_multiply_c64(bcg_c64 x, bcg_c64 y)
{
    return bcg_make_c64(x.re * y.re + -x.im * y.im, x.re * y.im + x.im * y.re);
}

/* Not x.re * y.re - x.im * y.im, for beside the sum gcc 12 fuses it, with -ffp-contract=off, too. */
static inline bcg_c128 bcg_multiply_c128(bcg_c128 x, bcg_c128 y)
{
    return bcg_make_c128(x.re * y.re + -x.im * y.im, x.re * y.im + x.im * y.re);
}

static inline bcg_c64 bcg_square_c64(bcg_c64 z)
{
    return bcg_make_c64(z.re * z.re + -z.im * z.im, z.re * z.im + z.im * z.re);
}

static inline bcg_c128 bcg_square_c128(bcg_c128 z)
{
    return bcg_make_c128(z.re * z.re + -z.im * z.im, z.re * z.im + z.im * z.re);
}

/* Smith's: the smaller part of the divisor over the larger one is in [-1, 1]. By 0 it divides as by a real 0. */
static inline bcg_c64 bcg_divide_c64(bcg_c64 x, bcg_c64 y)
{
    const float size = fabsf(y.re), other = fabsf(y.im);
    const bool by_real = size >= other, by_zero = (size == 0) & (other == 0);
    const float large = by_real ? y.re : y.im, small = by_real ? y.im : y.re;
    const float ratio = small / large, scale = 1 / (large + small * ratio);
    const float first = by_real ? x.re : x.im, second = by_real ? x.im : x.re;
    const float turned = first * ratio, im = by_real ? second - turned : turned - second;
    const float re = first + second * ratio;
    return bcg_make_c64(by_zero ? x.re / size : re * scale, by_zero ? x.im / size : im * scale);
}

/* Smith's: the smaller part of the divisor over the larger one is in [-1, 1]. By 0 it divides as by a real 0. */
static inline bcg_c128 bcg_divide_c128(bcg_c128 x, bcg_c128 y)
{
    const double size = fabs(y.re), other = fabs(y.im);
    const bool by_real = size >= other, by_zero = (size == 0) & (other == 0);
    const double large = by_real ? y.re : y.im, small = by_real ? y.im : y.re;
    const double ratio = small / large, scale = 1 / (large + small * ratio);
    const double first = by_real ? x.re : x.im, second = by_real ? x.im : x.re;
    const double turned = first * ratio, im = by_real ? second - turned : turned - second;
    const double re = first + second * ratio;
    return bcg_make_c128(by_zero ? x.re / size : re * scale, by_zero ? x.im / size : im * scale);
}

static inline bcg_c64 bcg_reciprocal_c64(bcg_c64 z)
{
    const bool by_real = fabsf(z.im) <= fabsf(z.re);
    const float large = by_real ? z.re : z.im, small = by_real ? z.im : z.re;
    const float ratio = small / large, size = large + small * ratio;
    return bcg_make_c64((by_real ? 1 : ratio) / size, (by_real ? -ratio : -1) / size);
}

static inline bcg_c128 bcg_reciprocal_c128(bcg_c128 z)
{
    const bool by_real = fabs(z.im) <= fabs(z.re);
    const double large = by_real ? z.re : z.im, small = by_real ? z.im : z.re;
    const double ratio = small / large, size = large + small * ratio;
    return bcg_make_c128((by_real ? 1 : ratio) / size, (by_real ? -ratio : -1) / size);
}

static inline float bcg_absolute_c64(bcg_c64 z) { return bcg_hypot_f32(z.re, z.im); }

static inline double bcg_absolute_c128(bcg_c128 z) { return bcg_hypot_f64(z.re, z.im); }

static inline float bcg_angle_of_c64(bcg_c64 z) { return bcg_arctan2_f32(z.im, z.re); }

static inline double bcg_angle_of_c128(bcg_c128 z) { return bcg_arctan2_f64(z.im, z.re); }

static inline bool bcg_isnan_c64(bcg_c64 z) { return (z.re != z.re) | (z.im != z.im); }

static inline bool bcg_isnan_c128(bcg_c128 z) { return (z.re != z.re) | (z.im != z.im); }

static inline bool bcg_isfinite_c64(bcg_c64 z) { return (fabsf(z.re) <= 0x1.fffffep+127f) && (fabsf(z.im) <= 0x1.fffffep+127f); }

static inline bool bcg_isfinite_c128(bcg_c128 z) { return (fabs(z.re) <= 0x1.fffffffffffffp+1023) && (fabs(z.im) <= 0x1.fffffffffffffp+1023); }

static inline bool bcg_isinf_c64(bcg_c64 z) { return (fabsf(z.re) > 0x1.fffffep+127f) || (fabsf(z.im) > 0x1.fffffep+127f); }

static inline bool bcg_isinf_c128(bcg_c128 z) { return (fabs(z.re) > 0x1.fffffffffffffp+1023) || (fabs(z.im) > 0x1.fffffffffffffp+1023); }

/* z / |z|; 0 for 0, the direction of the infinite part, and NaN where both are infinite or one is NaN beside a number. */
static inline bcg_c64 bcg_sign_c64(bcg_c64 z)
{
    const float size = bcg_hypot_f32(z.re, z.im);
    const bool is_far = size > 0x1.fffffep+127f, is_zero = size == 0;
    const bool far_re = fabsf(z.re) > 0x1.fffffep+127f, far_im = fabsf(z.im) > 0x1.fffffep+127f;
    const bool is_nan = (size != size) | (far_re & far_im);
    const float re = far_re ? copysignf(1, z.re) : far_im ? 0 : z.re / (is_far ? 0x1.fffffep+127f : size);
    const float im = far_im ? copysignf(1, z.im) : far_re ? 0 : z.im / (is_far ? 0x1.fffffep+127f : size);
    return bcg_make_c64(is_nan ? NAN : is_zero ? 0 : re, is_nan ? NAN : is_zero ? 0 : im);
}

/* z / |z|; 0 for 0, the direction of the infinite part, and NaN where both are infinite or one is NaN beside a number. */
static inline bcg_c128 bcg_sign_c128(bcg_c128 z)
{
    const double size = bcg_hypot_f64(z.re, z.im);
    const bool is_far = size > 0x1.fffffffffffffp+1023, is_zero = size == 0;
    const bool far_re = fabs(z.re) > 0x1.fffffffffffffp+1023, far_im = fabs(z.im) > 0x1.fffffffffffffp+1023;
    const bool is_nan = (size != size) | (far_re & far_im);
    const double re = far_re ? copysign(1, z.re) : far_im ? 0 : z.re / (is_far ? 0x1.fffffffffffffp+1023 : size);
    const double im = far_im ? copysign(1, z.im) : far_re ? 0 : z.im / (is_far ? 0x1.fffffffffffffp+1023 : size);
    return bcg_make_c128(is_nan ? (double)NAN : is_zero ? 0 : re, is_nan ? (double)NAN : is_zero ? 0 : im);
}

static inline bcg_c64 bcg_rint_c64(bcg_c64 z) { return bcg_make_c64(rintf(z.re), rintf(z.im)); }

static inline bcg_c128 bcg_rint_c128(bcg_c128 z) { return bcg_make_c128(rint(z.re), rint(z.im)); }

static inline bcg_c64 bcg_where_c64(bool condition, bcg_c64 x, bcg_c64 y)
{
    return bcg_make_c64(condition ? x.re : y.re, condition ? x.im : y.im);
}

static inline bcg_c128 bcg_where_c128(bool condition, bcg_c128 x, bcg_c128 y)
{
    return bcg_make_c128(condition ? x.re : y.re, condition ? x.im : y.im);
}

static inline bool bcg_equal_c64(bcg_c64 x, bcg_c64 y) { return (x.re == y.re) & (x.im == y.im); }

static inline bool bcg_equal_c128(bcg_c128 x, bcg_c128 y) { return (x.re == y.re) & (x.im == y.im); }

static inline bool bcg_not_equal_c64(bcg_c64 x, bcg_c64 y) { return (x.re != y.re) | (x.im != y.im); }

static inline bool bcg_not_equal_c128(bcg_c128 x, bcg_c128 y) { return (x.re != y.re) | (x.im != y.im); }

/* In lexicographic order: by the real parts, and by the imaginary ones where these are equal; never where there is NaN. */
static inline bool bcg_less_c64(bcg_c64 x, bcg_c64 y)
{
    const bool numbers = (x.im == x.im) & (y.im == y.im);
    return ((x.re < y.re) & numbers) | ((x.re == y.re) & (x.im < y.im));
}

/* In lexicographic order: by the real parts, and by the imaginary ones where these are equal; never where there is NaN. */
static inline bool bcg_less_c128(bcg_c128 x, bcg_c128 y)
{
    const bool numbers = (x.im == x.im) & (y.im == y.im);
    return ((x.re < y.re) & numbers) | ((x.re == y.re) & (x.im < y.im));
}

static inline bool bcg_less_equal_c64(bcg_c64 x, bcg_c64 y)
{
    const bool numbers = (x.im == x.im) & (y.im == y.im);
    return ((x.re < y.re) & numbers) | ((x.re == y.re) & (x.im <= y.im));
}

static inline bool bcg_less_equal_c128(bcg_c128 x, bcg_c128 y)
{
    const bool numbers = (x.im == x.im) & (y.im == y.im);
    return ((x.re < y.re) & numbers) | ((x.re == y.re) & (x.im <= y.im));
}

static inline bool bcg_greater_c64(bcg_c64 x, bcg_c64 y) { return bcg_less_c64(y, x); }

static inline bool bcg_greater_c128(bcg_c128 x, bcg_c128 y) { return bcg_less_c128(y, x); }

static inline bool bcg_greater_equal_c64(bcg_c64 x, bcg_c64 y) { return bcg_less_equal_c64(y, x); }

static inline bool bcg_greater_equal_c128(bcg_c128 x, bcg_c128 y) { return bcg_less_equal_c128(y, x); }

static inline bcg_c64 bcg_minimum_c64(bcg_c64 x, bcg_c64 y)
{
    return bcg_where_c64(bcg_isnan_c64(x) || bcg_less_equal_c64(x, y), x, y);
}

static inline bcg_c128 bcg_minimum_c128(bcg_c128 x, bcg_c128 y)
{
    return bcg_where_c128(bcg_isnan_c128(x) || bcg_less_equal_c128(x, y), x, y);
}

static inline bcg_c64 bcg_maximum_c64(bcg_c64 x, bcg_c64 y)
{
    return bcg_where_c64(bcg_isnan_c64(x) || bcg_less_equal_c64(y, x), x, y);
}

static inline bcg_c128 bcg_maximum_c128(bcg_c128 x, bcg_c128 y)
{
    return bcg_where_c128(bcg_isnan_c128(x) || bcg_less_equal_c128(y, x), x, y);
}

static inline bcg_c64 bcg_fmin_c64(bcg_c64 x, bcg_c64 y)
{
    return bcg_where_c64(bcg_isnan_c64(y) || bcg_less_equal_c64(x, y), x, y);
}

static inline bcg_c128 bcg_fmin_c128(bcg_c128 x, bcg_c128 y)
{
    return bcg_where_c128(bcg_isnan_c128(y) || bcg_less_equal_c128(x, y), x, y);
}

static inline bcg_c64 bcg_fmax_c64(bcg_c64 x, bcg_c64 y)
{
    return bcg_where_c64(bcg_isnan_c64(y) || bcg_less_equal_c64(y, x), x, y);
}

static inline bcg_c128 bcg_fmax_c128(bcg_c128 x, bcg_c128 y)
{
    return bcg_where_c128(bcg_isnan_c128(y) || bcg_less_equal_c128(y, x), x, y);
}

/* As bcg_less_c64, but different real parts decide, whatever the imaginary ones are: clip compares so in NumPy. */
static inline bool bcg_before_c64(bcg_c64 x, bcg_c64 y)
{
    return (x.re < y.re) | ((x.re == y.re) & (x.im < y.im));
}

/* As bcg_less_c128, but different real parts decide, whatever the imaginary ones are: clip compares so in NumPy. */
static inline bool bcg_before_c128(bcg_c128 x, bcg_c128 y)
{
    return (x.re < y.re) | ((x.re == y.re) & (x.im < y.im));
}

static inline bcg_c64 bcg_clip_c64(bcg_c64 z, bcg_c64 low, bcg_c64 high)
{
    const bcg_c64 raised = bcg_where_c64(bcg_isnan_c64(z) || bcg_before_c64(low, z), z, low);
    return bcg_where_c64(bcg_isnan_c64(raised) || bcg_before_c64(raised, high), raised, high);
}

static inline bcg_c128 bcg_clip_c128(bcg_c128 z, bcg_c128 low, bcg_c128 high)
{
    const bcg_c128 raised = bcg_where_c128(bcg_isnan_c128(z) || bcg_before_c128(low, z), z, low);
    return bcg_where_c128(bcg_isnan_c128(raised) || bcg_before_c128(raised, high), raised, high);
}

static inline bcg_c128 bcg_c64_to_c128(bcg_c64 z) { return bcg_make_c128((double)z.re, (double)z.im); }

static inline bcg_c64 bcg_c128_to_c64(bcg_c128 z) { return bcg_make_c64((float)z.re, (float)z.im); }

#endif
