#include "redact/credentials.h"

#include "base/err.h"
#include "redact/secret-name.h"

#define ALNUM CREDENTIAL_ALNUM
#define WORD CREDENTIAL_WORD
#define URL64 CREDENTIAL_URL64
#define HEX CREDENTIAL_HEX
#define UPPER_DIGIT (CREDENTIAL_UPPER | CREDENTIAL_DIGIT)
#define MIXED (CREDENTIAL_UPPER | CREDENTIAL_LOWER | CREDENTIAL_DIGIT)

#define ROW(name_, literal_, chars_, min_, max_)                                               \
    .name = (name_), .literal = STR_INIT(literal_), .chars = (chars_), .min = (min_),          \
    .max = (max_)

/* The literal and a run of characters. */
#define RUN(...)                                                                               \
    {                                                                                          \
        ROW(__VA_ARGS__)                                                                       \
    }

/* The same for a literal that cannot be part of a word. */
#define SURE(...)                                                                              \
    {                                                                                          \
        ROW(__VA_ARGS__), .inside_words = true                                                 \
    }

/* The same for a literal that looks like a word: the run must have upper case, lower case and
 * digits. */
#define WILD(...)                                                                              \
    {                                                                                          \
        ROW(__VA_ARGS__), .required = MIXED                                                    \
    }

/* The run after the literal is secret, the literal is not. */
#define AFTER(...)                                                                             \
    {                                                                                          \
        ROW(__VA_ARGS__), .required = MIXED, .exclude_literal = true                           \
    }

/* The literal is a name, in any case, to which the run is assigned. */
#define ASSIGNED(...)                                                                          \
    {                                                                                          \
        ROW(__VA_ARGS__), .kind = CREDENTIAL_ASSIGNED, .required = CREDENTIAL_DIGIT,           \
                          .exclude_literal = true, .any_case = true                            \
    }

/* `before_` characters of the run precede the literal. */
#define AROUND(before_, ...)                                                                   \
    {                                                                                          \
        ROW(__VA_ARGS__), .chars_before = (before_), .inside_words = true                      \
    }

/* The literal starts the last word of a name. */
#define NAMED(literal_)                                                                        \
    {                                                                                          \
        .name = "named-secret", .literal = STR_INIT(literal_), .kind = CREDENTIAL_NAMED,       \
        .any_case = true, .exclude_literal = true                                              \
    }

#define AZURE(digit) AROUND(3, "azure-client-secret", digit "Q~", AZURE_CHARS, 31, 34)
#define AZURE_CHARS (URL64 | CREDENTIAL_DOT | CREDENTIAL_TILDE)
#define TWILIO(digit) RUN("twilio-key", "SK" digit, HEX, 31, 31)

/* A token starts with the base64 of a decimal id: `two` stands for its first digit, one of ten
 * characters completes the second. */
#define DISCORD(three)                                                                         \
    {                                                                                          \
        .name = "discord-token", .literal = STR_INIT(three), .kind = CREDENTIAL_DISCORD        \
    }
#define DISCORD_TEN(two)                                                                       \
    DISCORD(two "A"), DISCORD(two "E"), DISCORD(two "I"), DISCORD(two "M"), DISCORD(two "Q"),  \
        DISCORD(two "U"), DISCORD(two "Y"), DISCORD(two "c"), DISCORD(two "g"),                \
        DISCORD(two "k")

const struct credential credential_rows[] = {
    RUN("aws-access-key", "AKIA", UPPER_DIGIT, 16, 16),
    RUN("aws-access-key", "ASIA", UPPER_DIGIT, 16, 16),
    ASSIGNED("aws-secret-key", "secret_access_key", ALNUM | CREDENTIAL_BASE64, 40, 40),
    ASSIGNED("aws-secret-key", "secretaccesskey", ALNUM | CREDENTIAL_BASE64, 40, 40),
    AFTER("aws-session-token", "X-Amz-Security-Token=", URL64 | CREDENTIAL_BASE64, 100, 0),
    SURE("aws-session-token", "IQoJb3JpZ2luX2Vj", ALNUM | CREDENTIAL_BASE64, 80, 0),
    SURE("aws-session-token", "FwoGZXIvYXdz", ALNUM | CREDENTIAL_BASE64, 80, 0),
    SURE("aws-session-token", "FQoGZXIvYXdz", ALNUM | CREDENTIAL_BASE64, 80, 0),
    { ROW("aws-signature", "X-Amz-Signature=", HEX, 64, 64), .exclude_literal = true },
    SURE("github-token", "ghp_", ALNUM, 36, 255),
    SURE("github-token", "gho_", ALNUM, 36, 255),
    SURE("github-token", "ghu_", ALNUM, 36, 255),
    SURE("github-token", "ghs_", ALNUM, 36, 255),
    SURE("github-token", "ghr_", ALNUM, 36, 255),
    SURE("github-token", "github_pat_", WORD, 22, 255),
    SURE("gitlab-token", "glpat-", URL64 | CREDENTIAL_DOT, 20, 0),
    RUN("gitlab-token", "gldt-", URL64, 20, 0),
    RUN("gitlab-token", "glrt-", URL64 | CREDENTIAL_DOT, 20, 0),
    RUN("gitlab-token", "glcbt-", URL64, 20, 0),
    RUN("gitlab-token", "glptt-", URL64, 20, 0),
    RUN("gitlab-token", "glsoat-", URL64, 20, 0),
    RUN("gitlab-token", "glft-", URL64, 20, 0),
    RUN("gitlab-token", "gloas-", URL64, 20, 0),
    RUN("gitlab-token", "glagent-", URL64, 20, 0),
    SURE("slack-token", "xoxb-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxp-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxa-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxr-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxs-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxc-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxd-", URL64 | CREDENTIAL_BASE64, 20, 0),
    SURE("slack-token", "xoxe-", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xoxe.xox", ALNUM | CREDENTIAL_DASH, 20, 0),
    SURE("slack-token", "xapp-", ALNUM | CREDENTIAL_DASH, 30, 0),
    SURE("slack-webhook", "hooks.slack.com/services/", ALNUM | CREDENTIAL_BASE64, 30, 0),
    SURE("discord-webhook", "discord.com/api/webhooks/", URL64 | CREDENTIAL_BASE64, 60, 0),
    SURE("discord-webhook", "discordapp.com/api/webhooks/", URL64 | CREDENTIAL_BASE64, 60, 0),
    DISCORD_TEN("MT"),
    DISCORD_TEN("Mj"),
    DISCORD_TEN("Mz"),
    DISCORD_TEN("ND"),
    DISCORD_TEN("NT"),
    DISCORD_TEN("Nj"),
    DISCORD_TEN("Nz"),
    DISCORD_TEN("OD"),
    DISCORD_TEN("OT"),
    SURE("stripe-key", "sk_live_", ALNUM, 16, 0),
    SURE("stripe-key", "rk_live_", ALNUM, 16, 0),
    SURE("stripe-key", "sk_test_", ALNUM, 16, 0),
    SURE("stripe-key", "rk_test_", ALNUM, 16, 0),
    SURE("stripe-key", "sk_org_live_", ALNUM, 16, 0),
    SURE("stripe-key", "sk_org_test_", ALNUM, 16, 0),
    RUN("stripe-key", "whsec_", ALNUM | CREDENTIAL_BASE64, 24, 0),
    SURE("anthropic-key", "sk-ant-", URL64, 20, 0),
    RUN("openai-key", "sk-proj-", URL64, 20, 0),
    RUN("openai-key", "sk-svcacct-", URL64, 20, 0),
    RUN("openai-key", "sk-admin-", URL64, 20, 0),
    RUN("langfuse-key", "sk-lf-", HEX | CREDENTIAL_DASH, 36, 36),
    RUN("openrouter-key", "sk-or-v1-", HEX, 64, 64),
    RUN("secret-key", "sk-", ALNUM, 20, 0),
    WILD("secret-key", "sk-", URL64, 32, 0),
    RUN("elevenlabs-key", "sk_", HEX, 48, 48),
    RUN("google-key", "AIza", URL64, 35, 35),
    RUN("google-token", "ya29.", URL64, 20, 0),
    WILD("google-token", "1//0", URL64, 40, 0),
    RUN("google-client-secret", "GOCSPX-", URL64, 28, 28),
    { ROW("google-signature", "X-Goog-Signature=", HEX, 128, 1024), .exclude_literal = true },
    SURE("azure-storage-key", "AccountKey=", ALNUM | CREDENTIAL_BASE64, 80, 96),
    SURE("azure-storage-key", "SharedAccessKey=", ALNUM | CREDENTIAL_BASE64, 40, 96),
    AFTER("azure-signature", "sig=", ALNUM | CREDENTIAL_BASE64, 44, 44),
    AZURE("0"),
    AZURE("1"),
    AZURE("2"),
    AZURE("3"),
    AZURE("4"),
    AZURE("5"),
    AZURE("6"),
    AZURE("7"),
    AZURE("8"),
    AZURE("9"),
    SURE("digitalocean-token", "dop_v1_", HEX, 64, 64),
    SURE("digitalocean-token", "doo_v1_", HEX, 64, 64),
    SURE("digitalocean-token", "dor_v1_", HEX, 64, 64),
    RUN("npm-token", "npm_", ALNUM, 36, 36),
    SURE("pypi-token", "pypi-AgE", URL64, 50, 0),
    RUN("rubygems-key", "rubygems_", HEX, 48, 48),
    SURE("docker-token", "dckr_pat_", URL64, 24, 0),
    SURE("docker-token", "dckr_oat_", URL64, 24, 0),
    RUN("huggingface-token", "hf_", ALNUM, 30, 40),
    RUN("replicate-token", "r8_", ALNUM, 37, 40),
    RUN("groq-key", "gsk_", ALNUM, 40, 0),
    RUN("perplexity-key", "pplx-", ALNUM, 40, 0),
    RUN("xai-key", "xai-", ALNUM, 60, 0),
    RUN("nvidia-key", "nvapi-", URL64, 40, 0),
    WILD("tavily-key", "tvly-", URL64, 24, 0),
    RUN("firecrawl-key", "fc-", HEX, 32, 32),
    SURE("langsmith-key", "lsv2_pt_", HEX | CREDENTIAL_UNDERSCORE, 32, 64),
    SURE("langsmith-key", "lsv2_sk_", HEX | CREDENTIAL_UNDERSCORE, 32, 64),
    RUN("pinecone-key", "pcsk_", WORD, 40, 0),
    RUN("sendgrid-key", "SG.", URL64 | CREDENTIAL_DOT, 60, 80),
    RUN("brevo-key", "xkeysib-", ALNUM | CREDENTIAL_DASH, 64, 96),
    SURE("shopify-token", "shpat_", HEX, 32, 32),
    SURE("shopify-token", "shpca_", HEX, 32, 32),
    SURE("shopify-token", "shppa_", HEX, 32, 32),
    SURE("shopify-token", "shpss_", HEX, 32, 32),
    RUN("square-token", "sq0atp-", URL64, 22, 22),
    RUN("square-token", "sq0csp-", URL64, 43, 43),
    SURE("linear-key", "lin_api_", ALNUM, 32, 64),
    SURE("linear-key", "lin_oauth_", ALNUM, 32, 0),
    RUN("notion-token", "ntn_", ALNUM, 40, 64),
    WILD("notion-token", "secret_", ALNUM, 43, 43),
    RUN("figma-token", "figd_", URL64, 36, 0),
    RUN("supabase-token", "sbp_", HEX, 40, 40),
    SURE("supabase-token", "sb_secret_", URL64, 20, 0),
    RUN("sentry-token", "sntrys_", URL64 | CREDENTIAL_BASE64, 40, 0),
    RUN("sentry-token", "sntryu_", HEX, 64, 64),
    RUN("grafana-token", "glsa_", WORD, 32, 0),
    WILD("grafana-token", "glc_", ALNUM | CREDENTIAL_BASE64, 40, 0),
    RUN("postman-key", "PMAK-", ALNUM | CREDENTIAL_DASH, 50, 70),
    RUN("newrelic-key", "NRAK-", UPPER_DIGIT, 27, 27),
    RUN("dynatrace-token", "dt0c01.", UPPER_DIGIT | CREDENTIAL_DOT, 80, 100),
    RUN("databricks-token", "dapi", HEX, 32, 32),
    RUN("heroku-key", "HRKU-AA", URL64, 40, 80),
    RUN("tailscale-key", "tskey-", ALNUM | CREDENTIAL_DASH, 24, 0),
    RUN("planetscale-token", "pscale_pw_", URL64 | CREDENTIAL_DOT, 32, 64),
    RUN("planetscale-token", "pscale_tkn_", URL64 | CREDENTIAL_DOT, 32, 64),
    RUN("pulumi-token", "pul-", HEX, 40, 40),
    RUN("contentful-token", "CFPAT-", URL64, 43, 43),
    RUN("atlassian-token", "ATATT3", URL64 | CREDENTIAL_BASE64, 60, 0),
    RUN("atlassian-token", "ATCTT3", URL64 | CREDENTIAL_BASE64, 60, 0),
    WILD("bitbucket-token", "ATBB", ALNUM, 28, 48),
    RUN("onepassword-token", "ops_eyJ", URL64, 100, 0),
    AROUND(14, "terraform-token", ".atlasv1.", URL64 | CREDENTIAL_BASE64, 60, 80),
    RUN("mailgun-key", "key-", HEX, 32, 32),
    TWILIO("0"),
    TWILIO("1"),
    TWILIO("2"),
    TWILIO("3"),
    TWILIO("4"),
    TWILIO("5"),
    TWILIO("6"),
    TWILIO("7"),
    TWILIO("8"),
    TWILIO("9"),
    TWILIO("a"),
    TWILIO("b"),
    TWILIO("c"),
    TWILIO("d"),
    TWILIO("e"),
    TWILIO("f"),
    RUN("cloudflare-token", "cfut_", URL64, 40, 56),
    RUN("cloudflare-token", "cfat_", URL64, 40, 56),
    RUN("cloudflare-token", "cfk_", URL64, 40, 56),
    RUN("cloudflare-token", "v1.0-", HEX | CREDENTIAL_DASH, 160, 184),
    RUN("vault-token", "hvs.", URL64, 24, 0),
    RUN("vault-token", "hvb.", URL64, 24, 0),
    RUN("doppler-token", "dp.pt.", ALNUM, 40, 48),
    RUN("doppler-token", "dp.st.", URL64 | CREDENTIAL_DOT, 40, 0),
    SURE("age-key", "AGE-SECRET-KEY-1", UPPER_DIGIT, 50, 64),
    { ROW("telegram-token", ":AA", URL64, 33, 33), .required = MIXED, .inside_words = true },
    ASSIGNED("assigned-secret", "access_token", URL64, 20, 0),
    ASSIGNED("assigned-secret", "refresh_token", URL64, 20, 0),
    ASSIGNED("assigned-secret", "client_secret", URL64, 20, 0),
    ASSIGNED("assigned-secret", "api_key", URL64, 20, 0),
    ASSIGNED("assigned-secret", "apikey", URL64, 20, 0),
    { .name = "jwt", .literal = STR_INIT("eyJ"), .kind = CREDENTIAL_JWT },
    { .name = "private-key", .literal = STR_INIT("-----BEGIN "), .kind = CREDENTIAL_PEM },
    { .name = "url-password", .literal = STR_INIT("://"), .kind = CREDENTIAL_USERINFO },
    { ROW("bearer-token", "bearer ",
          URL64 | CREDENTIAL_DOT | CREDENTIAL_TILDE | CREDENTIAL_BASE64, 16, 0),
      .required = CREDENTIAL_DIGIT, .any_case = true, .exclude_literal = true },
    { .name = "basic-auth",
      .literal = STR_INIT("basic "),
      .kind = CREDENTIAL_BASIC,
      .any_case = true,
      .exclude_literal = true },
    NAMED("pass"),
    NAMED("pwd"),
    NAMED("secret"),
    NAMED("token"),
    NAMED("key"),
    NAMED("cookie"),
    NAMED("credential"),
    NAMED("authorization"),
    NAMED("bearer"),
    NAMED("jwt"),
    { 0 },
};

/* Two more classes: characters that end a URL, and those that end the user name in one. */
enum { ENDS_URL = 1 << 9, ENDS_USER = 1 << 10, ENDS_BOTH = ENDS_URL | ENDS_USER };

/* The classes of each character. */
static const unsigned short classes[256] = {
    ['\0' ... ' '] = ENDS_BOTH,
    ['\x7f'] = ENDS_BOTH,
    ['"'] = ENDS_BOTH,
    ['\\'] = ENDS_BOTH,
    ['`'] = ENDS_BOTH,
    ['<'] = ENDS_BOTH,
    ['>'] = ENDS_BOTH,
    ['?'] = ENDS_USER,
    ['#'] = ENDS_USER,
    ['\''] = ENDS_USER,
    ['('] = ENDS_USER,
    [')'] = ENDS_USER,
    ['['] = ENDS_USER,
    [']'] = ENDS_USER,
    ['|'] = ENDS_USER,
    ['^'] = ENDS_USER,
    [','] = ENDS_USER,
    ['@'] = ENDS_USER,
    [':'] = ENDS_USER,
    ['{'] = ENDS_USER,
    ['}'] = ENDS_USER,
    ['0' ... '9'] = CREDENTIAL_DIGIT | CREDENTIAL_HEX,
    ['A' ... 'F'] = CREDENTIAL_UPPER | CREDENTIAL_HEX,
    ['G' ... 'Z'] = CREDENTIAL_UPPER,
    ['a' ... 'f'] = CREDENTIAL_LOWER | CREDENTIAL_HEX,
    ['g' ... 'z'] = CREDENTIAL_LOWER,
    ['_'] = CREDENTIAL_UNDERSCORE,
    ['-'] = CREDENTIAL_DASH,
    ['.'] = CREDENTIAL_DOT,
    ['+'] = CREDENTIAL_BASE64,
    ['/'] = CREDENTIAL_BASE64 | ENDS_USER,
    ['='] = CREDENTIAL_BASE64,
    ['~'] = CREDENTIAL_TILDE,
};

static unsigned classes_of(char c)
{
    return classes[(unsigned char)c];
}

/* Returns the end of a run of `chars`, at most `most` bytes long; adds their classes to
 * `*seen`. */
static size_t run_end(struct str text, size_t at, unsigned chars, size_t most, unsigned *seen)
{
    size_t i = at;

    for (; i < text.len && i - at < most; i++) {
        unsigned its = classes_of(text.at[i]);
        if (!(its & chars))
            break;
        *seen |= its;
    }
    return i;
}

static bool match_run(const struct credential *c, struct str text, size_t from,
                      struct credential_span *p)
{
    size_t most = c->max ? c->max + 1 : text.len;
    unsigned seen = 0;
    size_t end = run_end(text, from, c->chars, most, &seen), length = end - from;

    if (length < c->min || (c->max && length > c->max)) {
        p->end = length < c->min ? end : from;
        return false;
    }
    p->end = end;
    return (seen & c->required) == c->required;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && text.at[at] == ' ')
        at++;
    return at;
}

/* Returns the start of the assigned value, after name" : " or name=; 0: there is none. */
static size_t find_assigned(struct str text, size_t at)
{
    at += at < text.len && is_quote(text.at[at]);
    at = skip_blanks(text, at);
    if (at == text.len || (text.at[at] != '=' && text.at[at] != ':'))
        return 0;
    at = skip_blanks(text, at + 1);
    return at + (at < text.len && is_quote(text.at[at]));
}

/* The value may be longer than the run that identifies it. A function call is not a secret. */
static bool match_assigned(const struct credential *c, struct str text, size_t from,
                           struct credential_span *p)
{
    unsigned ignored = 0;

    p->at = find_assigned(text, from);
    if (!p->at || !match_run(c, text, p->at, p))
        return false;
    if (!c->max)
        p->end = run_end(text, p->end, URL64 | CREDENTIAL_DOT | CREDENTIAL_BASE64, text.len,
                         &ignored);
    return p->end == text.len || text.at[p->end] != '(';
}

static int base64_digit(char c)
{
    unsigned its = classes_of(c);

    if (its & CREDENTIAL_UPPER)
        return c - 'A';
    if (its & CREDENTIAL_LOWER)
        return c - 'a' + 26;
    if (its & CREDENTIAL_DIGIT)
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Decodes base64, at most `room` bytes; stops at padding. Returns the number of bytes. */
static size_t decode_base64(struct str text, unsigned char *out, size_t room)
{
    unsigned bits = 0, held = 0;
    size_t n = 0;

    for (size_t i = 0; i < text.len && n < room; i++) {
        int digit = base64_digit(text.at[i]);
        if (digit < 0)
            break;
        bits = bits << 6 | (unsigned)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[n++] = (unsigned char)(bits >> held);
        }
    }
    return n;
}

/* Returns whether the header of a JWT has "alg", which is mandatory. */
static bool names_algorithm(struct str header)
{
    enum { ROOM = 512 };
    unsigned char plain[ROOM];
    size_t n = decode_base64(header, plain, sizeof plain);

    return memmem(plain, n, "\"alg\"", 5) != NULL;
}

enum { JWT_PARTS = 5 };

/* Finds the ends of runs that are separated by dots. Returns their number; stops after the
 * first if it is too short for a header. */
static size_t find_jwt_parts(struct str text, size_t from, size_t ends[JWT_PARTS])
{
    enum { HEADER = 10 };
    unsigned ignored = 0;
    size_t parts = 0, at = from;

    for (;;) {
        at = run_end(text, at, URL64, text.len, &ignored);
        ends[parts++] = at;
        if (parts == JWT_PARTS || at == text.len || text.at[at] != '.' || at - from < HEADER)
            return parts;
        at++;
    }
}

/* Matches header.payload.signature with a JSON object as payload; the signature may be empty.
 * With another payload, and in header.key.vector.text.tag (JWE), the header must name an
 * algorithm. */
static bool match_jwt(struct str text, size_t from, struct credential_span *p)
{
    enum { PAYLOAD = 10, SIGNATURE = 20, VECTOR = 12, TAG = 16 };
    size_t ends[JWT_PARTS], parts = find_jwt_parts(text, from, ends), last = 2;

    p->end = ends[0];
    if (parts < 3)
        return false;
    if (!str_starts(str_skip(text, ends[0]), STR(".eyJ"))) {
        if (parts == JWT_PARTS && ends[2] - ends[1] > VECTOR && ends[4] - ends[3] > TAG)
            last = 4;
        else if (parts != 3 || ends[2] - ends[1] <= SIGNATURE)
            return false;
        if (!names_algorithm(str_n(text.at + from - 3, ends[0] - from + 3)))
            return false;
    } else if (ends[1] - ends[0] <= PAYLOAD) {
        return false;
    }
    p->end = ends[last];
    return true;
}

/* Returns the position after `what` within `most` bytes, or text.len + 1. */
static size_t find_end(struct str text, size_t from, struct str what, size_t most)
{
    size_t last = from + most < text.len ? from + most : text.len;

    for (; from + what.len <= last; from++)
        if (text.at[from] == what.at[0] && memcmp(text.at + from, what.at, what.len) == 0)
            return from + what.len;
    return text.len + 1;
}

/* A key of 16384 bits takes 13 KB, or twice that with all its escapes. */
enum { PEM_MOST = 64 << 10, PEM_LABEL = 64 };

/* Returns the end of a key: after its END line, else at the end of the JSON string or of the
 * text. Sets `*open` in the last case. */
static size_t pem_end(struct str text, size_t from, bool *open)
{
    const char *quote = memchr(text.at + from, '"', text.len - from);
    size_t end, tail;

    if (quote)
        text = str_n(text.at, (size_t)(quote - text.at));
    end = find_end(text, from, STR("-----END "), PEM_MOST);
    if (end <= text.len) {
        tail = find_end(text, end, STR("-----"), PEM_LABEL);
        return tail <= text.len ? tail : end;
    }
    *open = !quote;
    return text.len;
}

static bool match_pem(struct str text, size_t from, struct credential_span *p)
{
    size_t label = find_end(text, from, STR("PRIVATE KEY"), PEM_LABEL), dashes;

    p->end = from;
    if (label > text.len)
        return false;
    dashes = find_end(text, label, STR("-----"), sizeof " BLOCK-----");
    if (dashes > text.len)
        return false;
    p->end = pem_end(text, dashes, &p->unterminated);
    return true;
}

size_t credential_pem_end(struct str text, bool *open)
{
    *open = false;
    return pem_end(text, 0, open);
}

static size_t user_end(struct str text, size_t from)
{
    enum { MOST = 256 };
    size_t last = text.len - from < MOST ? text.len : from + MOST, i = from;

    while (i < last && !(classes_of(text.at[i]) & ENDS_USER))
        i++;
    return i;
}

/* Returns the end of a password: the last '@' before the end of the host; 0: there is none.
 * Passwords are often not escaped, so '/' and the like end the host, but not the password. The
 * search stops at the next URL, so all searches together are linear in the text. */
static size_t password_end(struct str text, size_t from)
{
    enum { MOST = 4096 };
    size_t last = text.len - from < MOST ? text.len : from + MOST, at = 0;

    for (size_t i = from; i < last; i++) {
        unsigned its = classes_of(text.at[i]);

        if (!(its & ENDS_USER))
            continue;
        if (text.at[i] == '@')
            at = i;
        else if (its & ENDS_URL || (at && strchr("/?#,", text.at[i])) ||
                 str_starts(str_skip(text, i), STR("://")))
            break;
    }
    return at;
}

static bool is_all(struct str text, unsigned chars)
{
    unsigned ignored = 0;

    return run_end(text, 0, chars, text.len, &ignored) == text.len;
}

/* Returns whether a password is a template: ${PASSWORD}, $PASSWORD, {password}, [REDACTED], ***
 * and the like. */
static bool is_placeholder(struct str password)
{
    char first = password.at[0], last = password.at[password.len - 1];
    size_t stars = 0;

    while (stars < password.len && (password.at[stars] | 0x20) == (first | 0x20) &&
           (first == '*' || (first | 0x20) == 'x'))
        stars++;
    if (stars == password.len)
        return true;
    if (first == '$' && is_all(str_skip(password, 1), UPPER_DIGIT | CREDENTIAL_UNDERSCORE))
        return true;
    if (first == '$' && password.len > 1 && strchr("{(", password.at[1]))
        first = password.at[1];
    return (first == '{' && last == '}') || (first == '[' && last == ']') ||
           (first == '(' && last == ')') || (first == '%' && last == '%');
}

/* Returns whether the text after the colon is a port with a path, which may contain an '@', or
 * the tag of an image, which is followed by its hash. */
static bool is_port_or_tag(struct str text, size_t from, size_t end)
{
    struct str word = str_n(text.at + from, end - from);
    size_t path = 0;

    while (path < word.len && !strchr("/?#", word.at[path]))
        path++;
    if (path < word.len && is_all(str_n(word.at, path), CREDENTIAL_DIGIT))
        return true;
    return str_starts(str_skip(text, end), STR("@sha256:"));
}

static bool match_userinfo(struct str text, size_t from, struct credential_span *p)
{
    size_t user = user_end(text, from), end;

    p->end = from;
    if (user == text.len || text.at[user] != ':')
        return false;
    end = password_end(text, user + 1);
    if (end <= user + 1 || is_port_or_tag(text, user + 1, end) ||
        is_placeholder(str_n(text.at + user + 1, end - user - 1)))
        return false;
    p->at = user + 1;
    p->end = end;
    return true;
}

/* Matches base64 of user:password: it decodes to text with a colon. */
static bool match_basic(struct str text, size_t from, struct credential_span *p)
{
    enum { SHORTEST = 8, ROOM = 1024 };
    unsigned char plain[ROOM];
    unsigned ignored = 0;
    size_t end = run_end(text, from, ALNUM | CREDENTIAL_BASE64, text.len, &ignored), n;

    p->end = end;
    if (end - from < SHORTEST)
        return false;
    n = decode_base64(str_n(text.at + from, end - from), plain, sizeof plain);
    for (size_t i = 0; i < n; i++)
        if (plain[i] < ' ' || plain[i] == 0x7f)
            return false;
    return memchr(plain, ':', n) != NULL;
}

/* Returns whether base64 decodes to digits only. */
static bool is_base64_number(struct str text)
{
    enum { ROOM = 32 };
    unsigned char plain[ROOM];
    size_t n = decode_base64(text, plain, sizeof plain), i = 0;

    while (i < n && plain[i] >= '0' && plain[i] <= '9')
        i++;
    return n && i == n;
}

static bool match_discord(struct str text, size_t at, struct credential_span *p)
{
    enum { ID_SHORTEST = 22, ID_LONGEST = 28, TIME = 6, TIME_LONGEST = 7, CODE = 27 };
    unsigned ignored = 0;
    size_t id = run_end(text, at, ALNUM, ID_LONGEST, &ignored), time, end;

    if (id - at < ID_SHORTEST || id == text.len || text.at[id] != '.')
        return false;
    time = run_end(text, id + 1, URL64, TIME_LONGEST + 1, &ignored);
    if (time - id <= TIME || time - id > TIME_LONGEST + 1 || time == text.len ||
        text.at[time] != '.' || !is_base64_number(str_n(text.at + at, id - at)))
        return false;
    end = run_end(text, time + 1, URL64, text.len, &ignored);
    if (end - time <= CODE)
        return false;
    p->end = end;
    return true;
}

static bool match_named(struct str text, size_t end, struct credential_span *p)
{
    enum { LONGEST = 16 }; /* bytes of the name after the literal */
    struct secret_name_value v;
    unsigned ignored = 0;

    end = run_end(text, end, URL64, LONGEST, &ignored);
    if (!secret_name_find_value(text, end, false, &v)) {
        p->end = v.end;
        return false;
    }
    p->at = v.at;
    p->end = v.end;
    p->is_member = v.is_member;
    return true;
}

/* Matches a run that starts before the literal. */
static bool match_around(const struct credential *c, struct str text, size_t at, size_t from,
                         struct credential_span *p)
{
    unsigned chars = c->chars & ~(unsigned)(CREDENTIAL_BASE64 | CREDENTIAL_DASH);
    size_t start = at;

    while (start && at - start <= c->chars_before && classes_of(text.at[start - 1]) & chars)
        start--;
    if (at - start != c->chars_before)
        return false;
    p->at = start;
    return match_run(c, text, from, p);
}

/* Returns whether the literal continues a word, which makes it no credential. An underscore
 * separates words. */
static bool is_inside_word(const struct credential *c, struct str text, size_t at)
{
    enum { SHORT = 3 };

    if (!at || c->inside_words)
        return false;
    return classes_of(text.at[at - 1]) & ALNUM ||
           (text.at[at - 1] == '-' && c->literal.len <= SHORT);
}

bool credential_match(const struct credential *c, struct str text, size_t at,
                      struct credential_span *p)
{
    size_t from = at + c->literal.len;

    *p = (struct credential_span){ .at = c->exclude_literal ? from : at, .end = from };
    switch (c->kind) {
    case CREDENTIAL_RUN:
        if (c->chars_before)
            return match_around(c, text, at, from, p);
        return !is_inside_word(c, text, at) && match_run(c, text, from, p);
    case CREDENTIAL_ASSIGNED:
        return match_assigned(c, text, from, p);
    case CREDENTIAL_JWT:
        return !is_inside_word(c, text, at) && match_jwt(text, from, p);
    case CREDENTIAL_PEM:
        return match_pem(text, from, p);
    case CREDENTIAL_USERINFO:
        return match_userinfo(text, from, p);
    case CREDENTIAL_BASIC:
        return !is_inside_word(c, text, at) && match_basic(text, from, p);
    case CREDENTIAL_DISCORD:
        return !is_inside_word(c, text, at) && match_discord(text, at, p);
    case CREDENTIAL_NAMED:
        return match_named(text, from, p);
    }
    BUG("no such kind of credential");
}
