#include "obedient.h"

#include <stdlib.h>

#include "base/mem.h"

enum what {
    ECHO,
    STREAM,
    HOLD,
    SILENT,
    PAUSE,
    BAD,
    DROP,
    NONE,
    S204,
    S304,
    SHORT,
    ABORT,
    EARLY,
    GO,
    LAST,
    LOST
};

static const struct str paths[] = {
    [ECHO] = STR_INIT("/echo"),   [STREAM] = STR_INIT("/stream"),
    [HOLD] = STR_INIT("/hold"),   [SILENT] = STR_INIT("/silent"),
    [PAUSE] = STR_INIT("/pause"), [BAD] = STR_INIT("/bad"),
    [DROP] = STR_INIT("/drop"),   [NONE] = STR_INIT("/none"),
    [S204] = STR_INIT("/204"),    [S304] = STR_INIT("/304"),
    [SHORT] = STR_INIT("/short"), [ABORT] = STR_INIT("/abort"),
    [EARLY] = STR_INIT("/early"), [GO] = STR_INIT("/go"),
    [LAST] = STR_INIT("/last"),
};

struct task {
    enum what what;
    struct buf body;
};

void obedient_init(struct obedient *o)
{
    *o = (struct obedient){ .requests = 0 };
    buf_init(&o->seen, (size_t)1 << 28);
}

void obedient_release(struct obedient *o)
{
    buf_release(&o->seen);
}

static void forget(struct obedient *o, struct exchange *x)
{
    struct task *t = x->user;

    buf_release(&t->body);
    free(t);
    o->open--;
    if (o->latest == x)
        o->latest = NULL;
}

void obedient_end(struct obedient *o)
{
    struct exchange *x = o->latest;

    forget(o, x);
    exchange_end(x);
}

void obedient_forget(struct obedient *o)
{
    forget(o, o->latest);
}

static void begin(struct exchange *x, unsigned status, enum exchange_body body, uint64_t length)
{
    struct answer a = { .status = status, .body = body, .length = length };
    struct err e = ERR_NONE;

    fields_add(&a.fields, STR("X-Kind"), STR("test"));
    BUG_IF(!exchange_head(x, &a, &e));
    fields_release(&a.fields);
}

static void echo(struct exchange *x, struct str body, bool last)
{
    struct answer a = { .status = 200, .last = last };
    struct err e = ERR_NONE;

    BUG_IF(!exchange_answer(x, &a, body, &e));
}

static void answer_badly(struct exchange *x)
{
    struct answer a = { .status = 200, .body = EXCHANGE_STREAM };
    struct err e = ERR_NONE;

    fields_add(&a.fields, STR("X-Kind"), STR("a\r\nb"));
    BUG_IF(exchange_head(x, &a, &e) || e.kind != ERR_INPUT);
    fields_release(&a.fields);
    exchange_refuse(x, 502, NULL, STR("the server's answer cannot be passed on"));
}

static void on_request(void *to, struct exchange *x)
{
    struct obedient *o = to;
    struct task *t = mem_new(struct task);

    t->what = ECHO;
    while (t->what < LOST && !str_eq(x->head->path, paths[t->what]))
        t->what++;
    buf_init(&t->body, (size_t)1 << 26);
    x->user = t;
    o->latest = x;
    o->requests++;
    o->open++;
    buf_printf(&o->seen, "%.*s %.*s %s %s\n", STR_ARG(x->head->method),
               STR_ARG(x->head->target), place_name(x->host), place_name(x->origin));
    if (t->what == HOLD) {
        begin(x, 200, EXCHANGE_STREAM, 0);
    } else if (t->what == EARLY) {
        exchange_refuse(x, 413, NULL, STR("too much"));
        forget(o, x);
    } else if (t->what == DROP) {
        exchange_abort(x);
        forget(o, x);
    } else if (t->what == PAUSE) {
        exchange_read(x, false);
    } else if (t->what == GO) {
        exchange_go_on(x);
    }
}

static void on_data(void *to, struct exchange *x, struct str bytes)
{
    struct task *t = x->user;

    (void)to;
    buf_add(&t->body, bytes);
}

static void stream(struct exchange *x, bool whole)
{
    begin(x, 200, EXCHANGE_STREAM, 0);
    exchange_write(x, STR("one"));
    exchange_write(x, STR(""));
    if (!whole) {
        exchange_abort(x);
        return;
    }
    exchange_write(x, STR("two"));
    exchange_end(x);
}

static void sized(struct exchange *x, unsigned status)
{
    begin(x, status, EXCHANGE_SIZED, 10);
    exchange_write(x, STR("one"));
    exchange_end(x);
}

static void on_whole(void *to, struct exchange *x)
{
    struct obedient *o = to;
    struct task *t = x->user;

    buf_printf(&o->seen, "whole %zu:%.*s\n", t->body.len,
               (int)(t->body.len > 40 ? 40 : t->body.len), t->body.len ? t->body.at : "");
    BUG_IF(!x->whole);
    if (t->what == HOLD || t->what == SILENT)
        return;
    if (t->what == ECHO || t->what == GO || t->what == PAUSE || t->what == LAST)
        echo(x, buf_str(&t->body), t->what == LAST);
    else if (t->what == STREAM || t->what == ABORT)
        stream(x, t->what == STREAM);
    else if (t->what == SHORT || t->what == S204 || t->what == S304)
        sized(x, t->what == S204 ? 204 : t->what == S304 ? 304 : 200);
    else if (t->what == NONE)
        echo(x, STR_NONE, false);
    else if (t->what == BAD)
        answer_badly(x);
    else
        exchange_refuse(x, 404, NULL, STR("there is nothing here"));
    forget(o, x);
}

static void on_drained(void *to, struct exchange *x)
{
    struct obedient *o = to;

    (void)x;
    o->drained++;
}

static const char *const kinds[] = {
    [EXCHANGE_LEFT] = "left",   [EXCHANGE_INVALID] = "invalid", [EXCHANGE_SLOW] = "slow",
    [EXCHANGE_CROWD] = "crowd", [EXCHANGE_STOPPED] = "stopped",
};

static void on_gone(void *to, struct exchange *x, const struct exchange_fault *why)
{
    struct obedient *o = to;

    buf_printf(&o->seen, "gone: %s, %u, %s\n", kinds[why->kind], why->status, why->text);
    o->gone++;
    forget(o, x);
}

static void on_refused(void *to, uint64_t connection, const struct exchange_fault *why)
{
    struct obedient *o = to;

    BUG_IF(!connection);
    buf_printf(&o->seen, "refused: %s, %u, %s\n", kinds[why->kind], why->status, why->text);
    o->refused++;
}

const struct exchange_events obedient_events = {
    .request = on_request,
    .data = on_data,
    .whole = on_whole,
    .drained = on_drained,
    .gone = on_gone,
    .refused = on_refused,
};
