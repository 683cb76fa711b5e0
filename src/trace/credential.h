/* trace/credential.h - what credentials of well-known services look like.
 *
 * Every row starts with a text that hardly stands anywhere else, so that a search for those
 * texts finds the few places where the rest has to be looked at. The rest is so simple, a
 * run of certain characters of a certain length, that it needs no pattern language: looking
 * at one place costs no more than the credential is long, whatever stands there.
 *
 * A row is here only if mistaking something else for it is very unlikely. */
#ifndef TRACE_CREDENTIAL_H
#define TRACE_CREDENTIAL_H

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
    CREDENTIAL_RUN,      /* the literal and a run of characters */
    CREDENTIAL_ASSIGNED, /* the literal, one of = and :, and a run; quotes are no matter */
    CREDENTIAL_JWT,      /* three runs with dots between them, or five */
    CREDENTIAL_PEM,      /* a private key between its BEGIN and END */
    CREDENTIAL_USERINFO, /* the password of scheme://user:password@host */
    CREDENTIAL_BASIC,    /* base64 of user:password */
    CREDENTIAL_DISCORD,  /* three runs with dots between them; the first is an id in base64 */
    CREDENTIAL_NAMED,    /* the literal is in a name that says secret: trace/secret-name.h */
};

struct credential {
    const char *name;   /* rows of one name are one rule */
    struct str literal; /* what it starts with */
    enum credential_kind kind;
    unsigned chars;  /* of a run: of which characters */
    size_t min, max; /* how many of them; max 0: any number */
    size_t before;   /* so many of them stand before the literal */
    unsigned must;   /* one of each of these must be among them */
    bool any_case;   /* of the literal */
    bool bare;       /* the literal is no part of the secret */
    bool anywhere;   /* unmistakable: letters and digits may stand right before it */
};

/* All rows; the name after the last is NULL. */
extern const struct credential credential_rows[];

struct credential_place {
    size_t at, end;
    bool open;   /* a private key that does not end in this text */
    bool member; /* see struct secret_name_value */
};

/* Whether the literal at text[at] is the start of a credential, and where that stands. If it
 * is none, `p->end` is a place before which this row need not be tried again. */
bool credential_match(const struct credential *c, struct str text, size_t at,
                      struct credential_place *p);

/* Where a private key that was left open ends in the text that follows: what is before it
 * is secret. `*open` if it does not end there. */
size_t credential_rest(struct str text, bool *open);

#endif
