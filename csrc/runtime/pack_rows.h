/* pack_rows.h: rows that are copied whole, repeated elements, repeated rows.
 *
 * Contract. pack_copy_rows(to, to_row, from, from_row, rows, size) copies rows of `size` bytes; those of `to` do not
 * overlap. pack_repeat(to, to_row, from, from_row, rows, n, bytes) makes rows of n times one element and returns how
 * many it has made: the first ones, perhaps none. pack_replicate(to, size, total) has the first `size` bytes of `to`
 * follow again and again until there are `total`. pack_periods_of(period, bytes), where it is not null, is a form that
 * makes rows of n elements, one behind the other, in each of which `period` adjacent ones of `from` are repeated.
 */
#ifndef BCG_PACK_ROWS_H
#define BCG_PACK_ROWS_H

#include "pack_pick.h"
#include "pack_words.h"

#include <stddef.h>

/* Rows of `least` to 2 * `least` bytes: two pieces that overlap. */
#define PACK_TWO_PIECES(least)                                                                                         \
    for (int64_t row = 0; row < rows; row++) {                                                                         \
        char head[least], tail[least];                                                                                 \
        memcpy(head, from + row * from_row, least);                                                                    \
        memcpy(tail, from + row * from_row + size - (least), least);                                                   \
        memcpy(to + row * to_row, head, least);                                                                        \
        memcpy(to + row * to_row + size - (least), tail, least);                                                       \
    }

static void pack_copy_rows(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t rows,
                           int64_t size)
{
    if (size > 256 || rows == 1) {
        for (int64_t row = 0; row < rows; row++) {
            memcpy(to + row * to_row, from + row * from_row, (size_t)size);
        }
    } else if (size > 32) {
        for (int64_t row = 0; row < rows; row++) {
            char *const out = to + row * to_row;
            const char *const in = from + row * from_row;
            for (int64_t at = 0; at < size - 32; at += 32) {
                memcpy(out + at, in + at, 32);
            }
            memcpy(out + size - 32, in + size - 32, 32);
        }
    } else if (size >= 16) {
        PACK_TWO_PIECES(16)
    } else if (size >= 8) {
        PACK_TWO_PIECES(8)
    } else if (size >= 4) {
        PACK_TWO_PIECES(4)
    } else if (size >= 2) {
        PACK_TWO_PIECES(2)
    } else {
        for (int64_t row = 0; row < rows; row++) {
            to[row * to_row] = from[row * from_row];
        }
    }
}

static void pack_replicate(char *to, int64_t size, int64_t total)
{
    for (int64_t done = size; done < total;) {
        const int64_t more = done < total - done ? done : total - done;
        memcpy(to + done, to, (size_t)more);
        done += more;
    }
}

#if PACK_X86

/* Which element stands at each place of n times every one of 16 elements, for n from 2 to 8. */
#define PACK_TIMES_2(e) e, e
#define PACK_TIMES_3(e) e, e, e
#define PACK_TIMES_4(e) e, e, e, e
#define PACK_TIMES_5(e) e, e, e, e, e
#define PACK_TIMES_6(e) e, e, e, e, e, e
#define PACK_TIMES_7(e) e, e, e, e, e, e, e
#define PACK_TIMES_8(e) e, e, e, e, e, e, e, e
#define PACK_SIXTEEN(T)                                                                                                \
    {T(0), T(1), T(2), T(3), T(4), T(5), T(6), T(7), T(8), T(9), T(10), T(11), T(12), T(13), T(14), T(15)}
static const uint8_t pack_times[7][16 * 8] = {
    PACK_SIXTEEN(PACK_TIMES_2), PACK_SIXTEEN(PACK_TIMES_3), PACK_SIXTEEN(PACK_TIMES_4), PACK_SIXTEEN(PACK_TIMES_5),
    PACK_SIXTEEN(PACK_TIMES_6), PACK_SIXTEEN(PACK_TIMES_7), PACK_SIXTEEN(PACK_TIMES_8)};

/* What one load of 64 bytes holds is spread over n stores by n permutations, which are the same for every load. Those
 * of the last rows are cut. */
#define PACK_SPREAD(BITS, MASK, PLACES)                                                                                \
    PACK_AVX512 PACK_INLINE void pack_spread##BITS##_body(char *restrict to, const char *restrict from, int64_t rows,  \
                                                          int64_t n)                                                   \
    {                                                                                                                  \
        const int64_t lanes = 512 / BITS, bytes = BITS / 8;                                                            \
        __m512i places[8];                                                                                             \
        PACK_UNROLL for (int64_t k = 0; k < n; k++)                                                                    \
        {                                                                                                              \
            places[k] = PLACES(pack_times[n - 2] + k * lanes);                                                         \
        }                                                                                                              \
        int64_t row = 0;                                                                                               \
        for (; row <= rows - lanes; row += lanes) {                                                                    \
            const __m512i values = _mm512_loadu_si512(from + row * bytes);                                             \
            PACK_UNROLL for (int64_t k = 0; k < n; k++)                                                                \
            {                                                                                                          \
                _mm512_storeu_si512(to + (row * n + k * lanes) * bytes,                                                \
                                    _mm512_permutexvar_epi##BITS(places[k], values));                                  \
            }                                                                                                          \
        }                                                                                                              \
        if (row == rows) {                                                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        const __m512i rest = _mm512_maskz_loadu_epi##BITS((MASK)pack_first_bits(rows - row), from + row * bytes);      \
        PACK_UNROLL for (int64_t k = 0; k < n; k++)                                                                    \
        {                                                                                                              \
            _mm512_mask_storeu_epi##BITS(to + (row * n + k * lanes) * bytes,                                           \
                                         (MASK)pack_first_bits((rows - row) * n - k * lanes),                          \
                                         _mm512_permutexvar_epi##BITS(places[k], rest));                               \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    PACK_AVX512 static void pack_spread##BITS(char *restrict to, const char *restrict from, int64_t rows, int64_t n)   \
    {                                                                                                                  \
        switch (n) {                                                                                                   \
        case 2:                                                                                                        \
            pack_spread##BITS##_body(to, from, rows, 2);                                                               \
            break;                                                                                                     \
        case 3:                                                                                                        \
            pack_spread##BITS##_body(to, from, rows, 3);                                                               \
            break;                                                                                                     \
        case 4:                                                                                                        \
            pack_spread##BITS##_body(to, from, rows, 4);                                                               \
            break;                                                                                                     \
        case 5:                                                                                                        \
            pack_spread##BITS##_body(to, from, rows, 5);                                                               \
            break;                                                                                                     \
        case 6:                                                                                                        \
            pack_spread##BITS##_body(to, from, rows, 6);                                                               \
            break;                                                                                                     \
        case 7:                                                                                                        \
            pack_spread##BITS##_body(to, from, rows, 7);                                                               \
            break;                                                                                                     \
        default:                                                                                                       \
            pack_spread##BITS##_body(to, from, rows, 8);                                                               \
        }                                                                                                              \
    }

#define PACK_PLACES_32(at) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(at)))
#define PACK_PLACES_64(at) _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(at)))

PACK_SPREAD(32, __mmask16, PACK_PLACES_32)
PACK_SPREAD(64, __mmask8, PACK_PLACES_64)

/* Rows of n elements in which `period` of them, other ones for each row, follow again and again: what one load holds is
 * permuted, by places that move on by a vector each time. Whole vectors are stored, and the next row is written over
 * what is too much. */
#define PACK_PERIODS(BITS, MASK, PLACES)                                                                               \
    PACK_AVX512 static void pack_periods##BITS(char *restrict to, const char *restrict from, int64_t from_row,         \
                                               int64_t rows, int64_t n, int64_t period)                                \
    {                                                                                                                  \
        const int64_t lanes = 512 / BITS, bytes = BITS / 8;                                                            \
        uint8_t first[64 / bytes];                                                                                     \
        for (int64_t k = 0; k < lanes; k++) {                                                                          \
            first[k] = (uint8_t)(k % period);                                                                          \
        }                                                                                                              \
        const __m512i begin = PLACES(first), all = _mm512_set1_epi##BITS((int##BITS##_t)period);                       \
        const __m512i step = _mm512_set1_epi##BITS((int##BITS##_t)(lanes % period));                                   \
        const MASK read = (MASK)pack_first_bits(period);                                                               \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            const __m512i values = _mm512_maskz_loadu_epi##BITS(read, from + row * from_row);                          \
            char *const out = to + row * n * bytes;                                                                    \
            const int64_t left = (rows - row) * n;                                                                     \
            __m512i places = begin;                                                                                    \
            int64_t i = 0;                                                                                             \
            for (; i < n && i <= left - lanes; i += lanes) {                                                           \
                _mm512_storeu_si512(out + i * bytes, _mm512_permutexvar_epi##BITS(places, values));                    \
                places = _mm512_add_epi##BITS(places, step);                                                           \
                places = _mm512_min_epu##BITS(places, _mm512_sub_epi##BITS(places, all));                              \
            }                                                                                                          \
            if (i < n) {                                                                                               \
                _mm512_mask_storeu_epi##BITS(out + i * bytes, (MASK)pack_first_bits(n - i),                            \
                                             _mm512_permutexvar_epi##BITS(places, values));                            \
            }                                                                                                          \
        }                                                                                                              \
    }

PACK_PERIODS(32, __mmask16, PACK_PLACES_32)
PACK_PERIODS(64, __mmask8, PACK_PLACES_64)

/* Where each byte of n times every element comes from, in the units (bytes, words) the elements consist of. */
PACK_INLINE void pack_spread(uint8_t *source, int64_t elements, int64_t n, int64_t units)
{
    for (int64_t element = 0; element < elements; element++) {
        for (int64_t time = 0; time < n; time++) {
            for (int64_t unit = 0; unit < units; unit++) {
                *source++ = (uint8_t)(element * units + unit);
            }
        }
    }
}

/* What one load holds is spread over n stores by n permutations, which are the same for every load. */
PACK_AVX2 PACK_INLINE int64_t pack_repeat_words(char *restrict to, const char *restrict from, int64_t rows, int64_t n,
                                                int32_t bytes)
{
    uint8_t sources[8 * 8];
    __m256i spread[8];
    const int64_t at_once = 32 / bytes;
    pack_spread(sources, at_once, n, bytes / 4);
    for (int64_t k = 0; k < n; k++) {
        spread[k] = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(sources + 8 * k)));
    }
    int64_t row = 0;
    for (; row <= rows - at_once; row += at_once) {
        const __m256i value = _mm256_loadu_si256((const __m256i *)(from + row * bytes));
        __m256i *const out = (__m256i *)(to + row * n * bytes);
        for (int64_t k = 0; k < n; k++) {
            _mm256_storeu_si256(out + k, _mm256_permutevar8x32_epi32(value, spread[k]));
        }
    }
    return row;
}

/* The same for elements of 1 and 2 bytes. These permutations stay within 16 bytes: of the 2 * n pieces of that size
 * that come of 32 bytes the first n are of the lower half. */
PACK_AVX2 PACK_INLINE int64_t pack_repeat_bytes(char *restrict to, const char *restrict from, int64_t rows, int64_t n,
                                                int32_t bytes)
{
    uint8_t sources[2 * 16 * 8];
    __m256i spread[8];
    const int64_t at_once = 32 / bytes;
    pack_spread(sources, at_once / 2, n, bytes);
    memcpy(sources + 16 * n, sources, (size_t)(16 * n));
    for (int64_t k = 0; k < n; k++) {
        spread[k] = _mm256_loadu_si256((const __m256i *)(sources + 32 * k));
    }
    int64_t row = 0;
    for (; row <= rows - at_once; row += at_once) {
        const __m256i both = _mm256_loadu_si256((const __m256i *)(from + row * bytes));
        const __m256i lower = _mm256_permute4x64_epi64(both, 0x44), upper = _mm256_permute4x64_epi64(both, 0xEE);
        __m256i *const out = (__m256i *)(to + row * n * bytes);
        for (int64_t k = 0; k < n / 2; k++) {
            _mm256_storeu_si256(out + k, _mm256_shuffle_epi8(lower, spread[k]));
        }
        if (n % 2 == 1) {
            _mm256_storeu_si256(out + n / 2, _mm256_shuffle_epi8(both, spread[n / 2]));
        }
        for (int64_t k = n - n / 2; k < n; k++) {
            _mm256_storeu_si256(out + k, _mm256_shuffle_epi8(upper, spread[k]));
        }
    }
    return row;
}

/* n <= 8, size < 32. The usual n are constants: loops over them are unrolled, permutations stay in registers. */
PACK_AVX2 static int64_t pack_repeat_spread(char *restrict to, const char *restrict from, int64_t rows, int64_t n,
                                            int32_t bytes)
{
    if (bytes < 4) {
        return n == 2   ? pack_repeat_bytes(to, from, rows, 2, bytes)
               : n == 3 ? pack_repeat_bytes(to, from, rows, 3, bytes)
               : n == 4 ? pack_repeat_bytes(to, from, rows, 4, bytes)
                        : pack_repeat_bytes(to, from, rows, n, bytes);
    }
    return n == 2   ? pack_repeat_words(to, from, rows, 2, bytes)
           : n == 3 ? pack_repeat_words(to, from, rows, 3, bytes)
                    : pack_repeat_words(to, from, rows, n, bytes);
}

/* Whole vectors of each element; where a row is shorter than one, the next rows are written over what is too much. */
#define PACK_REPEAT_FILL(WORD, SPREAD, LANE)                                                                           \
    for (; row < rows && row * to_row + reach <= end; row++) {                                                         \
        const __m256i value = SPREAD((LANE)*(const WORD *)(const void *)(from + row * from_row));                      \
        char *const out = to + row * to_row;                                                                           \
        for (int64_t at = 0; at < reach - 32; at += 32) {                                                              \
            _mm256_storeu_si256((__m256i *)(out + at), value);                                                         \
        }                                                                                                              \
        _mm256_storeu_si256((__m256i *)(out + reach - 32), value);                                                     \
    }

PACK_AVX2 static int64_t pack_repeat_fill(char *restrict to, int64_t to_row, const char *restrict from,
                                          int64_t from_row, int64_t rows, int64_t size, int32_t bytes)
{
    const int64_t reach = size > 32 ? size : 32, end = (rows - 1) * to_row + size;
    int64_t row = 0;
    switch (bytes) {
    case 1:
        PACK_REPEAT_FILL(pack_word1, _mm256_set1_epi8, char)
        break;
    case 2:
        PACK_REPEAT_FILL(pack_word2, _mm256_set1_epi16, int16_t)
        break;
    case 4:
        PACK_REPEAT_FILL(pack_word4, _mm256_set1_epi32, int32_t)
        break;
    default:
        PACK_REPEAT_FILL(pack_word8, _mm256_set1_epi64x, int64_t)
    }
    return row;
}

#endif

typedef void (*pack_periods)(char *restrict to, const char *restrict from, int64_t from_row, int64_t rows, int64_t n,
                             int64_t period);

static pack_periods pack_periods_of(int64_t period, int32_t bytes)
{
#if PACK_X86
    if (pack_level() < PACK_LEVEL_AVX512 || bytes < 4 || period * bytes > 64) {
        return NULL;
    }
    return bytes == 4 ? pack_periods32 : pack_periods64;
#else
    (void)period, (void)bytes;
    return NULL;
#endif
}

static int64_t pack_repeat(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t n,
                           int32_t bytes)
{
#if PACK_X86
    const int64_t size = n * bytes;
    if (pack_level() < PACK_LEVEL_AVX2 || (size < 32 && to_row != size)) {
        return 0;
    }
    if (pack_level() >= PACK_LEVEL_AVX512 && bytes >= 4 && n >= 2 && n <= 8 && to_row == size && from_row == bytes) {
        (bytes == 4 ? pack_spread32 : pack_spread64)(to, from, rows, n);
        return rows;
    }
    return n <= 8 && size < 32 && from_row == bytes ? pack_repeat_spread(to, from, rows, n, bytes)
                                          : pack_repeat_fill(to, to_row, from, from_row, rows, size, bytes);
#else
    (void)to, (void)to_row, (void)from, (void)from_row, (void)rows, (void)n, (void)bytes;
    return 0;
#endif
}

#endif
