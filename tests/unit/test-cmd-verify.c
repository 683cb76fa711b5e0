#include "cli.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define MESSAGE(seq, dir, msg)                                                                 \
    "{'type':'message','seq':" seq ",'ts':'2026-01-01T00:00:02.000Z','dir':'" dir              \
    "','msg':" msg "}\n"
#define INITIALIZE                                                                             \
    HEADER MESSAGE("1", "c2s", "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{}}")   \
        MESSAGE("2", "s2c",                                                                    \
                "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25'}}")
#define CALL(result)                                                                           \
    MESSAGE("3", "c2s",                                                                        \
            "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'t'}}")            \
    MESSAGE("4", "s2c", "{'jsonrpc':'2.0','id':1,'result':" result "}")

static void a_recording_and_one_server_are_needed(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", INITIALIZE);
    assert_run(d, "mcpreel verify", 2, "",
               "mcpreel: no recording to verify\n"
               "  name one: mcpreel verify session.jsonl -- COMMAND\n");
    assert_run(d, "mcpreel verify a.jsonl", 2, "",
               "mcpreel: no server to verify\n"
               "  say how to start it: mcpreel verify session.jsonl -- COMMAND ARGS…\n"
               "  or where it is: --url URL\n");
    assert_run(d, "mcpreel verify --url http://127.0.0.1:1 a.jsonl -- sh", 2, "",
               "mcpreel: two servers to verify\n"
               "  give one: '-- COMMAND', '--target-stdio', '--url' or '--target'\n");
    assert_run(d, "mcpreel verify --cassette a.jsonl a.jsonl -- sh", 2, "",
               "mcpreel: two recordings to verify: 'a.jsonl' and '--cassette a.jsonl'\n");
}

static void options_that_have_no_effect_are_rejected(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", INITIALIZE);
    assert_int_equal(cli_run(d, "mcpreel verify --wait-ready 1s a.jsonl -- sh"), 2);
    assert_int_equal(
        cli_run(d, "mcpreel verify --target-env A=b --url http://127.0.0.1:1 a.jsonl"), 2);
}

static void bad_rules_are_named(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", INITIALIZE);
    cli_put_file(d, "rules.json", "{'ignore_path':[]}");
    assert_int_equal(cli_run(d, "mcpreel verify --ignore-paths x a.jsonl -- sh"), 2);
    assert_int_equal(cli_run(d, "mcpreel verify --only is:nothing a.jsonl -- sh"), 2);
    assert_int_equal(cli_run(d, "mcpreel verify --rules rules.json a.jsonl -- sh"), 2);
    assert_non_null(strstr(buf_z(&d->err), "'rules.json' has no valid rules"));
}

static void the_calls_to_update_are_numbers_of_one_recording(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", INITIALIZE);
    assert_run(d, "mcpreel verify --update=x a.jsonl -- sh", 2, "",
               "mcpreel: option '--update': 'x' is not the number of a call\n");
    assert_run(d, "mcpreel verify --update 8 a.jsonl -- sh", 3, "",
               "mcpreel: cannot read '8': No such file or directory\n"
               "  to update call 8 only: --update=8\n");
    assert_run(d, "mcpreel verify --update=1 a.jsonl a.jsonl -- sh", 2, "",
               "mcpreel: '--update=1' takes one recording, not 2\n");
    assert_run(d, "mcpreel verify --report=r --dry-run a.jsonl", 2, "",
               "mcpreel: '--dry-run' cannot be combined with '--report'\n");
    assert_run(d, "mcpreel verify --report=b.jsonl a.jsonl b.jsonl -- sh", 2, "",
               "mcpreel: the report cannot be written to 'b.jsonl': the command reads or "
               "writes that file\n");
}

static void a_recording_without_requests_is_unusable(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", HEADER);
    assert_run(d, "mcpreel verify a.jsonl -- sh", 3, "",
               "mcpreel: 'a.jsonl' has no requests to verify\n"
               "  'mcpreel show a.jsonl' lists what it has\n");
}

static void a_dry_run_lists_requests_and_needs_no_server(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", INITIALIZE CALL("{}"));
    assert_run(d, "mcpreel verify --dry-run a.jsonl", 0,
               "  1  #1 initialize\n  2  #3 tools/call t\n", "");
    assert_run(d, "mcpreel verify --dry-run --skip tool:t a.jsonl", 0, "  1  #1 initialize\n",
               "");
}

static void a_dry_run_says_what_cannot_be_sent(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl",
                 INITIALIZE MESSAGE("3", "c2s",
                                    "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':"
                                    "{'name':'t','arguments':{'a':'[REDACTED:NOT_SET_18]'}}}")
                     MESSAGE("4", "s2c", "{'jsonrpc':'2.0','id':1,'result':{}}")
                         MESSAGE("5", "c2s",
                                 "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':"
                                 "{'name':'t'}}"));
    cli_put_file(d, "b.jsonl", INITIALIZE);
    assert_run(d, "mcpreel verify --dry-run a.jsonl b.jsonl", 0,
               "a.jsonl\n"
               "  1  #1 initialize\n"
               "  2  #3 tools/call t  skipped: a redacted value is needed: set the environment "
               "variable NOT_SET_18\n"
               "  3  #5 tools/call t  skipped: it was recorded without a response\n"
               "b.jsonl\n"
               "  1  #1 initialize\n",
               "");
}

static void a_server_that_cannot_be_started_is_one_error(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", INITIALIZE CALL("{}"));
    assert_int_equal(cli_run(d, "mcpreel verify a.jsonl -- ./nothing-here"), 4);
    assert_int_equal(d->out.len, 0);
    assert_non_null(strstr(buf_z(&d->err), "nothing-here"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_recording_and_one_server_are_needed),
        WITH_CLI(options_that_have_no_effect_are_rejected),
        WITH_CLI(bad_rules_are_named),
        WITH_CLI(the_calls_to_update_are_numbers_of_one_recording),
        WITH_CLI(a_recording_without_requests_is_unusable),
        WITH_CLI(a_dry_run_lists_requests_and_needs_no_server),
        WITH_CLI(a_dry_run_says_what_cannot_be_sent),
        WITH_CLI(a_server_that_cannot_be_started_is_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
