/* match/match-query.h - a live request as the matcher looks it up: its keys, and whether a
 * recorded call fits it.
 *
 * Only for match/match, whose state it uses. Results for the current request are cached in
 * `matcher.query_cache`; `matcher.text_cache` maps the text of params to the call that it
 * matched last. */
#ifndef MATCH_MATCH_QUERY_H
#define MATCH_MATCH_QUERY_H

#include "match/match.h"

struct match_query {
    const struct mcp_message *live;
    struct used_set *used_set;
    uint32_t session, method;
    enum match_mode mode;
    struct params_rules rules; /* for the comparison with a call */
    enum match_exhausted exhausted;
};

/* Fills in everything but `method`. */
struct match_query match_query_of(const struct matcher *m, struct used_set *used,
                                  uint32_t session, const struct mcp_message *live);

static inline bool match_query_is_redacted(const struct matcher *m, uint32_t call)
{
    return m->index->calls[call].flags & CALL_REDACTED;
}

static inline bool match_query_has_failed(const struct matcher *m)
{
    return m->error.kind != ERR_OK;
}

/* Returns the params of a call; valid until another one is read. */
struct json_val match_query_recorded_params(struct matcher *m, uint32_t call);

bool match_query_same_subject(struct matcher *m, const struct match_query *query,
                              struct json_val params);

/* Whether a call can answer the live request: by its params, or by its subject if `candidates`
 * does not go by params (`*differs`: params that are not ignored are not equal). Also true if
 * the call cannot be read: then the search ends (match_query_has_failed()). */
bool match_query_fits(struct matcher *m, const struct match_query *query,
                      const struct candidates *candidates, uint32_t call, bool *differs);

/* Returns the hash of all its params. */
uint32_t match_query_params_key(struct matcher *m, const struct match_query *query);

/* Returns the hash by which `candidates` lists calls: of all params, or of those that are not
 * ignored. `mask`: values that are left out, too. */
uint32_t match_query_masked_key(struct matcher *m, const struct match_query *query,
                                const struct candidates *candidates, struct params_mask mask);

/* To be called after the search. If the text of the live params was that of a call, adds it to
 * the text cache. */
void match_query_cache_key(struct matcher *m);

/* Returns the call that may have had these params, as text; 0: not known. Sets `hash` for
 * match_query_text_add(). A zeroed cache is empty. */
uint32_t match_query_text_find(const struct match_text_cache *r, struct str params,
                               uint64_t *hash);

void match_query_text_add(struct match_text_cache *r, uint64_t hash, uint32_t call);

#endif
