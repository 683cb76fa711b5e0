#include "mcphttp/http-response.h"

#include "action-log.h"

/* Responses, and the bytes that were sent. */
struct bench {
    struct action_log scribe;
    struct http_response answer;
};

static void open_bench(struct bench *b)
{
    action_log_init(&b->scribe);
    http_response_init(&b->answer, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    http_response_release(&b->answer);
    action_log_release(&b->scribe);
}

static void empty_headers_are_left_out(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    http_response_start(&b.answer, STR_NONE, STR_NONE);
    http_response_send(&b.answer, 3, 202, STR_NONE);
    http_response_start(&b.answer, STR("application/json"),
                        STR("09090909090909090909090909090909"));
    http_response_header(&b.answer, STR("Allow"), STR_NONE);
    http_response_header(&b.answer, STR("Retry-After"), STR("5"));
    http_response_send(&b.answer, 4, 503, STR("{}"));
    assert_logged(&b.scribe, "3 202\n4 503 json session=9 Retry-After:5 {}\n");
    http_response_open_stream(&b.answer, 5, STR_NONE);
    assert_logged(&b.scribe, "5 200 sse\n");
    close_bench(&b);
}

static void responses_of_a_batch_are_one_array(void **state)
{
    struct str first = STR("{\"id\":1}"), last = STR("{\"id\":2}");
    struct buf batch;

    (void)state;
    buf_init(&batch, 1 << 10);
    assert_false(http_response_add_to_batch(&batch, 2, &first));
    assert_true(http_response_add_to_batch(&batch, 1, &last));
    assert_str(last, STR("[{\"id\":1},{\"id\":2}]"));
    buf_clear(&batch);
    assert_true(http_response_add_to_batch(&batch, 1, &first));
    assert_str(first, STR("[{\"id\":1}]"));
    buf_release(&batch);
}

static void a_rejection_is_a_jsonrpc_error(void **state)
{
    struct http_rejection v = {
        .status = 405, .code = -32000, .text = STR("a \"b\""), .allow = STR("GET, POST")
    };
    struct bench b;

    (void)state;
    open_bench(&b);
    http_response_reject(&b.answer, 1, &v, STR_NONE);
    assert_logged(&b.scribe,
                  "1 405 json Allow:GET,POST {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,"
                  "\"message\":\"a \\\"b\\\"\"},\"id\":null}\n");
    v.data = STR("{\"x\":1}");
    v.allow = STR_NONE;
    http_response_reject(&b.answer, 2, &v, STR("\"id\""));
    assert_logged(&b.scribe,
                  "2 405 json {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,"
                  "\"message\":\"a \\\"b\\\"\",\"data\":{\"x\":1}},\"id\":\"id\"}\n");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_headers_are_left_out),
        cmocka_unit_test(responses_of_a_batch_are_one_array),
        cmocka_unit_test(a_rejection_is_a_jsonrpc_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
