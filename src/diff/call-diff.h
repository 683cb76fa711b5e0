/* diff/call-diff.h - compares the calls of two recordings.
 *
 * Calls are aligned (diff/align.h), then the responses of each pair are compared
 * (mcp/payload-compare.h), and of a pair with different params the requests, too. A pair whose
 * messages differ only in volatile or ignored values is the same. A redacted value equals any
 * value, on both sides.
 *
 * A pair of the same call breaks a client if the call had a result before and fails now, with a
 * JSON-RPC error or `isError`, or has no response now, or if the content of a tool has other
 * types. It is the first finding then. With the sides exchanged it is none.
 *
 * Latencies are the times from request to response, in milliseconds. They differ in every run:
 * a pair with another latency is the same pair, and the latency is reported only if it differs
 * by at least `latency_ms` and by at least `latency_percent` of the smaller one.
 *
 * Reads messages through the indexes; a pair with equal texts is not parsed. With the sides
 * exchanged the entries are exchanged, too, but not what breaks. */
#ifndef DIFF_CALL_DIFF_H
#define DIFF_CALL_DIFF_H

#include "diff/call-list.h"
#include "mcp/compare-rules.h"
#include "mcp/surface.h"
#include "trace/finding.h"

enum { CALL_DIFF_FINDINGS_MAX = 200 }; /* of one call; the rest is counted */

enum call_diff_status {
    CALL_DIFF_SAME,
    CALL_DIFF_CHANGED,
    CALL_DIFF_ADDED,   /* only in `after` */
    CALL_DIFF_REMOVED, /* only in `before` */
};

enum { CALL_DIFF_STATUSES = CALL_DIFF_REMOVED + 1 };

/* A call on one side. */
struct call_diff_side {
    uint32_t seq;       /* of its request; 0: it is not there */
    int64_t latency_ms; /* -1: no response, or no times */
    uint32_t line;      /* of its request in the file; 0: unknown */
};

/* Borrows all its texts. */
struct call_diff_entry {
    enum call_diff_status status;
    bool moved;                 /* at another place among the calls */
    bool latency_changed;       /* past the thresholds */
    bool breaking;              /* findings[0] says why */
    struct str method, subject; /* subject: tool, prompt or URI; may be empty, and is if the
                                   pair is the same, unless all_subjects */
    struct call_diff_side before, after;
    const struct finding *findings; /* the differences: `recorded` is before, `live` after */
    size_t finding_count;
    uint64_t more; /* differences beyond CALL_DIFF_FINDINGS_MAX */
    uint64_t volatile_count, ignored_count;
};

struct call_diff_totals {
    uint64_t count[CALL_DIFF_STATUSES]; /* CALL_DIFF_SAME: without the moved ones */
    uint64_t moved;                     /* of the same and the changed */
    uint64_t slower, faster;            /* past the thresholds */
    uint64_t breaking;                  /* of the changed */
    bool greedy;                        /* the alignment was not exact */
};

/* True if a call was added, removed, changed or moved. */
bool call_diff_is_different(const struct call_diff_totals *t);

struct call_diff {
    const struct call_list *before, *after;
    const struct compare_rules *rules;
    int64_t latency_ms;
    uint64_t latency_percent;
    /* The results of these lists are compared elsewhere (diff/contract.h): here, only whether
     * they fail. */
    bool skip_lists[SURFACE_LISTS];

    bool all_subjects; /* also of pairs that are the same: their requests are read for it */

    /* Called for every entry, in the order of `before`; added calls come before the next call
     * that is in order on both sides. The entry is valid during the call. */
    bool (*found)(void *arg, const struct call_diff_entry *entry, struct err *e);
    void *arg;
};

/* Compares. ERR_INPUT or ERR_IO if a message cannot be read, or `found` failed. */
bool call_diff_run(const struct call_diff *d, struct call_diff_totals *totals,
                   struct err *e) MUST_CHECK;

#endif
