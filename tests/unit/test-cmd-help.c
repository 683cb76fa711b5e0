#include "fake-cli.h"
#include "test.h"

struct seen_row {
    const char *line, *starts;
};

static void check_rows(const struct seen_row *rows, size_t count)
{
    char *env[] = { NULL };
    struct fake_cli f;

    for (size_t i = 0; i < count; i++) {
        fake_cli_init(&f, env);
        assert_int_equal(fake_cli_run(&f, rows[i].line), 0);
        if (!str_starts(buf_str(&f.out), str_z(rows[i].starts)))
            fail_msg("'%s' starts\n%s", rows[i].line, buf_z(&f.out));
        assert_int_equal(f.err.len, 0);
        fake_cli_release(&f);
    }
}

static void a_name_is_a_command_or_a_topic(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel help", "mcpreel records the traffic" },
        { "mcpreel help record", "Tapes what is said." },
        { "mcpreel help help", "Explains a command or a topic." },
        { "mcpreel help recording", "A recording is a text file" },
        { "mcpreel help exit-codes", "    0  success, no findings\n" },
        { "mcpreel help environment", "Most options can also be set in the environment." },
        { "mcpreel help matching", "'replay' responds" },
        { "mcpreel help --man", ".TH MCPREEL 1 " },
        { "mcpreel help --man record", ".TH MCPREEL-RECORD 1 " },
    };
    (void)state;
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void an_unknown_name_is_an_error_with_a_suggestion(void **state)
{
    static const struct seen_row rows[] = {
        { "mcpreel help exit-code",
          "mcpreel: no help on 'exit-code'\n  did you mean 'exit-codes'?\n"
          "  see 'mcpreel help'\n" },
        { "mcpreel help recrd",
          "mcpreel: no help on 'recrd'\n  did you mean 'record'?\n  see 'mcpreel help'\n" },
        { "mcpreel help xyzzy", "mcpreel: no help on 'xyzzy'\n  see 'mcpreel help'\n" },
        { "mcpreel help --man matching", "mcpreel: unknown command 'matching'\n" },
        { "mcpreel help a b", "mcpreel: unexpected 'b' for 'help'\n" },
    };
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_cli_init(&f, env);
        assert_int_equal(fake_cli_run(&f, rows[i].line), 2);
        if (!str_starts(buf_str(&f.err), str_z(rows[i].starts)))
            fail_msg("'%s' says\n%s", rows[i].line, buf_z(&f.err));
        assert_int_equal(f.out.len, 0);
        fake_cli_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_a_command_or_a_topic),
        cmocka_unit_test(an_unknown_name_is_an_error_with_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
