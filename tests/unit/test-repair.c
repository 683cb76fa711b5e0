#include "cmd/repair.h"

#include <errno.h>
#include <unistd.h>

#include "cli.h"
#include "terse.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define PING(seq)                                                                              \
    "{'type':'message','seq':" seq ",'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"             \
    "'msg':{'id':1,'method':'ping'}}\n"

static const struct log *quiet(void)
{
    static const struct log none = { .level = LOG_ERROR };

    return &none;
}

static const struct app app_real = { .sys = &sys_real };

static void check_repaired(struct cli *d, const char *format, const char *input,
                           const char *want)
{
    struct inspect_file file = { .path = "a", .format = format };
    struct err e = ERR_NONE;
    struct repair r;

    unlink("copy");
    repair_init(&r, &app_real, &file, "copy", false);
    terse_feed(&r.sink, input);
    assert_true(repair_finish(&r, &e));
    assert_string_equal(cli_get_file(d, "copy"), want);
    assert_int_equal(r.remaining.findings[STATS_NO_HEADER].count, 0);
    assert_int_equal(r.remaining.findings[STATS_NO_FOOTER].count, 0);
    assert_int_equal(r.remaining.findings[STATS_SEQ_ORDER].count, 0);
    repair_release(&r);
}

static void the_copy_has_the_missing_records(void **state)
{
    check_repaired(
        *state, "recording", "| " PING("4") "| " PING("4"),
        "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:02.000Z',"
        "'upstream':'unknown','thoughtjack_version':'0.3.0'}\n" PING("4")
            PING("5") "{'type':'footer','total_messages':2,'duration_ms':0,'client_messages':2,"
                      "'server_messages':0,'errors':0,'us':0}\n");
}

static void each_format_is_written_by_its_own_writer(void **state)
{
    check_repaired(
        *state, "trace", "| " PING("1"),
        "{'v':1,'type':'meta','startedAt':'2026-01-01T00:00:02.000Z','label':'mcp',"
        "'command':[]}\n"
        "{'t':'2026-01-01T00:00:02.000Z','dir':'in','raw':{'id':1,'method':'ping'}}\n"
        "{'t':'2026-01-01T00:00:02.000Z','type':'end','durationMs':0}\n");
    check_repaired(*state, "jsonrpc", "| " PING("1"), "{'id':1,'method':'ping'}\n");
}

static void a_journal_becomes_another_format(void **state)
{
    struct inspect_file file = { .path = "a", .format = "recording" };
    struct err e = ERR_NONE;
    struct repair r;

    repair_init(&r, &app_real, &file, "copy", false);
    r.target_format = &jsonrpc_format;
    terse_feed(&r.sink, "| " HEADER "| " PING("1"));
    assert_true(repair_finish(&r, &e));
    assert_string_equal(cli_get_file(*state, "copy"), "{'id':1,'method':'ping'}\n");
    assert_true(loss_is_any(&r.loss)); /* when it was said, for one thing */
    repair_release(&r);
}

static void an_empty_file_becomes_an_empty_recording(void **state)
{
    check_repaired(*state, "recording", "",
                   "{'type':'header','version':'1.0','recorded_at':'1970-01-01T00:00:00.000Z',"
                   "'upstream':'unknown','thoughtjack_version':'0.3.0'}\n"
                   "{'type':'footer','total_messages':0,'duration_ms':0,'client_messages':0,"
                   "'server_messages':0,'errors':0}\n");
}

/* A recording torn in every way, or whole: its copy is the copy of the copy. */
static void the_copy_of_a_copy_is_the_same(void **state)
{
    static const char *const recordings[] = {
        HEADER PING("1"),
        HEADER PING("1") HEADER PING("1") "{'type':'stderr','text':'x','us':7}\n",
        PING("3") PING("2") "{'type':'new'}\n",
        "{'type':'stderr','text':'x','us':7}\n",
        HEADER "{'type':'footer','total_messages':9,'duration_ms':1,'client_messages':9,"
               "'server_messages':9,'us':5}\n" PING("1"),
        HEADER PING("1") "{'type':'mes",
        "{'v':1,'type':'meta','startedAt':'2026-01-01T00:00:00.500Z','label':'l',"
        "'command':['a','b']}\n{'t':'2026-01-01T00:00:01.000Z','dir':'out','raw':[1,{'id':1,"
        "'result':{}}]}\n",
        "{'t':'2026-01-01T00:00:01.000Z','dir':'out','raw':{'id':1,'result':{}}}\n",
        "{'jsonrpc':'2.0','method':'x','timestamp_ms':12}\n{'jsonr",
    };
    const struct app app = { .sys = &sys_real, .log = quiet() };
    struct cli *d = *state;

    for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++) {
        static const char *const names[] = { "a", "b", "c" };
        struct buf first;

        unlink("b");
        unlink("c");
        cli_put_file(d, "a", recordings[i]);
        for (size_t k = 0; k < 2; k++) {
            struct inspect_file file = { .path = names[k] };
            struct err e = ERR_NONE;
            struct repair r;
            struct stats s;

            stats_init(&s);
            repair_init(&r, &app, &file, names[k + 1], false);
            assert_true(inspect_file_read(&file, app.sys, app.log, &s, &r.sink, &e));
            assert_true(repair_finish(&r, &e));
            repair_release(&r);
            stats_release(&s);
        }
        buf_init(&first, 1 << 20);
        buf_add(&first, str_z(cli_get_file(d, "b")));
        assert_str(str_z(cli_get_file(d, "c")), buf_str(&first));
        buf_release(&first);
    }
}

static void remaining_findings_are_returned(void **state)
{
    struct inspect_file file = { .path = "a", .format = "recording" };
    struct err e = ERR_NONE;
    struct repair r;

    (void)state;
    repair_init(&r, &app_real, &file, "copy", false);
    terse_feed(&r.sink, "| " PING("1") "s2c {'id':7,'result':'`ud83d'}\n");
    assert_true(repair_finish(&r, &e));
    assert_int_equal(r.remaining.findings[STATS_UNANSWERED].count, 1);
    assert_int_equal(r.remaining.findings[STATS_UNMATCHED_RESPONSE].count, 1);
    assert_int_equal(r.remaining.findings[STATS_LONE_SURROGATE].count, 1);
    repair_release(&r);
}

static void lost_features_are_returned(void **state)
{
    struct inspect_file file = { .path = "a", .format = "recording" };
    struct err e = ERR_NONE;
    struct repair r;

    (void)state;
    repair_init(&r, &app_real, &file, "copy", false);
    terse_feed(&r.sink, "| {'type':'new'}\n| " PING("1"));
    assert_true(repair_finish(&r, &e));
    assert_int_equal(r.loss.unknown_lines, 1);
    repair_release(&r);
}

static void without_a_complete_record_no_copy_is_made(void **state)
{
    struct inspect_file file = { .path = "a", .format = "recording" };
    struct cli *d = *state;
    struct repair r;

    repair_init(&r, &app_real, &file, "copy", false);
    terse_feed(&r.sink, "| " PING("1"));
    repair_release(&r);
    assert_int_equal(cli_count_files(d), 0);
}

static void an_error_of_the_copy_is_reported(void **state)
{
    const struct record any = { .kind = RECORD_STDERR };
    struct inspect_file file = { .path = "a", .format = "recording" };
    struct cli *d = *state;
    struct app app = { .sys = &d->faults.sys };
    struct err e = ERR_NONE;
    struct repair r;

    cli_put_file(d, "copy", "x");
    repair_init(&r, &app, &file, "copy", false);
    assert_false(r.sink.put(&r.sink, &any, &e));
    assert_string_equal(e.msg, "cannot write 'copy': it exists already");
    repair_release(&r);
    repair_init(&r, &app, &file, "copy", true);
    fault_fail(&d->faults, FAULT_WRITE, 1, 1, ENOSPC);
    assert_true(r.sink.put(&r.sink, &any, &e));
    assert_false(repair_finish(&r, &e));
    assert_string_equal(e.msg, "cannot write 'copy': No space left on device");
    repair_release(&r);
    assert_string_equal(cli_get_file(d, "copy"), "x");
    assert_int_equal(cli_count_files(d), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(the_copy_has_the_missing_records),
        WITH_CLI(each_format_is_written_by_its_own_writer),
        WITH_CLI(a_journal_becomes_another_format),
        WITH_CLI(an_empty_file_becomes_an_empty_recording),
        WITH_CLI(the_copy_of_a_copy_is_the_same),
        WITH_CLI(remaining_findings_are_returned),
        WITH_CLI(lost_features_are_returned),
        WITH_CLI(without_a_complete_record_no_copy_is_made),
        WITH_CLI(an_error_of_the_copy_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
