#include "engine/census.h"

#include <stdlib.h>

#include "mcp/method.h"

void census_init(struct census *c)
{
    *c = (struct census){ 0 };
    roster_init(&c->rows, sizeof(struct census_row), CENSUS_ROWS);
}

void census_release(struct census *c)
{
    roster_release(&c->rows);
}

/* Delivered once more, a request is none. */
static bool is_request(const struct operation *op)
{
    return op->kind == OPERATION_REQUEST && op->roles[ROLE_REQUEST];
}

static bool goes_on(const struct operation *op)
{
    return (op->link == LINK_RETRY || op->link == LINK_TASK || op->link == LINK_PAGE) &&
           !(op->flags & OP_AFTER_END);
}

bool census_is_call(const struct operation *op)
{
    return is_request(op) && !goes_on(op);
}

static bool is_about_task(const struct mcp_method *known)
{
    return known && str_eq(known->subject, STR("taskId"));
}

static struct census_row *row_of(struct census *c, const struct operation *op,
                                 const struct mcp_method *known)
{
    const char way = (char)op->dir;
    const struct str subject = known && !is_about_task(known) ? op->subject : STR_NONE;
    const struct str name[] = { str_n(&way, 1), op->method, subject };
    struct census_row *row;
    bool fresh;

    row = roster_row(&c->rows, name, 3, &fresh);
    if (fresh) {
        row->first = op->number;
        row->dir = op->dir;
        row->method = arena_clip(&c->rows.arena, op->method, CENSUS_TEXT);
        row->subject = arena_clip(&c->rows.arena, subject, CENSUS_TEXT);
    }
    if (op->number < row->first)
        row->first = op->number;
    return row;
}

/* Up to here nobody waited for the client. */
static void part_times(struct census *c, struct census_times *t)
{
    t->server = arena_new(&c->rows.arena, struct histogram);
    t->wait = arena_new(&c->rows.arena, struct histogram);
    *t->server = *t->total;
    for (uint64_t i = 0; i < t->total->count; i++)
        histogram_add(t->wait, 0);
}

/* What the client is asked is all waiting for the client: there is nothing to part. */
static void add_times(struct census *c, struct census_times *t, const struct operation *op)
{
    if (op->total_us < 0)
        return;
    if (!t->total)
        t->total = arena_new(&c->rows.arena, struct histogram);
    if (!t->server && op->dir == TO_SERVER && op->wait_us > 0)
        part_times(c, t);
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

static void add_call(struct census *c, struct census_row *row, const struct operation *op,
                     const struct mcp_method *known)
{
    bool cancelled = op->flags & OP_CANCELLED;

    row->calls++;
    row->retries += op->children[LINK_RETRY];
    row->polls += op->children[LINK_TASK];
    row->pages += op->children[LINK_PAGE];
    row->wanted_input += (op->flags & OP_INPUT) != 0;
    row->tasks += op->flags & OP_TASK && !is_about_task(known);
    row->outcomes[op->outcome]++;
    row->cancelled += cancelled;
    c->cancelled += cancelled;
    if (was_answered(op->outcome))
        add_times(c, &row->times, op);
}

/* What was given up for want of room may have been answered later. */
static bool is_unanswered(const struct operation *op, const struct mcp_method *known)
{
    return (op->outcome == OUTCOME_PENDING || op->outcome == OUTCOME_SERVER_EXITED) &&
           op->answer == ANSWER_NONE && !(op->flags & OP_EVICTED) &&
           !(known && known->class == MCP_CLASS_LISTEN);
}

void census_add(struct census *c, const struct operation *op)
{
    const struct mcp_method *known;
    bool call, unanswered;

    call = census_is_call(op);
    c->count++;
    if (is_request(op) && !call)
        c->parts++;
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
    const struct census_row *const *x = a, *const *y = b;

    return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

void census_finish(struct census *c)
{
    qsort(c->rows.rows, c->rows.count, sizeof *c->rows.rows, by_first);
}

uint64_t census_answered(const struct census_row *row)
{
    uint64_t n = 0;

    for (enum operation_outcome outcome = 0; outcome < OUTCOMES; outcome++)
        n += was_answered(outcome) ? row->outcomes[outcome] : 0;
    return n;
}

uint64_t census_errors(const struct census_row *row)
{
    return row->outcomes[OUTCOME_RPC_ERROR] + row->outcomes[OUTCOME_TOOL_ERROR] +
           row->outcomes[OUTCOME_HTTP_ERROR] + row->outcomes[OUTCOME_MALFORMED];
}
