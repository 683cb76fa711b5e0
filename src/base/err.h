/* base/err.h - one error, passed by value, without allocation.
 *
 * A function that can fail returns bool and takes `struct err *e` as its last parameter. On
 * true `*e` is untouched; on false it holds a message fit to show: lower case, no full stop,
 * first what failed, the subject in single quotes. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* The kind decides the exit code: it tells where the cause is. */
enum err_kind {
    ERR_OK,
    ERR_USAGE, /* the command line or the configuration */
    ERR_INPUT, /* a file or a message that cannot be used */
    ERR_LIMIT, /* something larger than we accept */
    ERR_PEER,  /* the server could not be started, reached or spoken to */
    ERR_IO,    /* a system call failed */
};

struct err {
    enum err_kind kind;
    char msg[512];  /* truncated, never allocated */
    char hint[256]; /* what to do about it; may be empty */
};

#define ERR_NONE                                                                               \
    {                                                                                          \
        .kind = ERR_OK                                                                         \
    }

/* All return false, so callers can `return err_set(...)`. */
bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF(3, 4);
bool err_errno(struct err *e, int errnum); /* ERR_IO, in the words of the system */
/* The same, after what was to be done: "cannot read 'a file': ..." */
bool err_cannot(struct err *e, const char *verb, const char *path, int errnum);
bool err_wrap(struct err *e, const char *fmt, ...) PRINTF(2, 3); /* "context: message" */
bool err_hint(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* Returns the last part of the message: the system's text, without what failed. */
const char *err_reason(const struct err *e);

/* Reports a bug of mcpreel, never an error of the user or of a message, and aborts. Active in
 * release builds, too. */
void err_bug(const char *file, int line, const char *what) __attribute__((noreturn));

#define BUG(what) err_bug(__FILE__, __LINE__, what)
#define BUG_IF(cond) ((cond) ? BUG(#cond) : (void)0)

#endif
