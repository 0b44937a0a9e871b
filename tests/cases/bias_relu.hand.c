/* r = x + bias where that is positive, else 0, by hand: the contract of bias_relu.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "bias_relu.h"

BY_HAND_LOOP void row(const char *x, int64_t x_step, const char *bias, int64_t bias_step, char *r, int64_t r_step,
                      int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float value = *(const float *)(const void *)(x + i * x_step);
        const float sum = value + *(const float *)(const void *)(bias + i * bias_step);
        *(float *)(void *)(r + i * r_step) = 0 > sum ? 0 : sum; /* a NaN stays one */
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *x, const bcastgen_array *bias, int64_t extents[2],
                                 int32_t from[2], bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(x, 0, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(bias, 1, 1, why);
    if (status == BCASTGEN_OK) status = not_negative(x, 0, 0, why);
    if (status == BCASTGEN_OK) status = not_negative(x, 0, 1, why);
    if (status != BCASTGEN_OK) return status;
    extents[0] = x->extents[0];
    extents[1] = x->extents[1];
    from[0] = from[1] = 0;
    status = equal(bias, 1, 0, 0, extents[1], why);
    if (status == BCASTGEN_OK) status = countable(2, 2, extents, 4, why);
    return status;
}

bcastgen_status bias_relu_shape(const bcastgen_array *x, const bcastgen_array *bias, int64_t r_extents[2],
                                bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(x, bias, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status bias_relu(const bcastgen_array *x, const bcastgen_array *bias, const bcastgen_result *r,
                          bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(x, bias, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 2, 2, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(x, 0, 4, why);
    if (status == BCASTGEN_OK) status = look(bias, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, x, 0, 4, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, bias, 1, 4, false, why);
    if (status != BCASTGEN_OK) return status;

    for (int64_t i = 0; i < extents[0]; i++) {
        const char *from_x = (const char *)x->data + i * step(x, 0);
        char *to_r = (char *)r->data + i * step(&made, 0);
        if (HAS_VECTORS && step(x, 1) == 4 && step(bias, 0) == 4 && step(&made, 1) == 4) {
            row(from_x, 4, bias->data, 4, to_r, 4, extents[1]);
        } else {
            row(from_x, step(x, 1), bias->data, step(bias, 0), to_r, step(&made, 1), extents[1]);
        }
    }
    return BCASTGEN_OK;
}
