/* match/candidates.h - lists recorded calls that can answer the same request, in recorded
 * order.
 *
 * A list is known by its first call and found by session, method and a hash: of the subject, of
 * all params, or of the params without values that the user ignores. Does not know which calls
 * are used (match/used-set.h); equal hashes do not prove equal requests, so callers compare.
 * Borrows the index. */
#ifndef MATCH_CANDIDATES_H
#define MATCH_CANDIDATES_H

#include "index/index.h"
#include "match/used-set.h"

enum candidates_by {
    CANDIDATES_BY_SUBJECT,
    CANDIDATES_BY_PARAMS,
    CANDIDATES_BY_REDUCED_PARAMS, /* without ignored values */
};

struct candidates {
    const struct index *index; /* borrowed; finished */
    enum candidates_by by;
    uint32_t name_bit; /* of the names of its states: 0, USED_SET_EQUAL or USED_SET_REDUCED */
    uint32_t *heads;   /* a hash table of first calls */
    size_t slot_count;
    uint32_t *next; /* the call after one in its list; 0: none */
};

void candidates_init(struct candidates *q, const struct index *idx, enum candidates_by by,
                     uint32_t name_bit);
void candidates_release(struct candidates *q);

/* Whether calls of a method are one sequence, listed by subject in every mode: polls, whatever
 * else the client sends with them, and subscriptions, whose params are what the live client
 * wants to receive. */
bool candidates_is_sequence(const struct candidates *q, uint32_t method);

/* Whether calls of a method are listed by their params, not by their subject. */
bool candidates_uses_params(const struct candidates *q, uint32_t method);

/* Returns the first call of a list; 0: there is none. */
uint32_t candidates_find(const struct candidates *q, uint32_t session, uint32_t method,
                         uint32_t key);
uint32_t candidates_list_of(const struct candidates *q, uint32_t call);

/* Returns the first matchable call of a session, and the last call with all of `flags`; 0:
 * none. */
uint32_t candidates_first_call(const struct candidates *q, uint32_t session);
uint32_t candidates_last_call(const struct candidates *q, uint32_t session, uint8_t flags);

/* Returns how far a client is with a list; valid until the next call. */
struct candidate_state *candidates_state(const struct candidates *q, struct used_set *used,
                                         uint32_t head);

/* Makes a call unused again, also in the state of its list. An index that was not built has no
 * states. */
void candidates_reset_call(const struct candidates *q, struct used_set *used, uint32_t call);

/* Changes the key of calls with redacted params, so that they have lists of their own: what is
 * left of their params may equal another call's, which has to be found first. */
uint32_t candidates_redacted_key(uint32_t params_key);

enum mcp_class candidates_method_class(const struct candidates *q, uint32_t method);

#endif
