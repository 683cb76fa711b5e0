#include "trace/pairing.h"

#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Requests are tagged with their number; what each answer belongs to is written down. */
struct talk {
    struct sink sink;
    struct pairing pairs;
    struct buf text;
};

static bool take(struct sink *self, const struct record *r, struct err *e)
{
    struct talk *t = (struct talk *)self;
    const struct pairing_request *asked;
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(r->message.msg, &a);

    (void)e;
    if (m.kind == MCP_REQUEST) {
        pairing_ask(&t->pairs, r, &m, r->message.seq);
    } else if (mcp_is_response(&m)) {
        asked = pairing_answer(&t->pairs, r, &m);
        if (asked)
            buf_printf(&t->text, "%llu:%llu ", (unsigned long long)r->message.seq,
                       (unsigned long long)asked->tag);
        else
            buf_printf(&t->text, "%llu:- ", (unsigned long long)r->message.seq);
    }
    arena_release(&a);
    return true;
}

static void talk_init(struct talk *t)
{
    *t = (struct talk){ .sink = { take } };
    pairing_init(&t->pairs);
    buf_init(&t->text, 1 << 20);
}

static void talk_release(struct talk *t)
{
    pairing_release(&t->pairs);
    buf_release(&t->text);
}

/* `want` has a word for every answer: its number, and that of its request. */
static void check(const char *traffic, const char *want)
{
    struct talk t;

    talk_init(&t);
    terse_pour(&t.sink, traffic);
    assert_str(buf_str(&t.text), str_z(want));
    talk_release(&t);
}

static void answers_find_their_requests_in_any_order(void **state)
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

static void each_request_is_answered_once(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{}}\n",
          "2:1 3:- ");
}

static void the_two_directions_do_not_meet(void **state)
{
    (void)state;
    check("c2s {'id':0,'method':'a'}\n"
          "s2c {'id':0,'method':'b'}\n"
          "c2s {'id':0,'result':{}}\n"
          "s2c {'id':0,'result':{}}\n"
          "c2s {'id':0,'result':{}}\n",
          "3:2 4:1 5:- ");
}

static void connections_do_not_meet(void **state)
{
    (void)state;
    check("conn=1 c2s {'id':1,'method':'a'}\n"
          "conn=2 c2s {'id':1,'method':'b'}\n"
          "conn=3 s2c {'id':1,'result':{}}\n"
          "conn=2 s2c {'id':1,'result':{}}\n"
          "conn=1 s2c {'id':1,'result':{}}\n",
          "3:- 4:2 5:1 ");
}

static void of_several_with_one_id_the_oldest_is_answered_first(void **state)
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

static void ids_are_the_same_by_meaning_and_type(void **state)
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

static void an_id_may_hold_a_nul_and_what_follows_it_counts(void **state)
{
    (void)state;
    check("c2s {'id':'a`u0000b','method':'a'}\n"
          "c2s {'id':'a`u0000c','method':'b'}\n"
          "s2c {'id':'a`u0000c','result':{}}\n"
          "s2c {'id':'a','result':{}}\n"
          "s2c {'id':'a`u0000b','result':{}}\n",
          "3:2 4:- 5:1 ");
}

static void an_error_without_id_answers_nothing(void **state)
{
    (void)state;
    check("c2s {'id':'','method':'a'}\n"
          "s2c {'error':{}}\n"
          "s2c {'id':null,'error':{}}\n"
          "s2c {'id':'','result':{}}\n",
          "2:- 3:- 4:1 ");
}

static void a_request_is_remembered_with_all_it_needs(void **state)
{
    const struct pairing_request *q;
    struct terse_scanned s;
    struct talk t;

    (void)state;
    talk_init(&t);
    terse_pour(&t.sink, "@5000 conn=3 c2s {'id':1,'method':'tools/call',"
                        "'params':{'name':'a`u0062'}}");
    q = pairing_peek(&t.pairs, TO_SERVER, 3, terse_scan(&s, "1"));
    assert_non_null(q);
    assert_str(q->method, STR("tools/call"));
    assert_str(q->subject, STR("ab"));
    assert_int_equal(q->us, 5000);
    assert_int_equal(q->tag, 1);
    assert_int_equal(q->dir, TO_SERVER);
    assert_null(pairing_peek(&t.pairs, TO_CLIENT, 3, json_root(&s.json)));
    assert_null(pairing_peek(&t.pairs, TO_SERVER, 1, json_root(&s.json)));
    terse_scanned_release(&s);
    talk_release(&t);
}

static void a_peek_answers_nothing(void **state)
{
    struct terse_scanned s;
    struct talk t;

    (void)state;
    talk_init(&t);
    terse_pour(&t.sink, "c2s {'id':1,'method':'a'}");
    for (int i = 0; i < 3; i++) {
        assert_non_null(pairing_peek(&t.pairs, TO_SERVER, 0, terse_scan(&s, "1")));
        terse_scanned_release(&s);
    }
    terse_pour(&t.sink, "s2c {'id':1,'result':{}}");
    assert_str(buf_str(&t.text), STR("1:1 "));
    talk_release(&t);
}

/* One more than may wait, with ids of `kinds` different values. */
static void ask_too_often(struct talk *t, size_t kinds)
{
    struct buf traffic;

    buf_init(&traffic, (size_t)1 << 26);
    for (size_t i = 0; i <= LIMIT_OPEN_REQUESTS; i++)
        buf_printf(&traffic, "c2s {\"id\":%zu,\"method\":\"a\"}\n", i % kinds);
    terse_pour_plain(&t->sink, buf_str(&traffic));
    buf_release(&traffic);
}

static void beyond_the_limit_the_oldest_counts_as_never_answered(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    ask_too_often(&t, LIMIT_OPEN_REQUESTS * 2);
    assert_int_equal(t.pairs.count, LIMIT_OPEN_REQUESTS);
    terse_pour(&t.sink, "s2c {'id':0,'result':{}}\n"
                        "s2c {'id':1,'result':{}}\n"
                        "s2c {'id':65536,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:- 2:2 3:65537 "));
    assert_int_equal(t.pairs.count, LIMIT_OPEN_REQUESTS - 2);
    talk_release(&t);
}

static void so_it_is_when_all_have_the_same_id(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    ask_too_often(&t, 1);
    terse_pour(&t.sink, "s2c {'id':0,'result':{}}\n"
                        "s2c {'id':0,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:2 2:3 "));
    talk_release(&t);
}

static void ask_with_text(struct talk *t, int id, size_t length)
{
    struct arena a = { 0 };
    char *name = arena_alloc(&a, length + 1);

    memset(name, 'x', length);
    terse_pour(&t->sink, arena_printf(&a,
                                      "c2s {'id':%d,'method':'tools/call',"
                                      "'params':{'name':'%s'}}",
                                      id, name)
                             .at);
    arena_release(&a);
}

static void beyond_the_limit_of_their_text_the_oldest_go_too(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    for (int id = 0; id < 5; id++)
        ask_with_text(&t, id, LIMIT_OPEN_TEXT / 4);
    assert_int_equal(t.pairs.count, 3);
    ask_with_text(&t, 5, LIMIT_OPEN_TEXT + 1); /* the newest stays, however long */
    assert_int_equal(t.pairs.count, 1);
    terse_pour(&t.sink, "s2c {'id':4,'result':{}}\ns2c {'id':5,'result':{}}\n");
    assert_str(buf_str(&t.text), STR("1:- 2:1 "));
    assert_int_equal(t.pairs.text, 0);
    talk_release(&t);
}

static void who_asks_learns_whether_the_id_is_in_use(void **state)
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
    assert_true(pairing_ask(&p, &r, &m, 7));
    assert_false(pairing_ask(&p, &r, &m, 8));
    assert_str(pairing_peek(&p, TO_SERVER, 1, m.id)->key, pairing_key(&p, TO_SERVER, 1, m.id));
    pairing_peek(&p, TO_SERVER, 1, m.id)->tag = 9;
    r.message.dir = TO_CLIENT;
    assert_int_equal(pairing_answer(&p, &r, &m)->tag, 9);
    assert_int_equal(pairing_answer(&p, &r, &m)->tag, 8);
    pairing_release(&p);
    terse_scanned_release(&json);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_find_their_requests_in_any_order),
        cmocka_unit_test(each_request_is_answered_once),
        cmocka_unit_test(the_two_directions_do_not_meet),
        cmocka_unit_test(connections_do_not_meet),
        cmocka_unit_test(of_several_with_one_id_the_oldest_is_answered_first),
        cmocka_unit_test(ids_are_the_same_by_meaning_and_type),
        cmocka_unit_test(an_id_may_hold_a_nul_and_what_follows_it_counts),
        cmocka_unit_test(an_error_without_id_answers_nothing),
        cmocka_unit_test(a_request_is_remembered_with_all_it_needs),
        cmocka_unit_test(a_peek_answers_nothing),
        cmocka_unit_test(beyond_the_limit_the_oldest_counts_as_never_answered),
        cmocka_unit_test(so_it_is_when_all_have_the_same_id),
        cmocka_unit_test(beyond_the_limit_of_their_text_the_oldest_go_too),
        cmocka_unit_test(who_asks_learns_whether_the_id_is_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
