/* bcg_flags.h: refuses compiler flags that would change what C of ours computes, or what callers hand to it.
 *
 * Contract. Emitted C holds the first definitions, as far as its results depend on them; a kernel of the JIT is compiled
 * with all of this in front where a user gave flags. Nothing is left where nothing is wrong. The effect of flags counts,
 * not their spelling. Before 15 clang ignores float_control on aarch64, and warns. Nothing shows that clang's
 * -funsafe-math-optimizations flushes subnormals. Parts are between blank lines.
 */

/* Results depend on the order of operations, and on the type that each is rounded to. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(_M_FP_FAST) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "results would be wrong: compile without -ffast-math and the flags that are part of it"
#elif defined(__clang__) && (defined(__x86_64__) || (defined(__aarch64__) && __clang_major__ >= 15))
_Pragma("float_control(precise, on)") _Pragma("clang fp contract(off)") /* its single flags define no macro */
#endif

#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "results would be wrong in registers wider than the types: compile with -msse2 -mfpmath=sse"
#endif

/* Where gcc's vectorizer takes neighbouring values at once, it forgets that a double was rounded to float in between. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

/* Kernels only: a caller's layout of structs and enums, and constants of the types that they have. */
typedef struct {
    char first;
    void *second;
    char third;
    long long fourth;
} bcg_flags_layout;

typedef enum { BCG_FLAGS_ONE } bcg_flags_kind;

_Static_assert(sizeof(0.5) == 8 && sizeof(0.5f) == 4, "results would be wrong: constants have another precision");
_Static_assert(sizeof(void *) == BCG_FLAGS_POINTER, "the kernel would crash: pointers have another size than Python's");
_Static_assert(sizeof(bcg_flags_kind) == sizeof(int), "the kernel would crash: enums have another size");
_Static_assert(sizeof(bcg_flags_layout) == 2 * sizeof(void *) + 2 * sizeof(long long),
               "the kernel would crash: structs have another layout");
#if defined(__ROUNDING_MATH__)
#error "results would be wrong: compile without -frounding-math"
#endif
