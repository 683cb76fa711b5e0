#include "report/diff-text.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"
#include "report/value-excerpt.h"
#include "report/word-diff.h"

enum {
    NAME = 40,   /* columns of method and subject */
    WIDTH = 120, /* where there is no terminal */
    PATH_INDENT = 4,
    VALUE_INDENT = 6,
    TEXT = 2000, /* columns of a path or a name */
    US_PER_MS = 1000,
};

static size_t value_columns(const struct diff_text_options *o)
{
    size_t least = VALUE_INDENT + 2 + VALUE_EXCERPT_LEAST;
    size_t width = o->width ? o->width : WIDTH;

    return (width < least ? least : width) - VALUE_INDENT - 2;
}

static void add_styled(struct buf *to, const struct diff_text_options *o, enum term_style style,
                       struct str text)
{
    term_style(to, o->color, style);
    buf_add(to, text);
    term_style(to, o->color, TERM_PLAIN);
}

static void pad(struct buf *to, size_t from, size_t columns)
{
    for (size_t n = text_wrap_columns(str_n(to->at + from, to->len - from)); n < columns; n++)
        buf_add_ch(to, ' ');
}

struct sign {
    const char *sign;
    enum term_style style;
};

static struct sign mark_of(const struct call_diff_entry *entry)
{
    static const struct sign marks[CALL_DIFF_STATUSES] = {
        [CALL_DIFF_SAME] = { "=", TERM_DIM },
        [CALL_DIFF_CHANGED] = { "~", TERM_YELLOW },
        [CALL_DIFF_ADDED] = { "+", TERM_GREEN },
        [CALL_DIFF_REMOVED] = { "-", TERM_RED },
    };

    if (entry->status == CALL_DIFF_SAME && entry->moved)
        return (struct sign){ ">", TERM_CYAN };
    return marks[entry->status];
}

static void add_name(struct buf *to, const struct call_diff_entry *entry, size_t columns)
{
    struct buf name;

    buf_init(&name, entry->method.len + 1 + entry->subject.len);
    buf_add(&name, entry->method);
    if (entry->subject.len)
        buf_add_ch(&name, ' ');
    buf_add(&name, entry->subject);
    term_escape_cut(to, buf_str(&name), columns);
    buf_release(&name);
}

/* "#5 → #7", "#5" or "→ #7". */
static void add_places(struct buf *to, const struct call_diff_entry *entry)
{
    char seq[24] = "";

    if (entry->before.seq)
        snprintf(seq, sizeof seq, "#%lu", (unsigned long)entry->before.seq);
    buf_printf(to, " %6s", seq);
    if (entry->after.seq)
        buf_printf(to, " → #%lu", (unsigned long)entry->after.seq);
}

static void add_latency(struct buf *to, const struct call_diff_entry *entry)
{
    char text[CLOCK_TEXT_SIZE];

    buf_printf(to, "  %s: %.*s",
               entry->after.latency_ms > entry->before.latency_ms ? "slower" : "faster",
               STR_ARG(clock_format_duration(text, entry->before.latency_ms * US_PER_MS)));
    buf_printf(to, " → %.*s",
               STR_ARG(clock_format_duration(text, entry->after.latency_ms * US_PER_MS)));
}

static void add_value(struct buf *to, const struct diff_text_options *o, char sign,
                      struct str value, struct str other)
{
    if (!value.len)
        return;
    buf_printf(to, "%*s", VALUE_INDENT, "");
    term_style(to, o->color, sign == '-' ? TERM_RED : TERM_GREEN);
    buf_printf(to, "%c ", sign);
    value_excerpt_write(to, value, other, value_columns(o));
    term_style(to, o->color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

/* A rule that the values do not show needs its message. */
static bool needs_message(const struct finding *f)
{
    return !f->recorded.len && !f->live.len;
}

static void add_finding(struct buf *to, const struct finding *f,
                        const struct diff_text_options *o)
{
    size_t start;

    buf_printf(to, "%*s", PATH_INDENT, "");
    term_escape_cut(to, f->path.len ? f->path : f->message, TEXT);
    if (f->path.len && needs_message(f))
        buf_printf(to, ": %.*s", STR_ARG(f->message));
    buf_add_ch(to, '\n');
    start = to->len;
    buf_printf(to, "%*s", VALUE_INDENT, "");
    if (f->recorded.len && f->live.len && word_diff_write(to, f->recorded, f->live, o->color)) {
        buf_add_ch(to, '\n');
        return;
    }
    to->len = start;
    add_value(to, o, '-', f->recorded, f->live);
    add_value(to, o, '+', f->live, f->recorded);
}

static void add_findings(struct buf *to, const struct call_diff_entry *entry,
                         const struct diff_text_options *o)
{
    size_t shown = entry->finding_count;
    uint64_t more;

    if (!o->verbose && shown > DIFF_TEXT_FINDINGS)
        shown = DIFF_TEXT_FINDINGS;
    for (size_t i = 0; i < shown; i++)
        add_finding(to, &entry->findings[i], o);
    more = entry->finding_count - shown + entry->more;
    if (!more)
        return;
    buf_printf(to, "%*sand %llu more", PATH_INDENT, "", (unsigned long long)more);
    if (shown == entry->finding_count)
        buf_add(to, STR(", which are only counted"));
    else if (entry->more)
        buf_printf(to, "; -v shows the first %zu", entry->finding_count);
    else
        buf_add(to, STR("; -v shows all"));
    buf_add_ch(to, '\n');
}

void diff_text_write_entry(struct buf *to, const struct call_diff_entry *entry,
                           const struct diff_text_options *options)
{
    struct sign mark = mark_of(entry);
    size_t from;

    if (entry->status == CALL_DIFF_SAME && !entry->moved && !entry->latency_changed)
        return;
    add_styled(to, options, mark.style, str_z(mark.sign));
    buf_add_ch(to, ' ');
    from = to->len;
    add_name(to, entry, options->width ? NAME : TEXT);
    pad(to, from, NAME);
    add_places(to, entry);
    if (entry->moved)
        buf_add(to, STR("  moved"));
    if (entry->latency_changed)
        add_latency(to, entry);
    buf_add_ch(to, '\n');
    add_findings(to, entry, options);
}

static void add_breaking(struct buf *to, uint64_t n)
{
    if (n)
        buf_printf(to, ", %llu of them breaking", (unsigned long long)n);
}

static void add_total(struct buf *to, size_t from, uint64_t n, const char *word)
{
    if (!n)
        return;
    if (to->len > from)
        buf_add(to, STR(" · "));
    units_write_count(to, n, word, word);
}

void diff_text_write_totals(struct buf *to, const struct call_diff_totals *totals)
{
    size_t from = to->len;

    add_total(to, from, totals->count[CALL_DIFF_CHANGED], "changed");
    add_breaking(to, totals->breaking);
    add_total(to, from, totals->count[CALL_DIFF_ADDED], "added");
    add_total(to, from, totals->count[CALL_DIFF_REMOVED], "removed");
    add_total(to, from, totals->moved, "moved");
    add_total(to, from, totals->slower, "slower");
    add_total(to, from, totals->faster, "faster");
    add_total(to, from, totals->count[CALL_DIFF_SAME], "same");
    if (to->len == from)
        buf_add(to, STR("no calls"));
    buf_add_ch(to, '\n');
    if (totals->greedy)
        buf_add(to, STR("a stretch of more than 5000 calls was aligned approximately: calls "
                        "may be shown as moved, added or removed that are the same\n"));
}
