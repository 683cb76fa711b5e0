#include "engine/crossing.h"

#include "scripted.h"

static bool is_possible(const char *answer)
{
    struct scripted s;
    struct err e = ERR_NONE;
    struct buf text;
    bool possible;

    buf_init(&text, 1 << 16);
    buf_printf(&text, "c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n%s", answer);
    scripted_init(&s, MATCH_SEQUENTIAL, buf_z(&text));
    possible = crossing_is_possible(&s.script, 1, &e);
    assert_int_equal(e.kind, ERR_OK);
    scripted_release(&s);
    buf_release(&text);
    return possible;
}

static void what_is_an_answer_in_both_eras_can_cross(void **state)
{
    (void)state;
    assert_true(is_possible(""));
    assert_true(is_possible("s2c {'id':1,'result':{'content':[]}}"));
    assert_true(is_possible("s2c {'id':1,'result':{'content':[],'resultType':'complete'}}"));
    assert_true(is_possible("s2c {'id':1,'error':{'code':-32602,'message':'no'}}"));
    assert_true(is_possible("s2c {'method':'notifications/message','params':{}}\n"
                            "s2c {'id':1,'result':{'content':[]}}"));
}

static void what_is_none_yet_stays_on_its_side(void **state)
{
    (void)state;
    assert_false(is_possible("s2c {'id':1,'result':{'resultType':'input_required'}}"));
    assert_false(is_possible("s2c {'id':1,'result':{'resultType':'task','taskId':'x'}}"));
    assert_false(is_possible("s2c {'id':1,'result':{'task':{'taskId':'x'}}}"));
}

static void check_newer(const char *method, const char *answer, const char *want)
{
    struct terse_scanned s;
    struct json_splice edit;
    struct json_val root = terse_scan(&s, answer);
    struct buf text;

    buf_init(&text, 1 << 16);
    json_splice_init(&edit, root);
    crossing_to_newer(&edit, root, mcp_method_find(str_z(method)));
    json_splice_apply(&edit, &text);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
    terse_scanned_release(&s);
}

static void an_answer_of_the_newer_era_says_what_it_is_and_how_long_it_is_good(void **state)
{
    (void)state;
    check_newer("tools/call", "{'id':1,'result':{'content':[]}}",
                "{\"id\":1,\"result\":{\"content\":[],\"resultType\":\"complete\"}}");
    check_newer("own/thing", "{'id':1,'result':{}}",
                "{\"id\":1,\"result\":{\"resultType\":\"complete\"}}");
    check_newer("tools/list", "{'id':1,'result':{'tools':[]}}",
                "{\"id\":1,\"result\":{\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
                "\"cacheScope\":\"private\"}}");
    check_newer("resources/read", "{'id':1,'error':{'code':-32002,'message':'no'}}",
                "{\"id\":1,\"error\":{\"code\":-32002,\"message\":\"no\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_an_answer_in_both_eras_can_cross),
        cmocka_unit_test(what_is_none_yet_stays_on_its_side),
        cmocka_unit_test(an_answer_of_the_newer_era_says_what_it_is_and_how_long_it_is_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
