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

static void a_file_that_cannot_be_locked_stays_unlocked(void **state)
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

static void a_lock_counts_only_if_the_file_still_has_its_name(void **state)
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

static void a_reserved_file_is_not_held_but_cannot_be_locked(void **state)
{
    int fd = open("kept", O_WRONLY | O_CREAT, 0600), kept;
    struct fault_sys f;

    (void)state;
    kept = file_lock_reserve(&sys_real, "kept");
    assert_true(kept >= 0);
    assert_false(file_lock_is_held(&sys_real, "kept"));
    assert_int_equal(file_lock_reserve(&sys_real, "kept"), -1);
    assert_int_equal(errno, EBUSY);
    assert_false(file_lock_created(&sys_real, fd, "kept"));
    close(kept);
    fault_init(&f);
    fault_fail(&f, FAULT_FLOCK, 2, 1, EWOULDBLOCK); /* another process was faster */
    assert_int_equal(file_lock_reserve(&f.sys, "kept"), -1);
    assert_int_equal(errno, EBUSY);
    close(fd);
}

static void the_holder_is_named(void **state)
{
    int fd = open("named", O_WRONLY | O_CREAT, 0600);
    struct fault_sys f;
    struct buf text;
    char want[64];

    (void)state;
    buf_init(&text, 256);
    file_lock_describe_holder(&sys_real, "named", &text);
    assert_str(buf_str(&text), STR("another process"));
    buf_clear(&text);
    file_lock_acquire(&sys_real, fd);
    file_lock_describe_holder(&sys_real, "named", &text);
    snprintf(want, sizeof want, "process %ld (test-file-lock)", (long)getpid());
    assert_str(buf_str(&text), str_z(want));
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 2, FAULT_FOREVER, ENOENT); /* no /proc */
    buf_clear(&text);
    file_lock_describe_holder(&f.sys, "named", &text);
    assert_str(buf_str(&text), STR("another process"));
    buf_release(&text);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_held_until_the_file_is_closed),
        cmocka_unit_test(a_file_that_cannot_be_locked_stays_unlocked),
        cmocka_unit_test(a_lock_counts_only_if_the_file_still_has_its_name),
        cmocka_unit_test(a_reserved_file_is_not_held_but_cannot_be_locked),
        cmocka_unit_test(the_holder_is_named),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
