#include "json/path.h"

#include "test.h"

static struct json doc;
static struct arena arena;

static struct json_val given(struct str text)
{
    struct json_fault fault;

    assert_true(json_scan(&doc, text, &fault));
    return json_root(&doc);
}

static struct json_path compiled(const char *text)
{
    struct err e = ERR_NONE;
    struct json_path p;

    if (!json_path_compile(&p, str_z(text), &arena, &e))
        fail_msg("%s", e.msg);
    return p;
}

static void refused(const char *text, const char *why)
{
    struct err e = ERR_NONE;
    struct json_path p;

    assert_false(json_path_compile(&p, str_z(text), &arena, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, why);
}

static bool note(void *arg, struct json_location place, struct json_val value)
{
    struct buf *to = arg;

    json_location_write(place, to);
    buf_add_ch(to, '=');
    buf_add(to, json_raw(value));
    buf_add_ch(to, ' ');
    return true;
}

static void selects(const char *path, const char *want)
{
    struct json_path p = compiled(path);
    struct buf b;

    buf_init(&b, 10000);
    assert_true(json_path_select(&p, json_root(&doc), note, &b));
    assert_str(str_trim(buf_str(&b)), str_z(want));
    buf_release(&b);
}

static void patterns_select_values(void **state)
{
    (void)state;
    given(STR("{\"a\":{\"b\":[10,{\"b\":1},[2]]},\"a b\":3,\"c\":[],\"\":4}"));
    selects("$.a.b[0]", "$.a.b[0]=10");
    selects("$.a.b[1].b", "$.a.b[1].b=1");
    selects("$['a b']", "$['a b']=3");
    selects("$[\"a\"][\"b\"][2][0]", "$.a.b[2][0]=2");
    selects("$['']", "$['']=4");
    selects("$.a.b[*]", "$.a.b[0]=10 $.a.b[1]={\"b\":1} $.a.b[2]=[2]");
    selects("$.a.*[0]", "$.a.b[0]=10");
    selects("$.c[*]", "");
    selects("$.a.b.b", "");
    selects("$.a[0]", "");
    selects("$.none", "");
    selects("$.a.b[3]", "");
    selects("$..b", "$.a.b=[10,{\"b\":1},[2]] $.a.b[1].b=1");
    selects("$..b..b", "$.a.b[1].b=1");
    selects("$..[0]", "$.a.b[0]=10 $.a.b[2][0]=2");
    selects("$..['a b']", "$['a b']=3");
    selects("$.*", "$.a={\"b\":[10,{\"b\":1},[2]]} $['a b']=3 $.c=[] $['']=4");
    selects("$.a..*", "$.a.b=[10,{\"b\":1},[2]] $.a.b[0]=10 $.a.b[1]={\"b\":1} "
                      "$.a.b[1].b=1 $.a.b[2]=[2] $.a.b[2][0]=2");
    given(STR("7"));
    selects("$", "$=7");
    selects("$.a", "");
    selects("$..*", "");
}

static void names_match_decoded_and_in_all_duplicates(void **state)
{
    (void)state;
    given(STR("{\"\\u0061\":1,\"a\":2,\"it's\":3,\"\\n\\\"\":4,\"caf\xC3\xA9\":5,\"\\ud83d\":6,"
              "\"io.x/y\":7,\"x-y_$1\":8}"));
    selects("$.a", "$.a=1 $.a=2");
    selects("$['it\\'s']", "$[\"it's\"]=3");
    selects("$[\"it's\"]", "$[\"it's\"]=3");
    selects("$['\\n\"']", "$[\"\\n\\\"\"]=4");
    selects("$['\\u000a\\\"']", "$[\"\\n\\\"\"]=4");
    selects("$.caf\xC3\xA9", "$[\"caf\xC3\xA9\"]=5");
    selects("$['caf\\u00e9']", "$[\"caf\xC3\xA9\"]=5");
    selects("$['\\ud83d']", "$[\"\\ud83d\"]=6");
    selects("$['io.x/y']", "$['io.x/y']=7");
    selects("$.x-y_$1", "$.x-y_$1=8");
}

static void bad_patterns_are_rejected_with_the_position(void **state)
{
    (void)state;
    refused("", "bad path '': expected '$' at byte 1");
    refused("a.b", "bad path 'a.b': expected '$' at byte 1");
    refused("$a", "bad path '$a': expected '.' or '[' at byte 2");
    refused("$.", "bad path '$.': expected a name or '*' at byte 3");
    refused("$.a.", "bad path '$.a.': expected a name or '*' at byte 5");
    refused("$...a", "bad path '$...a': expected a name or '*' at byte 4");
    refused("$.a b", "bad path '$.a b': expected '.' or '[' at byte 4");
    refused("$[", "bad path '$[': expected an index, a quoted name or '*' at byte 3");
    refused("$[]", "bad path '$[]': expected an index, a quoted name or '*' at byte 3");
    refused("$[-1]", "bad path '$[-1]': expected an index, a quoted name or '*' at byte 3");
    refused("$[1", "bad path '$[1': expected ']' at byte 4");
    refused("$[1x]", "bad path '$[1x]': expected ']' at byte 4");
    refused("$[99999999999999999999]", "bad path '$[99999999999999999999]': index too large "
                                       "at byte 10");
    refused("$['a", "bad path '$['a': unterminated name at byte 3");
    refused("$['a\\", "bad path '$['a\\': unterminated name at byte 3");
    refused("$['\\x']", "bad path '$['\\x']': no such escape at byte 3");
    refused("$['\xFF']", "bad path '$['\xFF']': not UTF-8 at byte 3");
    refused("$['a'", "bad path '$['a'': expected ']' at byte 6");
    refused("$.a..", "bad path '$.a..': expected a name or '*' at byte 6");
}

static void a_pattern_has_a_limit_of_parts(void **state)
{
    char text[2 * (JSON_PATH_MAX + 1) + 2] = "$";
    struct json_path p;
    struct err e = ERR_NONE;

    (void)state;
    for (size_t i = 0; i < JSON_PATH_MAX; i++)
        memcpy(text + 1 + 2 * i, ".a", 3);
    assert_true(json_path_compile(&p, str_z(text), &arena, &e));
    memcpy(text + 1 + 2 * JSON_PATH_MAX, ".a", 3);
    assert_false(json_path_compile(&p, str_z(text), &arena, &e));
    assert_non_null(strstr(e.msg, "too many parts at byte 128"));
}

/* For every value below: its place as text, compiled, matches that place alone. */
static bool check_round_trip(void *arg, struct json_location place, struct json_val value)
{
    struct buf b, all;
    struct json_path p;
    struct err e = ERR_NONE;

    (void)arg;
    buf_init(&b, 10000);
    buf_init(&all, 10000);
    json_location_write(place, &b);
    json_location_write_inside(json_root(&doc), value, &all);
    assert_str(buf_str(&all), buf_str(&b));
    buf_clear(&all);
    assert_true(json_path_compile(&p, buf_str(&b), &arena, &e));
    assert_true(json_path_matches(&p, place));
    if (place.count)
        assert_false(
            json_path_matches(&p, (struct json_location){ place.steps, place.count - 1 }));
    json_path_select(&p, json_root(&doc), note, &all);
    buf_add_ch(&b, '=');
    buf_add(&b, json_raw(value));
    buf_add_ch(&b, ' ');
    assert_str(buf_str(&all), buf_str(&b));
    buf_release(&b);
    buf_release(&all);
    return true;
}

static void the_path_of_a_value_as_pattern_matches_it_alone(void **state)
{
    struct json_path every = compiled("$..*");

    (void)state;
    given(STR("{\"a\":[{\"b.c\":1,\"d'e\":2,\"\\\"\":3,\"\\\\\":4,\"'\\\"\":5},[[6]]],\"\":7,"
              "\"\\u0000\\u007f\":8,\"\\udc00x\":9,\"$\":10,\"*\":11,\"[0]\":12,\"0\":13,"
              "\"\\u2028\":14,\"caf\xC3\xA9\":15,\"a\\tb\":16,\"x y\":{\"..\":17}}"));
    assert_true(json_path_select(&every, json_root(&doc), check_round_trip, NULL));
}

static void a_path_is_relative_to_its_root(void **state)
{
    struct json_val root = given(STR("{\"a\":[0,{\"b\":1}],\"c\":2}"));
    struct json_val a = json_get(root, STR("a"));
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    json_location_write_inside(a, json_get(json_item(a, 1), STR("b")), &b);
    assert_str(buf_str(&b), STR("$[1].b"));
    buf_clear(&b);
    json_location_write_inside(a, json_get(root, STR("c")), &b); /* not inside */
    json_location_write_inside(a, a, &b);
    json_location_write_inside(JSON_VAL_NONE, a, &b);
    assert_str(buf_str(&b), STR("$$$"));
    buf_release(&b);
}

static void a_pattern_covers_values_below_its_matches(void **state)
{
    const struct json_step steps[] = { { .name = STR("a") },
                                       { .is_index = true, .index = 3 },
                                       { .name = STR("b") } };
    struct json_path p = compiled("$.a[*]"), deep = compiled("$..b"), root = compiled("$");
    struct json_path other = compiled("$.b");

    (void)state;
    for (size_t n = 0; n <= 3; n++) {
        struct json_location place = { steps, n };
        assert_int_equal(json_path_covers(&p, place), n >= 2);
        assert_int_equal(json_path_matches(&p, place), n == 2);
        assert_int_equal(json_path_covers(&deep, place), n == 3);
        assert_true(json_path_covers(&root, place));
        assert_int_equal(json_path_matches(&root, place), n == 0);
        assert_false(json_path_covers(&other, place));
    }
}

static bool stop_at_second(void *arg, struct json_location place, struct json_val value)
{
    (void)place;
    (void)value;
    return ++*(int *)arg < 2;
}

static void the_search_ends_when_the_callback_returns_false(void **state)
{
    struct json_path p = compiled("$[*]");
    int n = 0;

    (void)state;
    given(STR("[1,2,3]"));
    assert_false(json_path_select(&p, json_root(&doc), stop_at_second, &n));
    assert_int_equal(n, 2);
    assert_true(json_path_select(&p, JSON_VAL_NONE, stop_at_second, &n));
    assert_int_equal(n, 2);
}

static bool count(void *arg, struct json_location place, struct json_val value)
{
    (void)place;
    (void)value;
    ++*(size_t *)arg;
    return true;
}

/* A search that tries every way through such a pattern would never end. */
static void open_patterns_on_deep_values_stay_linear(void **state)
{
    struct json_path p = compiled("$..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..*");
    struct buf b;
    size_t n = 0;

    (void)state;
    buf_init(&b, 1 << 20);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add(&b, STR("{\"a\":"));
    buf_add_ch(&b, '1');
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add(&b, STR(",\"b\":1}"));
    given(buf_str(&b));
    assert_true(json_path_select(&p, json_root(&doc), count, &n));
    assert_int_equal(n, 2 * (JSON_MAX_DEPTH - 16));
    buf_release(&b);
}

static void a_pattern_is_matched_step_by_step(void **state)
{
    const struct json_step a = { .name = STR("a") }, first = { .is_index = true, .index = 0 },
                           second = { .is_index = true, .index = 1 };
    struct json_path exact = compiled("$.a[0]"), deep = compiled("$..a"), root = compiled("$");
    uint64_t state_a = json_path_advance(&exact, JSON_PATH_START, &a);

    (void)state;
    assert_true(json_path_has_matched(&root, JSON_PATH_START));
    assert_false(json_path_has_matched(&exact, JSON_PATH_START));
    assert_false(json_path_has_matched(&exact, state_a));
    assert_true(json_path_has_matched(&exact, json_path_advance(&exact, state_a, &first)));
    assert_int_equal(json_path_advance(&exact, state_a, &second), 0);
    assert_true(json_path_has_matched(&exact, json_path_advance(&exact, state_a, &first) |
                                                  json_path_advance(&exact, state_a, &second)));
    state_a = json_path_advance(&deep, json_path_advance(&deep, JSON_PATH_START, &first), &a);
    assert_true(json_path_has_matched(&deep, state_a));
    assert_false(json_path_has_matched(&deep, json_path_advance(&deep, state_a, &first)));
}

static int release(void **state)
{
    (void)state;
    json_release(&doc);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_select_values),
        cmocka_unit_test(names_match_decoded_and_in_all_duplicates),
        cmocka_unit_test(bad_patterns_are_rejected_with_the_position),
        cmocka_unit_test(a_pattern_has_a_limit_of_parts),
        cmocka_unit_test(the_path_of_a_value_as_pattern_matches_it_alone),
        cmocka_unit_test(a_path_is_relative_to_its_root),
        cmocka_unit_test(a_pattern_covers_values_below_its_matches),
        cmocka_unit_test(a_pattern_is_matched_step_by_step),
        cmocka_unit_test(the_search_ends_when_the_callback_returns_false),
        cmocka_unit_test(open_patterns_on_deep_values_stay_linear),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
