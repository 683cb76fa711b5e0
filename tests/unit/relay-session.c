#include "relay-session.h"

#include <fcntl.h>
#include <unistd.h>

#include "loop/timer.h"
#include "test.h"

static void on_line(void *to, enum record_dir dir, struct str line)
{
    struct relay_session *s = to;
    struct buf *b = dir == TO_SERVER ? &s->to_server : &s->to_client;

    if (s->on_line)
        s->on_line(s, dir, line.len);
    buf_add(b, line);
    buf_add_ch(b, '\n');
}

static void on_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct relay_session *s = to;

    buf_printf(&s->events, "%s-too-long:%llu ", dir == TO_SERVER ? "up" : "down",
               (unsigned long long)bytes);
}

static void on_stderr(void *to, struct str bytes)
{
    struct relay_session *s = to;

    buf_add_ch(&s->stderr_seen, '[');
    buf_add(&s->stderr_seen, bytes);
    buf_add_ch(&s->stderr_seen, ']');
}

static void on_exit_status(void *to, int code, int signum)
{
    struct relay_session *s = to;

    buf_printf(&s->events, signum ? "signal:%d " : "exit:%d ", signum ? signum : code);
}

static void on_done(void *to)
{
    struct relay_session *s = to;

    buf_printf(&s->events, "done ");
    loop_stop(s->loop);
}

const struct stdio_relay_events relay_session_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .exited = on_exit_status,
    .done = on_done,
};

static void on_client_data(void *to, struct str bytes)
{
    struct relay_session *s = to;

    buf_add(&s->client_text, bytes);
    if (s->stop_at && str_ends(buf_str(&s->client_text), str_z(s->stop_at)))
        loop_stop(s->loop);
}

static void on_stderr_data(void *to, struct str bytes)
{
    struct relay_session *s = to;

    buf_add(&s->stderr_text, bytes);
    if (s->stop_at && str_ends(buf_str(&s->stderr_text), str_z(s->stop_at)))
        loop_stop(s->loop);
}

static void ignore_end(void *to, const struct err *why)
{
    (void)to;
    (void)why;
}

void relay_session_close_client(struct relay_session *s)
{
    stream_close(s->client_out);
    s->client_out = NULL;
}

static void on_client_drained(void *to)
{
    struct relay_session *s = to;

    if (s->close_when_written)
        relay_session_close_client(s);
}

static const struct stream_events client_in = { .data = on_client_data, .end = ignore_end };
static const struct stream_events user_in = { .data = on_stderr_data, .end = ignore_end };
static const struct stream_events client_out = { .drained = on_client_drained };

static struct stream *open_end(struct relay_session *s, int fd,
                               const struct stream_events *events)
{
    struct stream *stream;
    struct err e = ERR_NONE;

    if (!stream_open(&stream, s->loop, fd, events, s, &e))
        fail_msg("%s", e.msg);
    return stream;
}

static void make_buffers(struct relay_session *s)
{
    struct buf *all[] = { &s->client_text, &s->stderr_text, &s->to_server,
                          &s->to_client,   &s->stderr_seen, &s->events };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_init(all[i], (size_t)1 << 26);
}

void relay_session_start(struct relay_session *s, const char *script)
{
    char *const argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
    struct stdio_relay_config config = { .argv = argv, .max_line = RELAY_SESSION_MAX_LINE };
    int in[2], out[2], errors[2], errnum;
    struct err e = ERR_NONE;

    *s = (struct relay_session){ .loop = loop_new() };
    make_buffers(s);
    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
                pipe2(errors, O_CLOEXEC) == 0);
    config.client_in = in[0];
    config.client_out = out[1];
    config.stderr_fd = errors[1];
    s->received_fd = out[0];
    if (!stdio_relay_start(&s->relay, s->loop, &config, &relay_session_events, s, &errnum, &e))
        fail_msg("%s", e.msg);
    s->client_out = open_end(s, in[1], &client_out);
    s->client_in = open_end(s, out[0], &client_in);
    s->client_err = open_end(s, errors[0], &user_in);
    stream_read(s->client_in, true);
    stream_read(s->client_err, true);
}

void relay_session_end(struct relay_session *s)
{
    stdio_relay_close(s->relay);
    s->relay = NULL;
    stream_close(s->client_out);
    s->client_out = NULL;
    loop_run(s->loop); /* bytes that were sent to the client still arrive */
    stream_close(s->client_in);
    stream_close(s->client_err);
    loop_free(s->loop);
    buf_release(&s->client_text);
    buf_release(&s->stderr_text);
    buf_release(&s->to_server);
    buf_release(&s->to_client);
    buf_release(&s->stderr_seen);
    buf_release(&s->events);
}

void relay_session_run(struct relay_session *s)
{
    loop_run(s->loop);
    stdio_relay_close(s->relay);
    s->relay = NULL;
    stream_close(s->client_out);
    s->client_out = NULL;
    loop_run(s->loop);
}

static void stop_loop(void *to)
{
    loop_stop(to);
}

void relay_session_run_for(struct relay_session *s, uint64_t ms)
{
    struct timer *t = timer_new(s->loop, stop_loop, s->loop);

    timer_set(t, ms);
    loop_run(s->loop);
    timer_close(t);
}

void relay_session_send(struct relay_session *s, struct str bytes)
{
    stream_write(s->client_out, bytes);
}

void relay_session_send_and_close(struct relay_session *s, struct str bytes)
{
    s->close_when_written = true;
    relay_session_send(s, bytes);
    if (!stream_queued(s->client_out))
        relay_session_close_client(s);
}

void relay_session_fill(struct buf *b, size_t n, uint32_t seed)
{
    buf_init(b, n);
    while (b->len < n) {
        seed = seed * 1664525 + 1013904223;
        buf_add_ch(b, seed >> 24 < 2 ? '\n' : (char)(seed >> 16));
    }
}
