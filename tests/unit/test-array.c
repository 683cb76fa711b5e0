#include "trace/array.h"

#include "terse.h"
#include "test.h"

struct watcher {
    struct sink sink;
    struct array_watch watch;
    unsigned missing;
};

static bool watch_put(struct sink *self, const struct record *r, struct err *e)
{
    struct watcher *w = (struct watcher *)self;

    (void)e;
    w->missing += array_see(&w->watch, r);
    return true;
}

static unsigned missing_in(const char *story)
{
    struct watcher w = { .sink = { watch_put } };

    terse_pour(&w.sink, story);
    return w.missing + array_end(&w.watch);
}

#define AT(place) "batch=" place " c2s {'method':'n'}\n"
#define FROM_SERVER(place) "batch=" place " s2c {'method':'n'}\n"
#define RAW "raw c2s 7\n"
#define ALONE "c2s {'method':'n'}\n"

static void a_batch_that_is_whole_lacks_nothing(void **state)
{
    (void)state;
    assert_int_equal(missing_in(ALONE AT("1:0/2") AT("1:1/2") ALONE AT("2:0/1") ALONE), 0);
    assert_int_equal(missing_in(AT("1:0/2") FROM_SERVER("2:0/1") AT("1:1/2")), 0);
    assert_int_equal(missing_in(AT("1:0/2") AT("1:1/2") AT("2:0/2") AT("2:1/2")), 0);
}

static void elements_that_are_no_messages_have_their_places(void **state)
{
    (void)state;
    assert_int_equal(missing_in(RAW AT("1:1/4") RAW AT("1:3/4")), 0);
    assert_int_equal(missing_in(AT("1:0/3") RAW RAW ALONE), 0);
    assert_int_equal(missing_in(AT("1:0/3") RAW ALONE), 1);
    assert_int_equal(missing_in(AT("1:0/4") RAW AT("1:3/4")), 1);
}

static void what_is_missing_is_found_wherever_it_was(void **state)
{
    (void)state;
    assert_int_equal(missing_in(AT("1:0/3") AT("1:2/3") ALONE), 1);
    assert_int_equal(missing_in(AT("1:1/2") ALONE), 1);
    assert_int_equal(missing_in(AT("1:0/2") ALONE), 1);
    assert_int_equal(missing_in(AT("1:0/2")), 1);
    assert_int_equal(missing_in(AT("1:0/2") AT("2:0/1")), 1);
    assert_int_equal(missing_in(AT("1:0/2") FROM_SERVER("2:0/2")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_that_is_whole_lacks_nothing),
        cmocka_unit_test(elements_that_are_no_messages_have_their_places),
        cmocka_unit_test(what_is_missing_is_found_wherever_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
