#include "loop/starved.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"

enum {
    DEEP = 8,        /* generations: a starter, a shell, a starter, a server */
    TEXT_MAX = 4096, /* some hundred children; more are not looked at */
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

/* Three numbers: ns on a processor, ns waiting for one, how often. */
static uint64_t thread_us(pid_t pid, const char *thread)
{
    char text[TEXT_MAX], *end;

    strtoull(read_text(text, pid, thread, "schedstat"), &end, 10);
    return strtoull(end, NULL, 10) / 1000;
}

static uint64_t family_us(pid_t pid, int depth);

static uint64_t children_us(pid_t pid, const char *thread, int depth)
{
    char text[TEXT_MAX], *end;
    const char *at = read_text(text, pid, thread, "children");
    uint64_t sum = 0;
    long child;

    while (depth < DEEP && (child = strtol(at, &end, 10)) > 0) {
        sum += family_us((pid_t)child, depth + 1);
        at = end;
    }
    return sum;
}

static uint64_t family_us(pid_t pid, int depth)
{
    struct dirent *entry;
    uint64_t sum = 0;
    char path[64];
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    threads = opendir(path);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            sum += thread_us(pid, entry->d_name) + children_us(pid, entry->d_name, depth);
    if (threads)
        closedir(threads);
    return sum;
}

uint64_t starved_us(pid_t pid)
{
    return family_us(pid, 0);
}
