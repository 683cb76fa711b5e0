#include "engine/script-write.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vast.h"
#include "engine/id-place.h"
#include "engine/script-event.h"
#include "engine/script-mask.h"
#include "engine/script-under.h"
#include "engine/suspense.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "trace/moment.h"
#include "trace/operation.h"
#include "trace/recall.h"

enum { QUESTIONS_MAX = UINT8_MAX };

/* What goes on in one place where ids are good. */
struct lane {
    struct scope_reach reach;
    uint32_t session;
    uint32_t last;         /* strand of the server's last message; 0: it has said nothing */
    struct map heard;      /* method of a client's notification to how often it came */
    struct str just_heard; /* the last of them, while the server has not spoken since */
    uint32_t heard_ms;     /* and when that was */
    bool met;              /* something has happened in its session */
};

struct script_writing {
    struct pairing pairs; /* tags: the strand of a request, a question's or its suspense */
    struct suspense suspense;
    struct recall tokens;  /* lane and progress token to strand */
    struct recall asked;   /* strand to the exchange that its request came with */
    uint64_t exchange;     /* of the record at hand, the first of those that resume it; or 0 */
    struct map lanes;      /* scope to struct lane */
    struct lane *latest;   /* of the last message */
    struct leaves leaves;  /* of the request at hand */
    struct buf key;        /* of a lane */
    struct arena scratch;  /* for one record */
    int64_t first_wall_us; /* where the clock of dates starts; if `dated` */
    bool dated;
    uint32_t ms; /* of the record at hand */
    uint64_t seen;
};

static bool put(struct sink *self, const struct record *r, struct err *e);

void script_write_begin(struct script *s)
{
    struct script_writing *w = mem_new(struct script_writing);

    s->writing = w;
    s->sink = (struct sink){ put };
    s->op_count = s->step_count = 1; /* number 0 is none */
    pairing_init(&w->pairs);
    recall_init(&w->tokens, LIMIT_RECALL);
    recall_init(&w->asked, LIMIT_RECALL);
    map_init(&w->lanes);
    leaves_init(&w->leaves);
    buf_init(&w->key, LIMIT_MESSAGE);
    s->ops = vast_reserve(s->ops, &s->op_cap, 1, sizeof *s->ops);
    s->steps = vast_reserve(s->steps, &s->step_cap, 1, sizeof *s->steps);
    s->ops[0] = (struct script_op){ 0 };
    s->steps[0] = (struct script_step){ 0 };
}

void script_write_end(struct script *s)
{
    struct script_writing *w = s->writing;

    if (!w)
        return;
    suspense_finish(&w->suspense, s);
    for (struct map_entry *e = NULL; (e = map_next(&w->lanes, e));) {
        struct lane *l = e->value;
        map_release(&l->heard);
        free(l);
    }
    pairing_release(&w->pairs);
    recall_release(&w->tokens);
    recall_release(&w->asked);
    map_release(&w->lanes);
    leaves_release(&w->leaves);
    buf_release(&w->key);
    arena_release(&w->scratch);
    free(w);
    s->writing = NULL;
}

static uint32_t clamp(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Milliseconds since the start: from the clock that counts from there, else from dates. */
static void read_clock(struct script_writing *w, const struct record *r)
{
    int64_t us;

    if (r->has & HAS_US) {
        us = r->us;
    } else if (r->has & HAS_WALL) {
        if (!w->dated)
            w->first_wall_us = r->wall_us > -INT64_MAX ? r->wall_us : -INT64_MAX;
        w->dated = true;
        us = moment_add(r->wall_us, -w->first_wall_us);
    } else {
        return;
    }
    w->ms = us > 0 ? clamp((uint64_t)us / 1000) : 0;
}

static uint32_t new_session(struct script *s)
{
    s->sessions =
        mem_reserve(s->sessions, &s->session_cap, s->session_count + 1, sizeof *s->sessions);
    s->sessions[s->session_count] = (struct script_session){ 0 };
    return (uint32_t)s->session_count++;
}

static struct lane *lane_at(struct script *s, struct scope_reach reach)
{
    struct script_writing *w = s->writing;
    struct lane *l = w->latest;

    if (l && l->reach.kind == reach.kind && l->reach.number == reach.number)
        return l;
    buf_clear(&w->key);
    scope_key(&w->key, reach, TO_SERVER);
    l = map_get(&w->lanes, buf_str(&w->key));
    if (!l) {
        l = mem_new(struct lane);
        l->reach = reach;
        map_init(&l->heard);
        l->session = new_session(s);
        map_put(&w->lanes, buf_str(&w->key), l);
    }
    return w->latest = l;
}

static enum mcp_version version_of(struct script_writing *w, struct json_val text)
{
    return mcp_version_parse(json_text(text, &w->scratch));
}

/* Who asks what a server can do does not know yet of which era it is: see note_answer(). */
static bool is_probe(struct str method)
{
    return str_eq(method, STR("server/discover"));
}

/* What a server says belongs to the era of the request that it is said to. */
static bool needs_no_session(const struct script *s, const struct record *r,
                             const struct mcp_message *m)
{
    struct script_writing *w = s->writing;
    struct scope_place place = scope_of(&w->pairs.scope, r);
    const struct pairing_request *q = pairing_first(&w->pairs, place.at[0], TO_SERVER);
    enum mcp_version v;

    if (r->message.dir == TO_CLIENT)
        return q && script_is_stateless(s, s->ops[script_under_op(q)].session);
    v = version_of(w, json_get(m->meta, MCP_META_VERSION));
    return m->kind == MCP_REQUEST && !is_probe(m->method) &&
           mcp_version_era(v) == MCP_ERA_MODERN;
}

/* Those who talk to a server over HTTP without a session have one lane in each era: a session
 * that somebody begins is of no concern to those who need none. */
static struct lane *lane_of(struct script *s, const struct record *r,
                            const struct mcp_message *m)
{
    struct scope_place place = scope_of(&s->writing->pairs.scope, r);
    struct scope_reach reach = scope_widest(&place);

    if (reach.kind == SCOPE_SERVER)
        reach.number = needs_no_session(s, r, m);
    return lane_at(s, reach);
}

static uint32_t intern(struct script *s, struct str method)
{
    uint32_t index;

    if (script_find_method(s, method, &index))
        return index;
    s->methods =
        mem_reserve(s->methods, &s->method_cap, s->method_count + 1, sizeof *s->methods);
    index = (uint32_t)s->method_count++;
    s->methods[index] = (struct script_method){ .name = arena_str(&s->arena, method),
                                                .known = mcp_method_find(method) };
    map_put(&s->method_index, method, (void *)(uintptr_t)(index + 1));
    return index;
}

static uint32_t new_op(struct script *s, const struct lane *l)
{
    s->ops = vast_reserve(s->ops, &s->op_cap, s->op_count + 1, sizeof *s->ops);
    s->ops[s->op_count] = (struct script_op){ .session = l->session, .ms = s->writing->ms };
    return (uint32_t)s->op_count++;
}

static uint32_t new_step(struct script *s, enum script_step_kind kind)
{
    s->steps = vast_reserve(s->steps, &s->step_cap, s->step_count + 1, sizeof *s->steps);
    s->steps[s->step_count] = (struct script_step){ .kind = kind, .ms = s->writing->ms };
    return (uint32_t)s->step_count++;
}

/* A step with the message at hand, of no strand yet. */
static bool make_step(struct script *s, enum script_step_kind kind, struct json_val msg,
                      uint32_t *step, struct err *e)
{
    struct shelf_place where;

    if (!s->shelf->keep(s->shelf, json_raw(msg), &where, e))
        return false;
    BUG_IF(where.at >= SHELF_MAX);
    *step = new_step(s, kind);
    s->steps[*step].at_low = (uint32_t)where.at;
    s->steps[*step].at_high = (uint16_t)(where.at >> 32);
    s->steps[*step].len = where.len;
    return true;
}

static struct str bytes_of(const uint32_t *op)
{
    return str_n((const char *)op, sizeof *op);
}

/* Whether the message at hand is on another stream than the answer to a request will be. */
static bool is_apart(const struct script_writing *w, uint32_t op)
{
    const struct recall_entry *asked =
        w->exchange ? recall_find(&w->asked, bytes_of(&op)) : NULL;

    return w->exchange && !(asked && asked->what == w->exchange);
}

static bool add_step(struct script *s, uint32_t op, enum script_step_kind kind,
                     struct json_val msg, struct err *e)
{
    uint32_t step;

    if (!make_step(s, kind, msg, &step, e))
        return false;
    s->steps[step].apart =
        kind != STEP_ANSWER && kind != STEP_EVENT && is_apart(s->writing, op);
    script_link_step(s, op, step);
    return true;
}

static uint64_t times_heard(const struct lane *l, struct str method)
{
    return (uint64_t)(uintptr_t)map_get(&l->heard, method);
}

/* The strand of what the server said last; if nothing yet, what opens the session. */
static uint32_t last_strand(struct script *s, struct lane *l)
{
    if (l->last)
        return l->last;
    l->last = new_op(s, l);
    s->ops[l->last].flags = STRAND_OPENING;
    s->sessions[l->session].opening = l->last;
    return l->last;
}

static struct script_under under(const struct script *s, const struct lane *l,
                                 const struct record *r)
{
    return script_under_of(s, &s->writing->pairs, r, script_is_stateless(s, l->session));
}

/* Where a message goes that answers nothing: to the one request that is being
 * worked on, or behind what the server sent before. If nobody was being served, a
 * notification that came just before may be the reason for it: wait for it too. */
static uint32_t place_of_unasked(struct script *s, struct lane *l, struct script_under u)
{
    uint32_t op, gate;

    if (u.sole)
        return u.sole;
    op = last_strand(s, l);
    if (!u.any && l->just_heard.len) {
        gate = new_step(s, STEP_HEAR);
        script_link_step(s, op, gate);
        s->steps[gate].at_low = intern(s, l->just_heard);
        s->steps[gate].len = clamp(times_heard(l, l->just_heard));
        s->steps[gate].ms = l->heard_ms;
    }
    l->just_heard = STR_NONE;
    return op;
}

/* A key that a token has in its lane and nowhere else. */
static struct str token_key(struct script_writing *w, const struct lane *l,
                            struct json_val token)
{
    struct str key = json_exists(token) ? mcp_id_key(token, &w->scratch) : STR_NONE;

    if (!key.len)
        return key;
    return arena_printf(&w->scratch, "%p %.*s", (const void *)l, STR_ARG(key));
}

static void begin_session(struct script *s, struct lane *l)
{
    if (l->met)
        l->session = new_session(s);
    map_release(&l->heard);
    map_init(&l->heard);
}

static enum mcp_version note_version(struct script *s, struct json_val text)
{
    enum mcp_version v = version_of(s->writing, text);

    s->versions |= 1u << v;
    return v;
}

/* Requests that need no session share one, whichever connection they came on. */
static void join_shared(struct script *s, struct lane *l)
{
    if (s->sessions[l->session].greeting)
        return; /* a peer of both eras */
    if (!s->stateless)
        s->stateless = l->session + 1;
    l->session = s->stateless - 1;
}

static void note_era(struct script *s, struct lane *l, const struct mcp_message *m)
{
    enum mcp_version v;

    if (is_probe(m->method))
        return;
    v = note_version(s, json_get(m->meta, MCP_META_VERSION));
    if (str_eq(m->method, STR("initialize")))
        s->legacy = true;
    if (mcp_version_era(v) != MCP_ERA_MODERN)
        return;
    s->modern = true;
    join_shared(s, l);
}

static void add_keys(struct script *s, uint32_t op, const struct record *r,
                     const struct mcp_message *m)
{
    struct leaf_mask pointed = script_mask_pointed(r, m, &s->writing->scratch);
    struct script_op *o = &s->ops[op];
    struct json_val subject = mcp_method_subject(s->methods[o->method].known, m->params);
    bool wild = leaves_is_redacted(subject);

    leaves_take(&s->writing->leaves, m->params, &s->rules, pointed);
    o->subject_key = script_key_about(subject, m->params, wild);
    o->params_key = script_fold(leaves_key(&s->writing->leaves));
    s->wild = s->wild || wild;
    script_mask_note(s, op, &s->writing->leaves, pointed, &s->writing->scratch);
}

static bool counts(const struct mcp_method *known)
{
    return !known || known->class != MCP_CLASS_SESSION;
}

/* Pings and probes are answered whoever asks, and nothing but that is played of them: whatever
 * else is said then, belongs to others. */
static bool is_only_answered(const struct mcp_method *known)
{
    return known && known->class == MCP_CLASS_SESSION &&
           !str_eq(known->name, STR("initialize"));
}

static bool enter_op(struct script *s, struct lane *l, uint32_t op, const struct record *r,
                     const struct mcp_message *m, struct err *e)
{
    const struct script_method *method = &s->methods[s->ops[op].method];
    struct str token = token_key(s->writing, l, mcp_progress_token(m->meta));

    l->met = true;
    if (s->writing->exchange)
        recall_put(&s->writing->asked, bytes_of(&op), s->writing->exchange, 0);
    if (!is_only_answered(method->known))
        l->just_heard = STR_NONE; /* what the server says next, it says to this */
    if (token.len)
        recall_put(&s->writing->tokens, token, op, 0);
    pairing_ask(&s->writing->pairs, r, m, op);
    if (is_only_answered(method->known) ||
        (method->known && method->known->class == MCP_CLASS_LISTEN))
        pairing_park(s->writing->pairs.newest); /* nothing is sent while it is worked on */
    if (str_eq(m->method, STR("initialize"))) {
        s->sessions[l->session].greeting = op;
        s->sessions[l->session].asked =
            version_of(s->writing, json_get(m->params, STR("protocolVersion")));
    }
    if (!counts(method->known))
        return true;
    s->ops[op].flags |= STRAND_COUNTS;
    s->sessions[l->session].count++;
    return !s->reader || s->reader->put(s->reader, op, &s->ops[op], &s->writing->leaves, e);
}

static bool add_op(struct script *s, struct lane *l, const struct record *r,
                   const struct mcp_message *m, struct err *e)
{
    struct shelf_place where;
    struct script_op *o;
    uint32_t op;

    if (str_eq(m->method, STR("initialize")))
        begin_session(s, l);
    if (!s->shelf->keep(s->shelf, json_raw(m->root), &where, e))
        return false;
    BUG_IF(where.at >= SHELF_MAX);
    note_era(s, l, m);
    op = new_op(s, l);
    o = &s->ops[op];
    o->at_low = (uint32_t)where.at;
    o->at_high = (uint16_t)(where.at >> 32);
    o->len = where.len;
    o->seq = clamp(r->has & HAS_SEQ ? r->message.seq : s->writing->seen);
    o->method = intern(s, m->method);
    add_keys(s, op, r, m);
    return enter_op(s, l, op, r, m, e);
}

static uint32_t of_progress(const struct script *s, const struct lane *l,
                            const struct mcp_message *m)
{
    struct script_writing *w = s->writing;
    struct str token = token_key(w, l, json_get(m->params, STR("progressToken")));
    const struct recall_entry *known = token.len ? recall_find(&w->tokens, token) : NULL;

    return known ? (uint32_t)known->what : 0;
}

/* A subscription begins where it is acknowledged. All that it is for comes later, at the
 * place where it was sent. */
static uint32_t of_subscription(struct script *s, const struct record *r,
                                const struct mcp_message *m)
{
    const struct pairing_request *q;

    if (!str_eq(m->method, STR("notifications/subscriptions/acknowledged")))
        return 0;
    q = pairing_peek(&s->writing->pairs, r, TO_SERVER, json_get(m->meta, MCP_META_SUBSCRIPTION),
                     NULL);
    return q ? script_under_op(q) : 0;
}

static bool add_server_notification(struct script *s, struct lane *l, const struct record *r,
                                    const struct mcp_message *m, struct err *e)
{
    enum script_step_kind kind = STEP_SEND;
    uint32_t op = 0;

    if (str_eq(m->method, STR("notifications/progress"))) {
        op = of_progress(s, l, m);
        kind = op ? STEP_PROGRESS : STEP_SEND;
    } else if (json_exists(json_get(m->meta, MCP_META_SUBSCRIPTION))) {
        op = of_subscription(s, r, m);
        kind = STEP_EVENT;
    }
    if (!op)
        op = place_of_unasked(s, l, under(s, l, r));
    l->last = op;
    return add_step(s, op, kind, m->root, e);
}

/* What the answer to a question is found by: the strand it was asked in, or its suspense. */
#define IN_SUSPENSE ((uint64_t)1 << 63)

/* Among the requests of one exchange, or of all that goes on in the lane: then whichever of
 * them it was asked for is answered on another stream. */
static bool suspend(struct script *s, struct lane *l, const struct record *r,
                    const struct mcp_message *m, struct scope_reach place, uint32_t oldest,
                    struct err *e)
{
    struct script_writing *w = s->writing;
    bool narrow = place.kind == SCOPE_EXCHANGE;
    uint64_t name;
    uint32_t step;

    if (!make_step(s, STEP_ASK, m->root, &step, e))
        return false;
    s->steps[step].apart = w->exchange && !narrow;
    name = suspense_ask(&w->suspense, s, narrow ? place : l->reach, step, oldest,
                        l->last ? l->last : oldest);
    pairing_ask(&w->pairs, r, m, name | IN_SUSPENSE);
    return true;
}

static bool add_server_request(struct script *s, struct lane *l, const struct record *r,
                               const struct mcp_message *m, struct err *e)
{
    struct script_writing *w = s->writing;
    struct script_under u = under(s, l, r);
    struct json_val task = json_get(json_get(m->meta, MCP_META_RELATED_TASK), STR("taskId"));
    struct script_askers askers =
        script_under_askers(s, &w->pairs, &u, json_text(task, &w->scratch));
    uint32_t op;

    if (askers.oldest && !askers.sole)
        return suspend(s, l, r, m, u.place, askers.oldest, e);
    op = askers.oldest ? askers.oldest : place_of_unasked(s, l, u);
    l->last = op;
    if (!add_step(s, op, STEP_ASK, m->root, e))
        return false;
    if (s->ops[op].questions < QUESTIONS_MAX)
        s->ops[op].questions++;
    pairing_ask(&w->pairs, r, m, op);
    return true;
}

static bool is_task(struct json_val result)
{
    return json_is(json_get(result, STR("resultType")), STR("task")) ||
           json_exists(json_get(json_get(result, STR("task")), STR("taskId")));
}

/* How the task is that a poll was about: its result can be asked for, or is, to be asked for
 * input on the way. */
static bool is_due(struct json_val result)
{
    struct json_val status = json_get(result, STR("status"));

    return json_is(status, STR("completed")) || json_is(status, STR("failed")) ||
           json_is(status, STR("cancelled")) || json_is(status, STR("input_required"));
}

static void note_answer(struct script *s, uint32_t op, const struct record *r,
                        const struct mcp_message *m)
{
    struct script_op *o = &s->ops[op];

    if (!(r->has & HAS_US) && r->has & HAS_LATENCY) /* dates can be whole seconds */
        s->writing->ms = clamp((uint64_t)o->ms + clamp(r->message.latency_ms));
    o->flags |= STRAND_ANSWERED;
    if (m->kind == MCP_RESULT)
        o->flags |= STRAND_SUCCEEDED;
    if (m->kind == MCP_RESULT && is_task(m->result))
        o->flags |= STRAND_TASK;
    if (m->kind == MCP_RESULT && is_due(m->result))
        o->flags |= STRAND_DUE;
    if (str_eq(script_method(s, op)->name, STR("initialize")))
        s->sessions[o->session].agreed =
            note_version(s, json_get(m->result, STR("protocolVersion")));
    if (m->kind == MCP_RESULT && is_probe(script_method(s, op)->name)) {
        s->modern = true;
        s->versions |= 1u << MCP_VERSION_LATEST;
    }
}

/* The end of a subscription comes at its place, like everything it was for. */
static bool ends_subscription(const struct script *s, uint32_t op)
{
    const struct mcp_method *known = script_method(s, op)->known;

    return known && known->class == MCP_CLASS_LISTEN && s->ops[op].last;
}

/* It may have been refused as a request over HTTP, and is answered all the same; unless that
 * only says how it was refused. */
static void count_again(struct script *s, uint32_t op, const struct mcp_message *answer)
{
    struct script_session *session = &s->sessions[s->ops[op].session];
    const struct script_method *method = script_method(s, op);

    if (s->ops[op].flags & STRAND_COUNTS || mcp_error_is(answer, MCP_HEADER_MISMATCH))
        return;
    if (str_eq(method->name, STR("initialize")))
        session->greeting = op;
    if (!counts(method->known))
        return;
    s->ops[op].flags |= STRAND_COUNTS;
    session->count++;
}

static bool add_server_answer(struct script *s, struct lane *l, const struct record *r,
                              const struct mcp_message *m, struct err *e)
{
    const struct pairing_request *asked = pairing_answer(&s->writing->pairs, r, m);
    struct scope_reach at = scope_of(&s->writing->pairs.scope, r).at[0];
    uint32_t op;

    if (!asked)
        return true; /* an answer to nothing has no place to be sent from */
    op = script_under_op(asked);
    count_again(s, op, m);
    suspense_answer(&s->writing->suspense, s, at, op);
    if (at.kind == SCOPE_EXCHANGE)
        suspense_answer(&s->writing->suspense, s, l->reach, op);
    note_answer(s, op, r, m);
    if (ends_subscription(s, op)) {
        l->last = place_of_unasked(s, l, under(s, l, r));
        return add_step(s, l->last, STEP_EVENT, m->root, e);
    }
    if (!is_only_answered(script_method(s, op)->known))
        l->last = op;
    if (!add_step(s, op, STEP_ANSWER, m->root, e))
        return false;
    if (!m->duplicate)
        s->steps[s->ops[op].last].id_place = id_place_of(m->root, m->id);
    return true;
}

/* Nothing that comes later is sent under a request its client has given up. */
static void add_client_notification(struct script *s, struct lane *l, const struct record *r,
                                    const struct mcp_message *m)
{
    struct pairing_request *given_up;
    uint32_t method;

    if (str_eq(m->method, STR("notifications/cancelled"))) {
        given_up = pairing_peek(&s->writing->pairs, r, TO_SERVER,
                                json_get(m->params, STR("requestId")), NULL);
        if (given_up) {
            s->ops[script_under_op(given_up)].flags |= STRAND_CANCELLED;
            pairing_park(given_up);
        }
        return;
    }
    map_put(&l->heard, m->method, (void *)(uintptr_t)(times_heard(l, m->method) + 1));
    method = intern(s, m->method);
    l->just_heard = s->methods[method].name;
    l->heard_ms = s->writing->ms;
}

static bool add_client_answer(struct script *s, const struct record *r,
                              const struct mcp_message *m, struct err *e)
{
    struct script_writing *w = s->writing;
    const struct pairing_request *asked = pairing_answer(&w->pairs, r, m);
    uint32_t op, step;

    if (!asked)
        return true;
    if (asked->tag & IN_SUSPENSE) {
        if (!make_step(s, STEP_REPLY, m->root, &step, e))
            return false;
        suspense_reply(&w->suspense, asked->tag & ~IN_SUSPENSE, step);
        return true;
    }
    op = script_under_op(asked);
    if (s->ops[op].questions)
        s->ops[op].questions--;
    return add_step(s, op, STEP_REPLY, m->root, e);
}

static bool put_message(struct script *s, const struct record *r, struct err *e)
{
    struct mcp_message m = mcp_classify(r->message.msg, &s->writing->scratch);
    struct lane *l = lane_of(s, r, &m);
    bool from_client = r->message.dir == TO_SERVER;

    switch (m.kind) {
    case MCP_REQUEST:
        return from_client ? add_op(s, l, r, &m, e) : add_server_request(s, l, r, &m, e);
    case MCP_NOTIFICATION:
        if (!from_client)
            return add_server_notification(s, l, r, &m, e);
        add_client_notification(s, l, r, &m);
        return true;
    case MCP_RESULT:
    case MCP_ERROR:
        return from_client ? add_client_answer(s, r, &m, e) : add_server_answer(s, l, r, &m, e);
    default:
        return true;
    }
}

/* The server has given a name to the session that a request began. */
static void name_session(struct script *s, const struct record *r)
{
    struct scope_place place = scope_of(&s->writing->pairs.scope, r);
    const struct pairing_request *q = pairing_first(&s->writing->pairs, place.at[0], TO_SERVER);
    struct lane *l;

    if (!q)
        return;
    l = lane_at(s, scope_widest(&place));
    l->session = s->ops[script_under_op(q)].session;
    l->met = true;
}

static void keep_refusal(struct script *s, uint64_t op, const struct record_http *by)
{
    struct script_refusal *how = arena_new(&s->arena, struct script_refusal);

    how->status = (unsigned)by->status;
    how->ours = str_eq(by->by, STR("mcpreel"));
    map_put(&s->refused, map_number(&op), how);
}

/* What a server refuses as a request over HTTP, it has not looked at: there is nothing in it
 * to be asked for, unless an answer follows. */
static void note_refused(struct script *s, const struct record *r)
{
    struct scope_reach at = scope_of(&s->writing->pairs.scope, r).at[0];
    const struct pairing_request *q = pairing_first(&s->writing->pairs, at, TO_SERVER);

    for (; q && at.kind == SCOPE_EXCHANGE; q = pairing_next(q, at)) {
        struct script_op *op = &s->ops[script_under_op(q)];

        if (s->sessions[op->session].greeting == script_under_op(q))
            s->sessions[op->session].greeting = 0;
        if (!(op->flags & STRAND_COUNTS))
            continue;
        op->flags &= (uint8_t)~STRAND_COUNTS;
        s->sessions[op->session].count--;
        keep_refusal(s, script_under_op(q), &r->http);
    }
}

/* In the era without sessions nobody can come back for an answer: whoever closes the exchange
 * gives the request up, and if somebody else does, it is over all the same. */
static void note_end(struct script *s, const struct record *r)
{
    struct pairing *pairs = &s->writing->pairs;
    struct scope_reach at = scope_of(&pairs->scope, r).at[0];
    struct pairing_request *q;

    while (at.kind == SCOPE_EXCHANGE && (q = pairing_first(pairs, at, TO_SERVER)) &&
           !q->parked && script_is_stateless(s, s->ops[script_under_op(q)].session)) {
        if (str_eq(r->http.by, STR("client")))
            s->ops[script_under_op(q)].flags |= STRAND_CANCELLED;
        pairing_park(q);
    }
}

static uint64_t exchange_of(const struct script_writing *w, const struct record *r)
{
    struct scope_reach at = scope_of(&w->pairs.scope, r).at[0];

    return at.kind == SCOPE_EXCHANGE ? at.number : 0;
}

static bool put(struct sink *self, const struct record *r, struct err *e)
{
    struct script *s = (struct script *)self;
    struct script_writing *w = s->writing;
    size_t steps = s->step_count;

    BUG_IF(!w);
    arena_clear(&w->scratch);
    scope_see(&w->pairs.scope, r);
    read_clock(w, r);
    if (r->kind == RECORD_HTTP_RESPONSE && r->http.mints_session && r->has & HAS_SESSION)
        name_session(s, r);
    if (r->kind == RECORD_HTTP_RESPONSE && r->http.status >= OPERATION_REFUSED)
        note_refused(s, r);
    if (r->kind == RECORD_HTTP_END)
        note_end(s, r);
    if (r->kind != RECORD_MESSAGE || r->has & HAS_REDELIVERS)
        return true;
    w->seen++;
    w->exchange = exchange_of(w, r);
    if (!put_message(s, r, e))
        return false;
    if (s->step_count > steps) /* the last is the message, whatever it has to wait for */
        script_event_note(s, (uint32_t)s->step_count - 1, r->message.event);
    return true;
}
