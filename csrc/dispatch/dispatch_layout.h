/* dispatch_layout.h: where a result's elements go, and whether arrays share memory.
 *
 * In: shapes and byte strides. Out: K-order strides, and answers about overlap. The part of dispatch.c that knows no
 * Python; its twins are k_strides in bcastgen/runtime/fallback.py and the overlap rules in bcastgen/runtime/slow_path.py.
 */
#ifndef DISPATCH_LAYOUT_H
#define DISPATCH_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bcg_abi.h"

static uint64_t magnitude(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* The stride with which an operand takes part in ordering the result's axes (0 is the innermost); 0 abstains. */
static uint64_t voting_stride(const bcg_array *operand, const bcg_shape *shape, int32_t axis)
{
    if (axis >= operand->rank) return 0;
    const int32_t dim = operand->rank - 1 - axis;
    const int64_t extent = operand->extents[dim];
    if (extent == 1 || extent != shape->extents[shape->rank - 1 - axis]) return 0;
    return magnitude(operand->byte_strides[dim]);
}

/* Must `axis` lie inside `other`, though C order has it outside: 1 yes, -1 no, 0 nobody votes. C order wins ties. */
static int lies_inside(const bcg_array *operands, ptrdiff_t count, const bcg_shape *shape, int32_t axis, int32_t other)
{
    int answer = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        const uint64_t x = voting_stride(&operands[i], shape, axis), y = voting_stride(&operands[i], shape, other);
        if (x == 0 || y == 0) continue;
        if (y <= x) return -1;
        answer = 1;
    }
    return answer;
}

/* NumPy's 'K' order: nditer's insertion sort of the axes by the operands' strides, and from it the result's strides. */
static void k_strides(const bcg_array *operands, ptrdiff_t count, const bcg_shape *shape, uint64_t itemsize,
                      int64_t *strides)
{
    int32_t order[BCG_MAX_RANK];
    for (int32_t i = 0; i < shape->rank; i++) {
        int32_t at = i;
        for (int32_t k = i - 1; k >= 0; k--) {
            const int inside = lies_inside(operands, count, shape, i, order[k]);
            if (inside < 0) break;
            if (inside > 0) at = k;
        }
        memmove(order + at + 1, order + at, (size_t)(i - at) * sizeof *order);
        order[at] = i;
    }
    /* Unsigned, because a product may overflow: the allocation then raises. */
    uint64_t stride = itemsize;
    for (int32_t i = 0; i < shape->rank; i++) {
        const int32_t dim = shape->rank - 1 - order[i];
        strides[dim] = (int64_t)stride;
        stride *= (uint64_t)shape->extents[dim];
    }
}

/* The bytes an array touches, [low, high); both 0 where it has no elements. */
typedef struct {
    uintptr_t low, high;
} span;

static span span_of(const bcg_array *a, uint64_t itemsize)
{
    span s = {(uintptr_t)a->data, (uintptr_t)a->data + itemsize};
    for (int32_t dim = 0; dim < a->rank; dim++) {
        if (a->extents[dim] == 0) return (span){0, 0};
        const uint64_t reach = ((uint64_t)a->extents[dim] - 1) * magnitude(a->byte_strides[dim]);
        if (a->byte_strides[dim] < 0) s.low -= reach;
        else s.high += reach;
    }
    return s;
}

static int disjoint(const bcg_array *a, uint64_t a_itemsize, const bcg_array *b, uint64_t b_itemsize)
{
    const span x = span_of(a, a_itemsize), y = span_of(b, b_itemsize);
    return x.low == x.high || y.low == y.high || x.high <= y.low || y.high <= x.low;
}

static int same_view(const bcg_array *a, const bcg_array *b)
{
    if (a->data != b->data || a->rank != b->rank) return 0;
    for (int32_t dim = 0; dim < a->rank; dim++) {
        if (a->extents[dim] != b->extents[dim]) return 0;
        if (a->extents[dim] > 1 && a->byte_strides[dim] != b->byte_strides[dim]) return 0;
    }
    return 1;
}

/* May two elements share memory? No, if each stride steps over all that the smaller ones span; else say yes. */
static int overlaps_itself(const bcg_array *a, uint64_t itemsize)
{
    int32_t order[BCG_MAX_RANK], count = 0;
    for (int32_t dim = 0; dim < a->rank; dim++) {
        if (a->extents[dim] == 0) return 0;
        if (a->extents[dim] == 1) continue;
        int32_t at = count++;
        for (; at > 0 && magnitude(a->byte_strides[order[at - 1]]) > magnitude(a->byte_strides[dim]); at--)
            order[at] = order[at - 1];
        order[at] = dim;
    }
    uint64_t spanned = itemsize;
    for (int32_t i = 0; i < count; i++) {
        const uint64_t stride = magnitude(a->byte_strides[order[i]]);
        if (stride < spanned) return 1;
        spanned += ((uint64_t)a->extents[order[i]] - 1) * stride;
    }
    return 0;
}

#endif
