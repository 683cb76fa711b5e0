/* redact/secret-name.h - finds values that are secret because of their name.
 *
 * A name is secret if it ends in one of a list of words (password, api_key, token, …). Case
 * and '_', '-', '.' are ignored: apiKey, api-key and API_KEY are one name. Names of cursors and
 * of tokenizers (pageToken, eos_token) are not secret.
 *
 * Three spellings are recognized: a JSON member whose value is a string or an array of strings
 * ("password":"x", also with Python's quotes), an assignment (password=x, PGPASSWORD=x,
 * password: "x") and a header (X-Api-Key: x, Cookie: a=b). Without quotes, text that looks like
 * source code or prose is not taken for a value. The cost is linear in name and value. */
#ifndef REDACT_SECRET_NAME_H
#define REDACT_SECRET_NAME_H

#include "base/str.h"

enum { SECRET_NAME_MAX = 64 }; /* bytes; longer names are not secret */

/* A normalized name: lower case letters and digits only. */
struct secret_name {
    char text[SECRET_NAME_MAX];
    size_t len; /* 0: the name is too long or has neither letters nor digits */
};

struct secret_name secret_name_normalize(struct str name);

bool secret_name_is_secret(struct str name);

struct secret_name_value {
    struct str name;
    size_t at, end; /* without quotes; never empty */
    bool is_member; /* name and value are quoted; in escaped text the span may be too long */
};

/* Finds the value of the name that ends before text[end]. `any`: accepts every name, but only
 * as a JSON member; the caller decides whether it is secret. If it returns false, no name needs
 * to be tried before `out->end`. */
bool secret_name_find_value(struct str text, size_t end, bool any,
                            struct secret_name_value *out);

#endif
