#include "transport/http-conn.h"

#include <stdio.h>
#include <stdlib.h>

#include "conn-rig.h"
#include "split-input.h"
#include "test.h"

static void run(struct split_input *c, struct buf *seen)
{
    struct rig r;
    struct str piece;

    open_rig(&r);
    while (split_input_next(c, &piece)) {
        feed(&r, piece);
        while (r.soon) {
            r.soon = false;
            http_conn_resume(&r.conn);
        }
    }
    buf_add(seen, buf_str(&r.owner.text));
    close_rig(&r);
}

#define H "Host: localhost:8080\r\n"
#define N "HTTP/1.1 200 OK\n"
#define KIND "X-Kind: test\n"
#define CHUNKED "Transfer-Encoding: chunked\n"
#define CLOSE "Connection: close\n"
#define JSON "Content-Type: application/json\n"
#define FOREIGN "GET /none HTTP/1.1\r\nHost: evil\r\nOrigin: null\r\n\r\n"
#define FOREIGN_SEEN "GET /none other null\nwhole 0:\n" N "Content-Length: 0\n\n"
#define ERROR(text)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"" text "\"}}"

static const struct {
    const char *in, *seen;
} answered[] = {
    { "GET /none HTTP/1.1\r\n" H "\r\n",
      "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n" },
    { "POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc",
      "POST /echo self none\nwhole 3:abc\n" N "Content-Length: 3\n\nabc" },
    { "POST /echo HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n",
      "POST /echo self none\nwhole 0:\n" N "Content-Length: 0\n\n" },
    { "POST /echo HTTP/1.1\r\n" H
      "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\nX-T: 1\r\n\r\n",
      "POST /echo self none\nwhole 3:abc\n" N "Content-Length: 3\n\nabc" },
    { "GET /stream HTTP/1.1\r\n" H "\r\n",
      "GET /stream self none\nwhole 0:\n" N KIND CHUNKED "\n3\none\n3\ntwo\n0\n\n" },
    { "GET /stream HTTP/1.0\r\n" H "\r\n",
      "GET /stream self none\nwhole 0:\n" N KIND CLOSE "\nonetwo<finish>" },
    { "HEAD /stream HTTP/1.1\r\n" H "\r\n", "HEAD /stream self none\nwhole 0:\n" N KIND "\n" },
    { "HEAD /echo HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nab",
      "HEAD /echo self none\nwhole 2:ab\n" N "Content-Length: 2\n\n" },
    { "HEAD /short HTTP/1.1\r\n" H "\r\n",
      "HEAD /short self none\nwhole 0:\n" N KIND "Content-Length: 10\n\n" },
    { "GET /204 HTTP/1.1\r\n" H "\r\n",
      "GET /204 self none\nwhole 0:\nHTTP/1.1 204 No Content\n" KIND "\n" },
    { "GET /304 HTTP/1.1\r\n" H "\r\n",
      "GET /304 self none\nwhole 0:\nHTTP/1.1 304 Not Modified\n" KIND
      "Content-Length: 10\n\n" },
    { "GET /short HTTP/1.1\r\n" H "\r\n",
      "GET /short self none\nwhole 0:\n" N KIND "Content-Length: 10\n\none<finish>" },
    { "GET /abort HTTP/1.1\r\n" H "\r\n",
      "GET /abort self none\nwhole 0:\n" N KIND CHUNKED "\n3\none\n<finish>" },
    { "GET /abort HTTP/1.0\r\n" H "\r\n",
      "GET /abort self none\nwhole 0:\n" N KIND CLOSE "\none<reset>" },
    { "GET /drop HTTP/1.1\r\n" H "\r\n", "GET /drop self none\n<finish>" },
    { "GET /last HTTP/1.1\r\n" H "\r\nGET /none HTTP/1.1\r\n" H "\r\n",
      "GET /last self none\nwhole 0:\n" N "Content-Length: 0\n" CLOSE "\n<finish>" },
    { "GET /none HTTP/1.1\r\n" H "Connection: close\r\n\r\nGET /none HTTP/1.1\r\n",
      "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n" CLOSE "\n<finish>" },
    { "GET /bad HTTP/1.1\r\n" H "\r\n",
      "GET /bad self none\nwhole 0:\nHTTP/1.1 502 Bad Gateway\n" JSON
      "Content-Length: 103\n\n" ERROR("the server's answer cannot be passed on") },
    { "GET /x HTTP/1.1\r\nHost: evil.example\r\nOrigin: null\r\n\r\n",
      "GET /x other null\nwhole 0:\nHTTP/1.1 404 Not Found\n" JSON
      "Content-Length: 85\n\n" ERROR("there is nothing here") },
    { FOREIGN FOREIGN "GET /none HTTP/1.1\r\n" H "\r\n" FOREIGN, FOREIGN_SEEN FOREIGN_SEEN
      "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n" FOREIGN_SEEN },
    { "POST /early HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nabcde",
      "POST /early self none\nHTTP/1.1 413 Content Too Large\n" JSON
      "Content-Length: 72\n" CLOSE "\n" ERROR("too much") "<finish>" },
    { "\r\nPOST /go HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 1\r\n\r\na",
      "POST /go self none\nHTTP/1.1 100 Continue\n\nwhole 1:a\n" N "Content-Length: 1\n\na" },
    { "POST /echo HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 1\r\n\r\na",
      "POST /echo self none\nwhole 1:a\n" N "Content-Length: 1\n\na" },
    { "GET /none HTTP/1.1\r\n" H "\r\nPOST /echo HTTP/1.1\r\n" H
      "Content-Length: 1\r\n\r\naGET /none HTTP/1.1\r\n" H "\r\nGET /no",
      "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n"
      "POST /echo self none\nwhole 1:a\n" N "Content-Length: 1\n\na"
      "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n" },
    { "GET /hold HTTP/1.1\r\n" H "\r\nGET /none HTTP/1.1\r\n" H "\r\n",
      "GET /hold self none\n" N KIND CHUNKED "\nwhole 0:\n" },
    { "POST /silent HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\naPOST",
      "POST /silent self none\nwhole 1:a\n" },
};

static void requests_are_parsed_at_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++)
        assert_splits(str_z(answered[i].in), run, str_z(answered[i].seen));
}

static void ambiguous_input_is_rejected_at_every_split(void **state)
{
    static const struct {
        const char *in, *seen;
    } cases[] = {
        { "GET / HTTP/1.1\nGET /none HTTP/1.1\r\n" H "\r\n",
          "HTTP/1.1 400 Bad Request\n" JSON "Content-Length: 92\n" CLOSE
          "\n" ERROR("a line that ends in LF alone") "<finish>"
                                                     "refused: invalid, 400, a line that ends "
                                                     "in LF alone\n" },
        { "POST /echo HTTP/1.1\r\n" H
          "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nx\r\nGET /none HTTP/1.1\r\n" H "\r\n",
          "POST /echo self none\n"
          "HTTP/1.1 400 Bad Request\n" JSON "Content-Length: 110\n" CLOSE "\n" ERROR(
              "a chunk whose size is not a hexadecimal number") "<finish>"
                                                                "gone: invalid, 400, a chunk "
                                                                "whose size is not a "
                                                                "hexadecimal number\n" },
        { "POST /hold HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
          "POST /hold self none\n" N KIND CHUNKED CLOSE
          "\n<finish>gone: invalid, 0, a chunk that does not end after its size\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_splits(str_z(cases[i].in), run, str_z(cases[i].seen));
}

static void the_next_request_waits_for_the_response(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\nGET /no"));
    feed(&r, STR("ne HTTP/1.1\r\n" H "\r\n"));
    assert_rig_saw(&r, "GET /hold self none\n" N KIND CHUNKED "\nwhole 0:\n");
    http_exchange_write(r.owner.latest, STR("x"));
    assert_rig_saw(&r, "1\nx\n");
    /* Not from inside the call that ends the one before. */
    path_responder_end(&r.owner);
    assert_rig_saw(&r, "0\n\n");
    assert_true(r.soon);
    http_conn_resume(&r.conn);
    assert_rig_saw(&r, "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n");
    http_conn_resume(&r.conn);
    assert_rig_saw(&r, "");
    close_rig(&r);
}

static void input_may_come_before_pipelined_input_is_parsed(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\nGET /no"));
    path_responder_end(&r.owner);
    buf_clear(&r.owner.text);
    feed(&r, STR("ne HTTP/1.1\r\n" H "\r\n"));
    assert_rig_saw(&r, "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n");
    close_rig(&r);
}

static void too_much_pipelined_input_is_dropped(void **state)
{
    static char much[HTTP_CONN_PIPELINED_MAX];
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\nG"));
    feed(&r, str_n(much, sizeof much - 1));
    assert_int_equal(r.conn.pipelined.len, sizeof much);
    feed(&r, STR("x"));
    assert_int_equal(r.conn.pipelined.cap, 0);
    feed(&r, str_n(much, sizeof much));
    assert_int_equal(r.conn.pipelined.cap, 0);
    buf_clear(&r.owner.text);
    path_responder_end(&r.owner);
    assert_rig_saw(&r, "0\n\n<finish>");
    close_rig(&r);
}

static void unsent_responses_stop_parsing(void **state)
{
    static const char small[] = "GET /a HTTP/1.1\r\n" H "\r\n";
    static char much[HTTP_CONN_PIPELINED_MAX];
    struct rig r;

    (void)state;
    open_rig(&r);
    r.never_reads = true;
    r.queued = HTTP_CONN_UNSENT_MAX;
    feed(&r, STR(small)); /* it is not owed more than that yet */
    feed(&r, STR(small));
    feed(&r, STR(small));
    assert_int_equal(r.owner.requests, 1);
    assert_int_equal(r.conn.pipelined.len, 2 * strlen(small));
    r.queued = 0;
    r.never_reads = false;
    http_conn_drained(&r.conn);
    assert_true(r.soon);
    http_conn_resume(&r.conn);
    assert_int_equal(r.owner.requests, 3);
    r.queued = HTTP_CONN_UNSENT_MAX + 1;
    feed(&r, str_n(much, sizeof much));
    assert_int_equal(r.conn.state, HTTP_CONN_HEAD);
    feed(&r, STR("x")); /* there is an end to what is kept */
    assert_int_equal(r.conn.state, HTTP_CONN_LINGER);
    r.queued = 0;
    close_rig(&r);
}

static void a_response_keeps_nothing_of_its_request(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /hold HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na"));
    assert_non_null(r.conn.parser);
    feed(&r, STR("b"));
    assert_null(r.conn.parser);
    assert_null(r.owner.latest->head);
    assert_null(r.conn.pipelined.at);
    close_rig(&r);
}

static void nothing_is_kept_between_requests(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    assert_null(r.conn.parser);
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    assert_null(r.conn.parser);
    feed(&r, STR("G"));
    assert_non_null(r.conn.parser);
    close_rig(&r);
}

static void a_paused_body_is_not_read(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\nab"));
    assert_rig_saw(&r, "POST /pause self none\n<pause>");
    tick(&r, 0);
    tick(&r, 100000); /* nor does its time pass */
    assert_rig_saw(&r, "");
    http_exchange_read(r.owner.latest, true);
    http_exchange_read(r.owner.latest, true);
    assert_rig_saw(&r, "<read>");
    feed(&r, STR("cd"));
    assert_rig_saw(&r, "whole 4:abcd\n" N "Content-Length: 4\n\nabcd");
    close_rig(&r);
}

static void reading_resumes_after_a_body(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nab"));
    assert_rig_saw(&r, "POST /pause self none\n<pause><read>whole 2:ab\n" N
                       "Content-Length: 2\n\nab");
    assert_true(r.reading);
    close_rig(&r);
}

static void a_client_that_closes_during_a_response_is_gone(void **state)
{
    static const char *const owed[] = {
        "GET /hold HTTP/1.1\r\n" H "\r\n",
        "GET /silent HTTP/1.0\r\n" H "\r\n",
        "POST /echo HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na",
        "POST /pause HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na",
        "POST /hold HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na",
    };

    (void)state;
    for (size_t i = 0; i < sizeof owed / sizeof *owed * 2; i++) {
        struct rig r;

        open_rig(&r);
        feed(&r, str_z(owed[i / 2]));
        r.never_reads = true;
        r.queued = i % 2 ? 10 : 0; /* whether it has taken all so far or not */
        assert_int_equal(r.owner.open, 1);
        http_conn_input_closed(&r.conn);
        assert_int_equal(r.owner.aborted, 1);
        assert_true(str_ends(buf_str(&r.owner.text),
                             STR("<close>gone: left, 0, the client has closed the "
                                 "connection\n")));
        buf_clear(&r.owner.text);
        http_conn_lost(&r.conn);
        assert_rig_saw(&r, "");
        close_rig(&r);
    }
}

static const struct http_exchange_response empty = { .status = 200,
                                                     .body = HTTP_EXCHANGE_EMPTY };

/* The relay probes it, and the owner of the socket reads the result. */
static void a_half_closed_client_gets_its_response(void **state)
{
    struct err e = ERR_NONE;
    struct http_exchange *x;
    struct rig r;

    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        open_rig(&r);
        feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
        http_conn_input_closed(&r.conn);
        assert_rig_saw(&r, "GET /silent self none\nwhole 0:\nHTTP/1.1 100 Continue\n\n<watch>");
        r.never_reads = !taken;
        x = r.owner.latest;
        path_responder_forget(&r.owner);
        assert_true(http_exchange_respond(x, &empty, STR("abc"), &e));
        if (!taken) {
            r.queued = 0;
            http_conn_drained(&r.conn);
        }
        assert_rig_saw(&r, N "Content-Length: 3\n" CLOSE "\nabc<finish><close>");
        close_rig(&r);
    }
}

static void a_half_closed_client_that_resets_is_gone(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    http_conn_input_closed(&r.conn);
    buf_clear(&r.owner.text);
    http_conn_lost(&r.conn);
    assert_rig_saw(&r, "<close>gone: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

/* It may have sent all of its body before; that is unknown while it is not read. */
static void an_unread_client_that_closes_is_probed_once(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na"));
    assert_rig_saw(&r, "POST /pause self none\n<pause>");
    http_conn_closed_unread(&r.conn);
    assert_rig_saw(&r, "HTTP/1.1 100 Continue\n\n<watch>");
    http_conn_closed_unread(&r.conn);
    assert_rig_saw(&r, "");
    http_exchange_read(r.owner.latest, true);
    feed(&r, STR("b"));
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "<read>whole 2:ab\n" N "Content-Length: 2\n\nab<close>");
    close_rig(&r);
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.0\r\n" H "Content-Length: 2\r\n\r\na"));
    buf_clear(&r.owner.text);
    http_conn_closed_unread(&r.conn);
    assert_rig_saw(&r, "<read><close>gone: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

static void a_sized_response_continues_after_half_close(void **state)
{
    static const struct http_exchange_response four = { .status = 200,
                                                        .body = HTTP_EXCHANGE_SIZED,
                                                        .length = 4 };
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    assert_true(http_exchange_send_head(r.owner.latest, &four, &e));
    http_exchange_write(r.owner.latest, STR("ab"));
    http_conn_input_closed(&r.conn);
    http_exchange_write(r.owner.latest, STR("cd"));
    path_responder_end(&r.owner);
    assert_rig_saw(&r, N "Content-Length: 4\n\nab<watch>cd<finish><close>");
    close_rig(&r);
}

static void pipelined_requests_before_the_end_are_answered(void **state)
{
    struct err e = ERR_NONE;
    struct http_exchange *x;
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\nGET /none HTTP/1.1\r\n" H
                 "\r\nGET /none HTTP/1.1\r\n" H "\r\nGET /to"));
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "GET /silent self none\nwhole 0:\nHTTP/1.1 100 Continue\n\n<watch>");
    x = r.owner.latest;
    path_responder_forget(&r.owner);
    assert_true(http_exchange_respond(x, &empty, STR_NONE, &e));
    assert_rig_saw(&r, N "Content-Length: 0\n\n");
    assert_true(r.soon);
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "<watch>");
    http_conn_resume(&r.conn);
    assert_rig_saw(&r, "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n"
                       "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n"
                       "<close>refused: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

static void closing_between_requests_is_not_reported(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
    open_rig(&r);
    feed(&r, STR("GET /"));
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "<close>refused: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

static void queued_bytes_are_sent_after_half_close(void **state)
{
    static const char *const requests[] = {
        "GET /none HTTP/1.1\r\n" H "\r\n",
        "GET /none HTTP/1.1\r\n" H "Connection: close\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig r;

        open_rig(&r);
        r.never_reads = true;
        feed(&r, str_z(requests[i]));
        http_conn_input_closed(&r.conn);
        assert_true(str_ends(buf_str(&r.owner.text), STR("<finish>")));
        buf_clear(&r.owner.text);
        r.queued = 0;
        http_conn_drained(&r.conn);
        assert_rig_saw(&r, "<close>");
        close_rig(&r);
    }
}

static void an_unframed_response_is_reset_after_the_queue(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.never_reads = true;
    feed(&r, STR("GET /abort HTTP/1.0\r\n" H "\r\n"));
    assert_rig_saw(&r, "GET /abort self none\nwhole 0:\n" N KIND CLOSE "\none");
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "");
    r.queued = 0;
    http_conn_drained(&r.conn);
    assert_rig_saw(&r, "<reset>");
    close_rig(&r);
}

static void drained_is_reported(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.never_reads = true;
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    assert_int_equal(http_exchange_queued(r.owner.latest), r.queued);
    assert_true(r.queued > 0);
    r.queued = 0;
    http_conn_drained(&r.conn);
    assert_int_equal(r.owner.drain_count, 1);
    path_responder_end(&r.owner);
    http_conn_drained(&r.conn);
    assert_int_equal(r.owner.drain_count, 1);
    close_rig(&r);
}

/* Time */

static void a_slow_head_times_out(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    tick(&r, 0);
    tick(&r, 99);
    assert_rig_saw(&r, "");
    tick(&r, 1);
    assert_rig_saw(&r, "<close>"); /* nothing was said, so there is nothing to answer */
    close_rig(&r);

    open_rig(&r);
    tick(&r, 0);
    feed(&r, STR("GET / HTTP/1.1\r\n"));
    tick(&r, 60);
    feed(&r, STR("Host: x\r\n")); /* dripping does not help */
    tick(&r, 39);
    assert_rig_saw(&r, "");
    tick(&r, 1);
    assert_rig_saw(
        &r, "HTTP/1.1 408 Request Timeout\n" JSON "Content-Length: 99\n" CLOSE "\n" ERROR(
                "the head of a request took too long") "<finish>refused: slow, 408, the head "
                                                       "of a request took too long\n");
    tick(&r, 0);
    tick(&r, 49);
    assert_rig_saw(&r, "");
    tick(&r, 1);
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
}

static void an_idle_connection_times_out_later(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    tick(&r, 999);
    assert_rig_saw(&r, "");
    feed(&r, STR("G"));
    tick(&r, 1); /* the time of the head starts now */
    tick(&r, 99);
    assert_rig_saw(&r, "");
    feed(&r, STR("ET /none HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 50);
    tick(&r, 999);
    assert_rig_saw(&r, "");
    tick(&r, 1);
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
}

static void a_slow_body_times_out(void **state)
{
    static char bytes[1000];
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 100000\r\n\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    for (int i = 0; i < 20; i++) { /* just fast enough */
        feed(&r, str_n(bytes, 200));
        tick(&r, 200);
    }
    feed(&r, str_n(bytes, 1000)); /* time cannot be saved */
    tick(&r, 1);
    tick(&r, 299);
    assert_rig_saw(&r, "");
    tick(&r, 1);
    assert_true(
        str_ends(buf_str(&r.owner.text),
                 STR("<finish>gone: slow, 408, the request body arrives too slowly\n")));
    close_rig(&r);

    open_rig(&r);
    feed(&r, STR("POST /hold HTTP/1.1\r\n" H "Content-Length: 100000\r\n\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    for (int i = 0; i < 4; i++) { /* half as fast as it should be */
        feed(&r, str_n(bytes, 50));
        tick(&r, 100);
    }
    assert_rig_saw(&r, "");
    for (int i = 0; i < 2; i++) {
        feed(&r, str_n(bytes, 50));
        tick(&r, 100);
    }
    assert_rig_saw(&r, "<reset>gone: slow, 0, the request body arrives too slowly\n");
    close_rig(&r);
}

static void waiting_for_100_is_not_slow(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r,
         STR("POST /echo HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    tick(&r, 100000);
    assert_rig_saw(&r, "");
    http_exchange_send_continue(r.owner.latest);
    http_exchange_send_continue(r.owner.latest);
    assert_rig_saw(&r, "HTTP/1.1 100 Continue\n\n");
    tick(&r, 0);
    tick(&r, 300);
    assert_int_equal(r.owner.aborted, 1);
    close_rig(&r);
}

static void a_silent_response_does_not_time_out(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    for (int i = 0; i < 10; i++)
        tick(&r, 1000000000);
    assert_rig_saw(&r, "");
    close_rig(&r);
}

static void a_client_that_does_not_read_times_out(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.never_reads = true;
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    tick(&r, 499);
    r.queued--; /* a byte is enough */
    tick(&r, 1);
    tick(&r, 499);
    http_exchange_write(r.owner.latest, STR("more")); /* but of theirs, not of ours */
    assert_rig_saw(&r, "4\nmore\n");
    tick(&r, 1);
    assert_rig_saw(&r, "<reset>gone: slow, 0, the client does not read its response\n");
    close_rig(&r);

    open_rig(&r); /* also of an answer that we are done with */
    r.never_reads = true;
    feed(&r, STR("GET /abort HTTP/1.0\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    tick(&r, 0);
    tick(&r, 500);
    assert_rig_saw(&r, "<reset>");
    close_rig(&r);
}

static void lingering_is_limited(void **state)
{
    static char much[1 << 20];
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /early HTTP/1.1\r\n" H "Content-Length: 1000000000\r\n\r\n"));
    buf_clear(&r.owner.text);
    for (size_t i = 0; i < HTTP_CONN_LINGER_MAX / sizeof much; i++)
        feed(&r, str_n(much, sizeof much));
    assert_rig_saw(&r, "");
    feed(&r, STR("x"));
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
}

/* Our own end */

static void stop_closes_idle_connections_at_once(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    http_conn_stop(&r.conn);
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
    open_rig(&r);
    r.never_reads = true;
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    http_conn_stop(&r.conn);
    assert_rig_saw(&r, "<finish>"); /* it has not taken its answer yet */
    close_rig(&r);
}

static void stop_lets_an_exchange_end(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\n"));
    buf_clear(&r.owner.text);
    http_conn_stop(&r.conn);
    feed(&r, STR("aGET /none HTTP/1.1\r\n" H "\r\n"));
    assert_rig_saw(&r, "whole 1:a\n" N "Content-Length: 1\n" CLOSE "\na<finish>");
    close_rig(&r);
}

static void abort_ends_an_exchange(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    http_conn_stop(&r.conn);
    http_conn_abort(&r.conn);
    assert_rig_saw(
        &r,
        "HTTP/1.1 503 Service Unavailable\n" JSON "Retry-After: 1\nContent-Length: 81\n" CLOSE
        "\n" ERROR("mcpreel was ended") "<finish>gone: stopped, 503, mcpreel was ended\n");
    http_conn_abort(&r.conn);
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.text);
    http_conn_abort(&r.conn);
    assert_rig_saw(&r, "<finish>gone: stopped, 0, mcpreel was ended\n");
    close_rig(&r);
}

static void overload_is_rejected_with_503(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    http_conn_reject_overload(&r.conn);
    assert_rig_saw(
        &r, "HTTP/1.1 503 Service Unavailable\n" JSON
            "Retry-After: 1\nContent-Length: 84\n" CLOSE "\n" ERROR(
                "too many connections") "<finish>refused: crowd, 503, too many connections\n");
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    assert_rig_saw(&r, "");
    http_conn_input_closed(&r.conn);
    assert_rig_saw(&r, "<close>");
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_parsed_at_every_split),
        cmocka_unit_test(ambiguous_input_is_rejected_at_every_split),
        cmocka_unit_test(the_next_request_waits_for_the_response),
        cmocka_unit_test(input_may_come_before_pipelined_input_is_parsed),
        cmocka_unit_test(too_much_pipelined_input_is_dropped),
        cmocka_unit_test(unsent_responses_stop_parsing),
        cmocka_unit_test(a_response_keeps_nothing_of_its_request),
        cmocka_unit_test(nothing_is_kept_between_requests),
        cmocka_unit_test(a_paused_body_is_not_read),
        cmocka_unit_test(reading_resumes_after_a_body),
        cmocka_unit_test(a_client_that_closes_during_a_response_is_gone),
        cmocka_unit_test(a_half_closed_client_gets_its_response),
        cmocka_unit_test(a_half_closed_client_that_resets_is_gone),
        cmocka_unit_test(an_unread_client_that_closes_is_probed_once),
        cmocka_unit_test(a_sized_response_continues_after_half_close),
        cmocka_unit_test(pipelined_requests_before_the_end_are_answered),
        cmocka_unit_test(closing_between_requests_is_not_reported),
        cmocka_unit_test(queued_bytes_are_sent_after_half_close),
        cmocka_unit_test(an_unframed_response_is_reset_after_the_queue),
        cmocka_unit_test(drained_is_reported),
        cmocka_unit_test(a_slow_head_times_out),
        cmocka_unit_test(an_idle_connection_times_out_later),
        cmocka_unit_test(a_slow_body_times_out),
        cmocka_unit_test(waiting_for_100_is_not_slow),
        cmocka_unit_test(a_silent_response_does_not_time_out),
        cmocka_unit_test(a_client_that_does_not_read_times_out),
        cmocka_unit_test(lingering_is_limited),
        cmocka_unit_test(stop_closes_idle_connections_at_once),
        cmocka_unit_test(stop_lets_an_exchange_end),
        cmocka_unit_test(abort_ends_an_exchange),
        cmocka_unit_test(overload_is_rejected_with_503),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
