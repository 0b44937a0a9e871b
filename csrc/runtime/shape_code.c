/* shape_code.c: see shape_code.h. Steps are those of shape_steps.def. Values are known and valid, or the run ends. */
#include "shape_code.h"

typedef enum {
#define BCG_STATUS(name, value, sentence) BCG_##name = value,
#define BCG_SHAPE_STATUS(name, value, sentence) BCG_##name = value,
#include "bcg_status.def"
#undef BCG_SHAPE_STATUS
#undef BCG_STATUS
} bcg_status;

#include "bcg_index.h"
#include "bcg_shape.h"

enum {
#define SHAPE_NUMBERS(name) STEP_##name,
#define SHAPE_PARTIAL(name) STEP_##name,
#define SHAPE_PAIR(name) STEP_##name,
#define SHAPE_OF(name) STEP_##name,
#define SHAPE_AT(name) STEP_##name,
#define SHAPE_SPLIT(name) STEP_##name,
#define SHAPE_VERDICT(name) STEP_##name,
#define SHAPE_WITNESS(name) STEP_##name,
#define SHAPE_STEP(name) STEP_##name,
#include "shape_steps.def"
};

typedef struct {
    bcg_shape shapes[SHAPE_CODE_SHAPES];
    int64_t numbers[SHAPE_CODE_NUMBERS];
    const bcg_shape *listed[SHAPE_CODE_SHAPES];
} machine;

/* The shapes that a step lists, one of which may be there more than once. */
static const bcg_shape *const *shapes_listed(machine *m, int64_t count, const int64_t *at)
{
    for (int64_t k = 0; k < count; k++) m->listed[k] = &m->shapes[at[k]];
    return m->listed;
}

static int shape_is_valid(const bcg_shape *shape) { return shape->rank >= 0; }

static void shape_constant(bcg_shape *shape, int64_t rank, const int64_t *extents)
{
    shape->rank = (int32_t)rank;
    for (int64_t dim = 0; dim < rank; dim++) shape->extents[dim] = extents[dim];
}

static void shape_from_numbers(machine *m, bcg_shape *shape, int64_t count, const int64_t *at)
{
    int64_t extents[BCG_MAX_RANK];
    for (int64_t k = 0; k < count && k < BCG_MAX_RANK; k++) extents[k] = m->numbers[at[k]];
    bcg_shape_from_extents((int32_t)count, extents, shape);
}

static int steps_run(machine *m, const int64_t *at, const int64_t *end)
{
    int64_t *const n = m->numbers;
    bcg_shape *const s = m->shapes;
    int goes_on = 1;
    while (goes_on && at < end) {
        switch (*at++) {
#define SHAPE_NUMBERS(name) case STEP_##name: n[at[0]] = name(n[at[1]], n[at[2]]), at += 3; break;
#define SHAPE_PARTIAL(name) case STEP_##name: goes_on = name(n[at[1]], n[at[2]], &n[at[0]]), at += 3; break;
#define SHAPE_PAIR(name) \
    case STEP_##name: name(&s[at[1]], &s[at[2]], &s[at[0]]), goes_on = shape_is_valid(&s[at[0]]), at += 3; break;
#define SHAPE_OF(name) case STEP_##name: n[at[0]] = name(&s[at[1]]), at += 2; break;
#define SHAPE_AT(name) case STEP_##name: n[at[0]] = name(&s[at[1]], n[at[2]]), at += 3; break;
#define SHAPE_SPLIT(name) \
    case STEP_##name: \
        name(&s[at[2]], n[at[3]], &s[at[0]], &s[at[1]]), goes_on = shape_is_valid(&s[at[0]]), at += 4; break;
#define SHAPE_VERDICT(name) \
    case STEP_##name: n[at[0]] = name((int32_t)at[1], shapes_listed(m, at[1], at + 2)), at += 2 + at[1]; break;
#define SHAPE_WITNESS(name) \
    case STEP_##name: goes_on = name((int32_t)at[0], shapes_listed(m, at[0], at + 1), 0) == 1, at += 1 + at[0]; break;
#define SHAPE_STEP(name)
#include "shape_steps.def"
        case STEP_number: n[at[0]] = at[1], at += 2; break;
        case STEP_shape: shape_constant(&s[at[0]], at[1], at + 2), at += 2 + at[1]; break;
        case STEP_copy_number: n[at[0]] = n[at[1]], at += 2; break;
        case STEP_copy_shape: bcg_shape_copy(&s[at[1]], &s[at[0]]), at += 2; break;
        case STEP_not_negative: goes_on = n[at[0]] >= 0, at += 1; break;
        case STEP_holds: goes_on = n[at[0]] == 1, at += 1; break;
        case STEP_has_rank: goes_on = s[at[0]].rank == at[1], at += 2; break;
        case STEP_loop:
            for (int32_t dim = 0; goes_on && dim < s[at[2]].rank; dim++) {
                n[at[0]] = dim, n[at[1]] = s[at[2]].extents[dim];
                goes_on = steps_run(m, at + 4, at + 4 + at[3]);
            }
            at += 4 + at[3];
            break;
        case STEP_bcg_shape_broadcast:
            bcg_shape_broadcast((int32_t)at[1], shapes_listed(m, at[1], at + 2), 0, &s[at[0]]);
            goes_on = shape_is_valid(&s[at[0]]), at += 2 + at[1];
            break;
        case STEP_bcg_shape_any:
            bcg_shape_any((int32_t)at[1], shapes_listed(m, at[1], at + 2), &s[at[0]]);
            goes_on = shape_is_valid(&s[at[0]]), at += 2 + at[1];
            break;
        case STEP_bcg_shape_from_extents:
            shape_from_numbers(m, &s[at[0]], at[1], at + 2);
            goes_on = shape_is_valid(&s[at[0]]), at += 2 + at[1];
            break;
        case STEP_bcg_shape_join:
            bcg_shape_join(&s[at[1]], &s[at[2]], 0, &s[at[0]]);
            goes_on = shape_is_valid(&s[at[0]]), at += 3;
            break;
        case STEP_bcg_size_join: n[at[0]] = bcg_size_join(n[at[1]], n[at[2]], 0), at += 3; break;
        case STEP_bcg_arith_andi: n[at[0]] = n[at[1]] & n[at[2]], at += 3; break;
        case STEP_bcg_arith_ori: n[at[0]] = n[at[1]] | n[at[2]], at += 3; break;
        case STEP_bcg_arith_xori: n[at[0]] = n[at[1]] ^ n[at[2]], at += 3; break;
        case STEP_bcg_arith_select: n[at[0]] = n[at[1]] != 0 ? n[at[2]] : n[at[3]], at += 4; break;
        default: bcg_shape_copy(&s[at[n[at[1]] != 0 ? 2 : 3]], &s[at[0]]), at += 4; break; /* STEP_select_shape */
        }
    }
    return goes_on;
}

int shape_code_run(const int64_t *code, const bcg_array *operands, int64_t *extents)
{
    machine m;
    for (int64_t k = 0; k < code[0]; k++) {
        if (operands[k].rank > BCG_MAX_RANK) return 0;
        shape_constant(&m.shapes[k], operands[k].rank, operands[k].extents);
    }
    if (!steps_run(&m, code + 4, code + 4 + code[3])) return 0;
    const bcg_shape *const result = &m.shapes[code[1]];
    if (result->rank != code[2]) return 0;
    for (int32_t dim = 0; dim < result->rank; dim++) extents[dim] = result->extents[dim];
    return 1;
}
