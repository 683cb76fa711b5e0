#include "base/appender.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault-sys.h"
#include "scratch.h"
#include "test.h"

/* long file: each way in which a disk can fail is a case of its own */

/* "GAP 2/14 0/0 1/3 why": messages and bytes of each lane. */
static void add_gap(void *to, struct buf *text, const struct backlog_loss *l, const char *why)
{
    (void)to;
    buf_printf(text, "GAP");
    for (int i = 0; i < BACKLOG_LANES; i++)
        buf_printf(text, " %llu/%llu", (unsigned long long)l->lanes[i].messages,
                   (unsigned long long)l->lanes[i].bytes);
    buf_printf(text, " %s\n", why);
}

/* Quick to try again, slow to be called slow: these tests share the machine. */
static struct appender_config hurried(void)
{
    struct appender_config c = appender_defaults;

    c.gap = add_gap;
    c.slow_us = 10000000;
    c.retry_us = 1000;
    c.well_us = 0;
    c.flush_us = 3600000000;
    c.flush_lines = 1000000;
    c.rest_us = 0;
    c.end_us = 60000000;
    return c;
}

static struct appender *begin(struct fault_sys *f, const struct appender_config *c)
{
    struct err e = ERR_NONE;
    struct appender *a = NULL;
    struct file file;

    if (!file_create(&file, &f->sys, "file", false, &e) || !appender_open(&a, &file, c, &e))
        fail_msg("%s", e.msg);
    return a;
}

static void put_in(struct appender *a, const char *text, unsigned lane)
{
    struct buf line;

    buf_init(&line, 4096);
    buf_printf(&line, "%s\n", text);
    appender_put(
        a, &(struct backlog_line){
               .text = buf_str(&line), .lane = lane, .messages = 1, .bytes = line.len - 1 });
    buf_release(&line);
}

static void put(struct appender *a, const char *text)
{
    put_in(a, text, 0);
}

static struct appender_end end(struct appender *a, const char *last)
{
    struct appender_end how;

    appender_finish(a, str_z(last), &how);
    return how;
}

static void assert_file_starts(const char *path, const char *want)
{
    struct err e = ERR_NONE;
    struct buf got;

    buf_init(&got, (size_t)1 << 24);
    if (!file_slurp(&got, &sys_real, path, &e))
        fail_msg("%s", e.msg);
    if (!str_starts(buf_str(&got), str_z(want)))
        fail_msg("it is: %.*s", STR_ARG(buf_str(&got)));
    buf_release(&got);
}

static void assert_told(struct appender *a, enum appender_trouble kind, const char *msg)
{
    struct err e = ERR_NONE;

    assert_int_equal(appender_trouble(a, &e), kind);
    if (kind)
        assert_string_equal(e.msg, msg);
}

static void assert_nothing_told(struct appender *a)
{
    assert_told(a, APPENDER_FINE, NULL);
}

static uint64_t lost_messages(const struct appender_end *how)
{
    uint64_t n = 0;

    for (int i = 0; i < BACKLOG_LANES; i++)
        n += how->lost.lanes[i].messages;
    return n;
}

/* Something a thread does sooner or later; a test that waits in vain is ended. */
static void wait_for_calls(struct fault_sys *f, enum fault_call call, unsigned count)
{
    while (atomic_load(&f->calls[call]) < count)
        usleep(500);
}

static void a_line_is_in_the_file_when_it_was_put(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    a = begin(&f, &c);
    put(a, "one");
    assert_content("file", STR("one\n"));
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    put(a, "two");
    assert_content("file", STR("one\ntwo\n"));
    assert_int_equal(f.calls[FAULT_WRITE], 2);
    assert_true(appender_is_well(a));
    assert_int_equal(appender_size(a), 8);
    how = end(a, "last\n");
    assert_nothing_told(a);
    appender_free(a);
    assert_content("file", STR("one\ntwo\nlast\n"));
    assert_false(how.unsynced || how.late);
    assert_int_equal(lost_messages(&how), 0);
    assert_true(f.calls[FAULT_FDATASYNC] >= 1);
    assert_int_equal(f.calls[FAULT_FSYNC], 1); /* the folder: the file's name is safe */
}

/* For every reason, every number of bytes that still fit, and whether or not the rest can
 * be cut off: nothing is lost, nothing is twice there, and it is told once. */
static void whatever_fails_the_file_gets_every_line(void **state)
{
    static const int reasons[] = { ENOSPC, EIO, EDQUOT, EFBIG };

    (void)state;
    for (unsigned i = 0; i < 2 * 5 * 3; i++) {
        unsigned fits = i % 5, at = 1 + i / 5 % 3;
        struct appender_config c = hurried();
        struct fault_sys f;
        struct appender *a;
        struct appender_end how;
        struct err e = ERR_NONE;
        bool stuck = i >= 15;

        fault_init(&f);
        if (fits)
            fault_short(&f, FAULT_WRITE, at, 1, fits);
        fault_fail(&f, FAULT_WRITE, fits ? at + 1 : at, 3, reasons[i % 4]);
        if (stuck)
            fault_fail(&f, FAULT_FTRUNCATE, 1, FAULT_FOREVER, EPERM);
        a = begin(&f, &c);
        put(a, "one");
        put(a, "two");
        put(a, "three");
        put(a, "four");
        wait_for_calls(&f, FAULT_WRITE, at + 3 + (fits > 0)); /* it has gone well again */
        how = end(a, "last\n");
        assert_int_equal(lost_messages(&how), 0);
        assert_int_equal(appender_trouble(a, &e), APPENDER_FAILED);
        assert_true(str_starts(str_z(e.msg), STR("cannot write 'file': ")));
        assert_nothing_told(a);
        appender_free(a);
        assert_content("file", STR("one\ntwo\nthree\nfour\nlast\n"));
        unlink("file");
    }
}

static void interruptions_and_short_writes_are_no_trouble(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_short(&f, FAULT_WRITE, 1, 2, 1);
    fault_fail(&f, FAULT_WRITE, 3, 2, EINTR);
    a = begin(&f, &c);
    put(a, "one");
    assert_content("file", STR("one\n"));
    assert_true(appender_is_well(a));
    end(a, "last\n");
    assert_nothing_told(a);
    appender_free(a);
    assert_content("file", STR("one\nlast\n"));
}

static void what_waits_is_written_without_any_further_line(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 20, ENOSPC);
    a = begin(&f, &c);
    put(a, "one");
    put(a, "two");
    assert_false(appender_is_well(a));
    wait_for_calls(&f, FAULT_WRITE, 22); /* twenty in vain, "one", "two" */
    end(a, "");
    appender_free(a);
    assert_content("file", STR("one\ntwo\n"));
}

static void it_is_well_again_when_all_is_written(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 2, ENOSPC);
    a = begin(&f, &c);
    put(a, "one");
    for (unsigned i = 0; !appender_is_well(a); i++) {
        usleep(1000);
        put(a, "more");
    }
    assert_true(appender_size(a) >= 9);
    end(a, "");
    appender_free(a);
}

static void it_is_not_well_before_it_was_so_for_a_while(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 1, ENOSPC);
    c.well_us = 3600000000;
    a = begin(&f, &c);
    put(a, "one");
    wait_for_calls(&f, FAULT_WRITE, 2);
    put(a, "two");
    assert_false(appender_is_well(a));
    end(a, "");
    appender_free(a);
    assert_content("file", STR("one\ntwo\n"));
}

/* The first line is being written, and stays; of what waits the oldest goes. */
static void what_does_not_fit_in_memory_leaves_a_gap_with_the_right_counts(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 1, ENOSPC);
    fault_gate(&f, FAULT_WRITE, 2, 1, gate[0]);
    c.memory = 240; /* three lines, with what it takes to keep them */
    a = begin(&f, &c);
    put(a, "first");
    wait_for_calls(&f, FAULT_WRITE, 2); /* it hangs in the disk now */
    put_in(a, "aa", 0);
    put_in(a, "bbb", 1);
    put_in(a, "cccc", 2);
    put_in(a, "ddddd", 0);
    put_in(a, "eeeeee", 1);
    put_in(a, "fffffff", 0);
    close(gate[1]);
    how = end(a, "last\n");
    assert_told(a, APPENDER_FAILED, "cannot write 'file': No space left on device");
    assert_told(a, APPENDER_DROPPED, "cannot write 'file': No space left on device");
    assert_nothing_told(a);
    appender_free(a);
    close(gate[0]);
    assert_content("file", STR("first\nGAP 1/2 1/3 1/4 No space left on device\n"
                               "ddddd\neeeeee\nfffffff\nlast\n"));
    assert_int_equal(lost_messages(&how), 3);
    assert_int_equal(how.lost.lanes[1].bytes, 3);
}

static void a_line_larger_than_the_memory_is_kept_all_the_same(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 50, EIO);
    c.memory = 1;
    a = begin(&f, &c);
    put(a, "first");
    put(a, "second");
    put(a, "third");
    wait_for_calls(&f, FAULT_WRITE, 52);
    how = end(a, "last\n");
    appender_free(a);
    assert_content("file", STR("first\nGAP 1/6 0/0 0/0 Input/output error\nthird\nlast\n"));
    assert_int_equal(lost_messages(&how), 1);
}

/* Whoever appends would wait here for ever if it waited for the disk. */
static void a_disk_that_hangs_is_waited_for_only_once(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;
    struct appender_end how;
    struct err e = ERR_NONE;
    struct buf want;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    fault_init(&f);
    fault_slow(&f, FAULT_WRITE, 2, 1, 30000);
    fault_gate(&f, FAULT_WRITE, 3, 1, gate[0]);
    c.slow_us = 20000;
    c.well_us = 3600000000;
    a = begin(&f, &c);
    buf_init(&want, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        char text[16];

        snprintf(text, sizeof text, "%d", i);
        put(a, text);
        buf_printf(&want, "%d\n", i);
    }
    close(gate[1]);
    how = end(a, "");
    assert_int_equal(appender_trouble(a, &e), APPENDER_SLOW);
    assert_true(str_starts(str_z(e.msg), STR("a write to 'file' took ")));
    appender_free(a);
    close(gate[0]);
    assert_int_equal(lost_messages(&how), 0);
    assert_content("file", buf_str(&want));
    buf_release(&want);
}

static void a_disk_that_hangs_at_the_end_is_left_behind(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    static struct fault_sys f; /* a thread outlives the test's own frame */
    struct appender *a;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 2, 1, EIO);
    fault_gate(&f, FAULT_WRITE, 3, 1, gate[0]);
    c.end_us = 1000;
    a = begin(&f, &c);
    put(a, "one");
    wait_for_calls(&f, FAULT_CLOSE, 1); /* of the folder */
    put(a, "two");
    wait_for_calls(&f, FAULT_WRITE, 3);
    put(a, "three");
    how = end(a, "last\n");
    assert_true(how.late && how.unsynced);
    assert_int_equal(lost_messages(&how), 2);
    assert_told(a, APPENDER_FAILED, "cannot write 'file': Input/output error");
    assert_told(a, APPENDER_DROPPED, "cannot write 'file': no answer from the disk");
    assert_nothing_told(a);
    appender_free(a);
    assert_content("file", STR("one\n"));
    close(gate[1]); /* the thread comes back, and finds that it is alone */
    wait_for_calls(&f, FAULT_CLOSE, 2);
    close(gate[0]);
}

static void count_it(void *to)
{
    ++*(int *)to;
}

static void that_the_end_takes_its_time_is_told_once(void **state)
{
    (void)state;
    for (int hangs = 0; hangs < 2; hangs++) {
        struct appender_config c = hurried();
        static struct fault_sys f; /* a thread outlives the test's own frame */
        struct appender *a;
        int gate[2], told = 0;

        assert_int_equal(pipe(gate), 0);
        fault_init(&f);
        if (hangs) {
            fault_gate(&f, FAULT_WRITE, 2, 1, gate[0]);
            c.slow_us = 1000;
            c.end_us = 5000;
        }
        c.waits = count_it;
        c.to = &told;
        a = begin(&f, &c);
        put(a, "one");
        assert_int_equal(end(a, "last\n").late, hangs);
        assert_int_equal(told, hangs);
        wait_for_calls(&f, FAULT_FSYNC, 1);
        appender_free(a);
        close(gate[1]);
        wait_for_calls(&f, FAULT_CLOSE, 2);
        close(gate[0]);
        unlink("file");
    }
}

static void a_sync_that_hangs_at_the_end_is_left_behind(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    static struct fault_sys f; /* a thread outlives the test's own frame */
    struct appender *a;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    fault_init(&f);
    fault_gate(&f, FAULT_FDATASYNC, 1, 1, gate[0]);
    c.end_us = 2000000; /* the write has this long; the sync does not come back */
    a = begin(&f, &c);
    put(a, "one");
    wait_for_calls(&f, FAULT_CLOSE, 1); /* of the folder */
    how = end(a, "last\n");
    assert_told(a, APPENDER_UNSYNCED, "cannot sync 'file': no answer from the disk");
    assert_true(how.unsynced && !how.late);
    assert_int_equal(lost_messages(&how), 0);
    appender_free(a);
    assert_content("file", STR("one\nlast\n"));
    close(gate[1]);
    wait_for_calls(&f, FAULT_CLOSE, 2);
    close(gate[0]);
}

/* The disk is full, but for what little an account of the loss needs. */
static void what_is_given_up_at_the_end_is_accounted_for(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_short(&f, FAULT_WRITE, 2, 1, 2);
    fault_fail(&f, FAULT_WRITE, 3, 1, ENOSPC);
    c.retry_us = 3600000000;
    fault_fail(&f, FAULT_WRITE, 4, 2, ENOSPC);
    a = begin(&f, &c);
    put(a, "one");
    put_in(a, "two", 1);
    wait_for_calls(&f, FAULT_WRITE, 4);
    put_in(a, "three", 2);
    how = end(a, "last\n");
    assert_told(a, APPENDER_FAILED, "cannot write 'file': No space left on device");
    assert_told(a, APPENDER_DROPPED, "cannot write 'file': No space left on device");
    assert_nothing_told(a);
    appender_free(a);
    assert_int_equal(lost_messages(&how), 2);
    assert_content("file", STR("one\nGAP 0/0 1/3 1/5 No space left on device\nlast\n"));
}

static void when_nothing_is_taken_any_more_the_file_ends_with_its_last_line(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_short(&f, FAULT_WRITE, 2, 1, 2);
    fault_fail(&f, FAULT_WRITE, 3, FAULT_FOREVER, ENOSPC);
    c.retry_us = 3600000000; /* longer than the end may take: one try is all there is */
    a = begin(&f, &c);
    put(a, "one");
    put(a, "two");
    put(a, "three");
    how = end(a, "last\n");
    appender_free(a);
    assert_int_equal(lost_messages(&how), 2);
    assert_false(how.late);
    assert_content("file", STR("one\n"));
}

static void the_end_tries_as_long_as_there_is_time(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 2, 20, ENOSPC);
    a = begin(&f, &c);
    put(a, "one");
    put(a, "two");
    put(a, "three");
    how = end(a, "last\n");
    assert_told(a, APPENDER_FAILED, "cannot write 'file': No space left on device");
    assert_nothing_told(a);
    appender_free(a);
    assert_false(how.late);
    assert_int_equal(lost_messages(&how), 0);
    assert_content("file", STR("one\ntwo\nthree\nlast\n"));
}

/* A line of so many letters. */
static void put_long(struct appender *a, size_t len)
{
    char *text = malloc(len + 1);

    assert_non_null(text);
    memset(text, 'x', len);
    text[len] = '\0';
    put(a, text);
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

static void a_line_without_room_does_not_keep_others_from_the_file(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    allow(2000);
    a = begin(&f, &c);
    put(a, "one");
    put_long(a, 3000);
    put_long(a, 2900);
    while (!appender_is_well(a)) {
        usleep(3000);
        put_in(a, "more", 1);
    }
    how = end(a, "last\n");
    allow(RLIM_INFINITY);
    assert_told(a, APPENDER_FAILED, "cannot write 'file': File too large");
    assert_told(a, APPENDER_DROPPED, "cannot write 'file': File too large");
    assert_nothing_told(a);
    appender_free(a);
    assert_int_equal(lost_messages(&how), 2);
    assert_file_starts("file", "one\nGAP 2/5900 0/0 0/0 File too large\nmore\n");
}

static void nor_at_the_end(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    allow(2000);
    c.retry_us = c.well_us = 3600000000;
    a = begin(&f, &c);
    put(a, "one");
    put_long(a, 3000);
    put_long(a, 2900);
    put(a, "two");
    wait_for_calls(&f, FAULT_WRITE, 4); /* in vain */
    how = end(a, "last\n");
    allow(RLIM_INFINITY);
    appender_free(a);
    assert_int_equal(lost_messages(&how), 2);
    assert_content("file", STR("one\nGAP 2/5900 0/0 0/0 File too large\ntwo\nlast\n"));
}

static void a_line_waits_for_room_as_long_as_no_other_could_do_with_less(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    allow(2000);
    a = begin(&f, &c);
    put(a, "one");
    put_long(a, 3000);
    wait_for_calls(&f, FAULT_WRITE, 10);
    put_long(a, 2900);
    wait_for_calls(&f, FAULT_WRITE, 20);
    allow(RLIM_INFINITY);
    how = end(a, "");
    appender_free(a);
    assert_int_equal(lost_messages(&how), 0);
}

static void a_file_that_never_took_a_line_stays_empty(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 3, ENOSPC);
    c.retry_us = 3600000000;
    a = begin(&f, &c);
    put(a, "header");
    wait_for_calls(&f, FAULT_WRITE, 2);
    how = end(a, "last\n");
    appender_free(a);
    assert_int_equal(lost_messages(&how), 1);
    assert_content("file",
                   STR("")); /* what follows a header that is not there is worth nothing */
}

static void it_is_synced_after_so_many_lines_or_so_long(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    for (int i = 0; i < 2; i++) {
        fault_init(&f);
        c.flush_lines = i ? 1000000 : 3;
        c.flush_us = i ? 1000 : 3600000000;
        a = begin(&f, &c);
        for (int n = 0; n < 3; n++)
            put(a, "line");
        wait_for_calls(&f, FAULT_FDATASYNC, 1);
        for (int n = 0; n < 3; n++)
            put(a, "line");
        wait_for_calls(&f, FAULT_FDATASYNC, 2);
        end(a, "");
        appender_free(a);
        unlink("file");
    }
}

/* Many lines in no time are no reason to do nothing but sync. */
static void a_sync_is_not_followed_by_another_at_once(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    c.flush_lines = 1;
    c.rest_us = 10000000;
    a = begin(&f, &c);
    put(a, "line");
    wait_for_calls(&f, FAULT_FDATASYNC, 1);
    for (int n = 0; n < 20; n++) {
        put(a, "line");
        usleep(1000);
    }
    end(a, "");
    appender_free(a);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 2); /* the first and the last */
}

static void nothing_is_synced_before_that(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    a = begin(&f, &c);
    for (int n = 0; n < 100; n++)
        put(a, "line");
    assert_int_equal(f.calls[FAULT_FDATASYNC], 0);
    end(a, "");
    appender_free(a);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 1);
}

/* The next sync goes well, and says nothing about what the first one lost. */
static void a_sync_that_failed_is_told_and_noted_and_stays_so(void **state)
{
    struct appender_config c = hurried();
    struct appender_end how;
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_FDATASYNC, 1, 1, EIO);
    c.flush_lines = 2;
    a = begin(&f, &c);
    put(a, "one");
    put(a, "two");
    while (appender_trouble(a, &(struct err)ERR_NONE) != APPENDER_UNSYNCED)
        usleep(500);
    put(a, "three");
    put(a, "four");
    wait_for_calls(&f, FAULT_FDATASYNC, 2);
    how = end(a, "last\n");
    assert_nothing_told(a);
    appender_free(a);
    assert_true(how.unsynced);
    assert_int_equal(lost_messages(&how), 0);
    assert_content("file",
                   STR("one\ntwo\nthree\nGAP 0/8 0/0 0/0 Input/output error\nfour\nlast\n"));
}

static void what_fails_at_the_end_is_told(void **state)
{
    static const struct {
        enum fault_call call;
        int errnum;
        const char *says;
    } rows[] = {
        { FAULT_FDATASYNC, EIO, "cannot sync 'file': Input/output error" },
        { FAULT_CLOSE, ENOSPC, "cannot close 'file': No space left on device" },
        { FAULT_FSYNC, EIO, "cannot sync '.': Input/output error" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct appender_config c = hurried();
        struct appender_end how;
        struct fault_sys f;
        struct appender *a;

        fault_init(&f);
        fault_fail(&f, rows[i].call, 1, FAULT_FOREVER, rows[i].errnum);
        a = begin(&f, &c);
        put(a, "one");
        how = end(a, "");
        assert_told(a, APPENDER_UNSYNCED, rows[i].says);
        appender_free(a);
        assert_true(how.unsynced);
        assert_content("file", STR("one\n"));
        unlink("file");
    }
}

static void turn(struct appender *a, struct fault_sys *f)
{
    struct err e = ERR_NONE;
    struct file next;

    if (!file_create(&next, &f->sys, "file.2", false, &e))
        fail_msg("%s", e.msg);
    appender_turn(a, &next, STR("foot\n"), STR("head\n"));
}

/* With every write on the way failing once, in part, and with a file that cannot be cut. */
static void it_goes_on_in_another_file(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 8; at++) {
        struct appender_config c = hurried();
        struct fault_sys f;
        struct appender *a;
        struct appender_end how;

        fault_init(&f);
        if (at) {
            fault_short(&f, FAULT_WRITE, 1 + at / 2, 1, 2);
            fault_fail(&f, FAULT_WRITE, 2 + at / 2, 1, ENOSPC);
        }
        if (at % 2)
            fault_fail(&f, FAULT_FTRUNCATE, 1, FAULT_FOREVER, EPERM);
        a = begin(&f, &c);
        put(a, "one");
        while (!appender_is_well(a))
            put(a, "more");
        turn(a, &f);
        put(a, "two");
        how = end(a, "last\n");
        appender_free(a);
        assert_int_equal(lost_messages(&how), 0);
        assert_content("file.2", STR("head\ntwo\nlast\n"));
        if (at > 1)
            assert_content("file", STR("one\nfoot\n"));
        assert_int_equal(f.calls[FAULT_CLOSE] - f.calls[FAULT_FSYNC], 2);
        unlink("file");
        unlink("file.2");
    }
}

static void what_is_dropped_writes_no_more(void **state)
{
    struct appender_config c = hurried();
    struct fault_sys f;
    struct appender *a;

    (void)state;
    fault_init(&f);
    a = begin(&f, &c);
    put(a, "one");
    appender_drop(a);
    appender_free(a);
    appender_free(NULL);
    assert_content("file", STR("one\n"));
    assert_int_equal(f.calls[FAULT_WRITE], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(a_line_is_in_the_file_when_it_was_put),
        IN_A_DIRECTORY(whatever_fails_the_file_gets_every_line),
        IN_A_DIRECTORY(interruptions_and_short_writes_are_no_trouble),
        IN_A_DIRECTORY(what_waits_is_written_without_any_further_line),
        IN_A_DIRECTORY(it_is_well_again_when_all_is_written),
        IN_A_DIRECTORY(it_is_not_well_before_it_was_so_for_a_while),
        IN_A_DIRECTORY(what_does_not_fit_in_memory_leaves_a_gap_with_the_right_counts),
        IN_A_DIRECTORY(a_line_larger_than_the_memory_is_kept_all_the_same),
        IN_A_DIRECTORY(a_disk_that_hangs_is_waited_for_only_once),
        IN_A_DIRECTORY(a_disk_that_hangs_at_the_end_is_left_behind),
        IN_A_DIRECTORY(that_the_end_takes_its_time_is_told_once),
        IN_A_DIRECTORY(a_sync_that_hangs_at_the_end_is_left_behind),
        IN_A_DIRECTORY(what_is_given_up_at_the_end_is_accounted_for),
        IN_A_DIRECTORY(when_nothing_is_taken_any_more_the_file_ends_with_its_last_line),
        IN_A_DIRECTORY(the_end_tries_as_long_as_there_is_time),
        IN_A_DIRECTORY(a_line_without_room_does_not_keep_others_from_the_file),
        IN_A_DIRECTORY(nor_at_the_end),
        IN_A_DIRECTORY(a_line_waits_for_room_as_long_as_no_other_could_do_with_less),
        IN_A_DIRECTORY(a_file_that_never_took_a_line_stays_empty),
        IN_A_DIRECTORY(it_is_synced_after_so_many_lines_or_so_long),
        IN_A_DIRECTORY(a_sync_is_not_followed_by_another_at_once),
        IN_A_DIRECTORY(nothing_is_synced_before_that),
        IN_A_DIRECTORY(a_sync_that_failed_is_told_and_noted_and_stays_so),
        IN_A_DIRECTORY(what_fails_at_the_end_is_told),
        IN_A_DIRECTORY(it_goes_on_in_another_file),
        IN_A_DIRECTORY(what_is_dropped_writes_no_more),
    };
    alarm(60); /* what waits for ever must not do so in silence */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
