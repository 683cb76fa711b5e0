#include "ops/operation.h"

#include "op-lines.h"
#include "test.h"
#include "text-cases.h"

static void check_playbook(const char *playbook, bool passes, const char *says)
{
    text_cases_check(op_lines_run_case, playbook, passes, says);
}

#define PING                                                                                   \
    "# A story.\n"                                                                             \
    "c2s {\"id\":1,\"method\":\"ping\"}\n"                                                     \
    "\n"                                                                                       \
    "operations\n"

static void a_playbook_fails_on_every_deviation(void **state)
{
    (void)state;
    check_playbook(PING "1 c2s ping id=1 pending | 1:request\n", true, "");
    check_playbook(PING "# so\n\n1 c2s ping id=1 pending | 1:request\n# well\n", true, "");
    check_playbook(PING "1 c2s ping id=1 ok | 1:request\n", false,
                   "5:\n  got  1 c2s ping id=1 pending | 1:request\n"
                   "  want 1 c2s ping id=1 ok | 1:request");
    check_playbook(PING, false, "5:\n  got  1 c2s ping id=1 pending | 1:request\n  want ");
    check_playbook(PING "1 c2s ping id=1 pending | 1:request\n2 c2s\n", false,
                   "6:\n  got  \n  want 2 c2s");
}

static void the_first_and_last_messages_are_kept(void **state)
{
    enum { MOST = OPERATION_KEEP_FIRST + OPERATION_KEEP_LAST };

    (void)state;
    for (uint64_t count = 0; count <= MOST * 3; count++) {
        struct operation op = { .number = 1 };

        for (uint64_t i = 1; i <= count; i++)
            operation_add_message(&op, &(struct operation_message){ .seq = i });
        assert_int_equal(op.messages.count, count);
        assert_int_equal(op.messages.kept, count < MOST ? count : MOST);
        for (size_t i = 0; i < op.messages.kept; i++)
            assert_int_equal(operation_message_at(&op, i)->seq,
                             i < OPERATION_KEEP_FIRST ? i + 1
                                                      : count - (op.messages.kept - i) + 1);
        operation_release(&op);
    }
}

/* Filters and JSON depend on them: none may be missing, none may stand for two things. */
static void every_value_has_a_unique_name(void **state)
{
    const char *names[5][32] = { { NULL } };
    size_t counts[5] = { OPERATION_NON_MESSAGE + 1, LINK_COUNT, ROLE_COUNT, OUTCOME_COUNT,
                         RESPONSE_COUNT };

    (void)state;
    for (size_t i = 0; i < 32; i++) {
        names[0][i] = i < counts[0] ? operation_kind_name((enum operation_kind)i) : NULL;
        names[1][i] = i < counts[1] ? operation_link_name((enum operation_link)i) : NULL;
        names[2][i] = i < counts[2] ? operation_role_name((enum operation_role)i) : NULL;
        names[3][i] = i < counts[3] ? operation_outcome_name((enum operation_outcome)i) : NULL;
        names[4][i] =
            i < counts[4] ? operation_response_name((enum operation_response)i) : NULL;
    }
    for (size_t n = 0; n < 5; n++)
        for (size_t i = 0; i < counts[n]; i++) {
            assert_non_null(names[n][i]);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(names[n][i], names[n][k]);
        }
    for (unsigned i = 0; i < OP_FLAG_COUNT; i++) {
        assert_non_null(operation_flag_name((enum operation_flag)(1u << i)));
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(operation_flag_name((enum operation_flag)(1u << i)),
                                    operation_flag_name((enum operation_flag)(1u << k)));
    }
    assert_string_equal(operation_flag_name(OP_EVICTED), "evicted");
    assert_string_equal(operation_flag_name(OP_INFERRED), "inferred");
    assert_string_equal(operation_flag_name(OP_TRUNCATED), "truncated");
    assert_string_equal(operation_flag_name(OP_HTTP_REJECTED), "http-rejected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_playbook_fails_on_every_deviation),
        cmocka_unit_test(the_first_and_last_messages_are_kept),
        cmocka_unit_test(every_value_has_a_unique_name),
    };
    return text_cases_run("operation", tests, sizeof tests / sizeof *tests,
                          "tests/operations/*.play", op_lines_run_case);
}
