#include "loop/watch.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct watch {
    uv_poll_t uv; /* first: libuv's handle is ours */
    watch_fn *fn;
    void *to;
    int wanted;
};

static void ready(uv_poll_t *uv, int status, int events)
{
    struct watch *w = (struct watch *)uv;

    if (status < 0) { /* libuv has stopped watching it */
        w->wanted = 0;
        events = UV_READABLE | UV_WRITABLE;
    }
    w->fn(w->to, events & UV_READABLE, events & UV_WRITABLE);
}

static void closed(uv_handle_t *uv)
{
    free(uv);
}

struct watch *watch_open(struct loop *l, int fd, watch_fn *fn, void *to)
{
    struct watch *w = mem_new(struct watch);

    w->fn = fn;
    w->to = to;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    BUG_IF(uv_poll_init(&l->uv, &w->uv, fd) != 0);
    return w;
}

void watch_set(struct watch *w, bool read, bool write)
{
    int wanted = (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0);

    if (wanted == w->wanted)
        return;
    w->wanted = wanted;
    if (wanted)
        BUG_IF(uv_poll_start(&w->uv, wanted, ready) != 0);
    else
        uv_poll_stop(&w->uv);
}

void watch_close(struct watch *w)
{
    if (w)
        uv_close((uv_handle_t *)&w->uv, closed);
}
