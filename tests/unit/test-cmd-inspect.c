#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/commands.h"
#include "cmd/dispatch.h"
#include "fault-sys.h"
#include "test.h"

#define HEADER                                                                                 \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2026-11-15T21:00:00Z\","       \
    "\"upstream\":\"u\",\"thoughtjack_version\":\"\"}\n"
#define PING                                                                                   \
    "{\"type\":\"message\",\"seq\":1,\"ts\":\"2026-11-15T21:00:00Z\",\"dir\":\"c2s\","         \
    "\"msg\":{\"id\":1,\"method\":\"ping\"}}\n"
#define FOOTER                                                                                 \
    "{\"type\":\"footer\",\"total_messages\":1,\"client_messages\":1,\"server_messages\":0,"   \
    "\"duration_ms\":0}\n"

/* Files are real, standard output and standard error are buffers. */
struct world {
    struct fault_sys faults; /* first: what is handed a sys is handed a world */
    struct buf out, err;
    char path[64];
    ssize_t (*write)(const struct sys *s, int fd, const void *from, size_t n);
};

static ssize_t capture(const struct sys *s, int fd, const void *from, size_t n)
{
    struct world *w = (struct world *)(uintptr_t)s;

    assert_int_equal(fd, STDOUT_FILENO);
    if (w->write)
        return w->write(s, fd, from, n);
    buf_add(&w->out, str_n(from, n));
    return (ssize_t)n;
}

static ssize_t no_space(const struct sys *s, int fd, const void *from, size_t n)
{
    (void)s;
    (void)fd;
    (void)from;
    (void)n;
    errno = ENOSPC;
    return -1;
}

static void say(void *to, struct str line)
{
    buf_add(to, line);
}

static void make_world(struct world *w, struct str content)
{
    int fd;

    *w = (struct world){ .path = "/tmp/inspect-XXXXXX" };
    fault_init(&w->faults);
    w->faults.sys.write = capture;
    buf_init(&w->out, 1 << 20);
    buf_init(&w->err, 1 << 20);
    fd = mkstemp(w->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content.at, content.len), content.len);
    close(fd);
}

static void end_world(struct world *w)
{
    unlink(w->path);
    buf_release(&w->out);
    buf_release(&w->err);
}

static int run(struct world *w, const char *option, const char *path, const char *more)
{
    char *env[] = { NULL };
    const struct dispatch d = { .sys = &w->faults.sys,
                                .commands = commands,
                                .env = env,
                                .log = { .put = say, .to = &w->err } };
    char *argv[6] = { (char *)(uintptr_t) "mcpreel", (char *)(uintptr_t) "inspect" };
    int argc = 2;

    for (size_t i = 0; i < 3; i++) {
        const char *word = i == 0 ? option : i == 1 ? path : more;
        if (word)
            argv[argc++] = (char *)(uintptr_t)word;
    }
    buf_clear(&w->out);
    buf_clear(&w->err);
    return dispatch_run(&d, argc, argv);
}

static int inspect(struct world *w)
{
    return run(w, NULL, w->path, NULL);
}

static bool says(struct buf *text, const char *part)
{
    return strstr(buf_z(text), part) != NULL;
}

static void a_recording_is_told_on_standard_output(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(HEADER PING FOOTER));
    assert_int_equal(inspect(&w), EXIT_OK);
    assert_int_equal(w.err.len, 0);
    assert_true(says(&w.out, "recording 1.0, "));
    assert_true(says(&w.out, "\nping  "));
    assert_true(says(&w.out, "\nOdd        1 request without an answer\n"));
    assert_int_equal(run(&w, "--json", w.path, NULL), EXIT_OK);
    assert_true(says(&w.out, "{\"v\":1,\"command\":\"inspect\",\"file\":{\"path\":\"/tmp/"));
    assert_true(says(&w.out, "\"remarks\":0}"));
    end_world(&w);
}

/* The reader's remark goes to standard error; the finding says how much is lost. */
static void a_damaged_end_is_a_finding_with_its_size(void **state)
{
    static const struct {
        struct str content;
        const char *finding;
    } cases[] = {
        { STR_INIT(HEADER PING "{\"type\":\"mess"), "13 bytes at the end are damaged" },
        { STR_INIT(HEADER PING FOOTER "\0\0\0"), "3 bytes at the end are damaged" },
        { STR_INIT(HEADER PING "{\"a\"\0\0\0"), "7 bytes at the end are damaged" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        make_world(&w, cases[i].content);
        assert_int_equal(inspect(&w), EXIT_OK);
        assert_true(says(&w.out, cases[i].finding));
        assert_true(says(&w.err, "used up to here\n"));
        end_world(&w);
    }
}

static void a_remark_about_another_place_is_no_damaged_end(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(PING FOOTER));
    assert_int_equal(run(&w, "--json", w.path, NULL), EXIT_OK);
    assert_true(says(&w.out, "\"remarks\":1}"));
    assert_true(says(&w.out, "\"no-header\""));
    assert_false(says(&w.out, "\"damaged-end\""));
    end_world(&w);
}

static void blank_lines_at_the_end_are_no_damage(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(HEADER PING FOOTER "\n \n"));
    assert_int_equal(inspect(&w), EXIT_OK);
    assert_false(says(&w.out, "damaged"));
    end_world(&w);
}

static void formats_that_have_no_header_are_not_odd_for_it(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
    assert_int_equal(inspect(&w), EXIT_OK);
    assert_true(says(&w.out, ": jsonrpc, "));
    assert_true(says(&w.out, "\nOdd        nothing\n"));
    end_world(&w);
}

static void what_cannot_be_read_ends_with_3_and_no_output(void **state)
{
    static const struct str broken[] = {
        STR_INIT(""),
        STR_INIT("no recording"),
        STR_INIT(HEADER "{\"type\":}\n" PING),
        STR_INIT(HEADER "{\"type\":\"message\"}\n"),
    };
    struct world w;

    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        make_world(&w, broken[i]);
        assert_int_equal(inspect(&w), EXIT_INPUT);
        assert_int_equal(w.out.len, 0);
        assert_true(says(&w.err, w.path));
        end_world(&w);
    }
    make_world(&w, STR(""));
    assert_int_equal(run(&w, NULL, "/nowhere/at/all", NULL), EXIT_INPUT);
    assert_int_equal(run(&w, NULL, "/tmp", NULL), EXIT_INPUT);
    assert_int_equal(w.out.len, 0);
    end_world(&w);
}

static void it_takes_exactly_one_file(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(HEADER));
    assert_int_equal(run(&w, NULL, NULL, NULL), EXIT_USAGE);
    assert_int_equal(run(&w, NULL, w.path, w.path), EXIT_USAGE);
    assert_int_equal(w.out.len, 0);
    end_world(&w);
}

static void trouble_of_the_machine_ends_with_5(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(HEADER PING FOOTER));
    fault_fail(&w.faults, FAULT_READ, 1, FAULT_FOREVER, EIO);
    assert_int_equal(inspect(&w), EXIT_IO);
    assert_int_equal(w.out.len, 0);
    end_world(&w);
    make_world(&w, STR(HEADER PING FOOTER));
    w.write = no_space;
    assert_int_equal(inspect(&w), EXIT_IO);
    assert_true(says(&w.err, "standard output"));
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_is_told_on_standard_output),
        cmocka_unit_test(a_damaged_end_is_a_finding_with_its_size),
        cmocka_unit_test(a_remark_about_another_place_is_no_damaged_end),
        cmocka_unit_test(blank_lines_at_the_end_are_no_damage),
        cmocka_unit_test(formats_that_have_no_header_are_not_odd_for_it),
        cmocka_unit_test(what_cannot_be_read_ends_with_3_and_no_output),
        cmocka_unit_test(it_takes_exactly_one_file),
        cmocka_unit_test(trouble_of_the_machine_ends_with_5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
