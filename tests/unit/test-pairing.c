#include "trace/pairing.h"

#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Requests are tagged with their number; the request of each response is logged. */
struct conversation {
    struct sink sink;
    struct pairing pairs;
    struct buf text;
    bool fresh; /* the result for the latest request */
};

static bool take(struct sink *self, const struct record *r, struct err *e)
{
    struct conversation *t = (struct conversation *)self;
    const struct pairing_request *request;
    struct arena a = { 0 };
    struct mcp_message m;

    (void)e;
    scope_track(&t->pairs.tracker, r);
    if (r->kind != RECORD_MESSAGE)
        return true;
    m = mcp_classify(r->message.msg, &a);
    if (m.kind == MCP_REQUEST) {
        t->fresh = pairing_add_request(&t->pairs, r, &m, r->message.seq);
    } else if (mcp_is_response(&m)) {
        request = pairing_match_response(&t->pairs, r, &m);
        if (request)
            buf_printf(&t->text, "%llu:%llu ", (unsigned long long)r->message.seq,
                       (unsigned long long)request->tag);
        else
            buf_printf(&t->text, "%llu:- ", (unsigned long long)r->message.seq);
    }
    arena_release(&a);
    return true;
}

static void conversation_init(struct conversation *t)
{
    *t = (struct conversation){ .sink = { take } };
    pairing_init(&t->pairs);
    buf_init(&t->text, 1 << 20);
}

static void conversation_release(struct conversation *t)
{
    pairing_release(&t->pairs);
    buf_release(&t->text);
}

/* `want` has a word for every answer: its number, and that of its request. */
static void check(const char *traffic, const char *want)
{
    struct conversation t;

    conversation_init(&t);
    terse_feed(&t.sink, traffic);
    assert_str(buf_str(&t.text), str_z(want));
    conversation_release(&t);
}

static void responses_are_paired_with_requests_in_any_order(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'id':2,'method':'b'}\n"
          "c2s {'id':'x','method':'c'}\n"
          "s2c {'id':'x','result':{}}\n"
          "s2c {'id':1,'error':{}}\n"
          "s2c {'id':2,'result':{}}\n",
          "4:3 5:1 6:2 ");
}

static void each_request_gets_one_response(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{}}\n",
          "2:1 3:- ");
}

static void the_two_directions_are_separate(void **state)
{
    (void)state;
    check("c2s {'id':0,'method':'a'}\n"
          "s2c {'id':0,'method':'b'}\n"
          "c2s {'id':0,'result':{}}\n"
          "s2c {'id':0,'result':{}}\n"
          "c2s {'id':0,'result':{}}\n",
          "3:2 4:1 5:- ");
}

static void connections_are_separate(void **state)
{
    (void)state;
    check("conn=1 c2s {'id':1,'method':'a'}\n"
          "conn=2 c2s {'id':1,'method':'b'}\n"
          "conn=3 s2c {'id':1,'result':{}}\n"
          "conn=2 s2c {'id':1,'result':{}}\n"
          "conn=1 s2c {'id':1,'result':{}}\n",
          "3:- 4:2 5:1 ");
}

static void sessions_are_separate(void **state)
{
    (void)state;
    check("session=1 c2s {'id':1,'method':'a'}\n"
          "session=2 c2s {'id':1,'method':'b'}\n"
          "session=3 s2c {'id':1,'result':{}}\n"
          "session=2 s2c {'id':1,'result':{}}\n"
          "session=1 s2c {'id':1,'result':{}}\n",
          "3:- 4:2 5:1 ");
}

static void the_exchange_is_searched_before_the_session(void **state)
{
    (void)state;
    check("session=1 x=1 c2s {'id':1,'method':'a'}\n"
          "session=1 x=2 c2s {'id':1,'method':'b'}\n"
          "session=1 x=3 c2s {'id':1,'method':'c'}\n"
          "session=1 x=2 s2c {'id':1,'result':{}}\n"
          "session=1 x=9 s2c {'id':1,'result':{}}\n"
          "session=2 x=9 s2c {'id':1,'result':{}}\n"
          "session=1 s2c {'id':1,'result':{}}\n"
          "session=1 x=1 s2c {'id':1,'result':{}}\n",
          "4:2 5:1 6:- 7:3 8:- ");
}

static void without_a_session_only_the_exchange_is_searched(void **state)
{
    (void)state;
    check("x=1 c2s {'id':1,'method':'a'}\n"
          "x=2 s2c {'id':1,'result':{}}\n"
          "conn=0 s2c {'id':1,'result':{}}\n"
          "x=1 s2c {'id':1,'result':{}}\n",
          "2:- 3:- 4:1 ");
}

static void a_response_may_come_on_a_resumed_stream(void **state)
{
    (void)state;
    check("x=1 c2s {'id':1,'method':'a'}\n"
          "x=1 stream=1 http 200\n"
          "x=2 stream=2 http 200 resumes 1\n"
          "x=2 stream=2 s2c {'id':1,'result':{}}\n",
          "2:1 ");
}

static void the_oldest_of_several_requests_with_one_id_is_answered_first(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'id':1,'method':'b'}\n"
          "c2s {'id':1,'method':'c'}\n"
          "s2c {'id':1,'result':{}}\n"
          "c2s {'id':1,'method':'d'}\n"
          "s2c {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{}}\n",
          "4:1 6:2 7:3 8:5 9:- ");
}

static void ids_are_compared_by_value_and_type(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'id':'1','method':'b'}\n"
          "c2s {'id':'A','method':'c'}\n"
          "c2s {'id':9007199254740993,'method':'d'}\n"
          "s2c {'id':'`u0041','result':{}}\n"
          "s2c {'id':9007199254740992,'result':{}}\n"
          "s2c {'id':'1','result':{}}\n"
          "s2c {'id':1.0,'result':{}}\n",
          "5:3 6:- 7:2 8:1 ");
}

static void ids_of_a_transcript_are_compared_as_text(void **state)
{
    struct record request = { .kind = RECORD_MESSAGE }, response = request;
    struct mcp_message m = { .kind = MCP_REQUEST };
    struct json_fault fault;
    struct pairing p;
    struct json ids;

    (void)state;
    json_init(&ids);
    assert_true(json_scan(&ids, STR("[1,\"1\"]"), &fault));
    response.message.dir = TO_CLIENT;
    for (int as_text = 0; as_text < 2; as_text++) {
        pairing_init(&p);
        request.message.ids_as_text = response.message.ids_as_text = as_text;
        m.kind = MCP_REQUEST;
        m.id = json_item(json_root(&ids), 0);
        pairing_add_request(&p, &request, &m, 7);
        m.kind = MCP_RESULT;
        m.id = json_item(json_root(&ids), 1);
        assert_int_equal(pairing_match_response(&p, &response, &m) != NULL, as_text);
        pairing_release(&p);
    }
    json_release(&ids);
}

static void text_after_a_nul_in_an_id_is_compared(void **state)
{
    (void)state;
    check("c2s {'id':'a`u0000b','method':'a'}\n"
          "c2s {'id':'a`u0000c','method':'b'}\n"
          "s2c {'id':'a`u0000c','result':{}}\n"
          "s2c {'id':'a','result':{}}\n"
          "s2c {'id':'a`u0000b','result':{}}\n",
          "3:2 4:- 5:1 ");
}

static void an_error_without_id_is_not_paired(void **state)
{
    (void)state;
    check("c2s {'id':'','method':'a'}\n"
          "s2c {'error':{}}\n"
          "s2c {'id':null,'error':{}}\n"
          "s2c {'id':'','result':{}}\n",
          "2:- 3:- 4:1 ");
}

static void a_stored_request_has_all_its_data(void **state)
{
    struct record at = { .has = HAS_CONN, .conn = 3 };
    const struct pairing_request *q;
    struct terse_scanned s;
    struct conversation t;

    (void)state;
    conversation_init(&t);
    terse_feed(&t.sink, "@5000 conn=3 c2s {'id':1,'method':'tools/call',"
                        "'params':{'name':'a`u0062'}}");
    q = pairing_find(&t.pairs, &at, TO_SERVER, terse_scan(&s, "1"), NULL);
    assert_non_null(q);
    assert_str(q->method, STR("tools/call"));
    assert_str(q->subject, STR("ab"));
    assert_int_equal(q->sent_us, 5000);
    assert_int_equal(q->tag, 1);
    assert_int_equal(q->dir, TO_SERVER);
    assert_null(pairing_find(&t.pairs, &at, TO_CLIENT, json_root(&s.json), NULL));
    at.conn = 1;
    assert_null(pairing_find(&t.pairs, &at, TO_SERVER, json_root(&s.json), NULL));
    terse_scanned_release(&s);
    conversation_release(&t);
}

static void a_peek_does_not_consume_the_request(void **state)
{
    struct record at = { .has = 0 };
    struct terse_scanned s;
    struct conversation t;

    (void)state;
    conversation_init(&t);
    terse_feed(&t.sink, "c2s {'id':1,'method':'a'}");
    for (int i = 0; i < 3; i++) {
        assert_non_null(pairing_find(&t.pairs, &at, TO_SERVER, terse_scan(&s, "1"), NULL));
        terse_scanned_release(&s);
    }
    terse_feed(&t.sink, "s2c {'id':1,'result':{}}");
    assert_str(buf_str(&t.text), STR("1:1 "));
    conversation_release(&t);
}

/* Which of the requests of a client is the only one, and all of them in order. */
static void assert_waiting(const struct conversation *t, struct scope_ref place, uint64_t sole,
                           const char *all)
{
    const struct pairing_request *only = pairing_only_in_flight(&t->pairs, place, TO_SERVER);
    struct buf got;

    buf_init(&got, 1 << 10);
    assert_int_equal(only ? only->tag : 0, sole);
    for (const struct pairing_request *q = pairing_first(&t->pairs, place, TO_SERVER); q;
         q = pairing_next(q, place))
        buf_printf(&got, "%llu ", (unsigned long long)q->tag);
    assert_str(buf_str(&got), str_z(all));
    buf_release(&got);
}

static void requests_in_flight_can_be_listed_by_scope(void **state)
{
    const struct scope_ref one = { SCOPE_SESSION, 1 }, two = { SCOPE_SESSION, 2 },
                           exchange = { SCOPE_EXCHANGE, 11 };
    struct conversation t;

    (void)state;
    conversation_init(&t);
    assert_waiting(&t, one, 0, "");
    terse_feed(&t.sink, "session=1 x=10 c2s {'id':1,'method':'a'}\n"
                        "session=2 x=20 c2s {'id':1,'method':'b'}\n"
                        "session=1 x=10 s2c {'id':1,'method':'c'}\n"
                        "session=1 x=11 c2s {'id':2,'method':'d'}\n"
                        "session=1 c2s {'id':3,'method':'e'}\n");
    assert_waiting(&t, one, 0, "1 4 5 ");
    assert_waiting(&t, two, 2, "2 ");
    assert_waiting(&t, exchange, 4, "4 ");
    terse_feed(&t.sink, "session=1 s2c {'id':3,'result':{}}\n");
    assert_waiting(&t, one, 0, "1 4 ");
    terse_feed(&t.sink, "session=1 x=11 s2c {'id':2,'result':{}}\n");
    assert_waiting(&t, one, 1, "1 ");
    assert_waiting(&t, exchange, 0, "");
    pairing_remove(&t.pairs, pairing_first(&t.pairs, one, TO_SERVER));
    assert_waiting(&t, one, 0, "");
    conversation_release(&t);
}

static void a_detached_request_can_be_answered_but_is_not_in_flight(void **state)
{
    const struct scope_ref here = { SCOPE_CONN, 0 };
    struct conversation t;

    (void)state;
    conversation_init(&t);
    terse_feed(&t.sink, "c2s {'id':1,'method':'a'}\n"
                        "c2s {'id':2,'method':'b'}\n"
                        "c2s {'id':3,'method':'c'}\n");
    pairing_detach(pairing_first(&t.pairs, here, TO_SERVER));
    assert_waiting(&t, here, 0, "2 3 1 ");
    pairing_detach(pairing_first(&t.pairs, here, TO_SERVER));
    assert_waiting(&t, here, 3, "3 1 2 ");
    pairing_detach(t.pairs.oldest);
    assert_waiting(&t, here, 3, "3 1 2 ");
    pairing_detach(pairing_first(&t.pairs, here, TO_SERVER));
    assert_waiting(&t, here, 0, "1 2 3 ");
    terse_feed(&t.sink, "s2c {'id':2,'result':{}}\ns2c {'id':1,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:2 2:1 "));
    assert_waiting(&t, here, 0, "3 ");
    conversation_release(&t);
}

static void it_is_known_whether_an_id_is_free(void **state)
{
    static const struct {
        const char *before, *at;
        bool free;
    } rows[] = {
        { "", "c2s {'id':1,'method':'a'}", true },
        { "c2s {'id':1,'method':'a'}", "c2s {'id':1,'method':'a'}", false },
        { "c2s {'id':1,'method':'a'}", "c2s {'id':'1','method':'a'}", true },
        { "c2s {'id':1,'method':'a'}", "s2c {'id':1,'method':'a'}", true },
        { "c2s {'id':1,'method':'a'}\ns2c {'id':1,'result':1}", "c2s {'id':1,'method':'a'}",
          true },
        { "session=1 x=1 c2s {'id':1,'method':'a'}", "session=1 x=2 c2s {'id':1,'method':'a'}",
          false },
        { "x=1 c2s {'id':1,'method':'a'}", "x=2 c2s {'id':1,'method':'a'}", true },
        { "x=1 c2s {'id':1,'method':'a'}", "x=1 c2s {'id':1,'method':'a'}", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conversation t;

        conversation_init(&t);
        terse_feed(&t.sink, rows[i].before);
        t.fresh = !rows[i].free;
        terse_feed(&t.sink, rows[i].at);
        if (t.fresh != rows[i].free)
            fail_msg("row %zu: %s", i, rows[i].at);
        conversation_release(&t);
    }
}

static void a_peek_reports_its_certainty(void **state)
{
    struct record at = { .has = HAS_EXCHANGE, .exchange = 9 };
    struct terse_scanned s;
    struct conversation t;
    bool sure = true;

    (void)state;
    conversation_init(&t);
    terse_feed(&t.sink, "x=1 c2s {'id':1,'method':'a'}\n"
                        "session=1 x=2 c2s {'id':1,'method':'a'}\n");
    assert_int_equal(pairing_find(&t.pairs, &at, TO_SERVER, terse_scan(&s, "1"), &sure)->tag,
                     1);
    assert_false(sure);
    at = (struct record){ .has = HAS_EXCHANGE | HAS_SESSION, .exchange = 9, .session = 1 };
    assert_int_equal(pairing_find(&t.pairs, &at, TO_SERVER, json_root(&s.json), &sure)->tag, 2);
    assert_true(sure);
    terse_feed(&t.sink, "x=3 c2s {'id':1,'method':'a'}\n");
    at = (struct record){ .has = HAS_EXCHANGE, .exchange = 9 };
    assert_null(pairing_find(&t.pairs, &at, TO_SERVER, json_root(&s.json), &sure));
    terse_scanned_release(&s);
    conversation_release(&t);
}

/* One more than may wait, with ids of `kinds` different values. */
static void add_too_many_requests(struct conversation *t, size_t kinds)
{
    struct buf traffic;

    buf_init(&traffic, (size_t)1 << 26);
    for (size_t i = 0; i <= LIMIT_OPEN_REQUESTS; i++)
        buf_printf(&traffic, "c2s {\"id\":%zu,\"method\":\"a\"}\n", i % kinds);
    terse_feed_plain(&t->sink, buf_str(&traffic));
    buf_release(&traffic);
}

static void beyond_the_limit_the_oldest_request_is_dropped_as_unanswered(void **state)
{
    struct conversation t;

    (void)state;
    conversation_init(&t);
    add_too_many_requests(&t, LIMIT_OPEN_REQUESTS * 2);
    assert_int_equal(t.pairs.count, LIMIT_OPEN_REQUESTS);
    terse_feed(&t.sink, "s2c {'id':0,'result':{}}\n"
                        "s2c {'id':1,'result':{}}\n"
                        "s2c {'id':65536,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:- 2:2 3:65537 "));
    assert_int_equal(t.pairs.count, LIMIT_OPEN_REQUESTS - 2);
    conversation_release(&t);
}

static uint64_t evicted_tag;

static void note_evicted(struct pairing *p, struct pairing_request *q)
{
    assert_int_equal(p->count, LIMIT_OPEN_REQUESTS);
    evicted_tag = q->tag;
}

static void dropped_requests_are_reported(void **state)
{
    struct conversation t;

    (void)state;
    conversation_init(&t);
    t.pairs.on_evict = note_evicted;
    add_too_many_requests(&t, LIMIT_OPEN_REQUESTS * 2);
    assert_int_equal(evicted_tag, 1);
    conversation_release(&t);
}

static void beyond_the_limit_equal_ids_are_dropped_too(void **state)
{
    struct conversation t;

    (void)state;
    conversation_init(&t);
    add_too_many_requests(&t, 1);
    terse_feed(&t.sink, "s2c {'id':0,'result':{}}\n"
                        "s2c {'id':0,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:2 2:3 "));
    conversation_release(&t);
}

static void put_request_with_text(struct conversation *t, int id, size_t length)
{
    struct arena a = { 0 };
    char *name = arena_alloc(&a, length + 1);

    memset(name, 'x', length);
    terse_feed(&t->sink, arena_printf(&a,
                                      "c2s {'id':%d,'method':'tools/call',"
                                      "'params':{'name':'%s'}}",
                                      id, name)
                             .at);
    arena_release(&a);
}

static void beyond_the_limit_of_text_the_oldest_requests_are_dropped(void **state)
{
    struct conversation t;

    (void)state;
    conversation_init(&t);
    for (int id = 0; id < 5; id++)
        put_request_with_text(&t, id, LIMIT_OPEN_TEXT / 4);
    assert_int_equal(t.pairs.count, 3);
    put_request_with_text(&t, 5, LIMIT_OPEN_TEXT + 1); /* the newest stays, however long */
    assert_int_equal(t.pairs.count, 1);
    terse_feed(&t.sink, "s2c {'id':4,'result':{}}\ns2c {'id':5,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:- 2:1 "));
    assert_int_equal(t.pairs.text_bytes, 0);
    conversation_release(&t);
}

static void add_request_returns_whether_the_id_is_new(void **state)
{
    struct terse_scanned json;
    struct arena a = { 0 };
    struct record r = { .kind = RECORD_MESSAGE, .conn = 1 };
    struct mcp_message m;
    struct pairing p;

    (void)state;
    pairing_init(&p);
    r.message.msg = terse_scan(&json, "{'id':1,'method':'a'}");
    m = mcp_classify(r.message.msg, &a);
    assert_true(pairing_add_request(&p, &r, &m, 7));
    assert_false(pairing_add_request(&p, &r, &m, 8));
    assert_str(pairing_find(&p, &r, TO_SERVER, m.id, NULL)->key,
               pairing_key(&p, &r, TO_SERVER, m.id));
    pairing_find(&p, &r, TO_SERVER, m.id, NULL)->tag = 9;
    r.message.dir = TO_CLIENT;
    assert_int_equal(pairing_match_response(&p, &r, &m)->tag, 9);
    assert_int_equal(pairing_match_response(&p, &r, &m)->tag, 8);
    pairing_release(&p);
    terse_scanned_release(&json);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_are_paired_with_requests_in_any_order),
        cmocka_unit_test(each_request_gets_one_response),
        cmocka_unit_test(the_two_directions_are_separate),
        cmocka_unit_test(connections_are_separate),
        cmocka_unit_test(sessions_are_separate),
        cmocka_unit_test(the_exchange_is_searched_before_the_session),
        cmocka_unit_test(without_a_session_only_the_exchange_is_searched),
        cmocka_unit_test(a_response_may_come_on_a_resumed_stream),
        cmocka_unit_test(the_oldest_of_several_requests_with_one_id_is_answered_first),
        cmocka_unit_test(ids_are_compared_by_value_and_type),
        cmocka_unit_test(ids_of_a_transcript_are_compared_as_text),
        cmocka_unit_test(text_after_a_nul_in_an_id_is_compared),
        cmocka_unit_test(an_error_without_id_is_not_paired),
        cmocka_unit_test(a_stored_request_has_all_its_data),
        cmocka_unit_test(a_peek_does_not_consume_the_request),
        cmocka_unit_test(a_peek_reports_its_certainty),
        cmocka_unit_test(it_is_known_whether_an_id_is_free),
        cmocka_unit_test(requests_in_flight_can_be_listed_by_scope),
        cmocka_unit_test(a_detached_request_can_be_answered_but_is_not_in_flight),
        cmocka_unit_test(dropped_requests_are_reported),
        cmocka_unit_test(beyond_the_limit_the_oldest_request_is_dropped_as_unanswered),
        cmocka_unit_test(beyond_the_limit_equal_ids_are_dropped_too),
        cmocka_unit_test(beyond_the_limit_of_text_the_oldest_requests_are_dropped),
        cmocka_unit_test(add_request_returns_whether_the_id_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
