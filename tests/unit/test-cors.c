#include "wire/cors.h"

#include "base/buf.h"
#include "test.h"

/* The lines, each as "Name: value|". */
static void show(struct buf *to, const struct headers *f)
{
    for (size_t i = 0; i < f->count; i++)
        buf_printf(to, "%.*s: %.*s|", STR_ARG(f->at[i].name), STR_ARG(f->at[i].value));
}

#define HEAD "Host: a\r\n"
#define ASKS "Origin: http://b:1\r\nAccess-Control-Request-Method: POST\r\n"

#define ALLOWED_HEADERS                                                                        \
    "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, "              \
    "Last-Event-ID, Mcp-Method, Mcp-Name"

static void read_head(struct request_head *r, const char *line, const char *lines)
{
    struct buf text;
    struct str in;

    buf_init(&text, 1 << 16);
    buf_printf(&text, "%s HTTP/1.1\r\n" HEAD "%s\r\n", line, lines);
    in = buf_str(&text);
    request_head_init(r);
    assert_int_equal(request_head_feed(r, &in), REQUEST_HEAD_COMPLETE);
    buf_release(&text);
}

static void assert_is_preflight(const char *line, const char *lines, bool want)
{
    struct request_head r;

    read_head(&r, line, lines);
    assert_int_equal(cors_is_preflight(&r), want);
    request_head_release(&r);
}

static void a_preflight_has_an_origin_and_a_method(void **state)
{
    (void)state;
    assert_is_preflight("OPTIONS /mcp", ASKS, true);
    assert_is_preflight("OPTIONS *", ASKS, true);
    assert_is_preflight("OPTIONS /mcp", "Origin: http://b:1\r\n", false);
    assert_is_preflight("OPTIONS /mcp", "Access-Control-Request-Method: POST\r\n", false);
    assert_is_preflight("OPTIONS /mcp", "Origin: \r\nAccess-Control-Request-Method: POST\r\n",
                        false);
    assert_is_preflight("OPTIONS /mcp", "", false);
    assert_is_preflight("POST /mcp", ASKS, false);
}

static void assert_permits(const char *lines, const char *headers, const char *network)
{
    struct headers f = { .at = NULL };
    struct buf all, want;
    struct request_head r;

    buf_init(&all, 1 << 16);
    buf_init(&want, 1 << 16);
    read_head(&r, "OPTIONS /mcp", lines);
    cors_add_preflight_headers(&f, &r);
    show(&all, &f);
    buf_printf(&want,
               "Access-Control-Allow-Origin: http://b:1|"
               "Access-Control-Allow-Methods: GET, POST, DELETE|"
               "Access-Control-Allow-Headers: %s|%sAccess-Control-Max-Age: 7200|"
               "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers|",
               headers, network);
    assert_str(buf_str(&all), buf_str(&want));
    request_head_release(&r);
    headers_release(&f);
    buf_release(&want);
    buf_release(&all);
}

static void requested_headers_are_allowed(void **state)
{
    (void)state;
    assert_permits(ASKS "Access-Control-Request-Headers: content-type,mcp-param-city\r\n",
                   "content-type,mcp-param-city", "");
}

static void without_requested_headers_those_of_mcp_are_allowed(void **state)
{
    (void)state;
    assert_permits(ASKS, ALLOWED_HEADERS, "");
    assert_permits(ASKS "Access-Control-Request-Headers: \r\n", ALLOWED_HEADERS, "");
    assert_permits(ASKS "Access-Control-Request-Headers: ,,\r\n", ALLOWED_HEADERS, "");
    assert_permits(ASKS "Access-Control-Request-Headers: a, b c\r\n", ALLOWED_HEADERS, "");
    assert_permits(ASKS "Access-Control-Request-Headers: \"a\"\r\n", ALLOWED_HEADERS, "");
}

static void private_network_access_is_allowed(void **state)
{
    (void)state;
    assert_permits(ASKS "Access-Control-Request-Private-Network: true\r\n", ALLOWED_HEADERS,
                   "Access-Control-Allow-Private-Network: true|");
    assert_permits(ASKS "Access-Control-Request-Private-Network: no\r\n", ALLOWED_HEADERS, "");
}

static void assert_shares(const char *lines, const char *want)
{
    struct headers f = { .at = NULL };
    struct request_head r;
    struct buf all;

    buf_init(&all, 1 << 16);
    read_head(&r, "POST /mcp", lines);
    cors_add_headers(&f, &r.headers);
    show(&all, &f);
    assert_str(buf_str(&all), str_z(want));
    request_head_release(&r);
    headers_release(&f);
    buf_release(&all);
}

static void a_response_names_the_origin(void **state)
{
    (void)state;
    assert_shares("Origin: https://app.example.org\r\n",
                  "Access-Control-Allow-Origin: https://app.example.org|"
                  "Access-Control-Expose-Headers: Mcp-Session-Id, MCP-Protocol-Version, "
                  "WWW-Authenticate, Retry-After|Vary: Origin|");
}

static void without_origin_no_headers_are_added(void **state)
{
    (void)state;
    assert_shares("", "");
    assert_shares("Origin: \r\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preflight_has_an_origin_and_a_method),
        cmocka_unit_test(requested_headers_are_allowed),
        cmocka_unit_test(without_requested_headers_those_of_mcp_are_allowed),
        cmocka_unit_test(private_network_access_is_allowed),
        cmocka_unit_test(a_response_names_the_origin),
        cmocka_unit_test(without_origin_no_headers_are_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
