#include "cmd/option-value.h"

#include <inttypes.h>

#include "test.h"

/* A field of any type. */
union field {
    bool flag;
    int n;
    const char *text;
    int64_t i;
    uint64_t u;
    struct str_list list;
};

struct seen_row {
    const char *text;
    int64_t want;
    const char *error; /* NULL: it is taken */
};

static int64_t value_of(enum option_type type, const union field *f)
{
    switch (type) {
    case OPTION_FLAG:
        return f->flag;
    case OPTION_COUNT:
    case OPTION_CHOICE:
        return f->n;
    case OPTION_SIZE:
        return (int64_t)f->u;
    default:
        return f->i;
    }
}

static void check_rows(const struct option *o, const struct seen_row *rows, size_t count)
{
    struct arena a = { 0 };

    for (size_t i = 0; i < count; i++) {
        union field f = { .i = 0 };
        struct err e = ERR_NONE;
        bool ok = option_value_set(o, &f, rows[i].text, &a, &e);

        if (ok != !rows[i].error)
            fail_msg("'%s' was %s: %s", rows[i].text, ok ? "taken" : "refused", e.msg);
        if (ok && value_of(o->type, &f) != rows[i].want)
            fail_msg("'%s': got %" PRId64, rows[i].text, value_of(o->type, &f));
        if (ok)
            assert_int_equal(e.kind, ERR_OK);
        if (!ok) {
            assert_int_equal(e.kind, ERR_USAGE);
            assert_string_equal(e.msg, rows[i].error);
            assert_int_equal(value_of(o->type, &f), 0);
        }
    }
    arena_release(&a);
}

#define CHECK_ROWS(o, rows) check_rows(&(o), rows, sizeof(rows) / sizeof((rows)[0]))

static void a_flag_accepts_the_usual_words(void **state)
{
    static const struct option o = { .name = "x", .type = OPTION_FLAG };
    static const struct seen_row rows[] = {
        { "1", 1, NULL },
        { "true", 1, NULL },
        { "YES", 1, NULL },
        { "on", 1, NULL },
        { "0", 0, NULL },
        { "False", 0, NULL },
        { "no", 0, NULL },
        { "off", 0, NULL },
        { "2", 0, "'2' is neither true nor false" },
        { "maybe", 0, "'maybe' is neither true nor false" },
    };
    (void)state;
    CHECK_ROWS(o, rows);
}

static void a_count_is_a_small_number(void **state)
{
    static const struct option o = { .name = "x", .type = OPTION_COUNT };
    static const struct seen_row rows[] = {
        { "0", 0, NULL },
        { "2", 2, NULL },
        { "9", 9, NULL },
        { "10", 0, "'10' is not a number from 0 to 9" },
        { "-1", 0, "'-1' is not a number from 0 to 9" },
        { "true", 0, "'true' is not a number from 0 to 9" },
    };
    (void)state;
    CHECK_ROWS(o, rows);
}

static void an_integer_must_be_in_its_range(void **state)
{
    static const struct option any = { .name = "x", .type = OPTION_INT };
    static const struct option port = {
        .name = "x", .type = OPTION_INT, .min = 1, .max = 65535
    };
    static const struct seen_row any_rows[] = {
        { "0", 0, NULL },
        { "-5", -5, NULL },
        { "9223372036854775807", INT64_MAX, NULL },
        { "9223372036854775808", 0, "'9223372036854775808' is not a whole number" },
        { "", 0, "'' is not a whole number" },
        { "-", 0, "'-' is not a whole number" },
        { " 1", 0, "' 1' is not a whole number" },
        { "+1", 0, "'+1' is not a whole number" },
        { "1 ", 0, "'1 ' is not a whole number" },
        { "0x10", 0, "'0x10' is not a whole number" },
        { "1.5", 0, "'1.5' is not a whole number" },
    };
    static const struct seen_row port_rows[] = {
        { "1", 1, NULL },
        { "65535", 65535, NULL },
        { "0", 0, "'0' is not from 1 to 65535" },
        { "65536", 0, "'65536' is not from 1 to 65535" },
        { "-1", 0, "'-1' is not from 1 to 65535" },
    };
    (void)state;
    CHECK_ROWS(any, any_rows);
    CHECK_ROWS(port, port_rows);
}

static void a_size_has_the_units_of_gnu_tools(void **state)
{
    static const struct option o = { .name = "x", .type = OPTION_SIZE };
    static const struct seen_row rows[] = {
        { "0", 0, NULL },
        { "4096", 4096, NULL },
        { "7b", 7, NULL },
        { "64MB", 64000000, NULL },
        { "64mb", 64000000, NULL },
        { "64M", 64 << 20, NULL },
        { "64MiB", 64 << 20, NULL },
        { "2k", 2048, NULL },
        { "2kB", 2000, NULL },
        { "1.5K", 1536, NULL },
        { "1G", 1 << 30, NULL },
        { "1gib", 1 << 30, NULL },
        { "0.5GB", 500000000, NULL },
        { "18446744073709551615", -1, NULL },
        { "18446744073709551616", 0,
          "'18446744073709551616' is not a size such as 4096, 64MB or 1GiB" },
        { "18014398509481984k", 0,
          "'18014398509481984k' is not a size such as 4096, 64MB or 1GiB" },
        { "", 0, "'' is not a size such as 4096, 64MB or 1GiB" },
        { "-1", 0, "'-1' is not a size such as 4096, 64MB or 1GiB" },
        { "MB", 0, "'MB' is not a size such as 4096, 64MB or 1GiB" },
        { "1.MB", 0, "'1.MB' is not a size such as 4096, 64MB or 1GiB" },
        { "1 MB", 0, "'1 MB' is not a size such as 4096, 64MB or 1GiB" },
        { "1T", 0, "'1T' is not a size such as 4096, 64MB or 1GiB" },
    };
    (void)state;
    CHECK_ROWS(o, rows);
}

static void a_duration_needs_its_unit(void **state)
{
    static const struct option o = { .name = "x", .type = OPTION_DURATION };
    static const struct seen_row rows[] = {
        { "0", 0, NULL },
        { "500ms", 500000, NULL },
        { "1s", 1000000, NULL },
        { "2.5s", 2500000, NULL },
        { "0.0000019s", 1, NULL },
        { "7us", 7, NULL },
        { "5min", 300000000, NULL },
        { "5m", 300000000, NULL },
        { "1h", 3600000000, NULL },
        { "0ms", 0, NULL },
        { "5", 0, "'5' is not a time such as 500ms, 1s or 5min" },
        { "1y", 0, "'1y' is not a time such as 500ms, 1s or 5min" },
        { "-1s", 0, "'-1s' is not a time such as 500ms, 1s or 5min" },
        { "s", 0, "'s' is not a time such as 500ms, 1s or 5min" },
        { "9223372036854775808us", 0,
          "'9223372036854775808us' is not a time such as 500ms, 1s or 5min" },
        { "9999999999999h", 0, "'9999999999999h' is not a time such as 500ms, 1s or 5min" },
    };
    (void)state;
    CHECK_ROWS(o, rows);
}

static const struct option_choice colors[] = {
    { "red", 3, false }, { "green", 7, false }, { "verde", 7, true }, { 0 }
};

static void a_choice_is_a_listed_word_or_its_alias(void **state)
{
    static const struct option o = { .name = "x", .type = OPTION_CHOICE, .choices = colors };
    static const struct seen_row rows[] = {
        { "red", 3, NULL },
        { "green", 7, NULL },
        { "verde", 7, NULL },
        { "Red", 0, "'Red' is not one of red, green" },
        { "", 0, "'' is not one of red, green" },
    };
    (void)state;
    CHECK_ROWS(o, rows);
}

static void a_misspelled_choice_gets_a_suggestion(void **state)
{
    struct err e = ERR_NONE;
    int value = 0;
    (void)state;

    assert_false(option_value_choose(colors, "gren", &value, &e));
    assert_string_equal(e.hint, "did you mean 'green'?");
    assert_false(option_value_choose(colors, "mauve", &value, &e));
    assert_string_equal(e.hint, "");
}

static void a_path_is_any_nonempty_text(void **state)
{
    static const struct option o = { .name = "x", .type = OPTION_PATH };
    static const char name[] = "-";
    union field f = { .text = NULL };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    (void)state;

    assert_true(option_value_set(&o, &f, name, &a, &e));
    assert_ptr_equal(f.text, name);
    assert_false(option_value_set(&o, &f, "", &a, &e));
    assert_string_equal(e.msg, "the name of a file cannot be empty");
    assert_ptr_equal(f.text, name);
    arena_release(&a);
}

static void check_list(struct str_list list, const char *const *want, size_t count)
{
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(list.at[i], want[i]);
}

static void a_list_grows_and_may_split_at_commas(void **state)
{
    static const struct option whole = { .name = "x", .type = OPTION_LIST };
    static const struct option split = { .name = "x", .type = OPTION_LIST, .split = true };
    union field f = { .list = { NULL, 0 } }, g = f;
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    (void)state;

    assert_true(option_value_set(&whole, &f, "a{1,2}", &a, &e));
    assert_true(option_value_set(&whole, &f, "", &a, &e));
    check_list(f.list, (const char *const[]){ "a{1,2}", "" }, 2);
    assert_true(option_value_set(&split, &g, "a, b,,c,", &a, &e));
    assert_true(option_value_set(&split, &g, ",", &a, &e));
    assert_true(option_value_set(&split, &g, "d", &a, &e));
    check_list(g.list, (const char *const[]){ "a", "b", "c", "d" }, 4);
    option_value_clear(&split, &g);
    assert_int_equal(g.list.count, 0);
    arena_release(&a);
}

static void an_absent_option_has_its_default_or_is_marked_absent(void **state)
{
    static const struct option size = { .name = "x", .type = OPTION_SIZE, .preset = "1k" };
    static const struct option none = { .name = "x", .type = OPTION_CHOICE, .choices = colors };
    static const struct option red = {
        .name = "x", .type = OPTION_CHOICE, .choices = colors, .preset = "red"
    };
    union field f = { .i = 0 };
    struct arena a = { 0 };
    (void)state;

    option_value_preset(&size, &f, &a);
    assert_int_equal(f.u, 1024);
    option_value_preset(&none, &f, &a);
    assert_int_equal(f.n, -1);
    option_value_preset(&red, &f, &a);
    assert_int_equal(f.n, 3);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_accepts_the_usual_words),
        cmocka_unit_test(a_count_is_a_small_number),
        cmocka_unit_test(an_integer_must_be_in_its_range),
        cmocka_unit_test(a_size_has_the_units_of_gnu_tools),
        cmocka_unit_test(a_duration_needs_its_unit),
        cmocka_unit_test(a_choice_is_a_listed_word_or_its_alias),
        cmocka_unit_test(a_misspelled_choice_gets_a_suggestion),
        cmocka_unit_test(a_path_is_any_nonempty_text),
        cmocka_unit_test(a_list_grows_and_may_split_at_commas),
        cmocka_unit_test(an_absent_option_has_its_default_or_is_marked_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
