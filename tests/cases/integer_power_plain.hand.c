/* r = a to the power of b - 1, by hand: the contract of integer_power_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "integer_power_plain.h"

enum { OPERANDS = 2, ARRAYS = 3 };

static integer_power_plain_status refuse(integer_power_plain_diagnostic *why, integer_power_plain_status status,
                                         int32_t operand, int32_t dim, int32_t against, int64_t expected,
                                         int64_t actual)
{
    const integer_power_plain_diagnostic found = {operand, dim, against, expected, actual};
    if (why != NULL) *why = found;
    return status;
}

/* One of extent 1 stretches: its one element is read again. */
static int64_t step(const integer_power_plain_array *array)
{
    return array->extents[0] == 1 ? 0 : array->byte_strides[0];
}

/* The same array as a whole is fine, a shared byte is not; nor, here, are interwoven elements. */
static bool overlaps(const integer_power_plain_array *r, const integer_power_plain_array *x)
{
    if (r->data == x->data && step(r) == step(x)) return false;
    const uintptr_t r_length = (uintptr_t)(r->extents[0] - 1) * (uintptr_t)step(r);
    const uintptr_t x_length = (uintptr_t)(x->extents[0] - 1) * (uintptr_t)step(x);
    uintptr_t r_first = (uintptr_t)r->data, r_last = r_first + sizeof(int32_t) - 1;
    uintptr_t x_first = (uintptr_t)x->data, x_last = x_first + sizeof(int32_t) - 1;
    *(step(r) < 0 ? &r_first : &r_last) += r_length;
    *(step(x) < 0 ? &x_first : &x_last) += x_length;
    return r_first <= x_last && x_first <= r_last;
}

/* What the operands broadcast to, and which of them set it. */
static integer_power_plain_status broadcast(const integer_power_plain_array *const *arrays, int64_t *extent,
                                            int32_t *from, integer_power_plain_diagnostic *why)
{
    for (int32_t k = 0; k < OPERANDS; k++) {
        if (arrays[k]->rank != 1) return refuse(why, INTEGER_POWER_PLAIN_RANK, k, -1, -1, 1, arrays[k]->rank);
        if (arrays[k]->extents == NULL) return refuse(why, INTEGER_POWER_PLAIN_NULL_EXTENTS, k, -1, -1, 0, 1);
    }
    *extent = 1;
    *from = -1;
    for (int32_t k = 0; k < OPERANDS; k++) {
        const int64_t own = arrays[k]->extents[0];
        if (own < 0) return refuse(why, INTEGER_POWER_PLAIN_NEGATIVE, k, 0, -1, 0, own);
        if (own == 1 || own == *extent) continue;
        if (*extent != 1) return refuse(why, INTEGER_POWER_PLAIN_BROADCAST, k, 0, *from, *extent, own);
        *extent = own;
        *from = k;
    }
    if (*extent > PTRDIFF_MAX / 4) return refuse(why, INTEGER_POWER_PLAIN_OVERFLOW, OPERANDS, -1, -1, PTRDIFF_MAX, sizeof(int32_t));
    return INTEGER_POWER_PLAIN_OK;
}

/* Wraps. */
static int32_t power(int32_t base, uint32_t exponent)
{
    uint32_t result = 1;
    for (uint32_t factor = (uint32_t)base; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result *= factor;
        factor *= factor;
    }
    return (int32_t)result;
}

/* b - 1, which wraps. */
static int32_t exponent_at(const integer_power_plain_array *b, int64_t i)
{
    return (int32_t)((uint32_t)*(const int32_t *)(const void *)((const char *)b->data + i * step(b)) - 1);
}

/* What is wrong with an array whose elements are read or written. */
static integer_power_plain_status look(const integer_power_plain_array *array, int32_t k, integer_power_plain_diagnostic *why)
{
    int64_t most = PTRDIFF_MAX - 4; /* bytes, from the first element to the last */
    if (array->data == NULL) return refuse(why, INTEGER_POWER_PLAIN_NULL_DATA, k, -1, -1, 0, 0);
    if ((uintptr_t)array->data % sizeof(int32_t) != 0) return refuse(why, INTEGER_POWER_PLAIN_ALIGNMENT, k, -1, -1, sizeof(int32_t), 0);
    for (int32_t dim = 0; dim < 1; dim++) {
        const int64_t extent = array->extents[dim];
        if (extent == 1) continue;
        if (array->byte_strides == NULL) return refuse(why, INTEGER_POWER_PLAIN_NULL_STRIDES, k, dim, -1, 0, extent);
        const int64_t stride = array->byte_strides[dim];
        if (stride % 4 != 0) return refuse(why, INTEGER_POWER_PLAIN_STRIDE, k, dim, -1, sizeof(int32_t), stride);
        if (stride == INT64_MIN || (stride < 0 ? -stride : stride) > most / (extent - 1)) {
            return refuse(why, INTEGER_POWER_PLAIN_SPAN, k, dim, -1, PTRDIFF_MAX, stride);
        }
        most -= (stride < 0 ? -stride : stride) * (extent - 1);
    }
    return INTEGER_POWER_PLAIN_OK;
}

integer_power_plain_status integer_power_plain_shape(const integer_power_plain_array *a,
                                                     const integer_power_plain_array *b, int64_t r_extents[1],
                                                     integer_power_plain_diagnostic *why)
{
    const integer_power_plain_array *const operands[] = {a, b};
    int64_t extent;
    int32_t from;
    const integer_power_plain_status status = broadcast(operands, &extent, &from, why);
    if (status == INTEGER_POWER_PLAIN_OK) r_extents[0] = extent;
    return status;
}

integer_power_plain_status integer_power_plain(const integer_power_plain_array *a, const integer_power_plain_array *b,
                                               const integer_power_plain_array *r, integer_power_plain_diagnostic *why)
{
    const integer_power_plain_array *const arrays[] = {a, b, r};
    int64_t extent;
    int32_t from;
    integer_power_plain_status status = broadcast(arrays, &extent, &from, why);
    if (status != INTEGER_POWER_PLAIN_OK) return status;
    if (r->rank != 1) return refuse(why, INTEGER_POWER_PLAIN_RESULT_RANK, OPERANDS, -1, -1, 1, r->rank);
    if (r->extents == NULL) return refuse(why, INTEGER_POWER_PLAIN_NULL_EXTENTS, OPERANDS, -1, -1, 0, 1);
    if (r->extents[0] != extent) {
        return refuse(why, INTEGER_POWER_PLAIN_RESULT, OPERANDS, 0, from, extent, r->extents[0]);
    }
    if (extent == 0) return INTEGER_POWER_PLAIN_OK;
    for (int32_t k = 0; status == INTEGER_POWER_PLAIN_OK && k < ARRAYS; k++) status = look(arrays[k], k, why);
    if (status != INTEGER_POWER_PLAIN_OK) return status;
    if (extent > 1 && step(r) == 0) return refuse(why, INTEGER_POWER_PLAIN_REPEATS, OPERANDS, 0, -1, sizeof(int32_t), 0);
    for (int32_t k = 0; k < OPERANDS; k++) {
        if (overlaps(r, arrays[k])) return refuse(why, INTEGER_POWER_PLAIN_OVERLAP, OPERANDS, -1, k, 0, 0);
    }

    for (int64_t i = 0; i < extent; i++) {
        if (exponent_at(b, i) < 0) return refuse(why, INTEGER_POWER_PLAIN_DOMAIN, -1, -1, -1, 0, 0);
    }
    for (int64_t i = 0; i < extent; i++) {
        const int32_t base = *(const int32_t *)(const void *)((const char *)a->data + i * step(a));
        *(int32_t *)(void *)((char *)r->data + i * step(r)) = power(base, (uint32_t)exponent_at(b, i));
    }
    return INTEGER_POWER_PLAIN_OK;
}
