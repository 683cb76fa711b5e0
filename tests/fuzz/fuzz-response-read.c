#include "http-reader.h"
#include "wire/response-read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_MAX = 16 << 20 };

static void add_text(struct buf *to, char mark, struct str s)
{
    buf_printf(to, " %c%zu:", mark, s.len);
    buf_add(to, s);
}

static void describe(const struct response_head *r, struct buf *seen)
{
    buf_printf(seen, "[1.%d %u %d %llu %d %d %d", r->minor, r->status, (int)r->body.kind,
               (unsigned long long)r->body.length, r->bodiless, r->until_close, r->keep_alive);
    add_text(seen, 'p', r->phrase);
    for (size_t i = 0; i < r->headers.count; i++) {
        add_text(seen, 'n', r->headers.at[i].name);
        add_text(seen, 'v', r->headers.at[i].value);
    }
    buf_add_ch(seen, ']');
}

/* An accepted head can be forwarded, and its end is known, or known to be that of the
 * connection. */
static void check_head(const struct response_head *r)
{
    BUG_IF(r->status < 100 || r->status > 599 || !headers_is_value(r->phrase));
    BUG_IF(r->until_close && (r->keep_alive || r->bodiless || r->body.kind != BODY_NONE));
    BUG_IF(!r->until_close && !r->bodiless && r->body.kind == BODY_NONE);
    BUG_IF(r->minor == 0 && r->body.kind == BODY_CHUNKED);
    BUG_IF(r->headers.count > RESPONSE_HEAD_HEADERS_MAX ||
           r->head.text.len > RESPONSE_HEAD_BYTES_MAX);
    for (size_t i = 0; i < r->headers.count; i++)
        BUG_IF(!headers_is_token(r->headers.at[i].name) ||
               !headers_is_value(r->headers.at[i].value));
}

/* Every other answer is one to HEAD. */
struct response_reader {
    struct response_head reply;
    bool to_head;
};

static void read_head(struct http_reader *t, struct str *in)
{
    struct response_reader *a = t->head;
    struct response_head *r = &a->reply;

    switch (response_head_feed(r, in, a->to_head)) {
    case RESPONSE_HEAD_MORE:
        BUG_IF(in->len);
        break;
    case RESPONSE_HEAD_REJECTED:
        http_reader_reject(t, r->reason);
        break;
    case RESPONSE_HEAD_COMPLETE:
        check_head(r);
        describe(r, t->text);
        t->done = r->until_close;
        if (t->done)
            break;
        http_reader_begin_body(t, r->bodiless ? (struct body_framing){ .kind = BODY_NONE }
                                              : r->body);
        a->to_head = !a->to_head;
        break;
    }
}

static void clear_head(void *head)
{
    struct response_reader *a = head;

    response_head_clear(&a->reply);
}

static void run(struct split_input *c, struct buf *seen)
{
    struct response_reader a = { .to_head = false };
    struct http_reader t = {
        .read_head = read_head, .clear_head = clear_head, .head = &a, .text = seen
    };

    response_head_init(&a.reply);
    http_reader_run(&t, c);
    response_head_release(&a.reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    split_input_agree(str_n((const char *)data, size), run, &seen);
    buf_release(&seen);
    return 0;
}
