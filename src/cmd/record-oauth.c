#include "cmd/record-oauth.h"

#include "engine/redirect.h"
#include "wire/set-cookie.h"

enum {
    UNAUTHORIZED = 401,
    FORBIDDEN = 403,
    OK = 200,
    CHANGED_LINE_MAX = 16 << 10, /* of a changed header line or target */
    LINES_MAX = 16,              /* of those that are looked at */
    COOKIES_MAX = 64,            /* the same */
};

void record_oauth_init(struct record_oauth *o, const struct app *app, struct str url)
{
    o->app = app;
    oauth_init(&o->oauth, url);
}

void record_oauth_release(struct record_oauth *o)
{
    oauth_release(&o->oauth);
}

static void tell_news(struct record_oauth *o)
{
    static const struct {
        enum oauth_note note;
        enum log_level level;
        const char *text;
    } all[] = {
        { OAUTH_BARE_CHALLENGE, LOG_INFO,
          "the server wants a login and does not say where its metadata is: that passes as it "
          "is" },
        { OAUTH_FAR_METADATA, LOG_WARN,
          "what the server says about logins is on another host, and names the server's "
          "address instead of this one: clients that compare them will refuse to log in" },
        { OAUTH_UNREADABLE, LOG_WARN,
          "what the server says about logins cannot be read, and passes as it is: clients may "
          "refuse to log in" },
        { OAUTH_SIGNED, LOG_INFO,
          "what the server says about logins is signed for its own address: clients that look "
          "at the signature may refuse to log in" },
    };
    unsigned news = oauth_news(&o->oauth);

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (news & all[i].note)
            log_say(o->app->log, all[i].level, "%s", all[i].text);
    if (news & OAUTH_FAR_SERVER)
        log_say(o->app->log, LOG_WARN,
                "clients log in at '%.*s' without mcpreel, and ask there for a token for this "
                "address instead of the server's: if that is refused, log in before and use "
                "--header-env",
                STR_ARG(o->oauth.far));
}

static struct str host_of(const struct request *r)
{
    return fields_value(&r->fields, STR("host"));
}

static bool is_read(const struct request *r)
{
    return str_eq(r->method, STR("GET"));
}

/* A copy that somebody has holds another address, maybe. */
static bool asks_for_a_copy(struct str name)
{
    static const struct str names[] = {
        STR_INIT("accept-encoding"),
        STR_INIT("if-match"),
        STR_INIT("if-none-match"),
        STR_INIT("if-modified-since"),
        STR_INIT("if-unmodified-since"),
        STR_INIT("if-range"),
        STR_INIT("range"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fields_same(name, names[i]))
            return true;
    return false;
}

static bool promises_a_copy(struct str name)
{
    static const struct str names[] = {
        STR_INIT("etag"),          STR_INIT("last-modified"),
        STR_INIT("expires"),       STR_INIT("age"),
        STR_INIT("cache-control"), STR_INIT("accept-ranges"),
        STR_INIT("digest"),        STR_INIT("repr-digest"),
        STR_INIT("content-md5"),   STR_INIT("content-digest"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fields_same(name, names[i]))
            return true;
    return false;
}

static void drop_fields(struct fields *f, bool (*which)(struct str name))
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (!which(f->at[i].name))
            f->at[kept++] = f->at[i];
    f->count = kept;
}

/* Two of what there can be one of: readers take the one or the other, so that only one may be
 * there, which is the one that is looked at. */
static void keep_first_location(struct fields *f)
{
    size_t kept = 0, seen = 0;

    for (size_t i = 0; i < f->count; i++)
        if (!fields_same(f->at[i].name, STR("location")) || seen++ == 0)
            f->at[kept++] = f->at[i];
    f->count = kept;
}

static void on_detour(void *to, const struct http_passage *p, const struct request *r,
                      struct buf *location)
{
    const struct record_oauth *o = to;

    if (!p->endpoint && is_read(r))
        oauth_detour(&o->oauth, host_of(r), r->path, r->query, location);
}

/* The form in the target of a request. */
static void change_query(struct record_oauth *o, const struct request *r, struct ask *a,
                         struct arena *text)
{
    struct buf out;

    buf_init(&out, CHANGED_LINE_MAX);
    oauth_form(&o->oauth, host_of(r), r->query, &out);
    if (out.len)
        a->target = arena_printf(text, "%.*s?%.*s", STR_ARG(r->path), STR_ARG(buf_str(&out)));
    buf_release(&out);
}

static bool is_form(const struct request *r)
{
    struct str type = fields_value(&r->fields, STR("content-type"));

    return fields_same(str_trim(str_cut(&type, ';')),
                       STR("application/x-www-form-urlencoded")) &&
           !fields_next(&r->fields, STR("content-encoding"), NULL);
}

static bool on_ask(void *to, const struct http_passage *p, const struct request *r,
                   struct ask *a, struct arena *text)
{
    struct record_oauth *o = to;

    if (p->endpoint)
        return false;
    if (oauth_document(&o->oauth, r->path) && is_read(r)) {
        drop_fields(&a->fields, asks_for_a_copy);
        fields_add(&a->fields, STR("Accept-Encoding"), STR("identity"));
    }
    change_query(o, r, a, text);
    return is_form(r);
}

static void on_ask_body(void *to, const struct http_passage *p, const struct request *r,
                        struct str body, struct buf *out)
{
    struct record_oauth *o = to;

    (void)p;
    oauth_form(&o->oauth, host_of(r), body, out);
}

/* Every line of that name; false: there was none, or none of them said where to go on. */
static bool change_challenges(struct record_oauth *o, struct str host, struct fields *f,
                              struct arena *text)
{
    size_t lines = 0;
    bool any = false, named;

    for (size_t i = 0; i < f->count; i++) {
        struct buf out;

        if (!fields_same(f->at[i].name, STR("www-authenticate")) || lines++ == LINES_MAX)
            continue;
        buf_init(&out, CHANGED_LINE_MAX);
        oauth_challenge(&o->oauth, host, f->at[i].value, &out, &named);
        any |= named;
        if (out.len && !out.full)
            f->at[i].value = arena_str(text, buf_str(&out));
        buf_release(&out);
    }
    return any;
}

static void change_location(struct record_oauth *o, struct str host, struct fields *f,
                            struct arena *text)
{
    struct field *at = NULL;
    struct buf out;

    for (size_t i = 0; i < f->count && !at; i++)
        if (fields_same(f->at[i].name, STR("location")))
            at = &f->at[i];
    if (!at)
        return;
    buf_init(&out, CHANGED_LINE_MAX);
    oauth_location(&o->oauth, host, at->value, &out);
    if (out.len)
        at->value = arena_str(text, buf_str(&out));
    buf_release(&out);
}

/* The same at the endpoint, for those who follow to another spelling of its path. */
static void change_redirect(const struct record_oauth *o, const struct request *r,
                            struct answer *a, struct arena *text)
{
    struct address_client client = { .host = host_of(r), .path = r->path };
    struct redirect to;

    if (!redirect_read(&to, a->status, &a->fields, &o->oauth.server, &client, text))
        return;
    for (size_t i = 0; i < a->fields.count; i++)
        if (fields_same(a->fields.at[i].name, STR("location"))) {
            a->fields.at[i].value = to.told;
            return;
        }
}

/* On every path: load balancers have cookies for the endpoint, too. */
static void change_cookies(const struct record_oauth *o, struct fields *f, struct arena *text)
{
    size_t lines = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct buf out;

        if (!fields_same(f->at[i].name, STR("set-cookie")) || lines++ >= COOKIES_MAX)
            continue;
        buf_init(&out, CHANGED_LINE_MAX);
        set_cookie_at_home(&out, f->at[i].value, &o->oauth.server.authority);
        if (out.len && !out.full)
            f->at[i].value = arena_str(text, buf_str(&out));
        buf_release(&out);
    }
}

static bool is_packed(const struct fields *f)
{
    const struct field *at = fields_next(f, STR("content-encoding"), NULL);

    return at && !fields_same(at->value, STR("identity"));
}

static bool wants_document(struct record_oauth *o, const struct request *r, struct answer *a)
{
    if (a->status != OK || !is_read(r) || !oauth_document(&o->oauth, r->path))
        return false;
    if (is_packed(&a->fields) ||
        (a->body == EXCHANGE_SIZED && a->length > HTTP_RELAY_HELD_MAX)) {
        oauth_note(&o->oauth, OAUTH_UNREADABLE);
        return false;
    }
    drop_fields(&a->fields, promises_a_copy);
    fields_add(&a->fields, STR("Cache-Control"), STR("no-store"));
    return true;
}

static bool on_answer(void *to, const struct http_passage *p, const struct request *r,
                      struct answer *a, struct arena *text)
{
    struct record_oauth *o = to;
    struct str host = host_of(r);
    bool named, wanted = false;

    keep_first_location(&a->fields);
    if (a->status == UNAUTHORIZED || a->status == FORBIDDEN) {
        if (p->endpoint)
            oauth_endpoint(&o->oauth, r->path);
        named = change_challenges(o, host, &a->fields, text);
        if (!named && p->endpoint && a->status == UNAUTHORIZED)
            oauth_note(&o->oauth, OAUTH_BARE_CHALLENGE);
    }
    if (p->endpoint) {
        change_redirect(o, r, a, text);
    } else {
        change_location(o, host, &a->fields, text);
        wanted = wants_document(o, r, a);
    }
    change_cookies(o, &a->fields, text);
    tell_news(o);
    return wanted;
}

static void on_answer_body(void *to, const struct http_passage *p, const struct request *r,
                           struct str body, struct buf *out)
{
    struct record_oauth *o = to;

    (void)p;
    oauth_metadata(&o->oauth, oauth_document(&o->oauth, r->path), host_of(r), body, out);
    tell_news(o);
}

const struct http_relay_changes record_oauth_changes = {
    .detour = on_detour,
    .ask = on_ask,
    .answer = on_answer,
    .ask_body = on_ask_body,
    .answer_body = on_answer_body,
};
