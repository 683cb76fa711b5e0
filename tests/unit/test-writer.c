#include "format/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "fault-sys.h"
#include "format/source.h"
#include "test.h"
#include "trace/limits.h"

/* Each test has an empty directory for itself and stands in it. */
static int into_a_new_directory(void **state)
{
    char *dir = strdup("/tmp/mcpreel-writer-XXXXXX");

    *state = dir;
    return dir && mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int out_of_it(void **state)
{
    int r;

    unlink("file");
    unlink("link");
    unlink("file.gz");
    unlink("file.zst");
    r = chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
    free(*state);
    return r;
}

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

static void assert_content(const char *want)
{
    char got[4096];
    int fd = open("file", O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, got, sizeof got);
    close(fd);
    assert_true(n >= 0);
    assert_str(str_n(got, (size_t)n), str_z(want));
}

static void begin(struct writer *w, struct fault_sys *f)
{
    struct err e = ERR_NONE;

    fault_init(f);
    if (!writer_open(w, &f->sys, "file", false, &plain, &e))
        fail_msg("%s", e.msg);
}

static void end(struct writer *w)
{
    struct err e = ERR_NONE;

    if (!writer_finish(w, &e))
        fail_msg("%s", e.msg);
}

static void a_record_is_one_write_and_in_the_file_at_once(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    assert_content("");
    assert_true(put_text(&w, STR("a line: one"), &e));
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    assert_content(LINE("one"));
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_int_equal(f.calls[FAULT_WRITE], 2);
    assert_content(LINE("one") LINE("two"));
    assert_int_equal(f.calls[FAULT_FDATASYNC], 0);
    end(&w);
    assert_int_equal(f.calls[FAULT_WRITE], 2);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 1);
    assert_int_equal(f.calls[FAULT_CLOSE], 1);
    assert_content(LINE("one") LINE("two"));
}

static void short_writes_and_interruptions_are_gone_on_with(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    fault_short(&f, FAULT_WRITE, 1, 3, 7);
    fault_fail(&f, FAULT_WRITE, 4, 2, EINTR);
    assert_true(put_text(&w, STR("a line: one"), &e));
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_int_equal(f.calls[FAULT_FTRUNCATE], 0);
    end(&w);
    assert_content(LINE("one") LINE("two"));
}

/* For every way to fail and every number of bytes that still fit. */
static void after_a_torn_write_the_file_ends_with_the_last_whole_record(void **state)
{
    static const int reasons[] = { ENOSPC, EIO, EDQUOT, EFBIG };

    (void)state;
    for (size_t fits = 0; fits < sizeof LINE("two"); fits++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;

        begin(&w, &f);
        assert_true(put_text(&w, STR("a line: one"), &e));
        if (fits)
            fault_short(&f, FAULT_WRITE, 2, 1, fits);
        fault_fail(&f, FAULT_WRITE, fits ? 3 : 2, 1, reasons[fits % 4]);
        if (fits < sizeof LINE("two") - 1) {
            assert_false(put_text(&w, STR("a line: two"), &e));
            assert_int_equal(e.kind, ERR_IO);
            assert_content(LINE("one"));
        } else {
            assert_true(put_text(&w, STR("a line: two"), &e));
            assert_false(put_text(&w, STR("a line: lost"), &e));
        }
        assert_true(put_text(&w, STR("a line: three"), &e));
        end(&w);
        assert_content(fits < sizeof LINE("two") - 1 ? LINE("one") LINE("three")
                                                     : LINE("one") LINE("two") LINE("three"));
        unlink("file");
    }
}

static void the_error_names_the_file_and_the_reason(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    fault_fail(&f, FAULT_WRITE, 1, 1, ENOSPC);
    assert_false(put_text(&w, STR("a line: one"), &e));
    assert_string_equal(e.msg, "cannot write 'file': No space left on device");
    end(&w);
    assert_content("");
}

/* A record behind half a one would make the whole recording unusable; one that ends
 * in half a one is still good. */
static void nothing_is_written_behind_a_torn_record_that_cannot_be_cut_off(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    assert_true(put_text(&w, STR("a line: one"), &e));
    fault_short(&f, FAULT_WRITE, 2, 1, 5);
    fault_fail(&f, FAULT_WRITE, 3, 1, ENOSPC);
    fault_fail(&f, FAULT_FTRUNCATE, 1, 2, EIO);
    assert_false(put_text(&w, STR("a line: two"), &e));
    assert_string_equal(e.msg, "cannot write 'file': No space left on device");
    assert_content(LINE("one") "a lin");
    assert_false(put_text(&w, STR("a line: three"), &e));
    assert_string_equal(e.msg, "cannot truncate 'file': Input/output error");
    assert_content(LINE("one") "a lin");
    assert_true(put_text(&w, STR("a line: four"), &e));
    assert_content(LINE("one") LINE("four"));
    end(&w);
    assert_content(LINE("one") LINE("four"));
}

static void finishing_cuts_a_torn_record_off(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    fault_short(&f, FAULT_WRITE, 1, 1, 5);
    fault_fail(&f, FAULT_WRITE, 2, 1, ENOSPC);
    fault_fail(&f, FAULT_FTRUNCATE, 1, 1, EIO);
    assert_false(put_text(&w, STR("a line: one"), &e));
    end(&w);
    assert_content("");
}

static void a_record_that_is_too_large_is_refused_and_the_next_is_not(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;
    char *many = calloc(1, LIMIT_LINE);

    (void)state;
    assert_non_null(many);
    begin(&w, &f);
    assert_false(put_text(&w, str_n(many, LIMIT_LINE), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    assert_true(put_text(&w, STR("a line: one"), &e));
    end(&w);
    assert_content(LINE("one"));
    free(many);
}

static void what_goes_wrong_at_the_end_is_told(void **state)
{
    static const struct {
        enum fault_call call;
        int errnum;
        const char *says;
    } rows[] = {
        { FAULT_FDATASYNC, EIO, "cannot sync 'file': Input/output error" },
        { FAULT_CLOSE, ENOSPC, "cannot close 'file': No space left on device" },
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;

        begin(&w, &f);
        assert_true(put_text(&w, STR("a line: one"), &e));
        fault_fail(&f, rows[i].call, 1, 1, rows[i].errnum);
        assert_false(writer_finish(&w, &e));
        assert_string_equal(e.msg, rows[i].says);
        assert_int_equal(f.calls[FAULT_CLOSE], 1);
        assert_content(LINE("one"));
        unlink("file");
    }
}

static void of_two_troubles_at_the_end_the_first_is_told(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    fault_fail(&f, FAULT_FDATASYNC, 1, 1, EIO);
    fault_fail(&f, FAULT_CLOSE, 1, 1, ENOSPC);
    assert_false(writer_finish(&w, &e));
    assert_string_equal(e.msg, "cannot sync 'file': Input/output error");
}

static void what_cannot_be_made_is_not_begun(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_OPEN, 1, 1, ENOSPC);
    assert_false(writer_open(&w, &f.sys, "file", false, &plain, &e));
    assert_string_equal(e.msg, "cannot write 'file': No space left on device");
    assert_int_equal(access("file", F_OK), -1);
    assert_int_equal(f.calls[FAULT_CLOSE], 0);
    assert_int_equal(symlink("file", "link"), 0);
    assert_false(writer_open(&w, &f.sys, "link", false, &plain, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_int_equal(access("file", F_OK), -1);
}

static void an_existing_file_is_replaced_only_when_asked(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    assert_true(put_text(&w, STR("a line: old"), &e));
    end(&w);
    assert_false(writer_open(&w, &sys_real, "file", false, &plain, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_content(LINE("old"));
    assert_true(writer_open(&w, &sys_real, "file", true, &plain, &e));
    assert_true(put_text(&w, STR("a line: new"), &e));
    end(&w);
    assert_content(LINE("new"));
}

static void what_is_abandoned_leaves_no_file(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin(&w, &f);
    assert_true(put_text(&w, STR("a line: one"), &e));
    writer_abandon(&w);
    assert_int_equal(access("file", F_OK), -1);
    assert_int_equal(f.calls[FAULT_CLOSE], 1);
}

/* A format that is one document: nothing with each record, all of it at the end. */
static void *document_begin(void)
{
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

static void a_format_may_write_all_at_the_end(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    fault_init(&f);
    assert_true(writer_open(&w, &f.sys, "file", false, &document, &e));
    assert_true(put_text(&w, STR("a line: one"), &e));
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    end(&w);
    assert_content("2 records\n");
    assert_true(writer_open(&w, &f.sys, "file", true, &document, &e));
    writer_abandon(&w);
    assert_true(writer_open(&w, &f.sys, "file", true, &document, &e));
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

static void a_document_that_is_too_large_is_the_choice_of_the_format(void **state)
{
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    assert_true(writer_open_whole(&w, &sys_real, "file", false, &too_large, &e));
    assert_false(writer_finish(&w, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "cannot write 'file': one document or line of format 'document' "
                               "has 96 MB at most");
    assert_string_equal(e.hint, "choose a format with one message per line: --to recording");
    assert_int_equal(access("file", F_OK), -1);
}

#define IN_A_DIRECTORY(test)                                                                   \
    cmocka_unit_test_setup_teardown(test, into_a_new_directory, out_of_it)

static void begin_whole(struct writer *w, struct fault_sys *f, const char *path, bool replace)
{
    struct err e = ERR_NONE;

    fault_init(f);
    if (!writer_open_whole(w, &f->sys, path, replace, &plain, &e))
        fail_msg("%s", e.msg);
}

static void a_file_made_at_one_go_is_there_when_it_is_whole(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin_whole(&w, &f, "file", false);
    assert_true(put_text(&w, STR("a line: one"), &e));
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_int_equal(f.calls[FAULT_WRITE], 0);
    assert_int_equal(access("file", F_OK), -1);
    end(&w);
    assert_int_equal(f.calls[FAULT_WRITE], 1);
    assert_int_equal(f.calls[FAULT_FDATASYNC], 1);
    assert_content(LINE("one") LINE("two"));
}

static void it_is_written_in_large_pieces(void **state)
{
    enum { LINES = 10000, LENGTH = 100 };
    char line[LENGTH];
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;
    struct stat st;

    (void)state;
    memset(line, 'x', sizeof line);
    begin_whole(&w, &f, "file", false);
    for (int i = 0; i < LINES; i++)
        assert_true(put_text(&w, str_n(line, sizeof line), &e));
    assert_true(w.text.cap < 4 << 18);
    end(&w);
    assert_in_range(f.calls[FAULT_WRITE], 2, 10);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_size, LINES * (LENGTH + 1));
}

static void if_anything_fails_the_old_file_stays(void **state)
{
    static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FDATASYNC, FAULT_RENAME };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;

        unlink("file");
        begin_whole(&w, &f, "file", false);
        assert_true(put_text(&w, STR("a line: old"), &e));
        end(&w);
        begin_whole(&w, &f, "file", true);
        fault_fail(&f, calls[i], 1, FAULT_FOREVER, ENOSPC);
        assert_true(put_text(&w, STR("a line: new"), &e));
        assert_false(writer_finish(&w, &e));
        assert_int_equal(e.kind, ERR_IO);
        assert_non_null(strstr(e.msg, "'file': No space left on device"));
        assert_content(LINE("old"));
    }
}

static void an_abandoned_one_was_never_there(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin_whole(&w, &f, "file", false);
    assert_true(put_text(&w, STR("a line: one"), &e));
    writer_abandon(&w);
    assert_int_equal(access("file", F_OK), -1);
}

static void what_exists_is_told_before_anything_is_written(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    begin_whole(&w, &f, "file", false);
    end(&w);
    assert_false(writer_open_whole(&w, &f.sys, "file", false, &plain, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "cannot write 'file': it exists already");
}

/* Standard output as a file, with something in it already; restored at the end. */
static void standard_output_is_neither_synced_nor_closed_nor_cut(void **state)
{
    int kept = dup(STDOUT_FILENO), fd = open("file", O_RDWR | O_CREAT | O_APPEND, 0600);
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    assert_true(kept >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    assert_int_equal(write(fd, LINE("old"), strlen(LINE("old"))), strlen(LINE("old")));
    begin_whole(&w, &f, "-", false);
    assert_true(put_text(&w, STR("a line: one"), &e));
    end(&w);
    begin_whole(&w, &f, "-", false);
    fault_short(&f, FAULT_WRITE, 1, 1, 3);
    fault_fail(&f, FAULT_WRITE, 2, 1, ENOSPC);
    assert_true(put_text(&w, STR("a line: two"), &e));
    assert_false(writer_finish(&w, &e));
    assert_string_equal(e.msg, "cannot write 'standard output': No space left on device");
    begin_whole(&w, &f, "-", false);
    assert_true(put_text(&w, STR("a line: three"), &e));
    writer_abandon(&w);
    assert_int_equal(f.calls[FAULT_FDATASYNC] + f.calls[FAULT_CLOSE], 0);
    assert_int_equal(f.calls[FAULT_FTRUNCATE] + f.calls[FAULT_UNLINK], 0);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(fd);
    assert_content(LINE("old") LINE("one") "a l");
}

static const char *const packed_names[] = { "file.gz", "file.zst" };

/* What a file holds, unpacked, whatever its name says. */
static void unpack(struct buf *to, const char *path)
{
    struct err e = ERR_NONE;
    struct source s;
    size_t got;

    buf_init(to, 1 << 26);
    if (!source_open(&s, &sys_real, path, &e))
        fail_msg("%s", e.msg);
    do {
        char *at = buf_space(to, 1 << 16);

        if (!source_read(&s, at, 1 << 16, &got, &e))
            fail_msg("%s", e.msg);
        buf_grew(to, got);
    } while (got);
    assert_non_null(s.unpacker);
    source_close(&s);
}

static void a_name_may_say_that_it_is_packed(void **state)
{
    enum { LINES = 20000 };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;
        struct buf was, is;

        buf_init(&was, 1 << 26);
        begin_whole(&w, &f, packed_names[i], false);
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

static void a_packed_file_may_be_empty_or_all_at_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fault_sys f;
        struct err e = ERR_NONE;
        struct writer w;
        struct buf is;

        begin_whole(&w, &f, packed_names[i], false);
        end(&w);
        unpack(&is, packed_names[i]);
        assert_str(buf_str(&is), STR(""));
        buf_release(&is);
        assert_true(writer_open_whole(&w, &f.sys, packed_names[i], true, &document, &e));
        end(&w);
        unpack(&is, packed_names[i]);
        assert_str(buf_str(&is), STR("0 records\n"));
        buf_release(&is);
    }
}

/* Texts that do not pack, so that each of them is written. */
static void a_packed_file_that_cannot_be_written_was_never_there(void **state)
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

        begin_whole(&w, &f, packed_names[i], false);
        fault_fail(&f, FAULT_WRITE, 3, 1, ENOSPC);
        assert_false(put_text(&w, str_n(noise, LENGTH), &e));
        assert_int_equal(e.kind, ERR_IO);
        writer_abandon(&w);
        assert_int_equal(access(packed_names[i], F_OK), -1);
        begin_whole(&w, &f, packed_names[i], false);
        fault_fail(&f, FAULT_WRITE, 1, FAULT_FOREVER, ENOSPC);
        assert_true(put_text(&w, STR("a line: one"), &e));
        assert_false(writer_finish(&w, &e));
        assert_int_equal(access(packed_names[i], F_OK), -1);
    }
    free(noise);
}

static void a_file_that_grows_is_not_packed(void **state)
{
    struct fault_sys f;
    struct err e = ERR_NONE;
    struct writer w;

    (void)state;
    fault_init(&f);
    assert_true(writer_open(&w, &f.sys, "file.gz", false, &plain, &e));
    assert_true(put_text(&w, STR("a line: one"), &e));
    end(&w);
    assert_int_equal(rename("file.gz", "file"), 0);
    assert_content(LINE("one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(a_record_is_one_write_and_in_the_file_at_once),
        IN_A_DIRECTORY(short_writes_and_interruptions_are_gone_on_with),
        IN_A_DIRECTORY(after_a_torn_write_the_file_ends_with_the_last_whole_record),
        IN_A_DIRECTORY(the_error_names_the_file_and_the_reason),
        IN_A_DIRECTORY(nothing_is_written_behind_a_torn_record_that_cannot_be_cut_off),
        IN_A_DIRECTORY(finishing_cuts_a_torn_record_off),
        IN_A_DIRECTORY(a_record_that_is_too_large_is_refused_and_the_next_is_not),
        IN_A_DIRECTORY(what_goes_wrong_at_the_end_is_told),
        IN_A_DIRECTORY(of_two_troubles_at_the_end_the_first_is_told),
        IN_A_DIRECTORY(what_cannot_be_made_is_not_begun),
        IN_A_DIRECTORY(an_existing_file_is_replaced_only_when_asked),
        IN_A_DIRECTORY(what_is_abandoned_leaves_no_file),
        IN_A_DIRECTORY(a_format_may_write_all_at_the_end),
        IN_A_DIRECTORY(a_document_that_is_too_large_is_the_choice_of_the_format),
        IN_A_DIRECTORY(a_file_made_at_one_go_is_there_when_it_is_whole),
        IN_A_DIRECTORY(it_is_written_in_large_pieces),
        IN_A_DIRECTORY(if_anything_fails_the_old_file_stays),
        IN_A_DIRECTORY(an_abandoned_one_was_never_there),
        IN_A_DIRECTORY(what_exists_is_told_before_anything_is_written),
        IN_A_DIRECTORY(standard_output_is_neither_synced_nor_closed_nor_cut),
        IN_A_DIRECTORY(a_name_may_say_that_it_is_packed),
        IN_A_DIRECTORY(a_packed_file_may_be_empty_or_all_at_the_end),
        IN_A_DIRECTORY(a_packed_file_that_cannot_be_written_was_never_there),
        IN_A_DIRECTORY(a_file_that_grows_is_not_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
