#include "loop/signals.h"

#include <signal.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/timer.h"
#include "test.h"

/* Signals as they come, and the loop that is stopped by each. */
struct signal_log {
    struct loop *loop;
    struct buf text;
};

static void note(void *to, int signum)
{
    struct signal_log *w = to;

    buf_printf(&w->text, "%d ", signum);
    loop_stop(w->loop);
}

static void too_late(void *to)
{
    (void)to;
    fail_msg("no signal came");
}

/* Something to wait for, as signals alone keep no loop running. */
static void run_until_one_comes(struct signal_log *w)
{
    struct timer *t = timer_new(w->loop, too_late, NULL);

    timer_set(t, 30000);
    loop_run(w->loop);
    timer_close(t);
}

static void all_termination_signals_are_reported(void **state)
{
    static const int asking[] = { SIGINT, SIGTERM, SIGHUP };
    struct signal_log w = { .loop = loop_new() };
    struct signals *s = signals_watch(w.loop, note, &w);
    struct buf want;

    (void)state;
    buf_init(&w.text, 100);
    buf_init(&want, 100);
    for (size_t i = 0; i < 3; i++) {
        raise(asking[i]);
        run_until_one_comes(&w);
        buf_printf(&want, "%d ", asking[i]);
    }
    raise(SIGTERM); /* again: it is reported every time */
    run_until_one_comes(&w);
    buf_printf(&want, "%d ", SIGTERM);
    assert_str(buf_str(&w.text), buf_str(&want));
    signals_close(s);
    loop_free(w.loop);
    buf_release(&w.text);
    buf_release(&want);
}

static void signal_handles_do_not_keep_the_loop_running(void **state)
{
    struct signal_log w = { .loop = loop_new() };
    struct signals *s = signals_watch(w.loop, note, &w);

    (void)state;
    loop_run(w.loop);
    signals_close(s);
    signals_close(NULL);
    loop_free(w.loop);
}

static void closing_restores_the_previous_handlers(void **state)
{
    struct signal_log w = { .loop = loop_new() };
    struct signals *s = signals_watch(w.loop, note, &w);
    struct sigaction now;

    (void)state;
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    assert_true(now.sa_handler != SIG_DFL);
    signals_close(s);
    loop_free(w.loop);
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

static void ignored_signals_stay_ignored(void **state)
{
    struct signal_log w = { .loop = loop_new() };
    struct sigaction now;
    struct signals *s;

    (void)state;
    buf_init(&w.text, 100);
    signal(SIGHUP, SIG_IGN);
    s = signals_watch(w.loop, note, &w);
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    raise(SIGHUP);
    raise(SIGTERM);
    run_until_one_comes(&w);
    assert_str(buf_str(&w.text), STR("15 "));
    signals_close(s);
    /* All of them: there is nothing to watch. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signals_close(signals_watch(w.loop, note, &w));
    loop_free(w.loop);
    for (int signum = 1; signum <= SIGTERM; signum++)
        if (signum == SIGHUP || signum == SIGINT || signum == SIGTERM)
            assert_true(signal(signum, SIG_DFL) == SIG_IGN);
    buf_release(&w.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_termination_signals_are_reported),
        cmocka_unit_test(signal_handles_do_not_keep_the_loop_running),
        cmocka_unit_test(closing_restores_the_previous_handlers),
        cmocka_unit_test(ignored_signals_stay_ignored),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
