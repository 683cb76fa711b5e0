/* ops/server-stats.h - totals of calls by server, over any number of recordings.
 *
 * A sink: put the records of one file, call server_stats_end_file(), and so on for every file;
 * at the end call server_stats_finish() and read the members. Uses ops/op-builder.h for
 * attribution and ops/op-stats.h for the rows: one for each server, direction, method and tool,
 * prompt or resource. A tool that was listed but never called has a row, too: its definition is
 * part of every session.
 *
 * A server is the name and version that it tells a client (initialize, or the metadata of a
 * result), else those of the footer, else the upstream of the header. If a recording has
 * several servers, a call belongs to that of its session or connection.
 *
 * Does no I/O. Bounded: no record is kept, a recording has at most OP_STATS_ROWS rows, all
 * together SERVER_STATS_ROWS, for SERVER_STATS_SERVERS servers; the rest is in shared rows. The
 * order of the files does not matter, except for which names are the first. */
#ifndef OPS_SERVER_STATS_H
#define OPS_SERVER_STATS_H

#include "ops/op-builder.h"
#include "ops/op-servers.h"
#include "ops/op-stats.h"

enum { SERVER_STATS_SERVERS = 256, SERVER_STATS_ROWS = 4096, SERVER_STATS_TEXT = 256 };

struct server_stats_server {
    uint64_t group;           /* of its rows in `calls` */
    struct str name, version; /* empty: unknown, or the shared row */
    struct str upstream;      /* only if the name is unknown; may be empty, too */
    uint64_t recordings;      /* with this server */

    /* Set by server_stats_finish(). */
    uint64_t calls, errors;           /* of the client's requests */
    uint64_t tools, definition_bytes; /* listed tools; sum of their largest definitions */

    uint64_t latest; /* private: number of the latest recording with it */
};

/* State since the latest header. */
struct server_stats_recording {
    bool seen_record;
    struct server_stats_server *server; /* the first one that was named; NULL: none yet */
    bool several;                       /* another one was named, too */
    struct buf upstream;
};

struct server_stats {
    struct sink sink; /* put records here */

    struct op_stats_cleaner *cleaner; /* borrowed; set before the first record; may be NULL */

    struct capped_table servers; /* of struct server_stats_server */
    struct op_stats calls;       /* rows of all; its totals are not set */
    uint64_t recordings;
    uint64_t evicted; /* operations that were not followed to their end */

    /* Private. */
    struct operation_sink op_events;
    struct op_builder builder;
    struct op_stats current;  /* of this recording; group 0: server unknown */
    struct op_servers scopes; /* groups of the servers of this recording */
    struct server_stats_recording recording;
    struct arena scratch;
};

void server_stats_init(struct server_stats *s);
void server_stats_release(struct server_stats *s);

/* Ends the recordings of a file, complete or not. */
void server_stats_end_file(struct server_stats *s);

/* Computes the totals of servers, and sorts them by calls. The rows of a server become
 * neighbours: requests of the client first, then by calls. */
void server_stats_finish(struct server_stats *s);

/* The rows of a server, after server_stats_finish(). */
struct server_stats_rows {
    const struct op_stats_row *const *at;
    size_t count;
};
struct server_stats_rows server_stats_rows_of(const struct server_stats *s,
                                              const struct server_stats_server *server);

#endif
