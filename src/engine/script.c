#include "engine/script.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/id.h"
#include "mcp/meta.h"

static bool script_put(struct sink *self, const struct record *r, struct err *e);

static void init_op(struct script_op *op)
{
    *op = (struct script_op){ 0 };
    op->tail = &op->first;
}

void script_init(struct script *s)
{
    *s = (struct script){ .sink = { script_put } };
    init_op(&s->opening);
    s->last = &s->opening;
    pairing_init(&s->pairs);
    map_init(&s->tokens);
    map_init(&s->heard);
}

void script_finish(struct script *s)
{
    pairing_release(&s->pairs);
    map_release(&s->tokens);
    map_release(&s->heard);
    pairing_init(&s->pairs);
    map_init(&s->tokens);
    map_init(&s->heard);
}

void script_release(struct script *s)
{
    script_finish(s);
    pairing_release(&s->pairs);
    map_release(&s->tokens);
    map_release(&s->heard);
    free(s->ops);
    arena_release(&s->arena);
}

/* A copy on one line: a recording that was laid out for people has line breaks in
 * its messages, which are blanks there but would end a message on stdio. */
static struct str keep_line(struct script *s, struct str json)
{
    char *kept = arena_alloc(&s->arena, json.len), *end = kept + json.len, *at = kept;

    memcpy(kept, json.at, json.len);
    while ((at = memchr(at, '\n', (size_t)(end - at))))
        *at++ = ' ';
    return str_n(kept, json.len);
}

static struct script_step *append(struct script *s, struct script_op *op,
                                  enum script_step_kind kind, struct str raw)
{
    struct script_step *step = arena_new(&s->arena, struct script_step);

    step->op = op;
    step->kind = kind;
    step->raw = raw;
    step->waits = !op->questions;
    *op->tail = step;
    op->tail = &step->next;
    return step;
}

static struct script_step *add_step(struct script *s, struct script_op *op,
                                    enum script_step_kind kind, struct json_val msg)
{
    s->last = op;
    return append(s, op, kind, keep_line(s, json_raw(msg)));
}

static uint64_t times_heard(const struct script *s, struct str method)
{
    return (uint64_t)(uintptr_t)map_get(&s->heard, method);
}

static void add_gate(struct script *s, struct script_op *op, struct str method)
{
    append(s, op, STEP_HEAR, arena_str(&s->arena, method))->times = times_heard(s, method);
}

/* The one request that is being worked on, if there is exactly one. */
static struct script_op *only_open(const struct script *s)
{
    struct script_op *found = NULL;

    for (const struct pairing_request *q = s->pairs.oldest; q && s->in_flight == 1;
         q = q->newer) {
        struct script_op *op = (struct script_op *)(uintptr_t)q->tag;
        if (q->dir == TO_SERVER && !op->cancelled)
            found = op;
    }
    return found;
}

/* Where a message goes that answers nothing: to the one request that is being
 * worked on, or behind what the server sent before. If nobody was being served, a
 * notification that came just before may be the reason for it: wait for it too. */
static struct script_op *place_of_unasked(struct script *s)
{
    struct script_op *op = only_open(s);

    if (op)
        return op;
    if (!s->in_flight && s->just_heard.len)
        add_gate(s, s->last, s->just_heard);
    s->just_heard = STR_NONE;
    return s->last;
}

static void remember_token(struct script *s, struct script_op *op, const struct mcp_message *m)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(mcp_progress_token(m->params), &a);

    if (key.len)
        map_put(&s->tokens, key, op);
    arena_release(&a);
}

/* A new session: the client has said nothing in it yet. */
static void forget_heard(struct script *s)
{
    map_release(&s->heard);
    map_init(&s->heard);
}

static bool is_modern(const struct mcp_message *m)
{
    struct arena a = { 0 };
    struct str version = json_text(mcp_meta(m->params, MCP_META_VERSION), &a);
    bool modern = mcp_version_era(mcp_version_parse(version)) == MCP_ERA_MODERN;

    arena_release(&a);
    return modern;
}

static void add_op(struct script *s, const struct record *r, const struct mcp_message *m)
{
    struct script_op *op = arena_new(&s->arena, struct script_op);

    init_op(op);
    op->index = s->count;
    op->seq = r->message.seq;
    op->raw = keep_line(s, json_raw(r->message.msg));
    op->method = arena_str(&s->arena, m->method);
    op->subject = json_text(mcp_subject(m->method, m->params), &s->arena);
    op->subject = arena_str(&s->arena, op->subject);
    op->known = mcp_method_find(m->method);
    s->ops = mem_reserve(s->ops, &s->cap, s->count + 1, sizeof(struct script_op *));
    s->ops[s->count++] = op;
    s->in_flight++;
    s->modern = s->modern || is_modern(m);
    s->just_heard = STR_NONE; /* what the server says next, it says to this */
    if (str_eq(op->method, STR("initialize")))
        forget_heard(s);
    remember_token(s, op, m);
    pairing_ask(&s->pairs, r, m, (uint64_t)(uintptr_t)op);
}

static struct script_op *of_progress(const struct script *s, const struct mcp_message *m)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(json_get(m->params, STR("progressToken")), &a);
    struct script_op *op = key.len ? map_get(&s->tokens, key) : NULL;

    arena_release(&a);
    return op;
}

static void add_server_notification(struct script *s, const struct mcp_message *m)
{
    struct script_op *op = NULL;

    if (str_eq(m->method, STR("notifications/progress")))
        op = of_progress(s, m);
    if (op) {
        add_step(s, op, STEP_PROGRESS, m->root);
        return;
    }
    add_step(s, place_of_unasked(s), STEP_SEND, m->root);
}

static void add_server_request(struct script *s, const struct record *r,
                               const struct mcp_message *m)
{
    struct script_step *step = add_step(s, place_of_unasked(s), STEP_ASK, m->root);

    step->op->questions++;
    pairing_ask(&s->pairs, r, m, (uint64_t)(uintptr_t)step);
}

static void add_server_answer(struct script *s, const struct record *r,
                              const struct mcp_message *m)
{
    const struct pairing_request *asked = pairing_answer(&s->pairs, r, m);
    struct script_op *op;

    if (!asked)
        return; /* an answer to nothing has no place to be sent from */
    op = (struct script_op *)(uintptr_t)asked->tag;
    add_step(s, op, STEP_ANSWER, m->root);
    op->answered = true;
    op->succeeded = m->kind == MCP_RESULT;
    s->in_flight -= !op->cancelled;
}

/* Nothing that comes later is sent under a request its client has given up. */
static void cancel_op(struct script *s, struct script_op *op)
{
    s->in_flight -= !op->cancelled;
    op->cancelled = true;
}

static void cancel_recorded(struct script *s, const struct record *r,
                            const struct mcp_message *m)
{
    const struct pairing_request *asked =
        pairing_peek(&s->pairs, TO_SERVER, r->conn, json_get(m->params, STR("requestId")));

    if (asked)
        cancel_op(s, (struct script_op *)(uintptr_t)asked->tag);
}

static void add_client_notification(struct script *s, const struct record *r,
                                    const struct mcp_message *m)
{
    if (str_eq(m->method, STR("notifications/cancelled"))) {
        cancel_recorded(s, r, m);
        return;
    }
    map_put(&s->heard, m->method, (void *)(uintptr_t)(times_heard(s, m->method) + 1));
    s->just_heard = arena_str(&s->arena, m->method);
}

static void add_client_answer(struct script *s, const struct record *r,
                              const struct mcp_message *m)
{
    const struct pairing_request *asked = pairing_answer(&s->pairs, r, m);

    if (asked)
        ((struct script_step *)(uintptr_t)asked->tag)->op->questions--;
}

static bool script_put(struct sink *self, const struct record *r, struct err *e)
{
    struct script *s = (struct script *)self;
    struct arena a = { 0 };
    struct mcp_message m;
    bool from_client;

    (void)e;
    if (r->kind != RECORD_MESSAGE)
        return true;
    m = mcp_classify(r->message.msg, &a);
    from_client = r->message.dir == TO_SERVER;
    if (m.kind == MCP_REQUEST && from_client)
        add_op(s, r, &m);
    else if (m.kind == MCP_REQUEST)
        add_server_request(s, r, &m);
    else if (m.kind == MCP_NOTIFICATION && from_client)
        add_client_notification(s, r, &m);
    else if (m.kind == MCP_NOTIFICATION)
        add_server_notification(s, &m);
    else if (mcp_is_response(&m) && from_client)
        add_client_answer(s, r, &m);
    else if (mcp_is_response(&m))
        add_server_answer(s, r, &m);
    arena_release(&a);
    return true;
}
