#include "index/index-build.h"

#include <stdlib.h>

#include "base/big-array.h"
#include "base/mem.h"
#include "base/recent-keys.h"
#include "index/attribute.h"
#include "index/id-offset.h"
#include "index/redacted-params.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "ops/operation.h"
#include "trace/limits.h"
#include "trace/timestamp.h"

enum { OPEN_REQUESTS_MAX = UINT8_MAX };

/* State of one id scope: a connection, or a session over HTTP. */
struct id_scope_state {
    struct scope_ref scope;
    uint32_t session;
    uint32_t last_call;                  /* call of the server's last message; 0: none yet */
    struct map notification_counts;      /* method of a client notification to its count */
    struct str last_client_notification; /* until the next server message */
    uint32_t last_notification_ms;       /* when it was sent */
    bool seen_traffic;                   /* set by the first request of its session */
};

struct index_build {
    struct pairing pairs; /* tag: the call, for server requests see UNATTRIBUTED */
    struct unattributed unattributed;
    struct recent_keys progress_tokens; /* scope and token to call */
    struct recent_keys call_exchanges;  /* call to the exchange of its request */
    uint64_t exchange; /* of this record, the first of those that carry its stream; 0: none */
    struct map scopes; /* scope to struct id_scope_state */
    struct id_scope_state *last_scope; /* of the last message */
    struct params_leaves leaves;       /* of this request */
    struct buf scope_key;              /* of a scope */
    struct arena scratch;              /* for one record */
    int64_t first_wall_us;             /* wall time of the first record; if `has_wall_time` */
    bool has_wall_time;
    uint32_t ms;   /* of this record */
    uint32_t line; /* of the last message that was stored; 0: unknown */
    uint64_t message_count;
};

static bool put_record(struct sink *self, const struct record *r, struct err *e);

void index_build_begin(struct index *s)
{
    struct index_build *w = mem_new(struct index_build);

    s->build = w;
    s->sink = (struct sink){ put_record };
    s->call_count = s->step_count = 1; /* 0 means none */
    pairing_init(&w->pairs);
    recent_keys_init(&w->progress_tokens, LIMIT_RECENT_KEYS);
    recent_keys_init(&w->call_exchanges, LIMIT_RECENT_KEYS);
    map_init(&w->scopes);
    params_leaves_init(&w->leaves);
    buf_init(&w->scope_key, LIMIT_MESSAGE);
    s->calls = big_array_reserve(s->calls, &s->call_cap, 1, sizeof *s->calls);
    s->steps = big_array_reserve(s->steps, &s->step_cap, 1, sizeof *s->steps);
    s->calls[0] = (struct recorded_call){ 0 };
    s->steps[0] = (struct recorded_step){ 0 };
}

void index_build_end(struct index *s)
{
    struct index_build *w = s->build;

    if (!w)
        return;
    attribute_resolve_rest(&w->unattributed, s);
    for (struct map_entry *e = NULL; (e = map_next(&w->scopes, e));) {
        struct id_scope_state *l = e->value;
        map_release(&l->notification_counts);
        free(l);
    }
    pairing_release(&w->pairs);
    recent_keys_release(&w->progress_tokens);
    recent_keys_release(&w->call_exchanges);
    map_release(&w->scopes);
    params_leaves_release(&w->leaves);
    buf_release(&w->scope_key);
    arena_release(&w->scratch);
    free(w);
    s->build = NULL;
}

static uint32_t clamp(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Sets the time in milliseconds since the start: from the monotonic clock if the record has it,
 * else from wall time. */
static void read_clock(struct index_build *w, const struct record *r)
{
    int64_t us;

    if (r->has & HAS_US) {
        us = r->us;
    } else if (r->has & HAS_WALL) {
        if (!w->has_wall_time)
            w->first_wall_us = r->wall_us > -INT64_MAX ? r->wall_us : -INT64_MAX;
        w->has_wall_time = true;
        us = timestamp_add(r->wall_us, -w->first_wall_us);
    } else {
        return;
    }
    w->ms = us > 0 ? clamp((uint64_t)us / 1000) : 0;
}

static uint32_t new_session(struct index *s)
{
    s->sessions =
        mem_reserve(s->sessions, &s->session_cap, s->session_count + 1, sizeof *s->sessions);
    s->sessions[s->session_count] = (struct recorded_session){ 0 };
    return (uint32_t)s->session_count++;
}

static struct id_scope_state *scope_state_at(struct index *s, struct scope_ref reach)
{
    struct index_build *w = s->build;
    struct id_scope_state *l = w->last_scope;

    if (l && l->scope.kind == reach.kind && l->scope.number == reach.number)
        return l;
    buf_clear(&w->scope_key);
    scope_add_key(&w->scope_key, reach, TO_SERVER);
    l = map_get(&w->scopes, buf_str(&w->scope_key));
    if (!l) {
        l = mem_new(struct id_scope_state);
        l->scope = reach;
        map_init(&l->notification_counts);
        l->session = new_session(s);
        map_put(&w->scopes, buf_str(&w->scope_key), l);
    }
    return w->last_scope = l;
}

static enum mcp_version parse_version(struct index_build *w, struct json_val text)
{
    return mcp_version_parse(json_text(text, &w->scratch));
}

/* A client that sends server/discover does not know the server's protocol yet: see
 * note_response(). */
static bool is_discover(struct str method)
{
    return str_eq(method, STR("server/discover"));
}

/* A server message belongs to the protocol of the request on whose exchange it was sent. */
static bool is_stateless_message(const struct index *s, const struct record *r,
                                 const struct mcp_message *m)
{
    struct index_build *w = s->build;
    struct scope_chain place = pairing_scopes(&w->pairs, r);
    const struct pairing_request *q = pairing_first(&w->pairs, place.levels[0], TO_SERVER);
    enum mcp_version v;

    if (r->message.dir == TO_CLIENT)
        return q && index_is_stateless(s, s->calls[attribute_call_of(q)].session);
    v = parse_version(w, json_get(m->meta, MCP_META_VERSION));
    return m->kind == MCP_REQUEST && !is_discover(m->method) &&
           mcp_version_protocol(v) == MCP_PROTOCOL_STATELESS;
}

/* Returns the id scope of a message. HTTP without sessions has one scope per protocol, so that
 * a session of a stateful client does not affect stateless ones. */
static struct id_scope_state *scope_state_of(struct index *s, const struct record *r,
                                             const struct mcp_message *m)
{
    struct scope_chain place = pairing_scopes(&s->build->pairs, r);
    struct scope_ref reach = scope_widest(&place);

    if (reach.kind == SCOPE_SERVER)
        reach.number = is_stateless_message(s, r, m);
    return scope_state_at(s, reach);
}

static uint32_t intern_method(struct index *s, struct str method)
{
    uint32_t index;

    if (index_find_method(s, method, &index))
        return index;
    s->methods =
        mem_reserve(s->methods, &s->method_cap, s->method_count + 1, sizeof *s->methods);
    index = (uint32_t)s->method_count++;
    s->methods[index] = (struct index_method){ .name = arena_str(&s->arena, method),
                                               .known = mcp_method_find(method) };
    map_put(&s->method_index, method, (void *)(uintptr_t)(index + 1));
    return index;
}

static uint32_t new_call(struct index *s, const struct id_scope_state *l)
{
    s->calls = big_array_reserve(s->calls, &s->call_cap, s->call_count + 1, sizeof *s->calls);
    s->calls[s->call_count] =
        (struct recorded_call){ .session = l->session, .ms = s->build->ms };
    return (uint32_t)s->call_count++;
}

static uint32_t new_step(struct index *s, enum step_kind kind)
{
    s->steps = big_array_reserve(s->steps, &s->step_cap, s->step_count + 1, sizeof *s->steps);
    s->steps[s->step_count] = (struct recorded_step){ .kind = kind, .ms = s->build->ms };
    return (uint32_t)s->step_count++;
}

static void set_place(struct recorded_step *step, struct message_ref where)
{
    BUG_IF(where.at >= MESSAGE_STORE_MAX);
    step->offset_low = (uint32_t)where.at;
    step->offset_high = (uint16_t)(where.at >> 32);
    step->len = where.len;
}

/* Stores the message as a step of no call. */
static bool store_step(struct index *s, enum step_kind kind, struct json_val msg,
                       uint32_t *step, struct err *e)
{
    struct message_ref where;

    if (!s->store->add_message(s->store, json_raw(msg), &where, e))
        return false;
    s->build->line = where.line;
    *step = new_step(s, kind);
    set_place(&s->steps[*step], where);
    return true;
}

static void note_order(const struct index *s, uint32_t session, enum index_order_kind kind,
                       uint32_t number)
{
    if (s->order)
        index_order_add(s->order, session, kind, number, s->build->line);
}

/* Returns where to note the lines of a call; NULL: they are not kept. */
static struct index_lines *lines_of(struct index *s, uint32_t call)
{
    if (!s->keeps_lines)
        return NULL;
    s->lines = mem_reserve(s->lines, &s->line_cap, call + 1, sizeof *s->lines);
    for (; s->line_count <= call; s->line_count++)
        s->lines[s->line_count] = (struct index_lines){ 0, 0 };
    return &s->lines[call];
}

static void note_request_line(struct index *s, uint32_t call)
{
    struct index_lines *lines = lines_of(s, call);

    if (lines)
        lines->request = s->build->line;
}

static void note_response_line(struct index *s, uint32_t call)
{
    struct index_lines *lines = lines_of(s, call);

    if (lines)
        lines->response = s->build->line;
}

static struct str call_key(const uint32_t *call)
{
    return str_n((const char *)call, sizeof *call);
}

/* Whether the message is on another stream than the response to `call` will be. */
static bool is_on_other_stream(const struct index_build *w, uint32_t call)
{
    const struct recent_keys_entry *request =
        w->exchange ? recent_keys_find(&w->call_exchanges, call_key(&call)) : NULL;

    return w->exchange && !(request && request->value == w->exchange);
}

static bool add_step(struct index *s, uint32_t call, enum step_kind kind, struct json_val msg,
                     struct err *e)
{
    uint32_t step;

    if (!store_step(s, kind, msg, &step, e))
        return false;
    s->steps[step].other_stream = kind != STEP_RESPONSE && kind != STEP_SUBSCRIPTION_EVENT &&
                                  is_on_other_stream(s->build, call);
    index_append_step(s, call, step);
    if (kind == STEP_RESPONSE)
        note_response_line(s, call);
    return true;
}

static uint64_t notification_count(const struct id_scope_state *l, struct str method)
{
    return (uint64_t)(uintptr_t)map_get(&l->notification_counts, method);
}

/* Returns the call of the last server message; if there is none yet, the preamble of the
 * session. */
static uint32_t last_call_or_preamble(struct index *s, struct id_scope_state *l)
{
    if (l->last_call)
        return l->last_call;
    l->last_call = new_call(s, l);
    s->calls[l->last_call].flags = CALL_PREAMBLE;
    s->sessions[l->session].preamble = l->last_call;
    return l->last_call;
}

/* Attributes a server message that is no response: to the only open request, else to the call
 * of the message before it. If no request is open, a client notification that came just before
 * may be its cause, so the replay waits for that notification. */
static uint32_t attribute_unsolicited(struct index *s, struct id_scope_state *l,
                                      const struct message_owner *owner)
{
    uint32_t call, gate;

    if (owner->kind > OWNER_AMBIGUOUS)
        return attribute_call_of(owner->request);
    call = last_call_or_preamble(s, l);
    if (!owner->any_open && l->last_client_notification.len) {
        gate = new_step(s, STEP_WAIT_FOR_NOTIFICATION);
        index_append_step(s, call, gate);
        s->steps[gate].offset_low = intern_method(s, l->last_client_notification);
        s->steps[gate].len = clamp(notification_count(l, l->last_client_notification));
        s->steps[gate].ms = l->last_notification_ms;
    }
    l->last_client_notification = STR_NONE;
    return call;
}

/* Makes a key that is unique to the token and its id scope. */
static struct str token_key(struct index_build *w, struct scope_ref scope, struct str token)
{
    return arena_printf(&w->scratch, "%d %llu %.*s", (int)scope.kind,
                        (unsigned long long)scope.number, STR_ARG(token));
}

static struct str token_text(struct index_build *w, struct json_val token)
{
    return json_exists(token) ? mcp_id_key(token, &w->scratch) : STR_NONE;
}

/* A token is valid in the scopes of its request, as its id is. */
static void add_token(struct index_build *w, const struct record *r, struct str token,
                      uint32_t call)
{
    struct scope_chain scopes = pairing_scopes(&w->pairs, r);

    for (size_t i = 0; token.len && i < scopes.count; i++)
        recent_keys_add(&w->progress_tokens, token_key(w, scopes.levels[i], token), call, 0);
}

/* Returns the call with a token, in the narrowest scope first; 0: there is none. */
static uint32_t find_token(struct index_build *w, const struct record *r, struct str token)
{
    struct scope_chain scopes = pairing_scopes(&w->pairs, r);
    const struct recent_keys_entry *known = NULL;

    for (size_t i = 0; token.len && !known && i < scopes.count; i++)
        known = recent_keys_find(&w->progress_tokens, token_key(w, scopes.levels[i], token));
    return known ? (uint32_t)known->value : 0;
}

static void begin_session(struct index *s, struct id_scope_state *l)
{
    if (l->seen_traffic)
        l->session = new_session(s);
    map_release(&l->notification_counts);
    map_init(&l->notification_counts);
}

static enum mcp_version note_version(struct index *s, struct json_val text)
{
    enum mcp_version v = parse_version(s->build, text);

    s->versions |= 1u << v;
    return v;
}

/* All stateless requests share one session, whatever connection they came on. */
static void use_stateless_session(struct index *s, struct id_scope_state *l)
{
    if (s->sessions[l->session].initialize_call)
        return; /* the client uses both protocols */
    if (!s->stateless_session)
        s->stateless_session = l->session + 1;
    l->session = s->stateless_session - 1;
}

static void note_protocol(struct index *s, struct id_scope_state *l,
                          const struct mcp_message *m)
{
    enum mcp_version v;

    if (is_discover(m->method))
        return;
    v = note_version(s, json_get(m->meta, MCP_META_VERSION));
    if (str_eq(m->method, STR("initialize")))
        s->has_stateful = true;
    if (mcp_version_protocol(v) != MCP_PROTOCOL_STATELESS)
        return;
    s->has_stateless = true;
    use_stateless_session(s, l);
}

static void set_match_keys(struct index *s, uint32_t call, const struct record *r,
                           const struct mcp_message *m)
{
    struct params_mask pointed = redacted_params_from_record(r, m, &s->build->scratch);
    struct recorded_call *o = &s->calls[call];
    struct json_val subject = mcp_method_subject(s->methods[o->method].known, m->params);
    bool redacted_subject = params_is_redacted(subject);
    struct params_rules all = params_rules_without_ignore(&s->rules);

    params_leaves_read(&s->build->leaves, m->params, &all, pointed);
    o->subject_key = index_subject_key_of(subject, m->params, redacted_subject);
    o->params_key = index_fold_hash(params_leaves_hash(&s->build->leaves));
    s->has_redacted_subject = s->has_redacted_subject || redacted_subject;
    redacted_params_add(s, call, &s->build->leaves, pointed, &s->build->scratch);
    if (!s->rules.ignore)
        return;
    params_leaves_read(&s->build->leaves, m->params, &s->rules, pointed);
    s->reduced_keys =
        mem_reserve(s->reduced_keys, &s->reduced_key_cap, call + 1, sizeof *s->reduced_keys);
    s->reduced_keys[call] = index_fold_hash(params_leaves_hash(&s->build->leaves));
}

static bool is_matchable(const struct mcp_method *known)
{
    return !known || known->class != MCP_CLASS_SESSION;
}

/* Pings and server/discover are answered for every client, and only their response is played.
 * Other messages that the server sends meanwhile belong to other calls. */
static bool plays_response_only(const struct mcp_method *known)
{
    return known && known->class == MCP_CLASS_SESSION &&
           !str_eq(known->name, STR("initialize"));
}

static bool register_call(struct index *s, struct id_scope_state *l, uint32_t call,
                          const struct record *r, const struct mcp_message *m, struct err *e)
{
    const struct index_method *method = &s->methods[s->calls[call].method];

    l->seen_traffic = true;
    if (s->build->exchange)
        recent_keys_add(&s->build->call_exchanges, call_key(&call), s->build->exchange, 0);
    if (!plays_response_only(method->known))
        l->last_client_notification =
            STR_NONE; /* the next server messages belong to this request */
    add_token(s->build, r, token_text(s->build, mcp_progress_token(m->meta)), call);
    pairing_add_request(&s->build->pairs, r, m, call);
    s->build->pairs.newest->stateless = index_is_stateless(s, s->calls[call].session);
    if (plays_response_only(method->known) ||
        (method->known && method->known->class == MCP_CLASS_LISTEN))
        pairing_detach(s->build->pairs.newest); /* no server message is attributed to it */
    if (str_eq(m->method, STR("initialize"))) {
        s->sessions[l->session].initialize_call = call;
        s->sessions[l->session].requested_version =
            parse_version(s->build, json_get(m->params, STR("protocolVersion")));
    }
    if (!is_matchable(method->known))
        return true;
    s->calls[call].flags |= CALL_MATCHABLE;
    s->sessions[l->session].matchable_count++;
    return !s->observer ||
           s->observer->put(s->observer, call, &s->calls[call], &s->build->leaves, e);
}

static bool add_call(struct index *s, struct id_scope_state *l, const struct record *r,
                     const struct mcp_message *m, struct err *e)
{
    struct message_ref where;
    struct recorded_call *o;
    uint32_t call;

    if (str_eq(m->method, STR("initialize")))
        begin_session(s, l);
    if (!s->store->add_message(s->store, json_raw(m->root), &where, e))
        return false;
    BUG_IF(where.at >= MESSAGE_STORE_MAX);
    note_protocol(s, l, m);
    call = new_call(s, l);
    o = &s->calls[call];
    o->offset_low = (uint32_t)where.at;
    o->offset_high = (uint16_t)(where.at >> 32);
    o->len = where.len;
    s->build->line = where.line;
    note_request_line(s, call);
    o->seq = clamp(r->has & HAS_SEQ ? r->message.seq : s->build->message_count);
    o->method = intern_method(s, m->method);
    set_match_keys(s, call, r, m);
    note_order(s, o->session, ORDER_REQUEST, call);
    return register_call(s, l, call, r, m, e);
}

/* An acknowledgement belongs to its subscription. The events of a subscription are steps of the
 * calls during which they were sent. */
static uint32_t call_of_acknowledgement(struct index *s, const struct record *r,
                                        const struct mcp_message *m)
{
    const struct pairing_request *q;

    if (!str_eq(m->method, STR("notifications/subscriptions/acknowledged")))
        return 0;
    q = pairing_find(&s->build->pairs, r, TO_SERVER, json_get(m->meta, MCP_META_SUBSCRIPTION),
                     NULL);
    return q ? attribute_call_of(q) : 0;
}

static bool add_server_notification(struct index *s, struct id_scope_state *l,
                                    const struct record *r, const struct mcp_message *m,
                                    struct err *e)
{
    enum step_kind kind = STEP_NOTIFICATION;
    struct message_owner owner;
    uint32_t call = 0;

    if (str_eq(m->method, STR("notifications/progress"))) {
        call = find_token(s->build, r,
                          token_text(s->build, json_get(m->params, STR("progressToken"))));
        kind = call ? STEP_PROGRESS : STEP_NOTIFICATION;
    } else if (json_exists(json_get(m->meta, MCP_META_SUBSCRIPTION))) {
        call = call_of_acknowledgement(s, r, m);
        kind = STEP_SUBSCRIPTION_EVENT;
    }
    if (!call) {
        owner = attribute_message(&s->build->pairs, r, false, STR_NONE);
        call = attribute_unsolicited(s, l, &owner);
    }
    l->last_call = call;
    return add_step(s, call, kind, m->root, e);
}

/* The tag of a server request is the call that owns it, or with this bit the number of its
 * group (index/attribute.h). */
#define UNATTRIBUTED ((uint64_t)1 << 63)

/* Defers the attribution of a server request. If the candidates are not those of one exchange
 * but of the scope, the response will be on another stream. */
static bool defer_server_request(struct index *s, struct id_scope_state *l,
                                 const struct record *r, const struct mcp_message *m,
                                 struct scope_ref place, uint32_t oldest, struct err *e)
{
    struct index_build *w = s->build;
    bool narrow = place.kind == SCOPE_EXCHANGE;
    uint64_t name;
    uint32_t step;

    if (!store_step(s, STEP_SERVER_REQUEST, m->root, &step, e))
        return false;
    s->steps[step].other_stream = w->exchange && !narrow;
    name = attribute_defer_request(&w->unattributed, s, narrow ? place : l->scope, step, oldest,
                                   l->last_call ? l->last_call : oldest);
    pairing_add_request(&w->pairs, r, m, name | UNATTRIBUTED);
    return true;
}

static bool add_server_request(struct index *s, struct id_scope_state *l,
                               const struct record *r, const struct mcp_message *m,
                               struct err *e)
{
    struct index_build *w = s->build;
    struct json_val task = json_get(json_get(m->meta, MCP_META_RELATED_TASK), STR("taskId"));
    struct message_owner owner =
        attribute_message(&w->pairs, r, true, json_text(task, &w->scratch));
    uint32_t call;

    if (owner.kind == OWNER_AMBIGUOUS && message_owner_allows_requests(owner.request->known))
        return defer_server_request(s, l, r, m, owner.scope, attribute_call_of(owner.request),
                                    e);
    call = attribute_unsolicited(s, l, &owner);
    l->last_call = call;
    if (!add_step(s, call, STEP_SERVER_REQUEST, m->root, e))
        return false;
    if (s->calls[call].open_server_requests < OPEN_REQUESTS_MAX)
        s->calls[call].open_server_requests++;
    pairing_add_request(&w->pairs, r, m, call);
    return true;
}

static bool is_task_result(struct json_val result)
{
    return json_is(json_get(result, STR("resultType")), STR("task")) ||
           json_exists(json_get(json_get(result, STR("task")), STR("taskId")));
}

/* Whether a task has ended or waits for input, so that tasks/result can be sent. */
static bool is_task_ended(struct json_val result)
{
    struct json_val status = json_get(result, STR("status"));

    return json_is(status, STR("completed")) || json_is(status, STR("failed")) ||
           json_is(status, STR("cancelled")) || json_is(status, STR("input_required"));
}

static void note_response(struct index *s, uint32_t call, const struct record *r,
                          const struct mcp_message *m)
{
    struct recorded_call *o = &s->calls[call];

    if (!(r->has & HAS_US) && r->has & HAS_LATENCY) /* wall time may be in whole seconds */
        s->build->ms = clamp((uint64_t)o->ms + clamp(r->message.latency_ms));
    o->flags |= CALL_HAS_RESPONSE;
    if (m->kind == MCP_RESULT)
        o->flags |= CALL_SUCCEEDED;
    if (m->kind == MCP_RESULT && is_task_result(m->result))
        o->flags |= CALL_CREATED_TASK;
    if (m->kind == MCP_RESULT && is_task_ended(m->result))
        o->flags |= CALL_TASK_ENDED;
    if (str_eq(index_method(s, call)->name, STR("initialize")))
        s->sessions[o->session].agreed_version =
            note_version(s, json_get(m->result, STR("protocolVersion")));
    if (m->kind == MCP_RESULT && is_discover(index_method(s, call)->name)) {
        s->has_stateless = true;
        s->versions |= 1u << MCP_VERSION_LATEST;
    }
}

/* The end of a subscription is, like its events, a step of the call during which it was
 * sent. */
static bool ends_subscription(const struct index *s, uint32_t call)
{
    const struct mcp_method *known = index_method(s, call)->known;

    return known && known->class == MCP_CLASS_LISTEN && s->calls[call].last_step;
}

/* Makes a call matchable again that was rejected over HTTP but has a response after all. A
 * header mismatch error is the rejection itself. */
static void restore_rejected_call(struct index *s, uint32_t call,
                                  const struct mcp_message *answer)
{
    struct recorded_session *session = &s->sessions[s->calls[call].session];
    const struct index_method *method = index_method(s, call);

    if (s->calls[call].flags & CALL_MATCHABLE ||
        mcp_error_has_code(answer, MCP_HEADER_MISMATCH))
        return;
    if (str_eq(method->name, STR("initialize")))
        session->initialize_call = call;
    if (!is_matchable(method->known))
        return;
    s->calls[call].flags |= CALL_MATCHABLE;
    session->matchable_count++;
}

static bool add_server_response(struct index *s, struct id_scope_state *l,
                                const struct record *r, const struct mcp_message *m,
                                struct err *e)
{
    const struct pairing_request *request = pairing_match_response(&s->build->pairs, r, m);
    struct scope_ref at = pairing_scopes(&s->build->pairs, r).levels[0];
    struct message_owner owner;
    uint32_t call;

    if (!request)
        return true; /* without a request it cannot be played */
    call = attribute_call_of(request);
    restore_rejected_call(s, call, m);
    attribute_resolve(&s->build->unattributed, s, at, call);
    if (at.kind == SCOPE_EXCHANGE)
        attribute_resolve(&s->build->unattributed, s, l->scope, call);
    note_response(s, call, r, m);
    note_order(s, s->calls[call].session, ORDER_RESPONSE, call);
    if (ends_subscription(s, call)) {
        owner = attribute_message(&s->build->pairs, r, false, STR_NONE);
        l->last_call = attribute_unsolicited(s, l, &owner);
        return add_step(s, l->last_call, STEP_SUBSCRIPTION_EVENT, m->root, e);
    }
    if (!plays_response_only(index_method(s, call)->known))
        l->last_call = call;
    if (!add_step(s, call, STEP_RESPONSE, m->root, e))
        return false;
    if (!m->duplicate_member)
        s->steps[s->calls[call].last_step].id_offset = id_offset_of(m->root, m->id);
    return true;
}

/* No later message is attributed to a request that its client cancelled. */
static void add_client_notification(struct index *s, struct id_scope_state *l,
                                    const struct record *r, const struct mcp_message *m)
{
    struct pairing_request *cancelled;
    uint32_t method;

    if (str_eq(m->method, STR("notifications/cancelled"))) {
        cancelled = pairing_find(&s->build->pairs, r, TO_SERVER,
                                 json_get(m->params, STR("requestId")), NULL);
        if (cancelled) {
            s->calls[attribute_call_of(cancelled)].flags |= CALL_CANCELLED;
            pairing_detach(cancelled);
        }
        return;
    }
    map_put(&l->notification_counts, m->method,
            (void *)(uintptr_t)(notification_count(l, m->method) + 1));
    method = intern_method(s, m->method);
    l->last_client_notification = s->methods[method].name;
    l->last_notification_ms = s->build->ms;
}

static bool order_notification(struct index *s, const struct id_scope_state *l,
                               const struct mcp_message *m, struct err *e)
{
    uint32_t step;

    if (!s->order)
        return true;
    if (!store_step(s, STEP_CLIENT_NOTIFICATION, m->root, &step, e))
        return false;
    note_order(s, l->session, ORDER_NOTIFICATION, step);
    return true;
}

/* Returns the scope of an HTTP request without a message: of its session, else of the message
 * before it; NULL: there is none. */
static const struct id_scope_state *scope_state_of_http(const struct index *s,
                                                        const struct record *r)
{
    struct index_build *w = s->build;
    struct scope_chain place = pairing_scopes(&w->pairs, r);

    if (!(r->has & HAS_SESSION))
        return w->last_scope;
    buf_clear(&w->scope_key);
    scope_add_key(&w->scope_key, scope_widest(&place), TO_SERVER);
    return map_get(&w->scopes, buf_str(&w->scope_key));
}

/* A GET of a client without a session id may be that of any session, as in HTTP+SSE. */
static void order_get(struct index *s, const struct record *r, const struct id_scope_state *l)
{
    if (r->has & HAS_SESSION && l)
        index_order_note_get(s->order, l->session);
    else
        s->order->had_get = true;
}

/* Notes the HTTP requests of the client that carry no message. */
static bool order_http_request(struct index *s, const struct record *r, struct err *e)
{
    const struct id_scope_state *l = scope_state_of_http(s, r);
    struct message_ref where;
    struct str text;
    uint32_t step;

    if (!s->order ||
        !(str_eq(r->http.method, STR("GET")) || str_eq(r->http.method, STR("DELETE"))))
        return true;
    text = arena_printf(&s->build->scratch, "%.*s %.*s", STR_ARG(r->http.method),
                        STR_ARG(r->http.path));
    if (!s->store->add_bytes(s->store, text, &where, e))
        return false;
    step = new_step(s, STEP_HTTP_REQUEST);
    set_place(&s->steps[step], where);
    s->build->line = 0;
    note_order(s, l ? l->session : 0, ORDER_HTTP_REQUEST, step);
    if (str_eq(r->http.method, STR("GET")))
        order_get(s, r, l);
    return true;
}

static bool add_client_response(struct index *s, const struct record *r,
                                const struct mcp_message *m, struct err *e)
{
    struct index_build *w = s->build;
    const struct pairing_request *request = pairing_match_response(&w->pairs, r, m);
    uint32_t call, step;

    if (!request)
        return true;
    if (request->tag & UNATTRIBUTED) {
        if (!store_step(s, STEP_CLIENT_RESPONSE, m->root, &step, e))
            return false;
        attribute_defer_response(&w->unattributed, request->tag & ~UNATTRIBUTED, step);
        return true;
    }
    call = attribute_call_of(request);
    if (s->calls[call].open_server_requests)
        s->calls[call].open_server_requests--;
    return add_step(s, call, STEP_CLIENT_RESPONSE, m->root, e);
}

static bool put_message(struct index *s, const struct record *r, struct err *e)
{
    struct mcp_message m = mcp_classify(r->message.msg, &s->build->scratch);
    struct id_scope_state *l = scope_state_of(s, r, &m);
    bool from_client = r->message.dir == TO_SERVER;

    if (s->order && r->has & HAS_EXCHANGE && r->has & HAS_US) /* a cassette has no times */
        index_order_note_http(s->order, l->session);
    switch (m.kind) {
    case MCP_REQUEST:
        return from_client ? add_call(s, l, r, &m, e) : add_server_request(s, l, r, &m, e);
    case MCP_NOTIFICATION:
        if (!from_client)
            return add_server_notification(s, l, r, &m, e);
        add_client_notification(s, l, r, &m);
        return order_notification(s, l, &m, e);
    case MCP_RESULT:
    case MCP_ERROR:
        return from_client ? add_client_response(s, r, &m, e)
                           : add_server_response(s, l, r, &m, e);
    default:
        return true;
    }
}

/* Links the session id that the server has assigned to the session of the initialize. */
static void note_session_id(struct index *s, const struct record *r)
{
    struct scope_chain place = pairing_scopes(&s->build->pairs, r);
    const struct pairing_request *q =
        pairing_first(&s->build->pairs, place.levels[0], TO_SERVER);
    struct id_scope_state *l;

    if (!q)
        return;
    l = scope_state_at(s, scope_widest(&place));
    l->session = s->calls[attribute_call_of(q)].session;
    l->seen_traffic = true;
}

static void add_rejection(struct index *s, uint64_t call, const struct record_http *by)
{
    struct index_rejection *how = arena_new(&s->arena, struct index_rejection);

    how->http_status = (unsigned)by->status;
    how->by_mcpreel = str_eq(by->by, STR("mcpreel"));
    map_put(&s->rejections, map_number_key(&call), how);
}

/* The server did not process a request that it rejected over HTTP: the call is not matchable,
 * unless a response follows. */
static void note_rejected(struct index *s, const struct record *r)
{
    struct scope_ref at = pairing_scopes(&s->build->pairs, r).levels[0];
    const struct pairing_request *q = pairing_first(&s->build->pairs, at, TO_SERVER);

    for (; q && at.kind == SCOPE_EXCHANGE; q = pairing_next(q, at)) {
        struct recorded_call *call = &s->calls[attribute_call_of(q)];

        if (s->sessions[call->session].initialize_call == attribute_call_of(q))
            s->sessions[call->session].initialize_call = 0;
        if (!(call->flags & CALL_MATCHABLE))
            continue;
        call->flags &= (uint8_t)~CALL_MATCHABLE;
        s->sessions[call->session].matchable_count--;
        add_rejection(s, attribute_call_of(q), &r->http);
    }
}

/* In the stateless protocol a response cannot be resumed: if the client closes the exchange, it
 * cancels the request; if the server does, the request ends, too. */
static void note_exchange_end(struct index *s, const struct record *r)
{
    struct pairing *pairs = &s->build->pairs;
    struct scope_ref at = pairing_scopes(pairs, r).levels[0];
    struct pairing_request *q;

    while (at.kind == SCOPE_EXCHANGE && (q = pairing_first(pairs, at, TO_SERVER)) &&
           !q->detached && index_is_stateless(s, s->calls[attribute_call_of(q)].session)) {
        if (str_eq(r->http.by, STR("client")))
            s->calls[attribute_call_of(q)].flags |= CALL_CANCELLED;
        pairing_detach(q);
    }
}

/* A new process does not answer requests to the one before it. */
static void note_process(struct pairing *pairs, const struct record *r)
{
    struct scope_ref conn = { SCOPE_CONN, r->conn };
    struct pairing_request *q;

    if (!(r->has & HAS_CONN) || !str_eq(r->proc.event, STR("start")))
        return;
    while ((q = pairing_first(pairs, conn, TO_SERVER)) ||
           (q = pairing_first(pairs, conn, TO_CLIENT)))
        pairing_remove(pairs, q);
}

static uint64_t exchange_of(const struct index_build *w, const struct record *r)
{
    struct scope_ref at = pairing_scopes(&w->pairs, r).levels[0];

    return at.kind == SCOPE_EXCHANGE ? at.number : 0;
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct index *s = (struct index *)self;
    struct index_build *w = s->build;
    size_t steps = s->step_count;

    BUG_IF(!w);
    arena_clear(&w->scratch);
    pairing_track(&w->pairs, r);
    read_clock(w, r);
    if (r->kind == RECORD_HTTP_RESPONSE && r->http.mints_session && r->has & HAS_SESSION)
        note_session_id(s, r);
    if (r->kind == RECORD_HTTP_RESPONSE && r->http.status >= OPERATION_REJECTED_STATUS)
        note_rejected(s, r);
    if (r->kind == RECORD_HTTP_END)
        note_exchange_end(s, r);
    if (r->kind == RECORD_PROC)
        note_process(&w->pairs, r);
    if (r->kind == RECORD_HTTP_REQUEST)
        return order_http_request(s, r, e);
    if (r->kind != RECORD_MESSAGE || r->has & HAS_REDELIVERS)
        return true;
    w->message_count++;
    w->exchange = exchange_of(w, r);
    if (!put_message(s, r, e))
        return false;
    if (s->step_count > steps) /* the last step is the message; others only wait */
        index_note_sse_event(s, (uint32_t)s->step_count - 1, r->message.event);
    return true;
}
