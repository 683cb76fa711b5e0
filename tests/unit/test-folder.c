#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fault-sys.h"
#include "scratch.h"
#include "test.h"

static void a_folder_where_anybody_may_do_anything_is_known(void **state)
{
    static const struct {
        mode_t mode;
        bool open;
    } rows[] = { { 0700, false }, { 0775, false }, { 0777, true }, { 01777, false } };
    struct fault_sys f;

    (void)state;
    assert_int_equal(mkdir("shared", 0700), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(chmod("shared", rows[i].mode), 0);
        fault_init(&f);
        fault_fail(&f, FAULT_FSTAT, 1, 2, EINTR);
        assert_int_equal(folder_is_open_to_all(&f.sys, "shared"), rows[i].open);
    }
    assert_int_equal(rmdir("shared"), 0);
    assert_false(folder_is_open_to_all(&sys_real, "shared"));
}

static void the_folder_of_a_file_can_be_synced(void **state)
{
    static const char *const paths[] = { "file", "./file", "/file", "dir/file", "dir/sub/" };
    struct fault_sys f;
    struct err e = ERR_NONE;

    (void)state;
    fault_init(&f);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(mkdir("dir/sub", 0700), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_true(folder_sync_of(&f.sys, paths[i], &e));
    assert_int_equal(f.calls[FAULT_FSYNC], 5);
    assert_int_equal(f.calls[FAULT_CLOSE], 5);
    fault_fail(&f, FAULT_FSYNC, 6, 2, EINTR);
    assert_true(folder_sync_of(&f.sys, "file", &e));
    fault_fail(&f, FAULT_FSYNC, 9, 1, EINVAL); /* there are such file systems */
    assert_true(folder_sync_of(&f.sys, "file", &e));
    fault_fail(&f, FAULT_OPEN, 8, 1, EACCES);
    assert_true(folder_sync_of(&f.sys, "file", &e));
    fault_fail(&f, FAULT_FSYNC, 10, 1, EIO);
    assert_false(folder_sync_of(&f.sys, "dir/file", &e));
    assert_string_equal(e.msg, "cannot sync 'dir': Input/output error");
    assert_false(folder_sync_of(&f.sys, "missing/file", &e));
    assert_string_equal(e.msg, "cannot sync 'missing': No such file or directory");
    assert_int_equal(f.calls[FAULT_CLOSE], 8);
    rmdir("dir/sub");
    rmdir("dir");
}

static void folders_are_made_as_deep_as_need_be_and_for_their_owner(void **state)
{
    mode_t before = umask(0);
    struct err e = ERR_NONE;
    struct stat st;

    (void)state;
    assert_false(folder_is(&sys_real, "a"));
    assert_true(folder_make(&sys_real, "a/b//c/", &e));
    assert_true(folder_make(&sys_real, "a/b/c", &e));
    assert_true(folder_is(&sys_real, "a/b/c"));
    assert_int_equal(stat("a/b", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    umask(before);
    rmdir("a/b/c");
    rmdir("a/b");
    rmdir("a");
}

static void what_is_no_folder_cannot_become_one(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct file file;

    (void)state;
    assert_true(file_create(&file, &sys_real, "one", false, &e));
    file_close(&file, &e);
    assert_false(folder_is(&sys_real, "one"));
    assert_false(folder_make(&sys_real, "one", &e));
    assert_string_equal(e.msg, "cannot make folder 'one': Not a directory");
    assert_false(folder_make(&sys_real, "one/two", &e));
    assert_string_equal(e.msg, "cannot make folder 'one': Not a directory");
    unlink("one");
    fault_init(&f);
    fault_fail(&f, FAULT_MKDIR, 1, 1, EROFS);
    assert_false(folder_make(&f.sys, "two/three", &e));
    assert_string_equal(e.msg, "cannot make folder 'two': Read-only file system");
}

static void the_files_of_a_folder_are_its_regular_ones(void **state)
{
    struct folder_file *files = NULL;
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    size_t count = 0;

    (void)state;
    assert_int_equal(mkdir("f", 0700), 0);
    assert_int_equal(mkdir("f/deep", 0700), 0);
    assert_int_equal(mkfifo("f/fifo", 0600), 0);
    assert_int_equal(symlink("nowhere", "f/dangling"), 0);
    scratch_put("f/.hidden", STR("x"));
    assert_true(folder_files("f", &files, &count, &a, &e));
    assert_int_equal(count, 0);
    free(files);
    scratch_put("f/one", STR("abc"));
    assert_true(folder_files("f/", &files, &count, &a, &e));
    assert_int_equal(count, 1);
    assert_string_equal(files[0].path, "f/one");
    assert_int_equal(files[0].bytes, 3);
    assert_true(files[0].changed_us > 1600000000000000);
    free(files);
    assert_false(folder_files("f/one", &files, &count, &a, &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_string_equal(e.msg, "cannot read the folder 'f/one': Not a directory");
    arena_release(&a);
    unlink("f/.hidden");
    unlink("f/fifo");
    unlink("f/dangling");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(a_folder_where_anybody_may_do_anything_is_known),
        IN_A_DIRECTORY(the_folder_of_a_file_can_be_synced),
        IN_A_DIRECTORY(folders_are_made_as_deep_as_need_be_and_for_their_owner),
        IN_A_DIRECTORY(what_is_no_folder_cannot_become_one),
        IN_A_DIRECTORY(the_files_of_a_folder_are_its_regular_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
