/* scenario/scenario-action.h - the table of actions: what each of them sends, and which keys it
 * has in a scenarios file. */
#ifndef SCENARIO_SCENARIO_ACTION_H
#define SCENARIO_SCENARIO_ACTION_H

#include "base/str.h"

enum { SCENARIO_ACTION_KEYS = 4 };

enum scenario_action_params {
    ACTION_PARAMS_EMPTY,   /* {} */
    ACTION_PARAMS_NONE,    /* the member is left out */
    ACTION_PARAMS_MEMBERS, /* the keys are the members of params */
    ACTION_PARAMS_RAW,     /* the keys are method and params */
};

struct scenario_action_key {
    const char *name; /* NULL ends the list */
    enum { ACTION_KEY_TEXT, ACTION_KEY_MAP, ACTION_KEY_ANY } type;
    bool required;
    enum {
        ACTION_KEY_ABSENT,      /* without a value the member is left out */
        ACTION_KEY_EMPTY,       /* it becomes {} */
        ACTION_KEY_DROPS_EMPTY, /* it is left out, also if it is {} */
    } preset;
};

struct scenario_action_kind {
    const char *name;
    struct str method; /* empty: that of the key `method` */
    enum scenario_action_params params;
    const char *list;    /* member of the result that has the list; NULL: no list */
    const char *subject; /* key that names what the action is about, for reports; or NULL */
    struct scenario_action_key keys[SCENARIO_ACTION_KEYS];
};

/* All actions; ends with a row without a name. */
extern const struct scenario_action_kind scenario_action_kinds[];

/* Returns the action of that name; NULL if there is none. */
const struct scenario_action_kind *scenario_action_find(struct str name);

/* Returns whether an action can stand without a map: no key is required. */
bool scenario_action_is_simple(const struct scenario_action_kind *kind);

#endif
