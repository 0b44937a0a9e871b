/* bcg_memory.h: which bytes an array touches, and whether a kernel may touch them.
 *
 * Contract. Arrays have been checked to have at least one element, unless it says otherwise; none of their data is read.
 * bcg_check_data comes first: what follows it adds up strides that it has found to reach no further than PTRDIFF_MAX.
 * Each definition is between blank lines and uses only what is above it or in bcg_broadcast.h: emit copies the
 * ones a kernel needs.
 */
#ifndef BCG_MEMORY_H
#define BCG_MEMORY_H

#include "bcg_broadcast.h"

/* The largest stride of two arrays, of either sign, below a bound (0: none), and how many steps of it both have. */
static inline uint64_t bcg_next_stride(const bcg_array *const arrays[2], uint64_t bound, uint64_t *steps)
{
    uint64_t largest = 0;
    *steps = 0;
    for (int at = 0; at < 2; at++) {
        for (int32_t dim = 0; dim < arrays[at]->rank; dim++) {
            const uint64_t stride = bcg_magnitude(bcg_stride(arrays[at], dim));
            if (stride < largest || stride >= bound) continue;
            if (stride > largest) *steps = 0;
            largest = stride;
            *steps += (uint64_t)(arrays[at]->extents[dim] - 1);
        }
    }
    return largest;
}

/* Two arrays share no byte: one ends before the other begins, or they are interwoven, as colours or columns are.
 *
 * Bytes are one where steps of both arrays' strides add up to `left`, give or take the elements' own bytes; `reach` is
 * what the smaller strides and these come to. From the largest stride on, either no number of steps is possible, or one
 * is, or there is a choice; then they are left `open`, as steps of the next stride if it divides this one. If it does
 * not, it is not looked into any further, and 0 says that bytes may be shared. */
static inline int bcg_apart(const bcg_array *x, int32_t x_bytes, const bcg_array *y, int32_t y_bytes)
{
    const bcg_array *const arrays[] = {x, y};
    uintptr_t first[] = {(uintptr_t)x->data, (uintptr_t)y->data};
    uintptr_t end[] = {first[0] + (uintptr_t)x_bytes - 1, first[1] + (uintptr_t)y_bytes - 1};
    for (int at = 0; at < 2; at++) {
        for (int32_t dim = 0; dim < arrays[at]->rank; dim++) {
            const int64_t stride = bcg_stride(arrays[at], dim);
            *(stride < 0 ? &first[at] : &end[at]) += (uintptr_t)(arrays[at]->extents[dim] - 1) * (uintptr_t)stride;
        }
    }
    if (end[0] < first[1] || end[1] < first[0]) return 1;
    uint64_t left = end[1] - first[0], reach = end[0] - first[0], open = 0, steps;
    reach += end[1] - first[1];
    uint64_t stride = bcg_next_stride(arrays, UINT64_MAX, &steps);
    for (uint64_t last = stride; stride > 0; last = stride, stride = bcg_next_stride(arrays, stride, &steps)) {
        if (open > 0 && last % stride != 0) return 0;
        steps += open / stride;
        reach -= stride * steps;
        const uint64_t least = left > reach ? (left - reach - 1) / stride + 1 : 0;
        const uint64_t most = left / stride < steps ? left / stride : steps;
        if (least > most) return 1;
        open = least < most ? stride * steps : 0;
        if (least < most) reach += open;
        else left -= most * stride;
    }
    return 0;
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

/* An array that is going to be read or written has data and strides that are multiples of its elements' size, a power of
 * two, and reaches no further than an object can. */
static inline bcg_status bcg_check_data(const bcg_array *array, int32_t position, int32_t bytes, bcg_diagnostic *why)
{
    uint64_t room = (uint64_t)PTRDIFF_MAX - (uint64_t)bytes;
    if (array->data == NULL) return bcg_fail_array(why, BCG_NULL_DATA, position, 0, 0);
    if ((uintptr_t)array->data % (uintptr_t)bytes != 0) return bcg_fail_array(why, BCG_ALIGNMENT, position, bytes, 0);
    for (int32_t dim = 0; dim < array->rank; dim++) {
        const int64_t extent = array->extents[dim];
        if (extent == 1) continue;
        if (array->byte_strides == NULL) return bcg_fail_dim(why, BCG_NULL_STRIDES, position, dim, 0, extent);
        const int64_t stride = array->byte_strides[dim];
        if ((stride & (bytes - 1)) != 0) return bcg_fail_dim(why, BCG_STRIDE, position, dim, bytes, stride);
        const uint64_t steps = (uint64_t)extent - 1, step = bcg_magnitude(stride);
        if (step > room / steps) return bcg_fail_dim(why, BCG_SPAN, position, dim, PTRDIFF_MAX, stride);
        room -= steps * step;
    }
    return BCG_OK;
}

/* bcg_check_data of complex numbers, whose data need be aligned as their two parts are. */
static inline bcg_status bcg_check_complex(const bcg_array *array, int32_t position, int32_t bytes, bcg_diagnostic *why)
{
    const uintptr_t beyond = (uintptr_t)array->data % (uintptr_t)bytes;
    if (beyond % (uintptr_t)(bytes / 2) != 0) return bcg_fail_array(why, BCG_ALIGNMENT, position, bytes / 2, 0);
    bcg_array aligned = *array;
    if (beyond != 0) aligned.data = (const char *)array->data + ((uintptr_t)bytes - beyond);
    return bcg_check_data(&aligned, position, bytes, why);
}

/* Each row along a dim is aligned as the caller promises; a row of one element need not be. */
static inline bcg_status bcg_check_rows(const bcg_array *array, int32_t position, int32_t row_dim, int32_t alignment, bcg_diagnostic *why)
{
    if (array->extents[row_dim] == 1) return BCG_OK;
    if ((uintptr_t)array->data % (uintptr_t)alignment != 0) return bcg_fail_array(why, BCG_ROW_DATA, position, alignment, 0);
    for (int32_t dim = 0; dim < array->rank; dim++) {
        const int64_t stride = bcg_stride(array, dim);
        if (dim != row_dim && (stride & (alignment - 1)) != 0) return bcg_fail_dim(why, BCG_ROW_STRIDE, position, dim, alignment, stride);
    }
    return BCG_OK;
}

/* No two elements of a result are one: each stride is beyond all that smaller ones, or equal ones, reach. */
static inline bcg_status bcg_check_distinct(const bcg_array *result, int32_t position, int32_t bytes, bcg_diagnostic *why)
{
    for (int32_t dim = 0; dim < result->rank; dim++) {
        if (result->extents[dim] == 1) continue;
        const int64_t stride = result->byte_strides[dim];
        int64_t reach = bytes;
        for (int32_t other = 0; other < result->rank; other++) {
            const uint64_t step = bcg_magnitude(bcg_stride(result, other));
            if (other == dim || step > bcg_magnitude(stride)) continue;
            reach += (result->extents[other] - 1) * (int64_t)step;
        }
        if (bcg_magnitude(stride) < (uint64_t)reach) return bcg_fail_dim(why, BCG_REPEATS, position, dim, reach, stride);
    }
    return BCG_OK;
}

/* bcg_check_data of an array that needs no data if it has no elements. */
static inline bcg_status bcg_check_data_if_any(const bcg_array *array, int32_t position, int32_t bytes, bcg_diagnostic *why)
{
    return bcg_empty(array) ? BCG_OK : bcg_check_data(array, position, bytes, why);
}

/* bcg_check_distinct of a result that may have no elements. */
static inline bcg_status bcg_check_distinct_if_any(const bcg_array *result, int32_t position, int32_t bytes, bcg_diagnostic *why)
{
    return bcg_empty(result) ? BCG_OK : bcg_check_distinct(result, position, bytes, why);
}

/* A result shares no byte with an array that comes before it; either may have no elements. */
static inline bcg_status bcg_check_apart(const bcg_array *result, int32_t position, int32_t bytes, const bcg_array *other, int32_t other_position, int32_t other_bytes, bcg_diagnostic *why)
{
    if (bcg_empty(result) || bcg_empty(other) || bcg_apart(result, bytes, other, other_bytes)) return BCG_OK;
    return bcg_fail_overlap(why, position, other_position);
}

#endif
