#include "runtime/remote-config.h"

#include "cli.h"
#include "test.h"

static char *const env[] = { "TOKEN=Bearer tok-1234567", "BROKEN=a\nb", "EMPTY=", NULL };

static bool read_args(struct cli *d, struct remote_config *r,
                      const struct remote_config_args *args, struct err *e)
{
    struct app app = { .sys = &d->faults.sys, .env = env };

    return remote_config_read(r, &app, args, e);
}

static void assert_url(struct cli *d, const char *given, const char *url, const char *shown,
                       const char *host)
{
    struct err e = ERR_NONE;
    struct remote_config r;

    if (!read_args(d, &r, &(struct remote_config_args){ .url = given }, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(r.url, url);
    assert_string_equal(r.display_url, shown);
    assert_string_equal(r.host, host);
    remote_config_release(&r);
}

static void a_url_without_path_gets_the_path_mcp(void **state)
{
    struct cli *d = *state;

    assert_url(d, "http://h", "http://h/mcp", "http://h/mcp", "h");
    assert_url(d, "https://h:81?a=/b", "https://h:81/mcp?a=/b", "https://h:81/mcp?a=/b",
               "h:81");
    assert_url(d, "http://h/", "http://h/", "http://h/", "h");
    assert_url(d, "http://u:p@[::1]:9/x?y", "http://u:p@[::1]:9/x?y", "http://[::1]:9/x?y",
               "::1:9");
    assert_url(d, "http://@h", "http://@h/mcp", "http://h/mcp", "h");
}

static void assert_fields(const struct headers *f, const char *want)
{
    struct buf text;

    buf_init(&text, 1 << 10);
    for (size_t i = 0; i < f->count; i++)
        buf_printf(&text, "%.*s=%.*s;", STR_ARG(f->at[i].name), STR_ARG(f->at[i].value));
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
}

static void headers_are_sent_and_their_values_are_secrets(void **state)
{
    const char *given[] = { "X-Key:  a b ", "Accept: text/plain" };
    const char *variables[] = { "Authorization=TOKEN" };
    struct remote_config_args args = { .target = "http://h/",
                                       .headers = { given, 2 },
                                       .header_env = { variables, 1 } };
    struct err e = ERR_NONE;
    struct remote_config r;

    assert_true(read_args(*state, &r, &args, &e));
    assert_fields(&r.headers, "X-Key=a b;Accept=text/plain;Authorization=Bearer tok-1234567;");
    assert_fields(&r.secrets, "X-Key=a b;X-Key=b;TOKEN=Bearer tok-1234567;TOKEN=tok-1234567;");
    remote_config_release(&r);
}

static void assert_password(struct cli *d, const char *url, const char *want)
{
    struct err e = ERR_NONE;
    struct remote_config r;

    assert_true(read_args(d, &r, &(struct remote_config_args){ .url = url }, &e));
    assert_fields(&r.secrets, want);
    remote_config_release(&r);
}

static void the_password_of_a_url_is_a_secret(void **state)
{
    struct cli *d = *state;

    assert_password(d, "http://h/", "");
    assert_password(d, "http://me:pass@h/", "URL=pass;");
    assert_password(d, "http://me:p%40ss@h/", "URL=p@ss;");
    assert_password(d, "http://token@h/", "URL=token;");
}

static void assert_refused(struct cli *d, const struct remote_config_args *args,
                           enum err_kind kind, const char *msg)
{
    struct err e = ERR_NONE;
    struct remote_config r;

    assert_false(read_args(d, &r, args, &e));
    assert_int_equal(e.kind, kind);
    assert_string_equal(e.msg, msg);
    remote_config_release(&r);
}

static void invalid_headers_are_rejected_without_their_value(void **state)
{
    static const struct {
        const char *given, *variable, *msg;
    } rows[] = {
        { "secret", NULL, "'--header' needs a valid header name and value" },
        { "A b: secret", NULL, "'--header' needs a valid header name and value" },
        { "A: se\ncret", NULL, "'--header' needs a valid header name and value" },
        { NULL, "A", "'--header-env' needs a header and a variable" },
        { NULL, "A=", "'--header-env' needs a header and a variable" },
        { NULL, "A=secret", "'--header-env': the variable for 'A' is not set or empty" },
        { NULL, "A=EMPTY", "'--header-env': the variable for 'A' is not set or empty" },
        { NULL, "A=BROKEN", "'--header-env' needs a valid header name and value" },
        { NULL, "A b=TOKEN", "'--header-env' needs a valid header name and value" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *given = rows[i].given, *variable = rows[i].variable;
        struct remote_config_args args = { .url = "http://h/",
                                           .headers = { &given, given ? 1 : 0 },
                                           .header_env = { &variable, variable ? 1 : 0 } };

        assert_refused(*state, &args, ERR_USAGE, rows[i].msg);
    }
}

#define NO_SCHEME "the URL begins with neither 'http://' nor 'https://'"
#define NO_HOST "the URL has no valid host and port"

static void an_invalid_url_is_reported_without_its_secrets(void **state)
{
    static const struct {
        const char *given, *msg;
    } rows[] = {
        { "h:3000/mcp", "'--url': 'h:3000/mcp' cannot be used: " NO_SCHEME },
        { "htp://h/a?tok=secret", "'--url': 'htp://h/a' cannot be used: " NO_SCHEME },
        { "http:/h#secret", "'--url': 'http:/h' cannot be used: " NO_SCHEME },
        { "?secret://h", "'--url': " NO_SCHEME },
        { "", "'--url': " NO_SCHEME },
        { "http://h:99999/?tok=secret", "'--url': 'http://h:99999/' cannot be used: " NO_HOST },
        { "http:///x", "'--url': 'http:///x' cannot be used: " NO_HOST },
        { "http://u:secret@:1/", "'--url': " NO_HOST },
        { "http://u:x?secret@h/", "'--url': " NO_HOST },
        { "http://u:1secret/", "'--url': " NO_HOST },
        { "u:secret@h", "'--url': " NO_SCHEME },
        { "http://secret%40h/", "'--url': " NO_HOST },
        { "http://h/a b",
          "'--url': 'http://h/a b' cannot be used: the URL contains an invalid character" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(*state, &(struct remote_config_args){ .url = rows[i].given }, ERR_USAGE,
                       rows[i].msg);
    assert_refused(*state, &(struct remote_config_args){ .target = "h" }, ERR_USAGE,
                   "'--target': 'h' cannot be used: " NO_SCHEME);
}

static void a_long_url_leaves_room_for_the_error(void **state)
{
    struct remote_config_args args;
    char url[1024];

    memset(url, 'h', sizeof url);
    url[sizeof url - 1] = '\0';
    args = (struct remote_config_args){ .url = url };
    assert_refused(*state, &args, ERR_USAGE, "'--url': " NO_SCHEME);
}

static void options_without_a_url_are_not_checked(void **state)
{
    const char *line = "no header";
    struct err e = ERR_NONE;
    struct remote_config r;

    assert_true(read_args(
        *state, &r, &(struct remote_config_args){ .headers = { &line, 1 }, .cacert = "a.pem" },
        &e));
    assert_null(r.url);
    assert_int_equal(r.headers.count, 0);
    remote_config_release(&r);
}

static void only_one_server_with_its_options_is_accepted(void **state)
{
    struct cli *d = *state;

    assert_refused(d, &(struct remote_config_args){ .url = "http://a/", .target = "http://b/" },
                   ERR_USAGE, "'--url' cannot be combined with '--target'");
    assert_refused(d, &(struct remote_config_args){ .url = "http://a/", .cacert = "a.pem" },
                   ERR_USAGE, "cannot read 'a.pem': No such file or directory");
}

static void without_a_url_there_is_no_server(void **state)
{
    struct err e = ERR_NONE;
    struct remote_config r;

    assert_true(read_args(*state, &r, &(struct remote_config_args){ 0 }, &e));
    assert_null(r.url);
    assert_false(remote_config_is_https(&r));
    remote_config_release(&r);
}

static void the_scheme_decides_whether_a_server_is_secure(void **state)
{
    static const struct {
        const char *url;
        bool secure;
    } rows[] = { { "https://h/", true },
                 { "HTTPS://h", true },
                 { "http://h/", false },
                 { "http://h/https:", false } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = ERR_NONE;
        struct remote_config r;

        assert_true(
            read_args(*state, &r, &(struct remote_config_args){ .url = rows[i].url }, &e));
        assert_int_equal(remote_config_is_https(&r), rows[i].secure);
        remote_config_release(&r);
    }
}

static void secrets_are_not_sent_for_other_hosts(void **state)
{
    const char *line = "X-Key: secret", *plain = "Accept: text/plain";
    struct err e = ERR_NONE;
    struct remote_config r;

    assert_true(read_args(
        *state, &r, &(struct remote_config_args){ .url = "http://h/", .headers = { &line, 1 } },
        &e));
    assert_true(remote_config_check_credentials(&r, false, &e));
    assert_false(remote_config_check_credentials(&r, true, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    remote_config_release(&r);
    assert_true(read_args(
        *state, &r,
        &(struct remote_config_args){ .url = "http://h/", .headers = { &plain, 1 } }, &e));
    assert_true(remote_config_check_credentials(&r, true, &e));
    remote_config_release(&r);
}

static void assert_mcp_recorder_url(const char *target, const char *want)
{
    struct arena a = { 0 };

    assert_str(str_z(remote_config_mcp_recorder_url(target, &a)), str_z(want));
    arena_release(&a);
}

static void a_target_of_mcp_recorder_gets_its_path(void **state)
{
    (void)state;
    assert_mcp_recorder_url("http://h", "http://h/mcp");
    assert_mcp_recorder_url("http://h:80/", "http://h:80/mcp");
    assert_mcp_recorder_url("http://h/mcp", "http://h/mcp");
    assert_mcp_recorder_url("http://h/a/mcp//", "http://h/a/mcp");
    assert_mcp_recorder_url("http://h/abc", "http://h/abc/mcp");
    assert_mcp_recorder_url("http://mcp", "http://mcp/mcp");
    assert_mcp_recorder_url("http://h/mcp?key=s", "http://h/mcp?key=s");
    assert_mcp_recorder_url("http://h/?key=x", "http://h/mcp?key=x");
    assert_mcp_recorder_url("http://h/abc/?key=x", "http://h/abc/mcp?key=x");
    assert_mcp_recorder_url("http://u:p@h?key=x#frag", "http://u:p@h/mcp?key=x#frag");
    assert_mcp_recorder_url("http://h/abc?to=/mcp", "http://h/abc/mcp?to=/mcp");
    assert_mcp_recorder_url("http://h?to=a/", "http://h/mcp?to=a/");
    assert_mcp_recorder_url("http://h#/mcp", "http://h/mcp#/mcp");
    assert_mcp_recorder_url("nothing", "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_url_without_path_gets_the_path_mcp),
        WITH_CLI(headers_are_sent_and_their_values_are_secrets),
        WITH_CLI(the_password_of_a_url_is_a_secret),
        WITH_CLI(invalid_headers_are_rejected_without_their_value),
        WITH_CLI(an_invalid_url_is_reported_without_its_secrets),
        WITH_CLI(a_long_url_leaves_room_for_the_error),
        WITH_CLI(options_without_a_url_are_not_checked),
        WITH_CLI(only_one_server_with_its_options_is_accepted),
        WITH_CLI(without_a_url_there_is_no_server),
        WITH_CLI(the_scheme_decides_whether_a_server_is_secure),
        WITH_CLI(secrets_are_not_sent_for_other_hosts),
        cmocka_unit_test(a_target_of_mcp_recorder_gets_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
