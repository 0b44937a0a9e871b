/* r = (a * w + b * (255 - w)) / 255 of bytes, by hand: the contract of blend_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "blend_plain.h"

enum { OPERANDS = 3, ARRAYS = 4 };

static bcastgen_status refuse(bcastgen_diagnostic *why, bcastgen_status status, int32_t operand, int32_t dim,
                                 int32_t against, int64_t expected, int64_t actual)
{
    const bcastgen_diagnostic found = {operand, dim, against, expected, actual};
    if (why != NULL) *why = found;
    return status;
}

/* One of extent 1 stretches: its one element is read again. */
static int64_t step(const bcastgen_array *array)
{
    return array->extents[0] == 1 ? 0 : array->byte_strides[0];
}

/* The same array as a whole is fine, a shared byte is not; nor, here, are interwoven elements. */
static bool overlaps(const bcastgen_array *r, const bcastgen_array *x)
{
    if (r->data == x->data && step(r) == step(x)) return false;
    const uintptr_t r_length = (uintptr_t)(r->extents[0] - 1) * (uintptr_t)step(r);
    const uintptr_t x_length = (uintptr_t)(x->extents[0] - 1) * (uintptr_t)step(x);
    uintptr_t r_first = (uintptr_t)r->data, r_last = r_first + sizeof(uint8_t) - 1;
    uintptr_t x_first = (uintptr_t)x->data, x_last = x_first + sizeof(uint8_t) - 1;
    *(step(r) < 0 ? &r_first : &r_last) += r_length;
    *(step(x) < 0 ? &x_first : &x_last) += x_length;
    return r_first <= x_last && x_first <= r_last;
}

/* What the operands broadcast to, and which of them set it. */
static bcastgen_status broadcast(const bcastgen_array *const *arrays, int64_t *extent, int32_t *from,
                                    bcastgen_diagnostic *why)
{
    for (int32_t k = 0; k < OPERANDS; k++) {
        if (arrays[k]->rank != 1) return refuse(why, BCASTGEN_RANK, k, -1, -1, 1, arrays[k]->rank);
        if (arrays[k]->extents == NULL) return refuse(why, BCASTGEN_NULL_EXTENTS, k, -1, -1, 0, 1);
    }
    *extent = 1;
    *from = -1;
    for (int32_t k = 0; k < OPERANDS; k++) {
        const int64_t own = arrays[k]->extents[0];
        if (own < 0) return refuse(why, BCASTGEN_NEGATIVE, k, 0, -1, 0, own);
        if (own == 1 || own == *extent) continue;
        if (*extent != 1) return refuse(why, BCASTGEN_BROADCAST, k, 0, *from, *extent, own);
        *extent = own;
        *from = k;
    }
    return BCASTGEN_OK;
}

/* What is wrong with an array whose elements are read or written. */
static bcastgen_status look(const bcastgen_array *array, int32_t k, bcastgen_diagnostic *why)
{
    int64_t most = PTRDIFF_MAX - 1; /* bytes, from the first element to the last */
    if (array->data == NULL) return refuse(why, BCASTGEN_NULL_DATA, k, -1, -1, 0, 0);
    for (int32_t dim = 0; dim < 1; dim++) {
        const int64_t extent = array->extents[dim];
        if (extent == 1) continue;
        if (array->byte_strides == NULL) return refuse(why, BCASTGEN_NULL_STRIDES, k, dim, -1, 0, extent);
        const int64_t stride = array->byte_strides[dim];
        if (stride == INT64_MIN || (stride < 0 ? -stride : stride) > most / (extent - 1)) {
            return refuse(why, BCASTGEN_SPAN, k, dim, -1, PTRDIFF_MAX, stride);
        }
        most -= (stride < 0 ? -stride : stride) * (extent - 1);
    }
    return BCASTGEN_OK;
}

bcastgen_status blend_plain_shape(const bcastgen_array *a, const bcastgen_array *b,
                                     const bcastgen_array *w, int64_t r_extents[1], bcastgen_diagnostic *why)
{
    const bcastgen_array *const operands[] = {a, b, w};
    int64_t extent;
    int32_t from;
    const bcastgen_status status = broadcast(operands, &extent, &from, why);
    if (status == BCASTGEN_OK) r_extents[0] = extent;
    return status;
}

bcastgen_status blend_plain(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_array *w,
                               const bcastgen_array *r, bcastgen_diagnostic *why)
{
    const bcastgen_array *const arrays[] = {a, b, w, r};
    int64_t extent;
    int32_t from;
    bcastgen_status status = broadcast(arrays, &extent, &from, why);
    if (status != BCASTGEN_OK) return status;
    if (r->rank != 1) return refuse(why, BCASTGEN_RESULT_RANK, OPERANDS, -1, -1, 1, r->rank);
    if (r->extents == NULL) return refuse(why, BCASTGEN_NULL_EXTENTS, OPERANDS, -1, -1, 0, 1);
    if (r->extents[0] != extent) return refuse(why, BCASTGEN_RESULT, OPERANDS, 0, from, extent, r->extents[0]);
    if (extent == 0) return BCASTGEN_OK;
    for (int32_t k = 0; status == BCASTGEN_OK && k < ARRAYS; k++) status = look(arrays[k], k, why);
    if (status != BCASTGEN_OK) return status;
    if (extent > 1 && step(r) == 0) return refuse(why, BCASTGEN_REPEATS, OPERANDS, 0, -1, sizeof(uint8_t), 0);
    for (int32_t k = 0; k < OPERANDS; k++) {
        if (overlaps(r, arrays[k])) return refuse(why, BCASTGEN_OVERLAP, OPERANDS, -1, k, 0, 0);
    }

    for (int64_t i = 0; i < extent; i++) {
        const int32_t x = *((const uint8_t *)a->data + i * step(a));
        const int32_t y = *((const uint8_t *)b->data + i * step(b));
        const int32_t weight = *((const uint8_t *)w->data + i * step(w));
        *((uint8_t *)r->data + i * step(r)) = (uint8_t)((x * weight + y * (255 - weight)) / 255);
    }
    return BCASTGEN_OK;
}
