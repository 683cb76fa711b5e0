#include "cmd/journal.h"

#include <errno.h>
#include <unistd.h>

#include "desk.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define PING                                                                                   \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"                   \
    "'msg':{'jsonrpc':'2.0','id':1,'method':'ping'}}\n"
#define PONG                                                                                   \
    "{'type':'message','seq':2,'ts':'2026-01-01T00:00:02.000Z','dir':'s2c',"                   \
    "'msg':{'jsonrpc':'2.0','id':1,'result':{}},'latency_ms':0}\n"

static struct app app_at(struct desk *d)
{
    static const struct log none = { .level = LOG_ERROR };

    return (struct app){ .sys = &d->faults.sys, .log = &none };
}

static bool finish(struct desk *d, bool replace, struct err *e)
{
    struct app app = app_at(d);
    bool empty = false;

    return journal_finish(&app, "a.json.cassette.journal", "a.json", &cassette_format, replace,
                          &empty, e);
}

static void its_name_says_what_it_is_to_become(void **state)
{
    const struct format *format = NULL;
    const char *target = NULL;
    struct arena a = { 0 };

    (void)state;
    assert_string_equal(journal_name(&a, "dir/a.json", &cassette_format),
                        "dir/a.json.cassette.journal");
    assert_true(journal_is("dir/a.json.cassette.journal", &a, &target, &format));
    assert_string_equal(target, "dir/a.json");
    assert_ptr_equal(format, &cassette_format);
    arena_release(&a);
}

static void other_names_are_those_of_other_files(void **state)
{
    static const char *const names[] = { "a.json",
                                         "a.journal",
                                         "a.xyz.journal",
                                         ".cassette.journal",
                                         "acassette.journal",
                                         "a.recording.journal",
                                         "a.cassette.journal.fixed" };
    const struct format *format;
    const char *target;
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(journal_is(names[i], &a, &target, &format));
    arena_release(&a);
}

static void the_document_is_made_beside_the_journal(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;

    desk_put(d, "a.json.cassette.journal", HEADER PING PONG);
    assert_true(finish(d, false, &e));
    assert_int_equal(desk_count(d), 2);
    assert_non_null(strstr(desk_get(d, "a.json"), "'method': 'ping'"));
}

static void if_anything_fails_the_journal_stays(void **state)
{
    static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FDATASYNC, FAULT_LINK };
    struct desk *d = *state;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct err e = ERR_NONE;

        fault_init(&d->faults);
        desk_put(d, "a.json.cassette.journal", HEADER PING PONG);
        fault_fail(&d->faults, calls[i], 1, FAULT_FOREVER, ENOSPC);
        assert_false(finish(d, false, &e));
        assert_int_equal(desk_count(d), 1);
        assert_string_equal(desk_get(d, "a.json.cassette.journal"), HEADER PING PONG);
    }
}

/* Its name is not safe yet: a power cut could take both. */
static void if_the_folder_cannot_be_synced_the_journal_stays_too(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;

    desk_put(d, "a.json.cassette.journal", HEADER PING PONG);
    fault_fail(&d->faults, FAULT_FSYNC, 1, 1, EIO);
    assert_false(finish(d, false, &e));
    assert_int_equal(desk_count(d), 2);
}

static void somebody_elses_file_is_replaced_only_when_asked(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;

    desk_put(d, "a.json.cassette.journal", HEADER PING PONG);
    desk_put(d, "a.json", "theirs");
    assert_false(finish(d, false, &e));
    assert_string_equal(desk_get(d, "a.json"), "theirs");
    assert_true(finish(d, true, &e));
    assert_non_null(strstr(desk_get(d, "a.json"), "'method': 'ping'"));
    assert_int_equal(desk_count(d), 2);
}

static void a_journal_without_an_interaction_makes_no_document(void **state)
{
    struct desk *d = *state;
    struct app app = app_at(d);
    struct err e = ERR_NONE;
    bool empty = false;

    desk_put(d, "a.json.cassette.journal", HEADER PING);
    desk_put(d, "a.json", "theirs");
    assert_true(journal_finish(&app, "a.json.cassette.journal", "a.json", &cassette_format,
                               true, &empty, &e));
    assert_true(empty);
    assert_string_equal(desk_get(d, "a.json"), "theirs");
    assert_int_equal(desk_count(d), 2);
}

static void a_journal_that_breaks_off_gives_what_is_in_it(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;

    desk_put(d, "a.json.cassette.journal", HEADER PING PONG "{'type':'mess");
    assert_true(finish(d, false, &e));
    assert_non_null(strstr(desk_get(d, "a.json"), "'method': 'ping'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_name_says_what_it_is_to_become),
        cmocka_unit_test(other_names_are_those_of_other_files),
        AT_A_DESK(the_document_is_made_beside_the_journal),
        AT_A_DESK(if_anything_fails_the_journal_stays),
        AT_A_DESK(if_the_folder_cannot_be_synced_the_journal_stays_too),
        AT_A_DESK(somebody_elses_file_is_replaced_only_when_asked),
        AT_A_DESK(a_journal_without_an_interaction_makes_no_document),
        AT_A_DESK(a_journal_that_breaks_off_gives_what_is_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
