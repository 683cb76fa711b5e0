/* json/path.h - places inside a JSON value, and patterns that match them.
 *
 * A place is the way down from the root: names of members, indexes of elements.
 * As text it is `$.params.arguments['odd key'][3]`. A pattern looks the same and
 * may leave things open:
 *
 *     $                          the root
 *     .name  ['name']  ["name"]  a member; in quotes as JSON has it, or with \'
 *     [3]                        an element, the first being 0
 *     .*  [*]                    every member or element
 *     ..name  ..*  ..[3]         the same at any depth below
 *
 * Every place as text is a pattern that matches this place and no other. */
#ifndef JSON_PATH_H
#define JSON_PATH_H

#include "base/buf.h"
#include "json/json.h"

struct json_step {
    bool is_index;
    size_t index;    /* of an element */
    struct str name; /* of a member, decoded */
};

struct json_place {
    const struct json_step *steps; /* borrowed */
    size_t count;
};

/* Appends the place as text. */
void json_place_write(struct json_place place, struct buf *to);

enum { JSON_PATH_MAX = 63 }; /* parts of a pattern */

struct json_path {
    struct json_path_part {
        enum json_path_want { JSON_PATH_NAME, JSON_PATH_INDEX, JSON_PATH_ANY } want;
        bool deep;       /* at any depth below */
        struct str name; /* lives in the arena given to json_path_compile() */
        size_t index;
    } parts[JSON_PATH_MAX];
    size_t count;
};

/* Reads a pattern; ERR_USAGE says what is wrong with it and where. */
bool json_path_compile(struct json_path *p, struct str text, struct arena *names,
                       struct err *e) MUST_CHECK;

bool json_path_matches(const struct json_path *p, struct json_place place);

/* The place, or one that contains it, matches. */
bool json_path_covers(const struct json_path *p, struct json_place place);

/* Calls `found` once for every value that matches, in the order of the text and
 * with all duplicates of a name: what is looked for may hide in each of them.
 * The place is valid during the call; false from `found` ends the search, and
 * then false is returned. Looks at each value at most once. */
bool json_path_select(const struct json_path *p, struct json_val root,
                      bool (*found)(void *arg, struct json_place place, struct json_val value),
                      void *arg);

#endif
