#include "engine/upstream.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/splice.h"

/* A request of the live client's that was passed on. */
struct upstream_call {
    struct upstream_call *next;
    uint64_t id;       /* ours */
    bool sent;         /* else it waits for the greeting to be over */
    struct str theirs; /* the client's id, as JSON */
    struct str token;  /* the client's progress token, as JSON; empty: none */
    struct str text;   /* what is sent */
    const void *of;
    uint64_t exchange;
    bool deaf; /* whoever made it cannot be asked anything */
};

/* A question of its that was passed on. */
struct upstream_question {
    const void *of; /* whose call it went with; NULL: there was none */
    uint64_t exchange;
    struct str id; /* its own, as JSON */
};

#define GREETING_ID "\"mcpreel-greeting\""

enum {
    GREETING_S = 60,
    SILENCE_S = 300,
    SECOND_US = 1000000,
    TOLD_MAX = 16,
    CALLED_OFF_MAX = 1 << 10,
};

void upstream_init(struct upstream *u, struct say *say, uint64_t *timers, bool returns)
{
    *u = (struct upstream){ .say = say, .timers = timers, .returns = returns };
    map_init(&u->questions);
    recall_init(&u->called_off, CALLED_OFF_MAX);
    map_init(&u->told);
    buf_init(&u->hello, LIMIT_MESSAGE);
    buf_init(&u->text, LIMIT_MESSAGE * 2);
}

/* Whoever is asked may answer all the same, but nobody waits for that. */
static void call_off_questions(struct upstream *u)
{
    for (struct map_entry *at = NULL; (at = map_next(&u->questions, at));) {
        recall_put(&u->called_off, at->key, 1, 0);
        free(at->value);
    }
    map_release(&u->questions);
    map_init(&u->questions);
}

void upstream_release(struct upstream *u)
{
    while (u->calls) {
        struct upstream_call *next = u->calls->next;
        free(u->calls);
        u->calls = next;
    }
    call_off_questions(u);
    map_release(&u->questions);
    recall_release(&u->called_off);
    map_release(&u->told);
    buf_release(&u->hello);
    buf_release(&u->text);
    arena_release(&u->arena);
}

void upstream_note_greeting(struct upstream *u, const struct mcp_message *live)
{
    buf_clear(&u->hello);
    buf_add(&u->hello, json_raw(live->params));
}

static struct str with_value(struct upstream *u, struct json_val root, struct json_val value,
                             struct str raw)
{
    struct json_splice edit;

    buf_clear(&u->text);
    json_splice_init(&edit, root);
    json_splice_replace(&edit, value, raw);
    json_splice_apply(&edit, &u->text);
    BUG_IF(u->text.full);
    return buf_str(&u->text);
}

/* What is said from now on is for whoever waits for a call; NULL: for nobody in particular. */
static void speak_to(struct upstream *u, const struct upstream_call *c)
{
    u->say->way = (struct action_way){ .exchange = c ? c->exchange : 0 };
}

static void greet(struct upstream *u)
{
    struct str params = buf_str(&u->hello);

    if (!params.len)
        params =
            STR("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}}");
    buf_clear(&u->text);
    buf_add(&u->text,
            STR("{\"jsonrpc\":\"2.0\",\"id\":" GREETING_ID ",\"method\":\"initialize\","
                "\"params\":"));
    buf_add(&u->text, params);
    buf_add_ch(&u->text, '}');
    say_upstream(u->say, buf_str(&u->text));
    u->greeted = true;
}

static void watch(struct upstream *u, int64_t seconds)
{
    u->heard = false;
    u->watch = ++*u->timers;
    say_timer(u->say, u->watch, seconds * SECOND_US);
}

static void start(struct upstream *u, bool modern)
{
    u->state = modern ? UPSTREAM_READY : UPSTREAM_GREETING;
    if (!u->started)
        say_start_upstream(u->say);
    u->started = true;
    if (u->state == UPSTREAM_GREETING) { /* it may not even have been started */
        if (!u->greeted)
            greet(u);
        watch(u, GREETING_S);
    }
}

static void send_waiting(struct upstream *u)
{
    for (struct upstream_call *c = u->calls; c; c = c->next)
        if (!c->sent) {
            c->sent = true;
            say_upstream(u->say, c->text);
        }
}

static void complain(struct upstream *u, struct str why)
{
    if (map_get(&u->told, why) || u->told.count >= TOLD_MAX)
        return;
    map_put(&u->told, why, u);
    say_report(u->say, upstream_owes(u) && !u->returns ? LOG_ERROR : LOG_WARN,
               "the server behind the recording: %.*s", STR_ARG(why));
}

static void praise(struct upstream *u)
{
    if (!u->told.count)
        return;
    map_release(&u->told);
    map_init(&u->told);
    say_report(u->say, LOG_INFO, "the server behind the recording answers again");
}

/* `why` is empty for one that is gone. */
static void refuse(struct upstream *u, struct str id, struct str why)
{
    u->failed = true;
    buf_clear(&u->text);
    buf_printf(&u->text, "not recorded, and the server behind the recording %s%.*s",
               why.len ? "does not answer: " : "is gone", STR_ARG(why));
    say_error(u->say, id, MCP_SERVER_ERROR, buf_str(&u->text), STR_NONE);
}

/* Whoever waits gets an error. */
static void fail(struct upstream *u, enum upstream_state state, struct str why)
{
    if (u->state == UPSTREAM_GONE)
        return;
    u->state = state;
    call_off_questions(u);
    complain(u, why);
    while (u->calls) {
        struct upstream_call *c = u->calls;
        speak_to(u, c);
        refuse(u, c->theirs, u->returns ? why : STR_NONE);
        u->calls = c->next;
        free(c);
    }
}

/* It does not do what it should; who is elsewhere may do so another time. */
static void fail_for_now(struct upstream *u, struct str why)
{
    fail(u, u->returns ? UPSTREAM_IDLE : UPSTREAM_GONE, why);
}

/* The request under an id of ours, which its progress is to name, too. */
static struct str under_our_id(struct upstream *u, const struct mcp_message *live,
                               struct str id)
{
    struct json_splice edit;

    buf_clear(&u->text);
    json_splice_init(&edit, live->root);
    json_splice_replace(&edit, live->id, id);
    json_splice_replace(&edit, mcp_progress_token(live->meta), id);
    json_splice_apply(&edit, &u->text);
    BUG_IF(u->text.full);
    return buf_str(&u->text);
}

static struct upstream_call *new_call(struct upstream *u, const struct mcp_message *live)
{
    char id[24];
    size_t id_len = (size_t)snprintf(id, sizeof id, "%llu", (unsigned long long)++u->last_id);
    struct str text = under_our_id(u, live, str_n(id, id_len)), theirs = json_raw(live->id);
    struct str token = json_raw(mcp_progress_token(live->meta));
    struct upstream_call *c = mem_alloc(sizeof *c + text.len + theirs.len + token.len);
    char *at = (char *)(c + 1);

    c->id = u->last_id;
    c->text = str_keep(&at, text);
    c->theirs = str_keep(&at, theirs);
    c->token = str_keep(&at, token);
    c->exchange = u->say->way.exchange;
    return c;
}

void upstream_forward(struct upstream *u, const struct mcp_message *live, bool modern,
                      const void *of)
{
    struct upstream_call **end = &u->calls;

    if (u->state == UPSTREAM_GONE) {
        refuse(u, json_raw(live->id), STR_NONE);
        return;
    }
    if (u->doubted && !u->calls) {
        u->state = UPSTREAM_IDLE;
        u->doubted = false;
    }
    u->forwarded++;
    while (*end)
        end = &(*end)->next;
    *end = new_call(u, live);
    (*end)->of = of;
    if (u->state == UPSTREAM_IDLE)
        start(u, modern);
    if (u->state != UPSTREAM_GREETING && u->state != UPSTREAM_READY)
        return;
    if (!u->watch)
        watch(u, SILENCE_S);
    else
        u->heard = true; /* it has time from now on */
    if (u->state == UPSTREAM_READY)
        send_waiting(u);
}

static struct upstream_call **find_call(struct upstream *u, struct json_val id)
{
    struct upstream_call **at = &u->calls;
    int64_t number = -1;

    if (json_type(id) != JSON_NUMBER || !json_int(id, &number))
        number = -1;
    while (*at && (int64_t)(*at)->id != number)
        at = &(*at)->next;
    return at;
}

/* What one that is elsewhere could not be told is said in its place, with the usual code. */
static bool is_said_for_it(const struct upstream *u, const struct mcp_message *m)
{
    return u->returns && mcp_error_is(m, MCP_SERVER_ERROR);
}

static struct str why_refused(struct upstream *u, const struct mcp_message *m)
{
    struct str text = json_text(json_get(m->error, STR("message")), &u->arena);

    if (is_said_for_it(u, m))
        return text;
    return arena_printf(&u->arena, "it refused to be initialized: %.*s", STR_ARG(text));
}

/* However late: but nobody waits any longer for one that fails then. */
static void end_greeting(struct upstream *u, const struct mcp_message *m)
{
    u->greeted = false;
    if (m->kind == MCP_ERROR) {
        if (u->state == UPSTREAM_GREETING)
            fail_for_now(u, why_refused(u, m));
        return;
    }
    praise(u);
    u->state = UPSTREAM_READY;
    say_upstream(u->say, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    send_waiting(u);
}

/* What is said in place of one that is elsewhere. True: that it could not be reached, and the
 * client was told so. */
static bool is_unreached(struct upstream *u, const struct upstream_call *c,
                         const struct mcp_message *m)
{
    bool status = json_exists(json_get(json_get(m->error, STR("data")), STR("httpStatus")));
    struct arena a = { NULL, 0 };
    struct str text = json_text(json_get(m->error, STR("message")), &a);
    bool unreached = u->doubted && !status && map_get(&u->told, text);

    if (unreached)
        refuse(u, c->theirs, text);
    else if (!u->doubted && status)
        complain(u, text);
    arena_release(&a);
    return unreached;
}

/* Whoever asked gets that as the answer of one that is elsewhere, or in its place. */
static void pass_answer(struct upstream *u, const struct upstream_call *c,
                        const struct mcp_message *m)
{
    speak_to(u, c);
    u->say->way.last = true;
    if (!is_said_for_it(u, m) || !is_unreached(u, c, m))
        say_message(u->say, with_value(u, m->root, m->id, c->theirs));
}

static void hear_response(struct upstream *u, const struct mcp_message *m)
{
    struct upstream_call **at, *c;

    if (str_eq(json_raw(m->id), STR(GREETING_ID)) && u->greeted) {
        end_greeting(u, m);
        return;
    }
    at = find_call(u, m->id);
    c = *at;
    if (!c)
        return; /* nobody asked */
    if (m->kind == MCP_RESULT)
        praise(u);
    pass_answer(u, c, m);
    *at = c->next;
    free(c);
}

static struct upstream_question *new_question(const struct upstream_call *c, struct str id)
{
    struct upstream_question *q = mem_alloc(sizeof *q + id.len);
    char *at = (char *)(q + 1);

    q->of = c ? c->of : NULL;
    q->exchange = c ? c->exchange : 0;
    q->id = str_keep(&at, id);
    return q;
}

/* With which call a question goes: the oldest, if possible of somebody who can be asked. */
static const struct upstream_call *call_to_ask(const struct upstream *u)
{
    const struct upstream_call *c = u->calls;

    while (c && c->deaf)
        c = c->next;
    return c ? c : u->calls;
}

/* Under an id that no recorded question has. */
static void pass_question(struct upstream *u, const struct mcp_message *m)
{
    const struct upstream_call *c = call_to_ask(u);
    struct str name =
        arena_printf(&u->arena, "mcpreel-up-%llu", (unsigned long long)++u->last_id);

    map_put(&u->questions, arena_printf(&u->arena, "s%s", name.at),
            new_question(c, json_raw(m->id)));
    speak_to(u, c);
    u->say->way.asks = true;
    say_message(u->say,
                with_value(u, m->root, m->id, arena_printf(&u->arena, "\"%s\"", name.at)));
}

/* Progress is for one client; what else there is, for whoever waits. */
static void pass_notification(struct upstream *u, const struct mcp_message *m)
{
    struct json_val token = json_get(m->params, STR("progressToken"));
    const struct upstream_call *c = u->calls;

    if (!str_eq(m->method, STR("notifications/progress"))) {
        speak_to(u, c);
        say_message(u->say, json_raw(m->root));
        return;
    }
    c = *find_call(u, token);
    if (!c || !c->token.len)
        return; /* nobody asked for it, or does any more */
    speak_to(u, c);
    say_message(u->say, with_value(u, m->root, token, c->token));
}

void upstream_hear(struct upstream *u, const struct record *r)
{
    struct mcp_message m;

    if (u->state == UPSTREAM_GONE)
        return;
    u->heard = true;
    if (r->kind != RECORD_MESSAGE) {
        say_report(u->say, LOG_WARN, "the server behind the recording sent what is no message");
        return;
    }
    m = mcp_classify(r->message.msg, &u->arena);
    if (mcp_is_response(&m))
        hear_response(u, &m);
    else if (m.kind == MCP_REQUEST)
        pass_question(u, &m);
    else if (m.kind == MCP_NOTIFICATION)
        pass_notification(u, &m);
    arena_clear(&u->arena);
}

bool upstream_hear_answer(struct upstream *u, const struct mcp_message *live)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(live->id, &a);
    struct upstream_question *asked = map_remove(&u->questions, key);
    bool ours = asked || recall_find(&u->called_off, key);

    arena_release(&a);
    if (!asked)
        return ours;
    u->heard = true; /* now it has something to do */
    say_upstream(u->say, with_value(u, live->root, live->id, asked->id));
    free(asked);
    return true;
}

bool upstream_hear_cancel(struct upstream *u, const struct mcp_message *live, const void *of)
{
    struct json_val id = json_get(live->params, STR("requestId"));
    struct upstream_call **at = &u->calls, *c;
    char ours[24];

    while (*at && ((*at)->of != of || !str_eq((*at)->theirs, json_raw(id))))
        at = &(*at)->next;
    c = *at;
    if (!c)
        return false;
    if (c->sent) {
        int len = snprintf(ours, sizeof ours, "%llu", (unsigned long long)c->id);
        say_upstream(u->say, with_value(u, live->root, id, str_n(ours, (size_t)len)));
    }
    *at = c->next;
    free(c);
    return true;
}

/* The first question that went with such a call. */
static struct map_entry *question_of(const struct upstream *u, const void *of,
                                     uint64_t exchange)
{
    struct map_entry *e = NULL;

    while ((e = map_next(&u->questions, e))) {
        const struct upstream_question *q = e->value;

        if (q->of == of && (!exchange || q->exchange == exchange))
            break;
    }
    return e;
}

/* It is told so: else it would wait for ever. */
static void refuse_questions(struct upstream *u, const void *of, uint64_t exchange)
{
    struct map_entry *e;

    while ((e = question_of(u, of, exchange))) {
        struct upstream_question *q = e->value;

        buf_clear(&u->text);
        buf_printf(&u->text,
                   "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":"
                   "\"the client cannot be asked\"}}",
                   STR_ARG(q->id), MCP_SERVER_ERROR);
        u->heard = true;
        say_upstream(u->say, buf_str(&u->text));
        recall_put(&u->called_off, e->key, 1, 0);
        map_remove(&u->questions, e->key);
        free(q);
    }
}

void upstream_unasked(struct upstream *u, const void *of, uint64_t exchange)
{
    for (struct upstream_call *c = u->calls; c; c = c->next)
        c->deaf = c->deaf || (c->of == of && c->exchange == exchange);
    refuse_questions(u, of, exchange);
}

void upstream_forget(struct upstream *u, const void *of, uint64_t exchange)
{
    refuse_questions(u, of, exchange);
    for (struct upstream_call **at = &u->calls, *c; (c = *at);) {
        if (c->of != of || (exchange && c->exchange != exchange)) {
            at = &c->next;
            continue;
        }
        if (c->sent) {
            buf_clear(&u->text);
            buf_printf(&u->text,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                       "\"params\":{\"requestId\":%llu}}",
                       (unsigned long long)c->id);
            say_upstream(u->say, buf_str(&u->text));
        }
        *at = c->next;
        free(c);
    }
}

/* It has been greeted by us: that the client is ready need not be said twice. */
void upstream_hear_notification(struct upstream *u, const struct mcp_message *live)
{
    if (u->state == UPSTREAM_READY && !str_eq(live->method, STR("notifications/initialized")))
        say_upstream(u->say, json_raw(live->root));
}

static bool is_silent(const struct upstream *u)
{
    return !u->heard && !u->questions.count;
}

bool upstream_hear_timer(struct upstream *u, uint64_t timer)
{
    if (!u->watch || timer != u->watch)
        return false;
    u->watch = 0;
    if (u->state == UPSTREAM_GREETING)
        fail_for_now(u, STR("it does not answer its greeting"));
    else if (upstream_owes(u) && is_silent(u))
        fail_for_now(u, STR("it has been silent for 300 s"));
    else if (upstream_owes(u))
        watch(u, SILENCE_S);
    return true;
}

void upstream_give_up(struct upstream *u, struct str why)
{
    fail_for_now(u, why);
}

void upstream_closed(struct upstream *u, struct str why)
{
    fail(u, UPSTREAM_GONE, why);
}

void upstream_lost(struct upstream *u, struct str why)
{
    if (u->state != UPSTREAM_READY)
        return;
    complain(u, why);
    u->doubted = u->failed = true;
}
