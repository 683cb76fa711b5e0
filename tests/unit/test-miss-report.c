#include "match/miss-report.h"

#include "loaded-index.h"

static const char recording[] =
    "c2s {'id':1,'method':'tools/call','params':{'name':'add','arguments':{'a':1,'b':2}}}\n"
    "s2c {'id':1,'result':{}}\n"
    "c2s {'id':2,'method':'tools/call','params':{'name':'mul','arguments':{'a':1,'b':3}}}\n"
    "s2c {'id':2,'result':{}}\n"
    "c2s {'id':3,'method':'tools/call','params':{'name':'add','arguments':{'a':5,'b':3}}}\n"
    "s2c {'id':3,'result':{}}\n"
    "c2s {'id':4,'method':'resources/read','params':{'uri':'file:///a'}}\n"
    "s2c {'id':4,'result':{}}\n";

/* The explanation of one miss; data with ' for ". */
struct miss_run {
    struct loaded_index of;
    struct matcher matcher;
    struct used_set used;
    struct terse_scanned live;
    struct miss_report why;
};

/* To a client that has used up the strands before `used_before`. */
static void explain_to(struct miss_run *t, uint32_t used_before, enum match_mode mode,
                       const char *recorded, const char *live, const struct match *found)
{
    struct match_options how = {
        .mode = mode, .rules = matcher_rules(&(struct match_options){ .mode = mode }, false)
    };
    struct mcp_message m;

    loaded_index_init(&t->of, mode, recorded);
    matcher_init(&t->matcher, &t->of.index, &how, &t->of.fuzzy);
    used_set_init(&t->used, t->of.index.call_count);
    for (uint32_t op = 1; op < used_before; op++)
        used_set_mark(&t->used, op, true);
    m = mcp_classify(terse_scan(&t->live, live), &t->live.arena);
    miss_report_build(&t->why, &t->matcher, &t->used, &m, found);
}

static void explain_in(struct miss_run *t, enum match_mode mode, const char *recorded,
                       const char *live, const struct match *found)
{
    explain_to(t, 0, mode, recorded, live, found);
}

static void explain(struct miss_run *t, const char *recorded, const char *live, bool exhausted)
{
    struct match found = { .outcome = exhausted ? MATCH_EXHAUSTED : MATCH_NOT_RECORDED,
                           .last_used = exhausted ? 4 : 0,
                           .last_helps = true,
                           .cycle_helps = true };

    explain_in(t, MATCH_SEQUENTIAL, recorded, live, &found);
}

static void release_texts(struct miss_run *t)
{
    miss_report_release(&t->why);
    terse_scanned_release(&t->live);
    used_set_release(&t->used);
    matcher_release(&t->matcher);
    loaded_index_release(&t->of);
}

#define RECORD_IT                                                                              \
    "record it with mcpreel record, or forward it to the server: --on-unmatched passthrough "  \
    "-- "                                                                                      \
    "SERVER"
#define AGAIN "reuse responses with --on-exhausted last or cycle, or record a longer session"

static void check(const char *live, bool exhausted, const char *message, const char *data,
                  const char *report)
{
    struct arena a = { 0 };
    struct str data_and_hint;
    struct miss_run t;

    explain(&t, recording, live, exhausted);
    assert_str(buf_str(&t.why.message), str_z(message));
    data_and_hint = arena_printf(&a, "%.*s,'hint':'%s'}", (int)strlen(data) - 1, data,
                                 exhausted ? AGAIN : RECORD_IT);
    assert_str(buf_str(&t.why.data), terse_json(&a, data_and_hint.at));
    assert_str(buf_str(&t.why.log_line),
               arena_printf(&a, "%s; %s", report, exhausted ? AGAIN : RECORD_IT));
    release_texts(&t);
    arena_release(&a);
}

static void the_nearest_call_has_the_fewest_differences(void **state)
{
    (void)state;
    check("{'id':1,'method':'tools/call','params':{'name':'add','arguments':{'a':5,'b':4}}}",
          false, "no recorded response for tools/call 'add'",
          "{'reason':'no-match','nearest':{'seq':5,'method':'tools/call','subject':'add',"
          "'differences':[{'path':'$.params.arguments.b','recorded':3,'live':4}]}}",
          "no recorded response for tools/call 'add'; nearest is #5 tools/call 'add', which "
          "differs at $.params.arguments.b: recorded 3, got 4");
}

static void the_first_of_equally_near_calls_is_reported(void **state)
{
    (void)state;
    check(
        "{'id':1,'method':'tools/call','params':{'name':'add','arguments':{'a':9,'b':9}}}",
        false, "no recorded response for tools/call 'add'",
        "{'reason':'no-match','nearest':{'seq':1,'method':'tools/call','subject':'add',"
        "'differences':[{'path':'$.params.arguments.a','recorded':1,'live':9},"
        "{'path':'$.params.arguments.b','recorded':2,'live':9}]}}",
        "no recorded response for tools/call 'add'; nearest is #1 tools/call 'add', which "
        "differs at $.params.arguments.a: recorded 1, got 9, $.params.arguments.b: recorded 2, "
        "got 9");
}

static void the_same_subject_is_nearer_than_the_same_arguments(void **state)
{
    (void)state;
    check("{'id':1,'method':'tools/call','params':{'name':'mul','arguments':{'x':true}}}",
          false, "no recorded response for tools/call 'mul'",
          "{'reason':'no-match','nearest':{'seq':3,'method':'tools/call','subject':'mul',"
          "'differences':[{'path':'$.params.arguments.a','recorded':1},"
          "{'path':'$.params.arguments.b','recorded':3},"
          "{'path':'$.params.arguments.x','live':true}]}}",
          "no recorded response for tools/call 'mul'; nearest is #3 tools/call 'mul', which "
          "differs at $.params.arguments.a: recorded 1, got nothing, $.params.arguments.b: "
          "recorded 3, got nothing, $.params.arguments.x: recorded nothing, got true");
}

static void an_unrecorded_method_has_no_nearest_call(void **state)
{
    (void)state;
    check("{'id':1,'method':'prompts/get','params':{'name':'p'}}", false,
          "no recorded response for prompts/get 'p'", "{'reason':'no-match'}",
          "no recorded response for prompts/get 'p'");
    check("{'id':1,'method':'own'}", false, "no recorded response for own",
          "{'reason':'no-match'}", "no recorded response for own");
}

static void a_used_call_is_reported_as_used(void **state)
{
    (void)state;
    check("{'id':1,'method':'resources/read','params':{'uri':'file:///a'}}", true,
          "all recorded responses are used for resources/read 'file:///a'",
          "{'reason':'exhausted','nearest':{'seq':7,'method':'resources/read','subject':"
          "'file:///a'}}",
          "all recorded responses are used for resources/read 'file:///a'; the last one is #7 "
          "resources/read 'file:///a'");
}

static void uncompared_values_are_no_difference(void **state)
{
    (void)state;
    check("{'id':1,'method':'resources/read','params':{'_meta':{'progressToken':1},"
          "'uri':'file:///b'}}",
          false, "no recorded response for resources/read 'file:///b'",
          "{'reason':'no-match','nearest':{'seq':7,'method':'resources/read',"
          "'subject':'file:///a','differences':[{'path':'$.params.uri',"
          "'recorded':'file:///a','live':'file:///b'}]}}",
          "no recorded response for resources/read 'file:///b'; nearest is #7 resources/read "
          "'file:///a', which differs at $.params.uri: recorded \"file:///a\", got "
          "\"file:///b\"");
}

static void five_of_many_differences_are_listed(void **state)
{
    struct terse_scanned data;
    struct miss_run t;

    (void)state;
    explain(&t, "c2s {'id':1,'method':'m','params':{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1}}",
            "{'id':1,'method':'m','params':{'a':2,'b':2,'c':2,'d':2,'e':2,'f':2}}", false);
    assert_int_equal(
        json_count(json_get(json_get(terse_scan(&data, buf_z(&t.why.data)), STR("nearest")),
                            STR("differences"))),
        5);
    terse_scanned_release(&data);
    release_texts(&t);
}

/* A request of megabytes must not come back as an error of as many. */
static void long_values_and_names_are_shortened(void **state)
{
    struct terse_scanned data;
    struct buf recorded, live;
    struct miss_run t;

    (void)state;
    buf_init(&recorded, 1 << 24);
    buf_init(&live, 1 << 24);
    buf_printf(&recorded, "c2s {'id':1,'method':'tools/call','params':{'name':'%01000000d'}}",
               1);
    buf_printf(&live, "{'id':1,'method':'tools/call','params':{'name':'%01000000d','x':'%d'}}",
               2, 3);
    explain(&t, buf_z(&recorded), buf_z(&live), false);
    assert_true(t.why.message.len < 1024);
    assert_true(t.why.data.len < 16384);
    assert_true(t.why.log_line.len < 4096);
    terse_scan(&data, buf_z(&t.why.data)); /* is JSON all the same */
    terse_scanned_release(&data);
    release_texts(&t);
    buf_release(&recorded);
    buf_release(&live);
}

#define ADD(arguments) "{'id':1,'method':'tools/call','params':{'name':'add'" arguments "}}"

static void hints_depend_on_the_options(void **state)
{
    static const struct match never = { .outcome = MATCH_NOT_RECORDED };
    static const char other[] = "{'id':1,'method':'own'}";
    static const char tool[] = "{'id':1,'method':'tools/call','params':{'name':'sub'}}";
    static const char page[] =
        "{'id':1,'method':'resources/read','params':{'uri':'file:///a','cursor':'x'}}";
    static const char near[] = ADD(",'arguments':{'a':1,'b':7}");
    static const char far[] = ADD(",'arguments':{'a':7,'b':7}");
    static const char three[] = ADD(",'arguments':{'a':7,'b':7,'c':7}");
    static const char quoted[] = ADD(",'arguments':{'a':1,'b':2,'odd key':7}");
    static const char meta[] = ADD(",'arguments':{'a':5,'b':3},'_meta':{'x':1}");
    static const struct {
        enum match_mode mode;
        uint32_t used_before;
        const char *live, *help;
    } rows[] = {
        { MATCH_BY_REQUEST, 0, near,
          "; ignore what differs with --ignore-paths '$.params.arguments.b', match less "
          "closely "
          "with --match add=fuzzy or add=sequential, or record it" },
        { MATCH_BY_REQUEST, 0, far,
          "; ignore what differs with --ignore-paths '$.params.arguments.a' --ignore-paths "
          "'$.params.arguments.b', match less closely with --match add=sequential, or record "
          "it" },
        { MATCH_BY_REQUEST, 3, near, "--match add=sequential, or record it" }, /* #5 is far */
        { MATCH_BY_REQUEST, 9, near, RECORD_IT },
        { MATCH_BY_REQUEST, 0, tool, RECORD_IT },
        { MATCH_BY_REQUEST, 0, page, RECORD_IT },
        { MATCH_BY_REQUEST, 0, other, RECORD_IT },
        { MATCH_BY_REQUEST, 0, three, "; match less closely with --match add=sequential, or" },
        { MATCH_BY_REQUEST, 0, quoted, "; match less closely with --match add=fuzzy or" },
        { MATCH_STRICT, 0, near, "--match add=fuzzy or add=sequential, or record it" },
        { MATCH_STRICT, 0, meta, "--match add=by-request, or record it" },
        { MATCH_FUZZY, 0, far, "--match add=sequential, or record it" },
        { MATCH_FUZZY, 9, far, RECORD_IT },
        { MATCH_FUZZY, 0, tool, RECORD_IT },
        { MATCH_SEQUENTIAL, 0, far, RECORD_IT },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct miss_run t;

        explain_to(&t, rows[i].used_before, rows[i].mode, recording, rows[i].live, &never);
        if (!strstr(buf_z(&t.why.log_line), rows[i].help))
            fail_msg("row %zu: %s", i, buf_z(&t.why.log_line));
        release_texts(&t);
    }
}

static void the_hint_for_an_exhausted_match_comes_from_the_matcher(void **state)
{
    static const struct {
        struct match found;
        const char *help;
    } rows[] = {
        { { .last_helps = true, .cycle_helps = true }, "--on-exhausted last or cycle, or" },
        { { .last_helps = true }, "--on-exhausted last, or" },
        { { .cycle_helps = true }, "--on-exhausted cycle, or" },
        { { .last_helps = false }, RECORD_IT },
        { { .outcome = MATCH_OUT_OF_ORDER, .call = 2 }, RECORD_IT },
        { { .outcome = MATCH_OUT_OF_ORDER, .call = 2, .any_order_helps = true },
          "omit --order" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct match found = rows[i].found;
        struct miss_run t;

        if (found.outcome != MATCH_OUT_OF_ORDER)
            found.outcome = MATCH_EXHAUSTED;
        explain_in(&t, MATCH_SEQUENTIAL, recording, ADD(""), &found);
        if (!strstr(buf_z(&t.why.log_line), rows[i].help))
            fail_msg("row %zu: %s", i, buf_z(&t.why.log_line));
        release_texts(&t);
    }
}

/* `count` calls, of which the last is the nearest. */
static void find_nearest_of(struct miss_run *t, int count)
{
    static const struct match never = { .outcome = MATCH_NOT_RECORDED };
    struct buf text;

    buf_init(&text, 1 << 24);
    for (int i = 0; i < count; i++)
        buf_printf(&text, "c2s {'id':%d,'method':'m','params':{'a':%d,'b':%d}}\n", i, i,
                   i == count - 1 ? 0 : -1);
    explain_in(t, MATCH_BY_REQUEST, buf_z(&text),
               "{'id':1,'method':'m','params':{'a':-1,'b':0}}", &never);
    buf_release(&text);
}

static void all_candidates_are_compared(void **state)
{
    struct miss_run t;

    (void)state;
    find_nearest_of(&t, MISS_REPORT_CALLS_MAX);
    assert_int_equal(t.why.nearest, MISS_REPORT_CALLS_MAX);
    assert_non_null(strstr(buf_z(&t.why.log_line), "; nearest is #20000 m"));
    assert_null(strstr(buf_z(&t.why.data), "compared"));
    release_texts(&t);
}

static void a_limited_comparison_is_reported(void **state)
{
    struct miss_run t;

    (void)state;
    find_nearest_of(&t, MISS_REPORT_CALLS_MAX + 1);
    assert_int_equal(t.why.nearest, 1);
    assert_non_null(strstr(buf_z(&t.why.log_line), "; nearest of the first 20000 is #1 m"));
    assert_non_null(strstr(buf_z(&t.why.data), "\"compared\":20000"));
    release_texts(&t);
}

static void in_total_order_the_next_call_is_reported(void **state)
{
    static const struct match early = { .outcome = MATCH_OUT_OF_ORDER,
                                        .call = 2,
                                        .any_order_helps = true };
    struct miss_run t;

    (void)state;
    explain_in(&t, MATCH_SEQUENTIAL, recording,
               "{'id':1,'method':'resources/read','params':{'uri':'file:///a'}}", &early);
    assert_str(
        buf_str(&t.why.message),
        STR("out of order: another recorded request comes before resources/read 'file:///a'"));
    assert_non_null(
        strstr(buf_z(&t.why.data), "\"reason\":\"out-of-order\",\"nearest\":{\"seq\":3,"));
    assert_non_null(strstr(buf_z(&t.why.log_line), "; next is #3 tools/call 'mul'"));
    assert_non_null(
        strstr(buf_z(&t.why.log_line), "omit --order total, keep --match sequential"));
    assert_int_equal(t.why.nearest, 2);
    release_texts(&t);
}

static void a_call_of_the_other_protocol_is_reported_as_such(void **state)
{
    static const struct match uncrossed = { .outcome = MATCH_OTHER_PROTOCOL, .call = 2 };
    struct miss_run t;

    (void)state;
    explain_in(&t, MATCH_SEQUENTIAL, recording,
               "{'id':1,'method':'tools/call','params':{'name':'mul'}}", &uncrossed);
    assert_str(buf_str(&t.why.message),
               STR("the recorded call has server requests, which cannot be converted to this "
                   "protocol version: tools/call 'mul'"));
    assert_non_null(strstr(buf_z(&t.why.data),
                           "\"reason\":\"other-protocol-version\",\"nearest\":{\"seq\":3,"));
    assert_non_null(
        strstr(buf_z(&t.why.log_line), "; the recorded call is #3 tools/call 'mul'; record"));
    assert_int_equal(t.why.nearest, 2);
    release_texts(&t);
}

/* A secret that was taken out of the recording is no reason for a miss, and the live one
 * must not be printed beside it. */
static void redacted_values_are_no_difference(void **state)
{
    static const struct match never = { .outcome = MATCH_NOT_RECORDED };
    struct miss_run t;

    (void)state;
    explain_in(&t, MATCH_BY_REQUEST,
               "c2s {'id':1,'method':'m','params':{'key':'[REDACTED:KEY]','n':1}}",
               "{'id':1,'method':'m','params':{'key':'very-secret','n':2}}", &never);
    assert_null(strstr(buf_z(&t.why.log_line), "very-secret"));
    assert_null(strstr(buf_z(&t.why.data), "very-secret"));
    assert_non_null(strstr(buf_z(&t.why.log_line), "$.params.n: recorded 1, got 2"));
    release_texts(&t);
}

static void the_outcome_of_an_equal_call_is_reported(void **state)
{
    static const char recorded[] =
        "x=1 c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
        "| {'type':'http','ev':'response','status':502,'by':'mcpreel','exchange':1}\n"
        "x=1 http end server\n"
        "x=2 c2s {'id':1,'method':'tools/call','params':{'name':'u'}}\n"
        "| {'type':'http','ev':'response','status':401,'by':'server','exchange':2}\n"
        "x=2 http end server\n";
    struct miss_run t;

    (void)state;
    explain(&t, recorded, "{'id':1,'method':'tools/call','params':{'name':'t'}}", false);
    assert_string_equal(t.why.reason, "recorded-without-response");
    assert_true(str_starts(
        buf_str(&t.why.log_line),
        STR("no recorded response for tools/call 't'; the same request is #1 "
            "tools/call 't', which mcpreel itself rejected with HTTP 502; record it")));
    release_texts(&t);
    explain(&t, recorded, "{'id':1,'method':'tools/call','params':{'name':'u'}}", false);
    assert_true(str_contains(buf_str(&t.why.log_line),
                             STR("which the server rejected with HTTP 401; ")));
    release_texts(&t);
    explain(&t, recorded, "{'id':1,'method':'tools/call','params':{'name':'v'}}", false);
    assert_string_equal(t.why.reason, "no-match");
    release_texts(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_call_has_the_fewest_differences),
        cmocka_unit_test(the_first_of_equally_near_calls_is_reported),
        cmocka_unit_test(the_same_subject_is_nearer_than_the_same_arguments),
        cmocka_unit_test(an_unrecorded_method_has_no_nearest_call),
        cmocka_unit_test(a_used_call_is_reported_as_used),
        cmocka_unit_test(uncompared_values_are_no_difference),
        cmocka_unit_test(five_of_many_differences_are_listed),
        cmocka_unit_test(long_values_and_names_are_shortened),
        cmocka_unit_test(hints_depend_on_the_options),
        cmocka_unit_test(the_hint_for_an_exhausted_match_comes_from_the_matcher),
        cmocka_unit_test(all_candidates_are_compared),
        cmocka_unit_test(a_limited_comparison_is_reported),
        cmocka_unit_test(in_total_order_the_next_call_is_reported),
        cmocka_unit_test(a_call_of_the_other_protocol_is_reported_as_such),
        cmocka_unit_test(the_outcome_of_an_equal_call_is_reported),
        cmocka_unit_test(redacted_values_are_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
