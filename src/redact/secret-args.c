#include "redact/secret-args.h"

#include "base/ascii.h"

enum { NAME_LONGEST = 64 };

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

/* A name in lower case without separators. */
struct normal_name {
    char text[NAME_LONGEST];
    size_t len; /* 0: not a name */
};

static struct normal_name normalize_name(struct str word)
{
    struct normal_name n = { .len = 0 };

    if (word.len > NAME_LONGEST)
        return n;
    for (size_t i = 0; i < word.len; i++)
        if (ascii_is_alnum(word.at[i]))
            n.text[n.len++] = ascii_lower(word.at[i]);
        else if (!is_name_char(word.at[i]))
            return (struct normal_name){ .len = 0 };
    return n;
}

enum name_strength {
    NOT_SECRET,
    IF_LOOKS_SECRET, /* such options also take other words */
    UNLESS_FILE,     /* such names also take a file */
    ALWAYS_SECRET,
};

bool secret_args_looks_secret(struct str value)
{
    enum { SHORTEST = 7, LONG = 20 };
    bool letter = false, digit = false;

    for (size_t i = 0; i < value.len; i++) {
        letter |= ascii_is_letter(value.at[i]);
        digit |= ascii_is_digit(value.at[i]);
    }
    return value.len >= LONG || (value.len >= SHORTEST && letter && digit);
}

static enum name_strength name_strength(struct str word)
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
    struct normal_name n = normalize_name(word);

    for (size_t i = 0; i < sizeof vague / sizeof vague[0]; i++)
        if (str_eq(str_n(n.text, n.len), vague[i]))
            return word.at[0] == '-' ? IF_LOOKS_SECRET : UNLESS_FILE;

    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (str_eq(str_n(n.text, n.len), whole[i]))
            return UNLESS_FILE;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (str_ends(str_n(n.text, n.len), ends[i]))
            return ALWAYS_SECRET;
    return NOT_SECRET;
}

bool secret_args_is_secret_name(struct str name)
{
    return name.len && name_strength(name) != NOT_SECRET;
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

static bool is_secret_value(enum name_strength trust, struct str value)
{
    return trust == ALWAYS_SECRET || (trust == UNLESS_FILE && !is_file(value)) ||
           (trust == IF_LOOKS_SECRET && !is_file(value) && secret_args_looks_secret(value));
}

static size_t skip_blanks(struct str word, size_t at)
{
    while (at < word.len && word.at[at] == ' ')
        at++;
    return at;
}

/* Returns whether a character ends a value inside of a word. */
static bool ends_value(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'&;,#", c);
}

/* A name in a word and its value. */
struct named_value {
    size_t at, end; /* of the name */
    size_t value;   /* start of the value */
    char sign;      /* between them: =, : or a space */
};

/* Returns the end of a value: its quote, or the end of the word if the name starts the word, is
 * itself assigned (--env=TOKEN=K) or is a header, else the next separator. */
static size_t value_end(struct str word, const struct named_value *p)
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

/* Returns whether a word is -x, --long or --long=value; other words with a dash are values. */
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

/* Finds the value after = or :, or after blanks if the name is an option. */
static bool find_value(struct str word, struct named_value *p)
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

static bool is_host(struct str word, const struct named_value *p)
{
    return p->sign == ':' && p->at && word.at[p->at - 1] == '/';
}

bool secret_args_find_in_word(struct str word, size_t from, struct unescape_span *out)
{
    struct named_value p = { .end = from };

    for (p.at = from; p.at < word.len; p.at = p.end + 1) {
        enum name_strength trust;

        for (p.end = p.at; p.end < word.len && is_name_char(word.at[p.end]);)
            p.end++;
        if (p.end == p.at || !find_value(word, &p) || is_host(word, &p))
            continue;
        trust = name_strength(str_n(word.at + p.at, p.end - p.at));
        if (trust == NOT_SECRET)
            continue;
        *out = (struct unescape_span){ p.value, value_end(word, &p) };
        if (out->end > out->at &&
            is_secret_value(trust, str_n(word.at + out->at, out->end - out->at)))
            return true;
    }
    return false;
}

/* For most programs -p is a port, a package or a project. */
bool secret_args_is_password(struct str program, struct str before, struct str word)
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

bool secret_args_find_after(struct str before, struct str word, struct unescape_span *out)
{
    size_t colon = str_find(word, ':');

    *out = (struct unescape_span){ 0, word.len };
    if (!before.len || before.at[0] != '-' || !word.len || is_option(word))
        return false;
    if (str_eq(before, STR("-u")) || str_eq(before, STR("--user"))) {
        out->at = colon + 1;
        return colon + 1 < word.len && !ascii_is_digit(word.at[colon + 1]);
    }
    return is_secret_value(name_strength(before), word);
}
