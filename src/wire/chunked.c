#include "wire/chunked.h"

#include "base/ascii.h"

/* IN_SIZE -> IN_EXTENSION, AT_SIZE_LF   [take_size]
 * IN_EXTENSION -> AT_SIZE_LF            [take_extension]
 * AT_SIZE_LF -> IN_DATA, IN_TRAILERS    [take_size_end]
 * IN_DATA -> AT_DATA_CR                 [take_data]
 * AT_DATA_CR -> AT_DATA_LF -> IN_SIZE   [take_data_end]
 * IN_TRAILERS -> OVER                   [take_trailers]
 * any of them -> BROKEN                 [refuse] */

/* So many that no sum of ours can overflow, and leading zeros have an end. */
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
    fields_release(&c->trailers);
}

static void refuse(struct chunked *c, enum refusal why)
{
    c->why = why;
    c->state = CHUNKED_BROKEN;
}

static void take_size(struct chunked *c, char byte)
{
    int digit = ascii_hex(byte);

    if (digit >= 0 && c->digits == DIGITS_MAX) {
        refuse(c, REFUSAL_CHUNK_LARGE);
    } else if (digit >= 0) {
        c->digits++;
        c->left = c->left << 4 | (unsigned)digit;
    } else if (c->digits == 0) {
        refuse(c, REFUSAL_CHUNK_SIZE);
    } else if (byte == ';') {
        c->state = CHUNKED_IN_EXTENSION;
    } else if (byte == '\r') {
        c->state = CHUNKED_AT_SIZE_LF;
    } else {
        refuse(c, byte == '\n' ? REFUSAL_BARE_LF : REFUSAL_CHUNK_SIZE);
    }
}

/* What follows the first semicolon: names, each with a word or a quoted string or none. */
static bool is_extension(struct str s)
{
    for (;;) {
        size_t n = fields_token_length(s);

        if (!n)
            return false;
        s = str_skip(s, n);
        if (str_starts(s, STR("="))) {
            s = str_skip(s, 1);
            n = fields_word_length(s);
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

static void take_extension(struct chunked *c, char byte)
{
    if (byte == '\r') {
        c->state = CHUNKED_AT_SIZE_LF;
        if (!is_extension(str_n(c->extension, c->extension_len)))
            refuse(c, REFUSAL_EXTENSION);
    } else if (!fields_is_value(str_n(&byte, 1))) {
        refuse(c, byte == '\n'   ? REFUSAL_BARE_LF
                  : byte == '\0' ? REFUSAL_NUL
                                 : REFUSAL_CONTROL);
    } else if (c->extension_len == CHUNKED_EXTENSION_MAX ||
               c->extensions_len + c->extension_len == CHUNKED_EXTENSIONS_MAX) {
        refuse(c, REFUSAL_EXTENSION_LONG);
    } else {
        c->extension[c->extension_len++] = byte;
    }
}

static void take_size_end(struct chunked *c, char byte)
{
    if (byte != '\n') {
        refuse(c, REFUSAL_BARE_CR);
        return;
    }
    c->state = c->left ? CHUNKED_IN_DATA : CHUNKED_IN_TRAILERS;
    c->digits = 0;
    c->extensions_len += c->extension_len;
    c->extension_len = 0;
}

static void take_data_end(struct chunked *c, char byte)
{
    if (c->state == CHUNKED_AT_DATA_CR && byte == '\r')
        c->state = CHUNKED_AT_DATA_LF;
    else if (c->state == CHUNKED_AT_DATA_LF && byte == '\n')
        c->state = CHUNKED_IN_SIZE;
    else
        refuse(c, REFUSAL_CHUNK_END);
}

static struct str take_data(struct chunked *c, struct str *in)
{
    struct str data = *in;

    if (data.len > c->left)
        data.len = (size_t)c->left;
    c->left -= data.len;
    *in = str_skip(*in, data.len);
    if (c->left == 0)
        c->state = CHUNKED_AT_DATA_CR;
    return data;
}

static void take_trailers(struct chunked *c, struct str *in)
{
    struct head *h = &c->trailer_lines;
    enum refusal why;

    switch (head_feed(h, in)) {
    case HEAD_MORE:
        return;
    case HEAD_REFUSED:
        refuse(c, h->why);
        return;
    case HEAD_WHOLE:
        break;
    }
    why = fields_parse(&c->trailers, str_n(h->text.at, h->text.len - 2));
    if (!why && (fields_next(&c->trailers, STR("content-length"), NULL) ||
                 fields_next(&c->trailers, STR("transfer-encoding"), NULL)))
        why = REFUSAL_TRAILER;
    if (why)
        refuse(c, why);
    else
        c->state = CHUNKED_OVER;
}

static void take_byte(struct chunked *c, char byte)
{
    switch (c->state) {
    case CHUNKED_IN_SIZE:
        take_size(c, byte);
        break;
    case CHUNKED_IN_EXTENSION:
        take_extension(c, byte);
        break;
    case CHUNKED_AT_SIZE_LF:
        take_size_end(c, byte);
        break;
    case CHUNKED_AT_DATA_CR:
    case CHUNKED_AT_DATA_LF:
        take_data_end(c, byte);
        break;
    case CHUNKED_IN_DATA:
    case CHUNKED_IN_TRAILERS:
    case CHUNKED_OVER:
    case CHUNKED_BROKEN:
        BUG("not taken byte by byte");
    }
}

enum chunked_next chunked_next(struct chunked *c, struct str *in, struct str *data)
{
    while (in->len && c->state < CHUNKED_OVER) {
        if (c->state == CHUNKED_IN_DATA) {
            *data = take_data(c, in);
            return CHUNKED_DATA;
        }
        if (c->state == CHUNKED_IN_TRAILERS) {
            take_trailers(c, in);
            continue;
        }
        take_byte(c, in->at[0]);
        *in = str_skip(*in, 1);
    }
    return c->state == CHUNKED_OVER     ? CHUNKED_END
           : c->state == CHUNKED_BROKEN ? CHUNKED_REFUSED
                                        : CHUNKED_MORE;
}

void chunked_open(struct buf *to, size_t size)
{
    BUG_IF(size == 0);
    buf_printf(to, "%zx\r\n", size);
}

void chunked_add(struct buf *to, struct str data)
{
    if (!data.len)
        return;
    chunked_open(to, data.len);
    buf_add(to, data);
    buf_add(to, STR(CHUNKED_CLOSE));
}
