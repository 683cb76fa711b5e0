#include "record/header-secrets.h"

#include "test.h"

struct header_secrets_run {
    struct seen_secrets learnt;
    struct seen_secrets_refs grip;
    struct headers fields;
};

static void setup(struct header_secrets_run *f)
{
    seen_secrets_init(&f->learnt);
    f->grip = (struct seen_secrets_refs){ .values = NULL };
    f->fields = (struct headers){ .at = NULL };
}

static void teardown(struct header_secrets_run *f)
{
    seen_secrets_unref(&f->learnt, &f->grip);
    seen_secrets_release(&f->learnt);
    headers_release(&f->fields);
}

static bool note(void *to, size_t at, size_t end, enum encoding form, uint32_t value)
{
    size_t *longest = to;

    (void)value;
    if (form == ENCODING_PLAIN && end - at > *longest)
        *longest = end - at;
    return true;
}

/* Whether all of the text is something that is looked for. */
static bool is_secret(struct header_secrets_run *f, const char *text)
{
    size_t longest = 0;

    assert_true(seen_secrets_scan(&f->learnt, str_z(text), note, &longest));
    return longest == strlen(text);
}

static bool has_secret(const char *name, const char *value, const char *secret)
{
    struct header_secrets_run f;
    bool found;

    setup(&f);
    headers_add(&f.fields, str_z(name), str_z(value));
    header_secrets_learn(&f.learnt, &f.grip, &f.fields);
    found = is_secret(&f, secret);
    teardown(&f);
    return found;
}

static void credentials_of_headers_and_their_parts_are_searched(void **state)
{
    static const struct row {
        const char *name, *value, *secret;
    } rows[] = {
        { "Authorization", "Bearer opq7Hq2ZtLmW91xKd", "opq7Hq2ZtLmW91xKd" },
        { "authorization", "Bearer opq7Hq2ZtLmW91xKd", "Bearer opq7Hq2ZtLmW91xKd" },
        { "Authorization", "onlyletterswithoutdigits", "onlyletterswithoutdigits" },
        { "Authorization", "Basic dXNlcjpwYXNzMTIzNA==", "dXNlcjpwYXNzMTIzNA==" },
        { "Authorization", "Basic dXNlcjpwYXNzMTIzNA==", "pass1234" },
        { "Authorization", "Bearer secret-token", "secret-token" },
        { "Authorization", "Bearer onlylettersonlyletters", "onlylettersonlyletters" },
        { "X-Session-Id", "my-session", "my-session" },
        { "X-Api-Key", "my-secret-key", "my-secret-key" },
        { "Cookie", "session=top-secret; tz=Europe/Berlin", "top-secret" },
        { "Cookie", "PHPSESSID=top-secret", "top-secret" },
        { "Authorization", "Digest username=\"u\", response=\"6629fae4\"", "6629fae4" },
        { "Authorization", "AWS4-HMAC-SHA256 Credential=A/B, Signature=fe5f80f7", "fe5f80f7" },
        { "Proxy-Authorization", "Bearer pxy7Hq2ZtLm", "pxy7Hq2ZtLm" },
        { "Cookie", "theme=dark; sid=ck9Zt4Wq8R2; x=\"q0w9e8r7\"", "ck9Zt4Wq8R2" },
        { "Cookie", "theme=dark; sid=ck9Zt4Wq8R2; x=\"q0w9e8r7\"", "q0w9e8r7" },
        { "Set-Cookie", "sid=ck9Zt4Wq8R2; Path=/; HttpOnly", "ck9Zt4Wq8R2" },
        { "X-Api-Key", "apk83hQzL0vMw", "apk83hQzL0vMw" },
        { "X-Api-Key", "correct horse battery staple", "correct horse battery staple" },
        { "x-goog-iap-jwt-assertion", "abcdefgh.ijklmnop1", "abcdefgh.ijklmnop1" },
        { "DPoP", "eyJhbGciOiJFUzI1NiJ9.x1", "eyJhbGciOiJFUzI1NiJ9.x1" },
        { "CF-Access-Client-Secret", "cfa77QwErTy12", "cfa77QwErTy12" },
        { "X-Forwarded-Access-Token", "fwd77QwErTy12", "fwd77QwErTy12" },
        { "X-Custom", "cst77QwErTy12", "cst77QwErTy12" },
        { "X-Custom", "unknown-canary-4711", "unknown-canary-4711" },
        { "X-Custom", "a list, of q0w9e8r7; v=\"z0x9c8v7\"", "q0w9e8r7" },
        { "X-Custom", "a list, of q0w9e8r7; v=\"z0x9c8v7\"", "z0x9c8v7" },
        { "X-Custom", "http://host/cb?token=q0w9e8r7t6", "q0w9e8r7t6" },
        { "Mcp-Session-Id", "0f9e8d7c-6b5a-4938", "0f9e8d7c-6b5a-4938" },
        { "Mcp-Session-Id", "12345678", "12345678" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!has_secret(rows[i].name, rows[i].value, rows[i].secret))
            fail_msg("'%s' of '%s: %s' is not looked for", rows[i].secret, rows[i].name,
                     rows[i].value);
}

/* Not even one value may be learnt of them: it would take ordinary text with it. */
static const char *const ordinary[][2] = {
    { "Accept", "application/json, text/event-stream" },
    { "Accept-Encoding", "gzip, deflate, br, zstd" },
    { "Accept-Language", "en-US,en;q=0.9" },
    { "User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36" },
    { "Connection", "keep-alive" },
    { "Content-Type", "application/json; charset=utf-8" },
    { "Content-Length", "12345678901234567890" },
    { "Host", "server7.example.com:8080" },
    { "Origin", "http://localhost:6274" },
    { "Referer", "http://localhost:6274/page1" },
    { "Date", "Mon, 16 Nov 2026 07:15:00 GMT" },
    { "MCP-Protocol-Version", "2025-06-18" },
    { "Mcp-Method", "tools/call" },
    { "Mcp-Name", "get_weather_v2" },
    { "Mcp-Param-City", "berlin-10115" },
    { "Last-Event-ID", "a1b2c3d4e5f6" },
    { "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    { "X-Request-Id", "9d1f6c2a-1111-4222-8333-abcdefabcdef" },
    { "sec-ch-ua", "\"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"" },
    { "X-Custom", "1" },
    { "X-Custom", "true" },
    { "X-Custom", "2025-06-18" },
    { "X-Custom", "2026-11-16T07:15:00.123Z" },
    { "X-Custom", "v18.2.0-beta.4" },
    { "X-Custom", "1.2.3-rc1" },
    { "X-Custom", "1731745612345" },
    { "X-Custom", "claude-desktop/1.2.3" },
    { "X-Custom", "application/vnd.api2+json" },
    { "X-Custom", "localhost:3000" },
    { "X-Custom", "192.168.100.200:8080" },
    { "X-Custom", "[2001:db8::1]:443" },
    { "X-Custom", "api2.example.com" },
    { "X-Custom", "https://api2.example.com:8443/v1/mcp" },
    { "X-Custom", "a plain sentence of 12 words" },
    { "X-Custom", "tools/call" },
    { "X-Api-Key", "changeme" },
    { "X-Api-Key", "short1" },
    { "Authorization", "Bearer" },
    { "Cookie", "theme=dark; lang=en; tz=America/Argentina; view=left-bottom" },
    { "X-Auth-Method", "client-grant" },
    { "X-Token-Type", "id-token" },
    { "Set-Cookie", "a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/x1y2z3w4v5" },
    { "Mcp-Session-Id", "1" },
    { "Mcp-Session-Id", "interactive" },
    { "Mcp-Session-Id", "protocolVersion" },
};

static void ordinary_headers_add_no_secret(void **state)
{
    struct header_secrets_run f;

    (void)state;
    setup(&f);
    for (size_t i = 0; i < sizeof ordinary / sizeof ordinary[0]; i++) {
        headers_clear(&f.fields);
        headers_add(&f.fields, str_z(ordinary[i][0]), str_z(ordinary[i][1]));
        header_secrets_learn(&f.learnt, &f.grip, &f.fields);
        if (f.learnt.active)
            fail_msg("something of '%s: %s' is looked for", ordinary[i][0], ordinary[i][1]);
    }
    teardown(&f);
}

static void urls_in_headers_have_secrets_too(void **state)
{
    struct header_secrets_run f;

    (void)state;
    setup(&f);
    header_secrets_learn_target(
        &f.learnt, &f.grip, 0, STR("/s/9d1f6c2a11114222/my-mcp-server-v2/mcp"),
        STR("api_key=a1b2c3d4&u=9f86d081884c7d65&name=my-mcp-server-v3"));
    assert_true(is_secret(&f, "9d1f6c2a11114222"));
    assert_true(is_secret(&f, "a1b2c3d4"));
    assert_true(is_secret(&f, "9f86d081884c7d65"));
    assert_false(is_secret(&f, "my-mcp-server-v2"));
    assert_false(is_secret(&f, "my-mcp-server-v3"));
    header_secrets_learn_url(
        &f.learnt, &f.grip, 0,
        STR("http://a1b2c3d4e5f6.example:1/messages/e3b0c44298fc1c14?a=b"));
    assert_false(is_secret(&f, "a1b2c3d4e5f6.example:1"));
    header_secrets_learn_url(&f.learnt, &f.grip, 0,
                             STR("/messages?sessionId=27ae41e4649b934c"));
    assert_true(is_secret(&f, "e3b0c44298fc1c14"));
    assert_true(is_secret(&f, "27ae41e4649b934c"));
    teardown(&f);
}

static void headers_with_urls_are_parsed_as_urls(void **state)
{
    struct header_secrets_run f;

    (void)state;
    setup(&f);
    headers_add(&f.fields, STR("Location"), STR("/back?code=l0cC0de99887"));
    headers_add(&f.fields, STR("Content-Location"),
                STR("https://a.example/?ticket=t1ck3t4711"));
    headers_add(&f.fields, STR("Link"),
                STR("<https://a.example/?page=2>; rel=next, </x?token=t0k3n2222>; rel=prev"));
    header_secrets_learn(&f.learnt, &f.grip, &f.fields);
    assert_true(is_secret(&f, "l0cC0de99887"));
    assert_true(is_secret(&f, "t1ck3t4711"));
    assert_true(is_secret(&f, "t0k3n2222"));
    teardown(&f);
}

static void a_session_id_is_replaced_by_its_number(void **state)
{
    struct header_secrets_run f;
    struct buf name;

    (void)state;
    setup(&f);
    buf_init(&name, 100);
    header_secrets_learn_session(&f.learnt, &f.grip, 0, STR("e3b0c44298fc1c14"));
    seen_secrets_write_name(&f.learnt, 0, &name);
    assert_string_equal(buf_z(&name), "Mcp-Session-Id");
    buf_clear(&name);
    header_secrets_learn_session(&f.learnt, &f.grip, 5, STR("e3b0c44298fc1c14"));
    seen_secrets_write_name(&f.learnt, 0, &name);
    assert_string_equal(buf_z(&name), "session-5");
    assert_int_equal(f.learnt.active, 1);
    buf_clear(&name);
    header_secrets_learn_url(&f.learnt, &f.grip, 6,
                             STR("/messages?sessionId=27ae41e4649b934c"));
    seen_secrets_write_name(&f.learnt, 1, &name);
    assert_string_equal(buf_z(&name), "session-6");
    buf_release(&name);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credentials_of_headers_and_their_parts_are_searched),
        cmocka_unit_test(ordinary_headers_add_no_secret),
        cmocka_unit_test(urls_in_headers_have_secrets_too),
        cmocka_unit_test(headers_with_urls_are_parsed_as_urls),
        cmocka_unit_test(a_session_id_is_replaced_by_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
