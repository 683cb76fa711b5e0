/* cmd/remote.h - the options that say where a server is that speaks HTTP, and what it is
 * told besides.
 *
 * A URL without a path means '/mcp', which is where most servers are; one that is at the
 * root is written with a '/' at the end. With --target the paths of clients are appended to
 * that of the URL, as mcp-recorder does. No value of a header and no password is ever in an
 * error; `secrets` has them for whoever writes something down. */
#ifndef CMD_REMOTE_H
#define CMD_REMOTE_H

#include "base/arena.h"
#include "cmd/app.h"
#include "cmd/option.h"
#include "wire/fields.h"

struct remote_args {
    const char *url;
    const char *target; /* the same as mcp-recorder has it, with what else that brings */
    struct option_list headers, header_env;
    const char *cacert;
};

#define REMOTE_GROUP "A server on HTTP"

/* Rows for the table of a command whose struct `args_type` has remote_args as `field`. */
#define REMOTE_URL_OPTION(args_type, field, about)                                             \
    {                                                                                          \
        .name = "url", .also = { "upstream-http" }, .arg = "URL", .type = OPTION_STRING,       \
        .seed = true, .group = REMOTE_GROUP, .at = offsetof(args_type, field.url),             \
        .help = about                                                                          \
    }

#define REMOTE_TARGET_OPTION(args_type, field, about)                                          \
    {                                                                                          \
        .name = "target", .arg = "URL", .type = OPTION_STRING, .group = REMOTE_GROUP,          \
        .at = offsetof(args_type, field.target), .help = about                                 \
    }

#define REMOTE_OPTIONS(args_type, field)                                                       \
    { .name = "header",                                                                        \
      .arg = "'NAME: VALUE'",                                                                  \
      .type = OPTION_LIST,                                                                     \
      .group = REMOTE_GROUP,                                                                   \
      .at = offsetof(args_type, field.headers),                                                \
      .help = "send it this header, in place of the client's own" },                           \
        { .name = "header-env",                                                                \
          .arg = "NAME=VARIABLE",                                                              \
          .type = OPTION_LIST,                                                                 \
          .group = REMOTE_GROUP,                                                               \
          .at = offsetof(args_type, field.header_env),                                         \
          .help = "the same with a variable's value, which no list of processes shows" },      \
    {                                                                                          \
        .name = "cacert", .arg = "FILE", .type = OPTION_PATH, .group = REMOTE_GROUP,           \
        .at = offsetof(args_type, field.cacert),                                               \
        .help = "trust the certificates in FILE instead of the system's"                       \
    }

/* Rows for option_refuse_idle(): these say something about a server at a URL. */
#define REMOTE_IDLE(server)                                                                    \
    { "header", "'--url'", !(server)->url }, { "header-env", "'--url'", !(server)->url },      \
        { "cacert", "'--url'", !(server)->url },                                               \
    {                                                                                          \
        "cacert", "a URL that begins with https", !remote_is_secure(server)                    \
    }

struct remote {
    const char *url;   /* with a path; NULL: none was named */
    const char *shown; /* the same without user and password; with --target as it was given */
    const char *base;  /* with --target: its path, which clients' paths follow; else NULL */
    const char *host;  /* of it, with the port if that was said */
    struct fields headers; /* for every request */
    struct fields secrets; /* names, and values that must not be written down */
    const char *cacert;    /* may be NULL */
    struct arena arena;
};

/* Nothing is looked at without a URL. ERR_USAGE: what was given cannot be used; ERR_INPUT:
 * there is no such file of certificates. Borrows from the options and the environment. To be
 * released in any case. */
bool remote_read(struct remote *r, const struct app *app, const struct remote_args *args,
                 struct err *e) MUST_CHECK;
void remote_release(struct remote *r);

/* Whether what is said to it is enciphered. */
bool remote_is_secure(const struct remote *r);

/* With a header of ours, whoever reaches our port speaks as we do. On this machine that is
 * what it is for; nobody else is lent it: ERR_USAGE if the port is `open` to others. */
bool remote_may_lend(const struct remote *r, bool open, struct err *e) MUST_CHECK;

#endif
