/* dispatch_kernel.h: what a kernel object holds, its signature and the table of its binaries, and the frame of a call.
 *
 * In: what bcastgen/runtime/base.py configures, compiled kernels. Out: the binary of a key, found again by memcmp; the
 * workspace a call needs, without a heap allocation for up to STACK_OPERANDS operands.
 */
#ifndef DISPATCH_KERNEL_H
#define DISPATCH_KERNEL_H

#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <string.h>

#include "run.h"

enum {
    CODES = 64,          /* dtype codes are below this, weak ones at or above it */
    STACK_OPERANDS = 16, /* calls with more operands, */
    STACK_RESULTS = 4,   /* or results, take their workspace from the heap */
    KEEP_GIL_NS = 10000, /* about; below, handing the GIL over costs more than it gives */
    SEEN_RANK = 4,       /* dims of a shape that a binary remembers, at most */
    ADDED = 4,           /* dtypes that packages add to NumPy */
};

/* What Python hands over once, in configure(): no list of dtypes stands in C. */
static struct {
    PyObject *scalar_codes; /* NumPy scalar type -> dtype code */
    PyObject *call_slow, *check_binary, *check_signature, *raise_limit, *raise_no_binary, *raise_status;
    PyObject *check_threads, *start;
    int32_t threads; /* that a call may take, where its kernel does not say; set by `start`, before the first */
    int started;
    PyArray_Descr *descrs[CODES];
    unsigned char type_codes[256]; /* NumPy type number -> dtype code, or UINT8_MAX */
    unsigned char weak_int, weak_uint, weak_float;
    int added_count; /* type numbers of dtypes that packages add to NumPy, as they are met; these are above 255 */
    int added_numbers[ADDED];
    unsigned char added_codes[ADDED];
} config;

typedef union {
    int64_t i;
    uint64_t u;
    double d;
    unsigned char bytes[8];
} scalar;

/* The values a Python int may have, in the weak operand's own storage type. */
typedef struct {
    scalar low, high;
} range;

/* The shape that the operands of the last flat call had (dispatch_flat.h): `shape` accepts it, and results have it. */
typedef struct {
    int32_t rank; /* -1: there was none */
    uint64_t still;
    int64_t elements, extents[SEEN_RANK];
} seen_shape;

/* One compiled kernel: the binary of one dtype tuple. */
typedef struct {
    const bcg_kernel *entry;
    double nanoseconds; /* about, that one element of the results takes */
    int is_plain;       /* all operands align with the results on the right, and no call is refused */
    seen_shape seen;
    int has_weak;       /* some operand is a Python number, whose value may be out of range */
    PyObject *limits; /* as given, for the message */
    PyObject *keepalive;
    PyArray_Descr **descrs; /* one an operand: the dtype object that arrays of its code have, as a rule; or null */
    range *ranges;          /* one an operand; this, key and result_codes point into storage */
    unsigned char *key, *result_codes, storage[];
} binary;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *weakrefs;
    PyObject *name, *operands, *results, *defaults;
    PyObject *constants; /* names of the operands after `operands`, whose defaults no call replaces */
    Py_ssize_t operand_count, result_count; /* constants are operands */
    Py_ssize_t key_length; /* a dtype code an operand and, where the kernel's maps depend on them, their ranks */
    binary **binaries; /* the most recently used one first */
    Py_ssize_t binary_count;
    int32_t threads; /* that a call may take; 0: what is set for all */
} kernel;

static binary *find(kernel *self, const unsigned char *key)
{
    for (Py_ssize_t k = 0; k < self->binary_count; k++) {
        binary *b = self->binaries[k];
        Py_ssize_t at = 0;
        while (at < self->key_length && b->key[at] == key[at]) at++;
        if (at < self->key_length) continue;
        if (k > 0) {
            memmove(self->binaries + 1, self->binaries, (size_t)k * sizeof *self->binaries);
            self->binaries[0] = b;
        }
        return b;
    }
    return NULL;
}

static void binary_free(binary *b)
{
    Py_XDECREF(b->limits);
    Py_XDECREF(b->keepalive);
    PyMem_Free(b);
}

/* Of an element of every nest: its maths, or moving its bytes where that takes longer. */
static double nanoseconds_of(const bcg_kernel *entry)
{
    double sum = 0;
    for (int32_t at = 0; at < entry->nests; at++) {
        const bcg_nest *const nest = &entry->nest[at];
        double maths = 0.1 * nest->cost, moving = 0;
        for (int32_t k = 0; k < nest->arrays; k++) moving += 0.06 * nest->bytes[k];
        sum += maths > moving ? maths : moving;
    }
    return sum;
}

static int is_plain(const bcg_kernel *entry)
{
    if (entry->admits != NULL || !entry->aligned) return 0;
    if (entry->operands > STACK_OPERANDS || entry->results > STACK_RESULTS) return 0;
    for (int32_t at = 0; at < entry->nests; at++) {
        const bcg_nest *const nest = &entry->nest[at];
        if (nest->arrays > STACK_OPERANDS + STACK_RESULTS) return 0;
        for (int32_t k = 0; nest->maps != NULL && k < nest->arrays; k++) {
            if (nest->maps[k] != NULL) return 0;
        }
    }
    return 1;
}

static binary *binary_new(const kernel *self, const bcg_kernel *entry, const char *key, const char *result_codes,
                          const char *ranges, PyObject *limits, PyObject *keepalive)
{
    const size_t n = (size_t)self->operand_count, m = (size_t)self->result_count, length = (size_t)self->key_length;
    binary *b = PyMem_Malloc(sizeof *b + n * (sizeof(range) + sizeof *b->descrs) + length + m);
    if (b == NULL) return (binary *)(void *)PyErr_NoMemory();
    b->entry = entry;
    b->nanoseconds = nanoseconds_of(entry);
    b->is_plain = is_plain(entry);
    b->seen.rank = -1;
    b->ranges = (range *)(void *)b->storage;
    b->descrs = (PyArray_Descr **)(void *)(b->ranges + n);
    b->key = (unsigned char *)(b->descrs + n);
    b->result_codes = b->key + length;
    memcpy(b->ranges, ranges, n * sizeof(range));
    memcpy(b->key, key, length);
    b->has_weak = 0;
    for (size_t i = 0; i < n; i++) {
        b->descrs[i] = b->key[i] < CODES ? config.descrs[b->key[i]] : NULL;
        b->has_weak |= b->key[i] >= CODES;
    }
    memcpy(b->result_codes, result_codes, m);
    b->limits = Py_NewRef(limits);
    b->keepalive = Py_NewRef(keepalive);
    return b;
}

static int binary_add(kernel *self, binary *b)
{
    binary **grown = PyMem_Realloc(self->binaries, (size_t)(self->binary_count + 1) * sizeof *grown);
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->binaries = grown;
    grown[self->binary_count++] = b;
    return 0;
}

/* One call. Pointers go to `stack`, or into `heap` where it is too small. Operands and outs are the caller's. */
typedef struct {
    kernel *self;
    PyObject *const *operands;
    binary *found;
    PyObject **bound;
    PyArrayObject **outs, **results; /* results are owned */
    bcg_array *arrays;               /* operands, then results */
    bcg_shape *shapes;
    scalar *scalars;
    unsigned char *key;
    int c_order; /* every array operand is C contiguous */
    int alike;   /* so far every operand is in C order and of the shape of `first`, or has no dims (a bit of `still`) */
    uint64_t still;
    const bcg_array *first;
    int64_t elements; /* of each result of a flat call, or -1 */
    int warm;    /* no result lies in fresh memory */
    void *heap;
    struct {
        PyObject *bound[STACK_OPERANDS];
        PyArrayObject *outs[STACK_RESULTS], *results[STACK_RESULTS];
        bcg_array arrays[STACK_OPERANDS + STACK_RESULTS];
        bcg_shape shapes[STACK_RESULTS];
        scalar scalars[STACK_OPERANDS];
        unsigned char key[2 * STACK_OPERANDS];
    } stack;
} frame;

static inline int frame_open(frame *f, kernel *self)
{
    const size_t n = (size_t)self->operand_count, m = (size_t)self->result_count;
    f->self = self;
    f->heap = NULL;
    f->alike = 0;
    f->first = NULL;
    if (n <= STACK_OPERANDS && m <= STACK_RESULTS) {
        f->bound = f->stack.bound;
        f->outs = f->stack.outs;
        f->results = f->stack.results;
        f->arrays = f->stack.arrays;
        f->shapes = f->stack.shapes;
        f->scalars = f->stack.scalars;
        f->key = f->stack.key;
    } else {
        /* Every member but the key is a multiple of 8 bytes, so each starts aligned. */
        char *at = PyMem_Malloc(n * (sizeof(PyObject *) + sizeof(bcg_array) + sizeof(scalar) + 2) +
                                m * (2 * sizeof(PyObject *) + sizeof(bcg_array) + sizeof(bcg_shape)));
        if (at == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        f->heap = at;
        f->shapes = (bcg_shape *)(void *)at, at += m * sizeof(bcg_shape);
        f->arrays = (bcg_array *)(void *)at, at += (n + m) * sizeof(bcg_array);
        f->scalars = (scalar *)(void *)at, at += n * sizeof(scalar);
        f->bound = (PyObject **)(void *)at, at += n * sizeof(PyObject *);
        f->outs = (PyArrayObject **)(void *)at, at += m * sizeof(PyObject *);
        f->results = (PyArrayObject **)(void *)at, at += m * sizeof(PyObject *);
        f->key = (unsigned char *)at;
    }
    for (size_t j = 0; j < m; j++) f->outs[j] = f->results[j] = NULL;
    return 0;
}

static inline void frame_close(frame *f)
{
    for (Py_ssize_t j = 0; j < f->self->result_count; j++) Py_XDECREF(f->results[j]);
    if (f->heap != NULL) PyMem_Free(f->heap);
}

#endif
