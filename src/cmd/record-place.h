/* cmd/record-place.h - where a recording goes, and under which names.
 *
 * A file that was named is that file. In a folder, or in the folder of this user when
 * nothing was named, each recording gets a name of its own: when, what, which process,
 * as "20261115T100000Z-fs-48213.jsonl". */
#ifndef CMD_RECORD_PLACE_H
#define CMD_RECORD_PLACE_H

#include "cmd/app.h"
#include "format/format.h"

/* What was asked for. */
struct record_wish {
    const char *output;          /* NULL: nothing */
    const char *name;            /* the recording's; may be NULL */
    const struct format *format; /* NULL: as the name of the file says */
    char *const *server;         /* its command, or the host that it is on */
    bool force, rotate;
    bool make_folder; /* of `output`, and those above it */
};

struct record_place {
    const struct format *format; /* of the recording */
    const char *path;            /* its name */
    const char *live;            /* what is written while it happens: the same, or a journal */
    const char *folder;          /* NULL: the name was given */
    const char *stem;            /* in the folder */
    bool force, rotate;
    bool gave_way;
    struct arena arena;
};

/* The folder of recordings that were given no name, whether or not it is there yet. In `a`, or
 * borrowed from the environment; ERR_USAGE if the environment names none. */
bool record_place_folder(const char **out, const struct app *app, struct arena *a,
                         struct err *e) MUST_CHECK;

/* Finds the place, makes the folder of this user if need be. */
bool record_place_find(struct record_place *p, const struct app *app,
                       const struct record_wish *wish, struct err *e) MUST_CHECK;
void record_place_release(struct record_place *p);

/* Whether a document is made of a journal at the end. */
bool record_place_is_journal(const struct record_place *p);

/* The next name to try; false: names were given, or there were too many. */
bool record_place_next(struct record_place *p, unsigned attempt);

/* A place that was named and that another recorder writes to right now gives way to one
 * beside it, named after this process as well; only where it could be replaced at all.
 * True if there is another place now. */
bool record_place_give_way(struct record_place *p, const struct sys *sys);

/* Whether what will be made here may be; errors are those of making it. */
bool record_place_is_free(const struct record_place *p, const struct sys *sys,
                          struct err *e) MUST_CHECK;

/* A journal that a recorder left when it was killed, and that nobody writes any more, is
 * given the next free name: "r.2.json.cassette.journal"; `*aside` is that, or NULL. */
bool record_place_set_aside(struct record_place *p, const struct sys *sys, const char **aside,
                            struct err *e) MUST_CHECK;

/* What a server is called for short: "server-filesystem" for "npx -y
 * @modelcontextprotocol/server-filesystem /tmp". Only letters, digits, '-', '_', '.'. */
const char *record_place_label(struct arena *a, const char *name, char *const *server);

#endif
