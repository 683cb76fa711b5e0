/* redact/credentials.h - recognizes credentials of well-known services by their format.
 *
 * Each row has a literal that is rare in other text, so one search for all literals finds the
 * few positions to check. The rest of a credential is a run of certain characters of a certain
 * length: checking one position takes time linear in the length of the credential, whatever
 * the text.
 *
 * A row may be added only if a false match is very unlikely. Pure: holds no state. */
#ifndef REDACT_CREDENTIALS_H
#define REDACT_CREDENTIALS_H

#include "base/str.h"

enum credential_chars {
    CREDENTIAL_LOWER = 1 << 0,
    CREDENTIAL_UPPER = 1 << 1,
    CREDENTIAL_DIGIT = 1 << 2,
    CREDENTIAL_HEX = 1 << 3,
    CREDENTIAL_UNDERSCORE = 1 << 4,
    CREDENTIAL_DASH = 1 << 5,
    CREDENTIAL_DOT = 1 << 6,
    CREDENTIAL_BASE64 = 1 << 7, /* + / = */
    CREDENTIAL_TILDE = 1 << 8,
    CREDENTIAL_ALNUM = CREDENTIAL_LOWER | CREDENTIAL_UPPER | CREDENTIAL_DIGIT,
    CREDENTIAL_WORD = CREDENTIAL_ALNUM | CREDENTIAL_UNDERSCORE,
    CREDENTIAL_URL64 = CREDENTIAL_WORD | CREDENTIAL_DASH,
};

enum credential_kind {
    CREDENTIAL_RUN,      /* the literal, then a run of characters */
    CREDENTIAL_ASSIGNED, /* the literal, '=' or ':', then a run; quotes around it are skipped */
    CREDENTIAL_JWT,      /* three or five runs separated by dots */
    CREDENTIAL_PEM,      /* a private key between its BEGIN and END lines */
    CREDENTIAL_USERINFO, /* the password of scheme://user:password@host */
    CREDENTIAL_BASIC,    /* base64 of user:password */
    CREDENTIAL_DISCORD,  /* three runs separated by dots; the first is a base64 id */
    CREDENTIAL_NAMED,    /* the literal is part of a secret's name: redact/secret-name.h */
};

struct credential {
    const char *name;   /* rows of the same name are one rule */
    struct str literal; /* fixed text that every such credential contains */
    enum credential_kind kind;
    unsigned chars;       /* enum credential_chars that the run may contain */
    size_t min, max;      /* length of the run; max 0: unlimited */
    size_t chars_before;  /* length of the part of the run that precedes the literal */
    unsigned required;    /* enum credential_chars that the run must contain */
    bool any_case;        /* the literal matches in upper and lower case */
    bool exclude_literal; /* only the run is secret, the literal is kept */
    bool inside_words;    /* a letter or digit may directly precede the literal */
};

/* All rows; a row whose name is NULL ends the table. */
extern const struct credential credential_rows[];

struct credential_span {
    size_t at, end;
    bool unterminated; /* a private key whose END line is not in this text */
    bool is_member;    /* see struct secret_name_value */
};

/* Checks whether the literal at text[at] belongs to a credential, and sets its span. If not,
 * sets `p->end` to the position before which this row need not be tried again. */
bool credential_match(const struct credential *c, struct str text, size_t at,
                      struct credential_span *p);

/* Returns where an unterminated private key ends in the text that follows it: everything before
 * is secret. Sets `*open` if it does not end there either. */
size_t credential_pem_end(struct str text, bool *open);

#endif
