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

/* What has not gone on, up to the line at hand. */
static struct str waiting(const struct sse_endpoint *f)
{
    return str_skip(str_n(f->held.at, f->line), f->gone);
}

/* Lets that go on, unless it is of a block that waits. */
static void let_go(struct sse_endpoint *f, struct buf *out)
{
    if (f->begun && !f->flows)
        return;
    buf_add(out, waiting(f));
    f->gone = f->line;
}

/* The line at hand up to its end; false: that is not there yet. */
static bool take_line(struct sse_endpoint *f, struct str *line, struct buf *out)
{
    struct str rest = str_skip(buf_str(&f->held), f->line);
    size_t lf, cr;

    if (f->after_cr && rest.len) {
        f->after_cr = false;
        if (rest.at[0] == '\n') {
            f->line++;
            let_go(f, out);
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

/* No address begins so, but every message does. */
static bool is_message(struct str line)
{
    struct str value;

    return value_of(line, STR("data"), &value) &&
           (str_starts(value, STR("{")) || str_starts(value, STR("[")));
}

/* More of the line could make it mean something else. */
static bool is_open(struct str part)
{
    static const struct str type = STR_INIT("event"), longest = STR_INIT("event: endpoint");

    return str_starts(STR("data"), part) || str_starts(type, part) ||
           (str_starts(part, type) && part.len <= longest.len);
}

/* A line that is not empty, or enough of one. */
static void see_line(struct sse_endpoint *f, struct str line)
{
    struct str value;

    f->begun = f->begun || line.at[0] != ':';
    f->flows = f->flows || is_message(line);
    if (value_of(line, STR("event"), &value)) {
        f->is = str_eq(value, STR("endpoint"));
        f->flows = f->flows || (value.len && !f->is);
    } else if (value_of(line, STR("data"), &value)) {
        size_t at = (size_t)(value.at - f->held.at) - f->gone;

        f->data = f->has_data ? f->data : at;
        f->end = at + value.len;
        f->has_data = true;
    }
}

static void see_length(struct sse_endpoint *f, size_t upto)
{
    f->flows = f->flows || (f->begun && upto - f->gone > SSE_ENDPOINT_MAX);
}

/* The line at hand has no end yet: its beginning may be enough. */
static void see_part(struct sse_endpoint *f)
{
    struct str part = str_skip(buf_str(&f->held), f->line);

    if (!f->in_line && part.len) {
        bool aside = !f->begun && part.at[0] == ':';
        bool passes = is_message(part) || f->held.len - f->gone > SSE_ENDPOINT_MAX;

        f->flows = f->flows || (passes && !aside);
        if (is_open(part) || !(aside || f->flows))
            return;
        see_line(f, part);
        f->in_line = true;
    }
    f->line = f->held.len;
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

static void end_block(struct sse_endpoint *f)
{
    f->begun = f->flows = f->has_data = f->is = false;
}

void sse_endpoint_feed(struct sse_endpoint *f, struct str bytes)
{
    BUG_IF(bytes.len > SSE_ENDPOINT_FED_MAX);
    buf_add(&f->held, bytes);
}

static void want_more(struct sse_endpoint *f, struct buf *out)
{
    see_part(f);
    let_go(f, out);
    buf_drop_front(&f->held, f->gone);
    f->line -= f->gone;
    f->gone = 0;
    if (!f->held.len)
        buf_release(&f->held); /* a stream may be silent for hours */
}

enum sse_endpoint_next sse_endpoint_next(struct sse_endpoint *f, struct buf *out)
{
    struct str line;

    if (!skip_bom(f))
        return SSE_ENDPOINT_MORE;
    let_go(f, out);
    while (take_line(f, &line, out)) {
        bool seen = f->in_line, ends = !seen && !line.len;

        f->in_line = false;
        see_length(f, f->line);
        if (ends && f->is && f->has_data && f->flows)
            return SSE_ENDPOINT_LATE;
        if (!seen && !ends)
            see_line(f, line);
        f->line += line.len + 1;
        if (ends && f->is && f->has_data)
            return SSE_ENDPOINT_FOUND;
        if (ends)
            end_block(f);
        see_length(f, f->line);
        let_go(f, out);
    }
    want_more(f, out);
    return SSE_ENDPOINT_MORE;
}

struct str sse_endpoint_said(const struct sse_endpoint *f)
{
    return str_n(waiting(f).at + f->data, f->end - f->data);
}

void sse_endpoint_replace(struct sse_endpoint *f, struct str data, struct buf *out)
{
    struct str block = waiting(f);

    buf_add(out, str_n(block.at, f->data));
    buf_add(out, data);
    buf_add(out, str_skip(block, f->end));
    f->gone = f->line;
    end_block(f);
}

void sse_endpoint_end(struct sse_endpoint *f, struct buf *out)
{
    buf_add(out, buf_str(&f->held));
    buf_release(&f->held);
}
