/* tests/unit/verdict-sample.h - fixed verdicts for the tests of all outputs. */
#ifndef VERDICT_SAMPLE_H
#define VERDICT_SAMPLE_H

#include "report/verdict-report.h"

/* Gives a report one run: passed, volatile, failed in four ways, blocked, skipped, updated, and
 * findings of each severity that belong to no call. */
void verdict_sample_play(struct verdict_report *to);

/* Gives a report a run whose texts contain control characters, bidi, markup of every output,
 * and values of 300 KB that differ in the middle. */
void verdict_sample_play_hostile(struct verdict_report *to);

/* Gives a report a run of `passed` calls and `failed` ones, with one difference each. */
void verdict_sample_play_many(struct verdict_report *to, size_t passed, size_t failed);

/* Gives a report the first run for each of so many recordings: 0.jsonl, 1.jsonl, … */
void verdict_sample_play_several(struct verdict_report *to, size_t recordings);

/* Gives a report a run without calls. */
void verdict_sample_play_empty(struct verdict_report *to);

/* Fails if `got` is not the content of the file, whose path is relative to the root of the
 * sources. If the variable MCPREEL_TEST_REWRITE is set, writes the file instead. */
void verdict_sample_assert_file(struct str got, const char *path);

/* Fails if a text has control characters other than newlines. */
void verdict_sample_assert_no_controls(struct str text);

#endif
