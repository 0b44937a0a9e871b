/* runtime.c: the runtime as one shared object, for installs without the extension: runtime/native.py compiles it once.
 *
 * Contract. It exports two symbols, `bcg_run_shapes` and `bcg_run` of run.h.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* the C library's, beyond C11: threads and their CPUs */
#endif
#include "run.h"

#if defined(__GNUC__)
#define RUNTIME_EXPORT __attribute__((visibility("default")))
#else
#define RUNTIME_EXPORT
#endif
RUNTIME_EXPORT int32_t bcg_run_shapes(const bcg_kernel *kernel, const bcg_array *operands, bcg_shape *results,
                                      double *reduced, bcg_diagnostic *why);
RUNTIME_EXPORT int32_t bcg_run(const bcg_kernel *kernel, const bcg_array *operands, const bcg_array *results,
                               const bcg_run_options *options, bcg_diagnostic *why);

#include "guards.c"
#include "shape_code.c"
#include "pack.c"
#include "pool.c"
#include "run.c"
