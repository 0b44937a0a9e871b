/* pack.c: decides how a block is copied. pack.h has the contract.
 *
 * Packing and unpacking are one copy of rows x n elements between any two steps: pack_decide orders the two dims and
 * looks for a fast form. A box of more dims is taken apart into such copies.
 */
#include "pack.h"

#include "bcg_abi.h"
#include "pack_lines.inc"
#include "pack_rows.inc"
#include "pack_scatter.inc"
#include "pack_stream.inc"
#include "pack_transpose.inc"
#include "pack_words.inc"

typedef void (*pack_form)(const bcg_copy *copy, char *to, const char *from);

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static void pack_form_rows(const bcg_copy *copy, char *to, const char *from)
{
    pack_copy_rows(to, copy->to_outer, from, copy->from_outer, copy->outer, copy->inner * copy->bytes);
}

static void pack_form_line(const bcg_copy *copy, char *to, const char *from)
{
    ((pack_line_form)copy->way)(to + copy->to_first, from + copy->from_first, copy->from_inner, copy->inner);
}

static void pack_form_lines(const bcg_copy *copy, char *to, const char *from)
{
    const pack_line_form line = (pack_line_form)copy->way;
    to += copy->to_first;
    from += copy->from_first;
    for (int64_t i = 0; i < copy->outer; i++) {
        line(to + i * copy->to_outer, from + i * copy->from_outer, copy->from_inner, copy->inner);
    }
}

static void pack_form_grid(const bcg_copy *copy, char *to, const char *from)
{
    pack_grid(copy, to + copy->to_first, from + copy->from_first, copy->outer);
}

/* Elements that are stationary along the inner dim, and are written adjacent. */
static void pack_form_still(const bcg_copy *copy, char *to, const char *from)
{
    const int64_t rows = copy->outer, n = copy->inner;
    int64_t row = pack_repeat(to, copy->to_outer, from, copy->from_outer, rows, n, copy->bytes);
    if (n <= 8) {
        pack_grid(copy, to + row * copy->to_outer, from + row * copy->from_outer, rows - row);
        return;
    }
    for (; row < rows; row++) {
        ((pack_line_form)copy->way)(to + row * copy->to_outer, from + row * copy->from_outer, 0, n);
    }
}

static void pack_form_transposed(const bcg_copy *copy, char *to, const char *from)
{
    const pack_transpose transpose = (pack_transpose)copy->way;
    to += copy->to_first;
    from += copy->from_first;
    if (copy->along) {
        transpose(to, copy->to_inner, from, copy->from_outer, copy->inner, copy->outer, 1);
    } else {
        transpose(to, copy->to_outer, from, copy->from_inner, copy->outer, copy->inner, 0);
    }
}

static void pack_form_scatter(const bcg_copy *copy, char *to, const char *from)
{
    ((pack_scatter_form)copy->way)(to, copy->to_inner / copy->bytes, from, copy->inner);
}

/* Rows of a tile that are one row of `from`: the first is copied as `inner` says, the others within the tile. */
static void pack_form_replicas(const bcg_copy *copy, char *to, const char *from)
{
    const int64_t size = copy->inner * copy->bytes;
    bcg_copy first;
    bcg_plan_pack(&first, 0, 0, copy->from_inner, 1, copy->inner, copy->bytes);
    first.form(&first, to, from);
    if (copy->to_outer == size) {
        pack_replicate(to, size, copy->outer * size);
    } else {
        pack_copy_rows(to + copy->to_outer, copy->to_outer, to, 0, copy->outer - 1, size);
    }
}

static void pack_form_periods(const bcg_copy *copy, char *to, const char *from)
{
    ((pack_periods)copy->way)(to, from, copy->from_outer, copy->outer, copy->inner, copy->along);
}

/* ---- which it is ------------------------------------------------------------------------------------------------- */

static int64_t pack_magnitude(int64_t step)
{
    return step < 0 ? -step : step;
}

static void pack_swap_dims(bcg_copy *copy)
{
    const bcg_copy was = *copy;
    copy->to_outer = was.to_inner;
    copy->to_inner = was.to_outer;
    copy->from_outer = was.from_inner;
    copy->from_inner = was.from_outer;
    copy->outer = was.inner;
    copy->inner = was.outer;
}

/* Leaves one dim, in `inner`, if one of the two has an extent of 1 or they follow each other without a gap. */
static void pack_merge(bcg_copy *copy)
{
    if (copy->outer == 1) {
        return;
    }
    if (copy->inner == 1) {
        pack_swap_dims(copy);
    } else if (copy->to_outer == copy->inner * copy->to_inner && copy->from_outer == copy->inner * copy->from_inner) {
        copy->inner *= copy->outer;
        copy->outer = 1;
    }
}

/* Decides on a transposition if one side has adjacent elements along the inner dim and the other along the outer one,
 * there in either direction. Returns 0 if this is none. */
static int pack_decide_transposed(bcg_copy *copy)
{
    const int32_t bytes = copy->bytes;
    const int reads = copy->to_inner == bytes && pack_magnitude(copy->from_outer) == bytes;
    const int writes = copy->from_inner == bytes && pack_magnitude(copy->to_outer) == bytes;
    if (copy->outer == 1 || (!reads && !writes)) {
        return 0;
    }
    const pack_transpose transpose = reads ? pack_transpose_of(copy->outer, copy->inner, bytes)
                                           : pack_transpose_of(copy->inner, copy->outer, bytes);
    if (transpose == NULL) {
        return 0;
    }
    if ((reads ? copy->from_outer : copy->to_outer) < 0) {
        copy->to_first = (copy->outer - 1) * copy->to_outer;
        copy->from_first = (copy->outer - 1) * copy->from_outer;
        copy->to_outer = -copy->to_outer;
        copy->from_outer = -copy->from_outer;
    }
    copy->along = !reads;
    copy->way = (void (*)(void))transpose;
    return 1;
}

static pack_form pack_decide(bcg_copy *copy)
{
    const int32_t bytes = copy->bytes;
    pack_merge(copy);
    if (copy->to_inner == bytes && copy->from_inner == bytes) {
        return pack_form_rows;
    }
    if (copy->to_inner == bytes && copy->from_inner == 0) {
        copy->way = (void (*)(void))pack_line(bytes, 0);
        return pack_form_still;
    }
    if (pack_decide_transposed(copy)) {
        return pack_form_transposed;
    }
    if (copy->to_inner == -bytes && copy->from_inner == bytes && copy->inner > 8) {
        copy->way = (void (*)(void))pack_back(bytes);
        return copy->outer == 1 ? pack_form_line : pack_form_lines;
    }
    if (copy->to_inner == bytes && copy->from_inner >= -bytes && copy->from_inner <= 4 * bytes && copy->inner > 8) {
        copy->way = (void (*)(void))pack_line(bytes, copy->from_inner);
        return copy->outer == 1 ? pack_form_line : pack_form_lines;
    }
    if (copy->outer == 1 && copy->from_inner == bytes && pack_scatters(copy->to_inner, bytes)) {
        copy->way = (void (*)(void))pack_scatter_of(bytes);
        return pack_form_scatter;
    }
    /* The shorter steps are in the inner loop, so that each cache line is used up. */
    if (copy->outer > 1 && pack_magnitude(copy->from_outer) + pack_magnitude(copy->to_outer) <
                               pack_magnitude(copy->from_inner) + pack_magnitude(copy->to_inner)) {
        pack_swap_dims(copy);
    }
    return pack_form_grid;
}

void bcg_plan_pack(bcg_copy *copy, int64_t to_row, int64_t from_row, int64_t from_step, int64_t rows, int64_t n,
                   int32_t bytes)
{
    *copy = (bcg_copy){.to_outer = to_row, .to_inner = bytes, .from_outer = from_row, .from_inner = from_step,
                       .outer = rows, .inner = n, .bytes = bytes};
    copy->form = rows > 1 && from_row == 0 && n > 1 ? pack_form_replicas : pack_decide(copy);
}

void bcg_plan_unpack(bcg_copy *copy, int64_t to_row, int64_t to_step, int64_t from_row, int64_t rows, int64_t n,
                     int32_t bytes)
{
    *copy = (bcg_copy){.to_outer = to_row, .to_inner = to_step, .from_outer = from_row, .from_inner = bytes,
                       .outer = rows, .inner = n, .bytes = bytes};
    copy->form = pack_decide(copy);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static void pack_tile(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t from_step, int64_t rows,
                      int64_t n, int32_t bytes)
{
    bcg_copy copy;
    bcg_plan_pack(&copy, to_row, from_row, from_step, rows, n, bytes);
    copy.form(&copy, to, from);
}

/* A dim of a box: `size` elements lie within one step of it. */
typedef struct {
    int64_t extent;
    int64_t step;
    int64_t size;
} pack_dim;

/* Drops dims of extent 1 and merges neighbours where possible. Returns how many dims are left, d0 outermost. */
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

/* Copies a box of three dims with many elements along the first and few within: one copy for each index of the middle
 * one. */
static void pack_across(char *to, const char *from, const pack_dim *dim, int64_t whole, int32_t bytes)
{
    for (int64_t j = 0; j < dim[1].extent; j++) {
        pack_tile(to + j * dim[1].size * bytes, dim[0].size * bytes, from + j * dim[1].step, dim[0].step, dim[2].step,
                  whole, dim[2].extent, bytes);
    }
}

/* Copies the first `count` elements of a box. */
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

/* Plans a copy of three dims whose middle one repeats the few adjacent elements of the last one; 0 if it is another. */
static int pack_plan_periods(bcg_copy *copy, const pack_dim *dim, int64_t count, int32_t bytes)
{
    const pack_periods periods = pack_periods_of(dim[2].extent, bytes);
    if (dim[1].step != 0 || dim[2].step != bytes || periods == NULL) {
        return 0;
    }
    *copy = (bcg_copy){.form = pack_form_periods, .way = (void (*)(void))periods, .from_outer = dim[0].step,
                       .outer = count / dim[0].size, .inner = dim[0].size, .bytes = bytes,
                       .along = (int32_t)dim[2].extent};
    return 1;
}

int bcg_plan_box(bcg_copy *copy, int32_t dims, const int64_t *extents, const int64_t *steps, int64_t count,
                 int32_t bytes)
{
    pack_dim merged[BCG_MAX_RANK];
    const int32_t left = pack_merge_dims(merged, dims, extents, steps);
    if (left > 3 || count % merged[0].size != 0) {
        return 0;
    }
    if (left == 3) {
        return pack_plan_periods(copy, merged, count, bytes);
    }
    const pack_dim inner = left == 1 ? (pack_dim){1, 0, 1} : merged[1];
    const int64_t rows = count / merged[0].size;
    bcg_plan_pack(copy, merged[0].size * bytes, merged[0].step, inner.step, rows, inner.extent, bytes);
    return 1;
}

void bcg_pack_box(char *to, const char *from, int32_t dims, const int64_t *extents, const int64_t *steps, int64_t count,
                  int32_t bytes)
{
    pack_dim merged[BCG_MAX_RANK];
    const int32_t left = pack_merge_dims(merged, dims, extents, steps);
    pack_dims(to, from, merged, left, count, bytes);
}
