/* bcg_check.h: run-time checks that do not concern broadcasting.
 *
 * Contract. Each returns BCG_OK or a status with the diagnostic filled in (`why` may be null); none reads array data.
 * Each definition stands between blank lines and uses only what stands above it, in bcg_abi.h or in the standard
 * headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_CHECK_H
#define BCG_CHECK_H

#include "bcg_abi.h"
#include <stddef.h>

static inline int32_t bcg_fail(bcg_diagnostic *why, int32_t status, int32_t operand, int32_t dim, int32_t against,
                               int64_t expected, int64_t actual)
{
    if (why != NULL) {
        why->operand = operand;
        why->dim = dim;
        why->against = against;
        why->expected = expected;
        why->actual = actual;
    }
    return status;
}

/* An array that is going to be read or written has data, aligned to its elements. */
static inline int32_t bcg_check_data(const bcg_array *array, int32_t position, int64_t bytes, bcg_diagnostic *why)
{
    uintptr_t bits = (uintptr_t)array->data;
    if (array->data == NULL) return bcg_fail(why, BCG_NULL_DATA, position, -1, -1, 0, 0);
    for (int32_t dim = 0; dim < array->rank; dim++) {
        if (array->extents[dim] != 1) bits |= (uintptr_t)array->byte_strides[dim];
    }
    if (bits % (uintptr_t)bytes != 0) return bcg_fail(why, BCG_ALIGNMENT, position, -1, -1, bytes, 0);
    return BCG_OK;
}

/* First and last byte of an array with at least one element. */
static inline void bcg_span(const bcg_array *array, int64_t bytes, uintptr_t *first, uintptr_t *last)
{
    *first = (uintptr_t)array->data;
    *last = *first + (uintptr_t)bytes - 1;
    for (int32_t dim = 0; dim < array->rank; dim++) {
        const int64_t reach = array->extents[dim] == 1 ? 0 : (array->extents[dim] - 1) * array->byte_strides[dim];
        *(reach < 0 ? first : last) += (uintptr_t)reach;
    }
}

/* The very same elements in the same places: safe to compute in place. */
static inline int bcg_same_array(const bcg_array *x, const bcg_array *y, int64_t x_bytes, int64_t y_bytes)
{
    if (x->data != y->data || x->rank != y->rank || x_bytes != y_bytes) return 0;
    for (int32_t dim = 0; dim < x->rank; dim++) {
        if (x->extents[dim] != y->extents[dim]) return 0;
        if (x->extents[dim] != 1 && x->byte_strides[dim] != y->byte_strides[dim]) return 0;
    }
    return 1;
}

/* A result is the other array itself, or their address ranges are disjoint. */
static inline int32_t bcg_check_overlap(const bcg_array *result, int32_t position, int64_t result_bytes,
                                        const bcg_array *other, int32_t against, int64_t bytes, bcg_diagnostic *why)
{
    uintptr_t result_first, result_last, first, last;
    bcg_span(result, result_bytes, &result_first, &result_last);
    bcg_span(other, bytes, &first, &last);
    if (last < result_first || result_last < first) return BCG_OK;
    if (bcg_same_array(result, other, result_bytes, bytes)) return BCG_OK;
    return bcg_fail(why, BCG_OVERLAP, position, -1, against, 0, 0);
}

#endif
