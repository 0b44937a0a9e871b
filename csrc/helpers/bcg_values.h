/* bcg_values.h: the values of an operand whose values decide extents.
 *
 * Contract. The array has been checked, data among it (bcg_check_data); its rank is 0 or 1. Each definition is between
 * blank lines and uses only what is above it or in bcg_memory.h: emit copies the ones a kernel needs.
 */
#ifndef BCG_VALUES_H
#define BCG_VALUES_H

#include "bcg_memory.h"

/* An integer of so many bytes; one above INT64_MAX is below 0. */
static inline int64_t bcg_integer(const void *at, int32_t bytes, int is_signed)
{
    switch (bytes) {
    case 1: return is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
    case 2: return is_signed ? *(const int16_t *)at : *(const uint16_t *)at;
    case 4: return is_signed ? *(const int32_t *)at : (int64_t) * (const uint32_t *)at;
    default: return *(const int64_t *)at;
    }
}

/* Reads the values of an array of integers once, as extents. Returns 0 if there are more than a shape can have, or if
 * one is not between `least` and INT64_MAX. */
static inline int bcg_read_values(const bcg_array *array, int32_t bytes, int is_signed, int64_t least, bcg_shape *values)
{
    const int64_t count = array->rank == 0 ? 1 : array->extents[0];
    if (count > BCG_MAX_RANK) return 0;
    values->rank = (int32_t)count;
    for (int64_t k = 0; k < count; k++) {
        const char *const at = (const char *)array->data + (k > 0 ? k * array->byte_strides[0] : 0);
        values->extents[k] = bcg_integer(at, bytes, is_signed);
        if (values->extents[k] < (is_signed ? least : 0)) return 0;
    }
    return 1;
}

#endif
