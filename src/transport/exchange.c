#include "transport/exchange.h"

#include "base/buf.h"
#include "wire/response.h"

enum {
    SMALL = 16 << 10, /* copied, so that it goes out in one piece */
};

void exchange_init(struct exchange *x, const struct request *head,
                   const struct exchange_port *port, void *at)
{
    *x = (struct exchange){
        .head = head,
        .port = port,
        .at = at,
        .waiting = head->expects_continue,
        .last = !head->keep_alive || head->minor == 0,
        .old = head->minor == 0,
        .mute = str_eq(head->method, STR("HEAD")),
    };
}

void exchange_go_on(struct exchange *x)
{
    BUG_IF(x->over);
    if (!x->waiting || x->begun)
        return;
    x->waiting = false;
    x->port->write(x->at, STR("HTTP/1.1 100 Continue\r\n\r\n"));
}

void exchange_read(struct exchange *x, bool on)
{
    BUG_IF(x->over);
    if (!x->whole)
        x->port->read(x->at, on);
}

/* What the head says of the body, and how it will go out. */
static struct body_plan plan_body(struct exchange *x, const struct answer *a)
{
    bool none = a->status == 204;

    x->mute = x->mute || none || a->status == 304;
    x->sized = !x->mute && a->body != EXCHANGE_STREAM;
    x->left = a->body == EXCHANGE_SIZED ? a->length : 0;
    x->chunked = !x->mute && a->body == EXCHANGE_STREAM && !x->old;
    if (a->body == EXCHANGE_SIZED && !none)
        return (struct body_plan){ .kind = BODY_LENGTH, .length = a->length };
    if (x->mute)
        return (struct body_plan){ .kind = BODY_NONE };
    if (a->body == EXCHANGE_EMPTY)
        return (struct body_plan){ .kind = BODY_LENGTH };
    return (struct body_plan){ .kind = x->chunked ? BODY_CHUNKED : BODY_NONE };
}

/* Nobody can say where the next request begins while a body is missing. */
static bool compose_head(struct exchange *x, struct buf *to, const struct answer *a,
                         struct err *e)
{
    bool last = x->last, mute = x->mute;
    struct response r = { .status = a->status, .phrase = a->phrase, .fields = a->fields };

    BUG_IF(x->over || x->begun || a->status < 200);
    x->last = x->last || a->last || !x->whole;
    r.body = plan_body(x, a);
    r.close = x->last;
    if (!response_compose(to, &r, e) || !buf_ok(to, e)) {
        x->last = last;
        x->mute = mute;
        return false;
    }
    x->begun = true;
    x->waiting = false;
    x->head = NULL;
    x->port->begun(x->at);
    return true;
}

bool exchange_head(struct exchange *x, const struct answer *a, struct err *e)
{
    struct buf *text = x->port->desk(x->at);

    if (!compose_head(x, text, a, e))
        return false;
    x->port->write(x->at, buf_str(text));
    return true;
}

static void write_chunk(struct exchange *x, struct str bytes)
{
    struct buf *text = x->port->desk(x->at);

    if (bytes.len <= SMALL) {
        chunked_add(text, bytes);
        x->port->write(x->at, buf_str(text));
    } else {
        chunked_open(text, bytes.len);
        x->port->write(x->at, buf_str(text));
        x->port->write(x->at, bytes);
        x->port->write(x->at, STR(CHUNKED_CLOSE));
    }
}

void exchange_write(struct exchange *x, struct str bytes)
{
    BUG_IF(x->over || !x->begun);
    if (x->mute || !bytes.len)
        return;
    if (x->chunked) {
        write_chunk(x, bytes);
        return;
    }
    if (x->sized) {
        BUG_IF(bytes.len > x->left);
        x->left -= bytes.len;
    }
    x->port->write(x->at, bytes);
}

void exchange_end(struct exchange *x)
{
    BUG_IF(x->over || !x->begun);
    if (x->sized && x->left) {
        exchange_abort(x);
        return;
    }
    if (x->chunked)
        x->port->write(x->at, STR(CHUNKED_LAST));
    x->over = true;
    x->port->ended(x->at);
}

void exchange_abort(struct exchange *x)
{
    BUG_IF(x->over);
    x->over = true;
    x->port->aborted(x->at, x->begun && !x->chunked && !x->sized && !x->mute);
}

size_t exchange_queued(const struct exchange *x)
{
    BUG_IF(x->over);
    return x->port->queued(x->at);
}

bool exchange_answer(struct exchange *x, const struct answer *a, struct str body, struct err *e)
{
    struct buf *text = x->port->desk(x->at);
    struct answer sized = *a;

    sized.body = body.len ? EXCHANGE_SIZED : EXCHANGE_EMPTY;
    sized.length = body.len;
    if (!compose_head(x, text, &sized, e))
        return false;
    if (body.len <= SMALL && !x->mute) {
        buf_add(text, body);
        x->left = 0;
        x->port->write(x->at, buf_str(text));
    } else {
        x->port->write(x->at, buf_str(text));
        exchange_write(x, body);
    }
    exchange_end(x);
    return true;
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.at[i] < 0x20 || s.at[i] == '"' || s.at[i] == '\\')
            return false;
    }
    return true;
}

static void add_refusal(struct buf *to, struct str id, struct str text)
{
    BUG_IF(!is_plain(text));
    buf_add(to, STR("{\"jsonrpc\":\"2.0\",\"id\":"));
    buf_add(to, id.len && id.len <= EXCHANGE_ID_MAX ? id : STR("null"));
    buf_add(to, STR(",\"error\":{\"code\":-32000,\"message\":\""));
    buf_add(to, text);
    buf_add(to, STR("\"}}"));
}

/* Of headers that are ours and fit. */
static void must(bool ok)
{
    BUG_IF(!ok);
}

void exchange_refuse(struct exchange *x, unsigned status, const struct fields *fields,
                     struct str text)
{
    struct answer a = { .status = status };
    struct err e = ERR_NONE;
    struct buf body;

    for (size_t i = 0; fields && i < fields->count; i++)
        fields_add(&a.fields, fields->at[i].name, fields->at[i].value);
    fields_add(&a.fields, STR("Content-Type"), STR("application/json"));
    buf_init(&body, SMALL);
    add_refusal(&body, x->id, text);
    must(exchange_answer(x, &a, buf_str(&body), &e));
    buf_release(&body);
    fields_release(&a.fields);
}

void exchange_compose_refusal(struct buf *to, unsigned status, struct str id, struct str text)
{
    struct response r = { .status = status, .close = true };
    struct err e = ERR_NONE;
    struct buf body;

    buf_init(&body, SMALL);
    add_refusal(&body, id, text);
    fields_add(&r.fields, STR("Content-Type"), STR("application/json"));
    if (status == 503)
        fields_add(&r.fields, STR("Retry-After"), STR("1"));
    r.body = (struct body_plan){ .kind = BODY_LENGTH, .length = body.len };
    must(response_compose(to, &r, &e));
    buf_add(to, buf_str(&body));
    buf_release(&body);
    fields_release(&r.fields);
}
