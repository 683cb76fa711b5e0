#include "transport/stdio-client.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "test.h"

enum { MAX_LINE = 1000 };

/* A client at the other ends of two pipes, and its events. */
struct stdio_client_test {
    struct loop *loop;
    struct stdio_client *stdio;
    int to, from; /* the client's ends */
    struct buf events;
    struct str answer;     /* to every line */
    const char *finish_at; /* finish when this line comes */
    bool stop_when_closed;
    int drained;
};

static void done(void *to)
{
    struct stdio_client_test *v = to;

    buf_printf(&v->events, "done ");
    loop_stop(v->loop);
}

static void got_line(void *to, struct str line)
{
    struct stdio_client_test *v = to;

    buf_add_ch(&v->events, '[');
    buf_add(&v->events, line);
    buf_add(&v->events, STR("] "));
    if (v->answer.at)
        stdio_client_send(v->stdio, v->answer);
    if (v->finish_at && str_eq(line, str_z(v->finish_at)))
        stdio_client_finish(v->stdio, done, v);
}

static void got_too_long(void *to, uint64_t bytes)
{
    struct stdio_client_test *v = to;

    buf_printf(&v->events, "too-long:%llu ", (unsigned long long)bytes);
}

static void got_closed(void *to)
{
    struct stdio_client_test *v = to;

    buf_printf(&v->events, "closed ");
    if (v->stop_when_closed)
        loop_stop(v->loop);
}

static void got_lost(void *to, const struct err *why)
{
    struct stdio_client_test *v = to;

    buf_printf(&v->events, "lost (%s) ", why->msg);
}

static void got_drained(void *to)
{
    struct stdio_client_test *v = to;

    v->drained++;
}

static void got_gone(void *to)
{
    struct stdio_client_test *v = to;

    buf_printf(&v->events, "gone ");
}

static const struct stdio_client_events events = {
    .output_closed = got_gone,
    .drained = got_drained,
    .line = got_line,
    .too_long = got_too_long,
    .input_closed = got_closed,
    .write_failed = got_lost,
};

static void begin(struct stdio_client_test *v)
{
    int in[2], out[2];
    struct err e = ERR_NONE;

    *v = (struct stdio_client_test){ .loop = loop_new(), .stop_when_closed = true };
    buf_init(&v->events, (size_t)1 << 24);
    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    v->to = in[1];
    v->from = out[0];
    if (!stdio_client_open(&v->stdio, v->loop, in[0], out[1], MAX_LINE, &events, v, &e))
        fail_msg("%s", e.msg);
}

static void end(struct stdio_client_test *v)
{
    stdio_client_close(v->stdio);
    if (v->to >= 0)
        close(v->to);
    if (v->from >= 0)
        close(v->from);
    loop_free(v->loop);
    buf_release(&v->events);
}

static void send_bytes(struct stdio_client_test *v, struct str bytes)
{
    assert_int_equal(write(v->to, bytes.at, bytes.len), bytes.len);
}

static void close_client_side(struct stdio_client_test *v)
{
    close(v->to);
    v->to = -1;
}

static void assert_received(struct stdio_client_test *v, const char *want)
{
    char got[1000];
    ssize_t n;

    assert_int_equal(fcntl(v->from, F_SETFL, O_NONBLOCK), 0);
    n = read(v->from, got, sizeof got);
    assert_str(str_n(got, n > 0 ? (size_t)n : 0), str_z(want));
}

static void complete_lines_are_reported_and_the_end_once(void **state)
{
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    send_bytes(&v, STR("one\n\ntwo\r\nth"));
    send_bytes(&v, STR("ree\nno newline"));
    close_client_side(&v);
    loop_run(v.loop);
    assert_str(buf_str(&v.events), STR("[one] [] [two\r] [three] [no newline] closed "));
    loop_run(v.loop);
    assert_str(buf_str(&v.events), STR("[one] [] [two\r] [three] [no newline] closed "));
    end(&v);
}

static void a_too_long_line_is_only_counted(void **state)
{
    char line[1500];
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    memset(line, 'x', sizeof line);
    send_bytes(&v, str_n(line, sizeof line));
    send_bytes(&v, STR("\nok\n"));
    send_bytes(&v, str_n(line, MAX_LINE + 1));
    close_client_side(&v);
    loop_run(v.loop);
    assert_str(buf_str(&v.events), STR("too-long:1500 [ok] too-long:1001 closed "));
    end(&v);
}

static void a_message_is_written_with_its_newline(void **state)
{
    char got[20];
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    stdio_client_send(v.stdio, STR("one"));
    stdio_client_send(v.stdio, STR(""));
    stdio_client_send(v.stdio, STR("a\0b"));
    assert_int_equal(read(v.from, got, sizeof got), 9);
    assert_memory_equal(got, "one\n\na\0b\n", 9);
    end(&v);
}

/* The output for the client. */
struct reading {
    struct buf got;
};

static void read_on(void *to, struct str bytes)
{
    buf_add(&((struct reading *)to)->got, bytes);
}

static void read_no_more(void *to, const struct err *why)
{
    (void)to;
    (void)why;
}

static const struct stream_events reading_events = { .data = read_on, .end = read_no_more };

static void stop_loop(void *to)
{
    loop_stop(to);
}

static void wait_a_little(struct loop *l, uint64_t ms)
{
    struct timer *t = timer_new(l, stop_loop, l);

    timer_set(t, ms);
    loop_run(l);
    timer_close(t);
}

/* Messages of every size around where they stop going out in one piece. */
static void long_messages_are_written_completely_and_in_order(void **state)
{
    static const size_t sizes[] = { 65535, 65536, 65537, 3000000, 1, 200000 };
    struct reading r;
    struct err e = ERR_NONE;
    struct stream *client;
    struct buf want, message;
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    buf_init(&r.got, (size_t)1 << 24);
    buf_init(&want, (size_t)1 << 24);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buf_init(&message, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            buf_add_ch(&message, (char)('a' + (k * 7 + i) % 26));
        stdio_client_send(v.stdio, buf_str(&message));
        buf_add(&want, buf_str(&message));
        buf_add_ch(&want, '\n');
        buf_release(&message);
    }
    assert_true(stream_open(&client, v.loop, v.from, &reading_events, &r, &e));
    v.from = -1;
    stream_read(client, true);
    stdio_client_finish(v.stdio, done, &v);
    loop_run(v.loop);
    assert_str(buf_str(&v.events), STR("done "));
    stdio_client_close(v.stdio);
    v.stdio = NULL;
    wait_a_little(v.loop, 50);
    assert_true(str_eq(buf_str(&r.got), buf_str(&want)));
    stream_close(client);
    end(&v);
    buf_release(&r.got);
    buf_release(&want);
}

/* Each line makes an answer of 100 KB: the input of a client that does not read is paused, and
 * the client gets everything when it reads. */
static void a_client_that_does_not_read_is_not_read(void **state)
{
    struct reading r;
    struct err e = ERR_NONE;
    struct stream *client;
    struct buf answer;
    struct stdio_client_test v;
    size_t received;

    (void)state;
    begin(&v);
    buf_init(&r.got, (size_t)1 << 26);
    buf_init(&answer, 100000);
    while (answer.len < 100000)
        buf_add_ch(&answer, 'x');
    v.answer = buf_str(&answer);
    for (int i = 0; i < 50; i++) { /* one by one: each may be the last that is read */
        send_bytes(&v, STR("?\n"));
        wait_a_little(v.loop, 2);
    }
    received = v.events.len / 4;
    assert_in_range(received, 10, 30);
    assert_true(stream_open(&client, v.loop, v.from, &reading_events, &r, &e));
    v.from = -1;
    stream_read(client, true);
    close_client_side(&v);
    loop_run(v.loop);
    assert_int_equal(v.events.len, 50 * 4 + strlen("closed "));
    stdio_client_finish(v.stdio, done, &v);
    loop_run(v.loop);
    stdio_client_close(v.stdio);
    v.stdio = NULL;
    wait_a_little(v.loop, 50);
    assert_int_equal(r.got.len, 50 * 100001);
    stream_close(client);
    end(&v);
    buf_release(&r.got);
    buf_release(&answer);
}

static void reading_from_the_client_can_be_paused(void **state)
{
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    stdio_client_read(v.stdio, false);
    send_bytes(&v, STR("one\n"));
    wait_a_little(v.loop, 20);
    assert_str(buf_str(&v.events), STR(""));
    stdio_client_read(v.stdio, true);
    close_client_side(&v);
    loop_run(v.loop);
    assert_str(buf_str(&v.events), STR("[one] closed "));
    end(&v);
}

static void queued_and_drained_are_reported(void **state)
{
    static char much[1 << 20];
    struct err e = ERR_NONE;
    struct stream *client;
    struct reading r;
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    v.stop_when_closed = false;
    buf_init(&r.got, (size_t)1 << 24);
    memset(much, 'x', sizeof much);
    assert_int_equal(stdio_client_queued(v.stdio), 0);
    stdio_client_send(v.stdio, str_n(much, sizeof much));
    assert_true(stdio_client_queued(v.stdio) > 0);
    assert_int_equal(v.drained, 0);
    assert_true(stream_open(&client, v.loop, v.from, &reading_events, &r, &e));
    stream_read(client, true);
    while (!v.drained)
        wait_a_little(v.loop, 10);
    assert_int_equal(stdio_client_queued(v.stdio), 0);
    v.from = -1;
    stream_close(client);
    buf_release(&r.got);
    end(&v);
}

static void a_closed_client_is_reported_once(void **state)
{
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    close(v.from);
    v.from = -1;
    stdio_client_send(v.stdio, STR("hello"));
    stdio_client_send(v.stdio, STR("hello"));
    assert_str(buf_str(&v.events), STR("closed gone "));
    send_bytes(&v, STR("still here\n")); /* the owner gets no more events */
    wait_a_little(v.loop, 20);
    close_client_side(&v);
    wait_a_little(v.loop, 20);
    assert_str(buf_str(&v.events), STR("closed gone "));
    stdio_client_finish(v.stdio, done, &v);
    assert_str(buf_str(&v.events), STR("closed gone done "));
    end(&v);
}

static void a_write_error_is_reported_once(void **state)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct err e = ERR_NONE;
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    stdio_client_close(v.stdio);
    if (!stdio_client_open(&v.stdio, v.loop, open("/dev/zero", O_RDONLY | O_CLOEXEC), full,
                           MAX_LINE, &events, &v, &e))
        fail_msg("%s", e.msg);
    stdio_client_send(v.stdio, STR("hello"));
    stdio_client_send(v.stdio, STR("hello"));
    assert_str(buf_str(&v.events), STR("lost (no space left on device) closed gone "));
    end(&v);
}

static void after_finish_no_events_come(void **state)
{
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    v.finish_at = "two";
    v.answer = STR("!");
    send_bytes(&v, STR("one\ntwo\nthree\n"));
    loop_run(v.loop);
    close_client_side(&v);
    wait_a_little(v.loop, 20);
    assert_str(buf_str(&v.events), STR("[one] [two] done "));
    assert_received(&v, "!\n!\n");
    end(&v);
}

static void finishing_waits_until_all_is_written_or_lost(void **state)
{
    struct buf much;
    struct stdio_client_test v;

    (void)state;
    begin(&v);
    buf_init(&much, 500000);
    while (much.len < 500000)
        buf_add_ch(&much, 'x');
    stdio_client_send(v.stdio, buf_str(&much));
    stdio_client_finish(v.stdio, done, &v);
    wait_a_little(v.loop, 20);
    assert_str(buf_str(&v.events), STR(""));
    close(v.from);
    v.from = -1;
    loop_run(v.loop);
    assert_str(buf_str(&v.events), STR("gone done "));
    end(&v);
    buf_release(&much);
}

static void an_open_error_is_reported(void **state)
{
    struct loop *l = loop_new();
    struct stdio_client *s = NULL;
    struct err e = ERR_NONE;
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_false(stdio_client_open(&s, l, 987, fds[1], MAX_LINE, &events, NULL, &e));
    assert_string_equal(e.msg, "cannot use descriptor 987: bad file descriptor");
    assert_false(stdio_client_open(&s, l, fds[0], 987, MAX_LINE, &events, NULL, &e));
    assert_string_equal(e.msg, "cannot use descriptor 987: bad file descriptor");
    assert_null(s);
    stdio_client_close(NULL);
    loop_free(l);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_lines_are_reported_and_the_end_once),
        cmocka_unit_test(a_too_long_line_is_only_counted),
        cmocka_unit_test(a_message_is_written_with_its_newline),
        cmocka_unit_test(long_messages_are_written_completely_and_in_order),
        cmocka_unit_test(a_client_that_does_not_read_is_not_read),
        cmocka_unit_test(reading_from_the_client_can_be_paused),
        cmocka_unit_test(queued_and_drained_are_reported),
        cmocka_unit_test(a_closed_client_is_reported_once),
        cmocka_unit_test(a_write_error_is_reported_once),
        cmocka_unit_test(after_finish_no_events_come),
        cmocka_unit_test(finishing_waits_until_all_is_written_or_lost),
        cmocka_unit_test(an_open_error_is_reported),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
