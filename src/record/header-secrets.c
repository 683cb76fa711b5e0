#include "record/header-secrets.h"

#include <strings.h>

#include "base/ascii.h"
#include "base/base64.h"
#include "mcphttp/header-policy.h"
#include "redact/secret-args.h"
#include "redact/secret-rules.h"
#include "redact/url-secrets.h"

enum {
    WORD = 12,    /* letters; less are a plain word */
    LONG = 16,    /* bytes of a value that are a secret where one is expected */
    LONGEST = 24, /* the same where none is expected */
};

/* The set that receives secrets, and under which name. */
struct secret_context {
    struct seen_secrets *seen_secrets;
    struct seen_secrets_refs *source;
    struct str name;
    uint64_t session; /* they are ids of the session with this number; 0: they are not */
};

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool has_letters_and_digits(struct str text)
{
    bool letter = false, digit = false;

    for (size_t i = 0; i < text.len; i++) {
        letter |= ascii_is_letter(text.at[i]);
        digit |= ascii_is_digit(text.at[i]);
    }
    return letter && digit;
}

/* Returns whether a text is a plain word: redacting it everywhere would destroy ordinary
 * text. */
static bool is_word(struct str text)
{
    size_t i = 0;

    while (i < text.len && ascii_is_letter(text.at[i]))
        i++;
    return i == text.len && i < WORD;
}

static void learn(const struct secret_context *to, struct str value)
{
    bool known;

    if (value.len < SEEN_SECRETS_MIN)
        return;
    known = seen_secrets_ref(to->seen_secrets, to->source, value);
    if (!known && secret_rules_is_protocol_word(value))
        return;
    if (to->session)
        seen_secrets_add_session(to->seen_secrets, to->source, to->session, value);
    else if (!known)
        seen_secrets_add(to->seen_secrets, to->source, to->name, value);
}

static void learn_sure(const struct secret_context *to, struct str value)
{
    if (!is_word(value))
        learn(to, value);
}

static void learn_likely(const struct secret_context *to, struct str value)
{
    if (has_letters_and_digits(value) || value.len >= LONG)
        learn(to, value);
}

/* Counts the leading bytes that are digits or in `set`. */
static size_t prefix_len(struct str text, const char *set)
{
    size_t n = 0;

    while (n < text.len && (ascii_is_digit(text.at[n]) || is_one_of(text.at[n], set)))
        n++;
    return n;
}

/* 1.2.3, v18.2.0-rc1: a number with a dot in it, whatever follows. */
static bool is_version(struct str text)
{
    size_t n;

    if (text.len && (text.at[0] | 0x20) == 'v')
        text = str_skip(text, 1);
    n = prefix_len(text, "");
    return n && n <= 4 && n + 1 < text.len && text.at[n] == '.' &&
           ascii_is_digit(text.at[n + 1]);
}

/* 2026-11-16T07:15:00Z */
static bool is_date(struct str text)
{
    return prefix_len(text, "-") >= sizeof "2026-1-1" - 1 &&
           prefix_len(text, "-:.+TZtz") == text.len;
}

/* localhost:8080, 127.0.0.1, [::1]:80, api2.example.com */
static bool is_host(struct str text)
{
    size_t colon = str_find(text, ':'), label = 0, i;

    if (prefix_len(text, "abcdefABCDEF:.[]") == text.len && memchr(text.at, ':', text.len))
        return true;
    if (colon < text.len && prefix_len(str_skip(text, colon + 1), "") + colon + 1 == text.len)
        text = str_n(text.at, colon);
    else if (colon < text.len || !memchr(text.at, '.', text.len))
        return false;
    for (i = text.len; i && ascii_is_letter(text.at[i - 1]); i--)
        label++;
    return str_eq(text, STR("localhost")) || (i && text.at[i - 1] == '.' && label < 8);
}

/* text/plain, node/18.2.0, a/b: letters before the slash. */
static bool is_type_or_product(struct str text)
{
    struct str first = str_n(text.at, str_find(text, '/')), rest;

    if (first.len == text.len)
        return false;
    rest = str_skip(text, first.len + 1);
    for (size_t i = 0; i < first.len; i++)
        if (!ascii_is_letter(first.at[i]) && !is_one_of(first.at[i], "-_"))
            return false;
    return prefix_len(rest, ".") == rest.len || is_version(rest) ||
           str_eq(first, STR("text")) || str_eq(first, STR("application"));
}

static bool is_common_value(struct str text)
{
    return is_version(text) || is_date(text) || is_host(text) || is_type_or_product(text);
}

static void learn_word(const struct secret_context *to, struct str word)
{
    if ((has_letters_and_digits(word) || word.len >= LONGEST) && !is_common_value(word))
        learn(to, word);
}

static struct str unquote(struct str text)
{
    if (text.len > 1 && text.at[0] == '"' && text.at[text.len - 1] == '"')
        return str_n(text.at + 1, text.len - 2);
    return text;
}

/* Returns the value of `name=value`; all of the text if it is no such pair, such as padded
 * base64. */
static struct str value_of(struct str pair)
{
    size_t n = 0;

    while (n < pair.len && (ascii_is_alnum(pair.at[n]) || is_one_of(pair.at[n], "-_.[]*")))
        n++;
    if (!n || n + 1 >= pair.len || pair.at[n] != '=' || pair.at[n + 1] == '=')
        return pair;
    return str_skip(pair, n + 1);
}

/* Learns the secrets of a URL, but not its host. False: it is no URL. */
static bool learn_url(const struct secret_context *to, struct str text)
{
    bool is_url = url_secrets_is_url(text);

    if (is_url)
        header_secrets_learn_url(to->seen_secrets, to->source, 0, text);
    return is_url;
}

/* Learns each word, without the name and quotes around it. */
static void learn_words(const struct secret_context *to, struct str text,
                        void (*each)(const struct secret_context *to, struct str word))
{
    while (text.len) {
        size_t n = 0;
        struct str word, value;

        while (n < text.len && !is_one_of(text.at[n], " \t,;"))
            n++;
        word = str_n(text.at, n);
        value = unquote(value_of(word));
        if (!learn_url(to, value)) {
            each(to, value);
            if (value.len < word.len)
                each(to, word);
        }
        text = str_skip(text, n + 1);
    }
}

/* user:password in base64; the password is the secret. */
static void learn_basic(const struct secret_context *to, struct str token)
{
    struct arena a = { 0 };
    struct str pair;

    if (base64_decode(token, &a, &pair)) {
        learn_likely(to, pair);
        learn_sure(to, str_skip(pair, str_find(pair, ':') + 1));
    }
    arena_release(&a);
}

/* A scheme, then a token or pairs. */
static void learn_authorization(const struct secret_context *to, struct str value)
{
    struct str scheme = str_n(value.at, str_find(value, ' '));
    struct str token = str_trim(str_skip(value, scheme.len));

    if (!token.len)
        token = value;
    learn_likely(to, value);
    learn_sure(to, token);
    learn_words(to, token, learn_likely);
    if (headers_equal_nocase(scheme, STR("basic")))
        learn_basic(to, token);
}

static void learn_credential(const struct secret_context *to, struct str value)
{
    if (learn_url(to, value))
        return;
    learn_sure(to, value);
    learn_words(to, value, learn_likely);
}

bool header_secrets_is_secret_name(struct str name)
{
    static const struct str ends[] = {
        STR_INIT("key"),    STR_INIT("auth"),       STR_INIT("session"),    STR_INIT("sid"),
        STR_INIT("csrf"),   STR_INIT("sessionid"),  STR_INIT("session-id"), STR_INIT("jwt"),
        STR_INIT("xsrf"),   STR_INIT("session_id"), STR_INIT("signature"),  STR_INIT("dpop"),
        STR_INIT("ticket"), STR_INIT("assertion"),  STR_INIT("nonce"),      STR_INIT("cert"),
    };

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (name.len >= ends[i].len &&
            headers_equal_nocase(str_skip(name, name.len - ends[i].len), ends[i]))
            return true;
    return secret_args_is_secret_name(name);
}

/* A value with slashes and no digit is a setting, such as Europe/Berlin. */
static void learn_cookies(const struct secret_context *to, struct str value)
{
    while (value.len) {
        struct str pair = str_trim(str_cut(&value, ';'));
        struct str text = unquote(value_of(pair));

        if (header_secrets_is_secret_name(str_n(pair.at, str_find(pair, '='))))
            learn_sure(to, text);
        else if (has_letters_and_digits(text) || str_find(text, '/') == text.len)
            learn_likely(to, text);
    }
}

/* Skips the attributes: they are no secrets. */
static void learn_set_cookie(const struct secret_context *to, struct str value)
{
    learn_cookies(to, str_n(value.at, str_find(value, ';')));
}

static bool starts_with(struct str name, const char *start)
{
    size_t n = strlen(start);

    return name.len >= n && (name.at[0] | 0x20) == start[0] &&
           strncasecmp(name.at, start, n) == 0;
}

/* Common headers whose values are no secrets, and ids of single requests: prefixes of names, */
static const char *const common_prefixes[] = {
    "accept",      "access-control-",  "content-",     "sec-",  "if-",
    "x-forwarded", "x-ratelimit-",     "ratelimit",    "cf-",   "x-amz-cf-",
    "x-content-",  "x-envoy-",         "x-datadog-",   "x-b3-", "cross-origin-",
    "x-cache",     "proxy-connection", "x-permitted-",
};

/* and whole names. */
static const char *const common_names[] = {
    "age",
    "allow",
    "alt-svc",
    "baggage",
    "cache-control",
    "connection",
    "correlation-id",
    "date",
    "dnt",
    "etag",
    "expect",
    "expires",
    "fly-request-id",
    "forwarded",
    "from",
    "host",
    "http2-settings",
    "keep-alive",
    "last-modified",
    "max-forwards",
    "nel",
    "origin",
    "permissions-policy",
    "pragma",
    "priority",
    "range",
    "referrer-policy",
    "report-to",
    "request-id",
    "retry-after",
    "rndr-id",
    "server",
    "server-timing",
    "strict-transport-security",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "vary",
    "via",
    "warning",
    "x-amzn-requestid",
    "x-amzn-trace-id",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-dns-prefetch-control",
    "x-download-options",
    "x-frame-options",
    "x-powered-by",
    "x-real-ip",
    "x-request-id",
    "x-requested-with",
    "x-runtime",
    "x-served-by",
    "x-trace-id",
    "x-vercel-id",
    "x-xss-protection",
};

static bool is_common_header(struct str name)
{
    for (size_t i = 0; i < sizeof common_prefixes / sizeof common_prefixes[0]; i++)
        if (starts_with(name, common_prefixes[i]))
            return true;
    for (size_t i = 0; i < sizeof common_names / sizeof common_names[0]; i++)
        if (headers_equal_nocase(name, str_z(common_names[i])))
            return true;
    return false;
}

void header_secrets_learn_session(struct seen_secrets *l, struct seen_secrets_refs *g,
                                  uint64_t number, struct str id)
{
    struct secret_context to = { l, g, STR_INIT("Mcp-Session-Id"), number };

    learn_sure(&to, id);
}

static bool holds_url(struct str name)
{
    return headers_equal_nocase(name, STR("location")) ||
           headers_equal_nocase(name, STR("content-location")) ||
           headers_equal_nocase(name, STR("referer"));
}

/* <https://example.com/?page=2>; rel="next", and more of them behind a comma. */
static void learn_links(const struct secret_context *to, struct str value)
{
    while (value.len) {
        value = str_skip(value, str_find(value, '<') + 1);
        header_secrets_learn_url(to->seen_secrets, to->source, 0, str_cut(&value, '>'));
    }
}

static void learn_field(const struct secret_context *to, struct str value)
{
    if (headers_equal_nocase(to->name, STR("authorization")) ||
        headers_equal_nocase(to->name, STR("proxy-authorization")))
        learn_authorization(to, value);
    else if (headers_equal_nocase(to->name, STR("cookie")))
        learn_cookies(to, value);
    else if (headers_equal_nocase(to->name, STR("set-cookie")))
        learn_set_cookie(to, value);
    else if (holds_url(to->name))
        header_secrets_learn_url(to->seen_secrets, to->source, 0, value);
    else if (headers_equal_nocase(to->name, STR("link")))
        learn_links(to, value);
    else if (header_secrets_is_secret_name(to->name))
        learn_credential(to, value);
    else if (!is_common_header(to->name))
        learn_words(to, value, learn_word);
}

void header_secrets_learn(struct seen_secrets *l, struct seen_secrets_refs *g,
                          const struct headers *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct secret_context to = { l, g, f->at[i].name, 0 };

        if (f->at[i].value.len < SEEN_SECRETS_MIN)
            continue;
        if (headers_equal_nocase(to.name, STR("mcp-session-id")))
            header_secrets_learn_session(l, g, 0, f->at[i].value);
        else if (!header_policy_keeps_value(to.name))
            learn_field(&to, f->at[i].value);
    }
}

/* Returns whether a text alternates between letters and digits more often than names do. */
static bool is_random(struct str text)
{
    size_t changes = 0, run = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!ascii_is_alnum(text.at[i])) {
            changes = run = 0;
            continue;
        }
        if (run++ && ascii_is_letter(text.at[i]) != ascii_is_letter(text.at[i - 1]))
            changes++;
        if (run >= SEEN_SECRETS_MIN && changes >= 2)
            return true;
    }
    return false;
}

static void learn_query(struct secret_context *to, struct str query)
{
    struct url_secrets_hit part = { .span = { 0, 0 } };

    while (url_secrets_find_in_query(query, part.span.end, &part)) {
        struct str text = str_n(query.at + part.span.at, part.span.end - part.span.at);

        to->name = part.name.len ? part.name : STR("query");
        if (part.by_name)
            learn_likely(to, text);
        else if (is_random(text))
            learn(to, text);
    }
}

/* Learns every value: any of them may be the session id. */
static void learn_session_ids(const struct secret_context *to, struct str query)
{
    while (query.len) {
        struct str value = str_cut(&query, '&'), name = str_cut(&value, '=');

        learn_sure(to, value.len ? value : name);
    }
}

static void learn_target(struct secret_context *to, struct str path, struct str query)
{
    struct url_secrets_hit part = { .span = { 0, 0 } };

    to->name = STR("path");
    while (url_secrets_find_in_path(path, part.span.end, &part)) {
        struct str text = str_n(path.at + part.span.at, part.span.end - part.span.at);

        if (is_random(text))
            learn(to, text);
    }
    if (to->session)
        learn_session_ids(to, query);
    else
        learn_query(to, query);
}

void header_secrets_learn_target(struct seen_secrets *l, struct seen_secrets_refs *g,
                                 uint64_t session, struct str path, struct str query)
{
    struct secret_context to = { l, g, STR_NONE, session };

    learn_target(&to, path, query);
}

void header_secrets_learn_url(struct seen_secrets *l, struct seen_secrets_refs *g,
                              uint64_t session, struct str text)
{
    struct secret_context to = { l, g, STR_NONE, session };
    size_t query;

    if (url_secrets_is_url(text)) {
        text = str_skip(text, str_find(text, ':') + sizeof "://" - 1);
        while (text.len && !is_one_of(text.at[0], "/?"))
            text = str_skip(text, 1);
    }
    query = str_find(text, '?');
    learn_target(&to, str_n(text.at, query), str_skip(text, query + 1));
}
