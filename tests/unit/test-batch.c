#include "trace/batch.h"

#include "tally.h"
#include "terse.h"
#include "test.h"

/* Whole batches are told in tests/operations; here is what else may stand in a file. */
static void check(const char *traffic, const char *want)
{
    struct arena a = { 0 };
    struct buf got;

    buf_init(&got, 1 << 16);
    tally_traffic(terse_json(&a, traffic), &got);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    arena_release(&a);
}

static void a_batch_that_is_not_whole_is_what_was_seen_of_it(void **state)
{
    (void)state;
    check("batch=1:0/3 c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{}}\n",
          "1 batch c2s ok batch*1 |\n"
          "2<1:batch c2s a id=1 ok | 1:request 2:answer\n");
}

static void the_last_member_may_be_answered_first(void **state)
{
    (void)state;
    check("batch=1:0/2 c2s {'id':1,'method':'a'}\n"
          "batch=1:1/2 c2s {'id':2,'method':'b'}\n"
          "s2c {'id':2,'result':{'isError':true}}\n"
          "s2c {'id':1,'error':{'code':5}}\n",
          "1 batch c2s tool-error batch*2 |\n"
          "2<1:batch c2s a id=1 rpc-error code=5 | 1:request 4:answer\n"
          "3<1:batch c2s b id=2 tool-error | 2:request 3:answer\n");
}

static void numbers_may_be_used_again(void **state)
{
    (void)state;
    check("batch=1:0/1 c2s {'id':1,'method':'a'}\n"
          "batch=1:0/1 c2s {'id':2,'method':'b'}\n"
          "batch=1:0/1 s2c {'id':3,'method':'c'}\n",
          "1 batch c2s pending batch*1 |\n"
          "2<1:batch c2s a id=1 pending | 1:request\n"
          "3 batch c2s pending batch*1 |\n"
          "4<3:batch c2s b id=2 pending | 2:request\n"
          "5 batch s2c pending batch*1 |\n"
          "6<5:batch s2c c id=3 pending | 3:request\n");
}

static void what_names_no_batch_is_in_none(void **state)
{
    static const char line[] =
        "| {'type':'message','seq':1,'ts':'2026-01-01T00:00:00Z','dir':'c2s',"
        "'msg':{'id':1,'method':'a'},'batch':{'index':0}}\n";

    (void)state;
    check(line, "1 c2s a id=1 pending | 1:request\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_that_is_not_whole_is_what_was_seen_of_it),
        cmocka_unit_test(the_last_member_may_be_answered_first),
        cmocka_unit_test(numbers_may_be_used_again),
        cmocka_unit_test(what_names_no_batch_is_in_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
