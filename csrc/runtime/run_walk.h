/* run_walk.h: walks a part of a nest block by block.
 *
 * In: a domain. Out: its results written. Included by run.c alone.
 */
#ifndef BCG_RUN_WALK_H
#define BCG_RUN_WALK_H

enum { FEW_BYTES = FEW_TABLES + MOST_TILE_BYTES };

#if defined(__GNUC__)
#define RUN_APART __attribute__((noinline)) /* inlined it takes registers from the loop over blocks */
#else
#define RUN_APART
#endif

typedef struct {
    int64_t rows, n;
} block;

static void call(const walk *w, const caller *c, int64_t rows, int64_t n)
{
    for (int32_t k = 0; k < c->moving; k++) c->at[c->places[k]] = w->sources[c->readers[c->places[k]].source].at;
    c->run(c->at, c->steps, rows, n);
}

/* How a tile is copied in this block: most are whole. */
static const bcg_copy *copy_of(const walk *w, tile *t, const block *b)
{
    if (b->n == w->block_n && b->rows == w->block_rows) return &t->whole;
    if (b->n != t->edge_n || b->rows != t->edge_rows) {
        t->edge_n = b->n;
        t->edge_rows = b->rows;
        plan_copy(w, t, &t->edge, b->rows, b->n);
    }
    return &t->edge;
}

static void make_copy(const walk *w, tile *t, const block *b)
{
    const source *const s = &w->sources[t->from];
    const bcg_copy *const copy = copy_of(w, t, b);
    if (copy->form != NULL) {
        copy->form(copy, t->memory, s->at);
        return;
    }
    const int64_t rows = rows_of(t, b->rows);
    for (int64_t row = 0; row < rows; row++) {
        bcg_pack_box(t->memory + row * t->pitch, s->at + row * s->i_step, w->box_dims, w->box_extents, s->box_steps,
                     b->n, s->bytes);
    }
}

static void make_value(const walk *w, const tile *t, const block *b)
{
    call(w, &w->stage[t->from - w->arrays], rows_of(t, b->rows), points_in(w, t, b->rows, b->n));
}

static void deliver(const walk *w, tile *t, const block *b)
{
    const source *const s = &w->sources[t->from];
    if (w->streams > 0) {
        for (int64_t row = 0; row < b->rows; row++) {
            bcg_stream(s->at + row * s->i_step, t->memory + row * t->pitch, b->n * s->bytes);
        }
    } else {
        const bcg_copy *const copy = copy_of(w, t, b);
        copy->form(copy, s->at, t->memory);
    }
}

static void run_block(const walk *w, const block *b, uint8_t moved)
{
    for (int32_t at = 0; at < w->made; at++) {
        tile *const t = &w->tile[at];
        if (!(t->redo & moved)) continue;
        if (t->is_value) make_value(w, t, b);
        else make_copy(w, t, b);
    }
    call(w, &w->main, b->rows, b->n);
    for (int32_t at = w->made; at < w->tiles; at++) deliver(w, &w->tile[at], b);
}

/* Moves the arrays to the block before or after, along i or j. */
static void move(const walk *w, uint8_t index, int64_t blocks)
{
    for (int32_t k = 0; k < w->arrays; k++) {
        source *const s = &w->sources[k];
        s->at += blocks * (index == MOVES_I ? s->block_i : s->block_j);
    }
}

/* The same to the next o, for an array that is in the block of `position`. */
static void move_outer(const walk *w, domain *d, int64_t *o, const int64_t *position)
{
    bcg_next(w->outer, d->extents, d->steps, w->arrays, o, d->at);
    for (int32_t k = 0; k < w->arrays; k++) {
        source *const s = &w->sources[k];
        s->at = d->at[k] + position[1] * s->block_i + position[2] * s->block_j;
    }
}

/* Moves on to the next block and says which indices have moved; 0 after the last block. */
static uint8_t next_block(const walk *w, domain *d, int64_t *o, const int64_t *counts, int64_t *position)
{
    uint8_t moved = 0;
    for (int level = 2; level >= 0; level--) {
        const uint8_t index = w->order[level];
        const int64_t count = counts[index >> 1];
        if (count == 1) continue;
        int64_t *const at = &position[index >> 1];
        const int is_last = ++*at == count;
        moved |= index;
        if (is_last) *at = 0;
        if (index == MOVES_O) move_outer(w, d, o, position);
        else move(w, index, is_last ? 1 - count : 1);
        if (!is_last) return moved;
    }
    return 0;
}

/* A tile is made anew where an index has moved that it moves with. */
static void choose_redo(walk *w, const int64_t *counts)
{
    for (int32_t at = 0; at < w->tiles; at++) {
        tile *const t = &w->tile[at];
        t->redo = FIRST;
        for (uint8_t index = 1; index <= MOVES_J; index = (uint8_t)(index << 1)) {
            if (t->moves & index && counts[index >> 1] > 1) t->redo |= index;
        }
    }
}

/* One long row of results that do not begin with a cache line: its first points are a loop of their own, so that the
 * vectors of the rest lie in one line each. */
static void run_head(walk *w, const domain *d)
{
    const source *const s = &w->sources[w->nest->operands];
    if (d->rank > 1 || w->tiles > 0 || w->n < ENOUGH_FOR_HEAD / s->bytes) return;
    const int64_t n = (int64_t)(-(uintptr_t)s->at % LINE) / s->bytes;
    if (n == 0) return;
    call(w, &w->main, 1, n);
    w->n -= n;
    for (int32_t k = 0; k < w->arrays; k++) w->sources[k].at += n * w->sources[k].j_step;
}

/* All is read and written in place: a block is whole, and the domain's own addresses are those of the loop. */
RUN_APART static void run_in_place(const walk *w, domain *d)
{
    int64_t o[BCG_MAX_RANK];
    memset(o, 0, (size_t)w->outer * sizeof *o);
    do {
        w->main.run(d->at, w->main.steps, w->rows, w->n);
    } while (bcg_next(w->outer, d->extents, d->steps, w->arrays, o, d->at));
}

/* A copy that is made in each of several blocks in line: before the loop, or after it. */
typedef struct {
    const bcg_copy *copy;
    char *to;
    const char *from;
    int64_t to_step, from_step; /* from a block to the next */
} line_copy;

enum { LINE_COPIES = 8 };

static void make_copies(line_copy *c, const line_copy *end)
{
    for (; c < end; c++) {
        c->copy->form(c->copy, c->to, c->from);
        c->to += c->to_step;
        c->from += c->from_step;
    }
}

/* Runs so many whole blocks along `index`, where nothing has to be made for them but copies of arrays; 0 where more has
 * to be. What a block costs beside its copies and its loop is half of what it costs in run_block. */
RUN_APART static int run_line(walk *w, uint8_t index, int64_t blocks, uint8_t moved)
{
    line_copy before[LINE_COPIES], after[LINE_COPIES];
    int32_t made = 0, delivered = 0;
    if (w->streams > 0 || w->tiles > LINE_COPIES || w->main.moving > FEW) return 0;
    for (int32_t at = 0; at < w->tiles; at++) {
        tile *const t = &w->tile[at];
        source *const s = &w->sources[t->from];
        if (at < w->made && !(t->redo & index)) {
            if (t->redo & moved) return 0;
            continue;
        }
        if (t->whole.form == NULL || t->is_value) return 0;
        const int64_t step = index == MOVES_I ? s->block_i : s->block_j;
        if (t->is_result) after[delivered++] = (line_copy){&t->whole, s->at, t->memory, step, 0};
        else before[made++] = (line_copy){&t->whole, t->memory, s->at, 0, step};
    }
    int64_t steps[FEW];
    for (int32_t k = 0; k < w->main.moving; k++) {
        const int32_t place = w->main.places[k];
        const source *const s = &w->sources[w->main.readers[place].source];
        w->main.at[place] = s->at;
        steps[k] = index == MOVES_I ? s->block_i : s->block_j;
    }
    for (int64_t at = 0; at < blocks; at++) {
        make_copies(before, before + made);
        w->main.run(w->main.at, w->main.steps, w->block_rows, w->block_n);
        make_copies(after, after + delivered);
        for (int32_t k = 0; k < w->main.moving; k++) w->main.at[w->main.places[k]] += steps[k];
    }
    return 1;
}

/* The whole blocks from this one on along an index, but for its last one, which may be smaller. */
static int64_t whole_blocks(const walk *w, uint8_t index, const int64_t *position, const int64_t *counts)
{
    const int64_t blocks = counts[index >> 1] - position[index >> 1] - 1;
    if (index == MOVES_O || blocks < 2) return 0;
    /* Along the other index it may be at the end. */
    if (index != MOVES_I && w->rows - position[1] * w->block_rows < w->block_rows) return 0;
    if (index != MOVES_J && w->n - position[2] * w->block_n < w->block_n) return 0;
    return blocks;
}

/* Runs all blocks, and leaves every array where it began. */
static void run_all(walk *w, domain *d)
{
    int64_t o[BCG_MAX_RANK], counts[3] = {1, 1, 1}, position[3] = {0, 0, 0};
    memset(o, 0, (size_t)w->outer * sizeof *o);
    for (int32_t dim = 0; dim < w->outer; dim++) counts[0] *= d->extents[dim];
    if (w->rows > w->block_rows) counts[1] = (w->rows + w->block_rows - 1) / w->block_rows;
    if (w->n > w->block_n) counts[2] = (w->n + w->block_n - 1) / w->block_n;
    choose_order(w, counts);
    choose_redo(w, counts);
    uint8_t moved = FIRST, first = w->order[2];
    for (int level = 1; level >= 0 && counts[first >> 1] == 1; level--) first = w->order[level];
    do {
        const int64_t whole = whole_blocks(w, first, position, counts);
        if (whole > 0 && run_line(w, first, whole, moved)) {
            move(w, first, whole);
            position[first >> 1] += whole;
            moved = first;
        }
        const block b = {least(w->rows - position[1] * w->block_rows, w->block_rows),
                         least(w->n - position[2] * w->block_n, w->block_n)};
        run_block(w, &b, moved);
        moved = next_block(w, d, o, counts, position);
    } while (moved != 0);
}

/* Rows before the first cache line of an operand that is adjacent along i: blocks that begin there take whole lines of
 * it. 0 where it has lines elsewhere in each row, or is so small that lines stay in the cache until the next block. */
static int64_t rows_to_line(const walk *w, const domain *d)
{
    if (w->turned_bytes * w->points < UNCACHED_BYTES / 4 || w->rows <= w->block_rows) return 0;
    for (int32_t k = 0; k < w->nest->operands; k++) {
        const source *const s = &w->sources[k];
        if (s->i_step != s->bytes || s->j_step % LINE != 0 || s->j_step == 0) continue;
        for (int32_t dim = 0; dim < w->outer; dim++) {
            if (d->steps[dim * w->arrays + k] % LINE != 0) return 0;
        }
        return (int64_t)(-(uintptr_t)s->at % LINE) / s->bytes;
    }
    return 0;
}

/* Points of one long row before an array that is copied has an element with which a cache line begins: in blocks from
 * there on each of its vectors lies in one line. 0 where it has none soon. */
static int64_t points_to_line(const walk *w, const domain *d)
{
    const int64_t written = w->n * w->sources[w->nest->operands].bytes;
    if (d->rank > 1 || w->tiles == 0 || w->streams > 0) return 0;
    if (w->n <= w->block_n || written < ENOUGH_FOR_TILES) return 0;
    for (int32_t at = 0; at < w->tiles; at++) {
        const source *const s = &w->sources[w->tile[at].from];
        if (s->j_step == 0 || s->is_value) continue;
        uint64_t from = (uint64_t)(uintptr_t)s->at + (uint64_t)(s->j_step < 0 ? s->bytes : 0);
        for (int64_t n = 0; n < LINE; n++, from += (uint64_t)s->j_step) {
            if (from % LINE == 0) return n;
        }
    }
    return 0;
}

/* Runs the first rows, or points of all rows, and goes on to what comes after them. */
static void run_first(walk *w, domain *d, uint8_t index, int64_t count)
{
    int64_t *const extent = index == MOVES_I ? &w->rows : &w->n;
    const int64_t rest = *extent - count;
    *extent = count;
    run_all(w, d);
    *extent = rest;
    for (int32_t k = 0; k < w->arrays; k++) {
        const int64_t moved = count * (index == MOVES_I ? w->sources[k].i_step : w->sources[k].j_step);
        w->sources[k].at += moved;
        d->at[k] += moved;
    }
}

static void run_blocks(domain *d, char *memory, int64_t budget, int streams)
{
    walk w;
    plan_walk(&w, d, memory, budget, streams);
    run_head(&w, d);
    if (w.tiles == 0 && w.outer > 0) {
        run_in_place(&w, d);
        return;
    }
    const int64_t rows = rows_to_line(&w, d), points = points_to_line(&w, d);
    if (rows > 0 && rows < w.rows) run_first(&w, d, MOVES_I, rows);
    else if (points > 0 && points < w.n) run_first(&w, d, MOVES_J, points);
    run_all(&w, d);
    if (w.streams > 0) bcg_stream_end();
}

#endif
