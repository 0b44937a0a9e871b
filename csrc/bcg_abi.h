/* bcg_abi.h: what a compiled kernel and its caller agree on.
 *
 * Contract. A shared object exports one symbol, `bcg_entry`. The caller describes every operand by a bcg_array, calls
 * `shape` (it checks the operands against the kernel's types and each other, reads no data, and fills one bcg_shape a
 * result), provides results of exactly these extents, and calls `run`. `run` trusts what `shape` has checked, and
 * requires that data is aligned to its element type, and that a result is disjoint from an operand or, where `aligned`
 * says so, is that operand (same data, extents and strides). Both return BCG_OK or a status of bcg_status.def with the
 * diagnostic filled in; in it, what is claimed of values that are not stored counts on after the results.
 */
#ifndef BCG_ABI_H
#define BCG_ABI_H

#include <stdint.h>

#define BCG_ABI_VERSION 2
#define BCG_MAX_RANK 64

/* One array, d0 outermost. Strides are in bytes, of any sign, and not read where the extent is 1. */
typedef struct {
    void *data;
    const int64_t *extents;
    const int64_t *byte_strides;
    int32_t rank;
} bcg_array;

/* What is wrong: operands count from 0, results follow them; -1 stands for "none". `against` set `expected`. */
typedef struct {
    int32_t operand;
    int32_t dim;
    int32_t against;
    int64_t expected;
    int64_t actual;
} bcg_diagnostic;

typedef struct {
    int32_t rank;
    int64_t extents[BCG_MAX_RANK];
} bcg_shape;

typedef struct {
    int32_t abi_version;
    int32_t operands;
    int32_t results;
    int32_t aligned; /* operands align with the results on the right; not, where it reads through other maps */
    int32_t (*shape)(const bcg_array *operands, bcg_shape *results, bcg_diagnostic *why);
    int32_t (*run)(const bcg_array *operands, const bcg_array *results, bcg_diagnostic *why);
} bcg_kernel;

#endif
