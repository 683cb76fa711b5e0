#include "engine/script-event.h"

#include "test.h"

static void most_are_as_usual(void **state)
{
    struct shelf_memory shelf;
    struct script s;

    (void)state;
    shelf_memory_init(&shelf);
    script_init(&s, &shelf.shelf, &(struct leaf_rules){ 0 }, NULL);
    script_event_note(&s, 1, STR_NONE);
    script_event_note(&s, 1, STR("{\"n\":1}"));
    script_event_note(&s, 2, STR("{\"n\":2,\"id\":\"a\",\"event\":\"message\"}"));
    script_event_note(&s, 3, STR("{\"event\":\"x\""));
    assert_int_equal(s.events.count, 0);
    for (uint32_t step = 0; step < 5; step++) {
        assert_str(script_event_of(&s, step)->name, STR("message"));
        assert_int_equal(script_event_of(&s, step)->retry_ms, -1);
    }
    script_release(&s);
    shelf_memory_release(&shelf);
}

static void some_stand_out(void **state)
{
    static const struct {
        const char *event, *name;
        int64_t retry_ms;
    } cases[] = {
        { "{\"n\":1,\"retry\":250}", "message", 250 },
        { "{\"n\":1,\"event\":\"message\",\"retry\":0}", "message", 0 },
        { "{\"n\":1,\"event\":\"other\"}", "other", -1 },
        { "{\"event\": \"other\", \"retry\": 7}", "other", 7 },
        { "{\"event\":\"\"}", "message", -1 },
        { "{\"event\":1}", "message", -1 },
        /* Nobody has sent that. */
        { "{\"event\":\"a\\nid: 1\"}", "message", -1 },
        { "{\"event\":\"a\\r\"}", "message", -1 },
        { "{\"retry\":-5}", "message", -1 },
        { "{\"retry\":1e400}", "message", -1 },
        { "{\"retry\":\"1\"}", "message", -1 },
    };
    struct shelf_memory shelf;
    struct script s;

    (void)state;
    shelf_memory_init(&shelf);
    script_init(&s, &shelf.shelf, &(struct leaf_rules){ 0 }, NULL);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        script_event_note(&s, i + 1, str_z(cases[i].event));
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_str(script_event_of(&s, i + 1)->name, str_z(cases[i].name));
        assert_int_equal(script_event_of(&s, i + 1)->retry_ms, cases[i].retry_ms);
    }
    script_release(&s);
    shelf_memory_release(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_are_as_usual),
        cmocka_unit_test(some_stand_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
