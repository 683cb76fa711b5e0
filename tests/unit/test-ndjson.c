#include "format/ndjson.h"
#include "test.h"

struct findings_log {
    struct notes notes;
    size_t count;
};

static void count_note(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    (void)line, (void)byte, (void)text;
    ((struct findings_log *)self)->count++;
}

/* All values of a text shown in pieces of `step` bytes, one after the other in
 * brackets with their line, then how it ended and with how many remarks. */
static void read_all(struct buf *seen, struct str text, size_t step)
{
    struct findings_log findings_log = { .notes = { count_note } };
    size_t from = 0, shown = 0;
    struct err e = ERR_NONE;
    uint64_t line = 1;
    struct ndjson n;
    enum next_result next;

    ndjson_init(&n);
    do {
        struct window w = { str_skip(str_n(text.at, shown), from), shown == text.len, line, "f",
                            &findings_log.notes };
        struct consumed t = { 0 };

        next = ndjson_next(&n, &w, &t, &e);
        if (next == NEXT_RECORD) {
            buf_printf(seen, "[%llu ", (unsigned long long)line);
            buf_add(seen, json_raw(json_root(&n.json)));
            buf_add_ch(seen, ']');
        }
        from += t.bytes;
        line += t.lines;
        if (next == NEXT_MORE)
            shown += step < text.len - shown ? step : text.len - shown;
    } while (next != NEXT_END && next != NEXT_ERROR);
    buf_printf(seen, " %s %zu", next == NEXT_END ? "end" : e.msg, findings_log.count);
    ndjson_release(&n);
}

static void check(struct str text, struct str want)
{
    for (size_t step = 1; step <= text.len + 1; step++) {
        struct buf seen;

        buf_init(&seen, 1 << 16);
        read_all(&seen, text, step);
        assert_str(buf_str(&seen), want);
        buf_release(&seen);
    }
}

static void values_have_their_line_numbers_with_windows_of_any_size(void **state)
{
    (void)state;
    check(STR("{\"a\":1}\n[2]\r\n\n\n \"x\"\n7"),
          STR("[1 {\"a\":1}][2 [2]][5 \"x\"][6 7] end 0"));
    check(STR(""), STR(" end 0"));
    check(STR("\n \n"), STR(" end 0"));
}

static void a_value_may_span_lines(void **state)
{
    (void)state;
    check(STR("{\n \"a\":\n 1\n}\n{\"b\":2}\n"), STR("[1 {  \"a\":  1 }][5 {\"b\":2}] end 0"));
    check(STR("[\n1\n]"), STR("[1 [ 1 ]] end 0"));
}

static void a_value_of_several_lines_becomes_one_line(void **state)
{
    struct findings_log findings_log = { .notes = { count_note } };
    struct window w = { STR("{\r\n \"a\":\n[ 1,\n2 ]\n}\n"), true, 1, "f",
                        &findings_log.notes };
    struct consumed t = { 0 };
    struct err e = ERR_NONE;
    struct ndjson n;

    (void)state;
    ndjson_init(&n);
    while (ndjson_next(&n, &w, &t, &e) == NEXT_SKIP)
        ;
    assert_int_equal(t.bytes, w.bytes.len);
    assert_int_equal(t.lines, 5);
    assert_str(json_raw(json_root(&n.json)), STR("{   \"a\": [ 1, 2 ] }"));
    assert_str(json_raw(json_item(json_get(json_root(&n.json), STR("a")), 1)), STR("2"));
    ndjson_release(&n);
}

static void two_values_on_one_line_are_an_error(void **state)
{
    (void)state;
    check(STR("[1] [2]\n"), STR(" f:1:5: not valid JSON: expected nothing after the value 0"));
    check(STR("[\n1\n] [2]\n"), STR(" f:3:3: a value must be followed by a new line 0"));
    check(STR("[\n1\n]  \r\n[2]"), STR("[1 [ 1 ]][4 [2]] end 0"));
}

static void a_truncated_end_gives_one_warning(void **state)
{
    (void)state;
    check(STR("1\n{\"a"), STR("[1 1] end 1"));
    check(STR("1\n{\"a\":\n"), STR("[1 1] end 1"));
    check(STR("1\n\0\0\0\0"), STR("[1 1] end 1"));
    check(STR("1\n{\"a\0\0"), STR("[1 1] end 1"));
    check(STR("1\n{\"a\":tru\0"), STR("[1 1] end 1"));
    check(STR("1\n{\"\xE2\x82"), STR("[1 1] end 1"));
}

/* A crash leaves the start of a line, never nonsense: that is damage here, too. */
static void an_invalid_last_line_is_an_error(void **state)
{
    (void)state;
    check(STR("1\noops"), STR("[1 1] f:2:1: not valid JSON: expected a value 0"));
    check(STR("1\n{,"), STR("[1 1] f:2:2: not valid JSON: expected a name in quotes 0"));
    check(STR("1\n{,\0\0"), STR("[1 1] f:2:2: not valid JSON: expected a name in quotes 0"));
    check(STR("1\n2\xff"),
          STR("[1 1] f:2:2: not valid JSON: expected nothing after the value 0"));
    check(STR("1\n{\"a\0b"),
          STR("[1 1] f:2:4: not valid JSON: control character in a string 0"));
}

static void damage_before_the_end_is_an_error_with_its_position(void **state)
{
    (void)state;
    check(STR("1\n{,}\n2\n"), STR("[1 1] f:2:2: not valid JSON: expected a name in quotes 0"));
    check(STR("1\n{\"a\":\n}\n2\n"), STR("[1 1] f:3:1: not valid JSON: expected a value 0"));
    check(STR("1\n\0\0\n2\n"), STR("[1 1] f:2:1: NUL bytes in the middle of the file 0"));
}

/* The line after it is whole: the error is not there. */
static void a_truncated_line_in_the_middle_is_named(void **state)
{
    (void)state;
    check(STR("1\n{\"a\":1,\n{\"b\":2}\n{\"c\":3}\n"),
          STR("[1 1] f:2:8: the line ends inside a JSON value 0"));
    check(STR("1\n{\"a\":\n{\"b\":2}\n{\"c\":3}\n"),
          STR("[1 1] f:2:6: the line ends inside a JSON value 0"));
    check(STR("1\n{\"a\":\"x\n{\"b\":2}\n"),
          STR("[1 1] f:2:8: the line ends inside a JSON value 0"));
}

static void a_truncated_first_line_is_recognized_by_its_start(void **state)
{
    static const struct {
        const char *head, *rest; /* NULL: no */
    } cases[] = {
        { "{\"v\":1,\"x", ",\"x" },
        { " {\n  \"v\" :\t1 , \"x", " , \"x" },
        { "{\"v\":1", "" },
        { "{\"v\":", NULL },
        { "{\"v \":1", NULL },
        { "{\"w\":1", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct str head = str_z(cases[i].head);
        bool starts = ndjson_starts_with(&head, STR("{\"v\":1"));

        assert_int_equal(starts, cases[i].rest != NULL);
        assert_str(head, str_z(starts ? cases[i].rest : cases[i].head));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_line_numbers_with_windows_of_any_size),
        cmocka_unit_test(a_value_may_span_lines),
        cmocka_unit_test(a_value_of_several_lines_becomes_one_line),
        cmocka_unit_test(two_values_on_one_line_are_an_error),
        cmocka_unit_test(a_truncated_end_gives_one_warning),
        cmocka_unit_test(an_invalid_last_line_is_an_error),
        cmocka_unit_test(damage_before_the_end_is_an_error_with_its_position),
        cmocka_unit_test(a_truncated_line_in_the_middle_is_named),
        cmocka_unit_test(a_truncated_first_line_is_recognized_by_its_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
