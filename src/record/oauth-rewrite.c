#include "record/oauth-rewrite.h"

#include "wire/headers.h"
#include "wire/query.h"
#include "wire/www-authenticate.h"
#include "json/splice.h"
#include "json/write.h"

enum { URL_MAX = 8 << 10 };

void oauth_init(struct oauth *o, struct str url)
{
    struct err e = ERR_NONE;
    const struct url_authority *a = &o->endpoint.authority;
    struct str authority;
    bool ok;

    *o = (struct oauth){ .client_uses_root = false };
    buf_init(&o->authorize_path, URL_MAX);
    ok = url_parse(&o->endpoint, arena_str(&o->arena, url), &e);
    BUG_IF(!ok);
    /* With brackets and port, without user and password. */
    authority = a->userinfo.at ? str_n(a->userinfo.at + a->userinfo.len + 1, 0) : a->host;
    if (!a->userinfo.at && a->ip.kind == IP_V6)
        authority.at--;
    authority.len = (size_t)(o->endpoint.path.at - authority.at);
    o->server_origin = arena_printf(
        &o->arena, "%s%.*s", o->endpoint.https ? "https://" : "http://", STR_ARG(authority));
}

void oauth_release(struct oauth *o)
{
    buf_release(&o->authorize_path);
    arena_release(&o->arena);
}

unsigned oauth_take_notes(struct oauth *o)
{
    unsigned news = o->notes & ~o->notes_taken;

    o->notes_taken |= news;
    return news;
}

void oauth_add_note(struct oauth *o, enum oauth_note note)
{
    o->notes |= note;
}

static bool is_root(struct str path)
{
    return path.len == 0 || str_eq(path, STR("/"));
}

void oauth_note_endpoint_path(struct oauth *o, struct str path)
{
    o->client_uses_root = is_root(path) && !is_root(o->endpoint.path);
}

/* "/.well-known/NAME", also with a path before or after it. */
static bool is_well_known(struct str path, struct str name)
{
    static const struct str folder = STR_INIT("/.well-known/");

    for (; path.len > folder.len + name.len - 1; path = str_skip(path, 1)) {
        struct str after;

        if (!str_starts(path, folder) || !str_starts(str_skip(path, folder.len), name))
            continue;
        after = str_skip(path, folder.len + name.len);
        if (!after.len || after.at[0] == '/')
            return true;
    }
    return false;
}

enum oauth_document oauth_document_kind(const struct oauth *o, struct str path)
{
    if (is_well_known(path, STR("oauth-protected-resource")))
        return OAUTH_RESOURCE_METADATA;
    if (is_well_known(path, STR("oauth-authorization-server")) ||
        is_well_known(path, STR("openid-configuration")))
        return OAUTH_SERVER_METADATA;
    for (size_t i = 0; i < o->metadata_path_count; i++)
        if (str_eq(o->metadata_paths[i], path))
            return OAUTH_RESOURCE_METADATA;
    return OAUTH_NO_DOCUMENT;
}

/* Ignores further paths: no real server has so many. */
static void add_metadata_path(struct oauth *o, struct str path)
{
    if (path.len <= URL_MAX && o->metadata_path_count < OAUTH_PATHS_MAX &&
        !oauth_document_kind(o, path))
        o->metadata_paths[o->metadata_path_count++] = arena_str(&o->arena, path);
}

static bool same_origin(const struct url *a, const struct url *b)
{
    return a->https == b->https && url_same_host(&a->authority, &b->authority) &&
           url_port(a) == url_port(b);
}

static bool parse_url(struct url *u, struct str text)
{
    struct err e = ERR_NONE;

    return text.len <= URL_MAX && url_parse(u, text, &e) && !u->authority.userinfo.at;
}

/* Returns the rest of `text` after its origin. `u` was parsed from it. */
static struct str after_origin(struct str text, const struct url *u)
{
    return str_skip(text, (size_t)(u->path.at - text.at));
}

/* Parses our own origin from the client's Host. */
static bool parse_our_origin(struct url *u, struct str host)
{
    *u = (struct url){ .https = false };
    return url_parse_authority(&u->authority, host) && !u->authority.userinfo.at;
}

static bool is_our_url(struct str host, struct str text, struct url *u)
{
    struct url ours;

    return parse_url(u, text) && parse_our_origin(&ours, host) && same_origin(u, &ours);
}

static bool is_server_url(const struct oauth *o, struct str text, struct url *u)
{
    return parse_url(u, text) && same_origin(u, &o->endpoint);
}

/* Adds a URL of the server with our origin. False: it is none, and nothing was added. */
static bool rewrite_to_ours(const struct oauth *o, struct str host, struct str text,
                            struct buf *out)
{
    struct url u;

    if (!is_server_url(o, text, &u))
        return false;
    buf_add(out, STR("http://"));
    buf_add(out, host);
    buf_add(out, after_origin(text, &u));
    return true;
}

/* The same for the resource, which the client compares with the URL that it uses. */
static bool rewrite_resource(const struct oauth *o, struct str host, struct str text,
                             struct buf *out)
{
    struct url u;

    if (!o->client_uses_root || (!is_server_url(o, text, &u) && !is_our_url(host, text, &u)) ||
        !str_eq(u.path, o->endpoint.path))
        return rewrite_to_ours(o, host, text, out);
    buf_add(out, STR("http://"));
    buf_add(out, host);
    buf_add_ch(out, '/');
    return true;
}

void oauth_rewrite_challenge(struct oauth *o, struct str host, struct str line, struct buf *out,
                             bool *named)
{
    struct www_authenticate c = www_authenticate_begin(line);
    struct www_authenticate_param p;
    const char *from = line.at;
    struct url u;

    *named = false;
    while (www_authenticate_next(&c, &p)) {
        if (!headers_equal_nocase(p.name, STR("resource_metadata")))
            continue;
        *named = true;
        if (str_starts(p.value, STR("/")) && !str_starts(p.value, STR("//"))) {
            add_metadata_path(o, str_n(p.value.at, str_find(p.value, '?')));
        } else if (is_server_url(o, p.value, &u)) {
            add_metadata_path(o, u.path);
            buf_add(out, str_n(from, (size_t)(p.value.at - from)));
            rewrite_to_ours(o, host, p.value, out);
            from = p.value.at + p.value.len;
        } else if (is_our_url(host, p.value, &u)) {
            add_metadata_path(o, u.path);
        } else {
            oauth_add_note(o, OAUTH_FOREIGN_METADATA);
        }
    }
    if (from != line.at)
        buf_add(out, str_n(from, (size_t)(line.at + line.len - from)));
}

/* A metadata document and its changes. */
struct document_edit {
    struct oauth *oauth;
    struct str host;
    struct json json;
    struct json_splice splice;
    struct arena arena;
    bool noted; /* note_resource() or note_authorize_path() was called */
};

typedef bool add_fn(const struct oauth *o, struct str host, struct str text, struct buf *out);

static void rewrite_value(struct document_edit *d, struct json_val value, add_fn *add)
{
    struct str text = json_text(value, &d->arena);
    struct buf url, raw;

    if (d->splice.count == JSON_SPLICE_MAX || text.len > URL_MAX)
        return;
    buf_init(&url, OAUTH_DOCUMENT_MAX);
    if (add(d->oauth, d->host, text, &url)) {
        buf_init(&raw, OAUTH_DOCUMENT_MAX);
        json_write_str(&raw, buf_str(&url));
        json_splice_replace(&d->splice, value, arena_str(&d->arena, buf_str(&raw)));
        buf_release(&raw);
    }
    buf_release(&url);
}

static void note_foreign_server(struct document_edit *d, struct json_val value)
{
    struct str text = json_text(value, &d->arena);
    struct url u;

    if ((d->oauth->notes & OAUTH_FOREIGN_SERVER) || !parse_url(&u, text) ||
        is_server_url(d->oauth, text, &u) || is_our_url(d->host, text, &u))
        return;
    oauth_add_note(d->oauth, OAUTH_FOREIGN_SERVER);
    d->oauth->foreign_server =
        arena_str(&d->oauth->arena, str_n(text.at, (size_t)(u.path.at - text.at)));
}

static void rewrite_resource_metadata(struct document_edit *d)
{
    struct json_iter member = json_each(json_root(&d->json));

    while (json_next(&member)) {
        struct json_iter item = json_each(member.value);

        if (json_is(member.key, STR("resource")))
            rewrite_value(d, member.value, rewrite_resource);
        else if (json_is(member.key, STR("jwks_uri")))
            rewrite_value(d, member.value, rewrite_to_ours);
        else if (json_is(member.key, STR("signed_metadata")))
            oauth_add_note(d->oauth, OAUTH_SIGNED_METADATA);
        if (!json_is(member.key, STR("authorization_servers")))
            continue;
        while (json_next(&item)) {
            note_foreign_server(d, item.value);
            rewrite_value(d, item.value, rewrite_to_ours);
        }
    }
}

static bool is_endpoint_member(struct document_edit *d, struct json_val key)
{
    return json_is(key, STR("issuer")) || json_is(key, STR("jwks_uri")) ||
           str_ends(json_text(key, &d->arena), STR("_endpoint"));
}

/* Reads the original document, before any rewriting. */
static void note_resource(struct document_edit *d)
{
    struct str text = json_text(json_get(json_root(&d->json), STR("resource")), &d->arena);
    struct url u;

    d->oauth->server_uses_our_origin = is_our_url(d->host, text, &u);
}

static void note_authorize_path(struct document_edit *d)
{
    struct json_val root = json_root(&d->json);
    struct json_val page = json_get(root, STR("authorization_endpoint"));
    struct json_val names =
        json_get(root, STR("authorization_response_iss_parameter_supported"));
    struct url u;

    if (!is_server_url(d->oauth, json_text(page, &d->arena), &u))
        return;
    buf_clear(&d->oauth->authorize_path);
    buf_add(&d->oauth->authorize_path, u.path);
    d->oauth->names_issuer = json_type(names) == JSON_TRUE;
}

static void rewrite_server_metadata(struct document_edit *d)
{
    struct json_iter member = json_each(json_root(&d->json));

    while (json_next(&member)) {
        struct json_iter inner = json_each(member.value);

        if (is_endpoint_member(d, member.key))
            rewrite_value(d, member.value, rewrite_to_ours);
        else if (json_is(member.key, STR("signed_metadata")))
            oauth_add_note(d->oauth, OAUTH_SIGNED_METADATA);
        while (json_is(member.key, STR("mtls_endpoint_aliases")) && json_next(&inner))
            rewrite_value(d, inner.value, rewrite_to_ours);
        while (json_is(member.key, STR("protected_resources")) && json_next(&inner))
            rewrite_value(d, inner.value, rewrite_resource);
    }
}

/* Makes as many changes as a splice can hold. False: there is nothing to change. */
static bool rewrite_pass(struct document_edit *d, enum oauth_document kind, struct str body,
                         struct buf *out)
{
    struct json_fault fault;
    struct json_val root;
    struct str raw;

    if (!json_scan(&d->json, body, &fault) || json_type(json_root(&d->json)) != JSON_OBJECT) {
        oauth_add_note(d->oauth, OAUTH_UNREADABLE_METADATA);
        return false;
    }
    root = json_root(&d->json);
    raw = json_raw(root);
    json_splice_init(&d->splice, root);
    if (!d->noted && kind == OAUTH_RESOURCE_METADATA)
        note_resource(d);
    if (!d->noted && kind == OAUTH_SERVER_METADATA)
        note_authorize_path(d);
    d->noted = true;
    if (kind == OAUTH_RESOURCE_METADATA)
        rewrite_resource_metadata(d);
    else
        rewrite_server_metadata(d);
    if (!d->splice.count)
        return false;
    buf_add(out, str_n(body.at, json_offset(root)));
    json_splice_apply(&d->splice, out);
    buf_add(out, str_skip(body, json_offset(root) + raw.len));
    return !out->full;
}

void oauth_rewrite_metadata(struct oauth *o, enum oauth_document kind, struct str host,
                            struct str body, struct buf *out)
{
    struct document_edit d = { .oauth = o, .host = host };
    struct url ours;
    struct buf next;

    if (!parse_our_origin(&ours, host) || same_origin(&ours, &o->endpoint))
        return; /* rewritten URLs would be rewritten again */
    json_init(&d.json);
    for (;;) {
        buf_init(&next, out->max);
        if (!rewrite_pass(&d, kind, out->len ? buf_str(out) : body, &next))
            break;
        buf_release(out);
        *out = next;
    }
    buf_release(&next);
    json_release(&d.json);
    arena_release(&d.arena);
}

/* Decodes the value of a pair that has that name. */
static bool find_value(struct arena *a, const struct query_param *p, struct str name,
                       struct str *value)
{
    struct buf text;

    if (!p->value.at || p->value.len > URL_MAX || !query_equals(p->name, name))
        return false;
    buf_init(&text, URL_MAX);
    query_decode(&text, p->value);
    *value = arena_str(a, buf_str(&text));
    buf_release(&text);
    return true;
}

/* Adds a form with the values of that name rewritten by `add`. False: none was. */
static bool rewrite_pairs(const struct oauth *o, struct str host, struct str form,
                          struct str name, add_fn *add, struct buf *out)
{
    struct arena a = { .blocks = NULL };
    struct query_param p;
    bool changed = false, first = true;

    while (query_next(&form, &p)) {
        struct str value;
        struct buf url;

        if (!first)
            buf_add_ch(out, '&');
        first = false;
        buf_init(&url, OAUTH_DOCUMENT_MAX);
        if (find_value(&a, &p, name, &value) && add(o, host, value, &url)) {
            buf_add(out, str_n(p.name.at, p.name.len + 1));
            buf_add_percent(out, buf_str(&url));
            changed = true;
        } else {
            buf_add(out, p.text);
        }
        buf_release(&url);
    }
    arena_release(&a);
    return changed;
}

/* Adds a URL of the server as a path, because the client's scheme is unknown. */
static bool rewrite_to_path(const struct oauth *o, struct str text, struct buf *out)
{
    struct str path;
    struct url u;

    if (!is_server_url(o, text, &u))
        return false;
    path = after_origin(text, &u);
    if (str_starts(path, STR("//")))
        buf_add(out, STR("/.")); /* "//" would begin a host */
    buf_add(out, path.len ? path : STR("/"));
    return true;
}

void oauth_rewrite_location(const struct oauth *o, struct str host, struct str location,
                            struct buf *out)
{
    struct str place = str_n(location.at, str_find(location, '#'));
    struct str fragment = str_skip(location, place.len);
    size_t n = str_find(place, '?');
    bool changed = rewrite_to_path(o, str_n(place.at, n), out);

    if (!changed)
        buf_add(out, str_n(place.at, n));
    if (n < place.len) {
        buf_add_ch(out, '?');
        changed |= rewrite_pairs(o, host, str_n(place.at + n + 1, place.len - n - 1),
                                 STR("iss"), rewrite_to_ours, out);
    }
    buf_add(out, fragment);
    if (!changed || out->full)
        buf_clear(out);
}

/* Adds one of our URLs with the server's origin. All loopback names are equal. */
static bool rewrite_to_server(const struct oauth *o, struct str host, struct str text,
                              struct buf *out)
{
    struct url u, ours;
    bool root;

    if (!parse_url(&u, text) || !parse_our_origin(&ours, host) || u.https ||
        url_port(&u) != url_port(&ours))
        return false;
    if (!url_same_host(&u.authority, &ours.authority) &&
        !(url_is_loopback(&u.authority) && url_is_loopback(&ours.authority)))
        return false;
    root = o->client_uses_root && is_root(u.path);
    if (o->server_uses_our_origin && !root)
        return false;
    buf_add(out, o->server_uses_our_origin ? STR("http://") : o->server_origin);
    buf_add(out, o->server_uses_our_origin ? host : STR_NONE);
    buf_add(out, root ? o->endpoint.path : after_origin(text, &u));
    return true;
}

void oauth_rewrite_form(const struct oauth *o, struct str host, struct str form,
                        struct buf *out)
{
    if (!rewrite_pairs(o, host, form, STR("resource"), rewrite_to_server, out) || out->full)
        buf_clear(out);
}

void oauth_login_redirect(const struct oauth *o, struct str host, struct str path,
                          struct str query, struct buf *out)
{
    if (url_is_loopback(&o->endpoint.authority) || o->names_issuer || !path.len ||
        !str_eq(path, buf_str(&o->authorize_path)))
        return;
    buf_add(out, o->server_origin);
    buf_add(out, path);
    if (query.at)
        buf_add_ch(out, '?');
    rewrite_pairs(o, host, query, STR("resource"), rewrite_to_server, out);
    if (out->full)
        buf_clear(out);
}
