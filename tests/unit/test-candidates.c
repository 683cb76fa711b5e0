#include "match/candidates.h"

#include "loaded-index.h"

static const char recording[] =
    "c2s {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'n':1}}}\n"
    "c2s {'id':2,'method':'tools/call','params':{'name':'b','arguments':{'n':1}}}\n"
    "c2s {'id':3,'method':'tools/call','params':{'name':'a','arguments':{'n':2}}}\n"
    "c2s {'id':4,'method':'tools/call','params':{'arguments':{'n':1.0},'name':'a'}}\n"
    "c2s {'id':5,'method':'tasks/get','params':{'taskId':'T','x':1}}\n"
    "c2s {'id':6,'method':'tasks/get','params':{'taskId':'T'}}\n"
    "c2s {'id':7,'method':'subscriptions/listen','params':{'notifications':{}}}\n"
    "c2s {'id':8,'method':'subscriptions/listen','params':{}}\n"
    "c2s {'id':9,'method':'tools/call','params':{'name':'a','arguments':{'n':'[REDACTED]'}}}\n"
    "c2s {'id':10,'method':'ping'}\n";

/* Every queue as the numbers of its strands. */
static void check(enum candidates_by by, const char *want)
{
    struct loaded_index s;
    struct candidates q;
    struct buf got;

    buf_init(&got, 1 << 12);
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    candidates_init(&q, &s.index, by, 0);
    for (uint32_t op = 1; op < s.index.call_count; op++) {
        if (!(s.index.calls[op].flags & CALL_MATCHABLE) || candidates_list_of(&q, op) != op)
            continue;
        for (uint32_t at = op; at; at = q.next[at])
            buf_printf(&got, "%s%u", at != op ? " " : got.len ? "; " : "", at);
    }
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    candidates_release(&q);
    loaded_index_release(&s);
}

static void calls_are_listed_by_subject(void **state)
{
    (void)state;
    check(CANDIDATES_BY_SUBJECT, "1 3 4 9; 2; 5 6; 7 8");
}

static void calls_are_listed_by_params(void **state)
{
    (void)state;
    check(CANDIDATES_BY_PARAMS, "1 4; 2; 3; 5 6; 7 8; 9");
}

static void an_unrecorded_request_has_no_candidates(void **state)
{
    struct loaded_index s;
    struct candidates q;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    candidates_init(&q, &s.index, CANDIDATES_BY_SUBJECT, 0);
    assert_int_equal(candidates_find(&q, 0, s.index.calls[1].method, 12345), 0);
    assert_int_equal(
        candidates_find(&q, 1, s.index.calls[1].method, s.index.calls[1].subject_key), 0);
    candidates_release(&q);
    loaded_index_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_listed_by_subject),
        cmocka_unit_test(calls_are_listed_by_params),
        cmocka_unit_test(an_unrecorded_request_has_no_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
