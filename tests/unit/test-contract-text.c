#include "report/contract-text.h"

#include "contract-sample.h"

static void each_change_has_its_severity_place_and_values(void **state)
{
    const struct contract_text_options options = { .width = 80 };
    struct contract_sample s;
    struct arena a = { 0 };
    struct buf b;

    (void)state;
    contract_sample_init(&s);
    buf_init(&b, 1 << 16);
    contract_text_write(&b, &s.report, &options);
    assert_str(
        buf_str(&b),
        STR("a.lock.json → node server.js: 1 breaking, 1 routing, 1 allowed\n"
            "  allowed   tool 'old' was removed; no recorded call is affected\n"
            "            (tool.removed)\n"
            "            until 2027-01-31: moved\n"
            "  breaking  tool 'search': a required property was added; rejects 1 of 1 recorded "
            "calls (#7)\n"
            "            $.inputSchema.properties.q  (tool.input.property.required-added)\n"
            "            + {\"type\":\"string\"}\n"
            "  routing   tool 'search': the title changed\n"
            "            $.title  (tool.title.changed)\n"
            "            - \"A\"\n"
            "            + \"B\"\n"
            "prompts: not compared, node server.js does not have the list\n"
            "1 of 1 recorded calls is affected by breaking changes\n"));
    buf_release(&b);
    contract_sample_release(&s);
    arena_release(&a);
}

static void colours_are_used_on_demand(void **state)
{
    const struct contract_text_options options = { .color = true };
    struct contract_sample s;
    struct buf b;

    (void)state;
    contract_sample_init(&s);
    buf_init(&b, 1 << 16);
    contract_text_write(&b, &s.report, &options);
    assert_true(str_contains(buf_str(&b), STR("\x1b[")));
    buf_release(&b);
    contract_sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_has_its_severity_place_and_values),
        cmocka_unit_test(colours_are_used_on_demand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
