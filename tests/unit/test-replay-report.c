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

    buf_init(&why.log_line, 8);
    buf_add(&why.log_line, STR("t"));
    replay_report_add_miss(r, &m, &why);
    buf_release(&why.log_line);
    terse_scanned_release(&s);
}

/* long function: one report with an entry of each kind */
static void the_report_has_counts_lists_and_names(void **state)
{
    static const struct match_tool_mode tool = { STR_INIT("t"), MATCH_FUZZY };
    static const struct match_options how = { .tools = &tool, .tool_count = 1 };
    const struct match_reason why = { .rules = { 1, 2 },
                                      .rule_count = 2,
                                      .paths = { { STR("$.params.n"), 1 } },
                                      .path_count = 1 };
    struct arena a = { 0 };
    struct loaded_index s;
    struct replay_report r;
    struct used_set none;
    struct buf text;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    replay_report_init(&r, &s.index, &how);
    used_set_init(&none, s.index.call_count);
    buf_init(&text, 1 << 16);
    replay_report_add_match(
        &r, &(struct match){ .outcome = MATCH_FOUND, .call = 2, .params_differ = true }, &none);
    for (int i = 0; i < 2; i++) /* twice the same is one */
        replay_report_add_match(
            &r, &(struct match){ .outcome = MATCH_FOUND, .call = 2, .skipped_first = 3 },
            &none);
    replay_report_add_reason(&r, 2, &why);
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
            "'from_other_session':1,'differing_params':1,'redacted_params':0,"
            "'ignored_params':0,'ambiguous':0,'"
            "skipped':1,'unsupported_protocol_version':1,"
            "'unmatched':1,'forwarded':1,"
            "'unused':2,'server_requests':1,'server_requests_differing':1,'server_requests_"
            "unsupported':1,"
            "'server_requests_unanswered':1,'token_text_left':1,'unmatched_requests':[{'method'"
            ":'tools/"
            "call','subject':"
            "'x','reason':'no-match','text':'t','nearest':{'seq':3,'method':"
            "'tools/call','subject':'b'}}],"
            "'match_rules':[{'rule':'match','value':'t=fuzzy','requests':0},{'rule':'match',"
            "'value':'sequential','requests':1}],'rule_matches':[{'request':{'seq':2,'method':"
            "'tools/"
            "call','subject':'a'},'rules':[{'rule':'match','value':'sequential'},{'rule':"
            "'redacted'}],'paths':['$.params.n']}],"
            "'skipped_requests':[{'seq':3,'method':"
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

static void rules_are_counted_and_named(void **state)
{
    static const struct match_tool_mode tool = { STR_INIT("t"), MATCH_FUZZY };
    struct match_options how = { .mode = MATCH_FUZZY, .tools = &tool, .tool_count = 1 };
    struct compare_rules rules;
    struct err e = ERR_NONE;
    struct loaded_index s;
    struct replay_report r;
    struct buf text;

    (void)state;
    compare_rules_init(&rules);
    assert_true(compare_rules_add_path(&rules, COMPARE_PATH_IGNORE, STR("$..q"), &e));
    assert_true(compare_rules_add_field(&rules, STR("day"), &e));
    how.rules.ignore = &rules;
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    replay_report_init(&r, &s.index, &how);
    for (int i = 0; i < REPLAY_REPORT_MAX + 7; i++)
        replay_report_add_reason(&r, 2,
                                 &(struct match_reason){ .rules = { 0, 1 }, .rule_count = 2 });
    replay_report_add_reason(&r, 2, &(struct match_reason){ .rules = { 2 }, .rule_count = 1 });
    assert_int_equal(r.reason_count, REPLAY_REPORT_MAX);
    assert_int_equal(replay_report_rule_requests(&r, MATCH_RULE_IGNORE), REPLAY_REPORT_MAX + 7);
    assert_int_equal(replay_report_rule_requests(&r, MATCH_RULE_TOOL_MODE), 1);
    assert_int_equal(replay_report_rule_requests(&r, MATCH_RULE_MODE), 0);
    buf_init(&text, 1 << 12);
    replay_report_write_rules(&r, MATCH_RULE_IGNORE, &text);
    assert_str(buf_str(&text), STR("ignore_paths '$..q' (107), ignore_fields 'day' (107)"));
    buf_clear(&text);
    replay_report_write_rules(&r, MATCH_RULE_TOOL_MODE, &text);
    assert_str(buf_str(&text), STR("match t=fuzzy (1)"));
    buf_release(&text);
    replay_report_release(&r);
    loaded_index_release(&s);
    compare_rules_release(&rules);
}

static void only_the_first_misses_are_listed(void **state)
{
    struct loaded_index s;
    struct replay_report r;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    replay_report_init(&r, &s.index, loaded_index_exact());
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
        cmocka_unit_test(the_report_has_counts_lists_and_names),
        cmocka_unit_test(rules_are_counted_and_named),
        cmocka_unit_test(only_the_first_misses_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
