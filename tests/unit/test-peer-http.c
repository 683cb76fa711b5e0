#include "runtime/peer-http.h"

#include <stdio.h>

#include "fake-server.h"
#include "terse.h"
#include "test.h"

#define ANSWER(id)                                                                             \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n"              \
    "Connection: close\r\n\r\n"                                                                \
    "{\"id\":" #id ",\"result\":{}}"

/* An engine that asks again at the first answer, and has enough after the second. */
struct lines_bench {
    struct log log;
    struct app app;
    struct loop *loop;
    struct driver drive;
    struct peer_http_lines server;
    struct buf told;
    int heard;
    bool again; /* asks again */
};

static void step(void *engine, const struct event *ev)
{
    struct lines_bench *b = engine;

    if (ev->kind == EVENT_UPSTREAM_LOST) {
        buf_printf(&b->told, "lost %.*s ", STR_ARG(ev->why));
        peer_http_lines_stop(&b->server);
        return;
    }
    assert_int_equal(ev->kind, EVENT_UPSTREAM_RECORD);
    assert_int_equal(ev->record->message.dir, TO_CLIENT);
    buf_printf(&b->told, "%.*s ", STR_ARG(json_raw(ev->record->message.msg)));
    if (++b->heard == 1 && b->again)
        peer_http_lines_send(&b->server, STR("{\"id\":2,\"method\":\"ping\"}"));
    else if (b->again)
        assert_true(peer_http_lines_stop(&b->server));
}

static void act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it wants nothing");
}

static void on_gone(void *to)
{
    struct lines_bench *b = to;

    buf_add(&b->told, STR("gone"));
    loop_stop(b->loop);
}

/* What the engine is told it says itself. */
static void unheard(void *to, struct str line)
{
    (void)to;
    fail_msg("%.*s", STR_ARG(line));
}

/* With a server on that port; 0: none is started. */
static void lines_open_bench(struct lines_bench *b, int port)
{
    char url[64];
    struct remote_config where = { .url = url };
    struct err e = ERR_NONE;

    *b = (struct lines_bench){ .loop = loop_new(),
                               .log = { .level = LOG_INFO, .write = unheard } };
    b->app.log = &b->log;
    buf_init(&b->told, 1 << 16);
    driver_init(&b->drive, &b->app, b->loop, step, b, act, b);
    peer_http_lines_init(&b->server, &b->drive, EVENT_UPSTREAM_RECORD, on_gone, b);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", port);
    if (port)
        assert_true(peer_http_lines_start(&b->server, b->loop, &where, &e));
}

static void lines_close_bench(struct lines_bench *b)
{
    peer_http_lines_release(&b->server);
    driver_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->told);
}

static void an_engine_may_ask_again_while_it_hears(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"), FAKE_TEXT(SAYS, ANSWER(1)),
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"), FAKE_TEXT(SAYS, ANSWER(2)),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct lines_bench b;

    (void)state;
    fake_server_start(&peer, script);
    lines_open_bench(&b, peer.port);
    b.again = true;
    peer_http_lines_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    assert_int_equal(b.told.len, 0); /* no effect during a step */
    loop_run(b.loop);
    assert_str(buf_str(&b.told), STR("{\"id\":1,\"result\":{}} {\"id\":2,\"result\":{}} gone"));
    lines_close_bench(&b);
    fake_server_join(&peer);
}

#define HELLO                                                                                  \
    "{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"

static void the_engine_is_told_that_a_session_has_ended(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Mcp-Session-Id: s\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
                        "{\"id\":1,\"result\":{}}"),
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SAYS, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                        "Connection: close\r\n\r\n"),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct lines_bench b;

    (void)state;
    fake_server_start(&peer, script);
    lines_open_bench(&b, peer.port);
    peer_http_lines_send(&b.server, STR(HELLO));
    peer_http_lines_send(&b.server, STR("{\"id\":2,\"method\":\"ping\"}"));
    loop_run(b.loop);
    assert_str(buf_str(&b.told),
               STR("{\"id\":1,\"result\":{}} "
                   "lost the server ended the session; the next request starts a new one "
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{"
                   "\"code\":-32000,\"message\":\"the server has ended the session (status "
                   "404): the next request starts a new one\","
                   "\"data\":{\"httpStatus\":404}}} gone"));
    lines_close_bench(&b);
    fake_server_join(&peer);
}

static void the_engine_is_told_that_nobody_is_there_and_says_so_itself(void **state)
{
    static const struct fake_server_step nothing[] = { FAKE(DONE) };
    char want[300];
    struct fake_server peer;
    struct lines_bench b;

    (void)state;
    fake_server_start(&peer, nothing);
    fake_server_join(&peer);
    snprintf(want, sizeof want,
             "lost cannot connect to 'http://127.0.0.1:%d': connection refused "
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"cannot "
             "connect to 'http://127.0.0.1:%d': connection refused\"}} gone",
             peer.port, peer.port);
    lines_open_bench(&b, peer.port);
    peer_http_lines_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    loop_run(b.loop);
    assert_str(buf_str(&b.told), str_z(want));
    lines_close_bench(&b);
}

static void one_that_never_ran_has_nothing_to_end(void **state)
{
    struct lines_bench b;

    (void)state;
    lines_open_bench(&b, 0);
    peer_http_lines_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    assert_false(peer_http_lines_stop(&b.server));
    lines_close_bench(&b);
}

#define MANNERS                                                                                \
    "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"        \
    "Accept-Encoding: identity\r\nUser-Agent: mcpreel/" MCPREEL_VERSION "\r\n"
#define PING(id) "{\"id\":" #id ",\"method\":\"ping\"}"
#define REQUEST                                                                                \
    "POST /mcp?key=1 HTTP/1.1\r\nHost: 127.0.0.1:12345\r\n" MANNERS                            \
    "X-Key: k\r\nContent-Length: 24\r\n\r\n" PING(1)
#define PONG(id) "{\"id\":" #id ",\"result\":{}}"

/* A server, and who speaks to it; what is heard ends the loop if it is `last`. */
struct bench {
    struct fake_server peer;
    struct log log;
    struct app app;
    struct loop *loop;
    struct peer_http server;
    struct terse records;
    struct recorder tap;
    struct http_recorder http;
    struct buf heard, logged;
    const char *last, *before; /* what is to be recorded before anything is heard */
};

static void note(struct bench *b, const char *what, struct str text)
{
    buf_printf(&b->heard, "%s%.*s\n", what, STR_ARG(text));
    if (memmem(b->heard.at, b->heard.len, b->last, strlen(b->last)))
        loop_stop(b->loop);
}

static void on_message(void *to, struct str message)
{
    struct bench *b = to;

    /* It is in the recording before the client has it. */
    if (b->before)
        assert_non_null(
            memmem(b->records.text.at, b->records.text.len, b->before, strlen(b->before)));
    note(b, "", message);
}

static void on_done(void *to)
{
    note(to, "done", STR_NONE);
}

static const struct peer_http_events events = { .message = on_message, .done = on_done };

static struct recorder_time now(void *to)
{
    (void)to;
    return (struct recorder_time){ 1, 1 };
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_bench(struct bench *b, const struct fake_server_step *script, bool recorded)
{
    struct err e = ERR_NONE;
    char url[64];
    struct remote_config where = { .url = url };

    *b = (struct bench){ .loop = loop_new(),
                         .log = { .level = LOG_INFO, .write = add_line, .arg = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->heard, 1 << 20);
    buf_init(&b->logged, 1 << 20);
    terse_init(&b->records);
    recorder_init(&b->tap, &b->records.sink);
    http_recorder_init(&b->http, &b->tap, 1 << 20, NULL);
    fake_server_start(&b->peer, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp?key=1", b->peer.port);
    headers_add(&where.headers, STR("X-Key"), STR("k"));
    if (!peer_http_open(&b->server, &b->app, b->loop, &where, &events, b, &e))
        fail_msg("%s", e.msg);
    if (recorded)
        peer_http_set_recorder(&b->server, &b->http, now);
    headers_release(&where.headers);
}

static void close_bench(struct bench *b)
{
    peer_http_release(&b->server);
    loop_free(b->loop);
    http_recorder_release(&b->http);
    recorder_release(&b->tap);
    terse_release(&b->records);
    buf_release(&b->heard);
    buf_release(&b->logged);
    fake_server_join(&b->peer);
}

static void run_until(struct bench *b, const char *last)
{
    b->last = last;
    loop_run(b->loop);
}

static void what_is_said_is_posted_and_recorded_before_it_goes_on(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp?key=1 HTTP/1.1\r\nHost: 127.0.0.1:"),
        FAKE_N(GULP, 5), /* the port */
        FAKE_TEXT(SEES, "\r\n" MANNERS "X-Key: k\r\nContent-Length: 24\r\n\r\n" PING(1)),
        FAKE_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Content-Length: 20\r\n\r\n" PONG(1)),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, true);
    b.before = "s2c {'id':1,'result':{}}";
    peer_http_send(&b.server, STR(PING(1)));
    run_until(&b, "result");
    assert_str(buf_str(&b.heard), STR(PONG(1) "\n"));
    peer_http_end(&b.server);
    assert_non_null(strstr(buf_z(&b.heard), "done"));
    assert_null(strstr(buf_z(&b.records.text), "key=1"));
    buf_add_ch(&b.records.text, '\0');
    assert_non_null(strstr(b.records.text.at, "c2s {'id':1,'method':'ping'}"));
    assert_non_null(strstr(b.records.text.at, "http 200"));
    assert_non_null(strstr(b.records.text.at, "http end server"));
    close_bench(&b);
}

static void a_server_that_breaks_off_is_told_to_client_and_recording(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT),
                                                      FAKE_N(GULP, sizeof REQUEST - 1),
                                                      FAKE(CLOSE), FAKE(DONE) };
    struct bench b;

    (void)state;
    open_bench(&b, script, true);
    b.before = "http end error why=the server closed the connection without an answer";
    peer_http_send(&b.server, STR(PING(1)));
    run_until(&b, "error");
    assert_str(buf_str(&b.heard),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"the "
                   "server closed the connection without an answer\"}}\n"));
    assert_str(buf_str(&b.logged),
               STR("mcpreel: warning: ping: the server closed the connection "
                   "without an answer\n"));
    buf_add_ch(&b.records.text, '\0');
    assert_non_null(strstr(b.records.text.at, "http 502"));
    assert_non_null(strstr(b.records.text.at, "http end error"));
    assert_true(mcp_client_never_answered(&b.server.mcp_client));
    close_bench(&b);
}

static void an_answer_that_is_none_is_told_to_the_recording_first(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SAYS, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, true);
    b.before = "http end server why=the server took the request and said nothing to it";
    peer_http_send(&b.server, STR(PING(1)));
    run_until(&b, "error");
    assert_non_null(strstr(buf_z(&b.heard), "said nothing to it (status 202)"));
    close_bench(&b);
    assert_null(b.server.ended_exchange);
}

static void nothing_has_to_be_recorded(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                        "data: " PONG(1) "\n\ndata: {\"method\":\"more\"}\n\n"),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, false);
    peer_http_send(&b.server, STR(PING(1)));
    run_until(&b, "more");
    assert_str(buf_str(&b.heard), STR(PONG(1) "\n{\"method\":\"more\"}\n"));
    peer_http_stop(&b.server,
                   STR_NONE); /* what is under way is dropped: the server sees its end */
    assert_non_null(strstr(buf_z(&b.heard), "done"));
    assert_int_equal(b.records.text.len, 0);
    close_bench(&b);
}

static bool is_quiet(struct bench *b)
{
    return !strstr(buf_z(&b->heard), "result");
}

static void an_answer_can_be_held(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_N(GULP, sizeof REQUEST - 1),
        FAKE_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Content-Length: 20\r\n\r\n" PONG(1)),
        FAKE(EOF),
        FAKE(DONE),
    };
    struct bench b;

    (void)state;
    open_bench(&b, script, false);
    peer_http_read(&b.server, false);
    peer_http_send(&b.server, STR(PING(1)));
    assert_true(peer_http_queued(&b.server) > 0); /* no connection yet */
    assert_true(is_quiet(&b));
    peer_http_read(&b.server, true);
    run_until(&b, "result");
    assert_int_equal(peer_http_queued(&b.server), 0);
    close_bench(&b);
}

static void what_cannot_be_a_url_is_refused(void **state)
{
    struct app app = { .log = NULL };
    struct remote_config where = { .url = "ftp://h/" };
    struct loop *l = loop_new();
    struct err e = ERR_NONE;
    struct peer_http s;

    (void)state;
    assert_false(peer_http_open(&s, &app, l, &where, &events, NULL, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_may_ask_again_while_it_hears),
        cmocka_unit_test(the_engine_is_told_that_a_session_has_ended),
        cmocka_unit_test(the_engine_is_told_that_nobody_is_there_and_says_so_itself),
        cmocka_unit_test(one_that_never_ran_has_nothing_to_end),
        cmocka_unit_test(what_is_said_is_posted_and_recorded_before_it_goes_on),
        cmocka_unit_test(a_server_that_breaks_off_is_told_to_client_and_recording),
        cmocka_unit_test(an_answer_that_is_none_is_told_to_the_recording_first),
        cmocka_unit_test(nothing_has_to_be_recorded),
        cmocka_unit_test(an_answer_can_be_held),
        cmocka_unit_test(what_cannot_be_a_url_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
