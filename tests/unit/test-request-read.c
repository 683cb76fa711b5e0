#include "split-input.h"
#include "test.h"
#include "wire/request-read.h"

#define HOST "Host: localhost:8080\r\n"
#define GET "GET /mcp HTTP/1.1\r\n"
#define POST "POST /mcp HTTP/1.1\r\n" HOST

static void describe(const struct request_head *r, struct buf *seen)
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

/* The request, or the reason to reject it; "..." if it is not complete; the bytes behind it. */
static void run(struct split_input *c, struct buf *seen)
{
    enum request_head_next next = REQUEST_HEAD_MORE;
    struct str piece = STR_NONE;
    struct request_head r;

    request_head_init(&r);
    while (next == REQUEST_HEAD_MORE && split_input_next(c, &piece))
        next = request_head_feed(&r, &piece);
    if (next == REQUEST_HEAD_MORE) {
        buf_printf(seen, "...");
    } else if (next == REQUEST_HEAD_REJECTED) {
        buf_printf(seen, "%u %s", reject_reason_status(r.reason), reject_reason_text(r.reason));
    } else {
        describe(&r, seen);
        buf_printf(seen, "|");
        buf_add(seen, piece);
        buf_add(seen, c->left);
    }
    request_head_release(&r);
}

static void a_request_split_at_any_byte_is_the_same(void **state)
{
    (void)state;
    assert_splits(STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), run,
                  STR("GET path / 1.1 for a, keep|"));
    assert_splits(STR(POST "Content-Length: 2\r\n\r\n{}GET"), run,
                  STR("POST path /mcp 1.1 for localhost port 8080, 2 bytes, keep|{}GET"));
    assert_splits(STR(POST "transfer-encoding: Chunked\r\n\r\n0\r\n\r\n"), run,
                  STR("POST path /mcp 1.1 for localhost port 8080, chunked, keep|0\r\n\r\n"));
    assert_splits(STR(GET HOST), run, STR("..."));
    assert_splits(STR(GET HOST "\r"), run, STR("..."));
}

static void the_target_is_a_path_a_url_or_an_asterisk(void **state)
{
    (void)state;
    assert_splits(STR("GET /a/b?c=d?e HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("GET path /a/b?c=d?e 1.1 for x, keep|"));
    assert_splits(STR("GET /? HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("GET path /? 1.1 for x, keep|"));
    assert_splits(STR("GET //x/y HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("GET path //x/y 1.1 for x, keep|"));
    assert_splits(STR("GET /a|b\"{}\\ HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("GET path /a|b\"{}\\ 1.1 for x, keep|"));
    assert_splits(STR("GET http://[::1]:90/a?b HTTP/1.1\r\nHost: [::1]:90\r\n\r\n"), run,
                  STR("GET url /a?b 1.1 for ::1 port 90, keep|"));
    assert_splits(STR("GET http://X HTTP/1.1\r\nHost: x:80\r\n\r\n"), run,
                  STR("GET url / 1.1 for x port 80, keep|"));
    assert_splits(STR("GET https://x:443?q HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("GET url /?q 1.1 for x, keep|"));
    assert_splits(STR("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("OPTIONS asterisk * 1.1 for x, keep|"));
}

static void the_spelling_of_method_and_target_is_kept(void **state)
{
    struct str in = STR("M-SEARCH http://Host/A HTTP/1.1\r\nhOst: hosT\r\n\r\n");
    struct request_head r;

    (void)state;
    request_head_init(&r);
    assert_false(request_head_has_begun(&r));
    assert_int_equal(request_head_feed(&r, &in), REQUEST_HEAD_COMPLETE);
    assert_true(request_head_has_begun(&r));
    assert_str(r.method, STR("M-SEARCH"));
    assert_str(r.target, STR("http://Host/A"));
    assert_str(r.headers.at[0].name, STR("hOst"));
    assert_str(r.host.host, STR("hosT"));
    request_head_release(&r);
}

static void one_empty_line_may_come_first(void **state)
{
    (void)state;
    assert_splits(STR("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"), run,
                  STR("GET path / 1.1 for x, keep|"));
    assert_splits(STR("\r\n"), run, STR("..."));
    assert_splits(STR("\r\n\r\nGET"), run,
                  STR("400 a first line that is not 'METHOD TARGET VERSION'"));
}

static void the_connection_is_kept_unless_http_1_0_or_close(void **state)
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
        split_input_once(str_z(rows[i].head), 1, 1, 1, run, &seen);
        assert_true(str_ends(buf_str(&seen), str_z(rows[i].want)));
        buf_release(&seen);
    }
}

static void only_a_request_with_a_body_waits_for_100(void **state)
{
    (void)state;
    assert_splits(STR(POST "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n"), run,
                  STR("POST path /mcp 1.1 for localhost port 8080, 2 bytes, keep, expects|"));
    assert_splits(STR(GET HOST "Expect: 100-continue\r\n\r\n"), run,
                  STR("GET path /mcp 1.1 for localhost port 8080, keep|"));
    assert_splits(STR("POST / HTTP/1.0\r\nHost: x\r\nContent-Length: 2\r\n"
                      "Expect: 100-continue\r\n\r\n"),
                  run, STR("POST path / 1.0 for x, 2 bytes, close|"));
}

static void upgrade_is_ignored(void **state)
{
    (void)state;
    assert_splits(STR(GET HOST "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                               "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI"),
                  run, STR("GET path /mcp 1.1 for localhost port 8080, keep|PRI"));
}

/* Everything that two readers could take for two different things, or that is none. */
static const struct vector {
    enum reject_reason why;
    struct str head;
} vectors[] = {
    /* lines and bytes */
    { REJECT_BARE_LF, STR_INIT("GET / HTTP/1.1\nHost: x\n\n") },
    { REJECT_BARE_LF, STR_INIT(GET "Host: x\n\r\n") },
    { REJECT_BARE_LF, STR_INIT(GET HOST "X: y\nContent-Length: 5\r\n\r\n") },
    { REJECT_BARE_LF, STR_INIT(GET HOST "\n") },
    { REJECT_BARE_CR, STR_INIT(GET HOST "X: y\rContent-Length: 5\r\n\r\n") },
    { REJECT_BARE_CR, STR_INIT("GET / HTTP/1.1\rHost: x\r\r") },
    { REJECT_BARE_CR, STR_INIT(GET HOST "\r\r\n") },
    { REJECT_BARE_CR, STR_INIT(GET HOST "Transfer-Encoding: chunked\r\r\n\r\n") },
    { REJECT_NUL, STR_INIT("GET /\0 HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_NUL, STR_INIT(GET "Host: localhost\0.evil.example\r\n\r\n") },
    { REJECT_NUL, STR_INIT(GET HOST "X\0: y\r\n\r\n") },
    { REJECT_CONTROL_CHAR, STR_INIT(POST "Transfer-Encoding: \x0b"
                                         "chunked\r\n\r\n") },
    { REJECT_CONTROL_CHAR, STR_INIT(GET HOST "X: \x1b[2J\r\n\r\n") },
    { REJECT_CONTROL_CHAR, STR_INIT(GET HOST "X: \x7f\r\n\r\n") },
    { REJECT_CONTROL_CHAR, STR_INIT("\x16\x03\x01\x02\x00\x01") }, /* TLS */

    /* the request line */
    { REJECT_REQUEST_LINE, STR_INIT("GET /\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET  / HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET /  HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET / HTTP/1.1 \r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT(" GET / HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET /a b HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET / HTTP/1.1 HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_REQUEST_LINE, STR_INIT("GET\t/\tHTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_METHOD, STR_INIT("G(T / HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_METHOD, STR_INIT("GET\t / HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_METHOD, STR_INIT("GET: / HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_METHOD, STR_INIT("\xef\xbb\xbfGET / HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_CONNECT, STR_INIT("CONNECT localhost:8080 HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET mcp HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET * HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("OPTIONS ** HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET /a#b HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET /\t HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET /caf\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET ftp://localhost:8080/ HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET http://me@localhost:8080/ HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET http:///mcp HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_TARGET, STR_INIT("GET localhost:8080 HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / HTTP/1\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / HTTP/1.1.1\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / HTTP/01.1\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / http/1.1\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / HTTP/1,1\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / HTTP/1.x\r\n" HOST "\r\n") },
    { REJECT_VERSION_SYNTAX, STR_INIT("GET / ICAP/1.1\r\n" HOST "\r\n") },
    { REJECT_VERSION_UNSUPPORTED, STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
    { REJECT_VERSION_UNSUPPORTED, STR_INIT("GET / HTTP/1.2\r\n" HOST "\r\n") },
    { REJECT_VERSION_UNSUPPORTED, STR_INIT("GET / HTTP/0.9\r\n" HOST "\r\n") },

    /* header lines */
    { REJECT_HEADER_FOLDED, STR_INIT(GET HOST "X: a\r\n b\r\n\r\n") },
    { REJECT_HEADER_FOLDED, STR_INIT(POST "Content-Length:\r\n 5\r\n\r\n") },
    { REJECT_HEADER_FOLDED, STR_INIT(POST "Transfer-Encoding:\r\n\tchunked\r\n\r\n") },
    { REJECT_HEADER_FOLDED, STR_INIT(GET " " HOST "\r\n") },
    { REJECT_HEADER_FOLDED, STR_INIT(GET HOST " \r\n\r\n") },
    { REJECT_HEADER_BLANK, STR_INIT(POST "Content-Length : 5\r\n\r\n") },
    { REJECT_HEADER_BLANK, STR_INIT(POST "Transfer-Encoding\t: chunked\r\n\r\n") },
    { REJECT_HEADER_NO_COLON, STR_INIT(GET HOST "garbage\r\n\r\n") },
    { REJECT_HEADER_NO_COLON, STR_INIT(GET HOST "GET /admin HTTP/1.1\r\n\r\n") },
    { REJECT_HEADER_NAME, STR_INIT(GET HOST ": 5\r\n\r\n") },
    { REJECT_HEADER_NAME, STR_INIT(GET HOST "Content Length: 5\r\n\r\n") },
    { REJECT_HEADER_NAME, STR_INIT(GET HOST "GET /admin: 5\r\n\r\n") },
    { REJECT_HEADER_NAME, STR_INIT(GET HOST "Content-Length\xa0: 5\r\n\r\n") },

    /* whom it is for */
    { REJECT_HOST_MISSING, STR_INIT(GET "\r\n") },
    { REJECT_HOST_MISSING, STR_INIT("GET / HTTP/1.0\r\n\r\n") },
    { REJECT_HOST_MISSING, STR_INIT("GET http://localhost:8080/ HTTP/1.1\r\n\r\n") },
    { REJECT_HOST_DUPLICATE, STR_INIT(GET HOST HOST "\r\n") },
    { REJECT_HOST_DUPLICATE, STR_INIT(GET HOST "hOST: evil.example\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host:\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: a, b\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: a b\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: evil.example/localhost\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: localhost@evil.example\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: localhost:80:80\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: localhost:x\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: localhost:65536\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: ::1\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: [::1\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: [::1]x\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: [localhost]\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: 127.0.0.256\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: local%68ost\r\n\r\n") },
    { REJECT_HOST_INVALID, STR_INIT(GET "Host: http://localhost\r\n\r\n") },
    { REJECT_HOST_DIFFERS, STR_INIT("GET http://evil.example/ HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_HOST_DIFFERS, STR_INIT("GET http://evil.example:8080/ HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_HOST_DIFFERS, STR_INIT("GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n") },
    { REJECT_HOST_DIFFERS, STR_INIT("GET https://x/ HTTP/1.1\r\nHost: x:80\r\n\r\n") },

    /* where its body ends */
    { REJECT_LENGTH_AND_CODING,
      STR_INIT(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n") },
    { REJECT_LENGTH_AND_CODING,
      STR_INIT(POST "transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n") },
    { REJECT_LENGTH_AND_CODING,
      STR_INIT(POST "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n") },
    { REJECT_FRAMING_TAB, STR_INIT(POST "Transfer-Encoding:\tchunked\r\n\r\n") },
    { REJECT_FRAMING_TAB, STR_INIT(POST "Transfer-Encoding: chunked\t\r\n\r\n") },
    { REJECT_FRAMING_TAB, STR_INIT(POST "Content-Length: 5 \t\r\n\r\n") },
    { REJECT_FRAMING_TAB, STR_INIT(POST "Content-Length:\t\r\n\r\n") },
    { REJECT_LENGTH_DUPLICATE,
      STR_INIT(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n") },
    { REJECT_LENGTH_DUPLICATE,
      STR_INIT(POST "Content-Length: 5\r\ncontent-length: 5\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5, 5\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5,6\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: +5\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: -5\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 0x5\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5 0\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 5.0\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: \"5\"\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length:\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 18446744073709551621\r\n\r\n") },
    { REJECT_LENGTH_INVALID, STR_INIT(POST "Content-Length: 9223372036854775808\r\n\r\n") },
    { REJECT_CODING_DUPLICATE, STR_INIT(POST "Transfer-Encoding: chunked, chunked\r\n\r\n") },
    { REJECT_CODING_DUPLICATE, STR_INIT(POST "Transfer-Encoding: chunked\r\n"
                                             "Transfer-Encoding: chunked\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: chunked\r\n"
                                            "Transfer-Encoding: identity\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: chunked\r\n"
                                            "Transfer-Encoding:\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: identity\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: gzip\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: chunked, gzip\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: xchunked\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: chunked;q=1\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: \"chunked\"\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding: chunked chunked\r\n\r\n") },
    { REJECT_CODING_NOT_LAST, STR_INIT(POST "Transfer-Encoding:\r\n\r\n") },
    { REJECT_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: gzip, chunked\r\n\r\n") },
    { REJECT_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: identity\r\n"
                                           "Transfer-Encoding: chunked\r\n\r\n") },
    { REJECT_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: , chunked\r\n\r\n") },
    { REJECT_CODING_UNKNOWN, STR_INIT(POST "Transfer-Encoding: chunked,\r\n\r\n") },
    { REJECT_CODING_HTTP10,
      STR_INIT("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n") },
};

static void ambiguous_requests_are_rejected_at_every_split(void **state)
{
    struct buf want;

    (void)state;
    buf_init(&want, 4096);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        buf_clear(&want);
        buf_printf(&want, "%u %s", reject_reason_status(vectors[i].why),
                   reject_reason_text(vectors[i].why));
        assert_splits(vectors[i].head, run, buf_str(&want));
    }
    buf_release(&want);
}

static void a_rejection_is_final(void **state)
{
    struct str more = STR(GET HOST "\r\n");

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct str in = vectors[i].head;
        struct request_head r;

        request_head_init(&r);
        assert_int_equal(request_head_feed(&r, &in), REQUEST_HEAD_REJECTED);
        in = more;
        assert_int_equal(request_head_feed(&r, &in), REQUEST_HEAD_REJECTED);
        assert_int_equal(r.reason, vectors[i].why);
        request_head_release(&r);
    }
}

static enum reject_reason reject_reason_of(struct buf *head)
{
    struct str in = buf_str(head);
    struct request_head r;
    enum reject_reason why;

    request_head_init(&r);
    assert_int_not_equal(request_head_feed(&r, &in), REQUEST_HEAD_MORE);
    why = r.reason;
    request_head_release(&r);
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

static void limits_are_exact(void **state)
{
    struct buf head;

    (void)state;
    buf_init(&head, 1 << 20);
    for (int beyond = -1; beyond <= 1; beyond++) {
        enum reject_reason none = REJECT_NONE;

        compose_line(&head, (size_t)(REQUEST_HEAD_LINE_MAX + beyond));
        assert_int_equal(reject_reason_of(&head), beyond > 0 ? REJECT_LINE_TOO_LONG : none);
        compose_head(&head, (size_t)(REQUEST_HEAD_BYTES_MAX + beyond));
        assert_int_equal(reject_reason_of(&head), beyond > 0 ? REJECT_HEAD_TOO_LONG : none);
        compose_fields(&head, (size_t)(REQUEST_HEAD_HEADERS_MAX + beyond));
        assert_int_equal(reject_reason_of(&head), beyond > 0 ? REJECT_TOO_MANY_HEADERS : none);
    }
    buf_release(&head);
}

static void requests_on_one_connection_follow_each_other(void **state)
{
    struct str in = STR(POST "Content-Length: 2\r\n\r\n"
                             "{}\r\nGET /2 HTTP/1.0\r\nHost: b\r\n\r\nrest");
    struct request_head r;

    (void)state;
    request_head_init(&r);
    assert_int_equal(request_head_feed(&r, &in), REQUEST_HEAD_COMPLETE);
    assert_int_equal(request_head_feed(&r, &in),
                     REQUEST_HEAD_COMPLETE); /* takes nothing more */
    assert_true(str_starts(in, STR("{}")));
    in = str_skip(in, 2);
    request_head_clear(&r);
    assert_int_equal(request_head_feed(&r, &in), REQUEST_HEAD_COMPLETE);
    assert_str(r.path, STR("/2"));
    assert_int_equal(r.body.kind, BODY_NONE);
    assert_int_equal(r.headers.count, 1);
    assert_str(in, STR("rest"));
    request_head_release(&r);
}

/* All facts of a head, and the bytes behind it. */
static void write_head(struct request_head *r, struct str first, struct str second,
                       struct buf *seen)
{
    enum request_head_next next = request_head_feed(r, &first);

    if (next == REQUEST_HEAD_MORE)
        next = request_head_feed(r, &second);
    buf_clear(seen);
    if (next == REQUEST_HEAD_MORE)
        buf_printf(seen, "...");
    if (next == REQUEST_HEAD_REJECTED)
        buf_printf(seen, "%s", reject_reason_text(r->reason));
    if (next != REQUEST_HEAD_COMPLETE)
        return;
    describe(r, seen);
    buf_printf(seen, " %.*s", STR_ARG(buf_str(&r->head.text)));
    for (size_t i = 0; i < r->headers.count; i++)
        buf_printf(seen, "[%.*s=%.*s]", STR_ARG(r->headers.at[i].name),
                   STR_ARG(r->headers.at[i].value));
    buf_add(seen, first);
    buf_add(seen, second);
}

/* The result for `text` after `before`, cut there, must be the result for it alone. Returns
 * whether the cache was used. */
static bool is_as_alone(struct str before, struct str text, size_t cut)
{
    struct str a = str_n(text.at, cut), b = str_n(text.at + cut, text.len - cut);
    struct buf want, seen;
    struct request_head r;
    bool again;

    buf_init(&want, 1 << 20);
    buf_init(&seen, 1 << 20);
    request_head_init(&r);
    write_head(&r, text, STR_NONE, &want);
    request_head_release(&r);
    request_head_init(&r);
    write_head(&r, before, STR_NONE, &seen);
    request_head_clear(&r);
    assert_false(request_head_has_begun(&r));
    write_head(&r, a, b, &seen);
    again = r.same_as_previous;
    assert_str(buf_str(&seen), buf_str(&want));
    request_head_release(&r);
    buf_release(&want);
    buf_release(&seen);
    return again;
}

#define AGAIN POST "Content-Length: 200 \r\nAccept: */*\r\n\r\n"

static void a_changed_head_is_parsed_like_a_first_one(void **state)
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

static void different_heads_may_follow_each_other(void **state)
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

static void the_cache_of_the_previous_head_is_limited(void **state)
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
        cmocka_unit_test(a_request_split_at_any_byte_is_the_same),
        cmocka_unit_test(the_target_is_a_path_a_url_or_an_asterisk),
        cmocka_unit_test(the_spelling_of_method_and_target_is_kept),
        cmocka_unit_test(one_empty_line_may_come_first),
        cmocka_unit_test(the_connection_is_kept_unless_http_1_0_or_close),
        cmocka_unit_test(only_a_request_with_a_body_waits_for_100),
        cmocka_unit_test(upgrade_is_ignored),
        cmocka_unit_test(ambiguous_requests_are_rejected_at_every_split),
        cmocka_unit_test(a_rejection_is_final),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(requests_on_one_connection_follow_each_other),
        cmocka_unit_test(a_changed_head_is_parsed_like_a_first_one),
        cmocka_unit_test(different_heads_may_follow_each_other),
        cmocka_unit_test(the_cache_of_the_previous_head_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
