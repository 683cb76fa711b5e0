/* yaml/yaml-json.h - writes a value of YAML as JSON.
 *
 * Keys become names as they are spelled: 1 and "1" are the same name. */
#ifndef YAML_YAML_JSON_H
#define YAML_YAML_JSON_H

#include "yaml/yaml-tree.h"

/* Appends `v` on one line. ERR_INPUT for a value that JSON does not have, with its position in
 * `t`; ERR_LIMIT if the buffer is full. */
bool yaml_json_write(struct buf *to, const struct yaml_tree *t, const struct yaml_value *v,
                     struct err *e) MUST_CHECK;

#endif
