#include "engine/http-heading.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

struct bench {
    struct fields fields;
    struct http_params params;
    struct terse_scanned said;
    struct arena arena;
    struct buf text;
};

static void open_bench(struct bench *b)
{
    *b = (struct bench){ 0 };
    http_params_init(&b->params);
    buf_init(&b->text, 1 << 20);
}

static void close_bench(struct bench *b)
{
    fields_release(&b->fields);
    http_params_release(&b->params);
    arena_release(&b->arena);
    buf_release(&b->text);
}

/* What was added, but for what every request has; from now on there is nothing. */
static void assert_lines(struct bench *b, const char *want)
{
    buf_clear(&b->text);
    for (size_t i = 0; i < b->fields.count; i++) {
        const struct field *f = &b->fields.at[i];

        if (!fields_same(f->name, STR("Accept-Encoding")) &&
            !fields_same(f->name, STR("User-Agent")))
            buf_printf(&b->text, "%.*s: %.*s\n", STR_ARG(f->name), STR_ARG(f->value));
    }
    assert_int_equal(fields_count(&b->fields, STR("Accept-Encoding")), 1);
    assert_int_equal(fields_count(&b->fields, STR("User-Agent")), 1);
    assert_str(buf_str(&b->text), str_z(want));
    fields_clear(&b->fields);
}

static void post(struct bench *b, const struct http_terms *terms, const char *text,
                 const char *revision)
{
    struct mcp_message m = mcp_classify(terse_scan(&b->said, text), &b->arena);
    struct fields kept = { 0 };

    http_heading_post(&kept, terms, &b->params, &m, str_z(revision), &b->arena);
    for (size_t i = 0; i < kept.count; i++)
        fields_add(&b->fields, kept.at[i].name, arena_str(&b->arena, kept.at[i].value));
    fields_release(&kept);
    terse_scanned_release(&b->said);
}

#define TYPES "Accept: application/json, text/event-stream\nContent-Type: application/json\n"

static const struct http_terms nothing = { { NULL, 0 }, { NULL, 0 } };
static const struct http_terms agreed = { STR_INIT("s-1"), STR_INIT("2025-06-18") };
static const struct http_terms old = { STR_INIT("s-1"), STR_INIT("2025-03-26") };

static void what_was_agreed_upon_is_told(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    post(&b, &nothing, "{'id':1,'method':'ping'}", "");
    assert_lines(&b, TYPES);
    post(&b, &agreed, "{'id':1,'method':'ping'}", "");
    assert_lines(&b, TYPES "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-06-18\n");
    post(&b, &old, "{'id':1,'method':'ping'}", "");
    assert_lines(&b, TYPES "Mcp-Session-Id: s-1\n");
    http_heading_post(&b.fields, &agreed, &b.params, NULL, STR("2026-07-28"), &b.arena);
    assert_lines(&b, TYPES "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-06-18\n");
    http_heading_get(&b.fields, &agreed, STR("7"));
    assert_lines(&b, "Accept: text/event-stream\nMcp-Session-Id: s-1\n"
                     "MCP-Protocol-Version: 2025-06-18\nLast-Event-ID: 7\n");
    http_heading_get(&b.fields, &nothing, STR_NONE);
    assert_lines(&b, "Accept: text/event-stream\n");
    http_heading_delete(&b.fields, &agreed);
    assert_lines(&b, "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-06-18\n");
    close_bench(&b);
}

static void without_sessions_the_message_is_repeated(void **state)
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
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[512], *method = strstr(cases[i].message, "method':'") + 9;

        snprintf(want, sizeof want,
                 TYPES "MCP-Protocol-Version: 2026-07-28\nMcp-Method: %.*s\n%s",
                 (int)(strchr(method, '\'') - method), method, cases[i].name);
        post(&b, &agreed, cases[i].message, "2026-07-28");
        assert_lines(&b, want);
    }
    close_bench(&b);
}

/* No server would take them, and the client of HTTP could not send them. */
static void what_could_not_stand_in_a_line_does_not(void **state)
{
    struct bench b;
    struct buf text;

    (void)state;
    open_bench(&b);
    post(&b, &agreed, "{'id':1,'method':'a`r`nX: y'}", "2026`r`n");
    for (size_t i = 0; i < b.fields.count; i++)
        assert_true(fields_is_value(b.fields.at[i].value));
    fields_clear(&b.fields);
    buf_init(&text, 1 << 20);
    buf_add(&text, STR("{'id':1,'method':'tools/call','params':{'name':'"));
    for (size_t i = 0; i < 9000; i++)
        buf_add_ch(&text, 'x');
    buf_add(&text, STR("'}}"));
    post(&b, &agreed, buf_z(&text), "2026-07-28");
    assert_lines(&b, TYPES "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\n");
    buf_release(&text);
    close_bench(&b);
}

static void a_message_may_name_its_revision(void **state)
{
    struct bench b;
    struct mcp_message m;

    (void)state;
    open_bench(&b);
    m = mcp_classify(terse_scan(&b.said, "{'id':1,'method':'x','params':{'_meta':{"
                                         "'io.modelcontextprotocol/protocolVersion':'v'}}}"),
                     &b.arena);
    assert_str(http_heading_revision(&m, &b.arena), STR("v"));
    terse_scanned_release(&b.said);
    m = mcp_classify(terse_scan(&b.said, "{'id':1,'method':'x'}"), &b.arena);
    assert_int_equal(http_heading_revision(&m, &b.arena).len, 0);
    terse_scanned_release(&b.said);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_agreed_upon_is_told),
        cmocka_unit_test(without_sessions_the_message_is_repeated),
        cmocka_unit_test(what_could_not_stand_in_a_line_does_not),
        cmocka_unit_test(a_message_may_name_its_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
