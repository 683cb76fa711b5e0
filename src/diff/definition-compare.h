/* diff/definition-compare.h - compares two definitions of the same tool, prompt, resource or
 * template, and finds text that can mislead.
 *
 * Annotations of tools are compared through their defaults in the protocol; a member that is
 * not known is compared by value. */
#ifndef DIFF_DEFINITION_COMPARE_H
#define DIFF_DEFINITION_COMPARE_H

#include "diff/contract-changes.h"

/* Adds the changes between two definitions of the kind of `subject`, not those of
 * definition_compare_text(). */
void definition_compare(struct contract_changes *c, const struct contract_subject *subject,
                        struct json_val before, struct json_val after);

/* Adds hidden characters and URLs that were added or removed. One of the values may be absent:
 * then URLs do not count. */
void definition_compare_text(struct contract_changes *c, const struct contract_subject *subject,
                             struct json_val before, struct json_val after);

#endif
