/* redact/seen-secrets.h - keeps the secrets that become known while recording.
 *
 * They are session ids and values from headers and URLs; the declared values are in
 * redact/secret-rules. They are found in the same encodings and under as many escapes, and are
 * removed everywhere. A session id is named session-N, with the number that the recording gives
 * it, so texts that contain different ids stay different; other values have the name of what
 * carried them.
 *
 * Values are not kept, only hashes of their encodings (redact/hashed-search), about 1 kB each.
 *
 * Beyond LIMIT_SEEN_SECRETS the least recently used values are evicted, but never those that an
 * open exchange references. An evicted value that occurs again is not redacted. */
#ifndef REDACT_SEEN_SECRETS_H
#define REDACT_SEEN_SECRETS_H

#include "base/buf.h"
#include "base/capped-table.h"
#include "redact/encodings.h"
#include "redact/hashed-search.h"

enum { SEEN_SECRETS_MIN = HASHED_SEARCH_MIN }; /* bytes of a value */

struct seen_secrets {
    struct hashed_search search; /* its ids are encoding and index of the value */
    struct seen_secrets_value {
        struct str name;    /* unless it is a session id */
        uint64_t session;   /* number of the session; 0: it is not a session id */
        uint64_t last_use;  /* `use_count` at that time */
        uint32_t refs;      /* number of open exchanges that carry it */
        uint32_t next_free; /* free entries: index of the next one + 1 */
        bool active;        /* false: a free entry */
    } * values;
    size_t count, cap;
    size_t active;      /* number of active values */
    size_t evict_at;    /* evicts when so many are active */
    uint32_t free_list; /* index + 1; 0: empty */
    uint64_t use_count;
    struct capped_table names;
};

/* The values that one exchange references. Starts as {0}. */
struct seen_secrets_refs {
    uint32_t *values;
    size_t count, cap;
};

void seen_secrets_init(struct seen_secrets *l);
void seen_secrets_release(struct seen_secrets *l);

/* Adds a value and references it; it is not evicted before seen_secrets_unref(). A value
 * shorter than SEEN_SECRETS_MIN is ignored. `name` may have letters, digits and -_. ; any other
 * name is replaced by "value". */
void seen_secrets_add(struct seen_secrets *l, struct seen_secrets_refs *g, struct str name,
                      struct str value);

/* The same for the id of the session with this number. */
void seen_secrets_add_session(struct seen_secrets *l, struct seen_secrets_refs *g,
                              uint64_t number, struct str id);

/* References the value if it was added before. Returns whether it was. */
bool seen_secrets_ref(struct seen_secrets *l, struct seen_secrets_refs *g, struct str value);

/* Drops all references of `g`. The values stay, but may be evicted. */
void seen_secrets_unref(struct seen_secrets *l, struct seen_secrets_refs *g);

/* Called for a value found at text[at..end) in one of its encodings. Returns false to end the
 * search. */
typedef bool seen_secrets_fn(void *to, size_t at, size_t end, enum encoding encoding,
                             uint32_t value);

/* Reports every occurrence of a value. Returns false if `fn` did. */
bool seen_secrets_scan(const struct seen_secrets *l, struct str text, seen_secrets_fn *fn,
                       void *to);

/* Appends the name of a value. */
void seen_secrets_write_name(const struct seen_secrets *l, uint32_t value, struct buf *to);

#endif
