#include "ops/op-builder.h"

#include <stdlib.h>

#include "op-lines.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Attribution is tested in tests/operations; the tests here hold for any traffic. */
struct bench {
    struct sink sink; /* forwards to the builder, and checks its state */
    struct op_lines tally;
    struct op_builder builder;
    size_t most_open, most_held;
};

static bool watch(struct sink *self, const struct record *r, struct err *e)
{
    struct bench *b = (struct bench *)self;
    const struct open_ops *l = &b->builder.open_ops;
    size_t events = b->tally.events;
    bool ok = b->builder.sink.put(&b->builder.sink, r, e);

    if (r->kind == RECORD_MESSAGE && b->tally.events == events)
        fail_msg("a message belongs to no operation: %.*s", STR_ARG(json_raw(r->message.msg)));
    b->most_open = l->count > b->most_open ? l->count : b->most_open;
    b->most_held = l->bytes > b->most_held ? l->bytes : b->most_held;
    assert_true(b->builder.pairs.count <= l->count);
    return ok;
}

static void bench_init(struct bench *b)
{
    *b = (struct bench){ .sink = { watch } };
    op_lines_init(&b->tally);
    op_builder_init(&b->builder, &b->tally.sink);
}

static void finish(struct bench *b)
{
    struct err e = ERR_NONE;

    assert_true(op_builder_finish(&b->builder, &e));
    op_lines_assert_ended(&b->tally);
    assert_int_equal(b->builder.open_ops.bytes, 0);
    assert_int_equal(b->builder.pairs.count, 0);
    assert_int_equal(b->builder.keys.open.count, 0);
}

static void bench_release(struct bench *b)
{
    op_builder_release(&b->builder);
    op_lines_release(&b->tally);
}

static void feed(struct bench *b, struct buf *traffic)
{
    terse_feed_plain(&b->sink, buf_str(traffic));
    buf_clear(traffic);
}

static void assert_line(const struct bench *b, uint64_t number, const char *want)
{
    assert_str(op_lines_get(&b->tally, number), str_z(want));
}

enum { MANY = 100000, FEWER = 30000 };

static void the_number_of_open_requests_is_limited(void **state)
{
    struct bench b;
    struct buf traffic, line;
    unsigned given_up;

    (void)state;
    bench_init(&b);
    buf_init(&line, 1 << 10);
    buf_init(&traffic, (size_t)1 << 28);
    buf_printf(&traffic, "c2s {\"id\":\"l\",\"method\":\"subscriptions/listen\"}\n");
    for (int i = 0; i < MANY; i++) {
        buf_printf(&traffic,
                   "c2s {\"id\":%d,\"method\":\"tools/call\","
                   "\"params\":{\"name\":\"t\",\"_meta\":{\"progressToken\":%d}}}\n",
                   i, i);
        if (i % 1000 == 0)
            buf_printf(&traffic, "s2c {\"method\":\"x\",\"params\":{\"_meta\":{\"io."
                                 "modelcontextprotocol/subscriptionId\":\"l\"}}}\n");
    }
    feed(&b, &traffic);
    assert_true(b.most_open <= LIMIT_OPEN_OPERATIONS);
    assert_true(b.most_held <= LIMIT_OPEN_OPERATION_BYTES);
    assert_int_equal(op_builder_evicted(&b.builder), MANY + 1 - b.builder.open_ops.count);
    assert_true(b.builder.open_ops.count > 8192);
    /* the latest are kept; of the abandoned ones only the latest are remembered; one that is in
     * use all the time was kept */
    buf_printf(&traffic, "s2c {\"id\":%d,\"result\":{}}\n", MANY - 1);
    given_up = (unsigned)op_builder_evicted(&b.builder) - 10;
    buf_printf(&traffic, "s2c {\"id\":%u,\"result\":{}}\n", given_up);
    buf_printf(&traffic, "s2c {\"id\":0,\"result\":{}}\ns2c {\"id\":\"l\",\"result\":{}}\n");
    feed(&b, &traffic);
    finish(&b);
    assert_int_equal(b.tally.ended, MANY + 3);
    assert_line(&b, MANY + 1,
                "100001 c2s tools/call t id=99999 ok | 100101:request 1:response");
    assert_line(&b, 2, "2 c2s tools/call t id=0 pending evicted | 2:request");
    buf_printf(&line, "100002<%u:after-end response s2c id=%u ok after-end | 2:response",
               given_up + 2, given_up);
    assert_line(&b, MANY + 2, buf_z(&line));
    buf_release(&line);
    assert_line(&b, MANY + 3, "100003 response s2c id=0 ok orphan | 3:response");
    buf_release(&traffic);
    bench_release(&b);
}

static void unfinished_lists_are_limited(void **state)
{
    struct bench b;
    struct buf traffic;

    (void)state;
    bench_init(&b);
    buf_init(&traffic, (size_t)1 << 28);
    for (int i = 0; i < FEWER; i++)
        buf_printf(&traffic,
                   "c2s {\"id\":%d,\"method\":\"tools/list\"}\n"
                   "s2c {\"id\":%d,\"result\":{\"tools\":[],\"nextCursor\":\"%d\"}}\n",
                   i, i, i);
    feed(&b, &traffic);
    assert_true(b.most_open <= LIMIT_OPEN_OPERATIONS);
    assert_true(b.most_held <= LIMIT_OPEN_OPERATION_BYTES);
    assert_int_equal(op_builder_evicted(&b.builder), 0); /* they were answered */
    finish(&b);
    assert_line(&b, 1, "1 c2s tools/list id=0 ok more-pages | 1:request 2:response");
    buf_release(&traffic);
    bench_release(&b);
}

static void a_task_may_be_polled_without_limit(void **state)
{
    struct bench b;
    struct buf traffic;

    (void)state;
    bench_init(&b);
    buf_init(&traffic, (size_t)1 << 28);
    buf_printf(&traffic, "c2s {\"id\":0,\"method\":\"tools/call\"}\n"
                         "s2c {\"id\":0,\"result\":{\"resultType\":\"task\",\"taskId\":\"t\","
                         "\"status\":\"working\"}}\n");
    for (int i = 1; i <= FEWER; i++)
        buf_printf(&traffic,
                   "c2s {\"id\":%d,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"t\"}}\n"
                   "s2c {\"id\":%d,\"result\":{\"taskId\":\"t\",\"status\":\"working\"}}\n",
                   i, i);
    feed(&b, &traffic);
    assert_int_equal(b.most_open, 2);
    assert_true(b.most_held < 4096);
    finish(&b);
    assert_line(&b, 1,
                "1 c2s tools/call id=0 pending response=task task=t task task*30000 | "
                "1:request 2:response");
    buf_release(&traffic);
    bench_release(&b);
}

/* The pairing has its own limit, for the text of ids: each abandoned request is reported. */
static void ids_of_a_megabyte_are_limited(void **state)
{
    struct bench b;
    struct buf traffic;

    (void)state;
    bench_init(&b);
    buf_init(&traffic, (size_t)1 << 28);
    for (int i = 0; i < 10; i++)
        buf_printf(&traffic, "c2s {\"id\":\"%d%01000000d\",\"method\":\"a\"}\n", i, 0);
    feed(&b, &traffic);
    assert_int_equal(b.builder.open_ops.count, 4);
    assert_int_equal(op_builder_evicted(&b.builder), 6);
    buf_printf(&traffic, "s2c {\"id\":\"%d%01000000d\",\"result\":{}}\n", 5, 0);
    feed(&b, &traffic);
    assert_true(str_starts(op_lines_get(&b.tally, 11), STR("11<6:after-end response s2c ")));
    assert_true(
        str_ends(op_lines_get(&b.tally, 11), STR(" ok after-end truncated | 1:response")));
    finish(&b);
    buf_release(&traffic);
    bench_release(&b);
}

/* Continues after it returned false. */
struct repeating_sink {
    struct sink sink;
    struct op_builder *to;
    size_t refused;
};

static bool put_more_records(struct sink *self, const struct record *r, struct err *e)
{
    struct repeating_sink *s = (struct repeating_sink *)self;
    struct err why = ERR_NONE;

    (void)e;
    if (s->to->sink.put(&s->to->sink, r, &why)) {
        assert_int_equal(s->refused, 0);
    } else {
        assert_string_equal(why.msg, "no room");
        s->refused++;
    }
    return true;
}

/* Three messages and two ends make five events. */
static void a_sink_that_fails_gets_no_more_operations(void **state)
{
    static const size_t refused[] = { [1] = 3, [2] = 2, [3] = 1, [4] = 1, [5] = 0, [6] = 0 };

    (void)state;
    for (size_t at = 1; at <= 6; at++) {
        struct repeating_sink s = { .sink = { put_more_records } };
        struct err e = ERR_NONE;
        struct bench b;

        bench_init(&b);
        s.to = &b.builder;
        b.tally.fails_at = at;
        terse_feed(&s.sink, "c2s {'id':1,'method':'a'}\n"
                            "c2s {'id':2,'method':'b'}\n"
                            "s2c {'id':1,'result':{}}\n");
        assert_int_equal(s.refused, refused[at]);
        assert_int_equal(op_builder_finish(&b.builder, &e), at == 6);
        assert_string_equal(e.msg, at == 6 ? "" : "no room");
        assert_int_equal(b.tally.events, at == 6 ? 5 : at);
        bench_release(&b);
    }
}

/* Remembers where the latest operation was. */
struct locator {
    struct operation_sink sink;
    struct operation latest; /* its texts are gone */
};

static bool locate(struct operation_sink *self, const struct operation_event *ev, struct err *e)
{
    (void)e;
    if (!ev->message)
        ((struct locator *)self)->latest = *ev->op;
    return true;
}

static void an_operation_has_its_position_and_size(void **state)
{
    static const char initialize_message[] = "{'id':1,'method':'initialize'}";
    struct locator found = { .sink = { locate } };
    struct err e = ERR_NONE;
    struct op_builder g;

    (void)state;
    op_builder_init(&g, &found.sink);
    terse_feed(&g.sink, "@10 conn=3 x=7 c2s {'id':1,'method':'initialize'}\n"
                        "@25 session=4 x=7 stream=5 s2c {'id':1,'result':{}}\n");
    assert_int_equal(found.latest.has, HAS_CONN | HAS_EXCHANGE | HAS_SESSION);
    assert_int_equal(found.latest.conn, 3);
    assert_int_equal(found.latest.exchange, 7);
    assert_int_equal(found.latest.session, 4); /* the answer brought it */
    assert_int_equal(found.latest.first_us, 10);
    assert_int_equal(found.latest.last_us, 25);
    assert_int_equal(found.latest.request_bytes, strlen(initialize_message));
    assert_int_equal(found.latest.response_bytes, strlen("{'id':1,'result':{}}"));
    assert_int_equal(found.latest.bytes,
                     found.latest.request_bytes + found.latest.response_bytes);
    assert_true(op_builder_finish(&g, &e));
    op_builder_release(&g);
}

static void open_operations_may_be_dropped(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b);
    terse_feed(&b.sink, "c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}\n"
                        "batch=1:0/2 c2s {'id':2,'method':'tools/list'}\n"
                        "s2c {'id':2,'result':{'nextCursor':'x'}}\n"
                        "s2c {'id':1,'result':{'task':{'taskId':'t','status':'working'}}}");
    bench_release(&b);
}

/* Unrealistic traffic: every message refers to any other. */
static unsigned dice, ids;

static unsigned roll(unsigned sides)
{
    dice = dice * 1103515245u + 12345u;
    return (dice >> 16) % sides;
}

static void add_marks(struct buf *to)
{
    static const char *const marks[] = { "", "", "conn=2 ", "session=1 ", "session=2 ", "" };

    buf_printf(to, "@%u ", roll(1000));
    buf_printf(to, "%s", marks[roll(6)]);
    if (roll(3) == 0)
        buf_printf(to, "x=%u ", roll(6));
    if (roll(5) == 0)
        buf_printf(to, "stream=%u ", roll(6));
}

static void add_request(struct buf *to)
{
    static const char *const methods[] = { "tools/call",           "tools/list",   "tasks/get",
                                           "tasks/result",         "tasks/update", "ping",
                                           "subscriptions/listen", "tasks/cancel" };

    buf_printf(to, "%s {\"id\":%u,\"method\":\"%s\",\"params\":{\"name\":\"n%u\"",
               roll(3) ? "c2s" : "s2c", roll(ids), methods[roll(8)], roll(2));
    if (roll(2))
        buf_printf(to, ",\"taskId\":\"t%u\"", roll(3));
    if (roll(3) == 0)
        buf_printf(to, ",\"cursor\":\"c%u\"", roll(3));
    if (roll(4) == 0)
        buf_printf(to, ",\"requestState\":\"s%u\"", roll(3));
    if (roll(4) == 0)
        buf_printf(to, ",\"inputResponses\":{\"i%u\":{}}", roll(2));
    buf_printf(to, ",\"_meta\":{");
    if (roll(3) == 0)
        buf_printf(to, "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"t%u\"},",
                   roll(3));
    buf_printf(to, "\"progressToken\":%u%s}}}\n", roll(4),
               roll(2) ? ",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"" : "");
}

static void add_answer(struct buf *to)
{
    static const char *const results[] = {
        "{}",
        "{\"isError\":true}",
        "{\"nextCursor\":\"c1\",\"tools\":[1]}",
        "{\"nextCursor\":\"c2\"}",
        "{\"resultType\":\"input_required\",\"requestState\":\"s1\"}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"i1\":{}}}",
        "{\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":\"working\"}",
        "{\"task\":{\"taskId\":\"t2\",\"status\":\"completed\"}}",
        "{\"taskId\":\"t1\",\"status\":\"completed\",\"result\":{}}",
        "{\"taskId\":\"t2\",\"status\":\"cancelled\"}",
        "{\"taskId\":\"t2\",\"status\":\"failed\",\"error\":{\"code\":1}}",
        "{\"taskId\":\"t1\",\"status\":\"input_required\",\"inputRequests\":{}}",
        "{\"resultType\":\"task\",\"taskId\":\"t0\",\"status\":\"completed\",\"result\":{}}",
    };

    buf_printf(to, "%s {\"id\":%u,", roll(3) ? "s2c" : "c2s", roll(ids));
    if (roll(5))
        buf_printf(to, "\"result\":%s}\n", results[roll(13)]);
    else
        buf_printf(to, "\"error\":{\"code\":-32602}}\n");
}

static void add_notification(struct buf *to)
{
    static const char *const methods[] = {
        "notifications/progress", "notifications/cancelled",    "notifications/message",
        "notifications/tasks",    "notifications/tasks/status", "x"
    };

    buf_printf(to, "%s {\"method\":\"%s\",\"params\":{\"progressToken\":%u,\"requestId\":%u,",
               roll(3) ? "s2c" : "c2s", methods[roll(6)], roll(4), roll(ids));
    buf_printf(to, "\"taskId\":\"t%u\",\"status\":\"%s\",\"_meta\":{", roll(3),
               roll(2) ? "cancelled" : "working");
    if (roll(2))
        buf_printf(to, "\"io.modelcontextprotocol/subscriptionId\":%u", roll(5));
    buf_printf(to, "}}}\n");
}

static void add_line(struct buf *to)
{
    unsigned what = roll(40);

    if (what == 0 && ids < 100 && roll(50) == 0) {
        buf_printf(to, "| {\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
                       "\"2026-01-01T00:00:00.000Z\",\"upstream\":\"x\","
                       "\"thoughtjack_version\":\"0.3.0\"}\n");
        return;
    }
    if (what < 3) {
        buf_printf(to, "session=1 x=%u stream=%u http %u resumes %u\n", roll(6), roll(6),
                   roll(2) ? 200 : 401, roll(6));
        return;
    }
    if (what < 6) {
        buf_printf(to, "x=%u http end %s\n", roll(6), roll(2) ? "client" : "server");
        return;
    }
    add_marks(to);
    if (what == 6) {
        buf_printf(to, "raw %s noise\n", roll(2) ? "s2c" : "c2s");
        return;
    }
    if (roll(10) == 0)
        buf_printf(to, "redelivers=%u ", roll(9));
    if (roll(5) == 0)
        buf_printf(to, "batch=%u:%u/3 ", roll(3), roll(3));
    if (what < 18)
        add_request(to);
    else if (what < 32)
        add_answer(to);
    else
        add_notification(to);
}

static void make_traffic(struct buf *to, unsigned seed, unsigned of_ids, size_t lines)
{
    dice = seed;
    ids = of_ids;
    while (lines--)
        add_line(to);
}

static void random_traffic_gives_every_message_an_operation(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 15; seed++) {
        struct buf traffic, first, second;
        struct bench b;

        buf_init(&traffic, (size_t)1 << 26);
        buf_init(&first, (size_t)1 << 26);
        buf_init(&second, (size_t)1 << 26);
        make_traffic(&traffic, seed, 5, 1500);
        op_lines_of_traffic(buf_str(&traffic), &first);
        bench_init(&b);
        feed(&b, &traffic);
        finish(&b);
        op_lines_write(&b.tally, &second);
        assert_str(buf_str(&second), buf_str(&first)); /* the same every time */
        bench_release(&b);
        buf_release(&traffic);
        buf_release(&first);
        buf_release(&second);
    }
}

/* Families of all kinds are torn apart for want of room. */
static void dropped_operations_are_neither_lost_nor_reported_twice(void **state)
{
    struct buf traffic;
    struct bench b;

    (void)state;
    buf_init(&traffic, (size_t)1 << 26);
    make_traffic(&traffic, 7, 30000, 70000);
    bench_init(&b);
    feed(&b, &traffic);
    assert_int_equal(b.most_open, LIMIT_OPEN_OPERATIONS);
    assert_true(op_builder_evicted(&b.builder) > 100);
    finish(&b);
    bench_release(&b);
    buf_release(&traffic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_open_requests_is_limited),
        cmocka_unit_test(unfinished_lists_are_limited),
        cmocka_unit_test(a_task_may_be_polled_without_limit),
        cmocka_unit_test(ids_of_a_megabyte_are_limited),
        cmocka_unit_test(a_sink_that_fails_gets_no_more_operations),
        cmocka_unit_test(an_operation_has_its_position_and_size),
        cmocka_unit_test(open_operations_may_be_dropped),
        cmocka_unit_test(random_traffic_gives_every_message_an_operation),
        cmocka_unit_test(dropped_operations_are_neither_lost_nor_reported_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
