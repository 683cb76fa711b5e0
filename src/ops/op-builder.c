#include "ops/op-builder.h"

#include "mcp/id.h"
#include "mcp/meta.h"
#include "mcp/method.h"
#include "trace/limits.h"
#include "trace/message-owner.h"

enum { ACCEPTED = 202 }; /* HTTP: the response comes on another stream */

static bool op_builder_put(struct sink *self, const struct record *r, struct err *e);
static void on_request_evicted(struct pairing *p, struct pairing_request *q);

void op_builder_init(struct op_builder *g, struct operation_sink *to)
{
    *g = (struct op_builder){ .sink = { op_builder_put } };
    pairing_init(&g->pairs);
    g->pairs.on_evict = on_request_evicted;
    open_ops_init(&g->open_ops, to);
    op_keys_init(&g->keys);
    recent_keys_init(&g->exchange_status, LIMIT_RECENT_KEYS);
    op_continue_init(&g->op_continue, &g->keys, &g->open_ops);
    batch_init(&g->batches, &g->keys, &g->open_ops);
}

void op_builder_release(struct op_builder *g)
{
    for (struct open_op *op = g->open_ops.lowest; op; op = op->higher)
        op_keys_remove_all(&g->keys, &g->open_ops, op);
    open_ops_release(&g->open_ops);
    pairing_release(&g->pairs);
    op_keys_release(&g->keys);
    recent_keys_release(&g->exchange_status);
    op_continue_release(&g->op_continue);
    batch_release(&g->batches);
    arena_release(&g->scratch);
}

static enum record_dir opposite(enum record_dir dir)
{
    return dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;
}

static struct open_op *op_of(const struct pairing_request *q)
{
    return q ? (struct open_op *)(uintptr_t)q->tag : NULL;
}

/* Remembers the id of a request that is no longer open. */
static void remember_id(struct op_builder *g, const struct pairing_request *q,
                        struct open_op *op, bool answered)
{
    struct op_key id = {
        .kind = OP_KEY_ID, .dir = q->dir, .scopes = &op->scopes, .parts = { q->id }
    };

    op_keys_remember(&g->keys, &id, op, answered);
    id.kind = OP_KEY_SUBSCRIPTION;
    if (op->is_subscription)
        op_keys_remember(&g->keys, &id, op, answered);
    op->request = NULL;
}

/* Recursion is a few levels deep: operations have few generations. */
static void end_op(struct op_builder *g, struct open_op *op)
{
    struct open_op *head = op_continue_end(op);
    struct open_op *batch = batch_add_outcome(op);

    if (op->request) {
        struct pairing_request *q = op->request;
        remember_id(g, q, op, false);
        pairing_remove(&g->pairs, q);
    }
    op_keys_remove_all(&g->keys, &g->open_ops, op);
    open_ops_end(&g->open_ops, op);
    if (head)
        end_op(g, head);
    if (batch && batch_close_if_over(batch))
        end_op(g, batch);
}

static void evict_op(struct op_builder *g, struct open_op *op)
{
    if (op->op.outcome == OUTCOME_PENDING) {
        op->op.flags |= OP_EVICTED;
        g->open_ops.evicted++;
    }
    end_op(g, op);
}

static void on_request_evicted(struct pairing *p, struct pairing_request *q)
{
    struct op_builder *g =
        (struct op_builder *)((char *)p - offsetof(struct op_builder, pairs));
    struct open_op *op = op_of(q);

    remember_id(g, q, op, false);
    evict_op(g, op);
}

static void end_all(struct op_builder *g)
{
    struct open_op *op;

    while ((op = g->open_ops.lowest)) {
        if (op->op.kind == OPERATION_BATCH)
            batch_set_outcome(op);
        end_op(g, op);
    }
}

static struct open_op *begin_op(struct op_builder *g, const struct op_message *msg,
                                enum operation_kind kind, const struct op_link *link)
{
    struct op_start start = {
        .kind = kind,
        .dir = msg->dir,
        .id = json_raw(msg->m.id),
        .method = msg->m.method,
        .subject = msg->subject,
        .link = *link,
    };
    struct open_op *op = open_ops_begin(&g->open_ops, &start);

    op->scopes = msg->scopes;
    return op;
}

static void add_message(struct op_builder *g, const struct op_message *msg, struct open_op *op,
                        enum operation_role role, bool inferred)
{
    bool again = msg->record->has & HAS_REDELIVERS;

    open_ops_add_message(&g->open_ops, op, again ? ROLE_REDELIVERED : role, msg->dir, inferred);
}

/* Emits an operation of one message, which ends at once. */
static void emit_unlinked(struct op_builder *g, const struct op_message *msg,
                          enum operation_kind kind, enum operation_role role,
                          struct op_link link, unsigned flags)
{
    struct open_op *op;

    if (!link.number)
        batch_link_message(&g->batches, msg, &link);
    op = begin_op(g, msg, kind, &link);
    op->op.flags |= flags;
    if (mcp_is_response(&msg->m)) {
        op_continue_set_outcome(&op->op, &msg->m);
        op->op.response_bytes = json_raw(msg->m.root).len;
    }
    if (kind == OPERATION_NON_MESSAGE)
        op->op.outcome = OUTCOME_MALFORMED;
    add_message(g, msg, op, role, false);
    end_op(g, op);
}

/* A link to an operation that has ended; `link` has its number. */
static struct op_link late_link(struct op_link link)
{
    link.kind = LINK_LATE;
    link.open = NULL;
    return link;
}

static struct op_key id_key(const struct op_message *msg, enum op_key_kind kind,
                            enum record_dir dir, struct json_val id)
{
    return (struct op_key){ .kind = kind,
                            .dir = dir,
                            .scopes = &msg->scopes,
                            .parts = { mcp_id_key(id, msg->scratch) } };
}

static struct op_key task_key(const struct op_message *msg, struct str id)
{
    return (struct op_key){ .kind = OP_KEY_TASK,
                            .dir = opposite(msg->dir),
                            .scopes = &msg->scopes,
                            .parts = { STR_NONE, id } };
}

/* Emits a notification about a request that has ended, or was never seen. */
static void emit_orphan(struct op_builder *g, const struct op_message *msg,
                        enum operation_role role, const struct op_key *key)
{
    struct op_link link = { .number = 0 };
    bool answered;

    if (key->parts[0].len && op_keys_find_ended(&g->keys, key, &link, &answered))
        emit_unlinked(g, msg, OPERATION_NOTIFICATION, role, late_link(link), OP_AFTER_END);
    else
        emit_unlinked(g, msg, OPERATION_NOTIFICATION, role, link, OP_ORPHAN);
}

/* The only open request of the exchange; its batch if they came as one. */
static struct open_op *only_in_exchange(struct op_builder *g, const struct op_message *msg)
{
    struct scope_ref exchange = msg->scopes.levels[0];
    struct pairing_request *q = pairing_first(&g->pairs, exchange, TO_SERVER);
    struct open_op *op = op_of(q);

    if (!q || !pairing_next(q, exchange))
        return op;
    return op->op.link == LINK_BATCH ? op->parent : NULL;
}

static struct str related_task(const struct op_message *msg)
{
    struct json_val related = json_get(msg->m.meta, MCP_META_RELATED_TASK);

    return json_text(json_get(related, STR("taskId")), msg->scratch);
}

/* Finds the open operation that became the task named in the message. */
static bool find_related_task(struct op_builder *g, const struct op_message *msg,
                              struct op_link *link)
{
    struct op_key task = task_key(msg, related_task(msg));

    return task.parts[1].len && op_keys_find(&g->keys, &task, link) && link->open;
}

/* Finds the request that the server was working on when it sent the message. If it may be any
 * of a batch, it belongs to the batch. */
static bool find_parent_request(struct op_builder *g, const struct op_message *msg,
                                struct op_link *link)
{
    struct message_owner owner;
    struct open_op *op;
    struct op_link task;

    if (msg->dir != TO_CLIENT)
        return false;
    if (find_related_task(g, msg, &task)) {
        *link = open_ops_link_to(task.open, LINK_SERVER_REQUEST, task.inferred);
        return true;
    }
    owner = message_owner_find(&g->pairs, &msg->scopes, msg->m.kind == MCP_REQUEST,
                               related_task(msg));
    op = op_of(owner.request);
    if (owner.kind == OWNER_AMBIGUOUS && owner.scope.kind == SCOPE_EXCHANGE &&
        op->op.link == LINK_BATCH && op->parent)
        *link = open_ops_link_to(op->parent, LINK_SERVER_REQUEST, false);
    else if (owner.kind >= OWNER_INFERRED)
        *link = open_ops_link_to(op, LINK_SERVER_REQUEST, owner.kind == OWNER_INFERRED);
    else
        return false;
    return true;
}

/* Handles a request that was redelivered on a resumed stream: no new operation. */
static bool handle_redelivered(struct op_builder *g, const struct op_message *msg)
{
    struct pairing_request *q;
    struct op_link link;
    struct op_key key;
    bool answered;

    if (!(msg->record->has & HAS_REDELIVERS))
        return false;
    key = id_key(msg, OP_KEY_ID, msg->dir, msg->m.id);
    q = pairing_find(&g->pairs, msg->record, msg->dir, msg->m.id, NULL);
    if (q) {
        add_message(g, msg, op_of(q), ROLE_REDELIVERED, false);
        return true;
    }
    if (!op_keys_find_ended(&g->keys, &key, &link, &answered))
        return false;
    emit_unlinked(g, msg, OPERATION_REQUEST, ROLE_REDELIVERED, late_link(link), OP_AFTER_END);
    return true;
}

static bool is_stateless(const struct op_message *msg)
{
    struct json_val version = json_get(msg->m.meta, MCP_META_VERSION);

    return mcp_version_protocol(mcp_version_parse(json_text(version, msg->scratch))) ==
           MCP_PROTOCOL_STATELESS;
}

static bool is_subscription_method(struct str method)
{
    const struct mcp_method *known = mcp_method_find(method);

    return known && known->class == MCP_CLASS_LISTEN;
}

/* The status of an exchange that needs no response; 0: it needs one. */
static uint64_t exchange_status_of(const struct op_builder *g, const struct record *r)
{
    const struct recent_keys_entry *found =
        r->has & HAS_EXCHANGE
            ? recent_keys_find(&g->exchange_status, map_number_key(&r->exchange))
            : NULL;

    return found ? found->value : 0;
}

/* Sets an outcome that a later response overrides. */
static void set_failed(struct operation *op, enum operation_outcome outcome)
{
    if (op->outcome == OUTCOME_PENDING)
        op->outcome = outcome;
}

static void on_request(struct op_builder *g, const struct op_message *msg)
{
    struct op_link link = { .number = 0 };
    struct op_key token = id_key(msg, OP_KEY_TOKEN, msg->dir, mcp_progress_token(msg->m.meta));
    struct open_op *op;

    if (handle_redelivered(g, msg))
        return;
    if (!op_continue_find(&g->op_continue, msg, &link) &&
        !batch_link_message(&g->batches, msg, &link))
        find_parent_request(g, msg, &link);
    op = begin_op(g, msg, OPERATION_REQUEST, &link);
    op->op.outcome = OUTCOME_PENDING;
    op->op.request_bytes = json_raw(msg->m.root).len;
    op->op.flags |= is_stateless(msg) ? OP_STATELESS : 0;
    if (!pairing_add_request(&g->pairs, msg->record, &msg->m, (uint64_t)(uintptr_t)op))
        op->op.flags |= OP_ID_REUSED;
    op->request = g->pairs.newest;
    op->request->stateless = op->op.flags & OP_STATELESS;
    op->op.status = exchange_status_of(
        g, msg->record); /* if the request was recorded after the HTTP response */
    op->request->accepted = op->op.status == ACCEPTED;
    if (op->op.status >= OPERATION_REJECTED_STATUS)
        set_failed(&op->op, OUTCOME_HTTP_ERROR);
    op->is_subscription = is_subscription_method(msg->m.method);
    if (op->is_subscription)
        pairing_detach(op->request);
    if (token.parts[0].len)
        op_keys_add(&g->keys, &g->open_ops, &token, op);
    op_continue_begin(&g->op_continue, op, msg);
    if (msg->dir == TO_CLIENT)
        open_ops_begin_wait(&g->open_ops, op);
    open_ops_add_message(&g->open_ops, op, ROLE_REQUEST, msg->dir, false);
}

/* An error without a request id. The Python SDK sends the id "server-error". */
static bool is_error_without_id(const struct op_message *msg)
{
    return msg->m.kind == MCP_ERROR && msg->dir == TO_CLIENT &&
           scope_in_exchange(&msg->scopes) &&
           (!mcp_id_key(msg->m.id, msg->scratch).len ||
            json_is(msg->m.id, STR("server-error")));
}

/* Finds the request of a response and removes it from the open ones. An error without id
 * belongs to the only request of its exchange. */
static struct open_op *match_request(struct op_builder *g, const struct op_message *msg)
{
    const struct pairing_request *q = pairing_match_response(&g->pairs, msg->record, &msg->m);
    struct pairing_request *without_id = NULL;
    struct open_op *op;

    if (!q && is_error_without_id(msg)) {
        without_id = pairing_first(&g->pairs, msg->scopes.levels[0], TO_SERVER);
        if (without_id && pairing_next(without_id, msg->scopes.levels[0]))
            without_id = NULL;
        q = without_id;
    }
    op = op_of(q);
    if (op)
        remember_id(g, q, op, true);
    if (without_id)
        pairing_remove(&g->pairs, without_id);
    return op;
}

static void emit_unmatched_response(struct op_builder *g, const struct op_message *msg)
{
    struct op_key key = id_key(msg, OP_KEY_ID, opposite(msg->dir), msg->m.id);
    struct op_link link = { .number = 0 };
    unsigned flags = OP_ORPHAN;
    bool answered;

    if (key.parts[0].len && op_keys_find_ended(&g->keys, &key, &link, &answered)) {
        flags = OP_AFTER_END;
        if (answered && !(msg->record->has & HAS_REDELIVERS))
            flags |= OP_DUPLICATE;
        link = late_link(link);
    } else if (is_error_without_id(msg) &&
               exchange_status_of(g, msg->record) >= OPERATION_REJECTED_STATUS) {
        flags = OP_HTTP_REJECTED;
    }
    emit_unlinked(g, msg, OPERATION_RESPONSE, ROLE_RESPONSE, link, flags);
}

/* Files of other tools have no `us`, but may have latencies. */
static int64_t response_time(const struct op_builder *g, const struct open_op *op,
                             const struct record *r)
{
    int64_t sent_us = op->op.first_us;

    if (!(r->has & HAS_US) && r->has & HAS_LATENCY)
        return r->message.latency_ms < INT64_MAX / 4000 ? (int64_t)r->message.latency_ms * 1000
                                                        : INT64_MAX / 4;
    if (!g->open_ops.now_known || sent_us < 0)
        return -1;
    return g->open_ops.now_us > sent_us ? g->open_ops.now_us - sent_us : 0;
}

static void on_rpc_response(struct op_builder *g, const struct op_message *msg)
{
    struct open_op *op = match_request(g, msg);
    bool stays_open;

    if (!op) {
        emit_unmatched_response(g, msg);
        return;
    }
    op->op.response_us = response_time(g, op, msg->record);
    op->op.response_bytes = json_raw(msg->m.root).len;
    if (!(op->op.has & HAS_SESSION) && msg->record->has & HAS_SESSION) {
        op->op.has |= HAS_SESSION; /* the response to initialize has it first */
        op->op.session = msg->record->session;
    }
    stays_open = op_continue_response(&g->op_continue, op, msg);
    open_ops_add_message(&g->open_ops, op, ROLE_RESPONSE, msg->dir, false);
    if (!stays_open)
        end_op(g, op);
}

static void on_progress(struct op_builder *g, const struct op_message *msg)
{
    struct json_val params = msg->m.params;
    struct op_key key =
        id_key(msg, OP_KEY_TOKEN, opposite(msg->dir), json_get(params, STR("progressToken")));
    struct op_link link;

    if (!key.parts[0].len || !op_keys_find(&g->keys, &key, &link) || !link.open) {
        emit_orphan(g, msg, ROLE_PROGRESS, &key);
        return;
    }
    if (!(msg->record->has & HAS_REDELIVERS))
        open_ops_set_progress(&g->open_ops, link.open, json_get(params, STR("progress")),
                              json_get(params, STR("total")));
    add_message(g, msg, link.open, ROLE_PROGRESS, link.inferred);
}

/* The requester cancels; a server may also end a subscription this way. A request that was not
 * identified for sure is not cancelled. */
static void on_cancelled(struct op_builder *g, const struct op_message *msg)
{
    struct json_val id = json_get(msg->m.params, STR("requestId"));
    struct op_key key = id_key(msg, OP_KEY_ID, msg->dir, id);
    struct pairing_request *q;
    bool sure;

    q = pairing_find(&g->pairs, msg->record, msg->dir, id, &sure);
    if (!q && msg->dir == TO_CLIENT) {
        q = pairing_find(&g->pairs, msg->record, TO_SERVER, id, &sure);
        if (q && !op_of(q)->is_subscription)
            q = NULL;
    }
    if (!q) {
        emit_orphan(g, msg, ROLE_CANCEL, &key);
        return;
    }
    if (sure) {
        pairing_detach(q);
        op_continue_cancel(&g->op_continue, op_of(q));
    }
    add_message(g, msg, op_of(q), ROLE_CANCEL, !sure);
}

static bool add_to_subscription(struct op_builder *g, const struct op_message *msg,
                                struct json_val id)
{
    struct pairing_request *q = pairing_find(&g->pairs, msg->record, TO_SERVER, id, NULL);

    if (!q || !op_of(q)->is_subscription)
        return false;
    add_message(g, msg, op_of(q), ROLE_EVENT, false);
    return true;
}

/* A task status, on a subscription or without one. */
static bool add_to_task(struct op_builder *g, const struct op_message *msg)
{
    struct str task = json_text(json_get(msg->m.params, STR("taskId")), msg->scratch);
    struct op_key key = task_key(msg, task);
    struct op_link link;

    if (!key.parts[1].len || !op_keys_find(&g->keys, &key, &link))
        return false;
    if (!link.open) {
        emit_unlinked(g, msg, OPERATION_NOTIFICATION, ROLE_TASK_STATUS, late_link(link),
                      OP_AFTER_END);
        return true;
    }
    op_continue_task_status(&g->op_continue, link.open, msg->m.params);
    add_message(g, msg, link.open, ROLE_TASK_STATUS, link.inferred);
    if (link.open->outcome_decided)
        end_op(g, link.open);
    return true;
}

static bool is_task_status(struct str method)
{
    return str_eq(method, STR("notifications/tasks")) ||
           str_eq(method, STR("notifications/tasks/status"));
}

/* Logs may have an inferred parent; other notifications only that of their exchange. */
static void on_other_notification(struct op_builder *g, const struct op_message *msg)
{
    bool log = str_eq(msg->m.method, STR("notifications/message"));
    enum operation_role role = log ? ROLE_LOG : ROLE_NOTIFICATION;
    struct op_link none = { .number = 0 }, link = none;

    if (find_parent_request(g, msg, &link) && (log || !link.inferred))
        add_message(g, msg, link.open, role, link.inferred);
    else
        emit_unlinked(g, msg, OPERATION_NOTIFICATION, role, none, 0);
}

/* An event of a subscription, a task status, or both. */
static bool on_subscription_or_task(struct op_builder *g, const struct op_message *msg)
{
    struct json_val tag = json_get(msg->m.meta, MCP_META_SUBSCRIPTION);
    bool tagged = msg->dir == TO_CLIENT && json_exists(tag),
         status = is_task_status(msg->m.method);
    struct op_key key;
    bool added;

    if (!tagged && !status)
        return false;
    added = tagged && add_to_subscription(g, msg, tag);
    added = (status && add_to_task(g, msg)) || added;
    if (!added) {
        key = id_key(msg, OP_KEY_SUBSCRIPTION, TO_SERVER, tag);
        emit_orphan(g, msg, status ? ROLE_TASK_STATUS : ROLE_EVENT, &key);
    }
    return true;
}

static void on_notification(struct op_builder *g, const struct op_message *msg)
{
    if (str_eq(msg->m.method, STR("notifications/progress")))
        on_progress(g, msg);
    else if (str_eq(msg->m.method, STR("notifications/cancelled")))
        on_cancelled(g, msg);
    else if (!on_subscription_or_task(g, msg))
        on_other_notification(g, msg);
}

static void on_message(struct op_builder *g, const struct record *r)
{
    struct op_message msg = { .record = r, .dir = r->message.dir, .scratch = &g->scratch };
    struct open_op *batch;

    msg.m = mcp_classify(r->message.msg, &g->scratch);
    msg.scopes = pairing_scopes(&g->pairs, r);
    msg.subject = json_text(mcp_subject(msg.m.method, msg.m.params), &g->scratch);
    switch (msg.m.kind) {
    case MCP_REQUEST:
        on_request(g, &msg);
        break;
    case MCP_NOTIFICATION:
        on_notification(g, &msg);
        break;
    case MCP_RESULT:
    case MCP_ERROR:
        on_rpc_response(g, &msg);
        break;
    case MCP_OTHER:
    case MCP_BATCH:
        emit_unlinked(g, &msg, OPERATION_NON_MESSAGE, ROLE_NON_MESSAGE,
                      (struct op_link){ .number = 0 }, 0);
        break;
    }
    batch = batch_note_message(&g->batches, &msg);
    if (batch)
        end_op(g, batch);
}

/* Marks all requests of an exchange. If one is marked, those after it are, too: they came with
 * it. */
static void mark_malformed(struct op_builder *g, struct scope_ref exchange)
{
    struct pairing_request *q = pairing_first(&g->pairs, exchange, TO_SERVER);

    for (; q && !(op_of(q)->op.flags & OP_NON_MESSAGE); q = pairing_next(q, exchange)) {
        op_of(q)->op.flags |= OP_NON_MESSAGE;
        set_failed(&op_of(q)->op, OUTCOME_MALFORMED);
    }
}

static void set_status(struct op_builder *g, struct scope_ref exchange, uint64_t status)
{
    struct pairing_request *q = pairing_first(&g->pairs, exchange, TO_SERVER);

    for (; q && !op_of(q)->op.status; q = pairing_next(q, exchange)) {
        op_of(q)->op.status = status;
        q->accepted = status == ACCEPTED;
        if (status >= OPERATION_REJECTED_STATUS)
            set_failed(&op_of(q)->op, OUTCOME_HTTP_ERROR);
    }
}

bool op_builder_is_unexpected_raw(const struct op_builder *g, const struct record *r)
{
    if ((!r->bytes.bytes.len && !(r->has & HAS_COUNT)) || r->bytes.by.at)
        return false;
    return r->bytes.dir != TO_CLIENT || r->has & HAS_STREAM || !exchange_status_of(g, r);
}

/* Bytes in place of a response belong to the operation; any other, such as text that a server
 * prints to standard output, are an operation of their own. */
static void on_raw(struct op_builder *g, const struct record *r)
{
    struct op_message msg = { .record = r, .dir = r->bytes.dir, .scratch = &g->scratch };
    struct op_start start = { .kind = OPERATION_NON_MESSAGE, .dir = msg.dir };
    struct open_op *op = NULL;
    bool noise = op_builder_is_unexpected_raw(g, r);

    if (r->bytes.by.at)
        return;
    if (!noise && exchange_status_of(g, r) == ACCEPTED)
        return;
    msg.scopes = pairing_scopes(&g->pairs, r);
    if (msg.dir == TO_CLIENT && scope_in_exchange(&msg.scopes))
        op = only_in_exchange(g, &msg);
    if (op && noise)
        mark_malformed(g, msg.scopes.levels[0]);
    if (op)
        open_ops_add_message(&g->open_ops, op, ROLE_NON_MESSAGE, msg.dir, false);
    if (op || !noise)
        return;
    op = open_ops_begin(&g->open_ops, &start);
    op->op.outcome = OUTCOME_MALFORMED;
    open_ops_add_message(&g->open_ops, op, ROLE_NON_MESSAGE, msg.dir, false);
    end_op(g, op);
}

static void on_http_response(struct op_builder *g, const struct record *r)
{
    struct scope_chain scopes = pairing_scopes(&g->pairs, r);

    if (r->has & HAS_EXCHANGE &&
        (r->http.status == ACCEPTED || r->http.status >= OPERATION_REJECTED_STATUS))
        recent_keys_add(&g->exchange_status, map_number_key(&r->exchange), r->http.status, 0);
    if (scope_in_exchange(&scopes) && r->has & HAS_STATUS)
        set_status(g, scopes.levels[0], r->http.status);
}

/* Handles a request without a response in its exchange. Up to 2025-11-25 the stream may be
 * resumed; in 2026-07-28 closing it cancels the request. */
static void end_unanswered(struct op_builder *g, struct pairing_request *q,
                           const struct record_http *end)
{
    struct open_op *op = op_of(q);
    bool stateless = op->op.flags & OP_STATELESS;

    op->op.flags |= OP_ABORTED;
    pairing_detach(q);
    open_ops_update_time(&g->open_ops, op);
    if (end->why.len) {
        open_ops_set_why(&g->open_ops, op, end->why);
        if (op->op.status && (stateless || end->clean))
            set_failed(&op->op, OUTCOME_HTTP_ERROR);
    }
    if (stateless && op->op.outcome == OUTCOME_PENDING && str_eq(end->by, STR("client"))) {
        op->op.outcome = OUTCOME_CANCELLED;
        op->op.flags |= OP_CANCELLED;
    }
    if (stateless || op->server_exited || op->op.outcome == OUTCOME_HTTP_ERROR ||
        op->op.outcome == OUTCOME_MALFORMED)
        end_op(g, op);
}

/* A request that got 202 expects no response here, unless the recorder gave a reason. Requests
 * aborted before are detached, and so come last. */
static void on_http_end(struct op_builder *g, const struct record *r)
{
    struct scope_chain scopes = pairing_scopes(&g->pairs, r);
    struct pairing_request *q, *next;

    if (exchange_status_of(g, r))
        recent_keys_add(&g->exchange_status, map_number_key(&r->exchange), 0,
                        0); /* its number may be used again */
    if (!scope_in_exchange(&scopes))
        return;
    for (q = pairing_first(&g->pairs, scopes.levels[0], TO_SERVER); q; q = next) {
        const struct operation *op = &op_of(q)->op;

        if ((op->status == ACCEPTED && !r->http.why.len) || op->flags & OP_ABORTED)
            break;
        next = pairing_next(q, scopes.levels[0]);
        end_unanswered(g, q, &r->http);
    }
}

/* Whether an operation expects its response from the process of a record. */
static bool is_served_by(const struct operation *op, const struct record *r)
{
    if (op->dir != TO_SERVER)
        return false;
    if (r->has & HAS_SESSION)
        return op->has & HAS_SESSION && op->session == r->session;
    return r->has & op->has & HAS_CONN && op->conn == r->conn && !(op->has & HAS_EXCHANGE);
}

/* The server's process has ended: requests without a response have failed. A subscription stays
 * open by design, and so is only pending. */
static void on_server_exit(struct op_builder *g, const struct record *r)
{
    for (struct open_op *op = g->open_ops.lowest; op; op = op->higher) {
        if (op->op.outcome != OUTCOME_PENDING || op->is_subscription ||
            !is_served_by(&op->op, r))
            continue;
        op->op.outcome = OUTCOME_SERVER_EXITED;
        op->op.has |= r->has & (HAS_EXIT_CODE | HAS_SIGNAL);
        op->op.exit_code = r->proc.exit_code;
        op->op.signal = r->proc.signal;
        if (op->op.first_us >= 0)
            open_ops_update_time(&g->open_ops, op);
    }
}

/* A new process does not answer requests to the one before. Over HTTP the exchange ends next,
 * with the reason, and cannot be resumed. */
static void on_process(struct op_builder *g, const struct record *r)
{
    struct scope_ref conn = { SCOPE_CONN, r->conn }, session = { SCOPE_SESSION, r->session };
    struct pairing_request *q;

    if (str_eq(r->proc.event, STR("exit")))
        on_server_exit(g, r);
    if (r->has & HAS_SESSION && str_eq(r->proc.event, STR("exit"))) {
        for (q = pairing_first(&g->pairs, session, TO_SERVER); q; q = pairing_next(q, session))
            op_of(q)->server_exited = true;
    } else if (r->has & HAS_CONN && str_eq(r->proc.event, STR("start"))) {
        while ((q = pairing_first(&g->pairs, conn, TO_SERVER)) ||
               (q = pairing_first(&g->pairs, conn, TO_CLIENT)))
            end_op(g, op_of(q));
    }
}

static void on_header(struct op_builder *g)
{
    end_all(g);
    op_keys_release(&g->keys);
    op_keys_init(&g->keys);
    recent_keys_release(&g->exchange_status);
    recent_keys_init(&g->exchange_status, LIMIT_RECENT_KEYS);
    pairing_reset_scopes(&g->pairs);
}

static void handle_record(struct op_builder *g, const struct record *r)
{
    struct open_op *excess;

    arena_clear(&g->scratch);
    if (r->kind == RECORD_HEADER)
        on_header(g);
    open_ops_set_record(&g->open_ops, r);
    pairing_track(&g->pairs, r);
    if (r->kind == RECORD_MESSAGE)
        on_message(g, r);
    else if (r->kind == RECORD_RAW)
        on_raw(g, r);
    else if (r->kind == RECORD_HTTP_RESPONSE)
        on_http_response(g, r);
    else if (r->kind == RECORD_HTTP_END)
        on_http_end(g, r);
    else if (r->kind == RECORD_PROC)
        on_process(g, r);
    while ((excess = open_ops_find_excess(&g->open_ops)))
        evict_op(g, excess);
}

static bool report_failure(const struct op_builder *g, struct err *e)
{
    if (g->open_ops.failed)
        *e = g->open_ops.err;
    return !g->open_ops.failed;
}

static bool op_builder_put(struct sink *self, const struct record *r, struct err *e)
{
    struct op_builder *g = (struct op_builder *)self;

    if (!g->open_ops.failed)
        handle_record(g, r);
    return report_failure(g, e);
}

bool op_builder_finish(struct op_builder *g, struct err *e)
{
    end_all(g);
    return report_failure(g, e);
}
