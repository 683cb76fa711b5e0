#include "trace/grouping.h"

#include "mcp/id.h"
#include "mcp/meta.h"
#include "mcp/method.h"

enum { ACCEPTED = 202, FAILED = 400 }; /* HTTP: the answer comes elsewhere; from here on none */

static bool grouping_put(struct sink *self, const struct record *r, struct err *e);
static void request_evicted(struct pairing *p, struct pairing_request *q);

void grouping_init(struct grouping *g, struct operation_sink *to)
{
    *g = (struct grouping){ .sink = { grouping_put } };
    pairing_init(&g->pairs);
    g->pairs.evicted = request_evicted;
    ledger_init(&g->ledger, to);
    bond_init(&g->bonds);
    sequel_init(&g->sequel, &g->bonds, &g->ledger);
    json_init(&g->json);
}

void grouping_release(struct grouping *g)
{
    for (struct ledger_op *op = g->ledger.lowest; op; op = op->higher)
        bond_untie_all(&g->bonds, &g->ledger, op);
    ledger_release(&g->ledger);
    pairing_release(&g->pairs);
    bond_release(&g->bonds);
    sequel_release(&g->sequel);
    arena_release(&g->scratch);
    json_release(&g->json);
}

static enum record_dir opposite(enum record_dir dir)
{
    return dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;
}

static struct ledger_op *op_of(const struct pairing_request *q)
{
    return q ? (struct ledger_op *)(uintptr_t)q->tag : NULL;
}

static bool stays_open(struct str method)
{
    const struct mcp_method *known = mcp_method_find(method);

    return known && known->class == MCP_CLASS_LISTEN;
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
    if (stays_open(q->method))
        bond_remember(&g->bonds, &id, op, answered);
    op->asked = NULL;
}

/* A batch is as good as the first of its members that is not. */
static void report_to_batch(struct ledger_op *batch, const struct operation *member)
{
    if (member->outcome == OUTCOME_NONE ||
        (batch->worst != OUTCOME_NONE && batch->worst != OUTCOME_OK))
        return;
    batch->worst = member->outcome;
    batch->op.code = member->code;
    batch->op.flags |= member->flags & OP_CODE;
}

/* Families are a few generations deep at most. */
static void end_op(struct grouping *g, struct ledger_op *op)
{
    struct ledger_op *head = sequel_end(op);
    struct ledger_op *batch = op->op.link == LINK_BATCH ? op->parent : NULL;

    if (batch)
        report_to_batch(batch, &op->op);
    if (op->asked) {
        struct pairing_request *q = op->asked;
        remember_id(g, q, op, false);
        pairing_forget(&g->pairs, q);
    }
    bond_untie_all(&g->bonds, &g->ledger, op);
    ledger_end(&g->ledger, op);
    if (head)
        end_op(g, head);
    if (batch && batch->complete && !batch->children) {
        batch->op.outcome = batch->worst;
        end_op(g, batch);
    }
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
    while (g->ledger.lowest)
        end_op(g, g->ledger.lowest);
}

/* The batch a message came in. */
struct batch {
    struct bond bond;
    bool last; /* of its members */
};

static bool read_batch(struct grouping *g, const struct letter *l, struct batch *b)
{
    struct json_fault fault;
    struct json_val root;
    int64_t index, count;

    if (!l->record->message.batch.len || !json_scan(&g->json, l->record->message.batch, &fault))
        return false;
    root = json_root(&g->json);
    b->bond = (struct bond){ .kind = BOND_BATCH,
                             .dir = l->dir,
                             .place = &l->place,
                             .parts = { json_raw(json_get(root, STR("id"))) } };
    b->last = json_int(json_get(root, STR("index")), &index) &&
              json_int(json_get(root, STR("count")), &count) && index >= count - 1;
    return b->bond.parts[0].len > 0;
}

/* A batch becomes an operation with the first of its members that is one. */
static bool link_to_batch(struct grouping *g, const struct letter *l, struct ledger_link *link)
{
    struct ledger_start start = { .kind = OPERATION_BATCH, .dir = l->dir };
    struct ledger_op *op;
    struct batch b;

    if (!read_batch(g, l, &b))
        return false;
    if (!bond_find(&g->bonds, &b.bond, link)) {
        op = ledger_begin(&g->ledger, &start);
        op->place = l->place;
        op->op.outcome = OUTCOME_PENDING;
        bond_tie(&g->bonds, &g->ledger, &b.bond, op);
        *link = ledger_link_to(op, LINK_BATCH, false);
    }
    link->kind = LINK_BATCH;
    return true;
}

static void see_end_of_batch(struct grouping *g, const struct letter *l)
{
    struct ledger_link link;
    struct batch b;

    if (!read_batch(g, l, &b) || !b.last || !bond_find(&g->bonds, &b.bond, &link))
        return;
    link.open->complete = true;
    bond_untie(&g->bonds, &g->ledger, link.open, BOND_BATCH);
    if (!link.open->children) {
        link.open->op.outcome = link.open->worst;
        end_op(g, link.open);
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

/* A message that joins nothing, and is over at once. */
static void stand_alone(struct grouping *g, const struct letter *l, enum operation_kind kind,
                        enum operation_role role, struct ledger_link link, unsigned flags)
{
    struct ledger_op *op;

    if (!link.number)
        link_to_batch(g, l, &link);
    op = begin(g, l, kind, &link);
    op->op.flags |= flags;
    if (mcp_is_response(&l->m)) {
        sequel_judge(&op->op, &l->m);
        op->op.answer_bytes = json_raw(l->m.root).len;
    }
    if (kind == OPERATION_NOISE)
        op->op.outcome = OUTCOME_MALFORMED;
    ledger_add(&g->ledger, op, role, l->dir, false);
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

/* What the server was working on when it sent this. */
static bool find_reason(struct grouping *g, const struct letter *l, struct ledger_link *link)
{
    struct json_val related = mcp_meta(l->m.params, MCP_META_RELATED_TASK);
    struct bond task = bond_of_task(l, json_get(related, STR("taskId")));
    struct ledger_op *op = NULL;
    bool inferred = false;

    if (l->dir != TO_CLIENT)
        return false;
    if (task.parts[1].len && bond_find(&g->bonds, &task, link) && link->open) {
        link->kind = LINK_ASKED;
        return true;
    }
    if (scope_in_exchange(&l->place))
        op = sole_in_exchange(g, l);
    if (!op) {
        op = sole_in_flight(g, l);
        inferred = true;
    }
    if (op)
        *link = ledger_link_to(op, LINK_ASKED, inferred);
    return op != NULL;
}

/* A request that came once more on a resumed stream is none. */
static bool came_again(struct grouping *g, const struct letter *l)
{
    struct bond bond = bond_of_id(l, BOND_ID, l->dir, l->m.id);
    struct pairing_request *q;
    struct ledger_link link;
    bool answered;

    if (!(l->record->has & HAS_REDELIVERS))
        return false;
    q = pairing_peek(&g->pairs, l->record, l->dir, l->m.id, NULL);
    if (q) {
        ledger_add(&g->ledger, op_of(q), ROLE_AGAIN, l->dir, false);
        return true;
    }
    if (!bond_recall(&g->bonds, &bond, &link, &answered))
        return false;
    stand_alone(g, l, OPERATION_REQUEST, ROLE_AGAIN, stray(link), OP_AFTER_END);
    return true;
}

static bool is_modern(const struct letter *l)
{
    struct json_val version = mcp_meta(l->m.params, MCP_META_VERSION);

    return mcp_version_era(mcp_version_parse(json_text(version, l->scratch))) == MCP_ERA_MODERN;
}

static void on_request(struct grouping *g, const struct letter *l)
{
    struct ledger_link link = { .number = 0 };
    struct bond token = bond_of_id(l, BOND_TOKEN, l->dir, mcp_progress_token(l->m.params));
    struct ledger_op *op;

    if (came_again(g, l))
        return;
    if (!sequel_find(&g->sequel, l, &link) && !link_to_batch(g, l, &link))
        find_reason(g, l, &link);
    op = begin(g, l, OPERATION_REQUEST, &link);
    op->op.outcome = OUTCOME_PENDING;
    op->op.request_bytes = json_raw(l->m.root).len;
    op->op.flags |= is_modern(l) ? OP_MODERN : 0;
    if (!pairing_ask(&g->pairs, l->record, &l->m, (uint64_t)(uintptr_t)op))
        op->op.flags |= OP_ID_REUSED;
    op->asked = g->pairs.newest;
    if (stays_open(l->m.method))
        pairing_park(op->asked);
    if (token.parts[0].len)
        bond_tie(&g->bonds, &g->ledger, &token, op);
    sequel_begin(&g->sequel, op, l);
    if (l->dir == TO_CLIENT)
        ledger_wait(&g->ledger, op);
    ledger_add(&g->ledger, op, ROLE_REQUEST, l->dir, false);
}

/* The request that an answer belongs to, which waits no longer. An error that cannot
 * name it, because its request could not be read, still came in its exchange. */
static struct ledger_op *take_request(struct grouping *g, const struct letter *l)
{
    const struct pairing_request *q = pairing_answer(&g->pairs, l->record, &l->m);
    struct pairing_request *nameless = NULL;
    struct ledger_op *op;

    if (!q && l->m.kind == MCP_ERROR && l->dir == TO_CLIENT && scope_in_exchange(&l->place) &&
        !mcp_id_key(l->m.id, l->scratch).len) {
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
    if (l->dir == TO_SERVER && !stays)
        ledger_go_on(&g->ledger, op);
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
    ledger_add(&g->ledger, link.open, ROLE_PROGRESS, l->dir, link.inferred);
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
        if (q && !stays_open(q->method))
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
    ledger_add(&g->ledger, op_of(q), ROLE_CANCEL, l->dir, !sure);
}

static bool join_subscription(struct grouping *g, const struct letter *l, struct json_val id)
{
    struct pairing_request *q = pairing_peek(&g->pairs, l->record, TO_SERVER, id, NULL);

    if (!q || !stays_open(q->method))
        return false;
    ledger_add(&g->ledger, op_of(q), ROLE_EVENT, l->dir, false);
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
    ledger_add(&g->ledger, link.open, ROLE_STATUS, l->dir, link.inferred);
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
        ledger_add(&g->ledger, link.open, role, l->dir, link.inferred);
    else
        stand_alone(g, l, OPERATION_NOTIFICATION, role, none, 0);
}

static void on_notification(struct grouping *g, const struct letter *l)
{
    struct json_val tag = mcp_meta(l->m.params, MCP_META_SUBSCRIPTION);
    bool tagged = l->dir == TO_CLIENT && json_exists(tag), status = is_status(l->m.method);
    bool placed;

    if (str_eq(l->m.method, STR("notifications/progress"))) {
        on_progress(g, l);
    } else if (str_eq(l->m.method, STR("notifications/cancelled"))) {
        on_cancel(g, l);
    } else if (tagged || status) {
        struct bond bond = bond_of_id(l, BOND_LISTEN, TO_SERVER, tag);

        placed = tagged && join_subscription(g, l, tag);
        placed = (status && join_task(g, l)) || placed;
        if (!placed)
            miss(g, l, status ? ROLE_STATUS : ROLE_EVENT, &bond);
    } else {
        on_notice(g, l);
    }
}

static void on_message(struct grouping *g, const struct record *r)
{
    struct letter l = { .record = r, .dir = r->message.dir, .scratch = &g->scratch };

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
    see_end_of_batch(g, &l);
}

/* Bytes that came where an answer should have come are the operation's; all else, as what
 * a server prints to its standard output, stands alone. */
static void on_noise(struct grouping *g, const struct record *r)
{
    struct letter l = { .record = r, .dir = r->bytes.from_to, .scratch = &g->scratch };
    struct ledger_link none = { .number = 0 };
    struct ledger_start start = { .kind = OPERATION_NOISE, .dir = l.dir, .link = none };
    struct ledger_op *op = NULL;

    l.place = scope_of(&g->pairs.scope, r);
    if (l.dir == TO_CLIENT && scope_in_exchange(&l.place))
        op = sole_in_exchange(g, &l);
    if (op) {
        op->op.flags |= OP_NOISY;
        if (op->op.outcome == OUTCOME_PENDING)
            op->op.outcome = OUTCOME_MALFORMED;
        ledger_add(&g->ledger, op, ROLE_NOISE, l.dir, false);
        return;
    }
    op = ledger_begin(&g->ledger, &start);
    op->op.outcome = OUTCOME_MALFORMED;
    ledger_add(&g->ledger, op, ROLE_NOISE, l.dir, false);
    end_op(g, op);
}

/* A request that was not answered in its exchange. Before 2026-07-28 the stream may be
 * resumed; since then closing it is how a client gives up. */
static void cut_off(struct grouping *g, struct ledger_op *op, struct str by)
{
    bool modern = op->op.flags & OP_MODERN;

    op->op.flags |= OP_CUT;
    ledger_hear(&g->ledger, op);
    if (modern && op->op.outcome == OUTCOME_PENDING && str_eq(by, STR("client"))) {
        op->op.outcome = OUTCOME_CANCELLED;
        op->op.flags |= OP_CANCELLED;
    }
    if (modern || op->op.outcome == OUTCOME_HTTP_ERROR || op->op.outcome == OUTCOME_MALFORMED)
        end_op(g, op);
}

/* What was only accepted was never to be answered there. */
static void on_end_of_exchange(struct grouping *g, const struct record *r)
{
    struct scope_place place = scope_of(&g->pairs.scope, r);
    struct pairing_request *q, *next;

    if (!scope_in_exchange(&place))
        return;
    for (q = pairing_first(&g->pairs, place.at[0], TO_SERVER); q; q = next) {
        next = pairing_next(q, place.at[0]);
        if (op_of(q)->op.status != ACCEPTED)
            cut_off(g, op_of(q), r->http.by);
    }
}

/* Unless an answer comes with it, the status is all there is. */
static void on_response(struct grouping *g, const struct record *r)
{
    struct scope_place place = scope_of(&g->pairs.scope, r);
    struct pairing_request *q;

    if (!scope_in_exchange(&place) || !(r->has & HAS_STATUS))
        return;
    for (q = pairing_first(&g->pairs, place.at[0], TO_SERVER); q;
         q = pairing_next(q, place.at[0])) {
        struct operation *op = &op_of(q)->op;

        op->status = r->http.status;
        if (op->status >= FAILED && op->outcome == OUTCOME_PENDING)
            op->outcome = OUTCOME_HTTP_ERROR;
    }
}

static void on_header(struct grouping *g)
{
    end_all(g);
    bond_release(&g->bonds);
    bond_init(&g->bonds);
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
