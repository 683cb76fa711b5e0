#include "mcp/volatile-values.h"

#include "base/ascii.h"

enum { HEX_LONG = 16, ULID = 26, UUID = 36, PREFIX_MAX = 16 };

static bool is_hex(char c)
{
    return ascii_hex(c) >= 0;
}

static bool is_uuid(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.at[i] != '-' : !is_hex(s.at[i]))
            return false;
    }
    return s.len == UUID;
}

/* Crockford's alphabet, in capitals; the first digit holds three bits. */
static bool is_ulid(struct str s)
{
    if (s.len != ULID || s.at[0] > '7')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_digit(s.at[i]) &&
            (!ascii_is_upper(s.at[i]) || memchr("ILOU", s.at[i], 4)))
            return false;
    return true;
}

static bool is_long_hex(struct str s)
{
    size_t digits = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!is_hex(s.at[i]))
            return false;
        digits += ascii_is_digit(s.at[i]);
    }
    return s.len >= HEX_LONG && digits;
}

/* From 2001 to 2099, in seconds, milliseconds or microseconds. */
static bool is_epoch(struct str s)
{
    if (s.len != 10 && s.len != 13 && s.len != 16)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_digit(s.at[i]))
            return false;
    return s.at[0] >= '1' && s.at[0] <= '4';
}

/* "2025-02-04T10:00" and longer. The date need not exist. */
static bool is_time(struct str s)
{
    static const char shape[] = "dddd-dd-ddTdd:dd";

    if (s.len < sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        bool fits = shape[i] == 'd'   ? ascii_is_digit(s.at[i])
                    : shape[i] == 'T' ? s.at[i] == 'T' || s.at[i] == ' '
                                      : s.at[i] == shape[i];
        if (!fits)
            return false;
    }
    return true;
}

static bool is_random(struct str s)
{
    return is_uuid(s) || is_ulid(s) || is_long_hex(s);
}

/* The text behind a prefix like "sha256:" or "req_". */
static struct str without_prefix(struct str s)
{
    for (size_t i = 0; i < s.len && i < PREFIX_MAX; i++)
        if (s.at[i] == ':' || s.at[i] == '_')
            return str_skip(s, i + 1);
    return STR_NONE;
}

bool mcp_is_volatile_text(struct str text)
{
    return is_random(text) || is_epoch(text) || is_time(text) ||
           is_random(without_prefix(text));
}

bool mcp_is_volatile_number(struct str number)
{
    size_t dot = str_find(number, '.');

    return is_epoch(str_n(number.at, dot));
}

bool mcp_is_volatile_name(struct str name)
{
    static const struct str names[] = {
        STR_INIT("requestId"),  STR_INIT("request_id"),     STR_INIT("correlationId"),
        STR_INIT("traceId"),    STR_INIT("correlation_id"), STR_INIT("trace_id"),
        STR_INIT("spanId"),     STR_INIT("span_id"),        STR_INIT("sessionId"),
        STR_INIT("session_id"), STR_INIT("traceparent"),    STR_INIT("tracestate"),
        STR_INIT("timestamp"),  STR_INIT("nonce"),          STR_INIT("idempotencyKey"),
        STR_INIT("createdAt"),  STR_INIT("created_at"),     STR_INIT("idempotency_key"),
        STR_INIT("updatedAt"),  STR_INIT("updated_at"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}
