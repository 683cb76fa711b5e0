#include "cmd/global-options.h"

#include "test.h"

static void the_level_follows_quiet_and_verbose(void **state)
{
    (void)state;
    assert_int_equal(global_options_log_level(&(struct global_options){ 0 }), LOG_INFO);
    assert_int_equal(global_options_log_level(&(struct global_options){ .quiet = true }),
                     LOG_ERROR);
    assert_int_equal(global_options_log_level(&(struct global_options){ .verbose = 1 }),
                     LOG_DEBUG);
    assert_int_equal(global_options_log_level(&(struct global_options){ .verbose = 2 }),
                     LOG_DEBUG);
    assert_int_equal(
        global_options_log_level(&(struct global_options){ .log_level = 1 + LOG_WARN }),
        LOG_WARN);
    assert_int_equal(global_options_log_level(
                         &(struct global_options){ .log_level = 1 + LOG_WARN, .quiet = true }),
                     LOG_ERROR);
}

static void colour_is_decided_by_option_then_variables_then_terminal(void **state)
{
    static const struct {
        int color;
        bool tty;
        const char *variable;
        bool want;
    } rows[] = {
        { TERM_COLOR_AUTO, true, NULL, true },
        { TERM_COLOR_AUTO, false, NULL, false },
        { TERM_COLOR_AUTO, true, "NO_COLOR=1", false },
        { TERM_COLOR_AUTO, true, "NO_COLOR=", true },
        { TERM_COLOR_AUTO, true, "TERM=dumb", false },
        { TERM_COLOR_AUTO, false, "FORCE_COLOR=1", true },
        { TERM_COLOR_AUTO, false, "CLICOLOR_FORCE=1", true },
        { TERM_COLOR_AUTO, false, "FORCE_COLOR=0", false },
        { TERM_COLOR_ALWAYS, false, "NO_COLOR=1", true },
        { TERM_COLOR_NEVER, true, "FORCE_COLOR=1", false },
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *env[] = { (char *)(uintptr_t)rows[i].variable, NULL };
        struct global_options g = { .color = rows[i].color };
        if (global_options_use_color(&g, rows[i].tty, env) != rows[i].want)
            fail_msg("row %zu: %s", i, rows[i].variable ? rows[i].variable : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_follows_quiet_and_verbose),
        cmocka_unit_test(colour_is_decided_by_option_then_variables_then_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
