#include "format/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "fault-sys.h"
#include "format/input.h"
#include "temp-dir.h"
#include "test.h"
#include "trace/limits.h"

/* A format of the simplest kind: a line of text for each record. */
static void plain_put(void *state, struct buf *to, const struct record *r)
{
    (void)state;
    buf_add(to, r->bytes.bytes);
    buf_add_ch(to, '\n');
}

static const struct format plain = { .name = "plain", .put = plain_put };

static bool put_text(struct writer *w, struct str text, struct err *e)
{
    struct record r = { .kind = RECORD_STDERR, .bytes = { .bytes = text } };

    return w->sink.put(&w->sink, &r, e);
}

#define LINE(text) "a line: " text "\n"

static void begin_complete(struct writer *w, struct fault_sys *f, const char *path,
                           bool replace)
{
    struct err e = ERR_NONE;

    fault_init(f);
    if (!writer_open(w, &f->sys, path, replace, &plain, NULL, &e))
        fail_msg("%s", e.msg);
}

static void end(struct writer *w)
{
    struct err e = ERR_NONE;

    if (!writer_finish(w, &e))
        fail_msg("%s", e.msg);
}

static void a_too_large_record_is_rejected_and_the_next_is_not(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;
    const size_t size = LIMIT_LINE + ((size_t)1 << 20);
    char *many = calloc(1, size);

    (void)state;
    assert_non_null(many);
    begin_complete(&w, &f, "file", false);
    assert_false(put_text(&w, str_n(many, size), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    assert_true(put_text(&w, STR("a line: one"), &e));
    end(&w);
    assert_content("file", STR(LINE("one")));
    free(many);
}

/* A format that is one document: nothing with each record, all of it at the end. */
static void *document_begin(const struct format_options *o)
{
    (void)o;
    return calloc(1, sizeof(size_t));
}

static void document_put(void *state, struct buf *to, const struct record *r)
{
    (void)to;
    (void)r;
    ++*(size_t *)state;
}

static void document_end(void *state, struct buf *to)
{
    buf_printf(to, "%zu records\n", *(size_t *)state);
    free(state);
}

static const struct format document = {
    .name = "document", .begin = document_begin, .put = document_put, .end = document_end
};

static void a_format_may_write_everything_at_the_end(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    fault_init(&f);
    assert_true(writer_open(&w, &f.sys, "file", false, &document, NULL, &e));
    assert_true(put_text(&w, STR("a line: one"), &e));
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    end(&w);
    assert_content("file", STR("2 records\n"));
    assert_true(writer_open(&w, &f.sys, "file", true, &document, NULL, &e));
    writer_abort(&w);
    assert_true(writer_open(&w, &f.sys, "file", true, &document, NULL, &e));
    fault_fail(&f, FAULT_WRITE, 2, 1, ENOSPC);
    assert_false(writer_finish(&w, &e));
    assert_string_equal(e.msg, "cannot write 'file': No space left on device");
}

static void large_end(void *state, struct buf *to)
{
    free(state);
    to->full = true;
}

static const struct format too_large = {
    .name = "document", .begin = document_begin, .put = document_put, .end = large_end
};

static void write_too_large(const struct format *format, const char *hint)
{
    struct err e = ERR_NONE;
    struct writer w;

    assert_true(writer_open(&w, &sys_real, "file", false, format, NULL, &e));
    assert_false(writer_finish(&w, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg,
                        "cannot write 'file': the format 'document' holds 96 MB at most");
    assert_string_equal(e.hint, hint);
    assert_int_equal(access("file", F_OK), -1);
}

static void the_format_decides_about_a_too_large_document(void **state)
{
    struct format readable = too_large;

    (void)state;
    readable.open = cassette_format.open;
    write_too_large(&readable, "a format with one message per line has no limit: "
                               "mcpreel convert FILE -o OUT.jsonl");
    write_too_large(&too_large, "it is made of all calls at the end: convert a recording with "
                                "fewer calls");
}

static void an_atomic_file_appears_when_it_is_complete(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin_complete(&w, &f, "file", false);
    assert_true(put_text(&w, STR("a line: one"), &e));
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    assert_int_equal(access("file", F_OK), -1);
    end(&w);
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 1);
    assert_content("file", STR(LINE("one") LINE("two")));
}

static void output_is_written_in_large_blocks(void **state)
{
    enum { LINES = 10000, LENGTH = 100 };
    char line[LENGTH];
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;
    struct stat st;

    (void)state;
    memset(line, 'x', sizeof line);
    begin_complete(&w, &f, "file", false);
    for (int i = 0; i < LINES; i++)
        assert_true(put_text(&w, str_n(line, sizeof line), &e));
    assert_true(w.text.cap < 4 << 18);
    end(&w);
    assert_in_range(f.calls[FAULT_WRITE], 2, 10);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_size, LINES * (LENGTH + 1));
}

static void after_any_failure_the_old_file_stays(void **state)
{
    static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FDATASYNC, FAULT_RENAME };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;

        unlink("file");
        begin_complete(&w, &f, "file", false);
        assert_true(put_text(&w, STR("a line: old"), &e));
        end(&w);
        begin_complete(&w, &f, "file", true);
        fault_fail(&f, calls[i], 1, FAULT_FOREVER, ENOSPC);
        assert_true(put_text(&w, STR("a line: new"), &e));
        assert_false(writer_finish(&w, &e));
        assert_int_equal(e.kind, ERR_IO);
        assert_non_null(strstr(e.msg, "'file': No space left on device"));
        assert_content("file", STR(LINE("old")));
    }
}

static void an_aborted_file_does_not_appear(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin_complete(&w, &f, "file", false);
    assert_true(put_text(&w, STR("a line: one"), &e));
    writer_abort(&w);
    assert_int_equal(access("file", F_OK), -1);
}

static void an_existing_file_is_reported_before_anything_is_written(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin_complete(&w, &f, "file", false);
    end(&w);
    assert_false(writer_open(&w, &f.sys, "file", false, &plain, NULL, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "cannot write 'file': it exists already");
}

/* Standard output as a file, with something in it already; restored at the end. */
static void standard_output_is_not_synced_closed_or_truncated(void **state)
{
    int kept = dup(STDOUT_FILENO), fd = open("file", O_RDWR | O_CREAT | O_APPEND, 0600);
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    assert_true(kept >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    assert_int_equal(write(fd, LINE("old"), strlen(LINE("old"))), strlen(LINE("old")));
    begin_complete(&w, &f, "-", false);
    assert_true(put_text(&w, STR("a line: one"), &e));
    end(&w);
    begin_complete(&w, &f, "-", false);
    fault_short(&f, FAULT_WRITE, 1, 1, 3);
    fault_fail(&f, FAULT_WRITE, 2, 1, ENOSPC);
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_false(writer_finish(&w, &e));
    assert_string_equal(e.msg, "cannot write 'standard output': No space left on device");
    begin_complete(&w, &f, "-", false);
    assert_true(put_text(&w, STR("a line: three"), &e));
    writer_abort(&w);
    assert_int_equal(f.calls[FAULT_FDATASYNC] + f.calls[FAULT_CLOSE], 0);
    assert_int_equal(f.calls[FAULT_FTRUNCATE] + f.calls[FAULT_UNLINK], 0);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(fd);
    assert_content("file", STR(LINE("old") LINE("one") "a l"));
}

static const char *const packed_names[] = { "file.gz", "file.zst" };

/* Returns the content of a file, decompressed, whatever its name. */
static void unpack(struct buf *to, const char *path)
{
    struct err e = ERR_NONE;
    struct input s;
    size_t got;

    buf_init(to, 1 << 26);
    if (!input_open(&s, &sys_real, path, &e))
        fail_msg("%s", e.msg);
    do {
        char *at = buf_reserve(to, 1 << 16);

        if (!input_read(&s, at, 1 << 16, &got, &e))
            fail_msg("%s", e.msg);
        buf_commit(to, got);
    } while (got);
    assert_non_null(s.decompressor);
    input_close(&s);
}

static void the_file_name_selects_the_compression(void **state)
{
    enum { LINES = 20000 };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;
        struct buf was, is;

        buf_init(&was, 1 << 26);
        begin_complete(&w, &f, packed_names[i], false);
        for (unsigned n = 0; n < LINES; n++) {
            size_t at = was.len;

            buf_printf(&was, "%x%x\n", n * 2654435761u, n * 40503u);
            assert_true(put_text(&w, str_n(was.at + at, was.len - at - 1), &e));
        }
        end(&w);
        assert_in_range(f.calls[FAULT_WRITE], 2, 10);
        unpack(&is, packed_names[i]);
        assert_str(buf_str(&is), buf_str(&was));
        buf_release(&was);
        buf_release(&is);
    }
}

static void a_compressed_file_may_be_empty_or_written_at_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;
        struct buf is;

        begin_complete(&w, &f, packed_names[i], false);
        end(&w);
        unpack(&is, packed_names[i]);
        assert_str(buf_str(&is), STR(""));
        buf_release(&is);
        assert_true(writer_open(&w, &f.sys, packed_names[i], true, &document, NULL, &e));
        end(&w);
        unpack(&is, packed_names[i]);
        assert_str(buf_str(&is), STR("0 records\n"));
        buf_release(&is);
    }
}

/* Texts that do not pack, so that each of them is written. */
static void a_compressed_file_that_cannot_be_written_does_not_appear(void **state)
{
    enum { LENGTH = 1 << 20 };
    char *noise = mem_alloc(LENGTH);

    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        noise[i] = (char)hash_mix(i, 0);
    for (size_t i = 0; i < 2; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;

        begin_complete(&w, &f, packed_names[i], false);
        fault_fail(&f, FAULT_WRITE, 3, 1, ENOSPC);
        assert_false(put_text(&w, str_n(noise, LENGTH), &e));
        assert_int_equal(e.kind, ERR_IO);
        writer_abort(&w);
        assert_int_equal(access(packed_names[i], F_OK), -1);
        begin_complete(&w, &f, packed_names[i], false);
        fault_fail(&f, FAULT_WRITE, 1, FAULT_FOREVER, ENOSPC);
        assert_true(put_text(&w, STR("a line: one"), &e));
        assert_false(writer_finish(&w, &e));
        assert_int_equal(access(packed_names[i], F_OK), -1);
    }
    free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_too_large_record_is_rejected_and_the_next_is_not),
        IN_TEMP_DIR(a_format_may_write_everything_at_the_end),
        IN_TEMP_DIR(the_format_decides_about_a_too_large_document),
        IN_TEMP_DIR(an_atomic_file_appears_when_it_is_complete),
        IN_TEMP_DIR(output_is_written_in_large_blocks),
        IN_TEMP_DIR(after_any_failure_the_old_file_stays),
        IN_TEMP_DIR(an_aborted_file_does_not_appear),
        IN_TEMP_DIR(an_existing_file_is_reported_before_anything_is_written),
        IN_TEMP_DIR(standard_output_is_not_synced_closed_or_truncated),
        IN_TEMP_DIR(the_file_name_selects_the_compression),
        IN_TEMP_DIR(a_compressed_file_may_be_empty_or_written_at_the_end),
        IN_TEMP_DIR(a_compressed_file_that_cannot_be_written_does_not_appear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
