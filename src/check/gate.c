#include "check/gate.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "filter/filter-value.h"
#include "mcp/context-cost.h"

enum { MESSAGE_MAX = 8 * GATE_TEXT };

#define DAY_US (INT64_C(86400) * 1000 * 1000)

struct gate_pattern {
    struct str text;
    struct filter_value value;
};

static const struct str call_rule_ids[GATE_CALL_RULES] = {
    [GATE_FORBID_TOOL] = STR_INIT("forbid-tool"),
    [GATE_MAX_SERVER_TIME] = STR_INIT("max-server-time"),
    [GATE_MAX_RESULT_SIZE] = STR_INIT("max-result-size"),
};

/* The calls of one name that do not meet one condition. */
struct gate_row {
    struct str method, subject; /* empty in the shared row */
    uint64_t calls;
    int64_t worst;
    uint64_t seq, line; /* of the worst call; of a forbidden tool: of the first */
};

/* Patterns. */

static bool read_pattern(struct gate_pattern *p, const char *name, struct arena *a,
                         struct err *e)
{
    const struct filter_token token = { FILTER_TOKEN_WORD, str_z(name) };

    p->text = token.text;
    if (!token.text.len)
        return err_set(e, ERR_USAGE, "the name of a tool cannot be empty");
    if (token.text.len > OPERATION_TEXT_MAX)
        return err_set(e, ERR_USAGE, "the name of a tool has at most %d bytes",
                       OPERATION_TEXT_MAX);
    return filter_value_init(&p->value, filter_key_find(STR("tool")), FILTER_OP_IS, token, a,
                             e);
}

bool gate_patterns_read(struct gate_patterns *p, const struct str_list *names, struct err *e)
{
    struct arena unused = { 0 }; /* texts of words are borrowed */
    bool ok = true;

    *p = (struct gate_patterns){ .count = names->count };
    p->at = mem_alloc(names->count * sizeof *p->at);
    for (size_t i = 0; ok && i < names->count; i++)
        ok = read_pattern(&p->at[i], names->at[i], &unused, e);
    arena_release(&unused);
    return ok;
}

void gate_patterns_release(struct gate_patterns *p)
{
    for (size_t i = 0; i < p->count; i++)
        filter_value_release(&p->at[i].value);
    free(p->at);
    *p = (struct gate_patterns){ .count = 0 };
}

static bool is_wildcard(const struct gate_pattern *p)
{
    return str_find(p->text, '*') < p->text.len;
}

/* Calls. */

static uint64_t request_seq(const struct operation *op)
{
    return op->messages.kept ? operation_message_at(op, 0)->seq : 0;
}

static void add_violation(struct gate *g, enum gate_call_rule rule, const struct operation *op,
                          int64_t value)
{
    const struct str subject = op_stats_subject(op);
    const struct str name[] = { op->method, subject };
    struct capped_table *rows = &g->rows[rule];
    struct gate_row *row;
    bool is_new;

    row = capped_table_row(rows, name, 2, &is_new);
    if (is_new) {
        row->method = arena_truncated(&rows->arena, op->method, GATE_TEXT);
        row->subject = arena_truncated(&rows->arena, subject, GATE_TEXT);
    }
    if (!row->calls++ || (rule != GATE_FORBID_TOOL && value > row->worst)) {
        row->worst = value;
        row->seq = request_seq(op);
        row->line = op->line;
    }
}

static void check_tool(struct gate *g, const struct operation *op)
{
    const struct gate_conditions *c = g->conditions;
    bool forbidden = false;

    for (size_t i = 0; i < c->expected.count; i++)
        g->met[i] |= filter_value_matches_text(&c->expected.at[i].value, op->subject);
    for (size_t i = 0; i < c->forbidden.count; i++)
        forbidden |= filter_value_matches_text(&c->forbidden.at[i].value, op->subject);
    if (forbidden)
        add_violation(g, GATE_FORBID_TOOL, op, 0);
}

static void count_error(struct gate *g, const struct operation *op)
{
    if (!g->errors++)
        g->first_error = (struct finding){
            .seq = request_seq(op),
            .line = op->line,
            .subject = arena_truncated(&g->texts, op_stats_subject(op), GATE_TEXT),
            .message = arena_truncated(&g->texts, op->method, GATE_TEXT),
        };
    g->outcomes[op->outcome]++;
}

static void check_limits(struct gate *g, const struct operation *op)
{
    const struct gate_conditions *c = g->conditions;
    bool answered = op_stats_is_answered(op), timed = op->total_us >= 0;

    g->untimed += answered && !timed;
    if (c->server_us.given && answered && timed && op->server_us > c->server_us.most)
        add_violation(g, GATE_MAX_SERVER_TIME, op, op->server_us);
    if (c->result_bytes.given && op_stats_subject(op).len &&
        op->result_bytes > (uint64_t)c->result_bytes.most)
        add_violation(g, GATE_MAX_RESULT_SIZE, op, (int64_t)op->result_bytes);
}

static void note_list(struct gate *g, const struct operation_event *ev)
{
    if (!ev->message || ev->message->role != ROLE_RESPONSE || g->list_seq ||
        !str_eq(ev->op->method, STR("tools/list")))
        return;
    g->list_seq = ev->message->seq;
    g->list_line = ev->record->message.line;
}

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct gate *g = (struct gate *)self;
    const struct operation *op = ev->op;

    (void)e;
    note_list(g, ev);
    if (ev->message || op->dir != TO_SERVER || !op_stats_is_call(op))
        return true;
    if (str_eq(op->method, STR("tools/call")))
        check_tool(g, op);
    if (op_stats_is_error(op))
        count_error(g, op);
    check_limits(g, op);
    return true;
}

void gate_init(struct gate *g, const struct gate_conditions *conditions)
{
    *g = (struct gate){ .events = { put_event }, .conditions = conditions };
    for (size_t i = 0; i < GATE_CALL_RULES; i++)
        capped_table_init(&g->rows[i], sizeof(struct gate_row), GATE_ROWS);
    g->met = mem_alloc(conditions->expected.count * sizeof *g->met);
}

void gate_release(struct gate *g)
{
    for (size_t i = 0; i < GATE_CALL_RULES; i++)
        capped_table_release(&g->rows[i]);
    arena_release(&g->texts);
    free(g->met);
}

/* Findings. */

struct findings_to {
    struct finding_list *list;
    struct buf text; /* of the next message */
};

/* Adds `f` with the composed text as its message. */
static void add_finding(struct findings_to *to, struct finding f)
{
    f.severity = FINDING_ERROR;
    f.message = buf_str(&to->text);
    f.count = f.count ? f.count : 1;
    finding_list_add(to->list, &f);
    buf_clear(&to->text);
}

static void add_duration(struct buf *to, int64_t us)
{
    char text[CLOCK_TEXT_SIZE];

    if (us >= 2 * DAY_US)
        units_write_count(to, (uint64_t)(us / DAY_US), "day", "days");
    else
        buf_add(to, clock_format_duration(text, us));
}

static void add_size(struct buf *to, uint64_t bytes)
{
    units_write_bytes(to, bytes);
    buf_printf(to, ", about %llu tokens", (unsigned long long)mcp_context_tokens(bytes));
}

static void add_seq(struct buf *to, uint64_t seq)
{
    if (seq)
        buf_printf(to, " (seq %llu)", (unsigned long long)seq);
}

/* "tools/call search" */
static void add_name(struct buf *to, struct str method, struct str subject)
{
    buf_add(to, method.len ? method : STR("other names"));
    buf_add(to, subject.len ? STR(" ") : STR_NONE);
    buf_add(to, subject);
}

static bool is_listed(const struct stats *s, struct str tool)
{
    for (size_t i = 0; i < s->tools.count; i++) {
        const struct stats_tool *row = s->tools.rows[i];

        if (row->advertised && str_eq(row->name, tool))
            return true;
    }
    return s->tools.overflow != NULL;
}

static void add_expected(const struct gate *g, const struct stats *s, struct findings_to *to)
{
    for (size_t i = 0; i < g->conditions->expected.count; i++) {
        const struct gate_pattern *p = &g->conditions->expected.at[i];
        bool wild = is_wildcard(p);

        if (g->met[i])
            continue;
        buf_printf(&to->text, wild ? "no tool '%.*s' was called" : "tool '%.*s' was not called",
                   STR_ARG(p->text));
        if (!wild && s->tools_listed && !is_listed(s, p->text))
            buf_add(&to->text, STR(", and is in no tools/list"));
        add_finding(to, (struct finding){ .rule = STR("expect-tool"), .subject = p->text });
    }
}

static void write_forbidden(const struct gate_row *row, struct buf *to)
{
    if (row->subject.len)
        buf_printf(to, "tool '%.*s' was called ", STR_ARG(row->subject));
    else
        buf_add(to, STR("other forbidden tools were called "));
    units_write_count(to, row->calls, "time", "times");
}

static void write_slow(const struct gate *g, const struct gate_row *row, struct buf *to)
{
    add_name(to, row->method, row->subject);
    buf_add(to, STR(": "));
    units_write_count(to, row->calls, "call", "calls");
    buf_add(to, STR(" took the server longer than "));
    add_duration(to, g->conditions->server_us.most);
    buf_add(to, row->calls > 1 ? STR("; the longest: ") : STR(": "));
    add_duration(to, row->worst);
}

static void write_large(const struct gate *g, const struct gate_row *row, struct buf *to)
{
    add_name(to, row->method, row->subject);
    buf_add(to, STR(": "));
    units_write_count(to, row->calls, "result is", "results are");
    buf_add(to, STR(" larger than "));
    units_write_bytes(to, (uint64_t)g->conditions->result_bytes.most);
    buf_add(to, row->calls > 1 ? STR("; the largest: ") : STR(": "));
    add_size(to, (uint64_t)row->worst);
}

static void add_row(const struct gate *g, enum gate_call_rule rule, const struct gate_row *row,
                    struct findings_to *to)
{
    if (rule == GATE_FORBID_TOOL)
        write_forbidden(row, &to->text);
    else if (rule == GATE_MAX_SERVER_TIME)
        write_slow(g, row, &to->text);
    else
        write_large(g, row, &to->text);
    add_seq(&to->text, row->seq);
    add_finding(to, (struct finding){ .rule = call_rule_ids[rule],
                                      .subject = row->subject,
                                      .count = row->calls,
                                      .seq = row->seq,
                                      .line = row->line });
}

static void add_rows(const struct gate *g, enum gate_call_rule rule, struct findings_to *to)
{
    const struct capped_table *rows = &g->rows[rule];

    for (size_t i = 0; i < rows->count; i++)
        add_row(g, rule, rows->rows[i], to);
    if (rows->overflow)
        add_row(g, rule, rows->overflow, to);
}

static void add_errors(const struct gate *g, struct findings_to *to)
{
    const struct gate_limit *limit = &g->conditions->errors;
    const struct finding *first = &g->first_error;
    const char *before = " (";

    if (!limit->given || g->errors <= (uint64_t)limit->most)
        return;
    units_write_count(&to->text, g->errors, "error", "errors");
    for (enum operation_outcome o = 0; o < OUTCOME_COUNT; o++)
        if (g->outcomes[o]) {
            buf_printf(&to->text, "%s%llu %s", before, (unsigned long long)g->outcomes[o],
                       operation_outcome_name(o));
            before = ", ";
        }
    buf_printf(&to->text, "), allowed: %lld; the first: ", (long long)limit->most);
    add_name(&to->text, first->message, first->subject);
    add_seq(&to->text, first->seq);
    add_finding(to, (struct finding){ .rule = STR("max-errors"),
                                      .count = g->errors,
                                      .seq = first->seq,
                                      .line = first->line });
}

/* A limit that no call was compared with would always be met. */
static void add_untimed(const struct gate *g, struct findings_to *to)
{
    if (!g->conditions->server_us.given || !g->untimed)
        return;
    units_write_count(&to->text, g->untimed, "call", "calls");
    buf_add(&to->text, STR(" cannot be judged: the recording has no times"));
    add_finding(to, (struct finding){ .rule = STR("max-server-time"), .count = g->untimed });
}

static const struct stats_tool *largest_tool(const struct stats *s)
{
    const struct stats_tool *largest = NULL;

    for (size_t i = 0; i < s->tools.count; i++) {
        const struct stats_tool *tool = s->tools.rows[i];

        if (!largest || tool->definition_bytes > largest->definition_bytes)
            largest = tool;
    }
    return largest;
}

static void add_surface(const struct gate *g, const struct stats *s, struct findings_to *to)
{
    const struct gate_limit *limit = &g->conditions->surface_bytes;
    const struct stats_tool *largest = largest_tool(s);
    uint64_t bytes = stats_definition_bytes(s);

    if (!limit->given || (s->tools_listed && bytes <= (uint64_t)limit->most))
        return;
    if (s->tools_listed) {
        buf_add(&to->text, STR("the definitions of the tools have "));
        add_size(&to->text, bytes);
        buf_add(&to->text, STR("; allowed: "));
        units_write_bytes(&to->text, (uint64_t)limit->most);
        buf_printf(&to->text, "; the largest: '%.*s' with ", STR_ARG(largest->name));
        units_write_bytes(&to->text, largest->definition_bytes);
    } else {
        buf_add(&to->text, STR("the definitions of the tools cannot be judged: the recording "
                               "has no tools/list"));
    }
    add_finding(to, (struct finding){ .rule = STR("max-surface-bytes"),
                                      .seq = g->list_seq,
                                      .line = g->list_line });
}

static void add_age(const struct gate *g, const struct stats *s, int64_t now_us,
                    struct findings_to *to)
{
    const struct gate_limit *limit = &g->conditions->age_us;
    int64_t age_us = clock_since(now_us, s->header.recorded_us);
    char date[CLOCK_TEXT_SIZE];

    if (!limit->given || (s->header.has_date && age_us <= limit->most))
        return;
    if (s->header.has_date) {
        buf_add(&to->text, STR("recorded at "));
        buf_add(&to->text, clock_format(date, s->header.recorded_us));
        buf_add(&to->text, STR(", "));
        add_duration(&to->text, age_us);
        buf_add(&to->text, STR(" ago; allowed: "));
        add_duration(&to->text, limit->most);
    } else {
        buf_add(&to->text, STR("the age cannot be judged: the recording has no date"));
    }
    add_finding(to, (struct finding){ .rule = STR("max-age") });
}

void gate_finish(struct gate *g, const struct stats *s, int64_t now_us, struct finding_list *l)
{
    struct findings_to to = { .list = l };

    buf_init(&to.text, MESSAGE_MAX);
    add_expected(g, s, &to);
    add_rows(g, GATE_FORBID_TOOL, &to);
    add_errors(g, &to);
    add_rows(g, GATE_MAX_SERVER_TIME, &to);
    add_untimed(g, &to);
    add_rows(g, GATE_MAX_RESULT_SIZE, &to);
    add_surface(g, s, &to);
    add_age(g, s, now_us, &to);
    buf_release(&to.text);
}
