#include "runtime/peer.h"

#include <stdio.h>

#include "assert-aborts.h"
#include "fake-server.h"
#include "test.h"

#define PING "{\"id\":1,\"method\":\"ping\"}"
#define PONG "{\"id\":1,\"result\":{}}"

/* The owner of a peer over any transport: ends it at the first message. */
struct bench {
    struct app app;
    struct loop *loop;
    struct peer *server;
    struct buf received;
};

static void on_message(void *to, struct str message)
{
    struct bench *b = to;

    buf_printf(&b->received, "%.*s\n", STR_ARG(message));
    peer_end(b->server, true);
}

static void on_closed(void *to)
{
    struct bench *b = to;

    buf_add(&b->received, STR("closed\n"));
}

static void on_exited(void *to)
{
    struct bench *b = to;

    buf_add(&b->received, STR("exited\n"));
    loop_stop(b->loop);
}

static const struct peer_events events = { .message = on_message,
                                           .closed = on_closed,
                                           .exited = on_exited };

static void check_session(const struct peer_target *target, bool in_engine)
{
    static const struct log quiet = { .level = LOG_ERROR };
    struct bench b = { .app = { .log = &quiet }, .loop = loop_new() };
    struct peer_owner owner = {
        .loop = b.loop, .app = &b.app, .events = &events, .to = &b, .in_engine = in_engine
    };
    struct err e = ERR_NONE;
    int errnum;

    buf_init(&b.received, 1 << 16);
    assert_true(peer_start(&b.server, target, &owner, &errnum, &e));
    peer_send(b.server, STR(PING));
    loop_run(b.loop);
    assert_str(buf_str(&b.received), STR(PONG "\nclosed\nexited\n"));
    assert_int_equal(b.server->outcome.exit_code, 0);
    assert_int_equal(b.server->outcome.error_status, 0);
    assert_false(b.server->outcome.unanswered);
    peer_free(b.server);
    loop_free(b.loop);
    buf_release(&b.received);
}

static void a_session_is_the_same_over_stdio(void **state)
{
    char *argv[] = { "sh", "-c", "read a; echo '" PONG "'; read b; exit 0", NULL };

    (void)state;
    for (int in_engine = 0; in_engine < 2; in_engine++)
        check_session(&(struct peer_target){ .argv = argv }, in_engine);
}

static void a_session_is_the_same_over_http(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Content-Length: 20\r\nConnection: close\r\n\r\n" PONG),
        FAKE(DONE),
    };

    (void)state;
    for (int in_engine = 0; in_engine < 2; in_engine++) {
        char url[64];
        struct remote_config remote = { .url = url };
        struct fake_server peer;

        fake_server_start(&peer, script);
        snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", peer.port);
        check_session(&(struct peer_target){ .remote = &remote }, in_engine);
        fake_server_join(&peer);
    }
}

static void a_target_has_a_name(void **state)
{
    char *argv[] = { "server", "--fast", NULL };
    struct remote_config remote = { .url = "http://u:p@h/mcp", .display_url = "http://h/mcp" };

    (void)state;
    assert_string_equal(peer_target_name(&(struct peer_target){ .argv = argv }), "server");
    assert_string_equal(peer_target_name(&(struct peer_target){ .remote = &remote }),
                        "http://h/mcp");
}

static void start_nothing(void)
{
    struct peer_owner owner = { .events = &events };
    struct err e = ERR_NONE;
    struct peer *none;
    int errnum;

    if (!peer_start(&none, &(struct peer_target){ 0 }, &owner, &errnum, &e))
        return;
}

static void a_target_is_a_command_or_a_url(void **state)
{
    (void)state;
    assert_aborts(start_nothing, "!target->argv == !target->remote");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_the_same_over_stdio),
        cmocka_unit_test(a_session_is_the_same_over_http),
        cmocka_unit_test(a_target_has_a_name),
        cmocka_unit_test(a_target_is_a_command_or_a_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
