/* r = transpose(a) * 2 + b, by hand: the contract of transposed_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "transposed_plain.h"

enum { SIDE = 16 };

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *a, const bcastgen_array *b, int64_t extents[2], int32_t from[2],
                                 bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(a, 0, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(b, 1, 2, why);
    if (status != BCASTGEN_OK) return status;
    extents[0] = a->extents[1];
    extents[1] = 1;
    from[0] = 0;
    from[1] = -1;
    status = meet(a, 0, 0, 1, extents, from, why);
    if (status == BCASTGEN_OK) status = not_negative(a, 0, 1, why);
    if (status == BCASTGEN_OK) status = equal(b, 1, 0, 0, extents[0], why);
    if (status == BCASTGEN_OK) status = meet(b, 1, 1, 1, extents, from, why);
    if (status == BCASTGEN_OK) status = countable(2, 2, extents, 4, why);
    return status;
}

bcastgen_status transposed_plain_shape(const bcastgen_array *a, const bcastgen_array *b, int64_t r_extents[2],
                                       bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(a, b, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status transposed_plain(const bcastgen_array *a, const bcastgen_array *b, const bcastgen_result *r,
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
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, a, 0, 4, false, why);
    if (status == BCASTGEN_OK) status = separate(&made, 2, 4, b, 1, 4, true, why);
    if (status != BCASTGEN_OK) return status;

    /* In squares, so that lines of `a` are read whole before they leave the cache. */
    for (int64_t top = 0; top < extents[0]; top += SIDE) {
        const int64_t bottom = extents[0] - top < SIDE ? extents[0] : top + SIDE;
        for (int64_t left = 0; left < extents[1]; left += SIDE) {
            const int64_t right = extents[1] - left < SIDE ? extents[1] : left + SIDE;
            for (int64_t i = top; i < bottom; i++) {
                const char *x = (const char *)a->data + i * step(a, 1), *y = (const char *)b->data + i * step(b, 0);
                char *sum = (char *)r->data + i * step(&made, 0);
                for (int64_t j = left; j < right; j++) {
                    const float twice = *(const float *)(const void *)(x + j * step(a, 0)) * 2;
                    const float other = *(const float *)(const void *)(y + j * step(b, 1));
                    *(float *)(void *)(sum + j * step(&made, 1)) = twice + other;
                }
            }
        }
    }
    return BCASTGEN_OK;
}
