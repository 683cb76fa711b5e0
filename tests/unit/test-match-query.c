#include "match/match-query.h"

#include "loaded-index.h"
#include "test.h"

/* A recording of two calls, and a live request that is looked for in it. */
struct bench {
    struct loaded_index of;
    struct matcher matcher;
    struct used_set used;
    struct terse_scanned scanned;
    struct mcp_message live;
    struct match_query wanted;
};

static void set_up(struct bench *b, enum match_mode mode)
{
    struct match_options how = {
        .mode = mode, .rules = matcher_rules(&(struct match_options){ .mode = mode }, false)
    };

    loaded_index_init(&b->of, mode,
                      "c2s {'id':1,'method':'tools/call','params':{'name':'a','n':1}}\n"
                      "s2c {'id':1,'result':{}}\n"
                      "c2s {'id':2,'method':'tools/call','params':{'name':'b','n':1}}\n"
                      "s2c {'id':2,'result':{}}\n");
    matcher_init(&b->matcher, &b->of.index, &how, &b->of.fuzzy);
    used_set_init(&b->used, b->of.index.call_count);
}

static void tear_down(struct bench *b)
{
    used_set_release(&b->used);
    matcher_release(&b->matcher);
    loaded_index_release(&b->of);
}

static void set_request(struct bench *b, const char *request)
{
    b->live = mcp_classify(terse_scan(&b->scanned, request), &b->scanned.arena);
    b->matcher.query_cache = (struct match_query_cache){ .has_key = false };
    b->wanted = match_query_of(&b->matcher, &b->used, 0, &b->live);
    assert_true(index_find_method(b->matcher.index, STR("tools/call"), &b->wanted.method));
}

enum { NO, YES, DIFFERS };

static int fits(struct bench *b, const char *request)
{
    bool differs = false, does;

    set_request(b, request);
    does = match_query_fits(&b->matcher, &b->wanted, &b->matcher.candidates, 1, &differs);
    assert_int_equal(
        match_query_fits(&b->matcher, &b->wanted, &b->matcher.candidates, 1, &differs), does);
    terse_scanned_release(&b->scanned);
    return !does ? NO : differs ? DIFFERS : YES;
}

static void fits_depends_on_the_compared_params(void **state)
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

    set_request(b, request);
    found = match_query_params_key(&b->matcher, &b->wanted);
    assert_int_equal(match_query_params_key(&b->matcher, &b->wanted), found);
    match_query_fits(&b->matcher, &b->wanted, &b->matcher.candidates, 1, &differs);
    match_query_cache_key(&b->matcher);
    terse_scanned_release(&b->scanned);
    return found;
}

/* The second time by the words alone. */
static void the_key_of_equal_params_is_the_recorded_one(void **state)
{
    struct bench b;
    uint64_t hash;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(key(&b, "{'id':7,'method':'tools/call','params':{'name':'a','n':1}}"),
                         b.of.index.calls[1].params_key);
        assert_int_equal(match_query_text_find(&b.matcher.text_cache,
                                               STR("{\"name\":\"a\",\"n\":1}"), &hash),
                         1);
    }
    assert_int_equal(key(&b, "{'id':7,'method':'tools/call','params':{'n':1,'name':'a'}}"),
                     b.of.index.calls[1].params_key);
    assert_int_equal(key(&b, "{'id':7,'method':'tools/call','params':{'name':'b','n':1}}"),
                     b.of.index.calls[2].params_key);
    tear_down(&b);
}

static void cached_params_text_is_found(void **state)
{
    static struct match_text_cache w;
    uint64_t hash, other;

    (void)state;
    assert_int_equal(match_query_text_find(&w, STR("{\"a\":1}"), &hash), 0);
    match_query_text_add(&w, hash, 7);
    assert_int_equal(match_query_text_find(&w, STR("{\"a\":1}"), &hash), 7);
    assert_int_equal(match_query_text_find(&w, STR("{\"a\":2}"), &other), 0);
    assert_true(hash != other);
    match_query_text_add(&w, hash, 9);
    assert_int_equal(match_query_text_find(&w, STR("{\"a\":1}"), &hash), 9);
}

static void absent_params_are_cached_too(void **state)
{
    static struct match_text_cache w;
    uint64_t hash;

    (void)state;
    assert_int_equal(match_query_text_find(&w, STR_NONE, &hash), 0);
    match_query_text_add(&w, hash, 3);
    assert_int_equal(match_query_text_find(&w, STR_NONE, &hash), 3);
}

static void a_replaced_cache_entry_is_not_found(void **state)
{
    static struct match_text_cache w;
    uint32_t known = 0;
    uint64_t hash;

    (void)state;
    for (uint32_t op = 1; op <= 10 * TEXT_CACHE_SLOTS; op++) {
        match_query_text_find(&w, str_n((const char *)&op, sizeof op), &hash);
        match_query_text_add(&w, hash, op);
    }
    for (uint32_t op = 1; op <= 10 * TEXT_CACHE_SLOTS; op++) {
        uint32_t found = match_query_text_find(&w, str_n((const char *)&op, sizeof op), &hash);

        assert_true(found == 0 || found == op);
        known += found != 0;
    }
    assert_true(known > TEXT_CACHE_SLOTS / 2 && known <= TEXT_CACHE_SLOTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_depends_on_the_compared_params),
        cmocka_unit_test(the_key_of_equal_params_is_the_recorded_one),
        cmocka_unit_test(cached_params_text_is_found),
        cmocka_unit_test(absent_params_are_cached_too),
        cmocka_unit_test(a_replaced_cache_entry_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
