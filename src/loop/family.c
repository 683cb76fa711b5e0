#include "loop/family.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KILL_MS = 500 };

/* As the system fills it in. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short len;
    unsigned char type;
    char name[];
};

/* Whether it is in the session, has not ended, and what its group is: "PID (NAME) STATE
 * PARENT GROUP SESSION …", and the name may be anything. */
static bool is_member(int process, pid_t leader, pid_t *group)
{
    char text[512], *at;
    ssize_t n = -1;
    int fd = openat(process, "stat", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    if (n <= 0)
        return false;
    text[n] = 0;
    at = strrchr(text, ')');
    if (!at || n - (at - text) < 4 || at[2] == 'Z' || at[2] == 'X')
        return false;
    strtol(at + 3, &at, 10);
    *group = (pid_t)strtol(at, &at, 10);
    return strtol(at, NULL, 10) == leader;
}

/* By the folder it was looked up in: another process that came to the same number is not
 * meant. */
static void send(int process, pid_t pid, int signum)
{
    if (syscall(SYS_pidfd_send_signal, process, signum, NULL, 0) != 0 && errno == ENOSYS)
        kill(pid, signum);
}

static bool signal_member(int proc, const char *name, pid_t leader, int signum)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10), group = 0;
    int process;
    bool member;

    if (pid <= 0)
        return false;
    process = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0)
        return false;
    member = is_member(process, leader, &group);
    if (member && signum && group != leader)
        send(process, pid, signum);
    close(process);
    return member;
}

static bool signal_members(int proc, pid_t leader, int signum)
{
    _Alignas(struct entry) char entries[4096];
    bool any = false;
    long n;

    while ((n = syscall(SYS_getdents64, proc, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(const void *)(entries + at);
            any |= signal_member(proc, e->name, leader, signum);
            at += e->len;
        }
    return any;
}

bool family_signal(pid_t leader, int signum)
{
    bool any = kill(-leader, signum) == 0;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc >= 0 && faccessat(proc, "self/stat", F_OK, 0) == 0)
        any = signal_members(proc, leader, signum);
    if (proc >= 0)
        close(proc);
    return any;
}

void family_kill(pid_t leader)
{
    for (int ms = 0; family_signal(leader, SIGKILL) && ms < KILL_MS; ms++)
        poll(NULL, 0, 1);
}
