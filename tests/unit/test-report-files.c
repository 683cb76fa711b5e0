#include "report/report-files.h"

#include <errno.h>
#include <unistd.h>

#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"
#include "verdict-sample.h"

#define LIST(...)                                                                              \
    (&(struct str_list){ (const char *[]){ __VA_ARGS__ },                                      \
                         sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *) })

static const struct report_files_target target = { .sys = &sys_real };

static void check_rejected(const struct str_list *values, const char *input, enum err_kind kind,
                           const char *message)
{
    struct report_files r;
    struct err e = ERR_NONE;

    report_files_init(&r, NULL);
    assert_false(report_files_parse(&r, values, &e) &&
                 report_files_check(&r, &target, input, &e));
    assert_int_equal(e.kind, kind);
    assert_string_equal(e.msg, message);
    report_files_release(&r);
    assert_int_equal(temp_dir_count("."), 1);
}

static void a_file_that_cannot_be_written_is_reported_first(void **state)
{
    (void)state;
    temp_dir_put("there", STR("x"));
    check_rejected(LIST("junit="), NULL, ERR_USAGE, "'--report junit=' names no file");
    check_rejected(LIST(""), NULL, ERR_USAGE, "'--report ' names no file");
    check_rejected(LIST("junit=a", "json=a"), NULL, ERR_USAGE,
                   "two reports cannot be written to 'a'");
    check_rejected(LIST("junit=a", "json=./a"), NULL, ERR_USAGE,
                   "two reports cannot be written to './a'");
    check_rejected(
        LIST("a", "junit=./there"), "there", ERR_USAGE,
        "the report cannot be written to './there': the command reads or writes that "
        "file");
    check_rejected(
        LIST("a", "junit=b"), "b", ERR_USAGE,
        "the report cannot be written to 'b': the command reads or writes that file");
    check_rejected(
        LIST("a", "github=-"), NULL, ERR_USAGE,
        "the report cannot be written to standard output, which belongs to the client");
    check_rejected(LIST("a", "markdown=there"), NULL, ERR_USAGE,
                   "cannot write 'there': it exists already");
    check_rejected(LIST("a", "markdown=no/a"), NULL, ERR_IO,
                   "cannot write 'no/a': there is no folder 'no'");
    assert_content("there", STR("x"));
}

/* Plays the sample into the reports and writes them. */
static void write_reports(const struct str_list *values, const struct report_files_target *to,
                          struct verdict_report *other)
{
    struct report_files r;
    struct err e = ERR_NONE;

    report_files_init(&r, other);
    if (!report_files_parse(&r, values, &e) || !report_files_check(&r, to, "input", &e))
        fail_msg("%s", e.msg);
    verdict_sample_play(&r.report);
    if (!report_files_write(&r, to, &e))
        fail_msg("%s", e.msg);
    report_files_release(&r);
}

static bool starts(const char *path, const char *text)
{
    struct buf got;
    bool same;

    buf_init(&got, 1 << 20);
    temp_dir_get(&got, path);
    same = str_starts(buf_str(&got), str_z(text));
    buf_release(&got);
    return same;
}

static void each_file_gets_its_format(void **state)
{
    (void)state;
    write_reports(LIST("plain", "xml=a.json", "json=b.json", "junit=c=d.xml", "github=e",
                       "markdown=f", "sarif=g"),
                  &target, NULL);
    assert_int_equal(temp_dir_count("."), 7);
    assert_true(starts("plain", "{\"v\":"));
    assert_true(starts("xml=a.json", "{\"v\":"));
    assert_true(starts("b.json", "{\"v\":"));
    assert_true(starts("c=d.xml", "<?xml "));
    assert_true(starts("e", "::error "));
    assert_true(starts("f", "### MCP verify: "));
    assert_true(starts("g", "{\"$schema\":"));
}

static void existing_files_are_replaced_if_allowed(void **state)
{
    struct report_files_target to = target;

    (void)state;
    temp_dir_put("a", STR("x"));
    to.replace = true;
    write_reports(LIST("github=a"), &to, NULL);
    assert_true(starts("a", "::error "));
}

static bool keep_text(const void *arg, struct str text, struct err *e)
{
    struct buf *to = *(struct buf *const *)arg;

    (void)e;
    buf_add(to, text);
    return true;
}

static void standard_output_is_a_file_if_allowed(void **state)
{
    struct report_files_target to = target;
    struct buf text, *at = &text;

    (void)state;
    buf_init(&text, 1 << 20);
    to.write_stdout = keep_text;
    to.arg = &at;
    write_reports(LIST("github=-"), &to, NULL);
    assert_true(str_starts(buf_str(&text), STR("::error ")));
    assert_int_equal(temp_dir_count("."), 0);
    buf_release(&text);
}

/* Counts the calls that an output gets. */
struct counter {
    struct verdict_report report;
    int begun, verdicts, findings, ended;
};

static void count_begin(struct verdict_report *self, const struct verdict_report_run *run)
{
    (void)run;
    ((struct counter *)self)->begun++;
}

static void count_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    (void)v;
    ((struct counter *)self)->verdicts++;
}

static void count_finding(struct verdict_report *self, const struct finding *f)
{
    (void)f;
    ((struct counter *)self)->findings++;
}

static void count_end(struct verdict_report *self, const struct verdict_report_result *result)
{
    (void)result;
    ((struct counter *)self)->ended++;
}

static void another_output_gets_the_same_calls(void **state)
{
    struct counter c = { .report = { count_begin, count_verdict, count_finding, count_end,
                                     verdict_report_finish_nothing } };

    (void)state;
    write_reports(&(struct str_list){ 0 }, &target, &c.report);
    assert_int_equal(c.begun, 1);
    assert_int_equal(c.verdicts, 8);
    assert_int_equal(c.findings, 3);
    assert_int_equal(c.ended, 1);
}

static void a_command_may_have_its_own_json(void **state)
{
    struct report_files r;
    struct err e = ERR_NONE;

    (void)state;
    report_files_init(&r, NULL);
    assert_true(report_files_parse(&r, LIST("a"), &e));
    assert_false(report_files_need_verdicts(&r));
    report_files_release(&r);
    report_files_init(&r, NULL);
    assert_true(report_files_parse(&r, LIST("a", "github=b"), &e));
    assert_true(report_files_need_verdicts(&r));
    verdict_sample_play(&r.report);
    report_files_set_json(&r, STR("{}\n"));
    assert_true(report_files_write(&r, &target, &e));
    assert_content("a", STR("{}\n"));
    assert_true(starts("b", "::error "));
    report_files_release(&r);
}

static void one_failure_does_not_stop_the_other_files(void **state)
{
    struct report_files_target to = target;
    struct report_files r;
    struct err e = ERR_NONE;
    struct fault_sys f;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 1, 1, ENOSPC);
    to.sys = &f.sys;
    report_files_init(&r, NULL);
    assert_true(report_files_parse(&r, LIST("a", "github=b"), &e));
    verdict_sample_play(&r.report);
    assert_false(report_files_write(&r, &to, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "'a'"));
    assert_int_equal(access("a", F_OK), -1);
    assert_true(starts("b", "::error "));
    assert_int_equal(temp_dir_count("."), 1);
    report_files_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_file_that_cannot_be_written_is_reported_first),
        IN_TEMP_DIR(each_file_gets_its_format),
        IN_TEMP_DIR(existing_files_are_replaced_if_allowed),
        IN_TEMP_DIR(standard_output_is_a_file_if_allowed),
        IN_TEMP_DIR(another_output_gets_the_same_calls),
        IN_TEMP_DIR(a_command_may_have_its_own_json),
        IN_TEMP_DIR(one_failure_does_not_stop_the_other_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
