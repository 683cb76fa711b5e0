#include "mcphttp/client-pending.h"

#include "terse.h"
#include "test.h"

static void add(struct client_pending *w, const char *request, const void *by)
{
    struct terse_scanned s;
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(terse_scan(&s, request), &a);

    client_pending_add(w, &m, by);
    arena_release(&a);
    terse_scanned_release(&s);
}

/* Returns the method of the pending request with an id; "" if there is none. */
static struct str found(const struct client_pending *w, const char *id, const void *by)
{
    struct terse_scanned s;
    const struct client_pending_request *at = client_pending_find(w, terse_scan(&s, id), by);

    terse_scanned_release(&s);
    return at ? at->method : STR("");
}

static void an_id_is_found_by_its_value(void **state)
{
    struct client_pending w = { 0 };

    (void)state;
    add(&w, "{'id':1,'method':'number'}", &w);
    add(&w, "{'id':'1','method':'text'}", &w);
    add(&w, "{'id':0,'method':'zero'}", &w);
    assert_str(found(&w, "1.0", &w), STR("number"));
    assert_str(found(&w, "'`u0031'", &w), STR("text"));
    assert_str(found(&w, "0", &w), STR("zero"));
    assert_str(found(&w, "2", &w), STR(""));
    assert_str(found(&w, "null", &w), STR(""));
    client_pending_release(&w);
}

static void an_id_is_found_in_its_exchange_first(void **state)
{
    struct client_pending w = { 0 };
    int one = 0, other = 0;

    (void)state;
    add(&w, "{'id':1,'method':'older'}", &one);
    add(&w, "{'id':1,'method':'younger'}", &other);
    assert_str(found(&w, "1", &other), STR("younger"));
    assert_str(found(&w, "1", &one), STR("older"));
    assert_str(found(&w, "1", NULL), STR("older"));
    client_pending_remove(&w, client_pending_find_first(&w, &one));
    assert_str(found(&w, "1", &one), STR("younger"));
    client_pending_release(&w);
}

static void pending_requests_can_be_reassigned_to_another_exchange(void **state)
{
    struct client_pending w = { 0 };
    int one = 0, other = 0;

    (void)state;
    assert_null(client_pending_find_only(&w, &one));
    add(&w, "{'id':1,'method':'a'}", &one);
    add(&w, "{'id':2,'method':'b'}", &other);
    assert_str(client_pending_find_only(&w, &one)->method, STR("a"));
    client_pending_reassign(&w, &other, &one);
    assert_null(client_pending_find_only(&w, &one));
    assert_null(client_pending_find_first(&w, &other));
    assert_str(client_pending_find_first(&w, &one)->id, STR("1"));
    client_pending_release(&w);
}

static void assert_order(const struct client_pending *w, const char *methods)
{
    const struct client_pending_request *last = NULL;

    for (const struct client_pending_request *at = w->first; at; at = at->next) {
        assert_str(at->method, str_n(methods++, 1));
        last = at;
    }
    assert_int_equal(*methods, 0);
    assert_ptr_equal(w->last, last);
}

static void the_oldest_pending_request_is_first_after_removals(void **state)
{
    struct client_pending w = { 0 };
    int one = 0, other = 0;

    (void)state;
    assert_order(&w, "");
    add(&w, "{'id':1,'method':'a'}", &one);
    add(&w, "{'id':2,'method':'b'}", &one);
    add(&w, "{'id':3,'method':'c'}", &other);
    assert_order(&w, "abc");
    client_pending_remove(&w, w.last);
    assert_order(&w, "ab");
    add(&w, "{'id':4,'method':'d'}", &other);
    assert_order(&w, "abd");
    client_pending_remove(&w, w.first->next);
    assert_order(&w, "ad");
    client_pending_remove(&w, w.first);
    assert_order(&w, "d");
    client_pending_remove_all(&w, &other);
    assert_order(&w, "");
    add(&w, "{'id':5,'method':'e'}", &one);
    assert_order(&w, "e");
    client_pending_release(&w);
    assert_order(&w, "");
}

static void subscriptions_and_cancelled_requests_are_not_waited_for(void **state)
{
    struct client_pending w = { 0 };

    (void)state;
    assert_false(client_pending_has_any(&w));
    add(&w, "{'id':1,'method':'subscriptions/listen'}", &w);
    assert_false(client_pending_has_any(&w));
    add(&w, "{'id':2,'method':'tools/list'}", &w);
    assert_true(client_pending_has_any(&w));
    w.first->next->cancelled = true;
    assert_false(client_pending_has_any(&w));
    assert_int_equal(w.first->kind, CLIENT_PENDING_SUBSCRIPTION);
    assert_int_equal(w.first->next->kind, CLIENT_PENDING_TOOLS_LIST);
    client_pending_release(&w);
}

static void lines_are_sent_in_their_order(void **state)
{
    struct client_queue s = { 0 };

    (void)state;
    client_queue_add(&s, STR("one"), false);
    client_queue_add(&s, STR("four"), true);
    assert_int_equal(s.bytes, 7);
    assert_str(s.first->text, STR("one"));
    assert_false(s.first->is_response);
    client_queue_pop(&s);
    assert_str(s.first->text, STR("four"));
    assert_true(s.first->is_response);
    assert_int_equal(s.bytes, 4);
    client_queue_pop(&s);
    assert_null(s.first);
    assert_int_equal(s.bytes, 0);
    client_queue_add(&s, STR_NONE, false);
    client_queue_add(&s, STR("x"), false);
    assert_int_equal(s.first->text.len, 0);
    client_queue_release(&s);
    assert_null(s.first);
    assert_int_equal(s.bytes, 0);
}

static void queued_requests_that_are_never_sent_become_pending(void **state)
{
    struct client_pending w = { 0 };
    struct client_queue s = { 0 };

    (void)state;
    client_queue_add(&s, STR("{\"id\":1,\"method\":\"a\"}"), false);
    client_queue_add(&s, STR("{\"id\":1,\"result\":{}}"), true);
    client_queue_add(&s, STR("[{\"id\":\"b\",\"method\":\"c\"},{\"method\":\"d\"}]"), false);
    client_queue_move_to_pending(&s, &w);
    assert_null(s.first);
    assert_str(client_pending_find_first(&w, NULL)->method, STR("a"));
    client_pending_remove(&w, w.first);
    assert_str(client_pending_find_first(&w, NULL)->id, STR("\"b\""));
    client_pending_remove(&w, w.first);
    assert_null(w.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_found_by_its_value),
        cmocka_unit_test(an_id_is_found_in_its_exchange_first),
        cmocka_unit_test(pending_requests_can_be_reassigned_to_another_exchange),
        cmocka_unit_test(the_oldest_pending_request_is_first_after_removals),
        cmocka_unit_test(subscriptions_and_cancelled_requests_are_not_waited_for),
        cmocka_unit_test(lines_are_sent_in_their_order),
        cmocka_unit_test(queued_requests_that_are_never_sent_become_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
