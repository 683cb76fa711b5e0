#include "index/id-offset.h"

#include "base/buf.h"
#include "test.h"

/* The id of a message, found again by its place; "-": it is not. */
static void check(struct str text, const char *want)
{
    struct json_fault fault;
    struct str id = STR("-");
    struct json j;
    int8_t place;

    json_init(&j);
    assert_true(json_scan(&j, text, &fault));
    place = id_offset_of(json_root(&j), json_get(json_root(&j), STR("id")));
    if (!id_offset_find(text, place, &id))
        id = STR("-");
    assert_str(id, str_z(want));
    json_release(&j);
}

static void an_id_is_found_at_either_end_of_a_message(void **state)
{
    struct buf text;

    (void)state;
    check(STR("{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{}}"), "17");
    check(STR("{\"id\":-1.50e+3}"), "-1.50e+3");
    check(STR("{ \"id\" :\t\"a\\\"\\\\\" , \"result\":1}"), "\"a\\\"\\\\\"");
    check(STR("{\"id\":\"\",\"result\":1}"), "\"\"");
    buf_init(&text, 1 << 16);
    buf_printf(&text, "{\"result\":\"%0300d\",\"jsonrpc\":\"2.0\",\"id\":\"x\"}", 7);
    check(buf_str(&text), "\"x\"");
    buf_clear(&text);
    buf_printf(&text, "{\"result\":\"%0300d\",\"id\":8,\"error\":\"%0300d\"}", 7, 7);
    check(buf_str(&text), "-");
    buf_release(&text);
}

static void an_id_beyond_the_limit_has_no_offset(void **state)
{
    static const struct {
        int before, behind;
        const char *want;
    } rows[] = {
        /* Text around the id: {"a":"","id":1,"b":""} */
        { 127 - 13, 500, "1" },
        { 128 - 13, 500, "-" },
        { 500, 127 - 10, "1" },
        { 500, 128 - 9, "-" },
    };
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_clear(&text);
        buf_printf(&text, "{\"a\":\"%0*d\",\"id\":1,\"b\":\"%0*d\"}", rows[i].before, 7,
                   rows[i].behind, 7);
        check(buf_str(&text), rows[i].want);
    }
    buf_release(&text);
}

static void another_id_at_the_offset_is_detected(void **state)
{
    static const struct str texts[] = {
        STR_INIT("{\"result\":17}"),
        STR_INIT("{\"it\":17}      "),
        STR_INIT("{\"id\"  17}      "),
        STR_INIT("{\"id\":{}}      "),
        STR_INIT("{\"id\":\"\\\""),
        STR_INIT("{\"id\":"),
        STR_INIT("      17"),
        STR_INIT("{"),
        STR_INIT(""),
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct str id;

        assert_false(id_offset_find(texts[i], 6, &id));
        assert_false(id_offset_find(texts[i], 0, &id));
        assert_false(id_offset_find(texts[i], -127, &id));
    }
}

static void a_message_without_id_has_no_offset(void **state)
{
    (void)state;
    check(STR("{\"result\":1}"), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_found_at_either_end_of_a_message),
        cmocka_unit_test(an_id_beyond_the_limit_has_no_offset),
        cmocka_unit_test(another_id_at_the_offset_is_detected),
        cmocka_unit_test(a_message_without_id_has_no_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
