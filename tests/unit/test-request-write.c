#include "wire/request-write.h"

#include "assert-aborts.h"
#include "test.h"

static void check(const struct outgoing_request *a, const struct request_write_config *m,
                  struct str want)
{
    struct buf seen;

    buf_init(&seen, 4096);
    request_write(&seen, a, m);
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
}

static void headers_are_written_in_order_with_their_spelling(void **state)
{
    struct outgoing_request a = { .method = STR("POST"),
                                  .target = STR("/m?q"),
                                  .body = { BODY_LENGTH, 7 } };
    struct request_write_config m = { .host = STR("server") };

    (void)state;
    headers_add(&a.headers, STR("aCCept"), STR("a, b"));
    headers_add(&a.headers, STR("HOST"), STR("mine"));
    headers_add(&a.headers, STR("X"), STR(""));
    headers_add(&a.headers, STR("Mcp-Param-A"), STR("1"));
    headers_add(&a.headers, STR("x"), STR("2\t\xff"));
    check(&a, &m,
          STR("POST /m?q HTTP/1.1\r\naCCept: a, b\r\nHOST: mine\r\nX: \r\nMcp-Param-A: 1\r\n"
              "x: 2\t\xff\r\nContent-Length: 7\r\n\r\n"));
    headers_release(&a.headers);
}

static void hop_by_hop_headers_are_left_out(void **state)
{
    static const char *const names[] = {
        "Connection", "Keep-Alive",     "TE",     "Trailer", "Transfer-Encoding",
        "Upgrade",    "Content-Length", "Expect", "X-Named"
    };
    struct outgoing_request a = { .method = STR("GET"), .target = STR("/") };
    struct request_write_config m = { .host = STR("h:1") };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        headers_add(&a.headers, str_z(names[i]), STR("x-named"));
    headers_add(&a.headers, STR("Kept"), STR("1"));
    check(&a, &m, STR("GET / HTTP/1.1\r\nHost: h:1\r\nKept: 1\r\n\r\n"));
    a.body.kind = BODY_CHUNKED;
    check(&a, &m,
          STR("GET / HTTP/1.1\r\nHost: h:1\r\nKept: 1\r\nTransfer-Encoding: chunked\r\n\r\n"));
    a.body = (struct body_framing){ BODY_LENGTH, 0 };
    check(&a, &m, STR("GET / HTTP/1.1\r\nHost: h:1\r\nKept: 1\r\nContent-Length: 0\r\n\r\n"));
    headers_release(&a.headers);
}

static void a_host_that_connection_names_is_replaced(void **state)
{
    struct outgoing_request a = { .method = STR("GET"), .target = STR("/") };
    struct request_write_config m = { .host = STR("server") };

    (void)state;
    headers_add(&a.headers, STR("Host"), STR("mine"));
    headers_add(&a.headers, STR("Connection"), STR("host"));
    check(&a, &m, STR("GET / HTTP/1.1\r\nHost: server\r\n\r\n"));
    headers_release(&a.headers);
}

static void extra_headers_replace_those_of_the_request(void **state)
{
    struct outgoing_request a = { .method = STR("GET"), .target = STR("/") };
    struct request_write_config m = { .host = STR("server") };

    (void)state;
    headers_add(&a.headers, STR("Host"), STR("mine"));
    headers_add(&a.headers, STR("key"), STR("theirs"));
    headers_add(&a.headers, STR("KEY"), STR("theirs"));
    headers_add(&m.extra_headers, STR("Key"), STR("a"));
    headers_add(&m.extra_headers, STR("Host"), STR("set"));
    headers_add(&m.extra_headers, STR("Key"), STR("b"));
    check(&a, &m, STR("GET / HTTP/1.1\r\nKey: a\r\nHost: set\r\nKey: b\r\n\r\n"));
    headers_release(&a.headers);
    headers_release(&m.extra_headers);
}

static void compose(struct str method, struct str target, struct str name, struct str value)
{
    struct outgoing_request a = { .method = method, .target = target };
    struct buf seen;

    headers_add(&a.headers, name, value);
    buf_init(&seen, 4096);
    request_write(&seen, &a, &(struct request_write_config){ .host = STR("h") });
    buf_release(&seen);
    headers_release(&a.headers);
}

static void with_a_method_of_two_words(void)
{
    compose(STR("GET x"), STR("/"), STR("A"), STR("b"));
}

static void with_a_line_in_the_target(void)
{
    compose(STR("GET"), STR("/\r\nA:b"), STR("A"), STR("b"));
}

static void with_a_blank_in_the_target(void)
{
    compose(STR("GET"), STR("/a b"), STR("A"), STR("b"));
}

static void with_a_line_in_a_name(void)
{
    compose(STR("GET"), STR("/"), STR("A\r\nB"), STR("c"));
}

static void with_a_line_in_a_value(void)
{
    compose(STR("GET"), STR("/"), STR("A"), STR("b\r\nC: d"));
}

static void control_characters_are_bugs(void **state)
{
    (void)state;
    assert_aborts(with_a_method_of_two_words, "headers_is_token(a->method)");
    assert_aborts(with_a_line_in_the_target, "headers_is_value(a->target)");
    assert_aborts(with_a_blank_in_the_target, "str_find(a->target, ' ')");
    assert_aborts(with_a_line_in_a_name, "headers_is_token(name)");
    assert_aborts(with_a_line_in_a_value, "headers_is_value(value)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_written_in_order_with_their_spelling),
        cmocka_unit_test(hop_by_hop_headers_are_left_out),
        cmocka_unit_test(a_host_that_connection_names_is_replaced),
        cmocka_unit_test(extra_headers_replace_those_of_the_request),
        cmocka_unit_test(control_characters_are_bugs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
