/* r = (a * w + b * (255 - w)) / 255 of bytes, by hand: the contract of blend_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "blend_plain.h"

BY_HAND_LOOP void row(const uint8_t *a, int64_t a_step, const uint8_t *b, int64_t b_step, const uint8_t *w,
                      int64_t w_step, uint8_t *r, int64_t r_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t weight = w[i * w_step];
        r[i * r_step] = (uint8_t)((a[i * a_step] * weight + b[i * b_step] * (255 - weight)) / 255);
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_array *w,
                                 int64_t extents[1], int32_t from[1], bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(a, 0, 1, why);
    if (status == BCASTGEN_OK) status = has_rank(b, 1, 1, why);
    if (status == BCASTGEN_OK) status = has_rank(w, 2, 1, why);
    extents[0] = 1;
    from[0] = -1;
    if (status == BCASTGEN_OK) status = meet(a, 0, 0, 0, extents, from, why);
    if (status == BCASTGEN_OK) status = meet(b, 1, 0, 0, extents, from, why);
    if (status == BCASTGEN_OK) status = meet(w, 2, 0, 0, extents, from, why);
    if (status == BCASTGEN_OK) status = countable(3, 1, extents, 1, why);
    return status;
}

bcastgen_status blend_plain_shape(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_array *w,
                                  int64_t r_extents[1], bcastgen_diagnostic *why)
{
    int64_t extents[1];
    int32_t from[1];
    const bcastgen_status status = broadcast(a, b, w, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 1; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status blend_plain(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_array *w,
                            const bcastgen_result *r, bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[1];
    int32_t from[1];
    bcastgen_status status = broadcast(a, b, w, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 3, 1, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(a, 0, 1, why);
    if (status == BCASTGEN_OK) status = look(b, 1, 1, why);
    if (status == BCASTGEN_OK) status = look(w, 2, 1, why);
    if (status == BCASTGEN_OK) status = look(&made, 3, 1, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 3, 1, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 1, a, 0, 1, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 1, b, 1, 1, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 1, w, 2, 1, true, why);
    if (status != BCASTGEN_OK) return status;

    const int64_t a_step = step(a, 0), b_step = step(b, 0), w_step = step(w, 0), r_step = step(&made, 0);
    if (HAS_VECTORS && a_step == 1 && b_step == 1 && w_step == 1 && r_step == 1) {
        row(a->data, 1, b->data, 1, w->data, 1, r->data, 1, extents[0]);
    } else {
        row(a->data, a_step, b->data, b_step, w->data, w_step, r->data, r_step, extents[0]);
    }
    return BCASTGEN_OK;
}
