#include "format/json-document.h"

#include <stdio.h>

#include "test.h"

static void a_value_has_no_line_break_and_its_offset_in_the_file(void **state)
{
    static const char text[] = "{\"a\":\n[1,\r\n2]}\n";
    struct window w = { .bytes = STR(text), .last = true, .line = 1, .path = "f" };
    struct json_document d;
    struct consumed t = { 0 };
    struct err e = ERR_NONE;
    struct json_val v;

    (void)state;
    json_document_init(&d);
    assert_int_equal(json_document_scan(&d, &w, &t, &e), NEXT_RECORD);
    v = json_get(json_root(&d.json), STR("a"));
    assert_str(json_raw(v), STR("[1,  2]"));
    assert_str(json_document_source(&w, v), STR("[1,\r\n2]"));
    assert_int_equal(json_document_scan(&d, &w, &t, &e), NEXT_RECORD);
    json_document_release(&d);
}

static void a_document_is_read_as_a_whole(void **state)
{
    struct window w = { .bytes = STR("[1]"), .line = 1, .path = "f" };
    struct json_document d;
    struct consumed t = { 0 };
    struct err e = ERR_NONE;

    (void)state;
    json_document_init(&d);
    assert_int_equal(json_document_scan(&d, &w, &t, &e), NEXT_MORE);
    assert_true(t.want == SIZE_MAX);
    w.bytes = STR("[1,\n{\"a\":");
    w.last = true;
    assert_int_equal(json_document_scan(&d, &w, &t, &e), NEXT_ERROR);
    assert_string_equal(e.msg, "f:2:6: the document is cut off");
    w.bytes = STR("[1] 2");
    assert_int_equal(json_document_scan(&d, &w, &t, &e), NEXT_ERROR);
    assert_memory_equal(e.msg, "f:1:5: not valid JSON", 21);
    json_document_release(&d);
}

/* The names of a head, each with the first byte of its value. */
static void check_names(const char *head, const char *want)
{
    struct json_document_head h;
    char got[64] = "";
    size_t len = 0;

    json_document_head_init(&h, str_z(head));
    while (json_document_head_next(&h)) {
        struct str name = json_unquoted(h.name);

        len += (size_t)snprintf(got + len, sizeof got - len, "%.*s%c ", STR_ARG(name),
                                h.value.len ? h.value.at[0] : '-');
    }
    json_document_head_release(&h);
    assert_string_equal(got, want);
}

static void the_names_of_a_head_are_found(void **state)
{
    (void)state;
    check_names(" {\"a\" : 1 , \"b\":[{\"c\":2}],\"d\":{\"e\":", "a1 b[ d{ ");
    check_names("{\"a\":1,\"b\":", "a1 b- ");
    check_names("{\"a\":1,\"b\"", "a1 b- ");
    check_names("{\"a\":1,\"b", "a1 ");
    check_names("{\"a\":1}", "a1 ");
    check_names("[\"a\"]", "");
    check_names("{}", "");
    check_names("", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_no_line_break_and_its_offset_in_the_file),
        cmocka_unit_test(a_document_is_read_as_a_whole),
        cmocka_unit_test(the_names_of_a_head_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
