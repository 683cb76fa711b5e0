#include "engine/sse-sessions.h"

#include "scribe.h"

/* Sessions, and what went out on their streams. */
struct bench {
    struct scribe scribe;
    struct sse_sessions sessions;
    struct arena arena;
};

static unsigned char last_random;

static void count_up(void *to, size_t size)
{
    memset(to, ++last_random, size);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ 0 };
    scribe_init(&b->scribe);
    last_random = 0;
    sse_sessions_init(&b->sessions, &b->scribe.out, count_up);
}

static void close_bench(struct bench *b)
{
    sse_sessions_release(&b->sessions);
    arena_release(&b->arena);
    scribe_release(&b->scribe);
}

static struct str query_of(struct bench *b, uint64_t session)
{
    return arena_printf(&b->arena, "sessionId=%.*s",
                        STR_ARG(http_line_session(session, &b->arena)));
}

static void a_stream_begins_with_where_messages_go(void **state)
{
    struct sse_session *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = sse_sessions_open(&b.sessions, 10);
    assert_wrote(&b.scribe, "10 200 sse\n10 event=endpoint << /message?sessionId=1\n");
    sse_sessions_accept(&b.sessions, 11);
    sse_sessions_send(&b.sessions, x, STR("{\"a\":1}"));
    assert_wrote(&b.scribe, "11 202 text Accepted\n10 << {\"a\":1}\n");
    sse_sessions_end(&b.sessions, x);
    assert_wrote(&b.scribe, "10 end\n");
    close_bench(&b);
}

static void each_has_a_stream_of_its_own(void **state)
{
    struct sse_session *x, *y;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = sse_sessions_open(&b.sessions, 10);
    y = sse_sessions_open(&b.sessions, 12);
    assert_wrote(&b.scribe, "10 200 sse\n10 event=endpoint << /message?sessionId=1\n"
                            "12 200 sse\n12 event=endpoint << /message?sessionId=2\n");
    assert_ptr_equal(sse_sessions_find(&b.sessions, query_of(&b, 1)), x);
    assert_ptr_equal(sse_sessions_find(&b.sessions, query_of(&b, 2)), y);
    assert_ptr_equal(sse_sessions_on(&b.sessions, 10), x);
    assert_ptr_equal(sse_sessions_on(&b.sessions, 12), y);
    sse_sessions_send(&b.sessions, y, STR("{\"b\":2}"));
    assert_wrote(&b.scribe, "12 << {\"b\":2}\n");
    close_bench(&b);
}

static void a_session_ends_with_its_stream(void **state)
{
    struct sse_session *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = sse_sessions_open(&b.sessions, 10);
    buf_clear(&b.scribe.wrote);
    sse_sessions_gone(&b.sessions, x);
    assert_wrote(&b.scribe, ""); /* nobody is there to be told */
    assert_null(sse_sessions_find(&b.sessions, query_of(&b, 1)));
    assert_null(sse_sessions_on(&b.sessions, 10));
    close_bench(&b);
}

static void only_all_of_an_id_names_a_session(void **state)
{
    struct str query;
    struct bench b;

    (void)state;
    open_bench(&b);
    sse_sessions_open(&b.sessions, 10);
    query = query_of(&b, 1);
    assert_non_null(sse_sessions_find(&b.sessions, query));
    assert_null(sse_sessions_find(&b.sessions, str_n(query.at, query.len - 1)));
    assert_null(sse_sessions_find(&b.sessions, query_of(&b, 2)));
    assert_null(sse_sessions_find(&b.sessions, STR("sessionId=")));
    assert_null(sse_sessions_find(&b.sessions, STR("")));
    assert_null(sse_sessions_find(&b.sessions, STR_NONE));
    assert_null(sse_sessions_find(&b.sessions, str_skip(query, 1)));
    close_bench(&b);
}

static void what_is_posted_there_is_meant_for_a_session(void **state)
{
    (void)state;
    assert_true(sse_sessions_means(STR("POST"), STR("/message"), STR("sessionId=1")));
    assert_true(sse_sessions_means(STR("POST"), STR("/message"), STR("sessionId=")));
    assert_false(sse_sessions_means(STR("GET"), STR("/message"), STR("sessionId=1")));
    assert_false(sse_sessions_means(STR("POST"), STR("/mcp"), STR("sessionId=1")));
    assert_false(sse_sessions_means(STR("POST"), STR("/message"), STR("session=1")));
    assert_false(sse_sessions_means(STR("POST"), STR("/message"), STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_begins_with_where_messages_go),
        cmocka_unit_test(each_has_a_stream_of_its_own),
        cmocka_unit_test(a_session_ends_with_its_stream),
        cmocka_unit_test(only_all_of_an_id_names_a_session),
        cmocka_unit_test(what_is_posted_there_is_meant_for_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
