/* scenario/scenario-expect.h - what a response of a scenario must have, and what is saved of
 * it. */
#ifndef SCENARIO_SCENARIO_EXPECT_H
#define SCENARIO_SCENARIO_EXPECT_H

#include "scenario/scenario-values.h"
#include "trace/finding.h"
#include "json/path.h"

/* Some value at `path` of the response is equal to `json`; numbers are compared by value. */
struct scenario_expect_value {
    struct str path_text;
    const struct json_path *path;
    struct str json; /* may have references to saved values */
    uint32_t line;   /* in the scenarios file */
};

/* The first value at `path` of the response is saved under `name`. */
struct scenario_expect_save {
    struct str name, path_text;
    const struct json_path *path;
    uint32_t line;
};

enum scenario_expect_error { EXPECT_ANY, EXPECT_NO_ERROR, EXPECT_AN_ERROR };

struct scenario_expect {
    /* Whether the response is an error, or a result of a tool with isError. */
    enum scenario_expect_error is_error;
    uint32_t is_error_line;
    struct scenario_expect_value *values;
    size_t value_count;
    struct scenario_expect_save *saves;
    size_t save_count;
};

/* Judges a response: `root` is the whole message. Returns one finding for each expectation that
 * does not hold and for each value that could not be saved, in `a`; saves the others. Texts of
 * findings are borrowed from the response and `a`. */
struct finding *scenario_expect_judge(const struct scenario_expect *x, struct json_val root,
                                      struct scenario_values *values, struct arena *a,
                                      size_t *count);

#endif
