#include "engine/http-told.h"

#include "mcp/code.h"
#include "trace/limits.h"
#include "json/splice.h"

static bool put_record(struct sink *self, const struct record *r, struct err *e);

void http_told_init(struct http_told *t, struct say *say, struct http_peer *peer,
                    struct arena *arena)
{
    *t = (struct http_told){
        .records = { put_record }, .say = say, .peer = peer, .arena = arena
    };
    intake_init(&t->heard);
}

void http_told_release(struct http_told *t)
{
    http_waits_release(&t->waits);
    intake_release(&t->heard);
}

static void settle(struct http_told *t, struct http_wait *w, const struct mcp_message *m)
{
    if (w->what == HTTP_WAIT_GREETING) {
        t->greeting = false;
        http_peer_agree(&t->peer->version,
                        json_text(json_get(m->result, STR("protocolVersion")), t->arena));
    }
    if (w->what == HTTP_WAIT_TOOLS)
        http_params_learn(&t->peer->params, m->result);
    http_waits_remove(&t->waits, w);
}

/* An error that names no request is to the one it came for. */
static void pass_nameless(struct http_told *t, const struct mcp_message *m)
{
    struct http_wait *w = http_waits_only(&t->waits, t->of);
    struct json_splice edit;
    struct buf text;

    if (!w) {
        say_report(t->say, LOG_WARN, "the server complains: %.*s", STR_ARG(json_raw(m->error)));
        return;
    }
    buf_init(&text, LIMIT_LINE);
    json_splice_init(&edit, m->root);
    json_splice_set(&edit, m->root, STR("id"), w->id);
    json_splice_apply(&edit, &text);
    settle(t, w, m);
    say_message(t->say, buf_str(&text));
    buf_release(&text);
}

static void pass_answer(struct http_told *t, const struct mcp_message *m)
{
    struct http_wait *w;

    if (t->of->list) {
        http_relist_hear(t->of->list, m);
        http_params_learn(&t->peer->params, m->result);
        return;
    }
    w = http_waits_find(&t->waits, m->id, t->of);
    if (w)
        settle(t, w, m);
    else
        http_talk_stray(t->of, json_raw(m->id));
    say_message(t->say, json_raw(m->root));
}

static void pass(struct http_told *t, const struct mcp_message *m)
{
    enum json_type id = json_type(m->id);

    if (m->kind == MCP_ERROR && (id == JSON_ABSENT || id == JSON_NULL))
        pass_nameless(t, m);
    else if (mcp_is_response(m))
        pass_answer(t, m);
    else
        say_message(t->say, json_raw(m->root));
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct http_told *t = (struct http_told *)self;

    (void)e;
    if (r->kind == RECORD_MESSAGE)
        pass(t, r->message.as);
    else
        say_report(t->say, LOG_WARN, "the server sent what is no message");
    return true;
}

void http_told_text(struct http_told *t, struct http_talk *of, struct str text)
{
    struct err e = ERR_NONE;

    t->of = of;
    if (!intake_text(&t->heard, TO_CLIENT, text, &t->records, &e))
        BUG("it takes every record");
}

enum intake_kind http_told_look(struct http_told *t, struct str text)
{
    return intake_look(&t->heard, text);
}

struct mcp_message http_told_message(const struct http_told *t)
{
    return mcp_classify(json_root(&t->heard.json), t->arena);
}

bool http_told_is_answer(const struct http_told *t, const struct http_talk *of)
{
    struct mcp_message m = http_told_message(t);
    const struct http_wait *w = http_waits_find(&t->waits, m.id, of);

    return mcp_is_response(&m) && w && w->by == of;
}

void http_told_seen(struct http_told *t, struct http_talk *of)
{
    struct err e = ERR_NONE;

    t->of = of;
    if (!intake_seen(&t->heard, TO_CLIENT, &t->records, &e))
        BUG("it takes every record");
}

void http_told_fail(struct http_told *t, const void *by, unsigned status, struct str why)
{
    struct http_wait *w;

    while ((w = http_waits_of(&t->waits, by))) {
        struct str data =
            status ? arena_printf(t->arena, "{\"httpStatus\":%u}", status) : STR_NONE;

        t->greeting = t->greeting && w->what != HTTP_WAIT_GREETING;
        if (!w->given_up) {
            say_report(t->say, LOG_WARN, "%.*s: %.*s", STR_ARG(w->method), STR_ARG(why));
            say_error(t->say, w->id, MCP_SERVER_ERROR, why, data);
        }
        http_waits_remove(&t->waits, w);
    }
}

/* In one line, however many they are. */
static void report_all(struct http_told *t, struct str why)
{
    const struct http_wait *first = NULL;
    size_t count = 0;

    for (const struct http_wait *w = t->waits.first; w; w = w->next) {
        if (w->given_up)
            continue;
        if (!count++)
            first = w;
    }
    if (count == 1)
        say_report(t->say, LOG_WARN, "%.*s: %.*s", STR_ARG(first->method), STR_ARG(why));
    else if (count)
        say_report(t->say, LOG_WARN, "%zu requests: %.*s", count, STR_ARG(why));
}

void http_told_fail_all(struct http_told *t, struct str why)
{
    report_all(t, why);
    t->greeting = false;
    for (struct http_wait *w; (w = t->waits.first); http_waits_remove(&t->waits, w))
        if (!w->given_up)
            say_error(t->say, w->id, MCP_SERVER_ERROR, why, STR_NONE);
}
