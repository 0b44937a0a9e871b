/* bcg_vmath_special.h: functions made of others: sums of logarithms, probabilities, activations, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of NumPy and
 * SciPy. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * What loses digits on the way in f32 is computed in f64 and rounded once.
 */
#ifndef BCG_VMATH_SPECIAL_H
#define BCG_VMATH_SPECIAL_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_erf.h"
#include "bcg_vmath_exp.h"
#include "bcg_vmath_hyperbolic.h"
#include "bcg_vmath_inverse_hyperbolic.h"
#include "bcg_vmath_log.h"
#include "bcg_vmath_log1p.h"

static inline float bcg_rad2deg_f32(float x) { return x * 0x1.ca5dc2p+5f; }

static inline double bcg_rad2deg_f64(double x) { return x * 0x1.ca5dc1a63c1f8p+5; }

static inline float bcg_deg2rad_f32(float x) { return x * 0x1.1df46ap-6f; }

static inline double bcg_deg2rad_f64(double x) { return x * 0x1.1df46a2529d39p-6; }

/* The larger one, and log(1 + e^-d) with the rounding error of the distance d. */
static inline double bcg_logaddexp_f64(double x, double y)
{
    const double large = x > y ? x : y, small = x > y ? y : x, less = small - large;
    const double lost = bcg_any_sum_low_f64(small, -large, less), e = bcg_exp_f64(less);
    const double rest = bcg_log1p_f64(e) + (fabs(lost) <= 1 ? lost * (e / (1 + e)) : 0);
    return large + (x == y ? 0x1.62e42fefa39efp-1 : rest);
}

static inline float bcg_logaddexp_f32(float x, float y) { return (float)bcg_logaddexp_f64((double)x, (double)y); }

/* log2(2^x + 2^y): the larger one, and log2(1 + 2^-d) of the distance d. */
static inline double bcg_logaddexp2_f64(double x, double y)
{
    const double large = x > y ? x : y, small = x > y ? y : x, less = small - large;
    const double lost = bcg_any_sum_low_f64(small, -large, less), e = bcg_exp2_f64(less), log = bcg_log1p_f64(e);
    const double part = bcg_fma_f64(log, 0x1.777d0ffda0d24p-56, fabs(lost) <= 1 ? lost * (e / (1 + e)) : 0);
    return large + (x == y ? 1 : bcg_fma_f64(log, BCG_LOG2_E_F64, part));
}

static inline float bcg_logaddexp2_f32(float x, float y) { return (float)bcg_logaddexp2_f64((double)x, (double)y); }

/* log(1 + e^x). */
static inline double bcg_softplus_f64(double x)
{
    const double rest = bcg_log1p_f64(bcg_exp_f64(-fabs(x)));
    return x > 0 ? x + rest : rest;
}

static inline float bcg_softplus_f32(float x) { return (float)bcg_softplus_f64((double)x); }

/* x e^x of a negative x, where e^x alone may be subnormal. */
static inline double bcg_exp_times_f64(double x)
{
    const double kept = x > -1600 ? x : -1600, root = bcg_exp_f64(kept * 0.5);
    return kept * root * root;
}

/* x / (1 + e^-x). */
static inline double bcg_silu_f64(double x)
{
    return x < -700 ? bcg_exp_times_f64(x) : x * bcg_sigmoid_f64(x);
}

static inline float bcg_silu_f32(float x) { return (float)bcg_silu_f64((double)x); }

/* x tanh(log(1 + e^x)): with n = e^x (e^x + 2) it is x n / (n + 2). */
static inline double bcg_mish_f64(double x)
{
    const double e = bcg_exp_f64(x < 40 ? x : 40), n = e * (e + 2);
    return x < -700 ? bcg_exp_times_f64(x) : x >= 40 ? x : x * (n / (n + 2));
}

static inline float bcg_mish_f32(float x) { return (float)bcg_mish_f64((double)x); }

/* bcg_erfc_f64(x) times a factor, which may keep it from underflow. It is written out, since gcc 12 inlines no
 * function of that size that both call, and a loop over a call is not vectorised. */
static inline double bcg_erfc_times_f64(double x, double factor)
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
    const double far = scaled * factor * bcg_from_bits_f64(one << 52) * bcg_from_bits_f64((both - one) << 52);
    return bcg_erf_side_f64(y - 0.5, near * factor, x < 0 ? 2 * factor - far : far);
}

/* factor erfc(-x / sqrt(2)). The product with sqrt(1/2) is off by a rounding error, by which erfc changes 2z times as much. */
static inline double bcg_below_times_f64(double x, double factor)
{
    const double kept = fabs(x) < 64 ? x : copysign(64, x), z = -kept * 0x1.6a09e667f3bcdp-1;
    const double low = bcg_fma_f64(-kept, -0x1.bdd3413b26456p-55, bcg_prod_low_f64(-kept, 0x1.6a09e667f3bcdp-1, z));
    const double slope = z > 0 ? z + sqrt(bcg_fma_f64(z, z, 2)) : 0, value = bcg_erfc_times_f64(z, factor);
    /* Of a zero the difference would lose the sign. */
    const double exact = slope > 0 && value != 0 ? value - value * (low * slope) : value;
    return x == x ? exact : x;
}

/* The probability that a normally distributed number is less than x. */
static inline double bcg_ndtr_f64(double x) { return bcg_below_times_f64(x, 0.5); }

static inline float bcg_ndtr_f32(float x) { return (float)bcg_ndtr_f64((double)x); }

/* x ndtr(x). */
static inline double bcg_gelu_f64(double x)
{
    const double kept = x < -64 ? -64 : x;
    return x > 64 ? x : bcg_below_times_f64(kept, 0.5 * kept);
}

static inline float bcg_gelu_f32(float x) { return (float)bcg_gelu_f64((double)x); }

/* log(x / (1 - x)). From 1/4 on 2 x - 1 is exact. */
static inline double bcg_logit_f64(double x)
{
    const double half = bcg_arctanh_f64(2 * x - 1), far = bcg_log_f64(x) - bcg_log1p_f64(-x);
    return x < 0.25 ? far : half + half;
}

static inline float bcg_logit_f32(float x) { return (float)bcg_logit_f64((double)x); }

/* x log(y); 0 where x is, unless y is NaN. */
static inline double bcg_xlogy_f64(double x, double y)
{
    const double product = x * bcg_log_f64(y);
    return ((x == 0) & (y == y)) ? 0 : product;
}

static inline float bcg_xlogy_f32(float x, float y) { return (float)bcg_xlogy_f64((double)x, (double)y); }

/* x log(1 + y); 0 where x is, unless y is NaN. */
static inline double bcg_xlog1py_f64(double x, double y)
{
    const double product = x * bcg_log1p_f64(y);
    return ((x == 0) & (y == y)) ? 0 : product;
}

static inline float bcg_xlog1py_f32(float x, float y) { return (float)bcg_xlog1py_f64((double)x, (double)y); }

/* p(r) / q(r), of degree 7: M. J. Wichura, The percentage points of the normal distribution, AS 241, 1988. */
static inline double bcg_ndtri_ratio_f64(double r, int near, int far)
{
    double p = near ? 2.5090809287301226727e+3 : far ? 2.01033439929228813265e-7 : 7.74545014278341407640e-4;
    p = bcg_fma_f64(p, r, near ? 3.3430575583588128105e+4 : far ? 2.71155556874348757815e-5 : 2.27238449892691845833e-2);
    p = bcg_fma_f64(p, r, near ? 6.7265770927008700853e+4 : far ? 1.24266094738807843860e-3 : 2.41780725177450611770e-1);
    p = bcg_fma_f64(p, r, near ? 4.5921953931549871457e+4 : far ? 2.65321895265761230930e-2 : 1.27045825245236838258);
    p = bcg_fma_f64(p, r, near ? 1.3731693765509461125e+4 : far ? 2.96560571828504891230e-1 : 3.64784832476320460504);
    p = bcg_fma_f64(p, r, near ? 1.9715909503065514427e+3 : far ? 1.78482653991729133580 : 5.76949722146069140550);
    p = bcg_fma_f64(p, r, near ? 1.3314166789178437745e+2 : far ? 5.46378491116411436990 : 4.63033784615654529590);
    p = bcg_fma_f64(p, r, near ? 3.3871328727963666080 : far ? 6.65790464350110377720 : 1.42343711074968357734);
    double q = near ? 5.2264952788528545610e+3 : far ? 2.04426310338993978564e-15 : 1.05075007164441684324e-9;
    q = bcg_fma_f64(q, r, near ? 2.8729085735721942674e+4 : far ? 1.42151175831644588870e-7 : 5.47593808499534494600e-4);
    q = bcg_fma_f64(q, r, near ? 3.9307895800092710610e+4 : far ? 1.84631831751005468180e-5 : 1.51986665636164571966e-2);
    q = bcg_fma_f64(q, r, near ? 2.1213794301586595867e+4 : far ? 7.86869131145613259100e-4 : 1.48103976427480074590e-1);
    q = bcg_fma_f64(q, r, near ? 5.3941960214247511077e+3 : far ? 1.48753612908506148525e-2 : 6.89767334985100004550e-1);
    q = bcg_fma_f64(q, r, near ? 6.8718700749205790830e+2 : far ? 1.36929880922735805310e-1 : 1.67638483018380384940);
    q = bcg_fma_f64(q, r, near ? 4.2313330701600911252e+1 : far ? 5.99832206555887937690e-1 : 2.05319162663775882187);
    return p / bcg_fma_f64(q, r, 1);
}

/* factor ndtri(1/2 + q), whose distance from the nearer one of 0 and 1 is `tail`, off by some units in the last place. */
static inline double bcg_ndtri_start_f64(double q, double tail, double factor)
{
    const int near = fabs(q) <= 0.425;
    const double root = sqrt(-bcg_log_f64(tail)), r = near ? 0.180625 - q * q : root > 5 ? root - 5 : root - 1.6;
    const double ratio = bcg_ndtri_ratio_f64(r, near, root > 5);
    return near ? ratio * (q * factor) : copysign(ratio * factor, q);
}

/* What Newton's step adds to y, which is close to erfinv(2 q): by erf up to |q| = 1/4, else by erfc, whose derivative is
 * -erfc(y) (y + sqrt(y^2 + 1.6)) within some percent. */
static inline double bcg_erfinv_step_f64(double y, double q, double tail)
{
    const double size = fabs(y), kept = size < 1 ? size : 1, far = bcg_erfc_times_f64(size, 0x1p+300);
    const double near = (2 * fabs(q) - bcg_erf_f64(kept)) * (0x1.c5bf891b4ef6bp-1 * bcg_exp_f64(kept * kept));
    const double beyond = (1 - tail * 0x1p+301 / far) / (size + sqrt(bcg_fma_f64(size, size, 1.6)));
    return copysign(1, q) * (fabs(q) <= 0.25 ? near : beyond);
}

/* The number that a normally distributed one is less than with this probability. The step is taken by erfinv, for a
 * start whose product with sqrt(1/2) is off by a rounding error. */
static inline double bcg_ndtri_f64(double x)
{
    const double q = x - 0.5, tail = x < 0.5 ? x : 1 - x, start = bcg_ndtri_start_f64(q, tail, 1);
    const double y = start * 0x1.6a09e667f3bcdp-1;
    const double low = bcg_fma_f64(start, -0x1.bdd3413b26456p-55, bcg_prod_low_f64(start, 0x1.6a09e667f3bcdp-1, y));
    const double value = start + (bcg_erfinv_step_f64(y, q, tail) - low) * 0x1.6a09e667f3bcdp+0;
    return tail > 0 ? (q == 0 ? q : value) : tail == 0 ? copysign((double)INFINITY, q) : (double)NAN;
}

static inline float bcg_ndtri_f32(float x) { return (float)bcg_ndtri_f64((double)x); }

static inline double bcg_erfinv_f64(double x)
{
    const double q = 0.5 * x, tail = 0.5 - 0.5 * fabs(x), y = bcg_ndtri_start_f64(q, tail, 0x1.6a09e667f3bcdp-1);
    const double value = y + bcg_erfinv_step_f64(y, q, tail);
    return tail > 0 ? (fabs(x) < 0x1p-500 ? x * 0x1.c5bf891b4ef6bp-1 : value) : tail == 0 ? copysign((double)INFINITY, x) : (double)NAN;
}

static inline float bcg_erfinv_f32(float x) { return (float)bcg_erfinv_f64((double)x); }

/* log(ndtr(x)): from 0 on 1 less a probability; down to -1 of a probability; below, as erfc has it, -x^2 / 2 and the
 * logarithm of a number that changes slowly. */
static inline double bcg_log_ndtr_f64(double x)
{
    const double above = bcg_log1p_f64(-bcg_ndtr_f64(-fabs(x))), close = bcg_log_f64(bcg_ndtr_f64(x < -2 ? -2 : x));
    const double size = x < -1 ? -x : 1, y = size * 0x1.6a09e667f3bcdp-1, t = 1 / (size * size);
    const double kept = y < 28 ? y : 28, u = 1 / bcg_fma_f64(kept, 0.5, 1), v = u - 0.4375;
    const double slow = bcg_log_f64(0.5 * u) + bcg_fma_f64(v, bcg_erfc_log_f64(v), -0x1.82955dd9800fcp-1);
    const double last = bcg_fma_f64(t, bcg_fma_f64(t, bcg_fma_f64(t, -945, 105), -15), 3);
    const double tail = bcg_fma_f64(t, bcg_fma_f64(t, last, -1), 1);
    const double slower = bcg_log_f64(0x1.9884533d43651p-2 / size * tail);
    const double half = 0.5 * size * size, low = bcg_prod_low_f64(0.5 * size, size, half);
    const double far = ((y < 28 ? slow : slower) - (half < (double)INFINITY ? low : 0)) - half;
    return x != x ? x : x >= 0 ? above : x > -1 ? close : far;
}

static inline float bcg_log_ndtr_f32(float x) { return (float)bcg_log_ndtr_f64((double)x); }

/* i0(x) for |x| up to 8, of s = x^2. Minimax fit i0_near_f64: error 2^-54.8 */
static inline double bcg_i0_near_f64(double s)
{
    double value = 0x1.1cafee5e0953ap-110;
    value = bcg_fma_f64(value, s, 0x1.108b40a68ab07p-101);
    value = bcg_fma_f64(value, s, 0x1.f2a30e9243aeep-92);
    value = bcg_fma_f64(value, s, 0x1.40a5da388f912p-82);
    value = bcg_fma_f64(value, s, 0x1.69e61fa6d6221p-73);
    value = bcg_fma_f64(value, s, 0x1.55ff4d79666bfp-64);
    value = bcg_fma_f64(value, s, 0x1.0b3153e7d6b13p-55);
    value = bcg_fma_f64(value, s, 0x1.522a4126998a7p-47);
    value = bcg_fma_f64(value, s, 0x1.522a44218f985p-39);
    value = bcg_fma_f64(value, s, 0x1.02e85c06c946bp-31);
    value = bcg_fma_f64(value, s, 0x1.23456789c5e6bp-24);
    value = bcg_fma_f64(value, s, 0x1.c71c71c71a937p-18);
    value = bcg_fma_f64(value, s, 0x1.c71c71c71c85bp-12);
    value = bcg_fma_f64(value, s, 0x1.ffffffffffff3p-7);
    value = bcg_fma_f64(value, s, 0x1p-2);
    value = bcg_fma_f64(value, s, 0x1p+0);
    return value;
}

/* sqrt(x) i0(x) / e^x from 8 on, of v = 1 / x - 1 / 16. Minimax fit i0_far_f64: error 2^-53.8 */
static inline double bcg_i0_far_f64(double v)
{
    double value = 0x1.88b462a18470cp+54;
    value = bcg_fma_f64(value, v, 0x1.5eb36ddfb31ap+49);
    value = bcg_fma_f64(value, v, -0x1.604c1dd50879fp+49);
    value = bcg_fma_f64(value, v, -0x1.482ef7558cb5fp+44);
    value = bcg_fma_f64(value, v, 0x1.27162c0a36de7p+43);
    value = bcg_fma_f64(value, v, 0x1.3a940fafa6304p+38);
    value = bcg_fma_f64(value, v, -0x1.362be73e40b03p+36);
    value = bcg_fma_f64(value, v, -0x1.b5611a777cfa9p+31);
    value = bcg_fma_f64(value, v, 0x1.bf8d5c735aa32p+28);
    value = bcg_fma_f64(value, v, 0x1.fa8e3a3270978p+24);
    value = bcg_fma_f64(value, v, -0x1.58a2249ac5c45p+20);
    value = bcg_fma_f64(value, v, -0x1.ca72e2f8c7f4fp+17);
    value = bcg_fma_f64(value, v, -0x1.d72b77ea7d02fp+12);
    value = bcg_fma_f64(value, v, 0x1.030b498b123c5p+9);
    value = bcg_fma_f64(value, v, 0x1.72873d947dd93p+6);
    value = bcg_fma_f64(value, v, 0x1.51d34cea09727p+3);
    value = bcg_fma_f64(value, v, 0x1.7d0ce4933d7abp+0);
    value = bcg_fma_f64(value, v, 0x1.3f499b9d0bf86p-2);
    value = bcg_fma_f64(value, v, 0x1.8e513c51a77a5p-4);
    value = bcg_fma_f64(value, v, 0x1.75e5ee751ae02p-5);
    value = bcg_fma_f64(value, v, 0x1.1daa72b5cea8ep-5);
    value = bcg_fma_f64(value, v, 0x1.b87969bb93aeep-5);
    value = bcg_fma_f64(value, v, 0x1.9bd428ad249a5p-2);
    return value;
}

/* The modified Bessel function of the first kind and order 0. The rounding error of x^2 counts up to four times; e^x is
 * a product of two powers of 2, since it may overflow alone, and of a number with what that lacks. */
static inline double bcg_i0_f64(double x)
{
    const double size = fabs(x), y = size < 8 ? size : 8, s = y * y, value = bcg_i0_near_f64(s);
    const double near = bcg_fma_f64(value, bcg_prod_low_f64(y, y, s) * 0.5 / (1 + sqrt(1 + s)), value);
    const double z = size > 8 ? size : 8, kept = z < 720 ? z : 720, scale = bcg_i0_far_f64(1 / kept - 0.0625) / sqrt(kept);
    const double whole = bcg_fma_f64(kept, BCG_LOG2_E_F64, BCG_SHIFT_F64 + 2046), k = whole - (BCG_SHIFT_F64 + 2046);
    const double first = kept - k * BCG_LN2_HIGH_F64, second = -k * BCG_LN2_LOW_F64, r = first + second;
    const double e = 1 + r, e_low = bcg_sum_low_f64(1, r, e) + bcg_any_sum_low_f64(first, second, r);
    const double rest = bcg_fma_f64(r * r, bcg_erf_exp_tail_f64(r), e_low);
    const uint64_t both = bcg_bits_f64(whole), one = both >> 1;
    const double scaled = bcg_fma_f64(rest, scale, e * scale) * bcg_from_bits_f64(one << 52);
    return size <= 8 ? near : size < (double)INFINITY ? scaled * bcg_from_bits_f64((both - one) << 52) : size;
}

static inline float bcg_i0_f32(float x) { return (float)bcg_i0_f64((double)x); }

#endif
