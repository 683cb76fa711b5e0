#include "mcp/volatile-values.h"

#include "test.h"

static void times_random_ids_and_hashes_are_volatile(void **state)
{
    static const char *const texts[] = {
        "2025-02-04T10:00:00Z",
        "2025-02-04T10:00:00.123456+02:00",
        "2025-02-04 10:00:00Z",
        "550e8400-e29b-41d4-a716-446655440000",
        "550E8400-E29B-41D4-A716-446655440000",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "d41d8cd98f00b204e9800998ecf8427e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb924",
        "req_550e8400-e29b-41d4-a716-446655440000",
        "1738663200",
        "1738663200123",
        "1738663200123456",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!mcp_is_volatile_text(str_z(texts[i])))
            fail_msg("%s", texts[i]);
}

static void values_of_the_request_are_not_volatile(void **state)
{
    static const char *const texts[] = {
        "",
        "cats",
        "2025-02-04",
        "10:00",
        "deadbeef",
        "/tmp/a",
        "42",
        "12345",
        "173866320",
        "17386632001",
        "5738663200",
        "abcdefabcdefabcdefab",
        "file:///a/b",
        "a_b",
        "sha256:abc",
        "550e8400-e29b-41d4-a716-44665544000",
        "550e8400-e29b-41d4-a716-44665544000g",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "91ARZ3NDEKTSV4RRFFQ69G5FAV",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (mcp_is_volatile_text(str_z(texts[i])))
            fail_msg("%s", texts[i]);
}

static void numbers_are_volatile_if_they_can_be_times(void **state)
{
    (void)state;
    assert_true(mcp_is_volatile_number(STR("1738663200")));
    assert_true(mcp_is_volatile_number(STR("1738663200.25")));
    assert_true(mcp_is_volatile_number(STR("1738663200123")));
    assert_false(mcp_is_volatile_number(STR("42")));
    assert_false(mcp_is_volatile_number(STR("-1738663200")));
    assert_false(mcp_is_volatile_number(STR("9738663200")));
    assert_false(mcp_is_volatile_number(STR("0.1738663200")));
}

static void some_member_names_are_volatile(void **state)
{
    (void)state;
    assert_true(mcp_is_volatile_name(STR("requestId")));
    assert_true(mcp_is_volatile_name(STR("updated_at")));
    assert_false(mcp_is_volatile_name(STR("issueId")));
    assert_false(mcp_is_volatile_name(STR("id")));
    assert_false(mcp_is_volatile_name(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_random_ids_and_hashes_are_volatile),
        cmocka_unit_test(values_of_the_request_are_not_volatile),
        cmocka_unit_test(numbers_are_volatile_if_they_can_be_times),
        cmocka_unit_test(some_member_names_are_volatile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
