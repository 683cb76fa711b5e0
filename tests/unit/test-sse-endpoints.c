#include "record/sse-endpoints.h"

#include "test.h"
#include "trace/limits.h"

/* "TARGET told TEXT", or the error. */
static struct str resolved(const char *server, const char *host, const char *path,
                           const char *endpoint, struct arena *a)
{
    struct url_rewrite_client client = { str_z(host), str_z(path) };
    struct sse_endpoints_event found;
    struct err e = ERR_NONE;
    struct url at;

    assert_true(url_parse(&at, str_z(server), &e));
    if (!sse_endpoints_parse(&found, str_z(endpoint), &at, &client, a, &e)) {
        assert_int_equal(e.kind, ERR_PEER);
        return arena_printf(a, "%s", e.msg);
    }
    return arena_printf(a, "%.*s told %.*s", STR_ARG(found.target), STR_ARG(found.client_url));
}

#define assert_comes_to(server, host, path, endpoint, want)                                    \
    do {                                                                                       \
        struct arena a_ = { 0 };                                                               \
        assert_str(resolved(server, host, path, endpoint, &a_), str_z(want));                  \
        arena_release(&a_);                                                                    \
    } while (0)

static const char here[] = "http://127.0.0.1:3001/sse";

static void a_reference_that_stays_with_us_is_forwarded_unchanged(void **state)
{
    (void)state;
    assert_comes_to(here, "localhost:5", "/sse", "/message?sessionId=1",
                    "/message?sessionId=1 told /message?sessionId=1");
    assert_comes_to(here, "localhost:5", "/", "/message?sessionId=1",
                    "/message?sessionId=1 told /message?sessionId=1");
    assert_comes_to(here, "localhost:5", "/sse", "message", "/message told message");
    assert_comes_to(here, "localhost:5", "/sse", "?s=1", "/sse?s=1 told ?s=1");
    assert_comes_to("https://h/a/sse", "localhost:5", "/a/sse", "m/x?s=1",
                    "/a/m/x?s=1 told m/x?s=1");
}

static void a_relative_reference_that_would_fail_is_made_absolute(void **state)
{
    (void)state;
    assert_comes_to("https://h/a/sse", "localhost:5", "/", "m?s=1", "/a/m?s=1 told /a/m?s=1");
    assert_comes_to(here, "localhost:5", "/", "?s=1", "/sse?s=1 told /sse?s=1");
}

static void only_the_path_of_an_absolute_url_is_sent(void **state)
{
    (void)state;
    assert_comes_to(here, "localhost:5", "/sse", "http://127.0.0.1:3001/m?s=1",
                    "/m?s=1 told /m?s=1");
    assert_comes_to("https://h/sse", "127.0.0.1:5", "/sse", "https://h:443/m", "/m told /m");
    assert_comes_to("https://h/sse", "127.0.0.1:5", "/", "//h/m?s=1", "/m?s=1 told /m?s=1");
    assert_comes_to("https://h/sse", "127.0.0.1:5", "/", "https://h//o/m?s=1",
                    "//o/m?s=1 told /.//o/m?s=1");
    assert_comes_to(here, "mcp.example", "/", "https://mcp.example:443/m?s=1",
                    "/m?s=1 told /m?s=1");
    /* The server repeats the Host that we passed on. */
    assert_comes_to(here, "localhost:5", "/sse", "http://localhost:5/m?s=1",
                    "/m?s=1 told /m?s=1");
}

static void an_endpoint_on_another_origin_is_rejected(void **state)
{
    static const char *const elsewhere[] = {
        "http://127.0.0.1:3002/m", "https://127.0.0.1:3001/m",
        "http://other/m",          "//other/m",
        "http://localhost:3001/m", "http://127.0.0.1:3001.other/m",
    };

    (void)state;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        struct arena a = { 0 };
        struct str got = resolved(here, "localhost:5", "/sse", elsewhere[i], &a);

        if (str_find(got, '?') < got.len || str_starts(got, STR("/")))
            fail_msg("'%s' came to %.*s", elsewhere[i], STR_ARG(got));
        arena_release(&a);
    }
    assert_comes_to(
        here, "localhost:5", "/sse", "http://other/m?s=1",
        "the 'endpoint' event points to another origin ('http://other:80'); rejected");
    assert_comes_to(here, "localhost:5", "/", "/.//other/m",
                    "invalid 'endpoint' event: the path begins with '//'");
    assert_comes_to(here, "localhost:5", "/sse", "",
                    "the server sent an empty 'endpoint' event");
    assert_comes_to(here, "localhost:5", "/sse", "/\\other/m",
                    "invalid 'endpoint' event: the URL contains an invalid character");
}

struct bench {
    struct session_ids ids;
    struct sse_endpoints known;
};

static void open_bench(struct bench *b)
{
    session_ids_init(&b->ids);
    sse_endpoints_init(&b->known, &b->ids);
}

static void close_bench(struct bench *b)
{
    sse_endpoints_release(&b->known);
    session_ids_release(&b->ids);
}

#define assert_looks(b, path, query, want, number)                                             \
    do {                                                                                       \
        uint64_t n_;                                                                           \
        assert_int_equal(sse_endpoints_find(&(b)->known, STR(path), query, &n_), want);        \
        assert_int_equal(n_, number);                                                          \
    } while (0)

static void posts_to_an_endpoint_belong_to_the_session_of_its_stream(void **state)
{
    struct bench b;
    bool minted;

    (void)state;
    open_bench(&b);
    assert_int_equal(session_ids_add(&b.ids, STR("another kind"), &minted), 1);
    assert_looks(&b, "/m", STR("s=1"), SESSION_NONE, 0);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=1"), 0), 2);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=2"), 0), 3);
    assert_looks(&b, "/m", STR("s=1"), SESSION_LIVE, 2);
    assert_looks(&b, "/m", STR("s=2"), SESSION_LIVE, 3);
    assert_looks(&b, "/m", STR("s=3"), SESSION_UNKNOWN, 0);
    assert_looks(&b, "/m", STR_NONE, SESSION_UNKNOWN, 0);
    assert_looks(&b, "/n", STR("s=1"), SESSION_NONE, 0);
    sse_endpoints_end_session(&b.known, 2);
    assert_looks(&b, "/m", STR("s=1"), SESSION_ENDED, 2);
    assert_looks(&b, "/m", STR("s=2"), SESSION_LIVE, 3);
    close_bench(&b);
}

static void the_latest_of_two_streams_with_one_endpoint_counts(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m"), 0), 1);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m"), 0), 2);
    assert_looks(&b, "/m", STR_NONE, SESSION_LIVE, 2);
    sse_endpoints_end_session(&b.known, 1);
    assert_looks(&b, "/m", STR_NONE, SESSION_LIVE, 2);
    sse_endpoints_end_session(&b.known, 2);
    assert_looks(&b, "/m", STR_NONE, SESSION_ENDED, 2);
    close_bench(&b);
}

static void a_stream_may_name_several_endpoints(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=1"), 0), 1);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/n?s=2"), 1), 1);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=1"), 1), 1);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=3"), 0), 2);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=3"), 1), 1); /* the latest counts */
    assert_looks(&b, "/m", STR("s=1"), SESSION_LIVE, 1);
    assert_looks(&b, "/n", STR("s=2"), SESSION_LIVE, 1);
    assert_looks(&b, "/m", STR("s=3"), SESSION_LIVE, 1);
    sse_endpoints_end_session(&b.known, 1);
    assert_looks(&b, "/m", STR("s=1"), SESSION_ENDED, 1);
    assert_looks(&b, "/n", STR("s=2"), SESSION_ENDED, 1);
    assert_looks(&b, "/m", STR("s=3"), SESSION_ENDED, 1);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=1"), 0), 3);
    assert_looks(&b, "/m", STR("s=1"), SESSION_LIVE, 3);
    close_bench(&b);
}

static void a_repeated_endpoint_does_not_displace_others(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=1"), 0), 1);
    assert_int_equal(sse_endpoints_add(&b.known, STR("/m?s=2"), 0), 2);
    for (size_t i = 0; i < LIMIT_SESSIONS; i++)
        sse_endpoints_add(&b.known, STR("/m?s=2"), 2);
    assert_looks(&b, "/m", STR("s=1"), SESSION_LIVE, 1);
    close_bench(&b);
}

static void an_endpoint_cannot_be_used_as_session_id_header(void **state)
{
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    sse_endpoints_add(&b.known, STR("/m?s=1"), 0);
    assert_int_equal(session_ids_find(&b.ids, STR("/m?s=1"), &n), SESSION_UNKNOWN);
    close_bench(&b);
}

#define assert_masked(text, want)                                                              \
    do {                                                                                       \
        struct arena a_ = { 0 };                                                               \
        assert_str(sse_endpoints_mask(STR(text), &a_), STR(want));                             \
        arena_release(&a_);                                                                    \
    } while (0)

static void session_ids_in_endpoints_are_not_logged(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_masked("/message", "/message");
    assert_masked("/message?sessionId=abc", "/message?sessionId=[REDACTED]");
    assert_masked("/m?abc", "/m?[REDACTED]");
    assert_masked("/m?", "/m?");
    assert_masked("/m?a=1&b=2&c", "/m?a=[REDACTED]&b=[REDACTED]&[REDACTED]");
    assert_masked("/m/3f9a1c7e-55aa/post", "/m/[REDACTED]/post");
    assert_masked("http://host/3f9a1c7e55aa99?x=1", "http://host/[REDACTED]?x=[REDACTED]");
    assert_str(sse_endpoints_mask_query(STR("sessionId=1"), &a), STR("sessionId=[REDACTED]"));
    assert_null(sse_endpoints_mask_query(STR_NONE, &a).at);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_that_stays_with_us_is_forwarded_unchanged),
        cmocka_unit_test(a_relative_reference_that_would_fail_is_made_absolute),
        cmocka_unit_test(only_the_path_of_an_absolute_url_is_sent),
        cmocka_unit_test(an_endpoint_on_another_origin_is_rejected),
        cmocka_unit_test(posts_to_an_endpoint_belong_to_the_session_of_its_stream),
        cmocka_unit_test(the_latest_of_two_streams_with_one_endpoint_counts),
        cmocka_unit_test(a_stream_may_name_several_endpoints),
        cmocka_unit_test(a_repeated_endpoint_does_not_displace_others),
        cmocka_unit_test(an_endpoint_cannot_be_used_as_session_id_header),
        cmocka_unit_test(session_ids_in_endpoints_are_not_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
