#include "runtime/run-verify.h"

#include "loaded-index.h"
#include "test.h"

/* A recording with two sessions of one request each. */
#define SESSION(n)                                                                             \
    "c2s {'id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}\n"           \
    "s2c {'id':0,'result':{'protocolVersion':'2025-11-25'}}\n"                                 \
    "c2s {'method':'notifications/initialized'}\n"                                             \
    "c2s {'id':1,'method':'tools/call','params':{'name':'" n "'}}\n"                           \
    "s2c {'id':1,'result':{'x':1}}\n"

struct rig {
    struct message_store_memory store;
    struct index index;
    struct index_order order;
    struct compare_rules rules;
    struct run_verify run;
    struct log log;
    struct app app;
    struct buf seen;
    struct err error;
};

static void on_verdict(void *to, const struct call_verdict *v, uint32_t call, struct str live)
{
    static const char *const kinds[] = { "passed", "volatile", "failed", "blocked", "skipped" };
    struct rig *r = to;

    (void)call;
    (void)live;
    buf_printf(&r->seen, "%u.%u %.*s %s", v->session, v->number, STR_ARG(v->method),
               kinds[v->kind]);
    if (v->reason.len)
        buf_printf(&r->seen, ": %.*s", STR_ARG(v->reason));
    buf_add_ch(&r->seen, '\n');
}

static void on_finding(void *to, const struct finding *f)
{
    struct rig *r = to;

    buf_printf(&r->seen, "%.*s\n", STR_ARG(f->rule));
}

static const struct verify_events events = { on_verdict, on_finding };

static bool no_secret(void *arg, struct str name, struct str *value, struct str *why)
{
    (void)arg;
    (void)name;
    (void)value;
    (void)why;
    return false;
}

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

static void load(struct rig *r, const char *recording)
{
    struct params_rules rules =
        matcher_rules(&(struct match_options){ .mode = MATCH_BY_REQUEST }, false);

    *r = (struct rig){ .log = { .write = write_nothing, .level = LOG_ERROR } };
    r->app = (struct app){ .log = &r->log };
    index_order_init(&r->order);
    message_store_memory_init(&r->store);
    index_init(&r->index, &r->store.store, &rules, NULL);
    r->index.order = &r->order;
    terse_feed(&r->index.sink, recording);
    index_finish(&r->index);
    compare_rules_init(&r->rules);
    buf_init(&r->seen, 1 << 16);
    r->run = (struct run_verify){ .app = &r->app, .events = &events, .to = r };
    r->run.config = (struct verify_config){ .index = &r->index,
                                            .order = &r->order,
                                            .rules = &r->rules,
                                            .timeout_us = 20 * 1000000,
                                            .secret = no_secret };
}

/* Runs it against a shell script that reads lines. */
static bool run_script(struct rig *r, const char *script)
{
    char sh[] = "/bin/sh", dash_c[] = "-c", text[1024];
    char *argv[] = { sh, dash_c, text, NULL };

    assert_true(strlen(script) < sizeof text);
    memcpy(text, script, strlen(script) + 1);
    r->run.target.argv = argv;
    return run_verify_run(&r->run, &r->error);
}

static void end(struct rig *r)
{
    buf_release(&r->seen);
    compare_rules_release(&r->rules);
    index_release(&r->index);
    message_store_memory_release(&r->store);
    index_order_release(&r->order);
}

#define INITIALIZE                                                                             \
    "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"                                  \
    "{\"protocolVersion\":\"2025-11-25\"}}'; read b; "

#define ANSWER(x) "read c; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"x\":" x "}}'; "

static void each_recorded_session_gets_a_process(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a") SESSION("b"));
    assert_true(run_script(&r, INITIALIZE ANSWER("1") "cat >/dev/null"));
    assert_str(buf_str(&r.seen), STR("1.1 initialize passed\n"
                                     "1.2 tools/call passed\n"
                                     "2.3 initialize passed\n"
                                     "2.4 tools/call passed\n"));
    assert_int_equal(r.run.sessions, 2);
    end(&r);
}

static void a_crash_in_one_session_does_not_hide_the_others(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a") SESSION("b"));
    assert_true(run_script(&r, INITIALIZE "read c; case $c in *'\"a\"'*) exit 3;; esac; "
                                          "echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":"
                                          "{\"x\":1}}'; cat >/dev/null"));
    assert_str(buf_str(&r.seen),
               STR("1.1 initialize passed\n"
                   "1.2 tools/call failed: the server closed the connection or exited\n"
                   "server-exited\n"
                   "2.3 initialize passed\n"
                   "2.4 tools/call passed\n"));
    end(&r);
}

static void a_server_that_never_responds_is_an_error(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a"));
    assert_false(run_script(&r, "echo sorry >&2; exit 7"));
    assert_int_equal(r.error.kind, ERR_PEER);
    assert_non_null(strstr(r.error.msg, "ended with exit code 7 before it responded: sorry"));
    end(&r);
}

static void a_server_that_hangs_is_not_reported_as_ended(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a"));
    r.run.config.timeout_us = 100 * 1000;
    assert_false(run_script(&r, "exec sleep 20"));
    assert_int_equal(r.error.kind, ERR_PEER);
    assert_string_equal(r.error.msg, "'/bin/sh' did not respond");
    end(&r);
}

static void a_server_that_cannot_be_started_is_an_error(void **state)
{
    char name[] = "/nowhere/at/all";
    char *argv[] = { name, NULL };
    struct rig r;

    (void)state;
    load(&r, SESSION("a"));
    r.run.target.argv = argv;
    assert_false(run_verify_run(&r.run, &r.error));
    assert_int_equal(r.error.kind, ERR_PEER);
    assert_str(buf_str(&r.seen),
               STR("1.1 initialize blocked: the server could not be started\n"
                   "1.2 tools/call blocked: the server could not be started\n"));
    end(&r);
}

static void a_failing_before_command_ends_the_run(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a"));
    r.run.before = "exit 9";
    assert_false(run_script(&r, INITIALIZE ANSWER("1") "cat >/dev/null"));
    assert_int_equal(r.error.kind, ERR_PEER);
    assert_non_null(strstr(r.error.msg, "'--before' failed: 'exit 9' ended with exit code 9"));
    assert_str(buf_str(&r.seen), STR("1.1 initialize blocked: '--before' failed\n"
                                     "1.2 tools/call blocked: '--before' failed\n"));
    assert_int_equal(r.run.sessions, 0);
    end(&r);
}

static void sessions_that_are_not_run_have_verdicts(void **state)
{
    char name[] = "/nowhere/at/all";
    char *argv[] = { name, NULL };
    struct rig r;

    (void)state;
    load(&r, SESSION("a") SESSION("b"));
    r.run.target.argv = argv;
    assert_false(run_verify_run(&r.run, &r.error));
    assert_str(buf_str(&r.seen),
               STR("1.1 initialize blocked: the server could not be started\n"
                   "1.2 tools/call blocked: the server could not be started\n"
                   "2.3 initialize blocked: the server could not be started\n"
                   "2.4 tools/call blocked: the server could not be started\n"));
    end(&r);
}

static void a_before_command_may_be_slow_and_read_nothing(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a"));
    r.run.before = "cat; sleep 1.2";
    assert_true(run_script(&r, INITIALIZE ANSWER("1") "cat >/dev/null"));
    assert_str(buf_str(&r.seen), STR("1.1 initialize passed\n1.2 tools/call passed\n"));
    end(&r);
}

static void on_stepped(void *to)
{
    struct rig *r = to;

    buf_add(&r->seen, STR("-\n"));
}

static void the_owner_can_write_the_verdicts_after_each_step(void **state)
{
    struct rig r;

    (void)state;
    load(&r, SESSION("a"));
    r.run.stepped = on_stepped;
    assert_true(run_script(&r, INITIALIZE ANSWER("1") "cat >/dev/null"));
    assert_true(str_starts(buf_str(&r.seen),
                           STR("-\n1.1 initialize passed\n-\n1.2 tools/call passed\n-\n")));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_recorded_session_gets_a_process),
        cmocka_unit_test(a_crash_in_one_session_does_not_hide_the_others),
        cmocka_unit_test(a_server_that_never_responds_is_an_error),
        cmocka_unit_test(a_server_that_hangs_is_not_reported_as_ended),
        cmocka_unit_test(a_server_that_cannot_be_started_is_an_error),
        cmocka_unit_test(a_failing_before_command_ends_the_run),
        cmocka_unit_test(sessions_that_are_not_run_have_verdicts),
        cmocka_unit_test(a_before_command_may_be_slow_and_read_nothing),
        cmocka_unit_test(the_owner_can_write_the_verdicts_after_each_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
