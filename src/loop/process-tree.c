#include "loop/process-tree.h"

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

/* As getdents64(2) fills it in. */
struct proc_dirent {
    uint64_t inode;
    int64_t offset;
    unsigned short len;
    unsigned char type;
    char name[];
};

/* Cache of ancestors: many processes share them, and a live process never becomes a
 * descendant or ceases to be one. */
enum { ANCESTRY_CACHE = 64 };

struct tree_search {
    const struct process_tree *tree;
    int proc_fd; /* /proc */
    struct {
        pid_t pid;
        bool descends;
    } known[ANCESTRY_CACHE];
};

/* The fields of /proc/PID/stat that are used. */
struct proc_stat {
    char state;
    pid_t parent, group, session;
};

/* Parses "PID (NAME) STATE PARENT GROUP SESSION …"; the name may contain anything. False: the
 * process is gone. */
static bool read_stat(int process, struct proc_stat *k)
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
    if (!at || n - (at - text) < 4)
        return false;
    k->state = at[2];
    k->parent = (pid_t)strtol(at + 3, &at, 10);
    k->group = (pid_t)strtol(at, &at, 10);
    k->session = (pid_t)strtol(at, &at, 10);
    /* A process that is just being released has only its number. */
    return k->session >= 0;
}

/* snprintf() may take a lock. */
static const char *pid_text(pid_t pid, char text[static 16])
{
    char *at = text + 15;

    for (*at = 0; pid; pid /= 10)
        *--at = (char)('0' + pid % 10);
    return at;
}

static pid_t parent_of(int proc, pid_t pid)
{
    char text[16];
    int process = openat(proc, pid_text(pid, text), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct proc_stat k;
    bool found = process >= 0 && read_stat(process, &k);

    if (process >= 0)
        close(process);
    return found ? k.parent : -1;
}

/* Follows the parents. Sets `*gone` if one of them has ended meanwhile: its children have
 * another parent now. */
static bool is_descendant(struct tree_search *s, pid_t pid, bool *gone)
{
    pid_t first = pid;
    bool yes;

    while (pid > 1 && pid != s->tree->watchdog && s->known[pid % ANCESTRY_CACHE].pid != pid)
        pid = parent_of(s->proc_fd, pid);
    *gone = pid < 0;
    if (*gone)
        return false;
    yes = pid == s->tree->watchdog || (pid > 1 && s->known[pid % ANCESTRY_CACHE].descends);
    s->known[first % ANCESTRY_CACHE].pid = first;
    s->known[first % ANCESTRY_CACHE].descends = yes;
    return yes;
}

/* Returns whether it belongs to the tree and has not ended. */
static bool is_member(struct tree_search *s, int process, struct proc_stat *k)
{
    bool gone = true, yes = false;

    while (gone) {
        if (!read_stat(process, k) || k->state == 'Z' || k->state == 'X' ||
            k->session != s->tree->session)
            return false;
        if (k->group == s->tree->leader)
            return true;
        yes = is_descendant(s, k->parent, &gone);
    }
    return yes;
}

/* Signals by its directory in /proc: a later process with the same number is not affected. */
static void signal_process(int process, pid_t pid, int signum)
{
    if (syscall(SYS_pidfd_send_signal, process, signum, NULL, 0) != 0 && errno == ENOSYS)
        kill(pid, signum);
}

static bool signal_member(struct tree_search *s, const char *name, int signum)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    struct proc_stat k;
    int process;
    bool member;

    if (pid <= 0)
        return false;
    process = openat(s->proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0)
        return false;
    member = is_member(s, process, &k);
    if (member && signum && k.group != s->tree->leader)
        signal_process(process, pid, signum);
    close(process);
    return member;
}

static bool signal_members(struct tree_search *s, int signum)
{
    _Alignas(struct proc_dirent) char entries[4096];
    bool any = false;
    long n;

    while ((n = syscall(SYS_getdents64, s->proc_fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            const struct proc_dirent *e =
                (const struct proc_dirent *)(const void *)(entries + at);
            any |= signal_member(s, e->name, signum);
            at += e->len;
        }
    return any;
}

bool process_tree_signal(const struct process_tree *f, int signum)
{
    bool any = kill(-f->leader, signum) == 0;
    struct tree_search s = { .tree = f };

    s.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.proc_fd >= 0 && faccessat(s.proc_fd, "self/stat", F_OK, 0) == 0)
        any = signal_members(&s, signum);
    if (s.proc_fd >= 0)
        close(s.proc_fd);
    return any;
}

void process_tree_kill(const struct process_tree *f)
{
    for (int ms = 0; process_tree_signal(f, SIGKILL) && ms < KILL_MS; ms++)
        poll(NULL, 0, 1);
}
