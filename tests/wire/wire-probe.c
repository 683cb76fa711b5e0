/* Says what we make of the bytes of a connection, for those who compare it with others.
 *
 * In and out: four bytes of length (little endian), then so many bytes. The answer has a
 * line per whole request, "METHOD TARGET MINOR KEEP NAME=VALUE... BODY", all but the
 * numbers in hex, and a last one that says how it ended: "closed" (the client wished so),
 * "more" (between requests), "head", "body", "extension" or "trailers" (amid one), or
 * "! REASON". */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "wire/request.h"

enum { ANSWER_MAX = 64 << 20 };

static bool read_length(uint32_t *n)
{
    unsigned char b[4];

    if (fread(b, 1, 4, stdin) != 4)
        return false;
    *n = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

static void answer(struct str text)
{
    const unsigned char b[4] = { text.len & 0xFF, text.len >> 8 & 0xFF, text.len >> 16 & 0xFF,
                                 text.len >> 24 & 0xFF };

    fwrite(b, 1, 4, stdout);
    fwrite(text.at, 1, text.len, stdout);
    fflush(stdout);
}

static void add_hex(struct buf *to, struct str s)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < s.len; i++) {
        buf_add_ch(to, digits[(unsigned char)s.at[i] >> 4]);
        buf_add_ch(to, digits[(unsigned char)s.at[i] & 15]);
    }
}

static void dump_head(const struct request *r, struct buf *to)
{
    add_hex(to, r->method);
    buf_add_ch(to, ' ');
    add_hex(to, r->target);
    buf_printf(to, " %d %d ", r->minor, r->keep_alive);
    for (size_t i = 0; i < r->fields.count; i++) {
        add_hex(to, r->fields.at[i].name);
        buf_add_ch(to, '=');
        add_hex(to, r->fields.at[i].value);
        buf_add_ch(to, ' ');
    }
}

/* True if the request is whole; else its line gives way to the last one. */
static bool dump_request(const struct request *r, struct str *in, struct buf *to)
{
    size_t line = to->len;
    enum body_next next;
    struct body b;
    struct str data;

    dump_head(r, to);
    body_init(&b, r->body);
    while ((next = body_next(&b, in, &data)) == BODY_DATA)
        add_hex(to, data);
    if (next != BODY_END)
        to->len = line;
    if (next == BODY_REFUSED)
        buf_printf(to, "! %s", refusal_text(b.chunked.why));
    else
        buf_printf(to, next != BODY_MORE                         ? "\n"
                       : b.chunked.state == CHUNKED_IN_TRAILERS  ? "trailers"
                       : b.chunked.state == CHUNKED_IN_EXTENSION ? "extension"
                                                                 : "body");
    body_release(&b);
    return next == BODY_END;
}

static void dump(struct str in, struct buf *to)
{
    enum request_next next;
    struct request r;
    bool goes_on = true;

    request_init(&r);
    while (goes_on && (next = request_feed(&r, &in)) == REQUEST_WHOLE) {
        goes_on = dump_request(&r, &in, to);
        if (goes_on && !r.keep_alive) {
            buf_printf(to, "closed");
            goes_on = false;
        }
        request_clear(&r);
    }
    if (goes_on && next == REQUEST_REFUSED)
        buf_printf(to, "! %s", refusal_text(r.why));
    else if (goes_on)
        buf_printf(to, request_begun(&r) ? "head" : "more");
    request_release(&r);
}

int main(void)
{
    struct buf out;
    uint32_t len;

    buf_init(&out, ANSWER_MAX);
    while (read_length(&len)) {
        /* Its own allocation each time: a sanitizer then sees a step beyond it. */
        char *text = mem_grow(NULL, len + 1);

        if (fread(text, 1, len, stdin) != len)
            return 1;
        buf_clear(&out);
        dump(str_n(text, len), &out);
        answer(buf_str(&out));
        free(text);
    }
    buf_release(&out);
    return ferror(stdout) != 0;
}
