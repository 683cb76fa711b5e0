#include "wire/cors.h"

#include "base/buf.h"
#include "test.h"

/* The lines, each as "Name: value|". */
static void show(struct buf *to, const struct fields *f)
{
    for (size_t i = 0; i < f->count; i++)
        buf_printf(to, "%.*s: %.*s|", STR_ARG(f->at[i].name), STR_ARG(f->at[i].value));
}

#define HEAD "Host: a\r\n"
#define ASKS "Origin: http://b:1\r\nAccess-Control-Request-Method: POST\r\n"

#define SENT                                                                                   \
    "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, "              \
    "Last-Event-ID, Mcp-Method, Mcp-Name"

static void read_head(struct request *r, const char *line, const char *lines)
{
    struct buf text;
    struct str in;

    buf_init(&text, 1 << 16);
    buf_printf(&text, "%s HTTP/1.1\r\n" HEAD "%s\r\n", line, lines);
    in = buf_str(&text);
    request_init(r);
    assert_int_equal(request_feed(r, &in), REQUEST_WHOLE);
    buf_release(&text);
}

static void assert_asks(const char *line, const char *lines, bool want)
{
    struct request r;

    read_head(&r, line, lines);
    assert_int_equal(cors_asks(&r), want);
    request_release(&r);
}

static void a_question_of_the_browsers_has_an_origin_and_a_method(void **state)
{
    (void)state;
    assert_asks("OPTIONS /mcp", ASKS, true);
    assert_asks("OPTIONS *", ASKS, true);
    assert_asks("OPTIONS /mcp", "Origin: http://b:1\r\n", false);
    assert_asks("OPTIONS /mcp", "Access-Control-Request-Method: POST\r\n", false);
    assert_asks("OPTIONS /mcp", "Origin: \r\nAccess-Control-Request-Method: POST\r\n", false);
    assert_asks("OPTIONS /mcp", "", false);
    assert_asks("POST /mcp", ASKS, false);
}

static void assert_permits(const char *lines, const char *headers, const char *network)
{
    struct fields f = { .at = NULL };
    struct buf all, want;
    struct request r;

    buf_init(&all, 1 << 16);
    buf_init(&want, 1 << 16);
    read_head(&r, "OPTIONS /mcp", lines);
    cors_permit(&f, &r);
    show(&all, &f);
    buf_printf(&want,
               "Access-Control-Allow-Origin: http://b:1|"
               "Access-Control-Allow-Methods: GET, POST, DELETE|"
               "Access-Control-Allow-Headers: %s|%sAccess-Control-Max-Age: 7200|"
               "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers|",
               headers, network);
    assert_str(buf_str(&all), buf_str(&want));
    request_release(&r);
    fields_release(&f);
    buf_release(&want);
    buf_release(&all);
}

static void a_page_may_send_what_it_asks_for(void **state)
{
    (void)state;
    assert_permits(ASKS "Access-Control-Request-Headers: content-type,mcp-param-city\r\n",
                   "content-type,mcp-param-city", "");
}

static void who_asks_for_no_names_is_told_those_of_mcp(void **state)
{
    (void)state;
    assert_permits(ASKS, SENT, "");
    assert_permits(ASKS "Access-Control-Request-Headers: \r\n", SENT, "");
    assert_permits(ASKS "Access-Control-Request-Headers: ,,\r\n", SENT, "");
    assert_permits(ASKS "Access-Control-Request-Headers: a, b c\r\n", SENT, "");
    assert_permits(ASKS "Access-Control-Request-Headers: \"a\"\r\n", SENT, "");
}

static void a_page_of_the_internet_may_be_told_that_it_may_come_here(void **state)
{
    (void)state;
    assert_permits(ASKS "Access-Control-Request-Private-Network: true\r\n", SENT,
                   "Access-Control-Allow-Private-Network: true|");
    assert_permits(ASKS "Access-Control-Request-Private-Network: no\r\n", SENT, "");
}

static void assert_shares(const char *lines, const char *want)
{
    struct fields f = { .at = NULL };
    struct request r;
    struct buf all;

    buf_init(&all, 1 << 16);
    read_head(&r, "POST /mcp", lines);
    cors_share(&f, &r.fields);
    show(&all, &f);
    assert_str(buf_str(&all), str_z(want));
    request_release(&r);
    fields_release(&f);
    buf_release(&all);
}

static void an_answer_names_the_page_that_may_see_it(void **state)
{
    (void)state;
    assert_shares("Origin: https://app.example.org\r\n",
                  "Access-Control-Allow-Origin: https://app.example.org|"
                  "Access-Control-Expose-Headers: Mcp-Session-Id, MCP-Protocol-Version, "
                  "WWW-Authenticate, Retry-After|Vary: Origin|");
}

static void who_is_no_page_is_told_nothing(void **state)
{
    (void)state;
    assert_shares("", "");
    assert_shares("Origin: \r\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_of_the_browsers_has_an_origin_and_a_method),
        cmocka_unit_test(a_page_may_send_what_it_asks_for),
        cmocka_unit_test(who_asks_for_no_names_is_told_those_of_mcp),
        cmocka_unit_test(a_page_of_the_internet_may_be_told_that_it_may_come_here),
        cmocka_unit_test(an_answer_names_the_page_that_may_see_it),
        cmocka_unit_test(who_is_no_page_is_told_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
