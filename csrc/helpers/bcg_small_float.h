/* bcg_small_float.h: floats of at most 8 bits, which memory holds and nothing computes in, from and to C floats.
 *
 * Contract. An element is its code in a uint8_t; in a code of fewer bits all bits in front stand for the sign. A format is given by the
 * width of its mantissa, its bias, the code of its sign, and the codes of its largest number, of what lies beyond that,
 * and of NaN; they are constants wherever a kernel calls. Beyond the largest number is an infinity, NaN (`beyond` is
 * `nan` then), or the largest number itself; formats without -0 have NaN in its place, and those without NaN take it
 * for a zero of the other sign. bcg_small_to_f32 and bcg_scale_to_f32 are exact, bcg_f32_to_small rounds to nearest,
 * halves to even, with subnormals kept. NaN keeps its sign, not its payload. Pure, defined for every argument, and without
 * branches, so that compilers vectorise. Each definition is between blank lines and uses only what is above it or in
 * the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_SMALL_FLOAT_H
#define BCG_SMALL_FLOAT_H

#include <stdint.h>

#include "bcg_half.h"
#include "bcg_vmath_core.h"

/* The subnormals are the multiples of 2^(1 - bias - mantissa) by a mantissa. */
static inline float bcg_small_to_f32(uint8_t code, int mantissa, int bias, uint32_t sign_bit, uint32_t largest,
                                     uint32_t beyond, uint32_t nan)
{
    const uint32_t magnitude = code & (sign_bit - 1u), sign = bcg_mask((int32_t)code >= (int32_t)sign_bit) & 0x80000000u;
    const float least = bcg_from_bits_f32((uint32_t)(128 - bias - mantissa) << 23);
    const uint32_t subnormal = bcg_bits_f32((float)(int32_t)magnitude * least);
    const uint32_t normal = (magnitude << (23 - mantissa)) + ((uint32_t)(127 - bias) << 23);
    const uint32_t small = bcg_mask((int32_t)magnitude < 1 << mantissa);
    const uint32_t finite = (subnormal & small) | (normal & ~small);
    const uint32_t special = bcg_mask((int32_t)magnitude > (int32_t)largest);
    const uint32_t missing = bcg_mask(beyond == sign_bit) & bcg_mask(code == sign_bit);
    const uint32_t quiet = bcg_mask(magnitude != beyond || beyond == nan) & 0x00400000u;
    return bcg_from_bits_f32(sign | (finite & ~special & ~missing) | ((0x7f800000u | quiet) & (special | missing)));
}

/* Adding 2^(24 - bias - mantissa) to what is below the normal numbers rounds it to a multiple of the least number. */
static inline uint8_t bcg_f32_to_small(float x, int mantissa, int bias, uint32_t sign_bit, uint32_t largest,
                                       uint32_t beyond, uint32_t nan)
{
    const uint32_t bits = bcg_bits_f32(x), magnitude = bits & 0x7fffffffu, drop = 23u - (uint32_t)mantissa;
    const uint32_t sign = bcg_mask((int32_t)bits < 0) & sign_bit, first = (uint32_t)(128 - bias) << 23;
    const uint32_t by = (uint32_t)(151 - bias - mantissa) << 23;
    const uint32_t subnormal = bcg_bits_f32(bcg_from_bits_f32(magnitude) + bcg_from_bits_f32(by)) - by;
    const uint32_t rounded = (magnitude + (1u << (drop - 1u)) - 1u + (magnitude >> drop & 1u)) >> drop;
    const uint32_t normal = rounded - ((uint32_t)(127 - bias) << mantissa);
    const uint32_t finite = (int32_t)magnitude < (int32_t)first ? subnormal : normal;
    const uint32_t number = (int32_t)finite > (int32_t)largest ? beyond : finite;
    const uint32_t found = (int32_t)magnitude > 0x7f800000 ? nan : number;
    return (uint8_t)(found ^ (beyond == sign_bit && (found == 0u || found == nan) ? 0u : sign));
}

/* A power of two is its exponent in 8 bits, counted from -127; 255 is NaN, and there is no sign and no 0. */
static inline float bcg_scale_to_f32(uint8_t code)
{
    const uint32_t least = bcg_mask(code == 0) & 0x00400000u, quiet = bcg_mask(code == 255) & 0x00400000u;
    return bcg_from_bits_f32((uint32_t)code << 23 | least | quiet);
}

/* Here halves go up, and all between 2^-127 and 2^-126, as in ml_dtypes; what is not positive is NaN. */
static inline uint8_t bcg_f32_to_scale(float x)
{
    const uint32_t bits = bcg_bits_f32(x);
    const uint32_t rounded = (bits + 0x003fffffu + ((int32_t)bits > 0x007fffff ? 1u : 0u)) >> 23;
    return (uint8_t)((int32_t)bits <= 0 || (int32_t)bits >= 0x7f800000 ? 255u : rounded);
}

/* The integer of two's complement whose bits are the low ones of `low`, up to its sign bit. */
static inline int8_t bcg_low_signed(uint32_t low, uint32_t sign_bit)
{
    return (int8_t)((int32_t)((low & (2u * sign_bit - 1u)) ^ sign_bit) - (int32_t)sign_bit);
}

static inline uint8_t bcg_low_unsigned(uint32_t low, uint32_t largest) { return (uint8_t)(low & largest); }

#endif
