/* Prints the requests in the bytes of a connection, for comparison with other parsers.
 *
 * The output has a line for each complete request, "METHOD TARGET MINOR KEEP NAME=VALUE...
 * BODY", all but the numbers in hex, and a last one with the kind of its end: "closed"
 * (requested by the client), "more" (between requests), "head", "body", "extension" or
 * "trailers" (amid one), or
 * "! REASON". */
#include "probe.h"
#include "wire/request-read.h"

static void dump_head(const struct request_head *r, struct buf *to)
{
    probe_add_hex(to, r->method);
    buf_add_ch(to, ' ');
    probe_add_hex(to, r->target);
    buf_printf(to, " %d %d ", r->minor, r->keep_alive);
    for (size_t i = 0; i < r->headers.count; i++) {
        probe_add_hex(to, r->headers.at[i].name);
        buf_add_ch(to, '=');
        probe_add_hex(to, r->headers.at[i].value);
        buf_add_ch(to, ' ');
    }
}

/* True if the request is complete; else its line is replaced by the last one. */
static bool dump_request(const struct request_head *r, struct str *in, struct buf *to)
{
    size_t line = to->len;
    enum body_next next;
    struct body b;
    struct str data;

    dump_head(r, to);
    body_init(&b, r->body);
    while ((next = body_next(&b, in, &data)) == BODY_DATA)
        probe_add_hex(to, data);
    if (next != BODY_END)
        to->len = line;
    if (next == BODY_REJECTED)
        buf_printf(to, "! %s", reject_reason_text(b.chunked.reason));
    else
        buf_printf(to, next != BODY_MORE                         ? "\n"
                       : b.kind != BODY_CHUNKED                  ? "body"
                       : b.chunked.state == CHUNKED_IN_TRAILERS  ? "trailers"
                       : b.chunked.state == CHUNKED_IN_EXTENSION ? "extension"
                                                                 : "body");
    body_release(&b);
    return next == BODY_END;
}

static void dump(struct str in, struct buf *to)
{
    enum request_head_next next;
    struct request_head r;
    bool goes_on = true;

    request_head_init(&r);
    while (goes_on && (next = request_head_feed(&r, &in)) == REQUEST_HEAD_COMPLETE) {
        goes_on = dump_request(&r, &in, to);
        if (goes_on && !r.keep_alive) {
            buf_printf(to, "closed");
            goes_on = false;
        }
        request_head_clear(&r);
    }
    if (goes_on && next == REQUEST_HEAD_REJECTED)
        buf_printf(to, "! %s", reject_reason_text(r.reason));
    else if (goes_on)
        buf_printf(to, request_head_has_begun(&r) ? "head" : "more");
    request_head_release(&r);
}

static void answer(void *with, struct str text, struct buf *out)
{
    (void)with;
    dump(text, out);
}

int main(void)
{
    return probe_serve(answer, NULL);
}
