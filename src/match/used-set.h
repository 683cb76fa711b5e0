/* match/used-set.h - the recorded calls that one live client has used.
 *
 * Holds a bit for each call, and for each list of candidates (match/candidates.h) its next
 * unused call. Memory is proportional to what was used, not to the recording: hundreds of
 * clients share one index. */
#ifndef MATCH_USED_SET_H
#define MATCH_USED_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set in the name of a list of `matcher.equal_candidates` and `matcher.reduced_candidates`: a
 * call can be first in a list there and in one of `matcher.candidates`. */
#define USED_SET_EQUAL ((uint32_t)1 << 31)
#define USED_SET_REDUCED ((uint32_t)1 << 30)

struct candidate_state {
    uint32_t list; /* first call of the list, maybe with a bit from above; 0: free slot */
    uint32_t next_unused;  /* all before it in the list are used; 0: all are */
    uint32_t last_success; /* latest used call that succeeded; 0: none */
};

struct used_set {
    uint64_t **pages; /* of bits, by number of a call; NULL: none is used */
    size_t page_count;
    struct candidate_state *states; /* a hash table, at most half full */
    size_t state_count, state_cap;
    uint32_t oldest_unused; /* every matchable call before this one was used once */
    uint32_t newest_found;  /* the newest call that was found; see `match.skipped_after` */
};

void used_set_init(struct used_set *s, size_t calls);
void used_set_release(struct used_set *s);
void used_set_clear(struct used_set *s);

bool used_set_has(const struct used_set *s, uint32_t call);
void used_set_mark(struct used_set *s, uint32_t call, bool used);

/* Returns the state of a list, new if there is none; valid until the next call. */
struct candidate_state *used_set_state(struct used_set *s, uint32_t name);

#endif
