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
    BACKLOG = 4096, /* the system may have a lower idea of it */
    AT_ONCE = 64,   /* connections taken in a row: the others want their turn, too */
    TRIES = 16,     /* for a port that is free on both addresses */
    RETRY_MS = 100, /* without descriptors */
};

/* One address that is listened on. */
struct port {
    uv_poll_t uv; /* first: libuv's handle is ours */
    struct listener *listener;
    int fd;
};

struct listener {
    struct loop *loop;
    const struct listener_events *events;
    void *to;
    struct port *ports[2];
    size_t count;
    uv_timer_t *retry; /* when to look for descriptors again */
    int spare;         /* the descriptor for those who come when there is none; -1: lent */
    bool closed;
    bool paused; /* by the owner */
    char host[LISTENER_ADDRESS];
    int number;
};

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Whoever is told to go again needs a descriptor for that: ours. */
static int accept_scarce(struct listener *s, int fd)
{
    int got;

    if (s->spare < 0)
        return -1;
    close(s->spare);
    got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    s->spare = got < 0 ? open_spare() : -1;
    return got;
}

static void poll_all(struct listener *s, bool on);

static void look_again(uv_timer_t *uv)
{
    struct listener *s = uv->data;

    if (s->spare < 0)
        s->spare = open_spare();
    if (s->spare < 0)
        BUG_IF(uv_timer_start(uv, look_again, RETRY_MS, 0) != 0);
    else
        poll_all(s, true);
}

static void hand_over(struct listener *s, int fd, bool scarce)
{
    struct err e = ERR_NONE;
    struct stream *stream;

    if (!stream_open(&stream, s->loop, fd, &s->events->stream, NULL, &e)) {
        close(fd);
        return;
    }
    s->events->connection(s->to, stream, scarce);
}

static void come(uv_poll_t *uv, int status, int what)
{
    struct port *p = (struct port *)uv;
    struct listener *s = p->listener;
    int fd = -1, why = 0;

    (void)status;
    (void)what;
    for (int i = 0; i < AT_ONCE && !s->closed && !s->paused; i++) {
        fd = accept4(p->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        why = fd < 0 ? errno : 0;
        if (fd >= 0)
            hand_over(s, fd, false);
        else if (why != ECONNABORTED && why != EINTR)
            break;
    }
    if (s->closed || s->paused || fd >= 0 || why == EAGAIN)
        return;
    /* Nothing to take one with: asking again at once would be asking for ever. */
    poll_all(s, false);
    BUG_IF(uv_timer_start(s->retry, look_again, RETRY_MS, 0) != 0);
    fd = accept_scarce(s, p->fd);
    if (fd >= 0)
        hand_over(s, fd, true);
}

static void poll_all(struct listener *s, bool on)
{
    for (size_t i = 0; i < s->count; i++) {
        if (on && !s->paused)
            BUG_IF(uv_poll_start(&s->ports[i]->uv, UV_READABLE, come) != 0);
        else
            uv_poll_stop(&s->ports[i]->uv);
    }
}

/* Opening. Returns the descriptor, or what went wrong as -errno. */

static int listen_at(const struct sockaddr *at, socklen_t len)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1, off = 0, why;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->sa_family ==
        AF_INET6) /* every interface is every interface, of the older kind too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, at, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    why = errno;
    close(fd);
    return -why;
}

static void add_port(struct listener *s, int fd)
{
    struct port *p = mem_new(struct port);

    p->listener = s;
    p->fd = fd;
    BUG_IF(uv_poll_init(&s->loop->uv, &p->uv, fd) != 0);
    s->ports[s->count++] = p;
}

static void port_closed(uv_handle_t *uv)
{
    free(uv);
}

static void drop_ports(struct listener *s)
{
    while (s->count) {
        struct port *p = s->ports[--s->count];

        uv_close((uv_handle_t *)&p->uv, port_closed);
        close(p->fd);
    }
}

/* The address in numbers, and the port that the system has chosen. */
static void learn_name(struct listener *s, int fd)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    char port[8];

    BUG_IF(getsockname(fd, (struct sockaddr *)&at, &len) != 0);
    BUG_IF(getnameinfo((struct sockaddr *)&at, len, s->host, sizeof s->host, port, sizeof port,
                       NI_NUMERICHOST | NI_NUMERICSERV) != 0);
    s->number = (int)strtol(port, NULL, 10);
}

static int find(const char *host, int port, int flags, struct addrinfo **found)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
    char text[16];

    snprintf(text, sizeof text, "%d", port);
    return getaddrinfo(host, text, &hints, found);
}

static int open_one(struct listener *s, const char *host, int port)
{
    struct addrinfo *found;
    int fd;

    if (find(host, port, AI_NUMERICHOST, &found) != 0)
        BUG("an address of our own is none");
    fd = listen_at(found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (fd < 0)
        return fd;
    if (!s->count)
        learn_name(s, fd);
    add_port(s, fd);
    return 0;
}

/* Whether a machine has no such address, rather than somebody else has it. */
static bool is_absent(int code)
{
    return code == -EADDRNOTAVAIL || code == -EAFNOSUPPORT || code == -EPROTONOSUPPORT;
}

/* Clients differ in which of the two they try first, and not all of them try both. */
static int open_loopback(struct listener *s, int port)
{
    int code = 0;

    for (int i = 0; i < TRIES; i++) {
        code = open_one(s, "127.0.0.1", port);
        if (code != 0 && !is_absent(code))
            return code;
        code = open_one(s, "::1", s->count ? s->number : port);
        if (code == 0 || (is_absent(code) && s->count))
            return 0;
        drop_ports(s);
        if (port != 0)
            return code;
    }
    return code;
}

static int open_every(struct listener *s, int port)
{
    int code = open_one(s, "::", port);

    return is_absent(code) ? open_one(s, "0.0.0.0", port) : code;
}

static int open_found(struct listener *s, const struct addrinfo *found)
{
    int fd = listen_at(found->ai_addr, found->ai_addrlen);

    if (fd < 0)
        return fd;
    learn_name(s, fd);
    add_port(s, fd);
    return 0;
}

/* In every spelling that the system knows, which is why it is asked. */
static bool open_named(struct listener *s, const char *host, int port, int *code, struct err *e)
{
    struct addrinfo *found;
    int why = find(host, port, AI_PASSIVE, &found);

    if (why != 0) {
        err_set(e, ERR_USAGE, "cannot listen on '%s': %s", host, gai_strerror(why));
        return err_hint(e, "name an address of this machine, such as 127.0.0.1");
    }
    *code = open_found(s, found);
    freeaddrinfo(found);
    return true;
}

static bool say_why(const char *host, int port, int code, struct err *e)
{
    bool six = strchr(host, ':') != NULL;

    loop_fault(e, code);
    if (is_absent(code))
        e->kind = ERR_USAGE;
    err_wrap(e, "cannot listen on '%s%s%s:%d'", six ? "[" : "", host, six ? "]" : "", port);
    if (code == -EADDRINUSE)
        return err_hint(e, "choose another port, or 0 for any that is free");
    if (code == -EACCES)
        return err_hint(e, "ports below 1024 may be reserved: choose a higher one");
    if (is_absent(code))
        return err_hint(e, "name an address of this machine, such as 127.0.0.1");
    return false;
}

static bool open_ports(struct listener *s, struct str text, int port, struct err *e)
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
        code = open_every(s, port);
    } else if (!open_named(s, host, port, &code, e)) {
        return false;
    }
    return code == 0 || say_why(host, port, code, e);
}

bool listener_open(struct listener **out, struct loop *l, struct str host, int port,
                   const struct listener_events *events, void *to, struct err *e)
{
    struct listener *s = mem_new(struct listener);

    s->loop = l;
    s->events = events;
    s->to = to;
    if (!open_ports(s, host, port, e)) {
        free(s);
        return false;
    }
    s->spare = open_spare();
    s->retry = mem_new(uv_timer_t);
    s->retry->data = s;
    BUG_IF(uv_timer_init(&l->uv, s->retry) != 0);
    poll_all(s, true);
    *out = s;
    return true;
}

const char *listener_host(const struct listener *s)
{
    return s->host;
}

int listener_port(const struct listener *s)
{
    return s->number;
}

void listener_pause(struct listener *s, bool paused)
{
    s->paused = paused;
    if (paused || !uv_is_active((uv_handle_t *)s->retry))
        poll_all(s, !paused);
}

static void timer_closed(uv_handle_t *uv)
{
    free(uv->data);
    free(uv);
}

void listener_close(struct listener *s)
{
    if (!s || s->closed)
        return;
    s->closed = true;
    drop_ports(s);
    if (s->spare >= 0)
        close(s->spare);
    uv_close((uv_handle_t *)s->retry, timer_closed);
}
