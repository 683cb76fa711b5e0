#include "runtime/record-oauth.h"

#include "mcphttp/url-rewrite.h"
#include "wire/set-cookie.h"

enum {
    UNAUTHORIZED = 401,
    FORBIDDEN = 403,
    OK = 200,
    CHANGED_LINE_MAX = 16 << 10, /* of a rewritten header or target */
    LINES_MAX = 16,              /* headers that are rewritten */
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

static void log_notes(struct record_oauth *o)
{
    static const struct {
        enum oauth_note note;
        enum log_level level;
        const char *text;
    } all[] = {
        { OAUTH_NO_METADATA_URL, LOG_INFO,
          "the server requires a login but does not name its OAuth metadata; its response is "
          "forwarded unchanged" },
        { OAUTH_FOREIGN_METADATA, LOG_WARN,
          "the OAuth metadata is on another host and names the server's address instead of "
          "mcpreel's: clients that compare the addresses will refuse to log in" },
        { OAUTH_UNREADABLE_METADATA, LOG_WARN,
          "cannot parse the OAuth metadata; forwarded unchanged, so clients may refuse to log "
          "in" },
        { OAUTH_SIGNED_METADATA, LOG_INFO,
          "the OAuth metadata is signed for the server's address: clients that check the "
          "signature may refuse to log in" },
    };
    unsigned news = oauth_take_notes(&o->oauth);

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (news & all[i].note)
            log_printf(o->app->log, all[i].level, "%s", all[i].text);
    if (news & OAUTH_FOREIGN_SERVER)
        log_printf(o->app->log, LOG_WARN,
                   "the authorization server '%.*s' is not proxied: clients will request a "
                   "token for mcpreel's address. If it is rejected, get a token yourself and "
                   "pass it with --header-env",
                   STR_ARG(o->oauth.foreign_server));
}

static struct str host_of(const struct request_head *r)
{
    return headers_value(&r->headers, STR("host"));
}

static bool is_get(const struct request_head *r)
{
    return str_eq(r->method, STR("GET"));
}

/* A cached copy may have another origin in it. */
static bool is_conditional_header(struct str name)
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
        if (headers_equal_nocase(name, names[i]))
            return true;
    return false;
}

static bool is_caching_header(struct str name)
{
    static const struct str names[] = {
        STR_INIT("etag"),          STR_INIT("last-modified"),
        STR_INIT("expires"),       STR_INIT("age"),
        STR_INIT("cache-control"), STR_INIT("accept-ranges"),
        STR_INIT("digest"),        STR_INIT("repr-digest"),
        STR_INIT("content-md5"),   STR_INIT("content-digest"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (headers_equal_nocase(name, names[i]))
            return true;
    return false;
}

static void on_login_redirect(void *to, const struct http_relay_exchange *p,
                              const struct request_head *r, struct buf *location)
{
    const struct record_oauth *o = to;

    if (!p->is_endpoint && is_get(r))
        oauth_login_redirect(&o->oauth, host_of(r), r->path, r->query, location);
}

/* Rewrites the query of a request. */
static void rewrite_query(struct record_oauth *o, const struct request_head *r,
                          struct outgoing_request *a, struct arena *text)
{
    struct buf out;

    buf_init(&out, CHANGED_LINE_MAX);
    oauth_rewrite_form(&o->oauth, host_of(r), r->query, &out);
    if (out.len)
        a->target = arena_printf(text, "%.*s?%.*s", STR_ARG(r->path), STR_ARG(buf_str(&out)));
    buf_release(&out);
}

static bool is_form(const struct request_head *r)
{
    struct str type = headers_value(&r->headers, STR("content-type"));

    return headers_equal_nocase(str_trim(str_cut(&type, ';')),
                                STR("application/x-www-form-urlencoded")) &&
           !headers_next(&r->headers, STR("content-encoding"), NULL);
}

static bool on_request(void *to, const struct http_relay_exchange *p,
                       const struct request_head *r, struct outgoing_request *a,
                       struct arena *text)
{
    struct record_oauth *o = to;

    if (p->is_endpoint)
        return false;
    if (oauth_document_kind(&o->oauth, r->path) && is_get(r)) {
        headers_remove(&a->headers, is_conditional_header);
        headers_add(&a->headers, STR("Accept-Encoding"), STR("identity"));
    }
    rewrite_query(o, r, a, text);
    return is_form(r);
}

static void on_request_body(void *to, const struct http_relay_exchange *p,
                            const struct request_head *r, struct str body, struct buf *out)
{
    struct record_oauth *o = to;

    (void)p;
    oauth_rewrite_form(&o->oauth, host_of(r), body, out);
}

/* Rewrites all WWW-Authenticate headers. False: none has a metadata URL. */
static bool rewrite_challenges(struct record_oauth *o, struct str host, struct headers *f,
                               struct arena *text)
{
    size_t lines = 0;
    bool any = false, named;

    for (size_t i = 0; i < f->count; i++) {
        struct buf out;

        if (!headers_equal_nocase(f->at[i].name, STR("www-authenticate")) ||
            lines++ == LINES_MAX)
            continue;
        buf_init(&out, CHANGED_LINE_MAX);
        oauth_rewrite_challenge(&o->oauth, host, f->at[i].value, &out, &named);
        any |= named;
        if (out.len && !out.full)
            f->at[i].value = arena_str(text, buf_str(&out));
        buf_release(&out);
    }
    return any;
}

static void rewrite_location(struct record_oauth *o, struct str host, struct headers *f,
                             struct arena *text)
{
    struct header *at = NULL;
    struct buf out;

    for (size_t i = 0; i < f->count && !at; i++)
        if (headers_equal_nocase(f->at[i].name, STR("location")))
            at = &f->at[i];
    if (!at)
        return;
    buf_init(&out, CHANGED_LINE_MAX);
    oauth_rewrite_location(&o->oauth, host, at->value, &out);
    if (out.len)
        at->value = arena_str(text, buf_str(&out));
    buf_release(&out);
}

/* Rewrites redirects of the endpoint to another spelling of its path. */
static void rewrite_redirect(const struct record_oauth *o, const struct request_head *r,
                             struct http_exchange_response *a, struct arena *text)
{
    struct url_rewrite_client client = { .host = host_of(r), .path = r->path };
    struct redirect to;

    if (!url_rewrite_redirect(&to, a->status, &a->headers, &o->oauth.endpoint, &client, text))
        return;
    for (size_t i = 0; i < a->headers.count; i++)
        if (headers_equal_nocase(a->headers.at[i].name, STR("location"))) {
            a->headers.at[i].value = to.location;
            return;
        }
}

/* Rewrites cookies on every path: load balancers set them for the endpoint, too. */
static void rewrite_cookies(const struct record_oauth *o, struct headers *f, struct arena *text)
{
    size_t lines = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct buf out;

        if (!headers_equal_nocase(f->at[i].name, STR("set-cookie")) || lines++ >= COOKIES_MAX)
            continue;
        buf_init(&out, CHANGED_LINE_MAX);
        set_cookie_drop_domain(&out, f->at[i].value, &o->oauth.endpoint.authority);
        if (out.len && !out.full)
            f->at[i].value = arena_str(text, buf_str(&out));
        buf_release(&out);
    }
}

static bool is_compressed(const struct headers *f)
{
    const struct header *at = headers_next(f, STR("content-encoding"), NULL);

    return at && !headers_equal_nocase(at->value, STR("identity"));
}

static bool wants_document(struct record_oauth *o, const struct request_head *r,
                           struct http_exchange_response *a)
{
    if (a->status != OK || !is_get(r) || !oauth_document_kind(&o->oauth, r->path))
        return false;
    if (is_compressed(&a->headers) ||
        (a->body == HTTP_EXCHANGE_SIZED && a->length > HTTP_RELAY_BUFFERED_MAX)) {
        oauth_add_note(&o->oauth, OAUTH_UNREADABLE_METADATA);
        return false;
    }
    headers_remove(&a->headers, is_caching_header);
    headers_add(&a->headers, STR("Cache-Control"), STR("no-store"));
    return true;
}

static bool on_response(void *to, const struct http_relay_exchange *p,
                        const struct request_head *r, struct http_exchange_response *a,
                        struct arena *text)
{
    struct record_oauth *o = to;
    struct str host = host_of(r);
    bool named, wanted = false;

    /* Clients disagree which one counts, and only the first is rewritten. */
    headers_keep_first(&a->headers, STR("location"));
    if (a->status == UNAUTHORIZED || a->status == FORBIDDEN) {
        if (p->is_endpoint)
            oauth_note_endpoint_path(&o->oauth, r->path);
        named = rewrite_challenges(o, host, &a->headers, text);
        if (!named && p->is_endpoint && a->status == UNAUTHORIZED)
            oauth_add_note(&o->oauth, OAUTH_NO_METADATA_URL);
    }
    if (p->is_endpoint) {
        rewrite_redirect(o, r, a, text);
    } else {
        rewrite_location(o, host, &a->headers, text);
        wanted = wants_document(o, r, a);
    }
    rewrite_cookies(o, &a->headers, text);
    log_notes(o);
    return wanted;
}

static void on_response_body(void *to, const struct http_relay_exchange *p,
                             const struct request_head *r, struct str body, struct buf *out)
{
    struct record_oauth *o = to;

    (void)p;
    oauth_rewrite_metadata(&o->oauth, oauth_document_kind(&o->oauth, r->path), host_of(r), body,
                           out);
    log_notes(o);
}

const struct http_relay_rewriter record_oauth_changes = {
    .redirect = on_login_redirect,
    .request = on_request,
    .response = on_response,
    .request_body = on_request_body,
    .response_body = on_response_body,
};
