#include "fake-cli.h"
#include "test.h"

static void each_shell_gets_its_own_script(void **state)
{
    static const struct {
        const char *line, *starts;
    } rows[] = {
        { "mcpreel completion bash", "# bash completion for mcpreel" },
        { "mcpreel completion zsh", "#compdef mcpreel\n" },
        { "mcpreel completion fish", "# fish completion for mcpreel" },
    };
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_cli_init(&f, env);
        assert_int_equal(fake_cli_run(&f, rows[i].line), 0);
        assert_true(str_starts(buf_str(&f.out), str_z(rows[i].starts)));
        fake_cli_release(&f);
    }
}

static void another_shell_or_none_is_an_error(void **state)
{
    static const struct {
        const char *line, *err;
    } rows[] = {
        { "mcpreel completion",
          "mcpreel: missing SHELL for 'completion'\n  see 'mcpreel completion --help'\n" },
        { "mcpreel completion tcsh", "mcpreel: 'tcsh' is not one of bash, zsh, fish\n"
                                     "  see 'mcpreel completion --help'\n" },
        { "mcpreel completion bsh",
          "mcpreel: 'bsh' is not one of bash, zsh, fish\n  did you mean 'bash'?\n"
          "  see 'mcpreel completion --help'\n" },
        { "mcpreel completion bash zsh",
          "mcpreel: unexpected 'zsh' for 'completion'\n  see 'mcpreel completion --help'\n" },
    };
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_cli_init(&f, env);
        assert_int_equal(fake_cli_run(&f, rows[i].line), 2);
        assert_str(buf_str(&f.err), str_z(rows[i].err));
        assert_int_equal(f.out.len, 0);
        fake_cli_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shell_gets_its_own_script),
        cmocka_unit_test(another_shell_or_none_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
