/* bench/bench-http-bare.c - the least that an HTTP server on libuv can do: the baseline of
 * replay.
 *
 *     bench-http-bare SIZE
 *
 * Listens on a port of 127.0.0.1, which it prints, and answers every request with the same SIZE
 * bytes of JSON, but for the id, which is the request's if that is where bench-http-load has
 * it. Looks for the end of a head and for Content-Length and at nothing else. Ends with its
 * stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

enum { HEAD_MAX = 16 << 10, CHUNK = 64 << 10, BACKLOG = 1024, ID_DIGITS = 9 };

static const char before_id[] = "{\"jsonrpc\":\"2.0\",\"id\":";

struct client {
    uv_tcp_t uv; /* first: libuv's handle is ours */
    char head[HEAD_MAX];
    size_t len;  /* of a head that is not whole */
    size_t body; /* bytes still to come */
};

struct unsent {
    uv_write_t uv;
    char bytes[];
};

static struct {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_pipe_t end;
    char *answer;
    size_t answer_len, id_at;
    char chunk[CHUNK];
} server;

static void give_chunk(uv_handle_t *uv, size_t suggested, uv_buf_t *buf)
{
    (void)uv;
    (void)suggested;
    *buf = uv_buf_init(server.chunk, CHUNK);
}

static void on_closed(uv_handle_t *uv)
{
    free(uv);
}

static void on_written(uv_write_t *uv, int status)
{
    (void)status;
    free(uv);
}

static void answer(struct client *c)
{
    uv_buf_t buf = uv_buf_init(server.answer, (unsigned)server.answer_len);
    int n = uv_try_write((uv_stream_t *)&c->uv, &buf, 1);
    size_t done = n > 0 ? (size_t)n : 0, left = server.answer_len - done;
    struct unsent *w;

    if (!left)
        return;
    w = malloc(sizeof *w + left);
    memcpy(w->bytes, server.answer + done, left);
    buf = uv_buf_init(w->bytes, (unsigned)left);
    uv_write(&w->uv, (uv_stream_t *)&c->uv, &buf, 1, on_written);
}

static size_t length_of(const char *head, const char *end)
{
    static const char name[] = "\r\ncontent-length:";

    for (const char *at = head; at < end; at = memchr(at + 1, '\r', (size_t)(end - at))) {
        if (strncasecmp(at, name, sizeof name - 1) == 0)
            return strtoul(at + sizeof name - 1, NULL, 10);
        if (at == end - 1)
            break;
    }
    return 0;
}

/* Reads the head, or a part of it; 0: it is too long. */
static size_t take_head(struct client *c, const char *at, size_t n)
{
    size_t before = c->len, more = n < HEAD_MAX - before ? n : HEAD_MAX - before;
    const char *end;

    memcpy(c->head + before, at, more);
    c->len += more;
    end = memmem(c->head, c->len, "\r\n\r\n", 4);
    if (!end)
        return more;
    c->body = length_of(c->head, end + 2);
    c->len = 0;
    if (!c->body)
        answer(c);
    return (size_t)(end + 4 - c->head) - before;
}

static size_t take_body(struct client *c, const char *at, size_t n)
{
    size_t taken = n < c->body ? n : c->body;

    if (taken > sizeof before_id - 1 + ID_DIGITS &&
        memcmp(at, before_id, sizeof before_id - 1) == 0)
        memcpy(server.answer + server.id_at, at + sizeof before_id - 1, ID_DIGITS);
    c->body -= taken;
    if (!c->body)
        answer(c);
    return taken;
}

static void on_read(uv_stream_t *uv, ssize_t n, const uv_buf_t *buf)
{
    struct client *c = (struct client *)uv;

    for (ssize_t at = 0; at < n;) {
        size_t left = (size_t)(n - at);
        size_t taken =
            c->body ? take_body(c, buf->base + at, left) : take_head(c, buf->base + at, left);

        if (!taken)
            n = -1;
        at += (ssize_t)taken;
    }
    if (n < 0)
        uv_close((uv_handle_t *)uv, on_closed);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct client *c = calloc(1, sizeof *c);

    uv_tcp_init(&server.loop, &c->uv);
    if (status != 0 || uv_accept(listener, (uv_stream_t *)&c->uv) != 0) {
        uv_close((uv_handle_t *)&c->uv, on_closed);
        return;
    }
    uv_tcp_nodelay(&c->uv, 1);
    uv_read_start((uv_stream_t *)&c->uv, give_chunk, on_read);
}

static void on_stdin(uv_stream_t *uv, ssize_t n, const uv_buf_t *buf)
{
    (void)uv;
    (void)buf;
    if (n < 0)
        uv_stop(&server.loop);
}

static void compose(size_t size)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":100000000,\"result\":{\"content\":"
                               "[{\"type\":\"text\",\"text\":\"";
    static const char tail[] = "\"}]}}";
    int n;

    server.answer = malloc(size + 200);
    if (!server.answer || size < sizeof head + sizeof tail)
        exit(2);
    n = snprintf(server.answer, 200,
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 size);
    server.answer_len = (size_t)n + size;
    server.id_at = (size_t)n + sizeof before_id - 1;
    memset(server.answer + n, 'y', size);
    memcpy(server.answer + n, head, sizeof head - 1);
    memcpy(server.answer + server.answer_len - (sizeof tail - 1), tail, sizeof tail - 1);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at;
    int len = sizeof at;

    if (argc != 2)
        return 2;
    compose(strtoul(argv[1], NULL, 10));
    uv_loop_init(&server.loop);
    uv_tcp_init(&server.loop, &server.listener);
    uv_ip4_addr("127.0.0.1", 0, &at);
    if (uv_tcp_bind(&server.listener, (struct sockaddr *)&at, 0) != 0 ||
        uv_listen((uv_stream_t *)&server.listener, BACKLOG, on_connection) != 0)
        return 1;
    uv_tcp_getsockname(&server.listener, (struct sockaddr *)&at, &len);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    uv_pipe_init(&server.loop, &server.end, 0);
    uv_pipe_open(&server.end, 0);
    uv_read_start((uv_stream_t *)&server.end, give_chunk, on_stdin);
    uv_run(&server.loop, UV_RUN_DEFAULT);
    return 0;
}
