#include "format/format.h"
#include "test.h"

/* What a file holds, in words: one per record, remarks in brackets, how it ended. */
struct seen {
    struct notes notes;
    struct buf words;
};

static void put_note(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    (void)byte;
    buf_printf(&((struct seen *)self)->words, "[%llu %s]", (unsigned long long)line, text);
}

static void put_words(struct buf *to, const struct record *r)
{
    if (r->kind == RECORD_MESSAGE)
        buf_printf(to, "%s %.*s%s ", r->message.dir == TO_SERVER ? ">" : "<",
                   STR_ARG(json_raw(r->message.msg)), r->message.batch.at ? "+" : "");
    else if (r->kind == RECORD_RAW)
        buf_printf(to, "raw %.*s ", STR_ARG(r->bytes.bytes));
    else if (r->kind == RECORD_HEADER)
        buf_printf(to, "header %.*s ", STR_ARG(r->header.name));
    else
        buf_printf(to, "footer %lld ", (long long)r->footer.exit_code);
}

static void check(struct str text, struct str want)
{
    struct seen s = { .notes = { put_note } };
    void *state = jsonrpc_format.open();
    struct err e = ERR_NONE;
    uint64_t line = 1;
    size_t from = 0;
    enum next next;

    buf_init(&s.words, 1 << 16);
    do {
        struct window w = { .bytes = str_skip(text, from), .last = true, .line = line };
        struct taken t = { 0 };
        struct record r;

        w.path = "f";
        w.notes = &s.notes;
        next = jsonrpc_format.next(state, &w, &t, &r, &e);
        from += t.bytes;
        line += t.lines;
        if (next == NEXT_RECORD)
            put_words(&s.words, &r);
    } while (next != NEXT_END && next != NEXT_ERROR);
    buf_printf(&s.words, "%s", next == NEXT_END ? "end" : e.msg);
    assert_str(buf_str(&s.words), want);
    buf_release(&s.words);
    jsonrpc_format.close(state);
}

static void sides_are_told_by_what_a_message_is(void **state)
{
    (void)state;
    check(STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n"
              "{\"id\":1,\"result\":{\"tools\":[]}}\n"
              "{\"id\":1,\"result\":{\"roots\":[]}}\n"),
          STR("> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"} "
              "< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"} "
              "< {\"id\":1,\"result\":{\"tools\":[]}} "
              "> {\"id\":1,\"result\":{\"roots\":[]}} end"));
}

static void what_is_no_message_is_refused(void **state)
{
    (void)state;
    check(STR("[1]\n"), STR("f:1:1: a line must be one JSON-RPC message, an object"));
    check(STR("{\"a\":1}\n"), STR("f:1:1: not a JSON-RPC message"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_are_told_by_what_a_message_is),
        cmocka_unit_test(what_is_no_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
