/* pool.h: the threads that share the points of a large call.
 *
 * Contract. One pool a process, started at the first call that wants it, of as many threads as were ever asked for less
 * the caller's own (bounded by the CPUs the process may use, at that call). bcg_pool_run calls task(argument, index)
 * once for each index of [0, tasks) on at most `threads` threads, the calling one among them, and returns when all have
 * ended. All round, trap and treat subnormals as the calling thread does (x86, aarch64). Where the pool is at work for
 * another call, or in a thread of the pool, the calling thread does it all: never more threads than CPUs. Workers spin
 * a short while before they sleep. After fork() the child has a pool of its own, started anew when it is needed. The
 * pool needs no GIL and knows no Python.
 */
#ifndef BCG_POOL_H
#define BCG_POOL_H

#include <stdint.h>

typedef void (*bcg_task)(void *argument, int64_t index);

void bcg_pool_run(int32_t threads, int64_t tasks, bcg_task task, void *argument);

/* The CPUs this process may run on, at least 1 (the affinity mask, and a cgroup's quota where there is one). */
int32_t bcg_pool_cpus(void);

/* Whether a worker spins, or works, so that a job need not wake one: a guess by the time it is used. */
int32_t bcg_pool_awake(void);

/* Says that a job was too short to wake anybody for it, though not for a worker that spins. Where one such soon follows
 * another, workers wake for the next. */
void bcg_pool_rouse(int32_t threads);

#endif
