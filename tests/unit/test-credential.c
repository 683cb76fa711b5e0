#include "trace/credential.h"

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
    struct credential_place p;
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
    struct credential_place p;
    struct buf text;
    bool matches;

    buf_init(&text, 1 << 16);
    buf_add(&text, str_z(before));
    buf_add(&text, c->literal);
    fill(&text, c, n);
    buf_add(&text, str_z(behind));
    matches = credential_match(c, buf_str(&text), strlen(before), &p);
    if (matches) {
        assert_int_equal(p.at, strlen(before) + (c->bare ? c->literal.len : 0));
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
        assert_false(row_matches(c, c->min, "x", ""));
        if (c->max)
            assert_false(row_matches(c, c->max + 1, "", ""));
    }
    assert_true(rows > 50);
}

static void literals_are_long_enough_to_be_looked_for(void **state)
{
    (void)state;
    for (const struct credential *c = credential_rows; c->name; c++)
        assert_true(c->literal.len >= 3);
}

static void tokens_are_told_by_their_looks(void **state)
{
    (void)state;
    assert_str(
        secret_in("eyJ", "a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN z"),
        STR("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN"));
    assert_str(secret_in("bearer ", "Authorization: Bearer abc.DEF-123~/+456=="),
               STR("abc.DEF-123~/+456=="));
    assert_str(secret_in("basic ", "{\"a\":\"Basic dXNlcjpwYXNzd29yZDE=\"}"),
               STR("dXNlcjpwYXNzd29yZDE="));
    assert_str(secret_in("://", "postgres://me:hunter2@db/x"), STR("hunter2"));
    assert_str(secret_in("sk-ant-", "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA_-x"),
               STR("sk-ant-api03-AAAAAAAAAAAAAAAAAAAA_-x"));
}

static void what_only_looks_alike_is_none(void **state)
{
    (void)state;
    assert_str(secret_in("bearer ", "bearer authentication is used"), STR_NONE);
    assert_str(secret_in("basic ", "basic understanding of things"), STR_NONE);
    assert_str(secret_in("sk-", "task-12345678901234567890"), STR_NONE);
    assert_str(secret_in("sk-", "sk-learn-and-other-packages"), STR_NONE);
    assert_str(secret_in("eyJ", "eyJhbGciOiJIUzI1NiJ9"), STR_NONE);
    assert_str(secret_in("eyJ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0"), STR_NONE);
    assert_str(secret_in("eyJ", "eyJhbGciOiJIUzI1NiJ9.something.else.again"), STR_NONE);
    assert_str(secret_in("://", "http://127.0.0.1:8080/x@y"), STR_NONE);
    assert_str(secret_in("://", "http://[::1]:80/@"), STR_NONE);
    assert_str(secret_in("://", "postgres://user:${PASSWORD}@host"), STR_NONE);
    assert_str(secret_in("://", "postgres://user:<password>@host"), STR_NONE);
    assert_str(secret_in("://", "https://user@host/"), STR_NONE);
    assert_str(secret_in("-----BEGIN ", "-----BEGIN CERTIFICATE-----\nMIIB"), STR_NONE);
    assert_str(secret_in("-----BEGIN ", "-----BEGIN PUBLIC KEY-----\nMIIB"), STR_NONE);
    assert_str(secret_in("npm_", "npm_config_registry"), STR_NONE);
    assert_str(secret_in("hf_", "hf_hub_download"), STR_NONE);
}

static void a_private_key_ends_with_its_end(void **state)
{
    const struct credential *pem = row_for(STR("-----BEGIN "));
    struct str key =
        STR("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x");
    struct str half = STR("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n");
    struct str quoted = STR("-----BEGIN PRIVATE KEY-----\\nMIIE\",\"next\":1");
    struct credential_place p;
    bool open;

    (void)state;
    assert_true(credential_match(pem, key, 0, &p));
    assert_int_equal(p.end, key.len - 2);
    assert_false(p.open);
    assert_true(credential_match(pem, half, 0, &p));
    assert_int_equal(p.end, half.len);
    assert_true(p.open);
    assert_true(credential_match(pem, quoted, 0, &p));
    assert_int_equal(p.end, strchr(quoted.at, '"') - quoted.at);
    assert_false(p.open);
    assert_int_equal(credential_rest(STR("b64\n-----END X-----y"), &open), 19);
    assert_false(open);
    assert_int_equal(credential_rest(STR("b64\n"), &open), 4);
    assert_true(open);
}

/* However many starts there are: each says from where on it is worth another try. */
static void a_failure_says_where_to_go_on(void **state)
{
    const struct credential *jwt = row_for(STR("eyJ"));
    char text[3000];
    struct credential_place p;

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
        cmocka_unit_test(literals_are_long_enough_to_be_looked_for),
        cmocka_unit_test(tokens_are_told_by_their_looks),
        cmocka_unit_test(what_only_looks_alike_is_none),
        cmocka_unit_test(a_private_key_ends_with_its_end),
        cmocka_unit_test(a_failure_says_where_to_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
