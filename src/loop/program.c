#include "loop/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNAL_CODE = 128, OWNER_ONLY = 0600 };

/* The program must not inherit ignored signals. */
static void set_signals(posix_spawnattr_t *how)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(how, &none);
    posix_spawnattr_setsigdefault(how, &all);
    posix_spawnattr_setflags(how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static int spawn(struct program *p, char *const argv[], char *const env[],
                 enum program_pipe pipe, int theirs)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    pid_t pid;
    int failed;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    set_signals(&how);
    posix_spawn_file_actions_adddup2(&files, theirs,
                                     pipe == PROGRAM_STDIN ? STDIN_FILENO : STDOUT_FILENO);
    if (pipe == PROGRAM_STDOUT)
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY,
                                         OWNER_ONLY);
    failed = posix_spawnp(&pid, argv[0], &files, &how, argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    p->pid = failed ? 0 : pid;
    return failed;
}

bool program_start(struct program *p, char *const argv[], char *const env[],
                   enum program_pipe pipe, struct err *e)
{
    int ends[2], ours = pipe == PROGRAM_STDIN ? 1 : 0, failed;

    *p = (struct program){ .fd = -1 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(e, ERR_IO, "cannot run '%s': %s", argv[0], strerror(errno));
    failed = spawn(p, argv, env, pipe, ends[!ours]);
    close(ends[!ours]);
    if (failed) {
        close(ends[ours]);
        return err_set(e, ERR_IO, "cannot run '%s': %s", argv[0], strerror(failed));
    }
    p->fd = ends[ours];
    return true;
}

bool program_write(struct program *p, struct str bytes, bool *gone, struct err *e)
{
    while (bytes.len) {
        ssize_t n = write(p->fd, bytes.at, bytes.len);

        if (n < 0 && errno == EINTR)
            continue;
        *gone = n < 0 && errno == EPIPE;
        if (*gone)
            return true;
        if (n < 0)
            return err_set(e, ERR_IO, "cannot write to a program: %s", strerror(errno));
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

bool program_read(struct program *p, char *to, size_t cap, size_t *got, struct err *e)
{
    ssize_t n;

    do
        n = read(p->fd, to, cap);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(e, ERR_IO, "cannot read from a program: %s", strerror(errno));
    *got = (size_t)n;
    return true;
}

int program_wait(struct program *p)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, was;
    int status = 0;
    pid_t ended;

    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    sigaction(SIGINT, &ignore, &was);
    do
        ended = waitpid(p->pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    sigaction(SIGINT, &was, NULL);
    p->pid = 0;
    return WIFSIGNALED(status) ? SIGNAL_CODE + WTERMSIG(status) : WEXITSTATUS(status);
}
