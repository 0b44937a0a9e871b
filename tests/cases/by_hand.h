/* What the files written by hand share: the checks of arrays that a kernel's header promises, and the diagnostics.
 * A module of your own would have a file like this one; bcastgen.h has the same for emitted C.
 */
#ifndef BY_HAND_H
#define BY_HAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcastgen.h"

/* Rows of adjacent elements deserve loops of their own where there are vectors. */
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__wasm_simd128__)
enum { HAS_VECTORS = 1 };
#else
enum { HAS_VECTORS = 0 };
#endif

/* A loop that is called with strides that the compiler sees is worth a copy of its own. */
#if defined(__GNUC__)
#define BY_HAND_LOOP static inline __attribute__((always_inline))
#define BY_HAND_APART static __attribute__((noinline)) /* gcc forgets `restrict` of what it inlines */
#else
#define BY_HAND_LOOP static inline
#define BY_HAND_APART static
#endif

static inline bcastgen_status refuse(bcastgen_diagnostic *why, bcastgen_status status, int32_t operand, int32_t dim,
                                     int32_t against, int64_t expected, int64_t actual)
{
    const bcastgen_diagnostic found = {operand, dim, against, expected, actual};
    if (why != NULL) *why = found;
    return status;
}

static inline uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* A dim of extent 1 stretches: its one element is read again. */
static inline int64_t step(const bcastgen_array *x, int32_t dim)
{
    return x->extents[dim] == 1 || x->byte_strides == NULL ? 0 : x->byte_strides[dim];
}

static inline bcastgen_status has_rank(const bcastgen_array *x, int32_t k, int32_t rank, bcastgen_diagnostic *why)
{
    if (x->rank != rank) return refuse(why, BCASTGEN_RANK, k, -1, -1, rank, x->rank);
    if (x->extents == NULL) return refuse(why, BCASTGEN_NULL_EXTENTS, k, -1, -1, 0, rank);
    return BCASTGEN_OK;
}

static inline bcastgen_status not_negative(const bcastgen_array *x, int32_t k, int32_t dim, bcastgen_diagnostic *why)
{
    if (x->extents[dim] < 0) return refuse(why, BCASTGEN_NEGATIVE, k, dim, -1, 0, x->extents[dim]);
    return BCASTGEN_OK;
}

/* A dim meets an extent of the result, which is 1 until an operand sets it. */
static inline bcastgen_status meet(const bcastgen_array *x, int32_t k, int32_t dim, int32_t at, int64_t *extents,
                                   int32_t *from, bcastgen_diagnostic *why)
{
    const int64_t extent = x->extents[dim];
    if (extent < 0) return refuse(why, BCASTGEN_NEGATIVE, k, dim, -1, 0, extent);
    if (extent == 1 || extent == extents[at]) return BCASTGEN_OK;
    if (extents[at] != 1) return refuse(why, BCASTGEN_BROADCAST, k, dim, from[at], extents[at], extent);
    extents[at] = extent;
    from[at] = k;
    return BCASTGEN_OK;
}

/* An extent that does not stretch has to be this one. */
static inline bcastgen_status equal(const bcastgen_array *x, int32_t k, int32_t dim, int32_t against, int64_t expected,
                                    bcastgen_diagnostic *why)
{
    if (x->extents[dim] == expected) return BCASTGEN_OK;
    return refuse(why, BCASTGEN_EXTENT, k, dim, against, expected, x->extents[dim]);
}

/* The elements of the result fit into an object. */
static inline bcastgen_status countable(int32_t k, int32_t rank, const int64_t *extents, int64_t bytes,
                                        bcastgen_diagnostic *why)
{
    int64_t most = PTRDIFF_MAX / bytes;
    for (int32_t dim = 0; dim < rank; dim++) {
        if (extents[dim] == 0) return BCASTGEN_OK;
        most /= extents[dim];
    }
    return most > 0 ? BCASTGEN_OK : refuse(why, BCASTGEN_OVERFLOW, k, -1, -1, PTRDIFF_MAX, bytes);
}

/* The result has exactly these extents. */
static inline bcastgen_status has_extents(const bcastgen_array *r, int32_t k, int32_t rank, const int64_t *extents,
                                          const int32_t *from, bcastgen_diagnostic *why)
{
    if (r->rank != rank) return refuse(why, BCASTGEN_RESULT_RANK, k, -1, -1, rank, r->rank);
    if (r->extents == NULL) return refuse(why, BCASTGEN_NULL_EXTENTS, k, -1, -1, 0, rank);
    for (int32_t dim = 0; dim < rank; dim++) {
        if (r->extents[dim] == extents[dim]) continue;
        return refuse(why, BCASTGEN_RESULT, k, dim, from[dim], extents[dim], r->extents[dim]);
    }
    return BCASTGEN_OK;
}

static inline bool has_no_elements(const bcastgen_array *r)
{
    for (int32_t dim = 0; dim < r->rank; dim++) {
        if (r->extents[dim] == 0) return true;
    }
    return false;
}

/* What is wrong with an array whose elements are read or written. */
static inline bcastgen_status look(const bcastgen_array *x, int32_t k, int32_t bytes, bcastgen_diagnostic *why)
{
    uint64_t most = (uint64_t)PTRDIFF_MAX - (uint64_t)bytes; /* bytes, from the first element to the last */
    if (x->data == NULL) return refuse(why, BCASTGEN_NULL_DATA, k, -1, -1, 0, 0);
    if ((uintptr_t)x->data % (uintptr_t)bytes != 0) return refuse(why, BCASTGEN_ALIGNMENT, k, -1, -1, bytes, 0);
    for (int32_t dim = 0; dim < x->rank; dim++) {
        const int64_t extent = x->extents[dim];
        if (extent == 1) continue;
        if (x->byte_strides == NULL) return refuse(why, BCASTGEN_NULL_STRIDES, k, dim, -1, 0, extent);
        const int64_t stride = x->byte_strides[dim];
        if (stride % bytes != 0) return refuse(why, BCASTGEN_STRIDE, k, dim, -1, bytes, stride);
        const uint64_t steps = (uint64_t)extent - 1;
        if (magnitude(stride) > most / steps) return refuse(why, BCASTGEN_SPAN, k, dim, -1, PTRDIFF_MAX, stride);
        most -= magnitude(stride) * steps;
    }
    return BCASTGEN_OK;
}

/* No two elements of a result share memory: a stride is beyond what smaller ones, and equal ones, span. */
static inline bcastgen_status distinct(const bcastgen_array *r, int32_t k, int32_t bytes, bcastgen_diagnostic *why)
{
    for (int32_t dim = 0; dim < r->rank; dim++) {
        int64_t least = bytes;
        for (int32_t other = 0; other < r->rank; other++) {
            const uint64_t own = magnitude(step(r, other));
            if (other != dim && own <= magnitude(step(r, dim))) least += (r->extents[other] - 1) * (int64_t)own;
        }
        if (r->extents[dim] == 1 || magnitude(step(r, dim)) >= (uint64_t)least) continue;
        return refuse(why, BCASTGEN_REPEATS, k, dim, -1, least, step(r, dim));
    }
    return BCASTGEN_OK;
}

/* The very same elements in the same places. */
static inline bool same(const bcastgen_array *r, const bcastgen_array *x)
{
    if (r->data != x->data || r->rank != x->rank) return false;
    for (int32_t dim = 0; dim < r->rank; dim++) {
        if (r->extents[dim] != x->extents[dim] || step(r, dim) != step(x, dim)) return false;
    }
    return true;
}

/* How many bytes of a circle an array covers from its first one, if all larger strides go round it: else 0. A circle of
 * 0 is all memory. */
static inline uint64_t covered(const bcastgen_array *x, uint64_t bytes, uint64_t circle)
{
    for (int32_t dim = 0; dim < x->rank; dim++) {
        const uint64_t own = magnitude(step(x, dim));
        if (circle == 0 || own < circle) bytes += ((uint64_t)x->extents[dim] - 1) * own;
        else if (own % circle != 0) return 0;
    }
    return bytes;
}

static inline uintptr_t first_byte(const bcastgen_array *x)
{
    uintptr_t first = (uintptr_t)x->data;
    for (int32_t dim = 0; dim < x->rank; dim++) {
        if (step(x, dim) < 0) first -= (uintptr_t)(x->extents[dim] - 1) * (uintptr_t)magnitude(step(x, dim));
    }
    return first;
}

/* No byte is shared, since the two cover separate parts of some circle: of all memory, or of a stride. */
static inline bool apart(const bcastgen_array *r, int32_t r_bytes, const bcastgen_array *x, int32_t x_bytes)
{
    const uintptr_t r_first = first_byte(r), x_first = first_byte(x);
    for (int32_t at = -1; at < r->rank + x->rank; at++) {
        const uint64_t circle = at < 0 ? 0 : magnitude(at < r->rank ? step(r, at) : step(x, at - r->rank));
        const uint64_t r_part = covered(r, (uint64_t)r_bytes, circle), x_part = covered(x, (uint64_t)x_bytes, circle);
        uint64_t behind = (uintptr_t)(x_first - r_first), before = (uintptr_t)(r_first - x_first);
        if (circle > 0) {
            behind = x_first >= r_first ? behind % circle : circle - 1 - (before - 1) % circle;
            before = circle - behind;
        }
        if (r_part > 0 && x_part > 0 && behind >= r_part && before >= x_part) return true;
    }
    return false;
}

/* A result and an operand share no byte, or are the same if that is allowed. */
static inline bcastgen_status separate(const bcastgen_array *r, int32_t k, int32_t r_bytes, const bcastgen_array *x,
                                       int32_t other, int32_t x_bytes, bool may_be_same, bcastgen_diagnostic *why)
{
    if ((may_be_same && same(r, x)) || apart(r, r_bytes, x, x_bytes)) return BCASTGEN_OK;
    return refuse(why, BCASTGEN_OVERLAP, k, -1, other, 0, 0);
}

#endif
