#include "engine/http-waits.h"

#include "terse.h"
#include "test.h"

static void add(struct http_waits *w, const char *request, const void *by)
{
    struct terse_scanned s;
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(terse_scan(&s, request), &a);

    http_waits_add(w, &m, by);
    arena_release(&a);
    terse_scanned_release(&s);
}

/* The method of the one that waits for an id; "" if nobody does. */
static struct str found(const struct http_waits *w, const char *id, const void *by)
{
    struct terse_scanned s;
    const struct http_wait *at = http_waits_find(w, terse_scan(&s, id), by);

    terse_scanned_release(&s);
    return at ? at->method : STR("");
}

static void an_id_is_found_by_what_it_means(void **state)
{
    struct http_waits w = { 0 };

    (void)state;
    add(&w, "{'id':1,'method':'number'}", &w);
    add(&w, "{'id':'1','method':'text'}", &w);
    add(&w, "{'id':0,'method':'zero'}", &w);
    assert_str(found(&w, "1.0", &w), STR("number"));
    assert_str(found(&w, "'`u0031'", &w), STR("text"));
    assert_str(found(&w, "0", &w), STR("zero"));
    assert_str(found(&w, "2", &w), STR(""));
    assert_str(found(&w, "null", &w), STR(""));
    http_waits_release(&w);
}

static void of_two_with_the_same_id_the_bringers_own_counts(void **state)
{
    struct http_waits w = { 0 };
    int one = 0, other = 0;

    (void)state;
    add(&w, "{'id':1,'method':'older'}", &one);
    add(&w, "{'id':1,'method':'younger'}", &other);
    assert_str(found(&w, "1", &other), STR("younger"));
    assert_str(found(&w, "1", &one), STR("older"));
    assert_str(found(&w, "1", NULL), STR("older"));
    http_waits_remove(&w, http_waits_of(&w, &one));
    assert_str(found(&w, "1", &one), STR("younger"));
    http_waits_release(&w);
}

static void what_one_brought_can_be_anothers(void **state)
{
    struct http_waits w = { 0 };
    int one = 0, other = 0;

    (void)state;
    assert_null(http_waits_only(&w, &one));
    add(&w, "{'id':1,'method':'a'}", &one);
    add(&w, "{'id':2,'method':'b'}", &other);
    assert_str(http_waits_only(&w, &one)->method, STR("a"));
    http_waits_pass(&w, &other, &one);
    assert_null(http_waits_only(&w, &one));
    assert_null(http_waits_of(&w, &other));
    assert_str(http_waits_of(&w, &one)->id, STR("1"));
    http_waits_release(&w);
}

static void assert_order(const struct http_waits *w, const char *methods)
{
    const struct http_wait *last = NULL;

    for (const struct http_wait *at = w->first; at; at = at->next) {
        assert_str(at->method, str_n(methods++, 1));
        last = at;
    }
    assert_int_equal(*methods, 0);
    assert_ptr_equal(w->last, last);
}

static void the_oldest_is_first_whoever_has_gone(void **state)
{
    struct http_waits w = { 0 };
    int one = 0, other = 0;

    (void)state;
    assert_order(&w, "");
    add(&w, "{'id':1,'method':'a'}", &one);
    add(&w, "{'id':2,'method':'b'}", &one);
    add(&w, "{'id':3,'method':'c'}", &other);
    assert_order(&w, "abc");
    http_waits_remove(&w, w.last);
    assert_order(&w, "ab");
    add(&w, "{'id':4,'method':'d'}", &other);
    assert_order(&w, "abd");
    http_waits_remove(&w, w.first->next);
    assert_order(&w, "ad");
    http_waits_remove(&w, w.first);
    assert_order(&w, "d");
    http_waits_forget(&w, &other);
    assert_order(&w, "");
    add(&w, "{'id':5,'method':'e'}", &one);
    assert_order(&w, "e");
    http_waits_release(&w);
    assert_order(&w, "");
}

static void subscriptions_and_what_was_given_up_are_not_waited_for(void **state)
{
    struct http_waits w = { 0 };

    (void)state;
    assert_false(http_waits_any(&w));
    add(&w, "{'id':1,'method':'subscriptions/listen'}", &w);
    assert_false(http_waits_any(&w));
    add(&w, "{'id':2,'method':'tools/list'}", &w);
    assert_true(http_waits_any(&w));
    w.first->next->given_up = true;
    assert_false(http_waits_any(&w));
    assert_int_equal(w.first->what, HTTP_WAIT_NEWS);
    assert_int_equal(w.first->next->what, HTTP_WAIT_TOOLS);
    http_waits_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_found_by_what_it_means),
        cmocka_unit_test(of_two_with_the_same_id_the_bringers_own_counts),
        cmocka_unit_test(what_one_brought_can_be_anothers),
        cmocka_unit_test(the_oldest_is_first_whoever_has_gone),
        cmocka_unit_test(subscriptions_and_what_was_given_up_are_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
