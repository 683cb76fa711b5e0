#include "loop/write-batch.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "test.h"

/* A receiver: the bytes of each write in brackets. */
struct batch_receiver {
    struct buf *seen;
    char name;
};

static void note_sent(void *to, struct str bytes)
{
    struct batch_receiver *p = to;

    buf_printf(p->seen, "%c[%.*s]", p->name, (int)(bytes.len < 10 ? bytes.len : 10), bytes.at);
}

struct order_run {
    struct loop *loop;
    struct write_batch *box;
    struct timer *timer;
    struct buf seen;
    struct batch_receiver a, b;
};

static void set_up(struct order_run *r)
{
    *r = (struct order_run){ .loop = loop_new() };
    buf_init(&r->seen, 1 << 20);
    r->a = (struct batch_receiver){ &r->seen, 'a' };
    r->b = (struct batch_receiver){ &r->seen, 'b' };
    r->box = write_batch_new(r->loop, note_sent);
}

static void tear_down(struct order_run *r)
{
    write_batch_close(r->box);
    loop_free(r->loop);
    buf_release(&r->seen);
}

static void put(struct order_run *r, struct batch_receiver *to, struct str bytes)
{
    assert_true(write_batch_add(r->box, to, bytes));
}

static void added_bytes_are_sent_in_order_on_flush(void **state)
{
    struct order_run r;

    (void)state;
    set_up(&r);
    write_batch_flush(r.box);
    put(&r, &r.a, STR("1"));
    put(&r, &r.b, STR("2"));
    put(&r, &r.a, STR("3"));
    assert_str(buf_str(&r.seen), STR(""));
    write_batch_flush(r.box);
    assert_str(buf_str(&r.seen), STR("a[1]b[2]a[3]"));
    write_batch_flush(r.box);
    assert_str(buf_str(&r.seen), STR("a[1]b[2]a[3]"));
    tear_down(&r);
}

static void pieces_of_one_stream_are_sent_together(void **state)
{
    struct order_run r;

    (void)state;
    set_up(&r);
    put(&r, &r.a, STR("head "));
    put(&r, &r.a, STR("body"));
    put(&r, &r.b, STR("x"));
    write_batch_flush(r.box);
    assert_str(buf_str(&r.seen), STR("a[head body]b[x]"));
    tear_down(&r);
}

static void put_from_a_timer(void *to)
{
    struct order_run *r = to;

    put(r, &r->a, STR("late"));
    assert_str(buf_str(&r->seen), STR("a[early]"));
    timer_close(r->timer);
}

/* The next bytes may come much later. */
static void the_batch_is_flushed_before_the_loop_waits(void **state)
{
    struct order_run r;

    (void)state;
    set_up(&r);
    put(&r, &r.a, STR("early"));
    r.timer = timer_new(r.loop, put_from_a_timer, &r);
    timer_set(r.timer, 5);
    loop_run(r.loop); /* it does not keep the loop going by itself */
    assert_str(buf_str(&r.seen), STR("a[early]a[late]"));
    tear_down(&r);
}

static void a_full_batch_is_flushed(void **state)
{
    static char much[WRITE_BATCH_BYTES + 1];
    struct order_run r;

    (void)state;
    memset(much, 'm', sizeof much);
    set_up(&r);
    put(&r, &r.a, STR("1"));
    put(&r, &r.b, str_n(much, WRITE_BATCH_BYTES - 1));
    assert_str(buf_str(&r.seen), STR(""));
    put(&r, &r.a, STR("2"));
    assert_str(buf_str(&r.seen), STR("a[1]b[mmmmmmmmmm]"));
    assert_false(write_batch_add(r.box, &r.b, str_n(much, sizeof much)));
    assert_str(buf_str(&r.seen), STR("a[1]b[mmmmmmmmmm]a[2]"));
    tear_down(&r);
}

static void many_small_writes_flush_the_batch(void **state)
{
    struct order_run r;

    (void)state;
    set_up(&r);
    for (int i = 0; i < WRITE_BATCH_ITEMS; i++)
        put(&r, i % 2 ? &r.a : &r.b, STR("."));
    assert_int_equal(r.seen.len, 0);
    put(&r, &r.b, STR("!"));
    assert_int_equal(r.seen.len, WRITE_BATCH_ITEMS * strlen("a[.]"));
    tear_down(&r);
}

static void closing_sends_everything(void **state)
{
    struct order_run r;

    (void)state;
    set_up(&r);
    put(&r, &r.a, STR("last"));
    write_batch_close(r.box);
    r.box = NULL;
    assert_str(buf_str(&r.seen), STR("a[last]"));
    tear_down(&r);
}

/* A stream that is held, and its other end. */
struct batch_run {
    struct loop *loop;
    struct stream *stream;
    int far, drains, breaks;
    char seen[WRITE_BATCH_BYTES + 16];
};

static void note_drained(void *to)
{
    struct batch_run *w = to;

    w->drains++;
}

static void note_broken(void *to, const struct err *why)
{
    struct batch_run *w = to;

    assert_int_equal(why->kind, ERR_PEER);
    assert_int_equal(stream_queued(w->stream), 0);
    w->breaks++;
}

static void open_run(struct batch_run *w)
{
    static const struct stream_events events = { .drained = note_drained,
                                                 .broken = note_broken };
    struct err e = ERR_NONE;
    int fds[2];

    *w = (struct batch_run){ .loop = loop_new() };
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    w->far = fds[1];
    assert_true(stream_open(&w->stream, w->loop, fds[0], &events, w, &e));
    stream_batch_writes(w->stream);
}

static void close_wire(struct batch_run *w)
{
    stream_close(w->stream);
    close(w->far);
    loop_free(w->loop);
}

/* Returns the bytes at the other end now, without waiting. */
static struct str peek(struct batch_run *w)
{
    ssize_t n = recv(w->far, w->seen, sizeof w->seen, MSG_DONTWAIT);

    return str_n(w->seen, n > 0 ? (size_t)n : 0);
}

static void stop_loop(void *to)
{
    loop_stop(to);
}

static void turn(struct batch_run *w)
{
    struct timer *t = timer_new(w->loop, stop_loop, w->loop);

    timer_set(t, 5);
    loop_run(w->loop);
    timer_close(t);
}

static void bytes_held_by_a_stream_are_sent_before_the_loop_waits(void **state)
{
    struct batch_run w;

    (void)state;
    open_run(&w);
    stream_write(w.stream, STR("one "));
    stream_write(w.stream, STR("two"));
    assert_str(peek(&w), STR(""));
    turn(&w);
    assert_str(peek(&w), STR("one two"));
    assert_int_equal(w.drains, 0); /* nothing was ever queued */
    close_wire(&w);
}

static void get_queued_size(struct stream *s)
{
    assert_int_equal(stream_queued(s), 0);
}

static void later_bytes_do_not_overtake_held_ones(void **state)
{
    void (*const ways[])(struct stream *) = { get_queued_size, stream_shutdown };
    void (*const ends[])(struct stream *) = { stream_close, stream_reset };
    struct batch_run w;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_run(&w);
        stream_write(w.stream, STR("held"));
        ways[i](w.stream);
        assert_str(peek(&w), STR("held"));
        close_wire(&w);
        open_run(&w);
        stream_write(w.stream, STR("held"));
        ends[i](w.stream);
        w.stream = NULL;
        assert_str(peek(&w), STR("held"));
        close_wire(&w);
    }
}

static void held_bytes_for_a_closed_reader_give_one_error(void **state)
{
    struct batch_run w;

    (void)state;
    open_run(&w);
    shutdown(w.far, SHUT_RD);
    stream_write(w.stream, STR("held"));
    assert_int_equal(w.breaks, 0);
    turn(&w);
    assert_int_equal(w.breaks, 1);
    stream_write(w.stream, STR("dropped"));
    turn(&w);
    assert_int_equal(w.breaks, 1);
    close_wire(&w);
}

/* More bytes than a batch can hold are sent at once, after the held ones. */
static void large_writes_do_not_overtake_small_ones(void **state)
{
    static char much[WRITE_BATCH_BYTES + 1];
    static struct batch_run w;
    struct buf all;

    (void)state;
    memset(much, 'm', sizeof much);
    buf_init(&all, 1 << 20);
    open_run(&w);
    stream_write(w.stream, STR("a"));
    stream_write(w.stream, str_n(much, sizeof much));
    stream_write(w.stream, STR("z"));
    for (int i = 0; i < 1000 && all.len < sizeof much + 2; i++) {
        turn(&w);
        buf_add(&all, peek(&w));
    }
    assert_int_equal(all.len, sizeof much + 2);
    assert_true(str_starts(buf_str(&all), STR("am")));
    assert_str(str_skip(buf_str(&all), all.len - 2), STR("mz"));
    buf_release(&all);
    close_wire(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_bytes_are_sent_in_order_on_flush),
        cmocka_unit_test(pieces_of_one_stream_are_sent_together),
        cmocka_unit_test(the_batch_is_flushed_before_the_loop_waits),
        cmocka_unit_test(a_full_batch_is_flushed),
        cmocka_unit_test(many_small_writes_flush_the_batch),
        cmocka_unit_test(closing_sends_everything),
        cmocka_unit_test(bytes_held_by_a_stream_are_sent_before_the_loop_waits),
        cmocka_unit_test(later_bytes_do_not_overtake_held_ones),
        cmocka_unit_test(held_bytes_for_a_closed_reader_give_one_error),
        cmocka_unit_test(large_writes_do_not_overtake_small_ones),
    };
    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
