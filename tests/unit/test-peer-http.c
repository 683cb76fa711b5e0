#include "runtime/peer-http.h"

#include <stdio.h>

#include "fake-server.h"
#include "terse-traffic.h"

#define MANNERS                                                                                \
    "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"        \
    "Accept-Encoding: identity\r\nUser-Agent: mcpreel/" MCPREEL_VERSION "\r\n"
#define PING(id) "{\"id\":" #id ",\"method\":\"ping\"}"
#define REQUEST                                                                                \
    "POST /mcp?key=1 HTTP/1.1\r\nHost: 127.0.0.1:12345\r\n" MANNERS                            \
    "X-Key: k\r\nContent-Length: 24\r\n\r\n" PING(1)
#define PONG(id) "{\"id\":" #id ",\"result\":{}}"

/* A server and its peer; an event that is `last` ends the loop. */
struct bench {
    struct fake_server peer;
    struct log log;
    struct app app;
    struct loop *loop;
    struct peer *server;
    struct terse_traffic traffic;
    struct buf received, logged;
    const char *last, *before; /* recorded before any event */
};

static void note(struct bench *b, const char *what, struct str text)
{
    buf_printf(&b->received, "%s%.*s\n", what, STR_ARG(text));
    if (memmem(b->received.at, b->received.len, b->last, strlen(b->last)))
        loop_stop(b->loop);
}

static void on_message(void *to, struct str message)
{
    struct bench *b = to;

    /* It is in the recording before the client has it. */
    if (b->before)
        assert_non_null(memmem(b->traffic.records.text.at, b->traffic.records.text.len,
                               b->before, strlen(b->before)));
    note(b, "", message);
}

static void on_done(void *to)
{
    note(to, "done", STR_NONE);
}

static const struct peer_events events = { .message = on_message, .exited = on_done };

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_bench(struct bench *b, const struct fake_server_step *script, bool recorded)
{
    struct err e = ERR_NONE;
    char url[64];
    struct remote_config where = { .url = url };
    struct peer_owner owner = { .events = &events, .to = b };
    int errnum;

    *b = (struct bench){ .loop = loop_new(),
                         .log = { .level = LOG_INFO, .write = add_line, .arg = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->received, 1 << 20);
    buf_init(&b->logged, 1 << 20);
    terse_traffic_init(&b->traffic);
    fake_server_start(&b->peer, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp?key=1", b->peer.port);
    headers_add(&where.headers, STR("X-Key"), STR("k"));
    owner.loop = b->loop;
    owner.app = &b->app;
    owner.recorder = recorded ? &b->traffic.recorder : NULL;
    owner.conn = 3;
    if (!peer_start(&b->server, &(struct peer_target){ .remote = &where }, &owner, &errnum, &e))
        fail_msg("%s", e.msg);
    headers_release(&where.headers);
}

static void close_bench(struct bench *b)
{
    peer_free(b->server);
    loop_free(b->loop);
    terse_traffic_release(&b->traffic);
    buf_release(&b->received);
    buf_release(&b->logged);
    fake_server_join(&b->peer);
}

static void run_until(struct bench *b, const char *last)
{
    b->last = last;
    loop_run(b->loop);
}

static void messages_are_posted_and_recorded_before_they_are_forwarded(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp?key=1 HTTP/1.1\r\nHost: 127.0.0.1:"),
        FAKE_N(GULP, 5), /* the port */
        FAKE_TEXT(SEES, "\r\n" MANNERS "X-Key: k\r\nContent-Length: 24\r\n\r\n" PING(1)),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Content-Length: 20\r\n\r\n" PONG(1)),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, true);
    b.before = "s2c {'id':1,'result':{}}";
    peer_send(b.server, STR(PING(1)));
    run_until(&b, "result");
    assert_str(buf_str(&b.received), STR(PONG(1) "\n"));
    peer_end(b.server, true);
    assert_non_null(strstr(buf_z(&b.received), "done"));
    assert_null(strstr(buf_z(&b.traffic.records.text), "key=1"));
    buf_add_ch(&b.traffic.records.text, '\0');
    assert_non_null(
        strstr(b.traffic.records.text.at, "conn=3 x=1 #1 c2s {'id':1,'method':'ping'}"));
    assert_non_null(strstr(b.traffic.records.text.at, "http 200"));
    assert_non_null(strstr(b.traffic.records.text.at, "http end server"));
    close_bench(&b);
}

static void an_aborted_response_is_reported_to_client_and_recording(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT),
                                                      FAKE_N(GULP, sizeof REQUEST - 1),
                                                      FAKE(CLOSE), FAKE(DONE) };
    struct bench b;

    (void)state;
    open_bench(&b, script, true);
    b.before = "http end error why=the server closed the connection without a response";
    peer_send(b.server, STR(PING(1)));
    run_until(&b, "error");
    assert_str(buf_str(&b.received),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"the "
                   "server closed the connection without a response\"}}\n"));
    assert_str(
        buf_str(&b.logged),
        STR("mcpreel: warning: ping: the server closed the connection without a response\n"));
    buf_add_ch(&b.traffic.records.text, '\0');
    assert_non_null(strstr(b.traffic.records.text.at, "http 502"));
    assert_non_null(strstr(b.traffic.records.text.at, "http end error"));
    assert_true(b.server->outcome.unanswered);
    close_bench(&b);
}

static void an_invalid_response_is_recorded_first(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SENDS, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, true);
    b.before = "http end server why=the server accepted the request but sent no response";
    peer_send(b.server, STR(PING(1)));
    run_until(&b, "error");
    assert_non_null(strstr(buf_z(&b.received), "sent no response (status 202)"));
    close_bench(&b);
}

static void a_peer_works_without_recording(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                         "data: " PONG(1) "\n\ndata: {\"method\":\"more\"}\n\n"),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, false);
    peer_send(b.server, STR(PING(1)));
    run_until(&b, "more");
    assert_str(buf_str(&b.received), STR(PONG(1) "\n{\"method\":\"more\"}\n"));
    peer_stop(b.server, STR_NONE); /* open exchanges are aborted: the server sees their end */
    assert_non_null(strstr(buf_z(&b.received), "done"));
    assert_int_equal(b.traffic.records.text.len, 0);
    close_bench(&b);
}

static bool is_quiet(struct bench *b)
{
    return !strstr(buf_z(&b->received), "result");
}

static void reading_a_response_can_be_paused(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Content-Length: 20\r\n\r\n" PONG(1)),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, false);
    peer_read(b.server, false);
    peer_send(b.server, STR(PING(1)));
    assert_true(peer_queued(b.server) > 0); /* no connection yet */
    assert_true(is_quiet(&b));
    peer_read(b.server, true);
    run_until(&b, "result");
    assert_int_equal(peer_queued(b.server), 0);
    close_bench(&b);
}

static void an_invalid_url_is_rejected(void **state)
{
    struct app app = { .log = NULL };
    struct remote_config where = { .url = "ftp://h/" };
    struct loop *l = loop_new();
    struct err e = ERR_NONE;
    struct peer_owner owner = { .loop = l, .app = &app, .events = &events };
    struct peer *none = NULL;
    int errnum = 1;

    (void)state;
    assert_false(
        peer_start(&none, &(struct peer_target){ .remote = &where }, &owner, &errnum, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_int_equal(errnum, 0);
    assert_null(none);
    loop_free(l);
}

#define REFUSAL(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

static void the_status_of_the_latest_failure_is_kept(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SENDS, REFUSAL("403 Forbidden")),
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE(CLOSE),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, false);
    assert_int_equal(b.server->outcome.error_status, 0);
    peer_send(b.server, STR(PING(1)));
    assert_true(b.server->outcome.unanswered);
    run_until(&b, "error");
    assert_int_equal(b.server->outcome.error_status, 403);
    assert_int_equal(b.server->outcome.lost_reason.len, 0);
    assert_false(b.server->outcome.unanswered);
    buf_clear(&b.received);
    peer_send(b.server, STR(PING(2)));
    run_until(&b, "error");
    assert_int_equal(b.server->outcome.error_status, 0);
    assert_str(buf_str(&b.server->outcome.lost_reason),
               STR("the server closed the connection without a response"));
    close_bench(&b);
}

#define INITIALIZE                                                                             \
    "{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"
#define OK_EMPTY "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

/* Sends a notification and ends the session at the first message, like an engine in its step.
 */
struct ender {
    struct app app;
    struct loop *loop;
    struct peer *server;
    bool await, exited, in_call;
};

static void end_at_message(void *to, struct str message)
{
    struct ender *b = to;

    (void)message;
    assert_false(b->in_call);
    b->in_call = true;
    peer_send(b->server, STR("{\"method\":\"notifications/x\"}"));
    assert_true(peer_queued(b->server) > 0);
    peer_end(b->server, b->await);
    b->in_call = false;
}

static void note_exit(void *to)
{
    struct ender *b = to;

    b->exited = true;
    loop_stop(b->loop);
}

static void check_end(const struct fake_server_step *script, bool await)
{
    static const struct peer_events ender_events = { .message = end_at_message,
                                                     .exited = note_exit };
    static const struct log quiet = { .level = LOG_ERROR };
    struct ender b = { .app = { .log = &quiet }, .loop = loop_new(), .await = await };
    struct peer_owner owner = {
        .loop = b.loop, .app = &b.app, .events = &ender_events, .to = &b, .in_engine = true
    };
    char url[64];
    struct remote_config where = { .url = url };
    struct fake_server peer;
    struct err e = ERR_NONE;

    fake_server_start(&peer, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", peer.port);
    assert_true(peer_http_start(&b.server, &where, &owner, &e));
    peer_send(b.server, STR(INITIALIZE));
    loop_run(b.loop);
    assert_true(b.exited);
    peer_free(b.server);
    loop_free(b.loop);
    fake_server_join(&peer);
}

#define SESSION_OPENED                                                                         \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\n"               \
    "Content-Length: 20\r\nConnection: close\r\n\r\n" PONG(1)

static void the_peer_ends_after_its_queue(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"),   FAKE_TEXT(SENDS, SESSION_OPENED),
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"),   FAKE_TEXT(SENDS, OK_EMPTY),
        FAKE(ACCEPT), FAKE_TEXT(SEES, "DELETE /mcp"), FAKE_TEXT(SENDS, OK_EMPTY),
        FAKE(DONE),
    };

    (void)state;
    check_end(script, true);
}

static void the_queue_is_dropped_if_no_response_is_awaited(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"),   FAKE_TEXT(SENDS, SESSION_OPENED),
        FAKE(ACCEPT), FAKE_TEXT(SEES, "DELETE /mcp"), FAKE_TEXT(SENDS, OK_EMPTY),
        FAKE(DONE),
    };

    (void)state;
    check_end(script, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_posted_and_recorded_before_they_are_forwarded),
        cmocka_unit_test(an_aborted_response_is_reported_to_client_and_recording),
        cmocka_unit_test(an_invalid_response_is_recorded_first),
        cmocka_unit_test(a_peer_works_without_recording),
        cmocka_unit_test(reading_a_response_can_be_paused),
        cmocka_unit_test(an_invalid_url_is_rejected),
        cmocka_unit_test(the_status_of_the_latest_failure_is_kept),
        cmocka_unit_test(the_peer_ends_after_its_queue),
        cmocka_unit_test(the_queue_is_dropped_if_no_response_is_awaited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
