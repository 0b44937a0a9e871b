/* dispatch_size.h: the shapes of a kernel's results, without a call.
 *
 * In: a kernel and the shapes of operands. Out: tuples, or the exception of shapes that do not fit. Any binary of these
 * ranks tells; where there is none yet, and for what is no tuple of extents, Kernel._result_shape does.
 */
#ifndef DISPATCH_SIZE_H
#define DISPATCH_SIZE_H

#include "dispatch_call.h"

static PyObject *shapes_of(const frame *f)
{
    PyObject *shapes = PyTuple_New(f->self->result_count);
    for (Py_ssize_t j = 0; shapes != NULL && j < f->self->result_count; j++) {
        PyObject *shape = PyArray_IntTupleFromIntp(f->shapes[j].rank, (const npy_intp *)f->shapes[j].extents);
        if (shape == NULL) Py_CLEAR(shapes);
        else PyTuple_SET_ITEM(shapes, j, shape);
    }
    return shapes;
}

PyDoc_STRVAR(result_shape_doc,
             "result_shape(*operand_shapes)\n--\n\n"
             "Return the shape of the result for operands of these shapes, without running anything.\n\n"
             "Parameters\n----------\noperand_shapes : one an operand: a tuple of extents, or an array that has them.\n\n"
             "Returns\n-------\ntuple of int\n    A tuple of these where there are several results.\n\n"
             "Raises\n------\nBroadcastError\n    If operands of these shapes do not fit.");

/* A binary that operands of these ranks may take; of dtypes, only those of Python scalars have a say in shapes. */
static int serves(const kernel *self, const binary *b, const bcg_array *arrays)
{
    const Py_ssize_t n = self->operand_count;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (b->key[i] >= CODES && arrays[i].rank != 0) return 0;
        if (self->key_length > n && b->key[n + i] != arrays[i].rank) return 0;
    }
    return 1;
}

static binary *any_binary(const kernel *self, const bcg_array *arrays)
{
    for (Py_ssize_t k = 0; k < self->binary_count; k++) {
        if (serves(self, self->binaries[k], arrays)) return self->binaries[k];
    }
    return NULL;
}

/* Reads a tuple of extents; 0 if it is something else, which is the slow path's. */
static int read_shape(PyObject *shape, int64_t *extents, bcg_array *array)
{
    if (!PyTuple_CheckExact(shape) || PyTuple_GET_SIZE(shape) > BCG_MAX_RANK) return 0;
    const Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    for (Py_ssize_t dim = 0; dim < rank; dim++) {
        int overflow = 0;
        PyObject *extent = PyTuple_GET_ITEM(shape, dim);
        if (!PyLong_CheckExact(extent)) return 0;
        extents[dim] = PyLong_AsLongLongAndOverflow(extent, &overflow);
        if (overflow != 0 || extents[dim] < 0) return 0;
    }
    *array = (bcg_array){.data = NULL, .extents = extents, .byte_strides = NULL, .rank = (int32_t)rank};
    return 1;
}

static PyObject *kernel_result_shape(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    enum { MOST = 8 };
    kernel *self = (kernel *)object;
    int64_t extents[MOST][BCG_MAX_RANK];
    frame f;
    int read = self->name != NULL && count == PyTuple_GET_SIZE(self->operands) && count <= MOST;
    if (read && frame_open(&f, self) < 0) return NULL;
    const int opened = read;
    for (Py_ssize_t i = 0; read && i < count; i++) read = read_shape(args[i], extents[i], &f.arrays[i]);
    for (Py_ssize_t i = count; read && i < self->operand_count; i++) {
        PyObject *constant = PyTuple_GET_ITEM(self->defaults, PyTuple_GET_SIZE(self->defaults) - self->operand_count + i);
        read = PyArray_CheckExact(constant);
        if (read) describe_array(&f.arrays[i], (PyArrayObject *)constant);
    }
    if (read) f.found = any_binary(self, f.arrays);
    PyObject *answer = NULL;
    if (read && f.found != NULL) {
        PyObject *shapes = infer(&f) == READY ? shapes_of(&f) : NULL;
        answer = shapes != NULL && self->result_count == 1 ? Py_NewRef(PyTuple_GET_ITEM(shapes, 0)) : Py_XNewRef(shapes);
        Py_XDECREF(shapes);
    } else {
        PyObject *shapes = PyTuple_New(count);
        for (Py_ssize_t i = 0; shapes != NULL && i < count; i++) PyTuple_SET_ITEM(shapes, i, Py_NewRef(args[i]));
        if (shapes != NULL) answer = PyObject_CallMethod(object, "_result_shape", "(O)", shapes);
        Py_XDECREF(shapes);
    }
    if (opened) frame_close(&f);
    return answer;
}

#endif
