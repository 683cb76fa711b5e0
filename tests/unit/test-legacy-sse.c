#include "mcphttp/legacy-sse.h"

#include "action-log.h"

/* Sessions, and the bytes that were sent on their streams. */
struct bench {
    struct action_log scribe;
    struct legacy_sse sessions;
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
    action_log_init(&b->scribe);
    last_random = 0;
    legacy_sse_init(&b->sessions, &b->scribe.out, count_up);
}

static void close_bench(struct bench *b)
{
    legacy_sse_release(&b->sessions);
    arena_release(&b->arena);
    action_log_release(&b->scribe);
}

static struct str query_of(struct bench *b, uint64_t session)
{
    return arena_printf(&b->arena, "sessionId=%.*s",
                        STR_ARG(http_line_session(session, &b->arena)));
}

static void a_stream_begins_with_the_endpoint_event(void **state)
{
    struct legacy_sse_session *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = legacy_sse_open(&b.sessions, 10);
    assert_logged(&b.scribe, "10 200 sse\n10 event=endpoint << /message?sessionId=1\n");
    legacy_sse_accept(&b.sessions, 11);
    legacy_sse_send(&b.sessions, x, STR("{\"a\":1}"));
    assert_logged(&b.scribe, "11 202 text Accepted\n10 << {\"a\":1}\n");
    legacy_sse_end(&b.sessions, x);
    assert_logged(&b.scribe, "10 end\n");
    close_bench(&b);
}

static void each_session_has_its_own_stream(void **state)
{
    struct legacy_sse_session *x, *y;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = legacy_sse_open(&b.sessions, 10);
    y = legacy_sse_open(&b.sessions, 12);
    assert_logged(&b.scribe, "10 200 sse\n10 event=endpoint << /message?sessionId=1\n"
                             "12 200 sse\n12 event=endpoint << /message?sessionId=2\n");
    assert_ptr_equal(legacy_sse_find(&b.sessions, query_of(&b, 1)), x);
    assert_ptr_equal(legacy_sse_find(&b.sessions, query_of(&b, 2)), y);
    assert_ptr_equal(legacy_sse_find_exchange(&b.sessions, 10), x);
    assert_ptr_equal(legacy_sse_find_exchange(&b.sessions, 12), y);
    legacy_sse_send(&b.sessions, y, STR("{\"b\":2}"));
    assert_logged(&b.scribe, "12 << {\"b\":2}\n");
    close_bench(&b);
}

static void a_session_ends_with_its_stream(void **state)
{
    struct legacy_sse_session *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = legacy_sse_open(&b.sessions, 10);
    buf_clear(&b.scribe.text);
    legacy_sse_remove(&b.sessions, x);
    assert_logged(&b.scribe, ""); /* no client is connected */
    assert_null(legacy_sse_find(&b.sessions, query_of(&b, 1)));
    assert_null(legacy_sse_find_exchange(&b.sessions, 10));
    close_bench(&b);
}

static void only_a_complete_id_names_a_session(void **state)
{
    struct str query;
    struct bench b;

    (void)state;
    open_bench(&b);
    legacy_sse_open(&b.sessions, 10);
    query = query_of(&b, 1);
    assert_non_null(legacy_sse_find(&b.sessions, query));
    assert_null(legacy_sse_find(&b.sessions, str_n(query.at, query.len - 1)));
    assert_null(legacy_sse_find(&b.sessions, query_of(&b, 2)));
    assert_null(legacy_sse_find(&b.sessions, STR("sessionId=")));
    assert_null(legacy_sse_find(&b.sessions, STR("")));
    assert_null(legacy_sse_find(&b.sessions, STR_NONE));
    assert_null(legacy_sse_find(&b.sessions, str_skip(query, 1)));
    close_bench(&b);
}

static void a_post_to_the_endpoint_path_names_a_session(void **state)
{
    (void)state;
    assert_true(legacy_sse_is_message(STR("POST"), STR("/message"), STR("sessionId=1")));
    assert_true(legacy_sse_is_message(STR("POST"), STR("/message"), STR("sessionId=")));
    assert_false(legacy_sse_is_message(STR("GET"), STR("/message"), STR("sessionId=1")));
    assert_false(legacy_sse_is_message(STR("POST"), STR("/mcp"), STR("sessionId=1")));
    assert_false(legacy_sse_is_message(STR("POST"), STR("/message"), STR("session=1")));
    assert_false(legacy_sse_is_message(STR("POST"), STR("/message"), STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_begins_with_the_endpoint_event),
        cmocka_unit_test(each_session_has_its_own_stream),
        cmocka_unit_test(a_session_ends_with_its_stream),
        cmocka_unit_test(only_a_complete_id_names_a_session),
        cmocka_unit_test(a_post_to_the_endpoint_path_names_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
