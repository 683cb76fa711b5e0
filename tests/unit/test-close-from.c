#include "loop/close-from.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* In a child: the test's own descriptors stay. The code is the number of the wrong ones. */
static int count_wrong(void (*close_all)(int first))
{
    static const int after[] = { 50, 51, 500 };
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        int wrong = dup2(0, 49) != 49;

        for (size_t i = 0; i < sizeof after / sizeof *after; i++)
            wrong += dup2(0, after[i]) != after[i];
        close_all(50);
        wrong += !is_open(0) + !is_open(49);
        for (size_t i = 0; i < sizeof after / sizeof *after; i++)
            wrong += is_open(after[i]);
        _exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void descriptors_from_a_number_on_are_closed(void **state)
{
    (void)state;
    assert_int_equal(count_wrong(close_from), 0);
}

static void they_are_closed_without_close_range_too(void **state)
{
    (void)state;
    assert_int_equal(count_wrong(close_from_one_by_one), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_from_a_number_on_are_closed),
        cmocka_unit_test(they_are_closed_without_close_range_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
