/* match/match.h - finds the recorded call that answers a live request.
 *
 * Calls that a mode treats as the same are in one list, in recorded order (match/candidates.h).
 * A live request finds its list by hash, so the size of the recording does not matter; the call
 * found is then read and compared. If the user ignores values (mcp/params-ignore.h), a call
 * with equal params comes first, then one whose other params are equal, also found by hash.
 *
 * One matcher serves any number of live clients: each has its own used set (match/used-set.h).
 * A client is assigned one recorded session and falls back to the other sessions: first to
 * those of its own protocol. Borrows the index and fuzzy; owns its tables. */
#ifndef MATCH_MATCH_H
#define MATCH_MATCH_H

#include "match/candidates.h"
#include "match/fuzzy.h"
#include "mcp/message.h"

/* Every mode first looks for a call with equal method and params; sequential and fuzzy look for
 * another one only if there is none. */
enum match_mode {
    MATCH_SEQUENTIAL, /* else the oldest unused call of the same method and subject */
    MATCH_BY_REQUEST, /* no other call */
    MATCH_FUZZY,      /* else the most similar call of the same method and subject */
    MATCH_STRICT,     /* like by-request, and _meta has to be equal, too */
};

/* The mode for calls of one tool. */
struct match_tool_mode {
    struct str tool;
    enum match_mode mode;
};

/* The effect of a request for which all matching calls are used. Lists and reads always repeat
 * their last success. */
enum match_exhausted {
    EXHAUSTED_ERROR, /* calls are unmatched */
    EXHAUSTED_LAST,  /* repeat the last success */
    EXHAUSTED_CYCLE, /* start over with the first; never for polls of a task */
};

struct match_options {
    enum match_mode mode;
    const struct match_tool_mode *tools; /* other modes; borrowed */
    size_t tool_count;
    enum match_exhausted exhausted;
    enum match_exhausted exhausted_stateless; /* the same for stateless requests */
    bool total_order;                         /* sequential: no call may be skipped */
    bool any_method; /* sequential like mcp-recorder: the next call, whatever its method */
    struct params_rules rules; /* from matcher_rules(), and ignored values */
};

enum match_outcome {
    MATCH_FOUND,
    MATCH_REPEAT,         /* all are used; `call` is repeated */
    MATCH_EXHAUSTED,      /* recorded, but used; `last_used` is the latest */
    MATCH_NOT_RECORDED,   /* nothing like it was recorded */
    MATCH_OTHER_PROTOCOL, /* `call` is of the other protocol and cannot be converted: see
                             replay/session.c */
    MATCH_OUT_OF_ORDER,   /* total order: `call` has to come first */
    MATCH_READ_ERROR,     /* the recording could not be read; see `matcher.error` */
};

struct match {
    enum match_outcome outcome;
    uint32_t call;          /* with FOUND, REPEAT, OUT_OF_ORDER and OTHER_PROTOCOL */
    uint32_t skipped_first; /* the oldest call that was skipped; 0: none */
    uint32_t skipped_after; /* with `skipped_first`: calls up to this one were counted before */
    uint32_t tie;           /* another call that is equally similar; 0: none */
    uint32_t ambiguous_with; /* another call that differs only in a redacted value; 0: none */
    bool replay_fully;       /* REPEAT: play all steps, not only the response */
    bool from_other_session;
    bool params_differ;  /* from those of the live request */
    bool values_ignored; /* ignored values differ from those of the live request */

    /* EXHAUSTED: the latest used call, and whether the other policies would have a response.
     * OUT_OF_ORDER: whether any order would. */
    uint32_t last_used;
    bool last_helps, cycle_helps, any_order_helps;
};

enum { MATCH_RULES_NOTED = 4 };

/* Facts about the current live request that were computed once. */
struct match_query_cache {
    bool has_key;
    uint32_t params_key;    /* hash of all params; if `has_key` */
    uint64_t text_hash;     /* hash of their text; if `has_key` */
    uint32_t compared_call; /* the call that was compared last; 0: none */
    uint32_t parsed_call;   /* the call that `matcher.recorded` has as JSON; 0: none */
    bool same_subject;      /* of `compared_call` */
    bool equal_params;      /* of `compared_call` */
    bool equal_reduced;     /* its params are equal without the ignored values */
    uint8_t rule_count;     /* if `equal_reduced`: rules that ignored its differences */
    uint16_t
        rules[MATCH_RULES_NOTED]; /* the first of them, each once; more of them count as one */
    uint32_t same_text_call;      /* a call whose text is the same except for its id; 0: none */
};

/* Lists that can have candidates for a live request. There are several only if params of calls
 * were redacted; the list without redacted params comes first. */
struct candidate_lists {
    const struct candidates *candidates; /* NULL: not valid for the current request */
    uint32_t session;
    bool redacted_subject;
    uint32_t *heads;
    size_t count, cap;
};

/* Cache: hash of the text of params to the call that it matched last.
 *
 * Live clients often send the recorded text again, so its params need not be parsed. A slot is
 * overwritten by the next text with its index. A hit is a hint only: callers must compare. */
enum { TEXT_CACHE_SLOTS = 256 };

struct match_text_cache {
    struct match_text_slot {
        uint64_t hash;
        uint32_t call; /* 0: none */
    } slots[TEXT_CACHE_SLOTS];
};

struct matcher {
    const struct index *index; /* borrowed */
    struct match_options options;
    struct fuzzy *fuzzy; /* borrowed; if a mode is fuzzy */
    struct candidates candidates;
    struct candidates equal_candidates;   /* by params; built on first use */
    struct candidates reduced_candidates; /* by params without ignored values; built on first
                                             use */
    struct params_leaves leaves;
    struct index_message recorded; /* the call that is compared */
    struct match_query_cache query_cache;
    struct candidate_lists candidate_lists; /* of the last search */
    struct match_text_cache text_cache;
    struct err error;
};

/* Returns the rules that the index has to be built with, if no value is ignored. */
struct params_rules matcher_rules(const struct match_options *options, bool number_text);

/* Whether a request can be matched by fuzzy mode. */
bool matcher_needs_fuzzy(const struct match_options *options);

/* Returns the row of `tools` for a live request; `tool_count`: none. */
size_t matcher_tool_row(const struct match_options *options, const struct mcp_message *live);

/* Returns the mode for a live request. */
enum match_mode matcher_mode(const struct match_options *options,
                             const struct mcp_message *live);

/* Returns the rules by which a live request is compared with recorded ones. */
struct params_rules matcher_compare_rules(const struct match_options *options,
                                          const struct mcp_message *live);

/* The index has to be finished. */
void matcher_init(struct matcher *m, const struct index *idx,
                  const struct match_options *options, struct fuzzy *fuzzy);
void matcher_release(struct matcher *m);

/* Returns the lists of calls by subject, by params, or by params without ignored values; the
 * last two may be empty. */
const struct candidates *matcher_candidates(const struct matcher *m, enum candidates_by by);

/* Finds a call and marks it as used. `session`: the recorded session of this client.
 * initialize, ping and the like are not for the matcher: they are never used up. */
struct match matcher_match(struct matcher *m, struct used_set *used, uint32_t session,
                           const struct mcp_message *live);

/* Recorded sessions that a client may be assigned to. */
struct match_sessions {
    const uint32_t *sessions; /* indices of recorded sessions */
    size_t count;
    size_t first;                    /* all before it are assigned */
    const struct used_set *assigned; /* by index of a session */
};

/* Returns the first unassigned session that has a call with equal params, in total order as its
 * first call; `count`: there is none. Marks nothing. */
size_t matcher_find_session(struct matcher *m, const struct match_sessions *among,
                            const struct mcp_message *live);

/* Finds a call among the used ones only, to repeat the last response. */
struct match matcher_match_used(struct matcher *m, struct used_set *used, uint32_t session,
                                const struct mcp_message *live);

#endif
