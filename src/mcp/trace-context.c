#include "mcp/trace-context.h"

enum { PARENT_LEN = 55, STATE_MAX = 512, BYTE_LEN = 2, ID_LEN = 16 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses lower-case hexadecimal digits at the front. */
static bool take_hex(struct str *rest, size_t digits, uint64_t *n)
{
    *n = 0;
    if (rest->len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int digit = hex_digit(rest->at[i]);

        if (digit < 0)
            return false;
        *n = *n << 4 | (uint64_t)digit;
    }
    *rest = str_skip(*rest, digits);
    return true;
}

static bool take_dash(struct str *rest)
{
    bool found = str_starts(*rest, STR("-"));

    *rest = str_skip(*rest, found);
    return found;
}

bool mcp_trace_context_parse(struct mcp_trace_context *c, struct str traceparent)
{
    struct str rest = traceparent;
    uint64_t version, flags;

    if (!take_hex(&rest, BYTE_LEN, &version) || !take_dash(&rest) ||
        !take_hex(&rest, ID_LEN, &c->trace_high) || !take_hex(&rest, ID_LEN, &c->trace_low) ||
        !take_dash(&rest) || !take_hex(&rest, ID_LEN, &c->parent) || !take_dash(&rest) ||
        !take_hex(&rest, BYTE_LEN, &flags))
        return false;
    c->flags = (uint8_t)flags;
    if (version == 0xff || (version == 0 && traceparent.len != PARENT_LEN) ||
        (rest.len && rest.at[0] != '-'))
        return false;
    return (c->trace_high || c->trace_low) && c->parent;
}

bool mcp_trace_context_is_state(struct str tracestate)
{
    for (size_t i = 0; i < tracestate.len; i++)
        if (tracestate.at[i] < ' ' || tracestate.at[i] > '~')
            return false;
    return tracestate.len && tracestate.len <= STATE_MAX;
}
