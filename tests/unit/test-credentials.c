#include "redact/credentials.h"

#include <strings.h>

#include "base/buf.h"
#include "test.h"

static const struct credential *row_for(struct str literal)
{
    for (const struct credential *c = credential_rows; c->name; c++)
        if (str_eq(c->literal, literal))
            return c;
    fail_msg("no row for '%.*s'", STR_ARG(literal));
    return NULL;
}

/* The part of the text that is secret by that row; empty if there is none. */
static struct str secret_in(const char *literal, const char *text)
{
    const struct credential *c = row_for(str_z(literal));
    struct credential_span p;
    const char *at = c->any_case ? strcasestr(text, literal) : strstr(text, literal);

    assert_non_null(at);
    if (!credential_match(c, str_z(text), (size_t)(at - text), &p))
        return STR_NONE;
    return str_n(text + p.at, p.end - p.at);
}

/* Something that fits a row: `n` characters of its classes. */
static void fill(struct buf *to, const struct credential *c, size_t n)
{
    static const struct {
        unsigned class;
        const char *chars;
    } rows[] = {
        { CREDENTIAL_HEX, "0a1" },
        { CREDENTIAL_DIGIT, "0123456789" },
        { CREDENTIAL_UPPER, "ABCXYZ" },
        { CREDENTIAL_LOWER, "abcxyz" },
    };

    for (size_t i = 0; i < n; i++) {
        size_t row = i % (sizeof rows / sizeof rows[0]);
        while (!(c->chars & rows[row].class))
            row = (row + 1) % (sizeof rows / sizeof rows[0]);
        buf_add_ch(to, rows[row].chars[i % strlen(rows[row].chars)]);
    }
}

static bool row_matches(const struct credential *c, size_t n, const char *before,
                        const char *behind)
{
    struct credential_span p;
    struct buf text;
    bool matches;

    buf_init(&text, 1 << 16);
    buf_add(&text, str_z(before));
    fill(&text, c, c->chars_before);
    buf_add(&text, c->literal);
    fill(&text, c, n);
    buf_add(&text, str_z(behind));
    matches = credential_match(c, buf_str(&text), strlen(before) + c->chars_before, &p);
    if (matches) {
        assert_int_equal(p.at, strlen(before) + (c->exclude_literal ? c->literal.len : 0));
        assert_int_equal(p.end, text.len - strlen(behind));
    }
    buf_release(&text);
    return matches;
}

static void every_row_matches_its_own_length_and_no_other(void **state)
{
    size_t rows = 0;

    (void)state;
    for (const struct credential *c = credential_rows; c->name; c++) {
        if (c->kind != CREDENTIAL_RUN)
            continue;
        rows++;
        assert_true(row_matches(c, c->min, "", ""));
        assert_true(row_matches(c, c->min, "\"", "\""));
        assert_true(row_matches(c, c->max ? c->max : 500, " ", "\\n"));
        assert_false(row_matches(c, c->min - 1, "", ""));
        assert_int_equal(row_matches(c, c->min, "x", ""), c->inside_words && !c->chars_before);
        assert_int_equal(row_matches(c, c->min, "TOKEN_", ""), !c->chars_before);
        assert_true(row_matches(c, c->min, "TOKEN=", ""));
        if (c->max)
            assert_false(row_matches(c, c->max + 1, "", ""));
    }
    assert_true(rows > 90);
}

static void every_literal_is_long_enough_to_be_searched(void **state)
{
    (void)state;
    for (const struct credential *c = credential_rows; c->name; c++)
        assert_true(c->literal.len >= 3);
}

/* The whole text of every row is a credential, found under the first literal of it. */
struct looks {
    const char *literal, *text, *secret; /* secret NULL: all of the text; "": none */
};

static void check(const struct looks *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *want = rows[i].secret ? rows[i].secret : rows[i].text;
        struct str got = secret_in(rows[i].literal, rows[i].text);

        if (!str_eq(got, str_z(want)))
            fail_msg("'%s': got '%.*s', want '%s'", rows[i].text, STR_ARG(got), want);
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

#define JWT_ALG "eyJhbGciOiJIUzI1NiJ9"
#define JWT_NONE "eyJhbGciOiJub25lIn0"
#define JWT_BODY "eyJzdWIiOiIxMjM0In0"
#define JWE_DIR "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0"
#define FORTY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

static void tokens_of_further_services_are_found(void **state)
{
    /* 198622483471925248 in base64; in parts, so that no search for tokens finds them here. */
    static const struct looks rows[] = {
        { "MTk",
          "MTk4NjIyNDgzNDcxOTI1MjQ4"
          ".Cl2FMQ."
          "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
          NULL },
        { "MTk",
          "MTk4NjIyNDgzNDcxOTI1MjQ4"
          ".Cl2FMQ."
          "ZnCjm1XVW7vRze4b7Cq4se7k",
          "" },
        { "MTk",
          "MTkYYYYYYYYYYYYYYYYYYYYYYY"
          ".Cl2FMQ."
          "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
          "" },
        { "8Q~",
          "abc"
          "8Q~"
          "abcdefghijklmnopqrstuvwxyzABCDE.01",
          NULL },
        { "8Q~",
          "xabc"
          "8Q~"
          "abcdefghijklmnopqrstuvwxyzABCDE.01",
          "" },
        { "pass", "x {\"password\":\"a b\"}", "a b" },
        { "key", "keyboard: abc1234", "" },
    };

    (void)state;
    CHECK(rows);
}

static void tokens_are_found_by_their_format(void **state)
{
    static const struct looks rows[] = {
        { "eyJ", "a " JWT_ALG "." JWT_BODY ".dozjgNryP4J3jVmN z",
          JWT_ALG "." JWT_BODY ".dozjgNryP4J3jVmN" },
        { "eyJ", JWT_NONE "." JWT_BODY ".", NULL },
        { "eyJ", JWT_NONE "." JWT_BODY ".\"}", JWT_NONE "." JWT_BODY "." },
        { "eyJ", JWT_ALG "..dozjgNryP4J3jVmNdozjgNryP4J3jVmN", NULL },
        { "eyJ", JWT_ALG ".AAECAwQFBgcICQ.dozjgNryP4J3jVmNdozjgNryP4J3jVmN", NULL },
        { "eyJ", JWE_DIR "..48V1_ALb6US04U3b.5eym8TW_c8SuK0lt.XFBoMYUZodetZdvT", NULL },
        { "eyJ",
          JWE_DIR ".QUJDREVGR0hJSktMTU5PUA.48V1_ALb6US04U3b.5eym8T.XFBoMYUZodetZdvTiFvSkQ",
          NULL },
        { "bearer ", "Authorization: Bearer abc.DEF-123~/+456==", "abc.DEF-123~/+456==" },
        { "basic ", "{\"a\":\"Basic dXNlcjpwYXNzd29yZDE=\"}", "dXNlcjpwYXNzd29yZDE=" },
        { "basic ", "Basic dXNlcjpwYXNz", "dXNlcjpwYXNz" },
        { "basic ", "basic OnNlY3JldA==", "OnNlY3JldA==" },
        { "sk-ant-", "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA_-x", NULL },
        { "sk-", "sk-1234567890abcdefABCD", NULL },
        { "1//0", "1//0gAbCdEfGhIjKlMnOpQrStUvWxYz-0123456789_abcdefg", NULL },
        { "secret_", "secret_AbCdEfGhIjKlMnOpQrStUvWxYz01234567890123456", NULL },
        { "ATBB", "ATBBxYz0123456789abcdefghijklmnopqrs", NULL },
        { "sk_org_live_", "sk_org_live_0123456789abcdef", NULL },
        { "sig=", "?sv=2020&sig=AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg=",
          "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg=" },
        { "ghp_", "keyghp_0123456789abcdefghijABCDEFGHIJ012345",
          "ghp_0123456789abcdefghijABCDEFGHIJ012345" },
        { ":AA", "/bot123456789:AAEhBOweik9ai2oiDbuifkn3nfoienfoien/getMe",
          ":AAEhBOweik9ai2oiDbuifkn3nfoienfoien" },
        { "AKIA", "TOKEN_AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE" },
    };

    (void)state;
    CHECK(rows);
}

static void a_value_assigned_to_a_secret_name_is_found(void **state)
{
    static const struct looks rows[] = {
        { "secret_access_key", "aws_secret_access_key=" FORTY, FORTY },
        { "secret_access_key", "aws_secret_access_key = " FORTY "\n", FORTY },
        { "secret_access_key", "export AWS_SECRET_ACCESS_KEY=\"" FORTY "\"", FORTY },
        { "secret_access_key", "{\"aws_secret_access_key\": \"" FORTY "\"}", FORTY },
        { "secretaccesskey", "{\"SecretAccessKey\":\"" FORTY "\"}", FORTY },
        { "secretaccesskey", "awsSecretAccessKey: '" FORTY "'", FORTY },
        { "access_token", "https://h/?access_token=0123456789abcdefghij.kl&x=1",
          "0123456789abcdefghij.kl" },
        { "api_key", "{\"api_key\":\"0123456789abcdef0123\"}", "0123456789abcdef0123" },
        { "secret_access_key", "aws_secret_access_key=" FORTY "x", "" },
        { "secret_access_key", "the secret_access_key is a string of 40 characters", "" },
        { "secret_access_key", "\"secret_access_key\":{\"type\":\"string\"}", "" },
        { "api_key", "api_key: string", "" },
        { "api_key", "\"api_key\":\"YOUR_API_KEY_GOES_HERE\"", "" },
        { "api_key", "api_key = os.environ[\"SERVICE_API_KEY_NUMBER_1\"]", "" },
        { "access_token", "access_token = get_access_token_from_cache_v2(x)", "" },
        { "client_secret", "\"client_secret_expires_at\":1577858400000000000000", "" },
        { "refresh_token", "\"refresh_token_supported\":true", "" },
    };

    (void)state;
    CHECK(rows);
}

static void a_password_in_a_url_ends_before_the_host(void **state)
{
    static const struct looks rows[] = {
        { "://", "postgres://me:hunter2@db/x", "hunter2" },
        { "://", "postgres://me:a$b*c,d:e@db/x", "a$b*c,d:e" },
        { "://", "postgres://me:pa/ss?w#rd@db/x", "pa/ss?w#rd" },
        { "://", "postgres://me:p@ss@db/x@y", "p@ss" },
        { "://", "redis://:hunter2@db", "hunter2" },
        { "://", "mongodb://u:hunter2@h1:1,h2:2/db", "hunter2" },
        { "://", "a://u:p1@h,b://v:p2@g", "p1" },
        { "://", "a://u:$up3r@h", "$up3r" },
        { "://", "a://u:{x@h", "{x" },
        { "://", "a://u:12345@h", "12345" },
        { "://", "http://127.0.0.1:8080/x@y", "" },
        { "://", "https://registry.example:443/@scope/pkg", "" },
        { "://", "http://h:80?to=a@b", "" },
        { "://", "http://[::1]:80/@", "" },
        { "://", "postgres://user:${PASSWORD}@host", "" },
        { "://", "postgres://user:$DB_PASS@host", "" },
        { "://", "postgres://user:<password>@host", "" },
        { "://", "postgres://user:{password}@host", "" },
        { "://", "postgres://user:%PASS%@host", "" },
        { "://", "postgres://user:[REDACTED:rule-1]@host", "" },
        { "://", "postgres://user:*****@host", "" },
        { "://", "postgres://user:xxxxx@host", "" },
        { "://", "https://user@host/", "" },
        { "://", "https://host:x y@z", "" },
        { "://", "docker-image://alpine:3.18@sha256:0123", "" },
        { "://", "git+ssh://git@host:org/repo@v1", "" },
        { "://", "\"https://a:\",\"b@c\"", "" },
    };
    struct buf text;
    struct str got;

    (void)state;
    CHECK(rows);
    buf_init(&text, 1 << 12);
    buf_add(&text, STR("https://u:"));
    for (size_t i = 0; i < 1000; i++)
        buf_add(&text, STR("p1"));
    buf_add(&text, STR("@h/"));
    got = secret_in("://", buf_z(&text));
    assert_int_equal(got.len, 2000);
    buf_release(&text);
}

static void similar_text_is_not_found(void **state)
{
    static const struct looks rows[] = {
        { "bearer ", "bearer authentication is used", "" },
        { "bearer ", "Bearer <token>", "" },
        { "basic ", "basic understanding of things", "" },
        { "basic ", "Basic training", "" },
        { "basic ", "visual basic Programming1Language2", "" },
        { "basic ", "Basic ${credentials}", "" },
        { "sk-", "task-12345678901234567890", "" },
        { "sk-", "x-sk-12345678901234567890", "" },
        { "sk-", "sk-learn-and-other-packages", "" },
        { "sk-", "sk-toggleable__content-label-arrow-3", "" },
        { "eyJ", JWT_ALG, "" },
        { "eyJ", JWT_ALG "." JWT_BODY, "" },
        { "eyJ", JWT_ALG ".something.else.again", "" },
        { "eyJ", "eyJmb28iOiJiYXIifQ.some.thing", "" },
        { "eyJ", "eyJmb28iOiJiYXIifQ.a.b.c.d", "" },
        { "eyJ", JWT_ALG ".a.b.c.d", "" },
        { "-----BEGIN ", "-----BEGIN CERTIFICATE-----\nMIIB", "" },
        { "-----BEGIN ", "-----BEGIN PUBLIC KEY-----\nMIIB", "" },
        { "npm_", "npm_config_registry", "" },
        { "hf_", "hf_hub_download", "" },
        { "secret_", "secret_manager_client_library_for_python_users", "" },
        { "secret_", "secret_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq", "" },
        { "sig=", "sig=d41d8cd98f00b204e9800998ecf8427e", "" },
        { "sig=", "ensig=AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg=", "" },
        { "1//0", "1//0.5", "" },
        { "dapi", "dapi_client", "" },
        { "fc-", "cache-fc-d41d8cd98f00b204e9800998ecf8427e", "" },
        { "ATBB", "ATBBATBBATBBATBBATBBATBBATBBATBB", "" },
        { ":AA", "sha256:AAEhBOweik9ai2oiDbuifkn3nfoienfoien0123456789", "" },
        { "AKIA", "xAKIAIOSFODNN7EXAMPLE", "" },
        { "sk_live_", "sk_live_mode", "" },
    };

    (void)state;
    CHECK(rows);
}

/* Nothing in ordinary traffic is taken for a credential. */
static void ordinary_text_has_no_credentials(void **state)
{
    static const char *const texts[] = {
        "d41d8cd98f00b204e9800998ecf8427e 3f786850e387550fdab836ed7e6dc881de23001b",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "123e4567-e89b-12d3-a456-426614174000 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "{\"type\":\"object\",\"properties\":{\"api_key\":{\"type\":\"string\"},\"access_"
        "token\":"
        "{\"type\":\"string\",\"description\":\"OAuth 2.0 bearer token, see RFC 6750\"}}}",
        "curl -H 'Authorization: Bearer $TOKEN' https://api.example.com:8443/v1/users?sig=1",
        "git clone https://github.com/org/repo.git && npm install @scope/pkg@1.2.3",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "sha512-Gx2QkTZlbBYBsrbFbqJIc0Eqtp1UYV6uhQ6wGnQXz7FqfnIp+e0ZcPfWn3KdX4C6g==",
        "postgres://localhost:5432/db?user=x&password=y",
        "C:\\Users\\sk-\\AppData key-value basic auth, secret_sauce, rk_live_, ghp_, npm_",
    };
    struct str text;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const struct credential *c = credential_rows; c->name; c++)
            for (text = str_z(texts[i]); text.len >= c->literal.len; text = str_skip(text, 1)) {
                struct str all = str_z(texts[i]);
                size_t at = all.len - text.len;
                struct credential_span p;
                bool stands = c->any_case
                                  ? strncasecmp(text.at, c->literal.at, c->literal.len) == 0
                                  : str_starts(text, c->literal);
                if (stands && credential_match(c, all, at, &p))
                    fail_msg("%s in '%s'", c->name, texts[i]);
            }
}

static void a_private_key_includes_its_end_line(void **state)
{
    const struct credential *pem = row_for(STR("-----BEGIN "));
    struct str key =
        STR("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x");
    struct str half = STR("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n");
    struct str quoted = STR("-----BEGIN PRIVATE KEY-----\\nMIIE\",\"next\":1");
    struct credential_span p;
    bool open;

    (void)state;
    assert_true(credential_match(pem, key, 0, &p));
    assert_int_equal(p.end, key.len - 2);
    assert_false(p.unterminated);
    assert_true(credential_match(pem, half, 0, &p));
    assert_int_equal(p.end, half.len);
    assert_true(p.unterminated);
    assert_true(credential_match(pem, quoted, 0, &p));
    assert_int_equal(p.end, strchr(quoted.at, '"') - quoted.at);
    assert_false(p.unterminated);
    assert_int_equal(credential_pem_end(STR("b64\n-----END X-----y"), &open), 19);
    assert_false(open);
    assert_int_equal(credential_pem_end(STR("b64\n"), &open), 4);
    assert_true(open);
}

/* With any number of starts: each returns the next position to try. */
static void a_failed_match_returns_where_to_continue(void **state)
{
    const struct credential *jwt = row_for(STR("eyJ"));
    char text[3000];
    struct credential_span p;

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "eyJ"[i % 3];
    assert_false(credential_match(jwt, str_n(text, sizeof text), 0, &p));
    assert_int_equal(p.end, sizeof text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_matches_its_own_length_and_no_other),
        cmocka_unit_test(tokens_of_further_services_are_found),
        cmocka_unit_test(every_literal_is_long_enough_to_be_searched),
        cmocka_unit_test(tokens_are_found_by_their_format),
        cmocka_unit_test(a_value_assigned_to_a_secret_name_is_found),
        cmocka_unit_test(a_password_in_a_url_ends_before_the_host),
        cmocka_unit_test(ordinary_text_has_no_credentials),
        cmocka_unit_test(similar_text_is_not_found),
        cmocka_unit_test(a_private_key_includes_its_end_line),
        cmocka_unit_test(a_failed_match_returns_where_to_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
