#include "cli.h"
#include "test.h"

static void a_file_is_needed(void **state)
{
    struct cli *d = *state;

    assert_run(d, "mcpreel run", 2, "",
               "mcpreel: missing FILE for 'run'\n  see 'mcpreel run --help'\n");
    assert_run(d, "mcpreel run none.yml", 3, "",
               "mcpreel: cannot read 'none.yml': No such file or directory\n");
    assert_run(d, "mcpreel record-scenarios none.yml", 3, "",
               "mcpreel: cannot read 'none.yml': No such file or directory\n");
}

static void options_and_formats_are_checked(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "s.yml", "target: {command: sh}\nscenarios: {a: {actions: []}}\n");
    assert_run(d, "mcpreel run --scenario b s.yml", 2, "",
               "mcpreel: 's.yml' has no scenario 'b'\n  it has: a\n");
    assert_run(d, "mcpreel run --header A:b s.yml", 2, "",
               "mcpreel: '--header' needs a target that is a URL\n");
    cli_put_file(d, "f.yml",
                 "target: {command: sh}\nformat: nosuch\nscenarios: {a: {actions: []}}\n");
    assert_int_equal(cli_run(d, "mcpreel run f.yml"), 3);
    assert_non_null(strstr(buf_z(&d->err), "f.yml:2:9: there is no format 'nosuch' to write"));
}

static void a_server_that_never_responds_is_exit_code_4(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "s.yml",
                 "target: {command: no-such-program-x}\nscenarios: {a: {actions: []}}\n");
    assert_run(d, "mcpreel -q run s.yml", 4, "",
               "mcpreel: cannot start server 'no-such-program-x': command not found in PATH\n"
               "  install it, or give its path\n");
    assert_int_equal(cli_run(d, "mcpreel -q run --verify s.yml"), 1);
    assert_non_null(strstr(buf_z(&d->out), "cannot read 'cassettes/a.json'"));
}

static void the_dead_key_output_is_a_warning(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "s.yml",
                 "target: {command: no-such-program-x}\noutput: a.json\n"
                 "scenarios: {a: {actions: []}}\n");
    assert_int_equal(cli_run(d, "mcpreel run s.yml"), 4);
    assert_non_null(
        strstr(buf_z(&d->err), "mcpreel: warning: s.yml:2:1: 'output' has no effect"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_file_is_needed),
        WITH_CLI(options_and_formats_are_checked),
        WITH_CLI(a_server_that_never_responds_is_exit_code_4),
        WITH_CLI(the_dead_key_output_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
