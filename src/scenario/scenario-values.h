/* scenario/scenario-values.h - the values that a scenario has saved, and references to them.
 *
 * A reference is {{NAME}} in a string; blanks around the name are allowed. A string that is one
 * reference becomes the saved value, of any type. In a longer string the reference becomes the
 * text of a saved string, or the JSON of another value. References to values that were not
 * saved stay as they are. */
#ifndef SCENARIO_SCENARIO_VALUES_H
#define SCENARIO_SCENARIO_VALUES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

struct scenario_values {
    struct map by_name; /* to struct str: JSON */
    struct arena arena;
};

void scenario_values_init(struct scenario_values *v);
void scenario_values_release(struct scenario_values *v);

/* Returns whether a value may have this name: letters, digits and '_'. */
bool scenario_values_is_name(struct str name);

/* Saves a copy of `json`; the last value of a name counts. */
void scenario_values_set(struct scenario_values *v, struct str name, struct str json);

/* Appends a JSON text with references replaced. */
void scenario_values_fill(const struct scenario_values *v, struct str json, struct buf *to);

/* Finds the next reference in a text, sets its name, and leaves the text behind it. False:
 * there is none. */
bool scenario_values_next_reference(struct str *text, struct str *name);

#endif
