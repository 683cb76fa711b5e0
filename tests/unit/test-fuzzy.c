#include "match/fuzzy.h"

#include <stdio.h>

#include "index/redacted-params.h"
#include "loaded-index.h"

/* Whether the only recorded request is alike, without a search. */
static bool is_similar_alone(struct loaded_index *s, const struct params_leaves *live)
{
    static const struct params_rules rules = { .detect_volatile = true };
    struct params_leaves recorded;
    bool alike;

    params_leaves_init(&recorded);
    params_leaves_read(&recorded, json_get(loaded_index_call(s, 1), STR("params")), &rules,
                       redacted_params_unmarked(&s->index, 1));
    alike = fuzzy_are_similar(index_method(&s->index, 1)->known, &recorded, live);
    params_leaves_release(&recorded);
    return alike;
}

static struct fuzzy_found find_similar(struct loaded_index *s, const char *params)
{
    static const struct params_rules plain = { .detect_volatile = true };
    struct fuzzy_query q = { .session = 0 };
    struct fuzzy_found found;
    struct terse_scanned live;
    struct params_leaves leaves;
    struct used_set used;

    used_set_init(&used, s->index.call_count);
    params_leaves_init(&leaves);
    params_leaves_read(&leaves, terse_scan(&live, params), &plain,
                       (struct params_mask){ NULL, 0 });
    q.live = &leaves;
    q.used_set = &used;
    q.method = 0;
    q.subject_key = index_subject_key(s->index.methods[0].name, json_root(&live.json), false);
    found = fuzzy_find(&s->fuzzy, &q);
    if (s->index.call_count == 2 && s->index.calls[1].subject_key == q.subject_key &&
        is_similar_alone(s, &leaves) != (found.call != 0))
        fail_msg("%s: is alike or not, by who asks", params);
    params_leaves_release(&leaves);
    terse_scanned_release(&live);
    used_set_release(&used);
    return found;
}

/* The seq of the most similar request, and of an equally similar one: "3" or "3~5"; "-" if
 * there is none. */
static void check(const char *recording, const char *params, const char *want)
{
    struct fuzzy_found found;
    struct loaded_index s;
    char got[32] = "-";

    loaded_index_init(&s, MATCH_FUZZY, recording);
    found = find_similar(&s, params);
    if (found.call && found.tie)
        snprintf(got, sizeof got, "%u~%u", s.index.calls[found.call].seq,
                 s.index.calls[found.tie].seq);
    else if (found.call)
        snprintf(got, sizeof got, "%u", s.index.calls[found.call].seq);
    if (strcmp(got, want) != 0)
        fail_msg("%s: got %s, want %s", params, got, want);
    loaded_index_release(&s);
}

#define CALL(args)                                                                             \
    "c2s {'id':1,'method':'tools/call','params':{'name':'t','arguments':" args "}}\n"
#define T(args) "{'name':'t','arguments':" args "}"

static void at_least_half_of_the_paths_must_be_equal(void **state)
{
    (void)state;
    check(CALL("{'a':1,'b':2}"), T("{'a':1,'b':2}"), "1");
    check(CALL("{'a':1,'b':2}"), T("{'a':1,'b':3}"), "1");
    check(CALL("{'a':1,'b':2}"), T("{'a':0,'b':3}"), "-");
    check(CALL("{'a':1,'b':2}"), T("{'a':1}"), "1");
    check(CALL("{'a':1}"), T("{'a':1,'b':2,'c':3}"), "-");
    check(CALL("{}"), T("{}"), "1");
    check(CALL("{}"), T("{'a':1}"), "-");
    check(CALL("{'a':1}"), T("{'a':2}"), "-");
}

static void the_most_similar_call_wins_and_of_equals_the_first(void **state)
{
    (void)state;
    check(CALL("{'a':1,'b':2,'c':3}") CALL("{'a':1,'b':2,'c':4}") CALL("{'a':9,'b':2,'c':4}"),
          T("{'a':1,'b':2,'c':4}"), "2");
    check(CALL("{'a':1,'b':2}") CALL("{'a':1,'b':3}"), T("{'a':1,'b':4}"), "1~2");
    check(CALL("{'a':1,'b':2}") CALL("{'a':1,'b':2}"), T("{'a':1,'b':4}"), "1");
    check(CALL("{'a':1,'b':2,'z':{}}") CALL("{'a':1,'b':2}"), T("{'a':1,'b':2}"), "2");
}

static void volatile_values_decide_only_between_equals(void **state)
{
    (void)state;
    check(CALL("{'q':'x','at':'2025-02-04T10:00:00Z'}"),
          T("{'q':'x','at':'2026-11-15T10:00:00Z'}"), "1");
    check(CALL("{'at':1738663200}"), T("{'at':1838663200}"), "1");
    check(CALL("{'q':'x','at':1738663200}"), T("{'q':'y','at':1738663200}"), "-");
    check(CALL("{'q':'x','at':1738663200}") CALL("{'q':'x','at':1738663201}"),
          T("{'q':'x','at':1738663201}"), "2");
    check(CALL("{'q':'x','id':'550e8400-e29b-41d4-a716-446655440000'}"), T("{'q':'x'}"), "1");
    check(CALL("{'q':'x','key':'[REDACTED]'}"), T("{'q':'x','key':'secret'}"), "1");
}

static void calls_of_another_subject_are_never_similar(void **state)
{
    (void)state;
    check(CALL("{'a':1}"), "{'name':'u','arguments':{'a':1}}", "-");
}

/* So many that they are put away, of two shapes that come in turns. */
static const char *many_calls(struct buf *text)
{
    buf_init(text, 1 << 22);
    for (int i = 1; i <= 3000; i++)
        buf_printf(text,
                   "c2s {'id':%d,'method':'tools/call','params':{'name':'t','arguments':"
                   "{'%s':'same','n':%d}}}\n",
                   i, i % 2 ? "odd" : "even", i);
    return buf_z(text);
}

static void stored_candidates_are_found(void **state)
{
    static const int numbers[] = { 1, 2, 1001, 1002, 2999, 3000 };
    struct loaded_index s;
    struct buf text;

    (void)state;
    loaded_index_init(&s, MATCH_FUZZY, many_calls(&text));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct fuzzy_found found;
        char params[100];

        snprintf(params, sizeof params, "{'name':'t','arguments':{'%s':'same','n':%d}}",
                 numbers[i] % 2 ? "odd" : "even", numbers[i]);
        found = find_similar(&s, params);
        assert_int_equal(s.index.calls[found.call].seq, numbers[i]);
        assert_int_equal(found.tie, 0);
        assert_int_equal(found.similarity.equal, 2);
    }
    assert_int_equal(s.fuzzy.error.kind, ERR_OK);
    loaded_index_release(&s);
    buf_release(&text);
}

static bool fetch_nothing(struct message_store *self, struct message_ref where, struct buf *to,
                          struct err *e)
{
    (void)self;
    (void)where;
    (void)to;
    return err_set(e, ERR_IO, "it is gone");
}

static void unreadable_candidates_are_reported(void **state)
{
    struct loaded_index s;
    struct buf text;

    (void)state;
    loaded_index_init(&s, MATCH_FUZZY, many_calls(&text));
    s.store.store.fetch = fetch_nothing;
    find_similar(&s, "{'name':'t','arguments':{'odd':'same','n':1}}");
    assert_string_equal(s.fuzzy.error.msg, "it is gone");
    loaded_index_release(&s);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_least_half_of_the_paths_must_be_equal),
        cmocka_unit_test(the_most_similar_call_wins_and_of_equals_the_first),
        cmocka_unit_test(volatile_values_decide_only_between_equals),
        cmocka_unit_test(calls_of_another_subject_are_never_similar),
        cmocka_unit_test(stored_candidates_are_found),
        cmocka_unit_test(unreadable_candidates_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
