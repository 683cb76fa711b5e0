#include <errno.h>

#include "cli.h"
#include "cmd/dispatch.h"
#include "temp-dir.h"
#include "test.h"

#define HEADER                                                                                 \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2026-11-15T21:00:00Z\","       \
    "\"upstream\":\"u\",\"thoughtjack_version\":\"\"}\n"
#define MESSAGE(seq, dir, msg)                                                                 \
    "{\"type\":\"message\",\"seq\":" seq ",\"ts\":\"2026-11-15T21:00:00Z\",\"dir\":\"" dir     \
    "\",\"msg\":" msg "}\n"
#define SESSION                                                                                \
    HEADER MESSAGE("1", "c2s", "{\"id\":1,\"method\":\"ping\"}")                               \
        MESSAGE("2", "s2c", "{\"id\":1,\"result\":{}}")                                        \
            MESSAGE("3", "c2s", "{\"id\":2,\"method\":\"tools/list\"}")

static void operations_are_listed_and_one_is_shown(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(SESSION));
    assert_int_equal(cli_run(d, "mcpreel show tape"), EXIT_OK);
    assert_non_null(strstr(buf_z(&d->out), "ping"));
    assert_non_null(strstr(buf_z(&d->out), "pending"));
    assert_int_equal(cli_run(d, "mcpreel show tape:1"), EXIT_OK);
    assert_non_null(strstr(buf_z(&d->out), "\"result\": {}"));
    assert_null(strstr(buf_z(&d->out), "tools/list"));
    assert_int_equal(cli_run(d, "mcpreel show tape:#3"), EXIT_OK);
    assert_non_null(strstr(buf_z(&d->out), "\"method\": \"tools/list\""));
    assert_int_equal(cli_run(d, "mcpreel show tape:3 -m"), EXIT_OK);
    assert_non_null(strstr(buf_z(&d->out), "\"method\": \"tools/list\""));
    assert_int_equal(cli_run(d, "mcpreel show tape:3"), EXIT_USAGE);
    assert_non_null(strstr(buf_z(&d->err), "has no operation 3, only 2"));
}

static void raw_bytes_are_escaped_on_a_terminal(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(SESSION));
    d->tty = true;
    assert_int_equal(cli_run(d, "mcpreel show tape --raw"), EXIT_USAGE);
    assert_int_equal(cli_run(d, "mcpreel show tape:1 --raw"), EXIT_USAGE);
    assert_int_equal(d->out.len, 0);
    d->tty = false;
    assert_int_equal(cli_run(d, "mcpreel show tape:1 --raw"), EXIT_OK);
    assert_str(buf_str(&d->out),
               STR("{\"id\":1,\"method\":\"ping\"}\n{\"id\":1,\"result\":{}}\n"));
}

static void a_closed_reader_is_no_error(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(SESSION));
    d->out_fails = EPIPE;
    assert_int_equal(cli_run(d, "mcpreel show tape"), EXIT_OK);
    assert_int_equal(cli_run(d, "mcpreel show tape:1"), EXIT_OK);
    assert_int_equal(d->err.len, 0);
    d->out_fails = ENOSPC;
    assert_int_equal(cli_run(d, "mcpreel show tape"), EXIT_IO);
    assert_non_null(strstr(buf_z(&d->err), "standard output"));
}

static void readable_operations_are_shown_before_the_error(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(SESSION "{\"type\":}\n" MESSAGE("4", "c2s", "{}")));
    assert_int_equal(cli_run(d, "mcpreel show tape"), EXIT_INPUT);
    assert_non_null(strstr(buf_z(&d->err), ":5:"));
    assert_non_null(strstr(buf_z(&d->out), "ping"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(operations_are_listed_and_one_is_shown),
        WITH_CLI(raw_bytes_are_escaped_on_a_terminal),
        WITH_CLI(a_closed_reader_is_no_error),
        WITH_CLI(readable_operations_are_shown_before_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
