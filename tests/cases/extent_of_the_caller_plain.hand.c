/* r = x * 2, each element k times in a row, by hand: the contract of extent_of_the_caller_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "extent_of_the_caller_plain.h"

BY_HAND_LOOP void fill(char *r, int64_t r_step, float value, int64_t n)
{
    for (int64_t i = 0; i < n; i++) *(float *)(void *)(r + i * r_step) = value;
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *x, int64_t k, int64_t extents[2], int32_t from[2],
                                 bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(x, 0, 1, why);
    if (status == BCASTGEN_OK && k < 0) status = refuse(why, BCASTGEN_NEGATIVE, 1, 0, -1, 0, k);
    if (status == BCASTGEN_OK) status = not_negative(x, 0, 0, why);
    if (status != BCASTGEN_OK) return status;
    extents[0] = x->extents[0];
    extents[1] = k;
    from[0] = 0;
    from[1] = 1;
    if (status == BCASTGEN_OK) status = countable(2, 2, extents, 4, why);
    return status;
}

bcastgen_status extent_of_the_caller_plain_shape(const bcastgen_array *x, int64_t k, int64_t r_extents[2],
                                                 bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(x, k, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status extent_of_the_caller_plain(const bcastgen_array *x, int64_t k, const bcastgen_result *r,
                                           bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(x, k, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 2, 2, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(x, 0, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, x, 0, 4, false, why);
    if (status != BCASTGEN_OK) return status;

    for (int64_t i = 0; i < extents[0]; i++) {
        const float twice = *(const float *)(const void *)((const char *)x->data + i * step(x, 0)) * 2;
        char *row = (char *)r->data + i * step(&made, 0);
        if (HAS_VECTORS && step(&made, 1) == 4) fill(row, 4, twice, extents[1]);
        else fill(row, step(&made, 1), twice, extents[1]);
    }
    return BCASTGEN_OK;
}
