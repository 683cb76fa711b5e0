#include "split-input.h"
#include "sse-text.h"
#include "wire/sse-endpoint-filter.h"
#include "wire/sse-reader.h"
#include "wire/sse-writer.h"

#define MARK ":/"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_MAX = 64 << 20, MAX = 1 << 20, SHORT_MAX = 24 };

/* Written and read again it is the same; every item that was read can be written. */
static void check_round_trip(const struct sse_item *item, enum sse_next kind)
{
    struct err e = ERR_NONE;
    struct buf text, one, two;
    struct sse_reader r;
    struct sse_item again;

    buf_init(&text, SEEN_MAX);
    buf_init(&one, SEEN_MAX);
    buf_init(&two, SEEN_MAX);
    sse_reader_init(&r, SEEN_MAX);
    BUG_IF(!sse_writer_add(&text, item, &e));
    sse_reader_feed(&r, buf_str(&text));
    BUG_IF(sse_reader_next(&r, &again) != kind);
    again.bytes = item->bytes;
    sse_text(&one, kind, item);
    sse_text(&two, kind, &again);
    BUG_IF(!str_eq(buf_str(&one), buf_str(&two)));
    BUG_IF(sse_reader_next(&r, &again) != SSE_MORE);
    sse_reader_release(&r);
    buf_release(&text);
    buf_release(&one);
    buf_release(&two);
}

static void run_max(struct split_input *c, struct buf *seen, size_t max)
{
    struct sse_reader r;
    struct sse_item item;
    enum sse_next next;
    struct str piece;

    sse_reader_init(&r, max);
    while (split_input_next(c, &piece)) {
        sse_reader_feed(&r, piece);
        while ((next = sse_reader_next(&r, &item)) != SSE_MORE) {
            sse_text(seen, next, &item);
            BUG_IF(item.too_long != (item.bytes > max));
            if (!item.too_long)
                check_round_trip(&item, next);
        }
    }
    while ((next = sse_reader_end(&r, &item)) != SSE_MORE) {
        buf_add(seen, STR(" cut off: "));
        sse_text(seen, next, &item);
    }
    sse_reader_release(&r);
}

static void run(struct split_input *c, struct buf *seen)
{
    run_max(c, seen, MAX);
}

static void run_short(struct split_input *c, struct buf *seen)
{
    run_max(c, seen, SHORT_MAX);
}

/* `mark`: replaces the data of each event; NULL: the data stay. */
static void run_endpoints(struct split_input *c, struct buf *seen, const char *mark)
{
    enum sse_endpoint_filter_next next = SSE_ENDPOINT_MORE;
    struct sse_endpoint_filter f;
    struct str piece;
    struct buf events_text;

    sse_endpoint_filter_init(&f);
    buf_init(&events_text, SEEN_MAX);
    while (split_input_next(c, &piece)) {
        if (next == SSE_ENDPOINT_TOO_LATE)
            continue;
        sse_endpoint_filter_feed(&f, piece);
        while ((next = sse_endpoint_filter_next(&f, seen)) == SSE_ENDPOINT_FOUND) {
            buf_clear(&events_text);
            buf_add(&events_text, mark ? str_z(mark) : sse_endpoint_filter_data(&f));
            sse_endpoint_filter_replace(&f, buf_str(&events_text), seen);
        }
    }
    if (next != SSE_ENDPOINT_TOO_LATE)
        sse_endpoint_filter_end(&f, seen);
    sse_endpoint_filter_release(&f);
    buf_release(&events_text);
}

/* With its own data in place of its data, a stream is unchanged. */
static void run_endpoint(struct split_input *c, struct buf *seen)
{
    run_endpoints(c, seen, NULL);
}

/* With the mark, a reader never gets an endpoint that was not rewritten. */
static void run_marked(struct split_input *c, struct buf *seen)
{
    run_endpoints(c, seen, MARK);
}

/* Behind a name that stands alone the colon of the mark is that of the line. */
static void check_endpoints_marked(struct str stream)
{
    struct sse_reader r;
    struct sse_item item;
    enum sse_next next;

    sse_reader_init(&r, SEEN_MAX);
    sse_reader_feed(&r, stream);
    while ((next = sse_reader_next(&r, &item)) != SSE_MORE)
        BUG_IF(next == SSE_EVENT && str_eq(item.event, STR("endpoint")) && item.data.at &&
               !str_eq(item.data, STR(MARK)) && !str_eq(item.data, str_skip(STR(MARK), 1)));
    sse_reader_release(&r);
}

/* The same in the plainest way there is: the whole text, line by line. */
struct plain {
    struct sse_item item;
    struct buf data;
};

static struct str cut_line(struct str *rest, bool *whole)
{
    struct str line = STR_NONE;
    size_t n = 0;

    while (n < rest->len && rest->at[n] != '\n' && rest->at[n] != '\r')
        n++;
    line = str_n(rest->at, n);
    *whole = n < rest->len;
    if (n + 1 < rest->len && rest->at[n] == '\r' && rest->at[n + 1] == '\n')
        n++;
    *rest = str_skip(*rest, n + 1);
    return line;
}

static void plain_retry(struct plain *p, struct str value)
{
    uint64_t n = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return;
        n = n > INT64_MAX / 10 ? INT64_MAX : n * 10 + (uint64_t)(value.at[i] - '0');
    }
    if (value.len)
        p->item.retry = n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void plain_field(struct plain *p, struct str name, struct str value)
{
    value.at = value.at ? value.at : "";
    if (str_eq(name, STR("data"))) {
        if (p->item.data.at)
            buf_add_ch(&p->data, '\n');
        buf_add(&p->data, value);
        p->item.data = STR("");
    } else if (str_eq(name, STR("event"))) {
        p->item.event = value;
    } else if (str_eq(name, STR("id"))) {
        if (str_find(value, '\0') == value.len)
            p->item.id = value;
    } else if (str_eq(name, STR("retry"))) {
        plain_retry(p, value);
    }
}

static void plain_end(struct plain *p, struct buf *seen)
{
    if (p->item.data.at && p->data.len)
        p->item.data = buf_str(&p->data);
    if (p->item.data.at || p->item.event.at || p->item.id.at || p->item.retry >= 0)
        sse_text(seen, SSE_EVENT, &p->item);
    p->item = SSE_ITEM_NONE;
    buf_clear(&p->data);
}

static void plain_run(struct str text, struct buf *seen)
{
    struct plain p = { .item = SSE_ITEM_NONE };
    bool whole = true;

    buf_init(&p.data, SEEN_MAX);
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_skip(text, 3);
    while (text.len) {
        struct str line = cut_line(&text, &whole), name = line, value;

        if (!whole)
            break;
        if (!line.len) {
            plain_end(&p, seen);
            continue;
        }
        if (line.at[0] == ':') {
            struct sse_item comment = SSE_ITEM_NONE;

            comment.comment = str_n(line.at + 1, line.len - 1);
            comment.bytes = line.len + 1;
            sse_text(seen, SSE_COMMENT, &comment);
            continue;
        }
        p.item.bytes += line.len + 1;
        name.len = str_find(line, ':');
        value = str_skip(line, name.len + 1);
        plain_field(&p, name, str_starts(value, STR(" ")) ? str_skip(value, 1) : value);
    }
    buf_release(&p.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size), shown;
    size_t odd = size ? data[size / 2] % 61 + 1 : 1;
    struct buf whole, pieces;

    buf_init(&whole, SEEN_MAX);
    buf_init(&pieces, SEEN_MAX);
    split_input_agree(text, run_short, &whole);
    split_input_agree(text, run, &whole);
    split_input_once(text, odd, 1, odd, run_endpoint, &pieces);
    BUG_IF(!str_starts(text, buf_str(&pieces)));
    buf_clear(&pieces);
    split_input_agree(text, run_marked, &pieces);
    check_endpoints_marked(buf_str(&pieces));
    buf_clear(&pieces);
    plain_run(text, &pieces);
    shown = buf_str(&whole);
    BUG_IF(!str_starts(shown, buf_str(&pieces)));
    shown = str_skip(shown, pieces.len);
    BUG_IF(shown.len && !str_starts(shown, STR(" cut off: ")));
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
