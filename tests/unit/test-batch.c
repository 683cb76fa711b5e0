#include "ops/batch.h"

#include "op-lines.h"
#include "terse.h"
#include "test.h"

/* tests/operations has complete batches; here are the others that a file may have. */
static void check(const char *traffic, const char *want)
{
    struct arena a = { 0 };
    struct buf got;

    buf_init(&got, 1 << 16);
    op_lines_of_traffic(terse_json(&a, traffic), &got);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    arena_release(&a);
}

static void an_incomplete_batch_has_the_members_that_were_seen(void **state)
{
    (void)state;
    check("batch=1:0/3 c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{}}\n",
          "1 batch c2s ok batch*1 |\n"
          "2<1:batch c2s a id=1 ok | 1:request 2:response\n");
}

static void the_last_member_may_be_answered_first(void **state)
{
    (void)state;
    check("batch=1:0/2 c2s {'id':1,'method':'a'}\n"
          "batch=1:1/2 c2s {'id':2,'method':'b'}\n"
          "s2c {'id':2,'result':{'isError':true}}\n"
          "s2c {'id':1,'error':{'code':5}}\n",
          "1 batch c2s tool-error batch*2 |\n"
          "2<1:batch c2s a id=1 rpc-error code=5 | 1:request 4:response\n"
          "3<1:batch c2s b id=2 tool-error | 2:request 3:response\n");
}

static void a_batch_number_may_be_used_again(void **state)
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

static void a_record_without_batch_number_is_in_no_batch(void **state)
{
    static const char line[] =
        "| {'type':'message','seq':1,'ts':'2026-01-01T00:00:00Z','dir':'c2s',"
        "'msg':{'id':1,'method':'a'},'batch':{'index':0}}\n";

    (void)state;
    check(line, "1 c2s a id=1 pending | 1:request\n");
}

struct watcher {
    struct sink sink;
    struct batch_check watch;
    unsigned missing;
};

static bool watch_put(struct sink *self, const struct record *r, struct err *e)
{
    struct watcher *w = (struct watcher *)self;

    (void)e;
    w->missing += batch_check_record(&w->watch, r);
    return true;
}

static unsigned missing_in(const char *input)
{
    struct watcher w = { .sink = { watch_put } };

    terse_feed(&w.sink, input);
    return w.missing + batch_check_finish(&w.watch);
}

#define AT(place) "batch=" place " c2s {'method':'n'}\n"
#define FROM_SERVER(place) "batch=" place " s2c {'method':'n'}\n"
#define RAW "raw c2s 7\n"
#define ALONE "c2s {'method':'n'}\n"

static void a_complete_batch_lacks_nothing(void **state)
{
    (void)state;
    assert_int_equal(missing_in(ALONE AT("1:0/2") AT("1:1/2") ALONE AT("2:0/1") ALONE), 0);
    assert_int_equal(missing_in(AT("1:0/2") FROM_SERVER("2:0/1") AT("1:1/2")), 0);
    assert_int_equal(missing_in(AT("1:0/2") AT("1:1/2") AT("2:0/2") AT("2:1/2")), 0);
}

static void elements_that_are_not_messages_have_positions(void **state)
{
    (void)state;
    assert_int_equal(missing_in(RAW AT("1:1/4") RAW AT("1:3/4")), 0);
    assert_int_equal(missing_in(AT("1:0/3") RAW RAW ALONE), 0);
    assert_int_equal(missing_in(AT("1:0/3") RAW ALONE), 1);
    assert_int_equal(missing_in(AT("1:0/4") RAW AT("1:3/4")), 1);
}

static void missing_elements_are_found_at_any_position(void **state)
{
    (void)state;
    assert_int_equal(missing_in(AT("1:0/3") AT("1:2/3") ALONE), 1);
    assert_int_equal(missing_in(AT("1:1/2") ALONE), 1);
    assert_int_equal(missing_in(AT("1:0/2") ALONE), 1);
    assert_int_equal(missing_in(AT("1:0/2")), 1);
    assert_int_equal(missing_in(AT("1:0/2") AT("2:0/1")), 1);
    assert_int_equal(missing_in(AT("1:0/2") FROM_SERVER("2:0/2")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_incomplete_batch_has_the_members_that_were_seen),
        cmocka_unit_test(the_last_member_may_be_answered_first),
        cmocka_unit_test(a_batch_number_may_be_used_again),
        cmocka_unit_test(a_record_without_batch_number_is_in_no_batch),
        cmocka_unit_test(a_complete_batch_lacks_nothing),
        cmocka_unit_test(elements_that_are_not_messages_have_positions),
        cmocka_unit_test(missing_elements_are_found_at_any_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
