/* harness.c: runs emitted kernels over cases from a file, and writes down what became of every byte.
 *
 * In: argv[1], numbers as int64: for each case kernel, how `why` is passed (0: null), results, arrays, buffers; for each
 * buffer its size, whether it starts out of alignment by so many bytes, whether it is a result's alone, its bytes; for
 * each array its buffer (-1: null data), offset, size of an element, rank, whether extents and strides are null, extents,
 * strides.
 * Out: argv[2]: for each case the shape function's status, diagnostic and what it said of each result's extents; the
 * call's status, diagnostic and message; the bytes of every buffer. argv[3] (GUARDED) is the same, with memory to the left.
 *
 * `cases.inc` (generated) defines run_kernel and MOST_ARRAYS. Every allocation has its exact size, so that a sanitizer
 * sees whatever lies beside it. GUARDED: each stands between two pages that nobody may touch, and ends where the second
 * begins; in a second pass it begins where the first ends. MSan: what a result's memory holds counts as not written
 * before a call, and all its elements have to be written by it.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef GUARDED
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define UNWRITTEN(bytes, size) __msan_poison(bytes, size)
#define WRITTEN(bytes, size) __msan_unpoison(bytes, size)
#define EXPECT_WRITTEN(bytes, size) __msan_check_mem_is_initialized(bytes, size)
#endif
#endif
#ifndef UNWRITTEN
#define UNWRITTEN(bytes, size) ((void)(bytes), (void)(size))
#define WRITTEN(bytes, size) ((void)(bytes), (void)(size))
#define EXPECT_WRITTEN(bytes, size) ((void)(bytes), (void)(size))
#endif

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
    int64_t extents[64][RANKS]; /* of each result: its rank and extents */
    char message[256];          /* what is said of a refusal */
} harness_answer;

typedef struct {
    char *bytes, *region;
    size_t size, total;
} harness_memory;

/* Modules are part of this file, so that their loops may lie in functions of it, out of reach of their own pragmas. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#include "cases.inc"

static FILE *input, *output;
static int to_the_left;

static void fail(const char *what)
{
    fprintf(stderr, "harness: %s\n", what);
    exit(3);
}

static harness_memory hold(size_t size, size_t odd)
{
    harness_memory held = {NULL, NULL, size, 0};
#ifdef GUARDED
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + odd + page - 1) / page * page;
    held.total = room + 2 * page;
    void *const region = mmap(NULL, held.total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) fail("no memory");
    held.region = region;
    if (room > 0 && mprotect(held.region + page, room, PROT_READ | PROT_WRITE) != 0) fail("no guard pages");
    held.bytes = held.region + page + (to_the_left ? odd : room - size - odd);
#else
    held.region = malloc(size + odd);
    held.bytes = held.region + odd;
#endif
    return held;
}

static void release(harness_memory held)
{
#ifdef GUARDED
    munmap(held.region, held.total);
#else
    free(held.region);
#endif
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

static harness_memory read_numbers(int64_t count)
{
    const harness_memory held = hold((size_t)count * sizeof(int64_t), 0);
    read_bytes(held.bytes, held.size);
    return held;
}

static int is_empty(const harness_array *array)
{
    for (int32_t dim = 0; dim < array->rank; dim++) {
        if (array->extents[dim] == 0) return 1;
    }
    return 0;
}

/* Looks at every element of a result after a call that succeeded. */
static void expect_written(const harness_array *array, size_t bytes)
{
    int64_t index[RANKS] = {0};
    if (is_empty(array)) return;
    for (int32_t dim = array->rank; dim >= 0;) {
        const char *at = array->data;
        for (int32_t own = 0; own < array->rank; own++) at += index[own] > 0 ? index[own] * array->byte_strides[own] : 0;
        EXPECT_WRITTEN(at, bytes);
        for (dim = array->rank - 1; dim >= 0 && ++index[dim] == array->extents[dim]; dim--) index[dim] = 0;
    }
}

static void run_case(void)
{
    const int64_t kernel = read_number(), told = read_number(), results = read_number();
    const int64_t arrays = read_number(), buffers = read_number();
    harness_memory *const memory = malloc((size_t)buffers * sizeof *memory);
    harness_memory numbers[MOST_ARRAYS][2];
    harness_array given[MOST_ARRAYS];
    size_t bytes[MOST_ARRAYS];
    static harness_answer got;
    memset(&got, 0, sizeof got);
    for (int64_t at = 0; at < buffers; at++) {
        const int64_t size = read_number(), odd = read_number(), unwritten = read_number();
        memory[at] = hold((size_t)size, (size_t)odd);
        read_bytes(memory[at].bytes, memory[at].size);
        if (unwritten) UNWRITTEN(memory[at].bytes, memory[at].size);
    }
    for (int64_t at = 0; at < arrays; at++) {
        const int64_t buffer = read_number(), offset = read_number();
        given[at].data = buffer < 0 ? NULL : memory[buffer].bytes + offset;
        bytes[at] = (size_t)read_number();
        given[at].rank = (int32_t)read_number();
        const int64_t no_extents = read_number(), no_strides = read_number(), held = read_number();
        for (int part = 0; part < 2; part++) numbers[at][part] = read_numbers(held);
        given[at].extents = no_extents ? NULL : (int64_t *)(void *)numbers[at][0].bytes;
        given[at].byte_strides = no_strides ? NULL : (int64_t *)(void *)numbers[at][1].bytes;
    }
    run_kernel(kernel, given, told != 0, &got);
    for (int64_t at = arrays - results; at < arrays && got.call.status == 0; at++) expect_written(&given[at], bytes[at]);
    for (int64_t at = 0; at < buffers; at++) WRITTEN(memory[at].bytes, memory[at].size);
    write_bytes(&got.shape, sizeof got.shape);
    write_bytes(got.extents, (size_t)results * sizeof got.extents[0]);
    write_bytes(&got.call, sizeof got.call);
    write_bytes(got.message, sizeof got.message);
    for (int64_t at = 0; at < buffers; at++) {
        write_bytes(memory[at].bytes, memory[at].size);
        release(memory[at]);
    }
    for (int64_t at = 0; at < arrays; at++) {
        for (int part = 0; part < 2; part++) release(numbers[at][part]);
    }
    free(memory);
}

int main(int count, char **arguments)
{
    if (count < 3) fail("pass the cases and where to write");
    for (int pass = 2; pass < count; pass++) {
        to_the_left = pass == 3;
        input = fopen(arguments[1], "rb");
        output = fopen(arguments[pass], "wb");
        if (input == NULL || output == NULL) fail("cannot open the files");
        for (int64_t left = read_number(); left > 0; left--) run_case();
        if (fclose(output) != 0) fail("cannot write");
        fclose(input);
    }
    return 0;
}
