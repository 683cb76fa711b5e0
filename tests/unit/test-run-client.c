#include "runtime/run-client.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/actions.h"
#include "fake-server.h"
#include "test.h"

/* An engine that sends one request, logs its events, and finishes with a given result. */
struct asker {
    struct actions actions;
    struct buf received;
    uint64_t rang;
    int signum; /* sent to this process when the timer rings; 0: none */
};

static void asker_step(void *engine, const struct event *ev)
{
    struct asker *a = engine;
    int64_t code;

    switch (ev->kind) {
    case EVENT_OPENED:
        actions_send_request(&a->actions, STR("1"), STR("ping"), STR_NONE);
        actions_report(&a->actions, LOG_INFO, "asked");
        actions_set_timer(&a->actions, 5, 1000);
        break;
    case EVENT_RECORD:
        if (ev->record->kind == RECORD_RAW) {
            buf_printf(&a->received, "raw %.*s\n", STR_ARG(ev->record->bytes.bytes));
            break;
        }
        assert_int_equal(ev->record->message.dir, TO_CLIENT);
        buf_printf(&a->received, "%.*s\n", STR_ARG(json_raw(ev->record->message.msg)));
        if (json_int(json_get(ev->record->message.msg, STR("result")), &code))
            actions_finish(&a->actions, (int)code);
        else if (json_type(json_get(ev->record->message.msg, STR("error"))) == JSON_OBJECT)
            actions_finish(&a->actions, 1);
        break;
    case EVENT_TIMER:
        a->rang += ev->timer;
        if (a->signum)
            kill(getpid(), a->signum);
        break;
    case EVENT_UPSTREAM_LOST:
        buf_printf(&a->received, "lost %.*s\n", STR_ARG(ev->why));
        break;
    case EVENT_INPUT_CLOSED:
        buf_printf(&a->received, ev->shutting_down ? "closed at shutdown\n" : "closed\n");
        break;
    default:
        fail_msg("a client has no server behind it");
    }
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

struct bench {
    struct log log;
    struct buf logged;
    struct app app;
    struct run_client client;
    struct asker asker;
    struct err e;
};

static void open_bench(struct bench *b)
{
    *b = (struct bench){ .log = { .level = LOG_DEBUG, .write = add_line, .arg = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 16);
    buf_init(&b->asker.received, 1 << 16);
    run_client_init(&b->client, &b->app, asker_step, &b->asker, LOG_DEBUG);
    actions_init(&b->asker.actions, &b->client.driver.actions);
}

static bool start(struct bench *b, char *const *argv, uint64_t limit_ms)
{
    open_bench(b);
    return run_client_run(&b->client, &(struct peer_target){ .argv = argv },
                          &(struct run_client_options){ .limit_ms = limit_ms }, &b->e);
}

static bool play(struct bench *b, const char *script, uint64_t limit_ms)
{
    char *argv[] = { "/bin/sh", "-c", (char *)(uintptr_t)script, NULL };

    return start(b, argv, limit_ms);
}

static void end(struct bench *b)
{
    run_client_release(&b->client);
    actions_release(&b->asker.actions);
    buf_release(&b->asker.received);
    buf_release(&b->logged);
}

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

static void the_engine_exchanges_messages_with_the_server_until_it_finishes(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b,
                     "read a; echo \"$a\"; echo oops; echo '{\"id\":1,\"result\":6}';"
                     "read b; sleep 0.1; echo '{\"method\":\"bye\"}'; exit 9",
                     10000));
    assert_str(buf_str(&b.asker.received), STR(PING "\nraw oops\n{\"id\":1,\"result\":6}\n"
                                                    "{\"method\":\"bye\"}\nclosed\n"));
    assert_int_equal(b.client.driver.exit_code, 6);
    assert_int_equal(b.asker.rang, 5);
    assert_int_equal(run_client_outcome(&b.client)->exit_code, 9);
    assert_int_equal(run_client_outcome(&b.client)->signum, 0);
    assert_str(buf_str(&b.logged), STR("mcpreel: asked\n"));
    end(&b);
}

static void the_servers_stderr_is_logged_and_its_last_line_kept(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "echo one >&2; printf 'two\\n\\n' >&2", 10000));
    assert_str(buf_str(&b.logged),
               STR("mcpreel: asked\nmcpreel: server: one\nmcpreel: server: two\n"));
    assert_str(buf_str(&run_client_outcome(&b.client)->last_stderr), STR("two"));
    end(&b);
}

static void the_kept_stderr_is_limited(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "printf '%05000d' 7 >&2", 10000));
    assert_int_equal(run_client_outcome(&b.client)->last_stderr.len, 4096);
    end(&b);
}

static void a_server_that_exits_ends_the_session(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "kill -9 $$", 10000));
    assert_str(buf_str(&b.asker.received), STR("closed\n"));
    assert_int_equal(b.client.driver.exit_code, 0);
    assert_int_equal(run_client_outcome(&b.client)->signum, 9);
    end(&b);
}

/* The run ends, whatever the server does. */
static void the_time_limit_ends_the_session(void **state)
{
    static const char *const scripts[] = {
        "sleep 30",
        "while :; do echo '{\"method\":\"x\"}'; sleep 0.05; done",
        "trap '' TERM; while :; do sleep 0.05; done",
    };

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        int64_t start = clock_mono_us();
        struct bench b;

        assert_false(play(&b, scripts[i], 200));
        assert_int_equal(b.e.kind, ERR_PEER);
        assert_string_equal(b.e.msg, "the session with '/bin/sh' did not end within 200 ms");
        assert_in_range((clock_mono_us() - start) / 1000, 200, 4000);
        end(&b);
    }
}

static void a_server_that_cannot_be_started_is_an_error(void **state)
{
    char *argv[] = { "/no/such/server", NULL };
    struct bench b;

    (void)state;
    assert_false(start(&b, argv, 1000));
    assert_int_equal(b.e.kind, ERR_PEER);
    assert_true(str_starts(str_z(b.e.msg), STR("cannot start server '/no/such/server'")));
    end(&b);
}

static void without_a_time_limit_the_session_is_not_ended(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "read a; sleep 0.3; echo '{\"id\":1,\"result\":6}'", 0));
    assert_int_equal(b.client.driver.exit_code, 6);
    end(&b);
}

static void a_signal_ends_the_server_and_is_reported(void **state)
{
    static char *const argv[] = { "/bin/sh", "-c", "exec sleep 60", NULL };

    (void)state;
    for (int session = 0; session < 2; session++) { /* one after another */
        struct bench b;

        open_bench(&b);
        b.asker.signum = SIGTERM;
        assert_true(run_client_run(&b.client, &(struct peer_target){ .argv = argv },
                                   &(struct run_client_options){ .stop_on_signal = true },
                                   &b.e));
        assert_int_equal(b.client.interrupted, SIGTERM);
        assert_int_equal(run_client_outcome(&b.client)->signum, SIGTERM);
        assert_str(buf_str(&b.asker.received), STR("closed at shutdown\n"));
        end(&b);
    }
}

/* With a server on that port. */
static bool run_http(struct bench *b, int port, const struct run_client_options *options)
{
    char url[64];
    struct remote_config remote = { .url = url, .display_url = url };

    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", port);
    return run_client_run(&b->client, &(struct peer_target){ .remote = &remote }, options,
                          &b->e);
}

static bool play_http(struct bench *b, int port, const struct run_client_options *options)
{
    open_bench(b);
    return run_http(b, port, options);
}

static const struct run_client_options in_time = { .limit_ms = 10000 };

#define HTTP_ANSWER(headers)                                                                   \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" headers                            \
    "Content-Length: 19\r\nConnection: close\r\n\r\n{\"id\":1,\"result\":6}"

static void the_server_may_be_at_a_url(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SENDS, HTTP_ANSWER("")),
        FAKE(DONE),
    };

    (void)state;
    for (int session = 0; session < 2; session++) {
        struct fake_server peer;
        struct bench b;

        fake_server_start(&peer, script);
        assert_true(play_http(&b, peer.port, &in_time));
        assert_str(buf_str(&b.asker.received), STR("{\"id\":1,\"result\":6}\nclosed\n"));
        assert_int_equal(b.client.driver.exit_code, 6);
        assert_int_equal(run_client_outcome(&b.client)->exit_code, 0);
        assert_false(run_client_outcome(&b.client)->unanswered);
        assert_str(buf_str(&b.logged), STR("mcpreel: asked\n"));
        end(&b);
        fake_server_join(&peer);
    }
}

static void a_server_that_cannot_be_reached_is_lost(void **state)
{
    static const struct fake_server_step nothing[] = { FAKE(DONE) };
    struct fake_server peer;
    struct bench b;
    char want[200];

    (void)state;
    fake_server_start(&peer, nothing);
    fake_server_join(&peer);
    assert_true(play_http(&b, peer.port, &in_time));
    snprintf(want, sizeof want, "cannot connect to 'http://127.0.0.1:%d': connection refused",
             peer.port);
    assert_true(str_starts(buf_str(&b.asker.received), STR("lost cannot connect to ")));
    assert_non_null(
        strstr(buf_z(&b.asker.received), "refused\n{\"jsonrpc\":\"2.0\",\"id\":1,"));
    assert_true(str_ends(buf_str(&b.asker.received), STR("}\nclosed\n")));
    assert_int_equal(b.client.driver.exit_code, 1);
    assert_true(run_client_outcome(&b.client)->unanswered);
    assert_str(buf_str(&run_client_outcome(&b.client)->lost_reason), str_z(want));
    assert_int_equal(run_client_outcome(&b.client)->error_status, 0);
    end(&b);
}

static void a_server_that_requires_credentials_is_recognized(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp"),
        FAKE_TEXT(SENDS, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n"
                         "Connection: close\r\n\r\n"),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct bench b;

    (void)state;
    fake_server_start(&peer, script);
    assert_true(play_http(&b, peer.port, &in_time));
    assert_int_equal(run_client_outcome(&b.client)->error_status, 401);
    assert_false(run_client_outcome(&b.client)->unanswered);
    assert_true(str_starts(buf_str(&b.asker.received), STR("{\"jsonrpc\":\"2.0\",\"id\":1,")));
    end(&b);
    fake_server_join(&peer);
}

static void an_http_session_has_a_time_limit(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE(HOLD),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct bench b;
    char want[128];

    (void)state;
    fake_server_start(&peer, script);
    assert_false(play_http(&b, peer.port, &(struct run_client_options){ .limit_ms = 200 }));
    snprintf(want, sizeof want,
             "the session with 'http://127.0.0.1:%d/mcp' did not end within 200 ms", peer.port);
    assert_string_equal(b.e.msg, want);
    assert_str(buf_str(&b.asker.received), STR("closed\n"));
    end(&b);
    fake_server_continue(&peer);
    fake_server_join(&peer);
}

static void a_signal_ends_an_http_session(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE(HOLD),
        FAKE(DONE),
    };
    struct fake_server peer;
    struct bench b;

    (void)state;
    fake_server_start(&peer, script);
    open_bench(&b);
    b.asker.signum = SIGINT;
    assert_true(
        run_http(&b, peer.port, &(struct run_client_options){ .stop_on_signal = true }));
    assert_int_equal(b.client.interrupted, SIGINT);
    assert_str(buf_str(&b.asker.received), STR("closed at shutdown\n"));
    end(&b);
    fake_server_continue(&peer);
    fake_server_join(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_exchanges_messages_with_the_server_until_it_finishes),
        cmocka_unit_test(the_servers_stderr_is_logged_and_its_last_line_kept),
        cmocka_unit_test(the_kept_stderr_is_limited),
        cmocka_unit_test(a_server_that_exits_ends_the_session),
        cmocka_unit_test(the_time_limit_ends_the_session),
        cmocka_unit_test(a_server_that_cannot_be_started_is_an_error),
        cmocka_unit_test(without_a_time_limit_the_session_is_not_ended),
        cmocka_unit_test(a_signal_ends_the_server_and_is_reported),
        cmocka_unit_test(the_server_may_be_at_a_url),
        cmocka_unit_test(a_server_that_cannot_be_reached_is_lost),
        cmocka_unit_test(a_server_that_requires_credentials_is_recognized),
        cmocka_unit_test(an_http_session_has_a_time_limit),
        cmocka_unit_test(a_signal_ends_an_http_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
