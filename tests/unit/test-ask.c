#include "wire/ask.h"

#include "dies.h"
#include "test.h"

static void check(const struct ask *a, const struct ask_manner *m, struct str want)
{
    struct buf seen;

    buf_init(&seen, 4096);
    ask_compose(&seen, a, m);
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
}

static void lines_go_out_in_order_and_as_they_are_spelled(void **state)
{
    struct ask a = { .method = STR("POST"), .target = STR("/m?q"), .body = { BODY_LENGTH, 7 } };
    struct ask_manner m = { .host = STR("server") };

    (void)state;
    fields_add(&a.fields, STR("aCCept"), STR("a, b"));
    fields_add(&a.fields, STR("HOST"), STR("mine"));
    fields_add(&a.fields, STR("X"), STR(""));
    fields_add(&a.fields, STR("Mcp-Param-A"), STR("1"));
    fields_add(&a.fields, STR("x"), STR("2\t\xff"));
    check(&a, &m,
          STR("POST /m?q HTTP/1.1\r\naCCept: a, b\r\nHOST: mine\r\nX: \r\nMcp-Param-A: 1\r\n"
              "x: 2\t\xff\r\nContent-Length: 7\r\n\r\n"));
    fields_release(&a.fields);
}

static void what_is_between_neighbours_stays_there(void **state)
{
    static const char *const names[] = {
        "Connection", "Keep-Alive",     "TE",     "Trailer", "Transfer-Encoding",
        "Upgrade",    "Content-Length", "Expect", "X-Named"
    };
    struct ask a = { .method = STR("GET"), .target = STR("/") };
    struct ask_manner m = { .host = STR("h:1") };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fields_add(&a.fields, str_z(names[i]), STR("x-named"));
    fields_add(&a.fields, STR("Kept"), STR("1"));
    check(&a, &m, STR("GET / HTTP/1.1\r\nHost: h:1\r\nKept: 1\r\n\r\n"));
    a.body.kind = BODY_CHUNKED;
    check(&a, &m,
          STR("GET / HTTP/1.1\r\nHost: h:1\r\nKept: 1\r\nTransfer-Encoding: chunked\r\n\r\n"));
    a.body = (struct body_plan){ BODY_LENGTH, 0 };
    check(&a, &m, STR("GET / HTTP/1.1\r\nHost: h:1\r\nKept: 1\r\nContent-Length: 0\r\n\r\n"));
    fields_release(&a.fields);
}

static void a_host_that_connection_names_is_replaced(void **state)
{
    struct ask a = { .method = STR("GET"), .target = STR("/") };
    struct ask_manner m = { .host = STR("server") };

    (void)state;
    fields_add(&a.fields, STR("Host"), STR("mine"));
    fields_add(&a.fields, STR("Connection"), STR("host"));
    check(&a, &m, STR("GET / HTTP/1.1\r\nHost: server\r\n\r\n"));
    fields_release(&a.fields);
}

static void what_is_set_for_all_replaces_what_one_says(void **state)
{
    struct ask a = { .method = STR("GET"), .target = STR("/") };
    struct ask_manner m = { .host = STR("server") };

    (void)state;
    fields_add(&a.fields, STR("Host"), STR("mine"));
    fields_add(&a.fields, STR("key"), STR("theirs"));
    fields_add(&a.fields, STR("KEY"), STR("theirs"));
    fields_add(&m.extra, STR("Key"), STR("a"));
    fields_add(&m.extra, STR("Host"), STR("set"));
    fields_add(&m.extra, STR("Key"), STR("b"));
    check(&a, &m, STR("GET / HTTP/1.1\r\nKey: a\r\nHost: set\r\nKey: b\r\n\r\n"));
    fields_release(&a.fields);
    fields_release(&m.extra);
}

static void compose(struct str method, struct str target, struct str name, struct str value)
{
    struct ask a = { .method = method, .target = target };
    struct buf seen;

    fields_add(&a.fields, name, value);
    buf_init(&seen, 4096);
    ask_compose(&seen, &a, &(struct ask_manner){ .host = STR("h") });
    buf_release(&seen);
    fields_release(&a.fields);
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

static void what_could_add_a_line_is_a_mistake(void **state)
{
    (void)state;
    assert_dies(with_a_method_of_two_words, "fields_is_token(a->method)");
    assert_dies(with_a_line_in_the_target, "fields_is_value(a->target)");
    assert_dies(with_a_blank_in_the_target, "str_find(a->target, ' ')");
    assert_dies(with_a_line_in_a_name, "fields_is_token(name)");
    assert_dies(with_a_line_in_a_value, "fields_is_value(value)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_out_in_order_and_as_they_are_spelled),
        cmocka_unit_test(what_is_between_neighbours_stays_there),
        cmocka_unit_test(a_host_that_connection_names_is_replaced),
        cmocka_unit_test(what_is_set_for_all_replaces_what_one_says),
        cmocka_unit_test(what_could_add_a_line_is_a_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
