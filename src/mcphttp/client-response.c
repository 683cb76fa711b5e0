#include "mcphttp/client-response.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcphttp/url-rewrite.h"
#include "trace/limits.h"
#include "wire/www-authenticate.h"

enum { EVENT_ROWS = 2 };

/* Numbers of the first response with this id, or with this id and data. */
struct seen_row {
    uint64_t first;
    uint64_t first_with_data; /* 0: none had data */
};

void seen_events_init(struct seen_events *s)
{
    *s = (struct seen_events){ .response_number = 1 };
}

void seen_events_release(struct seen_events *s)
{
    capped_table_release(&s->rows);
}

void seen_events_next_response(struct seen_events *s)
{
    s->response_number++;
}

/* Makes room for one event, and creates the table for the first one. */
static void make_room(struct seen_events *s)
{
    if (s->rows.count + EVENT_ROWS <= s->rows.max)
        return;
    capped_table_release(&s->rows);
    capped_table_init(&s->rows, sizeof(struct seen_row), SEEN_EVENTS_MAX);
}

/* The row of an id, or of an id with its data. */
static struct seen_row *find_row(struct seen_events *s, const struct str *parts, size_t count,
                                 bool data)
{
    bool fresh = false;
    struct seen_row *row = capped_table_row(&s->rows, parts, count, &fresh);

    if (fresh)
        row->first = s->response_number;
    if (data && !row->first_with_data)
        row->first_with_data = s->response_number;
    return row;
}

struct seen_event seen_events_add(struct seen_events *s, struct str id, struct str data)
{
    const struct str parts[EVENT_ROWS] = { id, data };
    struct seen_event as = { 0 };
    const struct seen_row *row;

    make_room(s);
    row = find_row(s, parts, 1, data.len);
    as.new_id = row->first == s->response_number;
    as.id_had_data = data.len && row->first_with_data != s->response_number;
    if (data.len)
        as.repeated = find_row(s, parts, EVENT_ROWS, true)->first != s->response_number;
    return as;
}

enum {
    ID_MAX = 8 << 10,
    REDIRECT_TEXT_MAX = 2 << 10,
    LOGIN_TEXT_MAX = 2 << 10,
    LARGE_BYTES = 64 << 10,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
};

void client_response_init(struct client_response *h)
{
    *h = (struct client_response){ .media = MEDIA_NONE, .retry_ms = -1 };
    buf_init(&h->body, LIMIT_MESSAGE);
    buf_init(&h->redirect_text, REDIRECT_TEXT_MAX);
    buf_init(&h->login_text, LOGIN_TEXT_MAX);
    buf_init(&h->last_event_id, ID_MAX);
    seen_events_init(&h->seen_events);
}

static void free_sse_reader(struct client_response *h)
{
    if (h->sse)
        sse_reader_release(h->sse);
    free(h->sse);
    h->sse = NULL;
}

void client_response_release(struct client_response *h)
{
    free_sse_reader(h);
    buf_release(&h->body);
    buf_release(&h->redirect_text);
    buf_release(&h->login_text);
    buf_release(&h->last_event_id);
    seen_events_release(&h->seen_events);
}

void client_response_reset(struct client_response *h)
{
    free_sse_reader(h);
    h->status = 0;
    h->media = MEDIA_NONE;
    h->compressed = false;
    h->resumes = h->last_event_id.len;
    h->new_events = 0;
    h->has_new_event_id = false;
    seen_events_next_response(&h->seen_events);
    buf_clear(&h->body);
    buf_clear(&h->redirect_text);
    buf_clear(&h->login_text);
    h->has_resource_metadata = false;
}

/* The query may hold a secret, and the text is shown to the user. */
static struct str without_query(struct str address)
{
    return str_n(address.at, str_find(address, '?'));
}

/* Adds a parameter of WWW-Authenticate that tells the user which login is required. */
static void add_challenge_param(struct client_response *h,
                                const struct www_authenticate_param *p)
{
    bool metadata = headers_equal_nocase(p->name, STR("resource_metadata"));
    const char *before = metadata                                      ? "OAuth metadata:"
                         : headers_equal_nocase(p->name, STR("error")) ? "error:"
                         : headers_equal_nocase(p->name, STR("scope")) ? "required scope:"
                                                                       : NULL;

    if (!before || !p->value.len)
        return;
    h->has_resource_metadata |= metadata;
    buf_printf(&h->login_text, "; %s '%.*s'", before, STR_ARG(without_query(p->value)));
}

static void add_challenges(struct client_response *h, const struct headers *headers)
{
    const struct header *f = NULL;

    while ((f = headers_next(headers, STR("www-authenticate"), f))) {
        struct www_authenticate c = www_authenticate_begin(f->value);
        struct www_authenticate_param p;

        while (www_authenticate_next(&c, &p))
            add_challenge_param(h, &p);
    }
}

bool client_response_is_redirect(unsigned status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

static void add_redirect(struct client_response *h, const struct headers *headers,
                         const struct url *server)
{
    struct arena a = { 0 };

    buf_add(&h->redirect_text, url_rewrite_describe_redirect(h->status, headers, server, &a));
    arena_release(&a);
}

void client_response_head(struct client_response *h, unsigned status,
                          const struct headers *headers, const struct url *server)
{
    struct str coding = headers_value(headers, STR("content-encoding"));

    h->status = status;
    h->media = media_type_of_headers(headers);
    h->compressed = coding.len && !headers_equal_nocase(coding, STR("identity"));
    if (client_response_is_redirect(status))
        add_redirect(h, headers, server);
    if (status == STATUS_UNAUTHORIZED || status == STATUS_FORBIDDEN)
        add_challenges(h, headers);
    if (h->media != MEDIA_SSE || h->compressed || !client_response_is_ok(h))
        return;
    h->sse = mem_new(struct sse_reader);
    sse_reader_init(h->sse, LIMIT_MESSAGE);
}

/* An id that cannot be sent in Last-Event-ID counts as none. */
static void set_last_event_id(struct client_response *h, struct str id)
{
    buf_clear(&h->last_event_id);
    if (id.len <= ID_MAX && headers_is_value(id))
        buf_add(&h->last_event_id, id);
}

/* Decides whether an event is a duplicate, and counts new events. Events without id are rightly
 * sent again when a stream is resumed: they are delivered, but do not count as new. An event
 * with a known id does not count either, whatever its data: a server that makes no progress may
 * send the current time in it. */
static bool is_repeated(struct client_response *h, const struct sse_item *item, bool data)
{
    struct seen_event as = { 0 };
    bool named = item->id.at && h->last_event_id.len;

    if (named)
        as = seen_events_add(&h->seen_events, buf_str(&h->last_event_id),
                             data ? item->data : STR_NONE);
    h->has_new_event_id |= as.new_id;
    h->new_events += data && !as.id_had_data && (named || !h->resumes);
    return as.repeated;
}

static void handle_event(struct client_response *h, const struct sse_item *item,
                         client_response_fn *fn, void *to)
{
    bool data = str_trim(item->data).len, repeated;

    if (item->retry >= 0)
        h->retry_ms = item->retry;
    if (item->id.at)
        set_last_event_id(h, item->id);
    repeated = is_repeated(h, item, data);
    if (data)
        fn(to, item->event.len ? item->event : STR("message"), item->data, repeated);
}

void client_response_data(struct client_response *h, struct str bytes, client_response_fn *fn,
                          void *to)
{
    struct sse_item item = SSE_ITEM_NONE;
    enum sse_next next;

    if (!h->sse) {
        buf_add(&h->body, bytes);
        return;
    }
    sse_reader_feed(h->sse, bytes);
    while ((next = sse_reader_next(h->sse, &item)) != SSE_MORE)
        if (next == SSE_EVENT)
            handle_event(h, &item, fn, to);
}

bool client_response_is_large(const struct client_response *h)
{
    if (h->sse)
        return h->sse->block.bytes >= LARGE_BYTES && !h->sse->block.too_long;
    return h->body.len >= LARGE_BYTES && !h->body.full;
}

/* Describes a response whose status is not 2xx. */
static void describe_status(const struct client_response *h, struct buf *to)
{
    struct str login = buf_str(&h->login_text);

    if (h->redirect_text.len)
        buf_add(to, buf_str(&h->redirect_text));
    else if (h->status == STATUS_UNAUTHORIZED)
        buf_printf(to,
                   "the server requires a login (status 401): send credentials with "
                   "--header-env%.*s%s",
                   STR_ARG(login),
                   h->has_resource_metadata ? "" : "; it does not name its OAuth metadata");
    else
        buf_printf(to, "the server answered HTTP %u%.*s", h->status, STR_ARG(login));
}

void client_response_describe_failure(const struct client_response *h, struct buf *to)
{
    if (h->sse)
        buf_add(to, STR("the SSE stream ended before the response"));
    else if (h->compressed)
        buf_add(to, STR("the server's response is compressed, which was not requested"));
    else if (h->body.full)
        buf_add(to, STR("the server's response is too long"));
    else if (!client_response_is_ok(h))
        describe_status(h, to);
    else if (!h->body.len)
        buf_printf(to, "the server accepted the request but sent no response (status %u)",
                   h->status);
    else
        buf_add(to,
                STR("the server's response is neither a JSON-RPC message nor an SSE stream"));
}
