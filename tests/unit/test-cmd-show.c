#include <errno.h>
#include <stdio.h>
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
#define MESSAGE(seq, dir, msg)                                                                 \
    "{\"type\":\"message\",\"seq\":" seq ",\"ts\":\"2026-11-15T21:00:00Z\",\"dir\":\"" dir     \
    "\",\"msg\":" msg "}\n"
#define SESSION                                                                                \
    HEADER MESSAGE("1", "c2s", "{\"id\":1,\"method\":\"ping\"}")                               \
        MESSAGE("2", "s2c", "{\"id\":1,\"result\":{}}")                                        \
            MESSAGE("3", "c2s", "{\"id\":2,\"method\":\"tools/list\"}")

/* Files are real, standard output and standard error are buffers. */
struct world {
    struct fault_sys faults; /* first: what is handed a sys is handed a world */
    struct buf out, err;
    char path[64];
    bool tty;
    int fails; /* errno of writing; 0: it does not */
};

static ssize_t capture(const struct sys *s, int fd, const void *from, size_t n)
{
    struct world *w = (struct world *)(uintptr_t)s;

    assert_int_equal(fd, STDOUT_FILENO);
    errno = w->fails;
    if (w->fails)
        return -1;
    buf_add(&w->out, str_n(from, n));
    return (ssize_t)n;
}

static void say(void *to, struct str line)
{
    buf_add(to, line);
}

static void make_world(struct world *w, struct str content)
{
    int fd;

    *w = (struct world){ .path = "/tmp/show-XXXXXX" };
    fault_init(&w->faults);
    w->faults.sys.write = capture;
    buf_init(&w->out, 8 << 20);
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

/* `after` follows the path at once; `words` are more, up to NULL. */
static int show(struct world *w, const char *after, const char *const *words)
{
    char *env[] = { NULL }, path[128],
         *argv[8] = { (char *)(uintptr_t) "mcpreel", (char *)(uintptr_t) "show", path };
    const struct dispatch d = { .sys = &w->faults.sys,
                                .commands = commands,
                                .env = env,
                                .log = { .put = say, .to = &w->err },
                                .out_is_tty = w->tty };
    int argc = 3;

    snprintf(path, sizeof path, "%s%s", w->path, after);
    for (; words && *words; words++)
        argv[argc++] = (char *)(uintptr_t)*words;
    buf_clear(&w->out);
    buf_clear(&w->err);
    return dispatch_run(&d, argc, argv);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static bool says(struct buf *text, const char *part)
{
    return strstr(buf_z(text), part) != NULL;
}

static void operations_are_listed_and_one_is_shown(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(SESSION));
    assert_int_equal(show(&w, "", NULL), EXIT_OK);
    assert_true(says(&w.out, "ping"));
    assert_true(says(&w.out, "pending"));
    assert_int_equal(show(&w, ":1", NULL), EXIT_OK);
    assert_true(says(&w.out, "\"result\": {}"));
    assert_false(says(&w.out, "tools/list"));
    assert_int_equal(show(&w, ":#3", NULL), EXIT_OK);
    assert_true(says(&w.out, "\"method\": \"tools/list\""));
    assert_int_equal(show(&w, ":3", WORDS("-m")), EXIT_OK);
    assert_true(says(&w.out, "\"method\": \"tools/list\""));
    assert_int_equal(show(&w, ":3", NULL), EXIT_USAGE);
    assert_true(says(&w.err, "has no operation 3, only 2"));
    end_world(&w);
}

static void raw_bytes_never_reach_a_terminal(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(SESSION));
    w.tty = true;
    assert_int_equal(show(&w, "", WORDS("--raw")), EXIT_USAGE);
    assert_int_equal(show(&w, ":1", WORDS("--raw")), EXIT_USAGE);
    assert_int_equal(w.out.len, 0);
    w.tty = false;
    assert_int_equal(show(&w, ":1", WORDS("--raw")), EXIT_OK);
    assert_str(buf_str(&w.out),
               STR("{\"id\":1,\"method\":\"ping\"}\n{\"id\":1,\"result\":{}}\n"));
    end_world(&w);
}

static void a_reader_that_went_away_is_no_error(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(SESSION));
    w.fails = EPIPE;
    assert_int_equal(show(&w, "", NULL), EXIT_OK);
    assert_int_equal(show(&w, ":1", NULL), EXIT_OK);
    assert_int_equal(w.err.len, 0);
    w.fails = ENOSPC;
    assert_int_equal(show(&w, "", NULL), EXIT_IO);
    assert_true(says(&w.err, "standard output"));
    end_world(&w);
}

static void what_can_be_read_is_shown_before_the_error(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, STR(SESSION "{\"type\":}\n" MESSAGE("4", "c2s", "{}")));
    assert_int_equal(show(&w, "", NULL), EXIT_INPUT);
    assert_true(says(&w.err, ":5:"));
    assert_true(says(&w.out, "ping"));
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_listed_and_one_is_shown),
        cmocka_unit_test(raw_bytes_never_reach_a_terminal),
        cmocka_unit_test(a_reader_that_went_away_is_no_error),
        cmocka_unit_test(what_can_be_read_is_shown_before_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
