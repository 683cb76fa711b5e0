#include "diff/schema-bounds.h"

#include "base/buf.h"
#include "terse.h"
#include "test.h"

static void on_bound(void *to, enum schema_change_kind kind, struct str keyword,
                     struct json_val old, struct json_val new)
{
    buf_printf(to, "%d %.*s %.*s>%.*s\n", (int)kind, STR_ARG(keyword), STR_ARG(json_raw(old)),
               STR_ARG(json_raw(new)));
}

/* Compares two schemas; `want` without the kind, "" for no change. */
static void check(const char *before, const char *after, enum schema_change_kind kind,
                  const char *want)
{
    static const struct schema_bounds_events events = { on_bound };
    const char *texts[2] = { before, after };
    struct terse_scanned t[2];
    struct json_schema_rules rules[2];
    struct schema_view views[2];
    struct arena a = { 0 };
    struct buf seen;
    uint64_t work = 0;

    buf_init(&seen, 1 << 16);
    for (int i = 0; i < 2; i++) {
        struct json_val root = terse_scan(&t[i], texts[i]);

        json_schema_rules_init(&rules[i], root);
        schema_view_init(&views[i], &rules[i], root, SCHEMA_VIEW_JOINED, &a, &work);
    }
    schema_bounds_compare(&views[0], &views[1], &events, &seen);
    assert_str(buf_str(&seen), *want ? arena_printf(&a, "%d %s\n", (int)kind, want) : STR_NONE);
    for (int i = 0; i < 2; i++) {
        json_schema_rules_release(&rules[i]);
        terse_scanned_release(&t[i]);
    }
    buf_release(&seen);
    arena_release(&a);
}

static void a_limit_is_tightened_or_loosened(void **state)
{
    (void)state;
    check("{}", "{'maxLength':3}", SCHEMA_BOUND_TIGHTENED, "maxLength >3");
    check("{'minimum':1}", "{'minimum':0}", SCHEMA_BOUND_LOOSENED, "minimum 1>0");
    check("{'maximum':3}", "{'exclusiveMaximum':3}", SCHEMA_BOUND_TIGHTENED, "maximum 3>3");
    check("{'uniqueItems':true}", "{}", SCHEMA_BOUND_LOOSENED, "uniqueItems true>");
}

static void a_multiple_may_be_neither(void **state)
{
    (void)state;
    check("{'multipleOf':2}", "{'multipleOf':4}", SCHEMA_BOUND_TIGHTENED, "multipleOf 2>4");
    check("{'multipleOf':2}", "{'multipleOf':3}", SCHEMA_BOUND_CHANGED, "multipleOf 2>3");
}

static void another_spelling_is_no_change(void **state)
{
    (void)state;
    check("{'minLength':0}", "{}", 0, "");
    check("{'type':'integer','exclusiveMinimum':0}", "{'type':'integer','minimum':1}", 0, "");
    check("{'allOf':[{'minimum':1},{'maximum':3}]}", "{'minimum':1.0,'maximum':3}", 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_tightened_or_loosened),
        cmocka_unit_test(a_multiple_may_be_neither),
        cmocka_unit_test(another_spelling_is_no_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
