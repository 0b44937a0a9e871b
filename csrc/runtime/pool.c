/* pool.c: the threads of pool.h.
 *
 * A job's indices are cut into shares, one a thread, always in the order of the threads: calls over the same arrays
 * touch the same memory from the same threads, so that it is in their caches and, on machines of several nodes, in the
 * memory of their node, to which whoever writes a page first has brought it. A thread that has done its share helps
 * others, those on its node first. pool_shares.inc has the rules by which each index is taken once. At work all threads
 * write one line of memory, the count of what is finished, once for a share.
 *
 * The caller works, too. Threads that sleep are woken along a tree: the caller wakes some, and each of these wakes some
 * before it works. One that the system does not run keeps others asleep, so the caller wakes some more after each index.
 * A worker that is slow to wake finds its share done. Atomic operations are sequentially consistent, but for the fields
 * of a job that is not open yet.
 *
 * Linux wakes a thread on its waker's CPU where the others seem to be busy. There it waits until the caller is done, or
 * does the job alone and then looks for the next in its place. So the caller keeps its CPU to itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* a file that includes this one after others defines it first */
#endif
#include "pool.h"

#include <stddef.h>

static void pool_serial(int64_t first, int64_t tasks, bcg_task task, void *argument)
{
    for (int64_t i = first; i < tasks; i++) task(argument, i);
}

#if defined(_WIN32) || defined(__STDC_NO_ATOMICS__) || defined(BCG_NO_THREADS)

void bcg_pool_run(int32_t threads, int64_t tasks, bcg_task task, void *argument)
{
    (void)threads;
    pool_serial(0, tasks, task, argument);
}

int32_t bcg_pool_cpus(void) { return 1; }

int32_t bcg_pool_awake(void) { return 0; }

void bcg_pool_rouse(int32_t threads) { (void)threads; }

#else

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpus.inc"

enum {
    POOL_SPIN_NS = 50000, /* back-to-back calls find a worker awake; a sleeping one takes about as long to wake */
    POOL_ROUSE_NS = 100000, /* calls that follow each other within this time are taken for a series */
    POOL_LOOKS = 32,      /* between two looks at the clock */
    POOL_FEW = 8,         /* the first workers, which are kept off the caller's CPU; with more, some CPU is idle */
    POOL_WAKES = 8,       /* the workers that a thread wakes, */
    POOL_SEATS = 1024,    /* and the most threads of a pool */
    POOL_LINE = 128,      /* bytes that CPUs hand to each other at once */
};

typedef struct pool pool;

/* A thread of the pool. The calling one has number 0. */
typedef struct {
    _Alignas(POOL_LINE) atomic_ullong taken; /* of its share: pool_shares.inc */
    _Alignas(POOL_LINE) atomic_int sleeps;
    pthread_mutex_t mutex;
    pthread_cond_t work;
    pool *home;
    pthread_t thread;
    uint32_t number;
    atomic_int node; /* on which it ran last */
} pool_seat;

struct pool {
    /* The job. Written while it is closed, by the caller that holds `busy`; otherwise all threads only read. */
    _Alignas(POOL_LINE) atomic_ullong open; /* the job's number * 2, and 1 more while there may be work */
    atomic_uint tasks, shares;
    atomic_ullong float_mode;
    atomic_llong first;
    _Atomic(bcg_task) task;
    _Atomic(void *) argument;
    _Alignas(POOL_LINE) atomic_uint finished;
    _Alignas(POOL_LINE) atomic_int sleeping;
    _Alignas(POOL_LINE) atomic_int busy, waiting, workers;
    /* Also written by the caller that holds `busy`. */
    int32_t asked; /* the most threads that a call has asked for */
    int cpu;       /* the CPU that the first workers may not run on */
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    _Alignas(POOL_LINE) pool_seat *seats[POOL_SEATS];
    cpus_nodes nodes;
};

/* Null if there is none yet. After a fork the child's copy of the parent's pool has no threads, and is abandoned. */
static _Atomic(pool *) pool_current;

#include "pool_mode.inc"
#include "pool_shares.inc"

static void pool_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static int64_t pool_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int pool_is_done(pool *p) { return atomic_load(&p->finished) == atomic_load(&p->tasks); }

/* Adds to what is finished. As long as that is missing the job stays, and with it all that is read of it. */
static void pool_finish(pool *p, const shares_job *job, uint32_t done)
{
    if (done == 0 || atomic_fetch_add(&p->finished, done) + done != job->tasks || !atomic_load(&p->waiting)) return;
    if (atomic_load(&pool_current) != p) return; /* a task forked: a thread that is not here may hold the mutex */
    pthread_mutex_lock(&p->mutex);
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->mutex);
}

static int pool_wake(pool_seat *seat)
{
    if (!atomic_load(&seat->sleeps)) return 0;
    pthread_mutex_lock(&seat->mutex); /* a thread that says it sleeps, but looked before, waits by now */
    pthread_mutex_unlock(&seat->mutex);
    pthread_cond_signal(&seat->work);
    return 1;
}

/* Wakes the threads that a thread of a job of so many has to wake. */
static void pool_wake_some(pool *p, uint32_t number, uint32_t shares)
{
    for (uint32_t next = POOL_WAKES * number + 1; next <= POOL_WAKES * (number + 1) && next < shares; next++) {
        (void)pool_wake(p->seats[next]);
    }
}

/* Does what is left of a share. Returns how many indices it took. */
static uint32_t pool_do_share(pool *p, const shares_job *job, uint32_t number, uint32_t share)
{
    uint32_t done = 0, index, next = POOL_WAKES + 1;
    for (; shares_take(p, job, share, &index); done++) {
        /* The fields read here are those of the job that the index was taken from. */
        atomic_load(&p->task)(atomic_load(&p->argument), (int64_t)index + atomic_load(&p->first));
        if (number != 0 || next >= job->shares || atomic_load(&p->sleeping) == 0) continue;
        for (uint32_t woken = 0; woken < POOL_WAKES && next < job->shares; next++) {
            woken += (uint32_t)pool_wake(p->seats[next]);
        }
    }
    return done;
}

/* Works on the job that is open until no index is left. Returns what `open` was then. */
static unsigned long long pool_work(pool *p, uint32_t number)
{
    shares_job job;
    if (!shares_look(p, number, &job)) return 0;
    pool_wake_some(p, number, job.shares);
    const uint64_t own = mode_read(), wanted = atomic_load(&p->float_mode);
    if (wanted != own) mode_set(wanted);
    pool_finish(p, &job, pool_do_share(p, &job, number, number));
    const int nodes = p->nodes.count > 1, node = nodes ? cpus_node_here(&p->nodes) : 0;
    if (node != atomic_load(&p->seats[number]->node)) atomic_store(&p->seats[number]->node, node);
    for (int far = 0; far <= nodes; far++) {
        for (uint32_t step = 1, other = number; step < job.shares && !pool_is_done(p); step++) {
            if (++other == job.shares) other = 0;
            if (nodes && far != (atomic_load(&p->seats[other]->node) != node)) continue;
            pool_finish(p, &job, pool_do_share(p, &job, number, other));
        }
    }
    if (wanted != own) mode_set(own);
    return job.open;
}

/* Whether a job is open that a worker belongs to, and has not looked through. */
static int pool_has_work(pool *p, uint32_t number, unsigned long long seen)
{
    const unsigned long long open = atomic_load(&p->open);
    return open % 2 == 1 && open != seen && number < atomic_load(&p->shares);
}

static void *pool_worker(void *argument)
{
    pool_seat *const seat = argument;
    pool *const p = seat->home;
    const uint32_t number = seat->number;
#ifdef __linux__
    pthread_setname_np(pthread_self(), "bcastgen");
#endif
    for (unsigned long long seen = 0;;) {
        const unsigned long long worked = pool_work(p, number);
        if (worked != 0) seen = worked;
        if (atomic_load(&pool_current) != p) return NULL; /* a task forked, and this is the child's only thread */
        for (int64_t until = pool_now() + POOL_SPIN_NS; !pool_has_work(p, number, seen) && pool_now() < until;) {
            for (int look = 0; look < POOL_LOOKS && !pool_has_work(p, number, seen); look++) pool_relax();
        }
        if (pool_has_work(p, number, seen)) continue;
        pthread_mutex_lock(&seat->mutex);
        atomic_fetch_add(&p->sleeping, 1);
        atomic_store(&seat->sleeps, 1); /* before the look: who has a job for it looks at `sleeps` after opening that */
        if (!pool_has_work(p, number, seen)) pthread_cond_wait(&seat->work, &seat->mutex); /* once: it spins again */
        atomic_store(&seat->sleeps, 0);
        atomic_fetch_sub(&p->sleeping, 1);
        pthread_mutex_unlock(&seat->mutex);
    }
}

/* ---- its making -------------------------------------------------------------------------------------------------- */

static void pool_in_child(void) { atomic_store(&pool_current, NULL); }

/* Keeps this library loaded, since threads run its code. If it is no library of its own, there is nothing to do. */
static void pool_prepare(void)
{
    Dl_info here;
    pthread_atfork(NULL, NULL, pool_in_child);
    if (dladdr((void *)&pool_current, &here) != 0 && here.dli_fname != NULL)
        (void)dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void pool_free(pool *p)
{
    free(p->seats[0]);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

/* Memory of lines that nothing else is in, all zero. */
static void *pool_lines(size_t size)
{
    void *memory;
    return posix_memalign(&memory, POOL_LINE, size) == 0 ? memset(memory, 0, size) : NULL;
}

static pool_seat *pool_new_seat(pool *p, uint32_t number)
{
    pool_seat *const seat = pool_lines(sizeof *seat);
    if (seat == NULL) return NULL;
    seat->home = p;
    seat->number = number;
    pthread_mutex_init(&seat->mutex, NULL);
    pthread_cond_init(&seat->work, NULL);
    return seat;
}

static pool *pool_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pool *p = atomic_load(&pool_current), *none = NULL;
    if (p != NULL) return p;
    pthread_once(&once, pool_prepare);
    p = pool_lines(sizeof *p);
    if (p == NULL) return NULL;
    atomic_store(&p->open, 2); /* so that the first job's number is none that a seat has */
    p->cpu = -1;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->ended, NULL);
    cpus_read_nodes(&p->nodes);
    p->seats[0] = pool_new_seat(p, 0);
    if (p->seats[0] != NULL && atomic_compare_exchange_strong(&pool_current, &none, p)) return p;
    pool_free(p);
    return none;
}

static int pool_add_worker(pool *p, const pthread_attr_t *attributes)
{
    const int workers = p->workers;
    pool_seat *const seat = workers + 1 < POOL_SEATS ? pool_new_seat(p, (uint32_t)workers + 1) : NULL;
    if (seat == NULL) return 0;
    p->seats[workers + 1] = seat;
    if (pthread_create(&seat->thread, attributes, pool_worker, seat) != 0) {
        p->seats[workers + 1] = NULL;
        free(seat);
        return 0;
    }
    atomic_fetch_add(&p->workers, 1);
    return 1;
}

/* Grows the pool to what a call asks for. Workers take no signals: those are for the threads of the program. */
static void pool_grow(pool *p, int32_t threads)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    pthread_attr_t attributes;
    sigset_t blocked, before;
    p->asked = threads;
    const int32_t cpus = cpus_usable(), wanted = (threads < cpus ? threads : cpus) - 1;
    if (wanted <= p->workers || pthread_attr_init(&attributes) != 0) return;
    p->cpu = -1; /* new workers have to be told, too */
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (p->workers < wanted && pool_add_worker(p, &attributes)) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* ---- a job ------------------------------------------------------------------------------------------------------- */

static void pool_make_room(pool *p)
{
    const int cpu = cpus_here();
    if (cpu == p->cpu) return;
    if (p->cpu >= 0) p->asked = 0; /* it moved: before, it may have been kept on few CPUs, so more may be had now */
    p->cpu = cpu;
    for (int i = 1; i <= p->workers && i <= POOL_FEW; i++) cpus_forbid(p->seats[i]->thread, cpu);
}

/* Waits for the indices that workers hold. If a task has forked, the parent's threads hold them, and the child does not
 * wait. */
static void pool_await(pool *p)
{
    for (int64_t until = pool_now() + POOL_SPIN_NS; !pool_is_done(p) && pool_now() < until;) {
        for (int look = 0; look < POOL_LOOKS && !pool_is_done(p); look++) pool_relax();
    }
    if (pool_is_done(p) || atomic_load(&pool_current) != p) return;
    pthread_mutex_lock(&p->mutex);
    atomic_store(&p->waiting, 1); /* before the look, as above */
    while (!pool_is_done(p)) pthread_cond_wait(&p->ended, &p->mutex);
    atomic_store(&p->waiting, 0);
    pthread_mutex_unlock(&p->mutex);
}

static void pool_job(pool *p, int32_t threads, int64_t first, uint32_t tasks, bcg_task task, void *argument)
{
    const uint32_t most = (uint32_t)(threads <= p->workers ? threads : p->workers + 1);
    const unsigned long long open = atomic_load(&p->open) + 1;
    /* Who sees one of these sees that no job was open before. Waiting for each store would cost as a short job does. */
    atomic_store_explicit(&p->task, task, memory_order_release);
    atomic_store_explicit(&p->argument, argument, memory_order_release);
    atomic_store_explicit(&p->float_mode, mode_read(), memory_order_release);
    atomic_store_explicit(&p->first, first, memory_order_release);
    atomic_store_explicit(&p->tasks, tasks, memory_order_release);
    atomic_store_explicit(&p->shares, most < tasks ? most : tasks, memory_order_release);
    atomic_store_explicit(&p->finished, 0, memory_order_release);
    pool_make_room(p);
    atomic_store(&p->open, open);
    (void)pool_work(p, 0);
    if (!pool_is_done(p)) pool_await(p);
    atomic_store(&p->open, open + 1);
}

void bcg_pool_run(int32_t threads, int64_t tasks, bcg_task task, void *argument)
{
    pool *const p = threads > 1 && tasks > 1 ? pool_get() : NULL;
    int idle = 0;
    if (p == NULL || !atomic_compare_exchange_strong(&p->busy, &idle, 1)) {
        pool_serial(0, tasks, task, argument);
        return;
    }
    pool_make_room(p);
    if (threads - 1 > p->workers && threads > p->asked) pool_grow(p, threads);
    if (p->workers == 0) pool_serial(0, tasks, task, argument);
    for (int64_t first = 0; first < tasks && p->workers > 0; first += SHARES_MOST) {
        const int64_t left = tasks - first;
        if (atomic_load(&pool_current) != p) { /* a task forked, and this is the child */
            pool_serial(first, tasks, task, argument);
            break;
        }
        pool_job(p, threads, first, (uint32_t)(left < SHARES_MOST ? left : SHARES_MOST), task, argument);
    }
    atomic_store(&p->busy, 0);
}

int32_t bcg_pool_cpus(void) { return cpus_usable(); }

int32_t bcg_pool_awake(void)
{
    pool *const p = atomic_load(&pool_current);
    return p != NULL && atomic_load(&p->sleeping) < atomic_load(&p->workers);
}

void bcg_pool_rouse(int32_t threads)
{
    static atomic_llong last;
    const int64_t now = pool_now(), before = atomic_exchange(&last, now);
    pool *const p = now - before < POOL_ROUSE_NS ? pool_get() : NULL;
    int idle = 0;
    if (p == NULL || !atomic_compare_exchange_strong(&p->busy, &idle, 1)) return;
    if (threads - 1 > p->workers && threads > p->asked) pool_grow(p, threads);
    pool_make_room(p);
    pool_wake_some(p, 0, (uint32_t)(threads <= p->workers ? threads : p->workers + 1));
    atomic_store(&p->busy, 0);
}

#endif
