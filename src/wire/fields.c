#include "wire/fields.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/mem.h"
#include "wire/plain.h"

void fields_release(struct fields *f)
{
    free(f->at);
    *f = (struct fields){ .at = NULL };
}

void fields_clear(struct fields *f)
{
    f->count = 0;
    f->names = 0;
}

void fields_add(struct fields *f, struct str name, struct str value)
{
    if (f->count == f->cap)
        f->at = mem_reserve(f->at, &f->cap, f->count + 1, sizeof *f->at);
    f->at[f->count++] = (struct field){ name, value };
    f->names |= fields_bit(name);
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
    return plain_run(s) == s.len;
}

/* Whether eight bytes are: letters may differ in the one bit that is their case. The top bit of
 * a byte is no part of the sums, so that none of them reaches the next byte. */
static bool same_eight(const char *a, const char *b)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t w = mem_load64(a), small = (w | 0x20 * ones) & 0x7f * ones;
    uint64_t from_a = small + (0x80 - 'a') * ones, past_z = small + (0x7f - 'z') * ones;
    uint64_t letters = (from_a ^ past_z) & ~w & 0x80 * ones;

    return !((w ^ mem_load64(b)) & ~(letters >> 2));
}

static bool same_few(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (a[i] != b[i] && ascii_lower(a[i]) != ascii_lower(b[i]))
            return false;
    }
    return true;
}

/* The last eight may have been looked at in part. */
bool fields_same_far(const char *a, const char *b, size_t len)
{
    if (len < 8)
        return same_few(a, b, len);
    for (size_t i = 0; i + 8 < len; i += 8) {
        if (!same_eight(a + i, b + i))
            return false;
    }
    return same_eight(a + len - 8, b + len - 8);
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

/* Why a line is refused that take_line() did not take; `n` of its bytes are a token. */
static enum refusal fault_of(struct str line, size_t n)
{
    if (line.len && fields_is_blank(line.at[0]))
        return REFUSAL_FOLD;
    if (str_find(line, ':') == line.len)
        return REFUSAL_FIELD_LINE;
    return n && trim(str_skip(line, n)).at[0] == ':' ? REFUSAL_FIELD_BLANK : REFUSAL_FIELD_NAME;
}

static enum refusal take_line(struct fields *f, struct str *text)
{
    size_t n = fields_token_length(*text);
    size_t end = n + plain_run(str_n(text->at + n, text->len - n));
    struct str line = str_n(text->at, end);

    BUG_IF(text->len - end < 2 || text->at[end] != '\r' || text->at[end + 1] != '\n');
    *text = str_skip(*text, end + 2);
    if (n == 0 || line.at[n] != ':')
        return fault_of(line, n);
    fields_add(f, str_n(line.at, n), trim(str_skip(line, n + 1)));
    return REFUSAL_NONE;
}

enum refusal fields_parse(struct fields *f, struct str text)
{
    enum refusal why = REFUSAL_NONE;

    while (text.len && !why)
        why = take_line(f, &text);
    return why;
}

const struct field *fields_next_far(const struct fields *f, struct str name,
                                    const struct field *prev)
{
    for (const struct field *at = prev ? prev + 1 : f->at; at < f->at + f->count; at++) {
        if (fields_same(at->name, name))
            return at;
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

bool fields_list_far(const struct fields *f, const struct field *at, struct str wanted)
{
    for (; at; at = fields_next_far(f, at->name, at)) {
        struct str rest = at->value, item;

        while (fields_item(&rest, &item)) {
            if (fields_same(item, wanted))
                return true;
        }
    }
    return false;
}

bool fields_keep_alive(const struct fields *f, int minor)
{
    static const struct str name = STR_INIT("connection");

    return !fields_list(f, name, STR("close")) &&
           (minor == 1 || fields_list(f, name, STR("keep-alive")));
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
