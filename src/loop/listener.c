#include "loop/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

enum {
    BACKLOG = 4096,    /* the system may limit it */
    ACCEPT_BATCH = 64, /* connections accepted in a row before other events get their turn */
    PORT_TRIES = 16,   /* for a port that is free on both addresses */
    RETRY_MS = 100,    /* while there is no descriptor */
};

/* One address that is listened on. */
struct listen_socket {
    uv_poll_t uv; /* first: libuv's handle is ours */
    struct listener *listener;
    int fd;
};

struct listener {
    struct loop *loop;
    const struct listener_events *events;
    void *arg;
    struct listen_socket *sockets[2];
    size_t count;
    uv_timer_t *retry_timer; /* runs while there is no descriptor */
    int spare_fd; /* to accept a connection with when there is no other; -1: in use */
    bool closed;
    bool paused; /* by the owner */
    char host[LISTENER_HOST_SIZE];
    int port;
};

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A client can only be rejected over a connection: uses the spare descriptor for it. */
static int accept_with_spare(struct listener *s, int fd)
{
    int got;

    if (s->spare_fd < 0)
        return -1;
    close(s->spare_fd);
    got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    s->spare_fd = got < 0 ? open_spare() : -1;
    return got;
}

static void set_polling(struct listener *s, bool on);

static void retry_accept(uv_timer_t *uv)
{
    struct listener *s = uv->data;

    if (s->spare_fd < 0)
        s->spare_fd = open_spare();
    if (s->spare_fd < 0)
        BUG_IF(uv_timer_start(uv, retry_accept, RETRY_MS, 0) != 0);
    else
        set_polling(s, true);
}

static void open_connection(struct listener *s, int fd, bool scarce)
{
    struct err e = ERR_NONE;
    struct stream *stream;

    if (!stream_open(&stream, s->loop, fd, &s->events->stream, NULL, &e)) {
        close(fd);
        return;
    }
    s->events->connection(s->arg, stream, scarce);
}

static void on_connection(uv_poll_t *uv, int status, int what)
{
    struct listen_socket *p = (struct listen_socket *)uv;
    struct listener *s = p->listener;
    int fd = -1, why = 0;

    (void)status;
    (void)what;
    for (int i = 0; i < ACCEPT_BATCH && !s->closed && !s->paused; i++) {
        fd = accept4(p->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        why = fd < 0 ? errno : 0;
        if (fd >= 0)
            open_connection(s, fd, false);
        else if (why != ECONNABORTED && why != EINTR)
            break;
    }
    if (s->closed || s->paused || fd >= 0 || why == EAGAIN)
        return;
    /* No descriptor is left: polling on would report the same connection for ever. */
    set_polling(s, false);
    BUG_IF(uv_timer_start(s->retry_timer, retry_accept, RETRY_MS, 0) != 0);
    fd = accept_with_spare(s, p->fd);
    if (fd >= 0)
        open_connection(s, fd, true);
}

static void set_polling(struct listener *s, bool on)
{
    for (size_t i = 0; i < s->count; i++) {
        if (on && !s->paused)
            BUG_IF(uv_poll_start(&s->sockets[i]->uv, UV_READABLE, on_connection) != 0);
        else
            uv_poll_stop(&s->sockets[i]->uv);
    }
}

/* Opens a socket. Returns the descriptor, or -errno. */

static int listen_at(const struct sockaddr *at, socklen_t len)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1, off = 0, why;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->sa_family == AF_INET6) /* accepts IPv4, too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, at, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    why = errno;
    close(fd);
    return -why;
}

static void add_socket(struct listener *s, int fd)
{
    struct listen_socket *p = mem_new(struct listen_socket);

    p->listener = s;
    p->fd = fd;
    BUG_IF(uv_poll_init(&s->loop->uv, &p->uv, fd) != 0);
    s->sockets[s->count++] = p;
}

static void on_socket_closed(uv_handle_t *uv)
{
    free(uv);
}

static void close_sockets(struct listener *s)
{
    while (s->count) {
        struct listen_socket *p = s->sockets[--s->count];

        uv_close((uv_handle_t *)&p->uv, on_socket_closed);
        close(p->fd);
    }
}

/* Reads the address, in numbers, and the port that the system has chosen. */
static void read_bound_address(struct listener *s, int fd)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    char port[8];

    BUG_IF(getsockname(fd, (struct sockaddr *)&at, &len) != 0);
    BUG_IF(getnameinfo((struct sockaddr *)&at, len, s->host, sizeof s->host, port, sizeof port,
                       NI_NUMERICHOST | NI_NUMERICSERV) != 0);
    s->port = (int)strtol(port, NULL, 10);
}

static int resolve_host(const char *host, int port, int flags, struct addrinfo **found)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
    char text[16];

    snprintf(text, sizeof text, "%d", port);
    return getaddrinfo(host, text, &hints, found);
}

static int open_address(struct listener *s, const char *host, int port)
{
    struct addrinfo *found;
    int fd;

    if (resolve_host(host, port, AI_NUMERICHOST, &found) != 0)
        BUG("a numeric address cannot be resolved");
    fd = listen_at(found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (fd < 0)
        return fd;
    if (!s->count)
        read_bound_address(s, fd);
    add_socket(s, fd);
    return 0;
}

/* Returns whether the machine lacks the address, as opposed to its being in use. */
static bool is_address_missing(int code)
{
    return code == -EADDRNOTAVAIL || code == -EAFNOSUPPORT || code == -EPROTONOSUPPORT;
}

/* Opens both loopback addresses on one port: clients differ in which they try first, and not
 * all of them try both. */
static int open_loopback(struct listener *s, int port)
{
    int code = 0;

    for (int i = 0; i < PORT_TRIES; i++) {
        code = open_address(s, "127.0.0.1", port);
        if (code != 0 && !is_address_missing(code))
            return code;
        code = open_address(s, "::1", s->count ? s->port : port);
        if (code == 0 || (is_address_missing(code) && s->count))
            return 0;
        close_sockets(s);
        if (port != 0)
            return code;
    }
    return code;
}

static int open_all_interfaces(struct listener *s, int port)
{
    int code = open_address(s, "::", port);

    return is_address_missing(code) ? open_address(s, "0.0.0.0", port) : code;
}

static int open_resolved(struct listener *s, const struct addrinfo *found)
{
    int fd = listen_at(found->ai_addr, found->ai_addrlen);

    if (fd < 0)
        return fd;
    read_bound_address(s, fd);
    add_socket(s, fd);
    return 0;
}

/* Lets the system resolve the host, so that it may be spelled in any way. */
static bool open_host(struct listener *s, const char *host, int port, int *code, struct err *e)
{
    struct addrinfo *found;
    int why = resolve_host(host, port, AI_PASSIVE, &found);

    if (why != 0) {
        err_set(e, ERR_USAGE, "cannot listen on '%s': %s", host, gai_strerror(why));
        return err_hint(e, "name an address of this machine, such as 127.0.0.1");
    }
    *code = open_resolved(s, found);
    freeaddrinfo(found);
    return true;
}

static bool set_listen_error(const char *host, int port, int code, struct err *e)
{
    bool six = strchr(host, ':') != NULL;

    loop_set_err(e, code);
    if (is_address_missing(code))
        e->kind = ERR_USAGE;
    err_wrap(e, "cannot listen on '%s%s%s:%d'", six ? "[" : "", host, six ? "]" : "", port);
    if (code == -EADDRINUSE)
        return err_hint(e, "choose another port, or 0 for any free port");
    if (code == -EACCES)
        return err_hint(e, "ports below 1024 may be reserved: choose a higher one");
    if (is_address_missing(code))
        return err_hint(e, "name an address of this machine, such as 127.0.0.1");
    return false;
}

static bool open_sockets(struct listener *s, struct str text, int port, struct err *e)
{
    char host[256];
    int code = 0;

    if (text.len >= sizeof host)
        return err_set(e, ERR_USAGE, "the address to listen on is too long");
    snprintf(host, sizeof host, "%.*s", STR_ARG(text));
    if (!text.len || str_eq(text, STR("localhost"))) {
        code = open_loopback(s, port);
        snprintf(host, sizeof host, "localhost");
    } else if (str_eq(text, STR("*"))) {
        code = open_all_interfaces(s, port);
    } else if (!open_host(s, host, port, &code, e)) {
        return false;
    }
    return code == 0 || set_listen_error(host, port, code, e);
}

bool listener_open(struct listener **out, struct loop *l, struct str host, int port,
                   const struct listener_events *events, void *to, struct err *e)
{
    struct listener *s = mem_new(struct listener);

    s->loop = l;
    s->events = events;
    s->arg = to;
    if (!open_sockets(s, host, port, e)) {
        free(s);
        return false;
    }
    s->spare_fd = open_spare();
    s->retry_timer = mem_new(uv_timer_t);
    s->retry_timer->data = s;
    BUG_IF(uv_timer_init(&l->uv, s->retry_timer) != 0);
    set_polling(s, true);
    *out = s;
    return true;
}

const char *listener_host(const struct listener *s)
{
    return s->host;
}

int listener_port(const struct listener *s)
{
    return s->port;
}

void listener_pause(struct listener *s, bool paused)
{
    s->paused = paused;
    if (paused || !uv_is_active((uv_handle_t *)s->retry_timer))
        set_polling(s, !paused);
}

static void on_timer_closed(uv_handle_t *uv)
{
    free(uv->data);
    free(uv);
}

void listener_close(struct listener *s)
{
    if (!s || s->closed)
        return;
    s->closed = true;
    close_sockets(s);
    if (s->spare_fd >= 0)
        close(s->spare_fd);
    uv_close((uv_handle_t *)s->retry_timer, on_timer_closed);
}
