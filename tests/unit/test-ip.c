#include "test.h"
#include "wire/ip.h"

static void check(const char *text, enum ip_kind kind, const char *bytes, size_t n)
{
    struct ip ip = ip_parse(str_z(text));

    if (ip.kind != kind || memcmp(ip.bytes + 16 - n, bytes, n))
        fail_msg("'%s' is not read as it should be", text);
}

#define CHECK(text, kind, bytes) check(text, kind, bytes, sizeof(bytes) - 1)

static void four_decimal_numbers_are_an_ipv4_address(void **state)
{
    (void)state;
    CHECK("127.0.0.1", IP_V4, "\xff\xff\x7f\0\0\1");
    CHECK("255.255.255.255", IP_V4, "\xff\xff\xff\xff\xff\xff");
    assert_true(ip_parse(STR("10.0.0.1")).canonical);
    assert_false(ip_parse(STR("10.1")).canonical);
    assert_false(ip_parse(STR("10.0.0.01")).canonical);
    assert_false(ip_parse(STR("0xa.0.0.1")).canonical);
}

static void every_spelling_of_the_system_is_parsed(void **state)
{
    static const char *const loopback[] = {
        "127.1",      "127.0.1",      "2130706433",   "0x7f000001", "0x7f.1",
        "0177.0.0.1", "017700000001", "127.0.0x0.01", "0x7F.0.0.1", "00177.0.0.0x1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        CHECK(loopback[i], IP_V4, "\xff\xff\x7f\0\0\1");
    CHECK("0", IP_V4, "\0\0\0\0");
    CHECK("1.2.65535", IP_V4, "\1\2\xff\xff");
}

static void ipv6_addresses_are_parsed_with_and_without_compression(void **state)
{
    (void)state;
    CHECK("::1", IP_V6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1");
    CHECK("::", IP_V6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    CHECK("2001:DB8::a", IP_V6, "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x0a");
    CHECK("1:2:3:4:5:6:7:8", IP_V6, "\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\x8");
    CHECK("1::", IP_V6, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    CHECK("1:2:3:4:5:6:7::", IP_V6, "\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\0");
    CHECK("::ffff:1.2.3.4", IP_V6, "\0\0\0\0\0\0\0\0\0\0\xff\xff\1\2\3\4");
    CHECK("1:2:3:4:5:6:1.2.3.4", IP_V6, "\0\1\0\2\0\3\0\4\0\5\0\6\1\2\3\4");
    CHECK("0:0:0:0:0:0:0:0", IP_V6, "\0\0\0\0");
}

static void invalid_addresses_are_rejected(void **state)
{
    static const char *const bad[] = {
        "",
        "localhost",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "1.2.3.",
        ".1.2.3",
        "1..2",
        "4294967296",
        "1.16777216",
        "08",
        "0xg",
        "-1",
        "1 ",
        "1.2.3.4x",
        ":",
        ":::",
        "1:2:3:4:5:6:7",
        "1::2::3",
        "::12345",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::g",
        ":1",
        "1:",
        "::1.2.3",
        "::1.2.3.4:5",
        "::0x1",
        "::1%eth0",
        "[::1]",
        "1.2.3.4::",
        "::01.2.3.4",
        "1:2:3:4:5:6:7:1.2.3.4",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (ip_parse(str_z(bad[i])).kind != IP_NONE)
            fail_msg("'%s' is taken for an address", bad[i]);
    }
}

static void a_name_that_ends_in_a_number_resembles_an_address(void **state)
{
    (void)state;
    assert_true(ip_looks_numeric(STR("1.2.3.256")));
    assert_true(ip_looks_numeric(STR("a.b.09")));
    assert_true(ip_looks_numeric(STR("127.0.0.1.")));
    assert_true(ip_looks_numeric(STR("a.0x")));
    assert_true(ip_looks_numeric(STR("a.0xF")));
    assert_false(ip_looks_numeric(STR("1.example")));
    assert_false(ip_looks_numeric(STR("a.0xg")));
    assert_false(ip_looks_numeric(STR("a1")));
    assert_false(ip_looks_numeric(STR("")));
    assert_false(ip_looks_numeric(STR("...")));
}

static void loopback_and_any_are_recognized_in_every_spelling(void **state)
{
    static const struct {
        const char *text;
        bool loopback, any;
    } rows[] = {
        { "127.0.0.1", true, false },
        { "127.255.255.254", true, false },
        { "::1", true, false },
        { "::ffff:127.0.0.1", true, false },
        { "0:0:0:0:0:0:0:1", true, false },
        { "0", false, true },
        { "0x0", false, true },
        { "00.0", false, true },
        { "0.0.0.0", false, true },
        { "::", false, true },
        { "::0.0.0.0", false, true },
        { "::ffff:0.0.0.0", false, true },
        { "::ffff:0:0", false, true },
        { "0.0.0.1", false, false },
        { "128.0.0.1", false, false },
        { "::2", false, false },
        { "::127.0.0.1", false, false },
        { "localhost", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ip ip = ip_parse(str_z(rows[i].text));

        if (ip_is_loopback(&ip) != rows[i].loopback || ip_is_any(&ip) != rows[i].any)
            fail_msg("'%s' is not known for what it is", rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_decimal_numbers_are_an_ipv4_address),
        cmocka_unit_test(every_spelling_of_the_system_is_parsed),
        cmocka_unit_test(ipv6_addresses_are_parsed_with_and_without_compression),
        cmocka_unit_test(invalid_addresses_are_rejected),
        cmocka_unit_test(a_name_that_ends_in_a_number_resembles_an_address),
        cmocka_unit_test(loopback_and_any_are_recognized_in_every_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
