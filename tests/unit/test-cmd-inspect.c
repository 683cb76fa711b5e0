#include <errno.h>

#include "cli.h"
#include "cmd/dispatch.h"
#include "temp-dir.h"
#include "test.h"

#define HEADER                                                                                 \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2026-11-15T21:00:00Z\","       \
    "\"upstream\":\"u\",\"thoughtjack_version\":\"\"}\n"
#define PING                                                                                   \
    "{\"type\":\"message\",\"seq\":1,\"ts\":\"2026-11-15T21:00:00Z\",\"dir\":\"c2s\","         \
    "\"msg\":{\"id\":1,\"method\":\"ping\"}}\n"
#define FOOTER                                                                                 \
    "{\"type\":\"footer\",\"total_messages\":1,\"client_messages\":1,\"server_messages\":0,"   \
    "\"duration_ms\":0}\n"

static void a_recording_is_described_on_standard_output(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(HEADER PING FOOTER));
    assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_OK);
    assert_int_equal(d->err.len, 0);
    assert_non_null(strstr(buf_z(&d->out), "recording 1.0, "));
    assert_non_null(strstr(buf_z(&d->out), "\nping  "));
    assert_non_null(strstr(buf_z(&d->out), "\nFindings   1 request without a response\n"));
    assert_int_equal(cli_run(d, "mcpreel inspect --json tape"), EXIT_OK);
    assert_non_null(
        strstr(buf_z(&d->out), "{\"v\":2,\"command\":\"inspect\",\"file\":{\"path\":\"tape\""));
    assert_non_null(strstr(buf_z(&d->out), "\"notes\":0}"));
}

/* The warning of the reader is written to standard error; the finding has the number of lost
 * bytes. */
static void a_damaged_end_is_a_finding_with_its_size(void **state)
{
    static const struct {
        struct str content;
        const char *finding;
    } cases[] = {
        { STR_INIT(HEADER PING "{\"type\":\"mess"), "13 bytes at the end are damaged" },
        { STR_INIT(HEADER PING FOOTER "\0\0\0"), "3 bytes at the end are damaged" },
        { STR_INIT(HEADER PING "{\"a\"\0\0\0"), "7 bytes at the end are damaged" },
    };
    struct cli *d = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        temp_dir_put("tape", cases[i].content);
        assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_OK);
        assert_non_null(strstr(buf_z(&d->out), cases[i].finding));
        assert_non_null(strstr(buf_z(&d->err), "used up to here\n"));
    }
}

static void a_warning_about_another_line_is_no_damaged_end(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(PING FOOTER));
    assert_int_equal(cli_run(d, "mcpreel inspect --json tape"), EXIT_OK);
    assert_non_null(strstr(buf_z(&d->out), "\"notes\":1}"));
    assert_non_null(strstr(buf_z(&d->out), "\"no-header\""));
    assert_null(strstr(buf_z(&d->out), "\"damaged-end\""));
}

static void blank_lines_at_the_end_are_no_damage(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(HEADER PING FOOTER "\n \n"));
    assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_OK);
    assert_null(strstr(buf_z(&d->out), "damaged"));
}

static void a_format_without_header_gives_no_finding(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
    assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_OK);
    assert_non_null(strstr(buf_z(&d->out), ": jsonrpc, "));
    assert_non_null(strstr(buf_z(&d->out), "\nFindings   none\n"));
}

static void an_unreadable_file_exits_with_3_and_no_output(void **state)
{
    static const struct str broken[] = {
        STR_INIT(""),
        STR_INIT("no recording"),
        STR_INIT(HEADER "{\"type\":}\n" PING),
        STR_INIT(HEADER "{\"type\":\"message\"}\n"),
    };
    struct cli *d = *state;

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        temp_dir_put("tape", broken[i]);
        assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_INPUT);
        assert_int_equal(d->out.len, 0);
        assert_non_null(strstr(buf_z(&d->err), "tape"));
    }
    assert_int_equal(cli_run(d, "mcpreel inspect /nowhere/at/all"), EXIT_INPUT);
    assert_int_equal(cli_run(d, "mcpreel inspect /tmp"), EXIT_INPUT);
    assert_int_equal(d->out.len, 0);
}

static void inspect_accepts_exactly_one_file(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(HEADER));
    assert_int_equal(cli_run(d, "mcpreel inspect"), EXIT_USAGE);
    assert_int_equal(cli_run(d, "mcpreel inspect tape tape"), EXIT_USAGE);
    assert_int_equal(d->out.len, 0);
}

static void an_io_error_exits_with_5(void **state)
{
    struct cli *d = *state;

    temp_dir_put("tape", STR(HEADER PING FOOTER));
    d->out_fails = ENOSPC;
    assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_IO);
    assert_non_null(strstr(buf_z(&d->err), "standard output"));
    d->out_fails = 0;
    fault_fail(&d->faults, FAULT_READ, 1, FAULT_FOREVER, EIO);
    assert_int_equal(cli_run(d, "mcpreel inspect tape"), EXIT_IO);
    assert_int_equal(d->out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_recording_is_described_on_standard_output),
        WITH_CLI(a_damaged_end_is_a_finding_with_its_size),
        WITH_CLI(a_warning_about_another_line_is_no_damaged_end),
        WITH_CLI(blank_lines_at_the_end_are_no_damage),
        WITH_CLI(a_format_without_header_gives_no_finding),
        WITH_CLI(an_unreadable_file_exits_with_3_and_no_output),
        WITH_CLI(inspect_accepts_exactly_one_file),
        WITH_CLI(an_io_error_exits_with_5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
