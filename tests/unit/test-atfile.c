#include "base/atfile.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "fault-sys.h"
#include "scratch.h"
#include "test.h"

static void bytes_can_be_read_anywhere(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct file file;
    char got[8];

    (void)state;
    scratch_put("file", STR("0123456789"));
    fault_init(&f);
    fault_short(&f, FAULT_PREAD, 1, 2, 2);
    fault_fail(&f, FAULT_PREAD, 3, 1, EINTR);
    assert_true(file_open(&file, &f.sys, "file", &e));
    assert_true(atfile_read(&file, 2, got, 6, &e));
    assert_memory_equal(got, "234567", 6);
    assert_true(atfile_read(&file, 0, got, 1, &e));
    assert_memory_equal(got, "0", 1);
    assert_true(atfile_read(&file, 99, got, 0, &e));
    assert_false(atfile_read(&file, 8, got, 3, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_string_equal(e.msg, "cannot read 'file': it has become shorter");
    file_close(&file, &e);
}

static void a_nameless_file_leaves_nothing_behind(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 2, 1, EOPNOTSUPP);
    for (int named = 0; named < 2; named++) {
        struct file file;
        struct stat st;
        size_t done;
        char got[3];

        assert_true(atfile_nameless(&file, &f.sys, ".", &e));
        assert_true(file_write(&file, STR("abc"), &done, &e));
        assert_true(atfile_read(&file, 1, got, 2, &e));
        assert_memory_equal(got, "bc", 2);
        assert_int_equal(fstat(file.fd, &st), 0);
        assert_int_equal(st.st_nlink, 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_true(file_close(&file, &e));
    }
}

static void a_nameless_file_that_cannot_be_made_says_where(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct file file;

    (void)state;
    assert_false(atfile_nameless(&file, &sys_real, "nowhere", &e));
    assert_string_equal(e.msg,
                        "cannot make a temporary file in 'nowhere': No such file or directory");
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 1, 1, EOPNOTSUPP);
    fault_fail(&f, FAULT_UNLINK, 1, 1, EACCES);
    e = (struct err)ERR_NONE;
    assert_false(atfile_nameless(&file, &f.sys, ".", &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "cannot remove './.mcpreel-"));
    {
        char name[64];
        snprintf(name, sizeof name, "./.mcpreel-%ld", (long)getpid());
        assert_int_equal(unlink(name), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(bytes_can_be_read_anywhere),
        IN_A_DIRECTORY(a_nameless_file_leaves_nothing_behind),
        IN_A_DIRECTORY(a_nameless_file_that_cannot_be_made_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
