/* cmd/journal.h - recording into a format that is one document.
 *
 * Such a file cannot grow while things happen. So everything goes to a journal beside it,
 * a recording named "FILE.FORMAT.journal", and the document is made of it at the end. A
 * recorder that was killed leaves the journal, whose name says what it was to become. */
#ifndef CMD_JOURNAL_H
#define CMD_JOURNAL_H

#include "cmd/app.h"
#include "format/format.h"

/* The name of the journal of a document. */
const char *journal_name(struct arena *a, const char *path, const struct format *format);

/* Whether a file is named as a journal is; then what it is to become. */
bool journal_is(const char *path, struct arena *a, const char **target,
                const struct format **format);

/* Makes the document of the journal, which stays. A journal that gives no interaction makes no
 * document and replaces none: `*empty` is true then. */
bool journal_finish(const struct app *app, const char *journal, const char *target,
                    const struct format *format, bool replace, bool *empty,
                    struct err *e) MUST_CHECK;

#endif
