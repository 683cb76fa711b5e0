#include "transport/http-conn.h"

#include <stdio.h>
#include <stdlib.h>

#include "conn-rig.h"
#include "cuts.h"
#include "test.h"

static void run(struct cuts *c, struct buf *seen)
{
    struct rig r;
    struct str piece;

    open_rig(&r);
    while (cuts_next(c, &piece)) {
        feed(&r, piece);
        while (r.soon) {
            r.soon = false;
            http_conn_go_on(&r.conn);
        }
    }
    buf_add(seen, buf_str(&r.owner.seen));
    close_rig(&r);
}

#define H "Host: localhost:8080\r\n"
#define N "HTTP/1.1 200 OK\n"
#define KIND "X-Kind: test\n"
#define CHUNKED "Transfer-Encoding: chunked\n"
#define CLOSE "Connection: close\n"
#define JSON "Content-Type: application/json\n"
#define EVIL "GET /none HTTP/1.1\r\nHost: evil\r\nOrigin: null\r\n\r\n"
#define EVIL_SEEN "GET /none other null\nwhole 0:\n" N "Content-Length: 0\n\n"
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
    { EVIL EVIL "GET /none HTTP/1.1\r\n" H "\r\n" EVIL, EVIL_SEEN EVIL_SEEN
      "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n" EVIL_SEEN },
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

static void requests_are_answered_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++)
        assert_cuts(str_z(answered[i].in), run, str_z(answered[i].seen));
}

static void what_cannot_be_read_in_one_way_is_refused_however_it_is_cut(void **state)
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
          "\n<finish>gone: invalid, 0, a chunk that does not end where its size says\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_cuts(str_z(cases[i].in), run, str_z(cases[i].seen));
}

static void the_next_request_waits_until_the_answer_is_whole(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\nGET /no"));
    feed(&r, STR("ne HTTP/1.1\r\n" H "\r\n"));
    saw(&r, "GET /hold self none\n" N KIND CHUNKED "\nwhole 0:\n");
    exchange_write(r.owner.latest, STR("x"));
    saw(&r, "1\nx\n");
    /* Not from inside the call that ends the one before. */
    obedient_end(&r.owner);
    saw(&r, "0\n\n");
    assert_true(r.soon);
    http_conn_go_on(&r.conn);
    saw(&r, "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n");
    http_conn_go_on(&r.conn);
    saw(&r, "");
    close_rig(&r);
}

static void more_may_come_before_one_gets_round_to_what_has_waited(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\nGET /no"));
    obedient_end(&r.owner);
    buf_clear(&r.owner.seen);
    feed(&r, STR("ne HTTP/1.1\r\n" H "\r\n"));
    saw(&r, "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n");
    close_rig(&r);
}

static void who_sends_too_much_ahead_loses_it_and_the_connection(void **state)
{
    static char much[HTTP_CONN_AHEAD_MAX];
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\nG"));
    feed(&r, str_n(much, sizeof much - 1));
    assert_int_equal(r.conn.ahead.len, sizeof much);
    feed(&r, STR("x"));
    assert_int_equal(r.conn.ahead.cap, 0);
    feed(&r, str_n(much, sizeof much));
    assert_int_equal(r.conn.ahead.cap, 0);
    buf_clear(&r.owner.seen);
    obedient_end(&r.owner);
    saw(&r, "0\n\n<finish>");
    close_rig(&r);
}

static void who_takes_nothing_is_not_asked_what_else_it_wants(void **state)
{
    static const char small[] = "GET /a HTTP/1.1\r\n" H "\r\n";
    static char much[HTTP_CONN_AHEAD_MAX];
    struct rig r;

    (void)state;
    open_rig(&r);
    r.stuck = true;
    r.queued = HTTP_CONN_OWED_MAX;
    feed(&r, STR(small)); /* it is not owed more than that yet */
    feed(&r, STR(small));
    feed(&r, STR(small));
    assert_int_equal(r.owner.requests, 1);
    assert_int_equal(r.conn.ahead.len, 2 * strlen(small));
    r.queued = 0;
    r.stuck = false;
    http_conn_drained(&r.conn);
    assert_true(r.soon);
    http_conn_go_on(&r.conn);
    assert_int_equal(r.owner.requests, 3);
    r.queued = HTTP_CONN_OWED_MAX + 1;
    feed(&r, str_n(much, sizeof much));
    assert_int_equal(r.conn.state, HTTP_CONN_HEAD);
    feed(&r, STR("x")); /* there is an end to what is kept */
    assert_int_equal(r.conn.state, HTTP_CONN_LINGER);
    r.queued = 0;
    close_rig(&r);
}

static void nothing_is_kept_of_a_request_while_its_answer_is_under_way(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /hold HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na"));
    assert_non_null(r.conn.intake);
    feed(&r, STR("b"));
    assert_null(r.conn.intake);
    assert_null(r.owner.latest->head);
    assert_null(r.conn.ahead.at);
    close_rig(&r);
}

static void between_requests_nothing_is_kept_either(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    assert_null(r.conn.intake);
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    assert_null(r.conn.intake);
    feed(&r, STR("G"));
    assert_non_null(r.conn.intake);
    close_rig(&r);
}

static void a_body_that_is_not_wanted_now_is_not_read(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\nab"));
    saw(&r, "POST /pause self none\n<pause>");
    tick(&r, 0);
    tick(&r, 100000); /* nor does its time pass */
    saw(&r, "");
    exchange_read(r.owner.latest, true);
    exchange_read(r.owner.latest, true);
    saw(&r, "<read>");
    feed(&r, STR("cd"));
    saw(&r, "whole 4:abcd\n" N "Content-Length: 4\n\nabcd");
    close_rig(&r);
}

static void after_a_body_one_always_reads_on(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nab"));
    saw(&r, "POST /pause self none\n<pause><read>whole 2:ab\n" N "Content-Length: 2\n\nab");
    assert_true(r.reading);
    close_rig(&r);
}

static void a_client_that_closes_while_it_is_owed_something_is_gone(void **state)
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
        r.stuck = true;
        r.queued = i % 2 ? 10 : 0; /* whether it has taken all so far or not */
        assert_int_equal(r.owner.open, 1);
        http_conn_ended(&r.conn);
        assert_int_equal(r.owner.gone, 1);
        assert_true(str_ends(buf_str(&r.owner.seen),
                             STR("<close>gone: left, 0, the client has closed the "
                                 "connection\n")));
        buf_clear(&r.owner.seen);
        http_conn_lost(&r.conn);
        saw(&r, "");
        close_rig(&r);
    }
}

static const struct answer empty = { .status = 200, .body = EXCHANGE_EMPTY };

/* It is asked, and whoever has the socket looks whether that comes back. */
static void who_closes_its_side_after_its_request_is_answered(void **state)
{
    struct err e = ERR_NONE;
    struct exchange *x;
    struct rig r;

    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        open_rig(&r);
        feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
        http_conn_ended(&r.conn);
        saw(&r, "GET /silent self none\nwhole 0:\nHTTP/1.1 100 Continue\n\n<watch>");
        r.stuck = !taken;
        x = r.owner.latest;
        obedient_forget(&r.owner);
        assert_true(exchange_answer(x, &empty, STR("abc"), &e));
        if (!taken) {
            r.queued = 0;
            http_conn_drained(&r.conn);
        }
        saw(&r, N "Content-Length: 3\n" CLOSE "\nabc<finish><close>");
        close_rig(&r);
    }
}

static void who_was_asked_and_has_gone_is_gone(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    http_conn_ended(&r.conn);
    buf_clear(&r.owner.seen);
    http_conn_lost(&r.conn);
    saw(&r, "<close>gone: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

/* It may have sent all of its body before; nobody knows while that is not read. */
static void who_seems_to_go_while_it_is_not_read_is_asked_once(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\na"));
    saw(&r, "POST /pause self none\n<pause>");
    http_conn_abandoned(&r.conn);
    saw(&r, "HTTP/1.1 100 Continue\n\n<watch>");
    http_conn_abandoned(&r.conn);
    saw(&r, "");
    exchange_read(r.owner.latest, true);
    feed(&r, STR("b"));
    http_conn_ended(&r.conn);
    saw(&r, "<read>whole 2:ab\n" N "Content-Length: 2\n\nab<close>");
    close_rig(&r);
    open_rig(&r);
    feed(&r, STR("POST /pause HTTP/1.0\r\n" H "Content-Length: 2\r\n\r\na"));
    buf_clear(&r.owner.seen);
    http_conn_abandoned(&r.conn);
    saw(&r, "<read><close>gone: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

static void an_answer_of_known_length_goes_on(void **state)
{
    static const struct answer four = { .status = 200, .body = EXCHANGE_SIZED, .length = 4 };
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    assert_true(exchange_head(r.owner.latest, &four, &e));
    exchange_write(r.owner.latest, STR("ab"));
    http_conn_ended(&r.conn);
    exchange_write(r.owner.latest, STR("cd"));
    obedient_end(&r.owner);
    saw(&r, N "Content-Length: 4\n\nab<watch>cd<finish><close>");
    close_rig(&r);
}

static void all_that_was_asked_for_before_the_end_is_answered(void **state)
{
    struct err e = ERR_NONE;
    struct exchange *x;
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\nGET /none HTTP/1.1\r\n" H
                 "\r\nGET /none HTTP/1.1\r\n" H "\r\nGET /to"));
    http_conn_ended(&r.conn);
    saw(&r, "GET /silent self none\nwhole 0:\nHTTP/1.1 100 Continue\n\n<watch>");
    x = r.owner.latest;
    obedient_forget(&r.owner);
    assert_true(exchange_answer(x, &empty, STR_NONE, &e));
    saw(&r, N "Content-Length: 0\n\n");
    assert_true(r.soon);
    http_conn_ended(&r.conn);
    saw(&r, "<watch>");
    http_conn_go_on(&r.conn);
    saw(&r, "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n"
            "GET /none self none\nwhole 0:\n" N "Content-Length: 0\n\n"
            "<close>refused: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

static void a_client_that_closes_between_requests_is_not_worth_a_word(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    http_conn_ended(&r.conn);
    saw(&r, "<close>");
    close_rig(&r);
    open_rig(&r);
    feed(&r, STR("GET /"));
    http_conn_ended(&r.conn);
    saw(&r, "<close>refused: left, 0, the client has closed the connection\n");
    close_rig(&r);
}

static void who_has_closed_its_side_still_gets_what_is_queued(void **state)
{
    static const char *const requests[] = {
        "GET /none HTTP/1.1\r\n" H "\r\n",
        "GET /none HTTP/1.1\r\n" H "Connection: close\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig r;

        open_rig(&r);
        r.stuck = true;
        feed(&r, str_z(requests[i]));
        http_conn_ended(&r.conn);
        assert_true(str_ends(buf_str(&r.owner.seen), STR("<finish>")));
        buf_clear(&r.owner.seen);
        r.queued = 0;
        http_conn_drained(&r.conn);
        saw(&r, "<close>");
        close_rig(&r);
    }
}

static void an_answer_without_an_end_of_its_own_is_broken_off_once_it_was_taken(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.stuck = true;
    feed(&r, STR("GET /abort HTTP/1.0\r\n" H "\r\n"));
    saw(&r, "GET /abort self none\nwhole 0:\n" N KIND CLOSE "\none");
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    http_conn_ended(&r.conn);
    saw(&r, "");
    r.queued = 0;
    http_conn_drained(&r.conn);
    saw(&r, "<reset>");
    close_rig(&r);
}

static void the_owner_hears_that_everything_was_taken(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.stuck = true;
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    assert_int_equal(exchange_queued(r.owner.latest), r.queued);
    assert_true(r.queued > 0);
    r.queued = 0;
    http_conn_drained(&r.conn);
    assert_int_equal(r.owner.drained, 1);
    obedient_end(&r.owner);
    http_conn_drained(&r.conn);
    assert_int_equal(r.owner.drained, 1);
    close_rig(&r);
}

/* Time */

static void a_head_has_its_time(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    tick(&r, 0);
    tick(&r, 99);
    saw(&r, "");
    tick(&r, 1);
    saw(&r, "<close>"); /* nothing was said, so there is nothing to answer */
    close_rig(&r);

    open_rig(&r);
    tick(&r, 0);
    feed(&r, STR("GET / HTTP/1.1\r\n"));
    tick(&r, 60);
    feed(&r, STR("Host: x\r\n")); /* dripping does not help */
    tick(&r, 39);
    saw(&r, "");
    tick(&r, 1);
    saw(&r, "HTTP/1.1 408 Request Timeout\n" JSON "Content-Length: 99\n" CLOSE "\n" ERROR(
                "the head of a request took too long") "<finish>refused: slow, 408, the head "
                                                       "of a request took too long\n");
    tick(&r, 0);
    tick(&r, 49);
    saw(&r, "");
    tick(&r, 1);
    saw(&r, "<close>");
    close_rig(&r);
}

static void between_requests_there_is_more_of_it(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    tick(&r, 999);
    saw(&r, "");
    feed(&r, STR("G"));
    tick(&r, 1); /* the time of the head starts now */
    tick(&r, 99);
    saw(&r, "");
    feed(&r, STR("ET /none HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 50);
    tick(&r, 999);
    saw(&r, "");
    tick(&r, 1);
    saw(&r, "<close>");
    close_rig(&r);
}

static void a_body_may_not_fall_behind(void **state)
{
    static char bytes[1000];
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 100000\r\n\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    for (int i = 0; i < 20; i++) { /* just fast enough */
        feed(&r, str_n(bytes, 200));
        tick(&r, 200);
    }
    feed(&r, str_n(bytes, 1000)); /* time cannot be saved */
    tick(&r, 1);
    tick(&r, 299);
    saw(&r, "");
    tick(&r, 1);
    assert_true(str_ends(buf_str(&r.owner.seen),
                         STR("<finish>gone: slow, 408, the body of a request comes too "
                             "slowly\n")));
    close_rig(&r);

    open_rig(&r);
    feed(&r, STR("POST /hold HTTP/1.1\r\n" H "Content-Length: 100000\r\n\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    for (int i = 0; i < 4; i++) { /* half as fast as it should be */
        feed(&r, str_n(bytes, 50));
        tick(&r, 100);
    }
    saw(&r, "");
    for (int i = 0; i < 2; i++) {
        feed(&r, str_n(bytes, 50));
        tick(&r, 100);
    }
    saw(&r, "<reset>gone: slow, 0, the body of a request comes too slowly\n");
    close_rig(&r);
}

static void who_waits_for_a_word_of_ours_is_not_slow(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r,
         STR("POST /echo HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    tick(&r, 100000);
    saw(&r, "");
    exchange_go_on(r.owner.latest);
    exchange_go_on(r.owner.latest);
    saw(&r, "HTTP/1.1 100 Continue\n\n");
    tick(&r, 0);
    tick(&r, 300);
    assert_int_equal(r.owner.gone, 1);
    close_rig(&r);
}

static void an_answer_may_be_silent_for_ever(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    for (int i = 0; i < 10; i++)
        tick(&r, 1000000000);
    saw(&r, "");
    close_rig(&r);
}

static void who_takes_nothing_is_given_up(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.stuck = true;
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    tick(&r, 499);
    r.queued--; /* a byte is enough */
    tick(&r, 1);
    tick(&r, 499);
    exchange_write(r.owner.latest, STR("more")); /* but of theirs, not of ours */
    saw(&r, "4\nmore\n");
    tick(&r, 1);
    saw(&r, "<reset>gone: slow, 0, the client does not take its answer\n");
    close_rig(&r);

    open_rig(&r); /* also of an answer that we are done with */
    r.stuck = true;
    feed(&r, STR("GET /abort HTTP/1.0\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    tick(&r, 0);
    tick(&r, 500);
    saw(&r, "<reset>");
    close_rig(&r);
}

static void who_sends_on_and_on_after_its_answer_is_heard_for_a_while(void **state)
{
    static char much[1 << 20];
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /early HTTP/1.1\r\n" H "Content-Length: 1000000000\r\n\r\n"));
    buf_clear(&r.owner.seen);
    for (size_t i = 0; i < HTTP_CONN_LINGER_MAX / sizeof much; i++)
        feed(&r, str_n(much, sizeof much));
    saw(&r, "");
    feed(&r, STR("x"));
    saw(&r, "<close>");
    close_rig(&r);
}

/* Our own end */

static void who_has_nothing_under_way_is_stopped_at_once(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    http_conn_stop(&r.conn);
    saw(&r, "<close>");
    close_rig(&r);
    open_rig(&r);
    r.stuck = true;
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    http_conn_stop(&r.conn);
    saw(&r, "<finish>"); /* it has not taken its answer yet */
    close_rig(&r);
}

static void what_is_under_way_may_end_before_one_stops(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\n"));
    buf_clear(&r.owner.seen);
    http_conn_stop(&r.conn);
    feed(&r, STR("aGET /none HTTP/1.1\r\n" H "\r\n"));
    saw(&r, "whole 1:a\n" N "Content-Length: 1\n" CLOSE "\na<finish>");
    close_rig(&r);
}

static void what_does_not_end_is_aborted(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    feed(&r, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    http_conn_stop(&r.conn);
    http_conn_abort(&r.conn);
    saw(&r,
        "HTTP/1.1 503 Service Unavailable\n" JSON "Retry-After: 1\nContent-Length: 81\n" CLOSE
        "\n" ERROR("mcpreel was ended") "<finish>gone: stopped, 503, mcpreel was ended\n");
    http_conn_abort(&r.conn);
    saw(&r, "<close>");
    close_rig(&r);
    open_rig(&r);
    feed(&r, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    buf_clear(&r.owner.seen);
    http_conn_abort(&r.conn);
    saw(&r, "<finish>gone: stopped, 0, mcpreel was ended\n");
    close_rig(&r);
}

static void who_is_one_too_many_is_told_so(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    http_conn_turn_away(&r.conn);
    saw(&r, "HTTP/1.1 503 Service Unavailable\n" JSON
            "Retry-After: 1\nContent-Length: 84\n" CLOSE "\n" ERROR(
                "too many connections") "<finish>refused: crowd, 503, too many connections\n");
    feed(&r, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    saw(&r, "");
    http_conn_ended(&r.conn);
    saw(&r, "<close>");
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_however_they_are_cut),
        cmocka_unit_test(what_cannot_be_read_in_one_way_is_refused_however_it_is_cut),
        cmocka_unit_test(the_next_request_waits_until_the_answer_is_whole),
        cmocka_unit_test(more_may_come_before_one_gets_round_to_what_has_waited),
        cmocka_unit_test(who_sends_too_much_ahead_loses_it_and_the_connection),
        cmocka_unit_test(who_takes_nothing_is_not_asked_what_else_it_wants),
        cmocka_unit_test(nothing_is_kept_of_a_request_while_its_answer_is_under_way),
        cmocka_unit_test(between_requests_nothing_is_kept_either),
        cmocka_unit_test(a_body_that_is_not_wanted_now_is_not_read),
        cmocka_unit_test(after_a_body_one_always_reads_on),
        cmocka_unit_test(a_client_that_closes_while_it_is_owed_something_is_gone),
        cmocka_unit_test(who_closes_its_side_after_its_request_is_answered),
        cmocka_unit_test(who_was_asked_and_has_gone_is_gone),
        cmocka_unit_test(who_seems_to_go_while_it_is_not_read_is_asked_once),
        cmocka_unit_test(an_answer_of_known_length_goes_on),
        cmocka_unit_test(all_that_was_asked_for_before_the_end_is_answered),
        cmocka_unit_test(a_client_that_closes_between_requests_is_not_worth_a_word),
        cmocka_unit_test(who_has_closed_its_side_still_gets_what_is_queued),
        cmocka_unit_test(an_answer_without_an_end_of_its_own_is_broken_off_once_it_was_taken),
        cmocka_unit_test(the_owner_hears_that_everything_was_taken),
        cmocka_unit_test(a_head_has_its_time),
        cmocka_unit_test(between_requests_there_is_more_of_it),
        cmocka_unit_test(a_body_may_not_fall_behind),
        cmocka_unit_test(who_waits_for_a_word_of_ours_is_not_slow),
        cmocka_unit_test(an_answer_may_be_silent_for_ever),
        cmocka_unit_test(who_takes_nothing_is_given_up),
        cmocka_unit_test(who_sends_on_and_on_after_its_answer_is_heard_for_a_while),
        cmocka_unit_test(who_has_nothing_under_way_is_stopped_at_once),
        cmocka_unit_test(what_is_under_way_may_end_before_one_stops),
        cmocka_unit_test(what_does_not_end_is_aborted),
        cmocka_unit_test(who_is_one_too_many_is_told_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
