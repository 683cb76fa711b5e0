#include "runtime/http-clients.h"

#include <stdlib.h>
#include <unistd.h>

#include "raw-client.h"
#include "test.h"

/* Timers of the engine below: what it is to do with the latest exchange. */
enum { WRITE = 1, END, FLOOD };

enum { FLOODS = 64, FLOOD_SIZE = 1 << 20 };

/* An engine that answers by the path of a request, and the clients it has. */
struct bench {
    struct loop *loop;
    struct log log;
    struct buf logged, engine_events, received;
    struct app app;
    struct driver drive;
    struct http_clients side;
    uint64_t latest;
    bool gone, done;
    int fd;
};

static void act(struct bench *b, enum action_kind kind, unsigned status, struct headers *f,
                struct str text)
{
    struct action a = { .kind = kind,
                        .route = { .exchange = b->latest },
                        .status = status,
                        .headers = f,
                        .text = text };

    b->drive.actions.put(&b->drive.actions, &a);
}

static void answer(struct bench *b, const struct event_request *r)
{
    struct str path = r->path, body = r->body;
    struct headers f = { .at = NULL };

    headers_add(&f, STR("Mcp-Session-Id"), STR("me"));
    if (str_eq(path, STR("/echo")))
        act(b, ACTION_HTTP_RESPONSE, 200, &f, body);
    else if (str_eq(path, STR("/refuse")))
        act(b, ACTION_HTTP_RESPONSE, 409, &f, STR("no"));
    else if (str_eq(path, STR("/told")))
        act(b, ACTION_HTTP_RESPONSE, 202, &f, STR_NONE);
    else if (str_eq(path, STR("/stream")))
        act(b, ACTION_STREAM_OPEN, 200, &f, STR_NONE);
    else if (str_eq(path, STR("/split"))) {
        headers_add(&f, STR("Allow"), STR("GET\r\nSet-Cookie: a"));
        act(b, ACTION_HTTP_RESPONSE, 405, &f, STR_NONE);
    }
    /* An answered exchange may still be read, as engines do. */
    buf_printf(&b->engine_events, " %.*s]", STR_ARG(body));
    headers_release(&f);
}

static void flood(struct bench *b)
{
    char *much = calloc(1, FLOOD_SIZE);

    for (int i = 0; i < FLOODS; i++)
        act(b, ACTION_STREAM_WRITE, 0, NULL, str_n(much, FLOOD_SIZE));
    free(much);
}

static void step(void *engine, const struct event *ev)
{
    struct bench *b = engine;

    if (ev->kind == EVENT_HTTP_REQUEST) {
        b->latest = ev->exchange;
        buf_printf(&b->engine_events, "[%llu %.*s %.*s %s %s", (unsigned long long)ev->exchange,
                   STR_ARG(ev->request->method), STR_ARG(ev->request->path),
                   origin_kind_name(ev->request->host), origin_kind_name(ev->request->origin));
        assert_int_equal(headers_count(ev->request->headers, STR("host")), 1);
        answer(b, ev->request);
    } else if (ev->kind == EVENT_CLIENT_CLOSED) {
        buf_printf(&b->engine_events, "[%llu gone]", (unsigned long long)ev->exchange);
        b->gone = true;
    } else if (ev->timer == WRITE) {
        act(b, ACTION_STREAM_WRITE, 0, NULL, STR("data: x\n\n"));
    } else if (ev->timer == END) {
        act(b, ACTION_STREAM_END, 0, NULL, STR_NONE);
    } else {
        flood(b);
    }
}

static void on_action(void *to, const struct action *a)
{
    struct bench *b = to;

    http_clients_act(&b->side, a);
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_bench(struct bench *b, const char *where)
{
    struct err e = ERR_NONE;
    struct listen_address at;

    *b = (struct bench){ .loop = loop_new(),
                         .log = { .level = LOG_DEBUG, .write = add_line, .arg = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 20);
    buf_init(&b->engine_events, 1 << 20);
    buf_init(&b->received, 1 << 20);
    driver_init(&b->drive, &b->app, b->loop, step, b, on_action, b);
    assert_true(listen_address_parse(&at, str_z(where), &e));
    if (!http_clients_open(&b->side, b->loop, &b->drive, &at, &e))
        fail_msg("%s", e.msg);
    b->fd = raw_client_connect(http_server_address(b->side.server)->port);
}

static void close_bench(struct bench *b)
{
    close(b->fd);
    http_clients_close(&b->side);
    driver_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->received);
    buf_release(&b->engine_events);
    buf_release(&b->logged);
}

static void put_event(struct bench *b, uint64_t timer)
{
    driver_dispatch(&b->drive, (struct event){ .kind = EVENT_TIMER, .timer = timer });
}

static void send_bytes(struct bench *b, const char *bytes)
{
    raw_client_send(b->fd, str_z(bytes));
}

/* All that came up to `want` is `all`. */
static void expect_bytes(struct bench *b, const char *want, const char *all)
{
    buf_clear(&b->received);
    assert_string_equal(raw_client_receive(b->loop, b->fd, &b->received, str_z(want)), "");
    assert_str(buf_str(&b->received), str_z(all));
}

static bool is_gone(void *to)
{
    struct bench *b = to;

    return b->gone;
}

static bool is_done(void *to)
{
    struct bench *b = to;

    return b->done;
}

static void note_done(void *to)
{
    struct bench *b = to;

    b->done = true;
}

#define HOST "Host: localhost\r\n"

/* A page of this machine, and the lines by which it may see an answer. */
#define PAGE "Origin: http://localhost:1\r\n"
#define SEEN                                                                                   \
    "Access-Control-Allow-Origin: http://localhost:1\r\n"                                      \
    "Access-Control-Expose-Headers: Mcp-Session-Id, MCP-Protocol-Version, "                    \
    "WWW-Authenticate, Retry-After\r\nVary: Origin\r\n"

static void complete_requests_become_events_and_responses_are_sent(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "POST /echo?q=1 HTTP/1.1\r\n" HOST "Content-Length: 6\r\n\r\nabc");
    raw_client_run_briefly(b.loop);
    assert_str(buf_str(&b.engine_events), STR(""));
    send_bytes(&b, "def");
    expect_bytes(&b, "abcdef",
                 "HTTP/1.1 200 OK\r\nMcp-Session-Id: me\r\nContent-Length: 6\r\n\r\nabcdef");
    send_bytes(&b, "POST /told HTTP/1.1\r\n" HOST PAGE "Content-Length: 1\r\n\r\n!");
    expect_bytes(&b, "\r\n\r\n",
                 "HTTP/1.1 202 Accepted\r\nMcp-Session-Id: me\r\n" SEEN
                 "Content-Length: 0\r\n\r\n");
    assert_str(buf_str(&b.engine_events),
               STR("[1 POST /echo loopback none abcdef][2 POST /told loopback loopback !]"));
    close_bench(&b);
}

static void a_stream_is_sent_piece_by_piece_until_the_engine_ends_it(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    expect_bytes(&b, "\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nMcp-Session-Id: me\r\nTransfer-Encoding: chunked\r\n\r\n");
    put_event(&b, WRITE);
    expect_bytes(&b, "\n\n\r\n", "9\r\ndata: x\n\n\r\n");
    put_event(&b, END);
    expect_bytes(&b, "0\r\n\r\n", "0\r\n\r\n");
    put_event(&b, WRITE); /* it has ended: the event is dropped */
    send_bytes(&b, "POST /told HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
    expect_bytes(&b, "\r\n\r\n",
                 "HTTP/1.1 202 Accepted\r\nMcp-Session-Id: me\r\nContent-Length: 0\r\n\r\n");
    close_bench(&b);
}

static void a_disconnected_client_is_reported_once(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("\r\n\r\n"));
    close(b.fd);
    assert_true(raw_client_run_until(b.loop, is_gone, &b));
    put_event(&b, WRITE);
    put_event(&b, END);
    assert_str(buf_str(&b.engine_events), STR("[1 GET /stream loopback none ][1 gone]"));
    b.fd = raw_client_connect(http_server_address(b.side.server)->port);
    close_bench(&b);
}

/* The first two have a stream each, the third has not said all of its request. */
static void several_clients_get_their_own_responses(void **state)
{
    struct bench b;
    int fd[3];

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    for (size_t i = 0; i < 3; i++)
        fd[i] = raw_client_connect(http_server_address(b.side.server)->port);
    for (size_t i = 0; i < 2; i++) {
        raw_client_send(fd[i], STR("GET /stream HTTP/1.1\r\n" HOST "\r\n"));
        raw_client_receive(b.loop, fd[i], &b.received, STR("\r\n\r\n"));
    }
    raw_client_send(fd[2], STR("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\na"));
    raw_client_run_briefly(b.loop);
    send_bytes(&b, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nb");
    expect_bytes(&b, "b",
                 "HTTP/1.1 200 OK\r\nMcp-Session-Id: me\r\nContent-Length: 1\r\n\r\nb");
    for (b.latest = 4; b.latest; b.latest--)
        put_event(&b, b.latest == 2 ? END : WRITE);
    buf_clear(&b.received);
    raw_client_receive(b.loop, fd[0], &b.received, STR("\n\n\r\n"));
    raw_client_receive(b.loop, fd[1], &b.received, STR("0\r\n\r\n"));
    assert_str(buf_str(&b.received), STR("9\r\ndata: x\n\n\r\n0\r\n\r\n"));
    close(fd[2]);
    raw_client_run_briefly(b.loop);
    close(fd[0]);
    assert_true(raw_client_run_until(b.loop, is_gone, &b));
    assert_str(buf_str(&b.engine_events),
               STR("[1 GET /stream loopback none ][2 GET /stream loopback none ]"
                   "[4 POST /echo loopback none b][1 gone]"));
    assert_null(b.side.open_exchanges);
    assert_int_equal(b.side.pending.count, 0);
    close(fd[1]);
    close_bench(&b);
}

static void a_client_that_reads_nothing_is_closed(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.side.queue_max = FLOOD_SIZE;
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("\r\n\r\n"));
    put_event(&b, FLOOD);
    assert_str(buf_str(&b.engine_events), STR("[1 GET /stream loopback none ][1 gone]"));
    close_bench(&b);
}

static void *on_request_seen(void *to, const struct http_exchange *x)
{
    struct bench *b = to;

    buf_printf(&b->engine_events, "<asked %.*s>", STR_ARG(x->head->path));
    return &b->engine_events;
}

static void see_sent(void *to, void *seen, struct str bytes)
{
    (void)to;
    buf_printf(seen, "<sent %.*s>", STR_ARG(bytes));
}

static void see_sent_all(void *to, void *seen)
{
    (void)to;
    buf_add(seen, STR("<all>"));
}

static void on_response_seen(void *to, void *seen, const struct action *a)
{
    struct bench *b = to;

    /* Before it goes out. */
    assert_non_null(b->side.open_exchanges);
    buf_printf(seen, "<%s %u %.*s>", a->by_mcpreel ? "own" : "its", a->status,
               STR_ARG(a->text));
}

static void see_refused(void *to, void *seen, unsigned status, const char *text)
{
    (void)to;
    (void)text;
    buf_printf(seen, "<refused %u>", status);
}

static void on_close_seen(void *to, void *seen, const struct http_exchange_failure *why)
{
    (void)to;
    buf_printf(seen, "<gone %d>", (int)why->kind);
}

static const struct http_clients_observer all_of_it = {
    .request = on_request_seen,
    .request_data = see_sent,
    .request_end = see_sent_all,
    .response = on_response_seen,
    .rejected = see_refused,
    .closed = on_close_seen,
};

static void the_observer_gets_everything_before_it_is_sent(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.side.observer = &all_of_it;
    b.side.to = &b;
    b.side.body_max = 8;
    send_bytes(&b, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc");
    raw_client_receive(b.loop, b.fd, &b.received, STR("abc"));
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("chunked\r\n\r\n"));
    put_event(&b, WRITE);
    put_event(&b, END);
    send_bytes(&b, "POST /echo HTTP/1.1\r\n" HOST
                   "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("too large"));
    assert_str(buf_str(&b.engine_events),
               STR("<asked /echo><sent abc><all>[1 POST /echo loopback none<its 200 abc> abc]"
                   "<asked /stream><all>[2 GET /stream loopback none<its 200 > ]"
                   "<its 0 data: x\n\n><its 0 >"
                   "<asked /echo><sent 123456789><refused 413>"));
    buf_clear(&b.engine_events);
    close_bench(&b);
}

static void the_observer_gets_disconnected_and_rejected_clients(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.side.observer = &all_of_it;
    b.side.to = &b;
    send_bytes(&b, "POST /echo HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
    assert_str(buf_str(&b.engine_events), STR("<asked /echo><refused 403>"));
    buf_clear(&b.engine_events);
    close(b.fd);
    b.fd = raw_client_connect(http_server_address(b.side.server)->port);
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("chunked\r\n\r\n"));
    close(b.fd);
    assert_true(raw_client_run_until(b.loop, is_gone, &b));
    assert_str(buf_str(&b.engine_events), STR("<asked /stream><all>[1 GET /stream loopback none"
                                              "<its 200 > ]<gone 0>[1 gone]"));
    buf_clear(&b.engine_events);
    b.fd = raw_client_connect(http_server_address(b.side.server)->port);
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    buf_clear(&b.received);
    raw_client_receive(b.loop, b.fd, &b.received, STR("chunked\r\n\r\n"));
    http_server_close(b.side.server);
    b.side.server = NULL;
    buf_clear(&b.engine_events);
    http_clients_close(&b.side);
    assert_str(buf_str(&b.engine_events), STR("<gone 4>"));
    close_bench(&b);
}

static void a_rejected_client_does_not_reach_the_engine(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "POST /echo HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
    assert_true(str_starts(buf_str(&b.received), STR("HTTP/1.1 403 ")));
    assert_str(buf_str(&b.engine_events), STR(""));
    close_bench(&b);
}

#define ASKS "OPTIONS /echo HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\n"

static void a_cors_preflight_does_not_reach_the_engine(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.side.observer = &all_of_it;
    b.side.to = &b;
    send_bytes(&b, ASKS HOST PAGE "Access-Control-Request-Headers: mcp-name\r\n\r\n");
    expect_bytes(
        &b, "\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: http://localhost:1\r\n"
        "Access-Control-Allow-Methods: GET, POST, DELETE\r\n"
        "Access-Control-Allow-Headers: mcp-name\r\nAccess-Control-Max-Age: 7200\r\n"
        "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers\r\n\r\n");
    assert_str(buf_str(&b.engine_events), STR("<asked /echo><refused 204>"));
    close_bench(&b);
}

static void cors_headers_are_on_streams_and_rejections(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.side.body_max = 5;
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST PAGE "\r\n");
    expect_bytes(&b, "\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nMcp-Session-Id: me\r\n" SEEN
                 "Transfer-Encoding: chunked\r\n\r\n");
    put_event(&b, END);
    expect_bytes(&b, "0\r\n\r\n", "0\r\n\r\n");
    send_bytes(&b, "POST /echo HTTP/1.1\r\n" HOST PAGE
                   "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n");
    buf_clear(&b.received);
    raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
    assert_true(
        str_starts(buf_str(&b.received), STR("HTTP/1.1 413 Content Too Large\r\n" SEEN)));
    close_bench(&b);
}

static void a_page_of_a_rejected_origin_gets_no_cors_headers(void **state)
{
    static const char *const pages[] = { "https://evil.example", "null", "http://0.0.0.0:1",
                                         "http://localhost:1\r\nOrigin: http://localhost:1" };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        open_bench(&b, "127.0.0.1:0");
        send_bytes(&b, ASKS HOST "Origin: ");
        send_bytes(&b, pages[i]);
        send_bytes(&b, "\r\n\r\n");
        raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
        assert_true(str_starts(buf_str(&b.received), STR("HTTP/1.1 403 ")));
        assert_null(memmem(b.received.at, b.received.len, "Access-Control", 14));
        assert_str(buf_str(&b.engine_events), STR(""));
        close_bench(&b);
    }
}

static void rejected_clients_are_logged_once_for_each_reason(void **state)
{
    static const char *const asked[] = {
        "GET /stream HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET /stream HTTP/1.1\r\nHost: other.example\r\n\r\n",
        "GET /stream HTTP/1.1\r\n" HOST "Origin: https://a.example\r\n\r\n",
        "TRACE /stream HTTP/1.1\r\n" HOST "\r\n",
        "GET /stream HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET /stream HTTP/1.1\r\n" HOST "Origin: https://b.example\r\n\r\n",
        "TRACE /stream HTTP/1.1\r\n" HOST "\r\n",
    };
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.log.level = LOG_INFO;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        send_bytes(&b, asked[i]);
        buf_clear(&b.received);
        raw_client_receive(b.loop, b.fd, &b.received, STR("}}"));
    }
    assert_str(buf_str(&b.logged),
               STR("mcpreel: warning: rejected an HTTP request for host "
                   "'evil.example': Host is not allowed; see --allow-host\n"
                   "mcpreel: warning: rejected an HTTP request from origin "
                   "'https://a.example:443': Origin is not allowed; see --allow-origin\n"
                   "mcpreel: warning: rejected an HTTP request: the methods TRACE and TRACK "
                   "are not forwarded\n"));
    close_bench(&b);
}

static void rejections_of_the_engine_are_logged_with_verbose(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "GET /refuse?key=1 HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("no"));
    assert_str(buf_str(&b.logged), STR("mcpreel: responded to a GET request with 409: no\n"));
    close_bench(&b);
}

static void a_too_long_request_does_not_reach_the_engine(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    b.side.body_max = 5;
    send_bytes(&b, "POST /echo HTTP/1.1\r\n" HOST
                   "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
    assert_true(str_starts(buf_str(&b.received), STR("HTTP/1.1 413 ")));
    assert_str(buf_str(&b.engine_events), STR(""));
    close_bench(&b);
}

static void a_too_long_content_length_is_rejected_at_once(void **state)
{
    static const char *const expects[] = { "", "Expect: 100-continue\r\n" };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < sizeof expects / sizeof *expects; i++) {
        open_bench(&b, "127.0.0.1:0");
        b.side.observer = &all_of_it;
        b.side.to = &b;
        b.side.body_max = 5;
        send_bytes(&b, "POST /echo HTTP/1.1\r\n" HOST PAGE);
        send_bytes(&b, expects[i]);
        send_bytes(&b, "Content-Length: 6\r\n\r\n");
        raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
        assert_true(
            str_starts(buf_str(&b.received), STR("HTTP/1.1 413 Content Too Large\r\n" SEEN)));
        assert_true(str_contains(buf_str(&b.received), STR("Connection: close\r\n")));
        assert_str(buf_str(&b.engine_events), STR("<asked /echo><refused 413>"));
        buf_clear(&b.engine_events);
        close_bench(&b);
    }
}

/* A recording may hold anything; it does not get to write lines of its own into a head. */
static void a_response_with_a_line_break_in_a_header_is_not_sent(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "GET /split HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
    assert_true(str_starts(buf_str(&b.received), STR("HTTP/1.1 500 ")));
    assert_null(memmem(b.received.at, b.received.len, "Set-Cookie", 10));
    close_bench(&b);
}

static void invalid_http_is_rejected_and_logged(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "GET / HTTP/1.1\nHost: localhost\n\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("}"));
    assert_true(str_starts(buf_str(&b.received), STR("HTTP/1.1 400 ")));
    assert_non_null(memmem(b.logged.at, b.logged.len, " rejected: ", 11));
    assert_str(buf_str(&b.engine_events), STR(""));
    close_bench(&b);
}

static void at_shutdown_received_requests_come_first(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "127.0.0.1:0");
    send_bytes(&b, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    raw_client_receive(b.loop, b.fd, &b.received, STR("\r\n\r\n"));
    put_event(&b, WRITE);
    http_clients_finish(&b.side, note_done, &b);
    put_event(&b, END);
    buf_clear(&b.received);
    assert_string_equal(raw_client_receive(b.loop, b.fd, &b.received, STR("never")), "end");
    assert_str(buf_str(&b.received), STR("9\r\ndata: x\n\n\r\n0\r\n\r\n"));
    assert_true(raw_client_run_until(b.loop, is_done, &b));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_requests_become_events_and_responses_are_sent),
        cmocka_unit_test(a_stream_is_sent_piece_by_piece_until_the_engine_ends_it),
        cmocka_unit_test(a_disconnected_client_is_reported_once),
        cmocka_unit_test(several_clients_get_their_own_responses),
        cmocka_unit_test(a_client_that_reads_nothing_is_closed),
        cmocka_unit_test(the_observer_gets_everything_before_it_is_sent),
        cmocka_unit_test(the_observer_gets_disconnected_and_rejected_clients),
        cmocka_unit_test(a_rejected_client_does_not_reach_the_engine),
        cmocka_unit_test(a_cors_preflight_does_not_reach_the_engine),
        cmocka_unit_test(cors_headers_are_on_streams_and_rejections),
        cmocka_unit_test(a_page_of_a_rejected_origin_gets_no_cors_headers),
        cmocka_unit_test(rejected_clients_are_logged_once_for_each_reason),
        cmocka_unit_test(rejections_of_the_engine_are_logged_with_verbose),
        cmocka_unit_test(a_too_long_request_does_not_reach_the_engine),
        cmocka_unit_test(a_too_long_content_length_is_rejected_at_once),
        cmocka_unit_test(a_response_with_a_line_break_in_a_header_is_not_sent),
        cmocka_unit_test(invalid_http_is_rejected_and_logged),
        cmocka_unit_test(at_shutdown_received_requests_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
