/* pack_words.h: elements as words, and which instructions this CPU has.
 *
 * Contract. pack_word1 .. pack_word8 are read and written through pointers into memory of any type. A function marked
 * PACK_AVX2, PACK_AVX512 or PACK_VBMI uses instructions that the file may not be compiled for: it is called only where
 * pack_level, or pack_permutes_bytes, says so. Compilers that are neither gcc nor clang get plain C.
 */
#ifndef BCG_PACK_WORDS_H
#define BCG_PACK_WORDS_H

#include <stdint.h>
#include <string.h>

/* Tests compile the file for less than the machine has: up to a level, or as plain C (PACK_PLAIN). */
#ifndef PACK_LEVEL_MOST
#define PACK_LEVEL_MOST PACK_LEVEL_AVX512
#endif

#define PACK_X86 0
#define PACK_NEON 0
#if defined(PACK_PLAIN) || !defined(__GNUC__)
#elif defined(__x86_64__)
#include <immintrin.h>
#undef PACK_X86
#define PACK_X86 1
#define PACK_AVX2 __attribute__((target("avx2")))
#define PACK_AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#define PACK_VBMI __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")))
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#undef PACK_NEON
#define PACK_NEON 1
#endif

#if defined(__GNUC__)
#define PACK_INLINE static inline __attribute__((always_inline))
#define PACK_MAY_ALIAS __attribute__((may_alias))
#else
#define PACK_INLINE static inline
#define PACK_MAY_ALIAS
#endif
#if defined(__clang__)
#define PACK_UNROLL _Pragma("clang loop unroll(full)")
#define PACK_UNROLL_SOME _Pragma("clang loop unroll_count(8)")
#elif defined(__GNUC__)
#define PACK_UNROLL _Pragma("GCC unroll 16")
#define PACK_UNROLL_SOME _Pragma("GCC unroll 8")
#else
#define PACK_UNROLL
#define PACK_UNROLL_SOME
#endif

typedef uint8_t PACK_MAY_ALIAS pack_word1;
typedef uint16_t PACK_MAY_ALIAS pack_word2;
typedef uint32_t PACK_MAY_ALIAS pack_word4;
typedef uint64_t PACK_MAY_ALIAS pack_word8;

enum { PACK_LEVEL_BASE, PACK_LEVEL_AVX2, PACK_LEVEL_AVX512 };

#if PACK_X86

/* Asked once; threads that ask at the same time find the same. */
static int pack_level(void)
{
    static int known = -1;
    int level = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (level < 0) {
        const int avx2 = __builtin_cpu_supports("avx2") != 0;
        const int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
        level = avx2 + (avx2 && avx512);
        level = level < PACK_LEVEL_MOST ? level : PACK_LEVEL_MOST;
        __atomic_store_n(&known, level, __ATOMIC_RELAXED);
    }
    return level;
}

/* AVX-512 came without permutations of bytes. */
static int pack_permutes_bytes(void)
{
    return pack_level() >= PACK_LEVEL_AVX512 && __builtin_cpu_supports("avx512vbmi");
}

#else

static int pack_level(void)
{
    return PACK_LEVEL_BASE;
}

#endif

/* 1, 2, 4, 8 to 0, 1, 2, 3. */
PACK_INLINE int pack_log2(int32_t bytes)
{
    return (bytes > 1) + (bytes > 2) + (bytes > 4);
}

#endif
