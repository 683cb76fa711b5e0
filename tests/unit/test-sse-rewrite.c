#include "record/sse-rewrite.h"

#include "split-input.h"
#include "test.h"

static const char *server_url = "http://127.0.0.1:3001/sse";

/* Returns the output for a client that uses us as 'here:5'; "!" and the reason, where it
 * ends. */
static void run(struct split_input *c, struct buf *seen)
{
    const struct url_rewrite_client client = { STR("here:5"), STR("/sse") };
    struct err e = ERR_NONE;
    struct sse_rewrite *w;
    struct str piece;
    struct url url;
    bool fine = true;

    assert_true(url_parse(&url, str_z(server_url), &e));
    w = sse_rewrite_new(&url, &client);
    while (fine && split_input_next(c, &piece)) {
        fine = sse_rewrite_feed(w, &piece, false, &e);
        buf_add(seen, piece);
    }
    piece = STR_NONE;
    if (fine && (fine = sse_rewrite_feed(w, &piece, true, &e)))
        buf_add(seen, piece);
    while (!fine && split_input_next(c, &piece))
        continue;
    if (!fine)
        buf_printf(seen, "!%s", e.msg);
    sse_rewrite_free(w);
}

static void the_endpoint_event_names_our_url(void **state)
{
    (void)state;
    assert_splits(STR("event: endpoint\ndata: http://127.0.0.1:3001/m?s=1\n\ndata: {}\n\n"),
                  run, STR("event: endpoint\ndata: /m?s=1\n\ndata: {}\n\n"));
    assert_splits(STR(": x\r\nevent: endpoint\r\ndata: /m?s=1\r\n\r\ndata: {}\r\n\r\n"), run,
                  STR(": x\r\nevent: endpoint\r\ndata: /m?s=1\r\n\r\ndata: {}\r\n\r\n"));
}

static void every_endpoint_event_names_our_url(void **state)
{
    (void)state;
    assert_splits(
        STR("event: ping\ndata: 1\n\nevent: endpoint\ndata: http://127.0.0.1:3001/m\n\n"
            "id: 1\ndata:\n\nevent: endpoint\ndata: http://127.0.0.1:3001/n\n\n"),
        run,
        STR("event: ping\ndata: 1\n\nevent: endpoint\ndata: /m\n\n"
            "id: 1\ndata:\n\nevent: endpoint\ndata: /n\n\n"));
}

static void other_streams_are_forwarded_unchanged(void **state)
{
    (void)state;
    assert_splits(STR("event: message\ndata: http://127.0.0.1:3001/m\n\n"), run,
                  STR("event: message\ndata: http://127.0.0.1:3001/m\n\n"));
    assert_splits(STR("event: endpoint\ndata: http://other/"), run,
                  STR("event: endpoint\ndata: http://other/"));
}

static void an_endpoint_on_another_origin_is_rejected(void **state)
{
    (void)state;
    assert_splits(
        STR("event: endpoint\ndata: http://other/m?s=1\n\ndata: {}\n\n"), run,
        STR("!the 'endpoint' event points to another origin ('http://other:80'); rejected"));
    assert_splits(STR("event: endpoint\ndata: /m\ndata: /n\n\n"), run,
                  STR("!invalid 'endpoint' event: the URL contains an invalid character"));
}

static void a_later_endpoint_on_another_origin_is_rejected(void **state)
{
    static const char *const before[] = { "event: ping\ndata: 1\n\n", "id: 1\ndata:\n\n",
                                          "event: endpoint\ndata: /m\n\n" };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        assert_splits(
            arena_printf(&a, "%sevent: endpoint\ndata: http://other/m\n\n", before[i]), run,
            arena_printf(&a,
                         "%s!the 'endpoint' event points to another origin "
                         "('http://other:80'); rejected",
                         before[i]));
    assert_splits(STR("event: ping\nevent: endpoint\ndata: /m\n\n"), run,
                  STR("event: ping\nevent: endpoint\ndata: /m\n!malformed or oversized "
                      "'endpoint' event"));
    arena_release(&a);
}

static bool may_be(const char *method, const char *name)
{
    struct headers f = { .at = NULL };
    bool so;

    headers_add(&f, str_z(name), STR("x"));
    so = sse_rewrite_may_apply(str_z(method), &f);
    headers_release(&f);
    return so;
}

static bool can(unsigned status, const char *type, const char *name)
{
    struct headers f = { .at = NULL };
    bool so;

    headers_add(&f, STR("Content-Type"), str_z(type));
    headers_add(&f, str_z(name), STR("10"));
    so = sse_rewrite_is_possible(status, &f);
    headers_release(&f);
    return so;
}

static void only_streams_of_get_are_parsed(void **state)
{
    (void)state;
    assert_true(may_be("GET", "Accept"));
    assert_false(may_be("POST", "Accept"));
    assert_false(may_be("GET", "Mcp-Session-Id"));
    assert_true(may_be("GET", "Last-Event-ID"));
    assert_true(can(200, "text/event-stream; charset=utf-8", "Date"));
    assert_false(can(404, "text/event-stream", "Date"));
    assert_false(can(200, "application/json", "Date"));
    assert_false(can(200, "text/event-stream", "Content-Encoding"));
    assert_false(can(200, "text/event-stream", "Content-Length"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_endpoint_event_names_our_url),
        cmocka_unit_test(every_endpoint_event_names_our_url),
        cmocka_unit_test(other_streams_are_forwarded_unchanged),
        cmocka_unit_test(an_endpoint_on_another_origin_is_rejected),
        cmocka_unit_test(a_later_endpoint_on_another_origin_is_rejected),
        cmocka_unit_test(only_streams_of_get_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
