#include "wire/headers.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/mem.h"
#include "wire/head-bytes.h"

void headers_release(struct headers *f)
{
    free(f->at);
    *f = (struct headers){ .at = NULL };
}

void headers_clear(struct headers *f)
{
    f->count = 0;
    f->name_bits = 0;
}

void headers_add(struct headers *f, struct str name, struct str value)
{
    if (f->count == f->cap)
        f->at = mem_reserve(f->at, &f->cap, f->count + 1, sizeof *f->at);
    f->at[f->count++] = (struct header){ name, value };
    f->name_bits |= headers_name_bit(name);
}

void headers_remove(struct headers *f, bool (*which)(struct str name))
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (!which(f->at[i].name))
            f->at[kept++] = f->at[i];
    f->count = kept;
}

void headers_keep_first(struct headers *f, struct str name)
{
    size_t kept = 0, seen = 0;

    for (size_t i = 0; i < f->count; i++)
        if (!headers_equal_nocase(f->at[i].name, name) || seen++ == 0)
            f->at[kept++] = f->at[i];
    f->count = kept;
}

static const bool is_token_char[256] = {
    ['!'] = true,         ['#' ... '\''] = true, ['*' ... '+'] = true,
    ['-' ... '.'] = true, ['0' ... '9'] = true,  ['A' ... 'Z'] = true,
    ['^' ... 'z'] = true, ['|'] = true,          ['~'] = true,
};

size_t headers_token_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && is_token_char[(unsigned char)s.at[n]])
        n++;
    return n;
}

bool headers_is_token(struct str s)
{
    return s.len && headers_token_length(s) == s.len;
}

/* Returns the length with quotes; 0: the closing quote is missing. */
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

size_t headers_word_length(struct str s)
{
    return str_starts(s, STR("\"")) ? quoted_length(s) : headers_token_length(s);
}

bool headers_is_value(struct str s)
{
    return head_bytes_valid_length(s) == s.len;
}

/* Compares 8 bytes: letters may differ in bit 5, their case. The top bit of a byte is not part
 * of the sums, so that none carries into the next byte. */
static bool equal_eight(const char *a, const char *b)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t w = mem_load64(a), small = (w | 0x20 * ones) & 0x7f * ones;
    uint64_t from_a = small + (0x80 - 'a') * ones, past_z = small + (0x7f - 'z') * ones;
    uint64_t letters = (from_a ^ past_z) & ~w & 0x80 * ones;

    return !((w ^ mem_load64(b)) & ~(letters >> 2));
}

static bool equal_few(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (a[i] != b[i] && ascii_lower(a[i]) != ascii_lower(b[i]))
            return false;
    }
    return true;
}

/* The last 8 bytes may overlap with those compared before. */
bool headers_equal_nocase_slow(const char *a, const char *b, size_t len)
{
    if (len < 8)
        return equal_few(a, b, len);
    for (size_t i = 0; i + 8 < len; i += 8) {
        if (!equal_eight(a + i, b + i))
            return false;
    }
    return equal_eight(a + len - 8, b + len - 8);
}

struct str headers_skip_blanks(struct str s)
{
    while (s.len && headers_is_blank(s.at[0]))
        s = str_skip(s, 1);
    return s;
}

static struct str trim(struct str s)
{
    s = headers_skip_blanks(s);
    while (s.len && headers_is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

/* Returns why parse_line() rejects a line whose first `n` bytes are a token. */
static enum reject_reason reject_reason_of(struct str line, size_t n)
{
    if (line.len && headers_is_blank(line.at[0]))
        return REJECT_HEADER_FOLDED;
    if (str_find(line, ':') == line.len)
        return REJECT_HEADER_NO_COLON;
    return n && trim(str_skip(line, n)).at[0] == ':' ? REJECT_HEADER_BLANK : REJECT_HEADER_NAME;
}

static enum reject_reason parse_line(struct headers *f, struct str *text)
{
    size_t n = headers_token_length(*text);
    size_t end = n + head_bytes_valid_length(str_n(text->at + n, text->len - n));
    struct str line = str_n(text->at, end);

    BUG_IF(text->len - end < 2 || text->at[end] != '\r' || text->at[end + 1] != '\n');
    *text = str_skip(*text, end + 2);
    if (n == 0 || line.at[n] != ':')
        return reject_reason_of(line, n);
    headers_add(f, str_n(line.at, n), trim(str_skip(line, n + 1)));
    return REJECT_NONE;
}

enum reject_reason headers_parse(struct headers *f, struct str text)
{
    enum reject_reason why = REJECT_NONE;

    while (text.len && !why)
        why = parse_line(f, &text);
    return why;
}

const struct header *headers_next_slow(const struct headers *f, struct str name,
                                       const struct header *prev)
{
    for (const struct header *at = prev ? prev + 1 : f->at; at < f->at + f->count; at++) {
        if (headers_equal_nocase(at->name, name))
            return at;
    }
    return NULL;
}

size_t headers_count(const struct headers *f, struct str name)
{
    const struct header *at = NULL;
    size_t n = 0;

    while ((at = headers_next(f, name, at)))
        n++;
    return n;
}

/* Returns the position of the next comma outside of quotes, or the length. */
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

bool headers_next_item(struct str *rest, struct str *item)
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

bool headers_list_has_slow(const struct headers *f, const struct header *at, struct str wanted)
{
    for (; at; at = headers_next_slow(f, at->name, at)) {
        struct str rest = at->value, item;

        while (headers_next_item(&rest, &item)) {
            if (headers_equal_nocase(item, wanted))
                return true;
        }
    }
    return false;
}

bool headers_keep_alive(const struct headers *f, int minor)
{
    static const struct str name = STR_INIT("connection");

    return !headers_list_has(f, name, STR("close")) &&
           (minor == 1 || headers_list_has(f, name, STR("keep-alive")));
}

bool headers_is_hop_by_hop(const struct headers *f, struct str name)
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
        if (headers_equal_nocase(name, hops[i]))
            return true;
    }
    return headers_list_has(f, STR("connection"), name);
}
