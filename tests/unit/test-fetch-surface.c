#include "runtime/fetch-surface.h"

#include "redact/redaction.h"
#include "test.h"

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

/* Fetches from a shell script that reads lines. */
static bool fetch(struct surface *s, const char *script, struct err *e)
{
    const struct log log = { .write = write_nothing, .level = LOG_ERROR };
    const struct app app = { .log = &log };
    char sh[] = "/bin/sh", dash_c[] = "-c", text[1024];
    char *argv[] = { sh, dash_c, text, NULL };
    const struct peer_target target = { .argv = argv };
    const struct fetch_surface f = { .app = &app,
                                     .target = &target,
                                     .timeout_us = 20 * 1000000 };

    assert_true(strlen(script) < sizeof text);
    memcpy(text, script, strlen(script) + 1);
    surface_init(s);
    return fetch_surface_run(&f, s, e);
}

#define INITIALIZE                                                                             \
    "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"             \
    "\"2025-11-25\",\"capabilities\":{\"tools\":{}}}}'; read b; "

static void the_lists_of_a_process_are_read(void **state)
{
    struct err e = ERR_NONE;
    struct surface s;

    (void)state;
    if (!fetch(&s,
               INITIALIZE "read c; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":"
                          "[{\"name\":\"x\"}]}}'; cat >/dev/null",
               &e))
        fail_msg("%s", e.msg);
    assert_non_null(surface_find(&s, SURFACE_TOOL, STR("x")));
    surface_release(&s);
}

static void secrets_of_the_surface_are_redacted(void **state)
{
    const struct log log = { .write = write_nothing, .level = LOG_ERROR };
    const struct app app = { .log = &log };
    char sh[] = "/bin/sh", dash_c[] = "-c";
    char text[] =
        "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"instructions\":\"hunter2hunter2\"}}';"
        "read b; read c; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":"
        "[{\"name\":\"x\",\"description\":\"say hunter2hunter2\"}]}}'; cat >/dev/null";
    char *argv[] = { sh, dash_c, text, NULL };
    const struct peer_target target = { .argv = argv };
    struct redaction r = { .log = { .write = NULL } };
    const struct fetch_surface f = {
        .app = &app, .target = &target, .redactor = &r.redactor, .timeout_us = 30000000
    };
    struct err e = ERR_NONE;
    struct surface s;

    (void)state;
    secret_rules_init(&r.secrets);
    assert_true(secret_rules_add_value(&r.secrets, STR("PASSWORD"), STR("hunter2hunter2"), &e));
    assert_true(secret_rules_seal(&r.secrets, &e));
    redaction_init(&r, &log);
    surface_init(&s);
    if (!fetch_surface_run(&f, &s, &e))
        fail_msg("%s", e.msg);
    assert_str(s.instructions, STR("[REDACTED:PASSWORD]"));
    assert_str(json_raw(surface_find(&s, SURFACE_TOOL, STR("x"))->def),
               STR("{\"name\":\"x\",\"description\":\"say [REDACTED:PASSWORD]\"}"));
    surface_release(&s);
    redaction_release(&r);
}

static void a_server_that_ends_or_refuses_is_an_error(void **state)
{
    struct err e = ERR_NONE;
    struct surface s;

    (void)state;
    assert_false(fetch(&s, "exit 3", &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg, "'/bin/sh' ended with exit code 3 before it responded");
    surface_release(&s);
    assert_false(fetch(&s,
                       INITIALIZE "read c; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":"
                                  "{\"code\":-32603,\"message\":\"oops\"}}'; cat >/dev/null",
                       &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg,
                        "cannot read the lists of '/bin/sh': tools/list: error -32603: oops");
    surface_release(&s);
}

static void a_server_that_ends_while_its_lists_are_read_is_named_with_its_exit(void **state)
{
    struct err e = ERR_NONE;
    struct surface s;

    (void)state;
    assert_false(fetch(&s, INITIALIZE "read c; echo no more tools >&2; exit 3", &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg, "'/bin/sh' ended with exit code 3 before it responded to "
                               "tools/list: no more tools");
    assert_string_equal(e.hint, "-v shows its standard error");
    surface_release(&s);
}

static void a_server_that_does_not_respond_in_time_is_an_error(void **state)
{
    const struct log log = { .write = write_nothing, .level = LOG_ERROR };
    const struct app app = { .log = &log };
    char sh[] = "/bin/sh", dash_c[] = "-c", text[] = "cat >/dev/null";
    char *argv[] = { sh, dash_c, text, NULL };
    const struct peer_target target = { .argv = argv };
    const struct fetch_surface f = { .app = &app, .target = &target, .timeout_us = 1000 };
    struct err e = ERR_NONE;
    struct surface s;

    (void)state;
    surface_init(&s);
    assert_false(fetch_surface_run(&f, &s, &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg,
                        "cannot read the lists of '/bin/sh': initialize: no response in time");
    assert_string_equal(e.hint, "is it an MCP server? --timeout gives it more time");
    surface_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lists_of_a_process_are_read),
        cmocka_unit_test(secrets_of_the_surface_are_redacted),
        cmocka_unit_test(a_server_that_ends_or_refuses_is_an_error),
        cmocka_unit_test(a_server_that_ends_while_its_lists_are_read_is_named_with_its_exit),
        cmocka_unit_test(a_server_that_does_not_respond_in_time_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
