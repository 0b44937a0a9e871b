/* pack_scatter.h: adjacent elements to every second, third or fourth place.
 *
 * Contract. pack_scatter_of(bytes), where pack_scatters says so, is a form that puts n elements `apart` places apart.
 * What lies between them is not written, not even with what was there: it may be another thread's. Elements of 8 bytes
 * are as fast one by one.
 */
#ifndef BCG_PACK_SCATTER_H
#define BCG_PACK_SCATTER_H

#include "pack_words.h"

#include <stddef.h>

#if PACK_X86

/* A vector holds every `apart`-th lane of what is stored, from lane 0 on. */
#define PACK_SCATTER(NAME, BYTES, MASK, LOAD, SPREAD, STORE, LANE)                                                     \
    PACK_AVX512 static void NAME(char *restrict to, int64_t apart, const char *restrict from, int64_t n)               \
    {                                                                                                                  \
        const int64_t lanes = 64 / BYTES, held = (lanes + apart - 1) / apart;                                          \
        LANE source[64 / BYTES];                                                                                       \
        uint64_t places = 0;                                                                                           \
        for (int64_t k = 0; k < lanes; k++) {                                                                          \
            source[k] = (LANE)(k / apart);                                                                             \
            places |= (uint64_t)(k % apart == 0) << k;                                                                 \
        }                                                                                                              \
        const __m512i spread = _mm512_loadu_si512(source);                                                             \
        for (int64_t i = 0; i < n; i += held) {                                                                        \
            const int64_t count = held < n - i ? held : n - i;                                                         \
            const __m512i values = LOAD((MASK)(((uint64_t)1 << count) - 1), from + i * BYTES);                         \
            const uint64_t some = count < held ? ((uint64_t)1 << (count * apart)) - 1 : ~(uint64_t)0;                  \
            STORE(to + i * apart * BYTES, (MASK)(places & some), SPREAD(spread, values));                              \
        }                                                                                                              \
    }

PACK_SCATTER(pack_scatter2, 2, __mmask32, _mm512_maskz_loadu_epi16, _mm512_permutexvar_epi16, _mm512_mask_storeu_epi16,
             uint16_t)
PACK_SCATTER(pack_scatter4, 4, __mmask16, _mm512_maskz_loadu_epi32, _mm512_permutexvar_epi32, _mm512_mask_storeu_epi32,
             uint32_t)

#endif

typedef void (*pack_scatter_form)(char *restrict to, int64_t apart, const char *restrict from, int64_t n);

static int pack_scatters(int64_t step, int32_t bytes)
{
#if PACK_X86
    return pack_level() >= PACK_LEVEL_AVX512 && (bytes == 2 || bytes == 4) && step >= 2 * bytes && step <= 4 * bytes &&
           step % bytes == 0;
#else
    (void)step, (void)bytes;
    return 0;
#endif
}

static pack_scatter_form pack_scatter_of(int32_t bytes)
{
#if PACK_X86
    return bytes == 2 ? pack_scatter2 : pack_scatter4;
#else
    (void)bytes;
    return NULL;
#endif
}

#endif
