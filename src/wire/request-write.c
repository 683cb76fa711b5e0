#include "wire/request-write.h"

static void add_header(struct buf *to, struct str name, struct str value)
{
    BUG_IF(!headers_is_token(name) || !headers_is_value(value));
    buf_add(to, name);
    buf_add(to, STR(": "));
    buf_add(to, value);
    buf_add(to, STR("\r\n"));
}

static bool is_forwarded(const struct outgoing_request *a, const struct request_write_config *m,
                         struct str name)
{
    return !headers_is_hop_by_hop(&a->headers, name) &&
           !headers_equal_nocase(name, STR("content-length")) &&
           !headers_equal_nocase(name, STR("expect")) &&
           !headers_next(&m->extra_headers, name, NULL);
}

/* An empty body gets a Content-Length: 0, no body gets none. */
static void add_framing(struct buf *to, const struct outgoing_request *a)
{
    if (a->body.kind == BODY_CHUNKED) {
        add_header(to, STR("Transfer-Encoding"), STR("chunked"));
    } else if (a->body.kind == BODY_LENGTH) {
        buf_add(to, STR("Content-Length: "));
        buf_add_int(to, (int64_t)a->body.length);
        buf_add(to, STR("\r\n"));
    }
}

static bool has_host(const struct headers *f)
{
    return headers_next(f, STR("host"), NULL) && !headers_is_hop_by_hop(f, STR("host"));
}

void request_write(struct buf *to, const struct outgoing_request *a,
                   const struct request_write_config *m)
{
    BUG_IF(!headers_is_token(a->method) || !a->target.len || !headers_is_value(a->target) ||
           str_find(a->target, ' ') < a->target.len);
    buf_add(to, a->method);
    buf_add_ch(to, ' ');
    buf_add(to, a->target);
    buf_add(to, STR(" HTTP/1.1\r\n"));
    if (!has_host(&a->headers) && !headers_next(&m->extra_headers, STR("host"), NULL))
        add_header(to, STR("Host"), m->host);
    for (size_t i = 0; i < a->headers.count; i++) {
        if (is_forwarded(a, m, a->headers.at[i].name))
            add_header(to, a->headers.at[i].name, a->headers.at[i].value);
    }
    for (size_t i = 0; i < m->extra_headers.count; i++)
        add_header(to, m->extra_headers.at[i].name, m->extra_headers.at[i].value);
    add_framing(to, a);
    buf_add(to, STR("\r\n"));
}
