#include "session.h"

#include <fcntl.h>
#include <unistd.h>

#include "loop/timer.h"
#include "test.h"

static void got_line(void *to, enum record_dir dir, struct str line)
{
    struct session *s = to;
    struct buf *b = dir == TO_SERVER ? &s->up : &s->down;

    if (s->on_line)
        s->on_line(s, dir, line.len);
    buf_add(b, line);
    buf_add_ch(b, '\n');
}

static void got_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct session *s = to;

    buf_printf(&s->events, "%s-too-long:%llu ", dir == TO_SERVER ? "up" : "down",
               (unsigned long long)bytes);
}

static void got_stderr(void *to, struct str bytes)
{
    struct session *s = to;

    buf_add_ch(&s->talk, '[');
    buf_add(&s->talk, bytes);
    buf_add_ch(&s->talk, ']');
}

static void got_exit(void *to, int code, int signum)
{
    struct session *s = to;

    buf_printf(&s->events, signum ? "signal:%d " : "exit:%d ", signum ? signum : code);
}

static void got_done(void *to)
{
    struct session *s = to;

    buf_printf(&s->events, "done ");
    loop_stop(s->loop);
}

const struct relay_events session_events = {
    .line = got_line,
    .too_long = got_too_long,
    .stderr_text = got_stderr,
    .exited = got_exit,
    .done = got_done,
};

static void client_got(void *to, struct str bytes)
{
    struct session *s = to;

    buf_add(&s->received, bytes);
    if (s->stop_at && str_ends(buf_str(&s->received), str_z(s->stop_at)))
        loop_stop(s->loop);
}

static void user_got(void *to, struct str bytes)
{
    struct session *s = to;

    buf_add(&s->errors, bytes);
    if (s->stop_at && str_ends(buf_str(&s->errors), str_z(s->stop_at)))
        loop_stop(s->loop);
}

static void ignore_end(void *to, const struct err *why)
{
    (void)to;
    (void)why;
}

void session_hang_up(struct session *s)
{
    stream_close(s->to_relay);
    s->to_relay = NULL;
}

static void client_wrote_all(void *to)
{
    struct session *s = to;

    if (s->close_when_written)
        session_hang_up(s);
}

static const struct stream_events client_in = { .data = client_got, .end = ignore_end };
static const struct stream_events user_in = { .data = user_got, .end = ignore_end };
static const struct stream_events client_out = { .drained = client_wrote_all };

static struct stream *open_end(struct session *s, int fd, const struct stream_events *events)
{
    struct stream *stream;
    struct err e = ERR_NONE;

    if (!stream_open(&stream, s->loop, fd, events, s, &e))
        fail_msg("%s", e.msg);
    return stream;
}

static void make_buffers(struct session *s)
{
    struct buf *all[] = { &s->received, &s->errors, &s->up, &s->down, &s->talk, &s->events };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_init(all[i], (size_t)1 << 26);
}

void session_begin(struct session *s, const char *script)
{
    char *const argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
    struct relay_config config = { .argv = argv, .max_line = SESSION_MAX_LINE };
    int in[2], out[2], errors[2], errnum;
    struct err e = ERR_NONE;

    *s = (struct session){ .loop = loop_new() };
    make_buffers(s);
    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
                pipe2(errors, O_CLOEXEC) == 0);
    config.client_in = in[0];
    config.client_out = out[1];
    config.errors = errors[1];
    s->received_fd = out[0];
    if (!relay_start(&s->relay, s->loop, &config, &session_events, s, &errnum, &e))
        fail_msg("%s", e.msg);
    s->to_relay = open_end(s, in[1], &client_out);
    s->from_relay = open_end(s, out[0], &client_in);
    s->from_errors = open_end(s, errors[0], &user_in);
    stream_read(s->from_relay, true);
    stream_read(s->from_errors, true);
}

void session_end(struct session *s)
{
    relay_close(s->relay);
    s->relay = NULL;
    stream_close(s->to_relay);
    s->to_relay = NULL;
    loop_run(s->loop); /* what is on its way to the client still arrives */
    stream_close(s->from_relay);
    stream_close(s->from_errors);
    loop_free(s->loop);
    buf_release(&s->received);
    buf_release(&s->errors);
    buf_release(&s->up);
    buf_release(&s->down);
    buf_release(&s->talk);
    buf_release(&s->events);
}

void session_run(struct session *s)
{
    loop_run(s->loop);
    relay_close(s->relay);
    s->relay = NULL;
    stream_close(s->to_relay);
    s->to_relay = NULL;
    loop_run(s->loop);
}

static void stop_loop(void *to)
{
    loop_stop(to);
}

void session_run_for(struct session *s, uint64_t ms)
{
    struct timer *t = timer_new(s->loop, stop_loop, s->loop);

    timer_set(t, ms);
    loop_run(s->loop);
    timer_close(t);
}

void session_say(struct session *s, struct str bytes)
{
    stream_write(s->to_relay, bytes);
}

void session_say_all_and_hang_up(struct session *s, struct str bytes)
{
    s->close_when_written = true;
    session_say(s, bytes);
    if (!stream_queued(s->to_relay))
        session_hang_up(s);
}

void session_fill(struct buf *b, size_t n, uint32_t seed)
{
    buf_init(b, n);
    while (b->len < n) {
        seed = seed * 1664525 + 1013904223;
        buf_add_ch(b, seed >> 24 < 2 ? '\n' : (char)(seed >> 16));
    }
}
