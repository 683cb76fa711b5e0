#include "mcp/params-ignore.h"

#include "mcp/params-compare.h"
#include "terse.h"
#include "test.h"

static struct compare_rules rules;

static int set_up(void **state)
{
    (void)state;
    compare_rules_init(&rules);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    compare_rules_release(&rules);
    return 0;
}

static void add_path(const char *path)
{
    struct err e = ERR_NONE;

    if (!compare_rules_add_path(&rules, COMPARE_PATH_IGNORE, str_z(path), &e))
        fail_msg("%s", e.msg);
}

static void add_field(const char *name)
{
    struct err e = ERR_NONE;

    assert_true(compare_rules_add_field(&rules, str_z(name), &e));
}

struct found_rules {
    struct buf text;
};

static bool add_difference(void *arg, const struct params_difference *d)
{
    struct found_rules *f = arg;

    if (f->text.len)
        buf_add_ch(&f->text, ' ');
    json_location_write(d->location, &f->text);
    if (d->excuse == PARAMS_IGNORED)
        buf_printf(&f->text, "=%zu", d->rule);
    else if (d->excuse == PARAMS_REDACTED)
        buf_add(&f->text, STR("=redacted"));
    return true;
}

static uint64_t hash_of(struct json_val v)
{
    const struct params_rules how = { .include_meta = true, .ignore = &rules };
    struct params_leaves l;
    uint64_t hash;

    params_leaves_init(&l);
    params_leaves_read(&l, v, &how, (struct params_mask){ NULL, 0 });
    hash = params_leaves_hash(&l);
    params_leaves_release(&l);
    return hash;
}

/* Compares params both ways. `want` has every difference: its place, and behind '=' the number
 * of the rule that ignores it. The hashes are equal exactly if all are ignored: the values of
 * the rows are no others. */
static void check(const char *recorded, const char *live, const char *want)
{
    const struct params_rules how = { .include_meta = true, .ignore = &rules };
    const struct params_mask nothing = { NULL, 0 };
    struct terse_scanned a, b;
    struct json_val left = terse_scan(&a, recorded), right = terse_scan(&b, live);
    bool equal = params_equal(left, right, &how, nothing);
    struct found_rules found;

    buf_init(&found.text, 1 << 12);
    params_compare_all(left, right, &how, nothing, add_difference, &found);
    assert_str(buf_str(&found.text), str_z(want));
    assert_int_equal(params_equal(right, left, &how, nothing), equal);
    if ((hash_of(left) == hash_of(right)) != equal)
        fail_msg("%s and %s: the hashes do not agree with the comparison", recorded, live);
    buf_release(&found.text);
    terse_scanned_release(&a);
    terse_scanned_release(&b);
}

static void a_path_leads_from_the_root_of_the_message(void **state)
{
    (void)state;
    add_path("$.params.arguments.q");
    check("{'name':'t','arguments':{'q':'a','n':1}}",
          "{'arguments':{'n':1,'q':'b'},'name':'t'}", "$.arguments.q=0");
    check("{'arguments':{'q':'a','n':1}}", "{'arguments':{'q':'b','n':2}}",
          "$.arguments.q=0 $.arguments.n");
    check("{'arguments':{'deep':{'q':1}}}", "{'arguments':{'deep':{'q':2}}}",
          "$.arguments.deep.q");
}

static void an_ignored_value_may_be_missing_or_of_any_type(void **state)
{
    (void)state;
    add_path("$.params.arguments.q");
    check("{'arguments':{'q':{'a':[1]},'n':1}}", "{'arguments':{'n':1}}", "$.arguments.q=0");
    check("{'arguments':{'q':{'a':[1]}}}", "{'arguments':{'q':5}}", "$.arguments.q=0");
    check("{'arguments':{'q':{'a':[1]}}}", "{'arguments':{'q':{'a':[2],'b':1}}}",
          "$.arguments.q.a[0]=0 $.arguments.q.b=0");
}

static void values_with_nothing_but_ignored_ones_are_empty(void **state)
{
    (void)state;
    add_path("$..q");
    check("{'name':'t','arguments':{'q':1}}", "{'name':'t'}", "$.arguments=0");
    check("{'arguments':{'q':1}}", "{}", "$.arguments=0");
    check("{'arguments':{'a':{'q':1}}}", "{'arguments':{'a':{}}}", "$.arguments.a.q=0");
    check("{'arguments':{'a':{'q':1}}}", "{'arguments':{}}", "$.arguments.a");
    check("{'arguments':{'a':{'q':1}}}", "{'arguments':{'a':[]}}", "$.arguments.a");
    check("{'_meta':{'q':1}}", "{}", "$._meta=0");
    check("{'_meta':{'q':1,'progressToken':2}}", "{'_meta':{'progressToken':3}}",
          "$._meta.q=0");
    check("{'_meta':{'q':1,'r':2}}", "{}", "$._meta");
}

static void wildcards_reach_elements(void **state)
{
    (void)state;
    add_path("$.params.arguments.list[*].id");
    add_path("$.params.arguments.other[*]");
    check("{'arguments':{'list':[{'id':1,'a':1},{'id':2}]}}",
          "{'arguments':{'list':[{'id':3,'a':1},{'id':4}]}}",
          "$.arguments.list[0].id=0 $.arguments.list[1].id=0");
    check("{'arguments':{'list':[{'id':1}]}}", "{'arguments':{'list':[{'id':1},{'id':2}]}}",
          "$.arguments.list[1]");
    check("{'arguments':{'other':[1,2]}}", "{'arguments':{'other':[]}}",
          "$.arguments.other[0]=1 $.arguments.other[1]=1");
}

static void fields_are_ignored_at_any_depth(void **state)
{
    (void)state;
    add_path("$.result.etag");
    add_field("q");
    check("{'q':1,'arguments':{'q':1,'a':[{'q':1}]}}",
          "{'q':2,'arguments':{'q':2,'a':[{'q':2}]}}",
          "$.q=1 $.arguments.q=1 $.arguments.a[0].q=1");
}

static void members_that_identify_a_request_are_always_compared(void **state)
{
    (void)state;
    add_field("name");
    add_field("ttl");
    add_path("$.params.*");
    add_path("$..uri");
    check("{'name':'a'}", "{'name':'b'}", "$.name");
    check("{'uri':'a'}", "{'uri':'b'}", "$.uri");
    check("{'ref':{'type':'ref/prompt','name':'a'}}",
          "{'ref':{'type':'ref/prompt','name':'b'}}", "$.ref.name");
    check("{'cursor':'a'}", "{}", "$.cursor");
    check("{'requestState':'a'}", "{'requestState':'b'}", "$.requestState");
    check("{'task':{'ttl':1}}", "{}", "$.task");
    check("{'task':{'ttl':1}}", "{'task':{'ttl':2}}", "$.task.ttl");
    check("{'taskId':'a'}", "{'taskId':'b'}", "$.taskId");
    check("{'name':'a','arguments':{'name':1}}", "{'name':'a','arguments':{'name':2}}",
          "$.arguments.name=0");
}

static void params_as_a_whole_can_be_ignored(void **state)
{
    (void)state;
    add_path("$.params");
    check("{'name':'a','arguments':{'x':1}}", "{'name':'a','y':2}", "$.arguments=0 $.y=0");
    check("{'y':2}", "{}", "$.y=0");
    check("[1]", "[2]", "$[0]=0");
}

static void absent_params_are_equal_to_ignored_ones(void **state)
{
    const struct params_rules how = { .ignore = &rules };
    const struct params_mask nothing = { NULL, 0 };
    struct terse_scanned a, b;

    (void)state;
    add_path("$.params.y");
    assert_true(params_equal(JSON_VAL_NONE, terse_scan(&a, "{'y':1}"), &how, nothing));
    assert_false(params_equal(JSON_VAL_NONE, terse_scan(&b, "{'cursor':'1'}"), &how, nothing));
    terse_scanned_release(&a);
    terse_scanned_release(&b);
}

static void a_redacted_value_that_is_ignored_is_ignored(void **state)
{
    (void)state;
    add_path("$.params.arguments.q");
    check("{'arguments':{'q':'[REDACTED]','r':'[REDACTED]'}}",
          "{'arguments':{'q':'x','r':'[REDACTED]'}}", "$.arguments.q=0");
}

static void only_rules_that_lead_into_params_have_an_effect(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    add_path("$.result..etag");
    assert_true(compare_rules_add_path(&rules, COMPARE_PATH_REBIND, STR("$..id"), &e));
    assert_false(params_ignore_has_effect(&rules));
    assert_true(compare_rules_add_path(&rules, COMPARE_PATH_VOLATILE, STR("$..etag"), &e));
    assert_true(params_ignore_has_effect(&rules));
    assert_false(params_ignore_is_effective(&rules, 0));
    assert_false(params_ignore_is_effective(&rules, 1));
    assert_true(params_ignore_is_effective(&rules, 2));
    check("{'arguments':{'etag':1,'id':1}}", "{'arguments':{'etag':2,'id':1}}",
          "$.arguments.etag=2");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_path_leads_from_the_root_of_the_message),
        TEST(an_ignored_value_may_be_missing_or_of_any_type),
        TEST(values_with_nothing_but_ignored_ones_are_empty),
        TEST(wildcards_reach_elements),
        TEST(fields_are_ignored_at_any_depth),
        TEST(members_that_identify_a_request_are_always_compared),
        TEST(params_as_a_whole_can_be_ignored),
        TEST(absent_params_are_equal_to_ignored_ones),
        TEST(a_redacted_value_that_is_ignored_is_ignored),
        TEST(only_rules_that_lead_into_params_have_an_effect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
