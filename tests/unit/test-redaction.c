#include "redact/redaction.h"

#include "test.h"

#define KEY "hunter2hunter2"

/* A redaction with one secret, and the lines it has logged. */
struct redaction_run {
    struct log log;
    struct buf output;
    struct redaction redaction;
};

static void collect_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void start(struct redaction_run *s, const char *value)
{
    struct err e = ERR_NONE;

    *s = (struct redaction_run){
        .log = { .level = LOG_INFO, .write = collect_line, .arg = &s->output }
    };
    buf_init(&s->output, 1 << 12);
    secret_rules_init(&s->redaction.secrets);
    assert_true(secret_rules_add_value(&s->redaction.secrets, STR("KEY"), str_z(value), &e));
    assert_true(secret_rules_seal(&s->redaction.secrets, &e));
    redaction_init(&s->redaction, &s->log);
}

static void log_and_errors_have_no_secrets(void **state)
{
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct redaction_run s;

    (void)state;
    start(&s, KEY);
    log_printf(&s.redaction.log, LOG_WARN, "cannot start '%s'", "srv hunter2hunter2");
    assert_string_equal(buf_z(&s.output),
                        "mcpreel: warning: cannot start 'srv [REDACTED:KEY]'\n");
    err_set(&e, ERR_IO, "no 'hunter2hunter2'");
    err_hint(&e, "try %%68unter2hunter2");
    assert_string_equal(redaction_redact_word(&s.redaction, "x-hunter2hunter2", &a),
                        "x-[REDACTED:KEY]");
    arena_release(&a);
    redaction_redact_err(&s.redaction, &e);
    assert_string_equal(e.msg, "no '[REDACTED:KEY]'");
    assert_string_equal(e.hint, "try [REDACTED:KEY]");
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

/* Half of a value is not found, and is half of a value. */
static void a_truncated_error_loses_its_end(void **state)
{
    char value[700] = { 0 }, text[5000] = { 0 };
    struct err e = ERR_NONE;
    struct redaction_run s;

    (void)state;
    memset(value, 'q', sizeof value - 5);
    memset(text, 'q', sizeof text - 1);
    start(&s, value);
    err_set(&e, ERR_IO, "cannot start '%s'", value);
    redaction_redact_err(&s.redaction, &e);
    assert_string_equal(e.msg, "cannot start [REDACTED]");
    log_printf(&s.redaction.log, LOG_INFO, "no '%.4000s%s'", text, text);
    assert_string_equal(buf_z(&s.output), "mcpreel: no [REDACTED]\n");
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

static bool count(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    assert_str(r->bytes.bytes, STR("x [REDACTED:KEY]"));
    self->put = NULL; /* once is enough */
    return true;
}

static void records_of_the_sink_have_no_secrets(void **state)
{
    struct record r = { .kind = RECORD_STDERR, .bytes = { .bytes = STR("x hunter2hunter2") } };
    struct sink file = { count }, *door;
    struct err e = ERR_NONE;
    struct redaction_run s;

    (void)state;
    start(&s, KEY);
    door = redaction_sink(&s.redaction, &file);
    assert_true(door->put(door, &r, &e));
    assert_null(file.put);
    redaction_release(&s.redaction);
    buf_release(&s.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_and_errors_have_no_secrets),
        cmocka_unit_test(a_truncated_error_loses_its_end),
        cmocka_unit_test(records_of_the_sink_have_no_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
