/* report/server-stats-json.h - writes statistics of many recordings as JSON, for stats --json
 * (docs/json-output.md). */
#ifndef REPORT_SERVER_STATS_JSON_H
#define REPORT_SERVER_STATS_JSON_H

#include "report/server-stats-files.h"

void server_stats_json_write(struct buf *to, const struct server_stats_files *files);

#endif
