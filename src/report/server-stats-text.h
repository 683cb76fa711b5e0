/* report/server-stats-text.h - writes the tables of stats for a terminal. */
#ifndef REPORT_SERVER_STATS_TEXT_H
#define REPORT_SERVER_STATS_TEXT_H

#include "report/server-stats-files.h"

/* Shows the first `max_rows` rows of each server in each of its tables; 0: all. */
void server_stats_text_write(struct buf *to, const struct server_stats_files *files,
                             size_t max_rows, bool color);

#endif
