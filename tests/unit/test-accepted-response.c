#include "redact/accepted-response.h"

#include "terse.h"
#include "test.h"

/* All texts with ' and ` for " and \. */
struct composed {
    struct accepted_response a;
    bool changed;
};

static struct composed compose(const char *recorded, const char *recorded_list,
                               const char *live, const char *live_list)
{
    struct terse_scanned old = { 0 }, new = { 0 };
    struct redacted_response r = { terse_scan(&old, recorded),
                                   terse_json(&old.arena, recorded_list) };
    struct redacted_response l = { terse_scan(&new, live), terse_json(&new.arena, live_list) };
    struct composed c;

    accepted_response_init(&c.a);
    c.changed = accepted_response_compose(&c.a, &r, &l);
    terse_scanned_release(&old);
    terse_scanned_release(&new);
    return c;
}

static void check_lists(const char *recorded, const char *recorded_list, const char *live,
                        const char *live_list, const char *want, const char *want_list)
{
    struct composed c = compose(recorded, recorded_list, live, live_list);
    struct arena a = { 0 };

    assert_str(buf_str(&c.a.text), terse_json(&a, want));
    assert_str(buf_str(&c.a.redacted), terse_json(&a, want_list));
    assert_int_equal(c.changed, strcmp(recorded, want) != 0);
    arena_release(&a);
    accepted_response_release(&c.a);
}

/* For messages without redacted values. */
static void check(const char *recorded, const char *live, const char *want)
{
    check_lists(recorded, "", live, "", want, "");
}

static void the_result_is_the_live_one_and_the_rest_as_recorded(void **state)
{
    (void)state;
    check("{'jsonrpc':'2.0','id':7,'result':{'a':1}}",
          "{'jsonrpc':'2.0','id':'m-1','result':{'a': 2.50,'b':[]}}",
          "{'jsonrpc':'2.0','id':7,'result':{'a': 2.50,'b':[]}}");
    check("{ 'x':[1], 'result' : {'a':1} , 'id':7,'timestamp':5 }",
          "{'id':1,'result':{},'y':true}", "{ 'x':[1], 'result' : {} , 'id':7,'timestamp':5 }");
    check("{'id':7,'error':{'code':-1,'message':'a'}}", "{'id':1,'error':{'code':-2}}",
          "{'id':7,'error':{'code':-2}}");
    check("{'id':7,'result':1,'result':2}", "{'id':1,'result':3}",
          "{'id':7,'result':1,'result':3}");
}

static void a_result_may_become_an_error_and_back(void **state)
{
    (void)state;
    check("{'jsonrpc':'2.0','id':7, 'result': {'a':1},'x`/y':2}",
          "{'id':1,'error':{'code':-32602,'message':'no'}}",
          "{'jsonrpc':'2.0','id':7,'error':{'code':-32602,'message':'no'},'x`/y':2}");
    check("{'error':{'code':1},'id':7}", "{'result':{},'id':1}", "{'result':{},'id':7}");
    check("{'id':7,'result':1,'error':null,'result':2}", "{'id':1,'error':{'code':1}}",
          "{'id':7,'error':{'code':1}}");
}

static void an_update_with_the_recorded_text_changes_nothing(void **state)
{
    static const char *const texts[] = {
        "{'id':7,'result':{'a':1}}",
        "{ 'id' : 7 , 'error' : { 'code' : 1.0 } }",
        "{'id':7,'result':{'a':'[REDACTED:rule-1]','[REDACTED:X]':'b [REDACTED]'}}",
        "{'id':7,'result':{'a':'[REDACTED:rule-1]','a':'[REDACTED:rule-2]'}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct composed c = compose(texts[i], "", texts[i], "");

        assert_false(c.changed);
        accepted_response_release(&c.a);
    }
}

static void a_placeholder_stays_where_the_live_value_is_text_or_a_number(void **state)
{
    (void)state;
    check_lists("{'id':7,'result':{'t':'[REDACTED:rule-3]','n':1}}", "['/result/t']",
                "{'id':1,'result':{'n':2,'t':'hunter2'}}", "",
                "{'id':7,'result':{'n':2,'t':'[REDACTED:rule-3]'}}", "['/result/t']");
    check_lists("{'id':7,'result':['a','[REDACTED:PIN]']}", "", "{'id':1,'result':['b',1234]}",
                "", "{'id':7,'result':['b','[REDACTED:PIN]']}", "['/result/1']");
    check_lists("{'id':7,'error':{'data':{'a/b~':[{'k':'[REDACTED]'}]}}}",
                "['/error/data/a~1b~0/0/k']",
                "{'id':1,'error':{'data':{'a/b~':[{'k':'x','k':'y'}]}}}", "",
                "{'id':7,'error':{'data':{'a/b~':[{'k':'[REDACTED]','k':'[REDACTED]'}]}}}",
                "['/error/data/a~1b~0/0/k']");
}

static void a_placeholder_is_removed_where_the_live_response_has_another_type(void **state)
{
    (void)state;
    check("{'id':7,'result':{'a':'[REDACTED]','b':'[REDACTED]','c':'[REDACTED]'}}",
          "{'id':1,'result':{'a':null,'b':{'x':1}}}",
          "{'id':7,'result':{'a':null,'b':{'x':1}}}");
    check("{'id':7,'result':{'a':'[REDACTED]'}}", "{'id':1,'error':{'a':'x'}}",
          "{'id':7,'error':{'a':'x'}}");
    check("{'id':7,'result':{'a':['[REDACTED]']}}", "{'id':1,'result':{'a':{'0':'x'}}}",
          "{'id':7,'result':{'a':{'0':'x'}}}");
}

static void text_around_a_placeholder_stays_if_it_is_the_same(void **state)
{
    (void)state;
    check_lists("{'id':7,'result':{'a':'key [REDACTED:KEY] of é','b':1}}", "['/result/a']",
                "{'id':1,'result':{'a':'key s3cret of `u00e9','b':2}}", "",
                "{'id':7,'result':{'a':'key [REDACTED:KEY] of é','b':2}}", "['/result/a']");
}

static void the_live_text_is_written_if_it_is_redacted_as_much(void **state)
{
    (void)state;
    check_lists("{'id':7,'result':{'a':'key [REDACTED:rule-1] of x'}}", "['/result/a']",
                "{'id':1,'result':{'a':'the key: [REDACTED:rule-2]'}}", "['/result/a']",
                "{'id':7,'result':{'a':'the key: [REDACTED:rule-2]'}}", "['/result/a']");
    check_lists("{'id':7,'result':{'a':'key [REDACTED:KEY] of x'}}", "['/result/a']",
                "{'id':1,'result':{'a':'keys: [REDACTED:KEY] [REDACTED:B]'}}", "['/result/a']",
                "{'id':7,'result':{'a':'keys: [REDACTED:KEY] [REDACTED:B]'}}", "['/result/a']");
}

static void only_the_placeholder_is_written_if_the_live_text_is_redacted_less(void **state)
{
    static const char recorded[] =
        "{'id':7,'result':{'a':'key [REDACTED:KEY] of [REDACTED:rule-1]'}}";
    static const char want[] = "{'id':7,'result':{'a':'[REDACTED:KEY]'}}";

    (void)state;
    /* The redactor found nothing; fewer secrets; another secret; the server's own text. */
    check_lists(recorded, "", "{'id':1,'result':{'a':'the key: s3cret'}}", "", want,
                "['/result/a']");
    check_lists(recorded, "", "{'id':1,'result':{'a':'s3cret [REDACTED:rule-1]'}}",
                "['/result/a']", want, "['/result/a']");
    check_lists(recorded, "", "{'id':1,'result':{'a':'s3 [REDACTED:B] [REDACTED:rule-1]'}}",
                "['/result/a']", want, "['/result/a']");
    check_lists(recorded, "", "{'id':1,'result':{'a':'s3 [REDACTED:KEY] [REDACTED]'}}", "",
                want, "['/result/a']");
    check_lists(recorded, "", "{'id':1,'result':{'a':5}}", "", want, "['/result/a']");
}

static void a_value_that_only_the_record_lists_as_redacted_stays(void **state)
{
    (void)state;
    check_lists("{'id':7,'result':{'a':{'b':'***'},'n':0,'c':'x'}}",
                "['/result/a/b','/result/n','/gone/1']",
                "{'id':1,'result':{'a':{'b':'s3cret'},'n':4711,'c':'y'}}", "",
                "{'id':7,'result':{'a':{'b':'***'},'n':0,'c':'y'}}",
                "['/gone/1','/result/a/b','/result/n']");
}

static void names_of_members_stay_redacted(void **state)
{
    (void)state;
    check_lists("{'id':7,'result':{'a':1,'k-[REDACTED:KEY]':{'v':'[REDACTED:V]'}}}", "",
                "{'id':1,'result':{'a':2,'b':3,'k-s3cret':{'v':'x','w':1},'k-2':4}}", "",
                "{'id':7,'result':{'a':2,'b':3,'k-[REDACTED:KEY]':{'v':'[REDACTED:V]','w':1},"
                "'k-2':4}}",
                "['/result/k-[REDACTED:KEY]','/result/k-[REDACTED:KEY]/v']");
    check_lists("{'id':7,'result':{'[REDACTED:rule-1]':1,'[REDACTED:rule-2]':2}}", "",
                "{'id':1,'result':{'[REDACTED:rule-7]':3,'x':4}}",
                "['/result/[REDACTED:rule-7]']",
                "{'id':7,'result':{'[REDACTED:rule-1]':3,'[REDACTED:rule-2]':4}}",
                "['/result/[REDACTED:rule-1]','/result/[REDACTED:rule-2]']");
    check_lists("{'id':7,'result':{'[REDACTED:KEY]':'[REDACTED:V]'}}", "",
                "{'id':1,'result':{'[REDACTED:KEY]':'x'}}", "['/result/[REDACTED:KEY]']",
                "{'id':7,'result':{'[REDACTED:KEY]':'[REDACTED:V]'}}",
                "['/result/[REDACTED:KEY]']");
}

static void pointers_of_both_messages_are_listed_once(void **state)
{
    (void)state;
    check_lists("{'id':'[REDACTED:KEY]','result':{'a':'[REDACTED]'}}",
                "['/id','/result/a','/result/gone']",
                "{'id':1,'result':{'a':'[REDACTED]','b':'[REDACTED:B]'}}",
                "['/result/a','/result/b','/id','/other']",
                "{'id':'[REDACTED:KEY]','result':{'a':'[REDACTED]','b':'[REDACTED:B]'}}",
                "['/id','/result/a','/result/b']");
    /* A list that would be too long has one pointer to the whole message. */
    check_lists("{'id':7,'result':1}", "", "{'id':1,'result':'[REDACTED]'}", "['']",
                "{'id':7,'result':'[REDACTED]'}", "['']");
}

static void many_pointers_become_one_to_the_message(void **state)
{
    struct buf recorded, live;
    struct composed c;

    (void)state;
    buf_init(&recorded, 1 << 20);
    buf_init(&live, 1 << 20);
    buf_add(&recorded, STR("{'id':7,'result':[1"));
    buf_add(&live, STR("{'id':1,'result':[2"));
    for (int i = 0; i < 3000; i++) {
        buf_add(&recorded, STR(",'[REDACTED]'"));
        buf_add(&live, STR(",'s3cret'"));
    }
    buf_add(&recorded, STR("]}"));
    buf_add(&live, STR("]}"));
    c = compose(buf_z(&recorded), "", buf_z(&live), "");
    assert_true(c.changed);
    assert_str(buf_str(&c.a.redacted), STR("[\"\"]"));
    assert_false(str_contains(buf_str(&c.a.text), STR("s3cret")));
    accepted_response_release(&c.a);
    buf_release(&recorded);
    buf_release(&live);
}

static void text_that_only_starts_like_a_placeholder_is_replaced(void **state)
{
    (void)state;
    check("{'id':7,'result':['[REDACTED','[redacted]','[REDACTEDX]']}",
          "{'id':1,'result':['a','b','c']}", "{'id':7,'result':['a','b','c']}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_is_the_live_one_and_the_rest_as_recorded),
        cmocka_unit_test(a_result_may_become_an_error_and_back),
        cmocka_unit_test(an_update_with_the_recorded_text_changes_nothing),
        cmocka_unit_test(a_placeholder_stays_where_the_live_value_is_text_or_a_number),
        cmocka_unit_test(a_placeholder_is_removed_where_the_live_response_has_another_type),
        cmocka_unit_test(text_around_a_placeholder_stays_if_it_is_the_same),
        cmocka_unit_test(the_live_text_is_written_if_it_is_redacted_as_much),
        cmocka_unit_test(only_the_placeholder_is_written_if_the_live_text_is_redacted_less),
        cmocka_unit_test(a_value_that_only_the_record_lists_as_redacted_stays),
        cmocka_unit_test(names_of_members_stay_redacted),
        cmocka_unit_test(pointers_of_both_messages_are_listed_once),
        cmocka_unit_test(many_pointers_become_one_to_the_message),
        cmocka_unit_test(text_that_only_starts_like_a_placeholder_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
