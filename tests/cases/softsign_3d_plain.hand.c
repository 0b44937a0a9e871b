/* r = g * x / (1 + |x|), a gain g for each row, by hand: the contract of softsign_3d_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include <math.h>

#include "by_hand.h"
#include "softsign_3d_plain.h"

BY_HAND_LOOP void row(float gain, const char *x, int64_t x_step, char *r, int64_t r_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float value = *(const float *)(const void *)(x + i * x_step);
        *(float *)(void *)(r + i * r_step) = gain * value / (1 + fabsf(value));
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *x, const bcastgen_array *g, int64_t extents[3], int32_t from[3],
                                 bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(x, 0, 3, why);
    if (status == BCASTGEN_OK) status = has_rank(g, 1, 3, why);
    if (status != BCASTGEN_OK) return status;
    for (int32_t dim = 0; dim < 3; dim++) {
        extents[dim] = dim == 1 ? 1 : x->extents[dim];
        from[dim] = dim == 1 ? -1 : 0;
    }
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 3; dim++) status = meet(x, 0, dim, dim, extents, from, why);
    if (status == BCASTGEN_OK) status = equal(g, 1, 0, -1, 1, why);
    if (status == BCASTGEN_OK) status = meet(g, 1, 1, 1, extents, from, why);
    if (status == BCASTGEN_OK) status = equal(g, 1, 2, -1, 1, why);
    if (status == BCASTGEN_OK) status = countable(2, 3, extents, 4, why);
    return status;
}

bcastgen_status softsign_3d_plain_shape(const bcastgen_array *x, const bcastgen_array *g, int64_t r_extents[3],
                                        bcastgen_diagnostic *why)
{
    int64_t extents[3];
    int32_t from[3];
    const bcastgen_status status = broadcast(x, g, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 3; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status softsign_3d_plain(const bcastgen_array *x, const bcastgen_array *g, const bcastgen_result *r,
                                  bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[3];
    int32_t from[3];
    bcastgen_status status = broadcast(x, g, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 2, 3, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(x, 0, 4, why);
    if (status == BCASTGEN_OK) status = look(g, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, x, 0, 4, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, g, 1, 4, false, why);
    if (status != BCASTGEN_OK) return status;

    for (int64_t i = 0; i < extents[0]; i++) {
        for (int64_t j = 0; j < extents[1]; j++) {
            const float gain = *(const float *)(const void *)((const char *)g->data + j * step(g, 1));
            const char *from_x = (const char *)x->data + i * step(x, 0) + j * step(x, 1);
            char *to_r = (char *)r->data + i * step(&made, 0) + j * step(&made, 1);
            if (HAS_VECTORS && step(x, 2) == 4 && step(&made, 2) == 4) row(gain, from_x, 4, to_r, 4, extents[2]);
            else row(gain, from_x, step(x, 2), to_r, step(&made, 2), extents[2]);
        }
    }
    return BCASTGEN_OK;
}
