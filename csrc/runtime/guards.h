/* guards.h: runs the guards of a kernel: from operands' extents to those of the results. Every kernel has a code; one of
 * its own sizes results before there is a binary.
 *
 * Contract. A code is what bcastgen/loops/guard_program/code.py flattens a guard program to, for these operands. The code
 * itself is not checked. The operands' extents are checked as the program asks, by the helpers that standalone C uses and
 * in the same order. Operands have a rank of 0 to BCG_MAX_RANK; their data and strides are
 * not read, but for the values that a shape function takes (shape_code.h).
 */
#ifndef BCG_GUARDS_H
#define BCG_GUARDS_H

#include "run.h"

enum { GUARDS_DECLINED = -1 }; /* these operands do not determine a slot's extent; Python writes the error */

/* How many domains guards_run fills in. */
static inline int64_t guards_nests(const int64_t *code) { return code[0]; }

/* The domain that is reduced for a temporary. */
static inline int64_t guards_nest_reduced(const int64_t *code, int64_t given) { return code[3 + given]; }

/* The domain whose extents a result has. */
static inline int64_t guards_nest_of(const int64_t *code, int64_t result) { return code[3 + code[1] + result]; }

/* Whether a slot that the caller leaves out takes an extent that it broadcasts with; an out= may determine another. */
int guards_guesses(const int64_t *code);

/* Fills in the slots that the caller leaves out, to which their operands' extents point. Returns the steps after these,
 * or NULL if the operands do not determine a slot. */
const int64_t *guards_slots(const int64_t *code, const bcg_array *operands, int64_t *slots);

/* Calls guards_slots, checks the operands and fills in the domain of each nest. Returns GUARDS_DECLINED, BCG_NO_MEMORY
 * (only where there are many reductions), or a status of bcg_status.def with its diagnostic. */
int32_t guards_run(const int64_t *code, const bcg_array *operands, int64_t *slots, bcg_shape *domains,
                   bcg_diagnostic *why);

#endif
