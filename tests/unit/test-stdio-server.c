#include "transport/stdio-server.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "loop/timer.h"
#include "test.h"

enum { MAX_LINE = 100 };

/* A shell script as the server, and its events, one per line. */
struct bench {
    struct loop *loop;
    struct stdio_server *server;
    struct buf received;
    struct timer *limit, *later;
    uint64_t lines;
    bool quiet; /* count lines instead of writing them down */
    const char *end_at;
};

static void on_line(void *to, struct str line)
{
    struct bench *b = to;

    b->lines++;
    if (!b->quiet)
        buf_printf(&b->received, "line %.*s\n", STR_ARG(line));
    if (b->end_at && str_eq(line, str_z(b->end_at)))
        stdio_server_end(b->server);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct bench *b = to;

    buf_printf(&b->received, "too long %llu\n", (unsigned long long)bytes);
}

static void on_stderr(void *to, struct str text)
{
    struct bench *b = to;

    buf_printf(&b->received, "stderr %.*s", STR_ARG(text));
}

static void on_closed(void *to)
{
    struct bench *b = to;

    buf_add(&b->received, STR("closed\n"));
}

static void on_done(void *to, int code, int signum)
{
    struct bench *b = to;

    buf_printf(&b->received, "done %d %d\n", code, signum);
    stdio_server_close(b->server); /* `done` may do so */
    b->server = NULL;
    loop_stop(b->loop);
}

static const struct stdio_server_events events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .output_closed = on_closed,
    .done = on_done,
};

static void give_up(void *to)
{
    (void)to;
    fail_msg("still running");
}

static void start(struct bench *b, const char *script)
{
    char *argv[] = { "/bin/sh", "-c", (char *)(uintptr_t)script, NULL };
    struct err e = ERR_NONE;
    int errnum;

    *b = (struct bench){ .loop = loop_new() };
    buf_init(&b->received, 1 << 20);
    b->limit = timer_new(b->loop, give_up, b);
    timer_set(b->limit, 10000);
    if (!stdio_server_start(&b->server, b->loop, argv, MAX_LINE, &events, b, &errnum, &e))
        fail_msg("%s", e.msg);
}

static void assert_received(struct bench *b, const char *want)
{
    loop_run(b->loop);
    assert_str(buf_str(&b->received), str_z(want));
    stdio_server_close(b->server);
    timer_close(b->limit);
    timer_close(b->later);
    loop_free(b->loop);
    buf_release(&b->received);
}

static void messages_are_written_and_lines_reported(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "read a; echo \"got $a\"; read b; echo \"got $b\"; read c || echo end; exit 5");
    stdio_server_send(b.server, STR("one"));
    stdio_server_send(b.server, STR("{\"two\": 2}"));
    b.end_at = "got {\"two\": 2}";
    assert_received(&b, "line got one\nline got {\"two\": 2}\nline end\nclosed\ndone 5 0\n");
}

static void stderr_is_reported_in_complete_lines(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "printf 'o' >&2; sleep 0.05; printf 'h no\\nand ' >&2; sleep 0.05;"
              "printf 'more' >&2; exec >&-; sleep 0.05; exit 0");
    assert_received(&b, "stderr oh no\nclosed\nstderr and moredone 0 0\n");
}

static void a_last_line_without_newline_is_reported(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "printf 'a\\nb'");
    assert_received(&b, "line a\nline b\nclosed\ndone 0 0\n");
}

static void a_too_long_line_is_only_counted(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "printf '%0101d\\n%0100d\\nok\\n%0102d' 0 0 0");
    b.quiet = true;
    assert_received(&b, "too long 101\ntoo long 102\nclosed\ndone 0 0\n");
    assert_int_equal(b.lines, 2);
}

/* Messages sent before the end arrive before it, whatever their size. */
static void the_end_comes_after_all_messages(void **state)
{
    enum { BIG = 3 << 20 };
    char *big = malloc(BIG);
    struct bench b;

    (void)state;
    memset(big, 'x', BIG);
    start(&b, "wc -c | tr -d ' '");
    stdio_server_send(b.server, str_n(big, BIG));
    stdio_server_send(b.server, STR("small"));
    stdio_server_end(b.server);
    stdio_server_end(b.server);
    stdio_server_send(b.server, STR("lost"));
    assert_received(&b, "line 3145735\nclosed\ndone 0 0\n"); /* BIG, "small", two newlines */
    free(big);
}

/* A server that writes megabytes before it reads again must not wait for us, while
 * we have megabytes for it. */
static void a_server_that_does_not_read_is_still_read(void **state)
{
    enum { BIG = 3 << 20 };
    char *big = malloc(BIG);
    struct bench b;

    (void)state;
    memset(big, 'x', BIG);
    start(&b, "yes abcdefghijklmnopqrstuvwxyz | head -n 100000; cat >/dev/null");
    b.quiet = true;
    stdio_server_send(b.server, str_n(big, BIG));
    stdio_server_end(b.server);
    assert_received(&b, "closed\ndone 0 0\n");
    assert_int_equal(b.lines, 100000);
    free(big);
}

static void messages_to_an_exited_server_are_dropped(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "exec <&-; echo gone; sleep 0.2; echo still; exit 1");
    b.end_at = "still";
    for (int i = 0; i < 100; i++)
        stdio_server_send(b.server, STR("hello"));
    assert_received(&b, "line gone\nline still\nclosed\ndone 1 0\n");
}

static void a_server_that_stays_is_ended(void **state)
{
    struct bench b;
    int64_t start_us = clock_mono_us();

    (void)state;
    start(&b, "echo up; exec sleep 30");
    b.end_at = "up";
    assert_received(&b, "line up\nclosed\ndone 0 15\n");
    assert_in_range((clock_mono_us() - start_us) / 1000, 800, 5000);
}

static void stop_b(void *to)
{
    struct bench *b = to;

    stdio_server_stop(b->server);
}

/* Talking prolongs the wait after the end, but not after a stop. */
static void a_server_that_writes_endlessly_can_be_stopped(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "while :; do echo on and on; sleep 0.05; done");
    b.quiet = true;
    stdio_server_end(b.server);
    b.later = timer_new(b.loop, stop_b, &b);
    timer_set(b.later, 1200);
    assert_received(&b, "closed\ndone 0 15\n");
    assert_true(b.lines > 10);
}

/* Closed comes before done even if a grandchild holds the pipe. */
static void descendants_do_not_delay_the_end(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "printf 'good\\nbye'; sleep 30 & exit 0");
    assert_received(&b, "line good\nline bye\nclosed\ndone 0 0\n");
    start(&b, "printf 'oh\\nno' >&2; sleep 30 & exit 0");
    assert_received(&b, "stderr oh\nclosed\nstderr nodone 0 0\n");
}

static void closing_a_running_server_reports_nothing(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo hello; sleep 30");
    stdio_server_close(b.server);
    b.server = NULL;
    timer_stop(b.limit);
    assert_received(&b, "");
}

static void a_failed_start_is_reported(void **state)
{
    char *argv[] = { "/no/such/server", NULL };
    struct loop *l = loop_new();
    struct stdio_server *c = NULL;
    struct err e = ERR_NONE;
    int errnum = 0;

    (void)state;
    assert_false(stdio_server_start(&c, l, argv, MAX_LINE, &events, NULL, &errnum, &e));
    assert_int_equal(errnum, ENOENT);
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg,
                        "cannot start server '/no/such/server': no such file or directory");
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_written_and_lines_reported),
        cmocka_unit_test(stderr_is_reported_in_complete_lines),
        cmocka_unit_test(a_last_line_without_newline_is_reported),
        cmocka_unit_test(a_too_long_line_is_only_counted),
        cmocka_unit_test(the_end_comes_after_all_messages),
        cmocka_unit_test(a_server_that_does_not_read_is_still_read),
        cmocka_unit_test(messages_to_an_exited_server_are_dropped),
        cmocka_unit_test(a_server_that_stays_is_ended),
        cmocka_unit_test(a_server_that_writes_endlessly_can_be_stopped),
        cmocka_unit_test(descendants_do_not_delay_the_end),
        cmocka_unit_test(closing_a_running_server_reports_nothing),
        cmocka_unit_test(a_failed_start_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
