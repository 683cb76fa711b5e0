#include "engine/stage.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/splice.h"

/* A strand under way for one live request. */
struct stage_play {
    struct stage_play *next;
    const struct script_op *op;
    const struct script_step *step; /* what comes next; NULL: all was sent */
    struct str id, token, version;  /* the live request's, as JSON; empty: none */
    enum mcp_version asked;         /* what `version` means */
    size_t questions;               /* asked and not yet answered */
    uint64_t timer;                 /* that it waits for; 0: none */
    bool again;
    bool progressed; /* progress was sent, and nothing since that needs it read first */
};

/* Clients that drop a request's progress handler as soon as they see its answer lose
 * progress that arrives together with it: the TypeScript SDK does. Real servers do
 * not answer in the same instant. */
enum { PROGRESS_GAP_US = 5000 };

void stage_init(struct stage *s, struct action_sink *out)
{
    *s = (struct stage){ 0 };
    say_init(&s->say, out);
    map_init(&s->asked);
    map_init(&s->heard);
    buf_init(&s->capabilities, LIMIT_MESSAGE);
    buf_init(&s->text, LIMIT_MESSAGE * 2);
    json_init(&s->json);
}

static void drop_plays(struct stage *s)
{
    while (s->plays) {
        struct stage_play *next = s->plays->next;
        free(s->plays);
        s->plays = next;
    }
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
    say_release(&s->say);
    json_release(&s->json);
    arena_release(&s->arena);
}

void stage_report(struct stage *s, enum log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_vreport(&s->say, level, fmt, ap);
    va_end(ap);
}

void stage_send_error(struct stage *s, struct str id, int64_t code, struct str message,
                      struct str data)
{
    say_error(&s->say, id, code, message, data);
}

void stage_send_result(struct stage *s, struct str id, struct str result)
{
    say_result(&s->say, id, result);
}

static struct json_val recorded(struct stage *s, struct str raw)
{
    struct json_fault fault;

    if (!json_scan(&s->json, raw, &fault))
        BUG("a recorded message is JSON");
    return json_root(&s->json);
}

static void send_spliced(struct stage *s, struct json_splice *edit)
{
    buf_clear(&s->text);
    json_splice_apply(edit, &s->text);
    BUG_IF(s->text.full);
    say_message(&s->say, buf_str(&s->text));
}

static enum mcp_version version_of(struct stage *s, struct json_val version)
{
    return mcp_version_parse(json_text(version, &s->arena));
}

static void send_answer(struct stage *s, const struct stage_play *p)
{
    struct json_val root = recorded(s, p->step->raw);
    struct json_val version = json_get(json_get(root, STR("result")), STR("protocolVersion"));
    struct json_splice edit;

    json_splice_init(&edit, root);
    json_splice_replace(&edit, json_get(root, STR("id")), p->id);
    /* The recorded revision stands, unless the live client is older: it could not
     * speak it. */
    if (p->asked != MCP_VERSION_UNKNOWN && p->asked < version_of(s, version))
        json_splice_replace(&edit, version, p->version);
    send_spliced(s, &edit);
    s->answered++;
}

static void send_progress(struct stage *s, struct stage_play *p)
{
    struct json_val root, token;
    struct json_splice edit;

    if (!p->token.len)
        return; /* this client did not ask for progress */
    root = recorded(s, p->step->raw);
    token = json_get(json_get(root, STR("params")), STR("progressToken"));
    json_splice_init(&edit, root);
    json_splice_replace(&edit, token, p->token);
    send_spliced(s, &edit);
    p->progressed = true;
}

static bool client_can(struct stage *s, struct str capability)
{
    struct json_fault fault;
    struct json j;
    bool can;

    if (!capability.len)
        return true;
    json_init(&j);
    can = json_scan(&j, buf_str(&s->capabilities), &fault) &&
          json_exists(json_get(json_root(&j), capability));
    json_release(&j);
    return can;
}

/* A question goes only to a client that can answer it. Its recorded id is kept
 * unless another question is under way with the same one. */
static void send_question(struct stage *s, struct stage_play *p)
{
    struct json_val root = recorded(s, p->step->raw), id = json_get(root, STR("id"));
    struct str method = json_text(json_get(root, STR("method")), &s->arena);
    const struct mcp_method *known = mcp_method_find(method);
    struct str key = mcp_id_key(id, &s->arena);
    struct json_splice edit;

    if (known && !client_can(s, known->capability)) {
        stage_report(s, LOG_WARN, "left out a %.*s: this client does not support it",
                     STR_ARG(method));
        return;
    }
    json_splice_init(&edit, root);
    if (map_get(&s->asked, key)) {
        struct str name =
            arena_printf(&s->arena, "mcpreel-%llu", (unsigned long long)++s->renamed);
        json_splice_replace(&edit, id, arena_printf(&s->arena, "\"%s\"", name.at));
        key = arena_printf(&s->arena, "s%s", name.at);
    }
    map_put(&s->asked, key, p);
    p->questions++;
    send_spliced(s, &edit);
}

static void send_step(struct stage *s, struct stage_play *p)
{
    switch (p->step->kind) {
    case STEP_SEND:
        if (!p->again)
            say_message(&s->say, p->step->raw);
        break;
    case STEP_PROGRESS:
        send_progress(s, p);
        break;
    case STEP_ASK:
        if (!p->again)
            send_question(s, p);
        break;
    case STEP_ANSWER:
        send_answer(s, p);
        break;
    case STEP_HEAR:
        break;
    }
}

static void forget_questions(struct stage *s, struct stage_play *p)
{
    for (struct map_entry *e = NULL; p->questions && (e = map_next(&s->asked, e));)
        if (e->value == p) {
            map_remove(&s->asked, e->key);
            p->questions--;
            e = NULL; /* start over: the map has changed */
        }
}

static void remove_play(struct stage *s, struct stage_play *gone)
{
    struct stage_play **at = &s->plays;

    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    forget_questions(s, gone);
    free(gone);
}

static void set_timer(struct stage *s, struct stage_play *p, int64_t delay_us)
{
    p->timer = ++s->timers;
    say_timer(&s->say, p->timer, delay_us);
}

static uint64_t times_heard(const struct stage *s, struct str method)
{
    return (uint64_t)(uintptr_t)map_get(&s->heard, method);
}

/* Whether what comes next has to wait for an event that will call for it again. */
static bool must_wait(struct stage *s, struct stage_play *p)
{
    const struct script_step *step = p->step;

    if (p->timer || (step->waits && p->questions))
        return true;
    if (step->kind == STEP_HEAR && !p->again)
        return times_heard(s, step->raw) < step->times;
    if (step->kind != STEP_ANSWER || !p->progressed)
        return false;
    p->progressed = false;
    set_timer(s, p, PROGRESS_GAP_US);
    return true;
}

/* Sends what may be sent now; the play is gone when all of it was. */
static void advance(struct stage *s, struct stage_play *p)
{
    for (; p->step; p->step = p->step->next) {
        if (must_wait(s, p))
            return;
        send_step(s, p);
    }
    if (p->questions)
        return;
    if (p->id.len && !p->op->answered) {
        if (p->op->cancelled)
            return; /* held: the recorded client gave up waiting, so may this one */
        stage_send_error(s, p->id, MCP_SERVER_ERROR,
                         STR("this request was recorded without an answer"), STR_NONE);
    }
    remove_play(s, p);
}

static struct str keep_json(char **at, struct json_val v)
{
    struct str raw = json_raw(v), kept = str_n(*at, raw.len);

    if (raw.len)
        memcpy(*at, raw.at, raw.len);
    *at += raw.len;
    return kept;
}

void stage_play(struct stage *s, const struct script_op *op, const struct mcp_message *live,
                bool again)
{
    struct json_val id = live ? live->id : JSON_VAL_NONE;
    struct json_val token = live ? mcp_progress_token(live->params) : JSON_VAL_NONE;
    bool greeting = live && str_eq(live->method, STR("initialize"));
    struct json_val version =
        greeting ? json_get(live->params, STR("protocolVersion")) : JSON_VAL_NONE;
    size_t texts = json_raw(id).len + json_raw(token).len + json_raw(version).len;
    struct stage_play *p = mem_alloc(sizeof *p + texts), **end = &s->plays;
    char *at = (char *)(p + 1);

    p->op = op;
    p->step = op->first;
    p->again = again;
    p->id = keep_json(&at, id);
    p->token = keep_json(&at, token);
    p->version = keep_json(&at, version);
    while (*end)
        end = &(*end)->next;
    *end = p;
    arena_clear(&s->arena);
    p->asked = version_of(s, version);
    advance(s, p);
}

bool stage_hear_answer(struct stage *s, struct json_val id)
{
    struct stage_play *p;

    arena_clear(&s->arena);
    p = map_remove(&s->asked, mcp_id_key(id, &s->arena));
    if (!p)
        return false;
    p->questions--;
    advance(s, p);
    return true;
}

void stage_hear_notification(struct stage *s, struct str method)
{
    map_put(&s->heard, method, (void *)(uintptr_t)(times_heard(s, method) + 1));
    arena_clear(&s->arena);
    for (struct stage_play *p = s->plays, *next; p; p = next) {
        next = p->next;
        advance(s, p);
    }
}

void stage_hear_timer(struct stage *s, uint64_t timer)
{
    struct stage_play *p = s->plays;

    while (p && p->timer != timer)
        p = p->next;
    if (!p)
        return; /* its request was given up meanwhile */
    p->timer = 0;
    arena_clear(&s->arena);
    advance(s, p);
}

bool stage_needs_time(const struct stage *s)
{
    for (const struct stage_play *p = s->plays; p; p = p->next)
        if (p->timer)
            return true;
    return false;
}

void stage_hear_cancel(struct stage *s, struct json_val id)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(id, &a);

    for (struct stage_play *p = s->plays, *next; p; p = next) {
        struct json_fault fault;

        next = p->next;
        if (json_scan(&s->json, p->id, &fault) &&
            str_eq(mcp_id_key(json_root(&s->json), &a), key))
            remove_play(s, p);
    }
    arena_release(&a);
}

void stage_reset(struct stage *s, struct json_val capabilities)
{
    drop_plays(s);
    map_release(&s->heard);
    map_init(&s->heard);
    buf_clear(&s->capabilities);
    buf_add(&s->capabilities, json_raw(capabilities));
}
