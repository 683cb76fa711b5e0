/* yaml/yaml-tree.h - reads one YAML document into a tree of values with their positions.
 *
 * The only module that knows libyaml. The text is hostile: its size, the nesting, and the
 * number of values with all aliases expanded are limited, and an alias inside its own value is
 * an error. Errors too: a second document, a key that is no scalar, a key that occurs twice in
 * a map, and tags other than those of the types below.
 *
 * An alias is the same value in several places, so the tree is one for readers only. Merge keys
 * ("<<: *defaults") are resolved; members of the map itself take precedence, and come last. */
#ifndef YAML_YAML_TREE_H
#define YAML_YAML_TREE_H

#include "base/arena.h"
#include "yaml/yaml-scalar.h"

enum {
    YAML_TREE_TEXT_MAX = 4 << 20, /* bytes */
    YAML_TREE_DEPTH_MAX = 100,
    YAML_TREE_VALUES_MAX = 200000, /* keys included, aliases expanded */
};

struct yaml_value {
    enum yaml_type type;
    uint32_t line, column; /* from 1; the column counts characters */
    struct str text;       /* of a scalar, decoded */
    bool quoted;           /* a scalar in quotes, or a block scalar; always a string */
    bool is_key;
    struct yaml_value **items;   /* of a list */
    struct yaml_member *members; /* of a map */
    size_t count;                /* of items or members */

    /* For this module: */
    uint64_t size;           /* number of values: itself and all inside it */
    unsigned depth;          /* of the deepest value inside it; 1: it has none */
    bool complete;           /* set at its end */
    struct yaml_value *next; /* the value that was read after it */
};

struct yaml_member {
    struct yaml_value *key, *value;
};

struct yaml_tree {
    const char *name;         /* of the file, for errors; borrowed */
    struct yaml_value *root;  /* NULL: the file has no value */
    struct yaml_value *first; /* of all values, in the order of the text */
    struct arena arena;       /* owns the values */
};

/* Parses a text. ERR_INPUT or ERR_LIMIT: "NAME:LINE:COLUMN: reason". The caller releases the
 * tree in any case. */
bool yaml_tree_parse(struct yaml_tree *t, struct str text, const char *name,
                     struct err *e) MUST_CHECK;
void yaml_tree_release(struct yaml_tree *t);

/* Calls `change` for each string that is no key, once, also if aliases have it in several
 * places. It may set another text, which is borrowed as long as the tree. Stops and returns
 * false when it does. */
bool yaml_tree_each_string(struct yaml_tree *t,
                           bool (*change)(void *arg, struct yaml_value *string, struct err *e),
                           void *arg, struct err *e) MUST_CHECK;

/* Returns the value of a key; NULL if there is none, or if it is no map. */
struct yaml_value *yaml_tree_get(const struct yaml_value *map, struct str key);

/* Returns what a value is, for errors: "a list". */
const char *yaml_tree_type_name(const struct yaml_value *v);

/* Sets an error with the position of a value: "NAME:LINE:COLUMN: reason". Returns false. */
bool yaml_tree_error(const struct yaml_tree *t, const struct yaml_value *at, enum err_kind kind,
                     struct err *e, const char *fmt, ...) PRINTF(5, 6);

#endif
