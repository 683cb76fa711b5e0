#include "runtime/run-scenario.h"

#include "temp-dir.h"
#include "test.h"

/* Answers initialize and one more request. */
#define SERVER(second)                                                                         \
    "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}'; read b; read c; " second

#define PING                                                                                   \
    "target: http://h\nscenarios: {a: {actions: [{ping: {expect: {$.result.x: 1}}}]}}\n"

static char *env[] = { NULL };

struct rig {
    struct log log;
    struct app app;
    struct redaction redaction;
    struct scenario_file file;
    struct buf seen;
};

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

static void on_verdict(void *to, const struct call_verdict *v)
{
    struct rig *r = to;

    buf_printf(&r->seen, "%u %.*s %d %.*s\n", v->number, STR_ARG(v->method), v->kind,
               STR_ARG(v->reason));
}

static const struct scenario_events events = { .verdict = on_verdict };

/* Runs the scenario against a shell script. */
static struct run_scenario run(struct rig *r, const char *script, const struct format *format,
                               const char *path, struct err *e)
{
    char sh[] = "/bin/sh", dash_c[] = "-c", *code = (char *)(uintptr_t)script;
    char *argv[] = { sh, dash_c, code, NULL };
    struct record_settings settings = {
        .name = "a", .server_argv = argv, .server_argc = 3, .redaction = &r->redaction
    };
    struct run_scenario run = { .app = &r->app,
                                .target = { .argv = argv },
                                .plan = r->file.plans,
                                .ordinal = 1,
                                .first_number = 1,
                                .timeout_us = 10 * 1000 * 1000,
                                .settings = &settings,
                                .path = path,
                                .format = format,
                                .events = &events,
                                .to = r };

    r->log = (struct log){ .write = write_nothing };
    r->app = (struct app){ .sys = &sys_real, .log = &r->log };
    buf_clear(&r->seen);
    secret_rules_init(&r->redaction.secrets);
    assert_true(secret_rules_seal(&r->redaction.secrets, e));
    redaction_init(&r->redaction, &r->log);
    if (!run_scenario_run(&run, e))
        run.failed = true;
    redaction_release(&r->redaction);
    return run;
}

static void begin(struct rig *r)
{
    struct err e = ERR_NONE;

    *r = (struct rig){ .seen = { 0 } };
    buf_init(&r->seen, 4096);
    assert_true(scenario_file_parse(&r->file, STR(PING), "s.yml", env, &e));
}

static void end(struct rig *r)
{
    scenario_file_release(&r->file);
    buf_release(&r->seen);
}

static void a_scenario_that_succeeds_replaces_the_file(void **state)
{
    struct err e = ERR_NONE;
    struct run_scenario done;
    struct buf text;
    struct rig r;

    (void)state;
    begin(&r);
    buf_init(&text, 1 << 16);
    temp_dir_put("a.json", STR("old"));
    done = run(&r, SERVER("echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":1}}'"),
               &cassette_format, "a.json", &e);
    assert_int_equal(e.kind, ERR_OK);
    assert_true(done.written && done.spoke && !done.failed);
    assert_int_equal(done.interactions, 3);
    assert_int_equal(done.last_number, 2);
    assert_str(buf_str(&r.seen), STR("1 initialize 0 \n2 ping 0 \n"));
    temp_dir_get(&text, "a.json");
    assert_non_null(strstr(buf_z(&text), "\"method\": \"ping\""));
    buf_release(&text);
    end(&r);
}

static void responses_to_server_requests_are_no_interactions(void **state)
{
    struct err e = ERR_NONE;
    struct run_scenario done;
    struct rig r;

    (void)state;
    begin(&r);
    done = run(&r,
               SERVER("echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}'; read d; "
                      "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":1}}'"),
               &recording_format, "a.jsonl", &e);
    assert_true(done.written);
    assert_int_equal(done.interactions, 3);
    end(&r);
}

static void a_scenario_that_fails_leaves_the_file(void **state)
{
    struct err e = ERR_NONE;
    struct run_scenario done;
    struct rig r;

    (void)state;
    begin(&r);
    temp_dir_put("a.json", STR("old"));
    done = run(&r, SERVER("echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":2}}'"),
               &cassette_format, "a.json", &e);
    assert_true(done.failed && done.spoke && !done.written);
    assert_content("a.json", STR("old"));
    done = run(&r, SERVER("echo broken >&2; exit 3"), &recording_format, "a.json", &e);
    assert_true(done.failed && done.spoke && !done.written);
    assert_string_equal(done.why.msg, "'/bin/sh' ended with exit code 3: broken");
    assert_content("a.json", STR("old"));
    assert_int_equal(temp_dir_count("."), 1);
    end(&r);
}

static void a_server_that_never_responds_is_explained(void **state)
{
    struct err e = ERR_NONE;
    struct run_scenario done;
    struct rig r;

    (void)state;
    begin(&r);
    done = run(&r, "echo no config >&2; exit 1", &recording_format, "a.jsonl", &e);
    assert_true(done.failed && !done.spoke && !done.written);
    assert_string_equal(done.why.msg,
                        "'/bin/sh' ended with exit code 1 before it responded: no config");
    assert_int_equal(temp_dir_count("."), 0);
    end(&r);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    begin(&r);
    run(&r, SERVER(""), &recording_format, "none/a.jsonl", &e);
    assert_int_equal(e.kind, ERR_IO);
    assert_str(buf_str(&r.seen), STR(""));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_scenario_that_succeeds_replaces_the_file),
        IN_TEMP_DIR(responses_to_server_requests_are_no_interactions),
        IN_TEMP_DIR(a_scenario_that_fails_leaves_the_file),
        IN_TEMP_DIR(a_server_that_never_responds_is_explained),
        IN_TEMP_DIR(a_file_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
