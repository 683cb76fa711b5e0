#include "trace/credential.h"

#include "base/err.h"

#define ALNUM CREDENTIAL_ALNUM
#define WORD CREDENTIAL_WORD
#define URL64 CREDENTIAL_URL64
#define HEX CREDENTIAL_HEX
#define RUN(name_, literal_, chars_, min_, max_)                                               \
    {                                                                                          \
        .name = (name_), .literal = STR_INIT(literal_), .chars = (chars_), .min = (min_),      \
        .max = (max_)                                                                          \
    }

const struct credential credential_rows[] = {
    RUN("aws-access-key", "AKIA", CREDENTIAL_UPPER | CREDENTIAL_DIGIT, 16, 16),
    RUN("aws-access-key", "ASIA", CREDENTIAL_UPPER | CREDENTIAL_DIGIT, 16, 16),
    RUN("github-token", "ghp_", ALNUM, 36, 255),
    RUN("github-token", "gho_", ALNUM, 36, 255),
    RUN("github-token", "ghu_", ALNUM, 36, 255),
    RUN("github-token", "ghs_", ALNUM, 36, 255),
    RUN("github-token", "ghr_", ALNUM, 36, 255),
    RUN("github-token", "github_pat_", WORD, 22, 255),
    RUN("gitlab-token", "glpat-", URL64 | CREDENTIAL_DOT, 20, 0),
    RUN("gitlab-token", "gldt-", URL64, 20, 0),
    RUN("gitlab-token", "glrt-", URL64 | CREDENTIAL_DOT, 20, 0),
    RUN("gitlab-token", "glcbt-", URL64, 20, 0),
    RUN("gitlab-token", "glptt-", URL64, 20, 0),
    RUN("gitlab-token", "glsoat-", URL64, 20, 0),
    RUN("gitlab-token", "glft-", URL64, 20, 0),
    RUN("gitlab-token", "gloas-", URL64, 20, 0),
    RUN("gitlab-token", "glagent-", URL64, 20, 0),
    RUN("slack-token", "xoxb-", ALNUM | CREDENTIAL_DASH, 20, 0),
    RUN("slack-token", "xoxp-", ALNUM | CREDENTIAL_DASH, 20, 0),
    RUN("slack-token", "xoxa-", ALNUM | CREDENTIAL_DASH, 20, 0),
    RUN("slack-token", "xoxr-", ALNUM | CREDENTIAL_DASH, 20, 0),
    RUN("slack-token", "xoxs-", ALNUM | CREDENTIAL_DASH, 20, 0),
    RUN("slack-token", "xoxc-", ALNUM | CREDENTIAL_DASH, 20, 0),
    RUN("slack-token", "xoxd-", URL64 | CREDENTIAL_BASE64, 20, 0),
    RUN("slack-token", "xapp-", ALNUM | CREDENTIAL_DASH, 30, 0),
    RUN("slack-webhook", "hooks.slack.com/services/", ALNUM | CREDENTIAL_BASE64, 30, 0),
    RUN("stripe-key", "sk_live_", ALNUM, 16, 0),
    RUN("stripe-key", "rk_live_", ALNUM, 16, 0),
    RUN("stripe-key", "sk_test_", ALNUM, 16, 0),
    RUN("stripe-key", "rk_test_", ALNUM, 16, 0),
    RUN("stripe-key", "whsec_", ALNUM | CREDENTIAL_BASE64, 24, 0),
    RUN("anthropic-key", "sk-ant-", URL64, 20, 0),
    RUN("openai-key", "sk-proj-", URL64, 20, 0),
    RUN("openai-key", "sk-svcacct-", URL64, 20, 0),
    RUN("openai-key", "sk-admin-", URL64, 20, 0),
    RUN("openrouter-key", "sk-or-v1-", HEX, 64, 64),
    RUN("secret-key", "sk-", ALNUM, 20, 0),
    RUN("google-key", "AIza", URL64, 35, 35),
    RUN("google-token", "ya29.", URL64, 20, 0),
    RUN("google-client-secret", "GOCSPX-", URL64, 28, 28),
    RUN("azure-storage-key", "AccountKey=", ALNUM | CREDENTIAL_BASE64, 80, 96),
    RUN("azure-storage-key", "SharedAccessKey=", ALNUM | CREDENTIAL_BASE64, 40, 96),
    RUN("digitalocean-token", "dop_v1_", HEX, 64, 64),
    RUN("digitalocean-token", "doo_v1_", HEX, 64, 64),
    RUN("digitalocean-token", "dor_v1_", HEX, 64, 64),
    RUN("npm-token", "npm_", ALNUM, 36, 36),
    RUN("pypi-token", "pypi-AgE", URL64, 50, 0),
    RUN("rubygems-key", "rubygems_", HEX, 48, 48),
    RUN("docker-token", "dckr_pat_", URL64, 24, 0),
    RUN("docker-token", "dckr_oat_", URL64, 24, 0),
    RUN("huggingface-token", "hf_", ALNUM, 30, 40),
    RUN("replicate-token", "r8_", ALNUM, 37, 40),
    RUN("groq-key", "gsk_", ALNUM, 40, 0),
    RUN("perplexity-key", "pplx-", ALNUM, 40, 0),
    RUN("sendgrid-key", "SG.", URL64 | CREDENTIAL_DOT, 60, 80),
    RUN("shopify-token", "shpat_", HEX, 32, 32),
    RUN("shopify-token", "shpca_", HEX, 32, 32),
    RUN("shopify-token", "shppa_", HEX, 32, 32),
    RUN("shopify-token", "shpss_", HEX, 32, 32),
    RUN("linear-key", "lin_api_", ALNUM, 32, 64),
    RUN("linear-key", "lin_oauth_", ALNUM, 32, 0),
    RUN("notion-token", "ntn_", ALNUM, 40, 64),
    RUN("figma-token", "figd_", URL64, 36, 0),
    RUN("supabase-token", "sbp_", HEX, 40, 40),
    RUN("supabase-token", "sb_secret_", URL64, 20, 0),
    RUN("sentry-token", "sntrys_", URL64 | CREDENTIAL_BASE64, 40, 0),
    RUN("sentry-token", "sntryu_", HEX, 64, 64),
    RUN("grafana-token", "glsa_", WORD, 32, 0),
    RUN("postman-key", "PMAK-", ALNUM | CREDENTIAL_DASH, 50, 70),
    RUN("atlassian-token", "ATATT3", URL64 | CREDENTIAL_BASE64, 60, 0),
    RUN("atlassian-token", "ATCTT3", URL64 | CREDENTIAL_BASE64, 60, 0),
    RUN("vault-token", "hvs.", URL64, 24, 0),
    RUN("vault-token", "hvb.", URL64, 24, 0),
    RUN("doppler-token", "dp.pt.", ALNUM, 40, 48),
    RUN("doppler-token", "dp.st.", URL64 | CREDENTIAL_DOT, 40, 0),
    RUN("age-key", "AGE-SECRET-KEY-1", CREDENTIAL_UPPER | CREDENTIAL_DIGIT, 50, 64),
    { .name = "jwt", .literal = STR_INIT("eyJ"), .kind = CREDENTIAL_JWT },
    { .name = "private-key", .literal = STR_INIT("-----BEGIN "), .kind = CREDENTIAL_PEM },
    { .name = "url-password", .literal = STR_INIT("://"), .kind = CREDENTIAL_USERINFO },
    { .name = "bearer-token",
      .literal = STR_INIT("bearer "),
      .chars = URL64 | CREDENTIAL_DOT | CREDENTIAL_TILDE | CREDENTIAL_BASE64,
      .min = 16,
      .must = CREDENTIAL_DIGIT,
      .any_case = true,
      .bare = true },
    { .name = "basic-auth",
      .literal = STR_INIT("basic "),
      .chars = ALNUM | CREDENTIAL_BASE64,
      .min = 12,
      .must = CREDENTIAL_DIGIT | CREDENTIAL_UPPER | CREDENTIAL_LOWER,
      .any_case = true,
      .bare = true },
    { 0 },
};

/* All classes a character is in. */
static const unsigned short classes[256] = {
    ['0' ... '9'] = CREDENTIAL_DIGIT | CREDENTIAL_HEX,
    ['A' ... 'F'] = CREDENTIAL_UPPER | CREDENTIAL_HEX,
    ['G' ... 'Z'] = CREDENTIAL_UPPER,
    ['a' ... 'f'] = CREDENTIAL_LOWER | CREDENTIAL_HEX,
    ['g' ... 'z'] = CREDENTIAL_LOWER,
    ['_'] = CREDENTIAL_UNDERSCORE,
    ['-'] = CREDENTIAL_DASH,
    ['.'] = CREDENTIAL_DOT,
    ['+'] = CREDENTIAL_BASE64,
    ['/'] = CREDENTIAL_BASE64,
    ['='] = CREDENTIAL_BASE64,
    ['~'] = CREDENTIAL_TILDE,
};

static unsigned classes_of(char c)
{
    return classes[(unsigned char)c];
}

/* Where a run of such characters ends; not looked at beyond `most`. */
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
                      struct credential_place *p)
{
    size_t most = c->max ? c->max + 1 : text.len;
    unsigned seen = 0;
    size_t end = run_end(text, from, c->chars, most, &seen), length = end - from;

    if (length < c->min || (c->max && length > c->max)) {
        p->end = length < c->min ? end : from;
        return false;
    }
    p->end = end;
    return (seen & c->must) == c->must;
}

/* header.payload.signature; the payload is an object, too. */
static bool match_jwt(struct str text, size_t from, struct credential_place *p)
{
    enum { SEGMENT = 10 };
    unsigned ignored = 0;
    size_t header = run_end(text, from, URL64, text.len, &ignored), payload, end;

    p->end = header;
    if (header - from < SEGMENT || !str_starts(str_skip(text, header), STR(".eyJ")))
        return false;
    payload = run_end(text, header + 1, URL64, text.len, &ignored);
    if (payload - header < SEGMENT || payload == text.len || text.at[payload] != '.')
        return false;
    end = run_end(text, payload + 1, URL64, text.len, &ignored);
    if (end - payload < SEGMENT)
        return false;
    p->end = end;
    return true;
}

/* The place right behind `what`, or text.len + 1 if it is not there. */
static size_t behind(struct str text, size_t from, struct str what, size_t most)
{
    size_t last = from + most < text.len ? from + most : text.len;

    for (; from + what.len <= last; from++)
        if (text.at[from] == what.at[0] && memcmp(text.at + from, what.at, what.len) == 0)
            return from + what.len;
    return text.len + 1;
}

/* A key of 16384 bits takes 13 KB, or twice that with all its escapes. */
enum { PEM_MOST = 64 << 10, PEM_LABEL = 64 };

/* Where the lines of a key end: behind its END line, or, for want of one, with the text or
 * the JSON string it stands in. */
static size_t pem_end(struct str text, size_t from, bool *open)
{
    const char *quote = memchr(text.at + from, '"', text.len - from);
    size_t end, tail;

    if (quote)
        text = str_n(text.at, (size_t)(quote - text.at));
    end = behind(text, from, STR("-----END "), PEM_MOST);
    if (end <= text.len) {
        tail = behind(text, end, STR("-----"), PEM_LABEL);
        return tail <= text.len ? tail : end;
    }
    *open = !quote;
    return text.len;
}

static bool match_pem(struct str text, size_t from, struct credential_place *p)
{
    size_t label = behind(text, from, STR("PRIVATE KEY"), PEM_LABEL), dashes;

    p->end = from;
    if (label > text.len)
        return false;
    dashes = behind(text, label, STR("-----"), sizeof " BLOCK-----");
    if (dashes > text.len)
        return false;
    p->end = pem_end(text, dashes, &p->open);
    return true;
}

size_t credential_rest(struct str text, bool *open)
{
    *open = false;
    return pem_end(text, 0, open);
}

/* What a user's name or a password in a URL is not made of, unless escaped. The last few
 * stand for a value that is put in elsewhere: ${PASSWORD}, <password>, ***. */
static bool ends_userinfo(char c)
{
    return (unsigned char)c <= ' ' || c == '\x7f' || strchr("/?#\"'\\`()[]|^,@:<>{}$*", c);
}

static size_t userinfo_end(struct str text, size_t from)
{
    enum { MOST = 256 };
    size_t i = from;

    while (i < text.len && i - from < MOST && !ends_userinfo(text.at[i]))
        i++;
    return i;
}

static bool match_userinfo(struct str text, size_t from, struct credential_place *p)
{
    size_t user = userinfo_end(text, from), end;

    p->end = from;
    if (user == text.len || text.at[user] != ':')
        return false;
    end = userinfo_end(text, user + 1);
    if (end == user + 1 || end == text.len || text.at[end] != '@')
        return false;
    p->at = user + 1;
    p->end = end;
    return true;
}

static bool is_inside_word(struct str text, size_t at)
{
    return at && classes_of(text.at[at - 1]) & CREDENTIAL_WORD;
}

bool credential_match(const struct credential *c, struct str text, size_t at,
                      struct credential_place *p)
{
    size_t from = at + c->literal.len;

    *p = (struct credential_place){ .at = c->bare ? from : at, .end = from };
    switch (c->kind) {
    case CREDENTIAL_RUN:
        return !is_inside_word(text, at) && match_run(c, text, from, p);
    case CREDENTIAL_JWT:
        return !is_inside_word(text, at) && match_jwt(text, from, p);
    case CREDENTIAL_PEM:
        return match_pem(text, from, p);
    case CREDENTIAL_USERINFO:
        return match_userinfo(text, from, p);
    }
    BUG("no such kind of credential");
}
