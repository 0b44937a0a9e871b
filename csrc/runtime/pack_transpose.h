/* pack_transpose.h: to[i][j] = from[j][i], rows of both being adjacent elements.
 *
 * Contract. pack_turn_of(rows, n, bytes) is a form, turn(to, to_row, from, from_row, rows, n, along), or null: `to` has
 * `rows` rows of n elements, `from` n rows of `rows` elements; row strides are of any sign. The side that is no tile,
 * `to` where `along` is set, is walked along its rows, so that cache lines are used up at once: its rows are often a
 * power of two apart, and few such lines stay in a cache together.
 *
 * A block of N rows of 16 bytes, N elements, is transposed by log2(N) rounds of zips: a round takes the sequence of
 * vectors apart into halves and interleaves these. Wider vectors are several blocks side by side: loads put rows k,
 * k + N, ... of `from` into the lanes, zips work within lanes, and longer rows are stored. The last blocks overlap
 * those before them. Vectors of 64 bytes gain nothing in the cache, and lose outside: 16 lines at once are too many.
 */
#ifndef BCG_PACK_TRANSPOSE_H
#define BCG_PACK_TRANSPOSE_H

#include "pack_words.h"

#include <stddef.h>

typedef void (*pack_turn)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t n,
                          int along);

#if PACK_X86 || PACK_NEON

#define PACK_AHEAD 32
#define PACK_AHEAD_ROW 2048

/* A round from vectors a to vectors b; an even number of rounds starts in b, so that all end there. */
#define PACK_ZIP(ZIPS, HALF, K, a, b)                                                                                  \
    b[2 * K] = ZIPS##_LOW(a[K], a[K + HALF]), b[2 * K + 1] = ZIPS##_HIGH(a[K], a[K + HALF])
#define PACK_ROUND_2(ZIPS, a, b) PACK_ZIP(ZIPS, 1, 0, a, b)
#define PACK_ROUND_4(ZIPS, a, b) PACK_ZIP(ZIPS, 2, 0, a, b), PACK_ZIP(ZIPS, 2, 1, a, b)
#define PACK_ROUND_8(ZIPS, a, b)                                                                                       \
    PACK_ZIP(ZIPS, 4, 0, a, b), PACK_ZIP(ZIPS, 4, 1, a, b), PACK_ZIP(ZIPS, 4, 2, a, b), PACK_ZIP(ZIPS, 4, 3, a, b)
#define PACK_ROUND_16(ZIPS, a, b)                                                                                      \
    PACK_ZIP(ZIPS, 8, 0, a, b), PACK_ZIP(ZIPS, 8, 1, a, b), PACK_ZIP(ZIPS, 8, 2, a, b), PACK_ZIP(ZIPS, 8, 3, a, b),    \
        PACK_ZIP(ZIPS, 8, 4, a, b), PACK_ZIP(ZIPS, 8, 5, a, b), PACK_ZIP(ZIPS, 8, 6, a, b), PACK_ZIP(ZIPS, 8, 7, a, b)
/* Asks for rows of `size` bytes some rows further on; past the end of a block they are those of the next one, or
 * nobody's. What lies close together comes by itself. */
PACK_INLINE void pack_ahead(const char *at, int64_t row, int64_t rows, int64_t size)
{
    if (row > -PACK_AHEAD_ROW && row < PACK_AHEAD_ROW) {
        return;
    }
    const uintptr_t begin = (uintptr_t)at + (uintptr_t)(PACK_AHEAD * row);
    for (int64_t k = 0; k < rows; k++) {
        for (int64_t line = 0; line < size; line += 64) {
            __builtin_prefetch((const void *)(begin + (uintptr_t)(k * row + line)), 0, 2);
        }
    }
}

#define PACK_START_2 a
#define PACK_START_4 b
#define PACK_START_8 a
#define PACK_START_16 b
#define PACK_ROUNDS_2(ZIPS) PACK_ROUND_2(ZIPS, a, b)
#define PACK_ROUNDS_4(ZIPS) PACK_ROUND_4(ZIPS, b, a), PACK_ROUND_4(ZIPS, a, b)
#define PACK_ROUNDS_8(ZIPS) PACK_ROUND_8(ZIPS, a, b), PACK_ROUND_8(ZIPS, b, a), PACK_ROUND_8(ZIPS, a, b)
#define PACK_ROUNDS_16(ZIPS)                                                                                           \
    PACK_ROUND_16(ZIPS, b, a), PACK_ROUND_16(ZIPS, a, b), PACK_ROUND_16(ZIPS, b, a), PACK_ROUND_16(ZIPS, a, b)

/* rows >= N, n >= N * LANES. Loops over N are unrolled, and the vectors live in registers. */
#define PACK_TRANSPOSE(NAME, ISA, VECTOR, LANES, N, LOAD, STORE, ZIPS)                                                 \
    ISA PACK_INLINE void NAME##_block(char *to, int64_t to_row, const char *from, int64_t from_row)                    \
    {                                                                                                                  \
        VECTOR a[N], b[N];                                                                                             \
        PACK_UNROLL for (int k = 0; k < N; k++)                                                                        \
        {                                                                                                              \
            PACK_START_##N[k] = LOAD(from + k * from_row, N * from_row);                                               \
        }                                                                                                              \
        PACK_ROUNDS_##N(ZIPS);                                                                                         \
        PACK_UNROLL for (int k = 0; k < N; k++)                                                                        \
        {                                                                                                              \
            STORE(to + k * to_row, b[k]);                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    ISA static void NAME(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t n,        \
                         int along)                                                                                    \
    {                                                                                                                  \
        const int64_t bytes = 16 / N, wide = (N) * (LANES);                                                            \
        for (int64_t y = 0; along && y < rows; y += N) {                                                               \
            const int64_t i = y < rows - N ? y : rows - N;                                                             \
            pack_ahead(to + i * to_row, to_row, N, n * bytes);                                                         \
            for (int64_t x = 0; x < n; x += wide) {                                                                    \
                const int64_t j = x < n - wide ? x : n - wide;                                                         \
                NAME##_block(to + i * to_row + j * bytes, to_row, from + j * from_row + i * bytes, from_row);          \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t x = 0; !along && x < n; x += wide) {                                                              \
            const int64_t j = x < n - wide ? x : n - wide;                                                             \
            pack_ahead(from + j * from_row, from_row, wide, rows * bytes);                                             \
            for (int64_t y = 0; y < rows; y += N) {                                                                    \
                const int64_t i = y < rows - N ? y : rows - N;                                                         \
                NAME##_block(to + i * to_row + j * bytes, to_row, from + j * from_row + i * bytes, from_row);          \
            }                                                                                                          \
        }                                                                                                              \
    }

#endif

#if PACK_X86

#define PACK_LOAD_128(at, lane) _mm_loadu_si128((const __m128i *)(at))
#define PACK_LOAD_256(at, lane)                                                                                        \
    _mm256_inserti128_si256(_mm256_castsi128_si256(PACK_LOAD_128(at, 0)), PACK_LOAD_128((at) + (lane), 0), 1)
#define PACK_STORE_128(at, value) _mm_storeu_si128((__m128i *)(at), value)
#define PACK_STORE_256(at, value) _mm256_storeu_si256((__m256i *)(at), value)
#define PACK_128_1_LOW _mm_unpacklo_epi8
#define PACK_128_1_HIGH _mm_unpackhi_epi8
#define PACK_128_2_LOW _mm_unpacklo_epi16
#define PACK_128_2_HIGH _mm_unpackhi_epi16
#define PACK_128_4_LOW _mm_unpacklo_epi32
#define PACK_128_4_HIGH _mm_unpackhi_epi32
#define PACK_128_8_LOW _mm_unpacklo_epi64
#define PACK_128_8_HIGH _mm_unpackhi_epi64
#define PACK_256_1_LOW _mm256_unpacklo_epi8
#define PACK_256_1_HIGH _mm256_unpackhi_epi8
#define PACK_256_2_LOW _mm256_unpacklo_epi16
#define PACK_256_2_HIGH _mm256_unpackhi_epi16
#define PACK_256_4_LOW _mm256_unpacklo_epi32
#define PACK_256_4_HIGH _mm256_unpackhi_epi32
#define PACK_256_8_LOW _mm256_unpacklo_epi64
#define PACK_256_8_HIGH _mm256_unpackhi_epi64

PACK_TRANSPOSE(pack_turn1_128, , __m128i, 1, 16, PACK_LOAD_128, PACK_STORE_128, PACK_128_1)
PACK_TRANSPOSE(pack_turn2_128, , __m128i, 1, 8, PACK_LOAD_128, PACK_STORE_128, PACK_128_2)
PACK_TRANSPOSE(pack_turn4_128, , __m128i, 1, 4, PACK_LOAD_128, PACK_STORE_128, PACK_128_4)
PACK_TRANSPOSE(pack_turn8_128, , __m128i, 1, 2, PACK_LOAD_128, PACK_STORE_128, PACK_128_8)
PACK_TRANSPOSE(pack_turn1_256, PACK_AVX2, __m256i, 2, 16, PACK_LOAD_256, PACK_STORE_256, PACK_256_1)
PACK_TRANSPOSE(pack_turn2_256, PACK_AVX2, __m256i, 2, 8, PACK_LOAD_256, PACK_STORE_256, PACK_256_2)
PACK_TRANSPOSE(pack_turn4_256, PACK_AVX2, __m256i, 2, 4, PACK_LOAD_256, PACK_STORE_256, PACK_256_4)
PACK_TRANSPOSE(pack_turn8_256, PACK_AVX2, __m256i, 2, 2, PACK_LOAD_256, PACK_STORE_256, PACK_256_8)

#define PACK_WIDTHS 2
static const pack_turn pack_turns[PACK_WIDTHS][4] = {
    {pack_turn1_128, pack_turn2_128, pack_turn4_128, pack_turn8_128},
    {pack_turn1_256, pack_turn2_256, pack_turn4_256, pack_turn8_256},
};

#elif PACK_NEON

#define PACK_NEON_LOAD_1(at, lane) vld1q_u8((const uint8_t *)(at))
#define PACK_NEON_LOAD_2(at, lane) vreinterpretq_u16_u8(PACK_NEON_LOAD_1(at, 0))
#define PACK_NEON_LOAD_4(at, lane) vreinterpretq_u32_u8(PACK_NEON_LOAD_1(at, 0))
#define PACK_NEON_LOAD_8(at, lane) vreinterpretq_u64_u8(PACK_NEON_LOAD_1(at, 0))
#define PACK_NEON_STORE_1(at, value) vst1q_u8((uint8_t *)(at), value)
#define PACK_NEON_STORE_2(at, value) PACK_NEON_STORE_1(at, vreinterpretq_u8_u16(value))
#define PACK_NEON_STORE_4(at, value) PACK_NEON_STORE_1(at, vreinterpretq_u8_u32(value))
#define PACK_NEON_STORE_8(at, value) PACK_NEON_STORE_1(at, vreinterpretq_u8_u64(value))
#define PACK_NEON_1_LOW vzip1q_u8
#define PACK_NEON_1_HIGH vzip2q_u8
#define PACK_NEON_2_LOW vzip1q_u16
#define PACK_NEON_2_HIGH vzip2q_u16
#define PACK_NEON_4_LOW vzip1q_u32
#define PACK_NEON_4_HIGH vzip2q_u32
#define PACK_NEON_8_LOW vzip1q_u64
#define PACK_NEON_8_HIGH vzip2q_u64

PACK_TRANSPOSE(pack_turn1_128, , uint8x16_t, 1, 16, PACK_NEON_LOAD_1, PACK_NEON_STORE_1, PACK_NEON_1)
PACK_TRANSPOSE(pack_turn2_128, , uint16x8_t, 1, 8, PACK_NEON_LOAD_2, PACK_NEON_STORE_2, PACK_NEON_2)
PACK_TRANSPOSE(pack_turn4_128, , uint32x4_t, 1, 4, PACK_NEON_LOAD_4, PACK_NEON_STORE_4, PACK_NEON_4)
PACK_TRANSPOSE(pack_turn8_128, , uint64x2_t, 1, 2, PACK_NEON_LOAD_8, PACK_NEON_STORE_8, PACK_NEON_8)

#define PACK_WIDTHS 1
static const pack_turn pack_turns[PACK_WIDTHS][4] = {{pack_turn1_128, pack_turn2_128, pack_turn4_128, pack_turn8_128}};

#endif

/* Null where a dim is too short for a block. */
static pack_turn pack_turn_of(int64_t rows, int64_t n, int32_t bytes)
{
#if PACK_X86 || PACK_NEON
    const int64_t side = 16 / bytes;
    if (rows < side || n < side) {
        return NULL;
    }
    const int wide = PACK_WIDTHS > 1 && pack_level() >= PACK_LEVEL_AVX2 && n >= 2 * side;
    return pack_turns[wide][pack_log2(bytes)];
#else
    (void)rows, (void)n, (void)bytes;
    return NULL;
#endif
}

#endif
