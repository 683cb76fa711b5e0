#include "engine/operations.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "mcp/method.h"
#include "trace/facts.h"

struct operations_round {
    uint64_t hash;
    int64_t us; /* of the first request */
};

/* The tag of a request in the pairing: its row, and what else is to be remembered. */
enum { TAG_CANCELLED = 1, TAG_TIMED = 2, TAG_ROW = 4 };

void operations_init(struct operations *o)
{
    *o = (struct operations){ 0 };
    roster_init(&o->rows, sizeof(struct operation), OPERATIONS_MAX);
    pairing_init(&o->pairs);
    o->answered = mem_alloc(OPERATIONS_ANSWERED * sizeof *o->answered);
    o->rounds = mem_alloc(OPERATIONS_ROUNDS * sizeof *o->rounds);
}

void operations_release(struct operations *o)
{
    roster_release(&o->rows);
    pairing_release(&o->pairs);
    arena_release(&o->scratch);
    free(o->answered);
    free(o->rounds);
}

void operations_restart(struct operations *o)
{
    pairing_release(&o->pairs);
    pairing_init(&o->pairs);
    o->recording++;
}

static struct str subject_of(struct operations *o, const struct mcp_method *known,
                             const struct mcp_message *m)
{
    if (!known || str_eq(known->subject, STR("taskId")))
        return STR_NONE;
    return json_text(mcp_subject(m->method, m->params), &o->scratch);
}

static struct operation *row_of(struct operations *o, enum record_dir dir,
                                const struct mcp_message *m)
{
    const struct mcp_method *known = mcp_method_find(m->method);
    const char way = (char)dir;
    const struct str name[] = { str_n(&way, 1), m->method, subject_of(o, known, m) };
    struct operation *op;
    bool fresh;

    op = roster_row(&o->rows, name, 3, &fresh);
    if (fresh) {
        op->index = o->rows.count - 1;
        op->dir = dir;
        op->method = arena_clip(&o->rows.arena, m->method, OPERATIONS_TEXT);
        op->subject = arena_clip(&o->rows.arena, name[2], OPERATIONS_TEXT);
        op->stays_open = known && known->class == MCP_CLASS_LISTEN;
    } else if (op == o->rows.others) {
        op->index = OPERATIONS_MAX;
    }
    return op;
}

static struct operation *row_at(const struct operations *o, uint64_t tag)
{
    size_t index = tag / TAG_ROW;

    return index == OPERATIONS_MAX ? o->rows.others : o->rows.rows[index];
}

/* Where the first request of an operation is kept while the client gathers input;
 * NULL if the server gave no state to know it by. */
static struct operations_round *round_of(struct operations *o, struct str method,
                                         struct json_val state, uint64_t *hash)
{
    if (json_type(state) != JSON_STRING)
        return NULL;
    *hash = hash_bytes(json_text(state, &o->scratch), hash_bytes(method, o->recording));
    return &o->rounds[*hash % OPERATIONS_ROUNDS];
}

static bool is_retry(enum record_dir dir, const struct mcp_message *m)
{
    return dir == TO_SERVER && (json_exists(json_get(m->params, STR("inputResponses"))) ||
                                json_exists(json_get(m->params, STR("requestState"))));
}

static int64_t first_asked(struct operations *o, const struct record *r,
                           const struct mcp_message *m)
{
    struct json_val state = json_get(m->params, STR("requestState"));
    uint64_t hash;
    struct operations_round *round = round_of(o, m->method, state, &hash);

    return round && round->hash == hash ? round->us : r->us;
}

bool operations_ask(struct operations *o, const struct record *r, const struct mcp_message *m)
{
    enum record_dir dir = r->message.dir;
    struct record first = *r;
    struct operation *op;

    arena_clear(&o->scratch);
    op = row_of(o, dir, m);
    op->requests++;
    if (is_retry(dir, m)) {
        op->retries++;
        first.us = first_asked(o, r, m);
    }
    return pairing_ask(&o->pairs, &first, m,
                       op->index * TAG_ROW + (r->has & HAS_US ? TAG_TIMED : 0));
}

static bool find_latency(const struct record *r, const struct pairing_request *asked,
                         int64_t *us)
{
    if (r->has & HAS_US && asked->tag & TAG_TIMED)
        *us = r->us - asked->us;
    else if (r->has & HAS_LATENCY)
        *us = r->message.latency_ms < INT64_MAX / 1000 ? (int64_t)r->message.latency_ms * 1000
                                                       : INT64_MAX;
    else
        return false;
    return true;
}

static void add_latency(struct operations *o, struct operation *op, const struct record *r,
                        const struct pairing_request *asked)
{
    int64_t us;

    if (!find_latency(r, asked, &us))
        return;
    if (!op->latency)
        op->latency = arena_new(&o->rows.arena, struct histogram);
    histogram_add(op->latency, us > 0 ? (uint64_t)us : 0);
}

static bool wants_input(const struct mcp_message *m)
{
    return json_is(json_get(m->result, STR("resultType")), STR("input_required"));
}

static void remember_round(struct operations *o, const struct mcp_message *m,
                           const struct pairing_request *asked)
{
    struct json_val state = json_get(m->result, STR("requestState"));
    uint64_t hash;
    struct operations_round *round = round_of(o, asked->method, state, &hash);

    if (round)
        *round = (struct operations_round){ hash, asked->us };
}

static void count_answer(struct operations *o, struct operation *op, const struct record *r,
                         const struct mcp_message *m, const struct pairing_request *asked)
{
    if (asked->dir == TO_SERVER && wants_input(m)) {
        op->wanted_input++;
        remember_round(o, m, asked);
        return;
    }
    op->answered++;
    op->rpc_errors += m->kind == MCP_ERROR;
    op->tool_errors += m->kind == MCP_RESULT && facts_is_error(m);
    add_latency(o, op, r, asked);
}

/* Where the answer to a request leaves its mark; `*hash` is never 0, which stands for
 * none. */
static uint64_t *mark_of(struct operations *o, struct str key, uint64_t *hash)
{
    *hash = hash_bytes(key, o->recording) | 1;
    return &o->answered[*hash / 2 % OPERATIONS_ANSWERED];
}

static bool was_answered(struct operations *o, const struct record *r,
                         const struct mcp_message *m)
{
    enum record_dir asked = r->message.dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;
    uint64_t hash, *mark;

    mark = mark_of(o, pairing_key(&o->pairs, asked, r->conn, m->id), &hash);
    return *mark == hash;
}

enum operations_verdict operations_answer(struct operations *o, const struct record *r,
                                          const struct mcp_message *m,
                                          const struct pairing_request **asked)
{
    struct operation *op;
    uint64_t hash, *mark;

    arena_clear(&o->scratch);
    *asked = pairing_answer(&o->pairs, r, m);
    if (!*asked)
        return was_answered(o, r, m) ? OPERATIONS_DUPLICATE : OPERATIONS_UNASKED;
    mark = mark_of(o, (*asked)->key, &hash);
    *mark = hash;
    op = row_at(o, (*asked)->tag);
    count_answer(o, op, r, m, *asked);
    if (!((*asked)->tag & TAG_CANCELLED))
        return OPERATIONS_EXPECTED;
    op->late++;
    return OPERATIONS_LATE;
}

void operations_cancel(struct operations *o, const struct record *r,
                       const struct mcp_message *m)
{
    struct json_val id = json_get(m->params, STR("requestId"));
    struct pairing_request *asked = pairing_peek(&o->pairs, r->message.dir, r->conn, id);

    if (!asked || asked->tag & TAG_CANCELLED)
        return;
    asked->tag |= TAG_CANCELLED;
    row_at(o, asked->tag)->cancelled++;
}
