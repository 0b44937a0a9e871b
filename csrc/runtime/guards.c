/* guards.c: see guards.h. Steps are those of guard_steps.def; extents meet by the helpers that kernels use. */
#include "guards.h"

#include <stdlib.h>

#include "shape_code.h"
#include "status.h"

/* After the statuses, which they use. */
#include "bcg_broadcast.h"
#include "bcg_extent.h"

enum {
#define GUARD_STEP(name) STEP_##name,
#include "guard_steps.def"
};

enum {
#define GUARD_TERM(name) TERM_##name,
#include "guard_steps.def"
};

enum {
#define GUARD_TEST(name) TEST_##name,
#include "guard_steps.def"
};

enum {
#define GUARD_CALC(name) CALC_##name,
#include "guard_steps.def"
};

enum {
#define GUARD_REGISTERS(number) REGISTERS = (number)
#include "guard_steps.def"
};

enum { GUARDS_FEW = 4 }; /* reductions that need no memory but the stack's */

/* What a reduction gives: an operand of the nests after it. */
typedef struct {
    bcg_array array;
    int64_t extents[BCG_MAX_RANK];
} guards_reduction;

typedef struct {
    const bcg_array *operands;
    int64_t given; /* how many of them a call has; those after them are `reductions` */
    guards_reduction *reductions;
    bcg_shape *domains, *domain; /* all, and that of the nest at hand */
    int32_t from[BCG_MAX_RANK];  /* the operands that set its extents */
    bcg_diagnostic *why;
    int64_t registers[REGISTERS]; /* of computed extents */
} guards;

static inline int32_t guards_dim(int32_t rank, int64_t dim) { return (int32_t)(dim < 0 ? rank + dim : dim); }

static inline const bcg_array *guards_operand(const guards *g, int64_t number)
{
    return number < g->given ? &g->operands[number] : &g->reductions[number - g->given].array;
}

static inline int32_t guards_own(const guards *g, const int64_t *at)
{
    return guards_dim(guards_operand(g, at[0])->rank, at[1]);
}

static int64_t guards_extent(const guards *g, const int64_t *term)
{
    if (term[0] == TERM_CONST) return term[1];
    if (term[0] == TERM_OWN) return guards_operand(g, term[1])->extents[guards_own(g, term + 1)];
    if (term[0] == TERM_REGISTER) return g->registers[term[1]];
    const bcg_shape *const domain = &g->domains[term[1]];
    return domain->extents[guards_dim(domain->rank, term[2])];
}

/* Sets the slot to the first of these extents that is not 1, or to 1; an operand of too few dims has none. Returns 0 if
 * there is no extent at all. */
static int guards_slot(const bcg_array *operands, int64_t *slot, int64_t count, const int64_t *terms)
{
    int found = 0;
    *slot = 1;
    for (int64_t at = 0; at < count && *slot == 1; at++, terms += 3) {
        const int is_own = terms[0] == TERM_OWN;
        if (is_own && terms[2] >= operands[terms[1]].rank) continue;
        *slot = is_own ? operands[terms[1]].extents[terms[2]] : terms[1];
        found = 1;
    }
    return found;
}

static int64_t guards_given(const int64_t *code) { return code[3 + code[1] + code[2]]; }

static const int64_t *guards_steps(const int64_t *code) { return code + 4 + code[1] + code[2]; }

int guards_guesses(const int64_t *code) { return *guards_steps(code) == STEP_SLOT; }

const int64_t *guards_slots(const int64_t *code, const bcg_array *operands, int64_t *slots)
{
    const int64_t *at = guards_steps(code);
    while (*at == STEP_SLOT) {
        if (!guards_slot(operands, &slots[at[1]], at[2], at + 3)) return NULL;
        at += 3 + 3 * at[2];
    }
    if (*at != STEP_PROGRAM) return at;
    return shape_code_run(at + 2, at[1], operands, slots) ? at + 2 + at[1] : NULL;
}

/* Begins a nest's domain: each extent is 1, and no operand has set it. */
static void guards_begin(guards *g, int64_t nest, int64_t open, int64_t least, int64_t count, const int64_t *spanning)
{
    int32_t rank = (int32_t)least;
    for (int64_t at = 0; open && at < count; at++) {
        const int32_t own = guards_operand(g, spanning[at])->rank;
        rank = own > rank ? own : rank;
    }
    g->domain = &g->domains[nest];
    g->domain->rank = rank;
    for (int32_t dim = 0; dim < rank; dim++) {
        g->domain->extents[dim] = 1;
        g->from[dim] = -1;
    }
}

static bcg_status guards_rank(const guards *g, int64_t operand, int64_t rank, int64_t exact)
{
    const int32_t own = guards_operand(g, operand)->rank;
    if (exact ? own == rank : own >= rank) return BCG_OK;
    return bcg_fail(g->why, exact ? BCG_RANK : BCG_RANK_AT_LEAST, (int32_t)operand, -1, -1, rank, own);
}

/* Checks that the operand has the domain's rank; a scalar has every rank. */
static bcg_status guards_domain_rank(const guards *g, int64_t operand)
{
    const int32_t own = guards_operand(g, operand)->rank;
    if (own == 0 || own == g->domain->rank) return BCG_OK;
    return bcg_fail(g->why, BCG_RANK, (int32_t)operand, -1, -1, g->domain->rank, own);
}

static bcg_status guards_result_rank(const guards *g, int64_t subject, int64_t rank, int64_t exact)
{
    const int32_t own = g->domain->rank;
    if (exact ? own == rank : own >= rank) return BCG_OK;
    const bcg_status status = exact ? BCG_RESULT_RANK : BCG_RESULT_RANK_AT_LEAST;
    return bcg_fail(g->why, status, (int32_t)subject, -1, -1, rank, own);
}

static bcg_status guards_not_negative(const guards *g, const int64_t *own)
{
    const int32_t dim = guards_own(g, own);
    const int64_t extent = guards_operand(g, own[0])->extents[dim];
    return extent >= 0 ? BCG_OK : bcg_fail(g->why, BCG_NEGATIVE, (int32_t)own[0], dim, -1, 0, extent);
}

static int guards_holds(int64_t test, int64_t actual, int64_t expected)
{
    switch (test) {
    case TEST_EQ: return actual == expected;
    case TEST_ONE_OR_EQ: return actual == 1 || actual == expected;
    case TEST_GE: return actual >= expected;
    case TEST_LE: return actual <= expected;
    case TEST_COUNTABLE: return expected != BCG_UNCOUNTABLE_EXTENT;
    default: return actual % expected == 0;
    }
}

/* test, actual, expected, status, subject, dim, against, whether that is a dim of the domain, whether they swap */
static bcg_status guards_check(guards *g, const int64_t *step)
{
    const int64_t *const actual = step + 1, *const expected = step + 4;
    const int64_t one = guards_extent(g, actual), other = guards_extent(g, expected);
    if (guards_holds(step[0], one, other)) return BCG_OK;
    const int32_t rank = actual[0] == TERM_OWN ? guards_operand(g, actual[1])->rank : g->domains[actual[1]].rank;
    const int32_t against = step[11] ? g->from[guards_dim(g->domain->rank, step[10])] : (int32_t)step[10];
    const int64_t wanted = step[0] == TEST_COUNTABLE ? INT64_MAX : step[12] ? one : other;
    return bcg_fail(g->why, (bcg_status)step[7], (int32_t)step[8], guards_dim(rank, step[9]), against, wanted,
                    step[12] ? other : one);
}

/* register, what it computes, two extents */
static void guards_calc(guards *g, const int64_t *step)
{
    const int64_t x = guards_extent(g, step + 2), y = guards_extent(g, step + 5);
    int64_t *const made = &g->registers[step[0]];
    switch (step[1]) {
    case CALC_PLUS: *made = bcg_extent_plus(x, y); break;
    case CALC_TIMES: *made = bcg_extent_times(x, y); break;
    case CALC_MINUS: *made = bcg_extent_minus(x, y); break;
    case CALC_MIN: *made = bcg_extent_min(x, y); break;
    case CALC_MAX: *made = bcg_extent_max(x, y); break;
    default: *made = bcg_extent_div(x, y); break;
    }
}

static bcg_status guards_front(guards *g, int64_t how, int64_t operand, int64_t known)
{
    const bcg_array *const array = guards_operand(g, operand);
    const int32_t end = array->rank - (int32_t)known, rank = g->domain->rank, number = (int32_t)operand;
    int64_t *const extents = g->domain->extents;
    if (how == STEP_FRONT_MEET) return bcg_meet(array, number, 0, end, rank, extents, g->from, g->why);
    if (how == STEP_FRONT_MATCH) return bcg_match(array, number, 0, end, rank, extents, g->from, g->why);
    return bcg_take(array, number, 0, end, rank, extents, g->from, g->why);
}

static bcg_status guards_meet(guards *g, const int64_t *own, int64_t at)
{
    return bcg_meet_dim(guards_operand(g, own[0]), (int32_t)own[0], guards_own(g, own),
                        guards_dim(g->domain->rank, at), g->domain->extents, g->from, g->why);
}

static void guards_define(guards *g, int64_t at, const int64_t *term, int64_t setter)
{
    const int32_t dim = guards_dim(g->domain->rank, at);
    g->domain->extents[dim] = guards_extent(g, term);
    g->from[dim] = (int32_t)setter;
}

static void guards_reduce(guards *g, int64_t number, int64_t keepdims, int64_t count, const int64_t *axes)
{
    guards_reduction *const made = &g->reductions[number];
    made->array = (bcg_array){NULL, made->extents, NULL, 0};
    for (int32_t dim = 0; dim < g->domain->rank; dim++) {
        int is_reduced = 0;
        for (int64_t at = 0; at < count; at++) is_reduced |= axes[at] == dim;
        if (is_reduced && !keepdims) continue;
        made->extents[made->array.rank++] = is_reduced ? 1 : g->domain->extents[dim];
    }
}

static bcg_status guards_bytes(const guards *g, int64_t subject, int64_t size)
{
    if (bcg_bytes(g->domain->rank, g->domain->extents, size) >= 0) return BCG_OK;
    return bcg_fail(g->why, BCG_OVERFLOW, (int32_t)subject, -1, -1, PTRDIFF_MAX, size);
}

static int32_t guards_walk(const int64_t *at, guards *g)
{
    bcg_status status = BCG_OK;
    while (status == BCG_OK) {
        const int64_t step = *at++;
        switch (step) {
        case STEP_HAS_RANK: status = guards_rank(g, at[0], at[1], at[2]), at += 3; break;
        case STEP_NEST: guards_begin(g, at[0], at[1], at[2], at[3], at + 4), at += 4 + at[3]; break;
        case STEP_DOMAIN_RANK: status = guards_domain_rank(g, at[0]), at += 1; break;
        case STEP_NOT_NEGATIVE: status = guards_not_negative(g, at), at += 2; break;
        case STEP_DEFINE: guards_define(g, at[0], at + 1, at[4]), at += 5; break;
        case STEP_MEET: status = guards_meet(g, at, at[2]), at += 3; break;
        case STEP_WIDEN:
            bcg_widen(guards_operand(g, at[0]), (int32_t)at[0], guards_own(g, at), guards_dim(g->domain->rank, at[2]),
                      g->domain->extents, g->from);
            at += 3;
            break;
        case STEP_FRONT_MEET:
        case STEP_FRONT_MATCH:
        case STEP_FRONT_TAKE: status = guards_front(g, step, at[0], at[1]), at += 2; break;
        case STEP_CHECK: status = guards_check(g, at), at += 13; break;
        case STEP_RESULT_RANK: status = guards_result_rank(g, at[0], at[1], at[2]), at += 3; break;
        case STEP_CALC: guards_calc(g, at), at += 8; break;
        case STEP_REDUCED: guards_reduce(g, at[0], at[1], at[2], at + 3), at += 3 + at[2]; break;
        case STEP_OVERFLOW: status = guards_bytes(g, at[0], at[1]), at += 2; break;
        default: return BCG_OK; /* STEP_END */
        }
    }
    return (int32_t)status;
}

int32_t guards_run(const int64_t *code, const bcg_array *operands, int64_t *slots, bcg_shape *domains,
                   bcg_diagnostic *why)
{
    guards g;
    guards_reduction few[GUARDS_FEW];
    g.operands = operands;
    g.given = guards_given(code);
    g.domains = g.domain = domains;
    g.why = why;
    const int64_t *const steps = guards_slots(code, operands, slots);
    if (steps == NULL) return GUARDS_DECLINED;
    g.reductions = code[1] <= GUARDS_FEW ? few : malloc((size_t)code[1] * sizeof *g.reductions);
    if (g.reductions == NULL) return BCG_NO_MEMORY;
    const int32_t status = guards_walk(steps, &g);
    if (g.reductions != few) free(g.reductions);
    return status;
}

int32_t bcg_run_shapes(const bcg_kernel *kernel, const bcg_array *operands, bcg_shape *results, double *reduced,
                       bcg_diagnostic *why)
{
    const int64_t *const code = kernel->guards;
    const int64_t nests = guards_nests(code);
    bcg_shape few[GUARDS_FEW];
    /* The domain of the only nest is the shape of each result. */
    bcg_shape *const domains = nests == 1 ? results : nests <= GUARDS_FEW ? few : malloc((size_t)nests * sizeof *domains);
    if (domains == NULL) return BCG_NO_MEMORY;
    const int32_t status = guards_run(code, operands, NULL, domains, why);
    for (int32_t j = nests == 1; status == BCG_OK && j < kernel->results; j++) {
        results[j] = domains[guards_nest_of(code, j)];
    }
    for (int32_t at = 0; status == BCG_OK && reduced != NULL && at < kernel->temporaries; at++) {
        const bcg_shape *const domain = &domains[guards_nest_reduced(code, at)];
        double points = 1;
        for (int32_t dim = 0; dim < domain->rank; dim++) points *= (double)domain->extents[dim];
        *reduced += points;
    }
    if (domains != results && domains != few) free(domains);
    return status;
}
