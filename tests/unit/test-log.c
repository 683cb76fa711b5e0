#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "test.h"

struct received {
    struct buf text;
    int pieces;
};

static void receive(void *to, struct str line)
{
    struct received *h = to;

    assert_true(str_ends(line, STR("\n")));
    buf_add(&h->text, line);
    h->pieces++;
}

static struct log log_to(struct received *h, enum log_level level, bool color)
{
    *h = (struct received){ .pieces = 0 };
    buf_init(&h->text, 100000);
    return (struct log){ .level = level, .color = color, .write = receive, .arg = h };
}

static void only_levels_up_to_the_selected_one_are_written(void **state)
{
    static const char *const want[] = {
        [LOG_ERROR] = "mcpreel: e\n",
        [LOG_WARN] = "mcpreel: e\nmcpreel: warning: w\n",
        [LOG_INFO] = "mcpreel: e\nmcpreel: warning: w\nmcpreel: i\n",
        [LOG_DEBUG] = "mcpreel: e\nmcpreel: warning: w\nmcpreel: i\nmcpreel: d\n",
    };

    (void)state;
    for (enum log_level level = LOG_ERROR; level <= LOG_DEBUG; level++) {
        struct received h;
        struct log l = log_to(&h, level, false);
        log_printf(&l, LOG_ERROR, "e");
        log_printf(&l, LOG_WARN, "w");
        log_printf(&l, LOG_INFO, "i");
        log_printf(&l, LOG_DEBUG, "d");
        assert_str(buf_str(&h.text), str_z(want[level]));
        assert_int_equal(h.pieces, level + 1);
        buf_release(&h.text);
    }
}

static void a_line_is_escaped_and_stays_one_line(void **state)
{
    struct received h;
    struct log l = log_to(&h, LOG_INFO, false);

    (void)state;
    log_printf(&l, LOG_INFO, "tool '%s' said %d%%", "\x1b[2J\nmcpreel: fake\u202e\xff", 5);
    assert_str(buf_str(&h.text),
               STR("mcpreel: tool '\\x1b[2J\\nmcpreel: fake<U+202E>\\xff' said 5%\n"));
    assert_int_equal(h.pieces, 1);
    buf_release(&h.text);
}

static void colour_ends_with_the_line(void **state)
{
    struct received h;
    struct log l = log_to(&h, LOG_DEBUG, true);

    (void)state;
    log_printf(&l, LOG_ERROR, "e");
    log_printf(&l, LOG_WARN, "w");
    log_printf(&l, LOG_INFO, "i");
    log_printf(&l, LOG_DEBUG, "d");
    assert_str(buf_str(&h.text), STR("mcpreel: \x1b[31me\x1b[0m\n"
                                     "mcpreel: \x1b[33mwarning: w\x1b[0m\n"
                                     "mcpreel: i\n"
                                     "mcpreel: \x1b[2md\x1b[0m\n"));
    buf_release(&h.text);
}

static void an_error_and_its_hint_are_one_write(void **state)
{
    struct received h;
    struct log l = log_to(&h, LOG_ERROR, false);
    struct err e = ERR_NONE;

    (void)state;
    err_set(&e, ERR_USAGE, "cannot write '%s'", "a\nb");
    log_err(&l, &e);
    assert_str(buf_str(&h.text), STR("mcpreel: cannot write 'a\\nb'\n"));
    buf_clear(&h.text);
    err_hint(&e, "one way\x1b\nor another");
    log_err(&l, &e);
    assert_str(buf_str(&h.text),
               STR("mcpreel: cannot write 'a\\nb'\n  one way\\x1b\n  or another\n"));
    assert_int_equal(h.pieces, 2);
    buf_release(&h.text);
}

static void the_longest_error_is_written_completely(void **state)
{
    struct received h;
    struct log l = log_to(&h, LOG_ERROR, true);
    struct err e = ERR_NONE;

    (void)state;
    memset(e.msg, '\x1b', sizeof e.msg - 1);
    memset(e.hint, '\n', sizeof e.hint - 1);
    log_err(&l, &e);
    assert_int_equal(h.text.len, STR("mcpreel: \x1b[31m\x1b[0m\n").len +
                                     4 * (sizeof e.msg - 1) + 3 * (sizeof e.hint - 1));
    buf_release(&h.text);
}

static void a_too_long_message_is_cut_between_characters(void **state)
{
    enum { LIMIT = 4096 };

    (void)state;
    for (int before = 0; before < 4; before++) {
        char text[2 * LIMIT];
        size_t len = (size_t)before;
        struct received h;
        struct log l = log_to(&h, LOG_INFO, false);

        memset(text, 'a', len);
        for (; len + 4 < sizeof text; len += 4)
            memcpy(text + len, "😀", 4);
        log_printf(&l, LOG_INFO, "%.*s", (int)len, text);
        assert_true(str_ends(buf_str(&h.text), STR("😀…\n")));
        assert_in_range(h.text.len, LIMIT - 8, LIMIT + 20);
        buf_release(&h.text);
    }
}

static void a_truncated_message_of_control_characters_ends_with_a_newline(void **state)
{
    char text[10000];
    struct received h;
    struct log l = log_to(&h, LOG_INFO, false);

    (void)state;
    memset(text, '\x1b', sizeof text);
    log_printf(&l, LOG_INFO, "%.*s", (int)sizeof text, text);
    assert_true(str_ends(buf_str(&h.text), STR("\\x1b…\n")));
    buf_release(&h.text);
}

static void a_message_of_the_maximum_length_is_not_cut(void **state)
{
    struct received h;
    struct log l = log_to(&h, LOG_INFO, false);

    (void)state;
    log_printf(&l, LOG_INFO, "%04095d", 1);
    assert_int_equal(h.text.len, 4095 + STR("mcpreel: \n").len);
    buf_clear(&h.text);
    log_printf(&l, LOG_INFO, "%04096d", 1);
    assert_true(str_ends(buf_str(&h.text), STR("0…\n")));
    buf_release(&h.text);
}

struct reader {
    int fd;
    struct buf got;
};

/* Lets the writer run into the full pipe first. */
static void *read_slowly(void *arg)
{
    struct reader *r = arg;
    char at[1000];
    ssize_t n;

    usleep(50000);
    while ((n = read(r->fd, at, sizeof at)) > 0)
        buf_add(&r->got, str_n(at, (size_t)n));
    return NULL;
}

static void a_full_pipe_is_waited_for(void **state)
{
    struct reader r;
    struct log l;
    pthread_t thread;
    size_t filled = 0;
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, 0), 0);
    r = (struct reader){ .fd = fds[0] };
    buf_init(&r.got, 10 << 20);
    while (write(fds[1], "x", 1) == 1)
        filled++;
    log_init_fd(&l, fds[1], LOG_INFO, false);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &r), 0);
    for (int i = 0; i < 100; i++)
        log_printf(&l, LOG_INFO, "%04000d", i);
    close(fds[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(fds[0]);
    assert_int_equal(r.got.len, filled + 100 * (4000 + STR("mcpreel: \n").len));
    assert_true(str_ends(buf_str(&r.got), STR("099\n")));
    buf_release(&r.got);
}

/* A blocking pipe, as others may have it open, too, and full. */
static void make_full_pipe(int fds[2])
{
    char at[4096] = "";

    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    while (write(fds[1], at, sizeof at) > 0)
        ;
    assert_int_equal(fcntl(fds[1], F_SETFL, 0), 0);
}

static void empty_pipe(int fd)
{
    char at[4096];

    while (read(fd, at, sizeof at) > 0)
        ;
}

static void a_queue_keeps_lines_that_the_pipe_does_not_accept(void **state)
{
    static const char want[] = "mcpreel: one\nmcpreel: two\nmcpreel: three\n";
    char at[100] = "";
    struct log_queue q;
    struct log l;
    int fds[2];

    (void)state;
    make_full_pipe(fds);
    log_init_fd(&l, fds[1], LOG_INFO, false);
    log_queue_init(&q, &l);
    log_printf(&l, LOG_INFO, "one");
    log_printf(&l, LOG_INFO, "two");
    empty_pipe(fds[0]);
    log_printf(&l, LOG_INFO, "three");
    assert_int_equal(read(fds[0], at, sizeof at), sizeof want - 1);
    assert_string_equal(at, want);
    assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
    log_queue_finish(&q, 100000); /* there is nothing to wait for */
    close(fds[0]);
    close(fds[1]);
}

static void a_full_queue_drops_complete_lines(void **state)
{
    struct log_queue q;
    struct log l;
    int fds[2];

    (void)state;
    make_full_pipe(fds);
    log_init_fd(&l, fds[1], LOG_INFO, false);
    log_queue_init(&q, &l);
    for (int i = 0; i < 100; i++)
        log_printf(&l, LOG_INFO, "%04000d", i);
    assert_in_range(q.pending.len, 60000, 64 << 10);
    assert_int_equal(q.pending.len % (4000 + STR("mcpreel: \n").len), 0);
    log_queue_finish(&q, 30); /* no reader takes it */
    close(fds[0]);
    close(fds[1]);
}

static void queued_lines_are_written_at_the_end_to_a_slow_reader(void **state)
{
    struct reader r;
    pthread_t thread;
    struct log_queue q;
    struct log l;
    int fds[2];

    (void)state;
    make_full_pipe(fds);
    assert_int_equal(fcntl(fds[0], F_SETFL, 0), 0);
    r = (struct reader){ .fd = fds[0] };
    buf_init(&r.got, 10 << 20);
    log_init_fd(&l, fds[1], LOG_INFO, false);
    log_queue_init(&q, &l);
    log_printf(&l, LOG_INFO, "%04000d", 1);
    log_printf(&l, LOG_INFO, "last words");
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &r), 0);
    log_queue_finish(&q, 60000);
    close(fds[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(str_ends(buf_str(&r.got), STR("1\nmcpreel: last words\n")));
    close(fds[0]);
    buf_release(&r.got);
}

/* As a whole program would: the signal of a broken pipe is not ignored. */
static void a_queue_does_not_wait_for_a_closed_reader(void **state)
{
    struct log_queue q;
    struct log l;
    int fds[2];

    (void)state;
    make_full_pipe(fds);
    log_init_fd(&l, fds[1], LOG_INFO, false);
    log_queue_init(&q, &l);
    log_printf(&l, LOG_INFO, "for nobody");
    assert_true(q.pending.len > 0);
    close(fds[0]);
    log_queue_finish(&q, 10000000);
    close(fds[1]);
}

static void a_log_without_descriptor_needs_no_queue(void **state)
{
    struct received h;
    struct log l = log_to(&h, LOG_INFO, false);
    struct log_queue q;

    (void)state;
    log_queue_init(&q, &l);
    log_printf(&l, LOG_INFO, "received");
    log_queue_finish(&q, 1);
    assert_str(buf_str(&h.text), STR("mcpreel: received\n"));
    buf_release(&h.text);
}

static void a_log_without_output_is_no_error(void **state)
{
    struct log l;
    int fds[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    log_init_fd(&l, fds[1], LOG_INFO, false);
    log_printf(&l, LOG_INFO, "into a broken pipe");
    close(fds[1]);
    log_printf(&l, LOG_INFO, "into a closed descriptor");
    signal(SIGPIPE, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_levels_up_to_the_selected_one_are_written),
        cmocka_unit_test(a_line_is_escaped_and_stays_one_line),
        cmocka_unit_test(colour_ends_with_the_line),
        cmocka_unit_test(an_error_and_its_hint_are_one_write),
        cmocka_unit_test(the_longest_error_is_written_completely),
        cmocka_unit_test(a_too_long_message_is_cut_between_characters),
        cmocka_unit_test(a_truncated_message_of_control_characters_ends_with_a_newline),
        cmocka_unit_test(a_message_of_the_maximum_length_is_not_cut),
        cmocka_unit_test(a_full_pipe_is_waited_for),
        cmocka_unit_test(a_queue_keeps_lines_that_the_pipe_does_not_accept),
        cmocka_unit_test(a_full_queue_drops_complete_lines),
        cmocka_unit_test(queued_lines_are_written_at_the_end_to_a_slow_reader),
        cmocka_unit_test(a_queue_does_not_wait_for_a_closed_reader),
        cmocka_unit_test(a_log_without_descriptor_needs_no_queue),
        cmocka_unit_test(a_log_without_output_is_no_error),
    };
    alarm(100); /* a wait without end must fail the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
