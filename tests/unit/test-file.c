#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static void what_was_written_is_read_back(void **state)
{
    char dir[] = "/tmp/mcpreel-test-XXXXXX", path[64];
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct buf b;
    size_t done;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/file", dir);
    assert_true(file_create(&f, &sys_real, path, false, &e));
    assert_true(file_write(&f, STR("hello"), &done, &e));
    assert_int_equal(done, 5);
    assert_true(file_close(&f, &e));
    buf_init(&b, 5);
    assert_true(file_slurp(&b, &sys_real, path, &e));
    assert_str(buf_str(&b), STR("hello"));
    buf_release(&b);
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
