/* run_walk.h: walks a part of a nest block by block.
 *
 * In: a domain. Out: its results written. Included by run.c alone.
 */
#ifndef BCG_RUN_WALK_H
#define BCG_RUN_WALK_H

enum { FEW_BYTES = FEW_TABLES + TILE_BYTES };

typedef struct {
    int64_t i, j, rows, n;
} block;

/* Where a source's part of a block begins. */
static char *place_of(const source *s, const block *b)
{
    return s->is_value ? s->at : s->at + b->i * s->i_step + b->j * s->j_step;
}

static void point(const walk *w, const reader *readers, int32_t count, const block *b)
{
    for (int32_t at = 0; at < count; at++) {
        const source *const s = &w->sources[readers[at].source];
        if (readers[at].tile < 0) {
            w->at[at] = place_of(s, b);
            w->steps[at] = s->i_step;
        } else {
            const tile *const t = &w->tile[readers[at].tile];
            w->at[at] = t->memory;
            w->steps[at] = t->moves & MOVES_I ? t->pitch : 0;
        }
    }
}

static void make_copy(const walk *w, const tile *t, const block *b)
{
    const source *const s = &w->sources[t->from];
    const int64_t rows = rows_of(t, b->rows);
    if (t->along_i) {
        bcg_pack(t->memory, 0, place_of(s, b), 0, s->i_step, 1, b->rows, s->bytes);
    } else if (!s->is_boxed) {
        bcg_pack(t->memory, t->pitch, place_of(s, b), s->i_step, s->j_step, rows, b->n, s->bytes);
    } else {
        for (int64_t row = 0; row < rows; row++) {
            bcg_pack_box(t->memory + row * t->pitch, s->at + (b->i + row) * s->i_step, w->box_dims, w->box_extents,
                         s->box_steps, b->j, b->n, s->bytes);
        }
    }
}

static void make_value(const walk *w, const tile *t, const block *b)
{
    const int32_t stage = t->from - w->arrays;
    const bcg_stage *const from = &w->nest->stage[stage];
    point(w, w->stage_readers[stage], from->count, b);
    w->at[from->count] = t->memory;
    w->steps[from->count] = t->pitch;
    from->run(w->at, w->steps, rows_of(t, b->rows), points_in(w, t, b->rows, b->n));
}

static void deliver(const walk *w, const tile *t, const block *b)
{
    const source *const s = &w->sources[t->from];
    char *const to = place_of(s, b);
    if (w->streams > 0) {
        for (int64_t row = 0; row < b->rows; row++) {
            bcg_stream(to + row * s->i_step, t->memory + row * t->pitch, b->n * s->bytes);
        }
    } else {
        bcg_unpack(to, s->i_step, s->j_step, t->memory, t->pitch, b->rows, b->n, s->bytes);
    }
}

static void run_block(const walk *w, const block *b, uint8_t moved)
{
    const int32_t operands = w->nest->operands, results = w->arrays - operands;
    for (int32_t at = 0; at < w->tiles; at++) {
        const tile *const t = &w->tile[at];
        if (t->is_result || !(t->redo & moved)) continue;
        if (t->is_value) make_value(w, t, b);
        else make_copy(w, t, b);
    }
    point(w, w->main, w->main_count, b);
    for (int32_t r = 0; r < results; r++) {
        const reader to = {operands + r, w->result_tile[r]};
        const int32_t at = w->main_count + r;
        const source *const s = &w->sources[to.source];
        w->at[at] = to.tile < 0 ? place_of(s, b) : w->tile[to.tile].memory;
        w->steps[at] = to.tile < 0 ? s->i_step : w->tile[to.tile].pitch;
    }
    w->run(w->at, w->steps, b->rows, b->n);
    for (int32_t r = 0; r < results; r++) {
        if (w->result_tile[r] >= 0) deliver(w, &w->tile[w->result_tile[r]], b);
    }
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* Moves on to the next block and says which indices have moved; 0 after the last block. */
static uint8_t next_block(const walk *w, domain *d, int64_t *o, const int64_t *counts, int64_t *position)
{
    uint8_t moved = 0;
    for (int level = 2; level >= 0; level--) {
        const uint8_t index = w->order[level];
        if (counts[index >> 1] == 1) continue;
        moved |= index;
        if (index == MOVES_O) {
            bcg_next(w->outer, d->extents, d->steps, w->arrays, o, d->at);
            for (int32_t k = 0; k < w->arrays; k++) w->sources[k].at = d->at[k];
        }
        if (++position[index >> 1] < counts[index >> 1]) return moved;
        position[index >> 1] = 0;
    }
    return 0;
}

static void run_blocks(domain *d, char *memory, int64_t budget, int streams)
{
    walk w;
    int64_t o[BCG_MAX_RANK] = {0}, counts[3] = {1, 1, 1}, position[3] = {0, 0, 0};
    plan_walk(&w, d, memory, budget, streams);
    for (int32_t dim = 0; dim < w.outer; dim++) counts[0] *= d->extents[dim];
    counts[1] = (w.rows + w.block_rows - 1) / w.block_rows;
    counts[2] = (w.n + w.block_n - 1) / w.block_n;
    choose_order(&w, counts);
    for (int32_t at = 0; at < w.tiles; at++) {
        tile *const t = &w.tile[at];
        for (uint8_t index = 1; index <= MOVES_J; index = (uint8_t)(index << 1)) {
            if (t->moves & index && counts[index >> 1] > 1) t->redo |= index;
        }
        t->redo |= FIRST;
    }
    uint8_t moved = FIRST;
    do {
        const int64_t i = position[1] * w.block_rows, j = position[2] * w.block_n;
        const block b = {i, j, least(w.rows - i, w.block_rows), least(w.n - j, w.block_n)};
        run_block(&w, &b, moved);
        moved = next_block(&w, d, o, counts, position);
    } while (moved != 0);
    if (w.streams > 0) bcg_stream_end();
}

#endif
