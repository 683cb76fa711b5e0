#include "transport/http-exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "assert-aborts.h"
#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

/* Where an exchange takes place: a head, and all that was wished. */
struct exchange_run {
    struct request_head request;
    struct http_exchange exchange;
    struct buf out, desk;
    size_t writes, begun, ended, aborted, unframed;
    bool reading;
};

static void do_write(void *at, struct str bytes)
{
    struct exchange_run *p = at;

    p->writes++;
    buf_add(&p->out, bytes);
}

static struct buf *get_output(void *at)
{
    struct exchange_run *p = at;

    buf_clear(&p->desk);
    return &p->desk;
}

static void do_read(void *at, bool on)
{
    struct exchange_run *p = at;

    p->reading = on;
}

static void do_begin(void *at)
{
    struct exchange_run *p = at;

    p->begun++;
}

static void do_end(void *at)
{
    struct exchange_run *p = at;

    p->ended++;
}

static void do_abort(void *at, bool unframed)
{
    struct exchange_run *p = at;

    p->aborted++;
    p->unframed += unframed;
}

static size_t get_queued(const void *at)
{
    const struct exchange_run *p = at;

    return p->out.len;
}

static const struct http_exchange_io port = { do_write, get_output, do_read,   do_begin,
                                              do_end,   do_abort,   get_queued };

static struct http_exchange *open_exchange(struct exchange_run *p, const char *head)
{
    struct str in = str_z(head);

    *p = (struct exchange_run){ .reading = true };
    request_head_init(&p->request);
    buf_init(&p->out, 1 << 24);
    buf_init(&p->desk, 1 << 20);
    assert_int_equal(request_head_feed(&p->request, &in), REQUEST_HEAD_COMPLETE);
    http_exchange_init(&p->exchange, &p->request, &port, p);
    p->exchange.request_complete = true;
    return &p->exchange;
}

static void close_exchange(struct exchange_run *p)
{
    request_head_release(&p->request);
    buf_release(&p->out);
    buf_release(&p->desk);
}

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\nHost: a\r\n\r\n"
#define HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define BYE "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define LENGTH "Content-Length: "
#define CHUNKS "Transfer-Encoding: chunked\r\n"
#define CLOSE "Connection: close\r\n"

static void the_framing_depends_on_the_request(void **state)
{
    static const struct {
        const char *ask;
        unsigned status;
        enum http_exchange_body body;
        const char *lines, *follows;
    } cases[] = {
        { GET, 200, HTTP_EXCHANGE_STREAM, CHUNKS, "3\r\nabc\r\n0\r\n\r\n" },
        { GET, 200, HTTP_EXCHANGE_SIZED, LENGTH "3\r\n", "abc" },
        { GET, 200, HTTP_EXCHANGE_EMPTY, LENGTH "0\r\n", "" },
        { GET, 202, HTTP_EXCHANGE_EMPTY, LENGTH "0\r\n", "" },
        { GET, 204, HTTP_EXCHANGE_STREAM, "", "" },
        { GET, 204, HTTP_EXCHANGE_SIZED, "", "" },
        { GET, 204, HTTP_EXCHANGE_EMPTY, "", "" },
        { GET, 304, HTTP_EXCHANGE_STREAM, "", "" },
        { GET, 304, HTTP_EXCHANGE_SIZED, LENGTH "3\r\n", "" },
        { GET, 304, HTTP_EXCHANGE_EMPTY, "", "" },
        { OLD, 200, HTTP_EXCHANGE_STREAM, CLOSE, "abc" },
        { OLD, 200, HTTP_EXCHANGE_SIZED, LENGTH "3\r\n" CLOSE, "abc" },
        { OLD, 200, HTTP_EXCHANGE_EMPTY, LENGTH "0\r\n" CLOSE, "" },
        { HEAD, 200, HTTP_EXCHANGE_STREAM, "", "" },
        { HEAD, 200, HTTP_EXCHANGE_SIZED, LENGTH "3\r\n", "" },
        { HEAD, 200, HTTP_EXCHANGE_EMPTY, "", "" },
        { HEAD, 404, HTTP_EXCHANGE_SIZED, LENGTH "3\r\n", "" },
        { BYE, 200, HTTP_EXCHANGE_STREAM, CHUNKS CLOSE, "3\r\nabc\r\n0\r\n\r\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_exchange_response a = {
            .status = cases[i].status, .phrase = STR("Well"), .body = cases[i].body, .length = 3
        };
        struct exchange_run p;
        struct http_exchange *x = open_exchange(&p, cases[i].ask);
        struct err e = ERR_NONE;
        struct buf want;

        buf_init(&want, 1000);
        buf_printf(&want, "HTTP/1.1 %u Well\r\n%s\r\n%s", cases[i].status, cases[i].lines,
                   cases[i].follows);
        assert_true(http_exchange_send_head(x, &a, &e));
        assert_null(x->head);
        if (a.body != HTTP_EXCHANGE_EMPTY)
            http_exchange_write(x, STR("abc"));
        http_exchange_end(x);
        assert_str(buf_str(&p.out), buf_str(&want));
        assert_int_equal(p.begun, 1);
        assert_int_equal(p.ended, 1);
        assert_int_equal(p.aborted, 0);
        buf_release(&want);
        close_exchange(&p);
    }
}

static void aborts_report_whether_they_are_unframed(void **state)
{
    static const struct {
        const char *ask;
        enum http_exchange_body body;
        size_t unframed;
    } cases[] = {
        { GET, HTTP_EXCHANGE_STREAM, 0 },
        { GET, HTTP_EXCHANGE_SIZED, 0 },
        { OLD, HTTP_EXCHANGE_SIZED, 0 },
        { OLD, HTTP_EXCHANGE_STREAM, 1 }, /* the end would look like one */
        { HEAD, HTTP_EXCHANGE_STREAM, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_exchange_response a = { .status = 200,
                                            .body = cases[i].body,
                                            .length = 10 };
        struct exchange_run p;
        struct http_exchange *x = open_exchange(&p, cases[i].ask);
        struct err e = ERR_NONE;

        assert_true(http_exchange_send_head(x, &a, &e));
        http_exchange_write(x, STR("abc"));
        if (a.body == HTTP_EXCHANGE_SIZED)
            http_exchange_end(x); /* too early */
        else
            http_exchange_abort(x);
        assert_int_equal(p.aborted, 1);
        assert_int_equal(p.ended, 0);
        assert_int_equal(p.unframed, cases[i].unframed);
        assert_false(str_ends(buf_str(&p.out), STR("0\r\n\r\n")));
        close_exchange(&p);
    }
}

static void an_invalid_head_changes_nothing(void **state)
{
    struct http_exchange_response a = { .status = 200,
                                        .body = HTTP_EXCHANGE_STREAM,
                                        .close = true };
    struct exchange_run p;
    struct http_exchange *x = open_exchange(&p, GET);
    struct err e = ERR_NONE;

    (void)state;
    headers_add(&a.headers, STR("X"), STR("a\r\nSet-Cookie: b"));
    assert_false(http_exchange_send_head(x, &a, &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_false(http_exchange_respond(x, &a, STR("abc"), &e));
    assert_int_equal(p.out.len + p.begun + p.ended, 0);
    assert_ptr_equal(x->head, &p.request);
    headers_clear(&a.headers);
    headers_add(&a.headers, STR("Allow"), STR("POST"));
    http_exchange_send_error(x, 405, &a.headers, STR("only POST"));
    assert_str(buf_str(&p.out),
               STR("HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\n"
                   "Content-Type: application/json\r\nContent-Length: 73\r\n\r\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,"
                   "\"message\":\"only POST\"}}"));
    headers_release(&a.headers);
    close_exchange(&p);
}

static void a_small_response_is_one_write(void **state)
{
    struct http_exchange_response a = { .status = 200 };
    struct exchange_run p;
    struct http_exchange *x = open_exchange(&p, GET);
    struct err e = ERR_NONE;

    (void)state;
    assert_true(http_exchange_respond(x, &a, STR("abc"), &e));
    assert_int_equal(p.writes, 1);
    assert_str(buf_str(&p.out), STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"));
    close_exchange(&p);

    x = open_exchange(&p, HEAD);
    assert_true(http_exchange_respond(x, &a, STR("abc"), &e));
    assert_str(buf_str(&p.out), STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"));
    close_exchange(&p);
}

static void a_large_response_is_the_same_on_the_wire(void **state)
{
    enum { SIZE = 100000 };
    char *much = mem_alloc(SIZE);
    struct http_exchange_response a = { .status = 200, .body = HTTP_EXCHANGE_STREAM };
    struct exchange_run p;
    struct http_exchange *x = open_exchange(&p, GET);
    struct err e = ERR_NONE;
    struct buf want;

    (void)state;
    memset(much, 'x', SIZE);
    buf_init(&want, 2 * SIZE);
    assert_true(http_exchange_respond(x, &a, str_n(much, SIZE), &e));
    buf_printf(&want, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%.*s", SIZE, SIZE, much);
    assert_true(str_eq(buf_str(&p.out), buf_str(&want)));
    close_exchange(&p);

    x = open_exchange(&p, GET);
    assert_true(http_exchange_send_head(x, &a, &e));
    buf_clear(&p.out);
    buf_clear(&want);
    http_exchange_write(x, str_n(much, SIZE));
    assert_int_equal(http_exchange_queued(x), p.out.len);
    buf_printf(&want, "%x\r\n%.*s\r\n", SIZE, SIZE, much);
    assert_true(str_eq(buf_str(&p.out), buf_str(&want)));
    close_exchange(&p);
    buf_release(&want);
    free(much);
}

static void a_response_to_an_incomplete_request_closes(void **state)
{
    struct http_exchange_response a = { .status = 200 };
    struct exchange_run p;
    struct http_exchange *x =
        open_exchange(&p, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
    struct err e = ERR_NONE;

    (void)state;
    x->request_complete = false;
    http_exchange_read(x, false);
    assert_false(p.reading);
    assert_true(http_exchange_respond(x, &a, STR_NONE, &e));
    assert_str(buf_str(&p.out),
               STR("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    close_exchange(&p);
}

static void continue_is_sent_only_if_expected(void **state)
{
    static const char waiting[] =
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
    struct http_exchange_response a = { .status = 200, .body = HTTP_EXCHANGE_STREAM };
    struct exchange_run p;
    struct http_exchange *x = open_exchange(&p, waiting);
    struct err e = ERR_NONE;

    (void)state;
    http_exchange_send_continue(x);
    http_exchange_send_continue(x);
    assert_str(buf_str(&p.out), STR("HTTP/1.1 100 Continue\r\n\r\n"));
    close_exchange(&p);
    x = open_exchange(&p, waiting);
    assert_true(http_exchange_send_head(x, &a, &e));
    buf_clear(&p.out);
    http_exchange_send_continue(x); /* it has its answer */
    assert_int_equal(p.out.len, 0);
    close_exchange(&p);
    x = open_exchange(&p, GET);
    http_exchange_send_continue(x);
    assert_int_equal(p.out.len, 0);
    close_exchange(&p);
}

static void every_reject_reason_can_be_sent(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    for (int why = REJECT_NONE + 1; why < REJECT_COUNT; why++) {
        buf_clear(&text);
        http_exchange_write_error(&text, reject_reason_status((enum reject_reason)why),
                                  STR_NONE, str_z(reject_reason_text((enum reject_reason)why)));
        assert_true(str_ends(buf_str(&text), STR("\"}}")));
    }
    buf_release(&text);
}

static void an_error_has_the_id_of_its_request(void **state)
{
    static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32000,"
                               "\"message\":\"no\"}}";
    char longest[HTTP_EXCHANGE_ID_MAX + 1], longer[HTTP_EXCHANGE_ID_MAX + 2], want[512];
    struct exchange_run p;

    (void)state;
    memset(longest, '1', sizeof longest);
    memset(longer, '1', sizeof longer);
    longest[sizeof longest - 1] = longer[sizeof longer - 1] = '\0';
    const char *const ids[][2] = {
        { "7", "7" }, { "\"a\\\"b\"", "\"a\\\"b\"" }, { longest, longest }, { longer, "null" }
    };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct http_exchange *x = open_exchange(&p, GET);

        x->rpc_id = str_z(ids[i][0]);
        http_exchange_send_error(x, 502, NULL, STR("no"));
        snprintf(want, sizeof want, body, ids[i][1]);
        assert_true(str_ends(buf_str(&p.out), str_z(want)));
        close_exchange(&p);
    }
}

static void write_too_much(void)
{
    struct http_exchange_response a = { .status = 200,
                                        .body = HTTP_EXCHANGE_SIZED,
                                        .length = 2 };
    struct exchange_run p;
    struct http_exchange *x = open_exchange(&p, GET);
    struct err e = ERR_NONE;

    if (http_exchange_send_head(x, &a, &e))
        http_exchange_write(x, STR("abc"));
}

static void use_what_is_over(void)
{
    struct exchange_run p;
    struct http_exchange *x = open_exchange(&p, GET);

    http_exchange_abort(x);
    http_exchange_abort(x);
}

static void reject_with_a_quote(void)
{
    struct exchange_run p;

    http_exchange_send_error(open_exchange(&p, GET), 404, NULL, STR("no \"x\""));
}

static void wrong_calls_are_bugs(void **state)
{
    (void)state;
    assert_aborts(write_too_much, "bytes.len > x->remaining");
    assert_aborts(use_what_is_over, "x->done");
    assert_aborts(reject_with_a_quote, "!needs_no_escape(text)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_framing_depends_on_the_request),
        cmocka_unit_test(aborts_report_whether_they_are_unframed),
        cmocka_unit_test(an_invalid_head_changes_nothing),
        cmocka_unit_test(a_small_response_is_one_write),
        cmocka_unit_test(a_large_response_is_the_same_on_the_wire),
        cmocka_unit_test(a_response_to_an_incomplete_request_closes),
        cmocka_unit_test(continue_is_sent_only_if_expected),
        cmocka_unit_test(every_reject_reason_can_be_sent),
        cmocka_unit_test(an_error_has_the_id_of_its_request),
        cmocka_unit_test(wrong_calls_are_bugs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
