#include "engine/http-talk.h"

#include "test.h"

enum { SECOND_US = 1000000 };

struct bench {
    struct action_sink out;
    struct say say;
    struct http_talks talks;
    struct buf did;
};

static void put(struct action_sink *self, const struct action *a)
{
    struct bench *b = (struct bench *)self;

    buf_printf(&b->did, "%s %llu;", a->kind == ACTION_ASK ? "ask" : "abandon",
               (unsigned long long)a->way.exchange);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ .out = { put } };
    say_init(&b->say, &b->out);
    buf_init(&b->did, 1 << 10);
}

static void close_bench(struct bench *b)
{
    http_talk_release_all(&b->talks);
    say_release(&b->say);
    buf_release(&b->did);
}

static void ask(struct bench *b, struct http_talk *t, int64_t now_us)
{
    struct step_ask a = { .method = STR("GET") };

    http_talk_ask(&b->talks, t, &b->say, &a, now_us);
}

/* A stream of one event; `id` may be empty. */
static void hear_stream(struct http_talk *t, const char *event)
{
    struct fields f = { 0 };

    fields_add(&f, STR("Content-Type"), STR("text/event-stream"));
    http_heard_again(&t->heard);
    http_heard_head(&t->heard, 200, &f);
    http_heard_data(&t->heard, str_z(event), NULL, NULL);
    fields_release(&f);
}

static void talks_are_found_by_what_is_under_way(void **state)
{
    struct bench b;
    struct http_talk *one, *other;

    (void)state;
    open_bench(&b);
    one = http_talk_new(&b.talks, HTTP_TALK_POST);
    other = http_talk_new(&b.talks, HTTP_TALK_STREAM);
    ask(&b, one, 1);
    ask(&b, other, 1);
    other->timer = 5;
    assert_ptr_equal(http_talk_find(&b.talks, 1), one);
    assert_ptr_equal(http_talk_find(&b.talks, 2), other);
    assert_null(http_talk_find(&b.talks, 3));
    assert_ptr_equal(http_talk_by_timer(&b.talks, 5), other);
    ask(&b, one, 2);
    assert_null(http_talk_find(&b.talks, 1));
    assert_ptr_equal(http_talk_find(&b.talks, 3), one);
    http_talk_drop(one, &b.say, STR_NONE);
    http_talk_sweep(&b.talks);
    assert_ptr_equal(b.talks.first, other);
    assert_str(buf_str(&b.did), STR("ask 1;ask 2;ask 3;abandon 3;"));
    close_bench(&b);
}

static void only_streams_with_ids_can_be_gone_on_with(void **state)
{
    struct bench b;
    struct http_talk *t;

    (void)state;
    open_bench(&b);
    t = http_talk_new(&b.talks, HTTP_TALK_POST);
    assert_false(http_talk_may_resume(t));
    hear_stream(t, "data:\n\n");
    assert_false(http_talk_may_resume(t));
    hear_stream(t, "id: 1\ndata:\n\n");
    assert_true(http_talk_may_resume(t));
    t->modern = true;
    assert_false(http_talk_may_resume(t));
    t->modern = false;
    t->heard.status = 404;
    assert_false(http_talk_may_resume(t));
    close_bench(&b);
}

static void what_is_in_vain_is_counted_and_waited_for_longer(void **state)
{
    struct bench b;
    struct http_talk *t;

    (void)state;
    open_bench(&b);
    t = http_talk_new(&b.talks, HTTP_TALK_STREAM);
    assert_int_equal(http_talk_delay_us(t), SECOND_US);
    for (int i = 1; i <= 8; i++) {
        ask(&b, t, 0);
        http_talk_count(t, SECOND_US);
        assert_int_equal(http_talk_delay_us(t), (int64_t)SECOND_US << (i < 6 ? i : 6));
    }
    ask(&b, t, 0);
    hear_stream(t, ": nothing\n\n");
    http_talk_count(t, SECOND_US); /* it ended at once */
    assert_int_equal(t->tries, 9);
    http_talk_count(t, 10 * (int64_t)SECOND_US); /* it did not */
    assert_int_equal(t->tries, 0);
    t->heard.retry_ms = 20;
    assert_int_equal(http_talk_delay_us(t), 21000);
    t->heard.retry_ms = INT64_MAX;
    assert_int_equal(http_talk_delay_us(t), 3600 * (int64_t)SECOND_US);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(talks_are_found_by_what_is_under_way),
        cmocka_unit_test(only_streams_with_ids_can_be_gone_on_with),
        cmocka_unit_test(what_is_in_vain_is_counted_and_waited_for_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
