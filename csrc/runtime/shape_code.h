/* shape_code.h: runs a program of the shape dialect that sizes a kernel's results, without compiling it.
 *
 * Contract. A code is what bcastgen/emit/shape_program/code.py flattens a program to. It calls the functions that a
 * compiled program calls, and asks what that asks. It computes results but no errors: where a compiled program returns a
 * status it returns 0, and Python runs the program itself and says why. An operand whose values a step takes has them
 * as int64s, one beside the other.
 */
#ifndef BCG_SHAPE_CODE_H
#define BCG_SHAPE_CODE_H

#include "bcg_abi.h"

/* A code's first numbers. Operands are the first registers of shapes. After these numbers each result has its register,
 * its rank, and for each of its dims the number of the extent that it is; the steps follow. */
enum {
    SHAPE_CODE_OPERANDS,
    SHAPE_CODE_SHAPES,  /* registers of shapes, at least as many as a step lists */
    SHAPE_CODE_NUMBERS, /* registers of numbers */
    SHAPE_CODE_RESULTS,
    SHAPE_CODE_STEPS, /* where the steps begin */
    SHAPE_CODE_HEAD
};

/* Runs a code of so many numbers and writes the extents of its results. Returns 0 if the code does not succeed, and may
 * have written some of them. */
int shape_code_run(const int64_t *code, int64_t length, const bcg_array *operands, int64_t *extents);

#endif
