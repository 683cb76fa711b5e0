#include "engine/front-servers.h"

#include <stdlib.h>

#include "stepper.h"

enum { MOST = 2 };

/* Servers, and what is wished for them. */
struct bench {
    struct stepper wishes;
    struct front_servers servers;
};

static void open_bench(struct bench *b)
{
    stepper_init(&b->wishes, TO_CLIENT, NULL, NULL);
    front_servers_init(&b->servers, MOST, &b->wishes.out);
}

static void close_bench(struct bench *b)
{
    front_servers_release(&b->servers);
    stepper_release(&b->wishes);
}

static struct front_server *take(struct bench *b, enum front_role role)
{
    return front_servers_take(&b->servers, role, 0);
}

static void there_are_so_many_and_as_many_again_wait_for_those_that_end(void **state)
{
    struct front_server *s[2 * MOST];
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < 2 * MOST; i++) {
        assert_int_equal(front_servers_room(&b.servers), FRONT_ROOM);
        s[i] = take(&b, OF_SESSION);
        assert_int_equal(s[i]->number, i + 1);
        if (i >= MOST - 1)
            assert_int_equal(front_servers_room(&b.servers),
                             i < 2 * MOST - 1 ? FRONT_ROOM_IF_ONE_RETIRES : FRONT_NO_ROOM);
        if (i >= MOST - 1 && i < 2 * MOST - 1)
            front_servers_retire(&b.servers, s[i - (MOST - 1)]);
    }
    assert_did(&b.wishes, "start upstream\nstart upstream\n");
    front_servers_send(&b.servers, s[2], STR("{\"id\":1}"), false);
    assert_did(&b.wishes, "");
    front_servers_forget(&b.servers, s[0]);
    assert_did(&b.wishes, "start upstream\nup<< {'id':1}\n");
    assert_null(front_servers_find(&b.servers, 1));
    assert_ptr_equal(front_servers_find(&b.servers, 2), s[1]);
    assert_int_equal(front_servers_room(&b.servers), FRONT_ROOM_IF_ONE_RETIRES);
    close_bench(&b);
}

static void the_spare_is_for_whoever_comes_first(void **state)
{
    struct front_server *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    front_servers_start_spare(&b.servers, 7);
    s = b.servers.spare;
    assert_int_equal(s->used_us, 7);
    assert_ptr_equal(take(&b, OF_SESSION), s);
    assert_null(b.servers.spare);
    assert_ptr_not_equal(take(&b, OF_SESSION), s);
    assert_did(&b.wishes, "start upstream\nstart upstream\n");
    close_bench(&b);
}

static void a_spare_that_retires_is_nobodys_any_more(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    front_servers_start_spare(&b.servers, 0);
    front_servers_retire(&b.servers, b.servers.spare);
    assert_null(b.servers.spare);
    assert_int_equal(b.servers.running, 0);
    close_bench(&b);
}

static void those_without_a_session_share_one_for_each_era(void **state)
{
    struct front_server *legacy, *modern;
    struct bench b;

    (void)state;
    open_bench(&b);
    legacy = take(&b, SHARED_LEGACY);
    modern = take(&b, SHARED_MODERN);
    assert_ptr_equal(b.servers.shared[false], legacy);
    assert_ptr_equal(b.servers.shared[true], modern);
    front_servers_retire(&b.servers, legacy);
    assert_null(b.servers.shared[false]);
    assert_ptr_equal(b.servers.shared[true], modern);
    close_bench(&b);
}

static void a_session_is_known_until_its_server_retires(void **state)
{
    struct front_server *s;
    struct bench b;
    uint64_t session;
    bool minted;

    (void)state;
    open_bench(&b);
    s = take(&b, OF_SESSION);
    memcpy(s->id, "name", sizeof "name");
    s->session = session_ids_named(&b.servers.ids, STR("name"), &minted);
    assert_null(front_servers_of(&b.servers, s->session));
    front_servers_enter(&b.servers, s);
    assert_ptr_equal(front_servers_of(&b.servers, s->session), s);
    assert_int_equal(session_ids_look(&b.servers.ids, STR("name"), &session), SESSION_LIVE);
    front_servers_retire(&b.servers, s);
    assert_null(front_servers_of(&b.servers, s->session));
    assert_int_equal(session_ids_look(&b.servers.ids, STR("name"), &session), SESSION_ENDED);
    close_bench(&b);
}

static void what_is_asked_waits_for_the_answer_to_a_greeting(void **state)
{
    struct front_server *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    s = take(&b, SHARED_LEGACY);
    front_servers_greet(&b.servers, s);
    assert_true(stepper_has(&b.wishes.did, "up<< {\"jsonrpc\":\"2.0\",\"id\":"));
    assert_true(stepper_has(&b.wishes.did, "\ntimer 1 in 60000000 us\n"));
    buf_clear(&b.wishes.did);
    front_servers_send(&b.servers, s, STR("{\"id\":1}"), false);
    front_servers_send(&b.servers, s, STR_NONE, false);
    front_servers_send(&b.servers, s, STR("{\"id\":2}"), false);
    assert_did(&b.wishes, "");
    front_servers_answered(&b.servers, s);
    front_servers_go_on(&b.servers, s);
    front_servers_send(&b.servers, s, STR("{\"id\":3}"), false);
    assert_did(&b.wishes, "up<< {'id':1}\nup<< {'id':2}\nup<< {'id':3}\n");
    assert_null(front_servers_timer(&b.servers, 1));
    close_bench(&b);
}

static void the_time_of_a_greeting_runs_out_once(void **state)
{
    struct front_server *legacy, *modern;
    struct bench b;

    (void)state;
    open_bench(&b);
    legacy = take(&b, SHARED_LEGACY);
    modern = take(&b, SHARED_MODERN);
    front_servers_greet(&b.servers, legacy);
    front_servers_greet(&b.servers, modern);
    assert_ptr_equal(front_servers_timer(&b.servers, 1), legacy);
    assert_null(front_servers_timer(&b.servers, 1));
    front_servers_retire(&b.servers, modern);
    assert_null(front_servers_timer(&b.servers, 2));
    close_bench(&b);
}

static void a_timer_outlives_the_server_it_was_set_for(void **state)
{
    struct front_server *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    s = take(&b, SHARED_LEGACY);
    front_servers_greet(&b.servers, s);
    front_servers_retire(&b.servers, s);
    front_servers_forget(&b.servers, s);
    assert_int_equal(b.servers.timers.count, 0);
    assert_null(front_servers_timer(&b.servers, 1));
    close_bench(&b);
}

static void what_nobody_has_heard_is_given_up_in_the_end(void **state)
{
    struct front_server *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    s = take(&b, OF_SESSION);
    buf_clear(&b.wishes.did);
    front_servers_keep(&b.servers, s, STR("{\"a\":0}"));
    for (int i = 1; i < UNHEARD_MAX - 1; i++)
        front_servers_keep(&b.servers, s, STR("{\"a\":1}"));
    assert_did(&b.wishes, "");
    front_servers_keep(&b.servers, s, STR("{\"a\":1}"));
    assert_did(&b.wishes, "drop {'a':0}\n");
    while (s->unheard.count > 2)
        free(unheard_take(&s->unheard));
    front_servers_retire(&b.servers, s);
    assert_did(&b.wishes, "drop {'a':1}\ndrop {'a':1}\n");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_so_many_and_as_many_again_wait_for_those_that_end),
        cmocka_unit_test(the_spare_is_for_whoever_comes_first),
        cmocka_unit_test(a_spare_that_retires_is_nobodys_any_more),
        cmocka_unit_test(those_without_a_session_share_one_for_each_era),
        cmocka_unit_test(a_session_is_known_until_its_server_retires),
        cmocka_unit_test(what_is_asked_waits_for_the_answer_to_a_greeting),
        cmocka_unit_test(the_time_of_a_greeting_runs_out_once),
        cmocka_unit_test(a_timer_outlives_the_server_it_was_set_for),
        cmocka_unit_test(what_nobody_has_heard_is_given_up_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
