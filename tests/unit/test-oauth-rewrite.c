#include "record/oauth-rewrite.h"

#include <stdio.h>

#include "test.h"

#define US "127.0.0.1:5000"
#define SERVER "https://mcp.example.com"

static struct oauth oauth_at(const char *url)
{
    struct oauth o;

    oauth_init(&o, str_z(url));
    return o;
}

/* Each returns the rewritten text, which is the text itself if it needs no change. */

static void assert_challenge(struct oauth *o, const char *line, const char *want, bool names)
{
    struct buf out;
    bool named;

    buf_init(&out, 4096);
    oauth_rewrite_challenge(o, STR(US), str_z(line), &out, &named);
    assert_str(out.len ? buf_str(&out) : str_z(line), str_z(want));
    assert_int_equal(named, names);
    buf_release(&out);
}

static void assert_metadata(struct oauth *o, enum oauth_document kind, const char *body,
                            const char *want)
{
    struct buf out;

    buf_init(&out, OAUTH_DOCUMENT_MAX);
    oauth_rewrite_metadata(o, kind, STR(US), str_z(body), &out);
    assert_str(out.len ? buf_str(&out) : str_z(body), str_z(want));
    buf_release(&out);
}

static void assert_location(const struct oauth *o, const char *text, const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    oauth_rewrite_location(o, STR(US), str_z(text), &out);
    assert_str(out.len ? buf_str(&out) : str_z(text), str_z(want));
    buf_release(&out);
}

static void assert_form(const struct oauth *o, const char *text, const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    oauth_rewrite_form(o, STR(US), str_z(text), &out);
    assert_str(out.len ? buf_str(&out) : str_z(text), str_z(want));
    buf_release(&out);
}

static void the_metadata_url_of_a_challenge_becomes_ours(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");

    (void)state;
    assert_challenge(&o,
                     "Bearer error=\"invalid_token\", resource_metadata=\"" SERVER
                     "/.well-known/oauth-protected-resource/mcp\", scope=\"a b\"",
                     "Bearer error=\"invalid_token\", resource_metadata=\"http://" US
                     "/.well-known/oauth-protected-resource/mcp\", scope=\"a b\"",
                     true);
    assert_challenge(&o, "Bearer resource_metadata=HTTPS://MCP.example.com:443/x, a=b",
                     "Bearer resource_metadata=http://" US "/x, a=b", true);
    assert_challenge(&o,
                     "Basic realm=\"x\", Bearer resource_metadata=\"" SERVER
                     "/a\", DPoP resource_metadata=\"" SERVER "/b\"",
                     "Basic realm=\"x\", Bearer resource_metadata=\"http://" US
                     "/a\", DPoP resource_metadata=\"http://" US "/b\"",
                     true);
    assert_int_equal(oauth_take_notes(&o), 0);
    oauth_release(&o);
}

static void a_challenge_without_metadata_url_stays(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");

    (void)state;
    assert_challenge(&o, "Bearer realm=\"" SERVER "/mcp\"", "Bearer realm=\"" SERVER "/mcp\"",
                     false);
    assert_challenge(&o, "Bearer resource_metadata=\"/here\"",
                     "Bearer resource_metadata=\"/here\"", true);
    assert_int_equal(oauth_document_kind(&o, STR("/here")), OAUTH_RESOURCE_METADATA);
    assert_int_equal(oauth_take_notes(&o), 0);
    assert_challenge(&o, "Bearer resource_metadata=\"https://other.example.com/m\"",
                     "Bearer resource_metadata=\"https://other.example.com/m\"", true);
    assert_int_equal(oauth_take_notes(&o), OAUTH_FOREIGN_METADATA);
    assert_int_equal(oauth_take_notes(&o), 0);
    oauth_release(&o);
}

static void metadata_documents_are_recognized_by_path(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");
    static const struct {
        const char *path;
        enum oauth_document kind;
    } all[] = {
        { "/.well-known/oauth-protected-resource", OAUTH_RESOURCE_METADATA },
        { "/.well-known/oauth-protected-resource/mcp", OAUTH_RESOURCE_METADATA },
        { "/a/.well-known/oauth-protected-resource", OAUTH_RESOURCE_METADATA },
        { "/.well-known/oauth-protected-resources", OAUTH_NO_DOCUMENT },
        { "/.well-known/oauth-authorization-server", OAUTH_SERVER_METADATA },
        { "/.well-known/oauth-authorization-server/tenant", OAUTH_SERVER_METADATA },
        { "/.well-known/openid-configuration", OAUTH_SERVER_METADATA },
        { "/tenant/.well-known/openid-configuration", OAUTH_SERVER_METADATA },
        { "/openid-configuration", OAUTH_NO_DOCUMENT },
        { "/custom.json", OAUTH_NO_DOCUMENT },
        { "/token", OAUTH_NO_DOCUMENT },
        { "*", OAUTH_NO_DOCUMENT },
        { "", OAUTH_NO_DOCUMENT },
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(oauth_document_kind(&o, str_z(all[i].path)), all[i].kind);
    assert_challenge(&o, "Bearer resource_metadata=\"" SERVER "/custom.json?v=1\"",
                     "Bearer resource_metadata=\"http://" US "/custom.json?v=1\"", true);
    assert_int_equal(oauth_document_kind(&o, STR("/custom.json")), OAUTH_RESOURCE_METADATA);
    oauth_release(&o);
}

static void the_number_of_learned_paths_is_limited(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");
    char line[64];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct buf out;
        bool named;

        buf_init(&out, 4096);
        snprintf(line, sizeof line, "Bearer resource_metadata=\"/%d\"", i);
        oauth_rewrite_challenge(&o, STR(US), str_z(line), &out, &named);
        buf_release(&out);
    }
    assert_int_equal(o.metadata_path_count, OAUTH_PATHS_MAX);
    assert_int_equal(oauth_document_kind(&o, STR("/0")), OAUTH_RESOURCE_METADATA);
    assert_int_equal(oauth_document_kind(&o, STR("/999")), OAUTH_NO_DOCUMENT);
    oauth_release(&o);
}

static void the_resource_becomes_our_url_and_the_rest_stays(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");

    (void)state;
    assert_metadata(
        &o, OAUTH_RESOURCE_METADATA,
        " { \"resource\" : \"" SERVER "/mcp\" ,\"authorization_servers\":[\"" SERVER
        "\", \"https:\\/\\/mcp.example.com/t/\"],\n\"resource_documentation\":\"" SERVER
        "/d\", \"n\": 1.0, \"x\":{\"resource\":\"" SERVER "/mcp\"} }\n",
        " { \"resource\" : \"http://" US "/mcp\" ,\"authorization_servers\":[\"http://" US
        "\", \"http://" US "/t/\"],\n\"resource_documentation\":\"" SERVER
        "/d\", \"n\": 1.0, \"x\":{\"resource\":\"" SERVER "/mcp\"} }\n");
    assert_int_equal(oauth_take_notes(&o), 0);
    oauth_release(&o);
}

static void urls_of_another_origin_stay_and_are_reported(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");
    static const char same[] = "{\"resource\":\"https://evil.example.com/mcp\"}";

    (void)state;
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, same, same);
    assert_metadata(&o, OAUTH_RESOURCE_METADATA,
                    "{\"resource\":\"http://mcp.example.com:443/mcp\"}",
                    "{\"resource\":\"http://mcp.example.com:443/mcp\"}");
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"" SERVER ":8443/mcp\"}",
                    "{\"resource\":\"" SERVER ":8443/mcp\"}");
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"" SERVER ".evil.com/mcp\"}",
                    "{\"resource\":\"" SERVER ".evil.com/mcp\"}");
    assert_metadata(&o, OAUTH_RESOURCE_METADATA,
                    "{\"resource\":\"https://mcp.example.com@evil.com/\"}",
                    "{\"resource\":\"https://mcp.example.com@evil.com/\"}");
    assert_metadata(&o, OAUTH_RESOURCE_METADATA,
                    "{\"resource\":7,\"authorization_servers\":\"x\"}",
                    "{\"resource\":7,\"authorization_servers\":\"x\"}");
    assert_int_equal(oauth_take_notes(&o), 0);
    assert_metadata(&o, OAUTH_RESOURCE_METADATA,
                    "{\"authorization_servers\":[\"http://" US
                    "\",\"https://a.example.com/t?x=secret\",\"https://b.example.com\"]}",
                    "{\"authorization_servers\":[\"http://" US
                    "\",\"https://a.example.com/t?x=secret\",\"https://b.example.com\"]}");
    assert_int_equal(oauth_take_notes(&o), OAUTH_FOREIGN_SERVER);
    assert_str(o.foreign_server, STR("https://a.example.com"));
    oauth_release(&o);
}

static void an_authorization_server_on_the_same_origin_is_rewritten(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");

    (void)state;
    assert_metadata(&o, OAUTH_SERVER_METADATA,
                    "{\"issuer\":\"" SERVER "/\",\"token_endpoint\":\"" SERVER
                    "/token\",\"jwks_uri\":\"" SERVER
                    "/k\",\"authorization_endpoint\":\"https://login.example.com/a\","
                    "\"op_policy_uri\":\"" SERVER "/p\","
                    "\"mtls_endpoint_aliases\":{\"token_endpoint\":\"" SERVER "/mtls\"},"
                    "\"protected_resources\":[\"" SERVER "/mcp\"]}",
                    "{\"issuer\":\"http://" US "/\",\"token_endpoint\":\"http://" US
                    "/token\",\"jwks_uri\":\"http://" US
                    "/k\",\"authorization_endpoint\":\"https://login.example.com/a\","
                    "\"op_policy_uri\":\"" SERVER "/p\","
                    "\"mtls_endpoint_aliases\":{\"token_endpoint\":\"http://" US "/mtls\"},"
                    "\"protected_resources\":[\"http://" US "/mcp\"]}");
    oauth_release(&o);
}

static void all_urls_of_the_origin_are_rewritten(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");
    struct buf body, want;

    (void)state;
    buf_init(&body, 1 << 16);
    buf_init(&want, 1 << 16);
    for (int i = 0; i < 100; i++) {
        buf_printf(&body, "%s\"" SERVER "/%d\"", i ? "," : "{\"authorization_servers\":[", i);
        buf_printf(&want, "%s\"http://" US "/%d\"", i ? "," : "{\"authorization_servers\":[",
                   i);
    }
    buf_add(&body, STR("]}"));
    buf_add(&want, STR("]}"));
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, buf_z(&body), buf_z(&want));
    buf_release(&body);
    buf_release(&want);
    oauth_release(&o);
}

static void invalid_metadata_stays_and_is_reported(void **state)
{
    static const char *const bad[] = { "", "<html>", "[]", "{\"resource\":", "null" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct oauth o = oauth_at(SERVER "/mcp");

        assert_metadata(&o, OAUTH_RESOURCE_METADATA, bad[i], bad[i]);
        assert_int_equal(oauth_take_notes(&o), OAUTH_UNREADABLE_METADATA);
        oauth_release(&o);
    }
}

static void signed_metadata_is_reported(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");

    (void)state;
    assert_metadata(&o, OAUTH_SERVER_METADATA, "{\"signed_metadata\":\"e.y.j\"}",
                    "{\"signed_metadata\":\"e.y.j\"}");
    assert_int_equal(oauth_take_notes(&o), OAUTH_SIGNED_METADATA);
    oauth_release(&o);
}

/* A client may write any Host of this machine, the server's, too. */
static void the_host_of_the_server_must_match_completely(void **state)
{
    struct oauth o = oauth_at("http://" US "/mcp");

    (void)state;
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"http://" US "/mcp\"}",
                    "{\"resource\":\"http://" US "/mcp\"}");
    oauth_release(&o);
}

static void a_server_with_our_own_url_is_not_rewritten(void **state)
{
    struct oauth o = oauth_at("http://127.0.0.1:1/mcp");

    (void)state;
    assert_challenge(&o, "Bearer resource_metadata=\"http://" US "/m\"",
                     "Bearer resource_metadata=\"http://" US "/m\"", true);
    assert_int_equal(oauth_document_kind(&o, STR("/m")), OAUTH_RESOURCE_METADATA);
    assert_form(&o, "resource=http://127.0.0.1:5000/mcp",
                "resource=http%3A%2F%2F127.0.0.1%3A1%2Fmcp");
    assert_metadata(
        &o, OAUTH_RESOURCE_METADATA,
        "{\"resource\":\"http://" US "/mcp\",\"authorization_servers\":[\"http://" US "\"]}",
        "{\"resource\":\"http://" US "/mcp\",\"authorization_servers\":[\"http://" US "\"]}");
    assert_form(&o, "resource=http://127.0.0.1:5000/mcp", "resource=http://127.0.0.1:5000/mcp");
    assert_int_equal(oauth_take_notes(&o), 0);
    oauth_note_endpoint_path(&o, STR("/"));
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"http://" US "/mcp\"}",
                    "{\"resource\":\"http://" US "/\"}");
    assert_form(&o, "resource=http://127.0.0.1:5000/",
                "resource=http%3A%2F%2F127.0.0.1%3A5000%2Fmcp");
    oauth_note_endpoint_path(&o, STR("/mcp"));
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"http://127.0.0.1:1/mcp\"}",
                    "{\"resource\":\"http://" US "/mcp\"}");
    assert_form(&o, "resource=http://127.0.0.1:5000/mcp",
                "resource=http%3A%2F%2F127.0.0.1%3A1%2Fmcp");
    oauth_release(&o);
}

static void the_resource_of_an_endpoint_at_the_root_is_at_the_root(void **state)
{
    struct oauth o = oauth_at(SERVER "/secret/mcp");

    (void)state;
    oauth_note_endpoint_path(&o, STR("/"));
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"" SERVER "/secret/mcp\"}",
                    "{\"resource\":\"http://" US "/\"}");
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"" SERVER "\"}",
                    "{\"resource\":\"http://" US "\"}");
    assert_form(&o, "resource=http%3A%2F%2F127.0.0.1%3A5000%2F",
                "resource=https%3A%2F%2Fmcp.example.com%2Fsecret%2Fmcp");
    oauth_note_endpoint_path(&o, STR("/secret/mcp"));
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"" SERVER "/secret/mcp\"}",
                    "{\"resource\":\"http://" US "/secret/mcp\"}");
    assert_form(&o, "resource=http%3A%2F%2F127.0.0.1%3A5000%2F",
                "resource=https%3A%2F%2Fmcp.example.com%2F");
    oauth_release(&o);
}

static void redirects_are_rewritten_and_name_our_issuer(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp");

    (void)state;
    assert_location(&o, SERVER "/login?x=1#f", "/login?x=1#f");
    assert_location(&o, SERVER "?x=1", "/?x=1");
    assert_location(&o, SERVER "#f", "/#f");
    assert_location(&o, SERVER "//evil.example.com/x", "/.//evil.example.com/x");
    assert_location(&o, SERVER "/cb?iss=https%3A%2F%2Fmcp.example.com",
                    "/cb?iss=http%3A%2F%2F127.0.0.1%3A5000");
    assert_location(&o, "/login?x=1", "/login?x=1");
    assert_location(&o, "https://idp.example.com/?next=" SERVER "/cb",
                    "https://idp.example.com/?next=" SERVER "/cb");
    assert_location(
        &o, "http://localhost:3/cb?code=c%20d&iss=https%3A%2F%2Fmcp.example.com&state=s",
        "http://localhost:3/cb?code=c%20d&iss=http%3A%2F%2F127.0.0.1%3A5000&state=s");
    assert_location(&o, "app://cb?iss=https%3A%2F%2Fmcp.example.com%2Ft&code=c",
                    "app://cb?iss=http%3A%2F%2F127.0.0.1%3A5000%2Ft&code=c");
    assert_location(&o, "http://localhost:3/cb?iss=https%3A%2F%2Fevil.example.com",
                    "http://localhost:3/cb?iss=https%3A%2F%2Fevil.example.com");
    assert_location(&o, "", "");
    oauth_release(&o);
}

static void assert_redirect(const struct oauth *o, const char *path, const char *query,
                            const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    oauth_login_redirect(o, STR(US), str_z(path), str_z(query), &out);
    assert_str(buf_str(&out), str_z(want));
    buf_release(&out);
}

#define AGREE "{\"authorization_endpoint\":\"" SERVER "/agree\""

static void the_authorization_page_stays_at_the_server(void **state)
{
    struct oauth o = oauth_at(SERVER "/mcp"), here = oauth_at("http://127.0.0.1:1/mcp");

    (void)state;
    assert_redirect(&o, "/agree", "a=b", "");
    assert_metadata(&o, OAUTH_SERVER_METADATA, AGREE "}",
                    "{\"authorization_endpoint\":\"http://" US "/agree\"}");
    assert_redirect(&o, "/agree", "a=b&resource=http://127.0.0.1:5000/mcp",
                    SERVER "/agree?a=b&resource=https%3A%2F%2Fmcp.example.com%2Fmcp");
    assert_redirect(&o, "/agree", NULL, SERVER "/agree");
    assert_redirect(&o, "/token", "a=b", "");
    assert_metadata(&o, OAUTH_SERVER_METADATA,
                    AGREE ",\"authorization_response_iss_parameter_supported\":true}",
                    "{\"authorization_endpoint\":\"http://" US
                    "/agree\",\"authorization_response_iss_parameter_supported\":true}");
    assert_redirect(&o, "/agree", "a=b", "");
    assert_metadata(&here, OAUTH_SERVER_METADATA,
                    "{\"authorization_endpoint\":\"http://127.0.0.1:1/agree\"}",
                    "{\"authorization_endpoint\":\"http://" US "/agree\"}");
    assert_redirect(&here, "/agree", "a=b", "");
    oauth_release(&o);
    oauth_release(&here);
}

static void the_resource_of_a_token_request_is_the_servers(void **state)
{
    struct oauth o = oauth_at("https://user:word@mcp.example.com/mcp");

    (void)state;
    assert_form(&o, "grant_type=x&resource=http%3A%2F%2F127.0.0.1%3A5000%2Fmcp&code=a%2Bb",
                "grant_type=x&resource=https%3A%2F%2Fmcp.example.com%2Fmcp&code=a%2Bb");
    assert_form(&o, "re%73ource=http://localhost:5000/mcp?a", /* another name of this machine */
                "re%73ource=https%3A%2F%2Fmcp.example.com%2Fmcp%3Fa");
    assert_form(&o, "resource=http://127.0.0.1:5000/a&resource=http://127.0.0.1:5000",
                "resource=https%3A%2F%2Fmcp.example.com%2Fa&"
                "resource=https%3A%2F%2Fmcp.example.com");
    assert_form(&o, "resource=http://127.0.0.1:5001/mcp&client_id=http://127.0.0.1:5000/mcp",
                "resource=http://127.0.0.1:5001/mcp&client_id=http://127.0.0.1:5000/mcp");
    assert_form(&o, "resource=https://127.0.0.1:5000/mcp&resource&resource=",
                "resource=https://127.0.0.1:5000/mcp&resource&resource=");
    oauth_release(&o);
}

static void a_url_with_an_ipv6_host_is_rewritten(void **state)
{
    struct oauth o = oauth_at("http://[::1]:80/mcp");

    (void)state;
    assert_str(o.server_origin, STR("http://[::1]:80"));
    assert_metadata(&o, OAUTH_RESOURCE_METADATA, "{\"resource\":\"http://[0:0::1]/mcp\"}",
                    "{\"resource\":\"http://" US "/mcp\"}");
    oauth_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_metadata_url_of_a_challenge_becomes_ours),
        cmocka_unit_test(a_challenge_without_metadata_url_stays),
        cmocka_unit_test(metadata_documents_are_recognized_by_path),
        cmocka_unit_test(the_number_of_learned_paths_is_limited),
        cmocka_unit_test(the_resource_becomes_our_url_and_the_rest_stays),
        cmocka_unit_test(urls_of_another_origin_stay_and_are_reported),
        cmocka_unit_test(an_authorization_server_on_the_same_origin_is_rewritten),
        cmocka_unit_test(all_urls_of_the_origin_are_rewritten),
        cmocka_unit_test(invalid_metadata_stays_and_is_reported),
        cmocka_unit_test(signed_metadata_is_reported),
        cmocka_unit_test(the_host_of_the_server_must_match_completely),
        cmocka_unit_test(a_server_with_our_own_url_is_not_rewritten),
        cmocka_unit_test(the_resource_of_an_endpoint_at_the_root_is_at_the_root),
        cmocka_unit_test(redirects_are_rewritten_and_name_our_issuer),
        cmocka_unit_test(the_authorization_page_stays_at_the_server),
        cmocka_unit_test(the_resource_of_a_token_request_is_the_servers),
        cmocka_unit_test(a_url_with_an_ipv6_host_is_rewritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
