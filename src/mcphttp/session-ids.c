#include "mcphttp/session-ids.h"

#include "trace/limits.h"

void session_ids_init(struct session_ids *s)
{
    *s = (struct session_ids){ .count = 0 };
    recent_keys_init(&s->known, LIMIT_SESSIONS);
}

void session_ids_release(struct session_ids *s)
{
    recent_keys_release(&s->known);
}

void session_ids_generate(char id[SESSION_ID_LEN + 1], void (*fill)(void *to, size_t size))
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[SESSION_ID_BYTES];

    fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        id[2 * i] = digits[bytes[i] >> 4];
        id[2 * i + 1] = digits[bytes[i] & 15];
    }
    id[SESSION_ID_LEN] = '\0';
}

enum session_state session_ids_find(const struct session_ids *s, struct str id,
                                    uint64_t *number)
{
    const struct recent_keys_entry *found;

    *number = 0;
    if (!id.len)
        return SESSION_NONE;
    found = recent_keys_find(&s->known, id);
    if (!found)
        return SESSION_UNKNOWN;
    *number = found->value;
    return (enum session_state)found->extra;
}

uint64_t session_ids_add(struct session_ids *s, struct str id, bool *is_new)
{
    uint64_t number;
    enum session_state state = session_ids_find(s, id, &number);

    *is_new = state != SESSION_LIVE;
    if (*is_new) {
        number = ++s->count;
        recent_keys_add(&s->known, id, number, SESSION_LIVE);
    }
    return number;
}

void session_ids_add_alias(struct session_ids *s, struct str id, uint64_t number)
{
    uint64_t known;

    if (session_ids_find(s, id, &known) != SESSION_LIVE || known != number)
        recent_keys_add(&s->known, id, number, SESSION_LIVE);
}

void session_ids_end(struct session_ids *s, struct str id)
{
    uint64_t number;

    if (session_ids_find(s, id, &number) == SESSION_LIVE)
        recent_keys_add(&s->known, id, number, SESSION_ENDED);
}

const char *session_state_name(enum session_state state)
{
    static const char *const names[] = {
        [SESSION_NONE] = "none",
        [SESSION_LIVE] = "live",
        [SESSION_ENDED] = "ended",
        [SESSION_UNKNOWN] = "unknown",
    };

    return names[state];
}
