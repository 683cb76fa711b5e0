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

/* What is known of those that somebody may descend from; others come here again and again,
 * and nobody who lives becomes a descendant or ceases to be one. */
enum { REMEMBERED = 64 };

struct search {
    const struct family *family;
    int proc; /* the folder of all processes */
    struct {
        pid_t pid;
        bool descends;
    } known[REMEMBERED];
};

/* One process, as the system tells of it. */
struct kin {
    char state;
    pid_t parent, group, session;
};

/* "PID (NAME) STATE PARENT GROUP SESSION …", and the name may be anything. False: it is gone.
 */
static bool look_up(int process, struct kin *k)
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
    /* Of one that is just being let go there is nothing but its number. */
    return k->session >= 0;
}

/* snprintf() may take a lock. */
static const char *name_of(pid_t pid, char text[static 16])
{
    char *at = text + 15;

    for (*at = 0; pid; pid /= 10)
        *--at = (char)('0' + pid % 10);
    return at;
}

static pid_t parent_of(int proc, pid_t pid)
{
    char text[16];
    int process = openat(proc, name_of(pid, text), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct kin k;
    bool found = process >= 0 && look_up(process, &k);

    if (process >= 0)
        close(process);
    return found ? k.parent : -1;
}

/* From parent to parent. `*gone` if one of them has ended meanwhile: who had it as its parent
 * has another one now. */
static bool descends(struct search *s, pid_t pid, bool *gone)
{
    pid_t first = pid;
    bool yes;

    while (pid > 1 && pid != s->family->ancestor && s->known[pid % REMEMBERED].pid != pid)
        pid = parent_of(s->proc, pid);
    *gone = pid < 0;
    if (*gone)
        return false;
    yes = pid == s->family->ancestor || (pid > 1 && s->known[pid % REMEMBERED].descends);
    s->known[first % REMEMBERED].pid = first;
    s->known[first % REMEMBERED].descends = yes;
    return yes;
}

/* Whether it is of the family and has not ended. */
static bool is_member(struct search *s, int process, struct kin *k)
{
    bool gone = true, yes = false;

    while (gone) {
        if (!look_up(process, k) || k->state == 'Z' || k->state == 'X' ||
            k->session != s->family->session)
            return false;
        if (k->group == s->family->leader)
            return true;
        yes = descends(s, k->parent, &gone);
    }
    return yes;
}

/* By the folder it was looked up in: another process that came to the same number is not
 * meant. */
static void send(int process, pid_t pid, int signum)
{
    if (syscall(SYS_pidfd_send_signal, process, signum, NULL, 0) != 0 && errno == ENOSYS)
        kill(pid, signum);
}

static bool signal_member(struct search *s, const char *name, int signum)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    struct kin k;
    int process;
    bool member;

    if (pid <= 0)
        return false;
    process = openat(s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0)
        return false;
    member = is_member(s, process, &k);
    if (member && signum && k.group != s->family->leader)
        send(process, pid, signum);
    close(process);
    return member;
}

static bool signal_members(struct search *s, int signum)
{
    _Alignas(struct entry) char entries[4096];
    bool any = false;
    long n;

    while ((n = syscall(SYS_getdents64, s->proc, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(const void *)(entries + at);
            any |= signal_member(s, e->name, signum);
            at += e->len;
        }
    return any;
}

bool family_signal(const struct family *f, int signum)
{
    bool any = kill(-f->leader, signum) == 0;
    struct search s = { .family = f };

    s.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.proc >= 0 && faccessat(s.proc, "self/stat", F_OK, 0) == 0)
        any = signal_members(&s, signum);
    if (s.proc >= 0)
        close(s.proc);
    return any;
}

void family_kill(const struct family *f)
{
    for (int ms = 0; family_signal(f, SIGKILL) && ms < KILL_MS; ms++)
        poll(NULL, 0, 1);
}
