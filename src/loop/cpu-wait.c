#include "loop/cpu-wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"

enum {
    TREE_DEPTH_MAX = 8, /* generations: npx, a shell, npx, a server */
    TEXT_MAX = 4096,    /* some hundred children; more are not looked at */
};

/* The text of a file of a thread; "" if it is gone. */
static const char *read_text(char text[static TEXT_MAX], pid_t pid, const char *thread,
                             const char *name)
{
    char path[128];
    ssize_t n = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/task/%s/%s", (long)pid, thread, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, TEXT_MAX - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = 0;
    return text;
}

/* The file has three numbers: ns on a processor, ns waiting for one, and how often. */
static uint64_t thread_wait_us(pid_t pid, const char *thread)
{
    char text[TEXT_MAX], *end;

    strtoull(read_text(text, pid, thread, "schedstat"), &end, 10);
    return strtoull(end, NULL, 10) / 1000;
}

static uint64_t tree_wait_us(pid_t pid, int depth);

static uint64_t children_wait_us(pid_t pid, const char *thread, int depth)
{
    char text[TEXT_MAX], *end;
    const char *at = read_text(text, pid, thread, "children");
    uint64_t sum = 0;
    long child;

    while (depth < TREE_DEPTH_MAX && (child = strtol(at, &end, 10)) > 0) {
        sum += tree_wait_us((pid_t)child, depth + 1);
        at = end;
    }
    return sum;
}

static uint64_t tree_wait_us(pid_t pid, int depth)
{
    struct dirent *entry;
    uint64_t sum = 0;
    char path[64];
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    threads = opendir(path);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            sum += thread_wait_us(pid, entry->d_name) +
                   children_wait_us(pid, entry->d_name, depth);
    if (threads)
        closedir(threads);
    return sum;
}

uint64_t cpu_wait_us(pid_t pid)
{
    return tree_wait_us(pid, 0);
}
