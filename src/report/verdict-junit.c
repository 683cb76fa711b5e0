#include "report/verdict-junit.h"

#include "base/term.h"
#include "base/utf8.h"
#include "report/finding-text.h"

enum {
    COLUMNS = 2000, /* of a value or message */
    ATTRIBUTE = 300,
    FINDINGS = 50, /* of a call */
    CUT = 16,      /* bytes that the last character and "…" may take */
};

/* Appends the XML of one character; U+FFFE and U+FFFF, which XML 1.0 does not have, become
 * U+FFFD. */
static void add_xml_char(struct buf *to, struct str bytes, uint32_t code)
{
    switch (code) {
    case '&':
        buf_add(to, STR("&amp;"));
        break;
    case '<':
        buf_add(to, STR("&lt;"));
        break;
    case '>': /* "]]>" must not stand in text */
        buf_add(to, STR("&gt;"));
        break;
    case '"':
        buf_add(to, STR("&quot;"));
        break;
    case 0xFFFE:
    case 0xFFFF:
        buf_add(to, STR("\xef\xbf\xbd"));
        break;
    default:
        buf_add(to, bytes);
    }
}

/* Appends text for an element or attribute, cut at VERDICT_JUNIT_TEXT bytes. `text` is escaped
 * for a terminal already: it has no control characters except newlines. */
static void add_xml(struct buf *to, struct str text)
{
    size_t start = to->len, n;
    uint32_t code = 0;

    for (; text.len; text = str_skip(text, n)) {
        if (to->len - start > VERDICT_JUNIT_TEXT - CUT) {
            buf_add(to, STR("…"));
            return;
        }
        n = utf8_decode(text, &code);
        if (!n) {
            n = 1;
            code = 0xFFFF;
        }
        add_xml_char(to, str_n(text.at, n), code);
    }
}

/* Appends ' name="text"'. */
static void add_attribute(struct buf *to, const char *name, struct str text)
{
    struct buf escaped;

    buf_init(&escaped, 1 << 20);
    term_escape_cut(&escaped, text, ATTRIBUTE);
    buf_printf(to, " %s=\"", name);
    add_xml(to, buf_str(&escaped));
    buf_add_ch(to, '"');
    buf_release(&escaped);
}

static void add_seconds(struct buf *to, int64_t us)
{
    if (us >= 0)
        buf_printf(to, " time=\"%lld.%03lld\"", (long long)(us / 1000000),
                   (long long)(us / 1000 % 1000));
}

static struct str server_label(const struct verdict_report_run *run)
{
    if (run->server_name.len)
        return run->server_name;
    return run->target.len ? run->target : run->command;
}

static void open_case(struct verdict_junit *j, struct str name, int64_t duration_us)
{
    j->counts.tests++;
    buf_add(&j->cases, STR("    <testcase"));
    add_attribute(&j->cases, "classname", server_label(j->run));
    add_attribute(&j->cases, "name", name);
    add_seconds(&j->cases, duration_us);
    buf_add_ch(&j->cases, '>');
}

/* Appends an element with text. `attributes` is XML. */
static void add_element(struct buf *to, const char *name, struct str attributes,
                        struct str text)
{
    buf_printf(to, "\n      <%s", name);
    buf_add(to, attributes);
    if (text.len) {
        buf_add_ch(to, '>');
        add_xml(to, text);
        buf_printf(to, "</%s>", name);
    } else {
        buf_add(to, STR("/>"));
    }
}

/* Appends <failure>. `summary` is one line, `text` all of it. */
static void add_failure(struct verdict_junit *j, struct str type, struct str summary,
                        struct str text)
{
    struct buf attributes;

    buf_init(&attributes, 1 << 20);
    add_attribute(&attributes, "type", type);
    add_attribute(&attributes, "message", summary);
    add_element(&j->cases, "failure", buf_str(&attributes), text);
    buf_release(&attributes);
    j->counts.failures++;
}

static void add_skipped(struct verdict_junit *j, const struct call_verdict *v)
{
    struct buf reason, attributes;

    buf_init(&reason, 1 << 20);
    buf_init(&attributes, 1 << 20);
    verdict_report_write_reason(&reason, v);
    add_attribute(&attributes, "message", buf_str(&reason));
    add_element(&j->cases, "skipped", buf_str(&attributes), STR_NONE);
    buf_release(&reason);
    buf_release(&attributes);
    j->counts.skipped++;
}

/* Composes the one-line summary of a failed call: its reason, or its first error. */
static void write_summary(struct buf *to, const struct call_verdict *v)
{
    const struct finding *f = finding_text_first(v, FINDING_ERROR);

    verdict_report_write_reason(to, v);
    if (!to->len && f)
        finding_text_write_line(to, f, ATTRIBUTE / 3);
}

static void write_details(struct buf *to, const struct verdict_junit *j,
                          const struct call_verdict *v)
{
    if (v->line) {
        term_escape_cut(to, j->run->file, ATTRIBUTE);
        buf_printf(to, ":%llu\n", (unsigned long long)v->line);
    }
    verdict_report_write_reason(to, v);
    if (v->reason.len)
        buf_add_ch(to, '\n');
    finding_text_write_call(to, v, FINDING_ERROR, FINDINGS, COLUMNS);
}

static struct str failure_type(const struct call_verdict *v)
{
    return v->failure == FAILURE_NONE ? verdict_report_kind(v->kind)
                                      : verdict_report_failure(v->failure);
}

static void add_failed_call(struct verdict_junit *j, const struct call_verdict *v)
{
    struct buf summary, details;

    buf_init(&summary, 1 << 20);
    buf_init(&details, 16 << 20);
    write_summary(&summary, v);
    write_details(&details, j, v);
    if (v->updated)
        buf_add(&details, STR("updated: the recording now has the live response\n"));
    if (v->updated)
        add_element(&j->cases, "system-out", STR_NONE, buf_str(&details));
    else
        add_failure(j, failure_type(v), buf_str(&summary), buf_str(&details));
    buf_release(&summary);
    buf_release(&details);
}

static void add_warnings(struct verdict_junit *j, const struct call_verdict *v)
{
    struct buf text;

    buf_init(&text, 16 << 20);
    finding_text_write_call(&text, v, FINDING_WARNING, FINDINGS, COLUMNS);
    if (text.len)
        add_element(&j->cases, "system-out", STR_NONE, buf_str(&text));
    buf_release(&text);
}

static void close_case(struct verdict_junit *j)
{
    if (str_ends(buf_str(&j->cases), STR("\">"))) { /* it has no elements */
        j->cases.len--;
        buf_add(&j->cases, STR("/>\n"));
    } else {
        buf_add(&j->cases, STR("\n    </testcase>\n"));
    }
}

static void begin_junit(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct verdict_junit *j = (struct verdict_junit *)self;

    j->run = run;
    j->counts = (struct verdict_junit_counts){ .tests = 0 };
    buf_clear(&j->cases);
    buf_clear(&j->output);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct verdict_junit *j = (struct verdict_junit *)self;
    struct buf name;

    buf_init(&name, 1 << 20);
    verdict_report_write_name(&name, v);
    open_case(j, buf_str(&name), v->duration_us);
    buf_release(&name);
    if (v->kind == VERDICT_FAILED)
        add_failed_call(j, v);
    else if (v->kind == VERDICT_BLOCKED || v->kind == VERDICT_SKIPPED)
        add_skipped(j, v);
    if (!v->updated)
        add_warnings(j, v);
    close_case(j);
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_junit *j = (struct verdict_junit *)self;
    struct buf name, details;

    if (f->severity != FINDING_ERROR) {
        buf_add(&j->output, verdict_report_severity(f->severity));
        buf_add(&j->output, STR(": "));
        finding_text_write(&j->output, f, COLUMNS);
        return;
    }
    buf_init(&name, 1 << 20);
    buf_init(&details, 1 << 20);
    term_escape_cut(&name, f->rule, ATTRIBUTE);
    if (f->message.len) {
        buf_add(&name, STR(": "));
        term_escape_cut(&name, f->message, ATTRIBUTE);
    }
    finding_text_write(&details, f, COLUMNS);
    open_case(j, buf_str(&name), -1);
    add_failure(j, f->rule, f->message, buf_str(&details));
    close_case(j);
    buf_release(&name);
    buf_release(&details);
}

static void add_property(struct buf *to, const char *name, struct str value)
{
    if (!value.len)
        return;
    buf_printf(to, "      <property name=\"%s\"", name);
    add_attribute(to, "value", value);
    buf_add(to, STR("/>\n"));
}

static void add_properties(struct buf *to, const struct verdict_report_run *run, int exit_code)
{
    buf_add(to, STR("    <properties>\n"));
    add_property(to, "command", run->command);
    add_property(to, "target", run->target);
    add_property(to, "server-version", run->server_version);
    add_property(to, "protocol", run->protocol);
    buf_printf(to, "      <property name=\"exit-code\" value=\"%d\"/>\n", exit_code);
    buf_add(to, STR("    </properties>\n"));
}

static void add_counts(struct buf *to, const struct verdict_junit_counts *counts)
{
    buf_printf(to, " tests=\"%llu\" failures=\"%llu\" errors=\"0\" skipped=\"%llu\"",
               (unsigned long long)counts->tests, (unsigned long long)counts->failures,
               (unsigned long long)counts->skipped);
    add_seconds(to, counts->duration_us);
    buf_add(to, STR(">\n"));
}

static void end_junit(struct verdict_report *self, const struct verdict_report_result *result)
{
    struct verdict_junit *j = (struct verdict_junit *)self;
    struct buf *to = &j->suites;

    j->counts.duration_us = result->totals->duration_us;
    buf_add(to, STR("  <testsuite"));
    add_attribute(to, "name", j->run->file);
    add_counts(to, &j->counts);
    add_properties(to, j->run, result->exit_code);
    buf_add(to, buf_str(&j->cases));
    to->full = to->full || j->cases.full;
    if (j->output.len) {
        buf_add(to, STR("    <system-out>"));
        add_xml(to, buf_str(&j->output));
        buf_add(to, STR("</system-out>\n"));
    }
    buf_add(to, STR("  </testsuite>\n"));
    j->all.tests += j->counts.tests;
    j->all.failures += j->counts.failures;
    j->all.skipped += j->counts.skipped;
    if (j->counts.duration_us >= 0)
        j->all.duration_us =
            j->counts.duration_us + (j->all.duration_us < 0 ? 0 : j->all.duration_us);
}

static void finish_junit(struct verdict_report *self)
{
    struct verdict_junit *j = (struct verdict_junit *)self;

    buf_add(j->to, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"));
    add_counts(j->to, &j->all);
    buf_add(j->to, buf_str(&j->suites));
    j->to->full = j->to->full || j->suites.full;
    buf_add(j->to, STR("</testsuites>\n"));
}

void verdict_junit_init(struct verdict_junit *j, struct buf *to)
{
    *j = (struct verdict_junit){ .report = { begin_junit, add_verdict, add_finding, end_junit,
                                             finish_junit },
                                 .to = to,
                                 .all = { .duration_us = -1 } };
    buf_init(&j->suites, to->max);
    buf_init(&j->cases, to->max);
    buf_init(&j->output, VERDICT_JUNIT_TEXT + (1 << 16));
}

void verdict_junit_release(struct verdict_junit *j)
{
    buf_release(&j->suites);
    buf_release(&j->cases);
    buf_release(&j->output);
}
