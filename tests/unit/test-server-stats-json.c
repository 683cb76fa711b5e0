#include "report/server-stats-json.h"

#include "terse.h"
#include "test.h"

#define CALL                                                                                   \
    "@0 c2s {'id':1,'method':'tools/call','params':{'name':'x'}}\n"                            \
    "@7 s2c {'id':1,'result':{'a':1}}\n"

static void write_json(struct buf *to, struct server_stats *s, const char *traffic,
                       const struct server_stats_files *template)
{
    struct server_stats_files files = *template;

    server_stats_init(s);
    files.stats = s;
    terse_feed(&s->sink, traffic);
    server_stats_end_file(s);
    server_stats_finish(s);
    buf_init(to, 1 << 20);
    server_stats_json_write(to, &files);
}

#define COUNTS                                                                                 \
    "'retries':0,'polls':0,'pages':0,'tasks':0,'answered':1,'input_required':0,"               \
    "'rpc_errors':0,'tool_errors':0,'http_errors':0,'malformed':0,'cancelled':0,'late':0,"     \
    "'pending':0,'server_exited':0,'unanswered':0,"

static void a_call_has_times_bytes_and_cost(void **state)
{
    const struct server_stats_files files = {
        .read = 1,
        .bytes = 99,
        .notes = 2,
        .other = 3,
        .failed = 1,
        .failures = { { STR("f"), STR("bad") } },
    };
    struct server_stats s;
    struct arena a = { 0 };
    struct buf to;

    (void)state;
    write_json(&to, &s,
               CALL "@8 c2s {'id':2,'method':'tools/list'}\n"
                    "@9 s2c {'id':2,'result':{'tools':[{'name':'x'}]}}\n",
               &files);
    assert_str(
        buf_str(&to),
        terse_json(
            &a,
            "{'v':2,'command':'stats','files':{'read':1,'bytes':99,'notes':2,'other':3,"
            "'failed':1},'failures':[{'path':'f','error':'bad'}],'recordings':1,'evicted':0,"
            "'servers':[{'name':null,'version':null,'upstream':null,'recordings':1,'calls':2,"
            "'errors':0,'tools':1,'definition_bytes':12,'definition_estimated_tokens':3,"
            "'operations':[{'from':'client','method':'tools/"
            "call','subject':'x','calls':1," COUNTS
            "'p50_us':7,'p95_us':7,'max_us':7,'server_p50_us':7,'server_p95_us':7,'server_max_"
            "us':7,'wait_p50_us':0,"
            "'wait_p95_us':0,'wait_max_us':0,'bytes':77,'results':1,'result_bytes':7,"
            "'result_max_bytes':7,'result_estimated_tokens':2,'listings':1,"
            "'definition_bytes':12,'definition_estimated_tokens':3},"
            "{'from':'client','method':'tools/list','subject':null,'calls':1," COUNTS
            "'p50_us':1,'p95_us':1,'max_us':1,'server_p50_us':1,'server_p95_us':1,'server_max_"
            "us':1,'wait_p50_us':0,"
            "'wait_p95_us':0,'wait_max_us':0,'bytes':72,'results':1,'result_bytes':24,"
            "'result_max_bytes':24,'result_estimated_tokens':6}]}],'others':null}\n"));
    arena_release(&a);
    buf_release(&to);
    server_stats_release(&s);
}

static void requests_of_the_server_have_only_waiting_time(void **state)
{
    const struct server_stats_files files = { 0 };
    struct server_stats s;
    struct buf to;

    (void)state;
    write_json(&to, &s, "@0 s2c {'id':1,'method':'roots/list'}\n@5 c2s {'id':1,'result':{}}\n",
               &files);
    assert_non_null(strstr(buf_z(&to), "\"from\":\"server\""));
    assert_null(strstr(buf_z(&to), "server_p50_us"));
    assert_non_null(strstr(buf_z(&to), "\"wait_max_us\":5"));
    buf_release(&to);
    server_stats_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_has_times_bytes_and_cost),
        cmocka_unit_test(requests_of_the_server_have_only_waiting_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
