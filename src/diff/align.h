/* diff/align.h - aligns two lists of calls, or of words: finds the items that correspond.
 *
 * An item is two hashes: `key` of all that identifies it, and `kind` of what it is about. In
 * this order:
 *
 * 1. Items whose keys are unique in both lists, as many as are in the same order in both.
 * 2. Between these the longest common subsequence of keys: ALIGN_IN_ORDER, as those of step 1.
 *    Exact for stretches of up to ALIGN_EXACT_MAX items on each side; in a longer one greedy.
 * 3. Items without a match that have equal keys, the first with the first: ALIGN_MOVED.
 * 4. Items without a match of equal kinds between the same two neighbours of steps 1 and 2:
 *    ALIGN_SAME_KIND.
 *
 * With the lists exchanged the result is exchanged, too. Takes memory for a few numbers per
 * item and ALIGN_EXACT_MAX² bits. Pure. */
#ifndef DIFF_ALIGN_H
#define DIFF_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ALIGN_EXACT_MAX = 5000 };

struct align_item {
    uint64_t key, kind;
};

enum align_how { ALIGN_NONE, ALIGN_IN_ORDER, ALIGN_MOVED, ALIGN_SAME_KIND };

struct align_match {
    enum align_how how;
    uint32_t other; /* index in the other list, unless ALIGN_NONE */
};

struct align_list {
    const struct align_item *items; /* borrowed */
    size_t count;                   /* below UINT32_MAX */
    struct align_match *matches;    /* of the caller: one for each item */
};

/* Sets the matches of both lists. Returns false if a stretch was too long to be exact. */
bool align_lists(const struct align_list *a, const struct align_list *b);

#endif
