#include "engine/http-heard.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/redirect.h"
#include "trace/limits.h"
#include "wire/challenge.h"

enum {
    ID_MAX = 8 << 10,
    ELSEWHERE_MAX = 2 << 10,
    LOGIN_MAX = 2 << 10,
    LONG = 64 << 10,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
};

void http_heard_init(struct http_heard *h)
{
    *h = (struct http_heard){ .media = MEDIA_NONE, .retry_ms = -1 };
    buf_init(&h->body, LIMIT_MESSAGE);
    buf_init(&h->elsewhere, ELSEWHERE_MAX);
    buf_init(&h->login, LOGIN_MAX);
    buf_init(&h->last_event, ID_MAX);
    http_seen_init(&h->seen);
}

static void forget_stream(struct http_heard *h)
{
    if (h->sse)
        sse_reader_release(h->sse);
    free(h->sse);
    h->sse = NULL;
}

void http_heard_release(struct http_heard *h)
{
    forget_stream(h);
    buf_release(&h->body);
    buf_release(&h->elsewhere);
    buf_release(&h->login);
    buf_release(&h->last_event);
    http_seen_release(&h->seen);
}

void http_heard_again(struct http_heard *h)
{
    forget_stream(h);
    h->status = 0;
    h->media = MEDIA_NONE;
    h->packed = false;
    h->goes_on = h->last_event.len;
    h->news = 0;
    h->moved = false;
    http_seen_again(&h->seen);
    buf_clear(&h->body);
    buf_clear(&h->elsewhere);
    buf_clear(&h->login);
    h->names_issuer = false;
}

/* What stands in the query of an address may be a secret, and this is for people to read. */
static struct str without_query(struct str address)
{
    return str_n(address.at, str_find(address, '?'));
}

/* What of a challenge helps to see which login is wanted. */
static void note_param(struct http_heard *h, const struct challenge_param *p)
{
    bool metadata = fields_same(p->name, STR("resource_metadata"));
    const char *before = metadata                             ? "who gives one stands at"
                         : fields_same(p->name, STR("error")) ? "it says"
                         : fields_same(p->name, STR("scope")) ? "it has to be for"
                                                              : NULL;

    if (!before || !p->value.len)
        return;
    h->names_issuer |= metadata;
    buf_printf(&h->login, "; %s '%.*s'", before, STR_ARG(without_query(p->value)));
}

static void note_challenges(struct http_heard *h, const struct fields *fields)
{
    const struct field *f = NULL;

    while ((f = fields_next(fields, STR("www-authenticate"), f))) {
        struct challenge c = challenge_of(f->value);
        struct challenge_param p;

        while (challenge_next(&c, &p))
            note_param(h, &p);
    }
}

static bool is_redirect(unsigned status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

static void note_redirect(struct http_heard *h, const struct fields *fields,
                          const struct url *server)
{
    struct arena a = { 0 };

    buf_add(&h->elsewhere, redirect_say(h->status, fields, server, &a));
    arena_release(&a);
}

void http_heard_head(struct http_heard *h, unsigned status, const struct fields *fields,
                     const struct url *server)
{
    struct str coding = fields_value(fields, STR("content-encoding"));

    h->status = status;
    h->media = media_of_fields(fields);
    h->packed = coding.len && !fields_same(coding, STR("identity"));
    if (is_redirect(status))
        note_redirect(h, fields, server);
    if (status == STATUS_UNAUTHORIZED || status == STATUS_FORBIDDEN)
        note_challenges(h, fields);
    if (h->media != MEDIA_SSE || h->packed || !http_heard_is_fine(h))
        return;
    h->sse = mem_new(struct sse_reader);
    sse_reader_init(h->sse, LIMIT_MESSAGE);
}

/* One that could not be told to the server is as good as none. */
static void note_id(struct http_heard *h, struct str id)
{
    buf_clear(&h->last_event);
    if (id.len <= ID_MAX && fields_is_value(id))
        buf_add(&h->last_event, id);
}

/* Whoever goes on gets again what came without an id, rightly: that is no news, but nobody
 * can tell whether it was told. Nor is what comes under a known id, whatever it says: a server
 * that goes nowhere may put the time into it. */
static bool is_repeated(struct http_heard *h, const struct sse_item *item, bool data)
{
    struct http_seen_event as = { 0 };
    bool named = item->id.at && h->last_event.len;

    if (named)
        as = http_seen_note(&h->seen, buf_str(&h->last_event), data ? item->data : STR_NONE);
    h->moved |= as.placed;
    h->news += data && !as.known && (named || !h->goes_on);
    return as.repeated;
}

static void hear_event(struct http_heard *h, const struct sse_item *item, http_heard_fn *fn,
                       void *to)
{
    bool data = str_trim(item->data).len, repeated;

    if (item->retry >= 0)
        h->retry_ms = item->retry;
    if (item->id.at)
        note_id(h, item->id);
    repeated = is_repeated(h, item, data);
    if (data)
        fn(to, item->event.len ? item->event : STR("message"), item->data, repeated);
}

void http_heard_data(struct http_heard *h, struct str bytes, http_heard_fn *fn, void *to)
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
            hear_event(h, &item, fn, to);
}

bool http_heard_is_long(const struct http_heard *h)
{
    if (h->sse)
        return h->sse->block.bytes >= LONG && !h->sse->block.too_long;
    return h->body.len >= LONG && !h->body.full;
}

/* Of an answer with a status that is none. */
static void complain_of_status(const struct http_heard *h, struct buf *to)
{
    struct str login = buf_str(&h->login);

    if (h->elsewhere.len)
        buf_add(to, buf_str(&h->elsewhere));
    else if (h->status == STATUS_UNAUTHORIZED)
        buf_printf(to,
                   "the server requires a login (status 401): send credentials with "
                   "--header-env%.*s%s",
                   STR_ARG(login), h->names_issuer ? "" : "; it does not say who gives one");
    else
        buf_printf(to, "the server %s it (status %u)%.*s",
                   h->status < 500 ? "refused" : "failed at", h->status, STR_ARG(login));
}

void http_heard_complain(const struct http_heard *h, struct buf *to)
{
    if (h->sse)
        buf_add(to, STR("the stream of events ended before the answer"));
    else if (h->packed)
        buf_add(to, STR("the server's answer is packed, which nobody asked for"));
    else if (h->body.full)
        buf_add(to, STR("the server's answer is too long"));
    else if (!http_heard_is_fine(h))
        complain_of_status(h, to);
    else if (!h->body.len)
        buf_printf(to, "the server took the request and said nothing to it (status %u)",
                   h->status);
    else
        buf_add(to, STR("the server's answer is neither a JSON-RPC message nor events"));
}
