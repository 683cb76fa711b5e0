#include "transport/stdio-relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "relay-session.h"
#include "temp-dir.h"
#include "test.h"

static void every_byte_is_forwarded_in_both_directions(void **state)
{
    struct relay_session s;
    struct buf all;

    (void)state;
    relay_session_fill(&all, 3000000, 1);
    relay_session_start(&s, "exec cat");
    relay_session_send_and_close(&s, buf_str(&all));
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:0 done "));
    assert_true(str_eq(buf_str(&s.client_text), buf_str(&all)));
    buf_add_ch(&s.client_text, '\n'); /* the last line had none */
    assert_true(str_eq(buf_str(&s.to_server), buf_str(&s.client_text)));
    assert_true(str_eq(buf_str(&s.to_client), buf_str(&s.client_text)));
    relay_session_end(&s);
    buf_release(&all);
}

/* In pieces of every size, each after the one before it has come back. */
static void every_split_is_forwarded(void **state)
{
    struct relay_session s;
    struct buf all;
    size_t at = 0;

    (void)state;
    relay_session_fill(&all, 20000, 7);
    relay_session_start(&s, "exec cat");
    for (size_t n = 1; at < all.len; n = n * 5 % 911 + 1) {
        struct str piece = str_n(all.at + at, n < all.len - at ? n : all.len - at);

        relay_session_send(&s, piece);
        at += piece.len;
        while (s.client_text.len < at)
            relay_session_run_for(&s, 1);
    }
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_true(str_eq(buf_str(&s.client_text), buf_str(&all)));
    buf_add_ch(&s.client_text, '\n');
    assert_true(str_eq(buf_str(&s.to_server), buf_str(&s.client_text)));
    assert_true(str_eq(buf_str(&s.to_client), buf_str(&s.client_text)));
    relay_session_end(&s);
    buf_release(&all);
}

static size_t waiting_in(int fd)
{
    int n = 0;

    assert_int_equal(ioctl(fd, FIONREAD, &n), 0);
    return (size_t)n;
}

/* Neither in the client's pipe nor in its hands may be the end of a line that is
 * only now handed over. */
static void check_client_has_not_got_it(struct relay_session *s, enum record_dir dir,
                                        size_t len)
{
    if (dir == TO_CLIENT)
        assert_true(s->client_text.len + waiting_in(s->received_fd) <= s->to_client.len + len);
}

static void the_owner_gets_a_line_before_the_client(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(
        &s, "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i; done; printf 'a'; sleep 0.1;"
            "echo b; printf 'c\\nd\\n'");
    s.on_line = check_client_has_not_got_it;
    relay_session_run(&s);
    assert_true(str_eq(buf_str(&s.client_text), buf_str(&s.to_client)));
    assert_true(str_ends(buf_str(&s.to_client), STR("\n300\nab\nc\nd\n")));
    relay_session_end(&s);
}

/* The server reads nothing: its pipe has the forwarded bytes. */
static void check_server_has_not_got_it(struct relay_session *s, enum record_dir dir,
                                        size_t len)
{
    if (dir == TO_SERVER)
        assert_true(waiting_in(s->server_stdin) <= s->to_server.len + len);
}

static void the_owner_gets_a_line_before_the_server(void **state)
{
    char path[64];
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "echo $$; exec sleep 1000");
    s.stop_at = "\n";
    loop_run(s.loop);
    snprintf(path, sizeof path, "/proc/%.*s/fd/0", (int)s.client_text.len - 1,
             s.client_text.at);
    s.server_stdin = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(s.server_stdin >= 0);
    s.on_line = check_server_has_not_got_it;
    relay_session_send(&s, STR("a\nb\nc\n"));
    relay_session_send(&s, STR("d"));
    relay_session_send(&s, STR("e\nf"));
    while (waiting_in(s.server_stdin) < 10)
        relay_session_run_for(&s, 1);
    assert_str(buf_str(&s.to_server), STR("a\nb\nc\nde\n"));
    stdio_relay_signal(s.relay, SIGKILL);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("signal:9 done "));
    close(s.server_stdin);
    relay_session_end(&s);
}

static void the_start_of_a_line_is_forwarded_before_its_end(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "printf abc; read x; echo def");
    s.stop_at = "abc";
    loop_run(s.loop);
    assert_str(buf_str(&s.client_text), STR("abc"));
    assert_str(buf_str(&s.to_client), STR(""));
    relay_session_send(&s, STR("\n"));
    relay_session_run(&s);
    assert_str(buf_str(&s.to_client), STR("abcdef\n"));
    relay_session_end(&s);
}

static void the_exit_code_of_the_server_is_reported(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "cat; exit 42");
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:42 done "));
    relay_session_end(&s);
}

/* Its output during the exit is waited for, and more than once. */
static void a_busy_server_is_not_terminated_after_the_end(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(
        &s, "cat; for i in 1 2 3 4; do sleep 0.2; echo $i; done; sleep 0.2; echo 5 >&2; "
            "sleep 0.2; exit 6");
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:6 done "));
    assert_str(buf_str(&s.client_text), STR("1\n2\n3\n4\n"));
    relay_session_end(&s);
}

static void a_server_that_ignores_the_end_gets_sigterm(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "trap 'echo asked; exit 7' TERM; while :; do sleep 0.02; done");
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:7 done "));
    assert_str(buf_str(&s.client_text), STR("asked\n"));
    relay_session_end(&s);
}

static void a_server_that_ignores_sigterm_is_killed(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "trap '' TERM; while :; do sleep 0.02; done");
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("signal:9 done "));
    relay_session_end(&s);
}

static void a_signal_is_forwarded_to_the_server(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(
        &s, "trap 'echo interrupted; exit 8' INT; echo up; while :; do sleep 0.02; done");
    s.stop_at = "up\n";
    loop_run(s.loop);
    stdio_relay_signal(s.relay, SIGINT);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:8 done "));
    assert_str(buf_str(&s.client_text), STR("up\ninterrupted\n"));
    relay_session_end(&s);
}

/* A pipe that is inherited by the whole family: its end shows that all are gone. */
static void make_mark(int mark[2])
{
    assert_int_equal(pipe(mark), 0);
    assert_int_equal(fcntl(mark[0], F_SETFD, FD_CLOEXEC), 0);
}

static void assert_all_gone(int mark[2])
{
    char c;

    close(mark[1]);
    assert_int_equal(read(mark[0], &c, 1), 0);
    close(mark[0]);
}

static void descendants_do_not_outlive_the_session(void **state)
{
    struct relay_session s;
    int mark[2];

    (void)state;
    make_mark(mark);
    relay_session_start(
        &s, "(trap '' TERM; sleep 1000) & echo up; printf rest; printf talk >&2; exit 5");
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:5 done "));
    assert_str(buf_str(&s.client_text), STR("up\nrest"));
    /* Text without a newline was forwarded and is reported, too. */
    assert_str(buf_str(&s.to_client), STR("up\nrest\n"));
    assert_str(buf_str(&s.stderr_seen), STR("[talk]"));
    assert_all_gone(mark);
    relay_session_end(&s);
}

static void an_incomplete_line_of_the_client_is_forwarded(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "read x; exit 0");
    relay_session_send(&s, STR("one\ntw"));
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:0 done "));
    assert_str(buf_str(&s.to_server), STR("one\ntw\n"));
    relay_session_end(&s);
}

static void a_server_that_does_not_read_pauses_the_client_only(void **state)
{
    struct relay_session s;
    struct buf all;

    (void)state;
    relay_session_fill(&all, 8000000, 3);
    relay_session_start(&s,
                        "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; exec sleep 1000");
    relay_session_send(&s, buf_str(&all));
    s.stop_at = "5\n";
    loop_run(s.loop);
    /* Not all input of the client was read: the buffer is bounded. */
    assert_true(stream_queued(s.client_out) > 4000000);
    assert_true(s.to_server.len < 4000000);
    stdio_relay_signal(s.relay, SIGTERM);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("signal:15 done "));
    relay_session_end(&s);
    buf_release(&all);
}

/* A server that closes its stdin with much on the way to it and lives on: the client
 * is read again, so that its end is seen. */
static void a_server_that_closes_stdin_does_not_block_the_client(void **state)
{
    struct relay_session s;
    struct buf all;

    (void)state;
    relay_session_fill(&all, 8000000, 3);
    relay_session_start(
        &s, "sleep 0.3; exec <&-; trap 'exit 3' TERM; while :; do sleep 0.02; done");
    relay_session_send_and_close(&s, buf_str(&all));
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:3 done "));
    assert_int_equal(s.to_server.len, all.len + 1);
    relay_session_end(&s);
    buf_release(&all);
}

static void a_closed_client_ends_the_session(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "while :; do echo tick; sleep 0.02; done");
    s.stop_at = "tick\n";
    loop_run(s.loop);
    stream_close(s.client_in);
    s.client_in = NULL;
    relay_session_run(&s);
    /* As if they were connected directly. */
    assert_str(buf_str(&s.events), STR("signal:13 done "));
    relay_session_end(&s);

    relay_session_start(&s, "echo up; cat >/dev/null; exit 3");
    s.stop_at = "up\n";
    loop_run(s.loop);
    stream_close(s.client_in);
    s.client_in = NULL;
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:3 done "));
    relay_session_end(&s);
}

static void resume_reading(void *to)
{
    struct relay_session *s = to;

    stream_read(s->client_in, true);
}

/* The server is long gone when the client gets round to reading. */
static void a_slow_client_gets_everything(void **state)
{
    struct relay_session s;
    struct timer *t;

    (void)state;
    relay_session_start(
        &s, "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '%0300d\\n' $i; done; exit 9");
    stream_read(s.client_in, false);
    t = timer_new(s.loop, resume_reading, &s);
    timer_set(t, 1500);
    relay_session_run(&s);
    assert_int_equal(s.client_text.len, 3000 * 301);
    assert_true(str_eq(buf_str(&s.client_text), buf_str(&s.to_client)));
    assert_str(buf_str(&s.events), STR("exit:9 done "));
    timer_close(t);
    relay_session_end(&s);
}

struct slow_reads {
    struct relay_session *session;
    struct timer *timer;
    int left;
};

static void read_a_little(void *to)
{
    struct slow_reads *t = to;
    char at[1 << 14];
    ssize_t n = read(t->session->received_fd, at, sizeof at);

    if (n > 0)
        buf_add(&t->session->client_text, str_n(at, (size_t)n));
    if (--t->left)
        timer_set(t->timer, 100);
    else
        resume_reading(t->session);
}

/* The server has more output than one read accepts: it is blocked, not silent. */
static void a_slow_client_that_closed_its_side_gets_everything(void **state)
{
    struct relay_session s;
    struct slow_reads t = { .session = &s, .left = 20 };

    (void)state;
    relay_session_start(
        &s,
        "cat; i=0; while [ $i -lt 20 ]; do i=$((i+1)); printf '%0200000d\\n' $i; done; exit 9");
    stream_read(s.client_in, false);
    relay_session_close_client(&s);
    t.timer = timer_new(s.loop, read_a_little, &t);
    timer_set(t.timer, 100);
    relay_session_run(&s);
    assert_int_equal(s.client_text.len, 20 * 200001);
    assert_str(buf_str(&s.events), STR("exit:9 done "));
    timer_close(t.timer);
    relay_session_end(&s);
}

/* It holds the pipe open, but that is all. */
static void a_client_that_closed_its_side_and_reads_nothing_is_not_waited_for(void **state)
{
    static const struct {
        const char *script, *events;
    } cases[] = {
        { "exec yes", "signal:15 done " },
        { "printf '%0100000d\\n' 1; while :; do echo x; sleep 0.05; done", "signal:15 done " },
        { "printf '%0900000d\\n' 1; exit 4", "exit:4 done " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct relay_session s;

        relay_session_start(&s, cases[i].script);
        stream_read(s.client_in, false);
        relay_session_close_client(&s);
        loop_run(s.loop);
        assert_str(buf_str(&s.events), str_z(cases[i].events));
        relay_session_end(&s);
    }
}

/* Its output there is not waited for. */
static void a_server_that_only_writes_stderr_is_ended(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "while :; do echo oh no >&2; sleep 0.02; done");
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("signal:15 done "));
    relay_session_end(&s);
}

/* The client is not being read when it goes. */
static void a_client_that_disconnects_is_noticed_while_the_server_reads_nothing(void **state)
{
    struct relay_session s;
    struct buf all;

    (void)state;
    relay_session_fill(&all, 8000000, 3);
    relay_session_start(&s, "echo up; exec sleep 1000");
    relay_session_send(&s, buf_str(&all));
    s.stop_at = "up\n";
    loop_run(s.loop);
    relay_session_run_for(&s, 100); /* it is full by now */
    assert_true(stream_queued(s.client_out) > 4000000);
    relay_session_close_client(&s);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("signal:15 done "));
    relay_session_end(&s);
    buf_release(&all);
}

/* A server that continues to read is not ended, even if it sends nothing. */
static void a_slowly_reading_server_gets_everything(void **state)
{
    struct relay_session s;
    struct buf all;

    (void)state;
    relay_session_fill(&all, 1000000, 3);
    relay_session_start(
        &s,
        "i=0; while [ $i -lt 6 ]; do i=$((i+1)); sleep 0.4; head -c 100000 >/dev/null; done;"
        "wc -c | tr -d ' '; exit 3");
    relay_session_send_and_close(&s, buf_str(&all));
    relay_session_run(&s);
    assert_str(buf_str(&s.client_text), STR("400000\n"));
    assert_str(buf_str(&s.events), STR("exit:3 done "));
    relay_session_end(&s);
    buf_release(&all);
}

static void give_up(void *to)
{
    struct relay_session *s = to;

    stdio_relay_signal(s->relay, SIGTERM);
}

static void a_client_that_never_reads_is_waited_for_until_a_signal(void **state)
{
    struct relay_session s;
    struct timer *t;

    (void)state;
    relay_session_start(
        &s, "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); printf '%0300d\\n' $i; done; exit 9");
    stream_read(s.client_in, false);
    t = timer_new(s.loop, give_up, &s);
    timer_set(t, 1200);
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:9 done "));
    assert_int_equal(s.to_client.len, 1000 * 301);
    timer_close(t);
    relay_session_end(&s);
}

/* Nor does anybody wait for it to read when the signal came first. */
static void after_a_signal_a_client_that_never_reads_is_not_waited_for(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(&s, "exec yes");
    stream_read(s.client_in, false);
    relay_session_run_for(&s, 200);
    stdio_relay_signal(s.relay, SIGTERM);
    loop_run(s.loop);
    assert_str(buf_str(&s.events), STR("signal:15 done "));
    relay_session_end(&s);
}

static void stderr_is_forwarded_at_once_and_reported_in_complete_lines(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(
        &s, "printf a >&2; read x; printf 'b\\nc' >&2; read x; printf 'd\\ne\\nf' >&2");
    s.stop_at = "a";
    loop_run(s.loop);
    assert_str(buf_str(&s.stderr_seen), STR(""));
    relay_session_send(&s, STR("\n"));
    s.stop_at = "b\nc";
    loop_run(s.loop);
    assert_str(buf_str(&s.stderr_seen), STR("[ab\n]"));
    relay_session_send(&s, STR("\n"));
    relay_session_run(&s);
    assert_str(buf_str(&s.stderr_text), STR("ab\ncd\ne\nf"));
    assert_str(buf_str(&s.stderr_seen), STR("[ab\n][cd\ne\n][f]"));
    assert_str(buf_str(&s.to_client), STR(""));
    relay_session_end(&s);
}

static void much_stderr_is_reported_in_complete_lines(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(
        &s, "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); printf '%099d\\n' $i; done >&2");
    relay_session_run(&s);
    assert_int_equal(s.stderr_text.len, 500000);
    for (size_t i = 0; i < s.stderr_seen.len; i++)
        if (s.stderr_seen.at[i] == ']')
            assert_int_equal(s.stderr_seen.at[i - 1], '\n');
    relay_session_end(&s);
}

/* Longer than any buffer for it, so it goes in pieces; nothing is lost. */
static void an_endless_stderr_line_is_reported_in_pieces(void **state)
{
    struct relay_session s;
    size_t handed = 0;

    (void)state;
    relay_session_start(&s, "printf '%0500000d' 1 >&2");
    relay_session_run(&s);
    assert_int_equal(s.stderr_text.len, 500000);
    for (size_t i = 0; i < s.stderr_seen.len; i++)
        handed += s.stderr_seen.at[i] != '[' && s.stderr_seen.at[i] != ']';
    assert_int_equal(handed, 500000);
    relay_session_end(&s);
}

/* Without a reader of stderr the server must still be able to write to it. */
static void blocked_stderr_does_not_block_stdout(void **state)
{
    struct relay_session s;

    (void)state;
    relay_session_start(
        &s, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); printf '%099d\\n' $i; done >&2;"
            "echo said");
    stream_read(s.client_err, false);
    relay_session_run_for(&s, 500); /* time for everything to fill up */
    assert_str(buf_str(&s.client_text), STR(""));
    stream_close(s.client_err);
    s.client_err = NULL;
    relay_session_run(&s);
    assert_str(buf_str(&s.events), STR("exit:0 done "));
    assert_str(buf_str(&s.client_text), STR("said\n"));
    relay_session_end(&s);
}

static void too_long_lines_are_forwarded_and_reported(void **state)
{
    struct relay_session s;
    struct buf all;

    (void)state;
    relay_session_fill(&all, RELAY_SESSION_MAX_LINE + 1, 5);
    for (size_t i = 0; i < all.len; i++)
        all.at[i] = all.at[i] == '\n' ? ' ' : all.at[i];
    relay_session_start(&s, "exec cat");
    relay_session_send(&s, buf_str(&all));
    relay_session_send(&s, STR("\nok\n"));
    relay_session_send(&s, str_n(all.at, RELAY_SESSION_MAX_LINE));
    relay_session_send(&s, STR("\n"));
    relay_session_send_and_close(&s, buf_str(&all));
    relay_session_run(&s);
    assert_int_equal(s.client_text.len, 3 * (size_t)RELAY_SESSION_MAX_LINE + 7);
    assert_int_equal(s.to_server.len, RELAY_SESSION_MAX_LINE + 4);
    assert_true(str_eq(buf_str(&s.to_server), buf_str(&s.to_client)));
    assert_non_null(strstr(buf_z(&s.events), "up-too-long:4194305 "));
    assert_non_null(strstr(buf_z(&s.events), "down-too-long:4194305 "));
    relay_session_end(&s);
    buf_release(&all);
}

static void assert_no_relay(const char *command, int in, int out, int errnum, const char *says)
{
    char *const argv[] = { (char *)(uintptr_t)command, NULL };
    struct stdio_relay_config config = { argv, in, out, 2, RELAY_SESSION_MAX_LINE };
    struct relay_session s = { .loop = loop_new() };
    struct err e = ERR_NONE;
    int got = 0;

    assert_false(
        stdio_relay_start(&s.relay, s.loop, &config, &relay_session_events, &s, &got, &e));
    assert_string_equal(e.msg, says);
    assert_int_equal(got, errnum);
    assert_null(s.relay);
    loop_free(s.loop);
}

static void a_failed_start_leaves_nothing_behind(void **state)
{
    int before, in[2], out[2];

    (void)state;
    stdio_relay_close(NULL);
    before = open_fd_count();
    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    assert_no_relay("/nowhere/at/all", in[0], out[1], ENOENT,
                    "cannot start server '/nowhere/at/all': no such file or directory");
    close(in[1]);
    close(out[0]);
    assert_int_equal(open_fd_count(), before);
}

/* The server is not started for a client that cannot be spoken to. */
static void without_a_client_no_server_is_started(void **state)
{
    int out[2];

    (void)state;
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_no_relay("false", 199, out[1], 0, "cannot use descriptor 199: bad file descriptor");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process was made */
    close(out[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_forwarded_in_both_directions),
        cmocka_unit_test(every_split_is_forwarded),
        cmocka_unit_test(the_owner_gets_a_line_before_the_client),
        cmocka_unit_test(the_owner_gets_a_line_before_the_server),
        cmocka_unit_test(the_start_of_a_line_is_forwarded_before_its_end),
        cmocka_unit_test(the_exit_code_of_the_server_is_reported),
        cmocka_unit_test(a_busy_server_is_not_terminated_after_the_end),
        cmocka_unit_test(a_server_that_ignores_the_end_gets_sigterm),
        cmocka_unit_test(a_server_that_ignores_sigterm_is_killed),
        cmocka_unit_test(a_signal_is_forwarded_to_the_server),
        cmocka_unit_test(descendants_do_not_outlive_the_session),
        cmocka_unit_test(an_incomplete_line_of_the_client_is_forwarded),
        cmocka_unit_test(a_server_that_does_not_read_pauses_the_client_only),
        cmocka_unit_test(a_server_that_closes_stdin_does_not_block_the_client),
        cmocka_unit_test(a_closed_client_ends_the_session),
        cmocka_unit_test(a_slow_client_gets_everything),
        cmocka_unit_test(a_slow_client_that_closed_its_side_gets_everything),
        cmocka_unit_test(a_client_that_closed_its_side_and_reads_nothing_is_not_waited_for),
        cmocka_unit_test(a_server_that_only_writes_stderr_is_ended),
        cmocka_unit_test(a_client_that_disconnects_is_noticed_while_the_server_reads_nothing),
        cmocka_unit_test(a_slowly_reading_server_gets_everything),
        cmocka_unit_test(a_client_that_never_reads_is_waited_for_until_a_signal),
        cmocka_unit_test(after_a_signal_a_client_that_never_reads_is_not_waited_for),
        cmocka_unit_test(stderr_is_forwarded_at_once_and_reported_in_complete_lines),
        cmocka_unit_test(much_stderr_is_reported_in_complete_lines),
        cmocka_unit_test(an_endless_stderr_line_is_reported_in_pieces),
        cmocka_unit_test(blocked_stderr_does_not_block_stdout),
        cmocka_unit_test(too_long_lines_are_forwarded_and_reported),
        cmocka_unit_test(a_failed_start_leaves_nothing_behind),
        cmocka_unit_test(without_a_client_no_server_is_started),
    };
    alarm(100); /* a session that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
