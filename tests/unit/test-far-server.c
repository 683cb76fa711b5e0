#include "cmd/far-server.h"

#include <stdio.h>

#include "peer.h"
#include "test.h"

#define ANSWER(id)                                                                             \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n"              \
    "Connection: close\r\n\r\n"                                                                \
    "{\"id\":" #id ",\"result\":{}}"

/* An engine that asks again at the first answer, and has enough after the second. */
struct bench {
    struct log log;
    struct app app;
    struct loop *loop;
    struct drive drive;
    struct far_server server;
    struct buf told;
    int heard;
    bool again; /* asks again */
};

static void step(void *engine, const struct event *ev)
{
    struct bench *b = engine;

    if (ev->kind == EVENT_UPSTREAM_LOST) {
        buf_printf(&b->told, "lost %.*s ", STR_ARG(ev->why));
        far_server_end(&b->server);
        return;
    }
    assert_int_equal(ev->kind, EVENT_UPSTREAM);
    assert_int_equal(ev->record->message.dir, TO_CLIENT);
    buf_printf(&b->told, "%.*s ", STR_ARG(json_raw(ev->record->message.msg)));
    if (++b->heard == 1 && b->again)
        far_server_send(&b->server, STR("{\"id\":2,\"method\":\"ping\"}"));
    else if (b->again)
        assert_true(far_server_end(&b->server));
}

static void act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it wants nothing");
}

static void on_gone(void *to)
{
    struct bench *b = to;

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
static void open_bench(struct bench *b, int port)
{
    char url[64];
    struct remote where = { .url = url };
    struct err e = ERR_NONE;

    *b = (struct bench){ .loop = loop_new(), .log = { .level = LOG_INFO, .put = unheard } };
    b->app.log = &b->log;
    buf_init(&b->told, 1 << 16);
    drive_init(&b->drive, &b->app, b->loop, step, b, act, b);
    far_server_init(&b->server, &b->drive, EVENT_UPSTREAM, on_gone, b);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", port);
    if (port)
        assert_true(far_server_start(&b->server, b->loop, &where, &e));
}

static void close_bench(struct bench *b)
{
    far_server_release(&b->server);
    drive_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->told);
}

static void an_engine_may_ask_again_while_it_hears(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "POST /mcp"), PEER_TEXT(SAYS, ANSWER(1)),
        PEER(ACCEPT), PEER_TEXT(SEES, "POST /mcp"), PEER_TEXT(SAYS, ANSWER(2)),
        PEER(DONE),
    };
    struct peer peer;
    struct bench b;

    (void)state;
    peer_start(&peer, script);
    open_bench(&b, peer.port);
    b.again = true;
    far_server_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    assert_int_equal(b.told.len, 0); /* nothing happens while somebody steps */
    loop_run(b.loop);
    assert_str(buf_str(&b.told), STR("{\"id\":1,\"result\":{}} {\"id\":2,\"result\":{}} gone"));
    close_bench(&b);
    peer_join(&peer);
}

#define HELLO                                                                                  \
    "{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"

static void the_engine_is_told_that_a_session_has_ended(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "POST /mcp"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Mcp-Session-Id: s\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
                        "{\"id\":1,\"result\":{}}"),
        PEER(ACCEPT),
        PEER_TEXT(SEES, "POST /mcp"),
        PEER_TEXT(SAYS, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                        "Connection: close\r\n\r\n"),
        PEER(DONE),
    };
    struct peer peer;
    struct bench b;

    (void)state;
    peer_start(&peer, script);
    open_bench(&b, peer.port);
    far_server_send(&b.server, STR(HELLO));
    far_server_send(&b.server, STR("{\"id\":2,\"method\":\"ping\"}"));
    loop_run(b.loop);
    assert_str(buf_str(&b.told),
               STR("{\"id\":1,\"result\":{}} "
                   "lost it has ended the session; the next request begins another "
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{"
                   "\"code\":-32000,\"message\":\"the server has ended the session (status "
                   "404): the next request begins another\","
                   "\"data\":{\"httpStatus\":404}}} gone"));
    close_bench(&b);
    peer_join(&peer);
}

static void the_engine_is_told_that_nobody_is_there_and_says_so_itself(void **state)
{
    static const struct peer_step nothing[] = { PEER(DONE) };
    char want[300];
    struct peer peer;
    struct bench b;

    (void)state;
    peer_start(&peer, nothing);
    peer_join(&peer);
    snprintf(want, sizeof want,
             "lost cannot connect to 'http://127.0.0.1:%d': connection refused "
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"cannot "
             "connect to 'http://127.0.0.1:%d': connection refused\"}} gone",
             peer.port, peer.port);
    open_bench(&b, peer.port);
    far_server_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    loop_run(b.loop);
    assert_str(buf_str(&b.told), str_z(want));
    close_bench(&b);
}

static void one_that_never_ran_has_nothing_to_end(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 0);
    far_server_send(&b.server, STR("{\"id\":1,\"method\":\"ping\"}"));
    assert_false(far_server_end(&b.server));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_may_ask_again_while_it_hears),
        cmocka_unit_test(the_engine_is_told_that_a_session_has_ended),
        cmocka_unit_test(the_engine_is_told_that_nobody_is_there_and_says_so_itself),
        cmocka_unit_test(one_that_never_ran_has_nothing_to_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
