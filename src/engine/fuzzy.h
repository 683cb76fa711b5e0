/* engine/fuzzy.h - the recorded request that is most like a live one.
 *
 * Only requests of one session, method and subject are compared. Params are leaves
 * (engine/leaves.h) without the subject itself; how alike two are is the number of paths
 * where both have the same value, divided by the number of paths that one of them has.
 * Where either value is volatile or redacted the path does not count. Of requests that are
 * otherwise equally alike the one with fewer redacted values is taken, then the one with
 * more volatile values that are equal all the same.
 *
 * Keeps the hash of each leaf, four bytes, so that a hundred thousand candidates can be
 * looked at without reading one. Where there are many they lie on the script's shelf: memory
 * is for a few of each kind. A script_reader: the script feeds it while it is written. */
#ifndef ENGINE_FUZZY_H
#define ENGINE_FUZZY_H

#include "engine/script.h"
#include "engine/spent.h"

struct fuzzy {
    struct script_reader reader;
    const struct script *script; /* borrowed; for its methods and its shelf */
    struct map groups;           /* session, method and subject to struct fuzzy_group */
    struct buf block;            /* of candidates, got back */
    struct err trouble;          /* ERR_OK, or why they could not be */
};

void fuzzy_init(struct fuzzy *f, const struct script *script);
void fuzzy_release(struct fuzzy *f);

/* Where to look, and among what. */
struct fuzzy_query {
    uint32_t session, method, subject_key;
    const struct leaves *live;
    const struct spent *spent;
    bool used;   /* among those used up, else among the others */
    bool masked; /* `live` was taken with a mask: it suits only requests that have it, too */
};

/* How alike: `equal` of `total`, how many could not be compared because they were redacted,
 * and how many of the volatile ones agree too. */
struct likeness {
    uint64_t equal, total, hidden, agree;
};

struct fuzzy_found {
    uint32_t op;    /* the first of the best; 0: none is alike by half */
    uint32_t rival; /* another request that is as good; 0: none */
    struct likeness like;
};

/* Whoever asks looks at `trouble` afterwards. */
struct fuzzy_found fuzzy_find(struct fuzzy *f, const struct fuzzy_query *q);

/* Visits all that are exactly as much alike as `like`, in no order. The visitor may change
 * what is used up. */
typedef void fuzzy_visit_fn(void *arg, uint32_t op);
void fuzzy_each(struct fuzzy *f, const struct fuzzy_query *q, struct likeness like,
                fuzzy_visit_fn *visit, void *arg);

/* The better of two searches for one request, with different parts of it left out. */
struct fuzzy_found fuzzy_better(struct fuzzy_found a, struct fuzzy_found b);

/* Whether two requests of a method and subject would be taken for each other. */
bool fuzzy_are_alike(const struct mcp_method *known, const struct leaves *recorded,
                     const struct leaves *live);

#endif
