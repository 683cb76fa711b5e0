#include "ops/op-stats.h"

#include <stdlib.h>

#include "base/hash.h"
#include "mcp/method.h"
#include "ops/open-ops.h"

void op_stats_init(struct op_stats *c, size_t max_rows)
{
    *c = (struct op_stats){ 0 };
    capped_table_init(&c->rows, sizeof(struct op_stats_row), max_rows);
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

/* The name of a row. `hash` tells apart texts of which only the same beginning was kept. */
struct row_name {
    uint64_t group, hash;
    enum record_dir dir;
    struct str method, subject;
};

static struct str copy_name(struct op_stats *c, struct str name)
{
    if (c->cleaner && name.len)
        name = c->cleaner->clean(c->cleaner, name);
    return arena_truncated(&c->rows.arena, name, OP_STATS_TEXT);
}

static struct op_stats_row *find_row(struct op_stats *c, const struct row_name *name,
                                     bool *is_new)
{
    const uint64_t numbers[] = { name->group, name->hash, (uint64_t)name->dir };
    const struct str parts[] = { str_n((const char *)numbers, sizeof numbers), name->method,
                                 name->subject };
    struct op_stats_row *row = capped_table_row(&c->rows, parts, 3, is_new);

    if (*is_new) {
        row->group = name->group;
        row->dir = name->dir;
        row->method = copy_name(c, name->method);
        row->subject = copy_name(c, name->subject);
        row->name_hash = name->hash;
    }
    return row;
}

/* The row of a full name, which may be longer than what the row keeps. */
static struct op_stats_row *row_of_name(struct op_stats *c, enum record_dir dir,
                                        struct str method, struct str subject, bool *is_new)
{
    const struct row_name name = { c->group, 0, dir, method, subject };
    struct op_stats_row *row = find_row(c, &name, is_new);

    if (*is_new && (method.len > OP_STATS_TEXT || subject.len > OP_STATS_TEXT))
        row->name_hash = hash_bytes(subject, hash_bytes(method, 0)) | 1;
    return row;
}

static struct str subject_of(const struct operation *op, const struct mcp_method *known)
{
    return known && !is_about_task(known) ? op->subject : STR_NONE;
}

struct str op_stats_subject(const struct operation *op)
{
    return subject_of(op, mcp_method_find(op->method));
}

static struct op_stats_row *row_of(struct op_stats *c, const struct operation *op,
                                   const struct mcp_method *known)
{
    struct op_stats_row *row;
    bool is_new;

    row = row_of_name(c, op->dir, op->method, subject_of(op, known), &is_new);
    if (is_new || op->number < row->first)
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

bool op_stats_is_answered(const struct operation *op)
{
    return was_answered(op->outcome);
}

static void add_result(struct op_stats_row *row, uint64_t bytes)
{
    row->results++;
    row->result_bytes += bytes;
    if (bytes > row->result_max)
        row->result_max = bytes;
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
    row->bytes += op->family_bytes;
    if (op->result_bytes)
        add_result(row, op->result_bytes);
    if (op_stats_is_answered(op))
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

void op_stats_add_definition(struct op_stats *c, struct str tool, uint64_t bytes)
{
    struct op_stats_row *row;
    bool is_new;

    row = row_of_name(c, TO_SERVER, STR("tools/call"), open_ops_clip(tool), &is_new);
    row->listings++;
    if (bytes > row->definition_max)
        row->definition_max = bytes;
}

static void merge_histogram(struct op_stats *c, struct histogram **to,
                            const struct histogram *from)
{
    if (!*to)
        *to = arena_new(&c->rows.arena, struct histogram);
    histogram_merge(*to, from);
}

/* If the calls of one side never waited for the client, all of their time is the server's. */
static void merge_times(struct op_stats *c, struct op_stats_times *to,
                        const struct op_stats_times *from)
{
    if (!from->total)
        return;
    if (from->wait && to->total && !to->wait)
        split_times(c, to);
    if (from->wait || to->wait) {
        merge_histogram(c, &to->server, from->server ? from->server : from->total);
        if (!to->wait)
            to->wait = arena_new(&c->rows.arena, struct histogram);
        if (from->wait)
            histogram_merge(to->wait, from->wait);
        for (uint64_t i = 0; !from->wait && i < from->total->count; i++)
            histogram_add(to->wait, 0);
    }
    merge_histogram(c, &to->total, from->total);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void merge_counts(struct op_stats_row *to, const struct op_stats_row *from)
{
    to->calls += from->calls;
    to->retries += from->retries;
    to->polls += from->polls;
    to->pages += from->pages;
    to->input_required += from->input_required;
    to->tasks += from->tasks;
    for (enum operation_outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        to->outcomes[outcome] += from->outcomes[outcome];
    to->cancelled += from->cancelled;
    to->unanswered += from->unanswered;
    to->bytes += from->bytes;
    to->results += from->results;
    to->result_bytes += from->result_bytes;
    to->result_max = larger(to->result_max, from->result_max);
    to->listings += from->listings;
    to->definition_max = larger(to->definition_max, from->definition_max);
}

void op_stats_merge_row(struct op_stats *c, const struct op_stats_row *row, bool shared)
{
    const struct row_name name = { c->group, row->name_hash, row->dir, row->method,
                                   row->subject };
    bool is_new;
    struct op_stats_row *to =
        shared ? capped_table_overflow(&c->rows) : find_row(c, &name, &is_new);

    merge_counts(to, row);
    merge_times(c, &to->times, &row->times);
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

static bool is_error(enum operation_outcome outcome)
{
    return outcome == OUTCOME_RPC_ERROR || outcome == OUTCOME_TOOL_ERROR ||
           outcome == OUTCOME_HTTP_ERROR || outcome == OUTCOME_MALFORMED;
}

bool op_stats_is_error(const struct operation *op)
{
    return is_error(op->outcome);
}

uint64_t op_stats_errors(const struct op_stats_row *row)
{
    uint64_t n = 0;

    for (enum operation_outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        n += is_error(outcome) ? row->outcomes[outcome] : 0;
    return n;
}
