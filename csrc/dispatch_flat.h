/* dispatch_flat.h: the shortest way through a call: few elements, all arrays of one shape and in C order, or one element.
 *
 * In: a frame whose results' shapes are known. Out: whether the loops can be called as they are, without a plan; and
 * that done. On few elements a plan would take longer than the loop. What is not told here goes to bcg_run.
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

static const bcg_variant *flat_variant(const frame *f, const bcg_nest *nest)
{
    uint64_t still = 0;
    if (f->still == 0 || f->elements == 1) return nest->variant;
    if (nest->stages > 0) return NULL; /* what depends on one element alone is computed once */
    for (int32_t k = 0; k < nest->operands; k++) still |= (f->still >> nest->positions[k] & 1) << k;
    for (int32_t v = 0; v < nest->variants; v++) {
        if (nest->variant[v].still == still) return &nest->variant[v];
    }
    return NULL;
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

#endif
