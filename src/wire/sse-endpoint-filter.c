#include "wire/sse-endpoint-filter.h"

#define BOM "\xef\xbb\xbf"

void sse_endpoint_filter_init(struct sse_endpoint_filter *f)
{
    *f = (struct sse_endpoint_filter){ .after_cr = false };
    buf_init(&f->held, SSE_ENDPOINT_HELD_MAX + SSE_ENDPOINT_FEED_MAX);
}

void sse_endpoint_filter_release(struct sse_endpoint_filter *f)
{
    buf_release(&f->held);
}

/* Returns the bytes before the current line that were not forwarded yet. */
static struct str unforwarded(const struct sse_endpoint_filter *f)
{
    return str_skip(str_n(f->held.at, f->line_at), f->forwarded);
}

/* Forwards them, unless they belong to a held block. */
static void forward_bytes(struct sse_endpoint_filter *f, struct buf *out)
{
    if (f->block_begun && !f->forwarding)
        return;
    buf_add(out, unforwarded(f));
    f->forwarded = f->line_at;
}

/* Gets the current line; false if its end has not come yet. */
static bool next_line(struct sse_endpoint_filter *f, struct str *line, struct buf *out)
{
    struct str rest = str_skip(buf_str(&f->held), f->line_at);
    size_t lf, cr;

    if (f->after_cr && rest.len) {
        f->after_cr = false;
        if (rest.at[0] == '\n') {
            f->line_at++;
            forward_bytes(f, out);
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

/* Gets the value after "NAME:" and one blank; false if the name is another. */
static bool value_of(struct str line, struct str name, struct str *value)
{
    if (!str_starts(line, name))
        return false;
    *value = str_n(line.at + name.len, line.len - name.len);
    if (!value->len)
        return true; /* a name without a value */
    if (value->at[0] != ':')
        return false;
    *value = str_n(value->at + 1, value->len - 1);
    if (value->len && value->at[0] == ' ')
        *value = str_n(value->at + 1, value->len - 1);
    return true;
}

/* Returns whether the line is data that begins like a message: no URL does. */
static bool is_message(struct str line)
{
    struct str value;

    return value_of(line, STR("data"), &value) &&
           (str_starts(value, STR("{")) || str_starts(value, STR("[")));
}

/* Returns whether the rest of a partial line could still change its meaning. */
static bool is_undecided(struct str part)
{
    static const struct str type = STR_INIT("event"), longest = STR_INIT("event: endpoint");

    return str_starts(STR("data"), part) || str_starts(type, part) ||
           (str_starts(part, type) && part.len <= longest.len);
}

/* Examines a line that is not empty, or its decisive first part. */
static void examine_line(struct sse_endpoint_filter *f, struct str line)
{
    struct str value;

    f->block_begun = f->block_begun || line.at[0] != ':';
    f->forwarding = f->forwarding || is_message(line);
    if (value_of(line, STR("event"), &value)) {
        f->is_endpoint = str_eq(value, STR("endpoint"));
        f->forwarding = f->forwarding || (value.len && !f->is_endpoint);
    } else if (value_of(line, STR("data"), &value)) {
        size_t at = (size_t)(value.at - f->held.at) - f->forwarded;

        f->data_at = f->has_data ? f->data_at : at;
        f->data_end = at + value.len;
        f->has_data = true;
    }
}

static void check_held_size(struct sse_endpoint_filter *f, size_t upto)
{
    f->forwarding =
        f->forwarding || (f->block_begun && upto - f->forwarded > SSE_ENDPOINT_HELD_MAX);
}

/* Examines the start of an unfinished line, if that is enough to decide. */
static void examine_partial_line(struct sse_endpoint_filter *f)
{
    struct str part = str_skip(buf_str(&f->held), f->line_at);

    if (!f->in_line && part.len) {
        bool aside = !f->block_begun && part.at[0] == ':';
        bool passes = is_message(part) || f->held.len - f->forwarded > SSE_ENDPOINT_HELD_MAX;

        f->forwarding = f->forwarding || (passes && !aside);
        if (is_undecided(part) || !(aside || f->forwarding))
            return;
        examine_line(f, part);
        f->in_line = true;
    }
    f->line_at = f->held.len;
}

static bool skip_bom(struct sse_endpoint_filter *f)
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
    f->line_at = bom.len;
    return true;
}

static void end_block(struct sse_endpoint_filter *f)
{
    f->block_begun = f->forwarding = f->has_data = f->is_endpoint = false;
}

void sse_endpoint_filter_feed(struct sse_endpoint_filter *f, struct str bytes)
{
    BUG_IF(bytes.len > SSE_ENDPOINT_FEED_MAX);
    buf_add(&f->held, bytes);
}

static void drop_forwarded(struct sse_endpoint_filter *f, struct buf *out)
{
    examine_partial_line(f);
    forward_bytes(f, out);
    buf_drop_front(&f->held, f->forwarded);
    f->line_at -= f->forwarded;
    f->forwarded = 0;
    if (!f->held.len)
        buf_release(&f->held); /* a stream may be silent for hours */
}

enum sse_endpoint_filter_next sse_endpoint_filter_next(struct sse_endpoint_filter *f,
                                                       struct buf *out)
{
    struct str line;

    if (!skip_bom(f))
        return SSE_ENDPOINT_MORE;
    forward_bytes(f, out);
    while (next_line(f, &line, out)) {
        bool seen = f->in_line, ends = !seen && !line.len;

        f->in_line = false;
        check_held_size(f, f->line_at);
        if (ends && f->is_endpoint && f->has_data && f->forwarding)
            return SSE_ENDPOINT_TOO_LATE;
        if (!seen && !ends)
            examine_line(f, line);
        f->line_at += line.len + 1;
        if (ends && f->is_endpoint && f->has_data)
            return SSE_ENDPOINT_FOUND;
        if (ends)
            end_block(f);
        check_held_size(f, f->line_at);
        forward_bytes(f, out);
    }
    drop_forwarded(f, out);
    return SSE_ENDPOINT_MORE;
}

struct str sse_endpoint_filter_data(const struct sse_endpoint_filter *f)
{
    return str_n(unforwarded(f).at + f->data_at, f->data_end - f->data_at);
}

void sse_endpoint_filter_replace(struct sse_endpoint_filter *f, struct str data,
                                 struct buf *out)
{
    struct str block = unforwarded(f);

    buf_add(out, str_n(block.at, f->data_at));
    buf_add(out, data);
    buf_add(out, str_skip(block, f->data_end));
    f->forwarded = f->line_at;
    end_block(f);
}

void sse_endpoint_filter_end(struct sse_endpoint_filter *f, struct buf *out)
{
    buf_add(out, buf_str(&f->held));
    buf_release(&f->held);
}
