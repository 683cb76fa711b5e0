#include "format/encoder.h"

#include "terse.h"
#include "test.h"

static void every_format_is_found_by_its_name(void **state)
{
    size_t count = 0;

    (void)state;
    for (const struct format *const *f = format_table; *f; f++, count++) {
        assert_ptr_equal(format_by_name(str_z((*f)->name)), *f);
        assert_true((*f)->name[0] && (*f)->about[0] && (*f)->ext[0]);
        assert_true((*f)->next || (*f)->put);
    }
    assert_true(count > 0);
    assert_ptr_equal(format_by_name(STR("recording")), &recording_format);
}

static void an_unknown_name_finds_no_format(void **state)
{
    static const char *const names[] = { "", "record", "recordings", "Recording", ".jsonl" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(format_by_name(str_z(names[i])));
}

/* A small session, as a format writes it. */
static void write_session(const struct format *f, struct buf *to)
{
    struct record head = { .kind = RECORD_HEADER, .has = HAS_WALL };
    struct record request = { .kind = RECORD_MESSAGE, .has = HAS_WALL | HAS_SEQ };
    struct terse_scanned s;
    struct encoder c;

    head.header.version = head.header.upstream = head.header.thoughtjack_version = STR("1.0");
    request.message.msg = terse_scan(&s, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
    encoder_begin(&c, f, NULL);
    encoder_put(&c, to, &head);
    encoder_put(&c, to, &request);
    encoder_end(&c, to);
    terse_scanned_release(&s);
}

static void the_format_that_wrote_a_file_recognizes_it(void **state)
{
    (void)state;
    for (const struct format *const *f = format_table; *f; f++) {
        const struct format *found;
        struct buf text;

        if (!(*f)->put || !(*f)->next)
            continue;
        buf_init(&text, 1 << 20);
        write_session(*f, &text);
        found = format_by_content(buf_str(&text), STR(""));
        if (found != *f)
            fail_msg("a file of format %s is taken for %s", (*f)->name,
                     found ? found->name : "none");
        buf_release(&text);
    }
}

static void a_batch_is_claimed_weakly(void **state)
{
    struct str batch = STR("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");

    (void)state;
    assert_int_equal(jsonrpc_format.probe(batch), PROBE_WEAK);
    assert_int_equal(jsonrpc_format.probe(str_trim(str_n(batch.at + 1, batch.len - 2))),
                     PROBE_SURE);
    assert_null(format_by_content(STR("[1]"), STR("x.jsonrpc")));
}

static void assert_by_path(const char *path, const char *want)
{
    const struct format *f = format_by_path(str_z(path));

    if (strcmp(f ? f->name : "nothing", want) != 0)
        fail_msg("'%s' is %s, not %s", path, f ? f->name : "nothing", want);
}

static void the_longest_extension_selects_the_format(void **state)
{
    (void)state;
    assert_by_path("a.jsonl", "recording");
    assert_by_path("a.trace.jsonl", "trace");
    assert_by_path("a.jsonrpc", "jsonrpc");
    assert_by_path("dir.trace.jsonl/a.jsonl", "recording");
    assert_by_path("a.trace.jsonl.gz", "trace");
    assert_by_path("a.jsonl.zst", "recording");
    assert_by_path("a.jsonl.gz.zst", "nothing");
    assert_by_path("a.jsonl.bz2", "nothing");
    assert_by_path("jsonl", "nothing");
    assert_by_path("", "nothing");
}

static void every_extension_selects_its_format(void **state)
{
    (void)state;
    for (const struct format *const *f = format_table; *f; f++)
        for (const char *const *ext = (*f)->ext; (*f)->put && *ext; ext++)
            assert_ptr_equal(format_by_path(str_z(*ext)), *f);
}

static void check_place(struct str window, size_t at, const char *want)
{
    struct window w = { .bytes = window, .line = 7, .path = "a b" };
    struct err e = ERR_NONE;

    assert_int_equal(format_error(&w, at, &e, "%s %d", "why", 5), NEXT_ERROR);
    assert_string_equal(e.msg, want);
    assert_int_equal(e.kind, ERR_INPUT);
}

static void an_error_has_path_line_and_byte(void **state)
{
    (void)state;
    check_place(STR("abc\ndef\n"), 0, "a b:7:1: why 5");
    check_place(STR("abc\ndef\n"), 2, "a b:7:3: why 5");
    check_place(STR("abc\ndef\n"), 3, "a b:7:4: why 5");
    check_place(STR("abc\ndef\n"), 4, "a b:8:1: why 5");
    check_place(STR("abc\ndef\n"), 7, "a b:8:4: why 5");
    check_place(STR("abc\ndef\n"), 8, "a b:9:1: why 5");
    check_place(STR("abc"), 99, "a b:7:4: why 5");
    check_place(STR(""), 0, "a b:7:1: why 5");
}

static void the_list_has_exactly_the_writable_formats(void **state)
{
    struct str rest;
    struct buf names;
    size_t writable = 0, listed = 0;

    (void)state;
    rest = str_z(format_names_for(&names, FORMAT_CONVERT));
    for (const struct format *const *f = format_table; *f; f++)
        writable += (*f)->put != NULL;
    while (rest.len) {
        const struct format *f = format_by_name(str_trim(str_cut(&rest, ',')));

        assert_true(f && f->put);
        listed++;
    }
    assert_int_equal(listed, writable);
    buf_release(&names);
    assert_null(strstr(format_names_for(&names, FORMAT_RECORD), "csv"));
    assert_true(format_is_for(&csv_format, FORMAT_CONVERT));
    assert_false(format_is_for(&csv_format, FORMAT_RECORD));
    buf_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_has_exactly_the_writable_formats),
        cmocka_unit_test(every_format_is_found_by_its_name),
        cmocka_unit_test(an_unknown_name_finds_no_format),
        cmocka_unit_test(the_format_that_wrote_a_file_recognizes_it),
        cmocka_unit_test(a_batch_is_claimed_weakly),
        cmocka_unit_test(the_longest_extension_selects_the_format),
        cmocka_unit_test(every_extension_selects_its_format),
        cmocka_unit_test(an_error_has_path_line_and_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
