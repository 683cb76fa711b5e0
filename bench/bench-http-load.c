/* bench/bench-http-load.c - measures the requests per second of an HTTP server or proxy.
 *
 *     bench-http-load PORT PATH SIZE COUNT CONNECTIONS [HEADER…]
 *
 * Posts COUNT requests of SIZE bytes each to 127.0.0.1, on so many connections, one at a time
 * on each; an answer may have a length or come in chunks. Each connection is that of another
 * client, with its own header. Prints requests per second, and the median and the 99th
 * percentile of the time to an answer in ns. Ends with 1 if anything but 200 comes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    ID_DIGITS = 9,
    FIRST_ID = 100000000,
    CLIENT_DIGITS = 5,
    ANSWER_MAX = 1 << 20,
    EVENTS = 256
};

static const char before_id[] = "{\"jsonrpc\":\"2.0\",\"id\":";
static const char after_id[] = ",\"method\":\"tools/call\","
                               "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"";
static const char tail[] = "\"}}}";

struct connection {
    int fd;
    uint64_t sent_ns;
    size_t len; /* of the answer so far */
    char answer[ANSWER_MAX];
};

struct load {
    char *request;
    size_t request_len, id_at, client_at;
    size_t count, sent, answered;
    uint32_t *took;
    struct connection *connections;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench-http-load: %s\n", what);
    exit(1);
}

static void make_request(struct load *l, const char *path, size_t size, char **headers)
{
    size_t room = size + 4096, n;

    l->request = malloc(room);
    if (!l->request || size < 120)
        fail("a request has 120 bytes or more");
    n = (size_t)snprintf(
        l->request, room,
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n"
        "User-Agent: load/00000\r\n",
        path, size);
    l->client_at = n - 2 - CLIENT_DIGITS;
    for (; *headers && n < 4096; headers++)
        n += (size_t)snprintf(l->request + n, room - n, "%s\r\n", *headers);
    if (n + 2 > 4096)
        fail("too many headers");
    memcpy(l->request + n, "\r\n", 2);
    n += 2;
    memset(l->request + n, 'x', size);
    memcpy(l->request + n, before_id, sizeof before_id - 1);
    l->id_at = n + sizeof before_id - 1;
    memcpy(l->request + l->id_at + ID_DIGITS, after_id, sizeof after_id - 1);
    l->request_len = n + size;
    memcpy(l->request + l->request_len - (sizeof tail - 1), tail, sizeof tail - 1);
}

static void post(struct load *l, struct connection *c)
{
    char id[ID_DIGITS + 1], client[CLIENT_DIGITS + 1];

    if (l->sent == l->count)
        return;
    snprintf(client, sizeof client, "%05u", (unsigned)(c - l->connections) % 100000);
    memcpy(l->request + l->client_at, client, CLIENT_DIGITS);
    snprintf(id, sizeof id, "%zu", FIRST_ID + l->sent++);
    memcpy(l->request + l->id_at, id, ID_DIGITS);
    c->len = 0;
    c->sent_ns = now_ns();
    /* The connection before took all the room. */
    if (send(c->fd, l->request, l->request_len, MSG_NOSIGNAL) != (ssize_t)l->request_len)
        fail("a request was not taken");
}

/* Whether the answer is whole. */
static int is_whole(struct connection *c)
{
    const char *end, *length;
    size_t head;

    c->answer[c->len] = '\0';
    end = memmem(c->answer, c->len, "\r\n\r\n", 4);
    if (!end)
        return 0;
    if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0)
        fail(c->answer);
    head = (size_t)(end + 4 - c->answer);
    length = strcasestr(c->answer, "\r\ncontent-length:");
    if (length && length < end)
        return c->len - head >= strtoul(length + 17, NULL, 10);
    return c->len >= head + 5 && memcmp(c->answer + c->len - 5, "0\r\n\r\n", 5) == 0;
}

static void read_response(struct load *l, struct connection *c)
{
    ssize_t n = recv(c->fd, c->answer + c->len, ANSWER_MAX - 1 - c->len, MSG_DONTWAIT);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        fail("a connection was closed");
    c->len += (size_t)n;
    if (!is_whole(c))
        return;
    l->took[l->answered++] = (uint32_t)(now_ns() - c->sent_ns);
    post(l, c);
}

static void open_connection(struct connection *c, int port, int epoll)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
    int on = 1;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&at, sizeof at) != 0)
        fail("nobody listens there");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct load l = { 0 };
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    size_t connections;
    uint64_t began;

    if (argc < 6)
        return 2;
    make_request(&l, argv[2], strtoul(argv[3], NULL, 10), argv + 6);
    l.count = strtoul(argv[4], NULL, 10);
    connections = strtoul(argv[5], NULL, 10);
    l.took = calloc(l.count, sizeof *l.took);
    l.connections = calloc(connections, sizeof *l.connections);
    if (!l.took || !l.connections)
        fail("no memory");
    for (size_t i = 0; i < connections; i++)
        open_connection(&l.connections[i], (int)strtol(argv[1], NULL, 10), epoll);
    began = now_ns();
    for (size_t i = 0; i < connections; i++)
        post(&l, &l.connections[i]);
    while (l.answered < l.count) {
        int n = epoll_wait(epoll, events, EVENTS, 10000);

        if (n <= 0)
            fail("no answer for 10 s");
        for (int i = 0; i < n; i++)
            read_response(&l, events[i].data.ptr);
    }
    began = now_ns() - began;
    qsort(l.took, l.count, sizeof *l.took, by_size);
    printf("%.0f %u %u\n", (double)l.count * 1e9 / (double)began, l.took[l.count / 2],
           l.took[l.count - l.count / 100 - 1]);
    return 0;
}
