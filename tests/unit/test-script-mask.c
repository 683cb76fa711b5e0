#include "engine/script-mask.h"

#include "scripted.h"

static void requests_of_masked_params_share_their_masks(void **state)
{
    struct scripted s;
    const struct script_mask *m;

    (void)state;
    scripted_init(&s, MATCH_BY_REQUEST,
                  "c2s {'id':1,'method':'m','params':{'a':'[REDACTED]','n':1}}\n"
                  "c2s {'id':2,'method':'m','params':{'a':'[REDACTED]','n':2}}\n"
                  "c2s {'id':3,'method':'m','params':{'b':'[REDACTED]'}}\n"
                  "c2s {'id':4,'method':'m','params':{'n':4}}\n");
    m = script_mask_find(&s.script, s.script.ops[1].method, s.script.ops[1].subject_key);
    assert_non_null(m);
    assert_non_null(m->next);
    assert_null(m->next->next);
    assert_true(s.script.ops[1].flags & STRAND_MASKED);
    assert_false(s.script.ops[4].flags & STRAND_MASKED);
    assert_int_equal(script_mask_hidden(&s.script, 1).count, 0);
    scripted_release(&s);
}

static void put(struct script *s, const char *message, const char *redacted)
{
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct terse_scanned m;
    struct record r = { .kind = RECORD_MESSAGE };

    r.message.dir = TO_SERVER;
    r.message.msg = terse_scan(&m, message);
    r.message.redacted = terse_json(&a, redacted);
    assert_true(s->sink.put(&s->sink, &r, &e));
    terse_scanned_release(&m);
    arena_release(&a);
}

/* Nothing in its text says so. */
static void what_only_a_pointer_tells_is_remembered_by_request(void **state)
{
    struct leaf_rules rules = matcher_rules(MATCH_BY_REQUEST, false);
    struct shelf_memory shelf;
    struct script s;

    (void)state;
    shelf_memory_init(&shelf);
    script_init(&s, &shelf.shelf, &rules, NULL);
    put(&s, "{'id':1,'method':'m','params':{'a':'x','b':['y','z']}}",
        "['/params/a','/params/b/1','/params/none']");
    put(&s, "{'id':2,'method':'m','params':{'a':'x','b':['y','z']}}", "");
    script_finish(&s);
    assert_int_equal(script_mask_hidden(&s, 1).count, 2);
    assert_int_equal(script_mask_hidden(&s, 2).count, 0);
    assert_true(s.ops[1].flags & STRAND_MASKED);
    assert_false(s.ops[2].flags & STRAND_MASKED);
    assert_non_null(script_mask_find(&s, s.ops[1].method, s.ops[1].subject_key));
    assert_null(script_mask_find(&s, s.ops[1].method + 1, s.ops[1].subject_key));
    script_release(&s);
    shelf_memory_release(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_of_masked_params_share_their_masks),
        cmocka_unit_test(what_only_a_pointer_tells_is_remembered_by_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
