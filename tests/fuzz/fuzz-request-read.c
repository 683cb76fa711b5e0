#include "http-reader.h"
#include "wire/request-read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_MAX = 16 << 20 };

static void add_text(struct buf *to, char mark, struct str s)
{
    buf_printf(to, " %c%s%zu:", mark, s.at ? "" : "-", s.len);
    buf_add(to, s);
}

static void describe(const struct request_head *r, struct buf *seen)
{
    buf_printf(seen, "[%d 1.%d %d %llu %d %d", (int)r->form, r->minor, (int)r->body.kind,
               (unsigned long long)r->body.length, r->keep_alive, r->expects_continue);
    add_text(seen, 'm', r->method);
    add_text(seen, 't', r->target);
    add_text(seen, 'p', r->path);
    add_text(seen, 'q', r->query);
    add_text(seen, 'h', r->host.host);
    for (size_t i = 0; i < r->headers.count; i++) {
        add_text(seen, 'n', r->headers.at[i].name);
        add_text(seen, 'v', r->headers.at[i].value);
    }
    buf_add_ch(seen, ']');
}

/* An accepted head is the same request to any parser: words, values, one Host, one end. */
static void check_head(const struct request_head *r)
{
    size_t lengths = headers_count(&r->headers, STR("content-length"));
    size_t codings = headers_count(&r->headers, STR("transfer-encoding"));

    BUG_IF(!headers_is_token(r->method) || !r->target.len || !r->path.len);
    BUG_IF(headers_count(&r->headers, STR("host")) != 1 || !r->host.host.len);
    BUG_IF(lengths + codings != (r->body.kind != BODY_NONE));
    BUG_IF(lengths != (r->body.kind == BODY_LENGTH));
    BUG_IF(r->headers.count > REQUEST_HEAD_HEADERS_MAX ||
           r->head.text.len > REQUEST_HEAD_BYTES_MAX);
    for (size_t i = 0; i < r->headers.count; i++)
        BUG_IF(!headers_is_token(r->headers.at[i].name) ||
               !headers_is_value(r->headers.at[i].value));
}

/* Written down once more, without the blanks that do not matter, it is the same request. */
static void check_round_trip(const struct request_head *r)
{
    struct buf again, one, two;
    struct request_head other;
    struct str in;

    buf_init(&again, SEEN_MAX);
    buf_init(&one, SEEN_MAX);
    buf_init(&two, SEEN_MAX);
    request_head_init(&other);
    buf_printf(&again, "%.*s %.*s HTTP/1.%d\r\n", STR_ARG(r->method), STR_ARG(r->target),
               r->minor);
    for (size_t i = 0; i < r->headers.count; i++) {
        buf_add(&again, r->headers.at[i].name);
        buf_add_ch(&again, ':');
        buf_add(&again, r->headers.at[i].value);
        buf_add(&again, STR("\r\n"));
    }
    buf_add(&again, STR("\r\n"));
    in = buf_str(&again);
    BUG_IF(request_head_feed(&other, &in) != REQUEST_HEAD_COMPLETE || in.len);
    describe(r, &one);
    describe(&other, &two);
    BUG_IF(!str_eq(buf_str(&one), buf_str(&two)));
    request_head_release(&other);
    buf_release(&again);
    buf_release(&one);
    buf_release(&two);
}

static void read_head(struct http_reader *t, struct str *in)
{
    struct request_head *r = t->head;

    switch (request_head_feed(r, in)) {
    case REQUEST_HEAD_MORE:
        BUG_IF(in->len);
        break;
    case REQUEST_HEAD_REJECTED:
        http_reader_reject(t, reject_reason_text(r->reason));
        break;
    case REQUEST_HEAD_COMPLETE:
        check_head(r);
        check_round_trip(r);
        describe(r, t->text);
        http_reader_begin_body(t, r->body);
        break;
    }
}

static void clear_head(void *head)
{
    request_head_clear(head);
}

static void run(struct split_input *c, struct buf *seen)
{
    struct request_head r;
    struct http_reader t = {
        .read_head = read_head, .clear_head = clear_head, .head = &r, .text = seen
    };

    request_head_init(&r);
    http_reader_run(&t, c);
    request_head_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    split_input_agree(str_n((const char *)data, size), run, &seen);
    buf_release(&seen);
    return 0;
}
