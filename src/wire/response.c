#include "wire/response.h"

#include "base/digits.h"

#define LINE(status, phrase)                                                                   \
    {                                                                                          \
        status, STR_INIT("HTTP/1.1 " #status " " phrase "\r\n")                                \
    }

/* Of the usual phrases, all of the first line. */
static const struct line {
    unsigned status;
    struct str text;
} lines[] = {
    LINE(100, "Continue"),
    LINE(200, "OK"),
    LINE(201, "Created"),
    LINE(202, "Accepted"),
    LINE(204, "No Content"),
    LINE(301, "Moved Permanently"),
    LINE(302, "Found"),
    LINE(303, "See Other"),
    LINE(304, "Not Modified"),
    LINE(307, "Temporary Redirect"),
    LINE(308, "Permanent Redirect"),
    LINE(400, "Bad Request"),
    LINE(401, "Unauthorized"),
    LINE(403, "Forbidden"),
    LINE(404, "Not Found"),
    LINE(405, "Method Not Allowed"),
    LINE(406, "Not Acceptable"),
    LINE(408, "Request Timeout"),
    LINE(409, "Conflict"),
    LINE(410, "Gone"),
    LINE(413, "Content Too Large"),
    LINE(414, "URI Too Long"),
    LINE(415, "Unsupported Media Type"),
    LINE(421, "Misdirected Request"),
    LINE(422, "Unprocessable Content"),
    LINE(429, "Too Many Requests"),
    LINE(431, "Request Header Fields Too Large"),
    LINE(500, "Internal Server Error"),
    LINE(501, "Not Implemented"),
    LINE(502, "Bad Gateway"),
    LINE(503, "Service Unavailable"),
    LINE(504, "Gateway Timeout"),
    LINE(505, "HTTP Version Not Supported"),
};

static struct str usual_line(unsigned status)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].status == status)
            return lines[i].text;
    }
    return STR_NONE;
}

struct str response_phrase(unsigned status)
{
    struct str line = usual_line(status), before = STR("HTTP/1.1 200 "), after = STR("\r\n");

    return line.len ? str_n(line.at + before.len, line.len - before.len - after.len) : line;
}

bool response_owns(struct str name)
{
    return fields_same(name, STR("content-length")) ||
           fields_same(name, STR("transfer-encoding")) ||
           fields_same(name, STR("connection")) || fields_same(name, STR("keep-alive"));
}

static bool check(const struct response *r, struct err *e)
{
    if (!fields_is_value(r->phrase))
        return err_set(e, ERR_INPUT, "the phrase of a status holds a control character");
    for (size_t i = 0; i < r->fields.count; i++) {
        const struct field *f = &r->fields.at[i];

        if (!fields_is_token(f->name))
            return err_set(e, ERR_INPUT, "a header name is not a word");
        if (response_owns(f->name))
            return err_set(e, ERR_INPUT, "header '%.*s' is not for others to say",
                           STR_ARG(f->name));
        if (!fields_is_value(f->value))
            return err_set(e, ERR_INPUT, "header '%.*s' holds a control character",
                           STR_ARG(f->name));
    }
    return true;
}

/* What is put goes where there is room for all of it; what follows goes behind it. */

static char *put(char *at, struct str text)
{
    if (text.len)
        memcpy(at, text.at, text.len);
    return at + text.len;
}

static char *put_number(char *at, uint64_t n)
{
    char text[DIGITS_MOST], *end = text + sizeof text, *first = digits_put_before(end, n);

    return put(at, str_n(first, (size_t)(end - first)));
}

static char *put_line(char *at, const struct response *r)
{
    struct str usual = r->phrase.len ? STR_NONE : usual_line(r->status);

    if (usual.len)
        return put(at, usual);
    at = put_number(put(at, STR("HTTP/1.1 ")), r->status);
    at = put(put(at, STR(" ")), r->phrase);
    return put(at, STR("\r\n"));
}

static char *put_field(char *at, const struct field *f)
{
    at = put(put(at, f->name), STR(": "));
    return put(put(at, f->value), STR("\r\n"));
}

static char *put_plan(char *at, struct body_plan plan)
{
    switch (plan.kind) {
    case BODY_NONE:
        return at;
    case BODY_LENGTH:
        at = put_number(put(at, STR("Content-Length: ")), plan.length);
        return put(at, STR("\r\n"));
    case BODY_CHUNKED:
        return put(at, STR("Transfer-Encoding: chunked\r\n"));
    }
    BUG("no such plan");
}

/* No head is longer: beside what others say the longest lines that we have. */
static size_t room_for(const struct response *r)
{
    size_t room = 256 + r->phrase.len;

    for (size_t i = 0; i < r->fields.count; i++)
        room += r->fields.at[i].name.len + r->fields.at[i].value.len + strlen(": \r\n");
    return room;
}

static void compose(struct buf *to, const struct response *r)
{
    char *first = buf_space(to, room_for(r)), *at;

    if (!first)
        return;
    at = put_line(first, r);
    for (size_t i = 0; i < r->fields.count; i++)
        at = put_field(at, &r->fields.at[i]);
    at = put_plan(at, r->body);
    if (r->close)
        at = put(at, STR("Connection: close\r\n"));
    at = put(at, STR("\r\n"));
    buf_grew(to, (size_t)(at - first));
}

bool response_compose(struct buf *to, const struct response *r, struct err *e)
{
    bool bodiless = r->status < 200 || r->status == 204;

    BUG_IF(r->status < 100 || r->status > 599);
    BUG_IF(bodiless && r->body.kind != BODY_NONE);
    BUG_IF(r->body.kind == BODY_LENGTH && r->body.length > INT64_MAX);
    if (!check(r, e))
        return false;
    compose(to, r);
    return true;
}
