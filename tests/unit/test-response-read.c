#include "wire/response-read.h"

#include "split-input.h"
#include "test.h"

static void describe(const struct response_head *r, struct buf *seen)
{
    static const char *const kinds[] = { "none", "length", "chunked" };

    buf_printf(seen, "1.%d %u '%.*s' %s %llu%s%s%s", r->minor, r->status, STR_ARG(r->phrase),
               kinds[r->body.kind], (unsigned long long)r->body.length,
               r->bodiless ? " bodiless" : "", r->until_close ? " until-close" : "",
               r->keep_alive ? " keep" : "");
    for (size_t i = 0; i < r->headers.count; i++)
        buf_printf(seen, "|%.*s=%.*s", STR_ARG(r->headers.at[i].name),
                   STR_ARG(r->headers.at[i].value));
}

static void run_any(struct split_input *c, struct buf *seen, bool to_head)
{
    struct response_head r;
    struct str in;

    response_head_init(&r);
    while (split_input_next(c, &in)) {
        enum response_head_next next = response_head_feed(&r, &in, to_head);

        if (next == RESPONSE_HEAD_MORE)
            continue;
        if (next == RESPONSE_HEAD_COMPLETE)
            describe(&r, seen);
        else
            buf_printf(seen, "refused: %s", r.reason);
        break;
    }
    response_head_release(&r);
}

static void run(struct split_input *c, struct buf *seen)
{
    run_any(c, seen, false);
}

static void run_head(struct split_input *c, struct buf *seen)
{
    run_any(c, seen, true);
}

struct seen_row {
    struct str text, want;
};

static void heads_are_parsed_at_every_split(void **state)
{
    static const struct seen_row rows[] = {
        { STR_INIT("HTTP/1.1 200 OK\r\nA: b\r\na:  c \r\n\r\n"),
          STR_INIT("1.1 200 'OK' none 0 until-close|A=b|a=c") },
        { STR_INIT("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n"),
          STR_INIT("1.1 200 '' length 5 keep|Content-Length=5") },
        { STR_INIT("HTTP/1.1 404 Not  Found\xff\r\ncontent-length: 0\r\n\r\n"),
          STR_INIT("1.1 404 'Not  Found\xff' length 0 keep|content-length=0") },
        { STR_INIT("HTTP/1.1 200 \r\nTransfer-Encoding: Chunked\r\n\r\n"),
          STR_INIT("1.1 200 '' chunked 0 keep|Transfer-Encoding=Chunked") },
        { STR_INIT("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n"),
          STR_INIT("1.1 200 'OK' length 1|Connection=close|Content-Length=1") },
        { STR_INIT("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n"),
          STR_INIT("1.0 200 'OK' length 1|Content-Length=1") },
        { STR_INIT("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\n"),
          STR_INIT("1.0 200 'OK' length 1 keep|Connection=Keep-Alive|Content-Length=1") },
        { STR_INIT("HTTP/1.1 204 None\r\n\r\n"),
          STR_INIT("1.1 204 'None' none 0 bodiless keep") },
        { STR_INIT("HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n"),
          STR_INIT("1.1 304 'Same' length 9 bodiless keep|Content-Length=9") },
        { STR_INIT("HTTP/1.1 100 Continue\r\n\r\n"),
          STR_INIT("1.1 100 'Continue' none 0 bodiless keep") },
        { STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Length: 7, 7\r\n\r\n"),
          STR_INIT("1.1 200 'OK' length 7 keep|Content-Length=7|Content-Length=7, 7") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_splits(rows[i].text, run, rows[i].want);
}

static void the_response_to_head_has_no_body(void **state)
{
    (void)state;
    assert_splits(STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), run_head,
                  STR("1.1 200 'OK' chunked 0 bodiless keep|Transfer-Encoding=chunked"));
    assert_splits(STR("HTTP/1.1 200 OK\r\n\r\n"), run_head,
                  STR("1.1 200 'OK' none 0 bodiless keep"));
}

/* As HTTP has it, but such a connection is good for nothing more. */
static void chunked_encoding_has_precedence_over_content_length(void **state)
{
    (void)state;
    assert_splits(
        STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"), run,
        STR("1.1 200 'OK' chunked 0|Content-Length=3|Transfer-Encoding=chunked"));
}

static void ambiguous_responses_are_rejected(void **state)
{
    static const struct seen_row rows[] = {
        { STR_INIT("HTTP/2 200 OK\r\n\r\n"),
          STR_INIT("a first line that is not 'HTTP/1.1' and a status") },
        { STR_INIT("HTTP/1.2 200 OK\r\n\r\n"),
          STR_INIT("a first line that is not 'HTTP/1.1' and a status") },
        { STR_INIT("http/1.1 200 OK\r\n\r\n"),
          STR_INIT("a first line that is not 'HTTP/1.1' and a status") },
        { STR_INIT("HTTP/1.1\t200 OK\r\n\r\n"),
          STR_INIT("a first line that is not 'HTTP/1.1' and a status") },
        { STR_INIT("HTTP/1.1 20\r\n\r\n"),
          STR_INIT("a first line that is not 'HTTP/1.1' and a status") },
        { STR_INIT("HTTP/1.1 2x0 OK\r\n\r\n"),
          STR_INIT("a status that is not a number from 100 to 599") },
        { STR_INIT("HTTP/1.1 2000 OK\r\n\r\n"),
          STR_INIT("a status that is not a number from 100 to 599") },
        { STR_INIT("HTTP/1.1 099 OK\r\n\r\n"),
          STR_INIT("a status that is not a number from 100 to 599") },
        { STR_INIT("HTTP/1.1 600 OK\r\n\r\n"),
          STR_INIT("a status that is not a number from 100 to 599") },
        { STR_INIT("\r\n"), STR_INIT("an empty line") },
        { STR_INIT("HTTP/1.1 200 OK\n"), STR_INIT("a line that ends in LF alone") },
        { STR_INIT("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"),
          STR_INIT("a header line that begins with whitespace") },
        { STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
          STR_INIT("two different Content-Lengths") },
        { STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n"),
          STR_INIT("two different Content-Lengths") },
        { STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n"),
          STR_INIT("a Content-Length that is not a number") },
        { STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n"),
          STR_INIT("a Content-Length that is not a number") },
        { STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
          STR_INIT("a Content-Length that is not a number") },
        { STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
          STR_INIT("a transfer coding other than chunked") },
        { STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n"),
          STR_INIT("a transfer coding other than chunked") },
        { STR_INIT("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
          STR_INIT("a Transfer-Encoding in HTTP/1.0") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf want;

        buf_init(&want, 200);
        buf_printf(&want, "refused: %.*s", STR_ARG(rows[i].want));
        assert_splits(rows[i].text, run, buf_str(&want));
        buf_release(&want);
    }
}

static void an_endless_head_is_rejected_at_its_limit(void **state)
{
    struct buf text, seen;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&seen, 1000);
    buf_add(&text, STR("HTTP/1.1 200 OK\r\n"));
    for (int i = 0; i < RESPONSE_HEAD_HEADERS_MAX + 1; i++)
        buf_add(&text, STR("A: b\r\n"));
    split_input_once(buf_str(&text), 1, 1, 1000, run, &seen);
    assert_str(buf_str(&seen), STR("refused: too many headers"));
    buf_release(&text);
    buf_release(&seen);
}

static void another_response_may_follow(void **state)
{
    struct str in = STR("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nrest");
    struct response_head r;

    (void)state;
    response_head_init(&r);
    assert_int_equal(response_head_feed(&r, &in, false), RESPONSE_HEAD_COMPLETE);
    assert_int_equal(response_head_feed(&r, &in, false), RESPONSE_HEAD_COMPLETE); /* the same */
    assert_int_equal(r.status, 100);
    response_head_clear(&r);
    assert_int_equal(response_head_feed(&r, &in, false), RESPONSE_HEAD_COMPLETE);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.headers.count, 1);
    assert_str(in, STR("rest"));
    response_head_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_parsed_at_every_split),
        cmocka_unit_test(the_response_to_head_has_no_body),
        cmocka_unit_test(chunked_encoding_has_precedence_over_content_length),
        cmocka_unit_test(ambiguous_responses_are_rejected),
        cmocka_unit_test(an_endless_head_is_rejected_at_its_limit),
        cmocka_unit_test(another_response_may_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
