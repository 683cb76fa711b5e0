#include "report/scenario-lines.h"

#include "base/term.h"
#include "report/value-excerpt.h"
#include "report/verdict-report.h"

enum { NAMES_MAX = 1 << 16, TEXT = 500, VALUE = 120 }; /* the last two: columns */

void scenario_lines_init(struct scenario_lines *l, struct buf *to)
{
    *l = (struct scenario_lines){ .to = to };
    buf_init(&l->failed, NAMES_MAX);
    buf_init(&l->reason, NAMES_MAX);
}

void scenario_lines_release(struct scenario_lines *l)
{
    buf_release(&l->failed);
    buf_release(&l->reason);
}

void scenario_lines_begin(struct scenario_lines *l, const struct scenario_lines_run *run)
{
    buf_printf(l->to, "Target: %s", run->is_command ? "stdio: " : "");
    term_escape(l->to, run->target, TERM_ONE_LINE);
    buf_printf(l->to, "\nScenarios: %llu\nOutput: ", (unsigned long long)run->count);
    term_escape(l->to, run->folder, TERM_ONE_LINE);
    buf_add(l->to, STR("/\n\n"));
}

void scenario_lines_recorded(struct scenario_lines *l, struct str name, struct str file,
                             uint64_t interactions)
{
    l->done++;
    l->interactions += interactions;
    buf_add(l->to, STR("  "));
    term_escape(l->to, name, TERM_ONE_LINE);
    buf_add(l->to, STR(" -> "));
    term_escape(l->to, file, TERM_ONE_LINE);
    buf_printf(l->to, " (%llu interactions)\n", (unsigned long long)interactions);
}

static void write_finding(struct buf *to, const struct finding *f)
{
    buf_add(to, STR("      "));
    if (f->path.len && f->recorded.len && f->live.len) {
        term_escape_cut(to, f->path, TEXT);
        buf_add(to, STR(": expected "));
        value_excerpt_write(to, f->recorded, f->live, VALUE);
        buf_add(to, STR(", got "));
        value_excerpt_write(to, f->live, f->recorded, VALUE);
    } else {
        term_escape_cut(to, f->message, TEXT);
        if (f->live.len) {
            buf_add(to, STR(": "));
            value_excerpt_write(to, f->live, STR_NONE, VALUE);
        }
    }
    buf_add_ch(to, '\n');
}

/* Appends the name of a scenario and what has become of it. */
static void add_outcome(struct scenario_lines *l, struct str name, const char *outcome)
{
    buf_add(l->to, STR("  "));
    term_escape(l->to, name, TERM_ONE_LINE);
    buf_printf(l->to, " -> %s: ", outcome);
}

static void add_failed(struct scenario_lines *l, struct str name)
{
    buf_printf(&l->failed, "%s%.*s", l->failed_count++ ? ", " : "", STR_ARG(name));
    l->latest_failed = name;
    add_outcome(l, name, "FAILED");
}

void scenario_lines_failed(struct scenario_lines *l, struct str name, struct str file,
                           const struct call_verdict *v)
{
    struct call_verdict unnamed = *v;
    size_t start;

    unnamed.scenario = STR_NONE;
    buf_clear(&l->reason);
    buf_add(&l->reason, v->reason);
    add_failed(l, name);
    verdict_report_write_name(l->to, &unnamed);
    buf_add(l->to, STR(" ("));
    term_escape(l->to, file, TERM_ONE_LINE);
    buf_printf(l->to, ":%llu)\n", (unsigned long long)v->line);
    start = l->to->len;
    buf_add(l->to, STR("      "));
    verdict_report_write_reason(l->to, v);
    if (l->to->len == start + 6)
        l->to->len = start;
    else
        buf_add_ch(l->to, '\n');
    for (size_t i = 0; i < v->finding_count; i++)
        write_finding(l->to, &v->findings[i]);
}

void scenario_lines_add_reason(struct scenario_lines *l, struct str why)
{
    if (l->reason.len && str_ends(why, buf_str(&l->reason)))
        return;
    buf_add(l->to, STR("      "));
    term_escape_cut(l->to, why, TEXT);
    buf_add_ch(l->to, '\n');
}

void scenario_lines_not_written(struct scenario_lines *l, struct str name, struct str why)
{
    if (str_eq(l->latest_failed, name))
        buf_add(l->to, STR("      "));
    else
        add_failed(l, name);
    term_escape_cut(l->to, why, TEXT);
    buf_add_ch(l->to, '\n');
}

void scenario_lines_skipped(struct scenario_lines *l, struct str name, struct str why)
{
    l->skipped_count++;
    add_outcome(l, name, "not run");
    term_escape_cut(l->to, why, TEXT);
    buf_add_ch(l->to, '\n');
}

void scenario_lines_end(struct scenario_lines *l)
{
    buf_printf(l->to, "\nDone: %llu scenario(s), %llu total interactions.",
               (unsigned long long)l->done, (unsigned long long)l->interactions);
    if (l->failed_count) {
        buf_printf(l->to, " %llu failed: ", (unsigned long long)l->failed_count);
        term_escape_cut(l->to, buf_str(&l->failed), TEXT);
    }
    if (l->skipped_count)
        buf_printf(l->to, "%s %llu not run", l->failed_count ? ";" : "",
                   (unsigned long long)l->skipped_count);
    buf_add_ch(l->to, '\n');
}
