#include "engine/http-peer.h"

#include "terse.h"
#include "test.h"

struct bench {
    struct http_peer peer;
    struct arena arena;
    struct buf text;
};

static void open_bench(struct bench *b, const char *address)
{
    struct err e = ERR_NONE;
    struct url url;

    *b = (struct bench){ 0 };
    assert_true(url_parse(&url, str_z(address), &e));
    http_peer_init(&b->peer, &url);
    buf_init(&b->text, 1 << 20);
}

static void close_bench(struct bench *b)
{
    http_peer_release(&b->peer);
    arena_release(&b->arena);
    buf_release(&b->text);
}

/* Method, target, and of the header lines those of MCP; gives the fields back. */
static void assert_ask(struct bench *b, struct step_ask *ask, const char *want)
{
    buf_clear(&b->text);
    buf_printf(&b->text, "%.*s %.*s", STR_ARG(ask->method), STR_ARG(ask->target));
    for (size_t i = 0; i < ask->fields.count; i++) {
        const struct field *f = &ask->fields.at[i];

        if (str_starts(f->name, STR("Mcp-")) || str_starts(f->name, STR("MCP-")) ||
            str_starts(f->name, STR("Last-")))
            buf_printf(&b->text, " %.*s:%.*s", STR_ARG(f->name), STR_ARG(f->value));
    }
    fields_release(&ask->fields);
    assert_str(buf_str(&b->text), str_z(want));
}

static void assert_post(struct bench *b, const char *message, bool modern, const char *want)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, message), &b->arena);
    struct step_ask ask;

    assert_int_equal(http_peer_post(&b->peer, &m, STR("text"), &b->arena, &ask), modern);
    assert_str(ask.body, STR("text"));
    assert_ask(b, &ask, want);
    terse_scanned_release(&s);
}

#define NAMED "'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}"

static void what_was_agreed_upon_goes_with_everything(void **state)
{
    struct bench b;
    struct step_ask ask;

    (void)state;
    open_bench(&b, "http://h/mcp?key=1");
    assert_post(&b, "{'id':1,'method':'initialize'}", false, "POST /mcp?key=1");
    http_peer_agree(&b.peer.session, STR("s-1"));
    http_peer_agree(&b.peer.version, STR("2025-11-25"));
    assert_post(&b, "{'id':2,'method':'ping'}", false,
                "POST /mcp?key=1 Mcp-Session-Id:s-1 MCP-Protocol-Version:2025-11-25");
    http_peer_get(&b.peer, STR("e-1"), &ask);
    assert_ask(&b, &ask,
               "GET /mcp?key=1 Mcp-Session-Id:s-1 MCP-Protocol-Version:2025-11-25 "
               "Last-Event-ID:e-1");
    http_peer_delete(&b.peer, &ask);
    assert_ask(&b, &ask,
               "DELETE /mcp?key=1 Mcp-Session-Id:s-1 MCP-Protocol-Version:2025-11-25");
    http_peer_begin(&b.peer);
    assert_post(&b, "{'id':2,'method':'ping'}", false, "POST /mcp?key=1");
    http_peer_agree(&b.peer.session, STR("a\nb"));
    assert_int_equal(b.peer.session.len, 0);
    close_bench(&b);
}

static void a_notification_is_of_the_revision_of_the_requests(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "http://h/mcp");
    assert_post(&b, "{'method':'n'}", false, "POST /mcp");
    assert_post(&b, "{'id':1,'method':'m'," NAMED "}", true,
                "POST /mcp MCP-Protocol-Version:2026-07-28 Mcp-Method:m");
    assert_post(&b, "{'method':'n'}", true,
                "POST /mcp MCP-Protocol-Version:2026-07-28 Mcp-Method:n");
    http_peer_agree(&b.peer.version, STR("2025-11-25"));
    assert_post(&b, "{'method':'n'}", false, "POST /mcp MCP-Protocol-Version:2025-11-25");
    close_bench(&b);
}

static void messages_go_to_the_endpoint_if_there_is_one(void **state)
{
    struct bench b;
    struct step_ask ask;

    (void)state;
    open_bench(&b, "http://h/sse");
    buf_add(&b.peer.endpoint, STR("/m?s=1"));
    assert_post(&b, "{'id':1,'method':'ping'}", false, "POST /m?s=1");
    http_peer_get(&b.peer, STR_NONE, &ask);
    assert_ask(&b, &ask, "GET /sse");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_agreed_upon_goes_with_everything),
        cmocka_unit_test(a_notification_is_of_the_revision_of_the_requests),
        cmocka_unit_test(messages_go_to_the_endpoint_if_there_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
