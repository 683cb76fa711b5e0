/* match/fuzzy.h - finds the recorded call that is most similar to a live request.
 *
 * Compares only calls of one session, method and subject. Similarity is the number of paths
 * (mcp/params-hash.h, without the subject) where both have the same value, divided by the
 * number of paths that either has. Volatile and redacted values are not compared. If two are
 * equally similar, the one with fewer redacted values wins, then the one with more equal
 * volatile values.
 *
 * Keeps a hash of four bytes per value, so that 10^5 candidates are compared without reading
 * one; full blocks of them go to the message store. An index_observer: the index fills it while
 * it is built. Borrows the index. */
#ifndef MATCH_FUZZY_H
#define MATCH_FUZZY_H

#include "index/index.h"
#include "match/used-set.h"

struct fuzzy {
    struct index_observer observer;
    const struct index *index; /* borrowed; for its methods and message store */
    struct map groups;         /* session, method and subject to struct fuzzy_group */
    struct buf block;          /* of candidates, read back */
    struct err error;          /* ERR_OK, or why a block could not be read */
};

void fuzzy_init(struct fuzzy *f, const struct index *idx);
void fuzzy_release(struct fuzzy *f);

/* Which calls to compare with what. */
struct fuzzy_query {
    uint32_t session, method, subject_key;
    const struct params_leaves *live;
    const struct used_set *used_set;
    bool only_used; /* among the used ones, else among the unused ones */
    bool masked;    /* `live` was taken with a mask: only calls with the same mask can match */
};

/* `equal` of `total` paths; `redacted` were not compared, `volatile_equal` volatile values
 * agree. */
struct similarity {
    uint64_t equal, total, redacted, volatile_equal;
};

struct fuzzy_found {
    uint32_t call; /* the first of the best; 0: none is similar by half */
    uint32_t tie;  /* another call that is equally similar; 0: none */
    struct similarity similarity;
};

/* The caller checks `error` afterwards. */
struct fuzzy_found fuzzy_find(struct fuzzy *f, const struct fuzzy_query *q);

/* Visits all calls that are exactly as similar as `similarity`, in no order. The visitor may
 * change what is used. */
typedef void fuzzy_visit_fn(void *arg, uint32_t call);
void fuzzy_each(struct fuzzy *f, const struct fuzzy_query *q, struct similarity like,
                fuzzy_visit_fn *visit, void *arg);

/* Returns the better of two results for one request, found with different masks. */
struct fuzzy_found fuzzy_better(struct fuzzy_found a, struct fuzzy_found b);

/* Whether fuzzy mode would match two requests of one method and subject. */
bool fuzzy_are_similar(const struct mcp_method *known, const struct params_leaves *recorded,
                       const struct params_leaves *live);

#endif
