#include "mcp/trace-context.h"

#include "base/ascii.h"

enum { PARENT_LEN = 55, BYTE_LEN = 2, ID_LEN = 16, KEY_MAX = 256, VALUE_MAX = 256 };

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

bool mcp_trace_context_next_member(struct str *rest, struct str *member)
{
    *member = STR_NONE;
    while (rest->len && !member->len)
        *member = str_trim(str_cut(rest, ','));
    return member->len;
}

struct str mcp_trace_context_key(struct str member)
{
    return str_n(member.at, str_find(member, '='));
}

static bool is_key(struct str key)
{
    bool ok = key.len && key.len <= KEY_MAX &&
              (ascii_is_lower(key.at[0]) || ascii_is_digit(key.at[0]));

    for (size_t i = 0; ok && i < key.len; i++)
        ok = ascii_is_lower(key.at[i]) || ascii_is_digit(key.at[i]) ||
             (key.at[i] && strchr("_-*/@", key.at[i]));
    return ok;
}

static bool is_value(struct str value)
{
    bool ok = value.len && value.len <= VALUE_MAX;

    for (size_t i = 0; ok && i < value.len; i++)
        ok = value.at[i] >= ' ' && value.at[i] <= '~' && value.at[i] != '=';
    return ok;
}

static bool has_key(struct str list, struct str key)
{
    struct str member;
    bool has = false;

    while (!has && mcp_trace_context_next_member(&list, &member))
        has = str_eq(mcp_trace_context_key(member), key);
    return has;
}

bool mcp_trace_context_is_state(struct str tracestate)
{
    struct str rest = tracestate, member;
    size_t count = 0;

    while (mcp_trace_context_next_member(&rest, &member)) {
        struct str key = mcp_trace_context_key(member);

        if (!is_key(key) || !is_value(str_skip(member, key.len + 1)) || has_key(rest, key))
            return false;
        count++;
    }
    return count && count <= TRACE_STATE_MEMBERS && tracestate.len <= TRACE_STATE_BYTES;
}
