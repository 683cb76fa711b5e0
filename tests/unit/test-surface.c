#include "mcp/surface.h"

#include "terse.h"
#include "test.h"

static bool add(struct surface *s, const char *method, bool next_page, const char *result)
{
    struct terse_scanned t;
    bool ok = surface_add_result(s, str_z(method), next_page, terse_scan(&t, result), 0);

    terse_scanned_release(&t);
    return ok;
}

static void initialize_describes_the_server(void **state)
{
    struct surface s;

    (void)state;
    surface_init(&s);
    assert_true(surface_is_empty(&s));
    assert_true(add(&s, "initialize", false,
                    "{'protocolVersion':'2025-11-25','capabilities':{'tools':{}},"
                    "'serverInfo':{'name':'a'},'instructions':'Be brief.'}"));
    assert_false(surface_is_empty(&s));
    assert_str(s.protocol_version, STR("2025-11-25"));
    assert_str(s.instructions, STR("Be brief."));
    assert_str(json_raw(s.server_info), STR("{\"name\":\"a\"}"));
    assert_true(surface_offers(&s, SURFACE_TOOL));
    assert_false(surface_offers(&s, SURFACE_TEMPLATE));
    assert_false(s.lists[SURFACE_PROMPT].known);
    surface_complete(&s);
    assert_true(s.lists[SURFACE_PROMPT].known); /* not offered: empty */
    assert_false(s.lists[SURFACE_TOOL].known);
    surface_release(&s);
}

static void discover_has_versions_and_server_info_elsewhere(void **state)
{
    struct surface s;

    (void)state;
    surface_init(&s);
    assert_true(add(&s, "server/discover", false,
                    "{'supportedVersions':['2025-11-25','2026-07-28'],'capabilities':{},"
                    "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'b'}}}"));
    assert_str(s.protocol_version, STR("2026-07-28"));
    assert_str(json_raw(s.server_info), STR("{\"name\":\"b\"}"));
    surface_release(&s);
}

static void pages_are_joined_and_a_new_list_replaces_the_old_one(void **state)
{
    struct surface s;

    (void)state;
    surface_init(&s);
    assert_true(add(&s, "tools/list", false, "{'tools':[{'name':'a'}],'nextCursor':''}"));
    assert_true(s.lists[SURFACE_TOOL].has_more);
    assert_true(add(&s, "tools/list", true, "{'tools':[{'name':'b'},{'x':1}]}"));
    assert_false(s.lists[SURFACE_TOOL].has_more);
    assert_int_equal(s.lists[SURFACE_TOOL].count, 2);
    assert_int_equal(s.lists[SURFACE_TOOL].nameless, 1);
    assert_non_null(surface_find(&s, SURFACE_TOOL, STR("b")));
    assert_true(add(&s, "tools/list", false, "{'tools':[{'name':'c'}]}"));
    assert_null(surface_find(&s, SURFACE_TOOL, STR("b")));
    assert_int_equal(s.lists[SURFACE_TOOL].count, 1);
    surface_release(&s);
}

static void all_definitions_of_a_name_are_kept(void **state)
{
    struct surface s;
    const struct surface_item *other;

    (void)state;
    surface_init(&s);
    assert_true(add(&s, "resources/list", false,
                    "{'resources':[{'uri':'a:1','name':'x'},{'uri':'a:2'},"
                    "{'uri':'a:1','name':'y'},{'name':'x','uri':'a:1'}]}"));
    assert_int_equal(s.lists[SURFACE_RESOURCE].count, 3);
    assert_true(json_is(surface_find(&s, SURFACE_RESOURCE, STR("a:1"))->name, STR("x")));
    other = surface_find_repeat(&s, SURFACE_RESOURCE, STR("a:1"), 1);
    assert_true(json_is(other->name, STR("y")));
    assert_int_equal(other->repeat, 1);
    assert_null(surface_find_repeat(&s, SURFACE_RESOURCE, STR("a:1"), 2));
    assert_null(surface_find_repeat(&s, SURFACE_RESOURCE, STR("a:2"), 1));
    surface_release(&s);
}

static void other_results_are_rejected(void **state)
{
    struct surface s;

    (void)state;
    surface_init(&s);
    assert_false(add(&s, "tools/call", false, "{'tools':[]}"));
    assert_false(add(&s, "tools/list", false, "{'tools':{}}"));
    assert_false(add(&s, "initialize", false, "[]"));
    assert_true(surface_is_empty(&s));
    surface_release(&s);
}

static void merging_finds_lists_that_differ(void **state)
{
    struct surface a, b, c;
    enum surface_kind kind;
    struct str key;

    (void)state;
    surface_init(&a);
    surface_init(&b);
    surface_init(&c);
    add(&a, "tools/list", false, "{'tools':[{'name':'x','n':1}]}");
    add(&b, "tools/list", false, "{'tools':[{'n':1.0,'name':'x'}]}");
    add(&b, "prompts/list", false, "{'prompts':[{'name':'p'}]}");
    assert_true(surface_merge(&a, &b, &kind, &key));
    assert_non_null(surface_find(&a, SURFACE_PROMPT, STR("p")));
    add(&c, "tools/list", false, "{'tools':[{'name':'x','n':1},{'name':'z'}]}");
    assert_false(surface_merge(&a, &c, &kind, &key));
    assert_int_equal(kind, SURFACE_TOOL);
    assert_str(key, STR("z"));
    surface_release(&a);
    surface_release(&b);
    surface_release(&c);
}

static void merging_prefers_a_list_with_all_its_pages(void **state)
{
    struct surface a, b;
    enum surface_kind kind;
    struct str key;

    (void)state;
    surface_init(&a);
    surface_init(&b);
    add(&a, "tools/list", false, "{'tools':[{'name':'x'}],'nextCursor':'1'}");
    add(&b, "tools/list", false, "{'tools':[{'name':'x'},{'name':'y'}]}");
    assert_true(surface_merge(&a, &b, &kind, &key));
    assert_int_equal(a.lists[SURFACE_TOOL].count, 2);
    assert_false(a.lists[SURFACE_TOOL].has_more);
    surface_release(&a);
    surface_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_describes_the_server),
        cmocka_unit_test(discover_has_versions_and_server_info_elsewhere),
        cmocka_unit_test(pages_are_joined_and_a_new_list_replaces_the_old_one),
        cmocka_unit_test(all_definitions_of_a_name_are_kept),
        cmocka_unit_test(other_results_are_rejected),
        cmocka_unit_test(merging_finds_lists_that_differ),
        cmocka_unit_test(merging_prefers_a_list_with_all_its_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
