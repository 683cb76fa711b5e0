#include "report/contract-text.h"

#include "base/term.h"
#include "report/value-excerpt.h"

enum {
    INDENT = 12, /* columns of a severity */
    WIDTH = 120, /* where there is no terminal */
    NAME = 200,  /* columns of a file, command line or URL */
    TEXT = 1000, /* columns of a message or path */
    CHANGES = 20 /* of a rule that are shown */
};

static enum term_style style_of(const struct contract_change *c)
{
    if (c->allowed)
        return TERM_DIM;
    switch (c->severity) {
    case CONTRACT_BREAKING:
    case CONTRACT_SECURITY:
        return TERM_RED;
    case CONTRACT_RISKY:
        return TERM_YELLOW;
    case CONTRACT_ROUTING:
        return TERM_CYAN;
    case CONTRACT_SAFE:
        return TERM_GREEN;
    default:
        return TERM_DIM;
    }
}

static void add_indent(struct buf *to, size_t columns)
{
    while (columns--)
        buf_add_ch(to, ' ');
}

static void add_styled(struct buf *to, bool color, enum term_style style, struct str text)
{
    term_style(to, color, style);
    buf_add(to, text);
    term_style(to, color, TERM_PLAIN);
}

static void add_value(struct buf *to, const struct contract_text_options *o, bool after,
                      struct str value, struct str other)
{
    size_t width = o->width > INDENT + 2 + VALUE_EXCERPT_LEAST ? o->width : WIDTH;

    if (!value.len)
        return;
    add_indent(to, INDENT);
    term_style(to, o->color, after ? TERM_GREEN : TERM_RED);
    buf_add(to, after ? STR("+ ") : STR("- "));
    value_excerpt_write(to, value, other, width - INDENT - 2);
    term_style(to, o->color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

static void add_place(struct buf *to, const struct contract_change *c)
{
    add_indent(to, INDENT);
    if (!str_eq(c->finding.path, STR("$"))) {
        term_escape_cut(to, c->finding.path, TEXT);
        buf_add(to, STR("  "));
    }
    buf_printf(to, "(%.*s)\n", STR_ARG(c->rule->id));
}

static void add_change(struct buf *to, const struct contract_text_options *o,
                       const struct contract_change *c)
{
    struct str word = c->allowed ? STR("allowed") : contract_rules_severity(c->severity);
    bool is_whole = c->rule->action != CONTRACT_CHANGED && str_eq(c->finding.path, STR("$")) &&
                    !str_starts(c->rule->id, STR("text."));

    add_indent(to, 2);
    add_styled(to, o->color, style_of(c), word);
    add_indent(to, INDENT - 2 - word.len);
    term_escape_cut(to, c->finding.message, TEXT);
    buf_add_ch(to, '\n');
    add_place(to, c);
    if (!is_whole) { /* a whole definition would not fit */
        add_value(to, o, false, c->finding.recorded, c->finding.live);
        add_value(to, o, true, c->finding.live, c->finding.recorded);
    }
    if (c->allowed) {
        add_indent(to, INDENT);
        buf_printf(to, "until %.*s: ", STR_ARG(c->allowed->until));
        term_escape_cut(to, c->allowed->reason, TEXT);
        buf_add_ch(to, '\n');
    }
}

/* Appends the first changes of each rule, and how many are left out. */
static void add_changes(struct buf *to, const struct contract_text_options *o,
                        const struct contract_changes *c)
{
    size_t counts[RULE_COUNT] = { 0 };

    for (size_t i = 0; i < c->count; i++)
        if (counts[c->at[i].rule - contract_rule(0)]++ < CHANGES)
            add_change(to, o, &c->at[i]);
    for (size_t n = 0; n < RULE_COUNT; n++)
        if (counts[n] > CHANGES)
            buf_printf(to, "  and %zu more of %s; --json has all of them\n",
                       counts[n] - CHANGES, contract_rule((enum contract_rule_number)n)->id.at);
}

static void add_gap(struct buf *to, const struct contract_report *r, enum surface_kind kind)
{
    enum contract_gap gap = contract_gap(r->before, r->after, kind);
    struct str list = contract_report_list(kind);

    if (gap == CONTRACT_GAP_NONE)
        return;
    if (gap == CONTRACT_GAP_PAGES) {
        buf_printf(to,
                   "%.*s: a side has not all pages of the list; what is missing in it is "
                   "not reported as removed\n",
                   STR_ARG(list));
        return;
    }
    buf_printf(to, "%.*s: not compared, ", STR_ARG(list));
    term_escape_cut(to, gap == CONTRACT_GAP_BEFORE ? r->before_name : r->after_name, NAME);
    buf_add(to, kind == SURFACE_SERVER ? STR(" does not describe the server\n")
                                       : STR(" does not have the list\n"));
}

static void add_traffic(struct buf *to, const struct contract_report *r)
{
    const struct contract_traffic *t = r->traffic;
    uint64_t counts[CONTRACT_SEVERITIES], affected;

    if (!t)
        return;
    contract_report_count(r, counts);
    affected = t->affected - t->unattributed;
    if (affected || counts[CONTRACT_BREAKING])
        buf_printf(to, "%llu of %llu recorded calls %s affected by breaking changes\n",
                   (unsigned long long)affected, (unsigned long long)t->calls,
                   affected == 1 ? "is" : "are");
    else
        buf_printf(to, "%llu recorded call%s, no breaking change\n",
                   (unsigned long long)t->calls, t->calls == 1 ? "" : "s");
    if (contract_report_write_rejected(to, t))
        buf_add_ch(to, '\n');
}

void contract_text_write_changes(struct buf *to, const struct contract_report *r,
                                 const struct contract_text_options *options)
{
    add_changes(to, options, r->changes);
    for (enum surface_kind k = 0; k <= SURFACE_SERVER; k++)
        add_gap(to, r, k);
    add_traffic(to, r);
}

void contract_text_write(struct buf *to, const struct contract_report *r,
                         const struct contract_text_options *options)
{
    term_escape_cut(to, r->before_name, NAME);
    buf_add(to, STR(" → "));
    term_escape_cut(to, r->after_name, NAME);
    buf_add(to, STR(": "));
    contract_report_write_counts(to, r);
    buf_add_ch(to, '\n');
    contract_text_write_changes(to, r, options);
}
