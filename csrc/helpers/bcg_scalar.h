/* bcg_scalar.h: scalar operations that need more than one C expression, bcg_<operation>_<dtype>.
 *
 * Contract. Pure and defined for every argument: no overflow, no division trap, no out-of-range shift. Each definition
 * is between blank lines and uses only what is above it or in the standard headers: emit copies the ones a
 * kernel needs. Integers narrower than 32 bits use the 32-bit functions.
 *
 * It is long because C has one function for each type.
 */
#ifndef BCG_SCALAR_H
#define BCG_SCALAR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "bcg_vmath_core.h"

/* Bytes as many at a time as a word has, in memory's order: which is which does not matter where all are treated alike. */
static inline uint16_t bcg_word_16(const void *bytes, int64_t at)
{
    uint16_t word;
    memcpy(&word, (const char *)bytes + 2 * at, sizeof word);
    return word;
}

static inline uint32_t bcg_word_32(const void *bytes, int64_t at)
{
    uint32_t word;
    memcpy(&word, (const char *)bytes + 4 * at, sizeof word);
    return word;
}

static inline void bcg_set_word_16(void *bytes, int64_t at, uint16_t word)
{
    memcpy((char *)bytes + 2 * at, &word, sizeof word);
}

static inline void bcg_set_word_32(void *bytes, int64_t at, uint32_t word)
{
    memcpy((char *)bytes + 4 * at, &word, sizeof word);
}

/* What numbers seen so far say of a limit below 2^63: their maximum. Where vectors have none of 64 bits (AVX2), the highest
 * bit of the numbers themselves and of what is left to the limit. */
static inline uint64_t bcg_seen_u64(uint64_t seen, uint64_t number, uint64_t limit)
{
#ifdef __AVX512F__
    (void)limit;
    return number > seen ? number : seen;
#else
    return seen | number | (limit - number);
#endif
}

/* Whether a number that bcg_seen_u64 has seen is above the limit. */
static inline int bcg_is_above_u64(uint64_t seen, uint64_t limit)
{
#ifdef __AVX512F__
    return seen > limit;
#else
    (void)limit;
    return seen >> 63 != 0;
#endif
}

/* Rounds towards minus infinity; x / 0 is 0, and x / -1 wraps. */
static inline int32_t bcg_floor_divide_i32(int32_t x, int32_t y)
{
    if (y == 0) return 0;
    if (y == -1) return (int32_t)((uint32_t)0 - (uint32_t)x);
    const int32_t quotient = x / y;
    return quotient - (((x % y != 0) & ((x < 0) != (y < 0))) != 0 ? 1 : 0);
}

/* Takes the sign of y; x % 0 is 0. */
static inline int32_t bcg_remainder_i32(int32_t x, int32_t y)
{
    if (y == 0 || y == -1) return 0;
    const int32_t rest = x % y;
    return rest + (y & -(int32_t)((rest != 0) & ((rest < 0) != (y < 0))));
}

/* Rounds x / y down, without branches and in doubles, which hold its quotients well enough: loops over it vectorise. */
static inline int32_t bcg_floor_divide_lanes_i32(int32_t x, int32_t y)
{
    const int32_t divisor = ((y == 0) | (y == -1)) != 0 ? 1 : y;
    const uint32_t factor = y == divisor ? 1u : (uint32_t)y; /* 0 or -1, where divisor is neither */
    const int32_t quotient = (int32_t)((double)x / (double)divisor), rest = x - quotient * divisor;
    const int32_t whole = quotient - (((rest != 0) & ((rest < 0) != (divisor < 0))) != 0 ? 1 : 0);
    return (int32_t)((uint32_t)whole * factor);
}

/* x % y with the sign of y, without branches and in doubles, so that loops over it vectorise. */
static inline int32_t bcg_remainder_lanes_i32(int32_t x, int32_t y)
{
    const int32_t divisor = ((y == 0) | (y == -1)) != 0 ? 1 : y;
    const int32_t quotient = (int32_t)((double)x / (double)divisor), rest = x - quotient * divisor;
    return rest + (((rest != 0) & ((rest < 0) != (divisor < 0))) != 0 ? divisor : 0);
}

/* x / y, in doubles; x / 0 is 0. */
static inline uint32_t bcg_floor_divide_lanes_u32(uint32_t x, uint32_t y)
{
    return (uint32_t)((double)x / (double)(y == 0 ? 1 : y)) & (0u - (uint32_t)(y != 0));
}

/* x % y, in doubles; x % 0 is 0. */
static inline uint32_t bcg_remainder_lanes_u32(uint32_t x, uint32_t y)
{
    const uint32_t divisor = y == 0 ? 1 : y;
    return x - (uint32_t)((double)x / (double)divisor) * divisor;
}

/* Rounds towards minus infinity; x / 0 is 0, and x / -1 wraps. */
static inline int64_t bcg_floor_divide_i64(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    if (y == -1) return (int64_t)((uint64_t)0 - (uint64_t)x);
    const int64_t quotient = x / y;
    return quotient - (((x % y != 0) & ((x < 0) != (y < 0))) != 0 ? 1 : 0);
}

/* Takes the sign of y; x % 0 is 0. */
static inline int64_t bcg_remainder_i64(int64_t x, int64_t y)
{
    if (y == 0 || y == -1) return 0;
    const int64_t rest = x % y;
    return rest + (y & -(int64_t)((rest != 0) & ((rest < 0) != (y < 0))));
}

/* Rounds x / y down, y being a constant: a negative x is replaced by ~x, whose quotient rounds towards 0. */
static inline int8_t bcg_floor_divide_by_i8(int8_t x, int8_t y)
{
    if (y <= 0) return (int8_t)bcg_floor_divide_i32(x, y);
    const uint8_t sign = (uint8_t)(x >> 7), count = (uint8_t)((uint8_t)x ^ sign);
    return (int8_t)(count / (uint8_t)y ^ sign);
}

/* Rounds x / y down, y being a constant: a negative x is replaced by ~x, whose quotient rounds towards 0. */
static inline int16_t bcg_floor_divide_by_i16(int16_t x, int16_t y)
{
    if (y <= 0) return (int16_t)bcg_floor_divide_i32(x, y);
    const uint16_t sign = (uint16_t)(x >> 15), count = (uint16_t)((uint16_t)x ^ sign);
    return (int16_t)(count / (uint16_t)y ^ sign);
}

/* Rounds x / y down, y being a constant: a negative x is replaced by ~x, whose quotient rounds towards 0. */
static inline int32_t bcg_floor_divide_by_i32(int32_t x, int32_t y)
{
    if (y <= 0) return bcg_floor_divide_i32(x, y);
    const uint32_t sign = (uint32_t)(x >> 31), count = (uint32_t)((uint32_t)x ^ sign);
    return (int32_t)(count / (uint32_t)y ^ sign);
}

/* x / y by a constant from 2 on: with 2^l the least power of two from y on, `shift` is l - 1, and `factor` the lower 64
 * bits of the least integer above 2^(64 + l) / y, which has 65 (Granlund and Montgomery 1994). The high half of x times
 * that is made of halves: compilers make vectors of it, and machines with products of 64-bit lanes gain by it. */
static inline uint64_t bcg_floor_divide_by_u64(uint64_t x, uint64_t y, uint64_t factor, int shift)
{
#if defined(__AVX512DQ__) || (defined(__clang__) && defined(__AVX2__))
    const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)factor, y1 = factor >> 32;
    const uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (uint32_t)middle;
    const uint64_t high = x1 * y1 + (middle >> 32) + (other >> 32);
    (void)y;
    return (((x - high) >> 1) + high) >> shift;
#else
    (void)factor, (void)shift;
    return x / y;
#endif
}

/* x % y by a constant from 2 on: see the quotient, which takes the same factor and shift. */
static inline uint64_t bcg_remainder_by_u64(uint64_t x, uint64_t y, uint64_t factor, int shift)
{
    return x - bcg_floor_divide_by_u64(x, y, factor, shift) * y;
}

/* bcg_floor_divide_i64 by a constant from 2 on, as that of i32 is. */
static inline int64_t bcg_floor_divide_by_i64(int64_t x, int64_t y, uint64_t factor, int shift)
{
    const uint64_t sign = (uint64_t)(x >> 63), count = (uint64_t)x ^ sign;
    return (int64_t)(bcg_floor_divide_by_u64(count, (uint64_t)y, factor, shift) ^ sign);
}

/* bcg_remainder_i32 by a constant. */
static inline int8_t bcg_remainder_by_i8(int8_t x, int8_t y)
{
    if (y <= 0) return (int8_t)bcg_remainder_i32(x, y);
    return (int8_t)((uint32_t)x - (uint32_t)bcg_floor_divide_by_i8(x, y) * (uint32_t)y);
}

/* x % y with the sign of y, y being a constant. */
static inline int16_t bcg_remainder_by_i16(int16_t x, int16_t y)
{
    if (y <= 0) return (int16_t)bcg_remainder_i32(x, y);
    return (int16_t)((uint32_t)x - (uint32_t)bcg_floor_divide_by_i16(x, y) * (uint32_t)y);
}

/* x % y with the sign of y, y being a constant. */
static inline int32_t bcg_remainder_by_i32(int32_t x, int32_t y)
{
    if (y <= 0) return bcg_remainder_i32(x, y);
    return (int32_t)((uint32_t)x - (uint32_t)bcg_floor_divide_by_i32(x, y) * (uint32_t)y);
}

/* bcg_remainder_i64 by a constant from 2 on. */
static inline int64_t bcg_remainder_by_i64(int64_t x, int64_t y, uint64_t factor, int shift)
{
    return (int64_t)((uint64_t)x - (uint64_t)bcg_floor_divide_by_i64(x, y, factor, shift) * (uint64_t)y);
}

/* x / y; x / 0 is 0. */
static inline uint32_t bcg_floor_divide_u32(uint32_t x, uint32_t y) { return y == 0 ? 0 : x / y; }

/* x % y; x % 0 is 0. */
static inline uint32_t bcg_remainder_u32(uint32_t x, uint32_t y) { return y == 0 ? 0 : x % y; }

/* x / y; x / 0 is 0. */
static inline uint64_t bcg_floor_divide_u64(uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }

/* x % y; x % 0 is 0. */
static inline uint64_t bcg_remainder_u64(uint64_t x, uint64_t y) { return y == 0 ? 0 : x % y; }

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

/* NaN if any is. A bound that is a constant and no NaN takes one comparison. */
static inline float bcg_clip_f32(float x, float low, float high)
{
    const float raised = (low > x || (low != low && x == x)) ? low : x;
    return (high < raised || (high != high && raised == raised)) ? high : raised;
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

/* NaN if any is. A bound that is a constant and no NaN takes one comparison. */
static inline double bcg_clip_f64(double x, double low, double high)
{
    const double raised = (low > x || (low != low && x == x)) ? low : x;
    return (high < raised || (high != high && raised == raised)) ? high : raised;
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

/* bcg_power_u64 for exponents below 64, in 32 bits and without branches. */
static inline uint32_t bcg_power_common_u32(uint32_t base, uint32_t exponent)
{
    const uint32_t second = base * base, fourth = second * second, eighth = fourth * fourth;
    const uint32_t sixteenth = eighth * eighth, last = sixteenth * sixteenth;
    const uint32_t low = ((exponent & 1) != 0 ? base : 1) * ((exponent & 2) != 0 ? second : 1);
    const uint32_t middle = ((exponent & 4) != 0 ? fourth : 1) * ((exponent & 8) != 0 ? eighth : 1);
    const uint32_t high = ((exponent & 16) != 0 ? sixteenth : 1) * ((exponent & 32) != 0 ? last : 1);
    return low * middle * high;
}

/* bcg_power_u64 for exponents below 64, in 64 bits and without branches. */
static inline uint64_t bcg_power_common_u64(uint64_t base, uint64_t exponent)
{
    const uint64_t second = base * base, fourth = second * second, eighth = fourth * fourth;
    const uint64_t sixteenth = eighth * eighth, last = sixteenth * sixteenth;
    const uint64_t low = ((exponent & 1) != 0 ? base : 1) * ((exponent & 2) != 0 ? second : 1);
    const uint64_t middle = ((exponent & 4) != 0 ? fourth : 1) * ((exponent & 8) != 0 ? eighth : 1);
    const uint64_t high = ((exponent & 16) != 0 ? sixteenth : 1) * ((exponent & 32) != 0 ? last : 1);
    return low * middle * high;
}

/* Wraps. */
static inline uint64_t bcg_cube_u64(uint64_t x) { return x * x * x; }

/* Wraps. */
static inline uint64_t bcg_fourth_u64(uint64_t x) { return x * x * (x * x); }

/* x to the power of 3. The square is exact in a double, and what is rounded then far finer than a float. */
static inline float bcg_cube_f32(float x) { return (float)((double)x * (double)x * (double)x); }

/* x to the power of 4. */
static inline float bcg_fourth_f32(float x)
{
    const double square = (double)x * (double)x;
    return (float)(square * square);
}

/* x to the power of 3, with what rounding takes on the way, if that is a number: a zero would lose the sign of -0. */
static inline double bcg_cube_f64(double x)
{
    const double square = x * x, power = square * x;
    const double whole = power + (bcg_prod_low_f64(square, x, power) + bcg_prod_low_f64(x, x, square) * x);
    return fabs(whole) > 0 ? whole : power;
}

/* x to the power of 4, with what rounding takes on the way, if that is a number. */
static inline double bcg_fourth_f64(double x)
{
    const double square = x * x, power = square * square;
    const double low = bcg_prod_low_f64(x, x, square) * (square + square);
    const double whole = power + (bcg_prod_low_f64(square, square, power) + low);
    return fabs(whole) > 0 ? whole : power;
}

/* Up to this quotient its whole part is exact, and so is what remains: where a product and a sum are rounded once. */
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
#define BCG_NEAR_QUOTIENT_F32 0x1p22f
#else
#define BCG_NEAR_QUOTIENT_F32 0.0f
#endif

/* Up to this quotient of doubles its whole part is exact: see that of floats. */
#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined __aarch64__
#define BCG_NEAR_QUOTIENT_F64 0x1p51
#else
#define BCG_NEAR_QUOTIENT_F64 0.0
#endif

/* bcg_remainder_f32 up to BCG_NEAR_QUOTIENT_F32, of a finite y. A quotient rounded up to a whole number leaves too little. */
static inline float bcg_remainder_common_f32(float x, float y)
{
    const float rest = bcg_fma_f32(-floorf(x / y), y, x);
    const float kept = (((rest < 0) != (y < 0)) & (rest != 0)) != 0 ? rest + y : rest;
    return kept == 0 ? copysignf(0, y) : kept;
}

/* bcg_floor_divide_f32 up to BCG_NEAR_QUOTIENT_F32, of a finite y. */
static inline float bcg_floor_divide_common_f32(float x, float y)
{
    const float quotient = x / y, whole = floorf(quotient), rest = bcg_fma_f32(-whole, y, x);
    const float kept = (((rest < 0) != (y < 0)) & (rest != 0)) != 0 ? whole - 1 : whole;
    return kept == 0 ? copysignf(0, quotient) : kept;
}

/* bcg_remainder_f64 up to BCG_NEAR_QUOTIENT_F64, of a finite y. A quotient rounded up to a whole number leaves too little. */
static inline double bcg_remainder_common_f64(double x, double y)
{
    const double rest = bcg_fma_f64(-floor(x / y), y, x);
    const double kept = (((rest < 0) != (y < 0)) & (rest != 0)) != 0 ? rest + y : rest;
    return kept == 0 ? copysign(0, y) : kept;
}

/* bcg_floor_divide_f64 up to BCG_NEAR_QUOTIENT_F64, of a finite y. */
static inline double bcg_floor_divide_common_f64(double x, double y)
{
    const double quotient = x / y, whole = floor(quotient), rest = bcg_fma_f64(-whole, y, x);
    const double kept = (((rest < 0) != (y < 0)) & (rest != 0)) != 0 ? whole - 1 : whole;
    return kept == 0 ? copysign(0, quotient) : kept;
}

/* x + y, or the end of the range that it would pass; all is done in lanes of its type. */
static inline int8_t bcg_saturating_add_i8(int8_t x, int8_t y)
{
    const int8_t sum = (int8_t)(uint8_t)((uint8_t)x + (uint8_t)y), end = x < 0 ? INT8_MIN : INT8_MAX;
    const int8_t over = (int8_t)((x ^ sum) & (y ^ sum));
    return over < 0 ? end : sum;
}

/* x - y, or the end of the range that it would pass. */
static inline int8_t bcg_saturating_subtract_i8(int8_t x, int8_t y)
{
    const int8_t rest = (int8_t)(uint8_t)((uint8_t)x - (uint8_t)y), end = x < 0 ? INT8_MIN : INT8_MAX;
    const int8_t over = (int8_t)((x ^ y) & (x ^ rest));
    return over < 0 ? end : rest;
}

/* x + y, or the end of the range that it would pass. */
static inline int16_t bcg_saturating_add_i16(int16_t x, int16_t y)
{
    const int16_t sum = (int16_t)(uint16_t)((uint16_t)x + (uint16_t)y), end = x < 0 ? INT16_MIN : INT16_MAX;
    const int16_t over = (int16_t)((x ^ sum) & (y ^ sum));
    return over < 0 ? end : sum;
}

/* x - y, or the end of the range that it would pass. */
static inline int16_t bcg_saturating_subtract_i16(int16_t x, int16_t y)
{
    const int16_t rest = (int16_t)(uint16_t)((uint16_t)x - (uint16_t)y), end = x < 0 ? INT16_MIN : INT16_MAX;
    const int16_t over = (int16_t)((x ^ y) & (x ^ rest));
    return over < 0 ? end : rest;
}

/* x + y, or the end of the range that it would pass. */
static inline int32_t bcg_saturating_add_i32(int32_t x, int32_t y)
{
    const int32_t sum = (int32_t)((uint32_t)x + (uint32_t)y), end = x < 0 ? INT32_MIN : INT32_MAX;
    return ((x ^ sum) & (y ^ sum)) < 0 ? end : sum;
}

/* x - y, or the end of the range that it would pass. */
static inline int32_t bcg_saturating_subtract_i32(int32_t x, int32_t y)
{
    const int32_t rest = (int32_t)((uint32_t)x - (uint32_t)y), end = x < 0 ? INT32_MIN : INT32_MAX;
    return ((x ^ y) & (x ^ rest)) < 0 ? end : rest;
}

/* x, raised to least and lowered to most; any number in between for NaN. Bits of floats are in order, from 0 either way,
 * and compilers have one instruction for the lesser of two integers. `least` is negative or -0, `most` positive. */
static inline float bcg_within_f32(float x, float least, float most)
{
    const int32_t bits = (int32_t)bcg_bits_f32(x), upper = (int32_t)bcg_bits_f32(most);
    const uint32_t below = (uint32_t)(bits < upper ? bits : upper), lower = bcg_bits_f32(least);
    return bcg_from_bits_f32(below < lower ? below : lower);
}

/* x, raised to least and lowered to most, by integers as compilers have them; any number in between for NaN. `least` is
 * negative or -0, `most` positive. */
static inline double bcg_within_f64(double x, double least, double most)
{
    const int64_t bits = (int64_t)bcg_bits_f64(x), upper = (int64_t)bcg_bits_f64(most);
    const uint64_t below = (uint64_t)(bits < upper ? bits : upper), lower = bcg_bits_f64(least);
    return bcg_from_bits_f64(below < lower ? below : lower);
}

/* x, raised to 0, as NaN is, and lowered to most. To -0 it would take compilers two instructions. */
static inline float bcg_from_zero_f32(float x, float most)
{
    const float raised = x > 0 ? x : 0;
    return raised < most ? raised : most;
}

/* x, raised to 0, as NaN is, and lowered to most. */
static inline double bcg_from_zero_f64(double x, double most)
{
    const double raised = x > 0 ? x : 0;
    return raised < most ? raised : most;
}

/* Whether no instruction converts vectors of doubles from or to integers of 64 bits, while sums of halves do so. */
#if defined(__x86_64__) && defined(__SSE4_1__) && !defined(__AVX512DQ__)
#define BCG_CONVERTS_HALVES 1
#else
#define BCG_CONVERTS_HALVES 0
#endif

/* x as a double: its halves are digits of 2^52 and of 2^84 + 2^63; only the last sum rounds. */
static inline double bcg_i64_to_f64(int64_t x)
{
#if BCG_CONVERTS_HALVES
    const double low = bcg_from_bits_f64(0x4330000000000000u | ((uint64_t)x & 0xffffffffu));
    const double high = bcg_from_bits_f64(0x4530000080000000u ^ ((uint64_t)x >> 32));
    return (high - 0x1.00000801p+84) + low;
#else
    return (double)x;
#endif
}

/* x as a double: its halves are digits of 2^52 and of 2^84; only the last sum rounds. */
static inline double bcg_u64_to_f64(uint64_t x)
{
#if BCG_CONVERTS_HALVES
    const double low = bcg_from_bits_f64(0x4330000000000000u | (x & 0xffffffffu));
    const double high = bcg_from_bits_f64(0x4530000000000000u | x >> 32);
    return (high - 0x1.00000001p+84) + low;
#else
    return (double)x;
#endif
}

/* The whole part of x, below 2^64, modulo 2^64: an upper half times 2^32 and a lower one, each the digits of a sum. */
#if BCG_CONVERTS_HALVES
static inline uint64_t bcg_whole_of_halves(double x)
{
    const double whole = trunc(x), high = floor(whole * 0x1p-32), low = whole - high * 0x1p+32;
    return bcg_bits_f64(high + 0x1.8p+52) << 32 | (bcg_bits_f64(low + 0x1p+52) & 0xffffffffu);
}
#endif

/* The whole part of x, which is in range. */
static inline int64_t bcg_whole_i64(double x)
{
#if BCG_CONVERTS_HALVES
    return (int64_t)bcg_whole_of_halves(x);
#else
    return (int64_t)x;
#endif
}

/* The whole part of x, which is in range. */
static inline uint64_t bcg_whole_u64(double x)
{
#if BCG_CONVERTS_HALVES
    return bcg_whole_of_halves(x);
#else
    return (uint64_t)x;
#endif
}

/* The whole part of x, into the range of an integer type; NaN is 0. `least` and `most` are ends of that range as floats
 * have them (-0 for 0), and `rest` is what `most` lacks: the type's largest number less the largest float below. */
static inline int32_t bcg_truncate_i32_f32(float x, float least, float most, int32_t rest)
{
    return x == x ? (int32_t)bcg_within_f32(x, least, most) | (x > most ? rest : 0) : 0;
}

/* As the one before; NaN becomes `least`, which is 0. */
static inline uint32_t bcg_truncate_u32_f32(float x, float least, float most, uint32_t rest)
{
    (void)least;
    return (uint32_t)bcg_from_zero_f32(x, most) | (x > most ? rest : 0);
}

/* As the first of these. */
static inline int64_t bcg_truncate_i64_f32(float x, float least, float most, int64_t rest)
{
    const float number = x == x ? x : 0;
    return bcg_whole_i64((double)bcg_within_f32(number, least, most)) | (x > most ? rest : 0);
}

/* As the first of these. */
static inline uint64_t bcg_truncate_u64_f32(float x, float least, float most, uint64_t rest)
{
    (void)least;
    return bcg_whole_u64((double)bcg_from_zero_f32(x, most)) | (x > most ? rest : 0);
}

/* As the first of these. */
static inline int32_t bcg_truncate_i32_f64(double x, double least, double most, int32_t rest)
{
    return x == x ? (int32_t)bcg_within_f64(x, least, most) | (x > most ? rest : 0) : 0;
}

/* As the first of these. The select of an integer is not for NaN only: gcc takes a conversion there and back for trunc,
 * whose zeros have signs. */
static inline uint32_t bcg_truncate_u32_f64(double x, double least, double most, uint32_t rest)
{
    return x == x ? (uint32_t)bcg_within_f64(x, least, most) | (x > most ? rest : 0) : 0;
}

/* As the first of these. */
static inline int64_t bcg_truncate_i64_f64(double x, double least, double most, int64_t rest)
{
    const double number = x == x ? x : 0;
    return bcg_whole_i64(bcg_within_f64(number, least, most)) | (x > most ? rest : 0);
}

/* As the first of these. */
static inline uint64_t bcg_truncate_u64_f64(double x, double least, double most, uint64_t rest)
{
    (void)least;
    return bcg_whole_u64(bcg_from_zero_f64(x, most)) | (x > most ? rest : 0);
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
