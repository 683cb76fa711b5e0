#include "wire/response.h"

static const struct phrase {
    unsigned status;
    struct str text;
} phrases[] = {
    { 100, STR_INIT("Continue") },
    { 200, STR_INIT("OK") },
    { 201, STR_INIT("Created") },
    { 202, STR_INIT("Accepted") },
    { 204, STR_INIT("No Content") },
    { 301, STR_INIT("Moved Permanently") },
    { 302, STR_INIT("Found") },
    { 303, STR_INIT("See Other") },
    { 304, STR_INIT("Not Modified") },
    { 307, STR_INIT("Temporary Redirect") },
    { 308, STR_INIT("Permanent Redirect") },
    { 400, STR_INIT("Bad Request") },
    { 401, STR_INIT("Unauthorized") },
    { 403, STR_INIT("Forbidden") },
    { 404, STR_INIT("Not Found") },
    { 405, STR_INIT("Method Not Allowed") },
    { 406, STR_INIT("Not Acceptable") },
    { 408, STR_INIT("Request Timeout") },
    { 409, STR_INIT("Conflict") },
    { 410, STR_INIT("Gone") },
    { 413, STR_INIT("Content Too Large") },
    { 414, STR_INIT("URI Too Long") },
    { 415, STR_INIT("Unsupported Media Type") },
    { 421, STR_INIT("Misdirected Request") },
    { 422, STR_INIT("Unprocessable Content") },
    { 429, STR_INIT("Too Many Requests") },
    { 431, STR_INIT("Request Header Fields Too Large") },
    { 500, STR_INIT("Internal Server Error") },
    { 501, STR_INIT("Not Implemented") },
    { 502, STR_INIT("Bad Gateway") },
    { 503, STR_INIT("Service Unavailable") },
    { 504, STR_INIT("Gateway Timeout") },
    { 505, STR_INIT("HTTP Version Not Supported") },
};

struct str response_phrase(unsigned status)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (phrases[i].status == status)
            return phrases[i].text;
    }
    return STR_NONE;
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

static void add_plan(struct buf *to, struct body_plan plan)
{
    switch (plan.kind) {
    case BODY_NONE:
        break;
    case BODY_LENGTH:
        buf_add(to, STR("Content-Length: "));
        buf_add_int(to, (int64_t)plan.length);
        buf_add(to, STR("\r\n"));
        break;
    case BODY_CHUNKED:
        add_field(to, STR("Transfer-Encoding"), STR("chunked"));
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
    buf_add(to, STR("HTTP/1.1 "));
    buf_add_int(to, r->status);
    buf_add_ch(to, ' ');
    buf_add(to, r->phrase.len ? r->phrase : response_phrase(r->status));
    buf_add(to, STR("\r\n"));
    for (size_t i = 0; i < r->fields.count; i++)
        add_field(to, r->fields.at[i].name, r->fields.at[i].value);
    add_plan(to, r->body);
    if (r->close)
        add_field(to, STR("Connection"), STR("close"));
    buf_add(to, STR("\r\n"));
    return true;
}
