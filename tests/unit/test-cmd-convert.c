#include <errno.h>
#include <unistd.h>

#include "cli.h"
#include "terse.h"
#include "test.h"

#define HEADER(second)                                                                         \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:" second                 \
    ".000Z','upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define PING(seq, second)                                                                      \
    "{'type':'message','seq':" seq ",'ts':'2026-01-01T00:00:" second                           \
    ".000Z','dir':'c2s','msg':{'id':1,'method':'ping'}}\n"
#define FOOTER(n)                                                                              \
    "{'type':'footer','total_messages':" n ",'duration_ms':9000,'client_messages':" n          \
    ",'server_messages':0}\n"
#define ONE HEADER("01") PING("1", "02") FOOTER("1")

static void the_name_decides_the_format(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", ONE);
    assert_run(d, "mcpreel convert a.jsonl -o b.jsonl", 0, "",
               "mcpreel: wrote 'b.jsonl' (recording) from 1 message\n");
    assert_string_equal(cli_get_file(d, "b.jsonl"), ONE);
    assert_run(d, "mcpreel convert a.jsonl -o b.trace.jsonl", 0, "",
               "mcpreel: wrote 'b.trace.jsonl' (trace) from 1 message\n");
    assert_string_equal(
        cli_get_file(d, "b.trace.jsonl"),
        "{'v':1,'type':'meta','startedAt':'2026-01-01T00:00:01.000Z','label':'mcp',"
        "'command':['u']}\n"
        "{'t':'2026-01-01T00:00:02.000Z','dir':'in','raw':{'id':1,'method':'ping'}}\n"
        "{'t':'2026-01-01T00:00:10.000Z','type':'end','durationMs':9000}\n");
    assert_run(d, "mcpreel -q convert --to jsonrpc a.jsonl -o c.jsonl", 0, "", "");
    assert_string_equal(cli_get_file(d, "c.jsonl"), "{'id':1,'method':'ping'}\n");
}

static void lost_features_are_reported(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", HEADER("01") "{'type':'stderr','text':'x'}\n" PING("1", "02"));
    assert_run(d, "mcpreel convert a.jsonl -o b.jsonrpc", 0, "",
               "mcpreel: wrote 'b.jsonrpc' (jsonrpc) from 1 message\n"
               "mcpreel: lost in 'jsonrpc': the times of 1 message, 1 line of standard error, "
               "which side sent 1 message\n");
}

static void lossless_rejects_a_loss_and_leaves_no_file(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", ONE);
    assert_run(d, "mcpreel convert --lossless a.jsonl -o b.jsonrpc", 1, "",
               "mcpreel: 'jsonrpc' cannot keep the times of 1 message, which side sent 1 "
               "message, how the recording ended\n"
               "  nothing was written; without --lossless convert drops this\n");
    assert_int_equal(cli_count_files(d), 1);
    assert_int_equal(cli_run(d, "mcpreel convert --lossless a.jsonl -o - --to jsonrpc"), 1);
    assert_int_equal(d->out.len, 0);
    assert_non_null(strstr(buf_z(&d->err), "'jsonrpc' cannot keep the times of 1 message"));
    assert_int_equal(cli_run(d, "mcpreel convert --lossless a.jsonl -o b.jsonl"), 0);
    assert_int_equal(cli_run(d, "mcpreel convert --lossless a.jsonl -o - --to recording"), 0);
    assert_true(d->out.len > 0);
}

static void standard_output_gets_only_the_data(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", ONE);
    assert_run(d, "mcpreel --json convert a.jsonl -o - --to jsonrpc", 0,
               "{\"id\":1,\"method\":\"ping\"}\n",
               "mcpreel: lost in 'jsonrpc': the times of 1 message, which side sent 1 message, "
               "how the recording ended\n");
}

static void files_are_merged_by_time(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER("05") PING("1", "06") PING("2", "08") FOOTER("2"));
    cli_put_file(d, "b", HEADER("01") PING("1", "07") FOOTER("1"));
    assert_int_equal(cli_run(d, "mcpreel convert a b -o c.jsonl"), 0);
    assert_string_equal(
        cli_get_file(d, "c.jsonl"),
        HEADER("01") "{'type':'message','seq':1,'ts':'2026-01-01T00:00:06.000Z','dir':'c2s',"
                     "'msg':{'id':1,'method':'ping'},'conn':1}\n"
                     "{'type':'message','seq':2,'ts':'2026-01-01T00:00:07.000Z','dir':'c2s',"
                     "'msg':{'id':1,'method':'ping'},'conn':2}\n"
                     "{'type':'message','seq':3,'ts':'2026-01-01T00:00:08.000Z','dir':'c2s',"
                     "'msg':{'id':1,'method':'ping'},'conn':1}\n"
                     "{'type':'footer','total_messages':3,'duration_ms':7000,"
                     "'client_messages':3,'server_messages':0,'us':7000000}\n");
    assert_int_equal(cli_run(d, "mcpreel convert -r a b -o d.jsonl"), 0);
    assert_int_equal(cli_run(d, "mcpreel convert --recording a -o e.jsonl"), 0);
}

static void the_report_has_input_and_output(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", ONE);
    cli_put_file(d, "b", "{'jsonrpc':'2.0','id':1,'method':'x'}\n");
    assert_run(d, "mcpreel --json convert a b -o c.trace.jsonl", 0,
               "{\"v\":2,\"command\":\"convert\",\"inputs\":[{\"path\":\"a\",\"format\":"
               "\"recording\"},{\"path\":\"b\",\"format\":\"jsonrpc\"}],\"output\":"
               "\"c.trace.jsonl\",\"format\":\"trace\",\"records\":4,\"messages\":2,\"lost\":{"
               "\"connection\":1}}\n",
               "mcpreel: warning: 'b' has messages without a time; they stay together\n");
    assert_int_equal(cli_run(d, "mcpreel --json convert --lossless a -o c.jsonrpc"), 1);
    assert_str(buf_str(&d->out),
               STR("{\"v\":2,\"command\":\"convert\",\"inputs\":[{\"path\":\"a\",\"format\":"
                   "\"recording\"}],\"output\":null,\"format\":\"jsonrpc\",\"records\":3,"
                   "\"messages\":1,\"lost\":{\"time\":1,\"direction\":1,\"end\":1}}\n"));
}

static void lines_of_unknown_types_count_as_lost(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER("01") "{'type':'new'}\n" PING("1", "02"));
    assert_int_equal(cli_run(d, "mcpreel convert --lossless a -o b.jsonl"), 1);
    assert_int_equal(cli_run(d, "mcpreel --json convert a -o b.jsonl"), 0);
    assert_non_null(strstr(buf_z(&d->out), "\"lost\":{\"unknown-records\":1}"));
}

static void a_file_is_replaced_only_with_force_and_by_a_complete_one(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", ONE);
    assert_run(d, "mcpreel convert a.jsonl -o a.jsonl", 2, "",
               "mcpreel: cannot write 'a.jsonl': it exists already\n"
               "  choose another name, or add --force to replace it\n");
    assert_int_equal(cli_run(d, "mcpreel convert --force a.jsonl -o a.jsonl"), 0);
    assert_string_equal(cli_get_file(d, "a.jsonl"), ONE);
    fault_fail(&d->faults, FAULT_WRITE, d->faults.calls[FAULT_WRITE] + 1, 1, ENOSPC);
    assert_run(d, "mcpreel convert --force a.jsonl -o a.jsonl", 5, "",
               "mcpreel: cannot write 'a.jsonl': No space left on device\n");
    assert_string_equal(cli_get_file(d, "a.jsonl"), ONE);
    assert_int_equal(cli_count_files(d), 1);
}

static void an_unreadable_input_leaves_no_output(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", ONE "{'type':'message'}\n");
    assert_run(d, "mcpreel convert a.jsonl -o b.jsonl", 3, "",
               "mcpreel: a.jsonl:4:1: a message line without 'seq'\n"
               "  to save what can be read: mcpreel check --fix a.jsonl\n");
    assert_int_equal(cli_count_files(d), 1);
    assert_run(d, "mcpreel convert missing -o b.jsonl", 3, "",
               "mcpreel: cannot read 'missing': No such file or directory\n");
    assert_int_equal(cli_count_files(d), 1);
}

static void invalid_arguments_are_rejected(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", ONE);
    assert_run(d, "mcpreel convert -o b.jsonl", 2, "",
               "mcpreel: no file to convert\n"
               "  name one: mcpreel convert session.jsonl -o session.trace.jsonl\n");
    assert_run(d, "mcpreel convert a", 2, "",
               "mcpreel: no file to write\n  name one: mcpreel convert FILE -o OUT\n");
    assert_int_equal(cli_run(d, "mcpreel convert a -o b.txt"), 2);
    assert_non_null(strstr(buf_z(&d->err), "the name 'b.txt' does not say which format"));
    assert_non_null(strstr(buf_z(&d->err), "'mcpreel formats'"));
    assert_int_equal(cli_run(d, "mcpreel convert a -o -"), 2);
    assert_int_equal(cli_run(d, "mcpreel convert a -o b --to nothing"), 2);
    assert_non_null(strstr(buf_z(&d->err), "'nothing' is not one of recording, trace"));
    assert_int_equal(cli_run(d, "mcpreel convert - a - -o b.jsonl"), 2);
    assert_non_null(strstr(buf_z(&d->err), "'-' may be given only once"));
    assert_int_equal(cli_run(d, "mcpreel convert --lossless - -o - --to trace"), 2);
    assert_int_equal(cli_count_files(d), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(the_name_decides_the_format),
        WITH_CLI(lost_features_are_reported),
        WITH_CLI(lossless_rejects_a_loss_and_leaves_no_file),
        WITH_CLI(standard_output_gets_only_the_data),
        WITH_CLI(files_are_merged_by_time),
        WITH_CLI(the_report_has_input_and_output),
        WITH_CLI(lines_of_unknown_types_count_as_lost),
        WITH_CLI(a_file_is_replaced_only_with_force_and_by_a_complete_one),
        WITH_CLI(an_unreadable_input_leaves_no_output),
        WITH_CLI(invalid_arguments_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
