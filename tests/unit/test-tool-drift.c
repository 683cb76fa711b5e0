#include "ops/tool-drift.h"

#include "base/buf.h"
#include "terse.h"
#include "test.h"

struct drift_log {
    struct sink sink;
    struct tool_drift drift;
    struct buf seqs;
};

static bool see(struct sink *self, const struct record *r, struct err *e)
{
    struct drift_log *s = (struct drift_log *)self;

    (void)e;
    if (tool_drift_check(&s->drift, r))
        buf_printf(&s->seqs, "%llu ", (unsigned long long)r->message.seq);
    return true;
}

static void check(const char *traffic, const char *want)
{
    struct drift_log s = { .sink = { see } };

    tool_drift_init(&s.drift);
    buf_init(&s.seqs, 4096);
    terse_feed(&s.sink, traffic);
    assert_str(buf_str(&s.seqs), str_z(want));
    buf_release(&s.seqs);
    tool_drift_release(&s.drift);
}

static void every_change_of_a_definition_is_noticed(void **state)
{
    (void)state;
    check("s2c {'id':1,'result':{'tools':[{'name':'a','x':1},{'name':'b'}]}}\n"
          "s2c {'id':2,'result':{'tools':[{'name':'a','x':1}]}}\n"
          "s2c {'id':3,'result':{'tools':[{'name':'a','x':2}]}}\n"
          "s2c {'id':4,'result':{'tools':[{'name':'a','x':2},{'name':'c'}]}}\n"
          "s2c {'id':5,'result':{'tools':[{'name':'c'},{'name':'a','x':1}]}}\n",
          "3 5 ");
}

static void spelling_and_order_do_not_matter(void **state)
{
    (void)state;
    check("s2c {'id':1,'result':{'tools':[{'name':'a','x':1,'y':'b'}]}}\n"
          "s2c {'id':2,'result':{'tools':[{'y':'`u0062','x':1.0,'name':'`u0061'}]}}\n",
          "");
}

static void a_result_without_tool_list_is_ignored(void **state)
{
    (void)state;
    check("s2c {'id':1,'result':{'tools':[{'name':'a','x':1},{'name':5},7]}}\n"
          "c2s {'id':1,'result':{'tools':[{'name':'a','x':2}]}}\n"
          "s2c {'id':2,'result':{'tools':{'name':'a'}}}\n"
          "s2c {'id':3,'result':{'tools':[{'name':6},8]}}\n",
          "");
}

static void each_connection_is_a_server_of_its_own(void **state)
{
    (void)state;
    check("conn=1 s2c {'id':1,'result':{'tools':[{'name':'a','x':1}]}}\n"
          "conn=2 s2c {'id':1,'result':{'tools':[{'name':'a','x':2}]}}\n"
          "conn=1 s2c {'id':2,'result':{'tools':[{'name':'a','x':2}]}}\n",
          "3 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_of_a_definition_is_noticed),
        cmocka_unit_test(spelling_and_order_do_not_matter),
        cmocka_unit_test(a_result_without_tool_list_is_ignored),
        cmocka_unit_test(each_connection_is_a_server_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
