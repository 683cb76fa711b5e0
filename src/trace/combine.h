/* trace/combine.h - combines several recordings into one: a sink in front of a sink.
 *
 * Takes the records of several inputs, interleaved in any order, and passes on one recording.
 * The first header stands for all; other headers and all footers are dropped; if every input
 * has one, a footer with the totals is written at the end. Numbers that identify (conn,
 * session, exchange, stream, batch) stay distinct between inputs, `seq` rises, `us` counts from
 * the earliest start and never decreases.
 *
 * A header in the middle of an input starts another recording, as in files joined with cat.
 * A single complete recording passes unchanged. The parts of a rotated recording share their
 * numbers: they count as one.
 *
 * Bounded: once numbers had to change, a redelivered message refers to its first delivery only
 * if that is among the latest COMBINE_RECENT_SEQS of its input. */
#ifndef TRACE_COMBINE_H
#define TRACE_COMBINE_H

#include "trace/recording-info.h"
#include "trace/timestamp.h"

enum { COMBINE_RECENT_SEQS = 1 << 16 };

enum combine_number {
    COMBINE_CONN,
    COMBINE_SESSION,
    COMBINE_EXCHANGE,
    COMBINE_STREAM,
    COMBINE_BATCH,
    COMBINE_NUMBER_KINDS
};

struct combine_input {
    struct timestamp time;
    unsigned features;             /* enum feature: kept by its format */
    bool seen_header;              /* set by the first header */
    bool seen_record, seen_footer; /* since the latest header */
    bool is_first_part;            /* first input seen of a rotated recording ... */
    int64_t series_date_us;        /* ... with this date in its headers */
    struct combine_input
        *number_owner; /* the first part, whose numbers it shares; NULL: itself */
    uint64_t base[COMBINE_NUMBER_KINDS]; /* used by earlier recordings of the input */
    uint64_t top[COMBINE_NUMBER_KINDS];  /* the highest so far, base included */
    struct combine_seq *recent_seqs;     /* by old seq; NULL: none yet */
};

struct combine {
    struct sink sink; /* put records here */
    struct sink *next_sink;

    /* Set before the first record. */
    bool add_header_footer; /* write a header and a footer if the inputs have none */
    bool start_known; /* `start_us` is set; else the first record that has a date sets it */
    int64_t start_us; /* earliest start of all inputs, since 1970 */

    /* Private. */
    struct combine_input *inputs, *input;
    size_t input_count;
    uint64_t recordings, records;
    bool missing_footer; /* a recording without the footer that its format has */
    bool renumbered, us_known;
    bool has_parts; /* a header had a part number */
    uint64_t seq, messages[2], errors;
    int64_t last_us;         /* greatest `us` so far */
    struct timestamp latest; /* the latest date of all inputs */
    struct record footer;    /* the latest one; its texts are in `footer_texts` */
    bool seen_footer;
    struct recording_info info;
    struct pairing pairs;
    struct json json;
    struct arena scratch, footer_texts;
};

void combine_init(struct combine *j, size_t inputs, struct sink *to);
void combine_release(struct combine *j);

/* The records that follow come from this input, whose format keeps `features`. Until the first
 * call they come from input 0, with all features. */
void combine_select_input(struct combine *j, size_t input, unsigned features);

/* Messages so far. */
static inline uint64_t combine_message_count(const struct combine *j)
{
    return j->messages[TO_SERVER] + j->messages[TO_CLIENT];
}

/* Ends the recording: writes the footer, unless a recording lacks its own. */
bool combine_finish(struct combine *j, struct err *e) MUST_CHECK;

#endif
