#include "engine/review.h"

#include "scripted.h"

static const char recording[] = "c2s {'id':1,'method':'initialize'}\n"
                                "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                                "c2s {'id':3,'method':'tools/call','params':{'name':'b'}}\n"
                                "c2s {'id':4,'method':'tools/list'}\n";

static void miss_of(struct review *r, const char *live, uint32_t nearest)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);
    struct miss why = { .subject = STR("x"), .nearest = nearest, .reason = "never recorded" };

    review_miss(r, &m, &why);
    terse_scanned_release(&s);
}

static void it_counts_lists_and_names(void **state)
{
    struct arena a = { 0 };
    struct scripted s;
    struct review r;
    struct spent none;
    struct buf text;

    (void)state;
    scripted_init(&s, MATCH_SEQUENTIAL, recording);
    review_init(&r, &s.script);
    spent_init(&none, s.script.op_count);
    buf_init(&text, 1 << 16);
    review_match(&r, &(struct match){ .outcome = MATCH_FOUND, .op = 2, .differs = true },
                 &none);
    for (int i = 0; i < 2; i++) /* twice the same is one */
        review_match(&r, &(struct match){ .outcome = MATCH_FOUND, .op = 2, .passed = 3 },
                     &none);
    review_refusal(&r);
    review_question(&r, 2, STR("q"), QUESTION_ASKED);
    review_question(&r, 2, STR("q"), QUESTION_DIFFERS);
    review_question(&r, 2, STR("p"), QUESTION_LEFT_OUT);
    review_question(&r, 2, STR("q"), QUESTION_UNANSWERED);
    review_match(&r, &(struct match){ .outcome = MATCH_AGAIN, .op = 2, .borrowed = true },
                 &none);
    miss_of(&r, "{'id':1,'method':'tools/call'}", 3);
    r.forwarded = 1;
    review_token(&r, 3);
    review_token(&r, 3);
    assert_int_equal(review_next_token(&r, 0), 3);
    assert_int_equal(review_unused(&r), 2);
    review_name(&r, 3, &text);
    assert_str(buf_str(&text), STR("#3 tools/call b"));
    buf_clear(&text);
    review_write(&r, &text, 1);
    assert_str(
        buf_str(&text),
        terse_json(
            &a,
            "{'v':1,'command':'replay','exit_code':1,'requests':5,'matched':3,'repeated':1,"
            "'borrowed':1,'differing':1,'redacted':0,'ambiguous':0,'passed_over':1,'refused':1,"
            "'unmatched':1,'passed_through':1,"
            "'unused':2,'questions':1,'questions_differing':1,'questions_left_out':1,"
            "'questions_unanswered':1,'tokens_left':1,'unmatched_requests':[{'method':'tools/"
            "call','subject':"
            "'x','reason':'never recorded','nearest':{'seq':3,'method':"
            "'tools/call','subject':'b'}}],'passed_over_requests':[{'seq':3,'method':"
            "'tools/call','subject':'b'}],'question_remarks':[{'method':'q','outcome':"
            "'differs','request':{'seq':2,'method':'tools/call','subject':'a'}},"
            "{'method':'p','outcome':'left out','request':{'seq':2,'method':'tools/call',"
            "'subject':'a'}},{'method':'q','outcome':'no answer','request':{'seq':2,"
            "'method':'tools/call','subject':'a'}}],'tokens_left_requests':[{'seq':3,"
            "'method':'tools/call','subject':'b'}],'unused_requests':[{'seq':3,'method':"
            "'tools/call','subject':'b'},{'seq':4,'method':'tools/list'}]}"));
    buf_release(&text);
    spent_release(&none);
    review_release(&r);
    scripted_release(&s);
    arena_release(&a);
}

static void of_many_misses_the_first_are_kept(void **state)
{
    struct scripted s;
    struct review r;

    (void)state;
    scripted_init(&s, MATCH_SEQUENTIAL, recording);
    review_init(&r, &s.script);
    for (int i = 0; i < REVIEW_KEPT + 7; i++)
        miss_of(&r, "{'id':1,'method':'own'}", 0);
    assert_int_equal(r.kept, REVIEW_KEPT);
    assert_int_equal(r.missed, REVIEW_KEPT + 7);
    review_release(&r);
    scripted_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_counts_lists_and_names),
        cmocka_unit_test(of_many_misses_the_first_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
