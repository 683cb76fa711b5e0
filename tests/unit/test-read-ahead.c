#include "format/read-ahead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault-sys.h"
#include "test.h"

enum { NUMBERS = 40000, WIDTH = 6, SIZE = NUMBERS * WIDTH };

/* A file of numbers with six digits each, read through a table that counts. */
struct bench {
    char name[32];
    struct fault_sys sys;
    struct file file;
    struct read_ahead ahead;
};

static void open_bench(struct bench *b)
{
    struct err e = ERR_NONE;
    struct buf text;
    int fd;

    *b = (struct bench){ .name = "/tmp/mcpreel-ahead-XXXXXX" };
    fd = mkstemp(b->name);
    assert_true(fd >= 0);
    buf_init(&text, SIZE + 1);
    for (int i = 0; i < NUMBERS; i++)
        buf_printf(&text, "%06d", i);
    assert_int_equal(write(fd, text.at, text.len), SIZE);
    close(fd);
    buf_release(&text);
    fault_init(&b->sys);
    assert_true(file_open(&b->file, &b->sys.sys, b->name, &e));
    read_ahead_init(&b->ahead, &b->file);
}

static void close_bench(struct bench *b)
{
    struct err e = ERR_NONE;

    read_ahead_release(&b->ahead);
    assert_true(file_close(&b->file, &e));
    unlink(b->name);
}

static void check_number(struct bench *b, unsigned n)
{
    struct err e = ERR_NONE;
    char got[WIDTH + 1] = "", want[16];

    snprintf(want, sizeof want, "%06u", n);
    assert_true(read_ahead_read(&b->ahead, (uint64_t)n * WIDTH, got, WIDTH, &e));
    assert_string_equal(got, want);
}

static void sequential_reads_are_made_in_large_blocks(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    for (unsigned i = 0; i < NUMBERS; i += 3) /* some are passed over */
        check_number(&b, i);
    assert_in_range(b.sys.calls[FAULT_PREAD], 2, 10);
    close_bench(&b);
}

static void other_reads_are_made_as_requested(void **state)
{
    struct bench b;
    unsigned n = 1, count = 0;

    (void)state;
    open_bench(&b);
    for (; count < 1000; count++) {
        n = (n * 7919 + 13) % NUMBERS;
        check_number(&b, n);
    }
    assert_int_equal(b.sys.calls[FAULT_PREAD], count);
    assert_int_equal(b.ahead.piece.cap, 0);
    close_bench(&b);
}

static void long_texts_are_not_read_twice(void **state)
{
    enum { LONG = 30000 };
    struct err e = ERR_NONE;
    static char got[LONG];
    struct bench b;

    (void)state;
    open_bench(&b);
    for (unsigned at = 0; at + LONG <= SIZE; at += LONG) {
        char want[16];

        snprintf(want, sizeof want, "%06u", at / WIDTH);
        assert_true(read_ahead_read(&b.ahead, at, got, LONG, &e));
        assert_memory_equal(got, want, WIDTH);
    }
    assert_int_equal(b.sys.calls[FAULT_PREAD], SIZE / LONG);
    close_bench(&b);
}

static void a_temporary_read_error_is_ignored(void **state)
{
    struct err e = ERR_NONE;
    struct bench b;
    char got[WIDTH];

    (void)state;
    open_bench(&b);
    fault_fail(&b.sys, FAULT_PREAD, 4, 1, EINTR);
    fault_short(&b.sys, FAULT_PREAD, 6, 2, 4);
    for (unsigned i = 0; i < 10; i++)
        check_number(&b, i);
    fault_fail(&b.sys, FAULT_PREAD, b.sys.calls[FAULT_PREAD] + 1, FAULT_FOREVER, EIO);
    assert_false(read_ahead_read(&b.ahead, SIZE - WIDTH, got, WIDTH, &e));
    assert_int_equal(e.kind, ERR_IO);
    close_bench(&b);
}

static void a_truncated_file_is_an_error(void **state)
{
    struct err e = ERR_NONE;
    struct bench b;
    char got[WIDTH];

    (void)state;
    open_bench(&b);
    for (unsigned i = 0; i < 2; i++)
        check_number(&b, i);
    assert_int_equal(truncate(b.name, 20), 0);
    assert_false(read_ahead_read(&b.ahead, 18, got, WIDTH, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "it has become shorter"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_reads_are_made_in_large_blocks),
        cmocka_unit_test(other_reads_are_made_as_requested),
        cmocka_unit_test(long_texts_are_not_read_twice),
        cmocka_unit_test(a_temporary_read_error_is_ignored),
        cmocka_unit_test(a_truncated_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
