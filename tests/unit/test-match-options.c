#include "cmd/match-options.h"

#include <stdio.h>

#include "test.h"

/* The options of a test, and the messages to the user. */
struct match_run {
    struct log log;
    struct buf output;
    struct app app;
    struct match_args args;
    struct match_config config;
    struct match_options options;
};

static void collect_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void set(struct match_run *s, enum log_level level)
{
    *s = (struct match_run){ .args = { .modes = { NULL, 0 } } };
    buf_init(&s->output, 1 << 12);
    s->log = (struct log){ .level = level, .write = collect_line, .arg = &s->output };
    s->app = (struct app){ .log = &s->log };
    match_config_init(&s->config);
}

static void unset(struct match_run *s)
{
    match_config_release(&s->config);
    buf_release(&s->output);
}

static bool read_modes(struct match_run *s, const char **modes, size_t count, struct err *e)
{
    s->args.modes = (struct str_list){ modes, count };
    return match_config_read(&s->config, &s->app, &s->args, MATCH_BY_REQUEST, false,
                             &s->options, e);
}

static void without_options_nothing_is_ignored(void **state)
{
    struct err e = ERR_NONE;
    struct match_run s;

    (void)state;
    set(&s, LOG_DEBUG);
    assert_true(read_modes(&s, NULL, 0, &e));
    assert_int_equal(s.options.mode, MATCH_BY_REQUEST);
    assert_int_equal(s.options.tool_count, 0);
    assert_null(s.options.rules.ignore);
    assert_false(s.options.rules.include_meta);
    assert_false(s.options.rules.detect_volatile);
    assert_int_equal(s.output.len, 0);
    unset(&s);
}

static void a_mode_may_be_for_one_tool(void **state)
{
    const char *modes[] = { "search=fuzzy", "strict", "a=b=sequential", "search=method_params",
                            "log=fuzzy" };
    struct err e = ERR_NONE;
    struct match_run s;

    (void)state;
    set(&s, LOG_DEBUG);
    assert_true(read_modes(&s, modes, 5, &e));
    assert_int_equal(s.options.mode, MATCH_STRICT);
    assert_int_equal(s.options.tool_count, 3);
    assert_str(s.options.tools[0].tool, STR("search"));
    assert_int_equal(s.options.tools[0].mode, MATCH_BY_REQUEST);
    assert_str(s.options.tools[1].tool, STR("a=b"));
    assert_int_equal(s.options.tools[1].mode, MATCH_SEQUENTIAL);
    assert_int_equal(s.options.tools[2].mode, MATCH_FUZZY);
    assert_true(s.options.rules.detect_volatile);
    assert_false(s.options.rules.include_meta); /* not all requests are compared with it */
    unset(&s);
}

static void a_bad_mode_is_named(void **state)
{
    static const struct {
        const char *mode, *msg;
    } rows[] = {
        { "fuzy", "option '--match': 'fuzy' is not one of by-request, sequential, fuzzy, "
                  "strict" },
        { "search=fuzy", "option '--match': 'fuzy' is not one of by-request, sequential, "
                         "fuzzy, strict" },
        { "search=", "option '--match': '' is not one of by-request, sequential, fuzzy, "
                     "strict" },
        { "=fuzzy", "option '--match': '=fuzzy' names no tool" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *mode = rows[i].mode;
        struct err e = ERR_NONE;
        struct match_run s;

        set(&s, LOG_INFO);
        assert_false(read_modes(&s, &mode, 1, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, rows[i].msg);
        unset(&s);
    }
}

static void the_number_of_tools_is_limited(void **state)
{
    char names[MATCH_OPTIONS_TOOLS_MAX + 1][16];
    const char *modes[MATCH_OPTIONS_TOOLS_MAX + 1];
    struct err e = ERR_NONE;
    struct match_run s;

    (void)state;
    for (size_t i = 0; i <= MATCH_OPTIONS_TOOLS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "t%zu=fuzzy", i);
        modes[i] = names[i];
    }
    set(&s, LOG_INFO);
    assert_true(read_modes(&s, modes, MATCH_OPTIONS_TOOLS_MAX, &e));
    assert_false(read_modes(&s, modes, MATCH_OPTIONS_TOOLS_MAX + 1, &e));
    assert_string_equal(e.msg, "option '--match': too many tools: 256 are allowed");
    unset(&s);
}

static void a_rule_without_effect_is_reported(void **state)
{
    const char *paths[] = { "$.result.etag", "$.params.name", "$.params.arguments.q" };
    struct err e = ERR_NONE;
    struct match_run s;

    (void)state;
    set(&s, LOG_INFO);
    assert_true(compare_rules_add_path(&s.config.rules, COMPARE_PATH_IGNORE, STR("$.result.a"),
                                       &e)); /* as from a file */
    s.args.rules.ignore_paths = (struct str_list){ paths, 3 };
    assert_true(read_modes(&s, NULL, 0, &e));
    assert_ptr_equal(s.options.rules.ignore, &s.config.rules);
    assert_non_null(strstr(buf_z(&s.output), "--ignore-paths '$.result.etag' has no effect"));
    assert_non_null(strstr(buf_z(&s.output), "--ignore-paths '$.params.name' has no effect"));
    assert_null(strstr(buf_z(&s.output), "arguments.q"));
    assert_null(strstr(buf_z(&s.output), "$.result.a'"));
    unset(&s);
}

static void rules_about_responses_alone_ignore_nothing(void **state)
{
    struct err e = ERR_NONE;
    struct match_run s;

    (void)state;
    set(&s, LOG_DEBUG);
    assert_true(compare_rules_parse(
        &s.config.rules, STR("{\"ignore_paths\":[\"$.result.a\"],\"include_meta\":true}"), &e));
    assert_true(read_modes(&s, NULL, 0, &e));
    assert_null(s.options.rules.ignore);
    assert_true(s.options.rules.include_meta);
    assert_non_null(strstr(buf_z(&s.output), "ignore_paths '$.result.a' has no effect"));
    unset(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_nothing_is_ignored),
        cmocka_unit_test(a_mode_may_be_for_one_tool),
        cmocka_unit_test(a_bad_mode_is_named),
        cmocka_unit_test(the_number_of_tools_is_limited),
        cmocka_unit_test(a_rule_without_effect_is_reported),
        cmocka_unit_test(rules_about_responses_alone_ignore_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
