#include "json/canonical.h"

#include "terse.h"
#include "test.h"

static void check(const char *text, const char *want)
{
    struct terse_scanned s;
    struct arena a = { 0 };
    struct buf b;

    buf_init(&b, 1 << 16);
    json_canonical_write(&b, terse_scan(&s, text), 0);
    assert_str(buf_str(&b), terse_json(&a, want));
    buf_release(&b);
    terse_scanned_release(&s);
    arena_release(&a);
}

static void members_are_sorted_and_the_last_of_duplicates_counts(void **state)
{
    (void)state;
    check("{'b':1,'a':{'d':[],'c':{}},'b':2}",
          "{\n  'a': {\n    'c': {},\n    'd': []\n  },\n  'b': 2\n}");
}

static void elements_and_numbers_stay_as_they_are(void **state)
{
    (void)state;
    check("[2,1.0,true,null]", "[\n  2,\n  1.0,\n  true,\n  null\n]");
}

static void a_string_has_one_spelling_and_shows_what_is_hidden(void **state)
{
    (void)state;
    check("'`u0061`/é'", "'a/é'");
    check("'a\xe2\x80\x8b"
          "b\xe2\x80\xae'",
          "'a`u200bb`u202e'");
}

static void the_depth_indents_later_lines(void **state)
{
    struct terse_scanned s;
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 16);
    json_canonical_write(&b, terse_scan(&s, "[1]"), 2);
    assert_str(buf_str(&b), STR("[\n      1\n    ]"));
    buf_release(&b);
    terse_scanned_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_sorted_and_the_last_of_duplicates_counts),
        cmocka_unit_test(elements_and_numbers_stay_as_they_are),
        cmocka_unit_test(a_string_has_one_spelling_and_shows_what_is_hidden),
        cmocka_unit_test(the_depth_indents_later_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
