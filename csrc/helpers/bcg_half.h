/* bcg_half.h: the 16-bit floats f16 (IEEE binary16) and bf16, whose values are computed with as C floats.
 *
 * Contract. In memory an element is its bits in a uint16_t; a value is a float that the 16-bit type can represent.
 * bcg_<x>_to_f32 is exact, bcg_f32_to_<x> and bcg_round_<x> round to nearest, halves to even, with overflow to infinity
 * and subnormals kept; NaN stays NaN. Values of wider types go through bcg_odd_<source> first: rounding to odd
 * keeps what decides a half, so that there is one rounding in all. Pure, defined for every argument, and without
 * branches, so that compilers vectorise; where gcc would make a branch of a selection, masks (bcg_mask) select. Each
 * definition is between blank lines and uses only what is above it or in the standard headers: emit copies the
 * ones a kernel needs.
 */
#ifndef BCG_HALF_H
#define BCG_HALF_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bcg_vmath_core.h"

/* A mask: all bits if it holds, else none. */
static inline uint32_t bcg_mask(int holds) { return 0u - (uint32_t)holds; }

static inline float bcg_f16_to_f32(uint16_t bits)
{
    const int32_t magnitude = bits & 0x7fff;
    const uint32_t sign = ((uint32_t)bits & 0x8000u) << 16;
    const uint32_t small = bcg_mask(magnitude < 0x0400), special = bcg_mask(magnitude >= 0x7c00) & 0x7f800000u;
    const uint32_t quiet = bcg_mask(magnitude > 0x7c00) & 0x00400000u;
    const uint32_t normal = ((uint32_t)magnitude << 13) + 0x38000000u; /* the exponent counts from -127, not from -15 */
    const uint32_t subnormal = bcg_bits_f32((float)magnitude * 0x1p-24f);
    return bcg_from_bits_f32((subnormal & small) | (normal & ~small) | special | quiet | sign);
}

/* Adding 0.5 to what is below 2^-14 rounds it to a multiple of 2^-24, the least f16, which is then in the low bits. What
 * overflows raises the exception. */
static inline uint16_t bcg_f32_to_f16(float x)
{
    const uint32_t bits = bcg_bits_f32(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    const uint32_t subnormal = bcg_bits_f32(bcg_from_bits_f32(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1u)) & 0x7fffe000u;
    const uint32_t scaled = bcg_bits_f32(bcg_from_bits_f32(normal) * 0x1p112f);
    const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x03ffu);
    const uint32_t finite = magnitude < 0x38800000u ? subnormal : (normal - 0x38000000u) >> 13;
    const uint32_t number = scaled < 0x7f7fffffu ? finite : 0x7c00u;
    return (uint16_t)(sign | (magnitude > 0x7f800000u ? nan : number));
}

/* bcg_f16_to_f32 of 16 elements. Instructions for it give the same bits, but gcc makes no vectors of them by itself. */
static inline void bcg_f16_lanes_to_f32(const uint16_t *x, float *r)
{
#if defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    typedef short halves __attribute__((vector_size(32)));
    typedef float floats __attribute__((vector_size(64)));
    halves from;
    memcpy(&from, x, sizeof from);
    const floats to = __builtin_ia32_vcvtph2ps512_mask(from, (floats){0}, -1, 4);
    memcpy(r, &to, sizeof to);
#elif defined __F16C__ && defined __GNUC__ && !defined __clang__
    typedef short halves __attribute__((vector_size(16)));
    typedef float floats __attribute__((vector_size(32)));
    for (int i = 0; i < 16; i += 8) {
        halves from; /* One vector: gcc copies an array of two in smaller parts, and a load waits for stores of parts. */
        memcpy(&from, x + i, sizeof from);
        const floats to = __builtin_ia32_vcvtph2ps256(from);
        memcpy(r + i, &to, sizeof to);
    }
#else
    for (int i = 0; i < 16; i++) r[i] = bcg_f16_to_f32(x[i]);
#endif
}

/* f16 of 16 floats: to nearest, whatever the thread rounds to. */
static inline void bcg_f32_lanes_to_f16(const float *x, uint16_t *r)
{
#if defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    typedef short halves __attribute__((vector_size(32)));
    typedef float floats __attribute__((vector_size(64)));
    floats from;
    memcpy(&from, x, sizeof from);
    const halves to = __builtin_ia32_vcvtps2ph512_mask(from, 0, (halves){0}, 0xffff);
    memcpy(r, &to, sizeof to);
#elif defined __F16C__ && defined __GNUC__ && !defined __clang__
    typedef short halves __attribute__((vector_size(16)));
    typedef float floats __attribute__((vector_size(32)));
    for (int i = 0; i < 16; i += 8) {
        floats from;
        memcpy(&from, x + i, sizeof from);
        const halves to = __builtin_ia32_vcvtps2ph256(from, 0);
        memcpy(r + i, &to, sizeof to);
    }
#else
    for (int i = 0; i < 16; i++) r[i] = bcg_f32_to_f16(x[i]);
#endif
}

/* bcg_f16_to_f32 of n elements, into a block with room for them and up to 15 more. */
static inline void bcg_f16_block_to_f32(const uint16_t *x, float *block, int64_t n)
{
    const int64_t whole = n - n % 16;
    for (int64_t i = 0; i < whole; i += 16) bcg_f16_lanes_to_f32(x + i, block + i);
    if (whole == n) return;
    uint16_t rest[16] = {0};
    memcpy(rest, x + whole, (size_t)(n - whole) * sizeof *x);
    bcg_f16_lanes_to_f32(rest, block + whole);
}

/* bcg_f32_to_f16 of n elements of such a block. */
static inline void bcg_f32_block_to_f16(const float *block, uint16_t *r, int64_t n)
{
    const int64_t whole = n - n % 16;
    for (int64_t i = 0; i < whole; i += 16) bcg_f32_lanes_to_f16(block + i, r + i);
    if (whole == n) return;
    float given[16] = {0};
    uint16_t rest[16];
    memcpy(given, block + whole, (size_t)(n - whole) * sizeof *block);
    bcg_f32_lanes_to_f16(given, rest);
    memcpy(r + whole, rest, (size_t)(n - whole) * sizeof *r);
}

/* Adding 0.5 to what is below 2^-14 rounds it to a multiple of 2^-24, the least f16. What is 2^16 or more has no f16. It
 * overflows as a float, too, when it is multiplied by 2^112, which raises the exception: to infinity, or to the largest
 * float where the thread rounds to zero. */
static inline float bcg_round_f16(float x)
{
    const uint32_t bits = bcg_bits_f32(x), sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    const int32_t order = (int32_t)magnitude;
    const uint32_t nan = bcg_mask(order > 0x7f800000) & (magnitude | 0x00400000u);
    const uint32_t subnormal = bcg_bits_f32(bcg_from_bits_f32(magnitude) + 0.5f - 0.5f);
    const uint32_t normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1u)) & 0x7fffe000u;
    const int32_t scaled = (int32_t)bcg_bits_f32(bcg_from_bits_f32(normal) * 0x1p112f);
    const uint32_t small = bcg_mask(order < 0x38800000), large = bcg_mask(scaled >= 0x7f7fffff);
    const uint32_t finite = (subnormal & small) | (normal & ~small);
    return bcg_from_bits_f32(sign | (finite & ~large) | (0x7f800000u & large) | nan);
}

static inline float bcg_bf16_to_f32(uint16_t bits) { return bcg_from_bits_f32((uint32_t)bits << 16); }

static inline uint16_t bcg_f32_to_bf16(float x)
{
    const uint32_t bits = bcg_bits_f32(x);
    const uint32_t number = bits + 0x7fffu + (bits >> 16 & 1u);
    return (uint16_t)(((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x00400000u : number) >> 16);
}

static inline float bcg_round_bf16(float x)
{
    const uint32_t bits = bcg_bits_f32(x);
    const uint32_t number = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
    return bcg_from_bits_f32((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x00400000u : number);
}

/* The float next to x towards 0, with its last bit set where x is not that float. */
static inline float bcg_odd_f64(double x)
{
    const float near = (float)x;
    const double back = (double)near;
    const uint32_t bits = bcg_bits_f32(near), inexact = back != x ? 1u : 0u, away = fabs(back) > fabs(x) ? 1u : 0u;
    return bcg_from_bits_f32((bits - away) | inexact);
}

/* A double holds 53 bits: of longer ones, the last that it keeps is set where any that it drops is. */
static inline float bcg_odd_u64(uint64_t x)
{
    const uint64_t kept = (x & ~UINT64_C(0x7ff)) | ((x & 0x7ff) != 0 ? UINT64_C(0x800) : 0);
    return bcg_odd_f64((double)(x >> 53 != 0 ? kept : x));
}

static inline float bcg_odd_i64(int64_t x)
{
    const float magnitude = bcg_odd_u64(x < 0 ? UINT64_C(0) - (uint64_t)x : (uint64_t)x);
    return x < 0 ? -magnitude : magnitude;
}

static inline float bcg_odd_u32(uint32_t x) { return bcg_odd_f64((double)x); }

static inline float bcg_odd_i32(int32_t x) { return bcg_odd_f64((double)x); }

static inline uint16_t bcg_f64_to_f16(double x) { return bcg_f32_to_f16(bcg_odd_f64(x)); }

static inline uint16_t bcg_f64_to_bf16(double x) { return bcg_f32_to_bf16(bcg_odd_f64(x)); }

#endif
