/* report/server-stats-files.h - reads any number of files and folders into ops/server-stats.h.
 *
 * Every file in a folder is read, but no subfolder; a file there that no reader recognizes
 * counts as another file, unless only recordings have such a name (.jsonl). A file that cannot
 * be read, or only up to a damage, is counted and, if wanted, logged; the calls before the
 * damage count, too.
 *
 * Bounded: paths of a folder are not collected; the first SERVER_STATS_FILES_FAILURES failures
 * are kept. */
#ifndef REPORT_SERVER_STATS_FILES_H
#define REPORT_SERVER_STATS_FILES_H

#include "base/log.h"
#include "base/sys.h"
#include "ops/server-stats.h"

enum { SERVER_STATS_FILES_FAILURES = 64 };

struct server_stats_failure {
    struct str path, error;
};

struct server_stats_files {
    const struct sys *sys; /* borrowed, as all of these; set by the caller */
    const struct log *log; /* gets failures, not the notes of readers */
    bool log_failures;     /* else they are only counted and kept */
    struct server_stats *stats;
    bool show_progress; /* draw progress on the terminal of the log */

    uint64_t read;         /* files that were read, also up to a damage */
    uint64_t bytes;        /* of these, decompressed */
    uint64_t notes;        /* warnings of the readers */
    uint64_t other;        /* files of folders that are no recordings */
    uint64_t failed;       /* files and folders that could not be read to their end */
    enum err_kind failure; /* of the first of these */
    struct server_stats_failure failures[SERVER_STATS_FILES_FAILURES];
    struct arena arena;
};

void server_stats_files_release(struct server_stats_files *f);

/* Reads a file, or all files of a folder. */
void server_stats_files_add(struct server_stats_files *f, const char *path);

#endif
