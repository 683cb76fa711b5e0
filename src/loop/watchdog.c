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

#include "loop/close-from.h"

enum {
    CHECK_MS = 20,  /* interval of checks whether the tree has ended */
    CLOSE_MS = 500, /* how long watchdog_close() waits */
};

/* Sent over the socket: first the start report, by the started process itself, so that it
 * arrives even if the watchdog is killed; then the exit report. */
struct start_report {
    pid_t pid;
    int errnum; /* if there is none */
};

struct exit_report {
    int code, signum;
};

/* Everything from here to run_watchdog() runs in the watchdog. It may not need a lock: it is
 * the copy of a program that may have threads. All signals are blocked, and stay so. */

static bool has_exited_within(const struct process_tree *f, int ms)
{
    for (; process_tree_signal(f, 0); ms -= CHECK_MS) {
        if (ms <= 0)
            return false;
        poll(NULL, 0, CHECK_MS);
    }
    return true;
}

static void end_tree(const struct process_tree *f)
{
    if (has_exited_within(f, PROCESS_TREE_QUIET_MS))
        return;
    process_tree_signal(f, SIGTERM);
    if (!has_exited_within(f, PROCESS_TREE_TERM_MS))
        process_tree_kill(f);
}

/* Reaps orphans; returns whether the leader has ended. The leader stays a zombie, so that its
 * number is not reused. */
static bool reap_until_leader(pid_t leader, struct exit_report *how)
{
    siginfo_t end = { 0 };

    while (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid) {
        if (end.si_pid == leader) {
            bool exited = end.si_code == CLD_EXITED;
            *how =
                (struct exit_report){ exited ? end.si_status : 0, exited ? 0 : end.si_status };
            return true;
        }
        waitpid(end.si_pid, NULL, 0);
        end.si_pid = 0;
    }
    return false;
}

/* Reports the exit of the leader, and returns when the other end of the socket is closed. */
static void watch_leader(pid_t leader)
{
    struct pollfd line = { .fd = 0, .events = POLLIN };
    struct exit_report how;
    sigset_t mask;
    bool told = false;

    sigfillset(&mask);
    sigdelset(&mask, SIGCHLD);
    do {
        if (!told && reap_until_leader(leader, &how))
            told = write(line.fd, &how, sizeof how) == (ssize_t)sizeof how;
    } while (ppoll(&line, 1, NULL, &mask) < 0);
}

static void on_sigchld(int signum)
{
    (void)signum;
}

static bool send_start_report(int line, pid_t pid, int why)
{
    struct start_report s = { pid, why };

    return write(line, &s, sizeof s) == (ssize_t)sizeof s;
}

static pid_t start_leader(int line, watchdog_fn *become, const void *of)
{
    static const struct sigaction wake = { .sa_handler = on_sigchld };
    pid_t pid;

    sigaction(SIGCHLD, &wake, NULL); /* an ignored SIGCHLD would reap our children */
    /* A direct system call: a sanitizer puts a lock around the function of the C library. */
    syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (send_start_report(line, getpid(), 0))
            become(of);
        _exit(127);
    }
    return pid;
}

static _Noreturn void run_watchdog(int line, watchdog_fn *become, const void *of)
{
    struct process_tree f = { .watchdog = getpid(), .session = getsid(0) };

    f.leader = start_leader(line, become, of);
    if (f.leader < 0)
        _exit(!send_start_report(line, -1, errno));
    setsid();
    if (dup2(line, 0) != 0 || chdir("/") != 0)
        _exit(1);
    close_from(1);
    /* Shown by ps(1): must not look like the server. */
    syscall(SYS_prctl, PR_SET_NAME, "reel-watchdog", 0, 0, 0);
    watch_leader(f.leader);
    end_tree(&f);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    _exit(0);
}

static bool read_report(const struct watchdog *w, void *to, size_t len)
{
    ssize_t n;

    do
        n = read(w->sock, to, len);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len;
}

static int fork_watchdog(struct watchdog *w, int line, watchdog_fn *become, const void *of)
{
    sigset_t all, before;
    int why;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->pid = fork();
    why = errno;
    if (w->pid == 0)
        run_watchdog(line, become, of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(line);
    return w->pid < 0 ? why : 0;
}

int watchdog_start(struct watchdog *w, watchdog_fn *become, const void *of)
{
    struct start_report s = { -1, ESRCH }; /* if nothing is received */
    int ends[2], why;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    w->sock = ends[0];
    why = fork_watchdog(w, ends[1], become, of);
    if (why) {
        close(w->sock);
        return why;
    }
    if (!read_report(w, &s, sizeof s) || s.pid < 0) {
        watchdog_close(w);
        return s.errnum;
    }
    w->tree = (struct process_tree){ s.pid, w->pid, getsid(0) };
    return 0;
}

bool watchdog_read_exit(struct watchdog *w, int *code, int *signum)
{
    struct exit_report how;

    if (!read_report(w, &how, sizeof how)) {
        w->tree.watchdog = w->tree.leader;
        return false;
    }
    *code = how.code;
    *signum = how.signum;
    return true;
}

void watchdog_close(struct watchdog *w)
{
    close(w->sock);
    for (int ms = 0; ms < CLOSE_MS && waitpid(w->pid, NULL, WNOHANG) == 0; ms++)
        poll(NULL, 0, 1);
}
