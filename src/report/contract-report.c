#include "report/contract-report.h"

size_t contract_report_count(const struct contract_report *r,
                             uint64_t counts[CONTRACT_SEVERITIES])
{
    size_t allowed = 0;

    memset(counts, 0, CONTRACT_SEVERITIES * sizeof *counts);
    for (size_t i = 0; i < r->changes->count; i++) {
        const struct contract_change *c = &r->changes->at[i];

        if (c->allowed)
            allowed++;
        else
            counts[c->severity]++;
    }
    return allowed;
}

static void add_count(struct buf *to, size_t start, uint64_t n, struct str word)
{
    if (n)
        buf_printf(to, "%s%llu %.*s", to->len > start ? ", " : "", (unsigned long long)n,
                   STR_ARG(word));
}

void contract_report_write_counts(struct buf *to, const struct contract_report *r)
{
    uint64_t counts[CONTRACT_SEVERITIES];
    size_t allowed = contract_report_count(r, counts), start = to->len;

    for (enum contract_severity s = 0; s <= CONTRACT_COSMETIC; s++)
        add_count(to, start, counts[s], contract_rules_severity(s));
    add_count(to, start, allowed, STR("allowed"));
    if (to->len == start)
        buf_add(to, STR("no changes"));
}

static void add_rejected(struct buf *to, size_t start, uint64_t n, const char *thing)
{
    if (n)
        buf_printf(to, "%s%llu recorded %s%s", to->len > start ? " and " : "",
                   (unsigned long long)n, thing, n == 1 ? "" : "s");
}

bool contract_report_write_rejected(struct buf *to, const struct contract_traffic *t)
{
    uint64_t n = t->unattributed + t->unattributed_results;
    size_t start = to->len;

    add_rejected(to, start, t->unattributed, "call");
    add_rejected(to, start, t->unattributed_results, "result");
    if (n)
        buf_printf(to, " %s rejected by a new schema, by none of the changes that were found",
                   n == 1 ? "is" : "are");
    return n != 0;
}

struct str contract_report_list(enum surface_kind kind)
{
    static const struct str words[] = { [SURFACE_TOOL] = STR_INIT("tools"),
                                        [SURFACE_RESOURCE] = STR_INIT("resources"),
                                        [SURFACE_TEMPLATE] = STR_INIT("resource-templates"),
                                        [SURFACE_PROMPT] = STR_INIT("prompts"),
                                        [SURFACE_SERVER] = STR_INIT("server") };

    return words[kind];
}

struct str contract_report_profile(enum contract_profile profile)
{
    static const struct str words[] = { [CONTRACT_PROFILE_WIRE] = STR_INIT("wire"),
                                        [CONTRACT_PROFILE_CONTRACT] = STR_INIT("contract"),
                                        [CONTRACT_PROFILE_SURFACE] = STR_INIT("surface") };

    return words[profile];
}

struct str contract_report_fail_on(enum contract_fail_on fail_on)
{
    if (fail_on == FAIL_ON_BREAKING_USED)
        return STR("breaking-used");
    if (fail_on == FAIL_ON_NEVER)
        return STR("never");
    return contract_rules_severity((enum contract_severity)fail_on);
}

static void give_change(const struct contract_report *r, const struct contract_change *c,
                        struct verdict_report *to, struct call_verdict_totals *totals)
{
    struct arena a = { 0 };
    struct finding f = c->finding;
    struct str word = c->allowed ? STR("allowed") : contract_rules_severity(c->severity);

    if (r->breaking_is_error && !c->allowed && c->severity == CONTRACT_BREAKING)
        f.severity = FINDING_ERROR;
    f.message = arena_printf(&a, "%.*s: %.*s", STR_ARG(word), STR_ARG(f.message));
    totals->findings[f.severity]++;
    to->finding(to, &f);
    arena_release(&a);
}

/* Rejected calls that no finding names. */
static void give_rejected(const struct contract_report *r, struct call_verdict_totals *totals,
                          struct verdict_report *to)
{
    bool fails = contract_traffic_fails(r->traffic, r->fail_on);
    struct finding f = { .rule = STR("traffic.rejected"),
                         .severity = fails ? FINDING_ERROR : FINDING_WARNING,
                         .file = r->changes->file,
                         .line = 1 };
    struct buf text;

    buf_init(&text, 256);
    if (contract_report_write_rejected(&text, r->traffic)) {
        f.message = buf_str(&text);
        totals->findings[f.severity]++;
        to->finding(to, &f);
    }
    buf_release(&text);
}

void contract_report_give_changes(const struct contract_report *r,
                                  struct call_verdict_totals *totals, struct verdict_report *to)
{
    for (size_t i = 0; i < r->changes->count; i++)
        give_change(r, &r->changes->at[i], to, totals);
    if (r->traffic)
        give_rejected(r, totals, to);
}

void contract_report_give(const struct contract_report *r, const struct verdict_report_run *run,
                          const struct verdict_report_step *steps, size_t step_count,
                          struct verdict_report *to)
{
    struct call_verdict_totals totals = { .duration_us = -1 };
    const struct verdict_report_result result = {
        .totals = &totals, .exit_code = r->exit_code, .steps = steps, .step_count = step_count
    };

    to->begin(to, run);
    contract_report_give_changes(r, &totals, to);
    to->end(to, &result);
}
