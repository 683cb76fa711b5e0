#include "loop/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/patience.h"

enum {
    STEP_MS = 20,     /* how often it looks whether all are gone */
    DISMISS_MS = 500, /* so long it is waited for */
};

/* What comes over the line: first who was started, by that one itself, so that we know of it
 * whatever becomes of the watchdog; then how it ended. */
struct started {
    pid_t pid;
    int why; /* there is none */
};

struct ended {
    int code, signum;
};

/* Everything from here to be_watchdog() is done by the watchdog. It may not need a lock: it
 * is the copy of a program that may have threads. All signals are blocked, and stay so. */

static bool is_gone_within(const struct family *f, int ms)
{
    for (; family_signal(f, 0); ms -= STEP_MS) {
        if (ms <= 0)
            return false;
        poll(NULL, 0, STEP_MS);
    }
    return true;
}

static void end_family(const struct family *f)
{
    if (is_gone_within(f, PATIENCE_QUIET_MS))
        return;
    family_signal(f, SIGTERM);
    if (!is_gone_within(f, PATIENCE_TERM_MS))
        family_kill(f);
}

/* Whether the leader has ended. It stays as it is, so that its number does; others who have
 * been given to us are let go. */
static bool has_ended(pid_t leader, struct ended *how)
{
    siginfo_t end = { 0 };

    while (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid) {
        if (end.si_pid == leader) {
            bool exited = end.si_code == CLD_EXITED;
            *how = (struct ended){ exited ? end.si_status : 0, exited ? 0 : end.si_status };
            return true;
        }
        waitpid(end.si_pid, NULL, 0);
        end.si_pid = 0;
    }
    return false;
}

/* Until whoever is at the other end of the line is gone. */
static void watch(pid_t leader)
{
    struct pollfd line = { .fd = 0, .events = POLLIN };
    struct ended how;
    sigset_t mask;
    bool told = false;

    sigfillset(&mask);
    sigdelset(&mask, SIGCHLD);
    do {
        if (!told && has_ended(leader, &how))
            told = write(line.fd, &how, sizeof how) == (ssize_t)sizeof how;
    } while (ppoll(&line, 1, NULL, &mask) < 0);
}

static void be_woken(int signum)
{
    (void)signum;
}

static bool say_started(int line, pid_t pid, int why)
{
    struct started s = { pid, why };

    return write(line, &s, sizeof s) == (ssize_t)sizeof s;
}

static pid_t start_leader(int line, watchdog_fn *become, const void *of)
{
    static const struct sigaction wake = { .sa_handler = be_woken };
    pid_t pid;

    sigaction(SIGCHLD, &wake, NULL); /* or the system might wait in our place */
    /* Past the C library, whose function a sanitizer puts a lock around. */
    syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (say_started(line, getpid(), 0))
            become(of);
        _exit(127);
    }
    return pid;
}

static _Noreturn void be_watchdog(int line, watchdog_fn *become, const void *of)
{
    struct family f = { .ancestor = getpid(), .session = getsid(0) };

    f.leader = start_leader(line, become, of);
    if (f.leader < 0)
        _exit(!say_started(line, -1, errno));
    setsid();
    if (dup2(line, 0) != 0 || chdir("/") != 0)
        _exit(1);
    closefrom(1);
    /* Not to be taken for what it watches. */
    syscall(SYS_prctl, PR_SET_NAME, "reel-watchdog", 0, 0, 0);
    watch(f.leader);
    end_family(&f);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    _exit(0);
}

static bool hear(const struct watchdog *w, void *to, size_t len)
{
    ssize_t n;

    do
        n = read(w->line, to, len);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len;
}

static int start(struct watchdog *w, int line, watchdog_fn *become, const void *of)
{
    sigset_t all, before;
    int why;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->pid = fork();
    why = errno;
    if (w->pid == 0)
        be_watchdog(line, become, of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(line);
    return w->pid < 0 ? why : 0;
}

int watchdog_start(struct watchdog *w, watchdog_fn *become, const void *of)
{
    struct started s = { -1, ESRCH }; /* should nobody live to say a word */
    int ends[2], why;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    w->line = ends[0];
    why = start(w, ends[1], become, of);
    if (why) {
        close(w->line);
        return why;
    }
    if (!hear(w, &s, sizeof s) || s.pid < 0) {
        watchdog_dismiss(w);
        return s.why;
    }
    w->family = (struct family){ s.pid, w->pid, getsid(0) };
    return 0;
}

bool watchdog_hear(struct watchdog *w, int *code, int *signum)
{
    struct ended how;

    if (!hear(w, &how, sizeof how)) {
        w->family.ancestor = w->family.leader;
        return false;
    }
    *code = how.code;
    *signum = how.signum;
    return true;
}

void watchdog_dismiss(struct watchdog *w)
{
    close(w->line);
    for (int ms = 0; ms < DISMISS_MS && waitpid(w->pid, NULL, WNOHANG) == 0; ms++)
        poll(NULL, 0, 1);
}
