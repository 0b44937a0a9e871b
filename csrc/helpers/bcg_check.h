/* bcg_check.h: how a failed check is reported.
 *
 * Contract. Whoever includes it has defined the enum bcg_status of bcg_status.def. Each definition is between blank
 * lines and uses only what is above it, in bcg_abi.h or in the standard headers: emit copies the ones a kernel needs.
 */
#ifndef BCG_CHECK_H
#define BCG_CHECK_H

#include "bcg_abi.h"
#include <stddef.h>

/* Says what is wrong, if the caller asked, and hands on the status. */
static inline bcg_status bcg_fail(bcg_diagnostic *why, bcg_status status, int32_t operand, int32_t dim, int32_t against,
                                  int64_t expected, int64_t actual)
{
    const bcg_diagnostic found = {operand, dim, against, expected, actual};
    if (why != NULL) *why = found;
    return status;
}

/* Says what is wrong with an array as a whole, and with none of its dims. */
static inline bcg_status bcg_fail_array(bcg_diagnostic *why, bcg_status status, int32_t array, int64_t expected,
                                        int64_t actual)
{
    return bcg_fail(why, status, array, -1, -1, expected, actual);
}

/* Says what is wrong with a dim by itself, whatever the other arrays are. */
static inline bcg_status bcg_fail_dim(bcg_diagnostic *why, bcg_status status, int32_t array, int32_t dim,
                                      int64_t expected, int64_t actual)
{
    return bcg_fail(why, status, array, dim, -1, expected, actual);
}

/* Says that a result shares memory with another array. */
static inline bcg_status bcg_fail_overlap(bcg_diagnostic *why, int32_t result, int32_t other)
{
    return bcg_fail(why, BCG_OVERLAP, result, -1, other, 0, 0);
}

/* Says that an element has a value for which there is no result. */
static inline bcg_status bcg_fail_element(bcg_diagnostic *why, bcg_status status)
{
    return bcg_fail(why, status, -1, -1, -1, 0, 0);
}

#endif
