#include "cuts.h"
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

/* A connection: heads and bodies in turn, until something is refused. */
struct side {
    struct request request;
    struct body body;
    bool in_body, over;
    struct buf *seen;
};

static void step_head(struct side *s, struct str *in)
{
    switch (request_feed(&s->request, in)) {
    case REQUEST_MORE:
        BUG_IF(in->len);
        break;
    case REQUEST_REFUSED:
        buf_printf(s->seen, "! %s", refusal_text(s->request.why));
        s->over = true;
        break;
    case REQUEST_WHOLE:
        must_be_sound(&s->request);
        must_survive(&s->request);
        describe(&s->request, s->seen);
        body_init(&s->body, s->request.body);
        s->in_body = true;
        break;
    }
}

static void step_body(struct side *s, struct str *in)
{
    struct str data;

    switch (body_next(&s->body, in, &data)) {
    case BODY_MORE:
        BUG_IF(in->len);
        break;
    case BODY_DATA:
        buf_add(s->seen, data);
        break;
    case BODY_REFUSED:
        buf_printf(s->seen, "! %s", refusal_text(s->body.chunked.why));
        s->over = true;
        break;
    case BODY_END:
        buf_add(s->seen, STR("|"));
        body_release(&s->body);
        request_clear(&s->request);
        s->in_body = false;
        break;
    }
}

static void run(struct cuts *c, struct buf *seen)
{
    struct side s = { .seen = seen };
    struct str in;

    request_init(&s.request);
    while (!s.over && cuts_next(c, &in)) {
        do {
            if (s.in_body)
                step_body(&s, &in);
            else
                step_head(&s, &in);
        } while (!s.over && in.len);
    }
    /* A body of no bytes ends without any; when it is asked again must not matter. */
    if (s.in_body && !s.over && s.body.kind != BODY_CHUNKED && !s.body.left)
        step_body(&s, &in);
    if (s.in_body)
        body_release(&s.body);
    request_release(&s.request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    size_t odd = size ? data[size / 2] % 61 + 1 : 1;
    struct buf whole, pieces;

    buf_init(&whole, SEEN_MAX);
    buf_init(&pieces, SEEN_MAX);
    cuts_once(text, size, size, size, run, &whole);
    cuts_once(text, 1, 1, 1, run, &pieces);
    BUG_IF(!str_eq(buf_str(&whole), buf_str(&pieces)));
    cuts_once(text, odd, 1, odd, run, &pieces);
    BUG_IF(!str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
