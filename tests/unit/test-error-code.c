#include "mcp/error-code.h"

#include "test.h"

static void every_code_of_mcpreel_has_a_name(void **state)
{
    static const struct {
        int64_t code;
        const char *name;
    } rows[] = {
        { -32700, "Parse error" },
        { -32600, "Invalid Request" },
        { -32601, "Method not found" },
        { -32602, "Invalid params" },
        { -32603, "Internal error" },
        { -32000, "Server error" },
        { -32002, "Resource not found" },
        { -32020, "Header mismatch" },
        { -32021, "Missing required client capability" },
        { -32022, "Unsupported protocol version" },
        { -32042, "URL elicitation required" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_str(mcp_error_code_name(rows[i].code), str_z(rows[i].name));
}

static void an_unknown_code_has_no_name(void **state)
{
    static const int64_t codes[] = { 0, 1, -1, 32601, -32001, -32099, -32604, INT64_MIN };

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_int_equal(mcp_error_code_name(codes[i]).len, 0);
    /* Codes that equal one of ours in their low 32 bits only. */
    assert_int_equal(mcp_error_code_name(INT64_C(-32601) - (INT64_C(1) << 32)).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_of_mcpreel_has_a_name),
        cmocka_unit_test(an_unknown_code_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
