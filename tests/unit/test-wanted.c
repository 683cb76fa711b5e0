#include "engine/wanted.h"

#include "scripted.h"

/* A recording of two calls, and a live request that is looked for in it. */
struct bench {
    struct scripted of;
    struct matcher matcher;
    struct spent spent;
    struct terse_scanned scanned;
    struct mcp_message live;
    struct wanted wanted;
};

static void set_up(struct bench *b, enum match_mode mode)
{
    struct match_options how = { .mode = mode, .rules = matcher_rules(mode, false) };

    scripted_init(&b->of, mode,
                  "c2s {'id':1,'method':'tools/call','params':{'name':'a','n':1}}\n"
                  "s2c {'id':1,'result':{}}\n"
                  "c2s {'id':2,'method':'tools/call','params':{'name':'b','n':1}}\n"
                  "s2c {'id':2,'result':{}}\n");
    matcher_init(&b->matcher, &b->of.script, &how, &b->of.fuzzy);
    spent_init(&b->spent, b->of.script.op_count);
}

static void tear_down(struct bench *b)
{
    spent_release(&b->spent);
    matcher_release(&b->matcher);
    scripted_release(&b->of);
}

static void want(struct bench *b, const char *request)
{
    b->live = mcp_classify(terse_scan(&b->scanned, request), &b->scanned.arena);
    b->matcher.insight = (struct match_insight){ .keyed = false };
    b->wanted = wanted_by(&b->matcher, &b->spent, 0, &b->live);
    assert_true(script_find_method(b->matcher.script, STR("tools/call"), &b->wanted.method));
}

enum { NO, YES, DIFFERS };

static int fits(struct bench *b, const char *request)
{
    bool differs = false, does;

    want(b, request);
    does = wanted_fits(&b->matcher, &b->wanted, &b->matcher.queues, 1, &differs);
    assert_int_equal(wanted_fits(&b->matcher, &b->wanted, &b->matcher.queues, 1, &differs),
                     does);
    terse_scanned_release(&b->scanned);
    return !does ? NO : differs ? DIFFERS : YES;
}

static void what_fits_depends_on_what_is_compared(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST);
    assert_int_equal(fits(&b, "{'id':9,'method':'tools/call','params':{'name':'a','n':1}}"),
                     YES);
    assert_int_equal(fits(&b, "{'method':'tools/call','params':{'n':1.0,'name':'a'}}"), YES);
    assert_int_equal(fits(&b, "{'method':'tools/call','params':{'name':'a','n':2}}"), NO);
    assert_int_equal(fits(&b, "{'method':'tools/call','params':{'name':'b','n':1}}"), NO);
    tear_down(&b);
    set_up(&b, MATCH_SEQUENTIAL);
    assert_int_equal(fits(&b, "{'method':'tools/call','params':{'name':'a','n':1}}"), YES);
    assert_int_equal(fits(&b, "{'method':'tools/call','params':{'name':'a','n':2}}"), DIFFERS);
    assert_int_equal(fits(&b, "{'method':'tools/call','params':{'name':'b','n':1}}"), NO);
    tear_down(&b);
}

static uint32_t key(struct bench *b, const char *request)
{
    bool differs = false;
    uint32_t found;

    want(b, request);
    found = wanted_key(&b->matcher, &b->wanted);
    assert_int_equal(wanted_key(&b->matcher, &b->wanted), found);
    wanted_fits(&b->matcher, &b->wanted, &b->matcher.queues, 1, &differs);
    wanted_keep_key(&b->matcher);
    terse_scanned_release(&b->scanned);
    return found;
}

/* The second time by the words alone. */
static void the_key_is_the_recorded_one_if_the_params_are(void **state)
{
    struct bench b;
    uint64_t hash;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(key(&b, "{'id':7,'method':'tools/call','params':{'name':'a','n':1}}"),
                         b.of.script.ops[1].params_key);
        assert_int_equal(
            wording_find(&b.matcher.wording, STR("{\"name\":\"a\",\"n\":1}"), &hash), 1);
    }
    assert_int_equal(key(&b, "{'id':7,'method':'tools/call','params':{'n':1,'name':'a'}}"),
                     b.of.script.ops[1].params_key);
    assert_int_equal(key(&b, "{'id':7,'method':'tools/call','params':{'name':'b','n':1}}"),
                     b.of.script.ops[2].params_key);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_depends_on_what_is_compared),
        cmocka_unit_test(the_key_is_the_recorded_one_if_the_params_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
