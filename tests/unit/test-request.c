#include "cuts.h"
#include "test.h"
#include "wire/request.h"

#define HOST "Host: localhost:8080\r\n"
#define GET "GET /mcp HTTP/1.1\r\n"
#define POST "POST /mcp HTTP/1.1\r\n" HOST

static void describe(const struct request *r, struct buf *seen)
{
    static const char *const forms[] = { "path", "url", "asterisk" };

    buf_printf(seen, "%.*s %s %.*s", STR_ARG(r->method), forms[r->form], STR_ARG(r->path));
    if (r->query.at)
        buf_printf(seen, "?%.*s", STR_ARG(r->query));
    buf_printf(seen, " 1.%d for %.*s", r->minor, STR_ARG(r->host.host));
    if (r->host.port >= 0)
        buf_printf(seen, " port %d", r->host.port);
    if (r->body.kind == BODY_LENGTH)
        buf_printf(seen, ", %llu bytes", (unsigned long long)r->body.length);
    if (r->body.kind == BODY_CHUNKED)
        buf_printf(seen, ", chunked");
    buf_printf(seen, "%s%s", r->keep_alive ? ", keep" : ", close",
               r->expects_continue ? ", expects" : "");
}

/* The request, or why it was refused; "..." if it is not whole; what is left behind it. */
static void run(struct cuts *c, struct buf *seen)
{
    enum request_next next = REQUEST_MORE;
    struct str piece = STR_NONE;
    struct request r;

    request_init(&r);
    while (next == REQUEST_MORE && cuts_next(c, &piece))
        next = request_feed(&r, &piece);
    if (next == REQUEST_MORE) {
        buf_printf(seen, "...");
    } else if (next == REQUEST_REFUSED) {
        buf_printf(seen, "%u %s", refusal_status(r.why), refusal_text(r.why));
    } else {
        describe(&r, seen);
        buf_printf(seen, "|");
        buf_add(seen, piece);
        buf_add(seen, c->left);
    }
    request_release(&r);
}

static void every_cut_gives_the_same_request_and_leaves_its_body(void **state)
{
    (void)state;
    assert_cuts(STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), run,
                STR("GET path / 1.1 for a, keep|"));
    assert_cuts(STR(POST "Content-Length: 2\r\n\r\n{}GET"), run,
                STR("POST path /mcp 1.1 for localhost port 8080, 2 bytes, keep|{}GET"));
    assert_cuts(STR(POST "transfer-encoding: Chunked\r\n\r\n0\r\n\r\n"), run,
                STR("POST path /mcp 1.1 for localhost port 8080, chunked, keep|0\r\n\r\n"));
    assert_cuts(STR(GET HOST), run, STR("..."));
    assert_cuts(STR(GET HOST "\r"), run, STR("..."));
}

static void the_target_is_a_path_a_url_or_an_asterisk(void **state)
{
    (void)state;
    assert_cuts(STR("GET /a/b?c=d?e HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("GET path /a/b?c=d?e 1.1 for x, keep|"));
    assert_cuts(STR("GET /? HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("GET path /? 1.1 for x, keep|"));
    assert_cuts(STR("GET //x/y HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("GET path //x/y 1.1 for x, keep|"));
    assert_cuts(STR("GET /a|b\"{}\\ HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("GET path /a|b\"{}\\ 1.1 for x, keep|"));
    assert_cuts(STR("GET http://[::1]:90/a?b HTTP/1.1\r\nHost: [::1]:90\r\n\r\n"), run,
                STR("GET url /a?b 1.1 for ::1 port 90, keep|"));
    assert_cuts(STR("GET http://X HTTP/1.1\r\nHost: x:80\r\n\r\n"), run,
                STR("GET url / 1.1 for x port 80, keep|"));
    assert_cuts(STR("GET https://x:443?q HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("GET url /?q 1.1 for x, keep|"));
    assert_cuts(STR("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("OPTIONS asterisk * 1.1 for x, keep|"));
}

static void the_spelling_of_method_and_target_is_kept(void **state)
{
    struct str in = STR("M-SEARCH http://Host/A HTTP/1.1\r\nhOst: hosT\r\n\r\n");
    struct request r;

    (void)state;
    request_init(&r);
    assert_false(request_begun(&r));
    assert_int_equal(request_feed(&r, &in), REQUEST_WHOLE);
    assert_true(request_begun(&r));
    assert_str(r.method, STR("M-SEARCH"));
    assert_str(r.target, STR("http://Host/A"));
    assert_str(r.fields.at[0].name, STR("hOst"));
    assert_str(r.host.host, STR("hosT"));
    request_release(&r);
}

static void one_empty_line_may_come_first(void **state)
{
    (void)state;
    assert_cuts(STR("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                STR("GET path / 1.1 for x, keep|"));
    assert_cuts(STR("\r\n"), run, STR("..."));
    assert_cuts(STR("\r\n\r\nGET"), run,
                STR("400 a first line that is not 'METHOD TARGET VERSION'"));
}

static void the_connection_stays_unless_one_side_is_old_or_says_no(void **state)
{
    static const struct {
        const char *head, *want;
    } rows[] = {
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "1.1 for x, close|" },
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: a, CLOSE\r\n\r\n", "1.1 for x, close|" },
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", "1.1 for x, keep|" },
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n", "1.1 for x, keep|" },
        { "GET / HTTP/1.0\r\nHost: x\r\n\r\n", "1.0 for x, close|" },
        { "GET / HTTP/1.0\r\nHost: x\r\nConnection: Keep-Alive\r\n\r\n", "1.0 for x, keep|" },
        { "GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
          "1.0 for x, close|" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf seen;

        buf_init(&seen, 4096);
        cuts_once(str_z(rows[i].head), 1, 1, 1, run, &seen);
        assert_true(str_ends(buf_str(&seen), str_z(rows[i].want)));
        buf_release(&seen);
    }
}

static void only_a_request_with_a_body_waits_for_100(void **state)
{
    (void)state;
    assert_cuts(STR(POST "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n"), run,
                STR("POST path /mcp 1.1 for localhost port 8080, 2 bytes, keep, expects|"));
    assert_cuts(STR(GET HOST "Expect: 100-continue\r\n\r\n"), run,
                STR("GET path /mcp 1.1 for localhost port 8080, keep|"));
    assert_cuts(STR("POST / HTTP/1.0\r\nHost: x\r\nContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\n"),
                run, STR("POST path / 1.0 for x, 2 bytes, close|"));
}

static void a_wish_to_upgrade_is_passed_over(void **state)
{
    (void)state;
    assert_cuts(STR(GET HOST "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                             "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI"),
                run, STR("GET path /mcp 1.1 for localhost port 8080, keep|PRI"));
}

/* Everything that two readers could take for two different things, or that is none. */
static const struct vector {
    enum refusal why;
    struct str head;
} vectors[] = {
    /* lines and bytes */
    { REFUSAL_BARE_LF, STR_INIT("GET / HTTP/1.1\nHost: x\n\n") },
    { REFUSAL_BARE_LF, STR_INIT(GET "Host: x\n\r\n") },
    { REFUSAL_BARE_LF, STR_INIT(GET HOST "X: y\nContent-Length: 5\r\n\r\n") },
    { REFUSAL_BARE_LF, STR_INIT(GET HOST "\n") },
    { REFUSAL_BARE_CR, STR_INIT(GET HOST "X: y\rContent-Length: 5\r\n\r\n") },
    { REFUSAL_BARE_CR, STR_INIT("GET / HTTP/1.1\rHost: x\r\r") },
    { REFUSAL_BARE_CR, STR_INIT(GET HOST "\r\r\n") },
    { REFUSAL_BARE_CR, STR_INIT(GET HOST "Transfer-Encoding: chunked\r\r\n\r\n") },
    { REFUSAL_NUL, STR_INIT("GET /\0 HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_NUL, STR_INIT(GET "Host: localhost\0.evil.example\r\n\r\n") },
    { REFUSAL_NUL, STR_INIT(GET HOST "X\0: y\r\n\r\n") },
    { REFUSAL_CONTROL, STR_INIT(POST "Transfer-Encoding: \x0b"
                                     "chunked\r\n\r\n") },
    { REFUSAL_CONTROL, STR_INIT(GET HOST "X: \x1b[2J\r\n\r\n") },
    { REFUSAL_CONTROL, STR_INIT(GET HOST "X: \x7f\r\n\r\n") },
    { REFUSAL_CONTROL, STR_INIT("\x16\x03\x01\x02\x00\x01") }, /* TLS */

    /* the request line */
    { REFUSAL_REQUEST_LINE, STR_INIT("GET /\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET  / HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET /  HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET / HTTP/1.1 \r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT(" GET / HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET /a b HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET / HTTP/1.1 HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_REQUEST_LINE, STR_INIT("GET\t/\tHTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_METHOD, STR_INIT("G(T / HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_METHOD, STR_INIT("GET\t / HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_METHOD, STR_INIT("GET: / HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_METHOD, STR_INIT("\xef\xbb\xbfGET / HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_CONNECT, STR_INIT("CONNECT localhost:8080 HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET mcp HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET * HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("OPTIONS ** HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET /a#b HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET /\t HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET /caf\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET ftp://localhost:8080/ HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET http://me@localhost:8080/ HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET http:///mcp HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_TARGET, STR_INIT("GET localhost:8080 HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / HTTP/1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / HTTP/1.1.1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / HTTP/01.1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / http/1.1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / HTTP/1,1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / HTTP/1.x\r\n" HOST "\r\n") },
    { REFUSAL_VERSION, STR_INIT("GET / ICAP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_VERSION_OTHER, STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
    { REFUSAL_VERSION_OTHER, STR_INIT("GET / HTTP/1.2\r\n" HOST "\r\n") },
    { REFUSAL_VERSION_OTHER, STR_INIT("GET / HTTP/0.9\r\n" HOST "\r\n") },

    /* header lines */
    { REFUSAL_FOLD, STR_INIT(GET HOST "X: a\r\n b\r\n\r\n") },
    { REFUSAL_FOLD, STR_INIT(POST "Content-Length:\r\n 5\r\n\r\n") },
    { REFUSAL_FOLD, STR_INIT(POST "Transfer-Encoding:\r\n\tchunked\r\n\r\n") },
    { REFUSAL_FOLD, STR_INIT(GET " " HOST "\r\n") },
    { REFUSAL_FOLD, STR_INIT(GET HOST " \r\n\r\n") },
    { REFUSAL_FIELD_BLANK, STR_INIT(POST "Content-Length : 5\r\n\r\n") },
    { REFUSAL_FIELD_BLANK, STR_INIT(POST "Transfer-Encoding\t: chunked\r\n\r\n") },
    { REFUSAL_FIELD_LINE, STR_INIT(GET HOST "garbage\r\n\r\n") },
    { REFUSAL_FIELD_LINE, STR_INIT(GET HOST "GET /admin HTTP/1.1\r\n\r\n") },
    { REFUSAL_FIELD_NAME, STR_INIT(GET HOST ": 5\r\n\r\n") },
    { REFUSAL_FIELD_NAME, STR_INIT(GET HOST "Content Length: 5\r\n\r\n") },
    { REFUSAL_FIELD_NAME, STR_INIT(GET HOST "GET /admin: 5\r\n\r\n") },
    { REFUSAL_FIELD_NAME, STR_INIT(GET HOST "Content-Length\xa0: 5\r\n\r\n") },

    /* whom it is for */
    { REFUSAL_HOST_NONE, STR_INIT(GET "\r\n") },
    { REFUSAL_HOST_NONE, STR_INIT("GET / HTTP/1.0\r\n\r\n") },
    { REFUSAL_HOST_NONE, STR_INIT("GET http://localhost:8080/ HTTP/1.1\r\n\r\n") },
    { REFUSAL_HOST_TWICE, STR_INIT(GET HOST HOST "\r\n") },
    { REFUSAL_HOST_TWICE, STR_INIT(GET HOST "hOST: evil.example\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host:\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: a, b\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: a b\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: evil.example/localhost\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: localhost@evil.example\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: localhost:80:80\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: localhost:x\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: localhost:65536\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: ::1\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: [::1\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: [::1]x\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: [localhost]\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: 127.0.0.256\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: local%68ost\r\n\r\n") },
    { REFUSAL_HOST_INVALID, STR_INIT(GET "Host: http://localhost\r\n\r\n") },
    { REFUSAL_HOST_DIFFERS, STR_INIT("GET http://evil.example/ HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_HOST_DIFFERS,
      STR_INIT("GET http://evil.example:8080/ HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_HOST_DIFFERS, STR_INIT("GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n") },
    { REFUSAL_HOST_DIFFERS, STR_INIT("GET https://x/ HTTP/1.1\r\nHost: x:80\r\n\r\n") },

    /* where its body ends */
    { REFUSAL_LENGTH_AND_CODING,
      STR_INIT(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n") },
    { REFUSAL_LENGTH_AND_CODING,
      STR_INIT(POST "transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n") },
    { REFUSAL_LENGTH_AND_CODING,
      STR_INIT(POST "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n") },
    { REFUSAL_FRAMING_TAB, STR_INIT(POST "Transfer-Encoding:\tchunked\r\n\r\n") },
    { REFUSAL_FRAMING_TAB, STR_INIT(POST "Transfer-Encoding: chunked\t\r\n\r\n") },
    { REFUSAL_FRAMING_TAB, STR_INIT(POST "Content-Length: 5 \t\r\n\r\n") },
    { REFUSAL_FRAMING_TAB, STR_INIT(POST "Content-Length:\t\r\n\r\n") },
    { REFUSAL_LENGTH_TWICE, STR_INIT(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n") },
    { REFUSAL_LENGTH_TWICE, STR_INIT(POST "Content-Length: 5\r\ncontent-length: 5\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5, 5\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5,6\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: +5\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: -5\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 0x5\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5 0\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5.0\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: \"5\"\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length:\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 18446744073709551621\r\n\r\n") },
    { REFUSAL_LENGTH_INVALID, STR_INIT(POST "Content-Length: 9223372036854775808\r\n\r\n") },
    { REFUSAL_CODING_TWICE, STR_INIT(POST "Transfer-Encoding: chunked, chunked\r\n\r\n") },
    { REFUSAL_CODING_TWICE, STR_INIT(POST "Transfer-Encoding: chunked\r\n"
                                          "Transfer-Encoding: chunked\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: chunked\r\n"
                                         "Transfer-Encoding: identity\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: chunked\r\n"
                                         "Transfer-Encoding:\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: identity\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: gzip\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: chunked, gzip\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: xchunked\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: chunked;q=1\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: \"chunked\"\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding: chunked chunked\r\n\r\n") },
    { REFUSAL_CODING_LAST, STR_INIT(POST "Transfer-Encoding:\r\n\r\n") },
    { REFUSAL_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: gzip, chunked\r\n\r\n") },
    { REFUSAL_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: identity\r\n"
                                            "Transfer-Encoding: chunked\r\n\r\n") },
    { REFUSAL_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: , chunked\r\n\r\n") },
    { REFUSAL_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: chunked,\r\n\r\n") },
    { REFUSAL_CODING_OLD,
      STR_INIT("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n") },
};

static void what_could_smuggle_is_refused_with_its_reason_at_every_cut(void **state)
{
    struct buf want;

    (void)state;
    buf_init(&want, 4096);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        buf_clear(&want);
        buf_printf(&want, "%u %s", refusal_status(vectors[i].why),
                   refusal_text(vectors[i].why));
        assert_cuts(vectors[i].head, run, buf_str(&want));
    }
    buf_release(&want);
}

static void what_was_refused_stays_refused(void **state)
{
    struct str more = STR(GET HOST "\r\n");

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct str in = vectors[i].head;
        struct request r;

        request_init(&r);
        assert_int_equal(request_feed(&r, &in), REQUEST_REFUSED);
        in = more;
        assert_int_equal(request_feed(&r, &in), REQUEST_REFUSED);
        assert_int_equal(r.why, vectors[i].why);
        request_release(&r);
    }
}

static enum refusal refusal_of(struct buf *head)
{
    struct str in = buf_str(head);
    struct request r;
    enum refusal why;

    request_init(&r);
    assert_int_not_equal(request_feed(&r, &in), REQUEST_MORE);
    why = r.why;
    request_release(&r);
    buf_clear(head);
    return why;
}

static void add_many(struct buf *to, char c, size_t n)
{
    while (n--)
        buf_add_ch(to, c);
}

static void compose_line(struct buf *to, size_t length)
{
    buf_add(to, STR("GET /"));
    add_many(to, 'x', length - strlen("GET / HTTP/1.1"));
    buf_add(to, STR(" HTTP/1.1\r\n" HOST "\r\n"));
}

static void compose_head(struct buf *to, size_t length)
{
    buf_add(to, STR(GET HOST "X: "));
    add_many(to, 'x', length - to->len - 4);
    buf_add(to, STR("\r\n\r\n"));
}

static void compose_fields(struct buf *to, size_t count)
{
    buf_add(to, STR(GET HOST));
    for (size_t i = 1; i < count; i++)
        buf_add(to, STR("X: y\r\n"));
    buf_add(to, STR("\r\n"));
}

static void limits_hold_below_at_and_above(void **state)
{
    struct buf head;

    (void)state;
    buf_init(&head, 1 << 20);
    for (int beyond = -1; beyond <= 1; beyond++) {
        enum refusal none = REFUSAL_NONE;

        compose_line(&head, (size_t)(REQUEST_LINE_MAX + beyond));
        assert_int_equal(refusal_of(&head), beyond > 0 ? REFUSAL_LINE_LONG : none);
        compose_head(&head, (size_t)(REQUEST_HEAD_MAX + beyond));
        assert_int_equal(refusal_of(&head), beyond > 0 ? REFUSAL_HEAD_LONG : none);
        compose_fields(&head, (size_t)(REQUEST_FIELDS_MAX + beyond));
        assert_int_equal(refusal_of(&head), beyond > 0 ? REFUSAL_FIELD_MANY : none);
    }
    buf_release(&head);
}

static void requests_on_one_connection_follow_each_other(void **state)
{
    struct str in = STR(POST "Content-Length: 2\r\n\r\n"
                             "{}\r\nGET /2 HTTP/1.0\r\nHost: b\r\n\r\nrest");
    struct request r;

    (void)state;
    request_init(&r);
    assert_int_equal(request_feed(&r, &in), REQUEST_WHOLE);
    assert_int_equal(request_feed(&r, &in), REQUEST_WHOLE); /* takes nothing more */
    assert_true(str_starts(in, STR("{}")));
    in = str_skip(in, 2);
    request_clear(&r);
    assert_int_equal(request_feed(&r, &in), REQUEST_WHOLE);
    assert_str(r.path, STR("/2"));
    assert_int_equal(r.body.kind, BODY_NONE);
    assert_int_equal(r.fields.count, 1);
    assert_str(in, STR("rest"));
    request_release(&r);
}

/* All that came of a head, and what is left behind it. */
static void tell(struct request *r, struct str first, struct str second, struct buf *seen)
{
    enum request_next next = request_feed(r, &first);

    if (next == REQUEST_MORE)
        next = request_feed(r, &second);
    buf_clear(seen);
    if (next == REQUEST_MORE)
        buf_printf(seen, "...");
    if (next == REQUEST_REFUSED)
        buf_printf(seen, "%s", refusal_text(r->why));
    if (next != REQUEST_WHOLE)
        return;
    describe(r, seen);
    buf_printf(seen, " %.*s", STR_ARG(buf_str(&r->head.text)));
    for (size_t i = 0; i < r->fields.count; i++)
        buf_printf(seen, "[%.*s=%.*s]", STR_ARG(r->fields.at[i].name),
                   STR_ARG(r->fields.at[i].value));
    buf_add(seen, first);
    buf_add(seen, second);
}

/* What comes of `text` after `before`, cut there, is what would come of it alone. Whether it
 * was taken for the same. */
static bool is_as_alone(struct str before, struct str text, size_t cut)
{
    struct str a = str_n(text.at, cut), b = str_n(text.at + cut, text.len - cut);
    struct buf want, seen;
    struct request r;
    bool again;

    buf_init(&want, 1 << 20);
    buf_init(&seen, 1 << 20);
    request_init(&r);
    tell(&r, text, STR_NONE, &want);
    request_release(&r);
    request_init(&r);
    tell(&r, before, STR_NONE, &seen);
    request_clear(&r);
    assert_false(request_begun(&r));
    tell(&r, a, b, &seen);
    again = r.again;
    assert_str(buf_str(&seen), buf_str(&want));
    request_release(&r);
    buf_release(&want);
    buf_release(&seen);
    return again;
}

#define AGAIN POST "Content-Length: 200 \r\nAccept: */*\r\n\r\n"

static void a_head_that_differs_in_any_byte_is_read_as_if_it_were_the_first(void **state)
{
    char text[] = AGAIN "{}";
    struct str whole = str_n(text, sizeof text - 1);
    size_t digits = (size_t)(strstr(text, "200") - text);

    (void)state;
    for (size_t at = 0; at < whole.len; at++) {
        char was = text[at];

        for (int c = 0; c < 256; c++) {
            bool digit = at >= digits && at < digits + 3 && c >= '0' && c <= '9';
            bool body = at >= whole.len - 2;

            text[at] = (char)c;
            assert_int_equal(is_as_alone(STR(AGAIN), whole, whole.len),
                             (char)c == was || digit || body);
        }
        text[at] = was;
        is_as_alone(STR(AGAIN), str_n(text, at), at);
        assert_int_equal(is_as_alone(STR(AGAIN), whole, at), at >= whole.len - 2);
    }
}

static void heads_follow_each_other_in_any_order(void **state)
{
    static const char *const heads[] = {
        AGAIN,
        POST "Content-Length: 20\r\nAccept: */*\r\n\r\n",
        POST "Content-Length: 2000\r\nAccept: */*\r\n\r\n",
        POST "Content-Length: 9223372036854775807\r\n\r\n",
        POST "Content-Length: 9223372036854775808\r\n\r\n",
        POST "Content-Length: 0\r\nExpect: 100-continue\r\n\r\n",
        POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\n\r\n",
        GET HOST "\r\n",
        GET HOST "Connection: close\r\n\r\n",
        "\r\n" GET HOST "\r\n",
        GET "Host: a@b\r\n\r\n",
        "\n",
        "\r\n",
        "",
    };
    size_t count = sizeof heads / sizeof *heads, again = 0;

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (!strstr(heads[i], "a@b") && heads[i][0] != '\n' && strlen(heads[i]) > 2)
                again += is_as_alone(str_z(heads[i]), str_z(heads[j]), strlen(heads[j]));
    assert_int_equal(again,
                     9); /* itself, but for two that are refused; one without its blank */
}

static void only_so_much_is_kept_for_the_next_one(void **state)
{
    struct buf head;

    (void)state;
    buf_init(&head, 1 << 20);
    compose_head(&head, HEAD_KEEP / 2);
    assert_true(is_as_alone(buf_str(&head), buf_str(&head), head.len));
    buf_clear(&head);
    compose_head(&head, HEAD_KEEP);
    assert_false(is_as_alone(buf_str(&head), buf_str(&head), head.len));
    buf_release(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_gives_the_same_request_and_leaves_its_body),
        cmocka_unit_test(the_target_is_a_path_a_url_or_an_asterisk),
        cmocka_unit_test(the_spelling_of_method_and_target_is_kept),
        cmocka_unit_test(one_empty_line_may_come_first),
        cmocka_unit_test(the_connection_stays_unless_one_side_is_old_or_says_no),
        cmocka_unit_test(only_a_request_with_a_body_waits_for_100),
        cmocka_unit_test(a_wish_to_upgrade_is_passed_over),
        cmocka_unit_test(what_could_smuggle_is_refused_with_its_reason_at_every_cut),
        cmocka_unit_test(what_was_refused_stays_refused),
        cmocka_unit_test(limits_hold_below_at_and_above),
        cmocka_unit_test(requests_on_one_connection_follow_each_other),
        cmocka_unit_test(a_head_that_differs_in_any_byte_is_read_as_if_it_were_the_first),
        cmocka_unit_test(heads_follow_each_other_in_any_order),
        cmocka_unit_test(only_so_much_is_kept_for_the_next_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
