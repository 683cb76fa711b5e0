#include "loop/dumps.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* The exit code of what `act` does in a process of its own. */
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
    dumps_off();
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

static void there_is_no_dump_of_this_process(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
    assert_int_equal(alone(dumpable_afterwards), DUMPABLE);
}

/* A file below /proc belongs to who runs the process, unless it is not to be dumped. */
static int start_another(void)
{
    dumps_off();
    execl("/bin/sh", "sh", "-c", "test -r /proc/self/environ && test -O /proc/self/environ",
          (char *)NULL);
    return 99;
}

static void what_it_starts_is_as_ever(void **state)
{
    (void)state;
    assert_int_equal(alone(start_another), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_no_dump_of_this_process),
        cmocka_unit_test(what_it_starts_is_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
