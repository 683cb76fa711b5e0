#include "redact/secret-name.h"

#include "test.h"

static void secret_names_are_recognized_in_any_spelling(void **state)
{
    static const char *const names[] = {
        "password",
        "Password",
        "PASSWORD",
        "passwd",
        "db_password",
        "MYSQL_PWD",
        "DB_PASSWORD",
        "userPassword",
        "secret",
        "client_secret",
        "clientSecret",
        "client-secret",
        "private_key",
        "privateKey",
        "api_key",
        "apikey",
        "apiKey",
        "API-KEY",
        "x-api-key",
        "access_token",
        "accessToken",
        "refresh_token",
        "auth_token",
        "authToken",
        "id_token",
        "session_token",
        "token",
        "githubToken",
        "Authorization",
        "authorization",
        "cookie",
        "Set-Cookie",
        "cookies",
        "credentials",
        "passphrase",
        "secretAccessKey",
        "aws_secret_access_key",
        "secret_key",
        "SECRET_KEY",
        "signing_key",
        "encryptionKey",
        "jwt",
        "pwd",
        "pass",
        "webhook_secret",
        "ssh_key",
        "PGPASSWORD",
        "http.authorization",
        "x-auth-key",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!secret_name_is_secret(str_z(names[i])))
            fail_msg("%s", names[i]);
}

static void other_names_are_not_secret(void **state)
{
    static const char *const names[] = {
        "",
        "tokens",
        "max_tokens",
        "tokenizer",
        "token_type",
        "secretary",
        "passwordless",
        "key",
        "publicKey",
        "primary_key",
        "pageToken",
        "nextPageToken",
        "next_token",
        "syncToken",
        "progressToken",
        "eos_token",
        "pad_token",
        "bypass",
        "compass",
        "author",
        "keyboard",
        "cookie_policy",
        "nextCursor",
        "requestState",
        "private_key_id",
        "password_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_password",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (secret_name_is_secret(str_z(names[i])))
            fail_msg("%s", names[i]);
}

/* The name ends where `name` ends in the text for the last time before a sign. */
static struct str value_in(const char *text, const char *name, bool any)
{
    const char *at = strstr(text, name);
    struct secret_name_value v;

    assert_non_null(at);
    if (!secret_name_find_value(str_z(text), (size_t)(at - text) + strlen(name), any, &v))
        return STR_NONE;
    return str_n(text + v.at, v.end - v.at);
}

static const struct {
    const char *text, *name, *value; /* NULL: there is none */
} values[] = {
    /* members */
    { "{\"password\":\"a\"}", "password", "a" },
    { "{\"password\" : \"a\\\"b\\\\\",\"x\":\"y\"}", "password", "a\\\"b\\\\" },
    { "{\"db_Password\":\n  \"hunter\"}", "Password", "hunter" },
    { "{'password': 'hunter'}", "password", "hunter" },
    { "{\"t\":\"{'password': 'hunter\"}", "password", "hunter" },
    { "{\"Cookie\":[\"a=b\", \"c=d\"]}", "Cookie", "a=b\", \"c=d" },
    { "{\"//host/:_authToken\":\"abc\"}", "Token", "abc" },
    { "{\"password\":\"\"}", "password", NULL },
    { "{\"password\":12345678}", "password", NULL },
    { "{\"password\":true}", "password", NULL },
    { "{\"password\":{\"type\":\"string\"}}", "password", NULL },
    { "{\"password\":[1]}", "password", NULL },
    { "{\"password\":\"[REDACTED:rule-1]\"}", "password", NULL },
    { "{\"password\":\"********\"}", "password", NULL },
    { "{\"password\":\"${PASSWORD}\"}", "password", NULL },
    { "{\"password\":\"$PASSWORD\"}", "password", NULL },
    { "{\"password\":\"$Ecret\"}", "password", "$Ecret" },
    { "{\"a\":\"password\",\"b\":\"c\"}", "password", NULL },
    { "{\"pageToken\":\"abc\"}", "Token", NULL },
    { "{\"passwordless\":\"yes\"}", "password", NULL },
    { "{\"tokens_token\":[\"[REDACTED:rule-1]\", \"[REDACTED:rule-1]\"]}", "_token", NULL },
    /* assignments */
    { "token=self.token", "token", NULL },
    { "password=config.db_password\n", "password", NULL },
    { "password=my.pet", "password", "my.pet" },
    { "host:6379,password=foobared,ssl=True", "password", "foobared,ssl=True" },
    { "connect(password=secret_of, x)", "password", NULL },
    { "password=hunter", "password", "hunter" },
    { "host=x password=hunter port=1", "password", "hunter" },
    { "Server=h;User ID=u;Password=p@ss,w;Encrypt=1", "Password", "p@ss,w" },
    { "export PGPASSWORD=hunter\n", "PASSWORD", "hunter" },
    { "https://h/?a=1&token=abcd&b=2", "token", "abcd" },
    { "SECRET_KEY = \"abcdef\"", "KEY", "abcdef" },
    { "password => 'hunter'", "password", "hunter" },
    { "password = hunter2x", "password", "hunter2x" },
    { "password=abc\\\\d\\nnext", "password", "abc\\\\d" },
    { "password=%s", "password", NULL },
    { "password=%(password)s", "password", NULL },
    { "password = hunter", "password", NULL },
    { "if password == \"hunter\":", "password", NULL },
    { "connect(password=password)", "password", NULL },
    { "token=self.token,", "token", NULL },
    { "token=os.environ['T']", "token", NULL },
    { "token=None", "token", NULL },
    { "token=512000", "token", NULL },
    { "password=12345678", "password", "12345678" },
    { "token::next", "token", NULL },
    { "token://abc1234", "token", NULL },
    /* headers */
    { "X-Api-Key: abc1234", "Key", "abc1234" },
    { "Authorization: token abc1234\r\nNext: x", "Authorization", "abc1234" },
    { "Authorization: abc1234", "Authorization", "abc1234" },
    { "Authorization: see section", "Authorization", NULL },
    { "Cookie: sid=1; x=2\r\nNext: x", "Cookie", "sid=1; x=2" },
    { "Cookie: a small file", "Cookie", NULL },
    { "Password: required", "Password", NULL },
    { "secret: https://h/a1b2c3d4e5", "secret", NULL },
};

static void values_are_found_beside_their_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct str value = value_in(values[i].text, values[i].name, false);
        struct str want = values[i].value ? str_z(values[i].value) : STR_NONE;
        if (!str_eq(value, want))
            fail_msg("%s: '%.*s'", values[i].text, STR_ARG(value));
    }
}

static void user_defined_names_count_only_as_members(void **state)
{
    (void)state;
    assert_true(str_eq(value_in("{\"customer\":\"Ann\"}", "customer", true), STR("Ann")));
    assert_int_equal(value_in("customer=\"Ann\"", "customer", true).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secret_names_are_recognized_in_any_spelling),
        cmocka_unit_test(other_names_are_not_secret),
        cmocka_unit_test(values_are_found_beside_their_name),
        cmocka_unit_test(user_defined_names_count_only_as_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
