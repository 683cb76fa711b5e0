#include "runtime/record-oauth.h"

#include <stdio.h>
#include <unistd.h>

#include "fake-server.h"
#include "raw-client.h"
#include "test.h"

/* A relay through which one client logs in at a server that keeps to a script. */
struct rig {
    struct loop *loop;
    struct http_relay *relay;
    struct http_access gate;
    struct record_oauth oauth;
    struct log log;
    struct app app;
    struct fake_server server;
    struct buf received, output, passed; /* by the client; to the user; as it came */
    int client;
    size_t ends;
    bool clean; /* the last of them was */
};

static void collect_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void take_request(void *to, struct http_relay_exchange *p, const struct request_head *r)
{
    (void)to, (void)p, (void)r;
}

static void take_piece(void *to, struct http_relay_exchange *p, struct str bytes)
{
    struct rig *g = to;

    (void)p;
    buf_add(&g->passed, bytes);
}

static struct str take_asked(void *to, struct http_relay_exchange *p)
{
    (void)to, (void)p;
    return STR_NONE;
}

static void take_head(void *to, struct http_relay_exchange *p,
                      const struct request_head *request_of, const struct response_head *r)
{
    (void)to, (void)p, (void)request_of, (void)r;
}

static void take_own(void *to, struct http_relay_exchange *p, unsigned status, const char *text)
{
    (void)to, (void)p, (void)status, (void)text;
}

static void take_end(void *to, struct http_relay_exchange *p, const struct http_relay_end *end)
{
    struct rig *g = to;

    (void)p;
    g->ends++;
    g->clean = end->complete;
}

static void settle(void *to)
{
    (void)to;
}

static void take_refused(void *to, uint64_t connection, const struct http_exchange_failure *why)
{
    (void)to, (void)connection, (void)why;
}

static const struct http_relay_events events = { .request = take_request,
                                                 .request_body = take_piece,
                                                 .request_complete = take_asked,
                                                 .response_head = take_head,
                                                 .response_body = take_piece,
                                                 .local_response = take_own,
                                                 .end = take_end,
                                                 .commit_records = settle,
                                                 .rejected = take_refused };

/* The server calls itself 'up:1', so that a script can be written down. */
static void open_rig(struct rig *g, const struct fake_server_step *script)
{
    struct http_relay_config config = { .access = &g->gate,
                                        .rewriter = &record_oauth_changes,
                                        .rewriter_to = &g->oauth,
                                        .keep_host = true };
    struct err e = ERR_NONE;
    char url[64];

    *g = (struct rig){ .loop = loop_new() };
    buf_init(&g->received, 1 << 24);
    buf_init(&g->output, 1 << 16);
    buf_init(&g->passed, 1 << 24);
    g->log = (struct log){ .level = LOG_DEBUG, .write = collect_line, .arg = &g->output };
    g->app = (struct app){ .log = &g->log };
    fake_server_start(&g->server, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", g->server.port);
    config.server.url = str_z(url);
    record_oauth_init(&g->oauth, &g->app, STR("http://up:1/mcp"));
    if (!http_relay_open(&g->relay, g->loop, &config, &events, g, &e))
        fail_msg("%s", e.msg);
    g->client = raw_client_connect(http_relay_address(g->relay)->port);
}

static void close_rig(struct rig *g)
{
    fake_server_join(&g->server);
    http_relay_close(g->relay);
    if (g->client >= 0)
        close(g->client);
    record_oauth_release(&g->oauth);
    loop_free(g->loop);
    buf_release(&g->received);
    buf_release(&g->output);
    buf_release(&g->passed);
}

static void exchange(struct rig *g, const char *request_text, const char *expected_response)
{
    buf_clear(&g->received);
    raw_client_send(g->client, str_z(request_text));
    raw_client_receive(g->loop, g->client, &g->received, str_z(expected_response));
    assert_str(buf_str(&g->received), str_z(expected_response));
}

#define HOST "Host: localhost\r\n"
#define FORM "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n"
#define METADATA "/.well-known/oauth-protected-resource/mcp"

static void every_challenge_header_is_rewritten(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\"\r\n"
                         "www-authenticate: Bearer resource_metadata=\"http://up:1/m.json\"\r\n"
                         "Content-Length: 2\r\n\r\n{}"),
        FAKE_TEXT(SEES, "GET /m.json HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 31\r\n\r\n"
                         "{\"resource\":\"http://up:1/mcp\"}\n"),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS,
                  "HTTP/1.1 403 No\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\", "
                  "resource_metadata=\"http://up:1/m.json\", scope=\"w\"\r\n"
                  "Content-Length: 0\r\n\r\n"),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script);
    exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\"\r\n"
             "www-authenticate: Bearer resource_metadata=\"http://localhost/m.json\"\r\n"
             "Content-Length: 2\r\n\r\n{}");
    exchange(&g,
             "GET /m.json HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\nIf-None-Match: \"1\"\r\n"
             "Range: bytes=0-1\r\n\r\n",
             "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 36\r\n\r\n"
             "{\"resource\":\"http://localhost/mcp\"}\n");
    exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 403 No\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\", "
             "resource_metadata=\"http://localhost/m.json\", scope=\"w\"\r\n"
             "Content-Length: 0\r\n\r\n");
    assert_int_equal(g.output.len, 0);
    close_rig(&g);
}

static void metadata_in_pieces_is_rewritten(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES,
                  "GET " METADATA " HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"re\r\n"),
        FAKE_N(REST, 30),
        FAKE_TEXT(SENDS, "19\r\nsource\":\"http://up:1/mcp\"\r\n1\r\n}\r\n0\r\n\r\n"),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script);
    exchange(&g, "GET " METADATA " HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 35\r\n\r\n"
             "{\"resource\":\"http://localhost/mcp\"}");
    assert_str(buf_str(&g.passed), STR("{\"resource\":\"http://up:1/mcp\"}"));
    assert_int_equal(g.ends, 1);
    close_rig(&g);
}

static void the_requested_resource_becomes_the_servers(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES,
                  "GET /authorize?a=b&resource=http%3A%2F%2Fup%3A1%2Fmcp HTTP/1.1\r\n" HOST
                  "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 302 Found\r\nLocation: http://localhost:3/cb?code=c&"
                         "iss=http%3A%2F%2Fup%3A1\r\nContent-Length: 0\r\n\r\n"),
        FAKE_TEXT(SEES, "POST /token HTTP/1.1\r\n" HOST FORM "Content-Length: 38\r\n\r\n"
                        "resource=http%3A%2F%2Fup%3A1%2Fmcp&c=d"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        FAKE_TEXT(SEES,
                  "POST /token HTTP/1.1\r\n" HOST FORM "Transfer-Encoding: chunked\r\n\r\n"
                  "22\r\nresource=http%3A%2F%2Fup%3A1%2Fmcp\r\n0\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script);
    exchange(&g, "GET /authorize?a=b&resource=http://localhost/mcp HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 302 Found\r\nLocation: http://localhost:3/cb?code=c&"
             "iss=http%3A%2F%2Flocalhost\r\nContent-Length: 0\r\n\r\n");
    raw_client_send(g.client,
                    STR("POST /token HTTP/1.1\r\n" HOST FORM "Content-Length: 33\r\n\r\nreso"));
    raw_client_run_briefly(g.loop);
    exchange(&g, "urce=http://localhost/mcp&c=d",
             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    exchange(&g,
             "POST /token HTTP/1.1\r\n" HOST FORM "Transfer-Encoding: chunked\r\n\r\n"
             "4\r\nreso\r\n19\r\nurce=http://localhost/mcp\r\n0\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    close_rig(&g);
}

static void other_bodies_are_forwarded_at_once(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /register HTTP/1.1\r\n" HOST
                        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{"),
        FAKE_TEXT(SENDS, "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx"), FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script);
    exchange(&g,
             "POST /register HTTP/1.1\r\n" HOST
             "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{",
             "HTTP/1.1 201 Created\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx");
    close_rig(&g);
}

static void add_times(struct buf *to, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_add_ch(to, c);
}

/* Too long to be a form or a document: its end is not waited for. */
static void a_too_long_document_is_forwarded_unchanged(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /token HTTP/1.1\r\n" HOST FORM "Content-Length: 300000\r\n\r\n"),
        FAKE_N(GULP, 300000),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        FAKE_TEXT(SEES,
                  "GET " METADATA " HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n493e0\r\n"),
        FAKE_N(FLOOD, 300000),
        FAKE_TEXT(SENDS, "\r\n0\r\n\r\n"),
        FAKE_TEXT(SEES,
                  "GET " METADATA " HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nETag: a\r\nContent-Length: 300000\r\n\r\n"),
        FAKE_N(FLOOD, 300000),
        FAKE(DONE)
    };
    static const char head[] =
        "HTTP/1.1 200 OK\r\nETag: a\r\nContent-Length: 300000\r\n\r\nxxxxx";
    struct buf request_text;
    struct rig g;

    (void)state;
    open_rig(&g, script);
    buf_init(&request_text, 1 << 20);
    buf_add(&request_text,
            STR("POST /token HTTP/1.1\r\n" HOST FORM "Content-Length: 300000\r\n\r\n"));
    buf_add(&request_text, STR("resource=http://localhost/mcp&"));
    add_times(&request_text, 'x', 300000 - strlen("resource=http://localhost/mcp&"));
    exchange(&g, buf_z(&request_text), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    buf_clear(&g.received);
    raw_client_send(g.client, STR("GET " METADATA " HTTP/1.1\r\n" HOST "\r\n"));
    raw_client_receive(g.loop, g.client, &g.received, STR("0\r\n\r\n"));
    assert_true(g.received.len > 300000);
    buf_clear(&g.received);
    raw_client_send(g.client, STR("GET " METADATA " HTTP/1.1\r\n" HOST "\r\n"));
    buf_clear(&request_text);
    buf_add(&request_text, STR(head));
    add_times(&request_text, 'x', 300000 - 5);
    raw_client_receive(g.loop, g.client, &g.received, buf_str(&request_text));
    assert_str(buf_str(&g.received), buf_str(&request_text));
    assert_true(str_ends(buf_str(&g.output), STR("clients may refuse to log in\n")));
    buf_release(&request_text);
    close_rig(&g);
}

static void an_aborted_document_is_aborted_for_the_client(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES,
                  "GET " METADATA " HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a"), FAKE(CLOSE),
        FAKE(DONE)
    };
    static const char want[] =
        "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 9\r\n\r\n{\"a";
    struct rig g;

    (void)state;
    open_rig(&g, script);
    raw_client_send(g.client, STR("GET " METADATA " HTTP/1.1\r\n" HOST "\r\n"));
    raw_client_receive(g.loop, g.client, &g.received, STR("never"));
    assert_str(buf_str(&g.received), STR(want));
    assert_int_equal(g.ends, 1);
    assert_false(g.clean);
    close_rig(&g);
}

static bool has_ended(void *to)
{
    return ((struct rig *)to)->ends > 0;
}

static void a_client_that_leaves_while_metadata_is_collected_causes_no_error(void **state)
{
    static const struct fake_server_step script[] = { FAKE(LONE), FAKE(HOLD), FAKE(LONE),
                                                      FAKE(DONE) };
    struct rig g;

    (void)state;
    open_rig(&g, script);
    raw_client_send(g.client,
                    STR("POST /token HTTP/1.1\r\n" HOST FORM "Content-Length: 33\r\n\r\nreso"));
    raw_client_run_briefly(g.loop);
    close(g.client);
    g.client = -1;
    assert_true(raw_client_run_until(g.loop, has_ended, &g));
    assert_false(g.clean);
    fake_server_continue(&g.server);
    close_rig(&g);
}

static void compressed_metadata_is_forwarded_and_reported(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES,
                  "GET " METADATA " HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS,
                  "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script);
    exchange(&g, "GET " METADATA " HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx");
    assert_true(str_starts(buf_str(&g.output), STR("mcpreel: warning: ")));
    close_rig(&g);
}

static void a_challenge_without_metadata_is_reported_once(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS,
                  "HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n"),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"),
        FAKE(DONE)
    };
    struct rig g;
    size_t output;

    (void)state;
    open_rig(&g, script);
    exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n");
    output = g.output.len;
    assert_true(output > 0);
    exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
             "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(g.output.len, output);
    close_rig(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_challenge_header_is_rewritten),
        cmocka_unit_test(metadata_in_pieces_is_rewritten),
        cmocka_unit_test(the_requested_resource_becomes_the_servers),
        cmocka_unit_test(other_bodies_are_forwarded_at_once),
        cmocka_unit_test(a_too_long_document_is_forwarded_unchanged),
        cmocka_unit_test(an_aborted_document_is_aborted_for_the_client),
        cmocka_unit_test(a_client_that_leaves_while_metadata_is_collected_causes_no_error),
        cmocka_unit_test(compressed_metadata_is_forwarded_and_reported),
        cmocka_unit_test(a_challenge_without_metadata_is_reported_once),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
