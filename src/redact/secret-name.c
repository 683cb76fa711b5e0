#include "redact/secret-name.h"

#include "base/ascii.h"
#include "redact/secret-args.h"

static void normalize_name(struct str name, struct secret_name *n)
{
    n->len = 0;
    if (name.len > SECRET_NAME_MAX)
        return;
    for (size_t i = 0; i < name.len; i++)
        if (ascii_is_alnum(name.at[i]))
            n->text[n->len++] = ascii_lower(name.at[i]);
}

struct secret_name secret_name_normalize(struct str name)
{
    struct secret_name n;

    normalize_name(name, &n);
    return n;
}

static bool is_one_of(struct str name, const struct str *names)
{
    for (; names->len; names++)
        if (str_eq(name, *names))
            return true;
    return false;
}

/* Compares the last characters first: most names end in none of them. */
static bool ends_in_one_of(struct str name, const struct str *ends)
{
    const char last = name.len ? name.at[name.len - 1] : '\0';

    for (; ends->len; ends++)
        if (ends->at[ends->len - 1] == last && str_ends(name, *ends))
            return true;
    return false;
}

#define S(text) STR_INIT(text)

/* Returns whether a "token" is a cursor or belongs to a tokenizer. */
static bool is_non_secret_token(struct str name)
{
    static const struct str words[] = {
        S("progresstoken"),     S("pagetoken"),   S("nexttoken"), S("previoustoken"),
        S("continuationtoken"), S("synctoken"),   S("prevtoken"), S("cursortoken"),
        S("cancellationtoken"), S("canceltoken"), S(""),
    };
    static const struct str whole[] = {
        S("bostoken"),  S("eostoken"),   S("padtoken"),  S("unktoken"),
        S("septoken"),  S("clstoken"),   S("masktoken"), S("starttoken"),
        S("stoptoken"), S("firsttoken"), S("endtoken"),  S(""),
    };

    return ends_in_one_of(name, words) || is_one_of(name, whole);
}

static bool is_secret_name(struct str name)
{
    static const struct str words[] = {
        S("password"),   S("passwd"),        S("passphrase"),      S("passcode"),
        S("secret"),     S("token"),         S("cookie"),          S("cookies"),
        S("credential"), S("credentials"),   S("authorization"),   S("apikey"),
        S("accesskey"),  S("secretkey"),     S("privatekey"),      S("authkey"),
        S("signingkey"), S("encryptionkey"), S("masterkey"),       S("sshkey"),
        S("sessionkey"), S("sharedkey"),     S("accountkey"),      S("storagekey"),
        S("servicekey"), S("hmackey"),       S("subscriptionkey"), S("licensekey"),
        S(""),
    };
    static const struct str whole[] = { S("pwd"),      S("dbpwd"),  S("mysqlpwd"),
                                        S("pass"),     S("dbpass"), S("jwt"),
                                        S("xauthkey"), S("bearer"), S("") };

    return (ends_in_one_of(name, words) && !is_non_secret_token(name)) ||
           is_one_of(name, whole);
}

bool secret_name_is_secret(struct str name)
{
    struct secret_name n = secret_name_normalize(name);

    return is_secret_name(str_n(n.text, n.len));
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* Quoted names may have more characters: "//registry/:_authToken". */
static bool is_quoted_name_char(char c)
{
    return is_name_char(c) || (c && strchr(":/@$", c));
}

static size_t name_start(struct str text, size_t end, bool (*is_char)(char c))
{
    size_t at = end;

    while (at && end - at <= SECRET_NAME_MAX && is_char(text.at[at - 1]))
        at--;
    return at;
}

/* A name and its value. */
struct name_value_pair {
    struct str text;
    struct str name;
    struct secret_name normalized; /* `name` normalized */
    bool quoted;                   /* the name is quoted */
    char sign;                     /* '=' or ':' */
    bool has_blanks;               /* there are blanks around the sign */
    size_t at;                     /* where the value starts, its quote included */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(char c)
{
    return is_blank(c) || c == '\r' || c == '\n';
}

static size_t skip_spaces(struct str text, size_t at, bool (*is)(char c))
{
    while (at < text.len && is(text.at[at]))
        at++;
    return at;
}

static bool is_char_at(struct str text, size_t at, char c)
{
    return at < text.len && text.at[at] == c;
}

/* Reads = => := or : and finds the value; == and :: and "://" are not assignments. */
static bool read_sign(struct name_value_pair *p, size_t i)
{
    bool (*is)(char c) = p->quoted ? is_space : is_blank;
    size_t sign = skip_spaces(p->text, i, is), at;

    if (!is_char_at(p->text, sign, '=') && !is_char_at(p->text, sign, ':'))
        return false;
    p->sign = p->text.at[sign];
    at = sign + 1;
    if (p->sign == '=' && is_char_at(p->text, at, '>'))
        at++;
    else if (p->sign == ':' && is_char_at(p->text, at, '='))
        at++;
    else if (is_char_at(p->text, at, '=') || is_char_at(p->text, at, ':') ||
             is_char_at(p->text, at, '/'))
        return false;
    p->at = skip_spaces(p->text, at, is);
    p->has_blanks = sign > i || p->at > at;
    return p->at < p->text.len;
}

static bool read_name(struct name_value_pair *p, size_t end)
{
    size_t start;

    p->quoted = end < p->text.len && is_quote(p->text.at[end]);
    if (!read_sign(p, end + p->quoted))
        return false;
    start = name_start(p->text, end, p->quoted ? is_quoted_name_char : is_name_char);
    p->name = str_n(p->text.at + start, end - start);
    return !p->quoted || (start && p->text.at[start - 1] == p->text.at[end]);
}

/* Returns the end of quoted text: its quote, or the end of the JSON string or text around it.
 */
static size_t quoted_end(struct str text, size_t at, char quote)
{
    while (at < text.len && text.at[at] != quote && text.at[at] != '"')
        at += text.at[at] == '\\' ? 2 : 1;
    return at < text.len ? at : text.len;
}

static bool is_variable(struct str name)
{
    size_t i = 0;

    while (i < name.len &&
           (ascii_is_upper(name.at[i]) || ascii_is_digit(name.at[i]) || name.at[i] == '_'))
        i++;
    return i && i == name.len;
}

/* Returns whether a value is a template or was redacted before. */
static bool is_placeholder(struct str value)
{
    static const struct str templates[][2] = {
        { S("${"), S("}") }, { S("$("), S(")") },  { S("{{"), S("}}") },
        { S("<"), S(">") },  { S("%("), S(")s") },
    };
    size_t stars = 0;

    while (stars < value.len && value.at[stars] == '*')
        stars++;
    if (stars == value.len)
        return true;
    if (str_starts(value, STR("[REDACTED")) && str_find(value, ']') + 1 == value.len)
        return true;
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        if (str_starts(value, templates[i][0]) && str_ends(value, templates[i][1]))
            return true;
    return value.at[0] == '$' && is_variable(str_skip(value, 1));
}

/* Sets the value. Returns false if it is empty or a placeholder. */
static bool set_value(const struct name_value_pair *p, size_t at, size_t end, bool member,
                      struct secret_name_value *out)
{
    *out = (struct secret_name_value){ p->name, at, end, member };
    return end > at && !is_placeholder(str_n(p->text.at + at, end - at));
}

/* Matches an array of strings, from its first string to its last. Returns false if all of them
 * are placeholders. */
static bool match_array(const struct name_value_pair *p, struct secret_name_value *out)
{
    size_t at = skip_spaces(p->text, p->at + 1, is_space), first = at, end = at;
    bool any = false;

    while (at < p->text.len && is_quote(p->text.at[at])) {
        end = quoted_end(p->text, at + 1, p->text.at[at]);
        any = any || !is_placeholder(str_n(p->text.at + at + 1, end - at - 1));
        at = skip_spaces(p->text, end + 1, is_space);
        if (!is_char_at(p->text, at, ','))
            break;
        at = skip_spaces(p->text, at + 1, is_space);
    }
    return any && is_char_at(p->text, at, ']') && set_value(p, first + 1, end, true, out);
}

static bool match_quoted(const struct name_value_pair *p, struct secret_name_value *out)
{
    enum { SHORTEST = 4 }; /* if the name is not quoted */
    size_t end = quoted_end(p->text, p->at + 1, p->text.at[p->at]);

    if (!p->quoted && end - p->at <= SHORTEST)
        return false;
    return set_value(p, p->at + 1, end, p->quoted, out);
}

enum { ENDS_LINE = 1, ENDS_WORD = 2, MAY_END = 4, ENDS_BOTH = ENDS_LINE | ENDS_WORD };

static const unsigned char end_classes[256] = {
    ['\0' ... '\x1f'] = ENDS_BOTH,
    [' '] = ENDS_WORD,
    ['\x7f'] = ENDS_BOTH,
    ['"'] = ENDS_BOTH,
    ['\''] = ENDS_BOTH,
    ['`'] = ENDS_BOTH,
    ['<'] = ENDS_BOTH,
    ['>'] = ENDS_BOTH,
    ['&'] = ENDS_WORD,
    [';'] = ENDS_WORD,
    ['\\'] = MAY_END,
};

/* Returns whether the backslash starts an escape that ends a text. */
static bool is_ending_escape(struct str text, size_t at)
{
    return at + 1 < text.len && text.at[at + 1] && strchr("nrt\"'u", text.at[at + 1]);
}

/* Returns the end of a word without quotes; with `line`, of a line. */
static size_t plain_end(struct str text, size_t at, bool line)
{
    const unsigned end = line ? ENDS_LINE : ENDS_WORD;

    for (; at < text.len; at++) {
        unsigned its = end_classes[(unsigned char)text.at[at]];

        if (its & end || (its & MAY_END && is_ending_escape(text, at)))
            return at;
    }
    return at;
}

/* Returns the end of a word of certain characters. These never separate a name from its value,
 * so no text is scanned twice for two names. */
static size_t word_end(struct str text, size_t at, bool (*is)(char c))
{
    while (at < text.len && is(text.at[at]))
        at++;
    return at;
}

static bool is_code_char(char c)
{
    return ascii_is_letter(c) || c == '_' || c == '.';
}

static bool is_number_char(char c)
{
    return ascii_is_digit(c) || c == '.';
}

static bool is_scheme_char(char c)
{
    return ascii_is_letter(c) || c == '-';
}

static bool ends_plain(struct str text, size_t at)
{
    return plain_end(str_n(text.at, text.len - at < 2 ? text.len : at + 2), at, false) == at;
}

/* Returns whether a value is a variable, not a secret: self.token, config.db_password. */
static bool is_secret_variable(struct str value)
{
    struct str member = value;
    bool dotted = false;

    while (str_find(member, '.') < member.len) {
        str_cut(&member, '.');
        dotted = true;
    }
    return dotted && member.len && secret_name_is_secret(member);
}

/* Returns whether an argument of source code ends here: "a, b", "a)", "a[0]". The comma in
 * "password=a,ssl=true", a connection string, is none. */
static bool ends_argument(struct str text, size_t at)
{
    if (at >= text.len || !text.at[at] || !strchr("()[]{},", text.at[at]))
        return false;
    return text.at[at] != ',' || at + 1 == text.len || !ascii_is_alnum(text.at[at + 1]);
}

/* Returns whether the value is source code: token=self.token, token=get(), token=None. */
static bool is_code(struct str text, size_t at)
{
    static const struct str words[] = { S("none"), S("null"),  S("nil"),    S("undefined"),
                                        S("true"), S("false"), S("string"), S("") };
    size_t end = word_end(text, at, is_code_char);
    struct secret_name word = secret_name_normalize(str_n(text.at + at, end - at));

    if (ends_argument(text, end))
        return true;
    return ends_plain(text, end) && (is_one_of(str_n(word.text, word.len), words) ||
                                     is_secret_variable(str_n(text.at + at, end - at)));
}

static bool is_url(struct str text, size_t at)
{
    return str_starts(str_skip(text, word_end(text, at, is_scheme_char)), STR("://"));
}

static bool name_ends_in(const struct name_value_pair *p, struct str word)
{
    return str_ends(str_n(p->normalized.text, p->normalized.len), word);
}

static bool match_assigned(const struct name_value_pair *p, struct secret_name_value *out)
{
    enum { SHORTEST = 4 };
    size_t end;

    if (is_code(p->text, p->at) ||
        (ends_plain(p->text, word_end(p->text, p->at, is_number_char)) &&
         !name_ends_in(p, STR("password"))))
        return false;
    end = plain_end(p->text, p->at, false);
    if (end - p->at < SHORTEST ||
        (p->has_blanks && !secret_args_looks_secret(str_n(p->text.at + p->at, end - p->at))))
        return false;
    return set_value(p, p->at, end, false, out);
}

/* Returns the position after the scheme of an Authorization header. */
static size_t skip_auth_scheme(const struct name_value_pair *p)
{
    enum { LONGEST = 16 };
    size_t end = word_end(p->text, p->at, is_scheme_char);

    return end > p->at && end - p->at <= LONGEST && is_char_at(p->text, end, ' ') ? end + 1
                                                                                  : p->at;
}

static bool match_header(const struct name_value_pair *p, struct secret_name_value *out)
{
    size_t at = p->at, end;

    if (name_ends_in(p, STR("cookie")))
        return is_char_at(p->text, word_end(p->text, at, is_name_char), '=') &&
               set_value(p, at, plain_end(p->text, at, true), false, out);
    if (name_ends_in(p, STR("authorization")))
        at = skip_auth_scheme(p);
    if (is_url(p->text, at) || is_code(p->text, at))
        return false;
    end = plain_end(p->text, at, false);
    return secret_args_looks_secret(str_n(p->text.at + at, end - at)) &&
           set_value(p, at, end, false, out);
}

bool secret_name_find_value(struct str text, size_t end, bool any,
                            struct secret_name_value *out)
{
    struct name_value_pair p;

    p.text = text;
    out->end = end;
    if (!read_name(&p, end) || (any && !p.quoted))
        return false;
    normalize_name(p.name, &p.normalized);
    if (!any && !is_secret_name(str_n(p.normalized.text, p.normalized.len)))
        return false;
    if (is_quote(text.at[p.at]))
        return match_quoted(&p, out);
    if (p.quoted)
        return text.at[p.at] == '[' && match_array(&p, out);
    return p.sign == '=' ? match_assigned(&p, out) : match_header(&p, out);
}
