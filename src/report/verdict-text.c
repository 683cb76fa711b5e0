#include "report/verdict-text.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/value-excerpt.h"

enum {
    MARK = 4,   /* columns before the number of a call: "  ✓ " */
    NUMBER = 2, /* digits of the number of a call, at least */
    SEQ = 7,
    DURATION = 10,
    NAME_LEAST = 16,
    NAME_MOST = 40,
    WIDTH = 120, /* where there is no terminal */
    INDENT = MARK + 4,
    VALUE_INDENT = INDENT + 2,
    WORD = 40,       /* columns of the name, version and protocol of a server */
    TARGET = 200,    /* columns; a command line may be very long */
    TEXT = 2000,     /* columns of a message, a path or a name */
    LINE = 64 << 10, /* bytes; more than TEXT columns with their escapes take */
};

static size_t full_width(const struct verdict_text *t)
{
    size_t least = VALUE_INDENT + 2 + VALUE_EXCERPT_LEAST;

    if (!t->options.width)
        return WIDTH;
    return t->options.width < least ? least : t->options.width;
}

static size_t name_columns(const struct verdict_text *t)
{
    size_t others = MARK + t->number_columns + 3 + SEQ + DURATION, width = full_width(t);

    if (width < others + NAME_LEAST)
        return NAME_LEAST;
    return width > others + NAME_MOST ? NAME_MOST : width - others;
}

static void add_styled(const struct verdict_text *t, enum term_style style, struct str text)
{
    term_style(t->to, t->options.color, style);
    buf_add(t->to, text);
    term_style(t->to, t->options.color, TERM_PLAIN);
}

/* Pads the column that starts at byte `from` with blanks. */
static void pad(struct buf *to, size_t from, size_t columns)
{
    for (size_t n = text_wrap_columns(str_n(to->at + from, to->len - from)); n < columns; n++)
        buf_add_ch(to, ' ');
}

/* Appends text and a newline, wrapped on a terminal. `text` is escaped already; the cursor is
 * at `column`. */
static void add_wrapped(const struct verdict_text *t, struct str text, size_t indent,
                        size_t column, enum term_style style)
{
    bool styled = t->options.color && style != TERM_PLAIN;
    struct text_wrap_shape shape = { .width = t->options.width ? full_width(t) : SIZE_MAX,
                                     .indent = indent,
                                     .start_column = column };
    struct buf lines;

    buf_init(&lines, LINE);
    text_wrap_fill(&lines, text, shape);
    term_style(t->to, styled, style);
    buf_add(t->to, str_n(lines.at, lines.len - 1));
    term_style(t->to, styled, TERM_PLAIN);
    buf_add_ch(t->to, '\n');
    buf_release(&lines);
}

/* The same for text that is not escaped, on its own lines. */
static void add_paragraph(const struct verdict_text *t, struct str text, size_t indent,
                          enum term_style style)
{
    struct buf escaped;

    buf_init(&escaped, LINE);
    term_escape_cut(&escaped, text, TEXT);
    buf_printf(t->to, "%*s", (int)indent, "");
    add_wrapped(t, buf_str(&escaped), indent, indent, style);
    buf_release(&escaped);
}

static void add_server(struct buf *to, const struct verdict_report_run *run)
{
    buf_add_ch(to, '(');
    term_escape_cut(to, run->server_name.len ? run->server_name : STR("server"), WORD);
    if (run->server_version.len)
        buf_add_ch(to, ' ');
    term_escape_cut(to, run->server_version, WORD);
    if (run->protocol.len)
        buf_add(to, STR(", protocol "));
    term_escape_cut(to, run->protocol, WORD);
    buf_add_ch(to, ')');
}

/* Appends the server behind the target, or below it if the line would be too long. */
static void add_server_part(const struct verdict_text *t, size_t from)
{
    const struct verdict_report_run *run = t->run;
    size_t used = text_wrap_columns(str_n(t->to->at + from, t->to->len - from));
    struct buf server;

    if (!run->server_name.len && !run->protocol.len)
        return;
    buf_init(&server, LINE);
    add_server(&server, run);
    if (t->options.width && used + 2 + text_wrap_columns(buf_str(&server)) > full_width(t))
        buf_add_ch(t->to, '\n');
    buf_add(t->to, STR("  "));
    add_styled(t, TERM_DIM, buf_str(&server));
    buf_release(&server);
}

/* Returns the columns of the numbers of calls, so that the last one has room. */
static size_t number_columns(uint64_t call_count)
{
    size_t columns = 1;

    for (; call_count >= 10; call_count /= 10)
        columns++;
    return columns < NUMBER ? NUMBER : columns;
}

static void begin_text(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct verdict_text *t = (struct verdict_text *)self;
    size_t from = t->to->len;

    t->run = run;
    t->number_columns = number_columns(run->call_count);
    memset(t->findings, 0, sizeof t->findings);
    t->legend_shown = t->below_calls = false;
    term_escape(t->to, run->file, TERM_ONE_LINE);
    if (run->target.len) {
        buf_add(t->to, STR(" → "));
        term_escape_cut(t->to, run->target, TARGET);
    }
    add_server_part(t, from);
    buf_add_ch(t->to, '\n');
    if (run->notice.len)
        add_paragraph(t, run->notice, 0, TERM_YELLOW);
    buf_add_ch(t->to, '\n');
}

struct mark {
    const char *glyph;
    enum term_style style;
};

static struct mark verdict_mark(const struct call_verdict *v)
{
    static const struct mark marks[VERDICT_KINDS] = {
        [VERDICT_PASSED] = { "✓", TERM_GREEN },   [VERDICT_VOLATILE] = { "✓", TERM_GREEN },
        [VERDICT_FAILED] = { "✗", TERM_RED },     [VERDICT_BLOCKED] = { "~", TERM_YELLOW },
        [VERDICT_SKIPPED] = { "~", TERM_YELLOW },
    };

    return marks[v->kind];
}

static struct mark finding_mark(enum finding_severity severity)
{
    static const struct mark marks[] = {
        [FINDING_ERROR] = { "✗", TERM_RED },
        [FINDING_WARNING] = { "⚠", TERM_YELLOW },
        [FINDING_NOTE] = { "·", TERM_DIM },
    };

    return marks[severity];
}

static void add_mark(const struct verdict_text *t, struct mark mark)
{
    buf_add(t->to, STR("  "));
    add_styled(t, mark.style, str_z(mark.glyph));
    buf_add_ch(t->to, ' ');
}

/* Appends scenario, method and subject; only a terminal cuts them to their column. */
static void add_name(const struct verdict_text *t, const struct call_verdict *v)
{
    size_t columns = name_columns(t), room = t->options.width ? columns : TEXT,
           from = t->to->len;
    struct buf name;

    buf_init(&name, v->scenario.len + 2 + v->method.len + 1 + v->subject.len);
    buf_add(&name, v->scenario);
    if (v->scenario.len)
        buf_add(&name, STR(": "));
    buf_add(&name, v->method);
    if (v->subject.len)
        buf_add_ch(&name, ' ');
    buf_add(&name, v->subject);
    term_escape_cut(t->to, buf_str(&name), room);
    pad(t->to, from, columns);
    buf_release(&name);
}

static void add_seq_and_duration(const struct verdict_text *t, const struct call_verdict *v)
{
    char text[CLOCK_TEXT_SIZE], seq[24] = "";

    if (v->seq)
        snprintf(seq, sizeof seq, "#%lu", (unsigned long)v->seq);
    buf_printf(t->to, " %*s", SEQ - 1, seq);
    if (v->duration_us >= 0)
        buf_printf(t->to, "%*.*s", DURATION,
                   STR_ARG(clock_format_duration(text, v->duration_us)));
}

/* Appends the note behind a row: its reason and what happened to it. */
static void add_row_note(struct buf *to, const struct call_verdict *v)
{
    verdict_report_write_reason(to, v);
    if (v->kind == VERDICT_VOLATILE && v->volatile_count)
        buf_printf(to, "%s%llu volatile", to->len ? "; " : "",
                   (unsigned long long)v->volatile_count);
    if (v->updated)
        buf_printf(to, "%supdated", to->len ? "; " : "");
}

static void trim_blanks(struct buf *to)
{
    while (to->len && to->at[to->len - 1] == ' ')
        to->len--;
}

/* Ends the row that starts at byte `from` with its note; on a terminal the note goes below the
 * row if it does not fit. */
static void add_row_end(const struct verdict_text *t, const struct call_verdict *v, size_t from)
{
    enum term_style style = v->updated                  ? TERM_GREEN
                            : v->kind == VERDICT_FAILED ? TERM_RED
                                                        : TERM_DIM;
    size_t used = text_wrap_columns(str_n(t->to->at + from, t->to->len - from));
    struct buf note;

    buf_init(&note, LINE);
    add_row_note(&note, v);
    if (!note.len) {
        trim_blanks(t->to);
        buf_add_ch(t->to, '\n');
    } else if (t->options.width &&
               MARK + used + 2 + text_wrap_columns(buf_str(&note)) > full_width(t)) {
        trim_blanks(t->to);
        buf_printf(t->to, "\n%*s", INDENT, "");
        add_wrapped(t, buf_str(&note), INDENT, INDENT, style);
    } else {
        buf_add(t->to, STR("  "));
        add_styled(t, style, buf_str(&note));
        buf_add_ch(t->to, '\n');
    }
    buf_release(&note);
}

static void add_value(const struct verdict_text *t, char sign, struct str value,
                      struct str other)
{
    size_t columns = full_width(t) - VALUE_INDENT - 2;

    if (!value.len)
        return;
    buf_printf(t->to, "%*s", VALUE_INDENT, "");
    term_style(t->to, t->options.color, sign == '-' ? TERM_RED : TERM_GREEN);
    buf_printf(t->to, "%c ", sign);
    value_excerpt_write(t->to, value, other, columns);
    term_style(t->to, t->options.color, TERM_PLAIN);
    buf_add_ch(t->to, '\n');
}

/* Appends path and message on one line: "$.result.x: MESSAGE". Errors have no mark: they are
 * why the row has one. */
static void add_path_and_message(const struct verdict_text *t, const struct finding *f)
{
    struct str message = verdict_report_needs_message(f) ? f->message : STR_NONE;
    const char *mark = f->severity == FINDING_ERROR ? NULL : finding_mark(f->severity).glyph;
    struct buf line;

    buf_init(&line, UTF8_MAX + 1 + f->path.len + 2 + message.len);
    if (mark)
        buf_printf(&line, "%s ", mark);
    buf_add(&line, f->path);
    if (f->path.len && message.len)
        buf_add(&line, STR(": "));
    buf_add(&line, message);
    add_paragraph(t, buf_str(&line), INDENT, TERM_PLAIN);
    buf_release(&line);
}

/* Explains the signs once, behind the first line above values that has room for it. */
static void add_legend(struct verdict_text *t, const struct finding *f)
{
    const struct str legend = STR("(- recorded, + live)");
    size_t start = t->to->len - 1;

    while (start && t->to->at[start - 1] != '\n')
        start--;
    if (t->legend_shown || (!f->recorded.len && !f->live.len) ||
        text_wrap_columns(str_skip(buf_str(t->to), start)) + 1 + legend.len > full_width(t))
        return;
    t->legend_shown = true;
    t->to->len--; /* the newline */
    buf_add(t->to, STR("  "));
    add_styled(t, TERM_DIM, legend);
    buf_add_ch(t->to, '\n');
}

static void add_finding_body(struct verdict_text *t, const struct finding *f)
{
    add_value(t, '-', f->recorded, f->live);
    add_value(t, '+', f->live, f->recorded);
    if (f->hint.len)
        add_paragraph(t, f->hint, INDENT, TERM_DIM);
}

static bool is_shown(const struct verdict_text *t, const struct finding *f)
{
    return t->options.verbose || f->severity != FINDING_NOTE ||
           str_eq(f->rule, STR("order-changed"));
}

static void add_findings(struct verdict_text *t, const struct call_verdict *v)
{
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < v->finding_count; i++) {
        const struct finding *f = &v->findings[i];

        if (!is_shown(t, f) || verdict_report_repeats_reason(v, f))
            continue;
        if (shown == VERDICT_TEXT_FINDINGS && !t->options.verbose) {
            more++;
            continue;
        }
        shown++;
        add_path_and_message(t, f);
        if (f->severity == FINDING_NOTE && !t->options.verbose)
            continue; /* the values are whole lists */
        add_legend(t, f);
        add_finding_body(t, f);
    }
    if (more)
        buf_printf(t->to, "%*sand %zu more; -v shows all\n", INDENT, "", more);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct verdict_text *t = (struct verdict_text *)self;
    size_t from;

    add_mark(t, verdict_mark(v));
    from = t->to->len;
    buf_printf(t->to, "%*lu  ", (int)t->number_columns, (unsigned long)v->number);
    add_name(t, v);
    add_seq_and_duration(t, v);
    add_row_end(t, v, from);
    add_findings(t, v);
    if (v->ignored_count && (v->kind == VERDICT_FAILED || t->options.verbose)) {
        buf_printf(t->to, "%*s", INDENT, "");
        term_style(t->to, t->options.color, TERM_DIM);
        buf_add(t->to, STR("ignored by rules: "));
        units_write_count(t->to, v->ignored_count, "difference", "differences");
        term_style(t->to, t->options.color, TERM_PLAIN);
        buf_add_ch(t->to, '\n');
    }
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_text *t = (struct verdict_text *)self;
    struct buf text;

    t->findings[f->severity]++;
    if (!is_shown(t, f))
        return;
    if (!t->below_calls)
        buf_add_ch(t->to, '\n');
    t->below_calls = true;
    add_mark(t, finding_mark(f->severity));
    buf_init(&text, LINE);
    term_escape_cut(&text, f->message.len ? f->message : f->path, TEXT);
    add_wrapped(t, buf_str(&text), MARK, MARK, TERM_PLAIN);
    buf_release(&text);
    if (f->message.len && f->path.len)
        add_paragraph(t, f->path, INDENT, TERM_PLAIN);
    add_legend(t, f);
    add_finding_body(t, f);
}

/* Appends one of the totals if it is not 0. */
static void add_total(const struct verdict_text *t, size_t from, uint64_t n, const char *one,
                      const char *many, enum term_style style)
{
    if (!n)
        return;
    if (t->to->len > from)
        buf_add(t->to, STR(" · "));
    term_style(t->to, t->options.color && style != TERM_PLAIN, style);
    units_write_count(t->to, n, one, many);
    term_style(t->to, t->options.color && style != TERM_PLAIN, TERM_PLAIN);
}

static void add_totals(const struct verdict_text *t, const struct call_verdict_totals *totals)
{
    const uint64_t *count = totals->count;
    char text[CLOCK_TEXT_SIZE];
    size_t from = t->to->len;

    add_total(t, from, verdict_report_passed(totals), "passed", "passed", TERM_GREEN);
    if (count[VERDICT_VOLATILE])
        buf_printf(t->to, " (%llu volatile)", (unsigned long long)count[VERDICT_VOLATILE]);
    add_total(t, from, count[VERDICT_FAILED], "failed", "failed", TERM_RED);
    if (totals->updated)
        buf_printf(t->to, " (%llu updated)", (unsigned long long)totals->updated);
    add_total(t, from, count[VERDICT_BLOCKED], "blocked", "blocked", TERM_YELLOW);
    add_total(t, from, count[VERDICT_SKIPPED], "skipped", "skipped", TERM_YELLOW);
    verdict_report_write_not_read_only(t->to, totals);
    if (t->to->len == from)
        buf_add(t->to, STR("no calls"));
    add_total(t, from, t->findings[FINDING_ERROR], "error", "errors", TERM_RED);
    add_total(t, from, t->findings[FINDING_WARNING], "warning", "warnings", TERM_YELLOW);
    if (totals->duration_us >= 0)
        buf_printf(t->to, " · %.*s", STR_ARG(clock_format_duration(text, totals->duration_us)));
    buf_add_ch(t->to, '\n');
}

static void add_steps(const struct verdict_text *t, const struct verdict_report_result *result)
{
    size_t widest = 0;

    for (size_t i = 0; i < result->step_count; i++)
        if (result->steps[i].label.len > widest)
            widest = result->steps[i].label.len;
    for (size_t i = 0; i < result->step_count; i++) {
        const struct verdict_report_step *s = &result->steps[i];

        buf_printf(t->to, "%.*s:%*s", STR_ARG(s->label), (int)(widest - s->label.len) + 1, "");
        term_escape(t->to, s->command, TERM_ONE_LINE);
        buf_add_ch(t->to, '\n');
    }
}

static void end_text(struct verdict_report *self, const struct verdict_report_result *result)
{
    struct verdict_text *t = (struct verdict_text *)self;

    buf_add_ch(t->to, '\n');
    add_totals(t, result->totals);
    add_steps(t, result);
}

void verdict_text_init(struct verdict_text *t, struct buf *to,
                       const struct verdict_text_options *options)
{
    *t = (struct verdict_text){ .report = { begin_text, add_verdict, add_finding, end_text,
                                            verdict_report_finish_nothing },
                                .to = to,
                                .number_columns = NUMBER,
                                .options = *options };
}
