#include "record/transcript-secrets.h"

#include "redact/redaction.h"
#include "test.h"

enum { SEEN_BYTES = 4096 };

/* Passes records through transcript_secrets and the redactor. */
struct secrets_run {
    struct sink sink;
    struct redaction redaction;
    struct transcript_secrets secrets;
    struct buf seen; /* members and event data of each record */
};

static bool note_record(struct sink *self, const struct record *r, struct err *e)
{
    struct secrets_run *t = (struct secrets_run *)self;

    (void)e;
    buf_add(&t->seen, r->unknown_members);
    if (r->kind == RECORD_SSE)
        buf_add(&t->seen, r->sse.data);
    buf_add_ch(&t->seen, '\n');
    return true;
}

static void setup(struct secrets_run *t, bool redacts_urls)
{
    static const struct log silent = { .write = NULL };
    struct err e = ERR_NONE;

    secret_rules_init(&t->redaction.secrets);
    assert_true(secret_rules_seal(&t->redaction.secrets, &e));
    redaction_init(&t->redaction, &silent);
    t->sink = (struct sink){ note_record };
    buf_init(&t->seen, SEEN_BYTES);
    transcript_secrets_init(&t->secrets, redaction_seen_secrets(&t->redaction), redacts_urls,
                            redaction_sink(&t->redaction, &t->sink));
}

static void teardown(struct secrets_run *t)
{
    transcript_secrets_release(&t->secrets);
    redaction_release(&t->redaction);
    buf_release(&t->seen);
}

static void put(struct secrets_run *t, struct record r)
{
    struct err e = ERR_NONE;

    assert_true(t->secrets.sink.put(&t->secrets.sink, &r, &e));
}

static void put_members(struct secrets_run *t, const char *members)
{
    put(t, (struct record){ .kind = RECORD_HEADER, .unknown_members = str_z(members) });
}

static void put_event(struct secrets_run *t, const char *event, const char *data, unsigned has)
{
    put(t, (struct record){ .kind = RECORD_SSE,
                            .has = has,
                            .sse = { .event = str_z(event), .data = str_z(data) } });
}

static void session_ids_in_headers_and_their_repetitions_are_redacted(void **state)
{
    struct secrets_run t;

    (void)state;
    setup(&t, true);
    put_members(&t, "{\"x\":{\"headers\":{\"Mcp-Session-Id\":\"ab12cd34ef56\",\"x\":\"y\"}}}");
    put_members(&t, "{\"x\":{\"headers\":[{\"name\":\"cookie\",\"value\":"
                    "\"sid=abc123def4\"}]}}");
    put_members(&t, "{\"x\":{\"transport_context\":{\"session_id\":\"1234-5678\"}}}");
    put_event(&t, "note", "of ab12cd34ef56, abc123def4, 1234-5678", 0);
    assert_str(
        buf_str(&t.seen),
        STR("{\"x\":{\"headers\":{\"Mcp-Session-Id\":"
            "\"[REDACTED:Mcp-Session-Id]\",\"x\":\"y\"}}}\n"
            "{\"x\":{\"headers\":[{\"name\":\"cookie\","
            "\"value\":\"sid=[REDACTED:cookie]\"}]}}\n"
            "{\"x\":{\"transport_context\":{\"session_id\":\"[REDACTED:session_id]\"}}}\n"
            "of [REDACTED:Mcp-Session-Id], [REDACTED:cookie], [REDACTED:session_id]\n"));
    teardown(&t);
}

static void a_short_session_id_is_replaced_in_headers(void **state)
{
    struct secrets_run t;

    (void)state;
    setup(&t, true);
    put_members(&t, "{\"x\":{\"headers\":{\"mcp-session-id\":\"abcdefghijk\",\"a\":1}}}");
    put_members(&t, "{\"x\":{\"headers\":[{\"name\":\"Mcp-Session-Id\",\"value\":\"s1\"}]}}");
    assert_str(buf_str(&t.seen),
               STR("{\"x\":{\"headers\":{\"mcp-session-id\":\"[REDACTED]\",\"a\":1}}}\n"
                   "{\"x\":{\"headers\":[{\"name\":\"Mcp-Session-Id\","
                   "\"value\":\"[REDACTED]\"}]}}\n"));
    teardown(&t);
}

static void a_pair_is_judged_by_its_name(void **state)
{
    struct secrets_run t;

    (void)state;
    setup(&t, true);
    put_members(&t, "{\"x\":{\"headers\":[{\"name\":\"x-request-id\","
                    "\"value\":\"a1b2c3d4e5\"}]}}");
    put_event(&t, "note", "a1b2c3d4e5", 0);
    assert_non_null(strstr(buf_z(&t.seen), "}\na1b2c3d4e5\n"));
    teardown(&t);
}

static void the_session_id_of_an_endpoint_event_is_redacted(void **state)
{
    struct secrets_run t;

    (void)state;
    setup(&t, true);
    put_event(&t, "endpoint", "/messages?session_id=abc123def4", 0);
    put_event(&t, "endpoint", "/messages?session_id=x", 0);
    put_event(&t, "note", "abc123def4", 0);
    assert_str(buf_str(&t.seen), STR("/messages?session_id=[REDACTED]\n"
                                     "/messages?session_id=[REDACTED]\n"
                                     "[REDACTED:session-1]\n"));
    teardown(&t);
}

static void urls_are_searched_if_they_are_redacted(void **state)
{
    static const char members[] =
        "{\"x\":{\"transport_context\":{\"url\":\"https://h/a?code=q1w2e3r4t5\"}}}";
    struct secrets_run t;

    (void)state;
    setup(&t, true);
    put_members(&t, members);
    assert_str(buf_str(&t.seen), STR("{\"x\":{\"transport_context\":"
                                     "{\"url\":\"https://h/a?code=[REDACTED:code]\"}}}\n"));
    teardown(&t);
    setup(&t, false);
    put_members(&t, members);
    assert_non_null(strstr(buf_z(&t.seen), "q1w2e3r4t5"));
    teardown(&t);
}

static void other_members_placeholders_and_recorded_events_stay(void **state)
{
    static const char members[] = "{\"x\":{\"session_id\":\"ab12cd34ef56\","
                                  "\"headers\":{\"Cookie\":\"[REDACTED:rule-1]\"}}}";
    struct secrets_run t;

    (void)state;
    setup(&t, true);
    put_members(&t, members);
    put_event(&t, "endpoint", "/m?s=[REDACTED:session-7]", 0);
    put_event(&t, "endpoint", "/m?s=abc123def4", HAS_EXCHANGE);
    assert_str(buf_str(&t.seen),
               STR("{\"x\":{\"session_id\":\"ab12cd34ef56\",\"headers\":{\"Cookie\":"
                   "\"[REDACTED:rule-1]\"}}}\n"
                   "/m?s=[REDACTED:session-7]\n/m?s=abc123def4\n"));
    teardown(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_ids_in_headers_and_their_repetitions_are_redacted),
        cmocka_unit_test(a_short_session_id_is_replaced_in_headers),
        cmocka_unit_test(a_pair_is_judged_by_its_name),
        cmocka_unit_test(the_session_id_of_an_endpoint_event_is_redacted),
        cmocka_unit_test(urls_are_searched_if_they_are_redacted),
        cmocka_unit_test(other_members_placeholders_and_recorded_events_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
