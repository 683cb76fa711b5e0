#include "index/redacted-params.h"

#include "loaded-index.h"

static void requests_of_masked_params_share_their_masks(void **state)
{
    struct loaded_index s;
    const struct redacted_params *m;

    (void)state;
    loaded_index_init(&s, MATCH_BY_REQUEST,
                      "c2s {'id':1,'method':'m','params':{'a':'[REDACTED]','n':1}}\n"
                      "c2s {'id':2,'method':'m','params':{'a':'[REDACTED]','n':2}}\n"
                      "c2s {'id':3,'method':'m','params':{'b':'[REDACTED]'}}\n"
                      "c2s {'id':4,'method':'m','params':{'n':4}}\n");
    m = redacted_params_find(&s.index, s.index.calls[1].method, s.index.calls[1].subject_key);
    assert_non_null(m);
    assert_non_null(m->next);
    assert_null(m->next->next);
    assert_true(s.index.calls[1].flags & CALL_REDACTED);
    assert_false(s.index.calls[4].flags & CALL_REDACTED);
    assert_int_equal(redacted_params_unmarked(&s.index, 1).count, 0);
    loaded_index_release(&s);
}

static void put(struct index *s, const char *message, const char *redacted)
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

/* Its text has no placeholder. */
static void values_known_from_a_pointer_only_are_kept_by_request(void **state)
{
    struct params_rules rules =
        matcher_rules(&(struct match_options){ .mode = MATCH_BY_REQUEST }, false);
    struct message_store_memory shelf;
    struct index s;

    (void)state;
    message_store_memory_init(&shelf);
    index_init(&s, &shelf.store, &rules, NULL);
    put(&s, "{'id':1,'method':'m','params':{'a':'x','b':['y','z']}}",
        "['/params/a','/params/b/1','/params/none']");
    put(&s, "{'id':2,'method':'m','params':{'a':'x','b':['y','z']}}", "");
    index_finish(&s);
    assert_int_equal(redacted_params_unmarked(&s, 1).count, 2);
    assert_int_equal(redacted_params_unmarked(&s, 2).count, 0);
    assert_true(s.calls[1].flags & CALL_REDACTED);
    assert_false(s.calls[2].flags & CALL_REDACTED);
    assert_non_null(redacted_params_find(&s, s.calls[1].method, s.calls[1].subject_key));
    assert_null(redacted_params_find(&s, s.calls[1].method + 1, s.calls[1].subject_key));
    index_release(&s);
    message_store_memory_release(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_of_masked_params_share_their_masks),
        cmocka_unit_test(values_known_from_a_pointer_only_are_kept_by_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
