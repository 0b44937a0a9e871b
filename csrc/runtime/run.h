/* run.h: runs a kernel's nests: the plan of a call, its tiles and stages, and its share of threads.
 *
 * Contract. Arrays are as bcg_abi.h says; bcg_run_shapes has accepted the operands. A call fails before anything is
 * written: with what the kernel's `admits` returns, or with BCG_NO_MEMORY, which is no status of a kernel, where a nest of very
 * many arrays finds no memory for its plan. BCG_INTERRUPTED, no status of a kernel either, leaves results in part.
 */
#ifndef BCG_RUN_H
#define BCG_RUN_H

#include "bcg_abi.h"

#define BCG_NO_MEMORY 255
#define BCG_INTERRUPTED 254

/* Lets a long call end early. The caller's thread asks every few milliseconds; the other threads of the call learn the
 * answer. Nests of very many arrays do not ask. */
typedef struct {
    int32_t (*ask)(void *context); /* 0: go on */
    void *context;
    const void *thread; /* the caller's: set by bcg_run */
    int32_t is_over;    /* whether `ask` has ended the call: set by bcg_run */
} bcg_pause;

/* A loop that ran in a call: which of a nest's variants, and which arrays stood still along its rows, for how many
 * points. Arrays that stood still and that the variant does not mark were read through tiles. */
typedef struct {
    const bcg_nest *nest;
    int32_t is_staged;
    int32_t variant;
    uint64_t stationary;
    int64_t points;
} bcg_ran;

#define BCG_MOST_RAN 8

/* What a call ran, as far as its own thread planned it: the first BCG_MOST_RAN loops that differ. */
typedef struct {
    const void *thread; /* the caller's: set by bcg_run where threads share work */
    int32_t count;
    bcg_ran ran[BCG_MOST_RAN];
} bcg_log;

typedef struct {
    int32_t threads; /* at most; 1 or less: the calling one */
    int32_t warm;    /* the results' memory has been written before, so that it costs no page faults */
    int32_t *raised; /* gets the floating-point exceptions that the loops raise, of all threads; NULL: nobody asks */
    bcg_pause *pause; /* NULL: the call runs to its end */
    bcg_log *log; /* NULL: nobody asks what ran */
} bcg_run_options;

/* The bits of `raised`: those that NumPy hands to the functions of numpy.seterrcall. */
enum {
    BCG_RAISED_DIVIDE = 1,
    BCG_RAISED_OVERFLOW = 2,
    BCG_RAISED_UNDERFLOW = 4,
    BCG_RAISED_INVALID = 8
};

/* Checks operands' extents, fills in the shapes of results, and adds to `reduced`, unless it is NULL, how many points are
 * reduced. Returns BCG_NO_MEMORY where there are very many nests. */
int32_t bcg_run_shapes(const bcg_kernel *kernel, const bcg_array *operands, bcg_shape *results, double *reduced,
                       bcg_diagnostic *why);

int32_t bcg_run(const bcg_kernel *kernel, const bcg_array *operands, const bcg_array *results,
                const bcg_run_options *options, bcg_diagnostic *why);

#endif
