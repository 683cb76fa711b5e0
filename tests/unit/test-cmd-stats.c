#include "cli.h"
#include "test.h"

#define HEADER(upstream)                                                                       \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'" upstream "','thoughtjack_version':'0.3.0'}\n"
#define PING                                                                                   \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"                   \
    "'msg':{'id':1,'method':'ping'}}\n"
#define READ(uri)                                                                              \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"                   \
    "'msg':{'id':1,'method':'resources/read','params':{'uri':'" uri "'}}}\n"

static void the_rest_is_added_up_if_a_file_cannot_be_read(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a.jsonl", HEADER("u") PING);
    assert_run(
        d, "mcpreel stats missing.jsonl a.jsonl", 3,
        "1 recording in 1 file (222 bytes), 1 server; 1 file could not be read\n"
        "\n"
        "u: 1 recording, 1 call\n"
        "\n"
        "Requests from the client            calls errors       p50       p95       max   "
        "  bytes\n"
        "ping                                    1      0                                "
        "24 bytes\n"
        "  1 pending\n",
        "mcpreel: cannot read 'missing.jsonl': No such file or directory\n");
    assert_int_equal(cli_run(d, "mcpreel stats a.jsonl"), 0);
    assert_int_equal(cli_run(d, "mcpreel stats --json a.jsonl"), 0);
    assert_non_null(strstr(buf_z(&d->out), "\"command\":\"stats\""));
}

#define TOKEN "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"

static void secrets_in_names_are_redacted(void **state)
{
    static char filler[300];
    struct cli *d = *state;
    struct buf text;

    buf_init(&text, 1 << 16);
    memset(filler, 'x', 240);
    /* The token stands where a long name is cut. */
    buf_printf(&text, HEADER("server --key " TOKEN) READ("db://%s/" TOKEN), filler);
    cli_put_file(d, "a.jsonl", buf_z(&text));
    assert_int_equal(cli_run(d, "mcpreel stats --json a.jsonl"), 0);
    assert_null(strstr(buf_z(&d->out), "ghp_"));
    assert_non_null(strstr(buf_z(&d->out), "[REDACTED"));
    assert_int_equal(cli_run(d, "mcpreel stats --json --no-redact-defaults a.jsonl"), 0);
    assert_non_null(strstr(buf_z(&d->out), "--key " TOKEN));
    assert_int_equal(cli_run(d, "mcpreel stats --redact-patterns ( a.jsonl"), 2);
    buf_release(&text);
}

static void an_operand_is_required(void **state)
{
    struct cli *d = *state;

    assert_int_equal(cli_run(d, "mcpreel stats"), 2);
    assert_non_null(strstr(buf_z(&d->err), "missing FILE for 'stats'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(the_rest_is_added_up_if_a_file_cannot_be_read),
        WITH_CLI(secrets_in_names_are_redacted),
        WITH_CLI(an_operand_is_required),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
