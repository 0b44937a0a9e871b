/* dispatch_call.h: one call, from its arguments to its results.
 *
 * In: a kernel and arguments. Out: READY with the results in the frame; SLOW, where bcastgen/runtime/slow_path.py must make
 * the arguments clean first; FAILED with an exception set. Stages, in order: bind, resolve (describe the operands, find
 * the binary of their dtypes), infer the results' shapes, provide the results, run, deliver.
 */
#ifndef DISPATCH_CALL_H
#define DISPATCH_CALL_H

#include "dispatch_flat.h"
#include "dispatch_kernel.h"
#include "dispatch_layout.h"
#include "dispatch_memory.h"

enum {
#define BCG_STATUS(name, value, sentence) BCG_##name = value,
#include "bcg_status.def"
#undef BCG_STATUS
};

typedef enum { READY, SLOW, FAILED } verdict;

static PyObject *str_out;

/* ---- bind: arguments to operands --------------------------------------------------------------------------------- */

static int same_name(PyObject *x, PyObject *y) { return x == y || PyUnicode_Compare(x, y) == 0; }

/* out=: one ndarray, or a tuple of ndarray and None for several results. */
static verdict take_out(frame *f, PyObject *out)
{
    const Py_ssize_t m = f->self->result_count;
    if (out == Py_None) return READY;
    if (m == 1 && PyArray_CheckExact(out)) {
        f->outs[0] = (PyArrayObject *)out;
        return READY;
    }
    if (!PyTuple_CheckExact(out) || PyTuple_GET_SIZE(out) != m) return SLOW;
    for (Py_ssize_t j = 0; j < m; j++) {
        PyObject *item = PyTuple_GET_ITEM(out, j);
        if (item == Py_None) continue;
        if (!PyArray_CheckExact(item)) return SLOW;
        f->outs[j] = (PyArrayObject *)item;
    }
    return READY;
}

static verdict take_named(frame *f, PyObject *name, PyObject *value)
{
    if (same_name(name, str_out)) return take_out(f, value);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(f->self->operands); i++) {
        if (!same_name(name, PyTuple_GET_ITEM(f->self->operands, i))) continue;
        if (f->bound[i] != NULL) return SLOW;
        f->bound[i] = value;
        return READY;
    }
    return SLOW;
}

/* Binds a call that is right; what is wrong with another one is the slow path's to say. */
static verdict bind(frame *f, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const kernel *self = f->self;
    const Py_ssize_t n = self->operand_count, named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (count > PyTuple_GET_SIZE(self->operands)) return SLOW;
    f->operands = args;
    if (count == n) {
        if (named == 0) return READY;
        if (named == 1 && same_name(PyTuple_GET_ITEM(names, 0), str_out)) return take_out(f, args[count]);
    }
    for (Py_ssize_t i = 0; i < n; i++) f->bound[i] = i < count ? args[i] : NULL;
    for (Py_ssize_t i = 0; i < named; i++) {
        const verdict v = take_named(f, PyTuple_GET_ITEM(names, i), args[count + i]);
        if (v != READY) return v;
    }
    const Py_ssize_t required = n - PyTuple_GET_SIZE(self->defaults);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (f->bound[i] != NULL) continue;
        if (i < required) return SLOW;
        f->bound[i] = PyTuple_GET_ITEM(self->defaults, i - required);
    }
    f->operands = f->bound;
    return READY;
}

/* ---- resolve: operands to arrays, dtypes to a binary ------------------------------------------------------------- */

static unsigned char array_code(PyArrayObject *array)
{
    const int number = PyArray_TYPE(array);
    if (number >= 0 && number <= UINT8_MAX) return config.type_codes[number];
    for (int k = 0; k < config.added_count; k++) {
        if (config.added_numbers[k] == number) return config.added_codes[k];
    }
    return UINT8_MAX;
}

static void describe_array(bcg_array *into, PyArrayObject *array)
{
    into->data = PyArray_DATA(array);
    into->extents = (const int64_t *)PyArray_DIMS(array);
    into->byte_strides = (const int64_t *)PyArray_STRIDES(array);
    into->rank = (int32_t)PyArray_NDIM(array);
}

static verdict describe_int(PyObject *value, scalar *storage, unsigned char *code)
{
    int overflow;
    storage->i = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
        *code = config.weak_int;
        return READY;
    }
    storage->u = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : UINT64_MAX;
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        return SLOW;
    }
    *code = config.weak_uint;
    return READY;
}

static verdict describe_scalar(PyObject *value, scalar *storage, unsigned char *code)
{
    if (PyFloat_CheckExact(value)) {
        storage->d = PyFloat_AS_DOUBLE(value);
        *code = config.weak_float;
        return READY;
    }
    if (PyLong_CheckExact(value)) return describe_int(value, storage, code);
    if (PyBool_Check(value)) {
        storage->bytes[0] = value == Py_True;
        *code = config.type_codes[NPY_BOOL];
        return READY;
    }
    /* Exact types only: a subclass of a NumPy scalar type is not in the table and may mean anything. A type of another
     * metaclass may hash and compare like one of the table, in Python code. */
    if (!Py_IS_TYPE((PyObject *)Py_TYPE(value), &PyType_Type)) return SLOW;
    PyObject *known = PyDict_GetItemWithError(config.scalar_codes, (PyObject *)Py_TYPE(value));
    if (known == NULL) return PyErr_Occurred() ? FAILED : SLOW;
    *code = (unsigned char)PyLong_AsLong(known);
    PyArray_ScalarAsCtype(value, storage);
    if (PyTypeNum_ISUSERDEF(config.descrs[*code]->type_num)) {
        /* Of what a package has added, NumPy gives the address. */
        const void *at;
        memcpy(&at, storage, sizeof at);
        memcpy(storage, at, (size_t)PyDataType_ELSIZE(config.descrs[*code]));
    }
    return READY;
}

/* What arrays lend until the call ends, or until detach(): extents, strides and data. No Python code may run meanwhile,
 * which could assign `a.shape`: no container is allocated (before 3.12 that may collect garbage, and run finalisers),
 * nothing is compared or hashed but by identity, and no reference is given up that may be the last. */
static verdict describe(frame *f)
{
    static const int64_t no_dims[1];
    unsigned char *const ranks = f->self->key_length > f->self->operand_count ? f->key + f->self->operand_count : NULL;
    f->c_order = 1;
    f->alike = f->self->operand_count <= STACK_OPERANDS;
    f->still = 0;
    /* As a rule the operands have the dtypes of the call before, and then there is nothing to look up. */
    binary *const usual = f->self->binary_count > 0 && ranks == NULL ? f->self->binaries[0] : NULL;
    int is_usual = usual != NULL;
    for (Py_ssize_t i = 0; i < f->self->operand_count; i++) {
        PyObject *value = f->operands[i];
        bcg_array *array = &f->arrays[i];
        if (ranks != NULL) ranks[i] = 0;
        if (PyArray_CheckExact(value)) {
            PyArrayObject *from = (PyArrayObject *)value;
            if (usual != NULL && PyArray_DESCR(from) == usual->descrs[i]) {
                f->key[i] = usual->key[i];
                if (!PyArray_CHKFLAGS(from, NPY_ARRAY_ALIGNED)) return SLOW;
            } else {
                const unsigned char code = array_code(from);
                if (code == UINT8_MAX || !PyArray_ISBEHAVED_RO(from)) return SLOW;
                f->key[i] = code;
                if (ranks != NULL) ranks[i] = (unsigned char)PyArray_NDIM(from);
                is_usual = usual != NULL && is_usual && usual->key[i] == code;
            }
            describe_array(array, from);
            if (array->rank > 0) note_array(f, array, PyArray_IS_C_CONTIGUOUS(from));
            else f->still |= (uint64_t)1 << (i % STACK_OPERANDS);
            continue;
        }
        f->still |= (uint64_t)1 << (i % STACK_OPERANDS);
        const verdict v = describe_scalar(value, &f->scalars[i], &f->key[i]);
        if (v != READY) return v;
        is_usual = usual != NULL && is_usual && usual->key[i] == f->key[i];
        *array = (bcg_array){.data = f->scalars[i].bytes, .extents = no_dims, .byte_strides = no_dims, .rank = 0};
    }
    f->found = is_usual ? usual : NULL;
    return READY;
}

/* Ranges span their whole type where there is no limit, so that there is nothing to ask first. */
static verdict check_limits(frame *f)
{
    for (Py_ssize_t i = 0; i < f->self->operand_count; i++) {
        const range *r = &f->found->ranges[i];
        const scalar *s = &f->scalars[i];
        int inside = 1;
        if (f->key[i] == config.weak_int) inside = s->i >= r->low.i && s->i <= r->high.i;
        if (f->key[i] == config.weak_uint) inside = s->u >= r->low.u && s->u <= r->high.u;
        if (inside) continue;
        PyObject *limit = PyTuple_GET_ITEM(f->found->limits, i);
        Py_XDECREF(PyObject_CallFunction(config.raise_limit, "OnOO", f->self, i, f->operands[i], limit));
        return FAILED;
    }
    return READY;
}

/* Asks the subclass for the binary of f->key. It returns True where that is made meanwhile: the slow path knows who
 * answers. */
static verdict compile(frame *f)
{
    PyObject *key = PyBytes_FromStringAndSize((const char *)f->key, f->self->key_length);
    if (key == NULL) return FAILED;
    PyObject *done = PyObject_CallMethod((PyObject *)f->self, "_compile", "O", key);
    const int later = done == Py_True;
    if (done != NULL && !later && find(f->self, (const unsigned char *)PyBytes_AS_STRING(key)) == NULL) {
        Py_SETREF(done, PyObject_CallFunctionObjArgs(config.raise_no_binary, (PyObject *)f->self, key, NULL));
    }
    Py_DECREF(key);
    Py_XDECREF(done);
    if (done == NULL) return FAILED;
    return later ? SLOW : READY;
}

static verdict resolve(frame *f)
{
    for (;;) {
        verdict v = describe(f);
        if (v != READY) return v;
        if (f->found == NULL) f->found = find(f->self, f->key);
        if (f->found != NULL) return f->found->has_weak ? check_limits(f) : READY;
        v = compile(f);
        if (v != READY) return v;
        /* Described anew: compiling ran Python code, which may have given an operand another shape or dtype. */
    }
}

/* ---- infer, and provide the results ------------------------------------------------------------------------------ */

static verdict fail(const frame *f, int32_t status, const bcg_diagnostic *why)
{
    Py_XDECREF(PyObject_CallFunction(config.raise_status, "OiiiiLL", f->self, (int)status, (int)why->operand,
                                     (int)why->dim, (int)why->against, (long long)why->expected,
                                     (long long)why->actual));
    return FAILED;
}

static verdict infer(frame *f)
{
    if (was_seen(f)) return READY;
    bcg_diagnostic why = {-1, -1, -1, 0, 0};
    const int32_t status = f->found->entry->shape(f->arrays, f->shapes, &why);
    if (status != BCG_OK) return fail(f, status, &why);
    see(f);
    return READY;
}

static npy_intp elements_of(const bcg_shape *shape)
{
    uint64_t elements = 1; /* what does not fit, NumPy refuses to allocate */
    for (int32_t dim = 0; dim < shape->rank; dim++) elements *= (uint64_t)shape->extents[dim];
    return (npy_intp)elements;
}

static PyArrayObject *allocate(frame *f, Py_ssize_t j)
{
    const bcg_shape *shape = &f->shapes[j];
    PyArray_Descr *descr = config.descrs[f->found->result_codes[j]];
    int64_t strides[BCG_MAX_RANK];
    const int c_order = f->c_order || shape->rank <= 1 || !f->found->entry->aligned;
    if (!c_order) k_strides(f->arrays, f->self->operand_count, shape, (uint64_t)PyDataType_ELSIZE(descr), strides);
    const size_t bytes = (size_t)elements_of(shape) * (size_t)PyDataType_ELSIZE(descr);
    int warm = 0;
    Py_INCREF(descr);
    PyArrayObject *made = memory_new_array(descr, shape->rank, (const npy_intp *)shape->extents,
                                           c_order ? NULL : (const npy_intp *)strides, bytes, &warm);
    f->warm &= warm;
    return made;
}

/* May the kernel write result j straight into its out? "Same view" asks for the same dtype too: C compilers assume that
 * objects of two types do not share memory. */
static int is_separate(const frame *f, Py_ssize_t j)
{
    const Py_ssize_t n = f->self->operand_count;
    const bcg_array *out = &f->arrays[n + j];
    const unsigned char code = f->found->result_codes[j];
    const uint64_t itemsize = itemsize_of(code);
    if (f->elements >= 0 && f->self->result_count == 1 && is_clear(f)) return 1;
    if (!PyArray_ISONESEGMENT(f->results[j]) && overlaps_itself(out, itemsize)) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (disjoint(out, itemsize, &f->arrays[i], itemsize_of(f->key[i]))) continue;
        /* A kernel of several results may read an operand again after it has written the first; one that reads through
         * other maps may read another element of it. */
        if (f->self->result_count > 1 || !f->found->entry->aligned) return 0;
        if (f->key[i] != code || !same_view(out, &f->arrays[i])) return 0;
    }
    for (Py_ssize_t k = 0; k < j; k++) {
        if (!disjoint(out, itemsize, &f->arrays[n + k], itemsize_of(f->found->result_codes[k]))) return 0;
    }
    return 1;
}

static int fits(const frame *f, Py_ssize_t j, PyArrayObject *out)
{
    const bcg_shape *shape = &f->shapes[j];
    const unsigned char code = f->found->result_codes[j];
    const int is_usual = PyArray_DESCR(out) == config.descrs[code] && PyArray_CHKFLAGS(out, NPY_ARRAY_BEHAVED);
    return PyArray_CheckExact(out) && PyArray_NDIM(out) == shape->rank &&
           (is_usual || (PyArray_ISBEHAVED(out) && array_code(out) == code)) &&
           same_extents((const int64_t *)PyArray_DIMS(out), shape->extents, shape->rank);
}

static verdict provide(frame *f, int check_overlap)
{
    f->warm = 1;
    for (Py_ssize_t j = 0; j < f->self->result_count; j++) {
        PyArrayObject *out = f->outs[j];
        if (out != NULL) {
            if (!fits(f, j, out)) return SLOW;
            Py_INCREF(out);
            f->results[j] = out;
            if (!PyArray_IS_C_CONTIGUOUS(out)) f->elements = -1;
        } else {
            f->results[j] = allocate(f, j);
            if (f->results[j] == NULL) return FAILED;
        }
        describe_array(&f->arrays[f->self->operand_count + j], f->results[j]);
        if (out != NULL && check_overlap && !is_separate(f, j)) return SLOW;
    }
    return READY;
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

/* Copies every extent and stride: without the GIL another thread may assign `a.shape`, which frees the array's own. */
static int64_t *detach(frame *f)
{
    const Py_ssize_t count = f->self->operand_count + f->self->result_count;
    size_t dims = 0;
    for (Py_ssize_t i = 0; i < count; i++) dims += (size_t)f->arrays[i].rank;
    int64_t *copy = PyMem_Malloc((2 * dims + 1) * sizeof *copy), *at = copy;
    if (copy == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        bcg_array *a = &f->arrays[i];
        if (a->rank == 0) continue;
        const size_t rank = (size_t)a->rank;
        a->extents = memcpy(at, a->extents, rank * sizeof *at), at += rank;
        a->byte_strides = memcpy(at, a->byte_strides, rank * sizeof *at), at += rank;
    }
    return copy;
}

static verdict run(frame *f)
{
    bcg_diagnostic why = {-1, -1, -1, 0, 0};
    const bcg_kernel *entry = f->found->entry;
    if (f->elements >= 0 ? run_flat(f) : run_small(f)) return READY;
    const int32_t threads = f->self->threads > 0 ? f->self->threads : config.threads;
    const bcg_run_options options = {.threads = threads, .warm = f->warm};
    bcg_array *results = f->arrays + f->self->operand_count;
    npy_intp elements = 0;
    for (Py_ssize_t j = 0; j < f->self->result_count; j++) elements += elements_of(&f->shapes[j]);
    int32_t status;
    if ((double)elements * f->found->nanoseconds <= KEEP_GIL_NS) {
        status = bcg_run(entry, f->arrays, results, &options, &why);
    } else {
        int64_t *dims = detach(f);
        if (dims == NULL) return FAILED;
        Py_BEGIN_ALLOW_THREADS
        status = bcg_run(entry, f->arrays, results, &options, &why);
        Py_END_ALLOW_THREADS
        PyMem_Free(dims);
    }
    if (status == BCG_NO_MEMORY) {
        PyErr_NoMemory();
        return FAILED;
    }
    return status == BCG_OK ? READY : fail(f, status, &why);
}

static verdict call(frame *f, int check_overlap)
{
    verdict v = resolve(f);
    if (v == READY) v = infer(f);
    if (v == READY) v = provide(f, check_overlap);
    if (v == READY) v = run(f);
    return v;
}

static PyObject *deliver(frame *f)
{
    const Py_ssize_t m = f->self->result_count;
    PyObject *answer = m == 1 ? (PyObject *)f->results[0] : PyTuple_New(m);
    if (answer == NULL) return NULL;
    for (Py_ssize_t j = 0; j < m; j++) {
        if (m > 1) PyTuple_SET_ITEM(answer, j, (PyObject *)f->results[j]);
        f->results[j] = NULL;
    }
    return answer;
}

#endif
