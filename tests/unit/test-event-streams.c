#include "mcphttp/event-streams.h"

#include <stdlib.h>

#include "action-log.h"
#include "base/mem.h"

/* Streams, and the bytes that were sent on them. */
struct bench {
    struct action_log scribe;
    struct event_streams streams;
};

static void open_bench(struct bench *b)
{
    action_log_init(&b->scribe);
    event_streams_init(&b->streams, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    event_streams_release(&b->streams);
    action_log_release(&b->scribe);
}

static void events_get_ids_of_mcpreel(void **state)
{
    struct event_stream *x, *y;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = event_streams_add(&b.streams, 1, 10, true);
    y = event_streams_add(&b.streams, 1, 11, false);
    event_streams_send_priming(&b.streams, x, 500);
    event_streams_send(&b.streams, x, STR("{\"a\":1}"));
    event_streams_send(&b.streams, y, STR("{\"b\":2}"));
    assert_logged(&b.scribe,
                  "10 id=1-1 retry=500 <<\n10 id=1-2 << {\"a\":1}\n11 << {\"b\":2}\n");
    assert_int_equal(x->message_count, 1);
    event_streams_end(&b.streams, x);
    event_streams_end(&b.streams, y);
    assert_logged(&b.scribe, "10 end\n11 end\n");
    close_bench(&b);
}

static void a_resumed_stream_gets_missed_events_then_new_ones(void **state)
{
    struct event_stream *x;
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    x = event_streams_add(&b.streams, 7, 10, true);
    event_streams_send_priming(&b.streams, x, -1);
    event_streams_send(&b.streams, x, STR("{\"a\":1}"));
    x->exchange = 0; /* its client has gone */
    event_streams_send(&b.streams, x, STR("{\"a\":2}"));
    assert_logged(&b.scribe, "10 id=1-1 <<\n10 id=1-2 << {\"a\":1}\n");
    assert_ptr_equal(event_streams_find(&b.streams, 7, STR("1-1"), &n), x);
    assert_int_equal(n, 1);
    event_streams_resume(&b.streams, x, 11, n);
    assert_logged(&b.scribe, "11 id=1-2 << {\"a\":1}\n11 id=1-3 << {\"a\":2}\n");
    event_streams_send(&b.streams, x, STR("{\"a\":3}"));
    assert_logged(&b.scribe, "11 id=1-4 << {\"a\":3}\n");

    /* The client comes once more, while the last exchange is still open. */
    event_streams_resume(&b.streams, x, 12, 4);
    assert_logged(&b.scribe, "11 end\n");
    event_streams_end(&b.streams, x);
    assert_logged(&b.scribe, "12 end\n");

    /* It has ended, and can still be resumed. */
    event_streams_resume(&b.streams, x, 13, 3);
    assert_logged(&b.scribe, "13 id=1-4 << {\"a\":3}\n13 end\n");
    close_bench(&b);
}

static void an_absent_client_is_disconnected_once_after_it_resumes(void **state)
{
    struct event_stream *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = event_streams_add(&b.streams, 1, 10, true);
    event_streams_disconnect(&b.streams, x); /* it cannot be resumed */
    event_streams_send_priming(&b.streams, x, 5);
    event_streams_disconnect(&b.streams, x);
    assert_logged(&b.scribe, "10 id=1-1 retry=5 <<\n10 end\n");
    event_streams_disconnect(&b.streams, x);
    event_streams_send_named(&b.streams, x, STR("{}"), STR("other"), 7);
    event_streams_disconnect(&b.streams, x);
    event_streams_send(&b.streams, x, STR("[]"));
    event_streams_end(&b.streams, x);
    event_streams_resume(&b.streams, x, 11, 1);
    assert_logged(&b.scribe, "11 end\n");
    event_streams_resume(&b.streams, x, 12, 1);
    assert_logged(&b.scribe, "12 id=1-2 retry=7 event=other << {}\n12 end\n");
    event_streams_resume(&b.streams, x, 13, 1);
    assert_logged(&b.scribe, "13 id=1-2 retry=7 event=other << {}\n13 id=1-3 << []\n13 end\n");
    close_bench(&b);
}

static void an_event_id_is_valid_only_in_its_session(void **state)
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
    struct event_stream *x, *plain;
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    x = event_streams_add(&b.streams, 7, 10, true);
    event_streams_send_priming(&b.streams, x, -1);
    event_streams_send(&b.streams, x, STR("{}"));
    plain = event_streams_add(&b.streams, 7, 11, false);
    event_streams_send(&b.streams, plain, STR("{}"));
    assert_ptr_equal(event_streams_find(&b.streams, 7, STR("1-2"), &n), x);
    assert_null(event_streams_find(&b.streams, 8, STR("1-2"), &n));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (event_streams_find(&b.streams, 7, str_z(wrong[i]), &n))
            fail_msg("'%s' was found", wrong[i]);
    close_bench(&b);
}

static void a_stream_without_ids_is_dropped_at_its_end(void **state)
{
    struct event_stream *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = event_streams_add(&b.streams, 0, 10, false);
    event_streams_send(&b.streams, x, STR("{}"));
    assert_int_equal(b.streams.kept_bytes, 0);
    event_streams_close_exchange(&b.streams, x);
    event_streams_close_exchange(&b.streams, x);
    assert_logged(&b.scribe, "10 << {}\n10 end\n");
    event_streams_end(&b.streams, x);
    assert_int_equal(b.streams.by_number.count, 0);
    close_bench(&b);
}

static void only_the_latest_events_of_a_long_stream_are_kept(void **state)
{
    enum { SIZE = 1 << 18 };
    char *text = mem_alloc(SIZE);
    struct event_stream *x;
    struct bench b;

    (void)state;
    memset(text, 'x', SIZE);
    open_bench(&b);
    x = event_streams_add(&b.streams, 0, 0, true);
    for (int i = 0; i < 10; i++) {
        event_streams_send(&b.streams, x, str_n(text, SIZE));
        assert_true(x->kept_bytes <= EVENT_STREAM_KEPT_MAX &&
                    x->kept_bytes == b.streams.kept_bytes);
    }
    event_streams_resume(&b.streams, x, 5, 0);
    assert_true(str_starts(buf_str(&b.scribe.text), STR("5 id=1-8 << x")));
    close_bench(&b);
    free(text);
}

/* One event that is larger than all that is kept is kept as long as it is the last. */
static void at_least_one_event_is_kept(void **state)
{
    char *text = mem_alloc(EVENT_STREAM_KEPT_MAX + 1);
    struct event_stream *x;
    struct bench b;

    (void)state;
    memset(text, 'x', EVENT_STREAM_KEPT_MAX + 1);
    open_bench(&b);
    x = event_streams_add(&b.streams, 0, 0, true);
    event_streams_send(&b.streams, x, str_n(text, EVENT_STREAM_KEPT_MAX + 1));
    assert_true(x->first_kept && x->first_kept == x->last_kept);
    event_streams_send(&b.streams, x, STR("{}"));
    event_streams_resume(&b.streams, x, 5, 0);
    assert_logged(&b.scribe, "5 id=1-2 << {}\n");
    close_bench(&b);
    free(text);
}

static void only_the_latest_ended_streams_are_kept(void **state)
{
    struct event_stream *x;
    struct bench b;
    uint64_t n;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < EVENT_STREAMS_ENDED_MAX + 2; i++) {
        x = event_streams_add(&b.streams, 0, 0, true);
        event_streams_send(&b.streams, x, STR("{}"));
        event_streams_end(&b.streams, x);
    }
    assert_int_equal(b.streams.by_number.count, EVENT_STREAMS_ENDED_MAX);
    assert_null(event_streams_find(&b.streams, 0, STR("2-1"), &n));
    assert_non_null(event_streams_find(&b.streams, 0, STR("3-1"), &n));

    /* Also from the middle. */
    event_streams_remove(&b.streams, event_streams_find(&b.streams, 0, STR("100-1"), &n));
    event_streams_remove(&b.streams, event_streams_find(&b.streams, 0, STR("3-1"), &n));
    assert_int_equal(b.streams.ended_count, EVENT_STREAMS_ENDED_MAX - 2);
    close_bench(&b);
}

static void the_memory_of_all_streams_is_limited(void **state)
{
    enum { SIZE = 1 << 19 };
    char *text = mem_alloc(SIZE);
    struct event_stream *x;
    struct bench b;
    uint64_t n;

    (void)state;
    memset(text, 'x', SIZE);
    open_bench(&b);
    for (size_t i = 0; i < EVENT_STREAMS_KEPT_MAX / SIZE + 4; i++) {
        x = event_streams_add(&b.streams, 0, 0, true);
        event_streams_send(&b.streams, x, str_n(text, SIZE));
        assert_true(b.streams.kept_bytes <= EVENT_STREAMS_KEPT_MAX);
        event_streams_end(&b.streams, x);
    }
    assert_null(event_streams_find(&b.streams, 0, STR("1-1"), &n));
    assert_ptr_equal(b.streams.latest_ended, x);
    close_bench(&b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_get_ids_of_mcpreel),
        cmocka_unit_test(a_resumed_stream_gets_missed_events_then_new_ones),
        cmocka_unit_test(an_absent_client_is_disconnected_once_after_it_resumes),
        cmocka_unit_test(an_event_id_is_valid_only_in_its_session),
        cmocka_unit_test(a_stream_without_ids_is_dropped_at_its_end),
        cmocka_unit_test(only_the_latest_events_of_a_long_stream_are_kept),
        cmocka_unit_test(at_least_one_event_is_kept),
        cmocka_unit_test(only_the_latest_ended_streams_are_kept),
        cmocka_unit_test(the_memory_of_all_streams_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
