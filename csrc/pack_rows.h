/* pack_rows.h: rows that are copied whole, repeated elements, repeated rows.
 *
 * Contract. pack_copy_rows(to, to_row, from, from_row, rows, size) copies rows of `size` bytes; those of `to` do not
 * overlap. pack_repeat(to, to_row, from, from_row, rows, n, bytes) makes rows of n times one element and returns how
 * many it has made: the first ones, perhaps none. pack_replicate(to, size, total) has the first `size` bytes of `to`
 * follow again and again until there are `total`.
 */
#ifndef BCG_PACK_ROWS_H
#define BCG_PACK_ROWS_H

#include "pack_words.h"

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

static int64_t pack_repeat(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t n,
                           int32_t bytes)
{
#if PACK_X86
    const int64_t size = n * bytes;
    if (pack_level() < PACK_LEVEL_AVX2 || (size < 32 && to_row != size)) {
        return 0;
    }
    return n <= 8 && size < 32 && from_row == bytes ? pack_repeat_spread(to, from, rows, n, bytes)
                                          : pack_repeat_fill(to, to_row, from, from_row, rows, size, bytes);
#else
    (void)to, (void)to_row, (void)from, (void)from_row, (void)rows, (void)n, (void)bytes;
    return 0;
#endif
}

#endif
