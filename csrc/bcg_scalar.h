/* bcg_scalar.h: scalar operations that need more than one C expression, bcg_<operation>_<dtype>.
 *
 * Contract. Pure and defined for every argument: no overflow, no division trap, no out-of-range shift. Each definition
 * stands between blank lines and uses only what stands above it or in the standard headers: emit copies the ones a
 * kernel needs. Integers narrower than 32 bits use the 32-bit functions.
 */
#ifndef BCG_SCALAR_H
#define BCG_SCALAR_H

#include <math.h>
#include <stdint.h>

/* Rounds towards minus infinity; x / 0 is 0, and x / -1 wraps. */
static inline int32_t bcg_floor_divide_i32(int32_t x, int32_t y)
{
    if (y == 0) return 0;
    if (y == -1) return (int32_t)((uint32_t)0 - (uint32_t)x);
    const int32_t quotient = x / y;
    return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

/* Takes the sign of y; x % 0 is 0. */
static inline int32_t bcg_remainder_i32(int32_t x, int32_t y)
{
    if (y == 0 || y == -1) return 0;
    const int32_t rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Rounds towards minus infinity; x / 0 is 0, and x / -1 wraps. */
static inline int64_t bcg_floor_divide_i64(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    if (y == -1) return (int64_t)((uint64_t)0 - (uint64_t)x);
    const int64_t quotient = x / y;
    return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

/* Takes the sign of y; x % 0 is 0. */
static inline int64_t bcg_remainder_i64(int64_t x, int64_t y)
{
    if (y == 0 || y == -1) return 0;
    const int64_t rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Takes the sign of y, and that of a zero result too; NaN where y is 0, as fmod has it. */
static inline float bcg_remainder_f32(float x, float y)
{
    const float rest = fmodf(x, y);
    if (y == 0) return rest;
    if (rest == 0) return copysignf(0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Rounds towards minus infinity. (x - rest) / y is within a rounding error of a whole number: round it to that. */
static inline float bcg_floor_divide_f32(float x, float y)
{
    if (y == 0) return x / y;
    const float rest = fmodf(x, y);
    float quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return copysignf(0, x / y);
    const float whole = floorf(quotient);
    return quotient - whole > 0.5f ? whole + 1 : whole;
}

/* The lower of high and what is raised to low. */
static inline int32_t bcg_clip_i32(int32_t x, int32_t low, int32_t high)
{
    const int32_t raised = x > low ? x : low;
    return raised < high ? raised : high;
}

/* The lower of high and what is raised to low. */
static inline uint32_t bcg_clip_u32(uint32_t x, uint32_t low, uint32_t high)
{
    const uint32_t raised = x > low ? x : low;
    return raised < high ? raised : high;
}

/* The lower of high and what is raised to low. */
static inline int64_t bcg_clip_i64(int64_t x, int64_t low, int64_t high)
{
    const int64_t raised = x > low ? x : low;
    return raised < high ? raised : high;
}

/* The lower of high and what is raised to low. */
static inline uint64_t bcg_clip_u64(uint64_t x, uint64_t low, uint64_t high)
{
    const uint64_t raised = x > low ? x : low;
    return raised < high ? raised : high;
}

/* NaN if any is. */
static inline float bcg_clip_f32(float x, float low, float high)
{
    const float raised = (x >= low || x != x) ? x : low;
    return (raised <= high || raised != raised) ? raised : high;
}

/* Takes the sign of y, and that of a zero result too; NaN where y is 0, as fmod has it. */
static inline double bcg_remainder_f64(double x, double y)
{
    const double rest = fmod(x, y);
    if (y == 0) return rest;
    if (rest == 0) return copysign(0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Rounds towards minus infinity. (x - rest) / y is within a rounding error of a whole number: round it to that. */
static inline double bcg_floor_divide_f64(double x, double y)
{
    if (y == 0) return x / y;
    const double rest = fmod(x, y);
    double quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return copysign(0, x / y);
    const double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

/* NaN if any is. */
static inline double bcg_clip_f64(double x, double low, double high)
{
    const double raised = (x >= low || x != x) ? x : low;
    return (raised <= high || raised != raised) ? raised : high;
}

/* Wraps; serves every width, since the low bits of a product depend on low bits only. */
static inline uint64_t bcg_power_u64(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result *= base;
        base *= base;
    }
    return result;
}

/* Negative, 0 or positive as x is below, equal to or above y, by value. */
static inline int bcg_compare_i64_u64(int64_t x, uint64_t y)
{
    if (x < 0) return -1;
    return ((uint64_t)x > y) - ((uint64_t)x < y);
}

/* Negative, 0 or positive as x is below, equal to or above y, by value. */
static inline int bcg_compare_u64_i64(uint64_t x, int64_t y)
{
    if (y < 0) return 1;
    return (x > (uint64_t)y) - (x < (uint64_t)y);
}

#endif
