#include "wire/refusal.h"

#include "base/err.h"

static const struct row {
    unsigned status;
    const char *text;
} rows[REFUSAL_COUNT] = {
    [REFUSAL_BARE_LF] = { 400, "a line that ends in LF alone" },
    [REFUSAL_BARE_CR] = { 400, "a CR that no LF follows" },
    [REFUSAL_NUL] = { 400, "a NUL byte" },
    [REFUSAL_CONTROL] = { 400, "a control character" },
    [REFUSAL_LINE_LONG] = { 414, "a request line that is too long" },
    [REFUSAL_HEAD_LONG] = { 431, "more bytes of header lines than are taken" },
    [REFUSAL_FIELD_MANY] = { 431, "more header lines than are taken" },
    [REFUSAL_REQUEST_LINE] = { 400, "a first line that is not 'METHOD TARGET VERSION'" },
    [REFUSAL_METHOD] = { 400, "a method that is not a word" },
    [REFUSAL_CONNECT] = { 501, "a request for a tunnel" },
    [REFUSAL_TARGET] = { 400, "a target that is neither a path nor a URL" },
    [REFUSAL_VERSION] = { 400, "a version that is not 'HTTP/1.1' or 'HTTP/1.0'" },
    [REFUSAL_VERSION_OTHER] = { 505, "another version of HTTP" },
    [REFUSAL_FOLD] = { 400, "a header line that begins with a blank" },
    [REFUSAL_FIELD_LINE] = { 400, "a header line without a colon" },
    [REFUSAL_FIELD_NAME] = { 400, "a header name that is not a word" },
    [REFUSAL_FIELD_BLANK] = { 400, "a blank between a header name and its colon" },
    [REFUSAL_HOST_NONE] = { 400, "no Host, which is wanted in HTTP/1.0, too" },
    [REFUSAL_HOST_TWICE] = { 400, "more than one Host" },
    [REFUSAL_HOST_INVALID] = { 400, "a Host that is not a host" },
    [REFUSAL_HOST_DIFFERS] = { 400, "a Host that is not the target's" },
    [REFUSAL_FRAMING_TAB] = { 400, "a tab beside a Content-Length or Transfer-Encoding" },
    [REFUSAL_LENGTH_INVALID] = { 400, "a Content-Length that is not a number" },
    [REFUSAL_LENGTH_TWICE] = { 400, "more than one Content-Length" },
    [REFUSAL_LENGTH_AND_CODING] = { 400, "both Content-Length and Transfer-Encoding" },
    [REFUSAL_CODING_TWICE] = { 400, "chunked more than once" },
    [REFUSAL_CODING_LAST] = { 400, "a Transfer-Encoding that does not end in chunked" },
    [REFUSAL_CODING_UNKNOWN] = { 400, "a Transfer-Encoding other than chunked" },
    [REFUSAL_CODING_OLD] = { 400, "a Transfer-Encoding in HTTP/1.0" },
    [REFUSAL_CHUNK_SIZE] = { 400, "a chunk whose size is not a hexadecimal number" },
    [REFUSAL_CHUNK_LARGE] = { 400, "a chunk of more bytes than can be counted" },
    [REFUSAL_CHUNK_END] = { 400, "a chunk that does not end where its size says" },
    [REFUSAL_EXTENSION] = { 400, "a chunk extension that is not 'name=value'" },
    [REFUSAL_EXTENSION_LONG] = { 400, "chunk extensions that are too long" },
    [REFUSAL_TRAILER] = { 400, "a trailer that says where the body ends" },
};

static const struct row *row(enum refusal why)
{
    BUG_IF(why <= REFUSAL_NONE || why >= REFUSAL_COUNT);
    return &rows[why];
}

unsigned refusal_status(enum refusal why)
{
    return row(why)->status;
}

const char *refusal_text(enum refusal why)
{
    return row(why)->text;
}
