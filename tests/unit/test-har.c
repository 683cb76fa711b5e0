#include "format/format.h"

#include "memory-file.h"
#include "record-summary.h"
#include "terse.h"
#include "test.h"

enum { TEXT_MAX = 1 << 20 };

static void the_start_of_a_har_is_recognised(void **state)
{
    static const struct terse_head heads[] = {
        { "{'log':{'version':'1.2'", true },
        { " {\n'log' : {\r\n 'pages'", true },
        { "{'log':{}}", false },
        { "{'log':'x'}", false },
        { "{'jsonrpc':'2.0'", false },
    };

    (void)state;
    terse_check_probe(har_format.probe, heads, sizeof heads / sizeof heads[0]);
}

/* Writes the records of terse lines and reads the file. */
static void assert_read_back(const char *story, unsigned parts, const char *want)
{
    struct memory_writer w;
    struct buf got;

    memory_writer_init(&w, &har_format);
    terse_feed(&w.sink, story);
    memory_writer_finish(&w);
    buf_init(&got, TEXT_MAX);
    record_summary_of_file(&got, &har_format, buf_str(&w.text), TEXT_MAX, parts);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    memory_writer_release(&w);
}

/* Both sides count from 1, and a call waits while the server asks. */
static void the_order_of_messages_is_kept(void **state)
{
    (void)state;
    assert_read_back("c2s {'id':1,'method':'tools/call','jsonrpc':'2.0'}\n"
                     "s2c {'id':1,'method':'ping','jsonrpc':'2.0'}\n"
                     "c2s {'id':1,'result':{},'jsonrpc':'2.0'}\n"
                     "s2c {'id':9,'result':1.0,'jsonrpc':'2.0'}\n"
                     "s2c {'id':1,'result':1e5,'jsonrpc':'2.0'}\n",
                     FEATURE_BYTES | FEATURE_DIRECTION | FEATURE_SERVER_MESSAGES |
                         FEATURE_UNPAIRED,
                     "c2s {'id':1,'method':'tools/call','jsonrpc':'2.0'} \n"
                     "s2c {'id':1,'method':'ping','jsonrpc':'2.0'} \n"
                     "c2s {'id':1,'result':{},'jsonrpc':'2.0'} \n"
                     "s2c {'id':9,'result':1.0,'jsonrpc':'2.0'} \n"
                     "s2c {'id':1,'result':1e5,'jsonrpc':'2.0'} \nend");
}

static void a_damaged_file_has_no_records(void **state)
{
    struct buf got;

    (void)state;
    buf_init(&got, TEXT_MAX);
    record_summary_of_file(&got, &har_format, STR("{\"log\":{\"entries\":[\n"), TEXT_MAX,
                           FEATURE_BYTES);
    assert_str(buf_str(&got), STR("f:2:1: the HAR is cut off"));
    buf_clear(&got);
    record_summary_of_file(&got, &har_format,
                           STR("{\"log\":{\"version\":\"2.0\",\"entries\":[]}}"), TEXT_MAX,
                           FEATURE_BYTES);
    assert_str(buf_str(&got),
               STR("f:1:19: a HAR of version 2.0; this program reads version 1"));
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_start_of_a_har_is_recognised),
        cmocka_unit_test(the_order_of_messages_is_kept),
        cmocka_unit_test(a_damaged_file_has_no_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
