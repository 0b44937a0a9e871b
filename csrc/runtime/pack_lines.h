/* pack_lines.h: rows of elements, adjacent where they go to; and any elements from anywhere to anywhere.
 *
 * Contract. pack_line(bytes, step) is the form for elements so wide: form(to, from, step, n) makes n elements adjacent
 * that are `step` bytes apart, or are one (0). Steps of -1 to 4 elements have loops of their own, compiled for each
 * instruction set and vectorised by the compiler. pack_back(bytes) is the form that writes adjacent elements
 * backwards, one before the other. pack_grid copies outer x inner elements between any steps, the
 * inner ones in the inner loop, which is unrolled where they are few. No byte past the elements is read, and none
 * between them is written.
 */
#ifndef BCG_PACK_LINES_H
#define BCG_PACK_LINES_H

#include "pack.h"
#include "pack_pick.h"
#include "pack_words.h"

/* The bodies, for a constant number of bytes. `threes`: whether vectors help with steps of 3; with SSE2 alone what
 * compilers make of them is slower than one element after the other. */
#define PACK_BY_THREES (!PACK_X86)

#define PACK_LINE_BODIES(WORD, BYTES)                                                                                  \
    PACK_INLINE void pack_line##BYTES##_body(char *restrict to, const char *restrict from, int64_t step, int64_t n,    \
                                               int threes)                                                             \
    {                                                                                                                  \
        WORD *restrict const out = (WORD *)(void *)to;                                                                 \
        const WORD *restrict const in = (const WORD *)(const void *)from;                                              \
        switch (step == 3 * BYTES && !threes ? INT64_MIN : step) {                                                     \
        case -BYTES:                                                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                out[i] = in[-i];                                                                                       \
            }                                                                                                          \
            break;                                                                                                     \
        case 0:                                                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                out[i] = in[0];                                                                                        \
            }                                                                                                          \
            break;                                                                                                     \
        case 2 * BYTES:                                                                                                \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                out[i] = in[2 * i];                                                                                    \
            }                                                                                                          \
            break;                                                                                                     \
        case 3 * BYTES:                                                                                                \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                out[i] = in[3 * i];                                                                                    \
            }                                                                                                          \
            break;                                                                                                     \
        case 4 * BYTES:                                                                                                \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                out[i] = in[4 * i];                                                                                    \
            }                                                                                                          \
            break;                                                                                                     \
        default:                                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                out[i] = *(const WORD *)(const void *)(from + i * step);                                               \
            }                                                                                                          \
        }                                                                                                              \
    }

PACK_LINE_BODIES(pack_word1, 1)
PACK_LINE_BODIES(pack_word2, 2)
PACK_LINE_BODIES(pack_word4, 4)
PACK_LINE_BODIES(pack_word8, 8)

#define PACK_LINE(NAME, ISA, BYTES, THREES)                                                                            \
    ISA static void NAME(char *restrict to, const char *restrict from, int64_t step, int64_t n)                        \
    {                                                                                                                  \
        pack_line##BYTES##_body(to, from, step, n, THREES);                                                            \
    }

PACK_LINE(pack_line1_base, , 1, PACK_BY_THREES)
PACK_LINE(pack_line2_base, , 2, PACK_BY_THREES)
PACK_LINE(pack_line4_base, , 4, PACK_BY_THREES)
PACK_LINE(pack_line8_base, , 8, PACK_BY_THREES)
#if PACK_X86
PACK_LINE(pack_line1_avx2, PACK_AVX2, 1, 1)
PACK_LINE(pack_line2_avx2, PACK_AVX2, 2, 1)
PACK_LINE(pack_line4_avx2, PACK_AVX2, 4, 1)
PACK_LINE(pack_line8_avx2, PACK_AVX2, 8, 1)
PACK_LINE(pack_line1_avx512, PACK_AVX512, 1, 1)
PACK_LINE(pack_line2_avx512, PACK_AVX512, 2, 1)
PACK_LINE(pack_line4_avx512, PACK_AVX512, 4, 1)
PACK_LINE(pack_line8_avx512, PACK_AVX512, 8, 1)
#endif

#define PACK_LEVELS 3
static const pack_line_form pack_lines[PACK_LEVELS][4] = {
    {pack_line1_base, pack_line2_base, pack_line4_base, pack_line8_base},
#if PACK_X86
    {pack_line1_avx2, pack_line2_avx2, pack_line4_avx2, pack_line8_avx2},
    {pack_line1_avx512, pack_line2_avx512, pack_line4_avx512, pack_line8_avx512},
#endif
};

PACK_INLINE pack_line_form pack_line(int32_t bytes, int64_t step)
{
#if PACK_X86
    const int64_t apart = step / bytes;
    if (pack_level() >= PACK_LEVEL_AVX512 && apart >= 2 && apart <= 4 && apart * bytes == step) {
        const pack_line_form pick = pack_picks[apart - 2][pack_log2(bytes)];
        if (bytes > 1 || pack_permutes_bytes()) {
            return pick;
        }
    }
#else
    (void)step;
#endif
    return pack_lines[pack_level()][pack_log2(bytes)];
}

/* Adjacent elements written backwards, from the first one on: memory that is walked all in one direction is fetched
 * ahead; runs that go forward, one before the other, take three times as long outside the caches. */
#define PACK_BACK(NAME, ISA, WORD)                                                                                     \
    ISA static void NAME(char *restrict to, const char *restrict from, int64_t step, int64_t n)                        \
    {                                                                                                                  \
        WORD *restrict const out = (WORD *)(void *)to;                                                                 \
        const WORD *restrict const in = (const WORD *)(const void *)from;                                              \
        (void)step;                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            out[-i] = in[i];                                                                                           \
        }                                                                                                              \
    }

PACK_BACK(pack_back1_base, , pack_word1)
PACK_BACK(pack_back2_base, , pack_word2)
PACK_BACK(pack_back4_base, , pack_word4)
PACK_BACK(pack_back8_base, , pack_word8)
#if PACK_X86
PACK_BACK(pack_back1_avx2, PACK_AVX2, pack_word1)
PACK_BACK(pack_back2_avx2, PACK_AVX2, pack_word2)
PACK_BACK(pack_back4_avx2, PACK_AVX2, pack_word4)
PACK_BACK(pack_back8_avx2, PACK_AVX2, pack_word8)
PACK_BACK(pack_back1_avx512, PACK_AVX512, pack_word1)
PACK_BACK(pack_back2_avx512, PACK_AVX512, pack_word2)
PACK_BACK(pack_back4_avx512, PACK_AVX512, pack_word4)
PACK_BACK(pack_back8_avx512, PACK_AVX512, pack_word8)
#endif

static const pack_line_form pack_backs[PACK_LEVELS][4] = {
    {pack_back1_base, pack_back2_base, pack_back4_base, pack_back8_base},
#if PACK_X86
    {pack_back1_avx2, pack_back2_avx2, pack_back4_avx2, pack_back8_avx2},
    {pack_back1_avx512, pack_back2_avx512, pack_back4_avx512, pack_back8_avx512},
#endif
};

PACK_INLINE pack_line_form pack_back(int32_t bytes) { return pack_backs[pack_level()][pack_log2(bytes)]; }

/* `count` is a constant, or the loop is the inner one. */
#define PACK_GRID_ROWS(WORD, UNROLL, count)                                                                            \
    for (int64_t i = 0; i < outer; i++) {                                                                              \
        char *restrict out = to + i * to_outer;                                                                        \
        const char *restrict in = from + i * from_outer;                                                               \
        UNROLL for (int64_t j = 0; j < (count); j++)                                                                   \
        {                                                                                                              \
            *(WORD *)(void *)out = *(const WORD *)(const void *)in;                                                    \
            out += to_inner;                                                                                           \
            in += from_inner;                                                                                          \
        }                                                                                                              \
    }

#define PACK_GRID_CASE(WORD, count)                                                                                    \
    case count:                                                                                                        \
        PACK_GRID_ROWS(WORD, PACK_UNROLL, count)                                                                       \
        break;

#define PACK_GRID(NAME, WORD)                                                                                          \
    static void NAME(const bcg_copy *copy, char *restrict to, const char *restrict from, int64_t outer)                \
    {                                                                                                                  \
        const int64_t to_outer = copy->to_outer, to_inner = copy->to_inner;                                            \
        const int64_t from_outer = copy->from_outer, from_inner = copy->from_inner, inner = copy->inner;               \
        switch (inner) {                                                                                               \
            PACK_GRID_CASE(WORD, 1)                                                                                    \
            PACK_GRID_CASE(WORD, 2)                                                                                    \
            PACK_GRID_CASE(WORD, 3)                                                                                    \
            PACK_GRID_CASE(WORD, 4)                                                                                    \
            PACK_GRID_CASE(WORD, 5)                                                                                    \
            PACK_GRID_CASE(WORD, 6)                                                                                    \
            PACK_GRID_CASE(WORD, 7)                                                                                    \
            PACK_GRID_CASE(WORD, 8)                                                                                    \
        default:                                                                                                       \
            PACK_GRID_ROWS(WORD, PACK_UNROLL_SOME, inner)                                                              \
        }                                                                                                              \
    }

PACK_GRID(pack_grid1, pack_word1)
PACK_GRID(pack_grid2, pack_word2)
PACK_GRID(pack_grid4, pack_word4)
PACK_GRID(pack_grid8, pack_word8)

/* The copy's first `outer` rows. */
static void pack_grid(const bcg_copy *copy, char *to, const char *from, int64_t outer)
{
    static void (*const grids[4])(const bcg_copy *, char *restrict, const char *restrict, int64_t) = {
        pack_grid1, pack_grid2, pack_grid4, pack_grid8};
    grids[pack_log2(copy->bytes)](copy, to, from, outer);
}

#endif
