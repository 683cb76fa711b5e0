#include "format/format.h"
#include "test.h"

/* What a trace holds, in words: one per record, remarks in brackets, how it ended. */
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
    void *state = trace_format.open();
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
        next = trace_format.next(state, &w, &t, &r, &e);
        from += t.bytes;
        line += t.lines;
        if (next == NEXT_RECORD)
            put_words(&s.words, &r);
    } while (next != NEXT_END && next != NEXT_ERROR);
    buf_printf(&s.words, "%s", next == NEXT_END ? "end" : e.msg);
    assert_str(buf_str(&s.words), want);
    buf_release(&s.words);
    trace_format.close(state);
}

#define META                                                                                   \
    "{\"v\":1,\"type\":\"meta\",\"startedAt\":\"2026-05-12T23:00:00.000Z\",\"label\":\"fs\","  \
    "\"command\":[\"npx\",\"x\"]}\n"
#define LINE(dir, raw)                                                                         \
    "{\"t\":\"2026-05-12T23:00:00.123Z\",\"dir\":\"" dir "\",\"raw\":" raw "}\n"
#define FINAL                                                                                  \
    "{\"t\":\"2026-05-12T23:00:30.000Z\",\"type\":\"end\",\"exitCode\":7,\"durationMs\":9}\n"

static void a_whole_trace_gives_its_records_in_order(void **state)
{
    (void)state;
    check(
        STR(META LINE("in", "{\"id\":1,\"method\":\"a\"}")
                LINE("out", "{\"id\":1,\"result\":{}}") FINAL),
        STR("header fs > {\"id\":1,\"method\":\"a\"} < {\"id\":1,\"result\":{}} footer 7 end"));
}

static void an_array_is_one_record_for_each_element(void **state)
{
    (void)state;
    check(STR(META LINE("in", "[{\"id\":1,\"method\":\"a\"},7]") LINE("out", "[]")),
          STR("header fs > {\"id\":1,\"method\":\"a\"}+ raw 7 raw [] end"));
}

static void what_is_missing_or_unknown_is_named(void **state)
{
    (void)state;
    check(STR(META "{\"dir\":\"in\",\"raw\":{}}\n"),
          STR("header fs f:2:1: 't' must be a date and time like 2026-05-12T23:00:00.000Z"));
    check(STR(META LINE("up", "{}")), STR("header fs f:2:39: 'dir' must be \"in\" or \"out\""));
    check(STR("{\"v\":2,\"type\":\"meta\"}\n"),
          STR("f:1:6: this is a trace of version 2; this program reads version 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_trace_gives_its_records_in_order),
        cmocka_unit_test(an_array_is_one_record_for_each_element),
        cmocka_unit_test(what_is_missing_or_unknown_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
