/* bcg_check.h: how a failed check is told.
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

#endif
