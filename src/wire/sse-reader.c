#include "wire/sse-reader.h"

static const char bom[3] = { '\xef', '\xbb', '\xbf' }; /* the byte order mark */

/* Bytes of memory kept per part between events: those of a large event are freed. */
enum { PART_KEEP = 64 << 10 };

void sse_reader_init(struct sse_reader *r, size_t max)
{
    *r = (struct sse_reader){ .max = max, .retry = -1 };
    /* The limits of the buffers are never reached: the sizes of the lines are checked before.
     */
    for (int i = 0; i < SSE_PARTS; i++)
        buf_init(&r->part[i], max);
}

void sse_reader_release(struct sse_reader *r)
{
    for (int i = 0; i < SSE_PARTS; i++)
        buf_release(&r->part[i]);
}

void sse_reader_feed(struct sse_reader *r, struct str bytes)
{
    BUG_IF(r->input.len);
    r->input = bytes;
    r->lf = NULL;
}

static void clear_part(struct sse_reader *r, enum sse_part p)
{
    if (r->part[p].cap > PART_KEEP)
        buf_release(&r->part[p]);
    buf_clear(&r->part[p]);
}

static void clear_texts(struct sse_reader *r)
{
    clear_part(r, SSE_DATA);
    clear_part(r, SSE_TYPE);
    clear_part(r, SSE_ID);
    clear_part(r, SSE_SCRATCH);
}

static void clear_block(struct sse_reader *r)
{
    clear_texts(r);
    r->has_data = r->has_type = r->has_id = r->has_known_field = false;
    r->retry = -1;
    r->block = (struct sse_size){ .bytes = 0 };
}

static void clear_handed_out(struct sse_reader *r)
{
    if (r->block.handed_out)
        clear_block(r);
    if (r->comment.handed_out) {
        clear_part(r, SSE_COMMENT_TEXT);
        r->comment = (struct sse_size){ .bytes = 0 };
    }
}

static enum sse_field field_by_name(struct str name)
{
    if (str_eq(name, STR("data")))
        return SSE_FIELD_DATA;
    if (str_eq(name, STR("event")))
        return SSE_FIELD_EVENT;
    if (str_eq(name, STR("id")))
        return SSE_FIELD_ID;
    if (str_eq(name, STR("retry")))
        return SSE_FIELD_RETRY;
    return SSE_FIELD_UNKNOWN;
}

static struct sse_size *current_size(struct sse_reader *r)
{
    return r->field == SSE_FIELD_COMMENT ? &r->comment : &r->block;
}

static void add_size(struct sse_reader *r, size_t n)
{
    struct sse_size *m = current_size(r);

    m->bytes += n;
    if (m->too_long || m->bytes <= r->max)
        return;
    m->too_long = true;
    if (m == &r->comment)
        clear_part(r, SSE_COMMENT_TEXT);
    else
        clear_texts(r);
}

/* Ends the field name. */
static void begin_value(struct sse_reader *r)
{
    r->in_value = true;
    if (r->field == SSE_FIELD_COMMENT)
        return;
    if (r->name_len <= sizeof r->name)
        r->field = field_by_name(str_n(r->name, r->name_len));
    r->skip_blank = true;
    r->has_known_field = r->has_known_field || r->field != SSE_FIELD_UNKNOWN;
    if (r->field == SSE_FIELD_DATA && r->has_data && !r->block.too_long)
        buf_add_ch(&r->part[SSE_DATA], '\n');
    r->has_data = r->has_data || r->field == SSE_FIELD_DATA;
}

static void add_name(struct sse_reader *r, struct str s)
{
    for (size_t i = 0; i < s.len && r->name_len <= sizeof r->name; i++, r->name_len++) {
        if (r->name_len < sizeof r->name)
            r->name[r->name_len] = s.at[i];
    }
}

static void add_value(struct sse_reader *r, struct str s)
{
    enum sse_part to = r->field == SSE_FIELD_COMMENT ? SSE_COMMENT_TEXT
                       : r->field == SSE_FIELD_DATA  ? SSE_DATA
                                                     : SSE_SCRATCH;

    if (!s.len)
        return;
    if (r->skip_blank && s.at[0] == ' ')
        s = str_skip(s, 1);
    r->skip_blank = false;
    if (r->field != SSE_FIELD_UNKNOWN && !current_size(r)->too_long)
        buf_add(&r->part[to], s);
}

/* Parses bytes of a line, without its end. */
static void parse_line_bytes(struct sse_reader *r, struct str s)
{
    if (!s.len)
        return;
    if (!r->line_begun) {
        r->line_begun = true;
        if (s.at[0] == ':')
            r->field = SSE_FIELD_COMMENT;
    }
    add_size(r, s.len);
    if (!r->in_value) {
        size_t n = str_find(s, ':');

        add_name(r, str_n(s.at, n));
        if (n == s.len)
            return;
        begin_value(r);
        s = str_skip(s, n + 1);
    }
    add_value(r, s);
}

static int64_t parse_retry(struct str s, int64_t before)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        int digit = s.at[i] - '0';

        if (digit < 0 || digit > 9)
            return before;
        n = n > (INT64_MAX - digit) / 10 ? INT64_MAX : n * 10 + digit;
    }
    return s.len ? n : before;
}

static void swap_scratch(struct sse_reader *r, enum sse_part p)
{
    struct buf b = r->part[p];

    r->part[p] = r->part[SSE_SCRATCH];
    r->part[SSE_SCRATCH] = b;
}

/* Ends the value of a line: replaces the earlier value of the field. */
static void commit_field(struct sse_reader *r)
{
    struct str value = buf_str(&r->part[SSE_SCRATCH]);

    if (r->field == SSE_FIELD_RETRY) {
        r->retry = parse_retry(value, r->retry);
    } else if (r->field == SSE_FIELD_EVENT) {
        r->has_type = true;
        swap_scratch(r, SSE_TYPE);
    } else if (r->field == SSE_FIELD_ID && str_find(value, '\0') == value.len) {
        r->has_id = true;
        swap_scratch(r, SSE_ID);
    }
    buf_clear(&r->part[SSE_SCRATCH]);
}

static struct str text_of(const struct sse_reader *r, enum sse_part p, bool there)
{
    struct str s = buf_str(&r->part[p]);

    if (!there)
        return STR_NONE;
    return s.at ? s : STR("");
}

static enum sse_next hand_out_comment(struct sse_reader *r, struct sse_item *item)
{
    *item = SSE_ITEM_NONE;
    item->bytes = r->comment.bytes;
    item->too_long = r->comment.too_long;
    item->comment = text_of(r, SSE_COMMENT_TEXT, !item->too_long);
    r->comment.handed_out = true;
    return SSE_COMMENT;
}

static enum sse_next hand_out_block(struct sse_reader *r, struct sse_item *item)
{
    bool kept = !r->block.too_long;

    *item = SSE_ITEM_NONE;
    item->bytes = r->block.bytes;
    item->too_long = r->block.too_long;
    item->data = text_of(r, SSE_DATA, kept && r->has_data);
    item->event = text_of(r, SSE_TYPE, kept && r->has_type);
    item->id = text_of(r, SSE_ID, kept && r->has_id);
    if (kept)
        item->retry = r->retry;
    r->block.handed_out = true;
    return SSE_EVENT;
}

/* Ends the line and returns its field. */
static enum sse_field finish_line(struct sse_reader *r)
{
    enum sse_field field;

    if (!r->in_value)
        begin_value(r);
    commit_field(r);
    field = r->field;
    r->name_len = 0;
    r->field = SSE_FIELD_UNKNOWN;
    r->line_begun = r->in_value = r->skip_blank = false;
    return field;
}

/* A dropped block with a known field counts as an event: its id or retry may have been valid.
 */
static bool has_event(const struct sse_reader *r)
{
    return r->has_data || r->has_type || r->has_id || r->retry >= 0 ||
           (r->has_known_field && r->block.too_long);
}

static enum sse_next end_line(struct sse_reader *r, struct sse_item *item)
{
    if (r->line_begun) {
        add_size(r, 1);
        return finish_line(r) == SSE_FIELD_COMMENT ? hand_out_comment(r, item) : SSE_MORE;
    }
    if (has_event(r))
        return hand_out_block(r, item);
    clear_block(r);
    return SSE_MORE;
}

/* Returns the input up to the next end of a line, or all of it. */
static struct str line_piece(struct sse_reader *r)
{
    const char *at = r->input.at, *cr;

    if (!r->lf || r->lf < at) {
        r->lf = memchr(at, '\n', r->input.len);
        if (!r->lf)
            r->lf = at + r->input.len;
    }
    cr = memchr(at, '\r', (size_t)(r->lf - at));
    return str_n(at, (size_t)((cr ? cr : r->lf) - at));
}

/* Parses the start of the stream until it is or is not a byte order mark. */
static void skip_bom(struct sse_reader *r)
{
    unsigned seen = r->bom;

    if (r->input.at[0] == bom[seen]) {
        r->bom++;
        r->input = str_skip(r->input, 1);
        return;
    }
    r->bom = sizeof bom;
    parse_line_bytes(r, str_n(bom, seen));
}

static void skip_lf(struct sse_reader *r)
{
    if (r->input.len && r->after_cr) {
        if (r->input.at[0] == '\n')
            r->input = str_skip(r->input, 1);
        r->after_cr = false;
    }
}

enum sse_next sse_reader_next(struct sse_reader *r, struct sse_item *item)
{
    enum sse_next next = SSE_MORE;

    clear_handed_out(r);
    while (r->input.len && r->bom < sizeof bom)
        skip_bom(r);
    skip_lf(r);
    while (r->input.len && next == SSE_MORE) {
        struct str piece = line_piece(r);

        parse_line_bytes(r, piece);
        r->input = str_skip(r->input, piece.len);
        if (!r->input.len)
            break;
        r->after_cr = r->input.at[0] == '\r';
        r->input = str_skip(r->input, 1);
        skip_lf(r);
        next = end_line(r, item);
    }
    return next;
}

enum sse_next sse_reader_end(struct sse_reader *r, struct sse_item *item)
{
    bool comment = false;

    BUG_IF(r->input.len);
    clear_handed_out(r);
    if (r->bom < sizeof bom) {
        parse_line_bytes(r, str_n(bom, r->bom));
        r->bom = sizeof bom;
    }
    if (r->line_begun)
        comment = finish_line(r) == SSE_FIELD_COMMENT;
    if (comment)
        return hand_out_comment(r, item);
    return r->block.bytes ? hand_out_block(r, item) : SSE_MORE;
}
