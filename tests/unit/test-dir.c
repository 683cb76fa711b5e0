#include "base/dir.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static void a_world_writable_folder_is_recognized(void **state)
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
        assert_int_equal(dir_is_world_writable(&f.sys, "shared"), rows[i].open);
    }
    assert_int_equal(rmdir("shared"), 0);
    assert_false(dir_is_world_writable(&sys_real, "shared"));
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
        assert_true(dir_sync_parent(&f.sys, paths[i], &e));
    assert_int_equal(f.calls[FAULT_FSYNC], 5);
    assert_int_equal(f.calls[FAULT_CLOSE], 5);
    fault_fail(&f, FAULT_FSYNC, 6, 2, EINTR);
    assert_true(dir_sync_parent(&f.sys, "file", &e));
    fault_fail(&f, FAULT_FSYNC, 9, 1, EINVAL); /* there are such file systems */
    assert_true(dir_sync_parent(&f.sys, "file", &e));
    fault_fail(&f, FAULT_OPEN, 8, 1, EACCES);
    assert_true(dir_sync_parent(&f.sys, "file", &e));
    fault_fail(&f, FAULT_FSYNC, 10, 1, EIO);
    assert_false(dir_sync_parent(&f.sys, "dir/file", &e));
    assert_string_equal(e.msg, "cannot sync 'dir': Input/output error");
    assert_false(dir_sync_parent(&f.sys, "missing/file", &e));
    assert_string_equal(e.msg, "cannot sync 'missing': No such file or directory");
    assert_int_equal(f.calls[FAULT_CLOSE], 8);
    rmdir("dir/sub");
    rmdir("dir");
}

static void missing_folders_are_created_for_their_owner_only(void **state)
{
    mode_t before = umask(0);
    struct err e = ERR_NONE;
    struct stat st;

    (void)state;
    assert_false(dir_exists(&sys_real, "a"));
    assert_true(dir_create(&sys_real, "a/b//c/", &e));
    assert_true(dir_create(&sys_real, "a/b/c", &e));
    assert_true(dir_exists(&sys_real, "a/b/c"));
    assert_int_equal(stat("a/b", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    umask(before);
    rmdir("a/b/c");
    rmdir("a/b");
    rmdir("a");
}

static void a_path_with_a_file_in_it_cannot_become_a_folder(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct file file;

    (void)state;
    assert_true(file_create(&file, &sys_real, "one", false, &e));
    file_close(&file, &e);
    assert_false(dir_exists(&sys_real, "one"));
    assert_false(dir_create(&sys_real, "one", &e));
    assert_string_equal(e.msg, "cannot make folder 'one': a file has this name");
    assert_false(dir_create(&sys_real, "one/two", &e));
    assert_string_equal(e.msg, "cannot make folder 'one': a file has this name");
    unlink("one");
    fault_init(&f);
    fault_fail(&f, FAULT_MKDIR, 1, 1, EROFS);
    assert_false(dir_create(&f.sys, "two/three", &e));
    assert_string_equal(e.msg, "cannot make folder 'two': Read-only file system");
}

static void only_regular_files_of_a_folder_are_listed(void **state)
{
    struct dir_file *files = NULL;
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    size_t count = 0;

    (void)state;
    assert_int_equal(mkdir("f", 0700), 0);
    assert_int_equal(mkdir("f/deep", 0700), 0);
    assert_int_equal(mkfifo("f/fifo", 0600), 0);
    assert_int_equal(symlink("nowhere", "f/dangling"), 0);
    temp_dir_put("f/.hidden", STR("x"));
    assert_true(dir_list_files("f", &files, &count, &a, &e));
    assert_int_equal(count, 0);
    free(files);
    temp_dir_put("f/one", STR("abc"));
    assert_true(dir_list_files("f/", &files, &count, &a, &e));
    assert_int_equal(count, 1);
    assert_string_equal(files[0].path, "f/one");
    assert_int_equal(files[0].size, 3);
    assert_true(files[0].modified_us > 1600000000000000);
    free(files);
    assert_false(dir_list_files("f/one", &files, &count, &a, &e));
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
        IN_TEMP_DIR(a_world_writable_folder_is_recognized),
        IN_TEMP_DIR(the_folder_of_a_file_can_be_synced),
        IN_TEMP_DIR(missing_folders_are_created_for_their_owner_only),
        IN_TEMP_DIR(a_path_with_a_file_in_it_cannot_become_a_folder),
        IN_TEMP_DIR(only_regular_files_of_a_folder_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
