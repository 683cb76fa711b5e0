#include "replay/discover.h"

#include "loaded-index.h"

static void check(const char *recording, const char *versions, const char *capabilities)
{
    struct arena a = { 0 };
    struct loaded_index s;

    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    assert_str(discover_versions(&s.index, &a), terse_json(&a, versions));
    assert_str(discover_capabilities(&s.index, &a), terse_json(&a, capabilities));
    loaded_index_release(&s);
    arena_release(&a);
}

#define MODERN "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"

static void capabilities_are_derived_from_recorded_methods(void **state)
{
    (void)state;
    check("", "[]", "{}");
    check("c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
          "c2s {'id':2,'method':'completion/complete'}\n"
          "c2s {'id':3,'method':'logging/setLevel'}\n",
          "[]", "{'tools':{},'completions':{},'logging':{}}");
    check("c2s {'id':1,'method':'resources/list','params':{" MODERN "}}\n"
          "c2s {'id':2,'method':'tasks/get','params':{" MODERN "}}\n",
          "['2026-07-28']",
          "{'resources':{},'extensions':{'io.modelcontextprotocol/tasks':{}}}");
}

static void recorded_versions_are_listed_newest_first(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}\n"
          "s2c {'id':1,'result':{'protocolVersion':'2025-03-26'}}\n"
          "conn=2 c2s {'id':1,'method':'prompts/list','params':{" MODERN "}}\n",
          "['2026-07-28','2025-03-26']", "{'prompts':{}}");
}

static void a_composed_result_has_all_required_members(void **state)
{
    struct arena a = { 0 };
    struct loaded_index s;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL,
                      "c2s {'id':1,'method':'tools/list','params':{" MODERN "}}\n");
    assert_str(discover_result(&s.index, &a),
               terse_json(&a, "{'resultType':'complete','supportedVersions':['2026-07-28'],"
                              "'capabilities':{'tools':{}},'ttlMs':0,'cacheScope':'private'}"));
    loaded_index_release(&s);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capabilities_are_derived_from_recorded_methods),
        cmocka_unit_test(recorded_versions_are_listed_newest_first),
        cmocka_unit_test(a_composed_result_has_all_required_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
