#include "report/inspect-file.h"

#include "cli.h"
#include "terse.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define PING                                                                                   \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"                   \
    "'msg':{'id':1,'method':'ping'}}\n"

static const struct log *quiet(void)
{
    static const struct log none = { .level = LOG_ERROR };

    return &none;
}

static bool inspect_one(const struct cli *d, struct inspect_file *file, struct stats *s,
                        struct sink *also, struct err *e)
{
    bool ok;

    *file = (struct inspect_file){ .path = "a" };
    stats_init(s);
    ok = inspect_file_read(file, &d->faults.sys, quiet(), s, also, e);
    stats_finish(s);
    return ok;
}

static void all_records_are_read_and_counted(void **state)
{
    struct cli *d = *state;
    struct inspect_file file;
    struct err e = ERR_NONE;
    struct stats s;

    cli_put_file(d, "a", HEADER PING);
    assert_true(inspect_one(d, &file, &s, NULL, &e));
    assert_string_equal(file.format, "recording");
    assert_int_equal(file.bytes, sizeof HEADER PING - 1);
    assert_int_equal(file.notes, 0);
    assert_int_equal(s.lines[RECORD_MESSAGE], 1);
    assert_int_equal(s.findings[STATS_DAMAGED_END].count, 0);
    stats_release(&s);
}

static void a_truncated_end_is_reported(void **state)
{
    struct cli *d = *state;
    struct inspect_file file;
    struct err e = ERR_NONE;
    struct stats s;

    cli_put_file(d, "a", HEADER PING "{'type':'mess");
    assert_true(inspect_one(d, &file, &s, NULL, &e));
    assert_int_equal(file.notes, 1);
    assert_int_equal(s.findings[STATS_DAMAGED_END].count, 13);
    stats_release(&s);
}

static void features_that_the_format_lacks_are_no_findings(void **state)
{
    struct cli *d = *state;
    struct inspect_file file;
    struct err e = ERR_NONE;
    struct stats s;

    cli_put_file(d, "a", "{'jsonrpc':'2.0','method':'x'}\n");
    assert_true(inspect_one(d, &file, &s, NULL, &e));
    assert_string_equal(file.format, "jsonrpc");
    assert_int_equal(s.findings[STATS_NO_HEADER].count + s.findings[STATS_NO_FOOTER].count, 0);
    stats_release(&s);
}

static void another_sink_gets_every_record(void **state)
{
    struct cli *d = *state;
    struct inspect_file file;
    struct err e = ERR_NONE;
    struct stats s;
    struct terse t;

    cli_put_file(d, "a", HEADER PING);
    terse_init(&t);
    assert_true(inspect_one(d, &file, &s, &t.sink, &e));
    assert_terse(&t, "header version=1.0 name= upstream=u\n#1 c2s {'id':1,'method':'ping'}\n");
    stats_release(&s);
    t.fails = true;
    assert_false(inspect_one(d, &file, &s, &t.sink, &e));
    assert_string_equal(e.msg, "no room");
    stats_release(&s);
    terse_release(&t);
}

/* Takes the line of the last message. */
struct line_sink {
    struct sink sink;
    uint64_t line;
};

static bool take_line(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    if (r->kind == RECORD_MESSAGE)
        ((struct line_sink *)self)->line = r->message.line;
    return true;
}

static void lines_are_found_if_they_are_wanted(void **state)
{
    struct cli *d = *state;
    struct inspect_file file = { .path = "a", .find_lines = true };
    struct line_sink lines = { .sink = { take_line } };
    struct err e = ERR_NONE;
    struct stats s;

    cli_put_file(d, "a",
                 HEADER PING "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02Z',"
                             "'dir':'s2c','msg':{'id':1,'result':{}}}\n");
    stats_init(&s);
    assert_true(inspect_file_read(&file, &d->faults.sys, quiet(), &s, &lines.sink, &e));
    stats_finish(&s);
    assert_int_equal(lines.line, 3);
    assert_int_equal(s.findings[STATS_SEQ_ORDER].line, 3);
    stats_release(&s);
    assert_true(inspect_one(d, &file, &s, &lines.sink, &e));
    assert_int_equal(lines.line, 0);
    stats_release(&s);
}

static void an_unreadable_file_is_an_error(void **state)
{
    struct cli *d = *state;
    struct inspect_file file;
    struct err e = ERR_NONE;
    struct stats s;

    assert_false(inspect_one(d, &file, &s, NULL, &e));
    assert_string_equal(e.msg, "cannot read 'a': No such file or directory");
    stats_release(&s);
    cli_put_file(d, "a", HEADER "{'type':'message'}\n");
    assert_false(inspect_one(d, &file, &s, NULL, &e));
    assert_string_equal(e.msg, "a:2:1: a message line without 'seq'");
    stats_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(all_records_are_read_and_counted),
        WITH_CLI(a_truncated_end_is_reported),
        WITH_CLI(features_that_the_format_lacks_are_no_findings),
        WITH_CLI(another_sink_gets_every_record),
        WITH_CLI(lines_are_found_if_they_are_wanted),
        WITH_CLI(an_unreadable_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
