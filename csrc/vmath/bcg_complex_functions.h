/* bcg_complex_functions.h: mathematical functions of complex numbers, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; branch cuts and special values are those of C99's Annex G and of NumPy, by the
 * sign of zeros; errors, by the norm of the result, within the bound of the op's row. Functions of c64 are those of c128,
 * rounded. bcg_<function>_common_<dtype> has the same bits where bcg_<function>_is_rare_<dtype> is false, and no
 * branch, so that compilers vectorise it. Each definition is between blank lines and uses only what is above it, in the
 * headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * sqrt and tanh follow W. Kahan, Branch cuts for complex elementary functions (1987).
 */
#ifndef BCG_COMPLEX_FUNCTIONS_H
#define BCG_COMPLEX_FUNCTIONS_H

#include "bcg_complex.h"
#include "bcg_vmath_exp.h"
#include "bcg_vmath_hyperbolic.h"
#include "bcg_vmath_inverse_trig.h"
#include "bcg_vmath_log.h"
#include "bcg_vmath_log1p.h"
#include "bcg_vmath_root.h"
#include "bcg_vmath_sin_cos.h"
#include "bcg_vmath_tan.h"

#include <math.h>
#include <stdbool.h>

#define BCG_LN2 0x1.62e42fefa39efp-1

#define BCG_HALF_PI 0x1.921fb54442d18p+0

static inline bool bcg_finite_part(double x) { return fabs(x) <= 0x1.fffffffffffffp+1023; }

static inline bool bcg_infinite_part(double x) { return fabs(x) > 0x1.fffffffffffffp+1023; }

/* size * (c + i s) for size = e^x * scale, also where e^x alone overflows or underflows. */
static inline bcg_c128 bcg_exp_times(double x, double scale, double c, double s)
{
    if (fabs(x) < 700) {
        const double size = bcg_exp_f64(x) * scale;
        return bcg_make_c128(size * c, size * s);
    }
    const double root = bcg_exp_f64(0.5 * x), first = root * scale;
    return bcg_make_c128(first * c * root, first * s * root);
}

static inline bcg_c128 bcg_exp_c128(bcg_c128 z)
{
    if (z.im == 0) return bcg_make_c128(bcg_exp_f64(z.re), z.im);
    if (!bcg_finite_part(z.im)) {
        if (!bcg_infinite_part(z.re)) return bcg_make_c128((double)NAN, (double)NAN);
        return z.re > 0 ? bcg_make_c128(z.re, (double)NAN) : bcg_make_c128(0, copysign(0, z.im));
    }
    return bcg_exp_times(z.re, 1, bcg_cos_f64(z.im), bcg_sin_f64(z.im));
}

static inline bool bcg_exp_is_rare_c128(bcg_c128 z)
{
    return !(fabs(z.re) < 700) || !(fabs(z.im) <= BCG_SIN_COMMON_F64);
}

static inline bcg_c128 bcg_exp_common_c128(bcg_c128 z)
{
    const double size = bcg_exp_f64(z.re);
    return bcg_make_c128(size * bcg_cos_common_f64(z.im), size * bcg_sin_common_f64(z.im));
}

/* 2^x (cos y ln 2 + i sin y ln 2); up to 2^27 the angle keeps the digits that its product with ln 2 is rounded by. */
static inline bcg_c128 bcg_exp2_c128(bcg_c128 z)
{
    if (z.im == 0) return bcg_make_c128(bcg_exp2_f64(z.re), z.im);
    if (!bcg_finite_part(z.im) || !bcg_finite_part(z.re)) return bcg_exp_c128(z);
    const double angle = z.im * BCG_LN2;
    const double rest = bcg_prod_low_f64(z.im, BCG_LN2, angle) + z.im * 0x1.abc9e3b39803fp-56;
    const double low = fabs(angle) < 0x1p+27 ? rest : 0;
    const double c = bcg_cos_f64(angle), s = bcg_sin_f64(angle);
    const double root = bcg_exp2_f64(0.5 * z.re);
    return bcg_make_c128(root * (c - low * s) * root, root * (s + low * c) * root);
}

/* (e^x - 1) cos y - 2 sin(y/2)^2 + i e^x sin y */
static inline bcg_c128 bcg_expm1_c128(bcg_c128 z)
{
    if (z.im == 0) return bcg_make_c128(bcg_expm1_f64(z.re), z.im);
    if (!bcg_finite_part(z.im) || !(z.re < 700)) {
        const bcg_c128 power = bcg_exp_c128(z);
        return bcg_make_c128(power.re - 1, power.im);
    }
    const double half = bcg_sin_f64(0.5 * z.im), c = bcg_cos_f64(z.im), s = bcg_sin_f64(z.im);
    return bcg_make_c128(bcg_expm1_f64(z.re) * c - 2 * half * half, bcg_exp_f64(z.re) * s);
}

/* The part that rounding took from square = x * x, exactly, without FMA, too: by Veltkamp's halves of 26 bits. */
static inline double bcg_square_low(double x, double square)
{
    const double shifted = 0x1.0000002p+27 * x, high = shifted - (shifted - x), low = x - high;
    return ((high * high - square) + 2 * high * low) + low * low;
}

/* x^2 + y^2 - 1 and no rounding but the last ones: near the unit circle the sum cancels. */
static inline double bcg_squares_less_one(double x, double y)
{
    const double a = x * x, b = y * y;
    const double one = a - 1, two = one + b;
    const double low = bcg_any_sum_low_f64(-1, a, one) + bcg_any_sum_low_f64(one, b, two);
    const double a_low = bcg_square_low(x, a), b_low = bcg_square_low(y, b);
    const double lows = a_low + b_low, rest = bcg_any_sum_low_f64(a_low, b_low, lows);
    const double sum = two + lows;
    return sum + (bcg_any_sum_low_f64(two, lows, sum) + (low + rest));
}

/* log |x + i y| */
static inline double bcg_log_size(double x, double y)
{
    const double ax = fabs(x), ay = fabs(y), most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
    if (bcg_infinite_part(x) || bcg_infinite_part(y)) return (double)INFINITY;
    if (x != x || y != y) return (double)NAN;
    if (most == 0) return -(double)INFINITY;
    if (most > 0x1p+500) return bcg_log_f64(bcg_hypot_f64(most * 0x1p-600, least * 0x1p-600)) + 600 * BCG_LN2;
    if (most < 0x1p-500) return bcg_log_f64(bcg_hypot_f64(most * 0x1p+600, least * 0x1p+600)) - 600 * BCG_LN2;
    if (most > 0.5 && most < 1.5) return 0.5 * bcg_log1p_f64(bcg_squares_less_one(most, least));
    return 0.5 * bcg_log_f64(most * most + least * least);
}

static inline bool bcg_log_is_rare_c128(bcg_c128 z)
{
    const double most = fabs(z.re) > fabs(z.im) ? fabs(z.re) : fabs(z.im);
    return !(most >= 0x1p-500 && most <= 0x1p+500) || z.re != z.re || z.im != z.im;
}

static inline bcg_c128 bcg_log_common_c128(bcg_c128 z)
{
    const double ax = fabs(z.re), ay = fabs(z.im), most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
    const double near = bcg_log1p_f64(bcg_squares_less_one(most, least));
    const double far = bcg_log_f64(most * most + least * least);
    return bcg_make_c128(0.5 * (most > 0.5 && most < 1.5 ? near : far), bcg_arctan2_f64(z.im, z.re));
}

static inline bcg_c128 bcg_log_c128(bcg_c128 z)
{
    return bcg_make_c128(bcg_log_size(z.re, z.im), bcg_arctan2_f64(z.im, z.re));
}

static inline bcg_c128 bcg_log2_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_log_c128(z);
    return bcg_make_c128(w.re * 0x1.71547652b82fep+0, w.im * 0x1.71547652b82fep+0);
}

static inline bcg_c128 bcg_log10_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_log_c128(z);
    return bcg_make_c128(w.re * 0x1.bcb7b1526e50ep-2, w.im * 0x1.bcb7b1526e50ep-2);
}

/* Near 0 the square of |1 + z| is 1 + 2 x + x^2 + y^2, where sums may cancel; elsewhere 1 + x is as good as exact. */
static inline bcg_c128 bcg_log1p_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
    const double angle = bcg_arctan2_f64(y, 1 + x);
    if (!(ax < 2 && ay < 2) || (x < -0.5 && ay < 0.5)) return bcg_make_c128(bcg_log_size(1 + x, y), angle);
    const double a = x * x, b = y * y, one = 2 * x + a, sum = one + b;
    const double low = bcg_any_sum_low_f64(2 * x, a, one) + bcg_any_sum_low_f64(one, b, sum);
    const double rest = low + (bcg_square_low(x, a) + bcg_square_low(y, b));
    return bcg_make_c128(0.5 * bcg_log1p_f64(sum + rest), angle);
}

static inline bcg_c128 bcg_sqrt_c128(bcg_c128 z)
{
    double x = z.re, y = z.im;
    if (x == 0 && y == 0) return bcg_make_c128(0, y);
    if (bcg_infinite_part(y)) return bcg_make_c128((double)INFINITY, y);
    if (x != x) return bcg_make_c128((double)NAN, (double)NAN);
    if (bcg_infinite_part(x)) {
        const double other = y != y ? y : 0;
        return x > 0 ? bcg_make_c128(x, copysign(other, y)) : bcg_make_c128(other, copysign(x, y));
    }
    if (y != y) return bcg_make_c128((double)NAN, (double)NAN);
    /* Powers of 4 keep |z| + |x| within range, and normal. */
    const double most = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    const double scale = most > 0x1p+1020 ? 0x1p-4 : most < 0x1p-960 ? 0x1p+108 : 1;
    const double back = most > 0x1p+1020 ? 0x1p+2 : most < 0x1p-960 ? 0x1p-54 : 1;
    x *= scale;
    y *= scale;
    const double root = sqrt(0.5 * (bcg_hypot_f64(x, y) + fabs(x))), other = fabs(y) / (2 * root);
    return x >= 0 ? bcg_make_c128(root * back, copysign(other * back, y))
                  : bcg_make_c128(other * back, copysign(root * back, y));
}

static inline bool bcg_sqrt_is_rare_c128(bcg_c128 z)
{
    const double most = fabs(z.re) > fabs(z.im) ? fabs(z.re) : fabs(z.im);
    return !(most >= 0x1p-960 && most <= 0x1p+1020) || z.re != z.re || z.im != z.im;
}

static inline bcg_c128 bcg_sqrt_common_c128(bcg_c128 z)
{
    const double root = sqrt(0.5 * (bcg_hypot_f64(z.re, z.im) + fabs(z.re))), other = fabs(z.im) / (2 * root);
    return bcg_make_c128(z.re >= 0 ? root : other, copysign(z.re >= 0 ? other : root, z.im));
}

static inline bool bcg_sinh_is_rare_c128(bcg_c128 z) { return bcg_exp_is_rare_c128(z); }

static inline bcg_c128 bcg_sinh_common_c128(bcg_c128 z)
{
    const double c = bcg_cos_common_f64(z.im), s = bcg_sin_common_f64(z.im);
    return bcg_make_c128(bcg_sinh_f64(z.re) * c, bcg_cosh_f64(z.re) * s);
}

static inline bcg_c128 bcg_sinh_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im;
    if (y == 0) return bcg_make_c128(bcg_sinh_f64(x), y);
    if (!bcg_finite_part(y)) {
        if (x == 0) return bcg_make_c128(x, (double)NAN);
        return bcg_make_c128(bcg_infinite_part(x) ? (double)INFINITY : (double)NAN, (double)NAN);
    }
    const double c = bcg_cos_f64(y), s = bcg_sin_f64(y);
    if (!(fabs(x) < 700)) return bcg_exp_times(fabs(x), 0.5, copysign(1, x) * c, s);
    return bcg_make_c128(bcg_sinh_f64(x) * c, bcg_cosh_f64(x) * s);
}

static inline bool bcg_cosh_is_rare_c128(bcg_c128 z) { return bcg_exp_is_rare_c128(z); }

static inline bcg_c128 bcg_cosh_common_c128(bcg_c128 z)
{
    const double c = bcg_cos_common_f64(z.im), s = bcg_sin_common_f64(z.im);
    return bcg_make_c128(bcg_cosh_f64(z.re) * c, bcg_sinh_f64(z.re) * s);
}

static inline bcg_c128 bcg_cosh_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im;
    if (y == 0) return bcg_make_c128(bcg_cosh_f64(x), x == x ? copysign(0, x) * y : y);
    if (!bcg_finite_part(y)) {
        if (x == 0) return bcg_make_c128((double)NAN, 0);
        return bcg_make_c128(bcg_infinite_part(x) ? (double)INFINITY : (double)NAN, (double)NAN);
    }
    const double c = bcg_cos_f64(y), s = bcg_sin_f64(y);
    if (!(fabs(x) < 700)) return bcg_exp_times(fabs(x), 0.5, c, copysign(1, x) * s);
    return bcg_make_c128(bcg_cosh_f64(x) * c, bcg_sinh_f64(x) * s);
}

static inline bcg_c128 bcg_tanh_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im;
    if (x != x) return bcg_make_c128(x, y == 0 ? y : (double)NAN);
    if (bcg_infinite_part(x)) {
        const double turn = bcg_finite_part(y) ? bcg_sin_f64(y) * bcg_cos_f64(y) : y;
        return bcg_make_c128(copysign(1, x), copysign(0, turn));
    }
    if (!bcg_finite_part(y)) return bcg_make_c128(x == 0 ? x : (double)NAN, (double)NAN);
    if (fabs(x) >= 22) {
        const double small = bcg_exp_f64(-fabs(x));
        return bcg_make_c128(copysign(1, x), 4 * bcg_sin_f64(y) * bcg_cos_f64(y) * small * small);
    }
    const double t = bcg_tan_f64(y), beta = 1 + t * t, s = bcg_sinh_f64(x), rho = bcg_cosh_f64(x);
    const double below = 1 + beta * s * s;
    return bcg_make_c128(beta * rho * s / below, t / below);
}

/* -i sinh(i z), by the symmetry of sinh; others like it are made in the same way. */
static inline bcg_c128 bcg_sin_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_sinh_c128(bcg_make_c128(z.im, z.re));
    return bcg_make_c128(w.im, w.re);
}

static inline bool bcg_sin_is_rare_c128(bcg_c128 z) { return bcg_exp_is_rare_c128(bcg_make_c128(z.im, z.re)); }

static inline bcg_c128 bcg_sin_common_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_sinh_common_c128(bcg_make_c128(z.im, z.re));
    return bcg_make_c128(w.im, w.re);
}

static inline bool bcg_cos_is_rare_c128(bcg_c128 z) { return bcg_sin_is_rare_c128(z); }

static inline bcg_c128 bcg_cos_common_c128(bcg_c128 z) { return bcg_cosh_common_c128(bcg_make_c128(-z.im, z.re)); }

static inline bcg_c128 bcg_cos_c128(bcg_c128 z) { return bcg_cosh_c128(bcg_make_c128(-z.im, z.re)); }

static inline bcg_c128 bcg_tan_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_tanh_c128(bcg_make_c128(z.im, z.re));
    return bcg_make_c128(w.im, w.re);
}

/* z^n by squares, as NumPy has it for whole exponents of a few bits, for n other than 0. */
static inline bcg_c128 bcg_whole_power_c128(bcg_c128 z, int n)
{
    bcg_c128 power = z, square = z;
    bool is_begun = false;
    for (int left = n < 0 ? -n : n; left > 0; left /= 2) {
        /* Not times 1 first: with an infinity that is NaN. */
        if (left % 2 == 1) power = is_begun ? bcg_multiply_c128(power, square) : square;
        is_begun = is_begun || left % 2 == 1;
        square = bcg_multiply_c128(square, square);
    }
    return n < 0 ? bcg_divide_c128(bcg_make_c128(1, 0), power) : power;
}

/* The angle of z^w is w.re * arg z + w.im * log |z|, and the logarithm of its size w.re * log |z| - w.im * arg z. */
static inline bcg_c128 bcg_power_c128(bcg_c128 z, bcg_c128 w)
{
    if (w.re == 0 && w.im == 0) return bcg_make_c128(1, 0);
    if (z.re == 0 && z.im == 0) return w.re > 0 ? bcg_make_c128(0, 0) : bcg_make_c128((double)NAN, (double)NAN);
    if (w.im == 0 && fabs(w.re) < 100 && w.re == rint(w.re)) return bcg_whole_power_c128(z, (int)w.re);
    return bcg_exp_c128(bcg_multiply_c128(w, bcg_log_c128(z)));
}

static inline bcg_c64 bcg_exp_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_exp_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_exp_is_rare_c64(bcg_c64 z) { return bcg_exp_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_exp_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_exp_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_exp2_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_exp2_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_expm1_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_expm1_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_log_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_log_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_log_is_rare_c64(bcg_c64 z) { return bcg_log_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_log_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_log_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_log2_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_log2_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_log10_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_log10_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_log1p_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_log1p_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_sqrt_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_sqrt_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_sqrt_is_rare_c64(bcg_c64 z) { return bcg_sqrt_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_sqrt_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_sqrt_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_sin_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_sin_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_sin_is_rare_c64(bcg_c64 z) { return bcg_sin_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_sin_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_sin_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_cos_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_cos_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_cos_is_rare_c64(bcg_c64 z) { return bcg_cos_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_cos_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_cos_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_tan_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_tan_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_sinh_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_sinh_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_sinh_is_rare_c64(bcg_c64 z) { return bcg_sinh_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_sinh_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_sinh_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_cosh_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_cosh_c128(bcg_c64_to_c128(z))); }

static inline bool bcg_cosh_is_rare_c64(bcg_c64 z) { return bcg_cosh_is_rare_c128(bcg_c64_to_c128(z)); }

static inline bcg_c64 bcg_cosh_common_c64(bcg_c64 z)
{
    return bcg_c128_to_c64(bcg_cosh_common_c128(bcg_c64_to_c128(z)));
}

static inline bcg_c64 bcg_tanh_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_tanh_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_power_c64(bcg_c64 z, bcg_c64 w)
{
    return bcg_c128_to_c64(bcg_power_c128(bcg_c64_to_c128(z), bcg_c64_to_c128(w)));
}

#endif
