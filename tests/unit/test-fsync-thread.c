#include "base/fsync-thread.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

static const int64_t hour_us = 3600000000;

/* Syncs for no reason but the end. */
static const struct fsync_thread_config patient = { .writes = 1000000, .flush_us = hour_us };

static struct file create(struct fault_sys *f, const char *path)
{
    struct err e = ERR_NONE;
    struct file file;

    if (!file_create(&file, &f->sys, path, false, &e))
        fail_msg("%s", e.msg);
    return file;
}

static struct fsync_thread *begin(struct fault_sys *f, const struct fsync_thread_config *c)
{
    struct file file = create(f, "file");
    struct err e = ERR_NONE;
    struct fsync_thread *s = NULL;

    if (!fsync_thread_open(&s, &file, c, &e))
        fail_msg("%s", e.msg);
    return s;
}

static void end(struct fsync_thread *s)
{
    fsync_thread_finish(s);
    assert_true(fsync_thread_wait(s, clock_mono_us() + hour_us));
}

static void wrote(struct fsync_thread *s, int times)
{
    for (int i = 0; i < times; i++)
        fsync_thread_add_write(s, 5);
}

static void assert_error(struct fsync_thread *s, const char *msg)
{
    struct err e = ERR_NONE;

    assert_int_equal(fsync_thread_next_error(s, &e), msg != NULL);
    assert_string_equal(e.msg, msg ? msg : "");
}

static void before_its_time_only_the_name_is_synced(void **state)
{
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    s = begin(&f, &patient);
    wrote(s, 100);
    fault_wait_for(&f, FAULT_FSYNC, 1);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 0);
    end(s);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 1);
    assert_int_equal(f.calls[FAULT_FSYNC], 1);
    assert_int_equal(f.calls[FAULT_CLOSE], 2); /* the folder's, and the file's */
    assert_false(fsync_thread_has_failed(s));
    assert_error(s, NULL);
    fsync_thread_free(s);
}

static void an_unwritten_file_is_only_closed(void **state)
{
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    s = begin(&f, &patient);
    end(s);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 0);
    assert_int_equal(f.calls[FAULT_CLOSE], 2);
    fsync_thread_free(s);
    fsync_thread_free(NULL);
}

static void a_number_of_writes_causes_a_sync(void **state)
{
    struct fsync_thread_config c = patient;
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    c.writes = 3;
    s = begin(&f, &c);
    for (unsigned n = 1; n < 4; n++) {
        wrote(s, 2);
        usleep(2000); /* it has seen them and sleeps again, most likely */
        assert_int_equal(f.calls[FAULT_FDATASYNC], n - 1);
        wrote(s, 1);
        fault_wait_for(&f, FAULT_FDATASYNC, n);
    }
    end(s);
    fsync_thread_free(s);
}

static void old_writes_cause_a_sync(void **state)
{
    struct fsync_thread_config c = patient;
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    c.flush_us = 1000;
    s = begin(&f, &c);
    for (unsigned n = 1; n < 4; n++) {
        wrote(s, 1);
        fault_wait_for(&f, FAULT_FDATASYNC, n);
    }
    end(s);
    fsync_thread_free(s);
}

/* Many writes in no time are no reason to do nothing but sync. */
static void two_syncs_have_a_minimum_distance(void **state)
{
    struct fsync_thread_config c = patient;
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    c.writes = 1;
    c.min_sync_gap_us = 10000000;
    s = begin(&f, &c);
    wrote(s, 1);
    fault_wait_for(&f, FAULT_FDATASYNC, 1);
    for (int n = 0; n < 20; n++) {
        wrote(s, 1);
        usleep(1000);
    }
    end(s);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 2); /* the first and the last */
    fsync_thread_free(s);
}

/* The next sync succeeds, and does not report the loss of the first one. */
static void lines_of_a_failed_sync_are_reported_until_acknowledged(void **state)
{
    struct fsync_thread_config c = patient;
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_FDATASYNC, 1, 1, EIO);
    c.writes = 2;
    s = begin(&f, &c);
    wrote(s, 2);
    while (!fsync_thread_suspect_bytes(s))
        usleep(500);
    wrote(s, 2);
    fault_wait_for(&f, FAULT_FDATASYNC, 2);
    assert_int_equal(fsync_thread_suspect_bytes(s), 10);
    assert_int_equal(fsync_thread_take_suspect(s, &e), 10);
    assert_string_equal(e.msg, "cannot sync 'file': Input/output error");
    e = (struct err)ERR_NONE;
    assert_int_equal(fsync_thread_take_suspect(s, &e), 0);
    assert_int_equal(e.kind, ERR_OK);
    end(s);
    assert_error(s, "cannot sync 'file': Input/output error");
    assert_error(s, NULL);
    assert_true(fsync_thread_has_failed(s));
    fsync_thread_free(s);
}

static void each_failure_is_reported_once(void **state)
{
    static const struct {
        enum fault_call call;
        int errnum;
        uint64_t suspect;
        const char *says;
    } rows[] = {
        { FAULT_FDATASYNC, EIO, 5, "cannot sync 'file': Input/output error" },
        { FAULT_CLOSE, ENOSPC, 0, "cannot close 'file': No space left on device" },
        { FAULT_FSYNC, EIO, 0, "cannot sync '.': Input/output error" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fault_sys f;
        struct fsync_thread *s;

        fault_init(&f);
        fault_fail(&f, rows[i].call, 1, FAULT_FOREVER, rows[i].errnum);
        s = begin(&f, &patient);
        wrote(s, 1);
        end(s);
        assert_true(fsync_thread_has_failed(s));
        assert_int_equal(fsync_thread_suspect_bytes(s), rows[i].suspect);
        assert_error(s, rows[i].says);
        assert_error(s, NULL);
        fsync_thread_free(s);
        unlink("file");
    }
}

static void a_complete_file_is_synced_and_closed_before_the_next(void **state)
{
    char name[] = "next";
    struct file next;
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_FDATASYNC, 1, 1, EIO);
    fault_fail(&f, FAULT_FDATASYNC, 2, 1, ENOSPC);
    s = begin(&f, &patient);
    fault_wait_for(&f, FAULT_CLOSE, 1); /* of the folder */
    wrote(s, 1);
    next = create(&f, name);
    fsync_thread_rotate(s, &next);
    name[0] = '\0'; /* it has a copy */
    wrote(s, 1);
    fault_wait_for(&f, FAULT_CLOSE, 3); /* the first file's, and the folder's again */
    assert_int_equal(f.calls[FAULT_FDATASYNC], 1);
    assert_int_equal(f.calls[FAULT_FSYNC], 2);
    end(s);
    assert_int_equal(f.calls[FAULT_CLOSE], 4);
    assert_int_equal(fsync_thread_suspect_bytes(s), 10);
    assert_error(s, "cannot sync 'file': Input/output error");
    assert_error(s, "cannot sync 'next': No space left on device");
    fsync_thread_free(s);
}

static void quitting_closes_files_without_a_sync(void **state)
{
    struct file next;
    struct fault_sys f;
    struct fsync_thread *s;

    (void)state;
    fault_init(&f);
    s = begin(&f, &patient);
    fault_wait_for(&f, FAULT_CLOSE, 1);
    wrote(s, 1);
    fsync_thread_skip_syncs(s);
    next = create(&f, "next");
    fsync_thread_rotate(s, &next);
    wrote(s, 1);
    end(s);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 0);
    assert_int_equal(f.calls[FAULT_FSYNC], 1);
    assert_int_equal(f.calls[FAULT_CLOSE], 3);
    fsync_thread_free(s);
}

static void a_hanging_sync_does_not_block_the_end(void **state)
{
    static struct fault_sys f; /* a thread outlives the test's own frame */
    struct fsync_thread *s;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    fault_init(&f);
    fault_gate(&f, FAULT_FDATASYNC, 1, 1, gate[0]);
    s = begin(&f, &patient);
    fault_wait_for(&f, FAULT_CLOSE, 1);
    wrote(s, 1);
    fsync_thread_finish(s);
    assert_false(fsync_thread_wait(s, clock_mono_us() + 1000));
    fault_wait_for(&f, FAULT_FDATASYNC, 1);
    assert_false(fsync_thread_has_failed(s));
    fsync_thread_free(s);
    assert_int_equal(f.calls[FAULT_CLOSE], 1);
    close(gate[1]); /* the thread comes back, and finds that it is alone */
    fault_wait_for(&f, FAULT_CLOSE, 2);
    close(gate[0]);
}

static void a_file_changed_by_another_process_is_reported_once(void **state)
{
    static const char *const reported[] = { "another process has deleted or replaced 'file'",
                                            "another process has truncated 'file'" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fault_sys f;
        struct fsync_thread *s;
        struct err e = ERR_NONE;

        fault_init(&f);
        s = begin(&f, &patient);
        temp_dir_put("file", STR("four"));
        fsync_thread_add_write(s, 6);
        fsync_thread_truncated(s, i == 1 ? 0 : 2);
        if (!i)
            unlink("file");
        end(s);
        assert_int_equal(fsync_thread_file_changed(s), i < 2);
        assert_int_equal(fsync_thread_next_change(s, &e), i < 2);
        if (i < 2)
            assert_string_equal(e.msg, reported[i]);
        assert_false(fsync_thread_next_change(s, &e));
        fsync_thread_free(s);
        unlink("file");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(before_its_time_only_the_name_is_synced),
        IN_TEMP_DIR(an_unwritten_file_is_only_closed),
        IN_TEMP_DIR(a_number_of_writes_causes_a_sync),
        IN_TEMP_DIR(old_writes_cause_a_sync),
        IN_TEMP_DIR(two_syncs_have_a_minimum_distance),
        IN_TEMP_DIR(lines_of_a_failed_sync_are_reported_until_acknowledged),
        IN_TEMP_DIR(each_failure_is_reported_once),
        IN_TEMP_DIR(a_complete_file_is_synced_and_closed_before_the_next),
        IN_TEMP_DIR(quitting_closes_files_without_a_sync),
        IN_TEMP_DIR(a_hanging_sync_does_not_block_the_end),
        IN_TEMP_DIR(a_file_changed_by_another_process_is_reported_once),
    };
    alarm(60); /* a wait without end must fail the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
