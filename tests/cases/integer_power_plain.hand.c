/* r = a to the power of b - 1, by hand: the contract of integer_power_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "integer_power_plain.h"

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
static int32_t exponent_at(const bcastgen_array *b, int64_t i)
{
    return (int32_t)((uint32_t)*(const int32_t *)(const void *)((const char *)b->data + i * step(b, 0)) - 1);
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *a, const bcastgen_array *b, int64_t extents[1], int32_t from[1],
                                 bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(a, 0, 1, why);
    if (status == BCASTGEN_OK) status = has_rank(b, 1, 1, why);
    extents[0] = 1;
    from[0] = -1;
    if (status == BCASTGEN_OK) status = meet(a, 0, 0, 0, extents, from, why);
    if (status == BCASTGEN_OK) status = meet(b, 1, 0, 0, extents, from, why);
    if (status == BCASTGEN_OK) status = countable(2, 1, extents, 4, why);
    return status;
}

bcastgen_status integer_power_plain_shape(const bcastgen_array *a, const bcastgen_array *b, int64_t r_extents[1],
                                          bcastgen_diagnostic *why)
{
    int64_t extents[1];
    int32_t from[1];
    const bcastgen_status status = broadcast(a, b, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 1; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status integer_power_plain(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_result *r,
                                    bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[1];
    int32_t from[1];
    bcastgen_status status = broadcast(a, b, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 2, 1, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(a, 0, 4, why);
    if (status == BCASTGEN_OK) status = look(b, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, a, 0, 4, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, b, 1, 4, true, why);
    if (status != BCASTGEN_OK) return status;

    for (int64_t i = 0; i < extents[0]; i++) {
        if (exponent_at(b, i) < 0) return refuse(why, BCASTGEN_DOMAIN, -1, -1, -1, 0, 0);
    }
    for (int64_t i = 0; i < extents[0]; i++) {
        const int32_t base = *(const int32_t *)(const void *)((const char *)a->data + i * step(a, 0));
        *(int32_t *)(void *)((char *)r->data + i * step(&made, 0)) = power(base, (uint32_t)exponent_at(b, i));
    }
    return BCASTGEN_OK;
}
