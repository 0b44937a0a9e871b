/* bcg_memory.h: which bytes an array touches, and whether a kernel may touch them.
 *
 * Contract. Arrays have been checked to have at least one element, unless it says otherwise; none of their data is read.
 * Addresses are added up unsigned, so that absurd strides wrap and overflow nothing. Each definition stands between
 * blank lines and uses only what stands above it or in bcg_broadcast.h: emit copies the ones a kernel needs.
 */
#ifndef BCG_MEMORY_H
#define BCG_MEMORY_H

#include "bcg_broadcast.h"

/* One array ends before the other begins: the bytes of each run from its first to its last, whatever its strides. */
static inline int bcg_apart(const bcg_array *x, int64_t x_bytes, const bcg_array *y, int64_t y_bytes)
{
    const bcg_array *const arrays[] = {x, y};
    uintptr_t first[] = {(uintptr_t)x->data, (uintptr_t)y->data};
    uintptr_t last[] = {first[0] + (uintptr_t)x_bytes - 1, first[1] + (uintptr_t)y_bytes - 1};
    for (int k = 0; k < 2; k++) {
        for (int32_t dim = 0; dim < arrays[k]->rank; dim++) {
            const int64_t stride = bcg_stride(arrays[k], dim);
            *(stride < 0 ? &first[k] : &last[k]) += (uintptr_t)(arrays[k]->extents[dim] - 1) * (uintptr_t)stride;
        }
    }
    return last[0] < first[1] || last[1] < first[0];
}

/* The very same elements in the same places. */
static inline int bcg_same(const bcg_array *x, const bcg_array *y)
{
    if (x->data != y->data || x->rank != y->rank) return 0;
    for (int32_t dim = 0; dim < x->rank; dim++) {
        if (x->extents[dim] != y->extents[dim] || bcg_stride(x, dim) != bcg_stride(y, dim)) return 0;
    }
    return 1;
}

static inline int bcg_empty(const bcg_array *array)
{
    for (int32_t dim = 0; dim < array->rank; dim++) {
        if (array->extents[dim] == 0) return 1;
    }
    return 0;
}

/* An array that is going to be read or written has data, aligned to its elements. */
static inline bcg_status bcg_check_data(const bcg_array *array, int32_t position, int64_t bytes, bcg_diagnostic *why)
{
    uintptr_t bits = (uintptr_t)array->data;
    if (array->data == NULL || (array->rank > 0 && array->byte_strides == NULL)) {
        return bcg_fail(why, BCG_NULL_DATA, position, -1, -1, 0, 0);
    }
    for (int32_t dim = 0; dim < array->rank; dim++) bits |= (uintptr_t)bcg_stride(array, dim);
    if (bits % (uintptr_t)bytes != 0) return bcg_fail(why, BCG_ALIGNMENT, position, -1, -1, bytes, 0);
    return BCG_OK;
}

/* No two elements of a result are one, as they are where a stride is 0 along more than one of them. */
static inline bcg_status bcg_check_distinct(const bcg_array *result, int32_t position, bcg_diagnostic *why)
{
    for (int32_t dim = 0; dim < result->rank; dim++) {
        if (result->extents[dim] == 1 || result->byte_strides[dim] != 0) continue;
        return bcg_fail(why, BCG_OVERLAP, position, -1, position, 0, 0);
    }
    return BCG_OK;
}

#endif
