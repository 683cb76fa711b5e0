#include "runtime/peer-lines.h"

#include <stdio.h>

#include "fake-server.h"
#include "test.h"

#define ANSWER(id)                                                                             \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n"              \
    "Connection: close\r\n\r\n"                                                                \
    "{\"id\":" #id ",\"result\":{}}"

/* An engine that sends a second request after the first response, and finishes after the
 * second. */
struct lines_bench {
    struct log log;
    struct app app;
    struct loop *loop;
    struct driver drive;
    struct peer_lines server;
    struct buf reported;
    int received;
    bool again; /* sends the second request */
};

static void step(void *engine, const struct event *ev)
{
    struct lines_bench *b = engine;

    if (ev->kind == EVENT_UPSTREAM_LOST) {
        buf_printf(&b->reported, "lost %.*s ", STR_ARG(ev->why));
        peer_lines_end(&b->server, false);
        return;
    }
    assert_int_equal(ev->kind, EVENT_UPSTREAM_RECORD);
    assert_int_equal(ev->record->message.dir, TO_CLIENT);
    buf_printf(&b->reported, "%.*s ", STR_ARG(json_raw(ev->record->message.msg)));
    if (++b->received == 1 && b->again)
        peer_lines_send(&b->server, STR("{\"id\":2,\"method\":\"ping\"}"));
    else if (b->again)
        assert_true(peer_lines_end(&b->server, false));
}

static void act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it wants nothing");
}

static void on_stopped(void *to, struct str why)
{
    struct lines_bench *b = to;

    (void)why;
    buf_add(&b->reported, STR("gone"));
    loop_stop(b->loop);
}

static const struct peer_lines_events lines_events = { .exited = on_stopped };

/* Logs each event of the engine. */
static void not_received(void *to, struct str line)
{
    (void)to;
    fail_msg("%.*s", STR_ARG(line));
}

/* With a server on that port; 0: none is started. */
static void lines_open_bench(struct lines_bench *b, int port)
{
    char url[64];
    struct remote_config where = { .url = url };
    struct peer_target target = { .remote = &where };
    struct err e = ERR_NONE;

    *b = (struct lines_bench){ .loop = loop_new(),
                               .log = { .level = LOG_INFO, .write = not_received } };
    b->app.log = &b->log;
    buf_init(&b->reported, 1 << 16);
    driver_init(&b->drive, &b->app, b->loop, step, b, act, b);
    peer_lines_init(&b->server, &b->drive, EVENT_UPSTREAM_RECORD, LOG_INFO, &lines_events, b);
    b->server.reconnect_hint = STR("the next request starts a new one");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", port);
    if (port)
        assert_true(peer_lines_start(&b->server, b->loop, &target, &e));
}

static void lines_close_bench(struct lines_bench *b)
{
    peer_lines_release(&b->server);
    driver_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->reported);
}

static void the_engine_may_send_during_an_event(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"), FAKE_TEXT(SENDS, ANSWER(1)),
        FAKE(ACCEPT), FAKE_TEXT(SEES, "POST /mcp"), FAKE_TEXT(SENDS, ANSWER(2)),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct lines_bench b;

    (void)state;
    fake_server_start(&peer, script);
    lines_open_bench(&b, peer.port);
    b.again = true;
    peer_lines_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    assert_int_equal(b.reported.len, 0); /* no effect during a step */
    loop_run(b.loop);
    assert_str(buf_str(&b.reported),
               STR("{\"id\":1,\"result\":{}} {\"id\":2,\"result\":{}} gone"));
    lines_close_bench(&b);
    fake_server_join(&peer);
}

#define INITIALIZE                                                                             \
    "{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"

static void the_engine_gets_the_end_of_a_session(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Mcp-Session-Id: s\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
                         "{\"id\":1,\"result\":{}}"),
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SENDS, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                         "Connection: close\r\n\r\n"),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct lines_bench b;

    (void)state;
    fake_server_start(&peer, script);
    lines_open_bench(&b, peer.port);
    peer_lines_send(&b.server, STR(INITIALIZE));
    peer_lines_send(&b.server, STR("{\"id\":2,\"method\":\"ping\"}"));
    loop_run(b.loop);
    assert_str(buf_str(&b.reported),
               STR("{\"id\":1,\"result\":{}} "
                   "lost the server ended the session; the next request starts a new one "
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{"
                   "\"code\":-32000,\"message\":\"the server has ended the session (status "
                   "404): the next request starts a new one\","
                   "\"data\":{\"httpStatus\":404}}} gone"));
    lines_close_bench(&b);
    fake_server_join(&peer);
}

static void the_engine_gets_and_reports_an_unreachable_server(void **state)
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
    peer_lines_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    loop_run(b.loop);
    assert_str(buf_str(&b.reported), str_z(want));
    lines_close_bench(&b);
}

static void a_server_that_never_started_can_be_ended(void **state)
{
    struct lines_bench b;

    (void)state;
    lines_open_bench(&b, 0);
    peer_lines_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    assert_false(peer_lines_end(&b.server, false));
    lines_close_bench(&b);
}

/* Logs the events of a server, with an engine that requests its end at the first record. */
struct single_log {
    struct app app;
    struct driver drive;
    struct peer_lines server;
    struct loop *loop;
    struct buf received, logged;
    bool end_on_record;
};

static void single_step(void *engine, const struct event *ev)
{
    struct single_log *w = engine;

    assert_int_equal(ev->kind, EVENT_UPSTREAM_RECORD);
    if (ev->record->kind == RECORD_MESSAGE)
        buf_add(&w->received, json_raw(ev->record->message.msg));
    else
        buf_add(&w->received, STR("raw"));
    buf_add_ch(&w->received, '\n');
    if (w->end_on_record)
        assert_true(peer_lines_end(&w->server, false));
}

static void single_act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it wants nothing");
}

static void on_closed(void *to)
{
    struct single_log *w = to;

    buf_add(&w->received, STR("closed\n"));
}

static void on_gone(void *to, struct str why)
{
    struct single_log *w = to;

    buf_printf(&w->received, "gone: %.*s\n", STR_ARG(why));
    assert_false(peer_lines_end(&w->server, false));
    loop_stop(w->loop);
}

static const struct peer_lines_events both = { on_closed, on_gone },
                                      only_gone = { NULL, on_gone };

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void single_open_log(struct single_log *w, struct log *l,
                            const struct peer_lines_events *events)
{
    *l = (struct log){ .level = LOG_INFO, .write = add_line, .arg = &w->logged };
    *w = (struct single_log){ .app = { .log = l }, .loop = loop_new() };
    buf_init(&w->received, 1 << 16);
    buf_init(&w->logged, 1 << 16);
    driver_init(&w->drive, &w->app, w->loop, single_step, w, single_act, w);
    peer_lines_init(&w->server, &w->drive, EVENT_UPSTREAM_RECORD, LOG_INFO, events, w);
}

static void single_close_log(struct single_log *w)
{
    peer_lines_release(&w->server);
    driver_release(&w->drive);
    loop_free(w->loop);
    buf_release(&w->received);
    buf_release(&w->logged);
}

static void check(char *const *argv, bool end_on_record, const struct peer_lines_events *events,
                  const char *received, const char *logged)
{
    struct err e = ERR_NONE;
    struct single_log w;
    struct log l;

    single_open_log(&w, &l, events);
    w.end_on_record = end_on_record;
    peer_lines_send(&w.server, STR("lost: it is not there yet"));
    assert_true(peer_lines_start(&w.server, w.loop, &(struct peer_target){ .argv = argv }, &e));
    peer_lines_send(&w.server, STR("{\"method\":\"m\"}"));
    assert_int_equal(w.received.len, 0);
    loop_run(w.loop);
    assert_str(buf_str(&w.received), str_z(received));
    assert_str(buf_str(&w.logged), str_z(logged));
    single_close_log(&w);
}

static void messages_become_events_and_the_server_ends_on_request(void **state)
{
    static char *const cat[] = { "cat", NULL };

    (void)state;
    check(cat, true, &both, "{\"method\":\"m\"}\nclosed\ngone: 'cat' ended with exit code 0\n",
          "");
}

static void the_exit_event_has_the_last_stderr(void **state)
{
    static char *const argv[] = { "sh", "-c", "read x; echo oh no >&2; exit 3", NULL };
    static char *const shot[] = { "sh", "-c", "kill -9 $$", NULL };

    (void)state;
    check(argv, false, &only_gone, "gone: 'sh' ended with exit code 3: oh no\n",
          "mcpreel: server: oh no\n");
    check(shot, false, &only_gone, "gone: 'sh' was ended by signal 9\n", "");
}

static void the_outcome_is_kept(void **state)
{
    static char *const argv[] = { "sh", "-c", "printf '%05000d' 7 >&2; exit 3", NULL };
    struct err e = ERR_NONE;
    struct single_log w;
    struct log l;

    (void)state;
    single_open_log(&w, &l, &only_gone);
    assert_true(peer_lines_start(&w.server, w.loop, &(struct peer_target){ .argv = argv }, &e));
    loop_run(w.loop);
    assert_int_equal(w.server.peer->outcome.exit_code, 3);
    assert_int_equal(w.server.peer->outcome.signum, 0);
    assert_int_equal(w.server.peer->outcome.last_stderr.len, 4096);
    assert_true(str_ends(buf_str(&w.received), STR("000\n")));
    single_close_log(&w);
}

static void a_failed_start_is_an_error(void **state)
{
    static char *const argv[] = { "./no-such-program", NULL };
    struct err e = ERR_NONE;
    struct single_log w;
    struct log l;

    (void)state;
    single_open_log(&w, &l, &both);
    assert_false(
        peer_lines_start(&w.server, w.loop, &(struct peer_target){ .argv = argv }, &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg, "cannot start server './no-such-program': no such file or "
                               "directory");
    assert_false(peer_lines_end(&w.server, false));
    loop_run(w.loop);
    assert_int_equal(w.received.len, 0);
    single_close_log(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_may_send_during_an_event),
        cmocka_unit_test(the_engine_gets_the_end_of_a_session),
        cmocka_unit_test(the_engine_gets_and_reports_an_unreachable_server),
        cmocka_unit_test(a_server_that_never_started_can_be_ended),
        cmocka_unit_test(messages_become_events_and_the_server_ends_on_request),
        cmocka_unit_test(the_exit_event_has_the_last_stderr),
        cmocka_unit_test(the_outcome_is_kept),
        cmocka_unit_test(a_failed_start_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
