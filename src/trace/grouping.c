#include "trace/grouping.h"

#include "mcp/id.h"
#include "mcp/meta.h"
#include "mcp/method.h"
#include "trace/limits.h"

enum { ACCEPTED = 202 }; /* HTTP: the answer comes elsewhere */

static bool grouping_put(struct sink *self, const struct record *r, struct err *e);
static void request_evicted(struct pairing *p, struct pairing_request *q);

void grouping_init(struct grouping *g, struct operation_sink *to)
{
    *g = (struct grouping){ .sink = { grouping_put } };
    pairing_init(&g->pairs);
    g->pairs.evicted = request_evicted;
    ledger_init(&g->ledger, to);
    bond_init(&g->bonds);
    recall_init(&g->aside, LIMIT_RECALL);
    sequel_init(&g->sequel, &g->bonds, &g->ledger);
    batch_init(&g->batches, &g->bonds, &g->ledger);
}

void grouping_release(struct grouping *g)
{
    for (struct ledger_op *op = g->ledger.lowest; op; op = op->higher)
        bond_untie_all(&g->bonds, &g->ledger, op);
    ledger_release(&g->ledger);
    pairing_release(&g->pairs);
    bond_release(&g->bonds);
    recall_release(&g->aside);
    sequel_release(&g->sequel);
    batch_release(&g->batches);
    arena_release(&g->scratch);
}

static enum record_dir opposite(enum record_dir dir)
{
    return dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;
}

static struct ledger_op *op_of(const struct pairing_request *q)
{
    return q ? (struct ledger_op *)(uintptr_t)q->tag : NULL;
}

/* The request of `op` no longer waits. */
static void remember_id(struct grouping *g, const struct pairing_request *q,
                        struct ledger_op *op, bool answered)
{
    struct bond id = {
        .kind = BOND_ID, .dir = q->dir, .place = &op->place, .parts = { q->id }
    };

    bond_remember(&g->bonds, &id, op, answered);
    id.kind = BOND_LISTEN;
    if (op->listens)
        bond_remember(&g->bonds, &id, op, answered);
    op->asked = NULL;
}

/* Families are a few generations deep at most. */
static void end_op(struct grouping *g, struct ledger_op *op)
{
    struct ledger_op *head = sequel_end(op);
    struct ledger_op *batch = batch_report(op);

    if (op->asked) {
        struct pairing_request *q = op->asked;
        remember_id(g, q, op, false);
        pairing_forget(&g->pairs, q);
    }
    bond_untie_all(&g->bonds, &g->ledger, op);
    ledger_end(&g->ledger, op);
    if (head)
        end_op(g, head);
    if (batch && batch_is_over(batch))
        end_op(g, batch);
}

static void evict(struct grouping *g, struct ledger_op *op)
{
    if (op->op.outcome == OUTCOME_PENDING) {
        op->op.flags |= OP_EVICTED;
        g->ledger.evicted++;
    }
    end_op(g, op);
}

static void request_evicted(struct pairing *p, struct pairing_request *q)
{
    struct grouping *g = (struct grouping *)((char *)p - offsetof(struct grouping, pairs));
    struct ledger_op *op = op_of(q);

    remember_id(g, q, op, false);
    evict(g, op);
}

static void end_all(struct grouping *g)
{
    struct ledger_op *op;

    while ((op = g->ledger.lowest)) {
        if (op->op.kind == OPERATION_BATCH)
            batch_close(op);
        end_op(g, op);
    }
}

static struct ledger_op *begin(struct grouping *g, const struct letter *l,
                               enum operation_kind kind, const struct ledger_link *link)
{
    struct ledger_start start = {
        .kind = kind,
        .dir = l->dir,
        .id = json_raw(l->m.id),
        .method = l->m.method,
        .subject = l->subject,
        .link = *link,
    };
    struct ledger_op *op = ledger_begin(&g->ledger, &start);

    op->place = l->place;
    return op;
}

static void join(struct grouping *g, const struct letter *l, struct ledger_op *op,
                 enum operation_role role, bool inferred)
{
    bool again = l->record->has & HAS_REDELIVERS;

    ledger_add(&g->ledger, op, again ? ROLE_AGAIN : role, l->dir, inferred);
}

/* A message that joins nothing, and is over at once. */
static void stand_alone(struct grouping *g, const struct letter *l, enum operation_kind kind,
                        enum operation_role role, struct ledger_link link, unsigned flags)
{
    struct ledger_op *op;

    if (!link.number)
        batch_find(&g->batches, l, &link);
    op = begin(g, l, kind, &link);
    op->op.flags |= flags;
    if (mcp_is_response(&l->m)) {
        sequel_judge(&op->op, &l->m);
        op->op.answer_bytes = json_raw(l->m.root).len;
    }
    if (kind == OPERATION_NOISE)
        op->op.outcome = OUTCOME_MALFORMED;
    join(g, l, op, role, false);
    end_op(g, op);
}

/* To an operation that is over: `link` has its number. */
static struct ledger_link stray(struct ledger_link link)
{
    link.kind = LINK_STRAY;
    link.open = NULL;
    return link;
}

static struct bond bond_of_id(const struct letter *l, enum bond_kind kind, enum record_dir dir,
                              struct json_val id)
{
    return (struct bond){
        .kind = kind, .dir = dir, .place = &l->place, .parts = { mcp_id_key(id, l->scratch) }
    };
}

static struct bond bond_of_task(const struct letter *l, struct json_val id)
{
    return (struct bond){ .kind = BOND_TASK,
                          .dir = opposite(l->dir),
                          .place = &l->place,
                          .parts = { STR_NONE, json_text(id, l->scratch) } };
}

/* A notification about a request that no longer waits, or that nobody saw. */
static void miss(struct grouping *g, const struct letter *l, enum operation_role role,
                 const struct bond *bond)
{
    struct ledger_link link = { .number = 0 };
    bool answered;

    if (bond->parts[0].len && bond_recall(&g->bonds, bond, &link, &answered))
        stand_alone(g, l, OPERATION_NOTIFICATION, role, stray(link), OP_AFTER_END);
    else
        stand_alone(g, l, OPERATION_NOTIFICATION, role, link, OP_ORPHAN);
}

/* The only request that waits in the exchange; if they came as a batch, that. */
static struct ledger_op *sole_in_exchange(struct grouping *g, const struct letter *l)
{
    struct scope_reach here = l->place.at[0];
    struct pairing_request *q = pairing_first(&g->pairs, here, TO_SERVER);
    struct ledger_op *op = op_of(q);

    if (!q || !pairing_next(q, here))
        return op;
    return op->op.link == LINK_BATCH ? op->parent : NULL;
}

/* The only request in flight, if it may be what the server is talking about: one that
 * has a stream of its own is talked about there. */
static struct ledger_op *sole_in_flight(struct grouping *g, const struct letter *l)
{
    struct scope_reach reach = scope_widest(&l->place);
    struct ledger_op *op;

    if (reach.kind == SCOPE_SERVER)
        return NULL;
    op = op_of(pairing_sole(&g->pairs, reach, TO_SERVER));
    if (op && scope_in_exchange(&l->place) && scope_in_exchange(&op->place) &&
        op->op.status != ACCEPTED)
        return NULL;
    return op;
}

/* The open operation that became the task a message names. */
static bool find_related_task(struct grouping *g, const struct letter *l,
                              struct ledger_link *link)
{
    struct json_val related = json_get(l->m.meta, MCP_META_RELATED_TASK);
    struct bond task = bond_of_task(l, json_get(related, STR("taskId")));

    return task.parts[1].len && bond_find(&g->bonds, &task, link) && link->open;
}

/* What the server was working on when it sent this. */
static bool find_reason(struct grouping *g, const struct letter *l, struct ledger_link *link)
{
    struct ledger_link task;
    struct ledger_op *op;

    if (l->dir != TO_CLIENT)
        return false;
    if (find_related_task(g, l, &task))
        *link = ledger_link_to(task.open, LINK_ASKED, task.inferred);
    else if (scope_in_exchange(&l->place) && (op = sole_in_exchange(g, l)))
        *link = ledger_link_to(op, LINK_ASKED, false);
    else if ((op = sole_in_flight(g, l)))
        *link = ledger_link_to(op, LINK_ASKED, true);
    else
        return false;
    return true;
}

/* A request that came once more on a resumed stream is none. */
static bool came_again(struct grouping *g, const struct letter *l)
{
    struct pairing_request *q;
    struct ledger_link link;
    struct bond bond;
    bool answered;

    if (!(l->record->has & HAS_REDELIVERS))
        return false;
    bond = bond_of_id(l, BOND_ID, l->dir, l->m.id);
    q = pairing_peek(&g->pairs, l->record, l->dir, l->m.id, NULL);
    if (q) {
        join(g, l, op_of(q), ROLE_AGAIN, false);
        return true;
    }
    if (!bond_recall(&g->bonds, &bond, &link, &answered))
        return false;
    stand_alone(g, l, OPERATION_REQUEST, ROLE_AGAIN, stray(link), OP_AFTER_END);
    return true;
}

static bool is_modern(const struct letter *l)
{
    struct json_val version = json_get(l->m.meta, MCP_META_VERSION);

    return mcp_version_era(mcp_version_parse(json_text(version, l->scratch))) == MCP_ERA_MODERN;
}

static bool stays_open(struct str method)
{
    const struct mcp_method *known = mcp_method_find(method);

    return known && known->class == MCP_CLASS_LISTEN;
}

/* The status of an exchange in which no answer has to come; 0: one has to. */
static uint64_t status_aside(const struct grouping *g, const struct record *r)
{
    const struct recall_entry *found =
        r->has & HAS_EXCHANGE ? recall_find(&g->aside, map_number(&r->exchange)) : NULL;

    return found ? found->what : 0;
}

/* Something else came instead of an answer; if one still comes, it is worth more. */
static void fail(struct operation *op, enum operation_outcome outcome)
{
    if (op->outcome == OUTCOME_PENDING)
        op->outcome = outcome;
}

static void on_request(struct grouping *g, const struct letter *l)
{
    struct ledger_link link = { .number = 0 };
    struct bond token = bond_of_id(l, BOND_TOKEN, l->dir, mcp_progress_token(l->m.meta));
    struct ledger_op *op;

    if (came_again(g, l))
        return;
    if (!sequel_find(&g->sequel, l, &link) && !batch_find(&g->batches, l, &link))
        find_reason(g, l, &link);
    op = begin(g, l, OPERATION_REQUEST, &link);
    op->op.outcome = OUTCOME_PENDING;
    op->op.request_bytes = json_raw(l->m.root).len;
    op->op.flags |= is_modern(l) ? OP_MODERN : 0;
    if (!pairing_ask(&g->pairs, l->record, &l->m, (uint64_t)(uintptr_t)op))
        op->op.flags |= OP_ID_REUSED;
    op->asked = g->pairs.newest;
    op->op.status = status_aside(g, l->record); /* of a request that came late */
    if (op->op.status >= OPERATION_REFUSED)
        fail(&op->op, OUTCOME_HTTP_ERROR);
    op->listens = stays_open(l->m.method);
    if (op->listens)
        pairing_park(op->asked);
    if (token.parts[0].len)
        bond_tie(&g->bonds, &g->ledger, &token, op);
    sequel_begin(&g->sequel, op, l);
    if (l->dir == TO_CLIENT)
        ledger_wait(&g->ledger, op);
    ledger_add(&g->ledger, op, ROLE_REQUEST, l->dir, false);
}

/* An error that cannot say what it answers. The Python SDK has a word for that. */
static bool is_nameless(const struct letter *l)
{
    return l->m.kind == MCP_ERROR && l->dir == TO_CLIENT && scope_in_exchange(&l->place) &&
           (!mcp_id_key(l->m.id, l->scratch).len || json_is(l->m.id, STR("server-error")));
}

/* The request that an answer belongs to, which waits no longer. An error that cannot
 * name it, because its request could not be read, still came in its exchange. */
static struct ledger_op *take_request(struct grouping *g, const struct letter *l)
{
    const struct pairing_request *q = pairing_answer(&g->pairs, l->record, &l->m);
    struct pairing_request *nameless = NULL;
    struct ledger_op *op;

    if (!q && is_nameless(l)) {
        nameless = pairing_first(&g->pairs, l->place.at[0], TO_SERVER);
        if (nameless && pairing_next(nameless, l->place.at[0]))
            nameless = NULL;
        q = nameless;
    }
    op = op_of(q);
    if (op)
        remember_id(g, q, op, true);
    if (nameless)
        pairing_forget(&g->pairs, nameless);
    return op;
}

static void stray_answer(struct grouping *g, const struct letter *l)
{
    struct bond bond = bond_of_id(l, BOND_ID, opposite(l->dir), l->m.id);
    struct ledger_link link = { .number = 0 };
    unsigned flags = OP_ORPHAN;
    bool answered;

    if (bond.parts[0].len && bond_recall(&g->bonds, &bond, &link, &answered)) {
        flags = OP_AFTER_END;
        if (answered && !(l->record->has & HAS_REDELIVERS))
            flags |= OP_DUPLICATE;
        link = stray(link);
    } else if (is_nameless(l) && status_aside(g, l->record) >= OPERATION_REFUSED) {
        flags = OP_REFUSED;
    }
    stand_alone(g, l, OPERATION_ANSWER, ROLE_ANSWER, link, flags);
}

/* Files of other tools have no fine clock, but say themselves how long it took. */
static int64_t time_to_answer(const struct grouping *g, const struct ledger_op *op,
                              const struct record *r)
{
    int64_t asked = op->op.first_us;

    if (!(r->has & HAS_US) && r->has & HAS_LATENCY)
        return r->message.latency_ms < INT64_MAX / 4000 ? (int64_t)r->message.latency_ms * 1000
                                                        : INT64_MAX / 4;
    if (!g->ledger.timed || asked < 0)
        return -1;
    return g->ledger.now > asked ? g->ledger.now - asked : 0;
}

static void on_answer(struct grouping *g, const struct letter *l)
{
    struct ledger_op *op = take_request(g, l);
    bool stays;

    if (!op) {
        stray_answer(g, l);
        return;
    }
    op->op.own_us = time_to_answer(g, op, l->record);
    op->op.answer_bytes = json_raw(l->m.root).len;
    if (!(op->op.has & HAS_SESSION) && l->record->has & HAS_SESSION) {
        op->op.has |= HAS_SESSION; /* the answer to a greeting brings it */
        op->op.session = l->record->session;
    }
    stays = sequel_answer(&g->sequel, op, l);
    ledger_add(&g->ledger, op, ROLE_ANSWER, l->dir, false);
    if (!stays)
        end_op(g, op);
}

static void on_progress(struct grouping *g, const struct letter *l)
{
    struct json_val params = l->m.params;
    struct bond bond =
        bond_of_id(l, BOND_TOKEN, opposite(l->dir), json_get(params, STR("progressToken")));
    struct ledger_link link;

    if (!bond.parts[0].len || !bond_find(&g->bonds, &bond, &link) || !link.open) {
        miss(g, l, ROLE_PROGRESS, &bond);
        return;
    }
    if (!(l->record->has & HAS_REDELIVERS))
        ledger_set_progress(&g->ledger, link.open, json_get(params, STR("progress")),
                            json_get(params, STR("total")));
    join(g, l, link.open, ROLE_PROGRESS, link.inferred);
}

/* Whoever asked gives up; a server may also end a subscription this way. What is only
 * likely to be meant is not given up for that. */
static void on_cancel(struct grouping *g, const struct letter *l)
{
    struct json_val id = json_get(l->m.params, STR("requestId"));
    struct bond bond = bond_of_id(l, BOND_ID, l->dir, id);
    struct pairing_request *q;
    bool sure;

    q = pairing_peek(&g->pairs, l->record, l->dir, id, &sure);
    if (!q && l->dir == TO_CLIENT) {
        q = pairing_peek(&g->pairs, l->record, TO_SERVER, id, &sure);
        if (q && !op_of(q)->listens)
            q = NULL;
    }
    if (!q) {
        miss(g, l, ROLE_CANCEL, &bond);
        return;
    }
    if (sure) {
        pairing_park(q);
        sequel_cancel(&g->sequel, op_of(q));
    }
    join(g, l, op_of(q), ROLE_CANCEL, !sure);
}

static bool join_subscription(struct grouping *g, const struct letter *l, struct json_val id)
{
    struct pairing_request *q = pairing_peek(&g->pairs, l->record, TO_SERVER, id, NULL);

    if (!q || !op_of(q)->listens)
        return false;
    join(g, l, op_of(q), ROLE_EVENT, false);
    return true;
}

/* How a task is doing, told on a subscription or without one. */
static bool join_task(struct grouping *g, const struct letter *l)
{
    struct bond bond = bond_of_task(l, json_get(l->m.params, STR("taskId")));
    struct ledger_link link;

    if (!bond.parts[1].len || !bond_find(&g->bonds, &bond, &link))
        return false;
    if (!link.open) {
        stand_alone(g, l, OPERATION_NOTIFICATION, ROLE_STATUS, stray(link), OP_AFTER_END);
        return true;
    }
    sequel_status(&g->sequel, link.open, l->m.params);
    join(g, l, link.open, ROLE_STATUS, link.inferred);
    if (link.open->decided)
        end_op(g, link.open);
    return true;
}

static bool is_status(struct str method)
{
    return str_eq(method, STR("notifications/tasks")) ||
           str_eq(method, STR("notifications/tasks/status"));
}

/* Logs tell what is being done; of other notifications only the stream does. */
static void on_notice(struct grouping *g, const struct letter *l)
{
    bool log = str_eq(l->m.method, STR("notifications/message"));
    enum operation_role role = log ? ROLE_LOG : ROLE_NOTICE;
    struct ledger_link none = { .number = 0 }, link = none;

    if (find_reason(g, l, &link) && (log || !link.inferred))
        join(g, l, link.open, role, link.inferred);
    else
        stand_alone(g, l, OPERATION_NOTIFICATION, role, none, 0);
}

/* What a subscription is for, how a task is doing, or both. */
static bool on_event(struct grouping *g, const struct letter *l)
{
    struct json_val tag = json_get(l->m.meta, MCP_META_SUBSCRIPTION);
    bool tagged = l->dir == TO_CLIENT && json_exists(tag), status = is_status(l->m.method);
    struct bond bond;
    bool placed;

    if (!tagged && !status)
        return false;
    placed = tagged && join_subscription(g, l, tag);
    placed = (status && join_task(g, l)) || placed;
    if (!placed) {
        bond = bond_of_id(l, BOND_LISTEN, TO_SERVER, tag);
        miss(g, l, status ? ROLE_STATUS : ROLE_EVENT, &bond);
    }
    return true;
}

static void on_notification(struct grouping *g, const struct letter *l)
{
    if (str_eq(l->m.method, STR("notifications/progress")))
        on_progress(g, l);
    else if (str_eq(l->m.method, STR("notifications/cancelled")))
        on_cancel(g, l);
    else if (!on_event(g, l))
        on_notice(g, l);
}

static void on_message(struct grouping *g, const struct record *r)
{
    struct letter l = { .record = r, .dir = r->message.dir, .scratch = &g->scratch };
    struct ledger_op *batch;

    l.m = mcp_classify(r->message.msg, &g->scratch);
    l.place = scope_of(&g->pairs.scope, r);
    l.subject = json_text(mcp_subject(l.m.method, l.m.params), &g->scratch);
    switch (l.m.kind) {
    case MCP_REQUEST:
        on_request(g, &l);
        break;
    case MCP_NOTIFICATION:
        on_notification(g, &l);
        break;
    case MCP_RESULT:
    case MCP_ERROR:
        on_answer(g, &l);
        break;
    case MCP_OTHER:
    case MCP_BATCH:
        stand_alone(g, &l, OPERATION_NOISE, ROLE_NOISE, (struct ledger_link){ .number = 0 }, 0);
        break;
    }
    batch = batch_see(&g->batches, &l);
    if (batch)
        end_op(g, batch);
}

/* Of what was said before to one request, all after it heard, too: they came with it. */
static void make_noisy(struct grouping *g, struct scope_reach exchange)
{
    struct pairing_request *q = pairing_first(&g->pairs, exchange, TO_SERVER);

    for (; q && !(op_of(q)->op.flags & OP_NOISY); q = pairing_next(q, exchange)) {
        op_of(q)->op.flags |= OP_NOISY;
        fail(&op_of(q)->op, OUTCOME_MALFORMED);
    }
}

static void set_status(struct grouping *g, struct scope_reach exchange, uint64_t status)
{
    struct pairing_request *q = pairing_first(&g->pairs, exchange, TO_SERVER);

    for (; q && !op_of(q)->op.status; q = pairing_next(q, exchange)) {
        op_of(q)->op.status = status;
        if (status >= OPERATION_REFUSED)
            fail(&op_of(q)->op, OUTCOME_HTTP_ERROR);
    }
}

bool grouping_is_noise(const struct grouping *g, const struct record *r)
{
    if ((!r->bytes.bytes.len && !(r->has & HAS_COUNT)) || r->bytes.by.at)
        return false;
    return r->bytes.from_to != TO_CLIENT || r->has & HAS_STREAM || !status_aside(g, r);
}

/* Bytes that came where an answer should have come are the operation's; all else, as what
 * a server prints to its standard output, stands alone. */
static void on_noise(struct grouping *g, const struct record *r)
{
    struct letter l = { .record = r, .dir = r->bytes.from_to, .scratch = &g->scratch };
    struct ledger_start start = { .kind = OPERATION_NOISE, .dir = l.dir };
    struct ledger_op *op = NULL;
    bool noise = grouping_is_noise(g, r);

    if (r->bytes.by.at)
        return;
    if (!noise && status_aside(g, r) == ACCEPTED)
        return;
    l.place = scope_of(&g->pairs.scope, r);
    if (l.dir == TO_CLIENT && scope_in_exchange(&l.place))
        op = sole_in_exchange(g, &l);
    if (op && noise)
        make_noisy(g, l.place.at[0]);
    if (op)
        ledger_add(&g->ledger, op, ROLE_NOISE, l.dir, false);
    if (op || !noise)
        return;
    op = ledger_begin(&g->ledger, &start);
    op->op.outcome = OUTCOME_MALFORMED;
    ledger_add(&g->ledger, op, ROLE_NOISE, l.dir, false);
    end_op(g, op);
}

static void on_response(struct grouping *g, const struct record *r)
{
    struct scope_place place = scope_of(&g->pairs.scope, r);

    if (r->has & HAS_EXCHANGE &&
        (r->http.status == ACCEPTED || r->http.status >= OPERATION_REFUSED))
        recall_put(&g->aside, map_number(&r->exchange), r->http.status, 0);
    if (scope_in_exchange(&place) && r->has & HAS_STATUS)
        set_status(g, place.at[0], r->http.status);
}

/* A request that was not answered in its exchange. Before 2026-07-28 the stream may be
 * resumed; since then closing it is how a client gives up. */
static void cut_off(struct grouping *g, struct pairing_request *q,
                    const struct record_http *end)
{
    struct ledger_op *op = op_of(q);
    bool modern = op->op.flags & OP_MODERN;

    op->op.flags |= OP_CUT;
    pairing_park(q);
    ledger_hear(&g->ledger, op);
    if (end->why.len) {
        ledger_set_why(&g->ledger, op, end->why);
        if (op->op.status && (modern || end->clean))
            fail(&op->op, OUTCOME_HTTP_ERROR);
    }
    if (modern && op->op.outcome == OUTCOME_PENDING && str_eq(end->by, STR("client"))) {
        op->op.outcome = OUTCOME_CANCELLED;
        op->op.flags |= OP_CANCELLED;
    }
    if (modern || op->forsaken || op->op.outcome == OUTCOME_HTTP_ERROR ||
        op->op.outcome == OUTCOME_MALFORMED)
        end_op(g, op);
}

/* What was only accepted was never to be answered there, unless whoever recorded it knows
 * better. Those that were cut off before are parked, and so come last. */
static void on_end_of_exchange(struct grouping *g, const struct record *r)
{
    struct scope_place place = scope_of(&g->pairs.scope, r);
    struct pairing_request *q, *next;

    if (status_aside(g, r))
        recall_put(&g->aside, map_number(&r->exchange), 0, 0); /* others may use its number */
    if (!scope_in_exchange(&place))
        return;
    for (q = pairing_first(&g->pairs, place.at[0], TO_SERVER); q; q = next) {
        const struct operation *op = &op_of(q)->op;

        if ((op->status == ACCEPTED && !r->http.why.len) || op->flags & OP_CUT)
            break;
        next = pairing_next(q, place.at[0]);
        cut_off(g, q, &r->http);
    }
}

/* Whether an operation waits for the process that a record is about. */
static bool waits_for(const struct operation *op, const struct record *r)
{
    if (op->dir != TO_SERVER)
        return false;
    if (r->has & HAS_SESSION)
        return op->has & HAS_SESSION && op->session == r->session;
    return r->has & op->has & HAS_CONN && op->conn == r->conn && !(op->has & HAS_EXCHANGE);
}

/* The server's process has ended: requests without a response have failed. A subscription stays
 * open by its nature, and so is merely pending. */
static void on_exit_of_server(struct grouping *g, const struct record *r)
{
    for (struct ledger_op *op = g->ledger.lowest; op; op = op->higher) {
        if (op->op.outcome != OUTCOME_PENDING || op->listens || !waits_for(&op->op, r))
            continue;
        op->op.outcome = OUTCOME_SERVER_EXITED;
        op->op.has |= r->has & (HAS_EXIT_CODE | HAS_SIGNAL);
        op->op.exit_code = r->proc.exit_code;
        op->op.signal = r->proc.signal;
        if (op->op.first_us >= 0)
            ledger_hear(&g->ledger, op);
    }
}

/* A process answers nothing that another was asked. Over HTTP the exchange is about to end, and
 * says why; nobody will go on with it. */
static void on_process(struct grouping *g, const struct record *r)
{
    struct scope_reach conn = { SCOPE_CONN, r->conn }, session = { SCOPE_SESSION, r->session };
    struct pairing_request *q;

    if (str_eq(r->proc.event, STR("exit")))
        on_exit_of_server(g, r);
    if (r->has & HAS_SESSION && str_eq(r->proc.event, STR("exit"))) {
        for (q = pairing_first(&g->pairs, session, TO_SERVER); q; q = pairing_next(q, session))
            op_of(q)->forsaken = true;
    } else if (r->has & HAS_CONN && str_eq(r->proc.event, STR("start"))) {
        while ((q = pairing_first(&g->pairs, conn, TO_SERVER)) ||
               (q = pairing_first(&g->pairs, conn, TO_CLIENT)))
            end_op(g, op_of(q));
    }
}

static void on_header(struct grouping *g)
{
    end_all(g);
    bond_release(&g->bonds);
    bond_init(&g->bonds);
    recall_release(&g->aside);
    recall_init(&g->aside, LIMIT_RECALL);
    scope_release(&g->pairs.scope);
    scope_init(&g->pairs.scope);
}

static void take(struct grouping *g, const struct record *r)
{
    struct ledger_op *excess;

    arena_clear(&g->scratch);
    if (r->kind == RECORD_HEADER)
        on_header(g);
    ledger_turn(&g->ledger, r);
    scope_see(&g->pairs.scope, r);
    if (r->kind == RECORD_MESSAGE)
        on_message(g, r);
    else if (r->kind == RECORD_RAW)
        on_noise(g, r);
    else if (r->kind == RECORD_HTTP_RESPONSE)
        on_response(g, r);
    else if (r->kind == RECORD_HTTP_END)
        on_end_of_exchange(g, r);
    else if (r->kind == RECORD_PROC)
        on_process(g, r);
    while ((excess = ledger_excess(&g->ledger)))
        evict(g, excess);
}

static bool tell_failure(const struct grouping *g, struct err *e)
{
    if (g->ledger.failed)
        *e = g->ledger.err;
    return !g->ledger.failed;
}

static bool grouping_put(struct sink *self, const struct record *r, struct err *e)
{
    struct grouping *g = (struct grouping *)self;

    if (!g->ledger.failed)
        take(g, r);
    return tell_failure(g, e);
}

bool grouping_finish(struct grouping *g, struct err *e)
{
    end_all(g);
    return tell_failure(g, e);
}
