#include "mcphttp/session-ids.h"

#include "test.h"

static void assert_state(const struct session_ids *s, const char *id, enum session_state want,
                         uint64_t number)
{
    uint64_t got = 99;

    assert_int_equal(session_ids_find(s, str_z(id), &got), want);
    assert_int_equal(got, number);
}

static void sessions_are_numbered_in_order_of_appearance(void **state)
{
    struct session_ids s;
    bool minted;

    (void)state;
    session_ids_init(&s);
    assert_int_equal(session_ids_add(&s, STR("b"), &minted), 1);
    assert_true(minted);
    assert_int_equal(session_ids_add(&s, STR("a"), &minted), 2);
    assert_int_equal(session_ids_add(&s, STR("b"), &minted), 1);
    assert_false(minted);
    assert_state(&s, "a", SESSION_LIVE, 2);
    assert_state(&s, "b", SESSION_LIVE, 1);
    session_ids_release(&s);
}

static void an_ended_session_keeps_its_number(void **state)
{
    struct session_ids s;
    bool minted;

    (void)state;
    session_ids_init(&s);
    session_ids_add(&s, STR("a"), &minted);
    session_ids_end(&s, STR("a"));
    assert_state(&s, "a", SESSION_ENDED, 1);
    assert_int_equal(session_ids_add(&s, STR("a"), &minted), 2);
    assert_true(minted);
    assert_state(&s, "a", SESSION_LIVE, 2);
    session_ids_release(&s);
}

static void a_session_may_have_several_ids(void **state)
{
    struct session_ids s;
    bool minted;

    (void)state;
    session_ids_init(&s);
    assert_int_equal(session_ids_add(&s, STR("a"), &minted), 1);
    session_ids_add_alias(&s, STR("b"), 1);
    assert_state(&s, "a", SESSION_LIVE, 1);
    assert_state(&s, "b", SESSION_LIVE, 1);
    assert_int_equal(session_ids_add(&s, STR("c"), &minted), 2);
    session_ids_add_alias(&s, STR("b"), 2);
    assert_state(&s, "b", SESSION_LIVE, 2);
    session_ids_release(&s);
}

static void an_id_that_the_server_did_not_issue_is_unknown(void **state)
{
    struct session_ids s;

    (void)state;
    session_ids_init(&s);
    assert_state(&s, "", SESSION_NONE, 0);
    assert_state(&s, "x", SESSION_UNKNOWN, 0);
    session_ids_end(&s, STR("x"));
    assert_state(&s, "x", SESSION_UNKNOWN, 0);
    assert_string_equal(session_state_name(SESSION_UNKNOWN), "unknown");
    session_ids_release(&s);
}

static void count(void *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = (unsigned char)(0xf8 + i);
}

static void an_id_is_composed_from_given_random_bytes(void **state)
{
    char id[SESSION_ID_LEN + 1];

    (void)state;
    session_ids_generate(id, count);
    assert_string_equal(id, "f8f9fafbfcfdfeff0001020304050607");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_numbered_in_order_of_appearance),
        cmocka_unit_test(an_ended_session_keeps_its_number),
        cmocka_unit_test(a_session_may_have_several_ids),
        cmocka_unit_test(an_id_that_the_server_did_not_issue_is_unknown),
        cmocka_unit_test(an_id_is_composed_from_given_random_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
