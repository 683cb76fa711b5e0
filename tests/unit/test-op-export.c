#include "format/op-export.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

static void put_row(struct buf *to, const struct op_export_value row[OP_EXPORT_COLUMNS])
{
    for (size_t i = 0; i < OP_EXPORT_COLUMNS; i++)
        if (row[i].kind == OP_EXPORT_TEXT)
            buf_printf(to, "%s=%.*s ", op_export_names[i], STR_ARG(row[i].text));
        else if (row[i].kind != OP_EXPORT_NONE)
            buf_printf(to, "%s=%lld ", op_export_names[i], (long long)row[i].number);
    buf_add_ch(to, '\n');
}

static void *begin(const struct format_options *o)
{
    (void)o;
    return op_export_new(put_row);
}

static void put(void *state, struct buf *to, const struct record *r)
{
    (void)to;
    op_export_put(state, r);
}

static void put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    op_export_put_operation(state, to, o);
}

static void end(void *state, struct buf *to)
{
    (void)to;
    op_export_free(state);
}

static void assert_rows(const char *traffic, const char *want)
{
    static const struct format rows = {
        .name = "rows", .begin = begin, .put = put, .put_operation = put_operation, .end = end
    };
    struct memory_writer w;

    memory_writer_init(&w, &rows);
    terse_feed(&w.sink, traffic);
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text), str_z(want));
    memory_writer_release(&w);
}

static void a_request_has_a_row_when_it_has_ended(void **state)
{
    (void)state;
    assert_rows(
        "| {'type':'message','seq':1,'ts':'2026-11-15T21:00:00.250Z','us':0,'dir':'c2s','msg':"
        "{'id':1,'method':'tools/call','params':{'name':'x'}}}\n"
        "| {'type':'message','seq':2,'ts':'2026-11-15T21:00:00.250Z','us':0,'dir':'c2s','msg':"
        "{'method':'notifications/initialized'}}\n"
        "| {'type':'message','seq':3,'ts':'2026-11-15T21:00:01.250Z','us':7,'dir':'s2c','msg':"
        "{'id':1,'error':{'code':-32602}}}\n",
        "time=2026-11-15T21:00:00.250Z number=1 is_call=1 from=client method=tools/call "
        "subject=x outcome=rpc-error error_code=-32602 total_us=7 server_us=7 wait_us=0 "
        "bytes=84 "
        "request_bytes=52 response_bytes=32 \n");
}

static void a_page_is_no_call_and_the_server_is_known_once_it_is_named(void **state)
{
    (void)state;
    assert_rows(
        "c2s {'id':0,'method':'ping'}\ns2c {'id':0,'result':{}}\n"
        "c2s {'id':1,'method':'initialize'}\n"
        "s2c {'id':1,'result':{'serverInfo':{'name':'a','version':'2'}}}\n"
        "c2s {'id':2,'method':'tools/list'}\n"
        "s2c {'id':2,'result':{'tools':[],'nextCursor':'c'}}\n"
        "c2s {'id':3,'method':'tools/list','params':{'cursor':'c'}}\n"
        "s2c {'id':3,'result':{'tools':[]}}\n",
        "number=1 is_call=1 from=client method=ping outcome=ok bytes=44 request_bytes=24 "
        "response_bytes=20 result_bytes=2 \n"
        "server=a server_version=2 number=2 is_call=1 from=client method=initialize "
        "outcome=ok bytes=89 request_bytes=30 response_bytes=59 result_bytes=41 \n"
        "server=a server_version=2 number=4 parent=3 link=page is_call=0 from=client "
        "method=tools/list outcome=ok bytes=84 request_bytes=54 response_bytes=30 "
        "result_bytes=12 \n"
        "server=a server_version=2 number=3 is_call=1 from=client method=tools/list "
        "outcome=ok bytes=161 request_bytes=30 response_bytes=47 result_bytes=41 \n");
}

static void a_request_of_the_server_waits_for_the_client(void **state)
{
    (void)state;
    assert_rows("@0 session=3 s2c {'id':1,'method':'roots/list'}\n"
                "@5 session=3 c2s {'id':1,'result':{}}\n",
                "session=3 number=1 is_call=1 from=server method=roots/list outcome=ok "
                "total_us=5 server_us=0 wait_us=5 bytes=50 request_bytes=30 response_bytes=20 "
                "result_bytes=2 \n");
}

static void a_header_ends_the_requests_of_the_server_before_it(void **state)
{
    (void)state;
    assert_rows("c2s {'id':1,'method':'initialize'}\n"
                "s2c {'id':1,'result':{'serverInfo':{'name':'a'}}}\n"
                "c2s {'id':2,'method':'ping'}\n"
                "| {'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z',"
                "'upstream':'s','thoughtjack_version':'1'}\n"
                "c2s {'id':3,'method':'ping'}\n",
                "server=a number=1 is_call=1 from=client method=initialize outcome=ok "
                "bytes=75 request_bytes=30 response_bytes=45 result_bytes=27 \n"
                "server=a number=2 is_call=1 from=client method=ping outcome=pending bytes=24 "
                "request_bytes=24 \n"
                "number=3 is_call=1 from=client method=ping outcome=pending bytes=24 "
                "request_bytes=24 \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_a_row_when_it_has_ended),
        cmocka_unit_test(a_page_is_no_call_and_the_server_is_known_once_it_is_named),
        cmocka_unit_test(a_request_of_the_server_waits_for_the_client),
        cmocka_unit_test(a_header_ends_the_requests_of_the_server_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
