#include "format/span-draft.h"

#include <stdlib.h>

#include "terse.h"
#include "test.h"

static struct span_draft *take(struct span_drafts *d, const char *method, const char *message,
                               enum operation_response response)
{
    struct terse_scanned scanned;
    struct record r = { .kind = RECORD_MESSAGE };
    const struct operation op = { .method = str_z(method), .response = response };
    const struct operation_message m = { 0 };
    const struct operation_event ev = { &op, &m, &r };
    struct span_draft *draft = span_drafts_add(d, 1);

    r.message.msg = terse_scan(&scanned, message);
    if (response == RESPONSE_NONE)
        span_draft_take_request(d, draft, &ev, true);
    else
        span_draft_take_response(d, draft, &ev, true, true);
    terse_scanned_release(&scanned);
    return draft;
}

#define WITH_DRAFT(d, draft, method, message, response)                                        \
    struct span_drafts d;                                                                      \
    struct span_draft *draft;                                                                  \
    (void)state;                                                                               \
    span_drafts_init(&d);                                                                      \
    draft = take(&d, method, message, response)

static void a_request_has_arguments_and_a_context(void **state)
{
    WITH_DRAFT(d, draft, "tools/call",
               "{'params':{'arguments':{'a':1.0},'_meta':{'tracestate':'x=1','traceparent':"
               "'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'}}}",
               RESPONSE_NONE);
    assert_str(draft->arguments, STR("{\"a\":1.0}"));
    assert_true(draft->has_context);
    assert_int_equal(draft->context.parent, 0xb7ad6b7169203331);
    assert_str(draft->state, STR("x=1"));
    span_drafts_remove(&d, draft);
    assert_int_equal(d.kept, 0);
    assert_null(span_drafts_find(&d, 1));
    span_drafts_release(&d);
}

static void absent_arguments_of_a_tool_are_none(void **state)
{
    WITH_DRAFT(d, draft, "tools/call", "{'params':{'_meta':{'tracestate':'x'}}}",
               RESPONSE_NONE);
    assert_str(draft->arguments, STR("{}"));
    assert_false(draft->has_context);
    assert_int_equal(draft->state.len, 0);
    span_drafts_release(&d);
}

static void arguments_that_are_no_object_are_left_out(void **state)
{
    WITH_DRAFT(d, draft, "tools/call", "{'params':{'arguments':[1]}}", RESPONSE_NONE);
    assert_int_equal(draft->arguments.len, 0);
    span_drafts_release(&d);
}

static void an_error_has_code_and_text(void **state)
{
    WITH_DRAFT(d, draft, "ping", "{'error':{'code':-3,'message':'no'}}", RESPONSE_ERROR);
    assert_true(draft->has_code);
    assert_int_equal(draft->code, -3);
    assert_str(draft->error, STR("no"));
    span_drafts_release(&d);
}

static void a_tool_error_has_the_texts_of_its_content(void **state)
{
    WITH_DRAFT(d, draft, "tools/call",
               "{'result':{'isError':true,'content':[{'text':'a'},{'data':''},{'text':'b'}]}}",
               RESPONSE_RESULT);
    assert_true(draft->is_tool_error);
    assert_str(draft->error, STR("a\nb"));
    assert_true(draft->result.len > 0);
    span_drafts_release(&d);
}

static void a_sampling_result_has_model_and_tokens(void **state)
{
    WITH_DRAFT(d, draft, "sampling/createMessage",
               "{'result':{'model':'m','_meta':{'usage':{'input_tokens':3,"
               "'outputTokens':4}}}}",
               RESPONSE_RESULT);
    assert_str(draft->model, STR("m"));
    assert_int_equal(draft->tokens_in, 3);
    assert_int_equal(draft->tokens_out, 4);
    assert_int_equal(draft->tokens, 7);
    span_drafts_release(&d);
}

static void unknown_tokens_stay_unknown(void **state)
{
    WITH_DRAFT(d, draft, "sampling/createMessage",
               "{'result':{'usage':{'input_tokens':'3','total_tokens':-1}}}", RESPONSE_RESULT);
    assert_int_equal(draft->tokens_in, -1);
    assert_int_equal(draft->tokens_out, -1);
    assert_int_equal(draft->tokens, -1);
    span_drafts_release(&d);
}

static void long_texts_are_left_out_or_truncated(void **state)
{
    struct span_drafts d;
    struct span_draft *draft = NULL;
    struct buf text;

    (void)state;
    span_drafts_init(&d);
    buf_init(&text, 2 * SPAN_DRAFT_TEXT_MAX);
    buf_add(&text, STR("{'params':{'arguments':{'a':'"));
    for (size_t i = 0; i < SPAN_DRAFT_TEXT_MAX; i++)
        buf_add_ch(&text, 'x');
    buf_add(&text, STR("'}}}"));
    draft = take(&d, "tools/call", buf_z(&text), RESPONSE_NONE);
    assert_true(draft->left_out);
    assert_int_equal(draft->arguments.len, 0);
    span_drafts_remove(&d, draft);
    buf_clear(&text);
    buf_add(&text, STR("{'error':{'message':'"));
    for (size_t i = 0; i < 2000; i++)
        buf_add_ch(&text, 'x');
    buf_add(&text, STR("'}}"));
    draft = take(&d, "ping", buf_z(&text), RESPONSE_ERROR);
    assert_int_equal(draft->error.len, SPAN_DRAFT_ERROR_MAX);
    assert_true(str_ends(draft->error, STR("…")));
    buf_release(&text);
    span_drafts_release(&d);
}

static void the_first_events_are_kept(void **state)
{
    struct span_drafts d;
    struct span_draft *draft;

    (void)state;
    span_drafts_init(&d);
    draft = span_drafts_add(&d, 0);
    for (int64_t i = 0; i < SPAN_DRAFT_EVENTS_MAX + 3; i++)
        span_draft_add_event(&d, draft, i, STR("notifications/progress"));
    assert_int_equal(draft->event_count, SPAN_DRAFT_EVENTS_MAX);
    assert_int_equal(draft->events_dropped, 3);
    assert_int_equal(draft->events[5].us, 5);
    assert_str(draft->events[5].name, STR("notifications/progress"));
    span_drafts_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_arguments_and_a_context),
        cmocka_unit_test(absent_arguments_of_a_tool_are_none),
        cmocka_unit_test(arguments_that_are_no_object_are_left_out),
        cmocka_unit_test(an_error_has_code_and_text),
        cmocka_unit_test(a_tool_error_has_the_texts_of_its_content),
        cmocka_unit_test(a_sampling_result_has_model_and_tokens),
        cmocka_unit_test(unknown_tokens_stay_unknown),
        cmocka_unit_test(long_texts_are_left_out_or_truncated),
        cmocka_unit_test(the_first_events_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
