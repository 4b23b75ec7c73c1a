/* A program as a function of CPython's over NumPy arrays: the way into it from the interpreter.

   Arrays that a program can take as they are cost some nanoseconds each here, and a tenth of a
   microsecond in Python. Anything else is left to a function of the caller's in Python.

   Objects are read as CPython's and NumPy's binary interfaces have them in memory, and CPython's
   functions come as pointers: no headers of theirs are needed. ccodegen/backend/direct.py makes
   what stands here, and sees to it that the interpreter is one of this kind. One file of a program
   includes this header, which defines the function. */
#ifndef CCG_PYTHON_H
#define CCG_PYTHON_H

#include "ccg_base.h"

/* PyObject. */
typedef struct ccg_object {
    ptrdiff_t references;
    const void *type;
} ccg_object;

/* PyArrayObject. */
typedef struct ccg_array {
    ccg_object object;
    void *data;
    int rank;
    const ptrdiff_t *dimensions;
    const ptrdiff_t *strides;
    ccg_object *base;
    const void *dtype;
    int flags;
} ccg_array;

/* One pointer of the program. `argument`: its number among the arguments of a call; `result`: among
   the results; -1: it is none. `shape`: (dimensions, type) as numpy.empty takes them. Where it is
   an argument too, a result is the array of the argument. */
typedef struct ccg_python_slot {
    ptrdiff_t argument;
    ptrdiff_t result;
    const void *dtype;
    ptrdiff_t rank;
    const ptrdiff_t *dimensions;
    ptrdiff_t flags; /* that an array must have */
    ptrdiff_t bytes;
    ccg_object *shape;
} ccg_python_slot;

/* What CPython and NumPy offer, and a program's own. */
typedef struct ccg_python {
    void *(*save_thread)(void);
    void (*restore_thread)(void *);
    ccg_object *(*call)(ccg_object *, ccg_object *, ccg_object *); /* function, tuple, keywords */
    ccg_object *(*forward)(ccg_object *, ccg_object *const *, size_t, ccg_object *);
    void (*keep)(ccg_object *);
    void (*release)(ccg_object *);
    ccg_object *(*tuple_new)(ptrdiff_t);
    int (*tuple_set)(ccg_object *, ptrdiff_t, ccg_object *); /* takes over the reference */
    ccg_object *(*tuple_get)(ccg_object *, ptrdiff_t);
    ptrdiff_t (*tuple_size)(ccg_object *);
    const void *array_type;
    const void *tuple_type;
    const void *none;
    const void *out;     /* the name of the one keyword */
    ccg_object *empty;   /* numpy.empty */
    ccg_object *general; /* takes whatever does not fit here */
    void **table;        /* of the program: constants and the arena are in it */
    const ccg_python_slot *slots;
    ptrdiff_t count;
    ptrdiff_t arguments;
    ptrdiff_t results;
    ptrdiff_t several;   /* whether results are a tuple */
    ccg_object **arrays; /* of a call: that of each slot */
    ptrdiff_t *order;    /* the slots, in the order that their arrays had in memory in the last call */
    ptrdiff_t busy;      /* a thread is about to run the program, or runs it, with this memory */
} ccg_python;

CCG_INLINE int ccg_python_fits(
    const ccg_python *python, const ccg_python_slot *slot, const ccg_object *given)
{
    if (given->type != python->array_type) {
        return 0;
    }
    const ccg_array *const array = (const ccg_array *)given;
    if (array->dtype != slot->dtype || array->rank != slot->rank
        || (array->flags & slot->flags) != slot->flags) {
        return 0;
    }
    for (ptrdiff_t d = 0; d < slot->rank; d++) {
        if (array->dimensions[d] != slot->dimensions[d]) {
            return 0;
        }
    }
    return 1;
}

/* Where the array of a slot begins; 0 where it is to be made. */
CCG_INLINE uintptr_t ccg_python_place(const ccg_python *python, ptrdiff_t n)
{
    return python->arrays[n] == NULL ? 0 : (uintptr_t)((const ccg_array *)python->arrays[n])->data;
}

/* Sorts the slots by where their arrays begin: by insertion, first of those far from each other. */
CCG_INLINE void ccg_python_sort(const ccg_python *python)
{
    ptrdiff_t *const order = python->order;
    for (ptrdiff_t step = python->count / 2; step > 0; step /= 2) {
        for (ptrdiff_t n = step; n < python->count; n++) {
            const ptrdiff_t slot = order[n];
            const uintptr_t place = ccg_python_place(python, slot);
            ptrdiff_t m = n;
            while (m >= step && ccg_python_place(python, order[m - step]) > place) {
                order[m] = order[m - step];
                m -= step;
            }
            order[m] = slot;
        }
    }
}

/* Whether no memory that the program writes is in another array. */
CCG_INLINE int ccg_python_are_apart(const ccg_python *python)
{
    ptrdiff_t given = 0;
    for (ptrdiff_t n = 0; n < python->count; n++) {
        given += python->slots[n].result >= 0 && python->arrays[n] != NULL;
    }
    if (given == 0) {
        return 1;
    }
    ccg_python_sort(python);
    uintptr_t end = 0;
    uintptr_t end_written = 0;
    for (ptrdiff_t n = 0; n < python->count; n++) {
        const ccg_python_slot *const slot = &python->slots[python->order[n]];
        const uintptr_t place = ccg_python_place(python, python->order[n]);
        const uintptr_t past = place + (uintptr_t)slot->bytes;
        if (place == 0 || place == past) {
            continue;
        }
        if (place < (slot->result >= 0 ? end : end_written)) {
            return 0;
        }
        end = past > end ? past : end;
        end_written = slot->result >= 0 && past > end_written ? past : end_written;
    }
    return 1;
}

/* Sets `out` to the keyword argument, NULL where there is none. Returns 0 for other keywords, and
   for what is no tuple where there are several results. */
CCG_INLINE int ccg_python_out(
    const ccg_python *python, ccg_object *const *keywords, ccg_object *names, ccg_object **out)
{
    *out = NULL;
    if (names == NULL) {
        return 1;
    }
    if (python->tuple_size(names) != 1 || python->tuple_get(names, 0) != python->out) {
        return 0;
    }
    if (keywords[0] == python->none) {
        return 1;
    }
    *out = keywords[0];
    return !python->several
        || ((*out)->type == python->tuple_type && python->tuple_size(*out) == python->results);
}

/* Finds the array of each slot, NULL for those to be made. Returns 0 where one does not fit. */
CCG_INLINE int ccg_python_take(
    const ccg_python *python, ccg_object *const *given, ccg_object *out)
{
    ccg_object **const arrays = python->arrays;
    for (ptrdiff_t n = 0; n < python->count; n++) {
        const ccg_python_slot *const slot = &python->slots[n];
        arrays[n] = NULL;
        if (slot->argument >= 0) {
            arrays[n] = given[slot->argument];
        } else if (out != NULL) {
            arrays[n] = python->several ? python->tuple_get(out, slot->result) : out;
        }
        if (arrays[n] != NULL && !ccg_python_fits(python, slot, arrays[n])) {
            return 0;
        }
    }
    return ccg_python_are_apart(python);
}

/* The result or the tuple of results: new references. NULL after an error. */
CCG_INLINE ccg_object *ccg_python_results(const ccg_python *python)
{
    ccg_object *const *const arrays = python->arrays;
    ccg_object *tuple = NULL;
    if (python->several && (tuple = python->tuple_new(python->results)) == NULL) {
        return NULL;
    }
    for (ptrdiff_t n = 0; n < python->count; n++) {
        if (python->slots[n].result < 0) {
            continue;
        }
        python->keep(arrays[n]);
        if (!python->several) {
            return arrays[n];
        }
        (void)python->tuple_set(tuple, python->slots[n].result, arrays[n]);
    }
    return tuple;
}

/* The program. */
int ccg_call(void *const *table);

/* One run over the arrays of the call, while other threads of the interpreter go on. */
CCG_INLINE ccg_object *ccg_python_run(ccg_python *python)
{
    for (ptrdiff_t n = 0; n < python->count; n++) {
        python->table[n] = ((const ccg_array *)python->arrays[n])->data;
    }
    void *const thread = python->save_thread();
    (void)ccg_call(python->table); /* it cannot fail: a program that can has hooks, and comes not here */
    python->restore_thread(thread);
    return ccg_python_results(python);
}

/* The function itself, as METH_FASTCALL | METH_KEYWORDS has it. `self`: an array whose memory is a
   ccg_python. */
ccg_object *ccg_python_call(
    ccg_object *self, ccg_object *const *given, ptrdiff_t count, ccg_object *names);

ccg_object *ccg_python_call(
    ccg_object *self, ccg_object *const *given, ptrdiff_t count, ccg_object *names)
{
    ccg_python *const python = ((ccg_array *)self)->data;
    ccg_object **const arrays = python->arrays;
    ccg_object *out;
    if (python->busy || count != python->arguments
        || !ccg_python_out(python, given + count, names, &out)
        || !ccg_python_take(python, given, out)) {
        return python->forward(python->general, given, (size_t)count, names);
    }
    int failed = 0;
    python->busy = 1; /* to make an array runs Python's code, and other threads meanwhile */
    for (ptrdiff_t n = 0; n < python->count && !failed; n++) {
        if (arrays[n] == NULL) {
            arrays[n] = python->call(python->empty, python->slots[n].shape, NULL);
            failed = arrays[n] == NULL;
        }
    }
    ccg_object *const result = failed ? NULL : ccg_python_run(python);
    for (ptrdiff_t n = 0; n < python->count; n++) {
        const int is_made = out == NULL && python->slots[n].argument < 0 && arrays[n] != NULL;
        if (is_made) {
            python->release(arrays[n]);
        }
    }
    python->busy = 0;
    return result;
}

#endif
