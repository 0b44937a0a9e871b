/* bcg_complex_inverse.h: inverse trigonometric and hyperbolic functions of complex numbers, bcg_<function>_<dtype>.
 *
 * Contract. That of bcg_complex_functions.h.
 *
 * They follow T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, Implementing the complex arcsine and arccosine functions
 * using exception handling, ACM TOMS 23 (1997).
 */
#ifndef BCG_COMPLEX_INVERSE_H
#define BCG_COMPLEX_INVERSE_H

#include "bcg_complex_functions.h"
#include "bcg_vmath_inverse_hyperbolic.h"

/* (hypot(a, b) - b) / 2 without cancellation, for a >= 0. */
static inline double bcg_half_excess(double a, double b, double hypot)
{
    return b < 0 ? 0.5 * (hypot - b) : b == 0 ? 0.5 * a : 0.5 * (a * a / (hypot + b));
}

/* Of arcsinh(x + i y), x and y in [0, 2^52]: the real part; y / A where `is_sine`, whose arcsine is the imaginary part,
 * which else is the angle of (root, y). A is half the sum of the distances from i and from -i. */
typedef struct {
    double re, sine, root, y;
    bool is_sine;
} bcg_arc_parts;

static inline double bcg_arc_real(double x, double y, double r, double s, double a)
{
    if (a >= 10) return bcg_log_f64(a + sqrt(a * a - 1));
    if (y == 1 && x < 0x1p-111) return sqrt(x);
    if (x >= 0x1p-52 * fabs(y - 1)) {
        const double above = bcg_half_excess(x, 1 + y, r) + bcg_half_excess(x, 1 - y, s);
        return bcg_log1p_f64(above + sqrt(above * (a + 1)));
    }
    return y < 1 ? x / sqrt((1 - y) * (1 + y)) : bcg_log1p_f64((y - 1) + sqrt((y - 1) * (y + 1)));
}

static inline bcg_arc_parts bcg_arc_of(double x, double y)
{
    const double r = bcg_hypot_f64(x, y + 1), s = bcg_hypot_f64(x, y - 1), half = 0.5 * (r + s);
    const double a = half < 1 ? 1 : half;
    bcg_arc_parts found;
    found.re = bcg_arc_real(x, y, r, s, a);
    found.y = y;
    found.sine = y / a;
    found.root = 0;
    found.is_sine = y >= 0x1p-509 && found.sine <= 0.6417;
    if (y < 0x1p-509) {
        found.root = a * 0x1p+53;
        found.y = y * 0x1p+53;
    } else if (!found.is_sine) {
        if (y == 1 && x < 0x1p-59) {
            found.root = sqrt(x) * sqrt(0.5 * (a + y));
        } else if (x >= 0x1p-52 * fabs(y - 1)) {
            const double above = bcg_half_excess(x, y + 1, r) + bcg_half_excess(x, y - 1, s);
            found.root = sqrt(above * (a + y));
        } else if (y > 1) {
            found.root = x * 0x1p+106 * y / sqrt((y + 1) * (y - 1));
            found.y = y * 0x1p+106;
        } else {
            found.root = sqrt((1 - y) * (1 + y));
        }
    }
    return found;
}

static inline bcg_c128 bcg_arcsinh_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
    if (x != x || y != y) {
        if (bcg_infinite_part(x)) return bcg_make_c128(x, (double)NAN);
        if (bcg_infinite_part(y)) return bcg_make_c128((double)INFINITY, (double)NAN);
        return y == 0 ? bcg_make_c128((double)NAN, y) : bcg_make_c128((double)NAN, (double)NAN);
    }
    if (ax > 0x1p+52 || ay > 0x1p+52) {
        const double angle = bcg_arctan2_f64(ay, ax);
        return bcg_make_c128(copysign(bcg_log_size(x, y) + BCG_LN2, x), copysign(angle, y));
    }
    if (ax < 0x1p-27 && ay < 0x1p-27) return z;
    const bcg_arc_parts w = bcg_arc_of(ax, ay);
    const double angle = w.is_sine ? bcg_arcsin_f64(w.sine) : bcg_arctan2_f64(w.y, w.root);
    return bcg_make_c128(copysign(w.re, x), copysign(angle, y));
}

static inline bcg_c128 bcg_arccos_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
    if (x != x || y != y) {
        if (bcg_infinite_part(x)) return bcg_make_c128((double)NAN, -(double)INFINITY);
        if (bcg_infinite_part(y)) return bcg_make_c128((double)NAN, -y);
        return bcg_make_c128(x == 0 ? BCG_HALF_PI : (double)NAN, (double)NAN);
    }
    if (ax > 0x1p+52 || ay > 0x1p+52) {
        const double size = bcg_log_size(x, y) + BCG_LN2;
        return bcg_make_c128(fabs(bcg_arctan2_f64(y, x)), copysign(size, -y));
    }
    if (x == 1 && y == 0) return bcg_make_c128(0, -y);
    if (ax < 0x1p-27 && ay < 0x1p-27) return bcg_make_c128(BCG_HALF_PI - (x - 0x1.1a62633145c07p-54), -y);
    const bcg_arc_parts w = bcg_arc_of(ay, ax);
    const double angle = w.is_sine ? bcg_arccos_f64(copysign(w.sine, x)) : bcg_arctan2_f64(w.root, copysign(w.y, x));
    return bcg_make_c128(angle, copysign(w.re, -y));
}

static inline bcg_c128 bcg_arcsin_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_arcsinh_c128(bcg_make_c128(z.im, z.re));
    return bcg_make_c128(w.im, w.re);
}

/* arccosh z = i arccos z or -i arccos z, whichever has a positive real part. */
static inline bcg_c128 bcg_arccosh_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_arccos_c128(z);
    if (w.re != w.re) return bcg_make_c128(fabs(w.im), w.re);
    if (w.im != w.im) return bcg_make_c128(w.im, z.re == 0 ? BCG_HALF_PI : w.im);
    return bcg_make_c128(fabs(w.im), copysign(w.re, z.im));
}

/* Re 1/(x + i y), for |x| or |y| above 2^52. */
static inline double bcg_real_reciprocal(double x, double y)
{
    const double ax = fabs(x), ay = fabs(y);
    if (bcg_infinite_part(x) || bcg_infinite_part(y)) return copysign(0, x);
    if (ax >= ay * 0x1p+28) return 1 / x;
    if (ay >= ax * 0x1p+28) return x / y / y;
    const double scale = ax > 0x1p+500 ? 0x1p-540 : 1;
    const double xs = x * scale, ys = y * scale;
    return xs / (xs * xs + ys * ys) * scale;
}

static inline bcg_c128 bcg_arctanh_c128(bcg_c128 z)
{
    const double x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
    if (y == 0 && ax <= 1) return bcg_make_c128(bcg_arctanh_f64(x), y);
    if (x == 0) return bcg_make_c128(x, bcg_arctan_f64(y));
    if (x != x || y != y) {
        if (bcg_infinite_part(x)) return bcg_make_c128(copysign(0, x), (double)NAN);
        if (bcg_infinite_part(y)) return bcg_make_c128(copysign(0, x), copysign(BCG_HALF_PI, y));
        return bcg_make_c128((double)NAN, (double)NAN);
    }
    if (ax > 0x1p+52 || ay > 0x1p+52) return bcg_make_c128(bcg_real_reciprocal(x, y), copysign(BCG_HALF_PI, y));
    if (ax < 0x1p-27 && ay < 0x1p-27) return z;
    const double apart = ax - 1, size = apart * apart + (ay < 0x1p-511 ? 0 : ay * ay);
    const double re = ax == 1 && ay < 0x1p-52 ? 0.5 * (BCG_LN2 - bcg_log_f64(ay)) : 0.25 * bcg_log1p_f64(4 * ax / size);
    const double side = ax == 1 ? -ay * ay : (1 - ax) * (1 + ax) - (ay < 0x1p-52 ? 0 : ay * ay);
    const double angle = ax == 1 ? bcg_arctan2_f64(2, -ay) : bcg_arctan2_f64(2 * ay, side);
    return bcg_make_c128(copysign(re, x), copysign(0.5 * angle, y));
}

static inline bcg_c128 bcg_arctan_c128(bcg_c128 z)
{
    const bcg_c128 w = bcg_arctanh_c128(bcg_make_c128(z.im, z.re));
    return bcg_make_c128(w.im, w.re);
}

static inline bcg_c64 bcg_arcsin_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_arcsin_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_arccos_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_arccos_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_arctan_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_arctan_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_arcsinh_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_arcsinh_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_arccosh_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_arccosh_c128(bcg_c64_to_c128(z))); }

static inline bcg_c64 bcg_arctanh_c64(bcg_c64 z) { return bcg_c128_to_c64(bcg_arctanh_c128(bcg_c64_to_c128(z))); }

#endif
