#include "transport/http-client.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake-server.h"
#include "raw-client.h"
#include "test.h"

/* A transfer that logs its events, and does in an event what the test requires. */
struct http_client_test {
    struct loop *loop;
    struct http_client *client;
    struct http_transfer *transfer;
    struct buf seen;
    size_t bytes;
    int drains;
    bool over, quiet; /* quiet: bytes are counted, not kept */
    bool close_on_head, close_on_data, close_on_over, pause_on_data;
    enum http_client_error fault;
};

static void take_data(void *to, struct str bytes)
{
    struct http_client_test *t = to;

    t->bytes += bytes.len;
    if (!t->quiet)
        buf_add(&t->seen, bytes);
    if (t->pause_on_data) {
        http_transfer_read(t->transfer, false);
        loop_stop(t->loop);
    }
    if (t->close_on_data) {
        http_transfer_close(t->transfer);
        loop_stop(t->loop);
    }
}

static void take_head(void *to, const struct response_head *r, struct str body)
{
    struct http_client_test *t = to;

    buf_printf(&t->seen, "%u %.*s", r->status, STR_ARG(r->phrase));
    for (size_t i = 0; i < r->headers.count; i++)
        buf_printf(&t->seen, "|%.*s=%.*s", STR_ARG(r->headers.at[i].name),
                   STR_ARG(r->headers.at[i].value));
    buf_printf(&t->seen, "\n");
    if (body.len)
        take_data(t, body);
    if (t->close_on_head) {
        http_transfer_close(t->transfer);
        loop_stop(t->loop);
    }
}

static void take_drained(void *to)
{
    struct http_client_test *t = to;

    t->drains++;
}

static void be_over(struct http_client_test *t)
{
    assert_false(t->over);
    t->over = true;
    if (t->close_on_over)
        http_transfer_close(t->transfer);
    loop_stop(t->loop);
}

static void take_whole(void *to)
{
    struct http_client_test *t = to;

    buf_printf(&t->seen, "\nwhole");
    be_over(t);
}

static void take_failed(void *to, enum http_client_error fault, const struct err *why)
{
    struct http_client_test *t = to;

    assert_int_equal(why->kind, ERR_PEER);
    t->fault = fault;
    buf_printf(&t->seen, "\nfailed: %s", why->msg);
    be_over(t);
}

static const struct http_transfer_events events = { .head = take_head,
                                                    .data = take_data,
                                                    .drained = take_drained,
                                                    .complete = take_whole,
                                                    .failed = take_failed };

static void open_url(struct http_client_test *t, const char *url)
{
    struct http_client_config config = { .url = str_z(url) };
    struct err e = ERR_NONE;

    *t = (struct http_client_test){ .loop = loop_new() };
    buf_init(&t->seen, 1 << 20);
    if (!http_client_new(&t->client, t->loop, &config, &e))
        fail_msg("%s", e.msg);
}

static void open_client(struct http_client_test *t, const struct fake_server *p)
{
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", p->port);
    open_url(t, url);
}

static void close_client(struct http_client_test *t)
{
    http_client_free(t->client);
    loop_free(t->loop);
    buf_release(&t->seen);
}

static void connect_to(struct http_client_test *t, struct fake_server *p,
                       const struct fake_server_step *script)
{
    fake_server_start(p, script);
    open_client(t, p);
}

static void part(struct http_client_test *t, struct fake_server *p)
{
    fake_server_join(p);
    close_client(t);
}

static void start(struct http_client_test *t, uint64_t reuse_key,
                  const struct outgoing_request *ask)
{
    buf_clear(&t->seen);
    t->over = false;
    t->transfer = http_transfer_start(t->client, reuse_key, ask, &events, t);
}

/* GET with a Host of our own, so that the port does not matter. */
static struct headers host_only(void)
{
    static struct header host = { STR_INIT("Host"), STR_INIT("h") };

    return (
        struct headers){ .at = &host, .count = 1, .name_bits = headers_name_bit(host.name) };
}

static void start_get(struct http_client_test *t, uint64_t reuse_key)
{
    start(t, reuse_key,
          &(struct outgoing_request){
              .method = STR("GET"), .target = STR("/a"), .headers = host_only() });
}

static void start_post(struct http_client_test *t, uint64_t reuse_key, struct body_framing plan)
{
    start(
        t, reuse_key,
        &(struct outgoing_request){
            .method = STR("POST"), .target = STR("/a"), .headers = host_only(), .body = plan });
}

static void finish(struct http_client_test *t, struct str want)
{
    loop_run(t->loop);
    assert_true(t->over);
    assert_str(buf_str(&t->seen), want);
    http_transfer_close(t->transfer);
    t->transfer = NULL;
}

#define GET "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define OK_SEEN "200 OK|Content-Length=2\nok\nwhole"

static void requests_and_responses_pass_unchanged(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp?a=%20b HTTP/1.1\r\nhOSt: example:1\r\nX-Two: a\r\nx-two: "
                        "\r\nX-Two: b\r\n"
                        "User-Agent: mine\r\nContent-Length: 5\r\n\r\nhello"),
        FAKE_TEXT(
            SENDS,
            "HTTP/1.1 299 Quite Fine\r\nset-cookie: a\r\nSet-Cookie: b\r\nContent-Encoding: "
            "gzip\r\n"
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: r\r\n\r\n"),
        FAKE(DONE)
    };
    struct headers f = { .at = NULL };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    headers_add(&f, STR("hOSt"), STR("example:1"));
    headers_add(&f, STR("Connection"), STR("keep-alive, x-hop"));
    headers_add(&f, STR("X-Hop"), STR("1"));
    headers_add(&f, STR("X-Two"), STR("a"));
    headers_add(&f, STR("x-two"), STR(""));
    headers_add(&f, STR("Expect"), STR("100-continue"));
    headers_add(&f, STR("X-Two"), STR("b"));
    headers_add(&f, STR("User-Agent"), STR("mine"));
    headers_add(&f, STR("content-length"), STR("5"));
    start(&t, 1,
          &(struct outgoing_request){ .method = STR("POST"),
                                      .target = STR("/mcp?a=%20b"),
                                      .headers = f,
                                      .body = { BODY_LENGTH, 5 } });
    headers_release(&f);
    http_transfer_send(t.transfer, STR("hel"));
    http_transfer_send(t.transfer, STR("lo"));
    http_transfer_finish(t.transfer);
    finish(&t, STR("299 Quite Fine|set-cookie=a|Set-Cookie=b|Content-Encoding=gzip|"
                   "Transfer-Encoding=chunked\nabcde\nwhole"));
    part(&t, &p);
}

static void a_body_of_unknown_length_is_sent_in_chunks(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"),
        FAKE_TEXT(SENDS, OK), FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    start_post(&t, 1, (struct body_framing){ .kind = BODY_CHUNKED });
    http_transfer_send(t.transfer, STR("abc"));
    http_transfer_send(t.transfer, STR(""));
    http_transfer_send(t.transfer, STR("0123456789"));
    http_transfer_finish(t.transfer);
    finish(&t, STR(OK_SEEN));
    part(&t, &p);
}

static void a_connection_is_reused_for_the_same_key_only(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, OK),
        FAKE_TEXT(SEES, GET), /* reuse_key 1 again */
        FAKE_TEXT(SENDS, OK),
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, GET), /* reuse_key 257, which has the same slot */
        FAKE_TEXT(SENDS, OK),
        FAKE_N(BACK, 1),
        FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, OK),
        FAKE(EOF), /* reuse_key 1 has left */
        FAKE(DONE)
    };
    static const uint64_t reuse_keys[] = { 1, 1, 257, 1 };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    for (size_t i = 0; i < sizeof reuse_keys / sizeof *reuse_keys; i++) {
        start_get(&t, reuse_keys[i]);
        finish(&t, STR(OK_SEEN));
    }
    http_client_close_idle(t.client, 1);
    part(&t, &p);
}

/* Two at once cannot share one. */
static void a_key_may_have_two_requests_at_once(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),         FAKE_TEXT(SEES, GET), FAKE(ACCEPT),         FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, OK), FAKE_N(BACK, 1),      FAKE_TEXT(SENDS, OK), FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t, u;

    (void)state;
    connect_to(&t, &p, script);
    u = (struct http_client_test){ .loop = t.loop, .client = t.client };
    buf_init(&u.seen, 1000);
    start_get(&t, 1);
    start_get(&u, 1);
    while (!t.over || !u.over)
        loop_run(t.loop);
    assert_str(buf_str(&t.seen), STR(OK_SEEN));
    assert_str(buf_str(&u.seen), STR(OK_SEEN));
    http_transfer_close(t.transfer);
    http_transfer_close(u.transfer);
    buf_release(&u.seen);
    part(&t, &p);
}

/* A request whose response never comes is not sent again. */
static void a_reused_connection_closed_without_response_is_an_error(void **state)
{
    static const enum fake_server_action ways[] = { FAKE_CLOSE, FAKE_RESET };

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct fake_server_step script[] = { FAKE(ACCEPT),
                                                   FAKE_TEXT(SEES, GET),
                                                   FAKE_TEXT(SENDS, OK),
                                                   FAKE_TEXT(SEES, GET),
                                                   { ways[i], NULL, 0 },
                                                   FAKE(LONE),
                                                   FAKE(DONE) };
        struct fake_server p;
        struct http_client_test t;

        connect_to(&t, &p, script);
        start_get(&t, 1);
        finish(&t, STR(OK_SEEN));
        start_get(&t, 1);
        finish(&t, STR("\nfailed: the server closed the connection without a response"));
        assert_int_equal(t.fault, HTTP_CLIENT_NO_RESPONSE);
        part(&t, &p);
    }
}

static void run_for(struct loop *l, int ms)
{
    while (ms-- > 0)
        raw_client_run_briefly(l);
}

static void a_connection_closed_while_idle_is_not_reused(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET), FAKE_TEXT(SENDS, OK), FAKE(CLOSE),
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET), FAKE_TEXT(SENDS, OK), FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    start_get(&t, 1);
    finish(&t, STR(OK_SEEN));
    run_for(t.loop, 50);
    start_get(&t, 1);
    finish(&t, STR(OK_SEEN));
    part(&t, &p);
}

/* Whether the second request comes on the same connection as the first. */
static void check_reuse(const char *answer, const char *seen, bool reused)
{
    const struct fake_server_step same[] = {
        FAKE(ACCEPT),         FAKE_TEXT(SEES, GET), FAKE_TEXT(SENDS, answer),
        FAKE_TEXT(SEES, GET), FAKE_TEXT(SENDS, OK), FAKE(DONE)
    };
    const struct fake_server_step other[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET), FAKE_TEXT(SENDS, answer), FAKE(EOF),
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET), FAKE_TEXT(SENDS, OK),     FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    connect_to(&t, &p, reused ? same : other);
    start_get(&t, 1);
    finish(&t, str_z(seen));
    start_get(&t, 1);
    finish(&t, STR(OK_SEEN));
    part(&t, &p);
}

static void only_a_clean_connection_is_reused(void **state)
{
    (void)state;
    check_reuse("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                "200 OK|Connection=close|Content-Length=0\n\nwhole", false);
    check_reuse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
                "200 OK|Content-Length=0\n\nwhole", false);
    check_reuse("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
                "200 OK|Connection=keep-alive|Content-Length=0\n\nwhole", true);
    check_reuse("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\nContent-Length: 0\r\n\r\n",
                "200 OK|Keep-Alive=timeout=5, max=9|Content-Length=0\n\nwhole", true);
    check_reuse("HTTP/1.1 200 OK\r\nKeep-Alive: max=9, timeout=1\r\nContent-Length: 0\r\n\r\n",
                "200 OK|Keep-Alive=max=9, timeout=1|Content-Length=0\n\nwhole", false);
    check_reuse("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1",
                "200 OK|Content-Length=0\n\nwhole", false);
    check_reuse("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "202 Accepted|Transfer-Encoding=chunked\n\nwhole", true);
    check_reuse("HTTP/1.1 204 None\r\n\r\n", "204 None\n\nwhole", true);
    check_reuse(
        "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hint\r\nLink: x\r\n\r\nHTTP/1.1 304 Same\r\n"
        "Content-Length: 9\r\n\r\n",
        "304 Same|Content-Length=9\n\nwhole", true);
}

/* The response came before the body was sent: whether the server read it is unknown. */
static void an_early_response_counts_but_its_connection_is_closed(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc"),
        FAKE_TEXT(SENDS, OK), FAKE(EOF), FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    start_post(&t, 1, (struct body_framing){ BODY_LENGTH, 100 });
    http_transfer_send(t.transfer, STR("abc"));
    loop_run(t.loop);
    http_transfer_send(t.transfer, STR("more")); /* harmless */
    http_transfer_finish(t.transfer);
    assert_str(buf_str(&t.seen), STR(OK_SEEN));
    http_transfer_close(t.transfer);
    part(&t, &p);
}

static void a_response_that_ends_with_its_connection_is_complete(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, "HTTP/1.1 200\r\n\r\nall of "),
        FAKE_TEXT(SENDS, "it"),
        FAKE(CLOSE),
        FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    start_get(&t, 1);
    finish(&t, STR("200 \nall of it\nwhole"));
    part(&t, &p);
}

static void the_response_to_head_has_no_body(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n"),
        FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, OK),
        FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    start(&t, 1,
          &(struct outgoing_request){
              .method = STR("HEAD"), .target = STR("/a"), .headers = host_only() });
    finish(&t, STR("200 OK|Content-Length=77\n\nwhole"));
    start_get(&t, 1);
    finish(&t, STR(OK_SEEN));
    part(&t, &p);
}

struct fault_row {
    const char *output;
    bool reset;
    enum http_client_error fault;
    const char *seen;
};

static void check_fault(const struct fault_row *row)
{
    const struct fake_server_step script[] = { FAKE(ACCEPT),
                                               FAKE_TEXT(SEES, GET),
                                               FAKE_TEXT(SENDS, row->output),
                                               { row->reset ? FAKE_RESET : FAKE_CLOSE, NULL,
                                                 0 },
                                               FAKE(LONE),
                                               FAKE(DONE) };
    struct fake_server p;
    struct http_client_test t;

    connect_to(&t, &p, script);
    start_get(&t, 1);
    finish(&t, str_z(row->seen));
    assert_int_equal(t.fault, row->fault);
    part(&t, &p);
}

#define NO_ANSWER "\nfailed: the server closed the connection without a response"
#define NOT_WHOLE "\nfailed: the server closed the connection before its response was complete"
#define NOT_HTTP "\nfailed: the server's response is not valid HTTP: "
#define NO_FIRST_LINE "a first line that is not 'HTTP/1.1' and a status"

static void failures_are_reported_by_kind(void **state)
{
    static const struct fault_row rows[] = {
        { "", false, HTTP_CLIENT_NO_RESPONSE, NO_ANSWER },
        { "HTTP/1.1 200 OK\r\nContent-", false, HTTP_CLIENT_NO_RESPONSE, NO_ANSWER },
        { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false, HTTP_CLIENT_TRUNCATED,
          "200 OK|Content-Length=3\nab" NOT_WHOLE },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", false,
          HTTP_CLIENT_TRUNCATED, "200 OK|Transfer-Encoding=chunked\nab" NOT_WHOLE },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n", false,
          HTTP_CLIENT_INVALID_RESPONSE,
          "200 OK|Transfer-Encoding=chunked\nab" NOT_HTTP
          "a chunk whose size is not a hexadecimal number" },
        { "HTTP/2 200\r\n\r\n", false, HTTP_CLIENT_INVALID_RESPONSE, NOT_HTTP NO_FIRST_LINE },
        { "SSH-2.0-OpenSSH_9.2\r\n", false, HTTP_CLIENT_INVALID_RESPONSE,
          NOT_HTTP NO_FIRST_LINE },
        { "HTTP/1.1 200 OK\nA: b\n\n", false, HTTP_CLIENT_INVALID_RESPONSE,
          NOT_HTTP "a line that ends in LF alone" },
        { "HTTP/1.1 101 Switching\r\n\r\n", false, HTTP_CLIENT_INVALID_RESPONSE,
          NOT_HTTP "status 101, which was not requested" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_fault(&rows[i]);
}

static void a_refused_connection_is_reported(void **state)
{
    struct fake_server p;
    struct http_client_test t;
    static const struct fake_server_step nothing[] = { FAKE(DONE) };
    char want[128];

    (void)state;
    fake_server_start(&p, nothing);
    fake_server_join(&p); /* its port is closed */
    open_client(&t, &p);
    start_post(&t, 1, (struct body_framing){ BODY_LENGTH, 3 });
    http_transfer_send(t.transfer, STR("abc"));
    http_transfer_finish(t.transfer);
    snprintf(want, sizeof want,
             "\nfailed: cannot connect to 'http://127.0.0.1:%d': connection refused", p.port);
    finish(&t, str_z(want));
    assert_int_equal(t.fault, HTTP_CLIENT_REFUSED);
    close_client(&t);

    open_url(&t, "http://no-such-host.invalid/");
    start_get(&t, 1);
    finish(&t, STR("\nfailed: cannot connect to 'http://no-such-host.invalid:80': cannot "
                   "resolve its name"));
    assert_int_equal(t.fault, HTTP_CLIENT_UNKNOWN_HOST);
    close_client(&t);
}

static void a_server_without_tls_is_reported(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SENDS, "HTTP/1.1 400 Bad Request\r\n\r\n"), FAKE_N(REST, 20),
        FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;
    char url[64];

    (void)state;
    fake_server_start(&p, script);
    snprintf(url, sizeof url, "https://127.0.0.1:%d/", p.port);
    open_url(&t, url);
    start_get(&t, 1);
    loop_run(t.loop);
    assert_true(t.over);
    assert_int_equal(t.fault, HTTP_CLIENT_TLS);
    http_transfer_close(t.transfer);
    part(&t, &p);
}

static void an_aborted_transfer_closes_its_connection_at_once(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), FAKE(EOF),
        FAKE(DONE)
    };
    static const struct fake_server_step with_data[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nabc"), FAKE(EOF),
        FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    t.close_on_head = true;
    start_get(&t, 1);
    loop_run(t.loop);
    fake_server_join(&p); /* the loop does not run: it is closed already */
    assert_str(buf_str(&t.seen), STR("200 OK|Transfer-Encoding=chunked\n"));
    close_client(&t);

    connect_to(&t, &p, with_data);
    t.close_on_data = true;
    start_get(&t, 1);
    loop_run(t.loop);
    fake_server_join(&p);
    assert_str(buf_str(&t.seen), STR("200 OK|Content-Length=90\nabc"));
    close_client(&t);
}

static void a_transfer_may_be_closed_in_any_event(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT), FAKE(EOF), FAKE(DONE) };
    static const struct fake_server_step answered[] = { FAKE(ACCEPT), FAKE_TEXT(SEES, GET),
                                                        FAKE_TEXT(SENDS, OK), FAKE(DONE) };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    open_url(&t, "http://127.0.0.1:9/");
    start_get(&t, 1);
    http_transfer_close(t.transfer); /* before anything was done */
    http_transfer_close(NULL);
    close_client(&t);

    connect_to(&t, &p, script);
    start_post(&t, 1, (struct body_framing){ BODY_LENGTH, 3 });
    run_for(t.loop, 30);
    http_transfer_close(t.transfer);
    assert_true(fake_server_end(&p) || p.mismatch.len); /* the head was on its way, or not */
    fake_server_release(&p);
    close_client(&t);

    connect_to(&t, &p, answered);
    t.close_on_over = true;
    start_get(&t, 1);
    loop_run(t.loop);
    assert_str(buf_str(&t.seen), STR(OK_SEEN));
    part(&t, &p);
}

enum { MUCH = 8 << 20 };

static void pausing_makes_the_server_wait(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, GET),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n"),
        FAKE_N(FLOOD, MUCH), FAKE(DONE)
    };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    t.quiet = t.pause_on_data = true;
    start_get(&t, 1);
    loop_run(t.loop);
    run_for(t.loop, 50);
    assert_true(t.bytes < 128 << 10); /* what was read already, and no more */
    t.pause_on_data = false;
    http_transfer_read(t.transfer, true);
    finish(&t, STR("200 OK|Content-Length=8388608\n\nwhole"));
    assert_int_equal(t.bytes, MUCH);
    part(&t, &p);
}

static void a_server_that_does_not_read_is_seen_in_the_queue(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 8388608\r\n\r\n"),
        FAKE(HOLD),
        FAKE_N(GULP, MUCH),
        FAKE_TEXT(SENDS, OK),
        FAKE(DONE)
    };
    char *much = calloc(1, MUCH);
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    connect_to(&t, &p, script);
    start_post(&t, 1, (struct body_framing){ BODY_LENGTH, MUCH });
    http_transfer_send(t.transfer, str_n(much, MUCH));
    assert_true(http_transfer_queued(t.transfer) >= MUCH);
    run_for(t.loop, 20);
    assert_true(http_transfer_queued(t.transfer) > 0);
    assert_int_equal(t.drains, 0);
    http_transfer_finish(t.transfer);
    fake_server_continue(&p);
    finish(&t, STR(OK_SEEN));
    assert_int_equal(t.drains, 1);
    free(much);
    part(&t, &p);
}

static void userinfo_and_extra_headers_are_sent(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /a HTTP/1.1\r\nHost: other\r\nB: c\r\nX-Key: k\r\nX-Key: l\r\n"
                        "Authorization: Basic dTpwQHc=\r\n\r\n"),
        FAKE_TEXT(SENDS, OK), FAKE(DONE)
    };
    struct http_client_config config = { .connect_ms = 1000 };
    struct headers f = { .at = NULL };
    struct err e = ERR_NONE;
    struct fake_server p;
    struct http_client_test t;
    char url[64];

    (void)state;
    fake_server_start(&p, script);
    snprintf(url, sizeof url, "http://u:p%%40w@127.0.0.1:%d/", p.port);
    t = (struct http_client_test){ .loop = loop_new() };
    buf_init(&t.seen, 1000);
    config.url = str_z(url);
    headers_add(&config.extra_headers, STR("X-Key"), STR("k"));
    headers_add(&config.extra_headers, STR("X-Key"), STR("l"));
    assert_true(http_client_new(&t.client, t.loop, &config, &e));
    headers_release(&config.extra_headers);
    headers_add(&f, STR("Host"), STR("other"));
    headers_add(&f, STR("x-key"), STR("theirs"));
    headers_add(&f, STR("authorization"), STR("theirs"));
    headers_add(&f, STR("B"), STR("c"));
    start(
        &t, 1,
        &(struct outgoing_request){ .method = STR("GET"), .target = STR("/a"), .headers = f });
    headers_release(&f);
    finish(&t, STR(OK_SEEN));
    part(&t, &p);
}

static void the_servers_own_host_is_the_default(void **state)
{
    char url[64], want[128];
    const struct fake_server_step script[] = { FAKE(ACCEPT),
                                               FAKE_TEXT(SEES, want), /* known by then */
                                               FAKE_TEXT(SENDS, OK), FAKE(DONE) };
    struct fake_server p;
    struct http_client_test t;

    (void)state;
    fake_server_start_v6(&p, script);
    snprintf(url, sizeof url, "http://[::1]:%d/", p.port);
    snprintf(want, sizeof want, "GET /a HTTP/1.1\r\nHost: [::1]:%d\r\n\r\n", p.port);
    open_url(&t, url);
    start(&t, 1, &(struct outgoing_request){ .method = STR("GET"), .target = STR("/a") });
    finish(&t, STR(OK_SEEN));
    part(&t, &p);
}

static void invalid_headers_and_urls_are_rejected(void **state)
{
    static const struct {
        const char *url;
        struct str name, value;
        const char *says;
    } rows[] = {
        { "http://h/", STR_INIT("A b"), STR_INIT("c"), "a header name is not a token" },
        { "http://h/", STR_INIT("A"), STR_INIT("c\nd"),
          "header 'A' holds a control character" },
        { "http://h/", STR_INIT("connection"), STR_INIT("c"),
          "header 'connection' cannot be set" },
        { "http://h/", STR_INIT("Content-Length"), STR_INIT("1"),
          "header 'Content-Length' cannot be set" },
        { "http://h/", STR_INIT("Expect"), STR_INIT("1"), "header 'Expect' cannot be set" },
    };
    struct loop *l = loop_new();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_client_config config = { .url = str_z(rows[i].url) };
        struct http_client *c = NULL;
        struct err e = ERR_NONE;

        headers_add(&config.extra_headers, rows[i].name, rows[i].value);
        assert_false(http_client_new(&c, l, &config, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, rows[i].says);
        headers_release(&config.extra_headers);
    }
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_responses_pass_unchanged),
        cmocka_unit_test(a_body_of_unknown_length_is_sent_in_chunks),
        cmocka_unit_test(a_connection_is_reused_for_the_same_key_only),
        cmocka_unit_test(a_key_may_have_two_requests_at_once),
        cmocka_unit_test(a_reused_connection_closed_without_response_is_an_error),
        cmocka_unit_test(a_connection_closed_while_idle_is_not_reused),
        cmocka_unit_test(only_a_clean_connection_is_reused),
        cmocka_unit_test(an_early_response_counts_but_its_connection_is_closed),
        cmocka_unit_test(a_response_that_ends_with_its_connection_is_complete),
        cmocka_unit_test(the_response_to_head_has_no_body),
        cmocka_unit_test(failures_are_reported_by_kind),
        cmocka_unit_test(a_refused_connection_is_reported),
        cmocka_unit_test(a_server_without_tls_is_reported),
        cmocka_unit_test(an_aborted_transfer_closes_its_connection_at_once),
        cmocka_unit_test(a_transfer_may_be_closed_in_any_event),
        cmocka_unit_test(pausing_makes_the_server_wait),
        cmocka_unit_test(a_server_that_does_not_read_is_seen_in_the_queue),
        cmocka_unit_test(userinfo_and_extra_headers_are_sent),
        cmocka_unit_test(the_servers_own_host_is_the_default),
        cmocka_unit_test(invalid_headers_and_urls_are_rejected),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
