/* pack.c: which way a block is copied. pack.h says what is promised.
 *
 * Both ways are one copy of rows x n elements between any two steps, pack_move: it brings the two dims into the order
 * that suits and looks for a fast path. A box of more dims is taken apart into such copies.
 */
#include "pack.h"

#include "bcg_abi.h"
#include "pack_lines.h"
#include "pack_rows.h"
#include "pack_scatter.h"
#include "pack_stream.h"
#include "pack_transpose.h"
#include "pack_words.h"

static int64_t pack_magnitude(int64_t step)
{
    return step < 0 ? -step : step;
}

static void pack_swap_dims(pack_box *box)
{
    const pack_box was = *box;
    box->to_outer = was.to_inner;
    box->to_inner = was.to_outer;
    box->from_outer = was.from_inner;
    box->from_inner = was.from_outer;
    box->outer = was.inner;
    box->inner = was.outer;
}

/* One dim is left, in `inner`, where one of the two has an extent of 1 or they follow each other without a gap. */
static void pack_merge(pack_box *box)
{
    if (box->outer == 1) {
        return;
    }
    if (box->inner == 1) {
        pack_swap_dims(box);
    } else if (box->to_outer == box->inner * box->to_inner && box->from_outer == box->inner * box->from_inner) {
        box->inner *= box->outer;
        box->outer = 1;
    }
}

/* One side has adjacent elements along one dim, the other along the other; of either sign where rows are counted. */
static int pack_move_turned(const pack_box *box, int32_t bytes)
{
    const int reads = box->to_inner == bytes && pack_magnitude(box->from_outer) == bytes;
    const int writes = box->from_inner == bytes && pack_magnitude(box->to_outer) == bytes;
    if (box->outer == 1 || (!reads && !writes)) {
        return 0;
    }
    char *to = box->to;
    const char *from = box->from;
    int64_t to_outer = box->to_outer, from_outer = box->from_outer;
    if ((reads ? from_outer : to_outer) < 0) {
        to += (box->outer - 1) * to_outer;
        from += (box->outer - 1) * from_outer;
        to_outer = -to_outer;
        from_outer = -from_outer;
    }
    return reads ? pack_transpose(to, to_outer, from, box->from_inner, box->outer, box->inner, bytes, 0)
                 : pack_transpose(to, box->to_inner, from, from_outer, box->inner, box->outer, bytes, 1);
}

static void pack_move_lines(const pack_box *box, int32_t bytes)
{
    const pack_line_form line = pack_line(bytes);
    for (int64_t i = 0; i < box->outer; i++) {
        line(box->to + i * box->to_outer, box->from + i * box->from_outer, box->from_inner, box->inner);
    }
}

/* Elements that stand still along the inner dim, and are written adjacent. */
static void pack_move_still(pack_box *box, int32_t bytes)
{
    const int64_t done = pack_repeat(box->to, box->to_outer, box->from, box->from_outer, box->outer, box->inner, bytes);
    box->to += done * box->to_outer;
    box->from += done * box->from_outer;
    box->outer -= done;
    if (box->inner > 8) {
        pack_move_lines(box, bytes);
    } else {
        pack_grid(box, bytes);
    }
}

static void pack_move(pack_box *box, int32_t bytes)
{
    pack_merge(box);
    if (box->to_inner == bytes && box->from_inner == bytes) {
        pack_copy_rows(box->to, box->to_outer, box->from, box->from_outer, box->outer, box->inner * bytes);
        return;
    }
    if (box->to_inner == bytes && box->from_inner == 0) {
        pack_move_still(box, bytes);
        return;
    }
    if (pack_move_turned(box, bytes)) {
        return;
    }
    if (box->to_inner == -bytes && box->from_inner == bytes) {
        box->to -= (box->inner - 1) * bytes;
        box->from += (box->inner - 1) * bytes;
        box->to_inner = bytes;
        box->from_inner = -bytes;
    }
    if (box->to_inner == bytes && box->from_inner >= -bytes && box->from_inner <= 4 * bytes && box->inner > 8) {
        pack_move_lines(box, bytes);
        return;
    }
    if (box->outer == 1 && box->from_inner == bytes &&
        pack_scatter(box->to, box->to_inner, box->from, box->inner, bytes)) {
        return;
    }
    /* With the shorter steps in the inner loop cache lines are used up. */
    if (box->outer > 1 && pack_magnitude(box->from_outer) + pack_magnitude(box->to_outer) <
                              pack_magnitude(box->from_inner) + pack_magnitude(box->to_inner)) {
        pack_swap_dims(box);
    }
    pack_grid(box, bytes);
}

/* pack_move to adjacent elements; rows that are one row of `from` are copied within the tile. */
static void pack_tile(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t from_step, int64_t rows,
                      int64_t n, int32_t bytes)
{
    if (rows == 1 || from_row != 0 || n == 1) {
        pack_move(&(pack_box){to, to_row, bytes, from, from_row, from_step, rows, n}, bytes);
        return;
    }
    pack_move(&(pack_box){to, to_row, bytes, from, 0, from_step, 1, n}, bytes);
    if (to_row == n * bytes) {
        pack_replicate(to, n * bytes, rows * n * bytes);
    } else {
        pack_copy_rows(to + to_row, to_row, to, 0, rows - 1, n * bytes);
    }
}

void bcg_pack(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t from_step, int64_t rows, int64_t n,
              int32_t bytes)
{
    pack_tile(to, to_row, from, from_row, from_step, rows, n, bytes);
}

void bcg_unpack(char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row, int64_t rows, int64_t n,
                int32_t bytes)
{
    pack_move(&(pack_box){to, to_row, to_step, from, from_row, bytes, rows, n}, bytes);
}

/* A dim of a box: `size` elements lie within one step of it. */
typedef struct {
    int64_t extent;
    int64_t step;
    int64_t size;
} pack_dim;

/* The dims that are left, d0 outermost, once those of extent 1 are gone and neighbours are one where they can. */
static int32_t pack_merge_dims(pack_dim *merged, int32_t dims, const int64_t *extents, const int64_t *steps)
{
    int32_t left = 0;
    for (int32_t d = 0; d < dims; d++) {
        if (extents[d] == 1) {
            continue;
        }
        if (left > 0 && merged[left - 1].step == extents[d] * steps[d]) {
            merged[left - 1].extent *= extents[d];
            merged[left - 1].step = steps[d];
        } else {
            merged[left++] = (pack_dim){extents[d], steps[d], 1};
        }
    }
    if (left == 0) {
        merged[left++] = (pack_dim){1, 0, 1};
    }
    for (int32_t d = left - 1; d > 0; d--) {
        merged[d - 1].size = merged[d].size * merged[d].extent;
    }
    return left;
}

/* Many elements along the first dim of three, few within: one copy for each index of the middle one. */
static void pack_across(char *to, const char *from, const pack_dim *dim, int64_t whole, int32_t bytes)
{
    for (int64_t j = 0; j < dim[1].extent; j++) {
        pack_move(&(pack_box){to + j * dim[1].size * bytes, dim[0].size * bytes, bytes, from + j * dim[1].step,
                             dim[0].step, dim[2].step, whole, dim[2].extent},
                  bytes);
    }
}

/* The first `count` elements of a box. */
static void pack_dims(char *to, const char *from, const pack_dim *dim, int32_t dims, int64_t count, int32_t bytes)
{
    if (dims == 1) {
        pack_tile(to, 0, from, 0, dim[0].step, 1, count, bytes);
        return;
    }
    const int64_t whole = count / dim[0].size, rest = count % dim[0].size;
    const int64_t row = dim[0].size * bytes;
    if (whole == 0) {
    } else if (dims == 2) {
        pack_tile(to, row, from, dim[0].step, dim[1].step, whole, dim[1].extent, bytes);
    } else if (dim[0].step == 0) {
        pack_dims(to, from, dim + 1, dims - 1, dim[0].size, bytes);
        pack_replicate(to, row, whole * row);
    } else if (dims == 3 && dim[0].size < 64 && dim[1].extent < whole) {
        pack_across(to, from, dim, whole, bytes);
    } else {
        for (int64_t i = 0; i < whole; i++) {
            pack_dims(to + i * row, from + i * dim[0].step, dim + 1, dims - 1, dim[0].size, bytes);
        }
    }
    if (rest > 0) {
        pack_dims(to + whole * row, from + whole * dim[0].step, dim + 1, dims - 1, rest, bytes);
    }
}

void bcg_pack_box(char *to, const char *from, int32_t dims, const int64_t *extents, const int64_t *steps, int64_t first,
                  int64_t count, int32_t bytes)
{
    pack_dim merged[BCG_MAX_RANK];
    const int32_t left = pack_merge_dims(merged, dims, extents, steps);
    pack_dims(to, from + first / merged[0].size * merged[0].step, merged, left, count, bytes);
}
