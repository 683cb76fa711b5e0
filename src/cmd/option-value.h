/* cmd/option-value.h - the text of an option's value into its field.
 *
 * Knows nothing of where the text came from: the caller says which option it was
 * when it is refused. */
#ifndef CMD_OPTION_VALUE_H
#define CMD_OPTION_VALUE_H

#include "cmd/option.h"

/* Fills the row's field; lists are added to. `text` is borrowed for as long as
 * the arena lives. */
bool option_value_set(const struct option *o, void *field, const char *text,
                      struct arena *arena, struct err *e) MUST_CHECK;

/* Before the first value from a stronger source: empties a list, so that it does
 * not go on after its preset. */
void option_value_clear(const struct option *o, void *field);

/* The field of a row that nobody gave: the preset, or what "not given" is. */
void option_value_preset(const struct option *o, void *field, struct arena *arena);

/* The value of the choice of that name; otherwise ERR_USAGE that lists them. */
bool option_value_choose(const struct option_choice *choices, const char *text, int *value,
                         struct err *e) MUST_CHECK;

#endif
