#include "trace/own-path.h"

#include "base/ascii.h"
#include "trace/marks.h"

/* v1, v2, v10 */
static bool is_version(struct str part)
{
    return part.len >= 2 && part.len <= 3 && part.at[0] == 'v' && ascii_is_digit(part.at[1]) &&
           ascii_is_digit(part.at[part.len - 1]);
}

static bool is_name(struct str part)
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

static bool is_secret(struct str part)
{
    return !is_name(part) && !marks_is(part);
}

void own_path_release(struct own_path *o)
{
    arena_release(&o->arena);
    *o = (struct own_path){ .parts = NULL };
}

bool own_path_is_url(struct str text)
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

void own_path_learn(struct own_path *o, struct str url, bool (*counts)(struct str part))
{
    struct str rest;

    if (!own_path_is_url(url))
        return;
    rest = str_n(url.at, path_end(url));
    o->query |= rest.len + 1 < url.len && url.at[rest.len] == '?' &&
                !marks_is(str_skip(url, rest.len + 1));
    for (int i = 0; i < 3; i++)
        str_cut(&rest, '/');
    while (rest.len) {
        struct str text = str_cut(&rest, '/');
        struct own_path_part *part;

        if (!is_secret(text) || (counts && !counts(text)))
            continue;
        part = arena_new(&o->arena, struct own_path_part);
        *part = (struct own_path_part){ arena_str(&o->arena, text), o->parts };
        o->parts = part;
    }
}

bool own_path_is_plain(struct str path)
{
    while (path.len)
        if (is_secret(str_cut(&path, '/')))
            return false;
    return true;
}

/* What may follow a part, in a path and where one stands in other text. */
static bool ends_part(struct str rest)
{
    return !rest.len || (unsigned char)rest.at[0] <= ' ' || strchr("/?#\"'\\<>,;", rest.at[0]);
}

/* Cuts the first byte off, however it is spelled: as it is or as %41. */
static char next_byte(struct str *text)
{
    char byte = text->at[0];

    *text = str_skip(*text, str_percent(*text, &byte) ? 3 : 1);
    return byte;
}

/* Whether the text starts with the part, in any spelling; what follows it. */
static bool starts_with(struct str text, struct str part, struct str *rest)
{
    while (part.len && text.len)
        if (next_byte(&part) != next_byte(&text))
            return false;
    *rest = text;
    return !part.len;
}

/* How long the part is that stands at the front of the text; 0: there is none. */
static size_t part_at(const struct own_path *o, struct str text)
{
    struct str rest;

    for (const struct own_path_part *p = o->parts; p; p = p->next)
        if (starts_with(text, p->text, &rest) && ends_part(rest))
            return text.len - rest.len;
    return 0;
}

bool own_path_hide(const struct own_path *o, struct str text, struct buf *to)
{
    size_t copied = 0;

    for (size_t i = 0; o->parts && i < text.len; i++) {
        size_t len = text.at[i] == '/' ? part_at(o, str_skip(text, i + 1)) : 0;

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
