/* yaml/yaml-scalar.h - decides which type a plain scalar of YAML has, and writes scalars as
 * JSON.
 *
 * The rules are those of PyYAML (YAML 1.1), which reads the scenarios of mcp-recorder: yes, no,
 * on and off are booleans, 017 is octal, 0x1f and 0b11 are numbers, '_' may stand between
 * digits. Numbers with an exponent are those of YAML 1.2 and JSON: 1e5. A date is a string.
 * Base-60 numbers (12:30), .inf and .nan have no JSON. */
#ifndef YAML_YAML_SCALAR_H
#define YAML_YAML_SCALAR_H

#include "base/buf.h"

enum yaml_type {
    YAML_TYPE_NULL,
    YAML_TYPE_BOOL,
    YAML_TYPE_INT,
    YAML_TYPE_FLOAT,
    YAML_TYPE_STRING,
    YAML_TYPE_LIST,
    YAML_TYPE_MAP,
};

/* Returns the type of an unquoted scalar. */
enum yaml_type yaml_scalar_type(struct str text);

/* Returns the value of a scalar of type YAML_TYPE_BOOL. */
bool yaml_scalar_is_true(struct str text);

/* Appends a scalar as JSON; `type` is that of yaml_scalar_type(), or YAML_TYPE_STRING. Returns
 * NULL, or why JSON cannot express it: static text. */
const char *yaml_scalar_write_json(struct buf *to, enum yaml_type type, struct str text);

#endif
