#include "cmd/leaks.h"

#include "test.h"

static void hit(struct leaks *l, enum record_kind kind, const char *member, const char *pointer,
                const char *what)
{
    struct record r = { .kind = kind, .has = HAS_SEQ, .message = { .seq = 4 } };
    struct redactor_hit h = {
        .record = &r, .member = member, .pointer = str_z(pointer), .what = what, .index = 6
    };

    l->watch.hit(&l->watch, &h);
}

static void places_are_told_in_words_and_as_json(void **state)
{
    struct leaks l;
    struct buf b;
    struct json_out o = json_out_to(&b);

    (void)state;
    leaks_init(&l);
    buf_init(&b, 1 << 12);
    hit(&l, RECORD_MESSAGE, "msg", "/params/\x1b[1m", "KEY");
    hit(&l, RECORD_STDERR, "text", "", "jwt");
    leaks_add(&b, &l);
    assert_string_equal(buf_z(&b), "  message 4, /params/\\x1b[1m: KEY\n"
                                   "  record 7 (stderr), text: jwt\n");
    buf_clear(&b);
    leaks_json(&o, &l);
    assert_string_equal(
        buf_z(&b), "[{\"record\":7,\"type\":\"message\",\"seq\":4,\"member\":\"msg\","
                   "\"pointer\":\"/params/\\u001b[1m\",\"what\":\"KEY\"},"
                   "{\"record\":7,\"type\":\"stderr\",\"member\":\"text\",\"what\":\"jwt\"}]");
    buf_release(&b);
    leaks_release(&l);
}

static void only_so_many_are_kept_but_all_are_counted(void **state)
{
    struct leaks l;
    struct buf b;

    (void)state;
    leaks_init(&l);
    buf_init(&b, 1 << 20);
    for (int i = 0; i < LEAKS_KEPT + 5; i++)
        hit(&l, RECORD_RAW, "text", "", "jwt");
    assert_int_equal(l.count, LEAKS_KEPT + 5);
    leaks_add(&b, &l);
    assert_true(str_ends(buf_str(&b), STR("\n  and 5 more\n")));
    buf_release(&b);
    leaks_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_told_in_words_and_as_json),
        cmocka_unit_test(only_so_many_are_kept_but_all_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
