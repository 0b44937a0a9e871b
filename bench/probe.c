/* probe.c: what moving bytes takes on this machine, as the bench's limit.
 *
 * Contract. bcg_probe_move reads `read` bytes from one buffer and writes `written` to another, `passes` times, with
 * `threads` threads that each have a part of both; it returns when all are done. Buffers are aligned to 64 bytes; of a
 * size that is no multiple of 64 the rest is left out. What is read lies in 1 to 3 `streams`, one after the other, that are
 * read side by side, as operands are. Reads and writes alternate by `block` lines; 0 is memcpy's way, where as much is
 * read as is written. `streaming` writes past the caches, where the machine can. Compiled for the machine it runs on.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef int64_t line __attribute__((vector_size(64), aligned(64), may_alias));

typedef struct {
    const line *from;
    line *to;
    int64_t reads, writes; /* in lines */
    int64_t block, passes;
    int streams, streaming;
    int64_t seen;
} part;

static inline void stream(line *to, line value) {
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, (__m512i)value);
#elif defined(__AVX__)
    union {
        line whole;
        __m256i half[2];
    } both = {value};
    _mm256_stream_si256((__m256i *)to, both.half[0]);
    _mm256_stream_si256((__m256i *)to + 1, both.half[1]);
#elif defined(__SSE2__)
    union {
        line whole;
        __m128i quarter[4];
    } all = {value};
    for (int i = 0; i < 4; i++) {
        _mm_stream_si128((__m128i *)to + i, all.quarter[i]);
    }
#else
    *to = value;
#endif
}

/* `count` lines from each of the streams. */
static inline line read_lines(const part *p, int64_t at, int64_t count, line seen) {
    const int64_t step = p->reads / p->streams;
    const line *const x = p->from + at, *const y = x + step, *const z = y + step;
    line a = seen, b = seen, c = seen;
    switch (p->streams) {
    case 1:
        for (int64_t i = 0; i < count; i++) {
            a |= x[i];
        }
        break;
    case 2:
        for (int64_t i = 0; i < count; i++) {
            a |= x[i];
            b |= y[i];
        }
        break;
    default:
        for (int64_t i = 0; i < count; i++) {
            a |= x[i];
            b |= y[i];
            c |= z[i];
        }
    }
    return a | b | c;
}

static inline void write_lines(const part *p, int64_t at, int64_t count, line value) {
    for (int64_t i = 0; i < count; i++) {
        if (p->streaming) {
            stream(p->to + at + i, value);
        } else {
            p->to[at + i] = value;
            /* Each line for itself: a loop of stores would become a call of memset. */
            __asm__ volatile("" ::: "memory");
        }
    }
}

static void one_pass(part *p) {
    if (p->block == 0) {
        memcpy(p->to, p->from, 64 * (size_t)(p->reads < p->writes ? p->reads : p->writes));
        return;
    }
    const int64_t reads = p->reads / p->streams;
    const int64_t longer = reads > p->writes ? reads : p->writes;
    const int64_t blocks = (longer + p->block - 1) / p->block;
    /* Ends of blocks in units of 2^-24 line: a division a block would take longer than the block. */
    const int64_t r_step = blocks == 0 ? 0 : (reads << 24) / blocks, w_step = blocks == 0 ? 0 : (p->writes << 24) / blocks;
    line seen = {0};
    int64_t r = 0, w = 0;
    for (int64_t i = 1; i <= blocks; i++) {
        const int64_t r_end = i == blocks ? reads : (r_step * i) >> 24;
        const int64_t w_end = i == blocks ? p->writes : (w_step * i) >> 24;
        seen = read_lines(p, r, r_end - r, seen);
        write_lines(p, w, w_end - w, seen);
        r = r_end;
        w = w_end;
    }
    p->seen |= seen[0];
}

static void *all_passes(void *argument) {
    part *const p = argument;
    for (int64_t pass = 0; pass < p->passes; pass++) {
        one_pass(p);
        __asm__ volatile("" ::: "memory");
    }
#if defined(__SSE2__)
    _mm_sfence();
#endif
    return 0;
}

int64_t bcg_probe_move(const char *from, int64_t read, char *to, int64_t written, int64_t block, int streams,
                       int streaming, int64_t passes, int threads) {
    enum { MOST = 64 };
    part parts[MOST];
    pthread_t ids[MOST];
    const int count = threads < 1 ? 1 : threads > MOST ? MOST : threads;
    const int64_t reads = read / 64, writes = written / 64;
    int64_t seen = 0;
    int started = 1;
    for (int i = 0; i < count; i++) {
        const int64_t r = reads * i / count, w = writes * i / count;
        parts[i] = (part){(const line *)from + r,        (line *)to + w, reads * (i + 1) / count - r,
                          writes * (i + 1) / count - w, block,          passes,
                          streams < 1 ? 1 : streams,     streaming,      0};
    }
    for (; started < count; started++) {
        if (pthread_create(&ids[started], 0, all_passes, &parts[started]) != 0) {
            break;
        }
    }
    all_passes(&parts[0]);
    for (int i = started; i < count; i++) {
        all_passes(&parts[i]);
    }
    for (int i = 1; i < started; i++) {
        pthread_join(ids[i], 0);
    }
    for (int i = 0; i < count; i++) {
        seen |= parts[i].seen;
    }
    return seen;
}
