#include "wire/query.h"

bool query_next(struct str *rest, struct query_param *p)
{
    struct str pair;

    if (!rest->at)
        return false;
    if (str_find(*rest, '&') == rest->len) {
        pair = *rest;
        *rest = STR_NONE;
    } else {
        size_t n = str_find(*rest, '&');

        pair = str_n(rest->at, n);
        *rest = str_n(rest->at + n + 1, rest->len - n - 1);
    }
    p->text = pair;
    p->name = str_n(pair.at, str_find(pair, '='));
    p->value = p->name.len < pair.len
                   ? str_n(pair.at + p->name.len + 1, pair.len - p->name.len - 1)
                   : STR_NONE;
    return true;
}

/* Decodes the first character; `*used` is its encoded length. */
static char decode_char(struct str s, size_t *used)
{
    char c = s.at[0] == '+' ? ' ' : s.at[0];

    *used = str_parse_percent(s, &c) ? 3 : 1;
    return c;
}

void query_decode(struct buf *to, struct str text)
{
    size_t used;

    for (; text.len; text = str_skip(text, used))
        buf_add_ch(to, decode_char(text, &used));
}

bool query_equals(struct str text, struct str plain)
{
    size_t used;

    for (; text.len; text = str_skip(text, used), plain = str_skip(plain, 1)) {
        if (!plain.len || decode_char(text, &used) != plain.at[0])
            return false;
    }
    return !plain.len;
}
