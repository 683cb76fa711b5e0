#include "transport/http-access.h"

#include "base/buf.h"
#include "test.h"

enum { HOME, OPEN, LISTED, TUNNEL, LENDS };

static const char *const hosts[] = { "mcp.example", "other.example:8080" };
static const char *const origins[] = { "https://app.example", "http://app.example:3000" };

/* Listeners on 127.0.0.1:8080: for this machine; for all; for some; for clients through a
 * tunnel; with credentials for all clients. */
static const struct http_access gates[] = {
    [HOME] = { .allow_remote = false },
    [OPEN] = { .allow_remote = true },
    [LISTED] = { .allow_remote = true,
                 .hosts = hosts,
                 .host_count = sizeof hosts / sizeof *hosts,
                 .origins = origins,
                 .origin_count = sizeof origins / sizeof *origins },
    [TUNNEL] = { .hosts = hosts, .host_count = sizeof hosts / sizeof *hosts },
    [LENDS] = { .adds_credentials = true },
};

struct seen_row {
    int gate;
    const char *method, *host, *origin, *type; /* NULL: no such header */
    unsigned status;
};

#define JSON "application/json"
#define US "localhost:8080"

/* The target is an MCP endpoint. */
static const struct seen_row rows[] = {
    /* the host that it is for */
    { HOME, "POST", "localhost:8080", NULL, JSON, 0 },
    { HOME, "POST", "LOCALHOST:8080", NULL, JSON, 0 },
    { HOME, "POST", "127.0.0.1:8080", NULL, JSON, 0 },
    { HOME, "POST", "[::1]:8080", NULL, JSON, 0 },
    { HOME, "POST", "localhost", NULL, JSON, 0 },
    { HOME, "POST", "localhost:9000", NULL, JSON, 0 }, /* a forwarded port */
    { HOME, "POST", "127.0.0.1", NULL, JSON, 0 },
    { HOME, "POST", "127.0.0.2:8080", NULL, JSON, 0 },
    { HOME, "POST", "evil.example:8080", NULL, JSON, 403 },
    { HOME, "POST", "evil.example", NULL, JSON, 403 },
    { HOME, "POST", "localhost.evil.example:8080", NULL, JSON, 403 },
    { HOME, "POST", "127.0.0.1.evil.example:8080", NULL, JSON, 403 },
    { HOME, "POST", "127.0.0.1.nip.io:8080", NULL, JSON, 403 },
    { HOME, "POST", "0.0.0.0:8080", NULL, JSON, 403 },
    { HOME, "POST", "0:8080", NULL, JSON, 403 },
    { HOME, "POST", "[::]:8080", NULL, JSON, 403 },
    { HOME, "POST", "[::ffff:0.0.0.0]:8080", NULL, JSON, 403 },
    { HOME, "POST", "127.1:8080", NULL, JSON, 403 },
    { HOME, "POST", "2130706433:8080", NULL, JSON, 403 },
    { HOME, "POST", "0x7f000001:8080", NULL, JSON, 403 },
    { HOME, "POST", "0177.0.0.1:8080", NULL, JSON, 403 },
    { HOME, "POST", "192.168.1.5:8080", NULL, JSON, 403 },
    { HOME, "POST", "[fe80::1]:8080", NULL, JSON, 403 },
    { HOME, "POST", "10.0.0.1:8080", NULL, JSON, 403 },
    { HOME, "GET", "evil.example:8080", NULL, NULL, 403 },
    { HOME, "GET", US, NULL, NULL, 0 },
    { HOME, "DELETE", US, NULL, NULL, 0 },
    { HOME, "DELETE", "evil.example", NULL, NULL, 403 },
    { HOME, "OPTIONS", US, NULL, NULL, 0 },
    { HOME, "OPTIONS", "evil.example", NULL, NULL, 403 },
    { HOME, "HEAD", US, NULL, NULL, 0 },

    /* the origin of the page that sent it */
    { HOME, "POST", US, "http://localhost:8080", JSON, 0 },
    { HOME, "POST", US, "http://127.0.0.1:8080", JSON, 0 },
    { HOME, "POST", US, "http://[::1]:8080", JSON, 0 },
    { HOME, "POST", US, "http://localhost:6274", JSON, 0 },
    { HOME, "POST", US, "http://localhost", JSON, 0 },
    { HOME, "POST", US, "https://localhost:8080", JSON, 0 },
    { HOME, "POST", US, "http://evil.example", JSON, 403 },
    { HOME, "POST", US, "https://evil.example", JSON, 403 },
    { HOME, "POST", US, "http://evil.example:8080", JSON, 403 },
    { HOME, "POST", US, "http://localhost.evil.example", JSON, 403 },
    { HOME, "POST", US, "http://localhost:8080.evil.example", JSON, 403 },
    { HOME, "POST", US, "http://localhost@evil.example", JSON, 403 },
    { HOME, "POST", US, "http://evil.example@localhost", JSON, 403 },
    { HOME, "POST", US, "http://0.0.0.0:8080", JSON, 403 },
    { HOME, "POST", US, "http://localhost:8080/", JSON, 403 },
    { HOME, "POST", US, "http://localhost:8080 http://evil.example", JSON, 403 },
    { HOME, "POST", US, "null", JSON, 403 },
    { HOME, "POST", US, "", JSON, 403 },
    { HOME, "POST", US, "file://", JSON, 403 },
    { HOME, "POST", US, "chrome-extension://abcdef", JSON, 403 },
    { HOME, "POST", US, "localhost:8080", JSON, 403 },
    { HOME, "POST", "evil.example:8080", "http://evil.example:8080", JSON, 403 },
    { HOME, "POST", "evil.example:8080", "http://localhost:8080", JSON, 403 },
    { HOME, "GET", US, "http://evil.example", NULL, 403 },
    { HOME, "GET", US, "http://localhost:6274", NULL, 0 },
    { HOME, "GET", US, "null", NULL, 403 },
    { HOME, "OPTIONS", US, "http://evil.example", NULL, 403 },
    { HOME, "OPTIONS", US, "http://localhost:6274", NULL, 0 },
    { HOME, "DELETE", US, "http://evil.example", NULL, 403 },
    { HOME, "POST", US, "https://app.example", JSON, 403 },

    /* what it sends */
    { HOME, "POST", US, NULL, "application/json; charset=utf-8", 0 },
    { HOME, "POST", US, NULL, "Application/JSON", 0 },
    { HOME, "POST", US, NULL, NULL, 415 },
    { HOME, "POST", US, NULL, "", 415 },
    { HOME, "POST", US, NULL, "text/plain", 415 },
    { HOME, "POST", US, NULL, "text/plain; charset=application/json", 415 },
    { HOME, "POST", US, NULL, "application/x-www-form-urlencoded", 415 },
    { HOME, "POST", US, NULL, "multipart/form-data; boundary=x", 415 },
    { HOME, "POST", US, NULL, "application/json, text/plain", 415 },
    { HOME, "POST", US, NULL, "application/jsonp", 415 },
    { HOME, "POST", US, NULL, "application/json-rpc", 415 },
    { HOME, "POST", US, "http://evil.example", "text/plain", 403 }, /* the worse comes first */
    { HOME, "GET", US, NULL, "text/plain", 0 },

    /* for others, too */
    { OPEN, "POST", "localhost:8080", NULL, JSON, 0 },
    { OPEN, "POST", "recorder:8080", NULL, JSON, 0 }, /* a container's name */
    { OPEN, "POST", "192.168.1.5:8080", NULL, JSON, 0 },
    { OPEN, "POST", "[fd00::5]:8080", NULL, JSON, 0 },
    { OPEN, "POST", "mcp.example", NULL, JSON, 403 }, /* a page may let it point here */
    { OPEN, "GET", "mcp.example", NULL, NULL, 403 },
    { OPEN, "POST", "localhost.", NULL, JSON, 403 },
    { OPEN, "POST", "0.0.0.0:8080", NULL, JSON, 403 },
    { OPEN, "POST", "[::]:8080", NULL, JSON, 403 },
    { OPEN, "POST", "0xc0a80105:8080", NULL, JSON, 403 },
    { OPEN, "POST", "recorder", "http://recorder", JSON, 403 },
    { OPEN, "POST", "recorder", "null", JSON, 403 },
    { OPEN, "POST", "recorder", NULL, "text/plain", 415 },
    { LISTED, "POST", "localhost:8080", NULL, JSON, 0 },
    { LISTED, "POST", "mcp.example", NULL, JSON, 0 },
    { LISTED, "POST", "MCP.example:1234", NULL, JSON, 0 },
    { LISTED, "POST", "other.example:8080", NULL, JSON, 0 },
    { LISTED, "POST", "other.example", NULL, JSON, 403 },
    { LISTED, "POST", "other.example:80", NULL, JSON, 403 },
    { LISTED, "POST", "evil.example", NULL, JSON, 403 },
    { LISTED, "POST", "192.168.1.5:8080", NULL, JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://app.example", JSON, 0 },
    { LISTED, "POST", "mcp.example", "https://app.example:443", JSON, 0 },
    { LISTED, "POST", "mcp.example", "http://app.example:3000", JSON, 0 },
    { LISTED, "POST", "mcp.example", "http://app.example", JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://app.example:8443", JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://app.example.evil.example", JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://user@app.example", JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://app.example/x", JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://evil.example", JSON, 403 },
    { LISTED, "POST", "mcp.example", "https://app.example", "text/plain", 415 },
    { TUNNEL, "POST", "mcp.example", NULL, JSON, 0 },
    { TUNNEL, "POST", "localhost:8080", NULL, JSON, 0 },
    { TUNNEL, "POST", "192.168.1.5:8080", NULL, JSON, 403 },
    { TUNNEL, "POST", "recorder", NULL, JSON, 403 },
    { TUNNEL, "POST", "mcp.example", "https://mcp.example", JSON, 403 },
    { LENDS, "POST", US, NULL, JSON, 0 },
    { LENDS, "POST", "evil.example", NULL, JSON, 403 },
    { LENDS, "POST", US, "http://evil.example", JSON, 403 },
    { LENDS, "POST", US, NULL, "text/plain", 415 },
};

static const struct url_authority self = {
    .host = STR_INIT("127.0.0.1"),
    .ip = { .kind = IP_V4, .canonical = true, .bytes = { [10] = 255, 255, 127, 0, 0, 1 } },
    .port = 8080,
};

static struct http_access_decision decide(const struct http_access *g, struct str head,
                                          bool mcp)
{
    struct http_access_decision v = { .status = 400, .text = "" };
    struct request_head r;
    struct str in = head;

    request_head_init(&r);
    if (request_head_feed(&r, &in) == REQUEST_HEAD_COMPLETE)
        v = http_access_check(g, &r, origin_classify_host(&r.host, &self),
                              origin_classify(&r.headers, &self), mcp);
    request_head_release(&r);
    return v;
}

static void compose(struct buf *to, const struct seen_row *row)
{
    buf_printf(to, "%s /mcp HTTP/1.1\r\nHost: %s\r\n", row->method, row->host);
    if (row->origin)
        buf_printf(to, "Origin: %s\r\n", row->origin);
    if (row->type)
        buf_printf(to, "Content-Type: %s\r\n", row->type);
    buf_add(to, STR("\r\n"));
}

static void hosts_and_origins_are_checked_by_the_table(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_access_decision v;

        buf_clear(&text);
        compose(&text, &rows[i]);
        v = decide(&gates[rows[i].gate], buf_str(&text), true);
        if (v.status != rows[i].status)
            fail_msg("gate %d, %u instead of %u for\n%s", rows[i].gate, v.status,
                     rows[i].status, buf_z(&text));
        assert_int_equal(v.text[0] != '\0', v.status != 0);
    }
    buf_release(&text);
}

static void content_types_are_checked_at_the_endpoint_only(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned want = rows[i].status == 415 ? 0 : rows[i].status;

        buf_clear(&text);
        compose(&text, &rows[i]);
        assert_int_equal(decide(&gates[rows[i].gate], buf_str(&text), false).status, want);
    }
    buf_release(&text);
}

static void duplicate_origins_are_rejected(void **state)
{
    static const struct str both =
        STR_INIT("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\n"
                 "Origin: https://app.example\r\nOrigin: https://app.example\r\n\r\n");

    (void)state;
    assert_int_equal(decide(&gates[LISTED], both, true).status, 403);
}

/* The header that a browser sends with a request without an Origin. */
static void cross_site_embedding_is_rejected(void **state)
{
    static const struct {
        int gate;
        bool mcp;
        const char *site, *mode, *origin; /* NULL: no such header */
        unsigned status;
    } cases[] = {
        { HOME, true, "cross-site", "no-cors", NULL, 403 },
        { HOME, false, "cross-site", "no-cors", NULL, 403 },
        { HOME, true, "cross-site", NULL, NULL, 403 },
        { HOME, true, "cross-site", "navigate", NULL, 403 },
        { HOME, false, "cross-site", "navigate", NULL, 0 }, /* to log in */
        { LENDS, false, "cross-site", "navigate", NULL, 403 },
        { LENDS, false, "none", "navigate", NULL, 0 },
        { LENDS, false, "same-origin", "navigate", NULL, 0 },
        { HOME, true, "none", "navigate", NULL, 0 },
        { HOME, true, "same-origin", "cors", NULL, 0 },
        { HOME, true, "same-site", "no-cors", NULL, 0 }, /* this machine, another port */
        { HOME, true, "Cross-Site", "no-cors", NULL, 403 },
        { HOME, true, "", "no-cors", NULL, 403 },
        { HOME, true, NULL, "cors", NULL, 0 }, /* Node says this much */
        /* A request that has an Origin is judged by that. */
        { HOME, true, "cross-site", "cors", "http://localhost:6274", 0 },
        { HOME, true, "same-site", "cors", "http://evil.example", 403 },
        { LISTED, true, "cross-site", "cors", "https://app.example", 0 },
    };
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned status;

        buf_clear(&text);
        buf_printf(&text, "GET /mcp HTTP/1.1\r\nHost: " US "\r\n");
        if (cases[i].site)
            buf_printf(&text, "Sec-Fetch-Site: %s\r\n", cases[i].site);
        if (cases[i].mode)
            buf_printf(&text, "Sec-Fetch-Mode: %s\r\n", cases[i].mode);
        if (cases[i].origin)
            buf_printf(&text, "Origin: %s\r\n", cases[i].origin);
        buf_add(&text, STR("\r\n"));
        status = decide(&gates[cases[i].gate], buf_str(&text), cases[i].mcp).status;
        if (status != cases[i].status)
            fail_msg("%u instead of %u in case %zu", status, cases[i].status, i);
    }
    buf_release(&text);
}

static void invalid_hosts_and_origins_are_found(void **state)
{
    (void)state;
    assert_true(http_access_is_valid_host(STR("mcp.example")));
    assert_true(http_access_is_valid_host(STR("mcp.example:80")));
    assert_true(http_access_is_valid_host(STR("[fd00::1]:80")));
    assert_false(http_access_is_valid_host(STR("https://mcp.example")));
    assert_false(http_access_is_valid_host(STR("user@mcp.example")));
    assert_false(http_access_is_valid_host(STR("*.example")));
    assert_false(http_access_is_valid_host(STR("")));
    assert_true(http_access_is_valid_origin(STR("https://app.example")));
    assert_true(http_access_is_valid_origin(STR("http://app.example:3000")));
    assert_false(http_access_is_valid_origin(STR("https://app.example/")));
    assert_false(http_access_is_valid_origin(STR("app.example")));
    assert_false(http_access_is_valid_origin(STR("*")));
    assert_false(http_access_is_valid_origin(STR("null")));
    assert_false(http_access_is_valid_origin(STR("https://user@app.example")));
}

static void trace_methods_are_rejected(void **state)
{
    static const struct {
        const char *method;
        unsigned status;
    } cases[] = {
        { "TRACE", 405 }, { "trace", 405 },  { "Track", 405 },
        { "TRACES", 0 },  { "OPTIONS", 0 },  { "GET", 0 },
        { "DELETE", 0 },  { "PROPFIND", 0 }, { "X-TRACE", 0 },
    };
    struct headers lines = { .at = NULL };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned mcp = 0; mcp < 2; mcp++) {
            struct buf text;

            buf_init(&text, 4096);
            buf_printf(&text, "%s / HTTP/1.1\r\nHost: localhost\r\n\r\n", cases[i].method);
            assert_int_equal(decide(&gates[HOME], buf_str(&text), mcp).status, cases[i].status);
            buf_release(&text);
        }
    }
    http_access_add_headers(&lines, 403);
    assert_int_equal(lines.count, 0);
    http_access_add_headers(&lines, 405);
    assert_str(lines.at[0].name, STR("Allow"));
    headers_release(&lines);
}

static void every_rejection_has_a_text(void **state)
{
    static const struct {
        const char *head, *text;
    } cases[] = {
        { "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "Host is not allowed; see --allow-host" },
        { "POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n",
          "Origin is not allowed; see --allow-origin" },
        { "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
          "Content-Type must be application/json" },
        { "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
          "cross-site requests are not allowed" },
        { "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
          "the methods TRACE and TRACK are not forwarded" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(decide(&gates[HOME], str_z(cases[i].head), true).text,
                            cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_origins_are_checked_by_the_table),
        cmocka_unit_test(content_types_are_checked_at_the_endpoint_only),
        cmocka_unit_test(duplicate_origins_are_rejected),
        cmocka_unit_test(cross_site_embedding_is_rejected),
        cmocka_unit_test(invalid_hosts_and_origins_are_found),
        cmocka_unit_test(trace_methods_are_rejected),
        cmocka_unit_test(every_rejection_has_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
