#include "mcphttp/client-response.h"

#include <stdio.h>

#include "test.h"

struct bench {
    struct client_response response;
    struct buf events;
};

static void note(void *to, struct str name, struct str data, bool repeated)
{
    struct bench *b = to;

    buf_printf(&b->events, "%s%.*s:%.*s|", repeated ? "again " : "", STR_ARG(name),
               STR_ARG(data));
}

static void open_bench(struct bench *b)
{
    client_response_init(&b->response);
    buf_init(&b->events, 1 << 16);
}

static void close_bench(struct bench *b)
{
    client_response_release(&b->response);
    buf_release(&b->events);
}

static void head(struct bench *b, unsigned status, const char *type, const char *name,
                 const char *value)
{
    struct headers f = { 0 };
    struct err e = ERR_NONE;
    struct url server;

    if (type)
        headers_add(&f, STR("content-type"), str_z(type));
    if (name)
        headers_add(&f, str_z(name), str_z(value));
    client_response_reset(&b->response);
    assert_true(url_parse(&server, STR("http://server/mcp"), &e));
    client_response_head(&b->response, status, &f, &server);
    headers_release(&f);
}

static void data(struct bench *b, const char *bytes)
{
    client_response_data(&b->response, str_z(bytes), note, b);
}

static void assert_failure_text(struct bench *b, const char *want)
{
    struct buf text;

    buf_init(&text, 1 << 16);
    client_response_describe_failure(&b->response, &text);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
}

static void events_are_reported_and_the_last_id_is_kept(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 200, "text/event-stream", NULL, NULL);
    assert_true(client_response_is_stream(&b.response));
    data(&b, "id: 1\nretry: 70\nda");
    data(&b, "ta:\n\n: comment\n\nid: 2\nevent: endpoint\ndata: /m\n\ndata: {\"a\":\ndata: "
             "1}\n\nid: 3\ndata: cut");
    assert_str(buf_str(&b.events), STR("endpoint:/m|message:{\"a\":\n1}|"));
    assert_str(buf_str(&b.response.last_event_id), STR("2"));
    assert_int_equal(b.response.retry_ms, 70);
    assert_failure_text(&b, "the SSE stream ended before the response");
    assert_int_equal(b.response.new_events, 2);
    head(&b, 200, "text/event-stream", NULL, NULL);
    assert_int_equal(b.response.new_events, 0);
    assert_false(b.response.has_new_event_id);
    assert_str(buf_str(&b.response.last_event_id), STR("2"));
    assert_int_equal(b.response.retry_ms, 70);
    close_bench(&b);
}

static void assert_received(struct bench *b, const char *events, unsigned news, bool moved)
{
    assert_str(buf_str(&b->events), str_z(events));
    assert_int_equal(b->response.new_events, news);
    assert_int_equal(b->response.has_new_event_id, moved);
    buf_clear(&b->events);
    head(b, 200, "text/event-stream", NULL, NULL);
}

static void only_events_that_did_not_come_before_are_new(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 200, "text/event-stream", NULL, NULL);
    data(&b, "data: without\n\n");
    assert_received(&b, "message:without|", 1, false);
    data(&b, "id: 1\nretry: 0\ndata:\n\nid: 2\ndata: a\n\nid: 2\ndata: b\n\n");
    assert_received(&b, "message:a|message:b|", 2, true);
    data(&b, "id: 1\nretry: 0\ndata:\n\n: comment\n\nid: 2\ndata: a\n\ndata: without\n\n");
    assert_received(&b, "again message:a|message:without|", 0, false);
    data(&b, "id: 2\ndata: other\n\n"); /* forwarded, but it does not extend the resumption */
    assert_received(&b, "message:other|", 0, false);
    data(&b, "id: 3\ndata:\n\n");
    assert_received(&b, "", 0, true);
    data(&b, "id: 3\ndata: c\n\n");
    assert_received(&b, "message:c|", 1, false);
    data(&b, "id: a\x01z\ndata: d\n\n");
    assert_received(&b, "message:d|", 0, false);
    close_bench(&b);
}

static void feed(struct bench *b, size_t bytes)
{
    char part[1 << 10];

    memset(part, 'x', sizeof part);
    for (size_t n = 0; n < bytes; n += sizeof part)
        client_response_data(&b->response, str_n(part, sizeof part), note, b);
}

static void a_large_event_is_recognized(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 200, "text/event-stream", NULL, NULL);
    data(&b, "data: ");
    feed(&b, 63 << 10);
    assert_false(client_response_is_large(&b.response));
    feed(&b, 1 << 10);
    assert_true(client_response_is_large(&b.response));
    data(&b, "\n\n: comment\n");
    assert_false(client_response_is_large(&b.response));
    data(&b, ": ");
    feed(&b, 128 << 10);
    assert_false(client_response_is_large(&b.response));
    head(&b, 200, "application/json", NULL, NULL);
    feed(&b, 63 << 10);
    assert_false(client_response_is_large(&b.response));
    feed(&b, 1 << 10);
    assert_true(client_response_is_large(&b.response));
    close_bench(&b);
}

static void an_event_id_that_cannot_be_a_header_is_ignored(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 200, "text/event-stream", NULL, NULL);
    data(&b, "id: 1\ndata:\n\n");
    data(&b, "id: a\x01z\ndata:\n\n");
    assert_int_equal(b.response.last_event_id.len, 0);
    close_bench(&b);
}

static void a_json_body_is_collected(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 200, "application/json", NULL, NULL);
    data(&b, "{\"a\"");
    data(&b, ":1}");
    assert_str(buf_str(&b.response.body), STR("{\"a\":1}"));
    assert_int_equal(b.events.len, 0);
    head(&b, 404, "text/event-stream", NULL, NULL); /* events of a refusal are none */
    assert_false(client_response_is_stream(&b.response));
    assert_int_equal(b.response.body.len, 0);
    close_bench(&b);
}

static void every_response_without_message_has_an_error_text(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 200, "text/event-stream", "Content-Encoding", "gzip");
    assert_failure_text(&b, "the server's response is compressed, which was not requested");
    head(&b, 200, "application/json", "Content-Encoding", "identity");
    assert_failure_text(&b,
                        "the server accepted the request but sent no response (status 200)");
    data(&b, "<html>");
    assert_failure_text(
        &b, "the server's response is neither a JSON-RPC message nor an SSE stream");
    head(&b, 302, NULL, "Location", "/login");
    assert_failure_text(&b,
                        "the server redirects (status 302) to another of its paths; mcpreel "
                        "does not follow redirects: use that URL instead");
    head(&b, 308, NULL, "Location", "http://user-less.example/mcp?key=secret");
    assert_failure_text(&b, "the server redirects (status 308) to "
                            "'http://user-less.example:80'; mcpreel does not follow redirects: "
                            "use that URL instead");
    head(&b, 307, NULL, NULL, NULL);
    assert_failure_text(&b, "the server redirects (status 307) without a Location");
    head(&b, 304, NULL, NULL, NULL);
    assert_failure_text(&b, "the server answered HTTP 304");
    head(&b, 429, NULL, NULL, NULL);
    assert_failure_text(&b, "the server answered HTTP 429");
    head(&b, 502, NULL, NULL, NULL);
    assert_failure_text(&b, "the server answered HTTP 502");
    close_bench(&b);
}

#define LOGIN "the server requires a login (status 401): send credentials with --header-env"

static void the_error_of_a_401_has_a_hint(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    head(&b, 401, NULL, NULL, NULL);
    assert_failure_text(&b, LOGIN "; it does not name its OAuth metadata");
    head(&b, 401, NULL, "WWW-Authenticate", "Basic realm=\"x\"");
    assert_failure_text(&b, LOGIN "; it does not name its OAuth metadata");
    head(&b, 401, NULL, "WWW-Authenticate",
         "Bearer error=\"invalid_token\", resource_metadata=\"http://h/meta?key=1\"");
    assert_failure_text(&b, LOGIN "; error: 'invalid_token'; OAuth metadata: 'http://h/meta'");
    head(&b, 403, NULL, "WWW-Authenticate",
         "Bearer error=\"insufficient_scope\", scope=\"a b\"");
    assert_failure_text(
        &b, "the server answered HTTP 403; error: 'insufficient_scope'; required scope: 'a b'");
    head(&b, 403, NULL, NULL, NULL);
    assert_failure_text(&b, "the server answered HTTP 403");
    head(&b, 400, NULL, "WWW-Authenticate", "Bearer error=\"invalid_request\"");
    assert_failure_text(&b, "the server answered HTTP 400");
    close_bench(&b);
}

struct want {
    bool placed, known, repeated;
};

static const struct want new_place = { .placed = true }, old_place = { 0 },
                         other_data = { .known = true },
                         same_data = { .known = true, .repeated = true };

static void check_seen(struct seen_events *s, const char *id, const char *data,
                       struct want want)
{
    struct seen_event as = seen_events_add(s, str_z(id), str_z(data));

    assert_int_equal(as.new_id, want.placed);
    assert_int_equal(as.id_had_data, want.known);
    assert_int_equal(as.repeated, want.repeated);
}

static void an_event_of_an_earlier_response_is_a_duplicate(void **state)
{
    struct seen_events s;

    (void)state;
    seen_events_init(&s);
    check_seen(&s, "1", "a", new_place);
    check_seen(&s, "2", "", new_place);
    seen_events_next_response(&s);
    check_seen(&s, "1", "a", same_data);
    check_seen(&s, "1", "", old_place);
    check_seen(&s, "3", "a", new_place);
    seen_events_release(&s);
}

static void other_data_under_a_known_id_is_no_duplicate(void **state)
{
    struct seen_events s;

    (void)state;
    seen_events_init(&s);
    check_seen(&s, "1", "a", new_place);
    seen_events_next_response(&s);
    check_seen(&s, "1", "b", other_data);
    check_seen(&s, "1", "b", other_data); /* within a response everything is forwarded */
    seen_events_next_response(&s);
    check_seen(&s, "1", "a", same_data);
    check_seen(&s, "1", "b", same_data);
    check_seen(&s, "1", "c", other_data);
    seen_events_release(&s);
}

static void data_under_an_id_that_had_none_is_reported_once(void **state)
{
    struct seen_events s;

    (void)state;
    seen_events_init(&s);
    check_seen(&s, "1", "", new_place);
    seen_events_next_response(&s);
    check_seen(&s, "1", "a", old_place);
    seen_events_next_response(&s);
    check_seen(&s, "1", "a", same_data);
    seen_events_release(&s);
}

static void one_response_may_repeat_an_id(void **state)
{
    struct seen_events s;

    (void)state;
    seen_events_init(&s);
    for (int i = 0; i < 3; i++)
        check_seen(&s, "1", "a", new_place);
    seen_events_release(&s);
}

/* Most answers are no streams: they need not pay for it. */
static void no_event_is_stored_before_the_first_id(void **state)
{
    struct seen_events s;

    (void)state;
    seen_events_init(&s);
    seen_events_next_response(&s);
    assert_null(s.rows.rows);
    check_seen(&s, "1", "a", new_place);
    assert_non_null(s.rows.rows);
    seen_events_release(&s);
}

static void only_the_latest_events_are_remembered(void **state)
{
    struct seen_events s;
    char id[32];

    (void)state;
    seen_events_init(&s);
    for (int i = 0; i <= SEEN_EVENTS_MAX; i++) {
        snprintf(id, sizeof id, "%d", i);
        check_seen(&s, id, "a", new_place);
        assert_true(s.rows.count <= SEEN_EVENTS_MAX);
        assert_null(s.rows.overflow);
    }
    seen_events_next_response(&s);
    check_seen(&s, id, "a", same_data);
    check_seen(&s, "0", "a", new_place);
    seen_events_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_reported_and_the_last_id_is_kept),
        cmocka_unit_test(only_events_that_did_not_come_before_are_new),
        cmocka_unit_test(a_large_event_is_recognized),
        cmocka_unit_test(an_event_id_that_cannot_be_a_header_is_ignored),
        cmocka_unit_test(a_json_body_is_collected),
        cmocka_unit_test(every_response_without_message_has_an_error_text),
        cmocka_unit_test(the_error_of_a_401_has_a_hint),
        cmocka_unit_test(an_event_of_an_earlier_response_is_a_duplicate),
        cmocka_unit_test(other_data_under_a_known_id_is_no_duplicate),
        cmocka_unit_test(data_under_an_id_that_had_none_is_reported_once),
        cmocka_unit_test(one_response_may_repeat_an_id),
        cmocka_unit_test(no_event_is_stored_before_the_first_id),
        cmocka_unit_test(only_the_latest_events_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
