/* bench/bench-http-server.c - our own HTTP server with a fixed response: the cost of HTTP
 * without recording or replaying.
 *
 *     bench-http-server SIZE
 *
 * As bench-http-bare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "loop/stream.h"
#include "transport/http-server.h"

struct fixed {
    struct loop *loop;
    struct http_exchange_response answer;
    struct str body;
};

static void on_request(void *to, struct http_exchange *x)
{
    (void)to;
    http_exchange_send_continue(x);
}

static void on_data(void *to, struct http_exchange *x, struct str bytes)
{
    (void)to;
    (void)x;
    (void)bytes;
}

static void on_whole(void *to, struct http_exchange *x)
{
    struct fixed *f = to;
    struct err e = ERR_NONE;

    if (!http_exchange_respond(x, &f->answer, f->body, &e))
        exit(1);
}

static void on_drained(void *to, struct http_exchange *x)
{
    (void)to;
    (void)x;
}

static void on_gone(void *to, struct http_exchange *x, const struct http_exchange_failure *why)
{
    (void)to;
    (void)x;
    (void)why;
}

static void on_refused(void *to, uint64_t connection, const struct http_exchange_failure *why)
{
    (void)to;
    (void)connection;
    (void)why;
}

static const struct http_exchange_events events = {
    .request = on_request,
    .data = on_data,
    .request_complete = on_whole,
    .drained = on_drained,
    .aborted = on_gone,
    .rejected = on_refused,
};

static void on_nothing(void *to, struct str bytes)
{
    (void)to;
    (void)bytes;
}

static void on_end(void *to, const struct err *why)
{
    struct fixed *f = to;

    (void)why;
    loop_stop(f->loop);
}

static const struct stream_events stdin_events = { .data = on_nothing, .end = on_end };

int main(int argc, char **argv)
{
    struct http_server_config config = { .host = STR("127.0.0.1") };
    struct fixed f = { .answer = { .status = 200 } };
    struct http_server *server;
    struct err e = ERR_NONE;
    struct stream *end;
    char *body;

    if (argc != 2)
        return 2;
    f.body.len = strtoul(argv[1], NULL, 10);
    body = mem_alloc(f.body.len);
    memset(body, 'y', f.body.len);
    f.body.at = body;
    headers_add(&f.answer.headers, STR("Content-Type"), STR("application/json"));
    f.loop = loop_new();
    if (!http_server_open(&server, f.loop, &config, &events, &f, &e) ||
        !stream_open(&end, f.loop, 0, &stdin_events, &f, &e)) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    printf("%d\n", http_server_address(server)->port);
    fflush(stdout);
    stream_read(end, true);
    loop_run(f.loop);
    stream_close(end);
    http_server_close(server);
    loop_free(f.loop);
    headers_release(&f.answer.headers);
    free(body);
    return 0;
}
