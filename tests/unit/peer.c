#include "peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 10 * 1000, LONE_MS = 100 };

static bool wait_for(int fd, int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, ms) == 1;
}

static void accept_one(struct peer *p)
{
    BUG_IF(p->count == sizeof p->at / sizeof *p->at);
    if (!wait_for(p->listener, PATIENCE_MS)) {
        buf_printf(&p->trouble, "nobody who connects");
        return;
    }
    p->now = p->count;
    p->at[p->count++] = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Reads until there are `n` bytes, or no more. */
static void gulp(struct peer *p, struct buf *to, size_t n)
{
    char *at = buf_space(to, n);
    size_t got = 0;

    while (got < n) {
        ssize_t r = wait_for(p->at[p->now], PATIENCE_MS)
                        ? recv(p->at[p->now], at + got, n - got, 0)
                        : 0;
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    buf_grew(to, got);
}

static void see(struct peer *p, const char *text, size_t count)
{
    size_t want = text ? strlen(text) : count;
    struct buf seen;

    buf_init(&seen, want + 1);
    gulp(p, &seen, want);
    if (text ? !str_eq(buf_str(&seen), str_z(text)) : seen.len != want)
        buf_printf(&p->trouble, "'%.*s' instead of '%s'", STR_ARG(buf_str(&seen)),
                   text ? text : "so many bytes");
    buf_release(&seen);
}

static void say(struct peer *p, const char *text, size_t count)
{
    char filler[4096];

    memset(filler, 'x', sizeof filler);
    if (text) {
        if (send(p->at[p->now], text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
            buf_printf(&p->trouble, "nobody to say '%s' to", text);
        return;
    }
    while (count) {
        ssize_t n = send(p->at[p->now], filler, count < sizeof filler ? count : sizeof filler,
                         MSG_NOSIGNAL);
        if (n <= 0)
            return;
        count -= (size_t)n;
    }
}

static void see_end(struct peer *p)
{
    char c;

    if (!wait_for(p->at[p->now], PATIENCE_MS))
        buf_printf(&p->trouble, "no end of the connection");
    else if (recv(p->at[p->now], &c, 1, 0) > 0)
        buf_printf(&p->trouble, "'%c' instead of the end of the connection", c);
}

static void hang_up(struct peer *p, bool rudely)
{
    struct linger now = { .l_onoff = 1 };

    if (rudely)
        setsockopt(p->at[p->now], SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(p->at[p->now]);
    p->at[p->now] = -1;
}

static void step(struct peer *p, const struct peer_step *s)
{
    switch (s->does) {
    case PEER_DONE:
        break;
    case PEER_ACCEPT:
        accept_one(p);
        break;
    case PEER_SEES:
    case PEER_GULP:
        see(p, s->text, s->count);
        break;
    case PEER_SAYS:
    case PEER_FLOOD:
        say(p, s->text, s->count);
        break;
    case PEER_EOF:
        see_end(p);
        break;
    case PEER_CLOSE:
    case PEER_RESET:
        hang_up(p, s->does == PEER_RESET);
        break;
    case PEER_REST:
        usleep((useconds_t)s->count * 1000);
        break;
    case PEER_HOLD:
        sem_wait(&p->go);
        break;
    case PEER_LONE:
        if (wait_for(p->listener, LONE_MS))
            buf_printf(&p->trouble, "another connection");
        break;
    case PEER_BACK:
        p->now -= s->count;
        break;
    }
}

static void *play(void *to)
{
    struct peer *p = to;

    sem_post(&p->there);
    for (const struct peer_step *s = p->script; s->does != PEER_DONE && !p->trouble.len; s++)
        step(p, s);
    for (size_t i = 0; i < p->count; i++) {
        if (p->at[i] >= 0)
            close(p->at[i]);
    }
    close(p->listener);
    return NULL;
}

static void start(struct peer *p, const struct peer_step *script, const struct sockaddr *at,
                  socklen_t len)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;

    *p = (struct peer){ .script = script };
    BUG_IF(sem_init(&p->there, 0, 0) != 0 || sem_init(&p->go, 0, 0) != 0);
    buf_init(&p->trouble, 1 << 20);
    p->listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BUG_IF(p->listener < 0 || bind(p->listener, at, len) != 0 || listen(p->listener, 16) != 0);
    BUG_IF(getsockname(p->listener, (struct sockaddr *)&name, &size) != 0);
    /* The port stands at the same place in both. */
    p->port = ntohs(((struct sockaddr_in *)&name)->sin_port);
    BUG_IF(pthread_create(&p->thread, NULL, play, p) != 0);
    /* A thread that begins allocates. Whoever forks meanwhile has a child in which that never
     * ends: ASan's allocator stays locked there. */
    while (sem_wait(&p->there) != 0)
        BUG_IF(errno != EINTR);
}

void peer_start(struct peer *p, const struct peer_step *script)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    start(p, script, (struct sockaddr *)&at, sizeof at);
}

void peer_start_v6(struct peer *p, const struct peer_step *script)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };

    start(p, script, (struct sockaddr *)&at, sizeof at);
}

void peer_go(struct peer *p)
{
    sem_post(&p->go);
}

int peer_knock(const struct peer *p)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    at.sin_port = htons((uint16_t)p->port);
    BUG_IF(fd < 0);
    connect(fd, (struct sockaddr *)&at, sizeof at);
    return fd;
}

bool peer_end(struct peer *p)
{
    pthread_join(p->thread, NULL);
    return p->trouble.len == 0;
}

void peer_release(struct peer *p)
{
    buf_release(&p->trouble);
    sem_destroy(&p->go);
}
