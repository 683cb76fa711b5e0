#include "test.h"
#include "wire/media-type.h"

static void content_types_are_classified(void **state)
{
    static const struct {
        const char *text;
        enum media_type media;
    } rows[] = {
        { "application/json", MEDIA_JSON },
        { "Application/JSON", MEDIA_JSON },
        { "application/json; charset=utf-8", MEDIA_JSON },
        { "application/json;charset=\"utf-8\"", MEDIA_JSON },
        { "application/json ; a=b ;c=\"d;\\\"e\"", MEDIA_JSON },
        { "application/json;", MEDIA_JSON },
        { "application/json; ;a=b", MEDIA_JSON },
        { "text/event-stream", MEDIA_SSE },
        { "text/event-stream; charset=utf-8", MEDIA_SSE },
        { "", MEDIA_OTHER },
        { "json", MEDIA_OTHER },
        { "/json", MEDIA_OTHER },
        { "application/", MEDIA_OTHER },
        { "application / json", MEDIA_OTHER },
        { "application/json-rpc", MEDIA_OTHER },
        { "application/jsonl", MEDIA_OTHER },
        { "application/problem+json", MEDIA_OTHER },
        { "text/json", MEDIA_OTHER },
        { "text/plain", MEDIA_OTHER },
        { "text/plain; application/json", MEDIA_OTHER },
        { "text/plain;a=application/json", MEDIA_OTHER },
        { "application/json, text/plain", MEDIA_OTHER },
        { "text/plain, application/json", MEDIA_OTHER },
        { "application/json text/plain", MEDIA_OTHER },
        { "application/json; charset", MEDIA_OTHER },
        { "application/json; charset=", MEDIA_OTHER },
        { "application/json; =b", MEDIA_OTHER },
        { "application/json; a=\"b", MEDIA_OTHER },
        { "application/json; a=\"b\\", MEDIA_OTHER },
        { "application/json; a=b c", MEDIA_OTHER },
        { "*/*", MEDIA_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (media_type_parse(str_z(rows[i].text)) != rows[i].media)
            fail_msg("'%s' is taken for another type", rows[i].text);
    }
}

static void a_message_has_at_most_one_content_type(void **state)
{
    struct headers f = { .at = NULL };

    (void)state;
    assert_int_equal(media_type_of_headers(&f), MEDIA_NONE);
    headers_add(&f, STR("content-TYPE"), STR("application/json"));
    assert_int_equal(media_type_of_headers(&f), MEDIA_JSON);
    headers_add(&f, STR("Content-Type"), STR("application/json"));
    assert_int_equal(media_type_of_headers(&f), MEDIA_OTHER);
    headers_release(&f);
}

/* q of JSON and of SSE, and whether each was named. */
static void check(const char *accept, unsigned json, bool json_named, unsigned sse,
                  bool sse_named)
{
    struct headers f = { .at = NULL };
    struct media_type_accept a;

    headers_add(&f, STR("Accept"), str_z(accept));
    a = media_type_accept(&f);
    if (!a.present || a.types[MEDIA_JSON].q != json ||
        a.types[MEDIA_JSON].named != json_named || a.types[MEDIA_SSE].q != sse ||
        a.types[MEDIA_SSE].named != sse_named)
        fail_msg("'%s': json %u%s, sse %u%s", accept, a.types[MEDIA_JSON].q,
                 a.types[MEDIA_JSON].named ? " named" : "", a.types[MEDIA_SSE].q,
                 a.types[MEDIA_SSE].named ? " named" : "");
    headers_release(&f);
}

static void quality_follows_the_most_specific_range(void **state)
{
    (void)state;
    check("application/json, text/event-stream", 1000, true, 1000, true);
    check("text/event-stream,application/json;q=0.5", 500, true, 1000, true);
    check("application/json", 1000, true, 0, false);
    check("*/*", 1000, false, 1000, false);
    check("text/*", 0, false, 1000, false);
    check("text/*;q=0.3, */*;q=0.1", 100, false, 300, false);
    check("*/*, application/json;q=0", 0, false, 1000, false);
    check("application/json;q=0, */*", 0, false, 1000, false);
    check("application/json;q=0.001, application/*", 1, true, 0, false);
    check("APPLICATION/JSON;Q=0.7", 700, true, 0, false);
    check("application/json;charset=utf-8;q=0.25", 250, true, 0, false);
    check("application/json;q=0.2, application/json;q=0.8", 800, true, 0, false);
    check("image/png", 0, false, 0, false);
    check("", 0, false, 0, false);
    check("*/json", 0, false, 0, false);
}

static void malformed_elements_are_ignored(void **state)
{
    (void)state;
    check("application/json;q=2, text/event-stream", 0, false, 1000, true);
    check("application/json;q=1.001", 0, false, 0, false);
    check("application/json;q=0.1234", 0, false, 0, false);
    check("application/json;q=.5", 0, false, 0, false);
    check("application/json;q=0,5", 0, false, 0, false);
    check("application/json;q=a", 0, false, 0, false);
    check("application/json;q=1.a", 0, false, 0, false);
    check("application/json;q", 0, false, 0, false);
    check("json, text/event-stream;q=1.", 0, false, 1000, true);
    check("application/json;a=\"x, text/event-stream;q=0.5\"", 1000, true, 0, false);
}

static void several_headers_are_one_list(void **state)
{
    struct headers f = { .at = NULL };
    struct media_type_accept a;

    (void)state;
    headers_add(&f, STR("Accept"), STR("application/json"));
    headers_add(&f, STR("accept"), STR("text/event-stream;q=0.9"));
    a = media_type_accept(&f);
    assert_true(a.types[MEDIA_JSON].named);
    assert_int_equal(a.types[MEDIA_SSE].q, 900);
    headers_release(&f);
}

static void an_explicitly_named_type_is_kept(void **state)
{
    struct headers f = { .at = NULL };
    struct media_type_accept a;

    (void)state;
    check("text/event-stream, application/json, */*;q=0, application/json;q=0", 1000, true,
          1000, true);
    headers_add(&f, STR("Accept"), STR("application/json, text/event-stream"));
    headers_add(&f, STR("Accept"), STR("*/*;q=0, application/json;q=0"));
    a = media_type_accept(&f);
    assert_int_equal(a.types[MEDIA_JSON].q, 1000);
    assert_true(a.types[MEDIA_JSON].named);
    assert_int_equal(a.types[MEDIA_SSE].q, 1000);
    headers_release(&f);
}

static void without_accept_everything_is_accepted(void **state)
{
    struct headers f = { .at = NULL };
    struct media_type_accept a = media_type_accept(&f);

    (void)state;
    assert_false(a.present);
    assert_int_equal(a.types[MEDIA_JSON].q, 1000);
    assert_int_equal(a.types[MEDIA_SSE].q, 1000);
    assert_false(a.types[MEDIA_SSE].named);
}

static void assert_narrowed(const char *from, const char *to)
{
    struct buf b;

    buf_init(&b, 1 << 10);
    media_type_supported_encodings(&b, str_z(from));
    assert_str(buf_str(&b), str_z(to));
    buf_release(&b);
}

static void supported_encodings_keep_their_spelling(void **state)
{
    (void)state;
    assert_narrowed("gzip", "gzip");
    assert_narrowed("GZip;q=0.5 , zstd;q=1", "GZip;q=0.5, zstd;q=1");
    assert_narrowed("x-gzip, identity;q=0", "x-gzip, identity;q=0");
}

static void unsupported_encodings_are_removed(void **state)
{
    (void)state;
    assert_narrowed("gzip, deflate, br, zstd", "gzip, zstd");
    assert_narrowed("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.8");
    assert_narrowed("gzipped", "identity");
}

static void without_supported_encodings_identity_is_left(void **state)
{
    (void)state;
    assert_narrowed("br, deflate", "identity");
    assert_narrowed("*", "identity");
    assert_narrowed("", "identity");
    assert_narrowed(" , ", "identity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_types_are_classified),
        cmocka_unit_test(a_message_has_at_most_one_content_type),
        cmocka_unit_test(quality_follows_the_most_specific_range),
        cmocka_unit_test(malformed_elements_are_ignored),
        cmocka_unit_test(several_headers_are_one_list),
        cmocka_unit_test(an_explicitly_named_type_is_kept),
        cmocka_unit_test(without_accept_everything_is_accepted),
        cmocka_unit_test(supported_encodings_keep_their_spelling),
        cmocka_unit_test(unsupported_encodings_are_removed),
        cmocka_unit_test(without_supported_encodings_identity_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
