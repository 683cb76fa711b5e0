#include "wire/fields.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/mem.h"

void fields_release(struct fields *f)
{
    free(f->at);
    *f = (struct fields){ .at = NULL };
}

void fields_clear(struct fields *f)
{
    f->count = 0;
}

void fields_add(struct fields *f, struct str name, struct str value)
{
    if (f->count == f->cap)
        f->at = mem_reserve(f->at, &f->cap, f->count + 1, sizeof *f->at);
    f->at[f->count++] = (struct field){ name, value };
}

static const bool token[256] = {
    ['!'] = true,         ['#' ... '\''] = true, ['*' ... '+'] = true,
    ['-' ... '.'] = true, ['0' ... '9'] = true,  ['A' ... 'Z'] = true,
    ['^' ... 'z'] = true, ['|'] = true,          ['~'] = true,
};

size_t fields_token_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && token[(unsigned char)s.at[n]])
        n++;
    return n;
}

bool fields_is_token(struct str s)
{
    return s.len && fields_token_length(s) == s.len;
}

/* Quotes included; 0: it has no end. */
static size_t quoted_length(struct str s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.at[i] == '"')
            return i + 1;
        if (s.at[i] == '\\')
            i++;
    }
    return 0;
}

size_t fields_word_length(struct str s)
{
    return str_starts(s, STR("\"")) ? quoted_length(s) : fields_token_length(s);
}

bool fields_is_value(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

bool fields_same(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (a.at[i] != b.at[i] && ascii_lower(a.at[i]) != ascii_lower(b.at[i]))
            return false;
    }
    return true;
}

struct str fields_skip_blanks(struct str s)
{
    while (s.len && fields_is_blank(s.at[0]))
        s = str_skip(s, 1);
    return s;
}

static struct str trim(struct str s)
{
    s = fields_skip_blanks(s);
    while (s.len && fields_is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

static enum refusal parse_line(struct fields *f, struct str line)
{
    size_t n = fields_token_length(line);

    if (line.len && fields_is_blank(line.at[0]))
        return REFUSAL_FOLD;
    if (str_find(line, ':') == line.len)
        return REFUSAL_FIELD_LINE;
    if (n == 0 || line.at[n] != ':')
        return n && trim(str_skip(line, n)).at[0] == ':' ? REFUSAL_FIELD_BLANK
                                                         : REFUSAL_FIELD_NAME;
    fields_add(f, str_n(line.at, n), trim(str_skip(line, n + 1)));
    return REFUSAL_NONE;
}

enum refusal fields_parse(struct fields *f, struct str text)
{
    while (text.len) {
        struct str line = str_cut(&text, '\n');
        enum refusal why;

        BUG_IF(line.len == 0 || line.at[line.len - 1] != '\r');
        line.len--;
        why = parse_line(f, line);
        if (why)
            return why;
    }
    return REFUSAL_NONE;
}

const struct field *fields_next(const struct fields *f, struct str name,
                                const struct field *prev)
{
    for (size_t i = prev ? (size_t)(prev - f->at) + 1 : 0; i < f->count; i++) {
        if (fields_same(f->at[i].name, name))
            return &f->at[i];
    }
    return NULL;
}

size_t fields_count(const struct fields *f, struct str name)
{
    const struct field *at = NULL;
    size_t n = 0;

    while ((at = fields_next(f, name, at)))
        n++;
    return n;
}

struct str fields_value(const struct fields *f, struct str name)
{
    const struct field *at = fields_next(f, name, NULL);

    return at ? at->value : STR_NONE;
}

/* Where the list's next comma outside of quotes is. */
static size_t find_comma(struct str s)
{
    size_t comma = str_find(s, ',');
    bool quoted = false;

    if (str_find(str_n(s.at, comma), '"') == comma)
        return comma;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '"')
            quoted = !quoted;
        else if (quoted && s.at[i] == '\\')
            i++;
        else if (!quoted && s.at[i] == ',')
            return i;
    }
    return s.len;
}

bool fields_item(struct str *rest, struct str *item)
{
    while (rest->len) {
        size_t n = find_comma(*rest);
        struct str found = trim(str_n(rest->at, n));

        *rest = str_skip(*rest, n + 1);
        if (found.len) {
            *item = found;
            return true;
        }
    }
    return false;
}

bool fields_list(const struct fields *f, struct str name, struct str wanted)
{
    const struct field *at = NULL;

    while ((at = fields_next(f, name, at))) {
        struct str rest = at->value, item;

        while (fields_item(&rest, &item)) {
            if (fields_same(item, wanted))
                return true;
        }
    }
    return false;
}

bool fields_is_hop(const struct fields *f, struct str name)
{
    static const struct str hops[] = {
        STR_INIT("connection"),
        STR_INIT("keep-alive"),
        STR_INIT("proxy-authenticate"),
        STR_INIT("proxy-authorization"),
        STR_INIT("proxy-connection"),
        STR_INIT("te"),
        STR_INIT("trailer"),
        STR_INIT("transfer-encoding"),
        STR_INIT("upgrade"),
    };

    for (size_t i = 0; i < sizeof hops / sizeof *hops; i++) {
        if (fields_same(name, hops[i]))
            return true;
    }
    return fields_list(f, STR("connection"), name);
}
