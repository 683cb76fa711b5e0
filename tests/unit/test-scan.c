#include "json/scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

enum { TEXT_MAX = 4 << 20 };

/* A case of the table: the expected result for a text. */
struct seen_row {
    unsigned line;
    enum json_fault_kind kind;
    size_t at; /* of a fault that is not the end */
    struct str text;
};

/* A scan of bytes that stand alone in memory, so that a sanitizer sees the least
 * step beyond them. */
struct outcome {
    bool ok;
    struct json_fault fault;
    size_t used;  /* json_scan_first() */
    size_t nodes; /* how many values and keys */
};

static struct outcome scan(struct str text, bool first)
{
    struct outcome o = { .ok = false };
    char *alone = malloc(text.len ? text.len : 1);
    struct json j;

    if (text.len)
        memcpy(alone, text.at, text.len);
    json_init(&j);
    o.ok = first ? json_scan_first(&j, str_n(alone, text.len), &o.used, &o.fault)
                 : json_scan(&j, str_n(alone, text.len), &o.fault);
    o.nodes = j.count;
    assert_int_equal(o.ok, j.count > 0);
    assert_int_equal(o.ok, json_exists(json_root(&j)));
    json_release(&j);
    free(alone);
    return o;
}

static void expect(const struct seen_row *r, struct str text, enum json_fault_kind kind,
                   size_t at)
{
    struct outcome o = scan(text, false);

    if (o.fault.kind != kind || (!o.ok && o.fault.at != at))
        fail_msg("line %u: '%.*s': got fault %d at %zu (%s), want %d at %zu", r->line,
                 STR_ARG(text), (int)o.fault.kind, o.fault.at, o.ok ? "ok" : o.fault.what,
                 (int)kind, at);
    assert_int_equal(o.ok, kind == JSON_FAULT_NONE);
    assert_true(o.ok || o.fault.what[0]);
}

static void check_verdict(const struct seen_row *r)
{
    expect(r, r->text, r->kind, r->kind == JSON_FAULT_TRUNCATED ? r->text.len : r->at);
}

/* Up to the fault every beginning of a text is whole or wants more, never wrong;
 * from there on the same fault stays. */
static void check_every_cut(const struct seen_row *r)
{
    bool faulty = r->kind != JSON_FAULT_NONE && r->kind != JSON_FAULT_TRUNCATED;

    for (size_t cut = 0; cut < r->text.len; cut++) {
        struct str text = str_n(r->text.at, cut);
        struct outcome o = scan(text, false);
        if (faulty && cut > r->at)
            expect(r, text, r->kind, r->at);
        else if (!o.ok)
            expect(r, text, JSON_FAULT_TRUNCATED, cut);
    }
}

/* The first value alone: the same fault, or the rest of the text decides. */
static void check_first(const struct seen_row *r)
{
    struct outcome all = scan(r->text, false), first = scan(r->text, true);
    struct str rest;

    if (!first.ok) {
        assert_false(all.ok);
        assert_int_equal(first.fault.kind, all.fault.kind);
        assert_int_equal(first.fault.at, all.fault.at);
        return;
    }
    rest = str_skip(r->text, first.used);
    assert_int_equal(all.ok, str_trim(rest).len == 0);
    if (all.ok)
        assert_int_equal(all.nodes, first.nodes);
    else
        assert_ptr_equal(r->text.at + all.fault.at, str_trim(rest).at);
    expect(r, str_n(r->text.at, first.used), JSON_FAULT_NONE, 0);
}

/* Every place a text may have within the blocks the scanner works in. */
static void check_every_place(const struct seen_row *r)
{
    enum { BLANKS = 70 };
    char *text = malloc(r->text.len + 2 * BLANKS);

    memset(text, ' ', BLANKS);
    for (size_t n = 0; n < BLANKS; n++) {
        memcpy(text + n, r->text.at, r->text.len);
        expect(r, str_n(text, n + r->text.len), r->kind,
               n + (r->kind == JSON_FAULT_TRUNCATED ? r->text.len : r->at));
        memset(text + n + r->text.len, ' ', BLANKS);
        if (r->kind != JSON_FAULT_TRUNCATED)
            expect(r, str_n(text, n + r->text.len + BLANKS), r->kind, n + r->at);
        text[n] = ' ';
    }
    free(text);
}

static void check_inside(const struct seen_row *r, struct str before, struct str after)
{
    struct buf b;
    size_t at;

    buf_init(&b, TEXT_MAX);
    buf_add(&b, before);
    buf_add(&b, r->text);
    at = b.len;
    if (r->kind == JSON_FAULT_NONE) {
        expect(r, buf_str(&b), JSON_FAULT_TRUNCATED, at);
        buf_add(&b, after);
        expect(r, buf_str(&b), JSON_FAULT_NONE, 0);
    } else {
        expect(r, buf_str(&b), r->kind,
               r->kind == JSON_FAULT_TRUNCATED ? at : before.len + r->at);
    }
    buf_release(&b);
}

/* A text that is wrong only because of what stands around it may be right inside
 * another: a second value, a bracket or comma alone. Those stay outside. */
static void check_inside_others(const struct seen_row *r)
{
    static const struct str deep = STR("[[[[[[[[[[[[[[[[");
    struct outcome first = scan(r->text, true);

    if (first.ok != (r->kind == JSON_FAULT_NONE) || r->text.len > 1000 ||
        str_eq(r->text, STR("]")) || str_eq(r->text, STR("}")))
        return;
    check_inside(r, STR("["), STR("]"));
    check_inside(r, STR("{\"a\":"), STR("}"));
    check_inside(r, STR("[1,\"two\","), STR(",3]"));
    check_inside(r, STR("{\"a\":1,\"b\": "), STR(" ,\"c\":null}"));
    check_inside(r, deep, STR("]]]]]]]]]]]]]]]]"));
}

static unsigned hex(const char *p)
{
    return (unsigned)strtoul((const char[]){ p[0], p[1], 0 }, NULL, 16);
}

/* %XX and %{N:...}, see the table. */
static void decode(struct str s, struct buf *to)
{
    while (s.len) {
        if (s.at[0] != '%') {
            buf_add_ch(to, s.at[0]);
            s = str_skip(s, 1);
        } else if (s.at[1] != '{') {
            buf_add_ch(to, (char)hex(s.at + 1));
            s = str_skip(s, 3);
        } else {
            char *colon;
            unsigned long n = strtoul(s.at + 2, &colon, 10);
            struct str body = str_skip(s, (size_t)(colon + 1 - s.at));
            /* The body may be a brace itself. */
            size_t len = 1 + str_find(str_skip(body, 1), '}');
            while (n--)
                decode(str_n(body.at, len), to);
            s = str_skip(body, len + 1);
        }
    }
}

static enum json_fault_kind kind_of(struct str verdict, unsigned line)
{
    static const struct {
        struct str name;
        enum json_fault_kind kind;
    } kinds[] = {
        { STR("ok"), JSON_FAULT_NONE },
        { STR("end"), JSON_FAULT_TRUNCATED },
        { STR("syntax"), JSON_FAULT_SYNTAX },
        { STR("utf8"), JSON_FAULT_UTF8 },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(verdict, kinds[i].name))
            return kinds[i].kind;
    fail_msg("line %u: no verdict '%.*s'", line, STR_ARG(verdict));
    return JSON_FAULT_NONE;
}

/* Calls `check` for each row of the table; returns how many there are. */
static unsigned for_each_row(void (*check)(const struct seen_row *))
{
    FILE *f = fopen("tests/json/cases.txt", "r");
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    unsigned n = 0;
    struct seen_row r = { .line = 0 };
    struct buf text;

    assert_non_null(f);
    buf_init(&text, TEXT_MAX);
    while ((len = getline(&line, &cap, f)) >= 0) {
        struct str rest = str_n(line, (size_t)len - 1), verdict;
        r.line++;
        if (!rest.len || rest.at[0] == '#')
            continue;
        verdict = str_trim(str_cut(&rest, '|'));
        r.kind = kind_of(str_cut(&verdict, '@'), r.line);
        r.at = verdict.len ? strtoul(verdict.at, NULL, 10) : 0;
        buf_clear(&text);
        decode(str_skip(rest, 1), &text);
        r.text = buf_str(&text);
        check(&r);
        n++;
    }
    free(line);
    fclose(f);
    buf_release(&text);
    return n;
}

static void the_character_table_is_correct(void **state)
{
    (void)state;
    assert_true(for_each_row(check_verdict) >= 300);
}

static void every_truncation_is_incomplete_or_the_same_error(void **state)
{
    (void)state;
    for_each_row(check_every_cut);
}

static void the_first_value_agrees_with_the_whole_text(void **state)
{
    (void)state;
    for_each_row(check_first);
}

static void the_alignment_in_memory_does_not_matter(void **state)
{
    (void)state;
    for_each_row(check_every_place);
}

static void validity_does_not_depend_on_nesting(void **state)
{
    (void)state;
    for_each_row(check_inside_others);
}

static struct str times(struct buf *b, size_t n, const char *before, const char *unit,
                        const char *after)
{
    buf_clear(b);
    buf_add(b, str_z(before));
    while (n--)
        buf_add(b, str_z(unit));
    buf_add(b, str_z(after));
    return buf_str(b);
}

static void hostile_texts_end_quickly_with_the_right_result(void **state)
{
    enum { MANY = 1000000 };
    struct buf b;
    struct outcome o;

    (void)state;
    buf_init(&b, 64 << 20);
    o = scan(times(&b, MANY, "", "[", ""), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_DEPTH);
    assert_int_equal(o.fault.at, JSON_MAX_DEPTH);
    o = scan(times(&b, MANY, "", "{\"a\":", ""), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_DEPTH);
    assert_int_equal(o.fault.at, 5 * JSON_MAX_DEPTH);
    o = scan(times(&b, MANY, "[", "[],", "[]]"), false);
    assert_true(o.ok);
    assert_int_equal(o.nodes, MANY + 2);
    o = scan(times(&b, MANY, "-", "7", ""), false);
    assert_true(o.ok);
    o = scan(times(&b, MANY, "0.", "0", "e"), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_TRUNCATED);
    o = scan(times(&b, MANY, "1e", "9", "x"), false);
    assert_int_equal(o.fault.at, MANY + 2);
    o = scan(times(&b, MANY, "{", "\"key\":1,", "\"key\":1}"), false);
    assert_true(o.ok);
    assert_int_equal(o.nodes, 2 * MANY + 3);
    o = scan(times(&b, MANY, "\"", "\\\\", "\""), false);
    assert_true(o.ok);
    o = scan(times(&b, MANY, "\"", "\\ud800", ""), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_TRUNCATED);
    o = scan(times(&b, MANY, "", " \n", ""), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_TRUNCATED);
    buf_release(&b);
}

static void a_second_value_is_an_error(void **state)
{
    struct buf b;
    struct outcome o;

    (void)state;
    buf_init(&b, 64 << 20);
    o = scan(times(&b, JSON_MAX_VALUES - 2, "[", "1,", "1]"), false);
    assert_true(o.ok);
    assert_int_equal(o.nodes, JSON_MAX_VALUES);
    o = scan(times(&b, JSON_MAX_VALUES - 1, "[", "1,", "1]"), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_SIZE);
    assert_int_equal(o.fault.at, 1 + 2 * (JSON_MAX_VALUES - 1));
    /* Nor can more bytes mend it. */
    o = scan(str_n(b.at, b.len - 1), false);
    assert_int_equal(o.fault.kind, JSON_FAULT_SIZE);
    buf_release(&b);
}

static void a_too_long_text_is_not_scanned(void **state)
{
    struct json_fault fault;
    struct json j;

    (void)state;
    json_init(&j);
    assert_false(json_scan(&j, str_n("1", JSON_MAX_TEXT + 1), &fault));
    assert_int_equal(fault.kind, JSON_FAULT_SIZE);
    assert_int_equal(fault.at, JSON_MAX_TEXT);
    json_release(&j);
}

static void a_null_text_is_an_empty_text(void **state)
{
    struct json_fault fault;
    struct json j;
    size_t used;

    (void)state;
    json_init(&j);
    assert_false(json_scan(&j, STR_NONE, &fault));
    assert_int_equal(fault.kind, JSON_FAULT_TRUNCATED);
    assert_false(json_scan_first(&j, STR_NONE, &used, &fault));
    assert_int_equal(fault.kind, JSON_FAULT_TRUNCATED);
    json_release(&j);
}

static void a_scan_does_not_depend_on_the_previous_one(void **state)
{
    struct json_fault fault = { .kind = JSON_FAULT_NONE };
    struct json j;

    (void)state;
    json_init(&j);
    assert_true(json_scan(&j, STR("[1,2,{\"a\":[]}]"), &fault));
    assert_int_equal(fault.kind, JSON_FAULT_NONE);
    assert_false(json_scan(&j, STR("[1,2,{\"a\":[]}"), &fault));
    assert_false(json_exists(json_root(&j)));
    assert_true(json_scan(&j, STR("{}"), &fault));
    assert_int_equal(j.count, 1);
    assert_int_equal(json_count(json_root(&j)), 0);
    json_release(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_character_table_is_correct),
        cmocka_unit_test(every_truncation_is_incomplete_or_the_same_error),
        cmocka_unit_test(the_first_value_agrees_with_the_whole_text),
        cmocka_unit_test(the_alignment_in_memory_does_not_matter),
        cmocka_unit_test(validity_does_not_depend_on_nesting),
        cmocka_unit_test(hostile_texts_end_quickly_with_the_right_result),
        cmocka_unit_test(a_second_value_is_an_error),
        cmocka_unit_test(a_too_long_text_is_not_scanned),
        cmocka_unit_test(a_null_text_is_an_empty_text),
        cmocka_unit_test(a_scan_does_not_depend_on_the_previous_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
