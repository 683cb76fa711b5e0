#include "base/text-wrap.h"

#include "test.h"

#define TEN "ten bytes, "

static void text_is_wrapped_at_eighty_columns(void **state)
{
    struct buf b;
    (void)state;

    buf_init(&b, 1000);
    text_wrap_fill(&b, STR(TEN TEN TEN TEN TEN TEN TEN "78"),
                   (struct text_wrap_shape){ 80, 0, 0 });
    assert_str(buf_str(&b), STR(TEN TEN TEN TEN TEN TEN TEN "78\n"));
    buf_clear(&b);
    text_wrap_fill(&b, STR(TEN TEN TEN TEN TEN TEN TEN "789 x"),
                   (struct text_wrap_shape){ 80, 4, 0 });
    assert_str(buf_str(&b), STR(TEN TEN TEN TEN TEN TEN TEN "789\n    x\n"));
    buf_clear(&b);
    text_wrap_fill(&b, STR(TEN TEN TEN TEN TEN TEN TEN "7890"),
                   (struct text_wrap_shape){ 80, 4, 0 });
    assert_true(str_ends(buf_str(&b), STR("ten bytes,\n    7890\n")));
    buf_clear(&b);
    text_wrap_fill(&b, STR("a\nb   c "), (struct text_wrap_shape){ 80, 2, 77 });
    assert_str(buf_str(&b), STR("a b\n  c\n"));
    buf_release(&b);
}

static void a_word_longer_than_a_line_is_not_split(void **state)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
                               "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    struct buf b;
    (void)state;

    buf_init(&b, 1000);
    text_wrap_fill(&b, STR(word), (struct text_wrap_shape){ 80, 0, 70 });
    assert_str(str_trim(buf_str(&b)), STR(word));
    buf_release(&b);
}

static void width_is_counted_in_characters(void **state)
{
    (void)state;
    assert_int_equal(text_wrap_columns(STR("")), 0);
    assert_int_equal(text_wrap_columns(STR("abc")), 3);
    assert_int_equal(text_wrap_columns(STR("é…😀")), 3);
}

static void paragraphs_are_wrapped_and_tables_are_not(void **state)
{
    static const char text[] = "\none\ntwo\n\n\n  a   table\n  b\n\nthree\n";
    struct buf b;
    (void)state;

    buf_init(&b, 1000);
    text_wrap_add(&b, STR(text));
    assert_str(buf_str(&b), STR("one two\n\n  a   table\n  b\n\nthree\n"));
    buf_clear(&b);
    text_wrap_add(&b, STR(""));
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_wrapped_at_eighty_columns),
        cmocka_unit_test(a_word_longer_than_a_line_is_not_split),
        cmocka_unit_test(width_is_counted_in_characters),
        cmocka_unit_test(paragraphs_are_wrapped_and_tables_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
