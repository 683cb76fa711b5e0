#include "wire/url.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "wire/headers.h"

enum { HTTP_PORT = 80, HTTPS_PORT = 443, PORT_MAX = 65535, NAME_MAX_LEN = 255 };

/* Returns the text from `n` on; `at` is never NULL. */
static struct str skip_bytes(struct str s, size_t n)
{
    return str_n(s.at + n, s.len - n);
}

bool url_parse_port(struct str s, int *port)
{
    uint64_t n;

    *port = -1;
    if (!s.len)
        return true;
    if (!str_parse_u64(s, &n) || n > PORT_MAX)
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
    return !ip_looks_numeric(s);
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
    *rest = skip_bytes(s, end + 1);
    return a->ip.kind == IP_V6;
}

bool url_parse_authority(struct url_authority *a, struct str text)
{
    size_t at = str_find(text, '@');
    struct str rest;

    *a = (struct url_authority){ .port = -1 };
    if (at < text.len) {
        a->userinfo = str_n(text.at, at);
        text = skip_bytes(text, at + 1);
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
        rest = skip_bytes(text, n);
    }
    return rest.len == 0 ||
           (rest.at[0] == ':' && url_parse_port(skip_bytes(rest, 1), &a->port));
}

bool url_has_valid_chars(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] <= 0x20 || s.at[i] >= 0x7f || s.at[i] == '\\')
            return false;
    }
    return true;
}

/* Cuts off the text after the first `mark`; `at` is NULL without one. */
static struct str cut_tail(struct str *s, char mark)
{
    size_t n = str_find(*s, mark);
    struct str tail = STR_NONE;

    if (n < s->len)
        tail = skip_bytes(*s, n + 1);
    s->len = n;
    return tail;
}

static bool cut_scheme(struct url *u, struct str *rest)
{
    static const struct str http = STR_INIT("http://"), https = STR_INIT("https://");

    if (rest->len >= http.len && headers_equal_nocase(str_n(rest->at, http.len), http)) {
        *rest = skip_bytes(*rest, http.len);
        return true;
    }
    if (rest->len >= https.len && headers_equal_nocase(str_n(rest->at, https.len), https)) {
        u->https = true;
        *rest = skip_bytes(*rest, https.len);
        return true;
    }
    return false;
}

bool url_parse(struct url *u, struct str text, struct err *e)
{
    size_t slash;

    *u = (struct url){ .https = false };
    if (!url_has_valid_chars(text)) {
        err_set(e, ERR_USAGE, "the URL contains an invalid character");
        return err_hint(e, "percent-encode spaces and non-ASCII characters as %%XX");
    }
    if (!cut_scheme(u, &text))
        return err_set(e, ERR_USAGE, "the URL begins with neither 'http://' nor 'https://'");
    u->fragment = cut_tail(&text, '#');
    u->query = cut_tail(&text, '?');
    slash = str_find(text, '/');
    u->path = skip_bytes(text, slash);
    if (!url_parse_authority(&u->authority, str_n(text.at, slash)))
        return err_set(e, ERR_USAGE, "the URL has no valid host and port");
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
        return memcmp(a->ip.bytes, b->ip.bytes, sizeof a->ip.bytes) == 0;
    return headers_equal_nocase(a->host, b->host);
}

bool url_is_loopback(const struct url_authority *a)
{
    if (a->ip.kind == IP_NONE)
        return headers_equal_nocase(a->host, STR("localhost"));
    return a->ip.canonical && ip_is_loopback(&a->ip);
}

/* Adds a decoded segment; '/' and '%' stay escaped, as they would mean something else. */
static void add_decoded_segment(struct buf *to, struct str segment)
{
    while (segment.len) {
        char c = segment.at[0];
        bool escaped = str_parse_percent(segment, &c);

        segment = str_skip(segment, escaped ? 3 : 1);
        if (escaped && c == '/')
            buf_add(to, STR("%2F"));
        else if (escaped && c == '%')
            buf_add(to, STR("%25"));
        else
            buf_add_ch(to, c);
    }
}

static void drop_segment(struct buf *of)
{
    while (of->len && of->at[--of->len] != '/')
        continue;
}

/* Adds the path in the one spelling that stands for all equivalent ones. */
static void normalize_path(struct buf *to, struct str path)
{
    while (path.len) {
        struct str segment = str_cut(&path, '/');
        size_t from = to->len + 1;

        buf_add_ch(to, '/');
        add_decoded_segment(to, segment);
        segment = str_skip(buf_str(to), from);
        if (str_eq(segment, STR("..")))
            drop_segment(to);
        if (!segment.len || str_eq(segment, STR(".")) || str_eq(segment, STR("..")))
            drop_segment(to);
    }
}

bool url_same_path(struct str a, struct str b)
{
    struct buf one, other;
    bool same;

    if (str_eq(a, b))
        return true;
    buf_init(&one, a.len * 3 + 1); /* each segment takes a '/', and may be empty */
    buf_init(&other, b.len * 3 + 1);
    normalize_path(&one, a);
    normalize_path(&other, b);
    same = !one.full && !other.full && str_eq(buf_str(&one), buf_str(&other));
    buf_release(&one);
    buf_release(&other);
    return same;
}
