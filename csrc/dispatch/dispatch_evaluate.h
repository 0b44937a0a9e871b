/* dispatch_evaluate.h: bcastgen.evaluate, for texts that have been evaluated before.
 *
 * In: evaluate("a*b + c", out=r), called from Python code. Out: the call of the kernel of this text with the caller's
 * variables of these names: its locals, then its globals. Everything else, and every error, is the Python function's
 * (`slow`, bcastgen/api/evaluate.py), which is called with the same arguments from the same frame.
 */
#ifndef DISPATCH_EVALUATE_H
#define DISPATCH_EVALUATE_H

#include <Python.h>
#include <stddef.h>
#include <structmember.h>

#include "dispatch_call.h"

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000 && defined(__has_include)
#if __has_include("internal/pycore_frame.h")
/* 3.11 alone has no call that reads one local without copying all of them into a dict. Its layout is final. */
#define Py_BUILD_CORE 1
#include "internal/pycore_code.h"
#include "internal/pycore_frame.h"
#undef Py_BUILD_CORE
#define FRAME_OF_311 1
#endif
#endif

enum {
    MOST_TEXTS = 1024, /* that are remembered; then all are forgotten */
    MOST_NAMES = 14,   /* of a text that is evaluated here */
};

/* A text's kernel; and of the code that evaluated it last, where its locals of these names are. */
typedef struct {
    PyObject_HEAD
    PyObject *kernel, *names;
    PyObject *code;
    int places[MOST_NAMES]; /* index among the fast locals, or -1: not one of them */
} text_entry;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *attributes; /* what functools.update_wrapper sets */
    PyObject *slow, *find; /* evaluate in Python; find(text, generation) -> kernel */
    PyObject *error;       /* the class of exceptions that are about a text */
    PyObject *table;       /* its `replacements` changes when a text may mean something else */
    PyObject *texts, *generation;
} evaluator;

static PyTypeObject *text_entry_type;
static PyObject *str_replacements, *str_operands, *names_out;

static void text_entry_dealloc(PyObject *object)
{
    text_entry *self = (text_entry *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(self->kernel);
    Py_XDECREF(self->names);
    Py_XDECREF(self->code);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyType_Slot text_entry_slots[] = {{Py_tp_dealloc, (void *)text_entry_dealloc}, {0, NULL}};

static PyType_Spec text_entry_spec = {
    .name = "bcastgen._dispatch.TextEntry",
    .basicsize = sizeof(text_entry),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = text_entry_slots,
};

/* ---- a text's kernel --------------------------------------------------------------------------------------------- */

/* Remembers a text; null with an exception where it has no kernel, null without where it is not for here. */
static text_entry *text_learn(evaluator *self, PyObject *text)
{
    PyObject *const generation = Py_NewRef(self->generation);
    PyObject *kernel = PyObject_CallFunctionObjArgs(self->find, text, generation, NULL);
    PyObject *names = kernel == NULL ? NULL : PyObject_GetAttr(kernel, str_operands);
    text_entry *entry = NULL;
    if (names != NULL && PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) <= MOST_NAMES) {
        entry = PyObject_New(text_entry, text_entry_type);
        if (entry != NULL) {
            entry->kernel = Py_NewRef(kernel);
            entry->names = Py_NewRef(names);
            entry->code = NULL;
            if (PyDict_GET_SIZE(self->texts) >= MOST_TEXTS) PyDict_Clear(self->texts);
            /* Meanwhile another thread may have met a new generation, for which this kernel is none. */
            const int is_stale = generation != self->generation;
            if (!is_stale && PyDict_SetItem(self->texts, text, (PyObject *)entry) < 0) Py_CLEAR(entry);
        }
    }
    Py_XDECREF(names);
    Py_XDECREF(kernel);
    Py_DECREF(generation);
    return entry;
}

static text_entry *text_find(evaluator *self, PyObject *text)
{
    PyObject *generation = PyObject_GetAttr(self->table, str_replacements);
    if (generation == NULL) return NULL;
    if (generation != self->generation) {
        PyDict_Clear(self->texts);
        Py_XSETREF(self->generation, Py_NewRef(generation));
    }
    Py_DECREF(generation);
    PyObject *entry = PyDict_GetItemWithError(self->texts, text);
    if (entry != NULL) return (text_entry *)Py_NewRef(entry);
    return PyErr_Occurred() ? NULL : text_learn(self, text);
}

/* ---- the caller's variables -------------------------------------------------------------------------------------- */

#if defined(FRAME_OF_311) || PY_VERSION_HEX >= 0x030c0000

/* Finds where the code has its locals of these names. Whose places these were, the caller gives up once it has read
 * them: that may run Python code, which may evaluate this text somewhere else. */
static void place_names(text_entry *entry, PyCodeObject *code)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entry->names); i++) {
        PyObject *const name = PyTuple_GET_ITEM(entry->names, i);
        entry->places[i] = -1;
        for (int at = 0; at < code->co_nlocalsplus; at++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames, at), name) == 0) entry->places[i] = at;
        }
    }
    entry->code = Py_NewRef((PyObject *)code);
}

#endif

#ifdef FRAME_OF_311

/* Sets values[i] to new references of the fast locals of these names, null where there is none; -1: ask otherwise. */
static int take_locals(text_entry *entry, PyObject **values)
{
    const _PyInterpreterFrame *frame = PyThreadState_Get()->cframe->current_frame;
    if (frame == NULL || _PyFrame_IsIncomplete((_PyInterpreterFrame *)frame)) return -1;
    PyCodeObject *code = frame->f_code;
    if (!(code->co_flags & CO_OPTIMIZED)) return -1;
    PyObject *const before = (PyObject *)code == entry->code ? NULL : entry->code;
    if ((PyObject *)code != entry->code) place_names(entry, code);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entry->names); i++) {
        PyObject *value = entry->places[i] < 0 ? NULL : frame->localsplus[entry->places[i]];
        if (value != NULL && PyCell_Check(value)) {
            const _PyLocals_Kind kind = _PyLocals_GetKind(code->co_localspluskinds, entry->places[i]);
            if (kind & (CO_FAST_CELL | CO_FAST_FREE)) value = PyCell_GET(value);
        }
        values[i] = Py_XNewRef(value);
    }
    Py_XDECREF(before);
    return 0;
}

#elif PY_VERSION_HEX >= 0x030c0000

static int take_locals(text_entry *entry, PyObject **values)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL) return -1;
    PyCodeObject *code = PyFrame_GetCode(frame);
    const int optimised = code->co_flags & CO_OPTIMIZED;
    const int is_new = optimised && (PyObject *)code != entry->code;
    PyObject *const before = is_new ? entry->code : NULL;
    if (is_new) place_names(entry, code);
    Py_DECREF(code);
    if (!optimised) return -1;
    int failed = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entry->names) && !failed; i++) {
        if (entry->places[i] < 0) continue;
        values[i] = PyFrame_GetVar(frame, PyTuple_GET_ITEM(entry->names, i));
        if (values[i] != NULL) continue;
        failed = !PyErr_ExceptionMatches(PyExc_NameError);
        if (!failed) PyErr_Clear(); /* it has no value yet */
    }
    Py_XDECREF(before);
    return failed ? -1 : 0;
}

#else

static int take_locals(text_entry *entry, PyObject **values)
{
    (void)entry, (void)values;
    return -1;
}

#endif

static int take_from(PyObject *dict, text_entry *entry, PyObject **values)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entry->names); i++) {
        if (values[i] != NULL) continue;
        values[i] = Py_XNewRef(PyDict_GetItemWithError(dict, PyTuple_GET_ITEM(entry->names, i)));
        if (values[i] == NULL && PyErr_Occurred()) return -1;
    }
    return 0;
}

/* Looks the names up, in these dicts or, where they are null, the caller's; 0 where Python has to look itself. */
static int take_values(text_entry *entry, PyObject *locals, PyObject *globals, PyObject **values)
{
    const int is_caller = locals == NULL;
    if (is_caller && globals == NULL) globals = PyEval_GetGlobals();
    if (is_caller && take_locals(entry, values) < 0 && !PyErr_Occurred()) locals = PyEval_GetLocals();
    if (PyErr_Occurred()) return 0;
    if (locals != NULL && (!PyDict_CheckExact(locals) || take_from(locals, entry, values) < 0)) return 0;
    if (globals != NULL && (!PyDict_CheckExact(globals) || take_from(globals, entry, values) < 0)) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entry->names); i++) {
        if (values[i] == NULL) return 0;
    }
    return 1;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Reads evaluate's arguments after the text; 0 for what is not for here. None is as good as nothing. */
static int take_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **given)
{
    static const char *const known[] = {"local_dict", "global_dict", "out"};
    if (count < 1 || count > 3 || !PyUnicode_CheckExact(args[0])) return 0;
    for (Py_ssize_t i = 1; i < count; i++) given[i - 1] = args[i];
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        int at = PyTuple_GET_ITEM(names, i) == str_out ? 2 : 0;
        while (at < 2 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), known[at]) != 0) at++;
        if (given[at] != NULL || (at == 2 && PyTuple_GET_ITEM(names, i) != str_out)) return 0;
        given[at] = args[count + i];
    }
    for (int at = 0; at < 3; at++) {
        if (given[at] == Py_None) given[at] = NULL;
    }
    return 1;
}

static PyObject *evaluate_vectorcall(PyObject *object, PyObject *const *args, size_t flags_count, PyObject *names)
{
    evaluator *self = (evaluator *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags_count);
    PyObject *given[3] = {NULL, NULL, NULL}, *values[MOST_NAMES + 1] = {NULL}, *answer = NULL;
    text_entry *entry = take_arguments(args, count, names, given) ? text_find(self, args[0]) : NULL;
    int found = entry != NULL && take_values(entry, given[0], given[1], values);
    const Py_ssize_t operands = entry == NULL ? 0 : PyTuple_GET_SIZE(entry->names);
    if (found) {
        values[operands] = given[2];
        answer = PyObject_Vectorcall(entry->kernel, values, (size_t)operands, given[2] == NULL ? NULL : names_out);
    }
    for (Py_ssize_t i = 0; i < operands; i++) Py_XDECREF(values[i]);
    Py_XDECREF(entry);
    if (found) return answer;
    if (PyErr_Occurred()) {
        /* What is wrong with the text, Python tells again. All else is not ours: a signal's handler may have raised. */
        if (!PyErr_ExceptionMatches(self->error)) return NULL;
        PyErr_Clear();
    }
    return PyObject_Vectorcall(self->slow, args, (size_t)count, names);
}

/* ---- the type ---------------------------------------------------------------------------------------------------- */

static PyObject *evaluator_new(PyTypeObject *type, PyObject *args, PyObject *by_name)
{
    PyObject *slow, *find, *table, *error;
    if (by_name != NULL && PyDict_GET_SIZE(by_name) > 0) return PyErr_Format(PyExc_TypeError, "by position only");
    if (!PyArg_ParseTuple(args, "OOOO:Evaluator", &slow, &find, &table, &error)) return NULL;
    evaluator *self = (evaluator *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->vectorcall = evaluate_vectorcall;
    self->slow = Py_NewRef(slow);
    self->find = Py_NewRef(find);
    self->table = Py_NewRef(table);
    self->error = Py_NewRef(error);
    self->texts = PyDict_New();
    if (self->texts == NULL) Py_CLEAR(self);
    return (PyObject *)self;
}

static int evaluator_traverse(PyObject *object, visitproc visit, void *arg)
{
    evaluator *self = (evaluator *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->attributes);
    Py_VISIT(self->slow);
    Py_VISIT(self->find);
    Py_VISIT(self->table);
    Py_VISIT(self->error);
    Py_VISIT(self->texts);
    return 0;
}

/* Its functions stay while it may be called. */
static int evaluator_clear(PyObject *object)
{
    evaluator *self = (evaluator *)object;
    Py_CLEAR(self->attributes);
    if (self->texts != NULL) PyDict_Clear(self->texts);
    return 0;
}

static void evaluator_dealloc(PyObject *object)
{
    evaluator *self = (evaluator *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    evaluator_clear(object);
    Py_XDECREF(self->slow);
    Py_XDECREF(self->find);
    Py_XDECREF(self->table);
    Py_XDECREF(self->error);
    Py_XDECREF(self->texts);
    Py_XDECREF(self->generation);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef evaluator_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(evaluator, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(evaluator, attributes), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef evaluator_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *evaluator_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<fast %R>", ((evaluator *)object)->slow);
}

/* Pickled as a function is, by its name. */
static PyObject *evaluator_reduce(PyObject *object, PyObject *none)
{
    (void)none;
    return PyObject_GetAttrString(object, "__qualname__");
}

static PyMethodDef evaluator_methods[] = {
    {"__reduce__", evaluator_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* As a member of a class it would be as little bound as a builtin is. */
static PyType_Slot evaluator_slots[] = {
    {Py_tp_new, (void *)evaluator_new},
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_repr, (void *)evaluator_repr},
    {Py_tp_traverse, (void *)evaluator_traverse},
    {Py_tp_clear, (void *)evaluator_clear},
    {Py_tp_dealloc, (void *)evaluator_dealloc},
    {Py_tp_methods, evaluator_methods},
    {Py_tp_members, evaluator_members},
    {Py_tp_getset, evaluator_properties},
    {0, NULL},
};

static PyType_Spec evaluator_spec = {
    .name = "bcastgen._dispatch.Evaluator",
    .basicsize = sizeof(evaluator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = evaluator_slots,
};

/* Adds the type to the module; after str_out is there. */
static int evaluate_init(PyObject *module)
{
    str_replacements = PyUnicode_InternFromString("replacements");
    str_operands = PyUnicode_InternFromString("operands");
    names_out = PyTuple_Pack(1, str_out);
    text_entry_type = (PyTypeObject *)PyType_FromSpec(&text_entry_spec);
    PyObject *type = PyType_FromSpec(&evaluator_spec);
    if (str_replacements == NULL || str_operands == NULL || names_out == NULL || text_entry_type == NULL ||
        type == NULL || PyModule_AddObject(module, "Evaluator", type) < 0) {
        Py_XDECREF(type);
        return -1;
    }
    return 0;
}

#endif
