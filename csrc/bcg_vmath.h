/* bcg_vmath.h: the mathematical functions, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument. Error at most the bound of the op's row. Each definition stands between blank
 * lines and uses only what stands above it or in the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_VMATH_H
#define BCG_VMATH_H

#include <math.h>

static inline float bcg_exp_f32(float x) { return expf(x); }

static inline double bcg_exp_f64(double x) { return exp(x); }

static inline float bcg_exp2_f32(float x) { return exp2f(x); }

static inline double bcg_exp2_f64(double x) { return exp2(x); }

static inline float bcg_expm1_f32(float x) { return expm1f(x); }

static inline double bcg_expm1_f64(double x) { return expm1(x); }

static inline float bcg_log_f32(float x) { return logf(x); }

static inline double bcg_log_f64(double x) { return log(x); }

static inline float bcg_log2_f32(float x) { return log2f(x); }

static inline double bcg_log2_f64(double x) { return log2(x); }

static inline float bcg_log10_f32(float x) { return log10f(x); }

static inline double bcg_log10_f64(double x) { return log10(x); }

static inline float bcg_log1p_f32(float x) { return log1pf(x); }

static inline double bcg_log1p_f64(double x) { return log1p(x); }

static inline float bcg_sin_f32(float x) { return sinf(x); }

static inline double bcg_sin_f64(double x) { return sin(x); }

static inline float bcg_cos_f32(float x) { return cosf(x); }

static inline double bcg_cos_f64(double x) { return cos(x); }

static inline float bcg_tan_f32(float x) { return tanf(x); }

static inline double bcg_tan_f64(double x) { return tan(x); }

static inline float bcg_tanh_f32(float x) { return tanhf(x); }

static inline double bcg_tanh_f64(double x) { return tanh(x); }

static inline float bcg_sinh_f32(float x) { return sinhf(x); }

static inline double bcg_sinh_f64(double x) { return sinh(x); }

static inline float bcg_cosh_f32(float x) { return coshf(x); }

static inline double bcg_cosh_f64(double x) { return cosh(x); }

static inline float bcg_erf_f32(float x) { return erff(x); }

static inline double bcg_erf_f64(double x) { return erf(x); }

static inline float bcg_arcsin_f32(float x) { return asinf(x); }

static inline double bcg_arcsin_f64(double x) { return asin(x); }

static inline float bcg_arccos_f32(float x) { return acosf(x); }

static inline double bcg_arccos_f64(double x) { return acos(x); }

static inline float bcg_arctan_f32(float x) { return atanf(x); }

static inline double bcg_arctan_f64(double x) { return atan(x); }

static inline float bcg_arctan2_f32(float x, float y) { return atan2f(x, y); }

static inline double bcg_arctan2_f64(double x, double y) { return atan2(x, y); }

static inline float bcg_hypot_f32(float x, float y) { return hypotf(x, y); }

static inline double bcg_hypot_f64(double x, double y) { return hypot(x, y); }

static inline float bcg_power_f32(float x, float y) { return powf(x, y); }

static inline double bcg_power_f64(double x, double y) { return pow(x, y); }

/* exp of a non-positive argument cannot overflow, so both tails keep their relative accuracy. */
static inline float bcg_sigmoid_f32(float x)
{
    const float e = expf(-fabsf(x));
    return (x < 0 ? e : 1.0f) / (1.0f + e);
}

/* exp of a non-positive argument cannot overflow, so both tails keep their relative accuracy. */
static inline double bcg_sigmoid_f64(double x)
{
    const double e = exp(-fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

static inline float bcg_rsqrt_f32(float x) { return 1.0f / sqrtf(x); }

static inline double bcg_rsqrt_f64(double x) { return 1.0 / sqrt(x); }

#endif
