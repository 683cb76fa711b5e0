#include "wire/www-authenticate.h"

#include "wire/headers.h"

struct www_authenticate www_authenticate_begin(struct str line)
{
    return (struct www_authenticate){ .rest = line };
}

static struct str skip_separators(struct str s)
{
    while (s.len && (headers_is_blank(s.at[0]) || s.at[0] == ','))
        s = str_skip(s, 1);
    return s;
}

static size_t bare_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && !headers_is_blank(s.at[n]) && s.at[n] != ',')
        n++;
    return n;
}

/* Cuts off a value; false if there is none, or its closing quote is missing. */
static bool cut_value(struct str *rest, struct str *value)
{
    bool quoted = str_starts(*rest, STR("\""));
    size_t n = quoted ? headers_word_length(*rest) : bare_length(*rest);

    *value = quoted && n ? str_n(rest->at + 1, n - 2) : str_n(rest->at, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

/* Returns whether '=' is followed by a value: the padding of a token68 ("dGVzdA==") is not. */
static bool is_assignment(struct str s)
{
    s = headers_skip_blanks(str_skip(s, 1));
    return s.len && s.at[0] != '=' && s.at[0] != ',';
}

bool www_authenticate_next(struct www_authenticate *c, struct www_authenticate_param *p)
{
    for (;;) {
        struct str word, after;

        c->rest = skip_separators(c->rest);
        word = str_n(c->rest.at, headers_token_length(c->rest));
        after = headers_skip_blanks(str_skip(c->rest, word.len));
        if (word.len && after.len && after.at[0] == '=' && is_assignment(after)) {
            c->rest = headers_skip_blanks(str_skip(after, 1));
            *p = (struct www_authenticate_param){ .scheme = c->scheme, .name = word };
            return cut_value(&c->rest, &p->value);
        }
        if (word.len && (after.at != c->rest.at + word.len || !after.len)) {
            c->scheme = word; /* a word alone begins a challenge */
            c->rest = after;
        } else {
            size_t n = bare_length(c->rest); /* a token68, or unreadable */

            if (!n)
                return false;
            if (word.len == n)
                c->scheme = word;
            c->rest = str_skip(c->rest, n);
        }
    }
}
