#include "report/server-stats-text.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

struct shown {
    struct server_stats stats;
    struct server_stats_files files;
    struct buf text;
};

static void begin(struct shown *t)
{
    server_stats_init(&t->stats);
    t->files = (struct server_stats_files){ .stats = &t->stats, .read = 1 };
    buf_init(&t->text, 1 << 20);
}

static void feed(struct shown *t, const char *traffic)
{
    terse_feed(&t->stats.sink, traffic);
    server_stats_end_file(&t->stats);
}

static void finish(struct shown *t, size_t max_rows, bool color)
{
    server_stats_finish(&t->stats);
    server_stats_text_write(&t->text, &t->files, max_rows, color);
}

static void end(struct shown *t)
{
    buf_release(&t->text);
    server_stats_release(&t->stats);
}

static void assert_holds(struct shown *t, const char *part)
{
    if (!strstr(buf_z(&t->text), part))
        fail_msg("no '%s' in:\n%s", part, buf_z(&t->text));
}

static void a_server_has_three_tables(void **state)
{
    struct shown t;

    (void)state;
    begin(&t);
    feed(&t, "@0 c2s {'id':0,'method':'initialize'}\n"
             "@0 s2c {'id':0,'result':{'serverInfo':{'name':'a','version':'1'}}}\n"
             "@0 c2s {'id':1,'method':'tools/call','params':{'name':'x'}}\n"
             "@5 s2c {'id':1,'method':'roots/list'}\n@15 c2s {'id':1,'result':{}}\n"
             "@18 s2c {'id':1,'result':{'isError':true}}\n"
             "@20 c2s {'id':2,'method':'tools/list'}\n"
             "@21 s2c {'id':2,'result':{'tools':[{'name':'x'},{'name':'unused'}]}}\n"
             "@22 c2s {'id':3,'method':'ping'}\n");
    finish(&t, 0, false);
    assert_str(
        buf_str(&t.text),
        STR("1 recording in 1 file (0 bytes), 1 server\n"
            "\n"
            "a 1: 1 recording, 4 calls, 1 error\n"
            "2 tools listed: definitions of 29 bytes, about 8 tokens\n"
            "\n"
            "Requests from the client            calls errors       p50       p95       max    "
            " "
            "bytes\n"
            "initialize                              1      0      0 us      0 us      0 us  "
            "89 "
            "bytes\n"
            "ping                                    1      0                                "
            "24 "
            "bytes\n"
            "  1 pending\n"
            "tools/call x                            1      1      8 us      8 us      8 us  "
            "86 "
            "bytes\n"
            "  waiting for the client                             10 us     10 us     10 us\n"
            "  1 tool error\n"
            "tools/list                              1      0      1 us      1 us      1 us  "
            "90 "
            "bytes\n"
            "\n"
            "Requests from the server            calls errors       p50       p95       max    "
            " "
            "bytes\n"
            "roots/list                              1      0     10 us     10 us     10 us  "
            "50 "
            "bytes\n"
            "\n"
            "Context (tokens are estimated)       defined tokens results     bytes    tokens   "
            "largest\n"
            "tools/call x                        12 bytes      3       1  16 bytes         4  "
            "16 "
            "bytes\n"
            "tools/call unused                   17 bytes      5\n"));
    end(&t);
}

static void more_rows_than_wanted_are_counted(void **state)
{
    char traffic[64];
    struct shown t;

    (void)state;
    begin(&t);
    for (int i = 0; i < 5; i++) {
        snprintf(traffic, sizeof traffic, "c2s {'id':1,'method':'m%d'}\n", i);
        feed(&t, traffic);
    }
    finish(&t, 2, false);
    assert_holds(&t, "unknown server: 5 recordings, 5 calls\n");
    assert_holds(&t, "\nm1 ");
    assert_null(strstr(buf_z(&t.text), "\nm2 "));
    assert_holds(&t, "and 3 more; -n 0 shows all\n");
    end(&t);
}

static void the_summary_reports_unreadable_files(void **state)
{
    struct shown t;

    (void)state;
    begin(&t);
    t.files.failed = 1;
    t.files.notes = 2;
    t.files.other = 1;
    t.files.bytes = 5000;
    finish(&t, 0, false);
    assert_str(buf_str(&t.text),
               STR("0 recordings in 1 file (5.0 kB), 0 servers; 1 file could not be read, "
                   "2 warnings, see 'mcpreel check', 1 other file\n"));
    end(&t);
}

static void texts_of_files_are_escaped(void **state)
{
    struct shown t;

    (void)state;
    begin(&t);
    feed(&t, "c2s {'id':0,'method':'initialize'}\n"
             "s2c {'id':0,'result':{'serverInfo':{'name':'a`u001b[31m','version':'`n'}}}\n"
             "c2s {'id':1,'method':'tools/call','params':{'name':'`u202e'}}\n");
    finish(&t, 0, true);
    assert_holds(&t, "\x1b[1ma\\x1b[31m \\n\x1b[0m: 1 recording");
    assert_holds(&t, "tools/call <U+202E>");
    end(&t);
}

static void names_without_a_row_are_shown_together(void **state)
{
    char traffic[128];
    struct shown t;

    (void)state;
    begin(&t);
    for (int i = 0; i < SERVER_STATS_ROWS + 2; i++) {
        snprintf(traffic, sizeof traffic, "c2s {'id':0,'method':'m%d'}\n", i);
        feed(&t, traffic);
    }
    finish(&t, 1, false);
    assert_holds(&t, "\nAll other names together                2      0  ");
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_has_three_tables),
        cmocka_unit_test(more_rows_than_wanted_are_counted),
        cmocka_unit_test(the_summary_reports_unreadable_files),
        cmocka_unit_test(texts_of_files_are_escaped),
        cmocka_unit_test(names_without_a_row_are_shown_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
