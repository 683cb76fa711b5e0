#include "engine/front-ask.h"

#include "engine/front-server.h"
#include "http-line.h"
#include "test.h"

/* Requests as stories have them, to a front with one session of each kind: 1 is one that was
 * initialized, 2 one of HTTP+SSE, and 3 was the first's before it ended. */
struct reading {
    struct session_ids ids;
    struct json json;
    struct arena arena;
    struct http_line line;
    struct step_request request;
    struct front_ask ask;
};

static void open_reading(struct reading *r)
{
    struct arena *a = &r->arena;
    bool minted;

    memset(r, 0, sizeof *r);
    session_ids_init(&r->ids);
    json_init(&r->json);
    session_ids_named(&r->ids, http_line_session(1, a), &minted);
    session_ids_named(&r->ids, front_server_sse_name(http_line_session(2, a), a), &minted);
    session_ids_named(&r->ids, http_line_session(3, a), &minted);
    session_ids_end(&r->ids, http_line_session(3, a));
    http_line_read(&r->line, STR_NONE);
}

static void close_reading(struct reading *r)
{
    http_line_release(&r->line);
    session_ids_release(&r->ids);
    json_release(&r->json);
    arena_release(&r->arena);
}

static const struct front_ask *read_line(struct reading *r, const char *line)
{
    struct event ev = { .kind = EVENT_REQUEST, .exchange = 7, .request = &r->request };

    http_line_release(&r->line);
    http_line_read(&r->line, str_z(line));
    assert_int_equal(r->line.kind, HTTP_LINE_REQUEST);
    r->request = http_line_request(&r->line);
    front_ask_read(&r->ask, &ev, &r->ids, &r->json, &r->arena);
    assert_int_equal(r->ask.exchange, 7);
    return &r->ask;
}

static void a_session_is_found_by_its_header_or_by_where_it_is_posted(void **state)
{
    static const struct {
        const char *line;
        enum session_state state;
        uint64_t session;
        bool posted;
    } cases[] = {
        { "7 POST {\"id\":1,\"method\":\"a\"}", SESSION_NONE, 0, false },
        { "7 POST session=1 {\"id\":1,\"method\":\"a\"}", SESSION_LIVE, 1, false },
        { "7 POST session=3 {\"id\":1,\"method\":\"a\"}", SESSION_ENDED, 3, false },
        { "7 POST session=9 {\"id\":1,\"method\":\"a\"}", SESSION_UNKNOWN, 0, false },
        /* Each kind of session has names of its own. */
        { "7 POST session=2 {\"id\":1,\"method\":\"a\"}", SESSION_UNKNOWN, 0, false },
        { "7 POST path=/message?sessionId=2 {\"id\":1,\"method\":\"a\"}", SESSION_LIVE, 2,
          true },
        { "7 POST path=/message?sessionId=1 {\"id\":1,\"method\":\"a\"}", SESSION_UNKNOWN, 0,
          true },
    };
    struct reading r;

    (void)state;
    open_reading(&r);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct front_ask *q = read_line(&r, cases[i].line);

        if (q->call.state != cases[i].state || q->session != cases[i].session ||
            q->call.posted != cases[i].posted)
            fail_msg("%s: %s %llu", cases[i].line, session_state_name(q->call.state),
                     (unsigned long long)q->session);
    }
    close_reading(&r);
}

static void who_gets_such_a_path_without_a_session_opens_one(void **state)
{
    struct reading r;

    (void)state;
    open_reading(&r);
    assert_true(read_line(&r, "7 GET path=/sse")->opens);
    assert_true(read_line(&r, "7 GET path=/a/b/sse")->opens);
    assert_false(read_line(&r, "7 GET path=/mcp")->opens);
    assert_false(read_line(&r, "7 GET path=/sse session=1")->opens);
    assert_false(read_line(&r, "7 POST path=/sse {\"id\":1,\"method\":\"a\"}")->opens);
    close_reading(&r);
}

static void a_message_is_known_by_its_id_and_an_array_is_not(void **state)
{
    const struct front_ask *q;
    struct reading r;

    (void)state;
    open_reading(&r);
    q = read_line(&r, "7 POST {\"id\":\"x\",\"method\":\"initialize\"}");
    assert_str(q->id, STR("\"x\""));
    assert_ptr_equal(q->call.message, &q->message);
    assert_true(front_ask_is_initialize(q));
    q = read_line(&r, "7 POST [{\"id\":1,\"method\":\"initialize\"}]");
    assert_str(q->id, STR(""));
    assert_false(front_ask_is_initialize(q));
    assert_false(front_ask_is_initialize(read_line(&r, "7 POST {\"id\":1,\"method\":\"a\"}")));
    assert_false(front_ask_is_initialize(read_line(&r, "7 POST {\"method\":\"initialize\"}")));
    assert_false(front_ask_is_initialize(read_line(&r, "7 GET")));
    close_reading(&r);
}

static void what_clients_look_for_elsewhere_is_not_ours(void **state)
{
    (void)state;
    assert_true(front_ask_is_ours(STR("/mcp")));
    assert_true(front_ask_is_ours(STR("/")));
    assert_false(front_ask_is_ours(STR("/.well-known/oauth-protected-resource")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_found_by_its_header_or_by_where_it_is_posted),
        cmocka_unit_test(who_gets_such_a_path_without_a_session_opens_one),
        cmocka_unit_test(a_message_is_known_by_its_id_and_an_array_is_not),
        cmocka_unit_test(what_clients_look_for_elsewhere_is_not_ours),
    };
    return cmocka_run_group_tests_name("front-ask", tests, NULL, NULL);
}
