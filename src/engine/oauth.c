#include "engine/oauth.h"

#include "wire/challenge.h"
#include "wire/fields.h"
#include "wire/form.h"
#include "json/splice.h"
#include "json/write.h"

enum { URL_MAX = 8 << 10 };

void oauth_init(struct oauth *o, struct str url)
{
    struct err e = ERR_NONE;
    const struct url_authority *a = &o->server.authority;
    struct str authority;
    bool ok;

    *o = (struct oauth){ .root = false };
    buf_init(&o->authorize, URL_MAX);
    ok = url_parse(&o->server, arena_str(&o->arena, url), &e);
    BUG_IF(!ok);
    /* Brackets and port belong to it; user and password are not for others to see. */
    authority = a->userinfo.at ? str_n(a->userinfo.at + a->userinfo.len + 1, 0) : a->host;
    if (!a->userinfo.at && a->ip.kind == IP_V6)
        authority.at--;
    authority.len = (size_t)(o->server.path.at - authority.at);
    o->origin = arena_printf(&o->arena, "%s%.*s", o->server.https ? "https://" : "http://",
                             STR_ARG(authority));
}

void oauth_release(struct oauth *o)
{
    buf_release(&o->authorize);
    arena_release(&o->arena);
}

unsigned oauth_news(struct oauth *o)
{
    unsigned news = o->notes & ~o->told;

    o->told |= news;
    return news;
}

void oauth_note(struct oauth *o, enum oauth_note note)
{
    o->notes |= note;
}

static bool is_root(struct str path)
{
    return path.len == 0 || str_eq(path, STR("/"));
}

void oauth_endpoint(struct oauth *o, struct str path)
{
    o->root = is_root(path) && !is_root(o->server.path);
}

/* "/.well-known/NAME", also before or behind a path. */
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

enum oauth_document oauth_document(const struct oauth *o, struct str path)
{
    if (is_well_known(path, STR("oauth-protected-resource")))
        return OAUTH_RESOURCE;
    if (is_well_known(path, STR("oauth-authorization-server")) ||
        is_well_known(path, STR("openid-configuration")))
        return OAUTH_SERVER;
    for (size_t i = 0; i < o->path_count; i++)
        if (str_eq(o->paths[i], path))
            return OAUTH_RESOURCE;
    return OAUTH_NO_DOCUMENT;
}

/* No real server names more than so many. */
static void learn_path(struct oauth *o, struct str path)
{
    if (path.len <= URL_MAX && o->path_count < OAUTH_PATHS_MAX && !oauth_document(o, path))
        o->paths[o->path_count++] = arena_str(&o->arena, path);
}

static bool same_origin(const struct url *a, const struct url *b)
{
    return a->https == b->https && url_same_host(&a->authority, &b->authority) &&
           url_port(a) == url_port(b);
}

static bool parse(struct url *u, struct str text)
{
    struct err e = ERR_NONE;

    return text.len <= URL_MAX && url_parse(u, text, &e) && !u->authority.userinfo.at;
}

/* What follows the origin of `text`, which `u` was parsed from. */
static struct str after_origin(struct str text, const struct url *u)
{
    return str_skip(text, (size_t)(u->path.at - text.at));
}

/* Our own origin, by what a client calls it. */
static bool parse_ours(struct url *u, struct str host)
{
    *u = (struct url){ .https = false };
    return url_authority(&u->authority, host) && !u->authority.userinfo.at;
}

static bool is_ours(struct str host, struct str text, struct url *u)
{
    struct url ours;

    return parse(u, text) && parse_ours(&ours, host) && same_origin(u, &ours);
}

static bool is_servers(const struct oauth *o, struct str text, struct url *u)
{
    return parse(u, text) && same_origin(u, &o->server);
}

/* Adds the server's own address as ours; false, and nothing, if it is none. */
static bool add_ours(const struct oauth *o, struct str host, struct str text, struct buf *out)
{
    struct url u;

    if (!is_servers(o, text, &u))
        return false;
    buf_add(out, STR("http://"));
    buf_add(out, host);
    buf_add(out, after_origin(text, &u));
    return true;
}

/* The same for what the client compares with the address it uses. */
static bool add_our_resource(const struct oauth *o, struct str host, struct str text,
                             struct buf *out)
{
    struct url u;

    if (!o->root || (!is_servers(o, text, &u) && !is_ours(host, text, &u)) ||
        !str_eq(u.path, o->server.path))
        return add_ours(o, host, text, out);
    buf_add(out, STR("http://"));
    buf_add(out, host);
    buf_add_ch(out, '/');
    return true;
}

void oauth_challenge(struct oauth *o, struct str host, struct str line, struct buf *out,
                     bool *named)
{
    struct challenge c = challenge_of(line);
    struct challenge_param p;
    const char *from = line.at;
    struct url u;

    *named = false;
    while (challenge_next(&c, &p)) {
        if (!fields_same(p.name, STR("resource_metadata")))
            continue;
        *named = true;
        if (str_starts(p.value, STR("/")) && !str_starts(p.value, STR("//"))) {
            learn_path(o, str_n(p.value.at, str_find(p.value, '?')));
        } else if (is_servers(o, p.value, &u)) {
            learn_path(o, u.path);
            buf_add(out, str_n(from, (size_t)(p.value.at - from)));
            add_ours(o, host, p.value, out);
            from = p.value.at + p.value.len;
        } else if (is_ours(host, p.value, &u)) {
            learn_path(o, u.path);
        } else {
            oauth_note(o, OAUTH_FAR_METADATA);
        }
    }
    if (from != line.at)
        buf_add(out, str_n(from, (size_t)(line.at + line.len - from)));
}

/* One document, and what is to be changed of it. */
struct editing {
    struct oauth *o;
    struct str host;
    struct json json;
    struct json_splice splice;
    struct arena text;
    bool known; /* what it says was looked at */
};

typedef bool add_fn(const struct oauth *o, struct str host, struct str text, struct buf *out);

static void edit(struct editing *d, struct json_val value, add_fn *add)
{
    struct str text = json_text(value, &d->text);
    struct buf url, raw;

    if (d->splice.count == JSON_SPLICE_MAX || text.len > URL_MAX)
        return;
    buf_init(&url, OAUTH_DOCUMENT_MAX);
    if (add(d->o, d->host, text, &url)) {
        buf_init(&raw, OAUTH_DOCUMENT_MAX);
        json_write_str(&raw, buf_str(&url));
        json_splice_replace(&d->splice, value, arena_str(&d->text, buf_str(&raw)));
        buf_release(&raw);
    }
    buf_release(&url);
}

static void note_far(struct editing *d, struct json_val value)
{
    struct str text = json_text(value, &d->text);
    struct url u;

    if ((d->o->notes & OAUTH_FAR_SERVER) || !parse(&u, text) || is_servers(d->o, text, &u) ||
        is_ours(d->host, text, &u))
        return;
    oauth_note(d->o, OAUTH_FAR_SERVER);
    d->o->far = arena_str(&d->o->arena, str_n(text.at, (size_t)(u.path.at - text.at)));
}

static void edit_resource(struct editing *d)
{
    struct json_iter member = json_each(json_root(&d->json));

    while (json_next(&member)) {
        struct json_iter item = json_each(member.value);

        if (json_is(member.key, STR("resource")))
            edit(d, member.value, add_our_resource);
        else if (json_is(member.key, STR("jwks_uri")))
            edit(d, member.value, add_ours);
        else if (json_is(member.key, STR("signed_metadata")))
            oauth_note(d->o, OAUTH_SIGNED);
        if (!json_is(member.key, STR("authorization_servers")))
            continue;
        while (json_next(&item)) {
            note_far(d, item.value);
            edit(d, item.value, add_ours);
        }
    }
}

static bool is_endpoint_name(struct editing *d, struct json_val key)
{
    return json_is(key, STR("issuer")) || json_is(key, STR("jwks_uri")) ||
           str_ends(json_text(key, &d->text), STR("_endpoint"));
}

/* What there is to know is looked at before anything is changed, and not again. */
static void learn_resource(struct editing *d)
{
    struct str text = json_text(json_get(json_root(&d->json), STR("resource")), &d->text);
    struct url u;

    d->o->as_called = is_ours(d->host, text, &u);
}

static void learn_authorize(struct editing *d)
{
    struct json_val root = json_root(&d->json);
    struct json_val page = json_get(root, STR("authorization_endpoint"));
    struct json_val names =
        json_get(root, STR("authorization_response_iss_parameter_supported"));
    struct url u;

    if (!is_servers(d->o, json_text(page, &d->text), &u))
        return;
    buf_clear(&d->o->authorize);
    buf_add(&d->o->authorize, u.path);
    d->o->names_issuer = json_type(names) == JSON_TRUE;
}

static void edit_server(struct editing *d)
{
    struct json_iter member = json_each(json_root(&d->json));

    while (json_next(&member)) {
        struct json_iter inner = json_each(member.value);

        if (is_endpoint_name(d, member.key))
            edit(d, member.value, add_ours);
        else if (json_is(member.key, STR("signed_metadata")))
            oauth_note(d->o, OAUTH_SIGNED);
        while (json_is(member.key, STR("mtls_endpoint_aliases")) && json_next(&inner))
            edit(d, inner.value, add_ours);
        while (json_is(member.key, STR("protected_resources")) && json_next(&inner))
            edit(d, inner.value, add_our_resource);
    }
}

/* One round of as many changes as a splice holds; false: there is nothing to change. */
static bool edit_some(struct editing *d, enum oauth_document kind, struct str body,
                      struct buf *out)
{
    struct json_fault fault;
    struct json_val root;
    struct str raw;

    if (!json_scan(&d->json, body, &fault) || json_type(json_root(&d->json)) != JSON_OBJECT) {
        oauth_note(d->o, OAUTH_UNREADABLE);
        return false;
    }
    root = json_root(&d->json);
    raw = json_raw(root);
    json_splice_init(&d->splice, root);
    if (!d->known && kind == OAUTH_RESOURCE)
        learn_resource(d);
    if (!d->known && kind == OAUTH_SERVER)
        learn_authorize(d);
    d->known = true;
    if (kind == OAUTH_RESOURCE)
        edit_resource(d);
    else
        edit_server(d);
    if (!d->splice.count)
        return false;
    buf_add(out, str_n(body.at, json_at(root)));
    json_splice_apply(&d->splice, out);
    buf_add(out, str_skip(body, json_at(root) + raw.len));
    return !out->full;
}

void oauth_metadata(struct oauth *o, enum oauth_document kind, struct str host, struct str body,
                    struct buf *out)
{
    struct editing d = { .o = o, .host = host };
    struct url ours;
    struct buf next;

    if (!parse_ours(&ours, host) || same_origin(&ours, &o->server))
        return; /* what is put in would be found again */
    json_init(&d.json);
    for (;;) {
        buf_init(&next, out->max);
        if (!edit_some(&d, kind, out->len ? buf_str(out) : body, &next))
            break;
        buf_release(out);
        *out = next;
    }
    buf_release(&next);
    json_release(&d.json);
    arena_release(&d.text);
}

/* The value of a pair, if it has that name. */
static bool value_of(struct arena *a, const struct form_pair *p, struct str name,
                     struct str *value)
{
    struct buf text;

    if (!p->value.at || p->value.len > URL_MAX || !form_is(p->name, name))
        return false;
    buf_init(&text, URL_MAX);
    form_decode(&text, p->value);
    *value = arena_str(a, buf_str(&text));
    buf_release(&text);
    return true;
}

/* Adds a form, with what `add` makes of the values of that name; false: it makes nothing. */
static bool add_form(const struct oauth *o, struct str host, struct str form, struct str name,
                     add_fn *add, struct buf *out)
{
    struct arena a = { .blocks = NULL };
    struct form_pair p;
    bool changed = false, first = true;

    while (form_next(&form, &p)) {
        struct str value;
        struct buf url;

        if (!first)
            buf_add_ch(out, '&');
        first = false;
        buf_init(&url, OAUTH_DOCUMENT_MAX);
        if (value_of(&a, &p, name, &value) && add(o, host, value, &url)) {
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

/* The same as a path, where that is enough: by which scheme the client came we cannot know. */
static bool add_our_path(const struct oauth *o, struct str text, struct buf *out)
{
    struct str path;
    struct url u;

    if (!is_servers(o, text, &u))
        return false;
    path = after_origin(text, &u);
    if (str_starts(path, STR("//")))
        buf_add(out, STR("/.")); /* or it would name a host */
    buf_add(out, path.len ? path : STR("/"));
    return true;
}

void oauth_location(const struct oauth *o, struct str host, struct str location,
                    struct buf *out)
{
    struct str place = str_n(location.at, str_find(location, '#'));
    struct str fragment = str_skip(location, place.len);
    size_t n = str_find(place, '?');
    bool changed = add_our_path(o, str_n(place.at, n), out);

    if (!changed)
        buf_add(out, str_n(place.at, n));
    if (n < place.len) {
        buf_add_ch(out, '?');
        changed |= add_form(o, host, str_n(place.at + n + 1, place.len - n - 1), STR("iss"),
                            add_ours, out);
    }
    buf_add(out, fragment);
    if (!changed || out->full)
        buf_clear(out);
}

/* Our address as what the server calls itself. Names of this machine are as good as each
 * other. */
static bool add_servers(const struct oauth *o, struct str host, struct str text,
                        struct buf *out)
{
    struct url u, ours;
    bool root;

    if (!parse(&u, text) || !parse_ours(&ours, host) || u.https ||
        url_port(&u) != url_port(&ours))
        return false;
    if (!url_same_host(&u.authority, &ours.authority) &&
        !(url_is_loopback(&u.authority) && url_is_loopback(&ours.authority)))
        return false;
    root = o->root && is_root(u.path);
    if (o->as_called && !root)
        return false;
    buf_add(out, o->as_called ? STR("http://") : o->origin);
    buf_add(out, o->as_called ? host : STR_NONE);
    buf_add(out, root ? o->server.path : after_origin(text, &u));
    return true;
}

void oauth_form(const struct oauth *o, struct str host, struct str form, struct buf *out)
{
    if (!add_form(o, host, form, STR("resource"), add_servers, out) || out->full)
        buf_clear(out);
}

void oauth_detour(const struct oauth *o, struct str host, struct str path, struct str query,
                  struct buf *out)
{
    if (url_is_loopback(&o->server.authority) || o->names_issuer || !path.len ||
        !str_eq(path, buf_str(&o->authorize)))
        return;
    buf_add(out, o->origin);
    buf_add(out, path);
    if (query.at)
        buf_add_ch(out, '?');
    add_form(o, host, query, STR("resource"), add_servers, out);
    if (out->full)
        buf_clear(out);
}
