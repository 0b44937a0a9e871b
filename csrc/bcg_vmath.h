/* bcg_vmath.h: the mathematical functions, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument. Error at most the bound of the op's row. Each definition stands between blank
 * lines and uses only what stands above it or in the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_VMATH_H
#define BCG_VMATH_H

#include <math.h>

static inline float bcg_sin_f32(float x) { return sinf(x); }

static inline double bcg_sin_f64(double x) { return sin(x); }

static inline float bcg_cos_f32(float x) { return cosf(x); }

static inline double bcg_cos_f64(double x) { return cos(x); }

static inline float bcg_tan_f32(float x) { return tanf(x); }

static inline double bcg_tan_f64(double x) { return tan(x); }

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

static inline float bcg_power_f32(float x, float y) { return powf(x, y); }

static inline double bcg_power_f64(double x, double y) { return pow(x, y); }

#endif
