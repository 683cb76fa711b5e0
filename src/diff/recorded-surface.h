/* diff/recorded-surface.h - collects the surfaces of the servers in a recording.
 *
 * Each recorded session has its own: the results of its initialize or server/discover and of
 * its lists. The last of several lists of a session counts, with its pages. Reads from an
 * index (index/index.h). */
#ifndef DIFF_RECORDED_SURFACE_H
#define DIFF_RECORDED_SURFACE_H

#include "index/index.h"
#include "mcp/surface.h"

/* Adds the surfaces of all sessions to `s`, which is new, or that of one: `session`, from 1; 0:
 * all. ERR_INPUT if two sessions have different lists, or there is no such session. The result
 * may be empty. */
bool recorded_surface_read(struct surface *s, const struct index *index, uint32_t session,
                           struct err *e) MUST_CHECK;

#endif
