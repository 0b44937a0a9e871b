/* dispatch.c: the CPython extension bcastgen._dispatch, the call path of a kernel.
 *
 * In: a call `kernel(a, b, out=r)`. Out: the ndarray, or a tuple of ndarrays. Only this extension runs between Python
 * and the compiled loop. This file defines the type and the module. dispatch_operands.inc reads arguments,
 * dispatch_call.inc makes the call, dispatch_flat.inc and dispatch_small.inc are its shortest ways, dispatch_answer.inc
 * remembers the guards' last answer, dispatch_counts.inc counts what ran and adds loops, dispatch_memory.inc provides
 * memory for large results, dispatch_size.inc sizes results without a call, dispatch_values.inc reads the extents that
 * operands' values give, dispatch_slots.inc calls kernels whose callers may give extents, dispatch_kernel.inc defines
 * what a kernel object holds, dispatch_layout.inc computes with strides and overlap, dispatch_evaluate.inc goes from a
 * text to a kernel, dispatch_files.inc tells when files change. A *.inc file is not a header but a part of this one
 * translation unit; the names of its static functions begin with the last word of its name, or with their type's name.
 *
 * A call goes to bcastgen/runtime/slow_path.py ("the slow path") if an argument is neither an aligned native ndarray of
 * a supported dtype, nor a NumPy scalar, nor a Python number, or if its arguments are wrong. The slow path comes back
 * through _call_clean. bcastgen/runtime/fallback.py is the same class in Python; the tests run both alike.
 *
 * The file is long because the type has many methods, each with its documentation.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "dispatch_evaluate.inc"
#include "dispatch_files.inc"
#include "dispatch_size.inc"
#include "dispatch_slots.inc"
#include "pool.h"

#ifndef NPY_2_0_API_VERSION
#error "bcastgen._dispatch needs the headers of NumPy 2; the package works without it, through cffi"
#endif
#if NPY_SIZEOF_INTP != 8
#error "bcastgen._dispatch hands NumPy's shapes to kernels as they are and needs 64-bit ones; cffi is used elsewhere"
#endif
#if BCG_MAX_RANK < NPY_MAXDIMS
#error "BCG_MAX_RANK must cover every rank NumPy has"
#endif

static PyTypeObject *kernel_type;

/* ---- the three ways in: a call, and what the slow path comes back with ------------------------------------------- */

static PyObject *kernel_call_slow(kernel *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *by_name = PyDict_New(), *positional = PyTuple_New(count), *answer = NULL;
    if (by_name == NULL || positional == NULL) goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SET_ITEM(positional, i, args[i]);
    }
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyDict_SetItem(by_name, PyTuple_GET_ITEM(names, i), args[count + i]) < 0) goto done;
    }
    answer = PyObject_CallFunctionObjArgs(config.call_slow, (PyObject *)self, positional, by_name, NULL);
done:
    Py_XDECREF(by_name);
    Py_XDECREF(positional);
    return answer;
}

/* Calls a kernel that is observed, or sized. The function is one of its own so that other calls do not pay for the
 * workspace of a sized one. */
static __attribute__((noinline)) PyObject *kernel_call_unusual(kernel *self, PyObject *const *args, Py_ssize_t count,
                                                               PyObject *names)
{
    if (self->observed) return kernel_call_slow(self, args, count, names);
    PyObject *done = slots_call(self, args, count, names);
    return done != NULL || PyErr_Occurred() ? done : kernel_call_slow(self, args, count, names);
}

static PyObject *kernel_vectorcall(PyObject *callable, PyObject *const *args, size_t flags_count, PyObject *names)
{
    kernel *self = (kernel *)callable;
    const Py_ssize_t count = PyVectorcall_NARGS(flags_count);
    if (__builtin_expect(self->is_sized | self->observed, 0)) {
        PyObject *done = kernel_call_unusual(self, args, count, names);
        return done != NULL ? done : kernel_raise();
    }
    frame f;
    if (frame_open(&f, self) < 0) return NULL;
    verdict v = operands_bind(&f, args, count, names);
    if (v == READY) v = call_perform(&f, 1);
    PyObject *answer = v == READY ? call_deliver(&f) : NULL;
    frame_close(&f);
    if (v == SLOW) answer = kernel_call_slow(self, args, count, names);
    return answer != NULL ? answer : kernel_raise();
}

static PyObject *uninitialised_vectorcall(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    (void)args, (void)count, (void)names;
    return PyErr_Format(PyExc_TypeError, "%.200s object was not initialised: call super().__init__",
                        Py_TYPE(self)->tp_name);
}

/* Binds the tuples that the slow path passes; they hold every operand, made clean. Returns -1 with an exception set if
 * they do not. */
static int kernel_bind_clean(frame *f, kernel *self, PyObject *operands, PyObject *outs)
{
    if (self->name == NULL || PyTuple_GET_SIZE(operands) != self->operand_count) {
        PyErr_SetString(PyExc_TypeError, "not one clean operand each");
        return -1;
    }
    if (frame_open(f, self) < 0) return -1;
    for (Py_ssize_t i = 0; i < self->operand_count; i++) f->bound[i] = PyTuple_GET_ITEM(operands, i);
    f->operands = f->bound;
    f->as_scalars = 0; /* the slow path has more to do with the results */
    if (operands_take_out(f, outs) == READY) return 0;
    PyErr_SetString(PyExc_TypeError, "not one clean out each");
    frame_close(f);
    return -1;
}

static verdict kernel_no_slower(verdict v)
{
    if (v != SLOW) return v;
    PyErr_SetString(PyExc_TypeError, "operands or outs are not clean");
    return FAILED;
}

PyDoc_STRVAR(call_clean_doc, "_call_clean(operands, outs)\n--\n\n"
                             "Call with operands and outs that the slow path made clean; overlap is not looked for.");

static PyObject *kernel_call_clean(PyObject *object, PyObject *args)
{
    PyObject *operands, *outs;
    frame f;
    if (!PyArg_ParseTuple(args, "O!O:_call_clean", &PyTuple_Type, &operands, &outs)) return NULL;
    if (kernel_bind_clean(&f, (kernel *)object, operands, outs) < 0) return NULL;
    PyObject *answer = kernel_no_slower(call_perform(&f, 0)) == READY ? call_deliver(&f) : NULL;
    frame_close(&f);
    return answer;
}

PyDoc_STRVAR(infer_doc, "_infer(operands)\n--\n\n"
                        "Return the results' shapes (a tuple of tuples) and dtype codes (bytes) for clean operands, and\n"
                        "whether these align with the results on the right.");

static PyObject *kernel_infer(PyObject *object, PyObject *operands)
{
    frame f;
    if (!PyTuple_CheckExact(operands)) return PyErr_Format(PyExc_TypeError, "operands must be a tuple");
    if (kernel_bind_clean(&f, (kernel *)object, operands, Py_None) < 0) return NULL;
    verdict v = kernel_no_slower(call_resolve(&f));
    if (v == READY) v = call_infer(&f);
    PyObject *shapes = v == READY ? size_shapes(&f) : NULL, *answer = NULL;
    if (shapes != NULL) {
        answer = Py_BuildValue("Ny#O", shapes, (const char *)f.compiled->result_codes, f.self->result_count,
                               f.compiled->entry->aligned ? Py_True : Py_False);
    }
    frame_close(&f);
    return answer;
}

/* ---- the table of binaries, from Python -------------------------------------------------------------------------- */

PyDoc_STRVAR(add_binary_doc,
             "_add_binary(key, address, operand_codes, result_codes, limits, keepalive)\n--\n\n"
             "Register the compiled kernel whose bcg_entry lies at `address`; a key already there is left as it is.");

static PyObject *kernel_add_binary(PyObject *object, PyObject *args)
{
    kernel *self = (kernel *)object;
    PyObject *key, *address, *operand_codes, *result_codes, *limits, *keepalive;
    if (!PyArg_ParseTuple(args, "SO!SSO!O:_add_binary", &key, &PyLong_Type, &address, &operand_codes, &result_codes,
                          &PyTuple_Type, &limits, &keepalive))
        return NULL;
    const bcg_kernel *entry = PyLong_AsVoidPtr(address);
    if (entry == NULL) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "address is 0");
    if (self->name == NULL) return uninitialised_vectorcall(object, NULL, 0, NULL);
    if (!config.started) {
        PyObject *started = PyObject_CallNoArgs(config.start);
        if (started == NULL) return NULL;
        Py_DECREF(started);
        config.started = 1;
    }
    PyObject *ranges = PyObject_CallFunction(config.check_binary, "OOOOO(iii)i", self, key, operand_codes, result_codes,
                                             limits, (int)entry->abi_version, (int)entry->operands, (int)entry->results,
                                             BCG_ABI_VERSION);
    if (ranges == NULL) return NULL;
    int failed = PyBytes_GET_SIZE(key) != self->key_length;
    if (failed)
        PyErr_Format(PyExc_ValueError, "the key has %zd bytes, not %zd", PyBytes_GET_SIZE(key), self->key_length);
    if (!failed && kernel_find_binary(self, (const unsigned char *)PyBytes_AS_STRING(key)) == NULL) {
        binary *b = binary_new(self, entry, PyBytes_AS_STRING(key), PyBytes_AS_STRING(result_codes),
                               PyBytes_AS_STRING(ranges), limits, keepalive);
        failed = b == NULL || counts_new(b) < 0 || binary_add(self, b) < 0;
        if (failed && b != NULL) binary_free(b);
    }
    Py_DECREF(ranges);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* ---- the type ---------------------------------------------------------------------------------------------------- */

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *by_name)
{
    (void)args, (void)by_name;
    kernel *self = (kernel *)type->tp_alloc(type, 0);
    if (self != NULL) self->vectorcall = uninitialised_vectorcall;
    return (PyObject *)self;
}

static int kernel_init(PyObject *object, PyObject *args, PyObject *by_name)
{
    static char *names[] = {"name", "operands", "results", "defaults", "ranked", "constants", "slots", NULL};
    kernel *self = (kernel *)object;
    PyObject *name, *operands, *results, *defaults = NULL;
    int ranked = 0;
    Py_ssize_t constants = 0, slots = -1;
    if (config.call_slow == NULL || self->name != NULL) {
        const char *why = self->name == NULL ? "import bcastgen.runtime.base first" : "a kernel is initialised once";
        PyErr_SetString(PyExc_TypeError, why);
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, by_name, "OOO|Opnn:KernelBase", names, &name, &operands, &results, &defaults,
                                     &ranked, &constants, &slots))
        return -1;
    PyObject *checked = PyObject_CallFunctionObjArgs(config.check_signature, name, operands, results, defaults, NULL);
    if (checked == NULL) return -1;
    int unpacked = PyArg_ParseTuple(checked, "UO!O!O!", &name, &PyTuple_Type, &operands, &PyTuple_Type, &results,
                                    &PyTuple_Type, &defaults);
    if (unpacked && (constants < 0 || constants > PyTuple_GET_SIZE(defaults))) {
        PyErr_Format(PyExc_TypeError, "%U() has %zd constants and %zd defaults; give each constant its value", name,
                     constants, PyTuple_GET_SIZE(defaults));
        unpacked = 0;
    }
    if (unpacked && (slots < -1 || slots > PyTuple_GET_SIZE(operands) - constants)) {
        PyErr_Format(PyExc_TypeError, "%U() has %zd slots, and fewer operands", name, slots);
        unpacked = 0;
    }
    if (unpacked) {
        const Py_ssize_t given = PyTuple_GET_SIZE(operands) - constants;
        PyObject *called = PyTuple_GetSlice(operands, 0, given);
        PyObject *kept = PyTuple_GetSlice(operands, given, given + constants);
        if (called == NULL || kept == NULL) {
            Py_XDECREF(called);
            Py_XDECREF(kept);
            Py_DECREF(checked);
            return -1;
        }
        self->name = Py_NewRef(name);
        self->operands = called;
        self->constants = kept;
        self->results = Py_NewRef(results);
        self->defaults = Py_NewRef(defaults);
        self->operand_count = PyTuple_GET_SIZE(operands);
        self->result_count = PyTuple_GET_SIZE(results);
        self->is_sized = slots >= 0;
        self->scalars = 1;
        self->slot_count = slots > 0 ? slots : 0;
        self->key_length = self->operand_count * (ranked ? 2 : 1);
        self->vectorcall = kernel_vectorcall;
    }
    Py_DECREF(checked);
    return unpacked ? 0 : -1;
}

static int kernel_traverse(PyObject *object, visitproc visit, void *arg)
{
    kernel *self = (kernel *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->defaults);
    for (Py_ssize_t k = 0; k < self->binary_count; k++) {
        const binary *const b = self->binaries[k];
        Py_VISIT(b->keepalive);
        for (int32_t at = 0; at < b->loops->added_count; at++) Py_VISIT(b->loops->added[at]->keepalive);
    }
    return 0;
}

/* Names and limits hold only strings and numbers, so no reference cycle goes through them and a cleared kernel keeps
 * them. */
static int kernel_clear(PyObject *object)
{
    kernel *self = (kernel *)object;
    binary **binaries = self->binaries;
    const Py_ssize_t count = self->binary_count;
    self->binaries = NULL;
    self->binary_count = 0;
    self->vectorcall = uninitialised_vectorcall;
    Py_CLEAR(self->defaults);
    for (Py_ssize_t k = 0; k < count; k++) binary_free(binaries[k]);
    PyMem_Free(binaries);
    code_free_all(self);
    return 0;
}

static void kernel_dealloc(PyObject *object)
{
    kernel *self = (kernel *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL) PyObject_ClearWeakRefs(object);
    kernel_clear(object);
    Py_XDECREF(self->name);
    Py_XDECREF(self->operands);
    Py_XDECREF(self->constants);
    Py_XDECREF(self->results);
    type->tp_free(object);
    Py_DECREF(type);
}

#if PY_VERSION_HEX < 0x030c0000
/* Before 3.12 a class defined in Python does not inherit the vectorcall flag, even where it inherits __call__. */
static PyObject *kernel_init_subclass(PyObject *class, PyObject *args, PyObject *by_name)
{
    PyObject *above = PyObject_CallFunctionObjArgs((PyObject *)&PySuper_Type, (PyObject *)kernel_type, class, NULL);
    PyObject *method = above == NULL ? NULL : PyObject_GetAttrString(above, "__init_subclass__");
    PyObject *answer = method == NULL ? NULL : PyObject_Call(method, args, by_name);
    Py_XDECREF(above);
    Py_XDECREF(method);
    PyTypeObject *type = (PyTypeObject *)class;
    if (answer != NULL && type->tp_call == PyVectorcall_Call) {
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(type);
    }
    return answer;
}
#endif

static PyMethodDef kernel_methods[] = {
    {"_add_binary", kernel_add_binary, METH_VARARGS, add_binary_doc},
    {"_add_loop", kernel_add_loop, METH_VARARGS, add_loop_doc},
    {"_counts", kernel_counts, METH_NOARGS, counts_doc},
    {"_call_clean", kernel_call_clean, METH_VARARGS, call_clean_doc},
    {"_infer", kernel_infer, METH_O, infer_doc},
    {"result_shape", (PyCFunction)(void (*)(void))kernel_result_shape, METH_FASTCALL | METH_KEYWORDS, result_shape_doc},
#if PY_VERSION_HEX < 0x030c0000
    {"__init_subclass__", (PyCFunction)(void (*)(void))kernel_init_subclass,
     METH_CLASS | METH_VARARGS | METH_KEYWORDS, NULL},
#endif
    {NULL, NULL, 0, NULL},
};

static PyObject *kernel_get_threads(PyObject *object, void *closure)
{
    (void)closure;
    const int32_t threads = ((kernel *)object)->threads;
    return threads == 0 ? Py_NewRef(Py_None) : PyLong_FromLong(threads);
}

static int kernel_set_threads(PyObject *object, PyObject *value, void *closure)
{
    (void)closure;
    PyObject *checked = PyObject_CallOneArg(config.check_threads, value == NULL ? Py_None : value);
    if (checked == NULL) return -1;
    ((kernel *)object)->threads = (int32_t)PyLong_AsLong(checked);
    Py_DECREF(checked);
    return 0;
}

static PyGetSetDef kernel_properties[] = {
    {"threads", kernel_get_threads, kernel_set_threads,
     "How many threads a call may take; None: as bcastgen.get_num_threads() says.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef kernel_members[] = {
    {"operands", T_OBJECT_EX, offsetof(kernel, operands), READONLY, "names of the operands, in order"},
    {"results", T_OBJECT_EX, offsetof(kernel, results), READONLY, "names of the results, in order"},
    {"scalars", T_BOOL, offsetof(kernel, scalars), 0,
     "Whether results without dims are NumPy scalars; may be set. out=... gives arrays in one call."},
    {"_reports_errors", T_BOOL, offsetof(kernel, reports_errors), 0, NULL},
    {"_observed", T_BOOL, offsetof(kernel, observed), 0, NULL},
    {"_outs_by_position", T_BOOL, offsetof(kernel, outs_by_position), 0, NULL},
    {"_value_operands", T_ULONGLONG, offsetof(kernel, value_operands), 0, NULL},
    {"_constants", T_OBJECT_EX, offsetof(kernel, constants), READONLY, NULL},
    {"_name", T_OBJECT_EX, offsetof(kernel, name), READONLY, NULL},
    {"_defaults", T_OBJECT_EX, offsetof(kernel, defaults), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(kernel, vectorcall), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(kernel, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(kernel_doc, "KernelBase(name, operands, results, defaults=(), ranked=False, constants=0, slots=-1)\n--\n\n"
                         "What a call goes through; subclasses provide _compile(key).");

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, (void *)kernel_doc},
    {Py_tp_new, (void *)kernel_new},
    {Py_tp_init, (void *)kernel_init},
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_traverse, (void *)kernel_traverse},
    {Py_tp_clear, (void *)kernel_clear},
    {Py_tp_dealloc, (void *)kernel_dealloc},
    {Py_tp_methods, kernel_methods},
    {Py_tp_members, kernel_members},
    {Py_tp_getset, kernel_properties},
    {0, NULL},
};

static PyType_Spec kernel_spec = {
    .name = "bcastgen._dispatch.KernelBase",
    .basicsize = sizeof(kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_slots,
};

/* ---- the module -------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(configure_doc,
             "configure(type_codes, scalar_codes, descrs, weak, hooks)\n--\n\n"
             "Hand over bcastgen's dtype codes, by NumPy type number and by NumPy scalar type; the dtype of each\n"
             "code, None where it comes with register_dtype(); the codes of weak int, uint, float and complex; and the functions\n"
             "that are in Python.");

/* Called once, when bcastgen.runtime.base is imported. The objects that it stores live as long as the process. */
static PyObject *module_configure(PyObject *module, PyObject *args)
{
    (void)module;
    const char *type_codes;
    Py_ssize_t count;
    PyObject *scalar_codes, *descrs, *hooks[10];
    unsigned char weak[4];
    if (!PyArg_ParseTuple(args, "y#O!O!(bbbb)(OOOOOOOOOO):configure", &type_codes, &count, &PyDict_Type, &scalar_codes,
                          &PyTuple_Type, &descrs, &weak[0], &weak[1], &weak[2], &weak[3], &hooks[0], &hooks[1],
                          &hooks[2], &hooks[3], &hooks[4], &hooks[5], &hooks[6], &hooks[7], &hooks[8], &hooks[9]))
        return NULL;
    if (count != (Py_ssize_t)sizeof config.type_codes || PyTuple_GET_SIZE(descrs) > CODES) {
        return PyErr_Format(PyExc_ValueError, "one code for each of %zu type numbers, and up to %d dtypes",
                            sizeof config.type_codes, CODES);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(descrs); i++) {
        PyObject *descr = PyTuple_GET_ITEM(descrs, i);
        if (descr == Py_None) continue;
        if (!PyArray_DescrCheck(descr)) return PyErr_Format(PyExc_TypeError, "descrs holds numpy.dtype objects only");
        Py_INCREF(descr);
        config.descrs[i] = (PyArray_Descr *)descr;
    }
    memcpy(config.type_codes, type_codes, sizeof config.type_codes);
    config.weak_int = weak[0], config.weak_uint = weak[1], config.weak_float = weak[2], config.weak_complex = weak[3];
    config.scalar_codes = Py_NewRef(scalar_codes);
    config.call_slow = Py_NewRef(hooks[0]);
    config.check_binary = Py_NewRef(hooks[1]);
    config.check_signature = Py_NewRef(hooks[2]);
    config.raise_limit = Py_NewRef(hooks[3]);
    config.raise_no_binary = Py_NewRef(hooks[4]);
    config.raise_status = Py_NewRef(hooks[5]);
    config.check_threads = Py_NewRef(hooks[6]);
    config.start = Py_NewRef(hooks[7]);
    config.report = Py_NewRef(hooks[8]);
    config.short_traceback = Py_NewRef(hooks[9]);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(register_dtype_doc, "register_dtype(number, code, descr)\n--\n\n"
                                 "Hand over a dtype that a package has added to NumPy: its type number, its code, the dtype.");

static PyObject *module_register_dtype(PyObject *module, PyObject *args)
{
    (void)module;
    int number;
    unsigned char code;
    PyObject *descr;
    if (!PyArg_ParseTuple(args, "ibO!:register_dtype", &number, &code, &PyArrayDescr_Type, &descr)) return NULL;
    if (number <= UINT8_MAX || code >= CODES || config.descrs[code] != NULL || config.added_count >= ADDED) {
        return PyErr_Format(PyExc_ValueError, "type number %d, code %d: not a dtype to be added", number, (int)code);
    }
    Py_INCREF(descr);
    config.descrs[code] = (PyArray_Descr *)descr;
    config.added_numbers[config.added_count] = number;
    config.added_codes[config.added_count] = code;
    config.added_count++;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_threads_doc,
             "set_threads(threads)\n--\n\nSet how many threads a call may take, unless its kernel says.");

static PyObject *module_set_threads(PyObject *module, PyObject *value)
{
    (void)module;
    const long threads = PyLong_AsLong(value);
    if (threads == -1 && PyErr_Occurred()) return NULL;
    config.threads = threads < 1 ? 1 : threads > INT32_MAX ? INT32_MAX : (int32_t)threads;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_hot_doc, "set_hot(points)\n--\n\n"
                          "Set after how many points a pattern that no loop serves gets one; 0: never.");

static PyObject *module_set_hot(PyObject *module, PyObject *value)
{
    (void)module;
    const unsigned long long points = PyLong_AsUnsignedLongLong(value);
    if (points == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
    config.hot = points;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(cpus_doc, "cpus()\n--\n\nReturn how many CPUs this process may use.");

static PyObject *module_cpus(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLong(bcg_pool_cpus());
}

PyDoc_STRVAR(set_memory_bound_doc,
             "set_memory_bound(size)\n--\n\nSet how many bytes of freed results are kept; 0 leaves all to NumPy.");

static PyObject *module_set_memory_bound(PyObject *module, PyObject *value)
{
    (void)module;
    const size_t bound = PyLong_AsSize_t(value);
    if (bound == (size_t)-1 && PyErr_Occurred()) return NULL;
    memory_set_bound(bound);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(clear_memory_doc, "clear_memory()\n--\n\nGive back what is kept of freed results; return its bytes.");

static PyObject *module_clear_memory(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromSize_t(memory_clear());
}

PyDoc_STRVAR(open_kernel_doc, "open_kernel(path)\n--\n\n"
                              "Load a shared object; return what holds it open, and the address and the ABI version of\n"
                              "its bcg_entry, both 0 if it exports none.");

static void module_close(PyObject *capsule)
{
    dlclose(PyCapsule_GetPointer(capsule, NULL));
}

static PyObject *module_open_kernel(PyObject *module, PyObject *path)
{
    (void)module;
    const char *name = PyUnicode_AsUTF8(path);
    if (name == NULL) return NULL;
    void *const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return PyErr_Format(PyExc_OSError, "%s", dlerror());
    PyObject *capsule = PyCapsule_New(handle, NULL, module_close);
    if (capsule == NULL) {
        dlclose(handle);
        return NULL;
    }
    const bcg_kernel *const entry = dlsym(handle, "bcg_entry");
    const long version = entry == NULL ? 0 : (long)entry->abi_version;
    return Py_BuildValue("(NKl)", capsule, (unsigned long long)(uintptr_t)entry, version);
}

PyDoc_STRVAR(files_of_doc, "files_of(folders)\n--\n\n"
                           "Return bytes that change when a file of a tuple of folders is written, replaced, added or\n"
                           "removed. OSError if a folder cannot be read.");

static PyObject *module_files_of(PyObject *module, PyObject *folders)
{
    (void)module;
    return files_of(folders);
}

static PyMethodDef module_methods[] = {
    {"files_of", module_files_of, METH_O, files_of_doc},
    {"open_kernel", module_open_kernel, METH_O, open_kernel_doc},
    {"set_threads", module_set_threads, METH_O, set_threads_doc},
    {"set_hot", module_set_hot, METH_O, set_hot_doc},
    {"cpus", module_cpus, METH_NOARGS, cpus_doc},
    {"set_memory_bound", module_set_memory_bound, METH_O, set_memory_bound_doc},
    {"clear_memory", module_clear_memory, METH_NOARGS, clear_memory_doc},
    {"register_dtype", module_register_dtype, METH_VARARGS, register_dtype_doc},
    {"configure", module_configure, METH_VARARGS, configure_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "bcastgen._dispatch",
    .m_doc = "The call path of kernels; see bcastgen.runtime.base.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__dispatch(void)
{
    import_array();
    PyObject *module = PyModule_Create(&module_def);
    if (module == NULL) return NULL;
    if (memory_init() < 0) {
        Py_DECREF(module);
        return NULL;
    }
    str_out = PyUnicode_InternFromString("out");
    kernel_type = (PyTypeObject *)PyType_FromSpec(&kernel_spec);
    Py_XINCREF(kernel_type);
    if (str_out == NULL || kernel_type == NULL || evaluate_init(module) < 0 ||
        PyModule_AddIntMacro(module, BCG_ABI_VERSION) < 0 ||
        PyModule_AddObject(module, "KernelBase", (PyObject *)kernel_type) < 0) {
        Py_XDECREF(kernel_type);
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
