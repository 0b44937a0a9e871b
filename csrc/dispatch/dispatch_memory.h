/* dispatch_memory.h: memory for large results, which is kept when they are freed and given to the next ones.
 *
 * In: a size. Out: an ndarray that owns its memory as NumPy's own do: through a handler (PyDataMem_Handler), which it is
 * given when it is made. Memory that is used again costs no page faults: writing fresh pages takes
 * several times as long as writing warm ones.
 *
 * A buffer has a header of its own in front of its data, aligned to MEMORY_LINE. What is freed goes to the list
 * of its size class, while all that is kept is at most `bound` bytes; what has lain there for KEPT_NS is given back by
 * the next call that comes here, and all of it by memory_clear. Buffers may outlive the module.
 */
#ifndef DISPATCH_MEMORY_H
#define DISPATCH_MEMORY_H

#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#include <time.h>
#endif

enum {
    MEMORY_LINE = 64,
    MEMORY_STEPS = 8,        /* size classes between a power of two and the next: at most an eighth is not used */
    MEMORY_CLASSES = 64 * MEMORY_STEPS,
    MEMORY_SPARE = 4096,     /* bytes of a mapping that data may begin in */
    MEMORY_TRACED = 389047,  /* numpy.lib.tracemalloc_domain: what tracemalloc knows the data of arrays by */
};

#define MEMORY_LARGE ((size_t)256 << 10)   /* from here on page faults outweigh the handler's cost (1 us) */
#define MEMORY_HUGE ((size_t)4 << 20)      /* from here on huge pages are asked for */
#define MEMORY_PAGE ((size_t)2 << 20)      /* one of them */
#define MEMORY_KEPT_NS ((int64_t)5000000000)

typedef struct memory_block {
    size_t capacity; /* bytes of data there is room for */
    void *base;      /* what to give back */
    size_t mapped;   /* bytes of a mapping, or 0: it comes from malloc */
    struct memory_block *next, *previous; /* of its size class, the last freed first */
    struct memory_block *newer, *older;   /* of all that are kept */
    int64_t freed;
} memory_block;

_Static_assert(sizeof(memory_block) == MEMORY_LINE, "the header is a line");

static struct {
    PyObject *handler;
    size_t bound, kept, turn;
    memory_block *lists[MEMORY_CLASSES], *newest, *oldest;
#ifdef _WIN32
    SRWLOCK lock;
#else
    pthread_mutex_t lock;
#endif
} memory = {
#ifdef _WIN32
    .lock = SRWLOCK_INIT,
#else
    .lock = PTHREAD_MUTEX_INITIALIZER,
#endif
};

#ifdef _WIN32
static void memory_lock(void) { AcquireSRWLockExclusive(&memory.lock); }
static void memory_unlock(void) { ReleaseSRWLockExclusive(&memory.lock); }
static int64_t memory_now(void) { return (int64_t)GetTickCount64() * 1000000; }
#else
static void memory_lock(void) { pthread_mutex_lock(&memory.lock); }
static void memory_unlock(void) { pthread_mutex_unlock(&memory.lock); }

static int64_t memory_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

static memory_block *memory_header(void *data) { return (memory_block *)data - 1; }

/* ---- size classes ------------------------------------------------------------------------------------------------ */

/* The class of a size: its highest bit, and the MEMORY_STEPS steps from there to the next power; rounds the size up. */
static int memory_class(size_t *size)
{
    int power = 0;
    for (size_t rest = *size - 1; rest >= 2 * MEMORY_STEPS; rest >>= 1) power++;
    const size_t step = (size_t)1 << power, steps = (*size + step - 1) >> power;
    *size = steps << power;
    return power * MEMORY_STEPS + (int)(steps - MEMORY_STEPS);
}

/* ---- from the system and back ------------------------------------------------------------------------------------ */

static memory_block *memory_from_heap(size_t capacity)
{
    char *base = malloc(capacity + 2 * MEMORY_LINE);
    if (base == NULL) return NULL;
    const uintptr_t at = ((uintptr_t)base + MEMORY_LINE - 1) / MEMORY_LINE * MEMORY_LINE;
    memory_block *block = (memory_block *)at;
    *block = (memory_block){.capacity = capacity, .base = base};
    return block;
}

#ifdef __linux__
/* Where data begins in its page. A loop reads up to some lines ahead of where it writes; where these have the same
 * place in different pages, x86 takes them for the same (measured: 15 to 30% of an addition's time). Large arrays of
 * malloc begin at 16; so ours take other places, in turn. */
static size_t memory_place(size_t turn) { return 512 + 1024 * (turn % 4); }

/* Maps memory; from MEMORY_HUGE on at the boundary of a huge page, what is before and after given back at once. */
static memory_block *memory_from_system(size_t capacity, size_t turn)
{
    const size_t size = capacity + MEMORY_SPARE, spare = size >= MEMORY_HUGE ? MEMORY_PAGE : 0, page = 4096;
    const size_t wanted = (size + page - 1) / page * page;
    char *from = mmap(NULL, wanted + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED) return NULL;
    if (spare > 0) {
        char *base = (char *)(((uintptr_t)from + spare - 1) / spare * spare);
        const size_t before = (size_t)(base - from), after = spare - before;
        if (before > 0) munmap(from, before);
        if (after > 0) munmap(base + wanted, after);
        madvise(base, wanted, MADV_HUGEPAGE);
        from = base;
    }
    memory_block *block = (memory_block *)(void *)(from + memory_place(turn)) - 1;
    *block = (memory_block){.capacity = capacity, .base = from, .mapped = wanted};
    return block;
}
#else
static memory_block *memory_from_system(size_t capacity, size_t turn)
{
    (void)turn;
    return memory_from_heap(capacity);
}
#endif

static void memory_give_back(memory_block *block)
{
#ifdef __linux__
    if (block->mapped > 0) {
        munmap(block->base, block->mapped);
        return;
    }
#endif
    free(block->base);
}

/* ---- the lists of what is kept; with the lock -------------------------------------------------------------------- */

static memory_block **memory_list(const memory_block *block)
{
    size_t size = block->capacity + MEMORY_SPARE;
    return &memory.lists[memory_class(&size)];
}

static void memory_keep(memory_block *block)
{
    memory_block **list = memory_list(block);
    block->freed = memory_now();
    block->next = *list, block->previous = NULL;
    if (*list != NULL) (*list)->previous = block;
    *list = block;
    block->older = memory.newest, block->newer = NULL;
    if (memory.newest != NULL) memory.newest->newer = block;
    else memory.oldest = block;
    memory.newest = block;
    memory.kept += block->capacity;
}

static void memory_take(memory_block *block)
{
    if (block->previous != NULL) block->previous->next = block->next;
    else *memory_list(block) = block->next;
    if (block->next != NULL) block->next->previous = block->previous;
    if (block->newer != NULL) block->newer->older = block->older;
    else memory.newest = block->older;
    if (block->older != NULL) block->older->newer = block->newer;
    else memory.oldest = block->newer;
    memory.kept -= block->capacity;
}

/* Gives back the oldest ones until `most` bytes are left, and what was freed before `before`. */
static void memory_trim(size_t most, int64_t before)
{
    while (memory.oldest != NULL && (memory.kept > most || memory.oldest->freed < before)) {
        memory_block *block = memory.oldest;
        memory_take(block);
        memory_give_back(block);
    }
}

/* ---- NumPy's handler --------------------------------------------------------------------------------------------- */

static memory_block *memory_get(size_t size, int *reused)
{
    *reused = 0;
    if (size < MEMORY_LARGE) return memory_from_heap(size);
    if (size > PTRDIFF_MAX / 2) return NULL;
    size += MEMORY_SPARE;
    memory_block **list = &memory.lists[memory_class(&size)];
    memory_lock();
    memory_block *block = *list;
    if (block != NULL) memory_take(block);
    memory_trim(memory.bound, memory_now() - MEMORY_KEPT_NS);
    const size_t turn = memory.turn++;
    memory_unlock();
    *reused = block != NULL;
    return block != NULL ? block : memory_from_system(size - MEMORY_SPARE, turn);
}

static void *memory_malloc(void *context, size_t size)
{
    (void)context;
    int reused;
    memory_block *block = memory_get(size, &reused);
    return block == NULL ? NULL : block + 1;
}

static void memory_free(void *context, void *data, size_t size)
{
    (void)context, (void)size;
    if (data == NULL) return;
    memory_block *block = memory_header(data);
    if (block->capacity < MEMORY_LARGE || block->capacity > memory.bound) {
        memory_give_back(block);
        return;
    }
    memory_lock();
    memory_keep(block);
    memory_trim(memory.bound, block->freed - MEMORY_KEPT_NS);
    memory_unlock();
}

static void *memory_calloc(void *context, size_t count, size_t size)
{
    (void)context;
    int reused;
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    memory_block *block = memory_get(count * size, &reused);
    if (block == NULL) return NULL;
    if (reused || block->mapped == 0) memset(block + 1, 0, count * size);
    return block + 1;
}

static void *memory_realloc(void *context, void *data, size_t size)
{
    if (data == NULL) return memory_malloc(context, size);
    memory_block *block = memory_header(data);
    if (size <= block->capacity && size >= block->capacity / 2) return data;
    void *moved = memory_malloc(context, size);
    if (moved == NULL) return NULL;
    memcpy(moved, data, size < block->capacity ? size : block->capacity);
    memory_free(context, data, block->capacity);
    return moved;
}

static PyDataMem_Handler memory_handler = {
    "bcastgen", 1, {NULL, memory_malloc, memory_calloc, memory_realloc, memory_free}};

/* ---- what the rest of the extension asks ------------------------------------------------------------------------- */

#ifndef _WIN32
static void memory_unlock_in_child(void) { memory_unlock(); }
#endif

static int memory_init(void)
{
    memory.handler = PyCapsule_New(&memory_handler, "mem_handler", NULL);
#ifndef _WIN32
    pthread_atfork(memory_lock, memory_unlock, memory_unlock_in_child);
#endif
    return memory.handler == NULL ? -1 : 0;
}

/* The most bytes to keep; 0 turns the handler off. */
static void memory_set_bound(size_t bound)
{
    memory_lock();
    memory.bound = bound;
    memory_trim(bound, INT64_MIN);
    memory_unlock();
}

static size_t memory_clear(void)
{
    memory_lock();
    const size_t kept = memory.kept;
    memory_trim(0, INT64_MIN);
    memory_unlock();
    return kept;
}

/* Whether the program has put no handler of its own in place: that would stay. */
static int memory_is_wanted(size_t size)
{
    if (size < MEMORY_LARGE || memory.bound == 0) return 0;
    PyObject *const current = PyDataMem_GetHandler();
    if (current == NULL) PyErr_Clear();
    Py_XDECREF(current);
    return current == PyDataMem_DefaultHandler;
}

/* Gives an array that was made around a block's data what it would have if NumPy had asked the handler for them. */
static void memory_own(PyArrayObject *array, memory_block *block)
{
    ((PyArrayObject_fields *)array)->mem_handler = Py_NewRef(memory.handler);
    PyArray_ENABLEFLAGS(array, NPY_ARRAY_OWNDATA);
    PyArray_UpdateFlags(array, NPY_ARRAY_UPDATE_ALL);
    (void)PyTraceMalloc_Track(MEMORY_TRACED, (uintptr_t)(block + 1), (size_t)PyArray_NBYTES(array));
}

/* PyArray_NewFromDescr for a result of `size` bytes, which steals `descr`. `warm`: its memory was written before. No
 * Python code runs in it: PyDataMem_SetHandler would make containers, and with them, before Python 3.12, collections
 * that run finalisers, which may free what a call knows of its operands. So the handler is not switched in but given to
 * the array. */
static PyArrayObject *memory_new_array(PyArray_Descr *descr, int rank, const npy_intp *extents, const npy_intp *strides,
                                       size_t size, int *warm)
{
    memory_block *const block = memory_is_wanted(size) ? memory_get(size, warm) : NULL;
    if (block == NULL) {
        *warm = 0;
        return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, rank, extents, strides, NULL, 0, NULL);
    }
    PyObject *const made =
        PyArray_NewFromDescr(&PyArray_Type, descr, rank, extents, strides, block + 1, NPY_ARRAY_DEFAULT, NULL);
    if (made == NULL) memory_give_back(block);
    else memory_own((PyArrayObject *)made, block);
    return (PyArrayObject *)made;
}

#endif
