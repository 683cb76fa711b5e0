#include "json/portability.h"

#include "json/scan.h"

static bool is_surrogate(struct str at, char first, char last)
{
    char c = at.len >= 4 ? at.at[3] : '\0';

    c = c >= 'a' ? (char)(c - 'a' + 'A') : c;
    return at.len >= 6 && at.at[0] == '\\' && at.at[1] == 'u' &&
           (at.at[2] == 'd' || at.at[2] == 'D') && c >= first && c <= last;
}

/* In a string that was scanned every backslash starts a whole escape. */
static bool has_lone_surrogate(struct str inner)
{
    for (size_t n; (n = str_find(inner, '\\')) < inner.len;) {
        bool high;

        inner = str_skip(inner, n);
        high = is_surrogate(inner, '8', 'B');
        if (!high && is_surrogate(inner, 'C', 'F'))
            return true;
        if (high && !is_surrogate(str_skip(inner, 6), 'C', 'F'))
            return true;
        inner = str_skip(inner, high ? 12 : 2);
    }
    return false;
}

static uint32_t end_of(struct json_val v)
{
    return v.node + json_node_of(v)->size;
}

unsigned json_portability_issues(struct json_val v, unsigned around)
{
    uint32_t end[JSON_MAX_DEPTH];
    unsigned nesting[JSON_MAX_DEPTH];
    size_t depth = 0;
    unsigned found = 0;

    if (!json_exists(v))
        return 0;
    for (uint32_t last = end_of(v); v.node < last; v.node++) {
        enum json_type type = json_type(v);

        while (depth && v.node >= end[depth - 1])
            around = nesting[--depth];
        if (type == JSON_STRING && json_has_escapes(v) && has_lone_surrogate(json_unquoted(v)))
            found |= JSON_LONE_SURROGATE;
        if (type != JSON_ARRAY && type != JSON_OBJECT)
            continue;
        if (around >= JSON_PORTABLE_DEPTH)
            found |= JSON_TOO_DEEP;
        end[depth] = end_of(v);
        nesting[depth++] = around;
        around += type == JSON_ARRAY ? JSON_ARRAY_DEPTH : JSON_OBJECT_DEPTH;
    }
    return found;
}
