#include "engine/stage.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/compare.h"
#include "engine/review.h"
#include "engine/stage-send.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"

enum {
    /* Clients that drop a request's progress handler as soon as they see its answer lose
     * progress that arrives together with it: the TypeScript SDK does. What comes on another
     * stream is read in any order. Real servers do not answer in the same instant. */
    ANSWER_GAP_US = 5000,

    /* A client that polls a task while it waits for the result of it is to see how the task
     * goes on first. One that has not polled by then only waits. */
    BLOCK_US = 100 * 1000,
};

void stage_init(struct stage *s, const struct script *script, struct say *say,
                struct review *review, double pace, uint64_t *timers)
{
    *s = (struct stage){
        .script = script, .say = say, .review = review, .pace = pace, .timers = timers
    };
    map_init(&s->asked);
    map_init(&s->heard);
    buf_init(&s->capabilities, LIMIT_MESSAGE);
    buf_init(&s->text, LIMIT_MESSAGE * 2);
    script_text_init(&s->read);
}

static void drop_plays(struct stage *s)
{
    while (s->plays) {
        struct stage_play *next = s->plays->next;
        free(s->plays);
        s->plays = next;
    }
    for (struct map_entry *e = NULL; (e = map_next(&s->asked, e));)
        free(e->value);
    map_release(&s->asked);
    map_init(&s->asked);
}

void stage_release(struct stage *s)
{
    drop_plays(s);
    map_release(&s->asked);
    map_release(&s->heard);
    buf_release(&s->capabilities);
    buf_release(&s->text);
    script_text_release(&s->read);
}

static void forget_questions(struct stage *s, struct stage_play *p)
{
    for (struct map_entry *e = NULL; p->questions && (e = map_next(&s->asked, e));) {
        struct stage_question *q = e->value;
        if (q->play != p)
            continue;
        map_remove(&s->asked, e->key);
        free(q);
        p->questions--;
        e = NULL; /* start over: the map has changed */
    }
}

/* Plays that are over. Not before all have had their turn: one can end another. */
static void sweep(struct stage *s)
{
    for (struct stage_play **at = &s->plays; *at;) {
        struct stage_play *p = *at;
        if (!p->gone) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        forget_questions(s, p);
        free(p);
    }
}

static uint64_t times_heard(const struct stage *s, struct str method)
{
    return (uint64_t)(uintptr_t)map_get(&s->heard, method);
}

/* How long it is from one moment of the recording to another. */
static int64_t paced(const struct stage *s, uint32_t from_ms, uint32_t to_ms)
{
    return s->pace > 0 && to_ms > from_ms ? (int64_t)((to_ms - from_ms) * 1000.0 * s->pace) : 0;
}

/* How long what comes next still has to wait for its time. */
static int64_t time_left(const struct stage *s, struct stage_play *p)
{
    const struct script_step *step = &s->script->steps[p->step];
    int64_t left = p->since_us + paced(s, p->since_ms, step->ms) - s->now_us;

    if (step->kind == STEP_ANSWER && p->announced && left < ANSWER_GAP_US)
        left = ANSWER_GAP_US;
    if (left > 0)
        p->since_us = s->now_us + left; /* counts from when it is due, not from when it rings */
    return left;
}

static bool is_silent(const struct stage_play *p, const struct script_step *step)
{
    return step->kind == STEP_REPLY || step->kind == STEP_HEAR ||
           (p->again && step->kind != STEP_ANSWER && step->kind != STEP_PROGRESS);
}

/* Whether what comes next has to wait for an event that will call for it again. */
static bool must_wait(struct stage *s, struct stage_play *p)
{
    const struct script_step *step = &s->script->steps[p->step];
    int64_t left;

    if (p->timer || (step->waits && p->questions))
        return true;
    if (step->kind == STEP_HEAR && !p->again)
        return times_heard(s, script_heard(s->script, step)) < step->len;
    if (p->waited || is_silent(p, step))
        return false;
    left = time_left(s, p);
    if (left <= 0)
        return false;
    p->waited = true;
    p->timer = stage_send_timer(s, left);
    return true;
}

static bool is_held(const struct stage *s, const struct stage_play *p)
{
    const struct script_op *op = &s->script->ops[p->op];

    return p->open || (!(op->flags & STRAND_ANSWERED) && op->flags & STRAND_CANCELLED);
}

/* Sends what may be sent now; the play is gone when all of it was. */
static void advance(struct stage *s, struct stage_play *p)
{
    const struct script_op *op = &s->script->ops[p->op];

    for (; p->step; p->step = script_next_step(s->script, p->op, p->step)) {
        if (must_wait(s, p))
            return;
        stage_send_step(s, p);
        p->waited = false;
    }
    if (p->questions || (p->id.len && is_held(s, p)))
        return; /* held: the recorded client gave up waiting, so may this one */
    stage_send_for(s, p);
    if (p->id.len && !(op->flags & STRAND_ANSWERED))
        say_error(s->say, p->id, MCP_SERVER_ERROR,
                  STR("this request was recorded without an answer"), STR_NONE);
    p->gone = true;
}

/* Something happened in a strand: what comes next counts from here. */
static void go_on(struct stage *s, struct stage_play *p)
{
    p->since_us = s->now_us;
    advance(s, p);
}

/* The recorded id of a subscription, by which its messages name it. */
static struct str recorded_id(struct stage *s, uint32_t op)
{
    struct json_val root;
    const struct mcp_method *known;

    if (s->script->ops[op].flags & STRAND_OPENING)
        return STR_NONE;
    known = script_method(s->script, op)->known;
    if (!known || known->class != MCP_CLASS_LISTEN ||
        !script_read_op(s->script, op, &s->read, &root, &s->trouble))
        return STR_NONE;
    return mcp_id_key(json_get(root, STR("id")), &s->read.arena);
}

static bool has_progress(const struct script *s, uint32_t op)
{
    uint32_t step = script_first_step(s, op);

    while (step && s->steps[step].kind != STEP_PROGRESS)
        step = script_next_step(s, op, step);
    return step != 0;
}

/* The recorded client's progress token as it is written, if the live client has another one
 * and it is none that may stand in any text. Nothing is read for it where nobody has to do
 * with progress. */
static struct str old_token(struct stage *s, uint32_t op, struct str live)
{
    enum { TELLING = 6 };
    struct json_val root;
    struct str token;

    if (s->script->ops[op].flags & STRAND_OPENING ||
        (!live.len && !has_progress(s->script, op)) ||
        !script_read_op(s->script, op, &s->read, &root, &s->trouble))
        return STR_NONE;
    token = json_raw(mcp_progress_token(json_get(json_get(root, STR("params")), MCP_META_KEY)));
    if (str_eq(token, live))
        return STR_NONE;
    if (str_starts(token, STR("\"")))
        token = str_n(token.at + 1, token.len - 2);
    return token.len < TELLING ? STR_NONE : token;
}

/* Who does not say what a subscription is for asks for nothing. */
static struct str filter_of(struct json_val params)
{
    struct json_val filter = json_get(params, STR("notifications"));

    return json_exists(filter) ? json_raw(filter) : STR("{}");
}

static struct stage_play *new_play(struct stage *s, uint32_t op, const struct mcp_message *live,
                                   struct str topic)
{
    struct json_val params = live ? live->params : JSON_VAL_NONE;
    bool greeting = live && str_eq(live->method, STR("initialize"));
    struct str id = live ? json_raw(live->id) : STR_NONE;
    struct json_val meta = live ? live->meta : JSON_VAL_NONE;
    struct str token = json_raw(mcp_progress_token(meta));
    struct json_val version =
        greeting ? json_get(params, STR("protocolVersion")) : JSON_VAL_NONE;
    struct str listens = recorded_id(s, op);
    struct str filter = listens.len ? filter_of(params) : STR_NONE;
    struct str old = listens.len ? STR_NONE : old_token(s, op, token);
    size_t texts = id.len + token.len + old.len + json_raw(version).len + filter.len +
                   listens.len + topic.len;
    struct stage_play *p = mem_alloc(sizeof *p + texts);
    char *at = (char *)(p + 1);

    p->id = str_keep(&at, id);
    p->token = str_keep(&at, token);
    p->old_token = str_keep(&at, old);
    p->version = str_keep(&at, json_raw(version));
    p->filter = str_keep(&at, filter);
    p->listens = str_keep(&at, listens);
    p->topic = str_keep(&at, topic);
    p->asked = mcp_version_parse(json_text(version, &s->read.arena));
    p->level = audience_level(meta);
    return p;
}

void stage_play(struct stage *s, uint32_t op, const struct mcp_message *live, bool again)
{
    stage_play_blocked(s, op, live, again, (struct stage_block){ STR_NONE, 0 });
}

static void block(struct stage *s, struct stage_play *p, uint32_t since_ms)
{
    int64_t left = p->step ? paced(s, since_ms, s->script->steps[p->step].ms) : 0;

    p->timer = stage_send_timer(s, left > BLOCK_US ? left : BLOCK_US);
}

void stage_block(struct stage *s, struct stage_block by)
{
    for (struct stage_play *p = s->plays; p; p = p->next)
        if (p->topic.len && str_eq(p->topic, by.topic))
            block(s, p, by.since_ms);
}

void stage_play_blocked(struct stage *s, uint32_t op, const struct mcp_message *live,
                        bool again, struct stage_block by)
{
    struct stage_play *p = new_play(s, op, live, by.topic), **end = &s->plays;

    p->op = op;
    p->step = script_first_step(s->script, op);
    p->exchange = live ? s->exchange : 0;
    p->again = again;
    p->crosses = s->crosses;
    p->open = p->listens.len > 0;
    p->since_us = s->now_us;
    p->since_ms = s->script->ops[op].ms;
    while (*end)
        end = &(*end)->next;
    *end = p;
    stage_send_for(s, p);
    say_begin(s->say);
    if (by.topic.len)
        block(s, p, by.since_ms);
    advance(s, p);
    sweep(s);
}

void stage_unblock(struct stage *s, struct str topic)
{
    for (struct stage_play *p = s->plays; p; p = p->next)
        if (p->topic.len && (!topic.len || str_eq(p->topic, topic))) {
            p->topic = STR_NONE;
            p->timer = 0;
            go_on(s, p);
        }
    sweep(s);
}

static struct json_val outcome(struct json_val message)
{
    struct json_val result = json_get(message, STR("result"));

    return json_exists(result) ? result : json_get(message, STR("error"));
}

/* The live answer is compared with the one the recorded client gave, for the user. */
static void compare_answer(struct stage *s, const struct stage_question *q,
                           const struct mcp_message *live)
{
    static const struct leaf_rules rules = { .meta = false };
    uint32_t op = q->play->op, step = q->step;
    struct json_val root = stage_send_recorded(s, step);
    struct arena a = { 0 };
    struct str method = arena_str(&a, json_text(json_get(root, STR("method")), &a));
    struct str key = arena_str(&a, mcp_id_key(json_get(root, STR("id")), &a));

    while ((step = script_next_step(s->script, op, step))) {
        if (s->script->steps[step].kind != STEP_REPLY)
            continue;
        root = stage_send_recorded(s, step);
        if (!str_eq(mcp_id_key(json_get(root, STR("id")), &a), key))
            continue;
        if (!compare_same(outcome(root), outcome(live->root), &rules,
                          (struct leaf_mask){ NULL, 0 })) {
            review_question(s->review, op, method, QUESTION_DIFFERS);
            say_report(s->say, LOG_INFO, "the client answers %.*s otherwise than recorded",
                       STR_ARG(method));
        }
        break;
    }
    arena_release(&a);
}

bool stage_hear_answer(struct stage *s, const struct mcp_message *live)
{
    struct arena a = { 0 };
    struct stage_question *q = map_remove(&s->asked, mcp_id_key(live->id, &a));
    struct stage_play *p;

    arena_release(&a);
    if (!q)
        return false;
    p = q->play;
    compare_answer(s, q, live);
    free(q);
    p->questions--;
    go_on(s, p);
    sweep(s);
    return true;
}

void stage_hear_notification(struct stage *s, struct str method)
{
    map_put(&s->heard, method, (void *)(uintptr_t)(times_heard(s, method) + 1));
    for (struct stage_play *p = s->plays; p; p = p->next)
        if (p->step && s->script->steps[p->step].kind == STEP_HEAR)
            go_on(s, p);
    sweep(s);
}

/* A client that does not answer is not waited for any longer. */
static void give_up(struct stage *s, struct str key, const char *why)
{
    struct stage_question *q = map_remove(&s->asked, key);
    struct stage_play *p = q->play;
    struct str method =
        json_text(json_get(stage_send_recorded(s, q->step), STR("method")), &s->read.arena);

    review_question(s->review, p->op, method, QUESTION_UNANSWERED);
    say_report(s->say, LOG_WARN, "no answer to %.*s %s; going on", STR_ARG(method), why);
    free(q);
    p->questions--;
    go_on(s, p);
}

void stage_hear_timer(struct stage *s, uint64_t timer)
{
    struct stage_play *p = s->plays;

    while (p && p->timer != timer)
        p = p->next;
    if (p) {
        p->timer = 0;
        p->topic = STR_NONE;
        if (p->since_us > s->now_us)
            p->since_us = s->now_us; /* a loop's clock may be a little ahead */
        advance(s, p);
        sweep(s);
        return;
    }
    for (struct map_entry *e = NULL; (e = map_next(&s->asked, e));)
        if (((struct stage_question *)e->value)->timer == timer) {
            give_up(s, e->key, "after 60 s");
            sweep(s);
            return;
        }
}

void stage_hurry(struct stage *s)
{
    s->pace = 0;
    for (struct stage_play *p = s->plays; p; p = p->next)
        if (p->timer) {
            p->timer = 0;
            p->topic = STR_NONE;
            go_on(s, p);
        }
    sweep(s);
}

void stage_hear_silence(struct stage *s, uint64_t exchange)
{
    struct map_entry *e = NULL;

    while ((e = map_next(&s->asked, e))) {
        const struct stage_question *q = e->value;

        if (exchange && q->play->exchange != exchange)
            continue;
        give_up(s, e->key,
                exchange ? "from a client that has no stream for it"
                         : "from a client that says no more");
        e = NULL; /* start over: the map has changed */
    }
    sweep(s);
}

bool stage_has_before(const struct stage *s, uint32_t op, uint32_t step)
{
    for (const struct stage_play *p = s->plays; p; p = p->next)
        for (uint32_t at = p->op == op ? p->step : 0; at;
             at = script_next_step(s->script, op, at))
            if (at == step)
                return true;
    return false;
}

/* The end of a subscription can come with any strand, as its events do. */
static bool owes_end(const struct stage *s)
{
    const struct stage_play *p = s->plays;

    while (p && !(p->open && s->script->ops[p->op].flags & STRAND_ANSWERED))
        p = p->next;
    return p != NULL;
}

static bool will_answer(const struct stage *s, const struct stage_play *p, bool event_counts)
{
    uint8_t flags = s->script->ops[p->op].flags;

    if (p->id.len && !p->open && !(flags & (STRAND_ANSWERED | STRAND_CANCELLED)))
        return true; /* with an error, at its end */
    for (uint32_t step = p->step; step; step = script_next_step(s->script, p->op, step)) {
        uint8_t kind = s->script->steps[step].kind;
        if (kind == STEP_ANSWER || (kind == STEP_EVENT && event_counts))
            return true;
    }
    return false;
}

bool stage_needs_time(const struct stage *s)
{
    bool event_counts = owes_end(s);

    for (const struct stage_play *p = s->plays; p; p = p->next)
        if (p->timer && will_answer(s, p, event_counts))
            return true;
    return false;
}

void stage_hear_cancel(struct stage *s, struct json_val id)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(id, &a);
    struct json j;

    json_init(&j);
    for (struct stage_play *p = s->plays; p; p = p->next) {
        struct json_fault fault;

        if (!json_scan(&j, p->id, &fault) || !str_eq(mcp_id_key(json_root(&j), &a), key))
            continue;
        p->gone = true;
        stage_send_for(s, p);
        say_drop(s->say);
    }
    sweep(s);
    json_release(&j);
    arena_release(&a);
}

void stage_hear_gone(struct stage *s, uint64_t exchange)
{
    for (struct stage_play *p = s->plays; p; p = p->next)
        p->gone = p->gone || p->exchange == exchange;
    sweep(s);
}

void stage_reset(struct stage *s, struct json_val capabilities, bool shared)
{
    if (!shared)
        drop_plays(s);
    map_release(&s->heard);
    map_init(&s->heard);
    s->version = MCP_VERSION_UNKNOWN;
    buf_clear(&s->capabilities);
    buf_add(&s->capabilities, json_raw(capabilities));
}
