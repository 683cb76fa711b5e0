#include "wire/reply.h"

#include "base/ascii.h"

static const struct head_limits limits = {
    .first_line = REPLY_LINE_MAX,
    .bytes = REPLY_HEAD_MAX,
    .lines = REPLY_FIELDS_MAX + 1,
};

void reply_init(struct reply *r)
{
    *r = (struct reply){ .minor = 1 };
    head_init(&r->head, &limits);
}

void reply_release(struct reply *r)
{
    head_release(&r->head);
    fields_release(&r->fields);
}

void reply_clear(struct reply *r)
{
    struct head head = r->head;
    struct fields fields = r->fields;

    head_clear(&head);
    fields_clear(&fields);
    *r = (struct reply){ .head = head, .fields = fields, .minor = 1 };
}

static const char not_http[] = "a first line that is not 'HTTP/1.1' and a status";

/* The steps below return the reason to refuse, or NULL. */

static const char *parse_line(struct reply *r, struct str s)
{
    if (s.len < 12 || !str_starts(s, STR("HTTP/1.")) || s.at[8] != ' ' ||
        (s.at[7] != '0' && s.at[7] != '1'))
        return not_http;
    if (!ascii_is_digit(s.at[9]) || !ascii_is_digit(s.at[10]) || !ascii_is_digit(s.at[11]) ||
        s.at[9] == '0' || s.at[9] > '5' || (s.len > 12 && s.at[12] != ' '))
        return "a status that is no number from 100 to 599";
    r->minor = s.at[7] - '0';
    r->status = (unsigned)(s.at[9] - '0') * 100 + (unsigned)(s.at[10] - '0') * 10 +
                (unsigned)(s.at[11] - '0');
    r->phrase = str_skip(s, 13);
    return NULL;
}

static const char *decide_length(struct reply *r)
{
    static const struct str name = STR_INIT("content-length");
    uint64_t length = 0;

    for (const struct field *at = NULL; (at = fields_next(&r->fields, name, at));) {
        struct str rest = at->value, item;
        bool any = false;

        while (fields_item(&rest, &item)) {
            if (!body_length(item, &length))
                return "a length that is no number";
            if (r->body.kind == BODY_LENGTH && length != r->body.length)
                return "two lengths";
            r->body = (struct body_plan){ BODY_LENGTH, length };
            any = true;
        }
        if (!any)
            return "a length that is no number";
    }
    return NULL;
}

static const char *decide_coding(struct reply *r)
{
    static const struct str name = STR_INIT("transfer-encoding");
    const struct field *at = fields_next(&r->fields, name, NULL);

    if (r->minor == 0)
        return "chunks in HTTP/1.0";
    if (!fields_same(at->value, STR("chunked")) || fields_next(&r->fields, name, at))
        return "a transfer coding other than chunked";
    r->keep_alive = r->keep_alive && r->body.kind == BODY_NONE;
    r->body = (struct body_plan){ .kind = BODY_CHUNKED };
    return NULL;
}

static const char *decide_body(struct reply *r, bool to_head)
{
    const char *why = decide_length(r);

    r->bodiless = to_head || r->status < 200 || r->status == 204 || r->status == 304;
    if (!why && fields_next(&r->fields, STR("transfer-encoding"), NULL))
        why = decide_coding(r);
    r->until_close = !r->bodiless && r->body.kind == BODY_NONE;
    r->keep_alive = r->keep_alive && !r->until_close;
    return why;
}

static const char *parse(struct reply *r, bool to_head)
{
    struct str lines = str_n(r->head.text.at, r->head.text.len - 2);
    struct str first = str_cut(&lines, '\n');
    enum refusal fault;
    const char *why;

    first.len--; /* its CR */
    why = parse_line(r, first);
    if (why)
        return why;
    fault = fields_parse(&r->fields, lines);
    if (fault)
        return refusal_text(fault);
    r->keep_alive = fields_keep_alive(&r->fields, r->minor);
    return decide_body(r, to_head);
}

/* Told by its first bytes: who greets in another language may then wait for us to speak it. */
static bool is_other(const struct head *h)
{
    static const struct str start = STR_INIT("HTTP/1.");
    struct str said = buf_str(&h->text);

    if (said.len > start.len)
        said.len = start.len;
    return said.len && said.at[0] != '\r' && !str_starts(start, said);
}

enum reply_next reply_feed(struct reply *r, struct str *in, bool to_head)
{
    enum head_next next;

    if (r->why)
        return REPLY_REFUSED;
    if (r->status)
        return REPLY_WHOLE;
    next = head_feed(&r->head, in);
    if (is_other(&r->head))
        r->why = not_http;
    else if (next == HEAD_MORE)
        return REPLY_MORE;
    else
        r->why = next == HEAD_REFUSED ? refusal_text(r->head.why)
                 : r->head.lines == 0 ? "an empty line"
                                      : parse(r, to_head);
    if (r->why)
        r->status = 0;
    return r->why ? REPLY_REFUSED : REPLY_WHOLE;
}
