#include "format/format.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

#define NAMES                                                                                  \
    "time,server,server_version,session,number,parent,link,is_call,from,method,subject,"       \
    "outcome,error_code,http_status,total_us,server_us,wait_us,bytes,request_bytes,"           \
    "response_bytes,result_bytes\n"

static void assert_written(const char *traffic, const char *want)
{
    struct memory_writer w;

    memory_writer_init(&w, &csv_format);
    terse_feed(&w.sink, traffic);
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text), str_z(want));
    memory_writer_release(&w);
}

static void the_first_line_has_the_names(void **state)
{
    (void)state;
    assert_written("", NAMES);
    assert_written("c2s {'id':1,'method':'ping'}\n",
                   NAMES ",,,,1,,,true,client,ping,,pending,,,,,,24,24,,\n");
}

static void values_are_quoted_where_they_must_be(void **state)
{
    (void)state;
    assert_written(
        "c2s {'id':1,'method':'tools/call','params':{'name':'a,b`nc `'d`''}}\n",
        NAMES ",,,,1,,,true,client,tools/call,\"a,b\nc \"\"d\"\"\",pending,,,,,,63,63,,\n");
}

static void the_format_is_only_written(void **state)
{
    (void)state;
    assert_null(csv_format.next);
    assert_ptr_equal(format_by_path(STR("a.csv.gz")), &csv_format);
    assert_false(format_is_recording_name(STR("a.csv")));
    assert_true(format_is_recording_name(STR("a.jsonl")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_has_the_names),
        cmocka_unit_test(values_are_quoted_where_they_must_be),
        cmocka_unit_test(the_format_is_only_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
