#include "cmd/verify-redaction.h"

#include "terse.h"
#include "test.h"

struct rig {
    char *env[4];
    struct log log;
    struct buf output;
    struct app app;
    struct redaction_args args;
    struct server_env server_env;
    struct verify_redaction_config config;
    struct verify_redaction redaction;
    struct terse next;
};

static void collect_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void begin(struct rig *r, char *const *argv)
{
    static const struct str_list no_pairs = { NULL, 0 };
    struct err e = ERR_NONE;

    *r = (struct rig){ .env = { "KEY=hunter2hunter2", "SHORT=abc", "OTHER=unnamed-value",
                                NULL } };
    buf_init(&r->output, 1 << 12);
    r->log = (struct log){ .level = LOG_INFO, .write = collect_line, .arg = &r->output };
    r->app = (struct app){ .env = r->env, .log = &r->log };
    r->args = (struct redaction_args){ .server_url = true, .defaults = true };
    assert_true(server_env_read(&r->server_env, &r->app, &no_pairs, &e));
    r->config = (struct verify_redaction_config){
        .app = &r->app, .args = &r->args, .argv = argv, .env = &r->server_env
    };
    terse_init(&r->next);
    verify_redaction_init(&r->redaction, &r->config, &r->next.sink);
    terse_feed(&r->redaction.names.sink,
               "c2s {'id':1,'method':'a','params':['[REDACTED:KEY]','[REDACTED:SHORT]',"
               "'[REDACTED:UNSET]']}\n");
}

static void start(struct rig *r)
{
    struct err e = ERR_NONE;

    assert_true(verify_redaction_start(&r->redaction, &recording_format, &e));
}

static void end(struct rig *r)
{
    verify_redaction_release(&r->redaction);
    server_env_release(&r->server_env);
    terse_release(&r->next);
    buf_release(&r->output);
}

static void values_that_are_sent_are_redacted_everywhere(void **state)
{
    struct str value = STR_NONE, why = STR_NONE;
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    begin(&r, NULL);
    start(&r);
    assert_true(verify_redaction_find_secret(&r.redaction, STR("KEY"), &value, &why));
    assert_str(value, STR("hunter2hunter2"));
    assert_str(verify_redaction_text(&r.redaction, STR("a hunter2hunter2")),
               STR("a [REDACTED:KEY]"));
    log_printf(r.redaction.app.log, LOG_INFO, "server: hunter2hunter2");
    assert_non_null(strstr(buf_z(&r.output), "server: [REDACTED:KEY]"));
    err_set(&e, ERR_PEER, "it said hunter2hunter2");
    verify_redaction_redact_err(&r.redaction, &e);
    assert_string_equal(e.msg, "it said [REDACTED:KEY]");
    end(&r);
}

static void a_value_that_cannot_be_redacted_is_not_sent(void **state)
{
    struct str value = STR_NONE, why = STR_NONE;
    struct rig r;

    (void)state;
    begin(&r, NULL);
    start(&r);
    assert_false(verify_redaction_find_secret(&r.redaction, STR("SHORT"), &value, &why));
    assert_str(why, STR("the value of SHORT is not sent: it is too short to be kept out of the "
                        "output"));
    why = STR_NONE;
    assert_false(verify_redaction_find_secret(&r.redaction, STR("UNSET"), &value, &why));
    assert_false(verify_redaction_find_secret(&r.redaction, STR("OTHER"), &value, &why));
    assert_str(why, STR_NONE);
    end(&r);
}

static void the_server_is_shown_as_it_would_be_recorded(void **state)
{
    char *argv[] = { "node", "server.js", "--token", "s3cr3t-t0k3n-4711", NULL };
    struct rig r;

    (void)state;
    begin(&r, argv);
    start(&r);
    assert_str(verify_redaction_target(&r.redaction), STR("node server.js --token [REDACTED]"));
    end(&r);
}

static void a_wrong_option_is_an_error(void **state)
{
    const char *names[] = { "UNSET" };
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    begin(&r, NULL);
    r.args.env = (struct str_list){ names, 1 };
    assert_false(verify_redaction_start(&r.redaction, &recording_format, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    verify_redaction_redact_err(&r.redaction, &e);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_sent_are_redacted_everywhere),
        cmocka_unit_test(a_value_that_cannot_be_redacted_is_not_sent),
        cmocka_unit_test(the_server_is_shown_as_it_would_be_recorded),
        cmocka_unit_test(a_wrong_option_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
