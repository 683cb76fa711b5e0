#include "format/file-rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file-lock.h"
#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static struct buf compressed(enum compress_kind kind, struct str text)
{
    struct compressor *p = compressor_new(kind);
    struct buf b;

    buf_init(&b, 64 << 20);
    compressor_add(p, text, false, &b);
    compressor_end(p, &b);
    compressor_free(p);
    return b;
}

static void assert_text(const char *path, enum compress_kind kind, struct str want)
{
    struct err e = ERR_NONE;
    struct input input;
    struct buf got;
    size_t n;

    buf_init(&got, 64 << 20);
    assert_true(input_open(&input, &sys_real, path, &e));
    assert_int_equal(input.kind, kind);
    do {
        assert_true(input_read(&input, buf_reserve(&got, 4096), 4096, &n, &e));
        buf_commit(&got, n);
    } while (n);
    assert_str(buf_str(&got), want);
    input_close(&input);
    buf_release(&got);
}

static bool check(const struct sys *sys, const char *path, struct file_version *v,
                  struct err *e)
{
    struct err ignored = ERR_NONE;
    struct file f = FILE_CLOSED;
    bool ok;

    if (!file_open(&f, &sys_real, path, e))
        fail_msg("%s", e->msg);
    f.sys = sys;
    ok = file_rewrite_check(path, &f, v, e);
    file_close(&f, &ignored);
    return ok;
}

/* Replaces text[at..at + len) by `new`. */
static bool replace(const struct sys *sys, const struct file_version *v, uint64_t at,
                    uint64_t len, struct str new, struct err *e)
{
    struct file_rewrite w;
    struct buf old;
    bool ok;

    if (!file_rewrite_open(&w, sys, "file", v, e))
        return false;
    buf_init(&old, 64 << 20);
    ok = file_rewrite_copy_to(&w, at, e) && file_rewrite_take(&w, len, &old, e) &&
         file_rewrite_put(&w, new, e);
    if (!ok)
        file_rewrite_abort(&w);
    else
        ok = file_rewrite_finish(&w, e);
    buf_release(&old);
    return ok;
}

static void must_replace(uint64_t at, uint64_t len, struct str new)
{
    struct file_version v;
    struct err e = ERR_NONE;

    if (!check(&sys_real, "file", &v, &e) || !replace(&sys_real, &v, at, len, new, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(temp_dir_count("."), 1);
}

static void a_range_is_replaced_and_the_rest_stays(void **state)
{
    (void)state;
    temp_dir_put("file", STR("one two three"));
    must_replace(4, 3, STR("2"));
    assert_content("file", STR("one 2 three"));
    must_replace(0, 3, STR(""));
    assert_content("file", STR(" 2 three"));
    must_replace(8, 0, STR("\0\n"));
    assert_content("file", STR(" 2 three\0\n"));
}

static void a_compressed_file_is_compressed_again(void **state)
{
    static const enum compress_kind kinds[] = { COMPRESS_GZIP, COMPRESS_ZSTD };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct buf packed = compressed(kinds[i], STR("one two three"));

        temp_dir_put("file", buf_str(&packed));
        must_replace(4, 3, STR("2"));
        assert_text("file", kinds[i], STR("one 2 three"));
        /* For incomplete data, the part that a reader gets is left. */
        temp_dir_put("file", str_n(packed.at, packed.len - 2));
        must_replace(0, 3, STR("1"));
        assert_text("file", kinds[i], STR("1 two three"));
        buf_release(&packed);
    }
}

/* Longer than several pieces, and of random bytes, which do not get shorter. */
static void a_large_file_is_copied_in_pieces(void **state)
{
    enum { SIZE = 3 << 20, AT = 1000003, LEN = 500009 };
    static const enum compress_kind kinds[] = { COMPRESS_NONE, COMPRESS_GZIP, COMPRESS_ZSTD };
    struct buf old, new;
    uint64_t x = 1;

    (void)state;
    buf_init(&old, SIZE);
    buf_init(&new, 2 * SIZE);
    while (old.len < SIZE) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        buf_add_ch(&old, (char)(x >> 56));
    }
    buf_add(&new, str_n(old.at, AT));
    buf_add(&new, str_n(old.at, 2 * LEN));
    buf_add(&new, str_skip(buf_str(&old), AT + LEN));
    for (size_t i = 0; i < 3; i++) {
        struct buf packed;

        buf_init(&packed, 1);
        if (kinds[i] != COMPRESS_NONE)
            packed = compressed(kinds[i], buf_str(&old));
        temp_dir_put("file", kinds[i] == COMPRESS_NONE ? buf_str(&old) : buf_str(&packed));
        must_replace(AT, LEN, str_n(old.at, 2 * LEN));
        assert_text("file", kinds[i], buf_str(&new));
        buf_release(&packed);
    }
    buf_release(&old);
    buf_release(&new);
}

static void mode_and_owner_stay(void **state)
{
    bool root = geteuid() == 0;
    struct stat st;

    (void)state;
    temp_dir_put("file", STR("abc"));
    assert_int_equal(chmod("file", 0640), 0);
    if (root)
        assert_int_equal(chown("file", 12345, 23456), 0);
    must_replace(1, 1, STR("B"));
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(st.st_uid, root ? 12345 : geteuid());
    assert_int_equal(st.st_gid, root ? 23456 : getegid());
}

static void assert_rejected(const struct sys *sys, const char *path, const char *why)
{
    struct file_version v;
    struct err e = ERR_NONE;

    assert_false(check(sys, path, &v, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, why);
}

static void a_file_that_cannot_be_replaced_is_rejected_at_the_start(void **state)
{
    struct file_version v;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    int fd;

    (void)state;
    temp_dir_put("file", STR("abc"));
    assert_false(file_rewrite_check("-", NULL, &v, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "cannot update standard input");
    assert_int_equal(symlink("file", "link"), 0);
    assert_rejected(&sys_real, "link",
                    "cannot write 'link': it is a symbolic link, not a file");
    fault_init(&sys);
    fault_fail(&sys, FAULT_OPEN, 1, 1, EACCES);
    assert_rejected(&sys.sys, "file", "cannot write 'file': Permission denied");
    fault_init(&sys);
    fault_fail(&sys, FAULT_FCHMOD, 1, 1, EPERM);
    assert_rejected(&sys.sys, "file",
                    "cannot keep the permissions of 'file': Operation not permitted");
    fd = file_lock_open(&sys_real, "file");
    assert_rejected(&sys_real, "file", "cannot write 'file': another process is writing it");
    close(fd);
    assert_content("file", STR("abc"));
    assert_int_equal(temp_dir_count("."), 2);
}

/* Returns whether the file was replaced although the call failed. */
static bool is_replaced_with_failure(enum fault_call call, unsigned nth, size_t *failures)
{
    int fds = open_fd_count();
    struct file_version v;
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct buf now;
    bool ok, replaced;

    temp_dir_put("file", STR("one two three"));
    assert_true(check(&sys_real, "file", &v, &e));
    fault_init(&sys);
    fault_fail(&sys, call, nth, 1, EIO);
    ok = replace(&sys.sys, &v, 4, 3, STR("2"), &e);
    *failures += !ok;
    buf_init(&now, 100);
    temp_dir_get(&now, "file");
    replaced = str_eq(buf_str(&now), STR("one 2 three"));
    if (!replaced)
        assert_str(buf_str(&now), STR("one two three"));
    assert_true(replaced || !ok);
    buf_release(&now);
    assert_int_equal(temp_dir_count("."), 1);
    assert_int_equal(open_fd_count(), fds);
    return replaced && !ok;
}

/* Every system call fails once. */
static void a_failure_leaves_the_old_file(void **state)
{
    static const enum fault_call calls[] = { FAULT_OPEN,   FAULT_READ,      FAULT_WRITE,
                                             FAULT_FSTAT,  FAULT_FDATASYNC, FAULT_FCHMOD,
                                             FAULT_RENAME, FAULT_CLOSE,     FAULT_FSYNC };
    size_t failures, all = 0;

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        failures = 0;
        for (unsigned nth = 1; nth <= 16; nth++) {
            bool late = is_replaced_with_failure(calls[i], nth, &failures);

            /* Only the sync of the directory comes after the exchange. */
            assert_false(late && calls[i] != FAULT_FSYNC && calls[i] != FAULT_OPEN);
        }
        if (!failures)
            fail_msg("no failure of call %zu was seen", i);
        all += failures;
    }
    assert_true(all > 10);
}

static void assert_changed(const struct file_version *v, struct str want)
{
    struct err e = ERR_NONE;

    assert_false(replace(&sys_real, v, 4, 3, STR("2"), &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_string_equal(e.msg, "cannot update 'file': it was changed after it was read");
    assert_content("file", want);
    assert_int_equal(temp_dir_count("."), 1);
}

static void a_file_that_another_process_changed_stays(void **state)
{
    struct file_version v;
    struct err e = ERR_NONE;

    (void)state;
    temp_dir_put("file", STR("one two three"));
    assert_true(check(&sys_real, "file", &v, &e));
    temp_dir_put("file", STR("one two three four"));
    assert_changed(&v, STR("one two three four"));
    assert_true(check(&sys_real, "file", &v, &e));
    temp_dir_put("other", STR("one two three four"));
    assert_int_equal(rename("other", "file"), 0);
    assert_changed(&v, STR("one two three four"));
    assert_true(check(&sys_real, "file", &v, &e));
    v.modified.tv_nsec ^= 1;
    assert_changed(&v, STR("one two three four"));
}

static void a_change_during_the_rewrite_is_detected(void **state)
{
    struct file_version v;
    struct err e = ERR_NONE;
    struct file_rewrite w;

    (void)state;
    temp_dir_put("file", STR("one two three"));
    assert_true(check(&sys_real, "file", &v, &e));
    assert_true(file_rewrite_open(&w, &sys_real, "file", &v, &e));
    temp_dir_put("other", STR("of another process"));
    assert_int_equal(rename("other", "file"), 0);
    assert_false(file_rewrite_finish(&w, &e));
    assert_string_equal(e.msg, "cannot update 'file': it was changed after it was read");
    assert_content("file", STR("of another process"));
    assert_int_equal(temp_dir_count("."), 1);
}

static void an_offset_beyond_the_end_is_an_error(void **state)
{
    struct file_version v;
    struct err e = ERR_NONE;

    (void)state;
    temp_dir_put("file", STR("abc"));
    assert_true(check(&sys_real, "file", &v, &e));
    assert_false(replace(&sys_real, &v, 4, 0, STR("x"), &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_false(replace(&sys_real, &v, 2, 2, STR("x"), &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_content("file", STR("abc"));
}

static void a_text_that_becomes_too_large_is_not_written(void **state)
{
    struct file_version v;
    struct err e = ERR_NONE;
    struct file_rewrite w;

    (void)state;
    temp_dir_put("file", STR("abc"));
    assert_true(check(&sys_real, "file", &v, &e));
    for (uint64_t max = 4; max <= 5; max++) {
        assert_true(file_rewrite_open(&w, &sys_real, "file", &v, &e));
        w.max_text = max;
        assert_true(file_rewrite_put(&w, STR("12"), &e));
        assert_int_equal(file_rewrite_finish(&w, &e), max == 5);
        assert_int_equal(e.kind, ERR_USAGE); /* of the first round */
        assert_content("file", max == 5 ? STR("12abc") : STR("abc"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_range_is_replaced_and_the_rest_stays),
        IN_TEMP_DIR(a_compressed_file_is_compressed_again),
        IN_TEMP_DIR(a_large_file_is_copied_in_pieces),
        IN_TEMP_DIR(mode_and_owner_stay),
        IN_TEMP_DIR(a_file_that_cannot_be_replaced_is_rejected_at_the_start),
        IN_TEMP_DIR(a_failure_leaves_the_old_file),
        IN_TEMP_DIR(a_file_that_another_process_changed_stays),
        IN_TEMP_DIR(a_change_during_the_rewrite_is_detected),
        IN_TEMP_DIR(an_offset_beyond_the_end_is_an_error),
        IN_TEMP_DIR(a_text_that_becomes_too_large_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
