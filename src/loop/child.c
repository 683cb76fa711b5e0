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
#include "loop/poll.h"
#include "loop/watchdog.h"

/* Which ends of three pipes belong to the child. */
static const bool is_child_end[6] = { [0] = true, [3] = true, [5] = true };

struct child {
    child_exit_fn *fn;
    void *arg;
    struct watchdog watchdog;
    struct fd_poll *exit_poll; /* NULL: closed, the exit was reported */
    bool exit_seen;            /* set when the poll reports the first time */
};

static void close_exit_poll(struct child *c)
{
    fd_poll_close(c->exit_poll);
    c->exit_poll = NULL;
}

/* Reports the exit. The first call does nothing: output that the child wrote before its end
 * is read before the second call. If the watchdog was killed, the child counts as killed,
 * too. */
static void on_exit_readable(void *to, bool can_read, bool can_write)
{
    struct child *c = to;
    int code = 0, signum = SIGKILL;

    (void)can_read;
    (void)can_write;
    if (!c->exit_seen) {
        c->exit_seen = true;
        return;
    }
    close_exit_poll(c);
    if (!watchdog_read_exit(&c->watchdog, &code, &signum))
        process_tree_kill(&c->watchdog.tree);
    c->fn(c->arg, code, signum);
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

/* Restores the signals as they were when we were started: the child does not inherit our
 * handlers, and signals that were ignored then stay ignored. */
static void restore_signals(const struct loop *l)
{
    struct sigaction now, standard = { .sa_handler = SIG_DFL };

    for (int signum = 1; signum < NSIG; signum++)
        if (sigaction(signum, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(signum, &standard, NULL);
    loop_restore(l);
}

/* Everything the new process needs to execute the program. */
struct exec_args {
    const struct loop *loop;
    char *const *argv;
    const int *fds;
    int error_fd; /* gets the errno if exec fails; exec closes it */
};

/* Runs in the new process, which may have been copied while a thread held a lock: only system
 * calls are allowed. */
static void exec_program(const void *of)
{
    const struct exec_args *s = of;
    int why;

    if (dup2(s->fds[0], 0) >= 0 && dup2(s->fds[3], 1) >= 0 && dup2(s->fds[5], 2) >= 0) {
        restore_signals(s->loop);
        if (s->loop->env)
            environ = (char **)(uintptr_t)s->loop->env;
        if (!s->loop->cwd || chdir(s->loop->cwd) == 0)
            execvp(s->argv[0], s->argv);
    }
    why = errno;
    _exit(write(s->error_fd, &why, sizeof why) == (ssize_t)sizeof why ? 127 : 126);
}

static bool read_exec_error(int fd, int *why)
{
    ssize_t n;

    do
        n = read(fd, why, sizeof *why);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *why;
}

/* Returns 0, or the errno why there is no child. */
static int start_process(struct child *c, const struct loop *l, char *const *argv,
                         const int fds[6])
{
    int report[2], why;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    why = watchdog_start(&c->watchdog, exec_program,
                         &(struct exec_args){ l, argv, fds, report[1] });
    close(report[1]);
    if (!why && read_exec_error(report[0], &why))
        watchdog_close(&c->watchdog);
    close(report[0]);
    return why;
}

static int spawn(struct child *c, const struct loop *l, char *const *argv, int fds[6])
{
    int why = open_pipes(fds) ? start_process(c, l, argv, fds) : errno;

    for (int i = 0; i < 6; i++)
        if (fds[i] >= 0 && (why || is_child_end[i]))
            close(fds[i]);
    return why;
}

/* ENOENT may be about a script or about its interpreter. */
static const char *start_error_text(int errnum, const char *file)
{
    if (errnum == ENOENT && strchr(file, '/') && access(file, F_OK) == 0)
        return "the file exists, but its interpreter was not found";
    return uv_strerror(uv_translate_sys_error(errnum));
}

static bool set_start_error(int errnum, const char *command, const char *folder, struct err *e)
{
    if (folder && access(folder, X_OK) != 0)
        return err_set(e, ERR_PEER, "cannot start server '%s' in the folder '%s': %s", command,
                       folder, uv_strerror(uv_translate_sys_error(errnum)));
    if (errnum != ENOENT || strchr(command, '/'))
        return err_set(e, ERR_PEER, "cannot start server '%s': %s", command,
                       start_error_text(errnum, command));
    err_set(e, ERR_PEER, "cannot start server '%s': command not found in PATH", command);
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
    c->arg = to;
    *errnum = spawn(c, l, argv, pipes);
    if (*errnum) {
        free(c);
        return set_start_error(*errnum, argv[0], l->cwd, e);
    }
    c->exit_poll = fd_poll_open(l, c->watchdog.sock, on_exit_readable, c);
    fd_poll_set(c->exit_poll, true, false);
    *fds = (struct child_fds){ .in = pipes[1], .out = pipes[2], .err = pipes[4] };
    *out = c;
    return true;
}

void child_signal(struct child *c, int signum)
{
    if (signum == SIGKILL)
        process_tree_kill(&c->watchdog.tree);
    else
        process_tree_signal(&c->watchdog.tree, signum);
}

void child_set_cloexec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

pid_t child_pid(const struct child *c)
{
    return c->watchdog.tree.leader;
}

void child_close(struct child *c)
{
    if (!c)
        return;
    child_signal(c, SIGKILL);
    close_exit_poll(c);
    watchdog_close(&c->watchdog);
    free(c);
}
