/* Runs guard codes: reads int64_t (numbers of codes, of operands and slots, then these), writes what guards_run said.
 *
 * A case: length of the code, code, operands, slots, the first slot's operand, then for each operand its rank and
 * extents. An answer: status, then why (5 numbers) or, for BCG_OK, the domain of each nest, rank and extents, and the slots.
 * All memory is of exactly the size that is meant to be used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guards.h"

static int64_t read_number(void)
{
    int64_t number;
    if (fread(&number, sizeof number, 1, stdin) != 1) exit(2);
    return number;
}

static int64_t *read_numbers(int64_t count)
{
    int64_t *numbers = malloc((size_t)count * sizeof *numbers);
    for (int64_t at = 0; at < count; at++) numbers[at] = read_number();
    return numbers;
}

static void write_number(int64_t number) { fwrite(&number, sizeof number, 1, stdout); }

static void answer(int32_t status, const bcg_diagnostic *why, const bcg_shape *domains, int64_t nests,
                   const int64_t *slot, int64_t slots)
{
    write_number(status);
    if (status != 0) {
        write_number(why->operand), write_number(why->dim), write_number(why->against);
        write_number(why->expected), write_number(why->actual);
    }
    for (int64_t nest = 0; status == 0 && nest < nests; nest++) {
        write_number(domains[nest].rank);
        for (int32_t dim = 0; dim < domains[nest].rank; dim++) write_number(domains[nest].extents[dim]);
    }
    for (int64_t at = 0; status == 0 && at < slots; at++) write_number(slot[at]);
}

static void run(void)
{
    int64_t *const code = read_numbers(read_number());
    const int64_t operands = read_number(), slots = read_number(), first = read_number();
    bcg_array *const arrays = malloc((size_t)operands * sizeof *arrays);
    int64_t *const slot = malloc((size_t)slots * sizeof *slot);
    for (int64_t at = 0; at < operands; at++) {
        const int64_t rank = read_number();
        int64_t *const extents = read_numbers(rank);
        arrays[at] = (bcg_array){.extents = extents, .rank = (int32_t)rank};
        if (at < first || at >= first + slots) continue;
        slot[at - first] = extents[0];
        arrays[at].extents = &slot[at - first];
        free(extents);
    }
    bcg_shape *const domains = malloc((size_t)guards_nests(code) * sizeof *domains);
    bcg_diagnostic why = {-1, -1, -1, 0, 0};
    answer(guards_run(code, arrays, slot, domains, &why), &why, domains, guards_nests(code), slot,
           slots);
    for (int64_t at = 0; at < operands; at++) {
        if (at < first || at >= first + slots) free((void *)(uintptr_t)arrays[at].extents);
    }
    free(domains), free(slot), free(arrays), free(code);
}

int main(void)
{
    for (int64_t count = read_number(); count > 0; count--) run();
    return 0;
}
