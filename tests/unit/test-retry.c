#include "base/retry.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fault-sys.h"
#include "scratch.h"
#include "test.h"

/* One call of each kind, on files that are there. */
static int make(const struct sys *sys, enum fault_call call, int fd)
{
    struct stat st;

    switch (call) {
    case FAULT_OPEN:
        return retry_open(sys, "file", O_RDONLY, 0);
    case FAULT_FSTAT:
        return retry_fstat(sys, fd, &st);
    case FAULT_FDATASYNC:
        return retry_fdatasync(sys, fd);
    case FAULT_FSYNC:
        return retry_fsync(sys, fd);
    case FAULT_FTRUNCATE:
        return retry_ftruncate(sys, fd, 0);
    case FAULT_LINK:
        return retry_link(sys, "file", "linked");
    case FAULT_RENAME:
        return retry_rename(sys, "linked", "renamed");
    case FAULT_UNLINK:
        return retry_unlink(sys, "renamed");
    case FAULT_MKDIR:
        return retry_mkdir(sys, "folder", 0700);
    default:
        fail_msg("no such call");
        return -1;
    }
}

static const enum fault_call calls[] = {
    FAULT_OPEN, FAULT_FSTAT,  FAULT_FDATASYNC, FAULT_FSYNC, FAULT_FTRUNCATE,
    FAULT_LINK, FAULT_RENAME, FAULT_UNLINK,    FAULT_MKDIR,
};

static void an_interrupted_call_is_made_again(void **state)
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

static void one_that_fails_otherwise_is_not(void **state)
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
        IN_A_DIRECTORY(an_interrupted_call_is_made_again),
        IN_A_DIRECTORY(one_that_fails_otherwise_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
