#include "wire/response-read.h"

#include "base/ascii.h"

static const struct head_limits limits = {
    .first_line = RESPONSE_HEAD_LINE_MAX,
    .bytes = RESPONSE_HEAD_BYTES_MAX,
    .lines = RESPONSE_HEAD_HEADERS_MAX + 1,
};

void response_head_init(struct response_head *r)
{
    *r = (struct response_head){ .minor = 1 };
    head_init(&r->head, &limits);
}

void response_head_release(struct response_head *r)
{
    head_release(&r->head);
    headers_release(&r->headers);
}

void response_head_clear(struct response_head *r)
{
    struct head head = r->head;
    struct headers fields = r->headers;

    head_clear(&head);
    headers_clear(&fields);
    *r = (struct response_head){ .head = head, .headers = fields, .minor = 1 };
}

static const char not_http[] = "a first line that is not 'HTTP/1.1' and a status";

/* The functions below return the reason to reject, or NULL. */

static const char *parse_line(struct response_head *r, struct str s)
{
    if (s.len < 12 || !str_starts(s, STR("HTTP/1.")) || s.at[8] != ' ' ||
        (s.at[7] != '0' && s.at[7] != '1'))
        return not_http;
    if (!ascii_is_digit(s.at[9]) || !ascii_is_digit(s.at[10]) || !ascii_is_digit(s.at[11]) ||
        s.at[9] == '0' || s.at[9] > '5' || (s.len > 12 && s.at[12] != ' '))
        return "a status that is not a number from 100 to 599";
    r->minor = s.at[7] - '0';
    r->status = (unsigned)(s.at[9] - '0') * 100 + (unsigned)(s.at[10] - '0') * 10 +
                (unsigned)(s.at[11] - '0');
    r->phrase = str_skip(s, 13);
    return NULL;
}

static const char *parse_length(struct response_head *r)
{
    static const struct str name = STR_INIT("content-length");
    uint64_t length = 0;

    for (const struct header *at = NULL; (at = headers_next(&r->headers, name, at));) {
        struct str rest = at->value, item;
        bool any = false;

        while (headers_next_item(&rest, &item)) {
            if (!body_parse_length(item, &length))
                return "a Content-Length that is not a number";
            if (r->body.kind == BODY_LENGTH && length != r->body.length)
                return "two different Content-Lengths";
            r->body = (struct body_framing){ BODY_LENGTH, length };
            any = true;
        }
        if (!any)
            return "a Content-Length that is not a number";
    }
    return NULL;
}

static const char *parse_coding(struct response_head *r)
{
    static const struct str name = STR_INIT("transfer-encoding");
    const struct header *at = headers_next(&r->headers, name, NULL);

    if (r->minor == 0)
        return "a Transfer-Encoding in HTTP/1.0";
    if (!headers_equal_nocase(at->value, STR("chunked")) || headers_next(&r->headers, name, at))
        return "a transfer coding other than chunked";
    r->keep_alive = r->keep_alive && r->body.kind == BODY_NONE;
    r->body = (struct body_framing){ .kind = BODY_CHUNKED };
    return NULL;
}

static const char *parse_framing(struct response_head *r, bool to_head)
{
    const char *why = parse_length(r);

    r->bodiless = to_head || r->status < 200 || r->status == 204 || r->status == 304;
    if (!why && headers_next(&r->headers, STR("transfer-encoding"), NULL))
        why = parse_coding(r);
    r->until_close = !r->bodiless && r->body.kind == BODY_NONE;
    r->keep_alive = r->keep_alive && !r->until_close;
    return why;
}

static const char *parse_head(struct response_head *r, bool to_head)
{
    struct str lines = str_n(r->head.text.at, r->head.text.len - 2);
    struct str first = str_cut(&lines, '\n');
    enum reject_reason fault;
    const char *why;

    first.len--; /* its CR */
    why = parse_line(r, first);
    if (why)
        return why;
    fault = headers_parse(&r->headers, lines);
    if (fault)
        return reject_reason_text(fault);
    r->keep_alive = headers_keep_alive(&r->headers, r->minor);
    return parse_framing(r, to_head);
}

/* Checks the first bytes already: a server of another protocol may send a short greeting and
 * then wait for us. */
static bool is_not_http(const struct head *h)
{
    static const struct str start = STR_INIT("HTTP/1.");
    struct str start_of_head = buf_str(&h->text);

    if (start_of_head.len > start.len)
        start_of_head.len = start.len;
    return start_of_head.len && start_of_head.at[0] != '\r' &&
           !str_starts(start, start_of_head);
}

enum response_head_next response_head_feed(struct response_head *r, struct str *in,
                                           bool to_head)
{
    enum head_next next;

    if (r->reason)
        return RESPONSE_HEAD_REJECTED;
    if (r->status)
        return RESPONSE_HEAD_COMPLETE;
    next = head_feed(&r->head, in);
    if (is_not_http(&r->head))
        r->reason = not_http;
    else if (next == HEAD_MORE)
        return RESPONSE_HEAD_MORE;
    else
        r->reason = next == HEAD_REJECTED ? reject_reason_text(r->head.reason)
                    : r->head.lines == 0  ? "an empty line"
                                          : parse_head(r, to_head);
    if (r->reason)
        r->status = 0;
    return r->reason ? RESPONSE_HEAD_REJECTED : RESPONSE_HEAD_COMPLETE;
}
