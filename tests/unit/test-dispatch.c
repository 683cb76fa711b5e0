#include "cmd/dispatch.h"

#include "fake-cli.h"
#include "test.h"

struct seen_row {
    const char *line, *env, *out, *err;
    int code;
};

static void check_rows(const struct seen_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct seen_row *r = &rows[i];
        char *env[] = { (char *)(uintptr_t)r->env, NULL };
        struct fake_cli f;
        int code;

        fake_cli_init(&f, env);
        code = fake_cli_run(&f, r->line);
        if (code != r->code || !str_eq(buf_str(&f.out), str_z(r->out)) ||
            !str_eq(buf_str(&f.err), str_z(r->err)))
            fail_msg("'%s' with %s:\ngot  %d out '%s' err '%s'\nwant %d out '%s' err '%s'",
                     r->line, r->env ? r->env : "no variable", code, buf_z(&f.out),
                     buf_z(&f.err), r->code, r->out, r->err);
        fake_cli_release(&f);
    }
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))
#define TAPING "mcpreel: taping\n"

static void global_options_may_stand_before_and_after_the_command(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel record", NULL, "\n", TAPING, 0 },
        { "mcpreel -q record", NULL, "quiet \n", "", 0 },
        { "mcpreel record -q", NULL, "quiet \n", "", 0 },
        { "x/mcpreel -v record -v", NULL, "verbose=2 \n", TAPING "mcpreel: as x/mcpreel\n", 0 },
        { "mcpreel --color always record", NULL, "color \n", TAPING, 0 },
        { "mcpreel --json record a -o b", NULL, "json output=b <a>\n", TAPING, 0 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void the_command_line_overrides_the_environment(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel record", "MCPREEL_LABEL=x", "label=x \n", TAPING, 0 },
        { "mcpreel record --label y", "MCPREEL_LABEL=x", "label=y \n", TAPING, 0 },
        { "mcpreel record", "MCPREEL_QUIET=1", "quiet \n", "", 0 },
        { "mcpreel record -v", "MCPREEL_QUIET=1", "verbose=1 \n",
          TAPING "mcpreel: as mcpreel\n", 0 },
        { "mcpreel record -q", "MCPREEL_VERBOSE=2", "quiet \n", "", 0 },
        { "mcpreel record --color never", "FORCE_COLOR=1", "\n", TAPING, 0 },
        { "mcpreel record", "FORCE_COLOR=1", "color \n", TAPING, 0 },
        { "mcpreel record", "MCPREEL_COLOR=always", "color \n", TAPING, 0 },
        { "mcpreel record", "MCPREEL_PORT=x", "",
          "mcpreel: variable 'MCPREEL_PORT': 'x' is not a whole number\n"
          "  see 'mcpreel record --help'\n",
          2 },
        { "mcpreel record --port 1", "MCPREEL_PORT=x", "port=1 \n", TAPING, 0 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void words_after_two_dashes_are_the_server_command(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel record -- sh -q --json", NULL, "-- sh -q --json\n", TAPING, 0 },
        { "mcpreel -- sh -q", NULL, "-- sh -q\n", TAPING, 0 },
        { "mcpreel -q -- sh -- x", NULL, "quiet -- sh -- x\n", "", 0 },
        { "mcpreel record a -o b c -- sh", NULL, "output=b <a><c>-- sh\n", TAPING, 0 },
        { "mcpreel record --", NULL, "",
          "mcpreel: the command of the server is missing after '--'\n"
          "  see 'mcpreel record --help'\n",
          2 },
        { "mcpreel plain a -- b", NULL, "",
          "mcpreel: 'plain' starts no server, so '--' has no meaning\n"
          "  see 'mcpreel plain --help'\n",
          2 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void a_usage_error_is_printed_once_with_a_hint_to_help(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel recrod", NULL, "",
          "mcpreel: unknown command 'recrod'\n  did you mean 'record'?\n"
          "  see 'mcpreel --help'\n",
          2 },
        { "mcpreel record --lable x --prot 1", NULL, "",
          "mcpreel: unknown option '--lable' for 'record'\n  did you mean '--label'?\n"
          "  see 'mcpreel record --help'\n",
          2 },
        { "mcpreel --lable recrod", NULL, "",
          "mcpreel: unknown option '--lable'\n"
          "  the options of a command follow its name\n  see 'mcpreel --help'\n",
          2 },
        { "mcpreel plain", NULL, "",
          "mcpreel: missing FILE for 'plain'\n  see 'mcpreel plain --help'\n", 2 },
        { "mcpreel --quiet", NULL, "",
          "mcpreel: a command is missing\n  see 'mcpreel --help'\n", 2 },
        { "mcpreel -vq record", NULL, "",
          "mcpreel: '--quiet' and '--verbose' cannot be combined\n"
          "  see 'mcpreel record --help'\n",
          2 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void errors_are_json_if_json_is_on_the_command_line(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel recrod --json", NULL, "",
          "{\"error\":{\"kind\":\"usage\",\"message\":\"unknown command 'recrod'\","
          "\"hint\":\"did you mean 'record'?\\nsee 'mcpreel --help'\"}}\n",
          2 },
        { "mcpreel record --bad --json", NULL, "",
          "{\"error\":{\"kind\":\"usage\",\"message\":\"unknown option '--bad' for 'record'\","
          "\"hint\":\"see 'mcpreel record --help'\"}}\n",
          2 },
        { "mcpreel record --label trouble", "MCPREEL_JSON=yes", "",
          "{\"error\":{\"kind\":\"server\",\"message\":\"cannot start 'it'\","
          "\"hint\":\"say \\\"please\\\"\\ntwice\"}}\n",
          4 },
        { "mcpreel -vq record --json", NULL, "",
          "{\"error\":{\"kind\":\"usage\",\"message\":\"'--quiet' and '--verbose' cannot be "
          "combined\",\"hint\":\"see 'mcpreel record --help'\"}}\n",
          2 },
        { "mcpreel record -- --json", "MCPREEL_PORT=0", "",
          "mcpreel: variable 'MCPREEL_PORT': '0' is not from 1 to 65535\n"
          "  see 'mcpreel record --help'\n",
          2 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void the_command_decides_the_exit_code(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel record --label findings", NULL, "", "", 1 },
        { "mcpreel record --label trouble", NULL, "",
          "mcpreel: cannot start 'it'\n  say \"please\"\n  twice\n", 4 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void an_option_of_the_command_replaces_the_global_one(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel plain -v a -q", NULL, "a", "", 0 },
        { "mcpreel plain --verbose a", NULL, "a", "", 0 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void help_and_version_work_beside_other_errors(void **state)
{
    static const struct {
        const char *line, *starts;
    } rows[] = {
        { "mcpreel", "mcpreel - record, replay" },
        { "mcpreel --help", "mcpreel records the traffic" },
        { "mcpreel -h record", "Tapes what is said." },
        { "mcpreel record -h", "Tapes what is said." },
        { "mcpreel record --bogus --port x --help", "Tapes what is said." },
        { "mcpreel plain --help", "Prints the name" },
        { "mcpreel --version", "mcpreel " MCPREEL_VERSION "\n" },
        { "mcpreel -V", "mcpreel " MCPREEL_VERSION "\n" },
        { "mcpreel record --version", "mcpreel " MCPREEL_VERSION "\n" },
    };
    char *env[] = { "MCPREEL_PORT=x", "MCPREEL_COLOR=never", NULL };
    struct fake_cli f;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_cli_init(&f, env);
        assert_int_equal(fake_cli_run(&f, rows[i].line), 0);
        if (!str_starts(buf_str(&f.out), str_z(rows[i].starts)))
            fail_msg("'%s' starts '%s'", rows[i].line, buf_z(&f.out));
        assert_int_equal(f.err.len, 0);
        fake_cli_release(&f);
    }
}

static void help_does_not_hide_an_unknown_command(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel xyzzy --help", NULL, "",
          "mcpreel: unknown command 'xyzzy'\n  see 'mcpreel --help'\n", 2 },
        { "mcpreel -V xyzzy", NULL, "",
          "mcpreel: unknown command 'xyzzy'\n  see 'mcpreel --help'\n", 2 },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
    static const char *const lines[] = {
        "mcpreel",
        "mcpreel --help",
        "mcpreel --version",
        "mcpreel record",
        "mcpreel help record",
        "mcpreel completion bash",
        "mcpreel --json version",
    };
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        fake_cli_init(&f, env);
        f.out_fails = true;
        assert_int_equal(fake_cli_run(&f, lines[i]), EXIT_IO);
        assert_non_null(strstr(buf_z(&f.err), "cannot write 'standard output': "));
        fake_cli_release(&f);
    }
}

static void colours_are_decided_for_each_stream(void **state)
{
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    fake_cli_init(&f, env);
    f.dispatch.out_is_tty = true;
    assert_int_equal(fake_cli_run(&f, "mcpreel record"), 0);
    assert_str(buf_str(&f.out), STR("color \n"));
    f.dispatch.out_is_tty = false;
    f.dispatch.err_is_tty = true;
    assert_int_equal(fake_cli_run(&f, "mcpreel record --bad"), 2);
    assert_non_null(strstr(buf_z(&f.err), "\x1b["));
    assert_int_equal(fake_cli_run(&f, "mcpreel record --bad --color=never"), 2);
    assert_null(strstr(buf_z(&f.err), "\x1b["));
    fake_cli_release(&f);
}

static void an_empty_argv_is_like_one_without_arguments(void **state)
{
    char *env[] = { NULL }, *argv[] = { NULL };
    struct fake_cli f;
    (void)state;

    fake_cli_init(&f, env);
    assert_int_equal(dispatch_run(&f.dispatch, 0, argv), 0);
    assert_true(str_starts(buf_str(&f.out), STR("mcpreel - ")));
    fake_cli_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_options_may_stand_before_and_after_the_command),
        cmocka_unit_test(the_command_line_overrides_the_environment),
        cmocka_unit_test(words_after_two_dashes_are_the_server_command),
        cmocka_unit_test(a_usage_error_is_printed_once_with_a_hint_to_help),
        cmocka_unit_test(errors_are_json_if_json_is_on_the_command_line),
        cmocka_unit_test(the_command_decides_the_exit_code),
        cmocka_unit_test(an_option_of_the_command_replaces_the_global_one),
        cmocka_unit_test(help_and_version_work_beside_other_errors),
        cmocka_unit_test(help_does_not_hide_an_unknown_command),
        cmocka_unit_test(output_that_cannot_be_written_is_an_error),
        cmocka_unit_test(colours_are_decided_for_each_stream),
        cmocka_unit_test(an_empty_argv_is_like_one_without_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
