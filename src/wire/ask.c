#include "wire/ask.h"

static void add_field(struct buf *to, struct str name, struct str value)
{
    BUG_IF(!fields_is_token(name) || !fields_is_value(value));
    buf_add(to, name);
    buf_add(to, STR(": "));
    buf_add(to, value);
    buf_add(to, STR("\r\n"));
}

static bool is_passed_on(const struct ask *a, const struct ask_manner *m, struct str name)
{
    return !fields_is_hop(&a->fields, name) && !fields_same(name, STR("content-length")) &&
           !fields_same(name, STR("expect")) && !fields_next(&m->extra, name, NULL);
}

/* A body of no bytes is not the same as none. */
static void add_plan(struct buf *to, const struct ask *a)
{
    if (a->body.kind == BODY_CHUNKED) {
        add_field(to, STR("Transfer-Encoding"), STR("chunked"));
    } else if (a->body.kind == BODY_LENGTH) {
        buf_add(to, STR("Content-Length: "));
        buf_add_int(to, (int64_t)a->body.length);
        buf_add(to, STR("\r\n"));
    }
}

static bool names_host(const struct fields *f)
{
    return fields_next(f, STR("host"), NULL) && !fields_is_hop(f, STR("host"));
}

void ask_compose(struct buf *to, const struct ask *a, const struct ask_manner *m)
{
    BUG_IF(!fields_is_token(a->method) || !a->target.len || !fields_is_value(a->target) ||
           str_find(a->target, ' ') < a->target.len);
    buf_add(to, a->method);
    buf_add_ch(to, ' ');
    buf_add(to, a->target);
    buf_add(to, STR(" HTTP/1.1\r\n"));
    if (!names_host(&a->fields) && !fields_next(&m->extra, STR("host"), NULL))
        add_field(to, STR("Host"), m->host);
    for (size_t i = 0; i < a->fields.count; i++) {
        if (is_passed_on(a, m, a->fields.at[i].name))
            add_field(to, a->fields.at[i].name, a->fields.at[i].value);
    }
    for (size_t i = 0; i < m->extra.count; i++)
        add_field(to, m->extra.at[i].name, m->extra.at[i].value);
    add_plan(to, a);
    buf_add(to, STR("\r\n"));
}
