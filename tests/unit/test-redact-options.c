#include "cmd/redact-options.h"

#include "test.h"

/* The options of a test, and the messages to the user. */
struct redaction_run {
    char *env[4];
    struct log log;
    struct buf output;
    struct app app;
    struct redaction_args args;
    struct redaction redaction;
};

static void collect_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void set(struct redaction_run *s)
{
    *s = (struct redaction_run){ .env = { "KEY=hunter2hunter2", "SHORT=abc", "EMPTY=", NULL } };
    buf_init(&s->output, 1 << 12);
    s->log = (struct log){ .level = LOG_INFO, .write = collect_line, .arg = &s->output };
    s->app = (struct app){ .env = s->env, .log = &s->log };
    s->args = (struct redaction_args){ .server_url = true, .defaults = true };
}

static bool start(struct redaction_run *s, const char **env, size_t variables,
                  const char **patterns, size_t count, struct err *e)
{
    s->args.env = (struct str_list){ env, variables };
    s->args.patterns = (struct str_list){ patterns, count };
    return redact_options_init(&s->redaction, &s->app, &s->args, NULL, e);
}

static void assert_refused(const char *variable, const char *pattern, const char *msg)
{
    struct err e = ERR_NONE;
    struct redaction_run s;

    set(&s);
    assert_false(start(&s, &variable, variable ? 1 : 0, &pattern, pattern ? 1 : 0, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, msg);
    buf_release(&s.output);
}

static void a_variable_that_cannot_be_searched_is_rejected(void **state)
{
    (void)state;
    assert_refused("NOPE", NULL, "'--redact-env NOPE': this variable is not set or empty");
    assert_refused("EMPTY", NULL, "'--redact-env EMPTY': this variable is not set or empty");
    assert_refused("SHORT", NULL,
                   "'--redact-env SHORT': the value of 'SHORT' is too short to be redacted: "
                   "less than 6 bytes");
    assert_refused("sk-not-a-name", NULL,
                   "the value of '--redact-env' is not the name of a variable");
    assert_refused("1A", NULL, "the value of '--redact-env' is not the name of a variable");
}

static void an_invalid_pattern_is_rejected_with_its_number(void **state)
{
    (void)state;
    assert_refused(
        NULL, "(?=se)cret",
        "pattern 1 of '--redact-patterns' has look-ahead '(?=', which RE2 does not support");
    assert_refused(
        NULL, "(?<!a)secret",
        "pattern 1 of '--redact-patterns' has look-behind '(?<!', which RE2 does not support");
    assert_refused(
        NULL, "(s)ecre\\1",
        "pattern 1 of '--redact-patterns' has a back-reference, which RE2 does not support");
    assert_refused(NULL, "(?>secret)",
                   "pattern 1 of '--redact-patterns' has an atomic group '(?>', which RE2 does "
                   "not support");
    assert_refused(NULL, "secret*|x*",
                   "pattern 1 of '--redact-patterns' cannot be used: it matches the empty "
                   "text, so it would match everywhere");
    assert_refused(NULL, "(?:\\bsecret\\b)?\\b",
                   "pattern 1 of '--redact-patterns' cannot be used: it matches empty text: "
                   "'\\b' alone matches no character");
    assert_refused(NULL, "secret(",
                   "pattern 1 of '--redact-patterns' cannot be used: missing )");
}

static void assert_shielded(char **argv, const char *output, const char *want)
{
    char *env[] = { "KEY=hunter2hunter2", "OTHER=q9w8e7r6t5", "SHORT=abc",
                    "MCPREEL_REDACT_ENV=OTHER", NULL };
    struct err e = ERR_NONE;

    err_set(&e, ERR_USAGE, "%s", output);
    redact_options_redact_early_err(argv, env, &e);
    assert_string_equal(e.msg, want);
}

static void errors_before_the_redaction_have_no_secrets(void **state)
{
    char *line[] = { "mcpreel", "record", "--redact-env", "NOPE,KEY,SHORT", "--rotate",
                     "x",       NULL };
    char *attached[] = { "mcpreel", "--redact-env=KEY", NULL };
    char *servers[] = { "mcpreel", "--", "srv", "--redact-env", "KEY", NULL };
    char *last[] = { "mcpreel", "--redact-env", NULL };
    char *none[] = { NULL };

    (void)state;
    assert_shielded(line, "'hunter2hunter2' is no size", "'[REDACTED:KEY]' is no size");
    assert_shielded(line, "abc q9w8e7r6t5", "abc [REDACTED:OTHER]");
    assert_shielded(attached, "no hunter2hunter2", "no [REDACTED:KEY]");
    assert_shielded(servers, "hunter2hunter2", "hunter2hunter2");
    assert_shielded(last, "hunter2hunter2", "hunter2hunter2");
    assert_shielded(none, "AKIAIOSFODNN7EXAMPLE", "[REDACTED]");
}

static void secrets_in_the_server_command_are_searched(void **state)
{
    char *server[] = { "srv",
                       "--token",
                       "a1b2c3d4e5f6",
                       "--password=q9w8e7r6t5y4",
                       "--verbose",
                       "n0t-s3cr3t-at-all",
                       "https://h/?token=u1i2o3p4a5s6,postgres://me:z9x8c7v6b5n4@db/",
                       NULL };
    struct err e = ERR_NONE;
    struct redaction_run s;

    (void)state;
    set(&s);
    assert_true(redact_options_init(&s.redaction, &s.app, &s.args,
                                    &(struct redaction_known){ .words = server }, &e));
    log_printf(&s.redaction.log, LOG_INFO,
               "a1b2c3d4e5f6 q9w8e7r6t5y4 n0t-s3cr3t-at-all u1i2o3p4a5s6 z9x8c7v6b5n4");
    assert_string_equal(buf_z(&s.output), "mcpreel: [REDACTED] [REDACTED] n0t-s3cr3t-at-all "
                                          "[REDACTED] [REDACTED]\n");
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

static void parts_of_a_path_are_not_secrets(void **state)
{
    char *server[] = { "npx", "https://h.example:81/v1/fc-0a1b2c3d4e5f/stream-of-events?x=1/y",
                       NULL };
    struct err e = ERR_NONE;
    struct redaction_run s;

    (void)state;
    set(&s);
    assert_true(redact_options_init(&s.redaction, &s.app, &s.args,
                                    &(struct redaction_known){ .words = server }, &e));
    log_printf(&s.redaction.log, LOG_INFO, "h.example:81 /v1/fc-0a1b2c3d4e5f/stream-of-events");
    assert_string_equal(buf_z(&s.output),
                        "mcpreel: h.example:81 /v1/fc-0a1b2c3d4e5f/stream-of-events\n");
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

static void known_values_are_searched_by_default(void **state)
{
    struct header known[] = { { STR_INIT("X-Key"), STR_INIT("quite-a-secret") },
                              { STR_INIT("X-Short"), STR_INIT("eu") } };
    struct headers values = { .at = known, .count = 2 };
    struct err e = ERR_NONE;
    struct redaction_run s;

    (void)state;
    set(&s);
    s.args.defaults = false;
    assert_true(redact_options_init(&s.redaction, &s.app, &s.args,
                                    &(struct redaction_known){ .values = &values }, &e));
    log_printf(&s.redaction.log, LOG_INFO, "quite-a-secret in eu, quite%%2Da%%2Dsecret");
    assert_string_equal(buf_z(&s.output),
                        "mcpreel: [REDACTED:X-Key] in eu, [REDACTED:X-Key]\n");
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

static void a_cassette_has_placeholders_without_names(void **state)
{
    const char *variable = "KEY";
    struct err e = ERR_NONE;
    struct redaction_run s;

    (void)state;
    set(&s);
    assert_true(start(&s, &variable, 1, NULL, 0, &e));
    redact_options_set_format(&s.redaction, &cassette_format);
    log_printf(&s.redaction.log, LOG_INFO, "hunter2hunter2");
    redact_options_set_format(&s.redaction, &recording_format);
    log_printf(&s.redaction.log, LOG_INFO, "hunter2hunter2");
    assert_string_equal(buf_z(&s.output), "mcpreel: [REDACTED]\nmcpreel: [REDACTED:KEY]\n");
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_that_cannot_be_searched_is_rejected),
        cmocka_unit_test(an_invalid_pattern_is_rejected_with_its_number),
        cmocka_unit_test(errors_before_the_redaction_have_no_secrets),
        cmocka_unit_test(secrets_in_the_server_command_are_searched),
        cmocka_unit_test(parts_of_a_path_are_not_secrets),
        cmocka_unit_test(known_values_are_searched_by_default),
        cmocka_unit_test(a_cassette_has_placeholders_without_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
