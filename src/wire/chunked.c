#include "wire/chunked.h"

#include "base/ascii.h"

/* IN_SIZE -> IN_EXTENSION, AT_SIZE_LF   [parse_size]
 * IN_EXTENSION -> AT_SIZE_LF            [parse_extension]
 * AT_SIZE_LF -> IN_DATA, IN_TRAILERS    [parse_size_end]
 * IN_DATA -> AT_DATA_CR                 [parse_data]
 * AT_DATA_CR -> AT_DATA_LF -> IN_SIZE   [parse_data_end]
 * IN_TRAILERS -> DONE                   [parse_trailers]
 * any of them -> FAILED                 [reject_input] */

/* Hexadecimal digits of a size: no sum can overflow, and leading zeros are limited. */
enum { DIGITS_MAX = 15 };

static const struct head_limits trailer_limits = {
    .first_line = SIZE_MAX,
    .bytes = CHUNKED_TRAILERS_MAX,
    .lines = CHUNKED_TRAILER_COUNT_MAX,
};

void chunked_init(struct chunked *c)
{
    *c = (struct chunked){ .state = CHUNKED_IN_SIZE };
    head_init(&c->trailer_lines, &trailer_limits);
}

void chunked_release(struct chunked *c)
{
    head_release(&c->trailer_lines);
    headers_release(&c->trailers);
}

static void reject_input(struct chunked *c, enum reject_reason why)
{
    c->reason = why;
    c->state = CHUNKED_FAILED;
}

static void parse_size(struct chunked *c, char byte)
{
    int digit = ascii_hex(byte);

    if (digit >= 0 && c->digits == DIGITS_MAX) {
        reject_input(c, REJECT_CHUNK_TOO_LARGE);
    } else if (digit >= 0) {
        c->digits++;
        c->remaining = c->remaining << 4 | (unsigned)digit;
    } else if (c->digits == 0) {
        reject_input(c, REJECT_CHUNK_SIZE);
    } else if (byte == ';') {
        c->state = CHUNKED_IN_EXTENSION;
    } else if (byte == '\r') {
        c->state = CHUNKED_AT_SIZE_LF;
    } else {
        reject_input(c, byte == '\n' ? REJECT_BARE_LF : REJECT_CHUNK_SIZE);
    }
}

/* Returns whether the text after the first semicolon is valid: names, each alone or with a
 * token or quoted string. */
static bool is_extension(struct str s)
{
    for (;;) {
        size_t n = headers_token_length(s);

        if (!n)
            return false;
        s = str_skip(s, n);
        if (str_starts(s, STR("="))) {
            s = str_skip(s, 1);
            n = headers_word_length(s);
            if (!n)
                return false;
            s = str_skip(s, n);
        }
        if (!s.len)
            return true;
        if (s.at[0] != ';')
            return false;
        s = str_skip(s, 1);
    }
}

static void parse_extension(struct chunked *c, char byte)
{
    if (byte == '\r') {
        c->state = CHUNKED_AT_SIZE_LF;
        if (!is_extension(str_n(c->extension, c->extension_len)))
            reject_input(c, REJECT_CHUNK_EXTENSION);
    } else if (!headers_is_value(str_n(&byte, 1))) {
        reject_input(c, byte == '\n'   ? REJECT_BARE_LF
                        : byte == '\0' ? REJECT_NUL
                                       : REJECT_CONTROL_CHAR);
    } else if (c->extension_len == CHUNKED_EXTENSION_MAX ||
               c->extensions_len + c->extension_len == CHUNKED_EXTENSIONS_MAX) {
        reject_input(c, REJECT_CHUNK_EXTENSION_TOO_LONG);
    } else {
        c->extension[c->extension_len++] = byte;
    }
}

static void parse_size_end(struct chunked *c, char byte)
{
    if (byte != '\n') {
        reject_input(c, REJECT_BARE_CR);
        return;
    }
    c->state = c->remaining ? CHUNKED_IN_DATA : CHUNKED_IN_TRAILERS;
    c->digits = 0;
    c->extensions_len += c->extension_len;
    c->extension_len = 0;
}

static void parse_data_end(struct chunked *c, char byte)
{
    if (c->state == CHUNKED_AT_DATA_CR && byte == '\r')
        c->state = CHUNKED_AT_DATA_LF;
    else if (c->state == CHUNKED_AT_DATA_LF && byte == '\n')
        c->state = CHUNKED_IN_SIZE;
    else
        reject_input(c, REJECT_CHUNK_END);
}

static struct str parse_data(struct chunked *c, struct str *in)
{
    struct str data = *in;

    if (data.len > c->remaining)
        data.len = (size_t)c->remaining;
    c->remaining -= data.len;
    *in = str_skip(*in, data.len);
    if (c->remaining == 0)
        c->state = CHUNKED_AT_DATA_CR;
    return data;
}

static void parse_trailers(struct chunked *c, struct str *in)
{
    struct head *h = &c->trailer_lines;
    enum reject_reason why;

    switch (head_feed(h, in)) {
    case HEAD_MORE:
        return;
    case HEAD_REJECTED:
        reject_input(c, h->reason);
        return;
    case HEAD_COMPLETE:
        break;
    }
    why = headers_parse(&c->trailers, str_n(h->text.at, h->text.len - 2));
    if (!why && (headers_next(&c->trailers, STR("content-length"), NULL) ||
                 headers_next(&c->trailers, STR("transfer-encoding"), NULL)))
        why = REJECT_TRAILER;
    if (why)
        reject_input(c, why);
    else
        c->state = CHUNKED_DONE;
}

static void parse_byte(struct chunked *c, char byte)
{
    switch (c->state) {
    case CHUNKED_IN_SIZE:
        parse_size(c, byte);
        break;
    case CHUNKED_IN_EXTENSION:
        parse_extension(c, byte);
        break;
    case CHUNKED_AT_SIZE_LF:
        parse_size_end(c, byte);
        break;
    case CHUNKED_AT_DATA_CR:
    case CHUNKED_AT_DATA_LF:
        parse_data_end(c, byte);
        break;
    case CHUNKED_IN_DATA:
    case CHUNKED_IN_TRAILERS:
    case CHUNKED_DONE:
    case CHUNKED_FAILED:
        BUG("this state does not parse single bytes");
    }
}

enum chunked_next chunked_next(struct chunked *c, struct str *in, struct str *data)
{
    while (in->len && c->state < CHUNKED_DONE) {
        if (c->state == CHUNKED_IN_DATA) {
            *data = parse_data(c, in);
            return CHUNKED_DATA;
        }
        if (c->state == CHUNKED_IN_TRAILERS) {
            parse_trailers(c, in);
            continue;
        }
        parse_byte(c, in->at[0]);
        *in = str_skip(*in, 1);
    }
    return c->state == CHUNKED_DONE     ? CHUNKED_END
           : c->state == CHUNKED_FAILED ? CHUNKED_REJECTED
                                        : CHUNKED_MORE;
}

void chunked_write_size(struct buf *to, size_t size)
{
    BUG_IF(size == 0);
    buf_printf(to, "%zx\r\n", size);
}

void chunked_write(struct buf *to, struct str data)
{
    if (!data.len)
        return;
    chunked_write_size(to, data.len);
    buf_add(to, data);
    buf_add(to, STR(CHUNKED_CHUNK_END));
}
