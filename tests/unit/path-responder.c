#include "path-responder.h"

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

void path_responder_init(struct path_responder *o)
{
    *o = (struct path_responder){ .requests = 0 };
    buf_init(&o->text, (size_t)1 << 28);
}

void path_responder_release(struct path_responder *o)
{
    buf_release(&o->text);
}

static void remove_latest(struct path_responder *o, struct http_exchange *x)
{
    struct task *t = x->user;

    buf_release(&t->body);
    free(t);
    o->open--;
    if (o->latest == x)
        o->latest = NULL;
}

void path_responder_end(struct path_responder *o)
{
    struct http_exchange *x = o->latest;

    remove_latest(o, x);
    http_exchange_end(x);
}

void path_responder_forget(struct path_responder *o)
{
    remove_latest(o, o->latest);
}

static void start_response(struct http_exchange *x, unsigned status,
                           enum http_exchange_body body, uint64_t length)
{
    struct http_exchange_response a = { .status = status, .body = body, .length = length };
    struct err e = ERR_NONE;

    headers_add(&a.headers, STR("X-Kind"), STR("test"));
    BUG_IF(!http_exchange_send_head(x, &a, &e));
    headers_release(&a.headers);
}

static void send_echo(struct http_exchange *x, struct str body, bool last)
{
    struct http_exchange_response a = { .status = 200, .close = last };
    struct err e = ERR_NONE;

    BUG_IF(!http_exchange_respond(x, &a, body, &e));
}

static void send_bad_header(struct http_exchange *x)
{
    struct http_exchange_response a = { .status = 200, .body = HTTP_EXCHANGE_STREAM };
    struct err e = ERR_NONE;

    headers_add(&a.headers, STR("X-Kind"), STR("a\r\nb"));
    BUG_IF(http_exchange_send_head(x, &a, &e) || e.kind != ERR_INPUT);
    headers_release(&a.headers);
    http_exchange_send_error(x, 502, NULL, STR("the server's answer cannot be passed on"));
}

static void on_request(void *to, struct http_exchange *x)
{
    struct path_responder *o = to;
    struct task *t = mem_new(struct task);

    t->what = ECHO;
    while (t->what < LOST && !str_eq(x->head->path, paths[t->what]))
        t->what++;
    buf_init(&t->body, (size_t)1 << 26);
    x->user = t;
    o->latest = x;
    o->requests++;
    o->open++;
    buf_printf(&o->text, "%.*s %.*s %s %s\n", STR_ARG(x->head->method),
               STR_ARG(x->head->target), origin_kind_name(x->host),
               origin_kind_name(x->origin));
    if (t->what == HOLD) {
        start_response(x, 200, HTTP_EXCHANGE_STREAM, 0);
    } else if (t->what == EARLY) {
        http_exchange_send_error(x, 413, NULL, STR("too much"));
        remove_latest(o, x);
    } else if (t->what == DROP) {
        http_exchange_abort(x);
        remove_latest(o, x);
    } else if (t->what == PAUSE) {
        http_exchange_read(x, false);
    } else if (t->what == GO) {
        http_exchange_send_continue(x);
    }
}

static void on_data(void *to, struct http_exchange *x, struct str bytes)
{
    struct task *t = x->user;

    (void)to;
    buf_add(&t->body, bytes);
}

static void send_stream(struct http_exchange *x, bool whole)
{
    start_response(x, 200, HTTP_EXCHANGE_STREAM, 0);
    http_exchange_write(x, STR("one"));
    http_exchange_write(x, STR(""));
    if (!whole) {
        http_exchange_abort(x);
        return;
    }
    http_exchange_write(x, STR("two"));
    http_exchange_end(x);
}

static void send_sized(struct http_exchange *x, unsigned status)
{
    start_response(x, status, HTTP_EXCHANGE_SIZED, 10);
    http_exchange_write(x, STR("one"));
    http_exchange_end(x);
}

static void on_whole(void *to, struct http_exchange *x)
{
    struct path_responder *o = to;
    struct task *t = x->user;

    buf_printf(&o->text, "whole %zu:%.*s\n", t->body.len,
               (int)(t->body.len > 40 ? 40 : t->body.len), t->body.len ? t->body.at : "");
    BUG_IF(!x->request_complete);
    if (t->what == HOLD || t->what == SILENT)
        return;
    if (t->what == ECHO || t->what == GO || t->what == PAUSE || t->what == LAST)
        send_echo(x, buf_str(&t->body), t->what == LAST);
    else if (t->what == STREAM || t->what == ABORT)
        send_stream(x, t->what == STREAM);
    else if (t->what == SHORT || t->what == S204 || t->what == S304)
        send_sized(x, t->what == S204 ? 204 : t->what == S304 ? 304 : 200);
    else if (t->what == NONE)
        send_echo(x, STR_NONE, false);
    else if (t->what == BAD)
        send_bad_header(x);
    else
        http_exchange_send_error(x, 404, NULL, STR("there is nothing here"));
    remove_latest(o, x);
}

static void on_drained(void *to, struct http_exchange *x)
{
    struct path_responder *o = to;

    (void)x;
    o->drain_count++;
}

static const char *const kinds[] = {
    [HTTP_EXCHANGE_CLIENT_CLOSED] = "left", [HTTP_EXCHANGE_INVALID_REQUEST] = "invalid",
    [HTTP_EXCHANGE_TIMEOUT] = "slow",       [HTTP_EXCHANGE_OVERLOAD] = "crowd",
    [HTTP_EXCHANGE_SHUTDOWN] = "stopped",
};

static void on_gone(void *to, struct http_exchange *x, const struct http_exchange_failure *why)
{
    struct path_responder *o = to;

    buf_printf(&o->text, "gone: %s, %u, %s\n", kinds[why->kind], why->status, why->text);
    o->aborted++;
    remove_latest(o, x);
}

static void on_refused(void *to, uint64_t connection, const struct http_exchange_failure *why)
{
    struct path_responder *o = to;

    BUG_IF(!connection);
    buf_printf(&o->text, "refused: %s, %u, %s\n", kinds[why->kind], why->status, why->text);
    o->rejected++;
}

const struct http_exchange_events path_responder_events = {
    .request = on_request,
    .data = on_data,
    .request_complete = on_whole,
    .drained = on_drained,
    .aborted = on_gone,
    .rejected = on_refused,
};
