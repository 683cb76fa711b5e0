#include "cmd/refused-request.h"

#include <stdio.h>

#include "base/arena.h"
#include "engine/address.h"

enum { OK = 200, MULTIPLE_CHOICES = 300, BAD_REQUEST = 400, UNAUTHORIZED = 401 };
enum { NOT_FOUND = 404, NOT_ALLOWED = 405, GONE = 410, NOT_IMPLEMENTED = 501 };

void refused_request_init(struct refused_request *q, const struct log *log, struct str url)
{
    struct err e = ERR_NONE;

    *q = (struct refused_request){ .log = log };
    if (!url_parse(&q->url, url, &e))
        BUG("the URL was not checked");
}

/* One line, cut if it is long. */
static void keep_words(char *to, size_t cap, struct str text)
{
    size_t n = 0;

    text = str_trim(text);
    for (; n < text.len && n < cap - 1; n++)
        to[n] = text.at[n] == '\n' || text.at[n] == '\r' || text.at[n] == '\t' || !text.at[n]
                    ? ' '
                    : text.at[n];
    to[n] = '\0';
}

static bool is_html(const struct refused_request *q)
{
    return q->page && q->words[0] == '<';
}

/* Whether the address may be wrong, and not the request. */
static bool may_be_elsewhere(const struct refused_request *q)
{
    return q->status < BAD_REQUEST || q->status == NOT_FOUND || q->status == NOT_ALLOWED ||
           q->status == GONE || q->status == NOT_IMPLEMENTED;
}

static void tell_response(const struct refused_request *q)
{
    enum log_level level = q->status == UNAUTHORIZED ? LOG_INFO : LOG_WARN;
    bool words = q->words[0] && !is_html(q);
    struct arena a = { 0 };
    struct str hint = STR("");

    if (may_be_elsewhere(q)) {
        hint = STR(": is this an MCP endpoint?");
        if (!str_eq(q->url.path, STR("/mcp")))
            hint = arena_printf(&a, "%.*s try %.*s/mcp", STR_ARG(hint),
                                STR_ARG(address_origin(&q->url, &a)));
    }
    log_say(q->log, level, "the server answered HTTP %llu to %s%s%s%s%.*s",
            (unsigned long long)q->status, q->method, is_html(q) ? " with an HTML page" : "",
            words ? ": " : "", words ? q->words : "", STR_ARG(hint));
    arena_release(&a);
}

static void see_client(struct refused_request *q, const struct record *r)
{
    struct json_val method = json_get(r->message.msg, STR("method"));
    bool is_initialize = json_is(method, STR("initialize"));
    struct arena a = { 0 };

    if (!(r->has & HAS_EXCHANGE) || json_type(method) != JSON_STRING ||
        !json_exists(json_get(r->message.msg, STR("id"))) || (q->served && !is_initialize) ||
        q->waits)
        return;
    q->watching = true;
    q->is_initialize = is_initialize;
    q->exchange = r->exchange;
    q->status = 0;
    q->page = false;
    q->words[0] = '\0';
    keep_words(q->method, sizeof q->method, json_text(method, &a));
    arena_release(&a);
}

static void tell_error(struct refused_request *q, struct json_val error)
{
    int64_t code = 0;
    struct arena a = { 0 };

    q->watching = false;
    if (!q->is_initialize || json_type(error) != JSON_OBJECT)
        return;
    json_int(json_get(error, STR("code")), &code);
    if (q->told_code == code && q->told == q->status)
        return;
    q->told_code = code;
    q->told = q->status;
    keep_words(q->words, sizeof q->words, json_text(json_get(error, STR("message")), &a));
    if (q->status >= BAD_REQUEST)
        log_say(q->log, LOG_INFO,
                "the server answered HTTP %llu to initialize with error %lld: %s",
                (unsigned long long)q->status, (long long)code, q->words);
    else
        log_say(q->log, LOG_INFO, "the server refused initialize with error %lld: %s",
                (long long)code, q->words);
    arena_release(&a);
}

static bool is_refusal(const struct refused_request *q)
{
    if (q->status == NOT_ALLOWED && !q->at_end)
        return false;
    return q->status >= BAD_REQUEST ||
           (q->status >= OK && q->status < MULTIPLE_CHOICES && q->page);
}

static void see_end(struct refused_request *q)
{
    q->watching = false;
    q->refused |= q->status >= MULTIPLE_CHOICES || is_refusal(q);
    if (!is_refusal(q))
        return;
    if (q->at_end) { /* no other request is watched from now on */
        q->waits = true;
        return;
    }
    if (q->told != q->status)
        tell_response(q);
    q->told = q->status;
}

void refused_request_see(struct refused_request *q, const struct record *r)
{
    bool to_client = r->kind == RECORD_MESSAGE && r->message.dir == TO_CLIENT;
    bool ours = q->watching && r->has & HAS_EXCHANGE && r->exchange == q->exchange;

    if (r->kind == RECORD_MESSAGE && !to_client)
        see_client(q, r);
    q->served |= to_client || (r->kind == RECORD_SSE && str_eq(r->sse.event, STR("endpoint")));
    if (!ours)
        return;
    if (r->kind == RECORD_HTTP_RESPONSE && str_eq(r->http.by, STR("server"))) {
        q->status = r->http.status;
        q->page = str_eq(r->http.media, STR("other"));
    } else if (r->kind == RECORD_RAW && r->bytes.from_to == TO_CLIENT) {
        keep_words(q->words, sizeof q->words, r->bytes.bytes);
    } else if (to_client) {
        tell_error(q, json_get(r->message.msg, STR("error")));
    } else if (r->kind == RECORD_HTTP_END) {
        see_end(q);
    }
}

void refused_request_end(struct refused_request *q)
{
    if (q->waits && !q->served)
        tell_response(q);
    q->waits = false;
}

bool refused_request_all(const struct refused_request *q)
{
    return q->refused && !q->served;
}
