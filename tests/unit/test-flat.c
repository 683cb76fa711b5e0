#include "format/format.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

static void every_object_has_all_members(void **state)
{
    struct memory_writer w;
    struct arena a = { 0 };

    (void)state;
    memory_writer_init(&w, &flat_format);
    terse_feed(&w.sink, "@0 c2s {'id':1,'method':'ping'}\n@3 s2c {'id':1,'result':{}}\n");
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text),
               terse_json(&a, "{'time':null,'server':null,'server_version':null,"
                              "'session':null,'number':1,'parent':null,'link':null,"
                              "'is_call':true,'from':'client','method':'ping','subject':null,"
                              "'outcome':'ok','error_code':null,'http_status':null,"
                              "'total_us':3,'server_us':3,'wait_us':0,'bytes':44,"
                              "'request_bytes':24,'response_bytes':20,'result_bytes':2}\n"));
    arena_release(&a);
    memory_writer_release(&w);
}

static void a_name_selects_it(void **state)
{
    (void)state;
    assert_ptr_equal(format_by_path(STR("a.flat.jsonl")), &flat_format);
    assert_ptr_equal(format_by_path(STR("flat.jsonl")), &recording_format);
    assert_null(flat_format.probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_object_has_all_members),
        cmocka_unit_test(a_name_selects_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
