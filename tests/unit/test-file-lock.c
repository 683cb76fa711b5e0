#include "base/file-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static void a_lock_is_held_until_the_file_is_closed(void **state)
{
    int fd = open("file", O_WRONLY | O_CREAT, 0600);
    struct fault_sys f;

    (void)state;
    assert_true(fd >= 0);
    assert_false(file_lock_is_held(&sys_real, "file"));
    file_lock_acquire(&sys_real, fd);
    assert_true(file_lock_is_held(&sys_real, "file"));
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 1, 2, EINTR);
    assert_true(file_lock_is_held(&f.sys, "file"));
    close(fd);
    assert_false(file_lock_is_held(&sys_real, "file"));
}

static void what_cannot_be_locked_is_not(void **state)
{
    struct fault_sys f;
    int fd = open("file", O_WRONLY | O_CREAT, 0600);

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_FLOCK, 1, FAULT_FOREVER, ENOLCK);
    file_lock_acquire(&f.sys, fd);
    assert_false(file_lock_is_held(&f.sys, "file"));
    close(fd);
    assert_false(file_lock_is_held(&sys_real, "missing"));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(file_lock_is_held(&sys_real, "pipe"));
}

static void what_is_held_is_what_has_the_name(void **state)
{
    struct fault_sys f;
    int fd = open("file", O_WRONLY | O_CREAT, 0600), held;

    (void)state;
    held = file_lock_open(&sys_real, "file");
    assert_true(held >= 0);
    assert_false(file_lock_created(&sys_real, fd, "file")); /* too late */
    assert_int_equal(file_lock_open(&sys_real, "file"), -1);
    assert_int_equal(errno, EBUSY);
    close(held);
    assert_true(file_lock_created(&sys_real, fd, "file"));
    close(fd);
    fd = open("file", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(rename("file", "other"), 0);
    assert_false(file_lock_created(&sys_real, fd, "file"));
    close(fd);
    assert_int_equal(file_lock_open(&sys_real, "file"), -1);
    assert_int_equal(errno, ENOENT);
    fault_init(&f);
    fault_fail(&f, FAULT_FLOCK, 1, FAULT_FOREVER, ENOLCK);
    held = file_lock_open(&f.sys, "other"); /* there are no locks */
    assert_true(held >= 0);
    close(held);
    unlink("other");
    assert_int_equal(file_lock_open(&sys_real, "."), -1);
    assert_int_equal(errno, EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_held_until_the_file_is_closed),
        cmocka_unit_test(what_cannot_be_locked_is_not),
        cmocka_unit_test(what_is_held_is_what_has_the_name),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
