#include "report/verdict-markdown.h"

#include "base/clock.h"
#include "base/term.h"
#include "report/finding-text.h"
#include "report/value-excerpt.h"

/* The sizes of the tables leave 10,000 bytes for the rest: each other text is cut. */
enum {
    FAILED = 30000,
    OTHERS = 8000,
    PASSED = 12000,
    ROW = 64 << 10,
    COLUMNS = 120, /* of a value, name or message */
    FINDINGS = 3,  /* of a call */
    TITLE = 1000,  /* bytes of the title of several recordings, and what is left out */
};

/* Returns whether a code span of one backtick shows the text as it is, also in a table. */
static bool is_plain_code(struct str text)
{
    if (text.at[0] == ' ' || text.at[text.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '`' || text.at[i] == '|' || text.at[i] == '\\')
            return false;
    return true;
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
           !(c >= 'a' && c <= 'z');
}

/* Appends text as code. It is escaped to one line already. Other text than plain one is an HTML
 * element whose punctuation is character references: these never start markup. */
static void add_code(struct buf *to, struct str text)
{
    if (!text.len)
        return;
    if (is_plain_code(text)) {
        buf_add_ch(to, '`');
        buf_add(to, text);
        buf_add_ch(to, '`');
        return;
    }
    buf_add(to, STR("<code>"));
    for (size_t i = 0; i < text.len; i++) {
        if (is_punctuation(text.at[i]))
            buf_printf(to, "&#%d;", text.at[i]);
        else
            buf_add_ch(to, text.at[i]);
    }
    buf_add(to, STR("</code>"));
}

static void add_text(struct buf *to, struct str text, size_t columns)
{
    struct buf escaped;

    buf_init(&escaped, ROW);
    term_escape_cut(&escaped, text, columns);
    add_code(to, buf_str(&escaped));
    buf_release(&escaped);
}

static void add_value(struct buf *to, struct str value, struct str other)
{
    struct buf excerpt;

    buf_init(&excerpt, ROW);
    value_excerpt_write(&excerpt, value, other, COLUMNS);
    add_code(to, buf_str(&excerpt));
    buf_release(&excerpt);
}

static void add_values(struct buf *to, const struct finding *f)
{
    if (f->recorded.len && f->live.len) {
        add_value(to, f->recorded, f->live);
        buf_add(to, STR(" → "));
        add_value(to, f->live, f->recorded);
    } else if (f->recorded.len) {
        buf_add(to, STR("recorded "));
        add_value(to, f->recorded, STR_NONE);
    } else if (f->live.len) {
        buf_add(to, STR("live "));
        add_value(to, f->live, STR_NONE);
    }
}

/* Appends a part of a cell behind `between`, if the cell has text. */
static void add_part(struct buf *to, size_t cell, const char *between, struct str text)
{
    if (!text.len)
        return;
    if (to->len > cell)
        buf_add(to, str_z(between));
    add_text(to, text, COLUMNS);
}

/* Appends path, message, values and hint. */
static void add_finding_parts(struct buf *to, const struct finding *f, bool message)
{
    size_t cell = to->len;

    add_part(to, cell, ": ", f->path);
    if (message)
        add_part(to, cell, ": ", f->message);
    if ((f->recorded.len || f->live.len) && to->len > cell)
        buf_add(to, STR(": "));
    add_values(to, f);
    add_part(to, cell, "<br>", f->hint);
}

/* Empties a table, which has the size that earlier recordings have left. */
static void restart_rows(struct verdict_markdown_rows *rows)
{
    rows->text.max -= rows->text.len;
    buf_clear(&rows->text);
    rows->left_out = 0;
}

static void begin_markdown(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct verdict_markdown *m = (struct verdict_markdown *)self;

    m->run = run;
    restart_rows(&m->failed);
    restart_rows(&m->others);
    restart_rows(&m->passed);
    memset(m->findings, 0, sizeof m->findings);
}

static void add_row(struct verdict_markdown_rows *rows, const struct buf *row)
{
    if (rows->left_out || row->full || row->len > rows->text.max - rows->text.len)
        rows->left_out++;
    else
        buf_add(&rows->text, buf_str(row));
}

static void add_call_name(struct buf *to, const struct call_verdict *v)
{
    struct buf name;

    buf_init(&name, ROW);
    verdict_report_write_name(&name, v);
    add_text(to, buf_str(&name), COLUMNS);
    buf_release(&name);
}

/* Appends the findings of a call that are no notes. */
static void add_call_findings(struct buf *to, const struct call_verdict *v, size_t cell)
{
    size_t count = 0;

    for (size_t i = 0; i < v->finding_count; i++) {
        const struct finding *f = &v->findings[i];

        if (f->severity == FINDING_NOTE || verdict_report_repeats_reason(v, f) ||
            count++ >= FINDINGS)
            continue;
        if (to->len > cell)
            buf_add(to, STR("<br>"));
        add_finding_parts(to, f, verdict_report_needs_message(f));
    }
    if (count > FINDINGS)
        buf_printf(to, "<br>and %zu more", count - FINDINGS);
}

static void add_result(struct buf *to, const struct call_verdict *v)
{
    struct buf reason;
    size_t cell = to->len;

    buf_init(&reason, ROW);
    verdict_report_write_reason(&reason, v);
    if (v->updated)
        buf_add(to, STR("updated"));
    add_part(to, cell, "; ", buf_str(&reason));
    buf_release(&reason);
    add_call_findings(to, v, cell);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    static const char *const marks[VERDICT_KINDS] = {
        [VERDICT_PASSED] = "✓",  [VERDICT_VOLATILE] = "✓", [VERDICT_FAILED] = "✗",
        [VERDICT_BLOCKED] = "~", [VERDICT_SKIPPED] = "~",
    };
    struct verdict_markdown *m = (struct verdict_markdown *)self;
    bool passed = v->kind == VERDICT_PASSED || v->kind == VERDICT_VOLATILE;
    char text[CLOCK_TEXT_SIZE];
    struct buf row;

    buf_init(&row, ROW);
    buf_printf(&row, "| %s | ", marks[v->kind]);
    add_call_name(&row, v);
    buf_add(&row, STR(" | "));
    if (v->duration_us >= 0)
        buf_add(&row, clock_format_duration(text, v->duration_us));
    buf_add(&row, STR(" | "));
    add_result(&row, v);
    buf_add(&row, STR(" |\n"));
    add_row(v->kind == VERDICT_FAILED ? &m->failed : passed ? &m->passed : &m->others, &row);
    buf_release(&row);
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_markdown *m = (struct verdict_markdown *)self;
    struct buf row;

    m->findings[f->severity]++;
    if (f->severity == FINDING_NOTE)
        return;
    buf_init(&row, ROW);
    buf_printf(&row, "| %s | ", f->severity == FINDING_ERROR ? "✗" : "⚠");
    add_text(&row, f->rule, COLUMNS);
    buf_add(&row, STR(" | | "));
    add_part(&row, row.len, "", f->message);
    if (f->message.len && (f->path.len || f->recorded.len || f->live.len || f->hint.len))
        buf_add(&row, STR("<br>"));
    add_finding_parts(&row, f, false);
    buf_add(&row, STR(" |\n"));
    add_row(&m->failed, &row);
    buf_release(&row);
}

static void add_count(struct buf *to, size_t start, uint64_t n, const char *one,
                      const char *many)
{
    if (n)
        buf_printf(to, "%s%llu %s", to->len > start ? ", " : "", (unsigned long long)n,
                   n == 1 ? one : many);
}

/* Appends the counts behind a title. `findings` are those of no call; NULL: they are told
 * already. */
static void add_counts(struct buf *to, const struct call_verdict_totals *totals,
                       const uint64_t *findings, bool no_calls)
{
    size_t start = to->len;

    add_count(to, start, totals->count[VERDICT_FAILED], "failed", "failed");
    if (totals->updated)
        buf_printf(to, " (%llu updated)", (unsigned long long)totals->updated);
    add_count(to, start, verdict_report_passed(totals), "passed", "passed");
    add_count(to, start, totals->count[VERDICT_BLOCKED], "blocked", "blocked");
    add_count(to, start, totals->count[VERDICT_SKIPPED], "skipped", "skipped");
    verdict_report_write_not_read_only(to, totals);
    if (to->len == start && !no_calls)
        buf_add(to, STR("no calls"));
    if (findings) {
        add_count(to, start, findings[FINDING_ERROR], "error", "errors");
        add_count(to, start, findings[FINDING_WARNING], "warning", "warnings");
        if (to->len == start)
            buf_add(to, STR("no findings"));
    }
    buf_add(to, STR("\n\n"));
}

/* Appends the verdict of the command in front of the counts. */
static void add_title(struct buf *to, const struct verdict_markdown *m,
                      const struct call_verdict_totals *totals)
{
    if (!m->run->verdict.len) {
        add_counts(to, totals, m->findings, m->run->no_calls);
        return;
    }
    term_escape_cut(to, m->run->verdict, COLUMNS);
    if (!m->run->no_calls)
        buf_add(to, STR("; calls: "));
    add_counts(to, totals, NULL, m->run->no_calls);
}

/* Appends recording, target, server and duration. */
static void add_run(struct buf *to, const struct verdict_report_run *run,
                    const struct call_verdict_totals *totals)
{
    char text[CLOCK_TEXT_SIZE];
    size_t start = to->len;

    add_part(to, start, "", run->file);
    add_part(to, start, " → ", run->target);
    add_part(to, start, ", server ", run->server_name);
    add_part(to, start, " ", run->server_version);
    add_part(to, start, ", protocol ", run->protocol);
    if (totals->duration_us >= 0)
        buf_printf(to, "%s%.*s", to->len > start ? ", " : "",
                   STR_ARG(clock_format_duration(text, totals->duration_us)));
    buf_add(to, STR("\n\n"));
}

static void add_table(struct buf *to, const struct verdict_markdown_rows *rows)
{
    if (!rows->text.len && !rows->left_out)
        return;
    buf_add(to, STR("| | call | time | result |\n|---|---|---|---|\n"));
    buf_add(to, buf_str(&rows->text));
    if (rows->left_out)
        buf_printf(to, "| … | %llu more | | |\n", (unsigned long long)rows->left_out);
    buf_add_ch(to, '\n');
}

/* Appends a table that is collapsed. */
static void add_details(struct buf *to, const struct verdict_markdown_rows *rows, uint64_t n,
                        const char *title)
{
    if (!n)
        return;
    buf_printf(to, "<details><summary>%llu %s</summary>\n\n", (unsigned long long)n, title);
    add_table(to, rows);
    buf_add(to, STR("</details>\n\n"));
}

static void add_steps(struct buf *to, const struct verdict_report_result *result)
{
    for (size_t i = 0; i < result->step_count; i++) {
        term_escape_cut(to, result->steps[i].label, COLUMNS);
        buf_add(to, STR(": "));
        add_text(to, result->steps[i].command, 10 * COLUMNS);
        buf_add(to, i + 1 < result->step_count ? STR("<br>\n") : STR("\n"));
    }
}

static void write_section(struct buf *to, const struct verdict_markdown *m,
                          const struct verdict_report_result *result)
{
    const struct call_verdict_totals *totals = result->totals;

    buf_add(to, STR("### MCP "));
    term_escape_cut(to, m->run->command, COLUMNS);
    buf_add(to, STR(": "));
    add_title(to, m, totals);
    add_run(to, m->run, totals);
    add_part(to, to->len, "", m->run->notice);
    if (m->run->notice.len)
        buf_add(to, STR("\n\n"));
    add_table(to, &m->failed);
    add_table(to, &m->others);
    add_details(to, &m->passed, verdict_report_passed(totals), "passed");
    add_steps(to, result);
}

static void end_markdown(struct verdict_report *self,
                         const struct verdict_report_result *result)
{
    struct verdict_markdown *m = (struct verdict_markdown *)self;
    struct buf section;

    buf_init(&section, VERDICT_MARKDOWN_MAX);
    write_section(&section, m, result);
    if (m->recordings++)
        buf_add_ch(&m->sections, '\n');
    if (section.full || section.len > m->sections.max - m->sections.len)
        m->left_out++;
    else
        buf_add(&m->sections, buf_str(&section));
    buf_release(&section);
    verdict_report_add_totals(&m->all, result->totals);
    m->no_calls = m->run->no_calls;
    for (size_t i = 0; i <= FINDING_NOTE; i++)
        m->all_findings[i] += m->findings[i];
}

static void finish_markdown(struct verdict_report *self)
{
    struct verdict_markdown *m = (struct verdict_markdown *)self;

    if (m->recordings > 1) {
        buf_printf(m->to, "## MCP: %llu recordings: ", (unsigned long long)m->recordings);
        add_counts(m->to, &m->all, m->all_findings, m->no_calls);
    }
    buf_add(m->to, buf_str(&m->sections));
    if (m->left_out)
        buf_printf(m->to, "\n… %llu more recordings, which are counted above\n",
                   (unsigned long long)m->left_out);
}

void verdict_markdown_init(struct verdict_markdown *m, struct buf *to)
{
    *m = (struct verdict_markdown){
        .report = { begin_markdown, add_verdict, add_finding, end_markdown, finish_markdown },
        .to = to,
    };
    buf_init(&m->sections, VERDICT_MARKDOWN_MAX - TITLE);
    buf_init(&m->failed.text, FAILED);
    buf_init(&m->others.text, OTHERS);
    buf_init(&m->passed.text, PASSED);
}

void verdict_markdown_release(struct verdict_markdown *m)
{
    buf_release(&m->sections);
    buf_release(&m->failed.text);
    buf_release(&m->others.text);
    buf_release(&m->passed.text);
}
