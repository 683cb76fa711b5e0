#include "wire/response-write.h"

#include "base/buf.h"

#define LINE(status, phrase)                                                                   \
    {                                                                                          \
        status, STR_INIT("HTTP/1.1 " #status " " phrase "\r\n")                                \
    }

/* Complete status lines with the usual phrases. */
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

static struct str status_line_of(unsigned status)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].status == status)
            return lines[i].text;
    }
    return STR_NONE;
}

struct str response_reason_phrase(unsigned status)
{
    struct str line = status_line_of(status), before = STR("HTTP/1.1 200 "),
               after = STR("\r\n");

    return line.len ? str_n(line.at + before.len, line.len - before.len - after.len) : line;
}

bool response_is_reserved_header(struct str name)
{
    return headers_equal_nocase(name, STR("content-length")) ||
           headers_equal_nocase(name, STR("transfer-encoding")) ||
           headers_equal_nocase(name, STR("connection")) ||
           headers_equal_nocase(name, STR("keep-alive"));
}

static bool check_headers(const struct outgoing_response *r, struct err *e)
{
    if (!headers_is_value(r->phrase))
        return err_set(e, ERR_INPUT, "the reason phrase contains a control character");
    for (size_t i = 0; i < r->headers.count; i++) {
        const struct header *f = &r->headers.at[i];

        if (!headers_is_token(f->name))
            return err_set(e, ERR_INPUT, "a header name is not a token");
        if (response_is_reserved_header(f->name))
            return err_set(e, ERR_INPUT, "header '%.*s' is reserved", STR_ARG(f->name));
        if (!headers_is_value(f->value))
            return err_set(e, ERR_INPUT, "header '%.*s' holds a control character",
                           STR_ARG(f->name));
    }
    return true;
}

/* The put functions write to a place with enough room and return the end. */

static char *put_text(char *at, struct str text)
{
    if (text.len)
        memcpy(at, text.at, text.len);
    return at + text.len;
}

static char *put_number(char *at, uint64_t n)
{
    char text[BUF_DIGITS_MAX], *end = text + sizeof text,
                               *first = buf_put_digits_before(end, n);

    return put_text(at, str_n(first, (size_t)(end - first)));
}

static char *put_status_line(char *at, const struct outgoing_response *r)
{
    struct str usual = r->phrase.len ? STR_NONE : status_line_of(r->status);

    if (usual.len)
        return put_text(at, usual);
    at = put_number(put_text(at, STR("HTTP/1.1 ")), r->status);
    at = put_text(put_text(at, STR(" ")), r->phrase);
    return put_text(at, STR("\r\n"));
}

static char *put_header(char *at, const struct header *f)
{
    at = put_text(put_text(at, f->name), STR(": "));
    return put_text(put_text(at, f->value), STR("\r\n"));
}

static char *put_framing(char *at, struct body_framing plan)
{
    switch (plan.kind) {
    case BODY_NONE:
        return at;
    case BODY_LENGTH:
        at = put_number(put_text(at, STR("Content-Length: ")), plan.length);
        return put_text(at, STR("\r\n"));
    case BODY_CHUNKED:
        return put_text(at, STR("Transfer-Encoding: chunked\r\n"));
    }
    BUG("unknown framing");
}

/* Returns an upper bound: 256 bytes are enough for the lines that are composed here. */
static size_t head_size_max(const struct outgoing_response *r)
{
    size_t room = 256 + r->phrase.len;

    for (size_t i = 0; i < r->headers.count; i++)
        room += r->headers.at[i].name.len + r->headers.at[i].value.len + strlen(": \r\n");
    return room;
}

static void write_head(struct buf *to, const struct outgoing_response *r)
{
    char *first = buf_reserve(to, head_size_max(r)), *at;

    if (!first)
        return;
    at = put_status_line(first, r);
    for (size_t i = 0; i < r->headers.count; i++)
        at = put_header(at, &r->headers.at[i]);
    at = put_framing(at, r->body);
    if (r->close)
        at = put_text(at, STR("Connection: close\r\n"));
    at = put_text(at, STR("\r\n"));
    buf_commit(to, (size_t)(at - first));
}

bool response_write(struct buf *to, const struct outgoing_response *r, struct err *e)
{
    bool bodiless = r->status < 200 || r->status == 204;

    BUG_IF(r->status < 100 || r->status > 599);
    BUG_IF(bodiless && r->body.kind != BODY_NONE);
    BUG_IF(r->body.kind == BODY_LENGTH && r->body.length > INT64_MAX);
    if (!check_headers(r, e))
        return false;
    write_head(to, r);
    return true;
}
