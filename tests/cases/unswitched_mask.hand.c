/* r = a where the row's mask is set, else a * b, by hand: the contract of unswitched_mask.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "unswitched_mask.h"

BY_HAND_LOOP void copy(const char *a, int64_t a_step, char *r, int64_t r_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        *(float *)(void *)(r + i * r_step) = *(const float *)(const void *)(a + i * a_step);
    }
}

BY_HAND_LOOP void product(const char *a, int64_t a_step, const char *b, int64_t b_step, char *r, int64_t r_step,
                          int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float factor = *(const float *)(const void *)(b + i * b_step);
        *(float *)(void *)(r + i * r_step) = *(const float *)(const void *)(a + i * a_step) * factor;
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *m, const bcastgen_array *a, const bcastgen_array *b,
                                 int64_t extents[2], int32_t from[2], bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(m, 0, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(a, 1, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(b, 2, 2, why);
    extents[0] = extents[1] = 1;
    from[0] = from[1] = -1;
    if (status == BCASTGEN_OK) status = meet(m, 0, 0, 0, extents, from, why);
    if (status == BCASTGEN_OK) status = equal(m, 0, 1, -1, 1, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) status = meet(a, 1, dim, dim, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) status = meet(b, 2, dim, dim, extents, from, why);
    if (status == BCASTGEN_OK) status = countable(3, 2, extents, 4, why);
    return status;
}

bcastgen_status unswitched_mask_shape(const bcastgen_array *m, const bcastgen_array *a, const bcastgen_array *b,
                                      int64_t r_extents[2], bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(m, a, b, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status unswitched_mask(const bcastgen_array *m, const bcastgen_array *a, const bcastgen_array *b,
                                const bcastgen_result *r, bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(m, a, b, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 3, 2, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(m, 0, 1, why);
    if (status == BCASTGEN_OK) status = look(a, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(b, 2, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 3, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 3, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 4, m, 0, 1, false, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 4, a, 1, 4, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 4, b, 2, 4, true, why);
    if (status != BCASTGEN_OK) return status;

    for (int64_t i = 0; i < extents[0]; i++) {
        const bool is_set = *((const uint8_t *)m->data + i * step(m, 0)) != 0;
        const char *x = (const char *)a->data + i * step(a, 0), *y = (const char *)b->data + i * step(b, 0);
        char *to_r = (char *)r->data + i * step(&made, 0);
        if (HAS_VECTORS && step(a, 1) == 4 && step(b, 1) == 4 && step(&made, 1) == 4) {
            if (is_set) copy(x, 4, to_r, 4, extents[1]);
            else product(x, 4, y, 4, to_r, 4, extents[1]);
        } else {
            if (is_set) copy(x, step(a, 1), to_r, step(&made, 1), extents[1]);
            else product(x, step(a, 1), y, step(b, 1), to_r, step(&made, 1), extents[1]);
        }
    }
    return BCASTGEN_OK;
}
