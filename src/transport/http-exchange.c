#include "transport/http-exchange.h"

#include "base/buf.h"
#include "wire/response-write.h"

enum {
    SMALL = 16 << 10, /* bytes that are copied, so that they are sent in one piece */
};

void http_exchange_init(struct http_exchange *x, const struct request_head *head,
                        const struct http_exchange_io *io, void *io_arg)
{
    *x = (struct http_exchange){
        .head = head,
        .io = io,
        .io_arg = io_arg,
        .awaits_continue = head->expects_continue,
        .close_after = !head->keep_alive || head->minor == 0,
        .is_http10 = head->minor == 0,
        .no_body = str_eq(head->method, STR("HEAD")),
    };
}

void http_exchange_send_continue(struct http_exchange *x)
{
    BUG_IF(x->done);
    if (!x->awaits_continue || x->response_begun)
        return;
    x->awaits_continue = false;
    x->io->write(x->io_arg, STR("HTTP/1.1 100 Continue\r\n\r\n"));
}

void http_exchange_read(struct http_exchange *x, bool on)
{
    BUG_IF(x->done);
    if (!x->request_complete)
        x->io->read(x->io_arg, on);
}

/* Decides how the body is sent and returns the framing for the head. */
static struct body_framing choose_framing(struct http_exchange *x,
                                          const struct http_exchange_response *a)
{
    bool none = a->status == 204;

    x->no_body = x->no_body || none || a->status == 304;
    x->sized = !x->no_body && a->body != HTTP_EXCHANGE_STREAM;
    x->remaining = a->body == HTTP_EXCHANGE_SIZED ? a->length : 0;
    x->chunked = !x->no_body && a->body == HTTP_EXCHANGE_STREAM && !x->is_http10;
    if (a->body == HTTP_EXCHANGE_SIZED && !none)
        return (struct body_framing){ .kind = BODY_LENGTH, .length = a->length };
    if (x->no_body)
        return (struct body_framing){ .kind = BODY_NONE };
    if (a->body == HTTP_EXCHANGE_EMPTY)
        return (struct body_framing){ .kind = BODY_LENGTH };
    return (struct body_framing){ .kind = x->chunked ? BODY_CHUNKED : BODY_NONE };
}

/* Closes the connection if the request is incomplete: the start of the next one is unknown. */
static bool compose_head(struct http_exchange *x, struct buf *to,
                         const struct http_exchange_response *a, struct err *e)
{
    bool last = x->close_after, mute = x->no_body;
    struct outgoing_response r = { .status = a->status,
                                   .phrase = a->phrase,
                                   .headers = a->headers };

    BUG_IF(x->done || x->response_begun || a->status < 200);
    x->close_after = x->close_after || a->close || !x->request_complete;
    r.body = choose_framing(x, a);
    r.close = x->close_after;
    if (!response_write(to, &r, e) || !buf_ok(to, e)) {
        x->close_after = last;
        x->no_body = mute;
        return false;
    }
    x->response_begun = true;
    x->awaits_continue = false;
    x->head = NULL;
    x->io->response_begun(x->io_arg);
    return true;
}

bool http_exchange_send_head(struct http_exchange *x, const struct http_exchange_response *a,
                             struct err *e)
{
    struct buf *text = x->io->compose_buf(x->io_arg);

    if (!compose_head(x, text, a, e))
        return false;
    x->io->write(x->io_arg, buf_str(text));
    return true;
}

static void write_chunk(struct http_exchange *x, struct str bytes)
{
    struct buf *text = x->io->compose_buf(x->io_arg);

    if (bytes.len <= SMALL) {
        chunked_write(text, bytes);
        x->io->write(x->io_arg, buf_str(text));
    } else {
        chunked_write_size(text, bytes.len);
        x->io->write(x->io_arg, buf_str(text));
        x->io->write(x->io_arg, bytes);
        x->io->write(x->io_arg, STR(CHUNKED_CHUNK_END));
    }
}

void http_exchange_write(struct http_exchange *x, struct str bytes)
{
    BUG_IF(x->done || !x->response_begun);
    if (x->no_body || !bytes.len)
        return;
    if (x->chunked) {
        write_chunk(x, bytes);
        return;
    }
    if (x->sized) {
        BUG_IF(bytes.len > x->remaining);
        x->remaining -= bytes.len;
    }
    x->io->write(x->io_arg, bytes);
}

void http_exchange_end(struct http_exchange *x)
{
    BUG_IF(x->done || !x->response_begun);
    if (x->sized && x->remaining) {
        http_exchange_abort(x);
        return;
    }
    if (x->chunked)
        x->io->write(x->io_arg, STR(CHUNKED_LAST_CHUNK));
    x->done = true;
    x->io->ended(x->io_arg);
}

void http_exchange_abort(struct http_exchange *x)
{
    BUG_IF(x->done);
    x->done = true;
    x->io->aborted(x->io_arg, x->response_begun && !x->chunked && !x->sized && !x->no_body);
}

size_t http_exchange_queued(const struct http_exchange *x)
{
    BUG_IF(x->done);
    return x->io->queued(x->io_arg);
}

bool http_exchange_respond(struct http_exchange *x, const struct http_exchange_response *a,
                           struct str body, struct err *e)
{
    struct buf *text = x->io->compose_buf(x->io_arg);
    struct http_exchange_response sized = *a;

    sized.body = body.len ? HTTP_EXCHANGE_SIZED : HTTP_EXCHANGE_EMPTY;
    sized.length = body.len;
    if (!compose_head(x, text, &sized, e))
        return false;
    if (body.len <= SMALL && !x->no_body) {
        buf_add(text, body);
        x->remaining = 0;
        x->io->write(x->io_arg, buf_str(text));
    } else {
        x->io->write(x->io_arg, buf_str(text));
        http_exchange_write(x, body);
    }
    http_exchange_end(x);
    return true;
}

static bool needs_no_escape(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.at[i] < 0x20 || s.at[i] == '"' || s.at[i] == '\\')
            return false;
    }
    return true;
}

static void add_error_body(struct buf *to, struct str id, struct str text)
{
    BUG_IF(!needs_no_escape(text));
    buf_add(to, STR("{\"jsonrpc\":\"2.0\",\"id\":"));
    buf_add(to, id.len && id.len <= HTTP_EXCHANGE_ID_MAX ? id : STR("null"));
    buf_add(to, STR(",\"error\":{\"code\":-32000,\"message\":\""));
    buf_add(to, text);
    buf_add(to, STR("\"}}"));
}

/* For heads composed here: they are valid and fit. */
static void assert_ok(bool ok)
{
    BUG_IF(!ok);
}

void http_exchange_send_error(struct http_exchange *x, unsigned status,
                              const struct headers *headers, struct str text)
{
    struct http_exchange_response a = { .status = status };
    struct err e = ERR_NONE;
    struct buf body;

    for (size_t i = 0; headers && i < headers->count; i++)
        headers_add(&a.headers, headers->at[i].name, headers->at[i].value);
    headers_add(&a.headers, STR("Content-Type"), STR("application/json"));
    buf_init(&body, SMALL);
    add_error_body(&body, x->rpc_id, text);
    assert_ok(http_exchange_respond(x, &a, buf_str(&body), &e));
    buf_release(&body);
    headers_release(&a.headers);
}

void http_exchange_write_error(struct buf *to, unsigned status, struct str id, struct str text)
{
    struct outgoing_response r = { .status = status, .close = true };
    struct err e = ERR_NONE;
    struct buf body;

    buf_init(&body, SMALL);
    add_error_body(&body, id, text);
    headers_add(&r.headers, STR("Content-Type"), STR("application/json"));
    if (status == 503)
        headers_add(&r.headers, STR("Retry-After"), STR("1"));
    r.body = (struct body_framing){ .kind = BODY_LENGTH, .length = body.len };
    assert_ok(response_write(to, &r, &e));
    buf_add(to, buf_str(&body));
    buf_release(&body);
    headers_release(&r.headers);
}
