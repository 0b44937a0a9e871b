/* bcg_freestanding_math.h: what <math.h> has and is no function of bcg_vmath_*.h, without the C library.
 *
 * Contract. The values of fabs, copysign, floor, ceil, trunc, rint, sqrt and fmod, bit for bit (NaN is any NaN): sums are
 * taken to round to nearest, as the C library's own functions take them. A compiler's own name for a function stands
 * only where the machine has an instruction for it, so that no call is left. Pure and defined for every argument. Each
 * definition is between blank lines and uses only what is above it, in bcg_vmath_core.h or in
 * bcg_freestanding.h: emit copies the ones a kernel needs, and spells the library's names as these.
 */
#ifndef BCG_FREESTANDING_MATH_H
#define BCG_FREESTANDING_MATH_H

#include <math.h>
#include <stdint.h>

#include "bcg_vmath_core.h"

/* One instruction rounds to a whole number. */
#if defined __SSE4_1__ || defined __aarch64__ || defined __wasm__
#define BCG_ROUNDS 1
#else
#define BCG_ROUNDS 0
#endif

/* One instruction finds square roots, and is all that a compiler makes of its own name for them: not where negative
 * numbers have to set errno, which -fno-math-errno says they need not. */
#if defined __NO_MATH_ERRNO__ && (defined __SSE2_MATH__ || defined __aarch64__ || defined __wasm__)
#define BCG_SQRT_F64(x) __builtin_sqrt(x)
#elif defined __has_builtin && (defined __SSE2_MATH__ || defined __aarch64__ || defined __wasm__)
#if __has_builtin(__builtin_elementwise_sqrt)
#define BCG_SQRT_F64(x) __builtin_elementwise_sqrt(x)
#endif
#endif

/* The square root of a float, where it is one instruction: see that of a double. */
#if defined __NO_MATH_ERRNO__ && (defined __SSE2_MATH__ || defined __aarch64__ || defined __wasm__)
#define BCG_SQRT_F32(x) __builtin_sqrtf(x)
#elif defined __has_builtin && (defined __SSE2_MATH__ || defined __aarch64__ || defined __wasm__)
#if __has_builtin(__builtin_elementwise_sqrt)
#define BCG_SQRT_F32(x) __builtin_elementwise_sqrt(x)
#endif
#endif

static inline float bcg_fabs_f32(float x) { return bcg_from_bits_f32(bcg_bits_f32(x) & 0x7fffffffu); }

static inline double bcg_fabs_f64(double x) { return bcg_from_bits_f64(bcg_bits_f64(x) & 0x7fffffffffffffffu); }

static inline float bcg_copysign_f32(float x, float y)
{
    return bcg_from_bits_f32((bcg_bits_f32(x) & 0x7fffffffu) | (bcg_bits_f32(y) & 0x80000000u));
}

static inline double bcg_copysign_f64(double x, double y)
{
    return bcg_from_bits_f64((bcg_bits_f64(x) & 0x7fffffffffffffffu) | (bcg_bits_f64(y) & 0x8000000000000000u));
}

/* Nearest whole number, halves to even: from 2^23 on every number is whole, and a sum with that is rounded to one. */
static inline float bcg_rint_f32(float x)
{
#if BCG_ROUNDS
    return __builtin_rintf(x);
#else
    const float magnitude = bcg_fabs_f32(x), whole = (magnitude + 0x1p23f) - 0x1p23f;
    return magnitude < 0x1p23f ? bcg_copysign_f32(whole, x) : x;
#endif
}

/* Nearest whole number, halves to even: from 2^52 on every number is whole, and a sum with that is rounded to one. */
static inline double bcg_rint_f64(double x)
{
#if BCG_ROUNDS
    return __builtin_rint(x);
#else
    const double magnitude = bcg_fabs_f64(x), whole = (magnitude + 0x1p52) - 0x1p52;
    return magnitude < 0x1p52 ? bcg_copysign_f64(whole, x) : x;
#endif
}

static inline float bcg_floor_f32(float x)
{
#if BCG_ROUNDS
    return __builtin_floorf(x);
#else
    const float nearest = bcg_rint_f32(x);
    return bcg_copysign_f32(nearest > x ? nearest - 1 : nearest, x);
#endif
}

static inline double bcg_floor_f64(double x)
{
#if BCG_ROUNDS
    return __builtin_floor(x);
#else
    const double nearest = bcg_rint_f64(x);
    return bcg_copysign_f64(nearest > x ? nearest - 1 : nearest, x);
#endif
}

static inline float bcg_ceil_f32(float x)
{
#if BCG_ROUNDS
    return __builtin_ceilf(x);
#else
    const float nearest = bcg_rint_f32(x);
    return bcg_copysign_f32(nearest < x ? nearest + 1 : nearest, x);
#endif
}

static inline double bcg_ceil_f64(double x)
{
#if BCG_ROUNDS
    return __builtin_ceil(x);
#else
    const double nearest = bcg_rint_f64(x);
    return bcg_copysign_f64(nearest < x ? nearest + 1 : nearest, x);
#endif
}

static inline float bcg_trunc_f32(float x)
{
#if BCG_ROUNDS
    return __builtin_truncf(x);
#else
    return bcg_copysign_f32(bcg_floor_f32(bcg_fabs_f32(x)), x);
#endif
}

static inline double bcg_trunc_f64(double x)
{
#if BCG_ROUNDS
    return __builtin_trunc(x);
#else
    return bcg_copysign_f64(bcg_floor_f64(bcg_fabs_f64(x)), x);
#endif
}

/* Correctly rounded. An estimate becomes the root's whole part by what it leaves of the number, which is exact: both
 * are whole numbers, and what is left fits 64 bits although the square does not. */
static inline double bcg_sqrt_f64(double x)
{
#ifdef BCG_SQRT_F64
    return BCG_SQRT_F64(x);
#else
    if (!(x > 0 && x < (double)INFINITY)) return x < 0 ? (double)NAN : x;
    const int is_small = x < 0x1p-1022;
    const uint64_t bits = bcg_bits_f64(is_small ? x * 0x1p54 : x), is_odd = ~(bits >> 52) & 1u;
    /* x is digits * 2^(even - 1076), times 2^-54 where it is small. */
    const uint64_t digits = ((bits & 0x000fffffffffffffu) | 0x0010000000000000u) << is_odd;
    const uint64_t even = (bits >> 52) + 1 - is_odd;
    const double number = (double)digits;
    double estimate = bcg_from_bits_f64((bcg_bits_f64(number) >> 1) + 0x1ff7000000000000u);
    for (int step = 0; step < 4; step++) estimate = 0.5 * (estimate + number / estimate);
    uint64_t root = (uint64_t)(estimate * 0x1p26), rest = (digits << 52) - root * root;
    for (; rest >> 63 != 0; root--) rest += 2 * root - 1;
    for (; rest > 2 * root; root++) rest -= 2 * root + 1;
    if (rest > root) root++;
    const double scale = bcg_from_bits_f64((even / 2 + 459) << 52);
    return (double)root * (is_small ? scale * 0x1p-27 : scale);
#endif
}

/* Correctly rounded: the root in f64 has more than twice as many digits, so that rounding it again does no harm. */
static inline float bcg_sqrt_f32(float x)
{
#ifdef BCG_SQRT_F32
    return BCG_SQRT_F32(x);
#else
    return (float)bcg_sqrt_f64((double)x);
#endif
}

/* The remainder of x after whole multiples of y, with the sign of x: exact. Digits are divided 11 places at a time. */
static inline double bcg_fmod_f64(double x, double y)
{
    const double dividend = bcg_fabs_f64(x), divisor = bcg_fabs_f64(y);
    if (!(dividend < (double)INFINITY && divisor > 0)) return (double)NAN;
    if (dividend < divisor) return x;
    const uint64_t x_bits = bcg_bits_f64(dividend), y_bits = bcg_bits_f64(divisor), digits = 0x000fffffffffffffu;
    const uint64_t x_exponent = x_bits >> 52 != 0 ? x_bits >> 52 : 1, y_exponent = y_bits >> 52 != 0 ? y_bits >> 52 : 1;
    const uint64_t y_digits = (y_bits & digits) | (y_bits >> 52 != 0 ? digits + 1 : 0);
    uint64_t rest = ((x_bits & digits) | (x_bits >> 52 != 0 ? digits + 1 : 0)) % y_digits;
    for (uint64_t places = x_exponent - y_exponent; places != 0 && rest != 0;) {
        const uint64_t step = places < 11 ? places : 11;
        rest = (rest << step) % y_digits;
        places -= step;
    }
    return bcg_copysign_f64((double)rest * (bcg_from_bits_f64(y_exponent << 52) * 0x1p-52), x);
}

/* Exact in f64, and of no more digits than x and y have. */
static inline float bcg_fmod_f32(float x, float y) { return (float)bcg_fmod_f64((double)x, (double)y); }

#endif
