#include "runtime/app.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "test.h"

/* A standard output that accepts a few bytes at a time, and has planned failures. */
struct fake {
    struct sys sys;
    struct buf got;
    size_t step;
    int interrupts, busy, fail_with;
};

static ssize_t fake_write(const struct sys *s, int fd, const void *from, size_t n)
{
    struct fake *f = (struct fake *)(uintptr_t)s;

    assert_int_equal(fd, 1);
    if (f->interrupts-- > 0)
        return errno = EINTR, -1;
    if (f->busy-- > 0)
        return errno = EAGAIN, -1;
    if (f->fail_with && f->got.len)
        return errno = f->fail_with, -1;
    n = n < f->step ? n : f->step;
    buf_add(&f->got, str_n(from, n));
    return (ssize_t)n;
}

static void short_writes_interrupts_and_full_pipes_lose_nothing(void **state)
{
    struct fake f = { .sys = { .write = fake_write }, .step = 3, .interrupts = 2, .busy = 2 };
    struct app app = { .sys = &f.sys };
    struct err e = ERR_NONE;
    (void)state;

    buf_init(&f.got, 100);
    assert_true(app_write(&app, STR("a whole sentence"), &e));
    assert_str(buf_str(&f.got), STR("a whole sentence"));
    assert_int_equal(e.kind, ERR_OK);
    buf_release(&f.got);
}

static void a_full_disk_is_an_io_error_that_names_standard_output(void **state)
{
    struct fake f = { .sys = { .write = fake_write }, .step = 3, .fail_with = ENOSPC };
    struct app app = { .sys = &f.sys };
    struct err e = ERR_NONE;
    (void)state;

    buf_init(&f.got, 100);
    assert_false(app_write(&app, STR("a whole sentence"), &e));
    assert_int_equal(app_exit_code(&e), EXIT_IO);
    assert_string_equal(e.msg, "cannot write 'standard output': No space left on device");
    buf_release(&f.got);
}

static void a_closed_reader_is_reported_as_gone(void **state)
{
    struct fake f = { .sys = { .write = fake_write }, .step = 3, .fail_with = EPIPE };
    struct app app = { .sys = &f.sys };
    struct err e = ERR_NONE;
    bool gone = false;
    (void)state;

    buf_init(&f.got, 100);
    assert_true(app_write_pipe(&app, STR("a whole sentence"), &gone, &e));
    assert_true(gone);
    assert_int_equal(e.kind, ERR_OK);
    f.fail_with = ENOSPC;
    gone = false;
    assert_false(app_write_pipe(&app, STR("a whole sentence"), &gone, &e));
    assert_false(gone);
    assert_int_equal(e.kind, ERR_IO);
    buf_release(&f.got);
}

static void every_kind_of_error_has_its_exit_code(void **state)
{
    static const struct {
        enum err_kind kind;
        int want;
    } rows[] = { { ERR_OK, 0 },    { ERR_USAGE, 2 }, { ERR_INPUT, 3 },
                 { ERR_LIMIT, 3 }, { ERR_PEER, 4 },  { ERR_IO, 5 } };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = { .kind = rows[i].kind };
        assert_int_equal(app_exit_code(&e), rows[i].want);
    }
}

static void app_env_reads_the_given_environment(void **state)
{
    char *env[] = { "TERM=dumb", "EMPTY=", "TERMINAL=x", NULL };
    struct app app = { .env = env };
    (void)state;

    assert_string_equal(app_env(&app, "TERM"), "dumb");
    assert_null(app_env(&app, "EMPTY"));
    assert_null(app_env(&app, "TERMI"));
    assert_null(app_env(&app, "PATH"));
}

static void a_blocked_log_does_not_block_the_program(void **state)
{
    const char want[] = "mcpreel: one\nmcpreel: two\n";
    char at[4096] = "";
    struct app_queued_log u;
    struct log log;
    struct app app = { .quiet = true, .log = &log };
    const struct app *unheld;
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    while (write(fds[1], at, sizeof at) > 0)
        ;
    assert_int_equal(fcntl(fds[1], F_SETFL, 0), 0);
    log_init_fd(&log, fds[1], LOG_INFO, false);
    unheld = app_queued_log_begin(&u, &app);
    assert_true(unheld->quiet);
    log_printf(unheld->log, LOG_INFO, "one");
    while (read(fds[0], at, sizeof at) > 0)
        ;
    log_printf(unheld->log, LOG_INFO, "two");
    app_queued_log_end(&u);
    assert_int_equal(read(fds[0], at, sizeof at), sizeof want - 1);
    assert_memory_equal(at, want, sizeof want - 1);
    close(fds[0]);
    close(fds[1]);
}

static void progress_is_shown_only_on_a_terminal_that_is_not_quiet(void **state)
{
    const struct app piped = { .stderr_is_tty = false };
    const struct app quiet = { .stderr_is_tty = true, .quiet = true };
    const struct app terminal = { .stderr_is_tty = true };

    (void)state;
    assert_false(app_shows_progress(&piped));
    assert_false(app_shows_progress(&quiet));
    assert_true(app_shows_progress(&terminal));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_writes_interrupts_and_full_pipes_lose_nothing),
        cmocka_unit_test(a_full_disk_is_an_io_error_that_names_standard_output),
        cmocka_unit_test(a_closed_reader_is_reported_as_gone),
        cmocka_unit_test(every_kind_of_error_has_its_exit_code),
        cmocka_unit_test(app_env_reads_the_given_environment),
        cmocka_unit_test(a_blocked_log_does_not_block_the_program),
        cmocka_unit_test(progress_is_shown_only_on_a_terminal_that_is_not_quiet),
    };
    alarm(60); /* a wait without end must fail the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
