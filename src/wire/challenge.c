#include "wire/challenge.h"

#include "wire/fields.h"

struct challenge challenge_of(struct str line)
{
    return (struct challenge){ .rest = line };
}

static struct str skip_separators(struct str s)
{
    while (s.len && (fields_is_blank(s.at[0]) || s.at[0] == ','))
        s = str_skip(s, 1);
    return s;
}

static size_t bare_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && !fields_is_blank(s.at[n]) && s.at[n] != ',')
        n++;
    return n;
}

/* Takes a value off `*rest`; false: there is none, or it has no end. */
static bool cut_value(struct str *rest, struct str *value)
{
    bool quoted = str_starts(*rest, STR("\""));
    size_t n = quoted ? fields_word_length(*rest) : bare_length(*rest);

    *value = quoted && n ? str_n(rest->at + 1, n - 2) : str_n(rest->at, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

/* The '=' of a parameter is followed by its value; those at the end of credentials in one
 * word ("dGVzdA==") are not. */
static bool is_assignment(struct str s)
{
    s = fields_skip_blanks(str_skip(s, 1));
    return s.len && s.at[0] != '=' && s.at[0] != ',';
}

bool challenge_next(struct challenge *c, struct challenge_param *p)
{
    for (;;) {
        struct str word, after;

        c->rest = skip_separators(c->rest);
        word = str_n(c->rest.at, fields_token_length(c->rest));
        after = fields_skip_blanks(str_skip(c->rest, word.len));
        if (word.len && after.len && after.at[0] == '=' && is_assignment(after)) {
            c->rest = fields_skip_blanks(str_skip(after, 1));
            *p = (struct challenge_param){ .scheme = c->scheme, .name = word };
            return cut_value(&c->rest, &p->value);
        }
        if (word.len && (after.at != c->rest.at + word.len || !after.len)) {
            c->scheme = word; /* a word of its own: a challenge begins */
            c->rest = after;
        } else {
            size_t n =
                bare_length(c->rest); /* credentials in one word, or what nobody can read */

            if (!n)
                return false;
            if (word.len == n)
                c->scheme = word;
            c->rest = str_skip(c->rest, n);
        }
    }
}
