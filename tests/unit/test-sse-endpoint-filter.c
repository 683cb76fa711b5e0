#include "wire/sse-endpoint-filter.h"

#include "split-input.h"
#include "test.h"

/* The forwarded bytes, with other data; the events are logged before each. Nothing follows a
 * "!". */
static void run(struct split_input *c, struct buf *seen)
{
    enum sse_endpoint_filter_next next = SSE_ENDPOINT_MORE;
    struct sse_endpoint_filter f;
    struct str piece;

    sse_endpoint_filter_init(&f);
    while (split_input_next(c, &piece)) {
        if (next == SSE_ENDPOINT_TOO_LATE)
            continue;
        sse_endpoint_filter_feed(&f, piece);
        while ((next = sse_endpoint_filter_next(&f, seen)) == SSE_ENDPOINT_FOUND) {
            buf_printf(seen, "(%.*s)", STR_ARG(sse_endpoint_filter_data(&f)));
            sse_endpoint_filter_replace(&f, STR("/x"), seen);
        }
    }
    if (next == SSE_ENDPOINT_TOO_LATE)
        buf_add_ch(seen, '!');
    else
        sse_endpoint_filter_end(&f, seen);
    sse_endpoint_filter_release(&f);
}

static void only_the_data_is_replaced(void **state)
{
    (void)state;
    assert_splits(STR("event: endpoint\ndata: /m?s=1\n\ndata: /m?s=1\n\n"), run,
                  STR("(/m?s=1)event: endpoint\ndata: /x\n\ndata: /m?s=1\n\n"));
    assert_splits(STR("event:endpoint\rdata:/m\r\rx"), run,
                  STR("(/m)event:endpoint\rdata:/x\r\rx"));
    assert_splits(STR("data: /m\nid: 1\nretry: 5\nother\nevent: endpoint\n: c\n\n"), run,
                  STR("(/m)data: /x\nid: 1\nretry: 5\nother\nevent: endpoint\n: c\n\n"));
    assert_splits(STR("\xef\xbb\xbf"
                      "event: endpoint\ndata:  /m \n\n"),
                  run,
                  STR("\xef\xbb\xbf"
                      "( /m )event: endpoint\ndata: /x\n\n"));
    assert_splits(STR("event: endpoint\ndata:\n\n"), run,
                  STR("()event: endpoint\ndata:/x\n\n"));
    assert_splits(STR("event: endpoint\ndata\n\n"), run, STR("()event: endpoint\ndata/x\n\n"));
}

static void an_endpoint_event_is_found_at_any_position(void **state)
{
    (void)state;
    assert_splits(
        STR(": hello\n\n\nretry: 3000\n\nevent: endpoint\n\n: x\nevent: endpoint\n"
            "data: /m\n\n"),
        run,
        STR(": hello\n\n\nretry: 3000\n\nevent: endpoint\n\n: x\n(/m)event: endpoint\n"
            "data: /x\n\n"));
    assert_splits(STR("event: ping\ndata: 1\n\nevent: endpoint\ndata: /m\n\n"), run,
                  STR("event: ping\ndata: 1\n\n(/m)event: endpoint\ndata: /x\n\n"));
    assert_splits(STR("id: 1\ndata:\n\nevent: endpoint\ndata: /m\n\n"), run,
                  STR("id: 1\ndata:\n\n(/m)event: endpoint\ndata: /x\n\n"));
    assert_splits(STR("data: {}\r\r\ndata: [1]\r\n\revent: endpoint\rdata: /m\r\n\r\n"), run,
                  STR("data: {}\r\r\ndata: [1]\r\n\r(/m)event: endpoint\rdata: /x\r\n\r\n"));
    assert_splits(
        STR("event: endpoint\r\ndata: /m\r\n\r\n: c\r\nevent: endpoint\r\ndata: /n\r\n\r\n"),
        run,
        STR("(/m)event: endpoint\r\ndata: /x\r\n\r\n: c\r\n"
            "(/n)event: endpoint\r\ndata: /x\r\n\r\n"));
}

static void all_other_bytes_are_forwarded(void **state)
{
    static const char *const streams[] = {
        "",
        "\xef\xbb",
        "\xef\xbb\xbf",
        "\n\357\273\277event: endpoint\ndata: /m\n\n", /* not at the beginning: of a name */
        "data: {}\n\nevent: message\ndata: {\ndata: }\nid: 5\n\n: c\n\ndata\n\nid\n\n",
        "event: endpoints\ndata: /m\n\n",
        "event: Endpoint\ndata: /m\n\n",
        "Event: endpoint\ndata: /m\n\n",
        " event: endpoint\ndata: /m\n\n",
        "event:  endpoint\ndata: /m\n\n",
        "event: endpoint\nevent: message\ndata: /m\n\n",
        "event: endpoint\nevent: endpoint-of-a-kind\ndata: /m\n\n",
        "event: endpoint\nevent\ndata: /m\n\n",
        "event: endpoint\ndata: {}\nevent: message\n\n",
        "event: ping\nevent: endpoint\n\n",
        "event: ping\nevent: endpoints\ndata: /m\n\n",
        "event: ping\nevent: endpoint\ndatas: 1\n\n",
        "event: endpoint\ndata: /m\n",
        "event: endpoint\ndata: /m",
        "event: endpoint",
        ": only a comment",
        "\n\n\r\n\r\r",
    };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        assert_splits(str_z(streams[i]), run, str_z(streams[i]));
}

static void a_forwarded_endpoint_event_is_never_completed(void **state)
{
    (void)state;
    assert_splits(STR("event: ping\nevent: endpoint\ndata: /m\n\ndata: 1\n\n"), run,
                  STR("event: ping\nevent: endpoint\ndata: /m\n!"));
    assert_splits(STR("data: /m\nevent: ping\nid\nevent:endpoint\r\n\r\n"), run,
                  STR("data: /m\nevent: ping\nid\nevent:endpoint\r\n!"));
    assert_splits(STR("data: {\r: c\revent: endpoint\r\rdata: 1\r\r"), run,
                  STR("data: {\r: c\revent: endpoint\r!"));
    assert_splits(STR("event: endpoint\ndata: /m\ndata:[\n\n"), run,
                  STR("event: endpoint\ndata: /m\ndata:[\n!"));
}

static void data_of_several_lines_includes_the_bytes_between(void **state)
{
    (void)state;
    assert_splits(STR("event: endpoint\ndata: /a\nid: 1\ndata: /b\n\n"), run,
                  STR("(/a\nid: 1\ndata: /b)event: endpoint\ndata: /x\n\n"));
}

struct bench {
    struct sse_endpoint_filter f;
    struct buf out;
};

static void open_bench(struct bench *b)
{
    sse_endpoint_filter_init(&b->f);
    buf_init(&b->out, 1 << 20);
}

static void close_bench(struct bench *b)
{
    sse_endpoint_filter_release(&b->f);
    buf_release(&b->out);
}

/* Bytes that are forwarded at once. */
#define assert_passes(b, bytes, want)                                                          \
    do {                                                                                       \
        buf_clear(&(b)->out);                                                                  \
        sse_endpoint_filter_feed(&(b)->f, bytes);                                              \
        assert_int_equal(sse_endpoint_filter_next(&(b)->f, &(b)->out), SSE_ENDPOINT_MORE);     \
        assert_str(buf_str(&(b)->out), want);                                                  \
    } while (0)

static void other_bytes_are_not_delayed(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    for (int i = 0; i < 3; i++) {
        assert_passes(&b, STR(": hi"), STR(": hi"));
        assert_passes(&b, STR("\n"), STR("\n"));
        assert_passes(&b, STR("id: 5\n"), STR_NONE);
        assert_passes(&b, STR("event: "), STR_NONE);
        /* All bytes of another event are forwarded once its type is known, */
        assert_passes(&b, STR("message\ndata: x"), STR("id: 5\nevent: message\ndata: x"));
        assert_passes(&b, STR("y\neve"), STR("y\n"));
        assert_passes(&b, STR("nts are other fields"), STR("events are other fields"));
        assert_passes(&b, STR("\r\n\r"), STR("\r\n\r"));
        assert_passes(&b, STR("\n"), STR("\n"));
        /* or is a message without one, */
        assert_passes(&b, STR("id: 6\ndata: "), STR_NONE);
        assert_passes(&b, STR("{"), STR("id: 6\ndata: {"));
        assert_passes(&b, STR("}\r\r"), STR("}\r\r"));
        /* and any other with its end. */
        assert_passes(&b, STR("data: /m\n"), STR_NONE);
        assert_passes(&b, STR("\n"), STR("data: /m\n\n"));
        assert_null(b.f.held.at); /* and nothing is kept of it */
    }
    close_bench(&b);
}

/* "data: xxx", an LF or CR LF, and what follows, such that the first `len` bytes are the first
 * line. */
static void make_long(struct buf *to, size_t len, const char *end, const char *rest)
{
    size_t x = len - strlen("data: ") - strlen(end);

    buf_init(to, 1 << 20);
    buf_add(to, STR("data: "));
    while (x--)
        buf_add_ch(to, 'x');
    buf_add(to, str_z(end));
    buf_add(to, str_z(rest));
}

/* The way of the end, which is the same in whichever pieces it comes. */
static char end_of_long(size_t len, const char *end, const char *rest)
{
    struct buf text, whole, bytes;
    char way;

    make_long(&text, len, end, rest);
    buf_init(&whole, 1 << 20);
    buf_init(&bytes, 1 << 20);
    split_input_once(buf_str(&text), text.len, 1, 1, run, &whole);
    split_input_once(buf_str(&text), SSE_ENDPOINT_HELD_MAX - 20, 1, 1, run, &bytes);
    assert_str(buf_str(&bytes), buf_str(&whole));
    way = whole.at[0] == '(' ? '(' : whole.at[whole.len - 1];
    buf_release(&text);
    buf_release(&whole);
    buf_release(&bytes);
    return way;
}

static void a_too_long_endpoint_event_is_reported_late(void **state)
{
    static const char rest[] = "event: endpoint\n\n", ends[] = "event: endpoint\r\n\r\n";
    size_t room = SSE_ENDPOINT_HELD_MAX - strlen("event: endpoint\n");

    (void)state;
    for (size_t more = 0; more < 40; more++) {
        assert_int_equal(end_of_long(room + more, "\n", rest), more == 0 ? '(' : '!');
        assert_int_equal(end_of_long(room + more, "\r\n", rest), more == 0 ? '(' : '!');
        assert_int_equal(end_of_long(room - 1 + more, "\n", ends), more == 0 ? '(' : '!');
        assert_int_equal(end_of_long(room + more, "\n", "event: message\n\n"), '\n');
    }
}

static void held_bytes_are_limited(void **state)
{
    struct buf text;
    struct bench b;

    (void)state;
    open_bench(&b);
    make_long(&text, SSE_ENDPOINT_HELD_MAX, "", "");
    assert_passes(&b, buf_str(&text), STR_NONE);
    buf_add_ch(&text, 'y');
    assert_passes(&b, STR("y"), buf_str(&text));
    assert_passes(&b, STR("z"), STR("z"));
    assert_passes(&b, STR("\n\ndata: x"), STR("\n\n"));
    /* The next event has its own limit; so have lines that are no event. */
    assert_passes(&b, STR("\n\n"), STR("data: x\n\n"));
    buf_clear(&text);
    for (size_t i = 0; i <= SSE_ENDPOINT_HELD_MAX; i++)
        buf_add_ch(&text, ':');
    assert_passes(&b, buf_str(&text), buf_str(&text));
    assert_passes(&b, STR("\ndata: x\n"), STR("\n"));
    sse_endpoint_filter_feed(&b.f, buf_str(&text)); /* a comment in it counts */
    assert_int_equal(sse_endpoint_filter_next(&b.f, &b.out), SSE_ENDPOINT_MORE);
    assert_null(b.f.held.at);
    sse_endpoint_filter_feed(&b.f, STR("\n\nevent: endpoint\ndata: /m\n\n"));
    assert_int_equal(sse_endpoint_filter_next(&b.f, &b.out), SSE_ENDPOINT_FOUND);
    buf_release(&text);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_data_is_replaced),
        cmocka_unit_test(an_endpoint_event_is_found_at_any_position),
        cmocka_unit_test(all_other_bytes_are_forwarded),
        cmocka_unit_test(a_forwarded_endpoint_event_is_never_completed),
        cmocka_unit_test(data_of_several_lines_includes_the_bytes_between),
        cmocka_unit_test(other_bytes_are_not_delayed),
        cmocka_unit_test(a_too_long_endpoint_event_is_reported_late),
        cmocka_unit_test(held_bytes_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
