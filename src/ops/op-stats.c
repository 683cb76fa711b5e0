#include "ops/op-stats.h"

#include <stdlib.h>

#include "mcp/method.h"

void op_stats_init(struct op_stats *c)
{
    *c = (struct op_stats){ 0 };
    capped_table_init(&c->rows, sizeof(struct op_stats_row), OP_STATS_ROWS);
}

void op_stats_release(struct op_stats *c)
{
    capped_table_release(&c->rows);
}

/* A redelivered request does not count. */
static bool is_request(const struct operation *op)
{
    return op->kind == OPERATION_REQUEST && op->roles[ROLE_REQUEST];
}

static bool is_continuation(const struct operation *op)
{
    return (op->link == LINK_RETRY || op->link == LINK_TASK || op->link == LINK_PAGE) &&
           !(op->flags & OP_AFTER_END);
}

bool op_stats_is_call(const struct operation *op)
{
    return is_request(op) && !is_continuation(op);
}

static bool is_about_task(const struct mcp_method *known)
{
    return known && str_eq(known->subject, STR("taskId"));
}

static struct op_stats_row *row_of(struct op_stats *c, const struct operation *op,
                                   const struct mcp_method *known)
{
    const char dir = (char)op->dir;
    const struct str subject = known && !is_about_task(known) ? op->subject : STR_NONE;
    const struct str name[] = { str_n(&dir, 1), op->method, subject };
    struct op_stats_row *row;
    bool is_new;

    row = capped_table_row(&c->rows, name, 3, &is_new);
    if (is_new) {
        row->first = op->number;
        row->dir = op->dir;
        row->method = arena_truncated(&c->rows.arena, op->method, OP_STATS_TEXT);
        row->subject = arena_truncated(&c->rows.arena, subject, OP_STATS_TEXT);
    }
    if (op->number < row->first)
        row->first = op->number;
    return row;
}

/* Until now no call waited for the client. */
static void split_times(struct op_stats *c, struct op_stats_times *t)
{
    t->server = arena_new(&c->rows.arena, struct histogram);
    t->wait = arena_new(&c->rows.arena, struct histogram);
    *t->server = *t->total;
    for (uint64_t i = 0; i < t->total->count; i++)
        histogram_add(t->wait, 0);
}

/* Server requests are not split: all of their time is waiting for the client. */
static void add_times(struct op_stats *c, struct op_stats_times *t, const struct operation *op)
{
    if (op->total_us < 0)
        return;
    if (!t->total)
        t->total = arena_new(&c->rows.arena, struct histogram);
    if (!t->server && op->dir == TO_SERVER && op->wait_us > 0)
        split_times(c, t);
    histogram_add(t->total, (uint64_t)op->total_us);
    if (t->server) {
        histogram_add(t->server, (uint64_t)op->server_us);
        histogram_add(t->wait, (uint64_t)op->wait_us);
    }
}

static bool was_answered(enum operation_outcome outcome)
{
    return outcome == OUTCOME_OK || outcome == OUTCOME_RPC_ERROR ||
           outcome == OUTCOME_TOOL_ERROR || outcome == OUTCOME_LATE;
}

static void add_call(struct op_stats *c, struct op_stats_row *row, const struct operation *op,
                     const struct mcp_method *known)
{
    bool cancelled = op->flags & OP_CANCELLED;

    row->calls++;
    row->retries += op->children[LINK_RETRY];
    row->polls += op->children[LINK_TASK];
    row->pages += op->children[LINK_PAGE];
    row->input_required += (op->flags & OP_INPUT_REQUIRED) != 0;
    row->tasks += op->flags & OP_TASK && !is_about_task(known);
    row->outcomes[op->outcome]++;
    row->cancelled += cancelled;
    c->cancelled += cancelled;
    if (was_answered(op->outcome))
        add_times(c, &row->times, op);
}

/* An evicted request may have been answered later. */
static bool is_unanswered(const struct operation *op, const struct mcp_method *known)
{
    return (op->outcome == OUTCOME_PENDING || op->outcome == OUTCOME_SERVER_EXITED) &&
           op->response == RESPONSE_NONE && !(op->flags & OP_EVICTED) &&
           !(known && known->class == MCP_CLASS_LISTEN);
}

void op_stats_add(struct op_stats *c, const struct operation *op)
{
    const struct mcp_method *known;
    bool call, unanswered;

    call = op_stats_is_call(op);
    c->count++;
    if (is_request(op) && !call)
        c->continuations++;
    else
        c->outcomes[op->outcome]++;
    if (!is_request(op))
        return;
    known = mcp_method_find(op->method);
    unanswered = is_unanswered(op, known);
    c->unanswered += unanswered;
    if (call)
        add_call(c, row_of(c, op, known), op, known);
    if (unanswered && (call || op->link != LINK_TASK))
        row_of(c, op, known)->unanswered++;
}

static int by_first(const void *a, const void *b)
{
    const struct op_stats_row *const *x = a, *const *y = b;

    return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

void op_stats_finish(struct op_stats *c)
{
    qsort(c->rows.rows, c->rows.count, sizeof *c->rows.rows, by_first);
}

uint64_t op_stats_answered(const struct op_stats_row *row)
{
    uint64_t n = 0;

    for (enum operation_outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        n += was_answered(outcome) ? row->outcomes[outcome] : 0;
    return n;
}

uint64_t op_stats_errors(const struct op_stats_row *row)
{
    return row->outcomes[OUTCOME_RPC_ERROR] + row->outcomes[OUTCOME_TOOL_ERROR] +
           row->outcomes[OUTCOME_HTTP_ERROR] + row->outcomes[OUTCOME_MALFORMED];
}
