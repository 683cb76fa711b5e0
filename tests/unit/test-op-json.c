#include "report/op-json.h"

#include "terse.h"
#include "test.h"

/* One line of JSON, for any input. */
static struct json_val scan(struct json *j, const struct buf *line)
{
    struct json_fault fault;

    assert_int_equal(str_find(buf_str(line), '\n'), line->len - 1);
    assert_true(json_scan(j, buf_str(line), &fault));
    return json_root(j);
}

static void unknown_values_are_null(void **state)
{
    struct operation op = { .number = 3,
                            .root = 3,
                            .id = STR("\"a\""),
                            .flags = OP_ORPHAN | OP_HAS_CODE,
                            .code = 0,
                            .first_us = -1,
                            .total_us = 0,
                            .server_us = -1,
                            .wait_us = -1 };
    struct json_val v;
    struct json j;
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    json_init(&j);
    op_json_write_operation(&b, &op, &(struct op_row_detail){ .error = STR("no") });
    v = scan(&j, &b);
    assert_int_equal(json_type(json_get(v, STR("parent"))), JSON_NULL);
    assert_int_equal(json_type(json_get(v, STR("method"))), JSON_NULL);
    assert_int_equal(json_type(json_get(v, STR("start_us"))), JSON_NULL);
    assert_str(json_raw(json_get(v, STR("total_us"))), STR("0"));
    assert_str(json_raw(json_get(v, STR("error_code"))), STR("0"));
    assert_str(json_raw(json_get(v, STR("id"))), STR("\"a\""));
    assert_str(json_raw(json_get(v, STR("flags"))), STR("[\"orphan\"]"));
    assert_int_equal(json_type(json_get(v, STR("arguments_text"))), JSON_NULL);
    assert_str(json_raw(json_get(v, STR("error_text"))), STR("\"no\""));
    assert_int_equal(json_type(json_get(v, STR("exit_code"))), JSON_NULL);
    json_release(&j);
    buf_release(&b);
}

static void a_message_stays_unchanged_on_one_line(void **state)
{
    static const struct operation op = { .number = 1, .response_us = 5 };
    struct operation_message m = { .seq = 4, .role = ROLE_RESPONSE, .dir = TO_CLIENT };
    struct record r = { .kind = RECORD_MESSAGE };
    struct operation_event ev = { &op, &m, &r };
    struct terse_scanned s = { 0 };
    struct json j;
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    json_init(&j);
    r.message.msg = terse_scan(&s, "{\n 'a' : 1.0e+2,\r\n'a':2 }");
    op_json_write_message(&b, &ev, 17, true);
    assert_str(json_raw(json_get(scan(&j, &b), STR("msg"))),
               STR("{  \"a\" : 1.0e+2,  \"a\":2 }"));
    assert_str(json_raw(json_get(json_root(&j), STR("latency_us"))), STR("5"));
    buf_clear(&b);
    op_json_write_message(&b, &ev, 17, false);
    assert_false(json_exists(json_get(scan(&j, &b), STR("msg"))));
    buf_clear(&b);
    r = (struct record){ .kind = RECORD_RAW, .bytes.bytes = STR("no\n\xff") };
    m.seq = 0;
    op_json_write_message(&b, &ev, -1, true);
    assert_true(json_is(json_get(scan(&j, &b), STR("text")), STR("no\n\xef\xbf\xbd")));
    terse_scanned_release(&s);
    json_release(&j);
    buf_release(&b);
}

static void records_have_their_type(void **state)
{
    struct record r = { .kind = RECORD_STDERR, .bytes.bytes = STR("x") };
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    op_json_write_record(&b, &r, 9);
    assert_str(buf_str(&b), STR("{\"v\":2,\"type\":\"stderr\",\"us\":9,\"text\":\"x\"}\n"));
    buf_clear(&b);
    r = (struct record){ .kind = RECORD_HTTP_RESPONSE, .has = HAS_STATUS, .http.status = 401 };
    op_json_write_record(&b, &r, -1);
    assert_str(buf_str(&b), STR("{\"v\":2,\"type\":\"http\",\"us\":null,\"status\":401}\n"));
    buf_clear(&b);
    r = (struct record){ .kind = RECORD_PROC,
                         .proc = { .event = STR("failed"), .why = STR("not there") } };
    op_json_write_record(&b, &r, 9);
    assert_str(buf_str(&b), STR("{\"v\":2,\"type\":\"proc\",\"us\":9,\"event\":\"failed\","
                                "\"exit_code\":null,\"why\":\"not there\"}\n"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_values_are_null),
        cmocka_unit_test(a_message_stays_unchanged_on_one_line),
        cmocka_unit_test(records_have_their_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
