#include "scenario/scenario-file.h"

#include "test.h"

enum { SEEN_MAX = 1 << 16 };

static char key[] = "KEY=secret", port[] = "PORT=80";
static char *env[] = { key, port, NULL };

#define TOP "target: http://h\nscenarios:\n  a:\n    actions:\n"

static void show_expect(struct buf *to, const struct scenario_expect *x)
{
    if (x->is_error != EXPECT_ANY)
        buf_printf(to, " is_error=%d", x->is_error == EXPECT_AN_ERROR);
    for (size_t i = 0; i < x->value_count; i++)
        buf_printf(to, " expect %.*s=%.*s", STR_ARG(x->values[i].path_text),
                   STR_ARG(x->values[i].json));
    for (size_t i = 0; i < x->save_count; i++)
        buf_printf(to, " save %.*s=%.*s", STR_ARG(x->saves[i].name),
                   STR_ARG(x->saves[i].path_text));
}

static void show_list(struct buf *to, const char *name, const struct str_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        buf_printf(to, " %s=%s", name, list->at[i]);
}

static void show_plan(struct buf *to, const struct scenario_plan *p)
{
    buf_printf(to, "%.*s@%u '%.*s'", STR_ARG(p->name), p->line, STR_ARG(p->description));
    show_list(to, "header", &p->headers);
    for (size_t i = 0; i < p->answers.sampling_count; i++)
        buf_printf(to, " sampling=%.*s", STR_ARG(p->answers.sampling[i]));
    for (size_t i = 0; i < p->answers.elicitation_count; i++)
        buf_printf(to, " elicitation=%.*s", STR_ARG(p->answers.elicitation[i]));
    if (p->answers.roots.len)
        buf_printf(to, " roots=%.*s", STR_ARG(p->answers.roots));
    buf_add_ch(to, '\n');
    for (size_t i = 0; i < p->action_count; i++) {
        const struct scenario_action *a = &p->actions[i];

        buf_printf(to, "  %.*s %.*s%s%.*s%s", STR_ARG(a->method), STR_ARG(a->params),
                   a->subject.len ? " #" : "", STR_ARG(a->subject),
                   a->all_pages ? " all pages" : "");
        show_expect(to, &a->expect);
        buf_add_ch(to, '\n');
    }
}

static void show(struct buf *to, const struct scenario_file *f)
{
    if (f->url)
        buf_printf(to, "url %s", f->url);
    for (size_t i = 0; i < f->argc; i++)
        buf_printf(to, "%s%s", i ? " " : "command ", f->argv[i]);
    show_list(to, "env", &f->env);
    if (f->cwd)
        buf_printf(to, " cwd=%s", f->cwd);
    if (f->format)
        buf_printf(to, " format=%s", f->format);
    if (!f->redact_server_url)
        buf_printf(to, " keep-url");
    if (f->redact_defaults)
        buf_printf(to, " defaults");
    if (f->unused_output)
        buf_printf(to, " output@%u", f->unused_output->line);
    show_list(to, "redact", &f->redact_env);
    show_list(to, "pattern", &f->redact_patterns);
    show_list(to, "member", &f->redact_members);
    buf_add_ch(to, '\n');
    for (size_t i = 0; i < f->plan_count; i++)
        show_plan(to, &f->plans[i]);
}

static void check_len(struct str text, const char *want)
{
    struct err e = ERR_NONE;
    struct scenario_file f;
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    if (scenario_file_parse(&f, text, "s.yml", env, &e))
        show(&seen, &f);
    else
        buf_printf(&seen, "%s%s%s", e.msg, e.hint[0] ? " / " : "", e.hint);
    if (!str_eq(buf_str(&seen), str_z(want)))
        fail_msg("%.*s\ngot:  %s\nwant: %s", STR_ARG(text), buf_z(&seen), want);
    buf_release(&seen);
    scenario_file_release(&f);
}

static void check(const char *text, const char *want)
{
    check_len(str_z(text), want);
}

static void a_file_of_mcp_recorder_is_read(void **state)
{
    (void)state;
    check("schema_version: \"1.0\"\n"
          "target: http://localhost:3000\n"
          "output: demo.json\n"
          "redact:\n  server_url: false\n  env: [API_KEY]\n  patterns: [\"sk-[a-z]+\"]\n"
          "scenarios:\n"
          "  basic:\n"
          "    description: \"One\"\n"
          "    actions:\n"
          "      - list_tools\n"
          "      - list_prompts\n"
          "      - list_resources\n"
          "      - call_tool:\n          name: search\n          arguments:\n            n: 1\n"
          "      - call_tool: {name: bare}\n"
          "      - get_prompt: {name: p}\n"
          "      - get_prompt: {name: p, arguments: {}}\n"
          "      - get_prompt: {name: p, arguments: {a: \"b\"}}\n"
          "      - read_resource: {uri: file:///a}\n"
          "  empty:\n    actions: []\n",
          "url http://localhost:3000 keep-url output@3 redact=API_KEY pattern=sk-[a-z]+\n"
          "basic@9 'One'\n"
          "  tools/list {}\n"
          "  prompts/list {}\n"
          "  resources/list {}\n"
          "  tools/call {\"name\":\"search\",\"arguments\":{\"n\":1}} #search\n"
          "  tools/call {\"name\":\"bare\",\"arguments\":{}} #bare\n"
          "  prompts/get {\"name\":\"p\"} #p\n"
          "  prompts/get {\"name\":\"p\"} #p\n"
          "  prompts/get {\"name\":\"p\",\"arguments\":{\"a\":\"b\"}} #p\n"
          "  resources/read {\"uri\":\"file:///a\"} #file:///a\n"
          "empty@24 ''\n");
}

static void a_target_may_be_a_command(void **state)
{
    (void)state;
    check(
        "target: {command: node, args: [a.js, \"${PORT}\"], env: {K: \"${KEY}\"}, cwd: /tmp}\n"
        "x-more: [1]\n"
        "scenarios: {a: {actions: []}}\n",
        "command node a.js 80 env=K=secret cwd=/tmp\na@3 ''\n");
    check("target: {command: node, cwd: null}\nscenarios: {a: {actions: []}}\n",
          "command node\na@2 ''\n");
}

static void more_than_mcp_recorder(void **state)
{
    (void)state;
    check("target: http://h\n"
          "format: recording\n"
          "redact: {members: [m], defaults: true}\n"
          "headers: {Authorization: \"Bearer ${KEY}\"}\n"
          "answers: {sampling: {model: m}, roots: [{uri: file:///r}]}\n"
          "scenarios:\n"
          "  a:\n"
          "    answers: {elicitation: [{action: accept}, {action: decline}]}\n"
          "    headers: {X: y}\n"
          "    actions:\n"
          "      - list_tools: {pages: all, expect: {is_error: false}}\n"
          "      - list_resource_templates:\n"
          "      - ping\n"
          "      - complete:\n"
          "          ref: {type: ref/prompt, name: p}\n"
          "          argument: {name: a, value: b}\n"
          "      - raw: {method: x/y, params: {z: [~]}}\n"
          "      - raw: {method: x/z}\n"
          "  b: {actions: []}\n",
          "url http://h format=recording defaults member=m\n"
          "a@7 '' header=X: y sampling={\"model\":\"m\"} "
          "elicitation={\"action\":\"accept\"} elicitation={\"action\":\"decline\"} "
          "roots={\"roots\":[{\"uri\":\"file:///r\"}]}\n"
          "  tools/list {} all pages is_error=0\n"
          "  resources/templates/list {}\n"
          "  ping \n"
          "  completion/complete {\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},"
          "\"argument\":{\"name\":\"a\",\"value\":\"b\"}}\n"
          "  x/y {\"z\":[null]}\n"
          "  x/z \n"
          "b@19 '' header=Authorization: Bearer secret sampling={\"model\":\"m\"} "
          "roots={\"roots\":[{\"uri\":\"file:///r\"}]}\n");
}

static void values_are_saved_and_expected(void **state)
{
    (void)state;
    check("target: http://h\nscenarios: {a: {action: []}}\n",
          "s.yml:2:17: a scenario has no key 'action' / did you mean 'actions'?");
    check("target: http://h\nscenarios: {a: []}\n",
          "s.yml:2:16: 'a' must be a map, not a list");
    check(TOP "      - call_tool:\n"
              "          name: open\n"
              "          save: {id: $.result.id}\n"
              "      - call_tool:\n"
              "          name: use\n"
              "          arguments: {id: \"{{id}}\"}\n"
              "          expect: {$.result.x: [1, \"{{id}}\"], is_error: yes}\n",
          "url http://h\na@3 ''\n"
          "  tools/call {\"name\":\"open\",\"arguments\":{}} #open save id=$.result.id\n"
          "  tools/call {\"name\":\"use\",\"arguments\":{\"id\":\"{{id}}\"}} #use is_error=1 "
          "expect $.result.x=[1,\"{{id}}\"]\n");
    check(TOP "      - call_tool: {name: \"{{text}}\"}\n",
          "url http://h\na@3 ''\n"
          "  tools/call {\"name\":\"{{text}}\",\"arguments\":{}} #{{text}}\n");
    check(TOP "      - ping: {save: {id: $.x}}\n      - call_tool: {name: \"{{ie}}\"}\n",
          "s.yml:6:27: no action before this one saves a value 'ie' / add it to 'save' of the "
          "action whose response has it");
    check(TOP "      - call_tool: {name: \"{{id}}\", save: {id: $.x}}\n",
          "s.yml:5:27: no action before this one saves a value 'id' / add it to 'save' of the "
          "action whose response has it");
    check(TOP "      - ping: {save: {id: $.x}}\n  b:\n    actions:\n"
              "      - call_tool: {name: \"{{id}}\"}\n",
          "s.yml:8:27: no action before this one saves a value 'id' / add it to 'save' of the "
          "action whose response has it");
    check(TOP "      - ping: {save: {id: $.x}}\n"
              "      - call_tool: {name: t, arguments: {a: [{\"k{{ie}}\": 1}]}}\n",
          "s.yml:6:47: no action before this one saves a value 'ie' / add it to 'save' of the "
          "action whose response has it");
    check(TOP "      - ping: {save: {id: $.x}}\n"
              "      - ping: {expect: {$.x: {\"k{{ie}}\": 1}}}\n",
          "s.yml:6:31: no action before this one saves a value 'ie' / add it to 'save' of the "
          "action whose response has it");
    check(TOP "      - ping: {save: {id: $.x}}\n"
              "      - ping: {expect: {\"$['{{ie}}']\": 1}, save: {b: \"$['{{ie}}']\"}}\n",
          "url http://h\na@3 ''\n  ping  save id=$.x\n"
          "  ping  expect $['{{ie}}']=1 save b=$['{{ie}}']\n");
    check(TOP "      - ping: {save: {a-b: $.x}}\n",
          "s.yml:5:23: 'a-b' is no name for a value: use letters, digits and '_'");
    check(TOP "      - ping: {expect: {is_eror: true}}\n",
          "s.yml:5:25: expect has no key 'is_eror' / did you mean 'is_error'?");
    check(TOP "      - ping: {expect: {\"$.a[\": true}}\n",
          "s.yml:5:25: bad path '$.a[': expected an index, a quoted name or '*' at byte 5 / a "
          "path "
          "starts at the response: $.result.content[0].text");
}

static void the_version_is_text(void **state)
{
    static const char *const rest = "target: http://h\nscenarios: {a: {actions: []}}\n";
    struct buf text;

    (void)state;
    buf_init(&text, SEEN_MAX);
    buf_printf(&text, "schema_version: 1.0\n%s", rest);
    check(buf_z(&text), "s.yml:1:17: 'schema_version' must be text, not a number / write it in "
                        "quotes: \"1.0\"");
    buf_clear(&text);
    buf_printf(&text, "schema_version: \"2.0\"\n%s", rest);
    check(buf_z(&text),
          "s.yml:1:17: the schema_version '2.0' is not supported / this version of "
          "mcpreel reads 1.x");
    buf_clear(&text);
    buf_printf(&text, "schema_version: \"1\"\n%s", rest);
    check(buf_z(&text), "url http://h\na@3 ''\n");
    buf_release(&text);
}

static void the_keys_of_the_file_are_checked(void **state)
{
    (void)state;
    check("", "s.yml:1:1: a scenarios file is a map, not empty / it has the keys 'target' and "
              "'scenarios'");
    check("- a\n",
          "s.yml:1:1: a scenarios file is a map, not a list / it has the keys 'target' "
          "and 'scenarios'");
    check("scenarios: {}\n", "s.yml:1:1: there is no key 'target'");
    check("target: http://h\n", "s.yml:1:1: there is no key 'scenarios'");
    check("target: http://h\nscenarios: {}\n", "s.yml:2:12: there are no scenarios");
    check("target: http://h\nscenario: {}\n",
          "s.yml:2:1: a scenarios file has no key 'scenario' / did you mean 'scenarios'?");
    check("target: http://${HOST}\nscenarios: {}\n",
          "s.yml:1:9: the environment variable 'HOST' is not set / set it, or give a default: "
          "${HOST:-default}");
    check("target: http://h\nscenarios: {a: {actions: []}}\nheaders: {A: 1}\n",
          "s.yml:3:14: 'A' must be text, not a number / write it in quotes: \"1\"");
    check("target: {command: x}\nheaders: {A: b}\nscenarios: {a: {actions: []}}\n",
          "s.yml:2:10: 'headers' go with a URL, not with a command");
    check(
        "target: http://h\nredact: {urls: true}\nscenarios: {}\n",
        "s.yml:2:10: redact has no key 'urls' / its keys: server_url, env, patterns, members, "
        "defaults");
    check("target: http://h\nredact: {server_url: 1}\nscenarios: {}\n",
          "s.yml:2:22: 'server_url' must be true or false, not a number");
}

static void a_target_is_a_url_or_a_command(void **state)
{
    static const char *const hint = " / write 'target: http://localhost:3000', or 'target: "
                                    "{command: node, args: [server.js]}'";
    struct buf want;

    (void)state;
    buf_init(&want, SEEN_MAX);
    buf_printf(&want, "s.yml:1:9: 'target' must be a URL or a map with 'command', not a list%s",
               hint);
    check("target: [a]\nscenarios: {}\n", buf_z(&want));
    buf_clear(&want);
    buf_printf(&want, "s.yml:1:9: 'target' must be a URL or a map with 'command'%s", hint);
    check("target: node server.js\nscenarios: {}\n", buf_z(&want));
    buf_release(&want);
    check("target: {args: []}\nscenarios: {}\n", "s.yml:1:9: 'target' has no 'command'");
    check("target: {command: \"\"}\nscenarios: {}\n", "s.yml:1:19: 'command' is empty");
    check("target: {command: x, args: [1]}\nscenarios: {}\n",
          "s.yml:1:29: 'args' must be text, not a number / write it in quotes: \"1\"");
    check("target: {command: x, env: {A: true}}\nscenarios: {}\n",
          "s.yml:1:31: 'A' must be text, not a boolean / write it in quotes: \"true\"");
    check("target: {command: x, env: {A=B: c}}\nscenarios: {}\n",
          "s.yml:1:28: 'env' has an invalid name");
    check("target: {command: \"a\\0b\"}\nscenarios: {}\n",
          "s.yml:1:19: 'command' contains a NUL");
    check("target: {comand: x}\nscenarios: {}\n",
          "s.yml:1:10: target has no key 'comand' / did you mean 'command'?");
}

static void actions_are_checked(void **state)
{
    (void)state;
    check(TOP "      - list_tool\n",
          "s.yml:5:9: there is no action 'list_tool' / did you mean 'list_tools'?");
    check(TOP "      - 7\n",
          "s.yml:5:9: an action is a name or a map with one key, not a number");
    check(
        TOP "      - call_tool:\n        name: x\n",
        "s.yml:5:9: an action is a name or a map with one key, not a map with several / indent "
        "the keys of 'call_tool' below it");
    check(TOP "      - call_tool\n", "s.yml:5:9: 'call_tool' has no 'name'");
    check(TOP "      - call_tool: {arguments: {}}\n", "s.yml:5:20: 'call_tool' has no 'name'");
    check(TOP "      - call_tool: {name: x, argumets: {}}\n",
          "s.yml:5:30: call_tool has no key 'argumets' / did you mean 'arguments'?");
    check(TOP "      - call_tool: {name: x, arguments: [1]}\n",
          "s.yml:5:41: 'arguments' must be a map, not a list");
    check(TOP "      - call_tool: {name: x, pages: all}\n",
          "s.yml:5:30: call_tool has no key 'pages' / its keys: expect, save, name, arguments");
    check(TOP "      - list_tools: {pages: 3}\n", "s.yml:5:29: 'pages' can only be 'all'");
    check(TOP "      - call_tool: {name: x, arguments: {a: .inf}}\n",
          "s.yml:5:45: '.inf': JSON has no such number; write it in quotes if it is text");
    check(TOP "      - raw: {method: x, params: 1}\n",
          "s.yml:5:34: 'params' must be a map or a list, not a number");
    check("target: http://h\nscenarios: {a: {}}\n", "s.yml:2:13: 'a' has no 'actions'");
    check(
        "target: http://h\nscenarios: {a/b: {actions: []}}\n",
        "s.yml:2:13: a scenario cannot have the name 'a/b' / it becomes the name of a file: no "
        "'/', no '.' in front, at most 200 bytes");
    check("target: http://h\nanswers: {sampling: 1}\nscenarios: {}\n",
          "s.yml:2:21: 'sampling' must be a map or a list of maps, not a number");
}

static void scenarios_are_found_by_name(void **state)
{
    struct err e = ERR_NONE;
    struct scenario_file f;

    (void)state;
    assert_true(scenario_file_parse(
        &f, STR("target: http://h\nscenarios: {a: {actions: []}, b: {actions: []}}\n"), "s.yml",
        env, &e));
    assert_ptr_equal(scenario_file_find(&f, "b", &e), &f.plans[1]);
    assert_null(scenario_file_find(&f, "c", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "'s.yml' has no scenario 'c'");
    assert_string_equal(e.hint, "it has: a, b");
    scenario_file_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_mcp_recorder_is_read),
        cmocka_unit_test(a_target_may_be_a_command),
        cmocka_unit_test(more_than_mcp_recorder),
        cmocka_unit_test(values_are_saved_and_expected),
        cmocka_unit_test(the_version_is_text),
        cmocka_unit_test(the_keys_of_the_file_are_checked),
        cmocka_unit_test(a_target_is_a_url_or_a_command),
        cmocka_unit_test(actions_are_checked),
        cmocka_unit_test(scenarios_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
