/* r = (image - mean) * scale of three channels, by hand: the contract of channels_plain.h but for its messages.
 * tests/emit/standalone/test_module_by_hand.py holds the emitted file against it.
 */
#include "by_hand.h"
#include "channels_plain.h"

enum { CHANNELS = 3 };

static void pixels(const uint8_t *image, int64_t pixel, int64_t channel, const char *mean, int64_t mean_step,
                   const char *scale, int64_t scale_step, char *r, int64_t r_pixel, int64_t r_channel, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < CHANNELS; c++) {
            const float centre = *(const float *)(const void *)(mean + c * mean_step);
            const float factor = *(const float *)(const void *)(scale + c * scale_step);
            *(float *)(void *)(r + i * r_pixel + c * r_channel) = (image[i * pixel + c * channel] - centre) * factor;
        }
    }
}

/* The same where nothing is between pixels and channels. */
BY_HAND_APART void adjacent_pixels(const uint8_t *restrict image, const float *restrict mean,
                                   const float *restrict scale, float *restrict r, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < CHANNELS; c++) {
            r[i * CHANNELS + c] = (image[i * CHANNELS + c] - mean[c]) * scale[c];
        }
    }
}

/* The extents of the result, and which operand set each. */
static bcastgen_status broadcast(const bcastgen_array *image, const bcastgen_array *mean, const bcastgen_array *scale,
                                 int64_t extents[2], int32_t from[2], bcastgen_diagnostic *why)
{
    bcastgen_status status = has_rank(image, 0, 2, why);
    if (status == BCASTGEN_OK) status = has_rank(mean, 1, 1, why);
    if (status == BCASTGEN_OK) status = has_rank(scale, 2, 1, why);
    if (status == BCASTGEN_OK) status = not_negative(image, 0, 0, why);
    if (status == BCASTGEN_OK) status = equal(image, 0, 1, -1, CHANNELS, why);
    if (status == BCASTGEN_OK) status = equal(mean, 1, 0, -1, CHANNELS, why);
    if (status == BCASTGEN_OK) status = equal(scale, 2, 0, -1, CHANNELS, why);
    if (status != BCASTGEN_OK) return status;
    extents[0] = image->extents[0];
    extents[1] = CHANNELS;
    from[0] = from[1] = 0;
    if (status == BCASTGEN_OK) status = countable(3, 2, extents, 4, why);
    return status;
}

bcastgen_status channels_plain_shape(const bcastgen_array *image, const bcastgen_array *mean,
                                     const bcastgen_array *scale, int64_t r_extents[2], bcastgen_diagnostic *why)
{
    int64_t extents[2];
    int32_t from[2];
    const bcastgen_status status = broadcast(image, mean, scale, extents, from, why);
    for (int32_t dim = 0; status == BCASTGEN_OK && dim < 2; dim++) r_extents[dim] = extents[dim];
    return status;
}

bcastgen_status channels_plain(const bcastgen_array *image, const bcastgen_array *mean, const bcastgen_array *scale,
                               const bcastgen_result *r, bcastgen_diagnostic *why)
{
    const bcastgen_array made = bcastgen_operand(r);
    int64_t extents[2];
    int32_t from[2];
    bcastgen_status status = broadcast(image, mean, scale, extents, from, why);
    if (status == BCASTGEN_OK) status = has_extents(&made, 3, 2, extents, from, why);
    if (status != BCASTGEN_OK || has_no_elements(&made)) return status;
    status = look(image, 0, 1, why);
    if (status == BCASTGEN_OK) status = look(mean, 1, 4, why);
    if (status == BCASTGEN_OK) status = look(scale, 2, 4, why);
    if (status == BCASTGEN_OK) status = look(&made, 3, 4, why);
    if (status == BCASTGEN_OK) status = distinct(&made, 3, 4, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 4, image, 0, 1, false, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 4, mean, 1, 4, false, why);
    if (status == BCASTGEN_OK) status = separate(&made, 3, 4, scale, 2, 4, false, why);
    if (status != BCASTGEN_OK) return status;

    const bool adjacent = step(image, 1) == 1 && step(mean, 0) == 4 && step(scale, 0) == 4 && step(&made, 1) == 4;
    if (HAS_VECTORS && adjacent && step(image, 0) == CHANNELS && step(&made, 0) == 4 * CHANNELS) {
        adjacent_pixels(image->data, mean->data, scale->data, r->data, extents[0]);
    } else {
        pixels(image->data, step(image, 0), step(image, 1), mean->data, step(mean, 0), scale->data, step(scale, 0),
               r->data, step(&made, 0), step(&made, 1), extents[0]);
    }
    return BCASTGEN_OK;
}
