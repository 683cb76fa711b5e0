/* engine/session-ids.h - the ids of HTTP sessions, told apart by number.
 *
 * An id is as good as a password, so it is not kept: only what it hashes to under a seed
 * of this process. Sessions are numbered from 1 as they appear. Beyond LIMIT_SESSIONS the
 * oldest are forgotten, and unknown when they come again. */
#ifndef ENGINE_SESSION_IDS_H
#define ENGINE_SESSION_IDS_H

#include "trace/recall.h"

enum { SESSION_ID_BYTES = 16, SESSION_ID_LEN = 2 * SESSION_ID_BYTES };

enum session_state {
    SESSION_NONE,    /* no id was given */
    SESSION_LIVE,    /* the server gave it out */
    SESSION_ENDED,   /* it did, and has taken it back */
    SESSION_UNKNOWN, /* it did not, as far as was seen */
};

struct session_ids {
    struct recall known;
    uint64_t count;
};

void session_ids_init(struct session_ids *s);
void session_ids_release(struct session_ids *s);

/* An id that nobody can guess, if that is so of the bytes of `fill`; ends in NUL. */
void session_ids_make(char id[SESSION_ID_LEN + 1], void (*fill)(void *to, size_t size));

/* An empty id is none. `*number` is 0 unless the session is live or has ended. */
enum session_state session_ids_look(const struct session_ids *s, struct str id,
                                    uint64_t *number);

/* The server names a session; the number of it. `*minted`: it is new. */
uint64_t session_ids_named(struct session_ids *s, struct str id, bool *minted);

/* It has this id, too, from now on. */
void session_ids_also(struct session_ids *s, struct str id, uint64_t number);

void session_ids_end(struct session_ids *s, struct str id);

const char *session_state_name(enum session_state state); /* "none", "live", … */

#endif
