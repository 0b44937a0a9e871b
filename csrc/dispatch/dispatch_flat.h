/* dispatch_flat.h: the shortest ways through a call of few elements, on which a plan would take longer than the loops.
 *
 * In: a frame whose results' shapes are known. Out: the loops called as they are, where that can be: once, if all
 * arrays have one shape and lie in C order, or are one element (a flat call); and row by row, if they are adjacent or
 * one element along rows (a small one). What is neither goes to bcg_run.
 */
#ifndef DISPATCH_FLAT_H
#define DISPATCH_FLAT_H

#include "dispatch_kernel.h"

static uint64_t itemsize_of(unsigned char code)
{
    return code < CODES ? (uint64_t)PyDataType_ELSIZE(config.descrs[code]) : sizeof(scalar);
}

static int same_extents(const int64_t *x, const int64_t *y, int32_t rank)
{
    for (int32_t dim = 0; dim < rank; dim++) {
        if (x[dim] != y[dim]) return 0;
    }
    return 1;
}

/* Takes note of an operand with dims, as it is described. */
static void note_array(frame *f, const bcg_array *array, int c_order)
{
    f->c_order &= c_order;
    if (!f->alike) return;
    if (f->first == NULL) f->first = array;
    f->alike = c_order && array->rank == f->first->rank && same_extents(array->extents, f->first->extents, array->rank);
}

/* The shape that all operands have which have dims: none, if all are one element. */
static int32_t common_shape(const frame *f, const int64_t **extents)
{
    *extents = f->first == NULL ? NULL : f->first->extents;
    return f->first == NULL ? 0 : f->first->rank;
}

/* Knows the results' shapes from the call before; what `shape` says depends on the operands' shapes alone. */
static int was_seen(frame *f)
{
    const int64_t *extents;
    const seen_shape *const seen = &f->found->seen;
    if (!f->alike || seen->still != f->still || seen->rank != common_shape(f, &extents)) return 0;
    if (!same_extents(seen->extents, extents, seen->rank)) return 0;
    for (Py_ssize_t j = 0; j < f->self->result_count; j++) {
        f->shapes[j].rank = seen->rank;
        for (int32_t dim = 0; dim < seen->rank; dim++) f->shapes[j].extents[dim] = seen->extents[dim];
    }
    f->elements = seen->elements;
    return 1;
}

/* Tells whether the call is flat, by the elements of each result, and remembers the shape of one that is. */
static void see(frame *f)
{
    const int64_t *extents;
    const int32_t rank = common_shape(f, &extents);
    uint64_t elements = 1;
    f->elements = -1;
    if (!f->alike || !f->found->is_plain || rank > SEEN_RANK) return;
    for (Py_ssize_t j = 0; j < f->self->result_count; j++) {
        if (f->shapes[j].rank != rank || !same_extents(f->shapes[j].extents, extents, rank)) return;
    }
    for (int32_t dim = 0; dim < rank; dim++) elements *= (uint64_t)extents[dim];
    if (elements > INT32_MAX || (double)elements * f->found->nanoseconds > KEEP_GIL_NS) return;
    seen_shape *const seen = &f->found->seen;
    seen->rank = rank;
    seen->still = f->still;
    f->elements = seen->elements = (int64_t)elements;
    for (int32_t dim = 0; dim < rank; dim++) seen->extents[dim] = extents[dim];
}

/* Is the only result one of the operands, or clear of all of them, if elements had the largest size? 0: not told. */
static int is_clear(const frame *f)
{
    const Py_ssize_t n = f->self->operand_count;
    const uint64_t all = (uint64_t)f->elements * sizeof(scalar);
    const uintptr_t low = (uintptr_t)f->arrays[n].data;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uintptr_t from = (uintptr_t)f->arrays[i].data;
        if (from - low >= all && low - from >= all) continue;
        if (from != low || f->key[i] != f->found->result_codes[0]) return 0;
        if (f->still >> i & 1 && f->elements != 1) return 0;
    }
    return 1;
}

static const bcg_variant *find_variant(const bcg_nest *nest, uint64_t still)
{
    for (int32_t v = 0; v < nest->variants; v++) {
        if (nest->variant[v].still == still) return &nest->variant[v];
    }
    return NULL;
}

static const bcg_variant *flat_variant(const frame *f, const bcg_nest *nest)
{
    uint64_t still = 0;
    if (f->still == 0 || f->elements == 1) return nest->variant;
    if (nest->stages > 0) return NULL; /* what depends on one element alone is computed once */
    for (int32_t k = 0; k < nest->operands; k++) still |= (f->still >> nest->positions[k] & 1) << k;
    return find_variant(nest, still);
}

/* Runs the loops; 0 where one of them does not exist, and the rest is bcg_run's, which begins anew. */
static int run_flat(const frame *f)
{
    static const int64_t steps[STACK_OPERANDS + STACK_RESULTS];
    const bcg_kernel *const entry = f->found->entry;
    if (f->elements == 0) return 1;
    for (int32_t at = 0; at < entry->nests; at++) {
        const bcg_nest *const nest = &entry->nest[at];
        const bcg_variant *const variant = flat_variant(f, nest);
        char *data[STACK_OPERANDS + STACK_RESULTS];
        if (variant == NULL) return 0;
        for (int32_t k = 0; k < nest->arrays; k++) data[k] = f->arrays[nest->positions[k]].data;
        variant->run(data, steps, 1, f->elements);
    }
    return 1;
}

/* ---- small calls ------------------------------------------------------------------------------------------------- */

enum { SMALL_POINTS = 256, SMALL_RANK = 4 };

/* The dims of more than one element, innermost first; the two innermost are a loop's points and rows. */
typedef struct {
    int32_t count, rank, dims[SMALL_RANK];
    int64_t extents[SMALL_RANK];
} small_domain;

static int small_describe(const frame *f, small_domain *d)
{
    const bcg_shape *const shape = &f->shapes[0];
    int64_t points = 1;
    *d = (small_domain){.rank = shape->rank, .extents = {1, 1, 1, 1}};
    for (int32_t dim = shape->rank - 1; dim >= 0; dim--) {
        if (shape->extents[dim] == 1) continue;
        if (d->count == SMALL_RANK || shape->extents[dim] > SMALL_POINTS) return 0;
        d->dims[d->count] = dim;
        d->extents[d->count++] = shape->extents[dim];
        points *= shape->extents[dim];
    }
    if (points == 0 || points > SMALL_POINTS) return 0;
    for (Py_ssize_t j = 1; j < f->self->result_count; j++) {
        const bcg_shape *const other = &f->shapes[j];
        if (other->rank != shape->rank || !same_extents(other->extents, shape->extents, shape->rank)) return 0;
    }
    return 1;
}

static int64_t small_step(const small_domain *d, const bcg_array *array, int32_t at)
{
    const int32_t dim = d->dims[at] - (d->rank - array->rank);
    return at >= d->count || dim < 0 || array->extents[dim] == 1 ? 0 : array->byte_strides[dim];
}

static int small_nest(const frame *f, const bcg_nest *nest, const small_domain *d)
{
    char *data[STACK_OPERANDS + STACK_RESULTS];
    int64_t steps[SMALL_RANK][STACK_OPERANDS + STACK_RESULTS];
    uint64_t still = 0;
    if (nest->stages > 0) return 0; /* only a plan tells what is computed once */
    for (int32_t k = 0; k < nest->arrays; k++) {
        const bcg_array *const array = &f->arrays[nest->positions[k]];
        for (int32_t at = 0; at < SMALL_RANK; at++) steps[at][k] = small_step(d, array, at);
        if (steps[0][k] == 0 && k < nest->operands && d->count > 0) still |= (uint64_t)1 << k;
        else if (steps[0][k] != nest->bytes[k] && d->count > 0) return 0;
    }
    const bcg_variant *const variant = find_variant(nest, still);
    if (variant == NULL) return 0;
    for (int64_t i = 0; i < d->extents[3]; i++) {
        for (int64_t j = 0; j < d->extents[2]; j++) {
            for (int32_t k = 0; k < nest->arrays; k++)
                data[k] = (char *)f->arrays[nest->positions[k]].data + i * steps[3][k] + j * steps[2][k];
            variant->run(data, steps[1], d->extents[1], d->extents[0]);
        }
    }
    return 1;
}

/* Runs the loops; 0 where they cannot be called so, and all is bcg_run's, which begins anew. */
static int run_small(const frame *f)
{
    small_domain d;
    if (!f->found->is_plain || !small_describe(f, &d)) return 0;
    for (int32_t at = 0; at < f->found->entry->nests; at++) {
        if (!small_nest(f, &f->found->entry->nest[at], &d)) return 0;
    }
    return 1;
}

#endif
