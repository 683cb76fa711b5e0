#include "engine/demo-client.h"

#include "demo-walk.h"

static void add_heard(struct buf *to, const struct demo_client *c)
{
    static const char *const kinds[] = { "=",   "tool error", "error", "progress",
                                         "log", "question",   "odd" };

    for (size_t i = 0; i < c->count; i++) {
        const struct demo_exchange *x = &c->exchanges[i];

        buf_printf(to, "%.*s %.*s\n", STR_ARG(x->method), STR_ARG(x->about));
        for (const struct demo_heard *h = x->heard; h; h = h->next)
            buf_printf(to, "  %s %.*s\n", kinds[h->kind], STR_ARG(h->words));
    }
}

static void the_walk_goes_through_all_the_server_has(void **state)
{
    struct buf told;
    struct walk p;

    (void)state;
    walk_through(&p, DEMO_NUMBERS);
    buf_init(&told, 1 << 16);
    add_heard(&told, &p.client.client);
    assert_str(buf_str(&told),
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
                   "  log info: got to three without a slip\n"
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
                   "  = What the demo server of mcpreel can do\n"
                   "prompts/get postcard\n"
                   "  = Write a postcard from Lisbon, weather and all.\n"));
    buf_release(&told);
    walk_release(&p);
}

static void ids_and_tokens_are_numbers_in_one_walk_and_strings_in_the_other(void **state)
{
    struct walker b;

    (void)state;
    walker_init(&b, DEMO_NUMBERS);
    assert_true(str_starts(buf_str(&b.with.did),
                           STR("<< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"")));
    walker_release(&b);
    walker_init(&b, DEMO_STRINGS);
    assert_true(
        str_starts(buf_str(&b.with.did), STR("<< {\"jsonrpc\":\"2.0\",\"id\":\"again-1\",")));
    stepper_hear(&b.with, "{'id':'again-1','result':{'protocolVersion':'2025-06-18'}}");
    stepper_hear(&b.with, "{'id':'again-2','result':{}}");
    buf_clear(&b.with.did);
    stepper_hear(&b.with, "{'id':'again-3','result':{}}");
    assert_did(&b.with, "<< {'jsonrpc':'2.0','id':'again-4','method':'tools/call','params':"
                        "{'_meta':{'progressToken':'again-4'}, 'name' : 'count', "
                        "'arguments' : { 'to' : 3 } }}\n");
    walker_release(&b);
}

static void two_walks_are_the_same_whatever_the_ids(void **state)
{
    struct demo_difference where;
    struct walk one, other;

    (void)state;
    walk_through(&one, DEMO_NUMBERS);
    walk_through(&other, DEMO_STRINGS);
    assert_false(str_eq(buf_str(&one.heard), buf_str(&other.heard)));
    assert_false(demo_client_differ(&one.client.client, &other.client.client, &where));
    walk_release(&one);
    walk_release(&other);
}

/* Plays what the server has said once more, with one change, to a new client. */
static void play_changed(struct walker *b, struct str heard, const char *old, const char *new)
{
    struct str found;

    walker_init(b, DEMO_NUMBERS);
    found = str_n(memmem(heard.at, heard.len, old, strlen(old)), strlen(old));
    assert_non_null(found.at);
    while (heard.len) {
        struct str line = str_cut(&heard, '\n');
        struct arena a = { 0 };

        if (found.at >= line.at && found.at < line.at + line.len) {
            size_t before = (size_t)(found.at - line.at);

            line = arena_printf(&a, "%.*s%s%.*s", (int)before, line.at, new,
                                STR_ARG(str_skip(line, before + found.len)));
        }
        stepper_hear_line(&b->with, line);
        arena_release(&a);
    }
}

/* Each change of what the server says is found, at the request it belongs to. */
static void any_other_answer_is_a_difference(void **state)
{
    static const struct {
        const char *old, *new, *after;
    } rows[] = {
        { "\"instructions\"", "\"x\"", "" },
        { "\"celsius\":20", "\"celsius\":21", "weather Lisbon" },
        { "\"message\":\"two\"", "\"message\":\"too\"", "count to 3" },
        { "\"total\":3", "\"total\":4", "count to 3" },
        { "without a slip", "with a slip", "count to 3" },
        { "\"isError\":true", "\"isError\":false", "divide 1 by 0" },
        { "-32602", "-32601", "teleport" },
        { "\"maxTokens\":100", "\"maxTokens\":101", "haiku on tape" },
        { "text/plain", "text/html", "demo://manual" },
        { "weather and all", "weather or not", "postcard" },
    };
    struct walk p;

    (void)state;
    walk_through(&p, DEMO_NUMBERS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct demo_difference where = { 0 };
        struct walker b;

        play_changed(&b, buf_str(&p.heard), rows[i].old, rows[i].new);
        assert_true(b.client.finished);
        assert_true(demo_client_differ(&p.client.client, &b.client, &where));
        assert_str(where.exchange->about, str_z(rows[i].after));
        assert_non_null(where.left);
        assert_non_null(where.right);
        walker_release(&b);
    }
    walk_release(&p);
}

/* A replay that does not put the live ids and tokens in would be caught. */
static void progress_with_another_token_is_odd(void **state)
{
    struct demo_difference where;
    struct walker b;
    struct walk p;

    (void)state;
    walk_through(&p, DEMO_NUMBERS);
    play_changed(&b, buf_str(&p.heard), "\"progressToken\":4", "\"progressToken\":\"4\"");
    assert_true(demo_client_differ(&p.client.client, &b.client, &where));
    assert_int_equal(where.left->kind, DEMO_PROGRESS);
    assert_int_equal(where.right->kind, DEMO_ODD);
    walker_release(&b);
    walk_release(&p);
}

static void an_answer_with_another_id_is_odd_and_the_client_goes_on_waiting(void **state)
{
    struct walker b;

    (void)state;
    walker_init(&b, DEMO_NUMBERS);
    buf_clear(&b.with.did);
    stepper_hear(&b.with, "{'id':'1','result':{'protocolVersion':'2025-11-25'}}");
    stepper_hear(&b.with, "{'id':2,'result':{'protocolVersion':'2025-11-25'}}");
    stepper_hear(&b.with, "{'id':null,'error':{'code':-32700,'message':'what?'}}");
    assert_did(&b.with, "");
    assert_int_equal(b.client.exchanges[0].heard->kind, DEMO_ODD);
    stepper_hear(&b.with, "{'id':1.0,'result':{'protocolVersion':'2025-11-25'}}");
    assert_did(&b.with, "<< {'jsonrpc':'2.0','method':'notifications/initialized'}\n"
                        "<< {'jsonrpc':'2.0','id':2,'method':'tools/list'}\n");
    walker_release(&b);
}

static void what_is_heard_less_or_more_is_a_difference(void **state)
{
    struct demo_difference where;
    struct walk one, other;

    (void)state;
    walk_through(&one, DEMO_NUMBERS);
    walk_through(&other, DEMO_STRINGS);
    stepper_hear(&other.client.with, "{'method':'notifications/tools/list_changed'}");
    assert_true(demo_client_differ(&one.client.client, &other.client.client, &where));
    assert_null(where.left);
    assert_str(where.right->words, STR("notifications/tools/list_changed"));
    assert_true(demo_client_differ(&other.client.client, &one.client.client, &where));
    assert_null(where.right);
    walk_release(&one);
    walk_release(&other);
}

static void what_nobody_asked_for_is_heard_as_odd(void **state)
{
    static const char *const lines[] = {
        "{'id':9,'method':'roots/list'}",
        "{'method':'notifications/progress','params':{'progressToken':1,'progress':1}}",
        "just text",
        "[1]",
    };
    struct walker b;
    const struct demo_heard *h;

    (void)state;
    walker_init(&b, DEMO_NUMBERS);
    buf_clear(&b.with.did);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        stepper_hear(&b.with, lines[i]);
    assert_did(&b.with, "<< {'jsonrpc':'2.0','id':9,'error':"
                        "{'code':-32601,'message':'Method not found'}}\n");
    h = b.client.exchanges[0].heard;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++, h = h->next)
        assert_int_equal(h->kind, DEMO_ODD);
    assert_null(h);
    walker_release(&b);
}

static void assert_trouble(const char *answer, const char *trouble)
{
    struct walker b;

    walker_init(&b, DEMO_NUMBERS);
    buf_clear(&b.with.did);
    if (answer)
        stepper_hear(&b.with, answer);
    else
        stepper_feed(&b.with, EVENT_CLOSED, NULL);
    assert_did(&b.with, "finish 1\n");
    assert_str(b.client.trouble, str_z(trouble));
    stepper_feed(&b.with, EVENT_CLOSED, NULL);
    assert_did(&b.with, "");
    walker_release(&b);
}

static void without_a_session_there_is_no_walk(void **state)
{
    (void)state;
    assert_trouble("{'id':1,'error':{'code':-32000,'message':'no'}}",
                   "the server refused to start a session");
    assert_trouble("{'id':1,'result':{'protocolVersion':'2026-07-28'}}",
                   "the server speaks MCP '2026-07-28', which the demo does not");
    assert_trouble("{'id':1,'result':{}}", "the server speaks MCP '', which the demo does not");
    assert_trouble(NULL, "the server ended without an answer to initialize");
}

static void a_server_that_talks_without_end_is_left(void **state)
{
    struct walker b;

    (void)state;
    walker_init(&b, DEMO_NUMBERS);
    buf_clear(&b.with.did);
    for (int i = 0; i < 2000; i++)
        stepper_hear(&b.with, "{'method':'notifications/message','params':{}}");
    assert_did(&b.with, "finish 1\n");
    assert_str(b.client.trouble, STR("the server talks without end"));
    walker_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_walk_goes_through_all_the_server_has),
        cmocka_unit_test(ids_and_tokens_are_numbers_in_one_walk_and_strings_in_the_other),
        cmocka_unit_test(two_walks_are_the_same_whatever_the_ids),
        cmocka_unit_test(any_other_answer_is_a_difference),
        cmocka_unit_test(progress_with_another_token_is_odd),
        cmocka_unit_test(an_answer_with_another_id_is_odd_and_the_client_goes_on_waiting),
        cmocka_unit_test(what_is_heard_less_or_more_is_a_difference),
        cmocka_unit_test(what_nobody_asked_for_is_heard_as_odd),
        cmocka_unit_test(without_a_session_there_is_no_walk),
        cmocka_unit_test(a_server_that_talks_without_end_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
