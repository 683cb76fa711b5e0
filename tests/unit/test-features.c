#include "test.h"
#include "trace/features.h"

static struct record message(struct json *j, enum record_dir dir, struct str text)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct json_fault fault;

    assert_true(json_scan(j, text, &fault));
    r.message = (struct record_message){ .dir = dir, .msg = json_root(j) };
    return r;
}

static void only_operations_that_the_server_starts_count_as_its_own(void **state)
{
    static const struct {
        enum record_dir dir;
        const char *text;
        bool servers;
    } cases[] = {
        { TO_SERVER, "{\"id\":1,\"method\":\"ping\"}", false },
        { TO_SERVER, "{\"method\":\"notifications/initialized\"}", false },
        { TO_SERVER, "{\"id\":1,\"result\":{}}", true },
        { TO_CLIENT, "{\"id\":1,\"result\":{}}", false },
        { TO_CLIENT, "{\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}", false },
        { TO_CLIENT, "{\"id\":1,\"method\":\"roots/list\"}", true },
        { TO_CLIENT, "{\"method\":\"notifications/progress\"}", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json j;
        struct record r;

        json_init(&j);
        r = message(&j, cases[i].dir, str_z(cases[i].text));
        assert_int_equal(features_of(&r), cases[i].servers ? FEATURE_SERVER_MESSAGES : 0);
        json_release(&j);
    }
}

static void members_of_a_message_are_features(void **state)
{
    struct json j;
    struct record r;

    (void)state;
    json_init(&j);
    r = message(&j, TO_CLIENT, STR("{\"id\":1,\"result\":{}}"));
    r.has = HAS_LATENCY | HAS_EXCHANGE | HAS_WALL;
    r.message.batch = STR("{}");
    r.message.redacted = STR("[]");
    assert_int_equal(features_of(&r), FEATURE_TIME | FEATURE_LATENCY | FEATURE_HTTP |
                                          FEATURE_BATCH | FEATURE_REDACTED);
    r.message = (struct record_message){ .dir = TO_CLIENT, .msg = json_root(&j) };
    r.has = HAS_US | HAS_CONN;
    assert_int_equal(features_of(&r), FEATURE_TIME | FEATURE_MICROSECONDS | FEATURE_CONN);
    json_release(&j);
}

static void other_records_are_one_feature_each(void **state)
{
    static const struct {
        enum record_kind kind;
        unsigned parts;
    } cases[] = {
        { RECORD_RAW, FEATURE_RAW },
        { RECORD_STDERR, FEATURE_STDERR },
        { RECORD_PROC, FEATURE_PROCESS },
        { RECORD_HTTP_REQUEST, FEATURE_HTTP },
        { RECORD_HTTP_RESPONSE, FEATURE_HTTP },
        { RECORD_HTTP_END, FEATURE_HTTP },
        { RECORD_SSE, FEATURE_HTTP },
        { RECORD_GAP, FEATURE_GAP },
        { RECORD_FOOTER, FEATURE_END },
        { RECORD_UNKNOWN, 0 },
        { RECORD_HEADER, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct record r = { .kind = cases[i].kind };
        assert_int_equal(features_of(&r), cases[i].parts);
    }
}

static void a_header_has_the_features_name_tags_and_command(void **state)
{
    struct record r = { .kind = RECORD_HEADER };

    (void)state;
    r.header.tags = STR("[]");
    assert_int_equal(features_of(&r), FEATURE_TAGS);
    r.header.command = STR("[]");
    r.header.name = STR("n");
    assert_int_equal(features_of(&r), FEATURE_NAME | FEATURE_TAGS | FEATURE_COMMAND);
    r = (struct record){ .kind = RECORD_HEADER, .header.upstream = STR("https://h/mcp") };
    assert_int_equal(features_of(&r), FEATURE_URL);
    r.header.upstream = STR("http-server --url http://h/");
    assert_int_equal(features_of(&r), 0);
}

static void every_feature_has_a_unique_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(feature_name(1u << i), feature_name(1u << k));
    assert_string_equal(feature_name(FEATURE_REDACTED), "redacted");
    assert_string_equal(feature_description(FEATURE_STDERR), "lines of standard error");
}

static void a_count_of_a_feature_is_a_phrase(void **state)
{
    static const struct {
        enum feature part;
        uint64_t count;
        const char *want;
    } cases[] = {
        { FEATURE_STDERR, 12, "12 lines of standard error" },
        { FEATURE_STDERR, 1, "1 line of standard error" },
        { FEATURE_TIME, 1, "the times of 1 message" },
        { FEATURE_TIME, 2, "the times of 2 messages" },
        { FEATURE_SERVER_MESSAGES, 3,
          "3 server notifications, server requests and responses to them" },
        { FEATURE_NAME, 2, "the recording's name" },
        { FEATURE_END, 1, "how the recording ended" },
    };
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_clear(&b);
        feature_add_count(&b, cases[i].part, cases[i].count);
        assert_str(buf_str(&b), str_z(cases[i].want));
    }
    for (unsigned i = 0; i < FEATURE_COUNT; i++) {
        buf_clear(&b);
        feature_add_count(&b, 1u << i, 7);
        assert_true(b.len > 0);
    }
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_operations_that_the_server_starts_count_as_its_own),
        cmocka_unit_test(members_of_a_message_are_features),
        cmocka_unit_test(other_records_are_one_feature_each),
        cmocka_unit_test(a_header_has_the_features_name_tags_and_command),
        cmocka_unit_test(every_feature_has_a_unique_name),
        cmocka_unit_test(a_count_of_a_feature_is_a_phrase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
