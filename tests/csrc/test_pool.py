"""csrc/runtime/pool.c: a C program that shares jobs out, forks and nests, compiled once for each sanitizer.

In: the name of a check.  Out: nothing and status 0, or what went wrong.

The file is long because the C program that is run is in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bcastgen.core.c_flags import C_LANGUAGE
from compile_flags import WARNED
from csrc_includes import CSRC_FLAGS
from foreign import MACHINES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the pool is serial there")

HARNESS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pool.c"

#define CHECK(holds) \
    do { \
        if (!(holds)) { fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #holds); exit(1); } \
    } while (0)

enum { MOST = 5000 };

typedef struct {
    atomic_int times[MOST];
    atomic_int outside;
    int tasks;
} tally;

static void count(void *argument, int64_t index)
{
    tally *t = argument;
    if (index < 0 || index >= t->tasks) atomic_fetch_add(&t->outside, 1);
    else atomic_fetch_add(&t->times[index], 1);
}

static void run_counted(tally *t, int threads, int tasks)
{
    memset(t, 0, sizeof *t);
    t->tasks = tasks;
    bcg_pool_run(threads, tasks, count, t);
}

static void check_counted(tally *t)
{
    CHECK(t->outside == 0);
    for (int i = 0; i < t->tasks; i++) CHECK(t->times[i] == 1);
}

static void every_index_once(void)
{
    static tally t;
    static const int tasks[] = {0, 1, 2, 3, 7, 64, 1000, MOST};
    for (int threads = -1; threads <= 5; threads++) {
        for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
            run_counted(&t, threads, tasks[k]);
            check_counted(&t);
        }
    }
}

static void many_small_jobs(void)
{
    static tally t;
    for (int round = 0; round < 3000; round++) {
        run_counted(&t, 2 + round % 3, 1 + round % 9);
        check_counted(&t);
        if (round % 500 == 0) usleep(2000); /* long enough for the workers to sleep */
    }
}

/* The results of a job are there when the call returns: plain writes of a worker, plain reads of the caller. */
static void write_plain(void *argument, int64_t index) { ((int *)argument)[index]++; }

static void writes_are_seen(void)
{
    static int values[64];
    for (int round = 1; round <= 2000; round++) {
        bcg_pool_run(4, 64, write_plain, values);
        for (int i = 0; i < 64; i++) CHECK(values[i] == round);
    }
}

static void nest(void *argument, int64_t index)
{
    tally *t = (tally *)argument + index;
    run_counted(t, 4, 50);
}

static void nested_calls(void)
{
    static tally t[8];
    for (int round = 0; round < 50; round++) {
        bcg_pool_run(4, 8, nest, t);
        for (int k = 0; k < 8; k++) check_counted(&t[k]);
    }
}

static void *call_often(void *argument)
{
    for (int round = 0; round < 1000; round++) {
        run_counted(argument, 2 + round % 4, round % 200);
        check_counted(argument);
    }
    return NULL;
}

static void callers_at_once(void)
{
    static tally t[4];
    pthread_t threads[4];
    for (int k = 0; k < 4; k++) CHECK(pthread_create(&threads[k], NULL, call_often, &t[k]) == 0);
    for (int k = 0; k < 4; k++) CHECK(pthread_join(threads[k], NULL) == 0);
}

/* A child that hangs ends, even where it was a thread that takes no signals. */
static void stop_late(void)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    alarm(30);
}

static void expect_ok(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int threads_of_process(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return -1;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void forks(void)
{
    static tally t;
    for (int round = 0; round < 100; round++) {
        run_counted(&t, 4, 100);
        check_counted(&t);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            stop_late();
            for (int again = 0; again < 3; again++) {
                run_counted(&t, 4, 100);
                check_counted(&t);
            }
            const int found = threads_of_process();
            CHECK(found < 0 || bcg_pool_cpus() < 2 || found > 1); /* a pool of its own, not none */
            _exit(0);
        }
        expect_ok(child);
    }
}

static atomic_int stop;

static void *keep_busy(void *argument)
{
    while (!stop) {
        run_counted(argument, 4, 500);
        check_counted(argument);
    }
    return NULL;
}

static void forks_while_another_thread_calls(void)
{
    static tally mine, other;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, keep_busy, &other) == 0);
    for (int round = 0; round < 100; round++) {
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            stop_late();
            run_counted(&mine, 4, 100);
            check_counted(&mine);
            _exit(0);
        }
        expect_ok(child);
    }
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
}

/* A task that forks: the child must end, whichever thread it was. */
static void fork_inside(void *argument, int64_t index)
{
    (void)argument;
    if (index % 4 != 0) return;
    const pid_t child = fork();
    if (child == 0) {
        stop_late();
        if (index % 8 == 0) _exit(0);
        return;
    }
    expect_ok(child);
}

static void forks_in_a_task(void)
{
    const pid_t before = getpid();
    bcg_pool_run(4, 32, fork_inside, NULL);
    if (getpid() != before) _exit(0);
}

#ifdef BCG_NO_THREADS
static void grows_with_what_is_asked(void) {}
#else
static void grows_with_what_is_asked(void)
{
    static tally t;
    const int cpus = bcg_pool_cpus();
    CHECK(cpus >= 1);
    run_counted(&t, 1, 100);
    CHECK(pool_current == NULL); /* one thread needs no pool */
    for (int threads = 2; threads <= 64; threads *= 2) {
        run_counted(&t, threads, 1000);
        check_counted(&t);
        CHECK(pool_current->workers == (threads < cpus ? threads : cpus) - 1);
    }
    const int found = threads_of_process();
    CHECK(found < 0 || found <= cpus + 1); /* a sanitizer may have one */
    for (int tries = 0; tries < 100 && cpus > 1; tries++) {
        const int cpu = pool_current->cpu;
        run_counted(&t, 64, 1000);
        if (pool_current->cpu != cpu) continue; /* where a caller has moved to, it asks again */
        CHECK(pool_current->asked == 64);       /* elsewhere one call has asked for all */
        break;
    }
}
#endif

#if defined(BCG_NO_THREADS) || !defined(__linux__)
static void the_callers_cpu_is_its_own(void) {}
static void a_start_on_one_cpu_may_grow_later(void) {}
static void workers_wake_for_a_row_of_calls(void) {}
#else
/* Wherever the caller goes, no worker may run there, but on all other CPUs that the caller may. */
static void the_callers_cpu_is_its_own(void)
{
    static tally t;
    cpu_set_t all, one, theirs;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || CPU_COUNT(&all) < 2) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        CHECK(sched_setaffinity(0, sizeof one, &one) == 0); /* goes there at once, and may then leave */
        CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
        run_counted(&t, 4, 100);
        check_counted(&t);
        if (pool_current->cpu != sched_getcpu()) continue;
        CHECK(pool_current->workers > 0);
        for (int i = 1; i <= pool_current->workers && i <= POOL_FEW; i++) {
            CHECK(pthread_getaffinity_np(pool_current->seats[i]->thread, sizeof theirs, &theirs) == 0);
            CHECK(!CPU_ISSET(pool_current->cpu, &theirs) && CPU_COUNT(&theirs) == CPU_COUNT(&all) - 1);
        }
    }
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    run_counted(&t, 4, 100); /* a caller of one CPU leaves its workers where they are */
    check_counted(&t);
}

/* Goes to a CPU, the first or the last of a mask, and stays there. */
static void go_to(const cpu_set_t *all, int last)
{
    cpu_set_t one;
    int found = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE && (last || found < 0); cpu++) {
        if (CPU_ISSET(cpu, all)) found = cpu;
    }
    CPU_ZERO(&one);
    CPU_SET(found, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static void a_start_on_one_cpu_may_grow_later(void)
{
    static tally t;
    cpu_set_t all;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    if (CPU_COUNT(&all) < 2 || bcg_pool_cpus() > CPU_COUNT(&all)) return;
    go_to(&all, 0);
    run_counted(&t, 2, 100);
    check_counted(&t);
    CHECK(pool_current->workers == 0);
    go_to(&all, 1);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
    for (int tries = 0; tries < 100 && pool_current->workers == 0; tries++) {
        run_counted(&t, 2, 100);
        check_counted(&t);
        usleep(1000);
    }
    CHECK(pool_current->workers == 1);
}

/* Two calls in a row, again and again: the system may stop this thread between them, or leave the worker waiting. */
static void rouse_until_awake(void)
{
    for (int tries = 0; tries < 10000 && !bcg_pool_awake(); tries++) {
        bcg_pool_rouse(2);
        bcg_pool_rouse(2);
        for (int look = 0; look < 100000 && !bcg_pool_awake(); look++) continue; /* it spins for 50 us */
    }
}

static void workers_wake_for_a_row_of_calls(void)
{
    if (bcg_pool_cpus() < 2) return;
    bcg_pool_rouse(2);
    CHECK(pool_current == NULL); /* the first of a row, or a lone call */
    rouse_until_awake();
    CHECK(pool_current != NULL && pool_current->workers == 1);
    for (int tries = 0; tries < 10000 && pool_current->sleeping == 0; tries++) usleep(1000);
    CHECK(pool_current->sleeping == 1);
    rouse_until_awake();
    CHECK(bcg_pool_awake());
}
#endif

/* Each task waits for all others, so that none ends before as many threads as tasks are awake. */
static atomic_int here;

static void meet(void *argument, int64_t index)
{
    const int all = *(const int *)argument;
    (void)index;
    atomic_fetch_add(&here, 1);
    while (atomic_load(&here) < all) usleep(50);
}

static void every_thread_wakes(void)
{
    int all = bcg_pool_cpus();
    for (int round = 0; round < 3 && all > 1; round++) {
        atomic_store(&here, 0);
        bcg_pool_run(all, all, meet, &all);
        CHECK(atomic_load(&here) == all);
#ifndef BCG_NO_THREADS
        for (int tries = 0; tries < 10000 && pool_current->sleeping < pool_current->workers; tries++) usleep(1000);
        CHECK(pool_current->sleeping == all - 1);
#endif
    }
}

#ifdef BCG_NO_THREADS
static void a_thread_that_is_held_lets_others_wake(void) {}
static void own_share_then_own_node(void) {}
static void nodes_are_read(void) {}
#else
/* A worker that the system does not run, as if a signal's handler held it, keeps no other thread asleep. */
static atomic_int is_held, others;

static void hold_one(void *argument, int64_t index)
{
    (void)argument, (void)index;
    int free_to_hold = 0;
    if (pthread_equal(pthread_self(), pool_current->seats[1]->thread) &&
        atomic_compare_exchange_strong(&is_held, &free_to_hold, 1)) {
        while (atomic_load(&others) < 60) usleep(100);
    }
    atomic_fetch_add(&others, 1);
    usleep(5000);
}

static void a_thread_that_is_held_lets_others_wake(void)
{
    static tally t;
    if (bcg_pool_cpus() < 32) return;
    run_counted(&t, 32, 1000); /* makes the pool */
    check_counted(&t);
    for (int tries = 0; tries < 10000 && pool_current->sleeping < pool_current->workers; tries++) usleep(1000);
    bcg_pool_run(32, 128, hold_one, NULL);
    CHECK(atomic_load(&others) == 128);
}

/* What one thread does of a job, if no other comes: indices in the order in which it takes them. */
static int64_t order[64];
static int ordered;

static void note(void *argument, int64_t index)
{
    (void)argument;
    order[ordered++] = index;
}

static void own_share_then_own_node(void)
{
    static const int64_t on_one[] = {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5};
    static const int64_t on_two[] = {6, 7, 0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int nodes = 1; nodes <= 2; nodes++) {
        pool *const p = pool_get();
        atomic_store(&p->task, note);
        atomic_store(&p->tasks, 16);
        atomic_store(&p->shares, 8);
        atomic_store(&p->finished, 0);
        p->nodes.count = nodes;
        for (uint32_t number = 0; number < 8; number++) {
            if (p->seats[number] == NULL) p->seats[number] = pool_new_seat(p, number);
            p->seats[number]->node = nodes == 2 && number >= 4;
        }
        memset(&p->nodes.of, 0, sizeof p->nodes.of);
        atomic_fetch_add(&p->open, 1);
        ordered = 0;
        CHECK(pool_work(p, 3) == atomic_load(&p->open) && ordered == 16 && pool_is_done(p));
        CHECK(memcmp(order, nodes == 1 ? on_one : on_two, sizeof on_one) == 0);
        atomic_fetch_add(&p->open, 1);
    }
}

#ifdef __linux__
/* CPUS_NODES has two sockets of 16 cores with two threads each, and a third node of memory alone. */
static void nodes_are_read(void)
{
#ifdef CPUS_NODES_ARE_MADE
    static cpus_nodes nodes;
    cpu_set_t list;
    CHECK(cpus_read_list(CPUS_NODES "/node0/cpulist", &list) && CPU_COUNT(&list) == 32);
    CHECK(CPU_ISSET(0, &list) && CPU_ISSET(15, &list) && !CPU_ISSET(16, &list) && CPU_ISSET(47, &list));
    CHECK(cpus_read_list(CPUS_NODES "/node2/cpulist", &list) && CPU_COUNT(&list) == 0);
    CHECK(!cpus_read_list(CPUS_NODES "/node7/cpulist", &list) && CPU_COUNT(&list) == 0);
    cpus_read_nodes(&nodes);
    CHECK(nodes.count == 3);
    for (int cpu = 0; cpu < 70; cpu++) CHECK(nodes.of[cpu] == (cpu < 64 ? cpu / 16 % 2 : CPUS_UNKNOWN));
    CHECK(cpus_node_here(&nodes) == sched_getcpu() / 16 % 2);
#endif
}
#else
static void nodes_are_read(void) {}
#endif
#endif

static void stay_within(void *argument, int64_t index)
{
    atomic_int *now = argument;
    (void)index;
    const int working = atomic_fetch_add(now, 1) + 1;
    CHECK(working <= 2);
    usleep(100);
    atomic_fetch_sub(now, 1);
}

static void no_more_threads_than_asked_for(void)
{
    static tally t;
    atomic_int working = 0;
    run_counted(&t, 64, 1000);
    bcg_pool_run(2, 200, stay_within, &working);
}

static pthread_t main_thread;
static atomic_int elsewhere;

static void on_signal(int number)
{
    (void)number;
    if (!pthread_equal(pthread_self(), main_thread)) elsewhere = 1;
}

static void signal_process(void *argument, int64_t index)
{
    (void)argument, (void)index;
    kill(getpid(), SIGUSR1);
}

static void signals_are_the_programs(void)
{
    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    for (int round = 0; round < 50; round++) bcg_pool_run(2, 10, signal_process, NULL);
    CHECK(!elsewhere);
}

/* A fault of a worker's own goes to the program's handler, as a page of a file that is gone does; nothing else does. */
static void look_at_mask(void *argument, int64_t index)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;
    (void)argument, (void)index;
    usleep(100);
    if (pthread_equal(pthread_self(), main_thread)) return;
    elsewhere = 1;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) CHECK(!sigismember(&blocked, faults[k]));
    CHECK(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGALRM) && sigismember(&blocked, SIGCHLD));
}

static void workers_take_their_own_faults(void)
{
    main_thread = pthread_self();
    if (bcg_pool_cpus() < 2) return;
    for (int round = 0; round < 100 && !elsewhere; round++) bcg_pool_run(2, 50, look_at_mask, NULL);
    CHECK(elsewhere);
}

static void add(void *argument, int64_t index)
{
    int64_t *sum = argument;
    *sum += index;
}

static void serial_is_in_order(void)
{
    int64_t sum = 0;
    bcg_pool_run(1, 1000, add, &sum);
    CHECK(sum == 499500);
}

static void exits_while_workers_spin(void)
{
    static tally t;
    run_counted(&t, 4, 100);
    exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } checks[] = {
#define ROW(name) {#name, name},
        CHECKS
    };
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        if (argc == 2 && strcmp(argv[1], checks[k].name) == 0) return checks[k].check(), 0;
    }
    return 2;
}
"""

CHECKS = [
    "every_index_once",
    "many_small_jobs",
    "writes_are_seen",
    "nested_calls",
    "callers_at_once",
    "forks",
    "forks_while_another_thread_calls",
    "forks_in_a_task",
    "grows_with_what_is_asked",
    "the_callers_cpu_is_its_own",
    "a_start_on_one_cpu_may_grow_later",
    "workers_wake_for_a_row_of_calls",
    "every_thread_wakes",
    "a_thread_that_is_held_lets_others_wake",
    "own_share_then_own_node",
    "nodes_are_read",
    "no_more_threads_than_asked_for",
    "signals_are_the_programs",
    "workers_take_their_own_faults",
    "serial_is_in_order",
    "exits_while_workers_spin",
]
FORKS = {"forks", "forks_while_another_thread_calls", "forks_in_a_task"}
# A child of a fork with threads has no more than the calling thread, where the thread sanitizer starts none. The
# address sanitizer of gcc 12 forks with the locks of its allocator as they are, so that a child's malloc may wait for
# ever for a thread that it does not have (seen in one of some 400 runs); that of clang 19 takes them before.
FORK_SAFE_ASAN = "clang-19"

Builder = Callable[..., Path]


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    made: dict[tuple[str, ...], Path] = {}

    def build(*flags: str, compiler: Sequence[str] = (os.environ.get("CC", "gcc"),)) -> Path:
        key = (*compiler, *flags)
        if key not in made:
            directory = tmp_path_factory.mktemp("pool")
            rows = " ".join(f"ROW({name})" for name in CHECKS)
            (directory / "harness.c").write_text(HARNESS.replace("        CHECKS\n", f"        {rows}\n"))
            # glibc's CPU_SET and dlsym pass no stricter list.
            warnings = [*C_LANGUAGE, "-Wall", "-Wextra", "-Werror", *CSRC_FLAGS]
            files = [str(directory / "harness.c"), "-o", str(directory / "harness"), "-lpthread", "-ldl"]
            subprocess.run([*compiler, "-g", WARNED, *warnings, *flags, *files], check=True)
            made[key] = directory / "harness"
        return made[key]

    return build


def run(program: Path, check: str, runner: Sequence[str] = ()) -> None:
    environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1", "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([*runner, str(program), check], capture_output=True, text=True, timeout=100, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("check", CHECKS)
def test_pool(harness: Builder, check: str) -> None:
    run(harness(), check)


MANY = "-DCPUS_IN_MASK=64"  # a pool as on a machine of 64 CPUs, on those that there are


@pytest.mark.parametrize("check", [check for check in CHECKS if check not in FORKS])
def test_pool_of_64_threads(harness: Builder, check: str) -> None:
    run(harness(MANY), check)


def test_nodes_of_a_machine_with_two_sockets(harness: Builder, tmp_path: Path) -> None:
    (tmp_path / "online").write_text("0-2\n")
    for node, cpus in enumerate(["0-15,32-47", "16-31,48-63", ""]):
        (tmp_path / f"node{node}").mkdir()
        (tmp_path / f"node{node}" / "cpulist").write_text(cpus + "\n")
    run(harness(f'-DCPUS_NODES="{tmp_path}"', "-DCPUS_NODES_ARE_MADE"), "nodes_are_read")


@pytest.mark.parametrize("check", ["every_index_once", "nested_calls", "serial_is_in_order"])
def test_without_threads_the_caller_does_it_all(harness: Builder, check: str) -> None:
    run(harness("-DBCG_NO_THREADS"), check)


# The emulator forks no program that has threads, and shows the affinity of its own.
NOT_EMULATED = FORKS | {
    "a_start_on_one_cpu_may_grow_later",
    "the_callers_cpu_is_its_own",
    "grows_with_what_is_asked",
    "workers_wake_for_a_row_of_calls",
}


@pytest.mark.slow
@pytest.mark.parametrize("check", [check for check in CHECKS if check not in NOT_EMULATED])
def test_pool_on_a_machine_of_weak_memory_order(harness: Builder, check: str) -> None:
    machine = MACHINES["aarch64"]
    program = harness(compiler=machine.compiler())
    run(program, check, machine.command(program)[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("check", [check for check in CHECKS if check not in FORKS])
def test_pool_under_the_thread_sanitizer(harness: Builder, check: str) -> None:
    run(harness("-fsanitize=thread"), check)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check for check in CHECKS if check not in FORKS])
def test_pool_of_64_threads_under_the_thread_sanitizer(harness: Builder, check: str) -> None:
    run(harness("-fsanitize=thread", MANY), check)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check for check in CHECKS if check not in FORKS])
def test_pool_under_the_address_sanitizer(harness: Builder, check: str) -> None:
    run(harness("-fsanitize=address,undefined"), check)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(FORK_SAFE_ASAN) is None, reason=f"no {FORK_SAFE_ASAN}, whose sanitizer forks safely")
@pytest.mark.parametrize("check", sorted(FORKS))
def test_forks_under_the_address_sanitizer(harness: Builder, check: str) -> None:
    run(harness("-fsanitize=address,undefined", compiler=[FORK_SAFE_ASAN]), check)


@pytest.mark.skipif(shutil.which("taskset") is None, reason="sets the affinity mask")
def test_one_cpu_needs_no_workers(harness: Builder) -> None:
    command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), str(harness()), "grows_with_what_is_asked"]
    assert subprocess.run(command, timeout=60).returncode == 0
