/* bcg_broadcast.h: how extents meet at run time, and where a stride becomes 0.
 *
 * Contract. The run-time twin of the compile-time rule in bcastgen/shape/inference/broadcast.py. Shapes align on the right; two
 * extents meet if they are equal or one is 1, and the result is the one that is not 1 (so 0 with 1 is 0; never the
 * larger of the two). Nothing here reads array data. Each definition is between blank lines and uses only what
 * stands above it, in bcg_abi.h or in bcg_check.h: emit copies the ones a kernel needs.
 */
#ifndef BCG_BROADCAST_H
#define BCG_BROADCAST_H

#include "bcg_check.h"

/* Lets one dim of an operand meet a dim of the domain, which is 1 until an operand sets it: `from` keeps which. */
static inline bcg_status bcg_meet_dim(const bcg_array *operand, int32_t position, int32_t dim, int32_t at,
                                      int64_t *extents, int32_t *from, bcg_diagnostic *why)
{
    const int64_t extent = operand->extents[dim];
    if (extent < 0) return bcg_fail_dim(why, BCG_NEGATIVE, position, dim, 0, extent);
    if (extent == 1 || extent == extents[at]) return BCG_OK;
    if (extents[at] != 1) return bcg_fail(why, BCG_BROADCAST, position, dim, from[at], extents[at], extent);
    extents[at] = extent;
    from[at] = position;
    return BCG_OK;
}

/* Lets dims [first, end) of an operand meet the domain's extents, 1 until an operand sets them: `from` keeps which. */
static inline bcg_status bcg_meet(const bcg_array *operand, int32_t position, int32_t first, int32_t end, int32_t rank,
                                  int64_t *extents, int32_t *from, bcg_diagnostic *why)
{
    for (int32_t dim = first; dim < end; dim++) {
        const int64_t extent = operand->extents[dim];
        const int32_t at = rank - operand->rank + dim;
        if (extent < 0) return bcg_fail_dim(why, BCG_NEGATIVE, position, dim, 0, extent);
        if (extent == 1 || extent == extents[at]) continue;
        if (extents[at] != 1) return bcg_fail(why, BCG_BROADCAST, position, dim, from[at], extents[at], extent);
        extents[at] = extent;
        from[at] = position;
    }
    return BCG_OK;
}

/* Widens the domain by a dim that is known to fit: nothing is compared. An extent of 1 stretches, and sets nothing. */
static inline void bcg_widen(const bcg_array *operand, int32_t position, int32_t dim, int32_t at, int64_t *extents,
                             int32_t *from)
{
    if (extents[at] != 1 || operand->extents[dim] == 1) return;
    extents[at] = operand->extents[dim];
    from[at] = position;
}

/* Lets dims [first, end) meet the domain's where none stretches: the first operand sets the extent, others have it. */
static inline bcg_status bcg_match(const bcg_array *operand, int32_t position, int32_t first, int32_t end, int32_t rank,
                                   int64_t *extents, int32_t *from, bcg_diagnostic *why)
{
    for (int32_t dim = first; dim < end; dim++) {
        const int64_t extent = operand->extents[dim];
        const int32_t at = rank - operand->rank + dim;
        if (extent < 0) return bcg_fail_dim(why, BCG_NEGATIVE, position, dim, 0, extent);
        if (from[at] >= 0 && extent != extents[at]) {
            return bcg_fail(why, BCG_STRICT, position, dim, from[at], extents[at], extent);
        }
        if (from[at] >= 0) continue;
        extents[at] = extent;
        from[at] = position;
    }
    return BCG_OK;
}

/* Takes over the extents of dims [first, end) that no operand has set yet; on trust, none is compared. */
static inline bcg_status bcg_take(const bcg_array *operand, int32_t position, int32_t first, int32_t end, int32_t rank,
                                  int64_t *extents, int32_t *from, bcg_diagnostic *why)
{
    (void)why;
    for (int32_t dim = first; dim < end; dim++) {
        const int32_t at = rank - operand->rank + dim;
        if (from[at] >= 0) continue;
        extents[at] = operand->extents[dim];
        from[at] = position;
    }
    return BCG_OK;
}

/* Effective stride: 0 where the extent is 1, so that the one element is read again and never copied. An array without
 * elements may have no strides. */
static inline int64_t bcg_stride(const bcg_array *array, int32_t dim)
{
    return array->extents[dim] == 1 || array->byte_strides == NULL ? 0 : array->byte_strides[dim];
}

/* The number of points of a domain, or -1 if 63 bits do not hold it; an extent of 0 makes it 0. */
static inline int64_t bcg_points(int32_t rank, const int64_t *extents)
{
    int64_t points = 1;
    for (int32_t dim = 0; dim < rank; dim++) {
        if (extents[dim] == 0) return 0;
        points = points < 0 || points > INT64_MAX / extents[dim] ? -1 : points * extents[dim];
    }
    return points;
}

static inline uint64_t bcg_magnitude(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* The bytes of a dense array, or -1 if no object can have so many; an extent of 0 makes it 0. */
static inline int64_t bcg_bytes(int32_t rank, const int64_t *extents, int64_t bytes)
{
    for (int32_t dim = 0; dim < rank; dim++) {
        if (extents[dim] == 0) return 0;
        bytes = bytes < 0 || bytes > PTRDIFF_MAX / extents[dim] ? -1 : bytes * extents[dim];
    }
    return bytes;
}

/* The bytes of a dense array among others, each of which begins at a multiple of 16. */
static inline size_t bcg_room(int32_t rank, const int64_t *extents, int64_t bytes)
{
    return ((size_t)bcg_bytes(rank, extents, bytes) + 15) / 16 * 16;
}

/* A result has exactly the inferred extents: results do not broadcast. */
static inline bcg_status bcg_check_result(const bcg_array *result, int32_t position, int32_t rank, const int64_t *extents,
                                          const int32_t *from, bcg_diagnostic *why)
{
    if (result->rank != rank) return bcg_fail_array(why, BCG_RESULT_RANK, position, rank, result->rank);
    if (rank > 0 && result->extents == NULL) return bcg_fail_array(why, BCG_NULL_EXTENTS, position, 0, rank);
    for (int32_t dim = 0; dim < rank; dim++) {
        const int64_t extent = result->extents[dim];
        if (extent != extents[dim]) return bcg_fail(why, BCG_RESULT, position, dim, from[dim], extents[dim], extent);
    }
    return BCG_OK;
}

/* The shape that is left of a domain if the dims of a set are reduced. */
static inline void bcg_reduce_shape(const bcg_shape *domain, uint64_t dims, int32_t keeps, bcg_shape *left)
{
    left->rank = 0;
    for (int32_t dim = 0; dim < domain->rank; dim++) {
        const int is_reduced = (int)(dims >> dim & 1);
        if (!is_reduced || keeps) left->extents[left->rank++] = is_reduced ? 1 : domain->extents[dim];
    }
}

#endif
