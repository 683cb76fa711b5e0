/* diff/text-hazards.h - finds text in definitions that can mislead a model or its user.
 *
 * Looks at what a text has, not at what it means: characters that are invisible, change the
 * direction of text or are tags (base/term.h), and URLs. */
#ifndef DIFF_TEXT_HAZARDS_H
#define DIFF_TEXT_HAZARDS_H

#include "json/json.h"

enum text_hazard_class {
    HAZARD_INVISIBLE,
    HAZARD_BIDIRECTIONAL,
    HAZARD_TAG,
    HAZARD_CLASSES,
};

struct text_hazards {
    uint64_t hidden[HAZARD_CLASSES]; /* characters in all strings and names */
    struct str *urls; /* of titles and descriptions, sorted, each once; in the arena */
    size_t url_count;
};

enum { TEXT_HAZARDS_URLS = 1000 }; /* of a definition; more are not kept */

/* Reads a definition, or a string. An absent value has none. */
void text_hazards_read(struct text_hazards *h, struct json_val v, struct arena *a);

/* Returns the name of a class: "invisible", "bidirectional", "tag". */
struct str text_hazards_class(enum text_hazard_class class);

#endif
