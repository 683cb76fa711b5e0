/* trace/secret-name.h - values that are secret by the name they are given.
 *
 * A name says secret if it ends in one of a list of words (password, api_key, token, …); case,
 * '_', '-' and '.' do not count, so apiKey, api-key and API_KEY are one name. Names of cursors
 * and of tokenizers (pageToken, eos_token) are none.
 *
 * Three spellings: a JSON member whose value is a string or an array of strings
 * ("password":"x", Python's quotes as well), an assignment (password=x, PGPASSWORD=x, password:
 * "x"), a header (X-Api-Key: x, Cookie: a=b). Without quotes, only text that is unlikely to be
 * source code or prose is taken for a value. Costs no more than the name and the value are
 * long. */
#ifndef TRACE_SECRET_NAME_H
#define TRACE_SECRET_NAME_H

#include "base/str.h"

enum { SECRET_NAME_LONGEST = 64 };

/* A name in lower case without what separates its words. */
struct secret_name {
    char text[SECRET_NAME_LONGEST];
    size_t len; /* 0: it is too long */
};

struct secret_name secret_name_of(struct str name);

bool secret_name_says_secret(struct str name);

struct secret_name_value {
    struct str name;
    size_t at, end; /* never empty, without quotes */
    bool member;    /* name and value are quoted: it may go beyond the string it was found in */
};

/* The value of the name whose last byte stands before text[end]. `any`: whether the name says
 * secret is decided by the caller, and only members count. If it is false, `out->end` is a
 * place before which no name has to be tried. */
bool secret_name_value(struct str text, size_t end, bool any, struct secret_name_value *out);

#endif
