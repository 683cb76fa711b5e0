#include "mcphttp/client-session.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

struct bench {
    struct client_session peer;
    struct arena arena;
    struct buf text;
};

static void open_bench(struct bench *b, const char *address)
{
    struct err e = ERR_NONE;
    struct url url;

    *b = (struct bench){ 0 };
    assert_true(url_parse(&url, str_z(address), &e));
    client_session_init(&b->peer, &url);
    buf_init(&b->text, 1 << 20);
}

static void close_bench(struct bench *b)
{
    client_session_release(&b->peer);
    arena_release(&b->arena);
    buf_release(&b->text);
}

/* Method, target, and of the header lines those of MCP; gives the fields back. */
static void assert_request(struct bench *b, struct action_request *sent, const char *want)
{
    buf_clear(&b->text);
    buf_printf(&b->text, "%.*s %.*s", STR_ARG(sent->method), STR_ARG(sent->target));
    for (size_t i = 0; i < sent->headers.count; i++) {
        const struct header *f = &sent->headers.at[i];

        if (str_starts(f->name, STR("Mcp-")) || str_starts(f->name, STR("MCP-")) ||
            str_starts(f->name, STR("Last-")))
            buf_printf(&b->text, " %.*s:%.*s", STR_ARG(f->name), STR_ARG(f->value));
    }
    headers_release(&sent->headers);
    assert_str(buf_str(&b->text), str_z(want));
}

static void assert_post(struct bench *b, const char *message, bool modern, const char *want)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, message), &b->arena);
    struct action_request sent;

    assert_int_equal(client_session_compose_post(&b->peer, &m, STR("text"), &b->arena, &sent),
                     modern);
    assert_str(sent.body, STR("text"));
    assert_request(b, &sent, want);
    terse_scanned_release(&s);
}

#define NAMED "'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}"

static void session_id_and_version_are_sent_with_every_request(void **state)
{
    struct bench b;
    struct action_request sent;

    (void)state;
    open_bench(&b, "http://h/mcp?key=1");
    assert_post(&b, "{'id':1,'method':'initialize'}", false, "POST /mcp?key=1");
    client_session_set_value(&b.peer.session_id, STR("s-1"));
    client_session_set_value(&b.peer.version, STR("2025-11-25"));
    assert_post(&b, "{'id':2,'method':'ping'}", false,
                "POST /mcp?key=1 Mcp-Session-Id:s-1 MCP-Protocol-Version:2025-11-25");
    client_session_compose_get(&b.peer, STR("e-1"), &sent);
    assert_request(&b, &sent,
                   "GET /mcp?key=1 Mcp-Session-Id:s-1 MCP-Protocol-Version:2025-11-25 "
                   "Last-Event-ID:e-1");
    client_session_compose_delete(&b.peer, &sent);
    assert_request(&b, &sent,
                   "DELETE /mcp?key=1 Mcp-Session-Id:s-1 MCP-Protocol-Version:2025-11-25");
    client_session_reset(&b.peer);
    assert_post(&b, "{'id':2,'method':'ping'}", false, "POST /mcp?key=1");
    client_session_set_value(&b.peer.session_id, STR("a\nb"));
    assert_int_equal(b.peer.session_id.len, 0);
    close_bench(&b);
}

static void a_notification_has_the_version_of_the_requests(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "http://h/mcp");
    assert_post(&b, "{'method':'n'}", false, "POST /mcp");
    assert_post(&b, "{'id':1,'method':'m'," NAMED "}", true,
                "POST /mcp MCP-Protocol-Version:2026-07-28 Mcp-Method:m");
    assert_post(&b, "{'method':'n'}", true,
                "POST /mcp MCP-Protocol-Version:2026-07-28 Mcp-Method:n");
    client_session_set_value(&b.peer.version, STR("2025-11-25"));
    assert_post(&b, "{'method':'n'}", false, "POST /mcp MCP-Protocol-Version:2025-11-25");
    close_bench(&b);
}

static void messages_are_posted_to_the_endpoint_of_http_sse(void **state)
{
    struct bench b;
    struct action_request sent;

    (void)state;
    open_bench(&b, "http://h/sse");
    buf_add(&b.peer.sse_endpoint, STR("/m?s=1"));
    assert_post(&b, "{'id':1,'method':'ping'}", false, "POST /m?s=1");
    client_session_compose_get(&b.peer, STR_NONE, &sent);
    assert_request(&b, &sent, "GET /sse");
    close_bench(&b);
}

struct header_bench {
    struct headers fields;
    struct param_headers params;
    struct terse_scanned scanned;
    struct arena arena;
    struct buf text;
};

static void open_header_bench(struct header_bench *b)
{
    *b = (struct header_bench){ 0 };
    param_headers_init(&b->params);
    buf_init(&b->text, 1 << 20);
}

static void close_header_bench(struct header_bench *b)
{
    headers_release(&b->fields);
    param_headers_release(&b->params);
    arena_release(&b->arena);
    buf_release(&b->text);
}

/* Returns the added headers, except those that every request has, and clears them. */
static void assert_lines(struct header_bench *b, const char *want)
{
    buf_clear(&b->text);
    for (size_t i = 0; i < b->fields.count; i++) {
        const struct header *f = &b->fields.at[i];

        if (!headers_equal_nocase(f->name, STR("Accept-Encoding")) &&
            !headers_equal_nocase(f->name, STR("User-Agent")))
            buf_printf(&b->text, "%.*s: %.*s\n", STR_ARG(f->name), STR_ARG(f->value));
    }
    assert_int_equal(headers_count(&b->fields, STR("Accept-Encoding")), 1);
    assert_int_equal(headers_count(&b->fields, STR("User-Agent")), 1);
    assert_str(buf_str(&b->text), str_z(want));
    headers_clear(&b->fields);
}

static void compose_post(struct header_bench *b, const struct client_negotiated *terms,
                         const char *text, const char *revision)
{
    struct mcp_message m = mcp_classify(terse_scan(&b->scanned, text), &b->arena);
    struct headers kept = { 0 };

    client_session_post_headers(&kept, terms, &b->params, &m, str_z(revision), &b->arena);
    for (size_t i = 0; i < kept.count; i++)
        headers_add(&b->fields, kept.at[i].name, arena_str(&b->arena, kept.at[i].value));
    headers_release(&kept);
    terse_scanned_release(&b->scanned);
}

#define TYPES "Accept: application/json, text/event-stream\nContent-Type: application/json\n"

static const struct client_negotiated nothing = { { NULL, 0 }, { NULL, 0 } };
static const struct client_negotiated agreed = { STR_INIT("s-1"), STR_INIT("2025-06-18") };
static const struct client_negotiated negotiated_old = { STR_INIT("s-1"),
                                                         STR_INIT("2025-03-26") };

static void the_negotiated_values_are_returned(void **state)
{
    struct header_bench b;

    (void)state;
    open_header_bench(&b);
    compose_post(&b, &nothing, "{'id':1,'method':'ping'}", "");
    assert_lines(&b, TYPES);
    compose_post(&b, &agreed, "{'id':1,'method':'ping'}", "");
    assert_lines(&b, TYPES "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-06-18\n");
    compose_post(&b, &negotiated_old, "{'id':1,'method':'ping'}", "");
    assert_lines(&b, TYPES "Mcp-Session-Id: s-1\n");
    client_session_post_headers(&b.fields, &agreed, &b.params, NULL, STR("2026-07-28"),
                                &b.arena);
    assert_lines(&b, TYPES "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-06-18\n");
    client_session_get_headers(&b.fields, &agreed, STR("7"));
    assert_lines(&b, "Accept: text/event-stream\nMcp-Session-Id: s-1\n"
                     "MCP-Protocol-Version: 2025-06-18\nLast-Event-ID: 7\n");
    client_session_get_headers(&b.fields, &nothing, STR_NONE);
    assert_lines(&b, "Accept: text/event-stream\n");
    client_session_delete_headers(&b.fields, &agreed);
    assert_lines(&b, "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-06-18\n");
    close_header_bench(&b);
}

static void stateless_requests_have_headers_from_their_message(void **state)
{
    static const struct {
        const char *message, *name;
    } cases[] = {
        { "{'id':1,'method':'tools/call','params':{'name':'a b'}}", "Mcp-Name: a b\n" },
        { "{'id':1,'method':'prompts/get','params':{'name':'p'}}", "Mcp-Name: p\n" },
        { "{'id':1,'method':'resources/read','params':{'uri':'x:é'}}",
          "Mcp-Name: =?base64?eDrDqQ==?=\n" },
        { "{'id':1,'method':'tasks/get','params':{'taskId':'=?base64?t'}}",
          "Mcp-Name: =?base64?PT9iYXNlNjQ/dA==?=\n" },
        { "{'id':1,'method':'tools/call','params':{'name':7}}", "" },
        { "{'id':1,'method':'tools/list','params':{'name':'x'}}", "" },
        { "{'id':1,'method':'completion/complete','params':{'ref':{'name':'x'}}}", "" },
    };
    struct header_bench b;

    (void)state;
    open_header_bench(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[512], *method = strstr(cases[i].message, "method':'") + 9;

        snprintf(want, sizeof want,
                 TYPES "MCP-Protocol-Version: 2026-07-28\nMcp-Method: %.*s\n%s",
                 (int)(strchr(method, '\'') - method), method, cases[i].name);
        compose_post(&b, &agreed, cases[i].message, "2026-07-28");
        assert_lines(&b, want);
    }
    close_header_bench(&b);
}

/* No server would take them, and the client of HTTP could not send them. */
static void values_that_cannot_be_headers_are_not_sent(void **state)
{
    struct header_bench b;
    struct buf text;

    (void)state;
    open_header_bench(&b);
    compose_post(&b, &agreed, "{'id':1,'method':'a`r`nX: y'}", "2026`r`n");
    for (size_t i = 0; i < b.fields.count; i++)
        assert_true(headers_is_value(b.fields.at[i].value));
    headers_clear(&b.fields);
    buf_init(&text, 1 << 20);
    buf_add(&text, STR("{'id':1,'method':'tools/call','params':{'name':'"));
    for (size_t i = 0; i < 9000; i++)
        buf_add_ch(&text, 'x');
    buf_add(&text, STR("'}}"));
    compose_post(&b, &agreed, buf_z(&text), "2026-07-28");
    assert_lines(&b, TYPES "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\n");
    buf_release(&text);
    close_header_bench(&b);
}

static void a_message_may_name_its_version(void **state)
{
    struct header_bench b;
    struct mcp_message m;

    (void)state;
    open_header_bench(&b);
    m = mcp_classify(terse_scan(&b.scanned, "{'id':1,'method':'x','params':{'_meta':{"
                                            "'io.modelcontextprotocol/protocolVersion':'v'}}}"),
                     &b.arena);
    assert_str(client_session_message_version(&m, &b.arena), STR("v"));
    terse_scanned_release(&b.scanned);
    m = mcp_classify(terse_scan(&b.scanned, "{'id':1,'method':'x'}"), &b.arena);
    assert_int_equal(client_session_message_version(&m, &b.arena).len, 0);
    terse_scanned_release(&b.scanned);
    close_header_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_id_and_version_are_sent_with_every_request),
        cmocka_unit_test(a_notification_has_the_version_of_the_requests),
        cmocka_unit_test(messages_are_posted_to_the_endpoint_of_http_sse),
        cmocka_unit_test(the_negotiated_values_are_returned),
        cmocka_unit_test(stateless_requests_have_headers_from_their_message),
        cmocka_unit_test(values_that_cannot_be_headers_are_not_sent),
        cmocka_unit_test(a_message_may_name_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
