/* engine/review.h - how a replay went: what was answered, what was not, what nobody asked
 * for, and how its clients met the questions of the server.
 *
 * Bounded: of misses and of what is remarkable about questions the first REVIEW_KEPT are
 * kept, the others counted. */
#ifndef ENGINE_REVIEW_H
#define ENGINE_REVIEW_H

#include "engine/match.h"
#include "engine/miss.h"

enum { REVIEW_KEPT = 100 };

struct review_miss {
    struct str method, subject;
    const char *reason;
    uint32_t nearest; /* strand; 0: none */
};

/* What became of a question of the server's. */
enum review_question {
    QUESTION_ASKED,      /* that it was; what comes of it is told later */
    QUESTION_DIFFERS,    /* the live answer is not the recorded one */
    QUESTION_LEFT_OUT,   /* not asked: the client cannot answer it */
    QUESTION_UNANSWERED, /* the client never did */
    QUESTIONS,
};

struct review_remark {
    struct str method;
    enum review_question what;
    uint32_t op; /* the strand it was asked in */
};

struct review {
    const struct script *script; /* borrowed */
    struct spent used;           /* by any client */
    struct spent passed;         /* over, by any client */
    uint64_t passed_count;
    struct spent tokens; /* with a recorded progress token in what was sent, to any client */
    uint64_t token_count;
    uint64_t refused; /* requests of another era than the recording's */
    uint64_t questions[QUESTIONS];
    struct review_remark remarks[REVIEW_KEPT];
    size_t remarked;
    uint64_t requests; /* that had to be looked for */
    uint64_t found, again, borrowed, differing, masked, blurred, missed, forwarded;
    struct review_miss misses[REVIEW_KEPT];
    size_t kept;
    struct arena arena;
};

void review_init(struct review *r, const struct script *script);
void review_release(struct review *r);

/* `spent`: what the client that asked has used up. */
void review_match(struct review *r, const struct match *m, const struct spent *spent);
void review_miss(struct review *r, const struct mcp_message *live, const struct miss *why);

/* The recorded client's progress token was sent in a text of a strand. */
void review_token(struct review *r, uint32_t op);

void review_refusal(struct review *r);
void review_question(struct review *r, uint32_t op, struct str method,
                     enum review_question what);

/* How many recorded requests nobody asked for. */
uint64_t review_unused(const struct review *r);

/* The next of them after `op` (0: the first); 0: there is none. The same of those in whose
 * texts a recorded progress token was sent. */
uint32_t review_next_unused(const struct review *r, uint32_t op);
uint32_t review_next_token(const struct review *r, uint32_t op);

/* As a JSON object on one line; `exit_code` is what the replay ends with. */
void review_write(const struct review *r, struct buf *to, int exit_code);

/* "#12 tools/call 'name'", as it stands in the recording. */
void review_name(const struct review *r, uint32_t op, struct buf *to);

#endif
