#include "redact/seen-secrets.h"

#include <stdio.h>

#include "test.h"
#include "trace/limits.h"

struct seen_secrets_run {
    struct seen_secrets secrets;
    struct seen_secrets_refs refs;
};

static void setup(struct seen_secrets_run *f)
{
    seen_secrets_init(&f->secrets);
    f->refs = (struct seen_secrets_refs){ .values = NULL };
}

static void teardown(struct seen_secrets_run *f)
{
    seen_secrets_unref(&f->secrets, &f->refs);
    seen_secrets_release(&f->secrets);
}

struct seen {
    const struct seen_secrets *secrets;
    struct buf names;
};

static bool note(void *to, size_t at, size_t end, enum encoding form, uint32_t value)
{
    struct seen *s = to;

    (void)form;
    seen_secrets_write_name(s->secrets, value, &s->names);
    buf_printf(&s->names, "@%zu-%zu ", at, end);
    return true;
}

static void assert_seen(const struct seen_secrets *l, const char *text, const char *want)
{
    struct seen s = { .secrets = l };

    buf_init(&s.names, 1 << 10);
    assert_true(seen_secrets_scan(l, str_z(text), note, &s));
    assert_string_equal(buf_z(&s.names), want);
    buf_release(&s.names);
}

static void an_empty_set_finds_nothing(void **state)
{
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    assert_int_equal(f.secrets.active, 0);
    assert_seen(&f.secrets, "0f9e8d7c-6b5a-4938", "");
    teardown(&f);
}

static void values_are_named_by_header_and_sessions_by_number(void **state)
{
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    seen_secrets_add(&f.secrets, &f.refs, STR("X-Api-Key"), STR("apk83hQzL0vMw"));
    seen_secrets_add(&f.secrets, &f.refs, STR("bad name]"), STR("opq7Hq2ZtLmW91"));
    seen_secrets_add_session(&f.secrets, &f.refs, 7, STR("0f9e8d7c-6b5a"));
    assert_seen(&f.secrets, "apk83hQzL0vMw", "X-Api-Key@0-13 ");
    assert_seen(&f.secrets, "..opq7Hq2ZtLmW91..", "value@2-16 ");
    assert_seen(&f.secrets, "0f9e8d7c-6b5a_1", "session-7@0-13 ");
    teardown(&f);
}

static void an_id_that_becomes_a_session_gets_its_number(void **state)
{
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    seen_secrets_add(&f.secrets, &f.refs, STR("Mcp-Session-Id"), STR("0f9e8d7c-6b5a"));
    assert_seen(&f.secrets, "0f9e8d7c-6b5a", "Mcp-Session-Id@0-13 ");
    seen_secrets_add_session(&f.secrets, &f.refs, 3, STR("0f9e8d7c-6b5a"));
    seen_secrets_add(&f.secrets, &f.refs, STR("Mcp-Session-Id"), STR("0f9e8d7c-6b5a"));
    assert_seen(&f.secrets, "0f9e8d7c-6b5a", "session-3@0-13 ");
    assert_int_equal(f.secrets.active, 1);
    teardown(&f);
}

static void too_short_values_are_not_searched(void **state)
{
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    seen_secrets_add(&f.secrets, &f.refs, STR("X"), STR("abc1234"));
    seen_secrets_add_session(&f.secrets, &f.refs, 1, STR("abc1234"));
    assert_int_equal(f.secrets.active, 0);
    teardown(&f);
}

/* One value may be a form of another: both are values of their own, and once. */
static void a_value_that_is_an_encoding_of_another_is_added_once(void **state)
{
    struct seen_secrets_run f;
    size_t texts = 0;

    (void)state;
    setup(&f);
    for (int i = 0; i < 3; i++) {
        seen_secrets_add(&f.secrets, &f.refs, STR("A"), STR("user:pass1234"));
        seen_secrets_add(&f.secrets, &f.refs, STR("B"), STR("dXNlcjpwYXNzMTIzNA"));
        seen_secrets_add(&f.secrets, &f.refs, STR("C"), STR("with a blank and + 1"));
        if (i == 0)
            texts = f.secrets.search.count;
    }
    assert_int_equal(f.secrets.active, 3);
    assert_int_equal(f.secrets.search.count, texts);
    assert_true(seen_secrets_ref(&f.secrets, &f.refs, STR("user:pass1234")));
    assert_false(seen_secrets_ref(&f.secrets, &f.refs, STR("user:pass12345")));
    assert_false(seen_secrets_ref(&f.secrets, &f.refs, STR("")));
    teardown(&f);
}

static void the_number_of_names_is_limited(void **state)
{
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    for (unsigned i = 0; i < 1000; i++) {
        char name[32], value[32];

        snprintf(name, sizeof name, "X-%u", i);
        snprintf(value, sizeof value, "value-%08u", i);
        seen_secrets_add(&f.secrets, &f.refs, str_z(name), str_z(value));
    }
    assert_seen(&f.secrets, "value-00000003", "X-3@0-14 ");
    assert_seen(&f.secrets, "value-00000999", "value@0-14 ");
    assert_true(f.secrets.names.count <= 256);
    teardown(&f);
}

static const char *id_of(unsigned i)
{
    static char id[32];

    snprintf(id, sizeof id, "%08x%08x", i * 2654435761u, i);
    return id;
}

/* Values of exchanges that are over. */
static void add_numbered_secrets(struct seen_secrets *l, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct seen_secrets_refs g = { .values = NULL };

        seen_secrets_add_session(l, &g, i + 1, str_z(id_of(i)));
        seen_secrets_unref(l, &g);
    }
}

static void held_values_are_kept_and_others_dropped_by_last_use(void **state)
{
    enum { ROUNDS = 2 };
    const unsigned most = (unsigned)LIMIT_SEEN_SECRETS;
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    seen_secrets_add(&f.secrets, &f.refs, STR("held"), STR("held-value-1"));
    for (unsigned i = 0; i < ROUNDS * most; i += most / 4) {
        struct seen_secrets_refs g = { .values = NULL };

        add_numbered_secrets(&f.secrets, i, i + most / 4);
        seen_secrets_add(&f.secrets, &g, STR("used"), STR("used-value-1"));
        seen_secrets_unref(&f.secrets, &g);
        assert_true(f.secrets.active <= most);
    }
    assert_seen(&f.secrets, "held-value-1", "held@0-12 ");
    assert_seen(&f.secrets, "used-value-1", "used@0-12 ");
    assert_seen(&f.secrets, id_of(0), "");
    for (unsigned i = ROUNDS * most - most / 2; i < ROUNDS * most; i++) {
        char want[32];

        snprintf(want, sizeof want, "session-%u@0-16 ", i + 1);
        assert_seen(&f.secrets, id_of(i), want);
    }
    teardown(&f);
}

static void more_values_than_the_limit_are_kept_while_in_use(void **state)
{
    const unsigned many = (unsigned)LIMIT_SEEN_SECRETS + LIMIT_SEEN_SECRETS / 8;
    struct seen_secrets_run f;

    (void)state;
    setup(&f);
    for (unsigned i = 0; i < many; i++) {
        struct seen_secrets_refs g = { .values = NULL };

        seen_secrets_add_session(&f.secrets, &g, i + 1, str_z(id_of(i)));
        for (size_t k = 0; k < g.count; k++)
            f.secrets.values[g.values[k]].refs++; /* by an exchange that stays */
        seen_secrets_unref(&f.secrets, &g);
    }
    assert_int_equal(f.secrets.active, many);
    assert_seen(&f.secrets, id_of(0), "session-1@0-16 ");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_finds_nothing),
        cmocka_unit_test(values_are_named_by_header_and_sessions_by_number),
        cmocka_unit_test(an_id_that_becomes_a_session_gets_its_number),
        cmocka_unit_test(too_short_values_are_not_searched),
        cmocka_unit_test(a_value_that_is_an_encoding_of_another_is_added_once),
        cmocka_unit_test(the_number_of_names_is_limited),
        cmocka_unit_test(held_values_are_kept_and_others_dropped_by_last_use),
        cmocka_unit_test(more_values_than_the_limit_are_kept_while_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
