/* shape_code.c: see shape_code.h. Steps are those of shape_steps.def. Values are those of bcg_shape_value.h. */
#include "shape_code.h"

#include <stdlib.h>

#include "status.h"

#include "bcg_index.h"
#include "bcg_shape.h"

enum {
#define SHAPE_STEP(kind, name) STEP_##name,
#include "shape_steps.def"
};

enum { MACHINE_SHAPES = 24, MACHINE_NUMBERS = 64 }; /* as many registers need no allocation */

typedef struct {
    bcg_shape *shapes;
    int64_t *numbers;
    const bcg_shape **listed;
    const bcg_array *operands;
} machine;

/* ---- steps that compiled programs write as operators ------------------------------------------------------------- */

static inline int64_t bcg_arith_andi(int64_t x, int64_t y) { return x & y; }

static inline int64_t bcg_arith_ori(int64_t x, int64_t y) { return x | y; }

static inline int64_t bcg_arith_xori(int64_t x, int64_t y) { return x ^ y; }

static inline int64_t bcg_arith_select(int64_t condition, int64_t x, int64_t y) { return condition != 0 ? x : y; }

static inline void select_shape(int64_t condition, const bcg_shape *x, const bcg_shape *y, bcg_shape *result)
{
    bcg_shape_copy(condition != 0 ? x : y, result);
}

/* ---- lists of registers ------------------------------------------------------------------------------------------ */

/* The shapes that a step lists, one of which may be there more than once. */
static const bcg_shape *const *shapes_listed(machine *m, int64_t count, const int64_t *at)
{
    for (int64_t k = 0; k < count; k++) m->listed[k] = &m->shapes[at[k]];
    return m->listed;
}

static void shape_from_numbers(const int64_t *numbers, int64_t count, const int64_t *at, bcg_shape *shape)
{
    int64_t extents[BCG_MAX_RANK];
    for (int64_t k = 0; k < count && k < BCG_MAX_RANK; k++) extents[k] = numbers[at[k]];
    bcg_shape_from_extents((int32_t)count, extents, shape);
}

static int64_t witnesses_all(const int64_t *numbers, int64_t count, const int64_t *at)
{
    int32_t all = 1;
    for (int64_t k = 0; k < count; k++) {
        const int32_t both[] = {all, (int32_t)numbers[at[k]]};
        all = bcg_shape_assuming_all(2, both);
    }
    return all;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void shape_constant(bcg_shape *shape, int64_t rank, const int64_t *extents)
{
    shape->rank = (int32_t)rank;
    for (int64_t dim = 0; dim < rank; dim++) shape->extents[dim] = extents[dim];
}

/* Operands of values have them as int64s, one beside the other. */
static int value_taken(const bcg_array *operand, int64_t *number)
{
    if (operand->rank != 0) return 0;
    *number = *(const int64_t *)operand->data;
    return 1;
}

static int values_taken(const bcg_array *operand, bcg_shape *shape)
{
    const int64_t *const values = operand->data;
    if (operand->rank != 1 || operand->extents[0] > BCG_MAX_RANK) return 0;
    for (int64_t k = 0; k < operand->extents[0]; k++) {
        if (values[k] < 0) return 0;
    }
    shape_constant(shape, operand->extents[0], values);
    return 1;
}

static int steps_run(machine *m, const int64_t *at, const int64_t *end);

/* Runs the steps of a loop for each dim of a shape. The results for a shape without any rank are Python's to say. */
static int steps_loop(machine *m, const int64_t *at)
{
    const bcg_shape *const shape = &m->shapes[at[2]];
    int goes_on = shape->rank >= 0;
    for (int32_t dim = 0; goes_on && dim < shape->rank; dim++) {
        m->numbers[at[0]] = dim, m->numbers[at[1]] = shape->extents[dim];
        goes_on = steps_run(m, at + 4, at + 4 + at[3]);
    }
    return goes_on;
}

/* Calls of functions, by their kinds. The messages of values that cannot be are Python's to give. */
#define CASE_n_n(name) case STEP_##name: n[at[0]] = name(n[at[1]]), at += 2; break;
#define CASE_n_n_said(name) case STEP_##name: n[at[0]] = name((int32_t)n[at[1]], 0), at += 2; break;
#define CASE_n_nn(name) case STEP_##name: n[at[0]] = name(n[at[1]], n[at[2]]), at += 3; break;
#define CASE_n_nn_said(name) case STEP_##name: n[at[0]] = name(n[at[1]], n[at[2]], 0), at += 3; break;
#define CASE_n_nn_or_end(name) case STEP_##name: goes_on = name(n[at[1]], n[at[2]], &n[at[0]]), at += 3; break;
#define CASE_n_nnn(name) case STEP_##name: n[at[0]] = name(n[at[1]], n[at[2]], n[at[3]]), at += 4; break;
#define CASE_n_N(name) case STEP_##name: n[at[0]] = witnesses_all(n, at[1], at + 2), at += 2 + at[1]; break;
#define CASE_n_s(name) case STEP_##name: n[at[0]] = name(&s[at[1]]), at += 2; break;
#define CASE_n_sn(name) case STEP_##name: n[at[0]] = name(&s[at[1]], n[at[2]]), at += 3; break;
#define CASE_n_S(name) \
    case STEP_##name: n[at[0]] = name((int32_t)at[1], shapes_listed(m, at[1], at + 2)), at += 2 + at[1]; break;
#define CASE_n_S_said(name) \
    case STEP_##name: n[at[0]] = name((int32_t)at[1], shapes_listed(m, at[1], at + 2), 0), at += 2 + at[1]; break;
#define CASE_s_ss(name) case STEP_##name: name(&s[at[1]], &s[at[2]], &s[at[0]]), at += 3; break;
#define CASE_s_ss_said(name) case STEP_##name: name(&s[at[1]], &s[at[2]], 0, &s[at[0]]), at += 3; break;
#define CASE_s_nss(name) case STEP_##name: name(n[at[1]], &s[at[2]], &s[at[3]], &s[at[0]]), at += 4; break;
#define CASE_s_N(name) case STEP_##name: shape_from_numbers(n, at[1], at + 2, &s[at[0]]), at += 2 + at[1]; break;
#define CASE_s_S(name) \
    case STEP_##name: name((int32_t)at[1], shapes_listed(m, at[1], at + 2), &s[at[0]]), at += 2 + at[1]; break;
#define CASE_s_S_said(name) \
    case STEP_##name: name((int32_t)at[1], shapes_listed(m, at[1], at + 2), 0, &s[at[0]]), at += 2 + at[1]; break;
#define CASE_ss_sn(name) case STEP_##name: name(&s[at[2]], n[at[3]], &s[at[0]], &s[at[1]]), at += 4; break;
#define CASE_own(name)

static int steps_run(machine *m, const int64_t *at, const int64_t *end)
{
    int64_t *const n = m->numbers;
    bcg_shape *const s = m->shapes;
    int goes_on = 1;
    while (goes_on && at < end) {
        switch (*at++) {
        case STEP_number: n[at[0]] = at[1], at += 2; break;
        case STEP_shape: shape_constant(&s[at[0]], at[1], at + 2), at += 2 + (at[1] > 0 ? at[1] : 0); break;
        case STEP_copy_number: n[at[0]] = n[at[1]], at += 2; break;
        case STEP_copy_shape: bcg_shape_copy(&s[at[1]], &s[at[0]]), at += 2; break;
        case STEP_not_negative: goes_on = n[at[0]] >= 0, at += 1; break;
        case STEP_holds: goes_on = n[at[0]] == 1, at += 1; break;
        case STEP_tensor: goes_on = bcg_shape_is_tensor(&s[at[0]], (int32_t)at[1]), at += 2; break;
        case STEP_value: goes_on = value_taken(&m->operands[at[1]], &n[at[0]]), at += 2; break;
        case STEP_values: goes_on = values_taken(&m->operands[at[1]], &s[at[0]]), at += 2; break;
        case STEP_loop: goes_on = steps_loop(m, at), at += 4 + at[3]; break;
        case STEP_branch: {
            const int64_t *const first = at + 3, *const second = first + at[1], *const rest = second + at[2];
            goes_on = n[at[0]] != 0 ? steps_run(m, first, second) : steps_run(m, second, rest);
            at = rest;
            break;
        }
#define SHAPE_STEP(kind, name) CASE_##kind(name)
#include "shape_steps.def"
        default: return 0;
        }
    }
    return goes_on;
}

/* Writes the extents of the results, which have to be known, and of the ranks that the code states. */
static int results_write(const machine *m, const int64_t *code, int64_t *extents)
{
    const int64_t *at = code + SHAPE_CODE_HEAD;
    for (int64_t k = 0; k < code[SHAPE_CODE_RESULTS]; k++) {
        const bcg_shape *const result = &m->shapes[at[0]];
        if (!bcg_shape_is_tensor(result, (int32_t)at[1])) return 0;
        at += 2;
        for (int32_t dim = 0; dim < result->rank; dim++) extents[*at++] = result->extents[dim];
    }
    return 1;
}

static int machine_run(machine *m, const int64_t *code, int64_t length, const bcg_array *operands, int64_t *extents)
{
    for (int64_t k = 0; k < code[SHAPE_CODE_OPERANDS]; k++) {
        if (operands[k].rank > BCG_MAX_RANK) return 0;
        shape_constant(&m->shapes[k], operands[k].rank, operands[k].extents);
    }
    return steps_run(m, code + code[SHAPE_CODE_STEPS], code + length) && results_write(m, code, extents);
}

int shape_code_run(const int64_t *code, int64_t length, const bcg_array *operands, int64_t *extents)
{
    const int64_t shapes = code[SHAPE_CODE_SHAPES], numbers = code[SHAPE_CODE_NUMBERS];
    if (shapes <= MACHINE_SHAPES && numbers <= MACHINE_NUMBERS) {
        bcg_shape own_shapes[MACHINE_SHAPES];
        int64_t own_numbers[MACHINE_NUMBERS];
        const bcg_shape *own_listed[MACHINE_SHAPES];
        machine m = {own_shapes, own_numbers, own_listed, operands};
        return machine_run(&m, code, length, operands, extents);
    }
    machine m;
    m.operands = operands;
    m.shapes = malloc((size_t)shapes * sizeof *m.shapes);
    m.numbers = malloc((size_t)numbers * sizeof *m.numbers);
    m.listed = malloc((size_t)shapes * sizeof *m.listed);
    const int made = (shapes == 0 || (m.shapes != NULL && m.listed != NULL)) && (numbers == 0 || m.numbers != NULL);
    const int done = made && machine_run(&m, code, length, operands, extents);
    free(m.shapes), free(m.numbers), free(m.listed);
    return done;
}
