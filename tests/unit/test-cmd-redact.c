#include <errno.h>

#include "cli.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define CALL(text, more)                                                                       \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s','msg':{ 'id':1.0,"  \
    "'method':'m', 'params':{'x':'" text "','y':'`u0041'}}" more "}\n"
#define FOOTER                                                                                 \
    "{'type':'footer','total_messages':1,'duration_ms':9,'client_messages':1,"                 \
    "'server_messages':0}\n"

static char *const env[] = { "KEY=hunter2hunter2", NULL };

static void redact_writes_a_copy_without_secrets(void **state)
{
    struct cli *d = *state;

    d->env = env;
    cli_put_file(d, "a", HEADER CALL("a hunter2hunter2 b", "") FOOTER);
    assert_run(d, "mcpreel redact --redact-env KEY a -o b", 0, "  message 1, /params/x: KEY\n",
               "mcpreel: redacted 1 secret; wrote 'b' (recording)\n");
    assert_string_equal(cli_get_file(d, "b"),
                        HEADER CALL("a [REDACTED:KEY] b", ",'redacted':['/params/x']") FOOTER);
    assert_int_equal(cli_run(d, "mcpreel redact --redact-env KEY b -o c"), 0);
    assert_string_equal(cli_get_file(d, "c"),
                        HEADER CALL("a [REDACTED:KEY] b", ",'redacted':['/params/x']") FOOTER);
}

static void a_cassette_gets_placeholders_without_names(void **state)
{
    struct cli *d = *state;

    d->env = env;
    cli_put_file(
        d, "a",
        HEADER CALL("hunter2hunter2", "") "{'type':'message','seq':2,'ts':"
                                          "'2026-01-01T00:00:03.000Z','dir':'s2c','msg':"
                                          "{'id':1,'result':'hunter2hunter2'}}\n" FOOTER);
    assert_int_equal(cli_run(d, "mcpreel redact --redact-env KEY --to cassette a -o b"), 0);
    assert_non_null(strstr(cli_get_file(d, "b"), "[REDACTED]"));
    assert_null(strstr(cli_get_file(d, "b"), "REDACTED:"));
    assert_null(strstr(cli_get_file(d, "b"), "hunter2"));
}

static void the_report_can_be_json(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER CALL("AKIAIOSFODNN7EXAMPLE", "") FOOTER);
    assert_run(
        d, "mcpreel redact --json a -o b", 0,
        "{\"v\":2,\"command\":\"redact\",\"input\":\"a\",\"output\":\"b\",\"format\":"
        "\"recording\",\"count\":1,\"secrets\":[{\"record\":2,\"type\":\"message\",\"seq\":1,"
        "\"member\":\"msg\",\"pointer\":\"/params/x\",\"rule\":\"aws-access-key\"}],"
        "\"lost\":{}}\n",
        "");
}

static void a_failed_copy_leaves_no_file(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER CALL("AKIAIOSFODNN7EXAMPLE", "") "{'type':'message'}\n" FOOTER);
    assert_int_equal(cli_run(d, "mcpreel redact a -o b"), 3);
    assert_int_equal(cli_count_files(d), 1);
    cli_put_file(d, "b", "old\n");
    assert_int_equal(cli_run(d, "mcpreel redact a -o b"), 2);
    assert_string_equal(cli_get_file(d, "b"), "old\n");
}

static void invalid_arguments_are_rejected(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER);
    assert_run(d, "mcpreel redact a", 2, "",
               "mcpreel: no file to write\n  name one: mcpreel redact FILE -o OUT\n");
    assert_int_equal(cli_run(d, "mcpreel redact --to nothing a -o b"), 2);
    assert_non_null(strstr(buf_z(&d->err), "'nothing' is not one of "));
    assert_int_equal(cli_run(d, "mcpreel redact --redact-env KEY a -o b"), 2);
    assert_int_equal(cli_count_files(d), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(redact_writes_a_copy_without_secrets),
        WITH_CLI(a_cassette_gets_placeholders_without_names),
        WITH_CLI(the_report_can_be_json),
        WITH_CLI(a_failed_copy_leaves_no_file),
        WITH_CLI(invalid_arguments_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
