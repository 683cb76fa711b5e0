#include "report/show.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "fault-sys.h"
#include "test.h"

/* A file is real, output is counted. */
struct show_fixture {
    struct fault_sys faults; /* first: a pointer to it is a pointer to the struct */
    struct buf out;
    size_t writes, reads;
    char path[64];
    ssize_t (*read)(const struct sys *s, int fd, void *to, size_t n);
};

static bool capture(const void *arg, struct str bytes, bool *gone, struct err *e)
{
    struct show_fixture *w = (struct show_fixture *)(uintptr_t)arg;

    (void)gone;
    (void)e;
    w->writes++;
    buf_add(&w->out, bytes);
    return true;
}

static ssize_t count_read(const struct sys *s, int fd, void *to, size_t n)
{
    struct show_fixture *w = (struct show_fixture *)(uintptr_t)s;

    w->reads++;
    return w->read(s, fd, to, n);
}

enum { PINGS = 20000 };

/* Pings that are answered, in bare JSON-RPC: without times, and numbered by us. */
static void make_show_fixture(struct show_fixture *w)
{
    struct buf text;
    int fd;

    *w = (struct show_fixture){ .path = "/tmp/show-run-XXXXXX" };
    fault_init(&w->faults);
    w->read = w->faults.sys.read;
    w->faults.sys.read = count_read;
    buf_init(&w->out, 64 << 20);
    buf_init(&text, 64 << 20);
    for (int i = 0; i < PINGS; i++)
        buf_printf(&text,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n",
                   i, i);
    fd = mkstemp(w->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.at, text.len), text.len);
    close(fd);
    buf_release(&text);
}

static size_t lines_of(struct show_fixture *w, struct show_options wish)
{
    const struct log log = { .level = LOG_ERROR };
    const struct show_output output = { .write = capture, .arg = w, .log = &log, .json = true };
    struct err e = ERR_NONE;
    size_t n = 0;

    buf_clear(&w->out);
    w->writes = w->reads = 0;
    wish.target.path = w->path;
    if (!show_run(&w->faults.sys, &output, &wish, &e))
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < w->out.len; i++)
        n += w->out.at[i] == '\n';
    return n;
}

static void output_is_written_in_large_blocks(void **state)
{
    struct show_fixture w;

    (void)state;
    make_show_fixture(&w);
    assert_int_equal(lines_of(&w, (struct show_options){ .count = 0 }), PINGS);
    assert_true(w.writes < w.out.len / (32 << 10));
    assert_true(w.writes > 10);
    assert_int_equal(lines_of(&w, (struct show_options){ .messages = true }), 2 * PINGS);
    buf_release(&w.out);
    unlink(w.path);
}

static void reading_stops_after_the_last_shown_operation(void **state)
{
    struct show_fixture w;
    size_t all;

    (void)state;
    make_show_fixture(&w);
    assert_int_equal(lines_of(&w, (struct show_options){ .last = 3 }), 3);
    all = w.reads;
    assert_true(strstr(buf_z(&w.out), "\"number\":19998,"));
    assert_int_equal(lines_of(&w, (struct show_options){ .count = 3 }), 3);
    assert_true(w.reads < all);
    assert_int_equal(lines_of(&w, (struct show_options){ .target = { .number = 2 } }), 3);
    assert_int_equal(
        lines_of(&w, (struct show_options){ .target = { .number = 2, .is_message = true } }),
        1);
    assert_true(w.reads < all);
    buf_release(&w.out);
    unlink(w.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_written_in_large_blocks),
        cmocka_unit_test(reading_stops_after_the_last_shown_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
