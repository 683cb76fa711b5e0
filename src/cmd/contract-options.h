/* cmd/contract-options.h - options and inputs that lock and diff have in common. */
#ifndef CMD_CONTRACT_OPTIONS_H
#define CMD_CONTRACT_OPTIONS_H

#include "cmd/option.h"
#include "diff/contract.h"
#include "runtime/app.h"
#include "runtime/peer.h"

/* Choices of --fail-on (enum contract_fail_on) and --profile (enum contract_profile). */
extern const struct option_choice contract_options_fail_on[];
extern const struct option_choice contract_options_profiles[];

/* Returns whether a file is a lock file; one that cannot be read is none. */
bool contract_options_is_lock(const struct app *app, const char *path);

/* Reads a lock file into a new surface. */
bool contract_options_read_lock(const struct app *app, const char *path, struct surface *to,
                                struct err *e) MUST_CHECK;

/* Warns about names that a surface defines more than once, and definitions without a name.
 * `source` is its file or server. */
void contract_options_warn(const struct app *app, const struct surface *s, struct str source);

/* Checks that `after` has every list of which `before` has definitions: without it, it is not
 * known whether anything breaks. It is a live server, or a file, which needs the tools only:
 * many clients read no other list. */
bool contract_options_check_lists(const struct surface *before, const struct surface *after,
                                  struct str after_name, bool is_live,
                                  struct err *e) MUST_CHECK;

/* A lock file and the side it was compared with. Borrowed. */
struct contract_options_accept {
    const struct app *app;
    const char *lock;                 /* the lock file */
    const char *file;                 /* a recording or another lock file; NULL: a server */
    const struct peer_target *target; /* of the server */
    struct str source;                /* command line or URL of the server, without secrets */
    const char *protocol_version;     /* NULL: not given */
    int64_t session;                  /* 0: not given */
};

/* Returns the command that writes the lock file anew, and so accepts all changes. */
struct str contract_options_accept(const struct contract_options_accept *o, struct arena *a);

/* Applies the entries of `allow` as of today; warns about those that have ended. */
void contract_options_allow(const struct app *app, struct contract_changes *changes,
                            const struct compare_rules *rules);

#endif
