#include "format/live-writer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fault-sys.h"
#include "format/reader.h"
#include "temp-dir.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

static const struct live_writer_config usual = { .path = "a.jsonl",
                                                 .format = &recording_format,
                                                 .flush_us = 3600000000 };

static void begin(struct live_writer *l, struct fault_sys *f,
                  const struct live_writer_config *config)
{
    struct err e = ERR_NONE;

    if (!live_writer_open(l, &f->sys, config, &e))
        fail_msg("%s", e.msg);
}

static void put(struct live_writer *l, const struct record *r)
{
    struct err e = ERR_NONE;

    assert_true(l->sink.put(&l->sink, r, &e));
}

static void put_header(struct live_writer *l)
{
    struct record r = { .kind = RECORD_HEADER, .has = HAS_US | HAS_WALL, .wall_us = 1000 };

    r.header.upstream = STR("server");
    put(l, &r);
}

static void put_json(struct live_writer *l, uint64_t seq, enum record_dir dir, struct str text)
{
    struct record r = { .kind = RECORD_MESSAGE,
                        .has = HAS_US | HAS_WALL | HAS_SEQ | HAS_CONN,
                        .us = (int64_t)seq * 1000,
                        .wall_us = 1,
                        .conn = 1 };
    struct json_fault fault;
    struct json j;

    json_init(&j);
    assert_true(json_scan(&j, text, &fault));
    r.message.seq = seq;
    r.message.dir = dir;
    r.message.msg = json_root(&j);
    put(l, &r);
    json_release(&j);
}

static void put_message(struct live_writer *l, uint64_t seq, enum record_dir dir)
{
    put_json(l, seq, dir, STR("{\"method\":\"m\"}"));
}

/* A message of so many bytes. */
static void put_long(struct live_writer *l, uint64_t seq, enum record_dir dir, int bytes)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    buf_printf(&text, "\"%0*d\"", bytes - 2, 0);
    put_json(l, seq, dir, buf_str(&text));
    buf_release(&text);
}

static void put_stderr(struct live_writer *l, struct str text)
{
    struct record r = { .kind = RECORD_STDERR, .has = HAS_US, .us = l->us };

    r.bytes.bytes = text;
    put(l, &r);
}

static void put_footer(struct live_writer *l, uint64_t messages)
{
    struct record r = { .kind = RECORD_FOOTER, .has = HAS_US | HAS_TOTALS, .us = l->us };

    r.footer.messages = r.footer.client_messages = messages;
    put(l, &r);
}

static struct live_writer_result end(struct live_writer *l)
{
    struct live_writer_result how;

    live_writer_finish(l, &how);
    return how;
}

static void ignore(void *to, struct str line)
{
    (void)to;
    (void)line;
}

/* Returns the file as a reader returns it. */
static void assert_read(const char *path, const char *want)
{
    struct log log = { .level = LOG_ERROR, .write = ignore };
    struct err e = ERR_NONE;
    struct terse t;

    terse_init(&t);
    if (!reader_read_all(&sys_real, path, &log, &t.sink, &e))
        fail_msg("%s", e.msg);
    assert_terse(&t, want);
    terse_release(&t);
}

#define HEADER "@0 header version=1.0 name= upstream=server\n"
#define MESSAGE(n) "@" #n "000 conn=1 #" #n " c2s {'method':'m'}\n"

static void a_record_is_written_at_once_and_the_footer_at_the_end(void **state)
{
    struct fault_sys f;
    struct live_writer_result how;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    begin(&l, &f, &usual);
    put_header(&l);
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    assert_read("a.jsonl", HEADER);
    put_message(&l, 1, TO_SERVER);
    assert_int_equal(f.calls[FAULT_WRITE], 2);
    assert_read("a.jsonl", HEADER MESSAGE(1));
    put_stderr(&l, STR("text"));
    put_footer(&l, 1);
    assert_int_equal(f.calls[FAULT_WRITE], 3);
    how = end(&l);
    live_writer_release(&l);
    assert_false(how.lost_messages || how.incomplete || how.unsynced);
    assert_int_equal(how.parts, 1);
    assert_read(
        "a.jsonl",
        HEADER MESSAGE(
            1) "@1000 stderr text\n"
               "@1000 footer messages=1+0=1 ms=0 errors=0 code=0 protocol= server= client=\n");
}

static void lines_of_one_batch_are_written_together(void **state)
{
    struct live_writer_config config = usual;
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    config.batch_writes = true;
    begin(&l, &f, &config);
    put_header(&l);
    put_message(&l, 1, TO_SERVER);
    put_stderr(&l, STR("text"));
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    live_writer_flush(&l);
    live_writer_flush(&l);
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    assert_read("a.jsonl", HEADER MESSAGE(1) "@1000 stderr text\n");
    put_message(&l, 2, TO_SERVER);
    put_footer(&l, 2);
    end(&l);
    live_writer_release(&l);
    assert_read("a.jsonl", HEADER MESSAGE(1) "@1000 stderr text\n" MESSAGE(
                               2) "@2000 footer messages=2+0=2 ms=0 errors=0 code=0 protocol= "
                                  "server= client=\n");
}

/* Wherever their write ends, and whether or not the rest of a line can be cut off. */
static void lines_written_together_are_neither_lost_nor_duplicated(void **state)
{
    struct live_writer_config config = usual;

    (void)state;
    config.batch_writes = true;
    for (unsigned i = 0; i < 2 * 40; i++) {
        unsigned fits = i / 2 * 8;
        struct live_writer_result how;
        struct fault_sys f;
        struct live_writer l;

        fault_init(&f);
        if (fits)
            fault_short(&f, FAULT_WRITE, 1, 1, fits);
        fault_fail(&f, FAULT_WRITE, fits ? 2 : 1, 1, ENOSPC);
        if (i % 2)
            fault_fail(&f, FAULT_FTRUNCATE, 1, FAULT_FOREVER, EPERM);
        begin(&l, &f, &config);
        put_header(&l);
        put_message(&l, 1, TO_SERVER);
        put_message(&l, 2, TO_SERVER);
        live_writer_flush(&l);
        put_message(&l, 3, TO_SERVER);
        how = end(&l);
        live_writer_release(&l);
        assert_false(how.lost_messages || how.incomplete);
        assert_read("a.jsonl", HEADER MESSAGE(1) MESSAGE(2) MESSAGE(3));
        unlink("a.jsonl");
    }
}

/* A sync is due after so many lines, however few writes they took. */
static void lines_written_together_are_counted_one_by_one(void **state)
{
    struct live_writer_config config = usual;
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    config.batch_writes = true;
    begin(&l, &f, &config);
    put_header(&l);
    for (uint64_t i = 1; i < appender_defaults.flush_lines; i++)
        put_message(&l, i, TO_SERVER);
    live_writer_flush(&l);
    assert_true(f.calls[FAULT_WRITE] < appender_defaults.flush_lines / 4);
    fault_wait_for(&f, FAULT_FDATASYNC, 1);
    live_writer_abort(&l);
    live_writer_release(&l);
}

/* Many of them, and long ones, do not wait; nor does anything change its place. */
static void the_size_of_a_batch_of_lines_is_limited(void **state)
{
    struct live_writer_config config = usual;
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    config.batch_writes = true;
    begin(&l, &f, &config);
    put_header(&l);
    for (uint64_t i = 1; i <= LIVE_WRITER_BATCH_LINES; i++)
        put_message(&l, i, TO_SERVER);
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    put_long(&l, LIVE_WRITER_BATCH_LINES + 1, TO_SERVER, 100000);
    assert_int_equal(f.calls[FAULT_WRITE], 3); /* the queued lines, and this one */
    put_message(&l, LIVE_WRITER_BATCH_LINES + 2, TO_SERVER);
    assert_int_equal(f.calls[FAULT_WRITE], 3);
    live_writer_abort(&l);
    live_writer_release(&l);
}

static void plain_files_have_three_kinds_of_lines(void **state)
{
    struct live_writer_config config = usual;
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    config.messages_only = true;
    begin(&l, &f, &config);
    put_header(&l);
    put_stderr(&l, STR("text"));
    put_message(&l, 1, TO_SERVER);
    put(&l, &(struct record){ .kind = RECORD_PROC, .proc = { .event = STR("exit") } });
    put_footer(&l, 1);
    end(&l);
    live_writer_release(&l);
    assert_read(
        "a.jsonl",
        HEADER MESSAGE(
            1) "@1000 footer messages=1+0=1 ms=0 errors=0 code=0 protocol= server= client=\n");
}

static int64_t cpu_us(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Nothing gets to the disk: a disk that is slow during the test would be reported, rightly. The
 * loop calls nothing that may wait: a thread that reads /proc has been seen blocked. */
static ssize_t write_slowly(const struct sys *sys, int fd, const void *from, size_t len)
{
    int64_t before = cpu_us();

    (void)sys;
    (void)fd;
    (void)from;
    while (cpu_us() - before < 40000)
        ;
    return (ssize_t)len;
}

/* As on a machine where others have the processor, or with a line of many megabytes. */
static void a_slow_write_without_blocking_is_not_reported(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    f.sys.write = write_slowly;
    begin(&l, &f, &usual);
    put_header(&l);
    put_message(&l, 1, TO_SERVER);
    assert_true(appender_is_healthy(l.file));
    assert_int_equal(live_writer_next_error(&l, &e), APPENDER_OK);
    put_footer(&l, 1);
    end(&l);
    live_writer_release(&l);
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

/* A long line does not fit, but the gap line does. */
static void lost_lines_are_counted_in_a_gap_by_direction(void **state)
{
    struct fault_sys f;
    struct live_writer_result how;
    struct live_writer l;
    struct err e = ERR_NONE;
    char text[3500];

    (void)state;
    fault_init(&f);
    allow(3000);
    begin(&l, &f, &usual);
    put_header(&l);
    put_message(&l, 1, TO_SERVER);
    put_long(&l, 2, TO_SERVER, 5000);
    put_long(&l, 3, TO_CLIENT, 4000);
    put_long(&l, 4, TO_CLIENT, 4000);
    memset(text, 'x', sizeof text);
    put_stderr(&l, str_n(text, sizeof text));
    put_footer(&l, 4);
    how = end(&l);
    allow(RLIM_INFINITY);
    assert_int_equal(live_writer_next_error(&l, &e), APPENDER_FAILED);
    assert_int_equal(live_writer_next_error(&l, &e), APPENDER_DROPPED);
    assert_int_equal(live_writer_next_error(&l, &e), APPENDER_OK);
    live_writer_release(&l);
    assert_true(how.incomplete);
    assert_int_equal(how.lost_messages, 3);
    assert_read(
        "a.jsonl",
        HEADER MESSAGE(
            1) "@4000 gap c2s messages=1 bytes=5000 (File too large)\n"
               "@4000 gap s2c messages=2 bytes=8000 (File too large)\n"
               "@4000 gap c2s messages=0 bytes=3500 (File too large)\n"
               "@4000 footer messages=4+0=4 ms=0 errors=0 code=0 protocol= server= client=\n");
}

static void a_failed_sync_is_noted_in_the_file(void **state)
{
    struct live_writer_config config = usual;
    struct fault_sys f;
    struct live_writer_result how;
    struct err e = ERR_NONE;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_FDATASYNC, 1, 1, EIO);
    config.flush_us = 300000; /* not while the header is being put */
    begin(&l, &f, &config);
    put_header(&l);
    while (live_writer_next_error(&l, &e) != APPENDER_UNSYNCED)
        usleep(500);
    put_message(&l, 1, TO_SERVER);
    how = end(&l);
    live_writer_release(&l);
    assert_true(how.unsynced && !how.incomplete);
    assert_read(
        "a.jsonl",
        HEADER MESSAGE(1) "@1000 gap c2s messages=0 bytes=132 (written, but a sync failed: "
                          "Input/output error)\n");
}

static void a_too_long_line_becomes_a_gap_and_frees_its_buffer(void **state)
{
    char *many = calloc(1, LIMIT_LINE);
    struct fault_sys f;
    struct live_writer_result how;
    struct live_writer l;

    (void)state;
    assert_non_null(many);
    fault_init(&f);
    begin(&l, &f, &usual);
    put_header(&l);
    put_stderr(&l, str_n(many, LIMIT_LINE));
    assert_true(l.text.cap < 16 << 20);
    put_message(&l, 1, TO_SERVER);
    how = end(&l);
    live_writer_release(&l);
    free(many);
    assert_true(how.incomplete);
    assert_int_equal(how.lost_messages, 0);
    assert_read("a.jsonl", HEADER
                "@0 gap c2s messages=0 bytes=100663296 (too long to be kept)\n" MESSAGE(1));
}

#define FOOTER(us, n) "@" us " footer messages=" n "+0=" n " ms="

static void a_rotated_part_has_its_own_header_and_footer(void **state)
{
    struct live_writer_config config = usual;
    struct fault_sys f;
    struct live_writer_result how;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    config.rotate_bytes = 300;
    begin(&l, &f, &config);
    put_header(&l);
    for (uint64_t i = 1; i <= 5; i++)
        put_message(&l, i, TO_SERVER);
    put_footer(&l, 5);
    how = end(&l);
    live_writer_release(&l);
    assert_int_equal(how.parts, 3);
    assert_read("a.jsonl", HEADER MESSAGE(1) MESSAGE(2) FOOTER(
                               "2000", "2") "2 errors=0 code=0 protocol= server= client=\n");
    assert_read("a.2.jsonl", HEADER MESSAGE(3) MESSAGE(4) FOOTER(
                                 "4000", "2") "4 errors=0 code=0 protocol= server= client=\n");
    assert_read("a.3.jsonl", HEADER MESSAGE(5) FOOTER(
                                 "5000", "1") "0 errors=0 code=0 protocol= server= client=\n");
}

static void the_name_of_an_existing_file_is_skipped(void **state)
{
    struct live_writer_config config = usual;
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct file theirs;
    struct live_writer_result how;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    assert_true(file_create(&theirs, &sys_real, "a.2.jsonl", false, &e));
    file_close(&theirs, &e);
    config.rotate_bytes = 1;
    begin(&l, &f, &config);
    put_header(&l);
    put_message(&l, 1, TO_SERVER);
    how = end(&l);
    live_writer_release(&l);
    assert_int_equal(how.parts, 3);
    assert_read("a.3.jsonl", HEADER MESSAGE(1));
    assert_int_equal(access("a.4.jsonl", F_OK), -1);
}

static void a_part_that_cannot_be_created_is_reported_and_the_old_one_continues(void **state)
{
    struct live_writer_config config = usual;
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct live_writer_result how;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 4, 1, EMFILE); /* the file twice, its folder, the part */
    config.rotate_bytes = 150;
    begin(&l, &f, &config);
    fault_wait_for(&f, FAULT_FSYNC, 1);
    put_header(&l);
    put_message(&l, 1, TO_SERVER);
    put_message(&l, 2, TO_SERVER);
    assert_int_equal(live_writer_next_error(&l, &e), APPENDER_NOT_ROTATED);
    assert_string_equal(e.msg, "cannot write 'a.2.jsonl': Too many open files");
    put_message(&l, 3, TO_SERVER);
    how = end(&l);
    live_writer_release(&l);
    assert_int_equal(how.parts, 2);
    assert_read("a.jsonl", HEADER MESSAGE(1) MESSAGE(2) FOOTER(
                               "2000", "2") "2 errors=0 code=0 protocol= server= client=\n");
    assert_read("a.2.jsonl", HEADER MESSAGE(3));
}

static void parts_have_a_number_before_the_extension(void **state)
{
    static const struct {
        const char *path;
        const struct format *format;
        const char *want;
    } rows[] = {
        { "a.jsonl", &recording_format, "a.2.jsonl" },
        { "dir.x/a", &recording_format, "dir.x/a.2" },
        { "a.trace.jsonl", &mcp_replay_trace_format, "a.2.trace.jsonl" },
        { "a.txt", &recording_format, "a.txt.2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = { 0 };

        assert_string_equal(live_writer_part_path(&a, rows[i].path, rows[i].format, 2),
                            rows[i].want);
        arena_release(&a);
    }
}

static void an_aborted_recording_leaves_no_file(void **state)
{
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    begin(&l, &f, &usual);
    put_header(&l);
    live_writer_abort(&l);
    live_writer_release(&l);
    assert_int_equal(access("a.jsonl", F_OK), -1);
}

static void a_recording_that_cannot_be_created_does_not_start(void **state)
{
    struct err e = ERR_NONE;
    struct fault_sys f;
    struct live_writer l;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 1, 1, ENOSPC);
    assert_false(live_writer_open(&l, &f.sys, &usual, &e));
    assert_string_equal(e.msg, "cannot write 'a.jsonl': No space left on device");
    assert_int_equal(access("a.jsonl", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_record_is_written_at_once_and_the_footer_at_the_end),
        IN_TEMP_DIR(lines_of_one_batch_are_written_together),
        IN_TEMP_DIR(lines_written_together_are_neither_lost_nor_duplicated),
        IN_TEMP_DIR(lines_written_together_are_counted_one_by_one),
        IN_TEMP_DIR(the_size_of_a_batch_of_lines_is_limited),
        IN_TEMP_DIR(plain_files_have_three_kinds_of_lines),
        IN_TEMP_DIR(a_slow_write_without_blocking_is_not_reported),
        IN_TEMP_DIR(lost_lines_are_counted_in_a_gap_by_direction),
        IN_TEMP_DIR(a_failed_sync_is_noted_in_the_file),
        IN_TEMP_DIR(a_too_long_line_becomes_a_gap_and_frees_its_buffer),
        IN_TEMP_DIR(a_rotated_part_has_its_own_header_and_footer),
        IN_TEMP_DIR(the_name_of_an_existing_file_is_skipped),
        IN_TEMP_DIR(a_part_that_cannot_be_created_is_reported_and_the_old_one_continues),
        IN_TEMP_DIR(parts_have_a_number_before_the_extension),
        IN_TEMP_DIR(an_aborted_recording_leaves_no_file),
        IN_TEMP_DIR(a_recording_that_cannot_be_created_does_not_start),
    };
    alarm(60); /* a wait without end must fail the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
