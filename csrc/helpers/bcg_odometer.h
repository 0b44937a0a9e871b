/* bcg_odometer.h: the run-time plan of a nest of any rank.
 *
 * Contract. `steps` holds one row a dim, outermost first, and in it one effective byte stride an array, the first result
 * at place `key`. bcg_plan drops dims of extent 1, orders the rest by the result's strides and merges neighbours that
 * every array walks as one, so that most calls end up with a single long loop. Each definition is between blank
 * lines and uses only what is above it or in bcg_broadcast.h: emit copies the ones a kernel needs.
 */
#ifndef BCG_ODOMETER_H
#define BCG_ODOMETER_H

#include "bcg_broadcast.h"

/* One array's effective strides over the domain: 0 in front of its own dims, too. */
static inline void bcg_plan_array(int64_t *steps, int32_t arrays, int32_t position, int32_t rank, const bcg_array *array)
{
    const int32_t lead = rank - array->rank;
    for (int32_t dim = 0; dim < rank; dim++) {
        steps[dim * arrays + position] = dim < lead ? 0 : bcg_stride(array, dim - lead);
    }
}

/* One array's effective strides through another map: `own` says for each dim of the domain which of the array's it is,
 * or -1. */
static inline void bcg_plan_mapped(int64_t *steps, int32_t arrays, int32_t position, int32_t rank,
                                   const bcg_array *array, const int8_t *own)
{
    for (int32_t dim = 0; dim < rank; dim++) {
        steps[dim * arrays + position] = own[dim] < 0 ? 0 : bcg_stride(array, own[dim]);
    }
}

/* Exchanges two dims of a plan. */
static inline void bcg_plan_swap(int64_t *extents, int64_t *steps, int32_t arrays, int32_t x, int32_t y)
{
    const int64_t extent = extents[x];
    extents[x] = extents[y];
    extents[y] = extent;
    for (int32_t at = 0; at < arrays; at++) {
        const int64_t step = steps[x * arrays + at];
        steps[x * arrays + at] = steps[y * arrays + at];
        steps[y * arrays + at] = step;
    }
}

/* Whether an outer dim's stride leads to where an inner dim of this extent and stride ends. */
static inline int bcg_continues(int64_t outer, int64_t extent, int64_t inner)
{
    return (uint64_t)outer == (uint64_t)extent * (uint64_t)inner;
}

/* The outer dim continues where the inner one ends, for every array. */
static inline int bcg_plan_joins(const int64_t *extents, const int64_t *steps, int32_t arrays, int32_t outer, int32_t inner)
{
    for (int32_t at = 0; at < arrays; at++) {
        if (!bcg_continues(steps[outer * arrays + at], extents[inner], steps[inner * arrays + at])) return 0;
    }
    return 1;
}

/* Simplifies a plan in place and returns its rank, at least 1. */
static inline int32_t bcg_plan(int32_t rank, int64_t *extents, int64_t *steps, int32_t arrays, int32_t key)
{
    int32_t kept = 0;
    for (int32_t dim = 0; dim < rank; dim++) {
        if (extents[dim] == 1) continue;
        if (kept != dim) bcg_plan_swap(extents, steps, arrays, kept, dim);
        kept++;
    }
    for (int32_t dim = 1; dim < kept; dim++) {
        for (int32_t at = dim; at > 0; at--) {
            const uint64_t outer = bcg_magnitude(steps[(at - 1) * arrays + key]);
            if (outer >= bcg_magnitude(steps[at * arrays + key])) break;
            bcg_plan_swap(extents, steps, arrays, at - 1, at);
        }
    }
    int32_t inner = 0;
    for (int32_t dim = 1; dim < kept; dim++) {
        if (bcg_plan_joins(extents, steps, arrays, inner, dim)) {
            extents[dim] *= extents[inner];
        } else {
            inner++;
        }
        if (inner != dim) bcg_plan_swap(extents, steps, arrays, inner, dim);
    }
    if (kept > 0) return inner + 1;
    extents[0] = 1;
    for (int32_t at = 0; at < arrays; at++) steps[at] = 0;
    return 1;
}

/* Moves every array to the next point of the first `rank` dims; returns 0 after the last one. */
static inline int bcg_next(int32_t rank, const int64_t *extents, const int64_t *steps, int32_t arrays, int64_t *index,
                           char **at)
{
    for (int32_t dim = rank - 1; dim >= 0; dim--) {
        const int64_t *const step = &steps[(int64_t)dim * arrays];
        if (++index[dim] < extents[dim]) {
            for (int32_t k = 0; k < arrays; k++) at[k] += step[k];
            return 1;
        }
        index[dim] = 0;
        for (int32_t k = 0; k < arrays; k++) at[k] -= (extents[dim] - 1) * step[k];
    }
    return 0;
}

#endif
