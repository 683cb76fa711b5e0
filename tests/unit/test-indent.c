#include "json/indent.h"

#include "terse.h"
#include "test.h"

static void check(const char *json, bool color, const char *want)
{
    struct terse_scanned s = { 0 };
    struct err e = ERR_NONE;
    struct buf b;
    struct json_indent how = { .to = &b, .color = color };

    buf_init(&b, 1 << 20);
    assert_true(json_indent_add(&how, terse_scan(&s, json), &e));
    assert_str(buf_str(&b), str_z(want));
    buf_release(&b);
    terse_scanned_release(&s);
}

static void values_are_indented_with_their_spelling(void **state)
{
    (void)state;
    check("5", false, "5");
    check(" [ ] ", false, "[]");
    check("{}", false, "{}");
    check("[{},[],'']", false, "[\n  {},\n  [],\n  \"\"\n]");
    check("{'b':1.50e+2,'a':-0,'b':12345678901234567890}", false,
          "{\n  \"b\": 1.50e+2,\n  \"a\": -0,\n  \"b\": 12345678901234567890\n}");
    check("{'`u0061':'`/`u00e9`ud83d'}", false, "{\n  \"\\u0061\": \"\\/\\u00e9\\ud83d\"\n}");
    check("{'a':{'b':[1,{'c':null}]}}", false,
          "{\n  \"a\": {\n    \"b\": [\n      1,\n      {\n        \"c\": null\n      }\n    ]"
          "\n  }\n}");
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    check("['\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xf3\xa0\x80\x81 ok']", false,
          "[\n  \"\\x7f<U+009B><U+202E><U+2028><U+E0001> ok\"\n]");
    check("{'\xe2\x80\xae':1}", false, "{\n  \"<U+202E>\": 1\n}");
}

static void colours_mark_keys_strings_numbers_and_errors(void **state)
{
    (void)state;
    check("{'a':'x','n':1,'t':true}", true,
          "{\n  \x1b[36m\"a\"\x1b[0m: \x1b[32m\"x\"\x1b[0m,\n  \x1b[36m\"n\"\x1b[0m: "
          "\x1b[33m1\x1b[0m,\n  \x1b[36m\"t\"\x1b[0m: \x1b[1mtrue\x1b[0m\n}");
    check("{'error':{'error':1}}", true,
          "{\n  \x1b[31m\"error\"\x1b[0m: {\n    \x1b[36m\"error\"\x1b[0m: "
          "\x1b[33m1\x1b[0m\n  }\n}");
    check("{'isError':true}", true, "{\n  \x1b[31m\"isError\"\x1b[0m: \x1b[1mtrue\x1b[0m\n}");
    check("{'isError':false}", true, "{\n  \x1b[36m\"isError\"\x1b[0m: \x1b[1mfalse\x1b[0m\n}");
}

struct drain {
    struct buf *from;
    size_t total, most, calls;
    bool refuses;
};

static bool count(void *arg, struct err *e)
{
    struct drain *d = arg;

    d->calls++;
    d->total += d->from->len;
    if (d->from->len > d->most)
        d->most = d->from->len;
    buf_clear(d->from);
    return !d->refuses || err_set(e, ERR_IO, "no");
}

/* A value far deeper than it is long, and one long string without a place to break. */
static void buffered_output_stays_small(void **state)
{
    struct json_fault fault;
    struct err e = ERR_NONE;
    struct buf text, b;
    struct drain d = { .from = &b };
    struct json_indent how = { .to = &b, .drain = count, .arg = &d };
    struct json j;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&b, 16 * JSON_INDENT_CHUNK);
    json_init(&j);
    for (int i = 0; i < 500; i++)
        buf_add_ch(&text, '[');
    for (int i = 0; i < 5000; i++)
        buf_add(&text, STR("1,"));
    buf_add_ch(&text, '"');
    for (int i = 0; i < 100000; i++)
        buf_add(&text, STR("\xe2\x80\xae"));
    buf_add_ch(&text, '"');
    for (int i = 0; i < 500; i++)
        buf_add_ch(&text, ']');
    assert_true(json_scan(&j, buf_str(&text), &fault));
    assert_true(json_indent_add(&how, json_root(&j), &e));
    assert_false(b.full);
    d.total += b.len;
    assert_true(d.calls > 20);
    assert_true(d.most < 8 * JSON_INDENT_CHUNK);
    /* Lines of depth 500, what stands on them (a hidden character takes eight bytes), the
     * brackets, and the lines on the way down and up. */
    assert_int_equal(d.total, 5001 * 1001 + 5000 * 2 + 2 + 100000 * 8 + 2 * 500 +
                                  (500 * 500 - 1) + 500 * 500);
    d.refuses = true;
    assert_false(json_indent_add(&how, json_root(&j), &e));
    assert_string_equal(e.msg, "no");
    json_release(&j);
    buf_release(&text);
    buf_release(&b);
}

static void long_base64_is_shortened_if_a_hint_is_given(void **state)
{
    char text[400], *at = text;
    struct json_indent how = { .base64_hint = "see there" };
    struct json_fault fault;
    struct err e = ERR_NONE;
    struct json j;
    struct buf b;

    (void)state;
    *at++ = '"';
    for (int i = 0; i < 268; i++)
        *at++ = "AZaz09+/-_"[i % 10];
    memcpy(at, "=\"", 3);
    buf_init(&b, 1 << 16);
    json_init(&j);
    how.to = &b;
    assert_true(json_scan(&j, str_z(text), &fault));
    assert_true(json_indent_add(&how, json_root(&j), &e));
    assert_str(buf_str(&b),
               STR("\"AZaz09+/-_AZaz09+/-_AZaz09+/-_AZ…\" (base64 of 201 bytes; see there)"));
    buf_clear(&b);
    how.base64_hint = NULL;
    assert_true(json_indent_add(&how, json_root(&j), &e));
    assert_str(buf_str(&b), str_z(text));
    buf_clear(&b);
    text[100] = ' ';
    how.base64_hint = "see there";
    assert_true(json_scan(&j, str_z(text), &fault));
    assert_true(json_indent_add(&how, json_root(&j), &e));
    assert_str(buf_str(&b), str_z(text));
    json_release(&j);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_indented_with_their_spelling),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(colours_mark_keys_strings_numbers_and_errors),
        cmocka_unit_test(buffered_output_stays_small),
        cmocka_unit_test(long_base64_is_shortened_if_a_hint_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
