#include "raw-client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/timer.h"

enum { TURN_MS = 1, VERY_LONG_US = 30 * 1000000 };

int raw_client_connect(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BUG_IF(fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0);
    return fd;
}

void raw_client_send(int fd, struct str bytes)
{
    BUG_IF(send(fd, bytes.at, bytes.len, MSG_NOSIGNAL) != (ssize_t)bytes.len);
}

static void stop(void *to)
{
    loop_stop(to);
}

void raw_client_run_briefly(struct loop *l)
{
    struct timer *t = timer_new(l, stop, l);

    timer_set(t, TURN_MS);
    loop_run(l);
    timer_close(t);
}

bool raw_client_run_until(struct loop *l, bool (*done)(void *to), void *to)
{
    int64_t start = clock_mono_us();

    while (!done(to)) {
        if (clock_mono_us() - start > VERY_LONG_US)
            return false;
        raw_client_run_briefly(l);
    }
    return true;
}

struct receive_wait {
    int fd;
    struct buf *into;
    struct str want;
    const char *how;
};

static bool has_received(void *to)
{
    struct receive_wait *e = to;
    char bytes[4096];
    ssize_t n;

    while ((n = recv(e->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        buf_add(e->into, str_n(bytes, (size_t)n));
        if (e->want.len && str_ends(buf_str(e->into), e->want))
            e->how = "";
    }
    if (n == 0)
        e->how = "end";
    else if (errno == ECONNRESET)
        e->how = "reset";
    return e->how != NULL;
}

const char *raw_client_receive(struct loop *l, int fd, struct buf *into, struct str want)
{
    struct receive_wait e = { .fd = fd, .into = into, .want = want };

    return raw_client_run_until(l, has_received, &e) ? e.how : "silence";
}
