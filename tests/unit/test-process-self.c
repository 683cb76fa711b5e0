#include "loop/process-self.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static const char *started_as;

static void the_path_is_absolute_and_names_this_program(void **state)
{
    struct buf path;
    struct err e = ERR_NONE;
    char *real = realpath(started_as, NULL);

    (void)state;
    assert_non_null(real);
    buf_init(&path, 64 << 10);
    assert_true(process_self_path(&path, &e));
    assert_int_equal(path.at[0], '/');
    assert_string_equal(buf_z(&path), real);
    assert_int_equal(access(buf_z(&path), X_OK), 0);
    buf_release(&path);
    free(real);
}

static void the_path_is_appended(void **state)
{
    struct buf path;
    struct err e = ERR_NONE;

    (void)state;
    buf_init(&path, 64 << 10);
    buf_add(&path, STR("at "));
    assert_true(process_self_path(&path, &e));
    assert_true(str_starts(buf_str(&path), STR("at /")));
    buf_release(&path);
}

static void a_too_small_buffer_is_an_error(void **state)
{
    struct buf path;
    struct err e = ERR_NONE;

    (void)state;
    buf_init(&path, 2);
    assert_false(process_self_path(&path, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_release(&path);
}

static void the_pid_is_that_of_this_process(void **state)
{
    (void)state;
    assert_int_equal(process_self_pid(), getpid());
}

/* The exit code of `act` in a process of its own. */
static int alone(int (*act)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(act());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int dumpable_afterwards(void)
{
    process_self_disable_dumps();
    return prctl(PR_GET_DUMPABLE);
}

/* Sanitizers have to look into the process. */
#if defined(__SANITIZE_ADDRESS__)
enum { DUMPABLE = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { DUMPABLE = 1 };
#else
enum { DUMPABLE = 0 };
#endif
#else
enum { DUMPABLE = 0 };
#endif

static void core_dumps_are_disabled(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
    assert_int_equal(alone(dumpable_afterwards), DUMPABLE);
}

/* A file below /proc belongs to the user of the process, unless core dumps are disabled. */
static int start_another(void)
{
    process_self_disable_dumps();
    execl("/bin/sh", "sh", "-c", "test -r /proc/self/environ && test -O /proc/self/environ",
          (char *)NULL);
    return 99;
}

static void core_dumps_are_enabled_again_for_children(void **state)
{
    (void)state;
    assert_int_equal(alone(start_another), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_is_absolute_and_names_this_program),
        cmocka_unit_test(the_path_is_appended),
        cmocka_unit_test(a_too_small_buffer_is_an_error),
        cmocka_unit_test(the_pid_is_that_of_this_process),
        cmocka_unit_test(core_dumps_are_disabled),
        cmocka_unit_test(core_dumps_are_enabled_again_for_children),
    };
    started_as = argc ? argv[0] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
