#include "runtime/http-sse-hint.h"

#include "test.h"

struct rig {
    struct loop *loop;
    struct log log;
    struct buf output;
    struct http_sse_hint old;
    struct request_head post, get, later;
};

static void put(void *to, struct str line)
{
    struct rig *g = to;

    buf_add(&g->output, line);
    loop_stop(g->loop);
}

static void open_rig(struct rig *g, struct str path)
{
    *g = (struct rig){ .loop = loop_new(),
                       .log = { .level = LOG_INFO, .write = put, .arg = g } };
    g->post.method = g->later.method = STR("POST");
    g->get.method = STR("GET");
    headers_add(&g->later.headers, STR("Mcp-Session-Id"), STR("a"));
    buf_init(&g->output, 1 << 12);
    http_sse_hint_init(&g->old, g->loop, &g->log, path);
}

static void assert_reported(struct rig *g, size_t times)
{
    struct str output = buf_str(&g->output);
    size_t lines = 0;

    for (; output.len; lines++)
        assert_true(
            str_starts(str_cut(&output, '\n'),
                       STR("mcpreel: warning: the server rejects POST at this path: ")));
    assert_int_equal(lines, times);
}

static void close_rig(struct rig *g, size_t times)
{
    http_sse_hint_finish(&g->old);
    assert_reported(g, times);
    headers_release(&g->later.headers);
    buf_release(&g->output);
    loop_free(g->loop);
}

static void a_server_that_rejects_posts_is_reported_once(void **state)
{
    struct rig g;

    (void)state;
    open_rig(&g, STR("/mcp"));
    http_sse_hint_note_response(&g.old, &g.post, 405);
    assert_reported(&g, 0);
    loop_run(g.loop); /* until the line comes */
    assert_reported(&g, 1);
    http_sse_hint_note_response(&g.old, &g.post, 405);
    close_rig(&g, 1);
}

static void the_hint_is_given_at_the_end_if_still_pending(void **state)
{
    struct rig g;

    (void)state;
    open_rig(&g, STR("/mcp"));
    http_sse_hint_note_response(&g.old, &g.post, 405);
    close_rig(&g, 1);
}

static void a_client_that_uses_http_sse_gets_no_hint(void **state)
{
    struct rig g;

    (void)state;
    open_rig(&g, STR("/mcp"));
    http_sse_hint_note_response(&g.old, &g.post, 405);
    http_sse_hint_note_stream(&g.old);
    close_rig(&g, 0);
    open_rig(&g, STR("/mcp"));
    http_sse_hint_note_response(&g.old, &g.post, 405);
    http_sse_hint_note_stream(&g.old);
    http_sse_hint_note_response(&g.old, &g.post, 405); /* the next one may not */
    close_rig(&g, 1);
}

static void other_rejections_give_no_hint(void **state)
{
    static const struct {
        const char *path;
        unsigned status;
        bool reported;
    } cases[] = {
        { "/mcp", 400, false }, { "/mcp", 404, false },  { "/mcp", 401, false },
        { "/mcp", 200, false }, { "/a/sse", 400, true }, { "/sse", 404, true },
        { "/sse", 200, false }, { "/sse", 403, false },  { "/asse", 404, false },
    };
    struct rig g;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_rig(&g, str_z(cases[i].path));
        http_sse_hint_note_response(&g.old, &g.get, cases[i].status);
        http_sse_hint_note_response(&g.old, &g.later, cases[i].status);
        assert_false(g.old.post_rejected);
        http_sse_hint_note_response(&g.old, &g.post, cases[i].status);
        close_rig(&g, cases[i].reported);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_rejects_posts_is_reported_once),
        cmocka_unit_test(the_hint_is_given_at_the_end_if_still_pending),
        cmocka_unit_test(a_client_that_uses_http_sse_gets_no_hint),
        cmocka_unit_test(other_rejections_give_no_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
