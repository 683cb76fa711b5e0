#include "match/match.h"

#include "loaded-index.h"

/* A recording and a matcher over it; every request has a result, unless the recording has
 * another response. */
struct bench {
    struct loaded_index of;
    struct matcher matcher;
    struct used_set used;
    struct match last;
};

static void set_up_with(struct bench *b, const struct match_options *how, const char *recording)
{
    struct match_options options = *how;

    options.rules = matcher_rules(how, false);
    options.rules.ignore = how->rules.ignore;
    loaded_index_init_with(&b->of, &options.rules, recording);
    matcher_init(&b->matcher, &b->of.index, &options, &b->of.fuzzy);
    used_set_init(&b->used, b->of.index.call_count);
}

static void set_up(struct bench *b, enum match_mode mode, const char *recording)
{
    set_up_with(b, &(struct match_options){ .mode = mode }, recording);
}

static void tear_down(struct bench *b)
{
    used_set_release(&b->used);
    matcher_release(&b->matcher);
    loaded_index_release(&b->of);
}

/* `request` is {'method':...,'params':...}. Returns the seq of the match, negative if it is
 * repeated. */
static int match_in_session(struct bench *b, uint32_t session, const char *request)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, request), &s.arena);
    int seq;

    b->last = matcher_match(&b->matcher, &b->used, session, &m);
    terse_scanned_release(&s);
    seq = (int)b->of.index.calls[b->last.call].seq;
    switch (b->last.outcome) {
    case MATCH_FOUND:
        return seq;
    case MATCH_REPEAT:
        return -seq;
    case MATCH_EXHAUSTED:
        return 1000;
    case MATCH_OUT_OF_ORDER:
        return 2000 + seq;
    case MATCH_READ_ERROR:
        return 3000;
    case MATCH_NOT_RECORDED:
        return 0;
    case MATCH_OTHER_PROTOCOL:
        fail_msg("the matcher does not judge protocol versions");
    }
    return 0;
}

static int match_request(struct bench *b, const char *request)
{
    return match_in_session(b, b->of.index.sessions_with_calls[0], request);
}

enum { NEVER = 0, EXHAUSTED = 1000, TOO_EARLY = 2000, BROKEN = 3000 };

#define CALL(id, tool, args)                                                                   \
    "c2s {'id':" #id ",'method':'tools/call','params':{'name':'" tool "','arguments':" args    \
    "}}\n"                                                                                     \
    "s2c {'id':" #id ",'result':{}}\n"
#define REQUEST(tool, args)                                                                    \
    "{'method':'tools/call','params':{'name':'" tool "','arguments':" args "}}"
#define REQUEST_AS(id, tool, args)                                                             \
    "{'id':" #id ",'method':'tools/call','params':{'name':'" tool "','arguments':" args "}}"

/* If none has equal params. */
static void sequential_matches_the_oldest_of_the_same_method_and_subject(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           CALL(1, "a", "{'n':1}") CALL(2, "b", "{}") CALL(3, "a", "{'n':2}"));
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':2}")), 5);
    assert_int_equal(match_request(&b, REQUEST("c", "{}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("a", "{'other':true}")), 1);
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':1}")), EXHAUSTED);
    assert_int_equal(match_request(&b, REQUEST("b", "{}")), 3);
    tear_down(&b);
}

static void by_request_matches_the_oldest_with_equal_params(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           CALL(1, "a", "{'n':1}") CALL(2, "a", "{'n':2}") CALL(3, "a", "{'n':1}"));
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':2}")), 3);
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':1}")), 1);
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':3}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':1}")), 5);
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':1}")), EXHAUSTED);
    tear_down(&b);
}

/* Words that were recognised once are compared each time: what they mean is looked up by
 * them only while they are the recorded ones. */
static void equal_params_text_finds_the_same_call_again(void **state)
{
    struct match_options how = { .mode = MATCH_BY_REQUEST, .exhausted = EXHAUSTED_LAST };
    struct bench b;

    (void)state;
    set_up_with(&b, &how,
                CALL(1, "a", "{'n':1,'m':2}") CALL(2, "b", "{'n':1,'m':2}")
                    CALL(3, "a", "{'n':1,'m':2}"));
    assert_int_equal(match_request(&b, REQUEST_AS(11, "a", "{'n':1,'m':2}")), 1);
    assert_int_equal(match_request(&b, REQUEST_AS(12, "b", "{'n':1,'m':2}")), 3);
    assert_int_equal(match_request(&b, REQUEST_AS(13, "a", "{'n':1,'m':2}")), 5);
    assert_int_equal(match_request(&b, REQUEST_AS(14, "a", "{'n':1,'m':2}")), -5);
    assert_int_equal(match_request(&b, REQUEST_AS(15, "a", "{'m':2,'n':1}")), -5);
    assert_int_equal(match_request(&b, REQUEST_AS(16, "b", "{'n':1,'m':2}")), -3);
    assert_int_equal(match_request(&b, REQUEST_AS(17, "a", "{'n':1,'m':3}")), NEVER);
    used_set_clear(&b.used);
    assert_int_equal(match_request(&b, REQUEST_AS(18, "a", "{'n':1,'m':2}")), 1);
    tear_down(&b);
}

static void absent_params_equal_empty_params(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'tools/list','params':{}}\ns2c {'id':2,'result':{}}\n"
           "c2s {'id':3,'method':'tools/call','params':{'name':'t'}}\n"
           "s2c {'id':3,'result':{}}\n");
    assert_int_equal(match_request(&b, "{'method':'tools/list','params':{'_meta':{'a':1}}}"),
                     1);
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 3);
    assert_int_equal(match_request(&b, REQUEST("t", "{}")), 5);
    tear_down(&b);
}

static void lists_reads_and_polls_are_repeated_and_calls_are_not(void **state)
{
    static const struct {
        const char *request;
        int again;
    } rows[] = {
        { "{'id':1,'method':'tools/list'}", -1 },
        { "{'id':1,'method':'prompts/get','params':{'name':'p'}}", -1 },
        { "{'id':1,'method':'resources/read','params':{'uri':'u'}}", -1 },
        { "{'id':1,'method':'completion/complete','params':{}}", -1 },
        { "{'id':1,'method':'tasks/get','params':{'taskId':'t'}}", -1 },
        { "{'id':1,'method':'tools/call','params':{'name':'t'}}", EXHAUSTED },
        { "{'id':1,'method':'logging/setLevel','params':{'level':'info'}}", -1 },
        { "{'id':1,'method':'own/method'}", EXHAUSTED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf recording;
        struct bench b;

        buf_init(&recording, 1 << 12);
        buf_printf(&recording, "c2s %s\ns2c {'id':1,'result':{}}", rows[i].request);
        set_up(&b, MATCH_BY_REQUEST, buf_z(&recording));
        assert_int_equal(match_request(&b, rows[i].request), 1);
        for (int k = 0; k < 3; k++)
            if (match_request(&b, rows[i].request) != rows[i].again)
                fail_msg("%s", rows[i].request);
        tear_down(&b);
        buf_release(&recording);
    }
}

static void a_repeated_response_is_the_last_success(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'tools/list'}\ns2c {'id':2,'result':{}}\n"
           "c2s {'id':3,'method':'tools/list'}\ns2c {'id':3,'error':{}}\n"
           "c2s {'id':4,'method':'tools/list'}\n");
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 1);
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 3);
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 5);
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 7);
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), -3);
    tear_down(&b);
}

static void without_any_success_a_list_is_exhausted(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'error':{}}\n");
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 1);
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), EXHAUSTED);
    tear_down(&b);
}

/* A client that lists anew wants the first page, not the one it got last, and not the next
 * page either. */
static void the_cursor_distinguishes_pages(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'tools/list','params':{'cursor':'2'}}\n"
           "s2c {'id':2,'result':{}}\n");
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 1);
    assert_int_equal(match_request(&b, "{'method':'tools/list','params':{'cursor':'2'}}"), 3);
    assert_int_equal(match_request(&b, "{'method':'tools/list','params':{}}"), -1);
    assert_int_equal(match_request(&b, "{'method':'tools/list','params':{'cursor':'2'}}"), -3);
    assert_int_equal(match_request(&b, "{'method':'tools/list','params':{'cursor':'9'}}"),
                     NEVER);
    tear_down(&b);
}

static void requests_of_the_handshake_are_not_matched(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           "c2s {'id':1,'method':'initialize'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'ping'}\ns2c {'id':2,'result':{}}\n"
           "c2s {'id':3,'method':'server/discover'}\ns2c {'id':3,'result':{}}\n"
           "c2s {'id':4,'method':'tools/list'}\ns2c {'id':4,'result':{}}\n");
    assert_int_equal(match_request(&b, "{'method':'initialize'}"), NEVER);
    assert_int_equal(match_request(&b, "{'method':'ping'}"), NEVER);
    /* And they are not skipped. */
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), 7);
    assert_int_equal(b.last.skipped_first, 0);
    tear_down(&b);
}

static void the_oldest_skipped_call_is_reported(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST, CALL(1, "a", "{}") CALL(2, "b", "{}") CALL(3, "c", "{}"));
    assert_int_equal(match_request(&b, REQUEST("c", "{}")), 5);
    assert_int_equal(b.last.skipped_first, 1);
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), 1);
    assert_int_equal(b.last.skipped_first, 0);
    assert_int_equal(match_request(&b, REQUEST("b", "{}")), 3);
    assert_int_equal(b.last.skipped_first, 0);
    tear_down(&b);
}

static void after_clear_all_calls_are_unused(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL, CALL(1, "a", "{}") CALL(2, "a", "{}"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 1);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 3);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), EXHAUSTED);
        used_set_clear(&b.used);
    }
    tear_down(&b);
}

/* Two hundred clients of one recording do not see each other. */
static void each_client_has_its_own_used_calls(void **state)
{
    struct used_set others[200];
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST, CALL(1, "a", "{}") CALL(2, "a", "{}"));
    for (size_t i = 0; i < 200; i++) {
        others[i] = b.used;
        used_set_init(&b.used, b.of.index.call_count);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 1);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 3);
    }
    for (size_t i = 0; i < 200; i++)
        used_set_release(&others[i]);
    tear_down(&b);
}

/* Names come from the client: no spelling of one may pass for another. */
static void names_with_special_characters_stay_different(void **state)
{
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench b;

        set_up(&b, modes[i],
               "c2s {'id':1,'method':'x`u0000a'}\n"
               "c2s {'id':2,'method':'tools/call b'}\n"
               "c2s {'id':3,'method':'tools/call','params':{'name':'c`u0000d'}}\n");
        assert_int_equal(match_request(&b, "{'method':'x`u0000b'}"), NEVER);
        assert_int_equal(match_request(&b, "{'method':'x'}"), NEVER);
        assert_int_equal(match_request(&b, "{'method':'tools/call','params':{'name':'b '}}"),
                         NEVER);
        assert_int_equal(match_request(&b, "{'method':'tools/call','params':{'name':'c'}}"),
                         NEVER);
        assert_int_equal(
            match_request(&b, "{'method':'tools/call','params':{'name':'c`u0000e'}}"), NEVER);
        assert_int_equal(match_request(&b, "{'method':'x`u0000a'}"), 1);
        assert_int_equal(match_request(&b, "{'method':'tools/call b'}"), 2);
        assert_int_equal(
            match_request(&b, "{'method':'tools/call','params':{'name':'c`u0000d'}}"), 3);
        tear_down(&b);
    }
}

static void an_empty_recording_matches_nothing(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL, "");
    assert_int_equal(match_request(&b, "{'method':'tools/list'}"), NEVER);
    tear_down(&b);
}

static void only_strict_compares_meta(void **state)
{
    static const char recording[] =
        "c2s {'id':1,'method':'m','params':{'a':1,'_meta':{'x':1}}}\ns2c "
        "{'id':1,'result':{}}\n";
    struct bench b;

    (void)state;
    set_up(&b, MATCH_STRICT, recording);
    assert_int_equal(match_request(&b, "{'method':'m','params':{'a':1}}"), NEVER);
    assert_int_equal(match_request(&b, "{'method':'m','params':{'_meta':{'x':1},'a':1}}"), 1);
    tear_down(&b);
    set_up(&b, MATCH_BY_REQUEST, recording);
    assert_int_equal(match_request(&b, "{'method':'m','params':{'a':1}}"), 1);
    tear_down(&b);
}

static void fuzzy_matches_the_most_similar_call(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_FUZZY,
           CALL(1, "a", "{'q':'cats','n':1,'deep':{'x':1}}")
               CALL(2, "a", "{'q':'dogs','n':1,'deep':{'x':1}}")
                   CALL(3, "b", "{'q':'dogs','n':2}"));
    assert_int_equal(match_request(&b, REQUEST("a", "{'q':'dogs','n':7,'deep':{'x':1}}")), 3);
    assert_true(b.last.params_differ);
    assert_int_equal(match_request(&b, REQUEST("b", "{'q':'cows','n':9}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("b", "{'q':'dogs','n':9}")), 5);
    assert_int_equal(match_request(&b, REQUEST("c", "{'q':'dogs','n':2}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("a", "{'q':'dogs','n':1,'deep':{'x':1}}")), 1);
    assert_int_equal(match_request(&b, REQUEST("a", "{'q':'dogs','n':1,'deep':{'x':1}}")),
                     EXHAUSTED);
    tear_down(&b);
}

static void total_order_matches_only_the_next_call(void **state)
{
    struct bench b;

    (void)state;
    set_up_with(&b, &(struct match_options){ .mode = MATCH_SEQUENTIAL, .total_order = true },
                CALL(1, "a", "{}") CALL(2, "b", "{}"));
    assert_int_equal(match_request(&b, REQUEST("b", "{}")), TOO_EARLY + 1);
    assert_true(b.last.any_order_helps);
    assert_int_equal(match_request(&b, "{'method':'own'}"), NEVER);
    assert_int_equal(match_request(&b, REQUEST("c", "{}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("a", "{'n':1}")), 1);
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), TOO_EARLY + 3);
    assert_false(b.last.any_order_helps); /* it is used up anyhow */
    assert_int_equal(match_request(&b, REQUEST("b", "{}")), 3);
    assert_int_equal(match_request(&b, REQUEST("b", "{}")), EXHAUSTED);
    assert_true(b.last.last_helps &&
                !b.last.cycle_helps); /* starting over would begin with a */
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), EXHAUSTED);
    assert_true(b.last.last_helps && b.last.cycle_helps);
    assert_int_equal(b.last.last_used, 1);
    tear_down(&b);
}

static void total_order_restarts_after_the_last_call(void **state)
{
    struct bench b;

    (void)state;
    set_up_with(&b,
                &(struct match_options){ .mode = MATCH_SEQUENTIAL,
                                         .total_order = true,
                                         .exhausted = EXHAUSTED_CYCLE },
                CALL(1, "a", "{}") CALL(2, "b", "{}") CALL(3, "a", "{}"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(match_request(&b, REQUEST("b", "{}")), TOO_EARLY + 1);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 1);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), TOO_EARLY + 3);
        assert_int_equal(match_request(&b, REQUEST("b", "{}")), 3);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 5);
    }
    tear_down(&b);
}

/* As mcp-recorder does it, for any request. */
static void the_next_call_in_total_order_may_be_repeated(void **state)
{
    static const char recording[] = CALL(1, "a", "{}") CALL(2, "b", "{}");
    static const struct {
        enum match_exhausted exhausted;
        int third, fourth;
    } rows[] = {
        { EXHAUSTED_ERROR, EXHAUSTED, EXHAUSTED },
        { EXHAUSTED_LAST, -3, -3 },
        { EXHAUSTED_CYCLE, -1, 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;

        set_up_with(&b,
                    &(struct match_options){ .mode = MATCH_SEQUENTIAL,
                                             .any_method = true,
                                             .exhausted = rows[i].exhausted },
                    recording);
        assert_int_equal(match_request(&b, "{'method':'x'}"), 1);
        assert_int_equal(match_request(&b, "{'method':'y'}"), 3);
        assert_int_equal(match_request(&b, "{'method':'z'}"), rows[i].third);
        assert_int_equal(match_request(&b, "{'method':'z'}"), rows[i].fourth);
        tear_down(&b);
    }
}

static void the_exhausted_match_names_the_option_that_helps(void **state)
{
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST, MATCH_FUZZY };

    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct bench b;

        set_up(&b, modes[i],
               CALL(1, "a", "{}") CALL(
                   2, "a", "{}") "c2s {'id':3,'method':'tools/call','params':{'name':'b'}}\n"
                                 "s2c {'id':3,'error':{}}\n"
                                 "c2s {'id':4,'method':'tasks/get','params':{'taskId':'t'}}\n"
                                 "s2c {'id':4,'error':{}}\n");
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 1);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 3);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), EXHAUSTED);
        assert_int_equal(b.last.last_used, 2);
        assert_true(b.last.last_helps && b.last.cycle_helps);
        assert_int_equal(match_request(&b, REQUEST("b", "{}")), 5);
        assert_int_equal(match_request(&b, REQUEST("b", "{}")), EXHAUSTED);
        assert_true(!b.last.last_helps && b.last.cycle_helps && b.last.last_used == 3);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'t'}}"),
                         7);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'t'}}"),
                         EXHAUSTED);
        assert_false(b.last.last_helps || b.last.cycle_helps);
        tear_down(&b);
    }
}

static void last_and_cycle_repeat_calls(void **state)
{
    struct bench b;

    (void)state;
    set_up_with(
        &b, &(struct match_options){ .mode = MATCH_BY_REQUEST, .exhausted = EXHAUSTED_LAST },
        CALL(1, "a", "{}") CALL(2, "a", "{}"));
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), 1);
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), 3);
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), -3);
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), -3);
    tear_down(&b);
    set_up_with(
        &b, &(struct match_options){ .mode = MATCH_BY_REQUEST, .exhausted = EXHAUSTED_CYCLE },
        CALL(1, "a", "{}") CALL(2, "a", "{}") CALL(3, "b", "{}"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), i ? -1 : 1);
        assert_true(!i || b.last.replay_fully);
        assert_int_equal(match_request(&b, REQUEST("a", "{}")), 3);
    }
    assert_int_equal(match_request(&b, REQUEST("b", "{}")), 5);
    tear_down(&b);
}

static void polls_advance_and_repeat_the_last_one(void **state)
{
    static const char recording[] =
        "c2s {'id':1,'method':'tasks/get','params':{'taskId':'t'}}\n"
        "s2c {'id':1,'result':{'status':'working'}}\n"
        "c2s {'id':2,'method':'tasks/get','params':{'taskId':'t'}}\n"
        "s2c {'id':2,'result':{'status':'completed'}}\n"
        "c2s {'id':3,'method':'tasks/get','params':{'taskId':'u'}}\n"
        "s2c {'id':3,'result':{'status':'working'}}\n";
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST, MATCH_FUZZY,
                                             MATCH_STRICT };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct bench b;

        set_up_with(&b,
                    &(struct match_options){ .mode = modes[i], .exhausted = EXHAUSTED_CYCLE },
                    recording);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'t'}}"),
                         1);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'t'}}"),
                         3);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'t'}}"),
                         -3);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'u'}}"),
                         5);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'t'}}"),
                         -3);
        assert_int_equal(match_request(&b, "{'method':'tasks/get','params':{'taskId':'u'}}"),
                         -5);
        tear_down(&b);
    }
}

static void rounds_of_input_are_distinguished(void **state)
{
    static const char recording[] =
        "c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
        "s2c {'id':1,'result':{'resultType':'input_required','requestState':'s1'}}\n"
        "c2s {'id':2,'method':'tools/call','params':{'name':'t'}}\n"
        "s2c {'id':2,'result':{'resultType':'input_required','requestState':'s2'}}\n"
        "c2s {'id':3,'method':'tools/call','params':{'name':'t','requestState':'s2',"
        "'inputResponses':{'k':{'a':1}}}}\n"
        "s2c {'id':3,'result':{}}\n"
        "c2s {'id':4,'method':'tools/call','params':{'name':'t','requestState':'s1',"
        "'inputResponses':{'k':{'a':2}}}}\n"
        "s2c {'id':4,'result':{}}\n";
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST, MATCH_FUZZY };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench b;

        set_up(&b, modes[i], recording);
        assert_int_equal(match_request(&b, "{'method':'tools/call','params':{'name':'t'}}"), 1);
        assert_int_equal(
            match_request(&b, "{'method':'tools/call','params':{'name':'t','requestState':"
                              "'s1','inputResponses':{'k':{'other':true}}}}"),
            7);
        assert_int_equal(match_request(&b, "{'method':'tools/call','params':{'name':'t'}}"), 3);
        assert_int_equal(
            match_request(&b, "{'method':'tools/call','params':{'name':'t','requestState':"
                              "'s3','inputResponses':{'k':{}}}}"),
            NEVER);
        tear_down(&b);
    }
}

#define OF(conn, id, method)                                                                   \
    "conn=" #conn " c2s {'id':" #id ",'method':'" method "'}\n"                                \
    "conn=" #conn " s2c {'id':" #id ",'result':{}}\n"

static void calls_of_other_sessions_are_used_if_the_own_has_none(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           OF(1, 1, "tools/list") OF(1, 2, "own/a") OF(2, 1, "tools/list") OF(2, 2, "own/b"));
    assert_int_equal(match_in_session(&b, 1, "{'method':'tools/list'}"), 5);
    assert_false(b.last.from_other_session);
    assert_int_equal(match_in_session(&b, 1, "{'method':'tools/list'}"), -5);
    assert_int_equal(match_in_session(&b, 1, "{'method':'own/a'}"), 3);
    assert_true(b.last.from_other_session);
    assert_int_equal(match_in_session(&b, 1, "{'method':'own/a'}"), EXHAUSTED);
    assert_int_equal(match_in_session(&b, 1, "{'method':'own/b'}"), 7);
    assert_false(b.last.from_other_session);
    tear_down(&b);
}

/* A redacted value matches anything, by its text or by a pointer, in every mode. */
static void redacted_values_are_not_compared(void **state)
{
    static const char recording[] =
        "| {'type':'message','seq':1,'ts':'2025-02-04T10:00:00Z','dir':'c2s','msg':{'id':1,"
        "'method':'tools/"
        "call','params':{'name':'t','arguments':{'key':'[REDACTED:KEY]','n':1}}}}\n"
        "| {'type':'message','seq':2,'ts':'2025-02-04T10:00:00Z','dir':'c2s','msg':{'id':2,"
        "'method':'tools/call','params':{'name':'t','arguments':{'key':'Bearer "
        "[REDACTED]','n':2}}}}\n"
        "| {'type':'message','seq':3,'ts':'2025-02-04T10:00:00Z','dir':'c2s','msg':{'id':3,"
        "'method':'tools/call','params':{'name':'t','arguments':{'in':{'x':'***'},'n':3}}},"
        "'redacted':['/params/arguments/in']}\n";
    static const enum match_mode modes[] = { MATCH_BY_REQUEST, MATCH_STRICT, MATCH_FUZZY };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench b;

        set_up(&b, modes[i], recording);
        assert_int_equal(match_request(&b, REQUEST("t", "{'key':'Bearer secret','n':2}")), 2);
        assert_int_equal(match_request(&b, REQUEST("t", "{'key':'secret','n':1}")), 1);
        assert_int_equal(match_request(&b, REQUEST("t", "{'key':'secret','n':9,'m':9}")),
                         NEVER);
        assert_int_equal(match_request(&b, REQUEST("t", "{'in':{'y':[1,2]},'n':3}")), 3);
        tear_down(&b);
    }
}

static void text_around_a_redacted_subject_is_compared(void **state)
{
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST, MATCH_FUZZY };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench b;

        set_up(&b, modes[i],
               "c2s {'id':1,'method':'resources/read','params':{'uri':'x://[REDACTED]/a'}}\n"
               "c2s {'id':2,'method':'resources/read','params':{'uri':'x://b'}}\n");
        assert_int_equal(
            match_request(&b, "{'method':'resources/read','params':{'uri':'x://b'}}"), 2);
        assert_int_equal(
            match_request(&b, "{'method':'resources/read','params':{'uri':'x://c'}}"), NEVER);
        assert_int_equal(
            match_request(&b, "{'method':'resources/read','params':{'uri':'x://c/a'}}"), 1);
        tear_down(&b);
    }
}

/* Texts that are the same but for the id are taken for the same request without a closer
 * look. More than an id may hide there. */
static void members_beside_an_id_are_compared(void **state)
{
    static const char live[] = "{'method':'m','params':{'a':1},'id':9}";
    static const struct {
        const char *recorded;
        bool differs;
    } rows[] = {
        { "{'method':'m','params':{'a':1},'id':12345}", false },
        { "{'method':'m','params':{'a':1},'id':'x y'}", false },
        { "{'method':'m','params':{'a':1},'id':1,'params':{'a':2}}", true },
        { "{'method':'m','params':{'a':1},'id':'1','params':{'a':'2'}}", true },
        { "{'method':'m','params':{'a':2},'id':1}", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf recording;
        struct bench b;

        buf_init(&recording, 1 << 12);
        buf_printf(&recording, "c2s %s\n", rows[i].recorded);
        set_up(&b, MATCH_SEQUENTIAL, buf_z(&recording));
        assert_int_equal(match_request(&b, live), 1);
        if (b.last.params_differ != rows[i].differs)
            fail_msg("%s", rows[i].recorded);
        tear_down(&b);
        buf_release(&recording);
    }
}

static void an_unreadable_recording_is_reported(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST, CALL(1, "a", "{}"));
    memset(b.of.store.text.at, 'x', b.of.store.text.len);
    assert_int_equal(match_request(&b, REQUEST("a", "{}")), BROKEN);
    assert_string_equal(b.matcher.error.msg, "the recording has changed since it was read");
    tear_down(&b);
}

/* #1 and #3 are of a session, #5 and #7 need none. */
#define META "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"
#define NEWER(id, tool)                                                                        \
    "conn=2 c2s {'id':" #id ",'method':'tools/call','params':{'name':'" tool "'," META "}}\n"  \
    "conn=2 s2c {'id':" #id ",'result':{}}\n"
#define REQUEST_STATELESS(tool) "{'method':'tools/call','params':{'name':'" tool "'," META "}}"

static void calls_of_the_other_protocol_are_used_if_the_own_has_none(void **state)
{
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST, MATCH_FUZZY };

    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct match_options how = { .mode = modes[i], .exhausted_stateless = EXHAUSTED_CYCLE };
        uint32_t older, newer;
        struct bench b;

        set_up_with(&b, &how,
                    CALL(1, "t", "{}") CALL(2, "old", "{}") NEWER(1, "t") NEWER(2, "new"));
        older = b.of.index.sessions_with_calls[0];
        newer = b.of.index.sessions_with_calls[1];
        assert_true(index_is_stateless(&b.of.index, newer));
        assert_int_equal(match_in_session(&b, older, REQUEST("t", "{}")), 1);
        assert_int_equal(match_in_session(&b, older, REQUEST("t", "{}")), EXHAUSTED);
        assert_int_equal(match_in_session(&b, newer, REQUEST_STATELESS("t")), 5);
        assert_int_equal(match_in_session(&b, newer, REQUEST_STATELESS("t")), -5);
        assert_false(b.last.from_other_session);
        assert_int_equal(match_in_session(&b, older, REQUEST("new", "{}")), 7);
        assert_true(b.last.from_other_session);
        assert_int_equal(match_in_session(&b, newer, REQUEST_STATELESS("old")), 3);
        assert_true(b.last.from_other_session);
        tear_down(&b);
    }
}

static void add_ignored_path(struct compare_rules *rules, const char *path)
{
    struct err e = ERR_NONE;

    assert_true(compare_rules_add_path(rules, COMPARE_PATH_IGNORE, str_z(path), &e));
}

static const char searches[] =
    CALL(1, "search", "{'q':'cats','n':5}") CALL(2, "search", "{'q':'dogs','n':5}")
        CALL(3, "search", "{'q':'cats','n':9}") CALL(4, "other", "{'q':'cats','n':5}");

static void set_up_ignoring(struct bench *b, struct compare_rules *rules,
                            const struct match_options *how, const char *recording)
{
    struct match_options options = *how;

    compare_rules_init(rules);
    add_ignored_path(rules, "$.params.arguments.q");
    options.rules.ignore = rules;
    set_up_with(b, &options, recording);
}

static void ignored_values_do_not_count(void **state)
{
    static const enum match_mode modes[] = { MATCH_BY_REQUEST, MATCH_STRICT, MATCH_SEQUENTIAL,
                                             MATCH_FUZZY };

    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct compare_rules rules;
        struct bench b;

        set_up_ignoring(&b, &rules, &(struct match_options){ .mode = modes[i] }, searches);
        assert_int_equal(match_request(&b, REQUEST("search", "{'q':'birds','n':9}")), 5);
        assert_true(b.last.values_ignored);
        assert_false(b.last.params_differ);
        assert_int_equal(match_request(&b, REQUEST("search", "{'q':'dogs','n':5}")),
                         3); /* equal: first */
        assert_false(b.last.values_ignored);
        assert_int_equal(match_request(&b, REQUEST("search", "{'n':5}")), 1);
        assert_true(b.last.values_ignored);
        assert_int_equal(match_request(&b, REQUEST("other", "{'q':'x','n':5}")), 7);
        assert_true(b.last.values_ignored);
        assert_int_equal(match_request(&b, REQUEST("other", "{'q':'x','n':5}")), EXHAUSTED);
        assert_int_equal(match_request(&b, REQUEST("third", "{'q':'x','n':5}")), NEVER);
        tear_down(&b);
        compare_rules_release(&rules);
    }
}

static void values_that_are_not_ignored_count(void **state)
{
    struct compare_rules rules;
    struct bench b;

    (void)state;
    set_up_ignoring(&b, &rules, &(struct match_options){ .mode = MATCH_BY_REQUEST }, searches);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'cats','n':6}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'cats','n':5,'x':1}")), NEVER);
    tear_down(&b);
    compare_rules_release(&rules);
}

static void ignored_values_repeat_and_start_over(void **state)
{
    struct compare_rules rules;
    struct bench b;

    (void)state;
    set_up_ignoring(
        &b, &rules,
        &(struct match_options){ .mode = MATCH_BY_REQUEST, .exhausted = EXHAUSTED_CYCLE },
        searches);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'a','n':5}")), 1);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'b','n':5}")), 3);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'c','n':5}")), -1);
    assert_true(b.last.values_ignored);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'d','n':5}")), 3);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'dogs','n':5}")), -3);
    assert_false(b.last.values_ignored);
    tear_down(&b);
    compare_rules_release(&rules);
}

static void ignored_values_go_with_redacted_ones(void **state)
{
    struct compare_rules rules;
    struct bench b;

    (void)state;
    set_up_ignoring(&b, &rules, &(struct match_options){ .mode = MATCH_BY_REQUEST },
                    CALL(1, "t", "{'q':'[REDACTED:A]','n':1}")
                        CALL(2, "t", "{'q':'a','key':'[REDACTED:K]'}"));
    assert_int_equal(match_request(&b, REQUEST("t", "{'q':'b','key':'secret'}")), 3);
    assert_true(b.last.values_ignored);
    assert_int_equal(match_request(&b, REQUEST("t", "{'q':{'b':1},'n':1}")), 1);
    tear_down(&b);
    compare_rules_release(&rules);
}

static void ignored_values_in_total_order(void **state)
{
    struct compare_rules rules;
    struct bench b;

    (void)state;
    set_up_ignoring(&b, &rules,
                    &(struct match_options){ .mode = MATCH_SEQUENTIAL, .total_order = true },
                    searches);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'x','n':5}")), 1);
    assert_true(b.last.values_ignored);
    assert_false(b.last.params_differ);
    tear_down(&b);
    compare_rules_release(&rules);
}

static void a_session_is_found_by_what_is_not_ignored(void **state)
{
    static const char two[] =
        "c2s {'id':0,'method':'initialize'}\ns2c {'id':0,'result':{}}\n" CALL(
            1, "search", "{'q':'cats','n':5}") "c2s {'id':0,'method':'initialize'}\n"
                                               "s2c {'id':0,'result':{}}\n" CALL(
                                                   1, "search", "{'q':'dogs','n':9}");
    struct compare_rules rules;
    struct terse_scanned s;
    struct mcp_message m;
    struct used_set assigned;
    struct bench b;

    (void)state;
    set_up_ignoring(&b, &rules, &(struct match_options){ .mode = MATCH_BY_REQUEST }, two);
    used_set_init(&assigned, b.of.index.session_count);
    m = mcp_classify(terse_scan(&s, REQUEST("search", "{'q':'birds','n':9}")), &s.arena);
    assert_int_equal(
        matcher_find_session(&b.matcher,
                             &(struct match_sessions){ b.of.index.sessions_with_calls,
                                                       b.of.index.sessions_with_calls_count, 0,
                                                       &assigned },
                             &m),
        1);
    terse_scanned_release(&s);
    used_set_release(&assigned);
    tear_down(&b);
    compare_rules_release(&rules);
}

/* Each tool has calls that only its own mode matches. */
static void a_tool_may_have_its_own_mode(void **state)
{
    static const struct match_tool_mode tools[] = { { STR_INIT("search"), MATCH_FUZZY },
                                                    { STR_INIT("log"), MATCH_SEQUENTIAL },
                                                    { STR_INIT("pay"), MATCH_STRICT } };
    static const char recording[] =
        CALL(1, "search", "{'q':'cats','n':5}") CALL(2, "log", "{'text':'a'}")
            CALL(3, "read", "{'f':'a'}") "c2s {'id':4,'method':'tools/call','params':{'name':"
                                         "'pay','arguments':{},'_meta':{'k':1}}}\n"
                                         "s2c {'id':4,'result':{}}\n"
                                         "c2s {'id':5,'method':'prompts/get','params':{'name':"
                                         "'log','arguments':{'a':1}}}\n"
                                         "s2c {'id':5,'result':{}}\n";
    struct bench b;

    (void)state;
    set_up_with(
        &b,
        &(struct match_options){ .mode = MATCH_BY_REQUEST, .tools = tools, .tool_count = 3 },
        recording);
    assert_int_equal(match_request(&b, REQUEST("read", "{'f':'b'}")), NEVER);
    assert_int_equal(match_request(&b, REQUEST("log", "{'text':'b'}")), 3);
    assert_true(b.last.params_differ);
    assert_int_equal(match_request(&b, REQUEST("search", "{'q':'cats','n':6}")), 1);
    assert_true(b.last.params_differ);
    assert_int_equal(
        match_request(&b, "{'method':'tools/call','params':{'name':'pay','_meta':{'k':2}}}"),
        NEVER);
    assert_int_equal(
        match_request(&b, "{'method':'tools/call','params':{'name':'pay','_meta':{'k':1}}}"),
        7);
    assert_int_equal(match_request(&b, REQUEST("read", "{'f':'a'}")), 5);
    assert_false(b.last.params_differ);
    assert_int_equal(match_request(&b, REQUEST("read", "{'f':'a'}")), EXHAUSTED);
    /* A prompt of that name is no tool. */
    assert_int_equal(
        match_request(&b,
                      "{'method':'prompts/get','params':{'name':'log','arguments':{'a':2}}}"),
        NEVER);
    assert_int_equal(
        match_request(&b,
                      "{'method':'prompts/get','params':{'name':'log','arguments':{'a':1}}}"),
        9);
    assert_int_equal(
        match_request(&b,
                      "{'method':'prompts/get','params':{'name':'log','arguments':{'a':1}}}"),
        -9);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_matches_the_oldest_of_the_same_method_and_subject),
        cmocka_unit_test(by_request_matches_the_oldest_with_equal_params),
        cmocka_unit_test(equal_params_text_finds_the_same_call_again),
        cmocka_unit_test(absent_params_equal_empty_params),
        cmocka_unit_test(lists_reads_and_polls_are_repeated_and_calls_are_not),
        cmocka_unit_test(a_repeated_response_is_the_last_success),
        cmocka_unit_test(without_any_success_a_list_is_exhausted),
        cmocka_unit_test(the_cursor_distinguishes_pages),
        cmocka_unit_test(requests_of_the_handshake_are_not_matched),
        cmocka_unit_test(the_oldest_skipped_call_is_reported),
        cmocka_unit_test(after_clear_all_calls_are_unused),
        cmocka_unit_test(each_client_has_its_own_used_calls),
        cmocka_unit_test(names_with_special_characters_stay_different),
        cmocka_unit_test(an_empty_recording_matches_nothing),
        cmocka_unit_test(only_strict_compares_meta),
        cmocka_unit_test(fuzzy_matches_the_most_similar_call),
        cmocka_unit_test(total_order_matches_only_the_next_call),
        cmocka_unit_test(total_order_restarts_after_the_last_call),
        cmocka_unit_test(the_next_call_in_total_order_may_be_repeated),
        cmocka_unit_test(the_exhausted_match_names_the_option_that_helps),
        cmocka_unit_test(last_and_cycle_repeat_calls),
        cmocka_unit_test(polls_advance_and_repeat_the_last_one),
        cmocka_unit_test(rounds_of_input_are_distinguished),
        cmocka_unit_test(calls_of_other_sessions_are_used_if_the_own_has_none),
        cmocka_unit_test(calls_of_the_other_protocol_are_used_if_the_own_has_none),
        cmocka_unit_test(redacted_values_are_not_compared),
        cmocka_unit_test(text_around_a_redacted_subject_is_compared),
        cmocka_unit_test(members_beside_an_id_are_compared),
        cmocka_unit_test(an_unreadable_recording_is_reported),
        cmocka_unit_test(ignored_values_do_not_count),
        cmocka_unit_test(values_that_are_not_ignored_count),
        cmocka_unit_test(ignored_values_repeat_and_start_over),
        cmocka_unit_test(ignored_values_go_with_redacted_ones),
        cmocka_unit_test(ignored_values_in_total_order),
        cmocka_unit_test(a_session_is_found_by_what_is_not_ignored),
        cmocka_unit_test(a_tool_may_have_its_own_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
