#include "cmd/reel.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "desk.h"
#include "test.h"

/* A recording that nobody is behind: the test puts lines into its tap. */
struct scene {
    struct desk *desk;
    struct log log;
    struct app app;
    struct redaction redaction;
    struct record_settings how;
    struct record_place place;
    struct reel reel;
    unsigned waits;
};

static void say(void *to, struct str line)
{
    buf_add(to, line);
}

static void count_wait(void *to)
{
    struct scene *s = to;

    s->waits++;
}

static char *server[] = { "some-server", "--flag", NULL };
static char *nothing[] = { NULL };

static void set(struct scene *s, struct desk *d, const char *output, bool force)
{
    struct redaction_args args = { .server_url = true, .defaults = true };
    struct record_wish wish = { .output = output, .server = server, .force = force };
    struct err e = ERR_NONE;

    *s = (struct scene){ .desk = d };
    buf_clear(&d->err);
    s->log = (struct log){ .level = LOG_INFO, .put = say, .to = &d->err };
    s->app = (struct app){ .sys = &d->faults.sys, .env = nothing, .log = &s->log };
    assert_true(redaction_init(&s->redaction, &s->app, &args, NULL, &e));
    s->how = (struct record_settings){ .server = server,
                                       .server_count = 2,
                                       .max_message = 1 << 20,
                                       .flush_us = 1000000,
                                       .redaction = &s->redaction };
    assert_true(record_place_find(&s->place, &s->app, &wish, &e));
    reel_init(&s->reel, &s->app, &s->place, &s->how, count_wait, s);
}

static void clear(struct scene *s)
{
    reel_release(&s->reel);
    record_place_release(&s->place);
    redaction_release(&s->redaction);
}

static void start(struct scene *s)
{
    struct err e = ERR_NONE;

    if (!reel_settle(&s->reel, true, &e))
        fail_msg("%s", e.msg);
    reel_begin(&s->reel, STR("stdio"));
}

static void put(struct scene *s, enum record_dir dir, const char *line)
{
    struct reel *r = &s->reel;

    reel_check(r, tap_line(&r->tap, dir, str_z(line), reel_now(r), &r->why));
}

static void put_call(struct scene *s)
{
    put(s, TO_SERVER, "{\"id\":1,\"method\":\"ping\"}");
    put(s, TO_CLIENT, "{\"id\":1,\"result\":{}}");
}

static size_t lines_in(struct desk *d, const char *path)
{
    const char *text = desk_get(d, path);
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

static void what_is_put_is_in_the_file_at_once_and_told_at_the_end(void **state)
{
    struct desk *d = *state;
    struct scene s;

    set(&s, d, "a.jsonl", false);
    start(&s);
    put_call(&s);
    assert_int_equal(lines_in(d, "a.jsonl"), 3);
    assert_int_equal(reel_end(&s.reel, 7, NULL), 7);
    clear(&s);
    assert_int_equal(lines_in(d, "a.jsonl"), 4);
    assert_has(desk_get(d, "a.jsonl"), "'upstream':'some-server --flag'");
    assert_has(desk_get(d, "a.jsonl"), "'command':['some-server','--flag']");
    assert_has(desk_get(d, "a.jsonl"), "'exit_code':7");
    assert_str(buf_str(&d->err), STR("mcpreel: recording to a.jsonl\n"
                                     "mcpreel: recorded 2 messages in a.jsonl\n"));
}

static void a_server_at_a_url_has_no_command(void **state)
{
    struct desk *d = *state;
    struct scene s;

    set(&s, d, "a.jsonl", false);
    s.how.server = NULL;
    s.how.url = "http://me:secret@host/path";
    start(&s);
    assert_int_equal(reel_end(&s.reel, 0, NULL), 0);
    clear(&s);
    assert_has(desk_get(d, "a.jsonl"), "'upstream':'http://host/[REDACTED]'");
    assert_null(strstr(desk_get(d, "a.jsonl"), "'command'"));
}

static void what_is_abandoned_leaves_nothing(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;
    struct scene s;

    set(&s, d, "a.jsonl", false);
    assert_true(reel_settle(&s.reel, true, &e));
    assert_int_equal(desk_count(d), 1);
    reel_abandon(&s.reel);
    clear(&s);
    assert_int_equal(desk_count(d), 0);
}

static void a_name_that_is_taken_is_refused_and_one_of_ours_gives_way(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;
    struct scene s;
    char first[256];

    desk_put(d, "a.jsonl", "old");
    set(&s, d, "a.jsonl", false);
    assert_false(reel_settle(&s.reel, true, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(desk_get(d, "a.jsonl"), "old");
    clear(&s);

    set(&s, d, "./", false);
    snprintf(first, sizeof first, "%s", s.place.path);
    desk_put(d, first, "old");
    start(&s);
    assert_string_not_equal(s.place.path, first);
    assert_int_equal(reel_end(&s.reel, 0, NULL), 0);
    clear(&s);
    assert_string_equal(desk_get(d, first), "old");
}

static void without_open_the_place_is_only_looked_at(void **state)
{
    struct desk *d = *state;
    struct err e = ERR_NONE;
    struct scene s;

    set(&s, d, "a.jsonl", true);
    assert_true(reel_settle(&s.reel, false, &e));
    assert_int_equal(desk_count(d), 0);
    clear(&s);
}

static void what_is_lost_is_told_once_and_is_a_failure_if_strict(void **state)
{
    struct desk *d = *state;

    for (int strict = 0; strict < 2; strict++) {
        struct scene s;

        set(&s, d, strict ? "b.jsonl" : "a.jsonl", false);
        s.how.strict = strict;
        fault_fail(&d->faults, FAULT_WRITE, d->faults.calls[FAULT_WRITE] + 2, FAULT_FOREVER,
                   ENOSPC);
        start(&s);
        put_call(&s);
        put_call(&s);
        assert_int_equal(reel_end(&s.reel, 0, "so it is"), strict ? RECORD_SESSION_FAILED : 0);
        clear(&s);
        d->faults.count = 0;
        assert_has(buf_z(&d->err), "warning: the recording waits in memory: cannot write");
        assert_has(buf_z(&d->err), "the recording is incomplete: cannot write");
        assert_has(buf_z(&d->err), "recorded only 0 of 4 messages in");
        assert_has(buf_z(&d->err), "; so it is\n");
        assert_int_equal(s.waits, 1);
    }
}

static void what_was_too_long_counts_as_missing(void **state)
{
    struct desk *d = *state;
    struct scene s;

    set(&s, d, "a.jsonl", false);
    s.how.strict = true;
    start(&s);
    put_call(&s);
    s.reel.too_long = 1;
    assert_int_equal(reel_end(&s.reel, 0, NULL), RECORD_SESSION_FAILED);
    clear(&s);
    assert_has(buf_z(&d->err),
               "recorded only 2 of 3 messages in a.jsonl; 1 was longer than --max-message\n");
}

static void a_document_is_made_of_a_journal_and_says_what_it_lost(void **state)
{
    struct desk *d = *state;
    struct scene s;

    desk_put(d, "a.json", "old");
    set(&s, d, "a.json", true);
    start(&s);
    put_call(&s);
    assert_string_equal(desk_get(d, "a.json"), "old");
    assert_int_equal(lines_in(d, "a.json.cassette.journal"), 3);
    assert_int_equal(reel_end(&s.reel, 0, NULL), 0);
    clear(&s);
    assert_int_equal(desk_count(d), 1);
    assert_has(desk_get(d, "a.json"), "'interactions'");
    assert_has(buf_z(&d->err), "recorded 2 messages in a.json; lost in 'cassette': ");
}

static void time_never_goes_back(void **state)
{
    struct tap_time before = { 0 };
    struct scene s;

    set(&s, *state, "a.jsonl", false);
    for (int i = 0; i < 1000; i++) {
        struct tap_time now = reel_now(&s.reel);

        assert_true(now.us >= before.us && now.wall_us > 0);
        before = now;
    }
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_A_DESK(what_is_put_is_in_the_file_at_once_and_told_at_the_end),
        AT_A_DESK(a_server_at_a_url_has_no_command),
        AT_A_DESK(what_is_abandoned_leaves_nothing),
        AT_A_DESK(a_name_that_is_taken_is_refused_and_one_of_ours_gives_way),
        AT_A_DESK(without_open_the_place_is_only_looked_at),
        AT_A_DESK(what_is_lost_is_told_once_and_is_a_failure_if_strict),
        AT_A_DESK(what_was_too_long_counts_as_missing),
        AT_A_DESK(a_document_is_made_of_a_journal_and_says_what_it_lost),
        AT_A_DESK(time_never_goes_back),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
