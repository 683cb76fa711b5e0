#include "runtime/run-client.h"

#include "base/clock.h"
#include "engine/actions.h"
#include "test.h"

/* An engine that asks once, notes what comes, and finishes with what it is told. */
struct asker {
    struct actions say;
    struct buf heard;
    uint64_t rang;
};

static void asker_step(void *engine, const struct event *ev)
{
    struct asker *a = engine;
    int64_t code;

    switch (ev->kind) {
    case EVENT_OPENED:
        actions_send_request(&a->say, STR("1"), STR("ping"), STR_NONE);
        actions_report(&a->say, LOG_INFO, "asked");
        actions_set_timer(&a->say, 5, 1000);
        break;
    case EVENT_RECORD:
        if (ev->record->kind == RECORD_RAW) {
            buf_printf(&a->heard, "raw %.*s\n", STR_ARG(ev->record->bytes.bytes));
            break;
        }
        assert_int_equal(ev->record->message.dir, TO_CLIENT);
        buf_printf(&a->heard, "%.*s\n", STR_ARG(json_raw(ev->record->message.msg)));
        if (json_int(json_get(ev->record->message.msg, STR("result")), &code))
            actions_finish(&a->say, (int)code);
        break;
    case EVENT_TIMER:
        a->rang += ev->timer;
        break;
    case EVENT_INPUT_CLOSED:
        buf_add(&a->heard, STR("closed\n"));
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

static bool start(struct bench *b, char *const *argv, uint64_t limit_ms)
{
    *b = (struct bench){ .log = { .level = LOG_DEBUG, .write = add_line, .arg = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 16);
    buf_init(&b->asker.heard, 1 << 16);
    run_client_init(&b->client, &b->app, asker_step, &b->asker);
    actions_init(&b->asker.say, &b->client.driver.actions);
    return run_client_run(&b->client, &(struct peer_target){ .argv = argv }, limit_ms, &b->e);
}

static bool play(struct bench *b, const char *script, uint64_t limit_ms)
{
    char *argv[] = { "/bin/sh", "-c", (char *)(uintptr_t)script, NULL };

    return start(b, argv, limit_ms);
}

static void end(struct bench *b)
{
    run_client_release(&b->client);
    actions_release(&b->asker.say);
    buf_release(&b->asker.heard);
    buf_release(&b->logged);
}

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

static void the_engine_speaks_with_the_server_until_it_finishes(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b,
                     "read a; echo \"$a\"; echo oops; echo '{\"id\":1,\"result\":6}';"
                     "read b; sleep 0.1; echo '{\"method\":\"bye\"}'; exit 9",
                     10000));
    assert_str(buf_str(&b.asker.heard), STR(PING "\nraw oops\n{\"id\":1,\"result\":6}\n"
                                                 "{\"method\":\"bye\"}\nclosed\n"));
    assert_int_equal(b.client.driver.exit_code, 6);
    assert_int_equal(b.asker.rang, 5);
    assert_int_equal(run_client_outcome(&b.client)->exit_code, 9);
    assert_int_equal(run_client_outcome(&b.client)->signum, 0);
    assert_str(buf_str(&b.logged), STR("mcpreel: asked\n"));
    end(&b);
}

static void the_servers_stderr_is_logged_and_its_last_words_kept(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "echo one >&2; printf 'two\\n\\n' >&2", 10000));
    assert_str(buf_str(&b.logged),
               STR("mcpreel: asked\nmcpreel: server: one\nmcpreel: server: two\n"));
    assert_str(buf_str(&run_client_outcome(&b.client)->last_stderr), STR("two"));
    end(&b);
}

static void last_words_have_a_limit(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "printf '%05000d' 7 >&2", 10000));
    assert_int_equal(run_client_outcome(&b.client)->last_stderr.len, 4096);
    end(&b);
}

static void a_server_that_goes_first_ends_the_session(void **state)
{
    struct bench b;

    (void)state;
    assert_true(play(&b, "kill -9 $$", 10000));
    assert_str(buf_str(&b.asker.heard), STR("closed\n"));
    assert_int_equal(b.client.driver.exit_code, 0);
    assert_int_equal(run_client_outcome(&b.client)->signum, 9);
    end(&b);
}

/* Whatever the server does, silent or not, there is an end. */
static void too_long_is_too_long(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_speaks_with_the_server_until_it_finishes),
        cmocka_unit_test(the_servers_stderr_is_logged_and_its_last_words_kept),
        cmocka_unit_test(last_words_have_a_limit),
        cmocka_unit_test(a_server_that_goes_first_ends_the_session),
        cmocka_unit_test(too_long_is_too_long),
        cmocka_unit_test(a_server_that_cannot_be_started_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
