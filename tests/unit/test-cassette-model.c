#include "format/cassette-model.h"
#include "test.h"

struct doc {
    struct json json;
    struct arena arena;
    struct window window;
    struct err err;
};

static void doc_open(struct doc *d, const char *text)
{
    struct json_fault fault;

    *d = (struct doc){ .window = { str_z(text), true, 1, "f", NULL } };
    json_init(&d->json);
    if (!json_scan(&d->json, str_z(text), &fault))
        fail_msg("%s: %s", text, fault.what);
}

static void doc_close(struct doc *d)
{
    json_release(&d->json);
    arena_release(&d->arena);
}

/* One member of an otherwise minimal interaction. `want` is its value, "out of range",
 * or NULL if mcp-recorder rejects it. All rows were tried with mcp-recorder 0.5.0. */
static const struct {
    const char *member, *value, *want;
} coercions[] = {
    { "response_status", "200", "200" },
    { "response_status", "200.0", "200" },
    { "response_status", "2e2", "200" },
    { "latency_ms", "-0.0", "0" },
    { "latency_ms", "true", "1" },
    { "latency_ms", "false", "0" },
    { "response_status", "\"200\"", "200" },
    { "response_status", "\" \\t\\n200\\f\\u000b\\r\"", "200" },
    { "response_status", "\"+200\"", "200" },
    { "latency_ms", "\"007\"", "7" },
    { "latency_ms", "\"-0\"", "0" },
    { "response_status", "\"200.00\"", "200" },
    { "latency_ms", "\"1_000\"", "1000" },
    { "latency_ms", "\"1_0.0\"", "10" },
    { "latency_ms", "9223372036854775807", "9223372036854775807" },
    { "response_status", "9223372036854775808", "out of range" },
    { "response_status", "123456789012345678901234567890", "out of range" },
    { "response_status", "\"123456789012345678901234567890\"", "out of range" },
    { "response_status", "-1", "out of range" },
    { "response_status", "0", "out of range" },
    { "response_status", "199", "out of range" },
    { "response_status", "599", "599" },
    { "response_status", "600", "out of range" },
    { "latency_ms", "9223372036854775808", "out of range" },
    { "response_status", "\"-3.0\"", "out of range" },
    { "response_status", "null", NULL },
    { "response_status", "7.5", NULL },
    { "response_status", "9.3e18", NULL },
    { "response_status", "1e300", NULL },
    { "response_status", "[]", NULL },
    { "response_status", "{}", NULL },
    { "response_status", "\"\"", NULL },
    { "response_status", "\"200.\"", NULL },
    { "response_status", "\".0\"", NULL },
    { "response_status", "\"2e2\"", NULL },
    { "response_status", "\"0x10\"", NULL },
    { "response_status", "\"_1\"", NULL },
    { "response_status", "\"1_\"", NULL },
    { "response_status", "\"1__0\"", NULL },
    { "response_status", "\"1.0_0\"", NULL },
    { "response_status", "\"1_.0\"", NULL },
    { "response_status", "\"- 3\"", NULL },
    { "response_status", "\"+-1\"", NULL },
    { "response_status", "\"20 0\"", NULL },
    { "response_status", "\"200\\u0000\"", NULL },
    { "response_status", "\"\\u001f200\"", NULL },
    { "latency_ms", "17", "17" },
    { "latency_ms", "\"17\"", "17" },
    { "latency_ms", "-5", "out of range" },
    { "latency_ms", "null", NULL },
    { "response_is_sse", "true", "true" },
    { "response_is_sse", "false", "false" },
    { "response_is_sse", "1", "true" },
    { "response_is_sse", "0.0", "false" },
    { "response_is_sse", "10e-1", "true" },
    { "response_is_sse", "\"tRuE\"", "true" },
    { "response_is_sse", "\"\\u0074\"", "true" },
    { "response_is_sse", "\"YES\"", "true" },
    { "response_is_sse", "\"y\"", "true" },
    { "response_is_sse", "\"on\"", "true" },
    { "response_is_sse", "\"1\"", "true" },
    { "response_is_sse", "\"False\"", "false" },
    { "response_is_sse", "\"f\"", "false" },
    { "response_is_sse", "\"no\"", "false" },
    { "response_is_sse", "\"n\"", "false" },
    { "response_is_sse", "\"off\"", "false" },
    { "response_is_sse", "\"0\"", "false" },
    { "response_is_sse", "2", NULL },
    { "response_is_sse", "-1", NULL },
    { "response_is_sse", "0.5", NULL },
    { "response_is_sse", "null", NULL },
    { "response_is_sse", "\" true\"", NULL },
    { "response_is_sse", "\"\"", NULL },
    { "response_is_sse", "[]", NULL },
    { "request", "{ \"a\": 1 }", "{ \"a\": 1 }" },
    { "request", "null", "null" },
    { "request", "[]", NULL },
    { "request", "\"{}\"", NULL },
    { "response", "{}", "{}" },
    { "response", "null", "null" },
    { "response", "[]", NULL },
    { "response", "0", NULL },
    { "http_method", "\"GET\"", "GET" },
    { "http_method", "\"\"", "" },
    { "http_method", "null", "null" },
    { "http_method", "5", NULL },
    { "http_path", "\"/\\u0061\"", "/a" },
    { "http_path", "null", "null" },
    { "http_path", "[]", NULL },
};

static struct str number_text(struct arena *a, bool has, uint64_t n)
{
    return has ? arena_printf(a, "%llu", (unsigned long long)n) : STR("out of range");
}

static struct str or_null(struct str s)
{
    return s.at ? s : STR("null");
}

static struct str value_of(const struct cassette_interaction *i, const char *member,
                           struct arena *a)
{
    if (strcmp(member, "response_status") == 0)
        return number_text(a, i->has_status, i->status);
    if (strcmp(member, "latency_ms") == 0)
        return number_text(a, i->has_latency, i->latency_ms);
    if (strcmp(member, "response_is_sse") == 0)
        return i->sse ? STR("true") : STR("false");
    if (strcmp(member, "request") == 0)
        return or_null(i->request);
    if (strcmp(member, "response") == 0)
        return or_null(i->response);
    return or_null(strcmp(member, "http_method") == 0 ? i->method : i->path);
}

static void members_are_read_as_mcp_recorder_reads_them(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof coercions / sizeof coercions[0]; n++) {
        struct arena a = { 0 };
        struct str text = arena_printf(&a, "{\"type\":\"notification\",\"%s\":%s}",
                                       coercions[n].member, coercions[n].value);
        struct cassette_interaction i;
        struct json_val beyond;
        struct doc d;
        bool ok;

        doc_open(&d, text.at);
        ok = cassette_model_read_interaction(&d.window, json_root(&d.json), &d.arena, &i,
                                             &beyond, &d.err);
        if (ok != (coercions[n].want != NULL))
            fail_msg("%s: %s", text.at, ok ? "taken" : d.err.msg);
        if (ok) {
            assert_str(value_of(&i, coercions[n].member, &a), str_z(coercions[n].want));
            assert_int_equal(json_exists(beyond),
                             strcmp(coercions[n].want, "out of range") == 0);
        } else {
            struct str at =
                arena_printf(&a, "f:1:%zu: '%s' must be ",
                             text.len - strlen(coercions[n].value), coercions[n].member);
            assert_true(str_starts(str_z(d.err.msg), at));
        }
        doc_close(&d);
        arena_release(&a);
    }
}

static void an_interaction_needs_only_a_type(void **state)
{
    struct cassette_interaction i;
    struct json_val beyond;
    struct doc d;

    (void)state;
    doc_open(&d, "{\"type\":\"life\\u0063ycle\",\"surprise\":[]}");
    assert_true(cassette_model_read_interaction(&d.window, json_root(&d.json), &d.arena, &i,
                                                &beyond, &d.err));
    assert_int_equal(i.type, CASSETTE_LIFECYCLE);
    assert_true(i.has_status && i.has_latency && !i.sse);
    assert_int_equal(i.status, 200);
    assert_int_equal(i.latency_ms, 0);
    assert_null(i.request.at);
    assert_null(i.response.at);
    assert_null(i.method.at);
    assert_null(i.path.at);
    doc_close(&d);
}

static const struct {
    const char *text, *why;
} bad_interactions[] = {
    { "[]", "f:1:1: an interaction must be an object" },
    { "null", "f:1:1: an interaction must be an object" },
    { "{\"request\":{}}", "f:1:1: an interaction without 'type'" },
    { "{\"type\":\"Lifecycle\"}",
      "f:1:9: 'type' must be \"jsonrpc_request\", \"notification\" or \"lifecycle\"" },
    { "{\n\"type\":\n null}",
      "f:3:2: 'type' must be \"jsonrpc_request\", \"notification\" or \"lifecycle\"" },
    { "{\"type\":\"lifecycle\",\"type\":1}",
      "f:1:28: 'type' must be \"jsonrpc_request\", \"notification\" or \"lifecycle\"" },
};

static void an_invalid_interaction_is_rejected(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof bad_interactions / sizeof bad_interactions[0]; n++) {
        struct cassette_interaction i;
        struct json_val beyond;
        struct doc d;

        doc_open(&d, bad_interactions[n].text);
        assert_false(cassette_model_read_interaction(&d.window, json_root(&d.json), &d.arena,
                                                     &i, &beyond, &d.err));
        assert_string_equal(d.err.msg, bad_interactions[n].why);
        doc_close(&d);
    }
}

static const struct {
    const char *text, *why; /* NULL: it is fine */
} documents[] = {
    { "{}", NULL },
    { "{\"version\":\"1\"}", NULL },
    { "{\"version\":\"1.x.y\",\"metadata\":{},\"interactions\":[],\"more\":5}", NULL },
    { "{\"metadata\":{\"recorded_at\":\"\",\"server_url\":\"\",\"transport_type\":null,"
      "\"protocol_version\":null,\"server_info\":null}}",
      NULL },
    { "{\"interactions\":{},\"interactions\":[]}", NULL },
    { "[]", "f:1:1: a cassette must be an object" },
    { "\"{}\"", "f:1:1: a cassette must be an object" },
    { "{\"version\":1.0}", "f:1:12: 'version' must be a string" },
    { "{\"version\":null}", "f:1:12: 'version' must be a string" },
    { "{\"version\":\"2.0\"}",
      "f:1:12: this is a cassette of version '2.0'; this program reads version 1" },
    { "{\"version\":\"\"}",
      "f:1:12: this is a cassette of version ''; this program reads version 1" },
    { "{\"version\":\" 1.0\"}",
      "f:1:12: this is a cassette of version ' 1.0'; this program reads version 1" },
    { "{\"version\":\"1x\"}",
      "f:1:12: this is a cassette of version '1x'; this program reads version 1" },
    { "{\"metadata\":null}", "f:1:13: 'metadata' must be an object" },
    { "{\"metadata\":[]}", "f:1:13: 'metadata' must be an object" },
    { "{\"metadata\":{\"recorded_at\":null}}", "f:1:28: 'recorded_at' must be a string" },
    { "{\"metadata\":{\"recorded_at\":5}}", "f:1:28: 'recorded_at' must be a string" },
    { "{\"metadata\":{\"server_url\":null}}", "f:1:27: 'server_url' must be a string" },
    { "{\"metadata\":{\"transport_type\":5}}",
      "f:1:31: 'transport_type' must be a string or null" },
    { "{\"metadata\":{\"protocol_version\":5}}",
      "f:1:33: 'protocol_version' must be a string or null" },
    { "{\"metadata\":{\"server_info\":[]}}",
      "f:1:28: 'server_info' must be an object or null" },
    { "{\"interactions\":null}", "f:1:17: 'interactions' must be an array" },
    { "{\"interactions\":{}}", "f:1:17: 'interactions' must be an array" },
};

static void documents_are_read_as_mcp_recorder_reads_them(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof documents / sizeof documents[0]; n++) {
        struct cassette_metadata m;
        struct doc d;
        bool ok;

        doc_open(&d, documents[n].text);
        ok = cassette_model_read(&d.window, json_root(&d.json), &d.arena, &m, &d.err);
        if (ok == (documents[n].why != NULL))
            fail_msg("%s: %s", documents[n].text, ok ? "taken" : d.err.msg);
        if (!ok)
            assert_string_equal(d.err.msg, documents[n].why);
        doc_close(&d);
    }
}

static void missing_members_of_a_document_stay_absent(void **state)
{
    struct cassette_metadata m;
    struct record r;
    struct doc d;

    (void)state;
    doc_open(&d, "{}");
    assert_true(cassette_model_read(&d.window, json_root(&d.json), &d.arena, &m, &d.err));
    assert_str(m.version, STR("1.0"));
    assert_null(m.recorded_at.at);
    cassette_model_to_header(&m, &d.arena, &r);
    assert_int_equal(r.kind, RECORD_HEADER);
    assert_int_equal(r.has, 0);
    assert_null(r.header.transport.at);
    assert_str(r.header.source, STR("{\"format\":\"cassette\"}"));
    doc_close(&d);
}

static void exchanges_are_classified_as_mcp_recorder_does(void **state)
{
    static const struct {
        const char *request, *method;
        enum cassette_type want;
    } cases[] = {
        { "{\"id\":1}", NULL, CASSETTE_REQUEST },
        { "{\"id\":null}", NULL, CASSETTE_REQUEST },
        { "{\"method\":\"x\"}", NULL, CASSETTE_NOTIFICATION },
        { "{}", "POST", CASSETTE_NOTIFICATION },
        { NULL, NULL, CASSETTE_LIFECYCLE },
        { NULL, "GET", CASSETTE_LIFECYCLE },
        { NULL, "DELETE", CASSETTE_LIFECYCLE },
        { NULL, "POST", CASSETTE_REQUEST },
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct doc d;

        doc_open(&d, cases[n].request ? cases[n].request : "0");
        assert_int_equal(
            cassette_model_default_type(cases[n].request ? json_root(&d.json) : JSON_VAL_NONE,
                                        str_z(cases[n].method)),
            cases[n].want);
        doc_close(&d);
    }
}

static void interaction_types_have_names(void **state)
{
    enum cassette_type type;

    (void)state;
    for (int t = CASSETTE_REQUEST; t <= CASSETTE_LIFECYCLE; t++) {
        assert_true(
            cassette_model_parse_type(cassette_model_type_name((enum cassette_type)t), &type));
        assert_int_equal(type, t);
    }
    assert_false(cassette_model_parse_type(STR("request"), &type));
    assert_false(cassette_model_parse_type(STR_NONE, &type));
}

static void dates_are_written_like_pythons_isoformat(void **state)
{
    static const struct {
        int64_t us;
        const char *want;
    } cases[] = {
        { 1771359923855390, "2026-02-17T20:25:23.855390+00:00" },
        { 1771359923000000, "2026-02-17T20:25:23+00:00" },
        { 1771359923000001, "2026-02-17T20:25:23.000001+00:00" },
        { -1, "1969-12-31T23:59:59.999999+00:00" },
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct arena a = { 0 };

        assert_str(cassette_model_format_date(cases[n].us, &a), str_z(cases[n].want));
        arena_release(&a);
    }
}

/* A header restores all metadata. */
static void metadata_is_kept_in_a_header(void **state)
{
    static const char *const dates[] = {
        NULL,
        "",
        "yesterday",
        "2026-02-17T20:25:23.855390+00:00",
        "2026-02-17T20:25:23+00:00",
        "2026-02-17T20:25:23Z",
        "2026-02-17T20:25:23.855+00:00",
        "2026-02-17T20:25:23+05:00",
        "1970-01-01T00:00:00+00:00",
    };
    static const char *const texts[] = { NULL, "", "stdio", "h\"é" };
    static const char *const infos[] = { NULL, "{}", "{ \"name\": [ \"x\" ] }" };
    static const char *const flat[] = { NULL, "{}", "{\"name\":[\"x\"]}" };

    (void)state;
    for (size_t n = 0; n < 9 * 4 * 3; n++) {
        struct cassette_metadata m = {
            .version = n % 2 ? STR("1.0") : STR("1.7"),
            .recorded_at = str_z(dates[n % 9]),
            .server_url = n % 3 ? STR("stdio://a b") : STR(""),
            .transport = str_z(texts[n / 9 % 4]),
            .protocol = str_z(texts[n / 9 % 4]),
            .server_info = str_z(infos[n / 36]),
        };
        struct cassette_metadata back;
        struct arena a = { 0 };
        struct record r;

        cassette_model_to_header(&m, &a, &r);
        assert_true(cassette_model_from_header(&r, &a, &back));
        assert_str(back.version, m.version);
        assert_str(back.recorded_at, m.recorded_at);
        assert_str(back.server_url, m.server_url);
        assert_str(back.transport, m.transport);
        assert_str(back.protocol, m.protocol);
        assert_str(back.server_info, str_z(flat[n / 36]));
        assert_int_equal(back.recorded_at.at != NULL, m.recorded_at.at != NULL);
        assert_int_equal(back.transport.at != NULL, m.transport.at != NULL);
        assert_int_equal(back.protocol.at != NULL, m.protocol.at != NULL);
        arena_release(&a);
    }
}

static void metadata_is_filled_from_another_header(void **state)
{
    struct record r = { .kind = RECORD_HEADER, .has = HAS_WALL, .wall_us = 1771359923000000 };
    struct cassette_metadata m;
    struct arena a = { 0 };

    (void)state;
    r.header.upstream = STR("python server.py");
    r.header.transport = STR("stdio");
    assert_false(cassette_model_from_header(&r, &a, &m));
    assert_str(m.server_url, STR("stdio://python server.py"));
    assert_str(m.transport, STR("stdio"));
    assert_str(m.recorded_at, STR("2026-02-17T20:25:23+00:00"));
    assert_null(m.protocol.at);

    r.header.upstream = STR("stdio://a b");
    assert_false(cassette_model_from_header(&r, &a, &m));
    assert_str(m.server_url, STR("stdio://a b"));

    r.header.upstream = STR("http://127.0.0.1:8000/mcp");
    r.header.transport = STR_NONE;
    r.header.source = STR("{\"format\":\"har\",\"version\":\"1.2\"}");
    r.has = 0;
    assert_false(cassette_model_from_header(&r, &a, &m));
    assert_str(m.version, STR("1.0"));
    assert_str(m.server_url, STR("http://127.0.0.1:8000/mcp"));
    assert_null(m.transport.at);
    assert_null(m.recorded_at.at);
    arena_release(&a);
}

static void a_document_is_formatted_as_by_mcp_recorder(void **state)
{
    struct cassette_metadata m = { .version = STR("1.0"),
                                   .recorded_at = STR("2026-02-17T20:25:23+00:00"),
                                   .server_url = STR("http://x/é"),
                                   .transport = STR("http") };
    struct cassette_interaction request_interaction = { .type = CASSETTE_REQUEST,
                                                        .request = STR("{\"id\":1}"),
                                                        .response = STR("{}"),
                                                        .sse = true,
                                                        .status = 200,
                                                        .latency_ms = 7 };
    struct cassette_interaction bye = {
        .type = CASSETTE_LIFECYCLE, .status = 204, .method = STR("DELETE"), .path = STR("/mcp")
    };
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    cassette_model_write_head(&b, &m);
    cassette_model_write_interaction(&b, &request_interaction, true);
    cassette_model_write_interaction(&b, &bye, false);
    cassette_model_write_tail(&b, true);
    assert_str(buf_str(&b), STR("{\n"
                                "  \"version\": \"1.0\",\n"
                                "  \"metadata\": {\n"
                                "    \"recorded_at\": \"2026-02-17T20:25:23+00:00\",\n"
                                "    \"server_url\": \"http://x/é\",\n"
                                "    \"transport_type\": \"http\",\n"
                                "    \"protocol_version\": null,\n"
                                "    \"server_info\": null\n"
                                "  },\n"
                                "  \"interactions\": [\n"
                                "    {\n"
                                "      \"type\": \"jsonrpc_request\",\n"
                                "      \"request\": {\n"
                                "        \"id\": 1\n"
                                "      },\n"
                                "      \"response\": {},\n"
                                "      \"response_is_sse\": true,\n"
                                "      \"response_status\": 200,\n"
                                "      \"latency_ms\": 7,\n"
                                "      \"http_method\": null,\n"
                                "      \"http_path\": null\n"
                                "    },\n"
                                "    {\n"
                                "      \"type\": \"lifecycle\",\n"
                                "      \"request\": null,\n"
                                "      \"response\": null,\n"
                                "      \"response_is_sse\": false,\n"
                                "      \"response_status\": 204,\n"
                                "      \"latency_ms\": 0,\n"
                                "      \"http_method\": \"DELETE\",\n"
                                "      \"http_path\": \"/mcp\"\n"
                                "    }\n"
                                "  ]\n"
                                "}\n"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_read_as_mcp_recorder_reads_them),
        cmocka_unit_test(an_interaction_needs_only_a_type),
        cmocka_unit_test(an_invalid_interaction_is_rejected),
        cmocka_unit_test(documents_are_read_as_mcp_recorder_reads_them),
        cmocka_unit_test(missing_members_of_a_document_stay_absent),
        cmocka_unit_test(exchanges_are_classified_as_mcp_recorder_does),
        cmocka_unit_test(interaction_types_have_names),
        cmocka_unit_test(dates_are_written_like_pythons_isoformat),
        cmocka_unit_test(metadata_is_kept_in_a_header),
        cmocka_unit_test(metadata_is_filled_from_another_header),
        cmocka_unit_test(a_document_is_formatted_as_by_mcp_recorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
