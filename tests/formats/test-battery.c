/* tests/formats/test-battery.c - tests the properties that every format has.
 *
 *     test-battery DIRECTORY
 *
 * Driven by the table of formats: DIRECTORY/<format>/ holds samples, real-looking
 * files of that format, small enough to be damaged at every byte. A new format is
 * covered by adding some.
 *
 * Compiled with -DEXTRA_FORMAT=NAME, and its declaration, it tests that format alone, which is
 * not in the table, against all others. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "memory-file.h"
#include "record-summary.h"
#include "test.h"

enum { SAMPLES_LEAST = 3, SAMPLE_SIZE = 4096, FORMATS_MAX = 64 };

/* Sizes in which a file is read: all at once, and growing pieces. */
enum { WHOLE = 1 << 20 };
static const size_t steps[] = { 1, 7, 4096 };

/* Every format must know its own by so much of it. */
enum { HEAD = 64 };

struct sample {
    const struct format *format;
    char *name; /* "trace/rotated.sample" */
    struct str text;
    const struct battery *battery;
};

struct battery {
    const struct format *table[FORMATS_MAX]; /* NULL-ended */
    struct sample *samples;
    size_t count, cap;
    struct arena arena;
};

/* Samples. */

static void load_sample(struct battery *b, const struct format *f, const char *directory,
                        const char *file)
{
    struct str path = arena_printf(&b->arena, "%s/%s/%s", directory, f->name, file);
    struct err e = ERR_NONE;
    struct sample *s;
    struct buf text;

    b->samples = mem_reserve(b->samples, &b->cap, b->count + 1, sizeof *b->samples);
    s = &b->samples[b->count++];
    *s = (struct sample){ .format = f, .battery = b };
    s->name = arena_z(&b->arena, str_skip(path, strlen(directory) + 1));
    buf_init(&text, SAMPLE_SIZE);
    if (!file_read_all(&text, &sys_real, path.at, &e))
        fail_msg("%s", e.msg);
    s->text = str_n(mem_grow(text.at, text.len), text.len); /* ASan watches its end */
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sample *)a)->name, ((const struct sample *)b)->name);
}

static void load_samples(struct battery *b, const struct format *f, const char *directory)
{
    size_t before = b->count;
    struct dirent *entry;
    DIR *dir = opendir(arena_printf(&b->arena, "%s/%s", directory, f->name).at);

    while (dir && (entry = readdir(dir)))
        if (str_ends(str_z(entry->d_name), STR(".sample")))
            load_sample(b, f, directory, entry->d_name);
    if (dir)
        closedir(dir);
    if (b->count - before < SAMPLES_LEAST)
        fail_msg("format '%s' has %zu samples in '%s'; %d are the least", f->name,
                 b->count - before, directory, SAMPLES_LEAST);
}

static void for_each_sample(void **state, void (*check)(const struct sample *s))
{
    const struct battery *b = *state;

    for (size_t i = 0; i < b->count; i++)
        check(&b->samples[i]);
}

/* Readings. */

struct outcome {
    struct record_summary account;
    struct memory_reader pieces;
    struct buf view; /* of everything, or of the features of a format without exact bytes */
};

/* Everything that a file of this format can contain. */
static unsigned all_of(const struct format *f)
{
    return f->keeps & FEATURE_BYTES ? RECORD_SUMMARY_ALL
                                    : RECORD_SUMMARY_ALL & ~(unsigned)FEATURE_BYTES;
}

static void read_as(struct outcome *o, const struct format *f, struct str text, size_t step)
{
    record_summary_init(&o->account);
    memory_reader_run(&o->pieces, f, text, step, &o->account.sink);
    buf_init(&o->view, (size_t)1 << 30);
    record_summary_write(&o->account, all_of(f), &o->view);
}

static void outcome_release(struct outcome *o)
{
    record_summary_release(&o->account);
    memory_reader_release(&o->pieces);
    buf_release(&o->view);
}

static void must_read(struct outcome *o, const char *what, const struct format *f,
                      struct str text)
{
    read_as(o, f, text, WHOLE);
    if (o->pieces.failed)
        fail_msg("%s: %s in:\n%.*s", what, o->pieces.error.msg, STR_ARG(text));
}

static void must_be_equal(const struct sample *s, const char *when, struct str got,
                          struct str want)
{
    if (!str_eq(got, want))
        fail_msg("%s, %s:\n%.*s\ninstead of\n%.*s", s->name, when, STR_ARG(got), STR_ARG(want));
}

/* The result does not depend on the sizes of the pieces. */
static void same_in_steps_of(const struct sample *s, const char *when, struct str text,
                             size_t step, const struct outcome *whole)
{
    struct outcome o;

    read_as(&o, s->format, text, step);
    must_be_equal(s, when, buf_str(&o.view), buf_str(&whole->view));
    must_be_equal(s, when, buf_str(&o.pieces.warnings), buf_str(&whole->pieces.warnings));
    must_be_equal(s, when, str_z(o.pieces.error.msg), str_z(whole->pieces.error.msg));
    outcome_release(&o);
}

/* Fails if another format ranks the head as high as `own`. With few bytes a low rank is
 * allowed. */
static void must_be_outranked(const struct sample *s, struct str head, enum probe_rank own)
{
    bool enough = head.len >= HEAD || head.len == s->text.len;

    if (own == PROBE_NONE && enough)
        fail_msg("%s, its first %zu bytes: not recognised", s->name, head.len);
    for (const struct format *const *f = s->battery->table; *f; f++) {
        enum probe_rank rank = (*f)->probe ? (*f)->probe(head) : PROBE_NONE;

        if (*f != s->format && rank >= own && (rank == PROBE_SURE || (rank && enough)))
            fail_msg("%s, its first %zu bytes: claimed by '%s'", s->name, head.len, (*f)->name);
    }
}

static void claimed_by_its_format_alone(const struct sample *s)
{
    for (size_t n = 0; n <= s->text.len; n++) {
        struct str head = str_n(s->text.at, n);

        must_be_outranked(s, head, s->format->probe(head));
    }
}

static void only_the_format_of_a_sample_recognizes_it(void **state)
{
    for_each_sample(state, claimed_by_its_format_alone);
}

static void same_in_all_windows(const struct sample *s)
{
    struct outcome whole;

    must_read(&whole, s->name, s->format, s->text);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        same_in_steps_of(s, "in steps", s->text, steps[i], &whole);
    outcome_release(&whole);
}

static void a_file_gives_the_same_records_with_windows_of_any_size(void **state)
{
    for_each_sample(state, same_in_all_windows);
}

/* Losses of a conversion are counted with features_of(); and a writer that writes a message
 * unchanged must be able to rely on its being one line. */
static void records_are_sound(const struct sample *s)
{
    struct outcome o;

    must_read(&o, s->name, s->format, s->text);
    if (o.account.has_line_break)
        fail_msg("%s: a message with a line break", s->name);
    if (record_summary_features(&o.account) != o.account.features)
        fail_msg("%s: says %#x, has %#x", s->name, o.account.features,
                 record_summary_features(&o.account));
    outcome_release(&o);
}

static void records_contain_the_members_of_their_lines(void **state)
{
    for_each_sample(state, records_are_sound);
}

/* Writing. */

static void convert(const char *what, const struct format *from, struct str text,
                    const struct format *to, struct memory_writer *out)
{
    struct memory_reader p;

    memory_writer_init(out, to);
    memory_reader_run(&p, from, text, WHOLE, &out->sink);
    if (p.failed)
        fail_msg("%s, read as '%s': %s in:\n%.*s", what, from->name, p.error.msg,
                 STR_ARG(text));
    memory_writer_finish(out);
    memory_reader_release(&p);
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The lines of a view in an order that does not depend on that of the records. */
static void sort_lines(struct buf *view)
{
    struct str text = str_n(view->at, view->len), *lines = NULL;
    size_t count = 0, cap = 0;
    struct buf sorted;

    buf_init(&sorted, (size_t)1 << 30);
    while (text.len) {
        lines = mem_reserve(lines, &cap, count + 1, sizeof *lines);
        lines[count++] = str_cut(&text, '\n');
    }
    if (count)
        qsort(lines, count, sizeof *lines, by_bytes);
    for (size_t i = 0; i < count; i++) {
        buf_add(&sorted, lines[i]);
        buf_add_ch(&sorted, '\n');
    }
    free(lines);
    buf_release(view);
    *view = sorted;
}

/* Compares two readings by the kept features. A header that was composed because the format
 * requires one does not count. */
static void nothing_kept_is_lost(const struct sample *s, const char *when, unsigned parts,
                                 const struct record_summary *before,
                                 struct record_summary *after)
{
    struct buf a, b;

    if (!record_summary_has_header(before) && record_summary_has_header(after))
        record_summary_drop_header(after);
    buf_init(&a, (size_t)1 << 30);
    buf_init(&b, (size_t)1 << 30);
    record_summary_write(before, parts, &a);
    record_summary_write(after, parts, &b);
    if (!(parts & FEATURE_ORDER)) {
        sort_lines(&a);
        sort_lines(&b);
    }
    must_be_equal(s, when, buf_str(&b), buf_str(&a));
    buf_release(&a);
    buf_release(&b);
}

/* A format loses no feature of a file that it reads; and written again, not a byte changes. */
static void written_and_read_again(const struct sample *s)
{
    const struct format *f = s->format;
    struct memory_writer once, twice;
    struct outcome before, after;

    if (!f->put)
        return;
    must_read(&before, s->name, f, s->text);
    convert(s->name, f, s->text, f, &once);
    if (once.text.len && memory_reader_detect(s->battery->table, buf_str(&once.text)) != f)
        fail_msg("%s: does not recognise what it has written:\n%.*s", s->name,
                 STR_ARG(buf_str(&once.text)));
    must_read(&after, s->name, f, buf_str(&once.text));
    nothing_kept_is_lost(s, "written and read", all_of(f), &before.account, &after.account);
    convert(s->name, f, buf_str(&once.text), f, &twice);
    must_be_equal(s, "written again", buf_str(&twice.text), buf_str(&once.text));
    outcome_release(&before);
    outcome_release(&after);
    memory_writer_release(&once);
    memory_writer_release(&twice);
}

static void written_records_are_read_back_unchanged(void **state)
{
    for_each_sample(state, written_and_read_again);
}

static void there_and_back(const struct sample *s, const struct format *other)
{
    const struct format *own = s->format;
    unsigned parts = own->keeps & other->keeps;
    struct outcome before, between, after;
    struct memory_writer there, back;

    must_read(&before, s->name, own, s->text);
    convert(s->name, own, s->text, other, &there);
    must_read(&between, s->name, other, buf_str(&there.text));
    nothing_kept_is_lost(s, other->name, parts, &before.account, &between.account);
    convert(s->name, other, buf_str(&there.text), own, &back);
    must_read(&after, s->name, own, buf_str(&back.text));
    nothing_kept_is_lost(s, other->name, parts, &before.account, &after.account);
    outcome_release(&before);
    outcome_release(&between);
    outcome_release(&after);
    memory_writer_release(&there);
    memory_writer_release(&back);
}

static void to_every_format_and_back(const struct sample *s)
{
    for (const struct format *const *f = s->battery->table; *f; f++)
        if (s->format->put && (*f)->put && (*f)->next)
            there_and_back(s, *f);
}

static void a_round_trip_loses_only_declared_features(void **state)
{
    for_each_sample(state, to_every_format_and_back);
}

/* A format that is only written accepts the records of every other one, and writes the same
 * twice: complete lines, without NUL. */
static void to_write_only(const struct sample *s, const struct format *other)
{
    struct memory_writer once, twice;

    convert(s->name, s->format, s->text, other, &once);
    convert(s->name, s->format, s->text, other, &twice);
    must_be_equal(s, other->name, buf_str(&twice.text), buf_str(&once.text));
    if (once.text.full || (once.text.len && (once.text.at[once.text.len - 1] != '\n' ||
                                             memchr(once.text.at, 0, once.text.len))))
        fail_msg("%s as '%s':\n%.*s", s->name, other->name, STR_ARG(buf_str(&once.text)));
    memory_writer_release(&once);
    memory_writer_release(&twice);
}

static void to_every_write_only_format(const struct sample *s)
{
    for (const struct format *const *f = s->battery->table; *f; f++)
        if (!(*f)->next)
            to_write_only(s, *f);
}

static void formats_that_are_only_written_take_all_records(void **state)
{
    for_each_sample(state, to_every_write_only_format);
}

/* Damage. */

static size_t line_start(struct str text, size_t at)
{
    while (at && text.at[at - 1] != '\n')
        at--;
    return at;
}

static size_t count_newlines(struct str text, size_t to)
{
    size_t n = 0;

    for (size_t i = 0; i < to; i++)
        n += text.at[i] == '\n';
    return n;
}

/* The text of the undamaged file before some byte. */
static size_t said_before(const struct sample *s, size_t at)
{
    struct outcome o;
    size_t len;

    read_as(&o, s->format, str_n(s->text.at, at), WHOLE);
    len = o.view.len;
    outcome_release(&o);
    return len;
}

static void must_start(const struct sample *s, const char *when, struct str whole,
                       struct str start)
{
    if (!str_starts(whole, start))
        fail_msg("%s, %s: says what the file does not:\n%.*s", s->name, when, STR_ARG(start));
}

/* Without its first bytes a file may be one of another format. Even then its messages are
 * those that were there, in either direction. */
static void read_as_another(const struct sample *s, const char *when, const struct format *f,
                            struct str text, const struct outcome *good)
{
    unsigned messages = FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED;
    struct buf was, is;
    struct outcome o;

    buf_init(&was, (size_t)1 << 30);
    buf_init(&is, (size_t)1 << 30);
    read_as(&o, f, text, WHOLE);
    record_summary_write(&good->account, messages, &was);
    record_summary_write(&o.account, messages, &is);
    must_start(s, when, buf_str(&was), buf_str(&is));
    outcome_release(&o);
    buf_release(&was);
    buf_release(&is);
}

/* Reads a damaged copy of a sample, at once and in pieces; `good` is the result of the sample
 * itself. False: it is not recognized as its format, and the reason was reported. */
static bool read_damaged(struct outcome *o, const struct sample *s, const char *when,
                         struct str text, const struct outcome *good)
{
    const struct format *f = memory_reader_detect(s->battery->table, text);

    if (f && f != s->format)
        read_as_another(s, when, f, text, good);
    if (f != s->format)
        return false;
    read_as(o, f, text, WHOLE);
    same_in_steps_of(s, when, text, 7, o);
    must_start(s, when, buf_str(&good->view), buf_str(&o->view));
    if (o->pieces.warning_count > good->pieces.warning_count + 1)
        fail_msg("%s, %s: %zu remarks:\n%.*s", s->name, when, o->pieces.warning_count,
                 STR_ARG(buf_str(&o->pieces.warnings)));
    if (o->pieces.failed && o->pieces.error.kind != ERR_INPUT)
        fail_msg("%s, %s: no error of the input: %s", s->name, when, o->pieces.error.msg);
    return true;
}

static bool at_line_end(struct str text, size_t at)
{
    struct str rest = str_skip(text, at);

    return str_trim(str_cut(&rest, '\n')).len == 0;
}

static void cut_everywhere(const struct sample *s)
{
    struct outcome good;
    size_t shorter_length = 0;

    must_read(&good, s->name, s->format, s->text);
    for (size_t cut = 0; cut < s->text.len; cut++) {
        char *copy = memcpy(mem_alloc(cut + 1), s->text.at, cut);
        struct str text = str_n(copy, cut);
        bool whole_lines = !cut || copy[cut - 1] == '\n' || at_line_end(s->text, cut);
        char when[64];
        struct outcome o;

        snprintf(when, sizeof when, "cut to %zu bytes", cut);
        if (read_damaged(&o, s, when, text, &good)) {
            if (!whole_lines && !o.pieces.failed && !o.pieces.warning_count)
                fail_msg("%s, %s: nothing is said of it", s->name, when);
            if (o.view.len < shorter_length && !o.pieces.failed)
                fail_msg("%s, %s: less than of a shorter piece", s->name, when);
            shorter_length = o.view.len;
            outcome_release(&o);
        }
        free(copy);
    }
    outcome_release(&good);
}

static void a_file_cut_at_any_byte_gives_the_records_before_the_cut(void **state)
{
    for_each_sample(state, cut_everywhere);
}

/* The error must name a position: in the line of the damage, and not behind it. */
static void error_is_at(const struct sample *s, const char *when, const struct memory_reader *p,
                        size_t at)
{
    unsigned long long line, byte;
    char *end;

    if (strncmp(p->error.msg, "f:", 2) != 0)
        fail_msg("%s, %s: an error without a place: %s", s->name, when, p->error.msg);
    line = strtoull(p->error.msg + 2, &end, 10);
    byte = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
    if (line != count_newlines(s->text, at) + 1 || byte < 1 ||
        byte > at - line_start(s->text, at) + 1)
        fail_msg("%s, %s: not the place: %s", s->name, when, p->error.msg);
}

/* Whether each byte of a text stands inside a number: a newline there makes two numbers of
 * one, which is damage that cannot be detected. */
static void mark_numbers(struct str text, bool *number)
{
    bool string = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        number[i] = !string && (strchr("+-.eE", c) || (c >= '0' && c <= '9'));
        if (string && c == '\\')
            number[++i] = false;
        else if (c == '"')
            string = !string;
    }
}

/* A sample with one byte too many or another byte in its place. */
struct spoilt {
    const struct sample *sample;
    const struct outcome *good; /* the result of the sample itself */
    char *copy;                 /* with space for one more byte */
    char bad;
    bool insert;
};

/* `before`: the number of records in the lines before that byte. */
static void spoil_byte(const struct spoilt *x, size_t at, size_t before)
{
    const struct sample *s = x->sample;
    size_t len = s->text.len + x->insert;
    struct outcome o;
    char when[64];

    snprintf(when, sizeof when, "%#x %s byte %zu", (unsigned)(unsigned char)x->bad,
             x->insert ? "before" : "for", at);
    memcpy(x->copy, s->text.at, at);
    x->copy[at] = x->bad;
    memcpy(x->copy + at + 1, s->text.at + at + !x->insert, len - at - 1);
    if (read_damaged(&o, s, when, str_n(x->copy, len), x->good)) {
        bool unharmed = str_eq(buf_str(&o.view), buf_str(&x->good->view));

        if (o.view.len < before)
            fail_msg("%s, %s: what stands before it is lost", s->name, when);
        if (o.pieces.failed && x->bad != '\n')
            error_is_at(s, when, &o.pieces, at);
        if (!unharmed && !o.pieces.failed && !o.pieces.warning_count)
            fail_msg("%s, %s: nothing is said of it", s->name, when);
        outcome_release(&o);
    }
}

static void spoil_everywhere(const struct sample *s, char bad)
{
    bool *number = mem_alloc(s->text.len + 1);
    struct outcome good;
    struct spoilt x = { s, &good, mem_alloc(s->text.len + 1), bad, false };
    size_t before = 0;

    mark_numbers(s->text, number);
    must_read(&good, s->name, s->format, s->text);
    for (size_t at = 0; at < s->text.len; at++) {
        if (at && s->text.at[at - 1] == '\n')
            before = said_before(s, at);
        if (s->text.at[at] == bad || (bad == '\n' && number[at]))
            continue;
        x.insert = false;
        spoil_byte(&x, at, before);
        x.insert = true;
        if (bad != '\n') /* which is no damage between two words, only other bytes */
            spoil_byte(&x, at, before);
    }
    outcome_release(&good);
    free(x.copy);
    free(number);
}

static void spoil_with_nul(const struct sample *s)
{
    spoil_everywhere(s, '\0');
}

static void a_nul_byte_at_any_position_adds_no_record(void **state)
{
    for_each_sample(state, spoil_with_nul);
}

static void spoil_with_ff(const struct sample *s)
{
    spoil_everywhere(s, '\xff');
}

static void an_invalid_byte_at_any_position_adds_no_record(void **state)
{
    for_each_sample(state, spoil_with_ff);
}

static void spoil_with_newline(const struct sample *s)
{
    spoil_everywhere(s, '\n');
}

static void a_newline_at_any_position_adds_no_record(void **state)
{
    for_each_sample(state, spoil_with_newline);
}

#ifdef EXTRA_FORMAT
static const struct format *const extra = &EXTRA_FORMAT;
#else
static const struct format *const extra = NULL;
#endif

static void fill_table(struct battery *b)
{
    size_t n = 0;

    while (format_table[n]) {
        BUG_IF(n > FORMATS_MAX - 3);
        b->table[n] = format_table[n];
        n++;
    }
    b->table[n] = extra;
}

int main(int argc, char **argv)
{
    struct battery b = { .count = 0 };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(only_the_format_of_a_sample_recognizes_it, &b),
        cmocka_unit_test_prestate(a_file_gives_the_same_records_with_windows_of_any_size, &b),
        cmocka_unit_test_prestate(records_contain_the_members_of_their_lines, &b),
        cmocka_unit_test_prestate(written_records_are_read_back_unchanged, &b),
        cmocka_unit_test_prestate(a_round_trip_loses_only_declared_features, &b),
        cmocka_unit_test_prestate(formats_that_are_only_written_take_all_records, &b),
        cmocka_unit_test_prestate(a_file_cut_at_any_byte_gives_the_records_before_the_cut, &b),
        cmocka_unit_test_prestate(a_nul_byte_at_any_position_adds_no_record, &b),
        cmocka_unit_test_prestate(an_invalid_byte_at_any_position_adds_no_record, &b),
        cmocka_unit_test_prestate(a_newline_at_any_position_adds_no_record, &b),
    };
    int failed;

    BUG_IF(argc != 2);
    fill_table(&b);
    for (const struct format *const *f = b.table; *f; f++)
        if (extra ? *f == extra : (*f)->next != NULL)
            load_samples(&b, *f, argv[1]);
    qsort(b.samples, b.count, sizeof *b.samples, by_name);
    failed = cmocka_run_group_tests_name("battery", tests, NULL, NULL);
    for (size_t i = 0; i < b.count; i++)
        free((char *)b.samples[i].text.at);
    free(b.samples);
    arena_release(&b.arena);
    return failed;
}
