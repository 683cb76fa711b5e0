#include "trace/secret-flag.h"

enum { NAME_LONGEST = 64 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* In lower case and without what parts its words; its length, or 0 if it is no name. */
static size_t normalise(struct str name, char out[NAME_LONGEST])
{
    size_t n = 0;

    if (name.len > NAME_LONGEST)
        return 0;
    for (size_t i = 0; i < name.len; i++) {
        char c =
            name.at[i] >= 'A' && name.at[i] <= 'Z' ? (char)(name.at[i] | 0x20) : name.at[i];
        if (is_letter(c))
            out[n++] = c;
        else if (!strchr("-_.", c))
            return 0;
    }
    return n;
}

static bool names_secret(struct str name)
{
    static const struct str ends[] = {
        STR_INIT("apikey"),  STR_INIT("accesskey"),  STR_INIT("secretkey"),
        STR_INIT("token"),   STR_INIT("secret"),     STR_INIT("password"),
        STR_INIT("passwd"),  STR_INIT("passphrase"), STR_INIT("privatekey"),
        STR_INIT("authkey"), STR_INIT("credential"), STR_INIT("credentials"),
        STR_INIT("pwd"),     STR_INIT("bearer"),     STR_INIT("authorization"),
    };
    char text[NAME_LONGEST];
    size_t len = normalise(name, text);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (str_ends(str_n(text, len), ends[i]))
            return true;
    return false;
}

bool secret_flag(struct str word, size_t *at)
{
    size_t name = 0;

    while (name < word.len && word.at[name] != '=' && word.at[name] != ':')
        name++;
    if (!names_secret(str_n(word.at, name)))
        return false;
    *at = name;
    if (name == word.len)
        return word.at[0] == '-';
    for (++*at; *at < word.len && word.at[*at] == ' '; ++*at)
        ;
    return *at < word.len;
}
