#include "format/transcript.h"

#include "terse.h"
#include "test.h"

/* Reads the lines of a text under some rules. `want` is the error, or NULL: there is none. */
static void check_text(struct str text, enum format_rules rules, const char *want)
{
    void *state = jsonrpc_format.open();
    struct notes notes = { NULL };
    struct err e = ERR_NONE;
    struct window w = { text, true, 1, "f", &notes };
    enum next_result next;

    jsonrpc_format.set_rules(state, rules);
    do {
        struct consumed t = { 0 };
        struct record r;

        next = jsonrpc_format.next(state, &w, &t, &r, &e);
        w.bytes = str_skip(w.bytes, t.bytes);
        w.line += t.lines;
    } while (next == NEXT_RECORD || next == NEXT_SKIP);
    jsonrpc_format.close(state);
    assert_string_equal(e.msg, want ? want : "");
    assert_int_equal(next, want ? NEXT_ERROR : NEXT_END);
}

static void check(const char *terse, enum format_rules rules, const char *want)
{
    struct arena a = { 0 };

    check_text(terse_json(&a, terse), rules, want);
    arena_release(&a);
}

#define DOCUMENTED FORMAT_RULES_DOCUMENTED
#define HEAD FORMAT_RULES_HEAD
#define NONE FORMAT_RULES_NONE
#define CALL(id) "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'t'}}\n"
#define PING(id) "{'jsonrpc':'2.0','id':" id ",'method':'ping'}\n"
#define RESULT(id) "{'jsonrpc':'2.0','id':" id ",'result':{}}\n"

static void a_second_call_with_an_id_is_rejected(void **state)
{
    (void)state;
    check(CALL("'d'") CALL("'d'"), DOCUMENTED,
          "f:2:1: duplicate tools/call request id: line 1 has it, too");
    check(CALL("'d'") RESULT("'d'") CALL("'d'"), DOCUMENTED,
          "f:3:1: duplicate tools/call request id: line 1 has it, too");
    check("\n" CALL("1") CALL("'1'"), DOCUMENTED,
          "f:3:1: duplicate tools/call request id: line 2 has it, too");
    check(CALL("1") CALL("'2'") CALL("1.0") PING("1") PING("1"), DOCUMENTED, NULL);
    check(CALL("null") CALL("null"), DOCUMENTED, NULL);
    check(CALL("1") CALL("1"), NONE, NULL);
}

static void only_open_requests_count_for_head(void **state)
{
    (void)state;
    check(CALL("'d'") CALL("'d'"), HEAD,
          "f:2:1: two requests without a response have the same id");
    check(CALL("'d'") PING("'d'"), HEAD, NULL); /* the ping is the server's */
    check(CALL("'d'") RESULT("'d'") CALL("'d'"), HEAD, NULL);
    check(CALL("1") CALL("'1'"), HEAD, NULL);
    check(CALL("1.5") CALL("1.5"), HEAD, NULL); /* such an id never correlates */
}

static void an_id_of_the_wrong_type_is_named(void **state)
{
    static const enum format_rules all[] = { NONE, DOCUMENTED, HEAD };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        check(CALL("true"), all[i], "f:1:1: a JSON-RPC id must not be a boolean");
        check(CALL("false"), all[i], "f:1:1: a JSON-RPC id must not be a boolean");
        check(RESULT("[1]"), all[i], "f:1:1: a JSON-RPC id must not be an array");
        check(RESULT("{}"), all[i], "f:1:1: a JSON-RPC id must not be an object");
    }
}

static void head_demands_strict_messages(void **state)
{
    static const char no_id[] = "f:1:1: a JSON-RPC id must be a string or a number";

    (void)state;
    check(CALL("null"), HEAD, no_id);
    check(RESULT("null"), HEAD, no_id);
    check("{'jsonrpc':'2.0','method':'tools/call'}", HEAD, no_id);
    check("{'jsonrpc':'2.0','result':1}", HEAD, no_id);
    check("{'jsonrpc':'2.0','method':'notifications/progress'}\n"
          "{'jsonrpc':'2.0','method':'own'}\n"
          "{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':''}}",
          HEAD, NULL);
    check("{'id':1,'result':1}", HEAD, "f:1:1: a message must have \"jsonrpc\":\"2.0\"");
    check("{'jsonrpc':'2.0','id':1,'result':1,'error':{}}", HEAD,
          "f:1:1: a response must have either a result or an error");
    check("{'jsonrpc':'2.0','id':1,'error':{'code':1.5,'message':''}}", HEAD,
          "f:1:1: an error must have a whole number as 'code' and a string as 'message'");
    check("{'jsonrpc':'2.0','id':1,'method':1,'result':1}", HEAD,
          "f:1:1: a JSON-RPC method must be a string");
    check("{'jsonrpc':'2.0','id':1,'result':{'a':[{'b':1,'`u0062':2}]}}", HEAD,
          "f:1:40: an object has a member twice");
    check("{'jsonrpc':'2.0','id':1,'result':{'a':[{'b':1,'b':2}]}}", DOCUMENTED, NULL);
}

static void a_time_is_a_whole_number_up_to_the_year_9999(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        { "0", 0 },      { "253402300799999", 253402300799999 },
        { "-1", -1 },    { "253402300800000", -1 },
        { "1.0", -1 },   { "1e3", -1 },
        { "\"1\"", -1 }, { "18446744073709551616", -1 },
        { "null", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json_fault fault;
        int64_t ms = -1;
        struct json j;

        json_init(&j);
        assert_true(json_scan(&j, str_z(cases[i].text), &fault));
        if (!transcript_read_ms(json_root(&j), &ms))
            ms = -1;
        assert_int_equal(ms, cases[i].ms);
        json_release(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_call_with_an_id_is_rejected),
        cmocka_unit_test(only_open_requests_count_for_head),
        cmocka_unit_test(an_id_of_the_wrong_type_is_named),
        cmocka_unit_test(head_demands_strict_messages),
        cmocka_unit_test(a_time_is_a_whole_number_up_to_the_year_9999),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
