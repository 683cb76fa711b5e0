#include "trace/filter-content.h"

#include "terse.h"
#include "test.h"

static void content_is_found_where_the_protocol_puts_it(void **state)
{
    static const struct {
        const char *message;
        uint64_t want;
    } cases[] = {
        { "{}", 0 },
        { "5", 0 },
        { "{'result':{'content':[{'type':'text','text':'image'}]}}", 0 },
        { "{'result':{'content':[{'type':'image'}]}}", CONTENT_IMAGE | CONTENT_BINARY },
        { "{'result':{'content':{'type':'audio'}}}", CONTENT_AUDIO | CONTENT_BINARY },
        { "{'result':{'content':[1,null,{'type':5},[]]}}", 0 },
        { "{'result':{'content':[{'type':'resource_link','annotations':{}}]}}",
          CONTENT_LINK | CONTENT_ANNOTATIONS },
        { "{'result':{'content':[{'type':'resource','resource':{'text':''}}]}}",
          CONTENT_RESOURCE },
        { "{'result':{'content':[{'type':'resource','resource':{'blob':''}}]}}",
          CONTENT_RESOURCE | CONTENT_BINARY },
        { "{'result':{'structuredContent':{'type':'image'}}}", CONTENT_STRUCTURED },
        { "{'result':{'contents':[{'uri':'a','blob':''}]}}",
          CONTENT_RESOURCE | CONTENT_BINARY },
        { "{'result':{'messages':[{'content':{'type':'image'}}]}}",
          CONTENT_IMAGE | CONTENT_BINARY },
        { "{'params':{'messages':[{'content':[{'type':'audio'}]}]}}",
          CONTENT_AUDIO | CONTENT_BINARY },
        { "{'params':{'arguments':{'content':[{'type':'image'}]}}}", 0 },
        { "{'params':{'_meta':{'traceparent':'00'}}}", CONTENT_TRACEPARENT },
        { "{'result':{'tools':[{'name':'a'},{'annotations':{}}]}}", CONTENT_ANNOTATIONS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct terse_scanned s = { 0 };
        uint64_t got = filter_content(terse_scan(&s, cases[i].message));

        if (got != cases[i].want)
            fail_msg("%s: %llx", cases[i].message, (unsigned long long)got);
        terse_scanned_release(&s);
    }
    assert_int_equal(filter_content(JSON_VAL_NONE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_found_where_the_protocol_puts_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
