#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>

#include "test.h"

static void a_failure_is_reported_as_the_system_does(void **state)
{
    (void)state;
    assert_int_equal(sys_real.open(&sys_real, "/nonexistent/file", O_RDONLY, 0), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(sys_real.close(&sys_real, -1), -1);
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_reported_as_the_system_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
