#include "engine/http-answer.h"

#include "trace/limits.h"
#include "json/splice.h"
#include "json/write.h"

enum { OK = 200, NO_CONTENT = 204, NOT_MODIFIED = 304 };

void http_answer_init(struct http_answer *a, struct action_sink *out)
{
    *a = (struct http_answer){ .out = out };
    buf_init(&a->text, LIMIT_LINE * 3);
}

void http_answer_release(struct http_answer *a)
{
    fields_release(&a->fields);
    buf_release(&a->text);
}

void http_answer_field(struct http_answer *a, struct str name, struct str value)
{
    if (value.len)
        fields_add(&a->fields, name, value);
}

void http_answer_start(struct http_answer *a, struct str type, struct str session_id)
{
    fields_clear(&a->fields);
    http_answer_field(a, STR("Content-Type"), type);
    http_answer_field(a, STR("Mcp-Session-Id"), session_id);
}

static void put(struct http_answer *a, enum action_kind kind, uint64_t exchange,
                unsigned status, struct str text)
{
    struct action action = { .kind = kind,
                             .way = { .exchange = exchange },
                             .status = status,
                             .fields = &a->fields,
                             .text = text };

    a->out->put(a->out, &action);
}

/* Responses with 204 or 304 have no body. A recording may say otherwise: the body is sent then,
 * with 200. */
void http_answer_send(struct http_answer *a, uint64_t exchange, unsigned status,
                      struct str body)
{
    if (body.len && (status == NO_CONTENT || status == NOT_MODIFIED))
        status = OK;
    put(a, ACTION_ANSWER, exchange, status, body);
}

bool http_answer_collect(struct buf *batch, size_t left, struct str *message)
{
    buf_add_ch(batch, batch->len ? ',' : '[');
    buf_add(batch, *message);
    if (left > 1)
        return false;
    buf_add_ch(batch, ']');
    *message = buf_str(batch);
    return true;
}

void http_answer_open(struct http_answer *a, uint64_t exchange, struct str session_id)
{
    http_answer_start(a, STR("text/event-stream"), session_id);
    http_answer_field(a, STR("Cache-Control"), STR("no-cache, no-transform"));
    http_answer_field(a, STR("X-Accel-Buffering"), STR("no"));
    put(a, ACTION_OPEN, exchange, OK, STR_NONE);
}

struct str http_answer_error(struct http_answer *a, const struct http_verdict *v, struct str id)
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

void http_answer_refuse(struct http_answer *a, uint64_t exchange, const struct http_verdict *v,
                        struct str id)
{
    struct str text = http_answer_error(a, v, id);

    http_answer_start(a, STR("application/json"), STR_NONE);
    http_answer_field(a, STR("Allow"), v->allow);
    http_answer_field(a, STR("Retry-After"), v->retry);
    http_answer_send(a, exchange, v->status, text);
}

/* The bytes of a part, with the id that the live request has. */
static struct str part_text(struct http_answer *a, struct shelf *shelf,
                            const struct http_odd *odd, const struct http_odd_part *part,
                            struct str id)
{
    struct json_fault fault;
    struct json_splice edit;
    struct err e = ERR_NONE;
    struct json_val root;
    struct buf recorded;
    struct json j;

    if (part->text.len)
        return part->text;
    buf_init(&recorded, LIMIT_LINE);
    json_init(&j);
    buf_clear(&a->text);
    if (shelf->fetch(shelf, part->where, &recorded, &e) &&
        json_scan(&j, buf_str(&recorded), &fault)) {
        root = json_root(&j);
        json_splice_init(&edit, root);
        if (id.len && odd->id.len && str_eq(json_raw(json_get(root, STR("id"))), odd->id))
            json_splice_replace(&edit, json_get(root, STR("id")), id);
        json_splice_apply(&edit, &a->text);
    }
    json_release(&j);
    buf_release(&recorded);
    return buf_str(&a->text);
}

static void stream_again(struct http_answer *a, struct http_streams *streams,
                         struct shelf *shelf, const struct http_odd *odd, uint64_t exchange,
                         struct str id)
{
    struct http_stream *x;

    http_answer_open(a, exchange, STR_NONE);
    x = http_streams_new(streams, 0, exchange, false);
    for (const struct http_odd_part *p = odd->first; p; p = p->next)
        http_streams_send(streams, x, part_text(a, shelf, odd, p, id));
    http_streams_finish(streams, x);
}

void http_answer_again(struct http_answer *a, struct http_streams *streams,
                       const struct http_script *http, const struct http_odd *odd,
                       uint64_t exchange, struct str id)
{
    if (odd->sse && odd->status == OK) {
        stream_again(a, streams, http->shelf, odd, exchange, id);
        return;
    }
    http_answer_start(a, odd->first ? odd->type : STR_NONE, STR_NONE);
    http_answer_field(a, STR("Allow"), odd->allow);
    http_answer_field(a, STR("WWW-Authenticate"), odd->challenge);
    http_answer_field(a, STR("Retry-After"), odd->retry_after);
    http_answer_send(a, exchange, odd->status,
                     odd->first ? part_text(a, http->shelf, odd, odd->first, id) : STR_NONE);
}
