/* pool.h: the threads that share the points of a large call.
 *
 * Contract. A process has one pool, started at the first call that needs it. Its size is the most threads that a call
 * has asked for, less the caller's own, bounded by the CPUs that the process may use at that call. bcg_pool_run calls
 * task(argument, index) once for each index of [0, tasks) on at most `threads` threads, the calling one among them, and
 * returns when all have ended. All threads round, trap and treat subnormals as the calling one does (x86, aarch64). If
 * the pool is at work for another call, or the caller is a thread of the pool, the calling thread runs all tasks, so
 * that there are never more threads than CPUs, nor than 1024. Workers spin a short while before they sleep. After
 * fork() the child has a pool of its own, started when it is needed. The pool needs no GIL and knows no Python.
 */
#ifndef BCG_POOL_H
#define BCG_POOL_H

#include <stdint.h>

typedef void (*bcg_task)(void *argument, int64_t index);

void bcg_pool_run(int32_t threads, int64_t tasks, bcg_task task, void *argument);

/* The CPUs this process may run on, at least 1 (the affinity mask, and a cgroup's quota where there is one). */
int32_t bcg_pool_cpus(void);

/* Whether a worker spins or works, so that a job need not wake one; the answer may be outdated when it is used. */
int32_t bcg_pool_awake(void);

/* Reports a job that was too short to wake a worker for, but long enough for a worker that spins. If two such jobs soon
 * follow each other, the workers are woken for the next one. */
void bcg_pool_rouse(int32_t threads);

#endif
