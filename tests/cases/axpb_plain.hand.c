/* r = a + b * 2, by hand: the contract of axpb_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "axpb_plain.h"

static bcastgen_status refuse(bcastgen_diagnostic *why, bcastgen_status status, int32_t operand, int32_t dim,
                                int32_t against, int64_t expected, int64_t actual)
{
    const bcastgen_diagnostic found = {operand, dim, against, expected, actual};
    if (why != NULL) *why = found;
    return status;
}

/* A dim of extent 1 stretches: its one element is read again. */
static int64_t step(const bcastgen_array *array, int dim)
{
    return array->extents[dim] == 1 ? 0 : array->byte_strides[dim];
}

/* The same array as a whole is fine, a shared byte is not; nor, here, are interwoven elements. */
static bool overlaps(const bcastgen_array *r, const bcastgen_array *x)
{
    if (r->data == x->data && step(r, 0) == step(x, 0) && step(r, 1) == step(x, 1)) return false;
    uintptr_t first[2] = {(uintptr_t)r->data, (uintptr_t)x->data};
    uintptr_t last[2] = {first[0] + sizeof(float) - 1, first[1] + sizeof(float) - 1};
    for (int dim = 0; dim < 2; dim++) {
        const uintptr_t r_length = (uintptr_t)(r->extents[dim] - 1) * (uintptr_t)step(r, dim);
        const uintptr_t x_length = (uintptr_t)(x->extents[dim] - 1) * (uintptr_t)step(x, dim);
        *(step(r, dim) < 0 ? &first[0] : &last[0]) += r_length;
        *(step(x, dim) < 0 ? &first[1] : &last[1]) += x_length;
    }
    return first[0] <= last[1] && first[1] <= last[0];
}

/* What a and b broadcast to, and which of them set each extent. */
static bcastgen_status broadcast(const bcastgen_array *a, const bcastgen_array *b, int64_t extents[2],
                                   int32_t from[2], bcastgen_diagnostic *why)
{
    const bcastgen_array *const operands[2] = {a, b};
    for (int32_t k = 0; k < 2; k++) {
        if (operands[k]->rank != 2) return refuse(why, BCASTGEN_RANK, k, -1, -1, 2, operands[k]->rank);
        if (operands[k]->extents == NULL) return refuse(why, BCASTGEN_NULL_EXTENTS, k, -1, -1, 0, 2);
    }
    extents[0] = extents[1] = 1;
    from[0] = from[1] = -1;
    for (int32_t k = 0; k < 2; k++) {
        for (int32_t dim = 0; dim < 2; dim++) {
            const int64_t extent = operands[k]->extents[dim];
            if (extent < 0) return refuse(why, BCASTGEN_NEGATIVE, k, dim, -1, 0, extent);
            if (extent == 1 || extent == extents[dim]) continue;
            if (extents[dim] != 1) return refuse(why, BCASTGEN_BROADCAST, k, dim, from[dim], extents[dim], extent);
            extents[dim] = extent;
            from[dim] = k;
        }
    }
    if (extents[1] > 0 && extents[0] > PTRDIFF_MAX / 4 / extents[1]) {
        return refuse(why, BCASTGEN_OVERFLOW, 2, -1, -1, PTRDIFF_MAX, sizeof(float));
    }
    return BCASTGEN_OK;
}

/* What is wrong with an array whose elements are read or written. */
static bcastgen_status look(const bcastgen_array *array, int32_t k, bcastgen_diagnostic *why)
{
    int64_t most = PTRDIFF_MAX - 4; /* bytes, from the first element to the last */
    if (array->data == NULL) return refuse(why, BCASTGEN_NULL_DATA, k, -1, -1, 0, 0);
    if ((uintptr_t)array->data % sizeof(float) != 0) return refuse(why, BCASTGEN_ALIGNMENT, k, -1, -1, sizeof(float), 0);
    for (int32_t dim = 0; dim < 2; dim++) {
        const int64_t extent = array->extents[dim];
        if (extent == 1) continue;
        if (array->byte_strides == NULL) return refuse(why, BCASTGEN_NULL_STRIDES, k, dim, -1, 0, extent);
        const int64_t stride = array->byte_strides[dim];
        if (stride % 4 != 0) return refuse(why, BCASTGEN_STRIDE, k, dim, -1, sizeof(float), stride);
        if (stride == INT64_MIN || (stride < 0 ? -stride : stride) > most / (extent - 1)) {
            return refuse(why, BCASTGEN_SPAN, k, dim, -1, PTRDIFF_MAX, stride);
        }
        most -= (stride < 0 ? -stride : stride) * (extent - 1);
    }
    return BCASTGEN_OK;
}

bcastgen_status axpb_plain_shape(const bcastgen_array *a, const bcastgen_array *b, int64_t r_extents[2],
                                   bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(a, b, extents, from, why);
    for (int dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status axpb_plain(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_array *r,
                             bcastgen_diagnostic *why)
{
    const bcastgen_array *const arrays[3] = {a, b, r};
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(a, b, extents, from, why);
    if (status != BCASTGEN_OK) return status;
    if (r->rank != 2) return refuse(why, BCASTGEN_RESULT_RANK, 2, -1, -1, 2, r->rank);
    if (r->extents == NULL) return refuse(why, BCASTGEN_NULL_EXTENTS, 2, -1, -1, 0, 2);
    for (int32_t dim = 0; dim < 2; dim++) {
        if (r->extents[dim] == extents[dim]) continue;
        return refuse(why, BCASTGEN_RESULT, 2, dim, from[dim], extents[dim], r->extents[dim]);
    }
    if (extents[0] == 0 || extents[1] == 0) return BCASTGEN_OK;
    for (int32_t k = 0; status == BCASTGEN_OK && k < 3; k++) status = look(arrays[k], k, why);
    if (status != BCASTGEN_OK) return status;
    for (int32_t dim = 0; dim < 2; dim++) {
        const int64_t own = imaxabs(step(r, dim)), other = imaxabs(step(r, 1 - dim));
        const int64_t least = (int64_t)sizeof(float) + (other <= own ? (extents[1 - dim] - 1) * other : 0);
        if (extents[dim] > 1 && own < least) return refuse(why, BCASTGEN_REPEATS, 2, dim, -1, least, step(r, dim));
    }
    if (overlaps(r, a)) return refuse(why, BCASTGEN_OVERLAP, 2, -1, 0, 0, 0);
    if (overlaps(r, b)) return refuse(why, BCASTGEN_OVERLAP, 2, -1, 1, 0, 0);

    for (int64_t row = 0; row < extents[0]; row++) {
        const char *x = (const char *)a->data + row * step(a, 0);
        const char *y = (const char *)b->data + row * step(b, 0);
        char *sum = (char *)r->data + row * step(r, 0);
        for (int64_t column = 0; column < extents[1]; column++) {
            const float twice = *(const float *)(const void *)(y + column * step(b, 1)) * 2;
            *(float *)(void *)(sum + column * step(r, 1)) = *(const float *)(const void *)(x + column * step(a, 1)) + twice;
        }
    }
    return BCASTGEN_OK;
}
