#include "trace/secret-flag.h"

#include "base/ascii.h"

enum { NAME_LONGEST = 64 };

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

/* A name in lower case and without what parts its words. */
struct name {
    char text[NAME_LONGEST];
    size_t len; /* 0: it is none */
};

static struct name normalise(struct str word)
{
    struct name n = { .len = 0 };

    if (word.len > NAME_LONGEST)
        return n;
    for (size_t i = 0; i < word.len; i++)
        if (ascii_is_alnum(word.at[i]))
            n.text[n.len++] = ascii_lower(word.at[i]);
        else if (!is_name_char(word.at[i]))
            return (struct name){ .len = 0 };
    return n;
}

enum trust {
    NONE,
    LOOKS, /* of these, as options, just any word may be given */
    MAYBE, /* of these a file may be given just as well */
    SURE,
};

bool secret_flag_looks(struct str value)
{
    enum { SHORTEST = 7, LONG = 20 };
    bool letter = false, digit = false;

    for (size_t i = 0; i < value.len; i++) {
        letter |= ascii_is_letter(value.at[i]);
        digit |= ascii_is_digit(value.at[i]);
    }
    return value.len >= LONG || (value.len >= SHORTEST && letter && digit);
}

static enum trust names_secret(struct str word)
{
    static const struct str ends[] = {
        STR_INIT("apikey"),  STR_INIT("accesskey"),  STR_INIT("secretkey"),
        STR_INIT("token"),   STR_INIT("secret"),     STR_INIT("password"),
        STR_INIT("passwd"),  STR_INIT("passphrase"), STR_INIT("privatekey"),
        STR_INIT("authkey"), STR_INIT("credential"), STR_INIT("credentials"),
        STR_INIT("pwd"),     STR_INIT("bearer"),     STR_INIT("authorization"),
        STR_INIT("cookie"),
    };
    static const struct str vague[] = { STR_INIT("key"), STR_INIT("auth") };
    static const struct str whole[] = { STR_INIT("pass"), STR_INIT("jwt"), STR_INIT("pat"),
                                        STR_INIT("pw") };
    struct name n = normalise(word);

    for (size_t i = 0; i < sizeof vague / sizeof vague[0]; i++)
        if (str_eq(str_n(n.text, n.len), vague[i]))
            return word.at[0] == '-' ? LOOKS : MAYBE;

    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (str_eq(str_n(n.text, n.len), whole[i]))
            return MAYBE;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (str_ends(str_n(n.text, n.len), ends[i]))
            return SURE;
    return NONE;
}

bool secret_flag_names(struct str name)
{
    return name.len && names_secret(name) != NONE;
}

static bool is_file(struct str text)
{
    static const struct str ends[] = { STR_INIT(".key"), STR_INIT(".pem"), STR_INIT(".crt"),
                                       STR_INIT(".cer"), STR_INIT(".p12"), STR_INIT(".json"),
                                       STR_INIT(".txt") };

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (str_ends(text, ends[i]))
            return true;
    return text.len && strchr("/~.", text.at[0]);
}

static bool is_trusted(enum trust trust, struct str value)
{
    return trust == SURE || (trust == MAYBE && !is_file(value)) ||
           (trust == LOOKS && !is_file(value) && secret_flag_looks(value));
}

static size_t skip_blanks(struct str word, size_t at)
{
    while (at < word.len && word.at[at] == ' ')
        at++;
    return at;
}

/* What ends a value that does not go up to the end of the word. */
static bool ends_value(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'&;,#", c);
}

/* A name in a word, and what stands around it. */
struct place {
    size_t at, end; /* of the name */
    size_t value;   /* where what follows it starts */
    char sign;      /* what parts them: = or :, or a space */
};

/* All of the rest if the name is the first of its word or assigned itself (--env=TOKEN=K);
 * of a header all of it. */
static size_t value_end(struct str word, const struct place *p)
{
    char before = p->at ? word.at[p->at - 1] : '=';
    size_t i = p->value;

    if (i && (word.at[i - 1] == '"' || word.at[i - 1] == '\'')) {
        while (i < word.len && word.at[i] != word.at[p->value - 1])
            i++;
        return i;
    }
    if (p->sign != ' ' && (before == '=' || (p->sign == ':' && !strchr("?&{,", before))))
        return word.len;
    while (i < word.len && !ends_value(word.at[i]))
        i++;
    return i;
}

/* -x, --long and --long=value, but not what only starts with a dash. */
static bool is_option(struct str word)
{
    size_t i = 2;

    if (word.len < 2 || word.at[0] != '-')
        return false;
    if (word.at[1] != '-')
        return word.len == 2;
    while (i < word.len && (ascii_is_lower(word.at[i]) || word.at[i] == '-'))
        i++;
    return i == word.len || word.at[i] == '=';
}

static struct str first_word(struct str text)
{
    return str_n(text.at, str_find(text, ' '));
}

/* What parts the name from its value: a sign, or blanks if the name is an option's. */
static bool find_value(struct str word, struct place *p)
{
    size_t i = p->end;

    if (i < word.len && (word.at[i] == '"' || word.at[i] == '\''))
        i++;
    i = skip_blanks(word, i);
    if (i == word.len)
        return false;
    p->sign = word.at[i] == '=' || word.at[i] == ':' ? word.at[i] : ' ';
    if (p->sign == ' ' && (word.at[p->at] != '-' || i == p->end))
        return false;
    if (p->sign == ' ' && is_option(first_word(str_skip(word, i))))
        return false;
    i = p->sign == ' ' ? i : skip_blanks(word, i + 1);
    if (i < word.len && (word.at[i] == '"' || word.at[i] == '\''))
        i++;
    p->value = i;
    return true;
}

static bool is_host(struct str word, const struct place *p)
{
    return p->sign == ':' && p->at && word.at[p->at - 1] == '/';
}

bool secret_flag_part(struct str word, size_t from, struct unravel_span *out)
{
    struct place p = { .end = from };

    for (p.at = from; p.at < word.len; p.at = p.end + 1) {
        enum trust trust;

        for (p.end = p.at; p.end < word.len && is_name_char(word.at[p.end]);)
            p.end++;
        if (p.end == p.at || !find_value(word, &p) || is_host(word, &p))
            continue;
        trust = names_secret(str_n(word.at + p.at, p.end - p.at));
        if (trust == NONE)
            continue;
        *out = (struct unravel_span){ p.value, value_end(word, &p) };
        if (out->end > out->at &&
            is_trusted(trust, str_n(word.at + out->at, out->end - out->at)))
            return true;
    }
    return false;
}

/* To most programs -p is a port, a package or a project. */
bool secret_flag_password(struct str program, struct str before, struct str word)
{
    static const struct str programs[] = { STR_INIT("sshpass"), STR_INIT("mysql"),
                                           STR_INIT("mariadb"), STR_INIT("mongosh") };
    const char *slash = program.len ? memrchr(program.at, '/', program.len) : NULL;

    if (slash)
        program = str_skip(program, (size_t)(slash - program.at) + 1);
    if (!str_eq(before, STR("-p")) || !word.len || is_option(word))
        return false;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (str_eq(program, programs[i]))
            return true;
    return false;
}

bool secret_flag_next(struct str before, struct str word, struct unravel_span *out)
{
    size_t colon = str_find(word, ':');

    *out = (struct unravel_span){ 0, word.len };
    if (!before.len || before.at[0] != '-' || !word.len || is_option(word))
        return false;
    if (str_eq(before, STR("-u")) || str_eq(before, STR("--user"))) {
        out->at = colon + 1;
        return colon + 1 < word.len && !ascii_is_digit(word.at[colon + 1]);
    }
    return is_trusted(names_secret(before), word);
}
