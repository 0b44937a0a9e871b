/* cpus.h: how many CPUs this process may use, and a thread that leaves one to another.
 *
 * Contract. cpus_usable is the affinity mask of the calling thread, bounded by the quota of the control groups the
 * process is in (v2, or v1 where they are mounted), rounded up. At least 1. The quota is read once; the mask each time,
 * for it may change. cpus_here is the CPU that the calling thread runs on, or -1. cpus_forbid keeps a thread off that one:
 * it may run on the others that the calling thread may; where there are none, nothing changes. Included by pool.c alone,
 * after the system's headers with _GNU_SOURCE.
 */
#ifndef BCG_CPUS_H
#define BCG_CPUS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#ifdef __linux__

enum { CPUS_PATH = 4096 };

static int32_t cpus_quota = INT32_MAX;

/* CPUs that `quota` of `period` microseconds stand for. A quota below 1 is none. */
static void cpus_bound(long long quota, long long period)
{
    if (quota < 1 || period < 1) return;
    const long long cpus = (quota - 1) / period + 1;
    if (cpus < cpus_quota) cpus_quota = (int32_t)cpus;
}

static long long cpus_number(const char *directory, const char *name)
{
    char path[CPUS_PATH + 64];
    long long value = -1;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return -1;
    if (fscanf(file, "%lld", &value) != 1) value = -1;
    fclose(file);
    return value;
}

/* The quota of one group: "max 100000" or "50000 100000" in v2, two files in v1. */
static void cpus_group(const char *directory, int v1)
{
    char path[CPUS_PATH + 64];
    if (v1) {
        cpus_bound(cpus_number(directory, "cpu.cfs_quota_us"), cpus_number(directory, "cpu.cfs_period_us"));
        return;
    }
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    long long quota, period;
    if (fscanf(file, "%lld %lld", &quota, &period) == 2) cpus_bound(quota, period);
    fclose(file);
}

/* A group is bounded by those above it, too. In a container its path may be one that only the host sees. */
static void cpus_groups(const char *root, const char *group, int v1)
{
    char path[CPUS_PATH];
    const size_t stem = strlen(root);
    if ((size_t)snprintf(path, sizeof path, "%s%s", root, group) >= sizeof path) return;
    while (strlen(path) > stem) {
        cpus_group(path, v1);
        *strrchr(path, '/') = '\0';
    }
    cpus_group(root, v1);
}

/* Lines are "0::/path" in v2 and "4:cpu,cpuacct:/path" in v1. */
static void cpus_read_quota(void)
{
    char line[CPUS_PATH];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) continue;
        *group++ = '\0', controllers++;
        if (*group != '/') continue;
        if (*controllers == '\0') {
            cpus_groups("/sys/fs/cgroup", group, 0);
            continue;
        }
        for (char *one = strtok(controllers, ","); one != NULL; one = strtok(NULL, ",")) {
            if (strcmp(one, "cpu") == 0) cpus_groups("/sys/fs/cgroup/cpu", group, 1);
        }
    }
    fclose(file);
}

static int32_t cpus_in_mask(void)
{
    cpu_set_t small;
    if (sched_getaffinity(0, sizeof small, &small) == 0) return (int32_t)CPU_COUNT(&small);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* a machine of more CPUs than a cpu_set_t holds */
    return online < 1 ? 1 : (int32_t)online;
}

static int32_t cpus_usable(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, cpus_read_quota);
    const int32_t masked = cpus_in_mask(), least = masked < cpus_quota ? masked : cpus_quota;
    return least < 1 ? 1 : least;
}

static int cpus_here(void) { return sched_getcpu(); }

static void cpus_forbid(pthread_t thread, int cpu)
{
    cpu_set_t others;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof others, &others) != 0) return;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) > 0) (void)pthread_setaffinity_np(thread, sizeof others, &others);
}

#else

static int cpus_here(void) { return -1; }

static void cpus_forbid(pthread_t thread, int cpu)
{
    (void)thread, (void)cpu;
}

#endif
#endif
