#include "fake-cli.h"
#include "test.h"

static void the_version_is_one_line(void **state)
{
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    fake_cli_init(&f, env);
    assert_int_equal(fake_cli_run(&f, "mcpreel version"), 0);
    assert_str(buf_str(&f.out), STR("mcpreel " MCPREEL_VERSION "\n"));
    assert_int_equal(fake_cli_run(&f, "mcpreel version x"), 2);
    assert_int_equal(f.out.len, 0);
    fake_cli_release(&f);
}

static void the_json_output_is_an_object(void **state)
{
    static const char want[] = "{\"v\":2,\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION
                               "\",\"date\":\"" MCPREEL_DATE "\"}\n";
    static const char *const lines[] = { "mcpreel version --json", "mcpreel --json version",
                                         "mcpreel --json --version", "mcpreel -V --json" };
    char *env[] = { NULL };
    struct fake_cli f;
    (void)state;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        fake_cli_init(&f, env);
        assert_int_equal(fake_cli_run(&f, lines[i]), 0);
        assert_str(buf_str(&f.out), STR(want));
        fake_cli_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_one_line),
        cmocka_unit_test(the_json_output_is_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
