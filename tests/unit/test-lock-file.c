#include "diff/lock-file.h"

#include "terse.h"
#include "test.h"

static const char lock_text[] = "{\n"
                                "  \"mcpreelLock\": 1,\n"
                                "  \"serverInfo\": {\n"
                                "    \"name\": \"s\"\n"
                                "  },\n"
                                "  \"protocolVersion\": \"2025-11-25\",\n"
                                "  \"capabilities\": {},\n"
                                "  \"instructions\": \"a\\nb\",\n"
                                "  \"tools\": [\n"
                                "    {\n"
                                "      \"inputSchema\": {},\n"
                                "      \"name\": \"a\"\n"
                                "    },\n"
                                "    {\n"
                                "      \"name\": \"b\"\n"
                                "    }\n"
                                "  ],\n"
                                "  \"prompts\": []\n"
                                "}\n";

static void a_surface_is_written_sorted_and_read_back(void **state)
{
    struct surface s, again;
    struct terse_scanned t;
    struct err e = ERR_NONE;
    struct buf text;

    (void)state;
    surface_init(&s);
    assert_true(surface_add_result(
        &s, STR("initialize"), false,
        terse_scan(&t, "{'serverInfo':{'name':'s'},'protocolVersion':'2025-11-25',"
                       "'capabilities':{},'instructions':'a`nb'}"),
        0));
    terse_scanned_release(&t);
    assert_true(surface_add_result(
        &s, STR("tools/list"), false,
        terse_scan(&t, "{'tools':[{'name':'b'},{'name':'a','inputSchema':{}}]}"), 0));
    terse_scanned_release(&t);
    s.lists[SURFACE_PROMPT].known = true;
    buf_init(&text, 1 << 16);
    lock_file_write(&text, &s);
    assert_str(buf_str(&text), str_z(lock_text));
    surface_init(&again);
    if (!lock_file_read(&again, buf_str(&text), &e))
        fail_msg("%s", e.msg);
    assert_true(again.sorted);
    assert_true(again.lists[SURFACE_PROMPT].known);
    assert_false(again.lists[SURFACE_RESOURCE].known);
    assert_str(again.instructions, STR("a\nb"));
    assert_int_equal(surface_find(&again, SURFACE_TOOL, STR("a"))->line, 10);
    assert_int_equal(surface_find(&again, SURFACE_TOOL, STR("b"))->line, 14);
    buf_clear(&text);
    lock_file_write(&text, &again);
    assert_str(buf_str(&text), str_z(lock_text));
    buf_release(&text);
    surface_release(&s);
    surface_release(&again);
}

static void check_error(const char *text, const char *want)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct surface s;

    surface_init(&s);
    assert_false(lock_file_read(&s, terse_json(&a, text), &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_string_equal(e.msg, want);
    surface_release(&s);
    arena_release(&a);
}

static void files_that_cannot_be_used_are_named(void **state)
{
    (void)state;
    check_error("{'tools':[]}", "not a lock file: it has no member 'mcpreelLock'");
    check_error("{'mcpreelLock':2}", "lock file of version 2; this mcpreel reads version 1");
    check_error("{'mcpreelLock':'x'}",
                "lock file of version \"x\"; this mcpreel reads version 1");
    check_error("{'mcpreelLock':1,\n'tools':{}}",
                "line 2: a list of definitions is not an array");
    check_error("{'mcpreelLock':1,\n'tools':[\n{}]}", "line 3: a definition has no name");
    check_error("{'mcpreelLock':1,'nameless':{'tools':-1}}",
                "line 1: expected a number of definitions");
    check_error("{'mcpreelLock':1,'instructions':7}", "line 1: expected a string");
    check_error("{\n<<<<<<< HEAD\n", "line 2: not JSON: expected a name in quotes");
}

static void a_lock_file_is_known_by_its_version(void **state)
{
    (void)state;
    assert_true(lock_file_is_lock(STR("{\"mcpreelLock\":99}")));
    assert_false(lock_file_is_lock(STR("{}")));
    assert_false(lock_file_is_lock(STR("{\"mcpreelLock\":1}\n{}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_surface_is_written_sorted_and_read_back),
        cmocka_unit_test(files_that_cannot_be_used_are_named),
        cmocka_unit_test(a_lock_file_is_known_by_its_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
