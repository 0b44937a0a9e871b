/* run_plan.h: how a part of a nest is walked, decided from its extents and steps.
 *
 * In: a domain. Out: a walk: the form (inline or staged) and the variant of its loop, what is read in place and what
 * through which tile, the extents of a block, the order of the indices. Nothing is read or written but the plan.
 * Included by run.c alone.
 */
#ifndef BCG_RUN_PLAN_H
#define BCG_RUN_PLAN_H

#include "run_source.h"

/* ---- the form: inline or staged ---------------------------------------------------------------------------------- */

static double points_along(const domain *d, uint64_t dims)
{
    double points = 1;
    for (int32_t dim = 0; dim < d->rank; dim++) {
        if (dims >> dim & 1) points *= (double)d->extents[dim];
    }
    return points;
}

/* Stages pay where what they compute spans so few points that writing and reading their tiles is worth it. */
static int staging_pays(const walk *w, const domain *d)
{
    const bcg_nest *const nest = w->nest;
    const double points = points_along(d, UINT64_MAX);
    double staged = points * (nest->staged_cost + nest->stages);
    for (int32_t at = 0; at < nest->stages; at++) {
        staged += points_along(d, w->sources[w->arrays + at].dims) * (nest->stage[at].cost + 1);
    }
    return staged < points * nest->cost;
}

/* ---- readers and tiles ------------------------------------------------------------------------------------------- */

static tile *new_tile(walk *w, int32_t from)
{
    tile *const t = &w->tile[w->tiles++];
    t->from = from;
    t->is_value = t->is_result = t->along_i = t->redo = 0;
    t->edge_rows = t->edge_n = 0;
    return t;
}

static int32_t add_tile(walk *w, int32_t from, int along_i, uint8_t moves)
{
    for (int32_t at = 0; at < w->tiles; at++) {
        const tile *const t = &w->tile[at];
        if (t->from == from && t->along_i == along_i && !t->is_value && !t->is_result) return at;
    }
    new_tile(w, from)->moves = moves;
    w->tile[w->tiles - 1].along_i = (uint8_t)along_i;
    return w->tiles - 1;
}

/* How a loop over i, or over j, that wants adjacent elements reads a source. */
static reader read_along(walk *w, int32_t k, int along_i)
{
    const source *const s = &w->sources[k];
    const int64_t step = along_i ? s->i_step : s->j_step;
    const int in_place = step == s->bytes && (along_i || !s->is_boxed);
    /* Blocks begin where the inner dims of a box do: what repeats for each of its outer indices is the same in all. */
    const int rests = along_i || (s->is_boxed && s->box_steps[0] == 0);
    return (reader){k, in_place ? -1 : add_tile(w, k, along_i, (uint8_t)(s->moves & (rests ? ~MOVES_J : ~0)))};
}

static int bits_of(uint64_t set)
{
    int count = 0;
    for (; set != 0; set &= set - 1) count++;
    return count;
}

/* The variant with the most of what stands still here, and nothing else. */
static const bcg_variant *pick(const bcg_variant *variant, int32_t variants, uint64_t still)
{
    int32_t best = 0;
    for (int32_t v = 1; v < variants; v++) {
        const uint64_t set = variant[v].still;
        if ((set & ~still) == 0 && bits_of(set) > bits_of(variant[best].still)) best = v;
    }
    return &variant[best];
}

static void plan_stage(walk *w, int32_t stage)
{
    const bcg_stage *const from = &w->nest->stage[stage];
    const int32_t k = w->arrays + stage;
    source *const s = &w->sources[k];
    caller *const c = &w->stage[stage];
    const int along_i = !(s->moves & MOVES_J) && s->moves & MOVES_I;
    c->run = from->run;
    c->count = from->count + 1;
    for (int32_t at = 0; at < from->count; at++) {
        /* Of one point it may be read anywhere. */
        const int one = !(s->moves & (MOVES_I | MOVES_J));
        c->readers[at] = one ? (reader){from->reads[at], -1} : read_along(w, from->reads[at], along_i);
    }
    c->readers[from->count] = (reader){k, w->tiles};
    tile *const t = new_tile(w, k);
    t->is_value = 1;
    t->along_i = (uint8_t)along_i;
    t->moves = s->moves;
    /* Its steps along i follow when the pitch is known. */
    s->j_step = s->moves & MOVES_J ? s->bytes : 0;
    s->i_step = along_i ? s->bytes : 0;
}

static void plan_main(walk *w, int staged)
{
    const bcg_nest *const nest = w->nest;
    const int32_t count = staged ? nest->staged_count : nest->operands;
    uint64_t still = 0;
    for (int32_t at = 0; at < count; at++) {
        const source *const s = &w->sources[staged ? nest->staged_reads[at] : at];
        if (at < 64 && !(s->moves & MOVES_J)) still |= (uint64_t)1 << at;
    }
    const bcg_variant *const chosen = staged ? pick(nest->staged_variant, nest->staged_variants, still)
                                             : pick(nest->variant, nest->variants, still);
    w->main.run = chosen->run;
    w->main.count = count + nest->arrays - nest->operands;
    for (int32_t at = 0; at < count; at++) {
        const int32_t k = staged ? nest->staged_reads[at] : at;
        const int stands = at < 64 && chosen->still >> at & 1;
        w->main.readers[at] = stands ? (reader){k, -1} : read_along(w, k, 0);
    }
    w->made = w->tiles;
    for (int32_t k = nest->operands; k < nest->arrays; k++) {
        const source *const s = &w->sources[k];
        const int direct = s->j_step == s->bytes && !s->is_boxed && !w->streams;
        w->main.readers[count + k - nest->operands] = (reader){k, direct ? -1 : w->tiles};
        if (direct) continue;
        tile *const t = new_tile(w, k);
        t->is_result = 1;
        t->moves = MOVES_I | MOVES_J;
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* Rows and points of a tile in a block of these. */
static int64_t rows_of(const tile *t, int64_t rows) { return !t->along_i && t->moves & MOVES_I ? rows : 1; }

static int64_t points_in(const walk *w, const tile *t, int64_t rows, int64_t n)
{
    if (t->along_i) return rows;
    return t->is_value && !(w->sources[t->from].moves & MOVES_J) ? 1 : n;
}

/* Whether two arrays are one stream of memory: their elements lie between each other's. */
static int is_woven(const source *s, const source *other)
{
    const int64_t apart = (int64_t)((uintptr_t)s->at - (uintptr_t)other->at);
    return s->j_step == other->j_step && s->j_step != 0 && bcg_magnitude(apart) < bcg_magnitude(s->j_step);
}

/* Points of a block so that what it moves of memory stays short, if an array is copied in each block that has gaps,
 * goes backwards, or does not lie in a cache; or `most`. */
static int64_t points_moved(const walk *w, int64_t most)
{
    int64_t touched = 0, bytes = 0;
    for (int32_t k = 0; k < w->arrays; k++) {
        const source *const s = &w->sources[k];
        int is_read = 0;
        for (int32_t other = 0; other < k; other++) is_read |= is_woven(s, &w->sources[other]);
        if (!is_read) touched += (int64_t)bcg_magnitude(s->j_step);
    }
    const double all = (double)touched * w->points, most_cached = UNCACHED_BYTES, most_in_l1 = L1_BYTES;
    const int is_far = all >= most_cached;
    if (all <= most_in_l1) return most;
    for (int32_t at = 0; at < w->tiles; at++) {
        const tile *const t = &w->tile[at];
        const source *const s = &w->sources[t->from];
        if (t->along_i || t->is_value || !(t->moves & MOVES_J) || (s->is_boxed && !is_far)) continue;
        if (is_far && !s->is_boxed && !t->is_result) bytes = GAPPED_BYTES;
        else if (bytes == 0) bytes = MOVED_BYTES;
    }
    return bytes == 0 ? most : least(most, bytes / touched);
}

static void choose_block(walk *w, int64_t budget)
{
    int64_t both = 0, along_j = 0, along_i = 0, pads = 0, wide = 0;
    if (w->turned_bytes == 0) budget = budget * TILE_BYTES / MOST_TILE_BYTES;
    for (int32_t at = 0; at < w->tiles; at++) {
        const tile *const t = &w->tile[at];
        const int64_t bytes = w->sources[t->from].bytes;
        budget -= LINE;
        if (t->along_i) along_i += bytes;
        else if (t->moves & MOVES_I) both += bytes, pads += w->turned_bytes > 0 ? LINE : 0, wide++;
        else along_j += bytes;
    }
    const int64_t whole = budget;
    w->block_rows = w->rows;
    w->block_n = w->n;
    if (w->tiles == 0) return;
    if (w->streams) {
        w->block_rows = 1;
        w->block_n = STREAM_TILE / w->streams;
        if (w->block_n * (both + along_j) > budget) w->block_n = LINE;
        return;
    }
    int64_t most = MOST_POINTS, rows = 1;
    if (w->turned_bytes > 0) rows = (w->turned_bytes == 8 ? 2 : 1) * TURNED_LINES * LINE / w->turned_bytes;
    else budget -= budget / 4, most = points_moved(w, most);
    if (w->turned_bytes == 8 || (w->turned_bytes > 0 && wide > 1)) most = LINE;
    if (rows > w->rows) rows = w->rows;
    const int64_t a_point = both * rows + along_j;
    if (a_point > 0 && most > (budget - rows * (along_i + pads)) / a_point)
        most = (budget - rows * (along_i + pads)) / a_point;
    const int64_t multiple = w->multiple > 1 ? w->multiple : LINE;
    if (most < w->n) w->block_n = most < multiple ? multiple : most / multiple * multiple;
    if (w->block_n > w->n) w->block_n = w->n;
    const int64_t a_row = both * w->block_n + along_i + pads;
    const int64_t left = whole - along_j * w->block_n;
    if (a_row > 0 && w->rows > left / a_row) w->block_rows = left < a_row ? 1 : left / a_row;
    if (w->turned_bytes > 0 && w->block_rows > rows) {
        if (w->block_n < w->n) w->block_rows = rows;
        else w->block_rows -= w->block_rows % rows;
    }
}

/* How a tile is copied in a block of so many rows and points; no form: as a box. */
static void plan_copy(const walk *w, const tile *t, bcg_copy *copy, int64_t rows, int64_t n)
{
    const source *const s = &w->sources[t->from];
    if (t->is_result) bcg_plan_unpack(copy, s->i_step, s->j_step, t->pitch, rows, n, s->bytes);
    else if (t->along_i) bcg_plan_pack(copy, 0, 0, s->i_step, 1, rows, s->bytes);
    else if (!s->is_boxed) bcg_plan_pack(copy, t->pitch, s->i_step, s->j_step, rows_of(t, rows), n, s->bytes);
    else if (rows_of(t, rows) > 1 || !bcg_plan_box(copy, w->box_dims, w->box_extents, s->box_steps, n, s->bytes))
        copy->form = NULL;
}

/* Where an operand is turned, rows are written a column at a time: an odd number of lines apart, they have their own
 * sets of L1. */
static int64_t pitch_of(const walk *w, int64_t bytes)
{
    return w->turned_bytes > 0 && bytes % (2 * LINE) == 0 ? bytes + LINE : bytes;
}

static void lay_out_tiles(walk *w, char *memory)
{
    for (int32_t at = 0; at < w->tiles; at++) {
        tile *const t = &w->tile[at];
        source *const s = &w->sources[t->from];
        const int64_t points = points_in(w, t, w->block_rows, w->block_n), rows = rows_of(t, w->block_rows);
        t->pitch = pitch_of(w, points * s->bytes);
        t->memory = take(&memory, (size_t)(rows * t->pitch));
        if (!t->is_value) {
            plan_copy(w, t, &t->whole, w->block_rows, w->block_n);
            continue;
        }
        s->at = t->memory;
        if (!t->along_i) s->i_step = t->moves & MOVES_I ? t->pitch : 0;
    }
}

/* What is the same in every call; where a value is read it is all. */
static void prepare(const walk *w, caller *c)
{
    c->moving = 0;
    for (int32_t at = 0; at < c->count; at++) {
        const source *const s = &w->sources[c->readers[at].source];
        const tile *const t = c->readers[at].tile < 0 ? NULL : &w->tile[c->readers[at].tile];
        c->at[at] = t == NULL ? s->at : t->memory;
        c->steps[at] = t == NULL ? s->i_step : t->moves & MOVES_I ? t->pitch : 0;
        if (t == NULL && !s->is_value) c->places[c->moving++] = at;
    }
}

/* Bytes of an element of the widest result, if results can be streamed: their rows are long, and adjacent. Or 0. */
static int32_t streamed_bytes(const walk *w)
{
    int32_t widest = 0;
    if (w->turned_bytes > 0 || w->box_dims > 1) return 0;
    for (int32_t k = w->nest->operands; k < w->arrays; k++) {
        const source *const s = &w->sources[k];
        if (s->j_step != s->bytes) return 0;
        if (s->bytes > widest) widest = s->bytes;
    }
    return w->n * widest >= STREAM_TILE ? widest : 0;
}

/* ---- the order of o, i and j ------------------------------------------------------------------------------------- */

/* How much is made anew if the indices move in this order, the first the slowest. */
static double work_in_order(const walk *w, const uint8_t *order, const int64_t *counts)
{
    double work = 0;
    for (int32_t at = 0; at < w->tiles; at++) {
        const tile *const t = &w->tile[at];
        if (t->is_result) continue;
        double times = 1, made = 1;
        for (int level = 0; level < 3; level++) {
            times *= (double)counts[order[level] >> 1];
            if (t->moves & order[level]) made = times;
        }
        const int32_t cost = t->is_value ? w->nest->stage[t->from - w->arrays].cost : COPY_COST;
        made *= (double)(rows_of(t, w->block_rows) * points_in(w, t, w->block_rows, w->block_n));
        work += made * cost;
    }
    return work;
}

/* counts: of o, i and j, at half their bits' numbers (1, 2, 4). */
static void choose_order(walk *w, const int64_t *counts)
{
    static const uint8_t orders[][3] = {
        {MOVES_O, MOVES_I, MOVES_J}, {MOVES_O, MOVES_J, MOVES_I}, {MOVES_J, MOVES_O, MOVES_I},
        {MOVES_J, MOVES_I, MOVES_O}, {MOVES_I, MOVES_J, MOVES_O}};
    memcpy(w->order, orders[0], 3);
    if (w->made == 0 || (counts[0] > 1) + (counts[1] > 1) + (counts[2] > 1) < 2) return;
    double least = 0.9 * work_in_order(w, orders[0], counts);
    for (size_t at = 0; at < sizeof orders / sizeof *orders; at++) {
        const double other = work_in_order(w, orders[at], counts);
        if (other >= least) continue;
        least = other;
        memcpy(w->order, orders[at], 3);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void plan_walk(walk *w, domain *d, char *memory, int64_t budget, int streams)
{
    const bcg_nest *const nest = d->nest;
    const int64_t sources = (int64_t)nest->arrays + nest->stages;
    w->nest = nest;
    w->arrays = nest->arrays;
    w->tiles = 0;
    w->sources = take(&memory, (size_t)sources * sizeof(source));
    w->tile = take(&memory, (size_t)most_tiles(nest) * sizeof(tile));
    for (int32_t at = 0; at <= nest->stages; at++) {
        caller *const c = at == 0 ? &w->main : &w->stage[at - 1];
        c->readers = take(&memory, (size_t)sources * sizeof(reader));
        c->places = take(&memory, (size_t)sources * sizeof(int32_t));
        c->at = take(&memory, (size_t)sources * sizeof(char *));
        c->steps = take(&memory, (size_t)sources * sizeof(int64_t));
    }
    w->points = points_along(d, UINT64_MAX);
    choose_dims(w, d);
    for (int32_t k = 0; k < nest->arrays; k++) describe_source(w, d, k);
    for (int32_t at = 0; at < nest->stages; at++) describe_value(w, at);
    w->streams = streams ? streamed_bytes(w) : 0;
    const int staged = nest->stages > 0 && staging_pays(w, d);
    w->stages = staged ? nest->stages : 0;
    for (int32_t at = 0; at < w->stages; at++) plan_stage(w, at);
    plan_main(w, staged);
    choose_block(w, budget);
    for (int32_t k = 0; k < nest->arrays; k++) {
        source *const s = &w->sources[k];
        s->block_i = w->block_rows * s->i_step;
        s->block_j = (w->multiple > 1 ? w->block_n / w->multiple : w->block_n) * s->box_steps[0];
    }
    lay_out_tiles(w, memory);
    prepare(w, &w->main);
    for (int32_t at = 0; at < w->stages; at++) prepare(w, &w->stage[at]);
}

#endif
