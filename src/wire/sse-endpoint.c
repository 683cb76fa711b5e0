#include "wire/sse-endpoint.h"

#define BOM "\xef\xbb\xbf"

void sse_endpoint_init(struct sse_endpoint *f)
{
    *f = (struct sse_endpoint){ .after_cr = false };
    buf_init(&f->held, SSE_ENDPOINT_MAX + SSE_ENDPOINT_FED_MAX);
}

void sse_endpoint_release(struct sse_endpoint *f)
{
    buf_release(&f->held);
}

/* The line at hand up to its end; false: that is not there yet. */
static bool take_line(struct sse_endpoint *f, struct str *line)
{
    struct str rest = str_skip(buf_str(&f->held), f->line);
    size_t lf, cr;

    if (f->after_cr && rest.len) {
        f->after_cr = false;
        if (rest.at[0] == '\n') {
            f->line++;
            rest = str_skip(rest, 1);
        }
    }
    lf = str_find(rest, '\n');
    cr = str_find(str_n(rest.at, lf), '\r');
    if (cr == rest.len)
        return false;
    *line = str_n(rest.at, cr);
    f->after_cr = cr < lf;
    return true;
}

/* What of a line is after "NAME:" and one blank; false: it is of another name. */
static bool value_of(struct str line, struct str name, struct str *value)
{
    if (!str_starts(line, name))
        return false;
    *value = str_n(line.at + name.len, line.len - name.len);
    if (!value->len)
        return true; /* a name alone */
    if (value->at[0] != ':')
        return false;
    *value = str_n(value->at + 1, value->len - 1);
    if (value->len && value->at[0] == ' ')
        *value = str_n(value->at + 1, value->len - 1);
    return true;
}

static void see_field(struct sse_endpoint *f, struct str line)
{
    struct str value;

    if (value_of(line, STR("event"), &value)) {
        f->has_type = value.len > 0;
        f->is = str_eq(value, STR("endpoint"));
    } else if (value_of(line, STR("data"), &value)) {
        size_t at = (size_t)(value.at - f->held.at);

        f->data = f->has_data ? f->data : at;
        f->end = at + value.len;
        f->has_data = true;
    }
}

/* Lets all before the line at hand go on, which begins a block. */
static void let_go(struct sse_endpoint *f, struct buf *out)
{
    buf_add(out, str_n(f->held.at, f->line));
    buf_drop_front(&f->held, f->line);
    f->line = 0;
    f->begun = f->has_data = f->has_type = f->is = false;
}

static bool skip_bom(struct sse_endpoint *f)
{
    struct str held = buf_str(&f->held), bom = STR(BOM);
    size_t len = held.len < bom.len ? held.len : bom.len;

    if (f->after_bom)
        return true;
    if (!str_starts(bom, str_n(held.at, len))) {
        f->after_bom = true;
        return true;
    }
    if (held.len < bom.len)
        return false;
    f->after_bom = true;
    f->line = bom.len;
    return true;
}

static enum sse_endpoint_next none(struct sse_endpoint *f, struct buf *out)
{
    sse_endpoint_end(f, out);
    return SSE_ENDPOINT_NONE;
}

enum sse_endpoint_next sse_endpoint_feed(struct sse_endpoint *f, struct str bytes,
                                         struct buf *out)
{
    struct str line;

    BUG_IF(bytes.len > SSE_ENDPOINT_FED_MAX);
    buf_add(&f->held, bytes);
    if (!skip_bom(f))
        return SSE_ENDPOINT_MORE;
    while (take_line(f, &line)) {
        f->line += line.len + 1;
        if (line.len) {
            f->begun = f->begun || line.at[0] != ':';
            see_field(f, line);
        } else if (f->has_data) {
            return f->is ? SSE_ENDPOINT_FOUND : none(f, out);
        } else {
            f->begun = false;
        }
        if (f->has_type && !f->is)
            return none(f, out);
        if (!f->begun)
            let_go(f, out);
    }
    return f->held.len > SSE_ENDPOINT_MAX ? none(f, out) : SSE_ENDPOINT_MORE;
}

struct str sse_endpoint_said(const struct sse_endpoint *f)
{
    return str_n(f->held.at + f->data, f->end - f->data);
}

void sse_endpoint_replace(struct sse_endpoint *f, struct str data, struct buf *out)
{
    struct str held = buf_str(&f->held);

    buf_add(out, str_n(held.at, f->data));
    buf_add(out, data);
    buf_add(out, str_skip(held, f->end));
    buf_clear(&f->held);
}

void sse_endpoint_end(struct sse_endpoint *f, struct buf *out)
{
    buf_add(out, buf_str(&f->held));
    buf_clear(&f->held);
}
