#include "wire/url.h"

#include "base/ascii.h"
#include "wire/fields.h"

enum { HTTP_PORT = 80, HTTPS_PORT = 443, PORT_MAX = 65535, NAME_MAX_LEN = 255 };

/* Text from `n` on, present even if it is empty. */
static struct str from(struct str s, size_t n)
{
    return str_n(s.at + n, s.len - n);
}

bool url_parse_port(struct str s, int *port)
{
    uint64_t n;

    *port = -1;
    if (!s.len)
        return true;
    if (!str_u64(s, &n) || n > PORT_MAX)
        return false;
    *port = (int)n;
    return true;
}

static bool is_name(struct str s)
{
    if (s.len == 0 || s.len > NAME_MAX_LEN || s.at[0] == '.')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];

        if (c == '.' ? s.at[i - 1] == '.' : !ascii_is_alnum(c) && c != '-' && c != '_')
            return false;
    }
    return !ip_resembles(s);
}

static bool parse_host(struct url_authority *a, struct str s)
{
    a->host = s;
    a->ip = ip_parse(s);
    return a->ip.kind == IP_V4 || (a->ip.kind == IP_NONE && is_name(s));
}

static bool parse_bracketed(struct url_authority *a, struct str s, struct str *rest)
{
    size_t end = str_find(s, ']');

    if (end == s.len)
        return false;
    a->host = str_n(s.at + 1, end - 1);
    a->ip = ip_parse(a->host);
    *rest = from(s, end + 1);
    return a->ip.kind == IP_V6;
}

bool url_authority(struct url_authority *a, struct str text)
{
    size_t at = str_find(text, '@');
    struct str rest;

    *a = (struct url_authority){ .port = -1 };
    if (at < text.len) {
        a->userinfo = str_n(text.at, at);
        text = from(text, at + 1);
        if (str_find(text, '@') < text.len)
            return false;
    }
    if (text.len && text.at[0] == '[') {
        if (!parse_bracketed(a, text, &rest))
            return false;
    } else {
        size_t n = str_find(text, ':');

        if (!parse_host(a, str_n(text.at, n)))
            return false;
        rest = from(text, n);
    }
    return rest.len == 0 || (rest.at[0] == ':' && url_parse_port(from(rest, 1), &a->port));
}

bool url_is_visible(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] <= 0x20 || s.at[i] >= 0x7f || s.at[i] == '\\')
            return false;
    }
    return true;
}

/* Cuts what follows the first `mark` off `*s`; not present if there is none. */
static struct str cut_tail(struct str *s, char mark)
{
    size_t n = str_find(*s, mark);
    struct str tail = STR_NONE;

    if (n < s->len)
        tail = from(*s, n + 1);
    s->len = n;
    return tail;
}

static bool cut_scheme(struct url *u, struct str *rest)
{
    static const struct str http = STR_INIT("http://"), https = STR_INIT("https://");

    if (rest->len >= http.len && fields_same(str_n(rest->at, http.len), http)) {
        *rest = from(*rest, http.len);
        return true;
    }
    if (rest->len >= https.len && fields_same(str_n(rest->at, https.len), https)) {
        u->https = true;
        *rest = from(*rest, https.len);
        return true;
    }
    return false;
}

bool url_parse(struct url *u, struct str text, struct err *e)
{
    size_t slash;

    *u = (struct url){ .https = false };
    if (!url_is_visible(text)) {
        err_set(e, ERR_USAGE, "the URL holds a character that a URL cannot hold");
        return err_hint(e, "write blanks and other alphabets as %%XX");
    }
    if (!cut_scheme(u, &text))
        return err_set(e, ERR_USAGE, "the URL begins with neither 'http://' nor 'https://'");
    u->fragment = cut_tail(&text, '#');
    u->query = cut_tail(&text, '?');
    slash = str_find(text, '/');
    u->path = from(text, slash);
    if (!url_authority(&u->authority, str_n(text.at, slash)))
        return err_set(e, ERR_USAGE, "the URL names no valid host and port");
    return true;
}

int url_port(const struct url *u)
{
    if (u->authority.port >= 0)
        return u->authority.port;
    return u->https ? HTTPS_PORT : HTTP_PORT;
}

bool url_same_host(const struct url_authority *a, const struct url_authority *b)
{
    if (a->ip.kind != IP_NONE && b->ip.kind != IP_NONE)
        return memcmp(a->ip.at, b->ip.at, sizeof a->ip.at) == 0;
    return fields_same(a->host, b->host);
}

bool url_is_loopback(const struct url_authority *a)
{
    if (a->ip.kind == IP_NONE)
        return fields_same(a->host, STR("localhost"));
    return a->ip.usual && ip_is_loopback(&a->ip);
}
