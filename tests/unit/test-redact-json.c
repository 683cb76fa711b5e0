#include "redact/redact-json.h"

#include "terse.h"
#include "test.h"

struct bench {
    struct secret_rules secrets;
    struct secret_search search;
    struct placeholders marks;
    struct redact_json json;
};

static void start(struct bench *b, const char *value, const char *pattern)
{
    struct err e = ERR_NONE;

    secret_rules_init(&b->secrets);
    assert_true(secret_rules_add_value(&b->secrets, STR("KEY"), str_z(value), &e));
    secret_rules_add_credentials(&b->secrets);
    if (pattern)
        assert_true(secret_rules_add_pattern(&b->secrets, str_z(pattern), &e));
    assert_true(secret_rules_seal(&b->secrets, &e));
    secret_search_init(&b->search, &b->secrets);
    placeholder_init(&b->marks, &b->secrets);
    redact_json_init(&b->json, &b->search, &b->marks);
}

static void stop(struct bench *b)
{
    redact_json_release(&b->json);
    placeholder_release(&b->marks);
    secret_search_release(&b->search);
    secret_rules_release(&b->secrets);
}

/* Both with ' and ` for " and \; the pointers follow, each after a space. */
static void assert_redacts(struct bench *b, const char *message, const char *want)
{
    struct arena a = { 0 };
    struct terse_scanned s = { 0 };
    struct buf got;

    buf_init(&got, 1 << 16);
    assert_int_equal(redact_json(&b->json, terse_scan(&s, message), true), REDACT_JSON_DONE);
    buf_add(&got, buf_str(&b->json.text));
    for (size_t i = 0; i < b->json.count; i++) {
        buf_add_ch(&got, ' ');
        redact_json_pointer(&b->json, &b->json.leaves[i], &got);
    }
    assert_str(buf_str(&got), terse_json(&a, want));
    buf_release(&got);
    arena_release(&a);
    terse_scanned_release(&s);
}

static void assert_outcome(struct bench *b, const char *message, enum redact_json_outcome want)
{
    struct terse_scanned s = { 0 };

    assert_int_equal(redact_json(&b->json, terse_scan(&s, message), true), want);
    terse_scanned_release(&s);
}

/* Quadratic work would run into the time limit of the test. */
static void many_members_called_data_take_linear_time(void **state)
{
    enum { MEMBERS = 400000 };
    struct bench b;
    struct buf text;

    (void)state;
    buf_init(&text, 16 << 20);
    buf_add(&text, STR("{'x':{"));
    for (int i = 0; i < MEMBERS; i++)
        buf_add(&text, STR("'data':'a',"));
    buf_add(&text, STR("'y':1}}"));
    buf_add_ch(&text, '\0');
    start(&b, "hunter2", NULL);
    assert_outcome(&b, buf_str(&text).at, REDACT_JSON_CLEAN);
    stop(&b);
    buf_release(&text);
}

static void only_the_bytes_of_the_secret_change(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", NULL);
    assert_redacts(&b, "{ 'a' : [1.0,'x hunter2 y'] , 'a':'`u0041' }",
                   "{ 'a' : [1.0,'x [REDACTED:KEY] y'] , 'a':'`u0041' } /a/1");
    assert_redacts(&b, "{'a':{'b':'hunter2hunter2','c':'`u0068unter2'}}",
                   "{'a':{'b':'[REDACTED:KEY][REDACTED:KEY]','c':'[REDACTED:KEY]'}} /a/b /a/c");
    assert_outcome(&b, "{'a':'hunter3'}", REDACT_JSON_CLEAN);
    stop(&b);
}

static void names_and_numbers_are_searched(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "4111111111111111", NULL);
    assert_redacts(
        &b, "{'n':[4111111111111111,-41111111111111110.5e3],'k4111111111111111/~':{'v':1}}",
        "{'n':['[REDACTED:KEY]','[REDACTED:KEY]'],'k[REDACTED:KEY]/~':{'v':1}}"
        " /n/0 /n/1 /k[REDACTED:KEY]~1~0");
    stop(&b);
}

static void paths_below_a_redacted_name_have_the_new_name(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", NULL);
    assert_redacts(&b, "{'hunter2':['hunter2']}",
                   "{'[REDACTED:KEY]':['[REDACTED:KEY]']} /[REDACTED:KEY] /[REDACTED:KEY]/0");
    stop(&b);
}

static void no_escape_is_split(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "nsecret1", NULL);
    assert_redacts(&b, "{'a':'x`nsecret1`nsecret1 y'}",
                   "{'a':'x[REDACTED:KEY][REDACTED:KEY] y'} /a");
    stop(&b);
    start(&b, "0041secret", NULL);
    assert_redacts(&b, "{'a':'x`u0041secret y'}", "{'a':'x[REDACTED:KEY] y'} /a");
    stop(&b);
}

static void no_character_is_split(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", "(?-s:[\\x80-\\x{ffff}])zz");
    assert_redacts(
        &b, "{'a':'\xc3\xa9hunter2\xc3\xa9 \xe2\x82\xaczz`u00e9hunter2'}",
        "{'a':'\xc3\xa9[REDACTED:KEY]\xc3\xa9 [REDACTED:rule-1]`u00e9[REDACTED:KEY]'} /a");
    stop(&b);
}

static void secrets_in_nested_json_are_found(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "se\"cr\\et", NULL);
    assert_redacts(&b, "{'a':'{`'b`':`'se```'cr````et`'}'}",
                   "{'a':'{`'b`':`'[REDACTED:KEY]`'}'} /a");
    stop(&b);
}

static void credentials_stay_in_protected_members(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", NULL);
    assert_outcome(&b, "{'id':'AKIAIOSFODNN7EXAMPLE','method':'AKIAIOSFODNN7EXAMPLE'}",
                   REDACT_JSON_CLEAN);
    assert_redacts(
        &b, "{'id':'AKIAIOSFODNN7EXAMPLE','params':{'id':'AKIAIOSFODNN7EXAMPLE'}}",
        "{'id':'AKIAIOSFODNN7EXAMPLE','params':{'id':'[REDACTED:rule-1]'}} /params/id");
    assert_outcome(
        &b,
        "{'result':{'tools':[{'name':'t','inputSchema':{'default':'AKIAIOSFODNN7EXAMPLE'}}]}}",
        REDACT_JSON_CLEAN);
    stop(&b);
}

/* The record is rejected, so nothing is written. */
static void a_declared_value_is_removed_everywhere(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", NULL);
    assert_redacts(
        &b,
        "{'id':'hunter2-1','method':'x/"
        "hunter2','params':{'_meta':{'progressToken':'hunter2'}}}",
        "{'id':'[REDACTED:KEY]-1','method':'x/[REDACTED:KEY]','params':{'_meta':{"
        "'progressToken':'[REDACTED:KEY]'}}} /id /method /params/_meta/progressToken");
    stop(&b);
}

/* However much of them is redacted, they still belong to the same requests. */
static void redacted_ids_stay_different(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "123456", NULL);
    assert_redacts(&b, "{'id':1234567}", "{'id':'[REDACTED:KEY]7'} /id");
    assert_redacts(&b, "{'id':1234568}", "{'id':'[REDACTED:KEY]8'} /id");
    assert_redacts(&b, "{'id':-91234567.5e1}", "{'id':'-9[REDACTED:KEY]7.5e1'} /id");
    assert_redacts(&b, "{'id':'1234567'}", "{'id':'[REDACTED:KEY]7#2'} /id");
    assert_redacts(&b, "{'id':123456}", "{'id':'[REDACTED:KEY]'} /id");
    assert_redacts(&b, "{'id':'%3123456'}", "{'id':'[REDACTED:KEY]#2'} /id");
    assert_redacts(&b, "{'id':'123456#2'}", "{'id':'[REDACTED:KEY]#2#2'} /id");
    assert_redacts(&b, "{'id':'123456'}", "{'id':'[REDACTED:KEY]#3'} /id");
    assert_redacts(&b, "{'id':'`u003123456'}", "{'id':'[REDACTED:KEY]#3'} /id");
    assert_redacts(&b, "{'id':123456.0}", "{'id':'[REDACTED:KEY]'} /id");
    assert_redacts(&b, "{'id':1234567,'result':{}}",
                   "{'id':'[REDACTED:KEY]7','result':{}} /id");
    assert_redacts(
        &b, "{'method':'notifications/cancelled','params':{'requestId':1234567,'x':1234567}}",
        "{'method':'notifications/cancelled','params':{'requestId':'[REDACTED:KEY]7',"
        "'x':'[REDACTED:KEY]'}} /params/requestId /params/x");
    assert_redacts(&b, "{'id':123456123456}", "{'id':'[REDACTED:KEY][REDACTED:KEY]'} /id");
    assert_redacts(&b, "{'id':5,'params':{'_meta':{'progressToken':1234567}}}",
                   "{'id':5,'params':{'_meta':{'progressToken':'[REDACTED:KEY]7'}}} "
                   "/params/_meta/progressToken");
    stop(&b);
}

static void patterns_are_matched_against_each_string(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", "^tok-.*$");
    assert_redacts(
        &b, "{'id':'tok-0','a':['tok-1','x','not tok-2'],'tok-3':'`u0074ok-4'}",
        "{'id':'tok-0','a':['[REDACTED:rule-1]','x','not tok-2'],'[REDACTED:rule-1]':"
        "'[REDACTED:rule-1]'} /a/0 /[REDACTED:rule-1] /[REDACTED:rule-1]");
    stop(&b);
}

static void patterns_match_names_and_numbers(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", "[0-9]{8}");
    assert_redacts(&b, "{'id':12345678,'a':12345678,'b12345678':'x 12345678'}",
                   "{'id':12345678,'a':'[REDACTED:rule-1]','b[REDACTED:rule-1]':'x "
                   "[REDACTED:rule-1]'} /a /b[REDACTED:rule-1] /b[REDACTED:rule-1]");
    stop(&b);
}

static void a_secret_across_values_cannot_be_removed(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "true,true", NULL);
    assert_outcome(&b, "{'a':[true,true]}", REDACT_JSON_FAILED);
    assert_outcome(&b, "{'a':[true,'true']}", REDACT_JSON_CLEAN);
    stop(&b);
}

static void a_secret_completed_by_a_placeholder_cannot_be_removed(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "[REDACTED:KEY]", NULL);
    assert_outcome(&b, "{'a':'[REDACTED:KEY]'}", REDACT_JSON_FAILED);
    assert_redacts(&b, "{'a':'%2525252525252568`'`'','b':'`'x`'%41','c':'%2525252525252568'}",
                   "{'a':'[REDACTED]','b':'`'x`'%41','c':'[REDACTED]'} /a /c");
    stop(&b);
}

static void a_secret_across_strings_is_removed_from_each(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "ab\",\"cd", NULL);
    assert_redacts(&b, "{'a':['xab','cdy']}",
                   "{'a':['x[REDACTED:KEY]','[REDACTED:KEY]y']} /a/0 /a/1");
    stop(&b);
}

static void a_too_deeply_escaped_string_is_replaced_completely(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "hunter2", NULL);
    assert_redacts(
        &b, "{'a':'x hunter2 %25252525252568unter2 y','b':['z','%2525252525252568'],'c':1}",
        "{'a':'[REDACTED]','b':['z','[REDACTED]'],'c':1} /a /b/1");
    stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_members_called_data_take_linear_time),
        cmocka_unit_test(only_the_bytes_of_the_secret_change),
        cmocka_unit_test(names_and_numbers_are_searched),
        cmocka_unit_test(paths_below_a_redacted_name_have_the_new_name),
        cmocka_unit_test(no_escape_is_split),
        cmocka_unit_test(no_character_is_split),
        cmocka_unit_test(secrets_in_nested_json_are_found),
        cmocka_unit_test(credentials_stay_in_protected_members),
        cmocka_unit_test(a_declared_value_is_removed_everywhere),
        cmocka_unit_test(redacted_ids_stay_different),
        cmocka_unit_test(patterns_are_matched_against_each_string),
        cmocka_unit_test(patterns_match_names_and_numbers),
        cmocka_unit_test(a_secret_across_values_cannot_be_removed),
        cmocka_unit_test(a_secret_completed_by_a_placeholder_cannot_be_removed),
        cmocka_unit_test(a_too_deeply_escaped_string_is_replaced_completely),
        cmocka_unit_test(a_secret_across_strings_is_removed_from_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
