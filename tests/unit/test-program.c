#include "loop/program.h"

#include <signal.h>
#include <unistd.h>

#include "test.h"

static char *const no_env[] = { "PATH=/usr/bin:/bin", NULL };

static void start(struct program *p, const char *script, enum program_pipe pipe)
{
    char *argv[] = { "sh", "-c", (char *)script, NULL };
    struct err e = ERR_NONE;

    if (!program_start(p, argv, no_env, pipe, &e))
        fail_msg("%s", e.msg);
}

static void reads_standard_output_and_the_exit_code(void **state)
{
    struct err e = ERR_NONE;
    struct program p;
    char text[64];
    size_t got, all = 0;

    (void)state;
    start(&p, "echo one; echo dropped >&2; echo two; exit 3", PROGRAM_STDOUT);
    do {
        assert_true(program_read(&p, text + all, sizeof text - all, &got, &e));
        all += got;
    } while (got);
    assert_str(str_n(text, all), STR("one\ntwo\n"));
    assert_int_equal(program_wait(&p), 3);
}

static void writes_standard_input(void **state)
{
    struct err e = ERR_NONE;
    struct program p;
    bool gone = false;

    (void)state;
    start(&p, "read a; test \"$a\" = word", PROGRAM_STDIN);
    assert_true(program_write(&p, STR("word\n"), &gone, &e));
    assert_false(gone);
    assert_int_equal(program_wait(&p), 0);
}

static void a_program_that_does_not_read_is_gone(void **state)
{
    struct err e = ERR_NONE;
    struct program p;
    bool gone = false;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    start(&p, "exec <&-; kill -TERM $$", PROGRAM_STDIN);
    while (!gone)
        assert_true(program_write(&p, STR("words and more words\n"), &gone, &e));
    assert_int_equal(program_wait(&p), 128 + SIGTERM);
}

static void a_program_that_does_not_exist_is_an_error(void **state)
{
    char *argv[] = { "no-such-program-here", NULL };
    struct err e = ERR_NONE;
    struct program p;

    (void)state;
    assert_false(program_start(&p, argv, no_env, PROGRAM_STDIN, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_string_equal(e.msg, "cannot run 'no-such-program-here': No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_standard_output_and_the_exit_code),
        cmocka_unit_test(writes_standard_input),
        cmocka_unit_test(a_program_that_does_not_read_is_gone),
        cmocka_unit_test(a_program_that_does_not_exist_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
