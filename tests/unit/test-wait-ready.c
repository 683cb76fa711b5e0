#include "runtime/wait-ready.h"

#include "fake-server.h"
#include "test.h"

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

static void a_process_is_not_waited_for(void **state)
{
    const struct log log = { .write = write_nothing, .level = LOG_ERROR };
    const struct app app = { .log = &log };
    char name[] = "/nowhere/at/all";
    char *argv[] = { name, NULL };
    const struct peer_target target = { .argv = argv };
    struct wait_ready ready = { .app = &app, .target = &target, .limit_us = 1000000 };
    struct err e = ERR_NONE;

    (void)state;
    assert_true(wait_ready_run(&ready, &e));
    assert_int_equal(ready.interrupted, 0);
}

static void a_server_that_cannot_be_reached_is_an_error(void **state)
{
    const struct log log = { .write = write_nothing, .level = LOG_ERROR };
    const struct app app = { .log = &log };
    const struct remote_config remote = { .url = "http://127.0.0.1:1/mcp",
                                          .display_url = "http://127.0.0.1:1/mcp",
                                          .host = "127.0.0.1:1" };
    const struct peer_target target = { .remote = &remote };
    struct wait_ready ready = { .app = &app, .target = &target, .limit_us = 1 };
    struct err e = ERR_NONE;

    (void)state;
    assert_false(wait_ready_run(&ready, &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg,
                        "the server at 'http://127.0.0.1:1/mcp' could not be reached in time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_not_waited_for),
        cmocka_unit_test(a_server_that_cannot_be_reached_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
