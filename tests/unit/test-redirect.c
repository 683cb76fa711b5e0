#include "engine/redirect.h"

#include "test.h"

static const char *server_url;

/* What a client that calls us 'here:5' gets as Location, and behind " | " what is not recorded
 * by that; "none" if it is no redirect. */
static void check(unsigned status, const char *path, const char *location, const char *want)
{
    const struct address_client client = { STR("here:5"), str_z(path) };
    struct fields f = { .at = NULL };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct redirect to;
    struct url server;
    struct str got = STR("none");

    assert_true(url_parse(&server, str_z(server_url), &e));
    if (location)
        fields_add(&f, STR("Location"), str_z(location));
    if (redirect_read(&to, status, &f, &server, &client, &a))
        got = arena_printf(&a, "%.*s%s%.*s", STR_ARG(to.told), to.why.len ? " | " : "",
                           STR_ARG(to.why));
    assert_str(got, str_z(want));
    fields_release(&f);
    arena_release(&a);
}

static int at_a_host(void **state)
{
    (void)state;
    server_url = "https://h/mcp?key=1";
    return 0;
}

static int at_its_root(void **state)
{
    (void)state;
    server_url = "http://h";
    return 0;
}

static void to_another_spelling_the_client_stays_with_us(void **state)
{
    (void)state;
    for (unsigned status = 300; status < 400; status++)
        check(status, "/mcp", "https://H:443/mcp/?x=1#y", "http://here:5/mcp/?x=1#y");
    check(307, "/mcp", "//h/mcp/", "http://here:5/mcp/");
    check(307, "/mcp", "/mcp/", "/mcp/");
    check(307, "/mcp", "mcp/", "mcp/");
    check(307, "/mcp/", "../mcp", "../mcp");
    check(307, "/", "http://here:5/%6dcp", "http://here:5/%6dcp");
}

#define BESIDE                                                                                 \
    " | the server says it is elsewhere (status 302), at another of its paths: what is said "  \
    "there is not recorded"

static void to_another_path_it_does_too_and_that_is_told(void **state)
{
    (void)state;
    check(302, "/mcp", "https://h/login?key", "http://here:5/login?key" BESIDE);
    check(302, "/mcp", "/login", "/login" BESIDE);
    check(302, "/mcp/", "login", "login" BESIDE); /* counts from how it was asked for */
    check(302, "/mcp", "https://h", "http://here:5/" BESIDE);
    check(302, "/messages", "https://h/messages/", "http://here:5/messages/" BESIDE);
}

#define AWAY(where)                                                                            \
    " | the server says it is elsewhere (status 308), at '" where                              \
    "': who follows that speaks to it without mcpreel"

static void to_another_origin_it_is_sent_as_the_server_said(void **state)
{
    (void)state;
    check(308, "/mcp", "https://far/mcp?key", "https://far/mcp?key" AWAY("https://far:443"));
    check(308, "/mcp", "http://h/mcp/", "http://h/mcp/" AWAY("http://h:80"));
    check(308, "/mcp", "//h:444/mcp/", "//h:444/mcp/" AWAY("https://h:444"));
}

static void what_cannot_be_read_passes_as_it_is(void **state)
{
    (void)state;
    check(301, "/mcp", "https://me:key@h/mcp",
          "https://me:key@h/mcp | the server says it is elsewhere (status 301), at an address "
          "that mcpreel cannot read: the URL names a user");
}

static void other_answers_are_none(void **state)
{
    (void)state;
    check(201, "/mcp", "https://h/mcp/", "none");
    check(404, "/mcp", "https://h/mcp/", "none");
    check(307, "/mcp", NULL, "none");
    check(307, "/mcp", "", "none");
}

static void a_server_without_a_path_is_at_its_root(void **state)
{
    (void)state;
    check(307, "/", "http://h/", "http://here:5/");
    check(302, "/", "/mcp", "/mcp" BESIDE);
}

static void check_said(unsigned status, const char *location, const char *want)
{
    struct fields f = { .at = NULL };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct url server;

    assert_true(url_parse(&server, str_z(server_url), &e));
    if (location)
        fields_add(&f, STR("Location"), str_z(location));
    assert_str(redirect_say(status, &f, &server, &a), str_z(want));
    fields_release(&f);
    arena_release(&a);
}

#define SAID(where)                                                                            \
    "the server says it is elsewhere (status 307), " where                                     \
    "; this is not followed, but can be given as the server's address"

static void who_does_not_follow_is_told_no_more_than_an_origin(void **state)
{
    (void)state;
    check_said(307, "https://far/mcp?key", SAID("at 'https://far:443'"));
    check_said(307, "//far:7/x", SAID("at 'https://far:7'"));
    check_said(307, "https://h/login?key", SAID("at another of its paths"));
    check_said(307, "/login#x", SAID("at another of its paths"));
    check_said(307, "https://H:443/mcp/?key=1",
               SAID("at its own path in another spelling, as with or without a '/' at the "
                    "end"));
    check_said(301, NULL, "the server says it is elsewhere (status 301), but not where");
}

static void of_what_cannot_be_read_nothing_is_told(void **state)
{
    (void)state;
    check_said(302, "https://user:pw@evil.example/x?tok=S",
               "the server says it is elsewhere (status 302), at an address that mcpreel "
               "cannot read: the URL names a user");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(to_another_spelling_the_client_stays_with_us, at_a_host),
        cmocka_unit_test_setup(to_another_path_it_does_too_and_that_is_told, at_a_host),
        cmocka_unit_test_setup(to_another_origin_it_is_sent_as_the_server_said, at_a_host),
        cmocka_unit_test_setup(what_cannot_be_read_passes_as_it_is, at_a_host),
        cmocka_unit_test_setup(other_answers_are_none, at_a_host),
        cmocka_unit_test_setup(who_does_not_follow_is_told_no_more_than_an_origin, at_a_host),
        cmocka_unit_test_setup(of_what_cannot_be_read_nothing_is_told, at_a_host),
        cmocka_unit_test_setup(a_server_without_a_path_is_at_its_root, at_its_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
