/* shape_code.h: runs a program of the shape dialect that sizes a kernel's result, without compiling it.
 *
 * Contract. A code is what bcastgen/emit/shape_program/code.py flattens a program to. It calls the functions that a
 * compiled program calls. It computes results but no errors: if anything is invalid, fails or is undecided, it returns
 * 0, and Python runs the program itself and says why.
 */
#ifndef BCG_SHAPE_CODE_H
#define BCG_SHAPE_CODE_H

#include "bcg_abi.h"

enum {
    SHAPE_CODE_SHAPES = 24, /* most registers of shapes, */
    SHAPE_CODE_NUMBERS = 64 /* and of numbers, that a code may have */
};

/* Runs a code: the number of operands, the register of the result, its rank, the length of the steps, and the steps.
 * Writes the extents of the result and returns 1; returns 0 if the code does not succeed. */
int shape_code_run(const int64_t *code, const bcg_array *operands, int64_t *extents);

#endif
