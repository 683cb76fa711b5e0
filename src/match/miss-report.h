/* match/miss-report.h - explains why no recorded call matches a request: as JSON-RPC error for
 * the client, as log line for the user.
 *
 * Names the most similar call and where it differs; or the call that is used up, has no
 * response, or belongs to the other protocol; and an option that would help, if one would. Long
 * names and values are truncated. Compares at most MISS_REPORT_CALLS_MAX calls or
 * MISS_REPORT_BYTES_MAX bytes, and says so if there are more. Owns its texts. */
#ifndef MATCH_MISS_REPORT_H
#define MATCH_MISS_REPORT_H

#include "base/buf.h"
#include "match/match.h"

enum { MISS_REPORT_CALLS_MAX = 20000, MISS_REPORT_BYTES_MAX = 64 << 20 };

struct miss_report {
    struct buf message;  /* of the JSON-RPC error */
    struct buf data;     /* of the JSON-RPC error: a JSON object */
    struct buf log_line; /* one line for the user */
    struct str subject;  /* of the live request; in `arena` */
    uint32_t nearest;    /* call; 0: none */
    const char *reason;  /* the word in the JSON data */
    struct arena arena;
};

/* Builds the report. `found` is the matcher's result for a client with the used set `used`. */
void miss_report_build(struct miss_report *why, const struct matcher *matcher,
                       const struct used_set *used, const struct mcp_message *live,
                       const struct match *found);
void miss_report_release(struct miss_report *why);

/* Appends the first paths where the params of a call differ from the live ones, with both
 * values, truncated. */
void miss_report_differences(const struct matcher *matcher, uint32_t call,
                             const struct mcp_message *live, struct buf *to);

#endif
