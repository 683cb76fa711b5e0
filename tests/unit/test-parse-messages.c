#include "trace/parse-messages.h"

#include "mcp/message.h"

#include "terse.h"
#include "test.h"

/* Returns the records of one line. */
static void check_line(const char *line, const char *want)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct message_parser in;
    struct terse t;

    message_parser_init(&in);
    terse_init(&t);
    assert_true(message_parser_line(&in, TO_SERVER, terse_json(&a, line), &t.sink, &e));
    assert_terse(&t, want);
    terse_release(&t);
    message_parser_release(&in);
    arena_release(&a);
}

static void a_message_becomes_one_record(void **state)
{
    (void)state;
    check_line("{'id':1,'method':'ping'}", "c2s {'id':1,'method':'ping'}\n");
    check_line("{'method':'notifications/x'}", "c2s {'method':'notifications/x'}\n");
    check_line("{'id':0,'result':null}", "c2s {'id':0,'result':null}\n");
    check_line("{'id':null,'error':{}}", "c2s {'id':null,'error':{}}\n");
}

static void bytes_are_kept_except_surrounding_blanks(void **state)
{
    (void)state;
    check_line(" \t{ 'id' : 1.0e0, 'id':1, 'method':'p`u0069ng`ud800' }\r",
               "c2s { 'id' : 1.0e0, 'id':1, 'method':'p`u0069ng`ud800' }\n");
}

static void each_element_of_a_batch_becomes_a_record(void **state)
{
    (void)state;
    check_line("[{'id':1,'method':'a'}, {'method':'b'},{'id':1,'result':{}}]",
               "c2s {'id':1,'method':'a'} batch={'id':1,'index':0,'count':3}\n"
               "c2s {'method':'b'} batch={'id':1,'index':1,'count':3}\n"
               "c2s {'id':1,'result':{}} batch={'id':1,'index':2,'count':3}\n");
}

static void an_element_that_is_not_a_message_becomes_raw_and_is_counted(void **state)
{
    (void)state;
    check_line("[1,{'method':'b'},[{'method':'c'}],{}]",
               "raw c2s 1 (not JSON-RPC)\n"
               "c2s {'method':'b'} batch={'id':1,'index':1,'count':4}\n"
               "raw c2s [{'method':'c'}] (not JSON-RPC)\n"
               "raw c2s {} (not JSON-RPC)\n");
}

static void text_that_is_not_a_message_becomes_raw_with_the_reason(void **state)
{
    (void)state;
    check_line("hello", "raw c2s hello (not JSON)\n");
    check_line("{'id':1,'method':'ping'}}", "raw c2s {'id':1,'method':'ping'}} (not JSON)\n");
    check_line("{'id':1,'meth", "raw c2s {'id':1,'meth (not JSON)\n");
    check_line("[]", "raw c2s [] (not JSON-RPC)\n");
    check_line("7", "raw c2s 7 (not JSON-RPC)\n");
    check_line("{'id':true,'method':'ping'}",
               "raw c2s {'id':true,'method':'ping'} (not JSON-RPC)\n");
    check_line("{'level':'info'}", "raw c2s {'level':'info'} (not JSON-RPC)\n");
    check_line("\xff", "raw c2s \xff (not JSON)\n");
}

static void a_line_that_is_not_json_keeps_its_blanks(void **state)
{
    (void)state;
    check_line("  hello \r", "raw c2s   hello \r (not JSON)\n");
}

static void a_blank_line_gives_no_record(void **state)
{
    (void)state;
    check_line("", "");
    check_line(" \t\r", "");
}

static void batches_are_numbered_and_directions_kept(void **state)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct message_parser in;
    struct terse t;

    (void)state;
    message_parser_init(&in);
    terse_init(&t);
    assert_true(
        message_parser_line(&in, TO_SERVER, terse_json(&a, "[{'method':'a'}]"), &t.sink, &e));
    assert_true(
        message_parser_line(&in, TO_SERVER, terse_json(&a, "{'method':'b'}"), &t.sink, &e));
    assert_true(
        message_parser_line(&in, TO_CLIENT, terse_json(&a, "[{'method':'c'}]"), &t.sink, &e));
    assert_true(message_parser_line(&in, TO_CLIENT, STR("x"), &t.sink, &e));
    assert_terse(&t, "c2s {'method':'a'} batch={'id':1,'index':0,'count':1}\n"
                     "c2s {'method':'b'}\n"
                     "s2c {'method':'c'} batch={'id':2,'index':0,'count':1}\n"
                     "raw s2c x (not JSON)\n");
    terse_release(&t);
    message_parser_release(&in);
    arena_release(&a);
}

/* Fails the first record and counts them all. */
struct failing_sink {
    struct sink sink;
    size_t offered;
};

static bool fail_first(struct sink *self, const struct record *r, struct err *e)
{
    struct failing_sink *f = (struct failing_sink *)self;

    (void)r;
    return f->offered++ || err_set(e, ERR_IO, "no room");
}

static void all_elements_of_a_batch_are_put_although_the_first_failed(void **state)
{
    struct failing_sink f = { .sink = { fail_first } };
    struct err e = ERR_NONE;
    struct message_parser in;

    (void)state;
    message_parser_init(&in);
    assert_false(message_parser_line(&in, TO_SERVER, STR("[1,2,3]"), &f.sink, &e));
    assert_int_equal(f.offered, 3);
    assert_string_equal(e.msg, "no room");
    message_parser_release(&in);
}

static void only_known_members_are_filled_in(void **state)
{
    struct err e = ERR_NONE;
    struct message_parser in;
    struct terse t;

    (void)state;
    message_parser_init(&in);
    terse_init(&t);
    assert_true(message_parser_line(&in, TO_SERVER, STR("{\"method\":\"a\"}"), &t.sink, &e));
    /* No time, no connection, no number. */
    assert_terse(&t, "c2s {'method':'a'}\n");
    terse_release(&t);
    message_parser_release(&in);
}

struct record_log {
    struct sink sink;
    struct buf kinds;
};

static bool note_record(struct sink *self, const struct record *r, struct err *e)
{
    struct record_log *l = (struct record_log *)self;

    (void)e;
    assert_int_equal(r->kind, RECORD_MESSAGE);
    assert_str(json_raw(r->message.parsed->root), json_raw(r->message.msg));
    buf_printf(&l->kinds, "%s ", mcp_kind_name(r->message.parsed->kind));
    return true;
}

static void a_record_has_the_kind_of_its_message(void **state)
{
    struct record_log l = { .sink = { note_record } };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct message_parser in;

    (void)state;
    message_parser_init(&in);
    buf_init(&l.kinds, 1024);
    assert_true(message_parser_line(&in, TO_SERVER,
                                    terse_json(&a, "[{'id':1,'method':'a'},{'method':'b'},"
                                                   "{'id':1,'result':{}},{'id':2,'error':{}}]"),
                                    &l.sink, &e));
    assert_str(buf_str(&l.kinds), STR("request notification result error "));
    buf_release(&l.kinds);
    message_parser_release(&in);
    arena_release(&a);
}

static void line_breaks_in_a_body_become_blanks(void **state)
{
    struct terse seen;
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct message_parser in;

    (void)state;
    terse_init(&seen);
    message_parser_init(&in);
    assert_true(message_parser_text(
        &in, TO_SERVER, terse_json(&a, "\n{'id':1,\r\n'method':\n'a'}\n"), &seen.sink, &e));
    assert_true(message_parser_text(&in, TO_SERVER, terse_json(&a, "{'id':1,'method':'a\nb'}"),
                                    &seen.sink, &e));
    assert_terse(&seen, "c2s {'id':1,  'method': 'a'}\n"
                        "raw c2s {'id':1,'method':'a\nb'} (not JSON)\n");
    message_parser_release(&in);
    terse_release(&seen);
    arena_release(&a);
}

static void messages_can_be_inspected_before_they_are_put(void **state)
{
    struct message_parser in;

    (void)state;
    message_parser_init(&in);
    assert_int_equal(message_parser_peek(&in, STR(" \n")), PARSE_EMPTY);
    assert_int_equal(message_parser_peek(&in, STR("{\"method\":\n\"a\"}")), PARSE_MESSAGE);
    assert_int_equal(message_parser_peek(&in, STR("[{\"method\":\"a\"}]")), PARSE_BATCH);
    assert_int_equal(message_parser_peek(&in, STR("[]")), PARSE_OTHER);
    assert_int_equal(message_parser_peek(&in, STR("{}")), PARSE_OTHER);
    assert_int_equal(message_parser_peek(&in, STR("{")), PARSE_OTHER);
    message_parser_release(&in);
}

static void inspected_messages_give_the_same_records(void **state)
{
    static const struct {
        const char *text;
        enum parse_kind kind;
    } cases[] = {
        { "", PARSE_EMPTY },
        { " \n", PARSE_EMPTY },
        { " {'id':1,'method':'a'} ", PARSE_MESSAGE },
        { "{'id':1,\r\n'method':'a'}\n", PARSE_MESSAGE },
        { "[{'id':1,'method':'a'},1]", PARSE_BATCH },
        { "[{'id':1,\n'method':'a'}]", PARSE_BATCH },
        { "[]", PARSE_OTHER },
        { "{}", PARSE_OTHER },
        { "{'id':1", PARSE_OTHER },
        { "no\nJSON", PARSE_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message_parser looks, takes;
        struct terse seen, taken;
        struct err e = ERR_NONE;
        struct arena a = { 0 };
        struct str text = terse_json(&a, cases[i].text);

        terse_init(&seen);
        terse_init(&taken);
        message_parser_init(&looks);
        message_parser_init(&takes);
        assert_int_equal(message_parser_peek(&looks, STR("{\"method\":\"before\"}")),
                         PARSE_MESSAGE);
        assert_int_equal(message_parser_peek(&looks, text), cases[i].kind);
        assert_true(message_parser_peeked(&looks, TO_SERVER, &seen.sink, &e));
        assert_true(message_parser_text(&takes, TO_SERVER, text, &taken.sink, &e));
        assert_str(buf_str(&seen.text), buf_str(&taken.text));
        terse_release(&seen);
        terse_release(&taken);
        message_parser_release(&looks);
        message_parser_release(&takes);
        arena_release(&a);
    }
}

static void inspected_messages_are_found_after_another_text(void **state)
{
    static const char *const between[] = { "{'id':2,'method':'b'}", "{'id':2,\n'method':'b'}",
                                           "no JSON" };

    (void)state;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        struct message_parser in;
        struct terse want, got;
        struct err e = ERR_NONE;
        struct arena a = { 0 };
        struct str first = terse_json(&a, "{'id':1,'method':'a'}");
        struct str second = terse_json(&a, between[i]);

        terse_init(&want);
        terse_init(&got);
        message_parser_init(&in);
        assert_true(message_parser_text(&in, TO_SERVER, second, &want.sink, &e));
        assert_true(message_parser_text(&in, TO_SERVER, first, &want.sink, &e));
        assert_int_equal(message_parser_peek(&in, first), PARSE_MESSAGE);
        assert_true(message_parser_text(&in, TO_SERVER, second, &got.sink, &e));
        assert_true(message_parser_peeked(&in, TO_SERVER, &got.sink, &e));
        assert_str(buf_str(&got.text), buf_str(&want.text));
        terse_release(&want);
        terse_release(&got);
        message_parser_release(&in);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_has_the_kind_of_its_message),
        cmocka_unit_test(a_message_becomes_one_record),
        cmocka_unit_test(bytes_are_kept_except_surrounding_blanks),
        cmocka_unit_test(each_element_of_a_batch_becomes_a_record),
        cmocka_unit_test(an_element_that_is_not_a_message_becomes_raw_and_is_counted),
        cmocka_unit_test(text_that_is_not_a_message_becomes_raw_with_the_reason),
        cmocka_unit_test(a_line_that_is_not_json_keeps_its_blanks),
        cmocka_unit_test(a_blank_line_gives_no_record),
        cmocka_unit_test(batches_are_numbered_and_directions_kept),
        cmocka_unit_test(all_elements_of_a_batch_are_put_although_the_first_failed),
        cmocka_unit_test(only_known_members_are_filled_in),
        cmocka_unit_test(line_breaks_in_a_body_become_blanks),
        cmocka_unit_test(messages_can_be_inspected_before_they_are_put),
        cmocka_unit_test(inspected_messages_give_the_same_records),
        cmocka_unit_test(inspected_messages_are_found_after_another_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
