#include "mcphttp/http-response.h"

#include "trace/limits.h"
#include "json/write.h"

enum { OK = 200, NO_CONTENT = 204, NOT_MODIFIED = 304 };

void http_response_init(struct http_response *a, struct action_sink *out)
{
    *a = (struct http_response){ .out = out };
    buf_init(&a->text, LIMIT_LINE * 3);
}

void http_response_release(struct http_response *a)
{
    headers_release(&a->headers);
    buf_release(&a->text);
}

void http_response_header(struct http_response *a, struct str name, struct str value)
{
    if (value.len)
        headers_add(&a->headers, name, value);
}

void http_response_start(struct http_response *a, struct str type, struct str session_id)
{
    headers_clear(&a->headers);
    http_response_header(a, STR("Content-Type"), type);
    http_response_header(a, STR("Mcp-Session-Id"), session_id);
}

static void put_action(struct http_response *a, enum action_kind kind, uint64_t exchange,
                       unsigned status, struct str text)
{
    struct action action = { .kind = kind,
                             .route = { .exchange = exchange },
                             .status = status,
                             .headers = &a->headers,
                             .text = text };

    a->out->put(a->out, &action);
}

/* Responses with 204 or 304 have no body. If a recording has one, it is sent with 200. */
void http_response_send(struct http_response *a, uint64_t exchange, unsigned status,
                        struct str body)
{
    if (body.len && (status == NO_CONTENT || status == NOT_MODIFIED))
        status = OK;
    put_action(a, ACTION_HTTP_RESPONSE, exchange, status, body);
}

bool http_response_add_to_batch(struct buf *batch, size_t left, struct str *message)
{
    buf_add_ch(batch, batch->len ? ',' : '[');
    buf_add(batch, *message);
    if (left > 1)
        return false;
    buf_add_ch(batch, ']');
    *message = buf_str(batch);
    return true;
}

void http_response_open_stream(struct http_response *a, uint64_t exchange,
                               struct str session_id)
{
    http_response_start(a, STR("text/event-stream"), session_id);
    http_response_header(a, STR("Cache-Control"), STR("no-cache, no-transform"));
    http_response_header(a, STR("X-Accel-Buffering"), STR("no"));
    put_action(a, ACTION_STREAM_OPEN, exchange, OK, STR_NONE);
}

struct str http_response_error_text(struct http_response *a, const struct http_rejection *v,
                                    struct str id)
{
    struct json_out o = json_out_to(&a->text);

    buf_clear(&a->text);
    json_out_object(&o);
    json_out_key_str(&o, STR("jsonrpc"), STR("2.0"));
    json_out_key(&o, STR("error"));
    json_out_object(&o);
    json_out_key_int(&o, STR("code"), v->code);
    json_out_key_str(&o, STR("message"), v->text);
    if (v->data.len)
        json_out_key_raw(&o, STR("data"), v->data);
    json_out_end_object(&o);
    json_out_key_raw(&o, STR("id"), id.len ? id : STR("null"));
    json_out_end_object(&o);
    return buf_str(&a->text);
}

void http_response_reject(struct http_response *a, uint64_t exchange,
                          const struct http_rejection *v, struct str id)
{
    struct str text = http_response_error_text(a, v, id);

    http_response_start(a, STR("application/json"), STR_NONE);
    http_response_header(a, STR("Allow"), v->allow);
    http_response_header(a, STR("Retry-After"), v->retry_after);
    http_response_send(a, exchange, v->status, text);
}
