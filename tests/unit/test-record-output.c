#include "runtime/record-output.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "cmd/redact-options.h"
#include "test.h"

/* A recording without a session: the test puts lines into its recorder. */
struct output_run {
    struct cli *desk;
    struct log log;
    struct app app;
    struct redaction redaction;
    struct record_settings settings;
    struct record_path path;
    struct record_output reel;
    unsigned waits;
};

static void collect_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void count_wait(void *to)
{
    struct output_run *s = to;

    s->waits++;
}

static char *server[] = { "some-server", "--flag", NULL };
static char *nothing[] = { NULL };

static void set(struct output_run *s, struct cli *d, const char *output, bool force)
{
    struct redaction_args args = { .server_url = true, .defaults = true };
    struct record_path_options wish = { .output = output,
                                        .server_argv = server,
                                        .force = force };
    struct err e = ERR_NONE;

    *s = (struct output_run){ .desk = d };
    buf_clear(&d->err);
    s->log = (struct log){ .level = LOG_INFO, .write = collect_line, .arg = &d->err };
    s->app = (struct app){ .sys = &d->faults.sys, .env = nothing, .log = &s->log };
    assert_true(redact_options_init(&s->redaction, &s->app, &args, NULL, &e));
    s->settings = (struct record_settings){ .server_argv = server,
                                            .server_argc = 2,
                                            .max_message = 1 << 20,
                                            .flush_us = 1000000,
                                            .redaction = &s->redaction };
    assert_true(record_path_resolve(&s->path, &s->app, &wish, &e));
    record_output_init(&s->reel, &s->app, &s->path, &s->settings, count_wait, s);
}

static void clear(struct output_run *s)
{
    record_output_release(&s->reel);
    record_path_release(&s->path);
    redaction_release(&s->redaction);
}

static void start(struct output_run *s)
{
    struct err e = ERR_NONE;

    if (!record_output_open(&s->reel, true, &e))
        fail_msg("%s", e.msg);
    record_output_write_header(&s->reel, STR("stdio"));
}

static void put(struct output_run *s, enum record_dir dir, const char *line)
{
    traffic_recorder_add_line(&s->reel.recorder, 1, dir, str_z(line));
}

static void put_call(struct output_run *s)
{
    put(s, TO_SERVER, "{\"id\":1,\"method\":\"ping\"}");
    put(s, TO_CLIENT, "{\"id\":1,\"result\":{}}");
}

static size_t lines_in(struct cli *d, const char *path)
{
    const char *text = cli_get_file(d, path);
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

static void a_record_is_in_the_file_at_once_and_reported_at_the_end(void **state)
{
    struct cli *d = *state;
    struct output_run s;

    set(&s, d, "a.jsonl", false);
    start(&s);
    put_call(&s);
    assert_int_equal(lines_in(d, "a.jsonl"), 3);
    assert_int_equal(record_output_finish(&s.reel, 7, NULL), 7);
    clear(&s);
    assert_int_equal(lines_in(d, "a.jsonl"), 4);
    assert_has(cli_get_file(d, "a.jsonl"), "'upstream':'some-server --flag'");
    assert_has(cli_get_file(d, "a.jsonl"), "'command':['some-server','--flag']");
    assert_has(cli_get_file(d, "a.jsonl"), "'exit_code':7");
    assert_str(buf_str(&d->err), STR("mcpreel: recording to a.jsonl\n"
                                     "mcpreel: recorded 2 messages in a.jsonl\n"));
}

static void a_server_at_a_url_has_no_command(void **state)
{
    struct cli *d = *state;
    struct output_run s;

    set(&s, d, "a.jsonl", false);
    s.settings.server_argv = NULL;
    s.settings.server_url = "http://me:secret@host/path";
    start(&s);
    assert_int_equal(record_output_finish(&s.reel, 0, NULL), 0);
    clear(&s);
    assert_has(cli_get_file(d, "a.jsonl"), "'upstream':'http://host/[REDACTED]'");
    assert_null(strstr(cli_get_file(d, "a.jsonl"), "'command'"));
}

static void an_aborted_recording_leaves_nothing(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct output_run s;

    set(&s, d, "a.jsonl", false);
    assert_true(record_output_open(&s.reel, true, &e));
    assert_int_equal(cli_count_files(d), 1);
    record_output_remove(&s.reel);
    clear(&s);
    assert_int_equal(cli_count_files(d), 0);
}

static void an_existing_given_name_is_rejected_and_a_generated_one_is_changed(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct output_run s;
    char first[256];

    cli_put_file(d, "a.jsonl", "old");
    set(&s, d, "a.jsonl", false);
    assert_false(record_output_open(&s.reel, true, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(cli_get_file(d, "a.jsonl"), "old");
    clear(&s);

    set(&s, d, "./", false);
    snprintf(first, sizeof first, "%s", s.path.path);
    cli_put_file(d, first, "old");
    start(&s);
    assert_string_not_equal(s.path.path, first);
    assert_int_equal(record_output_finish(&s.reel, 0, NULL), 0);
    clear(&s);
    assert_string_equal(cli_get_file(d, first), "old");
}

static void before_open_the_target_is_only_checked(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct output_run s;

    set(&s, d, "a.jsonl", true);
    assert_true(record_output_open(&s.reel, false, &e));
    assert_int_equal(cli_count_files(d), 0);
    clear(&s);
}

static void lost_lines_are_reported_once_and_fail_if_strict(void **state)
{
    struct cli *d = *state;

    for (int strict = 0; strict < 2; strict++) {
        struct output_run s;

        set(&s, d, strict ? "b.jsonl" : "a.jsonl", false);
        s.settings.strict = strict;
        fault_fail(&d->faults, FAULT_WRITE, d->faults.calls[FAULT_WRITE] + 2, FAULT_FOREVER,
                   ENOSPC);
        start(&s);
        put_call(&s);
        put_call(&s);
        assert_int_equal(record_output_finish(&s.reel, 0, "so it is"),
                         strict ? RECORD_OUTPUT_FAILED : 0);
        clear(&s);
        d->faults.count = 0;
        assert_has(buf_z(&d->err), "warning: buffering the recording in memory: cannot write");
        assert_has(buf_z(&d->err), "the recording is incomplete: cannot write");
        assert_has(buf_z(&d->err), "recorded only 0 of 4 messages in");
        assert_has(buf_z(&d->err), "; so it is\n");
        assert_int_equal(s.waits, 1);
    }
}

static void too_long_messages_count_as_missing(void **state)
{
    struct cli *d = *state;
    struct output_run s;

    set(&s, d, "a.jsonl", false);
    s.settings.strict = true;
    start(&s);
    put_call(&s);
    traffic_recorder_add_too_long(&s.reel.recorder, 1, TO_SERVER, 1 << 21);
    assert_int_equal(record_output_finish(&s.reel, 0, NULL), RECORD_OUTPUT_FAILED);
    clear(&s);
    assert_has(buf_z(&d->err),
               "recorded only 2 of 3 messages in a.jsonl; 1 was longer than --max-message\n");
}

static void a_recording_that_must_succeed_is_complete(void **state)
{
    struct answered_calls calls;
    struct cli *d = *state;
    struct output_run s;

    cli_put_file(d, "a.json", "old");
    set(&s, d, "a.json", true);
    answered_calls_init(&calls);
    s.settings.must_succeed = true;
    s.settings.calls = &calls;
    start(&s);
    put_call(&s);
    traffic_recorder_add_too_long(&s.reel.recorder, 1, TO_CLIENT, 1 << 21);
    assert_int_equal(record_output_finish(&s.reel, 0, NULL), RECORD_OUTPUT_FAILED);
    clear(&s);
    answered_calls_release(&calls);
    assert_has(buf_z(&d->err), "the recording is incomplete; 'a.json' was not changed, the "
                               "session is in 'a.json.cassette.journal'\n");
    assert_string_equal(cli_get_file(d, "a.json"), "old");
    assert_true(lines_in(d, "a.json.cassette.journal") > 3);
}

static void a_document_is_made_from_its_journal_and_its_losses_are_reported(void **state)
{
    struct cli *d = *state;
    struct output_run s;

    cli_put_file(d, "a.json", "old");
    set(&s, d, "a.json", true);
    start(&s);
    put_call(&s);
    assert_string_equal(cli_get_file(d, "a.json"), "old");
    assert_int_equal(lines_in(d, "a.json.cassette.journal"), 3);
    assert_int_equal(record_output_finish(&s.reel, 0, NULL), 0);
    clear(&s);
    assert_int_equal(cli_count_files(d), 1);
    assert_has(cli_get_file(d, "a.json"), "'interactions'");
    assert_has(buf_z(&d->err), "recorded 2 messages in a.json; lost in 'cassette': ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_record_is_in_the_file_at_once_and_reported_at_the_end),
        WITH_CLI(a_server_at_a_url_has_no_command),
        WITH_CLI(an_aborted_recording_leaves_nothing),
        WITH_CLI(an_existing_given_name_is_rejected_and_a_generated_one_is_changed),
        WITH_CLI(before_open_the_target_is_only_checked),
        WITH_CLI(lost_lines_are_reported_once_and_fail_if_strict),
        WITH_CLI(too_long_messages_count_as_missing),
        WITH_CLI(a_recording_that_must_succeed_is_complete),
        WITH_CLI(a_document_is_made_from_its_journal_and_its_losses_are_reported),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
