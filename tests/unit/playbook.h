/* tests/unit/playbook.h - runs tests of the replay engine that are text files.
 *
 *     # The subject, in a sentence or two.
 *     recording
 *     c2s {"jsonrpc":"2.0","id":1,"method":"tools/list"}
 *     s2c {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
 *
 *     options match=by-request on-miss=warn
 *     >> {"jsonrpc":"2.0","id":"a","method":"tools/list"}
 *     << {"jsonrpc":"2.0","id":"a","result":{"tools":[]}}
 *     close
 *     report info answered 1 requests from the recording, 0 unmatched
 *     finish 0
 *
 * ">>" is a line from the client. Everything that comes of it stands below it, in
 * order and byte for byte; nothing else may come. "wait 5000 us" is a timer that was
 * set, "time" lets the one run out that is due first. "close" is that the client says no more,
 * "hurry" that all is to end soon. "options" starts afresh with the same recording; without it
 * the defaults of the command hold (match=by-request on-miss=error). "match=TOOL=MODE",
 * "ignore-path=PATH" and "ignore-field=NAME" may come several times. Recorded lines may have
 * marks as in terse.h; those that start with "| " are lines of a native recording.
 *
 * "start upstream" and "up<<" are what the mock wants of the server behind it, "up>>" is
 * a line from that, and "up closed WHY" its end; with the option "far" it is elsewhere, and
 * "up lost WHY" is that it was not reached. "report" has the mock write how it went,
 * as a line that starts with "<<".
 *
 * A playbook with lines about HTTP (http-line.h) tests a replay over HTTP. Those before the
 * first "options" are recorded; a recording made on stdio can be replayed to such clients, too.
 */
#ifndef PLAYBOOK_H
#define PLAYBOOK_H

#include "base/buf.h"

/* False, and why: "12: got …, want …". */
bool playbook_run(struct str text, struct buf *why);

#endif
