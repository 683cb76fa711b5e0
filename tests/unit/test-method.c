#include "mcp/method.h"

#include <stdio.h>

#include "test.h"

/* The methods in the schema of each version, a second time and the other way round: by
 * version instead of by method. */
#define SINCE_THE_START                                                                        \
    "initialize ping tools/list tools/call prompts/list prompts/get resources/list "           \
    "resources/read resources/templates/list resources/subscribe resources/unsubscribe "       \
    "completion/complete logging/setLevel sampling/createMessage roots/list "                  \
    "notifications/initialized notifications/progress notifications/message "                  \
    "notifications/tools/list_changed notifications/prompts/list_changed "                     \
    "notifications/resources/list_changed notifications/resources/updated "                    \
    "notifications/roots/list_changed"

static const char *const by_revision[] = {
    [MCP_2024_10_07] = SINCE_THE_START,
    [MCP_2024_11_05] = SINCE_THE_START " notifications/cancelled",
    [MCP_2025_03_26] = SINCE_THE_START " notifications/cancelled",
    [MCP_2025_06_18] = SINCE_THE_START " notifications/cancelled elicitation/create",
    [MCP_2025_11_25] =
        SINCE_THE_START " notifications/cancelled elicitation/create tasks/get tasks/result "
                        "tasks/list tasks/cancel "
                        "notifications/tasks/status notifications/elicitation/complete",
    [MCP_2026_07_28] =
        "server/discover subscriptions/listen tools/list tools/call prompts/list prompts/get "
        "resources/list resources/read resources/templates/list completion/complete "
        "notifications/cancelled notifications/progress notifications/message "
        "notifications/tools/list_changed notifications/prompts/list_changed "
        "notifications/resources/list_changed notifications/resources/updated "
        "notifications/subscriptions/acknowledged "
        /* the tasks extension */
        "tasks/get tasks/update tasks/cancel notifications/tasks",
};

static bool listed(struct str list, struct str name)
{
    while (list.len) {
        if (str_eq(str_cut(&list, ' '), name))
            return true;
    }
    return false;
}

static bool has(enum mcp_version v, const struct mcp_method *m)
{
    return m->since <= v && v <= m->until;
}

static void each_revision_has_exactly_its_methods(void **state)
{
    (void)state;
    for (enum mcp_version v = MCP_2024_10_07; v <= MCP_VERSION_LATEST; v++) {
        struct str list = str_z(by_revision[v]);
        for (const struct mcp_method *m = mcp_methods; m->name.at; m++) {
            if (listed(list, m->name) != has(v, m))
                fail_msg("'%.*s' in %.*s", STR_ARG(m->name), STR_ARG(mcp_version_text(v)));
        }
        while (list.len) {
            struct str name = str_cut(&list, ' ');
            if (!mcp_method_find(name))
                fail_msg("'%.*s' is missing", STR_ARG(name));
        }
    }
}

static void each_row_is_found_by_its_name_and_belongs_to_a_revision(void **state)
{
    (void)state;
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++) {
        assert_ptr_equal(mcp_method_find(m->name), m); /* so no name stands there twice */
        assert_true(m->since >= MCP_2024_10_07 && m->since <= m->until);
        assert_true(m->until <= MCP_VERSION_LATEST);
        assert_int_equal(m->notification, str_starts(m->name, STR("notifications/")));
    }
}

static void an_unknown_method_is_not_found(void **state)
{
    static const char *const names[] = { "",           "tools",
                                         "tools/cal",  "tools/call ",
                                         "Tools/call", "notifications/" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(mcp_method_find(str_z(names[i])));
    assert_null(mcp_method_find(STR_NONE));
}

static void the_direction_of_a_method_is_that_of_the_schemas(void **state)
{
    const struct str both =
        STR("ping tasks/get tasks/result tasks/list tasks/cancel notifications/cancelled "
            "notifications/progress notifications/tasks/status");
    const struct str from_server =
        STR("roots/list sampling/createMessage elicitation/create notifications/message "
            "notifications/tools/list_changed notifications/prompts/list_changed "
            "notifications/resources/list_changed notifications/resources/updated "
            "notifications/elicitation/complete notifications/tasks "
            "notifications/subscriptions/acknowledged");

    (void)state;
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++) {
        enum mcp_dir want = listed(both, m->name)          ? MCP_BOTH
                            : listed(from_server, m->name) ? MCP_S2C
                                                           : MCP_C2S;
        if (m->dir != want)
            fail_msg("'%.*s' goes the wrong way", STR_ARG(m->name));
    }
}

static void a_class_has_exactly_its_methods(void **state)
{
    static const char *const members[] = {
        [MCP_CLASS_SESSION] = "initialize server/discover ping",
        [MCP_CLASS_LIST] = "tools/list prompts/list resources/list resources/templates/list",
        [MCP_CLASS_READ] = "resources/read prompts/get completion/complete",
        [MCP_CLASS_CALL] = "tools/call",
        [MCP_CLASS_POLL] = "tasks/get tasks/result tasks/list",
        [MCP_CLASS_LISTEN] = "subscriptions/listen",
    };

    (void)state;
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++) {
        for (enum mcp_class c = MCP_CLASS_SESSION; c <= MCP_CLASS_LISTEN; c++) {
            if (listed(str_z(members[c]), m->name) != (m->class == c))
                fail_msg("'%.*s' is in the wrong class", STR_ARG(m->name));
        }
    }
}

static void a_server_request_needs_a_capability_of_the_client(void **state)
{
    static const struct {
        const char *name, *capability;
    } rows[] = {
        { "roots/list", "roots" },
        { "sampling/createMessage", "sampling" },
        { "elicitation/create", "elicitation" },
        { "tasks/get", "tasks" },
        { "tasks/result", "tasks" },
        { "tasks/list", "tasks" },
        { "tasks/cancel", "tasks" },
    };
    size_t with = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_str(mcp_method_find(str_z(rows[i].name))->capability, str_z(rows[i].capability));
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++)
        with += m->capability.len > 0;
    assert_int_equal(with, sizeof rows / sizeof *rows);
}

/* The subject's JSON as text; empty if there is none. */
static void assert_subject(const char *method, const char *params, const char *want)
{
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (!json_scan(&j, str_z(params), &fault))
        fail_msg("not JSON: %s", params);
    assert_str(json_raw(mcp_subject(str_z(method), json_root(&j))), str_z(want));
    json_release(&j);
}

static void the_subject_is_tool_prompt_uri_or_task(void **state)
{
    static const struct {
        const char *method, *member;
    } rows[] = {
        { "tools/call", "name" },
        { "prompts/get", "name" },
        { "resources/read", "uri" },
        { "resources/subscribe", "uri" },
        { "resources/unsubscribe", "uri" },
        { "tasks/get", "taskId" },
        { "tasks/result", "taskId" },
        { "tasks/update", "taskId" },
        { "tasks/cancel", "taskId" },
        { "notifications/resources/updated", "uri" },
        { "notifications/tasks/status", "taskId" },
        { "notifications/tasks", "taskId" },
        { "notifications/elicitation/complete", "elicitationId" },
    };
    size_t with = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char params[128];
        snprintf(params, sizeof params, "{\"x\":1,\"%s\":\"it\"}", rows[i].member);
        assert_subject(rows[i].method, params, "\"it\"");
        assert_subject(rows[i].method, "{\"x\":1}", "");
    }
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++)
        with += m->subject.len > 0;
    assert_int_equal(with, sizeof rows / sizeof *rows + 1); /* and a completion's ref */
}

static void the_subject_of_a_completion_is_its_reference(void **state)
{
    (void)state;
    assert_subject("completion/complete", "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"}}",
                   "\"p\"");
    assert_subject("completion/complete",
                   "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"file:///{x}\"}}",
                   "\"file:///{x}\"");
    assert_subject("completion/complete", "{\"ref\":{\"type\":\"ref/other\"}}", "");
    assert_subject("completion/complete", "{\"argument\":{\"name\":\"a\"}}", "");
}

static void a_method_without_name_has_no_subject(void **state)
{
    (void)state;
    assert_subject("tools/list", "{\"name\":\"x\",\"uri\":\"y\"}", "");
    assert_subject("no/such", "{\"name\":\"x\"}", "");
    assert_subject("tools/call", "[\"name\"]", "");
    assert_false(json_exists(mcp_subject(STR("tools/call"), JSON_VAL_NONE)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_revision_has_exactly_its_methods),
        cmocka_unit_test(each_row_is_found_by_its_name_and_belongs_to_a_revision),
        cmocka_unit_test(an_unknown_method_is_not_found),
        cmocka_unit_test(the_direction_of_a_method_is_that_of_the_schemas),
        cmocka_unit_test(a_class_has_exactly_its_methods),
        cmocka_unit_test(a_server_request_needs_a_capability_of_the_client),
        cmocka_unit_test(the_subject_is_tool_prompt_uri_or_task),
        cmocka_unit_test(the_subject_of_a_completion_is_its_reference),
        cmocka_unit_test(a_method_without_name_has_no_subject),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
