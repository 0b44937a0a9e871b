/* r = a + b * 2, by hand: the contract of axpb_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "axpb_plain.h"

BY_HAND_LOOP void row(const char *a, int64_t a_step, const char *b, int64_t b_step, char *r, int64_t r_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float twice = *(const float *)(const void *)(b + i * b_step) * 2;
        *(float *)(void *)(r + i * r_step) = *(const float *)(const void *)(a + i * a_step) + twice;
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *a, const bcastgen_array *b, int64_t extents[2], int32_t from[2],
                                 bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(a, 0, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(b, 1, 2, why);
    extents[0] = extents[1] = 1;
    from[0] = from[1] = -1;
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) status = meet(a, 0, dim, dim, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) status = meet(b, 1, dim, dim, extents, from, why);
    if (status == BCASTGEN_OK) status = countable(2, 2, extents, 4, why);
    return status;
}

bcastgen_status axpb_plain_shape(const bcastgen_array *a, const bcastgen_array *b, int64_t r_extents[2],
                                 bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(a, b, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status axpb_plain(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_result *r,
                           bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(a, b, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 2, 2, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(a, 0, 4, why);
    if (status == BCASTGEN_OK) status = look(b, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 2, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, a, 0, 4, true, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, b, 1, 4, true, why);
    if (status != BCASTGEN_OK) return status;

    int64_t rows = extents[0], n = extents[1];
    const int64_t a_step = step(a, 1), b_step = step(b, 1), r_step = step(&made, 1);
    const bool adjacent = a_step == 4 && b_step == 4 && r_step == 4;
    if (adjacent && step(a, 0) == 4 * n && step(b, 0) == 4 * n && step(&made, 0) == 4 * n) {
        n *= rows; /* one row after the other is one long row */
        rows = 1;
    }
    for (int64_t i = 0; i < rows; i++) {
        const char *x = (const char *)a->data + i * step(a, 0), *y = (const char *)b->data + i * step(b, 0);
        char *sum = (char *)r->data + i * step(&made, 0);
        if (HAS_VECTORS && adjacent) row(x, 4, y, 4, sum, 4, n);
        else if (HAS_VECTORS && a_step == 4 && b_step == 0 && r_step == 4) row(x, 4, y, 0, sum, 4, n);
        else if (HAS_VECTORS && a_step == 0 && b_step == 4 && r_step == 4) row(x, 0, y, 4, sum, 4, n);
        else row(x, a_step, y, b_step, sum, r_step, n);
    }
    return BCASTGEN_OK;
}
