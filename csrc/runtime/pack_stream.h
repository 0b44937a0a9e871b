/* pack_stream.h: stores that pass the caches by.
 *
 * Contract. bcg_stream copies through the caches what comes before the first whole line of `to` and after the last one.
 */
#ifndef BCG_PACK_STREAM_H
#define BCG_PACK_STREAM_H

#include "pack_words.h"

#if PACK_X86

/* `to` is aligned to 64 bytes, `size` a multiple of it. */
static void pack_stream_128(char *restrict to, const char *restrict from, int64_t size)
{
    for (int64_t at = 0; at < size; at += 16) {
        _mm_stream_si128((__m128i *)(to + at), _mm_loadu_si128((const __m128i *)(from + at)));
    }
}

PACK_AVX2 static void pack_stream_256(char *restrict to, const char *restrict from, int64_t size)
{
    for (int64_t at = 0; at < size; at += 32) {
        _mm256_stream_si256((__m256i *)(to + at), _mm256_loadu_si256((const __m256i *)(from + at)));
    }
}

static void pack_stream_lines(char *restrict to, const char *restrict from, int64_t size)
{
    (pack_level() >= PACK_LEVEL_AVX2 ? pack_stream_256 : pack_stream_128)(to, from, size);
}

void bcg_stream(char *to, const char *from, int64_t size)
{
    int64_t head = (int64_t)(-(uintptr_t)to & 63);
    head = head < size ? head : size;
    const int64_t body = (size - head) / 64 * 64;
    memcpy(to, from, (size_t)head);
    pack_stream_lines(to + head, from + head, body);
    memcpy(to + head + body, from + head + body, (size_t)(size - head - body));
}

void bcg_stream_end(void)
{
    _mm_sfence();
}

#else

void bcg_stream(char *to, const char *from, int64_t size)
{
    memcpy(to, from, (size_t)size);
}

void bcg_stream_end(void)
{
}

#endif

#endif
