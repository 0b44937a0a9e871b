/* run_source.h: what a part of a nest is made of: its dims as o, i and j, and how every array moves along them.
 *
 * In: a domain, its dims ordered and merged. Out: sources, and the tables of a walk that run_plan.h fills in. Nothing
 * is read or written but the plan. Included by run.c alone.
 */
#ifndef BCG_RUN_SOURCE_H
#define BCG_RUN_SOURCE_H

enum {
    FEW = 16,              /* arrays and stages of a nest that is planned on the stack */
    MAX_STAGES = 8,
    TILE_BYTES = 16 << 10, /* all tiles of a part: they stay in L1 beside what is read in place */
    MOST_TILE_BYTES = 38 << 10, /* where an operand is turned, long rows gain more than a tile in L1 does: 32 KiB, and a
                                   line a row; rows of LINE points are best for f64, or where two are turned */
    LINE = 64,             /* bytes of a cache line, and a multiple for the points of a block */
    BOX_DIMS = 6,
    NARROW = 16,           /* an inner dim of fewer points is walked as one with its neighbours, */
    SHORT = 64,            /* or of fewer than these, where what is packed for it serves, and vectors leave a rest */
    ENOUGH_ROWS = 4,
    VECTOR = 32,           /* bytes: rows of whole ones are as fast as longer rows, and want no packing */
    FEW_ROWS = 256,        /* of at least a vector: they are walked as they are, if several operands had to be packed */
    WIDE = 64,             /* until they are that many */
    MOST_POINTS = 2048,    /* of a row of tiles */
    MOVED_BYTES = 25 << 9, /* that a block spans of memory where arrays are copied: packing one operand after the other,
                              and computing after that, moves memory by turns, */
    GAPPED_BYTES = 5 << 10, /* which costs more where elements are read with gaps, or backwards, outside the caches */
    L1_BYTES = 32 << 10,
    TURNED_LINES = 2,      /* of what is adjacent along i: its points there are a block's rows; twice as many for f64 */
    ENOUGH_FOR_HEAD = 16 << 10, /* bytes of a result */
    ENOUGH_FOR_TILES = 256 << 10, /* the same where tiles are made */
    UNCACHED_BYTES = 1 << 20,
    STREAM_TILE = 1 << 10, /* bytes of a result's tile that is streamed: with 2 KiB it takes a third longer */
    SMALL_BYTES = 32 << 10, /* results up to here are looked at by the shortest way first */
    COPY_COST = 3          /* of an element into a tile, as bcg_nest's cost */
};

/* Which of the walk's indices an array, or a tile, moves with. */
enum { MOVES_O = 1, MOVES_I = 2, MOVES_J = 4, FIRST = 8 /* nothing has been made yet */ };

/* The points of a nest: dims with their extents; array k moves by steps[dim * arrays + k] bytes. */
typedef struct {
    const bcg_nest *nest;
    int32_t rank;
    int64_t *extents, *steps;
    char **at;
    char *spare; /* memory for the walk of a nest of many arrays */
} domain;

/* What loops read and write: the nest's arrays and, after them, the values of its stages. */
typedef struct {
    char *at; /* of a value: its tile; of an array: where its part of the current block begins */
    int64_t i_step, j_step, block_i, block_j; /* from an element, from a block to the next */
    uint64_t dims; /* those of the domain that it moves along */
    int32_t bytes;
    uint8_t moves, is_value, is_boxed; /* boxed: the dims that j stands for do not join for it */
    int64_t box_steps[BOX_DIMS];
} source;

/* A copy of a source, adjacent along j or along i; a stage's value; or what becomes a result. */
typedef struct {
    char *memory;
    int64_t pitch;
    int32_t from;
    uint8_t is_value, is_result, along_i;
    uint8_t moves, redo; /* it is made anew where an index of `redo` has moved */
    bcg_copy whole, edge; /* how it is copied in a whole block, and in the last one that was smaller, */
    int64_t edge_rows, edge_n; /* which had so many rows and points */
} tile;

/* A loop's way to an array or a value: in place (tile -1), or through a tile. */
typedef struct {
    int32_t source, tile;
} reader;

/* The calls of one loop. What is read and written in place is somewhere else in each block; all else stays. */
typedef struct {
    bcg_loop run;
    int32_t count, moving;
    reader *readers; /* results are the last ones */
    int32_t *places; /* of those that move, in what follows */
    char **at;
    int64_t *steps;
} caller;

typedef struct {
    const bcg_nest *nest;
    int32_t arrays, stages, tiles, made, outer; /* made: tiles that are no results'; outer: dims of o */
    double points;
    int64_t rows, n, block_rows, block_n, multiple;
    int32_t box_dims;
    int64_t box_extents[BOX_DIMS];
    source *sources;
    tile *tile; /* those of results are the last ones */
    caller main, stage[MAX_STAGES];
    uint8_t order[3];
    int32_t streams; /* bytes of an element of the widest result that is streamed, or 0 */
    int32_t turned_bytes; /* of an element of the operand that is adjacent along i; 0: there is none */
} walk;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t in_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static int64_t most_tiles(const bcg_nest *nest) { return 3 * ((int64_t)nest->arrays + nest->stages); }

/* The bytes of what a caller has of each array, and of all tables of a walk. */
enum { CALLER_BYTES = sizeof(reader) + sizeof(int32_t) + sizeof(char *) + sizeof(int64_t), CALLER_TABLES = 4 };

static size_t table_bytes(int64_t sources, int64_t tiles, int64_t stages)
{
    return in_lines((size_t)sources * sizeof(source)) + in_lines((size_t)tiles * sizeof(tile)) +
           (size_t)(stages + 1) * ((size_t)sources * CALLER_BYTES + CALLER_TABLES * LINE);
}

/* The same for nests of FEW arrays and stages. */
enum {
    FEW_TABLES = FEW * (sizeof(source) + 3 * sizeof(tile)) + 2 * LINE +
                 (MAX_STAGES + 1) * (FEW * CALLER_BYTES + CALLER_TABLES * LINE)
};

static int64_t many_tile_bytes(const bcg_nest *nest)
{
    const int64_t bytes = 2 * most_tiles(nest) * 8 * 2 * LINE;
    return bytes > MOST_TILE_BYTES ? bytes : MOST_TILE_BYTES;
}

static size_t many_bytes(const bcg_nest *nest)
{
    const int64_t sources = (int64_t)nest->arrays + nest->stages;
    return table_bytes(sources, most_tiles(nest), nest->stages) + (size_t)many_tile_bytes(nest) + LINE;
}

static void *take(char **memory, size_t bytes)
{
    void *const taken = *memory;
    *memory += in_lines(bytes);
    return taken;
}

/* ---- dims: which are i and j ------------------------------------------------------------------------------------- */

/* Lets every dim go the way in which the first result's addresses grow, or most arrays' where more do not: what is read
 * or written backwards goes through a tile. */
static void turn_round(domain *d, int32_t rank)
{
    const int32_t arrays = d->nest->arrays, key = d->nest->operands;
    for (int32_t dim = 0; dim < rank; dim++) {
        int64_t *const steps = &d->steps[dim * arrays];
        int32_t back = 0;
        for (int32_t k = 0; k < arrays; k++) back += (steps[k] < 0) - (steps[k] > 0);
        if (back < 0 || (back == 0 && steps[key] >= 0)) continue;
        for (int32_t k = 0; k < arrays; k++) {
            d->at[k] += (d->extents[dim] - 1) * steps[k];
            steps[k] = -steps[k];
        }
    }
}

static int joins(const domain *d, int32_t k, int32_t outer)
{
    const int32_t arrays = d->nest->arrays;
    const uint64_t end = (uint64_t)d->extents[outer + 1] * (uint64_t)d->steps[(outer + 1) * arrays + k];
    return (uint64_t)d->steps[outer * arrays + k] == end;
}

static int results_join(const domain *d, int32_t outer)
{
    for (int32_t k = d->nest->operands; k < d->nest->arrays; k++) {
        if (!joins(d, k, outer)) return 0;
    }
    return 1;
}

/* The outermost of the dims that one long j can stand for: some next to the innermost that results have in line. */
static int32_t first_in_line(const domain *d)
{
    int32_t first = d->rank - 1;
    int64_t n = d->extents[first];
    while (first > 0 && n < WIDE && d->rank - first < BOX_DIMS && results_join(d, first - 1)) {
        first--;
        n *= d->extents[first];
    }
    return first;
}

/* Whether the dims from `first` on do not join for an array. */
static int is_boxed_from(const domain *d, int32_t k, int32_t first)
{
    for (int32_t outer = first; outer + 1 < d->rank; outer++) {
        if (!joins(d, k, outer)) return 1;
    }
    return 0;
}

/* Whether rows are so few that calling the loop for each costs less than planning how to pack several operands. */
static int are_few(const domain *d, double points, int32_t first)
{
    const int64_t n = d->extents[d->rank - 1];
    int32_t boxed = 0;
    for (int32_t k = 0; k < d->nest->operands; k++) boxed += is_boxed_from(d, k, first);
    return boxed > 1 && points <= (double)(FEW_ROWS * n) && n * d->nest->bytes[d->nest->operands] >= VECTOR;
}

/* The longest dim around j along which what has to be packed for a long j stands still: a tile serves all its rows. */
static int32_t reusing_dim(const domain *d, int32_t first)
{
    const int32_t arrays = d->nest->arrays;
    int32_t longest = -1;
    for (int32_t dim = 0; dim < first; dim++) {
        int rests = 1;
        for (int32_t k = 0; k < d->nest->operands && rests; k++) {
            rests = !is_boxed_from(d, k, first) || d->steps[dim * arrays + k] == 0;
        }
        if (rests && (longest < 0 || d->extents[dim] > d->extents[longest])) longest = dim;
    }
    return longest;
}

/* A dim along which an operand is adjacent that is not so along j: it becomes i. -1 if there is none. */
static int32_t turned_dim(const domain *d)
{
    const int32_t arrays = d->nest->arrays, last = d->rank - 1;
    for (int32_t k = 0; k < d->nest->operands; k++) {
        const int64_t bytes = d->nest->bytes[k], inner = d->steps[last * arrays + k];
        if (inner == 0 || inner == bytes || inner == -bytes) continue;
        for (int32_t dim = last - 1; dim >= 0; dim--) {
            if (d->steps[dim * arrays + k] == bytes && d->extents[dim] >= 4) return dim;
        }
    }
    return -1;
}

static int32_t turned_bytes(const domain *d, int32_t dim)
{
    for (int32_t k = 0; k < d->nest->operands; k++) {
        if (d->steps[dim * d->nest->arrays + k] == d->nest->bytes[k]) return d->nest->bytes[k];
    }
    return 0;
}

/* Brings the dims in the order o, i, j. */
static void choose_dims(walk *w, domain *d)
{
    const int32_t arrays = d->nest->arrays, last = d->rank - 1;
    const int64_t n = d->extents[last];
    int32_t first = last, rows = -1, turned = -1;
    if (n < SHORT && last > 0) {
        const int32_t in_line = first_in_line(d);
        const int has_rest = n * d->nest->bytes[d->nest->operands] % VECTOR != 0;
        rows = reusing_dim(d, in_line);
        const int is_narrow = n < NARROW || (has_rest && rows >= 0 && d->extents[rows] >= ENOUGH_ROWS);
        if (is_narrow && !are_few(d, w->points, in_line)) first = in_line;
        else rows = -1;
    }
    if (first == last && last > 0) turned = rows = turned_dim(d);
    w->turned_bytes = turned < 0 ? 0 : turned_bytes(d, turned);
    for (int32_t dim = rows; dim >= 0 && dim + 1 < first; dim++) {
        bcg_plan_swap(d->extents, d->steps, arrays, dim, dim + 1);
    }
    w->outer = first > 0 ? first - 1 : 0;
    w->rows = first > 0 ? d->extents[first - 1] : 1;
    w->box_dims = d->rank - first;
    w->n = w->multiple = 1;
    for (int32_t dim = first; dim < d->rank; dim++) {
        w->box_extents[dim - first] = d->extents[dim];
        w->n *= d->extents[dim];
        if (dim > first) w->multiple *= d->extents[dim];
    }
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static void describe_source(const walk *w, const domain *d, int32_t k)
{
    const int32_t arrays = d->nest->arrays, first = d->rank - w->box_dims;
    source *const s = &w->sources[k];
    const int64_t *const steps = d->steps + k;
    s->at = d->at[k];
    s->bytes = d->nest->bytes[k];
    s->is_value = s->is_boxed = s->moves = 0;
    s->dims = 0;
    for (int32_t dim = 0; dim < d->rank; dim++) {
        if (steps[dim * arrays] == 0) continue;
        s->dims |= (uint64_t)1 << dim;
        s->moves |= dim >= first ? MOVES_J : dim == first - 1 ? MOVES_I : MOVES_O;
    }
    s->i_step = first > 0 ? steps[(first - 1) * arrays] : 0;
    s->j_step = steps[(d->rank - 1) * arrays];
    for (int32_t dim = first; dim < d->rank; dim++) {
        s->box_steps[dim - first] = steps[dim * arrays];
        if (dim + 1 < d->rank && !joins(d, k, dim)) s->is_boxed = 1;
    }
}

static void describe_value(const walk *w, int32_t stage)
{
    const bcg_stage *const from = &w->nest->stage[stage];
    source *const s = &w->sources[w->arrays + stage];
    *s = (source){.bytes = from->bytes, .is_value = 1};
    for (int32_t at = 0; at < from->count; at++) {
        s->dims |= w->sources[from->reads[at]].dims;
        s->moves |= w->sources[from->reads[at]].moves;
    }
}

#endif
