/* index/index-build.h - builds an index from records; the part of index/index.h that exists
 * only until index_finish().
 *
 * Keeps for each id scope (a connection, or a session over HTTP) the call of the last server
 * message and the client notifications, and the open requests of all scopes. Everything else
 * goes into the index at once. */
#ifndef INDEX_INDEX_BUILD_H
#define INDEX_INDEX_BUILD_H

#include "index/index.h"

void index_build_begin(struct index *s);
void index_build_end(struct index *s); /* may be called twice */

#endif
