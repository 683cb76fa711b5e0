/* mcphttp/session-ids.h - numbers HTTP sessions by their ids, and knows which have ended.
 *
 * A session id is a credential, so only its hash, under a seed of this process, is kept.
 * Sessions are numbered from 1 in order of appearance. Limit: LIMIT_SESSIONS; the oldest are
 * forgotten and become SESSION_UNKNOWN. */
#ifndef MCPHTTP_SESSION_IDS_H
#define MCPHTTP_SESSION_IDS_H

#include "base/recent-keys.h"

enum { SESSION_ID_BYTES = 16, SESSION_ID_LEN = 2 * SESSION_ID_BYTES };

enum session_state {
    SESSION_NONE,    /* no id in the request */
    SESSION_LIVE,    /* the server issued it */
    SESSION_ENDED,   /* the server issued and ended it */
    SESSION_UNKNOWN, /* not issued as far as we know */
};

struct session_ids {
    struct recent_keys known;
    uint64_t count; /* number of the last session */
};

void session_ids_init(struct session_ids *s);
void session_ids_release(struct session_ids *s);

/* Writes a new id, NUL-terminated. `fill` must give cryptographically random bytes. */
void session_ids_generate(char id[SESSION_ID_LEN + 1], void (*fill)(void *to, size_t size));

/* State of a session; an empty id is SESSION_NONE. Sets `*number` for a live or ended session,
 * else to 0. */
enum session_state session_ids_find(const struct session_ids *s, struct str id,
                                    uint64_t *number);

/* Returns the number of a session that the server named. `*is_new`: it was not live before. */
uint64_t session_ids_add(struct session_ids *s, struct str id, bool *is_new);

/* Gives the session another id in addition. */
void session_ids_add_alias(struct session_ids *s, struct str id, uint64_t number);

void session_ids_end(struct session_ids *s, struct str id);

const char *session_state_name(enum session_state state); /* "none", "live", … */

#endif
