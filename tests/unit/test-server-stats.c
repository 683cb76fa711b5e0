#include "ops/server-stats.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

#define HEADER(upstream)                                                                       \
    "| "                                                                                       \
    "{'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z','upstream':"        \
    "'" upstream "','thoughtjack_version':'0.3.0'}\n"
#define INIT(id, name, version)                                                                \
    "c2s {'id':" id ",'method':'initialize'}\n"                                                \
    "s2c {'id':" id ",'result':{'serverInfo':{'name':'" name "','version':'" version "'}}}\n"
#define CALL(id, tool) "c2s {'id':" id ",'method':'tools/call','params':{'name':'" tool "'}}\n"
#define OK(id) "s2c {'id':" id ",'result':{}}\n"

static void feed_file(struct server_stats *s, const char *story)
{
    terse_feed(&s->sink, story);
    server_stats_end_file(s);
}

static const struct server_stats_server *server(const struct server_stats *s, size_t index)
{
    assert_true(index < s->servers.count);
    return s->servers.rows[index];
}

/* The row of a method and its subject, of the client's requests. */
static const struct op_stats_row *row(const struct server_stats *s, size_t index,
                                      const char *method, const char *subject)
{
    struct server_stats_rows rows = server_stats_rows_of(s, server(s, index));

    for (size_t i = 0; i < rows.count; i++)
        if (str_eq(rows.at[i]->method, str_z(method)) &&
            str_eq(rows.at[i]->subject, str_z(subject)) && rows.at[i]->dir == TO_SERVER)
            return rows.at[i];
    fail_msg("no row %s %s", method, subject);
    return NULL;
}

static void calls_are_added_up_over_files(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, INIT("1", "a", "1") CALL("2", "x") OK("2"));
    feed_file(&s, INIT("1", "a", "1") CALL("2", "x") OK("2") CALL("3", "y"));
    server_stats_finish(&s);
    assert_int_equal(s.recordings, 2);
    assert_int_equal(s.servers.count, 1);
    assert_str(server(&s, 0)->name, STR("a"));
    assert_str(server(&s, 0)->version, STR("1"));
    assert_int_equal(server(&s, 0)->recordings, 2);
    assert_int_equal(server(&s, 0)->calls, 5);
    assert_int_equal(row(&s, 0, "initialize", "")->calls, 2);
    assert_int_equal(row(&s, 0, "tools/call", "x")->calls, 2);
    assert_int_equal(row(&s, 0, "tools/call", "y")->outcomes[OUTCOME_PENDING], 1);
    server_stats_release(&s);
}

/* The same ids in the next file belong to other calls. */
static void open_calls_end_with_their_file(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, INIT("1", "a", "1") CALL("2", "x"));
    feed_file(&s, INIT("1", "a", "1") OK("2"));
    server_stats_finish(&s);
    assert_int_equal(row(&s, 0, "tools/call", "x")->outcomes[OUTCOME_PENDING], 1);
    assert_int_equal(row(&s, 0, "tools/call", "x")->outcomes[OUTCOME_OK], 0);
    server_stats_release(&s);
}

static void another_version_is_another_server(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, INIT("1", "a", "1"));
    feed_file(&s, INIT("1", "a", "2") CALL("2", "x"));
    server_stats_finish(&s);
    assert_int_equal(s.servers.count, 2);
    assert_str(server(&s, 0)->version, STR("2")); /* has more calls */
    assert_str(server(&s, 1)->version, STR("1"));
    server_stats_release(&s);
}

static void every_header_begins_a_recording(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, HEADER("one") CALL("1", "x") OK("1") HEADER("two") CALL("1", "x"));
    server_stats_finish(&s);
    assert_int_equal(s.recordings, 2);
    assert_int_equal(s.servers.count, 2);
    assert_str(server(&s, 0)->upstream, STR("one"));
    assert_int_equal(server(&s, 0)->name.len, 0);
    assert_int_equal(row(&s, 0, "tools/call", "x")->outcomes[OUTCOME_OK], 1);
    assert_str(server(&s, 1)->upstream, STR("two"));
    assert_int_equal(row(&s, 1, "tools/call", "x")->outcomes[OUTCOME_PENDING], 1);
    server_stats_release(&s);
}

static void a_server_that_is_named_later_has_the_earlier_calls(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, HEADER("cmd") CALL("1", "x") OK("1") "c2s {'id':2,'method':'ping'}\n"
                                                       "s2c {'id':2,'result':{'_meta':{"
                                                       "'io.modelcontextprotocol/serverInfo':{"
                                                       "'name':'late','version':'3'}}}}\n");
    feed_file(&s, HEADER("cmd") CALL("1", "x")
                      OK("1") "| {'type':'footer','total_messages':2,'duration_ms':0,"
                              "'client_messages':1,'server_messages':1,"
                              "'server_info':{'name':'late','version':'3'}}\n");
    server_stats_finish(&s);
    assert_int_equal(s.servers.count, 1);
    assert_str(server(&s, 0)->name, STR("late"));
    assert_int_equal(server(&s, 0)->recordings, 2);
    assert_int_equal(row(&s, 0, "tools/call", "x")->calls, 2);
    server_stats_release(&s);
}

static void servers_of_one_recording_are_distinguished(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, "conn=1 c2s {'id':1,'method':'initialize'}\n"
                  "conn=2 c2s {'id':1,'method':'initialize'}\n"
                  "conn=2 s2c {'id':1,'result':{'serverInfo':{'name':'b','version':'1'}}}\n"
                  "conn=1 s2c {'id':1,'result':{'serverInfo':{'name':'a','version':'1'}}}\n"
                  "conn=1 c2s {'id':2,'method':'tools/call','params':{'name':'x'}}\n"
                  "conn=2 c2s {'id':2,'method':'tools/call','params':{'name':'x'}}\n"
                  "conn=2 c2s {'id':3,'method':'tools/call','params':{'name':'x'}}\n"
                  "conn=3 c2s {'id':1,'method':'ping'}\n");
    server_stats_finish(&s);
    assert_int_equal(s.recordings, 1);
    assert_int_equal(s.servers.count, 3);
    assert_str(server(&s, 0)->name, STR("b"));
    assert_int_equal(row(&s, 0, "initialize", "")->calls, 1);
    assert_int_equal(row(&s, 0, "tools/call", "x")->calls, 2);
    assert_str(server(&s, 1)->name, STR("a"));
    assert_int_equal(row(&s, 1, "tools/call", "x")->calls, 1);
    assert_int_equal(server(&s, 2)->name.len, 0); /* neither of the two */
    assert_int_equal(row(&s, 2, "ping", "")->calls, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(server(&s, i)->recordings, 1);
    server_stats_release(&s);
}

static void the_session_names_the_server_over_http(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, "conn=1 x=1 c2s {'id':1,'method':'initialize'}\n"
                  "conn=1 session=1 x=1 s2c {'id':1,'result':{'serverInfo':{'name':'a'}}}\n"
                  "conn=2 x=2 c2s {'id':1,'method':'initialize'}\n"
                  "conn=2 session=2 x=2 s2c {'id':1,'result':{'serverInfo':{'name':'b'}}}\n"
                  "conn=9 session=1 x=3 c2s {'id':2,'method':'ping'}\n"
                  "conn=9 session=1 x=3 s2c {'id':2,'result':{}}\n");
    server_stats_finish(&s);
    assert_int_equal(s.servers.count, 2);
    assert_str(server(&s, 0)->name, STR("a"));
    assert_int_equal(server(&s, 0)->version.len, 0);
    assert_int_equal(row(&s, 0, "ping", "")->calls, 1);
    assert_int_equal(server(&s, 1)->calls, 1);
    server_stats_release(&s);
}

static void listed_tools_have_a_row_and_a_size(void **state)
{
    static const char list[] = "c2s {'id':2,'method':'tools/list'}\n"
                               "s2c {'id':2,'result':{'tools':[{'name':'x'},"
                               "{'name':'unused','title':'y'},{'no':1},7]}}\n";
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, INIT("1", "a", "1"));
    feed_file(&s, list);
    feed_file(&s, list);
    server_stats_finish(&s);
    assert_str(server(&s, 0)->name, STR_NONE);
    assert_int_equal(row(&s, 0, "tools/call", "unused")->calls, 0);
    assert_int_equal(row(&s, 0, "tools/call", "unused")->listings, 2);
    assert_int_equal(row(&s, 0, "tools/call", "unused")->definition_max, 29);
    assert_int_equal(row(&s, 0, "tools/call", "x")->definition_max, 12);
    assert_int_equal(server(&s, 0)->tools, 2);
    assert_int_equal(server(&s, 0)->definition_bytes, 41);
    assert_int_equal(server(&s, 1)->tools, 0);
    server_stats_release(&s);
}

static void times_are_merged(void **state)
{
    struct server_stats s;
    const struct op_stats_row *r;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, "@0 c2s {'id':1,'method':'tools/call','params':{'name':'x'}}\n"
                  "@1000 s2c {'id':1,'result':{}}\n");
    feed_file(&s, "@0 c2s {'id':1,'method':'tools/call','params':{'name':'x'}}\n"
                  "@1000 s2c {'id':7,'method':'roots/list'}\n"
                  "@5000 c2s {'id':7,'result':{'roots':[]}}\n"
                  "@6000 s2c {'id':1,'result':{}}\n");
    feed_file(&s, "@0 c2s {'id':1,'method':'tools/call','params':{'name':'x'}}\n"
                  "@3000 s2c {'id':1,'result':{}}\n");
    server_stats_finish(&s);
    r = row(&s, 0, "tools/call", "x");
    assert_int_equal(r->times.total->count, 3);
    assert_int_equal(r->times.total->max, 6000);
    assert_int_equal(r->times.server->count, 3);
    assert_int_equal(r->times.server->max, 3000);
    assert_int_equal(r->times.server->min, 1000);
    assert_int_equal(r->times.wait->count, 3);
    assert_int_equal(r->times.wait->min, 0);
    assert_int_equal(r->times.wait->max, 4000);
    server_stats_release(&s);
}

/* Feeds `count` files, each with a call of a tool of its own. */
static void feed_names(struct server_stats *s, size_t count, const char *server_name)
{
    char story[512];

    for (size_t i = 0; i < count; i++) {
        snprintf(story, sizeof story,
                 INIT("1", "%s%zu", "1") "c2s {'id':2,'method':'tools/call','params':{'name':"
                                         "'tool%zu'}}\n",
                 server_name, server_name[0] == 's' ? i : 0, i);
        feed_file(s, story);
    }
}

static void the_number_of_rows_is_bounded(void **state)
{
    struct server_stats s;
    const struct op_stats_row *others;

    (void)state;
    server_stats_init(&s);
    feed_names(&s, SERVER_STATS_ROWS + 10, "one");
    server_stats_finish(&s);
    assert_int_equal(s.calls.rows.count, SERVER_STATS_ROWS);
    others = s.calls.rows.overflow;
    assert_non_null(others);
    assert_int_equal(others->calls, 11); /* initialize has a row */
    assert_int_equal(server(&s, 0)->recordings, SERVER_STATS_ROWS + 10);
    server_stats_release(&s);
}

static void the_number_of_servers_is_bounded(void **state)
{
    struct server_stats s;
    const struct server_stats_server *others;

    (void)state;
    server_stats_init(&s);
    feed_names(&s, SERVER_STATS_SERVERS + 5, "s");
    server_stats_finish(&s);
    assert_int_equal(s.servers.count, SERVER_STATS_SERVERS);
    others = s.servers.overflow;
    assert_non_null(others);
    assert_int_equal(others->recordings, 5);
    assert_int_equal(others->calls, 10);
    assert_int_equal(server_stats_rows_of(&s, others).count, 6);
    server_stats_release(&s);
}

static struct str clean_name(struct op_stats_cleaner *self, struct str name)
{
    (void)self;
    return str_starts(name, STR("secret")) ? STR("[REDACTED]") : name;
}

static void names_pass_through_the_cleaner(void **state)
{
    struct op_stats_cleaner cleaner = { clean_name };
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    s.cleaner = &cleaner;
    feed_file(&s, HEADER("secret0") CALL("1", "secret1") CALL("2", "secret2"));
    feed_file(&s, INIT("1", "secret3", "1"));
    server_stats_finish(&s);
    assert_str(server(&s, 0)->upstream, STR("[REDACTED]"));
    assert_int_equal(row(&s, 0, "tools/call", "[REDACTED]")->calls, 2);
    assert_str(server(&s, 1)->name, STR("[REDACTED]"));
    server_stats_release(&s);
}

/* Names that differ only behind the kept part have rows of their own, in all files. */
static void long_names_are_distinguished(void **state)
{
    char story[2048], name[600];
    struct server_stats s;

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    server_stats_init(&s);
    for (size_t i = 0; i < 6; i++) {
        snprintf(story, sizeof story,
                 "c2s {'id':2,'method':'resources/read','params':{'uri':'%s%zu'}}\n", name,
                 i % 2);
        feed_file(&s, story);
    }
    server_stats_finish(&s);
    assert_int_equal(s.calls.rows.count, 2);
    assert_int_equal(((const struct op_stats_row *)s.calls.rows.rows[0])->calls, 3);
    server_stats_release(&s);
}

static void a_recording_without_calls_counts(void **state)
{
    struct server_stats s;

    (void)state;
    server_stats_init(&s);
    feed_file(&s, HEADER("cmd"));
    server_stats_end_file(&s); /* an empty file is no recording */
    server_stats_finish(&s);
    assert_int_equal(s.recordings, 1);
    assert_int_equal(server(&s, 0)->recordings, 1);
    assert_int_equal(server(&s, 0)->calls, 0);
    server_stats_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_added_up_over_files),
        cmocka_unit_test(open_calls_end_with_their_file),
        cmocka_unit_test(another_version_is_another_server),
        cmocka_unit_test(every_header_begins_a_recording),
        cmocka_unit_test(a_server_that_is_named_later_has_the_earlier_calls),
        cmocka_unit_test(servers_of_one_recording_are_distinguished),
        cmocka_unit_test(the_session_names_the_server_over_http),
        cmocka_unit_test(listed_tools_have_a_row_and_a_size),
        cmocka_unit_test(times_are_merged),
        cmocka_unit_test(the_number_of_rows_is_bounded),
        cmocka_unit_test(the_number_of_servers_is_bounded),
        cmocka_unit_test(names_pass_through_the_cleaner),
        cmocka_unit_test(long_names_are_distinguished),
        cmocka_unit_test(a_recording_without_calls_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
