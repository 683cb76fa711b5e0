#include "runtime/record-kinds.h"

#include "program.h"
#include "temp-dir.h"
#include "test.h"

/* The other three kinds have tests of their own; here the choice is tested. */
static void a_command_and_a_client_on_stdio_are_relayed(void **state)
{
    struct program p;

    (void)state;
    program_run(&p, &sys_real,
                PROGRAM_WORDS("record", "-o", "file", "--", "sh", "-c",
                              "read x; echo '{\"id\":1,\"result\":{}}'"),
                STR("{\"id\":1,\"method\":\"ping\"}\n"));
    assert_int_equal(p.code, 0);
    assert_str(buf_str(&p.out), STR("{\"id\":1,\"result\":{}}\n"));
    program_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_and_a_client_on_stdio_are_relayed),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
