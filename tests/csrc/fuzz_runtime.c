/* fuzz_runtime.c: the plan of a call, its loops and tiles, copies, and checks of memory, against what is obvious.
 *
 * libFuzzer hands over bytes, which say what is done: extents, strides, widths, costs. Memory has exactly the size that
 * is used, so that AddressSanitizer sees each byte beyond. A difference aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"

/* So small that copies are made, and do not fit, and results are streamed, in domains of the size that is tried here. */
#define RUN_EXPANDED_BYTES 2048
#define RUN_EXPANDED_POINTS 64
#define RUN_STREAMED_BYTES 256
#define RUN_STREAMED_READS 0
#define RUN_STREAMS (cpu_streams() || 1)
#include "run.c"

#include "bcg_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds) \
    do { \
        if (!(holds)) { fprintf(stderr, "line %d: not so: %s\n", __LINE__, #holds); abort(); } \
    } while (0)

/* ---- numbers from bytes ------------------------------------------------------------------------------------------ */

static const uint8_t *left, *end;

/* A number from 0 to most. */
static int64_t number(int64_t most)
{
    uint64_t value = 0;
    for (int64_t reach = 0; reach < most && left < end; reach = reach * 256 + 255) value = value << 8 | *left++;
    return (int64_t)(value % ((uint64_t)most + 1));
}

static int64_t between(int64_t least, int64_t most) { return least + number(most - least); }

static int chance(void) { return (int)number(1); }

static void *memory(int64_t bytes)
{
    void *const at = malloc(bytes > 0 ? (size_t)bytes : 1);
    CHECK(at != NULL);
    return at;
}

static void fill(char *at, int64_t bytes, uint64_t seed)
{
    for (int64_t k = 0; k < bytes; k++) at[k] = (char)((seed + (uint64_t)k) * UINT64_C(0x9E3779B97F4A7C15) >> 56);
}

enum { MOST_DIMS = 6 };

/* The next point of a box in C order; 0 after the last one. */
static int step_on(int32_t rank, const int64_t *extents, int64_t *index)
{
    for (int32_t dim = rank - 1; dim >= 0; dim--) {
        if (++index[dim] < extents[dim]) return 1;
        index[dim] = 0;
    }
    return 0;
}

/* ---- the odometer ------------------------------------------------------------------------------------------------ */

/* A sum over points of what each one's addresses hash to: it does not depend on their order. */
static uint64_t hash(const int64_t *offsets, int32_t arrays)
{
    uint64_t h = 1;
    for (int32_t k = 0; k < arrays; k++) h = (h ^ (uint64_t)offsets[k]) * UINT64_C(0x9E3779B97F4A7C15), h ^= h >> 29;
    return h;
}

static void try_odometer(void)
{
    const int32_t rank = (int32_t)number(MOST_DIMS), arrays = (int32_t)between(1, 4), key = (int32_t)number(arrays - 1);
    int64_t extents[MOST_DIMS + 1], steps[(MOST_DIMS + 1) * 4], index[MOST_DIMS + 1] = {0}, offsets[4];
    for (int32_t dim = 0; dim < rank; dim++) {
        extents[dim] = between(1, 6);
        for (int32_t k = 0; k < arrays; k++) steps[dim * arrays + k] = between(-24, 24);
        /* Dims that one another continue are joined; chance does not often make such. */
        if (dim > 0 && chance())
            for (int32_t k = 0; k < arrays; k++)
                steps[(dim - 1) * arrays + k] = extents[dim] * steps[dim * arrays + k];
    }
    uint64_t before = 0, after = 0;
    int64_t points = 0, walked = 0;
    do {
        for (int32_t k = 0; k < arrays; k++) {
            offsets[k] = 0;
            for (int32_t dim = 0; dim < rank; dim++) offsets[k] += index[dim] * steps[dim * arrays + k];
        }
        before += hash(offsets, arrays), points++;
    } while (step_on(rank, extents, index));
    const int32_t planned = bcg_plan(rank, extents, steps, arrays, key);
    CHECK(planned >= 1 && planned <= (rank > 1 ? rank : 1));
    char base[1], *at[4];
    for (int32_t k = 0; k < arrays; k++) at[k] = base;
    memset(index, 0, sizeof index);
    do {
        for (int32_t k = 0; k < arrays; k++) offsets[k] = (int64_t)((uintptr_t)at[k] - (uintptr_t)base);
        after += hash(offsets, arrays), walked++;
    } while (bcg_next(planned, extents, steps, arrays, index, at));
    CHECK(points == walked && before == after);
    for (int32_t k = 0; k < arrays; k++) CHECK(at[k] == base);
    for (int32_t dim = 0; dim < planned; dim++) CHECK(planned == 1 || extents[dim] > 1);
    for (int32_t dim = 1; dim < planned; dim++)
        CHECK(bcg_magnitude(steps[(dim - 1) * arrays + key]) >= bcg_magnitude(steps[dim * arrays + key]));
}

/* ---- checks of memory -------------------------------------------------------------------------------------------- */

enum { SPACE = 1 << 14 };

typedef struct {
    bcg_array array;
    int64_t extents[MOST_DIMS], strides[MOST_DIMS];
    int32_t bytes;
} placed;

static void place(placed *p, int32_t most)
{
    p->bytes = 1 << number(4);
    p->array = (bcg_array){NULL, p->extents, p->strides, (int32_t)number(most)};
    for (int32_t dim = 0; dim < p->array.rank; dim++) {
        p->extents[dim] = between(1, 5);
        p->strides[dim] = between(-20, 20) * p->bytes;
    }
    p->array.data = (void *)(uintptr_t)((SPACE + number(80)) / p->bytes * p->bytes);
}

/* Counts how often each byte is touched; returns whether one is touched twice. */
static int touch(const placed *p, uint8_t *space, uint8_t with)
{
    int64_t index[MOST_DIMS] = {0};
    int twice = 0;
    do {
        int64_t at = (int64_t)(uintptr_t)p->array.data;
        for (int32_t dim = 0; dim < p->array.rank; dim++) at += index[dim] * p->strides[dim];
        for (int32_t k = 0; k < p->bytes; k++) {
            CHECK(at + k >= 0 && at + k < 2 * SPACE);
            twice |= (space[at + k] & with) != 0;
            space[at + k] |= with;
        }
    } while (step_on(p->array.rank, p->extents, index));
    return twice;
}

static void try_checks(void)
{
    static uint8_t space[2 * SPACE];
    placed x, y;
    bcg_diagnostic why;
    place(&x, 3), place(&y, 3);
    CHECK(bcg_check_data(&x.array, 0, x.bytes, &why) == BCG_OK);
    memset(space, 0, sizeof space);
    const int repeats = touch(&x, space, 1);
    touch(&y, space, 2);
    if (bcg_check_distinct(&x.array, 0, x.bytes, &why) == BCG_OK) CHECK(!repeats);
    int shared = 0;
    for (int32_t k = 0; k < 2 * SPACE; k++) shared |= space[k] == 3;
    if (bcg_apart(&x.array, x.bytes, &y.array, y.bytes)) CHECK(!shared);
    CHECK(bcg_apart(&x.array, x.bytes, &y.array, y.bytes) == bcg_apart(&y.array, y.bytes, &x.array, x.bytes));
    if (bcg_same(&x.array, &y.array) && x.bytes == y.bytes) CHECK(shared);
    /* Numbers of any size: a check that accepts them lets no address wrap. */
    const int64_t large[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, -1, 1, INT64_C(1) << 32, INT64_MAX - 7};
    for (int32_t dim = 0; dim < x.array.rank; dim++) {
        if (chance()) x.strides[dim] = large[number(6)] & ~((int64_t)x.bytes - 1);
        if (chance()) x.extents[dim] = bcg_magnitude(large[number(6)]) > INT64_MAX ? 2 : (int64_t)bcg_magnitude(large[number(6)]);
        if (x.extents[dim] < 1) x.extents[dim] = 1;
    }
    if (bcg_check_data(&x.array, 0, x.bytes, &why) != BCG_OK) return;
    __int128 reach = x.bytes;
    for (int32_t dim = 0; dim < x.array.rank; dim++)
        if (x.extents[dim] > 1)
            reach += ((__int128)x.extents[dim] - 1) * (x.strides[dim] < 0 ? -(__int128)x.strides[dim] : x.strides[dim]);
    CHECK(reach <= PTRDIFF_MAX);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* The bytes before an array's first element, and in all. */
static int64_t span(int32_t rank, const int64_t *extents, const int64_t *steps, int64_t bytes, int64_t *before)
{
    int64_t after = bytes;
    *before = 0;
    for (int32_t dim = 0; dim < rank; dim++) {
        const int64_t reach = (extents[dim] - 1) * steps[dim];
        if (reach < 0) *before -= reach;
        else after += reach;
    }
    return *before + after;
}

static void try_copies(void)
{
    const int32_t bytes = 1 << number(4), kind = (int32_t)number(2);
    const int64_t rows = between(1, chance() ? 9 : 70), n = between(1, chance() ? 9 : 140);
    int64_t extents[MOST_DIMS] = {rows, n}, steps[MOST_DIMS], before;
    int32_t dims = 2;
    if (kind == 2) {
        dims = (int32_t)between(1, 4);
        for (int32_t dim = 0; dim < dims; dim++) extents[dim] = between(1, dim == 0 ? 40 : 6);
    }
    for (int32_t dim = 0; dim < dims; dim++) steps[dim] = between(-12, 12) * bytes;
    if (kind == 1 && chance()) steps[0] = bytes, steps[1] = rows * bytes;
    else if (kind == 1) steps[1] = between(1, 3) * bytes, steps[0] = (chance() ? 1 : -1) * (n * steps[1] + number(3) * bytes);
    if (kind == 0 && chance()) steps[0] = bytes * (chance() ? 1 : -1), steps[1] = bytes * between(1, 300);
    const int64_t pitch = (n + number(5)) * bytes, size = span(dims, extents, steps, bytes, &before);
    int64_t count = 1;
    for (int32_t dim = 0; dim < dims; dim++) count *= extents[dim];
    if (kind == 2) count = between(1, count);
    char *const array = memory(size);
    const int64_t tile_bytes = kind == 2 ? count * bytes : (rows - 1) * pitch + n * bytes;
    char *const whole = aligned_alloc(64, (size_t)(tile_bytes + 63) / 64 * 64 + 64);
    char *const tile = whole, *const wanted = memory(kind == 1 ? size : tile_bytes);
    fill(array, size, 1), fill(tile, tile_bytes, 7);
    memcpy(wanted, kind == 1 ? array : tile, (size_t)(kind == 1 ? size : tile_bytes));
    int64_t index[MOST_DIMS] = {0}, done = 0;
    do {
        int64_t at = before;
        for (int32_t dim = 0; dim < dims; dim++) at += index[dim] * steps[dim];
        const int64_t in_tile = kind == 2 ? done * bytes : index[0] * pitch + index[1] * bytes;
        if (kind == 1) memcpy(wanted + at, tile + in_tile, (size_t)bytes);
        else memcpy(wanted + in_tile, array + at, (size_t)bytes);
        done++;
    } while (step_on(dims, extents, index) && (kind != 2 || done < count));
    bcg_copy copy;
    if (kind == 0) {
        bcg_plan_pack(&copy, pitch, steps[0], steps[1], rows, n, bytes);
        copy.form(&copy, tile, array + before);
    } else if (kind == 1) {
        bcg_plan_unpack(&copy, steps[0], steps[1], pitch, rows, n, bytes);
        copy.form(&copy, array + before, tile);
    } else if (bcg_plan_box(&copy, dims, extents, steps, count, bytes) && chance()) {
        copy.form(&copy, tile, array + before);
    } else {
        bcg_pack_box(tile, array + before, dims, extents, steps, count, bytes);
    }
    CHECK(memcmp(kind == 1 ? array : tile, wanted, (size_t)(kind == 1 ? size : tile_bytes)) == 0);
    free(array), free(whole), free(wanted);
}

/* ---- a whole call ------------------------------------------------------------------------------------------------ */

static int32_t width; /* of all elements of the call */

static uint64_t load(const char *at)
{
    uint64_t value = 0;
    memcpy(&value, at, (size_t)width);
    return value;
}

static void store(char *at, uint64_t value) { memcpy(at, &value, (size_t)width); }

static void loop(char *const *at, const int64_t *steps, int64_t rows, int64_t n, int a_moves, int b_moves, uint64_t times)
{
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t j = 0; j < n; j++) {
            const int64_t a_at = row * steps[0] + (a_moves ? j * width : 0), b_at = row * steps[1] + (b_moves ? j * width : 0);
            const uint64_t a = times * load(at[0] + a_at), b = load(at[1] + b_at);
            store(at[2] + row * steps[2] + j * width, a + b);
            store(at[3] + row * steps[3] + j * width, a ^ (b << 1));
        }
    }
}

#define LOOP(name, a, b, times) \
    static void name(char *const *at, const int64_t *steps, int64_t rows, int64_t n) { loop(at, steps, rows, n, a, b, times); }
LOOP(both_move, 1, 1, 3)
LOOP(a_rests, 0, 1, 3)
LOOP(b_rests, 1, 0, 3)
LOOP(both_rest, 0, 0, 3)
LOOP(staged_both, 1, 1, 1)
LOOP(staged_a, 0, 1, 1)
LOOP(staged_b, 1, 0, 1)

static void three_times(char *const *at, const int64_t *steps, int64_t rows, int64_t n)
{
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < n; j++)
            store(at[1] + row * steps[1] + j * width, 3 * load(at[0] + row * steps[0] + j * width));
}

static void try_call(void)
{
    static const bcg_variant variants[] = {{0, both_move}, {1, a_rests}, {2, b_rests}, {3, both_rest}};
    static const bcg_variant staged_variants[] = {{0, staged_both}, {1, staged_a}, {2, staged_b}};
    static const int32_t positions[] = {0, 1, 2, 3}, first[] = {0}, staged_reads[] = {4, 1};
    width = 1 << number(3);
    const int32_t bytes[] = {width, width, width, width};
    /* Operands that are small along other dims each, in several dims with short rows. */
    const int mixed = chance();
    const int32_t rank = (int32_t)(mixed ? between(4, 5) : number(5));
    int64_t domain_extents[MOST_DIMS];
    int64_t points = 1;
    for (int32_t dim = 0; dim < rank; dim++) {
        const int64_t room = 6000 / points;
        domain_extents[dim] = mixed ? between(2, 6) : between(1, chance() ? 4 : room < 1 ? 1 : room < 300 ? room : 300);
        if (domain_extents[dim] > room) domain_extents[dim] = 1;
        points *= domain_extents[dim];
    }
    bcg_array arrays[4];
    int64_t extents[4][MOST_DIMS], strides[4][MOST_DIMS], before[4], sizes[4];
    char *begins[4];
    for (int32_t k = 0; k < 4; k++) {
        const int32_t own = k < 2 && !mixed ? (int32_t)number(rank) : rank;
        arrays[k] = (bcg_array){NULL, extents[k], strides[k], own};
        int32_t order[MOST_DIMS];
        for (int32_t dim = 0; dim < own; dim++) order[dim] = dim;
        for (int32_t dim = own - 1; dim > 0 && !mixed; dim--) {
            const int32_t other = chance() ? dim : (int32_t)number(dim), kept = order[dim];
            order[dim] = order[other], order[other] = kept;
        }
        int64_t next = width * (mixed || chance() ? 1 : between(1, 3));
        for (int32_t at = own - 1; at >= 0; at--) {
            const int32_t dim = order[at];
            extents[k][dim] = domain_extents[rank - own + dim];
            strides[k][dim] = next * (number(3) == 0 ? -1 : 1);
            if (k < 2 && number(mixed ? 1 : 2) == 0) extents[k][dim] = 1;
            else if (k < 2 && number(5) == 0) strides[k][dim] = width * between(-3, 3);
            else next = (next * extents[k][dim] + (!mixed && number(3) == 0 ? width * number(2) : 0));
        }
        sizes[k] = span(own, extents[k], strides[k], width, &before[k]);
        begins[k] = memory(sizes[k]);
        fill(begins[k], sizes[k], (uint64_t)k << 20);
        arrays[k].data = begins[k] + before[k];
    }
    char *const wanted[] = {memory(sizes[2]), memory(sizes[3])};
    for (int32_t j = 0; j < 2; j++) memcpy(wanted[j], begins[2 + j], (size_t)sizes[2 + j]);
    int64_t index[MOST_DIMS] = {0};
    do {
        int64_t at[4];
        for (int32_t k = 0; k < 4; k++) {
            at[k] = before[k];
            for (int32_t dim = 0; dim < arrays[k].rank; dim++)
                if (extents[k][dim] != 1) at[k] += index[rank - arrays[k].rank + dim] * strides[k][dim];
        }
        const uint64_t a = 3 * load(begins[0] + at[0]), b = load(begins[1] + at[1]);
        store(wanted[0] + at[2], a + b), store(wanted[1] + at[3], a ^ (b << 1));
    } while (step_on(rank, domain_extents, index));
    const bcg_stage stage = {three_times, 1, first, width, (int32_t)number(2000)};
    const bcg_nest nest = {
        .arrays = 4, .operands = 2, .positions = positions, .bytes = bytes, .cost = (int32_t)number(chance() ? 20 : 200000),
        .variants = (int32_t)between(1, 4), .variant = variants, .stages = chance(), .stage = &stage, .staged_count = 2,
        .staged_reads = staged_reads, .staged_cost = (int32_t)number(50), .staged_variants = (int32_t)between(1, 3),
        .staged_variant = staged_variants};
    const bcg_kernel kernel = {.abi_version = BCG_ABI_VERSION, .operands = 2, .results = 2, .aligned = 1, .nests = 1, .nest = &nest};
    const bcg_run_options options = {.threads = number(7) == 0 ? 2 : 1, .warm = chance()};
    bcg_diagnostic why;
    CHECK(bcg_run(&kernel, arrays, arrays + 2, &options, &why) == BCG_OK);
    for (int32_t j = 0; j < 2; j++) CHECK(memcmp(begins[2 + j], wanted[j], (size_t)sizes[2 + j]) == 0);
    for (int32_t k = 0; k < 4; k++) free(begins[k]);
    free(wanted[0]), free(wanted[1]);
}

/* ---- where threads cut ------------------------------------------------------------------------------------------- */

/* The first dim that is long enough for all parts, or else the first of the longest ones. */
static void try_cuts(void)
{
    const int32_t rank = (int32_t)between(1, MOST_DIMS);
    const int64_t parts = between(1, 64);
    int64_t *const extents = memory(rank * (int64_t)sizeof *extents);
    int32_t wanted = -1, longest = 0;
    for (int32_t dim = 0; dim < rank; dim++) extents[dim] = between(1, 300);
    for (int32_t dim = rank - 1; dim >= 0; dim--) {
        if (extents[dim] >= extents[longest]) longest = dim;
        if (extents[dim] / 4 >= parts) wanted = dim;
    }
    const domain d = {.rank = rank, .extents = extents};
    CHECK(run_dim_to_cut(&d, parts) == (wanted >= 0 ? wanted : longest));
    free(extents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    left = data, end = data + size;
    switch (number(4)) {
        case 4: try_cuts(); break;
        case 0: try_odometer(); break;
        case 1: try_checks(); break;
        case 2: try_copies(); break;
        default: try_call(); break;
    }
    return 0;
}
