/* bcg_abi.h: what a compiled kernel and its caller agree on.
 *
 * Contract. A shared object exports one symbol, `bcg_entry`. The caller describes every operand by a bcg_array, calls
 * bcg_run_shapes of run.h (it runs `guards`, which check the operands against the kernel's types and each other, reads
 * no data, and fills in one bcg_shape for each result), provides results of exactly these extents, and calls bcg_run,
 * which asks `admits`, plans each nest and runs its inner loops. All of this trusts what `guards` have checked, and
 * requires that data is aligned to its element type, and that a result is disjoint from an operand or, where `aligned` says so, is that operand (same
 * data, extents and strides). Statuses are those of bcg_status.def; with any but BCG_OK the diagnostic is filled in.
 * In a diagnostic, values that are not stored but have claims are numbered after the results.
 */
#ifndef BCG_ABI_H
#define BCG_ABI_H

#include <stdint.h>

#define BCG_ABI_VERSION 10

#define BCG_MAX_RANK 64

/* One array, d0 outermost. Strides are in bytes, of any sign, and not read where the extent is 1. */
typedef struct {
    void *data;
    const int64_t *extents;
    const int64_t *byte_strides;
    int32_t rank;
} bcg_array;

/* The place of an error: arrays count from 0, operands first, results last; -1 is "none". `against` set `expected`. */
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

/* An inner loop over `rows` rows of n points; both are at least 1. Its array k begins at at[k], and each row begins
 * steps[k] bytes after the one before. Along a row an array's elements are adjacent, or it is stationary: one element.
 * Reads of a point come before its writes; points are visited in no particular order. */
typedef void (*bcg_loop)(char *const *at, const int64_t *steps, int64_t rows, int64_t n);

/* Bit k of `stationary` says that array k is one element along a row. Results always move, and so do arrays from the
 * 64th on. */
typedef struct {
    uint64_t stationary;
    bcg_loop run;
} bcg_variant;

/* A sub-expression that can be computed into a tile of its own, before the loops that use it. `reads` has the numbers
 * of the nest's arrays that it reads or, from `arrays` on, of earlier stages. The arrays of its loop are these and then
 * the tile, all moving. */
typedef struct {
    bcg_loop run;
    int32_t count;
    const int32_t *reads;
    int32_t bytes; /* of an element of the tile */
    int32_t cost;  /* as the nest's */
} bcg_stage;

/* What combines two values of a reduction. */
#define BCG_STEP_ADD 0
#define BCG_STEP_MULTIPLY 1
#define BCG_STEP_MIN 2
#define BCG_STEP_MAX 3
#define BCG_STEP_ARGMIN 4
#define BCG_STEP_ARGMAX 5

/* The kinds of the values that are combined; a bool is a byte. */
#define BCG_KIND_SIGNED 0
#define BCG_KIND_UNSIGNED 1
#define BCG_KIND_FLOAT 2
#define BCG_KIND_COMPLEX 3
#define BCG_KIND_BOOL 4

/* How a nest reduces one of its results: bit d of `dims` says that dim d of the domain is combined; where `keeps` says
 * so, a dim of extent 1 stays in its place. The sum is divided by the number of elements less `ddof`, unless that is
 * negative. `kind` is that of the values; sums of integers and bools have 64 bits. `temporary` is the number of the
 * temporary that gets it; `direct` that of the operand whose elements are the values as they lie in memory, or -1. */
typedef struct {
    int32_t step;
    int32_t kind;
    int32_t keeps;
    int32_t ddof;
    int32_t temporary;
    int32_t direct;
    uint64_t dims;
} bcg_reduction;

/* One loop nest. Its arrays are its operands, one for each map they are read through, then its results.
 *
 * The inline form computes all in one loop over its arrays. The staged form, where there is one, computes every stage,
 * then a loop over `staged_reads`: operands and stages, numbered as a stage's, followed by the results. The first
 * variant of either form has no stationary array.
 *
 * If there is a `reduction`, one for each result, the values of points are no results of the kernel: they are combined
 * into its temporaries, which later nests read. */
typedef struct {
    int32_t arrays;
    int32_t operands;
    const int32_t *positions;   /* of each array: among the kernel's operands, followed by its results */
    const int8_t *const *maps;  /* of each array: own dim of each dim of the domain, or -1; null aligns on the right */
    const int32_t *bytes;       /* of each array: of an element */
    int32_t cost;               /* of a point inline: tenths of a nanosecond, about, of one core with its data in L1 */
    int32_t variants;
    const bcg_variant *variant;
    int32_t stages;             /* 0: there is no staged form */
    const bcg_stage *stage;
    int32_t staged_count;
    const int32_t *staged_reads;
    int32_t staged_cost;        /* of a point, without the stages */
    int32_t staged_variants;
    const bcg_variant *staged_variant;
    const bcg_reduction *reduction; /* null: results are stored */
    /* This nest and those after it, `shared` in all, may run one after the other over some rows, then over the next ones:
     * dims `rows` of each one's domain are the same rows, none of which is reduced. 0: they may not. */
    int32_t shared;
    int32_t row_dims;
    const int8_t *rows;
    /* If not 0: the nest's only stage computes the same values that an earlier nest of the pass combines into temporary
     * saved - 1; they may be kept instead of computed again. The rows are then the outermost dims. */
    int32_t saved;
    int32_t copies; /* the only result is the only operand as it is */
    /* Whether every element is in the domain of its operations, and the status if one is not. Null: see the kernel's. It
     * is asked for once the temporaries that it reads are made, and before a result is written. */
    int (*admits)(const bcg_array *operands, const bcg_array *results);
    int32_t refusal;
} bcg_nest;

typedef struct {
    int32_t abi_version;
    int32_t operands;
    int32_t results;
    int32_t aligned; /* operands align with the results on the right; 0 if the kernel reads through other maps */
    int32_t nests;   /* those that have results, in order */
    const bcg_nest *nest;
    const int64_t *guards; /* what is checked of operands' extents, and the domains that follow: guard_steps.def */
    /* Null: always. It reads no temporary. */
    int32_t (*admits)(const bcg_array *operands, const bcg_array *results, bcg_diagnostic *why);
    /* What reductions give, in memory that the run time makes. In nests' positions they follow the operands, and what
     * is reduced comes before the results: for both `admits`, as arrays that have the extents of a nest's domain, and
     * no data. */
    int32_t temporaries;
} bcg_kernel;

#endif
