/* shape_code.h: runs a program of the shape dialect that sizes a kernel's result, without compiling it.
 *
 * Contract. A code is what bcastgen/emit/shape_program/code.py flattens a program to. It calls the functions that a
 * compiled program calls. Only what succeeds is its business: where anything is invalid, fails or is undecided it says
 * 0, and Python, which runs the program itself, has the words for it.
 */
#ifndef BCG_SHAPE_CODE_H
#define BCG_SHAPE_CODE_H

#include "bcg_abi.h"

enum {
    SHAPE_CODE_SHAPES = 24, /* so many registers of shapes, */
    SHAPE_CODE_NUMBERS = 64 /* and of numbers, may a code have */
};

/* The code is how many operands there are, the register of the result, its rank, how many numbers the steps are, steps.
 * Writes the extents of the result, and returns 1, or 0. */
int shape_code_run(const int64_t *code, const bcg_array *operands, int64_t *extents);

#endif
