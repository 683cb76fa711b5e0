#include "transport/proxy.h"

#include <stdio.h>

#include "base/ascii.h"

enum { PLACE_MAX = 255 };

/* A host, and maybe a port, which is a number: a word behind a colon would be a password. */
static bool is_place(struct str text)
{
    static const struct str others = STR_INIT(".-_:[]");
    size_t port = text.len;

    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.at[i]) && str_find(others, text.at[i]) == others.len)
            return false;
    while (port && ascii_is_digit(text.at[port - 1]))
        port--;
    return text.len && text.len <= PLACE_MAX &&
           (str_find(text, ':') == text.len || text.at[text.len - 1] == ']' ||
            (port && text.at[port - 1] == ':'));
}

/* What stands before the last '@' may be a password, whatever is in it. */
static struct str place_in(struct str value)
{
    size_t at = value.len, end = 0;
    struct str place;

    while (at && value.at[at - 1] != '@')
        at--;
    place = str_skip(value, at);
    if (!at && str_has(place, STR("://")))
        while (!str_starts(place, STR("://")))
            place = str_skip(place, 1);
    if (str_starts(place, STR("://")))
        place = str_skip(place, 3);
    while (end < place.len && place.at[end] != '/')
        end++;
    return str_n(place.at, end);
}

/* Takes a text off the front. */
static bool takes(struct str *rest, struct str text)
{
    if (!str_starts(*rest, text))
        return false;
    *rest = str_skip(*rest, text.len);
    return true;
}

/* The variable that the remark names; empty: none that a proxy is in. */
static struct str variable_in(struct str *rest)
{
    static const struct str names[] = { STR_INIT("http_proxy"), STR_INIT("https_proxy"),
                                        STR_INIT("HTTPS_PROXY"), STR_INIT("all_proxy"),
                                        STR_INIT("ALL_PROXY") };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (takes(rest, names[i]))
            return names[i];
    return STR_NONE;
}

bool proxy_told(struct str remark, char text[PROXY_TEXT])
{
    struct str rest = str_trim(remark), name, place;

    if (!takes(&rest, STR("Uses proxy env variable ")))
        return false;
    name = variable_in(&rest);
    if (!name.len || !takes(&rest, STR(" == '")))
        return false;
    if (rest.len && rest.at[rest.len - 1] == '\'')
        place = place_in(str_n(rest.at, rest.len - 1));
    else /* it was cut off, and so may be a password */
        place = STR_NONE;
    if (is_place(place))
        snprintf(text, PROXY_TEXT, "'%.*s' (%.*s)", STR_ARG(place), STR_ARG(name));
    else
        snprintf(text, PROXY_TEXT, "of %.*s", STR_ARG(name));
    return true;
}
