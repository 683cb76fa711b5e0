#include "fake-server.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HINT_DELAY_MS = 10 * 1000, LONE_MS = 100 };

static bool wait_for(int fd, int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, ms) == 1;
}

static void accept_one(struct fake_server *p)
{
    BUG_IF(p->count == sizeof p->conns / sizeof *p->conns);
    if (!wait_for(p->listener, HINT_DELAY_MS)) {
        buf_printf(&p->mismatch, "nobody who connects");
        return;
    }
    p->current = p->count;
    p->conns[p->count++] = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Reads until there are `n` bytes, or no more. */
static void read_bytes(struct fake_server *p, struct buf *to, size_t n)
{
    char *at = buf_reserve(to, n);
    size_t got = 0;

    while (got < n) {
        ssize_t r = wait_for(p->conns[p->current], HINT_DELAY_MS)
                        ? recv(p->conns[p->current], at + got, n - got, 0)
                        : 0;
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    buf_commit(to, got);
}

static void expect_text(struct fake_server *p, const char *text, size_t count)
{
    size_t want = text ? strlen(text) : count;
    struct buf seen;

    buf_init(&seen, want + 1);
    read_bytes(p, &seen, want);
    if (text ? !str_eq(buf_str(&seen), str_z(text)) : seen.len != want)
        buf_printf(&p->mismatch, "'%.*s' instead of '%s'", STR_ARG(buf_str(&seen)),
                   text ? text : "so many bytes");
    buf_release(&seen);
}

static void send_text(struct fake_server *p, const char *text, size_t count)
{
    char filler[4096];

    memset(filler, 'x', sizeof filler);
    if (text) {
        if (send(p->conns[p->current], text, strlen(text), MSG_NOSIGNAL) !=
            (ssize_t)strlen(text))
            buf_printf(&p->mismatch, "nobody to say '%s' to", text);
        return;
    }
    while (count) {
        ssize_t n = send(p->conns[p->current], filler,
                         count < sizeof filler ? count : sizeof filler, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        count -= (size_t)n;
    }
}

static void expect_end(struct fake_server *p)
{
    char c;

    if (!wait_for(p->conns[p->current], HINT_DELAY_MS))
        buf_printf(&p->mismatch, "no end of the connection");
    else if (recv(p->conns[p->current], &c, 1, 0) > 0)
        buf_printf(&p->mismatch, "'%c' instead of the end of the connection", c);
}

static void close_conn(struct fake_server *p, bool rudely)
{
    struct linger now = { .l_onoff = 1 };

    if (rudely)
        setsockopt(p->conns[p->current], SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(p->conns[p->current]);
    p->conns[p->current] = -1;
}

static void run_step(struct fake_server *p, const struct fake_server_step *s)
{
    switch (s->does) {
    case FAKE_DONE:
        break;
    case FAKE_ACCEPT:
        accept_one(p);
        break;
    case FAKE_SEES:
    case FAKE_GULP:
        expect_text(p, s->text, s->count);
        break;
    case FAKE_SENDS:
    case FAKE_FLOOD:
        send_text(p, s->text, s->count);
        break;
    case FAKE_EOF:
        expect_end(p);
        break;
    case FAKE_CLOSE:
    case FAKE_RESET:
        close_conn(p, s->does == FAKE_RESET);
        break;
    case FAKE_REST:
        usleep((useconds_t)s->count * 1000);
        break;
    case FAKE_HOLD:
        sem_wait(&p->go);
        break;
    case FAKE_LONE:
        if (wait_for(p->listener, LONE_MS))
            buf_printf(&p->mismatch, "another connection");
        break;
    case FAKE_BACK:
        p->current -= s->count;
        break;
    }
}

static void *run_script(void *to)
{
    struct fake_server *p = to;

    sem_post(&p->progress);
    for (const struct fake_server_step *s = p->script; s->does != FAKE_DONE && !p->mismatch.len;
         s++)
        run_step(p, s);
    for (size_t i = 0; i < p->count; i++) {
        if (p->conns[i] >= 0)
            close(p->conns[i]);
    }
    close(p->listener);
    return NULL;
}

static void start_server(struct fake_server *p, const struct fake_server_step *script,
                         const struct sockaddr *at, socklen_t len)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;

    *p = (struct fake_server){ .script = script };
    BUG_IF(sem_init(&p->progress, 0, 0) != 0 || sem_init(&p->go, 0, 0) != 0);
    buf_init(&p->mismatch, 1 << 20);
    p->listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BUG_IF(p->listener < 0 || bind(p->listener, at, len) != 0 || listen(p->listener, 16) != 0);
    BUG_IF(getsockname(p->listener, (struct sockaddr *)&name, &size) != 0);
    /* The port stands at the same place in both. */
    p->port = ntohs(((struct sockaddr_in *)&name)->sin_port);
    BUG_IF(pthread_create(&p->thread, NULL, run_script, p) != 0);
    /* A thread that starts allocates. A process that forks meanwhile has a child in which
     * that never ends: ASan's allocator stays locked there. */
    while (sem_wait(&p->progress) != 0)
        BUG_IF(errno != EINTR);
}

void fake_server_start(struct fake_server *p, const struct fake_server_step *script)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    start_server(p, script, (struct sockaddr *)&at, sizeof at);
}

void fake_server_start_v6(struct fake_server *p, const struct fake_server_step *script)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };

    start_server(p, script, (struct sockaddr *)&at, sizeof at);
}

void fake_server_continue(struct fake_server *p)
{
    sem_post(&p->go);
}

int fake_server_connect(const struct fake_server *p)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    at.sin_port = htons((uint16_t)p->port);
    BUG_IF(fd < 0);
    connect(fd, (struct sockaddr *)&at, sizeof at);
    return fd;
}

bool fake_server_end(struct fake_server *p)
{
    pthread_join(p->thread, NULL);
    return p->mismatch.len == 0;
}

void fake_server_release(struct fake_server *p)
{
    buf_release(&p->mismatch);
    sem_destroy(&p->go);
}
