#include "cli.h"
#include "format/format.h"
#include "test.h"
#include "json/json.h"

static void every_format_and_feature_is_listed(void **state)
{
    struct cli *d = *state;

    assert_int_equal(cli_run(d, "mcpreel formats"), 0);
    assert_int_equal(d->err.len, 0);
    for (const struct format *const *f = format_table; *f; f++) {
        assert_non_null(strstr(buf_z(&d->out), (*f)->name));
        assert_non_null(strstr(buf_z(&d->out), (*f)->about));
        assert_non_null(strstr(buf_z(&d->out), (*f)->ext[0]));
    }
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        assert_non_null(strstr(buf_z(&d->out), feature_description(1u << i)));
}

/* "recording   ✔ ✔ · …" */
static void a_row_has_the_features_of_its_format(void **state)
{
    struct cli *d = *state;

    cli_run(d, "mcpreel formats");
    for (const struct format *const *f = format_table; *f; f++) {
        struct buf want;

        buf_init(&want, 4096);
        buf_printf(&want, "\n%-17s", (*f)->name);
        for (unsigned i = 0; i < FEATURE_COUNT; i++)
            buf_printf(&want, "%s%s", i ? " " : "", (*f)->keeps & 1u << i ? "✔" : "·");
        buf_add_ch(&want, '\n');
        assert_non_null(strstr(buf_z(&d->out), buf_z(&want)));
        buf_release(&want);
    }
}

static size_t count_parts(unsigned parts)
{
    return (size_t)__builtin_popcount(parts & ((1u << FEATURE_COUNT) - 1));
}

static void the_json_output_has_the_table(void **state)
{
    struct cli *d = *state;
    struct json_fault fault;
    struct json_iter it;
    struct json j;
    size_t n = 0;

    assert_int_equal(cli_run(d, "mcpreel formats --json"), 0);
    json_init(&j);
    assert_true(json_scan(&j, buf_str(&d->out), &fault));
    assert_true(json_is(json_get(json_root(&j), STR("command")), STR("formats")));
    it = json_each(json_get(json_root(&j), STR("formats")));
    for (; json_next(&it); n++) {
        const struct format *f = format_table[n];

        assert_non_null(f);
        assert_true(json_is(json_get(it.value, STR("name")), str_z(f->name)));
        assert_int_equal(json_type(json_get(it.value, STR("read"))),
                         f->open ? JSON_TRUE : JSON_FALSE);
        assert_int_equal(json_type(json_get(it.value, STR("write"))),
                         f->put ? JSON_TRUE : JSON_FALSE);
        assert_true(
            json_is(json_item(json_get(it.value, STR("extensions")), 0), str_z(f->ext[0])));
        assert_int_equal(json_count(json_get(it.value, STR("keeps"))), count_parts(f->keeps));
        assert_int_equal(json_count(json_get(it.value, STR("loses"))), count_parts(~f->keeps));
    }
    assert_null(format_table[n]);
    json_release(&j);
}

static void formats_accepts_no_operands(void **state)
{
    struct cli *d = *state;

    assert_run(d, "mcpreel formats x", 2, "",
               "mcpreel: unexpected 'x' for 'formats'\n  see 'mcpreel formats --help'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(every_format_and_feature_is_listed),
        WITH_CLI(a_row_has_the_features_of_its_format),
        WITH_CLI(the_json_output_has_the_table),
        WITH_CLI(formats_accepts_no_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
