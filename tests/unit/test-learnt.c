#include "trace/learnt.h"

#include <stdio.h>

#include "test.h"
#include "trace/limits.h"

struct fixture {
    struct learnt learnt;
    struct learnt_grip grip;
};

static void setup(struct fixture *f)
{
    learnt_init(&f->learnt);
    f->grip = (struct learnt_grip){ .at = NULL };
}

static void teardown(struct fixture *f)
{
    learnt_let_go(&f->learnt, &f->grip);
    learnt_release(&f->learnt);
}

struct seen {
    const struct learnt *learnt;
    struct buf names;
};

static bool note(void *to, size_t at, size_t end, enum form form, uint32_t value)
{
    struct seen *s = to;

    (void)form;
    learnt_name(s->learnt, value, &s->names);
    buf_printf(&s->names, "@%zu-%zu ", at, end);
    return true;
}

static void assert_seen(const struct learnt *l, const char *text, const char *want)
{
    struct seen s = { .learnt = l };

    buf_init(&s.names, 1 << 10);
    assert_true(learnt_scan(l, str_z(text), note, &s));
    assert_string_equal(buf_z(&s.names), want);
    buf_release(&s.names);
}

static void nothing_is_looked_for_at_first(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f);
    assert_int_equal(f.learnt.known, 0);
    assert_seen(&f.learnt, "0f9e8d7c-6b5a-4938", "");
    teardown(&f);
}

static void values_are_told_by_what_carried_them_and_sessions_by_number(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f);
    learnt_add(&f.learnt, &f.grip, STR("X-Api-Key"), STR("apk83hQzL0vMw"));
    learnt_add(&f.learnt, &f.grip, STR("bad name]"), STR("opq7Hq2ZtLmW91"));
    learnt_add_session(&f.learnt, &f.grip, 7, STR("0f9e8d7c-6b5a"));
    assert_seen(&f.learnt, "apk83hQzL0vMw", "X-Api-Key@0-13 ");
    assert_seen(&f.learnt, "..opq7Hq2ZtLmW91..", "value@2-16 ");
    assert_seen(&f.learnt, "0f9e8d7c-6b5a_1", "session-7@0-13 ");
    teardown(&f);
}

static void an_id_that_becomes_a_session_has_its_number(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f);
    learnt_add(&f.learnt, &f.grip, STR("Mcp-Session-Id"), STR("0f9e8d7c-6b5a"));
    assert_seen(&f.learnt, "0f9e8d7c-6b5a", "Mcp-Session-Id@0-13 ");
    learnt_add_session(&f.learnt, &f.grip, 3, STR("0f9e8d7c-6b5a"));
    learnt_add(&f.learnt, &f.grip, STR("Mcp-Session-Id"), STR("0f9e8d7c-6b5a"));
    assert_seen(&f.learnt, "0f9e8d7c-6b5a", "session-3@0-13 ");
    assert_int_equal(f.learnt.known, 1);
    teardown(&f);
}

static void what_is_too_short_is_not_looked_for(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f);
    learnt_add(&f.learnt, &f.grip, STR("X"), STR("abc1234"));
    learnt_add_session(&f.learnt, &f.grip, 1, STR("abc1234"));
    assert_int_equal(f.learnt.known, 0);
    teardown(&f);
}

/* One value may be a form of another: both are values of their own, and once. */
static void a_value_that_is_a_form_of_another_is_learnt_once(void **state)
{
    struct fixture f;
    size_t texts = 0;

    (void)state;
    setup(&f);
    for (int i = 0; i < 3; i++) {
        learnt_add(&f.learnt, &f.grip, STR("A"), STR("user:pass1234"));
        learnt_add(&f.learnt, &f.grip, STR("B"), STR("dXNlcjpwYXNzMTIzNA"));
        learnt_add(&f.learnt, &f.grip, STR("C"), STR("with a blank and + 1"));
        if (i == 0)
            texts = f.learnt.swarm.count;
    }
    assert_int_equal(f.learnt.known, 3);
    assert_int_equal(f.learnt.swarm.count, texts);
    assert_true(learnt_again(&f.learnt, &f.grip, STR("user:pass1234")));
    assert_false(learnt_again(&f.learnt, &f.grip, STR("user:pass12345")));
    assert_false(learnt_again(&f.learnt, &f.grip, STR("")));
    teardown(&f);
}

static void peers_cannot_have_ever_more_names_kept(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f);
    for (unsigned i = 0; i < 1000; i++) {
        char name[32], value[32];

        snprintf(name, sizeof name, "X-%u", i);
        snprintf(value, sizeof value, "value-%08u", i);
        learnt_add(&f.learnt, &f.grip, str_z(name), str_z(value));
    }
    assert_seen(&f.learnt, "value-00000003", "X-3@0-14 ");
    assert_seen(&f.learnt, "value-00000999", "value@0-14 ");
    assert_true(f.learnt.names.count <= 256);
    teardown(&f);
}

static const char *id_of(unsigned i)
{
    static char id[32];

    snprintf(id, sizeof id, "%08x%08x", i * 2654435761u, i);
    return id;
}

/* Values of exchanges that are over. */
static void pass_by(struct learnt *l, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct learnt_grip g = { .at = NULL };

        learnt_add_session(l, &g, i + 1, str_z(id_of(i)));
        learnt_let_go(l, &g);
    }
}

static void what_is_held_is_never_forgotten_and_the_rest_by_its_last_use(void **state)
{
    enum { ROUNDS = 2 };
    const unsigned most = (unsigned)LIMIT_LEARNT;
    struct fixture f;

    (void)state;
    setup(&f);
    learnt_add(&f.learnt, &f.grip, STR("held"), STR("held-value-1"));
    for (unsigned i = 0; i < ROUNDS * most; i += most / 4) {
        struct learnt_grip g = { .at = NULL };

        pass_by(&f.learnt, i, i + most / 4);
        learnt_add(&f.learnt, &g, STR("used"), STR("used-value-1"));
        learnt_let_go(&f.learnt, &g);
        assert_true(f.learnt.known <= most);
    }
    assert_seen(&f.learnt, "held-value-1", "held@0-12 ");
    assert_seen(&f.learnt, "used-value-1", "used@0-12 ");
    assert_seen(&f.learnt, id_of(0), "");
    for (unsigned i = ROUNDS * most - most / 2; i < ROUNDS * most; i++) {
        char want[32];

        snprintf(want, sizeof want, "session-%u@0-16 ", i + 1);
        assert_seen(&f.learnt, id_of(i), want);
    }
    teardown(&f);
}

static void more_than_the_limit_are_known_if_they_are_in_use(void **state)
{
    const unsigned many = (unsigned)LIMIT_LEARNT + LIMIT_LEARNT / 8;
    struct fixture f;

    (void)state;
    setup(&f);
    for (unsigned i = 0; i < many; i++) {
        struct learnt_grip g = { .at = NULL };

        learnt_add_session(&f.learnt, &g, i + 1, str_z(id_of(i)));
        for (size_t k = 0; k < g.count; k++)
            f.learnt.values[g.at[k]].holds++; /* by an exchange that stays */
        learnt_let_go(&f.learnt, &g);
    }
    assert_int_equal(f.learnt.known, many);
    assert_seen(&f.learnt, id_of(0), "session-1@0-16 ");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_looked_for_at_first),
        cmocka_unit_test(values_are_told_by_what_carried_them_and_sessions_by_number),
        cmocka_unit_test(an_id_that_becomes_a_session_has_its_number),
        cmocka_unit_test(what_is_too_short_is_not_looked_for),
        cmocka_unit_test(a_value_that_is_a_form_of_another_is_learnt_once),
        cmocka_unit_test(peers_cannot_have_ever_more_names_kept),
        cmocka_unit_test(what_is_held_is_never_forgotten_and_the_rest_by_its_last_use),
        cmocka_unit_test(more_than_the_limit_are_known_if_they_are_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
