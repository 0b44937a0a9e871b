/* bcg_vmath_inverse_trig.h: inverse trigonometric functions, bcg_<function>_<dtype>.
 *
 * Contract. Pure, no errno, any argument; errors within the bound of the op's row, special values those of C99's Annex
 * F. Branch-free, so that loops vectorise. Each definition is between blank lines and uses only what is above it, in
 * the headers that are included or in the standard ones: emit copies the ones a kernel needs.
 *
 * Forms with `common` in the name are right where the op's row says, and give the same bits there as the full ones.
 */
#ifndef BCG_VMATH_INVERSE_TRIG_H
#define BCG_VMATH_INVERSE_TRIG_H

#include "bcg_vmath_core.h"
#include "bcg_vmath_angle.h"

/* arctan(t) = t + t z q(z - 131/256), z = t^2, for t up to 1: q rounds least around its middle.
 * Minimax fit arctan_f32: error 2^-28.3 */
static inline float bcg_arctan_tail_f32(float z)
{
    const float u = z - 0x1.06p-1f;
    float tail = bcg_fma_f32(u, -0x1.d62e8ep-10f, 0x1.d42eb8p-9f);
    tail = bcg_fma_f32(u, tail, -0x1.56e544p-8f);
    tail = bcg_fma_f32(u, tail, 0x1.2018fap-7f);
    tail = bcg_fma_f32(u, tail, -0x1.00086p-6f);
    tail = bcg_fma_f32(u, tail, 0x1.d1366cp-6f);
    tail = bcg_fma_f32(u, tail, -0x1.b8c3eep-5f);
    tail = bcg_fma_f32(u, tail, 0x1.c0af1p-4f);
    return bcg_fma_f32(u, tail, -0x1.080ee8p-2f);
}

/* arctan(t) - t = t z q(z) for t up to tan(pi / 8). Minimax fit arctan_f64: error 2^-57.4 */
static inline double bcg_arctan_tail_f64(double z)
{
    const double z2 = z * z, z4 = z2 * z2;
    const double a1 = bcg_fma_f64(z, 0x1.c71c70e500661p-4, -0x1.24924922aa2ebp-3);
    const double a = bcg_fma_f64(z2, a1, bcg_fma_f64(z, 0x1.99999999957c9p-3, -0x1.555555555553dp-2));
    const double b1 = bcg_fma_f64(z, 0x1.df0e69b5eb989p-5, -0x1.10eba74caae51p-4);
    const double b = bcg_fma_f64(z2, b1, bcg_fma_f64(z, 0x1.3b111775465b3p-4, -0x1.745cf8c1c3d0dp-4));
    const double c = bcg_fma_f64(z2, -0x1.2558d54710267p-6, bcg_fma_f64(z, 0x1.37cd0d9f2b233p-5, -0x1.9ccf1635eedap-5));
    return bcg_fma_f64(z4, bcg_fma_f64(z4, c, b), a);
}

/* Beyond 1 it is pi / 2 - arctan(1 / |x|), with the rounding error of that quotient. The rest of a division by an
 * infinity would be a NaN. */
static inline float bcg_arctan_f32(float x)
{
    const float size = fabsf(x);
    const uint32_t large = bcg_mask_f32(1 - size);
    const float over = bcg_masked_f32(large, -1, size), under = bcg_masked_f32(large, size, 1);
    const uint32_t bits = bcg_bits_f32(under), kept = bits < 0x71800000u ? bits : 0x71800000u;
    const float t = over / under, z = t * t, cube = t * z, slope = bcg_fma_f32(cube, 0.5f, -t);
    const float base = bcg_from_bits_f32(0x3fc90fdbu & large), sum = base + t;
    const float left = bcg_rest_f32(over, t, bcg_from_bits_f32(kept));
    const float after = bcg_fma_f32(left, slope, bcg_from_bits_f32(0xb33bbd2eu & large));
    const float lows = bcg_sum_low_f32(base, t, sum) + after;
    return bcg_signed_f32(x, sum + bcg_close_fma_f32(cube, bcg_arctan_tail_f32(z), lows));
}

/* Up to tan(pi / 8) by the series of |x|, up to tan(3 pi / 8) by that of t = (|x| - 1) / (|x| + 1), beyond that by the
 * series of -1 / |x|. The rounding error of t counts; 1 / (|x| + 1) = (1 - t) / 2 scales it. */
static inline double bcg_arctan_f64(double x)
{
    const double kept = fabs(x);
    const uint64_t large = bcg_mask_f64(0x1.3504f333f9de6p+1 - kept);
    const uint64_t middle = bcg_mask_f64(0x1.a827999fcef32p-2 - kept) ^ large;
    const double one = bcg_masked_f64(middle, 1, 0), added = bcg_masked_f64(middle, kept, 0);
    const double above = kept - one, below = 1 + added;
    const double above_low = bcg_sum_low_f64(-one, kept, above), below_low = bcg_sum_low_f64(1, added, below);
    const double over = bcg_masked_f64(large, -1, above), under = bcg_masked_f64(large, kept, below);
    const double t = over / under, z = t * t;
    const double lost = bcg_rest_f64(over, t, under) + bcg_fma_f64(-t, below_low, above_low);
    const double rest = bcg_masked_f64(bcg_mask_f64(kept - 0x1.3504f333f9de6p+1), lost, 0);
    const double eighths = bcg_masked_f64(large, 2, one), base = eighths * 0x1.921fb54442d18p-1, sum = base + t;
    const double left = bcg_fma_f64(rest, bcg_fma_f64(t, -0.5, 0.5), eighths * 0x1.1a62633145c07p-55);
    const double lows = bcg_sum_low_f64(base, t, sum) + left;
    return bcg_signed_f64(x, sum + bcg_fma_f64(t * z, bcg_arctan_tail_f64(z), lows));
}

/* arctan(t) for t up to 1: large terms of both signs are added last, one after the other.
 * Minimax fit arctan_fast_f32: error 2^-27.2 */
static inline float bcg_arctan_octant_f32(float t)
{
    const float z = t * t, z2 = z * z;
    float even = bcg_fma_f32(z2, -0x1.d62e8ep-10f, -0x1.fed07cp-6f);
    float odd = bcg_fma_f32(z2, 0x1.65a58p-7f, 0x1.dac964p-5f);
    even = bcg_fma_f32(z2, even, -0x1.583466p-4f);
    odd = bcg_fma_f32(z2, odd, 0x1.c099eep-4f);
    const float end = bcg_fma_f32(z, bcg_fma_f32(z, even, odd), -0x1.2421b4p-3f);
    const float tail = bcg_fma_f32(z, bcg_fma_f32(z, end, 0x1.9991fcp-3f), -0x1.55553ep-2f);
    return bcg_fma_f32(t * z, tail, t);
}

/* Beyond 1 it is pi / 2 - arctan(1 / |x|). */
static inline float bcg_arctan_fast_f32(float x)
{
    const float size = fabsf(x), over = 1.0f < size ? 1.0f : size, under = 1.0f < size ? size : 1.0f;
    const uint32_t large = bcg_mask_f32(1 - size);
    const float angle = bcg_from_bits_f32(bcg_bits_f32(bcg_arctan_octant_f32(over / under)) ^ (large & 0x80000000u));
    return bcg_signed_f32(x, bcg_masked_f32(large, 0x1.921fb6p+0f, 0) + angle);
}

/* As above, without what rounding took. */
static inline double bcg_arctan_fast_f64(double x)
{
    const double kept = fabs(x);
    const uint64_t large = bcg_mask_f64(0x1.3504f333f9de6p+1 - kept);
    const uint64_t middle = bcg_mask_f64(0x1.a827999fcef32p-2 - kept) ^ large;
    const double one = bcg_masked_f64(middle, 1, 0), added = bcg_masked_f64(middle, kept, 0);
    const double over = bcg_masked_f64(large, -1, kept - one), under = bcg_masked_f64(large, kept, 1 + added);
    const double t = over / under, z = t * t, eighths = bcg_masked_f64(large, 2, one);
    return bcg_signed_f64(x, bcg_fma_f64(eighths, 0x1.921fb54442d18p-1, bcg_fma_f64(t * z, bcg_arctan_tail_f64(z), t)));
}

/* All ones where a < b, both without a sign: two infinities are equal, whatever sign their difference has. */
static inline uint32_t bcg_less_mask_f32(float a, float b)
{
    return 0 - ((bcg_bits_f32(a) - bcg_bits_f32(b)) >> 31);
}

/* All ones where x, which has no sign, is an infinity, but not where it is a NaN. */
static inline uint32_t bcg_infinite_mask_f32(float x) { return 0 - (uint32_t)(bcg_bits_f32(x) == 0x7f800000u); }

/* All ones where a < b, both without a sign: two infinities are equal, whatever sign their difference has. */
static inline uint64_t bcg_less_mask_f64(double a, double b)
{
    return 0 - ((bcg_bits_f64(a) - bcg_bits_f64(b)) >> 63);
}

/* All ones where x, which has no sign, is an infinity, but not where it is a NaN. */
static inline uint64_t bcg_infinite_mask_f64(double x)
{
#if defined __SSE4_1__ || defined __aarch64__
    return 0 - (uint64_t)(bcg_bits_f64(x) == 0x7ff0000000000000u);
#else
    return 0 - (((bcg_bits_f64(x) ^ 0x7ff0000000000000u) - 1) >> 63);
#endif
}

/* The arctan of small / large, which are the smaller and the larger of |y| and |x|, with the rounding errors of the
 * quotient and of its square. If |y| > |x|, the angle is pi / 2 less this arctan; if x < 0, it is pi less that. */
static inline float bcg_arctan2_of_f32(float y, float x, uint32_t steeper, float small, float large)
{
    const float inverse = 1 / large, t = small * inverse, left = bcg_rest_f32(small, t, large) * inverse, z = t * t;
    const float fix = bcg_fma_f32(left, bcg_fma_f32(z, -0.5f, 1), -0.25f * bcg_prod_low_f32(t, t, z));
    const uint32_t sign = bcg_bits_f32(x) & 0x80000000u, flip = (steeper & 0x80000000u) ^ sign;
    const uint32_t half_turn = 0x40490fdbu & bcg_mask_f32(x), turn = (0x3fc90fdbu & steeper) | (half_turn & ~steeper);
    const float base = bcg_from_bits_f32(turn), part = bcg_from_bits_f32(bcg_bits_f32(t) ^ flip), sum = base + part;
    const float after = bcg_fma_f32(base, -0x1.de12cap-26f, bcg_from_bits_f32(bcg_bits_f32(fix) ^ flip));
    const float lows = bcg_sum_low_f32(base, part, sum) + after;
    return bcg_signed_f32(y, sum + bcg_close_fma_f32(part * z, bcg_arctan_tail_f32(z), lows));
}

/* Where |x| and |y| are from 2^-32 to 2^32. */
static inline float bcg_arctan2_common_f32(float y, float x)
{
    const float ax = bcg_size_f32(x), ay = bcg_size_f32(y);
    return bcg_arctan2_of_f32(y, x, bcg_less_mask_f32(ax, ay), ax < ay ? ax : ay, ax < ay ? ay : ax);
}

/* Of any arguments: both are scaled, and zeros and infinities are replaced by numbers of the same angle. */
static inline float bcg_arctan2_f32(float y, float x)
{
    const float ax = bcg_size_f32(x), ay = bcg_size_f32(y);
    const uint32_t steeper = bcg_less_mask_f32(ax, ay);
    const float small = bcg_masked_f32(steeper, ax, ay), large = bcg_masked_f32(steeper, ay, ax);
    const uint32_t infinite = bcg_infinite_mask_f32(large), both = bcg_infinite_mask_f32(small);
    const float n = bcg_masked_f32(infinite, bcg_masked_f32(both, 1, small * 0), small);
    const float finite = bcg_masked_f32(infinite, 1, large), d = finite < 0x1p-149f ? 0x1p-149f : finite;
    const float scale = bcg_from_bits_f32(0x7f000000u - (bcg_bits_f32(d * 0.5f) & 0x7f800000u));
    return bcg_arctan2_of_f32(y, x, steeper, n * scale, d * scale);
}

/* The smaller of |y| and |x| is divided by the larger, both scaled, or beyond tan(pi / 8) their difference by their
 * sum, and the quotient's arctan is taken. If |y| > |x|, the angle is pi / 2 less this arctan; if x < 0, it is pi less
 * that angle. */
static inline double bcg_arctan2_f64(double y, double x)
{
    const double ax = bcg_size_f64(x), ay = bcg_size_f64(y);
    const uint64_t steeper = bcg_mask_f64(ax - ay);
    const double small = bcg_masked_f64(steeper, ax, ay), large = bcg_masked_f64(steeper, ay, ax);
    const uint64_t infinite = bcg_infinite_mask_f64(large), both = bcg_infinite_mask_f64(small);
    const double n = bcg_masked_f64(infinite, bcg_masked_f64(both, 1, small * 0), small);
    const double finite = bcg_masked_f64(infinite, 1, large), d = finite < 0x1p-1074 ? 0x1p-1074 : finite;
    const double scale = bcg_from_bits_f64(0x7fe0000000000000u - (bcg_bits_f64(d * 0.5) & 0x7ff0000000000000u));
    const double high = n * scale, wide = d * scale;
    const uint64_t middle = bcg_mask_f64(wide * 0x1.a827999fcef32p-2 - high);
    const double subtracted = bcg_masked_f64(middle, wide, 0), added = bcg_masked_f64(middle, high, 0);
    const double over = high - subtracted, under = wide + added, inverse = 1 / under, t = over * inverse, z = t * t;
    const double over_low = bcg_sum_low_f64(-subtracted, high, over), under_low = bcg_sum_low_f64(wide, added, under);
    const double left = (bcg_rest_f64(over, t, under) + bcg_fma_f64(-t, under_low, over_low)) * inverse;
    const uint64_t sign = bcg_bits_f64(x) & 0x8000000000000000u, steep = steeper & 0x8000000000000000u;
    const uint64_t flip = steep ^ sign;
    const double one = bcg_from_bits_f64(bcg_bits_f64(bcg_masked_f64(middle, 1, 0)) ^ steep);
    const double first = one + bcg_from_bits_f64((0 - (steep >> 63)) & 0x4000000000000000u);
    const double four = bcg_from_bits_f64((0 - (sign >> 63)) & 0x4010000000000000u);
    const double eighths = four + bcg_from_bits_f64(bcg_bits_f64(first) ^ sign), base = eighths * 0x1.921fb54442d18p-1;
    const double part = bcg_from_bits_f64(bcg_bits_f64(t) ^ flip), sum = base + part;
    const double after = bcg_fma_f64(eighths, 0x1.1a62633145c07p-55, bcg_from_bits_f64(bcg_bits_f64(left) ^ flip));
    const double lows = bcg_sum_low_f64(base, part, sum) + after;
    return bcg_signed_f64(y, sum + bcg_fma_f64(part * z, bcg_arctan_tail_f64(z), lows));
}

/* The angle of (x, y), by one quotient up to 1. */
static inline float bcg_arctan2_fast_f32(float y, float x)
{
    const float ax = bcg_size_f32(x), ay = bcg_size_f32(y);
    const uint32_t steeper = bcg_less_mask_f32(ax, ay);
    const float small = bcg_masked_f32(steeper, ax, ay), large = bcg_masked_f32(steeper, ay, ax);
    const uint32_t infinite = bcg_infinite_mask_f32(large), both = bcg_infinite_mask_f32(small);
    const float n = bcg_masked_f32(infinite, bcg_masked_f32(both, 1, small * 0), small);
    const float finite = bcg_masked_f32(infinite, 1, large), d = finite < 0x1p-149f ? 0x1p-149f : finite;
    const uint32_t sign = bcg_bits_f32(x) & 0x80000000u, flip = (steeper & 0x80000000u) ^ sign;
    const float two = bcg_from_bits_f32((0 - (sign >> 31)) & 0x40000000u);
    const float quarters = two + bcg_from_bits_f32((steeper & 0x3f800000u) ^ sign);
    const float angle = bcg_from_bits_f32(bcg_bits_f32(bcg_arctan_octant_f32(n / d)) ^ flip);
    return bcg_signed_f32(y, bcg_fma_f32(quarters, 0x1.921fb6p+0f, angle));
}

/* The angle of (x, y), without the rounding errors of its parts. */
static inline double bcg_arctan2_fast_f64(double y, double x)
{
    const double ax = bcg_size_f64(x), ay = bcg_size_f64(y);
    const uint64_t steeper = bcg_less_mask_f64(ax, ay);
    const double small = bcg_masked_f64(steeper, ax, ay), large = bcg_masked_f64(steeper, ay, ax);
    const uint64_t infinite = bcg_infinite_mask_f64(large), both = bcg_infinite_mask_f64(small);
    const double n = bcg_masked_f64(infinite, bcg_masked_f64(both, 1, small * 0), small);
    const double finite = bcg_masked_f64(infinite, 1, large), d = finite < 0x1p-1074 ? 0x1p-1074 : finite;
    const double scale = bcg_from_bits_f64(0x7fe0000000000000u - (bcg_bits_f64(d * 0.5) & 0x7ff0000000000000u));
    const double high = n * scale, wide = d * scale;
    const uint64_t middle = bcg_mask_f64(wide * 0x1.a827999fcef32p-2 - high);
    const double subtracted = bcg_masked_f64(middle, wide, 0), added = bcg_masked_f64(middle, high, 0);
    const double t = (high - subtracted) / (wide + added), z = t * t;
    const uint64_t sign = bcg_bits_f64(x) & 0x8000000000000000u, steep = steeper & 0x8000000000000000u;
    const uint64_t flip = steep ^ sign;
    const double one = bcg_from_bits_f64(bcg_bits_f64(bcg_masked_f64(middle, 1, 0)) ^ steep);
    const double first = one + bcg_from_bits_f64((0 - (steep >> 63)) & 0x4000000000000000u);
    const double four = bcg_from_bits_f64((0 - (sign >> 63)) & 0x4010000000000000u);
    const double eighths = four + bcg_from_bits_f64(bcg_bits_f64(first) ^ sign);
    const double angle = bcg_from_bits_f64(bcg_bits_f64(bcg_fma_f64(t * z, bcg_arctan_tail_f64(z), t)) ^ flip);
    return bcg_signed_f64(y, bcg_fma_f64(eighths, 0x1.921fb54442d18p-1, angle));
}

/* arcsin(s) - s = s z q(z) with z = s^2. Minimax fit arcsin_f32: error 2^-27.4 */
static inline float bcg_arcsin_tail_f32(float z)
{
    const float z2 = z * z, odd = bcg_fma_f32(z2, 0x1.8c28f2p-6f, 0x1.3301e6p-4f);
    const float even = bcg_fma_f32(z2, bcg_fma_f32(z2, 0x1.596c8cp-5f, 0x1.747e38p-5f), 0x1.5555c8p-3f);
    return bcg_fma_f32(z, odd, even);
}

/* arcsin(s) - s = s z q(z) with z = s^2. Minimax fit arcsin_f64: error 2^-59.1 */
static inline double bcg_arcsin_tail_f64(double z)
{
    const double z2 = z * z, z4 = z2 * z2;
    const double a1 = bcg_fma_f64(z, 0x1.f1c71a945cd52p-6, 0x1.6db6db7214447p-5);
    const double a = bcg_fma_f64(z2, a1, bcg_fma_f64(z, 0x1.333333332e0ffp-4, 0x1.5555555555577p-3));
    const double b1 = bcg_fma_f64(z, 0x1.7584f78b2d717p-7, 0x1.ca1fa0e72d2d5p-7);
    const double b = bcg_fma_f64(z2, b1, bcg_fma_f64(z, 0x1.1c49ef7751fd6p-6, 0x1.6e8bdeee9bee9p-6));
    const double c1 = bcg_fma_f64(z, -0x1.580d8315bbf7dp-6, 0x1.63a86bfaf527fp-6);
    const double c = bcg_fma_f64(z2, c1, bcg_fma_f64(z, 0x1.e5cbab30de2fap-9, 0x1.613f83865afp-7));
    return bcg_fma_f64(z4, bcg_fma_f64(z4, bcg_fma_f64(z4, 0x1.0b4b804aa10b3p-5, c), b), a);
}

/* quarters * pi / 2 + factor * arcsin(s), where s^2 = z or, if rooted is 1, s = sqrt(z) rounded. Half of 1 / s gives
 * the rounding error of s; it need only be close, and a number made of halved bits is. */
static inline float bcg_arcsin_sum_f32(float quarters, float factor, float s, float z, int rooted)
{
    const float near = bcg_from_bits_f32(0x5ec00000u - (bcg_bits_f32(z) >> 1));
    const float low = rooted ? bcg_rest_f32(z, s, s) * near : 0;
    const float tail = bcg_fma_f32(s * z, bcg_arcsin_tail_f32(z), low);
    const float base = quarters * 0x1.921fbp+0f, part = factor * s, sum = base + part;
    return sum + (bcg_sum_low_f32(base, part, sum) + bcg_fma_f32(factor, tail, quarters * 0x1.5110b4p-22f));
}

/* quarters * pi / 2 + factor * arcsin(s), where s^2 = z or, if rooted is 1, s = sqrt(z) rounded. Half of 1 / s gives
 * the rounding error of s; it need only be close, and a number made of halved bits is. */
static inline double bcg_arcsin_sum_f64(double quarters, double factor, double s, double z, int rooted)
{
    const double near = bcg_from_bits_f64(0x5fd8000000000000u - (bcg_bits_f64(z) >> 1));
    const double low = rooted ? bcg_rest_f64(z, s, s) * near : 0;
    const double tail = bcg_fma_f64(s * z, bcg_arcsin_tail_f64(z), low);
    const double base = quarters * 0x1.921fb54442d18p+0, part = factor * s, sum = base + part;
    return sum + (bcg_sum_low_f64(base, part, sum) + bcg_fma_f64(factor, tail, quarters * 0x1.1a62633145c07p-54));
}

/* Up to 1/2 the series, beyond that pi / 2 - 2 arcsin(sqrt((1 - x) / 2)). */
static inline float bcg_arcsin_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    return bcg_signed_f32(x, bcg_arcsin_sum_f32(large ? 1 : 0, large ? -2 : 1, s, z, large));
}

/* Up to 1/2 the series, beyond that pi / 2 - 2 arcsin(sqrt((1 - x) / 2)). */
static inline double bcg_arcsin_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    return bcg_signed_f64(x, bcg_arcsin_sum_f64(large ? 1 : 0, large ? -2 : 1, s, z, large));
}

/* pi / 2 - arcsin(x), but beyond 1/2 it is 2 arcsin(sqrt((1 - x) / 2)), and below -1/2 pi less this value for -x. */
static inline float bcg_arccos_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    const float factor = bcg_signed_f32(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5f : 1;
    return bcg_arcsin_sum_f32(quarters, factor, s, z, large);
}

/* pi / 2 - arcsin(x), but beyond 1/2 it is 2 arcsin(sqrt((1 - x) / 2)), and below -1/2 pi less this value for -x. */
static inline double bcg_arccos_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    const double factor = bcg_signed_f64(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5 : 1;
    return bcg_arcsin_sum_f64(quarters, factor, s, z, large);
}

/* As above, without what rounding took. */
static inline float bcg_arcsin_fast_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    const float angle = bcg_fma_f32(s * z, bcg_arcsin_tail_f32(z), s);
    return bcg_signed_f32(x, large ? bcg_fma_f32(angle, -2, 0x1.921fb6p+0f) : angle);
}

/* As above, without what rounding took. */
static inline float bcg_arccos_fast_f32(float x)
{
    const float size = fabsf(x);
    const int large = size > 0.5f;
    const float z = large ? (1 - size) * 0.5f : size * size, s = large ? sqrtf(z) : size;
    const float factor = bcg_signed_f32(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5f : 1;
    return bcg_fma_f32(factor, bcg_fma_f32(s * z, bcg_arcsin_tail_f32(z), s), quarters * 0x1.921fb6p+0f);
}

/* As above, without what rounding took. */
static inline double bcg_arcsin_fast_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    const double angle = bcg_fma_f64(s * z, bcg_arcsin_tail_f64(z), s);
    return bcg_signed_f64(x, large ? bcg_fma_f64(angle, -2, 0x1.921fb54442d18p+0) : angle);
}

/* As above, without what rounding took. */
static inline double bcg_arccos_fast_f64(double x)
{
    const double size = fabs(x);
    const int large = size > 0.5;
    const double z = large ? (1 - size) * 0.5 : size * size, s = large ? sqrt(z) : size;
    const double factor = bcg_signed_f64(x, large ? 2 : -1), quarters = large ? 1 - factor * 0.5 : 1;
    return bcg_fma_f64(factor, bcg_fma_f64(s * z, bcg_arcsin_tail_f64(z), s), quarters * 0x1.921fb54442d18p+0);
}

#endif
