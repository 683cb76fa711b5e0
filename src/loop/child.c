#include "loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/loop-uv.h"
#include "loop/watch.h"
#include "loop/watchdog.h"

/* Of three pipes in a row. */
static const bool is_childs[6] = { [0] = true, [3] = true, [5] = true };

struct child {
    child_exit_fn *fn;
    void *to;
    struct watchdog watchdog;
    struct watch *news; /* of it; NULL: there will be none */
    bool noticed;       /* that there are some */
};

static void stop_listening(struct child *c)
{
    watch_close(c->news);
    c->news = NULL;
}

/* Whoever kills the watchdog has killed what it watches. The first time nothing is done: what
 * the child said before its end is there, too, and has its turn until the second. */
static void look(void *to, bool can_read, bool can_write)
{
    struct child *c = to;
    int code = 0, signum = SIGKILL;

    (void)can_read;
    (void)can_write;
    if (!c->noticed) {
        c->noticed = true;
        return;
    }
    stop_listening(c);
    if (!watchdog_hear(&c->watchdog, &code, &signum))
        family_kill(&c->watchdog.family);
    c->fn(c->to, code, signum);
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

/* What the new process needs to become another program. */
struct start {
    const struct loop *loop;
    char *const *argv;
    const int *fds;
    int report; /* exec closes it: what comes through it is why there was none */
};

/* In the new process, which shares nothing with us but may have been copied while a
 * thread held a lock: only system calls. */
static void become(const void *of)
{
    const struct start *s = of;
    int why;

    if (dup2(s->fds[0], 0) >= 0 && dup2(s->fds[3], 1) >= 0 && dup2(s->fds[5], 2) >= 0) {
        restore(s->loop);
        if (s->loop->env)
            environ = (char **)(uintptr_t)s->loop->env;
        execvp(s->argv[0], s->argv);
    }
    why = errno;
    _exit(write(s->report, &why, sizeof why) == (ssize_t)sizeof why ? 127 : 126);
}

static bool hear(int fd, int *why)
{
    ssize_t n;

    do
        n = read(fd, why, sizeof *why);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *why;
}

/* 0, or why there is no child. */
static int start_process(struct child *c, const struct loop *l, char *const *argv,
                         const int fds[6])
{
    int report[2], why;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    why = watchdog_start(&c->watchdog, become, &(struct start){ l, argv, fds, report[1] });
    close(report[1]);
    if (!why && hear(report[0], &why))
        watchdog_dismiss(&c->watchdog);
    close(report[0]);
    return why;
}

static int spawn(struct child *c, const struct loop *l, char *const *argv, int fds[6])
{
    int why = open_pipes(fds) ? start_process(c, l, argv, fds) : errno;

    for (int i = 0; i < 6; i++)
        if (fds[i] >= 0 && (why || is_childs[i]))
            close(fds[i]);
    return why;
}

/* The system has the same words for a script and for its interpreter. */
static const char *reason(int errnum, const char *file)
{
    if (errnum == ENOENT && strchr(file, '/') && access(file, F_OK) == 0)
        return "it is there, but its interpreter is not";
    return uv_strerror(uv_translate_sys_error(errnum));
}

static bool cannot_start(int errnum, const char *command, struct err *e)
{
    if (errnum != ENOENT || strchr(command, '/'))
        return err_set(e, ERR_PEER, "cannot start server '%s': %s", command,
                       reason(errnum, command));
    err_set(e, ERR_PEER, "cannot start server '%s': there is no such command in PATH", command);
    return err_hint(e, strchr(command, ' ')
                           ? "give the command and its arguments as separate words"
                           : "install it, or give its path");
}

bool child_start(struct child **out, struct loop *l, char *const *argv, struct child_fds *fds,
                 child_exit_fn *fn, void *to, int *errnum, struct err *e)
{
    struct child *c = mem_new(struct child);
    int pipes[6];

    c->fn = fn;
    c->to = to;
    *errnum = spawn(c, l, argv, pipes);
    if (*errnum) {
        free(c);
        return cannot_start(*errnum, argv[0], e);
    }
    c->news = watch_open(l, c->watchdog.line, look, c);
    watch_set(c->news, true, false);
    *fds = (struct child_fds){ .in = pipes[1], .out = pipes[2], .err = pipes[4] };
    *out = c;
    return true;
}

void child_signal(struct child *c, int signum)
{
    if (signum == SIGKILL)
        family_kill(&c->watchdog.family);
    else
        family_signal(&c->watchdog.family, signum);
}

void child_withhold(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

pid_t child_pid(const struct child *c)
{
    return c->watchdog.family.leader;
}

void child_close(struct child *c)
{
    if (!c)
        return;
    child_signal(c, SIGKILL);
    stop_listening(c);
    watchdog_dismiss(&c->watchdog);
    free(c);
}
