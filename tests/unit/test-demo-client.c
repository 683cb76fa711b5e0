#include "demo/demo-client.h"

#include "demo-run.h"

static void add_received(struct buf *to, const struct demo_client *c)
{
    static const char *const kinds[] = { "=",   "tool error", "error", "progress",
                                         "log", "question",   "odd" };

    for (size_t i = 0; i < c->sent_count; i++) {
        const struct demo_call *x = &c->calls[i];

        buf_printf(to, "%.*s %.*s\n", STR_ARG(x->method), STR_ARG(x->about));
        for (const struct demo_message *h = x->received; h; h = h->next)
            buf_printf(to, "  %s %.*s\n", kinds[h->kind], STR_ARG(h->summary));
    }
}

static void the_session_uses_every_feature_of_the_server(void **state)
{
    struct buf reported;
    struct demo_run p;

    (void)state;
    demo_run_all(&p, DEMO_ID_NUMBERS);
    buf_init(&reported, 1 << 16);
    add_received(&reported, &p.client.client);
    assert_str(buf_str(&reported),
               STR("initialize \n"
                   "  = mcpreel-demo " MCPREEL_VERSION ", MCP 2025-11-25\n"
                   "tools/list \n"
                   "  = weather, count, divide, haiku\n"
                   "tools/call weather Lisbon\n"
                   "  = {\"city\":\"Lisbon\",\"celsius\":20,\"sky\":\"windy\"}\n"
                   "tools/call count to 3\n"
                   "  progress 1/3 one\n"
                   "  progress 2/3 two\n"
                   "  progress 3/3 three\n"
                   "  log info: got to three without an error\n"
                   "  = counted to three\n"
                   "tools/call divide 1 by 0\n"
                   "  tool error cannot divide 1 by zero\n"
                   "tools/call teleport\n"
                   "  error -32602 unknown tool 'teleport'\n"
                   "tools/call haiku on tape\n"
                   "  question Write a haiku about tape.\n"
                   "  = Bytes pass, none is lost / the tape remembers each word / play it once "
                   "again\n"
                   "resources/read demo://manual\n"
                   "  = The mcpreel demo server\n"
                   "prompts/get postcard\n"
                   "  = Write a postcard from Lisbon, weather and all.\n"));
    buf_release(&reported);
    demo_run_release(&p);
}

static void ids_and_tokens_are_numbers_in_one_session_and_strings_in_the_other(void **state)
{
    struct demo_client_run b;

    (void)state;
    demo_client_run_init(&b, DEMO_ID_NUMBERS);
    assert_true(str_starts(buf_str(&b.engine.actions),
                           STR("<< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"")));
    demo_client_run_release(&b);
    demo_client_run_init(&b, DEMO_ID_STRINGS);
    assert_true(str_starts(buf_str(&b.engine.actions),
                           STR("<< {\"jsonrpc\":\"2.0\",\"id\":\"again-1\",")));
    engine_run_terse(&b.engine, "{'id':'again-1','result':{'protocolVersion':'2025-06-18'}}");
    engine_run_terse(&b.engine, "{'id':'again-2','result':{}}");
    buf_clear(&b.engine.actions);
    engine_run_terse(&b.engine, "{'id':'again-3','result':{}}");
    assert_actions(&b.engine,
                   "<< {'jsonrpc':'2.0','id':'again-4','method':'tools/call','params':"
                   "{'_meta':{'progressToken':'again-4'}, 'name' : 'count', "
                   "'arguments' : { 'to' : 3 } }}\n");
    demo_client_run_release(&b);
}

static void two_sessions_are_equal_whatever_their_ids(void **state)
{
    struct demo_difference where;
    struct demo_run one, other;

    (void)state;
    demo_run_all(&one, DEMO_ID_NUMBERS);
    demo_run_all(&other, DEMO_ID_STRINGS);
    assert_false(str_eq(buf_str(&one.received), buf_str(&other.received)));
    assert_false(demo_client_find_difference(&one.client.client, &other.client.client, &where));
    demo_run_release(&one);
    demo_run_release(&other);
}

/* Replays the messages of the server, with one change, to a new client. */
static void play_changed(struct demo_client_run *b, struct str received_text, const char *old,
                         const char *new)
{
    struct str found;

    demo_client_run_init(b, DEMO_ID_NUMBERS);
    found = str_n(memmem(received_text.at, received_text.len, old, strlen(old)), strlen(old));
    assert_non_null(found.at);
    while (received_text.len) {
        struct str line = str_cut(&received_text, '\n');
        struct arena a = { 0 };

        if (found.at >= line.at && found.at < line.at + line.len) {
            size_t before = (size_t)(found.at - line.at);

            line = arena_printf(&a, "%.*s%s%.*s", (int)before, line.at, new,
                                STR_ARG(str_skip(line, before + found.len)));
        }
        engine_run_line(&b->engine, line);
        arena_release(&a);
    }
}

/* Each change of a message of the server is found, at its request. */
static void another_response_is_a_difference(void **state)
{
    static const struct {
        const char *old, *new, *after;
    } rows[] = {
        { "\"instructions\"", "\"x\"", "" },
        { "\"celsius\":20", "\"celsius\":21", "weather Lisbon" },
        { "\"message\":\"two\"", "\"message\":\"too\"", "count to 3" },
        { "\"total\":3", "\"total\":4", "count to 3" },
        { "without an error", "with a slip", "count to 3" },
        { "\"isError\":true", "\"isError\":false", "divide 1 by 0" },
        { "-32602", "-32601", "teleport" },
        { "\"maxTokens\":100", "\"maxTokens\":101", "haiku on tape" },
        { "text/plain", "text/html", "demo://manual" },
        { "weather and all", "weather or not", "postcard" },
    };
    struct demo_run p;

    (void)state;
    demo_run_all(&p, DEMO_ID_NUMBERS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct demo_difference where = { 0 };
        struct demo_client_run b;

        play_changed(&b, buf_str(&p.received), rows[i].old, rows[i].new);
        assert_true(b.client.finished);
        assert_true(demo_client_find_difference(&p.client.client, &b.client, &where));
        assert_str(where.call->about, str_z(rows[i].after));
        assert_non_null(where.left);
        assert_non_null(where.right);
        demo_client_run_release(&b);
    }
    demo_run_release(&p);
}

/* A replay that does not put the live ids and tokens in would be caught. */
static void progress_with_another_token_is_a_difference(void **state)
{
    struct demo_difference where;
    struct demo_client_run b;
    struct demo_run p;

    (void)state;
    demo_run_all(&p, DEMO_ID_NUMBERS);
    play_changed(&b, buf_str(&p.received), "\"progressToken\":4", "\"progressToken\":\"4\"");
    assert_true(demo_client_find_difference(&p.client.client, &b.client, &where));
    assert_int_equal(where.left->kind, DEMO_PROGRESS);
    assert_int_equal(where.right->kind, DEMO_UNEXPECTED);
    demo_client_run_release(&b);
    demo_run_release(&p);
}

static void
a_response_with_another_id_is_a_difference_and_the_client_keeps_waiting(void **state)
{
    struct demo_client_run b;

    (void)state;
    demo_client_run_init(&b, DEMO_ID_NUMBERS);
    buf_clear(&b.engine.actions);
    engine_run_terse(&b.engine, "{'id':'1','result':{'protocolVersion':'2025-11-25'}}");
    engine_run_terse(&b.engine, "{'id':2,'result':{'protocolVersion':'2025-11-25'}}");
    engine_run_terse(&b.engine, "{'id':null,'error':{'code':-32700,'message':'what?'}}");
    assert_actions(&b.engine, "");
    assert_int_equal(b.client.calls[0].received->kind, DEMO_UNEXPECTED);
    engine_run_terse(&b.engine, "{'id':1.0,'result':{'protocolVersion':'2025-11-25'}}");
    assert_actions(&b.engine, "<< {'jsonrpc':'2.0','method':'notifications/initialized'}\n"
                              "<< {'jsonrpc':'2.0','id':2,'method':'tools/list'}\n");
    demo_client_run_release(&b);
}

static void fewer_or_more_messages_are_a_difference(void **state)
{
    struct demo_difference where;
    struct demo_run one, other;

    (void)state;
    demo_run_all(&one, DEMO_ID_NUMBERS);
    demo_run_all(&other, DEMO_ID_STRINGS);
    engine_run_terse(&other.client.engine, "{'method':'notifications/tools/list_changed'}");
    assert_true(demo_client_find_difference(&one.client.client, &other.client.client, &where));
    assert_null(where.left);
    assert_str(where.right->summary, STR("notifications/tools/list_changed"));
    assert_true(demo_client_find_difference(&other.client.client, &one.client.client, &where));
    assert_null(where.right);
    demo_run_release(&one);
    demo_run_release(&other);
}

static void an_unsolicited_message_is_a_difference(void **state)
{
    static const char *const lines[] = {
        "{'id':9,'method':'roots/list'}",
        "{'method':'notifications/progress','params':{'progressToken':1,'progress':1}}",
        "just text",
        "[1]",
    };
    struct demo_client_run b;
    const struct demo_message *h;

    (void)state;
    demo_client_run_init(&b, DEMO_ID_NUMBERS);
    buf_clear(&b.engine.actions);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        engine_run_terse(&b.engine, lines[i]);
    assert_actions(&b.engine, "<< {'jsonrpc':'2.0','id':9,'error':"
                              "{'code':-32601,'message':'Method not found'}}\n");
    h = b.client.calls[0].received;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++, h = h->next)
        assert_int_equal(h->kind, DEMO_UNEXPECTED);
    assert_null(h);
    demo_client_run_release(&b);
}

static void assert_unexpected(const char *answer, const char *trouble)
{
    struct demo_client_run b;

    demo_client_run_init(&b, DEMO_ID_NUMBERS);
    buf_clear(&b.engine.actions);
    if (answer)
        engine_run_terse(&b.engine, answer);
    else
        engine_run_event(&b.engine, EVENT_INPUT_CLOSED, NULL);
    assert_actions(&b.engine, "finish 1\n");
    assert_str(b.client.failure, str_z(trouble));
    engine_run_event(&b.engine, EVENT_INPUT_CLOSED, NULL);
    assert_actions(&b.engine, "");
    demo_client_run_release(&b);
}

static void without_initialize_no_session_starts(void **state)
{
    (void)state;
    assert_unexpected("{'id':1,'error':{'code':-32000,'message':'no'}}",
                      "the server rejected initialize");
    assert_unexpected("{'id':1,'result':{'protocolVersion':'2026-07-28'}}",
                      "the server speaks MCP '2026-07-28', which the demo does not support");
    assert_unexpected("{'id':1,'result':{}}",
                      "the server speaks MCP '', which the demo does not support");
    assert_unexpected(NULL, "the server ended without a response to initialize");
}

static void an_endless_server_is_abandoned(void **state)
{
    struct demo_client_run b;

    (void)state;
    demo_client_run_init(&b, DEMO_ID_NUMBERS);
    buf_clear(&b.engine.actions);
    for (int i = 0; i < 2000; i++)
        engine_run_terse(&b.engine, "{'method':'notifications/message','params':{}}");
    assert_actions(&b.engine, "finish 1\n");
    assert_str(b.client.failure, STR("the server sent too many messages"));
    demo_client_run_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_session_uses_every_feature_of_the_server),
        cmocka_unit_test(ids_and_tokens_are_numbers_in_one_session_and_strings_in_the_other),
        cmocka_unit_test(two_sessions_are_equal_whatever_their_ids),
        cmocka_unit_test(another_response_is_a_difference),
        cmocka_unit_test(progress_with_another_token_is_a_difference),
        cmocka_unit_test(
            a_response_with_another_id_is_a_difference_and_the_client_keeps_waiting),
        cmocka_unit_test(fewer_or_more_messages_are_a_difference),
        cmocka_unit_test(an_unsolicited_message_is_a_difference),
        cmocka_unit_test(without_initialize_no_session_starts),
        cmocka_unit_test(an_endless_server_is_abandoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
