#include "wire/reject-reason.h"

#include "base/err.h"

static const struct reject_row {
    unsigned status;
    const char *text;
} rows[REJECT_COUNT] = {
    [REJECT_BARE_LF] = { 400, "a line that ends in LF alone" },
    [REJECT_BARE_CR] = { 400, "a CR without LF" },
    [REJECT_NUL] = { 400, "a NUL byte" },
    [REJECT_CONTROL_CHAR] = { 400, "a control character" },
    [REJECT_LINE_TOO_LONG] = { 414, "a request line that is too long" },
    [REJECT_HEAD_TOO_LONG] = { 431, "headers that are too long" },
    [REJECT_TOO_MANY_HEADERS] = { 431, "too many headers" },
    [REJECT_REQUEST_LINE] = { 400, "a first line that is not 'METHOD TARGET VERSION'" },
    [REJECT_METHOD] = { 400, "a method that is not a token" },
    [REJECT_CONNECT] = { 501, "CONNECT, which is not supported" },
    [REJECT_TARGET] = { 400, "a target that is neither a path nor a URL" },
    [REJECT_VERSION_SYNTAX] = { 400, "a version that is not 'HTTP/1.1' or 'HTTP/1.0'" },
    [REJECT_VERSION_UNSUPPORTED] = { 505, "an unsupported HTTP version" },
    [REJECT_HEADER_FOLDED] = { 400, "a header line that begins with whitespace" },
    [REJECT_HEADER_NO_COLON] = { 400, "a header line without a colon" },
    [REJECT_HEADER_NAME] = { 400, "a header name that is not a token" },
    [REJECT_HEADER_BLANK] = { 400, "whitespace between a header name and its colon" },
    [REJECT_HOST_MISSING] = { 400, "no Host header, which is required in HTTP/1.0, too" },
    [REJECT_HOST_DUPLICATE] = { 400, "more than one Host header" },
    [REJECT_HOST_INVALID] = { 400, "an invalid Host header" },
    [REJECT_HOST_DIFFERS] = { 400, "a Host header that differs from the host of the target" },
    [REJECT_FRAMING_TAB] = { 400, "a tab beside a Content-Length or Transfer-Encoding" },
    [REJECT_LENGTH_INVALID] = { 400, "a Content-Length that is not a number" },
    [REJECT_LENGTH_DUPLICATE] = { 400, "more than one Content-Length" },
    [REJECT_LENGTH_AND_CODING] = { 400, "both Content-Length and Transfer-Encoding" },
    [REJECT_CODING_DUPLICATE] = { 400, "chunked more than once" },
    [REJECT_CODING_NOT_LAST] = { 400, "a Transfer-Encoding that does not end in chunked" },
    [REJECT_CODING_UNKNOWN] = { 400, "a Transfer-Encoding other than chunked" },
    [REJECT_CODING_HTTP10] = { 400, "a Transfer-Encoding in HTTP/1.0" },
    [REJECT_CHUNK_SIZE] = { 400, "a chunk whose size is not a hexadecimal number" },
    [REJECT_CHUNK_TOO_LARGE] = { 400, "a chunk size that is too large" },
    [REJECT_CHUNK_END] = { 400, "a chunk that does not end after its size" },
    [REJECT_CHUNK_EXTENSION] = { 400, "a chunk extension that is not 'name=value'" },
    [REJECT_CHUNK_EXTENSION_TOO_LONG] = { 400, "chunk extensions that are too long" },
    [REJECT_TRAILER] = { 400, "a trailer that changes the framing" },
};

static const struct reject_row *row(enum reject_reason why)
{
    BUG_IF(why <= REJECT_NONE || why >= REJECT_COUNT);
    return &rows[why];
}

unsigned reject_reason_status(enum reject_reason why)
{
    return row(why)->status;
}

const char *reject_reason_text(enum reject_reason why)
{
    return row(why)->text;
}
