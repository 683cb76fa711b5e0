#include "format/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static char path[64];

static int make_path(void **state)
{
    int fd;

    (void)state;
    snprintf(path, sizeof path, "/tmp/test-source-XXXXXX");
    fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void fill(struct str bytes)
{
    struct err e = ERR_NONE;
    struct file f;
    size_t done;

    assert_true(file_create(&f, &sys_real, path, true, &e));
    assert_true(file_write(&f, bytes, &done, &e));
    assert_true(file_close(&f, &e));
}

/* All of the file in reads of at most `cap` bytes. */
static bool slurp(struct buf *to, size_t cap, struct err *e)
{
    struct input s;
    size_t got = 1;
    bool ok;

    if (!input_open(&s, &sys_real, path, e))
        return false;
    for (ok = true; ok && got;) {
        char *at = buf_reserve(to, cap);
        assert_non_null(at);
        ok = input_read(&s, at, cap, &got, e);
        buf_commit(to, ok ? got : 0);
    }
    input_close(&s);
    return ok;
}

static void check(struct str bytes, struct str want)
{
    static const size_t caps[] = { 1, 1000, 1 << 20 };

    for (size_t i = 0; i < 3; i++) {
        struct err e = ERR_NONE;
        struct buf got;

        buf_init(&got, 1 << 24);
        fill(bytes);
        assert_true(slurp(&got, caps[i], &e));
        assert_str(buf_str(&got), want);
        buf_release(&got);
    }
}

static void a_plain_file_is_read_unchanged(void **state)
{
    struct buf big;

    (void)state;
    check(STR(""), STR(""));
    check(STR("a"), STR("a"));
    check(STR("some text"), STR("some text"));
    buf_init(&big, 1 << 20);
    for (int i = 0; i < 30000; i++)
        buf_printf(&big, "%d\n", i);
    check(buf_str(&big), buf_str(&big));
    buf_release(&big);
}

static void a_compressed_file_is_decompressed_whatever_its_name(void **state)
{
    static const enum compress_kind kinds[] = { COMPRESS_GZIP, COMPRESS_ZSTD };
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 30000; i++)
        buf_printf(&text, "%d\n", i * 7919);
    for (size_t k = 0; k < 2; k++) {
        struct compressor *p = compressor_new(kinds[k]);
        struct buf packed;

        buf_init(&packed, 1 << 20);
        compressor_add(p, buf_str(&text), false, &packed);
        compressor_end(p, &packed);
        check(buf_str(&packed), buf_str(&text));
        compressor_free(p);
        buf_release(&packed);
    }
    buf_release(&text);
}

static void pack(struct buf *to, enum compress_kind kind, struct str text)
{
    struct compressor *p = compressor_new(kind);

    compressor_add(p, text, false, to);
    compressor_end(p, to);
    compressor_free(p);
}

/* More of them than are read at once, and the text behind. */
static void empty_compressed_members_are_skipped(void **state)
{
    (void)state;
    for (enum compress_kind kind = COMPRESS_GZIP; kind <= COMPRESS_ZSTD; kind++) {
        struct buf packed;

        buf_init(&packed, 1 << 20);
        while (packed.len < 100 << 10)
            pack(&packed, kind, STR(""));
        pack(&packed, kind, STR("text"));
        check(buf_str(&packed), STR("text"));
        buf_release(&packed);
    }
}

static void a_truncated_compressed_file_is_named_in_the_error(void **state)
{
    struct compressor *p = compressor_new(COMPRESS_GZIP);
    struct err e = ERR_NONE;
    struct buf packed, got;
    char want[128];

    (void)state;
    buf_init(&packed, 1 << 20);
    buf_init(&got, 1 << 20);
    compressor_add(p, STR("text"), false, &packed);
    compressor_end(p, &packed);
    fill(str_n(packed.at, packed.len - 1));
    assert_false(slurp(&got, 100, &e));
    snprintf(want, sizeof want, "cannot read '%s': the compressed data is cut off", path);
    assert_string_equal(e.msg, want);
    assert_int_equal(e.kind, ERR_INPUT);
    compressor_free(p);
    buf_release(&packed);
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plain_file_is_read_unchanged, make_path, remove_path),
        cmocka_unit_test_setup_teardown(a_compressed_file_is_decompressed_whatever_its_name,
                                        make_path, remove_path),
        cmocka_unit_test_setup_teardown(empty_compressed_members_are_skipped, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(a_truncated_compressed_file_is_named_in_the_error,
                                        make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
