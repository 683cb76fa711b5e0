#include "trace/target.h"

#include <strings.h>

#include "trace/secret-flag.h"
#include "trace/secrets.h"

static bool has_mark(struct str text)
{
    return str_has(text, STR("[REDACTED"));
}

bool target_path(struct str path, size_t from, struct target_part *out)
{
    while (from < path.len) {
        struct str part = str_n(path.at + from, str_find(str_skip(path, from), '/'));

        if (secrets_is_made_up(part) && !has_mark(part)) {
            *out = (struct target_part){ .span = { from, from + part.len } };
            return true;
        }
        from += part.len + 1;
    }
    return false;
}

/* sessionId, session_id, sid; X-Amz-Signature, sig; code, as logins have it. */
static bool names_more(struct str name)
{
    static const struct str parts[] = { STR_INIT("session"), STR_INIT("signature") };
    static const struct str whole[] = { STR_INIT("sid"), STR_INIT("sig"), STR_INIT("code"),
                                        STR_INIT("ticket") };

    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (name.len == whole[i].len && strncasecmp(name.at, whole[i].at, name.len) == 0)
            return true;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        for (size_t i = 0; i + parts[k].len <= name.len; i++)
            if (strncasecmp(name.at + i, parts[k].at, parts[k].len) == 0)
                return true;
    return false;
}

/* Where a name or a value of a query ends. */
static size_t query_end(struct str query, size_t from, const char *ends)
{
    while (from < query.len && !strchr(ends, query.at[from]))
        from++;
    return from;
}

bool target_query(struct str query, size_t from, struct target_part *out)
{
    while (from < query.len) {
        size_t sign = query_end(query, from, "=&;"), end = query_end(query, sign, "&;");
        size_t at = sign < end ? sign + 1 : from;
        struct str name = str_n(query.at + from, at > from ? sign - from : 0);
        struct str value = str_n(query.at + at, end - at);
        bool named = name.len && (secret_flag_names(name) || names_more(name));

        if (value.len && !has_mark(value) && (named || secrets_is_made_up(value))) {
            *out = (struct target_part){ { at, end }, name, named };
            return true;
        }
        from = end + 1;
    }
    return false;
}
