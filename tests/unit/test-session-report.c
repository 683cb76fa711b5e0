#include "cmd/session-report.h"

#include "temp-dir.h"
#include "test.h"

#define REPORT STR("{\"v\":2}\n")

static void keep_line(void *to, struct str line)
{
    buf_add(to, line);
}

/* Writes REPORT to the files and the user. Returns what the log got in `logged`. */
static void write_report(bool json, const char *file, struct buf *logged)
{
    const struct log log = { .write = keep_line, .arg = logged };
    const struct app app = { .sys = &sys_real, .log = &log, .json = json };
    const struct str_list values = { &file, file ? 1 : 0 };
    struct report_files files;
    struct session_report out = { .app = &app, .files = &files };
    struct err e = ERR_NONE;

    report_files_init(&files, NULL);
    assert_true(report_files_parse(&files, &values, &e));
    assert_int_equal(session_report_is_wanted(&out), json || file);
    assert_true(session_report_write(&out, REPORT, &e));
    report_files_release(&files);
}

static void the_user_gets_it_with_json_only(void **state)
{
    struct buf logged;

    (void)state;
    buf_init(&logged, 4096);
    write_report(false, NULL, &logged);
    assert_int_equal(logged.len, 0);
    write_report(true, NULL, &logged);
    assert_str(buf_str(&logged), REPORT);
    buf_release(&logged);
}

static void a_file_gets_it_without_json(void **state)
{
    struct buf logged;

    (void)state;
    buf_init(&logged, 4096);
    write_report(false, "json=report", &logged);
    assert_content("report", REPORT);
    assert_int_equal(logged.len, 0);
    buf_release(&logged);
}

static void standard_output_is_free_only_without_a_client_on_it(void **state)
{
    struct session_report r = { .app = &(struct app){ .sys = &sys_real } };

    (void)state;
    assert_null(session_report_target(&r).write_stdout);
    r.over_http = true;
    assert_non_null(session_report_target(&r).write_stdout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(the_user_gets_it_with_json_only),
        IN_TEMP_DIR(a_file_gets_it_without_json),
        IN_TEMP_DIR(standard_output_is_free_only_without_a_client_on_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
