#include "redact/placeholder-names.h"

#include "terse.h"
#include "test.h"

static void names_of_variables_are_collected_and_records_forwarded(void **state)
{
    struct placeholder_names p;
    struct terse next;

    (void)state;
    terse_init(&next);
    placeholder_names_init(&p, &next.sink);
    terse_feed(&p.sink, "c2s {'id':1,'method':'a','params':{'k':'x [REDACTED:API_KEY] "
                        "[REDACTED:_b2]'}}\n"
                        "s2c {'id':1,'result':'{`'t`':`'[REDACTED:IN_TEXT]`'}'}\n");
    assert_true(placeholder_names_has(&p, STR("API_KEY")));
    assert_true(placeholder_names_has(&p, STR("_b2")));
    assert_true(placeholder_names_has(&p, STR("IN_TEXT")));
    assert_int_equal(p.names.count, 3);
    assert_non_null(strstr(buf_z(&next.text), "IN_TEXT"));
    placeholder_names_release(&p);
    terse_release(&next);
}

static void other_placeholders_name_no_variable(void **state)
{
    struct placeholder_names p;
    struct terse next;

    (void)state;
    terse_init(&next);
    placeholder_names_init(&p, &next.sink);
    terse_feed(&p.sink,
               "c2s {'id':1,'method':'[REDACTED]','params':['[REDACTED:rule-1]',"
               "'[REDACTED:session-2]','[REDACTED:2a]','[REDACTED:]','[REDACTED:OPEN']}\n");
    assert_int_equal(p.names.count, 0);
    placeholder_names_release(&p);
    terse_release(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_variables_are_collected_and_records_forwarded),
        cmocka_unit_test(other_placeholders_name_no_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
