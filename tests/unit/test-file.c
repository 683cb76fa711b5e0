#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static void assert_err(const struct err *e, enum err_kind kind, const char *msg)
{
    assert_string_equal(e->msg, msg);
    assert_int_equal(e->kind, kind);
}

/* Opening must fail in these words, and leave no descriptor behind. */
static void assert_unreadable(const struct sys *sys, const char *path, enum err_kind kind,
                              const char *msg)
{
    int before = open_fd_count();
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;

    assert_false(file_open(&f, sys, path, &e));
    assert_err(&e, kind, msg);
    assert_int_equal(f.fd, -1);
    assert_int_equal(open_fd_count(), before);
}

static void assert_not_created(const struct sys *sys, const char *path, bool replace,
                               enum err_kind kind, const char *msg)
{
    int before = open_fd_count();
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;

    assert_false(file_create(&f, sys, path, replace, &e));
    assert_err(&e, kind, msg);
    assert_int_equal(f.fd, -1);
    assert_int_equal(open_fd_count(), before);
}

static void written_bytes_are_read_back(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    uint64_t size;
    size_t n;
    char at[100];

    (void)state;
    assert_true(file_create(&f, &sys_real, "file", false, &e));
    assert_true(file_write(&f, STR("hello "), &n, &e));
    assert_int_equal(n, 6);
    assert_true(file_write(&f, STR_NONE, &n, &e));
    assert_int_equal(n, 0);
    assert_true(file_write(&f, STR("world"), &n, &e));
    assert_true(file_sync(&f, &e));
    assert_true(file_size(&f, &size, &e));
    assert_int_equal(size, 11);
    assert_true(file_close(&f, &e));

    assert_true(file_open(&f, &sys_real, "file", &e));
    assert_true(file_size(&f, &size, &e));
    assert_int_equal(size, 11);
    assert_true(file_read(&f, at, 6, &n, &e));
    assert_str(str_n(at, n), STR("hello "));
    assert_true(file_read(&f, at, sizeof at, &n, &e));
    assert_str(str_n(at, n), STR("world"));
    assert_true(file_read(&f, at, sizeof at, &n, &e));
    assert_int_equal(n, 0);
    assert_true(file_close(&f, &e));
    assert_int_equal(e.kind, ERR_OK);
}

static void a_file_may_be_closed_twice_or_without_open(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    int fd;

    (void)state;
    assert_true(file_close(&f, &e));
    assert_true(file_create(&f, &sys_real, "file", false, &e));
    fd = f.fd;
    assert_true(file_close(&f, &e));
    assert_int_equal(f.fd, -1);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_true(file_close(&f, &e));
}

static void descriptors_are_not_inherited(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(file_create(&f, &sys_real, "file", false, &e));
    assert_int_equal(fcntl(f.fd, F_GETFD), FD_CLOEXEC);
    file_close(&f, &e);
    assert_true(file_open(&f, &sys_real, "file", &e));
    assert_int_equal(fcntl(f.fd, F_GETFD), FD_CLOEXEC);
    file_close(&f, &e);
}

static void a_folder_or_device_cannot_be_read(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_unreadable(&sys_real, "missing", ERR_INPUT,
                      "cannot read 'missing': No such file or directory");
    assert_unreadable(&sys_real, "", ERR_INPUT, "cannot read '': No such file or directory");
    assert_unreadable(&sys_real, "dir", ERR_INPUT,
                      "cannot read 'dir': it is a directory, not a file");
    assert_unreadable(&sys_real, "fifo", ERR_INPUT,
                      "cannot read 'fifo': it is a pipe, not a file");
    assert_unreadable(&sys_real, "socket", ERR_INPUT,
                      "cannot read 'socket': it is a socket, not a file");
    assert_unreadable(&sys_real, "/dev/null", ERR_INPUT,
                      "cannot read '/dev/null': it is a device, not a file");
    assert_unreadable(&sys_real, "missing/file", ERR_INPUT,
                      "cannot read 'missing/file': No such file or directory");
    close(listener);
    assert_false(file_open(&f, &sys_real, "fifo", &e));
    assert_string_equal(e.hint, "save it to a file first");
}

static void a_link_to_a_file_is_followed_and_a_loop_is_an_error(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;

    (void)state;
    temp_dir_put("file", STR("x"));
    assert_int_equal(symlink("file", "link"), 0);
    assert_true(file_open(&f, &sys_real, "link", &e));
    assert_true(file_close(&f, &e));
    unlink("link");
    assert_int_equal(symlink("link", "link"), 0);
    assert_unreadable(&sys_real, "link", ERR_INPUT,
                      "cannot read 'link': Too many levels of symbolic links");
}

static void the_error_kind_of_an_unreadable_file_depends_on_errno(void **state)
{
    static const struct {
        int errnum;
        enum err_kind kind;
    } rows[] = {
        { EACCES, ERR_INPUT },       { EPERM, ERR_INPUT }, { ENOTDIR, ERR_INPUT },
        { ENAMETOOLONG, ERR_INPUT }, { EMFILE, ERR_IO },   { ENFILE, ERR_IO },
        { ENOMEM, ERR_IO },          { EIO, ERR_IO },
    };

    (void)state;
    temp_dir_put("file", STR("x"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fault_sys sys;
        char want[100];

        fault_init(&sys);
        fault_fail(&sys, FAULT_OPEN, 1, 1, rows[i].errnum);
        snprintf(want, sizeof want, "cannot read 'file': %s", strerror(rows[i].errnum));
        assert_unreadable(&sys.sys, "file", rows[i].kind, want);
        fault_init(&sys);
        fault_fail(&sys, FAULT_FSTAT, 1, 1, rows[i].errnum);
        assert_unreadable(&sys.sys, "file", rows[i].kind, want);
    }
}

/* Runs with `fd` as standard input, which is put back afterwards. */
static int take_stdin(int fd)
{
    int kept = dup(STDIN_FILENO);

    assert_true(kept > 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    return kept;
}

static void restore_stdin(int kept)
{
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
}

static void only_a_dash_names_a_standard_stream(void **state)
{
    (void)state;
    assert_true(file_is_stdio("-"));
    assert_false(file_is_stdio("./-"));
    assert_false(file_is_stdio("--"));
    assert_false(file_is_stdio(""));
}

static void a_dash_is_standard_input_and_stays_open(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    int fds[2], kept;
    char at[10];
    size_t n;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "in", 2), 2);
    kept = take_stdin(fds[0]);
    assert_true(file_open(&f, &sys_real, "-", &e));
    assert_int_equal(f.fd, 0);
    assert_string_equal(f.path, "standard input");
    assert_true(file_read(&f, at, sizeof at, &n, &e));
    assert_str(str_n(at, n), STR("in"));
    close(fds[1]);
    assert_true(file_read(&f, at, sizeof at, &n, &e));
    assert_int_equal(n, 0);
    assert_true(file_close(&f, &e));
    assert_int_equal(f.fd, -1);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    restore_stdin(kept);
}

static void standard_input_may_not_be_a_directory_or_closed(void **state)
{
    int kept, dir;

    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    dir = open("dir", O_RDONLY);
    assert_true(dir > 0);
    kept = take_stdin(dir);
    assert_unreadable(&sys_real, "-", ERR_INPUT,
                      "cannot read 'standard input': it is a directory, not a file");
    close(STDIN_FILENO);
    assert_unreadable(&sys_real, "-", ERR_INPUT,
                      "cannot read 'standard input': Bad file descriptor");
    restore_stdin(kept);
}

static void *write_later(void *arg)
{
    usleep(30000);
    return write(*(int *)arg, "late", 4) == 4 ? arg : NULL;
}

static void nonblocking_standard_input_is_waited_for(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    pthread_t thread;
    void *wrote;
    int fds[2], kept;
    char at[10];
    size_t n;

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    kept = take_stdin(fds[0]);
    assert_true(file_open(&f, &sys_real, "-", &e));
    assert_int_equal(pthread_create(&thread, NULL, write_later, &fds[1]), 0);
    assert_true(file_read(&f, at, sizeof at, &n, &e));
    assert_str(str_n(at, n), STR("late"));
    assert_int_equal(pthread_join(thread, &wrote), 0);
    assert_non_null(wrote);
    close(fds[1]);
    restore_stdin(kept);
}

/* If we are started without a standard input, the first file becomes descriptor 0. */
static void a_file_with_descriptor_0_is_closed(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    int kept = dup(STDIN_FILENO);

    (void)state;
    temp_dir_put("file", STR("x"));
    close(STDIN_FILENO);
    assert_true(file_open(&f, &sys_real, "file", &e));
    assert_int_equal(f.fd, 0);
    assert_true(file_close(&f, &e));
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    restore_stdin(kept);
}

static void a_new_file_is_private_to_its_owner(void **state)
{
    mode_t before = umask(0);
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct stat st;

    (void)state;
    for (int replace = 0; replace < 2; replace++) {
        assert_true(file_create(&f, &sys_real, "file", replace, &e));
        assert_int_equal(fstat(f.fd, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        assert_true(file_close(&f, &e));
        assert_int_equal(chmod("file", 0666), 0); /* the one that is replaced had more */
    }
    umask(before);
}

static void an_existing_file_is_not_overwritten(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;

    (void)state;
    temp_dir_put("file", STR("precious"));
    assert_not_created(&sys_real, "file", false, ERR_USAGE,
                       "cannot write 'file': it exists already");
    assert_false(file_create(&f, &sys_real, "file", false, &e));
    assert_string_equal(e.hint, "choose another name, or add --force to replace it");
    assert_content("file", STR("precious"));
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_not_created(&sys_real, "dir", false, ERR_USAGE,
                       "cannot write 'dir': it exists already");
}

static void a_symbolic_link_is_not_followed_for_writing(void **state)
{
    (void)state;
    temp_dir_put("file", STR("precious"));
    assert_int_equal(symlink("file", "link"), 0);
    assert_not_created(&sys_real, "link", false, ERR_USAGE,
                       "cannot write 'link': it exists already");
    assert_not_created(&sys_real, "link", true, ERR_USAGE,
                       "cannot write 'link': it is a symbolic link, not a file");
    unlink("link");
    assert_int_equal(symlink("other", "link"), 0); /* it leads nowhere yet */
    assert_not_created(&sys_real, "link", false, ERR_USAGE,
                       "cannot write 'link': it exists already");
    assert_not_created(&sys_real, "link", true, ERR_USAGE,
                       "cannot write 'link': it is a symbolic link, not a file");
    assert_int_equal(access("other", F_OK), -1);
    assert_content("file", STR("precious"));
}

static void only_a_regular_file_is_replaced(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_not_created(&sys_real, "dir", true, ERR_USAGE,
                       "cannot write 'dir': it is a directory, not a file");
    assert_not_created(&sys_real, "fifo", true, ERR_USAGE,
                       "cannot write 'fifo': it is a pipe, not a file");
    assert_not_created(&sys_real, "/dev/null", true, ERR_USAGE,
                       "cannot write '/dev/null': it is a device, not a file");
    assert_int_equal(lstat("fifo", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

static void a_replaced_file_has_a_new_inode(void **state)
{
    struct file f = FILE_CLOSED, old = FILE_CLOSED;
    struct err e = ERR_NONE;
    char at[20];
    size_t n;

    (void)state;
    temp_dir_put("file", STR("old content"));
    assert_int_equal(link("file", "other"), 0);
    assert_true(file_open(&old, &sys_real, "file", &e));
    assert_true(file_create(&f, &sys_real, "file", true, &e));
    assert_true(file_write(&f, STR("new"), &n, &e));
    assert_true(file_close(&f, &e));
    assert_content("file", STR("new"));
    assert_content("other", STR("old content"));
    assert_true(file_read(&old, at, sizeof at, &n, &e));
    assert_str(str_n(at, n), STR("old content"));
    assert_true(file_close(&old, &e));
    unlink("file");
    assert_true(file_create(&f, &sys_real, "file", true, &e)); /* nothing to replace */
    assert_true(file_close(&f, &e));
}

static void a_failed_create_reports_the_reason(void **state)
{
    (void)state;
    assert_not_created(&sys_real, "missing/file", false, ERR_IO,
                       "cannot write 'missing/file': there is no folder 'missing'");
    assert_not_created(&sys_real, "missing/file", true, ERR_IO,
                       "cannot write 'missing/file': there is no folder 'missing'");
    assert_not_created(&sys_real, "", false, ERR_IO,
                       "cannot write '': No such file or directory");
}

/* Each call on the way of a replacement fails in turn. */
static void a_failed_replacement_keeps_the_old_file(void **state)
{
    static const struct {
        enum fault_call call;
        unsigned nth;
        int errnum;
    } rows[] = {
        { FAULT_OPEN, 1, EACCES },
        { FAULT_OPEN, 2, EACCES },
        { FAULT_FSTAT, 1, EIO },
        { FAULT_UNLINK, 1, EPERM },
    };

    (void)state;
    temp_dir_put("file", STR("precious"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fault_sys sys;
        char want[100];

        fault_init(&sys);
        fault_fail(&sys, rows[i].call, rows[i].nth, 1, rows[i].errnum);
        snprintf(want, sizeof want, "cannot write 'file': %s", strerror(rows[i].errnum));
        assert_not_created(&sys.sys, "file", true, ERR_IO, want);
        assert_content("file", STR("precious"));
    }
}

static void a_file_created_meanwhile_is_not_overwritten(void **state)
{
    struct fault_sys sys;

    (void)state;
    temp_dir_put("file", STR("old"));
    fault_init(&sys);
    fault_fail(&sys, FAULT_OPEN, 4, 1, EEXIST); /* as if made between unlink and open */
    assert_not_created(&sys.sys, "file", true, ERR_USAGE,
                       "cannot write 'file': it exists already");
}

static void a_file_deleted_during_replacement_is_no_error(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;

    (void)state;
    fault_init(&sys);
    fault_fail(&sys, FAULT_OPEN, 1, 1, EEXIST); /* it was there then, and is not now */
    assert_true(file_create(&f, &sys.sys, "file", true, &e));
    assert_true(file_close(&f, &e));
    fault_init(&sys);
    fault_fail(&sys, FAULT_UNLINK, 1, 1, ENOENT); /* the last open has the last word */
    assert_not_created(&sys.sys, "file", true, ERR_USAGE,
                       "cannot write 'file': it exists already");
}

/* Every kind of call is interrupted several times before it works. */
static void interrupted_calls_are_made_again(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    uint64_t size;
    char at[10];
    size_t n;

    (void)state;
    temp_dir_put("file", STR("old"));
    fault_init(&sys);
    for (enum fault_call call = FAULT_OPEN; call <= FAULT_UNLINK; call++)
        fault_fail(&sys, call, 1, 3, EINTR);
    assert_true(file_create(&f, &sys.sys, "file", true, &e));
    assert_true(file_write(&f, STR("abcdef"), &n, &e));
    assert_int_equal(n, 6);
    assert_true(file_sync(&f, &e));
    assert_true(file_truncate(&f, 3, &e));
    assert_true(file_size(&f, &size, &e));
    assert_int_equal(size, 3);
    assert_true(file_close(&f, &e));
    assert_true(file_open(&f, &sys.sys, "file", &e));
    assert_true(file_read(&f, at, sizeof at, &n, &e));
    assert_str(str_n(at, n), STR("abc"));
    assert_int_equal(sys.calls[FAULT_WRITE], 4);
    assert_int_equal(sys.calls[FAULT_READ], 4);
    fault_init(&sys);
    fault_fail(&sys, FAULT_CLOSE, 1, 1, EINTR);
    assert_true(file_close(&f, &e)); /* it is closed: trying again would be wrong */
    assert_int_equal(sys.calls[FAULT_CLOSE], 1);
}

static void a_complete_write_is_one_system_call(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    size_t n;

    (void)state;
    fault_init(&sys);
    assert_true(file_create(&f, &sys.sys, "file", false, &e));
    assert_true(file_write(&f, STR_NONE, &n, &e));
    assert_int_equal(sys.calls[FAULT_WRITE], 0);
    assert_true(file_write(&f, STR("a whole line\n"), &n, &e));
    assert_int_equal(sys.calls[FAULT_WRITE], 1);
    assert_true(file_close(&f, &e));
}

static void short_writes_are_continued(void **state)
{
    (void)state;
    for (size_t most = 1; most < 8; most++) {
        struct file f = FILE_CLOSED;
        struct err e = ERR_NONE;
        struct fault_sys sys;
        size_t n;

        fault_init(&sys);
        fault_short(&sys, FAULT_WRITE, 1, FAULT_FOREVER, most);
        assert_true(file_create(&f, &sys.sys, "file", true, &e));
        assert_true(file_write(&f, STR("abcdefg"), &n, &e));
        assert_int_equal(n, 7);
        assert_int_equal(sys.calls[FAULT_WRITE], (7 + most - 1) / most);
        assert_true(file_close(&f, &e));
        assert_content("file", STR("abcdefg"));
    }
}

static void a_failed_write_returns_how_many_bytes_were_written(void **state)
{
    static const int errnums[] = { ENOSPC, EIO, EDQUOT, EFBIG };

    (void)state;
    for (size_t i = 0; i < sizeof errnums / sizeof *errnums; i++) {
        struct file f = FILE_CLOSED;
        struct err e = ERR_NONE;
        struct fault_sys sys;
        char want[100];
        size_t n = 99;

        fault_init(&sys);
        fault_short(&sys, FAULT_WRITE, 2, 1, 4);
        fault_fail(&sys, FAULT_WRITE, 3, 1, errnums[i]);
        assert_true(file_create(&f, &sys.sys, "file", true, &e));
        assert_true(file_write(&f, STR("whole\n"), &n, &e));
        assert_false(file_write(&f, STR("torn line\n"), &n, &e));
        assert_int_equal(n, 4);
        snprintf(want, sizeof want, "cannot write 'file': %s", strerror(errnums[i]));
        assert_err(&e, ERR_IO, want);
        assert_content("file", STR("whole\ntorn"));

        /* The recorder then truncates to the last complete line, and continues. */
        assert_true(file_truncate(&f, 6, &e));
        assert_true(file_write(&f, STR("next\n"), &n, &e));
        assert_content("file", STR("whole\nnext\n"));
        assert_true(file_close(&f, &e));
    }
}

static void a_write_of_zero_bytes_ends_with_an_error(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    size_t n = 99;

    (void)state;
    fault_init(&sys);
    fault_short(&sys, FAULT_WRITE, 1, FAULT_FOREVER, 0);
    assert_true(file_create(&f, &sys.sys, "file", false, &e));
    assert_false(file_write(&f, STR("x"), &n, &e));
    assert_int_equal(n, 0);
    assert_err(&e, ERR_IO, "cannot write 'file': Input/output error");
    file_close(&f, &e);
}

static void each_failure_names_the_file(void **state)
{
    struct file f = FILE_CLOSED;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    uint64_t size;
    size_t n;
    char c;

    (void)state;
    fault_init(&sys);
    fault_fail(&sys, FAULT_FDATASYNC, 1, 1, EIO);
    fault_fail(&sys, FAULT_FTRUNCATE, 1, 1, EPERM);
    fault_fail(&sys, FAULT_FSTAT, 1, 1, EOVERFLOW);
    fault_fail(&sys, FAULT_READ, 1, 1, EIO);
    fault_fail(&sys, FAULT_CLOSE, 1, 1, ENOSPC);
    assert_true(file_create(&f, &sys.sys, "file", false, &e));
    assert_false(file_sync(&f, &e));
    assert_err(&e, ERR_IO, "cannot sync 'file': Input/output error");
    assert_false(file_truncate(&f, 0, &e));
    assert_err(&e, ERR_IO, "cannot truncate 'file': Operation not permitted");
    assert_false(file_truncate(&f, UINT64_MAX, &e));
    assert_err(&e, ERR_IO, "cannot truncate 'file': File too large");
    assert_false(file_size(&f, &size, &e));
    assert_err(&e, ERR_IO, "cannot read 'file': Value too large for defined data type");
    assert_false(file_read(&f, &c, 1, &n, &e));
    assert_err(&e, ERR_IO, "cannot read 'file': Input/output error");
    assert_false(file_close(&f, &e));
    assert_err(&e, ERR_IO, "cannot close 'file': No space left on device");
    assert_int_equal(f.fd, -1);
    assert_true(file_close(&f, &e));
}

static void file_read_all_reads_the_whole_file(void **state)
{
    static const size_t sizes[] = { 0, 1, 4095, 65535, 65536, 65537, 300000 };
    static char content[300000];

    (void)state;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 31 % 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct err e = ERR_NONE;
        struct buf b;

        temp_dir_put("file", str_n(content, sizes[i]));
        for (size_t extra = 0; extra < 2; extra++) { /* with and without room to spare */
            buf_init(&b, 4 + sizes[i] + extra);
            buf_add(&b, STR("head"));
            assert_true(file_read_all(&b, &sys_real, "file", &e));
            assert_int_equal(b.len, 4 + sizes[i]);
            assert_memory_equal(b.at, "head", 4);
            assert_true(str_eq(str_skip(buf_str(&b), 4), str_n(content, sizes[i])));
            buf_release(&b);
        }
    }
}

static void slurping_stops_at_the_limit(void **state)
{
    static char content[65537];
    static const size_t ceilings[] = { 0, 1, 65535, 65536 };
    int before = open_fd_count();

    (void)state;
    temp_dir_put("file", str_n(content, sizeof content));
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; i++) {
        struct err e = ERR_NONE;
        struct buf b;
        char want[100];

        buf_init(&b, ceilings[i]);
        assert_false(file_read_all(&b, &sys_real, "file", &e));
        snprintf(want, sizeof want, "cannot read 'file': more than %zu bytes", ceilings[i]);
        assert_err(&e, ERR_LIMIT, want);
        buf_release(&b);
    }
    assert_int_equal(open_fd_count(), before);
}

static void slurping_into_a_full_buffer_fails(void **state)
{
    struct err e = ERR_NONE;
    struct buf b;

    (void)state;
    temp_dir_put("file", STR("x"));
    buf_init(&b, 1);
    buf_add(&b, STR("too much"));
    assert_false(file_read_all(&b, &sys_real, "file", &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_release(&b);
}

static void slurping_handles_short_reads_and_reports_failed_ones(void **state)
{
    int before = open_fd_count();
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct buf b;

    (void)state;
    temp_dir_put("file", STR("abcdef"));
    fault_init(&sys);
    fault_short(&sys, FAULT_READ, 1, FAULT_FOREVER, 1);
    buf_init(&b, 100);
    assert_true(file_read_all(&b, &sys.sys, "file", &e));
    assert_str(buf_str(&b), STR("abcdef"));
    assert_int_equal(sys.calls[FAULT_READ], 7);

    for (unsigned nth = 1; nth <= 7; nth++) {
        fault_init(&sys);
        fault_fail(&sys, FAULT_READ, nth, 1, EIO);
        fault_short(&sys, FAULT_READ, 1, FAULT_FOREVER, 1);
        buf_clear(&b);
        assert_false(file_read_all(&b, &sys.sys, "file", &e));
        assert_err(&e, ERR_IO, "cannot read 'file': Input/output error");
        assert_int_equal(b.len, nth - 1);
    }
    buf_release(&b);

    fault_init(&sys);
    fault_fail(&sys, FAULT_READ, 2, 1, EIO); /* the one that would find the end */
    buf_init(&b, 6);
    assert_false(file_read_all(&b, &sys.sys, "file", &e));
    assert_err(&e, ERR_IO, "cannot read 'file': Input/output error");
    buf_release(&b);

    assert_false(file_read_all(&b, &sys_real, "missing", &e));
    assert_err(&e, ERR_INPUT, "cannot read 'missing': No such file or directory");
    assert_int_equal(open_fd_count(), before);
}

static void a_given_descriptor_must_be_open_and_writable(void **state)
{
    struct err e = ERR_NONE;
    char want[64];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_true(file_can_write_fd(ends[1], &e));
    assert_false(file_can_write_fd(ends[0], &e));
    snprintf(want, sizeof want, "descriptor %d cannot be written to", ends[0]);
    assert_string_equal(e.msg, want);
    close(ends[0]);
    close(ends[1]);
    assert_false(file_can_write_fd(ends[1], &e));
    snprintf(want, sizeof want, "descriptor %d is not open", ends[1]);
    assert_string_equal(e.msg, want);
    assert_int_equal(e.kind, ERR_USAGE);
}

static void bytes_can_be_read_at_any_offset(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct file file;
    char got[8];

    (void)state;
    temp_dir_put("file", STR("0123456789"));
    fault_init(&f);
    fault_short(&f, FAULT_PREAD, 1, 2, 2);
    fault_fail(&f, FAULT_PREAD, 3, 1, EINTR);
    assert_true(file_open(&file, &f.sys, "file", &e));
    assert_true(file_read_at(&file, 2, got, 6, &e));
    assert_memory_equal(got, "234567", 6);
    assert_true(file_read_at(&file, 0, got, 1, &e));
    assert_memory_equal(got, "0", 1);
    assert_true(file_read_at(&file, 99, got, 0, &e));
    assert_false(file_read_at(&file, 8, got, 3, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_string_equal(e.msg, "cannot read 'file': it has become shorter");
    file_close(&file, &e);
}

static void an_unnamed_file_leaves_nothing_behind(void **state)
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

        assert_true(file_create_unnamed(&file, &f.sys, ".", &e));
        assert_true(file_write(&file, STR("abc"), &done, &e));
        assert_true(file_read_at(&file, 1, got, 2, &e));
        assert_memory_equal(got, "bc", 2);
        assert_int_equal(fstat(file.fd, &st), 0);
        assert_int_equal(st.st_nlink, 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_true(file_close(&file, &e));
    }
}

static void an_unnamed_file_that_cannot_be_created_reports_the_folder(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct file file;

    (void)state;
    assert_false(file_create_unnamed(&file, &sys_real, "nowhere", &e));
    assert_string_equal(e.msg,
                        "cannot make a temporary file in 'nowhere': No such file or directory");
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 1, 1, EOPNOTSUPP);
    fault_fail(&f, FAULT_UNLINK, 1, 1, EACCES);
    e = (struct err)ERR_NONE;
    assert_false(file_create_unnamed(&file, &f.sys, ".", &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "cannot remove './.mcpreel-"));
    {
        char name[64];
        snprintf(name, sizeof name, "./.mcpreel-%ld", (long)getpid());
        assert_int_equal(unlink(name), 0);
    }
}

static void a_size_limit_of_the_process_is_an_error(void **state)
{
    struct rlimit before, small;
    struct err e = ERR_NONE;
    struct file f;
    size_t done;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 5;
    assert_true(file_create(&f, &sys_real, "limited", false, &e));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(file_write_limited(&f, STR("too long"), &done, &e));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(done, 5);
    assert_string_equal(e.msg, "cannot write 'limited': File too large");
    assert_true(signal(SIGXFSZ, SIG_DFL) == SIG_DFL); /* as it was */
    file_close(&f, &e);
}

static void a_file_version_detects_changes(void **state)
{
    struct file_version old, new;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct file f;

    (void)state;
    temp_dir_put("a", STR("one"));
    assert_true(file_open(&f, &sys_real, "a", &e));
    assert_true(file_read_version(&f, &old, &e));
    assert_true(file_read_version(&f, &new, &e));
    assert_true(file_is_same_version(&old, &new));
    assert_true(file_has_version(&sys_real, "a", &old));
    temp_dir_put("a", STR("four"));
    assert_false(file_has_version(&sys_real, "a", &old));
    assert_false(file_has_version(&sys_real, "missing", &old));
    assert_true(file_read_version(&f, &new, &e));
    assert_false(file_is_same_version(&old, &new));
    new = old;
    new.inode++;
    assert_false(file_is_same_version(&old, &new));
    fault_init(&sys);
    fault_fail(&sys, FAULT_FSTAT, 1, 1, EIO);
    f.sys = &sys.sys;
    assert_false(file_read_version(&f, &new, &e));
    assert_string_equal(e.msg, "cannot read 'a': Input/output error");
    file_close(&f, &e);
}

static void assert_same_place(const char *a, const char *b, bool want)
{
    assert_int_equal(file_is_same_place(&sys_real, a, b), want);
    assert_int_equal(file_is_same_place(&sys_real, b, a), want);
}

static void a_file_is_the_same_place_in_any_spelling(void **state)
{
    struct buf path;

    buf_init(&path, 4096);
    temp_dir_put("there", STR("x"));
    temp_dir_put("other", STR("x"));
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(symlink("there", "link"), 0);
    assert_int_equal(symlink("missing", "dangling"), 0);
    assert_same_place("there", "./there", true);
    assert_same_place("there", "folder/../there", true);
    assert_same_place("there", "link", true);
    assert_same_place("there", "other", false);
    assert_same_place("there", "missing", false);
    buf_printf(&path, "%s/missing", (const char *)*state);
    assert_same_place("missing", "./missing", true);
    assert_same_place("missing", buf_z(&path), true);
    assert_same_place("missing", "folder/missing", false);
    assert_same_place("missing", "no/missing", false);
    assert_same_place("missing", "dangling", false);
    assert_same_place("/missing", "//missing", true);
    buf_release(&path);
}

static void owner_and_mode_are_copied_or_the_reason_is_reported(void **state)
{
    static const struct {
        enum fault_call call;
        unsigned nth;
        const char *says;
    } cases[] = {
        { FAULT_FSTAT, 1, "cannot read 'a': Operation not permitted" },
        { FAULT_FSTAT, 2, "cannot write 'b': Operation not permitted" },
        { FAULT_FCHMOD, 1, "cannot keep the permissions of 'b': Operation not permitted" },
    };
    struct err e = ERR_NONE;
    struct file from, to;
    struct stat st;

    (void)state;
    temp_dir_put("a", STR("one"));
    temp_dir_put("b", STR("two"));
    assert_int_equal(chmod("a", 0751), 0);
    assert_true(file_open(&from, &sys_real, "a", &e) && file_open(&to, &sys_real, "b", &e));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault_sys sys;

        fault_init(&sys);
        fault_fail(&sys, cases[i].call, cases[i].nth, 1, EPERM);
        from.sys = to.sys = &sys.sys;
        assert_false(file_copy_owner_and_mode(&to, &from, &e));
        assert_string_equal(e.msg, cases[i].says);
    }
    from.sys = to.sys = &sys_real;
    assert_true(file_copy_owner_and_mode(&to, &from, &e));
    assert_int_equal(fstat(to.fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0751);
    file_close(&from, &e);
    file_close(&to, &e);
}

static void file_is_writable_depends_on_its_mode(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys sys;

    (void)state;
    temp_dir_put("a", STR("one"));
    assert_true(file_can_modify(&sys_real, "a", &e));
    assert_content("a", STR("one"));
    fault_init(&sys);
    fault_fail(&sys, FAULT_OPEN, 1, 1, EROFS);
    assert_false(file_can_modify(&sys.sys, "a", &e));
    assert_string_equal(e.msg, "cannot write 'a': Read-only file system");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_file_is_the_same_place_in_any_spelling),
        IN_TEMP_DIR(written_bytes_are_read_back),
        IN_TEMP_DIR(a_file_may_be_closed_twice_or_without_open),
        IN_TEMP_DIR(descriptors_are_not_inherited),
        cmocka_unit_test(a_given_descriptor_must_be_open_and_writable),
        IN_TEMP_DIR(a_folder_or_device_cannot_be_read),
        IN_TEMP_DIR(a_link_to_a_file_is_followed_and_a_loop_is_an_error),
        IN_TEMP_DIR(the_error_kind_of_an_unreadable_file_depends_on_errno),
        cmocka_unit_test(only_a_dash_names_a_standard_stream),
        IN_TEMP_DIR(a_dash_is_standard_input_and_stays_open),
        IN_TEMP_DIR(standard_input_may_not_be_a_directory_or_closed),
        IN_TEMP_DIR(nonblocking_standard_input_is_waited_for),
        IN_TEMP_DIR(a_file_with_descriptor_0_is_closed),
        IN_TEMP_DIR(a_new_file_is_private_to_its_owner),
        IN_TEMP_DIR(an_existing_file_is_not_overwritten),
        IN_TEMP_DIR(a_symbolic_link_is_not_followed_for_writing),
        IN_TEMP_DIR(only_a_regular_file_is_replaced),
        IN_TEMP_DIR(a_replaced_file_has_a_new_inode),
        IN_TEMP_DIR(a_failed_create_reports_the_reason),
        IN_TEMP_DIR(a_failed_replacement_keeps_the_old_file),
        IN_TEMP_DIR(a_file_created_meanwhile_is_not_overwritten),
        IN_TEMP_DIR(a_file_deleted_during_replacement_is_no_error),
        IN_TEMP_DIR(interrupted_calls_are_made_again),
        IN_TEMP_DIR(a_complete_write_is_one_system_call),
        IN_TEMP_DIR(short_writes_are_continued),
        IN_TEMP_DIR(a_failed_write_returns_how_many_bytes_were_written),
        IN_TEMP_DIR(a_write_of_zero_bytes_ends_with_an_error),
        IN_TEMP_DIR(each_failure_names_the_file),
        IN_TEMP_DIR(a_size_limit_of_the_process_is_an_error),
        IN_TEMP_DIR(a_file_version_detects_changes),
        IN_TEMP_DIR(owner_and_mode_are_copied_or_the_reason_is_reported),
        IN_TEMP_DIR(file_is_writable_depends_on_its_mode),
        IN_TEMP_DIR(file_read_all_reads_the_whole_file),
        IN_TEMP_DIR(slurping_stops_at_the_limit),
        IN_TEMP_DIR(slurping_into_a_full_buffer_fails),
        IN_TEMP_DIR(slurping_handles_short_reads_and_reports_failed_ones),
        IN_TEMP_DIR(bytes_can_be_read_at_any_offset),
        IN_TEMP_DIR(an_unnamed_file_leaves_nothing_behind),
        IN_TEMP_DIR(an_unnamed_file_that_cannot_be_created_reports_the_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
