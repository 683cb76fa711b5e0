/* cmd/option-value.h - parses the value of an option into its field.
 *
 * Does not know where the text comes from: the caller adds the name of the option to an
 * error. */
#ifndef CMD_OPTION_VALUE_H
#define CMD_OPTION_VALUE_H

#include "cmd/option.h"

/* Fills the field of a row; adds to a list. `text` is borrowed for as long as the arena
 * lives. */
bool option_value_set(const struct option *o, void *field, const char *text,
                      struct arena *arena, struct err *e) MUST_CHECK;

/* Empties a list, so that the first value from a stronger source replaces its preset. */
void option_value_clear(const struct option *o, void *field);

/* Fills the field of a row with its preset, or with the value for "not given". */
void option_value_preset(const struct option *o, void *field, struct arena *arena);

/* Finds the choice of that name. ERR_USAGE lists the choices if there is none. */
bool option_value_choose(const struct option_choice *choices, const char *text, int *value,
                         struct err *e) MUST_CHECK;

#endif
