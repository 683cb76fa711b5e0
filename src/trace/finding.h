/* trace/finding.h - a finding: something in a file or of a server that a rule objects to.
 *
 * Every command that judges makes findings, and every output (terminal, JSON, JUnit, GitHub,
 * Markdown, SARIF) is written from them. A finding borrows all its texts. */
#ifndef TRACE_FINDING_H
#define TRACE_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum finding_severity {
    FINDING_ERROR,   /* makes a verdict fail */
    FINDING_WARNING, /* the user should look at it; fails nothing */
    FINDING_NOTE,
};

struct finding {
    struct str rule; /* stable id for programs: "content-changed" */
    enum finding_severity severity;
    struct str message; /* one sentence; it may contain raw text of a file or server */
    uint64_t count;     /* how many places it stands for; 0: one. The first is named below */

    /* Where; each may be empty or 0. */
    struct str file;
    uint64_t line;      /* in the file, from 1 */
    uint64_t seq;       /* of the recorded request or message */
    struct str subject; /* tool, prompt or URI */
    struct str path;    /* in the message: "$.result.content[0].text" */

    /* The values as JSON; empty if there is none on that side. */
    struct str recorded, live;
    struct str hint; /* what the user can do; may be empty */
};

#endif
