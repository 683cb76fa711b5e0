#include "loop/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "loop/timer.h"
#include "test.h"

/* A stream and all its events. The test chooses the action of a callback: close, stop
 * reading, or stop the loop. */
struct recorder {
    struct loop *loop;
    struct stream *stream;
    struct buf data;
    int ends, drains, breaks, chunks;
    struct err why;
    bool close_on_data, close_on_end, close_on_drained, close_on_broken, pause_on_data;
};

static void take_data(void *to, struct str bytes)
{
    struct recorder *t = to;

    buf_add(&t->data, bytes);
    t->chunks++;
    if (t->pause_on_data)
        stream_read(t->stream, false);
    if (t->close_on_data)
        stream_close(t->stream);
}

static void take_end(void *to, const struct err *why)
{
    struct recorder *t = to;

    t->ends++;
    if (why)
        t->why = *why;
    if (t->close_on_end)
        stream_close(t->stream);
}

static void take_drained(void *to)
{
    struct recorder *t = to;

    t->drains++;
    if (t->close_on_drained)
        stream_close(t->stream);
}

static void take_broken(void *to, const struct err *why)
{
    struct recorder *t = to;

    t->breaks++;
    t->why = *why;
    assert_int_equal(stream_queued(t->stream), 0); /* none of it will be written */
    if (t->close_on_broken)
        stream_close(t->stream);
}

static const struct stream_events reading = { .data = take_data, .end = take_end };
static const struct stream_events writing = { .drained = take_drained, .broken = take_broken };

static void open_recorder(struct recorder *t, struct loop *l, int fd,
                          const struct stream_events *events)
{
    struct err e = ERR_NONE;

    *t = (struct recorder){ .loop = l };
    buf_init(&t->data, (size_t)1 << 26);
    if (!stream_open(&t->stream, l, fd, events, t, &e))
        fail_msg("%s", e.msg);
}

static void close_recorder(struct recorder *t)
{
    stream_close(t->stream);
    buf_release(&t->data);
}

static void make_pipe(int fds[2])
{
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
}

static void stop_loop(void *to)
{
    loop_stop(to);
}

/* Runs the loop without waiting. */
static void run_a_little(struct loop *l)
{
    struct timer *t = timer_new(l, stop_loop, l);

    timer_set(t, 20);
    loop_run(l);
    timer_close(t);
}

static void bytes_are_reported_and_the_end_once(void **state)
{
    struct loop *l = loop_new();
    int fds[2];
    struct recorder t;

    (void)state;
    make_pipe(fds);
    open_recorder(&t, l, fds[0], &reading);
    stream_read(t.stream, true);
    assert_int_equal(write(fds[1], "a\0b", 3), 3);
    close(fds[1]);
    loop_run(l);
    assert_str(buf_str(&t.data), STR("a\0b"));
    assert_int_equal(t.ends, 1);
    assert_string_equal(t.why.msg, "");
    stream_read(t.stream, false);
    stream_read(t.stream, true);
    loop_run(l);
    assert_int_equal(t.ends, 1);
    close_recorder(&t);
    loop_free(l);
}

static void nothing_is_reported_while_reading_is_paused(void **state)
{
    struct loop *l = loop_new();
    int fds[2];
    struct recorder t;

    (void)state;
    make_pipe(fds);
    open_recorder(&t, l, fds[0], &reading);
    assert_int_equal(write(fds[1], "one", 3), 3);
    run_a_little(l);
    assert_int_equal(t.data.len, 0);
    t.pause_on_data = true;
    stream_read(t.stream, true);
    run_a_little(l);
    assert_str(buf_str(&t.data), STR("one"));
    assert_int_equal(write(fds[1], "two", 3), 3);
    close(fds[1]);
    run_a_little(l);
    assert_str(buf_str(&t.data), STR("one"));
    assert_int_equal(t.ends, 0);
    t.pause_on_data = false;
    stream_read(t.stream, true);
    loop_run(l);
    assert_str(buf_str(&t.data), STR("onetwo"));
    assert_int_equal(t.ends, 1);
    close_recorder(&t);
    loop_free(l);
}

/* As long as it takes to work on a chunk: the writer has filled the pipe again. */
static void take_slowly(void *to, struct str bytes)
{
    struct recorder *t = to;
    int64_t start = clock_mono_us();

    assert_true(bytes.len > 0);
    t->chunks++;
    while (clock_mono_us() - start < 5000)
        ;
}

static void stop_reading(void *to)
{
    struct recorder *t = to;

    stream_read(t->stream, false);
    loop_stop(t->loop);
}

static void an_endless_writer_does_not_block_other_streams(void **state)
{
    static const struct stream_events slowly = { .data = take_slowly, .end = take_end };
    struct loop *l = loop_new();
    struct timer *timer;
    struct recorder t;
    int fds[2];
    pid_t yes;

    (void)state;
    make_pipe(fds);
    yes = fork();
    if (yes == 0) {
        dup2(fds[1], STDOUT_FILENO);
        execlp("yes", "yes", (char *)NULL);
        _exit(1);
    }
    close(fds[1]);
    open_recorder(&t, l, fds[0], &slowly);
    timer = timer_new(l, stop_reading, &t);
    stream_read(t.stream, true);
    timer_set(timer, 20);
    loop_run(l);
    assert_in_range(t.chunks, 1, 6); /* and no 32, which is what libuv reads at once */
    timer_close(timer);
    close_recorder(&t);
    loop_free(l);
    waitpid(yes, NULL, 0);
}

static void a_closed_writer_is_detected_without_reading(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;
    int fds[2];

    (void)state;
    for (int sockets = 0; sockets < 2; sockets++) {
        if (sockets)
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        else
            make_pipe(fds);
        open_recorder(&t, l, fds[0], &reading);
        assert_int_equal(write(fds[1], "one", 3), 3);
        assert_false(stream_is_peer_closed(t.stream));
        close(fds[1]);
        assert_true(stream_is_peer_closed(t.stream));
        assert_int_equal(t.ends, 0);
        stream_read(t.stream, true); /* the unread bytes are still there */
        loop_run(l);
        assert_str(buf_str(&t.data), STR("one"));
        close_recorder(&t);
    }
    loop_free(l);
}

/* Bytes that show their position. */
static void fill(struct buf *b, size_t n)
{
    buf_init(b, n);
    for (size_t i = 0; i < n; i++)
        buf_add_ch(b, (char)(i * 31 + i / 251));
}

static void bytes_that_do_not_fit_are_queued_and_sent_in_order(void **state)
{
    enum { SIZE = 3000000 };
    struct loop *l = loop_new();
    struct recorder from, into;
    struct buf all;
    int fds[2];

    (void)state;
    make_pipe(fds);
    fill(&all, SIZE);
    open_recorder(&from, l, fds[0], &reading);
    open_recorder(&into, l, fds[1], &writing);
    stream_write(into.stream, str_n(all.at, 1000000));
    assert_in_range(stream_queued(into.stream), 1, 999999);
    stream_write(into.stream, str_n(all.at + 1000000, 1));
    stream_write(into.stream, STR(""));
    stream_write(into.stream, str_n(all.at + 1000001, SIZE - 1000001));
    memset(all.at, 0, 1000000); /* it has its own copy */
    assert_int_equal(into.drains, 0);
    stream_read(from.stream, true);
    run_a_little(l);
    while (stream_queued(into.stream))
        run_a_little(l);
    assert_int_equal(into.drains, 1);
    assert_int_equal(into.breaks, 0);
    stream_close(into.stream);
    into.stream = NULL;
    loop_run(l);
    buf_release(&all);
    fill(&all, SIZE);
    assert_true(str_eq(buf_str(&from.data), buf_str(&all)));
    assert_int_equal(from.ends, 1);
    close_recorder(&from);
    close_recorder(&into);
    loop_free(l);
    buf_release(&all);
}

static void bytes_that_fit_are_sent_at_once(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;
    char got[10];
    int fds[2];

    (void)state;
    make_pipe(fds);
    open_recorder(&t, l, fds[1], &writing);
    stream_write(t.stream, STR("hello"));
    assert_int_equal(stream_queued(t.stream), 0);
    assert_int_equal(read(fds[0], got, sizeof got), 5);
    loop_run(l);
    assert_int_equal(t.drains, 0); /* nothing was ever queued */
    close_recorder(&t);
    loop_free(l);
    assert_int_equal(read(fds[0], got, sizeof got), 0);
    close(fds[0]);
}

static void a_closed_reader_is_reported_once_and_writes_are_dropped(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;
    int fds[2];

    (void)state;
    make_pipe(fds);
    open_recorder(&t, l, fds[1], &writing);
    close(fds[0]);
    stream_write(t.stream, STR("hello"));
    stream_write(t.stream, STR("hello"));
    run_a_little(l);
    assert_int_equal(t.breaks, 1);
    assert_string_equal(t.why.msg, "broken pipe");
    assert_int_equal(t.why.kind, ERR_PEER);
    assert_int_equal(stream_queued(t.stream), 0);
    assert_int_equal(t.drains, 0);
    close_recorder(&t);
    loop_free(l);
}

static void a_reader_that_closes_with_bytes_queued_is_reported_once(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;
    struct buf all;
    int fds[2];

    (void)state;
    make_pipe(fds);
    fill(&all, 500000);
    open_recorder(&t, l, fds[1], &writing);
    stream_write(t.stream, buf_str(&all));
    stream_write(t.stream, buf_str(&all));
    stream_write(t.stream, buf_str(&all));
    run_a_little(l);
    assert_int_equal(t.breaks, 0);
    close(fds[0]);
    loop_run(l);
    assert_int_equal(t.breaks, 1);
    assert_int_equal(t.drains, 0);
    assert_int_equal(stream_queued(t.stream), 0);
    close_recorder(&t);
    loop_free(l);
    buf_release(&all);
}

static void closing_in_a_callback_ends_all_events(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;
    int fds[2];

    (void)state;
    make_pipe(fds);
    open_recorder(&t, l, fds[0], &reading);
    t.close_on_data = true;
    stream_read(t.stream, true);
    assert_int_equal(write(fds[1], "x", 1), 1);
    close(fds[1]);
    loop_run(l);
    assert_int_equal(t.chunks, 1);
    assert_int_equal(t.ends, 0);
    buf_release(&t.data);

    make_pipe(fds);
    open_recorder(&t, l, fds[0], &reading);
    t.close_on_end = true;
    stream_read(t.stream, true);
    close(fds[1]);
    loop_run(l);
    assert_int_equal(t.ends, 1);

    make_pipe(fds);
    open_recorder(&t, l, fds[1], &writing);
    t.close_on_broken = true;
    close(fds[0]);
    stream_write(t.stream, STR("x"));
    loop_run(l);
    assert_int_equal(t.breaks, 1);
    loop_free(l);
}

static void closing_when_drained_sends_everything(void **state)
{
    struct loop *l = loop_new();
    struct recorder from, into;
    struct buf all;
    int fds[2];

    (void)state;
    make_pipe(fds);
    fill(&all, 300000);
    open_recorder(&from, l, fds[0], &reading);
    open_recorder(&into, l, fds[1], &writing);
    into.close_on_drained = true;
    stream_write(into.stream, buf_str(&all));
    stream_read(from.stream, true);
    loop_run(l);
    assert_true(str_eq(buf_str(&from.data), buf_str(&all)));
    assert_int_equal(from.ends, 1);
    assert_int_equal(into.drains, 1);
    close_recorder(&from);
    loop_free(l);
    buf_release(&all);
}

static void closing_with_bytes_queued_loses_them_without_events(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;
    struct buf all;
    int fds[2];

    (void)state;
    make_pipe(fds);
    fill(&all, 300000);
    open_recorder(&t, l, fds[1], &writing);
    stream_write(t.stream, buf_str(&all));
    close_recorder(&t);
    stream_close(NULL);
    loop_run(l);
    assert_int_equal(t.breaks + t.drains, 0);
    close(fds[0]);
    loop_free(l);
    buf_release(&all);
}

/* A new file without a name. */
static int make_file(struct str content)
{
    char name[] = "/tmp/mcpreel-stream-XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);

    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, content.at, content.len), content.len);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void a_file_is_read_like_a_pipe(void **state)
{
    struct loop *l = loop_new();
    struct buf all;
    struct recorder t;

    (void)state;
    fill(&all, 200000);
    open_recorder(&t, l, make_file(buf_str(&all)), &reading);
    t.pause_on_data = true;
    stream_read(t.stream, true);
    loop_run(l);
    assert_int_equal(t.chunks, 1);
    t.pause_on_data = false;
    stream_read(t.stream, true);
    loop_run(l);
    assert_true(str_eq(buf_str(&t.data), buf_str(&all)));
    assert_int_equal(t.ends, 1);
    assert_string_equal(t.why.msg, "");
    close_recorder(&t);

    open_recorder(&t, l, make_file(buf_str(&all)), &reading);
    t.close_on_data = true;
    stream_read(t.stream, true);
    loop_run(l);
    assert_int_equal(t.chunks, 1);
    assert_int_equal(t.ends, 0);
    buf_release(&t.data);

    /* Closed while its read is under way. */
    open_recorder(&t, l, make_file(buf_str(&all)), &reading);
    stream_read(t.stream, true);
    close_recorder(&t);
    loop_free(l);
    assert_int_equal(t.chunks + t.ends, 0);
    buf_release(&all);
}

static void a_file_is_written_at_once(void **state)
{
    struct loop *l = loop_new();
    int fd = make_file(STR("")), other = dup(fd);
    char got[10];
    struct recorder t;

    (void)state;
    open_recorder(&t, l, fd, &writing);
    stream_write(t.stream, STR("hello"));
    assert_int_equal(stream_queued(t.stream), 0);
    assert_int_equal(pread(other, got, sizeof got, 0), 5);
    close_recorder(&t);
    loop_free(l);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was taken over */
    close(other);
}

static void a_full_file_is_an_error(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;

    (void)state;
    open_recorder(&t, l, open("/dev/full", O_WRONLY | O_CLOEXEC), &writing);
    stream_write(t.stream, STR("hello"));
    stream_write(t.stream, STR("hello"));
    assert_int_equal(t.breaks, 1);
    assert_string_equal(t.why.msg, "no space left on device");
    assert_int_equal(t.why.kind, ERR_IO);
    close_recorder(&t);
    loop_free(l);
}

static void an_unreadable_file_reports_the_reason(void **state)
{
    struct loop *l = loop_new();
    struct recorder t;

    (void)state;
    /* Memory at address 0, which cannot be read. */
    open_recorder(&t, l, open("/proc/self/mem", O_RDONLY | O_CLOEXEC), &reading);
    stream_read(t.stream, true);
    loop_run(l);
    assert_int_equal(t.ends, 1);
    assert_string_equal(t.why.msg, "i/o error");
    close_recorder(&t);
    loop_free(l);
}

static void the_null_device_is_at_its_end_and_accepts_everything(void **state)
{
    struct loop *l = loop_new();
    struct recorder from, into;

    (void)state;
    open_recorder(&from, l, open("/dev/null", O_RDONLY | O_CLOEXEC), &reading);
    open_recorder(&into, l, open("/dev/null", O_WRONLY | O_CLOEXEC), &writing);
    stream_write(into.stream, STR("hello"));
    stream_read(from.stream, true);
    loop_run(l);
    assert_int_equal(from.ends, 1);
    assert_int_equal(into.breaks, 0);
    close_recorder(&from);
    close_recorder(&into);
    loop_free(l);
}

static void a_socket_is_read_and_written(void **state)
{
    struct loop *l = loop_new();
    struct recorder from, into;
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    open_recorder(&from, l, fds[0], &reading);
    open_recorder(&into, l, fds[1], &writing);
    stream_write(into.stream, STR("hello"));
    stream_close(into.stream);
    into.stream = NULL;
    stream_read(from.stream, true);
    loop_run(l);
    assert_str(buf_str(&from.data), STR("hello"));
    assert_int_equal(from.ends, 1);
    close_recorder(&from);
    close_recorder(&into);
    loop_free(l);
}

static void a_terminal_is_read_and_written(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
    struct loop *l = loop_new();
    struct recorder from, into;
    char got[20];

    (void)state;
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(slave >= 0);
    open_recorder(&from, l, slave, &reading);
    open_recorder(&into, l, dup(slave), &writing);
    assert_int_equal(write(master, "hello\n", 6), 6);
    stream_read(from.stream, true);
    run_a_little(l);
    assert_str(buf_str(&from.data), STR("hello\n"));
    assert_int_equal(read(master, got, sizeof got), 7); /* the echo */
    stream_write(into.stream, STR("bye\n"));
    run_a_little(l);
    assert_int_equal(read(master, got, sizeof got), 5);
    assert_memory_equal(got, "bye\r\n", 5);
    close_recorder(&from);
    close_recorder(&into);
    loop_free(l);
    close(master);
}

static void assert_no_stream(int fd, const struct stream_events *events)
{
    struct loop *l = loop_new();
    struct stream *s = NULL;
    struct err e = ERR_NONE;
    char want[100];

    snprintf(want, sizeof want, "cannot use descriptor %d: bad file descriptor", fd);
    assert_false(stream_open(&s, l, fd, events, NULL, &e));
    assert_null(s);
    assert_string_equal(e.msg, want);
    loop_free(l);
}

static void an_unsupported_descriptor_is_rejected(void **state)
{
    int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fds[2];

    (void)state;
    make_pipe(fds);
    assert_no_stream(987, &reading);
    assert_no_stream(dir, &reading);
    /* The wrong end of a pipe. */
    assert_no_stream(fds[1], &reading);
    assert_no_stream(fds[0], &writing);
    close(dir);
}

/* Runs the rest of the test in a child whose standard output is a pipe. */
static int in_a_child(int fd, int (*act)(void))
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        dup2(fd, STDOUT_FILENO);
        _exit(act());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool is_blocking(int fd)
{
    return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* 0 if all checks pass, else the number of the failed one. */
static int use_standard_output(void)
{
    struct loop *l = loop_new();
    struct recorder t;

    open_recorder(&t, l, STDOUT_FILENO, &writing);
    stream_write(t.stream, STR("hello"));
    close_recorder(&t);
    loop_free(l);
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
        return 1;
    return is_blocking(STDOUT_FILENO) ? 0 : 2;
}

static int count_open_descriptors(void)
{
    struct loop *l = loop_new();
    bool blocking;
    struct recorder t;

    open_recorder(&t, l, STDOUT_FILENO, &writing);
    blocking = is_blocking(STDOUT_FILENO);
    close_recorder(&t);
    loop_free(l);
    return blocking ? 0 : 1;
}

/* Others have the same descriptor: the shell, the client that let us inherit its
 * standard error. They must not find it closed or suddenly non-blocking. */
static void our_standard_streams_keep_their_flags(void **state)
{
    int pipes[2], sockets[2];
    char got[10];

    (void)state;
    make_pipe(pipes);
    assert_int_equal(in_a_child(pipes[1], use_standard_output), 0);
    assert_true(is_blocking(pipes[1]));
    assert_int_equal(read(pipes[0], got, sizeof got), 5);
    assert_int_equal(in_a_child(pipes[1], count_open_descriptors), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(in_a_child(sockets[1], use_standard_output), 0);
    assert_true(is_blocking(sockets[1]));
    close(pipes[0]);
    /* Without a reader at the other end the error comes when writing, not when opening. */
    assert_int_equal(in_a_child(pipes[1], use_standard_output), 0);
    assert_true(is_blocking(pipes[1]));
    close(pipes[1]);
    close(sockets[0]);
    close(sockets[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_reported_and_the_end_once),
        cmocka_unit_test(nothing_is_reported_while_reading_is_paused),
        cmocka_unit_test(an_endless_writer_does_not_block_other_streams),
        cmocka_unit_test(a_closed_writer_is_detected_without_reading),
        cmocka_unit_test(bytes_that_do_not_fit_are_queued_and_sent_in_order),
        cmocka_unit_test(bytes_that_fit_are_sent_at_once),
        cmocka_unit_test(a_closed_reader_is_reported_once_and_writes_are_dropped),
        cmocka_unit_test(a_reader_that_closes_with_bytes_queued_is_reported_once),
        cmocka_unit_test(closing_in_a_callback_ends_all_events),
        cmocka_unit_test(closing_when_drained_sends_everything),
        cmocka_unit_test(closing_with_bytes_queued_loses_them_without_events),
        cmocka_unit_test(a_file_is_read_like_a_pipe),
        cmocka_unit_test(a_file_is_written_at_once),
        cmocka_unit_test(a_full_file_is_an_error),
        cmocka_unit_test(an_unreadable_file_reports_the_reason),
        cmocka_unit_test(the_null_device_is_at_its_end_and_accepts_everything),
        cmocka_unit_test(a_socket_is_read_and_written),
        cmocka_unit_test(a_terminal_is_read_and_written),
        cmocka_unit_test(an_unsupported_descriptor_is_rejected),
        cmocka_unit_test(our_standard_streams_keep_their_flags),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
