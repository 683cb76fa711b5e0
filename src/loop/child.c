#include "loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/family.h"
#include "loop/loop-uv.h"
#include "loop/watchdog.h"

enum { REAP_MS = 500 };

/* Of three pipes in a row. */
static const bool is_childs[6] = { [0] = true, [3] = true, [5] = true };

struct child {
    uv_signal_t uv; /* first: libuv's handle is ours */
    child_exit_fn *fn;
    void *to;
    struct watchdog *watchdog;
    pid_t pid; /* and that of its session */
    bool exited;
};

static void closed(uv_handle_t *uv)
{
    free(uv);
}

/* A child of ours has ended, stopped or gone on. It is only looked at here: as long as
 * nobody has waited for it, no other process or session can be given its number. */
static void look(uv_signal_t *uv, int signum)
{
    struct child *c = (struct child *)uv;
    siginfo_t end = { 0 };

    (void)signum;
    watchdog_check(c->watchdog, c->pid);
    if (c->exited || waitid(P_PID, (id_t)c->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        end.si_pid != c->pid)
        return;
    c->exited = true;
    uv_unref((uv_handle_t *)uv);
    if (end.si_code == CLD_EXITED)
        c->fn(c->to, end.si_status, 0);
    else
        c->fn(c->to, 0, end.si_status);
}

static bool open_pipes(int fds[6])
{
    for (int i = 0; i < 6; i++)
        fds[i] = -1;
    for (int i = 0; i < 6; i += 2)
        if (pipe2(fds + i, O_CLOEXEC) != 0)
            return false;
    return true;
}

/* As they were when we were started: what we catch is not the child's to ignore, and
 * what we were told to ignore is not ours to turn on again. */
static void restore(const struct loop *l)
{
    struct sigaction now, standard = { .sa_handler = SIG_DFL };

    for (int signum = 1; signum < NSIG; signum++)
        if (sigaction(signum, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(signum, &standard, NULL);
    loop_restore(l);
}

/* In the new process, which shares nothing with us but may have been copied while a
 * thread held a lock: only system calls. Returns what went wrong. */
static int become(const struct child *c, const struct loop *l, char *const *argv,
                  const int fds[6])
{
    setsid();
    if (!watchdog_join(c->watchdog) || dup2(fds[0], 0) < 0 || dup2(fds[3], 1) < 0 ||
        dup2(fds[5], 2) < 0)
        return errno;
    restore(l);
    execvp(argv[0], argv);
    return errno;
}

static bool hear(int fd, int *why)
{
    ssize_t n;

    do
        n = read(fd, why, sizeof *why);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *why;
}

/* 0, or why there is no child. Tells the one from the other by a pipe that exec
 * closes: what comes through it is the reason. */
static int start_process(struct child *c, const struct loop *l, char *const *argv,
                         const int fds[6])
{
    sigset_t all, before;
    int report[2], why = 0;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    c->pid = fork();
    if (c->pid == 0) {
        why = become(c, l, argv, fds);
        _exit(write(report[1], &why, sizeof why) == (ssize_t)sizeof why ? 127 : 126);
    }
    if (c->pid < 0)
        why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (c->pid > 0 && hear(report[0], &why))
        waitpid(c->pid, NULL, 0);
    close(report[0]);
    return why;
}

static int start_watched(struct child *c, const struct loop *l, char *const *argv,
                         const int fds[6])
{
    int why;

    c->watchdog = watchdog_start();
    why = c->watchdog ? start_process(c, l, argv, fds) : errno;
    if (why)
        watchdog_dismiss(c->watchdog);
    return why;
}

static int spawn(struct child *c, const struct loop *l, char *const *argv, int fds[6])
{
    int why;

    /* Before there is a child: it may be gone in no time. */
    BUG_IF(uv_signal_start(&c->uv, look, SIGCHLD) != 0);
    why = open_pipes(fds) ? start_watched(c, l, argv, fds) : errno;
    for (int i = 0; i < 6; i++)
        if (fds[i] >= 0 && (why || is_childs[i]))
            close(fds[i]);
    if (why)
        uv_close((uv_handle_t *)&c->uv, closed);
    return why;
}

/* The system has the same words for a script and for its interpreter. */
static const char *reason(int code, const char *file)
{
    if (code == UV_ENOENT && strchr(file, '/') && access(file, F_OK) == 0)
        return "it is there, but its interpreter is not";
    return uv_strerror(code);
}

bool child_start(struct child **out, struct loop *l, char *const *argv, struct child_fds *fds,
                 child_exit_fn *fn, void *to, int *errnum, struct err *e)
{
    struct child *c = mem_new(struct child);
    int pipes[6], code;

    c->fn = fn;
    c->to = to;
    code = uv_signal_init(&l->uv, &c->uv);
    if (code != 0)
        free(c);
    else
        code = -spawn(c, l, argv, pipes);
    if (code != 0) {
        *errnum = -code;
        return err_set(e, ERR_PEER, "cannot start server '%s': %s", argv[0],
                       reason(code, argv[0]));
    }
    *fds = (struct child_fds){ .in = pipes[1], .out = pipes[2], .err = pipes[4] };
    *out = c;
    return true;
}

void child_signal(struct child *c, int signum)
{
    if (signum == SIGKILL)
        family_kill(c->pid);
    else
        family_signal(c->pid, signum);
}

pid_t child_pid(const struct child *c)
{
    return c->pid;
}

/* SIGKILL takes no time to speak of, unless the system itself is stuck with it. */
static void reap(pid_t pid)
{
    for (int ms = 0; ms < REAP_MS && waitpid(pid, NULL, WNOHANG) == 0; ms++)
        poll(NULL, 0, 1);
}

void child_close(struct child *c)
{
    if (!c)
        return;
    child_signal(c, SIGKILL);
    reap(c->pid);
    watchdog_dismiss(c->watchdog);
    uv_close((uv_handle_t *)&c->uv, closed);
}
