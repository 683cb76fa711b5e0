#include <errno.h>

#include "cli.h"
#include "terse.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define MESSAGE(seq, dir, msg)                                                                 \
    "{'type':'message','seq':" seq ",'ts':'2026-01-01T00:00:02.000Z','dir':'" dir              \
    "','msg':" msg "}\n"
#define PING MESSAGE("1", "c2s", "{'id':1,'method':'ping'}")
#define PONG MESSAGE("2", "s2c", "{'id':1,'result':{}}")
#define FOOTER                                                                                 \
    "{'type':'footer','total_messages':2,'duration_ms':9,'client_messages':1,"                 \
    "'server_messages':1}\n"
#define WHOLE HEADER PING PONG FOOTER

static void a_complete_file_gets_the_verdict_ok(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", WHOLE);
    assert_run(d, "mcpreel check a", 0, "a: ok, 2 messages\n", "");
}

static void a_truncated_file_is_damaged(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER PING PONG "{'type':'foo");
    assert_run(d, "mcpreel check a", 1,
               "a: damaged, 2 messages\n"
               "  no footer: the recorder did not end properly\n"
               "  12 bytes at the end are damaged; everything before them is used\n",
               "mcpreel: warning: a:4:13: the last line is cut off; used up to here\n");
    cli_put_file(d, "a",
                 HEADER PING PONG "{'type':'gap','messages':1,'bytes':5,'why':'w'}\n" FOOTER);
    assert_run(d, "mcpreel check a", 1,
               "a: damaged, 2 messages\n  1 gap: 1 message (5 bytes) not recorded: w\n", "");
}

static void unusual_traffic_in_a_complete_file_gives_findings(void **state)
{
    struct cli *d = *state;

    cli_put_file(
        d, "a",
        HEADER PING PONG MESSAGE(
            "3", "s2c", "{'id':2,'result':'`ud800'}") "{'type':'footer','total_messages':3,'"
                                                      "duration_ms':9,'client_messages':1,"
                                                      "'server_messages':2}\n");
    assert_run(d, "mcpreel check a", 1,
               "a: findings, 3 messages\n"
               "  1 response without a request (seq 3)\n"
               "  1 message with half a surrogate pair: jq 1.6 rejects it (seq 3)\n",
               "");
    assert_run(d, "mcpreel check --ignore unsolicited-response,lone-surrogate a", 0,
               "a: ok, 3 messages\n", "");
    assert_run(d, "mcpreel check --ignore unasked-answer,lone-surrogate a", 0,
               "a: ok, 3 messages\n", "");
    assert_int_equal(cli_run(d, "mcpreel check --ignore unsolicited-response a"), 1);
    assert_run(d, "mcpreel check --ignore unsolicitd-response a", 2, "",
               "mcpreel: unknown finding 'unsolicitd-response'\n"
               "  did you mean 'unsolicited-response'?\n  see 'mcpreel check --help'\n");
}

static void a_line_of_an_unknown_type_is_a_finding(void **state)
{
    struct cli *d = *state;

    cli_put_file(
        d, "a",
        "{'v':1,'type':'meta','startedAt':'2026-01-01T00:00:00Z','label':'l','command':[]}\n"
        "{'type':'news'}\n"
        "{'t':'2026-01-01T00:00:01Z','type':'end','exitCode':0,'durationMs':1000}\n");
    assert_run(d, "mcpreel check a", 1,
               "a: findings, 0 messages\n  1 line of an unknown type: news\n",
               "mcpreel: warning: a:2:9: ignoring lines of an unknown type, 'news'\n");
}

static void one_unreadable_file_does_not_hide_the_others(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER "{'type':'message'}\n");
    cli_put_file(d, "b", WHOLE);
    assert_run(d, "mcpreel check a missing b", 3,
               "a: unreadable\nmissing: unreadable\nb: ok, 2 messages\n",
               "mcpreel: a:2:1: a message line without 'seq'\n"
               "  to save what can be read: mcpreel check --fix a\n"
               "mcpreel: cannot read 'missing': No such file or directory\n");
    assert_run(d, "mcpreel -q check b b", 0, "b: ok, 2 messages\nb: ok, 2 messages\n", "");
}

static void file_names_cannot_fake_a_verdict(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a\033", WHOLE "{'type':'x`u001b[2K'}\n");
    cli_run(d, "mcpreel check a\033");
    assert_null(strchr(buf_z(&d->out), '\033'));
    assert_non_null(strstr(buf_z(&d->out), "a\\x1b: damaged"));
}

static void the_copy_is_complete_and_sets_the_exit_code(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", PING PONG "{'type'");
    assert_run(d, "mcpreel -q check --fix a", 0,
               "a: damaged, 2 messages\n"
               "  the file does not start with a header (seq 1)\n"
               "  no footer: the recorder did not end properly\n"
               "  7 bytes at the end are damaged; everything before them is used\n"
               "  repaired copy: a.fixed\n",
               "");
    assert_run(d, "mcpreel check a.fixed", 0, "a.fixed: ok, 2 messages\n", "");
    assert_run(d, "mcpreel -q check --fix a", 2, "",
               "mcpreel: cannot write 'a.fixed': it exists already\n"
               "  choose another name, or add --force to replace it\n");
    assert_int_equal(cli_run(d, "mcpreel -q check --fix --force a"), 0);
    assert_int_equal(cli_run(d, "mcpreel -q check --fix -o b a"), 0);
    assert_int_equal(cli_count_files(d), 3);
}

static void findings_that_remain_in_the_copy_are_named(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER PING);
    assert_run(d, "mcpreel check --fix -o b a", 1,
               "a: damaged, 1 message\n"
               "  no footer: the recorder did not end properly\n"
               "  1 request without a response\n"
               "  repaired copy: b; remaining findings: unanswered\n",
               "");
    assert_int_equal(cli_run(d, "mcpreel check --ignore unanswered --fix -o c a"), 0);
    cli_put_file(d, "a", HEADER PING PONG "{'type':'new'}\n");
    assert_int_equal(cli_run(d, "mcpreel check --fix -o e a"), 1);
    assert_non_null(strstr(buf_z(&d->out), "copy: e; dropped: 1 line of unknown types\n"));
}

static void an_unreadable_file_has_no_copy(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", "{'version':'1.0','interactions':[");
    assert_int_equal(cli_run(d, "mcpreel check --fix a"), 3);
    assert_int_equal(cli_count_files(d), 1);
    cli_put_file(d, "a", HEADER PING);
    fault_fail(&d->faults, FAULT_FDATASYNC, 1, 1, EIO);
    assert_run(d, "mcpreel check --fix a", 5, "",
               "mcpreel: cannot sync 'a.fixed': Input/output error\n");
    assert_int_equal(cli_count_files(d), 1);
}

static void the_report_has_every_file(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", WHOLE);
    cli_put_file(d, "b", HEADER);
    assert_run(d, "mcpreel -q --json check a missing b", 3,
               "{\"v\":2,\"command\":\"check\",\"files\":["
               "{\"path\":\"a\",\"verdict\":\"ok\",\"format\":\"recording\",\"bytes\":413,"
               "\"messages\":2,\"notes\":0,\"findings\":[]},"
               "{\"path\":\"missing\",\"verdict\":\"unreadable\","
               "\"error\":\"cannot read 'missing': No such file or directory\"},"
               "{\"path\":\"b\",\"verdict\":\"damaged\",\"format\":\"recording\",\"bytes\":120,"
               "\"messages\":0,\"notes\":0,\"findings\":[{\"rule\":\"no-footer\",\"count\":1,"
               "\"message\":\"no footer: the recorder did not end properly\"}]}]}\n",
               "");
    assert_int_equal(cli_run(d, "mcpreel -q --json check --fix b"), 0);
    assert_non_null(strstr(
        buf_z(&d->out),
        "\"copy\":{\"path\":\"b.fixed\",\"findings\":[],\"lost\":{},"
        "\"dropped\":{\"lines\":0,\"decompress_failed\":false,\"line_ranges\":[]}}}]}\n"));
}

static void invalid_arguments_are_rejected(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", WHOLE);
    assert_run(d, "mcpreel check", 2, "",
               "mcpreel: missing FILE for 'check'\n  see 'mcpreel check --help'\n");
    assert_run(d, "mcpreel check a -o b", 2, "", "mcpreel: '--output' needs '--fix'\n");
    assert_run(d, "mcpreel check --fix a a -o b", 2, "",
               "mcpreel: '--output' is one file, but 2 files are to be repaired\n");
    assert_run(d, "mcpreel check --fix a -o -", 2, "",
               "mcpreel: the copy cannot be written to standard output: it has the verdict\n");
    assert_run(d, "mcpreel check --fix -", 2, "",
               "mcpreel: the copy of standard input needs a name\n"
               "  name one: mcpreel check --fix -o OUT -\n");
    assert_int_equal(cli_count_files(d), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_complete_file_gets_the_verdict_ok),
        WITH_CLI(a_truncated_file_is_damaged),
        WITH_CLI(unusual_traffic_in_a_complete_file_gives_findings),
        WITH_CLI(a_line_of_an_unknown_type_is_a_finding),
        WITH_CLI(one_unreadable_file_does_not_hide_the_others),
        WITH_CLI(file_names_cannot_fake_a_verdict),
        WITH_CLI(the_copy_is_complete_and_sets_the_exit_code),
        WITH_CLI(findings_that_remain_in_the_copy_are_named),
        WITH_CLI(an_unreadable_file_has_no_copy),
        WITH_CLI(the_report_has_every_file),
        WITH_CLI(invalid_arguments_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
