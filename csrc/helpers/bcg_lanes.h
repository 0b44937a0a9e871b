/* bcg_lanes.h: vectors of narrow numbers that are widened as they are read, bcg_widen_<from>_<to>.
 *
 * Contract. r gets as many numbers as a vector has lanes, those of x; all are exact. gcc makes no such instruction of a
 * loop, but loads a longer vector and takes it apart by shuffles; other compilers need none of this. Each definition is
 * between blank lines and uses only what is above it or in the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_LANES_H
#define BCG_LANES_H

#include <stdint.h>
#include <string.h>

/* How many lanes of 32 and of 64 bits are widened at a time; 0: none. */
#if defined __AVX512F__ && defined __GNUC__ && !defined __clang__
#define BCG_LANES_32 16
#define BCG_LANES_64 8
#elif defined __AVX2__ && defined __GNUC__ && !defined __clang__
#define BCG_LANES_32 8
#define BCG_LANES_64 4
#else
#define BCG_LANES_32 0
#define BCG_LANES_64 0
#endif

/* In a loop over what whole vectors leave: no vectors are made of it, which would take the compiler a third of its time. */
#if BCG_LANES_32
#define BCG_SINGLY() __asm__ volatile("")
#else
#define BCG_SINGLY() ((void)0)
#endif

/* A vector of 16 bytes, of which bcg_packed_4, _8 and _16 read the first 4, the first 8, or all; the others are 0. */
#if BCG_LANES_32
typedef char bcg_packed __attribute__((vector_size(16)));
#endif

#if BCG_LANES_32
static inline bcg_packed bcg_packed_4(const void *x)
{
    typedef int words __attribute__((vector_size(16)));
    int word;
    memcpy(&word, x, sizeof word);
    return (bcg_packed)(words){word};
}
#endif

#if BCG_LANES_32
static inline bcg_packed bcg_packed_8(const void *x)
{
    typedef long long words __attribute__((vector_size(16)));
    long long word;
    memcpy(&word, x, sizeof word);
    return (bcg_packed)(words){word};
}
#endif

#if BCG_LANES_32
static inline bcg_packed bcg_packed_16(const void *x)
{
    bcg_packed bytes;
    memcpy(&bytes, x, sizeof bytes);
    return bytes;
}
#endif

#if BCG_LANES_32
static inline void bcg_widen_u8_i32(const uint8_t *x, int32_t *r)
{
#if BCG_LANES_32 == 16
    typedef int lanes __attribute__((vector_size(64)));
    const lanes to = __builtin_ia32_pmovzxbd512_mask(bcg_packed_16(x), (lanes){0}, 0xffff);
#else
    typedef int lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_pmovzxbd256(bcg_packed_8(x));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_32
static inline void bcg_widen_i8_i32(const int8_t *x, int32_t *r)
{
#if BCG_LANES_32 == 16
    typedef int lanes __attribute__((vector_size(64)));
    const lanes to = __builtin_ia32_pmovsxbd512_mask(bcg_packed_16(x), (lanes){0}, 0xffff);
#else
    typedef int lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_pmovsxbd256(bcg_packed_8(x));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_32
static inline void bcg_widen_u16_i32(const uint16_t *x, int32_t *r)
{
#if BCG_LANES_32 == 16
    typedef short halves __attribute__((vector_size(32)));
    typedef int lanes __attribute__((vector_size(64)));
    halves from;
    memcpy(&from, x, sizeof from);
    const lanes to = __builtin_ia32_pmovzxwd512_mask(from, (lanes){0}, 0xffff);
#else
    typedef short halves __attribute__((vector_size(16)));
    typedef int lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_pmovzxwd256((halves)bcg_packed_16(x));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_32
static inline void bcg_widen_i16_i32(const int16_t *x, int32_t *r)
{
#if BCG_LANES_32 == 16
    typedef short halves __attribute__((vector_size(32)));
    typedef int lanes __attribute__((vector_size(64)));
    halves from;
    memcpy(&from, x, sizeof from);
    const lanes to = __builtin_ia32_pmovsxwd512_mask(from, (lanes){0}, 0xffff);
#else
    typedef short halves __attribute__((vector_size(16)));
    typedef int lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_pmovsxwd256((halves)bcg_packed_16(x));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_widen_u8_f64(const uint8_t *x, double *r)
{
#if BCG_LANES_64 == 8
    typedef double lanes __attribute__((vector_size(64)));
    const lanes to = __builtin_ia32_cvtdq2pd512_mask(__builtin_ia32_pmovzxbd256(bcg_packed_8(x)), (lanes){0}, 0xff);
#else
    typedef double lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_cvtdq2pd256(__builtin_ia32_pmovzxbd128(bcg_packed_4(x)));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_widen_i8_f64(const int8_t *x, double *r)
{
#if BCG_LANES_64 == 8
    typedef double lanes __attribute__((vector_size(64)));
    const lanes to = __builtin_ia32_cvtdq2pd512_mask(__builtin_ia32_pmovsxbd256(bcg_packed_8(x)), (lanes){0}, 0xff);
#else
    typedef double lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_cvtdq2pd256(__builtin_ia32_pmovsxbd128(bcg_packed_4(x)));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_widen_u16_f64(const uint16_t *x, double *r)
{
#if BCG_LANES_64 == 8
    typedef short halves __attribute__((vector_size(16)));
    typedef double lanes __attribute__((vector_size(64)));
    const lanes to = __builtin_ia32_cvtdq2pd512_mask(__builtin_ia32_pmovzxwd256((halves)bcg_packed_16(x)), (lanes){0}, 0xff);
#else
    typedef short halves __attribute__((vector_size(16)));
    typedef double lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_cvtdq2pd256(__builtin_ia32_pmovzxwd128((halves)bcg_packed_8(x)));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_widen_i16_f64(const int16_t *x, double *r)
{
#if BCG_LANES_64 == 8
    typedef short halves __attribute__((vector_size(16)));
    typedef double lanes __attribute__((vector_size(64)));
    const lanes to = __builtin_ia32_cvtdq2pd512_mask(__builtin_ia32_pmovsxwd256((halves)bcg_packed_16(x)), (lanes){0}, 0xff);
#else
    typedef short halves __attribute__((vector_size(16)));
    typedef double lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_cvtdq2pd256(__builtin_ia32_pmovsxwd128((halves)bcg_packed_8(x)));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_widen_i32_f64(const int32_t *x, double *r)
{
#if BCG_LANES_64 == 8
    typedef int words __attribute__((vector_size(32)));
    typedef double lanes __attribute__((vector_size(64)));
    words from;
    memcpy(&from, x, sizeof from);
    const lanes to = __builtin_ia32_cvtdq2pd512_mask(from, (lanes){0}, 0xff);
#else
    typedef int words __attribute__((vector_size(16)));
    typedef double lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_cvtdq2pd256((words)bcg_packed_16(x));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_widen_f32_f64(const float *x, double *r)
{
#if BCG_LANES_64 == 8
    typedef float words __attribute__((vector_size(32)));
    typedef double lanes __attribute__((vector_size(64)));
    words from;
    memcpy(&from, x, sizeof from);
    const lanes to = __builtin_ia32_cvtps2pd512_mask(from, (lanes){0}, -1, 4);
#else
    typedef float words __attribute__((vector_size(16)));
    typedef double lanes __attribute__((vector_size(32)));
    const lanes to = __builtin_ia32_cvtps2pd256((words)bcg_packed_16(x));
#endif
    memcpy(r, &to, sizeof to);
}
#endif

/* One number in all lanes; less 0 it is itself, -0 too. */
#if BCG_LANES_32
static inline void bcg_repeat_i32(int32_t x, int32_t *r)
{
    typedef int lanes __attribute__((vector_size(4 * BCG_LANES_32)));
    const lanes to = x - (lanes){0};
    memcpy(r, &to, sizeof to);
}
#endif

#if BCG_LANES_64
static inline void bcg_repeat_f64(double x, double *r)
{
    typedef double lanes __attribute__((vector_size(8 * BCG_LANES_64)));
    const lanes to = x - (lanes){0};
    memcpy(r, &to, sizeof to);
}
#endif

#endif
