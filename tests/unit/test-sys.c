#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static const struct sys *const s = &sys_real;

static void each_function_calls_the_system(void **state)
{
    char got[8];
    struct stat st;
    int fd = s->open(s, "one", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(s->write(s, fd, "abcdef", 6), 6);
    assert_int_equal(s->fdatasync(s, fd), 0);
    assert_int_equal(s->fsync(s, fd), 0);
    assert_int_equal(s->flock(s, fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(s->ftruncate(s, fd, 4), 0);
    assert_int_equal(s->fstat(s, fd, &st), 0);
    assert_int_equal(st.st_size, 4);
    assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
    assert_int_equal(s->read(s, fd, got, sizeof got), 3);
    assert_memory_equal(got, "bcd", 3);
    assert_int_equal(s->pread(s, fd, got, 2, 2), 2);
    assert_memory_equal(got, "cd", 2);
    assert_int_equal(s->pread(s, fd, got, 2, 4), 0);
    assert_int_equal(s->close(s, fd), 0);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(s->rename(s, "one", "two"), 0);
    assert_int_equal(access("one", F_OK), -1);
    assert_int_equal(access("two", F_OK), 0);
    assert_int_equal(s->link(s, "two", "one"), 0);
    assert_int_equal(access("one", F_OK), 0);
    assert_int_equal(s->link(s, "two", "one"), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(s->unlink(s, "one"), 0);
    assert_int_equal(s->unlink(s, "two"), 0);
    assert_int_equal(access("two", F_OK), -1);
    assert_int_equal(s->mkdir(s, "three", 0700), 0);
    assert_int_equal(s->mkdir(s, "three", 0700), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(rmdir("three"), 0);
}

static void the_mode_of_a_new_file_is_passed(void **state)
{
    mode_t before = umask(0);
    struct stat st;
    int fd = s->open(s, "one", O_WRONLY | O_CREAT | O_EXCL, 0604);

    (void)state;
    umask(before);
    assert_true(fd >= 0);
    assert_int_equal(s->fstat(s, fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    s->close(s, fd);
    s->unlink(s, "one");
}

static void each_failure_sets_errno_like_the_system(void **state)
{
    struct stat st;
    char c;

    (void)state;
    assert_int_equal(s->open(s, "missing", O_RDONLY, 0), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(s->read(s, -1, &c, 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(s->write(s, -1, "x", 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(s->fstat(s, -1, &st), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(s->fdatasync(s, -1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(s->ftruncate(s, -1, 0), -1);
    assert_true(errno == EBADF || errno == EINVAL);
    assert_int_equal(s->rename(s, "missing", "other"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(s->unlink(s, "missing"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(s->close(s, -1), -1);
    assert_int_equal(errno, EBADF);
}

/* One call of each kind, on files that are there. */
static int make(const struct sys *sys, enum fault_call call, int fd)
{
    struct stat st;

    switch (call) {
    case FAULT_OPEN:
        return sys_retry_open(sys, "file", O_RDONLY, 0);
    case FAULT_FSTAT:
        return sys_retry_fstat(sys, fd, &st);
    case FAULT_FDATASYNC:
        return sys_retry_fdatasync(sys, fd);
    case FAULT_FSYNC:
        return sys_retry_fsync(sys, fd);
    case FAULT_FTRUNCATE:
        return sys_retry_ftruncate(sys, fd, 0);
    case FAULT_LINK:
        return sys_retry_link(sys, "file", "linked");
    case FAULT_RENAME:
        return sys_retry_rename(sys, "linked", "renamed");
    case FAULT_UNLINK:
        return sys_retry_unlink(sys, "renamed");
    case FAULT_MKDIR:
        return sys_retry_mkdir(sys, "folder", 0700);
    default:
        fail_msg("no such call");
        return -1;
    }
}

static const enum fault_call calls[] = {
    FAULT_OPEN, FAULT_FSTAT,  FAULT_FDATASYNC, FAULT_FSYNC, FAULT_FTRUNCATE,
    FAULT_LINK, FAULT_RENAME, FAULT_UNLINK,    FAULT_MKDIR,
};

static void an_interrupted_call_is_repeated(void **state)
{
    struct fault_sys f;
    int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int r;

        fault_init(&f);
        fault_fail(&f, calls[i], 1, 3, EINTR);
        r = make(&f.sys, calls[i], fd);
        assert_true(r >= 0);
        assert_int_equal(f.calls[calls[i]], 4);
        if (calls[i] == FAULT_OPEN) {
            assert_int_equal(fcntl(r, F_GETFD), FD_CLOEXEC);
            close(r);
        }
    }
    close(fd);
}

static void a_call_that_fails_otherwise_is_not_repeated(void **state)
{
    struct fault_sys f;
    int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        fault_init(&f);
        fault_fail(&f, calls[i], 1, 1, EIO);
        assert_int_equal(make(&f.sys, calls[i], fd), -1);
        assert_int_equal(errno, EIO);
        assert_int_equal(f.calls[calls[i]], 1);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(each_function_calls_the_system),
        IN_TEMP_DIR(the_mode_of_a_new_file_is_passed),
        IN_TEMP_DIR(each_failure_sets_errno_like_the_system),
        IN_TEMP_DIR(an_interrupted_call_is_repeated),
        IN_TEMP_DIR(a_call_that_fails_otherwise_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
