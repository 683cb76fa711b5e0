#include "redact/url-secrets.h"

#include <strings.h>

#include "base/ascii.h"
#include "redact/placeholder.h"
#include "redact/secret-args.h"
#include "redact/secret-rules.h"

static bool has_placeholder(struct str text)
{
    return str_contains(text, STR("[REDACTED"));
}

bool url_secrets_find_in_path(struct str path, size_t from, struct url_secrets_hit *out)
{
    while (from < path.len) {
        struct str part = str_n(path.at + from, str_find(str_skip(path, from), '/'));

        if (secret_rules_looks_random(part) && !has_placeholder(part)) {
            *out = (struct url_secrets_hit){ .span = { from, from + part.len } };
            return true;
        }
        from += part.len + 1;
    }
    return false;
}

/* Names that are secret in a query only: sessionId, sid; X-Amz-Signature, sig; code of OAuth.
 */
static bool is_query_secret_name(struct str name)
{
    static const struct str parts[] = { STR_INIT("session"), STR_INIT("signature") };
    static const struct str whole[] = { STR_INIT("sid"), STR_INIT("sig"), STR_INIT("code"),
                                        STR_INIT("ticket") };

    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (name.len == whole[i].len && strncasecmp(name.at, whole[i].at, name.len) == 0)
            return true;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        for (size_t i = 0; i + parts[k].len <= name.len; i++)
            if (strncasecmp(name.at + i, parts[k].at, parts[k].len) == 0)
                return true;
    return false;
}

/* Returns the end of a name or value of a query. */
static size_t query_end(struct str query, size_t from, const char *ends)
{
    while (from < query.len && !strchr(ends, query.at[from]))
        from++;
    return from;
}

bool url_secrets_find_in_query(struct str query, size_t from, struct url_secrets_hit *out)
{
    while (from < query.len) {
        size_t sign = query_end(query, from, "=&;"), end = query_end(query, sign, "&;");
        size_t at = sign < end ? sign + 1 : from;
        struct str name = str_n(query.at + from, at > from ? sign - from : 0);
        struct str value = str_n(query.at + at, end - at);
        bool named =
            name.len && (secret_args_is_secret_name(name) || is_query_secret_name(name));

        if (value.len && !has_placeholder(value) &&
            (named || secret_rules_looks_random(value))) {
            *out = (struct url_secrets_hit){ { at, end }, name, named };
            return true;
        }
        from = end + 1;
    }
    return false;
}

/* v1, v2, v10 */
static bool is_version(struct str part)
{
    return part.len >= 2 && part.len <= 3 && part.at[0] == 'v' && ascii_is_digit(part.at[1]) &&
           ascii_is_digit(part.at[part.len - 1]);
}

static bool is_common_part(struct str part)
{
    static const struct str names[] = {
        STR_INIT("mcp"),     STR_INIT("sse"),    STR_INIT("message"), STR_INIT("messages"),
        STR_INIT("api"),     STR_INIT("rpc"),    STR_INIT("http"),    STR_INIT("stream"),
        STR_INIT("events"),  STR_INIT("server"), STR_INIT("servers"), STR_INIT("tools"),
        STR_INIT("gateway"), STR_INIT("proxy"),  STR_INIT("public"),  STR_INIT("latest"),
    };
    bool found = !part.len || is_version(part);

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = str_eq(part, names[i]);
    return found;
}

static bool is_secret_part(struct str part)
{
    return !is_common_part(part) && !placeholder_matches(part);
}

void url_secrets_release(struct url_secrets *o)
{
    arena_release(&o->arena);
    *o = (struct url_secrets){ .parts = NULL };
}

bool url_secrets_is_url(struct str text)
{
    static const struct str schemes[] = { STR_INIT("http://"), STR_INIT("https://"),
                                          STR_INIT("ws://"), STR_INIT("wss://") };

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = 0;

        while (n < schemes[i].len && n < text.len &&
               ascii_lower(text.at[n]) == schemes[i].at[n])
            n++;
        if (n == schemes[i].len)
            return true;
    }
    return false;
}

static size_t path_end(struct str text)
{
    size_t n = 0;

    while (n < text.len && text.at[n] != '?' && text.at[n] != '#')
        n++;
    return n;
}

void url_secrets_add_url(struct url_secrets *o, struct str url, bool (*counts)(struct str part))
{
    struct str rest;

    if (!url_secrets_is_url(url))
        return;
    rest = str_n(url.at, path_end(url));
    o->has_query |= rest.len + 1 < url.len && url.at[rest.len] == '?' &&
                    !placeholder_matches(str_skip(url, rest.len + 1));
    for (int i = 0; i < 3; i++)
        str_cut(&rest, '/');
    while (rest.len) {
        struct str text = str_cut(&rest, '/');
        struct url_secrets_part *part;

        if (!is_secret_part(text) || (counts && !counts(text)))
            continue;
        part = arena_new(&o->arena, struct url_secrets_part);
        *part = (struct url_secrets_part){ arena_str(&o->arena, text), o->parts };
        o->parts = part;
    }
}

bool url_secrets_is_plain_path(struct str path)
{
    while (path.len)
        if (is_secret_part(str_cut(&path, '/')))
            return false;
    return true;
}

/* Returns whether a part of a path ends before `rest`, in a path or in other text. */
static bool ends_part(struct str rest)
{
    return !rest.len || (unsigned char)rest.at[0] <= ' ' || strchr("/?#\"'\\<>,;", rest.at[0]);
}

/* Removes and returns the first byte, plain or as %41. */
static char next_byte(struct str *text)
{
    char byte = text->at[0];

    *text = str_skip(*text, str_parse_percent(*text, &byte) ? 3 : 1);
    return byte;
}

/* Returns whether the text starts with the part, percent-encoded or not; sets `*rest`. */
static bool starts_with(struct str text, struct str part, struct str *rest)
{
    while (part.len && text.len)
        if (next_byte(&part) != next_byte(&text))
            return false;
    *rest = text;
    return !part.len;
}

/* Returns the length of the secret part at the start of the text; 0: there is none. */
static size_t match_part(const struct url_secrets *o, struct str text)
{
    struct str rest;

    for (const struct url_secrets_part *p = o->parts; p; p = p->next)
        if (starts_with(text, p->text, &rest) && ends_part(rest))
            return text.len - rest.len;
    return 0;
}

bool url_secrets_redact(const struct url_secrets *o, struct str text, struct buf *to)
{
    size_t copied = 0;

    for (size_t i = 0; o->parts && i < text.len; i++) {
        size_t len = text.at[i] == '/' ? match_part(o, str_skip(text, i + 1)) : 0;

        if (!len)
            continue;
        buf_add(to, str_n(text.at + copied, i + 1 - copied));
        buf_add(to, STR("[REDACTED]"));
        i += len;
        copied = i + 1;
    }
    if (copied)
        buf_add(to, str_skip(text, copied));
    return copied > 0;
}
