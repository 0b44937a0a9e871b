/* bcg_shape_value.h: the values of the shape dialect at run time, and what is said of those that are none.
 *
 * Contract. A size is 0 or more, BCG_UNKNOWN, or BCG_INVALID(message). A shape has a rank of 0 or more and extents that
 * are known or BCG_UNKNOWN; or the rank BCG_UNKNOWN (unranked), or BCG_INVALID(message). A witness passes (1), is
 * undecided (0) or failed: BCG_INVALID(message). An index is any integer, a predicate 0 or 1, an extent tensor a shape
 * whose extents are known. Message 0 is none of its own. Extents that a shape does not have are never read. Whoever
 * includes it has defined the statuses of bcg_status.def, those of BCG_SHAPE_STATUS too. Each definition is between
 * blank lines and uses only what is above it, in bcg_abi.h or in bcg_check.h: emit copies the ones a program needs.
 */
#ifndef BCG_SHAPE_VALUE_H
#define BCG_SHAPE_VALUE_H

#include "bcg_check.h"

/* A value that is not known; a shape of this rank is unranked. */
#define BCG_UNKNOWN (-1)

/* A value that cannot be, for the reason that the message of this number tells; smaller than BCG_UNKNOWN. */
#define BCG_INVALID(message) (-2 - (message))

/* The number of an invalid value's message. */
#define BCG_MESSAGE(invalid) (-2 - (invalid))

/* The caller passes a size that is one, with one of so many messages if it is invalid. */
static inline bcg_status bcg_check_size(int64_t size, int32_t position, int32_t messages, bcg_diagnostic *why)
{
    if (size > BCG_INVALID((int64_t)messages)) return BCG_OK;
    return bcg_fail(why, BCG_SHAPE_OPERAND, position, -1, -1, 0, size);
}

/* The caller passes a predicate that is one. */
static inline bcg_status bcg_check_predicate(int32_t predicate, int32_t position, bcg_diagnostic *why)
{
    if (predicate == 0 || predicate == 1) return BCG_OK;
    return bcg_fail(why, BCG_SHAPE_OPERAND, position, -1, -1, 0, predicate);
}

/* The caller passes a witness that is one, with one of so many messages if it failed. */
static inline bcg_status bcg_check_witness(int32_t witness, int32_t position, int32_t messages, bcg_diagnostic *why)
{
    if (witness <= 1 && witness != BCG_UNKNOWN && witness > BCG_INVALID((int64_t)messages)) return BCG_OK;
    return bcg_fail(why, BCG_SHAPE_OPERAND, position, -1, -1, 0, witness);
}

/* The caller passes a shape that is one, with one of so many messages if it is invalid. */
static inline bcg_status bcg_check_shape(const bcg_shape *shape, int32_t position, int32_t messages, bcg_diagnostic *why)
{
    if (shape->rank > BCG_MAX_RANK || shape->rank <= BCG_INVALID((int64_t)messages)) {
        return bcg_fail(why, BCG_SHAPE_OPERAND, position, -1, -1, BCG_MAX_RANK, shape->rank);
    }
    for (int32_t dim = 0; dim < shape->rank; dim++) {
        const int64_t extent = shape->extents[dim];
        if (extent < BCG_UNKNOWN) return bcg_fail(why, BCG_SHAPE_OPERAND, position, dim, -1, 0, extent);
    }
    return BCG_OK;
}

/* The caller passes an extent tensor: a shape of known extents, so many if that is 0 or more. */
static inline bcg_status bcg_check_extents(const bcg_shape *extents, int32_t position, int32_t length,
                                           bcg_diagnostic *why)
{
    const int32_t rank = extents->rank;
    if (rank < 0 || rank > BCG_MAX_RANK || (length >= 0 && rank != length)) {
        return bcg_fail(why, BCG_SHAPE_OPERAND, position, -1, -1, length, rank);
    }
    for (int32_t dim = 0; dim < rank; dim++) {
        const int64_t extent = extents->extents[dim];
        if (extent < 0) return bcg_fail(why, BCG_SHAPE_OPERAND, position, dim, -1, 0, extent);
    }
    return BCG_OK;
}

/* The caller passes an array whose extents are 0 or more, of this rank if it is 0 or more; `shape` takes them. */
static inline bcg_status bcg_check_tensor(const bcg_array *array, int32_t position, int32_t rank, bcg_shape *shape,
                                          bcg_diagnostic *why)
{
    const int32_t own = array->rank;
    if (own < 0 || own > BCG_MAX_RANK || (rank >= 0 && own != rank) || (own > 0 && array->extents == NULL)) {
        return bcg_fail(why, BCG_SHAPE_OPERAND, position, -1, -1, rank, own);
    }
    shape->rank = own;
    for (int32_t dim = 0; dim < own; dim++) {
        const int64_t extent = array->extents[dim];
        if (extent < 0) return bcg_fail(why, BCG_SHAPE_OPERAND, position, dim, -1, 0, extent);
        shape->extents[dim] = extent;
    }
    return BCG_OK;
}

/* The type of an operand gives this extent. */
static inline bcg_status bcg_check_extent(const bcg_shape *shape, int32_t position, int32_t dim, int64_t extent,
                                          bcg_diagnostic *why)
{
    if (shape->extents[dim] == extent) return BCG_OK;
    return bcg_fail(why, BCG_SHAPE_OPERAND, position, dim, -1, extent, shape->extents[dim]);
}

/* An operation, by its number in the program, needs a number, and there is none: it is unknown or invalid. */
static inline bcg_status bcg_size_refuse(bcg_diagnostic *why, int32_t operation, int64_t size)
{
    if (size == BCG_UNKNOWN) return bcg_fail(why, BCG_SHAPE_UNDECIDED, -1, -1, -1, operation, 0);
    return bcg_fail(why, BCG_SHAPE_INVALID, -1, -1, -1, operation, BCG_MESSAGE(size));
}

/* A shape is an extent tensor, of this length if it is 0 or more. */
static inline int bcg_shape_is_tensor(const bcg_shape *shape, int32_t length)
{
    for (int32_t dim = 0; dim < shape->rank; dim++) {
        if (shape->extents[dim] == BCG_UNKNOWN) return 0;
    }
    return shape->rank >= 0 && (length < 0 || shape->rank == length);
}

/* An operation needs an extent tensor, and this shape is none. */
static inline bcg_status bcg_shape_refuse(bcg_diagnostic *why, int32_t operation, const bcg_shape *shape, int32_t length)
{
    if (shape->rank < 0) return bcg_size_refuse(why, operation, shape->rank);
    const int fits = length < 0 || shape->rank == length;
    return bcg_size_refuse(why, operation, fits ? BCG_UNKNOWN : BCG_INVALID(0));
}

/* A witness that is undecided or has failed keeps what relies on it from running. */
static inline bcg_status bcg_witness_refuse(bcg_diagnostic *why, int32_t operation, int32_t witness)
{
    if (witness == 0) return bcg_fail(why, BCG_SHAPE_UNDECIDED, -1, -1, -1, operation, 0);
    return bcg_fail(why, BCG_SHAPE_WITNESS, -1, -1, -1, operation, BCG_MESSAGE(witness));
}

/* Copies the extents that are there; the other ones are never read. */
static inline void bcg_shape_copy(const bcg_shape *shape, bcg_shape *result)
{
    result->rank = shape->rank;
    for (int32_t dim = 0; dim < shape->rank; dim++) result->extents[dim] = shape->extents[dim];
}

#endif
