/* run.c: the plan of a call: see run.h.
 *
 * A *.inc file of this folder is not a header but a part of the one *.c file that includes it (run_*.inc of this one,
 * pack_*.inc of pack.c, cpus.inc and pool_*.inc of pool.c); names of static functions begin with the last word of the
 * file's name, those of pack.c and pack_*.inc with pack_.
 *
 * A nest's dims are ordered by the result's strides and merged (bcg_odometer.h); large ones are cut into parts, one a
 * task of the pool. A part is walked in blocks of rows (dim i) of points (dim j), with the other dims, o, around,
 * between or inside the blocks. In a block an array is read in place where its elements are adjacent along j, or one;
 * else it is packed into a tile. A tile is kept until something that it depends on moves, so that repeated elements are
 * packed, and repeated values computed, once; where rows are short and tiles would be filled again for nearly each,
 * small operands are copied for the whole part (run_expand.inc). Results that are not adjacent, or that bypass the
 * cache, are computed in a tile and copied.
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "status.h"

#include "bcg_odometer.h"
#include "pack.h"
#include "pool.h"
#include "run_cpu.inc"
#include "run_log.inc"
#include "run_plan.inc"
#include "run_walk.inc"
#include "run_expand.inc"

/* ---- floating-point exceptions ----------------------------------------------------------------------------------- */

/* Clears this thread's floating-point flags, if the caller asks which exceptions the work that follows raises. */
static void run_clear_raised(const int32_t *raised)
{
    if (raised != NULL) feclearexcept(FE_ALL_EXCEPT);
}

static void run_add_raised(int32_t *raised)
{
    if (raised == NULL) return;
    const int found = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    int32_t bits = 0;
    if (found & FE_DIVBYZERO) bits |= BCG_RAISED_DIVIDE;
    if (found & FE_OVERFLOW) bits |= BCG_RAISED_OVERFLOW;
    if (found & FE_UNDERFLOW) bits |= BCG_RAISED_UNDERFLOW;
    if (found & FE_INVALID) bits |= BCG_RAISED_INVALID;
    __atomic_fetch_or(raised, bits, __ATOMIC_RELAXED);
}

/* Whether the flag "invalid" is set already, or the caller does not ask for exceptions. */
static int run_is_invalid(const int32_t *raised)
{
    return raised == NULL || fetestexcept(FE_INVALID) != 0;
}

/* Clears the flag "invalid" unless it was set before: comparisons with NaN set it, and NumPy does not report these. */
static void run_restore_invalid(int was_invalid)
{
    if (!was_invalid) feclearexcept(FE_INVALID);
}

/* ---- one part of a nest ------------------------------------------------------------------------------------------ */

static int64_t run_points(const domain *d)
{
    int64_t points = 1;
    for (int32_t dim = 0; dim < d->rank; dim++) points *= d->extents[dim];
    return points;
}

static void run_part(domain *d, int streams)
{
    if (d->nest->arrays + d->nest->stages <= FEW) {
        expand_plan plan;
        char *const room = expand_pays(d, &plan) ? malloc((size_t)plan.bytes + LINE) : NULL;
        if (room != NULL) expand_run(d, &plan, room + (-(uintptr_t)room % LINE), streams);
        else walk_run_few(d, streams);
        free(room);
        return;
    }
    /* bcg_run has allocated this much memory for the nest before anything was written. */
    walk_run(d, d->spare, source_many_tile_bytes(d->nest), streams);
}

/* ---- parts and threads ------------------------------------------------------------------------------------------- */

enum {
    PART_NS = 3000,         /* work that is worth handing to a thread that spins, */
    PART_NS_ASLEEP = 20000, /* and to one that has to be woken */
    PARTS_A_THREAD = 4,     /* so that a thread which is interrupted leaves some of its share to the others */
    NEAR_BYTES = 1 << 20    /* an operand less than this apart from another finds its lines in a cache */
};

/* Results of this size or more do not stay in the cache until they are read, */
#ifndef RUN_STREAMED_BYTES
#define RUN_STREAMED_BYTES (24 << 20)
#endif
/* and are written past it only if operands have at least this many times their bytes (of those that lie close together,
 * the first one counts). */
#ifndef RUN_STREAMED_READS
#define RUN_STREAMED_READS 2
#endif
#ifndef RUN_STREAMS
#define RUN_STREAMS cpu_streams()
#endif

typedef struct {
    const domain *whole;
    int32_t cut; /* the dim that is cut */
    int64_t count, grain;
    int streams;
    const bcg_run_options *options;
} division;

/* Runs part `index` of the domain, which is cut at multiples of the grain. */
static void run_task(void *argument, int64_t index)
{
    const division *const parts = argument;
    const domain *const whole = parts->whole;
    const int32_t arrays = whole->nest->arrays, cut = parts->cut;
    const int64_t extent = whole->extents[cut], grains = (extent + parts->grain - 1) / parts->grain;
    const int64_t first = grains * index / parts->count * parts->grain;
    int64_t end = grains * (index + 1) / parts->count * parts->grain;
    if (end > extent) end = extent;
    if (first >= end || pause_ask(parts->options->pause)) return;
    int64_t extents[BCG_MAX_RANK], steps[BCG_MAX_RANK * FEW];
    char *at[FEW];
    memcpy(extents, whole->extents, (size_t)whole->rank * sizeof *extents);
    memcpy(steps, whole->steps, (size_t)(whole->rank * arrays) * sizeof *steps);
    extents[cut] = end - first;
    for (int32_t k = 0; k < arrays; k++) at[k] = whole->at[k] + first * whole->steps[cut * arrays + k];
    domain part = {whole->nest, whole->rank, extents, steps, at, NULL, log_of(parts->options), NULL};
    run_clear_raised(parts->options->raised);
    run_part(&part, parts->streams);
    run_add_raised(parts->options->raised);
}

/* Estimates the time of the nest on one core: its maths, or moving its bytes where that takes longer. A cache gives a
 * byte in a quarter of the time, so that few loops over what one core's cache holds are worth a second thread. */
static double run_nanoseconds(const bcg_nest *nest, int64_t points)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < nest->arrays; k++) bytes += nest->bytes[k];
    const double a_byte = bytes * points < UNCACHED_BYTES ? 0.015 : 0.06;
    const double maths = 0.1 * nest->cost, moving = a_byte * (double)bytes;
    return (double)points * (maths > moving ? maths : moving);
}

/* How many parts threads get of work that would do for so many: as many each, since of three parts one of two threads
 * would get two. */
static int64_t run_parts(double share, int32_t threads)
{
    const double each = share / threads;
    return threads * (each < 1 ? 1 : each < PARTS_A_THREAD ? (int64_t)each : PARTS_A_THREAD);
}

/* The outermost dim that is long enough to be cut into parts, or the longest. */
static int32_t run_dim_to_cut(const domain *d, int64_t parts)
{
    int32_t longest = 0;
    for (int32_t dim = 0; dim < d->rank; dim++) {
        if (d->extents[dim] >= 4 * parts) return dim;
        if (d->extents[dim] > d->extents[longest]) longest = dim;
    }
    return longest;
}

/* The bytes of an array's elements, each counted once. */
static int64_t run_bytes(const domain *d, int32_t k)
{
    int64_t bytes = d->nest->bytes[k];
    for (int32_t dim = 0; dim < d->rank; dim++) {
        if (d->steps[dim * d->nest->arrays + k] != 0) bytes *= d->extents[dim];
    }
    return bytes;
}

/* Whether an operand lies close to one before it, so that both are one stream of memory. */
static int run_is_near(const domain *d, int32_t k)
{
    for (int32_t other = 0; other < k; other++) {
        const intptr_t apart = (intptr_t)((uintptr_t)d->at[k] - (uintptr_t)d->at[other]);
        if (apart < NEAR_BYTES && apart > -NEAR_BYTES) return 1;
    }
    return 0;
}

/* Whether it pays to write the results past the caches. */
static int run_streaming_pays(const domain *d)
{
    const int32_t operands = d->nest->operands;
    int64_t read = 0, written = 0, longest = 0;
    for (int32_t k = 0; k < operands; k++) {
        const int64_t bytes = run_bytes(d, k);
        read += run_is_near(d, k) ? 0 : bytes;
        if (bytes > longest) longest = bytes;
    }
    for (int32_t k = operands; k < d->nest->arrays; k++) {
        written += run_bytes(d, k);
        /* A line that is read to be written in place is in the cache already. */
        for (int32_t other = 0; other < operands; other++) {
            if (d->at[other] == d->at[k]) return 0;
        }
    }
    /* If results have fewer bytes than an operand, streaming saves less than the blocks of tiles that it needs cost. */
    if (written < longest) return 0;
    return written >= RUN_STREAMED_BYTES && read >= RUN_STREAMED_READS * written && RUN_STREAMS;
}

static void run_domain(domain *d, const bcg_run_options *options)
{
    const bcg_nest *const nest = d->nest;
    const int64_t points = run_points(d);
    const int streams = options->warm && run_streaming_pays(d);
    const double nanoseconds = run_nanoseconds(nest, points), work = options->threads > 1 ? nanoseconds : 0;
    const int awake = work >= 2 * PART_NS && bcg_pool_awake();
    const double share = work / (awake ? PART_NS : PART_NS_ASLEEP);
    const int64_t pauses = pause_parts(options->pause, nanoseconds);
    if ((share < 2 && pauses == 1) || nest->arrays + nest->stages > FEW) {
        if (work >= 2 * PART_NS) bcg_pool_rouse(options->threads);
        run_part(d, streams);
    } else {
        const int32_t threads = share < 1 ? 1 : share < options->threads ? (int32_t)share : options->threads;
        division parts = {d, 0, run_parts(share, threads), 1, streams, options};
        if (parts.count < pauses) parts.count = pauses;
        parts.cut = run_dim_to_cut(d, parts.count);
        if (parts.cut == d->rank - 1) parts.grain = LINE;
        log_share(options);
        bcg_pool_run(threads, parts.count, run_task, &parts);
    }
}

/* ---- a nest, a kernel -------------------------------------------------------------------------------------------- */

static const bcg_array *run_array(const bcg_kernel *kernel, const bcg_nest *nest, int32_t k, const bcg_array *operands,
                                  const bcg_array *results)
{
    const int32_t position = nest->positions[k];
    return position < kernel->operands ? &operands[position] : &results[position - kernel->operands];
}

/* Whether elements follow each other in C order. */
static int run_is_adjacent(const bcg_array *array, int64_t bytes)
{
    for (int32_t dim = array->rank - 1; dim >= 0; dim--) {
        if (array->extents[dim] != 1 && array->byte_strides[dim] != bytes) return 0;
        bytes *= array->extents[dim];
    }
    return 1;
}

static int run_has_shape(const bcg_array *array, const bcg_array *other)
{
    if (array->rank != other->rank) return 0;
    for (int32_t dim = 0; dim < array->rank; dim++) {
        if (array->extents[dim] != other->extents[dim]) return 0;
    }
    return 1;
}

#include "run_small.inc"

/* Fills in a domain for the arrays at hand; 0 where it has no points. */
static int run_describe(domain *d, const bcg_kernel *kernel, const bcg_array *operands, const bcg_array *results)
{
    const bcg_nest *const nest = d->nest;
    const bcg_array *const first = run_array(kernel, nest, nest->operands, operands, results);
    const int32_t rank = first->rank;
    for (int32_t dim = 0; dim < rank; dim++) {
        d->extents[dim] = first->extents[dim];
        if (d->extents[dim] == 0) return 0;
    }
    for (int32_t k = 0; k < nest->arrays; k++) {
        const bcg_array *const array = run_array(kernel, nest, k, operands, results);
        const int8_t *const own = nest->maps == NULL ? NULL : nest->maps[k];
        d->at[k] = array->data;
        if (own != NULL) bcg_plan_mapped(d->steps, nest->arrays, k, rank, array, own);
        else bcg_plan_array(d->steps, nest->arrays, k, rank, array);
    }
    source_turn_dims(d, rank);
    d->rank = bcg_plan(rank, d->extents, d->steps, nest->arrays, nest->operands);
    return 1;
}

static int32_t run_nest(const bcg_kernel *kernel, const bcg_nest *nest, const bcg_array *operands,
                        const bcg_array *results, const bcg_run_options *options, void *spare)
{
    bcg_log *const log = options->log;
    if (small_run(kernel, nest, operands, results, log)) return BCG_OK;
    int64_t extents[BCG_MAX_RANK];
    if (nest->arrays + nest->stages <= FEW) {
        int64_t steps[BCG_MAX_RANK * FEW];
        char *at[FEW];
        domain d = {nest, 0, extents, steps, at, NULL, log, NULL};
        if (run_describe(&d, kernel, operands, results)) run_domain(&d, options);
        return BCG_OK;
    }
    int64_t *const steps = spare;
    char **const at = (char **)(void *)(steps + (size_t)BCG_MAX_RANK * (size_t)nest->arrays);
    const uintptr_t rest = (uintptr_t)(at + nest->arrays);
    domain d = {nest, 0, extents, steps, at, (char *)((rest + LINE - 1) / LINE * LINE), log, NULL};
    if (run_describe(&d, kernel, operands, results)) run_domain(&d, options);
    return BCG_OK;
}

/* The memory for the plans of nests of many arrays, which use it one after the other. */
static size_t run_spare_bytes(const bcg_kernel *kernel)
{
    size_t most = 0;
    for (int32_t at = 0; at < kernel->nests; at++) {
        const bcg_nest *const nest = &kernel->nest[at];
        if (nest->arrays + nest->stages <= FEW) continue;
        const size_t arrays = (size_t)nest->arrays;
        const size_t own = arrays * (BCG_MAX_RANK * sizeof(int64_t) + sizeof(char *));
        const size_t needed = own + LINE + source_many_bytes(nest);
        if (needed > most) most = needed;
    }
    return most;
}

#include "run_reduce.inc"
#include "run_temporaries.inc"

int32_t bcg_run(const bcg_kernel *kernel, const bcg_array *operands, const bcg_array *results,
                const bcg_run_options *options, bcg_diagnostic *why)
{
    if (kernel->temporaries > 0) {
        pause_begin(options->pause);
        if (options->log != NULL) options->log->count = 0;
        log_share(options);
        return temporaries_run(kernel, operands, results, options, why);
    }
    const int32_t status = kernel->admits == NULL ? BCG_OK : kernel->admits(operands, results, why);
    if (status != BCG_OK) return status;
    pause_begin(options->pause);
    if (options->log != NULL) options->log->count = 0;
    const size_t needed = run_spare_bytes(kernel);
    void *const spare = needed == 0 ? NULL : malloc(needed);
    if (needed > 0 && spare == NULL) return BCG_NO_MEMORY;
    for (int32_t at = 0; at < kernel->nests && !pause_is_over(options->pause); at++) {
        run_clear_raised(options->raised);
        run_nest(kernel, &kernel->nest[at], operands, results, options, spare);
        run_add_raised(options->raised);
    }
    free(spare);
    return pause_is_over(options->pause) ? BCG_INTERRUPTED : BCG_OK;
}
