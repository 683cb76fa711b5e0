/* yaml/yaml-out.h - composes YAML text in a buffer, for readers of YAML 1.1 and 1.2.
 *
 *     struct yaml_out o = yaml_out_to(&b);
 *     yaml_out_open(&o);
 *     yaml_out_key(&o, STR("tools"));
 *     yaml_out_open(&o);
 *     yaml_out_item(&o);
 *     yaml_out_str(&o, name);
 *     yaml_out_close(&o);
 *     yaml_out_close(&o);
 *
 * Block style, two blanks for each level, no anchors, no tags. A string of several lines that
 * can be shown as it is becomes a literal block, every other string is double-quoted: control
 * characters and characters that cannot be seen are escaped, and so is a '$' before '$' or '{',
 * which some loaders replace in the text of a file before they parse it. A lone surrogate,
 * which YAML cannot express, becomes U+FFFD.
 *
 * Does not check nesting. Only the buffer's maximum can make it fail; see buf_ok(). */
#ifndef YAML_YAML_OUT_H
#define YAML_YAML_OUT_H

#include "base/buf.h"
#include "json/json.h"

enum yaml_out_place {
    YAML_OUT_LINE, /* at the start of a line */
    YAML_OUT_KEY,  /* behind "key:" */
    YAML_OUT_ITEM, /* behind "- " */
};

struct yaml_out {
    struct buf *to; /* borrowed */
    enum yaml_out_place place;
    unsigned depth;   /* of open maps and lists */
    unsigned deepest; /* the largest so far */

    /* Appends what stands for a text, in each string that is no key. NULL: the text itself. */
    void (*change)(struct buf *to, struct str text);
};

struct yaml_out yaml_out_to(struct buf *to);

/* Open and close a map or a list that has members or items. */
void yaml_out_open(struct yaml_out *o);
void yaml_out_close(struct yaml_out *o);

void yaml_out_key(struct yaml_out *o, struct str key); /* of a map; its value follows */
void yaml_out_item(struct yaml_out *o);                /* of a list; its value follows */

void yaml_out_str(struct yaml_out *o, struct str text);
void yaml_out_plain(struct yaml_out *o, struct str text); /* as it is: 3, true, [], {} */

/* key and value in one. */
void yaml_out_key_str(struct yaml_out *o, struct str key, struct str text);
void yaml_out_key_plain(struct yaml_out *o, struct str key, struct str text);
void yaml_out_key_int(struct yaml_out *o, struct str key, int64_t n);

/* A value of JSON; of members with the same name the last. Numbers keep their value, and are
 * spelled so that they are numbers in YAML 1.1, too. */
void yaml_out_json(struct yaml_out *o, struct json_val v);

/* The members of a JSON object, into an open map, except those named in `skipped`, which ends
 * with an empty text. */
void yaml_out_members(struct yaml_out *o, struct json_val object, const struct str *skipped);

/* A line with a comment, before a key or an item. One line, at most YAML_OUT_COMMENT_MAX
 * characters; escaped like a string. */
enum { YAML_OUT_COMMENT_MAX = 160 };
void yaml_out_comment(struct yaml_out *o, const char *fmt, ...) PRINTF(2, 3);

/* An empty line. */
void yaml_out_space(struct yaml_out *o);

#endif
