#include "mcp/params-compare.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

static const struct params_rules plain = { .include_meta = false };
static const struct params_mask nothing = { NULL, 0 };

/* Leaves must never distinguish values that a comparison does not. */
static bool same(struct json_val a, struct json_val b, const struct params_rules *rules)
{
    bool found = params_equal(a, b, rules, nothing);
    struct params_leaves x, y;

    params_leaves_init(&x);
    params_leaves_init(&y);
    params_leaves_read(&x, a, rules, nothing);
    params_leaves_read(&y, b, rules, nothing);
    if (found)
        assert_int_equal(params_leaves_hash(&x), params_leaves_hash(&y));
    params_leaves_release(&x);
    params_leaves_release(&y);
    return found;
}

struct seen_row {
    const char *a, *b;
    bool same;
};

static void check_rows(const struct seen_row *rows, size_t count,
                       const struct params_rules *rules)
{
    for (size_t i = 0; i < count; i++) {
        struct terse_scanned a, b;
        struct json_val va = terse_scan(&a, rows[i].a), vb = terse_scan(&b, rows[i].b);

        if (same(va, vb, rules) != rows[i].same || same(vb, va, rules) != rows[i].same)
            fail_msg("%s and %s are%s the same", rows[i].a, rows[i].b,
                     rows[i].same ? " not" : "");
        terse_scanned_release(&a);
        terse_scanned_release(&b);
    }
}

static void params_are_compared_by_value(void **state)
{
    static const struct seen_row rows[] = {
        { "{'a':1,'b':2}", "{'b':2,'a':1}", true },
        { "{'a':1}", "{'a':1.0}", true },
        { "{'a':'x'}", "{'a':'`u0078'}", true },
        { "{'a':[1,2]}", "{'a':[2,1]}", false },
        { "{'a':1}", "{'a':'1'}", false },
        { "{'a':null}", "{}", false },
        { "{}", "{'_meta':{'progressToken':1}}", true },
        { "{'a':1,'_meta':{'x':1}}", "{'_meta':{'x':2},'a':1}", true },
        { "{'a':{'_meta':1}}", "{'a':{}}", false },
        { "{'name':'t'}", "{'name':'t','arguments':{}}", true },
        { "{'name':'t','arguments':{}}", "{'name':'t','arguments':{'a':1}}", false },
        { "{'name':'t','arguments':{'_meta':1}}", "{'name':'t'}", false },
        { "{'arguments':{}}", "{}", true },
        { "{'arguments':{}}", "{'_meta':{}}", true },
        { "{'arguments':[]}", "{}", false },
        { "{'arguments':{'arguments':{}}}", "{'arguments':{}}", false },
        { "{'a':{}}", "{}", false },
        { "[]", "{}", false },
        { "[1]", "[1]", true },
        { "[1]", "[2]", false },
        { "{'a':1,'a':2}", "{'a':2}", true },
        { "9007199254740993", "9007199254740992", false },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows, &plain);
}

static void a_progress_token_is_never_compared(void **state)
{
    static const struct params_rules meta = { .include_meta = true };
    static const struct seen_row rows[] = {
        { "{'_meta':{'progressToken':1}}", "{'_meta':{'progressToken':'x'}}", true },
        { "{'_meta':{'progressToken':1}}", "{}", true },
        { "{'_meta':{'progressToken':1}}", "{'_meta':{}}", true },
        { "{'a':1,'_meta':{'progressToken':1,'k':1}}", "{'_meta':{'k':1},'a':1}", true },
        { "{'_meta':{'progressToken':1,'k':1}}", "{'_meta':{'k':2}}", false },
        { "{'_meta':{'progressToken':1,'k':1}}", "{}", false },
        { "{'_meta':{'k':{'progressToken':1}}}", "{'_meta':{'k':{}}}", false },
        { "{'progressToken':1}", "{'progressToken':2}", false },
        { "{'_meta':1}", "{}", false },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows, &meta);
}

static bool add_place(void *arg, const struct params_difference *d)
{
    struct buf *to = arg;

    json_location_write(d->location, to);
    buf_add_ch(to, ' ');
    return true;
}

static void check(const char *recorded, const char *live, const struct params_rules *rules,
                  struct params_mask mask, const char *want)
{
    struct terse_scanned a, b;
    struct buf got;

    buf_init(&got, 1 << 12);
    params_compare(terse_scan(&a, recorded), terse_scan(&b, live), rules, mask, add_place,
                   &got);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    terse_scanned_release(&a);
    terse_scanned_release(&b);
}

static void differences_have_their_path(void **state)
{
    (void)state;
    check("{'name':'t','arguments':{'a':1,'b':[1,2]}}",
          "{'name':'t','arguments':{'a':2,'b':[1]},'x':true}", &plain, nothing,
          "$.arguments.a $.arguments.b[1] $.x ");
}

static void strict_rules_compare_meta_and_number_texts(void **state)
{
    static const struct params_rules meta = { .include_meta = true },
                                     text = { .numbers_as_text = true };

    (void)state;
    check("{'_meta':{'a':1}}", "{'_meta':{'a':2}}", &plain, nothing, "");
    check("{'_meta':{'a':1}}", "{'_meta':{'a':2}}", &meta, nothing, "$._meta.a ");
    check("{'_meta':{'a':1}}", "{}", &meta, nothing, "$._meta ");
    check("{'a':2}", "{'a':2.0}", &plain, nothing, "");
    check("{'a':2}", "{'a':2.0}", &text, nothing, "$.a ");
}

static void a_redacted_value_on_either_side_is_no_difference(void **state)
{
    (void)state;
    check("{'a':'[REDACTED:X]','b':1}", "{'a':'real','b':2}", &plain, nothing, "$.b ");
    check("{'a':'[REDACTED:rule-1]'}", "{'a':{'not':'even','a':'string'}}", &plain, nothing,
          "");
    check("{'a':'real'}", "{'a':'[REDACTED]'}", &plain, nothing, "");
    check("{'a':'[REDACTED]'}", "{}", &plain, nothing, "");
}

static void text_around_a_placeholder_is_compared(void **state)
{
    static const struct {
        const char *recorded, *live;
        bool same;
    } rows[] = {
        { "Bearer [REDACTED:rule-1]", "Bearer abc", true },
        { "Bearer [REDACTED:rule-1]", "Bearer ", true },
        { "Bearer [REDACTED:rule-1]", "Basic abc", false },
        { "host=x password=[REDACTED:rule-2] port=1", "host=x password=a b port=1", true },
        { "host=x password=[REDACTED:rule-2] port=1", "host=x password=abc port=2", false },
        { "host=x password=[REDACTED:rule-2] port=1", "host=y password=abc port=1", false },
        { "a[REDACTED]b[REDACTED:X]c", "a-b-b-c", true },
        { "a[REDACTED]b[REDACTED:X]c", "a-c", false },
        { "a[REDACTED]aa", "aa", false },
        { "a [REDACTEDX] b", "a x b", false },
        { "a [REDACTED:x b", "a x b", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char left[128], right[128];

        snprintf(left, sizeof left, "{'a':'%s'}", rows[i].recorded);
        snprintf(right, sizeof right, "{'a':'%s'}", rows[i].live);
        check(left, right, &plain, nothing, rows[i].same ? "" : "$.a ");
        check(right, left, &plain, nothing, rows[i].same ? "" : "$.a ");
    }
    check("{'a':'x [REDACTED]'}", "{'a':{'x':1}}", &plain, nothing, "$.a ");
    check("{'a':'x [REDACTED]'}", "{}", &plain, nothing, "$.a ");
}

/* Quadratic work would run into the time limit of the test. */
static void many_brackets_take_linear_time(void **state)
{
    enum { TIMES = 1 << 20 };
    static const struct str pieces[] = { STR_INIT("["), STR_INIT("[REDACTED:") };
    struct buf live;

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        buf_init(&live, 32 << 20);
        buf_add(&live, STR("{'a':'x "));
        for (int n = 0; n < TIMES; n++)
            buf_add(&live, pieces[i]);
        buf_add(&live, STR("'}"));
        buf_add_ch(&live, '\0');
        check("{'a':'x [REDACTED:rule-1] y'}", buf_str(&live).at, &plain, nothing, "$.a ");
        buf_release(&live);
    }
}

/* The list of redacted places does not hide the text around a placeholder. */
static void a_masked_text_with_a_placeholder_is_compared(void **state)
{
    struct json_step way[] = { { .name = STR("a") } };
    uint64_t path = params_path_hash((struct json_location){ way, 1 });

    (void)state;
    check("{'a':'x [REDACTED]'}", "{'a':'y z'}", &plain, (struct params_mask){ &path, 1 },
          "$.a ");
    check("{'a':'x [REDACTED]'}", "{'a':'x z'}", &plain, (struct params_mask){ &path, 1 }, "");
}

static void values_below_a_masked_path_are_not_compared(void **state)
{
    struct json_step way[] = { { .name = STR("arguments") }, { .name = STR("in") } };
    uint64_t path = params_path_hash((struct json_location){ way, 2 });

    (void)state;
    check("{'arguments':{'in':{'x':1},'n':1}}", "{'arguments':{'in':[2],'n':2}}", &plain,
          (struct params_mask){ &path, 1 }, "$.arguments.n ");
    check("{'arguments':{'in':{'x':1}}}", "{'arguments':{'in':{'x':2,'y':3}}}", &plain,
          (struct params_mask){ &path, 1 }, "");
}

static void responses_of_the_client_are_not_compared(void **state)
{
    (void)state;
    check("{'inputResponses':{'k':{'v':1}}}", "{'inputResponses':{'k':{'v':2,'w':[]}}}", &plain,
          nothing, "");
    check("{'inputResponses':{'k':1}}", "{'inputResponses':{'k':'x'}}", &plain, nothing, "");
    check("{'inputResponses':{'k':1}}", "{'inputResponses':{'l':1}}", &plain, nothing,
          "$.inputResponses.k $.inputResponses.l ");
    check("{'inputResponses':{'k':1}}", "{}", &plain, nothing, "$.inputResponses ");
}

static void equal_text_is_recognized_without_parsing(void **state)
{
    static const struct {
        const char *recorded;
        bool same;
    } rows[] = {
        { "{'id':1,'method':'m'}", true },
        { "{'id':'other','method':'m'}", true },
        { "{'id':7,'method':'n'}", false },
        { "{'id':7,'method':'m','params':{}}", false },
        { "{'id':1,'x':1,'method':'m'}", false },
        { "{'id':'a','x':'b','method':'m'}", false },
        { "{'id':,'method':'m'}", false },
    };
    struct terse_scanned s;
    struct mcp_message live = mcp_classify(terse_scan(&s, "{'id':7,'method':'m'}"), &s.arena);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];

        snprintf(text, sizeof text, "%s", rows[i].recorded);
        for (char *at = text; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        if (params_text_equal(str_z(text), &live) != rows[i].same)
            fail_msg("%s", text);
    }
    terse_scanned_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_are_compared_by_value),
        cmocka_unit_test(a_progress_token_is_never_compared),
        cmocka_unit_test(differences_have_their_path),
        cmocka_unit_test(strict_rules_compare_meta_and_number_texts),
        cmocka_unit_test(a_redacted_value_on_either_side_is_no_difference),
        cmocka_unit_test(text_around_a_placeholder_is_compared),
        cmocka_unit_test(many_brackets_take_linear_time),
        cmocka_unit_test(a_masked_text_with_a_placeholder_is_compared),
        cmocka_unit_test(values_below_a_masked_path_are_not_compared),
        cmocka_unit_test(responses_of_the_client_are_not_compared),
        cmocka_unit_test(equal_text_is_recognized_without_parsing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
