#include "engine/http-streams.h"

#include <stdlib.h>

#include "base/mem.h"
#include "scribe.h"

/* Streams, and what went out on them. */
struct bench {
    struct scribe scribe;
    struct http_streams streams;
};

static void open_bench(struct bench *b)
{
    scribe_init(&b->scribe);
    http_streams_init(&b->streams, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    http_streams_release(&b->streams);
    scribe_release(&b->scribe);
}

static void events_have_ids_of_our_own(void **state)
{
    struct http_stream *x, *y;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = http_streams_new(&b.streams, 1, 10, true);
    y = http_streams_new(&b.streams, 1, 11, false);
    http_streams_prime(&b.streams, x, 500);
    http_streams_send(&b.streams, x, STR("{\"a\":1}"));
    http_streams_send(&b.streams, y, STR("{\"b\":2}"));
    assert_wrote(&b.scribe,
                 "10 id=1-1 retry=500 <<\n10 id=1-2 << {\"a\":1}\n11 << {\"b\":2}\n");
    assert_int_equal(x->messages, 1);
    http_streams_finish(&b.streams, x);
    http_streams_finish(&b.streams, y);
    assert_wrote(&b.scribe, "10 end\n11 end\n");
    close_bench(&b);
}

static void what_was_lost_is_sent_again_and_the_rest_as_it_comes(void **state)
{
    struct http_stream *x;
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    x = http_streams_new(&b.streams, 7, 10, true);
    http_streams_prime(&b.streams, x, -1);
    http_streams_send(&b.streams, x, STR("{\"a\":1}"));
    x->exchange = 0; /* its client has gone */
    http_streams_send(&b.streams, x, STR("{\"a\":2}"));
    assert_wrote(&b.scribe, "10 id=1-1 <<\n10 id=1-2 << {\"a\":1}\n");
    assert_ptr_equal(http_streams_find(&b.streams, 7, STR("1-1"), &n), x);
    assert_int_equal(n, 1);
    http_streams_resume(&b.streams, x, 11, n);
    assert_wrote(&b.scribe, "11 id=1-2 << {\"a\":1}\n11 id=1-3 << {\"a\":2}\n");
    http_streams_send(&b.streams, x, STR("{\"a\":3}"));
    assert_wrote(&b.scribe, "11 id=1-4 << {\"a\":3}\n");

    /* The client comes once more, while the last exchange is still open. */
    http_streams_resume(&b.streams, x, 12, 4);
    assert_wrote(&b.scribe, "11 end\n");
    http_streams_finish(&b.streams, x);
    assert_wrote(&b.scribe, "12 end\n");

    /* It is over, and can still be asked for. */
    http_streams_resume(&b.streams, x, 13, 3);
    assert_wrote(&b.scribe, "13 id=1-4 << {\"a\":3}\n13 end\n");
    close_bench(&b);
}

static void who_is_away_when_a_stream_is_cut_is_sent_away_later_once(void **state)
{
    struct http_stream *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = http_streams_new(&b.streams, 1, 10, true);
    http_streams_cut(&b.streams, x); /* nobody could come back to that */
    http_streams_prime(&b.streams, x, 5);
    http_streams_cut(&b.streams, x);
    assert_wrote(&b.scribe, "10 id=1-1 retry=5 <<\n10 end\n");
    http_streams_cut(&b.streams, x);
    http_streams_tell(&b.streams, x, STR("{}"), STR("other"), 7);
    http_streams_cut(&b.streams, x);
    http_streams_send(&b.streams, x, STR("[]"));
    http_streams_finish(&b.streams, x);
    http_streams_resume(&b.streams, x, 11, 1);
    assert_wrote(&b.scribe, "11 end\n");
    http_streams_resume(&b.streams, x, 12, 1);
    assert_wrote(&b.scribe, "12 id=1-2 retry=7 event=other << {}\n12 end\n");
    http_streams_resume(&b.streams, x, 13, 1);
    assert_wrote(&b.scribe, "13 id=1-2 retry=7 event=other << {}\n13 id=1-3 << []\n13 end\n");
    close_bench(&b);
}

static void an_id_is_good_in_its_session_and_if_it_was_given_out(void **state)
{
    static const char *const wrong[] = { "1-3",
                                         "2-1",
                                         "0-1",
                                         "1",
                                         "1-",
                                         "-1",
                                         "",
                                         "x",
                                         "1-x",
                                         "1-1-1",
                                         " 1-1",
                                         "1--1",
                                         "1-99999999999999999999999999999" };
    struct http_stream *x, *plain;
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    x = http_streams_new(&b.streams, 7, 10, true);
    http_streams_prime(&b.streams, x, -1);
    http_streams_send(&b.streams, x, STR("{}"));
    plain = http_streams_new(&b.streams, 7, 11, false);
    http_streams_send(&b.streams, plain, STR("{}"));
    assert_ptr_equal(http_streams_find(&b.streams, 7, STR("1-2"), &n), x);
    assert_null(http_streams_find(&b.streams, 8, STR("1-2"), &n));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (http_streams_find(&b.streams, 7, str_z(wrong[i]), &n))
            fail_msg("'%s' was found", wrong[i]);
    close_bench(&b);
}

static void a_stream_without_ids_is_gone_when_it_is_over(void **state)
{
    struct http_stream *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = http_streams_new(&b.streams, 0, 10, false);
    http_streams_send(&b.streams, x, STR("{}"));
    assert_int_equal(b.streams.kept, 0);
    http_streams_hang_up(&b.streams, x);
    http_streams_hang_up(&b.streams, x);
    assert_wrote(&b.scribe, "10 << {}\n10 end\n");
    http_streams_finish(&b.streams, x);
    assert_int_equal(b.streams.open.count, 0);
    close_bench(&b);
}

static void of_a_long_stream_the_latest_is_kept(void **state)
{
    enum { SIZE = 1 << 18 };
    char *text = mem_alloc(SIZE);
    struct http_stream *x;
    struct bench b;

    (void)state;
    memset(text, 'x', SIZE);
    open_bench(&b);
    x = http_streams_new(&b.streams, 0, 0, true);
    for (int i = 0; i < 10; i++) {
        http_streams_send(&b.streams, x, str_n(text, SIZE));
        assert_true(x->kept <= HTTP_STREAM_KEPT && x->kept == b.streams.kept);
    }
    http_streams_resume(&b.streams, x, 5, 0);
    assert_true(str_starts(buf_str(&b.scribe.wrote), STR("5 id=1-8 << x")));
    close_bench(&b);
    free(text);
}

/* One event that is larger than all that is kept is kept as long as it is the last. */
static void one_event_is_always_kept(void **state)
{
    char *text = mem_alloc(HTTP_STREAM_KEPT + 1);
    struct http_stream *x;
    struct bench b;

    (void)state;
    memset(text, 'x', HTTP_STREAM_KEPT + 1);
    open_bench(&b);
    x = http_streams_new(&b.streams, 0, 0, true);
    http_streams_send(&b.streams, x, str_n(text, HTTP_STREAM_KEPT + 1));
    assert_true(x->first && x->first == x->last);
    http_streams_send(&b.streams, x, STR("{}"));
    http_streams_resume(&b.streams, x, 5, 0);
    assert_wrote(&b.scribe, "5 id=1-2 << {}\n");
    close_bench(&b);
    free(text);
}

static void of_many_that_are_over_the_latest_are_kept(void **state)
{
    struct http_stream *x;
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < HTTP_STREAMS_OVER + 2; i++) {
        x = http_streams_new(&b.streams, 0, 0, true);
        http_streams_send(&b.streams, x, STR("{}"));
        http_streams_finish(&b.streams, x);
    }
    assert_int_equal(b.streams.open.count, HTTP_STREAMS_OVER);
    assert_null(http_streams_find(&b.streams, 0, STR("2-1"), &n));
    assert_non_null(http_streams_find(&b.streams, 0, STR("3-1"), &n));

    /* Also from the middle. */
    http_streams_drop(&b.streams, http_streams_find(&b.streams, 0, STR("100-1"), &n));
    http_streams_drop(&b.streams, http_streams_find(&b.streams, 0, STR("3-1"), &n));
    assert_int_equal(b.streams.over, HTTP_STREAMS_OVER - 2);
    close_bench(&b);
}

static void all_that_is_kept_has_an_end(void **state)
{
    enum { SIZE = 1 << 19 };
    char *text = mem_alloc(SIZE);
    struct http_stream *x;
    struct bench b;
    uint64_t n;

    (void)state;
    memset(text, 'x', SIZE);
    open_bench(&b);
    for (size_t i = 0; i < HTTP_STREAMS_KEPT / SIZE + 4; i++) {
        x = http_streams_new(&b.streams, 0, 0, true);
        http_streams_send(&b.streams, x, str_n(text, SIZE));
        assert_true(b.streams.kept <= HTTP_STREAMS_KEPT);
        http_streams_finish(&b.streams, x);
    }
    assert_null(http_streams_find(&b.streams, 0, STR("1-1"), &n));
    assert_ptr_equal(b.streams.latest, x);
    close_bench(&b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_ids_of_our_own),
        cmocka_unit_test(what_was_lost_is_sent_again_and_the_rest_as_it_comes),
        cmocka_unit_test(who_is_away_when_a_stream_is_cut_is_sent_away_later_once),
        cmocka_unit_test(an_id_is_good_in_its_session_and_if_it_was_given_out),
        cmocka_unit_test(a_stream_without_ids_is_gone_when_it_is_over),
        cmocka_unit_test(of_a_long_stream_the_latest_is_kept),
        cmocka_unit_test(one_event_is_always_kept),
        cmocka_unit_test(of_many_that_are_over_the_latest_are_kept),
        cmocka_unit_test(all_that_is_kept_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
