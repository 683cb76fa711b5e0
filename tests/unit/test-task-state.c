#include "replay/task-state.h"

#include "loaded-index.h"
#include "match/match.h"
#include "replay/replay-report.h"

/* A recording, and a client that plays it without matching anything. */
struct bench {
    struct loaded_index of;
    struct candidates queues, equal, reduced;
    struct used_set used;
    struct actions actions;
    struct replay_report review;
    struct player player;
    struct action_sink out;
    uint64_t timers;
    struct task_state tasks;
};

static void ignore(struct action_sink *self, const struct action *a)
{
    (void)self;
    (void)a;
}

static void set_up(struct bench *b, bool by_params, const char *recording)
{
    *b = (struct bench){ .out = { ignore } };
    loaded_index_init(&b->of, by_params ? MATCH_BY_REQUEST : MATCH_SEQUENTIAL, recording);
    candidates_init(&b->queues, &b->of.index,
                    by_params ? CANDIDATES_BY_PARAMS : CANDIDATES_BY_SUBJECT, 0);
    used_set_init(&b->used, b->of.index.call_count);
    actions_init(&b->actions, &b->out);
    replay_report_init(&b->review, &b->of.index, loaded_index_exact());
    player_init(&b->player, &b->of.index, &b->actions, &b->review, 0, &b->timers);
    b->tasks =
        (struct task_state){ &b->queues, &b->equal, &b->reduced, &b->used, &b->player, 0 };
}

static void tear_down(struct bench *b)
{
    player_release(&b->player);
    replay_report_release(&b->review);
    actions_release(&b->actions);
    used_set_release(&b->used);
    candidates_release(&b->queues);
    loaded_index_release(&b->of);
}

static void use(struct bench *b, uint32_t op)
{
    used_set_mark(&b->used, op, true);
}

#define GET(id, status)                                                                        \
    "c2s {'id':" #id ",'method':'tasks/get','params':{'taskId':'t'}}\n"                        \
    "s2c {'id':" #id ",'result':{'status':'" status "'}}\n"
#define UPDATE(id, task)                                                                       \
    "c2s {'id':" #id ",'method':'tasks/update','params':{'taskId':'" task                      \
    "','inputResponses':{'k':" #id "}}}\n"                                                     \
    "s2c {'id':" #id ",'result':{}}\n"

static void a_task_continues_while_polls_return_working(void **state)
{
    static const struct {
        const char *recording;
        bool goes_on;
    } rows[] = {
        { GET(1, "working") GET(2, "completed"), true },
        { GET(1, "input_required") GET(2, "completed"), false },
        { GET(1, "completed") GET(2, "completed"), false },
        { GET(1, "cancelled") GET(2, "completed"), false },
        { GET(1, "failed") GET(2, "completed"), false },
        { GET(1, "working"), false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;

        set_up(&b, i % 2, rows[i].recording);
        assert_false(task_state_is_running(&b.tasks, STR("t"))); /* not polled */
        use(&b, 1);
        assert_int_equal(task_state_is_running(&b.tasks, STR("t")), rows[i].goes_on);
        assert_false(task_state_is_running(&b.tasks, STR("u")));
        tear_down(&b);
    }
}

static void a_task_waits_for_input_if_the_recorded_client_gave_some(void **state)
{
    static const struct {
        const char *recording;
        bool waits;
    } rows[] = {
        { GET(1, "input_required") UPDATE(2, "t") GET(3, "completed"), true },
        { GET(1, "input_required") GET(3, "completed"), false },
        { GET(1, "input_required") UPDATE(2, "u") GET(3, "completed"), false },
        { GET(1, "input_required") GET(3, "completed") UPDATE(2, "t"), false },
        { GET(1, "input_required") UPDATE(2, "t"), false },
        { GET(1, "working") UPDATE(2, "t") GET(3, "completed"), false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;

        set_up(&b, i % 2, rows[i].recording);
        assert_false(task_state_waits_for_client(
            &b.tasks, STR("t"))); /* the client does not know yet that input is required */
        use(&b, 1);
        assert_int_equal(task_state_waits_for_client(&b.tasks, STR("t")), rows[i].waits);
        use(&b, 2);
        assert_false(task_state_waits_for_client(&b.tasks, STR("t")));
        tear_down(&b);
    }
}

static void a_server_request_before_the_result_is_waited_for(void **state)
{
    struct terse_scanned live;
    struct mcp_message m;
    struct bench b;

    (void)state;
    set_up(&b, false,
           "@0 c2s {'id':1,'method':'tasks/get','params':{'taskId':'t'}}\n"
           "@1000 s2c {'id':1,'result':{'status':'input_required'}}\n"
           "@2000 c2s {'id':2,'method':'tasks/result','params':{'taskId':'t'}}\n"
           "@3000 s2c {'id':9,'method':'elicitation/create'}\n"
           "@4000 c2s {'id':9,'result':{}}\n"
           "@5000 c2s {'id':3,'method':'tasks/get','params':{'taskId':'t'}}\n"
           "@6000 s2c {'id':3,'result':{'status':'completed'}}\n"
           "@7000 s2c {'id':2,'result':{}}\n");
    player_reset(&b.player, terse_scan(&live, "{'elicitation':{}}"), false);
    terse_scanned_release(&live);
    use(&b, 1);
    assert_true(task_state_waits_for_client(&b.tasks, STR("t")));
    m = mcp_classify(
        terse_scan(&live, "{'id':2,'method':'tasks/result','params':{'taskId':'t'}}"),
        &live.arena);
    use(&b, 2);
    player_start(&b.player, 2, &m, false);
    terse_scanned_release(&live);
    assert_true(task_state_waits_for_client(&b.tasks, STR("t")));
    m = mcp_classify(terse_scan(&live, "{'id':9,'result':{}}"), &live.arena);
    assert_true(player_handle_response(&b.player, &m));
    terse_scanned_release(&live);
    assert_false(task_state_waits_for_client(&b.tasks, STR("t")));
    tear_down(&b);
}

static void a_restarted_task_is_polled_and_given_input_again(void **state)
{
    (void)state;
    for (int by_params = 0; by_params < 2; by_params++) {
        struct bench b;

        set_up(&b, by_params,
               GET(1, "input_required") UPDATE(2, "t") GET(3, "completed") UPDATE(4, "u"));
        for (uint32_t op = 1; op <= 4; op++)
            use(&b, op);
        task_state_restart(&b.tasks, STR("t"));
        assert_false(used_set_has(&b.used, 1) || used_set_has(&b.used, 2) ||
                     used_set_has(&b.used, 3));
        assert_true(used_set_has(&b.used, 4));
        tear_down(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_continues_while_polls_return_working),
        cmocka_unit_test(a_task_waits_for_input_if_the_recorded_client_gave_some),
        cmocka_unit_test(a_server_request_before_the_result_is_waited_for),
        cmocka_unit_test(a_restarted_task_is_polled_and_given_input_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
