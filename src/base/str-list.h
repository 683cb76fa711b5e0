/* base/str-list.h - defines a list of NUL-terminated strings with its length.
 *
 * Owns nothing: the strings and the array belong to the caller that filled it. */
#ifndef BASE_STR_LIST_H
#define BASE_STR_LIST_H

#include <stddef.h>

struct str_list {
    const char **at;
    size_t count;
};

#endif
