/* r = x / sqrt(var + 0.001), a variance for each row, by hand: the contract of normalise.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include <math.h>

#include "by_hand.h"
#include "normalise.h"

BY_HAND_LOOP void row(const char *x, int64_t x_step, float root, char *r, int64_t r_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        *(float *)(void *)(r + i * r_step) = *(const float *)(const void *)(x + i * x_step) / root;
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *x, const bcastgen_array *var, int64_t extents[2],
                                 int32_t from[2], bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(x, 0, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(var, 1, 2, why);
    if (status == BCASTGEN_OK) status = not_negative(x, 0, 0, why);
    if (status == BCASTGEN_OK) status = not_negative(x, 0, 1, why);
    if (status != BCASTGEN_OK) return status;
    extents[0] = x->extents[0];
    extents[1] = x->extents[1];
    from[0] = from[1] = 0;
    status = equal(var, 1, 0, 0, extents[0], why);
    if (status == BCASTGEN_OK) status = equal(var, 1, 1, -1, 1, why);
    if (status == BCASTGEN_OK) status = countable(2, 2, extents, 4, why);
    return status;
}

bcastgen_status normalise_shape(const bcastgen_array *x, const bcastgen_array *var, int64_t r_extents[2],
                                bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(x, var, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status normalise(const bcastgen_array *x, const bcastgen_array *var, const bcastgen_result *r,
                          bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(x, var, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 2, 2, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(x, 0, 4, why);
    if (status == BCASTGEN_OK) status = look(var, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, x, 0, 4, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, var, 1, 4, false, why);
    if (status != BCASTGEN_OK) return status;

    for (int64_t i = 0; i < extents[0]; i++) {
        const float root = sqrtf(*(const float *)(const void *)((const char *)var->data + i * step(var, 0)) + 0.001f);
        const char *from_x = (const char *)x->data + i * step(x, 0);
        char *to_r = (char *)r->data + i * step(&made, 0);
        if (HAS_VECTORS && step(x, 1) == 4 && step(&made, 1) == 4) row(from_x, 4, root, to_r, 4, extents[1]);
        else row(from_x, step(x, 1), root, to_r, step(&made, 1), extents[1]);
    }
    return BCASTGEN_OK;
}
