/* shape_calls.c: calls emitted kernels with operands in memory of exactly their size, and says what came of it.
 *
 * In: argv[1], int64 numbers: for each call the kernel, then rank and extents of each operand. Element i of operand p is
 * (7 i + 13 p) % 31 + 1.
 * Out: stdout, int64: for each call the status of the shape function, the call's, how often a sanitizer spoke, and where
 * the call succeeded rank, extents and elements (double) of each result. What comes before a crash has been written.
 *
 * `shape_calls.inc` (generated) has KERNELS, MOST_OPERANDS, MOST_RESULTS and the table `kernels`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "m.h"

typedef struct {
    int operands, slots, results, ranks[8]; /* of results; -1: any */
    int (*shape)(const bcastgen_array *a, int32_t *ranks, int64_t (*extents)[64]);
    int (*call)(const bcastgen_array *a, const bcastgen_result *made);
} kernel;

#include "shape_calls.inc"

static int64_t reports;

void __asan_set_error_report_callback(void (*callback)(const char *));
static void on_report(const char *text)
{
    (void)text;
    reports++;
}

static int64_t count(const int64_t *extents, int32_t rank)
{
    int64_t product = 1;
    for (int32_t at = 0; at < rank; at++) product *= extents[at];
    return product;
}

static bcastgen_result described(int64_t *extents, int64_t *strides, int32_t rank)
{
    int64_t stride = sizeof(double);
    for (int32_t at = rank; at-- > 0; stride *= extents[at]) strides[at] = stride;
    return (bcastgen_result){malloc((size_t)count(extents, rank) * sizeof(double)), extents, strides, rank};
}

static void put(const void *data, size_t size)
{
    fwrite(data, 1, size, stdout);
}

static const int64_t *run(const int64_t *in)
{
    const kernel *k = &kernels[*in++];
    static int64_t extents[MOST_OPERANDS + MOST_RESULTS][64], strides[MOST_OPERANDS + MOST_RESULTS][64];
    bcastgen_result own[MOST_OPERANDS], made[MOST_RESULTS];
    bcastgen_array arrays[MOST_OPERANDS];
    int operands = k->operands + k->slots;
    reports = 0;
    for (int at = 0; at < operands; at++) {
        int32_t rank = (int32_t)*in++;
        memcpy(extents[at], in, (size_t)rank * sizeof *in);
        in += rank;
        if (at < k->operands) {
            own[at] = described(extents[at], strides[at], rank);
            arrays[at] = bcastgen_operand(&own[at]);
            int64_t size = count(extents[at], rank);
            for (int64_t i = 0; i < size; i++) ((double *)own[at].data)[i] = (double)((7 * i + 13 * at) % 31 + 1);
        } else {
            arrays[at] = (bcastgen_array){NULL, extents[at], strides[at], rank};
        }
    }
    int32_t ranks[MOST_RESULTS];
    for (int at = 0; at < k->results; at++) ranks[at] = k->ranks[at];
    int64_t said[3] = {k->shape(arrays, ranks, &extents[operands]), -1, 0};
    for (int at = 0; at < k->results; at++) {
        if (said[0] != BCASTGEN_OK) {
            if (ranks[at] < 0) ranks[at] = 1;
            for (int dim = 0; dim < 64; dim++) extents[operands + at][dim] = 1;
        }
        if (count(extents[operands + at], ranks[at]) > 10000000) exit(3);
        made[at] = described(extents[operands + at], strides[operands + at], ranks[at]);
    }
    said[1] = k->call(arrays, made);
    said[2] = reports;
    put(said, sizeof said);
    for (int at = 0; at < k->results; at++) {
        const bcastgen_result *r = &made[at];
        int64_t rank = r->rank;
        if (said[0] == BCASTGEN_OK && said[1] == BCASTGEN_OK) {
            put(&rank, sizeof rank);
            put(r->extents, (size_t)rank * sizeof *r->extents);
            put(r->data, (size_t)count(r->extents, r->rank) * sizeof(double));
        }
        free(r->data);
    }
    for (int at = 0; at < k->operands; at++) free(own[at].data);
    fflush(stdout);
    return in;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) return 2;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    int64_t *numbers = malloc(size + sizeof *numbers);
    size_t read = fread(numbers, 1, size, file);
    fclose(file);
    __asan_set_error_report_callback(on_report);
    for (const int64_t *at = numbers, *end = numbers + read / sizeof *numbers; at < end;) at = run(at);
    free(numbers);
    return 0;
}
