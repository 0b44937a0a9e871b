/* pack_main.c: runs the cases of test_pack.py on pack.c, which it includes.
 *
 * A line of standard input is a case: its kind, then whole numbers as they are read below. Arrays are allocated as long
 * as they are, so that a sanitizer sees what lies beyond; byte k of `from` is the top byte of (k + 1) * 2654435761 in
 * 32 bits, `to` is filled with 0xA5. After each case all of `to` goes to standard output.
 */
#include "pack.c"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t number(void)
{
    int64_t value = 0;
    if (scanf("%" SCNd64, &value) != 1) {
        exit(2);
    }
    return value;
}

/* What malloc gives is aligned to 16 bytes; `shift` bytes of it are before the array. */
static char *array(int64_t size, int64_t shift)
{
    char *const memory = malloc((size_t)(size + shift));
    if (memory == NULL) {
        exit(3);
    }
    return memory + shift;
}

int main(void)
{
    char kind;
    while (scanf(" %c", &kind) == 1) {
        const int64_t bytes = number();
        const int64_t to_size = number(), to_shift = number(), to_begin = number();
        const int64_t from_size = number(), from_shift = number(), from_begin = number();
        char *const to = array(to_size, to_shift), *const from = array(from_size, from_shift);
        memset(to, 0xA5, (size_t)to_size);
        for (int64_t k = 0; k < from_size; k++) {
            from[k] = (char)((uint32_t)(k + 1) * UINT32_C(2654435761) >> 24);
        }
        if (kind == 'b') {
            const int32_t dims = (int32_t)number();
            int64_t extents[BCG_MAX_RANK], steps[BCG_MAX_RANK];
            for (int32_t d = 0; d < dims; d++) {
                extents[d] = number();
                steps[d] = number();
            }
            const int64_t first = number(), count = number();
            int64_t within = 1;
            for (int32_t d = 1; d < dims; d++) {
                within *= extents[d];
            }
            const char *const begin = from + from_begin + first / within * steps[0];
            bcg_copy copy;
            bcg_pack_box(to + to_begin, begin, dims, extents, steps, count, (int32_t)bytes);
            if (bcg_plan_box(&copy, dims, extents, steps, count, (int32_t)bytes)) {
                char *const planned = array(to_size, to_shift);
                memset(planned, 0xA5, (size_t)to_size);
                copy.form(&copy, planned + to_begin, begin);
                if (memcmp(planned, to, (size_t)to_size) != 0) {
                    return 5;
                }
                free(planned - to_shift);
            }
        } else if (kind == 's') {
            bcg_stream(to + to_begin, from + from_begin, number());
            bcg_stream_end();
        } else {
            const int64_t to_row = number(), to_step = number(), from_row = number(), from_step = number();
            const int64_t rows = number(), n = number();
            bcg_copy copy;
            if (kind == 'p') {
                bcg_plan_pack(&copy, to_row, from_row, from_step, rows, n, (int32_t)bytes);
            } else {
                bcg_plan_unpack(&copy, to_row, to_step, from_row, rows, n, (int32_t)bytes);
            }
            copy.form(&copy, to + to_begin, from + from_begin);
        }
        if (fwrite(to, 1, (size_t)to_size, stdout) != (size_t)to_size) {
            return 4;
        }
        free(to - to_shift);
        free(from - from_shift);
    }
    return 0;
}
