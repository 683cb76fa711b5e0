#include "base/atomic-file.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static void begin(struct atomic_file *d, struct file *f, const struct sys *sys,
                  const char *path, bool replace)
{
    struct err e = ERR_NONE;
    size_t done;

    if (!atomic_file_open(d, f, sys, path, replace, &e) ||
        !file_write(f, STR("new"), &done, &e))
        fail_msg("%s", e.msg);
}

static void a_committed_file_has_only_its_final_name(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;
    struct stat st;

    (void)state;
    begin(&d, &f, &sys_real, "file", false);
    assert_int_equal(access("file", F_OK), -1);
    assert_int_equal(temp_dir_count("."), 1);
    assert_true(atomic_file_commit(&d, &f, &e));
    assert_content("file", STR("new"));
    assert_int_equal(temp_dir_count("."), 1);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(f.fd, -1);
}

static void an_aborted_file_leaves_no_file(void **state)
{
    struct file f = FILE_CLOSED;
    struct atomic_file d;

    (void)state;
    begin(&d, &f, &sys_real, "file", false);
    atomic_file_abort(&d, &f);
    assert_int_equal(temp_dir_count("."), 0);
    assert_int_equal(f.fd, -1);
}

static void the_old_file_stays_until_it_is_replaced(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;

    (void)state;
    temp_dir_put("file", STR("old"));
    begin(&d, &f, &sys_real, "file", true);
    assert_content("file", STR("old"));
    atomic_file_abort(&d, &f);
    assert_content("file", STR("old"));
    begin(&d, &f, &sys_real, "file", true);
    assert_true(atomic_file_commit(&d, &f, &e));
    assert_content("file", STR("new"));
    assert_int_equal(temp_dir_count("."), 1);
}

static void assert_taken(void)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;

    assert_false(atomic_file_open_locked(&d, &f, &sys_real, "file", true, &e));
    assert_string_equal(e.msg, "cannot write 'file': another process is writing it");
}

static void only_one_of_two_writers_replaces_a_file(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;
    size_t done;

    (void)state;
    temp_dir_put("file", STR("old"));
    assert_false(atomic_file_open_locked(&d, &f, &sys_real, "file", false, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    for (int i = 0; i < 2; i++) { /* with an old file, and without */
        assert_true(atomic_file_open_locked(&d, &f, &sys_real, "file", true, &e));
        assert_taken();
        assert_true(file_write(&f, STR("new"), &done, &e));
        assert_content("file", i ? STR("new") : STR("old"));
        assert_true(atomic_file_rename(&d, &sys_real, "file", &e));
        assert_true(atomic_file_rename(&d, &sys_real, "file", &e)); /* does nothing */
        assert_taken();
        assert_content("file", STR("new"));
        assert_true(file_close(&f, &e));
        assert_int_equal(temp_dir_count("."), 1);
        unlink("file");
    }
}

static void a_removed_locked_draft_leaves_the_old_file_unlocked(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;

    (void)state;
    temp_dir_put("file", STR("old"));
    for (int i = 0; i < 2; i++) {
        assert_true(atomic_file_open_locked(&d, &f, &sys_real, "file", true, &e));
        assert_int_equal(temp_dir_count("."), 2);
        atomic_file_abort(&d, &f);
        assert_content("file", STR("old"));
        assert_int_equal(temp_dir_count("."), 1);
    }
}

static void a_file_that_cannot_be_put_in_place_replaces_nothing(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct atomic_file d;

    (void)state;
    temp_dir_put("file", STR("old"));
    fault_init(&sys);
    fault_fail(&sys, FAULT_RENAME, 1, 1, EINTR);
    fault_fail(&sys, FAULT_RENAME, 2, 1, EIO);
    assert_true(atomic_file_open_locked(&d, &f, &sys.sys, "file", true, &e));
    assert_false(atomic_file_rename(&d, &sys.sys, "file", &e));
    assert_string_equal(e.msg, "cannot write 'file': Input/output error");
    assert_content("file", STR("old"));
    assert_int_equal(temp_dir_count("."), 2);
    assert_true(atomic_file_rename(&d, &sys.sys, "file", &e)); /* it can be tried again */
    assert_content("file", STR_NONE);
    assert_true(file_close(&f, &e));
    assert_int_equal(temp_dir_count("."), 1);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_false(atomic_file_open_locked(&d, &f, &sys_real, "dir", true, &e));
    assert_string_equal(e.msg, "cannot write 'dir': it is a directory, not a file");
}

static void the_draft_is_in_the_folder_of_its_file(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;

    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    begin(&d, &f, &sys_real, "dir/file", false);
    assert_int_equal(temp_dir_count("dir"), 1);
    assert_true(atomic_file_commit(&d, &f, &e));
    assert_content("dir/file", STR("new"));
}

static void a_long_name_is_accepted(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;
    char name[256];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    begin(&d, &f, &sys_real, name, false);
    assert_true(str_ends(str_z(d.temp_path), STR("nnn")));
    assert_true(atomic_file_commit(&d, &f, &e));
    assert_content(name, STR("new"));
    unlink(name);
}

static void assert_refused(const char *path, bool replace, enum err_kind kind, const char *msg)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;

    assert_false(atomic_file_open(&d, &f, &sys_real, path, replace, &e));
    assert_string_equal(e.msg, msg);
    assert_int_equal(e.kind, kind);
    assert_null(d.temp_path);
}

static void an_existing_file_is_reported_at_open(void **state)
{
    (void)state;
    temp_dir_put("file", STR("old"));
    assert_refused("file", false, ERR_USAGE, "cannot write 'file': it exists already");
    assert_int_equal(symlink("file", "link"), 0);
    assert_refused("link", false, ERR_USAGE, "cannot write 'link': it exists already");
    assert_refused("link", true, ERR_USAGE,
                   "cannot write 'link': it is a symbolic link, not a file");
    unlink("link");
    assert_refused(".", true, ERR_USAGE, "cannot write '.': it is a directory, not a file");
    assert_refused("missing/file", false, ERR_IO,
                   "cannot write 'missing/file': there is no folder 'missing'");
    assert_int_equal(temp_dir_count("."), 1);
}

static void a_draft_of_a_killed_process_is_ignored(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;
    char left[64];

    (void)state;
    snprintf(left, sizeof left, ".mcpreel-%ld-file", (long)getpid());
    temp_dir_put(left, STR("half of it"));
    begin(&d, &f, &sys_real, "file", false);
    assert_true(atomic_file_commit(&d, &f, &e));
    assert_content("file", STR("new"));
    assert_int_equal(temp_dir_count("."), 1);
}

/* Another process makes the file while ours is written. */
static void create_target_first(const struct sys *sys)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct atomic_file d;

    begin(&d, &f, sys, "file", false);
    temp_dir_put("file", STR("theirs"));
    assert_false(atomic_file_commit(&d, &f, &e));
    assert_string_equal(e.msg, "cannot write 'file': it exists already");
    assert_int_equal(e.kind, ERR_USAGE);
    assert_content("file", STR("theirs"));
    assert_int_equal(temp_dir_count("."), 1);
    unlink("file");
}

static void a_file_created_meanwhile_is_not_replaced(void **state)
{
    struct fault_sys sys;

    (void)state;
    create_target_first(&sys_real);
    fault_init(&sys);
    fault_fail(&sys, FAULT_LINK, 1, FAULT_FOREVER, EPERM);
    create_target_first(&sys.sys);
}

static void a_file_is_committed_without_hard_links(void **state)
{
    static const int reasons[] = { EPERM, EOPNOTSUPP, ENOSYS, EMLINK };

    (void)state;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        struct file f = FILE_CLOSED;
        struct err e = ERR_NONE;
        struct fault_sys sys;
        struct atomic_file d;

        fault_init(&sys);
        fault_fail(&sys, FAULT_LINK, 1, FAULT_FOREVER, reasons[i]);
        begin(&d, &f, &sys.sys, "file", false);
        assert_true(atomic_file_commit(&d, &f, &e));
        assert_content("file", STR("new"));
        assert_int_equal(temp_dir_count("."), 1);
        unlink("file");
    }
}

static void interrupted_calls_are_made_again(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct atomic_file d;

    (void)state;
    fault_init(&sys);
    fault_fail(&sys, FAULT_LINK, 1, 2, EINTR);
    fault_fail(&sys, FAULT_UNLINK, 1, 2, EINTR);
    fault_fail(&sys, FAULT_RENAME, 1, 2, EINTR);
    begin(&d, &f, &sys.sys, "file", false);
    assert_true(atomic_file_commit(&d, &f, &e));
    begin(&d, &f, &sys.sys, "file", true);
    assert_true(atomic_file_commit(&d, &f, &e));
    assert_int_equal(temp_dir_count("."), 1);
}

static void any_failure_keeps_the_existing_file(void **state)
{
    static const struct {
        enum fault_call call;
        bool replace;
        const char *msg;
    } cases[] = {
        { FAULT_FDATASYNC, false, "cannot sync 'file': No space left on device" },
        { FAULT_FDATASYNC, true, "cannot sync 'file': No space left on device" },
        { FAULT_CLOSE, false, "cannot close 'file': No space left on device" },
        { FAULT_LINK, false, "cannot write 'file': No space left on device" },
        { FAULT_RENAME, true, "cannot write 'file': No space left on device" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct file f = FILE_CLOSED;
        struct err e = ERR_NONE;
        struct fault_sys sys;
        struct atomic_file d;

        if (cases[i].replace)
            temp_dir_put("file", STR("old"));
        fault_init(&sys);
        begin(&d, &f, &sys.sys, "file", cases[i].replace);
        fault_fail(&sys, cases[i].call, sys.calls[cases[i].call] + 1, 1, ENOSPC);
        assert_false(atomic_file_commit(&d, &f, &e));
        assert_string_equal(e.msg, cases[i].msg);
        assert_int_equal(e.kind, ERR_IO);
        assert_null(d.temp_path);
        assert_int_equal(f.fd, -1);
        assert_int_equal(temp_dir_count("."), cases[i].replace);
        if (cases[i].replace)
            assert_content("file", STR("old"));
        unlink("file");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_committed_file_has_only_its_final_name),
        IN_TEMP_DIR(an_aborted_file_leaves_no_file),
        IN_TEMP_DIR(the_old_file_stays_until_it_is_replaced),
        IN_TEMP_DIR(only_one_of_two_writers_replaces_a_file),
        IN_TEMP_DIR(a_file_that_cannot_be_put_in_place_replaces_nothing),
        IN_TEMP_DIR(a_removed_locked_draft_leaves_the_old_file_unlocked),
        IN_TEMP_DIR(the_draft_is_in_the_folder_of_its_file),
        IN_TEMP_DIR(a_long_name_is_accepted),
        IN_TEMP_DIR(an_existing_file_is_reported_at_open),
        IN_TEMP_DIR(a_draft_of_a_killed_process_is_ignored),
        IN_TEMP_DIR(a_file_created_meanwhile_is_not_replaced),
        IN_TEMP_DIR(a_file_is_committed_without_hard_links),
        IN_TEMP_DIR(interrupted_calls_are_made_again),
        IN_TEMP_DIR(any_failure_keeps_the_existing_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
