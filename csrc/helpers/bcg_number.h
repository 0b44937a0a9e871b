/* bcg_number.h: functions of how a number is written: its digits, its exponent, its neighbours, its divisors.
 *
 * Contract. Pure and defined for every argument: no overflow, no division trap. Values are NumPy's, bit for bit (NaN is
 * any NaN). All but the greatest common divisors are branch-free, so that loops vectorise. A function of a 16-bit float
 * takes and gives its value as a float. Each definition is between blank lines and uses only what is above it, in
 * bcg_vmath_core.h or in the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_NUMBER_H
#define BCG_NUMBER_H

#include <math.h>
#include <stdint.h>

#include "bcg_vmath_core.h"

/* The number of bits that are 1. */
static inline uint32_t bcg_count_bits_u32(uint32_t x)
{
    const uint32_t pairs = x - ((x >> 1) & 0x55555555u), fours = (pairs & 0x33333333u) + ((pairs >> 2) & 0x33333333u);
    const uint32_t bytes = (fours + (fours >> 4)) & 0x0f0f0f0fu, halves = bytes + (bytes >> 8);
    return (halves + (halves >> 16)) & 0x3fu;
}

/* The number of bits that are 1. */
static inline uint64_t bcg_count_bits_u64(uint64_t x)
{
    const uint64_t pairs = x - ((x >> 1) & 0x5555555555555555u);
    const uint64_t fours = (pairs & 0x3333333333333333u) + ((pairs >> 2) & 0x3333333333333333u);
    const uint64_t bytes = (fours + (fours >> 4)) & 0x0f0f0f0f0f0f0f0fu, halves = bytes + (bytes >> 8);
    const uint64_t quarters = halves + (halves >> 16);
    return (quarters + (quarters >> 32)) & 0x7fu;
}

/* The magnitude; an unsigned number holds that of the least number, too. */
static inline uint32_t bcg_magnitude_i32(int32_t x) { return x < 0 ? 0u - (uint32_t)x : (uint32_t)x; }

/* The magnitude; an unsigned number holds that of the least number, too. */
static inline uint64_t bcg_magnitude_i64(int64_t x) { return x < 0 ? 0u - (uint64_t)x : (uint64_t)x; }

/* The greatest common divisor; that of x and 0 is x. */
static inline uint32_t bcg_gcd_u32(uint32_t x, uint32_t y)
{
    while (y != 0) {
        const uint32_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* The greatest common divisor; that of x and 0 is x. */
static inline uint64_t bcg_gcd_u64(uint64_t x, uint64_t y)
{
    while (y != 0) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* Of magnitudes. */
static inline uint32_t bcg_gcd_i32(int32_t x, int32_t y)
{
    return bcg_gcd_u32(bcg_magnitude_i32(x), bcg_magnitude_i32(y));
}

/* Of magnitudes. */
static inline uint64_t bcg_gcd_i64(int64_t x, int64_t y)
{
    return bcg_gcd_u64(bcg_magnitude_i64(x), bcg_magnitude_i64(y));
}

/* The least common multiple; it wraps, and that of x and 0 is 0. */
static inline uint32_t bcg_lcm_u32(uint32_t x, uint32_t y)
{
    const uint32_t divisor = bcg_gcd_u32(x, y);
    return divisor == 0 ? 0 : x / divisor * y;
}

/* The least common multiple; it wraps, and that of x and 0 is 0. */
static inline uint64_t bcg_lcm_u64(uint64_t x, uint64_t y)
{
    const uint64_t divisor = bcg_gcd_u64(x, y);
    return divisor == 0 ? 0 : x / divisor * y;
}

/* Of magnitudes. */
static inline uint32_t bcg_lcm_i32(int32_t x, int32_t y)
{
    return bcg_lcm_u32(bcg_magnitude_i32(x), bcg_magnitude_i32(y));
}

/* Of magnitudes. */
static inline uint64_t bcg_lcm_i64(int64_t x, int64_t y)
{
    return bcg_lcm_u64(bcg_magnitude_i64(x), bcg_magnitude_i64(y));
}

/* The sign of x; x rem 0 is 0. In doubles, which hold the quotients well enough. */
static inline int32_t bcg_fmod_i32(int32_t x, int32_t y)
{
    const int32_t divisor = ((y == 0) | (y == -1)) != 0 ? 1 : y;
    return x - (int32_t)((double)x / (double)divisor) * divisor;
}

/* The sign of x; x rem 0 is 0. */
static inline int64_t bcg_fmod_i64(int64_t x, int64_t y)
{
    const int64_t divisor = ((y == 0) | (y == -1)) != 0 ? 1 : y;
    return x % divisor;
}

/* fmodf for a quotient up to BCG_NEAR_QUOTIENT_F32 and a finite y: of one rounded up to a whole number too little is left. */
static inline float bcg_fmod_common_f32(float x, float y)
{
    const float size = fabsf(x), divisor = fabsf(y), rest = bcg_fma_f32(-floorf(size / divisor), divisor, size);
    return copysignf(rest < 0 ? rest + divisor : rest, x);
}

/* fmod for a quotient up to BCG_NEAR_QUOTIENT_F64 and a finite y: of one rounded up to a whole number too little is left. */
static inline double bcg_fmod_common_f64(double x, double y)
{
    const double size = fabs(x), divisor = fabs(y), rest = bcg_fma_f64(-floor(size / divisor), divisor, size);
    return copysign(rest < 0 ? rest + divisor : rest, x);
}

/* x * 2^n, rounded once: a double holds the product. */
static inline float bcg_ldexp_f32(float x, int64_t n)
{
    const int64_t most = n < 300 ? n : 300, power = most > -300 ? most : -300;
    return (float)((double)x * bcg_from_bits_f64((uint64_t)(power + 1023) << 52));
}

/* x * 2^n, rounded once: in steps of which only the last one may leave the normal numbers, unless the result is 0. */
static inline double bcg_ldexp_f64(double x, int64_t n)
{
    const int64_t most = n < 2200 ? n : 2200, power = most > -2200 ? most : -2200;
    const int64_t first = power > 1023 ? 1023 : power < -1022 ? -969 : 0, left = power - first;
    const int64_t second = left > 1023 ? 1023 : left < -1022 ? -969 : 0, rest = left - second;
    const int64_t below = rest < 1023 ? rest : 1023, last = below > -1022 ? below : -1022;
    const double once = x * bcg_from_bits_f64((uint64_t)(first + 1023) << 52);
    const double twice = once * bcg_from_bits_f64((uint64_t)(second + 1023) << 52);
    return twice * bcg_from_bits_f64((uint64_t)(last + 1023) << 52);
}

/* Whether x is neither 0 nor an infinity nor NaN. */
static inline int bcg_has_exponent_f32(float x)
{
    const float size = fabsf(x);
    return (size > 0) & (size <= 0x1.fffffep+127f);
}

/* Whether x is neither 0 nor an infinity nor NaN. */
static inline int bcg_has_exponent_f64(double x)
{
    const double size = fabs(x);
    return (size > 0) & (size <= 0x1.fffffffffffffp+1023);
}

/* The factor of x = factor * 2^exponent that is in [1/2, 1); 0, infinities and NaN themselves. */
static inline float bcg_frexp_mantissa_f32(float x)
{
    const uint32_t bits = bcg_bits_f32(fabsf(x) < 0x1p-126f ? x * 0x1p24f : x);
    return bcg_has_exponent_f32(x) ? bcg_from_bits_f32((bits & 0x807fffffu) | 0x3f000000u) : x;
}

/* The factor of x = factor * 2^exponent that is in [1/2, 1); 0, infinities and NaN themselves. */
static inline double bcg_frexp_mantissa_f64(double x)
{
    const uint64_t bits = bcg_bits_f64(fabs(x) < 0x1p-1022 ? x * 0x1p54 : x);
    return bcg_has_exponent_f64(x) ? bcg_from_bits_f64((bits & 0x800fffffffffffffu) | 0x3fe0000000000000u) : x;
}

/* The exponent of x = factor * 2^exponent with a factor in [1/2, 1); 0 for 0, infinities and NaN. */
static inline int32_t bcg_frexp_exponent_f32(float x)
{
    const int is_small = fabsf(x) < 0x1p-126f;
    const uint32_t bits = bcg_bits_f32(is_small ? x * 0x1p24f : x);
    return bcg_has_exponent_f32(x) ? (int32_t)((bits >> 23) & 0xffu) - (is_small ? 150 : 126) : 0;
}

/* The exponent of x = factor * 2^exponent with a factor in [1/2, 1); 0 for 0, infinities and NaN. */
static inline int32_t bcg_frexp_exponent_f64(double x)
{
    const int is_small = fabs(x) < 0x1p-1022;
    const uint64_t bits = bcg_bits_f64(is_small ? x * 0x1p54 : x);
    return bcg_has_exponent_f64(x) ? (int32_t)((bits >> 52) & 0x7ffu) - (is_small ? 1076 : 1022) : 0;
}

/* The number after x on the way to y: bits of floats are in order, from 0 either way. */
static inline float bcg_nextafter_f32(float x, float y)
{
    const uint32_t bits = bcg_bits_f32(x), sign = bcg_bits_f32(y) & 0x80000000u;
    const uint32_t next = (y > x) == (x > 0) ? bits + 1 : bits - 1;
    const float moved = bcg_from_bits_f32(x == 0 ? sign | 1u : next);
    return ((x != x) | (y != y)) != 0 ? x + y : x == y ? y : moved;
}

/* The number after x on the way to y: bits of floats are in order, from 0 either way. */
static inline double bcg_nextafter_f64(double x, double y)
{
    const uint64_t bits = bcg_bits_f64(x), sign = bcg_bits_f64(y) & 0x8000000000000000u;
    const uint64_t next = (y > x) == (x > 0) ? bits + 1 : bits - 1;
    const double moved = bcg_from_bits_f64(x == 0 ? sign | 1u : next);
    return ((x != x) | (y != y)) != 0 ? x + y : x == y ? y : moved;
}

/* The number after x on the way to y, of a bf16, which is a float without its lower half. */
static inline float bcg_nextafter_bf16(float x, float y)
{
    const uint32_t bits = bcg_bits_f32(x), sign = bcg_bits_f32(y) & 0x80000000u;
    const uint32_t next = (y > x) == (x > 0) ? bits + 0x10000u : bits - 0x10000u;
    const float moved = bcg_from_bits_f32(x == 0 ? sign | 0x10000u : next);
    return ((x != x) | (y != y)) != 0 ? x + y : x == y ? y : moved;
}

/* The f16 after x on the way to y: below 2^-14 they are 2^-24 apart. */
static inline float bcg_nextafter_f16(float x, float y)
{
    const float size = fabsf(x);
    const int grows = (y > x) == (x > 0);
    const uint32_t bits = bcg_bits_f32(size);
    const float normal = bcg_from_bits_f32(grows ? bits + 0x2000u : bits - 0x2000u);
    const float small = grows ? size + 0x1p-24f : size - 0x1p-24f;
    const float moved = copysignf((grows ? size < 0x1p-14f : size <= 0x1p-14f) ? small : normal, x);
    const float within = size > 65504 ? copysignf(65504, x) : moved;
    const float next = x == 0 ? copysignf(0x1p-24f, y) : within;
    return ((x != x) | (y != y)) != 0 ? x + y : x == y ? y : next;
}

/* The distance to the next number away from 0, with the sign of x, that of -0 being none; NaN for infinities. */
static inline float bcg_spacing_f32(float x)
{
    return bcg_from_bits_f32(bcg_bits_f32(x + 0) + 1) - x;
}

/* The distance to the next number away from 0, with the sign of x, that of -0 being none; NaN for infinities. */
static inline double bcg_spacing_f64(double x)
{
    return bcg_from_bits_f64(bcg_bits_f64(x + 0) + 1) - x;
}

/* The distance to the next bf16 away from 0, with the sign of x, also that of -0; NaN for infinities. */
static inline float bcg_spacing_bf16(float x)
{
    return bcg_from_bits_f32(bcg_bits_f32(x) + 0x10000u) - x;
}

/* The distance to the next f16 as NumPy has it: never negative, and of a negative power of two that to the next
 * number towards 0. */
static inline float bcg_spacing_f16(float x)
{
    const uint32_t bits = bcg_bits_f32(x);
    const float power = bcg_from_bits_f32(bits & 0x7f800000u) * 0x1p-10f;
    const float step = (bits & 0x807fffffu) == 0x80000000u ? power * 0.5f : power;
    const float known = step > 0x1p-24f ? step : 0x1p-24f;
    return fabsf(x) < INFINITY ? (x == 65504 ? INFINITY : known) : NAN;
}

#endif
