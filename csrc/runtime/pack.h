/* pack.h: tiles: blocks of an array copied so that the inner loops find adjacent elements.
 *
 * Contract. Elements are 1, 2, 4, 8 or 16 bytes wide and are copied as bits. Steps are in bytes and of any sign (0, too);
 * addresses are aligned to the element, or to 8, tiles to 64 bytes. `rows` and `n` are at least 1. Tiles and arrays do not
 * overlap.
 * Nothing is allocated. x86 code picks its instructions by the CPU it runs on.
 */
#ifndef BCG_PACK_H
#define BCG_PACK_H

#include <stdint.h>

/* A copy that is planned once and made often: copy->form(copy, to, from) makes it. The other members are private. */
typedef struct bcg_copy bcg_copy;
struct bcg_copy {
    void (*form)(const bcg_copy *copy, char *to, const char *from);
    void (*way)(void); /* the function that the form calls, if it has several */
    int64_t to_first, from_first, to_outer, to_inner, from_outer, from_inner, outer, inner;
    int32_t bytes, along;
};

/* to[row][i] = from[row][i]: a row of the tile has n adjacent elements and begins `to_row` bytes after the previous
 * row. */
void bcg_plan_pack(bcg_copy *copy, int64_t to_row, int64_t from_row, int64_t from_step, int64_t rows, int64_t n,
                   int32_t bytes);

/* The way back: copies rows of adjacent elements to the places of an array's elements. */
void bcg_plan_unpack(bcg_copy *copy, int64_t to_row, int64_t to_step, int64_t from_row, int64_t rows, int64_t n,
                     int32_t bytes);

/* The first `count` elements, in C order, of a box of `dims` dims (d0 outermost) become adjacent in the tile. This is
 * for boxes whose extents are small, except the outermost one. */
void bcg_pack_box(char *to, const char *from, int32_t dims, const int64_t *extents, const int64_t *steps, int64_t count,
                  int32_t bytes);

/* Plans the same as one copy if the box is a copy of two dims, or of one that is repeated inside another; else returns
 * 0. */
int bcg_plan_box(bcg_copy *copy, int32_t dims, const int64_t *extents, const int64_t *steps, int64_t count,
                 int32_t bytes);

/* Copies a row of `size` bytes past the caches, into memory that is not going to be read soon; `to` is aligned to the
 * element. bcg_stream_end makes it visible to other threads: once, at the end. */
void bcg_stream(char *to, const char *from, int64_t size);
void bcg_stream_end(void);

#endif
