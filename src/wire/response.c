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

static void add_field(struct buf *to, struct str name, struct str value)
{
    buf_add(to, name);
    buf_add(to, STR(": "));
    buf_add(to, value);
    buf_add(to, STR("\r\n"));
}

static void add_line(struct buf *to, const struct response *r)
{
    struct str usual = r->phrase.len ? STR_NONE : usual_line(r->status);

    if (usual.len) {
        buf_add(to, usual);
        return;
    }
    buf_add(to, STR("HTTP/1.1 "));
    buf_add_int(to, r->status);
    buf_add_ch(to, ' ');
    buf_add(to, r->phrase);
    buf_add(to, STR("\r\n"));
}

static void add_length(struct buf *to, uint64_t length)
{
    static const struct str name = STR_INIT("Content-Length: ");
    char line[64], *end = line + sizeof line - 2, *at = digits_put_before(end, length);

    memcpy(end, "\r\n", 2);
    memcpy(at -= name.len, name.at, name.len);
    buf_add(to, str_n(at, (size_t)(end + 2 - at)));
}

static void add_plan(struct buf *to, struct body_plan plan)
{
    switch (plan.kind) {
    case BODY_NONE:
        break;
    case BODY_LENGTH:
        add_length(to, plan.length);
        break;
    case BODY_CHUNKED:
        buf_add(to, STR("Transfer-Encoding: chunked\r\n"));
        break;
    }
}

bool response_compose(struct buf *to, const struct response *r, struct err *e)
{
    bool bodiless = r->status < 200 || r->status == 204;

    BUG_IF(r->status < 100 || r->status > 599);
    BUG_IF(bodiless && r->body.kind != BODY_NONE);
    BUG_IF(r->body.kind == BODY_LENGTH && r->body.length > INT64_MAX);
    if (!check(r, e))
        return false;
    add_line(to, r);
    for (size_t i = 0; i < r->fields.count; i++)
        add_field(to, r->fields.at[i].name, r->fields.at[i].value);
    add_plan(to, r->body);
    if (r->close)
        buf_add(to, STR("Connection: close\r\n"));
    buf_add(to, STR("\r\n"));
    return true;
}
