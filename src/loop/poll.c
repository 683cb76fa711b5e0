#include "loop/poll.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct fd_poll {
    uv_poll_t uv; /* first: libuv's handle is ours */
    fd_poll_fn *fn;
    void *arg;
    int events;
};

static void on_ready(uv_poll_t *uv, int status, int events)
{
    struct fd_poll *w = (struct fd_poll *)uv;

    if (status < 0) { /* libuv has stopped watching it */
        w->events = 0;
        events = UV_READABLE | UV_WRITABLE;
    }
    w->fn(w->arg, events & UV_READABLE, events & UV_WRITABLE);
}

static void on_closed(uv_handle_t *uv)
{
    free(uv);
}

struct fd_poll *fd_poll_open(struct loop *l, int fd, fd_poll_fn *fn, void *to)
{
    struct fd_poll *w = mem_new(struct fd_poll);

    w->fn = fn;
    w->arg = to;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    BUG_IF(uv_poll_init(&l->uv, &w->uv, fd) != 0);
    return w;
}

void fd_poll_set(struct fd_poll *w, bool read, bool write)
{
    int wanted = (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0);

    if (wanted == w->events)
        return;
    w->events = wanted;
    if (wanted)
        BUG_IF(uv_poll_start(&w->uv, wanted, on_ready) != 0);
    else
        uv_poll_stop(&w->uv);
}

void fd_poll_close(struct fd_poll *w)
{
    if (w)
        uv_close((uv_handle_t *)&w->uv, on_closed);
}
