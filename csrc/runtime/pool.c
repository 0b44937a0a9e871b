/* pool.c: the threads of pool.h.
 *
 * One word opens a job: it has the job's number and the next index to take. A thread takes an index by a compare and
 * swap of that word, so that a latecomer takes none of a job it does not know, and holds the job open until it has
 * finished the index. Nobody waits for a thread that holds no index, so a worker that the system does not run delays no
 * other.
 *
 * The caller works, too. A worker that is slow to wake finds the job done, so a sleeping worker costs no more than the
 * system call that wakes it. All atomic operations are sequentially consistent: a job takes far longer than they do.
 *
 * Linux wakes a thread on its waker's CPU where the others seem to be busy. There it waits until the caller is
 * done, or does the job alone and then looks for the next in the caller's place. So the caller keeps its CPU to itself.
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
#include <time.h>

#include "cpus.inc"

enum {
    POOL_SPIN_NS = 50000, /* back-to-back calls find a worker awake; a sleeping one takes about as long to wake */
    POOL_ROUSE_NS = 100000, /* calls that follow each other within this time are taken for a series */
    POOL_LOOKS = 32,      /* between two looks at the clock */
    POOL_FEW = 8,         /* the first workers, which are told where to run; with more of them, some CPU is idle */
    POOL_LINE = 128,      /* bytes that CPUs hand to each other at once */
};

#define POOL_CLOSED UINT32_C(0xffffffff)      /* the index of a job that is not open */
#define POOL_MOST ((int64_t)1 << 31)          /* indices of one job; more are several jobs */

typedef struct {
    /* The job. Written while it is closed, by the caller that holds `busy`. */
    _Atomic(bcg_task) task;
    _Atomic(void *) argument;
    atomic_ullong float_mode;
    atomic_llong first;
    atomic_uint tasks, most_workers;
    atomic_int busy, sleeping, waiting, workers;
    /* Also written by the caller that holds `busy`. */
    int32_t asked;                 /* the most threads that a call has asked for */
    int cpu;                       /* the CPU that the first workers may not run on */
    pthread_t few[POOL_FEW];       /* the first workers */
    pthread_mutex_t mutex;
    pthread_cond_t work, ended;
    char apart[POOL_LINE];
    atomic_ullong open; /* number of the job << 32 | next index */
    char apart_too[POOL_LINE];
    atomic_uint finished;
} pool;

/* Null if there is none yet. After a fork the child's copy of the parent's pool has no threads, and is abandoned. */
static _Atomic(pool *) pool_current;

typedef struct {
    pool *home;
    uint32_t number;
} pool_seat;

static void pool_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* How this thread's floating-point unit rounds, traps and treats subnormals. A thread inherits this from its creator
 * and sees no later change, so a job carries its caller's mode. On other machines nothing is done. */
#if defined(__SSE__)
static uint64_t pool_float_mode(void) { return __builtin_ia32_stmxcsr() & 0xffc0; }

/* Keeps the flags of exceptions that have been raised so far. */
static void pool_set_float_mode(uint64_t mode)
{
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0xffc0u) | (unsigned)mode);
}
#elif defined(__aarch64__)
static uint64_t pool_float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static void pool_set_float_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory"); }
#else
static uint64_t pool_float_mode(void) { return 0; }

static void pool_set_float_mode(uint64_t mode) { (void)mode; }
#endif

static int64_t pool_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Takes the next index of the job that is open, if there is one for this worker; the caller is worker 0. */
static int pool_take(pool *p, uint32_t number, int64_t *index)
{
    unsigned long long open = atomic_load(&p->open);
    for (;;) {
        const uint32_t next = (uint32_t)open;
        if (next == POOL_CLOSED || next >= atomic_load(&p->tasks) || number > atomic_load(&p->most_workers)) return 0;
        *index = (int64_t)next + atomic_load(&p->first);
        if (atomic_compare_exchange_weak(&p->open, &open, open + 1)) return 1;
    }
}

static int pool_is_done(pool *p) { return atomic_load(&p->finished) == atomic_load(&p->tasks); }

/* Works on the job that is open until no index is left. */
static void pool_work(pool *p, uint32_t number)
{
    int64_t index;
    const uint64_t own = pool_float_mode();
    uint64_t mode = own;
    while (pool_take(p, number, &index)) {
        /* The fields read here are those of the job that the index was taken from: it stays until that is finished. */
        const bcg_task task = atomic_load(&p->task);
        void *const argument = atomic_load(&p->argument);
        const uint32_t tasks = atomic_load(&p->tasks);
        const uint64_t wanted = atomic_load(&p->float_mode);
        if (wanted != mode) pool_set_float_mode(mode = wanted);
        task(argument, index);
        if (atomic_fetch_add(&p->finished, 1) + 1 == tasks && atomic_load(&p->waiting)) {
            pthread_mutex_lock(&p->mutex);
            pthread_cond_signal(&p->ended);
            pthread_mutex_unlock(&p->mutex);
        }
    }
    if (mode != own) pool_set_float_mode(own);
}

static int pool_has_work(pool *p, uint32_t number)
{
    const uint32_t next = (uint32_t)atomic_load(&p->open);
    return next != POOL_CLOSED && next < atomic_load(&p->tasks) && number <= atomic_load(&p->most_workers);
}

static void *pool_worker(void *argument)
{
    pool_seat *const seat = argument;
    pool *const p = seat->home;
    const uint32_t number = seat->number;
    free(seat);
#ifdef __linux__
    pthread_setname_np(pthread_self(), "bcastgen");
#endif
    for (;;) {
        pool_work(p, number);
        if (atomic_load(&pool_current) != p) return NULL; /* a task forked, and this is the child's only thread */
        for (int64_t until = pool_now() + POOL_SPIN_NS; !pool_has_work(p, number) && pool_now() < until;) {
            for (int look = 0; look < POOL_LOOKS && !pool_has_work(p, number); look++) pool_relax();
        }
        if (pool_has_work(p, number)) continue;
        pthread_mutex_lock(&p->mutex);
        atomic_fetch_add(&p->sleeping, 1); /* before the look: the opener of a job looks at `sleeping` after that */
        if (!pool_has_work(p, number)) pthread_cond_wait(&p->work, &p->mutex); /* once: a woken thread spins again */
        atomic_fetch_sub(&p->sleeping, 1);
        pthread_mutex_unlock(&p->mutex);
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

static pool *pool_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pool *p = atomic_load(&pool_current), *none = NULL;
    if (p != NULL) return p;
    pthread_once(&once, pool_prepare);
    p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    atomic_store(&p->open, POOL_CLOSED);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->ended, NULL);
    if (atomic_compare_exchange_strong(&pool_current, &none, p)) return p;
    pthread_cond_destroy(&p->ended);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->mutex);
    free(p);
    return none;
}

static int pool_add_worker(pool *p, const pthread_attr_t *attributes)
{
    pthread_t thread;
    pool_seat *seat = malloc(sizeof *seat);
    if (seat == NULL) return 0;
    *seat = (pool_seat){.home = p, .number = (uint32_t)p->workers + 1};
    if (pthread_create(&thread, attributes, pool_worker, seat) != 0) {
        free(seat);
        return 0;
    }
    if (p->workers < POOL_FEW) p->few[p->workers] = thread;
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
    p->cpu = -1;
    const int32_t cpus = cpus_usable(), wanted = (threads < cpus ? threads : cpus) - 1;
    if (wanted <= p->workers || pthread_attr_init(&attributes) != 0) return;
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
    p->cpu = cpu;
    for (int i = 0; i < p->workers && i < POOL_FEW; i++) cpus_forbid(p->few[i], cpu);
}

static void pool_wake(pool *p)
{
    if (atomic_load(&p->sleeping) == 0) return;
    pthread_mutex_lock(&p->mutex); /* a thread that counted itself as sleeping, but looked before, waits by now */
    pthread_mutex_unlock(&p->mutex);
    pthread_cond_broadcast(&p->work);
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

static void pool_job(pool *p, int32_t threads, int64_t first, int64_t tasks, bcg_task task, void *argument)
{
    const int64_t most = threads - 1 < tasks - 1 ? threads - 1 : tasks - 1;
    atomic_store(&p->task, task);
    atomic_store(&p->argument, argument);
    atomic_store(&p->float_mode, pool_float_mode());
    atomic_store(&p->first, first);
    atomic_store(&p->tasks, (unsigned)tasks);
    atomic_store(&p->most_workers, (unsigned)most);
    atomic_store(&p->finished, 0);
    pool_make_room(p);
    const unsigned long long number = (atomic_load(&p->open) >> 32) + 1;
    atomic_store(&p->open, number << 32);
    pool_wake(p);
    pool_work(p, 0);
    if (!pool_is_done(p)) pool_await(p);
    atomic_store(&p->open, number << 32 | POOL_CLOSED);
}

void bcg_pool_run(int32_t threads, int64_t tasks, bcg_task task, void *argument)
{
    pool *const p = threads > 1 && tasks > 1 ? pool_get() : NULL;
    int idle = 0;
    if (p == NULL || !atomic_compare_exchange_strong(&p->busy, &idle, 1)) {
        pool_serial(0, tasks, task, argument);
        return;
    }
    if (threads - 1 > p->workers && threads > p->asked) pool_grow(p, threads);
    if (p->workers == 0) {
        pool_serial(0, tasks, task, argument);
    } else {
        for (int64_t first = 0; first < tasks; first += POOL_MOST) {
            pool_job(p, threads, first, tasks - first < POOL_MOST ? tasks - first : POOL_MOST, task, argument);
        }
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
    pool_wake(p);
    atomic_store(&p->busy, 0);
}

#endif
