#include "loop/connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/poll.h"
#include "loop/timer.h"

enum { ADDRESSES_MAX = 2 };

struct connect_attempt {
    struct loop *loop;
    connect_fn *fn;
    void *arg;
    struct connect_address addresses[ADDRESSES_MAX];
    size_t count, next;
    int port, fd;
    enum connect_error error; /* the highest of all addresses so far */
    struct fd_poll *poll;
    struct timer *start_timer;
};

static socklen_t fill_sockaddr(struct sockaddr_storage *to, const struct connect_address *from,
                               int port)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

    memcpy(&v6.sin6_addr, from->bytes, sizeof v6.sin6_addr);
    memcpy(&v4.sin_addr, from->bytes + 12, sizeof v4.sin_addr);
    if (from->v6)
        memcpy(to, &v6, sizeof v6);
    else
        memcpy(to, &v4, sizeof v4);
    return from->v6 ? sizeof v6 : sizeof v4;
}

static void close_socket(struct connect_attempt *r)
{
    fd_poll_close(r->poll);
    r->poll = NULL;
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

static void finish_attempt(struct connect_attempt *r)
{
    struct connect_attempt done = *r;

    fd_poll_close(r->poll);
    timer_close(r->start_timer);
    free(r);
    done.fn(done.arg, done.fd, done.error);
}

static void note_error(struct connect_attempt *r, int errnum)
{
    enum connect_error why = errnum == ECONNREFUSED                 ? CONNECT_REFUSED
                             : errnum == EMFILE || errnum == ENFILE ? CONNECT_NO_FD
                                                                    : CONNECT_UNREACHABLE;

    r->error = why > r->error ? why : r->error;
}

static void try_next(void *to);

static void on_writable(void *to, bool can_read, bool can_write)
{
    struct connect_attempt *r = to;
    int why = 0;
    socklen_t size = sizeof why;

    (void)can_read;
    (void)can_write;
    if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 && !why) {
        finish_attempt(r);
        return;
    }
    note_error(r, why);
    close_socket(r);
    try_next(r);
}

static void try_next(void *to)
{
    struct connect_attempt *r = to;

    while (r->next < r->count) {
        const struct connect_address *a = &r->addresses[r->next++];
        struct sockaddr_storage at;
        socklen_t len = fill_sockaddr(&at, a, r->port);

        r->fd =
            socket(a->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (r->fd >= 0 &&
            (connect(r->fd, (struct sockaddr *)&at, len) == 0 || errno == EINPROGRESS)) {
            r->poll = fd_poll_open(r->loop, r->fd, on_writable, r);
            fd_poll_set(r->poll, false, true);
            return;
        }
        note_error(r, errno);
        close_socket(r);
    }
    finish_attempt(r);
}

struct connect_attempt *connect_start(struct loop *l, const struct connect_address *addresses,
                                      size_t count, int port, connect_fn *fn, void *to)
{
    struct connect_attempt *r = mem_new(struct connect_attempt);

    BUG_IF(!count || count > ADDRESSES_MAX);
    *r = (struct connect_attempt){
        .loop = l, .fn = fn, .arg = to, .port = port, .count = count
    };
    memcpy(r->addresses, addresses, count * sizeof *addresses);
    r->fd = -1;
    r->start_timer = timer_new(l, try_next, r);
    timer_set(r->start_timer, 0);
    return r;
}

void connect_close(struct connect_attempt *r)
{
    if (!r)
        return;
    close_socket(r);
    timer_close(r->start_timer);
    free(r);
}
