#include "base/appender.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

/* "GAP 2/14 0/0 1/3 why": messages and bytes of each lane. */
static void add_gap(void *to, struct buf *text, const struct line_queue_loss *l,
                    const char *why)
{
    (void)to;
    buf_printf(text, "GAP");
    for (int i = 0; i < LINE_QUEUE_DIRECTIONS; i++)
        buf_printf(text, " %llu/%llu", (unsigned long long)l->by_direction[i].messages,
                   (unsigned long long)l->by_direction[i].bytes);
    buf_printf(text, " %s\n", why);
}

/* An appender on a disk that can be made to fail, and how it ended. */
struct bench {
    struct appender_config c;
    struct fault_sys f;
    struct appender *a;
    struct appender_end how;
};

/* Quick to try again, slow to be called slow: these tests share the machine. */
static void prepare(struct bench *b)
{
    *b = (struct bench){ .c = appender_defaults };
    b->c.write_gap = add_gap;
    b->c.slow_us = 10000000;
    b->c.retry_us = 1000;
    b->c.recover_us = 0;
    b->c.flush_us = 3600000000;
    b->c.flush_lines = 1000000;
    b->c.min_sync_gap_us = 0;
    b->c.finish_us = 60000000;
    b->c.inline_lines = UINT64_MAX;
    fault_init(&b->f);
}

static struct file create(struct bench *b, const char *path)
{
    struct err e = ERR_NONE;
    struct file file;

    if (!file_create(&file, &b->f.sys, path, false, &e))
        fail_msg("%s", e.msg);
    return file;
}

static void begin(struct bench *b)
{
    struct file file = create(b, "file");
    struct err e = ERR_NONE;

    if (!appender_open(&b->a, &file, &b->c, &e))
        fail_msg("%s", e.msg);
}

static void put_in(struct bench *b, const char *text, unsigned lane)
{
    struct buf line;

    buf_init(&line, 4096);
    buf_printf(&line, "%s\n", text);
    appender_add_lines(
        b->a,
        &(struct line_queue_line){
            .text = buf_str(&line), .direction = lane, .messages = 1, .bytes = line.len - 1 },
        1, &line);
    buf_release(&line);
}

static void put(struct bench *b, const char *text)
{
    put_in(b, text, 0);
}

static void end(struct bench *b, const char *last)
{
    appender_finish(b->a, str_z(last), &b->how);
}

static void assert_file_starts(const char *path, const char *want)
{
    struct buf got;

    buf_init(&got, (size_t)1 << 24);
    temp_dir_get(&got, path);
    if (!str_starts(buf_str(&got), str_z(want)))
        fail_msg("it is: %.*s", STR_ARG(buf_str(&got)));
    buf_release(&got);
}

static void assert_file_ends(const char *path, const char *want)
{
    struct buf got;

    buf_init(&got, (size_t)1 << 24);
    temp_dir_get(&got, path);
    if (!str_ends(buf_str(&got), str_z(want)))
        fail_msg("it is: %.*s", STR_ARG(buf_str(&got)));
    buf_release(&got);
}

static void assert_reported(struct bench *b, enum appender_problem kind, const char *msg)
{
    struct err e = ERR_NONE;

    assert_int_equal(appender_next_problem(b->a, &e), kind);
    if (kind)
        assert_string_equal(e.msg, msg);
}

static void assert_nothing_reported(struct bench *b)
{
    assert_reported(b, APPENDER_OK, NULL);
}

static uint64_t lost_messages(const struct bench *b)
{
    uint64_t n = 0;

    for (int i = 0; i < LINE_QUEUE_DIRECTIONS; i++)
        n += b->how.lost.by_direction[i].messages;
    return n;
}

static void add_lines_returns_after_the_line_is_in_the_file(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    begin(&b);
    put(&b, "one");
    assert_content("file", STR("one\n"));
    assert_int_equal(b.f.calls[FAULT_WRITE], 1);
    put(&b, "two");
    assert_content("file", STR("one\ntwo\n"));
    assert_int_equal(b.f.calls[FAULT_WRITE], 2);
    assert_true(appender_is_healthy(b.a));
    assert_int_equal(appender_size(b.a), 8);
    end(&b, "last\n");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_content("file", STR("one\ntwo\nlast\n"));
    assert_false(b.how.unsynced || b.how.timed_out);
    assert_int_equal(lost_messages(&b), 0);
    assert_true(b.f.calls[FAULT_FDATASYNC] >= 1);
    assert_int_equal(b.f.calls[FAULT_FSYNC], 1); /* the folder: the file's name is safe */
}

/* For every reason, every number of bytes that still fit, and whether or not the rest can
 * be cut off: no line is lost or written twice, and the problem is reported once. */
static void the_file_gets_every_line_after_any_failure(void **state)
{
    static const int reasons[] = { ENOSPC, EIO, EDQUOT, EFBIG };

    (void)state;
    for (unsigned i = 0; i < 2 * 5 * 3; i++) {
        unsigned fits = i % 5, at = 1 + i / 5 % 3;
        struct bench b;
        struct err e = ERR_NONE;
        bool stuck = i >= 15;

        prepare(&b);
        if (fits)
            fault_short(&b.f, FAULT_WRITE, at, 1, fits);
        fault_fail(&b.f, FAULT_WRITE, fits ? at + 1 : at, 3, reasons[i % 4]);
        if (stuck)
            fault_fail(&b.f, FAULT_FTRUNCATE, 1, FAULT_FOREVER, EPERM);
        begin(&b);
        put(&b, "one");
        put(&b, "two");
        put(&b, "three");
        put(&b, "four");
        fault_wait_for(&b.f, FAULT_WRITE, at + 3 + (fits > 0)); /* it has gone well again */
        end(&b, "last\n");
        assert_int_equal(lost_messages(&b), 0);
        assert_int_equal(appender_next_problem(b.a, &e), APPENDER_FAILED);
        assert_true(str_starts(str_z(e.msg), STR("cannot write 'file': ")));
        assert_nothing_reported(&b);
        appender_free(b.a);
        assert_content("file", STR("one\ntwo\nthree\nfour\nlast\n"));
        unlink("file");
    }
}

static void interruptions_and_short_writes_lose_no_line(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_short(&b.f, FAULT_WRITE, 1, 2, 1);
    fault_fail(&b.f, FAULT_WRITE, 3, 2, EINTR);
    begin(&b);
    put(&b, "one");
    assert_content("file", STR("one\n"));
    assert_true(appender_is_healthy(b.a));
    end(&b, "last\n");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_content("file", STR("one\nlast\n"));
}

static void queued_lines_are_written_without_a_further_line(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 1, 20, ENOSPC);
    begin(&b);
    put(&b, "one");
    put(&b, "two");
    assert_false(appender_is_healthy(b.a));
    fault_wait_for(&b.f, FAULT_WRITE, 22); /* twenty in vain, "one", "two" */
    end(&b, "");
    appender_free(b.a);
    assert_content("file", STR("one\ntwo\n"));
}

static void the_degraded_state_ends_when_the_queue_is_empty(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 1, 2, ENOSPC);
    begin(&b);
    put(&b, "one");
    for (unsigned i = 0; !appender_is_healthy(b.a); i++) {
        usleep(1000);
        put(&b, "more");
    }
    assert_true(appender_size(b.a) >= 9);
    end(&b, "");
    appender_free(b.a);
}

static void the_degraded_state_lasts_for_recover_us(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 1, 1, ENOSPC);
    b.c.recover_us = 3600000000;
    begin(&b);
    put(&b, "one");
    fault_wait_for(&b.f, FAULT_WRITE, 2);
    put(&b, "two");
    assert_false(appender_is_healthy(b.a));
    end(&b, "");
    appender_free(b.a);
    assert_content("file", STR("one\ntwo\n"));
}

/* The first line is being written, and stays; of the queued ones the oldest is dropped. */
static void lines_over_max_memory_become_a_gap_with_the_right_counts(void **state)
{
    struct bench b;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 1, 1, ENOSPC);
    fault_gate(&b.f, FAULT_WRITE, 2, 1, gate[0]);
    b.c.max_memory = 240; /* three lines, with the memory to keep them */
    begin(&b);
    put(&b, "first");
    fault_wait_for(&b.f, FAULT_WRITE, 2); /* it hangs in the disk now */
    put_in(&b, "aa", 0);
    put_in(&b, "bbb", 1);
    put_in(&b, "cccc", 2);
    put_in(&b, "ddddd", 0);
    put_in(&b, "eeeeee", 1);
    put_in(&b, "fffffff", 0);
    close(gate[1]);
    end(&b, "last\n");
    assert_reported(&b, APPENDER_FAILED, "cannot write 'file': No space left on device");
    assert_reported(&b, APPENDER_DROPPED, "cannot write 'file': No space left on device");
    assert_nothing_reported(&b);
    appender_free(b.a);
    close(gate[0]);
    assert_content("file", STR("first\nGAP 1/2 1/3 1/4 No space left on device\n"
                               "ddddd\neeeeee\nfffffff\nlast\n"));
    assert_int_equal(lost_messages(&b), 3);
    assert_int_equal(b.how.lost.by_direction[1].bytes, 3);
}

static void a_line_larger_than_max_memory_is_kept(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 1, 50, EIO);
    b.c.max_memory = 1;
    begin(&b);
    put(&b, "first");
    put(&b, "second");
    put(&b, "third");
    fault_wait_for(&b.f, FAULT_WRITE, 52);
    end(&b, "last\n");
    appender_free(b.a);
    assert_content("file", STR("first\nGAP 1/6 0/0 0/0 Input/output error\nthird\nlast\n"));
    assert_int_equal(lost_messages(&b), 1);
}

/* The caller would wait here for ever if it waited for the write that blocks. */
static void a_blocked_write_does_not_block_the_caller(void **state)
{
    struct bench b;
    struct err e = ERR_NONE;
    struct buf want;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    prepare(&b);
    fault_gate(&b.f, FAULT_WRITE, 3, 1, gate[0]);
    b.c.slow_us = 20000;
    b.c.recover_us = 3600000000;
    begin(&b);
    buf_init(&want, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        char text[16];

        snprintf(text, sizeof text, "%d", i);
        put(&b, text);
        buf_printf(&want, "%d\n", i);
    }
    close(gate[1]);
    end(&b, "");
    assert_int_equal(appender_next_problem(b.a, &e), APPENDER_SLOW);
    assert_true(str_starts(str_z(e.msg), STR("a write to 'file' took ")));
    appender_free(b.a);
    close(gate[0]);
    assert_int_equal(lost_messages(&b), 0);
    assert_content("file", buf_str(&want));
    buf_release(&want);
}

/* After some writes in quick succession the caller makes them itself. */
static void lines_in_quick_succession_are_written_one_by_one(void **state)
{
    struct bench b;
    struct buf want;

    (void)state;
    prepare(&b);
    b.c.inline_us = 3600000000;
    b.c.inline_lines = 3;
    fault_short(&b.f, FAULT_WRITE, 10, 1, 1);
    fault_fail(&b.f, FAULT_WRITE, 11, 1, ENOSPC);
    begin(&b);
    buf_init(&want, 1 << 20);
    for (int i = 0; i < 200; i++) {
        char text[16];

        snprintf(text, sizeof text, "%d", i);
        put(&b, text);
        buf_printf(&want, "%d\n", i);
        if (i == 8)
            assert_content("file", buf_str(&want));
    }
    end(&b, "");
    appender_free(b.a);
    assert_int_equal(lost_messages(&b), 0);
    assert_content("file", buf_str(&want));
    buf_release(&want);
}

static void a_hanging_write_does_not_block_the_end(void **state)
{
    static struct bench b; /* a thread outlives the test's own frame */
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 2, 1, EIO);
    fault_gate(&b.f, FAULT_WRITE, 3, 1, gate[0]);
    b.c.finish_us = 1000;
    begin(&b);
    put(&b, "one");
    fault_wait_for(&b.f, FAULT_CLOSE, 1); /* of the folder */
    put(&b, "two");
    fault_wait_for(&b.f, FAULT_WRITE, 3);
    put(&b, "three");
    end(&b, "last\n");
    assert_true(b.how.timed_out && b.how.unsynced);
    assert_int_equal(lost_messages(&b), 2);
    assert_reported(&b, APPENDER_FAILED, "cannot write 'file': Input/output error");
    assert_reported(&b, APPENDER_DROPPED, "cannot write 'file': the disk does not respond");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_content("file", STR("one\n"));
    close(gate[1]); /* the thread comes back, and finds that it is alone */
    fault_wait_for(&b.f, FAULT_CLOSE, 2);
    close(gate[0]);
}

static void count_it(void *to)
{
    ++*(int *)to;
}

static void a_slow_end_is_reported_once(void **state)
{
    (void)state;
    for (int hangs = 0; hangs < 2; hangs++) {
        static struct bench b; /* a thread outlives the test's own frame */
        int gate[2], reported = 0;

        assert_int_equal(pipe(gate), 0);
        prepare(&b);
        if (hangs) {
            fault_gate(&b.f, FAULT_WRITE, 2, 1, gate[0]);
            b.c.slow_us = 1000;
            b.c.finish_us = 5000;
        }
        b.c.on_slow_finish = count_it;
        b.c.arg = &reported;
        begin(&b);
        put(&b, "one");
        end(&b, "last\n");
        assert_int_equal(b.how.timed_out, hangs);
        assert_int_equal(reported, hangs);
        fault_wait_for(&b.f, FAULT_FSYNC, 1);
        appender_free(b.a);
        close(gate[1]);
        fault_wait_for(&b.f, FAULT_CLOSE, 2);
        close(gate[0]);
        unlink("file");
    }
}

static void a_hanging_sync_does_not_block_the_end(void **state)
{
    static struct bench b; /* a thread outlives the test's own frame */
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    prepare(&b);
    fault_gate(&b.f, FAULT_FDATASYNC, 1, 1, gate[0]);
    b.c.finish_us = 2000000; /* the write has this long; the sync does not come back */
    begin(&b);
    put(&b, "one");
    fault_wait_for(&b.f, FAULT_CLOSE, 1); /* of the folder */
    end(&b, "last\n");
    assert_reported(&b, APPENDER_UNSYNCED, "cannot sync 'file': the disk does not respond");
    assert_true(b.how.unsynced && !b.how.timed_out);
    assert_int_equal(lost_messages(&b), 0);
    appender_free(b.a);
    assert_content("file", STR("one\nlast\n"));
    close(gate[1]);
    fault_wait_for(&b.f, FAULT_CLOSE, 2);
    close(gate[0]);
}

/* The disk is full, except for the bytes of the gap line. */
static void lines_lost_at_the_end_are_counted(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_short(&b.f, FAULT_WRITE, 2, 1, 2);
    fault_fail(&b.f, FAULT_WRITE, 3, 1, ENOSPC);
    b.c.retry_us = 3600000000;
    fault_fail(&b.f, FAULT_WRITE, 4, 1, ENOSPC);
    begin(&b);
    put(&b, "one");
    put_in(&b, "two", 1);
    fault_wait_for(&b.f, FAULT_WRITE, 3);
    put_in(&b, "three", 2);
    end(&b, "last\n");
    assert_reported(&b, APPENDER_FAILED, "cannot write 'file': No space left on device");
    assert_reported(&b, APPENDER_DROPPED, "cannot write 'file': No space left on device");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_int_equal(lost_messages(&b), 2);
    assert_content("file", STR("one\nGAP 0/0 1/3 1/5 No space left on device\nlast\n"));
}

static void a_file_that_accepts_no_more_ends_with_its_last_line(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_short(&b.f, FAULT_WRITE, 2, 1, 2);
    fault_fail(&b.f, FAULT_WRITE, 3, FAULT_FOREVER, ENOSPC);
    b.c.retry_us = 3600000000; /* longer than the end may take: one try is all there is */
    begin(&b);
    put(&b, "one");
    put(&b, "two");
    put(&b, "three");
    end(&b, "last\n");
    appender_free(b.a);
    assert_int_equal(lost_messages(&b), 2);
    assert_false(b.how.timed_out);
    assert_content("file", STR("one\n"));
}

static void writes_are_retried_until_the_time_limit_of_the_end(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 2, 20, ENOSPC);
    begin(&b);
    put(&b, "one");
    put(&b, "two");
    put(&b, "three");
    end(&b, "last\n");
    assert_reported(&b, APPENDER_FAILED, "cannot write 'file': No space left on device");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_false(b.how.timed_out);
    assert_int_equal(lost_messages(&b), 0);
    assert_content("file", STR("one\ntwo\nthree\nlast\n"));
}

static void open_gate(void *to)
{
    close(*(int *)to);
}

/* The end comes while the disk still thinks about a try that fails. */
static void the_last_line_is_written_after_a_try_that_began_before(void **state)
{
    struct bench b;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    prepare(&b);
    fault_short(&b.f, FAULT_WRITE, 2, 1, 2);
    fault_fail(&b.f, FAULT_WRITE, 3, 1, ENOSPC);
    fault_gate(&b.f, FAULT_FTRUNCATE, 1, 1, gate[0]);
    b.c.retry_us = 3600000000; /* but for the end there is no other try */
    b.c.slow_us = 1000;
    b.c.on_slow_finish = open_gate;
    b.c.arg = &gate[1];
    begin(&b);
    put(&b, "one");
    put(&b, "two");
    fault_wait_for(&b.f, FAULT_FTRUNCATE, 1);
    end(&b, "last\n");
    appender_free(b.a);
    close(gate[0]);
    assert_false(b.how.timed_out);
    assert_int_equal(lost_messages(&b), 0);
    assert_content("file", STR("one\ntwo\nlast\n"));
}

/* A line of so many letters. */
static void put_long(struct bench *b, size_t len)
{
    char *text = malloc(len + 1);

    assert_non_null(text);
    memset(text, 'x', len);
    text[len] = '\0';
    put(b, text);
    free(text);
}

/* No file may be larger, as on a disk that has no more room. */
static void allow(rlim_t bytes)
{
    struct rlimit now;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &now), 0);
    now.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
}

/* "header", some of `put` lines "message" of lane 1, one gap that counts the others, "last". */
static void assert_gap_accounts_for(const struct bench *b, unsigned put)
{
    char want[128];
    unsigned kept = put - (unsigned)lost_messages(b);

    snprintf(want, sizeof want, "message\nGAP 0/0 %u/%u 0/0 File too large\nlast\n", put - kept,
             (put - kept) * 7);
    assert_true(kept > 0 && kept < put);
    assert_file_starts("file", "header\nmessage\n");
    assert_file_ends("file", want);
    {
        struct buf got;

        buf_init(&got, 1 << 16);
        temp_dir_get(&got, "file");
        assert_int_equal(got.len, strlen("header\n") + kept * 8 - 8 + strlen(want));
        buf_release(&got);
    }
}

/* A large line does not fit: later lines wait, and no line overtakes another. */
static void no_line_is_written_before_an_earlier_one_that_does_not_fit(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    allow(2000);
    begin(&b);
    put(&b, "one");
    put_long(&b, 3000);
    put(&b, "two");
    put(&b, "three");
    fault_wait_for(&b.f, FAULT_WRITE, 10);
    assert_content("file", STR("one\n"));
    allow(RLIM_INFINITY);
    end(&b, "last\n");
    assert_reported(&b, APPENDER_FAILED, "cannot write 'file': File too large");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_int_equal(lost_messages(&b), 0);
    assert_file_starts("file", "one\nxxx");
    assert_file_ends("file", "x\ntwo\nthree\nlast\n");
}

/* The file is full to its last byte: lines at its end make room for the gap and the end. */
static void a_full_file_gets_gap_and_last_line(void **state)
{
    (void)state;
    for (rlim_t size = 2000; size < 2040; size++) {
        struct bench b;

        prepare(&b);
        allow(size);
        b.c.retry_us = 3600000000; /* longer than the end may take: one try is all there is */
        begin(&b);
        put(&b, "header");
        for (int i = 0; i < 300; i++)
            put_in(&b, "message", 1);
        end(&b, "last\n");
        allow(RLIM_INFINITY);
        assert_reported(&b, APPENDER_FAILED, "cannot write 'file': File too large");
        assert_reported(&b, APPENDER_DROPPED, "cannot write 'file': File too large");
        appender_free(b.a);
        assert_false(b.how.timed_out);
        assert_gap_accounts_for(&b, 300);
        unlink("file");
    }
}

/* All lines fit, only the end does not. */
static void lines_are_cut_off_to_make_room_for_the_last_line(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    allow(7 + 200 * 8);
    b.c.retry_us = 3600000000;
    begin(&b);
    put(&b, "header");
    for (int i = 0; i < 200; i++)
        put_in(&b, "message", 1);
    assert_true(appender_is_healthy(b.a));
    end(&b, "last\n");
    allow(RLIM_INFINITY);
    appender_free(b.a);
    assert_gap_accounts_for(&b, 200);
}

/* Nothing is cut off a file on a disk that takes no write at all. */
static void a_failing_disk_loses_no_written_line(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 4, FAULT_FOREVER, EIO);
    b.c.retry_us = 3600000000;
    begin(&b);
    put(&b, "one");
    put(&b, "two");
    put(&b, "three");
    put(&b, "four");
    end(&b, "last\n");
    appender_free(b.a);
    assert_int_equal(lost_messages(&b), 1);
    assert_content("file", STR("one\ntwo\nthree\n"));
}

/* A file that answers EAGAIN or EINTR without end counts as one that failed. */
static void endless_interruptions_are_a_failed_write(void **state)
{
    static const int reasons[] = { EAGAIN, EINTR };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench b;

        prepare(&b);
        fault_fail(&b.f, FAULT_WRITE, 2, FAULT_FOREVER, reasons[i]);
        b.c.retry_us = 3600000000;
        begin(&b);
        put(&b, "one");
        put(&b, "two");
        assert_false(appender_is_healthy(b.a));
        end(&b, "last\n");
        assert_reported(&b, APPENDER_FAILED,
                        i ? "cannot write 'file': Interrupted system call"
                          : "cannot write 'file': Resource temporarily unavailable");
        appender_free(b.a);
        assert_int_equal(lost_messages(&b), 1);
        assert_content("file", STR("one\n"));
        unlink("file");
    }
}

static void a_file_that_accepted_no_line_stays_empty(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_WRITE, 1, 2, ENOSPC);
    b.c.retry_us = 3600000000;
    begin(&b);
    put(&b, "header");
    fault_wait_for(&b.f, FAULT_WRITE, 1);
    end(&b, "last\n");
    appender_free(b.a);
    assert_int_equal(lost_messages(&b), 1);
    assert_content("file", STR("")); /* lines after a missing header are useless */
}

static void the_file_is_synced_after_flush_lines_or_flush_us(void **state)
{
    struct bench b;

    (void)state;
    for (int i = 0; i < 2; i++) {
        prepare(&b);
        b.c.flush_lines = i ? 1000000 : 3;
        b.c.flush_us = i ? 1000 : 3600000000;
        begin(&b);
        for (int n = 0; n < 3; n++)
            put(&b, "line");
        fault_wait_for(&b.f, FAULT_FDATASYNC, 1);
        for (int n = 0; n < 3; n++)
            put(&b, "line");
        fault_wait_for(&b.f, FAULT_FDATASYNC, 2);
        end(&b, "");
        appender_free(b.a);
        unlink("file");
    }
}

/* Many lines in no time are no reason to do nothing but sync. */
static void two_syncs_have_a_minimum_distance(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    b.c.flush_lines = 1;
    b.c.min_sync_gap_us = 10000000;
    begin(&b);
    put(&b, "line");
    fault_wait_for(&b.f, FAULT_FDATASYNC, 1);
    for (int n = 0; n < 20; n++) {
        put(&b, "line");
        usleep(1000);
    }
    end(&b, "");
    appender_free(b.a);
    assert_int_equal(b.f.calls[FAULT_FDATASYNC], 2); /* the first and the last */
}

/* The fsync thread may fail while the owner still writes "two": then the note stands behind
 * "two", else behind the next line. */
static void assert_note_behind_synced_lines(void)
{
    struct buf got;

    buf_init(&got, (size_t)1 << 12);
    temp_dir_get(&got, "file");
    if (!str_eq(buf_str(&got),
                STR("one\ntwo\nGAP 0/8 0/0 0/0 Input/output error\nthree\nfour\nlast\n")))
        assert_str(buf_str(&got),
                   STR("one\ntwo\nthree\nGAP 0/8 0/0 0/0 Input/output error\nfour\nlast\n"));
    buf_release(&got);
}

/* The next sync succeeds, and does not report the loss of the first one. */
static void a_failed_sync_is_reported_and_noted_in_the_file(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    fault_fail(&b.f, FAULT_FDATASYNC, 1, 1, EIO);
    b.c.flush_lines = 2;
    begin(&b);
    put(&b, "one");
    put(&b, "two");
    while (appender_next_problem(b.a, &(struct err)ERR_NONE) != APPENDER_UNSYNCED)
        usleep(500);
    put(&b, "three");
    put(&b, "four");
    fault_wait_for(&b.f, FAULT_FDATASYNC, 2);
    end(&b, "last\n");
    assert_nothing_reported(&b);
    appender_free(b.a);
    assert_true(b.how.unsynced);
    assert_int_equal(lost_messages(&b), 0);
    assert_note_behind_synced_lines();
}

static void turn(struct bench *b)
{
    struct file next = create(b, "file.2");

    appender_rotate(b->a, &next, STR("foot\n"), STR("head\n"));
}

/* With every write on the way failing once, in part, and with a file that cannot be cut. */
static void the_appender_continues_in_another_file(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 8; at++) {
        struct bench b;

        prepare(&b);
        if (at) {
            fault_short(&b.f, FAULT_WRITE, 1 + at / 2, 1, 2);
            fault_fail(&b.f, FAULT_WRITE, 2 + at / 2, 1, ENOSPC);
        }
        if (at % 2)
            fault_fail(&b.f, FAULT_FTRUNCATE, 1, FAULT_FOREVER, EPERM);
        begin(&b);
        put(&b, "one");
        while (!appender_is_healthy(b.a))
            put(&b, "more");
        turn(&b);
        put(&b, "two");
        end(&b, "last\n");
        appender_free(b.a);
        assert_int_equal(lost_messages(&b), 0);
        assert_content("file.2", STR("head\ntwo\nlast\n"));
        if (at > 1)
            assert_content("file", STR("one\nfoot\n"));
        assert_int_equal(b.f.calls[FAULT_CLOSE] - b.f.calls[FAULT_FSYNC], 2);
        unlink("file");
        unlink("file.2");
    }
}

static void an_aborted_appender_writes_nothing_more(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b);
    begin(&b);
    put(&b, "one");
    appender_abort(b.a);
    appender_free(b.a);
    appender_free(NULL);
    assert_content("file", STR("one\n"));
    assert_int_equal(b.f.calls[FAULT_WRITE], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(add_lines_returns_after_the_line_is_in_the_file),
        IN_TEMP_DIR(the_file_gets_every_line_after_any_failure),
        IN_TEMP_DIR(interruptions_and_short_writes_lose_no_line),
        IN_TEMP_DIR(queued_lines_are_written_without_a_further_line),
        IN_TEMP_DIR(the_degraded_state_ends_when_the_queue_is_empty),
        IN_TEMP_DIR(the_degraded_state_lasts_for_recover_us),
        IN_TEMP_DIR(lines_over_max_memory_become_a_gap_with_the_right_counts),
        IN_TEMP_DIR(a_line_larger_than_max_memory_is_kept),
        IN_TEMP_DIR(a_blocked_write_does_not_block_the_caller),
        IN_TEMP_DIR(lines_in_quick_succession_are_written_one_by_one),
        IN_TEMP_DIR(a_hanging_write_does_not_block_the_end),
        IN_TEMP_DIR(a_slow_end_is_reported_once),
        IN_TEMP_DIR(a_hanging_sync_does_not_block_the_end),
        IN_TEMP_DIR(lines_lost_at_the_end_are_counted),
        IN_TEMP_DIR(a_file_that_accepts_no_more_ends_with_its_last_line),
        IN_TEMP_DIR(writes_are_retried_until_the_time_limit_of_the_end),
        IN_TEMP_DIR(the_last_line_is_written_after_a_try_that_began_before),
        IN_TEMP_DIR(no_line_is_written_before_an_earlier_one_that_does_not_fit),
        IN_TEMP_DIR(a_full_file_gets_gap_and_last_line),
        IN_TEMP_DIR(lines_are_cut_off_to_make_room_for_the_last_line),
        IN_TEMP_DIR(a_failing_disk_loses_no_written_line),
        IN_TEMP_DIR(endless_interruptions_are_a_failed_write),
        IN_TEMP_DIR(a_file_that_accepted_no_line_stays_empty),
        IN_TEMP_DIR(the_file_is_synced_after_flush_lines_or_flush_us),
        IN_TEMP_DIR(two_syncs_have_a_minimum_distance),
        IN_TEMP_DIR(a_failed_sync_is_reported_and_noted_in_the_file),
        IN_TEMP_DIR(the_appender_continues_in_another_file),
        IN_TEMP_DIR(an_aborted_appender_writes_nothing_more),
    };
    alarm(60); /* a wait without end must fail the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
