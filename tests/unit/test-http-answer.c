#include "engine/http-answer.h"

#include "scribe.h"

/* Answers, and what went out. */
struct bench {
    struct scribe scribe;
    struct http_answer answer;
    struct http_streams streams;
    struct shelf_memory shelf;
    struct http_script http;
};

static void open_bench(struct bench *b)
{
    scribe_init(&b->scribe);
    shelf_memory_init(&b->shelf);
    http_script_init(&b->http, NULL, &b->shelf.shelf);
    http_streams_init(&b->streams, &b->scribe.out);
    http_answer_init(&b->answer, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    http_answer_release(&b->answer);
    http_streams_release(&b->streams);
    http_script_release(&b->http);
    shelf_memory_release(&b->shelf);
    scribe_release(&b->scribe);
}

static void what_is_empty_is_left_out(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    http_answer_start(&b.answer, STR_NONE, STR_NONE);
    http_answer_send(&b.answer, 3, 202, STR_NONE);
    http_answer_start(&b.answer, STR("application/json"),
                      STR("09090909090909090909090909090909"));
    http_answer_field(&b.answer, STR("Allow"), STR_NONE);
    http_answer_field(&b.answer, STR("Retry-After"), STR("5"));
    http_answer_send(&b.answer, 4, 503, STR("{}"));
    assert_wrote(&b.scribe, "3 202\n4 503 json session=9 Retry-After:5 {}\n");
    http_answer_open(&b.answer, 5, STR_NONE);
    assert_wrote(&b.scribe, "5 200 sse\n");
    close_bench(&b);
}

static void the_answers_to_a_batch_are_one_array(void **state)
{
    struct str first = STR("{\"id\":1}"), last = STR("{\"id\":2}");
    struct buf batch;

    (void)state;
    buf_init(&batch, 1 << 10);
    assert_false(http_answer_collect(&batch, 2, &first));
    assert_true(http_answer_collect(&batch, 1, &last));
    assert_str(last, STR("[{\"id\":1},{\"id\":2}]"));
    buf_clear(&batch);
    assert_true(http_answer_collect(&batch, 1, &first));
    assert_str(first, STR("[{\"id\":1}]"));
    buf_release(&batch);
}

static void a_refusal_is_an_error_as_json_rpc_has_it(void **state)
{
    struct http_verdict v = {
        .status = 405, .code = -32000, .text = STR("a \"b\""), .allow = STR("GET, POST")
    };
    struct bench b;

    (void)state;
    open_bench(&b);
    http_answer_refuse(&b.answer, 1, &v, STR_NONE);
    assert_wrote(&b.scribe,
                 "1 405 json Allow:GET,POST {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,"
                 "\"message\":\"a \\\"b\\\"\"},\"id\":null}\n");
    v.data = STR("{\"x\":1}");
    v.allow = STR_NONE;
    http_answer_refuse(&b.answer, 2, &v, STR("\"id\""));
    assert_wrote(&b.scribe, "2 405 json {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,"
                            "\"message\":\"a \\\"b\\\"\",\"data\":{\"x\":1}},\"id\":\"id\"}\n");
    close_bench(&b);
}

static struct http_odd_part kept(struct bench *b, const char *message)
{
    struct http_odd_part part = { .next = NULL };
    struct err e = ERR_NONE;

    assert_true(b->shelf.shelf.keep(&b->shelf.shelf, str_z(message), &part.where, &e));
    return part;
}

static void what_was_kept_comes_again_under_the_live_id(void **state)
{
    struct http_odd_part part, second;
    struct http_odd odd = { .status = 400,
                            .id = STR("7"),
                            .type = STR("application/json"),
                            .challenge = STR("Bearer"),
                            .allow = STR("POST") };
    struct bench b;

    (void)state;
    open_bench(&b);
    part = kept(&b, "{\"id\":7, \"error\":{\"id\":7}}");
    second = kept(&b, "{\"id\":8,\"method\":\"m\"}");
    odd.first = odd.last = &part;
    http_answer_again(&b.answer, &b.streams, &b.http, &odd, 1, STR("\"x\""));
    assert_wrote(&b.scribe, "1 400 json Allow:POST WWW-Authenticate:Bearer "
                            "{\"id\":\"x\", \"error\":{\"id\":7}}\n");
    part.next = odd.last = &second;
    odd.status = 200;
    odd.sse = true;
    http_answer_again(&b.answer, &b.streams, &b.http, &odd, 2, STR("9"));
    assert_wrote(&b.scribe, "2 200 sse\n2 << {\"id\":9, \"error\":{\"id\":7}}\n"
                            "2 << {\"id\":8,\"method\":\"m\"}\n2 end\n");
    assert_int_equal(b.streams.open.count, 0);
    close_bench(&b);
}

static void what_was_kept_as_text_or_not_at_all(void **state)
{
    struct http_odd_part part = { .text = STR("No") };
    struct http_odd odd = { .status = 415,
                            .type = STR("text/plain; charset=utf-8"),
                            .retry_after = STR("3"),
                            .first = &part };
    struct bench b;

    (void)state;
    open_bench(&b);
    http_answer_again(&b.answer, &b.streams, &b.http, &odd, 1, STR("1"));
    odd.first = NULL;
    http_answer_again(&b.answer, &b.streams, &b.http, &odd, 2, STR("1"));
    assert_wrote(&b.scribe, "1 415 Retry-After:3 text No\n2 415 Retry-After:3\n");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_empty_is_left_out),
        cmocka_unit_test(the_answers_to_a_batch_are_one_array),
        cmocka_unit_test(a_refusal_is_an_error_as_json_rpc_has_it),
        cmocka_unit_test(what_was_kept_comes_again_under_the_live_id),
        cmocka_unit_test(what_was_kept_as_text_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
