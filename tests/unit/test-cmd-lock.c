#include "cli.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define MESSAGE(seq, dir, msg)                                                                 \
    "{'type':'message','seq':" seq ",'ts':'2026-01-01T00:00:02.000Z','dir':'" dir              \
    "','msg':" msg "}\n"
#define RECORDING(tools)                                                                       \
    HEADER MESSAGE("1", "c2s", "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{}}")   \
        MESSAGE("2", "s2c",                                                                    \
                "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25',"            \
                "'capabilities':{'tools':{}}}}")                                               \
            MESSAGE("3", "c2s", "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{}}")  \
                MESSAGE("4", "s2c", "{'jsonrpc':'2.0','id':1,'result':{'tools':" tools "}}")

#define LOCK                                                                                   \
    "{\n  'mcpreelLock': 1,\n  'protocolVersion': '2025-11-25',\n  'capabilities': {\n"        \
    "    'tools': {}\n  },\n  'tools': [\n    {\n      'name': 'a'\n    }\n  ],\n"             \
    "  'resources': [],\n  'resourceTemplates': [],\n  'prompts': []\n}\n"

static void a_recording_is_locked_and_checked(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[{'name':'a'}]"));
    cli_put_file(d, "b.jsonl", RECORDING("[]"));
    assert_run(d, "mcpreel lock l.json a.jsonl", 0,
               "wrote l.json: 1 tool, 0 resources, 0 resource templates, 0 prompts\n", "");
    assert_string_equal(cli_get_file(d, "l.json"), LOCK);
    assert_run(d, "mcpreel lock --check l.json a.jsonl", 0, "l.json → a.jsonl: no changes\n",
               "");
    assert_run(d, "mcpreel lock --check l.json b.jsonl", 1,
               "l.json → b.jsonl: 1 breaking\n"
               "  breaking  tool 'a' was removed\n"
               "            (tool.removed)\n",
               "");
    assert_int_equal(cli_run(d, "mcpreel lock --check --fail-on never l.json b.jsonl"), 0);
    assert_int_equal(cli_run(d, "mcpreel lock l.json b.jsonl"), 0); /* a lock is replaced */
    assert_int_equal(cli_run(d, "mcpreel lock --check l.json b.jsonl"), 0);
}

static void several_definitions_of_a_name_are_told(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[{'name':'a'}]"));
    cli_put_file(d, "b.jsonl", RECORDING("[{'name':'a'},{'name':'a','title':'A'},{'x':1}]"));
    assert_run(d, "mcpreel lock l.json a.jsonl", 0,
               "wrote l.json: 1 tool, 0 resources, 0 resource templates, 0 prompts\n", "");
    assert_run(
        d, "mcpreel lock --check --fail-on security l.json b.jsonl", 1,
        "l.json → b.jsonl: 2 security\n"
        "  security  tool: definitions without a name were added to the list\n"
        "            (list.nameless.added)\n"
        "  security  tool 'a': another definition of the same name was added; clients "
        "may use either\n"
        "            (list.repeated.added)\n",
        "mcpreel: warning: b.jsonl: the tool 'a' has 2 different definitions; clients may use "
        "any of them\n"
        "mcpreel: warning: b.jsonl: 1 definition of tools/list has no name\n");
    assert_int_equal(cli_run(d, "mcpreel lock l.json b.jsonl"), 0);
    assert_non_null(strstr(buf_z(&d->err), "has 2 different definitions"));
    assert_run(d, "mcpreel --quiet lock --check l.json b.jsonl", 0,
               "l.json → b.jsonl: no changes\n", "");
    assert_int_equal(cli_run(d, "mcpreel diff a.jsonl b.jsonl"), 0);
    assert_non_null(strstr(buf_z(&d->out), "contract: 2 security\n"));
}

static void another_file_is_not_replaced_without_force(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[]"));
    cli_put_file(d, "other", "important");
    assert_int_equal(cli_run(d, "mcpreel lock other a.jsonl"), 2);
    assert_string_equal(cli_get_file(d, "other"), "important");
    assert_int_equal(cli_run(d, "mcpreel lock --force other a.jsonl"), 0);
}

static void one_source_is_needed(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[]"));
    assert_run(d, "mcpreel lock l.json", 2, "",
               "mcpreel: no server to lock\n"
               "  give one: '-- COMMAND', '--url URL' or a recording\n");
    assert_run(d, "mcpreel lock l.json a.jsonl -- sh", 2, "",
               "mcpreel: two servers to lock\n"
               "  give one: '-- COMMAND', '--url URL' or a recording\n");
    assert_int_equal(cli_run(d, "mcpreel lock"), 2);
}

static void options_that_have_no_effect_are_rejected(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[]"));
    assert_int_equal(cli_run(d, "mcpreel lock --fail-on risky l.json a.jsonl"), 2);
    assert_int_equal(cli_run(d, "mcpreel lock --timeout 1s l.json a.jsonl"), 2);
    assert_int_equal(cli_run(d, "mcpreel lock --session 1 l.json -- sh"), 2);
    assert_run(d, "mcpreel lock --check --fail-on breaking-used l.json a.jsonl", 2, "",
               "mcpreel: '--fail-on breaking-used' needs recorded calls: --calls RECORDING\n");
    assert_int_equal(cli_run(d, "mcpreel lock --protocol-version 1999-01-01 l.json -- sh"), 2);
}

static void files_that_cannot_be_used_end_with_3(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[]"));
    cli_put_file(d, "pages.jsonl", RECORDING("[],'nextCursor':'x'"));
    cli_put_file(d, "empty.jsonl",
                 HEADER MESSAGE("1", "c2s", "{'jsonrpc':'2.0','method':'x'}"));
    cli_put_file(d, "v2.json", "{'mcpreelLock':2}");
    cli_put_file(d, "no.json", "{}");
    assert_run(d, "mcpreel lock --check v2.json a.jsonl", 3, "",
               "mcpreel: cannot use 'v2.json': lock file of version 2; this mcpreel reads "
               "version 1\n"
               "  write it again with this mcpreel, or use the one that wrote it\n");
    assert_int_equal(cli_run(d, "mcpreel lock --check no.json a.jsonl"), 3);
    assert_run(d, "mcpreel lock l.json pages.jsonl", 3, "",
               "mcpreel: 'pages.jsonl' has not all pages of tools/list\n"
               "  lock the server itself: mcpreel lock l.json -- COMMAND\n");
    assert_run(d, "mcpreel lock l.json empty.jsonl", 3, "",
               "mcpreel: 'empty.jsonl' has no result of initialize or of a list\n"
               "  record a session in which the client lists the tools\n");
    assert_int_equal(cli_count_files(d), 5);
}

static void a_server_that_cannot_be_started_ends_with_4(void **state)
{
    struct cli *d = *state;

    assert_int_equal(cli_run(d, "mcpreel lock l.json -- /nowhere/at/all"), 4);
    assert_int_equal(cli_run(d, "mcpreel lock l.json -- /bin/false"), 4);
    assert_int_equal(cli_count_files(d), 0);
}

static void rules_allow_changes(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "l.json", LOCK);
    cli_put_file(d, "b.jsonl", RECORDING("[]"));
    cli_put_file(d, "rules.json",
                 "{'allow':[{'rule':'tool.removed','tool':'a',"
                 "'until':'9999-12-31','reason':'gone'}]}");
    cli_put_file(d, "old.json",
                 "{'allow':[{'rule':'tool.removed','until':'2020-12-31',"
                 "'reason':'gone'}]}");
    cli_put_file(d, "bad.json",
                 "{'allow':[{'rule':'tool.gone','until':'2020-12-31',"
                 "'reason':'gone'}]}");
    assert_int_equal(cli_run(d, "mcpreel lock --check --rules rules.json l.json b.jsonl"), 0);
    assert_int_equal(cli_run(d, "mcpreel lock --check --rules old.json l.json b.jsonl"), 1);
    assert_non_null(strstr(buf_z(&d->err), "1 entry of 'allow' has ended"));
    assert_int_equal(cli_run(d, "mcpreel lock --check --rules bad.json l.json b.jsonl"), 2);
}

static void reports_are_written(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "l.json", LOCK);
    cli_put_file(d, "b.jsonl", RECORDING("[]"));
    assert_int_equal(cli_run(d, "mcpreel lock --check --report r.json --report junit=r.xml "
                                "--report markdown=r.md --report github=r.txt l.json b.jsonl"),
                     1);
    assert_non_null(strstr(cli_get_file(d, "r.json"), "'rule':'tool.removed'"));
    assert_non_null(strstr(cli_get_file(d, "r.xml"), "<failure type='tool.removed'"));
    assert_non_null(strstr(cli_get_file(d, "r.md"), "### MCP lock: 1 breaking\n"));
    assert_non_null(strstr(cli_get_file(d, "r.md"), "mcpreel lock l.json b.jsonl"));
    cli_put_file(d, "b$.jsonl", RECORDING("[]"));
    assert_int_equal(
        cli_run(d, "mcpreel lock --check --session 1 --report markdown=s.md l.json b$.jsonl"),
        1);
    assert_non_null(
        strstr(cli_get_file(d, "s.md"), "mcpreel lock --session 1 l.json 'b$.jsonl'"));
    assert_int_equal(cli_run(d, "mcpreel lock other.json b.jsonl"), 0);
    assert_int_equal(
        cli_run(d, "mcpreel lock --check --report markdown=o.md l.json other.json"), 1);
    assert_non_null(strstr(cli_get_file(d, "o.md"), "accept: `cp other.json l.json`"));
    assert_non_null(strstr(cli_get_file(d, "r.txt"), "::error file=l.json,line=8,"));
    assert_int_equal(cli_run(d, "mcpreel lock --check --report l.json l.json b.jsonl"), 2);
}

static void json_is_for_programs(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", RECORDING("[{'name':'a'}]"));
    assert_run(d, "mcpreel lock --json l.json a.jsonl", 0,
               "{\"v\":2,\"command\":\"lock\",\"file\":\"l.json\",\"source\":\"a.jsonl\","
               "\"protocol_version\":\"2025-11-25\",\"tools\":1,\"resources\":0,"
               "\"resource_templates\":0,\"prompts\":0}\n",
               "");
    assert_int_equal(cli_run(d, "mcpreel lock - a.jsonl"), 0);
    assert_non_null(strstr(buf_z(&d->out), "\"mcpreelLock\": 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_recording_is_locked_and_checked),
        WITH_CLI(several_definitions_of_a_name_are_told),
        WITH_CLI(another_file_is_not_replaced_without_force),
        WITH_CLI(one_source_is_needed),
        WITH_CLI(options_that_have_no_effect_are_rejected),
        WITH_CLI(files_that_cannot_be_used_end_with_3),
        WITH_CLI(a_server_that_cannot_be_started_ends_with_4),
        WITH_CLI(rules_allow_changes),
        WITH_CLI(reports_are_written),
        WITH_CLI(json_is_for_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
