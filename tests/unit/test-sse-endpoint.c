#include "wire/sse-endpoint.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cuts.h"
#include "test.h"

/* All that goes on, with other data; what was said stands before it. */
static void run(struct cuts *c, struct buf *seen)
{
    enum sse_endpoint_next next = SSE_ENDPOINT_MORE;
    struct sse_endpoint f;
    struct str piece;
    struct buf out;

    sse_endpoint_init(&f);
    buf_init(&out, 1 << 20);
    while (cuts_next(c, &piece)) {
        if (next == SSE_ENDPOINT_MORE)
            next = sse_endpoint_feed(&f, piece, &out);
        else
            buf_add(&out, piece);
        if (next == SSE_ENDPOINT_FOUND && f.held.len) {
            buf_printf(seen, "(%.*s)", STR_ARG(sse_endpoint_said(&f)));
            sse_endpoint_replace(&f, STR("/x"), &out);
        }
    }
    if (next == SSE_ENDPOINT_MORE)
        sse_endpoint_end(&f, &out);
    buf_add(seen, buf_str(&out));
    buf_release(&out);
    sse_endpoint_release(&f);
}

static void only_what_the_event_says_is_changed(void **state)
{
    (void)state;
    assert_cuts(STR("event: endpoint\ndata: /m?s=1\n\ndata: /m?s=1\n\n"), run,
                STR("(/m?s=1)event: endpoint\ndata: /x\n\ndata: /m?s=1\n\n"));
    assert_cuts(
        STR("event: endpoint\r\ndata: /m\r\n\r\nevent: endpoint\r\ndata: /m\r\n\r\n"), run,
        STR("(/m)event: endpoint\r\ndata: /x\r\n\r\nevent: endpoint\r\ndata: /m\r\n\r\n"));
    assert_cuts(STR("event:endpoint\rdata:/m\r\rx"), run,
                STR("(/m)event:endpoint\rdata:/x\r\rx"));
    assert_cuts(STR("data: /m\nid: 1\nretry: 5\nother\nevent: endpoint\n: c\n\n"), run,
                STR("(/m)data: /x\nid: 1\nretry: 5\nother\nevent: endpoint\n: c\n\n"));
    assert_cuts(STR("\xef\xbb\xbf"
                    "event: endpoint\ndata:  /m \n\n"),
                run,
                STR("( /m )\xef\xbb\xbf"
                    "event: endpoint\ndata: /x\n\n"));
    assert_cuts(STR("event: endpoint\ndata:\n\n"), run, STR("()event: endpoint\ndata:/x\n\n"));
    assert_cuts(STR("event: endpoint\ndata\n\n"), run, STR("()event: endpoint\ndata/x\n\n"));
}

static void what_comes_before_the_first_event_is_none(void **state)
{
    (void)state;
    assert_cuts(STR(": hello\n\n\nretry: 3000\n\nevent: endpoint\n\n: x\nevent: endpoint\n"
                    "data: /m\n\n"),
                run,
                STR("(/m): hello\n\n\nretry: 3000\n\nevent: endpoint\n\n: x\nevent: endpoint\n"
                    "data: /x\n\n"));
}

static void a_stream_that_begins_otherwise_passes(void **state)
{
    static const char *const streams[] = {
        "",
        "\xef\xbb",
        "data: {}\n\nevent: endpoint\ndata: /m\n\n",
        "event: message\ndata: {}\n\nevent: endpoint\ndata: /m\n\n",
        "event: endpoints\ndata: /m\n\n",
        "event: Endpoint\ndata: /m\n\n",
        "Event: endpoint\ndata: /m\n\n",
        "event: endpoint\nevent: message\ndata: /m\n\n",
        "event: endpoint\nevent\ndata: /m\n\n",
        "event: endpoint\ndata: /m\n",
        "event: endpoint\ndata: /m",
        "event: endpoint",
        ": only a comment",
        "\n\n\r\n\r\r",
    };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        assert_cuts(str_z(streams[i]), run, str_z(streams[i]));
}

static void several_lines_are_told_with_what_stands_between_them(void **state)
{
    (void)state;
    assert_cuts(STR("event: endpoint\ndata: /a\nid: 1\ndata: /b\n\n"), run,
                STR("(/a\nid: 1\ndata: /b)event: endpoint\ndata: /x\n\n"));
}

static void comments_are_not_held_back(void **state)
{
    struct sse_endpoint f;
    struct buf out;

    (void)state;
    sse_endpoint_init(&f);
    buf_init(&out, 1 << 10);
    assert_int_equal(sse_endpoint_feed(&f, STR(": hi\n"), &out), SSE_ENDPOINT_MORE);
    assert_str(buf_str(&out), STR(": hi\n"));
    assert_int_equal(sse_endpoint_feed(&f, STR("event: "), &out), SSE_ENDPOINT_MORE);
    assert_str(buf_str(&out), STR(": hi\n"));
    /* Of another event everything goes on once its type is known. */
    assert_int_equal(sse_endpoint_feed(&f, STR("message\ndata: {"), &out), SSE_ENDPOINT_NONE);
    assert_str(buf_str(&out), STR(": hi\nevent: message\ndata: {"));
    buf_release(&out);
    sse_endpoint_release(&f);
}

static void an_event_that_is_too_long_is_none(void **state)
{
    char *line = mem_alloc(SSE_ENDPOINT_MAX + 1);
    struct sse_endpoint f;
    struct buf out;

    (void)state;
    memset(line, 'x', SSE_ENDPOINT_MAX + 1);
    sse_endpoint_init(&f);
    buf_init(&out, 1 << 20);
    assert_int_equal(sse_endpoint_feed(&f, STR("data: "), &out), SSE_ENDPOINT_MORE);
    assert_int_equal(sse_endpoint_feed(&f, str_n(line, 1000), &out), SSE_ENDPOINT_MORE);
    assert_int_equal(out.len, 0);
    assert_int_equal(sse_endpoint_feed(&f, str_n(line, SSE_ENDPOINT_MAX), &out),
                     SSE_ENDPOINT_NONE);
    assert_int_equal(out.len, 6 + 1000 + SSE_ENDPOINT_MAX);
    buf_release(&out);
    sse_endpoint_release(&f);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_the_event_says_is_changed),
        cmocka_unit_test(what_comes_before_the_first_event_is_none),
        cmocka_unit_test(a_stream_that_begins_otherwise_passes),
        cmocka_unit_test(several_lines_are_told_with_what_stands_between_them),
        cmocka_unit_test(comments_are_not_held_back),
        cmocka_unit_test(an_event_that_is_too_long_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
