#include "engine/http-turns.h"

#include "scribe.h"

/* Turns, and what went out. */
struct bench {
    struct scribe scribe;
    struct http_turns turns;
};

static void open_bench(struct bench *b)
{
    scribe_init(&b->scribe);
    http_turns_init(&b->turns, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    http_turns_release(&b->turns);
    scribe_release(&b->scribe);
}

static struct http_turn *ask(struct bench *b, uint64_t exchange, const char *accept)
{
    struct fields f = { .at = NULL };
    struct media_accept takes;
    struct http_turn *x;

    fields_add(&f, STR("Accept"), str_z(accept));
    takes = media_accept(&f);
    x = http_turns_new(&b->turns, exchange, &takes, b);
    x->owed = 1;
    fields_release(&f);
    return x;
}

#define BOTH "application/json, text/event-stream"

static void what_is_said_first_decides(void **state)
{
    struct http_turn *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    http_turns_answer(&b.turns, ask(&b, 1, BOTH), STR("{\"a\":1}"));
    assert_wrote(&b.scribe, "1 200 json {\"a\":1}\n");
    x = ask(&b, 2, BOTH);
    assert_true(http_turns_can_say(x));
    http_turns_say(&b.turns, x, STR("{\"b\":1}"));
    http_turns_answer(&b.turns, x, STR("{\"b\":2}"));
    assert_wrote(&b.scribe, "2 200 sse\n2 << {\"b\":1}\n2 << {\"b\":2}\n2 end\n");
    http_turns_answer(&b.turns, ask(&b, 3, "text/event-stream"), STR("{\"c\":1}"));
    assert_wrote(&b.scribe, "3 200 sse\n3 << {\"c\":1}\n3 end\n");
    x = ask(&b, 4, "application/json");
    assert_false(http_turns_can_say(x));
    http_turns_answer(&b.turns, x, STR("{\"d\":1}"));
    assert_wrote(&b.scribe, "4 200 json {\"d\":1}\n");
    assert_null(http_turns_find(&b.turns, 4));
    close_bench(&b);
}

static void the_status_goes_by_the_error_in_one_era_only(void **state)
{
    static const char error[] = "{\"error\":{\"code\":-32601}}";
    struct http_turn *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    http_turns_answer(&b.turns, ask(&b, 1, BOTH), STR(error));
    x = ask(&b, 2, BOTH);
    x->modern = true;
    http_turns_answer(&b.turns, x, STR(error));
    assert_wrote(&b.scribe, "1 200 json {\"error\":{\"code\":-32601}}\n"
                            "2 404 json {\"error\":{\"code\":-32601}}\n");
    close_bench(&b);
}

static void the_answers_of_a_batch_are_one_array_or_events(void **state)
{
    struct http_turn *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = ask(&b, 1, BOTH);
    x->owed = 2;
    x->batch = true;
    http_turns_answer(&b.turns, x, STR("{\"a\":1}"));
    assert_wrote(&b.scribe, "");
    http_turns_answer(&b.turns, x, STR("{\"a\":2}"));
    assert_wrote(&b.scribe, "1 200 json [{\"a\":1},{\"a\":2}]\n");
    x = ask(&b, 2, "text/event-stream");
    x->owed = 2;
    x->batch = true;
    http_turns_answer(&b.turns, x, STR("{\"a\":1}"));
    http_turns_answer(&b.turns, x, STR("{\"a\":2}"));
    assert_wrote(&b.scribe, "2 200 sse\n2 << {\"a\":1}\n2 << {\"a\":2}\n2 end\n");
    close_bench(&b);
}

static struct http_turn *in_session(struct bench *b, uint64_t exchange)
{
    struct http_turn *x = ask(b, exchange, BOTH);

    x->session = 1;
    x->has_ids = true;
    x->primes = true;
    return x;
}

static void who_comes_back_has_what_it_missed_and_the_turn(void **state)
{
    struct http_turn *x;
    struct bench b;
    bool over;

    (void)state;
    open_bench(&b);
    x = in_session(&b, 1);
    http_turns_say(&b.turns, x, STR("{\"a\":1}"));
    assert_wrote(&b.scribe, "1 200 sse\n1 id=1-1 <<\n1 id=1-2 << {\"a\":1}\n");
    assert_ptr_equal(http_turns_gone(&b.turns, 1), x);
    assert_null(http_turns_gone(&b.turns, 1));
    assert_true(http_turns_can_say(x));
    http_turns_say(&b.turns, x, STR("{\"a\":2}"));
    assert_wrote(&b.scribe, "");
    assert_null(http_turns_resume(&b.turns, 2, STR("1-2"), 5, STR_NONE, &over));
    assert_false(over); /* it is of another session */
    assert_ptr_equal(http_turns_resume(&b.turns, 1, STR("1-1"), 6, STR_NONE, &over), x);
    assert_false(over);
    assert_wrote(&b.scribe, "6 200 sse\n6 id=1-2 << {\"a\":1}\n6 id=1-3 << {\"a\":2}\n");
    assert_ptr_equal(http_turns_find(&b.turns, 1), x);

    /* Once more, while it is still heard: the other exchange ends. */
    assert_ptr_equal(http_turns_resume(&b.turns, 1, STR("1-3"), 7, STR_NONE, &over), x);
    assert_wrote(&b.scribe, "7 200 sse\n6 end\n");
    assert_null(http_turns_gone(&b.turns, 6));
    http_turns_answer(&b.turns, x, STR("{\"a\":3}"));
    assert_wrote(&b.scribe, "7 id=1-4 << {\"a\":3}\n7 end\n");
    assert_null(http_turns_gone(&b.turns, 7));
    assert_null(http_turns_resume(&b.turns, 1, STR("1-3"), 8, STR_NONE, &over));
    assert_true(over);
    assert_wrote(&b.scribe, "8 200 sse\n8 id=1-4 << {\"a\":3}\n8 end\n");
    close_bench(&b);
}

static void who_does_not_know_where_it_was_has_what_was_said_since(void **state)
{
    struct http_turn *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = in_session(&b, 1);
    x->owed = 0;
    x->primes = false;
    http_turns_listen(&b.turns, x);
    http_turns_say(&b.turns, x, STR("{\"a\":1}"));
    http_turns_gone(&b.turns, 1);
    http_turns_say(&b.turns, x, STR("{\"a\":2}"));
    buf_clear(&b.scribe.wrote);
    http_turns_rejoin(&b.turns, x, 2);
    assert_wrote(&b.scribe, "2 200 sse\n2 id=1-2 << {\"a\":2}\n");
    http_turns_say(&b.turns, x, STR("{\"a\":3}"));
    assert_wrote(&b.scribe, "2 id=1-3 << {\"a\":3}\n");
    http_turns_drop(&b.turns, x);
    assert_wrote(&b.scribe, "2 end\n");
    close_bench(&b);
}

static void an_answer_for_nobody_goes_nowhere(void **state)
{
    struct http_turn *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = in_session(&b, 1);
    assert_ptr_equal(http_turns_gone(&b.turns, 1), x);
    assert_false(http_turns_can_say(x));
    http_turns_answer(&b.turns, x, STR("{\"a\":1}"));
    assert_wrote(&b.scribe, "");
    assert_null(http_turns_find(&b.turns, 1));
    close_bench(&b);
}

static void who_has_heard_something_is_not_refused_any_more(void **state)
{
    struct http_verdict v = { .status = 502, .code = -32000, .text = STR_INIT("no") };
    struct http_turn *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    http_turns_refuse(&b.turns, ask(&b, 1, BOTH), &v, STR("7"));
    assert_wrote(&b.scribe,
                 "1 502 json {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\"message\":"
                 "\"no\"},\"id\":7}\n");
    x = ask(&b, 2, BOTH);
    http_turns_say(&b.turns, x, STR("{}"));
    http_turns_refuse(&b.turns, x, &v, STR("7"));
    assert_wrote(&b.scribe, "2 200 sse\n2 << {}\n2 end\n");
    x = ask(&b, 3, BOTH);
    http_turns_gone(&b.turns, 3);
    http_turns_refuse(&b.turns, x, &v, STR("7"));
    assert_wrote(&b.scribe, "");
    ask(&b, 4, BOTH); /* is given back with the rest */
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_first_decides),
        cmocka_unit_test(the_status_goes_by_the_error_in_one_era_only),
        cmocka_unit_test(the_answers_of_a_batch_are_one_array_or_events),
        cmocka_unit_test(who_comes_back_has_what_it_missed_and_the_turn),
        cmocka_unit_test(who_does_not_know_where_it_was_has_what_was_said_since),
        cmocka_unit_test(an_answer_for_nobody_goes_nowhere),
        cmocka_unit_test(who_has_heard_something_is_not_refused_any_more),
    };
    return cmocka_run_group_tests_name("http-turns", tests, NULL, NULL);
}
