#include "runtime/pager.h"

#include <unistd.h>

#include "cli.h"
#include "temp-dir.h"
#include "test.h"

static void the_command_comes_from_the_environment(void **state)
{
    char *own[] = { "PAGER=b", "MCPREEL_PAGER=a -x", NULL }, *usual[] = { "PAGER=b", NULL };
    char *none[] = { NULL }, *off[] = { "PAGER=b", "MCPREEL_PAGER=", NULL };
    char *cat[] = { "PAGER=cat", NULL };

    (void)state;
    assert_string_equal(pager_command(own), "a -x");
    assert_string_equal(pager_command(usual), "b");
    assert_string_equal(pager_command(none), "less");
    assert_null(pager_command(off));
    assert_null(pager_command(cat));
}

static void ignore_log(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static struct app app_with(char **env, const struct log *log)
{
    return (struct app){ .sys = &sys_real, .env = env, .log = log, .stdout_is_tty = true };
}

static void text_goes_to_the_pager_with_options_for_less(void **state)
{
    char *env[] = { "MCPREEL_PAGER=cat >shown; echo $LESS >>shown", "PATH=/usr/bin:/bin",
                    NULL };
    const struct log log = { .write = ignore_log };
    struct app app = app_with(env, &log);
    struct err e = ERR_NONE;
    struct pager p;

    (void)state;
    pager_begin(&p, &app, true);
    assert_true(p.running);
    assert_true(pager_write(&p, STR("one\n"), &e));
    assert_true(pager_write(&p, STR("two\n"), &e));
    pager_end(&p);
    assert_content("shown", STR("one\ntwo\nFRX\n"));
}

static void options_of_the_user_for_less_stay(void **state)
{
    char *env[] = { "MCPREEL_PAGER=cat >shown; echo $LESS >>shown", "LESS=R", NULL };
    const struct log log = { .write = ignore_log };
    struct app app = app_with(env, &log);
    struct pager p;

    (void)state;
    pager_begin(&p, &app, true);
    pager_end(&p);
    assert_content("shown", STR("R\n"));
}

static void without_a_terminal_there_is_no_pager(void **state)
{
    char *env[] = { "MCPREEL_PAGER=touch shown", NULL };
    const struct log log = { .write = ignore_log };
    struct app app = app_with(env, &log);
    struct pager p;

    (void)state;
    pager_begin(&p, &app, false);
    assert_false(p.running);
    pager_end(&p);
    app.json = true;
    pager_begin(&p, &app, true);
    assert_false(p.running);
    app.json = false;
    app.stdout_is_tty = false;
    pager_begin(&p, &app, true);
    assert_false(p.running);
    assert_int_equal(temp_dir_count("."), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_comes_from_the_environment),
        IN_TEMP_DIR(text_goes_to_the_pager_with_options_for_less),
        IN_TEMP_DIR(options_of_the_user_for_less_stay),
        IN_TEMP_DIR(without_a_terminal_there_is_no_pager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
