#include "replay/session-assign.h"

#include "loaded-index.h"

#define INITIALIZE(n, requested, agreed)                                                       \
    "conn=" n " c2s {'id':0,'method':'initialize','params':{'protocolVersion':'" requested     \
    "'}}\n"                                                                                    \
    "conn=" n " s2c {'id':0,'result':{'protocolVersion':'" agreed "'}}\n"
#define LIST(n) "conn=" n " c2s {'id':1,'method':'tools/list'}\n"
#define NEWER(n)                                                                               \
    "conn=" n " c2s {'id':1,'method':'tools/list','params':{'_meta':{"                         \
    "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n"

struct bench {
    struct loaded_index of;
    struct session_assign casting;
};

static void set_up(struct bench *b, const char *recording)
{
    loaded_index_init(&b->of, MATCH_SEQUENTIAL, recording);
    session_assign_init(&b->casting, &b->of.index);
}

static void tear_down(struct bench *b)
{
    session_assign_release(&b->casting);
    loaded_index_release(&b->of);
}

static uint32_t take(struct bench *b, struct session_assign_list *l)
{
    uint32_t session = session_assign_next(l);

    session_assign_mark(&b->casting, session);
    return session;
}

/* Clients come one after the other; `want` has the index of a session for each. */
static void check(struct bench *b, enum mcp_version requested, const char *want)
{
    for (; *want; want++)
        assert_int_equal(take(b, session_assign_list_for(&b->casting, requested)),
                         (uint32_t)(*want - '0'));
}

static void check_any(struct bench *b, const char *want)
{
    for (; *want; want++)
        assert_int_equal(take(b, session_assign_list_any(&b->casting)),
                         (uint32_t)(*want - '0'));
}

static void sessions_are_assigned_in_order_and_from_the_start_again(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, INITIALIZE("1", "2025-11-25", "2025-11-25")
                   INITIALIZE("2", "2025-11-25", "2025-11-25") LIST("2")
                       INITIALIZE("3", "2025-11-25", "2025-11-25") LIST("3"));
    /* The first one has no calls. As long as nothing is assigned the next one stays the same.
     */
    assert_int_equal(session_assign_next(session_assign_list_any(&b.casting)), 1);
    assert_int_equal(session_assign_next(session_assign_list_for(&b.casting, MCP_2025_11_25)),
                     1);
    check(&b, MCP_2025_11_25, "1");
    check(&b, MCP_2025_03_26, "2"); /* not recorded: it is the same list */
    assert_int_equal(session_assign_next(session_assign_list_any(&b.casting)), 1);
    check(&b, MCP_VERSION_UNKNOWN, "12");
    tear_down(&b);
}

static void a_session_assigned_out_of_order_is_skipped(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, LIST("1") LIST("2") LIST("3"));
    session_assign_mark(&b.casting, 1);
    check_any(&b, "02012");
    tear_down(&b);
}

static void a_client_gets_sessions_of_its_requested_version(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, INITIALIZE("1", "2025-03-26", "2025-03-26") LIST("1")
                   INITIALIZE("2", "2025-11-25", "2025-11-25") LIST("2")
                       INITIALIZE("3", "2025-03-26", "2025-03-26") LIST("3")
                           INITIALIZE("4", "2025-11-25", "2025-11-25") LIST("4"));
    check(&b, MCP_2025_11_25, "13");
    check(&b, MCP_2025_03_26, "020");
    check(&b, MCP_2025_11_25, "1");
    check(&b, MCP_2025_06_18, "230123"); /* those of all that are not played yet, then all */
    tear_down(&b);
}

static void a_client_without_version_gets_the_next_session(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, INITIALIZE("1", "2025-03-26", "2025-03-26") LIST("1")
                   INITIALIZE("2", "2025-11-25", "2025-11-25") LIST("2"));
    check_any(&b, "0");
    assert_int_equal(session_assign_next(session_assign_list_any(&b.casting)), 1);
    check(&b, MCP_2025_03_26, "0");
    check_any(&b, "1");
    check(&b, MCP_2025_06_18, "01");
    assert_true(session_assign_has_list(&b.casting, MCP_2025_11_25));
    assert_false(session_assign_has_list(&b.casting, MCP_2025_06_18));
    tear_down(&b);
}

static void otherwise_a_client_gets_sessions_with_that_negotiated_version(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, INITIALIZE("1", "2025-11-25", "2025-06-18") LIST("1")
                   INITIALIZE("2", "2025-03-26", "2025-03-26") LIST("2"));
    check(&b, MCP_2025_06_18, "00");
    check(&b, MCP_2025_11_25, "00");
    check(&b, MCP_2025_03_26, "11");
    tear_down(&b);
}

static void a_session_without_initialize_suits_every_client(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, LIST("1") INITIALIZE("2", "2025-03-26", "2025-03-26") LIST("2")
                   INITIALIZE("3", "2025-11-25", "2025-11-25") LIST("3"));
    check(&b, MCP_2025_11_25, "020");
    check(&b, MCP_2025_03_26, "101");
    tear_down(&b);
}

static void the_stateless_session_is_assigned_only_if_it_is_the_only_one(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, NEWER("1") INITIALIZE("2", "2025-11-25", "2025-11-25") LIST("2"));
    check(&b, MCP_2025_11_25, "11");
    tear_down(&b);
    set_up(&b, NEWER("1") NEWER("2"));
    check(&b, MCP_2025_11_25, "00");
    tear_down(&b);
}

static void an_empty_recording_has_one_session(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, "");
    check(&b, MCP_2025_11_25, "00");
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_assigned_in_order_and_from_the_start_again),
        cmocka_unit_test(a_session_assigned_out_of_order_is_skipped),
        cmocka_unit_test(a_client_gets_sessions_of_its_requested_version),
        cmocka_unit_test(a_client_without_version_gets_the_next_session),
        cmocka_unit_test(otherwise_a_client_gets_sessions_with_that_negotiated_version),
        cmocka_unit_test(a_session_without_initialize_suits_every_client),
        cmocka_unit_test(the_stateless_session_is_assigned_only_if_it_is_the_only_one),
        cmocka_unit_test(an_empty_recording_has_one_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
