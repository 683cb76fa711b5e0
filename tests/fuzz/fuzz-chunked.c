#include "split-input.h"
#include "wire/chunked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_MAX = 16 << 20 };

/* The bytes of the body, and how it ended. */
static void run(struct split_input *c, struct buf *seen)
{
    enum chunked_next next = CHUNKED_MORE;
    struct chunked k;
    struct str in = STR_NONE, data;

    chunked_init(&k);
    while ((next == CHUNKED_MORE || next == CHUNKED_DATA) && split_input_next(c, &in)) {
        while ((next = chunked_next(&k, &in, &data)) == CHUNKED_DATA)
            buf_add(seen, data);
        BUG_IF(next == CHUNKED_MORE && in.len);
    }
    if (next == CHUNKED_REJECTED)
        buf_printf(seen, "! %s", reject_reason_text(k.reason));
    if (next == CHUNKED_END)
        buf_printf(seen, "| %zu left, %zu trailers", in.len + c->left.len, k.trailers.count);
    for (size_t i = 0; i < k.trailers.count; i++)
        BUG_IF(!headers_is_token(k.trailers.at[i].name) ||
               !headers_is_value(k.trailers.at[i].value));
    chunked_release(&k);
}

/* Any bytes, put into chunks of any size, are read again. */
static void check_round_trip(struct str text, size_t step)
{
    struct buf framed, seen, want;
    struct str rest = text;

    buf_init(&framed, SEEN_MAX);
    buf_init(&seen, SEEN_MAX);
    buf_init(&want, SEEN_MAX);
    while (rest.len) {
        size_t n = step < rest.len ? step : rest.len;

        chunked_write(&framed, str_n(rest.at, n));
        rest = str_skip(rest, n);
    }
    buf_add(&framed, STR(CHUNKED_LAST_CHUNK));
    split_input_once(buf_str(&framed), step, 1, 1 + step / 2, run, &seen);
    buf_add(&want, text);
    buf_printf(&want, "| 0 left, 0 trailers");
    BUG_IF(!str_eq(buf_str(&seen), buf_str(&want)));
    buf_release(&framed);
    buf_release(&seen);
    buf_release(&want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    split_input_agree(text, run, &seen);
    check_round_trip(text, size ? data[size / 2] % 61 + 1 : 1);
    buf_release(&seen);
    return 0;
}
