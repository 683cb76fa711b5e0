#include "runtime/rejection-log.h"

#include <stdio.h>

#include "base/arena.h"
#include "mcphttp/url-rewrite.h"

enum { OK = 200, MULTIPLE_CHOICES = 300, BAD_REQUEST = 400, UNAUTHORIZED = 401 };
enum { NOT_FOUND = 404, NOT_ALLOWED = 405, GONE = 410, NOT_IMPLEMENTED = 501 };

void rejection_log_init(struct rejection_log *q, const struct log *log, struct str url)
{
    struct err e = ERR_NONE;

    *q = (struct rejection_log){ .log = log };
    if (!url_parse(&q->url, url, &e))
        BUG("the URL was not checked");
}

/* Copies a text as one line, truncated to fit. */
static void copy_line(char *to, size_t cap, struct str text)
{
    size_t n = 0;

    text = str_trim(text);
    for (; n < text.len && n < cap - 1; n++)
        to[n] = text.at[n] == '\n' || text.at[n] == '\r' || text.at[n] == '\t' || !text.at[n]
                    ? ' '
                    : text.at[n];
    to[n] = '\0';
}

static bool is_html(const struct rejection_log *q)
{
    return q->other_media && q->text[0] == '<';
}

/* Returns whether the URL may be wrong, and not the request. */
static bool may_be_wrong_url(const struct rejection_log *q)
{
    return q->status < BAD_REQUEST || q->status == NOT_FOUND || q->status == NOT_ALLOWED ||
           q->status == GONE || q->status == NOT_IMPLEMENTED;
}

static void log_response(const struct rejection_log *q)
{
    enum log_level level = q->status == UNAUTHORIZED ? LOG_INFO : LOG_WARN;
    bool words = q->text[0] && !is_html(q);
    struct arena a = { 0 };
    struct str hint = STR("");

    if (may_be_wrong_url(q)) {
        hint = STR(": is this an MCP endpoint?");
        if (!str_eq(q->url.path, STR("/mcp")))
            hint = arena_printf(&a, "%.*s try %.*s/mcp", STR_ARG(hint),
                                STR_ARG(url_rewrite_origin(&q->url, &a)));
    }
    log_printf(q->log, level, "the server answered HTTP %llu to %s%s%s%s%.*s",
               (unsigned long long)q->status, q->method, is_html(q) ? " with an HTML page" : "",
               words ? ": " : "", words ? q->text : "", STR_ARG(hint));
    arena_release(&a);
}

static void note_request(struct rejection_log *q, const struct record *r)
{
    struct json_val method = json_get(r->message.msg, STR("method"));
    bool is_initialize = json_is(method, STR("initialize"));
    struct arena a = { 0 };

    if (!(r->has & HAS_EXCHANGE) || json_type(method) != JSON_STRING ||
        !json_exists(json_get(r->message.msg, STR("id"))) || (q->served && !is_initialize) ||
        q->log_pending)
        return;
    q->watching = true;
    q->is_initialize = is_initialize;
    q->exchange = r->exchange;
    q->status = 0;
    q->other_media = false;
    q->text[0] = '\0';
    copy_line(q->method, sizeof q->method, json_text(method, &a));
    arena_release(&a);
}

static void log_error(struct rejection_log *q, struct json_val error)
{
    int64_t code = 0;
    struct arena a = { 0 };

    q->watching = false;
    if (!q->is_initialize || json_type(error) != JSON_OBJECT)
        return;
    json_int(json_get(error, STR("code")), &code);
    if (q->logged_code == code && q->logged_status == q->status)
        return;
    q->logged_code = code;
    q->logged_status = q->status;
    copy_line(q->text, sizeof q->text, json_text(json_get(error, STR("message")), &a));
    if (q->status >= BAD_REQUEST)
        log_printf(q->log, LOG_INFO,
                   "the server answered HTTP %llu to initialize with error %lld: %s",
                   (unsigned long long)q->status, (long long)code, q->text);
    else
        log_printf(q->log, LOG_INFO, "the server rejected initialize with error %lld: %s",
                   (long long)code, q->text);
    arena_release(&a);
}

static bool is_rejection(const struct rejection_log *q)
{
    if (q->status == NOT_ALLOWED && !q->log_at_end)
        return false;
    return q->status >= BAD_REQUEST ||
           (q->status >= OK && q->status < MULTIPLE_CHOICES && q->other_media);
}

static void note_exchange_end(struct rejection_log *q)
{
    q->watching = false;
    q->rejected |= q->status >= MULTIPLE_CHOICES || is_rejection(q);
    if (!is_rejection(q))
        return;
    if (q->log_at_end) { /* no other request is observed from now on */
        q->log_pending = true;
        return;
    }
    if (q->logged_status != q->status)
        log_response(q);
    q->logged_status = q->status;
}

void rejection_log_note(struct rejection_log *q, const struct record *r)
{
    bool to_client = r->kind == RECORD_MESSAGE && r->message.dir == TO_CLIENT;
    bool ours = q->watching && r->has & HAS_EXCHANGE && r->exchange == q->exchange;

    if (r->kind == RECORD_MESSAGE && !to_client)
        note_request(q, r);
    q->served |= to_client || (r->kind == RECORD_SSE && str_eq(r->sse.event, STR("endpoint")));
    if (!ours)
        return;
    if (r->kind == RECORD_HTTP_RESPONSE && str_eq(r->http.by, STR("server"))) {
        q->status = r->http.status;
        q->other_media = str_eq(r->http.media, STR("other"));
    } else if (r->kind == RECORD_RAW && r->bytes.dir == TO_CLIENT) {
        copy_line(q->text, sizeof q->text, r->bytes.bytes);
    } else if (to_client) {
        log_error(q, json_get(r->message.msg, STR("error")));
    } else if (r->kind == RECORD_HTTP_END) {
        note_exchange_end(q);
    }
}

void rejection_log_end(struct rejection_log *q)
{
    if (q->log_pending && !q->served)
        log_response(q);
    q->log_pending = false;
}

bool rejection_log_never_served(const struct rejection_log *q)
{
    return q->rejected && !q->served;
}
