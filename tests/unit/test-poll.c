#include "loop/poll.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

struct recorder {
    struct loop *loop;
    struct fd_poll *watch;
    int fd, reads, writes;
    bool closes;
};

static void take(void *to, bool can_read, bool can_write)
{
    struct recorder *t = to;
    char c;

    t->reads += can_read;
    t->writes += can_write;
    if (can_read && read(t->fd, &c, 1) <= 0)
        fd_poll_set(t->watch, false, false);
    if (can_write)
        fd_poll_set(t->watch, true, false);
    if (t->closes) {
        fd_poll_close(t->watch);
        close(t->fd); /* right after */
    }
}

static int open_reader(struct recorder *t)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    *t = (struct recorder){ .loop = loop_new(), .fd = fds[0] };
    t->watch = fd_poll_open(t->loop, t->fd, take, t);
    return fds[1];
}

static void only_requested_events_are_reported(void **state)
{
    struct recorder t;
    int other = open_reader(&t);

    (void)state;
    loop_run(t.loop); /* ends: nothing is wanted */
    assert_int_equal(write(other, "ab", 2), 2);
    loop_run(t.loop);
    assert_int_equal(t.reads + t.writes, 0);
    fd_poll_set(t.watch, true, true);
    close(other);
    loop_run(t.loop); /* until the end of it was read */
    assert_int_equal(t.reads, 3);
    assert_int_equal(t.writes, 1);
    fd_poll_close(t.watch);
    close(t.fd);
    loop_free(t.loop);
}

static void a_poll_may_be_closed_in_its_callback(void **state)
{
    struct recorder t;
    int other = open_reader(&t);

    (void)state;
    t.closes = true;
    fd_poll_set(t.watch, false, true);
    loop_run(t.loop);
    assert_int_equal(t.writes, 1);
    fd_poll_close(NULL);
    close(other);
    loop_free(t.loop);
}

/* A library's sockets know nothing of the processes that we start. */
static void watched_descriptors_are_not_inherited(void **state)
{
    struct recorder t;
    int other = open_reader(&t);

    (void)state;
    assert_true(fcntl(t.fd, F_GETFD) & FD_CLOEXEC);
    fd_poll_close(t.watch);
    close(t.fd);
    close(other);
    loop_free(t.loop);
}

static void a_reused_descriptor_can_be_watched_again(void **state)
{
    struct recorder t;
    int other = open_reader(&t), fds[2], was = t.fd;

    (void)state;
    fd_poll_set(t.watch, true, false);
    fd_poll_close(t.watch);
    close(t.fd);
    close(other);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(fds[0], was);
    t.watch = fd_poll_open(t.loop, fds[0], take, &t);
    fd_poll_set(t.watch, false, true);
    t.closes = true;
    loop_run(t.loop);
    assert_int_equal(t.writes, 1);
    close(fds[1]);
    loop_free(t.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_requested_events_are_reported),
        cmocka_unit_test(a_poll_may_be_closed_in_its_callback),
        cmocka_unit_test(watched_descriptors_are_not_inherited),
        cmocka_unit_test(a_reused_descriptor_can_be_watched_again),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
