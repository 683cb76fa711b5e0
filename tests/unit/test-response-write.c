#include "assert-aborts.h"
#include "test.h"
#include "wire/response-write.h"

static void check(struct outgoing_response *r, struct str want)
{
    struct err e = ERR_NONE;
    struct buf seen;

    buf_init(&seen, 4096);
    if (!response_write(&seen, r, &e)) {
        assert_int_equal(e.kind, ERR_INPUT);
        assert_int_equal(seen.len, 0);
        buf_printf(&seen, "%s", e.msg);
    }
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
    headers_release(&r->headers);
}

static void a_head_has_its_headers_in_order(void **state)
{
    struct outgoing_response r = { .status = 200, .body = { BODY_LENGTH, 12 } };

    (void)state;
    headers_add(&r.headers, STR("Content-Type"), STR("application/json"));
    headers_add(&r.headers, STR("x-Two"), STR(""));
    headers_add(&r.headers, STR("x-Two"), STR("b\tc \xff"));
    check(&r, STR("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-Two: \r\n"
                  "x-Two: b\tc \xff\r\nContent-Length: 12\r\n\r\n"));
}

static void the_framing_selects_its_header(void **state)
{
    struct outgoing_response r = { .status = 200, .body = { .kind = BODY_CHUNKED } };

    (void)state;
    check(&r, STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
    r = (struct outgoing_response){ .status = 202, .body = { BODY_LENGTH, 0 }, .close = true };
    check(&r, STR("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    r = (struct outgoing_response){ .status = 200, .body = { BODY_LENGTH, INT64_MAX } };
    check(&r, STR("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"));
    r = (struct outgoing_response){ .status = 204 };
    check(&r, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    r = (struct outgoing_response){ .status = 100 };
    check(&r, STR("HTTP/1.1 100 Continue\r\n\r\n"));
}

static void a_given_phrase_is_used(void **state)
{
    struct outgoing_response r = { .status = 404, .phrase = STR("Gone Fishing") };

    (void)state;
    check(&r, STR("HTTP/1.1 404 Gone Fishing\r\n\r\n"));
    r = (struct outgoing_response){ .status = 299 };
    check(&r, STR("HTTP/1.1 299 \r\n\r\n"));
}

static void a_head_without_room_is_not_begun(void **state)
{
    struct outgoing_response r = { .status = 200, .close = true, .body = { BODY_LENGTH, 1 } };
    struct err e = ERR_NONE;
    struct buf seen;

    (void)state;
    headers_add(&r.headers, STR("A"), STR("b"));
    buf_init(&seen, 256 + 6);
    assert_true(response_write(&seen, &r, &e));
    assert_true(buf_ok(&seen, &e));
    assert_true(response_write(&seen, &r, &e));
    assert_false(buf_ok(&seen, &e));
    assert_str(buf_str(&seen), STR("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 1\r\n"
                                   "Connection: close\r\n\r\n"));
    buf_release(&seen);
    headers_release(&r.headers);
}

static void line_breaks_in_headers_are_rejected(void **state)
{
    static const struct {
        struct str name, value;
        const char *says;
    } rows[] = {
        { STR_INIT("X"), STR_INIT("a\r\nSet-Cookie: b"),
          "header 'X' holds a control character" },
        { STR_INIT("X"), STR_INIT("a\nb"), "header 'X' holds a control character" },
        { STR_INIT("X"), STR_INIT("a\rb"), "header 'X' holds a control character" },
        { STR_INIT("X"), STR_INIT("a\0b"), "header 'X' holds a control character" },
        { STR_INIT("X"), STR_INIT("a\x7f"), "header 'X' holds a control character" },
        { STR_INIT("X\r\nY"), STR_INIT("a"), "a header name is not a token" },
        { STR_INIT("X: b\r\nY"), STR_INIT("a"), "a header name is not a token" },
        { STR_INIT(""), STR_INIT("a"), "a header name is not a token" },
        { STR_INIT("X "), STR_INIT("a"), "a header name is not a token" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outgoing_response r = { .status = 200 };

        headers_add(&r.headers, STR("A"), STR("b"));
        headers_add(&r.headers, rows[i].name, rows[i].value);
        check(&r, str_z(rows[i].says));
    }
    for (size_t i = 0; i < 3; i++) {
        struct outgoing_response r = { .status = 200, .phrase = str_n(&"\r\n\0"[i], 1) };

        check(&r, STR("the reason phrase contains a control character"));
    }
}

static void framing_headers_of_callers_are_rejected(void **state)
{
    static const char *const names[] = { "content-length", "Transfer-Encoding", "Connection",
                                         "keep-alive" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct outgoing_response r = { .status = 200 };
        struct buf want;

        buf_init(&want, 256);
        buf_printf(&want, "header '%s' is reserved", names[i]);
        headers_add(&r.headers, str_z(names[i]), STR("1"));
        assert_true(response_is_reserved_header(str_z(names[i])));
        check(&r, buf_str(&want));
        buf_release(&want);
    }
    assert_false(response_is_reserved_header(STR("content-type")));
}

static void compose_204_with_a_body(void)
{
    struct outgoing_response r = { .status = 204, .body = { BODY_LENGTH, 0 } };

    check(&r, STR(""));
}

static void compose_no_status(void)
{
    struct outgoing_response r = { .status = 99 };

    check(&r, STR(""));
}

static void invalid_calls_are_bugs(void **state)
{
    (void)state;
    assert_aborts(compose_204_with_a_body, "bodiless");
    assert_aborts(compose_no_status, "r->status < 100");
}

static void every_used_status_has_a_phrase(void **state)
{
    (void)state;
    for (enum reject_reason why = REJECT_NONE + 1; why < REJECT_COUNT; why++)
        assert_true(response_reason_phrase(reject_reason_status(why)).len > 0);
    assert_str(response_reason_phrase(405), STR("Method Not Allowed"));
    assert_str(response_reason_phrase(406), STR("Not Acceptable"));
    assert_str(response_reason_phrase(415), STR("Unsupported Media Type"));
    assert_int_equal(response_reason_phrase(299).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_has_its_headers_in_order),
        cmocka_unit_test(the_framing_selects_its_header),
        cmocka_unit_test(a_given_phrase_is_used),
        cmocka_unit_test(a_head_without_room_is_not_begun),
        cmocka_unit_test(line_breaks_in_headers_are_rejected),
        cmocka_unit_test(framing_headers_of_callers_are_rejected),
        cmocka_unit_test(invalid_calls_are_bugs),
        cmocka_unit_test(every_used_status_has_a_phrase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
