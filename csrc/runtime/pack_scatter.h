/* pack_scatter.h: adjacent elements to every second, third or fourth place.
 *
 * Contract. pack_scatter_of(bytes), where pack_scatters says so, is a form that puts n elements `apart` places apart.
 * What lies between them is not written, not even with what was there: it may be another thread's.
 */
#ifndef BCG_PACK_SCATTER_H
#define BCG_PACK_SCATTER_H

#include "pack_rows.h"
#include "pack_words.h"

#include <stddef.h>

#if PACK_X86

/* A vector holds every `apart`-th lane of what is stored, from lane 0 on. */
#define PACK_SCATTER(BITS, MASK, PLACES)                                                                               \
    PACK_AVX512 static void pack_scatter##BITS(char *restrict to, int64_t apart, const char *restrict from, int64_t n) \
    {                                                                                                                  \
        const int64_t lanes = 512 / BITS, bytes = BITS / 8, held = (lanes + apart - 1) / apart;                        \
        const MASK places = (MASK)(apart == 2   ? UINT64_C(0x5555555555555555)                                         \
                                   : apart == 3 ? UINT64_C(0x9249249249249249)                                         \
                                                : UINT64_C(0x1111111111111111));                                       \
        const MASK all = (MASK)pack_first_bits(held);                                                                  \
        const __m512i spread = PLACES(pack_times[apart - 2]);                                                          \
        /* Stores in one line each, where elements can begin a line. */                                                \
        const int64_t lead = (int64_t)(-(uintptr_t)to & 63), step = apart * bytes;                                     \
        int64_t i = lead % step == 0 && lead / step < n ? lead / step : 0;                                             \
        if (i > 0) {                                                                                                   \
            const __m512i values = _mm512_maskz_loadu_epi##BITS((MASK)pack_first_bits(i), from);                       \
            _mm512_mask_storeu_epi##BITS(to, (MASK)(places & pack_first_bits(i * apart)),                              \
                                         _mm512_permutexvar_epi##BITS(spread, values));                                \
        }                                                                                                              \
        for (; i <= n - held; i += held) {                                                                             \
            const __m512i values = _mm512_maskz_loadu_epi##BITS(all, from + i * bytes);                                \
            _mm512_mask_storeu_epi##BITS(to + i * apart * bytes, places,                                               \
                                         _mm512_permutexvar_epi##BITS(spread, values));                                \
        }                                                                                                              \
        const __m512i values = _mm512_maskz_loadu_epi##BITS((MASK)pack_first_bits(n - i), from + i * bytes);           \
        _mm512_mask_storeu_epi##BITS(to + i * apart * bytes, (MASK)(places & pack_first_bits((n - i) * apart)),        \
                                     _mm512_permutexvar_epi##BITS(spread, values));                                    \
    }

#define PACK_PLACES_16(at) _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(at)))

PACK_SCATTER(16, __mmask32, PACK_PLACES_16)
PACK_SCATTER(32, __mmask16, PACK_PLACES_32)
PACK_SCATTER(64, __mmask8, PACK_PLACES_64)

#endif

typedef void (*pack_scatter_form)(char *restrict to, int64_t apart, const char *restrict from, int64_t n);

static int pack_scatters(int64_t step, int32_t bytes)
{
#if PACK_X86
    return pack_level() >= PACK_LEVEL_AVX512 && bytes >= 2 && step >= 2 * bytes && step <= 4 * bytes &&
           step % bytes == 0;
#else
    (void)step, (void)bytes;
    return 0;
#endif
}

static pack_scatter_form pack_scatter_of(int32_t bytes)
{
#if PACK_X86
    return bytes == 2 ? pack_scatter16 : bytes == 4 ? pack_scatter32 : pack_scatter64;
#else
    (void)bytes;
    return NULL;
#endif
}

#endif
