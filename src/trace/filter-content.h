/* trace/filter-content.h - what a JSON-RPC message carries besides text.
 *
 * Looks where the protocol puts content: results of tools, prompts and resources, what is
 * sampled, and _meta. What arguments or structured results look like does not matter. */
#ifndef TRACE_FILTER_CONTENT_H
#define TRACE_FILTER_CONTENT_H

#include "trace/filter.h"

uint64_t filter_content(struct json_val message); /* enum filter_content */

#endif
