/* json/path.h - locations inside a JSON value, and patterns that match them.
 *
 * A location is the path from the root: names of members, indexes of elements. As text it is
 * `$.params.arguments['odd key'][3]`. A pattern looks the same and has wildcards:
 *
 *     $                          the root
 *     .name  ['name']  ["name"]  a member; in quotes as JSON has it, or with \'
 *     [3]                        an element, the first being 0
 *     .*  [*]                    every member or element
 *     ..name  ..*  ..[3]         the same at any depth below
 *
 * Every location as text is a pattern that matches this location and no other. */
#ifndef JSON_PATH_H
#define JSON_PATH_H

#include "base/buf.h"
#include "json/json.h"

struct json_step {
    bool is_index;
    size_t index;    /* of an element */
    struct str name; /* of a member, decoded */
};

struct json_location {
    const struct json_step *steps; /* borrowed */
    size_t count;
};

/* Appends the location as text. */
void json_location_write(struct json_location location, struct buf *to);

/* Append one step of a JSON pointer (RFC 6901): "/a~1b", "/3". */
void json_pointer_add_name(struct buf *to, struct str name);
void json_pointer_add_index(struct buf *to, size_t index);

/* Appends the location of a value inside `root`; "$" if it is not inside. */
void json_location_write_inside(struct json_val root, struct json_val value, struct buf *to);

enum { JSON_PATH_MAX = 63 }; /* maximum parts of a pattern */

struct json_path {
    struct json_path_part {
        enum json_path_kind { JSON_PATH_NAME, JSON_PATH_INDEX, JSON_PATH_ANY } kind;
        bool any_depth;  /* at any depth below */
        struct str name; /* in the arena given to json_path_compile() */
        size_t index;
    } parts[JSON_PATH_MAX];
    size_t count;
};

/* Parses a pattern; ERR_USAGE tells the error and its position. */
bool json_path_compile(struct json_path *p, struct str text, struct arena *names,
                       struct err *e) MUST_CHECK;

bool json_path_matches(const struct json_path *p, struct json_location location);

/* Returns whether the location, or one that contains it, matches. */
bool json_path_covers(const struct json_path *p, struct json_location location);

/* Matching step by step, for a caller that walks a value itself. The state at the root is
 * JSON_PATH_START; 0 means that nothing below can match. The states of two spellings of one
 * location may be joined with |. */
#define JSON_PATH_START UINT64_C(1)
uint64_t json_path_advance(const struct json_path *p, uint64_t state,
                           const struct json_step *step);
bool json_path_has_matched(const struct json_path *p, uint64_t state);

/* Calls `found` once for every value that matches, in the order of the text and with all
 * duplicates of a name, until it returns false; then returns false. The location is valid
 * during the call. Visits each value at most once. */
bool json_path_select(const struct json_path *p, struct json_val root,
                      bool (*found)(void *arg, struct json_location location,
                                    struct json_val value),
                      void *arg);

#endif
