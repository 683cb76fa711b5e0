#include "turns.h"
#include "wire/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_MAX = 16 << 20 };

static void add_text(struct buf *to, char mark, struct str s)
{
    buf_printf(to, " %c%s%zu:", mark, s.at ? "" : "-", s.len);
    buf_add(to, s);
}

static void describe(const struct request *r, struct buf *seen)
{
    buf_printf(seen, "[%d 1.%d %d %llu %d %d", (int)r->form, r->minor, (int)r->body.kind,
               (unsigned long long)r->body.length, r->keep_alive, r->expects_continue);
    add_text(seen, 'm', r->method);
    add_text(seen, 't', r->target);
    add_text(seen, 'p', r->path);
    add_text(seen, 'q', r->query);
    add_text(seen, 'h', r->host.host);
    for (size_t i = 0; i < r->fields.count; i++) {
        add_text(seen, 'n', r->fields.at[i].name);
        add_text(seen, 'v', r->fields.at[i].value);
    }
    buf_add_ch(seen, ']');
}

/* Whatever is taken is one request to any reader: words, values, one Host, one end. */
static void must_be_sound(const struct request *r)
{
    size_t lengths = fields_count(&r->fields, STR("content-length"));
    size_t codings = fields_count(&r->fields, STR("transfer-encoding"));

    BUG_IF(!fields_is_token(r->method) || !r->target.len || !r->path.len);
    BUG_IF(fields_count(&r->fields, STR("host")) != 1 || !r->host.host.len);
    BUG_IF(lengths + codings != (r->body.kind != BODY_NONE));
    BUG_IF(lengths != (r->body.kind == BODY_LENGTH));
    BUG_IF(r->fields.count > REQUEST_FIELDS_MAX || r->head.text.len > REQUEST_HEAD_MAX);
    for (size_t i = 0; i < r->fields.count; i++)
        BUG_IF(!fields_is_token(r->fields.at[i].name) ||
               !fields_is_value(r->fields.at[i].value));
}

/* Written down once more, without the blanks that do not matter, it is the same request. */
static void must_survive(const struct request *r)
{
    struct buf again, one, two;
    struct request other;
    struct str in;

    buf_init(&again, SEEN_MAX);
    buf_init(&one, SEEN_MAX);
    buf_init(&two, SEEN_MAX);
    request_init(&other);
    buf_printf(&again, "%.*s %.*s HTTP/1.%d\r\n", STR_ARG(r->method), STR_ARG(r->target),
               r->minor);
    for (size_t i = 0; i < r->fields.count; i++) {
        buf_add(&again, r->fields.at[i].name);
        buf_add_ch(&again, ':');
        buf_add(&again, r->fields.at[i].value);
        buf_add(&again, STR("\r\n"));
    }
    buf_add(&again, STR("\r\n"));
    in = buf_str(&again);
    BUG_IF(request_feed(&other, &in) != REQUEST_WHOLE || in.len);
    describe(r, &one);
    describe(&other, &two);
    BUG_IF(!str_eq(buf_str(&one), buf_str(&two)));
    request_release(&other);
    buf_release(&again);
    buf_release(&one);
    buf_release(&two);
}

static void read_head(struct turns *t, struct str *in)
{
    struct request *r = t->head;

    switch (request_feed(r, in)) {
    case REQUEST_MORE:
        BUG_IF(in->len);
        break;
    case REQUEST_REFUSED:
        turns_refuse(t, refusal_text(r->why));
        break;
    case REQUEST_WHOLE:
        must_be_sound(r);
        must_survive(r);
        describe(r, t->seen);
        turns_body(t, r->body);
        break;
    }
}

static void clear_head(void *head)
{
    request_clear(head);
}

static void run(struct cuts *c, struct buf *seen)
{
    struct request r;
    struct turns t = {
        .read_head = read_head, .clear_head = clear_head, .head = &r, .seen = seen
    };

    request_init(&r);
    turns_run(&t, c);
    request_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    cuts_agree(str_n((const char *)data, size), run, &seen);
    buf_release(&seen);
    return 0;
}
