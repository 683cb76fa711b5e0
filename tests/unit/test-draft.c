#include "base/draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault-sys.h"
#include "test.h"

/* Each test has an empty directory for itself and stands in it. */
static int into_a_new_directory(void **state)
{
    char *dir = strdup("/tmp/mcpreel-draft-XXXXXX");

    *state = dir;
    return dir && mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int out_of_it(void **state)
{
    int r;

    unlink("file");
    unlink("dir/file");
    rmdir("dir");
    r = chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
    free(*state);
    return r;
}

static void put_file(const char *path, struct str content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, content.at, content.len), content.len);
    close(fd);
}

static void assert_content(const char *path, struct str want)
{
    char got[256];
    int fd = open(path, O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, got, sizeof got);
    close(fd);
    assert_true(n >= 0);
    assert_str(str_n(got, (size_t)n), want);
}

static size_t names_in(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static void begin(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                  bool replace)
{
    struct err e = ERR_NONE;
    size_t done;

    if (!draft_open(d, f, sys, path, replace, &e) || !file_write(f, STR("new"), &done, &e))
        fail_msg("%s", e.msg);
}

static void a_kept_draft_has_its_name_and_no_other(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;
    struct stat st;

    (void)state;
    begin(&d, &f, &sys_real, "file", false);
    assert_int_equal(access("file", F_OK), -1);
    assert_int_equal(names_in("."), 1);
    assert_true(draft_keep(&d, &f, &e));
    assert_content("file", STR("new"));
    assert_int_equal(names_in("."), 1);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(f.fd, -1);
}

static void a_dropped_draft_leaves_nothing(void **state)
{
    struct file f = FILE_CLOSED;
    struct draft d;

    (void)state;
    begin(&d, &f, &sys_real, "file", false);
    draft_drop(&d, &f);
    assert_int_equal(names_in("."), 0);
    assert_int_equal(f.fd, -1);
}

static void the_old_file_is_there_until_the_new_one_is(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;

    (void)state;
    put_file("file", STR("old"));
    begin(&d, &f, &sys_real, "file", true);
    assert_content("file", STR("old"));
    draft_drop(&d, &f);
    assert_content("file", STR("old"));
    begin(&d, &f, &sys_real, "file", true);
    assert_true(draft_keep(&d, &f, &e));
    assert_content("file", STR("new"));
    assert_int_equal(names_in("."), 1);
}

static void of_two_who_replace_a_file_one_gives_way(void **state)
{
    struct file first = FILE_CLOSED, second = FILE_CLOSED;
    struct err e = ERR_NONE;
    size_t done;

    (void)state;
    put_file("file", STR("old"));
    assert_false(draft_open_locked(&first, &sys_real, "file", false, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    for (int i = 0; i < 2; i++) { /* with an old file, and without */
        assert_true(draft_open_locked(&first, &sys_real, "file", true, &e));
        assert_false(draft_open_locked(&second, &sys_real, "file", true, &e));
        assert_string_equal(e.msg, "cannot write 'file': another process is writing it");
        assert_true(file_write(&first, STR("new"), &done, &e));
        assert_content("file", STR("new"));
        assert_true(file_close(&first, &e));
        assert_int_equal(names_in("."), 1);
        unlink("file");
    }
}

static void a_file_that_cannot_be_put_in_place_leaves_nothing(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;

    (void)state;
    put_file("file", STR("old"));
    fault_init(&sys);
    fault_fail(&sys, FAULT_RENAME, 1, 1, EINTR);
    fault_fail(&sys, FAULT_RENAME, 2, 1, EIO);
    assert_false(draft_open_locked(&f, &sys.sys, "file", true, &e));
    assert_string_equal(e.msg, "cannot write 'file': Input/output error");
    assert_content("file", STR("old"));
    assert_int_equal(names_in("."), 1);
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_false(draft_open_locked(&f, &sys_real, "dir", true, &e));
    assert_string_equal(e.msg, "cannot write 'dir': it is a directory, not a file");
}

static void it_stands_in_the_folder_of_its_name(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;

    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    begin(&d, &f, &sys_real, "dir/file", false);
    assert_int_equal(names_in("dir"), 1);
    assert_true(draft_keep(&d, &f, &e));
    assert_content("dir/file", STR("new"));
}

static void a_long_name_is_no_trouble(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;
    char name[256];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    begin(&d, &f, &sys_real, name, false);
    assert_true(str_ends(str_z(d.at), STR("nnn")));
    assert_true(draft_keep(&d, &f, &e));
    assert_content(name, STR("new"));
    unlink(name);
}

static void assert_refused(const char *path, bool replace, enum err_kind kind, const char *msg)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;

    assert_false(draft_open(&d, &f, &sys_real, path, replace, &e));
    assert_string_equal(e.msg, msg);
    assert_int_equal(e.kind, kind);
    assert_null(d.at);
}

static void what_stands_in_the_way_is_told_at_once(void **state)
{
    (void)state;
    put_file("file", STR("old"));
    assert_refused("file", false, ERR_USAGE, "cannot write 'file': it exists already");
    assert_int_equal(symlink("file", "link"), 0);
    assert_refused("link", false, ERR_USAGE, "cannot write 'link': it exists already");
    assert_refused("link", true, ERR_USAGE,
                   "cannot write 'link': it is a symbolic link, not a file");
    unlink("link");
    assert_refused(".", true, ERR_USAGE, "cannot write '.': it is a directory, not a file");
    assert_refused("missing/file", false, ERR_IO,
                   "cannot write 'missing/file': No such file or directory");
    assert_int_equal(names_in("."), 1);
}

static void what_a_killed_process_left_behind_is_no_trouble(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;
    char left[64];

    (void)state;
    snprintf(left, sizeof left, ".mcpreel-%ld-file", (long)getpid());
    put_file(left, STR("half of it"));
    begin(&d, &f, &sys_real, "file", false);
    assert_true(draft_keep(&d, &f, &e));
    assert_content("file", STR("new"));
    assert_int_equal(names_in("."), 1);
}

/* Somebody else makes the file while ours is written. */
static void lose_the_race(const struct sys *sys)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct draft d;

    begin(&d, &f, sys, "file", false);
    put_file("file", STR("theirs"));
    assert_false(draft_keep(&d, &f, &e));
    assert_string_equal(e.msg, "cannot write 'file': it exists already");
    assert_int_equal(e.kind, ERR_USAGE);
    assert_content("file", STR("theirs"));
    assert_int_equal(names_in("."), 1);
    unlink("file");
}

static void a_file_that_came_meanwhile_is_not_replaced(void **state)
{
    struct fault_sys sys;

    (void)state;
    lose_the_race(&sys_real);
    fault_init(&sys);
    fault_fail(&sys, FAULT_LINK, 1, FAULT_FOREVER, EPERM);
    lose_the_race(&sys.sys);
}

static void without_hard_links_it_works_all_the_same(void **state)
{
    static const int reasons[] = { EPERM, EOPNOTSUPP, ENOSYS, EMLINK };

    (void)state;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        struct file f = FILE_CLOSED;
        struct err e = ERR_NONE;
        struct fault_sys sys;
        struct draft d;

        fault_init(&sys);
        fault_fail(&sys, FAULT_LINK, 1, FAULT_FOREVER, reasons[i]);
        begin(&d, &f, &sys.sys, "file", false);
        assert_true(draft_keep(&d, &f, &e));
        assert_content("file", STR("new"));
        assert_int_equal(names_in("."), 1);
        unlink("file");
    }
}

static void interrupted_calls_are_made_again(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct draft d;

    (void)state;
    fault_init(&sys);
    fault_fail(&sys, FAULT_LINK, 1, 2, EINTR);
    fault_fail(&sys, FAULT_UNLINK, 1, 2, EINTR);
    fault_fail(&sys, FAULT_RENAME, 1, 2, EINTR);
    begin(&d, &f, &sys.sys, "file", false);
    assert_true(draft_keep(&d, &f, &e));
    begin(&d, &f, &sys.sys, "file", true);
    assert_true(draft_keep(&d, &f, &e));
    assert_int_equal(names_in("."), 1);
}

static void any_failure_leaves_what_was_there(void **state)
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
        struct draft d;

        if (cases[i].replace)
            put_file("file", STR("old"));
        fault_init(&sys);
        begin(&d, &f, &sys.sys, "file", cases[i].replace);
        fault_fail(&sys, cases[i].call, sys.calls[cases[i].call] + 1, 1, ENOSPC);
        assert_false(draft_keep(&d, &f, &e));
        assert_string_equal(e.msg, cases[i].msg);
        assert_int_equal(e.kind, ERR_IO);
        assert_null(d.at);
        assert_int_equal(f.fd, -1);
        assert_int_equal(names_in("."), cases[i].replace);
        if (cases[i].replace)
            assert_content("file", STR("old"));
        unlink("file");
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, into_a_new_directory, out_of_it)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_kept_draft_has_its_name_and_no_other),
        TEST(a_dropped_draft_leaves_nothing),
        TEST(the_old_file_is_there_until_the_new_one_is),
        TEST(of_two_who_replace_a_file_one_gives_way),
        TEST(a_file_that_cannot_be_put_in_place_leaves_nothing),
        TEST(it_stands_in_the_folder_of_its_name),
        TEST(a_long_name_is_no_trouble),
        TEST(what_stands_in_the_way_is_told_at_once),
        TEST(what_a_killed_process_left_behind_is_no_trouble),
        TEST(a_file_that_came_meanwhile_is_not_replaced),
        TEST(without_hard_links_it_works_all_the_same),
        TEST(interrupted_calls_are_made_again),
        TEST(any_failure_leaves_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
