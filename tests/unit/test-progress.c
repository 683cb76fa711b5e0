#include "report/progress.h"

#include "base/buf.h"
#include "test.h"

/* A terminal that is a buffer, and clocks that stand still. */
struct progress_run {
    struct buf screen;
    struct log log;
    struct progress p;
};

static void put(void *to, struct str line)
{
    buf_add(to, line);
}

static int64_t at_0(void)
{
    return 0;
}

static int64_t at_499_ms(void)
{
    return 499999;
}

static int64_t at_500_ms(void)
{
    return 500000;
}

static int64_t at_599_ms(void)
{
    return 599999;
}

static int64_t at_2_s(void)
{
    return 2000000;
}

static void begin(struct progress_run *s, const char *subject, uint64_t total)
{
    buf_init(&s->screen, 1 << 16);
    s->log = (struct log){ LOG_INFO, false, put, &s->screen };
    progress_init(&s->p, &s->log, true, "reading", subject);
    s->p.total = total;
    s->p.started_us = 0;
    s->p.clock = NULL;
}

static void end(struct progress_run *s)
{
    buf_release(&s->screen);
}

static void move(struct progress_run *s, int64_t (*clock)(void), uint64_t done)
{
    s->p.clock = clock;
    s->p.next_check = 0;
    progress_update(&s->p, done);
}

static void nothing_is_shown_in_the_first_half_second(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a.jsonl", 1000);
    move(&s, at_0, 1);
    move(&s, at_499_ms, 500);
    assert_int_equal(s.screen.len, 0);
    move(&s, at_500_ms, 500);
    assert_str(buf_str(&s.screen),
               STR("reading a.jsonl  50%  500 bytes of 1.0 kB  500 ms left\r"));
    end(&s);
}

static void the_line_is_drawn_at_most_ten_times_a_second(void **state)
{
    struct progress_run s;
    size_t len;

    (void)state;
    begin(&s, "a.jsonl", 1000);
    move(&s, at_500_ms, 500);
    len = s.screen.len;
    move(&s, at_599_ms, 600);
    assert_int_equal(s.screen.len, len);
    end(&s);
}

static void the_clock_is_not_read_for_every_record(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a.jsonl", 100000000);
    s.p.clock = at_0;
    progress_update(&s.p, 1);
    s.p.clock = NULL; /* asking it would crash */
    progress_update(&s.p, 2);
    progress_update(&s.p, 100000);
    s.p.clock = at_500_ms;
    progress_update(&s.p, 1000000);
    assert_true(s.screen.len > 0);
    end(&s);
}

static void a_shorter_line_overwrites_a_longer_one(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a", 1000);
    move(&s, at_500_ms, 999);
    buf_clear(&s.screen);
    move(&s, at_2_s, 1000);
    assert_str(buf_str(&s.screen), STR("reading a  100%  1.0 kB of 1.0 kB  0 us left    \r"));
    end(&s);
}

static void without_a_size_the_bytes_read_are_shown(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "-", 0);
    move(&s, at_500_ms, 155000000);
    assert_str(buf_str(&s.screen), STR("reading -  155 MB\r"));
    end(&s);
}

static void a_file_that_grew_has_no_percentage(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a", 1000);
    move(&s, at_500_ms, 2000);
    assert_str(buf_str(&s.screen), STR("reading a  2.0 kB\r"));
    end(&s);
}

static void the_line_is_removed_at_the_end(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a", 0);
    move(&s, at_500_ms, 2000);
    buf_clear(&s.screen);
    progress_end(&s.p);
    assert_str(buf_str(&s.screen), STR("                 \r"));
    progress_end(&s.p);
    move(&s, at_2_s, 3000);
    assert_int_equal(s.screen.len, 18);
    end(&s);
}

static void the_line_is_removed_for_other_output_and_drawn_again(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a", 0);
    progress_clear(&s.p);
    assert_int_equal(s.screen.len, 0);
    move(&s, at_500_ms, 2000);
    buf_clear(&s.screen);
    progress_clear(&s.p);
    assert_str(buf_str(&s.screen), STR("                 \r"));
    buf_clear(&s.screen);
    move(&s, at_2_s, 3000);
    assert_str(buf_str(&s.screen), STR("reading a  3.0 kB\r"));
    end(&s);
}

static void other_output_gets_its_own_line(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a", 0);
    move(&s, at_500_ms, 2000);
    buf_clear(&s.screen);
    log_printf(progress_log(&s.p), LOG_WARN, "odd");
    assert_str(buf_str(&s.screen), STR("                 \rmcpreel: warning: odd\n"));
    buf_clear(&s.screen);
    log_printf(progress_log(&s.p), LOG_WARN, "again");
    assert_str(buf_str(&s.screen), STR("mcpreel: warning: again\n"));
    end(&s);
}

static void file_names_are_cut_and_escaped(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s,
          "\x1b[2J"
          "a-very-long-name-of-a-recording-that-never-ends.jsonl",
          0);
    move(&s, at_500_ms, 2000);
    assert_str(buf_str(&s.screen),
               STR("reading \\x1b[2Ja-very-long-name-of-a-record…  2.0 kB\r"));
    end(&s);
}

static void without_a_terminal_nothing_is_shown(void **state)
{
    struct progress_run s;

    (void)state;
    begin(&s, "a", 0);
    progress_init(&s.p, &s.log, false, "reading", "a");
    s.p.started_us = 0;
    move(&s, at_2_s, 2000);
    progress_end(&s.p);
    assert_int_equal(s.screen.len, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_shown_in_the_first_half_second),
        cmocka_unit_test(the_line_is_drawn_at_most_ten_times_a_second),
        cmocka_unit_test(the_clock_is_not_read_for_every_record),
        cmocka_unit_test(a_shorter_line_overwrites_a_longer_one),
        cmocka_unit_test(without_a_size_the_bytes_read_are_shown),
        cmocka_unit_test(a_file_that_grew_has_no_percentage),
        cmocka_unit_test(the_line_is_removed_at_the_end),
        cmocka_unit_test(the_line_is_removed_for_other_output_and_drawn_again),
        cmocka_unit_test(other_output_gets_its_own_line),
        cmocka_unit_test(file_names_are_cut_and_escaped),
        cmocka_unit_test(without_a_terminal_nothing_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
