/* bcg_shape.h: the operations of the shape dialect at run time.
 *
 * Contract. The run-time twin of bcastgen/shape/dialect: what that knows at compile time, this computes in a call, by the
 * same rules. Values are those of bcg_shape_value.h, and valid representations of them. The first of several
 * errors wins. A result is none of the operands. Nothing overflows. Each definition is between blank lines and uses only
 * those above it or in bcg_shape_value.h: emit copies the ones a program needs.
 */
#ifndef BCG_SHAPE_H
#define BCG_SHAPE_H

#include "bcg_shape_value.h"
#include <stdio.h>

/* The value of an operation on sizes that are not both known: the first error, else BCG_UNKNOWN; 0 if both are. */
static inline int64_t bcg_size_hindered(int64_t x, int64_t y)
{
    if (x < BCG_UNKNOWN) return x;
    if (y < BCG_UNKNOWN) return y;
    return x < 0 || y < 0 ? BCG_UNKNOWN : 0;
}

static inline int64_t bcg_size_add(int64_t x, int64_t y)
{
    const int64_t hindered = bcg_size_hindered(x, y);
    if (hindered != 0) return hindered;
    return x > INT64_MAX - y ? BCG_INVALID(0) : x + y;
}

static inline int64_t bcg_size_mul(int64_t x, int64_t y)
{
    const int64_t hindered = bcg_size_hindered(x, y);
    if (hindered != 0) return hindered;
    return y > 0 && x > INT64_MAX / y ? BCG_INVALID(0) : x * y;
}

/* Nothing can be divided by 0. */
static inline int64_t bcg_size_div(int64_t x, int64_t y)
{
    const int64_t hindered = bcg_size_hindered(x, y);
    if (hindered != 0) return hindered;
    return y == 0 ? BCG_INVALID(0) : x / y;
}

static inline int64_t bcg_size_max(int64_t x, int64_t y)
{
    const int64_t hindered = bcg_size_hindered(x, y);
    if (hindered != 0) return hindered;
    return x > y ? x : y;
}

static inline int64_t bcg_size_min(int64_t x, int64_t y)
{
    const int64_t hindered = bcg_size_hindered(x, y);
    if (hindered != 0) return hindered;
    return x < y ? x : y;
}

/* The most specific of both; the message is for two that contradict each other. */
static inline int64_t bcg_size_join(int64_t x, int64_t y, int32_t message)
{
    if (x < BCG_UNKNOWN || y == BCG_UNKNOWN || x == y) return x;
    if (y < BCG_UNKNOWN || x == BCG_UNKNOWN) return y;
    return BCG_INVALID(message);
}

/* No size is negative. */
static inline int64_t bcg_size_from_index(int64_t index) { return index < 0 ? BCG_INVALID(0) : index; }

/* The first of the shapes that is invalid, or that has no rank; NULL if all have one. */
static inline const bcg_shape *bcg_shape_unfit(int32_t count, const bcg_shape *const *shapes)
{
    const bcg_shape *unranked = NULL;
    for (int32_t at = 0; at < count; at++) {
        if (shapes[at]->rank < BCG_UNKNOWN) return shapes[at];
        if (shapes[at]->rank == BCG_UNKNOWN && unranked == NULL) unranked = shapes[at];
    }
    return unranked;
}

static inline int32_t bcg_shape_greatest_rank(int32_t count, const bcg_shape *const *shapes)
{
    int32_t rank = shapes[0]->rank;
    for (int32_t at = 1; at < count; at++) rank = shapes[at]->rank > rank ? shapes[at]->rank : rank;
    return rank;
}

/* The extent that meets others in a dim of the greatest rank: shapes align on the right, and lack nothing but 1s. */
static inline int64_t bcg_shape_extent_from_right(const bcg_shape *shape, int32_t rank, int32_t dim)
{
    if (shape->rank < 0) return BCG_UNKNOWN;
    const int32_t own = dim - (rank - shape->rank);
    return own < 0 ? 1 : shape->extents[own];
}

/* One extent of a broadcast: the one that is not 1; an unknown one counts only where no such is known. */
static inline int64_t bcg_shape_broadcast_dim(int32_t count, const bcg_shape *const *shapes, int32_t rank, int32_t dim,
                                              int32_t message)
{
    int64_t result = 1;
    for (int32_t at = 0; at < count; at++) {
        const int64_t extent = bcg_shape_extent_from_right(shapes[at], rank, dim);
        if (extent == 1 || extent == result) continue;
        if (result == 1 || result == BCG_UNKNOWN) {
            result = extent;
        } else if (extent != BCG_UNKNOWN) {
            return BCG_INVALID(message);
        }
    }
    return result;
}

/* Shapes align on the right; of each dim's extents those that are not 1 are equal. */
static inline void bcg_shape_broadcast(int32_t count, const bcg_shape *const *shapes, int32_t message, bcg_shape *result)
{
    const bcg_shape *const unfit = bcg_shape_unfit(count, shapes);
    result->rank = unfit != NULL ? unfit->rank : bcg_shape_greatest_rank(count, shapes);
    for (int32_t dim = 0; dim < result->rank; dim++) {
        const int64_t extent = bcg_shape_broadcast_dim(count, shapes, result->rank, dim, message);
        result->extents[dim] = extent;
        if (extent < BCG_UNKNOWN) result->rank = (int32_t)extent;
    }
}

/* Adds what a shape knows to what has been found; 0 if it contradicts that. */
static inline int bcg_shape_agrees(const bcg_shape *shape, bcg_shape *found)
{
    if (shape->rank < 0) return 1;
    if (found->rank < 0) bcg_shape_copy(shape, found);
    if (found->rank != shape->rank) return 0;
    for (int32_t dim = 0; dim < shape->rank; dim++) {
        const int64_t extent = shape->extents[dim];
        if (extent != BCG_UNKNOWN && found->extents[dim] == BCG_UNKNOWN) found->extents[dim] = extent;
        if (extent != BCG_UNKNOWN && extent != found->extents[dim]) return 0;
    }
    return 1;
}

/* The first known extent of each dim, or the first shape of all if they contradict each other. */
static inline void bcg_shape_any(int32_t count, const bcg_shape *const *shapes, bcg_shape *result)
{
    const bcg_shape *const unfit = bcg_shape_unfit(count, shapes);
    result->rank = unfit != NULL ? unfit->rank : BCG_UNKNOWN;
    for (int32_t at = 0; at < count && result->rank >= BCG_UNKNOWN; at++) {
        if (bcg_shape_agrees(shapes[at], result)) continue;
        bcg_shape_copy(shapes[0], result);
        return;
    }
}

/* The dims of x, then those of y. */
static inline void bcg_shape_concat(const bcg_shape *x, const bcg_shape *y, bcg_shape *result)
{
    const bcg_shape *const both[] = {x, y};
    const bcg_shape *const unfit = bcg_shape_unfit(2, both);
    result->rank = unfit != NULL ? unfit->rank : x->rank + y->rank;
    if (result->rank > BCG_MAX_RANK) result->rank = BCG_INVALID(0);
    if (result->rank < 0) return;
    for (int32_t dim = 0; dim < x->rank; dim++) result->extents[dim] = x->extents[dim];
    for (int32_t dim = 0; dim < y->rank; dim++) result->extents[x->rank + dim] = y->extents[dim];
}

/* The most specific of both; the message is for two that contradict each other. */
static inline void bcg_shape_join(const bcg_shape *x, const bcg_shape *y, int32_t message, bcg_shape *result)
{
    const bcg_shape *const ranked = x->rank == BCG_UNKNOWN ? y : x;
    result->rank = ranked->rank;
    if (x->rank >= 0 && y->rank < BCG_UNKNOWN) result->rank = y->rank;
    if (x->rank >= 0 && y->rank >= 0 && x->rank != y->rank) result->rank = BCG_INVALID(message);
    for (int32_t dim = 0; dim < result->rank; dim++) {
        const int64_t other = y->rank < 0 ? BCG_UNKNOWN : y->extents[dim];
        const int64_t extent = bcg_size_join(ranked->extents[dim], other, message);
        result->extents[dim] = extent;
        if (extent < BCG_UNKNOWN) result->rank = (int32_t)extent;
    }
}

/* The shape of a value that is given another one: what both say. */
static inline void bcg_shape_with_shape(const bcg_shape *own, const bcg_shape *given, bcg_shape *result)
{
    bcg_shape_join(own, given, 0, result);
}

/* The larger extent of each dim, of shapes of one rank. */
static inline void bcg_shape_max(const bcg_shape *x, const bcg_shape *y, bcg_shape *result)
{
    const bcg_shape *const both[] = {x, y};
    if (x->rank < 0 || x->rank != y->rank) {
        const bcg_shape *const unfit = bcg_shape_unfit(2, both);
        result->rank = unfit != NULL ? unfit->rank : BCG_INVALID(0);
        return;
    }
    result->rank = x->rank;
    for (int32_t dim = 0; dim < result->rank; dim++) {
        result->extents[dim] = bcg_size_max(x->extents[dim], y->extents[dim]);
    }
}

/* The smaller extent of each dim, of shapes of one rank. */
static inline void bcg_shape_min(const bcg_shape *x, const bcg_shape *y, bcg_shape *result)
{
    const bcg_shape *const both[] = {x, y};
    if (x->rank < 0 || x->rank != y->rank) {
        const bcg_shape *const unfit = bcg_shape_unfit(2, both);
        result->rank = unfit != NULL ? unfit->rank : BCG_INVALID(0);
        return;
    }
    result->rank = x->rank;
    for (int32_t dim = 0; dim < result->rank; dim++) {
        result->extents[dim] = bcg_size_min(x->extents[dim], y->extents[dim]);
    }
}

/* The shape of these extents. */
static inline void bcg_shape_from_extents(int32_t count, const int64_t *extents, bcg_shape *result)
{
    result->rank = count > BCG_MAX_RANK ? BCG_INVALID(0) : count;
    for (int32_t dim = 0; dim < result->rank; dim++) {
        result->extents[dim] = extents[dim];
        if (extents[dim] < BCG_UNKNOWN) result->rank = (int32_t)extents[dim];
    }
}

static inline int64_t bcg_shape_rank(const bcg_shape *shape) { return shape->rank; }

/* An extent; no shape has one outside its dims. */
static inline int64_t bcg_shape_get_extent(const bcg_shape *shape, int64_t dim)
{
    const int64_t hindered = bcg_size_hindered(shape->rank, dim);
    if (hindered != 0) return hindered;
    return dim >= shape->rank ? BCG_INVALID(0) : shape->extents[dim];
}

static inline int64_t bcg_shape_dim(const bcg_shape *shape, int64_t dim) { return bcg_shape_get_extent(shape, dim); }

/* The product of the extents; an extent of 0 makes it 0. */
static inline int64_t bcg_shape_num_elements(const bcg_shape *shape)
{
    int64_t elements = shape->rank < 0 ? shape->rank : 1;
    for (int32_t dim = 0; dim < shape->rank; dim++) {
        if (shape->extents[dim] == BCG_UNKNOWN) return BCG_UNKNOWN;
        if (elements != 0) elements = shape->extents[dim] == 0 ? 0 : bcg_size_mul(elements, shape->extents[dim]);
    }
    return elements;
}

/* The dims in front of an index, and the rest; a negative index counts from the back. */
static inline void bcg_shape_split_at(const bcg_shape *shape, int64_t index, bcg_shape *head, bcg_shape *tail)
{
    const int32_t rank = shape->rank;
    head->rank = tail->rank = rank < 0 ? rank : BCG_INVALID(0);
    if (rank < 0 || index < -rank || index > rank) return;
    head->rank = (int32_t)(index < 0 ? index + rank : index);
    tail->rank = rank - head->rank;
    for (int32_t dim = 0; dim < head->rank; dim++) head->extents[dim] = shape->extents[dim];
    for (int32_t dim = 0; dim < tail->rank; dim++) tail->extents[dim] = shape->extents[head->rank + dim];
}

/* The dims in front of a size, and the rest: it is not negative, but may be unknown or invalid, and then so are both. */
static inline void bcg_shape_split_at_size(const bcg_shape *shape, int64_t size, bcg_shape *head, bcg_shape *tail)
{
    const int64_t hindered = bcg_size_hindered(shape->rank, size);
    if (hindered == 0) {
        bcg_shape_split_at(shape, size, head, tail);
    } else {
        head->rank = tail->rank = (int32_t)hindered;
    }
}

/* Whether the extents of a dim meet: 1, 0, or BCG_UNKNOWN. One unknown extent beside 1s may be anything. */
static inline int32_t bcg_shape_meets(int32_t count, const bcg_shape *const *shapes, int32_t rank, int32_t dim)
{
    int64_t known = 1;
    int32_t unknown = 0;
    for (int32_t at = 0; at < count; at++) {
        const int64_t extent = bcg_shape_extent_from_right(shapes[at], rank, dim);
        if (extent == BCG_UNKNOWN) unknown++;
        if (extent == BCG_UNKNOWN || extent == 1 || extent == known) continue;
        if (known != 1) return 0;
        known = extent;
    }
    return unknown == 0 || (unknown == 1 && known == 1) ? 1 : BCG_UNKNOWN;
}

/* Whether shapes broadcast: an invalid one does not, and an unranked one has unknown extents. */
static inline int32_t bcg_shape_is_broadcastable(int32_t count, const bcg_shape *const *shapes)
{
    const int32_t rank = bcg_shape_greatest_rank(count, shapes);
    int32_t unranked = 0;
    for (int32_t at = 0; at < count; at++) {
        if (shapes[at]->rank < BCG_UNKNOWN) return 0;
        if (shapes[at]->rank == BCG_UNKNOWN) unranked++;
    }
    int32_t verdict = unranked < 2 ? 1 : BCG_UNKNOWN;
    for (int32_t dim = 0; dim < rank; dim++) {
        const int32_t meets = bcg_shape_meets(count, shapes, rank, dim);
        if (meets == 0) return 0;
        if (meets == BCG_UNKNOWN) verdict = BCG_UNKNOWN;
    }
    return verdict;
}

/* Whether two valid shapes are equal: 1, 0, or BCG_UNKNOWN. */
static inline int32_t bcg_shape_equal(const bcg_shape *x, const bcg_shape *y)
{
    if (x->rank < 0 || y->rank < 0) return BCG_UNKNOWN;
    if (x->rank != y->rank) return 0;
    int32_t verdict = 1;
    for (int32_t dim = 0; dim < x->rank; dim++) {
        if (x->extents[dim] == BCG_UNKNOWN || y->extents[dim] == BCG_UNKNOWN) {
            verdict = BCG_UNKNOWN;
        } else if (x->extents[dim] != y->extents[dim]) {
            return 0;
        }
    }
    return verdict;
}

/* Whether all shapes are equal; invalid ones equal each other. Every pair counts: an unknown extent between two known
 * ones hides that they differ. */
static inline int32_t bcg_shape_shape_eq(int32_t count, const bcg_shape *const *shapes)
{
    int32_t invalid = 0;
    for (int32_t at = 0; at < count; at++) invalid += shapes[at]->rank < BCG_UNKNOWN;
    if (invalid > 0) return invalid == count;
    int32_t verdict = 1;
    for (int32_t x = 0; x < count; x++) {
        for (int32_t y = x + 1; y < count; y++) {
            const int32_t equal = bcg_shape_equal(shapes[x], shapes[y]);
            if (equal == 0) return 0;
            if (equal == BCG_UNKNOWN) verdict = BCG_UNKNOWN;
        }
    }
    return verdict;
}

/* The witness of a verdict on shapes; it fails if one of them is invalid, with the message of that. */
static inline int32_t bcg_witness(int32_t verdict, int32_t count, const bcg_shape *const *shapes, int32_t message)
{
    for (int32_t at = 0; at < count; at++) {
        if (shapes[at]->rank == BCG_INVALID(0)) return BCG_INVALID(message);
        if (shapes[at]->rank < BCG_UNKNOWN) return shapes[at]->rank;
    }
    return verdict == BCG_UNKNOWN ? 0 : verdict == 0 ? BCG_INVALID(message) : 1;
}

static inline int32_t bcg_shape_cstr_broadcastable(int32_t count, const bcg_shape *const *shapes, int32_t message)
{
    return bcg_witness(bcg_shape_is_broadcastable(count, shapes), count, shapes, message);
}

static inline int32_t bcg_shape_cstr_eq(int32_t count, const bcg_shape *const *shapes, int32_t message)
{
    return bcg_witness(bcg_shape_shape_eq(count, shapes), count, shapes, message);
}

/* The predicate holds. */
static inline int32_t bcg_shape_cstr_require(int32_t predicate, int32_t message)
{
    return bcg_witness(predicate, 0, NULL, message);
}

/* All of them pass; the first that failed tells why. */
static inline int32_t bcg_shape_assuming_all(int32_t count, const int32_t *witnesses)
{
    int32_t passing = 1;
    for (int32_t at = 0; at < count; at++) {
        if (witnesses[at] < 0) return witnesses[at];
        if (witnesses[at] == 0) passing = 0;
    }
    return passing;
}

/* Prints like Python does. */
static inline void bcg_size_print(int64_t size)
{
    if (size < 0) {
        fputs(size == BCG_UNKNOWN ? "?" : "invalid", stderr);
    } else {
        fprintf(stderr, "%lld", (long long)size);
    }
}

static inline void bcg_size_debug_print(int64_t size)
{
    bcg_size_print(size);
    fputs("\n", stderr);
}

static inline void bcg_shape_debug_print(const bcg_shape *shape)
{
    if (shape->rank < 0) fputs(shape->rank == BCG_UNKNOWN ? "[*" : "[invalid", stderr);
    if (shape->rank >= 0) fputs("[", stderr);
    for (int32_t dim = 0; dim < shape->rank; dim++) {
        if (dim > 0) fputs(", ", stderr);
        bcg_size_print(shape->extents[dim]);
    }
    fputs("]\n", stderr);
}

#endif
