#include "record/http-recorder.h"

#include "base/compress.h"
#include "terse.h"
#include "test.h"

/* A tap that writes down what passes. Every piece of an exchange comes a millisecond after
 * the one before it. */
struct test_recorder {
    struct terse seen;
    struct recorder tap;
    struct http_recorder http;
    struct arena arena;
    struct headers fields;
    int64_t ms;
};

enum { MAX = 200 };

static void start(struct test_recorder *r)
{
    *r = (struct test_recorder){ .ms = 0 };
    terse_init(&r->seen);
    recorder_init(&r->tap, &r->seen.sink);
    http_recorder_init(&r->http, &r->tap, MAX, NULL);
}

static void stop(struct test_recorder *r)
{
    http_recorder_release(&r->http);
    recorder_release(&r->tap);
    terse_release(&r->seen);
    arena_release(&r->arena);
    headers_release(&r->fields);
}

static struct recorder_time tick(struct test_recorder *r)
{
    r->ms++;
    return (struct recorder_time){ .us = r->ms * 1000,
                                   .wall_us = 1700000000000000 + r->ms * 1000 };
}

/* "Name: value|Name: value" */
static const struct headers *fields_of(struct test_recorder *r, const char *lines)
{
    struct str rest = str_z(lines);

    headers_clear(&r->fields);
    while (rest.len) {
        struct str line = str_cut(&rest, '|');
        struct str name = str_cut(&line, ':');

        headers_add(&r->fields, name, str_trim(line));
    }
    return &r->fields;
}

static struct http_recorder_exchange *begin(struct test_recorder *r, const char *method,
                                            const char *path, const char *lines)
{
    struct http_recorder_request q = {
        .conn = 1,
        .method = str_z(method),
        .path = str_z(path),
        .query = STR_NONE,
        .headers = fields_of(r, lines),
        .host = ORIGIN_SELF,
        .origin = ORIGIN_NONE,
        .is_endpoint = str_starts(str_z(path), STR("/mcp")),
        .has_body = strcmp(method, "POST") == 0,
    };

    tick(r);
    return http_recorder_begin(&r->http, &q);
}

static void send(struct test_recorder *r, struct http_recorder_exchange *x, struct str bytes)
{
    tick(r);
    http_recorder_request_data(x, bytes);
}

static struct http_recorder_exchange *post(struct test_recorder *r, const char *lines,
                                           const char *body)
{
    struct http_recorder_exchange *x = begin(r, "POST", "/mcp", lines);

    send(r, x, terse_json(&r->arena, body));
    http_recorder_request_end(x, tick(r));
    return x;
}

static void answer(struct test_recorder *r, struct http_recorder_exchange *x, unsigned status,
                   const char *lines)
{
    http_recorder_response(x, status, fields_of(r, lines), HTTP_RECORDER_BY_SERVER, tick(r));
}

static void put_response_body(struct test_recorder *r, struct http_recorder_exchange *x,
                              const char *body)
{
    http_recorder_response_data(x, terse_json(&r->arena, body), tick(r));
}

static void end(struct test_recorder *r, struct http_recorder_exchange *x)
{
    http_recorder_end(x, HTTP_RECORDER_BY_SERVER, true, STR_NONE, tick(r));
}

static void a_post_with_a_json_response_is_recorded(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = post(&r, "Content-Type: application/json|Cookie: abc", "{'id':1,'method':'ping'}");
    answer(&r, x, 200, "Content-Type: application/json");
    put_response_body(&r, x, "{'id':1,'re");
    put_response_body(&r, x, "sult':{}}\n");
    assert_terse(&r.seen,
                 "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=message"
                 " headers=[['Content-Type','application/json'],['Cookie',3]]\n"
                 "@3000 conn=1 x=1 #1 c2s {'id':1,'method':'ping'}\n"
                 "@4000 conn=1 x=1 http 200 json by=server"
                 " headers=[['Content-Type','application/json']]\n");
    end(&r, x);
    assert_terse(&r.seen, "@7000 conn=1 x=1 #2 s2c {'id':1,'result':{}} latency=4\n"
                          "@7000 conn=1 x=1 http end server\n");
    stop(&r);
}

static void our_response_can_answer_the_one_open_request(void **state)
{
    static const char *const bodies[][2] = {
        { "{'id':1.0,'method':'a'}", "1.0" },
        { " {'method':'a',\n 'id':'b'}\n", "\"b\"" },
        { "[{'id':1,'method':'a'}]", "" },
        { "{'method':'a'}", "" },
        { "{'id':1,'result':{}}", "" },
        { "{'id':1,", "" },
        { "", "" },
    };
    struct test_recorder r;

    (void)state;
    start(&r);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct http_recorder_exchange *before = post(&r, "", "{'id':7,'method':'before'}");
        struct http_recorder_exchange *x = post(&r, "", bodies[i][0]);

        assert_str(http_recorder_request_id(x), str_z(bodies[i][1]));
        assert_str(http_recorder_request_id(before), STR("7"));
        answer(&r, x, 502, "");
        assert_int_equal(http_recorder_request_id(x).len, 0);
        end(&r, x);
        end(&r, before);
    }
    stop(&r);
}

static void every_event_is_recorded_before_it_is_forwarded(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = post(&r, "", "{'id':1,'method':'a'}");
    answer(&r, x, 200, "Content-Type: text/event-stream");
    buf_clear(&r.seen.text);
    put_response_body(&r, x, "id: e1\nretry: 5\ndata:\n\n");
    assert_terse(&r.seen, "@5000 x=1 stream=1 sse n=1 retry=5 id=e1 data=\n");
    put_response_body(&r, x, ": still here\n\ndata: {'method':'b'}\n");
    assert_terse(&r.seen, "@6000 x=1 stream=1 sse comment= still here\n");
    put_response_body(&r, x, "\nevent: message\ndata: {'id':1,\ndata: 'result':{}}\n\n");
    assert_terse(&r.seen, "@7000 conn=1 x=1 stream=1 #2 s2c {'method':'b'} event={'n':2}\n"
                          "@7000 conn=1 x=1 stream=1 #3 s2c {'id':1, 'result':{}} latency=4"
                          " event={'n':3,'event':'message'}\n");
    end(&r, x);
    assert_terse(&r.seen, "@8000 conn=1 x=1 stream=1 http end server\n");
    stop(&r);
}

static void sessions_have_numbers_instead_of_ids(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = post(&r, "", "{'id':0,'method':'initialize'}");
    answer(&r, x, 200, "mcp-session-id: S3CR3T");
    end(&r, x);
    end(&r, post(&r, "MCP-Session-Id: S3CR3T", "{'method':'hi'}"));
    x = begin(&r, "DELETE", "/mcp", "Mcp-Session-Id: S3CR3T");
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "");
    end(&r, x);
    end(&r, post(&r, "MCP-Session-Id: S3CR3T", "{'method':'hi'}"));
    end(&r, post(&r, "MCP-Session-Id: other", "{'method':'hi'}"));
    assert_terse(
        &r.seen,
        "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=message"
        " headers=[]\n"
        "@3000 conn=1 x=1 #1 c2s {'id':0,'method':'initialize'}\n"
        "@4000 conn=1 session=1 x=1 http 200 none by=server mints"
        " headers=[['mcp-session-id',6]]\n"
        "@5000 conn=1 session=1 x=1 http end server\n"
        "@8000 conn=1 session=1 x=2 http POST /mcp state=live host=self origin=none"
        " body=message headers=[['MCP-Session-Id',6]]\n"
        "@8000 conn=1 session=1 x=2 #2 c2s {'method':'hi'}\n"
        "@9000 conn=1 session=1 x=2 http end server\n"
        "@11000 conn=1 session=1 x=3 http DELETE /mcp state=live host=self origin=none"
        " body=empty headers=[['Mcp-Session-Id',6]]\n"
        "@12000 conn=1 session=1 x=3 http 200 none by=server headers=[]\n"
        "@13000 conn=1 session=1 x=3 http end server\n"
        "@16000 conn=1 session=1 x=4 http POST /mcp state=ended host=self origin=none"
        " body=message headers=[['MCP-Session-Id',6]]\n"
        "@16000 conn=1 session=1 x=4 #3 c2s {'method':'hi'}\n"
        "@17000 conn=1 session=1 x=4 http end server\n"
        "@20000 conn=1 x=5 http POST /mcp state=unknown host=self origin=none body=message"
        " headers=[['MCP-Session-Id',5]]\n"
        "@20000 conn=1 x=5 #4 c2s {'method':'hi'}\n"
        "@21000 conn=1 x=5 http end server\n");
    stop(&r);
}

static void a_resumed_stream_has_the_last_event_id(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = post(&r, "", "{'id':1,'method':'a'}");
    answer(&r, x, 200, "Content-Type: text/event-stream");
    put_response_body(&r, x, "id: e1\ndata:\n\nid: e2\ndata: {'method':'b'}\n\n");
    end(&r, x);
    buf_clear(&r.seen.text);
    x = begin(&r, "GET", "/mcp", "Last-Event-ID: e1");
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "Content-Type: text/event-stream");
    put_response_body(&r, x,
                      "id: e2\ndata: {'method':'b'}\n\nid: e3\ndata: {'id':1,'result':1}\n\n");
    end(&r, x);
    assert_terse(&r.seen,
                 "@8000 conn=1 x=2 http GET /mcp state=none host=self origin=none body=empty"
                 " headers=[['Last-Event-ID','e1']]\n"
                 "@9000 conn=1 x=2 stream=2 http 200 sse by=server"
                 " resumes={'stream':1,'after':1}"
                 " headers=[['Content-Type','text/event-stream']]\n"
                 "@10000 conn=1 x=2 stream=2 #3 redelivers=2 s2c {'method':'b'}"
                 " event={'n':1,'id':'e2'}\n"
                 "@10000 conn=1 x=2 stream=2 #4 s2c {'id':1,'result':1} latency=7"
                 " event={'n':2,'id':'e3'}\n"
                 "@11000 conn=1 x=2 stream=2 http end server\n");
    stop(&r);
}

static void a_body_that_is_not_a_message_is_recorded_raw(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = post(&r, "", "{broken");
    answer(&r, x, 400, "Content-Type: text/plain");
    put_response_body(&r, x, "Invalid message");
    end(&r, x);
    x = post(&r, "", "[{'method':'a'},{'method':'b'}]");
    end(&r, x);
    assert_terse(
        &r.seen,
        "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=raw headers=[]\n"
        "@3000 conn=1 x=1 raw c2s {broken (not JSON)\n"
        "@4000 conn=1 x=1 http 400 other by=server headers=[['Content-Type','text/plain']]\n"
        "@6000 conn=1 x=1 raw s2c Invalid message (not JSON)\n"
        "@6000 conn=1 x=1 http end server\n"
        "@9000 conn=1 x=2 http POST /mcp state=none host=self origin=none body=batch"
        " headers=[]\n"
        "@9000 conn=1 x=2 #1 c2s {'method':'a'} batch={'id':1,'index':0,'count':2}\n"
        "@9000 conn=1 x=2 #2 c2s {'method':'b'} batch={'id':1,'index':1,'count':2}\n"
        "@10000 conn=1 x=2 http end server\n");
    stop(&r);
}

static void an_aborted_body_is_recorded_up_to_its_end(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = begin(&r, "POST", "/mcp", "");
    send(&r, x, STR("{\"id\":1,"));
    http_recorder_end(x, HTTP_RECORDER_BY_CLIENT, false, STR_NONE, tick(&r));
    x = post(&r, "", "{'id':1,'method':'a'}");
    answer(&r, x, 200, "Content-Type: application/json");
    put_response_body(&r, x, "{'id':1,");
    http_recorder_end(x, HTTP_RECORDER_BY_ERROR, false, STR("it fell over"), tick(&r));
    assert_terse(
        &r.seen,
        "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=raw headers=[]\n"
        "@3000 conn=1 x=1 raw c2s {'id':1, (cut off)\n"
        "@3000 conn=1 x=1 http end client unclean\n"
        "@6000 conn=1 x=2 http POST /mcp state=none host=self origin=none body=message"
        " headers=[]\n"
        "@6000 conn=1 x=2 #1 c2s {'id':1,'method':'a'}\n"
        "@7000 conn=1 x=2 http 200 json by=server"
        " headers=[['Content-Type','application/json']]\n"
        "@9000 conn=1 x=2 raw s2c {'id':1, (cut off)\n"
        "@9000 conn=1 x=2 http end error unclean why=it fell over\n");
    stop(&r);
}

static void a_request_completed_after_its_response_began_is_recorded_then(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    x = begin(&r, "POST", "/mcp", "");
    send(&r, x, STR("{\"id\":1,"));
    answer(&r, x, 200, "Content-Type: text/event-stream");
    put_response_body(&r, x, "id: e1\ndata:\n\n");
    send(&r, x, STR("\"method\":\"a\"}"));
    assert_terse(&r.seen, "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none "
                          "body=late headers=[]\n"
                          "@3000 conn=1 x=1 stream=1 http 200 sse by=server"
                          " headers=[['Content-Type','text/event-stream']]\n"
                          "@4000 x=1 stream=1 sse n=1 id=e1 data=\n");
    http_recorder_request_end(x, tick(&r));
    assert_terse(&r.seen, "@6000 conn=1 x=1 #1 c2s {'id':1,'method':'a'}\n");
    put_response_body(&r, x, "data: {'id':1,'result':{}}\n\n");
    end(&r, x);
    assert_terse(&r.seen, "@7000 conn=1 x=1 stream=1 #2 s2c {'id':1,'result':{}} latency=1"
                          " event={'n':2}\n"
                          "@8000 conn=1 x=1 stream=1 http end server\n");
    stop(&r);
}

/* The part that the server got is reported, also if it is empty; requests to other paths are
 * not. */
static void an_incomplete_request_is_recorded_up_to_its_end(void **state)
{
    static const char *const paths[] = { "/mcp", "/token" };
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    for (size_t i = 0; i < 2; i++) {
        x = begin(&r, "POST", paths[i], "");
        send(&r, x, STR("{\"id\":1,"));
        answer(&r, x, 413, "");
        send(&r, x, STR("\"method"));
        put_response_body(&r, x, "too much");
        end(&r, x);
    }
    x = begin(&r, "POST", "/mcp", "");
    answer(&r, x, 401, "");
    end(&r, x);
    assert_terse(&r.seen,
                 "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=late "
                 "headers=[]\n"
                 "@3000 conn=1 x=1 http 413 none by=server headers=[]\n"
                 "@6000 conn=1 x=1 raw c2s {'id':1,'method (cut off)\n"
                 "@6000 conn=1 x=1 raw s2c too much (not JSON)\n"
                 "@6000 conn=1 x=1 http end server\n"
                 "@9000 conn=1 x=2 http POST /token state=none host=self origin=none body=late"
                 " headers=[]\n"
                 "@9000 conn=1 x=2 http 413 none by=server headers=[]\n"
                 "@12000 conn=1 x=2 http end server\n"
                 "@14000 conn=1 x=3 http POST /mcp state=none host=self origin=none body=late"
                 " headers=[]\n"
                 "@14000 conn=1 x=3 http 401 none by=server headers=[]\n"
                 "@15000 conn=1 x=3 raw c2s  (cut off)\n"
                 "@15000 conn=1 x=3 http end server\n");
    stop(&r);
}

static void reject(struct test_recorder *r, struct http_recorder_exchange *x)
{
    static const struct headers none = { .at = NULL };

    http_recorder_response(x, 502, &none, HTTP_RECORDER_BY_MCPREEL, tick(r));
    http_recorder_end(x, HTTP_RECORDER_BY_ERROR, true, STR("nobody"), tick(r));
}

/* Where one was announced it is never told to have been empty, unless it was. */
static void a_rejected_or_disconnected_client_is_recorded_with_its_message(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;

    (void)state;
    start(&r);
    reject(&r, post(&r, "", "{'id':1,'method':'a'}"));
    reject(&r, begin(&r, "POST", "/mcp", ""));
    x = begin(&r, "POST", "/mcp", "");
    send(&r, x, STR("{\"id\":1,"));
    reject(&r, x);
    x = begin(&r, "POST", "/mcp", "");
    http_recorder_end(x, HTTP_RECORDER_BY_CLIENT, false, STR_NONE, tick(&r));
    assert_terse(&r.seen,
                 "@3000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=message"
                 " headers=[]\n"
                 "@3000 conn=1 x=1 #1 c2s {'id':1,'method':'a'}\n"
                 "@4000 conn=1 x=1 http 502 none by=mcpreel headers=[]\n"
                 "@5000 conn=1 x=1 http end error why=nobody\n"
                 "@7000 conn=1 x=2 http POST /mcp state=none host=self origin=none body=late "
                 "headers=[]\n"
                 "@7000 conn=1 x=2 http 502 none by=mcpreel headers=[]\n"
                 "@8000 conn=1 x=2 raw c2s  (cut off)\n"
                 "@8000 conn=1 x=2 http end error why=nobody\n"
                 "@11000 conn=1 x=3 http POST /mcp state=none host=self origin=none body=late"
                 " headers=[]\n"
                 "@11000 conn=1 x=3 http 502 none by=mcpreel headers=[]\n"
                 "@12000 conn=1 x=3 raw c2s {'id':1, (cut off)\n"
                 "@12000 conn=1 x=3 http end error why=nobody\n"
                 "@14000 conn=1 x=4 http POST /mcp state=none host=self origin=none body=raw "
                 "headers=[]\n"
                 "@14000 conn=1 x=4 raw c2s  (cut off)\n"
                 "@14000 conn=1 x=4 http end client unclean\n");
    reject(&r, post(&r, "", ""));
    reject(&r, begin(&r, "GET", "/mcp", ""));
    reject(&r, begin(&r, "POST", "/token", ""));
    assert_terse(&r.seen,
                 "@17000 conn=1 x=5 http POST /mcp state=none host=self origin=none body=empty"
                 " headers=[]\n"
                 "@18000 conn=1 x=5 http 502 none by=mcpreel headers=[]\n"
                 "@19000 conn=1 x=5 http end error why=nobody\n"
                 "@21000 conn=1 x=6 http GET /mcp state=none host=self origin=none body=empty"
                 " headers=[]\n"
                 "@21000 conn=1 x=6 http 502 none by=mcpreel headers=[]\n"
                 "@22000 conn=1 x=6 http end error why=nobody\n"
                 "@24000 conn=1 x=7 http POST /token state=none host=self origin=none body=late"
                 " headers=[]\n"
                 "@24000 conn=1 x=7 http 502 none by=mcpreel headers=[]\n"
                 "@25000 conn=1 x=7 http end error why=nobody\n");
    stop(&r);
}

static void login_requests_are_recorded_without_body_and_query(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;
    struct http_recorder_request q = { .conn = 1,
                                       .method = STR("POST"),
                                       .path = STR("/token"),
                                       .query = STR("code=1"),
                                       .host = ORIGIN_SELF };

    (void)state;
    start(&r);
    q.headers = fields_of(&r, "Authorization: Basic x");
    tick(&r);
    x = http_recorder_begin(&r.http, &q);
    send(&r, x, STR("client_secret=1"));
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "Content-Type: application/json");
    put_response_body(&r, x, "{'access_token':'t'}");
    end(&r, x);
    assert_terse(&r.seen,
                 "@3000 conn=1 x=1 http POST /token state=none host=self origin=none body=raw"
                 " auth headers=[['Authorization',7]]\n"
                 "@4000 conn=1 x=1 http 200 json by=server"
                 " headers=[['Content-Type','application/json']]\n"
                 "@6000 conn=1 x=1 http end server\n");
    stop(&r);
}

static struct http_recorder_exchange *posted(struct test_recorder *r, const char *path,
                                             const char *query, const char *body)
{
    struct http_recorder_request q = { .conn = 2,
                                       .method = STR("POST"),
                                       .path = str_z(path),
                                       .query = str_z(query),
                                       .headers = fields_of(r, ""),
                                       .host = ORIGIN_SELF,
                                       .is_endpoint = true };
    struct http_recorder_exchange *x = http_recorder_begin(&r->http, &q);

    tick(r);
    send(r, x, terse_json(&r->arena, body));
    http_recorder_request_end(x, tick(r));
    return x;
}

static void an_http_sse_session_is_its_stream_and_its_posts(void **state)
{
    struct http_recorder_exchange *x, *y;
    struct err e = ERR_NONE;
    struct test_recorder r;
    struct url url;

    (void)state;
    start(&r);
    assert_true(url_parse(&url, STR("http://server/mcp"), &e));
    r.http.server_url = &url;
    x = begin(&r, "GET", "/mcp", "Host: here");
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "Content-Type: text/event-stream");
    buf_clear(&r.seen.text);
    put_response_body(&r, x, "event: endpoint\ndata: http://server/post?s=canary&x=1\n\n");
    assert_terse(&r.seen, "@4000 x=1 stream=1 sse n=1 event=endpoint"
                          " data=http://server/post?s=[REDACTED]&x=[REDACTED]\n");
    assert_true(
        http_recorder_is_sse_post(&r.http, STR("POST"), STR("/post"), STR("s=canary&x=1")));
    assert_true(http_recorder_is_sse_post(&r.http, STR("POST"), STR("/post"), STR("s=other")));
    assert_false(
        http_recorder_is_sse_post(&r.http, STR("GET"), STR("/post"), STR("s=canary&x=1")));
    assert_false(
        http_recorder_is_sse_post(&r.http, STR("POST"), STR("/else"), STR("s=canary&x=1")));
    y = posted(&r, "/post", "s=canary&x=1", "{'id':1,'method':'ping'}");
    assert_terse(&r.seen, "@7000 conn=2 session=1 x=2 http POST /post?s=[REDACTED]&x=[REDACTED]"
                          " state=live host=self origin=none body=message headers=[]\n"
                          "@7000 conn=2 session=1 x=2 #1 c2s {'id':1,'method':'ping'}\n");
    put_response_body(&r, x, "data: {'id':1,'result':{}}\n\n");
    assert_terse(&r.seen, "@8000 conn=1 session=1 x=1 stream=1 #2 s2c {'id':1,'result':{}}"
                          " latency=1 event={'n':2}\n");
    answer(&r, y, 202, "");
    put_response_body(&r, y, "Accepted");
    end(&r, y);
    buf_clear(&r.seen.text);
    end(&r, x);
    buf_clear(&r.seen.text);
    y = posted(&r, "/post", "s=canary&x=1", "{'id':2,'method':'ping'}");
    assert_terse(&r.seen,
                 "@15000 conn=2 session=1 x=3 http POST /post?s=[REDACTED]&x=[REDACTED]"
                 " state=ended host=self origin=none body=message headers=[]\n"
                 "@15000 conn=2 session=1 x=3 #3 c2s {'id':2,'method':'ping'}\n");
    end(&r, y);
    stop(&r);
}

static void all_endpoints_of_a_stream_belong_to_its_session(void **state)
{
    struct http_recorder_exchange *x, *y;
    struct err e = ERR_NONE;
    struct test_recorder r;
    struct url url;

    (void)state;
    start(&r);
    assert_true(url_parse(&url, STR("http://server/mcp"), &e));
    r.http.server_url = &url;
    x = begin(&r, "GET", "/mcp", "Host: here");
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "Content-Type: text/event-stream");
    put_response_body(&r, x, "event: endpoint\ndata: /post?s=canary\n\n");
    put_response_body(&r, x, "event: endpoint\ndata: /later?s=canary\n\n");
    buf_clear(&r.seen.text);
    y = posted(&r, "/later", "s=canary", "{'id':1,'method':'ping'}");
    assert_terse(&r.seen, "@8000 conn=2 session=1 x=2 http POST /later?s=[REDACTED]"
                          " state=live host=self origin=none body=message headers=[]\n"
                          "@8000 conn=2 session=1 x=2 #1 c2s {'id':1,'method':'ping'}\n");
    end(&r, y);
    y = posted(&r, "/post", "s=canary", "{'id':2,'method':'ping'}");
    end(&r, y);
    end(&r, x);
    buf_clear(&r.seen.text);
    y = posted(&r, "/later", "s=canary", "{'id':3,'method':'ping'}");
    assert_terse(&r.seen, "@17000 conn=2 session=1 x=4 http POST /later?s=[REDACTED]"
                          " state=ended host=self origin=none body=message headers=[]\n"
                          "@17000 conn=2 session=1 x=4 #3 c2s {'id':3,'method':'ping'}\n");
    end(&r, y);
    stop(&r);
}

static void an_endpoint_on_another_origin_starts_no_session(void **state)
{
    struct err e = ERR_NONE;
    struct http_recorder_exchange *x;
    struct test_recorder r;
    struct url url;

    (void)state;
    start(&r);
    assert_true(url_parse(&url, STR("http://server/mcp"), &e));
    r.http.server_url = &url;
    x = begin(&r, "GET", "/mcp", "Host: here");
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "Content-Type: text/event-stream");
    buf_clear(&r.seen.text);
    put_response_body(&r, x, "event: endpoint\ndata: http://other/post?s=canary\n\n");
    assert_terse(&r.seen, "@4000 x=1 stream=1 sse n=1 event=endpoint"
                          " data=http://other/post?s=[REDACTED]\n");
    assert_false(
        http_recorder_is_sse_post(&r.http, STR("POST"), STR("/post"), STR("s=canary")));
    http_recorder_end(x, HTTP_RECORDER_BY_MCPREEL, false, STR("because"), tick(&r));
    assert_terse(&r.seen, "@5000 conn=1 x=1 stream=1 http end mcpreel unclean why=because\n");
    stop(&r);
}

static void a_too_long_body_is_recorded_as_a_gap(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;
    char text[MAX + 1];

    (void)state;
    memset(text, ' ', MAX);
    text[MAX] = '\0';
    start(&r);
    x = begin(&r, "POST", "/mcp", "");
    send(&r, x, STR("{\"method\":\"a\"}"));
    send(&r, x, str_z(text));
    http_recorder_request_end(x, tick(&r));
    answer(&r, x, 200, "Content-Type: text/event-stream");
    put_response_body(&r, x, "data: ");
    put_response_body(&r, x, text);
    put_response_body(&r, x, "\n\ndata: {'method':'b'}\n\n");
    end(&r, x);
    assert_terse(
        &r.seen,
        "@4000 conn=1 x=1 http POST /mcp state=none host=self origin=none body=raw headers=[]\n"
        "@4000 conn=1 x=1 gap c2s messages=1 bytes=214 (too long to be kept)\n"
        "@5000 conn=1 x=1 stream=1 http 200 sse by=server"
        " headers=[['Content-Type','text/event-stream']]\n"
        "@8000 conn=1 x=1 stream=1 gap s2c messages=1 bytes=207 (too long to be kept)\n"
        "@8000 conn=1 x=1 stream=1 #1 s2c {'method':'b'} event={'n':2}\n"
        "@9000 conn=1 x=1 stream=1 http end server\n");
    assert_int_equal(r.http.too_long, 2);
    stop(&r);
}

static void a_compressed_body_is_decompressed_for_the_recording(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;
    struct compressor *p = compressor_new(COMPRESS_GZIP);
    struct buf packed;

    (void)state;
    start(&r);
    buf_init(&packed, 1 << 20);
    compressor_add(p, STR("data: {\"method\":\"b\"}\n\n"), true, &packed);
    x = post(&r, "", "{'id':1,'method':'a'}");
    answer(&r, x, 200, "Content-Type: text/event-stream|Content-Encoding: gzip");
    buf_clear(&r.seen.text);
    for (size_t i = 0; i < packed.len; i++)
        http_recorder_response_data(x, str_n(packed.at + i, 1),
                                    (struct recorder_time){ 5000, 0 });
    assert_terse(&r.seen, "@5000 conn=1 x=1 stream=1 #2 s2c {'method':'b'} event={'n':1}\n");
    end(&r, x);
    buf_clear(&r.seen.text);
    x = post(&r, "", "{'id':1,'method':'a'}");
    answer(&r, x, 200, "Content-Type: application/json|Content-Encoding: br");
    buf_clear(&r.seen.text);
    put_response_body(&r, x, "12345");
    end(&r, x);
    assert_terse(&r.seen, "@11000 conn=1 x=2 gap s2c messages=1 bytes=5"
                          " (cannot be decompressed)\n"
                          "@11000 conn=1 x=2 http end server\n");
    compressor_free(p);
    buf_release(&packed);
    stop(&r);
}

static void errors_are_reported_once_and_stop_nothing(void **state)
{
    struct test_recorder r;
    struct http_recorder_exchange *x;
    struct err e = ERR_NONE;

    (void)state;
    start(&r);
    r.seen.fails = true;
    x = post(&r, "", "{'id':1,'method':'a'}");
    assert_false(http_recorder_check(&r.http, &e));
    assert_string_equal(e.msg, "no room");
    r.seen.fails = false;
    e = (struct err){ .kind = ERR_OK };
    assert_true(http_recorder_check(&r.http, &e));
    end(&r, x);
    assert_terse(&r.seen, "@4000 conn=1 x=1 http end server\n");
    stop(&r);
}

/* A secret is known before the line is written that may repeat it. */
static void secrets_of_headers_are_searched_while_they_may_be_repeated(void **state)
{
    struct test_recorder r;
    struct seen_secrets l;
    struct http_recorder_exchange *x, *y;

    (void)state;
    start(&r);
    seen_secrets_init(&l);
    r.http.seen_secrets = &l;
    x = post(&r, "Authorization: Bearer opq7Hq2ZtLm|Accept: text/event-stream", "{}");
    assert_int_equal(l.active, 2);
    answer(&r, x, 200, "Mcp-Session-Id: 0f9e8d7c-6b5a|Content-Type: text/event-stream");
    assert_int_equal(l.active, 3);
    assert_int_equal(l.values[2].session, 1);
    put_response_body(&r, x, "event: endpoint\ndata: /messages/e3b0c44298fc1c14\n\n");
    assert_int_equal(l.active, 4);
    y = begin(&r, "POST", "/mcp", "Mcp-Session-Id: 0f9e8d7c-6b5a|Mcp-Name: a1b2c3d4e5");
    assert_int_equal(l.active, 4);
    assert_int_equal(l.values[2].refs, 2);
    end(&r, x);
    assert_int_equal(l.values[0].refs, 0);
    assert_int_equal(l.values[2].refs, 1);
    end(&r, y);
    assert_int_equal(l.values[2].refs, 0);
    assert_int_equal(l.active, 4);
    stop(&r);
    seen_secrets_release(&l);
}

static void kept_urls_add_no_secret(void **state)
{
    struct test_recorder r;
    struct seen_secrets l;

    (void)state;
    start(&r);
    seen_secrets_init(&l);
    r.http.seen_secrets = &l;
    end(&r, begin(&r, "POST", "/mcp/9d1f6c2a1111", ""));
    assert_int_equal(l.active, 0);
    http_recorder_redact_urls(&r.http, STR("http://h/s/7b2e9c4f0a1d"));
    assert_int_equal(l.active, 1);
    end(&r, begin(&r, "POST", "/mcp/9d1f6c2a1111", ""));
    assert_int_equal(l.active, 2);
    stop(&r);
    seen_secrets_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_post_with_a_json_response_is_recorded),
        cmocka_unit_test(our_response_can_answer_the_one_open_request),
        cmocka_unit_test(every_event_is_recorded_before_it_is_forwarded),
        cmocka_unit_test(sessions_have_numbers_instead_of_ids),
        cmocka_unit_test(a_resumed_stream_has_the_last_event_id),
        cmocka_unit_test(a_body_that_is_not_a_message_is_recorded_raw),
        cmocka_unit_test(an_aborted_body_is_recorded_up_to_its_end),
        cmocka_unit_test(a_request_completed_after_its_response_began_is_recorded_then),
        cmocka_unit_test(an_incomplete_request_is_recorded_up_to_its_end),
        cmocka_unit_test(a_rejected_or_disconnected_client_is_recorded_with_its_message),
        cmocka_unit_test(login_requests_are_recorded_without_body_and_query),
        cmocka_unit_test(an_http_sse_session_is_its_stream_and_its_posts),
        cmocka_unit_test(all_endpoints_of_a_stream_belong_to_its_session),
        cmocka_unit_test(an_endpoint_on_another_origin_starts_no_session),
        cmocka_unit_test(a_too_long_body_is_recorded_as_a_gap),
        cmocka_unit_test(a_compressed_body_is_decompressed_for_the_recording),
        cmocka_unit_test(errors_are_reported_once_and_stop_nothing),
        cmocka_unit_test(secrets_of_headers_are_searched_while_they_may_be_repeated),
        cmocka_unit_test(kept_urls_add_no_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
