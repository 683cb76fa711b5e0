#include "report/finding-text.h"

#include "base/term.h"
#include "report/value-excerpt.h"
#include "report/verdict-report.h"

static void write_label(struct buf *to, const struct finding *f, size_t columns)
{
    bool message = verdict_report_needs_message(f);

    term_escape_cut(to, f->path, columns);
    if (f->path.len && message)
        buf_add(to, STR(": "));
    if (message)
        term_escape_cut(to, f->message, columns);
}

void finding_text_write_line(struct buf *to, const struct finding *f, size_t columns)
{
    write_label(to, f, columns);
    if (!f->recorded.len || !f->live.len)
        return;
    buf_add(to, STR(": "));
    value_excerpt_write(to, f->recorded, f->live, columns);
    buf_add(to, STR(" → "));
    value_excerpt_write(to, f->live, f->recorded, columns);
}

static void write_value(struct buf *to, const char *sign, struct str value, struct str other,
                        size_t columns)
{
    if (!value.len)
        return;
    buf_add(to, str_z(sign));
    value_excerpt_write(to, value, other, columns);
    buf_add_ch(to, '\n');
}

static void write_body(struct buf *to, const struct finding *f, size_t columns)
{
    write_value(to, "  - ", f->recorded, f->live, columns);
    write_value(to, "  + ", f->live, f->recorded, columns);
    if (!f->hint.len)
        return;
    buf_add(to, STR("  "));
    term_escape_cut(to, f->hint, columns);
    buf_add_ch(to, '\n');
}

void finding_text_write(struct buf *to, const struct finding *f, size_t columns)
{
    term_escape_cut(to, f->message, columns);
    if (f->message.len && f->path.len)
        buf_add_ch(to, '\n');
    term_escape_cut(to, f->path, columns);
    buf_add_ch(to, '\n');
    write_body(to, f, columns);
}

static void write_in_call(struct buf *to, const struct finding *f, size_t columns)
{
    write_label(to, f, columns);
    buf_add_ch(to, '\n');
    write_body(to, f, columns);
}

void finding_text_write_call(struct buf *to, const struct call_verdict *v,
                             enum finding_severity severity, size_t max, size_t columns)
{
    size_t count = 0;

    for (size_t i = 0; i < v->finding_count; i++)
        if (v->findings[i].severity == severity &&
            !verdict_report_repeats_reason(v, &v->findings[i]) && count++ < max)
            write_in_call(to, &v->findings[i], columns);
    if (count > max)
        buf_printf(to, "and %zu more\n", count - max);
}

const struct finding *finding_text_first(const struct call_verdict *v,
                                         enum finding_severity severity)
{
    for (size_t i = 0; i < v->finding_count; i++)
        if (v->findings[i].severity == severity)
            return &v->findings[i];
    return NULL;
}
