#include "format/reader.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* The messages of the reader to the user. */
struct received {
    struct log log;
    struct buf text;
};

static void receive(void *to, struct str line)
{
    buf_add(&((struct received *)to)->text, line);
}

static void received_init(struct received *h)
{
    *h = (struct received){ .log = { .level = LOG_INFO, .write = receive, .arg = h } };
    buf_init(&h->text, 1 << 16);
}

#define HEAD                                                                                   \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2025-02-04T10:00:00Z\","       \
    "\"upstream\":\"x\",\"thoughtjack_version\":\"0.3.0\"}\n"
#define MESSAGE                                                                                \
    "{\"type\":\"message\",\"seq\":%d,\"ts\":\"2025-02-04T10:00:00Z\",\"dir\":\"c2s\","        \
    "\"msg\":{\"method\":\"%0*d\"}}\n"

/* Lines of every length cross the ends of the reader's windows. */
static void make_long_recording(struct buf *to, int count)
{
    buf_init(to, (size_t)1 << 26);
    buf_add(to, STR(HEAD));
    for (int i = 1; i <= count; i++)
        buf_printf(to, MESSAGE, i, (i * 37) % 4000, i);
}

static void check_long_recording(struct reader *r, int count)
{
    struct err e = ERR_NONE;
    struct record rec;

    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(rec.kind, RECORD_HEADER);
    for (int i = 1; i <= count; i++) {
        char method[5000];
        int n = snprintf(method, sizeof method, "\"%0*d\"", (i * 37) % 4000, i);

        if (reader_next(r, &rec, &e) != NEXT_RECORD)
            fail_msg("record %d: %s", i, e.msg);
        assert_int_equal(rec.message.seq, i);
        assert_str(json_raw(json_get(rec.message.msg, STR("method"))),
                   str_n(method, (size_t)n));
    }
    assert_int_equal(reader_next(r, &rec, &e), NEXT_END);
}

static void a_long_file_is_read_in_windows(void **state)
{
    enum { COUNT = 1000 }; /* 2 MB: several windows */
    struct err e = ERR_NONE;
    struct reader *r;
    struct received h;
    struct buf text;

    (void)state;
    received_init(&h);
    make_long_recording(&text, COUNT);
    temp_dir_put("file", buf_str(&text));
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_string_equal(reader_format(r)->name, "recording");
    check_long_recording(r, COUNT);
    assert_int_equal(reader_offset(r), text.len);
    assert_int_equal(reader_note_count(r), 0);
    assert_int_equal(h.text.len, 0);
    reader_close(r);
    buf_release(&text);
}

static void short_reads_give_the_same_records(void **state)
{
    static const size_t steps[] = { 1, 7, 4096 };
    struct buf text;

    (void)state;
    make_long_recording(&text, 20);
    temp_dir_put("file", buf_str(&text));
    for (size_t i = 0; i < 3; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct reader *r;
        struct received h;

        received_init(&h);
        fault_init(&f);
        fault_short(&f, FAULT_READ, 1, FAULT_FOREVER, steps[i]);
        assert_true(reader_open(&r, &f.sys, "file", &h.log, &e));
        check_long_recording(r, 20);
        reader_close(r);
    }
    buf_release(&text);
}

static void a_line_of_megabytes_is_read(void **state)
{
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;
    struct buf text;

    (void)state;
    received_init(&h);
    buf_init(&text, (size_t)1 << 26);
    buf_add(&text, STR(HEAD));
    buf_printf(&text, MESSAGE, 1, 5000000, 7);
    buf_printf(&text, MESSAGE, 2, 1, 8);
    temp_dir_put("file", buf_str(&text));
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(json_raw(json_get(rec.message.msg, STR("method"))).len, 5000002);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(rec.message.seq, 2);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_END);
    reader_close(r);
    buf_release(&text);
}

/* Sparse: no newline far and wide. */
static void a_too_long_line_is_rejected_with_its_position(void **state)
{
    int before = open_fd_count();
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;

    (void)state;
    received_init(&h);
    temp_dir_put("file", STR(HEAD "{\"type\":\"message\",\"x\":\""));
    assert_int_equal(truncate("file", (off_t)LIMIT_LINE * 3), 0);
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_ERROR);
    assert_string_equal(e.msg, "file:2:1: a line or document of more than 96 MB");
    assert_int_equal(e.kind, ERR_LIMIT);
    reader_close(r);
    assert_int_equal(open_fd_count(), before);
}

static void warnings_are_logged_and_counted(void **state)
{
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;

    (void)state;
    received_init(&h);
    temp_dir_put("file", STR("\n" HEAD HEAD "{\"type\":\"mess"));
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_note_count(r), 0);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_note_count(r), 1);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_END);
    assert_int_equal(reader_note_count(r), 2);
    assert_str(buf_str(&h.text),
               STR("mcpreel: warning: file:3:1: another header line; its recording is taken as "
                   "a continuation\n"
                   "mcpreel: warning: file:4:14: the last line is cut off; used up to here\n"));
    reader_close(r);
    buf_release(&h.text);
}

static void an_error_has_its_position(void **state)
{
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;

    (void)state;
    received_init(&h);
    temp_dir_put("file", STR(HEAD "\n  {\"type\":\"message\",\"seq\":-1}\n"));
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_ERROR);
    assert_string_equal(e.msg,
                        "file:3:27: 'seq' of a message line must be a whole number from 0");
    assert_int_equal(e.kind, ERR_INPUT);
    reader_close(r);
}

/* The records that a damaged file gives to a repair, and the warnings. */
static void check_salvaged(struct str content, const char *records, const char *received)
{
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct terse t;
    struct received h;
    enum next_result next;

    received_init(&h);
    terse_init(&t);
    temp_dir_put("file", content);
    assert_true(reader_open_for_repair(&r, &sys_real, "file", &h.log, &e));
    while ((next = reader_next(r, &rec, &e)) == NEXT_RECORD)
        assert_true(t.sink.put(&t.sink, &rec, &e));
    if (next == NEXT_ERROR)
        buf_printf(&t.text, "%s", e.msg);
    assert_str(buf_str(&t.text), str_z(records));
    assert_str(buf_str(&h.text), str_z(received));
    reader_close(r);
    terse_release(&t);
    buf_release(&h.text);
}

#define NOISE(text) "{\"type\":\"stderr\",\"text\":\"" text "\"}\n"
#define HEAD_SEEN "header version=1.0 name= upstream=x\n"

static void damaged_lines_are_skipped_for_a_repair(void **state)
{
    (void)state;
    check_salvaged(STR(HEAD NOISE("a") NOISE("\xff") NOISE("c")),
                   HEAD_SEEN "stderr a\ngap c2s messages=1 bytes=29 (damaged)\nstderr c\n",
                   "mcpreel: warning: file:3:26: not valid JSON: not UTF-8; left out\n");
    /* Together they are one gap, also if nothing follows; a line that swallows the next
     * costs only itself. */
    check_salvaged(STR(HEAD "\n{\"type\":7}\n{\"type\":\n" NOISE("c") "\0\0\n[]\n"),
                   HEAD_SEEN "gap c2s messages=2 bytes=20 (damaged)\nstderr c\n"
                             "gap c2s messages=2 bytes=6 (damaged)\n",
                   "mcpreel: warning: file:3:1: a line without a 'type' that is a string; "
                   "left out\n"
                   "mcpreel: warning: file:6:1: NUL bytes in the middle of the file; left "
                   "out\n");
    /* Another version is not damage. */
    check_salvaged(STR("{\"type\":\"header\",\"version\":\"2.0\",\"recorded_at\":"
                       "\"2026-01-01T00:00:00Z\",\"upstream\":\"x\","
                       "\"thoughtjack_version\":\"0.3.0\"}\n"),
                   "file:1:1: this is a recording of version 2.0; this program reads version 1",
                   "");
}

static void in_strict_mode_skipped_lines_are_reported(void **state)
{
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;

    (void)state;
    received_init(&h);
    temp_dir_put("file", STR(HEAD NOISE("\xff")));
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_ERROR);
    assert_string_equal(e.hint, "to save what can be read: mcpreel check --fix file");
    assert_int_equal(reader_damage(r)->lines, 0);
    reader_close(r);
}

static void assert_not_opened(const struct sys *sys, enum err_kind kind, const char *msg)
{
    int before = open_fd_count();
    struct reader *r = NULL;
    struct err e = ERR_NONE;
    struct received h;

    received_init(&h);
    assert_false(reader_open(&r, sys, "file", &h.log, &e));
    assert_string_equal(e.msg, msg);
    assert_int_equal(e.kind, kind);
    assert_null(r);
    assert_int_equal(h.text.len, 0);
    assert_int_equal(open_fd_count(), before);
}

static void a_file_that_is_not_a_recording_is_rejected(void **state)
{
    (void)state;
    assert_not_opened(&sys_real, ERR_INPUT, "cannot read 'file': No such file or directory");
    temp_dir_put("file", STR(""));
    assert_not_opened(&sys_real, ERR_INPUT, "cannot read 'file': it is empty");
    temp_dir_put("file", STR("\x7f"
                             "ELF\0\0\0"));
    assert_not_opened(&sys_real, ERR_INPUT,
                      "file:1:1: not a recording: no known format starts like this");
    temp_dir_put("file", STR("{\"jsonrpc\":\"2.0\"}\n"));
    assert_not_opened(&sys_real, ERR_INPUT,
                      "file:1:1: not a recording: no known format starts like this");
}

static void utf16_text_is_named_in_the_error(void **state)
{
    static const struct str starts[] = { STR_INIT("\xff\xfe{\0\n\0"),
                                         STR_INIT("\xfe\xff\0{\0\n"), STR_INIT("{\0\"\0"),
                                         STR_INIT("\0{\0\"") };

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        temp_dir_put("file", starts[i]);
        assert_not_opened(&sys_real, ERR_INPUT,
                          "file:1:1: not a recording: it is UTF-16, not UTF-8");
    }
}

static void a_utf8_byte_order_mark_is_skipped(void **state)
{
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;

    (void)state;
    received_init(&h);
    temp_dir_put("file", STR("\xef\xbb\xbf" HEAD "{}\n"));
    assert_true(reader_open(&r, &sys_real, "file", &h.log, &e));
    assert_int_equal(reader_offset(r), 3);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(rec.kind, RECORD_HEADER);
    assert_int_equal(reader_offset(r), sizeof HEAD - 1 + 3);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_ERROR);
    assert_true(str_starts(str_z(e.msg), STR("file:2:1: ")));
    reader_close(r);
    temp_dir_put("file", STR("\xef\xbb\xbf"));
    assert_not_opened(&sys_real, ERR_INPUT,
                      "file:1:1: not a recording: no known format starts like this");
}

static void a_failed_read_is_reported_at_any_position(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;
    struct buf text;
    enum next_result next;

    (void)state;
    received_init(&h);
    make_long_recording(&text, 1000);
    temp_dir_put("file", buf_str(&text));
    fault_init(&f);
    fault_fail(&f, FAULT_READ, 1, 1, EIO);
    assert_not_opened(&f.sys, ERR_IO, "cannot read 'file': Input/output error");
    fault_init(&f);
    fault_fail(&f, FAULT_READ, 2, 1, EINTR);
    fault_fail(&f, FAULT_READ, 4, 1, EIO);
    assert_true(reader_open(&r, &f.sys, "file", &h.log, &e));
    while ((next = reader_next(r, &rec, &e)) == NEXT_RECORD)
        ;
    assert_int_equal(next, NEXT_ERROR);
    assert_string_equal(e.msg, "cannot read 'file': Input/output error");
    assert_int_equal(e.kind, ERR_IO);
    reader_close(r);
    buf_release(&text);
}

static void read_all_gives_every_record_to_the_sink(void **state)
{
    struct err e = ERR_NONE;
    struct received h;
    struct terse t;

    (void)state;
    received_init(&h);
    terse_init(&t);
    temp_dir_put(
        "file",
        STR(HEAD
            "{\"type\":\"stderr\",\"text\":\"a\"}\n{\"type\":\"stderr\",\"text\":\"b\"}\n"));
    assert_true(reader_read_all(&sys_real, "file", &h.log, &t.sink, &e));
    assert_terse(&t, "header version=1.0 name= upstream=x\nstderr a\nstderr b\n");
    terse_release(&t);
}

static void read_all_stops_at_an_error_of_sink_or_file(void **state)
{
    int before = open_fd_count();
    struct err e = ERR_NONE;
    struct received h;
    struct terse t;

    (void)state;
    received_init(&h);
    terse_init(&t);
    temp_dir_put(
        "file",
        STR(HEAD "{\"type\":\"stderr\",\"text\":\"a\"}\noops\n{\"type\":\"stderr\"}\n"));
    assert_false(reader_read_all(&sys_real, "file", &h.log, &t.sink, &e));
    assert_string_equal(e.msg, "file:3:1: not valid JSON: expected a value");
    assert_terse(&t, "header version=1.0 name= upstream=x\nstderr a\n");
    t.fails = true;
    assert_false(reader_read_all(&sys_real, "file", &h.log, &t.sink, &e));
    assert_string_equal(e.msg, "no room");
    unlink("file");
    assert_false(reader_read_all(&sys_real, "file", &h.log, &t.sink, &e));
    assert_int_equal(open_fd_count(), before);
    terse_release(&t);
    reader_close(NULL);
}

/* Also in the middle of a line; a truncated last line is reported at the end of the file. */
static void a_growing_file_is_read_to_its_end(void **state)
{
    static const char first[] =
        HEAD "{\"type\":\"stderr\",\"text\":\"a\",\"us\":1}\n{\"type\":\"std",
                      second[] = "err\",\"text\":\"b\",\"us\":2}\n{\"type\"";
    struct err e = ERR_NONE;
    struct record rec;
    struct reader *r;
    struct received h;
    struct buf whole;

    (void)state;
    received_init(&h);
    buf_init(&whole, 4096);
    buf_add(&whole, STR(first));
    temp_dir_put("grows.jsonl", STR(first));
    assert_true(reader_open_following(&r, &sys_real, "grows.jsonl", &h.log, &e));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_str(rec.bytes.bytes, STR("a"));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_MORE);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_MORE);
    buf_add(&whole, STR(second));
    temp_dir_put("grows.jsonl", buf_str(&whole));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_RECORD);
    assert_str(rec.bytes.bytes, STR("b"));
    assert_int_equal(reader_next(r, &rec, &e), NEXT_MORE);
    assert_int_equal(h.text.len, 0);
    reader_stop_following(r);
    assert_int_equal(reader_next(r, &rec, &e), NEXT_END);
    assert_true(h.text.len > 0);
    reader_close(r);
    buf_release(&whole);
    buf_release(&h.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_long_file_is_read_in_windows),
        IN_TEMP_DIR(short_reads_give_the_same_records),
        IN_TEMP_DIR(a_line_of_megabytes_is_read),
        IN_TEMP_DIR(a_too_long_line_is_rejected_with_its_position),
        IN_TEMP_DIR(warnings_are_logged_and_counted),
        IN_TEMP_DIR(an_error_has_its_position),
        IN_TEMP_DIR(damaged_lines_are_skipped_for_a_repair),
        IN_TEMP_DIR(in_strict_mode_skipped_lines_are_reported),
        IN_TEMP_DIR(a_file_that_is_not_a_recording_is_rejected),
        IN_TEMP_DIR(utf16_text_is_named_in_the_error),
        IN_TEMP_DIR(a_utf8_byte_order_mark_is_skipped),
        IN_TEMP_DIR(a_failed_read_is_reported_at_any_position),
        IN_TEMP_DIR(a_growing_file_is_read_to_its_end),
        IN_TEMP_DIR(read_all_gives_every_record_to_the_sink),
        IN_TEMP_DIR(read_all_stops_at_an_error_of_sink_or_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
