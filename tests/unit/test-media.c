#include "test.h"
#include "wire/media.h"

static void content_types_are_told_apart(void **state)
{
    static const struct {
        const char *text;
        enum media media;
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
        if (media_of(str_z(rows[i].text)) != rows[i].media)
            fail_msg("'%s' is taken for another type", rows[i].text);
    }
}

static void a_message_has_one_content_type_or_none(void **state)
{
    struct fields f = { .at = NULL };

    (void)state;
    assert_int_equal(media_of_fields(&f), MEDIA_NONE);
    fields_add(&f, STR("content-TYPE"), STR("application/json"));
    assert_int_equal(media_of_fields(&f), MEDIA_JSON);
    fields_add(&f, STR("Content-Type"), STR("application/json"));
    assert_int_equal(media_of_fields(&f), MEDIA_OTHER);
    fields_release(&f);
}

/* q of JSON and of SSE, and whether each was named. */
static void check(const char *accept, unsigned json, bool json_named, unsigned sse,
                  bool sse_named)
{
    struct fields f = { .at = NULL };
    struct media_accept a;

    fields_add(&f, STR("Accept"), str_z(accept));
    a = media_accept(&f);
    if (!a.said || a.of[MEDIA_JSON].q != json || a.of[MEDIA_JSON].named != json_named ||
        a.of[MEDIA_SSE].q != sse || a.of[MEDIA_SSE].named != sse_named)
        fail_msg("'%s': json %u%s, sse %u%s", accept, a.of[MEDIA_JSON].q,
                 a.of[MEDIA_JSON].named ? " named" : "", a.of[MEDIA_SSE].q,
                 a.of[MEDIA_SSE].named ? " named" : "");
    fields_release(&f);
}

static void likings_follow_the_most_telling_range(void **state)
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

static void what_cannot_be_read_is_passed_over(void **state)
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

static void several_lines_are_one_list(void **state)
{
    struct fields f = { .at = NULL };
    struct media_accept a;

    (void)state;
    fields_add(&f, STR("Accept"), STR("application/json"));
    fields_add(&f, STR("accept"), STR("text/event-stream;q=0.9"));
    a = media_accept(&f);
    assert_true(a.of[MEDIA_JSON].named);
    assert_int_equal(a.of[MEDIA_SSE].q, 900);
    fields_release(&f);
}

static void what_was_named_once_is_not_taken_back(void **state)
{
    struct fields f = { .at = NULL };
    struct media_accept a;

    (void)state;
    check("text/event-stream, application/json, */*;q=0, application/json;q=0", 1000, true,
          1000, true);
    fields_add(&f, STR("Accept"), STR("application/json, text/event-stream"));
    fields_add(&f, STR("Accept"), STR("*/*;q=0, application/json;q=0"));
    a = media_accept(&f);
    assert_int_equal(a.of[MEDIA_JSON].q, 1000);
    assert_true(a.of[MEDIA_JSON].named);
    assert_int_equal(a.of[MEDIA_SSE].q, 1000);
    fields_release(&f);
}

static void who_says_nothing_takes_everything(void **state)
{
    struct fields f = { .at = NULL };
    struct media_accept a = media_accept(&f);

    (void)state;
    assert_false(a.said);
    assert_int_equal(a.of[MEDIA_JSON].q, 1000);
    assert_int_equal(a.of[MEDIA_SSE].q, 1000);
    assert_false(a.of[MEDIA_SSE].named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_types_are_told_apart),
        cmocka_unit_test(a_message_has_one_content_type_or_none),
        cmocka_unit_test(likings_follow_the_most_telling_range),
        cmocka_unit_test(what_cannot_be_read_is_passed_over),
        cmocka_unit_test(several_lines_are_one_list),
        cmocka_unit_test(what_was_named_once_is_not_taken_back),
        cmocka_unit_test(who_says_nothing_takes_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
