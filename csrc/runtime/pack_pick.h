/* pack_pick.h: every second, third or fourth element, made adjacent.
 *
 * Contract. pack_picks[apart - 2][log2(bytes)] is a form of pack_lines.h for elements that are `apart` places apart,
 * for CPUs with AVX-512, and for bytes where pack_permutes_bytes says so. Loads stop at the last element: a compiler's
 * loop, which cannot, takes the last vector's elements one by one, in a block of 64 as long as all others.
 */
#ifndef BCG_PACK_PICK_H
#define BCG_PACK_PICK_H

#include "pack_words.h"

typedef void (*pack_line_form)(char *restrict to, const char *restrict from, int64_t step, int64_t n);

#if PACK_X86

static const uint8_t pack_ramp[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                      32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                      48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

#define PACK_RAMP_8 _mm512_loadu_si512(pack_ramp)
#define PACK_RAMP_16 _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)pack_ramp))
#define PACK_RAMP_32 _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)pack_ramp))
#define PACK_RAMP_64 _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)pack_ramp))

PACK_INLINE uint64_t pack_first_bits(int64_t count)
{
    return count <= 0 ? 0 : count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

/* A permutation takes of what the loads before gave, and of one more, what is at its places; `apart` is a constant.
 * `third`, `fourth`: what comes from the loads before stays where it is. */
#define PACK_PICK(NAME, ISA, BITS, MASK)                                                                               \
    ISA PACK_INLINE void NAME##_body(char *restrict to, const char *restrict from, int64_t n, int64_t apart)           \
    {                                                                                                                  \
        const int64_t lanes = 512 / BITS, bytes = BITS / 8;                                                            \
        const __m512i all = _mm512_set1_epi##BITS((int##BITS##_t)lanes), ramp = PACK_RAMP_##BITS;                      \
        const __m512i twice = _mm512_add_epi##BITS(ramp, ramp);                                                        \
        const __m512i second = apart == 2 ? twice : _mm512_add_epi##BITS(twice, apart == 3 ? ramp : twice);            \
        const __m512i less = _mm512_sub_epi##BITS(second, all), lesser = _mm512_sub_epi##BITS(less, all);              \
        const MASK in_third = _mm512_cmpge_epu##BITS##_mask(second, _mm512_add_epi##BITS(all, all));                   \
        const MASK in_fourth = _mm512_mask_cmpge_epu##BITS##_mask(in_third, less, _mm512_add_epi##BITS(all, all));     \
        const __m512i third = _mm512_mask_mov_epi##BITS(ramp, in_third, less);                                         \
        const __m512i fourth = _mm512_mask_mov_epi##BITS(ramp, in_fourth, lesser);                                     \
        int64_t i = 0;                                                                                                 \
        for (; i < n - lanes; i += lanes) {                                                                            \
            const char *const in = from + i * apart * bytes;                                                           \
            __m512i picked = _mm512_loadu_si512(in);                                                                   \
            picked = _mm512_permutex2var_epi##BITS(picked, second, _mm512_loadu_si512(in + 64));                       \
            if (apart > 2) picked = _mm512_permutex2var_epi##BITS(picked, third, _mm512_loadu_si512(in + 128));        \
            if (apart > 3) picked = _mm512_permutex2var_epi##BITS(picked, fourth, _mm512_loadu_si512(in + 192));       \
            _mm512_storeu_si512(to + i * bytes, picked);                                                               \
        }                                                                                                              \
        const char *const in = from + i * apart * bytes;                                                               \
        const int64_t span = (n - i - 1) * apart + 1;                                                                  \
        __m512i picked = _mm512_maskz_loadu_epi##BITS((MASK)pack_first_bits(span), in);                                \
        for (int64_t load = 1; load < apart; load++) {                                                                 \
            const __m512i more =                                                                                       \
                _mm512_maskz_loadu_epi##BITS((MASK)pack_first_bits(span - load * lanes), in + 64 * load);              \
            picked = _mm512_permutex2var_epi##BITS(picked, load == 1 ? second : load == 2 ? third : fourth, more);     \
        }                                                                                                              \
        _mm512_mask_storeu_epi##BITS(to + i * bytes, (MASK)pack_first_bits(n - i), picked);                            \
    }                                                                                                                  \
                                                                                                                       \
    ISA static void NAME##_2(char *restrict to, const char *restrict from, int64_t step, int64_t n)                    \
    {                                                                                                                  \
        (void)step;                                                                                                    \
        NAME##_body(to, from, n, 2);                                                                                   \
    }                                                                                                                  \
    ISA static void NAME##_3(char *restrict to, const char *restrict from, int64_t step, int64_t n)                    \
    {                                                                                                                  \
        (void)step;                                                                                                    \
        NAME##_body(to, from, n, 3);                                                                                   \
    }                                                                                                                  \
    ISA static void NAME##_4(char *restrict to, const char *restrict from, int64_t step, int64_t n)                    \
    {                                                                                                                  \
        (void)step;                                                                                                    \
        NAME##_body(to, from, n, 4);                                                                                   \
    }

PACK_PICK(pack_pick1, PACK_VBMI, 8, __mmask64)
PACK_PICK(pack_pick2, PACK_AVX512, 16, __mmask32)
PACK_PICK(pack_pick4, PACK_AVX512, 32, __mmask16)
PACK_PICK(pack_pick8, PACK_AVX512, 64, __mmask8)

static const pack_line_form pack_picks[3][4] = {{pack_pick1_2, pack_pick2_2, pack_pick4_2, pack_pick8_2},
                                                {pack_pick1_3, pack_pick2_3, pack_pick4_3, pack_pick8_3},
                                                {pack_pick1_4, pack_pick2_4, pack_pick4_4, pack_pick8_4}};

#endif

#endif
