#include "loop/reach.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "loop/watch.h"

enum { ADDRESSES_MAX = 2 };

struct reach {
    struct loop *loop;
    reach_fn *fn;
    void *to;
    struct reach_address addresses[ADDRESSES_MAX];
    size_t count, next;
    int port, fd;
    enum reach_fault why; /* the worst of all addresses so far */
    struct watch *watch;
    struct timer *soon;
};

static socklen_t fill(struct sockaddr_storage *to, const struct reach_address *from, int port)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

    memcpy(&v6.sin6_addr, from->at, sizeof v6.sin6_addr);
    memcpy(&v4.sin_addr, from->at + 12, sizeof v4.sin_addr);
    if (from->v6)
        memcpy(to, &v6, sizeof v6);
    else
        memcpy(to, &v4, sizeof v4);
    return from->v6 ? sizeof v6 : sizeof v4;
}

static void drop(struct reach *r)
{
    watch_close(r->watch);
    r->watch = NULL;
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

static void tell(struct reach *r)
{
    struct reach done = *r;

    watch_close(r->watch);
    timer_close(r->soon);
    free(r);
    done.fn(done.to, done.fd, done.why);
}

static void note(struct reach *r, int errnum)
{
    enum reach_fault why = errnum == ECONNREFUSED                 ? REACH_REFUSED
                           : errnum == EMFILE || errnum == ENFILE ? REACH_SCARCE
                                                                  : REACH_NO_WAY;

    r->why = why > r->why ? why : r->why;
}

static void try_next(void *to);

static void answered(void *to, bool can_read, bool can_write)
{
    struct reach *r = to;
    int why = 0;
    socklen_t size = sizeof why;

    (void)can_read;
    (void)can_write;
    if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 && !why) {
        tell(r);
        return;
    }
    note(r, why);
    drop(r);
    try_next(r);
}

static void try_next(void *to)
{
    struct reach *r = to;

    while (r->next < r->count) {
        const struct reach_address *a = &r->addresses[r->next++];
        struct sockaddr_storage at;
        socklen_t len = fill(&at, a, r->port);

        r->fd =
            socket(a->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (r->fd >= 0 &&
            (connect(r->fd, (struct sockaddr *)&at, len) == 0 || errno == EINPROGRESS)) {
            r->watch = watch_open(r->loop, r->fd, answered, r);
            watch_set(r->watch, false, true);
            return;
        }
        note(r, errno);
        drop(r);
    }
    tell(r);
}

struct reach *reach_start(struct loop *l, const struct reach_address *addresses, size_t count,
                          int port, reach_fn *fn, void *to)
{
    struct reach *r = mem_new(struct reach);

    BUG_IF(!count || count > ADDRESSES_MAX);
    *r = (struct reach){ .loop = l, .fn = fn, .to = to, .port = port, .count = count };
    memcpy(r->addresses, addresses, count * sizeof *addresses);
    r->fd = -1;
    r->soon = timer_new(l, try_next, r);
    timer_set(r->soon, 0);
    return r;
}

void reach_close(struct reach *r)
{
    if (!r)
        return;
    drop(r);
    timer_close(r->soon);
    free(r);
}
