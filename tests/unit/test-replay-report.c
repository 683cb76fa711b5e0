#include "replay/replay-report.h"

#include "loaded-index.h"

static const char recording[] = "c2s {'id':1,'method':'initialize'}\n"
                                "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                                "c2s {'id':3,'method':'tools/call','params':{'name':'b'}}\n"
                                "c2s {'id':4,'method':'tools/list'}\n";

static void miss_of(struct replay_report *r, const char *live, uint32_t nearest)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);
    struct miss_report why = { .subject = STR("x"), .nearest = nearest, .reason = "no-match" };

    replay_report_add_miss(r, &m, &why);
    terse_scanned_release(&s);
}

/* long function: one report with an entry of each kind */
static void it_counts_lists_and_names(void **state)
{
    struct arena a = { 0 };
    struct loaded_index s;
    struct replay_report r;
    struct used_set none;
    struct buf text;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    replay_report_init(&r, &s.index);
    used_set_init(&none, s.index.call_count);
    buf_init(&text, 1 << 16);
    replay_report_add_match(
        &r, &(struct match){ .outcome = MATCH_FOUND, .call = 2, .params_differ = true }, &none);
    for (int i = 0; i < 2; i++) /* twice the same is one */
        replay_report_add_match(
            &r, &(struct match){ .outcome = MATCH_FOUND, .call = 2, .skipped_first = 3 },
            &none);
    replay_report_add_refusal(&r);
    replay_report_add_server_request(&r, 2, STR("q"), SERVER_REQUEST_SENT);
    replay_report_add_server_request(&r, 2, STR("q"), SERVER_REQUEST_DIFFERS);
    replay_report_add_server_request(&r, 2, STR("p"), SERVER_REQUEST_UNSUPPORTED);
    replay_report_add_server_request(&r, 2, STR("q"), SERVER_REQUEST_NO_RESPONSE);
    replay_report_add_match(
        &r, &(struct match){ .outcome = MATCH_REPEAT, .call = 2, .from_other_session = true },
        &none);
    miss_of(&r, "{'id':1,'method':'tools/call'}", 3);
    r.forwarded = 1;
    replay_report_add_token(&r, 3);
    replay_report_add_token(&r, 3);
    assert_int_equal(replay_report_next_token(&r, 0), 3);
    assert_int_equal(replay_report_unused_count(&r), 2);
    replay_report_write_name(&r, 3, &text);
    assert_str(buf_str(&text), STR("#3 tools/call b"));
    buf_clear(&text);
    replay_report_write(&r, &text, 1);
    assert_str(
        buf_str(&text),
        terse_json(
            &a,
            "{'v':2,'command':'replay','exit_code':1,'requests':5,'matched':3,'repeated':1,"
            "'from_other_session':1,'differing_params':1,'redacted_params':0,'ambiguous':0,'"
            "skipped':1,'unsupported_protocol_version':1,"
            "'unmatched':1,'forwarded':1,"
            "'unused':2,'server_requests':1,'server_requests_differing':1,'server_requests_"
            "unsupported':1,"
            "'server_requests_unanswered':1,'token_text_left':1,'unmatched_requests':[{'method'"
            ":'tools/"
            "call','subject':"
            "'x','reason':'no-match','nearest':{'seq':3,'method':"
            "'tools/call','subject':'b'}}],'skipped_requests':[{'seq':3,'method':"
            "'tools/call','subject':'b'}],'server_request_notes':[{'method':'q','outcome':"
            "'differs','request':{'seq':2,'method':'tools/call','subject':'a'}},"
            "{'method':'p','outcome':'unsupported','request':{'seq':2,'method':'tools/call',"
            "'subject':'a'}},{'method':'q','outcome':'unanswered','request':{'seq':2,"
            "'method':'tools/call','subject':'a'}}],'token_text_left_requests':[{'seq':3,"
            "'method':'tools/call','subject':'b'}],'unused_requests':[{'seq':3,'method':"
            "'tools/call','subject':'b'},{'seq':4,'method':'tools/list'}]}"));
    buf_release(&text);
    used_set_release(&none);
    replay_report_release(&r);
    loaded_index_release(&s);
    arena_release(&a);
}

static void of_many_misses_the_first_are_kept(void **state)
{
    struct loaded_index s;
    struct replay_report r;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    replay_report_init(&r, &s.index);
    for (int i = 0; i < REPLAY_REPORT_MAX + 7; i++)
        miss_of(&r, "{'id':1,'method':'own'}", 0);
    assert_int_equal(r.miss_count, REPLAY_REPORT_MAX);
    assert_int_equal(r.unmatched, REPLAY_REPORT_MAX + 7);
    replay_report_release(&r);
    loaded_index_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_counts_lists_and_names),
        cmocka_unit_test(of_many_misses_the_first_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
