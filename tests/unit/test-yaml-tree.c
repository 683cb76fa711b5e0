#include "yaml/yaml-tree.h"

#include "test.h"

enum { SEEN_MAX = 1 << 16 };

/* Lists and maps as in JSON, each scalar with the letter of its type; "@3:7" is a position. */
static void show(struct buf *to, const struct yaml_value *v)
{
    static const char letters[] = "nbifs";

    if (v->type == YAML_TYPE_LIST) {
        buf_add_ch(to, '[');
        for (size_t i = 0; i < v->count; i++) {
            buf_printf(to, "%s", i ? " " : "");
            show(to, v->items[i]);
        }
        buf_add_ch(to, ']');
    } else if (v->type == YAML_TYPE_MAP) {
        buf_add_ch(to, '{');
        for (size_t i = 0; i < v->count; i++) {
            buf_printf(to, "%s%.*s=", i ? " " : "", STR_ARG(v->members[i].key->text));
            show(to, v->members[i].value);
        }
        buf_add_ch(to, '}');
    } else {
        buf_printf(to, "%c%s'%.*s'", letters[v->type], v->quoted ? "q" : "", STR_ARG(v->text));
    }
}

static void check(const char *text, const char *want)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    if (!yaml_tree_parse(&t, str_z(text), "f.yml", &e))
        buf_printf(&seen, "%s", e.msg);
    else if (t.root)
        show(&seen, t.root);
    else
        buf_printf(&seen, "nothing");
    if (!str_eq(buf_str(&seen), str_z(want)))
        fail_msg("%s\ngot:  %s\nwant: %s", text, buf_z(&seen), want);
    buf_release(&seen);
    yaml_tree_release(&t);
}

static void values_become_a_tree(void **state)
{
    (void)state;
    check("", "nothing");
    check("# only a comment\n", "nothing");
    check("a", "s'a'");
    check("a: 1\nb: [yes, ~, 1.5, \"1\", 'x y']\n",
          "{a=i'1' b=[b'yes' n'~' f'1.5' sq'1' sq'x y']}");
    check("{\"a\": {\"b\": []}}", "{a={b=[]}}");
    check("t: |\n  two\n  lines\n", "{t=sq'two\nlines\n'}");
    check("a: !!str 1.0\n", "{a=sq'1.0'}");
    check("a:\n", "{a=n''}");
    check("--- \n1: a\n...\n", "{1=s'a'}");
}

static void values_know_their_position(void **state)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct yaml_value *list;

    (void)state;
    assert_true(yaml_tree_parse(&t, STR("a: 1\nüb:\n  - x\n  - y\n"), "f.yml", &e));
    list = yaml_tree_get(t.root, STR("üb"));
    assert_non_null(list);
    assert_int_equal(list->items[1]->line, 4);
    assert_int_equal(list->items[1]->column, 5);
    assert_null(yaml_tree_get(t.root, STR("c")));
    assert_null(yaml_tree_get(list, STR("a")));
    assert_string_equal(yaml_tree_type_name(list), "a list");
    assert_false(yaml_tree_error(&t, list->items[0], ERR_USAGE, &e, "no %d", 7));
    assert_string_equal(e.msg, "f.yml:3:5: no 7");
    assert_int_equal(e.kind, ERR_USAGE);
    yaml_tree_release(&t);
}

static void aliases_repeat_values(void **state)
{
    (void)state;
    check("a: &x {b: 1}\nc: *x\nd: [*x]\n", "{a={b=i'1'} c={b=i'1'} d=[{b=i'1'}]}");
    check("a: &x 1\nb: &x 2\nc: *x\n", "{a=i'1' b=i'2' c=i'2'}");
    check("a: *x\n", "f.yml:1:4: there is no anchor '&x' for '*x'");
    check("a: &x\n  b: *x\n", "f.yml:2:6: the alias '*x' is inside the value that it repeats");
    check("&x [*x]\n", "f.yml:1:5: the alias '*x' is inside the value that it repeats");
    check("a: &x [1]\n*x : 2\n", "f.yml:2:1: a key must be text, not a list");
}

static void merge_keys_add_members(void **state)
{
    (void)state;
    check("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n",
          "{a={b=i'1' c=i'2'} d={b=i'1' c=i'3'}}");
    check("a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne: {<<: [*x, *y]}\n",
          "{a={b=i'1'} c={b=i'2' d=i'3'} e={b=i'1' d=i'3'}}");
    check("a: {\"<<\": 1}\n", "{a={<<=i'1'}}");
    check("a: {<<: 1}\n", "f.yml:1:5: '<<' takes a map or a list of maps, not a number");
}

static void bad_input_has_a_position(void **state)
{
    (void)state;
    check("a: [1\nb: 2\n",
          "f.yml:2:2: not valid YAML: while parsing a flow sequence, did not find "
          "expected ',' or ']'");
    check("a: b: c\n",
          "f.yml:1:5: not valid YAML: mapping values are not allowed in this context");
    check("a: 1\nb: 2\na: 3\n", "f.yml:3:1: the key 'a' is on line 1 already");
    check("[a]: 1\n", "f.yml:1:1: a key must be text, not a list");
    check("a: 1\n---\nb: 2\n", "f.yml:2:1: a second document begins; one is allowed");
    check("a: !!python/object x\n",
          "f.yml:1:4: the tag 'tag:yaml.org,2002:python/object' is not supported");
    check("a: !map [1]\n", "f.yml:1:4: the tag '!map' is not supported");
    check("a: 1\nb: \xff\n", "f.yml:2:4: not valid YAML: invalid leading UTF-8 octet");
    check("a: \"\\q\"\n",
          "f.yml:1:5: not valid YAML: while parsing a quoted scalar, found unknown "
          "escape character");
}

/* Nine levels of nine aliases each. */
static void aliases_that_explode_are_rejected(void **state)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf text;

    (void)state;
    buf_init(&text, SEEN_MAX);
    buf_printf(&text, "a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (char c = 'b'; c < 'k'; c++) {
        buf_printf(&text, "%c: &%c [", c, c);
        for (int i = 0; i < 9; i++)
            buf_printf(&text, "%s*%c", i ? ", " : "", c - 1);
        buf_printf(&text, "]\n");
    }
    assert_false(yaml_tree_parse(&t, buf_str(&text), "f.yml", &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg,
                        "f.yml:6:20: too many values: 200000 are allowed, with all aliases "
                        "expanded");
    yaml_tree_release(&t);
    buf_release(&text);
}

static void nest(struct buf *text, const char *open, size_t levels)
{
    for (size_t i = 0; i < levels; i++)
        buf_printf(text, "%s", open);
}

static void depth_is_limited(void **state)
{
    static const char *const too_deep = "nested too deeply: 100 levels are allowed";
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    nest(&text, "[", YAML_TREE_DEPTH_MAX);
    nest(&text, "]", YAML_TREE_DEPTH_MAX);
    assert_true(yaml_tree_parse(&t, buf_str(&text), "f.yml", &e));
    assert_int_equal(t.root->depth, YAML_TREE_DEPTH_MAX);
    yaml_tree_release(&t);
    buf_clear(&text);
    nest(&text, "[", 100000);
    assert_false(yaml_tree_parse(&t, buf_str(&text), "f.yml", &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg + strlen("f.yml:1:101: "), too_deep);
    yaml_tree_release(&t);
    buf_clear(&text); /* each line is one level deeper than the one before, by an alias */
    buf_printf(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 200; i++)
        buf_printf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_false(yaml_tree_parse(&t, buf_str(&text), "f.yml", &e));
    assert_string_equal(strchr(e.msg, ' ') + 1, too_deep);
    yaml_tree_release(&t);
    buf_release(&text);
}

static void size_is_limited(void **state)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;

    (void)state;
    assert_false(yaml_tree_parse(&t, str_n("", YAML_TREE_TEXT_MAX + 1), "f.yml", &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg, "'f.yml' is too large: 4 MiB are allowed");
    yaml_tree_release(&t);
}

static bool mark(void *arg, struct yaml_value *string, struct err *e)
{
    struct yaml_tree *t = arg;

    if (str_eq(string->text, STR("stop")))
        return err_set(e, ERR_INPUT, "stopped");
    string->text = arena_printf(&t->arena, "<%.*s>", STR_ARG(string->text));
    return true;
}

static void strings_are_changed_once(void **state)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf seen;

    (void)state;
    buf_init(&seen, 4096);
    assert_true(yaml_tree_parse(&t, STR("k: [&x a, *x, 1, \"b\"]\n"), "f.yml", &e));
    assert_true(yaml_tree_each_string(&t, mark, &t, &e));
    show(&seen, t.root);
    assert_str(buf_str(&seen), STR("{k=[s'<a>' s'<a>' i'1' sq'<b>']}"));
    yaml_tree_release(&t);
    assert_true(yaml_tree_parse(&t, STR("[a, stop, b]"), "f.yml", &e));
    assert_false(yaml_tree_each_string(&t, mark, &t, &e));
    assert_str(t.root->items[2]->text, STR("b"));
    yaml_tree_release(&t);
    buf_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_a_tree),
        cmocka_unit_test(values_know_their_position),
        cmocka_unit_test(aliases_repeat_values),
        cmocka_unit_test(merge_keys_add_members),
        cmocka_unit_test(bad_input_has_a_position),
        cmocka_unit_test(aliases_that_explode_are_rejected),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(strings_are_changed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
