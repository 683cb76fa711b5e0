#include "loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct child {
    uv_process_t uv; /* first: libuv's handle is ours */
    child_exit_fn *fn;
    void *to;
    pid_t group;
};

static void exited(uv_process_t *uv, int64_t status, int signum)
{
    struct child *c = (struct child *)uv;

    c->fn(c->to, (int)status, signum);
}

static void closed(uv_handle_t *uv)
{
    free(uv);
}

static void close_fds(int fds[6])
{
    for (int i = 0; i < 6; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Three pipes; [0], [3], [5] are the child's ends. libuv would make socket pairs,
 * which a server can tell from pipes (and which /dev/stdin cannot be opened on). */
static bool open_pipes(int fds[6])
{
    for (int i = 0; i < 6; i++)
        fds[i] = -1;
    for (int i = 0; i < 6; i += 2)
        if (pipe2(fds + i, O_CLOEXEC) != 0)
            return false;
    return true;
}

static int spawn(struct child *c, struct loop *l, char *const *argv, const int fds[6])
{
    uv_stdio_container_t stdio[3] = {
        { .flags = UV_INHERIT_FD, .data.fd = fds[0] },
        { .flags = UV_INHERIT_FD, .data.fd = fds[3] },
        { .flags = UV_INHERIT_FD, .data.fd = fds[5] },
    };
    uv_process_options_t options = {
        .exit_cb = exited,
        .file = argv[0],
        .args = (char **)(uintptr_t)argv,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = stdio,
    };

    return uv_spawn(&l->uv, &c->uv, &options);
}

bool child_start(struct child **out, struct loop *l, char *const *argv, struct child_fds *fds,
                 child_exit_fn *fn, void *to, int *errnum, struct err *e)
{
    struct child *c = mem_new(struct child);
    int pipes[6], code;

    c->fn = fn;
    c->to = to;
    if (!open_pipes(pipes)) {
        *errnum = errno;
        close_fds(pipes);
        free(c);
        err_errno(e, *errnum);
        return err_wrap(e, "cannot make pipes for '%s'", argv[0]);
    }
    code = spawn(c, l, argv, pipes);
    close(pipes[0]);
    close(pipes[3]);
    close(pipes[5]);
    if (code != 0) {
        close(pipes[1]);
        close(pipes[2]);
        close(pipes[4]);
        uv_close((uv_handle_t *)&c->uv, closed);
        *errnum = -code;
        return err_set(e, ERR_PEER, "cannot start server '%s': %s", argv[0], uv_strerror(code));
    }
    c->group = c->uv.pid;
    *fds = (struct child_fds){ .in = pipes[1], .out = pipes[2], .err = pipes[4] };
    *out = c;
    return true;
}

void child_kill_group(struct child *c, int signum)
{
    kill(-c->group, signum);
}

void child_close(struct child *c)
{
    if (c)
        uv_close((uv_handle_t *)&c->uv, closed);
}
