/* harness.c: runs emitted kernels over cases from a file, and writes down what became of every byte.
 *
 * In: argv[1], numbers as int64: for each case kernel, how `why` is passed (0: null), arrays, buffers; for each buffer
 * its size, whether it starts out of alignment by so many bytes, its bytes; for each array its buffer (-1: null data),
 * offset, rank, whether extents and strides are null, extents, strides.
 * Out: argv[2]: for each case the shape function's status, diagnostic and, for each array, what it said of its extents;
 * the call's status and diagnostic; the bytes of every buffer.
 * `cases.inc` (generated) defines run_kernel and MOST_ARRAYS. Every allocation has its exact size, so that a sanitizer
 * sees whatever lies beside it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 65

typedef struct {
    void *data;
    int64_t *extents;
    int64_t *byte_strides;
    int32_t rank;
} harness_array;

typedef struct {
    int64_t status, operand, dim, against, expected, actual;
} harness_outcome;

typedef struct {
    harness_outcome shape, call;
    int64_t extents[64][RANKS]; /* of each result: its rank, or -1 if the function did not say, and extents */
} harness_answer;

#include "cases.inc"

static FILE *input, *output;

static void fail(const char *what)
{
    fprintf(stderr, "harness: %s\n", what);
    exit(3);
}

static void read_bytes(void *into, size_t size)
{
    if (size > 0 && fread(into, 1, size, input) != size) fail("the input ends early");
}

static int64_t read_number(void)
{
    int64_t number;
    read_bytes(&number, sizeof number);
    return number;
}

static void write_bytes(const void *from, size_t size)
{
    if (size > 0 && fwrite(from, 1, size, output) != size) fail("cannot write");
}

static int64_t *read_numbers(int32_t count, int is_null)
{
    int64_t *numbers = malloc((size_t)(count > 0 ? count : 0) * sizeof *numbers);
    for (int32_t at = 0; at < count; at++) numbers[at] = read_number();
    if (!is_null) return numbers;
    free(numbers);
    return NULL;
}

static void run_case(void)
{
    const int64_t kernel = read_number(), told = read_number(), arrays = read_number(), buffers = read_number();
    char **memory = malloc((size_t)buffers * sizeof *memory);
    int64_t *sizes = malloc((size_t)buffers * sizeof *sizes), *odd = malloc((size_t)buffers * sizeof *odd);
    harness_array given[MOST_ARRAYS];
    static harness_answer got;
    memset(&got, 0, sizeof got);
    for (int64_t at = 0; at < buffers; at++) {
        sizes[at] = read_number();
        odd[at] = read_number();
        memory[at] = malloc((size_t)(sizes[at] + odd[at]));
        read_bytes(memory[at] + odd[at], (size_t)sizes[at]);
    }
    for (int64_t at = 0; at < arrays; at++) {
        const int64_t buffer = read_number(), offset = read_number();
        given[at].data = buffer < 0 ? NULL : memory[buffer] + odd[buffer] + offset;
        given[at].rank = (int32_t)read_number();
        const int64_t no_extents = read_number(), no_strides = read_number(), held = read_number();
        given[at].extents = read_numbers((int32_t)held, no_extents != 0);
        given[at].byte_strides = read_numbers((int32_t)held, no_strides != 0);
    }
    run_kernel(kernel, given, told != 0, &got);
    write_bytes(&got.shape, sizeof got.shape);
    write_bytes(got.extents, sizeof got.extents);
    write_bytes(&got.call, sizeof got.call);
    for (int64_t at = 0; at < buffers; at++) {
        write_bytes(memory[at] + odd[at], (size_t)sizes[at]);
        free(memory[at]);
    }
    for (int64_t at = 0; at < arrays; at++) {
        free(given[at].extents);
        free(given[at].byte_strides);
    }
    free(memory);
    free(sizes);
    free(odd);
}

int main(int count, char **arguments)
{
    if (count != 3) fail("pass the cases and where to write");
    input = fopen(arguments[1], "rb");
    output = fopen(arguments[2], "wb");
    if (input == NULL || output == NULL) fail("cannot open the files");
    for (int64_t left = read_number(); left > 0; left--) run_case();
    if (fclose(output) != 0) fail("cannot write");
    fclose(input);
    return 0;
}
